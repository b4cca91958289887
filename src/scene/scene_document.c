/* The reference page of the scene format, from the tables of scene_schema.c, the shapes and the
 * laws. docs/SCENES.md is its output; a test compares them. */
#include "core/memory.h"
#include "scene/scene_page.h"
#include "scene/scene_schema.h"
#include "scene/shape_made.h"
#include "scree/scene.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADING = 128 }; /* characters of a heading */

void scree_page_say(scree_ReferencePage *page, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  void *memory = page->text;
  if (n < 0 || page->failed ||
      !scree_grow(&memory, &page->capacity, page->length + (size_t)n + 1, 1)) {
    page->failed = true;
    return;
  }
  page->text = memory;
  va_start(arguments, format);
  vsnprintf(page->text + page->length, (size_t)n + 1, format, arguments);
  va_end(arguments);
  page->length += (size_t)n;
}

char *scree_page_finish(scree_ReferencePage *page) {
  if (!page->failed) return page->text;
  scree_free(page->text);
  return NULL;
}

void scree_scene_free_text(char *text) {
  scree_free(text);
}

/* ---- reference page -------------------------------------------------------------------------- */

static void say_words(scree_ReferencePage *page, const scree_Field *field) {
  for (int k = 0;; ++k) {
    const char *word = field->words ? field->words[k] : field->registry(k);
    if (!word) return;
    scree_page_say(page, "%s`%s`", k ? ", " : "", word);
  }
}

static void say_type(scree_ReferencePage *page, const scree_Field *field) {
  const bool axial = (field->flags & SCREE_FIELD_AXIAL) != 0;
  switch (field->type) {
  case SCREE_FIELD_REAL: scree_page_say(page, "number"); break;
  case SCREE_FIELD_INT: scree_page_say(page, "integer"); break;
  case SCREE_FIELD_BOOL: scree_page_say(page, "`true` or `false`"); break;
  case SCREE_FIELD_TEXT: scree_page_say(page, "text"); break;
  case SCREE_FIELD_LAW:
  case SCREE_FIELD_CHOICE: say_words(page, field); break;
  case SCREE_FIELD_VECTOR:
    scree_page_say(page, axial ? "number in 2D, vector in 3D" : "vector");
    if (field->flags & SCREE_FIELD_BROADCAST) scree_page_say(page, " or number");
    break;
  case SCREE_FIELD_INTS: scree_page_say(page, "list of integers"); break;
  case SCREE_FIELD_REALS:
    if (field->max > 0)
      scree_page_say(page, "list of %d numbers", (int)field->max);
    else
      scree_page_say(page, "list of numbers");
    return;
  case SCREE_FIELD_TEXTS: scree_page_say(page, "list of %d names", (int)field->max); return;
  case SCREE_FIELD_SIGNALS:
    scree_page_say(page, field->flags & SCREE_FIELD_SCALAR ? "number, expression in t, or table"
                         : axial                           ? "signal (one component in 2D)"
                                                           : "signal");
    break;
  case SCREE_FIELD_MAP: scree_page_say(page, "map"); return;
  case SCREE_FIELD_LIST: scree_page_say(page, "list of maps"); return;
  case SCREE_FIELD_NAMED: scree_page_say(page, "map of maps"); return;
  case SCREE_FIELD_VARIANT: scree_page_say(page, "map with `kind`"); return;
  case SCREE_FIELD_SHAPE: scree_page_say(page, "[shape](#shapes)"); return;
  case SCREE_FIELD_OPTIONS: scree_page_say(page, "map"); return;
  case SCREE_FIELD_PARAMETERS: scree_page_say(page, "map of numbers"); return;
  case SCREE_FIELD_INCLUDE: scree_page_say(page, "path, or list of paths"); return;
  }
  const bool number = field->type == SCREE_FIELD_REAL || field->type == SCREE_FIELD_INT ||
                      field->type == SCREE_FIELD_VECTOR || field->type == SCREE_FIELD_INTS;
  if (number && !isinf(field->min))
    scree_page_say(page, " %s %g", field->flags & SCREE_FIELD_OPEN ? ">" : ">=", field->min);
  if (number && !isinf(field->max) && field->max < 1e9) scree_page_say(page, ", <= %g", field->max);
}

static void say_field(scree_ReferencePage *page, const scree_Field *field) {
  scree_page_say(page, "| `%s` | ", field->key);
  say_type(page, field);
  if (field->dimension) scree_page_say(page, " (%dD only)", field->dimension);
  scree_page_say(page, " | %s | ", field->unit ? field->unit : "");
  if (field->flags & SCREE_FIELD_REQUIRED)
    scree_page_say(page, "required");
  else if (field->preset && strcmp(field->preset, "{}") != 0 && strcmp(field->preset, "[]") != 0 &&
           field->preset[0])
    scree_page_say(page, "`%s`", field->preset);
  scree_page_say(page, " | %s |\n", field->help);
}

/* ---- links --------------------------------------------------------------------------------- */

/* A link to the section whose heading is `heading`: its anchor has the letters, digits, _ and - of
 * the heading, small, and - for spaces. */
static void say_link(scree_ReferencePage *page, const char *shown, const char *heading) {
  scree_page_say(page, "[%s](#", shown);
  for (const char *at = heading; *at; ++at)
    if (isalnum((unsigned char)*at) || *at == '_' || *at == '-')
      scree_page_say(page, "%c", tolower((unsigned char)*at));
    else if (*at == ' ')
      scree_page_say(page, "-");
  scree_page_say(page, ")");
}

static const char *dimension_of(const scree_Variant *variant) {
  return variant->dimension == 2 ? " (2D)" : variant->dimension == 3 ? " (3D)" : "";
}

/* The heading of a field that has fields of its own, `path` being that of its map. */
static void heading_of(char name[HEADING], const char *path, const scree_Field *field) {
  snprintf(name, HEADING, "%s%s%s%s", path, path[0] ? "." : "", field->key,
           field->type == SCREE_FIELD_LIST    ? "[]"
           : field->type == SCREE_FIELD_NAMED ? ".NAME"
                                              : "");
}

static void heading_of_kind(char name[HEADING], const char *path, const scree_Variant *variant) {
  snprintf(name, HEADING, "%s of kind %s%s", path, variant->kind, dimension_of(variant));
}

static void say_kinds(scree_ReferencePage *page, const char *path, const scree_Variant *variants) {
  for (int k = 0; variants[k].kind; ++k) {
    char heading[HEADING];
    heading_of_kind(heading, path, &variants[k]);
    scree_page_say(page, k ? ", " : "Kinds: ");
    say_link(page, variants[k].kind, heading);
  }
  scree_page_say(page, ".\n\n");
}

static void say_contents(scree_ReferencePage *page) {
  static const char *const after[] = {
      "Regions", "scale of generators", "Shapes", "Laws", "Schemes", "Defaults", "Index of keys"};
  const scree_Field *root = scree_scene_schema();
  scree_page_say(page, "Sections: ");
  say_link(page, "Values", "Values");
  scree_page_say(page, ", ");
  say_link(page, "The scene", "The scene");
  for (int k = 0; root[k].key; ++k) {
    const bool kinds = root[k].variants && root[k].type == SCREE_FIELD_LIST;
    char heading[HEADING], shown[HEADING];
    if (!kinds && !root[k].fields) continue;
    heading_of(heading, "", &root[k]);
    snprintf(shown, sizeof shown, "`%s`", root[k].key);
    scree_page_say(page, ", ");
    say_link(page, shown, kinds ? root[k].key : heading);
  }
  for (size_t k = 0; k < sizeof after / sizeof *after; ++k) {
    scree_page_say(page, ", ");
    say_link(page, after[k], after[k]);
  }
  scree_page_say(page, ".\n\n");
}

static void say_head(scree_ReferencePage *page) {
  scree_page_say(page, "| key | type | unit | default | meaning |\n|---|---|---|---|---|\n");
}

static void say_table(scree_ReferencePage *page, const scree_Field *fields) {
  say_head(page);
  for (int k = 0; fields[k].key; ++k) say_field(page, &fields[k]);
  scree_page_say(page, "\n");
}

static void say_section(scree_ReferencePage *page, const char *path, const scree_Field *fields);

/* Whether a key of the scene has a section of its own. */
static bool has_section(const scree_Field *field) {
  return field->fields || (field->variants && field->type == SCREE_FIELD_LIST);
}

/* The keys of a scene. Those with a section of their own link to it, and have only the first
 * sentence of their meaning, which the section has in full. */
static void say_root(scree_ReferencePage *page) {
  say_head(page);
  for (const scree_Field *field = scree_scene_schema(); field->key; ++field) {
    if (!has_section(field)) {
      say_field(page, field);
      continue;
    }
    char heading[HEADING], shown[HEADING];
    heading_of(heading, "", field);
    snprintf(shown, sizeof shown, "`%s`", field->key);
    scree_page_say(page, "| ");
    say_link(page, shown, field->variants ? field->key : heading);
    scree_page_say(page, " | ");
    say_type(page, field);
    const char *end = strstr(field->help, ". ");
    scree_page_say(page, " |  |  | %.*s |\n", end ? (int)(end - field->help) : INT_MAX,
                   field->help);
  }
  scree_page_say(page, "\n");
}

static void say_heading(scree_ReferencePage *page, const char *level, const char *heading,
                        const char *help) {
  scree_page_say(page, "%s `%s`\n\n%c%s.\n\n", level, heading, toupper((unsigned char)help[0]),
                 help + 1);
  const char *example = scree_page_example(heading);
  if (example) scree_page_say(page, "```yaml\n%s```\n\n", example);
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_field(const scree_Variant *variant, const scree_Field *field) {
  for (const scree_Field *f = variant->fields; f->key; ++f)
    if (f->type == field->type && f->flags == field->flags && f->dimension == field->dimension &&
        same_text(f->key, field->key) && same_text(f->help, field->help) &&
        same_text(f->unit, field->unit) && same_text(f->preset, field->preset))
      return true;
  return false;
}

/* Whether several kinds have the same key: it is then explained once. */
static bool is_common(const scree_Variant *variants, const scree_Field *field) {
  int count = 0;
  for (int k = 0; variants[k].kind; ++k) count += has_field(&variants[k], field);
  return count >= 3;
}

/* The common keys, each where it is met first. */
static void say_common(scree_ReferencePage *page, const char *path, const scree_Variant *variants) {
  bool any = false;
  for (int k = 0; variants[k].kind; ++k)
    for (const scree_Field *field = variants[k].fields; field->key; ++field) {
      bool before = !is_common(variants, field);
      for (int j = 0; j < k && !before; ++j) before = has_field(&variants[j], field);
      if (before) continue;
      if (!any) {
        scree_page_say(
            page,
            "The following keys are common to several kinds of `%s`. Each kind below lists those "
            "that it has:\n\n",
            path);
        say_head(page);
      }
      any = true;
      say_field(page, field);
    }
  if (any) scree_page_say(page, "\n");
}

static void say_variant(scree_ReferencePage *page, const scree_Variant *variants,
                        const scree_Variant *variant) {
  int own = 0, common = 0;
  for (const scree_Field *field = variant->fields; field->key; ++field) {
    if (is_common(variants, field)) continue;
    if (own++ == 0) say_head(page);
    say_field(page, field);
  }
  if (own) scree_page_say(page, "\n");
  for (const scree_Field *field = variant->fields; field->key; ++field)
    if (is_common(variants, field))
      scree_page_say(page, "%s`%s`", common++ ? ", " : own ? "Also " : "Keys: ", field->key);
  if (common) scree_page_say(page, ".\n\n");
}

/* Maps of keys of their own that kinds have, such as the motor of a joint: each where it is met
 * first. The scale of generators has its own section. */
static const scree_Field *find_scale(void);

static const scree_Field *next_map(const scree_Variant *variants, int *k, int *f) {
  const scree_Field *scale = find_scale();
  for (; variants[*k].kind; ++*k, *f = 0)
    while (variants[*k].fields[*f].key) {
      const scree_Field *field = &variants[*k].fields[(*f)++];
      bool before = !field->fields || field->fields == scale;
      for (int j = 0; j < *k && !before; ++j) before = has_field(&variants[j], field);
      if (!before) return field;
    }
  return NULL;
}

static void say_maps(scree_ReferencePage *page, const char *path, const scree_Variant *variants) {
  const scree_Field *map;
  for (int k = 0, f = 0; (map = next_map(variants, &k, &f)) != NULL;) {
    char heading[HEADING];
    heading_of(heading, path, map);
    say_heading(page, "###", heading, map->help);
    say_table(page, map->fields);
  }
}

static void say_variants(scree_ReferencePage *page, const char *path,
                         const scree_Variant *variants) {
  say_kinds(page, path, variants);
  say_common(page, path, variants);
  for (int k = 0; variants[k].kind; ++k) {
    scree_page_say(page, "### `%s` of kind `%s`%s\n\n%c%s.\n\n", path, variants[k].kind,
                   dimension_of(&variants[k]), toupper((unsigned char)variants[k].help[0]),
                   variants[k].help + 1);
    say_variant(page, variants, &variants[k]);
  }
  say_maps(page, path, variants);
}

/* Sections of the fields that have fields of their own. */
static void say_section(scree_ReferencePage *page, const char *path, const scree_Field *fields) {
  for (int k = 0; fields[k].key; ++k) {
    const scree_Field *field = &fields[k];
    char name[HEADING];
    heading_of(name, path, field);
    if (field->variants && field->type == SCREE_FIELD_LIST) {
      say_heading(page, "##", field->key, field->help);
      say_variants(page, name, field->variants);
    } else if (field->fields) {
      say_heading(page, "##", name, field->help);
      say_table(page, field->fields);
      say_section(page, name, field->fields);
    }
  }
}

/* Regions are the same for all generators: the first that has one describes them. */
static const scree_Variant *find_regions(void) {
  const scree_Field *root = scree_scene_schema();
  for (int k = 0; root[k].key; ++k) {
    if (!root[k].variants) continue;
    for (int v = 0; root[k].variants[v].kind; ++v)
      for (const scree_Field *f = root[k].variants[v].fields; f->key; ++f)
        if (f->type == SCREE_FIELD_VARIANT) return f->variants;
  }
  return NULL;
}

static const scree_Field *find_scale(void) {
  const scree_Field *root = scree_scene_schema();
  for (int k = 0; root[k].key; ++k)
    for (int v = 0; root[k].variants && root[k].variants[v].kind; ++v)
      for (const scree_Field *f = root[k].variants[v].fields; f->key; ++f)
        if (strcmp(f->key, "scale") == 0) return f->fields;
  return NULL;
}

static void say_shapes(scree_ReferencePage *page) {
  scree_page_say(
      page,
      "## Shapes\n\n```yaml\nbodies:\n  - { shape: { kind: sphere, radius: 0.01 } }\n  - { shape: "
      "{ kind: polyhedron, file: stone.obj }, position: [0, 0, 0.5] }\n```\n\nAll lengths are in "
      "metres. The origin of a bounded shape is its centroid. Polygons, polyhedra, finite elements "
      "and solids from files are exceptions: at position 0 and without rotation their vertices are "
      "at the given coordinates. A segment, capsule or cylinder can also be given by the keys "
      "`from` and `to` of the body, without `half_length`.\n\n"
      "| kind | shape | parameters |\n|---|---|---|\n");
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    scree_page_say(page, "| `%s` (%dD) | %s%s | ", type->name, type->dimension, type->summary,
                   type->bounded ? "" : "; obstacles only");
    for (int p = 0; p < type->parameter_count; ++p) {
      const scree_ShapeParameter *parameter = &type->parameters[p];
      scree_page_say(page, "%s`%s`%s: %s", p ? "; " : "", parameter->name,
                     parameter->required ? "" : " (optional)", parameter->help);
    }
    if (type->takes_vertices && type->parameter_count) scree_page_say(page, "; ");
    if (type->takes_vertices)
      scree_page_say(
          page, "`vertices`: list of points [x, y%s]%s%s", type->dimension == 2 ? "" : ", z",
          type->takes_triangles ? "; `triangles`: list of [a, b, c], numbers of vertices from 0, "
                                  "counter-clockwise as seen from the front"
                                : ", in any order",
          type->dimension == 3
              ? "; or `file`: an OBJ or STL file, relative to the folder of the scene"
              : "");
    if (type->takes_parts) scree_page_say(page, "`parts`: list of parts, see below");
    if (type->takes_elements)
      scree_page_say(
          page, "; `divisions`: numbers of hexahedra [nx, ny, nz]; or only `file`: a mesh of Gmsh "
                "(MSH 2.2 or 4.1, text) with hexahedra or tetrahedra, relative to the folder of "
                "the scene");
    for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r)
      if (strcmp(r->kind, type->name) == 0 && type->dimension == r->dimension)
        scree_page_say(page, "%ssee [below](#more-shapes)", r->key ? "; or " : "");
    scree_page_say(page, " |\n");
  }
  scree_page_say(page, "\n### More shapes\n");
  for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r) {
    scree_page_say(page, "\n`%s`, %dD. %s.\n\n", r->kind, r->dimension, r->help);
    say_table(page, r->fields);
    for (const scree_Field *f = r->fields; f->key; ++f)
      if (f->fields) {
        scree_page_say(page, "\n`%s` of a `%s`:\n\n", f->key, r->kind);
        say_table(page, f->fields);
      }
  }
  scree_page_say(page,
                 "\n### Parts of a clump\n\n```yaml\nbodies:\n  - shape:\n      kind: clump\n      "
                 "parts:\n        - { shape: { kind: sphere, radius: 0.01 } }\n        - { shape: "
                 "{ kind: sphere, radius: 0.01 }, position: [0.01, 0, 0] }\n```\n\nThe parts are "
                 "convex shapes. Mass, centroid and moments of inertia are sums over the parts, so "
                 "regions in which parts overlap count twice. At position 0 and without rotation "
                 "of the body, the parts are at their given positions.\n\n");
  say_table(page, scree_scene_part_fields);
}

static void say_laws(scree_ReferencePage *page) {
  scree_page_say(
      page,
      "## Laws\n\n```yaml\ncontact: { law: coulomb, mu: 0.3 }\n```\n\nThe parameters of a law are "
      "keys beside its name, in `contact` and in `pairs`. Parameters of other laws than the one "
      "that is named are ignored, so that laws can be exchanged easily. If `contact` names no law, "
      "such parameters are refused. [LAWS](LAWS.md) has the formulas.\n\n"
      "| law | parameter | default | meaning |\n|---|---|---|---|\n");
  for (int l = 0; scree_law_name(l); ++l) {
    const scree_OptionTable *table = scree_law_options(scree_law_name(l));
    scree_page_say(page, "| `%s` | | | %s |\n", scree_law_name(l),
                   scree_law_summary(scree_law_name(l)));
    for (int k = 0; k < table->count; ++k) {
      const scree_Option *option = &table->options[k];
      scree_page_say(page, "| | `%s` | `%g` | %s", option->name, option->preset, option->help);
      if (option->max < DBL_MAX)
        scree_page_say(page, "; %g to %g |\n", option->min, option->max);
      else
        scree_page_say(page, "; >= %g |\n", option->min);
    }
  }
  scree_page_say(
      page, "\n"
            "Compliant contacts carry a load by overlapping. Their indentation is the force times "
            "`compliance_n`; it does not count as penetration. The force of a step is the force at "
            "its end. This is stable for any stiffness. It damps oscillations of angular frequency "
            "w by the ratio w h/2 with the time step h, in addition to w/2 times `damping`.\n\n");
}

/* ---- index ----------------------------------------------------------------------------------- */

typedef struct Entry {
  const char *key;
  char shown[HEADING], heading[HEADING]; /* of the section */
} Entry;

typedef struct Index {
  Entry *entries;
  size_t count, capacity;
  bool failed;
} Index;

static void add_entry(Index *index, const char *key, const char *shown, const char *heading) {
  index->failed = index->failed || !scree_grow((void **)&index->entries, &index->capacity,
                                               index->count + 1, sizeof *index->entries);
  if (index->failed) return;
  Entry *entry = &index->entries[index->count++];
  entry->key = key;
  size_t used = 0; /* brackets would end the text of a link */
  for (; *shown && used + 1 < HEADING; ++shown)
    if (*shown != '[' && *shown != ']') entry->shown[used++] = *shown;
  entry->shown[used] = '\0';
  snprintf(entry->heading, HEADING, "%s", heading);
}

static void index_table(Index *index, const scree_Field *fields, const char *shown,
                        const char *heading) {
  for (const scree_Field *field = fields; field->key; ++field)
    add_entry(index, field->key, shown, heading);
}

/* Keys of kinds: common ones are explained under the list, others under their kind. `list`: the
 * heading of the list. */
static void index_variants(Index *index, const char *path, const char *list,
                           const scree_Variant *variants) {
  for (int k = 0; variants[k].kind; ++k)
    for (const scree_Field *field = variants[k].fields; field->key; ++field) {
      char heading[HEADING];
      heading_of_kind(heading, path, &variants[k]);
      const bool common = is_common(variants, field);
      add_entry(index, field->key, common ? list : heading, common ? list : heading);
    }
  const scree_Field *map;
  for (int k = 0, f = 0; (map = next_map(variants, &k, &f)) != NULL;) {
    char heading[HEADING];
    heading_of(heading, path, map);
    index_table(index, map->fields, heading, heading);
  }
}

static void index_fields(Index *index, const char *path, const scree_Field *fields) {
  for (int k = 0; fields[k].key; ++k) {
    const scree_Field *field = &fields[k];
    char name[HEADING];
    heading_of(name, path, field);
    add_entry(index, field->key, path[0] ? path : "the scene", path[0] ? path : "The scene");
    if (field->variants && field->type == SCREE_FIELD_LIST)
      index_variants(index, name, field->key, field->variants);
    else if (field->fields)
      index_fields(index, name, field->fields);
  }
}

static int compare_entries(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  const int by_key = strcmp(x->key, y->key);
  return by_key ? by_key : strcmp(x->shown, y->shown);
}

/* All keys by the alphabet, with the sections that explain them. */
static void say_index(scree_ReferencePage *page) {
  Index index = {0};
  index_fields(&index, "", scree_scene_schema());
  if (find_regions()) index_variants(&index, "region", "Regions", find_regions());
  for (const scree_Field *f = find_scale(); f && f->key; ++f)
    add_entry(&index, f->key, "scale", "scale of generators");
  static const char *const of_signals[] = {"times", "values", "csv",      "columns",
                                           "scale", "step",   "integrate"};
  for (size_t k = 0; k < sizeof of_signals / sizeof *of_signals; ++k)
    add_entry(&index, of_signals[k], "signals", "Values");
  static const char *const of_shapes[] = {"vertices", "triangles", "divisions", "file"};
  for (size_t k = 0; k < sizeof of_shapes / sizeof *of_shapes; ++k)
    add_entry(&index, of_shapes[k], "shapes", "Shapes");
  add_entry(&index, "parts", "shapes", "Parts of a clump");
  index_table(&index, scree_scene_part_fields, "shapes", "Parts of a clump");
  for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r) {
    index_table(&index, r->fields, "shapes", "More shapes");
    for (const scree_Field *field = r->fields; field->key; ++field)
      if (field->fields) index_table(&index, field->fields, "shapes", "More shapes");
  }
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    for (int p = 0; p < type->parameter_count; ++p)
      add_entry(&index, type->parameters[p].name, "shapes", "Shapes");
  }
  for (int k = 0; scree_law_name(k); ++k)
    for (int p = 0; p < scree_law_options(scree_law_name(k))->count; ++p)
      add_entry(&index, scree_law_options(scree_law_name(k))->options[p].name, "laws", "Laws");
  page->failed = page->failed || index.failed;
  if (index.count > 1) qsort(index.entries, index.count, sizeof *index.entries, compare_entries);
  scree_page_say(page, "\n## Index of keys\n");
  const Entry *last = NULL;
  for (size_t k = 0; k < index.count; ++k) {
    const Entry *entry = &index.entries[k];
    if (last && compare_entries(last, entry) == 0) continue;
    const bool same = last && strcmp(last->key, entry->key) == 0;
    const char *first = last ? last->key : "";
    scree_page_say(page, same ? ", " : first[0] == entry->key[0] ? "; " : "\n- ");
    if (!same) scree_page_say(page, "`%s` ", entry->key);
    say_link(page, entry->shown, entry->heading);
    last = entry;
  }
  scree_page_say(page, "\n");
  scree_free(index.entries);
}

char *scree_scene_reference(void) {
  scree_ReferencePage page = {0};
  scree_page_say(&page, "%s", scree_page_beginning);
  say_contents(&page);
  scree_page_say(&page, "%s## The scene\n\n", scree_page_values);
  say_root(&page);
  say_section(&page, "", scree_scene_schema());
  if (find_regions()) {
    scree_page_say(&page, "## Regions\n\n");
    say_variants(&page, "region", find_regions());
  }
  if (find_scale()) {
    scree_page_say(&page, "## `scale` of generators\n\n");
    say_table(&page, find_scale());
  }
  say_shapes(&page);
  say_laws(&page);
  scree_page_say(&page, "## Schemes\n\n| `time.scheme` | method |\n|---|---|\n");
  for (int k = 0; scree_scheme_name(k); ++k)
    scree_page_say(&page, "| `%s` | %s |\n", scree_scheme_name(k),
                   scree_scheme_summary(scree_scheme_name(k)));
  scree_page_say(&page, "%s%s", scree_page_defaults, scree_page_limits);
  say_index(&page);
  return scree_page_finish(&page);
}

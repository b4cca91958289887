/* The reference page of the scene format and its JSON Schema, both from the tables of
 * scene_schema.c, the shapes and the laws. docs/SCENES.md and docs/scene.schema.json are their
 * output; a test compares them. */
#include "core/memory.h"
#include "scene/scene_schema.h"
#include "scene/shape_made.h"
#include "scree/scene.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Page {
  char *text;
  size_t length, capacity;
  bool failed;
} Page;

static void say(Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(Page *page, const char *format, ...) {
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

static char *finish(Page *page) {
  if (!page->failed) return page->text;
  scree_free(page->text);
  return NULL;
}

void scree_scene_free_text(char *text) {
  scree_free(text);
}

/* ---- reference page -------------------------------------------------------------------------- */

static void say_words(Page *page, const scree_Field *field) {
  for (int k = 0;; ++k) {
    const char *word = field->words ? field->words[k] : field->registry(k);
    if (!word) return;
    say(page, "%s`%s`", k ? ", " : "", word);
  }
}

static void say_type(Page *page, const scree_Field *field) {
  const bool axial = (field->flags & SCREE_FIELD_AXIAL) != 0;
  switch (field->type) {
  case SCREE_FIELD_REAL: say(page, "number"); break;
  case SCREE_FIELD_INT: say(page, "integer"); break;
  case SCREE_FIELD_BOOL: say(page, "`true` or `false`"); break;
  case SCREE_FIELD_TEXT: say(page, "text"); break;
  case SCREE_FIELD_LAW:
  case SCREE_FIELD_CHOICE: say_words(page, field); break;
  case SCREE_FIELD_VECTOR:
    say(page, axial ? "number in 2D, vector in 3D" : "vector");
    if (field->flags & SCREE_FIELD_BROADCAST) say(page, " or number");
    break;
  case SCREE_FIELD_INTS: say(page, "list of integers"); break;
  case SCREE_FIELD_REALS:
    if (field->max > 0)
      say(page, "list of %d numbers", (int)field->max);
    else
      say(page, "list of numbers");
    return;
  case SCREE_FIELD_TEXTS: say(page, "list of %d names", (int)field->max); return;
  case SCREE_FIELD_SIGNALS:
    say(page, field->flags & SCREE_FIELD_SCALAR ? "number, expression in t, or table"
              : axial                           ? "signal (one component in 2D)"
                                                : "signal");
    break;
  case SCREE_FIELD_MAP: say(page, "map"); return;
  case SCREE_FIELD_LIST: say(page, "list of maps"); return;
  case SCREE_FIELD_NAMED: say(page, "map of maps"); return;
  case SCREE_FIELD_VARIANT: say(page, "map with `kind`"); return;
  case SCREE_FIELD_SHAPE: say(page, "[shape](#shapes)"); return;
  case SCREE_FIELD_OPTIONS: say(page, "map"); return;
  case SCREE_FIELD_PARAMETERS: say(page, "map of numbers"); return;
  case SCREE_FIELD_INCLUDE: say(page, "path, or list of paths"); return;
  }
  const bool number = field->type == SCREE_FIELD_REAL || field->type == SCREE_FIELD_INT ||
                      field->type == SCREE_FIELD_VECTOR || field->type == SCREE_FIELD_INTS;
  if (number && !isinf(field->min))
    say(page, " %s %g", field->flags & SCREE_FIELD_OPEN ? ">" : ">=", field->min);
  if (number && !isinf(field->max) && field->max < 1e9) say(page, ", <= %g", field->max);
}

static void say_table(Page *page, const scree_Field *fields) {
  say(page, "| key | type | unit | default | meaning |\n|---|---|---|---|---|\n");
  for (int k = 0; fields[k].key; ++k) {
    const scree_Field *field = &fields[k];
    say(page, "| `%s` | ", field->key);
    say_type(page, field);
    if (field->dimension) say(page, " (%dD only)", field->dimension);
    say(page, " | %s | ", field->unit ? field->unit : "");
    if (field->flags & SCREE_FIELD_REQUIRED)
      say(page, "required");
    else if (field->preset && strcmp(field->preset, "{}") != 0 &&
             strcmp(field->preset, "[]") != 0 && field->preset[0])
      say(page, "`%s`", field->preset);
    say(page, " | %s |\n", field->help);
  }
  say(page, "\n");
}

static void say_section(Page *page, const char *path, const scree_Field *fields);

static void say_variants(Page *page, const char *path, const scree_Variant *variants) {
  for (int k = 0; variants[k].kind; ++k) {
    say(page, "### `%s` of kind `%s`%s\n\n%s.\n\n", path, variants[k].kind,
        variants[k].dimension == 2   ? " (2D)"
        : variants[k].dimension == 3 ? " (3D)"
                                     : "",
        variants[k].help);
    say_table(page, variants[k].fields);
  }
}

/* Sections of the fields that have fields of their own. */
static void say_section(Page *page, const char *path, const scree_Field *fields) {
  for (int k = 0; fields[k].key; ++k) {
    const scree_Field *field = &fields[k];
    char name[128];
    const bool list = field->type == SCREE_FIELD_LIST, named = field->type == SCREE_FIELD_NAMED;
    snprintf(name, sizeof name, "%s%s%s%s", path, path[0] ? "." : "", field->key,
             list    ? "[]"
             : named ? ".NAME"
                     : "");
    if (field->variants && list) {
      say(page, "## `%s`\n\n%s.\n\n", field->key, field->help);
      say_variants(page, name, field->variants);
    } else if (field->fields) {
      say(page, "## `%s`\n\n%s.\n\n", name, field->help);
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

static void say_shapes(Page *page) {
  say(page, "## Shapes\n\n"
            "`shape: { kind: disk, radius: 0.01 }`. All lengths in metres. The origin of a bounded "
            "shape is its centroid; polygons and polyhedra are put so that, at position 0 without "
            "rotation, their "
            "vertices are where they are typed. A segment, capsule or cylinder may be given by "
            "`from` and "
            "`to` beside the shape, without `half_length`.\n\n"
            "| kind | | parameters |\n|---|---|---|\n");
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    say(page, "| `%s` (%dD) | %s%s | ", type->name, type->dimension, type->summary,
        type->bounded ? "" : "; obstacles only");
    for (int p = 0; p < type->parameter_count; ++p) {
      const scree_ShapeParameter *parameter = &type->parameters[p];
      say(page, "%s`%s`%s: %s", p ? "; " : "", parameter->name,
          parameter->required ? "" : " (optional)", parameter->help);
    }
    if (type->takes_vertices && type->parameter_count) say(page, "; ");
    if (type->takes_vertices)
      say(page, "`vertices`: list of points [x, y%s]%s%s", type->dimension == 2 ? "" : ", z",
          type->takes_triangles ? "; `triangles`: list of [a, b, c], numbers of vertices from 0, "
                                  "counter-clockwise seen from the free side"
                                : ", in any order",
          type->dimension == 3 ? "; or `file`: an OBJ or STL file, relative to the scene" : "");
    if (type->takes_parts) say(page, "`parts`: list of parts, see below");
    if (type->takes_elements)
      say(page, "; `divisions`: numbers of hexahedra [nx, ny, nz]; or `file` alone: a mesh of Gmsh "
                "(MSH 2.2 or 4.1, text) with hexahedra or tetrahedra, relative to the scene");
    for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r)
      if (strcmp(r->kind, type->name) == 0 && type->dimension == 3)
        say(page, "%ssee [below](#more-shapes)", r->key ? "; or " : "");
    say(page, " |\n");
  }
  say(page, "\n### More shapes\n");
  for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r) {
    say(page, "\n`%s`, 3D. %s.\n\n", r->kind, r->help);
    say_table(page, r->fields);
    for (const scree_Field *f = r->fields; f->key; ++f)
      if (f->fields) {
        say(page, "\n`%s` of a `%s`:\n\n", f->key, r->kind);
        say_table(page, f->fields);
      }
  }
  say(page, "\n### Parts of a clump\n\n"
            "`shape: { kind: clump, parts: [{ shape: { kind: sphere, radius: 0.01 } }, { shape: { "
            "kind: sphere, radius: 0.01 }, position: [0.01, 0, 0] }] }`. Parts are convex shapes; "
            "mass, centroid and moments are sums over the parts, so that matter counts twice where "
            "they overlap. At position 0 and without rotation the parts of a body are where they "
            "are typed.\n\n");
  say_table(page, scree_scene_part_fields);
}

static void say_laws(Page *page) {
  say(page, "## Laws\n\n"
            "`contact: { law: coulomb, mu: 0.3 }`: the parameters of a law are keys beside its "
            "name, in `contact` and in `pairs`. Parameters of another law than the one that is "
            "named are ignored.\n\n"
            "| law | parameter | default | |\n|---|---|---|---|\n");
  for (int l = 0; scree_law_name(l); ++l) {
    const scree_OptionTable *table = scree_law_options(scree_law_name(l));
    say(page, "| `%s` | | | %s |\n", scree_law_name(l), scree_law_summary(scree_law_name(l)));
    for (int k = 0; k < table->count; ++k) {
      const scree_Option *option = &table->options[k];
      say(page, "| | `%s` | `%g` | %s", option->name, option->preset, option->help);
      if (option->max < DBL_MAX)
        say(page, "; %g to %g |\n", option->min, option->max);
      else
        say(page, "; >= %g |\n", option->min);
    }
  }
  say(page, "\n"
            "Compliant contacts carry a load by overlapping: their indentation is the force times "
            "`compliance_n` and does not count as penetration. The force of a step is that at its "
            "end, which is stable for any stiffness and damps oscillations of frequency w by a "
            "ratio of w times half the step, besides w times half of `damping`.\n\n");
}

/* What a scene that names neither scheme, step nor tolerance runs with, and why. */
static const char defaults_text[] =
    "\n## Defaults\n\n"
    "A scene needs the duration as its only key of `time`, and no `solver`. The defaults are "
    "chosen from "
    "`scree converge` over the scenes of `bench/scenes`: [DEFAULTS](DEFAULTS.md) is the table.\n\n"
    "- **Scheme** `moreau-jean`. Bodies are kicked once in each step, at its middle; from one kick "
    "to "
    "the next they move with the velocity after the kick. The contact law is posed on the gap at "
    "the "
    "next kick, so that a contact that the step would close is part of its problem, however small "
    "or "
    "fast the body is. Free flight is of order 2 and motion along curved obstacles does not lose "
    "energy. `euler` is the same with the kick at the start of the step: its saved positions do "
    "not "
    "overlap, and it is of order 1. `moreau-jean-closed` repeats the papers.\n"
    "- **Contacts** act on the surfaces of the two bodies. Where the gap is closed both points are "
    "one, and angular momentum is kept exactly; for a gap that is still open the arms end on the "
    "two "
    "surfaces, which is where the bodies meet at the end of the step.\n"
    "- **Restitution** follows Newton's law with the velocities at the moment of the impact. Where "
    "the two bodies meet no others in that step, and are balls or one of them is an obstacle, they "
    "turn round at that moment: a ball that bounces on a plane is of order 2 in the step. "
    "Elsewhere they turn round at the kick before, up to one step too early. Bodies that would "
    "meet again within about two steps do not bounce.\n"
    "- **The first step** begins with an impact without forces, for bodies that touch and approach "
    "each other at the start; force sensors do not see its impulses.\n"
    "- **Gaps** of loaded contacts that the solver's error has opened or closed are corrected by 3 "
    "% "
    "in each step, and no body is pushed faster than its contact is pressed together. What this "
    "puts in in a step is limited to 2e-4 of the energy at hand, or where bodies hardly move to "
    "the work of moving them by 0.03 of their size.\n"
    "- **Step** `auto`: the smallest body falls from rest by 1e-3 of its size in a step; no body "
    "or "
    "obstacle moves by more than 0.05 of it at the speeds that the scene gives (0.1, if all bodies "
    "are balls), nor, in scenes "
    "with bodies other than balls, by more than 0.25 at the speed of a fall through the scene; "
    "none turns by more than 0.1; an applied force moves its body from rest by at most 0.01 of its "
    "size. Balls that pass each other do not touch at any step; other bodies may collide that "
    "would miss each other by a small part of their size, if they move by more than half of it in "
    "a step.\n"
    "- **Tolerance** `auto` is 1e-3 on `error`. It is relative to the impulses, so where these are "
    "large against the motion (bodies at rest, heavy loads) the step goes on until the energy by "
    "which the law is violated is small against the energy that the step turns over, or so small "
    "that bodies at rest stay there (they move by less than 1e-6 of their size in a minute), and "
    "until no contact sinks in by more than a tenth of what is left to `penetration_limit`.\n"
    "- **Work**: a step costs at most `max_work` times the usual step, counted in sweeps and "
    "factorisations, so that it ends with the same bits everywhere. Then its best solution is "
    "used, "
    "the step is not certified, and the run continues. Impulses of contacts that would put energy "
    "in are lowered until they do not.\n"
    "- **Certificate**: a step is certified when its error is at most the tolerance, no "
    "penetration "
    "is deeper than `penetration_limit`, and the energy that the discretisation has created since "
    "the "
    "start is at most `energy_limit` of the energy turned over (the largest kinetic energy, with "
    "all "
    "work and dissipation).\n";

char *scree_scene_reference(void) {
  Page page = {0};
  say(&page,
      "# Scene files\n\n"
      "A scene is a YAML file. Units are SI, angles are in radians. Every key has a default unless "
      "it is "
      "marked *required*; unknown keys are errors. `scree check SCENE.yaml` validates a scene "
      "and "
      "estimates its run; `scree run` runs it. Any value can be changed from the command line "
      "with `--set path=value`: `--set time.step=1e-4`, `--set bodies[0].velocity='[1, 0]'`.\n\n"
      "This page is printed by `scree check --reference`; `scree check --schema` prints a JSON "
      "Schema ([scene.schema.json](scene.schema.json)), with which editors complete and check "
      "scenes while they are typed (`# yaml-language-server: $schema=...`).\n\n"
      "## Values\n\n"
      "- A *number* may be an expression: `pi/6`, `2*0.03`, `sqrt(2)`. Operators `+ - * / ^`, "
      "parentheses, `pi`, `sin cos tan sqrt exp log abs min max`, and the scene's own "
      "`parameters`.\n"
      "- A *vector* is a list of 2 numbers in 2D, of 3 in 3D.\n"
      "- A *signal* is a vector whose components may be expressions in the time `t` "
      "(`[0.1*sin(2*pi*t), 0]`), or a table, linear between its entries and constant outside: "
      "`{ times: [0, 1, 2], values: [[0, 0], [1, 0], [0, 0]] }`. A value that is not "
      "finite stops the run when its time comes. A table may come from a file, such as an "
      "accelerogram: `{ csv: quake.csv, columns: [t, ax, -], scale: 9.81, integrate: true }`, with "
      "`columns` by name or by number from 1 (the time, then the components, `-` for zero; "
      "default: "
      "all columns in their order), `step` in place of a column of times, `scale` for units, and "
      "`integrate` to make a velocity from an acceleration (trapezoidal rule, 0 at the first "
      "time).\n"
      "- YAML anchors and aliases (`&name`, `*name`) can be used.\n"
      "- Random choices come from `seed` and do not depend on the platform, nor on the number of "
      "threads.\n\n"
      "## The scene\n\n");
  say_table(&page, scree_scene_schema());
  say_section(&page, "", scree_scene_schema());
  if (find_regions()) {
    say(&page, "## Regions\n\n");
    say_variants(&page, "region", find_regions());
  }
  if (find_scale()) {
    say(&page, "## `scale` of generators\n\n");
    say_table(&page, find_scale());
  }
  say_shapes(&page);
  say_laws(&page);
  say(&page, "## Schemes\n\n| | |\n|---|---|\n");
  for (int k = 0; scree_scheme_name(k); ++k)
    say(&page, "| scheme `%s` | %s |\n", scree_scheme_name(k),
        scree_scheme_summary(scree_scheme_name(k)));
  say(&page, "%s", defaults_text);
  return finish(&page);
}

/* ---- JSON Schema (draft 2020-12) ------------------------------------------------------------- */

static void json_text(Page *page, const char *text) {
  say(page, "\"");
  for (const char *p = text; *p; ++p) {
    if (*p == '"' || *p == '\\')
      say(page, "\\%c", *p);
    else
      say(page, "%c", *p);
  }
  say(page, "\"");
}

static void json_number(Page *page, const scree_Field *field) {
  /* a number, or an expression as text, whose range an editor cannot know */
  say(page, "{\"anyOf\": [{\"type\": \"%s\"",
      field->type == SCREE_FIELD_INT || field->type == SCREE_FIELD_INTS ? "integer" : "number");
  const bool range = field->type != SCREE_FIELD_SIGNALS && field->type != SCREE_FIELD_REALS;
  if (range && !isinf(field->min))
    say(page, ", \"%s\": %.17g", field->flags & SCREE_FIELD_OPEN ? "exclusiveMinimum" : "minimum",
        field->min);
  if (range && !isinf(field->max)) say(page, ", \"maximum\": %.17g", field->max);
  say(page, "}, {\"type\": \"string\"}]}");
}

static void json_list(Page *page, const scree_Field *field, int min, int max) {
  say(page, "{\"type\": \"array\", \"minItems\": %d", min);
  if (max) say(page, ", \"maxItems\": %d", max);
  say(page, ", \"items\": ");
  json_number(page, field);
  say(page, "}");
}

static void json_field(Page *page, const scree_Field *field);

/* The parameters of all laws, each once. */
static void json_law_parameters(Page *page) {
  for (int l = 0; scree_law_name(l); ++l) {
    const scree_OptionTable *table = scree_law_options(scree_law_name(l));
    for (int k = 0; k < table->count; ++k) {
      const scree_Option *option = &table->options[k];
      bool done = false;
      for (int before = 0; before < l && !done; ++before) {
        const scree_PairLaw other = scree_pair_law(scree_law_name(before));
        done = !isnan(scree_pair_law_get(&other, option->name));
      }
      if (done) continue;
      const scree_Field field = {.key = option->name,
                                 .type = SCREE_FIELD_REAL,
                                 .min = option->min,
                                 .max = option->max < DBL_MAX ? option->max : INFINITY,
                                 .help = option->help};
      say(page, ", \n\"%s\": ", option->name);
      json_field(page, &field);
    }
  }
}

/* An object of these fields; `kind` is the name of a variant. */
static void json_object(Page *page, const scree_Field *fields, const char *kind) {
  bool first = true;
  say(page, "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
  if (kind) say(page, "\"kind\": {\"const\": \"%s\"}", kind);
  for (int k = 0; fields[k].key; ++k) {
    say(page, "%s\n\"%s\": ", k || kind ? ", " : "", fields[k].key);
    json_field(page, &fields[k]);
    if (fields[k].type == SCREE_FIELD_LAW) json_law_parameters(page);
  }
  say(page, "}, \"required\": [");
  if (kind) say(page, "\"kind\"");
  first = !kind;
  for (int k = 0; fields[k].key; ++k)
    if (fields[k].flags & SCREE_FIELD_REQUIRED) {
      say(page, "%s\"%s\"", first ? "" : ", ", fields[k].key);
      first = false;
    }
  say(page, "]}");
}

static void json_variants(Page *page, const scree_Variant *variants) {
  say(page, "{\"oneOf\": [");
  for (int k = 0; variants[k].kind; ++k) {
    if (k) say(page, ", ");
    json_object(page, variants[k].fields, variants[k].kind);
  }
  say(page, "]}");
}

static void json_shape(Page *page) {
  say(page, "{\"anyOf\": [");
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    say(page,
        "%s{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"kind\"], "
        "\"properties\": {\"kind\": {\"const\": \"%s\"}",
        k ? ",\n" : "", type->name);
    for (int p = 0; p < type->parameter_count; ++p)
      say(page, ", \"%s\": {\"type\": [\"number\", \"string\"], \"description\": \"%s%s\"}",
          type->parameters[p].name, type->parameters[p].help,
          type->parameters[p].pure ? "" : " [m]");
    if (type->takes_vertices)
      say(page,
          ", \"vertices\": {\"type\": \"array\", \"minItems\": %d, \"items\": {\"type\": "
          "\"array\", \"minItems\": %d, \"maxItems\": %d}}",
          type->dimension + 1, type->dimension, type->dimension);
    if (type->takes_vertices && type->dimension == 3)
      say(page, ", \"file\": {\"type\": \"string\"}");
    if (type->takes_elements)
      say(page, ", \"file\": {\"type\": \"string\"}, \"divisions\": {\"type\": \"array\", "
                "\"minItems\": 3, \"maxItems\": 3}");
    if (type->takes_triangles)
      say(page, ", \"triangles\": {\"type\": \"array\", \"items\": {\"type\": \"array\", "
                "\"minItems\": 3, \"maxItems\": 3}}");
    if (type->takes_parts) {
      say(page, ", \"parts\": {\"type\": \"array\", \"minItems\": 1, \"items\": ");
      json_object(page, scree_scene_part_fields, NULL);
      say(page, "}");
    }
    say(page, "}}");
  }
  for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r) {
    say(page, ",\n");
    json_object(page, r->fields, r->kind);
  }
  say(page, "]}");
}

static void json_choice(Page *page, const scree_Field *field) {
  say(page, "{\"enum\": [");
  bool first = true;
  if (field->flags & SCREE_FIELD_AUTO) {
    say(page, "\"auto\"");
    first = false;
  }
  for (int k = 0;; ++k) {
    const char *word = field->words ? field->words[k] : field->registry(k);
    if (!word) break;
    if ((field->flags & SCREE_FIELD_AUTO) && strcmp(word, "auto") == 0) continue;
    say(page, "%s\"%s\"", first ? "" : ", ", word);
    first = false;
  }
  say(page, "]}");
}

static void json_type(Page *page, const scree_Field *field) {
  const bool axial = (field->flags & SCREE_FIELD_AXIAL) != 0;
  switch (field->type) {
  case SCREE_FIELD_REAL:
  case SCREE_FIELD_INT: json_number(page, field); break;
  case SCREE_FIELD_BOOL: say(page, "{\"type\": \"boolean\"}"); break;
  case SCREE_FIELD_TEXT: say(page, "{\"type\": [\"string\", \"number\"]}"); break;
  case SCREE_FIELD_LAW:
  case SCREE_FIELD_CHOICE: json_choice(page, field); break;
  case SCREE_FIELD_VECTOR:
  case SCREE_FIELD_SIGNALS:
    say(page, "{\"anyOf\": [");
    if (field->flags & SCREE_FIELD_SCALAR)
      json_number(page, field);
    else
      json_list(page, field, axial ? 3 : 2, 3);
    if (axial || (field->flags & (SCREE_FIELD_BROADCAST | SCREE_FIELD_AUTO))) {
      say(page, ", ");
      json_number(page, field);
    }
    if (field->type == SCREE_FIELD_SIGNALS)
      say(page, ", {\"type\": \"object\", \"additionalProperties\": false, \"required\": "
                "[\"times\", \"values\"], \"properties\": {\"times\": {\"type\": \"array\"}, "
                "\"values\": {\"type\": \"array\"}}}");
    say(page, "]}");
    break;
  case SCREE_FIELD_INTS: json_list(page, field, 0, 0); break;
  case SCREE_FIELD_REALS: json_list(page, field, (int)field->max, (int)field->max); break;
  case SCREE_FIELD_TEXTS:
    say(page,
        "{\"type\": \"array\", \"minItems\": %d, \"maxItems\": %d, \"items\": {\"type\": "
        "[\"string\", \"number\"]}}",
        (int)field->max, (int)field->max);
    break;
  case SCREE_FIELD_MAP: json_object(page, field->fields, NULL); break;
  case SCREE_FIELD_LIST:
    say(page, "{\"type\": \"array\", \"items\": ");
    if (field->variants)
      json_variants(page, field->variants);
    else
      json_object(page, field->fields, NULL);
    say(page, "}");
    break;
  case SCREE_FIELD_NAMED:
    say(page, "{\"type\": \"object\", \"additionalProperties\": ");
    json_object(page, field->fields, NULL);
    say(page, "}");
    break;
  case SCREE_FIELD_VARIANT: json_variants(page, field->variants); break;
  case SCREE_FIELD_SHAPE: say(page, "{\"$ref\": \"#/$defs/shape\"}"); break;
  case SCREE_FIELD_OPTIONS: say(page, "{\"type\": \"object\"}"); break;
  case SCREE_FIELD_PARAMETERS:
    say(page, "{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"number\", "
              "\"string\"]}}");
    break;
  case SCREE_FIELD_INCLUDE:
    say(page, "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": "
              "\"string\"}}]}");
    break;
  }
}

static void json_field(Page *page, const scree_Field *field) {
  say(page, "{\"description\": ");
  char text[512];
  snprintf(text, sizeof text, "%s%s%s%s%s%s%s", field->help, field->unit ? " [" : "",
           field->unit ? field->unit : "", field->unit ? "]" : "",
           field->preset && field->preset[0] ? " (default " : "",
           field->preset && field->preset[0] ? field->preset : "",
           field->preset && field->preset[0] ? ")" : "");
  json_text(page, text);
  say(page, ", \"allOf\": [");
  json_type(page, field);
  say(page, "]}");
}

char *scree_scene_json_schema(void) {
  Page page = {0};
  say(&page, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
             "\"title\": \"scree scene\",\n\"$defs\": {\"shape\": ");
  json_shape(&page);
  say(&page, "},\n\"allOf\": [");
  json_object(&page, scree_scene_schema(), NULL);
  say(&page, "]}\n");
  return finish(&page);
}

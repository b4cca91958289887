/* The JSON Schema (draft 2020-12) of the scene format, from the tables of scene_schema.c, the
 * shapes and the laws. docs/scene.schema.json is its output; a test compares them. */
#include "scene/scene_page.h"
#include "scene/scene_schema.h"
#include "scene/shape_made.h"
#include "scree/scene.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void json_text(scree_ReferencePage *page, const char *text) {
  scree_page_say(page, "\"");
  for (const char *p = text; *p; ++p) {
    if (*p == '"' || *p == '\\')
      scree_page_say(page, "\\%c", *p);
    else
      scree_page_say(page, "%c", *p);
  }
  scree_page_say(page, "\"");
}

static void json_number(scree_ReferencePage *page, const scree_Field *field) {
  /* a number, or an expression as text, whose range an editor cannot check */
  scree_page_say(page, "{\"anyOf\": [{\"type\": \"%s\"",
                 field->type == SCREE_FIELD_INT || field->type == SCREE_FIELD_INTS ? "integer"
                                                                                   : "number");
  const bool range = field->type != SCREE_FIELD_SIGNALS && field->type != SCREE_FIELD_REALS;
  if (range && !isinf(field->min))
    scree_page_say(page, ", \"%s\": %.17g",
                   field->flags & SCREE_FIELD_OPEN ? "exclusiveMinimum" : "minimum", field->min);
  if (range && !isinf(field->max)) scree_page_say(page, ", \"maximum\": %.17g", field->max);
  scree_page_say(page, "}, {\"type\": \"string\"}]}");
}

static void json_list(scree_ReferencePage *page, const scree_Field *field, int min, int max) {
  scree_page_say(page, "{\"type\": \"array\", \"minItems\": %d", min);
  if (max) scree_page_say(page, ", \"maxItems\": %d", max);
  scree_page_say(page, ", \"items\": ");
  json_number(page, field);
  scree_page_say(page, "}");
}

static void json_field(scree_ReferencePage *page, const scree_Field *field);

/* The parameters of all laws, each once. */
static void json_law_parameters(scree_ReferencePage *page) {
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
      scree_page_say(page, ", \n\"%s\": ", option->name);
      json_field(page, &field);
    }
  }
}

/* An object of these fields; `kind` is the name of a variant. */
static void json_object(scree_ReferencePage *page, const scree_Field *fields, const char *kind) {
  bool first = true;
  scree_page_say(page, "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
  if (kind) scree_page_say(page, "\"kind\": {\"const\": \"%s\"}", kind);
  for (int k = 0; fields[k].key; ++k) {
    scree_page_say(page, "%s\n\"%s\": ", k || kind ? ", " : "", fields[k].key);
    json_field(page, &fields[k]);
    if (fields[k].type == SCREE_FIELD_LAW) json_law_parameters(page);
  }
  scree_page_say(page, "}, \"required\": [");
  if (kind) scree_page_say(page, "\"kind\"");
  first = !kind;
  for (int k = 0; fields[k].key; ++k)
    if ((fields[k].flags & SCREE_FIELD_REQUIRED) && !fields[k].dimension) {
      scree_page_say(page, "%s\"%s\"", first ? "" : ", ", fields[k].key);
      first = false;
    }
  scree_page_say(page, "]}");
}

static void json_variants(scree_ReferencePage *page, const scree_Variant *variants) {
  scree_page_say(page, "{\"oneOf\": [");
  for (int k = 0; variants[k].kind; ++k) {
    if (k) scree_page_say(page, ", ");
    json_object(page, variants[k].fields, variants[k].kind);
  }
  scree_page_say(page, "]}");
}

static void json_shape(scree_ReferencePage *page) {
  scree_page_say(page, "{\"anyOf\": [");
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    scree_page_say(
        page,
        "%s{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"kind\"], "
        "\"properties\": {\"kind\": {\"const\": \"%s\"}",
        k ? ",\n" : "", type->name);
    for (int p = 0; p < type->parameter_count; ++p)
      scree_page_say(page,
                     ", \"%s\": {\"type\": [\"number\", \"string\"], \"description\": \"%s%s\"}",
                     type->parameters[p].name, type->parameters[p].help,
                     type->parameters[p].pure ? "" : " [m]");
    if (type->takes_vertices)
      scree_page_say(
          page,
          ", \"vertices\": {\"type\": \"array\", \"minItems\": %d, \"items\": {\"type\": "
          "\"array\", \"minItems\": %d, \"maxItems\": %d}}",
          type->dimension + 1, type->dimension, type->dimension);
    if (type->takes_vertices && type->dimension == 3)
      scree_page_say(page, ", \"file\": {\"type\": \"string\"}");
    if (type->takes_elements)
      scree_page_say(page,
                     ", \"file\": {\"type\": \"string\"}, \"divisions\": {\"type\": \"array\", "
                     "\"minItems\": 3, \"maxItems\": 3}");
    if (type->takes_triangles)
      scree_page_say(page,
                     ", \"triangles\": {\"type\": \"array\", \"items\": {\"type\": \"array\", "
                     "\"minItems\": 3, \"maxItems\": 3}}");
    if (type->takes_parts) {
      scree_page_say(page, ", \"parts\": {\"type\": \"array\", \"minItems\": 1, \"items\": ");
      json_object(page, scree_scene_part_fields, NULL);
      scree_page_say(page, "}");
    }
    scree_page_say(page, "}}");
  }
  for (const scree_ShapeRecipe *r = scree_shape_recipes; r->kind; ++r) {
    scree_page_say(page, ",\n");
    json_object(page, r->fields, r->kind);
  }
  scree_page_say(page, "]}");
}

static void json_choice(scree_ReferencePage *page, const scree_Field *field) {
  scree_page_say(page, "{\"enum\": [");
  bool first = true;
  if (field->flags & SCREE_FIELD_AUTO) {
    scree_page_say(page, "\"auto\"");
    first = false;
  }
  for (int k = 0;; ++k) {
    const char *word = field->words ? field->words[k] : field->registry(k);
    if (!word) break;
    if ((field->flags & SCREE_FIELD_AUTO) && strcmp(word, "auto") == 0) continue;
    scree_page_say(page, "%s\"%s\"", first ? "" : ", ", word);
    first = false;
  }
  scree_page_say(page, "]}");
}

static void json_type(scree_ReferencePage *page, const scree_Field *field) {
  const bool axial = (field->flags & SCREE_FIELD_AXIAL) != 0;
  switch (field->type) {
  case SCREE_FIELD_REAL:
  case SCREE_FIELD_INT: json_number(page, field); break;
  case SCREE_FIELD_BOOL: scree_page_say(page, "{\"type\": \"boolean\"}"); break;
  case SCREE_FIELD_TEXT: scree_page_say(page, "{\"type\": [\"string\", \"number\"]}"); break;
  case SCREE_FIELD_LAW:
  case SCREE_FIELD_CHOICE: json_choice(page, field); break;
  case SCREE_FIELD_VECTOR:
  case SCREE_FIELD_SIGNALS:
    scree_page_say(page, "{\"anyOf\": [");
    if (field->flags & SCREE_FIELD_SCALAR)
      json_number(page, field);
    else
      json_list(page, field, axial ? 3 : 2, 3);
    if (axial || (field->flags & (SCREE_FIELD_BROADCAST | SCREE_FIELD_AUTO))) {
      scree_page_say(page, ", ");
      json_number(page, field);
    }
    if (field->type == SCREE_FIELD_SIGNALS)
      scree_page_say(page, ", {\"$ref\": \"#/$defs/table\"}, {\"$ref\": \"#/$defs/csv\"}");
    scree_page_say(page, "]}");
    break;
  case SCREE_FIELD_INTS: json_list(page, field, 0, 0); break;
  case SCREE_FIELD_REALS: json_list(page, field, (int)field->max, (int)field->max); break;
  case SCREE_FIELD_TEXTS:
    scree_page_say(
        page,
        "{\"type\": \"array\", \"minItems\": %d, \"maxItems\": %d, \"items\": {\"type\": "
        "[\"string\", \"number\"]}}",
        (int)field->max, (int)field->max);
    break;
  case SCREE_FIELD_MAP: json_object(page, field->fields, NULL); break;
  case SCREE_FIELD_LIST:
    scree_page_say(page, "{\"type\": \"array\", \"items\": ");
    if (field->variants)
      json_variants(page, field->variants);
    else
      json_object(page, field->fields, NULL);
    scree_page_say(page, "}");
    break;
  case SCREE_FIELD_NAMED:
    scree_page_say(page, "{\"type\": \"object\", \"additionalProperties\": ");
    json_object(page, field->fields, NULL);
    scree_page_say(page, "}");
    break;
  case SCREE_FIELD_VARIANT: json_variants(page, field->variants); break;
  case SCREE_FIELD_SHAPE: scree_page_say(page, "{\"$ref\": \"#/$defs/shape\"}"); break;
  case SCREE_FIELD_OPTIONS: scree_page_say(page, "{\"type\": \"object\"}"); break;
  case SCREE_FIELD_PARAMETERS:
    scree_page_say(page, "{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"number\", "
                         "\"string\"]}}");
    break;
  case SCREE_FIELD_INCLUDE:
    scree_page_say(
        page, "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": "
              "\"string\"}}]}");
    break;
  }
}

static void json_field(scree_ReferencePage *page, const scree_Field *field) {
  scree_page_say(page, "{\"description\": ");
  char text[512];
  snprintf(text, sizeof text, "%s%s%s%s%s%s%s", field->help, field->unit ? " [" : "",
           field->unit ? field->unit : "", field->unit ? "]" : "",
           field->preset && field->preset[0] ? " (default " : "",
           field->preset && field->preset[0] ? field->preset : "",
           field->preset && field->preset[0] ? ")" : "");
  json_text(page, text);
  scree_page_say(page, ", \"allOf\": [");
  json_type(page, field);
  scree_page_say(page, "]}");
}

char *scree_scene_json_schema(void) {
  scree_ReferencePage page = {0};
  scree_page_say(&page, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                        "\"title\": \"scree scene\",\n\"$defs\": {\"shape\": ");
  json_shape(&page);
  /* signals by a table, here or in a file */
  scree_page_say(&page,
                 ",\n\"table\": {\"type\": \"object\", \"additionalProperties\": false, "
                 "\"required\": [\"times\", \"values\"], \"properties\": {\"times\": {\"type\": "
                 "\"array\"}, \"values\": {\"type\": \"array\"}}}"
                 ",\n\"csv\": {\"type\": \"object\", \"additionalProperties\": false, "
                 "\"required\": [\"csv\"], \"properties\": {\"csv\": {\"type\": \"string\"}, "
                 "\"columns\": {\"type\": \"array\"}, \"step\": {\"type\": [\"number\", "
                 "\"string\"]}, \"scale\": {\"type\": [\"number\", \"string\"]}, \"integrate\": "
                 "{\"type\": \"boolean\"}}}");
  scree_page_say(&page, "},\n\"allOf\": [");
  json_object(&page, scree_scene_schema(), NULL);
  scree_page_say(&page, "]}\n");
  return scree_page_finish(&page);
}

/* Parameters of a scene (see scene_parameters.h). */
#include "scene/scene_parameters.h"

#include "core/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool begins_name(char c) {
  return isalpha((unsigned char)c) || c == '_';
}

static bool in_name(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *text) {
  size_t length = begins_name(text[0]) ? 1 : 0;
  while (length > 0 && in_name(text[length])) ++length;
  return length;
}

static int find(const scree_Parameters *parameters, const char *name, size_t length) {
  for (int k = 0; k < parameters->count; ++k)
    if (strncmp(parameters->name[k], name, length) == 0 && parameters->name[k][length] == '\0')
      return k;
  return -1;
}

const char *scree_parameter_refuse(const char *name) {
  static const char *const taken[] = {"t",   "pi",  "deg", "sin", "cos", "tan", "sqrt",
                                      "exp", "log", "abs", "min", "max", "inf", "auto"};
  const size_t length = strlen(name);
  if (length == 0 || length > 60 || name_length(name) != length)
    return "a name of letters, digits and _ that begins with a letter";
  for (size_t k = 0; k < sizeof taken / sizeof *taken; ++k)
    if (strcmp(taken[k], name) == 0)
      return k == 0 ? "another name: t is the time in expressions"
                    : "another name: this one has a meaning in expressions";
  return NULL;
}

/* Length of the name, number or single character at the start of a text. */
static size_t token_length(const char *at) {
  const size_t length = name_length(at);
  size_t whole = length ? length : 1;
  /* the e of 1e-3 is no name */
  if (isdigit((unsigned char)*at) || *at == '.')
    while (in_name(at[whole]) || at[whole] == '.' ||
           ((at[whole] == '+' || at[whole] == '-') && (at[whole - 1] | 32) == 'e'))
      ++whole;
  return whole;
}

bool scree_parameter_used(const char *text, const char *name) {
  const size_t wanted = strlen(name);
  for (const char *at = text; *at; at += token_length(at))
    if (name_length(at) == wanted && strncmp(at, name, wanted) == 0) return true;
  return false;
}

const char *scree_parameters_expand(const scree_Parameters *parameters, scree_Tree *tree,
                                    const char *text) {
  if (!parameters || parameters->count == 0) return text;
  char *out = NULL;
  size_t capacity = 0, used = 0;
  bool changed = false;
  for (const char *at = text; *at;) {
    const size_t length = name_length(at), whole = token_length(at);
    const int k = length ? find(parameters, at, length) : -1;
    char value[48];
    if (k >= 0) {
      char real[40];
      scree_format_real(parameters->value[k], real, sizeof real);
      snprintf(value, sizeof value, "(%s)", real);
      changed = true;
    }
    const char *from = k >= 0 ? value : at;
    const size_t size = k >= 0 ? strlen(value) : whole;
    if (!scree_grow((void **)&out, &capacity, used + size + 1, 1)) {
      scree_free(out);
      tree->failed = true;
      return NULL;
    }
    memcpy(out + used, from, size);
    used += size;
    at += whole;
  }
  const char *result = changed ? scree_tree_text(tree, out, used) : text;
  scree_free(out);
  return result;
}

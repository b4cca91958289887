/* Option tables (see scree/options.h): defaults, strict parsing with ranges, and "did you mean". */
#include "scree/options.h"

#include "core/log.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 64, MAX_OPTIONS = 64 };

static void *field(void *values, const scree_Option *option) {
  return (char *)values + option->offset;
}

static const void *const_field(const void *values, const scree_Option *option) {
  return (const char *)values + option->offset;
}

void scree_options_init(const scree_OptionTable *table, void *values) {
  memset(values, 0, table->size);
  for (int k = 0; k < table->count; ++k) {
    const scree_Option *option = &table->options[k];
    void *place = field(values, option);
    switch (option->type) {
    case SCREE_OPTION_REAL: *(double *)place = option->preset; break;
    case SCREE_OPTION_INT:
    case SCREE_OPTION_CHOICE: *(int *)place = (int)option->preset; break;
    case SCREE_OPTION_BOOL: *(bool *)place = option->preset != 0.0; break;
    case SCREE_OPTION_NAME:
      if (option->choices && option->choices[0])
        snprintf(place, SCREE_OPTION_NAME_SIZE, "%s", option->choices[0]);
      break;
    }
  }
}

/* ---- parsing -----------------------------------------------------------------------------------
 */

/* The option and value of one attempt, for messages. */
typedef struct Attempt {
  const char *owner;
  const scree_Option *option;
  const char *text;
  const scree_Log *log;
} Attempt;

static scree_Status refuse(const Attempt *attempt, const char *expected) {
  return scree_fail(attempt->log, SCREE_BAD_INPUT, "%s: option %s: found \"%s\", expected %s",
                    attempt->owner, attempt->option->name, attempt->text, expected);
}

static void describe_range(const scree_Option *option, char *text, size_t size) {
  const char *kind = option->type == SCREE_OPTION_INT ? "an integer" : "a number";
  const char *word = option->automatic ? ", or auto" : "";
  const bool low = option->type == SCREE_OPTION_INT ? option->min > INT_MIN : isfinite(option->min);
  const bool high =
      option->type == SCREE_OPTION_INT ? option->max < INT_MAX : isfinite(option->max);
  if (low && high)
    snprintf(text, size, "%s from %.10g to %.10g%s", kind, option->min, option->max, word);
  else if (low)
    snprintf(text, size, "%s of at least %.10g%s", kind, option->min, word);
  else if (high)
    snprintf(text, size, "%s of at most %.10g%s", kind, option->max, word);
  else
    snprintf(text, size, "%s%s", kind, word);
}

/* A number and nothing else: no spaces, no hexadecimal, no "inf" or "nan", nothing left over. */
static bool parse_number(const char *text, double *value) {
  if (text[0] == '\0' || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
  char *end = NULL;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*value);
}

static scree_Status set_number(const Attempt *attempt, void *place) {
  const scree_Option *option = attempt->option;
  const bool whole = option->type == SCREE_OPTION_INT;
  double value = 0.0;
  const bool automatic = option->automatic && strcmp(attempt->text, "auto") == 0;
  if (!automatic) {
    bool good = parse_number(attempt->text, &value) && value >= option->min && value <= option->max;
    if (whole) good = good && value == floor(value) && value >= INT_MIN && value <= INT_MAX;
    if (!good) {
      char range[128];
      describe_range(option, range, sizeof range);
      return refuse(attempt, range);
    }
  }
  if (whole)
    *(int *)place = (int)value;
  else
    *(double *)place = value;
  return SCREE_OK;
}

static scree_Status set_bool(const Attempt *attempt, bool *place) {
  static const char *const yes[] = {"yes", "true", "on", "1"};
  static const char *const no[] = {"no", "false", "off", "0"};
  for (int k = 0; k < 4; ++k) {
    const bool is_yes = strcmp(attempt->text, yes[k]) == 0;
    if (!is_yes && strcmp(attempt->text, no[k]) != 0) continue;
    *place = is_yes;
    return SCREE_OK;
  }
  return refuse(attempt, "yes or no");
}

static scree_Status set_choice(const Attempt *attempt, int *place) {
  const char *const *choices = attempt->option->choices;
  char expected[512] = "one of";
  for (int k = 0; choices[k]; ++k) {
    if (strcmp(attempt->text, choices[k]) == 0) {
      *place = k;
      return SCREE_OK;
    }
    const size_t used = strlen(expected);
    snprintf(expected + used, sizeof expected - used, "%s %s", k ? "," : "", choices[k]);
  }
  const char *near = scree_nearest_word(attempt->text, choices);
  const size_t used = strlen(expected);
  if (near) snprintf(expected + used, sizeof expected - used, "; did you mean %s?", near);
  return refuse(attempt, expected);
}

static scree_Status set_name(const Attempt *attempt, char *place) {
  const size_t length = strlen(attempt->text);
  if (length == 0 || length >= SCREE_OPTION_NAME_SIZE)
    return refuse(attempt, "a name of 1 to 31 characters");
  memcpy(place, attempt->text, length + 1);
  return SCREE_OK;
}

static scree_Status refuse_name(const scree_OptionTable *table, const char *owner, const char *name,
                                const scree_Log *log) {
  const char *words[MAX_OPTIONS + 1] = {NULL};
  for (int k = 0; k < table->count && k < MAX_OPTIONS; ++k) words[k] = table->options[k].name;
  const char *near = scree_nearest_word(name, words);
  if (table->count == 0)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: unknown option \"%s\": it has no options", owner,
                      name);
  char names[512] = "";
  for (int k = 0; k < table->count; ++k) {
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "", table->options[k].name);
  }
  return scree_fail(log, SCREE_BAD_INPUT, "%s: unknown option \"%s\"%s%s%s, expected one of %s",
                    owner, name, near ? "; did you mean \"" : "", near ? near : "",
                    near ? "\"?" : "", names);
}

scree_Status scree_options_set(const scree_OptionTable *table, const char *owner, void *values,
                               const char *name, const char *text, const scree_Log *log) {
  for (int k = 0; k < table->count; ++k) {
    const scree_Option *option = &table->options[k];
    if (strcmp(option->name, name) != 0) continue;
    const Attempt attempt = {owner, option, text, log};
    void *place = field(values, option);
    switch (option->type) {
    case SCREE_OPTION_REAL:
    case SCREE_OPTION_INT: return set_number(&attempt, place);
    case SCREE_OPTION_BOOL: return set_bool(&attempt, place);
    case SCREE_OPTION_CHOICE: return set_choice(&attempt, place);
    case SCREE_OPTION_NAME: return set_name(&attempt, place);
    }
  }
  return refuse_name(table, owner, name, log);
}

void scree_options_get(const scree_OptionTable *table, const void *values, int index, char *text,
                       size_t size) {
  const scree_Option *option = &table->options[index];
  const void *place = const_field(values, option);
  switch (option->type) {
  case SCREE_OPTION_REAL: {
    const double value = *(const double *)place;
    if (option->automatic && value == 0.0) {
      snprintf(text, size, "auto");
      return;
    }
    /* The shortest of the two that reads back to the same bits. */
    snprintf(text, size, "%.15g", value);
    if (strtod(text, NULL) != value) snprintf(text, size, "%.17g", value);
    return;
  }
  case SCREE_OPTION_INT:
    if (option->automatic && *(const int *)place == 0)
      snprintf(text, size, "auto");
    else
      snprintf(text, size, "%d", *(const int *)place);
    return;
  case SCREE_OPTION_BOOL: snprintf(text, size, "%s", *(const bool *)place ? "yes" : "no"); return;
  case SCREE_OPTION_CHOICE:
    snprintf(text, size, "%s", option->choices[*(const int *)place]);
    return;
  case SCREE_OPTION_NAME: snprintf(text, size, "%s", (const char *)place); return;
  }
}

/* ---- did you mean ------------------------------------------------------------------------------
 */

/* Letters to change, add, drop or exchange with a neighbour (restricted Damerau-Levenshtein). */
static int distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  if (n >= WORD_SIZE || m >= WORD_SIZE) return INT_MAX;
  int rows[3][WORD_SIZE + 1];
  for (size_t j = 0; j <= m; ++j) rows[0][j] = (int)j;
  for (size_t i = 1; i <= n; ++i) {
    int *row = rows[i % 3];
    const int *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; ++j) {
      int best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          higher[j - 2] + 1 < best)
        best = higher[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[n % 3][m];
}

const char *scree_nearest_word(const char *word, const char *const *words) {
  const char *nearest = NULL;
  int best = INT_MAX;
  for (int k = 0; words[k]; ++k) {
    int change = distance(word, words[k]);
    const size_t length = strlen(word), other = strlen(words[k]);
    /* A prefix of at least three letters counts as near, but after any typing mistake. */
    const bool start = length >= 3 && length < other && strncmp(word, words[k], length) == 0;
    const size_t longer = length > other ? length : other;
    const int allowed = longer <= 3 ? 1 : longer <= 6 ? 2 : 3;
    if (change > allowed || change >= (int)longer) change = start ? allowed : INT_MAX;
    if (change < best) {
      best = change;
      nearest = words[k];
    }
  }
  return nearest;
}

/* Command lines (see args.h). */
#include "cli/args.h"

#include "cli/terminal.h"
#include "scree/options.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 62, HELP_COLUMN = 26 };

static bool list_append(CliList *list, const char *item) {
  const char **items =
      realloc((void *)list->items, ((size_t)list->count + 2) * sizeof *list->items);
  if (!items) return false;
  items[list->count++] = item;
  items[list->count] = NULL;
  list->items = items;
  return true;
}

void cli_list_free(CliList *list) {
  free((void *)list->items);
  *list = (CliList){0};
}

static void print_option(const CliOption *option) {
  char left[64];
  int used = option->letter ? snprintf(left, sizeof left, "  -%c, ", option->letter)
                            : snprintf(left, sizeof left, "      ");
  used += snprintf(left + used, sizeof left - (size_t)used, "--%s", option->name);
  if (option->value)
    used += snprintf(left + used, sizeof left - (size_t)used, " %s", option->value);
  printf("%s", left);
  if (used >= HELP_COLUMN) {
    printf("\n");
    used = 0;
  }
  for (const char *line = option->help; line;) {
    const char *end = strchr(line, '\n');
    const int length = end ? (int)(end - line) : (int)strlen(line);
    printf("%*s%.*s\n", HELP_COLUMN - used, "", length, line);
    used = 0;
    line = end ? end + 1 : NULL;
  }
}

void cli_print_help(const CliCommand *command, const CliOption *options) {
  const CliOption help = {"help", 'h', CLI_FLAG, NULL, NULL, "this text", 0, 0, NULL};
  printf("usage: scree %s%s%s\n\n%s\n\noptions:\n", command->name, command->usage[0] ? " " : "",
         command->usage, command->help);
  for (const CliOption *option = options; option->name; ++option) print_option(option);
  print_option(&help);
  if (command->examples) printf("\nexamples:\n%s\n", command->examples);
}

/* The option being parsed and its spelling on the command line, for messages. */
typedef struct Found {
  const CliCommand *command;
  const CliOption *option;
  char shown[80]; /* "--tol" */
} Found;

static int refuse(const Found *found, const char *text, const char *expected) {
  cli_error("scree %s: %s: found \"%s\", expected %s", found->command->name, found->shown, text,
            expected);
  return 2;
}

static int store_number(const Found *found, const char *text) {
  const CliOption *option = found->option;
  double value = 0.0;
  int whole = 0;
  /* Numbers are parsed by the same strict parser as the option tables. */
  const bool is_int = option->kind == CLI_INT;
  const scree_Option entry = {.name = option->name,
                              .type = is_int ? SCREE_OPTION_INT : SCREE_OPTION_REAL,
                              .min = option->min,
                              .max = option->max};
  const scree_OptionTable table = {&entry, 1, is_int ? sizeof whole : sizeof value};
  void *place = is_int ? (void *)&whole : (void *)&value;
  if (scree_options_set(&table, "", place, option->name, text, NULL) != SCREE_OK) {
    char expected[128];
    const char *kind = is_int ? "an integer" : "a number";
    const bool below = option->max < (is_int ? INT_MAX : HUGE_VAL);
    if (below)
      snprintf(expected, sizeof expected, "%s from %g to %g", kind, option->min, option->max);
    else if (option->min > -HUGE_VAL)
      snprintf(expected, sizeof expected, "%s of at least %g", kind, option->min);
    else
      snprintf(expected, sizeof expected, "%s", kind);
    return refuse(found, text, expected);
  }
  if (is_int)
    *(int *)option->target = whole;
  else
    *(double *)option->target = value;
  return -1;
}

static int store_choice(const Found *found, const char *text) {
  const CliOption *option = found->option;
  char expected[256] = "one of";
  for (int k = 0; option->choices[k]; ++k) {
    if (strcmp(option->choices[k], text) == 0) {
      *(int *)option->target = k;
      return -1;
    }
    const size_t used = strlen(expected);
    snprintf(expected + used, sizeof expected - used, "%s %s", k ? "," : "", option->choices[k]);
  }
  const char *near = scree_nearest_word(text, option->choices);
  const size_t used = strlen(expected);
  if (near) snprintf(expected + used, sizeof expected - used, "; did you mean %s?", near);
  return refuse(found, text, expected);
}

static int store(const Found *found, const char *text) {
  switch (found->option->kind) {
  case CLI_FLAG: *(bool *)found->option->target = true; return -1;
  case CLI_TEXT:
    if (text[0] == '\0') return refuse(found, text, found->option->value);
    *(const char **)found->option->target = text;
    return -1;
  case CLI_LIST:
    if (list_append(found->option->target, text)) return -1;
    cli_error("scree: out of memory");
    return 3;
  case CLI_REAL:
  case CLI_INT: return store_number(found, text);
  case CLI_CHOICE: return store_choice(found, text);
  }
  return 2;
}

static int refuse_unknown(const CliCommand *command, const CliOption *options, const char *typed,
                          const char *name) {
  const char *words[MAX_OPTIONS + 2] = {"help"};
  int count = 1;
  for (const CliOption *option = options; option->name && count <= MAX_OPTIONS; ++option)
    words[count++] = option->name;
  const char *near = name[1] ? scree_nearest_word(name, words) : NULL;
  cli_error("scree %s: unknown option %s%s%s%s (scree %s --help lists them)", command->name, typed,
            near ? "; did you mean --" : "", near ? near : "", near ? "?" : "", command->name);
  return 2;
}

/* Handle argv[*i], which starts with a dash; a value may be taken from the next one. */
static int parse_option(const CliCommand *command, const CliOption *options, int argc, char **argv,
                        int *i) {
  const char *typed = argv[*i];
  const bool is_long = typed[1] == '-';
  const char *name = typed + (is_long ? 2 : 1);
  const char *value = NULL;
  char word[64];
  if (is_long) {
    const char *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    if (length >= sizeof word) return refuse_unknown(command, options, typed, "--");
    memcpy(word, name, length);
    word[length] = '\0';
    if (equals) value = equals + 1;
  } else {
    word[0] = name[0];
    word[1] = '\0';
    if (name[1]) value = name + 1;
  }
  if (strcmp(word, is_long ? "help" : "h") == 0) {
    cli_print_help(command, options);
    return cli_finish(0);
  }
  Found found = {.command = command};
  for (const CliOption *option = options; option->name && !found.option; ++option)
    if (is_long ? strcmp(option->name, word) == 0 : option->letter && option->letter == word[0])
      found.option = option;
  if (!found.option) return refuse_unknown(command, options, typed, word);
  snprintf(found.shown, sizeof found.shown, "%s%s", is_long ? "--" : "-", word);
  if (found.option->kind == CLI_FLAG) {
    if (value) return refuse(&found, value, "no value: this option is a flag");
    return store(&found, "");
  }
  if (!value) {
    if (*i + 1 >= argc) {
      cli_error("scree %s: %s: expected %s after it", command->name, found.shown,
                found.option->value);
      return 2;
    }
    value = argv[++*i];
  }
  return store(&found, value);
}

/* Options are tables inside of the commands: while a visitor is set, cli_parse hands them over and
 * makes the command return. */
static struct {
  void (*visit)(void *user, const CliCommand *command, const CliOption *options);
  void *user;
} visitor;

void cli_visit(const CliCommand *command,
               void (*visit)(void *user, const CliCommand *command, const CliOption *options),
               void *user) {
  visitor.visit = visit;
  visitor.user = user;
  command->run(command, 0, NULL);
  visitor.visit = NULL;
}

int cli_parse(const CliCommand *command, const CliOption *options, int argc, char **argv,
              CliList *arguments) {
  if (visitor.visit) {
    visitor.visit(visitor.user, command, options);
    return 0;
  }
  bool only_arguments = false;
  for (int i = 0; i < argc; ++i) {
    if (!only_arguments && strcmp(argv[i], "--") == 0) {
      only_arguments = true;
    } else if (only_arguments || argv[i][0] != '-' || argv[i][1] == '\0') {
      if (!list_append(arguments, argv[i])) {
        cli_error("scree: out of memory");
        return 3;
      }
    } else {
      const int status = parse_option(command, options, argc, argv, &i);
      if (status >= 0) return status;
    }
  }
  return -1;
}

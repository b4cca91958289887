/* Command lines: options in any place, `--name value` or `--name=value`, one-letter forms, `--`
 * ends the options. A command lists its options in one table, from which its help is printed too.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "cli/command.h"

#include <stdbool.h>

typedef enum CliKind {
  CLI_FLAG,   /* bool */
  CLI_TEXT,   /* const char * */
  CLI_LIST,   /* CliList: may be given several times */
  CLI_REAL,   /* double in [min, max] */
  CLI_INT,    /* int in [min, max] */
  CLI_CHOICE, /* int: index into choices */
} CliKind;

typedef struct CliList {
  const char **items; /* null-ended; freed by cli_list_free */
  int count;
} CliList;

typedef struct CliOption {
  const char *name; /* without the dashes */
  char letter;      /* or 0 */
  CliKind kind;
  void *target;
  const char *value; /* how help names the value, null for a flag */
  const char *help;  /* lines are split at '\n' */
  double min, max;   /* of a number, both included */
  const char *const *choices;
} CliOption;

/* Parse. Returns -1 on success, else the exit status (0: help was printed, 2: wrong usage).
 * `options` ends with a null name. `arguments` receives the positional arguments. */
int cli_parse(const CliCommand *command, const CliOption *options, int argc, char **argv,
              CliList *arguments);

/* Call `visit` with the options of a command, for completion and the manual page. The command does
 * nothing else. */
void cli_visit(const CliCommand *command,
               void (*visit)(void *user, const CliCommand *command, const CliOption *options),
               void *user);

void cli_print_help(const CliCommand *command, const CliOption *options);
void cli_list_free(CliList *list);

#endif

/* A command of the program. Each lives in a file of its own, cli/cmd_<name>.c, which ends with its
 * descriptor, and has one line in the table of main.c. The exit status of `run` is the program's:
 * 0 done and certified, 1 above the tolerance, 2 wrong usage or bad input, 3 the machine failed. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>

typedef struct CliCommand {
  const char *name;
  const char *usage;    /* arguments after the name: "PROBLEM.hdf5... [options]" */
  const char *summary;  /* one line for the list of commands */
  const char *help;     /* description, lines of at most 80 columns */
  const char *examples; /* lines of at most 80 columns */
  int (*run)(const struct CliCommand *command, int argc, char **argv);
  /* The k-th name that it takes as an argument, for completion; false when there are no more. Null:
   * arguments are files. */
  bool (*word)(int k, char *text, unsigned size);
  bool on_all_ranks; /* every rank runs it; else rank 0 does, and the others join its solves */
} CliCommand;

bool cli_solver_word(int k, char *text, unsigned size); /* names of solvers */

/* All commands, in the order of the help; null-ended. */
extern const CliCommand *const cli_commands[];

extern const CliCommand cli_command_new, cli_command_examples, cli_command_completion,
    cli_command_manual;
extern const CliCommand cli_command_run, cli_command_check, cli_command_converge;
extern const CliCommand cli_command_report, cli_command_view, cli_command_picture, cli_command_plot,
    cli_command_convert;
extern const CliCommand cli_command_solve, cli_command_solvers, cli_command_info, cli_command_race,
    cli_command_bench;

#endif

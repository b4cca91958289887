/* The program: finds the command and calls it. A new command is a file and a line in the table.
 */
#include "cli/command.h"
#include "cli/ranks.h"
#include "cli/terminal.h"
#include "scree/options.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
const CliCommand *const cli_commands[] = {
    &cli_command_new,
    &cli_command_examples,
    &cli_command_run,
    &cli_command_check,
    &cli_command_converge,
    &cli_command_report,
    &cli_command_view,
    &cli_command_picture,
    &cli_command_plot,
    &cli_command_convert,
    &cli_command_solve,
    &cli_command_solvers,
    &cli_command_info,
    &cli_command_race,
    &cli_command_bench,
    &cli_command_completion,
    &cli_command_manual,
    NULL,
};
/* clang-format on */

enum { COMMANDS = sizeof cli_commands / sizeof *cli_commands - 1 };

static void print_help(void) {
  printf("scree %s: non-smooth contact dynamics with certified time steps\n\n"
         "usage: scree COMMAND [arguments]\n\ncommands:\n",
         scree_version());
  for (int k = 0; k < COMMANDS; ++k)
    printf("  %-10s %s\n", cli_commands[k]->name, cli_commands[k]->summary);
  printf("\n  scree COMMAND --help   explain a command, with examples\n"
         "  scree --version        print the version\n\n"
         "first steps:\n"
         "  scree new heap               write a commented scene, heap.yaml\n"
         "  scree run scene.yaml         run a scene into the folder scene-run\n"
         "  scree report scene-run       write a page that plays the run\n"
         "  scree info problem.hdf5      describe a contact problem\n"
         "  scree solve problem.hdf5     solve it\n"
         "  scree solvers                list the solvers\n\n"
         "exit status: 0 finished and certified; 1 a result is above the tolerance;\n"
         "2 wrong usage or bad input; 3 failure of the machine (disk full, out of memory).\n");
}

static const CliCommand *find_command(const char *name) {
  for (int k = 0; k < COMMANDS; ++k)
    if (strcmp(cli_commands[k]->name, name) == 0) return cli_commands[k];
  return NULL;
}

static int refuse_command(const char *name) {
  const char *words[COMMANDS + 1] = {NULL};
  for (int k = 0; k < COMMANDS; ++k) words[k] = cli_commands[k]->name;
  const char *near = scree_nearest_word(name, words);
  cli_error("scree: unknown command \"%s\"%s%s%s (scree --help lists them)", name,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return 2;
}

static int perform(int argc, char **argv) {
  /* Numbers are read and written in the C locale, whatever the user's. */
  setlocale(LC_ALL, "C");
  if (argc < 2) {
    cli_error("usage: scree COMMAND [arguments] (scree --help explains)");
    return 2;
  }
  const char *name = argv[1];
  const bool help = strcmp(name, "help") == 0;
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (help && argc == 2)) {
    print_help();
    return cli_finish(0);
  }
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
    printf("scree %s\n", scree_version());
    return cli_finish(0);
  }
  if (help) name = argv[2];
  const CliCommand *command = find_command(name);
  if (!command) return refuse_command(name);
  if (help) {
    char ask[] = "--help", *arguments[] = {ask, NULL};
    return command->run(command, 1, arguments);
  }
  return command->run(command, argc - 2, argv + 2);
}

int main(int argc, char **argv) {
  if (!cli_ranks_begin()) return 3;
  const CliCommand *command = argc > 1 ? find_command(argv[1]) : NULL;
  const bool together = command && command->on_all_ranks;
  const int status = cli_ranks_serve(together) ? 0 : perform(argc, argv);
  cli_ranks_end();
  return status;
}

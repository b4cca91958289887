/* `scree completion` and `scree manual`: completion scripts of shells and the manual page, made
 * from the table of commands and their tables of options. */
#include "cli/args.h"
#include "cli/terminal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { BASH, ZSH, FISH };

/* The first line of a help text, or all of them with spaces between; quotes are doubled or dropped
 * where a shell would end the text. */
static void print_plain(const char *text, const char *forbidden) {
  for (; *text; ++text)
    if (*text == '\n')
      putchar(' ');
    else if (!strchr(forbidden, *text))
      putchar(*text);
}

static void print_commands(void) {
  for (int k = 0; cli_commands[k]; ++k) printf("%s%s", k ? " " : "", cli_commands[k]->name);
}

/* Words of a value or, without an option, of the arguments, with spaces between; the number of
 * them. */
static int print_words(const CliCommand *command, const CliOption *option, const char *before) {
  const bool solver = option && option->kind != CLI_CHOICE && strcmp(option->name, "solver") == 0;
  bool (*const word)(int k, char *text, unsigned size) = solver   ? cli_solver_word
                                                         : option ? NULL
                                                                  : command->word;
  char text[64];
  int count = 0;
  if (option && option->kind == CLI_CHOICE)
    for (; option->choices[count]; ++count)
      printf("%s%s", count ? " " : before, option->choices[count]);
  for (; word && word(count, text, sizeof text); ++count)
    printf("%s%s", count ? " " : before, text);
  return count;
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_options(void *user, const CliCommand *command, const CliOption *options) {
  (void)user;
  printf("    %s) options=\"--help", command->name);
  for (const CliOption *option = options; option->name; ++option) printf(" --%s", option->name);
  printf("\" ;;\n");
}

static void bash_choices(void *user, const CliCommand *command, const CliOption *options) {
  (void)user;
  for (const CliOption *option = options; option->name; ++option) {
    char before[160];
    int used = snprintf(before, sizeof before, "    \"%s --%s\"", command->name, option->name);
    if (option->letter)
      used += snprintf(before + used, sizeof before - (size_t)used, " | \"%s -%c\"", command->name,
                       option->letter);
    snprintf(before + used, sizeof before - (size_t)used, ") choices=\"");
    if (print_words(command, option, before)) printf("\" ;;\n");
  }
}

static void bash_words(const CliCommand *command) {
  char before[64];
  snprintf(before, sizeof before, "    %s) words=\"", command->name);
  if (print_words(command, NULL, before)) printf("\" ;;\n");
}

static void bash(void) {
  printf("# Completion of scree for bash: scree completion bash > "
         "~/.local/share/bash-completion/completions/scree\n"
         "_scree() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" command=\"${COMP_WORDS[1]}\" options=\"\" "
         "choices=\"\" words=\"\"\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"help");
  for (int k = 0; cli_commands[k]; ++k) printf(" %s", cli_commands[k]->name);
  printf(" --version --help\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"$command ${COMP_WORDS[COMP_CWORD-1]}\" in\n");
  for (int k = 0; cli_commands[k]; ++k) cli_visit(cli_commands[k], bash_choices, NULL);
  printf("  esac\n"
         "  if [ -n \"$choices\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"$command\" in\n");
  for (int k = 0; cli_commands[k]; ++k) cli_visit(cli_commands[k], bash_options, NULL);
  printf("  esac\n"
         "  case \"$command\" in\n"
         "    help) words=\"");
  print_commands();
  printf("\" ;;\n");
  for (int k = 0; cli_commands[k]; ++k) bash_words(cli_commands[k]);
  printf("  esac\n"
         "  case \"$word\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "    *) if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "       else compopt -o default 2>/dev/null; fi ;;\n"
         "  esac\n"
         "}\n"
         "complete -F _scree scree\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_options(void *user, const CliCommand *command, const CliOption *options) {
  (void)user;
  printf("    %s) _arguments -s", command->name);
  for (const CliOption *option = options; option->name; ++option) {
    const char *many = option->kind == CLI_LIST ? "*" : "";
    printf(" \\\n      '%s--%s%s[", many, option->name, option->value ? "=" : "");
    print_plain(option->help, "'[]:\\");
    printf("]");
    if (option->value) printf(":%s:", option->value);
    if (print_words(command, option, "("))
      printf(")");
    else if (option->value && option->kind == CLI_TEXT)
      printf("_files");
    printf("'");
  }
  printf(" \\\n      '*:");
  printf(print_words(command, NULL, "name:(") ? ")' ;;\n" : "file:_files' ;;\n");
}

static void zsh(void) {
  printf("#compdef scree\n"
         "# Completion of scree for zsh: scree completion zsh > a folder of $fpath, as _scree\n"
         "_scree() {\n"
         "  local -a commands\n"
         "  commands=(\n");
  for (int k = 0; cli_commands[k]; ++k) {
    printf("    '%s:", cli_commands[k]->name);
    print_plain(cli_commands[k]->summary, "':");
    printf("'\n");
  }
  printf("  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n");
  for (int k = 0; cli_commands[k]; ++k) cli_visit(cli_commands[k], zsh_options, NULL);
  printf("    help) _arguments '*:name:(");
  print_commands();
  printf(")' ;;\n"
         "  esac\n"
         "}\n"
         "_scree \"$@\"\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_options(void *user, const CliCommand *command, const CliOption *options) {
  (void)user;
  for (const CliOption *option = options; option->name; ++option) {
    printf("complete -c scree -n '__fish_seen_subcommand_from %s' -l %s", command->name,
           option->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->value) printf(" -r");
    if (print_words(command, option, " -f -a '")) printf("'");
    printf(" -d '");
    print_plain(option->help, "'\\");
    printf("'\n");
  }
}

static void fish(void) {
  printf("# Completion of scree for fish: scree completion fish > "
         "~/.config/fish/completions/scree.fish\n");
  for (int k = 0; cli_commands[k]; ++k) {
    printf("complete -c scree -n __fish_use_subcommand -f -a %s -d '", cli_commands[k]->name);
    print_plain(cli_commands[k]->summary, "'\\");
    printf("'\n");
  }
  printf("complete -c scree -n __fish_use_subcommand -f -a help -d 'explain a command'\n"
         "complete -c scree -n '__fish_seen_subcommand_from help' -f -a '");
  print_commands();
  printf("'\n");
  for (int k = 0; cli_commands[k]; ++k) {
    char before[128];
    cli_visit(cli_commands[k], fish_options, NULL);
    snprintf(before, sizeof before, "complete -c scree -n '__fish_seen_subcommand_from %s' -f -a '",
             cli_commands[k]->name);
    if (print_words(cli_commands[k], NULL, before)) printf("'\n");
  }
}

static int run_completion(const CliCommand *command, int argc, char **argv) {
  static const char *const shells[] = {"bash", "zsh", "fish", NULL};
  static void (*const print[])(void) = {[BASH] = bash, [ZSH] = zsh, [FISH] = fish};
  const CliOption options[] = {{0}};
  CliList names = {0};
  int status = cli_parse(command, options, argc, argv, &names);
  int shell = -1;
  for (int k = 0; status < 0 && names.count == 1 && shells[k]; ++k)
    if (strcmp(shells[k], names.items[0]) == 0) shell = k;
  if (status < 0 && shell < 0) {
    cli_error("scree completion: expected one of: bash, zsh, fish");
    status = 2;
  } else if (status < 0) {
    print[shell]();
    status = cli_finish(0);
  }
  cli_list_free(&names);
  return status;
}

static bool shell_word(int k, char *text, unsigned size) {
  static const char *const shells[] = {"bash", "zsh", "fish"};
  if (k >= 3) return false;
  snprintf(text, size, "%s", shells[k]);
  return true;
}

const CliCommand cli_command_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .summary = "print the completion script of a shell",
    .help = "Prints a script that completes commands, options and their values. `make\ninstall` "
            "and the Debian package install the scripts of all three shells.",
    .examples = "  scree completion bash > ~/.local/share/bash-completion/completions/scree\n"
                "  scree completion zsh > ~/.zfunc/_scree\n"
                "  scree completion fish > ~/.config/fish/completions/scree.fish",
    .run = run_completion,
    .word = shell_word,
};

/* ---- manual page -------------------------------------------------------------------------------
 */

/* Text for roff: a backslash is doubled, a dash is a minus, a dot or quote at the start of a line
 * is escaped; lines stay lines. */
static void print_roff(const char *text) {
  bool start = true;
  for (; *text; ++text) {
    if (start && (*text == '.' || *text == '\'')) printf("\\&");
    if (*text == '\\')
      printf("\\e");
    else if (*text == '-')
      printf("\\-");
    else
      putchar(*text);
    start = *text == '\n';
  }
}

static void manual_options(void *user, const CliCommand *command, const CliOption *options) {
  (void)user;
  (void)command;
  for (const CliOption *option = options; option->name; ++option) {
    printf(".TP\n\\fB");
    if (option->letter) printf("\\-%c\\fR, \\fB", option->letter);
    printf("\\-\\-");
    print_roff(option->name);
    printf("\\fR");
    if (option->value) printf(" \\fI%s\\fR", option->value);
    printf("\n");
    print_roff(option->help);
    printf("\n");
  }
}

static void manual(void) {
  printf(".TH SCREE 1 \"\" \"scree %s\" \"User Commands\"\n"
         ".SH NAME\n"
         "scree \\- hard frictional contact, solved and certified\n"
         ".SH SYNOPSIS\n"
         ".B scree\n"
         "\\fICOMMAND\\fR [arguments]\n"
         ".SH DESCRIPTION\n"
         "scree simulates collections of bodies in hard, dry, frictional contact, and solves the\n"
         "discrete contact problems that such simulations produce. Every step is certified: the\n"
         "error of the contact law, the penetration and the energy created by the discretisation\n"
         "are measured and compared with limits.\n"
         ".SH COMMANDS\n",
         scree_version());
  for (int k = 0; cli_commands[k]; ++k) {
    const CliCommand *command = cli_commands[k];
    printf(".SS \"scree %s ", command->name);
    print_roff(command->usage);
    printf("\"\n");
    print_roff(command->help);
    printf("\n");
    cli_visit(command, manual_options, NULL);
    printf(".PP\nExamples:\n.PP\n.nf\n");
    print_roff(command->examples);
    printf("\n.fi\n");
  }
  printf(".SH EXIT STATUS\n"
         "0 done and certified; 1 ran, but a result is above the tolerance; 2 wrong usage or bad\n"
         "input; 3 the machine failed (disk full, out of memory); 130 interrupted.\n"
         ".SH ENVIRONMENT\n"
         ".TP\n.B OMP_NUM_THREADS\nthreads, where no option sets them\n"
         ".TP\n.B NO_COLOR\nno colours\n");
}

static int run_manual(const CliCommand *command, int argc, char **argv) {
  const CliOption options[] = {{0}};
  CliList names = {0};
  int status = cli_parse(command, options, argc, argv, &names);
  if (status < 0 && names.count > 0) {
    cli_error("scree manual: found %d arguments, expected none", names.count);
    status = 2;
  } else if (status < 0) {
    manual();
    status = cli_finish(0);
  }
  cli_list_free(&names);
  return status;
}

const CliCommand cli_command_manual = {
    .name = "manual",
    .usage = "",
    .summary = "print the manual page",
    .help = "Prints the manual page scree(1) in roff format, with all commands and options.\n`make "
            "install` and the Debian package install it.",
    .examples = "  scree manual | man -l -",
    .run = run_manual,
};

/* `scree solvers`: the registry, and the option table of one solver. */
#include "cli/args.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "scree/solver.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {"real", "int", "bool", "choice", "name"};

typedef struct Capability {
  unsigned bit;
  const char *name;
} Capability;

static const Capability capabilities[] = {
    {SCREE_CAN_2D, "2D"},
    {SCREE_CAN_3D, "3D"},
    {SCREE_CAN_COULOMB, "coulomb"},
    {SCREE_CAN_ASSOCIATED, "associated"},
    {SCREE_CAN_ASSEMBLED, "assembled"},
    {SCREE_CAN_BODIES, "bodies"},
    {SCREE_CAN_ANY_SIZE, "constraints of any size"},
    {SCREE_CAN_FLOW, "flow"},
    {SCREE_CAN_RANKS, "several ranks"},
};

enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

/* "auto or >= 0", "1 to 1000", "forward | backward" */
static void describe_values(const scree_Option *option, char *text, size_t size) {
  text[0] = '\0';
  if (option->type == SCREE_OPTION_BOOL) {
    snprintf(text, size, "yes | no");
  } else if (option->type == SCREE_OPTION_NAME) {
    snprintf(text, size, "a solver");
  } else if (option->type == SCREE_OPTION_CHOICE) {
    for (int k = 0; option->choices[k]; ++k) {
      const size_t used = strlen(text);
      snprintf(text + used, size - used, "%s%s", k ? " | " : "", option->choices[k]);
    }
  } else {
    const bool whole = option->type == SCREE_OPTION_INT;
    const bool low = whole ? option->min > INT_MIN : isfinite(option->min);
    const bool high = whole ? option->max < INT_MAX : isfinite(option->max) && option->max < 1e300;
    const char *word = option->automatic ? "auto, or " : "";
    if (low && high)
      snprintf(text, size, "%s%g to %g", word, option->min, option->max);
    else if (low)
      snprintf(text, size, "%sat least %g", word, option->min);
    else if (high)
      snprintf(text, size, "%sat most %g", word, option->max);
    else
      snprintf(text, size, "%sany", word);
  }
}

/* The default of each option as text; `values` is an initialised options struct. */
static void preset_text(const scree_OptionTable *table, const void *values, int k, char *text,
                        size_t size) {
  text[0] = '\0';
  scree_options_get(table, values, k, text, size);
}

static void print_capabilities(unsigned can) {
  bool first = true;
  for (int k = 0; k < CAPABILITIES; ++k) {
    if (!(can & capabilities[k].bit)) continue;
    printf("%s%s", first ? "" : ", ", capabilities[k].name);
    first = false;
  }
}

static void print_options(const scree_OptionTable *table, const void *values) {
  if (table->count == 0) {
    printf("\nno options\n");
    return;
  }
  int width = 0;
  for (int k = 0; k < table->count; ++k) {
    const int length = (int)strlen(table->options[k].name);
    if (length > width) width = length;
  }
  printf("\noptions (--set name=value):\n");
  for (int k = 0; k < table->count; ++k) {
    const scree_Option *option = &table->options[k];
    char range[256], preset[64];
    describe_values(option, range, sizeof range);
    preset_text(table, values, k, preset, sizeof preset);
    printf("  %-*s  %s\n  %*s  %s: %s; default %s\n", width, option->name, option->help, width, "",
           type_names[option->type], range, preset);
  }
}

static void print_one(const scree_SolverClass *solver, const void *values) {
  printf("%s: %s\n\n", scree_solver_class_name(solver), scree_solver_class_summary(solver));
  printf("reference  %s\n", scree_solver_class_reference(solver));
  printf("works on   ");
  print_capabilities(scree_solver_class_capabilities(solver));
  printf("\n");
  print_options(scree_solver_class_options(solver), values);
}

static void write_json(const scree_SolverClass *solver, const void *values) {
  const scree_OptionTable *table = scree_solver_class_options(solver);
  CliJson json;
  cli_json_begin(&json, stdout);
  cli_json_text(&json, "solver", scree_solver_class_name(solver));
  cli_json_text(&json, "summary", scree_solver_class_summary(solver));
  cli_json_text(&json, "reference", scree_solver_class_reference(solver));
  cli_json_open(&json, "capabilities", '[');
  for (int k = 0; k < CAPABILITIES; ++k)
    if (scree_solver_class_capabilities(solver) & capabilities[k].bit)
      cli_json_text(&json, NULL, capabilities[k].name);
  cli_json_close(&json, ']');
  cli_json_open(&json, "options", '[');
  for (int k = 0; k < table->count; ++k) {
    const scree_Option *option = &table->options[k];
    char range[256], preset[64];
    describe_values(option, range, sizeof range);
    preset_text(table, values, k, preset, sizeof preset);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "name", option->name);
    cli_json_text(&json, "type", type_names[option->type]);
    cli_json_text(&json, "values", range);
    cli_json_text(&json, "default", preset);
    cli_json_text(&json, "help", option->help);
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  cli_json_end(&json);
}

static int show(const scree_SolverClass *solver, bool as_json) {
  const scree_OptionTable *table = scree_solver_class_options(solver);
  void *values = calloc(1, table->size ? table->size : 1);
  if (!values) {
    cli_error("scree: out of memory");
    return 3;
  }
  scree_options_init(table, values);
  if (as_json)
    write_json(solver, values);
  else
    print_one(solver, values);
  free(values);
  return 0;
}

static int refuse_name(const char *name) {
  const char *words[64] = {NULL};
  for (int k = 0; k < 63 && scree_solver_class(k); ++k)
    words[k] = scree_solver_class_name(scree_solver_class(k));
  const char *near = scree_nearest_word(name, words);
  cli_error("scree solvers: unknown solver \"%s\"%s%s%s (scree solvers lists them)", name,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return 2;
}

static int list_all(bool as_json) {
  if (as_json) {
    for (int k = 0; scree_solver_class(k); ++k) {
      const int status = show(scree_solver_class(k), true);
      if (status) return status;
    }
    return 0;
  }
  const char *preset = scree_solve_settings().solver;
  for (int k = 0; scree_solver_class(k); ++k) {
    const scree_SolverClass *solver = scree_solver_class(k);
    printf("%-12s %s%s\n", scree_solver_class_name(solver), scree_solver_class_summary(solver),
           strcmp(scree_solver_class_name(solver), preset) == 0 ? " (default)" : "");
  }
  printf("\nscree solvers NAME shows the options of one.\n");
  return 0;
}

static int run(const CliCommand *command, int argc, char **argv) {
  bool as_json = false;
  const CliOption options[] = {
      {"json", 0, CLI_FLAG, &as_json, NULL, "print one JSON object per line, one for each solver",
       0, 0, NULL},
      {0},
  };
  CliList names = {0};
  int status = cli_parse(command, options, argc, argv, &names);
  if (status < 0) {
    status = 0;
    for (int k = 0; k < names.count && status == 0; ++k) {
      const scree_SolverClass *solver = scree_solver_class_find(names.items[k]);
      if (k > 0 && !as_json) printf("\n");
      status = solver ? show(solver, as_json) : refuse_name(names.items[k]);
    }
    if (names.count == 0) status = list_all(as_json);
    status = cli_finish(status);
  }
  cli_list_free(&names);
  return status;
}

bool cli_solver_word(int k, char *text, unsigned size) {
  const scree_SolverClass *solver = scree_solver_class(k);
  if (solver) snprintf(text, size, "%s", scree_solver_class_name(solver));
  return solver != NULL;
}

const CliCommand cli_command_solvers = {
    .name = "solvers",
    .usage = "[NAME...] [--json]",
    .summary = "list the solvers, or show the options of one",
    .help = "Without a name: lists all solvers with a one-line summary. With a name: prints\nits "
            "reference, its capabilities, and its options with their ranges and\ndefaults.",
    .examples = "  scree solvers\n"
                "  scree solvers nlgs",
    .run = run,
    .word = cli_solver_word,
};

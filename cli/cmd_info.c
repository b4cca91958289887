/* `scree info`: what is in a file. Each kind of file has a function that says whether a file is of
 * its kind and one that describes it; a new kind is one more line in `kinds`. */
#include "cli/args.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "problem/operator.h"
#include "scree/fclib.h"
#include "scree/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that is said about a problem file. */
typedef struct Facts {
  scree_FclibInfo file;
  int d, nc, nbodies, nb;
  bool bodies;
  size_t blocks;
  double mu_min, mu_max;
  double mean_diagonal, q_norm; /* the scales of W and q */
  int most_contacts;            /* of one body, or blocks in one row of W */
  int frictionless;             /* contacts with mu = 0 */
  bool measured;
  scree_Measures solution; /* of the stored solution */
  double r_norm;
} Facts;

static double norm(const double *x, size_t n) {
  double sum = 0.0;
  for (size_t k = 0; k < n; ++k) sum = hypot(sum, x[k]);
  return sum;
}

static void gather_sizes(const scree_Problem *problem, Facts *facts) {
  facts->d = problem->d;
  facts->nc = problem->nc;
  facts->bodies = problem->kind == SCREE_BODIES;
  facts->q_norm = norm(problem->q, (size_t)problem->nc * (size_t)problem->d);
  for (int c = 0; c < problem->nc; ++c) {
    const double mu = problem->mu[c];
    if (c == 0 || mu < facts->mu_min) facts->mu_min = mu;
    if (c == 0 || mu > facts->mu_max) facts->mu_max = mu;
    facts->frictionless += mu == 0.0;
  }
  if (facts->bodies) {
    facts->nbodies = problem->bodies.nbodies;
    facts->nb = problem->bodies.nb;
  } else {
    facts->blocks = problem->blocks.row[problem->nc];
    for (int c = 0; c < problem->nc; ++c) {
      const int row = (int)(problem->blocks.row[c + 1] - problem->blocks.row[c]);
      if (row > facts->most_contacts) facts->most_contacts = row;
    }
  }
}

static scree_Status gather_scales(const scree_Problem *problem, const scree_Log *log,
                                  Facts *facts) {
  scree_Operator W;
  scree_Status status = scree_operator_create(problem, 1, log, &W);
  if (status != SCREE_OK) return status;
  facts->mean_diagonal = W.mean_diagonal;
  for (int b = 0; facts->bodies && b < problem->bodies.nbodies; ++b) {
    const int contacts = (int)(W.body_row[b + 1] - W.body_row[b]);
    if (contacts > facts->most_contacts) facts->most_contacts = contacts;
  }
  scree_operator_destroy(&W);
  return SCREE_OK;
}

/* A stored solution is measured like any other, not believed. */
static scree_Status gather_solution(const char *path, const scree_Problem *problem,
                                    const scree_Log *log, Facts *facts) {
  if (!facts->file.has_solution) return SCREE_OK;
  const size_t count = (size_t)problem->nc * (size_t)problem->d;
  double *r = calloc(count + 1, sizeof *r), *u = calloc(count + 1, sizeof *u);
  scree_Status status = SCREE_MACHINE;
  if (r && u) {
    status = scree_fclib_read_solution(path, problem, r, u, log);
    if (status == SCREE_OK)
      status = scree_problem_measure(problem, r, u, NULL, &facts->solution, log);
    facts->r_norm = norm(r, count);
    facts->measured = status == SCREE_OK;
  } else {
    cli_error("scree: out of memory");
  }
  free(r);
  free(u);
  return status;
}

static void print_facts(const char *path, const Facts *facts) {
  const CliColours colour = cli_colours();
  printf("%s%s%s\n", colour.bold, path, colour.off);
  if (facts->file.title[0]) printf("  title        %s\n", facts->file.title);
  if (facts->file.description[0]) printf("  description  %s\n", facts->file.description);
  if (facts->file.math_info[0]) printf("  mathematics  %s\n", facts->file.math_info);
  printf("  kind         frictional contact problem, FCLIB %s form\n",
         facts->file.global ? "global (M, H)" : "local (W)");
  printf("  dimension    %dD\n", facts->d);
  printf("  contacts     %d", facts->nc);
  if (facts->frictionless) printf(" (%d without friction)", facts->frictionless);
  printf("\n");
  if (facts->nc > 0 && facts->mu_min == facts->mu_max)
    printf("  friction     mu = %g\n", facts->mu_min);
  else if (facts->nc > 0)
    printf("  friction     mu from %g to %g\n", facts->mu_min, facts->mu_max);
  if (facts->file.global) printf("  freedoms     %d\n", facts->file.dofs);
  if (facts->bodies)
    printf("  bodies       %d touched by contacts, %d velocity components each,\n"
           "               at most %d contacts on one; W is not formed\n",
           facts->nbodies, facts->nb, facts->most_contacts);
  else
    printf("  W            %zu blocks of %d x %d, %.1f per contact, at most %d\n", facts->blocks,
           facts->d, facts->d, facts->nc ? (double)facts->blocks / facts->nc : 0.0,
           facts->most_contacts);
  if (!facts->file.global)
    printf("  asymmetry    %.2g of the largest entry of W\n", facts->file.asymmetry);
  printf("  scales       mean diagonal of W %.4g, |q| %.4g\n", facts->mean_diagonal, facts->q_norm);
  if (facts->measured)
    printf("  solution     |r| %.4g, error %.2e, siconos %.2e\n", facts->r_norm,
           facts->solution.error, facts->solution.error_siconos);
  else
    printf("  solution     none\n");
  if (facts->file.guesses) printf("  guesses      %d\n", facts->file.guesses);
}

static void write_facts(const char *path, const Facts *facts) {
  const char *slash = strrchr(path, '/');
  CliJson json;
  cli_json_begin(&json, stdout);
  cli_json_text(&json, "problem", slash ? slash + 1 : path);
  cli_json_text(&json, "kind", "problem");
  cli_json_text(&json, "form", facts->file.global ? "global" : "local");
  cli_json_text(&json, "title", facts->file.title);
  cli_json_text(&json, "description", facts->file.description);
  cli_json_text(&json, "math_info", facts->file.math_info);
  cli_json_int(&json, "dimension", facts->d);
  cli_json_int(&json, "contacts", facts->nc);
  cli_json_int(&json, "frictionless", facts->frictionless);
  cli_json_real(&json, "mu_min", facts->mu_min);
  cli_json_real(&json, "mu_max", facts->mu_max);
  cli_json_text(&json, "operator", facts->bodies ? "bodies" : "assembled");
  if (facts->file.global) cli_json_int(&json, "dofs", facts->file.dofs);
  if (facts->bodies) {
    cli_json_int(&json, "bodies", facts->nbodies);
    cli_json_int(&json, "body_size", facts->nb);
    cli_json_int(&json, "contacts_per_body_max", facts->most_contacts);
  } else {
    cli_json_int(&json, "blocks", (long long)facts->blocks);
    cli_json_int(&json, "blocks_per_row_max", facts->most_contacts);
  }
  if (!facts->file.global) cli_json_real(&json, "asymmetry", facts->file.asymmetry);
  cli_json_real(&json, "mean_diagonal", facts->mean_diagonal);
  cli_json_real(&json, "q_norm", facts->q_norm);
  cli_json_bool(&json, "solution", facts->measured);
  if (facts->measured) {
    cli_json_real(&json, "solution_error", facts->solution.error);
    cli_json_real(&json, "solution_error_siconos", facts->solution.error_siconos);
  }
  cli_json_int(&json, "guesses", facts->file.guesses);
  cli_json_end(&json);
}

static scree_Status describe_problem(const char *path, bool as_json, const scree_Log *log) {
  scree_Problem problem;
  Facts facts = {0};
  scree_Status status = scree_fclib_read(path, &problem, &facts.file, log);
  if (status != SCREE_OK) return status;
  gather_sizes(&problem, &facts);
  status = gather_scales(&problem, log, &facts);
  if (status == SCREE_OK) status = gather_solution(path, &problem, log, &facts);
  scree_problem_destroy(&problem);
  if (status != SCREE_OK) return status;
  if (as_json)
    write_facts(path, &facts);
  else
    print_facts(path, &facts);
  return SCREE_OK;
}

/* Kinds of files by the end of their name; the last one, without an end, takes the rest. */
static const struct {
  const char *end;
  scree_Status (*describe)(const char *path, bool as_json, const scree_Log *log);
} kinds[] = {
    {NULL, describe_problem},
};

static scree_Status describe(const char *path, bool as_json, const scree_Log *log) {
  const size_t length = strlen(path);
  int k = 0;
  for (; kinds[k].end; ++k) {
    const size_t end = strlen(kinds[k].end);
    if (length > end && strcmp(path + length - end, kinds[k].end) == 0) break;
  }
  return kinds[k].describe(path, as_json, log);
}

static int run(const CliCommand *command, int argc, char **argv) {
  bool as_json = false;
  const CliOption options[] = {
      {"json", 0, CLI_FLAG, &as_json, NULL, "one JSON object per file and line", 0, 0, NULL},
      {0},
  };
  CliList files = {0};
  int status = cli_parse(command, options, argc, argv, &files);
  if (status < 0 && files.count == 0) {
    cli_error("scree info: expected a file (scree info --help explains)");
    status = 2;
  }
  if (status < 0) {
    CliLog log;
    cli_log_init(&log, false, false);
    status = 0;
    for (int k = 0; k < files.count && cli_output_alive(); ++k) {
      if (k > 0 && !as_json) printf("\n");
      const int outcome = (int)describe(files.items[k], as_json, &log.log);
      if (outcome > status) status = outcome;
    }
    status = cli_finish(status);
  }
  cli_list_free(&files);
  return status;
}

const CliCommand cli_command_info = {
    .name = "info",
    .usage = "FILE... [--json]",
    .summary = "say what is in a problem file",
    .help = "Reads and checks each file and says what is in it: dimension, contacts, bodies,\n"
            "friction, the size and the scales of the problem. A stored solution is measured.",
    .examples = "  scree info tower.hdf5\n"
                "  scree info *.hdf5 --json",
    .run = run,
};

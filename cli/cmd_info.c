/* `scree info`: describes files. Each kind of file has one function that recognises it and one that
 * describes it; a new kind is one more line in `kinds`. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/describe.h"
#include "cli/guard.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "problem/operator.h"
#include "run/frames.h"
#include "scree/fclib.h"
#include "scree/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The description of a problem file. */
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

/* The error of a stored solution is measured like that of any other. */
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
  scree_Status status = cli_read_problem(path, &problem, &facts.file, log);
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

static scree_Status describe_scene(const char *path, bool as_json, const scree_Log *log) {
  return (scree_Status)cli_describe_scene(path, NULL, as_json, false, false, log);
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static void print_run(const char *path, const scree_Replay *run) {
  const CliColours colour = cli_colours();
  const scree_ReplayCertificate *c = &run->certificate;
  int obstacles = 0;
  char spent[32];
  for (int b = 0; b < run->body_count; ++b) obstacles += run->bodies[b].obstacle;
  cli_format_span(c->seconds, spent, sizeof spent);
  printf("%s%s%s\n", colour.bold, path, colour.off);
  if (run->title[0]) printf("  title        %s\n", run->title);
  printf("  kind         results of a run, %dD\n", run->dimension);
  printf("  bodies       %d; obstacles %d\n", run->body_count - obstacles, obstacles);
  if (run->frame_count > 0)
    printf("  frames       %d, t = %.6g to %.6g s\n", run->frame_count, run->times[0],
           run->times[run->frame_count - 1]);
  printf("  steps        %lld, at most %d contacts\n", (long long)c->steps, c->contacts_max);
  if (c->above)
    printf("  certificate  %sNOT MET%s: %lld steps above a limit, the first is %lld\n", colour.warn,
           colour.off, (long long)c->above, (long long)c->first_above);
  else
    printf("  certificate  %smet%s\n", colour.good, colour.off);
  printf("  error        %.2e at step %lld (tolerance %.0e)\n", c->error, (long long)c->error_step,
         c->tolerance);
  printf("  penetration  %.2e of the smaller body, at step %lld\n", c->penetration,
         (long long)c->penetration_step);
  if (!isnan(c->energy_created))
    printf("  energy       %.2e of the energy turned over was created (limit %g)\n",
           c->energy_created, c->energy_limit);
  if (!isnan(c->creep))
    printf("  creep        %.2e of the size of a resting body (limit %g)\n", c->creep,
           c->creep_limit);
  printf("  time         %s of detection, solver and steps\n", spent);
  if (run->note[0]) printf("  note         %s\n", run->note);
}

static void write_run(const char *path, const scree_Replay *run) {
  const scree_ReplayCertificate *c = &run->certificate;
  CliJson json;
  cli_json_begin(&json, stdout);
  cli_json_text(&json, "run", path);
  cli_json_text(&json, "kind", "results");
  cli_json_text(&json, "title", run->title);
  cli_json_int(&json, "dimension", run->dimension);
  cli_json_int(&json, "bodies", run->body_count);
  cli_json_int(&json, "frames", run->frame_count);
  if (run->frame_count > 0) cli_json_real(&json, "time", run->times[run->frame_count - 1]);
  cli_json_int(&json, "steps", c->steps);
  cli_json_int(&json, "steps_above", c->above);
  cli_json_int(&json, "contacts_max", c->contacts_max);
  cli_json_real(&json, "error_max", c->error);
  cli_json_real(&json, "tolerance", c->tolerance);
  cli_json_real(&json, "penetration_max", c->penetration);
  cli_json_real(&json, "energy_created", c->energy_created);
  cli_json_real(&json, "creep", c->creep);
  cli_json_real(&json, "energy_error", c->energy_error);
  cli_json_real(&json, "seconds", c->seconds);
  cli_json_text(&json, "note", run->note);
  cli_json_end(&json);
}

static scree_Status describe_folder(const char *path, bool as_json, const scree_Log *log) {
  scree_Replay *run = NULL;
  scree_Status status = scree_replay_open(path, log, &run);
  if (status != SCREE_OK) return status;
  if (as_json)
    write_run(path, run);
  else
    print_run(path, run);
  scree_replay_close(run);
  return SCREE_OK;
}

/* results.h5 in place of its folder. */
static scree_Status describe_results(const char *path, bool as_json, const scree_Log *log) {
  char *folder = strdup(path);
  if (!folder) {
    cli_error("scree: out of memory");
    return SCREE_MACHINE;
  }
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  const char *shown = !slash ? "." : slash == folder ? "/" : folder;
  scree_Status status = describe_folder(shown, as_json, log);
  free(folder);
  return status;
}

/* Kinds of files by the extension of their names; the last one, without an extension, takes all
 * others. */
static const struct {
  const char *end;
  scree_Status (*describe)(const char *path, bool as_json, const scree_Log *log);
} kinds[] = {
    {".yaml", describe_scene},
    {".yml", describe_scene},
    {"results.h5", describe_results},
    {NULL, describe_problem},
};

static scree_Status describe(const char *path, bool as_json, const scree_Log *log) {
  const size_t length = strlen(path);
  struct stat about;
  if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) return describe_folder(path, as_json, log);
  int k = 0;
  for (; kinds[k].end; ++k) {
    const size_t end = strlen(kinds[k].end);
    if (length >= end && strcmp(path + length - end, kinds[k].end) == 0) break;
  }
  return kinds[k].describe(path, as_json, log);
}

static int run(const CliCommand *command, int argc, char **argv) {
  bool as_json = false;
  const CliOption options[] = {
      {"json", 0, CLI_FLAG, &as_json, NULL, "print one JSON object per line, one for each file", 0,
       0, NULL},
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
    .summary = "describe a problem file, a scene, or the results of a run",
    .help = "Reads, checks and describes each file. Contact problems: dimension, "
            "contacts,\nbodies, friction, size and scales; the error of a stored solution is "
            "measured.\nScenes (.yaml): as scree check. Runs (the folder, or its results.h5): "
            "bodies,\nframes and the certificate.",
    .examples = "  scree info tower.hdf5\n"
                "  scree info examples/drum.yaml\n"
                "  scree info drum-run",
    .run = run,
};

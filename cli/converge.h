/* `scree converge`: its runs, and the output of their comparison (run/converge.h): conclusions,
 * table, JSON and plots. */
#ifndef CLI_CONVERGE_H
#define CLI_CONVERGE_H

#include "cli/args.h"
#include "run/converge.h"

#include <stdio.h>

/* One of the runs of a start: folder name and settings. */
typedef struct ConvergeVariant {
  char name[8];   /* of its folder: h, h2, h4, ..., tol */
  char label[16]; /* h, h/2, h/4, ..., tolerance/10 */
  double step, tolerance;
} ConvergeVariant;

/* ---- running (converge_runs.c) --------------------------------------------------------------- */

enum { CONVERGE_INTERRUPTED = 130 };

typedef struct ConvergeRequest {
  const char *scene, *folder;
  CliList sets;
  double until, accuracy;
  int levels, seeds, jobs, threads;
  bool resume, force, json, quiet, verbose;
} ConvergeRequest;

/* The plan: everything that is decided before the first run. */
typedef struct ConvergePlan {
  const ConvergeRequest *request;
  const scree_Log *log;
  char *scene_path, *folder;
  char *run_folder; /* folder of the run whose page shows the result, or null */
  char title[128];
  double duration, every;
  double seed, perturb; /* of the scene itself, which is the first start */
  int starts, runs;     /* runs of each start */
  ConvergeVariant variant[SCREE_CONVERGE_RUNS];
} ConvergePlan;

/* The scene with the user's overrides and, unless null, those of a variant of a start. */
int converge_read_scene(const ConvergePlan *plan, int start, const ConvergeVariant *variant,
                        scree_Scene **scene);
/* Folder of a run: those of the first start are in the plan's folder itself, those of the third in
 * its folder start3. Null, with a message, when memory runs out. */
char *converge_run_folder(const ConvergePlan *plan, int start, const ConvergeVariant *variant);
/* All runs: 0 when they are done, certified or not (the comparison checks that); 2 or 3 when one
 * failed; CONVERGE_INTERRUPTED. */
int converge_run_all(const ConvergePlan *plan);
/* The first Ctrl-C or SIGTERM ends the run under way within two seconds, with a checkpoint. */
void converge_catch_signals(void);

/* ---- results --------------------------------------------------------------------------------- */

typedef struct ConvergeResult {
  const char *scene, *folder, *title;
  int runs;
  ConvergeVariant variant[SCREE_CONVERGE_RUNS];
  scree_Convergence all;
} ConvergeResult;

/* The conclusions in words. `good` is false when a change is recommended. */
typedef struct ConvergeLine {
  const char *label;
  char text[400];
  bool good;
} ConvergeLine;

enum { CONVERGE_LINES = 5 };
typedef struct ConvergeText {
  bool within; /* the accuracy is met, and every run is certified */
  char verdict[256];
  int count;
  ConvergeLine line[CONVERGE_LINES];
} ConvergeText;

void converge_conclude(const ConvergeResult *result, ConvergeText *text);

/* The step and the tolerance to use; NAN: not known. */
double converge_step(const ConvergeResult *result);
double converge_tolerance(const ConvergeResult *result);

/* Whether a quantity is zero, or was not measured, in all runs: tables and plots leave it out. */
bool converge_is_empty(const scree_Convergence *all, const scree_ConvergeQuantity *quantity);

void converge_print_table(const ConvergeResult *result, const ConvergeText *text);
void converge_print_json(const ConvergeResult *result, const ConvergeText *text, int status);

/* Everything, series included, for the page and for programs (docs/RESULTS.md). */
void converge_write_json(const ConvergeResult *result, const ConvergeText *text, FILE *file);

/* The curves of all runs over each other, profiles, distances of bodies, errors against the step.
 */
scree_Status converge_draw(const ConvergeResult *result, const char *folder);

#endif

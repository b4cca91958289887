/* Output of `scree converge`: conclusions, table, JSON and plots of compared runs (run/converge.h).
 */
#ifndef CLI_CONVERGE_H
#define CLI_CONVERGE_H

#include "run/converge.h"

#include <stdio.h>

/* One of the runs: folder name, settings and certificate. */
typedef struct ConvergeVariant {
  char name[8];   /* of its folder: h, h2, h4, ..., tol */
  char label[16]; /* h, h/2, h/4, ..., tolerance/10 */
  double step, tolerance;
} ConvergeVariant;

typedef struct ConvergeResult {
  const char *scene, *folder, *title;
  int runs;
  ConvergeVariant variant[SCREE_CONVERGE_RUNS];
  scree_Replay *replay[SCREE_CONVERGE_RUNS];
  scree_Convergence all;
} ConvergeResult;

/* The conclusions in words. `good` is false when a change is recommended. */
enum { CONVERGE_LINES = 4 };
typedef struct ConvergeText {
  bool within; /* the accuracy is met, and every run is certified */
  char verdict[256];
  int count;
  struct {
    const char *label;
    char text[320];
    bool good;
  } line[CONVERGE_LINES];
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

/* Shared by the commands that solve problems: naming, timing and writing of results. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "problem/names.h"
#include "scree/solver.h"

#include <stdio.h>

/* One problem after one solver. */
typedef struct CliRecord {
  const char *name;             /* of the problem */
  const scree_Problem *problem; /* d = 0 when it could not be read */
  int law;
  const scree_SolveSettings *settings;
  const scree_SolveInfo *info;
  const scree_InternalForces *internal; /* or null: not looked for */
  scree_Status status;
  const char *message; /* why it failed, or null */
} CliRecord;

/* scree_solve without warm start, timed after warm-up: short solves are repeated and the fastest
 * time counts, since loading code and memory for the first time takes longer than a small problem.
 * The result is the same each time. */
scree_Status cli_solve(const scree_Problem *problem, const scree_SolveSettings *settings, double *r,
                       double *u, scree_SolveInfo *info, const scree_Log *log);

/* One line of JSON with all results. */
void cli_write_record(FILE *file, const CliRecord *record);

/* the last part of a path */
const char *cli_base_name(const char *path);

/* "12 us", "3.4 ms", "5.67 s" */
void cli_format_seconds(double seconds, char *text, size_t size);

/* "1e-8" rather than "1e-08" */
void cli_format_short(double value, char *text, size_t size);

#endif

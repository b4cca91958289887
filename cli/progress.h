/* The progress of a run: a bar that is written over on a terminal, plain lines in a pipe. */
#ifndef CLI_RUN_PROGRESS_H
#define CLI_RUN_PROGRESS_H

#include "cli/terminal.h"
#include "scree/results.h"

typedef struct CliRunProgress {
  CliProgress line;
  bool quiet;
  double end; /* time at which the run is over */
  double first, clock,
      clock_printed; /* time and clock at the start; clock of the last plain line */
  double next;       /* share of the run at which the next plain line is due */
} CliRunProgress;

void cli_run_progress_init(CliRunProgress *progress, const scree_Run *run, bool quiet);
void cli_run_progress_update(CliRunProgress *progress, const scree_Run *run,
                             const scree_StepReport *report);
void cli_run_progress_clear(CliRunProgress *progress);

/* "3.2 s", "12 min 05 s", "2 h 03 min" */
void cli_format_span(double seconds, char *text, size_t size);

#endif

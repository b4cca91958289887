/* The progress of a run: a line that is overwritten on a terminal, plain lines in a pipe. */
#ifndef CLI_RUN_PROGRESS_H
#define CLI_RUN_PROGRESS_H

#include "cli/rate.h"
#include "cli/terminal.h"
#include "scree/run.h"

typedef struct CliRunProgress {
  CliProgress line;
  bool quiet;
  double end;           /* time at which the run is over */
  double time;          /* after the last step */
  double clock;         /* at the end of the last step */
  double clock_printed; /* of the last plain line */
  double clock_shown;   /* of the last message about the step under way */
  double next;          /* share of the run at which the next plain line is due */
  CliRate rate;
} CliRunProgress;

void cli_run_progress_init(CliRunProgress *progress, const scree_Run *run, bool quiet);
/* After a step. */
void cli_run_progress_update(CliRunProgress *progress, const scree_Run *run,
                             const scree_StepReport *report);
/* During a step, any number of times: reports a step that takes long. */
void cli_run_progress_step(CliRunProgress *progress, const scree_Run *run);
void cli_run_progress_clear(CliRunProgress *progress);

/* "3.2 s", "12 min 05 s", "2 h 03 min" */
void cli_format_span(double seconds, char *text, size_t size);

#endif

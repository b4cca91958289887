/* Messages on standard error, colours, the progress line, and the final check that standard output
 * was written completely. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "scree/base.h"

/* Messages up to `level` go to standard error. The log is the library's, for the whole program. */
typedef struct CliLog {
  scree_Log log;
  scree_LogLevel level;
  char last[512]; /* the last error, for JSON */
} CliLog;

void cli_log_init(CliLog *log, bool quiet, bool verbose);

/* From now on nothing is printed: this rank is not rank 0. */
void cli_silence(void);
bool cli_is_silent(void);

/* One line on standard error. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Colours of standard output; empty strings when it is no terminal or NO_COLOR is set. */
typedef struct CliColours {
  const char *good, *bad, *warn, *dim, *bold, *off;
} CliColours;

CliColours cli_colours(void);

/* A line on standard error that is overwritten at most ten times a second, if it is a terminal. */
typedef struct CliProgress {
  bool shown, on;
  double last;
} CliProgress;

void cli_progress_init(CliProgress *progress, bool quiet);
bool cli_progress_due(CliProgress *progress);
void cli_progress_show(CliProgress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cli_progress_clear(CliProgress *progress);

/* The first Ctrl-C asks the running solve to stop with its present iterate; a second one ends the
 * program.
 */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

/* Flush standard output; the exit status: `status`, or 3 with a message when the output could not
 * be written. A closed pipe (as by head) is not a failure. */
int cli_finish(int status);

/* False when standard output cannot be written any more: the program should stop. */
bool cli_output_alive(void);

#endif

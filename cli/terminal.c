/* Messages, colours, progress, the state of standard output (see terminal.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/terminal.h"

#include "core/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A global, since the signal handler sets it. */
static volatile sig_atomic_t interrupted;

static bool silent;

/* errno of the first failed write to standard output. */
static int output_error;

static void write_log(void *user, scree_LogLevel level, const char *message) {
  CliLog *log = user;
  static const char *const names[] = {"error", "warning", "info", "detail"};
  if (level == SCREE_LOG_ERROR) snprintf(log->last, sizeof log->last, "%s", message);
  if (level <= log->level && !silent) fprintf(stderr, "scree: %s: %s\n", names[level], message);
}

void cli_log_init(CliLog *log, bool quiet, bool verbose) {
  *log = (CliLog){.level = quiet     ? SCREE_LOG_ERROR
                           : verbose ? SCREE_LOG_DETAIL
                                     : SCREE_LOG_WARNING};
  log->log = (scree_Log){write_log, log};
}

void cli_silence(void) {
  silent = true;
  if (!freopen("/dev/null", "w", stdout)) output_error = errno;
}

bool cli_is_silent(void) {
  return silent;
}

void cli_error(const char *format, ...) {
  va_list arguments;
  if (silent) return;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

static bool plain(void) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  return (no_color && no_color[0]) || (term && strcmp(term, "dumb") == 0);
}

CliColours cli_colours(void) {
  if (!isatty(STDOUT_FILENO) || plain()) return (CliColours){"", "", "", "", "", ""};
  return (CliColours){"\033[32m", "\033[31m", "\033[33m", "\033[2m", "\033[1m", "\033[0m"};
}

void cli_progress_init(CliProgress *progress, bool quiet) {
  const char *term = getenv("TERM");
  *progress =
      (CliProgress){.on = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0,
                    .last = scree_seconds()};
}

bool cli_progress_due(CliProgress *progress) {
  if (!progress->on) return false;
  const double now = scree_seconds();
  if (now - progress->last < 0.1) return false;
  progress->last = now;
  return true;
}

void cli_progress_show(CliProgress *progress, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("\r\033[K", stderr);
  vfprintf(stderr, format, arguments);
  fflush(stderr);
  va_end(arguments);
  progress->shown = true;
}

void cli_progress_clear(CliProgress *progress) {
  if (progress->shown) fputs("\r\033[K", stderr);
  progress->shown = false;
}

static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

void cli_catch_interrupt(void) {
  struct sigaction action = {.sa_handler = on_interrupt};
  sigemptyset(&action.sa_mask);
  action.sa_flags = (int)SA_RESETHAND;
  sigaction(SIGINT, &action, NULL);
}

bool cli_interrupted(void) {
  return interrupted != 0;
}

bool cli_output_alive(void) {
  errno = 0;
  const bool good = fflush(stdout) == 0 && !ferror(stdout);
  if (!good && !output_error) output_error = errno ? errno : EIO;
  return good;
}

int cli_finish(int status) {
  if ((cli_output_alive() && !output_error) || output_error == EPIPE) return status;
  cli_error("scree: standard output cannot be written: %s", strerror(output_error));
  return 3;
}

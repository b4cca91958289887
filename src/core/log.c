/* Status names and messages (see log.h). Messages are cut at 1023 bytes rather than allocated, so
 * that an out-of-memory report cannot itself fail. */
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

#define STRINGIFY_(x) #x
#define STRINGIFY(x)  STRINGIFY_(x)

enum { MESSAGE_SIZE = 1024 };

const char *scree_version(void) {
  return STRINGIFY(SCREE_VERSION_MAJOR) "." STRINGIFY(SCREE_VERSION_MINOR) "." STRINGIFY(
      SCREE_VERSION_PATCH);
}

const char *scree_status_name(scree_Status status) {
  switch (status) {
  case SCREE_OK: return "ok";
  case SCREE_NOT_CONVERGED: return "not converged";
  case SCREE_BAD_INPUT: return "bad input";
  case SCREE_MACHINE: return "machine failure";
  case SCREE_INTERRUPTED: return "interrupted";
  }
  return "unknown status";
}

static void write_message(const scree_Log *log, scree_LogLevel level, const char *format,
                          va_list arguments) {
  if (!log || !log->write) return;
  char message[MESSAGE_SIZE];
  vsnprintf(message, sizeof message, format, arguments);
  log->write(log->user, level, message);
}

void scree_report(const scree_Log *log, scree_LogLevel level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_message(log, level, format, arguments);
  va_end(arguments);
}

scree_Status scree_fail(const scree_Log *log, scree_Status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_message(log, SCREE_LOG_ERROR, format, arguments);
  va_end(arguments);
  return status;
}

scree_Status scree_fail_memory(const scree_Log *log, const char *what) {
  return scree_fail(log, SCREE_MACHINE, "out of memory: cannot allocate %s", what);
}

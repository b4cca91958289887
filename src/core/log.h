/* Messages to the caller's log. Every failure of the library goes through `scree_fail`: it writes
 * the message and returns the status, so that a check is one line:
 *
 *     if (nc < 0) return scree_fail(log, SCREE_BAD_INPUT, "contacts: found %d, expected >= 0", nc);
 */
#ifndef SCREE_CORE_LOG_H
#define SCREE_CORE_LOG_H

#include "core/private.h"
#include "scree/base.h"

SCREE_PRIVATE void scree_report(const scree_Log *log, scree_LogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

SCREE_PRIVATE scree_Status scree_fail(const scree_Log *log, scree_Status status, const char *format,
                                      ...) __attribute__((format(printf, 3, 4)));

/* A failed allocation: SCREE_MACHINE with the name of the data. */
SCREE_PRIVATE scree_Status scree_fail_memory(const scree_Log *log, const char *what);

#endif

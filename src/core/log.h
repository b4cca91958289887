/* Messages to the caller's log. `scree_fail` is the one way in which the library refuses: it writes
 * the message and hands the status back, so that a check is one line:
 *
 *     if (nc < 0) return scree_fail(log, SCREE_BAD_INPUT, "contacts: found %d, expected >= 0", nc);
 */
#ifndef SCREE_CORE_LOG_H
#define SCREE_CORE_LOG_H

#include "scree/base.h"

void scree_report(const scree_Log *log, scree_LogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

scree_Status scree_fail(const scree_Log *log, scree_Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The usual failure of an allocation: SCREE_MACHINE with the name of what was to be held. */
scree_Status scree_fail_memory(const scree_Log *log, const char *what);

#endif

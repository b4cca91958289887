/* scree/base.h — status codes, the log callback, the version: every other header includes it.
 *
 * The library never prints, exits or aborts. A call that can fail returns a scree_Status; its
 * message, which names the place, what was found and what was expected, goes to the caller's log.
 *
 * In all headers: a pointer may be null only where its comment says so, except that every `log` may
 * be null and every destroy function takes null. Indices out of range are a mistake of the caller;
 * functions whose comment says "checked" answer them with a message. */
#ifndef SCREE_BASE_H
#define SCREE_BASE_H

#include <stdbool.h>
#include <stddef.h>

#if defined(SCREE_STATIC)
#define SCREE_API
#else
#define SCREE_API __attribute__((visibility("default")))
#endif

#define SCREE_VERSION_MAJOR 0
#define SCREE_VERSION_MINOR 1
#define SCREE_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* Outcome of a call. The values are also the exit statuses of the program. */
typedef enum scree_Status {
  SCREE_OK = 0,            /* done, and certified where there is something to certify */
  SCREE_NOT_CONVERGED = 1, /* a usable result with an honest error above the tolerance */
  SCREE_BAD_INPUT = 2,     /* the caller's data or options are wrong; nothing was changed */
  SCREE_MACHINE = 3,       /* the machine failed: out of memory, disk full, file not writable */
  SCREE_INTERRUPTED = 130  /* the caller's callback asked to stop in the middle: no result */
} scree_Status;

typedef enum scree_LogLevel {
  SCREE_LOG_ERROR,   /* a call is about to return SCREE_BAD_INPUT or SCREE_MACHINE */
  SCREE_LOG_WARNING, /* the result stands, but the user should know something */
  SCREE_LOG_INFO,    /* what is being done */
  SCREE_LOG_DETAIL   /* per-iteration information */
} scree_LogLevel;

/* Where messages go. A null pointer to a scree_Log, or a null `write`, is silence. `write` is
 * called from the thread that called the library, never from a worker; `message` is one line
 * without its end, of at most 1023 bytes, and belongs to the library: copy it to keep it. `write`
 * must not call functions that change the object at work. Objects that live on (worlds, solvers,
 * runs) copy this struct; `user` must then outlive them. */
typedef struct scree_Log {
  void (*write)(void *user, scree_LogLevel level, const char *message);
  void *user;
} scree_Log;

/* "0.1.0" */
SCREE_API const char *scree_version(void);

/* "ok", "not converged", "bad input", "machine failure", "interrupted" */
SCREE_API const char *scree_status_name(scree_Status status);

#ifdef __cplusplus
}
#endif

#endif

/* A trial read in a child process (see guard.h). The child prints nothing: if HDF5 does not crash
 * on the file, the read itself reports what is wrong. */
#define _POSIX_C_SOURCE 200809L
#include "cli/guard.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REHEARSAL_SECONDS = 60 }; /* of the child, before it counts as hanging */

static void rehearse(const char *path) {
  scree_Problem problem;
  if (!freopen("/dev/null", "w", stderr)) _exit(0);
  alarm(REHEARSAL_SECONDS);
  if (scree_fclib_read(path, &problem, NULL, NULL) == SCREE_OK) scree_problem_destroy(&problem);
  _exit(0); /* success also for a file that is refused: the real read gives the message */
}

scree_Status cli_read_problem(const char *path, scree_Problem *problem, scree_FclibInfo *info,
                              const scree_Log *log) {
  fflush(NULL); /* otherwise the child would write its copy of the buffers again */
  const pid_t child = fork();
  if (child == 0) rehearse(path);
  int outcome = 0;
  /* without a child (no more processes) the file is read without a trial */
  if (child > 0 && waitpid(child, &outcome, 0) == child && outcome != 0) {
    const bool hangs = WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGALRM;
    char message[1024];
    snprintf(message, sizeof message,
             "%s: the file is damaged: HDF5 %s while reading it, expected a valid HDF5 file", path,
             hangs ? "did not finish" : "crashed");
    if (log && log->write) log->write(log->user, SCREE_LOG_ERROR, message);
    return SCREE_BAD_INPUT;
  }
  return scree_fclib_read(path, problem, info, log);
}

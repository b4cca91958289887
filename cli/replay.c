/* Shared by the commands that read runs (see replay.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/replay.h"

#include "cli/record.h"
#include "cli/terminal.h"

#include "run/results_file.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char *cli_join(const char *folder, const char *name) {
  const size_t length = strlen(folder);
  const size_t size = length + (name ? strlen(name) : 0) + 2;
  char *path = malloc(size);
  if (!path) {
    cli_error("scree: out of memory");
    return NULL;
  }
  const bool slash = name && length && folder[length - 1] != '/';
  snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name ? name : "");
  return path;
}

bool cli_need_folder(const char *path) {
  const int error = scree_make_folder(path);
  if (error) cli_error("scree: cannot make the folder %s: %s", path, strerror(error));
  return error == 0;
}

char *cli_find_program(const char *const *names) {
  const char *path = getenv("PATH");
  for (; path && *names; ++names) {
    for (const char *at = path; at;) {
      const char *end = strchr(at, ':');
      const size_t length = end ? (size_t)(end - at) : strlen(at);
      char candidate[4096];
      if (length > 0 &&
          snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, at, *names) <
              (int)sizeof candidate &&
          access(candidate, X_OK) == 0)
        return cli_join(candidate, NULL);
      at = end ? end + 1 : NULL;
    }
  }
  return NULL;
}

pid_t cli_start(char *const *argv, int *input, const char *output) {
  int ends[2] = {-1, -1};
  if (input && pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDWR);
    if (input) {
      dup2(ends[0], 0);
      close(ends[0]);
      close(ends[1]);
    } else {
      dup2(nothing, 0);
    }
    const int printed = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600) : nothing;
    dup2(printed, 1);
    dup2(nothing, 2);
    setpgid(0, 0); /* its own process group, so that its children are ended with it */
    execv(argv[0], argv);
    _exit(127);
  }
  if (input) {
    close(ends[0]);
    if (child < 0)
      close(ends[1]);
    else
      *input = ends[1];
  }
  return child;
}

bool cli_wait(pid_t child, double seconds) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  int status = 0;
  for (int waits = 0; 0.02 * waits < seconds; ++waits) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0) return false;
    nanosleep(&pause, NULL);
  }
  kill(-child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

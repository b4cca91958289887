/* The runs of `scree converge` (see converge.h): each an ordinary run in a folder of its own, one
 * after the other, or several at a time in processes of their own. */
#define _POSIX_C_SOURCE 200809L
#include "cli/converge.h"
#include "cli/progress.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "scree/run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OVERRIDES = 6, OVERRIDE_SIZE = 64, WIDTH = 20 };
static const double PERTURB = 1e-3;       /* key `perturb` of all starts but the first */
static const double PLAIN_SECONDS = 30.0; /* between lines of progress in a pipe */
static const double KNOWN = 0.01;         /* share of the work that tells how long the rest takes */

/* ---- signals --------------------------------------------------------------------------------- */

/* Globals, since a signal handler has no other way to pass on its message. */
static volatile sig_atomic_t stop_asked;
static volatile sig_atomic_t busy; /* steps are under way: a checkpoint must be written */

static void on_stop(int number) {
  static const char message[] =
      "scree converge: interrupted between two runs, everything is written; --resume goes on\n";
  (void)number;
  stop_asked = 1;
  if (busy) return;
  const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
  (void)written; /* a failed write to stderr cannot be reported */
  _exit(CONVERGE_INTERRUPTED);
}

void converge_catch_signals(void) {
  /* Processes of --jobs get a Ctrl-C from the terminal and a SIGTERM from here: each signal is
   * handled once. */
  struct sigaction action = {.sa_handler = on_stop};
  sigemptyset(&action.sa_mask);
  action.sa_flags = (int)(SA_RESETHAND | SA_RESTART); /* files are written completely */
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  /* a file size limit is reported as a write error; it must not kill the program */
  action = (struct sigaction){.sa_handler = SIG_IGN};
  sigemptyset(&action.sa_mask);
  sigaction(SIGXFSZ, &action, NULL);
}

static bool poll_stop(void *user) {
  (void)user;
  return stop_asked;
}

/* ---- progress of all starts ------------------------------------------------------------------ */

/* Work is counted in steps. */
typedef struct Progress {
  const ConvergePlan *plan;
  CliProgress line;
  bool quiet;
  double done, total, worked; /* worked: of `done`, in this call */
  double clock, clock_printed, next;
  int runs;
} Progress;

static double steps_of(const ConvergePlan *plan, int run) {
  return ceil(plan->duration / plan->variant[run].step * (1.0 - 1e-12));
}

static void progress_init(Progress *progress, const ConvergePlan *plan) {
  const ConvergeRequest *request = plan->request;
  *progress = (Progress){.plan = plan,
                         .quiet = request->quiet || request->json || plan->starts == 1,
                         .clock = scree_seconds(),
                         .next = 0.1};
  progress->clock_printed = progress->clock;
  for (int r = 0; r < plan->runs; ++r) progress->total += plan->starts * steps_of(plan, r);
  cli_progress_init(&progress->line, progress->quiet);
}

/* `steps` of run `run` of `start` are done besides what is finished. */
static void progress_show(Progress *progress, int start, int run, double steps) {
  const ConvergePlan *plan = progress->plan;
  const double now = scree_seconds(), done = progress->done + steps;
  const double share = fmin(1.0, done / progress->total);
  const bool bar = progress->line.on;
  if (progress->quiet || (bar && !cli_progress_due(&progress->line))) return;
  if (!bar && share < progress->next && now - progress->clock_printed < PLAIN_SECONDS) return;
  const double worked = progress->worked + steps;
  char left[32] = "?", drawn[WIDTH + 1] = "";
  if (worked > KNOWN * progress->total)
    cli_format_span((now - progress->clock) * (progress->total - done) / worked, left, sizeof left);
  for (int k = 0; k < WIDTH; ++k) drawn[k] = k < (int)(share * WIDTH) ? '#' : '-';
  if (bar) {
    cli_progress_show(&progress->line, "[%s] %3.0f %%  %d of %d runs  start %d, %s  left %s", drawn,
                      100.0 * share, progress->runs, plan->starts * plan->runs, start + 1,
                      plan->variant[run].label, left);
    return;
  }
  fprintf(stderr, "%3.0f %%  %d of %d runs  start %d, %s  left %s\n", 100.0 * share, progress->runs,
          plan->starts * plan->runs, start + 1, plan->variant[run].label, left);
  progress->clock_printed = now;
  while (progress->next <= share) progress->next += 0.1;
}

/* A run is finished, of which `steps` were done in this call. */
static void progress_add(Progress *progress, int run, double steps) {
  progress->done += steps_of(progress->plan, run);
  progress->worked += steps;
  ++progress->runs;
}

/* ---- a run ----------------------------------------------------------------------------------- */

char *converge_run_folder(const ConvergePlan *plan, int start, const ConvergeVariant *variant) {
  char name[48];
  if (start == 0) return cli_join(plan->folder, variant->name);
  snprintf(name, sizeof name, "start%d/%s", start + 1, variant->name);
  return cli_join(plan->folder, name);
}

int converge_read_scene(const ConvergePlan *plan, int start, const ConvergeVariant *v,
                        scree_Scene **scene) {
  const ConvergeRequest *request = plan->request;
  char room[OVERRIDES][OVERRIDE_SIZE];
  const char **list = malloc(((size_t)request->sets.count + OVERRIDES + 1) * sizeof *list);
  if (!list) {
    cli_error("scree: out of memory");
    return 3;
  }
  int count = 0, own = 0;
  for (; count < request->sets.count; ++count) list[count] = request->sets.items[count];
  if (request->until > 0.0)
    snprintf(room[own++], OVERRIDE_SIZE, "time.duration=%.17g", request->until);
  if (v) {
    snprintf(room[own++], OVERRIDE_SIZE, "time.step=%.17g", v->step);
    snprintf(room[own++], OVERRIDE_SIZE, "output.every=%.17g", plan->every);
    snprintf(room[own++], OVERRIDE_SIZE, "solver.tolerance=%.17g", v->tolerance);
  }
  if (start > 0) {
    snprintf(room[own++], OVERRIDE_SIZE, "seed=%.17g", plan->seed + start);
    snprintf(room[own++], OVERRIDE_SIZE, "perturb=%.17g", fmax(PERTURB, plan->perturb));
  }
  for (int k = 0; k < own; ++k) list[count++] = room[k];
  list[count] = NULL;
  const scree_Status status = scree_scene_read(plan->scene_path, list, plan->log, scene);
  free((void *)list);
  if (status != SCREE_OK && start > 0)
    cli_error("scree converge: this is start %d, with seed: %.17g", start + 1, plan->seed + start);
  return (int)status;
}

static int carry_out(scree_Run *run, bool quiet, Progress *progress, int start, int variant) {
  CliRunProgress own;
  scree_Status failure = SCREE_OK;
  double steps = 0.0;
  cli_run_progress_init(&own, run, quiet || !progress->quiet);
  busy = 1;
  while (!scree_run_is_over(run) && !stop_asked) {
    scree_StepReport report;
    const scree_Status status = scree_run_step(run, &report);
    if (status > SCREE_NOT_CONVERGED) {
      if (status != SCREE_INTERRUPTED) failure = status;
      continue; /* the run is over, or a stop was asked for */
    }
    cli_run_progress_update(&own, run, &report);
    progress_show(progress, start, variant, ++steps);
  }
  cli_run_progress_clear(&own);
  const bool interrupted = !scree_run_is_over(run);
  const scree_Status closed = scree_run_close(run);
  busy = 0;
  if (closed != SCREE_INTERRUPTED && closed > failure) failure = closed;
  if (failure == SCREE_OK && !interrupted) progress_add(progress, variant, steps);
  if (failure != SCREE_OK) return (int)failure;
  return interrupted || closed == SCREE_INTERRUPTED ? CONVERGE_INTERRUPTED : 0;
}

/* Remove an earlier comparison: it does not describe the new runs. */
static void forget_result(const ConvergePlan *plan) {
  char *path = cli_join(plan->folder, "converge.json");
  if (path) (void)unlink(path);
  free(path);
}

static int run_variant(const ConvergePlan *plan, int start, int variant, int threads, bool quiet,
                       Progress *progress) {
  const ConvergeRequest *request = plan->request;
  const ConvergeVariant *v = &plan->variant[variant];
  scree_Scene *scene = NULL;
  scree_Run *run = NULL;
  char *folder = converge_run_folder(plan, start, v);
  char *checkpoint = folder ? cli_join(folder, "checkpoint.bin") : NULL;
  int status = checkpoint ? converge_read_scene(plan, start, v, &scene) : 3;
  if (status == 0 && start > 0 && !cli_need_folder(folder)) status = 3;
  if (status == 0) {
    scree_RunSettings settings = scree_run_settings();
    settings.folder = folder;
    settings.resume = request->resume && access(checkpoint, F_OK) == 0;
    settings.replace = request->force || request->resume;
    settings.threads = threads;
    settings.interrupted = poll_stop;
    status = (int)scree_run_create(scene, &settings, plan->log, &run);
  }
  if (status == 0 && !scree_run_is_over(run)) forget_result(plan);
  if (status == 0 && !scree_run_is_over(run) && !quiet && plan->starts == 1)
    fprintf(stderr, "%s: step %.4g s, tolerance %.2g, %.0f steps\n", v->label, v->step,
            v->tolerance, steps_of(plan, variant));
  if (status == 0) status = carry_out(run, quiet, progress, start, variant);
  scree_run_destroy(run);
  scree_scene_destroy(scene);
  free(checkpoint);
  free(folder);
  return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* A process, and the run that it does. */
typedef struct Child {
  pid_t id; /* 0: none */
  int start, variant;
} Child;

/* Wait for one of the processes and give its exit status. A request to stop is passed on to all. */
static int wait_for_one(Child *child, int count, Progress *progress) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  for (bool passed_on = false;; nanosleep(&pause, NULL)) {
    for (int k = 0; k < count && stop_asked && !passed_on; ++k)
      if (child[k].id > 0) kill(child[k].id, SIGTERM);
    passed_on = stop_asked;
    for (int k = 0; k < count; ++k) {
      int outcome = 0;
      if (child[k].id <= 0) continue;
      progress_show(progress, child[k].start, child[k].variant, 0.0);
      if (waitpid(child[k].id, &outcome, WNOHANG) == 0) continue;
      child[k].id = 0;
      const int status = WIFEXITED(outcome) ? WEXITSTATUS(outcome) : 3;
      if (status == 0)
        progress_add(progress, child[k].variant, steps_of(progress->plan, child[k].variant));
      return status;
    }
  }
}

/* Start run number `next` in a process of its own, with one thread. Of each start the finest run,
 * which takes longest, comes first. */
static bool start_process(const ConvergePlan *plan, int next, Child *child, Progress *progress) {
  const int start = next / plan->runs, place = next % plan->runs, levels = plan->request->levels;
  const int variant = place < levels ? levels - 1 - place : place;
  fflush(NULL); /* otherwise the process would write its copy of the buffers again */
  const pid_t id = fork();
  if (id == 0) {
    busy = 0;
    progress->quiet = true;
    _exit(run_variant(plan, start, variant, 1, true, progress));
  }
  if (id < 0) {
    cli_error("scree converge: cannot start a process: %s", strerror(errno));
    return false;
  }
  *child = (Child){id, start, variant};
  return true;
}

static int run_side_by_side(const ConvergePlan *plan, Progress *progress) {
  const int jobs = plan->request->jobs;
  Child *child = calloc((size_t)jobs, sizeof *child);
  int started = 0, running = 0, worst = child ? 0 : 3;
  busy = 1;
  for (;;) {
    const bool more = started < plan->starts * plan->runs && worst == 0 && !stop_asked;
    if (!more && running == 0) break;
    if (!more || running == jobs) {
      const int status = wait_for_one(child, jobs, progress);
      if (status > worst) worst = status;
      --running;
      continue;
    }
    int place = 0;
    while (child[place].id > 0) ++place;
    if (start_process(plan, started++, &child[place], progress))
      ++running;
    else
      worst = 3;
  }
  busy = 0;
  free(child);
  return worst == 0 && stop_asked ? CONVERGE_INTERRUPTED : worst;
}

int converge_run_all(const ConvergePlan *plan) {
  const ConvergeRequest *request = plan->request;
  Progress progress;
  progress_init(&progress, plan);
  int status = 0;
  if (request->jobs > 1) {
    status = run_side_by_side(plan, &progress);
  } else {
    for (int k = 0; status == 0 && k < plan->starts * plan->runs; ++k)
      status = stop_asked ? CONVERGE_INTERRUPTED
                          : run_variant(plan, k / plan->runs, k % plan->runs, request->threads,
                                        request->quiet || request->json, &progress);
  }
  cli_progress_clear(&progress.line);
  return status;
}

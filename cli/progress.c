/* Progress of a run (see progress.h). In a pipe a line is printed every tenth of the run, and at
 * least every half minute. */
#include "cli/progress.h"

#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 20 };                         /* of the bar */
static const double PLAIN_SECONDS = 30;      /* between plain lines */
static const double LONG_SECONDS = 1;        /* a step that takes longer is shown on a terminal */
static const double LONG_PLAIN_SECONDS = 10; /* and in a pipe */
static const double SHOW_SECONDS = 0.3;      /* between two messages about it on a terminal */

void cli_format_span(double seconds, char *text, size_t size) {
  if (!(seconds < 8.64e6))
    snprintf(text, size, "long");
  else if (seconds < 60)
    snprintf(text, size, "%.1f s", seconds);
  else if (seconds < 3600)
    snprintf(text, size, "%d min %02d s", (int)(seconds / 60), (int)fmod(seconds, 60));
  else
    snprintf(text, size, "%d h %02d min", (int)(seconds / 3600), (int)fmod(seconds / 60, 60));
}

void cli_run_progress_init(CliRunProgress *progress, const scree_Run *run, bool quiet) {
  *progress = (CliRunProgress){.quiet = quiet,
                               .end = scree_run_end(run),
                               .time = scree_run_summary(run).time,
                               .clock = scree_seconds(),
                               .next = 0.1};
  progress->clock_printed = progress->clock_shown = progress->clock;
  cli_progress_init(&progress->line, quiet);
}

static double share_of(const CliRunProgress *progress) {
  return progress->end > 0 ? fmin(1, progress->time / progress->end) : 1;
}

/* `wall`: time of the step under way so far. */
static void format_left(const CliRunProgress *progress, double wall, char *text, size_t size) {
  const double rest = progress->end - progress->time;
  const double left = rest > 0 ? cli_rate_left(&progress->rate, rest, wall) : 0;
  if (left >= 0)
    cli_format_span(left, text, size);
  else
    snprintf(text, size, "?");
}

/* "", or the number of steps so far that are not certified. */
static void format_failures(const scree_RunSummary *summary, char *text, size_t size) {
  text[0] = '\0';
  if (summary->steps_above > 0)
    snprintf(text, size, "  %lld not certified", (long long)summary->steps_above);
}

static void draw_bar(double share, char bar[WIDTH + 1]) {
  for (int k = 0; k < WIDTH; ++k) bar[k] = k < (int)(share * WIDTH) ? '#' : '-';
  bar[WIDTH] = '\0';
}

void cli_run_progress_update(CliRunProgress *progress, const scree_Run *run,
                             const scree_StepReport *report) {
  if (progress->quiet) return;
  const double now = scree_seconds();
  cli_rate_add(&progress->rate, now - progress->clock, report->time - progress->time);
  progress->time = report->time;
  progress->clock = progress->clock_shown = now;
  const double share = share_of(progress);
  const bool bar = progress->line.on;
  if (bar && !cli_progress_due(&progress->line)) return;
  if (!bar && share < progress->next && now - progress->clock_printed < PLAIN_SECONDS) return;
  const scree_RunSummary summary = scree_run_summary(run);
  char left[32], failures[48], drawn[WIDTH + 1];
  format_left(progress, 0, left, sizeof left);
  format_failures(&summary, failures, sizeof failures);
  if (!bar) {
    fprintf(stderr,
            "%3.0f %%  t = %.4g s  step %lld  contacts %d  error %.1e  penetration %.1e%s  left "
            "%s\n",
            100 * share, report->time, (long long)report->step, report->contacts, summary.error_max,
            summary.penetration_max, failures, left);
    progress->clock_printed = now;
    while (progress->next <= share) progress->next += 0.1;
    return;
  }
  draw_bar(share, drawn);
  cli_progress_show(&progress->line,
                    "[%s] %3.0f %%  t %.4g s  %.3g steps/s  left %s  contacts %d  error %.0e%s",
                    drawn, 100 * share, report->time, cli_rate_steps(&progress->rate), left,
                    report->contacts, summary.error_max, failures);
}

void cli_run_progress_step(CliRunProgress *progress, const scree_Run *run) {
  if (progress->quiet) return;
  const bool bar = progress->line.on;
  const double now = scree_seconds(), taken = now - progress->clock;
  if (taken < (bar ? LONG_SECONDS : LONG_PLAIN_SECONDS)) return;
  /* the first message at once, the others at their intervals */
  const bool first = progress->clock_shown == progress->clock;
  if (!first && now - progress->clock_shown < (bar ? SHOW_SECONDS : PLAIN_SECONDS)) return;
  progress->clock_shown = now;
  const scree_StepProgress step = scree_world_progress(scree_run_world(run));
  char under_way[96];
  snprintf(under_way, sizeof under_way, "step %lld: %.0f s, %d solves, %d contacts",
           (long long)step.step, taken, step.solves, step.contacts);
  if (!bar) {
    fprintf(stderr, "%s\n", under_way);
    progress->clock_printed = now;
    return;
  }
  const scree_RunSummary summary = scree_run_summary(run);
  char left[32], failures[48], drawn[WIDTH + 1];
  format_left(progress, taken, left, sizeof left);
  format_failures(&summary, failures, sizeof failures);
  draw_bar(share_of(progress), drawn);
  cli_progress_show(&progress->line, "[%s] %3.0f %%  t %.4g s  left %s  %s%s", drawn,
                    100 * share_of(progress), progress->time, left, under_way, failures);
}

void cli_run_progress_clear(CliRunProgress *progress) {
  cli_progress_clear(&progress->line);
}

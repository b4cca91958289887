/* Progress of a run (see progress.h). In a pipe a line every tenth of the run, and at least every
 * half minute, so that a log shows that it lives. */
#include "cli/progress.h"

#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
                               .first = scree_world_time(scree_run_world(run)),
                               .clock = scree_seconds(),
                               .next = 0.1};
  progress->clock_printed = progress->clock;
  cli_progress_init(&progress->line, quiet);
}

void cli_run_progress_update(CliRunProgress *progress, const scree_Run *run,
                             const scree_StepReport *report) {
  if (progress->quiet) return;
  const double now = scree_seconds(), spent = now - progress->clock;
  const double share = progress->end > 0 ? fmin(1, report->time / progress->end) : 1;
  const bool bar = progress->line.on;
  if (bar && !cli_progress_due(&progress->line)) return;
  if (!bar && share < progress->next && now - progress->clock_printed < 30) return;
  const scree_RunSummary summary = scree_run_summary(run);
  const double rate = spent > 0 ? (report->time - progress->first) / spent : 0;
  char left[32] = "?", drawn[32];
  if (rate > 0) cli_format_span((progress->end - report->time) / rate, left, sizeof left);
  if (!bar) {
    fprintf(stderr,
            "%3.0f %%  t = %.4g s  step %lld  contacts %d  error %.1e  penetration %.1e  left %s\n",
            100 * share, report->time, (long long)report->step, report->contacts, summary.error_max,
            summary.penetration_max, left);
    progress->clock_printed = now;
    while (progress->next <= share) progress->next += 0.1;
    return;
  }
  const int width = 20, full = (int)(share * width);
  for (int k = 0; k < width; ++k) drawn[k] = k < full ? '#' : '-';
  drawn[width] = '\0';
  const double step_rate =
      spent > 0 ? (double)report->step * (1 - progress->first / fmax(report->time, 1e-300)) / spent
                : 0;
  cli_progress_show(&progress->line,
                    "[%s] %3.0f %%  t %.4g s  %.3g steps/s  left %s  contacts %d  error %.0e%s",
                    drawn, 100 * share, report->time, step_rate, left, report->contacts,
                    summary.error_max, summary.steps_above ? " !" : "");
}

void cli_run_progress_clear(CliRunProgress *progress) {
  cli_progress_clear(&progress->line);
}

/* The plots of `scree converge` (see converge.h). */
#include "cli/bench/plot.h"
#include "cli/converge.h"
#include "cli/replay.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  N = SCREE_CONVERGE_INTERVALS,
  LATE = N - N / 2, /* intervals of the second half */
  BINS = SCREE_CONVERGE_BINS
};

static scree_Status write_plot(const char *folder, const char *name, const Plot *plot) {
  char file[128];
  snprintf(file, sizeof file, "%s.svg", name);
  for (char *c = file; *c; ++c)
    if (*c == '/') *c = '_';
  char *path = cli_join(folder, file);
  const scree_Status status = path ? plot_write_file(path, plot) : SCREE_MACHINE;
  free(path);
  return status;
}

/* The curves of all runs over each other. */
static scree_Status draw_series(const ConvergeResult *result, const scree_ConvergeQuantity *q,
                                const char *folder) {
  double times[N];
  Plot plot = {.title = q->name, .x_label = "time [s]", .y_label = q->unit};
  for (int k = 0; k < N; ++k) times[k] = (k + 0.5) * result->all.end / N;
  for (int r = 0; r < result->runs; ++r)
    plot.series[plot.count++] =
        (PlotSeries){.name = result->variant[r].label, .x = times, .y = q->series[r], .count = N};
  return write_plot(folder, q->name, &plot);
}

/* A profile against the height, mean over the last half of the run; of velocities their magnitude.
 */
static scree_Status draw_profile(const ConvergeResult *result, const scree_ConvergeQuantity *q,
                                 const char *folder) {
  const scree_ConvergeProfile *profile = &result->all.profile;
  const int parts = q->components / BINS;
  double heights[BINS], values[SCREE_CONVERGE_RUNS][BINS];
  char label[64];
  snprintf(label, sizeof label, "%s%s%s", parts > 1 ? "velocity" : "part of the mass",
           q->unit[0] ? ", " : "", q->unit);
  Plot plot = {.title = q->name, .x_label = label, .y_label = "height [m]"};
  for (int b = 0; b < BINS; ++b)
    heights[b] = profile->low + (b + 0.5) * (profile->high - profile->low) / BINS;
  for (int r = 0; r < result->runs; ++r) {
    for (int b = 0; b < BINS; ++b) {
      double square = 0.0;
      for (int c = 0; c < parts; ++c) {
        double mean = 0.0;
        for (int i = N / 2; i < N; ++i)
          mean += q->series[r][i * q->components + b * parts + c] / LATE;
        square += mean * mean;
      }
      values[r][b] = sqrt(square);
    }
    plot.series[plot.count++] =
        (PlotSeries){.name = result->variant[r].label, .x = values[r], .y = heights, .count = BINS};
  }
  return write_plot(folder, q->name, &plot);
}

static scree_Status draw_bodies(const ConvergeResult *result, const char *folder) {
  const scree_ConvergeBodies *bodies = &result->all.bodies;
  char names[SCREE_CONVERGE_LEVELS][32];
  Plot plot = {.title = "Mean distance of the same bodies over their size",
               .x_label = "time [s]",
               .y_label = "",
               .log_y = true};
  for (int k = 0; k + 1 < result->all.levels; ++k) {
    snprintf(names[k], sizeof names[k], "%s to %s", result->variant[k].label,
             result->variant[k + 1].label);
    plot.series[plot.count++] = (PlotSeries){.name = names[k],
                                             .x = bodies->times,
                                             .y = bodies->distance[k],
                                             .count = (size_t)bodies->frames};
  }
  return write_plot(folder, "bodies", &plot);
}

/* Errors against the step: the largest ones, as many as a plot holds. Without an order the error of
 * the finest run is unknown. */
static scree_Status draw_errors(const ConvergeResult *result, const char *folder) {
  const scree_Convergence *all = &result->all;
  double steps[SCREE_CONVERGE_LEVELS], largest = 0.0;
  bool *drawn = SCREE_ALLOC(bool, all->count);
  if (!drawn) return SCREE_MACHINE;
  for (int k = 0; k < all->levels; ++k) steps[k] = result->variant[k].step;
  Plot plot = {.title = "Error of the averages, relative to their scales",
               .x_label = "step [s]",
               .y_label = "",
               .log_x = true,
               .log_y = true};
  while (plot.count < PLOT_SERIES_MAX) {
    int best = -1;
    for (int k = 0; k < all->count; ++k) {
      const scree_ConvergeQuantity *q = &all->quantity[k];
      if (!drawn[k] && q->judged && q->error > 1e-3 * largest &&
          (best < 0 || q->error > all->quantity[best].error))
        best = k;
    }
    if (best < 0) break;
    const scree_ConvergeQuantity *q = &all->quantity[best];
    drawn[best] = true;
    largest = fmax(largest, q->error);
    plot.series[plot.count++] = (PlotSeries){
        .name = q->name,
        .x = steps,
        .y = q->errors,
        .count = (size_t)(isnan(q->order) && all->levels > 2 ? all->levels - 1 : all->levels)};
  }
  scree_free(drawn);
  return write_plot(folder, "errors", &plot);
}

scree_Status converge_draw(const ConvergeResult *result, const char *folder) {
  const scree_Convergence *all = &result->all;
  scree_Status status = draw_errors(result, folder);
  if (status == SCREE_OK) status = draw_bodies(result, folder);
  for (int k = 0; status == SCREE_OK && k < all->count; ++k) {
    const scree_ConvergeQuantity *q = &all->quantity[k];
    if (converge_is_empty(all, q)) continue;
    status = q->components == 1 ? draw_series(result, q, folder) : draw_profile(result, q, folder);
  }
  return status;
}

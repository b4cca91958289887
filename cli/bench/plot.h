/* Plots as SVG files: curves over linear or logarithmic axes, like the papers' figures. */
#ifndef CLI_BENCH_PLOT_H
#define CLI_BENCH_PLOT_H

#include "cli/bench/bench.h"

enum { PLOT_SERIES_MAX = 12 };

typedef struct PlotSeries {
  const char *name;
  const double *x, *y; /* (count) */
  size_t count;
  bool dots; /* markers without a line */
} PlotSeries;

typedef struct Plot {
  const char *title, *x_label, *y_label;
  bool log_x, log_y; /* points that are not positive are left out */
  PlotSeries series[PLOT_SERIES_MAX];
  int count;
} Plot;

/* Write DIRECTORY/<case>-<name>.svg; nothing, successfully, when the command has no -o. */
scree_Status plot_write(Bench *bench, const Plot *plot, const char *name);

/* Write one plot to a file of its own. */
scree_Status plot_write_file(const char *path, const Plot *plot);

#endif

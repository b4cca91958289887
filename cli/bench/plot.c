/* Plots as SVG files (see plot.h). Ticks are at 1, 2 or 5 times a power of ten, or at whole powers
 * on a logarithmic axis. */
#include "cli/bench/plot.h"

#include "cli/terminal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 440, LEFT = 88, RIGHT = 178, TOP = 40, BOTTOM = 52, TICKS_MAX = 16 };

/* Dark enough for a white background, and distinguishable with red-green colour blindness. */
static const char *const colours[PLOT_SERIES_MAX] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                     "#56b4e9", "#e69f00", "#000000", "#7f7f7f",
                                                     "#8c510a", "#5e3c99", "#1b7837", "#b2182b"};

/* One axis: data from low to high (their logarithms when log), pixels from start to end. */
typedef struct Axis {
  bool log;
  double low, high, start, end;
  double tick[TICKS_MAX];
  int ticks;
} Axis;

static bool usable(const Axis *axis, double value) {
  return isfinite(value) && (!axis->log || value > 0.0);
}

static double place(const Axis *axis, double value) {
  const double x = axis->log ? log10(value) : value;
  return axis->start + (x - axis->low) / (axis->high - axis->low) * (axis->end - axis->start);
}

static void fill_ticks(Axis *axis) {
  const double range = axis->high - axis->low;
  double step = pow(10.0, floor(log10(range / 4.0)));
  if (range / step > 12.0) step *= range / step > 25.0 ? 5.0 : 2.0;
  if (axis->log && step < 1.0) step = 1.0;
  axis->low = floor(axis->low / step + 1e-9) * step;
  axis->high = ceil(axis->high / step - 1e-9) * step;
  for (int k = 0; k < TICKS_MAX && axis->low + k * step <= axis->high + 1e-9 * step; ++k)
    axis->tick[axis->ticks++] = axis->low + k * step;
}

static Axis make_axis(const Plot *plot, bool vertical, double start, double end) {
  Axis axis = {.log = vertical ? plot->log_y : plot->log_x,
               .low = INFINITY,
               .high = -INFINITY,
               .start = start,
               .end = end};
  for (int s = 0; s < plot->count; ++s)
    for (size_t k = 0; k < plot->series[s].count; ++k) {
      const double value = vertical ? plot->series[s].y[k] : plot->series[s].x[k];
      if (!usable(&axis, value)) continue;
      const double x = axis.log ? log10(value) : value;
      axis.low = fmin(axis.low, x);
      axis.high = fmax(axis.high, x);
    }
  if (!(axis.low <= axis.high)) axis.low = 0.0, axis.high = 1.0; /* no point at all */
  if (!(axis.high - axis.low > 1e-12 * fabs(axis.high))) {
    const double margin = axis.high != 0.0 && !axis.log ? 0.5 * fabs(axis.high) : 1.0;
    axis.low -= margin, axis.high += margin;
  }
  fill_ticks(&axis);
  return axis;
}

static void write_text(FILE *file, const char *text) {
  for (; *text; ++text) {
    if (*text == '<')
      fputs("&lt;", file);
    else if (*text == '>')
      fputs("&gt;", file);
    else if (*text == '&')
      fputs("&amp;", file);
    else
      fputc(*text, file);
  }
}

static void write_axes(FILE *file, const Plot *plot, const Axis *x, const Axis *y) {
  fprintf(file, "<g stroke=\"#ccc\" font-size=\"12\" fill=\"#333\">\n");
  for (int k = 0; k < x->ticks; ++k) {
    const double value = x->log ? pow(10.0, x->tick[k]) : x->tick[k], at = place(x, value);
    fprintf(file,
            "<path d=\"M%.1f %.1fV%.1f\"/><text stroke=\"none\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"middle\">%.4g</text>\n",
            at, y->start, y->end, at, y->start + 18.0, value);
  }
  for (int k = 0; k < y->ticks; ++k) {
    const double value = y->log ? pow(10.0, y->tick[k]) : y->tick[k], at = place(y, value);
    fprintf(file,
            "<path d=\"M%.1f %.1fH%.1f\"/><text stroke=\"none\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"end\">%.4g</text>\n",
            x->start, at, x->end, x->start - 6.0, at + 4.0, value);
  }
  fprintf(file,
          "</g>\n<g font-size=\"13\" fill=\"#111\"><text x=\"%.1f\" y=\"%d\" "
          "text-anchor=\"middle\">",
          0.5 * (x->start + x->end), HEIGHT - 12);
  write_text(file, plot->x_label);
  fprintf(file, "</text><text transform=\"translate(16 %.1f) rotate(-90)\" text-anchor=\"middle\">",
          0.5 * (y->start + y->end));
  write_text(file, plot->y_label);
  fprintf(file, "</text><text x=\"%.1f\" y=\"24\" font-weight=\"bold\">", x->start);
  write_text(file, plot->title);
  fprintf(file, "</text></g>\n");
}

static void write_series(FILE *file, const PlotSeries *series, int index, const Axis *x,
                         const Axis *y) {
  const char *colour = colours[index % PLOT_SERIES_MAX];
  bool open = false;
  if (series->dots)
    fprintf(file, "<g fill=\"%s\">", colour);
  else
    fprintf(file, "<path fill=\"none\" stroke-width=\"1.6\" stroke=\"%s\" d=\"", colour);
  for (size_t k = 0; k < series->count; ++k) {
    if (!usable(x, series->x[k]) || !usable(y, series->y[k])) {
      open = false;
      continue;
    }
    const double px = place(x, series->x[k]), py = place(y, series->y[k]);
    if (series->dots)
      fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", px, py);
    else
      fprintf(file, "%s%.1f %.1f", open ? "L" : "M", px, py);
    open = true;
  }
  fprintf(file, series->dots ? "</g>\n" : "\"/>\n");
  const int at = TOP + 14 + 20 * index;
  fprintf(file,
          "<path stroke=\"%s\" stroke-width=\"3\" d=\"M%d %dh18\"/>"
          "<text font-size=\"12\" x=\"%d\" y=\"%d\">",
          colour, WIDTH - RIGHT + 12, at, WIDTH - RIGHT + 36, at + 4);
  write_text(file, series->name);
  fprintf(file, "</text>\n");
}

scree_Status plot_write_file(const char *path, const Plot *plot) {
  FILE *file = fopen(path, "w");
  if (!file) {
    cli_error("scree: cannot write %s: %s", path, strerror(errno));
    return SCREE_MACHINE;
  }
  const Axis x = make_axis(plot, false, LEFT, WIDTH - RIGHT);
  const Axis y = make_axis(plot, true, HEIGHT - BOTTOM, TOP);
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
          "font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
          WIDTH, HEIGHT);
  write_axes(file, plot, &x, &y);
  for (int s = 0; s < plot->count; ++s) write_series(file, &plot->series[s], s, &x, &y);
  fprintf(file, "</svg>\n");
  const bool bad = ferror(file) != 0;
  if (fclose(file) != 0 || bad) {
    cli_error("scree: cannot write %s: %s", path, strerror(errno));
    return SCREE_MACHINE;
  }
  return SCREE_OK;
}

scree_Status plot_write(Bench *bench, const Plot *plot, const char *name) {
  char path[1024], file[128];
  if (!bench->directory) return SCREE_OK;
  snprintf(file, sizeof file, "%s-%s.svg", bench->current->name, name);
  snprintf(path, sizeof path, "%s/%s", bench->directory, file);
  const scree_Status status = plot_write_file(path, plot);
  if (!status) bench_plot(bench, file);
  return status;
}

/* Performance profiles as text and SVG (see profile.h). */
#include "cli/profile.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 64, ROWS = 16 };

/* the colours of Okabe and Ito, distinguishable with colour blindness; combined with dash patterns
 */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#999999"};
static const char *const dashes[] = {"", "6 3", "2 3"};
enum { COLOURS = sizeof colours / sizeof *colours, DASHES = sizeof dashes / sizeof *dashes };

static const char marks[] = "abcdefghijklmnopqrstuvwxyz";

static double fastest(const CliProfile *profile, int problem) {
  double best = INFINITY;
  for (int s = 0; s < profile->solvers; ++s)
    best = fmin(best, profile->seconds[problem * profile->solvers + s]);
  return best;
}

double cli_profile_rho(const CliProfile *profile, int solver, double tau) {
  int within = 0;
  for (int p = 0; p < profile->problems; ++p) {
    const double seconds = profile->seconds[p * profile->solvers + solver];
    if (isfinite(seconds) && seconds <= tau * fastest(profile, p)) ++within;
  }
  return profile->problems ? (double)within / profile->problems : 0.0;
}

double cli_profile_end(const CliProfile *profile) {
  double end = 2.0;
  for (int p = 0; p < profile->problems; ++p)
    for (int s = 0; s < profile->solvers; ++s) {
      const double ratio = profile->seconds[p * profile->solvers + s] / fastest(profile, p);
      if (isfinite(ratio)) end = fmax(end, ratio);
    }
  return end;
}

/* ---- text --------------------------------------------------------------------------------------
 */

void cli_profile_print(const CliProfile *profile, FILE *file) {
  const double end = cli_profile_end(profile);
  char canvas[ROWS + 1][COLUMNS + 1];
  memset(canvas, ' ', sizeof canvas);
  for (int s = profile->solvers - 1; s >= 0; --s) /* the first curve is drawn last, on top */
    for (int k = 0; k <= COLUMNS; ++k) {
      const double rho = cli_profile_rho(profile, s, pow(end, (double)k / COLUMNS));
      canvas[(int)lround((1.0 - rho) * ROWS)][k] = marks[s % 26];
    }
  fprintf(file, "part of the problems solved within tau times the fastest solver's time\n");
  for (int row = 0; row <= ROWS; ++row) {
    if (row % 4 == 0)
      fprintf(file, "%4d%% |", 100 - 100 * row / ROWS);
    else
      fprintf(file, "      |");
    int last = COLUMNS;
    while (last >= 0 && canvas[row][last] == ' ') --last;
    fprintf(file, "%.*s\n", last + 1, canvas[row]);
  }
  fprintf(file, "      +");
  for (int k = 0; k <= COLUMNS; ++k) fputc('-', file);
  fprintf(file, "\n  tau 1%*.4g\n\n", COLUMNS, end);
  for (int s = 0; s < profile->solvers; ++s)
    fprintf(file, "  %c %-14s fastest on %3.0f%%, solves %3.0f%%\n", marks[s % 26],
            profile->names[s], 100.0 * cli_profile_rho(profile, s, 1.0),
            100.0 * cli_profile_rho(profile, s, end));
}

/* ---- SVG ---------------------------------------------------------------------------------------
 */

enum { WIDTH = 760, HEIGHT = 420, LEFT = 60, RIGHT = 170, TOP = 40, BOTTOM = 50 };

static double x_of(double tau, double end) {
  return LEFT + (WIDTH - LEFT - RIGHT) * log(tau) / log(end);
}

static double y_of(double rho) {
  return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - rho);
}

static void draw_axes(const CliProfile *profile, double end, FILE *file) {
  const double right = WIDTH - RIGHT, bottom = HEIGHT - BOTTOM;
  (void)profile;
  for (int k = 0; k <= 4; ++k)
    fprintf(file,
            "<line x1='%d' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#ddd'/>"
            "<text x='%d' y='%.1f' text-anchor='end'>%d%%</text>\n",
            LEFT, y_of(k / 4.0), right, y_of(k / 4.0), LEFT - 6, y_of(k / 4.0) + 4.0, 25 * k);
  const double factor = end > 200.0 ? 10.0 : end > 20.0 ? 4.0 : 2.0;
  double tau = 1.0;
  while (tau <= end * (1.0 + 1e-12)) {
    fprintf(file,
            "<line x1='%.1f' y1='%d' x2='%.1f' y2='%.1f' stroke='#ddd'/>"
            "<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n",
            x_of(tau, end), TOP, x_of(tau, end), bottom, x_of(tau, end), bottom + 16.0, tau);
    tau *= factor;
  }
  fprintf(file, "<text x='%.1f' y='%.1f' text-anchor='middle'>time / fastest time</text>\n",
          0.5 * (LEFT + right), bottom + 36.0);
}

/* The curve is a staircase: it jumps at each ratio that the solver needs. */
static void draw_curve(const CliProfile *profile, int s, double end, FILE *file) {
  fprintf(file,
          "<path fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' d='M %.1f %.1f",
          colours[s % COLOURS], dashes[s / COLOURS % DASHES], x_of(1.0, end),
          y_of(cli_profile_rho(profile, s, 1.0)));
  double tau = 1.0;
  for (;;) {
    double next = INFINITY;
    for (int p = 0; p < profile->problems; ++p) {
      const double ratio = profile->seconds[p * profile->solvers + s] / fastest(profile, p);
      if (ratio > tau && ratio < next) next = ratio;
    }
    if (!isfinite(next)) break;
    tau = next;
    fprintf(file, " H %.1f V %.1f", x_of(tau, end),
            y_of(cli_profile_rho(profile, s, tau * (1.0 + 1e-12))));
  }
  fprintf(file, " H %.1f'/>\n", x_of(end, end));
  const double y = TOP + 18.0 * s + 8.0, x = WIDTH - RIGHT + 12;
  fprintf(file,
          "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='2' "
          "stroke-dasharray='%s'/><text x='%.1f' y='%.1f'>%s</text>\n",
          x, y, x + 24.0, y, colours[s % COLOURS], dashes[s / COLOURS % DASHES], x + 30.0, y + 4.0,
          profile->names[s]);
}

bool cli_profile_svg(const CliProfile *profile, const char *title, const char *path) {
  const double end = cli_profile_end(profile);
  FILE *file = fopen(path, "w");
  if (!file) return false;
  fprintf(file,
          "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' "
          "font-size='12'>\n<rect width='%d' height='%d' fill='white'/>\n"
          "<text x='%d' y='22' font-size='14'>%s</text>\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, title);
  draw_axes(profile, end, file);
  for (int s = profile->solvers - 1; s >= 0; --s) draw_curve(profile, s, end, file);
  fprintf(file, "</svg>\n");
  const bool written = !ferror(file);
  return fclose(file) == 0 && written;
}

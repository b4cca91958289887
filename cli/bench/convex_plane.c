/* convex-plane: 003 section 3.2, Figures 5 to 8. A disk (r = 1, m = 1) falls on a plane inclined by
 * pi/6 from a distance of 1, gravity 1, until t = 10; the exact solution is in appendix B.
 *
 *   affine        without friction
 *   convex-mu     the convex relaxation: the associated law
 *   fixed-mu      its fixed point, which is Coulomb's law; iterations are convex problems per step,
 *                 counted over the steps in which the disk touches, with tolFP = 1e-2
 *
 * Errors are the paper's L2 errors of the centre and of the angle; the order is the slope of the
 * logarithms between the largest and the smallest time step. `gap` is the distance that the scheme
 * keeps at the end, at the time step 0.05. The paper prints curves, and one order: 1. */
#include "cli/bench/cases.h"
#include "cli/bench/march.h"
#include "cli/bench/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5, ROWS = 6 };

static const double time_steps[STEPS] = {0.05, 0.025, 0.0125, 0.00625, 0.003125};
static const double end = 10.0;

typedef struct Row {
  const char *name;
  double mu;
  bool convex, automatic;
  double order_theta, fixed_point; /* published, NAN: none */
} Row;

static const Row rows[ROWS] = {
    {"affine", 0.0, true, false, NAN, NAN},       {"convex-mu1", 1.0, true, false, 1.0, NAN},
    {"fixed-mu1", 1.0, false, false, 1.0, 1.2},   {"convex-mu0.1", 0.1, true, false, 1.0, NAN},
    {"fixed-mu0.1", 0.1, false, false, 1.0, 2.8}, {"auto-mu0.1", 0.1, false, true, NAN, NAN},
};

/* Normal distance, and way along the plane and angle since the start. */
typedef struct Exact {
  double distance, way, angle;
} Exact;

/* Appendix B with g = R = m = h = 1; its impact constant of case 1 is tan(alpha) - 3 mu. */
static Exact exact(double t, double mu) {
  const double slope = acos(-1.0) / 6.0, s = sin(slope), c = cos(slope), ti = sqrt(2.0 / c);
  if (t < ti) return (Exact){1.0 - 0.5 * c * t * t, 0.5 * s * t * t, 0.0};
  const double after = t - ti;
  Exact out = {0.0, 0.5 * s * ti * ti, 0.0};
  if (mu >= tan(slope) / 3.0) {
    const double moved = 2.0 / 3.0 * s * ti * after + s / 3.0 * after * after;
    out.way += moved;
    out.angle = -moved;
  } else {
    out.way += (s - mu * c) * ti * after + 0.5 * (s - mu * c) * after * after;
    out.angle = -(2.0 * mu * c * ti * after + mu * c * after * after);
  }
  return out;
}

/* Sums over the steps. The angle is accumulated from its increments. */
typedef struct Sums {
  double mu, step;
  double x2, theta2, angle, gap;
  double outer;
  int64_t touching;
} Sums;

static void observe(void *user, scree_World *world, const scree_StepReport *report) {
  Sums *sums = user;
  const scree_Vec3 p = scree_body_pose(world, 0).position;
  const Exact e = exact(report->time, sums->mu);
  sums->angle += sums->step * scree_body_velocity(world, 0).angular.z;
  sums->gap = p.y - 1.0;
  const double dx = p.x - e.way, dy = sums->gap - e.distance, da = sums->angle - e.angle;
  sums->x2 += sums->step * (dx * dx + dy * dy);
  sums->theta2 += sums->step * da * da;
  if (report->active > 0) {
    sums->outer += report->iterations;
    sums->touching++;
  }
}

/* `count`: stop the fixed point as the paper does, to count; else go on to round-off. */
static scree_Status run_row(Bench *bench, const Row *row, bool count, double step, Sums *sums,
                            March *result) {
  const char *pointers[MARCH_OPTIONS + 1];
  Method method = method_auto();
  method.tolerance = 1e-11;
  if (!row->convex && !row->automatic) {
    method.solver = "fixed-point";
    snprintf(method.text[0], sizeof *method.text, "inner=ipm");
    if (count) snprintf(method.text[1], sizeof *method.text, "tol_fp=1e-2");
    method.automatic = false;
  }
  /* the frame of the plane: gravity is inclined, the plane is y = 0 */
  scree_WorldSettings settings = march_settings(bench, &method, 2, step, 0.0, pointers);
  const double slope = acos(-1.0) / 6.0;
  settings.scheme = "euler";
  settings.gravity = (scree_Vec3){sin(slope), -cos(slope), 0.0};
  settings.flow = row->convex ? SCREE_ASSOCIATED : SCREE_COULOMB;
  const scree_PairLaw law =
      row->mu > 0.0 ? scree_pair_law_coulomb(row->mu, 0.0, 0.0) : scree_pair_law("frictionless");
  scree_World *world = NULL;
  *sums = (Sums){.mu = row->mu, .step = step};
  scree_Status status = scree_world_create(&settings, bench->log, &world);
  if (!status) status = scree_world_set_default_law(world, &law);
  if (!status) status = march_add_disk(world, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.5, bench->log);
  if (!status) status = march_add_wall(world, 0.0, 0.0, 0.0, bench->log);
  if (!status)
    status = march(bench, row->name, world, (int64_t)lround(end / step), observe, sums, result);
  scree_world_destroy(world);
  return status;
}

static double order(const double *error, int n) {
  return log(error[0] / error[n - 1]) / log(time_steps[0] / time_steps[n - 1]);
}

static scree_Status run_plane(Bench *bench) {
  const int n = bench->quick ? 3 : STEPS;
  double x[ROWS][STEPS], theta[ROWS][STEPS];
  March *result = malloc(sizeof *result);
  scree_Status status = result ? SCREE_OK : SCREE_MACHINE;
  for (int k = 0; k < ROWS && !status; ++k) {
    const Row *row = &rows[k];
    double gap = 0.0, outer = 0.0, seconds = 0.0;
    int64_t touching = 0;
    for (int i = 0; i < n && !status; ++i) {
      Sums sums;
      char quantity[32];
      status = run_row(bench, row, false, time_steps[i], &sums, result);
      if (status) break;
      x[k][i] = sqrt(sums.x2);
      theta[k][i] = sqrt(sums.theta2);
      if (i == 0) gap = sums.gap;
      seconds += result->seconds;
      snprintf(quantity, sizeof quantity, "error_x@%g", time_steps[i]);
      bench_figure(bench, row->name, quantity, NAN, x[k][i]);
      if (row->convex || row->automatic) continue;
      status = run_row(bench, row, true, time_steps[i], &sums, result);
      outer += sums.outer;
      touching += sums.touching;
    }
    if (status) break;
    bench_figure(bench, row->name, "order_x", row->automatic ? NAN : 1.0, order(x[k], n));
    if (row->mu > 0.0)
      bench_figure(bench, row->name, "order_theta", row->order_theta, order(theta[k], n));
    bench_figure(bench, row->name, "gap", NAN, gap);
    if (!row->convex && !row->automatic)
      bench_figure(bench, row->name, "fixed_point_iterations", row->fixed_point,
                   touching ? outer / (double)touching : NAN);
    if (row->automatic) bench_figure(bench, row->name, "seconds", NAN, seconds);
  }
  bench_note(
      bench,
      "the averages 2.8 (mu = 1) and 1.2 (mu = 0.1) are probably interchanged in the paper, and "
      "are compared in this way: a rolling contact has s = 0 from the first convex problem on");
  Plot plot = {.title = "003 Figures 6 and 8: error of the centre",
               .x_label = "time step",
               .y_label = "L2 error",
               .log_x = true,
               .log_y = true,
               .count = ROWS};
  for (int k = 0; k < ROWS; ++k)
    plot.series[k] = (PlotSeries){rows[k].name, time_steps, x[k], (size_t)n, false};
  if (!status) status = plot_write(bench, &plot, "order-x");
  plot.title = "003 Figure 8: error of the angle";
  for (int k = 0; k < ROWS; ++k) plot.series[k].y = theta[k];
  if (!status) status = plot_write(bench, &plot, "order-theta");
  free(result);
  return status;
}

const BenchCase bench_convex_plane = {
    .name = "convex-plane",
    .reference = "003 Figures 5 to 8",
    .summary = "disk on an inclined plane: order of convergence, gap of the relaxation",
    .duration = "1 s",
    .run = run_plane,
};

/* Worlds of the papers and their time stepping (see march.h). */
#include "cli/bench/march.h"
#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Method method_auto(void) {
  const scree_SolveSettings preset = scree_solve_settings();
  return (Method){.name = "auto",
                  .solver = preset.solver,
                  .tolerance = preset.tolerance,
                  .measure = preset.measure,
                  .automatic = true};
}

Method method_local(const char *local, const double *gamma, double alpha, double kappa, double mu,
                    double e) {
  Method method = {.name = local, .solver = "nlgs"};
  int n = 0;
  snprintf(method.text[n++], sizeof *method.text, "local=%s", local);
  if (gamma) {
    snprintf(method.text[n++], sizeof *method.text, "gamma_n=%.17g", gamma[0]);
    snprintf(method.text[n++], sizeof *method.text, "gamma_t=%.17g", gamma[1]);
  }
  if (alpha > 0.0) {
    /* the automatic rho of a pair of balls is 2/(W_nn + W_tt), for sbp over sigma^2 */
    const double sigma = 0.5 * (mu + hypot(mu, 2.0));
    double factor = alpha / (1.0 + e) * 0.5 * (1.0 + kappa);
    if (strcmp(local, "sbp") == 0) factor *= sigma * sigma;
    snprintf(method.text[n++], sizeof *method.text, "rho_factor=%.17g", factor);
  }
  return method;
}

/* splitmix64 */
double march_random(uint64_t *state, double low, double high) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

scree_WorldSettings march_settings(const Bench *bench, const Method *method, int dimension,
                                   double step, double gravity,
                                   const char *pointers[MARCH_OPTIONS + 1]) {
  scree_WorldSettings settings = scree_world_settings();
  int n = 0;
  for (int k = 0; k < MARCH_OPTIONS; ++k)
    if (method->text[k][0]) pointers[n++] = method->text[k];
  pointers[n] = NULL;
  settings.dimension = dimension;
  settings.step = step;
  if (dimension == 2)
    settings.gravity.y = -gravity;
  else
    settings.gravity.z = -gravity;
  settings.solve.solver = method->solver;
  settings.solve.options = n ? pointers : NULL;
  settings.solve.tolerance = method->tolerance;
  settings.solve.measure = method->measure;
  settings.solve.max_iterations = method->max_iterations;
  settings.solve.threads = bench->threads > 0 ? bench->threads : 1;
  if (!method->automatic) {
    settings.scheme = "moreau-jean-closed";
    settings.warm_start = false;
    settings.max_retries = 0;
    settings.max_halvings = 0;
    settings.penetration_limit = settings.energy_limit = settings.creep_limit = INFINITY;
    settings.max_work = INFINITY;
  }
  return settings;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static scree_Status add(scree_World *world, scree_Shape *shape, scree_BodyDef *def) {
  def->shape = shape;
  const scree_Status status = scree_world_add_body(world, def, NULL);
  scree_shape_fini(shape);
  return status;
}

scree_Status march_add_disk(scree_World *world, double radius, double x, double y, double vx,
                            double vy, double mass, double inertia, const scree_Log *log) {
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  const scree_Status status = scree_shape_init_disk(&shape, radius, log);
  if (status) return status;
  def.pose.position.x = x;
  def.pose.position.y = y;
  def.velocity.linear.x = vx;
  def.velocity.linear.y = vy;
  def.mass = mass;
  def.inertia.z = inertia;
  return add(world, &shape, &def);
}

scree_Status march_add_sphere(scree_World *world, double radius, scree_Vec3 position, double mass,
                              const scree_Log *log) {
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  const scree_Status status = scree_shape_init_sphere(&shape, radius, log);
  if (status) return status;
  def.pose.position = position;
  def.mass = mass;
  return add(world, &shape, &def);
}

scree_Status march_add_wall(scree_World *world, double x, double y, double angle,
                            const scree_Log *log) {
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  const scree_Status status = scree_shape_init_half_plane(&shape, log);
  if (status) return status;
  def.obstacle = true;
  def.pose.position.x = x;
  def.pose.position.y = y;
  def.pose.orientation = (scree_Quat){cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)};
  return add(world, &shape, &def);
}

scree_Status march_add_wall_3d(scree_World *world, scree_Vec3 point, int axis, int sign,
                               const scree_Log *log) {
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  const scree_Status status = scree_shape_init_half_space(&shape, log);
  if (status) return status;
  const double half = sqrt(0.5);
  def.obstacle = true;
  def.pose.position = point;
  if (axis == 0) /* z to +-x: a quarter turn about +-y */
    def.pose.orientation = (scree_Quat){half, 0.0, sign * half, 0.0};
  else if (axis == 1) /* z to +-y: a quarter turn about -+x */
    def.pose.orientation = (scree_Quat){half, -sign * half, 0.0, 0.0};
  else if (sign < 0)
    def.pose.orientation = (scree_Quat){0.0, 1.0, 0.0, 0.0};
  return add(world, &shape, &def);
}

/* ---- marching -------------------------------------------------------------------------------- */

static void trace(March *result) {
  const size_t k = result->traced++;
  result->trace_time[k] = result->time;
  result->trace_iterations[k] = result->iterations;
  result->trace_seconds[k] = result->seconds_solve;
}

static double approach(const scree_World *world) {
  const scree_Problem *problem;
  const double *u;
  double worst = 0.0;
  if (scree_world_problem(world, &problem, NULL, &u, NULL)) return 0.0;
  for (int c = 0; c < problem->nc; ++c) worst = fmax(worst, -u[(size_t)c * (size_t)problem->d]);
  return worst;
}

static void add_step(March *result, const scree_StepReport *report, double cpu) {
  const double other = report->seconds_detect + report->seconds_build + report->seconds_move +
                       report->seconds_certify,
               wall = report->seconds_solve + other;
  result->steps++;
  result->seconds += cpu;
  result->seconds_solve += wall > 0.0 ? cpu * report->seconds_solve / wall : 0.0;
  result->time = report->time;
  result->iterations += report->iterations;
  result->iterations_last = report->iterations;
  result->penetration_max = fmax(result->penetration_max, report->penetration);
  result->contacts_last = report->contacts;
  result->active_last = report->active;
  if (report->contacts > result->contacts_max) result->contacts_max = report->contacts;
  result->touching += report->active > 0;
  if (report->contacts == 0) return;
  result->error_max = fmax(result->error_max, report->solve.measures.error);
  result->eps_glob_last = report->solve.measures.eps_glob;
  if (!report->solve.converged) result->unsolved++;
}

scree_Status march(Bench *bench, const char *row, scree_World *world, int64_t steps,
                   MarchObserver observer, void *user, March *result) {
  *result = (March){0};
  const int64_t every = steps / (MARCH_TRACE - 1) + 1;
  /* the row that the others are compared with gets more time */
  const double limit = bench->limit * (strncmp(row, "auto", 4) == 0 ? MARCH_PATIENCE : 1);
  for (int64_t k = 1; k <= steps && !result->stopped; ++k) {
    scree_StepReport report;
    /* CPU time, as in the papers: it does not depend on other processes */
    const double start = scree_processor_seconds();
    const scree_Status status = scree_world_step(world, &report);
    if (status > SCREE_NOT_CONVERGED) return status;
    add_step(result, &report, scree_processor_seconds() - start);
    if (observer) observer(user, world, &report);
    if (k % every == 0 || k == steps) trace(result);
    if (k % 16 == 0 &&
        !bench_progress(bench, "%s, step %lld of %lld, %d contacts, %.0f s", row, (long long)k,
                        (long long)steps, report.contacts, result->seconds))
      result->stopped = true;
    if (limit > 0.0 && result->seconds > limit && k < steps) result->stopped = true;
  }
  result->approach_last = approach(world);
  return scree_world_penetration(world, &result->penetration_last, NULL);
}

void march_note_stopped(Bench *bench, const char *row, const March *result, int64_t steps) {
  if (result->stopped)
    bench_note(bench,
               "%s was stopped after %lld of %lld steps, at the limit of computing time: its "
               "figures are those of these steps",
               row, (long long)result->steps, (long long)steps);
}

void march_faster(Bench *bench, const char *row, double ours, double printed, double here) {
  if (isfinite(printed)) bench_figure(bench, row, "faster_than_print", NAN, printed / ours);
  if (isfinite(here)) bench_figure(bench, row, "faster_than_here", NAN, here / ours);
}

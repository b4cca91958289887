/* pqn-cubes: M x M x M stacked cubes in a shaken box (004 section 8.2).
 *
 * Cubes of 0.1 m, cut into 2 x 2 x 2 hexahedra, rigid (the mesh then only decides where contacts
 * are) or finite elements, linearly implicit: E = 1 GPa, nu = 0.25, 1000 kg/m^3, damping h K u with
 * the step h = 0.5 ms, mu = 0.1, g = 10 m/s^2. Six walls with the gap 0.01/M around all cubes, and
 * between them, accelerate along (1, 1, 0) by 5 sin(2 pi 2 t) m/s^2 for 3 s.
 *
 * The paper prints no figures for this example (its sections 8.2.1 to 8.2.4 are empty), and leaves
 * open the velocity of the walls at t = 0: here it is zero.
 *
 * Methods, counts and units (masses in units of h kg, so that impulses are the paper's forces) as
 * in pqn-drum: pqn (delta 0.01 of the mean of diag W; epsilon 0.25 and m = 10 for rigid, 0.01 and 5
 * for deformable cubes) and nlgs on the paper's scheme to the merit 1e-8, from the impulses of the
 * last step; auto on the default scheme to the same merit. These parameters are the paper's for
 * pseudo-rigid bodies; with them pqn does not converge in some steps in which finite elements hit a
 * wall. Rows pqn-0.25 have delta 0.25, epsilon 0.25 and m = 10, with which it does in all steps of
 * M = 2 and in all but 5 of 6000 of M = 3. */
#include "cli/bench/cases.h"
#include "cli/bench/pqn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK = 100 };

static const double step = 5e-4, gravity = 10.0, edge = 0.1, duration = 3.0;
static const double unit = 5e-4; /* of mass, in kg: the step */
static const int sizes[] = {2, 3, 5};

/* ---- the world --------------------------------------------------------------------------------
 */

static scree_Twist shake(void *user, double time) {
  (void)user;
  const double omega = 4.0 * acos(-1.0), v = 5.0 / omega * (1.0 - cos(omega * time)) * sqrt(0.5);
  return (scree_Twist){{v, v, 0}, {0, 0, 0}};
}

static scree_Status add_wall(scree_World *world, int axis, int sign, double at,
                             const scree_Log *log) {
  static const double c = 0.70710678118654752440; /* of half a right angle */
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  scree_Status status = scree_shape_init_half_space(&shape, log);
  if (status) return status;
  def.shape = &shape;
  def.obstacle = true;
  def.driver.kind = SCREE_SIGNAL_CALLBACK;
  def.driver.callback = shake;
  def.pose.position = (scree_Vec3){axis == 0 ? at : 0, axis == 1 ? at : 0, axis == 2 ? at : 0};
  /* turns z to the outward normal of the wall's solid */
  if (axis == 0)
    def.pose.orientation = (scree_Quat){c, 0, sign * c, 0};
  else if (axis == 1)
    def.pose.orientation = (scree_Quat){c, -sign * c, 0, 0};
  else
    def.pose.orientation = sign > 0 ? (scree_Quat){1, 0, 0, 0} : (scree_Quat){0, 1, 0, 0};
  status = scree_world_add_body(world, &def, NULL);
  scree_shape_fini(&shape);
  return status;
}

static scree_Status fill(scree_World *world, int m, bool soft, const scree_Log *log) {
  const double gap = 0.01 / m, pitch = edge + gap, half = 0.5 * edge;
  const int divisions[3] = {2, 2, 2};
  scree_ElementMesh *mesh;
  scree_Shape shape;
  scree_Status status =
      scree_element_mesh_create_block(3, (scree_Vec3){half, half, half}, divisions, &mesh, log);
  if (status) return status;
  status = scree_shape_init_elements(&shape, mesh, log);
  scree_element_mesh_destroy(mesh);
  if (status) return status;
  scree_BodyDef def = scree_body_def();
  def.shape = &shape;
  def.density = 1000 / unit;
  if (soft) {
    def.kind = SCREE_BODY_ELEMENTS;
    def.elastic = (scree_Elastic){.young = 1e9 / unit, .poisson = 0.25, .damping = step};
  }
  for (int k = 0; k < m * m * m && !status; ++k) {
    const int i = k % m, j = k / m % m, layer = k / (m * m);
    def.pose.position =
        (scree_Vec3){gap + half + pitch * i, gap + half + pitch * j, gap + half + pitch * layer};
    status = scree_world_add_body(world, &def, NULL);
  }
  scree_shape_fini(&shape);
  const double wide = gap + m * pitch;
  for (int k = 0; k < 6 && !status; ++k)
    status = add_wall(world, k / 2, k % 2 ? -1 : 1, k % 2 ? wide : 0, log);
  return status;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static scree_Status run_row(Bench *bench, const char *name, int m, bool soft,
                            const Method *method) {
  const char *pointers[MARCH_OPTIONS + 1];
  const int64_t steps = bench->quick ? QUICK : (int64_t)(duration / step + 0.5);
  scree_WorldSettings settings = march_settings(bench, method, 3, step, gravity, pointers);
  settings.warm_start = true;
  const scree_PairLaw law = scree_pair_law_coulomb(0.1, 0, 0);
  scree_World *world = NULL;
  PqnCount count = {.newton = strcmp(method->solver, "pqn") == 0};
  March *result = malloc(sizeof *result);
  scree_Status status = result ? SCREE_OK : SCREE_MACHINE;
  if (!status) status = scree_world_create(&settings, bench->log, &world);
  if (!status) status = scree_world_set_default_law(world, &law);
  if (!status) status = fill(world, m, soft, bench->log);
  if (!status) status = march(bench, name, world, steps, pqn_observe, &count, result);
  if (!status) {
    march_note_stopped(bench, name, result, steps);
    pqn_figures(bench, name, NULL, &count, result);
    bench_figure(bench, name, "steps", NAN, (double)result->steps);
    bench_figure(bench, name, "contacts_max", NAN, result->contacts_max);
    bench_figure(bench, name, "penetration_max", NAN, result->penetration_max);
    bench_figure(bench, name, "energy_created", NAN, count.energy);
  }
  scree_world_destroy(world);
  free(result);
  return status;
}

static Method newton(const char *name, double delta, double epsilon, int krylov) {
  Method method = {.name = name,
                   .solver = "pqn",
                   .text = {[1] = "delta_scale=mean", [4] = "scaled=no"},
                   .max_iterations = 100 * PQN_LIMIT};
  snprintf(method.text[0], sizeof *method.text, "delta=%g", delta);
  snprintf(method.text[2], sizeof *method.text, "epsilon=%g", epsilon);
  snprintf(method.text[3], sizeof *method.text, "krylov=%d", krylov);
  return method;
}

static scree_Status run_size(Bench *bench, int m, bool soft) {
  Method methods[4] = {newton("pqn", 0.01, soft ? 0.01 : 0.25, soft ? 5 : 10),
                       {.name = "nlgs", .solver = "nlgs", .max_iterations = PQN_LIMIT},
                       method_auto(),
                       newton("pqn-0.25", 0.25, 0.25, 10)};
  for (int k = 0; k < (soft ? 4 : 3); ++k) {
    char name[48];
    methods[k].tolerance = 1e-8;
    methods[k].measure = SCREE_MEASURE_MERIT;
    snprintf(name, sizeof name, "%s-%d-%s", soft ? "elements" : "rigid", m, methods[k].name);
    if (!bench_wants(bench, name)) continue;
    const scree_Status status = run_row(bench, name, m, soft, &methods[k]);
    if (status || !bench_progress(bench, "%s done", name)) return status;
  }
  return SCREE_OK;
}

static scree_Status run_cubes(Bench *bench) {
  scree_Status status = SCREE_OK;
  const int count = bench->quick ? 1 : (int)(sizeof sizes / sizeof *sizes);
  for (int k = 0; k < count && !status; ++k)
    for (int soft = 0; soft < 2 && !status; ++soft) status = run_size(bench, sizes[k], soft);
  bench_note(bench, "the paper prints no figures for this example");
  return status;
}

const BenchCase bench_pqn_cubes = {
    .name = "pqn-cubes",
    .reference = "004 section 8.2",
    .summary = "M x M x M rigid or finite-element cubes in a shaken box: iterations, time",
    .duration = "an hour, 20 s with --quick",
    .run = run_cubes,
};

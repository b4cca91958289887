/* Settled packings, for benchmarks: disks (2D) or spheres (3D) of jittered radii in an open box
 * under gravity, made through the public world and stepped until they are at rest.
 *
 * Grains start on a close packing by rows (2D) or by square layers (3D) whose spacing fits the
 * largest grain, odd layers shifted by half a grain; each is let down, layer by layer, until it
 * touches one below, so nothing falls far: the lattice, a tenth too wide for the mean grain, comes
 * down by some 3% of its height. The box is half a grain too wide for each layer, the radii differ
 * by up to a quarter: rows break up and a disordered packing with sticking and sliding contacts
 * comes out. Velocities are damped once all has come down. Steps are solved loosely by a bounded
 * number of sweeps, which bounds the time: one to two minutes for 1e5 contacts on one thread.
 *
 * No clocks take part: the same arguments give the same packing on any machine. */
#ifndef SCREE_BENCH_SETTLE_H
#define SCREE_BENCH_SETTLE_H

#include "bench/damp.h"
#include "bench/walls.h"
#include "scree/fclib.h"
#include "scree/world.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const double settle_radius = 0.01; /* of the largest grain, metres */
static const double settle_spread = 0.2;  /* radii are uniform in [1 - spread, 1] of it */
static const double settle_gravity = 9.81;
static const double settle_step = 1e-3;

enum { SETTLE_SWEEPS = 50, SETTLE_STEPS = 150 };
static const double settle_loose = 0.03;   /* part of its height that the lattice loses */
static const double settle_damping = 0.95; /* of velocities per step, once all has come down */

/* What to make; start from settle_options(). */
typedef struct SettleOptions {
  int d;        /* 2 or 3 */
  int contacts; /* about as many */
  double mu;
  const char *scheme; /* ("moreau-jean-closed") */
  double pull;  /* speed at which the wall at the far end of x moves away once all is settled (0) */
  int after;    /* steps after that (0) */
  int threads;  /* (1) */
  bool verbose; /* progress on the error stream */
} SettleOptions;

static inline SettleOptions settle_options(int d, int contacts, double mu) {
  return (SettleOptions){
      .d = d, .contacts = contacts, .mu = mu, .scheme = "moreau-jean-closed", .threads = 1};
}

static inline void settle_print(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level == SCREE_LOG_ERROR) fprintf(stderr, "%s\n", message);
}

static const scree_Log settle_log = {settle_print, NULL};

/* uniform in [0, 1): a fixed generator, so that packings do not depend on the C library */
static inline double settle_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* Grains along an edge of the lattice: about 1.85 contacts per disk, 2.55 per sphere come out. */
static inline int settle_side(int d, int contacts) {
  return (int)lround(d == 2 ? sqrt(contacts / 1.85) : cbrt(contacts / 2.55));
}

/* The open box [0, width]^(d-1) with its floor at 0: the axes are x and y (2D) or x, y, z (3D). The
 * far wall of x moves away at speed `pull` from the time `start` on. */
static inline scree_Status settle_walls(scree_World *world, int d, double width, double pull,
                                        double start) {
  const double times[2] = {start, start + 10.0 * settle_step};
  const scree_Twist speeds[2] = {{.linear = {0, 0, 0}}, {.linear = {pull, 0, 0}}};
  const scree_Signal driver = {
      .kind = SCREE_SIGNAL_TABLE, .count = 2, .times = times, .values = speeds};
  return bench_walls(world, d, width, d == 2 ? 3 : 5, pull > 0 ? 2 : -1, &driver, &settle_log);
}

/* A grain of the lattice, heights along the third coordinate in 2D too. */
typedef struct SettleGrain {
  double x[3], radius;
} SettleGrain;

/* Height at which `grain`, above column (i, j) of an odd or even layer, touches one of the layer
 * below, (n x rows) grains. */
static inline double settle_height(const SettleGrain *below, const SettleGrain *grain, int n,
                                   int rows, int i, int j, int odd) {
  double height = 0.0;
  for (int dj = 0; dj < (rows > 1 ? 2 : 1); ++dj)
    for (int di = 0; di < 2; ++di) {
      const int i2 = i + di - !odd, j2 = rows > 1 ? j + dj - !odd : 0;
      if (i2 < 0 || i2 >= n || j2 < 0 || j2 >= rows) continue;
      const SettleGrain *b = below + i2 + n * j2;
      const double x = grain->x[0] - b->x[0], y = grain->x[1] - b->x[1];
      const double reach = grain->radius + b->radius, left = reach * reach - x * x - y * y;
      if (left > 0.0) height = fmax(height, b->x[2] + sqrt(left));
    }
  return fmax(height, grain->radius);
}

static inline scree_Status settle_add_grain(scree_World *world, int d, const SettleGrain *g) {
  scree_Shape shape;
  scree_BodyDef def = scree_body_def();
  scree_Status status = d == 2 ? scree_shape_init_disk(&shape, g->radius, &settle_log)
                               : scree_shape_init_sphere(&shape, g->radius, &settle_log);
  def.shape = &shape;
  def.pose.position =
      d == 2 ? (scree_Vec3){g->x[0], g->x[2], 0} : (scree_Vec3){g->x[0], g->x[1], g->x[2]};
  return status ? status : scree_world_add_body(world, &def, NULL);
}

static inline scree_Status settle_grains(scree_World *world, int d, int n) {
  const int rows = d == 3 ? n : 1;
  const size_t layer = (size_t)n * (size_t)rows;
  const double pitch = 2.0 * settle_radius;
  SettleGrain *grains = malloc(layer * (size_t)n * sizeof *grains);
  scree_Status status = grains ? SCREE_OK : SCREE_MACHINE;
  uint64_t seed = 11;
  for (int k = 0; k < n && !status; ++k)
    for (int j = 0; j < rows && !status; ++j)
      for (int i = 0; i < n && !status; ++i) {
        const double shift = k % 2 ? 1.0 : 0.5;
        SettleGrain *g = grains + (size_t)k * layer + (size_t)(i + n * j);
        g->radius = settle_radius * (1.0 - settle_spread * settle_random(&seed));
        g->x[0] = pitch * (i + shift);
        g->x[1] = d == 3 ? pitch * (j + shift) : 0.0;
        g->x[2] = k == 0 ? g->radius
                         : settle_height(grains + (size_t)(k - 1) * layer, g, n, rows, i, j, k % 2);
        status = settle_add_grain(world, d, g);
      }
  free(grains);
  return status;
}

/* Root mean square of the speeds over what a grain gains falling its own radius. */
static inline double settle_speed(const scree_World *world) {
  double sum = 0.0;
  int count = 0;
  for (int b = 0; b < scree_world_body_count(world); ++b) {
    if (scree_body_is_obstacle(world, b)) continue;
    const scree_Vec3 v = scree_body_velocity(world, b).linear;
    sum += v.x * v.x + v.y * v.y + v.z * v.z;
    ++count;
  }
  return sqrt(sum / count / (2.0 * settle_gravity * settle_radius));
}

/* Steps in which the top of the lattice falls by what it loses in height. */
static inline int settle_fall(int d, int n) {
  const double height = settle_radius * n * (d == 2 ? sqrt(3.0) : sqrt(2.0));
  return (int)ceil(sqrt(2.0 * settle_loose * height / settle_gravity) / settle_step);
}

static inline int settle_steps(int d, int n) {
  return SETTLE_STEPS + 2 * settle_fall(d, n);
}

static inline scree_Status settle_run(const SettleOptions *options, int n, scree_World *world) {
  const int fall = settle_fall(options->d, n), steps = settle_steps(options->d, n);
  scree_Status status = SCREE_OK;
  for (int k = 1; k <= steps + options->after && !status; ++k) {
    scree_StepReport report;
    if (2 * k > 3 * fall && k <= steps) status = damp_velocities(world, settle_damping);
    if (!status) status = scree_world_step(world, &report);
    if (status == SCREE_NOT_CONVERGED) status = SCREE_OK;
    if (options->verbose && !status && (k % 50 == 0 || k == steps + options->after))
      fprintf(stderr,
              "settling %dD: step %d of %d, %d contacts, error %.1e, speed %.1e, depth %.1e\n",
              options->d, k, steps + options->after, report.contacts, report.error,
              settle_speed(world), report.penetration);
  }
  return status;
}

/* How the packing settles. With closed contacts only, grains that meet at speed keep an overlap of
 * up to a seventh, as soft ones would, which the contact problem does not see: the packings are
 * those of the tables in bench/results. With schemes that look ahead they do not overlap. */
static inline scree_WorldSettings settle_settings(const SettleOptions *options) {
  const int d = options->d;
  scree_WorldSettings settings = scree_world_settings();
  settings.scheme = options->scheme;
  settings.dimension = d;
  settings.step = settle_step;
  settings.gravity =
      d == 2 ? (scree_Vec3){0, -settle_gravity, 0} : (scree_Vec3){0, 0, -settle_gravity};
  settings.penetration_limit = settings.energy_limit = settings.max_work = INFINITY;
  settings.max_retries = settings.max_halvings = 0;
  settings.solve.solver = "nlgs";
  settings.solve.tolerance = 1e-4;
  settings.solve.max_iterations = SETTLE_SWEEPS;
  settings.solve.threads = options->threads;
  return settings;
}

/* A world at rest, or nearly: settle_speed tells. The caller destroys it. */
static inline scree_Status settle_world(const SettleOptions *options, scree_World **world) {
  const int d = options->d, n = settle_side(d, options->contacts);
  const scree_WorldSettings settings = settle_settings(options);
  const scree_PairLaw law = scree_pair_law_coulomb(options->mu, 0, 0);
  scree_Status status = scree_world_create(&settings, &settle_log, world);
  if (!status) status = scree_world_set_default_law(*world, &law);
  if (!status)
    status = settle_walls(*world, d, 2.0 * settle_radius * (n + 0.5), options->pull,
                          settle_step * settle_steps(d, n));
  if (!status) status = settle_grains(*world, d, n);
  if (!status) status = settle_run(options, n, *world);
  if (status) {
    scree_world_destroy(*world);
    *world = NULL;
  }
  return status;
}

/* The problem of the last step of a settled packing, kept as an FCLIB file in the folder `cache`
 * (null: not kept) and read from there the next time. Destroy the problem, then the world, which is
 * null when the problem came from a file. */
static inline scree_Status settle_problem(const SettleOptions *options, const char *cache,
                                          scree_Problem *problem, scree_World **world) {
  char path[1024];
  FILE *file = NULL;
  *world = NULL;
  if (cache) {
    snprintf(path, sizeof path, "%s/settled-%dd-%d-mu%g-pull%g-after%d.hdf5", cache, options->d,
             options->contacts, options->mu, options->pull, options->after);
    file = fopen(path, "rb");
  }
  if (file) {
    fclose(file);
    return scree_fclib_read(path, problem, NULL, &settle_log);
  }
  const scree_Problem *posed;
  scree_Status status = settle_world(options, world);
  if (!status) status = scree_world_problem(*world, &posed, NULL, NULL, NULL);
  if (!status) *problem = *posed; /* a view: it is valid as long as the world */
  if (status || !cache) return status;
  mkdir(cache, 0777);
  status =
      scree_fclib_write(path, problem, "settled packing under gravity", NULL, NULL, &settle_log);
  scree_world_destroy(*world);
  *world = NULL;
  return status ? status : scree_fclib_read(path, problem, NULL, &settle_log);
}

#endif

/* Dense packings of many kinds, for benchmarks: scenes of grains packed at random, settled under
 * gravity by steps that are solved loosely, and the contact problem of the last step. Seeds, sizes
 * and friction are those of no other benchmark or test. Two numbers of momentum.c were chosen on
 * those of seed 2001: judge with other seeds.
 *
 * No clocks take part: the same arguments give the same packing on any machine. */
#ifndef SCREE_BENCH_PACKS_H
#define SCREE_BENCH_PACKS_H

#include "bench/damp.h"
#include "bench/pile.h"
#include "scree/fclib.h"
#include "scree/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef enum PackKind {
  PACK_BOX,    /* grains in a box */
  PACK_SIZES,  /* the same, radii from 1 to 4 */
  PACK_PLATE,  /* under a plate as heavy as three times the grains */
  PACK_SHEAR,  /* in a box, one wall moving in */
  PACK_DRUM,   /* in a drum that turns */
  PACK_BLOCKS, /* pentagons or boxes in a box */
  PACK_WALL,   /* a wall of bricks whose ground moves */
  PACK_PILE    /* a lattice with gaps, made without settling (pile.h) */
} PackKind;

typedef struct PackMember {
  const char *name;
  PackKind kind;
  int d;
  double mu;
} PackMember;

static const PackMember pack_members[] = {
    {"disks in a box", PACK_BOX, 2, 0.3},          {"disks of sizes 1 to 4", PACK_SIZES, 2, 0.4},
    {"disks under a plate", PACK_PLATE, 2, 0.5},   {"disks, wall moving in", PACK_SHEAR, 2, 0.35},
    {"disks in a drum", PACK_DRUM, 2, 0.5},        {"pentagons", PACK_BLOCKS, 2, 0.4},
    {"bricks, plane", PACK_WALL, 2, 0.5},          {"pile of disks", PACK_PILE, 2, 0.4},
    {"spheres in a box", PACK_BOX, 3, 0.3},        {"spheres of sizes 1 to 4", PACK_SIZES, 3, 0.4},
    {"spheres under a plate", PACK_PLATE, 3, 0.5}, {"spheres, wall moving in", PACK_SHEAR, 3, 0.35},
    {"spheres in a drum", PACK_DRUM, 3, 0.5},      {"boxes", PACK_BLOCKS, 3, 0.4},
    {"bricks, space", PACK_WALL, 3, 0.5},          {"pile of spheres", PACK_PILE, 3, 0.4},
};
enum { PACK_MEMBERS = sizeof pack_members / sizeof *pack_members };

static const double pack_radius = 0.01; /* metres */
static const double pack_step = 1e-3;
enum { PACK_STEPS = 240, PACK_SWEEPS = 60, PACK_TEXT = 4096 };
static const double pack_damping = 0.95; /* of velocities in a step of the second half */

static inline void pack_print(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level == SCREE_LOG_ERROR) fprintf(stderr, "%s\n", message);
}

static const scree_Log pack_log = {pack_print, NULL};

/* ---- the scene --------------------------------------------------------------------------------
 */

/* Contacts for each body, as they come out. */
static inline double pack_contacts_per_body(const PackMember *m) {
  switch (m->kind) {
  case PACK_BLOCKS: return m->d == 2 ? 3.5 : 10.0;
  case PACK_WALL: return m->d == 2 ? 6.0 : 12.0;
  default: return m->d == 2 ? 2.2 : 3.6;
  }
}

/* Mean of the volume of a grain over that of the largest, and the smallest radius. */
static inline double pack_mean_volume(const PackMember *m, double *least) {
  const double a = *least = m->kind == PACK_SIZES ? 0.25 : 0.7;
  const int p = m->d + 1; /* radii are uniform in [a, 1] */
  return (1.0 - pow(a, p)) / (p * (1.0 - a));
}

static inline void pack_obstacles(const PackMember *m, double width, char *text, size_t size) {
  const size_t at = strlen(text);
  if (m->kind == PACK_DRUM && m->d == 2)
    snprintf(text + at, size - at,
             "obstacles:\n  - {shape: {kind: drum, radius: %.17g}, angular_velocity: 2}\n", width);
  else if (m->kind == PACK_DRUM)
    snprintf(text + at, size - at,
             "obstacles:\n  - {shape: {kind: drum, radius: %.17g, half_length: %.17g}, rotation: "
             "{axis: [1, 0, 0], angle: pi/2}, angular_velocity: [0, 2, 0]}\n",
             width, 0.5 * width);
  else if (m->kind == PACK_WALL)
    snprintf(text + at, size - at, "obstacles:\n  - {shape: {kind: %s}, velocity: [0.05, 0%s]}\n",
             m->d == 2 ? "half-plane" : "half-space", m->d == 2 ? "" : ", 0");
  else {
    const char *in = m->kind == PACK_SHEAR ? "-0.02" : "0";
    if (m->d == 2)
      snprintf(text + at, size - at,
               "obstacles:\n  - {shape: {kind: half-plane}}\n"
               "  - {shape: {kind: half-plane}, position: [0, 0], normal: [1, 0]}\n"
               "  - {shape: {kind: half-plane}, position: [%.17g, 0], normal: [-1, 0], velocity: "
               "[%s, 0]}\n",
               width, in);
    else
      snprintf(text + at, size - at,
               "obstacles:\n  - {shape: {kind: half-space}}\n"
               "  - {shape: {kind: half-space}, position: [0, 0, 0], normal: [1, 0, 0]}\n"
               "  - {shape: {kind: half-space}, position: [%.17g, 0, 0], normal: [-1, 0, 0], "
               "velocity: [%s, 0, 0]}\n"
               "  - {shape: {kind: half-space}, position: [0, 0, 0], normal: [0, 1, 0]}\n"
               "  - {shape: {kind: half-space}, position: [0, %.17g, 0], normal: [0, -1, 0]}\n",
               width, in, width);
  }
}

/* A box [0, width]^(d-1) of the given height, or a drum. */
static inline void pack_region(const PackMember *m, double width, double height, char *text,
                               size_t size) {
  if (m->kind == PACK_DRUM && m->d == 2)
    snprintf(text, size, "{kind: drum, radius: %.17g}", width);
  else if (m->kind == PACK_DRUM)
    snprintf(text, size, "{kind: drum, radius: %.17g, half_length: %.17g, axis: [0, 1, 0]}", width,
             0.5 * width);
  else if (m->d == 2)
    snprintf(text, size, "{kind: box, lower: [0, 0], upper: [%.17g, %.17g]}", width, height);
  else
    snprintf(text, size, "{kind: box, lower: [0, 0, 0], upper: [%.17g, %.17g, %.17g]}", width,
             width, height);
}

static inline void pack_grains(const PackMember *m, double width, double height, char *text,
                               size_t size) {
  char region[512];
  double least;
  const size_t at = strlen(text);
  pack_mean_volume(m, &least);
  pack_region(m, width, height, region, sizeof region);
  const char *shape = m->d == 2 ? "disk, radius: 0.01" : "sphere, radius: 0.01";
  const char *how = "pack";
  char fraction[64] = "";
  if (m->kind == PACK_BLOCKS) {
    how = m->d == 2 ? "fill" : "pack";
    snprintf(fraction, sizeof fraction, "fraction: %s, ", m->d == 2 ? "0.25" : "0.12");
    shape = m->d == 2 ? "polygon, vertices: [[0.01, 0], [0.003, 0.0095], [-0.008, 0.0059], "
                        "[-0.008, -0.0059], [0.003, -0.0095]]"
                      : "box, half_x: 0.008, half_y: 0.006, half_z: 0.005";
  } else {
    /* grains at walls are less dense */
    const double f = m->kind == PACK_DRUM ? (m->d == 2 ? 0.45 : 0.15)
                                          : (m->d == 2 ? 0.76 : 0.54 - 0.8 * pack_radius / width);
    snprintf(fraction, sizeof fraction, "fraction: %g, ", f);
    if (m->kind == PACK_DRUM) how = "fill";
  }
  snprintf(text + at, size - at,
           "generators:\n  - {kind: %s, region: %s, %sshape: {kind: %s}, scale: {min: %g, max: "
           "1}}\n",
           how, region, fraction, shape, least);
}

static inline void pack_scene(const PackMember *m, int contacts, unsigned seed, char *text,
                              size_t size) {
  const double pi = 3.14159265358979323846, bodies = contacts / pack_contacts_per_body(m);
  double least;
  const double share = pack_mean_volume(m, &least), R = pack_radius;
  const double ball = (m->d == 2 ? pi * R * R : 4.0 / 3.0 * pi * R * R * R) * share;
  const double fraction = m->kind == PACK_DRUM     ? (m->d == 2 ? 0.45 : 0.15)
                          : m->kind == PACK_BLOCKS ? (m->d == 2 ? 0.75 : 0.36)
                                                   : (m->d == 2 ? 0.76 : 0.54);
  const double volume = bodies * ball / fraction;
  /* drum: pi w^2 or pi w^3; box: w^d */
  const double width = pow(m->kind == PACK_DRUM ? volume / pi : volume, 1.0 / m->d),
               height = m->kind == PACK_BLOCKS ? 3.0 * width : width; /* they fall in */
  snprintf(
      text, size,
      "dimension: %d\nseed: %u\nmaterials: {sand: {density: 2600}}\ncontact: {mu: %g}\n"
      "time: {step: %g, max_halvings: 0, penetration_limit: 1e30, energy_limit: 1e30}\n"
      "solver: {name: nlgs, tolerance: 1e-4, max_iterations: %d, max_retries: 0, threads: 1}\n",
      m->d, seed, m->mu, pack_step, PACK_SWEEPS);
  pack_obstacles(m, width, text, size);
  if (m->kind == PACK_WALL) {
    const size_t at = strlen(text);
    const int courses = (int)lround(sqrt(bodies)), length = courses;
    snprintf(text + at, size - at,
             "generators:\n  - {kind: wall, brick: [%s], courses: %d, length: %d}\n",
             m->d == 2 ? "0.02, 0.01" : "0.02, 0.01, 0.01", courses, length);
    return;
  }
  pack_grains(m, width, height, text, size);
  if (m->kind == PACK_PLATE) {
    const size_t at = strlen(text);
    const double mass = 3.0 * 2600.0 * bodies * ball, half = 0.5 * width - 0.1 * R;
    if (m->d == 2)
      snprintf(text + at, size - at,
               "bodies:\n  - {shape: {kind: polygon, vertices: [[%.17g, -0.01], [%.17g, -0.01], "
               "[%.17g, 0.01], [%.17g, 0.01]]}, position: [%.17g, %.17g], mass: %.17g}\n",
               -half, half, half, -half, 0.5 * width, height + R, mass);
    else
      snprintf(text + at, size - at,
               "bodies:\n  - {shape: {kind: box, half_x: %.17g, half_y: %.17g, half_z: 0.01}, "
               "position: [%.17g, %.17g, %.17g], mass: %.17g}\n",
               half, half, 0.5 * width, 0.5 * width, height + R, mass);
  }
}

/* ---- settling ---------------------------------------------------------------------------------
 */

static inline scree_Status pack_settle(const PackMember *m, scree_World *world) {
  const bool moves = m->kind == PACK_DRUM || m->kind == PACK_SHEAR || m->kind == PACK_WALL;
  const int steps = m->kind == PACK_WALL ? 20 : PACK_STEPS;
  scree_Status status = SCREE_OK;
  for (int k = 1; k <= steps && !status; ++k) {
    scree_StepReport report;
    if (!moves && 2 * k > steps) status = damp_velocities(world, pack_damping);
    if (!status) status = scree_world_step(world, &report);
    if (status == SCREE_NOT_CONVERGED) status = SCREE_OK;
  }
  return status;
}

/* What a packing holds: destroy the problem, then the rest. */
typedef struct Pack {
  scree_Problem problem;
  scree_World *world; /* null: the problem owns its arrays */
  scree_Scene *scene;
} Pack;

static inline void pack_destroy(Pack *pack) {
  if (!pack->world) scree_problem_destroy(&pack->problem);
  scree_world_destroy(pack->world);
  scree_scene_destroy(pack->scene);
}

static inline scree_Status pack_simulate(const PackMember *m, int contacts, unsigned seed,
                                         Pack *pack) {
  char text[PACK_TEXT];
  const scree_Problem *posed;
  pack_scene(m, contacts, seed, text, sizeof text);
  scree_Status status =
      scree_scene_parse(text, strlen(text), m->name, NULL, &pack_log, &pack->scene);
  if (!status) status = scree_scene_build(pack->scene, &pack_log, &pack->world);
  if (!status) status = pack_settle(m, pack->world);
  if (!status) status = scree_world_problem(pack->world, &posed, NULL, NULL, NULL);
  if (!status) pack->problem = *posed; /* a view: it is valid as long as the world */
  return status;
}

/* A packing of about so many contacts; kept as an FCLIB file in the folder `cache` (null: not kept)
 * and read from there the next time. */
static inline scree_Status pack_make(const PackMember *m, int contacts, unsigned seed,
                                     const char *cache, Pack *pack) {
  *pack = (Pack){0};
  if (m->kind == PACK_PILE) {
    const double n = m->d == 2 ? sqrt(contacts / 2.9) : cbrt(contacts / 5.5);
    return pile_create(m->d, (int)lround(fmax(n, 2.0)), m->mu, false, &pack->problem, &pack_log);
  }
  char path[1024];
  if (cache) {
    mkdir(cache, 0777);
    snprintf(path, sizeof path, "%s/pack-%d-%dd-%d-%u.hdf5", cache, (int)m->kind, m->d, contacts,
             seed);
    FILE *file = fopen(path, "rb");
    if (file) {
      fclose(file);
      return scree_fclib_read(path, &pack->problem, NULL, &pack_log);
    }
  }
  scree_Status status = pack_simulate(m, contacts, seed, pack);
  if (status || !cache) return status;
  status = scree_fclib_write(path, &pack->problem, m->name, NULL, NULL, &pack_log);
  pack_destroy(pack);
  *pack = (Pack){0};
  return status ? status : scree_fclib_read(path, &pack->problem, NULL, &pack_log);
}

#endif

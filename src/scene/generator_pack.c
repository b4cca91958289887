/* The generator `pack`: bodies of given sizes, as many as fill a region to the fraction asked for,
 * at random places, pushed apart until none overlaps (packing.h).
 *
 * Sizes are drawn one from each of n equal shares of the distribution, in random order, so that few
 * large bodies of a sieve curve have the mass they should have.
 *
 * Balls start at their full size. Other bodies start at a part of it and grow, because the depth
 * and the normal of two bodies that overlap deeply say little about where there is room. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/packing.h"
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Iterations in which densities up to 0.5 % below jamming are reached, in both dimensions; growth
 * by a fifth of the volume at a time, with fewer iterations. */
enum { STAGES = 16 };
static const int ITERATIONS = SCREE_MOST_GENERATED < 1e6 ? 100 : 20000; /* few in fuzz targets */
static const int ITERATIONS_SMALL = SCREE_MOST_GENERATED < 1e6 ? 5 : 500;

/* Streams of random numbers besides those of the bodies, whose index is their number. */
#define STREAM_SIZES (UINT64_C(1) << 40)

typedef struct Pack {
  scree_Scene *scene;
  const scree_Node *node;
  const scree_Log *log;
  int generator;
  const scree_Grain *grain;
  const scree_Region *region;
  double fraction, target; /* target: volume */
  int count;
  double *scales;    /* (count) */
  size_t first;      /* body of the scene */
  scree_Shape *work; /* (count + others) shapes as they are now */
  scree_Pose *poses;
  int others; /* bodies and obstacles that stay */
  scree_RegionWalls walls;
} Pack;

/* ---- sizes ----------------------------------------------------------------------------------- */

static double volume_of(const Pack *pack, double scale) {
  const double area = scale * scale;
  return pack->grain->shape.volume * (pack->scene->dimension == 3 ? area * scale : area);
}

/* n sizes, and their volume. */
static double draw_sizes(const Pack *pack, int n, double *scales) {
  scree_Random random =
      scree_random(pack->scene->seed, (uint64_t)pack->generator, STREAM_SIZES + (uint64_t)n);
  double sum = 0;
  for (int k = 0; k < n; ++k) {
    scales[k] =
        pack->grain->scale.kind == SCREE_DISTRIBUTION_NORMAL
            ? scree_random_from(&random, &pack->grain->scale)
            : scree_distribution_at(&pack->grain->scale, (k + scree_random_real(&random)) / n);
    sum += volume_of(pack, scales[k]);
  }
  for (int k = n - 1; k > 0; --k) {
    const int j = (int)(scree_random_real(&random) * (k + 1));
    const double swap = scales[k];
    scales[k] = scales[j];
    scales[j] = swap;
  }
  return sum;
}

/* The number of bodies whose volume is nearest to the target. */
static scree_Status choose_sizes(Pack *pack) {
  enum { SAMPLE = 4096, TRIALS = 8 };
  size_t capacity = 0;
  void *array = NULL;
  if (!scree_grow(&array, &capacity, SAMPLE, sizeof *pack->scales))
    return scree_fail_memory(pack->log, "the packing");
  pack->scales = array;
  double n = SAMPLE * pack->target / draw_sizes(pack, SAMPLE, pack->scales);
  double least = INFINITY;
  int best = 0;
  for (int trial = 0; trial < TRIALS; ++trial) {
    if (!(n >= 0.5 && n <= SCREE_MOST_GENERATED))
      return scree_scene_refuse(pack->scene, pack->node, pack->log,
                                "fraction: %g of the region is about %.3g bodies, expected 1 to %g",
                                pack->fraction, n, (double)SCREE_MOST_GENERATED);
    const int count = (int)floor(n + 0.5);
    if (!scree_grow(&array, &capacity, (size_t)count, sizeof *pack->scales))
      return scree_fail_memory(pack->log, "the packing");
    pack->scales = array;
    const double volume = draw_sizes(pack, count, pack->scales);
    if (fabs(volume - pack->target) < least) {
      least = fabs(volume - pack->target);
      best = count;
    }
    const double next = fmax(1, count * pack->target / volume);
    if (floor(next + 0.5) == count) break;
    n = next;
  }
  draw_sizes(pack, best, pack->scales);
  pack->count = best;
  return SCREE_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* A place in the region where the body's bounding ball fits, or after many trials its centre. */
static scree_Vec3 random_place(const scree_Region *region, scree_Random *random, double radius) {
  const scree_Vec3 size = scree_sub(region->upper, region->lower);
  scree_Vec3 x = scree_axpy(region->lower, 0.5, size);
  for (int trial = 0; trial < 1000; ++trial) {
    scree_Vec3 c = region->lower;
    c.x += size.x * scree_random_real(random);
    c.y += size.y * scree_random_real(random);
    if (region->dimension == 3) c.z += size.z * scree_random_real(random);
    if (scree_region_holds(region, c, trial < 500 ? radius : 0)) return c;
  }
  return x;
}

/* Bodies are numbered along rows of cells of two diameters, so that those that touch are near each
 * other in memory: with numbers at random, sweeps over 10^5 spheres took 1.4 times as long. */
typedef struct Place {
  double cell; /* number of the cell */
  int body;
} Place;

static int compare_places(const void *a, const void *b) {
  const Place *x = a, *y = b;
  return x->cell < y->cell ? -1 : x->cell > y->cell ? 1 : (x->body > y->body) - (x->body < y->body);
}

static double cell_of(const Pack *pack, scree_Vec3 x, double size) {
  const scree_Vec3 a = scree_sub(x, pack->region->lower);
  const scree_Vec3 all = scree_sub(pack->region->upper, pack->region->lower);
  const double nx = 1 + floor(all.x / size), ny = 1 + floor(all.y / size);
  return floor(a.x / size) + nx * (floor(a.y / size) + ny * floor(a.z / size));
}

static scree_Status sort_bodies(Pack *pack) {
  scree_SceneBody *bodies = pack->scene->bodies + pack->first;
  const int n = pack->count;
  double largest = 0;
  Place *places = SCREE_ALLOC(Place, n);
  scree_SceneBody *sorted = SCREE_ALLOC(scree_SceneBody, n);
  if (places && sorted) {
    for (int k = 0; k < n; ++k) largest = fmax(largest, bodies[k].shape.bounding_radius);
    for (int k = 0; k < n; ++k)
      places[k] = (Place){cell_of(pack, bodies[k].def.pose.position, 4 * largest), k};
    qsort(places, (size_t)n, sizeof *places, compare_places);
    for (int k = 0; k < n; ++k) sorted[k] = bodies[places[k].body];
    memcpy(bodies, sorted, (size_t)n * sizeof *bodies);
  }
  const bool enough = places && sorted;
  scree_free(places);
  scree_free(sorted);
  return enough ? SCREE_OK : scree_fail_memory(pack->log, "the packing");
}

static scree_Status make_bodies(Pack *pack) {
  scree_Scene *scene = pack->scene;
  const bool rubble = pack->grain->rubble.given; /* each has a volume of its own */
  double volume = 0, one = 0;
  int k = 0;
  pack->first = scene->kept;
  for (; rubble ? volume + 0.5 * one < pack->target : k < pack->count; ++k) {
    scree_Random random = scree_random(scene->seed, (uint64_t)pack->generator, (uint64_t)k);
    const double scale =
        k < pack->count ? pack->scales[k] : scree_random_from(&random, &pack->grain->scale);
    scree_SceneBody body;
    scree_Status status = scree_grain_body(scene, pack->grain, scale, &random, &body, pack->log);
    if (status != SCREE_OK) return status;
    volume += body.shape.volume;
    one = volume / (k + 1);
    body.def.pose.position = random_place(pack->region, &random, body.shape.bounding_radius);
    status = scree_scene_add(scene, &body, pack->log);
    if (status != SCREE_OK) return status;
  }
  pack->count = k;
  return sort_bodies(pack);
}

/* Bodies and obstacles that are there already and may reach into the region. */
static bool is_near(const Pack *pack, const scree_SceneBody *body) {
  const scree_Aabb box = scree_shape_aabb(&body->shape, &body->def.pose);
  const scree_Vec3 a = pack->region->lower, b = pack->region->upper;
  return box.lower.x <= b.x && box.upper.x >= a.x && box.lower.y <= b.y && box.upper.y >= a.y &&
         (pack->scene->dimension == 2 || (box.lower.z <= b.z && box.upper.z >= a.z));
}

static scree_Status gather(Pack *pack) {
  const scree_Scene *scene = pack->scene;
  for (size_t k = 0; k < pack->first; ++k) pack->others += is_near(pack, &scene->bodies[k]);
  pack->work = SCREE_ALLOC(scree_Shape, pack->count + pack->others);
  pack->poses = SCREE_ALLOC(scree_Pose, pack->count + pack->others);
  if (!pack->work || !pack->poses) return scree_fail_memory(pack->log, "the packing");
  for (int k = 0; k < pack->count; ++k)
    pack->poses[k] = scene->bodies[pack->first + (size_t)k].def.pose;
  int n = pack->count;
  for (size_t k = 0; k < pack->first; ++k) {
    if (!is_near(pack, &scene->bodies[k])) continue;
    scree_shape_copy(&scene->bodies[k].shape, &pack->work[n]);
    pack->poses[n++] = scene->bodies[k].def.pose;
  }
  return scree_region_walls(pack->region, &pack->walls, pack->log);
}

/* The moving bodies at a share of their size. */
static scree_Status set_scale(Pack *pack, double share) {
  scree_Status status = SCREE_OK;
  for (int k = 0; k < pack->count && status == SCREE_OK; ++k) {
    const scree_Shape *full = &pack->scene->bodies[pack->first + (size_t)k].shape;
    scree_Shape shape;
    status = scree_scene_scale_shape(full, share, &shape, pack->log);
    if (status != SCREE_OK) break;
    scree_shape_fini(&pack->work[k]);
    pack->work[k] = shape;
  }
  return status;
}

static scree_Status push_apart(Pack *pack, double *deepest) {
  const scree_Packing packing = {.dimension = pack->scene->dimension,
                                 .count = pack->count + pack->others,
                                 .moving = pack->count,
                                 .shapes = pack->work,
                                 .poses = pack->poses,
                                 .wall_count = pack->walls.count,
                                 .walls = pack->walls.shapes,
                                 .wall_poses = pack->walls.poses,
                                 .turn = pack->grain->turn};
  const int stages = scree_shape_is_ball(&pack->grain->shape) ? 1 : STAGES;
  scree_Status status = SCREE_OK;
  for (int stage = 1; stage <= stages && status == SCREE_OK; ++stage) {
    /* equal steps of the volume */
    const double share = (double)stage / stages;
    const double scale = stage == stages               ? 1
                         : pack->scene->dimension == 3 ? cbrt(share)
                                                       : sqrt(share);
    status = set_scale(pack, scale);
    if (status == SCREE_OK)
      status = scree_packing_relax(&packing, stage == stages ? ITERATIONS : ITERATIONS_SMALL,
                                   deepest, pack->log);
  }
  return status;
}

static scree_Status relax(Pack *pack) {
  double deepest = 0;
  scree_Status status = gather(pack);
  if (status == SCREE_OK) status = push_apart(pack, &deepest);
  if (status == SCREE_OK && deepest > 0) {
    const double scale = fmax(0, 1 - deepest);
    const double reached =
        pack->fraction * scale * scale * (pack->scene->dimension == 3 ? scale : 1);
    return scree_scene_refuse(pack->scene, pack->node, pack->log,
                              "fraction: found %g, at which these bodies overlap; about %.2g is "
                              "possible here: ask for less, or for smaller or less equal bodies",
                              pack->fraction, reached);
  }
  for (int k = 0; k < pack->count && status == SCREE_OK; ++k)
    pack->scene->bodies[pack->first + (size_t)k].def.pose = pack->poses[k];
  return status;
}

scree_Status scree_scene_generate_pack(scree_Scene *scene, const scree_Node *node, int generator,
                                       const scree_Grain *grain, const scree_Region *region,
                                       const scree_Log *log) {
  Pack pack = {.scene = scene,
               .node = node,
               .log = log,
               .generator = generator,
               .grain = grain,
               .region = region};
  pack.fraction = scree_node_is(node, "fraction", "auto") ? scene->dimension == 3 ? 0.6 : 0.8
                                                          : scree_node_number(node, "fraction");
  pack.target = pack.fraction * region->volume;
  scree_Status status = choose_sizes(&pack);
  if (status == SCREE_OK) status = make_bodies(&pack);
  if (status == SCREE_OK) status = relax(&pack);
  if (pack.work)
    for (int k = 0; k < pack.count + pack.others; ++k) scree_shape_fini(&pack.work[k]);
  scree_region_walls_fini(&pack.walls);
  scree_free(pack.work);
  scree_free(pack.poses);
  scree_free(pack.scales);
  return status;
}

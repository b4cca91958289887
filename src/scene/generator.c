/* Generators (see docs/SCENES.md): lattice, fill and wall make the bodies of the start (pack is in
 * generator_pack.c, csv in generator_csv.c, arch, vault and dome in generator_masonry.c); pour is
 * only read here, and its bodies are made while the world runs (scene_build.c). Bodies of a lattice
 * or fill are tested for overlap with all earlier bodies, through a grid of cells as wide as the
 * largest of them (generator_place.h); overlapping bodies of a lattice are an error, a fill omits
 * them. Random choices depend on (seed, number of the generator, number of the body) alone.
 */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/composite.h"
#include "math/vec3.h"
#include "scene/generator_place.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void find_deepest(void *user, const scree_ManifoldPoint *point) {
  double *deepest = user;
  *deepest = fmin(*deepest, point->gap);
}

bool scree_scene_overlap(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                         const scree_Pose *pb) {
  double deepest = 0.0;
  scree_collide_each(a, pa, b, pb, 0.0, find_deepest, &deepest);
  return deepest < -1e-9 * fmin(a->size, b->size);
}

/* ---- grains ---------------------------------------------------------------------------------- */

/* x^-n by multiplication: the same bits everywhere. */
static double inverse_power(double x, int n) {
  double value = 1;
  for (int k = 0; k < n; ++k) value /= x;
  return value;
}

/* Shares of a mixture or of a sieve curve become shares of the number of bodies. By mass a size x
 * has a share m x^-d of the number: between two sieves, where the mass is spread evenly over the
 * sizes, the density of the number goes like x^-d, and its integral follows. */
static scree_Status read_sizes(const scree_Scene *scene, const scree_Node *scale,
                               const scree_Log *log, scree_Distribution *out) {
  const scree_Node *sizes = scree_node_find(scale, "sizes");
  const scree_Node *shares = scree_node_find(scale, "shares");
  const bool sieve = out->kind == SCREE_DISTRIBUTION_SIEVE;
  const int d = scree_node_is(scale, "by", "number") ? 0 : scene->dimension;
  const int least = sieve ? 2 : 1;
  if (!sizes || !shares || sizes->count != shares->count || sizes->count < least ||
      sizes->count > SCREE_SIZES_MAX)
    return scree_scene_refuse(scene, scale, log,
                              "scale: expected sizes and shares, %d to %d of each", least,
                              SCREE_SIZES_MAX);
  double sum = 0, before = 0;
  out->count = sizes->count;
  out->exponent = d;
  out->min = INFINITY;
  out->max = 0;
  for (int k = 0; k < out->count; ++k) {
    const double x = sizes->entries[k].value->number, share = shares->entries[k].value->number;
    const double last = k > 0 ? out->sizes[k - 1] : 0;
    if (!(x > 0) || (sieve && !(x > last)))
      return scree_scene_refuse(scene, sizes, log, "scale.sizes: expected numbers above 0%s",
                                sieve ? ", in ascending order" : "");
    if (!(share >= 0) || (sieve && !(share >= before && share <= 1)))
      return scree_scene_refuse(scene, shares, log, "scale.shares: expected numbers %s",
                                sieve ? "from 0 to 1 that do not decrease" : "of at least 0");
    double weight = share * inverse_power(x, d);
    if (sieve && k > 0)
      weight =
          (share - before) / (x - last) *
          (d == 0 ? x - last : (inverse_power(last, d - 1) - inverse_power(x, d - 1)) / (d - 1));
    out->sizes[k] = x;
    out->weights[k] = weight;
    sum += weight;
    before = share;
    out->min = fmin(out->min, x);
    out->max = fmax(out->max, x);
  }
  if (!(sum > 0)) return scree_scene_refuse(scene, shares, log, "scale.shares: all are 0");
  for (int k = 0; k < out->count; ++k) out->weights[k] /= sum;
  return SCREE_OK;
}

/* A distribution of the mass becomes one of the number, by the factor x^-d. */
static void count_mass(scree_Distribution *scale, int d) {
  if (scale->kind == SCREE_DISTRIBUTION_UNIFORM) scale->exponent = d;
  if (scale->kind == SCREE_DISTRIBUTION_POWER) scale->exponent += d;
  if (scale->kind == SCREE_DISTRIBUTION_UNIFORM) scale->kind = SCREE_DISTRIBUTION_POWER;
  if (scale->kind == SCREE_DISTRIBUTION_NORMAL) scale->rarer = d;
}

static scree_Status read_grain(const scree_Scene *scene, const scree_Node *map,
                               const scree_Log *log, scree_Grain *grain) {
  static const char *const names[] = {"constant", "uniform", "normal", "power", "mixture", "sieve"};
  const scree_Node *scale = scree_node_find(map, "scale");
  *grain =
      (scree_Grain){.def = scree_body_def(), .turn = scree_node_is(map, "orientation", "random")};
  for (int k = 0; k < 6; ++k)
    if (scree_node_is(scale, "distribution", names[k]))
      grain->scale.kind = (scree_DistributionKind)k;
  grain->scale.min = scree_node_number(scale, "min");
  grain->scale.max = scree_node_number(scale, "max");
  grain->scale.mean = scree_node_number(scale, "mean");
  grain->scale.deviation = scree_node_number(scale, "deviation");
  grain->scale.exponent = scree_node_number(scale, "exponent");
  if (grain->scale.kind == SCREE_DISTRIBUTION_CONSTANT) grain->scale.min = grain->scale.max = 1;
  if (grain->scale.kind >= SCREE_DISTRIBUTION_MIXTURE &&
      read_sizes(scene, scale, log, &grain->scale) != SCREE_OK)
    return SCREE_BAD_INPUT;
  if (scree_node_is(scale, "by", "mass")) count_mass(&grain->scale, scene->dimension);
  if (grain->scale.min > grain->scale.max)
    return scree_scene_refuse(scene, map, log, "scale: found min %g > max %g", grain->scale.min,
                              grain->scale.max);
  scree_Status status = scree_scene_matter(scene, map, log, &grain->def);
  if (status != SCREE_OK) return status;
  grain->def.velocity = (scree_Twist){scree_scene_vector(map, "velocity"),
                                      scree_scene_vector(map, "angular_velocity")};
  const scree_Node *shape = scree_node_find(map, "shape");
  grain->rubble = scree_rubble_read(shape);
  status = scree_scene_shape(scene, shape, 1.0, log, &grain->shape);
  if (status == SCREE_OK && !(grain->shape.volume > 0)) {
    status = scree_scene_refuse(scene, shape, log, "a %s cannot be generated: it has no volume",
                                scree_node_text(shape, "kind"));
    scree_shape_fini(&grain->shape);
  }
  return status;
}

scree_Status scree_grain_make(const scree_Scene *scene, const scree_Grain *grain, int generator,
                              uint64_t index, scree_Random *random, scree_SceneBody *body,
                              const scree_Log *log) {
  *random = scree_random(scene->seed, (uint64_t)generator, index);
  const double scale = scree_random_from(random, &grain->scale);
  return scree_grain_body(scene, grain, scale, random, body, log);
}

scree_Status scree_grain_body(const scree_Scene *scene, const scree_Grain *grain, double scale,
                              scree_Random *random, scree_SceneBody *body, const scree_Log *log) {
  *body = (scree_SceneBody){.def = grain->def};
  if (grain->turn) body->def.pose.orientation = scree_random_orientation(random, scene->dimension);
  if (grain->rubble.given)
    return scree_rubble_make(&grain->rubble, random, scale, &body->shape, log);
  return scree_scene_scale_shape(&grain->shape, scale, &body->shape, log);
}

static double largest_radius(const scree_Grain *grain) {
  return grain->scale.max * grain->shape.bounding_radius;
}

/* ---- lattices -------------------------------------------------------------------------------- */

/* Centre of cell (i, j, k), k the layer along the vertical (y in 2D, z in 3D). */
static scree_Vec3 cell_centre(int dimension, bool hexagonal, scree_Vec3 origin, scree_Vec3 spacing,
                              long i, long j, long k) {
  if (dimension == 2) {
    const double x = (double)i + (hexagonal && (k & 1) ? 0.5 : 0.0);
    return scree_vec3(origin.x + spacing.x * x,
                      origin.y + spacing.y * (hexagonal ? sqrt(0.75) : 1.0) * (double)k, 0);
  }
  if (!hexagonal)
    return scree_vec3(origin.x + spacing.x * (double)i, origin.y + spacing.y * (double)j,
                      origin.z + spacing.z * (double)k);
  /* close packing: rows shifted by half, layers by a third of a row */
  const double x = (double)i + ((j + k) & 1 ? 0.5 : 0.0);
  const double y = sqrt(0.75) * ((double)j + (k & 1 ? 1.0 / 3.0 : 0.0));
  return scree_vec3(origin.x + spacing.x * x, origin.y + spacing.y * y,
                    origin.z + spacing.z * sqrt(2.0 / 3.0) * (double)k);
}

typedef struct Lattice {
  scree_Scene *scene;
  const scree_Node *node;
  const scree_Log *log;
  int generator;
  scree_Grain grain;
  scree_Region region;
  scree_Vec3 origin, spacing;
  bool hexagonal, may_skip;
  double jitter; /* m */
  long count[3]; /* along x, across, up */
  double target; /* volume to reach, INFINITY: all cells */
  scree_Place *place;
} Lattice;

/* Make the body of a cell if it fits; *volume grows by its own. */
static scree_Status fill_cell(Lattice *lattice, uint64_t index, scree_Vec3 centre, double *volume) {
  scree_Scene *scene = lattice->scene;
  scree_SceneBody body;
  scree_Random random;
  scree_Status status = scree_grain_make(scene, &lattice->grain, lattice->generator, index, &random,
                                         &body, lattice->log);
  if (status != SCREE_OK) return status;
  if (lattice->jitter > 0)
    centre = scree_axpy(centre, lattice->jitter, scree_random_in_ball(&random, scene->dimension));
  body.def.pose.position = centre;
  if (!scree_region_holds(&lattice->region, centre, body.shape.bounding_radius)) {
    scree_shape_fini(&body.shape);
    return SCREE_OK;
  }
  const int blocker = scree_place_blocker(lattice->place, scene, &body);
  if (blocker >= 0) {
    const bool turned = lattice->grain.turn && !scree_shape_is_ball(&body.shape);
    scree_shape_fini(&body.shape);
    if (lattice->may_skip) return SCREE_OK;
    const char *name = scene->bodies[blocker].name;
    const int number = scree_scene_kept_number(scene, (size_t)blocker);
    return scree_scene_refuse(
        scene, lattice->node, lattice->log,
        "body %llu of the lattice, at (%g, %g, %g), overlaps %s %d%s%.60s%s",
        (unsigned long long)index, centre.x, centre.y, centre.z,
        scene->bodies[blocker].def.obstacle ? "obstacle" : "body", number, name ? ", " : "",
        name ? name : "", turned ? "; it is turned at random (orientation: fixed leaves it)" : "");
  }
  *volume += body.shape.volume;
  status = scree_scene_add(scene, &body, lattice->log);
  if (status == SCREE_OK && !scree_place_add(lattice->place, scene, (int)scene->kept - 1))
    status = scree_fail_memory(lattice->log, "the places of bodies");
  return status;
}

static scree_Status begin_places(Lattice *lattice, const scree_Aabb *window) {
  scree_place_destroy(lattice->place);
  lattice->place = scree_place_create(lattice->scene, 2 * largest_radius(&lattice->grain), window);
  return lattice->place ? SCREE_OK : scree_fail_memory(lattice->log, "the places of bodies");
}

/* Drop bodies of other ranks, except those that layers from `next` on might overlap. */
static scree_Status drop_layers(Lattice *lattice, long next) {
  const scree_Scene *scene = lattice->scene;
  const double up = scene->dimension == 2 ? lattice->spacing.y : lattice->spacing.z;
  if (!scree_scene_is_full(scene) || !(up > 0)) return SCREE_OK;
  const double reach = largest_radius(&lattice->grain) * (1 + 1e-9) + lattice->jitter;
  const scree_Vec3 layer = cell_centre(scene->dimension, lattice->hexagonal, lattice->origin,
                                       lattice->spacing, 0, 0, next);
  scree_Aabb window = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  if (scene->dimension == 2)
    window.lower.y = layer.y - reach;
  else
    window.lower.z = layer.z - reach;
  const scree_Status status = scree_scene_thin(lattice->scene, &window, lattice->log);
  return status == SCREE_OK ? begin_places(lattice, &window) : status;
}

static scree_Status fill_lattice(Lattice *lattice, double *volume) {
  const long *n = lattice->count;
  uint64_t index = 0;
  *volume = 0;
  scree_Status status = begin_places(lattice, NULL);
  for (long k = 0; k < n[2] && status == SCREE_OK; ++k) {
    for (long j = 0; j < n[1] && status == SCREE_OK; ++j)
      for (long i = 0; i < n[0] && status == SCREE_OK && *volume < lattice->target; ++i)
        status = fill_cell(lattice, index++,
                           cell_centre(lattice->scene->dimension, lattice->hexagonal,
                                       lattice->origin, lattice->spacing, i, j, k),
                           volume);
    if (status == SCREE_OK) status = drop_layers(lattice, k + 1);
  }
  scree_place_destroy(lattice->place);
  return status;
}

/* Spacing at which bodies of the largest size, moved by the jitter, just do not touch. */
static double closest_spacing(const scree_Grain *grain, double jitter) {
  return 2 * largest_radius(grain) * (1 + 1e-6) / (1 - 2 * jitter);
}

static scree_Status make_lattice(Lattice *lattice) {
  const scree_Node *node = lattice->node, *count = scree_node_find(node, "count");
  const int d = lattice->scene->dimension;
  const double jitter = scree_node_number(node, "jitter");
  if (!count || count->count != d)
    return scree_scene_refuse(lattice->scene, count ? count : node, lattice->log,
                              "count: expected %d integers, one for each axis", d);
  lattice->hexagonal = scree_node_is(node, "arrangement", "hexagonal");
  lattice->origin = scree_scene_vector(node, "origin");
  const double spacing = closest_spacing(&lattice->grain, jitter);
  lattice->spacing = scree_node_is(node, "spacing", "auto") ? scree_vec3(spacing, spacing, spacing)
                                                            : scree_scene_vector(node, "spacing");
  lattice->jitter = jitter * fmin(lattice->spacing.x, lattice->spacing.y);
  if (d == 3) lattice->jitter = fmin(lattice->jitter, jitter * lattice->spacing.z);
  double total = 1;
  for (int k = 0; k < d; ++k) total *= count->entries[k].value->number;
  if (total > SCREE_MOST_GENERATED)
    return scree_scene_refuse(lattice->scene, count, lattice->log,
                              "count: found %g bodies, expected at most %g", total,
                              SCREE_MOST_GENERATED);
  lattice->count[0] = (long)count->entries[0].value->number;
  lattice->count[1] = d == 3 ? (long)count->entries[1].value->number : 1;
  lattice->count[2] = (long)count->entries[d - 1].value->number;
  lattice->target = INFINITY;
  /* all at once: growing a list of many bodies step by step takes longer than making them */
  if (lattice->region.kind == SCREE_REGION_NONE &&
      !scree_scene_expect_more(lattice->scene, (size_t)total,
                               (size_t)lattice->count[0] * (size_t)lattice->count[1]))
    return scree_fail_memory(lattice->log, "the bodies of the scene");
  double volume;
  return fill_lattice(lattice, &volume);
}

static scree_Status make_fill(Lattice *lattice) {
  const scree_Region *region = &lattice->region;
  const int d = lattice->scene->dimension;
  const double jitter = scree_node_number(lattice->node, "jitter");
  const double fraction = scree_node_number(lattice->node, "fraction");
  const double spacing = closest_spacing(&lattice->grain, jitter);
  const double margin = largest_radius(&lattice->grain) * (1 + 1e-6) + jitter * spacing;
  const scree_Vec3 size = scree_sub(region->upper, region->lower);
  lattice->hexagonal = lattice->may_skip = true;
  lattice->jitter = jitter * spacing;
  lattice->spacing = scree_vec3(spacing, spacing, spacing);
  lattice->origin =
      scree_vec3(region->lower.x + margin, region->lower.y + margin, region->lower.z + margin);
  const double n[3] = {size.x / spacing + 1, d == 3 ? size.y / spacing / sqrt(0.75) + 1 : 1,
                       d == 3 ? size.z / spacing / sqrt(2.0 / 3.0) + 1
                              : size.y / spacing / sqrt(0.75) + 1};
  if (!(n[0] * n[1] * n[2] < 2 * SCREE_MOST_GENERATED))
    return scree_scene_refuse(lattice->scene, lattice->node, lattice->log,
                              "the region has room for about %.2g bodies, expected at most %g",
                              n[0] * n[1] * n[2], 2 * SCREE_MOST_GENERATED);
  for (int k = 0; k < 3; ++k) lattice->count[k] = (long)ceil(n[k]);
  /* half a body below the target is as near as half a body above */
  const double one = lattice->grain.shape.volume * pow(lattice->grain.scale.min, d);
  lattice->target = fraction * region->volume - 0.5 * one;
  if (!(lattice->target > 0))
    return scree_scene_refuse(lattice->scene, lattice->node, lattice->log,
                              "fraction: %g of the region is less than half a body", fraction);
  double volume = 0;
  scree_Status status = fill_lattice(lattice, &volume);
  if (status == SCREE_OK && volume < lattice->target)
    return scree_scene_refuse(
        lattice->scene, lattice->node, lattice->log,
        "fraction: bodies of this size fill at most %.3g of the region, found "
        "%g: ask for less, use smaller or more equal bodies, or the generator pack, which fills a "
        "region more densely",
        volume / region->volume, fraction);
  return status;
}

/* ---- walls ------------------------------------------------------------------------ */

/* Add a body at a place, with matter and velocity of `def`. */
static scree_Status add_block(scree_Scene *scene, const scree_BodyDef *def,
                              const scree_Shape *shape, scree_Vec3 position, const scree_Log *log) {
  scree_SceneBody body = {.shape = *shape, .def = *def};
  body.def.pose.position = scree_add(position, scree_shape_frame(shape).position);
  return scree_scene_add(scene, &body, log);
}

static scree_Status add_brick(scree_Scene *scene, const scree_BodyDef *def, scree_Vec3 lower,
                              scree_Vec3 size, const scree_Log *log) {
  scree_Shape shape;
  scree_Status status;
  if (scene->dimension == 2) {
    const double x = 0.5 * size.x, y = 0.5 * size.y;
    const scree_Vec3 corners[4] = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
    status = scree_shape_init(&shape, SCREE_SHAPE_POLYGON, NULL, corners, 4, log);
  } else {
    status = scree_shape_init_box(&shape, 0.5 * size.x, 0.5 * size.y, 0.5 * size.z, log);
  }
  if (status != SCREE_OK) return status;
  return add_block(scene, def, &shape, scree_axpy(lower, 0.5, size), log);
}

/* Odd courses start and end with half a brick. */
static scree_Status make_wall(scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  const scree_Vec3 origin = scree_scene_vector(node, "origin");
  const scree_Vec3 brick = scree_scene_vector(node, "brick");
  const double joint = scree_node_number(node, "joint"), pitch = brick.x + joint;
  const int courses = (int)scree_node_number(node, "courses");
  const int length = (int)scree_node_number(node, "length");
  scree_BodyDef def = scree_body_def();
  scree_Status status = scree_scene_matter(scene, node, log, &def);
  if (status == SCREE_OK && (double)courses * length > SCREE_MOST_GENERATED)
    status =
        scree_scene_refuse(scene, node, log, "a wall of more than %g bricks", SCREE_MOST_GENERATED);
  if (status == SCREE_OK && !(joint < brick.x))
    status =
        scree_scene_refuse(scene, node, log, "joint: found %g, expected less than a brick", joint);
  def.velocity.linear = scree_scene_vector(node, "velocity");
  for (int course = 0; course < courses && status == SCREE_OK; ++course) {
    const bool odd = course & 1;
    for (int k = 0; k < length + odd && status == SCREE_OK; ++k) {
      scree_Vec3 lower = origin, size = brick;
      if (scene->dimension == 2)
        lower.y += course * brick.y;
      else
        lower.z += course * brick.z;
      lower.x += odd && k > 0 ? (k - 0.5) * pitch : k * pitch;
      if (odd && (k == 0 || k == length)) size.x = 0.5 * (brick.x - joint);
      status = add_brick(scene, &def, lower, size, log);
    }
  }
  return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static scree_Status read_pour(scree_Scene *scene, Lattice *lattice) {
  scree_Pour *pour = &scene->pours[scene->pour_count];
  *pour = (scree_Pour){.generator = lattice->generator,
                       .grain = lattice->grain,
                       .region = lattice->region,
                       .count = (int)scree_node_number(lattice->node, "count"),
                       .rate = scree_node_number(lattice->node, "rate"),
                       .start = scree_node_number(lattice->node, "start")};
  const scree_Vec3 size = scree_sub(pour->region.upper, pour->region.lower);
  const double widest = 2 * largest_radius(&pour->grain);
  if (!(widest < size.x && widest < size.y && (scene->dimension == 2 || widest < size.z)))
    return scree_scene_refuse(scene, lattice->node, lattice->log,
                              "region: the largest body is %g across, expected a wider region",
                              widest);
  ++scene->pour_count; /* now the scene owns the grain's shape */
  return SCREE_OK;
}

static scree_Status generate(scree_Scene *scene, int generator, scree_Node *node,
                             const scree_Log *log) {
  if (scree_node_is(node, "kind", "csv")) return scree_scene_generate_csv(scene, node, log);
  if (scree_node_is(node, "kind", "wall")) return make_wall(scene, node, log);
  if (scree_node_is(node, "kind", "arch") || scree_node_is(node, "kind", "vault") ||
      scree_node_is(node, "kind", "dome"))
    return scree_scene_generate_masonry(scene, node, log);
  Lattice lattice = {.scene = scene, .node = node, .log = log, .generator = generator};
  scree_Node *region = scree_node_find(node, "region");
  scree_Status status = region && scree_node_is(region, "kind", "mesh")
                            ? scree_region_read_mesh(scene, region, log, &lattice.region)
                            : scree_region_read(scene, region, log, &lattice.region);
  if (status == SCREE_OK) status = read_grain(scene, node, log, &lattice.grain);
  if (status != SCREE_OK) return status;
  if (scree_node_is(node, "kind", "pour")) {
    status = read_pour(scene, &lattice);
    if (status == SCREE_OK) return SCREE_OK;
  } else if (scree_node_is(node, "kind", "fill")) {
    status = make_fill(&lattice);
  } else if (scree_node_is(node, "kind", "pack")) {
    status =
        scree_scene_generate_pack(scene, node, generator, &lattice.grain, &lattice.region, log);
  } else {
    status = make_lattice(&lattice);
  }
  scree_shape_fini(&lattice.grain.shape);
  return status;
}

scree_Status scree_scene_generate(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "generators");
  scene->pours = SCREE_ALLOC(scree_Pour, list->count);
  scene->region_mesh = SCREE_ALLOC(struct scree_TriangleMesh *, list->count);
  if (!scene->pours || !scene->region_mesh) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < list->count; ++k) {
    const size_t first = scene->body_count;
    scree_Status status = scree_scene_expect(scene, k, log);
    if (status == SCREE_OK) status = generate(scene, k, list->entries[k].value, log);
    if (status == SCREE_OK)
      status = scree_scene_name_generated(scene, list->entries[k].value, first, log);
    if (status == SCREE_OK) status = scree_scene_thin(scene, NULL, log);
    if (status != SCREE_OK) return status;
  }
  return scree_scene_name_poured(scene, log);
}

/* The expected number of contacts of a scene (see forecast.h).
 *
 * Contacts that are closed at the start are assumed to remain closed. Bodies fall along gravity
 * from their positions, or from the region of their pour at the time of their appearance, onto the
 * obstacle below them or onto the bed of the bodies that land before. The height of a bed is the
 * volume of its bodies divided by the cross-section of all bodies and by the solid fraction of a
 * packing. A body that has landed and settled has the contacts of a body in a packing if the bed is
 * several bodies deep, and otherwise those of a single body on a floor.
 *
 * A structure that stands at the start counts as a heap from the time at which it is hit by flying
 * bodies with more energy than it would release by collapsing. Without gravity, bodies that fill
 * their space as densely as a packing have its number of contacts; other bodies are a gas and keep
 * the contacts of the start. */
#include "scene/forecast.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/scene.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

/* Solid fractions of beds in 2D and 3D, and of space in which bodies touch from the start. */
static const struct { double bed, filled; } packings[2] = {{0.8, 0.65}, {0.58, 0.4}};

/* Contact points per body, measured on the examples (2026-11-19): in packings at rest or in slow
 * flow, and of one body on a floor. */
typedef struct Points {
  double many, single;
} Points;
static const Points disks = {1.75, 1}, ellipses = {2.1, 1}, flat_2d = {2.3, 2};
static const Points spheres = {2.95, 1}, ellipsoids = {3.2, 1}, rods = {2.9, 1.5}, clumps = {4, 3},
                    boxes = {4.3, 3.5}, angular = {3.2, 2.5};

/* Numbers of a landing, measured on the same examples. */
static const struct {
  double gap;      /* relative, below which bodies touch at the start */
  double settling; /* time of settling over that of the fall, */
  double least;    /* and over the time in which a body falls by its size */
  double deep;     /* depth, in bodies, from which on a bed is a packing */
  double round;    /* contacts of round bodies that touch at the start, over those of a packing:
                      more of them open */
  double spread;   /* those of round bodies that spread on a plane in 3D, over those of a packing */
  double ruin;     /* those of what was knocked down, over those it had when it stood */
  double beside;   /* relative gap up to which faces that stand beside each other, as bricks of a
                      course, have points in each frame (the reach of two bodies at rest,
                      step/advance.c) */
  double bounces;  /* part of the time for which a body alone bounces, where others are beside it */
} landing = {.gap = 1e-4,
             .settling = 0.35,
             .least = 2.0,
             .deep = 2.0,
             .round = 1.15,
             .spread = 0.65,
             .ruin = 0.55,
             .beside = 0.02,
             .bounces = 0.3};

enum { SAMPLES = 20000, MOMENTS = 200, OBSTACLES = 256, HELD = 256 };

/* A body that falls: from `height` above the floor below it, at a downward and a sideways speed,
 * from `start` on. */
typedef struct Faller {
  double start, height, speed, size, volume, weight, aside, mass, sideways;
  Points points;
  bool flat;
} Faller;

typedef struct Forecaster {
  const scree_World *world;
  int d;
  scree_Vec3 down;
  double g;
  int up; /* the axis that is nearest to it, and its sign */
  double sign;
  int *obstacle; /* (obstacles) those that may be below something */
  int obstacles;
  int held;       /* bodies in joints */
  double e_n;     /* largest restitution */
  bool walls;     /* some are no floor */
  Faller *faller; /* (count) */
  int count;
} Forecaster;

static Points points_of(const scree_Shape *shape, int d) {
  switch (shape->kind) {
  case SCREE_SHAPE_DISK: return disks;
  case SCREE_SHAPE_SPHERE: return spheres;
  case SCREE_SHAPE_ELLIPSE: return ellipses;
  case SCREE_SHAPE_ELLIPSOID:
  case SCREE_SHAPE_SUPERELLIPSOID: return ellipsoids;
  case SCREE_SHAPE_CAPSULE: return rods;
  case SCREE_SHAPE_BOX: return d == 2 ? flat_2d : boxes;
  case SCREE_SHAPE_POLYHEDRON:
  case SCREE_SHAPE_CYLINDER:
  case SCREE_SHAPE_CONE: return angular;
  default: return d == 2 ? flat_2d : clumps;
  }
}

static bool is_flat(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_BOX || shape->kind == SCREE_SHAPE_POLYGON ||
         shape->kind == SCREE_SHAPE_POLYHEDRON || shape->kind == SCREE_SHAPE_CYLINDER ||
         shape->kind == SCREE_SHAPE_CONE;
}

static double along(const Forecaster *f, scree_Vec3 x) {
  return f->sign * scree_component(x, f->up);
}

static bool is_plane(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_HALF_SPACE || shape->kind == SCREE_SHAPE_HALF_PLANE;
}

static scree_Vec3 normal_of(const Forecaster *f, scree_Pose plane) {
  return scree_quat_rotate(plane.orientation,
                           f->d == 2 ? scree_vec3(0, 1, 0) : scree_vec3(0, 0, 1));
}

/* How far up the normal of a plane points: 1 of level ground, 0 of a wall; -1 of other shapes. */
static double uprightness(const Forecaster *f, const scree_Shape *shape, scree_Pose pose) {
  return is_plane(shape) ? -scree_dot(normal_of(f, pose), f->down) : -1;
}

/* Height of the lowest point of a body above the nearest obstacle below it. */
static double height_above_floor(const Forecaster *f, scree_Vec3 centre, double radius) {
  double least = INFINITY;
  for (int k = 0; k < f->obstacles; ++k) {
    const int b = f->obstacle[k];
    const scree_Shape *shape = scree_body_shape(f->world, b);
    const scree_Pose pose = scree_body_pose(f->world, b);
    const scree_Vec3 off = scree_sub(centre, pose.position);
    double height;
    if (is_plane(shape)) {
      const double fall = uprightness(f, shape, pose);
      if (fall < 0.05) continue; /* a wall, or a ceiling */
      height = (scree_dot(normal_of(f, pose), off) - radius) / fall;
    } else if (shape->kind == SCREE_SHAPE_DRUM || shape->kind == SCREE_SHAPE_DRUM_2D) {
      const double lift = along(f, off);
      const double aside = scree_norm2(off) - lift * lift;
      height = lift + sqrt(fmax(shape->radius * shape->radius - aside, 0)) - radius;
      if (f->d == 3) height = fmin(height, lift + shape->radius - radius);
    } else {
      const scree_Aabb box = scree_shape_aabb(shape, &pose);
      bool below = true;
      for (int c = 0; c < f->d; ++c)
        if (c != f->up && (scree_component(centre, c) < scree_component(box.lower, c) ||
                           scree_component(centre, c) > scree_component(box.upper, c)))
          below = false;
      if (!below) continue;
      const double a = along(f, box.lower), b_ = along(f, box.upper), at = along(f, centre);
      const double top = fmax(a, b_), bottom = fmin(a, b_);
      height = at - radius - (top < at ? top : bottom);
    }
    if (height > -2 * radius && height < least) least = height;
  }
  return isfinite(least) ? fmax(least, 0) : INFINITY;
}

static int by_place(const void *a, const void *b) {
  const Faller *p = a, *q = b;
  return p->aside < q->aside ? -1 : p->aside > q->aside;
}

static int by_height(const void *a, const void *b) {
  const Faller *p = a, *q = b;
  if (p->start != q->start) return p->start < q->start ? -1 : 1;
  return p->height < q->height ? -1 : p->height > q->height;
}

/* Bodies in joints do not fall onto what is below them. */
static bool is_held(const scree_Scene *scene, int body) {
  for (int k = 0; k < scene->joint_count && k < HELD; ++k)
    if (scene->joints[k].def.body[0] == body || scene->joints[k].def.body[1] == body) return true;
  return false;
}

static double middle_of(const scree_Distribution *sizes) {
  return sizes->kind == SCREE_DISTRIBUTION_NORMAL ? sizes->mean : scree_distribution_at(sizes, 0.5);
}

/* The bodies of the start and of pours, each for `weight` of them, and their cross-section. */
static bool gather(const scree_Scene *scene, Forecaster *f, double *section, double *filled,
                   double *mean_size) {
  const scree_Bodies *b = &f->world->system.bodies;
  scree_Vec3 lower = scree_vec3(INFINITY, INFINITY, INFINITY), upper = scree_neg(lower);
  int movers = 0, poured = 0;
  double volume = 0, size = 0;
  for (int k = 0; k < b->count; ++k) movers += !b->fixed[k];
  for (int p = 0; p < scene->pour_count; ++p) poured += scene->pours[p].count;
  const int every = 1 + (movers + poured) / SAMPLES;
  f->faller = SCREE_ALLOC(Faller, (movers + poured) / every + scene->pour_count + 2);
  f->obstacle = SCREE_ALLOC(int, OBSTACLES);
  if (!f->faller || !f->obstacle) return false;
  for (int k = 0; k < b->count && f->obstacles < OBSTACLES; ++k)
    if (b->fixed[k]) {
      if (!(uprightness(f, &b->cold[k].shape, scree_body_pose(f->world, k)) >= 0.5))
        f->walls = true;
      f->obstacle[f->obstacles++] = k;
    }
  for (int k = 0, seen = 0; k < b->count; ++k) {
    if (b->fixed[k]) continue;
    const scree_Shape *shape = &b->cold[k].shape;
    const scree_Vec3 x = scree_body_pose(f->world, k).position;
    const scree_Vec3 v = scree_body_velocity(f->world, k).linear;
    lower = scree_vec3(fmin(lower.x, x.x), fmin(lower.y, x.y), fmin(lower.z, x.z));
    upper = scree_vec3(fmax(upper.x, x.x), fmax(upper.y, x.y), fmax(upper.z, x.z));
    volume += shape->volume;
    size += shape->size;
    if (seen++ % every) continue;
    const bool held = is_held(scene, k);
    f->held += held ? every : 0;
    f->faller[f->count++] =
        (Faller){.height = held       ? INFINITY
                           : f->g > 0 ? height_above_floor(f, x, 0.5 * shape->size)
                                      : 0,
                 .speed = f->g > 0 ? scree_dot(v, f->down) : scree_norm(v),
                 .sideways = scree_norm(scree_sub(v, scree_scale(scree_dot(v, f->down), f->down))),
                 .mass = scree_body_mass(f->world, k),
                 .size = shape->size,
                 .aside = scree_component(x, f->up == 0),
                 .volume = every * shape->volume,
                 .weight = every,
                 .points = points_of(shape, f->d),
                 .flat = is_flat(shape)};
  }
  for (int p = 0, seen = 0; p < scene->pour_count; ++p) {
    const scree_Pour *pour = &scene->pours[p];
    const scree_Vec3 low = pour->region.lower, high = pour->region.upper;
    const scree_Vec3 middle = scree_scale(0.5, scree_add(low, high));
    const double scale = middle_of(&pour->grain.scale);
    const double width = scale * pour->grain.shape.size;
    lower = scree_vec3(fmin(lower.x, low.x), fmin(lower.y, low.y), fmin(lower.z, low.z));
    upper = scree_vec3(fmax(upper.x, high.x), fmax(upper.y, high.y), fmax(upper.z, high.z));
    const double height = f->g > 0 ? height_above_floor(f, middle, 0.5 * width) : 0;
    for (int k = 0; k < pour->count; ++k, ++seen) {
      const double one =
          pour->grain.shape.volume * (f->d == 2 ? scale * scale : scale * scale * scale);
      volume += one;
      size += width;
      if (seen % every) continue;
      f->faller[f->count++] = (Faller){.start = pour->start + k / pour->rate,
                                       .height = height,
                                       .speed = scree_dot(pour->grain.def.velocity.linear, f->down),
                                       .size = width,
                                       .aside = (double)seen,
                                       .volume = every * one,
                                       .weight = every,
                                       .points = points_of(&pour->grain.shape, f->d),
                                       .flat = is_flat(&pour->grain.shape)};
    }
  }
  size /= fmax(1, movers + poured);
  *section = 1;
  double space = 1;
  for (int c = 0; c < f->d; ++c) {
    const double wide = scree_component(upper, c) - scree_component(lower, c) + size;
    space *= wide;
    if (c != f->up) *section *= wide;
  }
  *mean_size = size;
  *filled = movers + poured > 1 ? volume / space : 0;
  return true;
}

/* When what stands at the start is knocked down: bodies that fly aside cross half of the bodies'
 * extent with more energy than the others have above the floor. Infinite, if none do. */
static double knocked_down(const Forecaster *f, double extent) {
  double blow = 0, speed = 0, standing = 0;
  for (int k = 0; k < f->count; ++k) {
    const Faller *body = &f->faller[k];
    const double energy = 0.5 * body->weight * body->mass * body->sideways * body->sideways;
    blow += energy;
    speed += energy * body->sideways;
    if (!(energy > 0) && isfinite(body->height))
      standing += body->weight * body->mass * f->g * body->height;
  }
  return f->g > 0 && blow > standing && standing > 0 ? 0.5 * extent * blow / speed : INFINITY;
}

/* Time for which a body alone bounces over that of its fall, the sum of a geometric series; less
 * above others: a blow is spent in 1/(1 - e) layers, and deeper beds do not bounce at all. */
static double bounces_of(const Forecaster *f, double depth) {
  const double lost = fmax(1 - f->e_n, 1e-6);
  return fmax(0, 1 - depth * lost) * 2 * f->e_n / lost;
}

/* Contacts over time, of which `rest` are there at the start; the bodies are in the order in which
 * they land, at once where they fill the space (`full`). */
static void add_up(const Forecaster *f, double section, double duration, double rest, bool full,
                   scree_Forecast *forecast) {
  const double bed_fraction = packings[f->d - 2].bed;
  double bed = 0, sum[MOMENTS + 1] = {0}, landed = 0, there = 0, flats = 0, all = 0, volume = 0,
         diameter = 0, n = 0;
  double most = 0, falling = 0;
  for (int k = 0; k < f->count; ++k) {
    volume += f->faller[k].volume;
    diameter += f->faller[k].weight * f->faller[k].size;
    n += f->faller[k].weight;
    most += f->faller[k].flat ? INFINITY : f->faller[k].weight * f->faller[k].points.many;
  }
  rest = fmin(rest, landing.round * most);
  const double depth = volume / (section * bed_fraction) / fmax(diameter / fmax(n, 1), 1e-300);
  const double spread = f->d == 3 && f->g > 0 && !f->walls ? landing.spread : 1;
  const double share = full ? 1 : fmin(1, depth / landing.deep);
  const double bounces = bounces_of(f, depth);
  for (int k = 0; k < f->count; ++k) {
    const Faller *body = &f->faller[k];
    const double drop = full ? 0 : fmax(0, body->height - bed);
    bed += body->volume / (section * bed_fraction);
    if (!isfinite(drop)) continue;
    const double v = body->speed;
    const double fall = f->g > 0 ? (sqrt(v * v + 2 * f->g * drop) - v) / f->g : 0;
    const double settle = full ? 0
                               : (landing.settling + landing.bounces * bounces) * fall +
                                     landing.least * sqrt(body->size / f->g);
    const double flight = fmin(fall, fmax(0, duration - body->start));
    falling += body->weight * fabs(v + 0.5 * f->g * flight);
    const Points points = body->points;
    const double many = fmax(points.single, body->flat ? points.many : spread * points.many);
    const double contacts = body->weight * (points.single + share * (many - points.single));
    all += contacts;
    flats += body->flat ? contacts : 0;
    for (int m = 0; m <= MOMENTS; ++m) {
      const double t = m * duration / MOMENTS - body->start - fall;
      if (t > 0) sum[m] += contacts * (t < settle ? t / settle : 1);
      if (t > 0) landed += body->weight;
      if (t + fall >= 0) there += body->weight;
    }
  }
  const double down = knocked_down(f, pow(section, 1.0 / (f->d - 1)));
  double mean = 0, kept = 0;
  for (int m = 1; m <= MOMENTS; ++m) {
    const double left = m * duration / MOMENTS > down ? landing.ruin : 1;
    mean += left * fmax(sum[m], rest) / MOMENTS;
    kept += left * rest / MOMENTS;
  }
  forecast->contacts = mean;
  forecast->at_end = (duration > down ? landing.ruin : 1) * fmax(sum[MOMENTS], rest);
  forecast->rest = mean > 0 ? fmin(1, kept / mean) : 0;
  forecast->flat = all > 0 ? flats / all : 0;
  const double held = n > 0 ? f->held / n : 0;
  forecast->landed = fmin(1, fmax(forecast->rest, there > 0 ? landed / there : 0) + held);
  forecast->speed = n > 0 ? falling / n : 0;
}

/* Share of bodies that are above places of their own: small on a lattice. */
static double disorder(const Forecaster *f) {
  int places = 0;
  qsort(f->faller, (size_t)f->count, sizeof *f->faller, by_place);
  for (int k = 0; k < f->count; ++k)
    places += k == 0 || f->faller[k].aside > f->faller[k - 1].aside + 1e-9 * f->faller[k].size;
  return f->count > 0 ? (double)places / f->count : 1;
}

static double flat_share(const Forecaster *f) {
  double flat = 0, all = 0;
  for (int k = 0; k < f->count; ++k) {
    flat += f->faller[k].flat ? f->faller[k].weight : 0;
    all += f->faller[k].weight;
  }
  return all > 0 ? flat / all : 0;
}

/* Whether the ground shakes: then bodies that stand on it do not repeat themselves. */
static bool is_shaken(const scree_Scene *scene, const Forecaster *f) {
  for (size_t k = 0; k < scene->kept; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    if (!body->driver || body->def.belt || !(uprightness(f, &body->shape, body->def.pose) > 0.5))
      continue;
    for (int m = 0; m < MOMENTS; ++m) {
      const double time = (m + 0.5) * scene->duration / MOMENTS;
      if (scree_norm2(scree_scene_signal_at(body->driver, time).linear) > 0) return true;
    }
  }
  return false;
}

/* Whether something may press bodies together that have no weight. */
static bool is_driven(const scree_Scene *scene) {
  for (size_t k = 0; k < scene->kept; ++k)
    if (scene->bodies[k].driver) return true;
  return scene->force_count > 0 || scene->joint_count > 0;
}

/* Share of bodies in compliant contact with their own kind, and with obstacles. */
static double compliant_share(const scree_Scene *scene, const scree_World *world) {
  const scree_Bodies *b = &world->system.bodies;
  int wall = -1;
  for (int k = 0; k < b->count && wall < 0; ++k)
    if (b->fixed[k]) wall = scree_body_material(world, k);
  double sum = 0, count = 0;
  bool own[2] = {false, false};
  for (int k = 0, last = -1; k < b->count; ++k) {
    if (b->fixed[k]) continue;
    const int m = scree_body_material(world, k);
    if (m != last) {
      const scree_PairLaw a = scree_scene_law(scene, m, m);
      const scree_PairLaw w = scree_scene_law(scene, m, wall < 0 ? m : wall);
      own[0] = scree_pair_law_get(&a, "compliance_n") > 0 || scree_pair_law_get(&a, "modulus") > 0;
      own[1] = scree_pair_law_get(&w, "compliance_n") > 0 || scree_pair_law_get(&w, "modulus") > 0;
      last = m;
    }
    /* a body alone touches obstacles, many touch each other */
    const double inner = fmin(1, b->count / 20.0);
    sum += inner * own[0] + (1 - inner) * own[1];
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

scree_Status scree_scene_forecast(const scree_Scene *scene, const scree_World *world,
                                  const scree_Log *log, scree_Forecast *forecast) {
  Forecaster f = {.world = world,
                  .d = scene->dimension,
                  .g = scree_norm(scene->gravity),
                  .up = scene->dimension - 1,
                  .e_n = scree_scene_restitution(scene),
                  .sign = 1};
  *forecast = (scree_Forecast){0};
  if (f.g > 0) {
    f.down = scree_scale(1 / f.g, scene->gravity);
    for (int c = 0; c < f.d; ++c)
      if (fabs(scree_component(f.down, c)) > fabs(scree_component(f.down, f.up))) f.up = c;
    f.sign = scree_component(f.down, f.up) > 0 ? -1 : 1;
  }
  double section = 1, filled = 0, size = 0;
  int rest = 0;
  scree_Status status = scree_world_close(world, landing.gap, &rest);
  if (status == SCREE_OK && !gather(scene, &f, &section, &filled, &size))
    status = scree_fail_memory(log, "the estimate of contacts");
  if (status == SCREE_OK && rest > 0 && flat_share(&f) > 0.5)
    status = scree_world_close(world, landing.beside, &rest);
  if (status == SCREE_OK) forecast->disorder = disorder(&f);
  const bool pressed = f.g > 0 || is_driven(scene);
  const bool full = (pressed && filled > packings[f.d - 2].filled) || world->system.cell.any;
  if (status == SCREE_OK && (f.g > 0 || full)) {
    qsort(f.faller, (size_t)f.count, sizeof *f.faller, by_height);
    add_up(&f, section, scene->duration, rest, full, forecast);
  } else if (status == SCREE_OK) {
    forecast->contacts = forecast->at_end = rest;
    forecast->rest = rest > 0;
    for (int k = 0; k < f.count; ++k) forecast->speed += f.faller[k].speed / f.count;
  }
  /* Points that are nearer than two bodies move in a step are contacts, too. */
  const double near = size > 0 ? fmin(0.5, 2 * forecast->speed * scene->step / size) : 0;
  int close = 0;
  if (status == SCREE_OK && near > landing.gap && forecast->landed < 1)
    status = scree_world_close(world, near, &close);
  forecast->open = (1 - forecast->landed) * fmax(0, close - rest);
  if (status == SCREE_OK && is_shaken(scene, &f)) forecast->rest = 0;
  if (status == SCREE_OK) forecast->compliant = compliant_share(scene, world);
  scree_free(f.faller);
  scree_free(f.obstacle);
  return status;
}

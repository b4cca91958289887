/* Convex bodies against pipes, funnels and rings.
 *
 * With the distance rho of a point from the axis, its height over the wall is
 *     g = n_rho (rho - rho_0) + n_z (z - z_0),   n_rho <= 0,
 * a concave function. So the lowest points of a body are extreme points: every corner is a contact
 * of its own, as in a drum, and on a round body x -> (the body's furthest point against grad g(x))
 * goes down until it ends at a local minimum. A point counts if it is over the finite wall.
 *
 * The two rims are circles that a body may touch from all sides but that of the wall. The distance
 * of the body from the points of a circle, as a function of the angle, is sampled where the body is
 * near, and each local minimum is refined by golden section. A sharp body that overlaps the rim is
 * shrunk for this: its normal is that of the nearly touching bodies. */
#include "geometry/gjk.h"
#include "geometry/revolved.h"
#include "geometry/shape_class.h"

static const double PI = 3.14159265358979323846;

enum { SAMPLES = 24, GOLDEN = 40, AZIMUTHS = 8, MAX_STEPS = 200, MOST_POINTS = 2 * SCREE_RIM };

/* Scale of the shrunk body; how far a normal may point into the wall, as a sine; points of a round
 * body that are nearer to each other than this part of its size are one. */
static const double SHRUNK = 0.9, CONE_SLACK = 1e-9, DISTINCT = 1e-4;

typedef struct Pair {
  const scree_Shape *shape; /* without rounding */
  double rounding, margin;
  scree_Meridian wall;
  scree_Vec3 origin; /* of the wall in the world */
  scree_Mat3 axes;   /* of the wall in the world */
  scree_Vec3 centre; /* of the body in the frame of the wall */
  scree_Mat3 turn;   /* of the body in the frame of the wall */
  double core;       /* scale of the body about its origin, for support_of */
  scree_Manifold *manifold;
} Pair;

static scree_Vec3 support_of(const void *body, scree_Vec3 direction) {
  const Pair *p = body;
  const scree_Vec3 local = scree_shape_support(p->shape, scree_mat3_tmul(&p->turn, direction));
  return scree_axpy(p->centre, p->core, scree_mat3_mul(&p->turn, local));
}

static scree_Vec3 point_of(const void *point, scree_Vec3 direction) {
  (void)direction;
  return *(const scree_Vec3 *)point;
}

/* Add the contact whose point on the body is x, in the frame of the wall. */
static void add(Pair *p, scree_Vec3 x, scree_Vec3 n, double gap, uint32_t feature) {
  const scree_Vec3 middle = scree_axpy(x, -0.5 * gap, n);
  scree_manifold_add(p->manifold, scree_add(p->origin, scree_mat3_mul(&p->axes, middle)),
                     scree_mat3_mul(&p->axes, n), gap, feature);
}

/* ---- the wall ---- */

/* Normal of the wall at the azimuth of x. */
static scree_Vec3 normal_at(const Pair *p, scree_Vec3 x) {
  const double rho = hypot(x.x, x.y), c = rho > 0 ? x.x / rho : 1, s = rho > 0 ? x.y / rho : 0;
  return scree_vec3(p->wall.normal[0] * c, p->wall.normal[0] * s, p->wall.normal[1]);
}

static double height_of(const Pair *p, scree_Vec3 x) {
  return p->wall.normal[0] * (hypot(x.x, x.y) - p->wall.start[0]) +
         p->wall.normal[1] * (x.z - p->wall.start[1]);
}

/* A point of the body without its rounding. */
static void point_on_wall(Pair *p, scree_Vec3 x, uint32_t feature) {
  const scree_Vec3 n = normal_at(p, x), surface = scree_axpy(x, -p->rounding, n);
  const double gap = height_of(p, x) - p->rounding;
  if (!(gap <= p->margin)) return;
  const double s = p->wall.along[0] * (hypot(surface.x, surface.y) - p->wall.start[0]) +
                   p->wall.along[1] * (surface.z - p->wall.start[1]);
  const double from_rim = fmin(s, p->wall.length - s);
  /* deeper than it is away from the rim: it got there past the rim, which holds it */
  if (from_rim < 0 || -gap > from_rim) return;
  add(p, surface, n, gap, feature);
}

/* Corners of the body, in the frame of the wall; 0 for round bodies. */
static int corner_count(const scree_Shape *s) {
  switch (s->kind) {
  case SCREE_SHAPE_SPHERE: return 1;
  case SCREE_SHAPE_CAPSULE: return 2;
  case SCREE_SHAPE_BOX: return 8;
  case SCREE_SHAPE_POLYHEDRON: return s->vertex_count;
  default: return 0;
  }
}

static scree_Vec3 corner(const Pair *p, int k) {
  const scree_Shape *s = p->shape;
  const scree_Vec3 h = s->semi;
  scree_Vec3 x = {0, 0, 0};
  if (s->kind == SCREE_SHAPE_CAPSULE) x.z = k ? s->half_length : -s->half_length;
  if (s->kind == SCREE_SHAPE_POLYHEDRON) x = s->vertices[k];
  if (s->kind == SCREE_SHAPE_BOX)
    x = scree_vec3(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z);
  return scree_add(p->centre, scree_mat3_mul(&p->turn, x));
}

typedef struct Found {
  int count;
  scree_Vec3 x[MOST_POINTS];
} Found;

static void keep(const Pair *p, Found *found, scree_Vec3 x) {
  const double near = DISTINCT * p->shape->size;
  for (int k = 0; k < found->count; ++k)
    if (scree_norm2(scree_sub(found->x[k], x)) <= near * near) return;
  if (found->count < MOST_POINTS) found->x[found->count++] = x;
}

/* The local minima of the height over a round body, and the other points of the features there. */
static void round_on_wall(Pair *p) {
  const double tiny = 1e-13 * p->shape->bounding_radius;
  Found found = {0};
  for (int k = 0; k < AZIMUTHS; ++k) {
    const double angle = 2 * PI * k / AZIMUTHS;
    scree_Vec3 n = normal_at(p, scree_vec3(cos(angle), sin(angle), 0)), x = {0, 0, 0};
    for (int step = 0; step < MAX_STEPS; ++step) {
      const scree_Vec3 next = support_of(p, scree_neg(n));
      const bool still = step > 0 && scree_norm2(scree_sub(next, x)) <= tiny * tiny;
      x = next;
      if (still) break;
      n = normal_at(p, x);
    }
    if (!(height_of(p, x) <= p->margin)) continue;
    scree_Feature f;
    scree_shape_feature(p->shape, scree_neg(scree_mat3_tmul(&p->turn, n)), &f);
    if (f.count < 3) keep(p, &found, x);
    for (int m = 0; m < f.count && f.count > 1; ++m)
      keep(p, &found, scree_add(p->centre, scree_mat3_mul(&p->turn, f.point[m])));
  }
  for (int k = 0; k < found.count; ++k) point_on_wall(p, found.x[k], scree_feature_vertex(0, k, 0));
}

/* ---- rims ---- */

typedef struct Rim {
  double radius, z;
  double into[2]; /* direction into the wall */
  int end;
} Rim;

static scree_Vec3 rim_point(const Rim *rim, double angle) {
  return scree_vec3(rim->radius * cos(angle), rim->radius * sin(angle), rim->z);
}

/* Distance of the body from a point of the rim, with the normal towards the body. */
static double rim_distance(const Pair *p, const Rim *rim, double angle, scree_Vec3 *n) {
  const scree_Vec3 c = rim_point(rim, angle);
  scree_Vec3 qa, qb;
  *n = scree_vec3(0, 0, 1);
  return scree_gjk_distance(support_of, p, point_of, &c, scree_sub(p->centre, c), &qa, &qb, n);
}

/* The contact with the point of the rim at an angle. */
static void point_on_rim(Pair *p, const Rim *rim, double angle, scree_Vec3 n, int name) {
  const scree_Vec3 c = rim_point(rim, angle);
  const double inward = rim->into[0] * (n.x * cos(angle) + n.y * sin(angle)) + rim->into[1] * n.z;
  if (inward > CONE_SLACK) return;
  const double shrunk = p->core;
  p->core = 1;
  const scree_Vec3 low = support_of(p, scree_neg(n));
  p->core = shrunk;
  const double gap = scree_dot(n, scree_sub(low, c)) - p->rounding;
  if (!(gap <= p->margin)) return;
  add(p, scree_axpy(c, gap, n), n, gap, scree_feature_edges(name, 1 + rim->end));
}

/* A ball, or a body that turns about the axis: the point at its azimuth. */
static void ball_on_rim(Pair *p, const Rim *rim) {
  const double angle = atan2(p->centre.y, p->centre.x);
  scree_Vec3 n = scree_sub(p->centre, rim_point(rim, angle));
  const double distance = scree_norm(n);
  if (!(distance > 0) || !(distance - p->rounding <= p->margin)) return;
  point_on_rim(p, rim, angle, scree_scale(1 / distance, n), 0);
}

static void body_on_rim(Pair *p, const Rim *rim) {
  const double reach = p->shape->bounding_radius + p->margin, far = hypot(p->centre.x, p->centre.y);
  /* angles within which the rim can be near the body */
  double middle = atan2(p->centre.y, p->centre.x), half = PI;
  if (far > reach) half = asin(reach / far);
  double value[SAMPLES + 1];
  scree_Vec3 n;
  for (int k = 0; k <= SAMPLES; ++k)
    value[k] = rim_distance(p, rim, middle + half * (2.0 * k / SAMPLES - 1), &n);
  const double ratio = 0.61803398874989485;
  for (int k = 0; k <= SAMPLES; ++k) {
    const double before = k > 0 ? value[k - 1] : half < PI ? INFINITY : value[SAMPLES - 1];
    const double after = k < SAMPLES ? value[k + 1] : half < PI ? INFINITY : value[1];
    if (value[k] > before || value[k] >= after || (k == SAMPLES && half >= PI)) continue;
    double low = middle + half * (2.0 * (k - 1) / SAMPLES - 1), high = low + 4 * half / SAMPLES;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double fa = rim_distance(p, rim, a, &n), fb = rim_distance(p, rim, b, &n);
    for (int step = 0; step < GOLDEN && high - low > 1e-9; ++step) {
      if (fa <= fb) {
        high = b, b = a, fb = fa, a = high - ratio * (high - low);
        fa = rim_distance(p, rim, a, &n);
      } else {
        low = a, a = b, fa = fb, b = low + ratio * (high - low);
        fb = rim_distance(p, rim, b, &n);
      }
    }
    const double angle = 0.5 * (low + high), distance = rim_distance(p, rim, angle, &n);
    if (distance > 0) point_on_rim(p, rim, angle, n, k);
  }
}

static void on_rim(Pair *p, const Rim *rim, bool ball) {
  if (!(rim->radius > 0)) return;
  const double far = hypot(hypot(p->centre.x, p->centre.y) - rim->radius, p->centre.z - rim->z);
  if (far > p->shape->bounding_radius + p->margin) return;
  p->core = p->rounding > 0 ? 1 : SHRUNK;
  if (ball)
    ball_on_rim(p, rim);
  else
    body_on_rim(p, rim);
  p->core = 1;
}

void scree_collide_revolved(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                            const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  const scree_Shape bare = scree_shape_core(a);
  const scree_Mat3 Ra = scree_quat_matrix(pa->orientation);
  Pair p = {.shape = &bare,
            .rounding = scree_shape_rounding(a),
            .margin = margin,
            .wall = scree_shape_meridian(b),
            .origin = pb->position,
            .axes = scree_quat_matrix(pb->orientation),
            .core = 1,
            .manifold = manifold};
  const scree_Mat3 back = scree_mat3_transpose(&p.axes);
  p.centre = scree_mat3_tmul(&p.axes, scree_sub(pa->position, pb->position));
  p.turn = scree_mat3_matmul(&back, &Ra);
  const double height = height_of(&p, p.centre), reach = a->bounding_radius + margin;
  if (fabs(height) > reach) return;
  const scree_Meridian *w = &p.wall;
  if (height > 0) {
    const int corners = corner_count(&bare);
    for (int k = 0; k < corners; ++k)
      point_on_wall(&p, corner(&p, k), scree_feature_vertex(0, k, 0));
    if (corners == 0) round_on_wall(&p);
  }
  const bool ball = a->kind == SCREE_SHAPE_SPHERE;
  const Rim rims[2] = {{w->start[0], w->start[1], {w->along[0], w->along[1]}, 0},
                       {w->start[0] + w->length * w->along[0],
                        w->start[1] + w->length * w->along[1],
                        {-w->along[0], -w->along[1]},
                        1}};
  for (int end = 0; end < 2; ++end) on_rim(&p, &rims[end], ball);
}

/* Convex bodies against pipes, funnels and rings.
 *
 * With the distance rho of a point from the axis, its height over the wall is
 *     g = n_rho (rho - rho_0) + n_z (z - z_0),   n_rho <= 0,
 * a concave function. So the lowest points of a body are extreme points: every corner is a contact
 * of its own, as in a drum. On a round body they are the local minima over the angle a around the
 * axis of the lowest point along the normal N(a) there, since
 *     g(x) = min over a of N(a).x + const ;
 * they are sampled, refined by golden section, and then x -> (the body's furthest point against
 * grad g(x)) goes down to the last digits. (From 8 starts without samples a superellipsoid that
 * rolls in a drum missed the third of its lowest points, until it was a hundredth of its size
 * deep.) A point counts if it is over the finite wall.
 *
 * The two rims are circles that a body may touch from all sides but that of the wall. The distance
 * of the body from the points of a circle, as a function of the angle, is sampled where the body is
 * near, and each local minimum is refined by golden section. A sharp body that overlaps the rim is
 * shrunk for this, as little as separates them: its normal is that of the nearly touching bodies.
 */
#include "geometry/gjk.h"
#include "geometry/revolved.h"
#include "geometry/shape_class.h"

static const double PI = 3.14159265358979323846, RATIO = 0.61803398874989485;

enum { SAMPLES = 24, GOLDEN = 40, AROUND = 8, MAX_STEPS = 200, MOST_POINTS = 2 * SCREE_RIM };

enum { AROUND_NAME = 1 << 12 }; /* first name of points at fixed angles */

/* Scales of the shrunk body. Shrinking moves what is far from the centre: with the last one alone,
 * a flat splinter with a corner in the hole of a ring fell through it. */
static const double SHRUNK[] = {1, 0.9999, 0.999, 0.99, 0.9};
enum { SCALES = sizeof SHRUNK / sizeof *SHRUNK };

/* How far a normal may point into the wall, as a sine; points of a round body that are nearer to
 * each other than this part of its size are one. */
static const double CONE_SLACK = 1e-9, DISTINCT = 1e-4;

/* Sine up to which the normal of a shrunk body may point into the wall, if there is no other
 * contact: the lowest point of a flat side that has just slid over the rim. */
static const double LEAN = 0.1;

typedef struct Pair {
  const scree_Shape *shape; /* without rounding */
  double rounding, margin;
  scree_Meridian wall;
  scree_Vec3 origin; /* of the wall in the world */
  scree_Mat3 axes;   /* of the wall in the world */
  scree_Vec3 centre; /* of the body in the frame of the wall */
  scree_Mat3 turn;   /* of the body in the frame of the wall */
  double core;       /* scale of the body about its origin, for support_of */
  bool overlaps;     /* a rim is inside the body */
  bool lean;         /* normals at rims that point into the wall are turned to that of the wall */
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

/* Contacts at fixed angles, if the body is within the margin all around: of the ball around the
 * point `ball`, or where it is null, of the whole body. */
static bool all_around(Pair *p, const scree_Vec3 *ball, int name) {
  double gap[AROUND];
  scree_Vec3 n[AROUND], x[AROUND];
  const scree_Meridian *w = &p->wall;
  if (w->normal[0] == 0) return false;
  for (int k = 0; k < AROUND; ++k) {
    const double angle = 2 * PI * k / AROUND, c = cos(angle), s = sin(angle);
    n[k] = scree_vec3(w->normal[0] * c, w->normal[0] * s, w->normal[1]);
    x[k] = ball ? *ball : support_of(p, scree_neg(n[k]));
    gap[k] = scree_dot(n[k], x[k]) - w->normal[0] * w->start[0] - w->normal[1] * w->start[1] -
             p->rounding;
    if (!(gap[k] <= p->margin)) return false;
  }
  for (int k = 0; k < AROUND; ++k) {
    const scree_Vec3 surface = scree_axpy(x[k], -p->rounding, n[k]);
    const double s = w->along[0] * (hypot(surface.x, surface.y) - w->start[0]) +
                     w->along[1] * (surface.z - w->start[1]);
    if (s >= 0 && s <= w->length)
      add(p, surface, n[k], gap[k], scree_feature_vertex(0, name + k, 0));
  }
  return true;
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

static scree_Vec3 normal_of(const scree_InWall *in, double angle) {
  return scree_vec3(in->normal[0] * cos(angle), in->normal[0] * sin(angle), in->normal[1]);
}

static double lowest_at(const scree_InWall *in, double angle) {
  const scree_Vec3 n = normal_of(in, angle);
  return scree_dot(n, in->support(in->body, scree_neg(n)));
}

/* The lowest point near an angle between `low` and `high`. */
static scree_Vec3 descend(const scree_InWall *in, double low, double high) {
  const double tiny = 1e-13 * in->reach;
  double a = high - RATIO * (high - low), b = low + RATIO * (high - low);
  double fa = lowest_at(in, a), fb = lowest_at(in, b);
  for (int step = 0; step < GOLDEN && high - low > 1e-9; ++step) {
    if (fa <= fb) {
      high = b, b = a, fb = fa, a = high - RATIO * (high - low);
      fa = lowest_at(in, a);
    } else {
      low = a, a = b, fa = fb, b = low + RATIO * (high - low);
      fb = lowest_at(in, b);
    }
  }
  double angle = 0.5 * (low + high);
  scree_Vec3 x = {0, 0, 0};
  for (int step = 0; step < MAX_STEPS; ++step) {
    const scree_Vec3 next = in->support(in->body, scree_neg(normal_of(in, angle)));
    const bool still = step > 0 && scree_norm2(scree_sub(next, x)) <= tiny * tiny;
    x = next;
    if (still) break;
    if (x.x != 0 || x.y != 0) angle = atan2(x.y, x.x);
  }
  return x;
}

int scree_wall_nearest(const scree_InWall *in, scree_Vec3 nearest[SCREE_AZIMUTHS]) {
  enum { N = SCREE_AZIMUTHS };
  const double far = hypot(in->centre.x, in->centre.y), middle = atan2(in->centre.y, in->centre.x);
  double value[N];
  int count = 0;
  if (in->normal[0] == 0) { /* a plane */
    nearest[0] = in->support(in->body, scree_neg(normal_of(in, 0)));
    return 1;
  }
  /* points of the body are within this angle of its centre */
  const bool whole = far <= in->reach;
  const double half = whole ? PI : asin(in->reach / far), pitch = 2 * half / (whole ? N : N - 1);
  for (int k = 0; k < N; ++k) value[k] = lowest_at(in, middle - half + pitch * k);
  for (int k = 0; k < N; ++k) {
    const double before = k > 0 ? value[k - 1] : whole ? value[N - 1] : INFINITY;
    const double after = k + 1 < N ? value[k + 1] : whole ? value[0] : INFINITY;
    if (value[k] > before || value[k] >= after) continue;
    const double angle = middle - half + pitch * k;
    nearest[count++] = descend(in, angle - pitch, angle + pitch);
  }
  return count;
}

/* The local minima of the height over a round body, and the other points of the features there. */
static void round_on_wall(Pair *p) {
  const scree_InWall in = {.support = support_of,
                           .body = p,
                           .centre = p->centre,
                           .reach = p->shape->bounding_radius,
                           .normal = {p->wall.normal[0], p->wall.normal[1]}};
  scree_Vec3 nearest[SCREE_AZIMUTHS];
  if (all_around(p, NULL, AROUND_NAME)) return;
  const int count = scree_wall_nearest(&in, nearest);
  Found found = {0};
  for (int k = 0; k < count; ++k) {
    if (!(height_of(p, nearest[k]) <= p->margin)) continue;
    const scree_Vec3 n = normal_at(p, nearest[k]);
    scree_Feature f;
    scree_shape_feature(p->shape, scree_neg(scree_mat3_tmul(&p->turn, n)), &f);
    if (f.count < 3) keep(p, &found, nearest[k]);
    for (int m = 0; m < f.count && f.count > 1; ++m)
      keep(p, &found, scree_add(p->centre, scree_mat3_mul(&p->turn, f.point[m])));
  }
  scree_Octants seen = {{0}};
  for (int k = 0; k < found.count; ++k) {
    const scree_Vec3 local = scree_mat3_tmul(&p->turn, scree_sub(found.x[k], p->centre));
    point_on_wall(p, found.x[k], scree_feature_vertex(0, scree_octant_name(&seen, local), 0));
  }
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
  if (inward > CONE_SLACK) {
    if (!p->lean || inward > LEAN) return;
    const scree_Vec3 into =
        scree_vec3(rim->into[0] * cos(angle), rim->into[0] * sin(angle), rim->into[1]);
    n = scree_unit_or(scree_axpy(n, -inward, into), n);
  }
  const double shrunk = p->core;
  p->core = 1;
  const scree_Vec3 low = support_of(p, scree_neg(n));
  p->core = shrunk;
  const double gap = scree_dot(n, scree_sub(low, c)) - p->rounding;
  if (!(gap <= p->margin)) return;
  add(p, scree_axpy(c, gap, n), n, gap, scree_feature_edges(name, 1 + rim->end));
}

/* A ball: the point at its azimuth, or if it is within the margin all around, points at fixed ones.
 */
static void ball_on_rim(Pair *p, const Rim *rim) {
  const double angle = atan2(p->centre.y, p->centre.x);
  const double furthest = scree_norm(scree_sub(p->centre, rim_point(rim, angle + PI)));
  const bool around = furthest - p->rounding <= p->margin;
  for (int k = 0; k < (around ? AROUND : 1); ++k) {
    const double at = around ? 2 * PI * k / AROUND : angle;
    const scree_Vec3 n = scree_sub(p->centre, rim_point(rim, at));
    const double distance = scree_norm(n);
    if (distance > 0 && distance - p->rounding <= p->margin)
      point_on_rim(p, rim, at, scree_scale(1 / distance, n), k);
  }
}

/* The same for other bodies; false if it is not within the margin all around. */
static bool body_around_rim(Pair *p, const Rim *rim) {
  double distance[AROUND];
  scree_Vec3 n[AROUND];
  for (int k = 0; k < AROUND; ++k) {
    distance[k] = rim_distance(p, rim, 2 * PI * k / AROUND, &n[k]);
    if (!(distance[k] > 0 && distance[k] - p->rounding <= p->margin)) return false;
  }
  for (int k = 0; k < AROUND; ++k) point_on_rim(p, rim, 2 * PI * k / AROUND, n[k], SAMPLES + 1 + k);
  return true;
}

/* Distances at angles around the rim; false if one of them is 0: the body must be shrunk more. */
static bool sample_rim(const Pair *p, const Rim *rim, double middle, double half,
                       double value[SAMPLES + 1]) {
  scree_Vec3 n;
  for (int k = 0; k <= SAMPLES; ++k) {
    value[k] = rim_distance(p, rim, middle + half * (2.0 * k / SAMPLES - 1), &n);
    if (!(value[k] > 0)) return false;
  }
  return true;
}

/* Add the contacts at the local minima of the distance; false if the body overlaps the rim at one
 * of them and must be shrunk more. */
static bool body_on_rim(Pair *p, const Rim *rim) {
  const double reach = p->shape->bounding_radius + p->margin, far = hypot(p->centre.x, p->centre.y);
  /* angles within which the rim can be near the body */
  double middle = atan2(p->centre.y, p->centre.x), half = PI;
  if (far > reach) half = asin(reach / far);
  double value[SAMPLES + 1];
  scree_Vec3 n[SAMPLES + 1];
  double at[SAMPLES + 1];
  int name[SAMPLES + 1], found = 0;
  if (!sample_rim(p, rim, middle, half, value)) return false;
  for (int k = 0; k <= SAMPLES; ++k) {
    const double before = k > 0 ? value[k - 1] : half < PI ? INFINITY : value[SAMPLES - 1];
    const double after = k < SAMPLES ? value[k + 1] : half < PI ? INFINITY : value[1];
    if (value[k] > before || value[k] >= after || (k == SAMPLES && half >= PI)) continue;
    double low = middle + half * (2.0 * (k - 1) / SAMPLES - 1), high = low + 4 * half / SAMPLES;
    double a = high - RATIO * (high - low), b = low + RATIO * (high - low);
    double fa = rim_distance(p, rim, a, &n[found]), fb = rim_distance(p, rim, b, &n[found]);
    for (int step = 0; step < GOLDEN && high - low > 1e-9; ++step) {
      if (fa <= fb) {
        high = b, b = a, fb = fa, a = high - RATIO * (high - low);
        fa = rim_distance(p, rim, a, &n[found]);
      } else {
        low = a, a = b, fa = fb, b = low + RATIO * (high - low);
        fb = rim_distance(p, rim, b, &n[found]);
      }
    }
    at[found] = 0.5 * (low + high);
    name[found] = k;
    if (!(rim_distance(p, rim, at[found], &n[found]) > 0)) return false;
    ++found;
  }
  for (int k = 0; k < found; ++k) point_on_rim(p, rim, at[k], n[k], name[k]);
  return true;
}

/* Depth of a point of the rim in a box or polyhedron below its closest face, and the normal;
 * negative outside, and where that normal points into the wall. */
static double depth_of(const Pair *p, const Rim *rim, double angle, scree_Vec3 *n) {
  const scree_Shape *s = p->shape;
  const scree_Polyhedron *hull = s->data ? s->data->polyhedron : NULL; /* null: a box */
  const scree_Vec3 c = scree_mat3_tmul(&p->turn, scree_sub(rim_point(rim, angle), p->centre));
  const int faces = hull ? hull->face_count : 6;
  double least = INFINITY;
  bool acts = false;
  for (int f = 0; f < faces; ++f) {
    const double sign = f % 2 ? -1 : 1;
    scree_Vec3 out =
        scree_vec3(f / 2 == 0 ? sign : 0, f / 2 == 1 ? sign : 0, f / 2 == 2 ? sign : 0);
    scree_Vec3 on = scree_scale(sign, s->semi);
    if (hull) out = hull->normal[f], on = s->vertices[hull->corner[hull->first[f]]];
    const double depth = scree_dot(out, scree_sub(on, c));
    if (depth < 0) return depth;
    const scree_Vec3 to = scree_neg(scree_mat3_mul(&p->turn, out));
    const double inward =
        rim->into[0] * (to.x * cos(angle) + to.y * sin(angle)) + rim->into[1] * to.z;
    if (!(depth < least)) continue;
    least = depth;
    acts = !(inward > CONE_SLACK);
    *n = to;
  }
  return acts ? least : -1;
}

/* A box or polyhedron that the rim has entered further than shrinking it could tell: splinters. */
static void face_on_rim(Pair *p, const Rim *rim) {
  enum { ANGLES = 4 * SAMPLES };
  double depth[ANGLES];
  scree_Vec3 n[ANGLES];
  for (int k = 0; k < ANGLES; ++k) depth[k] = depth_of(p, rim, 2 * PI * k / ANGLES, &n[k]);
  for (int k = 0; k < ANGLES; ++k) {
    const double before = depth[(k + ANGLES - 1) % ANGLES], after = depth[(k + 1) % ANGLES];
    if (depth[k] < 0 || depth[k] < before || depth[k] <= after) continue;
    const scree_Vec3 c = rim_point(rim, 2 * PI * k / ANGLES);
    add(p, scree_axpy(c, -depth[k], n[k]), n[k], -depth[k],
        scree_feature_edges(SAMPLES + 1 + AROUND + k, 1 + rim->end));
  }
}

static void on_rim(Pair *p, const Rim *rim, bool ball) {
  if (!(rim->radius > 0)) return;
  const double far = hypot(hypot(p->centre.x, p->centre.y) - rim->radius, p->centre.z - rim->z);
  if (far > p->shape->bounding_radius + p->margin) return;
  if (ball) {
    ball_on_rim(p, rim);
    return;
  }
  bool found = false;
  for (int k = 0; k < SCALES && !found; ++k) {
    p->core = SHRUNK[k];
    p->overlaps = p->overlaps || k > 0;
    found = (p->core == 1 && body_around_rim(p, rim)) || body_on_rim(p, rim);
  }
  p->core = 1;
  const bool flat = p->shape->kind == SCREE_SHAPE_BOX || p->shape->kind == SCREE_SHAPE_POLYHEDRON;
  if (!found && flat && p->rounding == 0) face_on_rim(p, rim);
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
    for (int k = 0; k < corners; ++k) {
      const scree_Vec3 c = corner(&p, k);
      if (p.rounding == 0 || !all_around(&p, &c, AROUND_NAME + AROUND * k))
        point_on_wall(&p, c, scree_feature_vertex(0, k, 0));
    }
    if (corners == 0) round_on_wall(&p);
  }
  const bool ball = a->kind == SCREE_SHAPE_SPHERE;
  const Rim rims[2] = {{w->start[0], w->start[1], {w->along[0], w->along[1]}, 0},
                       {w->start[0] + w->length * w->along[0],
                        w->start[1] + w->length * w->along[1],
                        {-w->along[0], -w->along[1]},
                        1}};
  for (int end = 0; end < 2; ++end) on_rim(&p, &rims[end], ball);
  p.lean = p.overlaps && manifold->count == 0;
  for (int end = 0; end < 2 && p.lean; ++end) on_rim(&p, &rims[end], ball);
}

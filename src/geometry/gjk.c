/* GJK for the distance of separated convex bodies, EPA (libccd) for overlapping ones.
 *
 * Gilbert, Johnson, Keerthi (1988): the closest point v to the origin of the difference of the two
 * bodies is found by a simplex of support points that moves towards it. The closest point of the
 * simplex is found by trying all of its faces and keeping the nearest one whose barycentric
 * coordinates are positive: more work than walking Voronoi regions, but each face is tested
 * independently, so that the search is robust to rounding.
 *
 * libccd compares lengths with fixed tolerances; the pair is therefore scaled to unit size by a
 * power of two, which costs no digits. Flat bodies of 2D become prisms along z that are too tall
 * for EPA to choose the z direction. The gap is then recomputed for the direction that was
 * found. Shallow overlaps, as between bodies at rest, do not need EPA: GJK between the shrunk
 * bodies, then between the bodies pushed apart, gives the normal exactly. If both bodies have a
 * face or an edge facing the other, these are clipped (manifold.h). */
#include "geometry/gjk.h"

#include "geometry/manifold.h"

#include <assert.h>
#include <ccd/ccd.h>
#include <float.h>

enum { MAX_GJK_STEPS = 128, MAX_CLIMB = 200, MAX_PUSHES = 40 };

/* Scale to which bodies are shrunk: with a shallow overlap they are then separated; limit of a
 * shallow overlap, and the extra distance by which bodies are pushed apart, as parts of the smaller
 * width. */
static const double CORE = 0.9, SHALLOW = 0.02, PUSH_ROOM = 0.02;

/* Directions from which the search for the normal of a deep overlap begins, besides the faces, and
 * how many of the best are followed. */
enum { DIRECTIONS = 96, FOLLOWED = 6 };

/* Relative accuracy of the square of a distance. Polytopes end with a corner that is found twice;
 * curved bodies would need many more steps for the last digits, and the normal is as accurate as
 * the root of this. */
static const double CONVERGED = 1e-14;

/* Allowed difference of clipped points from the distance, as a part of the margin, and of the
 * bodies. */
static const double SECOND_ORDER = 1e-3, ROUNDING = 1e-7;

typedef struct Simplex {
  int count;
  scree_Vec3 w[4], a[4], b[4]; /* differences and the support points they come from */
  double weight[4];
} Simplex;

/* Barycentric coordinates of the origin's projection on the affine hull of the points idx [n];
 * false when one is negative or the hull is degenerate. */
static bool project_origin(const Simplex *s, const int *idx, int n, double weight[4],
                           scree_Vec3 *v) {
  scree_Vec3 p = s->w[idx[0]];
  if (n == 1) {
    weight[0] = 1;
    *v = p;
    return true;
  }
  scree_Vec3 e1 = scree_sub(s->w[idx[1]], p);
  if (n == 2) {
    double length2 = scree_norm2(e1), t = -scree_dot(p, e1);
    if (!(t > 0 && t < length2)) return false;
    weight[1] = t / length2;
    weight[0] = 1 - weight[1];
    *v = scree_axpy(p, weight[1], e1);
    return true;
  }
  scree_Vec3 e2 = scree_sub(s->w[idx[2]], p), normal = scree_cross(e1, e2);
  if (n == 3) {
    double area2 = scree_norm2(normal);
    if (!(area2 > 0)) return false;
    scree_Vec3 o = scree_neg(p);
    double t1 = scree_dot(scree_cross(o, e2), normal) / area2;
    double t2 = scree_dot(scree_cross(e1, o), normal) / area2;
    if (!(t1 > 0 && t2 > 0 && t1 + t2 < 1)) return false;
    weight[0] = 1 - t1 - t2;
    weight[1] = t1;
    weight[2] = t2;
    *v = scree_scale(scree_dot(p, normal) / area2, normal);
    return true;
  }
  scree_Vec3 e3 = scree_sub(s->w[idx[3]], p), o = scree_neg(p);
  double volume = scree_dot(normal, e3);
  if (volume == 0) return false;
  weight[1] = scree_dot(o, scree_cross(e2, e3)) / volume;
  weight[2] = scree_dot(o, scree_cross(e3, e1)) / volume;
  weight[3] = scree_dot(o, normal) / volume;
  weight[0] = 1 - weight[1] - weight[2] - weight[3];
  *v = scree_vec3(0, 0, 0);
  return weight[0] > 0 && weight[1] > 0 && weight[2] > 0 && weight[3] > 0;
}

/* Reduce the simplex to the face that holds its point closest to the origin; returns that point. */
static scree_Vec3 reduce(Simplex *s) {
  assert(s->count >= 1 && s->count <= 4);
  scree_Vec3 best_v = s->w[0];
  double best = INFINITY, best_weight[4] = {1, 0, 0, 0};
  int best_idx[4] = {0, 0, 0, 0}, best_n = 1;
  for (int mask = 1; mask < 1 << s->count; mask++) {
    int idx[4] = {0, 0, 0, 0}, n = 0;
    for (int k = 0; k < s->count; k++)
      if (mask & 1 << k) idx[n++] = k;
    double weight[4];
    scree_Vec3 v;
    if (!project_origin(s, idx, n, weight, &v)) continue;
    double distance2 = scree_norm2(v);
    if (!(distance2 < best)) continue;
    best = distance2;
    best_v = v;
    best_n = n;
    for (int k = 0; k < n; k++) best_idx[k] = idx[k], best_weight[k] = weight[k];
  }
  Simplex old = *s;
  s->count = best_n;
  for (int k = 0; k < best_n; k++) {
    s->w[k] = old.w[best_idx[k]];
    s->a[k] = old.a[best_idx[k]];
    s->b[k] = old.b[best_idx[k]];
    s->weight[k] = best_weight[k];
  }
  return best_v;
}

static bool same(scree_Vec3 a, scree_Vec3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

double scree_gjk_distance(scree_SupportFunction support_a, const void *a,
                          scree_SupportFunction support_b, const void *b, scree_Vec3 start,
                          scree_Vec3 *point_a, scree_Vec3 *point_b, scree_Vec3 *normal) {
  return scree_gjk_within(support_a, a, support_b, b, start, INFINITY, point_a, point_b, normal);
}

double scree_gjk_within(scree_SupportFunction support_a, const void *a,
                        scree_SupportFunction support_b, const void *b, scree_Vec3 start,
                        double reach, scree_Vec3 *point_a, scree_Vec3 *point_b,
                        scree_Vec3 *normal) {
  Simplex s = {.count = 0};
  scree_Vec3 v = start;
  double distance2 = INFINITY, scale2 = 0;
  if (!(scree_norm2(v) > 0)) v = scree_vec3(0, 1, 0);
  for (int step = 0; step < MAX_GJK_STEPS; step++) {
    scree_Vec3 qa = support_a(a, scree_neg(v)), qb = support_b(b, v), w = scree_sub(qa, qb);
    bool repeated = false;
    for (int k = 0; k < s.count; k++) repeated = repeated || same(w, s.w[k]);
    if (repeated) break;
    const double along = scree_dot(v, w);
    if (s.count > 0 && distance2 - along <= CONVERGED * distance2) break;
    /* the plane across v separates the bodies by along / |v| */
    if (s.count > 0 && along > 0 && along * along > reach * reach * distance2 && reach >= 0) {
      *normal = scree_unit_or(v, scree_vec3(0, 1, 0));
      return along / sqrt(distance2);
    }
    scale2 = fmax(scale2, scree_norm2(w));
    Simplex before = s;
    s.w[s.count] = w;
    s.a[s.count] = qa;
    s.b[s.count++] = qb;
    scree_Vec3 next = reduce(&s);
    double next2 = scree_norm2(next);
    if (s.count == 4 || next2 <= 1e-28 * scale2) return 0;
    if (!(next2 < distance2)) { /* rounding: no closer than before */
      s = before;
      break;
    }
    v = next;
    distance2 = next2;
  }
  *point_a = *point_b = scree_vec3(0, 0, 0);
  for (int k = 0; k < s.count; k++) {
    *point_a = scree_axpy(*point_a, s.weight[k], s.a[k]);
    *point_b = scree_axpy(*point_b, s.weight[k], s.b[k]);
  }
  *normal = scree_unit_or(v, scree_vec3(0, 1, 0));
  return sqrt(distance2);
}

/* ---- any two shapes ---- */

typedef struct Posed {
  const scree_Shape *shape;
  scree_Mat3 axes;
  scree_Vec3 centre; /* relative to the second body */
  double scale;      /* lengths are multiplied by this for libccd */
  double height;     /* half height of the prism of a 2D shape, 0 in 3D */
  double core;       /* 1, or the scale by which the shape is shrunk about its origin */
} Posed;

static scree_Vec3 posed_support(const void *body, scree_Vec3 direction) {
  const Posed *p = body;
  scree_Vec3 local = scree_shape_support(p->shape, scree_mat3_tmul(&p->axes, direction));
  scree_Vec3 x = scree_axpy(p->centre, p->core, scree_mat3_mul(&p->axes, local));
  if (p->height > 0) x.z = direction.z < 0 ? -p->height : p->height;
  return scree_scale(p->scale, x);
}

static void ccd_support(const void *body, const ccd_vec3_t *direction, ccd_vec3_t *out) {
  scree_Vec3 x = posed_support(
      body, scree_vec3(ccdVec3X(direction), ccdVec3Y(direction), ccdVec3Z(direction)));
  ccdVec3Set(out, x.x, x.y, x.z);
}

static void ccd_centre(const void *body, ccd_vec3_t *out) {
  const Posed *p = body;
  scree_Vec3 c = scree_scale(p->scale, p->centre);
  ccdVec3Set(out, c.x, c.y, c.z);
}

/* Direction from the second to the first along which the overlap is least, by EPA. */
static bool penetration_normal(Posed a, Posed b, scree_Vec3 *n) {
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = ccd_support;
  ccd.center1 = ccd.center2 = ccd_centre;
  ccd.max_iterations = 200;
  ccd.epa_tolerance = 1e-10;
  int exponent;
  frexp(a.shape->bounding_radius + b.shape->bounding_radius, &exponent);
  a.scale = b.scale = ldexp(1, -exponent);
  ccd_real_t depth;
  ccd_vec3_t direction, position;
  if (ccdGJKPenetration(&a, &b, &ccd, &depth, &direction, &position) != 0) return false;
  scree_Vec3 d = scree_vec3(-ccdVec3X(&direction), -ccdVec3Y(&direction), -ccdVec3Z(&direction));
  if (a.height > 0) d.z = 0;
  double length = scree_norm(d);
  if (!isfinite(length) || !(length > 0.5)) return false;
  *n = scree_scale(1 / length, d);
  return true;
}

/* Separation along n, with the support points; its gradient is qa - qb. */
static double separation(const Posed *a, const Posed *b, scree_Vec3 n, scree_Vec3 *qa,
                         scree_Vec3 *qb) {
  assert(scree_is_unit(n));
  *qa = posed_support(a, scree_neg(n));
  *qb = posed_support(b, n);
  return scree_dot(n, scree_sub(*qa, *qb));
}

/* Gradient ascent from *n: EPA stops early on curved bodies. `size` makes the step independent of
 * units. */
static double climb(const Posed *a, const Posed *b, double size, bool flat, scree_Vec3 *n) {
  assert(size > 0);
  scree_Vec3 qa, qb;
  double f = separation(a, b, *n, &qa, &qb), step = 1 / size;
  for (int k = 0; k < MAX_CLIMB && step * size > DBL_EPSILON; k++) {
    scree_Vec3 g = scree_sub(qa, qb), pa, pb;
    scree_Vec3 next = scree_axpy(*n, step, scree_axpy(g, -f, *n));
    if (flat) next.z = 0;
    next = scree_unit_or(next, *n);
    double value = separation(a, b, next, &pa, &pb);
    if (value > f) {
      f = value, *n = next, qa = pa, qb = pb;
      step *= 1.5;
    } else {
      step *= 0.5;
    }
  }
  return f;
}

/* The proximal point method for the largest separation f of overlapping bodies: moved apart by t
 * along n they have the separation f(m) + t n.m, whose largest value GJK finds once they are apart.
 * Its direction m has f(m) >= f(n) + t (1 - n.m), so every step climbs, also along the ridges of
 * polytopes, where a gradient would stop. */
static double push_apart(Posed a, const Posed *b, double size, scree_Vec3 *n) {
  scree_Vec3 qa, qb, centre = a.centre;
  double f = separation(&a, b, *n, &qa, &qb);
  for (int k = 0; k < MAX_PUSHES; ++k) {
    scree_Vec3 m = *n;
    const double t = fmax(-f, 0) + PUSH_ROOM * size;
    a.centre = scree_axpy(centre, t, *n);
    if (!(scree_gjk_distance(posed_support, &a, posed_support, b, *n, &qa, &qb, &m) > 0)) break;
    a.centre = centre;
    const double value = separation(&a, b, m, &qa, &qb);
    const double turned = scree_norm2(scree_sub(m, *n));
    if (!(value > f)) break;
    f = value;
    *n = m;
    if (turned < 1e-24) break;
  }
  return f;
}

/* The points where two overlapping bodies touch after they are pushed apart along n: unlike
 * the support points these are opposite each other, also if the furthest feature is a face
 * or an edge. */
static double witness(Posed a, const Posed *b, double size, scree_Vec3 n, scree_Vec3 *qa,
                      scree_Vec3 *qb) {
  const double f = separation(&a, b, n, qa, qb), t = fmax(-f, 0) + PUSH_ROOM * size;
  scree_Vec3 pa, pb, m;
  a.centre = scree_axpy(a.centre, t, n);
  if (scree_gjk_distance(posed_support, &a, posed_support, b, n, &pa, &pb, &m) > 0) {
    *qa = scree_axpy(pa, -t, n);
    *qb = pb;
  }
  return f;
}

/* Direction in which the cores of two bodies, which are the bodies shrunk about their centres, are
 * separated; false if they overlap too. */
static bool core_normal(Posed a, Posed b, scree_Vec3 *n) {
  scree_Vec3 qa, qb;
  a.core = b.core = CORE;
  return scree_gjk_distance(posed_support, &a, posed_support, &b, a.centre, &qa, &qb, n) > 0;
}

/* The best few directions so far. */
typedef struct Starts {
  scree_Vec3 n[FOLLOWED];
  double value[FOLLOWED];
} Starts;

static void consider(const Posed *a, const Posed *b, scree_Vec3 n, Starts *s) {
  scree_Vec3 qa, qb;
  const double value = separation(a, b, n, &qa, &qb);
  int worst = 0;
  for (int k = 0; k < FOLLOWED; ++k) {
    if (scree_dot(s->n[k], n) > 0.95 && s->value[k] > value) return; /* the same hill */
    if (s->value[k] < s->value[worst]) worst = k;
  }
  if (value > s->value[worst]) s->value[worst] = value, s->n[worst] = n;
}

static void consider_faces(const Posed *a, const Posed *b, const Posed *of, double sign,
                           Starts *s) {
  const scree_Polyhedron *p = of->shape->data ? of->shape->data->polyhedron : NULL;
  for (int f = 0; p && f < p->face_count; ++f)
    consider(a, b, scree_scale(sign, scree_mat3_mul(&of->axes, p->normal[f])), s);
  for (int k = 0; !p && k < 6; ++k) /* axes of boxes, cylinders, cones, ... */
    consider(a, b, scree_scale(k & 1 ? 1 : -1, scree_column(&of->axes, k / 2)), s);
}

/* A deep overlap may have several local maxima of the separation: follow the best of many
 * directions. */
static double search_widely(const Posed *a, const Posed *b, double size, double f, scree_Vec3 *n) {
  Starts s;
  for (int k = 0; k < FOLLOWED; ++k) s.value[k] = -INFINITY, s.n[k] = scree_vec3(0, 0, 0);
  consider_faces(a, b, a, -1, &s);
  consider_faces(a, b, b, 1, &s);
  for (int k = 0; k < DIRECTIONS; ++k) { /* golden spiral */
    const double z = 1 - (2 * k + 1.0) / DIRECTIONS, r = sqrt(1 - z * z), t = 2.399963229728653 * k;
    consider(a, b, scree_vec3(r * cos(t), r * sin(t), z), &s);
  }
  for (int k = 0; k < FOLLOWED; ++k) {
    if (!(s.value[k] > -INFINITY)) continue;
    const double value = push_apart(*a, b, size, &s.n[k]);
    if (value > f) f = value, *n = s.n[k];
  }
  return f;
}

static int face_count(const scree_Shape *shape) {
  if (shape->kind == SCREE_SHAPE_BOX) return 6;
  return shape->data && shape->data->polyhedron ? shape->data->polyhedron->face_count : 0;
}

/* The face of `of` that separates the bodies, within rounding, as well as the best direction so far
 * does, and is closest to the direction between their cores. */
static void settle_on_faces(const Posed *a, const Posed *b, const Posed *of, double sign,
                            double least, scree_Vec3 core, double *best, scree_Vec3 *n) {
  const scree_Polyhedron *p = of->shape->data ? of->shape->data->polyhedron : NULL;
  const int count = face_count(of->shape);
  for (int f = 0; f < count; ++f) {
    const scree_Vec3 normal = p ? scree_mat3_mul(&of->axes, p->normal[f])
                                : scree_scale(f & 1 ? 1 : -1, scree_column(&of->axes, f / 2));
    const scree_Vec3 m = scree_scale(sign, normal);
    scree_Vec3 qa, qb;
    if (!(scree_dot(core, m) > *best + ROUNDING) || separation(a, b, m, &qa, &qb) < least) continue;
    *best = scree_dot(core, m);
    *n = m;
  }
}

/* Bodies that share an edge or a corner are separated by any plane through it, and rounding would
 * choose another one in each step: then the normal is that of a face. */
static void settle_normal(const Posed *a, const Posed *b, double bound, scree_Vec3 core,
                          scree_Vec3 *n) {
  scree_Vec3 qa, qb;
  const double least = separation(a, b, *n, &qa, &qb) - ROUNDING * bound;
  double best = -1;
  settle_on_faces(a, b, a, -1, least, core, &best, n);
  settle_on_faces(a, b, b, 1, least, core, &best, n);
}

/* Normal and separation of two bodies, A's centre being relative to B's; the points are relative to
 * B. Returns false when they are further apart than `margin`. */
static bool find_separation(const Posed *A, const Posed *B, bool flat, double margin, double *gap,
                            scree_Vec3 *n, scree_Vec3 *qa, scree_Vec3 *qb) {
  const scree_Vec3 d = A->centre;
  const double bound = A->shape->bounding_radius + B->shape->bounding_radius;
  *gap = scree_gjk_within(posed_support, A, posed_support, B, d, margin, qa, qb, n);
  /* Where bodies almost touch, the closest point may be rounding alone, and its direction any, even
   * that into the other body: then it does not separate them, and they are treated as touching. */
  scree_Vec3 pa, pb;
  const bool far_apart = *gap > ROUNDING * bound;
  const bool separates =
      *gap > 0 && (far_apart || flat || separation(A, B, *n, &pa, &pb) > CORE * *gap);
  const bool faces = !flat && (face_count(A->shape) > 0 || face_count(B->shape) > 0);
  if (separates && (far_apart || !faces)) return *gap <= margin;
  const double size = fmin(A->shape->size, B->shape->size);
  scree_Vec3 other = scree_unit_or(d, flat ? scree_vec3(0, 1, 0) : scree_vec3(0, 0, 1));
  /* a shallow overlap has the same normal as the slightly separated bodies */
  scree_Vec3 core;
  if (!flat && core_normal(*A, *B, &core)) {
    if (!separates) {
      *n = core;
      *gap = push_apart(*A, B, size, n);
    }
    if (*gap >= -SHALLOW * size) {
      if (faces && fabs(*gap) <= ROUNDING * bound) settle_normal(A, B, bound, core, n);
      *gap = witness(*A, B, size, *n, qa, qb);
      return *gap <= margin;
    }
  }
  Posed a = *A, b = *B;
  if (flat) a.height = b.height = 8 * bound;
  if (!penetration_normal(a, b, n)) *n = other;
  if (climb(A, B, bound, flat, n) < climb(A, B, bound, flat, &other)) *n = other;
  if (!flat) search_widely(A, B, size, push_apart(*A, B, size, n), n);
  *gap = flat ? separation(A, B, *n, qa, qb) : witness(*A, B, size, *n, qa, qb);
  return *gap <= margin;
}

/* The corner of a feature that is nearest to the point x, given relative to the shape's origin. */
static int nearest_corner(const scree_Feature *f, const scree_Mat3 *axes, scree_Vec3 x) {
  const scree_Vec3 local = scree_mat3_tmul(axes, x);
  int best = 0;
  for (int k = 1; k < f->count; ++k)
    if (scree_norm2(scree_sub(f->point[k], local)) < scree_norm2(scree_sub(f->point[best], local)))
      best = k;
  return f->corner[best];
}

void scree_collide_convex(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                          const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  const bool flat = scree_shape_type(a->kind)->dimension == 2;
  const scree_Vec3 d = scree_sub(pa->position, pb->position);
  if (scree_norm(d) > a->bounding_radius + b->bounding_radius + margin) return;
  /* the separation of rounded bodies is that of their cores less their radii */
  const scree_Shape core_a = scree_shape_core(a), core_b = scree_shape_core(b);
  const double ra = scree_shape_rounding(a), rb = scree_shape_rounding(b);
  const Posed A = {&core_a, scree_quat_matrix(pa->orientation), d, 1, 0, 1};
  const Posed B = {&core_b, scree_quat_matrix(pb->orientation), {0, 0, 0}, 1, 0, 1};
  scree_Vec3 qa, qb, n;
  double gap;
  if (!find_separation(&A, &B, flat, margin + ra + rb, &gap, &n, &qa, &qb)) return;
  gap -= ra + rb;
  qa = scree_axpy(qa, -ra, n);
  qb = scree_axpy(qb, rb, n);
  uint32_t name = scree_feature_closest();
  if (!flat) {
    scree_Feature fa, fb;
    scree_shape_feature(a, scree_neg(scree_mat3_tmul(&A.axes, n)), &fa);
    scree_shape_feature(b, scree_mat3_tmul(&B.axes, n), &fb);
    name = scree_feature_closest_of(nearest_corner(&fa, &A.axes, scree_sub(qa, d)),
                                    nearest_corner(&fb, &B.axes, qb));
    if (fa.count > 1 && fb.count > 1) {
      scree_feature_place(&fa, &A.axes, d);
      scree_feature_place(&fb, &B.axes, scree_vec3(0, 0, 0));
      const double least = scree_feature_clip(&fa, &fb, n, pb->position, margin, manifold);
      const double excess = SECOND_ORDER * fmax(margin, fabs(gap)) +
                            ROUNDING * fmin(a->bounding_radius, b->bounding_radius);
      if (manifold->count >= 2 && fabs(least - gap) <= excess) return;
      manifold->count = 0;
    }
  }
  scree_manifold_add(manifold, scree_add(pb->position, scree_scale(0.5, scree_add(qa, qb))), n, gap,
                     name);
}

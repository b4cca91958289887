/* Polygons and segments against each other (2D, flat edges, possibly rounded).
 *
 * The edge of largest separation (over both bodies) gives the normal: exactly so when the bodies
 * overlap, and also when they are apart and the closest points lie on that edge. Otherwise the
 * closest points are two corners. The edge of the other body that faces the normal is clipped to
 * the length of the reference edge, which gives up to two contact points; their ids are corners,
 * the same whichever of the two edges was the reference.
 *
 * Two corners near each other may belong to edges that are nearly parallel (a brick that slightly
 * overhangs another): then the clipped edge is used as well if it has two points within the margin.
 * Its gaps differ from the distance of the corners only to second order in the tilt. */
#include "geometry/narrow.h"

/* Cosine above which a normal counts as close to that of an edge. */
static const double ALIGNED = 0.98;

/* Allowed difference of clipped points from the distance, as a part of the margin. */
static const double SECOND_ORDER = 1e-3;

/* Edges whose separations differ by less than this part of the bodies separate equally well:
 * polygons that share a corner. Of these the one along whose normal the bodies are wider counts, or
 * the first, so that rounding does not choose another normal in each step. */
static const double TOUCH = 1e-7;

/* An end this part of the reference edge beyond it is on it; points closer to each other are one.
 */
static const double ALONG = 1e-6, SAME = 1e-5;

typedef struct Flat {
  int n;
  const scree_Vec3 *v, *normal; /* [n] in the body's frame; edge k is v[k] -> v[k+1] */
  scree_Vec3 bar[4];
  scree_Vec3 centre; /* relative to the second body */
  scree_Mat3 axes;
  double radius;
} Flat;

static void set_flat(Flat *f, const scree_Shape *s, const scree_Pose *pose, scree_Vec3 centre) {
  f->axes = scree_quat_matrix(pose->orientation);
  f->centre = centre;
  f->radius = s->radius;
  f->n = s->vertex_count;
  f->v = s->vertices;
  if (s->kind == SCREE_SHAPE_SEGMENT) {
    f->n = 2;
    f->bar[0] = scree_vec3(-s->half_length, 0, 0);
    f->bar[1] = scree_vec3(s->half_length, 0, 0);
    f->bar[2] = scree_vec3(0, -1, 0);
    f->bar[3] = scree_vec3(0, 1, 0);
    f->v = f->bar;
  }
  f->normal = f->v + f->n;
}

static scree_Vec3 vertex(const Flat *f, int k) {
  return scree_add(f->centre, scree_mat3_mul(&f->axes, f->v[k]));
}

static int next(const Flat *f, int k) {
  return k + 1 < f->n ? k + 1 : 0;
}

/* Separation of g from edge k of f; *reach is the width of both from centre to centre. */
static double edge_separation(const Flat *f, const Flat *g, int k, double *reach) {
  scree_Vec3 offset = scree_sub(g->centre, f->centre);
  scree_Vec3 n = scree_mat3_mul(&f->axes, f->normal[k]), local = scree_mat3_tmul(&g->axes, n);
  double low = INFINITY;
  for (int j = 0; j < g->n; j++) low = fmin(low, scree_dot(local, g->v[j]));
  *reach = scree_dot(f->normal[k], f->v[k]) - low;
  return scree_dot(n, offset) - *reach;
}

/* Largest separation over the edges of f of all of g; *edge is where. */
static double largest_separation(const Flat *f, const Flat *g, double touch, int *edge,
                                 double *reach) {
  double most = -INFINITY, chosen = -INFINITY, width;
  for (int k = 0; k < f->n; k++) {
    double s = edge_separation(f, g, k, &width);
    if (s > most + touch || (s > most - touch && width > *reach + touch))
      *edge = k, *reach = width, chosen = s;
    most = fmax(most, s);
  }
  return chosen;
}

/* The edge of g that faces n most directly. */
static int facing_edge(const Flat *g, scree_Vec3 n) {
  scree_Vec3 local = scree_mat3_tmul(&g->axes, n);
  int best = 0;
  double least = INFINITY;
  for (int k = 0; k < g->n; k++) {
    double s = scree_dot(local, g->normal[k]);
    if (s < least) least = s, best = k;
  }
  return best;
}

/* The two corners (or corner and edge) of f and g that are closest, for separated bodies. */
static double closest_points(const Flat *f, const Flat *g, scree_Vec3 *on_f, scree_Vec3 *on_g) {
  double best = INFINITY;
  for (int turn = 0; turn < 2; turn++) {
    const Flat *p = turn ? g : f, *q = turn ? f : g;
    for (int k = 0; k < p->n; k++) {
      scree_Vec3 x = vertex(p, k);
      for (int j = 0; j < q->n; j++) {
        scree_Vec3 a = vertex(q, j), e = scree_sub(vertex(q, next(q, j)), a);
        double t = scree_dot(scree_sub(x, a), e) / scree_norm2(e);
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        scree_Vec3 y = scree_axpy(a, t, e);
        double distance2 = scree_norm2(scree_sub(x, y));
        if (distance2 >= best) continue;
        best = distance2;
        *on_f = turn ? y : x;
        *on_g = turn ? x : y;
      }
    }
  }
  return sqrt(best);
}

/* Clip the edge of `inc` that faces edge k of `ref` to its length and keep the points within the
 * margin. body: which of the two `ref` is. Returns the least gap, over all points. */
static double clip(const Flat *ref, int k, const Flat *inc, int body, scree_Vec3 origin,
                   double margin, scree_Manifold *manifold) {
  scree_Vec3 n = scree_mat3_mul(&ref->axes, ref->normal[k]); /* from ref to inc */
  int start = facing_edge(inc, n), ends[2] = {start, next(inc, start)};
  int corners[2] = {k, next(ref, k)};
  scree_Vec3 a = vertex(ref, corners[0]), b = vertex(ref, corners[1]), e = scree_sub(b, a);
  scree_Vec3 p[2] = {vertex(inc, ends[0]), vertex(inc, ends[1])};
  double length2 = scree_norm2(e), least = INFINITY;
  double t[2] = {scree_dot(e, scree_sub(p[0], a)), scree_dot(e, scree_sub(p[1], a))};
  double low = fmin(t[0], t[1]), high = fmax(t[0], t[1]);
  if (low > (1 + ALONG) * length2 || high < -ALONG * length2) return INFINITY;
  bool point = fmin(high, length2) - fmax(low, 0) <= SAME * length2 && high - low > SAME * length2;
  int only = fabs(t[0] - 0.5 * length2) < fabs(t[1] - 0.5 * length2) ? 0 : 1; /* on the edge */
  for (int m = 0; m < 2; m++) {
    if (point && m != only) continue;
    scree_Vec3 x = p[m];
    uint32_t feature = scree_feature_vertex(1 - body, ends[m], 0);
    if (t[m] < 0 || t[m] > length2) { /* cut at the corner of the reference edge */
      double limit = t[m] < 0 ? 0 : length2, s = (limit - t[m]) / (t[1 - m] - t[m]);
      x = scree_axpy(p[m], s, scree_sub(p[1 - m], p[m]));
      feature = scree_feature_vertex(body, corners[t[m] < 0 ? 0 : 1], 0);
    }
    double gap = scree_dot(n, scree_sub(x, a)) - ref->radius - inc->radius;
    least = fmin(least, gap);
    if (!(gap <= margin)) continue;
    scree_Vec3 middle = scree_axpy(x, -(inc->radius + 0.5 * gap), n);
    scree_manifold_add(manifold, scree_add(origin, middle), body == 0 ? scree_neg(n) : n, gap,
                       feature);
  }
  return least;
}

/* One contact at the corner of `inc` that is deepest along n (from the second body to the first).
 */
static void add_deepest(const Flat *inc, int body, scree_Vec3 n, double gap, scree_Vec3 origin,
                        double margin, scree_Manifold *manifold) {
  if (!(gap <= margin)) return;
  scree_Vec3 out = body == 0 ? scree_neg(n) : n; /* from ref to inc */
  int best = 0;
  for (int k = 1; k < inc->n; k++)
    if (scree_dot(out, vertex(inc, k)) < scree_dot(out, vertex(inc, best))) best = k;
  scree_Vec3 x = scree_axpy(vertex(inc, best), -(inc->radius + 0.5 * gap), out);
  scree_manifold_add(manifold, scree_add(origin, x), n, gap,
                     scree_feature_vertex(1 - body, best, 0));
}

void scree_collide_flat2(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                         const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  Flat A, B;
  scree_Vec3 d = scree_sub(pa->position, pb->position), origin = pb->position;
  double bound = a->bounding_radius + b->bounding_radius + margin;
  if (scree_norm2(d) > bound * bound) return;
  set_flat(&A, a, pa, d);
  set_flat(&B, b, pb, scree_vec3(0, 0, 0));
  double radii = A.radius + B.radius;
  int edge_a = 0, edge_b = 0;
  double touch = TOUCH * bound, reach_a = 0, reach_b = 0;
  double from_a = largest_separation(&A, &B, touch, &edge_a, &reach_a);
  if (from_a - radii > margin) return;
  double from_b = largest_separation(&B, &A, touch, &edge_b, &reach_b);
  if (from_b - radii > margin) return;
  bool first = fabs(from_a - from_b) <= touch ? reach_a >= reach_b - touch : from_a > from_b;
  double separation = first ? from_a : from_b;
  double rounding = fabs(separation) <= touch ? touch : 1e-13 * bound;
  const Flat *ref = first ? &A : &B, *inc = first ? &B : &A;
  int edge = first ? edge_a : edge_b, body = first ? 0 : 1;
  double least = clip(ref, edge, inc, body, origin, margin, manifold);
  if (least - (separation - radii) <= rounding) return;
  scree_Vec3 n = scree_mat3_mul(&ref->axes, ref->normal[edge]); /* from ref to inc */
  if (body == 0) n = scree_neg(n);
  /* segments in one line have no edge between them, and no separation along their normals */
  const bool in_line = A.n == 2 && B.n == 2 && separation >= -touch;
  if (separation <= 0 && !in_line) {
    if (manifold->count == 0)
      add_deepest(inc, body, n, separation - radii, origin, margin, manifold);
    return;
  }
  /* Apart, and not closest on the reference edge: two corners. */
  scree_Vec3 qa = A.centre, qb = B.centre;
  double distance = closest_points(&A, &B, &qa, &qb);
  scree_Vec3 between = distance > 0 ? scree_scale(1 / distance, scree_sub(qa, qb)) : n;
  double gap = distance - radii, excess = SECOND_ORDER * fmax(margin, fabs(gap));
  if (manifold->count == 2 && scree_dot(between, n) > ALIGNED && fabs(least - gap) <= excess)
    return;
  manifold->count = 0;
  if (!(gap <= margin)) return;
  scree_Vec3 sa = scree_axpy(qa, -A.radius, between), sb = scree_axpy(qb, B.radius, between);
  scree_manifold_add(manifold, scree_add(origin, scree_scale(0.5, scree_add(sa, sb))), between, gap,
                     scree_feature_closest());
}

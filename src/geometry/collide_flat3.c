/* Boxes and capsules against boxes (3D, flat faces, possibly rounded).
 *
 * The core of a capsule is a bar: a box with only one nonzero half extent. Both are centrally
 * symmetric, so that the separation along a direction n is |n . d| - h_A(n) - h_B(n). It is largest
 * along a face normal or along the product of two edge directions when the cores overlap, and also
 * when they are apart with a face or two crossing edges closest; otherwise GJK gives the closest
 * points exactly. The face of the other body opposite the reference face is then clipped to it
 * (Sutherland and Hodgman), which gives up to eight points.
 *
 * Every edge of the clipped polygon records whether it is an edge of the incident face or a side
 * of the reference face. So each of its corners is known as a corner of one body or the crossing of
 * two edges, and keeps its id whichever face was the reference.
 *
 * When a direction other than a face normal is best, but within a few degrees of one (a slightly
 * tilted slab that overhangs another), and clipping finds two or more points within the margin,
 * these are the contacts: their gaps differ from the distance to second order in the tilt only. */
#include "geometry/clip.h"
#include "geometry/gjk.h"

/* Cosine above which a normal counts as close to that of a face. */
static const double ALIGNED = 0.98;

/* Allowed difference of clipped points from the distance, as a part of the margin. */
static const double SECOND_ORDER = 1e-3;

/* Overlap, as a part of the smaller width, beyond which the normal of a face must separate the
 * whole bodies as well as the best direction does. A slab that overhangs another and leans on its
 * edge need not be separated by the plane of the other's face beyond it. */
static const double SHALLOW = 0.02;

typedef struct Hull {
  bool bar;
  scree_Vec3 centre; /* relative to the second body */
  scree_Mat3 axes;
  double half[3]; /* a bar's are 0, 0, half_length */
  double radius;
} Hull;

static Hull make_hull(const scree_Shape *s, const scree_Pose *pose, scree_Vec3 centre) {
  bool bar = s->kind == SCREE_SHAPE_CAPSULE;
  Hull h = {bar, centre, scree_quat_matrix(pose->orientation), {0, 0, s->half_length}, s->radius};
  if (!bar) h.half[0] = s->semi.x, h.half[1] = s->semi.y, h.half[2] = s->semi.z;
  return h;
}

static scree_Vec3 axis(const Hull *h, int k) {
  return scree_column(&h->axes, k);
}

/* Half the width along n. */
static double reach_of(const Hull *h, scree_Vec3 n) {
  double r = h->half[2] * fabs(scree_dot(n, h->axes.z));
  if (h->bar) return r;
  return r + h->half[0] * fabs(scree_dot(n, h->axes.x)) +
         h->half[1] * fabs(scree_dot(n, h->axes.y));
}

/* Corner with bit k set where it lies on the positive side of axis k. */
static scree_Vec3 corner(const Hull *h, int bits) {
  scree_Vec3 x = h->centre;
  for (int k = 0; k < 3; k++)
    x = scree_axpy(x, bits & 1 << k ? h->half[k] : -h->half[k], axis(h, k));
  return x;
}

static int corner_towards(const Hull *h, scree_Vec3 n) {
  int bits = 0;
  for (int k = 0; k < 3; k++)
    if (scree_dot(n, axis(h, k)) >= 0) bits |= 1 << k;
  return bits;
}

static scree_Vec3 hull_support(const void *body, scree_Vec3 direction) {
  return corner(body, corner_towards(body, direction));
}

/* Id of the edge of a box along axis k through the corner `bits`: 0 to 11. */
static int edge_id(int k, int bits) {
  int i = (k + 1) % 3, j = (k + 2) % 3;
  return 4 * k + 2 * (bits >> i & 1) + (bits >> j & 1);
}

/* Directions whose separations differ by less than this part of the bodies separate equally well:
 * boxes that share an edge or a corner. Of these the one along which the bodies are wider counts,
 * or the first, so that rounding does not choose another normal in each step. */
static const double TOUCH = 1e-7;

/* A direction from the second body to the first, its separation, and its origin. */
typedef struct Axis {
  double separation;
  double reach; /* half the width of both bodies */
  scree_Vec3 n;
  int body, face; /* face normal: body 0 or 1, axis 0 to 2 */
  int ea, eb;     /* edges: the two axes */
} Axis;

static double separation_along(const Hull *a, const Hull *b, scree_Vec3 d, scree_Vec3 *n,
                               double *reach) {
  double along = scree_dot(*n, d);
  if (along < 0) *n = scree_neg(*n);
  *reach = reach_of(a, *n) + reach_of(b, *n);
  return fabs(along) - *reach;
}

/* Returns false as soon as some direction separates by more than `reach`. */
static bool best_axes(const Hull *a, const Hull *b, double reach, double touch, Axis *face,
                      Axis *edges) {
  scree_Vec3 d = scree_sub(a->centre, b->centre);
  Axis faces[6];
  int count = 0;
  double most = -INFINITY, width;
  *face = *edges = (Axis){.separation = -INFINITY};
  for (int body = 0; body < 2; body++) {
    const Hull *h = body ? b : a;
    for (int k = 0; k < 3 && !h->bar; k++) {
      scree_Vec3 n = axis(h, k);
      double s = separation_along(a, b, d, &n, &width);
      if (s > reach) return false;
      most = fmax(most, s);
      faces[count++] = (Axis){s, width, n, body, k, 0, 0};
    }
  }
  for (int k = 0; k < count; k++)
    if (faces[k].separation >= most - touch && faces[k].reach > face->reach + touch)
      *face = faces[k];
  for (int i = a->bar ? 2 : 0; i < 3; i++)
    for (int j = b->bar ? 2 : 0; j < 3; j++) {
      scree_Vec3 n = scree_cross(axis(a, i), axis(b, j));
      double sine2 = scree_norm2(n);
      if (sine2 < 1e-12) continue; /* parallel: the product is no direction */
      n = scree_scale(1 / sqrt(sine2), n);
      double s = separation_along(a, b, d, &n, &width);
      if (s > reach) return false;
      if (s > edges->separation) *edges = (Axis){s, width, n, 0, 0, i, j};
    }
  return true;
}

/* ---- clipping ---- */

typedef scree_ClipCorner Corner;

enum { MAX_CORNERS = 16 };

typedef struct Clip {
  const Hull *ref, *inc;
  int body;    /* which of the two is the reference */
  int face;    /* axis of the reference face */
  int side;    /* 1 when it is on the positive side */
  int axis[2]; /* the axes along the face */
} Clip;

/* Corner bits of the reference face where its sides p and q meet; sides are 2 * (axis) +
 * (positive). With p == q: one end of side p. */
static int side_bits(const Clip *c, int p, int q) {
  int bits = c->side << c->face;
  bits |= (p & 1) << c->axis[p >> 1];
  bits |= (q & 1) << c->axis[q >> 1];
  return bits;
}

static uint32_t crossing_feature(const Clip *c, int edge, int p) {
  if (edge < 0) return scree_feature_vertex(c->body, side_bits(c, -1 - edge, p), 0);
  int along = c->axis[1 - (p >> 1)], ref_edge = edge_id(along, side_bits(c, p, p));
  return c->body == 0 ? scree_feature_edges(ref_edge, edge) : scree_feature_edges(edge, ref_edge);
}

/* Clip the part beyond side p. */
static int clip_side(const Clip *c, int p, const Corner *in, int n, Corner *out) {
  int m = 0, k = p >> 1;
  double sign = p & 1 ? 1 : -1, limit = c->ref->half[c->axis[k]];
  double least = -SCREE_CLIP_ALONG * (c->ref->half[c->axis[0]] + c->ref->half[c->axis[1]]);
  for (int i = 0; i < n; i++) {
    const Corner *cur = &in[i], *nxt = &in[i + 1 < n ? i + 1 : 0];
    double x = limit - sign * cur->u[k], y = limit - sign * nxt->u[k];
    bool inside = x >= least;
    if (inside) out[m++] = *cur;
    if (inside == (y >= least)) continue;
    double t = fmax(0, fmin(1, x / (x - y)));
    Corner cut = {
        {cur->u[0] + t * (nxt->u[0] - cur->u[0]), cur->u[1] + t * (nxt->u[1] - cur->u[1])},
        cur->height + t * (nxt->height - cur->height),
        crossing_feature(c, cur->edge, p),
        inside ? -1 - p : cur->edge};
    if (t > 0 && t < 1) cut.u[k] = sign * limit;
    out[m++] = cut;
  }
  return m;
}

/* The face of `inc` opposite n, or its bar, as a polygon; returns the number of corners. */
static int incident_corners(const Clip *c, scree_Vec3 n, int bits[4], int edge[4]) {
  const Hull *h = c->inc;
  if (h->bar) {
    bits[0] = 0, bits[1] = 4;
    edge[0] = edge[1] = 0;
    return 2;
  }
  int face = 0;
  double most = -1;
  for (int k = 0; k < 3; k++) {
    double s = fabs(scree_dot(n, axis(h, k)));
    if (s > most) most = s, face = k;
  }
  int base = scree_dot(n, axis(h, face)) < 0 ? 1 << face : 0;
  int i = (face + 1) % 3, j = (face + 2) % 3;
  bits[0] = base, bits[1] = base | 1 << i, bits[2] = bits[1] | 1 << j, bits[3] = base | 1 << j;
  edge[0] = edge_id(i, bits[0]), edge[1] = edge_id(j, bits[1]);
  edge[2] = edge_id(i, bits[2]), edge[3] = edge_id(j, bits[3]);
  return 4;
}

/* Contacts between the face of body `body` along `face` that is on the side of n and the opposite
 * feature of the other body; n points from the second body to the first. Returns the least gap of
 * all clipped points. */
static double clip_faces(const Hull *a, const Hull *b, int body, int face, scree_Vec3 n,
                         scree_Vec3 origin, double margin, scree_Manifold *manifold) {
  Clip c = {body ? b : a, body ? a : b, body, face, 0, {(face + 1) % 3, (face + 2) % 3}};
  scree_Vec3 out = axis(c.ref, face);
  scree_Vec3 towards = body ? n : scree_neg(n); /* from ref to inc */
  c.side = scree_dot(out, towards) >= 0;
  if (!c.side) out = scree_neg(out);
  scree_Vec3 eu = axis(c.ref, c.axis[0]), ev = axis(c.ref, c.axis[1]);
  Corner polygon[2][MAX_CORNERS];
  int bits[4], edge[4], count = incident_corners(&c, out, bits, edge);
  for (int k = 0; k < count; k++) {
    scree_Vec3 x = scree_sub(corner(c.inc, bits[k]), c.ref->centre);
    int name = c.inc->bar ? bits[k] >> 2 : bits[k];
    polygon[0][k] = (Corner){{scree_dot(eu, x), scree_dot(ev, x)},
                             scree_dot(out, x) - c.ref->half[face],
                             scree_feature_vertex(1 - body, name, 0),
                             edge[k]};
  }
  int from = 0;
  for (int p = 0; p < 4; p++, from = 1 - from)
    count = clip_side(&c, p, polygon[from], count, polygon[1 - from]);
  const double extent = c.ref->half[c.axis[0]] + c.ref->half[c.axis[1]];
  if (!c.inc->bar)
    count = scree_clip_straighten(polygon[from], count, SCREE_CLIP_STRAIGHT * extent);
  double least = INFINITY, radii = a->radius + b->radius;
  for (int k = 0; k < count; k++) {
    const Corner *x = &polygon[from][k];
    double gap = x->height - radii;
    least = fmin(least, gap);
    if (!(gap <= margin)) continue;
    bool seen = false; /* a bar is traversed in both directions */
    for (int m = 0; m < manifold->count; m++)
      seen = seen || manifold->points[m].feature == x->feature;
    if (seen) continue;
    double height = c.ref->half[face] + c.ref->radius + 0.5 * gap;
    scree_Vec3 q =
        scree_axpy(scree_axpy(scree_axpy(c.ref->centre, x->u[0], eu), x->u[1], ev), height, out);
    scree_manifold_add(manifold, scree_add(origin, q), body ? out : scree_neg(out), gap,
                       x->feature);
  }
  return least;
}

/* ---- single contacts ---- */

static void add_points(const Hull *a, const Hull *b, scree_Vec3 qa, scree_Vec3 qb, scree_Vec3 n,
                       double core, uint32_t feature, scree_Vec3 origin, double margin,
                       scree_Manifold *manifold) {
  double gap = core - (a->radius + b->radius);
  if (!(gap <= margin)) return;
  scree_Vec3 sa = scree_axpy(qa, -a->radius, n), sb = scree_axpy(qb, b->radius, n);
  scree_manifold_add(manifold, scree_add(origin, scree_scale(0.5, scree_add(sa, sb))), n, gap,
                     feature);
}

/* The points where the lines of two edges come closest; true when both lie within their edges. */
static bool edge_points(const Hull *a, const Hull *b, const Axis *e, scree_Vec3 *qa,
                        scree_Vec3 *qb) {
  int ca = corner_towards(a, scree_neg(e->n)), cb = corner_towards(b, e->n);
  scree_Vec3 ea = axis(a, e->ea), eb = axis(b, e->eb);
  double ha = a->half[e->ea], hb = b->half[e->eb];
  scree_Vec3 pa = scree_axpy(corner(a, ca), ca >> e->ea & 1 ? -ha : ha, ea); /* middles */
  scree_Vec3 pb = scree_axpy(corner(b, cb), cb >> e->eb & 1 ? -hb : hb, eb);
  scree_Vec3 d = scree_sub(pa, pb), x = scree_cross(ea, eb);
  double sine2 = scree_norm2(x);
  double s = -scree_dot(scree_cross(d, eb), x) / sine2,
         t = -scree_dot(scree_cross(d, ea), x) / sine2;
  *qa = scree_axpy(pa, s, ea);
  *qb = scree_axpy(pb, t, eb);
  return fabs(s) <= ha && fabs(t) <= hb;
}

static uint32_t edges_feature(const Hull *a, const Hull *b, const Axis *e) {
  int ca = corner_towards(a, scree_neg(e->n)), cb = corner_towards(b, e->n);
  return scree_feature_edges(a->bar ? 0 : edge_id(e->ea, ca), b->bar ? 0 : edge_id(e->eb, cb));
}

/* Replace a single contact along n, whose gap is `gap`, by a clipped face if n is close to the
 * normal of one. */
static bool clip_if_aligned(const Hull *a, const Hull *b, scree_Vec3 n, double gap, double shallow,
                            scree_Vec3 origin, double margin, scree_Manifold *manifold) {
  double most = 0;
  int body = 0, face = 0;
  for (int k = 0; k < 6; k++) {
    const Hull *h = k < 3 ? a : b;
    double s = h->bar ? 0 : fabs(scree_dot(n, axis(h, k % 3)));
    if (s > most) most = s, body = k / 3, face = k % 3;
  }
  if (most < ALIGNED) return false;
  double excess = SECOND_ORDER * fmax(margin, fabs(gap)), width;
  if (gap < -shallow) {
    scree_Vec3 own = axis(body ? b : a, face);
    double s = separation_along(a, b, scree_sub(a->centre, b->centre), &own, &width);
    if (s - (a->radius + b->radius) < gap - excess) return false;
  }
  double least = clip_faces(a, b, body, face, n, origin, margin, manifold);
  if (manifold->count >= 2 && fabs(least - gap) <= excess) return true;
  manifold->count = 0;
  return false;
}

/* box a; box or capsule b */
void scree_collide_flat3(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                         const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Vec3 d = scree_sub(pa->position, pb->position), origin = pb->position;
  double bound = a->bounding_radius + b->bounding_radius + margin;
  if (scree_norm2(d) > bound * bound) return;
  Hull A = make_hull(a, pa, d), B = make_hull(b, pb, scree_vec3(0, 0, 0));
  double radii = A.radius + B.radius, rounding = 1e-13 * bound, touch = TOUCH * bound;
  double shallow = SHALLOW * fmin(a->size, b->size);
  Axis face = {0}, edges = {0};
  if (!best_axes(&A, &B, radii + margin, touch, &face, &edges)) return;
  if (fabs(face.separation) <= touch) rounding = touch;
  scree_Vec3 qa, qb;
  if (edges.separation <= face.separation + rounding) {
    double least = clip_faces(&A, &B, face.body, face.face, face.n, origin, margin, manifold);
    if (least - (face.separation - radii) <= rounding) return;
    if (face.separation <= 0) {
      if (manifold->count > 0) return;
      qa = corner(&A, corner_towards(&A, scree_neg(face.n)));
      qb = corner(&B, corner_towards(&B, face.n));
      add_points(&A, &B, qa, qb, face.n, face.separation, scree_feature_closest(), origin, margin,
                 manifold);
      return;
    }
    manifold->count = 0;
  } else {
    bool crossing = edge_points(&A, &B, &edges, &qa, &qb);
    if (crossing || edges.separation <= 0) {
      double gap = edges.separation - radii;
      if (clip_if_aligned(&A, &B, edges.n, gap, shallow, origin, margin, manifold)) return;
      add_points(&A, &B, qa, qb, edges.n, edges.separation, edges_feature(&A, &B, &edges), origin,
                 margin, manifold);
      return;
    }
  }
  scree_Vec3 n = face.n;
  double distance = scree_gjk_distance(hull_support, &A, hull_support, &B, d, &qa, &qb, &n);
  if (!(distance > rounding)) n = edges.separation > face.separation ? edges.n : face.n;
  if (clip_if_aligned(&A, &B, n, distance - radii, shallow, origin, margin, manifold)) return;
  if (distance > rounding) {
    add_points(&A, &B, qa, qb, n, distance, scree_feature_closest(), origin, margin, manifold);
    return;
  }
  qa = corner(&A, corner_towards(&A, scree_neg(n)));
  qb = corner(&B, corner_towards(&B, n));
  add_points(&A, &B, qa, qb, n, fmax(edges.separation, face.separation), scree_feature_closest(),
             origin, margin, manifold);
}

/* Clipping of two features in the plane across their common normal (see manifold.h).
 *
 * Both features are convex polygons, edges or points there. The one with fewer corners is clipped
 * to the sides of the other (Sutherland and Hodgman); a point of the result has the height of the
 * first above the second as its gap. Each side of the result records of which feature it is a
 * side, so that a corner of the result is known as a corner of one body or as the crossing of two
 * edges, and keeps its id in the next step. */
#include "geometry/manifold.h"

enum { MOST = 2 * SCREE_FEATURE_POINTS + 4 };

/* Corners of the result this close to the line between their neighbours, as a part of the extent of
 * the feature, are dropped, since the neighbours support the same load. */
static const double STRAIGHT = 1e-5;

/* A corner outside a side of the clipping face by less than this part of its extent is inside.
 * Otherwise rounding would decide in each step whether faces that only share an edge (the blocks of
 * a vault whose joints are aligned) touch there, and their loads would never settle. */
static const double ALONG = 1e-6;

/* A corner across the normal (u, v), its height along it, its id and the edge to the next:
 * an edge of the clipped feature, or -1 - (side of the other). */
typedef struct Corner {
  double u, v, h;
  uint32_t feature;
  int edge;
} Corner;

/* A feature in the plane: height = c + a u + b v where it is a face. */
typedef struct Flat {
  int count;
  Corner corner[MOST];
  double a, b, c;
} Flat;

void scree_feature_place(scree_Feature *f, const scree_Mat3 *R, scree_Vec3 origin) {
  for (int k = 0; k < f->count; ++k)
    f->point[k] = scree_add(origin, scree_mat3_mul(R, f->point[k]));
}

/* Height over the plane of a face from three well-separated corners: the first, the one furthest
 * from it, and the one furthest from the line of both. */
static void fit_plane(Flat *f) {
  const Corner *x = f->corner;
  int far = 1, wide = 2;
  double most = -1, area = 0;
  for (int k = 1; k < f->count; ++k) {
    const double d = hypot(x[k].u - x[0].u, x[k].v - x[0].v);
    if (d > most) most = d, far = k;
  }
  for (int k = 1; k < f->count; ++k) {
    const double cross =
        (x[far].u - x[0].u) * (x[k].v - x[0].v) - (x[far].v - x[0].v) * (x[k].u - x[0].u);
    if (fabs(cross) > fabs(area)) area = cross, wide = k;
  }
  f->a = f->b = 0;
  f->c = x[0].h;
  if (area == 0) return;
  const double p = x[far].h - x[0].h, q = x[wide].h - x[0].h;
  f->a = (p * (x[wide].v - x[0].v) - q * (x[far].v - x[0].v)) / area;
  f->b = (q * (x[far].u - x[0].u) - p * (x[wide].u - x[0].u)) / area;
  f->c = x[0].h - f->a * x[0].u - f->b * x[0].v;
}

/* `body` 0 or 1: whose feature it is. Faces come counter-clockwise in (u, v). */
static void flatten(const scree_Feature *from, int body, scree_Vec3 n, scree_Vec3 t1, scree_Vec3 t2,
                    Flat *f) {
  f->count = from->count;
  /* the first body's feature faces -n and is clockwise seen along it */
  const bool reverse = body == 0 && from->count > 2;
  for (int k = 0; k < from->count; ++k) {
    const int at = reverse ? from->count - 1 - k : k;
    const int edge = reverse ? (at > 0 ? at - 1 : from->count - 1) : at;
    const scree_Vec3 x = from->point[at];
    f->corner[k] = (Corner){scree_dot(t1, x), scree_dot(t2, x), scree_dot(n, x),
                            scree_feature_vertex(body, from->corner[at], 0), from->edge[edge]};
  }
  if (f->count > 2) fit_plane(f);
}

static double side_of(const Corner *a, const Corner *b, const Corner *x) {
  return (b->u - a->u) * (x->v - a->v) - (b->v - a->v) * (x->u - a->u);
}

/* The id of the corner where `edge` of the polygon meets side `k` of the clipping face. */
static uint32_t crossing_name(const Flat *face, int body, int edge, int k) {
  if (edge < 0) { /* between two sides of the face: one of its corners */
    const int other = -1 - edge;
    const int next = other + 1 < face->count ? other + 1 : 0;
    return face->corner[next == k ? k : other].feature;
  }
  const int own = face->corner[k].edge;
  return body == 0 ? scree_feature_edges(own, edge) : scree_feature_edges(edge, own);
}

/* Clip the part to the right of side k of the face, which is body's. */
static int clip_side(const Flat *face, int body, int k, const Corner *in, int n, bool open,
                     double along, Corner *out) {
  const Corner *a = &face->corner[k], *b = &face->corner[k + 1 < face->count ? k + 1 : 0];
  const double least = -along * hypot(b->u - a->u, b->v - a->v);
  int m = 0;
  for (int i = 0; i < n && m + 2 < MOST; ++i) {
    const Corner *cur = &in[i], *next = &in[i + 1 < n ? i + 1 : 0];
    const double x = side_of(a, b, cur), y = side_of(a, b, next);
    const bool inside = x >= least;
    if (inside) out[m++] = *cur;
    if (inside == (y >= least) || (open && i + 1 == n)) continue;
    const double t = fmax(0, fmin(1, x / (x - y)));
    out[m++] = (Corner){cur->u + t * (next->u - cur->u), cur->v + t * (next->v - cur->v),
                        cur->h + t * (next->h - cur->h), crossing_name(face, body, cur->edge, k),
                        inside && !open ? -1 - k : cur->edge};
  }
  return m;
}

static bool is_between(const Corner *a, const Corner *b, const Corner *c, double most) {
  const double eu = c->u - a->u, ev = c->v - a->v, u = b->u - a->u, v = b->v - a->v;
  const double length2 = eu * eu + ev * ev;
  double t = length2 > 0 ? (u * eu + v * ev) / length2 : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return hypot(u - t * eu, v - t * ev) <= most;
}

static double extent_of(const Flat *f) {
  double most = 0;
  for (int k = 1; k < f->count; ++k)
    most = fmax(most, hypot(f->corner[k].u - f->corner[0].u, f->corner[k].v - f->corner[0].v));
  return most;
}

static int straighten(Corner *x, int count, double most) {
  for (int k = 0; k < count && count > 1;) {
    if (!is_between(&x[k > 0 ? k - 1 : count - 1], &x[k], &x[k + 1 < count ? k + 1 : 0], most)) {
      ++k;
      continue;
    }
    for (int m = k; m + 1 < count; ++m) x[m] = x[m + 1];
    --count;
    k = k > 0 ? k - 1 : 0;
  }
  return count;
}

double scree_feature_clip(const scree_Feature *a, const scree_Feature *b, scree_Vec3 n,
                          scree_Vec3 origin, double margin, scree_Manifold *manifold) {
  /* the clipping face: the second's, unless it is no face */
  const int body = b->count > 2 ? 1 : 0;
  const scree_Feature *cut = body ? a : b, *by = body ? b : a;
  if (by->count < 3) return INFINITY;
  scree_Vec3 t1, t2;
  scree_contact_frame(n, 3, &t1, &t2);
  Flat face, flat;
  flatten(by, body, n, t1, t2, &face);
  flatten(cut, 1 - body, n, t1, t2, &flat);
  Corner other[MOST], *from = flat.corner, *to = other;
  int count = flat.count;
  const bool open = count == 2;
  const double extent = extent_of(&face); /* before clipping, which overwrites `flat` */
  const double small = STRAIGHT * fmin(extent, cut->count > 1 ? extent_of(&flat) : 1);
  for (int k = 0; k < face.count && count > 0; ++k) {
    count = clip_side(&face, body, k, from, count, open, ALONG * extent, to);
    Corner *swap = from;
    from = to;
    to = swap;
  }
  if (!open) count = straighten(from, count, small);
  double least = INFINITY;
  for (int k = 0; k < count; ++k) {
    const Corner *x = &from[k];
    const double plane = face.c + face.a * x->u + face.b * x->v;
    const double gap = body ? x->h - plane : plane - x->h;
    least = fmin(least, gap);
    if (!(gap <= margin)) continue;
    const scree_Vec3 at = scree_add(scree_add(scree_scale(x->u, t1), scree_scale(x->v, t2)),
                                    scree_scale(0.5 * (plane + x->h), n));
    scree_manifold_add(manifold, scree_add(origin, at), n, gap, x->feature);
  }
  return least;
}

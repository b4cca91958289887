/* Clipping of two features in the plane across their common normal (see manifold.h).
 *
 * Both features are convex polygons, edges or points there. The one with fewer corners is clipped
 * to the sides of the other (Sutherland and Hodgman); a point of the result has the height of the
 * first above the second as its gap. Each side of the result records of which feature it is a
 * side, so that a corner of the result is known as a corner of one body or as the crossing of two
 * edges, and keeps its id in the next step. */
#include "geometry/manifold.h"

#include "geometry/clip.h"

#include <assert.h>

enum { MOST = 2 * SCREE_FEATURE_POINTS + 4 };

typedef scree_ClipCorner Corner;

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
    const double d = hypot(x[k].u[0] - x[0].u[0], x[k].u[1] - x[0].u[1]);
    if (d > most) most = d, far = k;
  }
  for (int k = 1; k < f->count; ++k) {
    const double cross = (x[far].u[0] - x[0].u[0]) * (x[k].u[1] - x[0].u[1]) -
                         (x[far].u[1] - x[0].u[1]) * (x[k].u[0] - x[0].u[0]);
    if (fabs(cross) > fabs(area)) area = cross, wide = k;
  }
  f->a = f->b = 0;
  f->c = x[0].height;
  if (area == 0) return;
  const double p = x[far].height - x[0].height, q = x[wide].height - x[0].height;
  f->a = (p * (x[wide].u[1] - x[0].u[1]) - q * (x[far].u[1] - x[0].u[1])) / area;
  f->b = (q * (x[far].u[0] - x[0].u[0]) - p * (x[wide].u[0] - x[0].u[0])) / area;
  f->c = x[0].height - f->a * x[0].u[0] - f->b * x[0].u[1];
}

/* `body` 0 or 1: whose feature it is. Faces come counter-clockwise in (u, v). */
static void flatten(const scree_Feature *from, int body, scree_Vec3 n, scree_Vec3 t1, scree_Vec3 t2,
                    Flat *f) {
  assert(from->count >= 1 && from->count <= SCREE_FEATURE_POINTS);
  f->count = from->count;
  /* the first body's feature faces -n and is clockwise seen along it */
  const bool reverse = body == 0 && from->count > 2;
  for (int k = 0; k < from->count; ++k) {
    const int at = reverse ? from->count - 1 - k : k;
    const int edge = reverse ? (at > 0 ? at - 1 : from->count - 1) : at;
    const scree_Vec3 x = from->point[at];
    f->corner[k] = (Corner){{scree_dot(t1, x), scree_dot(t2, x)},
                            scree_dot(n, x),
                            scree_feature_vertex(body, from->corner[at], 0),
                            from->edge[edge]};
  }
  if (f->count > 2) fit_plane(f);
}

static double side_of(const Corner *a, const Corner *b, const Corner *x) {
  return (b->u[0] - a->u[0]) * (x->u[1] - a->u[1]) - (b->u[1] - a->u[1]) * (x->u[0] - a->u[0]);
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
  assert(k >= 0 && k < face->count && n <= MOST);
  const Corner *a = &face->corner[k], *b = &face->corner[k + 1 < face->count ? k + 1 : 0];
  const double least = -along * hypot(b->u[0] - a->u[0], b->u[1] - a->u[1]);
  int m = 0;
  for (int i = 0; i < n && m + 2 < MOST; ++i) {
    const Corner *cur = &in[i], *next = &in[i + 1 < n ? i + 1 : 0];
    const double x = side_of(a, b, cur), y = side_of(a, b, next);
    const bool inside = x >= least;
    if (inside) out[m++] = *cur;
    if (inside == (y >= least) || (open && i + 1 == n)) continue;
    const double t = fmax(0, fmin(1, x / (x - y)));
    out[m++] = (Corner){
        {cur->u[0] + t * (next->u[0] - cur->u[0]), cur->u[1] + t * (next->u[1] - cur->u[1])},
        cur->height + t * (next->height - cur->height),
        crossing_name(face, body, cur->edge, k),
        inside && !open ? -1 - k : cur->edge};
  }
  return m;
}

static double extent_of(const Flat *f) {
  double most = 0;
  for (int k = 1; k < f->count; ++k)
    most = fmax(
        most, hypot(f->corner[k].u[0] - f->corner[0].u[0], f->corner[k].u[1] - f->corner[0].u[1]));
  return most;
}

double scree_feature_clip(const scree_Feature *a, const scree_Feature *b, scree_Vec3 n,
                          scree_Vec3 origin, double margin, scree_Manifold *manifold) {
  assert(scree_is_unit(n));
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
  const double small = SCREE_CLIP_STRAIGHT * fmin(extent, cut->count > 1 ? extent_of(&flat) : 1);
  for (int k = 0; k < face.count && count > 0; ++k) {
    count = clip_side(&face, body, k, from, count, open, SCREE_CLIP_ALONG * extent, to);
    Corner *swap = from;
    from = to;
    to = swap;
  }
  if (!open) count = scree_clip_straighten(from, count, small);
  double least = INFINITY;
  for (int k = 0; k < count; ++k) {
    const Corner *x = &from[k];
    const double plane = face.c + face.a * x->u[0] + face.b * x->u[1];
    const double gap = body ? x->height - plane : plane - x->height;
    least = fmin(least, gap);
    if (!(gap <= margin)) continue;
    const scree_Vec3 at = scree_add(scree_add(scree_scale(x->u[0], t1), scree_scale(x->u[1], t2)),
                                    scree_scale(0.5 * (plane + x->height), n));
    scree_manifold_add(manifold, scree_add(origin, at), n, gap, x->feature);
  }
  return least;
}

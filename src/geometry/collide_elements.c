/* Shapes of finite elements against all others.
 *
 * Contacts are the vertices of the surface on the other body, and points of the other body on the
 * triangles of the surface:
 *   - a convex or unbounded shape: every vertex of the surface against it; corners of flat bodies,
 *     centres of balls and of capsules' ends, otherwise the lowest point over each triangle and
 * over ridges;
 *   - another shape of elements or a triangle mesh: vertices of each on the triangles of the other;
 *   - edges of flat bodies and of other surfaces that cross ridges of the surface.
 *
 * A vertex p is compared with the closest point of the other surface. Where that lies inside a
 * triangle the normal is the triangle's; on an edge or a corner it is the direction to p, and p is
 * outside if this is on the side of the triangles around it. A vertex on a flat side that has slid
 * over the edge of the other body would then be pushed back along the side. So a normal must be
 * within the normal cone of the vertex, up to a slope that allows for dents: its neighbours do not
 * lie far on the other body's side. */
#include "element/mesh.h"
#include "geometry/composite.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"

#include <string.h>

/* Slope up to which neighbours of a vertex may lie on the other body's side of it. */
static const double DENT = 0.7;
/* Depth, over the size of the smaller body, up to which a point inside a solid is searched. */
static const double DEEP = 0.25;
/* Points of the two surfaces that are closer than this part of the size are one contact. */
static const double SAME = 1e-6;
/* Sine of the angle of an edge above which it is a ridge, and part of the range of its normals at
 * which it is not the edge that is touched but a triangle. */
static const double RIDGE = 1e-6, ON_END = 1e-3;
/* Sine between two edges below which they are parallel, and how far, as a sine, the triangles of an
 * edge may reach beyond the plane between two edges that cross. */
static const double PARALLEL = 1e-2, CROSSED = 1e-2;
/* Radius, over the size, of the ball that stands for a vertex. */
static const double POINT = 1e-3;

enum { SEEN = 512 }; /* positions that are remembered to find contacts that are there already */

typedef struct Surface {
  const scree_TriangleMesh *mesh;
  const scree_Pose *pose;
  scree_Mat3 axes;
  double size;
} Surface;

typedef struct Pair {
  double margin, depth;
  scree_PointSink sink;
  void *user;
  int seen;
  scree_Vec3 at[SEEN];
} Pair;

static scree_Vec3 to_world(const Surface *s, scree_Vec3 x) {
  return scree_add(s->pose->position, scree_mat3_mul(&s->axes, x));
}

static scree_Vec3 to_local(const Surface *s, scree_Vec3 x) {
  return scree_mat3_tmul(&s->axes, scree_sub(x, s->pose->position));
}

/* ---- closest point of a surface ---------------------------------------------------------------
 */

typedef struct Closest {
  const Surface *surface;
  scree_Vec3 p;     /* in the frame of the surface */
  double best;      /* square of the distance */
  int triangle;     /* -1: none yet */
  scree_Vec3 on;    /* the closest point */
  int edge, vertex; /* that it lies on, or -1 */
} Closest;

/* The closest point of a triangle (Ericson's regions): edge k is from corner k to the next. */
static scree_Vec3 closest_on_triangle(const scree_Vec3 *x, scree_Vec3 p, int *edge, int *corner) {
  const scree_Vec3 ab = scree_sub(x[1], x[0]), ac = scree_sub(x[2], x[0]);
  const scree_Vec3 ap = scree_sub(p, x[0]), bp = scree_sub(p, x[1]), cp = scree_sub(p, x[2]);
  const double d1 = scree_dot(ab, ap), d2 = scree_dot(ac, ap), d3 = scree_dot(ab, bp);
  const double d4 = scree_dot(ac, bp), d5 = scree_dot(ab, cp), d6 = scree_dot(ac, cp);
  *edge = *corner = -1;
  if (d1 <= 0 && d2 <= 0) return *corner = 0, x[0];
  if (d3 >= 0 && d4 <= d3) return *corner = 1, x[1];
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return *edge = 0, scree_axpy(x[0], d1 / (d1 - d3), ab);
  if (d6 >= 0 && d5 <= d6) return *corner = 2, x[2];
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return *edge = 2, scree_axpy(x[0], d2 / (d2 - d6), ac);
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    return *edge = 1, scree_axpy(x[1], (d4 - d3) / ((d4 - d3) + (d5 - d6)), scree_sub(x[2], x[1]));
  const double sum = 1 / (va + vb + vc);
  return scree_axpy(scree_axpy(x[0], vb * sum, ab), vc * sum, ac);
}

static void visit_closest(void *user, int t) {
  Closest *c = user;
  const scree_TriangleMesh *m = c->surface->mesh;
  scree_Vec3 x[3];
  int edge, corner;
  for (int k = 0; k < 3; ++k) x[k] = m->vertex[m->triangle[t][k]];
  const scree_Vec3 on = closest_on_triangle(x, c->p, &edge, &corner);
  const double distance = scree_norm2(scree_sub(c->p, on));
  if (!(distance < c->best)) return;
  c->best = distance;
  c->triangle = t;
  c->on = on;
  c->edge = edge < 0 ? -1 : m->side[t][edge];
  c->vertex = corner < 0 ? -1 : m->triangle[t][corner];
}

static scree_Vec3 normals_around(const scree_TriangleMesh *m, const Closest *c) {
  scree_Vec3 sum = {0, 0, 0};
  if (c->edge >= 0) {
    for (int k = 0; k < 2; ++k)
      if (m->edge[c->edge].triangle[k] >= 0)
        sum = scree_add(sum, m->normal[m->edge[c->edge].triangle[k]]);
    return sum;
  }
  for (int k = m->link_first[c->vertex]; k < m->link_first[c->vertex + 1]; ++k)
    for (int side = 0; side < 2; ++side) {
      const int t = m->edge[m->link[k]].triangle[side];
      if (t >= 0) sum = scree_add(sum, m->normal[t]);
    }
  return sum;
}

/* Signed distance of a world point from a surface, negative inside, and the outward unit normal at
 * the closest point (world frame); false: further than the margin or deeper than the depth. */
static bool closest_point(const Surface *s, scree_Vec3 p, double margin, double depth, Closest *c,
                          double *gap, scree_Vec3 *normal) {
  const double reach = fmax(margin, depth);
  *c = (Closest){.surface = s, .p = to_local(s, p), .best = reach * reach, .triangle = -1};
  c->best *= 1 + 1e-12;
  const scree_Vec3 e = scree_vec3(reach, reach, reach);
  const scree_Aabb box = {scree_sub(c->p, e), scree_add(c->p, e)};
  scree_trimesh_query(s->mesh, &box, visit_closest, c);
  if (c->triangle < 0) return false;
  const scree_Vec3 n = s->mesh->normal[c->triangle], v = scree_sub(c->p, c->on);
  const double distance = sqrt(c->best);
  scree_Vec3 out = n;
  if (c->edge < 0 && c->vertex < 0) {
    *gap = scree_dot(n, v);
  } else {
    const scree_Vec3 around = normals_around(s->mesh, c);
    const double side = scree_dot(around, v);
    *gap = side < 0 ? -distance : distance;
    /* on the surface up to rounding the direction is not known: that of the triangle */
    if (distance > 1e-9 * s->size) out = scree_scale(1 / *gap, v);
  }
  *normal = scree_mat3_mul(&s->axes, out);
  return *gap <= margin && *gap >= -depth;
}

/* ---- vertices ---------------------------------------------------------------------------------
 */

/* Whether the neighbours of a vertex do not lie far on the side that the normal comes from. */
static bool in_cone(const Surface *s, int v, scree_Vec3 normal) {
  const scree_TriangleMesh *m = s->mesh;
  const scree_Vec3 n = scree_mat3_tmul(&s->axes, normal);
  for (int k = m->link_first[v]; k < m->link_first[v + 1]; ++k) {
    const int *end = m->edge[m->link[k]].vertex;
    const scree_Vec3 to = scree_sub(m->vertex[end[0] == v ? end[1] : end[0]], m->vertex[v]);
    if (scree_dot(n, to) < -DENT * scree_norm(to)) return false;
  }
  return true;
}

static void emit(Pair *pair, scree_Vec3 on, scree_Vec3 normal, double gap, uint32_t feature,
                 uint32_t part, uint32_t other) {
  const scree_ManifoldPoint point = {
      scree_axpy(on, -0.5 * gap, normal), normal, gap, feature, {part, other}};
  if (pair->seen < SEEN) pair->at[pair->seen++] = point.position;
  pair->sink(pair->user, &point);
}

static bool is_seen(const Pair *pair, scree_Vec3 at, double near) {
  for (int k = 0; k < pair->seen; ++k)
    if (scree_norm2(scree_sub(pair->at[k], at)) <= near * near) return true;
  return false;
}

static uint32_t vertex_part(const Surface *s, int v) {
  return (uint32_t)(s->mesh->triangle_count + v);
}

/* A point of the other shape, for vertex v of the surface. */
typedef struct Vertex {
  Pair *pair;
  const Surface *surface;
  int v;
  scree_Vec3 at;
  double radius;
} Vertex;

static void add_vertex(void *user, const scree_ManifoldPoint *point) {
  const Vertex *x = user;
  if (!in_cone(x->surface, x->v, point->normal)) return;
  emit(x->pair, x->at, point->normal, point->gap + x->radius, point->feature,
       vertex_part(x->surface, x->v), point->part[1]);
}

static bool is_near(const scree_Aabb *box, scree_Vec3 p, double margin) {
  return p.x >= box->lower.x - margin && p.x <= box->upper.x + margin &&
         p.y >= box->lower.y - margin && p.y <= box->upper.y + margin &&
         p.z >= box->lower.z - margin && p.z <= box->upper.z + margin;
}

/* All vertices against a shape that is no surface. */
static void vertices_on_shape(Pair *pair, const Surface *s, const scree_Shape *other,
                              const scree_Pose *pose) {
  const scree_Aabb box = scree_shape_aabb(other, pose);
  scree_Shape ball = {.kind = SCREE_SHAPE_SPHERE,
                      .radius = POINT * s->size,
                      .bounding_radius = POINT * s->size,
                      .size = 2 * POINT * s->size};
  for (int v = 0; v < s->mesh->vertex_count; ++v) {
    const scree_Pose at = {to_world(s, s->mesh->vertex[v]), {1, 0, 0, 0}};
    if (!is_near(&box, at.position, pair->margin)) continue;
    Vertex x = {pair, s, v, at.position, ball.radius};
    scree_collide_each(&ball, &at, other, pose, pair->margin - ball.radius, add_vertex, &x);
  }
}

/* Vertices of a on the triangles of b; `first` says which of the two is the first body. */
static void vertices_on_surface(Pair *pair, const Surface *a, const Surface *b, bool first) {
  const double near = SAME * fmin(a->size, b->size);
  scree_Aabb box = b->mesh->node[0].bounds; /* of b in its own frame */
  for (int v = 0; v < a->mesh->vertex_count; ++v) {
    const scree_Vec3 p = to_world(a, a->mesh->vertex[v]);
    if (!is_near(&box, to_local(b, p), pair->margin)) continue;
    Closest c;
    double gap;
    scree_Vec3 n;
    if (!closest_point(b, p, pair->margin, pair->depth, &c, &gap, &n)) continue;
    if (!in_cone(a, v, n)) continue;
    const scree_Vec3 middle = scree_axpy(p, -0.5 * gap, n);
    if (!first && is_seen(pair, middle, near)) continue;
    if (first)
      emit(pair, p, n, gap, scree_feature_vertex(0, 0, 0), vertex_part(a, v), (uint32_t)c.triangle);
    else
      emit(pair, scree_axpy(p, -gap, n), scree_neg(n), gap, scree_feature_vertex(1, 0, 0),
           (uint32_t)c.triangle, vertex_part(a, v));
  }
}

/* ---- points of other shapes on triangles ------------------------------------------------------
 */

/* Point c of the other body, surrounded by a ball: on the closest triangle of the surface. `inner`
 * is a point inside that body. */
static void point_on_surface(Pair *pair, const Surface *s, scree_Vec3 c, double radius,
                             scree_Vec3 inner, int name, uint32_t part) {
  Closest closest;
  double gap;
  scree_Vec3 n;
  if (!closest_point(s, c, pair->margin + radius, pair->depth, &closest, &gap, &n)) return;
  gap -= radius;
  if (!(gap <= pair->margin)) return;
  if (closest.vertex >= 0) return; /* the vertex has its own contact */
  if (radius == 0 && scree_dot(n, scree_sub(inner, c)) < 0) return;
  const scree_Vec3 on = to_world(s, closest.on);
  /* the normal of the pair points to the elements */
  emit(pair, on, scree_neg(n), gap, scree_feature_vertex(1, name, 1), (uint32_t)closest.triangle,
       part);
}

/* The lowest point of a smooth body over a triangle. */
typedef struct Lowest {
  Pair *pair;
  const Surface *surface;
  const scree_Shape *shape;
  const scree_Pose *pose;
  scree_Mat3 axes;
  uint32_t part;
  bool edges_only; /* points over triangles are found in another way */
} Lowest;

static scree_Vec3 support_at(const Lowest *l, scree_Vec3 direction) {
  const scree_Vec3 local = scree_shape_support(l->shape, scree_mat3_tmul(&l->axes, direction));
  return scree_add(l->pose->position, scree_mat3_mul(&l->axes, local));
}

/* Gap of the body behind the plane through a point of an edge, across a normal between those of the
 * two triangles; its lowest point and the normal, if they are not null. */
static double edge_gap(const Lowest *l, scree_Vec3 on, scree_Vec3 n0, scree_Vec3 n1, double at,
                       scree_Vec3 *lowest, scree_Vec3 *normal) {
  const scree_Vec3 n = scree_unit_or(scree_axpy(scree_scale(1 - at, n0), at, n1), n0);
  const scree_Vec3 c = support_at(l, scree_neg(n));
  if (lowest) *lowest = c;
  if (normal) *normal = n;
  return scree_dot(n, scree_sub(c, on));
}

/* A round body over the convex edges of triangle t that belong to it (it is their first one). The
 * normal is the one between those of the two triangles along which the body is furthest from the
 * edge, or least deep behind it; at the ends of that range the body touches a triangle instead.
 * Ends of edges are vertices, which have their own contacts. */
static void body_on_edges(const Lowest *l, int t) {
  enum { HALVINGS = 32 };
  const Surface *s = l->surface;
  const scree_TriangleMesh *m = s->mesh;
  for (int k = 0; k < 3; ++k) {
    const scree_MeshEdge *edge = &m->edge[m->side[t][k]];
    if (edge->triangle[0] != t || edge->triangle[1] < 0) continue;
    const scree_Vec3 a = to_world(s, m->vertex[m->triangle[t][k]]);
    const scree_Vec3 e = scree_sub(to_world(s, m->vertex[m->triangle[t][(k + 1) % 3]]), a);
    const scree_Vec3 n0 = scree_mat3_mul(&s->axes, m->normal[t]);
    const scree_Vec3 n1 = scree_mat3_mul(&s->axes, m->normal[edge->triangle[1]]);
    if (!(scree_dot(scree_cross(n0, n1), e) > RIDGE * scree_norm(e))) continue; /* flat, valley */
    double low = 0, high = 1;
    for (int i = 0; i < HALVINGS; ++i) { /* ternary search */
      const double one = low + (high - low) / 3, two = high - (high - low) / 3;
      if (edge_gap(l, a, n0, n1, one, NULL, NULL) < edge_gap(l, a, n0, n1, two, NULL, NULL))
        low = one;
      else
        high = two;
    }
    const double at = 0.5 * (low + high);
    if (!(at > ON_END && at < 1 - ON_END)) continue;
    scree_Vec3 c, n;
    const double gap = edge_gap(l, a, n0, n1, at, &c, &n);
    if (gap > l->pair->margin || gap < -l->pair->depth) continue;
    const double along = scree_dot(scree_sub(c, a), e) / scree_norm2(e);
    if (!(along > 0 && along < 1)) continue;
    emit(l->pair, scree_axpy(a, along, e), scree_neg(n), gap, scree_feature_vertex(1, 1 + k, 1),
         (uint32_t)t, l->part);
  }
}

static void visit_lowest(void *user, int t) {
  const Lowest *l = user;
  const Surface *s = l->surface;
  const scree_TriangleMesh *m = s->mesh;
  const scree_Vec3 n = scree_mat3_mul(&s->axes, m->normal[t]);
  const scree_Vec3 c = support_at(l, scree_neg(n));
  scree_Vec3 x[3];
  int edge, corner;
  for (int k = 0; k < 3; ++k) x[k] = to_world(s, m->vertex[m->triangle[t][k]]);
  const double gap = scree_dot(n, scree_sub(c, x[0]));
  if (gap > l->pair->margin) return;
  body_on_edges(l, t);
  const scree_Vec3 below = scree_axpy(c, -gap, n);
  closest_on_triangle(x, below, &edge, &corner);
  if (edge >= 0 || corner >= 0 || l->edges_only || gap < -l->pair->depth) return;
  if (scree_dot(n, scree_sub(l->pose->position, x[0])) <= 0) return; /* from its front only */
  emit(l->pair, below, scree_neg(n), gap, scree_feature_vertex(1, 0, 1), (uint32_t)t, l->part);
}

static void smooth_on_surface(Pair *pair, const Surface *s, const scree_Shape *other,
                              const scree_Pose *pose, uint32_t part, bool edges_only) {
  Lowest l = {pair, s, other, pose, scree_quat_matrix(pose->orientation), part, edges_only};
  const scree_Vec3 centre = to_local(s, pose->position);
  const double reach = other->bounding_radius + pair->margin;
  const scree_Vec3 e = scree_vec3(reach, reach, reach);
  const scree_Aabb box = {scree_sub(centre, e), scree_add(centre, e)};
  scree_trimesh_query(s->mesh, &box, visit_lowest, &l);
}

/* ---- edges that cross ------------------------------------------------------------------------ */

/* An edge of the other body in the world, and what it is an edge of. */
typedef struct Segment {
  scree_Vec3 from, along;
  const Surface *surface; /* with its edge, or null: of a flat shape */
  int edge;
  const Lowest *flat;
} Segment;

typedef struct Crossing {
  Pair *pair;
  const Surface *surface;
  Segment segment;
  bool first; /* the segment belongs to the first body of the pair */
  uint32_t part;
  int name;
} Crossing;

/* Whether the triangles of an edge lie behind the plane across n through `on`. */
static bool behind(const Surface *s, int e, scree_Vec3 on, scree_Vec3 n) {
  const scree_TriangleMesh *m = s->mesh;
  for (int side = 0; side < 2; ++side) {
    const int t = m->edge[e].triangle[side];
    for (int k = 0; t >= 0 && k < 3; ++k) {
      const scree_Vec3 to = scree_sub(to_world(s, m->vertex[m->triangle[t][k]]), on);
      if (scree_dot(n, to) > CROSSED * scree_norm(to)) return false;
    }
  }
  return true;
}

static bool segment_in_front(const Segment *g, scree_Vec3 on, scree_Vec3 n) {
  if (g->surface) return behind(g->surface, g->edge, on, scree_neg(n));
  const scree_Vec3 low = support_at(g->flat, scree_neg(n));
  return scree_dot(n, scree_sub(low, on)) > -CROSSED * scree_norm(scree_sub(low, on));
}

static void visit_crossing(void *user, int t) {
  const Crossing *c = user;
  const Segment *g = &c->segment;
  const Surface *s = c->surface;
  const scree_TriangleMesh *m = s->mesh;
  for (int k = 0; k < 3; ++k) {
    const int e = m->side[t][k];
    if (!m->edge[e].sharp || m->edge[e].triangle[0] != t) continue;
    const scree_Vec3 a = to_world(s, m->vertex[m->edge[e].vertex[0]]);
    const scree_Vec3 along = scree_sub(to_world(s, m->vertex[m->edge[e].vertex[1]]), a);
    const scree_Vec3 x = scree_cross(g->along, along);
    const double length = scree_norm(x), most = scree_norm(g->along) * scree_norm(along);
    if (!(length > PARALLEL * most)) continue;
    const scree_Vec3 w = scree_sub(g->from, a);
    const double mine = -scree_dot(scree_cross(w, along), x) / (length * length);
    const double its = -scree_dot(scree_cross(w, g->along), x) / (length * length);
    if (!(mine > 0 && mine < 1 && its > 0 && its < 1)) continue;
    scree_Vec3 outward = m->normal[m->edge[e].triangle[0]];
    if (m->edge[e].triangle[1] >= 0)
      outward = scree_add(outward, m->normal[m->edge[e].triangle[1]]);
    const bool turned = scree_dot(x, scree_mat3_mul(&s->axes, outward)) < 0;
    const scree_Vec3 n = scree_scale((turned ? -1 : 1) / length, x);
    const scree_Vec3 p = scree_axpy(g->from, mine, g->along), q = scree_axpy(a, its, along);
    const double gap = scree_dot(n, scree_sub(p, q));
    if (gap > c->pair->margin || gap < -c->pair->depth) continue;
    if (!behind(s, e, q, n) || !segment_in_front(g, p, n)) continue;
    const uint32_t feature = scree_feature_edges(c->name & 0x7fff, k);
    if (c->first)
      emit(c->pair, p, n, gap, feature, c->part, (uint32_t)t);
    else
      emit(c->pair, q, scree_neg(n), gap, scree_feature_exchange(feature), (uint32_t)t, c->part);
  }
}

/* One edge of the other body against the ridges of a surface. */
static void cross(Crossing *c) {
  const Segment *g = &c->segment;
  const scree_Vec3 a = to_local(c->surface, g->from);
  const scree_Vec3 b = to_local(c->surface, scree_add(g->from, g->along));
  const double reach = fmax(c->pair->margin, c->pair->depth);
  const scree_Aabb box = {
      scree_vec3(fmin(a.x, b.x) - reach, fmin(a.y, b.y) - reach, fmin(a.z, b.z) - reach),
      scree_vec3(fmax(a.x, b.x) + reach, fmax(a.y, b.y) + reach, fmax(a.z, b.z) + reach)};
  scree_trimesh_query(c->surface->mesh, &box, visit_crossing, c);
}

/* Ridges of a across ridges of b; a is the first body of the pair. */
static void edges_on_surface(Pair *pair, const Surface *a, const Surface *b) {
  const scree_TriangleMesh *m = a->mesh;
  scree_Aabb box = b->mesh->node[0].bounds;
  const double reach = fmax(pair->margin, pair->depth);
  for (int e = 0; e < m->edge_count; ++e) {
    if (!m->edge[e].sharp) continue;
    const scree_Vec3 from = to_world(a, m->vertex[m->edge[e].vertex[0]]);
    const scree_Vec3 to = to_world(a, m->vertex[m->edge[e].vertex[1]]);
    const scree_Vec3 along = scree_sub(to, from);
    if (!is_near(&box, to_local(b, from), reach + scree_norm(along))) continue;
    /* the triangle of the edge carries the contact */
    Crossing c = {pair, b, {from, along, a, e, NULL}, true, (uint32_t)m->edge[e].triangle[0], e};
    cross(&c);
  }
}

/* Edges of a box or polyhedron across the ridges of a surface. */
static void flat_edges_on_surface(Pair *pair, const Surface *s, const scree_Shape *other,
                                  const scree_Pose *pose, uint32_t part) {
  const Lowest flat = {pair, s, other, pose, scree_quat_matrix(pose->orientation), part, true};
  const double half[3] = {other->semi.x, other->semi.y, other->semi.z};
  const scree_Polyhedron *hull = other->data ? other->data->polyhedron : NULL; /* null: a box */
  const int count = hull ? hull->edge_count : 12;
  for (int e = 0; e < count; ++e) {
    scree_Vec3 end[2];
    for (int k = 0; k < 2; ++k) {
      if (hull) {
        end[k] = other->vertices[hull->edge[e][k]];
        continue;
      }
      const int axis = e / 4, i = (axis + 1) % 3, j = (axis + 2) % 3;
      double x[3];
      x[axis] = k ? half[axis] : -half[axis];
      x[i] = e & 2 ? half[i] : -half[i];
      x[j] = e & 1 ? half[j] : -half[j];
      end[k] = scree_vec3(x[0], x[1], x[2]);
    }
    const scree_Vec3 from = scree_pose_apply(pose, end[0]);
    Crossing c = {
        pair,  s,    {from, scree_sub(scree_pose_apply(pose, end[1]), from), NULL, -1, &flat},
        false, part, e};
    cross(&c);
  }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void shape_on_surface(Pair *pair, const Surface *s, const scree_Shape *other,
                             const scree_Pose *pose, uint32_t part) {
  const scree_Vec3 c = pose->position;
  switch (other->kind) {
  case SCREE_SHAPE_SPHERE: point_on_surface(pair, s, c, other->radius, c, 0, part); break;
  case SCREE_SHAPE_CAPSULE:
    for (int k = 0; k < 2; ++k)
      point_on_surface(
          pair, s,
          scree_pose_apply(pose, scree_vec3(0, 0, k ? other->half_length : -other->half_length)),
          other->radius, c, k, part);
    smooth_on_surface(pair, s, other, pose, part, true);
    break;
  case SCREE_SHAPE_BOX:
    for (int k = 0; k < 8; ++k) {
      const scree_Vec3 x =
          scree_vec3(k & 1 ? other->semi.x : -other->semi.x, k & 2 ? other->semi.y : -other->semi.y,
                     k & 4 ? other->semi.z : -other->semi.z);
      point_on_surface(pair, s, scree_pose_apply(pose, x), 0, c, k, part);
    }
    flat_edges_on_surface(pair, s, other, pose, part);
    break;
  case SCREE_SHAPE_POLYHEDRON:
    for (int k = 0; k < other->vertex_count; ++k)
      point_on_surface(pair, s, scree_pose_apply(pose, other->vertices[k]), 0, c, k, part);
    flat_edges_on_surface(pair, s, other, pose, part);
    break;
  default:
    if (scree_shape_type(other->kind)->convex) smooth_on_surface(pair, s, other, pose, part, false);
  }
}

/* ---- pairs ------------------------------------------------------------------------------------
 */

void scree_collide_elements(const scree_Shape *elements, const scree_Pose *pose,
                            const scree_Shape *other, const scree_Pose *other_pose, double margin,
                            scree_PointSink sink, void *user) {
  const Surface s = {elements->data->mesh, pose, scree_quat_matrix(pose->orientation),
                     elements->size};
  const double size = fmin(elements->size, other->size);
  Pair pair; /* set field by field: the array need not be cleared */
  pair.margin = margin;
  pair.depth = DEEP * size;
  pair.sink = sink;
  pair.user = user;
  pair.seen = 0;
  if (other->data && other->data->mesh) {
    const Surface t = {other->data->mesh, other_pose, scree_quat_matrix(other_pose->orientation),
                       isfinite(other->size) ? other->size : elements->size};
    vertices_on_surface(&pair, &s, &t, true);
    vertices_on_surface(&pair, &t, &s, false);
    edges_on_surface(&pair, &s, &t);
    return;
  }
  vertices_on_shape(&pair, &s, other, other_pose);
  const int parts = scree_shape_part_count(other);
  for (int k = 0; k < parts; ++k) {
    const scree_Part *part = scree_shape_part(other, k);
    const scree_Pose at = {scree_pose_apply(other_pose, part->pose.position),
                           scree_quat_mul(other_pose->orientation, part->pose.orientation)};
    shape_on_surface(&pair, &s, &part->shape, &at, (uint32_t)k);
  }
  if (parts == 0) shape_on_surface(&pair, &s, other, other_pose, 0);
}

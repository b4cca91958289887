/* Contacts of finite-element surfaces with all other shapes.
 *
 * Contacts are the vertices of the surface on the other body, and points of the other body on the
 * triangles of the surface:
 *   - a convex or unbounded shape: every vertex of the surface against it; corners of flat bodies,
 *     centres of balls and of capsules' ends, otherwise the lowest point over each triangle and
 * over ridges;
 *   - another shape of elements or a triangle mesh: vertices of each on the triangles of the other;
 *   - edges of flat bodies, of other surfaces and the rims of pipes, funnels and rings that cross
 *     ridges of the surface; the points of rims that lie deepest behind its triangles.
 *
 * A vertex p is compared with the closest point of the other surface. Where that lies inside a
 * triangle the normal is the triangle's; on an edge or a corner it is the direction to p, and p is
 * outside if this is on the side of the triangles around it. A vertex on a flat side that has slid
 * over the edge of the other body would then be pushed back along the side. So a normal must be
 * within the normal cone of the vertex, up to a slope that allows for dents: its neighbours do not
 * lie far on the other body's side. A vertex inside of the other body whose closest point does not
 * have such a normal (stacked cubes with aligned sides) is compared with the closest of the faces
 * that do.
 *
 * More than 600 lines: all methods of finding points share the pair, the sink and the points found
 * so far. */
#include "element/mesh.h"
#include "geometry/composite.h"
#include "geometry/revolved.h"
#include "geometry/shape_class.h"
#include "geometry/surface.h"

#include <string.h>

/* Depth, over the size of the smaller body, up to which a point inside a solid is searched. */
static const double DEEP = 0.25;
/* Points of the two surfaces that are closer than this part of the size are one contact. */
static const double SAME = 1e-6;
/* Sine of the angle of an edge above which it is a ridge, and part of the range of its normals at
 * which it is not the edge that is touched but a triangle. */
static const double RIDGE = 1e-6, ON_END = 1e-3;
/* How far that range goes beyond the normals of the two triangles, as an angle, at most by this
 * part of the range. Faces that have been bent are valleys: a straight side of a body that lies
 * across one touches its two ridges, and none of its triangles. */
static const double BENT = 0.1, BENT_MOST = 0.5;
/* Sine between two edges below which they are parallel, and how far, as a sine, the triangles of an
 * edge may reach beyond the plane between two edges that cross. */
static const double PARALLEL = 1e-2, CROSSED = 0.1;
/* Distance, over the size, between lowest points of two directions next to each other, above which
 * a body has a straight line of lowest points (the side of a cone). */
static const double LINE = 1e-3;
/* Radius, over the size, of the ball that stands for a vertex. */
static const double POINT = 1e-3;

enum { SEEN = 512 }; /* positions that are remembered to find contacts that are there already */

typedef struct Pair {
  double margin, depth;
  scree_PointSink sink;
  void *user;
  int seen;
  scree_Vec3 at[SEEN];
} Pair;

/* ---- vertices ---------------------------------------------------------------------------------
 */

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

static uint32_t vertex_part(const scree_Surface *s, int v) {
  return (uint32_t)(s->mesh->triangle_count + v);
}

/* A point of the other shape, for vertex v of the surface. */
typedef struct Vertex {
  Pair *pair;
  const scree_Surface *surface;
  int v;
  scree_Vec3 at;
  double radius;
  bool refused; /* inside of the shape, with a normal that may not act on it */
} Vertex;

static void add_vertex(void *user, const scree_ManifoldPoint *point) {
  Vertex *x = user;
  if (!scree_surface_in_cone(x->surface, x->v, point->normal)) {
    x->refused = x->refused || point->gap + x->radius < 0;
    return;
  }
  emit(x->pair, x->at, point->normal, point->gap + x->radius, point->feature,
       vertex_part(x->surface, x->v), point->part[1]);
}

static bool is_near(const scree_Aabb *box, scree_Vec3 p, double margin) {
  return p.x >= box->lower.x - margin && p.x <= box->upper.x + margin &&
         p.y >= box->lower.y - margin && p.y <= box->upper.y + margin &&
         p.z >= box->lower.z - margin && p.z <= box->upper.z + margin;
}

/* A vertex inside of a box or polyhedron: the closest face whose normal may act on it. */
static void vertex_under_face(const Vertex *x, const scree_Shape *flat, const scree_Pose *pose,
                              uint32_t part) {
  const bool box = flat->kind == SCREE_SHAPE_BOX;
  const scree_Polyhedron *hull = box || !flat->data ? NULL : flat->data->polyhedron;
  if (!box && !hull) return;
  const scree_Mat3 axes = scree_quat_matrix(pose->orientation);
  const scree_Vec3 p = scree_mat3_tmul(&axes, scree_sub(x->at, pose->position));
  const int faces = box ? 6 : hull->face_count;
  double best = x->pair->depth;
  int face = -1;
  scree_Vec3 normal = {0, 0, 0};
  for (int f = 0; f < faces; ++f) {
    scree_Vec3 n = {0, 0, 0};
    const double sign = f % 2 ? -1 : 1;
    if (box)
      n = scree_vec3(f / 2 == 0 ? sign : 0, f / 2 == 1 ? sign : 0, f / 2 == 2 ? sign : 0);
    else
      n = hull->normal[f];
    const scree_Vec3 on =
        box ? scree_scale(sign, flat->semi) : flat->vertices[hull->corner[hull->first[f]]];
    const double below = scree_dot(n, scree_sub(on, p)) + flat->radius;
    if (below < 0) return; /* not inside */
    if (!(below < best)) continue;
    const scree_Vec3 world = scree_mat3_mul(&axes, n);
    if (!scree_surface_in_cone(x->surface, x->v, world)) continue;
    best = below;
    face = f;
    normal = world;
  }
  if (face < 0) return;
  emit(x->pair, x->at, normal, -best, scree_feature_vertex(0, 0, 1), vertex_part(x->surface, x->v),
       part);
}

static scree_Pose part_pose(const scree_ClumpPart *part, const scree_Pose *pose) {
  return (scree_Pose){scree_pose_apply(pose, part->pose.position),
                      scree_quat_mul(pose->orientation, part->pose.orientation)};
}

static bool is_wall(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_PIPE || shape->kind == SCREE_SHAPE_FUNNEL ||
         shape->kind == SCREE_SHAPE_RING;
}

/* All vertices against a wall of revolution. (As balls, as against other shapes, they would be
 * behind the wall as soon as they touch it.) */
static void vertices_on_wall(Pair *pair, const scree_Surface *s, const scree_Shape *wall,
                             const scree_Pose *pose) {
  const scree_Meridian m = scree_shape_meridian(wall);
  const scree_Mat3 axes = scree_quat_matrix(pose->orientation);
  for (int v = 0; v < s->mesh->vertex_count; ++v) {
    const scree_Vec3 at = scree_surface_to_world(s, s->mesh->vertex[v]);
    const scree_Vec3 x = scree_mat3_tmul(&axes, scree_sub(at, pose->position));
    const double rho = hypot(x.x, x.y), out = rho - m.start[0], up = x.z - m.start[1];
    const double gap = m.normal[0] * out + m.normal[1] * up;
    const double along = m.along[0] * out + m.along[1] * up;
    /* deeper than it is away from the rim: it got there past the rim, which holds it */
    const double from_rim = fmin(along, m.length - along);
    if (gap > pair->margin || gap < -pair->depth || from_rim < 0 || -gap > from_rim) continue;
    const double c = rho > 0 ? x.x / rho : 1, sn = rho > 0 ? x.y / rho : 0;
    const scree_Vec3 n =
        scree_mat3_mul(&axes, scree_vec3(m.normal[0] * c, m.normal[0] * sn, m.normal[1]));
    if (!scree_surface_in_cone(s, v, n)) continue;
    emit(pair, at, n, gap, scree_feature_vertex(0, 0, 0), vertex_part(s, v), 0);
  }
}

/* All vertices against a shape that is no surface. */
static void vertices_on_shape(Pair *pair, const scree_Surface *s, const scree_Shape *other,
                              const scree_Pose *pose) {
  if (is_wall(other)) {
    vertices_on_wall(pair, s, other, pose);
    return;
  }
  const scree_Aabb box = scree_shape_aabb(other, pose);
  scree_Shape ball = {.kind = SCREE_SHAPE_SPHERE,
                      .radius = POINT * s->size,
                      .bounding_radius = POINT * s->size,
                      .size = 2 * POINT * s->size};
  for (int v = 0; v < s->mesh->vertex_count; ++v) {
    const scree_Pose at = {scree_surface_to_world(s, s->mesh->vertex[v]), {1, 0, 0, 0}};
    if (!is_near(&box, at.position, pair->margin)) continue;
    Vertex x = {pair, s, v, at.position, ball.radius, false};
    scree_collide_each(&ball, &at, other, pose, pair->margin - ball.radius, add_vertex, &x);
    if (!x.refused) continue;
    const int parts = scree_shape_part_count(other);
    for (int k = 0; k < parts; ++k) {
      const scree_ClumpPart *part = scree_shape_part(other, k);
      const scree_Pose there = part_pose(part, pose);
      vertex_under_face(&x, &part->shape, &there, (uint32_t)k);
    }
    if (parts == 0) vertex_under_face(&x, other, pose, 0);
  }
}

/* Vertices of a on the triangles of b; `first` says which of the two is the first body. */
static void vertices_on_surface(Pair *pair, const scree_Surface *a, const scree_Surface *b,
                                bool first) {
  const double near = SAME * fmin(a->size, b->size);
  scree_Aabb box = b->mesh->node[0].bounds; /* of b in its own frame */
  for (int v = 0; v < a->mesh->vertex_count; ++v) {
    const scree_Vec3 p = scree_surface_to_world(a, a->mesh->vertex[v]);
    if (!is_near(&box, scree_surface_to_local(b, p), pair->margin)) continue;
    scree_Closest c;
    double gap;
    scree_Vec3 n;
    const scree_Corner corner = {a, v, p, p};
    if (!scree_surface_closest_acting(b, &corner, pair->margin, pair->depth, &c, &gap, &n))
      continue;
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
static void point_on_surface(Pair *pair, const scree_Surface *s, scree_Vec3 c, double radius,
                             scree_Vec3 inner, int name, uint32_t part) {
  scree_Closest closest;
  double gap;
  scree_Vec3 n;
  const scree_Corner corner = {NULL, -1, c, inner};
  if (radius == 0
          ? !scree_surface_closest_acting(s, &corner, pair->margin, pair->depth, &closest, &gap, &n)
          : !scree_surface_closest(s, c, pair->margin + radius, pair->depth, &closest, &gap, &n))
    return;
  gap -= radius;
  if (!(gap <= pair->margin)) return;
  if (closest.vertex >= 0) return; /* the vertex has its own contact */
  const scree_Vec3 on = scree_surface_to_world(s, closest.on);
  /* the normal of the pair points to the elements */
  emit(pair, on, scree_neg(n), gap, scree_feature_vertex(1, name, 1), (uint32_t)closest.triangle,
       part);
}

/* The lowest point of a smooth body over a triangle. */
typedef struct Lowest {
  Pair *pair;
  const scree_Surface *surface;
  const scree_Shape *shape;
  const scree_Pose *pose;
  scree_Mat3 axes;
  uint32_t part;
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

/* The point of a line of lowest points, from one end to the other, that is nearest to the line of
 * an edge a + its e. */
static scree_Vec3 over_edge(scree_Vec3 one, scree_Vec3 other, scree_Vec3 a, scree_Vec3 e) {
  const scree_Vec3 along = scree_sub(other, one), x = scree_cross(along, e);
  const double square = scree_norm2(x);
  if (!(square > PARALLEL * PARALLEL * scree_norm2(along) * scree_norm2(e)))
    return scree_axpy(one, 0.5, along);
  const double part = scree_dot(scree_cross(scree_sub(a, one), e), x) / square;
  return scree_axpy(one, fmin(1, fmax(0, part)), along);
}

/* A round body over the convex edges of triangle t that belong to it (it is their first one). The
 * normal is the one between those of the two triangles along which the body is furthest from the
 * edge, or least deep behind it; at the ends of that range the body touches a triangle instead.
 * Ends of edges are vertices, which have their own contacts. Where the body is straight, the lowest
 * point jumps from one end of a line to the other at that normal. */
static void body_on_edges(const Lowest *l, int t) {
  enum { HALVINGS = 32 };
  const scree_Surface *s = l->surface;
  const scree_TriangleMesh *m = s->mesh;
  for (int k = 0; k < 3; ++k) {
    const scree_MeshEdge *edge = &m->edge[m->side[t][k]];
    if (edge->triangle[0] != t || edge->triangle[1] < 0) continue;
    const scree_Vec3 a = scree_surface_to_world(s, m->vertex[m->triangle[t][k]]);
    const scree_Vec3 e =
        scree_sub(scree_surface_to_world(s, m->vertex[m->triangle[t][(k + 1) % 3]]), a);
    const scree_Vec3 n0 = scree_mat3_mul(&s->axes, m->normal[t]);
    const scree_Vec3 n1 = scree_mat3_mul(&s->axes, m->normal[edge->triangle[1]]);
    if (!(scree_dot(scree_cross(n0, n1), e) > RIDGE * scree_norm(e))) continue; /* flat, valley */
    const double slack = fmin(BENT_MOST, BENT / acos(fmin(1, scree_dot(n0, n1))));
    double low = -slack, high = 1 + slack;
    for (int i = 0; i < HALVINGS; ++i) { /* ternary search */
      const double one = low + (high - low) / 3, two = high - (high - low) / 3;
      if (edge_gap(l, a, n0, n1, one, NULL, NULL) < edge_gap(l, a, n0, n1, two, NULL, NULL))
        low = one;
      else
        high = two;
    }
    const double at = 0.5 * (low + high);
    if (!(at > ON_END - slack && at < 1 - ON_END + slack)) continue;
    scree_Vec3 c, n;
    const double gap = edge_gap(l, a, n0, n1, at, &c, &n);
    scree_Vec3 one, other;
    edge_gap(l, a, n0, n1, low, &one, NULL);
    edge_gap(l, a, n0, n1, high, &other, NULL);
    if (scree_norm(scree_sub(other, one)) > LINE * l->shape->size) c = over_edge(one, other, a, e);
    if (gap > l->pair->margin || gap < -l->pair->depth) continue;
    const double along = scree_dot(scree_sub(c, a), e) / scree_norm2(e);
    if (!(along > 0 && along < 1)) continue;
    emit(l->pair, scree_axpy(a, along, e), scree_neg(n), gap, scree_feature_vertex(1, 1 + k, 1),
         (uint32_t)t, l->part);
  }
}

static void visit_lowest(void *user, int t) {
  const Lowest *l = user;
  const scree_Surface *s = l->surface;
  const scree_TriangleMesh *m = s->mesh;
  const scree_Vec3 n = scree_mat3_mul(&s->axes, m->normal[t]);
  const scree_Vec3 c = support_at(l, scree_neg(n));
  scree_Vec3 x[3];
  int edge, corner;
  for (int k = 0; k < 3; ++k) x[k] = scree_surface_to_world(s, m->vertex[m->triangle[t][k]]);
  const double gap = scree_dot(n, scree_sub(c, x[0]));
  if (gap > l->pair->margin) return;
  body_on_edges(l, t);
  const scree_Vec3 below = scree_axpy(c, -gap, n);
  scree_closest_on_triangle(x, below, &edge, &corner);
  if (edge >= 0 || corner >= 0 || gap < -l->pair->depth) return;
  if (scree_dot(n, scree_sub(l->pose->position, x[0])) <= 0) return; /* from its front only */
  emit(l->pair, below, scree_neg(n), gap, scree_feature_vertex(1, 0, 1), (uint32_t)t, l->part);
}

/* Of a body that has contacts at its corners and rims, only the edges below it. */
static void visit_edges(void *user, int t) {
  const Lowest *l = user;
  const scree_Surface *s = l->surface;
  const scree_Vec3 n = scree_mat3_mul(&s->axes, s->mesh->normal[t]);
  const scree_Vec3 x = scree_surface_to_world(s, s->mesh->vertex[s->mesh->triangle[t][0]]);
  if (scree_dot(n, scree_sub(support_at(l, scree_neg(n)), x)) <= l->pair->margin)
    body_on_edges(l, t);
}

static void smooth_on_surface(Pair *pair, const scree_Surface *s, const scree_Shape *other,
                              const scree_Pose *pose, uint32_t part,
                              void (*visit)(void *user, int t)) {
  Lowest l = {pair, s, other, pose, scree_quat_matrix(pose->orientation), part};
  const scree_Vec3 centre = scree_surface_to_local(s, pose->position);
  const double reach = other->bounding_radius + pair->margin;
  const scree_Vec3 e = scree_vec3(reach, reach, reach);
  const scree_Aabb box = {scree_sub(centre, e), scree_add(centre, e)};
  scree_trimesh_query(s->mesh, &box, visit, &l);
}

/* ---- edges that cross ------------------------------------------------------------------------ */

/* The circle at an end of a pipe, funnel or ring, or of a cylinder or cone, in the world. */
typedef struct Rim {
  scree_Vec3 centre, across[2], axis;
  double radius, into[2][2]; /* directions into the solid: away from the axis, and along it */
  double slope; /* up to which a side that leans away from a face lies on it: both of its ends are
                 * contacts then */
} Rim;

enum { CHORDS = 64, NEWTON = 4 }; /* parts of a rim, and steps to the point of one */

static scree_Vec3 around(const Rim *rim, double angle) {
  return scree_axpy(scree_scale(cos(angle), rim->across[0]), sin(angle), rim->across[1]);
}

static scree_Vec3 rim_point(const Rim *rim, double angle) {
  return scree_axpy(rim->centre, rim->radius, around(rim, angle));
}

/* Whether the solid may push along n there. */
static bool rim_acts(const Rim *rim, double angle, scree_Vec3 n, double slope) {
  const double out = scree_dot(n, around(rim, angle)), along = scree_dot(n, rim->axis);
  return rim->into[0][0] * out + rim->into[0][1] * along <= slope &&
         rim->into[1][0] * out + rim->into[1][1] * along <= slope;
}

/* An edge of the other body in the world, and what it is an edge of. */
typedef struct Segment {
  scree_Vec3 from, along;
  const scree_Surface *surface; /* with its edge, or null: of a flat shape, or of a rim */
  int edge;                     /* of a rim: which of its chords */
  const Lowest *flat;
  const Rim *rim;
  double rounding;
} Segment;

typedef struct Crossing {
  Pair *pair;
  const scree_Surface *surface;
  Segment segment;
  bool first; /* the segment belongs to the first body of the pair */
  uint32_t part;
  int name;
} Crossing;

/* Whether the triangles of an edge lie behind the plane across n through `on`. */
static bool behind(const scree_Surface *s, int e, scree_Vec3 on, scree_Vec3 n) {
  const scree_TriangleMesh *m = s->mesh;
  for (int side = 0; side < 2; ++side) {
    const int t = m->edge[e].triangle[side];
    for (int k = 0; t >= 0 && k < 3; ++k) {
      const scree_Vec3 to = scree_sub(scree_surface_to_world(s, m->vertex[m->triangle[t][k]]), on);
      if (scree_dot(n, to) > CROSSED * scree_norm(to)) return false;
    }
  }
  return true;
}

/* The point and the tangent of a rim that are nearest to the line a + its along, from a start on a
 * chord; false if it is on another chord. */
static bool tangent_of(const Segment *chord, double mine, scree_Vec3 a, scree_Vec3 along,
                       Segment *tangent, double *angle) {
  const double pitch = 2 * acos(-1.0) / CHORDS;
  const Rim *rim = chord->rim;
  *angle = pitch * (chord->edge + mine);
  *tangent = *chord;
  for (int k = 0; k <= NEWTON; ++k) {
    tangent->from = rim_point(rim, *angle);
    tangent->along = scree_scale(rim->radius * pitch, scree_cross(rim->axis, around(rim, *angle)));
    const scree_Vec3 x = scree_cross(tangent->along, along), w = scree_sub(tangent->from, a);
    const double square = scree_norm2(x);
    if (!(square > 0)) return false;
    if (k < NEWTON) *angle -= pitch * scree_dot(scree_cross(w, along), x) / square;
  }
  return *angle >= pitch * chord->edge && *angle < pitch * (chord->edge + 1);
}

static bool segment_in_front(const Segment *g, double angle, scree_Vec3 on, scree_Vec3 n) {
  if (g->rim) return rim_acts(g->rim, angle, scree_neg(n), 0);
  if (g->surface) return behind(g->surface, g->edge, on, scree_neg(n));
  if (!g->flat) return true; /* the axis of a cylinder: all of it is as low */
  const scree_Vec3 low = support_at(g->flat, scree_neg(n));
  return scree_dot(n, scree_sub(low, on)) > -CROSSED * scree_norm(scree_sub(low, on));
}

/* Where the lines of two edges come closest, as parts of them; false if they are parallel. */
static bool closest_parts(const Segment *g, scree_Vec3 a, scree_Vec3 along, scree_Vec3 *x,
                          double *mine, double *its) {
  *x = scree_cross(g->along, along);
  const double length = scree_norm(*x), most = scree_norm(g->along) * scree_norm(along);
  if (!(length > PARALLEL * most)) return false;
  const scree_Vec3 w = scree_sub(g->from, a);
  *mine = -scree_dot(scree_cross(w, along), *x) / (length * length);
  *its = -scree_dot(scree_cross(w, g->along), *x) / (length * length);
  return true;
}

static void visit_crossing(void *user, int t) {
  const Crossing *c = user;
  const scree_Surface *s = c->surface;
  const scree_TriangleMesh *m = s->mesh;
  for (int k = 0; k < 3; ++k) {
    const int e = m->side[t][k];
    if (!m->edge[e].sharp || m->edge[e].triangle[0] != t) continue;
    const scree_Vec3 a = scree_surface_to_world(s, m->vertex[m->edge[e].vertex[0]]);
    const scree_Vec3 along =
        scree_sub(scree_surface_to_world(s, m->vertex[m->edge[e].vertex[1]]), a);
    Segment g = c->segment;
    scree_Vec3 x;
    double mine, its, angle = 0;
    if (!closest_parts(&g, a, along, &x, &mine, &its)) continue;
    if (g.rim) {
      if (!(mine > -1 && mine < 2) || !tangent_of(&c->segment, mine, a, along, &g, &angle) ||
          !closest_parts(&g, a, along, &x, &mine, &its))
        continue;
      mine = 0.5;
      g.from = scree_axpy(g.from, -0.5, g.along);
    }
    if (!(mine > 0 && mine < 1 && its > 0 && its < 1)) continue;
    scree_Vec3 outward = m->normal[m->edge[e].triangle[0]];
    if (m->edge[e].triangle[1] >= 0)
      outward = scree_add(outward, m->normal[m->edge[e].triangle[1]]);
    const bool turned = scree_dot(x, scree_mat3_mul(&s->axes, outward)) < 0;
    const scree_Vec3 n = scree_scale((turned ? -1 : 1) / scree_norm(x), x);
    const scree_Vec3 core = scree_axpy(g.from, mine, g.along), p = scree_axpy(core, -g.rounding, n);
    const scree_Vec3 q = scree_axpy(a, its, along);
    const double gap = scree_dot(n, scree_sub(p, q));
    if (gap > c->pair->margin || gap < -c->pair->depth) continue;
    if (!behind(s, e, q, n) || !segment_in_front(&g, angle, p, n)) continue;
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
  const scree_Vec3 a = scree_surface_to_local(c->surface, g->from);
  const scree_Vec3 b = scree_surface_to_local(c->surface, scree_add(g->from, g->along));
  const double reach = fmax(c->pair->margin, c->pair->depth);
  const scree_Aabb box = {
      scree_vec3(fmin(a.x, b.x) - reach, fmin(a.y, b.y) - reach, fmin(a.z, b.z) - reach),
      scree_vec3(fmax(a.x, b.x) + reach, fmax(a.y, b.y) + reach, fmax(a.z, b.z) + reach)};
  scree_trimesh_query(c->surface->mesh, &box, visit_crossing, c);
}

/* Ridges of a across ridges of b; a is the first body of the pair. */
static void edges_on_surface(Pair *pair, const scree_Surface *a, const scree_Surface *b) {
  const scree_TriangleMesh *m = a->mesh;
  scree_Aabb box = b->mesh->node[0].bounds;
  const double reach = fmax(pair->margin, pair->depth);
  for (int e = 0; e < m->edge_count; ++e) {
    if (!m->edge[e].sharp) continue;
    const scree_Vec3 from = scree_surface_to_world(a, m->vertex[m->edge[e].vertex[0]]);
    const scree_Vec3 to = scree_surface_to_world(a, m->vertex[m->edge[e].vertex[1]]);
    const scree_Vec3 along = scree_sub(to, from);
    if (!is_near(&box, scree_surface_to_local(b, from), reach + scree_norm(along))) continue;
    /* the triangle of the edge carries the contact */
    Crossing c = {
        pair, b, {from, along, a, e, NULL, NULL, 0}, true, (uint32_t)m->edge[e].triangle[0], e};
    cross(&c);
  }
}

/* Edges of a box or polyhedron across the ridges of a surface. */
static void flat_edges_on_surface(Pair *pair, const scree_Surface *s, const scree_Shape *other,
                                  const scree_Pose *pose, uint32_t part) {
  const Lowest flat = {pair, s, other, pose, scree_quat_matrix(pose->orientation), part};
  const double half[3] = {other->semi.x, other->semi.y, other->semi.z};
  const scree_Polyhedron *hull = other->data ? other->data->polyhedron : NULL; /* null: a box */
  const double rounding = scree_shape_rounding(other);
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
        pair,
        s,
        {from, scree_sub(scree_pose_apply(pose, end[1]), from), NULL, -1, &flat, NULL, rounding},
        false,
        part,
        e};
    cross(&c);
  }
}

/* ---- rims ------------------------------------------------------------------------------------ */

typedef struct OnRim {
  Pair *pair;
  const scree_Surface *surface;
  const Rim *rim;
  int end;
  uint32_t part;
} OnRim;

/* The point of a rim that is deepest behind the plane of a triangle, if it is over the triangle. */
static void visit_rim(void *user, int t) {
  const OnRim *o = user;
  const scree_Surface *s = o->surface;
  const Rim *rim = o->rim;
  const scree_Vec3 n = scree_mat3_mul(&s->axes, s->mesh->normal[t]);
  const double x = scree_dot(n, rim->across[0]), y = scree_dot(n, rim->across[1]);
  if (!(hypot(x, y) > PARALLEL)) return; /* no point of the rim is deeper than the others */
  const double angle = atan2(-y, -x);
  const scree_Vec3 c = rim_point(rim, angle);
  scree_Vec3 corners[3];
  int edge, corner;
  for (int k = 0; k < 3; ++k)
    corners[k] = scree_surface_to_world(s, s->mesh->vertex[s->mesh->triangle[t][k]]);
  const double gap = scree_dot(n, scree_sub(c, corners[0]));
  if (gap > o->pair->margin || gap < -o->pair->depth ||
      !rim_acts(rim, angle, scree_neg(n), rim->slope))
    return;
  const scree_Vec3 on = scree_axpy(c, -gap, n);
  scree_closest_on_triangle(corners, on, &edge, &corner);
  if (edge >= 0 || corner >= 0) return;
  emit(o->pair, on, scree_neg(n), gap, scree_feature_vertex(1, o->end, 1), (uint32_t)t, o->part);
}

static void rim_on_surface(Pair *pair, const scree_Surface *s, const Rim *rim, int end,
                           uint32_t part) {
  const double reach = rim->radius + pair->margin;
  const scree_Vec3 centre = scree_surface_to_local(s, rim->centre);
  const scree_Vec3 extent = scree_vec3(reach, reach, reach);
  const scree_Aabb box = {scree_sub(centre, extent), scree_add(centre, extent)};
  OnRim o = {pair, s, rim, end, part};
  scree_trimesh_query(s->mesh, &box, visit_rim, &o);
  for (int k = 0; k < CHORDS; ++k) {
    const double pitch = 2 * acos(-1.0) / CHORDS;
    const scree_Vec3 from = rim_point(rim, pitch * k);
    const scree_Vec3 along = scree_sub(rim_point(rim, pitch * (k + 1)), from);
    Crossing c = {pair, s, {from, along, NULL, k, NULL, rim, 0}, false, part, CHORDS * end + k};
    cross(&c);
  }
}

/* Both rims of a pipe, funnel or ring. */
static void rims_on_surface(Pair *pair, const scree_Surface *s, const scree_Shape *wall,
                            const scree_Pose *pose, uint32_t part) {
  const scree_Meridian m = scree_shape_meridian(wall);
  const scree_Mat3 axes = scree_quat_matrix(pose->orientation);
  for (int end = 0; end < 2; ++end) {
    const double along = end ? m.length : 0, sign = end ? -1 : 1;
    const Rim rim = {.centre = scree_axpy(pose->position, m.start[1] + along * m.along[1], axes.z),
                     .across = {axes.x, axes.y},
                     .axis = axes.z,
                     .radius = m.start[0] + along * m.along[0],
                     .into = {{sign * m.along[0], sign * m.along[1]}}};
    if (rim.radius > 0) rim_on_surface(pair, s, &rim, end, part);
  }
}

/* The straight side of a cylinder or capsule across the ridges of a surface. */
static void side_on_surface(Pair *pair, const scree_Surface *s, const scree_Shape *other,
                            const scree_Pose *pose, uint32_t part) {
  const scree_Vec3 half =
      scree_quat_rotate(pose->orientation, scree_vec3(0, 0, other->half_length));
  const scree_Vec3 from = scree_sub(pose->position, half), along = scree_scale(2, half);
  Crossing c = {pair,  s,    {from, along, NULL, -1, NULL, NULL, other->radius},
                false, part, CHORDS * 2};
  cross(&c);
}

/* The circle around an end of a cylinder, or the base of a cone, whose side goes from there in the
 * direction `side` (out, along): rim points at fixed angles, for ends that lie on a face, besides
 * those of other rims. */
static void end_on_surface(Pair *pair, const scree_Surface *s, const scree_Shape *other,
                           const scree_Pose *pose, int end, double z, const double side[2],
                           uint32_t part) {
  const scree_Mat3 axes = scree_quat_matrix(pose->orientation);
  const Rim rim = {.centre = scree_axpy(pose->position, z, axes.z),
                   .across = {axes.x, axes.y},
                   .axis = axes.z,
                   .radius = other->radius,
                   .into = {{-1, 0}, {side[0], side[1]}},
                   .slope = CROSSED};
  rim_on_surface(pair, s, &rim, end, part);
  for (int k = 0; k < SCREE_RIM; ++k)
    point_on_surface(pair, s, rim_point(&rim, 2 * acos(-1.0) * k / SCREE_RIM), 0, pose->position,
                     2 + SCREE_RIM * end + k, part);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void shape_on_surface(Pair *pair, const scree_Surface *s, const scree_Shape *other,
                             const scree_Pose *pose, uint32_t part) {
  const scree_Vec3 c = pose->position;
  const double rounding = scree_shape_rounding(other);
  switch (other->kind) {
  case SCREE_SHAPE_SPHERE: point_on_surface(pair, s, c, other->radius, c, 0, part); break;
  case SCREE_SHAPE_CAPSULE:
    for (int k = 0; k < 2; ++k)
      point_on_surface(
          pair, s,
          scree_pose_apply(pose, scree_vec3(0, 0, k ? other->half_length : -other->half_length)),
          other->radius, c, k, part);
    side_on_surface(pair, s, other, pose, part);
    break;
  case SCREE_SHAPE_CYLINDER:
    for (int end = 0; end < 2; ++end) {
      const double z = end ? other->half_length : -other->half_length, side[2] = {0, end ? -1 : 1};
      end_on_surface(pair, s, other, pose, end, z, side, part);
    }
    side_on_surface(pair, s, other, pose, part);
    break;
  case SCREE_SHAPE_CONE: {
    const double height = 2 * other->half_length, slant = hypot(other->radius, height);
    const double side[2] = {-other->radius / slant, height / slant};
    const scree_Vec3 tip = scree_pose_apply(pose, scree_vec3(0, 0, 0.75 * height));
    end_on_surface(pair, s, other, pose, 0, -0.25 * height, side, part);
    point_on_surface(pair, s, tip, 0, c, 1, part);
    smooth_on_surface(pair, s, other, pose, part, visit_edges);
    break;
  }
  case SCREE_SHAPE_BOX:
    for (int k = 0; k < 8; ++k) {
      const scree_Vec3 x =
          scree_vec3(k & 1 ? other->semi.x : -other->semi.x, k & 2 ? other->semi.y : -other->semi.y,
                     k & 4 ? other->semi.z : -other->semi.z);
      point_on_surface(pair, s, scree_pose_apply(pose, x), rounding, c, k, part);
    }
    flat_edges_on_surface(pair, s, other, pose, part);
    break;
  case SCREE_SHAPE_POLYHEDRON:
    for (int k = 0; k < other->vertex_count; ++k)
      point_on_surface(pair, s, scree_pose_apply(pose, other->vertices[k]), rounding, c, k, part);
    flat_edges_on_surface(pair, s, other, pose, part);
    break;
  case SCREE_SHAPE_PIPE:
  case SCREE_SHAPE_FUNNEL:
  case SCREE_SHAPE_RING: rims_on_surface(pair, s, other, pose, part); break;
  default:
    if (scree_shape_type(other->kind)->convex)
      smooth_on_surface(pair, s, other, pose, part, visit_lowest);
  }
}

/* ---- pairs ------------------------------------------------------------------------------------
 */

void scree_collide_elements(const scree_Shape *elements, const scree_Pose *pose,
                            const scree_Shape *other, const scree_Pose *other_pose, double margin,
                            scree_PointSink sink, void *user) {
  const scree_Surface s = {elements->data->mesh, pose, scree_quat_matrix(pose->orientation),
                           elements->size};
  const double size = fmin(elements->size, other->size);
  Pair pair; /* set field by field: the array need not be cleared */
  pair.margin = margin;
  pair.depth = DEEP * size;
  pair.sink = sink;
  pair.user = user;
  pair.seen = 0;
  if (other->data && other->data->mesh) {
    const scree_Surface t = {other->data->mesh, other_pose,
                             scree_quat_matrix(other_pose->orientation),
                             isfinite(other->size) ? other->size : elements->size};
    vertices_on_surface(&pair, &s, &t, true);
    vertices_on_surface(&pair, &t, &s, false);
    edges_on_surface(&pair, &s, &t);
    return;
  }
  vertices_on_shape(&pair, &s, other, other_pose);
  const int parts = scree_shape_part_count(other);
  for (int k = 0; k < parts; ++k) {
    const scree_ClumpPart *part = scree_shape_part(other, k);
    const scree_Pose at = part_pose(part, other_pose);
    shape_on_surface(&pair, &s, &part->shape, &at, (uint32_t)k);
  }
  if (parts == 0) shape_on_surface(&pair, &s, other, other_pose, 0);
}

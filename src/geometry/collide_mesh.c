/* Convex shapes against triangle meshes.
 *
 * Contacts of a body with a mesh are pairs of features of which the one of the mesh is a face or a
 * convex edge or vertex (trimesh.h): corners of the body over the interior of a triangle: normal of
 * the triangle; sharp vertices of the mesh under a face of the body: normal of that face; sharp
 * edges of the mesh crossing edges of the body: normal across both; otherwise, and for round
 * bodies, the closest points of body and triangle, if the one of the triangle is on a sharp edge or
 * vertex. The normal of an edge or vertex must be in its normal cone: all triangles around it lie
 * behind the plane across it. Otherwise the body touches one of these triangles instead, which
 * gives the contact. So there are no contacts at the edges between coplanar triangles.
 *
 * A triangle is touched from its front only (in_front). Each edge and vertex belongs to the first
 * triangle that has it, and is tested with that one.
 *
 * More than 600 lines: all methods of finding points share the pair and the points found so far.
 */
#include "geometry/composite.h"
#include "geometry/gjk.h"
#include "geometry/manifold.h"
#include "geometry/smooth.h"
#include "geometry/trimesh.h"

#include <float.h>
#include <string.h>

/* How far, as a sine, a normal may be outside a normal cone: no contact must be lost by
 * rounding. */
static const double CONE_SLACK = 1e-7;

/* The same for a vertex under a face of a body: the face lies on an edge of the mesh by the two
 * vertices at its ends, of which the cone has one alone as soon as the face is not parallel to the
 * edge. The other one is no less outside of the body. Without it a box at rest on a height field
 * rocked from vertex to vertex for ever, each time by an impact: 1.9 % of its energy were created
 * in 2 s, and 0.35 % by a rigid one; now 0.02 and 0.004 %. */
static const double FACE_SLACK = 0.02;

/* A corner that is slightly inside the solid near one of its sharp edges is behind both faces of
 * the edge, and far behind one of them, which is not a valid contact. Points deeper than the
 * tolerated part of the size are dropped if another one within this many depths is less deep. */
static const double TOLERATED = 0.01, EXPLAINED = 3;

/* Depth, over the size, up to which a corner in a valley touches both of its faces. */
static const double IN_VALLEY = 0.1;

/* How far an edge that is behind two borders may pass beyond their common corner, over its depth.
 */
static const double VALLEY_END = 2;

/* Cosine between the normals of two faces above which a corner is not held by both before it is in
 * the valley between them: crossing it at a small angle makes no overlap to speak of. */
static const double SHALLOW = 1 - 0.5e-4;

/* Points are searched this part of the size beyond the margin, since points that do not touch yet
 * may show that a deep one is invalid. */
static const double BEYOND = 0.05;

/* Square of the distance, relative to the edge, within which a point lies on an edge or vertex. */
static const double NEAR_EDGE = 1e-14;

/* Points that are collected before they are emitted. */
enum { GATHERED = 256 };

/* Pushes of overlapping bodies, and the room that they leave as a part of the size. */
enum { PUSHES = 4 };
static const double PUSH_ROOM = 0.01;

typedef struct Pair {
  const scree_Shape *shape; /* without its rounding */
  const scree_TriangleMesh *mesh;
  const scree_Pose *mesh_pose;
  scree_Mat3 mesh_axes;
  scree_Pose pose; /* of the shape in the frame of the mesh */
  scree_Mat3 axes;
  double margin;
  double rounding; /* gaps of the bare shape are this much larger */
  uint32_t part;   /* of the shape */
  scree_PointSink sink;
  void *user;
  int count;
  scree_ManifoldPoint points[GATHERED]; /* in the frame of the mesh */
} Pair;

/* Emit a point, in the world frame. */
static void hand_out(Pair *p, const scree_ManifoldPoint *x) {
  scree_ManifoldPoint point = *x;
  point.position = scree_add(p->mesh_pose->position, scree_mat3_mul(&p->mesh_axes, x->position));
  point.normal = scree_mat3_mul(&p->mesh_axes, x->normal);
  p->sink(p->user, &point);
}

/* Collect a point, unless it is present already; x is on the mesh, the gap that of the bare shape.
 */
static void emit(Pair *p, int triangle, scree_Vec3 x, scree_Vec3 n, double bare, uint32_t feature) {
  const double gap = bare - p->rounding;
  if (!(gap <= p->margin)) return;
  const scree_ManifoldPoint point = {
      scree_axpy(x, 0.5 * gap, n), n, gap, feature, {p->part, (uint32_t)triangle}};
  const double near2 = 1e-12 * p->shape->bounding_radius * p->shape->bounding_radius;
  for (int k = 0; k < p->count; ++k)
    if (scree_norm2(scree_sub(p->points[k].position, point.position)) <= near2 &&
        scree_dot(p->points[k].normal, n) > 1 - 1e-9)
      return;
  if (p->count < GATHERED)
    p->points[p->count++] = point;
  else if (gap <= p->margin - BEYOND * p->shape->size)
    hand_out(p, &point);
}

/* ---- features of the mesh ---- */

/* Whether c lies beyond side k of triangle t: its foot on the plane of t does. */
static bool is_beyond(const scree_TriangleMesh *m, int t, int k, scree_Vec3 c) {
  const scree_Vec3 a = m->vertex[m->triangle[t][k]], b = m->vertex[m->triangle[t][(k + 1) % 3]];
  const scree_Vec3 e = scree_sub(b, a);
  return scree_dot(scree_cross(m->normal[t], e), scree_sub(c, a)) < -1e-12 * scree_norm2(e);
}

/* Whether the foot of c on the plane of t is inside t or one of the neighbours that it has across
 * sides that are not sharp: with t these are one face, or bend towards c. */
static bool is_over(const scree_TriangleMesh *m, int t, scree_Vec3 c) {
  bool beyond = false;
  for (int k = 0; k < 3; ++k) {
    if (!is_beyond(m, t, k, c)) continue;
    beyond = true;
    const scree_MeshEdge *e = &m->edge[m->side[t][k]];
    if (e->sharp || e->triangle[1] < 0) continue;
    const int other = e->triangle[0] == t ? e->triangle[1] : e->triangle[0];
    if (!is_beyond(m, other, 0, c) && !is_beyond(m, other, 1, c) && !is_beyond(m, other, 2, c))
      return true;
  }
  return !beyond;
}

/* Whether c, whose foot on the plane of t is beyond side k, touches t all the same, since the side
 * is a valley: the room in it is in front of both of its faces, so that the plane of t bounds
 * points over the other face too. Without this a corner that slides along one face of an obtuse
 * valley would meet the other only when it is behind it. Behind both faces, at most by `most`, c
 * may be beyond the valley as seen from each: then it touches both. */
static bool in_valley(const scree_TriangleMesh *m, int t, int k, scree_Vec3 c, double most) {
  const scree_MeshEdge *e = &m->edge[m->side[t][k]];
  if (e->sharp || e->triangle[1] < 0) return false;
  const int other = e->triangle[0] == t ? e->triangle[1] : e->triangle[0];
  int side = 0;
  while (side < 2 && m->side[other][side] != m->side[t][k]) ++side;
  const scree_Vec3 a = m->vertex[e->vertex[0]], to = scree_sub(c, a);
  const scree_Vec3 along = scree_sub(m->vertex[e->vertex[1]], a);
  const double height = scree_dot(m->normal[other], to), own = scree_dot(m->normal[t], to);
  const double u = scree_dot(along, to) / scree_norm2(along);
  if (!(u >= 0 && u <= 1) || fmin(height, own) < -most) return false;
  if (height <= 0 && own <= 0 && is_beyond(m, other, side, c)) return true;
  return scree_dot(m->normal[t], m->normal[other]) < SHALLOW && is_over(m, other, c);
}

/* Whether the foot of the corner c on the plane of a triangle is inside it; on a side counts, and
 * so does a foot beyond a valley that c is in (in_valley). */
static bool is_inside(const scree_TriangleMesh *m, int t, scree_Vec3 c, double most) {
  bool inside = true;
  for (int k = 0; k < 3; ++k) {
    if (!is_beyond(m, t, k, c)) continue;
    if (in_valley(m, t, k, c, most)) return true;
    inside = false;
  }
  return inside;
}

/* Whether the triangles of an edge lie behind the plane across n through it. */
static bool in_edge_cone(const scree_TriangleMesh *m, int e, scree_Vec3 n) {
  const scree_MeshEdge *edge = &m->edge[e];
  for (int side = 0; side < 2 && edge->triangle[side] >= 0; ++side) {
    const int t = edge->triangle[side];
    for (int k = 0; k < 3; ++k) {
      const scree_Vec3 to = scree_sub(m->vertex[m->triangle[t][k]], m->vertex[edge->vertex[0]]);
      if (scree_dot(n, to) > CONE_SLACK * scree_norm(to)) return false;
    }
  }
  return true;
}

static bool in_vertex_cone(const scree_TriangleMesh *m, int v, scree_Vec3 n, double slack) {
  for (int k = m->link_first[v]; k < m->link_first[v + 1]; ++k) {
    const int *end = m->edge[m->link[k]].vertex;
    const scree_Vec3 to = scree_sub(m->vertex[end[0] == v ? end[1] : end[0]], m->vertex[v]);
    if (scree_dot(n, to) > slack * scree_norm(to)) return false;
  }
  return true;
}

/* Whether the corner c, at `height` over triangle t, touches it from its front. The body's origin
 * is there; or it is behind the plane of t, but the body goes around a sharp edge: the way from the
 * origin to the corner, just in front of t, does not pass through the face. A corner that is behind
 * t by more than its distance from the edge touches the edge instead. */
static bool in_front(const Pair *p, int t, scree_Vec3 c, double height) {
  const scree_TriangleMesh *m = p->mesh;
  const scree_Vec3 n = m->normal[t], o = p->pose.position;
  const double origin = scree_dot(n, scree_sub(o, m->vertex[m->triangle[t][0]]));
  if (origin > 0) return true;
  const double slack = TOLERATED * p->shape->size;
  if (height < -slack) return false;
  for (int k = 0; k < 3 && height < 0; ++k) {
    const scree_Vec3 a = m->vertex[m->triangle[t][k]];
    const scree_Vec3 e = scree_sub(m->vertex[m->triangle[t][(k + 1) % 3]], a);
    const double in = scree_dot(scree_cross(n, e), scree_sub(c, a));
    if (m->edge[m->side[t][k]].sharp && in < -height * scree_norm(e)) return false;
  }
  const double lift = fmax(slack - height, 0), above = height + lift;
  const scree_Vec3 way = scree_sub(scree_axpy(c, lift, n), o);
  return !is_over(m, t, scree_axpy(o, -origin / (above - origin), way));
}

/* ---- faces of the mesh ---- */

/* Corner c of the body over triangle t. */
static void corner_on_face(Pair *p, int t, scree_Vec3 c, int name) {
  const scree_TriangleMesh *m = p->mesh;
  const scree_Vec3 n = m->normal[t];
  const double height = scree_dot(n, scree_sub(c, m->vertex[m->triangle[t][0]]));
  if (height - p->rounding > p->margin) return;
  const scree_Vec3 x = scree_axpy(c, -height, n);
  if (is_inside(m, t, c, IN_VALLEY * p->shape->size) && in_front(p, t, c, height))
    emit(p, t, x, n, height, scree_feature_vertex(0, name, 0));
}

static scree_Vec3 to_mesh(const Pair *p, scree_Vec3 local) {
  return scree_add(p->pose.position, scree_mat3_mul(&p->axes, local));
}

/* All points of the body that may be lowest over triangle t. */
static void body_on_face(Pair *p, int t) {
  const scree_Shape *s = p->shape;
  const scree_Vec3 down = scree_neg(scree_mat3_tmul(&p->axes, p->mesh->normal[t]));
  switch (s->kind) {
  case SCREE_SHAPE_SPHERE: corner_on_face(p, t, p->pose.position, 0); break;
  case SCREE_SHAPE_CAPSULE:
    for (int k = 0; k < 2; ++k)
      corner_on_face(p, t, to_mesh(p, scree_vec3(0, 0, k ? s->half_length : -s->half_length)), k);
    break;
  case SCREE_SHAPE_BOX:
    for (int k = 0; k < 8; ++k)
      corner_on_face(
          p, t,
          to_mesh(p, scree_vec3(k & 1 ? s->semi.x : -s->semi.x, k & 2 ? s->semi.y : -s->semi.y,
                                k & 4 ? s->semi.z : -s->semi.z)),
          k);
    break;
  case SCREE_SHAPE_POLYHEDRON:
    for (int k = 0; k < s->vertex_count; ++k) corner_on_face(p, t, to_mesh(p, s->vertices[k]), k);
    break;
  default: { /* round bodies: the lowest feature, and the lowest point */
    scree_Feature f;
    scree_shape_feature(s, down, &f);
    for (int k = 0; k < f.count; ++k) corner_on_face(p, t, to_mesh(p, f.point[k]), f.corner[k]);
    if (f.count > 2)
      corner_on_face(p, t, to_mesh(p, scree_shape_support(s, down)), SCREE_FEATURE_POINTS);
  }
  }
}

/* ---- edges and vertices of the mesh against flat bodies ---- */

/* Edges and faces of a box or polyhedron, one after the other. */
static int body_edges(const scree_Shape *s) {
  return s->kind == SCREE_SHAPE_BOX ? 12 : s->data->polyhedron->edge_count;
}

static void body_edge(const scree_Shape *s, int e, scree_Vec3 end[2]) {
  if (s->kind != SCREE_SHAPE_BOX) {
    for (int k = 0; k < 2; ++k) end[k] = s->vertices[s->data->polyhedron->edge[e][k]];
    return;
  }
  const int axis = e / 4, i = (axis + 1) % 3, j = (axis + 2) % 3;
  const double half[3] = {s->semi.x, s->semi.y, s->semi.z};
  for (int k = 0; k < 2; ++k) {
    double x[3];
    x[axis] = k ? half[axis] : -half[axis];
    x[i] = e & 2 ? half[i] : -half[i];
    x[j] = e & 1 ? half[j] : -half[j];
    end[k] = scree_vec3(x[0], x[1], x[2]);
  }
}

static int body_faces(const scree_Shape *s) {
  return s->kind == SCREE_SHAPE_BOX ? 6 : s->data->polyhedron->face_count;
}

static scree_Vec3 body_face(const scree_Shape *s, int f, scree_Vec3 *at) {
  if (s->kind != SCREE_SHAPE_BOX) {
    const scree_Polyhedron *h = s->data->polyhedron;
    *at = s->vertices[h->corner[h->first[f]]];
    return h->normal[f];
  }
  const double sign = f & 1 ? 1 : -1;
  const scree_Vec3 n =
      scree_vec3(f / 2 == 0 ? sign : 0, f / 2 == 1 ? sign : 0, f / 2 == 2 ? sign : 0);
  *at = scree_vec3(n.x * s->semi.x, n.y * s->semi.y, n.z * s->semi.z);
  return n;
}

/* Sharp vertex v under a face of the body: the face it is least deep behind, if it lies over the
 * interior of that face. */
static void vertex_on_body(Pair *p, int t, int v) {
  const scree_Shape *s = p->shape;
  const scree_Vec3 x = scree_mat3_tmul(&p->axes, scree_sub(p->mesh->vertex[v], p->pose.position));
  double most = -INFINITY;
  scree_Vec3 out = {0, 0, 0}, at;
  int face = 0;
  for (int f = 0; f < body_faces(s); ++f) {
    const scree_Vec3 n = body_face(s, f, &at);
    const double height = scree_dot(n, scree_sub(x, at));
    if (height - p->rounding > p->margin) return;
    if (height > most) most = height, out = n, face = f;
  }
  const scree_Vec3 below = scree_axpy(x, -fmax(most, 0), out);
  for (int f = 0; f < body_faces(s); ++f) {
    const scree_Vec3 n = body_face(s, f, &at);
    if (scree_dot(n, scree_sub(below, at)) > 1e-12 * s->bounding_radius) return;
  }
  const scree_Vec3 n = scree_neg(scree_mat3_mul(&p->axes, out));
  if (in_vertex_cone(p->mesh, v, n, FACE_SLACK))
    emit(p, t, p->mesh->vertex[v], n, most, scree_feature_vertex(1, face, 1));
}

/* Whether no point of the body is lower along n than its point q. */
static bool is_lowest(const Pair *p, scree_Vec3 q, scree_Vec3 n) {
  const scree_Shape *s = p->shape;
  const scree_Vec3 low =
      to_mesh(p, scree_shape_support(s, scree_neg(scree_mat3_tmul(&p->axes, n))));
  return !(scree_dot(n, scree_sub(low, q)) < -CONE_SLACK * s->bounding_radius);
}

/* Whether the crossing of a border edge, `part` along it, lies beyond its end by no more than an
 * edge of the body that is there can be, which is `depth` behind it: two borders meet in a valley
 * there (the corner of an outlet), and an edge that presses into both of them crosses neither. */
static bool in_border_valley(const scree_TriangleMesh *m, int e, double part, double depth) {
  const scree_MeshEdge *edge = &m->edge[e];
  if (edge->triangle[1] >= 0 || !(depth > 0)) return false;
  const int v = edge->vertex[part < 0 ? 0 : 1];
  const double length =
      scree_norm(scree_sub(m->vertex[edge->vertex[1]], m->vertex[edge->vertex[0]]));
  if (!(fmax(-part, part - 1) * length <= VALLEY_END * depth)) return false;
  const scree_Vec3 n = m->normal[edge->triangle[0]];
  for (int k = m->link_first[v]; k < m->link_first[v + 1]; ++k) {
    const int *end = m->edge[m->link[k]].vertex;
    const scree_Vec3 to = scree_sub(m->vertex[end[0] == v ? end[1] : end[0]], m->vertex[v]);
    if (scree_dot(n, to) > IN_VALLEY * scree_norm(to)) return true;
  }
  return false;
}

/* Sharp edge e of the mesh crossing an edge of the body: both lie inside their edges, and each body
 * is behind the plane across the normal. */
static void edge_on_body(Pair *p, int t, int e) {
  const scree_Shape *s = p->shape;
  const scree_TriangleMesh *m = p->mesh;
  const scree_MeshEdge *edge = &m->edge[e];
  const scree_Vec3 a = m->vertex[edge->vertex[0]];
  const scree_Vec3 along = scree_sub(m->vertex[edge->vertex[1]], a);
  scree_Vec3 outward = m->normal[edge->triangle[0]];
  const bool border = edge->triangle[1] < 0;
  if (!border) outward = scree_add(outward, m->normal[edge->triangle[1]]);
  const double far = p->shape->bounding_radius + p->margin; /* with the rounding */
  /* too far from the line of the edge */
  const scree_Vec3 d = scree_sub(p->pose.position, a);
  const double u = fmin(fmax(scree_dot(d, along) / scree_norm2(along), 0), 1);
  if (scree_norm2(scree_sub(d, scree_scale(u, along))) > far * far) return;
  for (int b = 0; b < body_edges(s); ++b) {
    scree_Vec3 end[2];
    body_edge(s, b, end);
    const scree_Vec3 q = to_mesh(p, end[0]), own = scree_sub(to_mesh(p, end[1]), q);
    const scree_Vec3 w = scree_sub(q, a), x = scree_cross(own, along);
    const double length = scree_norm(x), sine2 = scree_norm2(x);
    if (!(length > 1e-6 * scree_norm(own) * scree_norm(along))) continue; /* parallel */
    const double on_body = -scree_dot(scree_cross(w, along), x) / sine2;
    const double on_mesh = -scree_dot(scree_cross(w, own), x) / sine2;
    if (on_body < 0 || on_body > 1) continue;
    scree_Vec3 n = scree_scale((scree_dot(x, outward) < 0 ? -1 : 1) / length, x);
    /* a border is touched from all sides: that of the body's edge, which is lowest along n */
    if (border && !is_lowest(p, q, n)) n = scree_neg(n);
    const scree_Vec3 on = scree_axpy(a, on_mesh, along);
    const double gap = scree_dot(n, scree_sub(scree_axpy(q, on_body, own), on));
    if ((on_mesh < 0 || on_mesh > 1) &&
        (gap - p->rounding < -TOLERATED * s->size || !in_border_valley(m, e, on_mesh, -gap)))
      continue;
    /* deep overlap with a body whose centre is on the other side of a border is none */
    const bool other = border && scree_dot(n, scree_sub(p->pose.position, a)) < 0;
    if (other && gap - p->rounding < -TOLERATED * s->size) continue;
    if (!(gap - p->rounding <= p->margin) || !in_edge_cone(m, e, n)) continue;
    if (!is_lowest(p, q, n)) continue;
    emit(p, t, on, n, gap, scree_feature_edges(b & 0x7fff, e & 0x7fff));
  }
}

/* ---- edges and vertices of the mesh against ellipsoids ---- */

/* Sharp edge from corner k of triangle t: the line of the edge against the ellipsoid is a point
 * against an ellipse. Beyond the ends the vertices touch. */
static void edge_on_ellipsoid(Pair *p, const scree_Elliptic *body, int t, int k) {
  const scree_TriangleMesh *m = p->mesh;
  const int e = m->side[t][k];
  const scree_Vec3 a = m->vertex[m->triangle[t][k]];
  const scree_Vec3 along = scree_sub(m->vertex[m->triangle[t][(k + 1) % 3]], a);
  const double length2 = scree_norm2(along), most = p->margin + p->rounding;
  scree_Vec3 basis[3] = {{0, 0, 0}, {0, 0, 0}, scree_scale(1 / sqrt(length2), along)}, n;
  scree_contact_frame(basis[2], 3, &basis[0], &basis[1]);
  const double gap = scree_elliptic_separation(body, a, 2, basis, most, &n);
  if (!(gap <= most) || !in_edge_cone(m, e, n)) return;
  const double part = scree_dot(along, scree_sub(scree_elliptic_lowest(body, n), a)) / length2;
  if (part < 0 || part > 1) return;
  emit(p, t, scree_axpy(a, part, along), n, gap, scree_feature_closest_of(0, e));
}

static void sharp_on_ellipsoid(Pair *p, int t) {
  static const scree_Vec3 basis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const scree_TriangleMesh *m = p->mesh;
  const scree_Elliptic body = {p->pose.position, p->shape->semi, p->axes};
  for (int k = 0; k < 3; ++k) {
    const int v = m->triangle[t][k], e = m->side[t][k];
    if (m->edge[e].sharp && m->edge[e].triangle[0] == t) edge_on_ellipsoid(p, &body, t, k);
    if (!m->sharp[v] || m->owner[v] != t) continue;
    scree_Vec3 n;
    const double most = p->margin + p->rounding;
    const double gap = scree_elliptic_separation(&body, m->vertex[v], 3, basis, most, &n);
    if (gap <= most && in_vertex_cone(m, v, n, CONE_SLACK))
      emit(p, t, m->vertex[v], n, gap, scree_feature_closest_of(0, v));
  }
}

/* ---- closest points of other bodies and triangle ---- */

typedef struct Body {
  const Pair *pair;
  double core;      /* scale by which the body is shrunk about its origin */
  scree_Vec3 shift; /* by which it is moved */
} Body;

static scree_Vec3 body_support(const void *body, scree_Vec3 direction) {
  const Body *b = body;
  const Pair *p = b->pair;
  const scree_Vec3 local = scree_shape_support(p->shape, scree_mat3_tmul(&p->axes, direction));
  return scree_axpy(scree_add(p->pose.position, b->shift), b->core,
                    scree_mat3_mul(&p->axes, local));
}

typedef struct Corners {
  scree_Vec3 x[3];
} Corners;

static scree_Vec3 triangle_support(const void *corners, scree_Vec3 direction) {
  const scree_Vec3 *x = ((const Corners *)corners)->x;
  const double a = scree_dot(direction, x[0]), b = scree_dot(direction, x[1]),
               c = scree_dot(direction, x[2]);
  return a >= b && a >= c ? x[0] : b >= c ? x[1] : x[2];
}

/* The sharp edge or vertex of triangle t that x lies on, which the triangle owns: 0 none, 1 edge,
 * 2 vertex. */
static int find_sharp(const scree_TriangleMesh *m, int t, scree_Vec3 x, int *which) {
  for (int k = 0; k < 3; ++k) {
    const int v = m->triangle[t][k];
    const scree_Vec3 a = m->vertex[v], e = scree_sub(m->vertex[m->triangle[t][(k + 1) % 3]], a);
    const scree_Vec3 to = scree_sub(x, a);
    if (scree_norm2(to) <= NEAR_EDGE * scree_norm2(e)) {
      *which = v;
      return m->sharp[v] && m->owner[v] == t ? 2 : 0;
    }
    const int side = m->side[t][k];
    if (scree_norm2(scree_cross(to, e)) <= NEAR_EDGE * scree_norm2(e) * scree_norm2(e) &&
        scree_norm2(scree_sub(to, e)) > NEAR_EDGE * scree_norm2(e)) {
      *which = side;
      return m->edge[side].sharp && m->edge[side].triangle[0] == t ? 1 : 0;
    }
  }
  return 0;
}

/* Emitted only if closer than `least`, the least gap of the points that are known already. */
static void closest_points(Pair *p, int t, double least) {
  const scree_TriangleMesh *m = p->mesh;
  Corners c;
  for (int k = 0; k < 3; ++k) c.x[k] = m->vertex[m->triangle[t][k]];
  Body body = {p, 1, {0, 0, 0}};
  const scree_Vec3 face = m->normal[t];
  /* the plane of the triangle may already separate them */
  const scree_Vec3 low = body_support(&body, scree_neg(face));
  const double apart = scree_dot(face, scree_sub(low, c.x[0])) - p->rounding;
  if (apart > p->margin || apart >= least) return;
  scree_Vec3 qa, qb, n;
  double gap = scree_gjk_within(body_support, &body, triangle_support, &c, face,
                                p->margin + p->rounding, &qa, &qb, &n);
  if (gap - p->rounding > p->margin || gap - p->rounding >= least) return;
  if (!(gap > 0)) { /* overlap: the normal of the body's core */
    body.core = 0.9;
    if (!(scree_gjk_distance(body_support, &body, triangle_support, &c, face, &qa, &qb, &n) > 0))
      return;
    body.core = 1;
    gap = scree_dot(n, scree_sub(body_support(&body, scree_neg(n)), qb));
    /* pushed apart along n, the bodies show the normal of least overlap (gjk.c, push_apart) */
    for (int push = 0; push < PUSHES; ++push) {
      scree_Vec3 turned = n, pa, pb;
      body.shift = scree_scale(fmax(-gap, 0) + PUSH_ROOM * p->shape->size, n);
      if (!(scree_gjk_distance(body_support, &body, triangle_support, &c, n, &pa, &pb, &turned) >
            0))
        break;
      body.shift = scree_vec3(0, 0, 0);
      const double next = scree_dot(turned, scree_sub(body_support(&body, scree_neg(turned)), pb));
      if (!(next > gap)) break;
      gap = next;
      n = turned;
      qb = pb;
    }
  }
  int which;
  const int kind = find_sharp(m, t, qb, &which);
  if (kind == 0 ||
      !(kind == 1 ? in_edge_cone(m, which, n) : in_vertex_cone(m, which, n, CONE_SLACK)))
    return;
  emit(p, t, qb, n, gap, scree_feature_closest_of(0, which));
}

/* ---- deep points ---- */

static bool is_flat(const scree_Shape *s) {
  return s->kind == SCREE_SHAPE_BOX || s->kind == SCREE_SHAPE_POLYHEDRON;
}

/* Whether a point of the mesh is inside a flat body. */
static bool is_in_body(const Pair *p, scree_Vec3 x) {
  const scree_Vec3 local = scree_mat3_tmul(&p->axes, scree_sub(x, p->pose.position));
  for (int f = 0; f < body_faces(p->shape); ++f) {
    scree_Vec3 at;
    const scree_Vec3 n = body_face(p->shape, f, &at);
    if (scree_dot(n, scree_sub(local, at)) > p->rounding + TOLERATED * p->shape->size) return false;
  }
  return true;
}

static bool is_on_face(const scree_TriangleMesh *m, const scree_ManifoldPoint *x) {
  return scree_dot(m->normal[x->part[1]], x->normal) > 1 - 1e-12;
}

/* Whether two points are one corner on the two faces of a valley, which is held by both. */
static bool share_valley(const Pair *p, const scree_ManifoldPoint *x,
                         const scree_ManifoldPoint *y) {
  const scree_TriangleMesh *m = p->mesh;
  if (x->feature != y->feature || !is_on_face(m, x) || !is_on_face(m, y)) return false;
  const int *own = m->triangle[x->part[1]], *other = m->triangle[y->part[1]];
  double most = -INFINITY, least = INFINITY; /* height of the other face over the own one */
  for (int k = 0; k < 3; ++k) {
    const double height = scree_dot(x->normal, scree_sub(m->vertex[other[k]], m->vertex[own[0]]));
    most = fmax(most, height);
    least = fmin(least, height);
  }
  return most > -least;
}

/* Whether deep point k is invalid: the bodies are separated in another direction, or another point
 * nearby is less deep. */
static bool is_nonsense(const Pair *p, int k) {
  const scree_ManifoldPoint *x = &p->points[k];
  const double slack = TOLERATED * p->shape->size;
  if (x->gap >= -slack) return false;
  if (is_flat(p->shape) && !is_in_body(p, scree_axpy(x->position, -0.5 * x->gap, x->normal)))
    return true;
  const double near = EXPLAINED * x->gap;
  for (int j = 0; j < p->count; ++j)
    if (p->points[j].gap > x->gap + slack && !share_valley(p, x, &p->points[j]) &&
        scree_norm2(scree_sub(p->points[j].position, x->position)) <= near * near)
      return true;
  return false;
}

/* ---- one triangle ---- */

/* Whether triangle t owns a sharp edge or vertex that the ball around the body reaches. */
static bool has_sharp_near(const Pair *p, int t) {
  const scree_TriangleMesh *m = p->mesh;
  const double reach = p->shape->bounding_radius + p->rounding + fmax(p->margin, 0);
  for (int k = 0; k < 3; ++k) {
    const int v = m->triangle[t][k], e = m->side[t][k];
    const scree_Vec3 a = m->vertex[v], to = scree_sub(p->pose.position, a);
    if (m->sharp[v] && m->owner[v] == t && scree_norm2(to) <= reach * reach) return true;
    if (!m->edge[e].sharp || m->edge[e].triangle[0] != t) continue;
    const scree_Vec3 along = scree_sub(m->vertex[m->triangle[t][(k + 1) % 3]], a);
    const double part = fmin(fmax(scree_dot(to, along) / scree_norm2(along), 0), 1);
    if (scree_norm2(scree_axpy(to, -part, along)) <= reach * reach) return true;
  }
  return false;
}

static void visit(void *user, int t) {
  Pair *p = user;
  const scree_TriangleMesh *m = p->mesh;
  const scree_Shape *s = p->shape;
  const bool flat = is_flat(s);
  const int before = p->count;
  body_on_face(p, t);
  if (!has_sharp_near(p, t)) return;
  for (int k = 0; k < 3 && flat; ++k) {
    const int v = m->triangle[t][k], e = m->side[t][k];
    if (m->sharp[v] && m->owner[v] == t) vertex_on_body(p, t, v);
    if (m->edge[e].sharp && m->edge[e].triangle[0] == t) edge_on_body(p, t, e);
  }
  if (s->kind == SCREE_SHAPE_ELLIPSOID) {
    /* above the inside of the triangle: its closest point is there */
    if (p->count == before || p->points[before].gap < 0) sharp_on_ellipsoid(p, t);
    return;
  }
  double least = INFINITY;
  for (int k = before; k < p->count && flat; ++k) least = fmin(least, p->points[k].gap);
  closest_points(p, t, least - 1e-9 * s->size);
}

void scree_collide_mesh(const scree_Shape *shape, const scree_Pose *pose, uint32_t part,
                        const scree_Shape *mesh, const scree_Pose *mesh_pose, double margin,
                        scree_PointSink sink, void *user) {
  const scree_Quat back = scree_quat_conj(mesh_pose->orientation);
  const scree_Shape bare = scree_shape_core(shape);
  Pair p; /* set field by field: the array of points is large and need not be cleared */
  p.shape = &bare;
  p.rounding = scree_shape_rounding(shape);
  p.mesh = mesh->data->mesh;
  p.mesh_pose = mesh_pose;
  p.mesh_axes = scree_quat_matrix(mesh_pose->orientation);
  p.pose = (scree_Pose){scree_pose_invert(mesh_pose, pose->position),
                        scree_quat_mul(back, pose->orientation)};
  p.margin = margin + BEYOND * shape->size;
  p.part = part;
  p.sink = sink;
  p.user = user;
  p.count = 0;
  p.axes = scree_quat_matrix(p.pose.orientation);
  scree_Aabb box = scree_shape_bounds(shape, &p.axes, p.pose.position);
  const scree_Vec3 more = scree_vec3(p.margin, p.margin, p.margin);
  box = (scree_Aabb){scree_sub(box.lower, more), scree_add(box.upper, more)};
  scree_trimesh_query(p.mesh, &box, visit, &p);
  for (int k = 0; k < p.count; ++k)
    if (p.points[k].gap <= margin && !is_nonsense(&p, k)) hand_out(&p, &p.points[k]);
}

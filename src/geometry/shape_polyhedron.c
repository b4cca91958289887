/* Convex polyhedron: the convex hull of points. Volume, centroid and moments are exact, summed over
 * tetrahedra between the faces and the first vertex; the vertices are then moved to the centroid
 * and rotated to the principal axes. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"

static const scree_ShapeParameter parameters[] = {{"radius", SCREE_SHAPE_FIELD(radius), false, 0,
                                                   true, false, "rounding around the hull", false}};

/* Width across a face: the furthest vertex behind it. */
static double width_of(const scree_Polyhedron *p, const scree_Vec3 *v, int face) {
  const scree_Vec3 n = p->normal[face], at = v[p->corner[p->first[face]]];
  double width = 0;
  for (int k = 0; k < p->vertex_count; ++k) width = fmax(width, scree_dot(n, scree_sub(at, v[k])));
  return width;
}

static void finish(scree_Shape *s) {
  scree_Polyhedron *p = s->data->polyhedron;
  scree_Vec3 *v = s->data->vertices;
  const scree_Vec3 origin = v[0];
  scree_Moments sum = {0};
  for (int f = 0; f < p->face_count; ++f)
    for (int k = p->first[f] + 2; k < p->first[f + 1]; ++k)
      scree_moments_add_tetrahedron(&sum, origin, v[p->corner[p->first[f]]], v[p->corner[k - 1]],
                                    v[p->corner[k]]);
  if (s->radius > 0) scree_moments_add_rounding(&sum, p, v, s->radius);
  const scree_Pose frame = scree_moments_frame(&sum, &s->inertia);
  const scree_Quat back = scree_quat_conj(frame.orientation);
  s->data->frame = frame;
  s->volume = sum.volume;
  for (int k = 0; k < p->vertex_count; ++k) {
    v[k] = scree_pose_invert(&frame, v[k]);
    s->bounding_radius = fmax(s->bounding_radius, scree_norm(v[k]) + s->radius);
  }
  s->size = INFINITY;
  for (int f = 0; f < p->face_count; ++f) {
    p->normal[f] = scree_quat_rotate(back, p->normal[f]);
    s->size = fmin(s->size, width_of(p, v, f) + 2 * s->radius);
  }
}

static scree_Status init(scree_Shape *s, const scree_ShapeSource *source, const scree_Log *log) {
  s->data = scree_shape_data_create();
  if (s->data) s->data->vertices = SCREE_ALLOC(scree_Vec3, source->vertex_count);
  if (!s->data || !s->data->vertices) return scree_fail_memory(log, "the vertices of a polyhedron");
  const scree_Status status = scree_hull_create(source->vertices, source->vertex_count,
                                                s->data->vertices, &s->data->polyhedron, log);
  if (status) return status;
  s->vertices = s->data->vertices;
  s->vertex_count = s->data->polyhedron->vertex_count;
  finish(s);
  if (s->volume > 0 && s->size > 0) return SCREE_OK;
  return scree_fail(log, SCREE_BAD_INPUT, "polyhedron: its volume is %g, expected > 0", s->volume);
}

static int furthest(const scree_Shape *s, scree_Vec3 d) {
  int best = 0;
  double most = scree_dot(d, s->vertices[0]);
  for (int k = 1; k < s->vertex_count; ++k) {
    const double value = scree_dot(d, s->vertices[k]);
    if (value > most) most = value, best = k;
  }
  return best;
}

static scree_Vec3 support(const scree_Shape *s, scree_Vec3 d) {
  const scree_Vec3 corner = s->vertices[furthest(s, d)];
  if (!(s->radius > 0)) return corner;
  return scree_axpy(corner, s->radius, scree_unit_or(d, scree_vec3(0, 0, 0)));
}

/* The feature of the polyhedron without its rounding. */
static void feature_core(const scree_Shape *s, scree_Vec3 d, scree_Feature *out) {
  const scree_Polyhedron *p = s->data->polyhedron;
  int face = 0;
  double most = -1;
  for (int f = 0; f < p->face_count; ++f) {
    const double cosine = scree_dot(d, p->normal[f]);
    if (cosine > most) most = cosine, face = f;
  }
  const int n = p->first[face + 1] - p->first[face];
  if (most >= SCREE_FACE_ALIGNED && n <= SCREE_FEATURE_POINTS) {
    out->count = n;
    for (int k = 0; k < n; ++k) {
      const int at = p->first[face] + k;
      out->point[k] = s->vertices[p->corner[at]];
      out->corner[k] = p->corner[at];
      out->edge[k] = p->side[at];
    }
    return;
  }
  const int v = furthest(s, d);
  double least = SCREE_EDGE_ALIGNED;
  int edge = -1;
  for (int k = p->link_first[v]; k < p->link_first[v + 1]; ++k) {
    const int *end = p->edge[p->link[k]];
    const scree_Vec3 along = scree_sub(s->vertices[end[1]], s->vertices[end[0]]);
    const double sine = fabs(scree_dot(d, along)) / scree_norm(along);
    if (sine < least) least = sine, edge = p->link[k];
  }
  scree_feature_point(out, s->vertices[v], v);
  if (edge < 0) return;
  out->count = 2;
  for (int k = 0; k < 2; ++k) {
    out->point[k] = s->vertices[p->edge[edge][k]];
    out->corner[k] = p->edge[edge][k];
    out->edge[k] = edge;
  }
}

static void feature(const scree_Shape *s, scree_Vec3 d, scree_Feature *out) {
  feature_core(s, d, out);
  scree_feature_round(out, d, s->radius);
}

static scree_Aabb bounds(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  scree_Aabb box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int k = 0; k < s->vertex_count; ++k) {
    const scree_Vec3 v = scree_add(p, scree_mat3_mul(R, s->vertices[k]));
    box.lower = scree_vec3(fmin(box.lower.x, v.x), fmin(box.lower.y, v.y), fmin(box.lower.z, v.z));
    box.upper = scree_vec3(fmax(box.upper.x, v.x), fmax(box.upper.y, v.y), fmax(box.upper.z, v.z));
  }
  const scree_Vec3 more = scree_vec3(s->radius, s->radius, s->radius);
  return (scree_Aabb){scree_sub(box.lower, more), scree_add(box.upper, more)};
}

const scree_ShapeClass scree_shape_polyhedron = {.type = {.name = "polyhedron",
                                                          .summary = "convex polyhedron: the "
                                                                     "convex hull of points",
                                                          .dimension = 3,
                                                          .bounded = true,
                                                          .convex = true,
                                                          .takes_vertices = true,
                                                          SCREE_SHAPE_TABLE(parameters)},
                                                 .rounded = true,
                                                 .init = init,
                                                 .support = support,
                                                 .feature = feature,
                                                 .bounds = bounds};

/* Closest points of surfaces (see surface.h). */
#include "geometry/surface.h"

#include <assert.h>
#include <math.h>

/* Slope up to which neighbours of a vertex may lie on the other body's side of it. */
static const double DENT = 0.7;
scree_Vec3 scree_closest_on_triangle(const scree_Vec3 *x, scree_Vec3 p, int *edge, int *corner) {
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
  scree_Closest *c = user;
  const scree_TriangleMesh *m = c->surface->mesh;
  assert(t >= 0 && t < m->triangle_count);
  scree_Vec3 x[3];
  int edge, corner;
  for (int k = 0; k < 3; ++k) x[k] = m->vertex[m->triangle[t][k]];
  const scree_Vec3 on = scree_closest_on_triangle(x, c->p, &edge, &corner);
  const double distance = scree_norm2(scree_sub(c->p, on));
  if (!(distance < c->best)) return;
  c->best = distance;
  c->triangle = t;
  c->on = on;
  c->edge = edge < 0 ? -1 : m->side[t][edge];
  c->vertex = corner < 0 ? -1 : m->triangle[t][corner];
}

static double angle_at(const scree_TriangleMesh *m, int t, int vertex) {
  const int *corner = m->triangle[t];
  const int at = corner[0] == vertex ? 0 : corner[1] == vertex ? 1 : 2;
  const scree_Vec3 x = m->vertex[vertex];
  const scree_Vec3 a = scree_sub(m->vertex[corner[(at + 1) % 3]], x);
  const scree_Vec3 b = scree_sub(m->vertex[corner[(at + 2) % 3]], x);
  return atan2(scree_norm(scree_cross(a, b)), scree_dot(a, b));
}

/* The normal that tells inside from outside for points whose closest one is on an edge or a vertex:
 * the normals of the triangles there, at a vertex weighted by their angles (Baerentzen and Aanaes
 * 2005). Without these weights points beyond a sharp corner can seem to be inside. */
static scree_Vec3 normals_around(const scree_TriangleMesh *m, const scree_Closest *c) {
  assert(c->edge >= 0 || (c->vertex >= 0 && c->vertex < m->vertex_count));
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
      if (t >= 0) sum = scree_axpy(sum, angle_at(m, t, c->vertex), m->normal[t]);
    }
  return sum;
}

bool scree_surface_closest(const scree_Surface *s, scree_Vec3 p, double margin, double depth,
                           scree_Closest *c, double *gap, scree_Vec3 *normal) {
  const double reach = fmax(margin, depth);
  *c = (scree_Closest){
      .surface = s, .p = scree_surface_to_local(s, p), .best = reach * reach, .triangle = -1};
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

bool scree_surface_in_cone(const scree_Surface *s, int v, scree_Vec3 normal) {
  const scree_TriangleMesh *m = s->mesh;
  assert(v >= 0 && v < m->vertex_count);
  const scree_Vec3 n = scree_mat3_tmul(&s->axes, normal);
  for (int k = m->link_first[v]; k < m->link_first[v + 1]; ++k) {
    const int *end = m->edge[m->link[k]].vertex;
    const scree_Vec3 to = scree_sub(m->vertex[end[0] == v ? end[1] : end[0]], m->vertex[v]);
    if (scree_dot(n, to) < -DENT * scree_norm(to)) return false;
  }
  return true;
}

static bool may_act(const scree_Corner *corner, scree_Vec3 normal) {
  if (corner->surface) return scree_surface_in_cone(corner->surface, corner->v, normal);
  return scree_dot(normal, scree_sub(corner->inner, corner->at)) >= 0;
}

/* The closest triangle above a point inside whose normal may act on it. */
typedef struct Above {
  scree_Closest closest;
  const scree_Corner *corner;
} Above;

static void visit_above(void *user, int t) {
  Above *a = user;
  scree_Closest *c = &a->closest;
  const scree_Surface *s = c->surface;
  const scree_TriangleMesh *m = s->mesh;
  scree_Vec3 x[3];
  int edge, corner;
  for (int k = 0; k < 3; ++k) x[k] = m->vertex[m->triangle[t][k]];
  const double below = -scree_dot(m->normal[t], scree_sub(c->p, x[0]));
  if (below < 0 || !(below * below < c->best)) return;
  const scree_Vec3 on = scree_axpy(c->p, below, m->normal[t]);
  /* rounding of points above an edge between two triangles of a face must not lose both */
  const scree_Vec3 inside = scree_closest_on_triangle(x, on, &edge, &corner);
  if (scree_norm2(scree_sub(inside, on)) > 1e-18 * s->size * s->size) return;
  if (!may_act(a->corner, scree_mat3_mul(&s->axes, m->normal[t]))) return;
  c->best = below * below;
  c->triangle = t;
  c->on = on;
}

bool scree_surface_closest_acting(const scree_Surface *s, const scree_Corner *corner, double margin,
                                  double depth, scree_Closest *c, double *gap, scree_Vec3 *normal) {
  if (!scree_surface_closest(s, corner->at, margin, depth, c, gap, normal)) return false;
  if (may_act(corner, *normal)) return true;
  if (!(*gap < 0)) return false;
  Above above = {
      {.surface = s, .p = c->p, .best = depth * depth, .triangle = -1, .edge = -1, .vertex = -1},
      corner};
  const scree_Vec3 e = scree_vec3(depth, depth, depth);
  const scree_Aabb box = {scree_sub(c->p, e), scree_add(c->p, e)};
  scree_trimesh_query(s->mesh, &box, visit_above, &above);
  if (above.closest.triangle < 0) return false;
  *c = above.closest;
  *gap = -sqrt(c->best);
  *normal = scree_mat3_mul(&s->axes, s->mesh->normal[c->triangle]);
  return true;
}

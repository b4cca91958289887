/* Mass properties of rounded polyhedra, exactly.
 *
 * All points within r of a convex polyhedron are the polyhedron, a slab of thickness r on each
 * face, a sector of a cylinder along each edge and a sector of a ball at each corner. The sector of
 * an edge spans the angle between the normals of its two faces. The sector of a corner spans the
 * normals n of a spherical polygon S, bounded by one arc for each edge at the corner, across which
 * the edge's direction e points out of S. Its solid angle is 2 pi less the angles of the faces at
 * the corner; by the divergence theorem on the sphere, for any function g,
 *     integral over S of grad g = integral over the arcs of g e + 2 integral over S of g n,
 * which with g = 1 and g = n.a gives, with the length t of each arc and the integral P of n along
 * it,
 *     integral of n = - sum of t e / 2,   integral of n n' = (Omega I - sum of e P') / 3.
 * All are sums over corners of faces and over edges, so they are added one by one. */
#include "geometry/principal.h"
#include "geometry/shape_class.h"

static const double PI = 3.14159265358979323846;

static void add_outer(scree_Moments *sum, double weight, scree_Vec3 a, scree_Vec3 b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      sum->second[i][j] += weight * scree_component(a, i) * scree_component(b, j);
}

/* weight (a b' + b a') */
static void add_both(scree_Moments *sum, double weight, scree_Vec3 a, scree_Vec3 b) {
  add_outer(sum, weight, a, b);
  add_outer(sum, weight, b, a);
}

static void add_slab(scree_Moments *sum, scree_Vec3 a, scree_Vec3 b, scree_Vec3 c, scree_Vec3 up) {
  const scree_Vec3 top_a = scree_add(a, up), top_b = scree_add(b, up), top_c = scree_add(c, up);
  scree_moments_add_tetrahedron(sum, a, b, c, top_c);
  scree_moments_add_tetrahedron(sum, a, b, top_c, top_b);
  scree_moments_add_tetrahedron(sum, a, top_b, top_c, top_a);
}

/* Solid angle `omega` of the ball of radius r at the corner v. */
static void add_angle(scree_Moments *sum, scree_Vec3 v, double omega, double r) {
  const double volume = omega * r * r * r / 3;
  sum->volume += volume;
  sum->first = scree_axpy(sum->first, volume, v);
  add_outer(sum, volume, v, v);
  for (int i = 0; i < 3; ++i) sum->second[i][i] += omega * r * r * r * r * r / 15;
}

/* An arc of the corner v: the edge's direction e away from v, length t, integral P of the normals.
 */
static void add_arc(scree_Moments *sum, scree_Vec3 v, scree_Vec3 e, double t, scree_Vec3 P,
                    double r) {
  const double r4 = r * r * r * r;
  const scree_Vec3 first = scree_scale(-0.5 * t * r4 / 4, e);
  sum->first = scree_add(sum->first, first);
  add_both(sum, 1, v, first);
  add_both(sum, -r4 * r / 30, e, P); /* half of e P' and P e': their sum is symmetric */
}

/* The edge from a to b between faces of normals n and m. */
static void add_edge(scree_Moments *sum, scree_Vec3 a, scree_Vec3 b, scree_Vec3 n, scree_Vec3 m,
                     double r) {
  const scree_Vec3 along = scree_sub(b, a), middle = scree_scale(0.5, scree_add(a, b));
  const double length = scree_norm(along);
  const scree_Vec3 e = scree_scale(1 / length, along);
  const double t = atan2(scree_norm(scree_cross(n, m)), scree_dot(n, m));
  const scree_Vec3 out = scree_unit_or(scree_add(n, m), n), across = scree_cross(e, out);
  const double area = 0.5 * r * r * t, r4 = r * r * r * r;
  const scree_Vec3 first = scree_scale(2 * r * r * r / 3 * sin(0.5 * t), out);
  sum->volume += area * length;
  sum->first = scree_add(sum->first, scree_scale(length, scree_axpy(first, area, middle)));
  add_outer(sum, area * length, middle, middle);
  add_outer(sum, area * length * length * length / 12, e, e);
  add_both(sum, length, middle, first);
  add_outer(sum, length * r4 / 8 * (t + sin(t)), out, out);
  add_outer(sum, length * r4 / 8 * (t - sin(t)), across, across);
  const scree_Vec3 P = scree_scale(2 * sin(0.5 * t), out);
  add_arc(sum, a, e, t, P, r);
  add_arc(sum, b, scree_neg(e), t, P, r);
}

/* The face other than `face` that has the edge. */
static int other_face(const scree_Polyhedron *p, int face, int edge) {
  for (int f = 0; f < p->face_count; ++f)
    for (int k = p->first[f]; k < p->first[f + 1]; ++k)
      if (p->side[k] == edge && f != face) return f;
  return face;
}

void scree_moments_add_rounding(scree_Moments *sum, const scree_Polyhedron *p, const scree_Vec3 *v,
                                double r) {
  for (int k = 0; k < p->vertex_count; ++k) add_angle(sum, v[k], 2 * PI, r);
  for (int f = 0; f < p->face_count; ++f) {
    const int first = p->first[f], n = p->first[f + 1] - first;
    const scree_Vec3 up = scree_scale(r, p->normal[f]);
    for (int k = 0; k < n; ++k) {
      const int at = p->corner[first + k], next = p->corner[first + (k + 1) % n];
      const scree_Vec3 x = v[at], y = v[next], z = v[p->corner[first + (k + n - 1) % n]];
      const scree_Vec3 forth = scree_sub(y, x), back = scree_sub(z, x);
      add_angle(sum, x, -atan2(scree_norm(scree_cross(forth, back)), scree_dot(forth, back)), r);
      if (k > 1) add_slab(sum, v[p->corner[first]], z, x, up);
      if (at < next) {
        const int other = other_face(p, f, p->side[first + k]);
        add_edge(sum, x, y, p->normal[f], p->normal[other], r);
      }
    }
  }
}

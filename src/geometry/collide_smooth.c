/* Ellipses and ellipsoids against each other, against balls, and against flat bodies.
 *
 * The signed distance is the largest separation over all directions (smooth.c). Against a flat body
 * the direction of the largest separation is the normal of a face, or is perpendicular to an edge,
 * or is any direction within the normal cone of a vertex. Each of these is exact: a face needs one
 * support point; an edge projects to a point along its direction, and the ellipsoid to an ellipse;
 * a vertex is a point. At the normals of two neighbouring faces the support point of the ellipsoid
 * shows whether the separation grows towards the edge between them, and along an edge whether it
 * grows towards one of its ends: so only a few edges and vertices are solved for. */
#include "geometry/gjk.h"
#include "geometry/narrow.h"
#include "geometry/smooth.h"

/* Semi-axes of a ball, ellipse or ellipsoid in its own frame. */
static scree_Vec3 semi_axes(const scree_Shape *s) {
  bool round = scree_shape_is_ball(s);
  scree_Vec3 semi = round ? scree_vec3(s->radius, s->radius, s->radius) : s->semi;
  if (s->kind == SCREE_SHAPE_DISK) semi.z = 0;
  return semi;
}

static const scree_Vec3 world_basis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* The pair of two bodies, their axes in Ra, Rb. */
static scree_SmoothPair pair_of(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                const scree_Pose *pb, scree_Mat3 *Ra, scree_Mat3 *Rb) {
  const scree_Vec3 d = scree_sub(pa->position, pb->position);
  scree_SmoothPair pair = {.k = scree_shape_type(a->kind)->dimension, .delta = {d.x, d.y, d.z}};
  *Ra = scree_quat_matrix(pa->orientation);
  *Rb = scree_quat_matrix(pb->orientation);
  scree_smooth_rows(semi_axes(a), Ra, pair.k, world_basis, pair.A);
  scree_smooth_rows(semi_axes(b), Rb, pair.k, world_basis, pair.B);
  return pair;
}

bool scree_collide_smooth_near(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                               const scree_Pose *pb, scree_Vec3 near, scree_Vec3 *n,
                               scree_Vec3 on[2]) {
  scree_Mat3 Ra, Rb;
  const scree_SmoothPair pair = pair_of(a, pa, b, pb, &Ra, &Rb);
  double y[3] = {near.x, near.y, near.z};
  if (!scree_smooth_follow(&pair, y)) return false;
  *n = scree_vec3(y[0], y[1], y[2]);
  on[0] = scree_add(pa->position, scree_smooth_support(semi_axes(a), &Ra, scree_neg(*n)));
  on[1] = scree_add(pb->position, scree_smooth_support(semi_axes(b), &Rb, *n));
  return true;
}

void scree_collide_smooth(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                          const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Vec3 d = scree_sub(pa->position, pb->position);
  double reach = a->bounding_radius + b->bounding_radius + margin;
  if (scree_norm2(d) > reach * reach) return;
  scree_Mat3 Ra, Rb;
  const scree_SmoothPair pair = pair_of(a, pa, b, pb, &Ra, &Rb);
  double y[3], gap = scree_smooth_separation(&pair, margin, y);
  if (!(gap <= margin)) return;
  scree_Vec3 n = scree_vec3(y[0], y[1], y[2]);
  scree_Vec3 qa = scree_add(d, scree_smooth_support(semi_axes(a), &Ra, scree_neg(n)));
  scree_Vec3 qb = scree_smooth_support(semi_axes(b), &Rb, n);
  scree_Vec3 middle = scree_scale(0.5, scree_add(qa, qb));
  scree_manifold_add(manifold, scree_add(pb->position, middle), n, gap, scree_feature_closest());
}

/* The best direction found so far, in the frame of the flat body. */
typedef struct Best {
  double separation;
  scree_Vec3 n;
} Best;

static void consider(Best *best, double separation, scree_Vec3 n) {
  if (separation > best->separation) best->separation = separation, best->n = n;
}

/* The elliptic body in the frame of the flat body. */
static scree_Elliptic elliptic_in(const scree_Shape *a, const scree_Pose *pa, const scree_Pose *pb,
                                  const scree_Mat3 *Rb) {
  scree_Mat3 Ra = scree_quat_matrix(pa->orientation), T = scree_mat3_transpose(Rb);
  return (scree_Elliptic){scree_mat3_tmul(Rb, scree_sub(pa->position, pb->position)), a->semi,
                          scree_mat3_matmul(&T, &Ra)};
}

static void finish(const scree_Elliptic *e, const Best *best, double radius, const scree_Pose *pb,
                   const scree_Mat3 *Rb, double margin, scree_Manifold *manifold) {
  double gap = best->separation - radius;
  if (!(gap <= margin)) return;
  scree_Vec3 x = scree_axpy(scree_elliptic_lowest(e, best->n), -0.5 * gap, best->n);
  scree_manifold_add(manifold, scree_add(pb->position, scree_mat3_mul(Rb, x)),
                     scree_mat3_mul(Rb, best->n), gap, scree_feature_closest());
}

/* An overlap below this part of the smaller width has the same unique maximum as separated bodies;
 * for a deeper one the search is wider. (A deep ellipse was found up to twice too deep when only
 * the best direction of each corner was tried: 1 of 12.) */
static const double SHALLOW = 0.05;

/* An overlap above this part of the smaller width is left to the generic search. */
static const double DEEP = 0.25;

/* How far, as a sine, a direction may be outside a normal cone and still belong to it: by rounding
 * a direction must not fall between two cones. The gap changes to second order only. */
static const double CONE_SLACK = 1e-9;

/* Whether n is in the normal cone of vertex k of the polygon v [count]. */
static bool in_cone(const scree_Vec3 *v, int count, int k, scree_Vec3 n) {
  scree_Vec3 before = scree_sub(v[k], v[k > 0 ? k - 1 : count - 1]);
  scree_Vec3 after = scree_sub(v[k + 1 < count ? k + 1 : 0], v[k]);
  return scree_dot(n, before) >= -CONE_SLACK * scree_norm(before) &&
         scree_dot(n, after) <= CONE_SLACK * scree_norm(after);
}

/* The largest separation from the polygon v [n] with its normals, of an ellipse that is not deep
 * inside: from corners that both of their edges point to. Returns false when some direction
 * separates by more than `reach`. */
static bool search_polygon(const scree_Elliptic *e, const scree_Vec3 *v, const scree_Vec3 *normal,
                           int n, double reach, Best *best) {
  /* past: beyond which end of the edge the ellipse's lowest point lies: -1 start, 1 end, 0 none. */
  int last = 0, first = 0;
  for (int k = 0; k <= n; k++) {
    int past = first;
    if (k < n) {
      scree_Vec3 edge = scree_sub(v[k + 1 < n ? k + 1 : 0], v[k]);
      scree_Vec3 x = scree_sub(scree_elliptic_lowest(e, normal[k]), v[k]);
      double s = scree_dot(normal[k], x), t = scree_dot(edge, x);
      if (s > reach) return false;
      past = t < 0 ? -1 : t > scree_norm2(edge) ? 1 : 0;
      if (past == 0) consider(best, s, normal[k]);
      if (past == 0 && s > 0) return true; /* apart: there is only one maximum */
      if (k == 0) first = past;
    }
    const bool wanted = last > 0 && past < 0;
    last = past;
    if (k == 0 || !wanted) continue;
    int m = k < n ? k : 0;
    scree_Vec3 direction;
    double s = scree_elliptic_separation(e, v[m], 2, world_basis, INFINITY, &direction);
    if (!in_cone(v, n, m, direction)) continue;
    if (s > reach) return false;
    consider(best, s, direction);
    if (s > 0) return true;
  }
  return true;
}

/* Separation from corner v in the direction of an angle in its normal cone. */
static double cone_separation(const scree_Elliptic *e, scree_Vec3 v, double angle, scree_Vec3 *n) {
  *n = scree_vec3(cos(angle), sin(angle), 0);
  return scree_dot(*n, scree_sub(scree_elliptic_lowest(e, *n), v));
}

/* All directions: those of each corner are its normal cone, whose ends are the normals of the
 * edges. Deep inside there are several maxima, also within a cone; they are searched for from
 * samples, by golden sections. */
static void search_cones(const scree_Elliptic *e, const scree_Vec3 *v, const scree_Vec3 *normal,
                         int n, Best *best) {
  enum { SAMPLES = 24, SECTIONS = 40 };
  const double golden = 0.6180339887498949, turn = 2 * acos(-1.0);
  for (int k = 0; k < n; k++) {
    const scree_Vec3 from = normal[k > 0 ? k - 1 : n - 1];
    const double start = atan2(from.y, from.x);
    double width = atan2(normal[k].y, normal[k].x) - start;
    if (width < 0) width += turn;
    double s[SAMPLES + 1];
    scree_Vec3 direction;
    for (int i = 0; i <= SAMPLES; i++) {
      s[i] = cone_separation(e, v[k], start + width * i / SAMPLES, &direction);
      consider(best, s[i], direction);
    }
    for (int i = 0; i <= SAMPLES; i++) {
      if ((i > 0 && s[i - 1] > s[i]) || (i < SAMPLES && s[i + 1] > s[i])) continue;
      double low = start + width * (i > 0 ? i - 1 : i) / SAMPLES;
      double high = start + width * (i < SAMPLES ? i + 1 : i) / SAMPLES;
      for (int m = 0; m < SECTIONS; m++) {
        const double one = high - golden * (high - low), two = low + golden * (high - low);
        scree_Vec3 other;
        if (cone_separation(e, v[k], one, &direction) < cone_separation(e, v[k], two, &other))
          low = one;
        else
          high = two;
      }
      const double found = cone_separation(e, v[k], 0.5 * (low + high), &direction);
      consider(best, found, direction);
    }
  }
}

/* ellipse a; polygon or segment b */
void scree_collide_smooth_flat2(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Vec3 d = scree_sub(pa->position, pb->position);
  double bound = a->bounding_radius + b->bounding_radius + margin, reach = b->radius + margin;
  if (scree_norm2(d) > bound * bound) return;
  scree_Mat3 Rb = scree_quat_matrix(pb->orientation);
  scree_Elliptic e = elliptic_in(a, pa, pb, &Rb);
  scree_Vec3 bar[4] = {{-b->half_length, 0, 0}, {b->half_length, 0, 0}, {0, -1, 0}, {0, 1, 0}};
  bool segment = b->kind == SCREE_SHAPE_SEGMENT;
  int n = segment ? 2 : b->vertex_count;
  const scree_Vec3 *v = segment ? bar : b->vertices;
  Best best = {-INFINITY, {0, 1, 0}};
  if (!search_polygon(&e, v, v + n, n, reach, &best)) return;
  if (!(best.separation > -SHALLOW * fmin(a->size, b->size))) search_cones(&e, v, v + n, n, &best);
  finish(&e, &best, b->radius, pb, &Rb, margin, manifold);
}

/* Box: faces, then the edges that the faces point to (both of them when `sure`), then the vertices
 * that the edges point to. Returns false when some direction separates by more than `reach`. */
static bool search_box(const scree_Elliptic *e, scree_Vec3 half, bool sure, double reach,
                       Best *best) {
  double h[3] = {half.x, half.y, half.z};
  double x[6][3]; /* lowest point above face 2 i + side */
  for (int f = 0; f < 6; f++) {
    int i = f / 2, j = (i + 1) % 3, k = (i + 2) % 3;
    double sign = f & 1 ? 1 : -1;
    scree_Vec3 n = scree_scale(sign, world_basis[i]), low = scree_elliptic_lowest(e, n);
    x[f][0] = low.x, x[f][1] = low.y, x[f][2] = low.z;
    double s = sign * x[f][i] - h[i];
    if (s > reach) return false;
    if (fabs(x[f][j]) > h[j] || fabs(x[f][k]) > h[k]) continue;
    consider(best, s, n);
    if (s > 0) return true; /* apart: there is only one maximum */
  }
  bool vertex[8] = {false};
  for (int j = 0; j < 3; j++) /* edges along j, between a face i and a face k */
    for (int corner = 0; corner < 4; corner++) {
      int i = (j + 1) % 3, k = (j + 2) % 3, si = corner & 1, sk = corner >> 1;
      double di = si ? 1 : -1, dk = sk ? 1 : -1;
      int pointing = (dk * x[2 * i + si][k] > h[k]) + (di * x[2 * k + sk][i] > h[i]);
      if (pointing < (sure ? 2 : 1)) continue;
      scree_Vec3 basis[3] = {world_basis[i], world_basis[k], world_basis[j]}, n;
      scree_Vec3 on_edge =
          scree_add(scree_scale(di * h[i], basis[0]), scree_scale(dk * h[k], basis[1]));
      double s = scree_elliptic_separation(e, on_edge, 2, basis, INFINITY, &n);
      if (scree_component(n, i) * di < -CONE_SLACK || scree_component(n, k) * dk < -CONE_SLACK)
        continue;
      if (s > reach) return false;
      double along = scree_component(scree_elliptic_lowest(e, n), j);
      if (fabs(along) <= h[j])
        consider(best, s, n);
      else
        vertex[(si << i) | (sk << k) | ((along > 0) << j)] = true;
    }
  for (int c = 0; c < 8; c++) {
    if (!vertex[c]) continue;
    scree_Vec3 sign = scree_vec3(c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1), n;
    scree_Vec3 p = scree_vec3(sign.x * h[0], sign.y * h[1], sign.z * h[2]);
    double s = scree_elliptic_separation(e, p, 3, world_basis, INFINITY, &n);
    if (fmin(n.x * sign.x, fmin(n.y * sign.y, n.z * sign.z)) < -CONE_SLACK) continue;
    if (s > reach) return false;
    consider(best, s, n);
  }
  return true;
}

/* Capsule: the line of its axis, then its ends. */
static bool search_axis(const scree_Elliptic *e, double half_length, double reach, Best *best) {
  scree_Vec3 n;
  double s = scree_elliptic_separation(e, scree_vec3(0, 0, 0), 2, world_basis, INFINITY, &n);
  if (s > reach) return false;
  double along = scree_elliptic_lowest(e, n).z;
  if (fabs(along) <= half_length) {
    consider(best, s, n);
    if (s > 0) return true;
  }
  for (int sign = -1; sign <= 1; sign += 2) {
    if (s > 0 && along * sign < 0) continue;
    double f = scree_elliptic_separation(e, scree_vec3(0, 0, sign * half_length), 3, world_basis,
                                         INFINITY, &n);
    if (n.z * sign < -CONE_SLACK) continue;
    if (f > reach) return false;
    consider(best, f, n);
  }
  return true;
}

/* ellipsoid a; box or capsule b */
void scree_collide_smooth_flat3(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Vec3 d = scree_sub(pa->position, pb->position);
  double bound = a->bounding_radius + b->bounding_radius + margin, reach = b->radius + margin;
  if (scree_norm2(d) > bound * bound) return;
  scree_Mat3 Rb = scree_quat_matrix(pb->orientation);
  scree_Elliptic e = elliptic_in(a, pa, pb, &Rb);
  Best best = {-INFINITY, {0, 0, 1}};
  bool box = b->kind == SCREE_SHAPE_BOX;
  if (!(box ? search_box(&e, b->semi, true, reach, &best)
            : search_axis(&e, b->half_length, reach, &best)))
    return;
  if (box && best.separation < -SHALLOW * fmin(a->size, b->size))
    if (!search_box(&e, b->semi, false, reach, &best)) return;
  /* deep inside, faces do not point to all edges that count */
  if (best.separation > -DEEP * fmin(a->size, b->size))
    finish(&e, &best, b->radius, pb, &Rb, margin, manifold);
  else
    scree_collide_convex(a, pa, b, pb, margin, manifold);
}

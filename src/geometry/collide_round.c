/* Balls and capsules: pairs whose closest points have a closed form.
 *
 * A ball is a point with a radius, a rounded segment or capsule a segment with a radius: the gap is
 * the distance of the cores less the radii. All computations are relative to the second body, so
 * that accuracy does not depend on the distance of a pair from the world's origin. */
#include "geometry/narrow.h"

/* A unit vector perpendicular to e (in the plane z = 0 when dimension is 2). */
static scree_Vec3 perpendicular(scree_Vec3 e, int dimension) {
  scree_Vec3 t1, t2;
  scree_contact_frame(e, dimension, &t1, &t2);
  return t1;
}

/* Contact of two balls whose centres are at ca and cb relative to `origin`; `otherwise` is the
 * normal when they coincide. */
static void add_balls(scree_Vec3 origin, scree_Vec3 ca, double ra, scree_Vec3 cb, double rb,
                      scree_Vec3 otherwise, double margin, uint32_t feature,
                      scree_Manifold *manifold) {
  scree_Vec3 d = scree_sub(ca, cb);
  double distance = scree_norm(d), gap = distance - (ra + rb);
  if (!(gap <= margin)) return;
  scree_Vec3 n = distance > 0 ? scree_scale(1 / distance, d) : otherwise;
  scree_Vec3 qa = scree_axpy(ca, -ra, n), qb = scree_axpy(cb, rb, n);
  scree_Vec3 middle = scree_scale(0.5, scree_add(qa, qb));
  scree_manifold_add(manifold, scree_add(origin, middle), n, gap, feature);
}

void scree_collide_round_round(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                               const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  int dimension = a->kind == SCREE_SHAPE_DISK ? 2 : 3;
  manifold->count = scree_collide_balls(pa->position, a->radius, pb->position, b->radius, dimension,
                                        margin, &manifold->points[0]);
}

static double clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

/* The world direction along which a segment or capsule lies. */
static scree_Vec3 bar_axis(const scree_Shape *s, const scree_Pose *pose) {
  scree_Mat3 R = scree_quat_matrix(pose->orientation);
  return s->kind == SCREE_SHAPE_SEGMENT ? R.x : R.z;
}

/* disk or sphere a, segment or capsule b */
void scree_collide_round_segment(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                 const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Vec3 d = scree_sub(pa->position, pb->position), e = bar_axis(b, pb);
  double t = clamp(scree_dot(d, e), -b->half_length, b->half_length);
  int dimension = a->kind == SCREE_SHAPE_DISK ? 2 : 3;
  add_balls(pb->position, d, a->radius, scree_scale(t, e), b->radius, perpendicular(e, dimension),
            margin, 0, manifold);
}

/* disk a, polygon b. The edge of largest separation contains the closest point of the polygon, in
 * its interior or at one of its ends: the normals next in angle to the direction of the disk's
 * centre from a corner are those of the corner's own two edges. */
void scree_collide_round_polygon(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                                 const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  int n = b->vertex_count, best = 0;
  const scree_Vec3 *v = b->vertices, *normal = v + n;
  scree_Mat3 R = scree_quat_matrix(pb->orientation);
  scree_Vec3 d = scree_sub(pa->position, pb->position), c = scree_mat3_tmul(&R, d);
  c.z = 0;
  double most = -INFINITY;
  for (int k = 0; k < n; k++) {
    double s = scree_dot(normal[k], scree_sub(c, v[k]));
    if (s > most) most = s, best = k;
  }
  if (most - a->radius > margin) return;
  scree_Vec3 p = v[best], q = v[best + 1 < n ? best + 1 : 0], e = scree_sub(q, p);
  double t = scree_dot(scree_sub(c, p), e), length2 = scree_norm2(e);
  if (most > 0 && (t < 0 || t > length2)) { /* a corner */
    scree_Vec3 corner = scree_mat3_mul(&R, t < 0 ? p : q);
    add_balls(pb->position, d, a->radius, corner, 0, scree_mat3_mul(&R, normal[best]), margin, 0,
              manifold);
    return;
  }
  scree_Vec3 world_normal = scree_mat3_mul(&R, normal[best]);
  scree_Vec3 middle = scree_axpy(pa->position, -0.5 * (a->radius + most), world_normal);
  scree_manifold_add(manifold, middle, world_normal, most - a->radius, 0);
}

/* sphere a, box b: clamp the centre to the box if it is outside, else use the nearest face. */
void scree_collide_sphere_box(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                              const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Mat3 R = scree_quat_matrix(pb->orientation);
  scree_Vec3 d = scree_sub(pa->position, pb->position), c = scree_mat3_tmul(&R, d), h = b->semi;
  scree_Vec3 q = scree_vec3(clamp(c.x, -h.x, h.x), clamp(c.y, -h.y, h.y), clamp(c.z, -h.z, h.z));
  scree_Vec3 out = scree_sub(c, q);
  double distance = scree_norm(out), gap = distance - a->radius - b->radius;
  if (!(gap <= margin)) return;
  if (distance > 0) {
    scree_Vec3 n = scree_mat3_mul(&R, scree_scale(1 / distance, out));
    scree_manifold_add(manifold, scree_axpy(pa->position, -(a->radius + 0.5 * gap), n), n, gap, 0);
    return;
  }
  double best = -INFINITY;
  scree_Vec3 n = R.z;
  for (int k = 0; k < 3; k++) {
    double ck = scree_component(c, k), s = fabs(ck) - scree_component(h, k);
    if (s > best) best = s, n = scree_scale(ck < 0 ? -1 : 1, scree_column(&R, k));
  }
  const double depth = best - a->radius - b->radius;
  scree_manifold_add(manifold, scree_axpy(pa->position, -(a->radius + 0.5 * depth), n), n, depth,
                     0);
}

/* ---- two capsules ---- */

/* The closest points s ea and d' + t eb of two segments |s| <= ha, |t| <= hb with unit directions;
 * d is the centre of the first relative to that of the second. Parallel segments are handled by the
 * ends, which are always tried. */
static void closest_of_segments(scree_Vec3 d, scree_Vec3 ea, double ha, scree_Vec3 eb, double hb,
                                double *s_out, double *t_out) {
  double c = scree_dot(ea, eb), fa = scree_dot(ea, d), fb = scree_dot(eb, d);
  double best = INFINITY;
  scree_Vec3 x = scree_cross(ea, eb);
  double sine2 = scree_norm2(x);
  double s_try[5], t_try[5];
  int tries = 0;
  if (sine2 > 0) { /* both interiors; exact also for small angles through the cross product */
    double s = (c * fb - fa) / sine2, t = (fb - c * fa) / sine2;
    if (fabs(s) <= ha && fabs(t) <= hb) s_try[tries] = s, t_try[tries++] = t;
  }
  for (int k = -1; k <= 1; k += 2) { /* an end of one against the other */
    s_try[tries] = k * ha, t_try[tries++] = clamp(fb + k * ha * c, -hb, hb);
    t_try[tries] = k * hb, s_try[tries++] = clamp(k * hb * c - fa, -ha, ha);
  }
  for (int k = 0; k < tries; k++) {
    scree_Vec3 w = scree_sub(scree_axpy(d, s_try[k], ea), scree_scale(t_try[k], eb));
    double distance2 = scree_norm2(w);
    if (distance2 < best) best = distance2, *s_out = s_try[k], *t_out = t_try[k];
  }
}

/* Two capsules touch along a line when they are parallel. The stretch of a that faces b has two
 * ends, which are corners of one or the other capsule: those within the margin are contacts of
 * their own. The closest points are a third contact only when they are distinctly closer than both
 * (a shallow crossing), or the only one otherwise. */
void scree_collide_capsules(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                            const scree_Pose *pb, double margin, scree_Manifold *manifold) {
  scree_Vec3 ea = bar_axis(a, pa), eb = bar_axis(b, pb);
  scree_Vec3 d = scree_sub(pa->position, pb->position), origin = pb->position;
  double ha = a->half_length, hb = b->half_length, r = a->radius + b->radius;
  double bound = ha + hb + r + margin;
  if (scree_norm2(d) > bound * bound) return;
  double s = 0, t = 0;
  closest_of_segments(d, ea, ha, eb, hb, &s, &t);
  scree_Vec3 ca = scree_axpy(d, s, ea), cb = scree_scale(t, eb);
  double distance = scree_norm(scree_sub(ca, cb));
  if (distance - r > margin) return;
  scree_Vec3 x = scree_cross(ea, eb);
  scree_Vec3 spare =
      scree_norm2(x) > 1e-6 ? scree_unit_or(x, perpendicular(ea, 3)) : perpendicular(eb, 3);
  /* Ends of the facing stretch: ends of a that project inside b, and of b that project inside a. */
  for (int k = -1; k <= 1; k += 2) {
    double tk = scree_dot(eb, d) + k * ha * scree_dot(ea, eb);
    double sk = k * hb * scree_dot(ea, eb) - scree_dot(ea, d);
    if (fabs(tk) <= hb && (ha > 0 || k > 0))
      add_balls(origin, scree_axpy(d, k * ha, ea), a->radius, scree_scale(tk, eb), b->radius, spare,
                margin, scree_feature_vertex(0, k > 0, 0), manifold);
    if (fabs(sk) < ha && (hb > 0 || k > 0))
      add_balls(origin, scree_axpy(d, sk, ea), a->radius, scree_scale(k * hb, eb), b->radius, spare,
                margin, scree_feature_vertex(1, k > 0, 0), manifold);
  }
  /* With more than two ends (crossed capsules of similar length) keep the two deepest. */
  while (manifold->count > 2) {
    int worst = 0;
    for (int k = 1; k < manifold->count; k++)
      if (manifold->points[k].gap > manifold->points[worst].gap) worst = k;
    for (int k = worst; k + 1 < manifold->count; k++) manifold->points[k] = manifold->points[k + 1];
    manifold->count--;
  }
  double least = INFINITY;
  for (int k = 0; k < manifold->count; k++) least = fmin(least, manifold->points[k].gap);
  const double distinct = 1e-12; /* of the radii: above rounding, below the accuracy of a gap */
  if (distance - r < least - distinct * r)
    add_balls(origin, ca, a->radius, cb, b->radius, spare, margin, scree_feature_closest(),
              manifold);
}

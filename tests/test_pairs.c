/* Pairs of convex shapes of 3D, many of each kind: nearly touching, deeply overlapping and with
 * parallel axes, against the second method of narrow_reference.h. The number of couples of each
 * pair of kinds is small here; SCREE_COUPLES=100000 in the environment asks for as many. */
#include "narrow_reference.h"

#include <stdlib.h>

enum { KINDS = 10, ROUNDED = 8 }; /* kinds from ROUNDED on have a rounding */

/* The last two are rounded. */
static const scree_ShapeKind kind_of[KINDS] = {
    SCREE_SHAPE_SPHERE,   SCREE_SHAPE_ELLIPSOID, SCREE_SHAPE_BOX,        SCREE_SHAPE_CAPSULE,
    SCREE_SHAPE_CYLINDER, SCREE_SHAPE_CONE,      SCREE_SHAPE_POLYHEDRON, SCREE_SHAPE_SUPERELLIPSOID,
    SCREE_SHAPE_BOX,      SCREE_SHAPE_POLYHEDRON};

static int couples(void) {
  const char *text = getenv("SCREE_COUPLES");
  const int n = text ? atoi(text) : 0;
  return n > 0 ? n : 12;
}

static void make(scree_Shape *s, scree_ShapeKind kind, bool rounded) {
  random_shape(s, kind, 1, 4);
  if (!rounded) return;
  /* the same shape with a rounding */
  const double parameters[4] = {s->semi.x, s->semi.y, s->semi.z, between(0.05, 0.4)};
  scree_Shape sharp = *s;
  assert_int_equal(scree_shape_init(s, kind, kind == SCREE_SHAPE_BOX ? parameters : parameters + 3,
                                    sharp.vertices, sharp.vertex_count, NULL),
                   SCREE_OK);
  scree_shape_fini(&sharp);
}

/* Exact for balls, ellipsoids and capsules, to the accuracy of GJK for the others. */
static double tolerance_of(int i, int j) {
  const bool fast = i < 4 && j < 4;
  return fast ? 1e-11 : 1e-7;
}

enum { NEAR, DEEP, PARALLEL, CASES };

static void place(int how, const scree_Shape *a, scree_Pose *pa, const scree_Shape *b,
                  scree_Pose *pb) {
  pb->position = scree_scale(3, random_direction(3));
  pa->orientation = random_quat(3);
  pb->orientation = how == PARALLEL ? pa->orientation : random_quat(3);
  const scree_Mat3 R = scree_quat_matrix(pa->orientation);
  const scree_Vec3 u =
      how == PARALLEL && uniform() < 0.5
          ? scree_scale(uniform() < 0.5 ? 1 : -1, scree_column(&R, (int)(3 * uniform())))
          : random_direction(3);
  pa->position = pb->position;
  const double s = separation(a, pa, b, pb, u);
  const double gap = how == DEEP ? between(0.2, 1) * s : between(-0.03, 0.03);
  pa->position = scree_axpy(pb->position, gap - s, u);
}

static void test_second_method(void **state) {
  (void)state;
  static const char *const names[CASES] = {"near", "deep", "parallel"};
  random_state = 21;
  const int n = couples();
  long wrong = 0, all = 0;
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (int how = 0; how < CASES; ++how) {
        double worst = 0;
        for (int trial = 0; trial < n; ++trial) {
          scree_Shape a, b;
          scree_Pose pa, pb;
          scree_Manifold m;
          make(&a, kind_of[i], i >= ROUNDED);
          make(&b, kind_of[j], j >= ROUNDED);
          place(how, &a, &pa, &b, &pb);
          const double margin = 0.1, gap = reference_gap(&a, &pa, &b, &pb, 3);
          scree_collide(&a, &pa, &b, &pb, margin, &m);
          check_sane(&m, margin, 3);
          ++all;
          if (gap < 0.09 && m.count == 0)
            fail_msg("%s %s: no contact at gap %g", scree_shape_type(a.kind)->name,
                     scree_shape_type(b.kind)->name, gap);
          if (m.count > 0 && gap <= margin) {
            /* one point: its gap is the separation along its own normal, which bounds the largest
             * from below as every direction of the search does; the largest must not exceed it */
            const double least = least_gap(&m);
            double own = -INFINITY;
            for (int k = 0; k < m.count; ++k)
              own = fmax(own, separation(&a, &pa, &b, &pb, m.points[k].normal));
            /* Several points: faces that overlap only in part are less deep than the bodies, and
             * their normal may be that of a face close to the true one (SCREE_FACE_ALIGNED). */
            const bool aligned = scree_dot(m.points[0].normal, reference_normal) > 0.97;
            const double allowed =
                m.count > 1 ? 1.01e-3 * fmax(margin, fabs(gap)) : tolerance_of(i, j);
            const double error = m.count == 1 ? fmax(gap - own, fabs(least - own))
                                              : fmax(gap - least, aligned ? 0 : gap - own);
            worst = fmax(worst, error);
            if (error > allowed) {
              ++wrong;
              if (wrong < 20)
                print_message("%s %s %s trial %d: gap %.10g along its own normal %.10g, reference "
                              "%.10g, %d points\n",
                              scree_shape_type(a.kind)->name, scree_shape_type(b.kind)->name,
                              names[how], trial, least, own, gap, m.count);
            }
          }
          scree_shape_fini(&a);
          scree_shape_fini(&b);
        }
        if (getenv("SCREE_COUPLES"))
          print_message("%-15s%s %-15s%s %-8s worst %.1e\n", scree_shape_type(kind_of[i])->name,
                        i > 7 ? "*" : " ", scree_shape_type(kind_of[j])->name, j > 7 ? "*" : " ",
                        names[how], worst);
      }
  print_message("%ld couples, %ld wrong\n", all, wrong);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_second_method)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The narrow phase alone: time per pair of shapes, of couples that touch or nearly touch, as most
 * couples of a packing do; a sphere on triangle meshes of growing size; memory of polyhedra.
 * Couples are made once and visited in turn, so that branches and caches behave as in a step; the
 * clock is the CPU time of this process. Usage: pairs [couples] */
#define _DEFAULT_SOURCE /* clock_gettime */
#include "geometry/composite.h"
#include "geometry/narrow.h"
#include "math/vec3.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long long random_state = 7;

static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  unsigned long long x = random_state;
  x ^= x >> 32;
  return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

static double between(double low, double high) {
  return low + (high - low) * uniform();
}

static scree_Vec3 direction(void) {
  for (;;) {
    const scree_Vec3 d = {between(-1, 1), between(-1, 1), between(-1, 1)};
    const double length = scree_norm(d);
    if (length > 0.1 && length <= 1) return scree_scale(1 / length, d);
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count_point(void *user, const scree_ManifoldPoint *point) {
  (void)point;
  ++*(long *)user;
}

typedef void (*Make)(scree_Shape *shape);

static void make_sphere(scree_Shape *s) {
  scree_shape_init_sphere(s, between(0.5, 1), NULL);
}
static void make_ellipsoid(scree_Shape *s) {
  scree_shape_init_ellipsoid(s, between(0.3, 1), between(0.3, 1), between(0.3, 1), NULL);
}
static void make_box(scree_Shape *s) {
  scree_shape_init_box(s, between(0.3, 1), between(0.3, 1), between(0.3, 1), NULL);
}
static void make_capsule(scree_Shape *s) {
  scree_shape_init_capsule(s, between(0.3, 1), between(0.2, 0.5), NULL);
}
static void make_cylinder(scree_Shape *s) {
  scree_shape_init_cylinder(s, between(0.3, 1), between(0.3, 1), NULL);
}
static void make_cone(scree_Shape *s) {
  scree_shape_init_cone(s, between(0.3, 1), between(0.3, 1), NULL);
}
static void make_super(scree_Shape *s) {
  scree_shape_init_superellipsoid(s, between(0.3, 1), between(0.3, 1), between(0.3, 1),
                                  between(2, 6), between(2, 6), NULL);
}
/* The hull of points of a sphere: 27 corners have 50 triangular faces. */
static void make_polyhedron(scree_Shape *s) {
  scree_Vec3 v[27];
  for (int k = 0; k < 27; ++k) v[k] = direction();
  scree_shape_init_polyhedron(s, v, 27, NULL);
}

static double support_along(const scree_Shape *s, const scree_Pose *p, scree_Vec3 n) {
  const scree_Mat3 R = scree_quat_matrix(p->orientation);
  const scree_Vec3 local = scree_mat3_tmul(&R, n);
  return scree_dot(local, scree_shape_support(s, local));
}

typedef struct Couple {
  scree_Shape a, b;
  scree_Pose pa, pb;
} Couple;

/* Faces in contact: the upper box stands on the lower one, turned about the vertical. */
static void stack(Couple *c) {
  c->pa.orientation = scree_quat_axis_angle(scree_vec3(0, 0, 1), between(0, 6));
  c->pb.orientation = scree_quat_identity();
  c->pb.position = scree_vec3(0, 0, 0);
  c->pa.position =
      scree_vec3(between(-0.2, 0.2), between(-0.2, 0.2),
                 support_along(&c->a, &c->pa, scree_vec3(0, 0, -1)) +
                     support_along(&c->b, &c->pb, scree_vec3(0, 0, 1)) + between(-1e-3, 1e-3));
}

static void touch(Couple *c) {
  const scree_Vec3 u = direction();
  c->pa.orientation = scree_quat_normalize(
      (scree_Quat){between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)});
  c->pb.orientation = scree_quat_normalize(
      (scree_Quat){between(-1, 1), between(-1, 1), between(-1, 1), between(-1, 1)});
  c->pb.position = scree_vec3(0, 0, 0);
  const double apart = support_along(&c->a, &c->pa, scree_neg(u)) + support_along(&c->b, &c->pb, u);
  c->pa.position = scree_scale(apart + between(-0.02, 0.02), u);
}

static void measure(const char *name, Make make_a, Make make_b, void (*place)(Couple *), int n) {
  Couple *c = calloc((size_t)n, sizeof *c);
  if (!c) return;
  for (int k = 0; k < n; ++k) {
    make_a(&c[k].a);
    make_b(&c[k].b);
    place(&c[k]);
  }
  scree_Manifold m;
  long points = 0, touching = 0, calls = 0;
  double best = INFINITY;
  for (int round = 0; round < 5; ++round) {
    const double start = seconds();
    for (int k = 0; k < n; ++k) {
      const int count = scree_collide(&c[k].a, &c[k].pa, &c[k].b, &c[k].pb, 0.05, &m);
      points += count;
      touching += count > 0;
      ++calls;
    }
    best = fmin(best, seconds() - start);
  }
  printf("%-24s %8.3f us  %5.2f points of %3.0f %% that touch\n", name, 1e6 * best / n,
         (double)points / (double)(touching ? touching : 1),
         100.0 * (double)touching / (double)calls);
  for (int k = 0; k < n; ++k) scree_shape_fini(&c[k].a), scree_shape_fini(&c[k].b);
  free(c);
}

/* A sphere on height fields of n x n cells of the same pitch: its cost must not grow with n. */
static void on_mesh(int n) {
  double *heights = calloc((size_t)(n + 1) * (size_t)(n + 1), sizeof *heights);
  if (!heights) return;
  for (int k = 0; k < (n + 1) * (n + 1); ++k) heights[k] = between(0, 0.02);
  scree_Shape mesh, ball;
  if (scree_shape_init_height_field(&mesh, heights, n + 1, n + 1, 0.1, 0.1, NULL) == SCREE_OK) {
    scree_shape_init_sphere(&ball, 0.15, NULL);
    const scree_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    enum { CALLS = 20000 };
    long points = 0;
    const double start = seconds();
    for (int k = 0; k < CALLS; ++k) {
      const double reach = 0.04 * n;
      const scree_Pose p = {{between(-reach, reach), between(-reach, reach), 0.16}, {1, 0, 0, 0}};
      scree_collide_each(&ball, &p, &mesh, &origin, 0.02, count_point, &points);
    }
    printf("sphere on %8d triangles %8.3f us  %5.2f points, %.0f MB\n", 2 * n * n,
           1e6 * (seconds() - start) / CALLS, (double)points / CALLS,
           1e-6 * (double)scree_shape_memory(&mesh));
    scree_shape_fini(&mesh);
  }
  free(heights);
}

int main(int count, char **arguments) {
  const int n = count > 1 ? atoi(arguments[1]) : 4000;
  static const struct {
    const char *name;
    Make make;
  } kinds[] = {{"sphere", make_sphere},         {"ellipsoid", make_ellipsoid}, {"box", make_box},
               {"capsule", make_capsule},       {"cylinder", make_cylinder},   {"cone", make_cone},
               {"polyhedron", make_polyhedron}, {"superellipsoid", make_super}};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  measure("box on box", make_box, make_box, stack, n);
  measure("cylinder on cylinder", make_cylinder, make_cylinder, stack, n);
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j) {
      char name[64];
      snprintf(name, sizeof name, "%s, %s", kinds[i].name, kinds[j].name);
      measure(name, kinds[i].make, kinds[j].make, touch, n);
    }
  static const int sides[] = {7, 71, 707};
  for (int k = 0; k < 3; ++k) on_mesh(sides[k]);
  scree_Shape one;
  make_polyhedron(&one);
  printf("memory of a polyhedron of 50 faces: %zu bytes\n", sizeof one + scree_shape_memory(&one));
  scree_shape_fini(&one);
  return 0;
}

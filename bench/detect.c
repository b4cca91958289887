/* Contact detection alone: broad phase, narrow phase and matching of contacts, per body and step.
 *
 * A dense packing is made without dynamics: spheres of one size (or radii spread over a ratio) on a
 * jittered close-packed lattice inside a box of six half-spaces, which then shake about their
 * places by a small random walk, as in a packing that settles. One thread. Usage: detect [bodies]
 * [steps] */
#include "core/clock.h"
#include "geometry/broad.h"
#include "geometry/contact_match.h"
#include "geometry/narrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static unsigned long long random_state = 1;

static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  unsigned long long x = random_state;
  x ^= x >> 32;
  return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

typedef struct Bodies {
  int n; /* with the six planes, which come first */
  scree_Shape *shape;
  scree_Pose *pose;
  scree_Aabb *box;
  double *radius;
  unsigned char *fixed;
} Bodies;

/* Face-centred cubic: four spheres per cube of side 2 sqrt(2) r, slightly loose. */
static void fill(Bodies *b, int spheres, double ratio) {
  double r = 0.5, a = 2.02 * 1.4142135623730951 * r;
  int side = (int)ceil(cbrt(spheres / 4.0));
  static const double site[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  for (int k = 0; k < 6; k++) {
    scree_Vec3 n = {k / 2 == 0, k / 2 == 1, k / 2 == 2}, p = scree_vec3(-r, -r, -r);
    if (k & 1) p = scree_vec3(side * a, side * a, side * a), n = scree_neg(n);
    scree_shape_init_half_space(&b->shape[k], NULL);
    b->pose[k] = (scree_Pose){p, scree_quat_from_to(scree_vec3(0, 0, 1), n)};
    b->fixed[k] = 1;
  }
  for (int k = 0; k < spheres; k++) {
    int cell = k / 4, x = cell % side, y = cell / side % side, z = cell / side / side;
    const double *s = site[k % 4];
    scree_shape_init_sphere(&b->shape[6 + k], r * pow(ratio, -uniform()), NULL);
    b->pose[6 + k].position = scree_vec3(a * (x + s[0]), a * (y + s[1]), a * (z + s[2]));
    b->pose[6 + k].orientation = scree_quat_identity();
    b->fixed[6 + k] = 0;
  }
  b->n = spheres + 6;
  for (int i = 0; i < b->n; i++) b->radius[i] = b->shape[i].bounding_radius;
}

static void run(int spheres, int steps, double ratio) {
  size_t n = (size_t)spheres + 6, key_room = 16 * n;
  Bodies b = {0,
              calloc(n, sizeof *b.shape),
              calloc(n, sizeof *b.pose),
              calloc(n, sizeof *b.box),
              calloc(n, sizeof *b.radius),
              calloc(n, 1)};
  scree_ContactKey *keys = calloc(key_room, sizeof *keys);
  scree_ManifoldPoint *points = calloc(key_room, sizeof *points);
  int32_t *previous = calloc(key_room, sizeof *previous);
  scree_BroadPhase *broad = scree_broad_create();
  scree_ContactKey *old = calloc(key_room, sizeof *old);
  size_t old_count = 0;
  fill(&b, spheres, ratio);
  scree_Vec3 *swing = calloc(n, sizeof *swing);
  for (int i = 6; i < b.n; i++) {
    scree_Vec3 d = scree_vec3(uniform() - 0.5, uniform() - 0.5, uniform() - 0.5);
    swing[i] = scree_unit_or(d, scree_vec3(1, 0, 0));
  }
  double margin = 0.02 * 0.5, broad_time = 0, narrow_time = 0, bounds_time = 0, match_time = 0;
  size_t contacts = 0, pair_count = 0;
  for (int step = 0; step < steps; step++) {
    for (int i = 6; i < b.n; i++) {
      double v = 0.1 * b.radius[i] * 2 * PI / 200 * cos(2 * PI * step / 200.0);
      b.pose[i].position = scree_axpy(b.pose[i].position, v, swing[i]);
    }
    double t0 = scree_seconds();
    for (int i = 0; i < b.n; i++) b.box[i] = scree_shape_aabb(&b.shape[i], &b.pose[i]);
    double t1 = scree_seconds();
    scree_broad_update(broad, b.n, b.box, b.radius, b.fixed, 0.5 * margin, NULL);
    double t2 = scree_seconds();
    const scree_Pairs pairs = scree_broad_pairs(broad);
    pair_count = pairs.count;
    int i = 0;
    size_t count = 0;
    scree_Manifold m;
    for (size_t k = 0; k < pair_count && count + SCREE_MANIFOLD_MAX < key_room; k++) {
      while (k >= pairs.row[i + 1]) i++;
      const int j = pairs.partner[k];
      scree_collide(&b.shape[i], &b.pose[i], &b.shape[j], &b.pose[j], margin, &m);
      for (int c = 0; c < m.count; c++, count++) {
        points[count] = m.points[c];
        keys[count] = (scree_ContactKey){.i = i, .j = j, .feature = m.points[c].feature};
      }
    }
    double t3 = scree_seconds();
    scree_contact_match(old, old_count, keys, count, previous);
    double t4 = scree_seconds();
    memcpy(old, keys, count * sizeof *old);
    old_count = count;
    contacts += count;
    bounds_time += t1 - t0;
    broad_time += t2 - t1;
    narrow_time += t3 - t2;
    match_time += t4 - t3;
  }
  size_t rebuilds, updates;
  scree_broad_stats(broad, &rebuilds, &updates);
  double per = 1e6 / ((double)spheres * steps);
  printf("%8d %6.0f %9.2f %9.2f %9zu/%zu %8.3f %8.3f %8.3f %8.3f %8.3f\n", spheres, ratio,
         (double)contacts / steps / spheres, (double)pair_count / spheres, rebuilds, updates,
         per * bounds_time, per * broad_time, per * narrow_time, per * match_time,
         per * (bounds_time + broad_time + narrow_time + match_time));
  free(old);
  scree_broad_destroy(broad);
  free(b.shape);
  free(b.pose);
  free(b.box);
  free(b.radius);
  free(b.fixed);
  free(keys);
  free(points);
  free(previous);
  free(swing);
}

int main(int argc, char **argv) {
  int spheres = argc > 1 ? atoi(argv[1]) : 8000, steps = argc > 2 ? atoi(argv[2]) : 200;
  printf("microseconds per body and step, one thread\n");
  printf("%8s %6s %9s %9s %11s %8s %8s %8s %8s %8s\n", "bodies", "ratio", "contacts", "pairs",
         "rebuilds", "bounds", "broad", "narrow", "match", "total");
  run(spheres, steps, 1);
  run(spheres, steps, 100);
  if (argc <= 1) run(64000, 50, 1);
  return 0;
}

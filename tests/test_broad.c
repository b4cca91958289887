/* Broad phase against the brute force over all pairs: size ratios of 1:100, 2D and 3D, unbounded
 * obstacles, far from the origin, over moving bodies with skins; and the matching of contacts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "geometry/broad.h"
#include "geometry/contact_match.h"
#include "math/vec3.h"

#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  uint64_t x = random_state;
  x ^= x >> 32;
  return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

static double between(double low, double high) {
  return low + (high - low) * uniform();
}

enum { MAX = 700 };

typedef struct Scene {
  int n;
  scree_Aabb box[MAX];
  double radius[MAX];
  unsigned char fixed[MAX];
} Scene;

static void set_ball(Scene *s, int i, scree_Vec3 c, double r, int dimension) {
  scree_Vec3 h = scree_vec3(r, r, dimension == 2 ? 0 : r);
  s->box[i] = (scree_Aabb){scree_sub(c, h), scree_add(c, h)};
  s->radius[i] = r;
}

/* Balls with radii from 0.01 to 1, most of them small, in a region where they crowd. */
static void random_scene(Scene *s, int n, int dimension, double scale, double offset) {
  s->n = n;
  for (int i = 0; i < n; i++) {
    double r = scale * pow(10, -2 * uniform()), L = scale * (dimension == 2 ? 6 : 3);
    scree_Vec3 c = {offset + between(-L, L), between(-L, L), dimension == 2 ? 0 : between(-L, L)};
    set_ball(s, i, c, r, dimension);
    s->fixed[i] = uniform() < 0.05;
    if (uniform() < 0.05) s->fixed[i] |= SCREE_BROAD_ABSENT;
  }
}

static bool overlaps(const scree_Aabb *a, const scree_Aabb *b, double d) {
  return a->lower.x - d <= b->upper.x + d && b->lower.x - d <= a->upper.x + d &&
         a->lower.y - d <= b->upper.y + d && b->lower.y - d <= a->upper.y + d &&
         a->lower.z - d <= b->upper.z + d && b->lower.z - d <= a->upper.z + d;
}

static bool may_pair(const Scene *s, int i, int j) {
  return !(s->fixed[i] && s->fixed[j]) && !((s->fixed[i] | s->fixed[j]) & SCREE_BROAD_ABSENT);
}

typedef struct Pair {
  int i, j;
} Pair;

/* All pairs one after the other; the caller frees them. */
static Pair *pair_list(const scree_BroadPhase *b, size_t *count) {
  const scree_Pairs pairs = scree_broad_pairs(b);
  Pair *list = malloc((pairs.count + 1) * sizeof *list);
  for (int i = 0; i < pairs.n; i++)
    for (size_t k = pairs.row[i]; k < pairs.row[i + 1]; k++) {
      assert_int_equal(scree_pairs_first(&pairs, k), i);
      list[k] = (Pair){i, pairs.partner[k]};
    }
  *count = pairs.count;
  return list;
}

/* Counts the true pairs; each must be in the list, which must be strictly increasing in (i, j). */
static size_t check(const Scene *s, const scree_BroadPhase *b, double d, bool balls) {
  size_t count, truth = 0, at = 0;
  Pair *pairs = pair_list(b, &count);
  for (size_t k = 0; k < count; k++) {
    assert_true(pairs[k].i >= 0 && pairs[k].i < pairs[k].j && pairs[k].j < s->n);
    assert_true(may_pair(s, pairs[k].i, pairs[k].j));
    if (k > 0)
      assert_true(pairs[k - 1].i < pairs[k].i ||
                  (pairs[k - 1].i == pairs[k].i && pairs[k - 1].j < pairs[k].j));
  }
  for (int i = 0; i < s->n; i++)
    for (int j = i + 1; j < s->n; j++) {
      while (at < count && (pairs[at].i < i || (pairs[at].i == i && pairs[at].j < j))) at++;
      bool found = at < count && pairs[at].i == i && pairs[at].j == j;
      bool near = overlaps(&s->box[i], &s->box[j], d) && may_pair(s, i, j);
      if (near && balls && isfinite(s->box[i].lower.x) && isfinite(s->box[j].lower.x)) {
        scree_Vec3 ci = scree_scale(0.5, scree_add(s->box[i].lower, s->box[i].upper));
        scree_Vec3 cj = scree_scale(0.5, scree_add(s->box[j].lower, s->box[j].upper));
        double reach = s->radius[i] + s->radius[j] + 2 * d;
        near = scree_norm(scree_sub(ci, cj)) < reach * (1 - 1e-12);
      }
      if (near) assert_true(found);
      truth += near;
    }
  free(pairs);
  return truth;
}

/* Without skins the list is exactly the overlapping pairs. */
static void test_exact(void **state) {
  (void)state;
  random_state = 1;
  scree_BroadPhase *b = scree_broad_create();
  Scene *s = malloc(sizeof *s);
  scree_broad_set_skin(b, false);
  for (int trial = 0; trial < 24; trial++) {
    double scale = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 1e-6 : 1e5;
    double offset = trial % 4 == 3 ? 1e9 * scale : 0;
    random_scene(s,
                 trial == 0   ? 0
                 : trial == 1 ? 1
                              : 100 + 25 * trial,
                 2 + trial % 2, scale, offset);
    double d = trial % 2 ? 0 : 0.01 * scale;
    assert_int_equal(scree_broad_update(b, s->n, s->box, NULL, s->fixed, d, NULL), SCREE_OK);
    const size_t truth = check(s, b, d, false);
    assert_int_equal(scree_broad_pairs(b).count, truth);
  }
  scree_broad_destroy(b);
  free(s);
}

/* Moving bodies and obstacles without end: no pair is ever missed, few are superfluous, and the
 * list lasts for several updates. */
static void test_motion(void **state) {
  (void)state;
  random_state = 2;
  for (int variant = 0; variant < 4; variant++) {
    int dimension = 2 + variant % 2;
    bool balls = variant >= 2;
    scree_BroadPhase *b = scree_broad_create();
    Scene *s = malloc(sizeof *s);
    scree_Vec3 velocity[MAX];
    random_scene(s, 300, dimension, 1, 0);
    scree_Aabb floor = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, -2, INFINITY}};
    scree_Aabb drum = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    s->box[7] = floor, s->box[200] = drum;
    s->radius[7] = s->radius[200] = INFINITY;
    for (int i = 0; i < s->n; i++) {
      double v = 0.01 * s->radius[i] * (i == 42 ? 50 : 1);
      velocity[i] = scree_vec3(between(-v, v), between(-v, v), dimension == 2 ? 0 : between(-v, v));
    }
    for (int step = 0; step < 60; step++) {
      for (int i = 0; i < s->n; i++) {
        if (i == 7) s->box[i].upper.y += 0.002; /* a floor that rises */
        if (i == 7 || i == 200) continue;
        s->box[i].lower = scree_add(s->box[i].lower, velocity[i]);
        s->box[i].upper = scree_add(s->box[i].upper, velocity[i]);
      }
      assert_int_equal(
          scree_broad_update(b, s->n, s->box, balls ? s->radius : NULL, s->fixed, 0.001, NULL),
          SCREE_OK);
      check(s, b, 0.001, balls);
    }
    size_t rebuilds, updates;
    scree_broad_stats(b, &rebuilds, &updates);
    assert_true(updates == 60 && rebuilds < 40);
    print_message("dimension %d: %zu rebuilds in %zu updates\n", dimension, rebuilds, updates);
    /* fewer bodies: a new list */
    s->n = 250;
    scree_broad_update(b, s->n, s->box, balls ? s->radius : NULL, s->fixed, 0.001, NULL);
    check(s, b, 0.001, balls);
    scree_broad_destroy(b);
    free(s);
  }
}

/* Bounds that are not numbers, or as far out as numbers go, neither hang nor lose the others. */
static void test_hostile(void **state) {
  (void)state;
  random_state = 3;
  Scene *s = malloc(sizeof *s);
  random_scene(s, 100, 3, 1, 0);
  s->box[3].lower.x = NAN;
  set_ball(s, 4, scree_vec3(1e300, 0, 0), 1, 3);
  set_ball(s, 5, scree_vec3(1e300, 0.5, 0), 1, 3);
  set_ball(s, 6, scree_vec3(0, 0, 0), 0, 3);
  s->box[9] = (scree_Aabb){{1, 1, 1}, {1, 1, 1}};
  memset(s->fixed, 0, sizeof s->fixed);
  scree_BroadPhase *b = scree_broad_create();
  for (int k = 0; k < 3; k++)
    assert_int_equal(scree_broad_update(b, s->n, s->box, NULL, NULL, 0.01, NULL), SCREE_OK);
  check(s, b, 0.01, false);
  size_t count;
  Pair *pairs = pair_list(b, &count);
  bool far = false;
  for (size_t k = 0; k < count; k++) far = far || (pairs[k].i == 4 && pairs[k].j == 5);
  assert_true(far);
  free(pairs);
  assert_int_equal(scree_broad_update(b, s->n, s->box, NULL, NULL, NAN, NULL), SCREE_BAD_INPUT);
  assert_int_equal(scree_broad_update(b, -1, s->box, NULL, NULL, 0, NULL), SCREE_BAD_INPUT);
  scree_broad_destroy(b);
  free(s);
}

/* Contacts of two steps are matched as a search over all pairs of them would. */
static void test_matching(void **state) {
  (void)state;
  random_state = 4;
  enum { MOST = 400 };
  scree_ContactKey old[MOST], keys[MOST];
  int32_t previous[MOST];
  size_t old_count = 0;
  for (int step = 0; step < 20; step++) {
    size_t count = 0;
    for (int32_t i = 0; i < 12; i++)
      for (int32_t j = i + 1; j < 12; j++)
        for (uint32_t f = 0; f < 4; f++)
          if (count < MOST && uniform() < 0.5)
            keys[count++] = (scree_ContactKey){i, j, {0, 0}, .feature = (f * 2654435761u) ^ 5u};
    if (step == 10) count = 0;
    scree_contact_match(old, old_count, keys, count, previous);
    for (size_t k = 0; k < count; k++) {
      int32_t expected = -1;
      for (size_t o = 0; o < old_count; o++)
        if (memcmp(&old[o], &keys[k], sizeof keys[k]) == 0) expected = (int32_t)o;
      assert_int_equal(previous[k], expected);
    }
    memcpy(old, keys, sizeof old);
    old_count = count;
  }
}

/* Two points whose keys are new near one that was: the nearest one is that one, in any order. */
static void test_near(void **state) {
  (void)state;
  const scree_ContactKey old[2] = {{0, 1, {0, 7}, 5, 0}, {0, 1, {0, 8}, 5, 0}};
  const scree_Vec3 old_arms[2] = {{0, 0, -1}, {0.015, 0, -1}};
  for (int order = 0; order < 2; order++) {
    scree_ContactKey keys[3] = {{0, 1, {0, 9}, 5, 0}, {0, 1, {0, 10}, 5, 0}, {0, 1, {0, 8}, 5, 0}};
    scree_Vec3 arms[3] = {{0.012, 0, -1}, {0.012, 0, -1}, {0.015, 0, -1}};
    arms[order] = (scree_Vec3){0.001, 0, -1};
    int32_t previous[3];
    scree_contact_match_near(old, old_arms, 2, keys, arms, 3, previous);
    assert_int_equal(previous[order], 0);
    assert_int_equal(previous[1 - order], -1); /* the other old point has its own */
    assert_int_equal(previous[2], 1);
    /* with two free old points both find one */
    keys[2].part[1] = 11;
    arms[2] = (scree_Vec3){0.5, 0, -1};
    scree_contact_match_near(old, old_arms, 2, keys, arms, 3, previous);
    assert_int_equal(previous[order], 0);
    assert_int_equal(previous[1 - order], 1);
    assert_int_equal(previous[2], -1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_near),     cmocka_unit_test(test_exact),
      cmocka_unit_test(test_motion),   cmocka_unit_test(test_hostile),
      cmocka_unit_test(test_matching),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

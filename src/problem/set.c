/* Projections on the sets Y of the impulses: 002 section 8's four yield surfaces, the half-line of
 * frictionless contact, the whole space of bilateral joints, the ball of dry friction in joints.
 *
 * All are built on the cone's projection k = P_K(x):
 *     shifted by cohesion c    P_K(x + c n) - c n
 *     cone + ball of radius a  off(x, k)
 *     capped                   off(x, k min(1, b/|k|)):  (K cut by the ball of radius b) + ball(a)
 * with off(x, k) = x when |x - k| <= a, else k + a (x - k)/|x - k|: the projection on Y + ball(a)
 * lies on the segment from P_Y(x) to x. Cutting the cone by a centred ball scales k, since the
 * nearest point of the cut cone lies on the ray of k. */
#include "problem/set_inline.h"
#include "scree/problem.h"

#include <assert.h>

static double norm(int d, const double *x) {
  return d == 2 ? hypot(x[0], x[1]) : hypot(hypot(x[0], x[1]), x[2]);
}

/* out = the point of the ball of radius a around k that is nearest to x; `out` may be `x`. */
static void project_ball(int d, double a, const double *k, const double *x, double *out) {
  double difference[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < d; ++i) difference[i] = x[i] - k[i];
  const double distance = norm(d, difference);
  for (int i = 0; i < d; ++i) out[i] = distance <= a ? x[i] : k[i] + a * (difference[i] / distance);
}

/* The nearest point of { |x_i| <= k_i n } for parts x_i of one or two components: with s_i = |x_i|
 * the height n is the root of the increasing, piecewise linear n - x_n - sum k_i max(0, s_i - k_i
 * n), found by adding the parts whose bound is active, those with the largest s_i / k_i first. */
static void project_rolling(const scree_Set *set, int d, const double *x, double *out) {
  const int tangents = d == 3 ? 1 : 2, parts = d == 3 ? 2 : 3;
  const double k[3] = {set->mu, set->a, set->b};
  const double s[3] = {tangents == 1 ? fabs(x[1]) : hypot(x[1], x[2]),
                       tangents == 1 ? fabs(x[2]) : hypot(x[3], x[4]), d == 6 ? fabs(x[5]) : 0.0};
  bool active[3] = {false, false, false};
  double n = fmax(x[0], 0.0), sum = x[0], weight = 1.0;
  for (int step = 0; step < parts; ++step) {
    int next = -1;
    for (int i = 0; i < parts; ++i)
      if (!active[i] && k[i] > 0.0 && (next < 0 || s[i] * k[next] > s[next] * k[i])) next = i;
    if (next < 0 || !(s[next] > k[next] * n)) break;
    active[next] = true;
    sum += k[next] * s[next];
    weight += k[next] * k[next];
    n = fmax(sum / weight, 0.0);
  }
  out[0] = n;
  for (int i = 0, at = 1; i < parts; ++i) {
    const double shrink = s[i] > k[i] * n ? k[i] * n / s[i] : 1.0;
    for (int j = 0; j < (i < 2 ? tangents : 1); ++j, ++at) out[at] = shrink * x[at];
  }
}

void scree_set_project(const scree_Set *set, int d, const double *x, double *out) {
  double k[3] = {0.0, 0.0, 0.0};
  assert(d >= 1 && d <= SCREE_ROWS_MAX);
  assert(d == 2 || d == 3 || set->kind == SCREE_SET_HALF_LINE || set->kind == SCREE_SET_BALL ||
         set->kind == SCREE_SET_ROLLING || set->kind == SCREE_SET_SPACE);
  switch (set->kind) {
  case SCREE_SET_CONE: scree_cone_project(d, set->mu, x, out); return;
  case SCREE_SET_SHIFTED:
    for (int i = 0; i < d; ++i) k[i] = x[i];
    k[0] += set->a;
    scree_cone_project(d, set->mu, k, out);
    out[0] -= set->a;
    return;
  case SCREE_SET_CONE_BALL:
    scree_cone_project(d, set->mu, x, k);
    project_ball(d, set->a, k, x, out);
    return;
  case SCREE_SET_CAPPED: {
    scree_cone_project(d, set->mu, x, k);
    const double length = norm(d, k);
    if (length > set->b)
      for (int i = 0; i < d; ++i) k[i] = set->b * (k[i] / length);
    project_ball(d, set->a, k, x, out);
    return;
  }
  case SCREE_SET_HALF_LINE:
    out[0] = fmax(x[0], 0.0);
    for (int i = 1; i < d; ++i) out[i] = 0.0;
    return;
  case SCREE_SET_BALL: {
    double size = 0.0;
    for (int i = 0; i < d; ++i) size = hypot(size, x[i]);
    const double shrink = size > set->a ? set->a / size : 1.0;
    for (int i = 0; i < d; ++i) out[i] = shrink * x[i];
    return;
  }
  case SCREE_SET_ROLLING: project_rolling(set, d, x, out); return;
  case SCREE_SET_SPACE:
  case SCREE_SET_KINDS: break;
  }
  for (int i = 0; i < d; ++i) out[i] = x[i];
}

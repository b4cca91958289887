/* Orders, limits and error bars of sequences at h, h/2, h/4, … (see converge.h), and the advice
 * drawn from them. With a(h) = a0 + c h^p the differences of neighbouring levels shrink by 2^p:
 *
 *     p = log2(|a(h) - a(h/2)| / |a(h/2) - a(h/4)|),   a0 = a(h/4) + (a(h/4) - a(h/2)) / (2^p - 1)
 *
 * (L. F. Richardson 1911; P. J. Roache, Verification and Validation in Computational Science and
 * Engineering, 1998, chapter 5). A quantity is many numbers here, its averages over windows of
 * time:
 * |.| is their root mean square, and "monotone" becomes "the differences point the same way". */
#include "run/converge.h"

#include <math.h>

/* Chosen by the following considerations, and held against the scenes of tests/cli/converge.sh and
 * the examples on 2026-11-17. */
static const struct {
  double cosine;     /* of neighbouring differences: two random vectors of ten numbers exceed it in
                      * less than 1 % of cases */
  double order_low;  /* below, the extrapolation would multiply the differences by more than 3.4 */
  double order_high; /* above, the differences shrink faster than any scheme here explains */
  double step_most;  /* the largest step that is recommended, over the largest that was run */
  double dull;       /* errors below this part of the accuracy limit no step when their order is not
                      * known */
} choice = {0.7, 0.5, 4.0, 2.0, 0.1};

/* ---- sequences ---------------------------------------------------------------------------------
 */

static double rms(const double *a, const double *b, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return n ? sqrt(sum / (double)n) : 0.0;
}

double scree_converge_order(const double *values, int levels, size_t n, double noise) {
  if (levels < 3 || n == 0) return NAN;
  double first = 0.0, last = 0.0;
  for (int k = 0; k + 2 < levels; ++k) {
    const double *a = values + (size_t)k * n, *b = a + n, *c = b + n;
    const double wide = rms(a, b, n), near = rms(b, c, n);
    double dot = 0.0;
    for (size_t i = 0; i < n; ++i) dot += (a[i] - b[i]) * (b[i] - c[i]);
    if (!(near > noise) || !(wide > near) || !(dot >= choice.cosine * wide * near * (double)n))
      return NAN;
    if (k == 0) first = wide;
    last = near;
  }
  const double order = log2(first / last) / (levels - 2);
  return order >= choice.order_low && order <= choice.order_high ? order : NAN;
}

void scree_converge_limit(const double *values, int levels, size_t n, double order, double *limit) {
  const double *finest = values + (size_t)(levels - 1) * n, *before = finest - n;
  for (size_t i = 0; i < n; ++i)
    limit[i] = finest[i] + (finest[i] - before[i]) / (exp2(order) - 1.0);
}

double scree_converge_distance(const double *a, const double *b, size_t n) {
  double most = 0.0;
  for (size_t i = 0; i < n; ++i) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

void scree_converge_errors(const double *values, int levels, size_t n, double order,
                           double *errors) {
  double spread = 0.0;
  for (int k = 0; k < levels; ++k) errors[k] = 0.0;
  if (isnan(order)) {
    for (int k = 0; k < levels; ++k)
      for (int l = 0; l < k; ++l)
        spread = fmax(spread,
                      scree_converge_distance(values + (size_t)k * n, values + (size_t)l * n, n));
    for (int k = 0; k < levels; ++k) errors[k] = spread;
    return;
  }
  const double *finest = values + (size_t)(levels - 1) * n, *before = finest - n;
  for (int k = 0; k < levels; ++k)
    for (size_t i = 0; i < n; ++i) {
      const double limit = finest[i] + (finest[i] - before[i]) / (exp2(order) - 1.0);
      errors[k] = fmax(errors[k], fabs(values[(size_t)k * n + i] - limit));
    }
}

/* ---- advice ------------------------------------------------------------------------------------
 */

/* The step, over h, at which one quantity has the accuracy; NAN: its order is not known. */
static double step_for(const scree_ConvergeError *e, double accuracy) {
  if (!isnan(e->order)) return e->error > 0.0 ? pow(accuracy / e->error, 1.0 / e->order) : INFINITY;
  if (e->error <= choice.dull * accuracy) return INFINITY;
  return e->error <= accuracy ? 1.0 : NAN;
}

scree_ConvergeAdvice scree_converge_advise(const scree_ConvergeError *errors, int count,
                                           double accuracy, bool chaotic) {
  scree_ConvergeAdvice advice = {.within = true,
                                 .worst = -1,
                                 .worst_tolerance = -1,
                                 .step = choice.step_most,
                                 .limiting = -1,
                                 .tolerance = 1.0,
                                 .duration = 1.0};
  for (int k = 0; k < count; ++k) {
    const scree_ConvergeError *e = &errors[k];
    if (!e->judged) continue;
    if (advice.worst < 0 || e->error > errors[advice.worst].error) advice.worst = k;
    if (advice.worst_tolerance < 0 || e->tolerance > errors[advice.worst_tolerance].tolerance)
      advice.worst_tolerance = k;
    if (!(e->error <= accuracy) || e->tolerance > accuracy) advice.within = false;
    double step = step_for(e, accuracy);
    if (isnan(step) && chaotic) {
      /* scatter, which goes like one over the root of the time: a smaller step does not help */
      advice.duration = fmax(advice.duration, (e->error / accuracy) * (e->error / accuracy));
      step = 1.0;
    }
    if (isnan(step) || (!isnan(advice.step) && step < advice.step)) {
      advice.step = step;
      advice.limiting = k;
    }
    /* Motion that is chaotic differs by its scatter whatever the tolerance is. Else the error is
     * taken to be proportional to the tolerance. */
    if (e->tolerance > accuracy && !(chaotic && e->tolerance <= 2.0 * e->error))
      advice.tolerance = fmin(advice.tolerance, accuracy / e->tolerance);
  }
  return advice;
}

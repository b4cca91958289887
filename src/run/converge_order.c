/* Orders, limits and error bars of sequences at h, h/2, h/4, … (see converge.h), and the
 * recommended step and tolerance. With a(h) = a0 + c h^p the differences of neighbouring levels
 * shrink by 2^p:
 *
 *     p = log2(|a(h) - a(h/2)| / |a(h/2) - a(h/4)|),   a0 = a(h/4) + (a(h/4) - a(h/2)) / (2^p - 1)
 *
 * (L. F. Richardson 1911; P. J. Roache, Verification and Validation in Computational Science and
 * Engineering, 1998, chapter 5). A quantity is many numbers here, its averages over windows of
 * time: |.| is their root mean square, and instead of being monotone the differences must point the
 * same way. */
#include "run/converge.h"

#include <math.h>

/* Chosen for the reasons beside them, and checked on the scenes of tests/cli/converge.sh and on
 * examples/column.yaml and wall.yaml, 2026-11-17. */
static const struct {
  double cosine;     /* of neighbouring differences: two random vectors of ten numbers exceed it in
                      * less than 1 % of cases */
  double order_low;  /* below, the extrapolation would multiply the differences by more than 3.4 */
  double order_high; /* above, the differences shrink faster than any scheme here explains */
  double step_most;  /* the largest step that is recommended, over the largest that was run */
  double minor;      /* errors below this part of the accuracy do not limit the step when their
                      * order is not known */
} choice = {0.7, 0.5, 4.0, 2.0, 0.1};

/* ---- sequences ------------------------------------------------------------------------------- */

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

double scree_converge_distance(const double *a, const double *b, size_t n, int components) {
  double most = 0.0;
  for (size_t i = 0; i < n; i += (size_t)components) {
    double sum = 0.0;
    for (size_t c = i; c < i + (size_t)components; ++c) sum += fabs(a[c] - b[c]);
    most = fmax(most, sum / components);
  }
  return most;
}

void scree_converge_errors(const double *values, const double *limit, int levels, size_t n,
                           int components, double *errors) {
  for (int k = levels - 1; k >= 0; --k) {
    const double *own = values + (size_t)k * n;
    errors[k] = k + 1 < levels ? errors[k + 1] : 0.0;
    if (limit) {
      errors[k] = scree_converge_distance(own, limit, n, components);
      continue;
    }
    for (int l = k + 1; l < levels; ++l)
      errors[k] =
          fmax(errors[k], scree_converge_distance(own, values + (size_t)l * n, n, components));
  }
  /* the finest level can only be compared with the one before it */
  if (!limit && levels > 1) errors[levels - 1] = errors[levels - 2];
}

/* ---- recommendation -------------------------------------------------------------------------- */

/* The step, over h, at which one quantity has the accuracy. Without an order that is a step that
 * was run and whose own finer runs agree; NAN: there is none. */
static double step_for(const scree_ConvergeError *e, double accuracy) {
  const double error = e->errors[0];
  if (!isnan(e->order) && error > 0.0) {
    /* Across impacts schemes are of first order as a rule, and more is an accident of few levels:
     * an order is not trusted where first order would ask for a smaller step. */
    const double ratio = accuracy / error;
    return pow(ratio, 1.0 / (ratio < 1.0 ? fmin(e->order, 1.0) : fmax(e->order, 1.0)));
  }
  if (error <= choice.minor * accuracy) return INFINITY;
  for (int k = 0; k + 1 < e->levels; ++k)
    if (e->errors[k] <= accuracy) return exp2(-k);
  return NAN;
}

scree_ConvergeAdvice scree_converge_no_advice(void) {
  return (scree_ConvergeAdvice){.within = true,
                                .worst = -1,
                                .worst_tolerance = -1,
                                .step = choice.step_most,
                                .limiting = -1,
                                .tolerance = 1.0,
                                .duration = 1.0,
                                .open = -1};
}

scree_ConvergeAdvice scree_converge_advise(const scree_ConvergeError *errors, int count,
                                           double accuracy, bool chaotic) {
  scree_ConvergeAdvice advice = scree_converge_no_advice();
  for (int k = 0; k < count; ++k) {
    const scree_ConvergeError *e = &errors[k];
    if (!e->judged) continue;
    if (advice.worst < 0 || e->errors[0] > errors[advice.worst].errors[0]) advice.worst = k;
    if (advice.worst_tolerance < 0 || e->tolerance > errors[advice.worst_tolerance].tolerance)
      advice.worst_tolerance = k;
    if (!(e->errors[0] <= accuracy) || e->tolerance > accuracy) advice.within = false;
    double step = step_for(e, accuracy);
    if (chaotic && isnan(e->order) && e->errors[0] > accuracy) {
      /* scatter, which goes like one over the root of the time: a smaller step does not help */
      advice.duration = fmax(advice.duration, pow(e->errors[0] / accuracy, 2.0));
      step = 1.0;
    }
    if (isnan(step) || (!isnan(advice.step) && step < advice.step)) {
      advice.step = step;
      advice.limiting = k;
    }
    /* Motion that is chaotic differs by its scatter whatever the tolerance is. Else the error is
     * taken to be proportional to the tolerance. */
    if (e->tolerance > accuracy && !(chaotic && e->tolerance <= 2.0 * e->errors[0]))
      advice.tolerance = fmin(advice.tolerance, accuracy / e->tolerance);
  }
  return advice;
}

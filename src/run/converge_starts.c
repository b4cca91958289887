/* Errors of averages from several starts (see converge.h).
 *
 * a(s, k) is an average of the run from start s at level k, with the step h / 2^k. Both are from
 * the same start, so differences d(s) = a(s, 0) - a(s, K) to the finest level are compared: they
 * are small as long as the motion is not chaotic, and independent of each other after that. Their
 * mean over the N starts is the systematic difference, with the standard error sd(d) / sqrt(N), and
 * Student's t gives the interval that contains the true one. The limit h -> 0 is
 *
 *     a0 = a(K) - d / (2^(p K) - 1),      so that     a(0) - a0 = d / (1 - 2^(-p K))
 *
 * with the order p, if it can be determined, else with p = 1: across impacts schemes are of first
 * order as a rule, and without this factor the error would be underestimated by a quarter (K = 2).
 *
 * The order comes from means over the starts at all levels, if the differences of neighbouring
 * levels are above twice their standard errors, and if leaving out one start after the other (the
 * jackknife: B. Efron, C. Stein, Annals of Statistics 9, 1981) gives it a standard error of at most
 * a half. */
#include "run/converge.h"

#include <math.h>
#include <string.h>

static const struct {
  double sure;       /* differences are told from scatter above this many standard errors */
  double order_most; /* standard error of an order that is reported */
  double near; /* an error that differs from the accuracy by less than this part of it needs no
                  verdict */
} choice = {2.0, 0.5, 0.5};

double scree_converge_student(int starts) {
  /* quantile 0.995 for 1 to 30 degrees of freedom; beyond, its expansion about the normal one */
  static const double table[] = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355,
                                 3.250,  3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
                                 2.898,  2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797,
                                 2.787,  2.779, 2.771, 2.763, 2.756, 2.750};
  const int freedom = starts - 1, known = (int)(sizeof table / sizeof *table);
  if (freedom < 1) return INFINITY;
  if (freedom <= known) return table[freedom - 1];
  const double z = 2.575829, z2 = z * z;
  return z + z * (z2 + 1.0) / (4.0 * freedom) +
         z * (z2 * (5.0 * z2 + 16.0) + 3.0) / (96.0 * freedom * freedom);
}

static const double *row(const scree_ConvergeSample *sample, int start, int run) {
  return sample->values + ((size_t)start * (size_t)sample->runs + (size_t)run) * sample->n;
}

/* Mean and standard error over the starts of number i of run a, less that of run b (-1: of a). */
static void difference(const scree_ConvergeSample *sample, int a, int b, size_t i, double *mean,
                       double *deviation) {
  double sum = 0.0, square = 0.0;
  for (int s = 0; s < sample->starts; ++s)
    sum += row(sample, s, a)[i] - (b < 0 ? 0.0 : row(sample, s, b)[i]);
  *mean = sum / sample->starts;
  for (int s = 0; s < sample->starts; ++s) {
    const double d = row(sample, s, a)[i] - (b < 0 ? 0.0 : row(sample, s, b)[i]) - *mean;
    square += d * d;
  }
  *deviation = sqrt(square / ((double)sample->starts * (sample->starts - 1)));
}

/* The difference of runs a and b times `factor`, of the window whose upper bound is the largest:
 * means over its components. */
static scree_ConvergeBounds bounds(const scree_ConvergeSample *sample, int a, int b,
                                   double factor) {
  scree_ConvergeBounds found = {0};
  const double t = scree_converge_student(sample->starts);
  for (size_t i = 0; i < sample->n; i += (size_t)sample->components) {
    double error = 0.0, deviation = 0.0;
    for (size_t c = i; c < i + (size_t)sample->components; ++c) {
      double mean, own;
      difference(sample, a, b, c, &mean, &own);
      error += fabs(mean) * factor / sample->components;
      deviation += own * factor / sample->components;
    }
    found.low = fmax(found.low, error - t * deviation);
    if (i > 0 && error + t * deviation <= found.high) continue;
    found.error = error;
    found.deviation = deviation;
    found.high = error + t * deviation;
  }
  return found;
}

/* Means over the starts, without start `out` (-1: over all): (levels x n). */
static void average(const scree_ConvergeSample *sample, int out, double *means) {
  const int used = sample->starts - (out >= 0);
  memset(means, 0, (size_t)sample->levels * sample->n * sizeof *means);
  for (int s = 0; s < sample->starts; ++s)
    for (int k = 0; s != out && k < sample->levels; ++k)
      for (size_t i = 0; i < sample->n; ++i)
        means[(size_t)k * sample->n + i] += row(sample, s, k)[i] / used;
}

/* `means` is left with the means over all starts. */
static void find_order(const scree_ConvergeSample *sample, double *means,
                       scree_ConvergeStarts *result) {
  double noise = 0.0, sum = 0.0, square = 0.0;
  for (int k = 0; k + 1 < sample->levels; ++k) {
    double level = 0.0;
    for (size_t i = 0; i < sample->n; ++i) {
      double mean, own;
      difference(sample, k, k + 1, i, &mean, &own);
      level += own * own / (double)sample->n;
    }
    noise = fmax(noise, choice.sure * sqrt(level));
  }
  result->order = result->order_deviation = NAN;
  const int starts = sample->starts;
  for (int s = 0; s < starts; ++s) {
    average(sample, s, means);
    const double order = scree_converge_order(means, sample->levels, sample->n, noise);
    sum += order;
    square += order * order;
  }
  average(sample, -1, means);
  const double order = scree_converge_order(means, sample->levels, sample->n, noise);
  const double spread =
      sqrt(fmax(0.0, (square - sum * sum / starts) * (double)(starts - 1) / starts));
  if (isnan(order) || !(spread <= choice.order_most)) return;
  result->order = order;
  result->order_deviation = spread;
}

void scree_converge_over_starts(const scree_ConvergeSample *sample, double *work,
                                scree_ConvergeStarts *result) {
  const size_t n = sample->n;
  const int finest = sample->levels - 1;
  double *means = work, *limit = work + (size_t)sample->levels * n;
  *result = (scree_ConvergeStarts){.order = NAN, .order_deviation = NAN};
  if (n == 0) return;
  find_order(sample, means, result);
  const double power = exp2((isnan(result->order) ? 1.0 : result->order) * finest);
  for (size_t i = 0; i < n; ++i) {
    const double fine = means[(size_t)finest * n + i];
    limit[i] = fine - (means[i] - fine) / (power - 1.0);
  }
  for (int k = 0; k < sample->levels; ++k)
    result->errors[k] =
        scree_converge_distance(means + (size_t)k * n, limit, n, sample->components);
  result->step = bounds(sample, 0, finest, power / (power - 1.0));
  if (sample->runs > sample->levels) result->tolerance = bounds(sample, sample->levels, 0, 1.0);
  result->scatter = 0.0;
  for (size_t i = 0; i < n; i += (size_t)sample->components) {
    double scatter = 0.0;
    for (size_t c = i; c < i + (size_t)sample->components; ++c) {
      double mean, own;
      difference(sample, 0, -1, c, &mean, &own);
      scatter += own * sqrt((double)sample->starts) / sample->components;
    }
    result->scatter = fmax(result->scatter, scatter);
  }
}

/* ---- recommendation -------------------------------------------------------------------------- */

/* Starts after which the bounds of an error would be on one side of the accuracy, if it is as far
 * from it as it seems. */
static int starts_for(const scree_ConvergeBounds *b, double accuracy, int starts) {
  const double far = fmax(fabs(b->error - accuracy), choice.near * accuracy);
  const double times = (b->high - b->error) / far;
  return (int)fmin(SCREE_CONVERGE_STARTS_MOST, fmax(starts + 1.0, ceil(starts * times * times)));
}

static void ask(const scree_ConvergeBounds *b, int k, double accuracy, int starts,
                scree_ConvergeAdvice *advice) {
  const int wanted = starts_for(b, accuracy, starts);
  if (wanted <= advice->starts) return;
  advice->starts = wanted;
  advice->open = k;
}

scree_ConvergeAdvice scree_converge_advise_starts(const scree_ConvergeOpinion *opinions, int count,
                                                  double accuracy, int starts) {
  scree_ConvergeAdvice advice = scree_converge_no_advice();
  for (int k = 0; k < count; ++k) {
    const scree_ConvergeOpinion *o = &opinions[k];
    if (!o->judged) continue;
    if (advice.worst < 0 || o->step.high > opinions[advice.worst].step.high) advice.worst = k;
    if (advice.worst_tolerance < 0 ||
        o->tolerance.high > opinions[advice.worst_tolerance].tolerance.high)
      advice.worst_tolerance = k;
    double step = scree_converge_no_advice().step;
    if (o->step.low > accuracy) { /* shown to be too large */
      const double p = isnan(o->order) ? 1.0 : fmin(o->order, 1.0);
      step = pow(accuracy / o->step.error, 1.0 / p);
    } else if (o->step.high > accuracy) {
      ask(&o->step, k, accuracy, starts, &advice);
      step = 1.0;
    } else if (o->step.high > 0.0) {
      step = fmax(1.0, accuracy / o->step.high);
    }
    if (step < advice.step) {
      advice.step = step;
      advice.limiting = k;
    }
    if (o->tolerance.low > accuracy)
      advice.tolerance = fmin(advice.tolerance, accuracy / o->tolerance.error);
    else if (o->tolerance.high > accuracy)
      ask(&o->tolerance, k, accuracy, starts, &advice);
    if (!(o->step.high <= accuracy) || !(o->tolerance.high <= accuracy)) advice.within = false;
  }
  return advice;
}

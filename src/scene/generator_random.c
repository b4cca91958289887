/* Random numbers (see generator_random.h). The generator is a counter mixed (core/mix.h);
 * the logarithm is the series of atanh on [sqrt(1/2),
 * sqrt(2)], the exponential Taylor's after reduction by ln 2, both to about an ulp. */
#include "scene/generator_random.h"
#include "core/mix.h"

#include <math.h>

scree_Random scree_random(uint64_t seed, uint64_t stream, uint64_t index) {
  return (scree_Random){.key = scree_mix(scree_mix(scree_mix(seed) ^ stream) ^ index)};
}

double scree_random_real(scree_Random *random) {
  return (double)(scree_mix(random->key ^ scree_mix(random->draw++)) >> 11) * 0x1p-53;
}

scree_Vec3 scree_random_in_ball(scree_Random *random, int dimension) {
  for (;;) {
    scree_Vec3 x = {0};
    x.x = 2 * scree_random_real(random) - 1;
    x.y = 2 * scree_random_real(random) - 1;
    if (dimension == 3) x.z = 2 * scree_random_real(random) - 1;
    if (x.x * x.x + x.y * x.y + x.z * x.z <= 1) return x;
  }
}

/* Marsaglia's two disks; in 2D a point of the disk gives cosine and sine of the half angle. */
scree_Quat scree_random_orientation(scree_Random *random, int dimension) {
  double a, b, s, c, d, t;
  do {
    a = 2 * scree_random_real(random) - 1;
    b = 2 * scree_random_real(random) - 1;
    s = a * a + b * b;
  } while (s > 1 || s < 0x1p-20);
  if (dimension == 2) {
    const double length = sqrt(s);
    return (scree_Quat){a / length, 0, 0, b / length};
  }
  do {
    c = 2 * scree_random_real(random) - 1;
    d = 2 * scree_random_real(random) - 1;
    t = c * c + d * d;
  } while (t > 1 || t < 0x1p-20);
  const double scale = sqrt((1 - s) / t);
  scree_Quat q = {a, b, c * scale, d * scale};
  const double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return (scree_Quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

static const double LN2 = 0.69314718055994530942;

static double logarithm(double x) {
  int exponent;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  const double z = (m - 1) / (m + 1), z2 = z * z;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return 2 * z * sum + exponent * LN2;
}

static double exponential(double x) {
  const double n = floor(x / LN2 + 0.5), r = x - n * LN2;
  double sum = 1;
  for (int k = 18; k >= 1; --k) sum = 1 + r / k * sum;
  return ldexp(sum, (int)n);
}

/* Marsaglia's polar method. */
static double normal(scree_Random *random) {
  double x, y, s;
  do {
    x = 2 * scree_random_real(random) - 1;
    y = 2 * scree_random_real(random) - 1;
    s = x * x + y * y;
  } while (s >= 1 || s == 0);
  return x * sqrt(-2 * logarithm(s) / s);
}

/* Index that the share u of the weights falls on. */
static int choose(const scree_Distribution *d, double u) {
  int k = 0;
  for (double sum = d->weights[0]; k + 1 < d->count && u >= sum; sum += d->weights[k]) ++k;
  while (k > 0 && d->weights[k] == 0) --k; /* rounding of the sum */
  return k;
}

/* Density in proportion to x^-exponent on [min, max]: the inverse of the cumulated distribution,
 * relative to min, x^(1-a), or log x for a = 1. */
static double power(double u, double min, double max, double exponent) {
  const double a = 1 - exponent, span = logarithm(max / min);
  double x = 0;
  if (a == 0)
    x = exponential(u * span);
  else
    x = exponential(logarithm(1 + u * (exponential(a * span) - 1)) / a);
  x *= min;
  return x < min ? min : x > max ? max : x;
}

double scree_distribution_at(const scree_Distribution *d, double u) {
  switch (d->kind) {
  case SCREE_DISTRIBUTION_UNIFORM: return d->min + (d->max - d->min) * u;
  case SCREE_DISTRIBUTION_POWER: return power(u, d->min, d->max, d->exponent);
  case SCREE_DISTRIBUTION_MIXTURE: return d->sizes[choose(d, u)];
  case SCREE_DISTRIBUTION_SIEVE: {
    const int k = choose(d, u);
    double before = 0;
    for (int j = 0; j < k; ++j) before += d->weights[j];
    const double within = d->weights[k] > 0 ? (u - before) / d->weights[k] : 0;
    return k == 0 ? d->sizes[0]
                  : power(fmin(fmax(within, 0), 1), d->sizes[k - 1], d->sizes[k], d->exponent);
  }
  default: return 1;
  }
}

/* Normal numbers by rejection outside [min, max], and of those inside with a chance x^-rarer; for
 * an interval far in a tail the nearer end is returned after many trials. */
static double normal_from(scree_Random *random, const scree_Distribution *d) {
  for (int k = 0; k < 1000; ++k) {
    const double x = d->mean + d->deviation * normal(random);
    if (!(x >= d->min && x <= d->max)) continue;
    double chance = 1;
    for (int j = 0; j < d->rarer; ++j) chance *= d->min / x;
    if (chance == 1 || scree_random_real(random) < chance) return x;
  }
  return d->mean < d->min ? d->min : d->mean > d->max ? d->max : d->mean;
}

double scree_random_from(scree_Random *random, const scree_Distribution *d) {
  if (d->kind == SCREE_DISTRIBUTION_CONSTANT) return 1;
  if (d->kind == SCREE_DISTRIBUTION_NORMAL) return normal_from(random, d);
  return scree_distribution_at(d, scree_random_real(random));
}

/* Counter-based random numbers: each depends on (seed, stream, index, draw) alone. There is no
 * state to save in a checkpoint, and no call of the C library whose last bit differs between
 * platforms: logarithm and exponential are computed here, from + - * / alone. */
#ifndef SCREE_SCENE_GENERATOR_RANDOM_H
#define SCREE_SCENE_GENERATOR_RANDOM_H

#include "scree/shape.h"

#include <stdint.h>

typedef struct scree_Random {
  uint64_t key;  /* of seed, stream and index */
  uint64_t draw; /* counts up */
} scree_Random;

scree_Random scree_random(uint64_t seed, uint64_t stream, uint64_t index);

/* In [0, 1), in steps of 2^-53. */
double scree_random_real(scree_Random *random);

/* In [-1, 1] x ..., uniformly inside the unit ball; 2D: z = 0. */
scree_Vec3 scree_random_in_ball(scree_Random *random, int dimension);

/* Uniform over all orientations; 2D: about z. */
scree_Quat scree_random_orientation(scree_Random *random, int dimension);

typedef enum scree_DistributionKind {
  SCREE_DISTRIBUTION_CONSTANT,
  SCREE_DISTRIBUTION_UNIFORM,
  SCREE_DISTRIBUTION_NORMAL,  /* cut to [min, max] */
  SCREE_DISTRIBUTION_POWER,   /* density in proportion to x^-exponent on [min, max] */
  SCREE_DISTRIBUTION_MIXTURE, /* sizes[k] with the share weights[k] */
  SCREE_DISTRIBUTION_SIEVE    /* between sizes[k - 1] and sizes[k] with the share weights[k] */
} scree_DistributionKind;

enum { SCREE_SIZES_MAX = 32 };

typedef struct scree_Distribution {
  scree_DistributionKind kind;
  double min, max, mean, deviation, exponent;
  int rarer;                       /* normal: density times x^-rarer, 0 or the dimension */
  int count;                       /* of a mixture or sieve curve: */
  double sizes[SCREE_SIZES_MAX];   /* (count) ascending for a sieve curve */
  double weights[SCREE_SIZES_MAX]; /* (count) shares of the number of bodies, sum 1 */
} scree_Distribution;

/* The size below which the share u in [0, 1) of the number of bodies lies; not for normal. */
double scree_distribution_at(const scree_Distribution *distribution, double u);

double scree_random_from(scree_Random *random, const scree_Distribution *distribution);

#endif

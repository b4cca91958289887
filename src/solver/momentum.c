/* Momentum for sweeps (see momentum.h). */
#include "solver/momentum.h"

#include "math/simd.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

/* Growth of the squared change of a sweep at which momentum is set back. Sweeps to 1e-4 on packings
 * of 10^4 contacts (disks in a box, under a plate, in a drum; spheres in a box, under a plate, with
 * a wall moving in): 171 220 455 131 444 230; with 1: 299 717 1002 153 970 324; with 1.3: 148 170
 * 302 263 372 194, but the plate on spheres then stays at 1e-4; with 2 four of the six diverge. */
static const double most_growth = 1.1;

/* t at the start and when it is set back. 1 would be Nesterov's; time steps start near their
 * solution and need few sweeps: 2000 spheres settling, visits of contacts: 1: 195, 2: 161, 4: 155
 * million; on cold packings of 10^4 contacts 4 saves a third of the sweeps of piles and costs a
 * third more among boxes. */
static const double first_t = 3.0;

static size_t bytes_of(const scree_MomentumPart *part) {
  return part->n * (part->single ? sizeof(float) : sizeof(double));
}

static bool add(scree_Momentum *momentum, scree_MomentumPart part, bool impulses,
                scree_Arena *arena) {
  if (!momentum->sum) momentum->sum = SCREE_TAKE(arena, double, SCREE_CHUNKS);
  if (part.n == 0) return momentum->sum != NULL;
  part.last = SCREE_TAKE_RAW(arena, char, bytes_of(&part));
  if (impulses) part.from = SCREE_TAKE_RAW(arena, char, bytes_of(&part));
  momentum->part[momentum->parts++] = part;
  return momentum->sum && part.last && (part.from || !impulses);
}

bool scree_momentum_add(scree_Momentum *momentum, double *now, size_t n, bool impulses,
                        scree_Arena *arena) {
  return add(momentum, (scree_MomentumPart){.now = now, .n = n}, impulses, arena);
}

bool scree_momentum_add_singles(scree_Momentum *momentum, float *now, size_t n, bool impulses,
                                scree_Arena *arena) {
  return add(momentum, (scree_MomentumPart){.now = now, .n = n, .single = true}, impulses, arena);
}

scree_MomentumState scree_momentum_begin(const scree_Momentum *momentum) {
  for (int k = 0; k < momentum->parts; ++k) {
    const scree_MomentumPart *part = &momentum->part[k];
    memcpy(part->last, part->now, bytes_of(part));
    if (part->from) memcpy(part->from, part->now, bytes_of(part));
  }
  return (scree_MomentumState){.t = first_t, .change2 = INFINITY};
}

void scree_momentum_zero(const scree_Momentum *momentum, float *now) {
  for (int k = 0; k < momentum->parts; ++k) {
    const scree_MomentumPart *part = &momentum->part[k];
    if (part->now != now) continue;
    float *last = part->last;
    for (size_t i = 0; i < part->n; ++i) {
      last[i] -= now[i];
      now[i] = 0.0f;
    }
  }
}

/* The pieces first .. last-1 of thread `me`. */
static void pieces(int me, int threads, int *first, int *last) {
  *first = SCREE_CHUNKS * me / threads;
  *last = SCREE_CHUNKS * (me + 1) / threads;
}

/* Eight floats; four of them as doubles. */
typedef float Wide __attribute__((vector_size(32), aligned(4), may_alias));
typedef float Half __attribute__((vector_size(16), aligned(4), may_alias));
typedef double Doubles __attribute__((vector_size(32)));

SCREE_CLONES static double sum_piece(const double *now, const double *from, size_t begin,
                                     size_t end) {
  scree_Lane lane = {0.0, 0.0, 0.0, 0.0};
  size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const scree_Lane change = scree_lane_load(now + i) - scree_lane_load(from + i);
    lane += change * change;
  }
  for (; i < end; ++i) {
    const double change = now[i] - from[i];
    lane[0] += change * change;
  }
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

SCREE_CLONES static double sum_singles(const float *now, const float *from, size_t begin,
                                       size_t end) {
  Doubles low = {0.0, 0.0, 0.0, 0.0}, high = low;
  size_t i = begin;
  for (; i + 8 <= end; i += 8) {
    const Half first = *(const Half *)(now + i) - *(const Half *)(from + i);
    const Half second = *(const Half *)(now + i + 4) - *(const Half *)(from + i + 4);
    const Doubles a = __builtin_convertvector(first, Doubles);
    const Doubles b = __builtin_convertvector(second, Doubles);
    low += a * a;
    high += b * b;
  }
  for (; i < end; ++i) {
    const double change = (double)(now[i] - from[i]);
    low[0] += change * change;
  }
  return ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
}

void scree_momentum_sum(const scree_Momentum *momentum, int me, int threads) {
  int first, last;
  pieces(me, threads, &first, &last);
  for (int chunk = first; chunk < last; ++chunk) {
    double sum = 0.0;
    for (int k = 0; k < momentum->parts; ++k) {
      const scree_MomentumPart *part = &momentum->part[k];
      size_t begin, end;
      scree_chunk(part->n, chunk, &begin, &end);
      if (!part->from) continue;
      sum += part->single ? sum_singles(part->now, part->from, begin, end)
                          : sum_piece(part->now, part->from, begin, end);
    }
    momentum->sum[chunk] = sum;
  }
}

double scree_momentum_factor(const scree_Momentum *momentum, scree_MomentumState *state) {
  double change2 = 0.0;
  for (int chunk = 0; chunk < SCREE_CHUNKS; ++chunk) change2 += momentum->sum[chunk];
  const bool grown = !(change2 <= most_growth * state->change2);
  state->change2 = change2;
  if (grown) {
    state->t = first_t;
    return 0.0;
  }
  const double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * state->t * state->t));
  const double b = (state->t - 1.0) / next;
  state->t = next;
  return b;
}

SCREE_CLONES static void move_piece(double *now, double *last, double b, size_t begin, size_t end) {
  const scree_Lane factor = {b, b, b, b};
  size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const scree_Lane x = scree_lane_load(now + i);
    *scree_lane_at(now + i) = x + factor * (x - scree_lane_load(last + i));
    *scree_lane_at(last + i) = x;
  }
  for (; i < end; ++i) {
    const double x = now[i];
    now[i] = x + b * (x - last[i]);
    last[i] = x;
  }
}

SCREE_CLONES static void move_singles(float *now, float *last, float b, size_t begin, size_t end) {
  const Wide factor = {b, b, b, b, b, b, b, b};
  size_t i = begin;
  for (; i + 8 <= end; i += 8) {
    const Wide x = *(const Wide *)(now + i);
    *(Wide *)(now + i) = x + factor * (x - *(const Wide *)(last + i));
    *(Wide *)(last + i) = x;
  }
  for (; i < end; ++i) {
    const float x = now[i];
    now[i] = x + b * (x - last[i]);
    last[i] = x;
  }
}

static void move_part(const scree_MomentumPart *part, double b, size_t begin, size_t end) {
  const size_t size = part->single ? sizeof(float) : sizeof(double);
  if (part->single)
    move_singles(part->now, part->last, (float)b, begin, end);
  else
    move_piece(part->now, part->last, b, begin, end);
  if (part->from)
    memcpy((char *)part->from + begin * size, (char *)part->now + begin * size,
           (end - begin) * size);
}

void scree_momentum_move(const scree_Momentum *momentum, double b, int me, int threads) {
  int first, last;
  pieces(me, threads, &first, &last);
  for (int k = 0; k < momentum->parts; ++k)
    for (int chunk = first; chunk < last; ++chunk) {
      size_t begin, end;
      scree_chunk(momentum->part[k].n, chunk, &begin, &end);
      if (begin < end) move_part(&momentum->part[k], b, begin, end);
    }
}

void scree_momentum_step(const scree_Momentum *momentum, scree_MomentumState *state, int me,
                         int threads, scree_Barrier *barrier) {
  if (!state->swept) {
    state->swept = true;
    return;
  }
  scree_momentum_sum(momentum, me, threads);
  if (barrier) scree_barrier_wait(barrier);
  const double b = scree_momentum_factor(momentum, state);
  scree_momentum_move(momentum, b, me, threads);
  if (barrier) scree_barrier_wait(barrier);
}

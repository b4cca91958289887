/* Momentum for sweeps (see momentum.h). */
#include "solver/momentum.h"

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

static scree_MomentumPart *add(scree_Momentum *momentum, size_t n, bool impulses, bool single,
                               scree_Arena *arena) {
  if (!momentum->sum) momentum->sum = SCREE_TAKE(arena, double, SCREE_CHUNKS);
  if (!momentum->sum) return NULL;
  scree_MomentumPart *part = &momentum->part[momentum->parts];
  *part = (scree_MomentumPart){.n = n, .single = single, .impulses = impulses};
  if (n > 0) ++momentum->parts;
  return part;
}

bool scree_momentum_add(scree_Momentum *momentum, double *now, size_t n, bool impulses,
                        scree_Arena *arena) {
  scree_MomentumPart *part = add(momentum, n, impulses, false, arena);
  if (!part) return false;
  part->now.full = now;
  part->last.full = SCREE_TAKE_RAW(arena, double, n);
  if (impulses) part->from.full = SCREE_TAKE_RAW(arena, double, n);
  return part->last.full && (part->from.full || !impulses);
}

bool scree_momentum_add_single(scree_Momentum *momentum, float *now, size_t n, bool impulses,
                               scree_Arena *arena) {
  scree_MomentumPart *part = add(momentum, n, impulses, true, arena);
  if (!part) return false;
  part->now.single = now;
  part->last.single = SCREE_TAKE_RAW(arena, float, n);
  if (impulses) part->from.single = SCREE_TAKE_RAW(arena, float, n);
  return part->last.single && (part->from.single || !impulses);
}

scree_MomentumState scree_momentum_begin(const scree_Momentum *momentum) {
  for (int k = 0; k < momentum->parts; ++k) {
    const scree_MomentumPart *part = &momentum->part[k];
    const size_t bytes = part->n * (part->single ? sizeof(float) : sizeof(double));
    memcpy(part->last.full, part->now.full, bytes);
    if (part->impulses) memcpy(part->from.full, part->now.full, bytes);
  }
  return (scree_MomentumState){.t = first_t, .change2 = INFINITY};
}

/* The pieces first .. last-1 of thread `me`. */
static void pieces(int me, int threads, int *first, int *last) {
  *first = SCREE_CHUNKS * me / threads;
  *last = SCREE_CHUNKS * (me + 1) / threads;
}

/* Squares are added in double precision, in four lanes. */
#define SCREE_SUM_PIECE(name, type)                                                                \
  static double name(const type *now, const type *from, size_t begin, size_t end) {                \
    double lane[4] = {0.0, 0.0, 0.0, 0.0};                                                         \
    size_t i = begin;                                                                              \
    for (; i + 4 <= end; i += 4)                                                                   \
      for (size_t j = 0; j < 4; ++j) {                                                             \
        const double change = (double)now[i + j] - (double)from[i + j];                            \
        lane[j] += change * change;                                                                \
      }                                                                                            \
    for (; i < end; ++i) {                                                                         \
      const double change = (double)now[i] - (double)from[i];                                      \
      lane[0] += change * change;                                                                  \
    }                                                                                              \
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);                                              \
  }
SCREE_SUM_PIECE(sum_full, double)
SCREE_SUM_PIECE(sum_single, float)

void scree_momentum_sum(const scree_Momentum *momentum, int me, int threads) {
  int first, last;
  pieces(me, threads, &first, &last);
  for (int chunk = first; chunk < last; ++chunk) {
    double sum = 0.0;
    for (int k = 0; k < momentum->parts; ++k) {
      const scree_MomentumPart *part = &momentum->part[k];
      size_t begin, end;
      scree_chunk(part->n, chunk, &begin, &end);
      if (!part->impulses) continue;
      sum += part->single ? sum_single(part->now.single, part->from.single, begin, end)
                          : sum_full(part->now.full, part->from.full, begin, end);
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

#define SCREE_MOVE_PIECE(name, type)                                                               \
  static void name(type *restrict now, type *restrict last, type *restrict from, type b,           \
                   size_t begin, size_t end) {                                                     \
    for (size_t i = begin; i < end; ++i) {                                                         \
      const type x = now[i];                                                                       \
      now[i] = x + b * (x - last[i]);                                                              \
      last[i] = x;                                                                                 \
    }                                                                                              \
    if (from) memcpy(from + begin, now + begin, (end - begin) * sizeof *now);                      \
  }
SCREE_MOVE_PIECE(move_full, double)
SCREE_MOVE_PIECE(move_single, float)

void scree_momentum_move(const scree_Momentum *momentum, double b, int me, int threads) {
  int first, last;
  pieces(me, threads, &first, &last);
  for (int k = 0; k < momentum->parts; ++k)
    for (int chunk = first; chunk < last; ++chunk) {
      const scree_MomentumPart *part = &momentum->part[k];
      size_t begin, end;
      scree_chunk(part->n, chunk, &begin, &end);
      if (begin == end) continue;
      if (part->single)
        move_single(part->now.single, part->last.single, part->from.single, (float)b, begin, end);
      else
        move_full(part->now.full, part->last.full, part->from.full, b, begin, end);
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

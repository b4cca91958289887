/* Momentum for sweeps (see momentum.h). */
#include "solver/momentum.h"

#include "math/simd.h"
#include "math/vector.h"

#include <assert.h>
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

bool scree_momentum_add_singles(scree_Momentum *momentum, float *now, size_t n,
                                scree_Arena *arena) {
  return add(momentum, (scree_MomentumPart){.now = now, .n = n, .single = true}, false, arena);
}

void scree_momentum_add_visited(scree_Momentum *momentum, float *now, float *last, size_t n,
                                const float *changes, size_t nchanges) {
  scree_MomentumPart *part = &momentum->part[momentum->parts++];
  *part = (scree_MomentumPart){.n = n, .single = true, .changes = changes, .nchanges = nchanges};
  part->now = now;
  part->last = last;
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

/* Numbers of a piece, at least: a pass over them takes longer than the call. In smaller pieces
 * momentum took a fifth of a sweep over 400 disks. */
enum { PIECE_LEAST = 512 };

/* Piece `chunk` of n numbers: begin .. end-1. False: there is none. Its borders depend on n alone.
 */
static bool piece_of(size_t n, int chunk, size_t *begin, size_t *end) {
  const size_t even = (n / SCREE_CHUNKS + 8) / 8 * 8;
  const size_t length = even > PIECE_LEAST ? even : PIECE_LEAST;
  *begin = (size_t)chunk * length;
  *end = *begin + length < n ? *begin + length : n;
  return *begin < n;
}

/* The pieces first .. last-1 of thread `me`. */
static void pieces(int me, int threads, int *first, int *last) {
  assert(me >= 0 && me < threads);
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

SCREE_CLONES static double sum_changes(const float *changes, size_t begin, size_t end) {
  Doubles lane = {0.0, 0.0, 0.0, 0.0};
  size_t i = begin;
  for (; i + 4 <= end; i += 4)
    lane += __builtin_convertvector(*(const Half *)(changes + i), Doubles);
  for (; i < end; ++i) lane[0] += (double)changes[i];
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

void scree_momentum_sum(const scree_Momentum *momentum, int me, int threads) {
  int first, last;
  pieces(me, threads, &first, &last);
  memset(momentum->sum + first, 0, (size_t)(last - first) * sizeof *momentum->sum);
  for (int k = 0; k < momentum->parts; ++k) {
    const scree_MomentumPart *part = &momentum->part[k];
    if (!part->from && !part->changes) continue;
    for (int chunk = first; chunk < last; ++chunk) {
      size_t begin, end;
      if (!piece_of(part->changes ? part->nchanges : part->n, chunk, &begin, &end)) break;
      momentum->sum[chunk] += part->changes ? sum_changes(part->changes, begin, end)
                                            : sum_piece(part->now, part->from, begin, end);
    }
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

SCREE_INLINE void move_doubles(double *now, double *last, double *from, double b, size_t begin,
                               size_t end) {
  const scree_Lane factor = {b, b, b, b};
  size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const scree_Lane x = scree_lane_load(now + i);
    const scree_Lane moved = x + factor * (x - scree_lane_load(last + i));
    *scree_lane_at(now + i) = moved;
    if (from) *scree_lane_at(from + i) = moved;
    *scree_lane_at(last + i) = x;
  }
  for (; i < end; ++i) {
    const double x = now[i];
    now[i] = x + b * (x - last[i]);
    if (from) from[i] = now[i];
    last[i] = x;
  }
}

SCREE_INLINE void move_floats(float *now, float *last, float b, size_t begin, size_t end) {
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

SCREE_CLONES static void move_part(const scree_MomentumPart *part, double b, size_t begin,
                                   size_t end) {
  if (part->single)
    move_floats(part->now, part->last, (float)b, begin, end);
  else if (part->from)
    move_doubles(part->now, part->last, part->from, b, begin, end);
  else
    move_doubles(part->now, part->last, NULL, b, begin, end);
}

void scree_momentum_move(const scree_Momentum *momentum, double b, int me, int threads) {
  int first, last;
  pieces(me, threads, &first, &last);
  for (int k = 0; k < momentum->parts; ++k)
    for (int chunk = first; chunk < last && !momentum->part[k].changes; ++chunk) {
      size_t begin, end;
      if (!piece_of(momentum->part[k].n, chunk, &begin, &end)) break;
      move_part(&momentum->part[k], b, begin, end);
    }
}

double scree_momentum_step(const scree_Momentum *momentum, scree_MomentumState *state, int me,
                           int threads, scree_Barrier *barrier) {
  if (!state->swept) {
    state->swept = true;
    return 0.0;
  }
  scree_momentum_sum(momentum, me, threads);
  if (barrier) scree_barrier_wait(barrier);
  const double b = scree_momentum_factor(momentum, state);
  scree_momentum_move(momentum, b, me, threads);
  if (barrier) scree_barrier_wait(barrier);
  return b;
}

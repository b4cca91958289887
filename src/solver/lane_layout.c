/* Which contacts share a batch (see lanes.h): of each colour first those that are expected to carry
 * an impulse, so that batches of contacts that stay open can be left out of sweeps. */
#include "core/log.h"
#include "solver/lanes.h"

#include <assert.h>

/* Contacts of a serial colour are coupled: one per batch. */
static int lanes_used(const scree_Colouring *colouring, int colour, int width) {
  return colouring->serial[colour] ? 1 : width;
}

static void place_contact(const scree_Problem *p, scree_LaneLayout *layout, int index, int lane,
                          int c) {
  const int width = layout->width;
  assert(lane >= 0 && lane < width && c < p->nc);
  int *body = layout->body + (size_t)index * 2 * (size_t)width + lane;
  layout->contact[index * width + lane] = c;
  for (int side = 0; side < 2; ++side) {
    const int b = c < 0 ? -1 : p->bodies.body[2 * c + side];
    body[side * width] = b < 0 ? p->bodies.nbodies : b;
  }
}

/* Whether a contact is expected to carry an impulse: it does so at the start, or closes without. */
static bool is_live(const scree_Problem *p, const double *r, int c) {
  const size_t at = (size_t)c * (size_t)p->d;
  return r[at] != 0.0 || p->q[at] < 0.0;
}

/* What a contact is expected to be. */
enum { LEFT_OUT, CLOSED, OPEN };

/* state (of colour k, in its order). Returns how many contacts it has that are closed; *open: the
 * others that are not left out. */
static int judge_colour(const scree_Problem *p, const scree_Colouring *colouring, int k,
                        const double *r, const bool *left_out, unsigned char *state, int *open) {
  int closed = 0;
  *open = 0;
  for (int m = colouring->start[k]; m < colouring->start[k + 1]; ++m) {
    const int c = colouring->order[m];
    state[m] = left_out && left_out[c] ? LEFT_OUT : is_live(p, r, c) ? CLOSED : OPEN;
    closed += state[m] == CLOSED;
    *open += state[m] == OPEN;
  }
  return closed;
}

/* The contacts of colour k in state `wanted`, from batch `index` on. */
static void place_colour(const scree_Problem *p, const scree_Colouring *colouring, int k,
                         unsigned char wanted, const unsigned char *state, scree_LaneLayout *layout,
                         int index) {
  const int used = lanes_used(colouring, k, layout->width);
  int lane = 0;
  for (int m = colouring->start[k]; m < colouring->start[k + 1]; ++m) {
    if (state[m] != wanted) continue;
    place_contact(p, layout, index, lane++, colouring->order[m]);
    if (lane < used) continue;
    for (; lane < layout->width; ++lane) place_contact(p, layout, index, lane, -1);
    lane = 0;
    ++index;
  }
  if (lane == 0) return;
  for (; lane < layout->width; ++lane) place_contact(p, layout, index, lane, -1);
}

/* The closed contacts of colour k, then the open ones. */
static void place_all(const scree_Problem *p, const scree_Colouring *colouring, int k,
                      const unsigned char *state, scree_LaneLayout *layout) {
  place_colour(p, colouring, k, CLOSED, state, layout, layout->start[k]);
  place_colour(p, colouring, k, OPEN, state, layout, layout->open[k]);
}

static int most_batches(const scree_Colouring *colouring, int width) {
  int batches = 0;
  for (int k = 0; k < colouring->colours; ++k) {
    const int n = colouring->start[k + 1] - colouring->start[k];
    const int used = lanes_used(colouring, k, width);
    batches += (n + used - 1) / used + 1; /* two groups are filled up */
  }
  return batches;
}

/* Below this many contacts a team of threads costs more than it saves. */
enum { PARALLEL_CONTACTS = 4000 };

/* Colour by colour, each by one thread. Room: state (nc), closed and open (colours). */
static void fill_layout(const scree_Operator *W, const scree_Colouring *colouring, const double *r,
                        const bool *left_out, unsigned char *state, int *closed, int *open,
                        scree_LaneLayout *layout) {
  const scree_Problem *p = W->problem;
  const int colours = colouring->colours;
  const int threads = p->nc < PARALLEL_CONTACTS ? 1 : W->threads;
  if (threads == 1)
    for (int k = 0; k < colours; ++k)
      closed[k] = judge_colour(p, colouring, k, r, left_out, state, &open[k]);
  else
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int k = 0; k < colours; ++k)
      closed[k] = judge_colour(p, colouring, k, r, left_out, state, &open[k]);
  for (int k = 0; k < colours; ++k) {
    const int used = lanes_used(colouring, k, layout->width);
    layout->open[k] = layout->start[k] + (closed[k] + used - 1) / used;
    layout->start[k + 1] = layout->open[k] + (open[k] + used - 1) / used;
  }
  layout->batches = layout->start[colours];
  if (threads == 1)
    for (int k = 0; k < colours; ++k) place_all(p, colouring, k, state, layout);
  else
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int k = 0; k < colours; ++k) place_all(p, colouring, k, state, layout);
}

scree_Status scree_lane_layout_create(const scree_Operator *W, const scree_Colouring *colouring,
                                      const double *r, const bool *left_out, int width,
                                      scree_Arena *arena, scree_LaneLayout *layout,
                                      const scree_Log *log) {
  /* bodies past the end are prefetched */
  const size_t count = (size_t)most_batches(colouring, width) + SCREE_LANES_AHEAD;
  layout->width = width;
  layout->start = SCREE_TAKE(arena, int, colouring->colours + 1);
  layout->open = SCREE_TAKE(arena, int, colouring->colours);
  layout->contact = SCREE_TAKE_RAW(arena, int, count *(size_t)width);
  layout->body = SCREE_TAKE(arena, int, count * 2 * (size_t)width);
  if (!layout->start || !layout->open || !layout->contact || !layout->body)
    return scree_fail_memory(log, "batches of contacts");
  const scree_ArenaMark mark = scree_arena_mark(arena);
  unsigned char *state = SCREE_TAKE_RAW(arena, unsigned char, W->problem->nc);
  int *closed = SCREE_TAKE_RAW(arena, int, 2 * colouring->colours);
  if (!state || !closed) return scree_fail_memory(log, "batches of contacts");
  fill_layout(W, colouring, r, left_out, state, closed, closed + colouring->colours, layout);
  scree_arena_release(arena, mark);
  return SCREE_OK;
}

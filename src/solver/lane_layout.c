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

/* The contacts of colour k that are live, or those that are not, from batch `index` on. Returns the
 * batch after them. */
static int place_colour(const scree_Problem *p, const scree_Colouring *colouring, int k, bool live,
                        const double *r, const bool *left_out, scree_LaneLayout *layout,
                        int index) {
  const int used = lanes_used(colouring, k, layout->width);
  int lane = 0;
  for (int m = colouring->start[k]; m < colouring->start[k + 1]; ++m) {
    const int c = colouring->order[m];
    if ((left_out && left_out[c]) || is_live(p, r, c) != live) continue;
    place_contact(p, layout, index, lane++, c);
    if (lane < used) continue;
    for (; lane < layout->width; ++lane) place_contact(p, layout, index, lane, -1);
    lane = 0;
    ++index;
  }
  if (lane == 0) return index;
  for (; lane < layout->width; ++lane) place_contact(p, layout, index, lane, -1);
  return index + 1;
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
  int index = 0;
  for (int k = 0; k < colouring->colours; ++k) {
    index = place_colour(W->problem, colouring, k, true, r, left_out, layout, index);
    layout->open[k] = index;
    index = place_colour(W->problem, colouring, k, false, r, left_out, layout, index);
    layout->start[k + 1] = index;
  }
  layout->batches = index;
  return SCREE_OK;
}

/* An order of elimination by node names, and the work of a factorisation (see elimination.h). */
#include "solver/elimination.h"

#include "core/log.h"
#include "core/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Typical number of factorisations of a solve, by which the loss with an old order is estimated: as
 * many as `newton` needs after sweeps (newton_price of policy.c). */
static const double FACTORISATIONS = 4.0;
/* Fraction of the nodes that an order was made for, below which a new order is computed: the loss
 * is compared with the operations for all of them. Not measured; it only matters where bodies are
 * removed. */
static const double FEWER_NODES = 0.8;
/* Ratio of the nodes to those of the last analysed pattern, within which its work is scaled
 * proportionally. The true exponent is between 1 and 2: prices are wrong by a fifth at most. */
static const double LEAST_SIZE = 0.8, MOST_SIZE = 1.2;

/* ---- names -------------------------------------------------------------------------------------
 */

typedef struct Named {
  int id, node;
} Named;

static int compare_names(const void *a, const void *b) {
  const Named *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id)
                        : (x->node > y->node) - (x->node < y->node);
}

/* Nodes sorted by their names. Those of a world are already ascending. */
static void sort_names(int n, const int *id, Named *named) {
  bool ascending = true;
  for (int k = 0; k < n; ++k) {
    named[k] = (Named){.id = id ? id[k] : k, .node = k};
    ascending = ascending && (k == 0 || named[k - 1].id < named[k].id);
  }
  if (!ascending) qsort(named, (size_t)n, sizeof *named, compare_names);
}

/* The node with this name, or -1. */
static int find_name(int n, const Named *named, int id) {
  int lo = 0, hi = n;
  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;
    if (named[mid].id < id)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < n && named[lo].id == id ? named[lo].node : -1;
}

/* ---- the order ---------------------------------------------------------------------------------
 */

/* Operations up to which the order is accepted for n nodes: until its loss, with that of this
 * solve, equals the cost of a new one. */
static double most_operations(const scree_Elimination *e, int n) {
  if (n < FEWER_NODES * e->nodes) return 0.0;
  const double left = scree_factor_order_nanoseconds(n, e->operations) - e->loss;
  const double each = FACTORISATIONS * scree_factor_operations_nanoseconds(1.0);
  return left > 0.0 ? e->operations + left / each : 0.0;
}

bool scree_elimination_is_good(const scree_Elimination *e) {
  return e->current <= most_operations(e, e->analysed);
}

void scree_elimination_use(scree_Elimination *e) {
  const double more = e->current - e->operations;
  if (more > 0.0) e->loss += FACTORISATIONS * scree_factor_operations_nanoseconds(more);
}

scree_Status scree_elimination_propose(const scree_Elimination *e, int n, int nb, const int *id,
                                       scree_Arena *arena, const scree_Log *log,
                                       scree_FactorOrder *order) {
  *order = (scree_FactorOrder){.node = SCREE_TAKE_RAW(arena, int, n)};
  if (!order->node) return scree_fail_memory(log, "an order of elimination");
  order->given = e->count > 0 && e->nb == nb;
  if (!order->given) return SCREE_OK;
  order->most = most_operations(e, n);
  const scree_ArenaMark mark = scree_arena_mark(arena);
  Named *named = SCREE_TAKE_RAW(arena, Named, n);
  uint8_t *placed = SCREE_TAKE(arena, uint8_t, n);
  if (!named || !placed) return scree_fail_memory(log, "an order of elimination");
  sort_names(n, id, named);
  int at = n; /* from the end, so that new nodes come first */
  for (int k = e->count - 1; k >= 0; --k) {
    const int node = find_name(n, named, e->id[k]);
    if (node < 0 || placed[node]) continue;
    placed[node] = 1;
    order->node[--at] = node;
  }
  for (int k = n - 1; k >= 0; --k)
    if (!placed[k]) order->node[--at] = k;
  scree_arena_release(arena, mark);
  return SCREE_OK;
}

scree_Status scree_elimination_remember(scree_Elimination *e, int n, int nb, const int *id,
                                        const scree_FactorOrder *order, const scree_Factor *factor,
                                        const scree_Log *log) {
  if (!scree_grow((void **)&e->id, &e->capacity, (size_t)n, sizeof *e->id))
    return scree_fail_memory(log, "an order of elimination");
  for (int k = 0; k < n; ++k) e->id[k] = id ? id[order->node[k]] : order->node[k];
  e->count = n;
  if (order->fresh) {
    e->nodes = n;
    e->operations = order->operations;
    e->loss = 0.0;
  }
  e->current = order->operations;
  e->nb = nb;
  e->analysed = n;
  e->flops = scree_factor_flops(factor);
  e->entries = (double)scree_factor_entries(factor);
  return SCREE_OK;
}

bool scree_elimination_work(const scree_Elimination *e, int n, int nb, double *flops,
                            double *entries) {
  const double ratio = e->analysed > 0 ? (double)n / e->analysed : 0.0;
  if (e->nb != nb || !(ratio >= LEAST_SIZE && ratio <= MOST_SIZE)) return false;
  *flops = ratio * e->flops;
  *entries = ratio * e->entries;
  return true;
}

void scree_elimination_fini(scree_Elimination *e) {
  scree_free(e->id);
  *e = (scree_Elimination){0};
}

void scree_elimination_forget(scree_Elimination *e) {
  *e = (scree_Elimination){.id = e->id, .capacity = e->capacity};
}

/* ---- saving ------------------------------------------------------------------------------------
 */

typedef struct Saved {
  int32_t count, nodes, nb, analysed;
  double operations, current, loss, flops, entries;
} Saved;

size_t scree_elimination_size(const scree_Elimination *e) {
  return sizeof(Saved) + (size_t)e->count * sizeof(int32_t);
}

char *scree_elimination_save(const scree_Elimination *e, char *buffer) {
  _Static_assert(sizeof(int) == sizeof(int32_t), "names are written as they are");
  const Saved saved = {e->count,   e->nodes, e->nb,    e->analysed, e->operations,
                       e->current, e->loss,  e->flops, e->entries};
  memcpy(buffer, &saved, sizeof saved);
  if (e->count) memcpy(buffer + sizeof saved, e->id, (size_t)e->count * sizeof *e->id);
  return buffer + scree_elimination_size(e);
}

static bool is_sound(const Saved *s, size_t bytes) {
  const double numbers[] = {s->operations, s->current, s->loss, s->flops, s->entries};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k)
    if (!(numbers[k] >= 0.0 && isfinite(numbers[k]))) return false;
  return s->count >= 0 && (size_t)s->count <= bytes / sizeof(int32_t) && s->nodes >= 0 &&
         s->nb >= 0 && s->analysed >= 0;
}

const char *scree_elimination_check(const char *buffer, const char *end) {
  Saved saved;
  if ((size_t)(end - buffer) < sizeof saved) return NULL;
  memcpy(&saved, buffer, sizeof saved);
  buffer += sizeof saved;
  if (!is_sound(&saved, (size_t)(end - buffer))) return NULL;
  return buffer + (size_t)saved.count * sizeof(int32_t);
}

scree_Status scree_elimination_restore(scree_Elimination *e, const char *buffer,
                                       const scree_Log *log) {
  Saved saved;
  memcpy(&saved, buffer, sizeof saved);
  const size_t count = (size_t)saved.count;
  if (!scree_grow((void **)&e->id, &e->capacity, count, sizeof *e->id))
    return scree_fail_memory(log, "an order of elimination");
  if (count) memcpy(e->id, buffer + sizeof saved, count * sizeof *e->id);
  e->count = saved.count;
  e->nodes = saved.nodes;
  e->nb = saved.nb;
  e->analysed = saved.analysed;
  e->operations = saved.operations;
  e->current = saved.current;
  e->loss = saved.loss;
  e->flops = saved.flops;
  e->entries = saved.entries;
  return SCREE_OK;
}

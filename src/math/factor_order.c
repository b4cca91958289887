/* The order of elimination and the fronts (step 1 of factor_internal.h).
 *
 * The elimination tree of an order is found as by Liu (path compression), the number of nodes each
 * column touches by walking the row subtrees. Then every node is a front of its own, and from the
 * leaves up each front takes in those children with which it is cheaper as one dense front than
 * apart. The cost of a front of P pivots and M other numbers is modelled in units of one
 * multiplication and addition at full speed,
 *     cost(P, M) = c0 + c1 (P + M)^2 + P^3 / 3 + P^2 M + P M^2,
 * with c0 the fixed cost of a front, and c1 the cost per number cleared, summed and passed on. A
 * child that touches exactly its parent and the nodes that its parent touches adds no zeros and is
 * always merged. */
#include "math/factor_internal.h"

#include <amd.h>
#include <limits.h>
#include <math.h>
#include <metis.h>
#include <string.h>

#include "core/log.h"

static const double COST_FRONT = 1500.0; /* c0, measured */
static const double COST_NUMBER = 6.0;   /* c1, measured; both are flat around here */

/* AMD and its analysis cost about 0.5 us per node, METIS 4 to 8 us. METIS saved half of the
 * operations of 4000 spheres, and nothing in the plane or below 1000 nodes; so it is tried where
 * operations are many. */
static const double DISSECT_OPERATIONS = 2e5; /* of one factorisation, per node */
enum { DISSECT_MIN = 1000, METIS_SEED = 1 };
enum { AMD_NANOSECONDS = 500, METIS_NANOSECONDS = 6000 }; /* per node */
static const double OPERATIONS_PER_NANOSECOND = 10.0;

/* Working data from the pattern to the tree. All arrays (n) unless stated. */
typedef struct Ordering {
  scree_Arena *scratch;
  int n, nb;
  double work;   /* multiplications and additions per number: 1 symmetric, 2 unsymmetric */
  int *begin;    /* (n + 1) the graph without its diagonal */
  int *adjacent; /* (begin[n]) */
  int *order;    /* the caller's node at each position; then by fronts */
  int *position; /* its inverse */
  int *parent;   /* elimination tree, by position; -1 at a root */
  int *count;    /* later nodes that a column touches */
  int *mark;
  int *head, *next; /* lists of children */
  int *pivots;      /* of the front that ends with this node; 0 when it was taken in */
  int *front;       /* the front that a node belongs to, by its last node */
  int *list;
  int *kept; /* the best order so far */
  double *gain;
  size_t *peak; /* most numbers on the stack while a subtree is worked on */
} Ordering;

static bool ordering_init(Ordering *o, int n, const size_t *row) {
  scree_Arena *scratch = o->scratch;
  o->begin = SCREE_TAKE(scratch, int, n + 1);
  o->adjacent = SCREE_TAKE_RAW(scratch, int, row[n]);
  int **arrays[] = {&o->order, &o->position, &o->parent, &o->count, &o->mark, &o->head,
                    &o->next,  &o->pivots,   &o->front,  &o->list,  &o->kept};
  bool enough = o->begin && o->adjacent;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k)
    enough = (*arrays[k] = SCREE_TAKE_RAW(scratch, int, n)) && enough;
  o->gain = SCREE_TAKE_RAW(scratch, double, n);
  o->peak = SCREE_TAKE_RAW(scratch, size_t, n);
  return enough && o->gain && o->peak;
}

static void graph_fill(Ordering *o, const size_t *row, const int *col) {
  int end = 0;
  for (int i = 0; i < o->n; ++i) {
    for (size_t k = row[i]; k < row[i + 1]; ++k) {
      if (col[k] != i) o->adjacent[end++] = col[k];
    }
    o->begin[i + 1] = end;
  }
}

/* Positions, elimination tree and counts of the order; returns the operations of a factorisation
 * (symmetric). */
static double tree_grow(Ordering *o) {
  int *ancestor = o->head;
  for (int k = 0; k < o->n; ++k) o->position[o->order[k]] = k;
  for (int k = 0; k < o->n; ++k) {
    o->parent[k] = -1;
    ancestor[k] = -1;
    const int node = o->order[k];
    for (int e = o->begin[node]; e < o->begin[node + 1]; ++e) {
      int j = o->position[o->adjacent[e]];
      while (j < k && j != -1) { /* up to the root of its subtree so far */
        const int up = ancestor[j];
        ancestor[j] = k;
        if (up == -1) o->parent[j] = k;
        if (up == k) break;
        j = up;
      }
    }
  }
  memset(o->count, 0, (size_t)o->n * sizeof *o->count);
  for (int k = 0; k < o->n; ++k) o->mark[k] = -1;
  for (int k = 0; k < o->n; ++k) {
    const int node = o->order[k];
    o->mark[k] = k;
    for (int e = o->begin[node]; e < o->begin[node + 1]; ++e) {
      for (int j = o->position[o->adjacent[e]]; j < k && o->mark[j] != k; j = o->parent[j]) {
        ++o->count[j];
        o->mark[j] = k;
      }
    }
  }
  double operations = 0.0;
  for (int k = 0; k < o->n; ++k) {
    const double touched = 1.0 + o->count[k];
    operations += touched * touched;
  }
  return operations * pow(o->nb, 3.0);
}

/* AMD's inner routine, which allocates nothing and destroys its input; amd_order would allocate,
 * make a copy of the pattern as here, and call it. */
static scree_Status order_amd(Ordering *o, const scree_Log *log) {
  const scree_ArenaMark mark = scree_arena_mark(o->scratch);
  const size_t n = (size_t)o->n, entries = (size_t)o->begin[o->n];
  const size_t length = entries + entries / 5 + n; /* with the elbow room that amd_order gives */
  int *lists = SCREE_TAKE_RAW(o->scratch, int, length), *work[9];
  bool enough = lists && length <= (size_t)INT_MAX;
  for (int k = 0; k < 9; ++k) enough = (work[k] = SCREE_TAKE_RAW(o->scratch, int, n)) && enough;
  if (enough) {
    int *start = work[0], *size = work[1], *inverse = work[3], *last = work[4];
    for (size_t i = 0; i < n; ++i) {
      start[i] = o->begin[i];
      size[i] = o->begin[i + 1] - o->begin[i];
    }
    if (entries) memcpy(lists, o->adjacent, entries * sizeof *lists);
    double info[AMD_INFO];
    amd_2(o->n, start, lists, size, (int)length, (int)entries, work[2], inverse, last, work[5],
          work[6], work[7], work[8], NULL, info);
    memcpy(o->order, last, n * sizeof *last);
  }
  scree_arena_release(o->scratch, mark);
  return enough ? SCREE_OK : scree_fail_memory(log, "order of elimination (AMD)");
}

static scree_Status order_metis(Ordering *o, const scree_Log *log) {
  _Static_assert(sizeof(idx_t) == sizeof(int), "METIS with 32-bit indices");
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = METIS_SEED;
  idx_t n = o->n;
  if (METIS_NodeND(&n, o->begin, o->adjacent, NULL, options, o->order, o->position) != METIS_OK)
    return scree_fail(log, SCREE_MACHINE, "factorisation: METIS failed on a graph of %d nodes",
                      o->n);
  return SCREE_OK;
}

static bool tries_metis(int n, double operations) {
  return n >= DISSECT_MIN && operations >= DISSECT_OPERATIONS * n;
}

double scree_factor_order_nanoseconds(int n, double operations) {
  return (double)n * (AMD_NANOSECONDS + (tries_metis(n, operations) ? METIS_NANOSECONDS : 0));
}

double scree_factor_operations_nanoseconds(double operations) {
  return operations / OPERATIONS_PER_NANOSECOND;
}

/* Take the order at hand if it needs less than *operations, and otherwise go back to the kept one.
 */
static void order_compare(Ordering *o, double *operations) {
  const double found = tree_grow(o);
  if (found < *operations) {
    *operations = found;
  } else {
    memcpy(o->order, o->kept, (size_t)o->n * sizeof *o->order);
    tree_grow(o);
  }
}

static void order_keep(Ordering *o) {
  memcpy(o->kept, o->order, (size_t)o->n * sizeof *o->kept);
}

/* AMD, or METIS where it is tried and saves operations; or the order that is given, where that
 * needs few enough, or fewer than both. */
static scree_Status order_choose(Ordering *o, const scree_FactorOrder *given, const scree_Log *log,
                                 double *operations, bool *fresh) {
  const bool has = given && given->given;
  *fresh = true;
  if (has) {
    memcpy(o->order, given->node, (size_t)o->n * sizeof *o->order);
    *operations = tree_grow(o);
    *fresh = !(*operations <= given->most);
    if (!*fresh) return SCREE_OK;
    order_keep(o);
  }
  scree_Status status = order_amd(o, log);
  if (status != SCREE_OK) return status;
  if (has)
    order_compare(o, operations);
  else
    *operations = tree_grow(o);
  if (!tries_metis(o->n, *operations)) return SCREE_OK;
  order_keep(o);
  status = order_metis(o, log);
  if (status == SCREE_OK) order_compare(o, operations);
  return status;
}

static double cost(const Ordering *o, int pivots, int rest) {
  const double p = (double)(pivots * o->nb), m = (double)((rest * o->nb + 3) & ~3);
  const double work = p * p * p / 3.0 + p * p * m + p * m * m;
  return COST_FRONT + o->work * (COST_NUMBER * (p + m) * (p + m) + work);
}

/* Children by falling gain, then by number: the first of a few are decided first. */
static void sort_by_gain(const Ordering *o, int count, int *list) {
  for (int gap = count / 2; gap > 0; gap /= 2) {
    for (int i = gap; i < count; ++i) {
      const int child = list[i];
      int j = i;
      for (; j >= gap; j -= gap) {
        const int other = list[j - gap];
        if (o->gain[other] > o->gain[child] || (o->gain[other] == o->gain[child] && other < child))
          break;
        list[j] = other;
      }
      list[j] = child;
    }
  }
}

/* Merge children into parents. Afterwards pivots[k] > 0 marks the fronts (k their last node), head
 * and next list each front's children. */
static void fronts_merge(Ordering *o) {
  const int n = o->n;
  for (int k = 0; k < n; ++k) o->pivots[k] = 1, o->front[k] = k, o->head[k] = -1;
  for (int k = 0; k < n; ++k) {
    int children = 0;
    for (int c = o->head[k]; c != -1; c = o->next[c]) {
      o->gain[c] = cost(o, o->pivots[c], o->count[c]) + cost(o, 1, o->count[k]) -
                   cost(o, o->pivots[c] + 1, o->count[k]);
      o->list[children++] = c;
    }
    sort_by_gain(o, children, o->list);
    o->head[k] = -1;
    for (int i = 0; i < children; ++i) {
      const int c = o->list[i];
      const double gain = cost(o, o->pivots[c], o->count[c]) + cost(o, o->pivots[k], o->count[k]) -
                          cost(o, o->pivots[c] + o->pivots[k], o->count[k]);
      /* A front that touches all but a few numbers is merged in any case: `solve` relies on it. */
      if (gain > 0.0 || (o->n - o->count[c]) * o->nb < 2 * SCREE_TILE) {
        o->pivots[k] += o->pivots[c];
        o->pivots[c] = 0;
        o->front[c] = k;
        for (int g = o->head[c], after; g != -1;
             g = after) { /* its children become children of the merged front */
          after = o->next[g];
          o->next[g] = o->head[k];
          o->head[k] = g;
        }
      } else {
        o->next[c] = o->head[k];
        o->head[k] = c;
      }
    }
    if (o->parent[k] != -1) {
      o->next[k] = o->head[o->parent[k]];
      o->head[o->parent[k]] = k;
    }
  }
  for (int k = n - 1; k >= 0; --k) o->front[k] = o->front[o->front[k]]; /* parents come later */
}

static size_t update_size(const Ordering *o, int front) {
  const size_t m = ((size_t)o->count[front] * (size_t)o->nb + 3) & ~(size_t)3;
  return m * m;
}

/* The stack is smallest when children come by falling (peak - update): Liu 1986. */
static void children_sort(Ordering *o, int k) {
  int children = 0;
  for (int c = o->head[k]; c != -1; c = o->next[c]) {
    o->gain[c] = (double)(o->peak[c] - update_size(o, c));
    o->list[children++] = c;
  }
  sort_by_gain(o, children, o->list);
  size_t below = 0, peak = update_size(o, k);
  for (int i = 0; i < children; ++i) {
    const int c = o->list[i];
    if (below + o->peak[c] > peak) peak = below + o->peak[c];
    below += update_size(o, c);
    o->next[c] = i + 1 < children ? o->list[i + 1] : -1;
  }
  o->head[k] = children ? o->list[0] : -1;
  o->peak[k] = peak;
}

/* Number the fronts in postorder (mark: the number of a front, by its last node) and fill the tree.
 */
static void fronts_number(Ordering *o, scree_FactorTree *tree) {
  int fronts = 0;
  for (int k = 0; k < o->n; ++k) {
    if (o->pivots[k] > 0) children_sort(o, k);
  }
  for (int k = 0; k < o->n; ++k) {
    if (o->pivots[k] == 0 || o->parent[k] != -1) continue;
    int depth = 0; /* position is free here: the path from the root */
    int *path = o->position;
    path[0] = k;
    while (depth >= 0) {
      const int top = path[depth];
      if (o->head[top] != -1) {
        path[++depth] = o->head[top];
        o->head[top] = o->next[path[depth]];
      } else {
        o->mark[top] = fronts;
        tree->pivots[fronts] = o->pivots[top];
        tree->rest[fronts++] = o->count[top];
        --depth;
      }
    }
  }
  tree->fronts = fronts;
  for (int k = 0; k < o->n; ++k) {
    if (o->pivots[k] > 0)
      tree->parent[o->mark[k]] = o->parent[k] == -1 ? -1 : o->mark[o->front[o->parent[k]]];
  }
  int *start = o->list, sum = 0;
  for (int f = 0; f < fronts; ++f) start[f] = sum, sum += tree->pivots[f];
  for (int k = 0; k < o->n; ++k) tree->order[start[o->mark[o->front[k]]]++] = o->order[k];
}

scree_Status scree_factor_order(scree_Arena *scratch, int n, int nb, const size_t *row,
                                const int *col, scree_FactorKind kind, scree_FactorOrder *order,
                                const scree_Log *log, scree_FactorTree *tree) {
  *tree = (scree_FactorTree){0};
  if (row[n] > (size_t)INT_MAX)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "factorisation: the pattern has %zu blocks, expected at most %d", row[n],
                      INT_MAX);
  Ordering o = {
      .scratch = scratch, .n = n, .nb = nb, .work = kind == SCREE_FACTOR_SYMMETRIC ? 1.0 : 2.0};
  tree->order = SCREE_TAKE_RAW(scratch, int, n);
  tree->pivots = SCREE_TAKE_RAW(scratch, int, n);
  tree->rest = SCREE_TAKE_RAW(scratch, int, n);
  tree->parent = SCREE_TAKE_RAW(scratch, int, n);
  if (!ordering_init(&o, n, row) || !tree->order || !tree->pivots || !tree->rest || !tree->parent)
    return scree_fail_memory(log, "order of elimination");
  double operations = 0.0;
  bool fresh = true;
  if (n > 0) {
    graph_fill(&o, row, col);
    const scree_Status status = order_choose(&o, order, log, &operations, &fresh);
    if (status != SCREE_OK) return status;
    if (order) memcpy(order->node, o.order, (size_t)n * sizeof *order->node);
    fronts_merge(&o);
    fronts_number(&o, tree);
  }
  if (order) {
    order->operations = operations;
    order->fresh = fresh;
  }
  return SCREE_OK;
}

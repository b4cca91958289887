/* Sweeps of Gauss-Seidel (see sweep.h).
 *
 * Order. Problems with many contacts are coloured (colouring.h), so that threads change only the
 * time, and so are medium ones if contacts can be visited four at a time (lanes.h); small ones are
 * visited in their own order. The choice depends on the problem alone. Constraints of any size come
 * after the contacts, one by one.
 *
 * At the end of a call the velocities are computed from those of the vertices, and these are
 * recomputed from r at intervals, so that round-off does not accumulate. */
#include "solver/sweep.h"

#include "core/log.h"
#include "problem/general.h"
#include "solver/lanes.h"
#include "solver/local_exact.h"

#include <math.h>
#include <omp.h>

enum { COLOURED_CONTACTS = 1500, LANED_CONTACTS = 64, PARALLEL_COLOUR = 256, PREFETCH = 3 };
enum { FRESH_SWEEPS = 100 };   /* after which the velocities of vertices are recomputed */
enum { POLL_VISITS = 100000 }; /* of constraints between two polls, at most about 0.1 s */

struct scree_Sweeps {
  scree_SweepSettings settings;
  const scree_Colouring *order; /* of the contacts, kept with the graph */
  scree_Lanes lanes;
  bool in_lanes;
  double *y;        /* state of W */
  int stale;        /* sweeps since y was computed from r */
  scree_Poll *poll; /* of the run */
};

/* The change of one sweep (000 (4.15)). Maxima do not depend on the order. */
typedef scree_SweepChange Change;

/* ---- one contact ------------------------------------------------------------------------------
 */

SCREE_INLINE void visit(const scree_Sweeps *state, const scree_Operator *W, scree_OperatorKind kind,
                        int d, int nb, bool exact_cone, int c, double *r, Change *change) {
  const scree_Problem *p = W->problem;
  const size_t at = (size_t)c * (size_t)d;
  double room[9];
  const double *Wcc = scree_contact_diagonal(W, d, c, room);
  double u[3], next[3], dr[3], *rc = r + at;
  scree_contact_velocity(W, kind, d, nb, c, r, state->y, p->q, u);
  if (exact_cone) {
    double q[3];
    for (int i = 0; i < d; ++i) {
      q[i] = u[i];
      for (int j = 0; j < d; ++j) q[i] -= Wcc[i * d + j] * rc[j];
    }
    scree_exact_coulomb(d, Wcc, p->mu[c], q, rc, next);
  } else if (state->settings.local == &scree_local_exact) {
    const scree_Set set = scree_problem_set(p, c);
    double q[3];
    for (int i = 0; i < d; ++i) {
      q[i] = u[i];
      for (int j = 0; j < d; ++j) q[i] -= Wcc[i * d + j] * rc[j];
    }
    if (p->flow_blocks)
      scree_exact_flow(&set, d, p->flow_blocks + at * (size_t)d, Wcc, q, rc, next);
    else
      scree_exact_solve(&set, p->flow, d, Wcc, q, rc, next);
  } else {
    const double mu = p->set && p->set[c] == SCREE_SET_HALF_LINE ? 0.0 : p->mu[c];
    state->settings.local->solve(&state->settings.parameters, d, Wcc, mu, u, rc, next);
  }
  double tangent = 0.0;
  for (int i = 0; i < d; ++i) {
    dr[i] = next[i] - rc[i];
    rc[i] = next[i];
    if (i) tangent += dr[i] * dr[i];
  }
  scree_contact_update(W, kind, d, nb, c, dr, state->y);
  if (fabs(dr[0]) > change->normal) change->normal = fabs(dr[0]);
  if (tangent > change->tangent2) change->tangent2 = tangent;
}

SCREE_INLINE Change visit_list(const scree_Sweeps *state, const scree_Operator *W,
                               scree_OperatorKind kind, int d, int nb, bool exact_cone,
                               const int *list, int n, double *r) {
  Change change = {0.0, 0.0};
  for (int k = 0; k < n; ++k) {
    if (k + PREFETCH < n) scree_contact_prefetch(W, kind, d, nb, list[k + PREFETCH], state->y);
    visit(state, W, kind, d, nb, exact_cone, list[k], r, &change);
  }
  return change;
}

/* The instances that the compiler unrolls; all other cases take the last line of each block. */
SCREE_CLONES static Change visit_all(const scree_Sweeps *state, const scree_Operator *W,
                                     const int *list, int n, double *r) {
  const scree_Problem *p = W->problem;
  const int d = p->d, nb = p->bodies.nb;
  const bool cone =
      state->settings.local == &scree_local_exact && p->flow == SCREE_COULOMB && W->plain_cones;
  if (p->kind == SCREE_ASSEMBLED) {
    if (d == 3 && cone) return visit_list(state, W, SCREE_ASSEMBLED, 3, 0, true, list, n, r);
    if (d == 2 && cone) return visit_list(state, W, SCREE_ASSEMBLED, 2, 0, true, list, n, r);
    if (d == 3) return visit_list(state, W, SCREE_ASSEMBLED, 3, 0, false, list, n, r);
    return visit_list(state, W, SCREE_ASSEMBLED, 2, 0, false, list, n, r);
  }
  if (d == 3 && nb == 6 && cone) return visit_list(state, W, SCREE_BODIES, 3, 6, true, list, n, r);
  if (d == 2 && nb == 3 && cone) return visit_list(state, W, SCREE_BODIES, 2, 3, true, list, n, r);
  return visit_list(state, W, SCREE_BODIES, d, nb, false, list, n, r);
}

/* A constraint of any size, with the exact local solution; `state` holds the velocities. */
static void visit_general(const scree_Operator *W, int k, const scree_VertexState *state, double *r,
                          Change *change) {
  const scree_Problem *p = W->problem;
  const int c = p->nc + k, d = scree_rows_of(W, c);
  const double *Wcc = W->general_diagonal + W->square[k];
  const scree_Set set = scree_problem_set(p, c);
  double u[SCREE_ROWS_MAX], next[SCREE_ROWS_MAX], *rc = r + p->general.row[k];
  double largest = 0.0;
  scree_general_velocity(W, k, r, state, u);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) u[i] -= Wcc[i * d + j] * rc[j];
  scree_exact_solve(&set, p->flow, d, Wcc, u, rc, next);
  for (int i = 0; i < d; ++i) {
    const double dr = next[i] - rc[i];
    rc[i] = next[i];
    next[i] = dr;
    largest = fmax(largest, fabs(dr));
  }
  scree_general_move(W, k, next, state);
  change->normal = fmax(change->normal, largest);
}

static void widen(Change *total, const Change *part) {
  total->normal = fmax(total->normal, part->normal);
  total->tangent2 = fmax(total->tangent2, part->tangent2);
}

/* ---- one sweep --------------------------------------------------------------------------------
 */

/* Items first .. last-1 of the order: batches in lanes, else contacts. */
static Change visit_items(scree_Sweeps *state, const scree_Operator *W, int first, int last,
                          double *r) {
  if (state->in_lanes) return scree_lanes_visit(&state->lanes, first, last);
  return visit_all(state, W, state->order->order + first, last - first, r);
}

static Change sweep_serial(scree_Sweeps *state, const scree_Operator *W, double *r) {
  const int *start = state->in_lanes ? state->lanes.start : state->order->start;
  return visit_items(state, W, 0, start[state->order->colours], r);
}

static Change sweep_parallel(scree_Sweeps *state, const scree_Operator *W, double *r) {
  const scree_Colouring *colouring = state->order;
  const int *start = state->in_lanes ? state->lanes.start : colouring->start;
  Change total = {0.0, 0.0};
#pragma omp parallel num_threads(W->threads)
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    Change mine = {0.0, 0.0};
    for (int k = 0; k < colouring->colours; ++k) {
      const int contacts = colouring->start[k + 1] - colouring->start[k];
      const int n = start[k + 1] - start[k];
      const bool alone = colouring->serial[k] || contacts < PARALLEL_COLOUR;
      const int lo = alone ? (me ? n : 0) : (int)((long long)n * me / threads);
      const int hi = alone ? n : (int)((long long)n * (me + 1) / threads);
      const Change part = visit_items(state, W, start[k] + lo, start[k] + hi, r);
      widen(&mine, &part);
#pragma omp barrier
    }
#pragma omp critical
    widen(&total, &mine);
  }
  return total;
}

/* One sweep: the contacts, then the constraints of any size, one after the other. */
static Change sweep_all(scree_Sweeps *state, const scree_Operator *W, bool parallel, double *r) {
  Change change = parallel ? sweep_parallel(state, W, r) : sweep_serial(state, W, r);
  if (!W->problem->general.count) return change;
  scree_VertexState vertices = scree_vertex_state(W, state->y);
  if (state->in_lanes) {
    vertices.bodies = state->lanes.y;
    vertices.stride = (size_t)state->lanes.stride;
  }
  for (int k = 0; k < W->problem->general.count; ++k) visit_general(W, k, &vertices, r, &change);
  return change;
}

/* ---- create and destroy -----------------------------------------------------------------------
 */

scree_SweepSettings scree_sweep_settings(void) {
  return (scree_SweepSettings){.local = &scree_local_exact};
}

/* The order of the visits, and the lanes if they are used. */
static scree_Status prepare_order(scree_Sweeps *state, const scree_SolveRun *run,
                                  scree_Arena *arena) {
  const scree_Operator *W = run->W;
  scree_KeptGraph *graph = &run->cache->graph;
  const scree_SweepOrder order = state->settings.order;
  const bool lanes = state->settings.local == &scree_local_exact && scree_lanes_fit(W);
  const int enough = lanes ? LANED_CONTACTS : COLOURED_CONTACTS;
  const bool coloured =
      order == SCREE_ORDER_COLOURED || (order == SCREE_ORDER_AUTO && W->problem->nc >= enough);
  state->in_lanes = coloured && lanes;
  scree_Status status = scree_kept_graph_order(graph, W, coloured, run->log, &state->order);
  if (status || !state->in_lanes) return status;
  const scree_LaneLayout *layout;
  status = scree_kept_graph_layout(graph, W, run->log, &layout);
  if (!status) status = scree_lanes_create(W, state->order, layout, arena, &state->lanes, run->log);
  return status;
}

scree_Status scree_sweeps_create(const scree_SolveRun *run, const scree_SweepSettings *settings,
                                 scree_Arena *arena, scree_Sweeps **out) {
  const scree_Operator *W = run->W;
  *out = NULL;
  scree_Sweeps *state = SCREE_TAKE(arena, scree_Sweeps, 1);
  if (!state) return scree_fail_memory(run->log, "sweeps");
  state->settings = *settings;
  state->settings.parameters.law = W->problem->flow;
  state->poll = run->poll;
  state->y = SCREE_TAKE(arena, double, W->state_size);
  if (!state->y) return scree_fail_memory(run->log, "the velocities of vertices");
  const scree_Status status = prepare_order(state, run, arena);
  if (!status) *out = state;
  return status;
}

void scree_sweeps_start(scree_Sweeps *state, const scree_Operator *W, const double *r, double *u) {
  scree_operator_apply(W, r, W->problem->q, state->y, u);
  state->stale = 0;
}

double scree_sweeps_run(scree_Sweeps *sweeps, const scree_Operator *W, int count, double small,
                        double relaxation, bool resume, double *r, double *u, int *done) {
  sweeps->lanes.relaxation = relaxation;
  const bool parallel =
      W->threads > 1 && sweeps->order->colours > 1 && W->problem->nc >= COLOURED_CONTACTS;
  double change = INFINITY;
  long long visits = 0;
  if (!resume) {
    scree_operator_state(W, r, sweeps->y);
    sweeps->stale = 0;
  }
  if (sweeps->in_lanes) scree_lanes_set(&sweeps->lanes, r, sweeps->y, W->threads);
  for (*done = 0; *done < count && !(change <= small); ++*done) { /* also when not a number */
    const Change last = sweep_all(sweeps, W, parallel, r);
    change = last.normal + sqrt(last.tangent2);
    if ((visits += W->constraints) < POLL_VISITS) continue;
    visits = 0;
    if (scree_poll(sweeps->poll)) count = *done; /* the run ends at its next measurement */
  }
  if (sweeps->in_lanes) scree_lanes_get(&sweeps->lanes, r, W->threads);
  sweeps->stale += *done;
  /* the visits update coupled vertices only where constraints touch them */
  if (sweeps->in_lanes && sweeps->stale < FRESH_SWEEPS && !W->coupling) {
    scree_lanes_state(&sweeps->lanes, sweeps->y, W->threads);
  } else {
    scree_operator_state(W, r, sweeps->y);
    sweeps->stale = 0;
  }
  scree_operator_velocity(W, r, sweeps->y, W->problem->q, u);
  return change;
}

bool scree_sweeps_balls(const scree_Sweeps *state) {
  return state->in_lanes && state->lanes.balls;
}

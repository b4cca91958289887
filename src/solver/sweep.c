/* Sweeps of Gauss-Seidel (see sweep.h).
 *
 * Order. Problems with many contacts are coloured (colouring.h), so that threads change only the
 * time, and so are medium ones if contacts can be visited four at a time (lanes.h); small ones are
 * visited in their own order. The choice depends on the problem alone. Constraints of any size come
 * after the contacts, one by one; those that hold their vertices together come last, as one
 * (mechanism.h).
 *
 * Several ranks (problem/division.h). Exact sweeps visit the contacts of all ranks in one order,
 * that of the colouring of the whole problem: after each colour the velocities that its visits
 * changed are sent to the ranks that hold them, so that the iterates are those of one rank up to
 * round-off. Relaxed sweeps exchange nothing until the sweep ends; then the change of every contact
 * whose bodies m ranks hold is divided by m. Contacts of m ranks on one body add up m changes that
 * each was meant to be the whole one, and W <= m blockdiag(W) makes the divided step one of
 * descent.
 *
 * At the end of a call the velocities are computed from those of the vertices, and these are
 * recomputed from r at intervals, so that round-off does not accumulate. */
#include "core/barrier.h"
#include "core/clock.h"
#include "core/log.h"
#include "problem/general.h"
#include "solver/local_exact.h"
#include "solver/sweep_state.h"

#include <assert.h>
#include <math.h>
#include <omp.h>

enum { PARALLEL_COLOUR = 256, PREFETCH = 3 };
/* Sweeps after which the velocities of vertices are recomputed; in single precision with a base,
 * where each move by momentum rounds impulses */
enum { FRESH_SWEEPS = 100, FRESH_BASE = 48 };
enum { POLL_VISITS = 100000 }; /* of constraints between two polls, at most about 0.1 s */

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
  Change change = {.visited = n};
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
  total->visited += part->visited;
}

/* ---- one sweep --------------------------------------------------------------------------------
 */

/* Where the items of each colour begin. */
static const int *item_starts(const scree_Sweeps *state) {
  if (state->singles) return state->singles->layout.start;
  return state->in_lanes ? state->lanes.start : state->order->start;
}

/* The item of colour k from which contacts are expected to stay open, or its end. */
static int open_start(const scree_Sweeps *state, int k) {
  if (state->singles) return state->singles->layout.open[k];
  return state->in_lanes ? state->lanes.open[k] : state->order->start[k + 1];
}

/* Items first .. last-1 of the order: batches in lanes, else contacts. momentum: b of this sweep,
 * or null. */
SCREE_INLINE Change visit_items(scree_Sweeps *state, const scree_Operator *W, int first, int last,
                                const double *momentum, double *r) {
  if (state->singles) return scree_singles_visit(state->singles, first, last, momentum);
  if (state->in_lanes) return scree_lanes_visit(&state->lanes, first, last);
  return visit_all(state, W, state->order->order + first, last - first, r);
}

/* The constraints of any size: one after the other, then those of mechanisms together; between
 * ranks these follow when velocities are complete (sweep_relaxed). */
static void visit_generals(scree_Sweeps *state, const scree_Operator *W, double *r,
                           Change *change) {
  scree_VertexState vertices = scree_vertex_state(W, state->y);
  if (state->in_lanes) {
    vertices.bodies = state->lanes.y;
    vertices.stride = (size_t)state->lanes.stride;
  }
  scree_Mechanisms *mechanisms = state->mechanisms;
  for (int k = 0; k < W->problem->general.count; ++k)
    if (!mechanisms || !mechanisms->holds[k]) visit_general(W, k, &vertices, r, change);
  if (!mechanisms || scree_is_divided(W)) return;
  change->normal = fmax(change->normal, scree_mechanisms_visit(mechanisms, W, &vertices, r));
}

/* A group of sweeps: at most `count`, until the change of one is at most `small`. */
typedef struct Group {
  int count;
  double small;
  int done;
  double change;   /* of the last sweep */
  double left_out; /* visits that pauses have saved, in sweeps */
  long long visits;
  const scree_Momentum *momentum; /* or null */
  scree_MomentumState speed;
} Group;

/* Count a sweep. False: it was the last. *poll: it is time to ask whether to stop. */
SCREE_INLINE bool count_sweep(const scree_Sweeps *state, const scree_Operator *W,
                              const Change *change, Group *group, bool *poll) {
  ++group->done;
  if (scree_sweeps_batched(state) && !scree_is_divided(W))
    group->left_out += 1.0 - change->visited / (double)item_starts(state)[state->order->colours];
  group->change = change->normal + sqrt(change->tangent2);
  group->visits += scree_all_constraints(W);
  *poll = group->visits >= POLL_VISITS;
  if (*poll) group->visits = 0;
  return group->done < group->count && !(group->change <= group->small); /* or not a number */
}

/* Stage by stage on several ranks, with an exchange after each. */
static Change visit_stages(scree_Sweeps *state, const scree_Operator *W, const int *start,
                           double *r) {
  double *y = state->in_lanes ? state->lanes.y : state->y;
  const size_t stride = state->in_lanes ? (size_t)state->lanes.stride : (size_t)W->halo->size;
  Change total = {0};
  for (int k = 0; k < state->order->colours; ++k) {
    const Change part = visit_items(state, W, start[k], start[k + 1], NULL, r);
    widen(&total, &part);
    scree_halo_exchange(W->halo, &state->stages.lists[k], y, stride);
  }
  return total;
}

/* The largest change of all ranks. */
static void widen_ranks(const scree_Operator *W, Change *change) {
  const int ranks = scree_ranks_count(scree_ranks_of(W));
  if (ranks == 1) return;
  const Change *all = scree_ranks_gather(scree_ranks_of(W), change, sizeof *change);
  Change total = {0};
  for (int k = 0; k < ranks; ++k) widen(&total, &all[k]);
  *change = total;
}

static void sweep_serial(scree_Sweeps *state, const scree_Operator *W, Group *group, double *r) {
  const int *start = item_starts(state);
  const int items = start[state->order->colours];
  const bool staged = state->stages.stages > 0, divided = scree_is_divided(W);
  const bool generals = W->problem->general.count > 0;
  for (bool more = group->count > 0, poll = false; more;) {
    const bool moves = group->momentum;
    const double b = moves ? scree_momentum_step(group->momentum, &group->speed, 0, 1, NULL) : 0.0;
    Change change = staged ? visit_stages(state, W, start, r)
                           : visit_items(state, W, 0, items, moves ? &b : NULL, r);
    if (generals) visit_generals(state, W, r, &change);
    widen_ranks(W, &change);
    more = count_sweep(state, W, &change, group, &poll);
    if (divided) continue;                             /* ranks agree on an end when they measure */
    if (poll && scree_poll(state->poll)) more = false; /* the run ends at its next measurement */
  }
}

/* Data that the threads of a group of sweeps share. */
typedef struct Team {
  scree_Barrier barrier;
  Change *change; /* (threads x SCREE_CHANGE_STRIDE) of each thread in this sweep */
  bool stopped;
} Team;

/* The share of thread `me` of the items first .. last-1. */
static Change visit_share(scree_Sweeps *state, const scree_Operator *W, int me, int threads,
                          int first, int last, const double *momentum, double *r) {
  const long long n = last - first;
  return visit_items(state, W, first + (int)(n * me / threads),
                     first + (int)(n * (me + 1) / threads), momentum, r);
}

/* The part of thread `me` in one sweep of the contacts. Items are in the order of contacts, which
 * is mostly one in space: with the same share of each colour, of its closed and of its open
 * contacts, a thread meets mostly the same bodies in all of them. Otherwise half of the bodies
 * change from cache to cache with each colour, which cost two threads more than they won. */
static Change sweep_part(scree_Sweeps *state, const scree_Operator *W, int me, int threads,
                         const double *momentum, Team *team, double *r) {
  assert(me >= 0 && me < threads);
  const scree_Colouring *colouring = state->order;
  const int *start = item_starts(state);
  Change mine = {0};
  for (int k = 0; k < colouring->colours; ++k) {
    const int contacts = colouring->start[k + 1] - colouring->start[k];
    const bool alone = colouring->serial[k] || contacts < PARALLEL_COLOUR;
    const int open = open_start(state, k);
    if (!alone) {
      const Change closed = visit_share(state, W, me, threads, start[k], open, momentum, r);
      const Change rest = visit_share(state, W, me, threads, open, start[k + 1], momentum, r);
      widen(&mine, &closed);
      widen(&mine, &rest);
    } else if (me == 0) {
      const Change all = visit_items(state, W, start[k], start[k + 1], momentum, r);
      widen(&mine, &all);
    }
    if (k + 1 < colouring->colours) scree_barrier_wait(&team->barrier);
  }
  return mine;
}

/* The sweeps of one thread. All threads count alike, so that all end after the same sweep. */
static void sweep_in_team(scree_Sweeps *state, const scree_Operator *W, int me, int threads,
                          Team *team, Group *group, double *r) {
  for (bool more = group->count > 0, poll = false; more;) {
    Change *mine = &team->change[me * SCREE_CHANGE_STRIDE];
    double b = 0.0;
    if (group->momentum)
      b = scree_momentum_step(group->momentum, &group->speed, me, threads, &team->barrier);
    *mine = sweep_part(state, W, me, threads, group->momentum ? &b : NULL, team, r);
    scree_barrier_wait(&team->barrier);
    if (W->problem->general.count) {
      if (me == 0) visit_generals(state, W, r, mine);
      scree_barrier_wait(&team->barrier);
    }
    Change total = {0};
    for (int k = 0; k < threads; ++k) widen(&total, &team->change[k * SCREE_CHANGE_STRIDE]);
    more = count_sweep(state, W, &total, group, &poll);
    if (!poll) continue; /* `change` is written again after the first barrier of the next sweep */
    if (me == 0 && scree_poll(state->poll)) team->stopped = true;
    scree_barrier_wait(&team->barrier);
    if (team->stopped) more = false;
  }
}

static void sweep_parallel(scree_Sweeps *state, const scree_Operator *W, int threads, Group *group,
                           double *r) {
  Team team = {.change = state->changes};
  assert(threads > 1 && threads <= W->threads && state->order->colours > 1);
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num(), of = omp_get_num_threads();
    Group own = *group;
#pragma omp single
    scree_barrier_init(&team.barrier, of); /* OpenMP may give fewer threads than asked for */
    sweep_in_team(state, W, me, of, &team, &own, r);
#pragma omp barrier
#pragma omp single
    *group = own;
  }
  scree_barrier_fini(&team.barrier);
}

/* ---- a group of sweeps -------------------------------------------------------------------------
 */

void scree_sweeps_start(scree_Sweeps *state, const scree_Operator *W, const double *r, double *u) {
  scree_operator_apply(W, r, W->problem->q, state->y, u);
  state->loaded = false;
  state->stale = 0;
}

/* Threads for the next sweeps: fewer while other programs use the processors. */
static int threads_now(const scree_Sweeps *sweeps, const scree_Operator *W) {
  return sweeps->load ? scree_load_threads(sweeps->load, W->threads) : W->threads;
}

/* After a relaxed sweep: the steps at the border are shortened, and the velocities completed. */
static void shorten_steps(scree_Sweeps *sweeps, const scree_Operator *W, double *r) {
  const scree_Problem *p = W->problem;
  const size_t d = (size_t)p->d;
  if (sweeps->in_lanes) scree_lanes_get(&sweeps->lanes, r, 1);
  for (int c = 0; c < W->constraints; ++c) {
    const double factor = sweeps->factor[c];
    const size_t first = c < p->nc ? (size_t)c * d : p->general.row[c - p->nc];
    const size_t end = c < p->nc ? first + d : p->general.row[c - p->nc + 1];
    if (factor == 1.0) continue;
    for (size_t i = first; i < end; ++i)
      r[i] = sweeps->before[i] + factor * (r[i] - sweeps->before[i]);
  }
  scree_operator_state(W, r, sweeps->y);
}

/* After a relaxed sweep: mechanisms. No two ranks have one of the same body (solver/own.h), so that
 * all ranks solve theirs at once, in full. Returns the largest change of all ranks. */
static double visit_mechanisms(scree_Sweeps *sweeps, const scree_Operator *W, double *r) {
  const scree_VertexState vertices = scree_vertex_state(W, sweeps->y);
  const double change = scree_mechanisms_visit(sweeps->mechanisms, W, &vertices, r);
  scree_operator_state(W, r, sweeps->y);
  return scree_ranks_max(scree_ranks_of(W), change);
}

/* Relaxed sweeps, as scree_sweeps_run. */
static void sweep_relaxed(scree_Sweeps *sweeps, const scree_Operator *W, Group *group, double *r) {
  const int count = group->count;
  do {
    Group one = {.count = 1, .small = group->small, .change = INFINITY};
    scree_vector_copy(W->rows, r, sweeps->before, W->threads);
    if (sweeps->in_lanes) scree_lanes_set(&sweeps->lanes, r, sweeps->y, 1);
    sweep_serial(sweeps, W, &one, r);
    shorten_steps(sweeps, W, r);
    if (sweeps->mechanisms) one.change = fmax(one.change, visit_mechanisms(sweeps, W, r));
    group->done += one.done;
    group->change = one.change;
  } while (group->done < count && !(group->change <= group->small));
}

/* Threads for a group of sweeps. */
static int team_size(const scree_Sweeps *sweeps, const scree_Operator *W) {
  const bool many = sweeps->order->colours > 1 && W->problem->nc >= SCREE_COLOURED_CONTACTS;
  return many && !scree_is_divided(W) ? threads_now(sweeps, W) : 1;
}

/* On so many threads at most. Whether these are faster than one is found out by trying, if the
 * number is not the caller's. */
static void sweep_group(scree_Sweeps *sweeps, const scree_Operator *W, int most, Group *group,
                        double *r) {
  scree_Pace *pace = NULL;
  if (most > 1 && sweeps->load && W->problem->nc > 0)
    pace = &sweeps->load->pace[ilogb((double)W->problem->nc) % SCREE_LOAD_PACES];
  const int threads = pace ? scree_pace_threads(pace, most) : most;
  const double start = pace ? scree_seconds() : 0.0;
  if (threads > 1)
    sweep_parallel(sweeps, W, threads, group, r);
  else
    sweep_serial(sweeps, W, group, r);
  const double visits = (group->done - group->left_out) * W->problem->nc;
  if (pace) scree_pace_add(pace, threads, (scree_seconds() - start) / visits);
}

void scree_sweeps_collect(scree_Sweeps *sweeps, const scree_Operator *W, double *r, double *u) {
  const int threads = team_size(sweeps, W);
  scree_singles_get(sweeps->singles, r, threads);
  scree_operator_apply(W, r, W->problem->q, sweeps->y, u);
  sweeps->stale = 0;
  if (!sweeps->settings.deep) {
    scree_singles_refresh(sweeps->singles, sweeps->y, threads);
    return;
  }
  scree_momentum_zero(&sweeps->momentum, sweeps->singles->y);
  scree_singles_base(sweeps->singles, u, threads);
}

/* Momentum for the next group. */
static void begin_momentum(scree_Sweeps *sweeps, const scree_Operator *W,
                           const scree_SweepPlan *plan, Group *group, double *r) {
  scree_Momentum *m = &sweeps->momentum;
  if (!plan->resume) sweeps->moving = false;
  if (!plan->momentum || m->parts == 0) {
    sweeps->moving = false;
    return;
  }
  const size_t held = scree_sweeps_in_lanes(sweeps, W);
  if (W->rows > held) m->part[0].now = r + held;
  if (!sweeps->moving) sweeps->speed = scree_momentum_begin(m);
  sweeps->moving = true;
  group->momentum = m;
  group->speed = sweeps->speed;
}

/* Sweeps in single precision. If the error is only estimated, r and u are collected later. */
static double run_singles(scree_Sweeps *sweeps, const scree_Operator *W,
                          const scree_SweepPlan *plan, double *r, double *u, int *done) {
  const int threads = team_size(sweeps, W);
  Group group = {.count = plan->count, .small = plan->small, .change = INFINITY};
  sweeps->singles->pauses = plan->pauses;
  const int fresh = sweeps->settings.deep ? FRESH_BASE : FRESH_SWEEPS;
  if (!sweeps->loaded) {
    scree_singles_set(sweeps->singles, r, sweeps->y, threads);
    if (sweeps->settings.deep) scree_sweeps_collect(sweeps, W, r, u);
  }
  sweeps->loaded = true;
  begin_momentum(sweeps, W, plan, &group, r);
  sweep_group(sweeps, W, threads, &group, r);
  *done = group.done;
  sweeps->speed = group.speed;
  sweeps->left_out += group.left_out;
  sweeps->stale += group.done;
  if (plan->estimate && sweeps->stale >= fresh) {
    if (sweeps->settings.deep) {
      scree_sweeps_collect(sweeps, W, r, u);
    } else {
      scree_singles_get(sweeps->singles, r, threads);
      scree_operator_state(W, r, sweeps->y);
      scree_singles_refresh(sweeps->singles, sweeps->y, threads);
      sweeps->stale = 0;
    }
  }
  if (plan->estimate)
    *plan->estimate = scree_singles_error(sweeps->singles, threads);
  else
    scree_sweeps_collect(sweeps, W, r, u);
  return group.change;
}

double scree_sweeps_run(scree_Sweeps *sweeps, const scree_Operator *W, const scree_SweepPlan *plan,
                        double *r, double *u, int *done) {
  const int threads = team_size(sweeps, W);
  Group group = {.count = plan->count, .small = plan->small, .change = INFINITY};
  if (!plan->resume) {
    scree_operator_state(W, r, sweeps->y);
    sweeps->stale = 0;
  }
  sweeps->lanes.pauses = plan->pauses;
  if (!plan->resume) sweeps->loaded = false;
  if (plan->count == 0) {
    scree_operator_velocity(W, r, sweeps->y, W->problem->q, u);
    *done = 0;
    return INFINITY;
  }
  if (sweeps->singles) return run_singles(sweeps, W, plan, r, u, done);
  if (sweeps->factor) {
    sweep_relaxed(sweeps, W, &group, r);
    *done = group.done;
    scree_operator_velocity(W, r, sweeps->y, W->problem->q, u);
    return group.change;
  }
  if (sweeps->in_lanes && !sweeps->loaded) scree_lanes_set(&sweeps->lanes, r, sweeps->y, threads);
  sweeps->loaded = sweeps->in_lanes;
  begin_momentum(sweeps, W, plan, &group, r);
  sweep_group(sweeps, W, threads, &group, r);
  *done = group.done;
  sweeps->speed = group.speed;
  sweeps->left_out += group.left_out;
  if (sweeps->in_lanes) scree_lanes_get(&sweeps->lanes, r, threads);
  sweeps->stale += *done;
  /* the visits update coupled vertices only where constraints touch them */
  if (sweeps->in_lanes && sweeps->stale < FRESH_SWEEPS && !W->coupling) {
    scree_lanes_state(&sweeps->lanes, sweeps->y, threads);
  } else {
    scree_operator_state(W, r, sweeps->y);
    if (sweeps->loaded) scree_lanes_refresh(&sweeps->lanes, sweeps->y, threads);
    sweeps->stale = 0;
  }
  scree_operator_velocity(W, r, sweeps->y, W->problem->q, u);
  return group.change;
}

bool scree_sweeps_suit(const scree_Sweeps *sweeps, bool single, bool deep) {
  const scree_SweepSettings *s = &sweeps->settings;
  return s->single == single && s->deep == deep && !s->left_out && !sweeps->mechanisms;
}

void scree_sweeps_take(scree_Sweeps *sweeps, const scree_Operator *W, const double *y) {
  scree_vector_copy(W->state_size, y, sweeps->y, W->threads);
  sweeps->loaded = false;
  sweeps->stale = 0;
}

const double *scree_sweeps_state(const scree_Sweeps *sweeps) {
  return sweeps && sweeps->singles && sweeps->stale == 0 ? sweeps->y : NULL;
}

bool scree_sweeps_balls(const scree_Sweeps *state) {
  return state->singles || (state->in_lanes && state->lanes.balls);
}

bool scree_sweeps_batched(const scree_Sweeps *state) {
  return state->singles || state->in_lanes;
}

bool scree_sweeps_single(const scree_Sweeps *state) {
  return state->singles != NULL;
}

double scree_sweeps_left_out(const scree_Sweeps *sweeps) {
  return sweeps->left_out;
}

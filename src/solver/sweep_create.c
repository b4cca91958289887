/* Preparing sweeps: the order of the visits, lanes or floats, and the memory of momentum (see
 * sweep.h and the head of sweep.c). */
#include "core/log.h"
#include "problem/graph.h"
#include "solver/local_exact.h"
#include "solver/sweep_state.h"

scree_SweepSettings scree_sweep_settings(void) {
  return (scree_SweepSettings){.local = &scree_local_exact};
}

/* The factors of relaxed sweeps. */
static scree_Status prepare_relaxed(scree_Sweeps *state, const scree_SolveRun *run,
                                    scree_Arena *arena) {
  const scree_Problem *p = run->W->problem;
  const scree_Halo *halo = run->W->halo;
  int *holders = SCREE_TAKE_RAW(arena, int, halo->blocks);
  state->before = SCREE_TAKE(arena, double, run->W->rows);
  state->factor = SCREE_TAKE(arena, double, run->W->constraints);
  if (!holders || !state->before || !state->factor)
    return scree_fail_memory(run->log, "relaxed sweeps");
  for (int b = 0; b < halo->blocks; ++b) holders[b] = 1;
  for (int k = 0; halo->sums && k < halo->nshared; ++k)
    holders[halo->shared[k]] = (int)(halo->source_start[k + 1] - halo->source_start[k]);
  for (int c = 0; c < p->nc; ++c) {
    int most = 1;
    if (p->kind == SCREE_ASSEMBLED) {
      const size_t *held = run->division->holder_start + halo->number[c];
      most = (int)(held[1] - held[0]);
    }
    for (int side = 0; p->kind == SCREE_BODIES && side < 2; ++side) {
      const int b = p->bodies.body[2 * c + side];
      if (b >= 0 && holders[b] > most) most = holders[b];
    }
    state->factor[c] = 1.0 / (double)(most > 1 ? most : 1);
  }
  for (int k = 0; k < p->general.count; ++k) {
    int most = 1;
    for (size_t e = p->general.entry[k]; e < p->general.entry[k + 1]; ++e) {
      const int block = scree_division_block(run->division, p->general.vertex[e]);
      if (holders[block] > most) most = holders[block];
    }
    state->factor[p->nc + k] = 1.0 / (double)most;
  }
  return SCREE_OK;
}

/* The stages of exact sweeps: the order of the whole problem, then this rank's part of it. */
static scree_Status prepare_stages(scree_Sweeps *state, const scree_SolveRun *run, bool coloured,
                                   scree_Arena *arena) {
  const scree_Division *division = run->division;
  scree_Operator whole = {.problem = division->whole};
  scree_Colouring order;
  size_t *row = NULL;
  int *entry = NULL;
  scree_Status status = SCREE_OK;
  if (division->whole->kind == SCREE_BODIES)
    status = scree_body_graph(division->whole, arena, &row, &entry, run->log);
  whole.body_row = row;
  whole.body_entry = entry;
  if (!status)
    status = coloured ? scree_colouring_create(&whole, arena, &order, run->log)
                      : scree_colouring_natural(&whole, arena, &order, run->log);
  if (!status)
    status = scree_division_stages(division, order.colours, order.start, order.order, order.serial,
                                   arena, &state->stages, run->log);
  state->own_order = (scree_Colouring){.colours = state->stages.stages,
                                       .start = state->stages.start,
                                       .order = state->stages.order,
                                       .serial = state->stages.serial};
  state->order = &state->own_order;
  return status;
}

/* The batches of the order of visits. */
static scree_Status prepare_lanes(scree_Sweeps *state, const scree_SolveRun *run, const double *r,
                                  scree_Arena *arena) {
  scree_LaneLayout layout;
  const scree_Status status = scree_lane_layout_create(
      run->W, state->order, r, state->settings.left_out, SCREE_LANES, arena, &layout, run->log);
  return status ? status
                : scree_lanes_create(run->W, state->order, &layout, arena, &state->lanes, run->log);
}

/* The order of the visits on several ranks. Those of relaxed sweeps are of each rank alone. */
static scree_Status prepare_ranks(scree_Sweeps *state, const scree_SolveRun *run, const double *r,
                                  scree_Arena *arena) {
  const scree_Operator *W = run->W;
  /* exact sweeps need the graph of the whole problem, which parts posed by their ranks do not have
   */
  const bool relaxed = state->settings.between == SCREE_RANKS_RELAXED || run->division->own;
  const bool lanes = state->settings.local == &scree_local_exact && scree_lanes_fit(W);
  /* inside a rank only lanes need colours; the rows of an assembled part have columns elsewhere */
  const bool coloured = state->settings.order != SCREE_ORDER_NATURAL && (lanes || !relaxed);
  scree_Status status = SCREE_OK;
  if (relaxed) {
    status = prepare_relaxed(state, run, arena);
    if (!status)
      status = coloured ? scree_colouring_create(W, arena, &state->own_order, run->log)
                        : scree_colouring_natural(W, arena, &state->own_order, run->log);
    state->order = &state->own_order;
  } else {
    status = prepare_stages(state, run, coloured, arena);
  }
  state->in_lanes = coloured && lanes;
  return status || !state->in_lanes ? status : prepare_lanes(state, run, r, arena);
}

/* The order of the visits, and the lanes if they are used. */
static scree_Status prepare_order(scree_Sweeps *state, const scree_SolveRun *run, const double *r,
                                  scree_Arena *arena) {
  const scree_Operator *W = run->W;
  scree_KeptGraph *graph = &run->cache->graph;
  if (scree_is_divided(W)) return prepare_ranks(state, run, r, arena);
  const scree_SweepOrder order = state->settings.order;
  const bool lanes = state->settings.local == &scree_local_exact && scree_lanes_fit(W);
  const int enough = lanes ? SCREE_LANED_CONTACTS : SCREE_COLOURED_CONTACTS;
  const bool coloured =
      order == SCREE_ORDER_COLOURED || (order == SCREE_ORDER_AUTO && W->problem->nc >= enough);
  const bool single = coloured && state->settings.single &&
                      state->settings.local == &scree_local_exact && scree_singles_fit(W);
  state->in_lanes = coloured && lanes && !single;
  scree_Status status = scree_kept_graph_order(graph, W, coloured, run->log, &state->order);
  if (!status && single) {
    if (!(state->singles = SCREE_TAKE_RAW(arena, scree_Singles, 1)))
      return scree_fail_memory(run->log, "sweeps");
    return scree_singles_create(W, state->order, r, state->settings.left_out, arena, state->singles,
                                run->log);
  }
  return status || !state->in_lanes ? status : prepare_lanes(state, run, r, arena);
}

/* Memory for momentum. Visits do not update all velocities of coupled vertices, and ranks would
 * have to exchange more: their sweeps are plain. */
static scree_Status prepare_momentum(scree_Sweeps *sweeps, const scree_SolveRun *run,
                                     scree_Arena *arena) {
  const scree_Operator *W = run->W;
  const scree_Lanes *lanes = &sweeps->lanes;
  scree_Momentum *m = &sweeps->momentum;
  const size_t r_held = scree_sweeps_in_lanes(sweeps, W);
  size_t y_held = 0;
  if (scree_is_divided(W) || W->coupling) return SCREE_OK;
  /* the address of the first is set when r is known */
  bool ok = scree_momentum_add(m, NULL, W->rows - r_held, true, arena);
  if (sweeps->in_lanes) {
    const size_t bodies = (size_t)lanes->nbodies;
    const size_t n = (size_t)(lanes->start[lanes->colours] * SCREE_LANES) * (size_t)lanes->d;
    y_held = bodies * (size_t)W->problem->bodies.nb;
    ok = ok && scree_momentum_add(m, (double *)lanes->r, n, true, arena) &&
         scree_momentum_add(m, lanes->y, (bodies + 1) * (size_t)lanes->stride, false, arena);
  }
  if (sweeps->singles) {
    const scree_Singles *singles = sweeps->singles;
    const size_t bodies = (size_t)singles->nbodies;
    const size_t n = (size_t)(singles->layout.batches * SCREE_SINGLES) * (size_t)singles->d;
    y_held = bodies * (size_t)W->problem->bodies.nb;
    ok = ok &&
         scree_momentum_add_singles(m, singles->y, (bodies + 1) * (size_t)singles->stride, arena);
    if (ok)
      scree_momentum_add_visited(m, singles->r, singles->last, n, singles->changes,
                                 (size_t)singles->layout.batches);
  }
  ok = ok && scree_momentum_add(m, sweeps->y + y_held, W->state_size - y_held, false, arena);
  return ok ? SCREE_OK : scree_fail_memory(run->log, "momentum of sweeps");
}

scree_Status scree_sweeps_create(const scree_SolveRun *run, const scree_SweepSettings *settings,
                                 const double *r, scree_Arena *arena, scree_Sweeps **out) {
  const scree_Operator *W = run->W;
  *out = NULL;
  scree_Sweeps *state = SCREE_TAKE(arena, scree_Sweeps, 1);
  if (!state) return scree_fail_memory(run->log, "sweeps");
  state->settings = *settings;
  state->settings.parameters.law = W->problem->flow;
  state->mechanisms = run->mechanisms;
  state->poll = run->poll;
  state->load = run->load;
  state->y = SCREE_TAKE(arena, double, W->state_size);
  state->changes =
      SCREE_TAKE_RAW(arena, scree_SweepChange, (size_t)W->threads * SCREE_CHANGE_STRIDE);
  if (!state->y || !state->changes)
    return scree_fail_memory(run->log, "the velocities of vertices");
  scree_Status status = prepare_order(state, run, r, arena);
  if (!status && settings->momentum) status = prepare_momentum(state, run, arena);
  if (!status) *out = state;
  return status;
}

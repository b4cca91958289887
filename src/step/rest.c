/* Islands that rest in a world of which other parts move.
 *
 * A world that rests as a whole is solved until errors do not move its bodies (solve.c, certify.c).
 * In a world where something moves, a stack beside a flow, the error is relative to all impulses
 * and the allowed energy is a part of that of the flow: the stack would creep. But islands do not
 * influence each other (problem/islands.h), so each one that rests can be held to the limit of its
 * own bodies:
 *
 * 1. Before the solve, islands are found. One rests where its bodies move at less than a
 *    thousandth of the speed that their load alone would give them, weighted by their loads, as
 *    scree_system_rests has it for a world.
 * 2. The whole problem is solved as usual.
 * 3. Islands that rest, and whose energy error is above their own limit, are solved once more, each
 *    as a problem of its own: from the impulses that held it in the last step, until the error is
 *    below the limit. Usually these impulses still hold it, and it costs one measurement.
 *
 * All of them together get the work of one long attempt of a world at rest; after a failure they
 * pause as that one does. Islands with joints, rolling resistance or deformable bodies have
 * only the limit of the whole world, as have all islands of a world that is divided between ranks.
 */
#include "step/rest.h"

#include "core/log.h"

#include <string.h>

double scree_portion_defect(const scree_System *s, const scree_Portion *part) {
  const scree_Problem *p = part->problem;
  if (part->solver == s->solver) return scree_system_defect(s);
  return scree_system_defect_of(s, p->nc, p->mu, p->flow_blocks, part->r, part->u);
}

/* Load of body k times its speed, times h: the part of its `rest` is below resting_part if it
 * rests. */
static double moved(const scree_System *s, int k, const scree_BodyRest *load) {
  const scree_Bodies *b = &s->bodies;
  const scree_Twist *v = &b->motion[k].velocity;
  const double size = b->cold[k].shape.size;
  const double speed = scree_norm(v->linear) + size * scree_norm(v->angular);
  return load->weight / size * speed * s->times.h;
}

/* What a body adds to the sums of its island. */
typedef struct Weight {
  double load, way;
} Weight;

enum { WEIGHTS = 2048 }; /* bodies that threads compute before they are added up */

/* Of bodies start .. start + n - 1 of the problem. */
static void find_weights(const scree_System *s, int start, int n, Weight *weights,
                         scree_Share share) {
  SCREE_OVER_BODIES(i, n, share) {
    const int k = s->posed.problem_body[start + i];
    const scree_BodyRest load = scree_system_body_rest(s, k, s->times.h);
    weights[i] = (Weight){load.rest, moved(s, k, &load)};
  }
}

/* Sums over the bodies of each island: `rest` and the load times the way of the last step. */
static void weigh_islands(const scree_System *s, const scree_Problem *problem,
                          const scree_Islands *islands, int *island_of, double *loads,
                          double *ways) {
  const double part = scree_system_resting_part();
  for (int b = 0; b < problem->bodies.nbodies; ++b) island_of[b] = -1;
  for (int c = 0; c < problem->nc; ++c)
    for (int side = 0; side < 2; ++side) {
      const int b = problem->bodies.body[2 * (size_t)c + (size_t)side];
      if (b >= 0) island_of[b] = islands->of[c];
    }
  Weight weights[WEIGHTS];
  for (int start = 0; start < problem->bodies.nbodies; start += WEIGHTS) {
    const int left = problem->bodies.nbodies - start, n = left < WEIGHTS ? left : WEIGHTS;
    SCREE_ON_THREADS(n, s->threads, share, find_weights(s, start, n, weights, share));
    for (int i = 0; i < n; ++i) {
      if (island_of[start + i] < 0) continue;
      loads[island_of[start + i]] += weights[i].load;
      ways[island_of[start + i]] += weights[i].way;
    }
  }
  for (int k = 0; k < islands->count; ++k)
    if (islands->bound[k] || !(ways[k] < part * loads[k])) loads[k] = 0;
}

/* Whether some body is slow enough: in a flow the search for islands is left out. */
static bool some_rest(const scree_System *s, const scree_Problem *problem) {
  const double part = scree_system_resting_part();
  for (int b = 0; b < problem->bodies.nbodies; ++b) {
    const int k = s->posed.problem_body[b];
    const scree_BodyRest load = scree_system_body_rest(s, k, s->times.h);
    if (moved(s, k, &load) < part * load.rest) return true;
  }
  return false;
}

scree_Status scree_rest_begin(scree_System *s, const scree_Problem *problem, scree_Rest *rest) {
  scree_Arena *arena = &s->scratch;
  *rest = (scree_Rest){.mark = scree_arena_mark(arena)};
  if (s->domain.global || problem->nc == 0 || !(s->memory.h > 0) || !s->settings.warm_start ||
      !scree_system_tightens(s) || scree_system_rests(s) || !some_rest(s, problem))
    return SCREE_OK;
  const size_t rows = (size_t)problem->nc * (size_t)problem->d;
  scree_Islands found;
  const scree_Status status = scree_islands_find(problem, arena, &found, s->log);
  if (status) return status;
  int *island_of = SCREE_TAKE_RAW(arena, int, problem->bodies.nbodies);
  double *ways = SCREE_TAKE(arena, double, found.count);
  rest->loads = SCREE_TAKE(arena, double, found.count);
  rest->start = SCREE_TAKE_RAW(arena, double, rows);
  if (!island_of || !ways || !rest->loads || !rest->start)
    return scree_fail_memory(s->log, "islands that rest");
  weigh_islands(s, problem, &found, island_of, rest->loads, ways);
  memcpy(rest->start, s->posed.r, rows * sizeof *rest->start);
  rest->islands = found;
  return SCREE_OK;
}

void scree_rest_end(scree_System *s, const scree_Rest *rest) {
  scree_arena_release(&s->scratch, rest->mark);
}

/* ---- holding --------------------------------------------------------------------------------- */

static scree_Status hold_island(scree_System *s, const scree_Portion *part, bool is_long,
                                scree_StepReport *report, bool *tight) {
  scree_StepReport own = {.tolerance = report->tolerance};
  scree_SolveSettings settings = scree_system_solve_settings(s, true);
  scree_Status status = scree_portion_solve(s, part, &settings, part->rest_work, &own);
  *tight = false;
  if (!status && own.solve.converged)
    status = scree_portion_tighten(s, part, is_long, &settings, &own, tight);
  report->iterations += own.iterations;
  report->solves += own.solves;
  report->work += own.work;
  return status;
}

/* Energy errors of the islands that rest. */
static void measure_islands(const scree_System *s, const scree_Problem *whole,
                            const scree_Rest *rest, double *defect) {
  const size_t d = (size_t)whole->d;
  for (size_t c = 0; c < (size_t)whole->nc; ++c) {
    const int k = rest->islands.of[c];
    if (!(rest->loads[k] > 0)) continue;
    const double *flow = whole->flow_blocks ? whole->flow_blocks + c * d * d : NULL;
    defect[k] +=
        scree_system_defect_of(s, 1, whole->mu + c, flow, s->posed.r + c * d, s->posed.u + c * d);
  }
}

static scree_Status hold_all(scree_System *s, const scree_Problem *whole, const scree_Rest *rest,
                             const double *defect, const bool *marked, scree_PortionRoom *room,
                             scree_StepReport *report, bool *tight, bool *changed) {
  const bool is_long = s->work.rest.steps == 0;
  const double before = s->work.spent;
  const double budget = scree_system_rest_work(s, scree_domain_sweep_seconds(s, whole));
  scree_Status status = SCREE_OK;
  *tight = true;
  for (int k = 0; k < rest->islands.count && !status; ++k) {
    if (!marked[k]) continue;
    scree_Portion part = scree_portion_of(s, room);
    part.allowed = scree_system_held_part() * rest->loads[k];
    part.rests = true;
    part.rest_work = budget - (s->work.spent - before);
    if (!(part.rest_work > 0)) {
      *tight = false;
      break;
    }
    bool held;
    scree_portion_take(whole, &rest->islands, k, rest->start, room);
    status = hold_island(s, &part, is_long, report, &held);
    *tight = *tight && held;
    if (status || !(scree_portion_defect(s, &part) < defect[k])) continue;
    *changed = true;
    scree_portion_put(room, s->posed.r);
  }
  return status;
}

scree_Status scree_rest_hold(scree_System *s, const scree_Portion *whole, const scree_Rest *rest,
                             scree_StepReport *report) {
  const scree_Problem *problem = whole->problem;
  const scree_Islands *islands = &rest->islands;
  if (islands->count == 0) return SCREE_OK;
  double *defect = SCREE_TAKE(&s->scratch, double, islands->count);
  bool *marked = SCREE_TAKE(&s->scratch, bool, islands->count);
  if (!defect || !marked) return scree_fail_memory(s->log, "islands that rest");
  measure_islands(s, problem, rest, defect);
  double sum = 0;
  for (int k = 0; k < islands->count; ++k) {
    marked[k] = rest->loads[k] > 0 && defect[k] > scree_system_held_part() * rest->loads[k];
    if (marked[k]) sum += defect[k];
  }
  const int most = scree_portion_largest(islands, marked);
  if (most == 0 || !scree_system_pays(s, sum)) return SCREE_OK;
  const double spent = s->work.spent;
  scree_PortionRoom room;
  scree_Status status = scree_portion_room(s, problem, islands, most, &room);
  if (status) return status;
  bool tight, changed = false;
  status = hold_all(s, problem, rest, defect, marked, &room, report, &tight, &changed);
  if (status) return status;
  s->work.account.now += s->work.spent - spent;
  scree_pause_after(&s->work.rest, tight, false);
  return changed ? scree_portion_measure(s, whole, report) : SCREE_OK;
}

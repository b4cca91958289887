/* Islands that rest in a world that does not.
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
 * 2. The whole problem is solved as ever.
 * 3. Islands that rest, and whose energy error is above their own limit, are solved once more, each
 *    as a problem of its own: from the impulses that held it in the last step, until the error is
 *    below the limit. Usually these impulses still hold it, and it costs one measurement.
 *
 * All of them together get the work of one long attempt of a world at rest; after a failure they
 * pause as that one does. Islands with joints, rolling resistance or deformable bodies are left to
 * the whole, as is all of a world that is divided between ranks. */
#include "step/rest.h"

#include "core/log.h"
#include "core/memory.h"

#include <string.h>

enum { PAD = 8 }; /* kernels may load a full vector past the end */

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
  for (int b = 0; b < problem->bodies.nbodies; ++b) {
    if (island_of[b] < 0) continue;
    const int k = s->posed.problem_body[b];
    const scree_BodyRest load = scree_system_body_rest(s, k, s->times.h);
    loads[island_of[b]] += load.rest;
    ways[island_of[b]] += moved(s, k, &load);
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

/* ---- an island as a problem of its own ------------------------------------------------------- */

/* Room for the largest island, and where its contacts and bodies are in the whole problem. */
typedef struct Room {
  scree_Problem problem; /* its arrays; sizes are those of an island */
  int *contact;          /* (nc) */
  int *local;            /* (bodies of the whole) number in the island, or -1 */
  int *ids;              /* (bodies of the island) */
  double *r, *u, *flow;
} Room;

static scree_Status make_room(scree_System *s, const scree_Problem *whole, int most, Room *room) {
  scree_Arena *arena = &s->scratch;
  const size_t n = (size_t)most + PAD, d = (size_t)whole->d, nb = (size_t)whole->bodies.nb;
  scree_BodyRows *b = &room->problem.bodies;
  *room = (Room){.contact = SCREE_TAKE_RAW(arena, int, n),
                 .local = SCREE_TAKE_RAW(arena, int, whole->bodies.nbodies),
                 .ids = SCREE_TAKE_RAW(arena, int, 2 * n),
                 .r = SCREE_TAKE_RAW(arena, double, n *d),
                 .u = SCREE_TAKE_RAW(arena, double, n *d)};
  scree_Problem *p = &room->problem;
  *p = (scree_Problem){.d = whole->d, .flow = whole->flow, .kind = SCREE_BODIES};
  p->q = SCREE_TAKE_RAW(arena, double, n *d);
  p->mu = SCREE_TAKE_RAW(arena, double, n);
  b->nb = whole->bodies.nb;
  b->body = SCREE_TAKE_RAW(arena, int, 2 * n);
  b->id = room->ids;
  bool good =
      room->contact && room->local && room->ids && room->r && room->u && p->q && p->mu && b->body;
  if (whole->bodies.B) good = good && (b->B = SCREE_TAKE_RAW(arena, double, n * 2 * d * nb));
  if (whole->bodies.arm) {
    b->normal = SCREE_TAKE_RAW(arena, double, n * 3);
    b->arm = SCREE_TAKE_RAW(arena, double, n * 4);
    good = good && b->normal && b->arm;
  }
  if (whole->bodies.C) good = good && (b->C = SCREE_TAKE_RAW(arena, double, n *d *d));
  if (whole->flow_blocks)
    good = good && (p->flow_blocks = room->flow = SCREE_TAKE_RAW(arena, double, n *d *d));
  if (whole->set) {
    p->set = SCREE_TAKE_RAW(arena, uint8_t, n);
    p->set_a = SCREE_TAKE_RAW(arena, double, n);
    p->set_b = SCREE_TAKE_RAW(arena, double, n);
    good = good && p->set && p->set_a && p->set_b;
  }
  if (!good) return scree_fail_memory(s->log, "an island that rests");
  for (int k = 0; k < whole->bodies.nbodies; ++k) room->local[k] = -1;
  return SCREE_OK;
}

/* Row `from` of an array of rows of `size` doubles becomes row `to` of another. */
static void copy_row(double *to_rows, size_t to, const double *from_rows, size_t from,
                     size_t size) {
  if (from_rows) memcpy(to_rows + to * size, from_rows + from * size, size * sizeof *to_rows);
}

/* The given contacts of the whole become the problem of the room, bodies in the order of
 * the whole. */
static void take_island(const scree_Problem *whole, const int *contacts, int nc,
                        const double *start, Room *room) {
  scree_Problem *p = &room->problem;
  const size_t d = (size_t)p->d, nb = (size_t)whole->bodies.nb;
  p->nc = nc;
  p->bodies.nbodies = 0;
  for (int k = 0; k < nc; ++k) {
    const size_t at = (size_t)k, c = (size_t)contacts[k];
    room->contact[k] = contacts[k];
    for (size_t side = 0; side < 2; ++side) {
      const int body = whole->bodies.body[2 * c + side];
      if (body >= 0 && room->local[body] < 0) {
        room->ids[p->bodies.nbodies] = body;
        room->local[body] = p->bodies.nbodies++;
      }
      p->bodies.body[2 * at + side] = body < 0 ? -1 : room->local[body];
    }
    copy_row(p->bodies.B, at, whole->bodies.B, c, 2 * d * nb);
    copy_row(p->bodies.normal, at, whole->bodies.normal, c, 3);
    copy_row(p->bodies.arm, at, whole->bodies.arm, c, 4);
    copy_row(p->bodies.C, at, whole->bodies.C, c, d * d);
    copy_row(room->flow, at, whole->flow_blocks, c, d * d);
    copy_row(p->q, at, whole->q, c, d);
    copy_row(room->r, at, start, c, d);
    p->mu[at] = whole->mu[c];
    if (!whole->set) continue;
    p->set[at] = whole->set[c];
    p->set_a[at] = whole->set_a[c];
    p->set_b[at] = whole->set_b[c];
  }
  for (int k = 0; k < p->bodies.nbodies; ++k) {
    room->local[room->ids[k]] = -1;
    room->ids[k] = whole->bodies.id[room->ids[k]];
  }
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
  return status;
}

/* The contacts of all islands that are above their limit: those of island k are order[first[k]] to
 * order[first[k+1] - 1]. */
static void sort_contacts(const scree_Islands *islands, int nc, int *first, int *order) {
  for (int k = 0, sum = 0; k <= islands->count; ++k) {
    first[k] = sum;
    if (k < islands->count) sum += islands->size[k];
  }
  for (int c = 0; c < nc; ++c) order[first[islands->of[c]]++] = c;
  for (int k = islands->count; k > 0; --k) first[k] = first[k - 1];
  first[0] = 0;
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
                             const double *defect, const int *first, const int *order, Room *room,
                             scree_StepReport *report, bool *tight, bool *changed) {
  const size_t d = (size_t)whole->d;
  const bool is_long = s->work.rest.steps == 0;
  const double before = s->work.spent;
  const double budget = scree_system_rest_work(s, scree_domain_sweep_seconds(s, whole));
  scree_Status status = SCREE_OK;
  *tight = true;
  for (int k = 0; k < rest->islands.count && !status; ++k) {
    scree_Portion part = {.problem = &room->problem,
                          .solver = s->resting,
                          .r = room->r,
                          .u = room->u,
                          .allowed = scree_system_held_part() * rest->loads[k],
                          .rests = true,
                          .rest_work = budget - (s->work.spent - before)};
    if (!(rest->loads[k] > 0) || !(defect[k] > part.allowed)) continue;
    if (!(part.rest_work > 0)) {
      *tight = false;
      break;
    }
    bool held;
    take_island(whole, order + first[k], rest->islands.size[k], rest->start, room);
    status = hold_island(s, &part, is_long, report, &held);
    *tight = *tight && held;
    if (status || !(scree_portion_defect(s, &part) < defect[k])) continue;
    *changed = true;
    for (int i = 0; i < room->problem.nc; ++i)
      copy_row(s->posed.r, (size_t)room->contact[i], room->r, (size_t)i, d);
  }
  return status;
}

scree_Status scree_rest_hold(scree_System *s, const scree_Portion *whole, const scree_Rest *rest,
                             scree_StepReport *report) {
  const scree_Problem *problem = whole->problem;
  scree_Arena *arena = &s->scratch;
  const int count = rest->islands.count;
  if (count == 0) return SCREE_OK;
  double *defect = SCREE_TAKE(arena, double, count);
  int *first = SCREE_TAKE_RAW(arena, int, count + 1);
  int *order = SCREE_TAKE_RAW(arena, int, problem->nc);
  if (!defect || !first || !order) return scree_fail_memory(s->log, "islands that rest");
  measure_islands(s, problem, rest, defect);
  int most = 0;
  for (int k = 0; k < count; ++k)
    if (defect[k] > scree_system_held_part() * rest->loads[k] && rest->loads[k] > 0 &&
        rest->islands.size[k] > most)
      most = rest->islands.size[k];
  if (most == 0) return SCREE_OK;
  Room room;
  scree_Status status = SCREE_OK;
  if (!s->resting) {
    const scree_SolveSettings settings = scree_system_solve_settings(s, true);
    status = scree_solver_create(&settings, s->log, &s->resting);
  }
  if (!status) status = make_room(s, problem, most, &room);
  if (status) return status;
  sort_contacts(&rest->islands, problem->nc, first, order);
  bool tight, changed = false;
  status = hold_all(s, problem, rest, defect, first, order, &room, report, &tight, &changed);
  if (status) return status;
  scree_pause_after(&s->work.rest, tight);
  if (!changed) return SCREE_OK;
  /* measure the whole again, from the impulses alone: they meet the tolerance */
  scree_SolveSettings settings = scree_system_solve_settings(s, true);
  return scree_portion_solve(s, whole, &settings, INFINITY, report);
}

/* Solves that several ranks make together.
 *
 * Rank 0 runs the program and has the problem. The other ranks wait in scree_solver_serve for its
 * orders: a solve, or the end. For a solve rank 0 sends the settings and the graph of the problem
 * to all, and to each the numbers of its contacts (problem/division.h); then all run the same
 * solver on their parts, and rank 0 collects the impulses. A rank other than 0 so needs memory for
 * its part, and four to eight bytes for each contact and body of the whole.
 *
 * Wherever a rank may fail, all agree before they go on: no rank waits for one that has given up.
 */
#include "core/clock.h"
#include "core/log.h"
#include "problem/widen.h"
#include "solver/driver.h"
#include "solver/registry.h"

#include <string.h>

enum { NAME_SIZE = 32 };

enum { END, SOLVE };

/* Data that rank 0 sends before a solve. Ranks are processes of one program on machines of one
 * kind, so structs are sent as they are. */
typedef struct Order {
  int command;
  char solver[NAME_SIZE];
  scree_SolverOptions options;
  scree_SolveSettings settings; /* without what is behind pointers */
  scree_DivisionForm form;
  scree_OperatorKind kind;
  scree_Flow flow;
  int d, nc, nbodies, nb;
  size_t blocks; /* of an assembled W */
} Order;

static bool has_vertices(const scree_Problem *problem) {
  return problem->general.count > 0 || problem->vertices.count > 0;
}

bool scree_solver_divides(const scree_Solver *solver, const scree_Problem *problem) {
  const int ranks = scree_ranks_count(solver->settings.ranks);
  const int constraints = scree_problem_constraints(problem);
  if (ranks == 1 || constraints == 0 ||
      (has_vertices(problem) && !scree_problem_can_widen(problem)))
    return false;
  return solver->class_ != &scree_solver_auto || constraints / ranks >= SCREE_CONTACTS_PER_RANK;
}

static Order make_order(const scree_Solver *solver, const scree_Problem *p) {
  Order order;
  memset(&order, 0, sizeof order); /* padding too, since it is sent */
  order.command = SOLVE;
  strncpy(order.solver, solver->class_->name, NAME_SIZE - 1);
  order.options = solver->options;
  order.settings = solver->settings;
  order.settings.solver = NULL;
  order.settings.progress = NULL;
  order.settings.interrupted = NULL;
  order.form = scree_division_form(p);
  order.kind = p->kind;
  order.flow = p->flow;
  order.d = p->d;
  order.nc = p->nc;
  order.nbodies = p->bodies.nbodies;
  order.nb = p->bodies.nb;
  order.blocks = p->kind == SCREE_ASSEMBLED ? p->blocks.row[p->nc] : 0;
  return order;
}

/* Room for the graph on a rank that has no problem. */
static bool take_graph(const Order *order, scree_Arena *arena, scree_Problem *p) {
  *p = (scree_Problem){.d = order->d, .nc = order->nc, .flow = order->flow, .kind = order->kind};
  p->bodies.nbodies = order->nbodies;
  p->bodies.nb = order->nb;
  if (order->kind == SCREE_BODIES)
    return (p->bodies.body = SCREE_TAKE(arena, int, 2 * (size_t)order->nc));
  p->blocks.row = SCREE_TAKE(arena, size_t, (size_t)order->nc + 1);
  p->blocks.col = SCREE_TAKE(arena, int, order->blocks);
  return p->blocks.row && p->blocks.col;
}

static void send_graph(const scree_Ranks *ranks, const Order *order, const scree_Problem *p) {
  const size_t nc = (size_t)order->nc;
  if (order->kind == SCREE_BODIES) {
    scree_ranks_broadcast(ranks, p->bodies.body, 2 * nc * sizeof(int));
  } else {
    scree_ranks_broadcast(ranks, p->blocks.row, (nc + 1) * sizeof(size_t));
    scree_ranks_broadcast(ranks, p->blocks.col, order->blocks * sizeof(int));
  }
}

/* The part of this rank: graph, partition, halo. `whole` is the problem on rank 0, and is filled
 * with its graph on the others. */
static scree_Status divide(scree_Solver *solver, const Order *order, scree_Problem *whole) {
  const scree_Ranks *ranks = solver->settings.ranks;
  const scree_Log *log = &solver->log;
  const int rank = scree_ranks_rank(ranks), size = scree_ranks_size(ranks);
  scree_Arena *arena = &solver->dividing;
  const bool enough = rank == 0 || take_graph(order, arena, whole);
  int *part = SCREE_TAKE(arena, int, scree_division_blocks(whole));
  scree_Status status = enough && part ? SCREE_OK : scree_fail_memory(log, "a partition");
  if (!status && rank == 0) status = scree_division_partition(whole, size, arena, part, log);
  status = scree_ranks_agree(ranks, status, log);
  if (status) return status;
  send_graph(ranks, order, whole);
  scree_ranks_broadcast(ranks, part, (size_t)scree_division_blocks(whole) * sizeof *part);
  status = scree_division_create(whole, &order->form, ranks, rank, size, part, arena,
                                 &solver->division, log);
  return scree_ranks_agree(ranks, status, log);
}

/* The numbers of each rank's contacts, and its start. r is of the whole on rank 0. */
static scree_Status send_numbers(scree_Solver *solver, const double *r, double *mine) {
  const scree_Ranks *ranks = solver->settings.ranks;
  scree_Division *division = &solver->division;
  scree_Arena *arena = &solver->dividing;
  size_t most = scree_division_pack(division, division->rank, NULL, NULL);
  for (int k = 1; division->rank == 0 && k < division->size; ++k) {
    const size_t count = scree_division_pack(division, k, NULL, NULL);
    if (count > most) most = count;
  }
  const scree_ArenaMark mark = scree_arena_mark(arena);
  double *record = SCREE_TAKE_RAW(arena, double, most);
  scree_Status status =
      record ? SCREE_OK : scree_fail_memory(&solver->log, "the numbers of a rank");
  status = scree_ranks_agree(ranks, status, &solver->log);
  if (!status && division->rank == 0) {
    for (int k = 1; k < division->size; ++k) {
      const size_t count = scree_division_pack(division, k, r, record);
      scree_ranks_send(ranks, k, record, count);
    }
    scree_division_pack(division, 0, r, record);
  } else if (!status) {
    scree_ranks_receive(ranks, record, most);
  }
  if (!status) scree_division_unpack(division, record, mine);
  scree_arena_release(arena, mark);
  return status;
}

/* Messages and bytes that all ranks have sent since `before`. */
static scree_RankCounts count_sent(const scree_Ranks *ranks, const scree_RankCounts *before) {
  const scree_RankCounts now = scree_ranks_counts(ranks);
  const scree_RankCounts mine = {now.messages - before->messages, now.bytes - before->bytes,
                                 now.synchronisations - before->synchronisations};
  const scree_RankCounts *all = scree_ranks_gather(ranks, &mine, sizeof mine);
  scree_RankCounts sum = {.synchronisations = mine.synchronisations};
  for (int k = 0; k < scree_ranks_size(ranks); ++k) {
    sum.messages += all[k].messages;
    sum.bytes += all[k].bytes;
  }
  return sum;
}

/* Vectors of one solve. */
typedef struct Vectors {
  double *r, *u, *reported; /* of this rank */
  double *work, *state;     /* of the whole, on rank 0 */
} Vectors;

static scree_Status take_vectors(scree_Solver *solver, Vectors *v) {
  const scree_Division *division = &solver->division;
  scree_Arena *arena = &solver->dividing;
  const bool bodies = division->whole->kind == SCREE_BODIES, first = division->rank == 0;
  const size_t nb = (size_t)division->whole->bodies.nb, n = scree_problem_rows(&division->problem);
  const size_t rows = (size_t)division->halo.rows;
  const size_t state = bodies ? ((size_t)division->blocks + 1) * nb : 0;
  v->r = SCREE_TAKE(arena, double, n);
  v->u = SCREE_TAKE(arena, double, n);
  v->reported = SCREE_TAKE_RAW(arena, double, bodies ? (size_t)division->halo.blocks *nb : 0);
  v->work = SCREE_TAKE_RAW(arena, double, first ? (rows > state ? rows : state) : 0);
  v->state = SCREE_TAKE(arena, double, first ? state : 0);
  const bool enough = v->r && v->u && v->reported && v->work && v->state;
  return scree_ranks_agree(
      solver->settings.ranks,
      enough ? SCREE_OK : scree_fail_memory(&solver->log, "the vectors of a rank"), &solver->log);
}

/* The part of a solve that every rank runs. r, u and info are those of the caller on rank 0, else
 * null. */
static scree_Status take_part(scree_Solver *solver, const Order *order, scree_Problem *whole,
                              double *r, double *u, scree_SolveInfo *info) {
  const scree_Ranks *ranks = solver->settings.ranks;
  const scree_RankCounts before = scree_ranks_counts(ranks);
  const double start = scree_seconds(), *velocities = NULL;
  Vectors v = {0};
  scree_Division *division = &solver->division;
  division->problem = (scree_Problem){0};
  scree_Status status = divide(solver, order, whole);
  if (!status) status = take_vectors(solver, &v);
  if (!status) status = send_numbers(solver, r, v.r);
  const scree_RankCounts sent = count_sent(ranks, &before);
  const double prepared = scree_seconds() - start;
  if (!status)
    status =
        scree_solver_solve_part(solver, &division->problem, division, v.r, v.u, info, &velocities);
  if (status <= SCREE_NOT_CONVERGED) {
    info->sent = count_sent(ranks, &before);
    info->sent_before = sent;
    info->imbalance = scree_division_imbalance(division);
    info->seconds += prepared;
    scree_division_collect(division, v.r, v.work, r);
    scree_division_collect(division, v.u, v.work, u);
    if (whole->kind == SCREE_BODIES) {
      scree_division_collect_state(division, velocities, v.reported, v.work, v.state);
      solver->velocities = v.state;
    }
  }
  scree_problem_destroy(&division->problem);
  return status;
}

scree_Status scree_solver_solve_divided(scree_Solver *solver, const scree_Problem *problem,
                                        double *r, double *u, scree_SolveInfo *info) {
  scree_Problem whole = *problem;
  scree_arena_reset(&solver->dividing);
  scree_Status status = SCREE_OK;
  if (has_vertices(problem)) /* the others do not know of it yet */
    status = scree_problem_widen(problem, &solver->dividing, &whole, &solver->log);
  if (status) return status;
  const scree_Problem wide = whole; /* `whole` loses its numbers */
  Order order = make_order(solver, &wide);
  scree_ranks_broadcast(solver->settings.ranks, &order, sizeof order);
  status = take_part(solver, &order, &whole, r, u, info);
  if (status > SCREE_NOT_CONVERGED || !has_vertices(problem)) return status;
  const scree_Status narrowed = scree_problem_narrow(
      problem, &wide, solver->velocities, &solver->dividing, &solver->velocities, &solver->log);
  return narrowed ? narrowed : status;
}

/* ---- the other ranks ---------------------------------------------------------------------------
 */

static void obey(scree_Solver *solver, const scree_Ranks *ranks, const Order *order) {
  scree_Problem whole;
  scree_SolveInfo info;
  memset(&info, 0, sizeof info);
  scree_arena_reset(&solver->dividing);
  solver->class_ = scree_solver_class_find(order->solver);
  solver->options = order->options;
  solver->settings = order->settings;
  solver->settings.solver = solver->class_->name;
  solver->settings.ranks = ranks;
  solver->poll = (scree_Poll){0};
  (void)take_part(solver, order, &whole, NULL, NULL, &info); /* rank 0 tells the caller */
}

scree_Status scree_solver_serve(const scree_Ranks *ranks, const scree_Log *log) {
  scree_Solver solver;
  Order order;
  scree_solver_init(&solver, log);
  for (;;) {
    scree_ranks_broadcast(ranks, &order, sizeof order);
    if (order.command == END) break;
    obey(&solver, ranks, &order);
  }
  scree_solver_fini(&solver);
  return SCREE_OK;
}

void scree_solver_dismiss(const scree_Ranks *ranks) {
  Order order;
  memset(&order, 0, sizeof order);
  order.command = END;
  scree_ranks_broadcast(ranks, &order, sizeof order);
}

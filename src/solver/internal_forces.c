/* Internal forces: impulses g != 0 of the sets' directions with W g = 0, which press bodies against
 * each other without moving any of them, as a ball between two walls does.
 *
 * 002 Theorem 1 shows for a non-associated flow with given H that a solution exists, and that all
 * solutions are bounded, where there are none. Where there are some, they may make impulses
 * ambiguous: with v the velocity of the law (H u, or u + s(u)), r + t g is a solution for all
 * t >= 0 exactly if <v, g> = 0, since v is in the dual cone of the directions. Such g are looked
 * for: no part of them is at open contacts, and at sliding ones they are on the side of the cone
 * that slides.
 *
 * These g are a convex cone G. The projection of the vector n of all normals on G is zero only if
 * G = {0}, as g_n >= 0. It is the limit for small e of e times the solution of
 *     min  g W g / 2 + e |g|^2 / 2 + <b v - n, g>    over the cones,     b large,
 * a contact problem of the associated flow with compliance e, which ipm solves for e far below
 * all that matters. If G = {0} the solution is such that |W g| is not small against |g|. */
#include "core/log.h"
#include "problem/graph.h"
#include "problem/operator.h"
#include "solver/driver.h"

#include <math.h>
#include <string.h>

static const struct {
  double weight;    /* e, over the mean diagonal of W */
  double tolerance; /* of that solve */
  double internal;  /* |W g| over the mean diagonal and |g| below which g is an internal force */
  double part;      /* of the largest normal impulse above which a contact takes part */
} rules = {.weight = 1e-8, .tolerance = 1e-6, .internal = 1e-4, .part = 1e-3};

/* A copy of the problem with other q, sets and compliance; the rest is shared. */
typedef struct Relaxed {
  scree_Problem problem;
  double *q, *g, *u, *C, *x, *y;
  uint8_t *set;
  scree_Arena *arena; /* of all of these */
} Relaxed;

/* The cone of directions of a set: cohesion and balls drop out, bounded sets have none. */
static scree_SetKind directions(scree_SetKind kind) {
  return kind == SCREE_SET_SHIFTED || kind == SCREE_SET_CONE_BALL ? SCREE_SET_CONE : kind;
}

static bool has_directions(scree_SetKind kind) {
  return kind != SCREE_SET_CAPPED && kind != SCREE_SET_BALL;
}

/* W + e I. */
static bool add_weight(const scree_Operator *W, double e, Relaxed *f) {
  const scree_Problem *p = W->problem;
  const size_t d = (size_t)p->d, nc = (size_t)p->nc, dd = d * d;
  if (p->kind == SCREE_ASSEMBLED) {
    const size_t count = p->blocks.row[nc] * dd;
    if (!(f->x = SCREE_TAKE_RAW(f->arena, double, count))) return false;
    memcpy(f->x, p->blocks.x, count * sizeof *f->x);
    for (size_t c = 0; c < nc; ++c) {
      const size_t first = p->blocks.row[c], n = p->blocks.row[c + 1] - first;
      for (size_t k = 0; k < n; ++k)
        for (size_t i = 0; i < d && p->blocks.col[first + k] == (int)c; ++i)
          f->x[dd * first + i * d * n + d * k + i] += e;
    }
    f->problem.blocks.x = f->x;
    return true;
  }
  if (!(f->C = SCREE_TAKE_RAW(f->arena, double, nc *dd))) return false;
  for (size_t k = 0; k < nc * dd; ++k)
    f->C[k] = (p->bodies.C ? p->bodies.C[k] : 0) + (k % dd % (d + 1) == 0 ? e : 0);
  f->problem.bodies.C = f->C;
  return true;
}

/* The velocity v of the law at contact c. */
static void law_velocity(const scree_Problem *p, int c, const double *u, double *v) {
  const int d = p->d;
  if (p->flow_blocks) {
    const double *H = p->flow_blocks + (size_t)c * (size_t)(d * d);
    for (int i = 0; i < d; ++i) {
      v[i] = 0;
      for (int j = 0; j < d; ++j) v[i] += H[i * d + j] * u[j];
    }
    return;
  }
  memcpy(v, u, (size_t)d * sizeof *v);
  if (p->flow == SCREE_COULOMB) v[0] += p->mu[c] * (d == 2 ? fabs(u[1]) : hypot(u[1], u[2]));
}

static bool relax(const scree_Operator *W, const double *u, double accuracy, Relaxed *f) {
  const scree_Problem *p = W->problem;
  const int d = p->d, n = scree_problem_constraints(p);
  const double m = W->mean_diagonal;
  double largest = 0;
  for (size_t k = 0; k < W->rows; ++k) largest = fmax(largest, fmax(fabs(u[k]), fabs(p->q[k])));
  const double b = largest > 0 ? m / (accuracy * largest) : 0;
  f->problem = *p;
  f->problem.owned = NULL;
  f->problem.flow = SCREE_ASSOCIATED;
  f->problem.flow_blocks = NULL;
  f->q = SCREE_TAKE_RAW(f->arena, double, W->rows);
  f->g = SCREE_TAKE_RAW(f->arena, double, W->rows);
  f->u = SCREE_TAKE_RAW(f->arena, double, W->rows);
  f->y = SCREE_TAKE_RAW(f->arena, double, W->state_size);
  f->set = p->set ? SCREE_TAKE_RAW(f->arena, uint8_t, (size_t)n) : NULL;
  if (!f->q || !f->g || !f->u || !f->y || (p->set && !f->set)) return false;
  memset(f->q, 0, W->rows * sizeof *f->q);
  f->problem.q = f->q;
  for (int c = 0; c < n; ++c) {
    const size_t at = scree_row_of(W, c);
    const scree_SetKind kind = p->set ? (scree_SetKind)p->set[c] : SCREE_SET_CONE;
    if (f->set) f->set[c] = (uint8_t)directions(kind);
    if (c >= p->nc || kind == SCREE_SET_SPACE) continue;
    double v[3];
    law_velocity(p, c, u + at, v);
    for (int k = 0; k < d; ++k) f->q[at + (size_t)k] = b * v[k];
    f->q[at] += has_directions(kind) ? -m : m / accuracy;
  }
  if (f->set) f->problem.set = f->set;
  return add_weight(W, rules.weight * m, f);
}

/* Scale g to a largest entry of 1 and judge it. */
static void judge(const scree_Operator *W, Relaxed *f, scree_InternalForces *found) {
  const scree_Problem *p = W->problem;
  double largest = 0, normal = 0, moved = 0;
  for (size_t k = 0; k < W->rows; ++k) largest = fmax(largest, fabs(f->g[k]));
  if (!(largest > 0)) return;
  for (size_t k = 0; k < W->rows; ++k) f->g[k] /= largest;
  scree_operator_apply(W, f->g, NULL, f->y, f->u);
  for (size_t k = 0; k < W->rows; ++k) moved = fmax(moved, fabs(f->u[k]));
  found->residual = moved / W->mean_diagonal;
  found->any = found->residual <= rules.internal;
  if (!found->any) return;
  for (int c = 0; c < p->nc; ++c) normal = fmax(normal, f->g[(size_t)c * (size_t)p->d]);
  for (int c = 0; c < p->nc; ++c)
    found->contacts += f->g[(size_t)c * (size_t)p->d] > rules.part * normal;
}

/* The operator of the problem, with memory of the arena. */
static scree_Status prepare(const scree_Problem *problem, scree_Arena *arena, const scree_Log *log,
                            scree_Operator *W) {
  size_t *row = NULL;
  int *entry = NULL;
  scree_Status status = SCREE_OK;
  if (problem->kind == SCREE_BODIES) status = scree_body_graph(problem, arena, &row, &entry, log);
  return status ? status : scree_operator_init(problem, NULL, 1, row, entry, arena, log, W);
}

static scree_Status find(scree_Solver *solver, const scree_Operator *W, const double *u,
                         double accuracy, double *g, Relaxed *f, scree_InternalForces *found) {
  const scree_Log *log = &solver->log;
  if (!relax(W, u, accuracy, f)) return scree_fail_memory(log, "the search for internal forces");
  scree_SolveSettings settings = scree_solve_settings();
  const scree_SolverClass *ipm = scree_solver_class_find("ipm");
  settings.solver = scree_solver_class_refuses(ipm, &f->problem) ? "auto" : "ipm";
  settings.tolerance = rules.tolerance;
  settings.threads = W->threads;
  scree_Status status = scree_solver_set_settings(solver, &settings);
  if (!status) status = scree_solver_solve(solver, &f->problem, f->g, f->u, NULL);
  if (status > SCREE_NOT_CONVERGED) return status;
  judge(W, f, found);
  for (size_t k = 0; g && k < W->rows; ++k) g[k] = found->any ? f->g[k] : 0;
  return SCREE_OK;
}

scree_Status scree_solver_internal_forces(scree_Solver *solver, const scree_Problem *problem,
                                          const double *u, double accuracy, double *g,
                                          scree_InternalForces *found) {
  scree_Operator W;
  Relaxed f = {.arena = &solver->aside};
  *found = (scree_InternalForces){.residual = NAN};
  if (problem->nc == 0) {
    for (size_t k = 0; g && k < scree_problem_rows(problem); ++k) g[k] = 0;
    return SCREE_OK;
  }
  scree_solver_forget(solver);
  scree_arena_reset(f.arena);
  const scree_Status status = prepare(problem, f.arena, &solver->log, &W);
  return status ? status : find(solver, &W, u, accuracy, g, &f, found);
}

scree_Status scree_internal_forces(const scree_Problem *problem, const double *u, double accuracy,
                                   double *g, scree_InternalForces *found, const scree_Log *log) {
  scree_Solver solver;
  scree_solver_init(&solver, log);
  const scree_Status status = scree_solver_internal_forces(&solver, problem, u, accuracy, g, found);
  scree_solver_fini(&solver);
  return status;
}

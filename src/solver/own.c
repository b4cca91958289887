/* Solves of problems that are posed in parts (see own.h). */
#include "solver/own.h"

#include "core/log.h"
#include "solver/driver.h"
#include "solver/registry.h"

#include <string.h>

static scree_Status check(const scree_Solver *solver, const scree_Problem *problem,
                          const scree_OwnPart *part) {
  if (problem->kind != SCREE_BODIES)
    return scree_fail(&solver->log, SCREE_BAD_INPUT,
                      "a problem posed in parts with an assembled W, expected bodies");
  if (!(solver->class_->capabilities & SCREE_CAN_RANKS))
    return scree_solver_refuse_ranks(solver, part->size);
  if (problem->vertices.count && solver->class_->capabilities & SCREE_RANKS_BODIES_ONLY)
    return scree_fail(&solver->log, SCREE_BAD_INPUT,
                      "solver %s works on one rank where bodies deform, and was started on %d",
                      solver->class_->name, part->size);
  const scree_Status status = scree_problem_check(problem, &solver->log);
  const char *reason = scree_solver_class_refuses(solver->class_, problem);
  if (status || !reason) return status;
  return scree_fail(&solver->log, SCREE_BAD_INPUT, "solver %s cannot solve this problem: %s",
                    solver->class_->name, reason);
}

/* Messages and bytes that all ranks have sent since `before`. */
static scree_RankCounts count_sent(const scree_Ranks *ranks, const scree_RankCounts *before) {
  const scree_RankCounts now = scree_ranks_counts(ranks);
  double sums[2] = {(double)(now.messages - before->messages), (double)(now.bytes - before->bytes)};
  scree_ranks_add(ranks, sums, 2);
  return (scree_RankCounts){(long long)sums[0], (long long)sums[1],
                            now.synchronisations - before->synchronisations};
}

scree_Status scree_solver_solve_own(scree_Solver *solver, const scree_Problem *problem,
                                    const scree_OwnPart *part, double *r, double *u,
                                    scree_SolveInfo *info) {
  const scree_SolveSettings *settings = &solver->settings;
  const scree_Ranks *ranks = part->ranks;
  const scree_Log *log = &solver->log;
  const scree_RankCounts before = scree_ranks_counts(ranks);
  scree_Division *division = &solver->division;
  memset(info, 0, offsetof(scree_SolveInfo, stages));
  info->imbalance = 1.0;
  solver->velocities = NULL;
  solver->poll = (scree_Poll){settings->interrupted, settings->interrupted_user, false};
  scree_arena_reset(&solver->dividing);
  scree_Status status = scree_ranks_agree(ranks, check(solver, problem, part), log);
  if (!status)
    status =
        scree_division_create_own(problem, ranks, &part->blocks, &solver->dividing, division, log);
  if (!status && division->halo.any_size && problem->nc)
    status = scree_fail(log, SCREE_BAD_INPUT,
                        "a part of a problem with %d contacts of plain rows, expected none where "
                        "some rank has constraints of any size",
                        problem->nc);
  status = scree_ranks_agree(ranks, status, log);
  if (status) return status;
  division->bodies = part->whole;
  if (!settings->warm_start)
    for (size_t i = 0, n = scree_problem_rows(problem); i < n; ++i) r[i] = 0.0;
  solver->settings.ranks = ranks;
  const double *velocities = NULL;
  status = scree_solver_solve_part(solver, problem, division, r, u, info, &velocities);
  if (status > SCREE_NOT_CONVERGED) return status;
  solver->velocities = velocities;
  info->work = scree_ranks_max(ranks, info->work); /* decisions are taken from it, on all ranks */
  info->sent = count_sent(ranks, &before);
  info->imbalance = scree_division_imbalance(division);
  return status;
}

int scree_solver_first_contact(const scree_Solver *solver) {
  return solver->division.first;
}

scree_Status scree_solver_operator(const scree_Solver *solver, const scree_Problem *problem,
                                   int threads, const scree_Log *log, scree_Operator *W) {
  const scree_Halo *halo = solver->division.own ? &solver->division.halo : NULL;
  return scree_operator_create_divided(problem, halo, threads, log, W);
}

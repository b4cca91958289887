/* Scale impulses that are not a solution so that they create no energy.
 *
 * The law requires r_c . u_c <= 0 for each contact, u with all terms of q: an impulse acts against
 * the remaining motion or is zero. A solution that was stopped when the work limit of the step was
 * reached, or that meets a tolerance relative to impulses which are huge compared with those of the
 * lightest bodies, may have r_c . u_c > 0: bodies are thrown, and the sum over such contacts is the
 * energy that they add. Where it exceeds the allowed energy (certify.c) their impulses are scaled
 * down, one contact after the other as in Gauss-Seidel, to
 *
 *     a r_c ,   a = max(0, 1 - r_c . u_c / (r_c . W_cc r_c)) ,
 *
 * for which r_c . u_c is zero with the other impulses unchanged. Scaled impulses stay in their
 * cones (in all sets that contain zero), and those of the neighbours add less energy, since bodies
 * come closer. Where a solution that met the tolerance does not any more, solving goes on from the
 * scaled impulses for somewhat less error, which costs much less than a halved step. If sweeps do
 * not reach the limit, all impulses are scaled by one factor, for which the sum over all contacts
 * is zero. The price is a loss of support: bodies come closer than they should, which the
 * certificate shows as error of the law and, in the next step, as penetration. */
#include "core/log.h"
#include "core/memory.h"
#include "problem/measure.h"
#include "solver/own.h"
#include "step/system.h"

#include <assert.h>

enum { SWEEPS = 50 };
enum { FURTHER = 3 }; /* times that a solution is improved after it was lowered */

typedef struct Kicked {
  const scree_System *s;
  const scree_Operator *W;
  double *r; /* (nc x d) */
  double *y; /* state of r */
} Kicked;

/* r_c . u_c */
static double work_of(const Kicked *k, int c) {
  const scree_Problem *p = k->W->problem;
  const double *r = k->r + (size_t)c * (size_t)p->d;
  double u[3], work = 0;
  scree_contact_velocity(k->W, p->kind, p->d, p->bodies.nb, c, k->r, k->y, p->q, u);
  for (int i = 0; i < p->d; ++i) work += r[i] * u[i];
  return work;
}

/* Sums over the contacts that add energy, and over all contacts. */
static double created(const Kicked *k, double *total) {
  double sum = 0;
  *total = 0;
  for (int c = 0; c < k->W->problem->nc; ++c) {
    const double work = work_of(k, c);
    sum += fmax(0, work);
    *total += work;
  }
  double all[2] = {sum, *total};
  scree_system_sums(k->s, all, 2);
  *total = all[1];
  return all[0];
}

/* r_c . W_cc r_c */
static double own_square(const Kicked *k, int c) {
  const int d = k->W->problem->d;
  const double *r = k->r + (size_t)c * (size_t)d;
  double room[9], square = 0;
  const double *Wcc = scree_contact_diagonal(k->W, d, c, room);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) square += r[i] * Wcc[i * d + j] * r[j];
  return square;
}

static void scale_contact(const Kicked *k, int c, double factor) {
  assert(factor >= 0 && factor <= 1);
  const scree_Problem *p = k->W->problem;
  double *r = k->r + (size_t)c * (size_t)p->d, change[3];
  for (int i = 0; i < p->d; ++i) {
    change[i] = (factor - 1) * r[i];
    r[i] *= factor;
  }
  scree_contact_update(k->W, p->kind, p->d, p->bodies.nb, c, change, k->y);
}

static void sweep(const Kicked *k) {
  for (int c = 0; c < k->W->problem->nc; ++c) {
    const double work = work_of(k, c);
    if (!(work > 0)) continue;
    const double square = own_square(k, c);
    scale_contact(k, c, square > work ? 1 - work / square : 0);
  }
  if (k->s->domain.global) scree_operator_state(k->W, k->r, k->y); /* of all ranks */
}

/* Scale all impulses by one factor a: the sum is a (r.q + a r.W r), `total` at a = 1. */
static void scale_all(const Kicked *k, double total) {
  const scree_Problem *p = k->W->problem;
  const size_t n = (size_t)p->nc * (size_t)p->d;
  double outside = 0;
  for (size_t i = 0; i < n; ++i) outside += k->r[i] * p->q[i];
  scree_system_sums(k->s, &outside, 1);
  const double square = total - outside, factor = square > total ? 1 - total / square : 0;
  for (size_t i = 0; i < n; ++i) k->r[i] *= factor;
  scree_operator_state(k->W, k->r, k->y);
}

static void lower(const Kicked *k, double allowed) {
  double total, sum = created(k, &total);
  for (int i = 0; i < SWEEPS && sum > allowed; ++i) {
    sweep(k);
    sum = created(k, &total);
  }
  if (sum > allowed && total > 0) scale_all(k, total);
}

/* Velocities and measures of the current impulses. */
static void measure(scree_System *s, const Kicked *k, scree_StepReport *report) {
  scree_Posed *p = &s->posed;
  scree_SolveInfo *info = &report->solve;
  scree_operator_velocity(k->W, p->r, k->y, p->q, p->u);
  scree_measure_all(k->W, p->r, p->u, NULL, &info->measures);
  const scree_Measure asked = s->settings.solve.measure;
  info->value = scree_measure_value(
      k->W, asked == SCREE_MEASURE_INCREMENT ? SCREE_MEASURE_ERROR : asked, p->r, p->u);
  info->converged = info->value <= report->tolerance;
  p->y = k->y;
}

/* Energy that contacts with r_c . u_c > 0 add. */
static double added(const scree_System *s) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  double sum = 0;
  for (int c = 0; c < s->deform.first; ++c) {
    double work = 0;
    for (size_t i = (size_t)c * d; i < ((size_t)c + 1) * d; ++i) work += p->r[i] * p->u[i];
    sum += fmax(0, work);
  }
  scree_system_sums(s, &sum, 1);
  return sum;
}

static scree_Status lower_and_measure(scree_System *s, const scree_Problem *problem, double allowed,
                                      scree_StepReport *report) {
  scree_Operator W;
  scree_Status status = scree_solver_operator(s->solver, problem, s->threads, s->log, &W);
  if (status) return status;
  if (!scree_grow_lean((void **)&s->posed.lowered, &s->posed.lowered_capacity, W.state_size,
                       sizeof(double)))
    status = scree_fail_memory(s->log, "impulses that create no energy");
  status = scree_domain_agree(s, status);
  if (!status) {
    const Kicked k = {.s = s, .W = &W, .r = s->posed.r, .y = s->posed.lowered};
    scree_operator_state(&W, k.r, k.y);
    lower(&k, allowed);
    measure(s, &k, report);
  }
  scree_operator_destroy(&W);
  return status;
}

scree_Status scree_system_dissipate(scree_System *s, double kinetic, scree_StepReport *report) {
  const scree_Problem problem = scree_system_problem(s);
  const double allowed = scree_system_work_allowed(s, kinetic, report->h);
  /* the joints would have to be solved again */
  if (s->joints.all > 0 || problem.general.count > 0 || scree_rolls(s)) return SCREE_OK;
  if (s->domain.deforms && scree_system_max(s, s->posed.nc > s->deform.first) > 0)
    return SCREE_OK; /* as without ranks */
  for (int k = 0;; ++k) {
    const bool converged = report->solve.converged;
    if (!(added(s) > allowed)) return SCREE_OK;
    scree_Status status = lower_and_measure(s, &problem, allowed, report);
    if (status || report->solve.converged || !converged || k == FURTHER) return status;
    status = scree_system_solve_further(s, k, report);
    if (status) return status;
  }
}

/* Impulses that are not a solution but create no energy.
 *
 * Contacts of bodies without drivers can only take energy. An exact solution does so, but one that
 * was stopped when the work of the step was used up, or that meets a tolerance relative to impulses
 * which are huge against the lightest bodies, may do positive work: bodies are thrown. The work of
 * contact c on the bodies is, with u+ after and u- before the kick (certify.c),
 *
 *     w_c = r_c . (u+_c + u-_c) / 2 - r_n p ,
 *
 * without the work of a normal velocity u_a > 0 that the law asks for, p = (u_a + min(u-_n, u_a))/2
 * or 0: that of pushing bodies out of penetration, which is limited elsewhere (certify.c), and of
 * bodies that bounce later in the step (delay.c).
 *
 * When the sum exceeds what is allowed (certify.c), impulses of contacts with w_c > 0 are scaled
 * down, one contact after the other as in Gauss-Seidel, to
 *
 *     a r_c ,   a = max(0, 1 - 2 w_c / (r_c . W_cc r_c)) ,
 *
 * where w_c is zero with the other impulses as they are. Scaled impulses stay in their cones (in
 * all sets that hold zero). A contact with w_c > 0 may be right in a solution whose other contacts
 * take more, so this ends as soon as the sum is allowed. If sweeps do not get there, all impulses
 * are scaled by the a <= 1 for which the sum, a quadratic function of a, is not positive. What is
 * lost is support: bodies come closer than they should, which the certificate shows as error of the
 * law and, in the next step, as penetration. */
#include "core/log.h"
#include "core/memory.h"
#include "problem/measure.h"
#include "step/system.h"

#include <string.h>

enum { SWEEPS = 50 };

typedef struct Kicked {
  const scree_System *s;
  const scree_Operator *W;
  double *before; /* (nc x d) u- */
  double *y;      /* state of r */
} Kicked;

/* p of contact c. */
static double wanted(const scree_System *s, int c, double before) {
  const double asked = -s->posed.shift[(size_t)c * (size_t)s->bodies.dimension];
  return asked > 0 ? fmax(0, 0.5 * (asked + fmin(before, asked))) : 0;
}

/* u+ + u- of contact c, and 2 w_c. */
static double twice_work(const Kicked *k, int c, double sum[3]) {
  const scree_Problem *p = k->W->problem;
  const scree_Posed *posed = &k->s->posed;
  const int d = p->d;
  const size_t at = (size_t)c * (size_t)d;
  double work = 0;
  scree_contact_velocity(k->W, p->kind, d, p->bodies.nb, c, posed->r, k->y, p->q, sum);
  for (int i = 0; i < d; ++i) {
    sum[i] += k->before[at + (size_t)i] - posed->shift[at + (size_t)i];
    work += posed->r[at + (size_t)i] * sum[i];
  }
  return work - 2 * posed->r[at] * wanted(k->s, c, k->before[at]);
}

static double total_work(const Kicked *k) {
  double total = 0, sum[3];
  for (int c = 0; c < k->s->posed.nc; ++c) total += 0.5 * twice_work(k, c, sum);
  return total;
}

/* r_c . W_cc r_c */
static double own_square(const Kicked *k, int c) {
  const int d = k->W->problem->d;
  const double *r = k->s->posed.r + (size_t)c * (size_t)d;
  double room[9], square = 0;
  const double *Wcc = scree_contact_diagonal(k->W, d, c, room);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) square += r[i] * Wcc[i * d + j] * r[j];
  return square;
}

static void scale_contact(const Kicked *k, int c, double factor) {
  const scree_Problem *p = k->W->problem;
  double *r = k->s->posed.r + (size_t)c * (size_t)p->d, change[3];
  for (int i = 0; i < p->d; ++i) {
    change[i] = (factor - 1) * r[i];
    r[i] *= factor;
  }
  scree_contact_update(k->W, p->kind, p->d, p->bodies.nb, c, change, k->y);
}

static void sweep(const Kicked *k) {
  double sum[3];
  for (int c = 0; c < k->s->posed.nc; ++c) {
    const double work = twice_work(k, c, sum);
    if (!(work > 0)) continue;
    const double square = own_square(k, c);
    scale_contact(k, c, square > work ? 1 - work / square : 0);
  }
}

/* All impulses by one factor: the sum of 2 w is a (b + a r.W r), with b + r.W r the sum at a = 1.
 */
static void scale_all(const Kicked *k) {
  const scree_Problem *p = k->W->problem;
  const size_t n = (size_t)p->nc * (size_t)p->d;
  double square = 0, sum[3];
  for (int c = 0; c < p->nc; ++c) {
    const double *r = k->s->posed.r + (size_t)c * (size_t)p->d;
    scree_contact_velocity(k->W, p->kind, p->d, p->bodies.nb, c, k->s->posed.r, k->y, NULL, sum);
    for (int i = 0; i < p->d; ++i) square += r[i] * sum[i];
  }
  const double work = 2 * total_work(k), factor = square > work ? 1 - work / square : 0;
  for (size_t i = 0; i < n; ++i) k->s->posed.r[i] *= factor;
  scree_operator_state(k->W, k->s->posed.r, k->y);
}

static void lower(const Kicked *k, double allowed) {
  double total = total_work(k);
  for (int i = 0; i < SWEEPS && total > allowed; ++i) {
    sweep(k);
    total = total_work(k);
  }
  if (total > allowed) scale_all(k);
}

/* Velocities and measures of the impulses as they are now. */
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

scree_Status scree_system_dissipate(scree_System *s, double kinetic, scree_StepReport *report) {
  const scree_Problem problem = scree_system_problem(s);
  const size_t d = (size_t)problem.d, nc = (size_t)problem.nc;
  double work = 0;
  for (int c = 0; c < problem.nc; ++c) {
    double before[3];
    const double *r = s->posed.r + (size_t)c * d;
    if (r[0] == 0 && r[1] == 0 && (d == 2 || r[2] == 0)) continue;
    scree_system_approach(s, c, before, NULL);
    for (int i = 0; i < problem.d; ++i)
      work += 0.5 * r[i] * (scree_system_velocity(s, c, i) + before[i]);
    work -= r[0] * wanted(s, c, before[0]);
  }
  const double allowed = scree_system_work_allowed(s, kinetic, report->h);
  if (!(work > allowed)) return SCREE_OK;
  scree_Operator W;
  const scree_Status status = scree_operator_create(&problem, s->threads, s->log, &W);
  if (status) return status;
  double *before = SCREE_ALLOC(double, nc *d);
  if (!before || !scree_grow_lean((void **)&s->posed.lowered, &s->posed.lowered_capacity,
                                  W.state_size, sizeof(double))) {
    scree_free(before);
    scree_operator_destroy(&W);
    return scree_fail_memory(s->log, "impulses that create no energy");
  }
  for (int c = 0; c < problem.nc; ++c) scree_system_approach(s, c, before + (size_t)c * d, NULL);
  const Kicked k = {.s = s, .W = &W, .before = before, .y = s->posed.lowered};
  scree_operator_state(&W, s->posed.r, k.y);
  lower(&k, allowed);
  measure(s, &k, report);
  scree_free(before);
  scree_operator_destroy(&W);
  return SCREE_OK;
}

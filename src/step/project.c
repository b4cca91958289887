/* Stabilisation: positions are pushed out of deep penetration, velocities are left alone.
 *
 * The smallest displacement z of the bodies in the norm of the inertia such that every gap at the
 * end of the step, to first order D + theta h u+_n, is at least -slop: min |z|^2/2   with   D_c +
 * theta h u+_c,n + (B z)_c,n >= -slop_c , is a contact problem without friction over the contacts
 * of the step, solved and certified like any other. Slop is half of the penetration that is left
 * alone: contacts stay closed. A contact that the push closes is met by the next step.
 *
 * No energy is added. Kinetic energy: the velocities of a body, in its own frame, do not change.
 * Potential energy: lifting bodies costs work, which is paid from what impacts and friction have
 * dissipated and projections have not used (the bank); when that is not enough, only a part of z is
 * done. So the energy never exceeds that of the start plus the work of forces and drivers. */
#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "scree/solver.h"
#include "step/system.h"

#include <string.h>

static const double projection_tolerance = 1e-3; /* of a correction that is itself to first order */

/* Gap of contact c at the end of the step, to first order, and the size of the pair. */
static double gap_after(const scree_System *s, size_t c, double h, double *size) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Vec3 P = s->contacts.position[c];
  const scree_Bodies *b = &s->bodies;
  const scree_Motion *mi = &b->motion[key->i], *mj = &b->motion[key->j];
  const scree_Vec3 u = scree_sub(scree_velocity_at(&mi->pose, &mi->velocity, P),
                                 scree_velocity_at(&mj->pose, &mj->velocity, P));
  *size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
  return s->contacts.gap[c] +
         s->scheme->theta(&s->settings) * h * scree_dot(s->contacts.normal[c], u);
}

static bool is_needed(const scree_System *s, double h) {
  double size;
  for (size_t c = 0; c < (size_t)s->posed.nc; ++c)
    if (gap_after(s, c, h, &size) < -s->settings.penetration * size) return true;
  return false;
}

static void fill(const scree_System *s, double h, double *q) {
  const size_t d = (size_t)s->bodies.dimension;
  memset(q, 0, (size_t)s->posed.nc * d * sizeof *q);
  for (size_t c = 0; c < (size_t)s->posed.nc; ++c) {
    double size;
    const double gap = gap_after(s, c, h, &size);
    q[c * d] = gap + 0.5 * s->settings.penetration * size;
  }
}

/* Work against gravity (*lift), and against gravity and all forces (returned). */
static double needed_work(const scree_System *s, double h, double *lift) {
  const scree_Bodies *b = &s->bodies;
  double total = 0;
  *lift = 0;
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k] || s->posed.problem_index[k] < 0) continue;
    const scree_Twist z = scree_system_unscaled(s, k);
    const scree_Inertia *inertia = &b->inertia[k];
    const scree_Motion *motion = &b->motion[k];
    scree_Vec3 push = s->fall, turn = {0, 0, 0}; /* h times acceleration */
    if (s->forced) {
      push = scree_add(push, s->forced[k].linear);
      turn = s->forced[k].angular;
    }
    *lift -= inertia->mass * scree_dot(s->settings.gravity, z.linear);
    total -= (inertia->mass * scree_dot(push, z.linear) +
              scree_dot(scree_inertia_mul(inertia, motion->pose.orientation, turn), z.angular)) /
             h;
  }
  return total;
}

/* Move by `part` of the displacements, which are in y. */
static void displace(scree_System *s, double part) {
  scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->count, s->threads) {
    const scree_Twist z = scree_system_unscaled(s, k);
    if (b->fixed[k] || (scree_norm2(z.linear) == 0 && scree_norm2(z.angular) == 0)) continue;
    scree_Motion *motion = &b->motion[k];
    const scree_Quat old = motion->pose.orientation;
    motion->pose.position = scree_axpy(motion->pose.position, part, z.linear);
    motion->pose.orientation = scree_quat_integrate(old, z.angular, part);
    if (scree_inertia_isotropic(&b->inertia[k])) continue;
    const scree_Quat turn = scree_quat_mul(motion->pose.orientation, scree_quat_conj(old));
    motion->velocity.angular = scree_quat_rotate(turn, motion->velocity.angular);
  }
}

/* Solve over the contacts and the near points, which are posed; y receives the displacements. */
static scree_Status solve_push(scree_System *s, double h, scree_StepReport *report) {
  scree_Posed *p = &s->posed;
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  const size_t n = (size_t)p->nc * (size_t)s->bodies.dimension;
  /* q, r, u, mu: like a solver's own memory, they come and go within the step */
  double *work = SCREE_ALLOC(double, 3 * n + (size_t)p->nc + 8);
  if (!work) return scree_fail_memory(s->log, "the projection of positions");
  scree_Problem problem = scree_system_problem(s);
  double *r = work + n, *u = work + 2 * n;
  problem.q = work;
  problem.mu = work + 3 * n; /* zero */
  problem.set = NULL;
  problem.set_a = problem.set_b = NULL;
  fill(s, h, problem.q);
  settings.tolerance = projection_tolerance;
  settings.threads = s->threads;
  const double clock = scree_seconds();
  scree_Status status = scree_solve(&problem, &settings, r, u, &info, s->log);
  if (status <= SCREE_NOT_CONVERGED) {
    report->seconds_solve += scree_seconds() - clock;
    report->stabilisation_error = info.value;
    status = scree_system_gather(s, r);
  }
  scree_free(work);
  return status;
}

scree_Status scree_system_project(scree_System *s, double h, scree_StepReport *report,
                                  double *work) {
  *work = 0;
  if (s->contacts.count == 0 || !is_needed(s, h)) return SCREE_OK;
  scree_Status status = scree_system_pose_near(s);
  if (!status) status = solve_push(s, h, report);
  double lift = 0;
  const double needed = status ? 0 : needed_work(s, h, &lift);
  const double bank = s->bank + report->energy.normal + report->energy.friction;
  const double part = needed > 0 && needed > bank ? fmax(0, bank) / needed : 1;
  if (!status && part > 0) {
    displace(s, part);
    report->stabilised = true;
    *work = part * lift;
    if (needed > 0) s->bank -= part * needed;
  }
  /* the problem of the step again: it can be looked at later */
  scree_system_unpose_near(s);
  return status;
}

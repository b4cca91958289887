/* Stabilisation: positions are pushed out of deep penetration, velocities are left alone.
 *
 * The smallest displacement z of the bodies in the norm of the inertia such that every gap, to
 * first order, is at least -slop: min |z|^2/2   with   D_c + (B z)_c,n >= -slop_c , is a contact
 * problem without friction, with q_n = D + slop, solved and certified like any other. Contacts a
 * little further than the deepest penetration are in it too, so that no new penetration is made.
 * Slop is half of the penetration that is left alone: contacts stay closed.
 *
 * No energy is added. Kinetic energy: the velocities of a body, in its own frame, do not change.
 * Potential energy: lifting bodies costs work, which is paid from what impacts and friction have
 * dissipated before and projections have not used (the bank); when that is not enough, only a part
 * of z is done. So the energy never exceeds that of the start plus the work of forces and drivers.
 */
#include "scree/solver.h"
#include "step/system.h"

#include <string.h>

static const double projection_tolerance = 1e-4; /* of a correction that is itself to first order */

static void fill(scree_System *s, double slop) {
  const scree_Bodies *b = &s->bodies;
  scree_Posed *p = &s->posed;
  const size_t d = (size_t)b->dimension;
  memset(p->r, 0, (size_t)p->nc * d * sizeof *p->r);
  memset(p->q, 0, (size_t)p->nc * d * sizeof *p->q);
  memset(p->mu, 0, (size_t)p->nc * sizeof *p->mu);
  for (size_t c = 0; c < (size_t)p->nc; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    p->q[c * d] = s->contacts.points[c].gap + slop * size;
  }
}

/* The displacement of body k for the solved problem, as a twist. */
static scree_Twist displacement(const scree_System *s, int k) {
  scree_Twist after = scree_system_after(s, k);
  after.linear = scree_sub(after.linear, s->free[k].linear);
  after.angular = scree_sub(after.angular, s->free[k].angular);
  return after;
}

/* Work against gravity (*lift), and against gravity and all forces (returned). */
static double needed_work(const scree_System *s, double h, double *lift) {
  const scree_Bodies *b = &s->bodies;
  double total = 0;
  *lift = 0;
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k] || s->posed.problem_index[k] < 0) continue;
    const scree_Twist z = displacement(s, k);
    const scree_Inertia *inertia = &b->inertia[k];
    const scree_Motion *motion = &b->motion[k];
    const scree_Vec3 push = scree_sub(s->free[k].linear, motion->velocity.linear);
    const scree_Vec3 turn = scree_sub(s->free[k].angular, motion->velocity.angular);
    *lift -= inertia->mass * scree_dot(s->settings.gravity, z.linear);
    total -= (inertia->mass * scree_dot(push, z.linear) +
              scree_dot(scree_inertia_mul(inertia, motion->pose.orientation, turn), z.angular)) /
             h;
  }
  return total;
}

static void displace(scree_System *s, double part) {
  scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->count, s->threads) {
    if (b->fixed[k] || s->posed.problem_index[k] < 0) continue;
    const scree_Twist z = displacement(s, k);
    scree_Motion *motion = &b->motion[k];
    const scree_Quat old = motion->pose.orientation;
    motion->pose.position = scree_axpy(motion->pose.position, part, z.linear);
    motion->pose.orientation = scree_quat_integrate(old, z.angular, part);
    if (b->inertia[k].isotropic) continue;
    const scree_Quat turn = scree_quat_mul(motion->pose.orientation, scree_quat_conj(old));
    motion->velocity.angular = scree_quat_rotate(turn, motion->velocity.angular);
  }
}

scree_Status scree_system_project(scree_System *s, double h, scree_StepReport *report,
                                  double *work) {
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  const double leave = s->settings.penetration;
  const double depth = scree_system_penetration(s, NULL);
  *work = 0;
  scree_Status status = scree_system_detect(s, depth > leave ? depth : leave, NULL);
  if (!status) status = scree_system_pose(s);
  if (status) return status;
  fill(s, 0.5 * leave);
  scree_Problem problem = scree_system_problem(s);
  problem.set = NULL;
  problem.set_a = problem.set_b = NULL;
  settings.tolerance = projection_tolerance;
  settings.threads = s->threads;
  status = scree_solve(&problem, &settings, s->posed.r, s->posed.u, &info, s->log);
  if (status > SCREE_NOT_CONVERGED) return status;
  report->seconds_solve += info.seconds;
  report->stabilisation_error = info.value;
  scree_system_gather(s);
  double lift;
  const double needed = needed_work(s, h, &lift);
  const double part = needed > s->bank ? s->bank / needed : 1;
  if (part > 0) {
    displace(s, part);
    report->stabilised = true;
    *work = part * lift;
    if (needed > 0) s->bank -= part * needed;
  }
  return scree_system_detect(s, s->settings.gap_tolerance, NULL);
}

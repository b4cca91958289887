/* Moreau's time stepping with Jean's theta (000 section 4, 001 section 2), with the gap in the law:
 *
 *     q_m = q_k + (1 - theta) h v_k ,   gaps D and normals at q_m,
 *     M (v_{k+1} - v_k) = h f + H^T r ,   q_{k+1} = q_m + theta h v_{k+1} ,
 *     D + h u_n >= 0  complementary to  r_n     for every pair that can meet.
 *
 * The next configuration at which gaps are known, q_m of the next step, is q_m + h v_{k+1} for
 * every theta, so this is 003's condition (9) on the gap there: convex bodies that do not overlap
 * at one kick do not overlap at the next, nor between the two, because their distance is a convex
 * function of their translation. Where they rotate, the gap is expanded again (overlap.c). No
 * loaded contact can be missed: a gap that the step would close is in the problem, however small
 * it is. With theta = 1/2 the scheme is the leapfrog: free flight is of second order, gravity does
 * no spurious work, and motion along a curved obstacle is that of SHAKE, without energy drift.
 *
 * Restitution (Newton, e_n and e_t) acts in the step in which the bodies would meet. The velocity
 * u-, known half a step before the kick, is that of the kick less half of its change by the forces,
 * d = u_free - u-. So with u = u- + d/2 and a = d/h the bodies meet a time tau after the kick,
 *     D + u tau + a tau^2/2 = 0 ,   separate with w = -e (u + a tau) ,
 * and have u+ = w + a (h/2 - tau) half a step after the kick, which the law prescribes. If the two
 * bodies meet no others, their positions are corrected by the time tau (delay.c), after which the
 * gap at the next kick is that of the parabola. Otherwise tau is taken as zero. With e = 1 the
 * energy is conserved exactly either way. Bodies that would meet again within about two steps do
 * not bounce: on a curved path, or where other bodies press, such bounces are artefacts of the
 * step. Nor is the tangential velocity of a contact reversed that was loaded in the last step and
 * does not bounce: that is no impact. With e_t = 1 it would never end: a block that slides to
 * rest would tremble for ever by less than mu h g, and in a packing the errors of the solver, which
 * are never damped then, would have to be solved for again in every step.
 *
 * The error that the solver's tolerance leaves in the gaps of loaded contacts is corrected slowly,
 * by a part in each step: where the contact was loaded in the last step and D is small, or D < 0,
 *     g D + h u_n >= 0 ,   g = 0.03 .
 * A full correction would change the impulses of the next step by more than the tolerance: a
 * solver that lowers the error of some mode of the packing by the factor 1 - k in a step, with the
 * impulses of the last step as its start, leaves D, u_n and the error a of the impulses in it with
 *     D' = u_n ,   u_n' = a ,   a' = -k (a + u_n + g D) ,
 * per step, which decays for g < k only: stacks solved with a few sweeps would begin to shake for
 * g = 1. Where bodies move along each other their curvature makes gaps of up to (h v)^2 / size in a
 * step: this part is corrected at once, as SHAKE does, and the order of the scheme depends on it.
 * A body is pushed out of penetration with at most half of the velocity by which its contact
 * is pressed together in a step, so that the contact stays loaded and no body is thrown.
 * Penetration by 1e-7 of the size is left: bodies whose faces coincide, as the bricks of a course
 * without joints, would push each other to and fro by rounding errors, against the friction of
 * their beds, and creep until the wall shakes. So are gaps of loaded contacts of that size: a
 * structure with more contacts than it needs cannot close all of them, and while it tries the
 * impulses that held it in one step do not hold it in the next. The work of these corrections is
 * reported as the energy added by the scheme. */
#include "step/system.h"

/* Part of a small gap that is corrected in a step; limit of a small gap, and gap or penetration
 * that is left, relative to the smaller body; part of the velocity by which a contact is pressed
 * together that pushes it apart. */
static const double gentle = 0.03, small_gap = 1e-3, slop = 1e-7, push_part = 0.5;

static double theta(const scree_WorldSettings *settings) {
  return settings->theta;
}

/* The velocity u+ that an impact prescribes, <= 0 where there is none. */
static double bounce_of(const scree_LawContact *law, const scree_Approach *a, double *delay) {
  const double h = a->horizon, change = a->free[0] - a->before[0];
  const double u = a->before[0] + 0.5 * change;
  const double bend = 2 * a->curve / h, pull = (change + bend) / h;
  double tau = 0;
  if (a->alone && a->gap > 0) {
    const double root = sqrt(fmax(0, u * u - 2 * pull * a->gap));
    tau = root > u ? fmin(h, 2 * a->gap / (root - u)) : h;
  }
  const double w = -law->e_n * (u + pull * tau);
  if (!(w > a->load - bend)) return 0;
  *delay = tau;
  return w + change * (0.5 - tau / h);
}

double scree_shift_ahead(const scree_LawContact *law, int d, const scree_Approach *a, double *shift,
                         double *delay) {
  const bool meets = a->gap + a->curve + a->horizon * a->free[0] < 0;
  const double own = fmin(fabs(a->gap), a->travel * a->travel / a->size); /* of the motion itself */
  const double rest = a->gap < 0 ? a->gap + own : a->gap - own;
  const double most = slop * a->size, least = a->loaded ? -most : 0;
  const double slack = fmax(least, fmin(-rest, most)), left = rest + slack;
  const double small = a->loaded ? fmin(left, small_gap * a->size) : fmin(left, 0);
  double push = -(gentle * small + (a->gap + slack - small)) / a->horizon;
  if (a->gap < 0) push = fmin(push, push_part * (a->load + fabs(a->before[0])));
  shift[0] = a->curve / a->horizon - push;
  *delay = 0;
  const double bounce = meets && law->e_n > 0 ? bounce_of(law, a, delay) : 0;
  const bool bounces = bounce > 0 && -bounce < shift[0];
  if (bounces) {
    shift[0] = -bounce;
    push = 0;
  } else {
    *delay = 0;
  }
  const double e_t = bounces || !a->sustained ? law->e_t : 0;
  for (int k = 1; k < d; ++k) shift[k] = meets ? e_t * a->before[k] : 0;
  return push;
}

const scree_SchemeClass scree_scheme_moreau_jean = {
    .name = "moreau-jean",
    .summary = "theta scheme whose law contains the gap at the next velocity update; for theta = "
               "1/2 it is the leapfrog method",
    .looks_ahead = true,
    .theta = theta,
    .shift = scree_shift_ahead};

/* Newton's method on one contact with safeguards, see local_newton.h.
 *
 * The plain iteration of 001 is undamped: started in the wrong status it may cycle between two of
 * them (augmented Lagrangian, rho W_tt >= 2), meet a singular A + B W, or diverge. So:
 *   - at least one step is taken, however small Z is: with an outer tolerance below
 *     newton_tolerance the contact must still be updated;
 *   - a singular or overflowing step is replaced by the projected step dr = -Z;
 *   - PATIENCE steps without a new best |Z| are a failure, which is followed by new starts: from
 *     sticking, from zero, from both edges of the cone, with automatic rho and then with smaller
 *     and larger ones, since rho only determines how a status is guessed. (Halving steps on |Z| was
 *     tried and was worse: it ends in local minima of |Z|.) Most contacts never need them; wedged
 *     ones with mu >= 1 and strong coupling do;
 *   - if all starts fail, one projected step is made. The result is always in the cone.
 * The stop (28) is |Z| <= newton_tolerance (|r| + rho |v|): the paper's absolute 1e-5 with the
 * contact's own scale. */
#include "solver/local_newton.h"

#include "solver/local_common.h"

enum { PATIENCE = 6 };

typedef struct Iterate {
  double r[3], v[3], Z[3], A[9], B[9];
  double residual; /* |Z| */
} Iterate;

static void evaluate(const Contact *contact, scree_LocalTangent tangent, int d, double rho,
                     Iterate *x) {
  local_velocity(contact, d, x->r, x->v);
  tangent(d, contact->mu, contact->saxce, rho, x->r, x->v, x->Z, x->A, x->B);
  x->residual = local_norm(d, x->Z);
}

/* (A + B W) dr = -Z, or dr = -Z when that cannot be solved. 001 (32). */
static void advance(const Contact *contact, int d, Iterate *x) {
  double matrix[9], b[3], dr[3];
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) {
      double sum = x->A[d * i + j];
      for (int k = 0; k < d; ++k) sum += x->B[d * i + k] * contact->W[d * k + j];
      matrix[d * i + j] = sum;
    }
    b[i] = -x->Z[i];
  }
  if (!local_solve(d, matrix, b, dr))
    for (int i = 0; i < d; ++i) dr[i] = -x->Z[i];
  for (int i = 0; i < d; ++i) x->r[i] += dr[i];
}

/* 001 (28), see above. */
static bool small(const scree_LocalParameters *parameters, int d, double rho, const Iterate *x) {
  const double scale = local_norm(d, x->r) + rho * local_norm(d, x->v);
  return x->residual <= fmax(parameters->newton_tolerance, DBL_EPSILON) * scale;
}

/* The undamped Newton of the paper, one step at least. True when it met the tolerance. */
static bool newton(const scree_LocalParameters *parameters, const Contact *contact,
                   scree_LocalTangent tangent, int d, double rho, Iterate *best) {
  Iterate x = *best;
  int waited = 0;
  for (int k = 0; k < parameters->newton_iterations && waited < PATIENCE; ++k) {
    advance(contact, d, &x);
    evaluate(contact, tangent, d, rho, &x);
    ++waited;
    if (x.residual < best->residual) {
      *best = x;
      waited = 0;
    }
    if (small(parameters, d, rho, best)) return true;
  }
  return false;
}

/* Another point to start from: the impulse that stops the contact (u = 0), zero, or the impulse
 * that stops its normal velocity on the edge of the cone, against and along the free sliding. */
typedef enum Restart {
  RESTART_STICK,
  RESTART_ZERO,
  RESTART_AGAINST,
  RESTART_ALONG,
  RESTARTS
} Restart;

static void restart(const Contact *contact, int d, Restart which, double *r) {
  double A[9], b[3];
  for (int i = 0; i < d; ++i) r[i] = 0.0;
  if (which == RESTART_STICK) {
    for (int i = 0; i < d * d; ++i) A[i] = contact->W[i];
    for (int i = 0; i < d; ++i) b[i] = -contact->u[i];
    if (local_solve(d, A, b, r))
      for (int i = 0; i < d; ++i) r[i] += contact->r[i];
  } else if (which == RESTART_AGAINST || which == RESTART_ALONG) {
    double q[3] = {0.0, 0.0, 0.0}, t[3] = {0.0, 0.0, 0.0}, slope = contact->W[0];
    local_velocity(contact, d, r, q);
    const double s = local_tangential(d, q);
    const double side = which == RESTART_AGAINST ? -contact->mu : contact->mu;
    for (int i = 1; i < d; ++i) {
      t[i] = s > 0.0 ? side * (q[i] / s) : 0.0;
      slope += contact->W[i] * t[i];
    }
    r[0] = fmax(0.0, -q[0] / (slope > 0.125 * contact->W[0] ? slope : contact->hi));
    for (int i = 1; i < d; ++i) r[i] = r[0] * t[i];
  }
}

static void iterate(const scree_LocalParameters *parameters, const Contact *contact,
                    scree_LocalTangent tangent, int d, double *r_new) {
  static const double factors[] = {1.0, 0.25, 4.0, 0.0625, 16.0};
  const double safe = local_safe_rho(contact), rho = local_rho(parameters, contact, safe);
  Iterate best;
  for (int i = 0; i < d; ++i) best.r[i] = contact->r[i];
  evaluate(contact, tangent, d, rho, &best);
  bool met = best.residual == 0.0 || newton(parameters, contact, tangent, d, rho, &best);
  for (int trial = 0; !met && trial < 5 * RESTARTS; ++trial) {
    const double other = safe * factors[trial / RESTARTS];
    restart(contact, d, (Restart)(trial % RESTARTS), best.r);
    evaluate(contact, tangent, d, other, &best);
    met =
        small(parameters, d, other, &best) || newton(parameters, contact, tangent, d, other, &best);
  }
  if (!met) { /* one projected step from the initial impulse */
    for (int i = 0; i < d; ++i) best.r[i] = contact->r[i];
    evaluate(contact, tangent, d, safe, &best);
    for (int i = 0; i < d; ++i) best.r[i] -= best.Z[i];
  }
  scree_cone_project(d, contact->mu, best.r, r_new);
}

void scree_local_newton(const scree_LocalParameters *parameters, scree_LocalTangent tangent, int d,
                        const double *W, double mu, const double *u, const double *r,
                        double *r_new) {
  Contact contact;
  if (!local_begin(parameters, d, W, mu, u, r, &contact)) {
    scree_cone_project(d, mu, r, r_new);
    return;
  }
  double next[3];
  iterate(parameters, &contact, tangent, d, next);
  local_end(&contact, d, next, r_new);
}

/* Newton's method on one contact with safeguards, see local_newton.h.
 *
 * The plain iteration of 001 is undamped: started in the wrong status it may cycle between two of
 * them (augmented Lagrangian, rho W_tt >= 2), meet a singular A + B W, or run away. So:
 *   - at least one step is taken, however small Z is: an outer loop that asks for more accuracy
 * than newton_tolerance must see the contact move;
 *   - a singular or overflowing step is replaced by the projected step dr = -Z;
 *   - after `patience` steps without a new best |Z| the method goes back to its best iterate and
 *     continues with the automatic rho, from a projected step; when that stalls too, it stops;
 *   - the best iterate by |Z| is returned, projected on the cone; if no iterate beats the start,
 *     one projected step from the start is.
 * The stop (28) is |Z| <= newton_tolerance (|r| + rho |v|): the paper's absolute 1e-5 with the
 * contact's own scale. */
#include "solver/local_newton.h"

#include "solver/local_common.h"

enum { patience = 6 };

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

static void iterate(const scree_LocalParameters *parameters, const Contact *contact,
                    scree_LocalTangent tangent, int d, double *r_new) {
  double rho = local_rho(parameters, contact, local_safe_rho(contact));
  Iterate x;
  for (int i = 0; i < d; ++i) x.r[i] = contact->r[i];
  evaluate(contact, tangent, d, rho, &x);
  Iterate best = x;
  int waited = 0;
  bool rescued = false, beaten = false;
  for (int k = 0; k < parameters->newton_iterations && best.residual > 0.0; ++k) {
    advance(contact, d, &x);
    evaluate(contact, tangent, d, rho, &x);
    if (x.residual < best.residual) {
      best = x;
      beaten = true;
      waited = 0;
      const double scale = local_norm(d, x.r) + rho * local_norm(d, x.v);
      if (x.residual <= fmax(parameters->newton_tolerance, DBL_EPSILON) * scale) break;
    } else if (++waited >= patience) {
      if (rescued) break;
      rescued = true;
      waited = 0;
      rho = local_safe_rho(contact);
      evaluate(contact, tangent, d, rho, &best);
      x = best;
      for (int i = 0; i < d; ++i) x.r[i] -= x.Z[i];
      evaluate(contact, tangent, d, rho, &x);
    }
  }
  if (!beaten && best.residual > 0.0) {
    evaluate(contact, tangent, d, local_safe_rho(contact), &best);
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

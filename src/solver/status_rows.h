/* The linear law of one constraint in a given status: rows Lu u + Lr r = 0, for the methods that
 * change statuses from step to step (newton, lemke).
 *
 *     open   w r = 0
 *     stick  u = 0                           also joints, of any number of rows
 *     slip   u_n = 0                         associated law: u_n + mu t.u_T = 0
 *            w (t.r_T - mu r_n) = 0
 *            (w mu r_n) p.u_T + |u_T| w p.r_T = 0,  over w mu |r_n| + |u_T|         (space only)
 * with t the direction of the friction, p across it, w the mean diagonal of W_cc. The last row says
 * that impulse and velocity turn by the same angle. A proximal weight or a compliance e adds e Lu
 * to Lr, and makes the right side c = e Lu centre.
 *
 * The status itself, and t, are read off z = r - u/w: the augmented multiplier of 000 section 3 and
 * 001 section 3.5 (Alart, Curnier). */
#ifndef SCREE_SOLVER_STATUS_ROWS_H
#define SCREE_SOLVER_STATUS_ROWS_H

#include "problem/operator.h"

typedef enum scree_RowStatus { SCREE_ROWS_OPEN, SCREE_ROWS_STICK, SCREE_ROWS_SLIP } scree_RowStatus;

/* The rows of constraint c: their number, and their offsets in vectors and in arrays of blocks. */
typedef struct scree_RowRange {
  int d;
  size_t at, mat;
} scree_RowRange;

SCREE_INLINE scree_RowRange scree_row_range(const scree_Operator *W, int c) {
  return (scree_RowRange){scree_rows_of(W, c), scree_row_of(W, c), scree_square_of(W, c)};
}

/* The friction of a set that is a cone, shifted or not, or a half-line. */
SCREE_INLINE double scree_set_friction(const scree_Set *set) {
  return set->kind == SCREE_SET_HALF_LINE ? 0.0 : set->mu;
}

/* Contacts with friction have 2 or 3 rows, other constraints 1 to SCREE_ROWS_MAX. */

/* t = (r_T - u_T/w) / |..|; (1, 0) where that is zero. Returns the length. With friction only. */
double scree_slip_direction(int d, double w, const double *r, const double *u, double t[2]);

/* |x_T|. With friction only. */
double scree_tangent_norm(int d, const double *x);

/* The status at (r, u), r being the impulse from the apex of the cone. Coulomb: active while
 * r_n - u_n/w > 0, then |z_T| against the friction that this normal part allows. Associated: by the
 * projection of z on the cone. Without friction: slip or open. With friction t is also the
 * direction of scree_slip_direction, if the constraint is active. */
scree_RowStatus scree_read_status(int d, scree_Flow law, double mu, double w, const double *r,
                                  const double *u, double t[2]);

/* The state of a slipping contact. */
typedef struct scree_Slip {
  double t[2];   /* direction of the friction */
  double normal; /* r_n */
  double speed;  /* |u_T| */
} scree_Slip;

/* Lu and Lr (d x d) of a status, with a weight about `centre` (d), and their right side c (d), or
 * null; `slip` is read only where the status is slip with friction. */
void scree_status_rows(int d, scree_RowStatus status, scree_Flow law, double mu, double w,
                       const scree_Slip *slip, double weight, const double *centre, double *Lu,
                       double *Lr, double *c);

/* The weight for rows of another kind: Lr += weight Lu, c = weight Lu centre. */
void scree_rows_soften(int d, double weight, const double *centre, const double *Lu, double *Lr,
                       double *c);

#endif

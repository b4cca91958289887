/* The smoothed equation of 004 for one contact, and its derivatives.
 *
 *     (41)       C_w(u, s) = F_w(u) + m_w(s - F_w(u))
 *     (39)       F_w(u) = u + mu (sqrt(|u_T|^2 + w^2) - w) n
 *     (24),(30)  m_w = smoothed projection on the polar cone
 *     (42)-(44)  dC = X du + Y ds,   X = (I - dm) dF,   Y = dm
 *
 * u is a velocity and s the impulse in units of velocity; w > 0 smooths and C_w -> C of (15) as
 * w -> 0. Everything is written so that mu = 0 is the limit (31), (34)-(38), where (27) is wrong:
 * there the gradient of m is diag(1, ..., g') in the order (T, N). In 2D the tangent plane is a
 * line and the formulas lose their part across z_T. Normal component first. */
#ifndef SCREE_SOLVER_PQN_MAP_H
#define SCREE_SOLVER_PQN_MAP_H

/* m (d) = m_w(z) and, when not null, gradient (d x d) */
void scree_pqn_polar(int d, double mu, double omega, const double *z, double *m, double *gradient);

/* C (d), X and Y (d x d each) of cone friction mu and dilatation factor `slope` (mu, or 0 for the
 * associated law). X and Y may both be null. */
void scree_pqn_map(int d, double mu, double slope, double omega, const double *u, const double *s,
                   double *C, double *X, double *Y);

#endif

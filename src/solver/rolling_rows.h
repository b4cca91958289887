/* The linear law of a contact with resistance to rolling and spinning in given statuses, for
 * newton: rows Lu u + Lr r = 0, as status_rows.h has them for plain contacts.
 *
 * Besides the normal there are parts: sliding and rolling (1 row each in the plane, 2 in space) and
 * in space spinning (1 row), with the bounds k r_n, k = mu, a, b of the set. With z = r - u/w and n
 * its normal part (Coulomb) or that of its projection on the set (associated),
 *     n <= 0           open: w r = 0
 *     |z_p| <= k n     the part sticks: u_p = 0
 *     else             it slips along t = z_p/|z_p|: w (t.r_p - k r_n) = 0, and across t as in
 *                      status_rows.h
 *     normal           u_n = 0; associated: u_n + sum over slipping parts of k t.u_p = 0 */
#ifndef SCREE_SOLVER_ROLLING_ROWS_H
#define SCREE_SOLVER_ROLLING_ROWS_H

#include "problem/operator.h"

/* 0: open; else SCREE_ROLLING_TOUCHES, and a bit for each part that slips. */
enum { SCREE_ROLLING_TOUCHES = 1, SCREE_ROLLING_SLIPS = 8 };

/* Statuses at (r, u), for d rows: 3 in the plane, 6 in space. */
unsigned scree_rolling_status(const scree_Set *set, int d, scree_Flow flow, double w,
                              const double *r, const double *u);

/* Lu and Lr (d x d) of these statuses; `normal` is the r_n with which impulses turn. */
void scree_rolling_rows(const scree_Set *set, int d, scree_Flow flow, double w, unsigned status,
                        const double *r, const double *u, double normal, double *Lu, double *Lr);

#endif

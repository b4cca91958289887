/* The rows of B when all bodies are balls. Only this file computes them from the normal and the
 * arms of a contact (problem.h gives the reason).
 *
 * With the frame (n, t1, t2), a point at -rho n from the centre of a body has (p x n, p x t1,
 * p x t2) = rho (0, -t2, t1), so that side k of a contact has
 *     3D  B_k = [ s n  | 0 ; s t1 | -a t2 ; s t2 | a t1 ]      2D  B_k = [ s n | 0 ; s t1 | -a ] ,
 * s = +-1/sqrt(m), a = rho/sqrt(J). A contact depends on its bodies only through g = sum s v and
 * h = sum a w, their scaled velocities and spins, and pushes all of them along the same two
 * vectors:
 *     u = (n.g, t1.g - t2.h, t2.g + t1.h) ,
 *     v_k += s_k f ,  w_k += a_k m ,   f = r_n n + r_1 t1 + r_2 t2 ,  m = r_2 t1 - r_1 t2 .
 * W_cc = diag(w_n, w_t, w_t), w_n = sum s^2, w_t = w_n + sum a^2: it has no coupling. */
#ifndef SCREE_PROBLEM_BALLS_H
#define SCREE_PROBLEM_BALLS_H

#include "core/private.h"
#include "math/simd.h"
#include "math/vec3.h"
#include "scree/problem.h"

/* The axes (3 x 3; in 2D the third is z) of the frame with normal n (3) */
SCREE_INLINE void scree_ball_axes(int d, const double *n, double *axes) {
  scree_Vec3 t1, t2;
  scree_contact_frame(scree_vec3(n[0], n[1], n[2]), d, &t1, &t2);
  axes[0] = n[0], axes[1] = n[1], axes[2] = n[2];
  axes[3] = t1.x, axes[4] = t1.y, axes[5] = t1.z;
  axes[6] = t2.x, axes[7] = t2.y, axes[8] = t2.z;
}

/* scree_contact_frame of four normals in space, component by component: the same bits. */
SCREE_INLINE void scree_ball_tangents(const scree_Lane *n, scree_Lane *t1, scree_Lane *t2) {
  const scree_Lane one = {1.0, 1.0, 1.0, 1.0}, minus = {-0.0, -0.0, -0.0, -0.0};
  const scree_Lane sign =
      (scree_Lane)((scree_LaneMask)one | ((scree_LaneMask)n[2] & (scree_LaneMask)minus));
  const scree_Lane a = -1.0 / (sign + n[2]), b = n[0] * n[1] * a;
  t1[0] = 1.0 + sign * n[0] * n[0] * a;
  t1[1] = sign * b;
  t1[2] = -sign * n[0];
  t2[0] = b;
  t2[1] = sign + n[1] * n[1] * a;
  t2[2] = -n[1];
}

/* u += B_0 y0 + B_1 y1 with the normal n (3) and the arms s0, a0, s1, a1 of a contact */
SCREE_INLINE void scree_ball_velocity(int d, const double *n, const double *arm, const double *y0,
                                      const double *y1, double *u) {
  double e[9], g[3], h[3];
  scree_ball_axes(d, n, e);
  for (int k = 0; k < d; ++k) g[k] = arm[0] * y0[k] + arm[2] * y1[k];
  if (d == 2) {
    u[0] += e[0] * g[0] + e[1] * g[1];
    u[1] += (e[3] * g[0] + e[4] * g[1]) - (arm[1] * y0[2] + arm[3] * y1[2]);
    return;
  }
  for (int k = 0; k < 3; ++k) h[k] = arm[1] * y0[3 + k] + arm[3] * y1[3 + k];
  u[0] += e[0] * g[0] + e[1] * g[1] + e[2] * g[2];
  u[1] += (e[3] * g[0] + e[4] * g[1] + e[5] * g[2]) - (e[6] * h[0] + e[7] * h[1] + e[8] * h[2]);
  u[2] += (e[6] * g[0] + e[7] * g[1] + e[8] * g[2]) + (e[3] * h[0] + e[4] * h[1] + e[5] * h[2]);
}

/* The vectors f (d) and m (2d - 3) along which an impulse r pushes and turns all bodies. */
SCREE_INLINE void scree_ball_push(int d, const double *n, const double *r, double *f, double *m) {
  double e[9];
  scree_ball_axes(d, n, e);
  if (d == 2) {
    for (int k = 0; k < 2; ++k) f[k] = e[k] * r[0] + e[3 + k] * r[1];
    m[0] = -r[1];
    return;
  }
  for (int k = 0; k < 3; ++k) {
    f[k] = e[k] * r[0] + e[3 + k] * r[1] + e[6 + k] * r[2];
    m[k] = e[3 + k] * r[2] - e[6 + k] * r[1];
  }
}

/* y += B_k^T r for the side with the arm s, a */
SCREE_INLINE void scree_ball_move(int d, const double *arm, const double *f, const double *m,
                                  double *y) {
  for (int k = 0; k < d; ++k) y[k] += arm[0] * f[k];
  for (int k = 0; k < 2 * d - 3; ++k) y[d + k] += arm[1] * m[k];
}

/* w_n and w_t */
SCREE_INLINE void scree_ball_diagonal(const double *arm, double *wn, double *wt) {
  *wn = arm[0] * arm[0] + arm[2] * arm[2];
  *wt = *wn + (arm[1] * arm[1] + arm[3] * arm[3]);
}

/* The blocks of contact c (2 x d x nb): those of the problem, or, for balls, written out in `room`
 * (which has the same size, at most 36). */
enum { SCREE_BALL_ROOM = 36 };
SCREE_PRIVATE const double *scree_contact_blocks(const scree_Problem *problem, int c,
                                                 double room[SCREE_BALL_ROOM]);

/* Whether the blocks of a contact are those of balls to within the rounding of their own numbers.
 * If so, normal (3) and arm (4) are set, and `turn` ((d-1) x (d-1), orthogonal) transforms the
 * tangents of that normal to the contact's own, which may be any: rows of B = turn times rows of
 * the balls. */
bool scree_balls_recognise(const scree_Problem *problem, int c, double *normal, double *arm,
                           double *turn);

#endif

/* One constraint in the interior point: right sides, steps and their largest lengths (see
 * ipm_contact.h). The functions are entered with the number of rows as a literal for cones, so that
 * the compiler unrolls. */
#include "solver/ipm_inline.h"

/* A of a ball in Q, and the a of its rows. */
static void ball_target(scree_IpmContact *k, double target, const double *x, const double *dxa,
                        const double *dza, double *a) {
  enum { MOST = SCREE_ROWS_MAX + 1 };
  const int n = k->d + 1;
  const double *w = k->scaling.w;
  double v[MOST] = {target}, product[MOST], left[MOST], right[MOST];
  if (dxa) {
    double dX[MOST] = {0.0}, dZ[MOST] = {k->dzeta};
    for (int i = 1; i < n; ++i) {
      dX[i] = dxa[i - 1];
      dZ[i] = dza[i - 1];
    }
    scree_scaling_invert(&k->scaling, n, dX, left);
    scree_scaling_apply(&k->scaling, n, dZ, right);
    scree_jordan_product(n, left, right, product);
    for (int i = 0; i < n; ++i) v[i] -= product[i];
  }
  scree_jordan_divide(n, k->scaling.l, v, left);
  scree_scaling_apply(&k->scaling, n, left, right);
  k->head = right[0] - k->radius;
  const double share = 2.0 * w[0] / (2.0 * w[0] * w[0] - 1.0); /* P_T0/P_00 = share w_T */
  for (int i = 1; i < n; ++i) a[i - 1] = right[i] - x[i - 1] - share * w[i] * k->head;
}

/* d zeta that goes with dz */
static void ball_head(scree_IpmContact *k, const double *dz) {
  const double *w = k->scaling.w, e2 = k->scaling.eta * k->scaling.eta;
  const double p00 = e2 * (2.0 * w[0] * w[0] - 1.0);
  double sum = k->head;
  for (int i = 0; i < k->d; ++i) sum -= e2 * 2.0 * w[0] * w[i + 1] * dz[i];
  k->dzeta = sum / p00;
}

SCREE_INLINE void target_of(int d, scree_IpmContact *k, double target, const double *x,
                            const double *z, const double *dxa, const double *dza, double *a) {
  x += k->at;
  z += k->at;
  a += k->at;
  if (k->kind == SCREE_IPM_BALL) {
    ball_target(k, target, x, dxa ? dxa + k->at : NULL, dza ? dza + k->at : NULL, a);
    return;
  }
  if (!scree_ipm_has_barrier(k)) {
    ipm_zero(d, a);
    return;
  }
  if (k->kind == SCREE_IPM_LINE) {
    const double correction = dxa ? dxa[k->at] * dza[k->at] : 0.0;
    a[0] = (target - correction) / z[0] - x[0];
    for (int i = 1; i < d; ++i) a[i] = 0.0;
    return;
  }
  double v[3] = {0.0, 0.0, 0.0}, product[3], left[3], right[3];
  v[0] = target;
  if (dxa) {
    scree_scaling_invert(&k->scaling, d, dxa + k->at, left);
    scree_scaling_apply(&k->scaling, d, dza + k->at, right);
    scree_jordan_product(d, left, right, product);
    for (int i = 0; i < d; ++i) v[i] -= product[i];
  }
  scree_jordan_divide(d, k->scaling.l, v, left);
  scree_scaling_apply(&k->scaling, d, left, right);
  for (int i = 0; i < d; ++i) a[i] = right[i] - x[i];
}

void scree_ipm_contact_target(scree_IpmContact *k, double target, const double *x, const double *z,
                              const double *dxa, const double *dza, double *a) {
  switch (k->d) {
  case 2: target_of(2, k, target, x, z, dxa, dza, a); break;
  case 3: target_of(3, k, target, x, z, dxa, dza, a); break;
  default: target_of(k->d, k, target, x, z, dxa, dza, a); break;
  }
}

SCREE_INLINE void load_of(int d, const scree_IpmLaw *law, const scree_IpmContact *k,
                          const scree_IpmBlocks *blocks, const double *a, const double *ru,
                          double *v, double *t) {
  const int m = k->kind == SCREE_IPM_LINE ? 1 : d;
  const double s = k->s_scale, *C = k->C;
  a += k->at;
  ru += k->at;
  v += k->at;
  t += k->at;
  if (k->kind == SCREE_IPM_SPACE) { /* dx = -G (B dy - ru) */
    for (int i = 0; i < d; ++i) v[i] = -ru[i];
    ipm_multiply(d, blocks->G + k->mat, ru, t);
    return;
  }
  if (k->kind == SCREE_IPM_NONE) {
    ipm_zero(d, v);
    ipm_zero(d, t);
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    double PKv[SCREE_ROWS_MAX];
    for (int i = 0; i < d; ++i) {
      v[i] = ipm_proximal_weight(k) * a[i] - ru[i];
      for (int j = 0; C && j < d; ++j) v[i] += C[i * d + j] * a[j];
    }
    ipm_multiply(d, blocks->PK + k->mat, v, PKv);
    for (int i = 0; i < d; ++i) t[i] = a[i] - PKv[i];
    return;
  }
  double Ea[3] = {0.0, 0.0, 0.0}, PKv[SCREE_ROWS_MAX];
  for (int i = 0; i < m; ++i) {
    Ea[i] = ipm_proximal_weight(k) * a[i];
    for (int j = 0; C && j < m; ++j)
      Ea[i] += (i == 0 ? s : 1.0) * C[i * d + j] * (j == 0 ? s : 1.0) * a[j];
  }
  ipm_zero(d, v);
  ipm_weigh(law, m, k, Ea, v);
  for (int i = 0; i < m; ++i) v[i] -= ru[i];
  ipm_multiply(d, blocks->PK + k->mat, v, PKv);
  for (int i = 0; i < d; ++i) t[i] = i < m ? a[i] - PKv[i] : 0.0;
  t[0] *= s;
}

void scree_ipm_contact_load(const scree_IpmLaw *law, const scree_IpmContact *k,
                            const scree_IpmBlocks *blocks, const double *a, const double *ru,
                            double *v, double *t) {
  switch (k->d) {
  case 2: load_of(2, law, k, blocks, a, ru, v, t); break;
  case 3: load_of(3, law, k, blocks, a, ru, v, t); break;
  default: load_of(k->d, law, k, blocks, a, ru, v, t); break;
  }
}

SCREE_INLINE void step_of(int d, const scree_IpmLaw *law, scree_IpmContact *k,
                          const scree_IpmBlocks *blocks, const double *a, const double *Bdy,
                          const double *v, double *dx, double *dz) {
  const int m = k->kind == SCREE_IPM_LINE ? 1 : d;
  double w[SCREE_ROWS_MAX] = {0.0}, PKw[SCREE_ROWS_MAX];
  a += k->at;
  Bdy += k->at;
  v += k->at;
  dx += k->at;
  dz += k->at;
  if (k->kind == SCREE_IPM_SPACE) {
    for (int i = 0; i < d; ++i) w[i] = -(Bdy[i] + v[i]);
    ipm_multiply(d, blocks->G + k->mat, w, dx);
    ipm_zero(d, dz);
    return;
  }
  if (k->kind == SCREE_IPM_NONE) {
    ipm_zero(d, dx);
    ipm_zero(d, dz);
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    for (int i = 0; i < d; ++i) w[i] = Bdy[i] + v[i];
    ipm_multiply(d, blocks->K + k->mat, w, dz);
    ipm_multiply(d, blocks->PK + k->mat, w, PKw);
    for (int i = 0; i < d; ++i) dx[i] = a[i] - PKw[i];
    ball_head(k, dz);
    return;
  }
  for (int i = 0; i < m; ++i) w[i] = Bdy[i] * (i == 0 ? k->s_scale : 1.0);
  ipm_weigh(law, m, k, w, w);
  for (int i = 0; i < m; ++i) w[i] += v[i];
  ipm_multiply(d, blocks->K + k->mat, w, dz);
  ipm_multiply(d, blocks->PK + k->mat, w, PKw);
  for (int i = 0; i < d; ++i) dx[i] = a[i] - PKw[i];
}

void scree_ipm_contact_step(const scree_IpmLaw *law, scree_IpmContact *k,
                            const scree_IpmBlocks *blocks, const double *a, const double *Bdy,
                            const double *v, double *dx, double *dz) {
  switch (k->d) {
  case 2: step_of(2, law, k, blocks, a, Bdy, v, dx, dz); break;
  case 3: step_of(3, law, k, blocks, a, Bdy, v, dx, dz); break;
  default: step_of(k->d, law, k, blocks, a, Bdy, v, dx, dz); break;
  }
}

SCREE_INLINE void load_assembled_of(int d, const scree_IpmLaw *law, const scree_IpmContact *k,
                                    const double *x, const double *z, const double *a,
                                    const double *ru, double *h, double *b) {
  a += k->at;
  ru += k->at;
  h += k->at;
  b += k->at;
  if (k->kind == SCREE_IPM_SPACE) {
    for (int i = 0; i < d; ++i) b[i] = ru[i];
    ipm_zero(d, h);
    return;
  }
  if (k->kind == SCREE_IPM_NONE) {
    ipm_zero(d, b);
    ipm_zero(d, h);
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    double P[SCREE_ROWS_MAX * SCREE_ROWS_MAX]; /* P'^-1 */
    ipm_ball_matrix(k, true, P);
    ipm_multiply(d, P, a, h);
    for (int i = 0; i < d; ++i) b[i] = h[i] + ru[i];
    return;
  }
  if (k->kind == SCREE_IPM_LINE) {
    h[0] = a[0] * z[k->at] / x[k->at];
    b[0] = (h[0] + ru[0]) / (ipm_line_weight(law, k) * k->s_scale);
    for (int i = 1; i < d; ++i) h[i] = b[i] = 0.0;
    return;
  }
  double P[9]; /* P^-1 */
  scree_scaling_inverse_matrix(&k->scaling, d, P);
  ipm_multiply(d, P, a, h);
  double inner = 0.0;
  for (int i = 0; i < d; ++i) inner += k->g[i] * h[i];
  for (int i = 0; i < d; ++i) b[i] = h[i] + ru[i];
  b[0] -= inner;
  ipm_unweigh(law, d, k, b, b);
  b[0] /= k->s_scale;
}

void scree_ipm_contact_load_assembled(const scree_IpmLaw *law, const scree_IpmContact *k,
                                      const double *x, const double *z, const double *a,
                                      const double *ru, double *h, double *b) {
  switch (k->d) {
  case 2: load_assembled_of(2, law, k, x, z, a, ru, h, b); break;
  case 3: load_assembled_of(3, law, k, x, z, a, ru, h, b); break;
  default: load_assembled_of(k->d, law, k, x, z, a, ru, h, b); break;
  }
}

SCREE_INLINE void step_assembled_of(int d, scree_IpmContact *k, const double *x, const double *z,
                                    const double *dr, double *dx, double *dz) {
  const int m = k->kind == SCREE_IPM_LINE ? 1 : d;
  dr += k->at;
  dx += k->at;
  dz += k->at;
  dx[0] = dr[0] / k->s_scale;
  for (int i = 1; i < d; ++i) dx[i] = i < m ? dr[i] : 0.0;
  if (!scree_ipm_has_barrier(k)) return;
  if (k->kind == SCREE_IPM_LINE) {
    dz[0] -= dx[0] * z[k->at] / x[k->at];
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    double P[SCREE_ROWS_MAX * SCREE_ROWS_MAX], Pdx[SCREE_ROWS_MAX]; /* P'^-1 */
    ipm_ball_matrix(k, true, P);
    ipm_multiply(d, P, dx, Pdx);
    for (int i = 0; i < d; ++i) dz[i] -= Pdx[i];
    ball_head(k, dz);
    return;
  }
  double P[9], Pdx[3]; /* P^-1 */
  scree_scaling_inverse_matrix(&k->scaling, d, P);
  ipm_multiply(d, P, dx, Pdx);
  for (int i = 0; i < d; ++i) dz[i] -= Pdx[i];
}

void scree_ipm_contact_step_assembled(scree_IpmContact *k, const double *x, const double *z,
                                      const double *dr, double *dx, double *dz) {
  switch (k->d) {
  case 2: step_assembled_of(2, k, x, z, dr, dx, dz); break;
  case 3: step_assembled_of(3, k, x, z, dr, dx, dz); break;
  default: step_assembled_of(k->d, k, x, z, dr, dx, dz); break;
  }
}

SCREE_INLINE void reach_of(int d, const scree_IpmContact *k, const double *x, const double *z,
                           const double *dx, const double *dz, double *x_step, double *z_step) {
  const size_t at = k->at;
  *x_step = *z_step = 1.0;
  if (!scree_ipm_has_barrier(k)) return;
  if (k->kind == SCREE_IPM_BALL) {
    enum { MOST = SCREE_ROWS_MAX + 1 };
    double X[MOST] = {k->radius}, dX[MOST] = {0.0}, Z[MOST] = {k->zeta}, dZ[MOST] = {k->dzeta};
    for (int i = 0; i < d; ++i) {
      X[i + 1] = x[at + (size_t)i];
      dX[i + 1] = dx[at + (size_t)i];
      Z[i + 1] = z[at + (size_t)i];
      dZ[i + 1] = dz[at + (size_t)i];
    }
    *x_step = scree_cone_step(d + 1, X, dX, 1.0);
    *z_step = scree_cone_step(d + 1, Z, dZ, 1.0);
    return;
  }
  if (k->kind == SCREE_IPM_LINE) {
    if (dx[at] < 0.0) *x_step = fmin(1.0, -x[at] / dx[at]);
    if (dz[at] < 0.0) *z_step = fmin(1.0, -z[at] / dz[at]);
    return;
  }
  *x_step = scree_cone_step(d, x + at, dx + at, 1.0);
  *z_step = scree_cone_step(d, z + at, dz + at, 1.0);
}

void scree_ipm_contact_reach(const scree_IpmContact *k, const double *x, const double *z,
                             const double *dx, const double *dz, double *x_step, double *z_step) {
  switch (k->d) {
  case 2: reach_of(2, k, x, z, dx, dz, x_step, z_step); break;
  case 3: reach_of(3, k, x, z, dx, dz, x_step, z_step); break;
  default: reach_of(k->d, k, x, z, dx, dz, x_step, z_step); break;
  }
}

void scree_ipm_contact_curvature(const scree_IpmContact *k, const double *z, const double *dz,
                                 double *ru) {
  if (k->kind != SCREE_IPM_CONE) return;
  z += k->at;
  dz += k->at;
  double sum = 0.0;
  for (int i = 1; i < k->d; ++i) {
    const double v = dz[i] - z[i] * dz[0] / z[0];
    sum += v * v;
  }
  ru[k->at] -= sum / z[0];
}

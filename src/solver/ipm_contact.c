/* One constraint in the interior point (see ipm_contact.h): its variables, and its blocks of the
 * linear system. Cones have 2 or 3 rows; inner functions get them as a literal, so that the
 * compiler unrolls. */
#include "solver/ipm_inline.h"

/* Stiffness of the tangential rows of a frictionless contact in assembled form, relative to the
 * mean diagonal of W: their impulses are zero. Not tuned: large enough to make them negligible. */
static const double NO_FRICTION = 1e12;

/* ---- variables --------------------------------------------------------------------------------
 */

static scree_IpmKind ball_kind(double radius) {
  return radius > 0.0 ? SCREE_IPM_BALL : SCREE_IPM_NONE;
}

void scree_ipm_contact_init(scree_IpmContact *k, const scree_Operator *W, int c) {
  const scree_Problem *p = W->problem;
  const scree_Set set = scree_problem_set(p, c);
  double room[9];
  k->d = scree_rows_of(W, c);
  k->at = scree_row_of(W, c);
  k->mat = scree_square_of(W, c);
  k->C = scree_compliance_of(W, c);
  k->flow = p->flow_blocks && c < p->nc ? p->flow_blocks + k->mat : NULL;
  k->kind = set.kind == SCREE_SET_SPACE                          ? SCREE_IPM_SPACE
            : set.kind == SCREE_SET_BALL                         ? ball_kind(set.a)
            : set.kind == SCREE_SET_HALF_LINE || !(set.mu > 0.0) ? SCREE_IPM_LINE
                                                                 : SCREE_IPM_CONE;
  k->shift = set.kind == SCREE_SET_SHIFTED ? set.a : 0.0;
  k->radius = set.kind == SCREE_SET_BALL ? set.a : 0.0;
  k->zeta = k->dzeta = k->head = 0.0;
  k->m = k->kind == SCREE_IPM_LINE ? 1 : k->d;
  k->s_scale = k->kind == SCREE_IPM_CONE ? 1.0 / set.mu : 1.0;
  const double *D = scree_constraint_diagonal(W, c, room);
  double w = D[0] * k->s_scale * k->s_scale;
  for (int i = 1; i < k->m; ++i) w += D[i * k->d + i];
  w /= k->m;
  k->w = w > 0.0 ? w : W->mean_diagonal;
}

void scree_ipm_contact_impulse(const scree_IpmContact *k, const double *x, double *r) {
  x += k->at;
  r += k->at;
  r[0] = x[0] * k->s_scale - k->shift;
  for (int i = 1; i < k->d; ++i) r[i] = i < k->m ? x[i] : 0.0;
}

/* (l + sqrt(l^2 + t)) / 2 without cancellation */
static double upper_half(double l, double t) {
  const double s = sqrt(l * l + t);
  return l >= 0.0 ? 0.5 * (s + l) : 0.5 * t / (s - l);
}

/* x = t a w/|w| with |w| = t (a + rho zeta), zeta = mu/(a (1 - t^2)): the root t in (0, 1) of an
 * increasing function. */
static void start_ball(scree_IpmContact *k, const double *r, const double *u, double mu, double *x,
                       double *z) {
  const double a = k->radius, rho = 1.0 / k->w;
  double w[SCREE_ROWS_MAX], size = 0.0, low = 0.0, high = 1.0;
  for (int i = 0; i < k->d; ++i) {
    w[i] = r[i] - rho * u[i];
    size += w[i] * w[i];
  }
  size = sqrt(size);
  for (int i = 0; i < 50; ++i) {
    const double t = 0.5 * (low + high);
    if (t * (a + rho * mu / (a * (1.0 - t * t))) < size)
      low = t;
    else
      high = t;
  }
  k->zeta = mu / (a * (1.0 - low * low));
  for (int i = 0; i < k->d; ++i) {
    x[i] = size > 0.0 ? low * a * w[i] / size : 0.0;
    z[i] = -k->zeta / a * x[i];
  }
}

void scree_ipm_contact_start(const scree_IpmLaw *law, scree_IpmContact *k, const double *r,
                             const double *u, double mu, double *x, double *z) {
  const int d = k->d, m = k->m;
  r += k->at;
  u += k->at;
  x += k->at;
  z += k->at;
  ipm_zero(d, z);
  if (k->kind == SCREE_IPM_SPACE) {
    for (int i = 0; i < d; ++i) x[i] = r[i];
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    start_ball(k, r, u, mu, x, z);
    return;
  }
  ipm_zero(d, x);
  if (k->kind == SCREE_IPM_NONE) return;
  const double rho = 1.0 / k->w, target = 4.0 * rho * mu;
  double w[3] = {0.0, 0.0, 0.0}, v[3] = {k->s_scale * u[0], 0.0, 0.0};
  for (int i = 1; i < m; ++i) v[i] = u[i];
  ipm_weigh(law, m, k, v, v);
  const double normal = v[0], slide = scree_cone_tail(m, v);
  /* z_0 - s(z) = normal with z_T = v_T */
  const double z0 = law->coulomb ? upper_half(normal, 4.0 * slide * slide) : normal;
  w[0] = (r[0] + k->shift) / k->s_scale - rho * z0;
  for (int i = 1; i < m; ++i) w[i] = r[i] - rho * v[i];
  const double tail = scree_cone_tail(m, w), lo = w[0] - tail, hi = w[0] + tail;
  const double x_lo = upper_half(lo, target), x_hi = upper_half(hi, target);
  const double z_lo = upper_half(-lo, target), z_hi = upper_half(-hi, target);
  x[0] = 0.5 * (x_lo + x_hi);
  z[0] = 0.5 * (z_lo + z_hi) / rho;
  for (int i = 1; i < m; ++i) {
    const double e = tail > 0.0 ? w[i] / tail : 0.0;
    x[i] = 0.5 * (x_hi - x_lo) * e;
    z[i] = 0.5 * (z_hi - z_lo) * e / rho;
  }
}

void scree_ipm_contact_residual(const scree_IpmLaw *law, const scree_IpmContact *k, const double *u,
                                const double *z, double *ru) {
  const int d = k->d;
  u += k->at;
  z += k->at;
  ru += k->at;
  if (k->kind >= SCREE_IPM_SPACE) {
    for (int i = 0; i < d; ++i)
      ru[i] = k->kind == SCREE_IPM_NONE ? 0.0 : k->kind == SCREE_IPM_BALL ? z[i] - u[i] : -u[i];
    return;
  }
  const int m = k->m;
  const double s = law->coulomb ? ipm_smooth_s(m, z) : 0.0;
  double v[3] = {k->s_scale * u[0], 0.0, 0.0};
  for (int i = 1; i < m; ++i) v[i] = u[i];
  ipm_weigh(law, m, k, v, v);
  ru[0] = z[0] - s - v[0];
  for (int i = 1; i < d; ++i) ru[i] = i < m ? z[i] - v[i] : 0.0;
}

/* ---- blocks of the linear system --------------------------------------------------------------
 */

static void line_blocks(const scree_IpmLaw *law, const scree_IpmContact *k, double x, double z,
                        const scree_IpmBlocks *blocks) {
  const int d = k->d;
  const double p = x / z, s = k->s_scale, prox = ipm_proximal_weight(k),
               kappa = ipm_line_weight(law, k);
  double *G = blocks->G + k->mat, *PK = blocks->PK + k->mat, *K = blocks->K + k->mat;
  ipm_zero(d * d, G);
  if (law->bodies) {
    const double e = prox + (k->C ? s * s * k->C[0] : 0.0);
    ipm_zero(d * d, PK);
    ipm_zero(d * d, K);
    K[0] = 1.0 / (1.0 + kappa * e * p);
    PK[0] = p * K[0];
    G[0] = s * p * K[0] * kappa * s;
  } else {
    G[0] = (1.0 / (kappa * p) + prox) / (s * s);
    for (int i = 1; i < d; ++i) G[i * d + i] = NO_FRICTION * law->w_mean;
  }
}

/* E of a joint, or its inverse in body form. */
static void space_blocks(const scree_IpmLaw *law, const scree_IpmContact *k,
                         const scree_IpmBlocks *blocks) {
  const int d = k->d;
  double *G = blocks->G + k->mat, E[SCREE_ROWS_MAX * SCREE_ROWS_MAX];
  ipm_zero(d * d, G);
  if (!law->bodies) {
    for (int i = 0; i < d; ++i) G[i * d + i] = ipm_proximal_weight(k);
    return;
  }
  for (int i = 0; i < d * d; ++i) E[i] = k->C ? k->C[i] : 0.0;
  for (int i = 0; i < d; ++i) {
    E[i * d + i] += ipm_proximal_weight(k);
    G[i * d + i] = 1.0;
  }
  ipm_solve_left(d, E, G);
}

static void ball_blocks(const scree_IpmLaw *law, scree_IpmContact *k, const double *x,
                        const double *z, const scree_IpmBlocks *blocks) {
  const int d = k->d;
  double X[SCREE_ROWS_MAX + 1] = {k->radius}, Z[SCREE_ROWS_MAX + 1] = {k->zeta};
  double P[SCREE_ROWS_MAX * SCREE_ROWS_MAX], E[SCREE_ROWS_MAX * SCREE_ROWS_MAX];
  double *G = blocks->G + k->mat, *PK = blocks->PK + k->mat, *K = blocks->K + k->mat;
  for (int i = 0; i < d; ++i) {
    X[i + 1] = x[i];
    Z[i + 1] = z[i];
  }
  scree_scaling_init(&k->scaling, d + 1, X, Z);
  if (!law->bodies) {
    ipm_ball_matrix(k, true, G);
    for (int i = 0; i < d; ++i) G[i * d + i] += ipm_proximal_weight(k);
    return;
  }
  ipm_ball_matrix(k, false, P);
  for (int i = 0; i < d * d; ++i) { /* K = (I + E P)^-1 */
    K[i] = i % (d + 1) == 0 ? 1.0 : 0.0;
    E[i] = (k->C ? k->C[i] : 0.0) + K[i] * ipm_proximal_weight(k);
  }
  ipm_multiply_matrices(d, E, P, G);
  for (int i = 0; i < d; ++i) G[i * d + i] += 1.0;
  ipm_solve_left(d, G, K);
  ipm_multiply_matrices(d, P, K, PK);
  for (int i = 0; i < d * d; ++i) G[i] = PK[i];
}

/* r = 0 */
static void none_blocks(const scree_IpmLaw *law, const scree_IpmContact *k,
                        const scree_IpmBlocks *blocks) {
  const int d = k->d;
  double *G = blocks->G + k->mat;
  ipm_zero(d * d, G);
  for (int i = 0; i < d && !law->bodies; ++i) G[i * d + i] = NO_FRICTION * law->w_mean;
}

/* E = S C S + prox */
SCREE_INLINE void cone_compliance(int d, const scree_IpmContact *k, double *E) {
  const double *C = k->C;
  for (int i = 0; i < d * d; ++i) E[i] = C ? C[i] : 0.0;
  for (int i = 0; C && i < d; ++i) {
    E[i * d] *= k->s_scale;
    E[i] *= k->s_scale;
  }
  for (int i = 0; i < d; ++i) E[i * d + i] += ipm_proximal_weight(k);
}

SCREE_INLINE void cone_blocks_bodies(const scree_IpmLaw *law, int d, const scree_IpmContact *k,
                                     const scree_IpmBlocks *blocks) {
  const double s = k->s_scale;
  double P[9], E[9], A[9], DEP[9], *G = blocks->G + k->mat, *PK = blocks->PK + k->mat,
                                   *K = blocks->K + k->mat;
  scree_scaling_matrix(&k->scaling, d, P);
  cone_compliance(d, k, E);
  for (int i = 0; i < d * d; ++i) K[i] = i % (d + 1) == 0 ? 1.0 : 0.0;
  for (int i = 0; i < d; ++i) K[i] += k->g[i] / (1.0 - k->g[0]); /* N; below K = A^-1 N */
  ipm_multiply_matrices(d, E, P, DEP);
  for (int j = 0; j < d; ++j) {
    double column[3];
    for (int i = 0; i < d; ++i) column[i] = DEP[i * d + j];
    ipm_weigh(law, d, k, column, column);
    for (int i = 0; i < d; ++i) DEP[i * d + j] = column[i];
  }
  for (int i = 0; i < d; ++i) /* A = I + N D E P */
    for (int j = 0; j < d; ++j) {
      double sum = i == j ? 1.0 : 0.0;
      for (int m = 0; m < d; ++m) sum += K[i * d + m] * DEP[m * d + j];
      A[i * d + j] = sum;
    }
  ipm_solve_left(d, A, K);
  ipm_multiply_matrices(d, P, K, PK);
  for (int i = 0; i < d; ++i) { /* G = S PK D S; D is symmetric, so rows of PK D are D (row)^T */
    double row[3];
    ipm_weigh(law, d, k, PK + i * d, row);
    for (int j = 0; j < d; ++j) G[i * d + j] = row[j] * (j == 0 ? s : 1.0) * (i == 0 ? s : 1.0);
  }
}

SCREE_INLINE void cone_blocks_assembled(const scree_IpmLaw *law, int d, const scree_IpmContact *k,
                                        const scree_IpmBlocks *blocks) {
  const double s = k->s_scale;
  double P[9], M[9], *G = blocks->G + k->mat; /* P^-1, D^-1 N^-1 P^-1 + prox */
  scree_scaling_inverse_matrix(&k->scaling, d, P);
  for (int j = 0; j < d; ++j) {
    double row0 = P[j];
    for (int m = 0; m < d; ++m) row0 -= k->g[m] * P[m * d + j]; /* N^-1 = I - e_0 g^T */
    double column[3] = {row0, 0.0, 0.0};
    for (int i = 1; i < d; ++i) column[i] = P[i * d + j];
    ipm_unweigh(law, d, k, column, column);
    for (int i = 0; i < d; ++i) M[i * d + j] = column[i];
  }
  for (int i = 0; i < d; ++i) M[i * d + i] += ipm_proximal_weight(k);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
      G[i * d + j] = M[i * d + j] / ((i == 0 ? s : 1.0) * (j == 0 ? s : 1.0));
}

SCREE_INLINE void cone_blocks(const scree_IpmLaw *law, int d, scree_IpmContact *k, const double *x,
                              const double *z, const scree_IpmBlocks *blocks) {
  scree_scaling_init(&k->scaling, d, x, z);
  double tail2 = 0.0;
  for (int i = 1; i < d; ++i) {
    tail2 += z[i] * z[i];
    k->g[i] = law->coulomb ? 2.0 * z[i] / z[0] : 0.0;
  }
  k->g[0] = law->coulomb ? -tail2 / (z[0] * z[0]) : 0.0;
  if (law->bodies)
    cone_blocks_bodies(law, d, k, blocks);
  else
    cone_blocks_assembled(law, d, k, blocks);
}

void scree_ipm_contact_blocks(const scree_IpmLaw *law, scree_IpmContact *k, const double *x,
                              const double *z, const scree_IpmBlocks *blocks) {
  if (k->kind == SCREE_IPM_SPACE)
    space_blocks(law, k, blocks);
  else if (k->kind == SCREE_IPM_BALL)
    ball_blocks(law, k, x + k->at, z + k->at, blocks);
  else if (k->kind == SCREE_IPM_NONE)
    none_blocks(law, k, blocks);
  else if (k->kind == SCREE_IPM_LINE)
    line_blocks(law, k, x[k->at], z[k->at], blocks);
  else if (k->d == 3)
    cone_blocks(law, 3, k, x + k->at, z + k->at, blocks);
  else
    cone_blocks(law, 2, k, x + k->at, z + k->at, blocks);
}

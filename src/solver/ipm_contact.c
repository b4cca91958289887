/* One constraint in the interior point (see ipm_contact.h). Cones have 2 or 3 rows; inner functions
 * get them as a literal, so that the compiler unrolls.
 *
 * More than 600 lines: the formulas of all kinds of constraints share small matrix functions that
 * the compiler unrolls for each size. */
#include "solver/ipm_contact.h"

/* Stiffness of the tangential rows of a frictionless contact in assembled form, relative to the
 * mean diagonal of W: their impulses are zero. Not tuned: large enough to make them negligible. */
static const double NO_FRICTION = 1e12;

/* ---- small dense ------------------------------------------------------------------------------
 */

SCREE_INLINE void multiply(int d, const double *A, const double *v, double *out) {
  for (int i = 0; i < d; ++i) {
    double sum = 0.0;
    for (int j = 0; j < d; ++j) sum += A[i * d + j] * v[j];
    out[i] = sum;
  }
}

/* out = A B */
SCREE_INLINE void multiply_matrices(int d, const double *A, const double *B, double *out) {
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = 0.0;
      for (int m = 0; m < d; ++m) sum += A[i * d + m] * B[m * d + j];
      out[i * d + j] = sum;
    }
}

/* B <- A^-1 B for d x d; A is I + something with positive real part, or symmetric and positive
 * definite, so no pivoting is needed. A is destroyed. */
SCREE_INLINE void solve_left(int d, double *A, double *B) {
  for (int k = 0; k < d; ++k) {
    const double pivot = 1.0 / A[k * d + k];
    for (int i = k + 1; i < d; ++i) {
      const double f = A[i * d + k] * pivot;
      for (int j = k + 1; j < d; ++j) A[i * d + j] -= f * A[k * d + j];
      for (int j = 0; j < d; ++j) B[i * d + j] -= f * B[k * d + j];
    }
  }
  for (int k = d - 1; k >= 0; --k)
    for (int j = 0; j < d; ++j) {
      double sum = B[k * d + j];
      for (int i = k + 1; i < d; ++i) sum -= A[k * d + i] * B[i * d + j];
      B[k * d + j] = sum / A[k * d + k];
    }
}

/* out = D v: diag(k, 1, ..), or H with non-associated flow */
SCREE_INLINE void weigh(const scree_IpmLaw *law, int d, const scree_IpmContact *k, const double *v,
                        double *out) {
  if (k->flow) {
    double product[3];
    multiply(d, k->flow, v, product);
    for (int i = 0; i < d; ++i) out[i] = product[i];
    return;
  }
  out[0] = law->kappa * v[0];
  for (int i = 1; i < d; ++i) out[i] = v[i];
}

/* out = D^-1 v; H does not mix the normal with the tangents */
SCREE_INLINE void unweigh(const scree_IpmLaw *law, int d, const scree_IpmContact *k,
                          const double *v, double *out) {
  const double *H = k->flow;
  if (!H) {
    out[0] = v[0] / law->kappa;
    for (int i = 1; i < d; ++i) out[i] = v[i];
    return;
  }
  out[0] = v[0] / H[0];
  if (d == 2) {
    out[1] = v[1] / H[3];
  } else {
    const double det = H[4] * H[8] - H[5] * H[7], v1 = v[1], v2 = v[2];
    out[1] = (H[8] * v1 - H[5] * v2) / det;
    out[2] = (H[4] * v2 - H[7] * v1) / det;
  }
}

/* D of a half-line */
static double line_weight(const scree_IpmLaw *law, const scree_IpmContact *k) {
  return k->flow ? k->flow[0] : law->kappa;
}

static double proximal_weight(const scree_IpmContact *k) {
  return k->w / k->f;
}

/* s(z) = |z_T|^2 / z_0 */
SCREE_INLINE double smooth_s(int d, const double *z) {
  double tail2 = 0.0;
  for (int i = 1; i < d; ++i) tail2 += z[i] * z[i];
  return tail2 / z[0];
}

static void zero(int n, double *x) {
  for (int i = 0; i < n; ++i) x[i] = 0.0;
}

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
  zero(d, z);
  if (k->kind == SCREE_IPM_SPACE) {
    for (int i = 0; i < d; ++i) x[i] = r[i];
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    start_ball(k, r, u, mu, x, z);
    return;
  }
  zero(d, x);
  if (k->kind == SCREE_IPM_NONE) return;
  const double rho = 1.0 / k->w, target = 4.0 * rho * mu;
  double w[3] = {0.0, 0.0, 0.0}, v[3] = {k->s_scale * u[0], 0.0, 0.0};
  for (int i = 1; i < m; ++i) v[i] = u[i];
  weigh(law, m, k, v, v);
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
  const double s = law->coulomb ? smooth_s(m, z) : 0.0;
  double v[3] = {k->s_scale * u[0], 0.0, 0.0};
  for (int i = 1; i < m; ++i) v[i] = u[i];
  weigh(law, m, k, v, v);
  ru[0] = z[0] - s - v[0];
  for (int i = 1; i < d; ++i) ru[i] = i < m ? z[i] - v[i] : 0.0;
}

/* ---- blocks of the linear system --------------------------------------------------------------
 */

static void line_blocks(const scree_IpmLaw *law, const scree_IpmContact *k, double x, double z,
                        const scree_IpmBlocks *blocks) {
  const int d = k->d;
  const double p = x / z, s = k->s_scale, prox = proximal_weight(k), kappa = line_weight(law, k);
  double *G = blocks->G + k->mat, *PK = blocks->PK + k->mat, *K = blocks->K + k->mat;
  zero(d * d, G);
  if (law->bodies) {
    const double e = prox + (k->C ? s * s * k->C[0] : 0.0);
    zero(d * d, PK);
    zero(d * d, K);
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
  zero(d * d, G);
  if (!law->bodies) {
    for (int i = 0; i < d; ++i) G[i * d + i] = proximal_weight(k);
    return;
  }
  for (int i = 0; i < d * d; ++i) E[i] = k->C ? k->C[i] : 0.0;
  for (int i = 0; i < d; ++i) {
    E[i * d + i] += proximal_weight(k);
    G[i * d + i] = 1.0;
  }
  solve_left(d, E, G);
}

/* P' of a ball, or its inverse: eta^2 (I - 2 w w^T/(1 + 2 w.w)), (I + 2 w w^T)/eta^2. */
static void ball_matrix(const scree_IpmContact *k, bool inverse, double *P) {
  const int d = k->d;
  const double *w = k->scaling.w + 1, e2 = k->scaling.eta * k->scaling.eta;
  double w2 = 0.0;
  for (int i = 0; i < d; ++i) w2 += w[i] * w[i];
  const double scale = inverse ? 1.0 / e2 : e2, f = inverse ? 2.0 : -2.0 / (1.0 + 2.0 * w2);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) P[i * d + j] = scale * (f * w[i] * w[j] + (i == j ? 1.0 : 0.0));
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
    ball_matrix(k, true, G);
    for (int i = 0; i < d; ++i) G[i * d + i] += proximal_weight(k);
    return;
  }
  ball_matrix(k, false, P);
  for (int i = 0; i < d * d; ++i) { /* K = (I + E P)^-1 */
    K[i] = i % (d + 1) == 0 ? 1.0 : 0.0;
    E[i] = (k->C ? k->C[i] : 0.0) + K[i] * proximal_weight(k);
  }
  multiply_matrices(d, E, P, G);
  for (int i = 0; i < d; ++i) G[i * d + i] += 1.0;
  solve_left(d, G, K);
  multiply_matrices(d, P, K, PK);
  for (int i = 0; i < d * d; ++i) G[i] = PK[i];
}

/* r = 0 */
static void none_blocks(const scree_IpmLaw *law, const scree_IpmContact *k,
                        const scree_IpmBlocks *blocks) {
  const int d = k->d;
  double *G = blocks->G + k->mat;
  zero(d * d, G);
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
  for (int i = 0; i < d; ++i) E[i * d + i] += proximal_weight(k);
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
  multiply_matrices(d, E, P, DEP);
  for (int j = 0; j < d; ++j) {
    double column[3];
    for (int i = 0; i < d; ++i) column[i] = DEP[i * d + j];
    weigh(law, d, k, column, column);
    for (int i = 0; i < d; ++i) DEP[i * d + j] = column[i];
  }
  for (int i = 0; i < d; ++i) /* A = I + N D E P */
    for (int j = 0; j < d; ++j) {
      double sum = i == j ? 1.0 : 0.0;
      for (int m = 0; m < d; ++m) sum += K[i * d + m] * DEP[m * d + j];
      A[i * d + j] = sum;
    }
  solve_left(d, A, K);
  multiply_matrices(d, P, K, PK);
  for (int i = 0; i < d; ++i) { /* G = S PK D S; D is symmetric, so rows of PK D are D (row)^T */
    double row[3];
    weigh(law, d, k, PK + i * d, row);
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
    unweigh(law, d, k, column, column);
    for (int i = 0; i < d; ++i) M[i * d + j] = column[i];
  }
  for (int i = 0; i < d; ++i) M[i * d + i] += proximal_weight(k);
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

/* ---- one direction ----------------------------------------------------------------------------
 */

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

void scree_ipm_contact_target(scree_IpmContact *k, double target, const double *x, const double *z,
                              const double *dxa, const double *dza, double *a) {
  const int d = k->d;
  x += k->at;
  z += k->at;
  a += k->at;
  if (k->kind == SCREE_IPM_BALL) {
    ball_target(k, target, x, dxa ? dxa + k->at : NULL, dza ? dza + k->at : NULL, a);
    return;
  }
  if (!scree_ipm_has_barrier(k)) {
    zero(d, a);
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

void scree_ipm_contact_load(const scree_IpmLaw *law, const scree_IpmContact *k,
                            const scree_IpmBlocks *blocks, const double *a, const double *ru,
                            double *v, double *t) {
  const int d = k->d, m = k->m;
  const double s = k->s_scale, *C = k->C;
  a += k->at;
  ru += k->at;
  v += k->at;
  t += k->at;
  if (k->kind == SCREE_IPM_SPACE) { /* dx = -G (B dy - ru) */
    for (int i = 0; i < d; ++i) v[i] = -ru[i];
    multiply(d, blocks->G + k->mat, ru, t);
    return;
  }
  if (k->kind == SCREE_IPM_NONE) {
    zero(d, v);
    zero(d, t);
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    double PKv[SCREE_ROWS_MAX];
    for (int i = 0; i < d; ++i) {
      v[i] = proximal_weight(k) * a[i] - ru[i];
      for (int j = 0; C && j < d; ++j) v[i] += C[i * d + j] * a[j];
    }
    multiply(d, blocks->PK + k->mat, v, PKv);
    for (int i = 0; i < d; ++i) t[i] = a[i] - PKv[i];
    return;
  }
  double Ea[3] = {0.0, 0.0, 0.0}, PKv[SCREE_ROWS_MAX];
  for (int i = 0; i < m; ++i) {
    Ea[i] = proximal_weight(k) * a[i];
    for (int j = 0; C && j < m; ++j)
      Ea[i] += (i == 0 ? s : 1.0) * C[i * d + j] * (j == 0 ? s : 1.0) * a[j];
  }
  zero(d, v);
  weigh(law, m, k, Ea, v);
  for (int i = 0; i < m; ++i) v[i] -= ru[i];
  multiply(d, blocks->PK + k->mat, v, PKv);
  for (int i = 0; i < d; ++i) t[i] = i < m ? a[i] - PKv[i] : 0.0;
  t[0] *= s;
}

void scree_ipm_contact_step(const scree_IpmLaw *law, scree_IpmContact *k,
                            const scree_IpmBlocks *blocks, const double *a, const double *Bdy,
                            const double *v, double *dx, double *dz) {
  const int d = k->d, m = k->m;
  double w[SCREE_ROWS_MAX] = {0.0}, PKw[SCREE_ROWS_MAX];
  a += k->at;
  Bdy += k->at;
  v += k->at;
  dx += k->at;
  dz += k->at;
  if (k->kind == SCREE_IPM_SPACE) {
    for (int i = 0; i < d; ++i) w[i] = -(Bdy[i] + v[i]);
    multiply(d, blocks->G + k->mat, w, dx);
    zero(d, dz);
    return;
  }
  if (k->kind == SCREE_IPM_NONE) {
    zero(d, dx);
    zero(d, dz);
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    for (int i = 0; i < d; ++i) w[i] = Bdy[i] + v[i];
    multiply(d, blocks->K + k->mat, w, dz);
    multiply(d, blocks->PK + k->mat, w, PKw);
    for (int i = 0; i < d; ++i) dx[i] = a[i] - PKw[i];
    ball_head(k, dz);
    return;
  }
  for (int i = 0; i < m; ++i) w[i] = Bdy[i] * (i == 0 ? k->s_scale : 1.0);
  weigh(law, m, k, w, w);
  for (int i = 0; i < m; ++i) w[i] += v[i];
  multiply(d, blocks->K + k->mat, w, dz);
  multiply(d, blocks->PK + k->mat, w, PKw);
  for (int i = 0; i < d; ++i) dx[i] = a[i] - PKw[i];
}

void scree_ipm_contact_load_assembled(const scree_IpmLaw *law, const scree_IpmContact *k,
                                      const double *x, const double *z, const double *a,
                                      const double *ru, double *h, double *b) {
  const int d = k->d;
  a += k->at;
  ru += k->at;
  h += k->at;
  b += k->at;
  if (k->kind == SCREE_IPM_SPACE) {
    for (int i = 0; i < d; ++i) b[i] = ru[i];
    zero(d, h);
    return;
  }
  if (k->kind == SCREE_IPM_NONE) {
    zero(d, b);
    zero(d, h);
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    double P[SCREE_ROWS_MAX * SCREE_ROWS_MAX]; /* P'^-1 */
    ball_matrix(k, true, P);
    multiply(d, P, a, h);
    for (int i = 0; i < d; ++i) b[i] = h[i] + ru[i];
    return;
  }
  if (k->kind == SCREE_IPM_LINE) {
    h[0] = a[0] * z[k->at] / x[k->at];
    b[0] = (h[0] + ru[0]) / (line_weight(law, k) * k->s_scale);
    for (int i = 1; i < d; ++i) h[i] = b[i] = 0.0;
    return;
  }
  double P[9]; /* P^-1 */
  scree_scaling_inverse_matrix(&k->scaling, d, P);
  multiply(d, P, a, h);
  double inner = 0.0;
  for (int i = 0; i < d; ++i) inner += k->g[i] * h[i];
  for (int i = 0; i < d; ++i) b[i] = h[i] + ru[i];
  b[0] -= inner;
  unweigh(law, d, k, b, b);
  b[0] /= k->s_scale;
}

void scree_ipm_contact_step_assembled(scree_IpmContact *k, const double *x, const double *z,
                                      const double *dr, double *dx, double *dz) {
  const int d = k->d;
  dr += k->at;
  dx += k->at;
  dz += k->at;
  dx[0] = dr[0] / k->s_scale;
  for (int i = 1; i < d; ++i) dx[i] = i < k->m ? dr[i] : 0.0;
  if (!scree_ipm_has_barrier(k)) return;
  if (k->kind == SCREE_IPM_LINE) {
    dz[0] -= dx[0] * z[k->at] / x[k->at];
    return;
  }
  if (k->kind == SCREE_IPM_BALL) {
    double P[SCREE_ROWS_MAX * SCREE_ROWS_MAX], Pdx[SCREE_ROWS_MAX]; /* P'^-1 */
    ball_matrix(k, true, P);
    multiply(d, P, dx, Pdx);
    for (int i = 0; i < d; ++i) dz[i] -= Pdx[i];
    ball_head(k, dz);
    return;
  }
  double P[9], Pdx[3]; /* P^-1 */
  scree_scaling_inverse_matrix(&k->scaling, d, P);
  multiply(d, P, dx, Pdx);
  for (int i = 0; i < d; ++i) dz[i] -= Pdx[i];
}

void scree_ipm_contact_reach(const scree_IpmContact *k, const double *x, const double *z,
                             const double *dx, const double *dz, double *x_step, double *z_step) {
  const size_t at = k->at;
  *x_step = *z_step = 1.0;
  if (!scree_ipm_has_barrier(k)) return;
  if (k->kind == SCREE_IPM_BALL) {
    enum { MOST = SCREE_ROWS_MAX + 1 };
    double X[MOST] = {k->radius}, dX[MOST] = {0.0}, Z[MOST] = {k->zeta}, dZ[MOST] = {k->dzeta};
    for (int i = 0; i < k->d; ++i) {
      X[i + 1] = x[at + (size_t)i];
      dX[i + 1] = dx[at + (size_t)i];
      Z[i + 1] = z[at + (size_t)i];
      dZ[i + 1] = dz[at + (size_t)i];
    }
    *x_step = scree_cone_step(k->d + 1, X, dX, 1.0);
    *z_step = scree_cone_step(k->d + 1, Z, dZ, 1.0);
    return;
  }
  if (k->kind == SCREE_IPM_LINE) {
    if (dx[at] < 0.0) *x_step = fmin(1.0, -x[at] / dx[at]);
    if (dz[at] < 0.0) *z_step = fmin(1.0, -z[at] / dz[at]);
    return;
  }
  *x_step = scree_cone_step(k->d, x + at, dx + at, 1.0);
  *z_step = scree_cone_step(k->d, z + at, dz + at, 1.0);
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

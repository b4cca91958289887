/* ipm: primal-dual interior point, for the associated law and for Coulomb's law directly.
 *
 * Variables. Per contact x = (mu r_n, r_T) and z = (k u_n/mu + s, u_T) in the second-order cone Q,
 * with x o z = 0 at a solution. For the associated law s = 0 and k = 1: the problem is convex. For
 * Coulomb's law the De Saxce term is smoothed by s(z) = |z_T|^2/z_0, which on the central path
 * x o z = e makes r_n u_n = e exactly and tends to |u_T| as e -> 0.
 *
 * With non-associated flow (002 section 9) z = S H u: the path from large to small barriers is that
 * of 002 section 9.1, whose linear systems are regular because H W + (positive) is a P-matrix.
 *
 * One iteration linearises
 *     y - B^T r = 0,    z - s(z) e_0 - D S (B y + C r + q) = 0,    x o z = sigma mu e
 * with S = diag(1/mu, 1, ..), r = S x, D = diag(k, 1, ..) or H, and Nesterov-Todd scaling P (P z =
 * x). With g = grad s, N = (I - e_0 g^T)^-1 = I + e_0 g^T/(1 - g_0), E the compliance (in x) and K
 * = (I + N D E P)^-1 N, eliminating dx = a - P dz and dz leaves one system over the bodies, (I +
 * B^T S P K D S B) dy = -r_y + B^T S (a - P K (D E a - r_u)), symmetric pattern, unsymmetric
 * values. When only W is known the same steps give (W + S^-1 (D^-1 N^-1 P^-1 + E) S^-1) dr = S^-1
 * D^-1 (N^-1 P^-1 a + r_u).
 *
 * Friction is not associated, so the path can fold. Each contact has a proximal weight w_c/f_c,
 * centred at the current point (it enters E in the matrix only): f_c falls where the contact blocks
 * the step and recovers elsewhere. Predictor-corrector of Mehrotra, with the second-order term of
 * s.
 *
 * The start is the point of the central path of the local problems: for w = x(r) - rho z(u),
 *     x = (w + (w o w + 4 rho mu e)^(1/2)) / 2,     rho z = x - w,     so that x o z = mu e
 * exactly. The end belongs to Gauss-Seidel: when the error has fallen by ten, or the steps have
 * become small, a few sweeps are tried on a copy, and they go on as long as their own rate promises
 * the tolerance for less than the factorisations still to come. Costs are counted, not timed: the
 * same bits again.
 *
 * References: 002 section 9, 003 section 2.2.2 (convex); the smoothing and weights are this
 * library's own. */
#include "core/log.h"
#include "math/vector.h"
#include "problem/measure.h"
#include "solver/cone_scaling.h"
#include "solver/registry.h"

#include <string.h>

typedef struct Options {
  double kappa;     /* k of the head comment, Coulomb only */
  double weight;    /* first f_c */
  double barrier;   /* of the start, relative to the data */
  double polish_at; /* error below which sweeps are tried, 0: never */
  int patience;     /* iterations without a better error before giving up */
} Options;

enum { STALLED = 6 };                 /* small steps in a row that count as a stall */
enum { STUCK = 8 };                   /* tiny steps in a row after which nothing moves again */
static const double NEWTON_AT = 1e-4; /* error below which Newton is tried too */
static const double STALL_AT = 1e-4;  /* error below which a stall may be round-off */

typedef struct Contact {
  scree_Scaling scaling;
  double g[3];    /* gradient of s */
  double f;       /* proximal factor */
  double w;       /* mean diagonal of S W_cc S */
  double s_scale; /* 1/mu, or 1 for a frictionless contact */
  double reach;   /* its own largest step in this iteration */
  bool line;      /* mu = 0 */
} Contact;

typedef struct State {
  const scree_Operator *W;
  Options options;
  bool coulomb;
  double kappa;
  scree_GraphSystem *system;
  Contact *contact;                 /* (nc) */
  double *x, *z, *dx, *dz, *a, *ru; /* (nc x d) */
  double *dxa, *dza;                /* (nc x d) affine step */
  double *rt, *ut;                  /* (nc x d) scratch: impulses and velocities */
  double *best, *given;             /* (nc x d) best impulses so far; those of the start */
  double *y, *dy, *ry;              /* state_size */
  double *G;                        /* (nc x d x d) of the system */
  double *PK, *K;                   /* (nc x d x d) body form: P K and K */
  double q_mean, x_mean, w_mean;
  double sweeps_per_f; /* how many sweeps cost as much as a factorisation */
} State;

/* ---- small dense ------------------------------------------------------------------------------
 */

SCREE_INLINE void multiply(int d, const double *A, const double *v, double *out) {
  for (int i = 0; i < d; ++i) {
    double sum = 0.0;
    for (int j = 0; j < d; ++j) sum += A[i * d + j] * v[j];
    out[i] = sum;
  }
}

/* A <- A^-1 B for d x d; A is I + something with positive real part, so no pivoting is needed. */
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
SCREE_INLINE void weigh(const State *st, int d, int c, const double *v, double *out) {
  const double *flow = st->W->problem->flow;
  if (flow) {
    double product[3];
    multiply(d, flow + (size_t)c * (size_t)(d * d), v, product);
    for (int i = 0; i < d; ++i) out[i] = product[i];
    return;
  }
  out[0] = st->kappa * v[0];
  for (int i = 1; i < d; ++i) out[i] = v[i];
}

/* out = D^-1 v; H does not mix the normal with the tangents */
SCREE_INLINE void unweigh(const State *st, int d, int c, const double *v, double *out) {
  const double *H = st->W->problem->flow;
  if (!H) {
    out[0] = v[0] / st->kappa;
    for (int i = 1; i < d; ++i) out[i] = v[i];
    return;
  }
  H += (size_t)c * (size_t)(d * d);
  out[0] = v[0] / H[0];
  if (d == 2) {
    out[1] = v[1] / H[3];
  } else {
    const double det = H[4] * H[8] - H[5] * H[7], v1 = v[1], v2 = v[2];
    out[1] = (H[8] * v1 - H[5] * v2) / det;
    out[2] = (H[4] * v2 - H[7] * v1) / det;
  }
}

/* ---- residuals --------------------------------------------------------------------------------
 */

/* s(z) = |z_T|^2 / z_0 */
SCREE_INLINE double smooth_s(int d, const double *z) {
  double tail2 = 0.0;
  for (int i = 1; i < d; ++i) tail2 += z[i] * z[i];
  return tail2 / z[0];
}

static void to_impulses(const State *st, const double *x, double *r) {
  const int d = st->W->problem->d;
  for (int c = 0; c < st->W->problem->nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const Contact *k = &st->contact[c];
    r[at] = x[at] * k->s_scale;
    for (int i = 1; i < d; ++i) r[at + (size_t)i] = k->line ? 0.0 : x[at + (size_t)i];
  }
}

/* ru = z - s e_0 - D S (B y + C r + q), ry = y - B^T r; returns |ru|, *ry_norm = |ry| */
static double residuals(State *st, const double *x, const double *z, const double *y, double *ru,
                        double *ry, double *ry_norm) {
  const scree_Operator *W = st->W;
  const int d = W->problem->d, nc = W->problem->nc;
  const bool bodies = W->problem->kind == SCREE_BODIES;
  to_impulses(st, x, st->rt);
  *ry_norm = 0.0;
  if (bodies) {
    scree_operator_state(W, st->rt, ry);
    for (size_t i = 0; i < W->state_size; ++i) ry[i] = y[i] - ry[i];
    *ry_norm = scree_vector_norm(W->state_size, ry, 1);
  }
  scree_operator_velocity(W, st->rt, y, W->problem->q, st->ut);
  for (int c = 0; c < nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const Contact *k = &st->contact[c];
    const double *u = st->ut + at, *zc = z + at;
    const double s = st->coulomb && !k->line ? smooth_s(d, zc) : 0.0;
    double v[3] = {k->s_scale * u[0], 0.0, 0.0};
    for (int i = 1; i < d && !k->line; ++i) v[i] = u[i];
    weigh(st, d, c, v, v);
    ru[at] = zc[0] - s - v[0];
    for (int i = 1; i < d; ++i) ru[at + (size_t)i] = k->line ? 0.0 : zc[i] - v[i];
  }
  return scree_vector_norm((size_t)nc * (size_t)d, ru, 1);
}

/* ---- the matrix -------------------------------------------------------------------------------
 */

/* Scaling, gradient and blocks of one contact. `E` is compliance plus proximal weight, in x. */
SCREE_INLINE void prepare_contact(State *st, int d, int c, bool bodies) {
  const size_t at = (size_t)c * (size_t)d, mat = at * (size_t)d;
  Contact *k = &st->contact[c];
  const double *x = st->x + at, *z = st->z + at;
  const double s = k->s_scale, prox = k->w / k->f;
  const double *flow = st->W->problem->flow;
  double P[9] = {0}, N[9] = {0}, A[9], E[9] = {0};
  const double *C = bodies ? st->W->problem->bodies.C : NULL;
  if (k->line) { /* one dimension */
    const double p = x[0] / z[0];
    const double e = prox + (C ? s * s * C[mat] : 0.0);
    const double kappa = flow ? flow[mat] : st->kappa;
    for (int i = 0; i < d * d; ++i) st->G[mat + (size_t)i] = 0.0;
    if (bodies) {
      for (int i = 0; i < d * d; ++i) st->PK[mat + (size_t)i] = st->K[mat + (size_t)i] = 0.0;
      const double K = 1.0 / (1.0 + kappa * e * p);
      st->PK[mat] = p * K;
      st->K[mat] = K;
      st->G[mat] = s * p * K * kappa * s;
    } else {
      st->G[mat] = (1.0 / (kappa * p) + prox) / (s * s);
      for (int i = 1; i < d; ++i) st->G[mat + (size_t)(i * d + i)] = 1e12 * st->w_mean;
    }
    return;
  }
  scree_scaling_init(&k->scaling, d, x, z);
  double tail2 = 0.0;
  for (int i = 1; i < d; ++i) {
    tail2 += z[i] * z[i];
    k->g[i] = st->coulomb ? 2.0 * z[i] / z[0] : 0.0;
  }
  k->g[0] = st->coulomb ? -tail2 / (z[0] * z[0]) : 0.0;
  if (bodies) {
    scree_scaling_matrix(&k->scaling, d, P);
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) E[i * d + j] = C ? C[mat + (size_t)(i * d + j)] : 0.0;
      N[i * d + i] = 1.0;
    }
    if (C)
      for (int i = 0; i < d; ++i) {
        E[i * d] *= s;
        E[i] *= s;
      }
    for (int i = 0; i < d; ++i) {
      E[i * d + i] += prox;
      N[i] += k->g[i] / (1.0 - k->g[0]);
    }
    /* A = I + N D E P; then N <- K = A^-1 N */
    double DEP[9];
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) {
        double sum = 0.0;
        for (int m = 0; m < d; ++m) sum += E[i * d + m] * P[m * d + j];
        DEP[i * d + j] = sum;
      }
    for (int j = 0; j < d; ++j) {
      double column[3];
      for (int i = 0; i < d; ++i) column[i] = DEP[i * d + j];
      weigh(st, d, c, column, column);
      for (int i = 0; i < d; ++i) DEP[i * d + j] = column[i];
    }
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) {
        double sum = i == j ? 1.0 : 0.0;
        for (int m = 0; m < d; ++m) sum += N[i * d + m] * DEP[m * d + j];
        A[i * d + j] = sum;
      }
    solve_left(d, A, N);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) {
        double sum = 0.0;
        for (int m = 0; m < d; ++m) sum += P[i * d + m] * N[m * d + j];
        const size_t ij = mat + (size_t)(i * d + j);
        st->PK[ij] = sum;
        st->K[ij] = N[i * d + j];
      }
    for (int i = 0; i < d; ++i) { /* G = S PK D S; D is symmetric, so rows of PK D are D (row)^T */
      double row[3];
      weigh(st, d, c, st->PK + mat + (size_t)(i * d), row);
      for (int j = 0; j < d; ++j)
        st->G[mat + (size_t)(i * d + j)] = row[j] * (j == 0 ? s : 1.0) * (i == 0 ? s : 1.0);
    }
  } else {
    scree_scaling_inverse_matrix(&k->scaling, d, P); /* P^-1 */
    for (int j = 0; j < d; ++j) {
      double row0 = P[j];
      for (int m = 0; m < d; ++m) row0 -= k->g[m] * P[m * d + j]; /* N^-1 = I - e_0 g^T */
      double column[3] = {row0, 0.0, 0.0};
      for (int i = 1; i < d; ++i) column[i] = P[i * d + j];
      unweigh(st, d, c, column, column);
      for (int i = 0; i < d; ++i) N[i * d + j] = column[i];
    }
    for (int i = 0; i < d; ++i) N[i * d + i] += prox;
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j)
        st->G[mat + (size_t)(i * d + j)] = N[i * d + j] / ((i == 0 ? s : 1.0) * (j == 0 ? s : 1.0));
  }
}

static scree_Status factorise(State *st, scree_SolveRun *run, bool *broken) {
  const scree_Problem *p = st->W->problem;
  const bool bodies = p->kind == SCREE_BODIES;
  if (p->d == 3)
    for (int c = 0; c < p->nc; ++c) prepare_contact(st, 3, c, bodies);
  else
    for (int c = 0; c < p->nc; ++c) prepare_contact(st, 2, c, bodies);
  ++run->factorisations;
  return scree_graph_system_factor(st->system, NULL, st->G, broken);
}

/* ---- directions -------------------------------------------------------------------------------
 */

/* a = R (l \ (target e - correction)) - x: the right side of dx + P dz = a */
SCREE_INLINE void right_side(State *st, int d, int c, double target, const double *dxa,
                             const double *dza) {
  const size_t at = (size_t)c * (size_t)d;
  const Contact *k = &st->contact[c];
  const double *x = st->x + at, *z = st->z + at;
  double *a = st->a + at;
  if (k->line) {
    const double correction = dxa ? dxa[at] * dza[at] : 0.0;
    a[0] = (target - correction) / z[0] - x[0];
    for (int i = 1; i < d; ++i) a[i] = 0.0;
    return;
  }
  double v[3] = {0.0, 0.0, 0.0}, product[3], left[3], right[3];
  v[0] = target;
  if (dxa) {
    scree_scaling_invert(&k->scaling, d, dxa + at, left);
    scree_scaling_apply(&k->scaling, d, dza + at, right);
    scree_jordan_product(d, left, right, product);
    for (int i = 0; i < d; ++i) v[i] -= product[i];
  }
  scree_jordan_divide(d, k->scaling.l, v, left);
  scree_scaling_apply(&k->scaling, d, left, right);
  for (int i = 0; i < d; ++i) a[i] = right[i] - x[i];
}

static void direction_bodies(State *st, const double *ru, double *dx, double *dz) {
  const scree_Operator *W = st->W;
  const int d = W->problem->d, nc = W->problem->nc;
  const double *C = W->problem->bodies.C;
  /* t = S (a - P K (D E a - ru)) */
  for (int c = 0; c < nc; ++c) {
    const size_t at = (size_t)c * (size_t)d, mat = at * (size_t)d;
    const Contact *k = &st->contact[c];
    double Ea[3], v[3], t[3];
    for (int i = 0; i < d; ++i) {
      Ea[i] = k->w / k->f * st->a[at + (size_t)i];
      for (int j = 0; C && j < d; ++j)
        Ea[i] += (i == 0 ? k->s_scale : 1.0) * C[mat + (size_t)(i * d + j)] *
                 (j == 0 ? k->s_scale : 1.0) * st->a[at + (size_t)j];
    }
    if (k->line)
      for (int i = 1; i < d; ++i) Ea[i] = 0.0;
    weigh(st, d, c, Ea, v);
    for (int i = 0; i < d; ++i) {
      v[i] -= ru[at + (size_t)i];
      st->ut[at + (size_t)i] = v[i]; /* kept for dz */
    }
    multiply(d, st->PK + mat, v, t);
    for (int i = 0; i < d; ++i) st->rt[at + (size_t)i] = st->a[at + (size_t)i] - t[i];
    st->rt[at] *= k->s_scale;
    if (k->line)
      for (int i = 1; i < d; ++i) st->rt[at + (size_t)i] = 0.0;
  }
  scree_operator_state(W, st->rt, st->dy);
  for (size_t i = 0; i < st->system->size; ++i) st->dy[i] -= st->ry[i];
  scree_graph_system_solve(st->system, st->dy);
  scree_operator_velocity(W, NULL, st->dy, NULL, st->rt); /* B dy */
  for (int c = 0; c < nc; ++c) {
    const size_t at = (size_t)c * (size_t)d, mat = at * (size_t)d;
    const Contact *k = &st->contact[c];
    double w[3], t[3];
    /* dz = K w and dx = a - P K w with w = D S B dy + (D E a - ru) */
    for (int i = 0; i < d; ++i)
      w[i] = k->line && i ? 0.0 : st->rt[at + (size_t)i] * (i == 0 ? k->s_scale : 1.0);
    weigh(st, d, c, w, w);
    for (int i = 0; i < d; ++i) w[i] += k->line && i ? 0.0 : st->ut[at + (size_t)i];
    multiply(d, st->K + mat, w, dz + at);
    multiply(d, st->PK + mat, w, t);
    for (int i = 0; i < d; ++i) dx[at + (size_t)i] = st->a[at + (size_t)i] - t[i];
  }
}

static void direction_blocks(State *st, const double *ru, double *dx, double *dz) {
  const int d = st->W->problem->d, nc = st->W->problem->nc;
  /* right side S^-1 D^-1 (N^-1 P^-1 a + ru); P^-1 a is kept in dz */
  for (int c = 0; c < nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const Contact *k = &st->contact[c];
    double Pi[9], *b = st->rt + at, *h = dz + at;
    if (k->line) {
      h[0] = st->a[at] * st->z[at] / st->x[at];
      const double *flow = st->W->problem->flow;
      b[0] = (h[0] + ru[at]) / ((flow ? flow[at * (size_t)d] : st->kappa) * k->s_scale);
      for (int i = 1; i < d; ++i) h[i] = b[i] = 0.0;
      continue;
    }
    scree_scaling_inverse_matrix(&k->scaling, d, Pi);
    multiply(d, Pi, st->a + at, h);
    double inner = 0.0;
    for (int i = 0; i < d; ++i) inner += k->g[i] * h[i];
    for (int i = 0; i < d; ++i) b[i] = h[i] + ru[at + (size_t)i];
    b[0] -= inner;
    unweigh(st, d, c, b, b);
    b[0] /= k->s_scale;
  }
  scree_graph_system_solve(st->system, st->rt);
  for (int c = 0; c < nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const Contact *k = &st->contact[c];
    double Pi[9], t[3];
    dx[at] = st->rt[at] / k->s_scale;
    for (int i = 1; i < d; ++i) dx[at + (size_t)i] = k->line ? 0.0 : st->rt[at + (size_t)i];
    if (k->line) {
      dz[at] -= dx[at] * st->z[at] / st->x[at];
      continue;
    }
    scree_scaling_inverse_matrix(&k->scaling, d, Pi);
    multiply(d, Pi, dx + at, t);
    for (int i = 0; i < d; ++i) dz[at + (size_t)i] -= t[i];
  }
}

static void direction(State *st, double target, const double *dxa, const double *dza,
                      const double *ru, double *dx, double *dz) {
  const int d = st->W->problem->d, nc = st->W->problem->nc;
  for (int c = 0; c < nc; ++c) right_side(st, d, c, target, dxa, dza);
  if (st->W->problem->kind == SCREE_BODIES)
    direction_bodies(st, ru, dx, dz);
  else
    direction_blocks(st, ru, dx, dz);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Largest common step, at most 1; *z_step for z alone. Fills contact[].reach. */
static double largest_step(State *st, const double *dx, const double *dz, double *z_step) {
  const int d = st->W->problem->d, nc = st->W->problem->nc;
  double x_step = 1.0;
  *z_step = 1.0;
  for (int c = 0; c < nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    Contact *k = &st->contact[c];
    double tx = 1.0, tz = 1.0;
    if (k->line) {
      if (dx[at] < 0.0) tx = fmin(1.0, -st->x[at] / dx[at]);
      if (dz[at] < 0.0) tz = fmin(1.0, -st->z[at] / dz[at]);
    } else {
      tx = scree_cone_step(d, st->x + at, dx + at, 1.0);
      tz = scree_cone_step(d, st->z + at, dz + at, 1.0);
    }
    k->reach = fmin(tx, tz);
    x_step = fmin(x_step, tx);
    *z_step = fmin(*z_step, tz);
  }
  return fmin(x_step, *z_step);
}

static double complementarity(size_t n, const double *x, const double *dx, const double *z,
                              const double *dz, double t) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i)
    sum += (x[i] + (dx ? t * dx[i] : 0.0)) * (z[i] + (dz ? t * dz[i] : 0.0));
  return sum;
}

/* ru + second-order term of s: s(z + dz) - s - g.dz = |dz_T - z_T dz_0/z_0|^2 / z_0 + ... */
static void add_curvature(const State *st, const double *dz, double *ru) {
  const int d = st->W->problem->d;
  for (int c = 0; c < st->W->problem->nc; ++c) {
    if (st->contact[c].line) continue;
    const size_t at = (size_t)c * (size_t)d;
    double sum = 0.0;
    for (int i = 1; i < d; ++i) {
      const double v = dz[at + (size_t)i] - st->z[at + (size_t)i] * dz[at] / st->z[at];
      sum += v * v;
    }
    ru[at] -= sum / st->z[at];
  }
}

static void move(State *st, double t, double *x, double *z, double *y) {
  const size_t n = (size_t)st->W->problem->nc * (size_t)st->W->problem->d;
  for (size_t i = 0; i < n; ++i) {
    x[i] += t * st->dx[i];
    z[i] += t * st->dz[i];
  }
  for (size_t i = 0; i < st->system->size && y; ++i) y[i] += t * st->dy[i];
}

/* ---- start ------------------------------------------------------------------------------------
 */

/* Scales of the data and of each contact. */
static void measure_scales(State *st) {
  const scree_Operator *W = st->W;
  const scree_Problem *p = W->problem;
  const int d = p->d, nc = p->nc;
  const size_t n = (size_t)nc * (size_t)d;
  double sum_x = 0.0, sum_w = 0.0;
  st->q_mean = n ? scree_vector_norm(n, p->q, 1) / sqrt((double)n) : 0.0;
  if (!(st->q_mean > 0.0)) st->q_mean = 1.0;
  for (int c = 0; c < nc; ++c) {
    Contact *k = &st->contact[c];
    double room[9];
    const double *D = scree_contact_diagonal(W, d, c, room);
    k->line = !(p->mu[c] > 0.0) || (p->set && p->set[c] == SCREE_SET_HALF_LINE);
    k->s_scale = k->line ? 1.0 : 1.0 / p->mu[c];
    double w = D[0] * k->s_scale * k->s_scale;
    for (int i = 1; i < d && !k->line; ++i) w += D[i * d + i];
    if (!k->line) w /= d;
    k->w = w > 0.0 ? w : W->mean_diagonal;
    k->f = st->options.weight;
    sum_x += st->q_mean / k->w;
    sum_w += k->w;
  }
  st->x_mean = nc ? sum_x / nc : 1.0;
  st->w_mean = nc ? sum_w / nc : 1.0;
}

/* (l + sqrt(l^2 + t)) / 2 without cancellation */
static double upper_half(double l, double t) {
  const double s = sqrt(l * l + t);
  return l >= 0.0 ? 0.5 * (s + l) : 0.5 * t / (s - l);
}

/* x and z of the local central path near (r, u), at barrier mu; y to match. */
static void start_near(State *st, const double *r, const double *u, double mu) {
  const scree_Operator *W = st->W;
  const int d = W->problem->d, nc = W->problem->nc;
  for (int c = 0; c < nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const Contact *k = &st->contact[c];
    const double rho = 1.0 / k->w, target = 4.0 * rho * mu;
    double w[3] = {0.0, 0.0, 0.0}, v[3] = {k->s_scale * u[at], 0.0, 0.0};
    for (int i = 1; i < d && !k->line; ++i) v[i] = u[at + (size_t)i];
    weigh(st, d, c, v, v);
    const double normal = v[0], slide = scree_cone_tail(d, v);
    /* z_0 - s(z) = normal with z_T = v_T */
    const double z0 = st->coulomb ? upper_half(normal, 4.0 * slide * slide) : normal;
    w[0] = r[at] / k->s_scale - rho * z0;
    for (int i = 1; i < d && !k->line; ++i) w[i] = r[at + (size_t)i] - rho * v[i];
    const double tail = scree_cone_tail(d, w), lo = w[0] - tail, hi = w[0] + tail;
    const double x_lo = upper_half(lo, target), x_hi = upper_half(hi, target);
    const double z_lo = upper_half(-lo, target), z_hi = upper_half(-hi, target);
    st->x[at] = 0.5 * (x_lo + x_hi);
    st->z[at] = 0.5 * (z_lo + z_hi) / rho;
    for (int i = 1; i < d; ++i) {
      const double e = tail > 0.0 ? w[i] / tail : 0.0;
      st->x[at + (size_t)i] = 0.5 * (x_hi - x_lo) * e;
      st->z[at + (size_t)i] = 0.5 * (z_hi - z_lo) * e / rho;
    }
  }
  to_impulses(st, st->x, st->rt);
  scree_operator_state(W, st->rt, st->y);
}

static void keep_best(State *st, double value, double *best, const double *r) {
  if (!(value < *best)) return;
  *best = value;
  memcpy(st->best, r, (size_t)st->W->problem->nc * (size_t)st->W->problem->d * sizeof *r);
}

/* ---- the solver -------------------------------------------------------------------------------
 */

static scree_Status allocate(State *st, const scree_SolveRun *run) {
  const scree_Operator *W = run->W;
  const size_t nc = (size_t)W->problem->nc, n = nc * (size_t)W->problem->d;
  const size_t mat = n * (size_t)W->problem->d;
  scree_Arena *work = &run->cache->work;
  double **vectors[] = {&st->x,   &st->z,   &st->dx, &st->dz, &st->a,    &st->ru,
                        &st->dxa, &st->dza, &st->rt, &st->ut, &st->best, &st->given};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k)
    if (!(*vectors[k] = SCREE_TAKE(work, double, n))) return scree_fail_memory(run->log, "ipm");
  double **states[] = {&st->y, &st->dy, &st->ry};
  for (size_t k = 0; k < 3; ++k)
    if (!(*states[k] = SCREE_TAKE(work, double, W->state_size)))
      return scree_fail_memory(run->log, "ipm");
  double **matrices[] = {&st->G, &st->PK, &st->K};
  for (size_t k = 0; k < 3; ++k)
    if (!(*matrices[k] = SCREE_TAKE_RAW(work, double, mat)))
      return scree_fail_memory(run->log, "ipm");
  st->contact = SCREE_TAKE(work, Contact, nc);
  return st->contact ? SCREE_OK : scree_fail_memory(run->log, "ipm");
}

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  State *st = SCREE_TAKE(&run->cache->work, State, 1);
  if (!st) return scree_fail_memory(run->log, "ipm");
  st->W = run->W;
  st->options = *(const Options *)options;
  st->coulomb = run->W->problem->law == SCREE_COULOMB;
  st->kappa = st->coulomb ? st->options.kappa : 1.0;
  scree_Status status = allocate(st, run);
  if (!status) status = scree_solve_run_system(run, &st->system);
  if (!status) status = scree_solve_run_sweeps_per_factorisation(run, &st->sweeps_per_f);
  *out = st;
  return status;
}

/* The new step's centring parameter (see the head comment). */
static double centring(double ratio, double affine_step, double rm, double res, double last) {
  double sigma = affine_step > 0.1 ? fmax(ratio * ratio * ratio, 1e-4) : 0.9;
  const double root = sqrt(rm);
  if (res > 0.1 * root && rm < 1e-2)
    sigma = 1.0;
  else if (res > 0.03 * root)
    sigma = fmax(sigma, 0.5);
  if (last < 0.1) sigma = 1.0;
  return sigma;
}

static void update_weights(State *st, double step, double error) {
  for (int c = 0; c < st->W->problem->nc; ++c) {
    Contact *k = &st->contact[c];
    if (k->reach < 0.1)
      k->f = fmax(0.03 * k->f, 100.0);
    else if (step > 0.3)
      k->f = fmin(2.0 * k->f, fmax(1e5, 0.3 / error));
  }
}

/* How far the iteration has come. */
typedef struct Progress {
  double ru, ry;    /* norms of the residuals */
  double last;      /* step */
  int small, tiny;  /* small and tiny steps in a row */
  double polish_at; /* error at which sweeps are tried next */
  double best;      /* error of the impulses in State.best */
  double reference; /* best error when `since` was set to zero */
  int since;        /* iterations since the best error became clearly better */
  bool broken;      /* numbers have left the finite */
} Progress;

/* One predictor-corrector step from residuals that are up to date. */
static scree_Status iterate(State *st, scree_SolveRun *run, Progress *progress) {
  const scree_Operator *W = st->W;
  const int nc = W->problem->nc;
  const size_t n = (size_t)nc * (size_t)W->problem->d;
  double *y = W->state_size ? st->y : NULL;
  const double error = run->value;
  scree_Status status = factorise(st, run, &progress->broken);
  if (status || progress->broken) return status;
  const double mu = complementarity(n, st->x, NULL, st->z, NULL, 0.0) / nc;
  const double rm = mu / (st->x_mean * st->q_mean);
  const double root_n = st->q_mean * sqrt((double)nc);
  double z_step;
  direction(st, 0.0, NULL, NULL, st->ru, st->dxa, st->dza);
  const double affine = largest_step(st, st->dxa, st->dza, &z_step);
  const double mu_affine = complementarity(n, st->x, st->dxa, st->z, st->dza, affine) / nc;
  const double sigma = centring(mu_affine / mu, affine, rm, progress->ru / root_n, progress->last);
  if (st->coulomb && z_step > 0.3) add_curvature(st, st->dza, st->ru);
  direction(st, sigma * mu, affine > 0.1 ? st->dxa : NULL, st->dza, st->ru, st->dx, st->dz);
  const double fraction = affine > 0.7 ? 0.98 : 0.8;
  double step = fmin(1.0, fraction * largest_step(st, st->dx, st->dz, &z_step));

  /* halve while the residual grows beyond what the barrier allows */
  const double bound =
      1.1 * (sqrt(progress->ru * progress->ru + st->w_mean * progress->ry * progress->ry) +
             sqrt(rm) * root_n);
  move(st, step, st->x, st->z, y);
  for (int k = 0; k <= 6; ++k) {
    progress->ru = residuals(st, st->x, st->z, st->y, st->ru, st->ry, &progress->ry);
    if (progress->ru <= bound || k == 6) break;
    step *= 0.5;
    move(st, -step, st->x, st->z, y);
  }
  progress->last = step;
  progress->small = step < 0.3 ? progress->small + 1 : 0;
  progress->tiny = step < 0.02 ? progress->tiny + 1 : 0;
  update_weights(st, step, error);
  scree_report(run->log, SCREE_LOG_DETAIL,
               "ipm %d: error %.2e barrier %.2e affine %.2f sigma %.2g step %.3f",
               run->factorisations, error, rm, affine, sigma, step);
  return SCREE_OK;
}

/* Sweeps, if this is a moment for them. */
static scree_Status maybe_polish(State *st, scree_SolveRun *run, Progress *progress, double *r,
                                 double *u) {
  const double error = run->value;
  const bool stalled = progress->small >= STALLED && error < STALL_AT;
  if (!(st->options.polish_at > 0.0) || !(error < progress->polish_at || stalled)) return SCREE_OK;
  progress->polish_at = 0.1 * fmin(error, progress->polish_at);
  if (stalled) { /* round-off or a fold: what is best so far is all that is left to work on */
    progress->small = 0;
    memcpy(r, st->best, (size_t)st->W->problem->nc * (size_t)st->W->problem->d * sizeof *r);
    run->value = progress->best;
  }
  scree_Status status = scree_solve_run_sweep(run, (stalled ? 4.0 : 1.0) * st->sweeps_per_f,
                                              (stalled ? 50.0 : 8.0) * st->sweeps_per_f, r, u);
  keep_best(st, run->value, &progress->best, r);
  if (status || run->met || run->exhausted || !(error < NEWTON_AT)) return status;
  /* two steps, and on only if they have taken off a digit */
  static const char *const impatient[] = {"window=2", "fall=10", NULL};
  status = scree_solve_run_solver(run, &scree_solver_newton, impatient, r, u);
  keep_best(st, run->value, &progress->best, r);
  return status;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  const scree_Operator *W = run->W;
  const size_t n = (size_t)W->problem->nc * (size_t)W->problem->d;
  Progress progress = {
      .last = 1.0, .polish_at = st->options.polish_at, .best = INFINITY, .reference = INFINITY};
  scree_operator_apply(W, r, W->problem->q, st->dy, u);
  if (scree_solve_run_stop(run, r, u, INFINITY)) return SCREE_OK;
  const double given = run->value; /* what is given counts at the end only: it is another path's */
  memcpy(st->given, r, n * sizeof *r);
  memset(r, 0, n * sizeof *r);
  scree_operator_apply(W, r, W->problem->q, st->dy, u);
  measure_scales(st);
  start_near(st, r, u, st->options.barrier * st->x_mean * st->q_mean);
  progress.ru = residuals(st, st->x, st->z, st->y, st->ru, st->ry, &progress.ry);
  while (progress.since <= st->options.patience && progress.tiny < STUCK) {
    ++run->iterations;
    scree_Status status = iterate(st, run, &progress);
    if (status) return status;
    if (progress.broken) break;
    to_impulses(st, st->x, r);
    scree_operator_apply(W, r, W->problem->q, st->dy, u);
    const bool stop = scree_solve_run_stop(run, r, u, INFINITY);
    if (run->met) return SCREE_OK;
    if (!(run->value < INFINITY)) break;
    keep_best(st, run->value, &progress.best, r);
    if (stop) break;
    status = maybe_polish(st, run, &progress, r, u);
    if (status || run->met) return status;
    if (run->exhausted) break;
    if (progress.best < 0.8 * progress.reference) {
      progress.reference = progress.best;
      progress.since = 0;
    } else {
      ++progress.since;
    }
  }
  memcpy(r, progress.best < given ? st->best : st->given, n * sizeof *r);
  run->value = fmin(progress.best, given);
  scree_operator_apply(W, r, W->problem->q, st->dy, u);
  return SCREE_OK;
}

static const scree_Option options[] = {
    {"kappa", SCREE_OPTION_REAL, offsetof(Options, kappa), 5, 1e-3, 1e3, false, NULL,
     "weight of the normal against the tangential part of Coulomb's law"},
    {"weight", SCREE_OPTION_REAL, offsetof(Options, weight), 1e5, 1, 1e12, false, NULL,
     "proximal weight of a contact at the start is its share of W over this"},
    {"barrier", SCREE_OPTION_REAL, offsetof(Options, barrier), 10, 1e-9, 1e9, false, NULL,
     "barrier of the start, relative to the problem's own scales"},
    {"polish_at", SCREE_OPTION_REAL, offsetof(Options, polish_at), 1e-3, 0, 1, false, NULL,
     "error below which Gauss-Seidel sweeps are tried; 0: never"},
    {"patience", SCREE_OPTION_INT, offsetof(Options, patience), 40, 1, 100000, false, NULL,
     "iterations without progress before giving up"},
};

const scree_SolverClass scree_solver_ipm = {
    .name = "ipm",
    .summary = "primal-dual interior point on the bodies or on W, factorised",
    .reference = "002 section 9; 003 section 2.2; Coulomb's law by a smoothed De Saxce term",
    .capabilities = SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSOCIATED |
                    SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES | SCREE_CAN_FLOW,
    .sets = SCREE_SETS_CONES,
    .max_iterations = 100000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};

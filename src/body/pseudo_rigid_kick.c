/* The kick of pseudo-rigid bodies, and their energies (see pseudo_rigid.c for q, F, e).
 *
 * St Venant-Kirchhoff material (V volume of the undeformed body, C = F^T F, E = (C - 1)/2):
 *     strain energy V (lambda/2 (tr E)^2 + mu E:E) ,  S = lambda tr(E) 1 + 2 mu E ,
 *     internal force on F:  -V F S ,
 *     K: dF -> V (dF S + F (lambda tr(dE) 1 + 2 mu dE)) ,   dE = sym(F^T dF) .
 * Viscous stress, with `damping` t: S grows by t (lambda tr(dE/dt) 1 + 2 mu dE/dt), so the force on
 * F is -t D v with the second part D of K, which vanishes for spin and whose power -t v . D v is
 * never positive. (K in its place, with the stress in it, would resist spin and create energy under
 * compression.) In 2D the strain is plane.
 *
 * K is indefinite under strong compression. If A = M + (h^2/4) K + (h t/2) D is then not positive
 * definite, S in its first term is replaced by its positive part, which makes K positive
 * semidefinite; the step loses accuracy there, not stability. */
#include "body/pseudo_rigid.h"
#include "geometry/principal.h"

#include <assert.h>
#include <string.h>

/* E and S (d x d) of the gradient; returns the energy density. */
static double stress(const scree_PseudoRigid *data, int d, const double *F, double S[3][3]) {
  double E[3][3], trace = 0, square = 0;
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double C = 0;
      for (int k = 0; k < d; ++k) C += F[d * i + k] * F[d * j + k];
      E[i][j] = 0.5 * (C - (i == j));
      square += E[i][j] * E[i][j];
      if (i == j) trace += E[i][i];
    }
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
      S[i][j] = 2 * data->mu * E[i][j] + (i == j ? data->lambda * trace : 0);
  return 0.5 * data->lambda * trace * trace + data->mu * square;
}

/* f = -V F S on the columns of F. */
static void internal_force(const scree_PseudoRigid *data, int d, const double *F, double S[3][3],
                           double *f) {
  for (int j = 0; j < d; ++j)
    for (int i = 0; i < d; ++i) {
      double sum = 0;
      for (int k = 0; k < d; ++k) sum += F[d * k + i] * S[k][j];
      f[d * j + i] = -data->volume * sum;
    }
}

/* K (d^2 x d^2), without S its part D of the material alone: component (i, j) is F_ij, at d j + i.
 * With P = F S,
 *     dP_ij/dF_ab = delta_ia S_bj + F_ik (lambda delta_kj F_ab + mu (delta_kb F_aj + delta_jb
 * F_ak)) = delta_ia S_bj + lambda F_ij F_ab + mu (F_ib F_aj + delta_jb (F F^T)_ia) . */
static void stiffness(const scree_PseudoRigid *data, int d, const double *F, double S[3][3],
                      double *K) {
  const int n = d * d;
  double FF[3][3] = {{0}};
  for (int i = 0; i < d; ++i)
    for (int a = 0; a < d; ++a)
      for (int k = 0; k < d; ++k) FF[i][a] += F[d * k + i] * F[d * k + a];
  for (int j = 0; j < d; ++j)
    for (int i = 0; i < d; ++i)
      for (int b = 0; b < d; ++b)
        for (int a = 0; a < d; ++a) {
          double sum =
              data->lambda * F[d * j + i] * F[d * b + a] + data->mu * F[d * b + i] * F[d * j + a];
          if (S && i == a) sum += S[b][j];
          if (j == b) sum += data->mu * FF[i][a];
          K[(d * j + i) * n + d * b + a] = data->volume * sum;
        }
}

/* S with its negative principal values set to zero. */
static void positive_part(int d, double S[3][3]) {
  double a[3][3] = {{0}}, V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) a[i][j] = S[i][j];
  scree_axes_rotate(a, V);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      S[i][j] = 0;
      for (int k = 0; k < d; ++k) S[i][j] += V[i][k] * fmax(0, a[k][k]) * V[j][k];
    }
}

/* L^-1 (n x n, lower, rows `stride` apart) of A = L L^T; false if A is not positive definite. */
static bool invert_factor(int n, double *A, int stride, double *inverse) {
  assert(n >= 1 && n <= stride);
  for (int j = 0; j < n; ++j) { /* A becomes L */
    for (int i = j; i < n; ++i) {
      double sum = A[i * n + j];
      for (int k = 0; k < j; ++k) sum -= A[i * n + k] * A[j * n + k];
      if (i == j && !(sum > 0)) return false;
      A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) inverse[i * stride + j] = 0;
    inverse[j * stride + j] = 1 / A[j * n + j];
    for (int i = j + 1; i < n; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum -= A[i * n + k] * inverse[k * stride + j];
      inverse[i * stride + j] = sum / A[i * n + i];
    }
  }
  return true;
}

/* L^-1 of A = M + (h^2/4) K + (h t/2) D, explicitly of M. */
static bool scale(scree_PseudoRigid *data, int d) {
  const int n = d * d, size = d + n;
  const double h = data->elastic.explicit_ ? 0 : data->h;
  const double elastic = 0.25 * h * h, viscous = 0.5 * h * data->elastic.damping;
  double A[N * N];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      A[i * n + j] = elastic * data->K[i * n + j] + viscous * data->D[i * n + j] +
                     (i == j ? data->euler[i / d] : 0);
  memset(data->scaling, 0, sizeof data->scaling);
  for (int i = 0; i < d; ++i) data->scaling[i * size + i] = 1 / sqrt(data->mass);
  return invert_factor(n, A, size, data->scaling + d * size + d);
}

bool scree_pseudo_rigid_prepare(const scree_Deformable *self, const double *q, const double *v,
                                const scree_BodyLoad *load, double h, double *change) {
  scree_PseudoRigid *data = self->data;
  const int d = self->dimension, n = d * d, size = self->size;
  const double *F = q + d, *rate = v + d, damping = data->elastic.damping;
  double S[3][3], f[N], y[N];
  const scree_Mat3 G = gradient(self, q);
  const double volume = determinant(&G);
  if (!(volume > 0)) return false;
  stress(data, d, F, S);
  internal_force(data, d, F, S, data->f);
  stiffness(data, d, F, S, data->K);
  if (damping > 0) stiffness(data, d, F, NULL, data->D); /* else it stays 0 */
  data->h = h;
  if (!scale(data, d)) {
    positive_part(d, S);
    stiffness(data, d, F, S, data->K);
    if (!scale(data, d)) return false;
  }
  /* the torque is [t x] F^-T / 2 on F; columns of F^-T are the rows of F^-1 */
  const scree_Vec3 t = scree_scale(0.5 / volume, load->torque);
  const scree_Vec3 rows[3] = {scree_cross(G.y, G.z), scree_cross(G.z, G.x), scree_cross(G.x, G.y)};
  for (int j = 0; j < d; ++j) {
    const scree_Vec3 turn = scree_cross(t, rows[j]);
    for (int i = 0; i < d; ++i) f[d * j + i] = data->f[d * j + i] + scree_component(turn, i);
  }
  if (damping > 0)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) f[i] -= damping * data->D[i * n + j] * rate[j];
  for (int i = 0; i < d; ++i) change[i] = h * scree_component(load->acceleration, i);
  const double *L = data->scaling + d * size + d;
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int k = 0; k <= i; ++k) y[i] += L[i * size + k] * f[k];
  }
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = i; k < n; ++k) sum += L[k * size + i] * y[k];
    change[d + i] = h * sum;
  }
  return true;
}

const double *scree_pseudo_rigid_scaling(const scree_Deformable *self) {
  return ((const scree_PseudoRigid *)self->data)->scaling;
}

double scree_pseudo_rigid_work(const scree_Deformable *self, const double *v, const double *w,
                               double *damped) {
  const scree_PseudoRigid *data = self->data;
  const int d = self->dimension, n = d * d;
  const double h = data->h, elastic = data->elastic.explicit_ ? 0 : 0.25 * h * h;
  double sum = 0;
  *damped = 0;
  v += d;
  w += d;
  for (int i = 0; i < n; ++i) {
    const double mean = 0.5 * (v[i] + w[i]);
    double pull = h * data->f[i], drag = 0;
    for (int j = 0; j < n; ++j) {
      pull -= elastic * data->K[i * n + j] * (w[j] - v[j]);
      drag += data->D[i * n + j] * (data->elastic.explicit_ ? v[j] : 0.5 * (v[j] + w[j]));
    }
    sum += mean * pull;
    *damped += h * data->elastic.damping * mean * drag;
  }
  return sum;
}

/* ---- energies -------------------------------------------------------------------------------- */

double scree_pseudo_rigid_kinetic(const scree_Deformable *self, const double *v, double *rotation) {
  const scree_PseudoRigid *data = self->data;
  const int d = self->dimension;
  double own = 0;
  for (int j = 0; j < d; ++j) {
    const scree_Vec3 rate = vec_of(d, v + d * (1 + j));
    own += 0.5 * data->euler[j] * scree_norm2(rate);
  }
  if (rotation) *rotation = own;
  return 0.5 * data->mass * scree_norm2(vec_of(d, v)) + own;
}

double scree_pseudo_rigid_strain(const scree_Deformable *self, const double *q) {
  const scree_PseudoRigid *data = self->data;
  double S[3][3];
  const scree_Mat3 F = gradient(self, q);
  if (!(determinant(&F) > 0)) return INFINITY;
  return data->volume * stress(data, self->dimension, q + self->dimension, S);
}

void scree_pseudo_rigid_force(const scree_Deformable *self, const double *q, double *f, double *K) {
  const scree_PseudoRigid *data = self->data;
  const int d = self->dimension, n = d * d, size = self->size;
  double S[3][3], own[N * N];
  stress(data, d, q + d, S);
  memset(f, 0, (size_t)size * sizeof *f);
  internal_force(data, d, q + d, S, f + d);
  if (!K) return;
  memset(K, 0, (size_t)(size * size) * sizeof *K);
  stiffness(data, d, q + d, S, own);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) K[(d + i) * size + d + j] = own[i * n + j];
}

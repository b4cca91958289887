/* Forces and tangents of elements (see assemble.h).
 *
 * With the deformation gradient F = sum x_a (dN_a/dX)^T and S(C) of the material, C = F^T F,
 *
 *     f_a = - int F S dN_a ,
 *     K_ab = int B_a^T D B_b + (dN_a . S dN_b) I ,
 *
 * where B_a maps the motion of corner a to the change of Green's strain, dE = sum B_a dx_a. Damping
 * proportional to stiffness adds beta D dE/dt to S: it vanishes for rigid motion, and its power
 * -beta int dE/dt . D dE/dt is never positive. */
#include "element/assemble.h"

#include "math/simd.h"
#include "math/vec3.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const int first_of[6] = {0, 1, 2, 1, 2, 0}, second_of[6] = {0, 1, 2, 2, 0, 1};

/* One point of integration. */
typedef struct Point {
  int d, corners;
  double volume;
  double g[SCREE_ELEMENT_CORNERS][3];    /* gradients */
  double F[3][3];                        /* F[i][J] */
  double B[SCREE_ELEMENT_CORNERS][6][4]; /* dE = sum B_a dx_a, components of x behind, padded */
} Point;

SCREE_INLINE void load_point(const scree_ElementMesh *m, int e, int p, const double *x, int d,
                             Point *at) {
  const scree_ElementClass *class = scree_element_class(m, e);
  const int *corner = m->corner + m->corner_row[e];
  const scree_Vec3 *g = m->gradient + m->gradient_row[e] + (size_t)p * (size_t) class->corners;
  at->d = d;
  at->corners = class->corners;
  at->volume = m->volume[m->point_row[e] + (size_t)p];
  memset(at->F, 0, sizeof at->F);
  if (d == 2) at->F[2][2] = 1;
  for (int a = 0; a < at->corners; ++a) {
    at->g[a][0] = g[a].x, at->g[a][1] = g[a].y, at->g[a][2] = g[a].z;
    const double *xa = x + (size_t)corner[a] * (size_t)d;
    for (int i = 0; i < d; ++i)
      for (int J = 0; J < d; ++J) at->F[i][J] += xa[i] * at->g[a][J];
  }
}

SCREE_INLINE void load_strain(int d, Point *at) {
  for (int a = 0; a < at->corners; ++a)
    for (int k = 0; k < 6; ++k) {
      const int I = first_of[k], J = second_of[k];
      at->B[a][k][2] = at->B[a][k][3] = 0;
      for (int i = 0; i < d; ++i)
        at->B[a][k][i] = k < 3 ? at->F[i][I] * at->g[a][I]
                               : at->F[i][I] * at->g[a][J] + at->F[i][J] * at->g[a][I];
    }
}

static double determinant(double F[3][3]) {
  return F[0][0] * (F[1][1] * F[2][2] - F[1][2] * F[2][1]) -
         F[0][1] * (F[1][0] * F[2][2] - F[1][2] * F[2][0]) +
         F[0][2] * (F[1][0] * F[2][1] - F[1][1] * F[2][0]);
}

static void right_cauchy_green(double F[3][3], double C[6]) {
  for (int k = 0; k < 6; ++k) {
    const int I = first_of[k], J = second_of[k];
    C[k] = F[0][I] * F[0][J] + F[1][I] * F[1][J] + F[2][I] * F[2][J];
  }
}

/* Add beta D dE/dt to the stress of the point, and the power of this damping to *power. */
static void add_damping(const scree_ElementMesh *m, int e, const scree_ElasticMaterial *elastic,
                        const double *v, const Point *at, scree_ElasticPoint *point,
                        double *power) {
  const int *corner = m->corner + m->corner_row[e];
  double rate[6] = {0};
  for (int a = 0; a < at->corners; ++a) {
    const double *va = v + (size_t)corner[a] * (size_t)at->d;
    for (int k = 0; k < 6; ++k)
      for (int i = 0; i < at->d; ++i) rate[k] += at->B[a][k][i] * va[i];
  }
  for (int k = 0; k < 6; ++k) {
    double sum = 0;
    for (int j = 0; j < 6; ++j) sum += point->D[k][j] * rate[j];
    point->S[k] += elastic->damping_stiffness * sum;
    *power -= elastic->damping_stiffness * at->volume * rate[k] * sum;
  }
}

SCREE_INLINE void add_forces(const scree_ElementMesh *m, int e, const Point *at, const double *S,
                             int d, double *f) {
  const int *corner = m->corner + m->corner_row[e];
  const double T[3][3] = {{S[0], S[5], S[4]}, {S[5], S[1], S[3]}, {S[4], S[3], S[2]}};
  double P[3][3];
  for (int i = 0; i < 3; ++i)
    for (int J = 0; J < 3; ++J)
      P[i][J] =
          at->volume * (at->F[i][0] * T[0][J] + at->F[i][1] * T[1][J] + at->F[i][2] * T[2][J]);
  for (int a = 0; a < at->corners; ++a) {
    double *fa = f + (size_t)corner[a] * (size_t)d;
    for (int i = 0; i < d; ++i)
      fa[i] -= P[i][0] * at->g[a][0] + P[i][1] * at->g[a][1] + P[i][2] * at->g[a][2];
  }
}

/* The positive semidefinite part of a symmetric tensor, by Jacobi rotations. */
static void positive_part(double S[6]) {
  enum { SWEEPS = 8 };
  double A[3][3] = {{S[0], S[5], S[4]}, {S[5], S[1], S[3]}, {S[4], S[3], S[2]}};
  double V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    const double off = A[0][1] * A[0][1] + A[1][2] * A[1][2] + A[2][0] * A[2][0];
    const double on = A[0][0] * A[0][0] + A[1][1] * A[1][1] + A[2][2] * A[2][2];
    if (off <= 1e-34 * on) break; /* below round-off */
    for (int k = 3; k < 6; ++k) {
      const int i = first_of[k], j = second_of[k];
      if (A[i][j] == 0) continue;
      const double theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
      const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
      const double c = 1 / sqrt(t * t + 1), s = t * c;
      for (int n = 0; n < 3; ++n) {
        const double x = A[n][i], y = A[n][j], u = V[n][i], w = V[n][j];
        A[n][i] = c * x - s * y, A[n][j] = s * x + c * y;
        V[n][i] = c * u - s * w, V[n][j] = s * u + c * w;
      }
      for (int n = 0; n < 3; ++n) {
        const double x = A[i][n], y = A[j][n];
        A[i][n] = c * x - s * y, A[j][n] = s * x + c * y;
      }
      A[i][j] = A[j][i] = 0;
    }
  }
  for (int k = 0; k < 6; ++k) {
    const int i = first_of[k], j = second_of[k];
    S[k] = 0;
    for (int n = 0; n < 3; ++n) S[k] += fmax(A[n][n], 0) * V[i][n] * V[j][n];
  }
}

/* Add B_a^T DB + `geometric` I, or its transpose, to the block. The rows of DB are lanes. */
SCREE_INLINE void add_block(const Point *at, int a, const scree_Lane *DB, double geometric,
                            bool transposed, int d, double *block) {
  scree_Lane sum[3] = {0};
  SCREE_UNROLL
  for (int i = 0; i < d; ++i)
    sum[i] =
        (scree_Lane){i == 0 ? geometric : 0, i == 1 ? geometric : 0, i == 2 ? geometric : 0, 0};
  SCREE_UNROLL
  for (int k = 0; k < 6; ++k) {
    SCREE_UNROLL
    for (int i = 0; i < d; ++i) sum[i] += at->B[a][k][i] * DB[k];
  }
  SCREE_UNROLL
  for (int i = 0; i < d; ++i) {
    SCREE_UNROLL
    for (int j = 0; j < d; ++j) block[i * d + j] += transposed ? sum[j][i] : sum[i][j];
  }
}

SCREE_INLINE void add_tangent(const scree_ElementMesh *m, int e, const Point *at,
                              const scree_ElasticPoint *point, const scree_ElementTangent *tangent,
                              int d) {
  const int *corner = m->corner + m->corner_row[e];
  const size_t square = (size_t)d * (size_t)d;
  const double w = at->volume * tangent->material;
  double S[6];
  memcpy(S, point->S, sizeof S);
  if (tangent->definite) positive_part(S);
  for (int b = 0; b < at->corners; ++b) {
    scree_Lane DB[6];
    double Sg[3];
    SCREE_UNROLL
    for (int k = 0; k < 6; ++k) {
      DB[k] = (scree_Lane){0, 0, 0, 0};
      SCREE_UNROLL
      for (int n = 0; n < 6; ++n) DB[k] += w * point->D[k][n] * scree_lane_load(at->B[b][n]);
    }
    const double *g = at->g[b], s = at->volume * tangent->geometric;
    Sg[0] = s * (S[0] * g[0] + S[5] * g[1] + S[4] * g[2]);
    Sg[1] = s * (S[5] * g[0] + S[1] * g[1] + S[3] * g[2]);
    Sg[2] = s * (S[4] * g[0] + S[3] * g[1] + S[2] * g[2]);
    for (int a = b; a < at->corners; ++a) {
      const double stress = at->g[a][0] * Sg[0] + at->g[a][1] * Sg[1] + at->g[a][2] * Sg[2];
      double *block = a == b ? tangent->diagonal + square * (size_t)corner[a]
                             : tangent->below +
                                   square * m->pair[m->pair_row[e] + (size_t)(a * (a - 1) / 2 + b)];
      /* the graph has the row of the larger node */
      add_block(at, a, DB, stress, corner[a] < corner[b], d, block);
    }
  }
}

SCREE_INLINE void assemble(const scree_ElementMesh *m, const scree_ElasticMaterial *elastic,
                           const double *x, const double *v, double *f,
                           const scree_ElementTangent *tangent, int d,
                           scree_ElementResult *result) {
  const bool damped = v && f && elastic->damping_stiffness > 0;
  const bool definite = tangent ? tangent->definite : true;
  *result = (scree_ElementResult){.first = -1};
  for (int e = 0; e < m->element_count; ++e) {
    bool inverted = false;
    for (int p = 0; p < scree_element_class(m, e)->points; ++p) {
      Point at;
      scree_ElasticPoint point;
      double C[6];
      load_point(m, e, p, x, d, &at);
      right_cauchy_green(at.F, C);
      const bool good = determinant(at.F) > 0;
      if (!good) inverted = true;
      if (!elastic->model->respond(elastic, C, tangent || damped, definite, &point)) {
        inverted = true;
        continue;
      }
      result->energy += at.volume * point.energy;
      if (tangent || damped) load_strain(d, &at);
      if (tangent) add_tangent(m, e, &at, &point, tangent, d);
      if (damped) add_damping(m, e, elastic, v, &at, &point, &result->power);
      if (f) add_forces(m, e, &at, point.S, d, f);
    }
    if (inverted && result->inverted++ == 0) result->first = e;
  }
}

SCREE_CLONES static void assemble_3d(const scree_ElementMesh *m,
                                     const scree_ElasticMaterial *elastic, const double *x,
                                     const double *v, double *f,
                                     const scree_ElementTangent *tangent,
                                     scree_ElementResult *result) {
  assemble(m, elastic, x, v, f, tangent, 3, result);
}

void scree_element_assemble(const scree_ElementMesh *m, const scree_ElasticMaterial *elastic,
                            const double *x, const double *v, double *f,
                            const scree_ElementTangent *tangent, scree_ElementResult *result) {
  if (m->dimension == 3)
    assemble_3d(m, elastic, x, v, f, tangent, result);
  else
    assemble(m, elastic, x, v, f, tangent, 2, result);
}

void scree_element_lump(const scree_ElementMesh *m, double density, double *mass) {
  memset(mass, 0, (size_t)m->node_count * sizeof *mass);
  for (size_t k = 0; k < m->corner_row[m->element_count]; ++k)
    mass[m->corner[k]] += density * m->part[k];
}

/* Integrals of N_a N_b over an element. The Gauss points of hexahedra and quadrilaterals integrate
 * polynomials of degree 3 in each coordinate exactly. N_a N_b det J has degree 2 where the element
 * is a box, and up to 4 elsewhere: the entries then differ a little from the integrals, but their
 * sum is the volume. Simplices have the closed form V (1 + delta_ab) / ((d + 1) (d + 2)). */
static double product_of(const scree_ElementMesh *m, int e, int a, int b) {
  assert(a >= 0 && b >= 0 && e >= 0 && e < m->element_count);
  const scree_ElementClass *class = scree_element_class(m, e);
  const double *volume = m->volume + m->point_row[e];
  if (class->corners == class->dimension + 1)
    return volume[0] * (a == b ? 2 : 1) / ((class->dimension + 1) * (class->dimension + 2));
  double sum = 0;
  for (int p = 0; p < class->points; ++p) {
    double N[SCREE_ELEMENT_CORNERS], dN[SCREE_ELEMENT_CORNERS][3];
    class->shape(class->place[p], N, dN);
    sum += volume[p] * N[a] * N[b];
  }
  return sum;
}

void scree_element_mass(const scree_ElementMesh *m, double density, double *diagonal,
                        double *below) {
  memset(diagonal, 0, (size_t)m->node_count * sizeof *diagonal);
  memset(below, 0, m->row[m->node_count] * sizeof *below);
  for (int e = 0; e < m->element_count; ++e) {
    const int *corner = m->corner + m->corner_row[e];
    for (int a = 0; a < scree_element_class(m, e)->corners; ++a) {
      diagonal[corner[a]] += density * product_of(m, e, a, a);
      for (int b = 0; b < a; ++b)
        below[m->pair[m->pair_row[e] + (size_t)(a * (a - 1) / 2 + b)]] +=
            density * product_of(m, e, a, b);
    }
  }
}

/* Cauchy's stress F S F^T / det F at a point. */
static void cauchy(const scree_ElasticMaterial *elastic, Point *at, double *stress) {
  double C[6];
  scree_ElasticPoint point;
  right_cauchy_green(at->F, C);
  const double det = determinant(at->F);
  memset(stress, 0, 6 * sizeof *stress);
  if (!(det > 0) || !elastic->model->respond(elastic, C, false, false, &point)) return;
  const double *S = point.S;
  const double T[3][3] = {{S[0], S[5], S[4]}, {S[5], S[1], S[3]}, {S[4], S[3], S[2]}};
  for (int k = 0; k < 6; ++k)
    for (int I = 0; I < 3; ++I)
      for (int J = 0; J < 3; ++J)
        stress[k] += at->F[first_of[k]][I] * T[I][J] * at->F[second_of[k]][J] / det;
}

void scree_element_stress(const scree_ElementMesh *m, const scree_ElasticMaterial *elastic,
                          const double *x, double *element, double *node) {
  if (node) memset(node, 0, 7 * (size_t)m->node_count * sizeof *node);
  double *weight = node ? node + 6 * (size_t)m->node_count : NULL;
  for (int e = 0; e < m->element_count; ++e) {
    double mean[6] = {0}, total = 0;
    for (int p = 0; p < scree_element_class(m, e)->points; ++p) {
      Point at;
      double stress[6];
      load_point(m, e, p, x, m->dimension, &at);
      cauchy(elastic, &at, stress);
      for (int k = 0; k < 6; ++k) mean[k] += at.volume * stress[k];
      total += at.volume;
    }
    for (int k = 0; k < 6; ++k) mean[k] /= total;
    if (element) memcpy(element + 6 * (size_t)e, mean, sizeof mean);
    for (size_t c = m->corner_row[e]; node && c < m->corner_row[e + 1]; ++c) {
      for (int k = 0; k < 6; ++k)
        node[6 * (size_t)m->corner[c] + (size_t)k] += m->part[c] * mean[k];
      weight[m->corner[c]] += m->part[c];
    }
  }
  for (int n = 0; node && n < m->node_count; ++n)
    for (int k = 0; k < 6; ++k) node[6 * (size_t)n + (size_t)k] /= weight[n];
}

double scree_stress_mises(const double *s) {
  const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  return sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

/* Principal axes by Jacobi rotations (see principal.h). */
#include "geometry/principal.h"

#include <assert.h>

enum { SWEEPS = 32 };

/* Off-diagonal moments below this part of the trace are rounding errors. */
static const double DIAGONAL = 1e-11;
/* Entries off the diagonal, over its sum, that no longer turn the axes. */
static const double NEGLIGIBLE = 1e-20;

static void add_outer(scree_Moments *sum, double factor, scree_Vec3 a, scree_Vec3 b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      sum->second[i][j] += factor * scree_component(a, i) * scree_component(b, j);
}

void scree_moments_add(scree_Moments *sum, double volume, scree_Vec3 c, const scree_Mat3 *R,
                       scree_Vec3 J) {
  /* integral of x_k^2 along principal axis k from the moments: (J_i + J_j - J_k) / 2 */
  const double half = 0.5 * (J.x + J.y + J.z);
  sum->volume += volume;
  sum->first = scree_axpy(sum->first, volume, c);
  add_outer(sum, half - J.x, R->x, R->x);
  add_outer(sum, half - J.y, R->y, R->y);
  add_outer(sum, half - J.z, R->z, R->z);
  add_outer(sum, volume, c, c);
}

void scree_moments_add_flat(scree_Moments *sum, double area, scree_Vec3 c, double polar) {
  sum->volume += area;
  sum->first = scree_axpy(sum->first, area, c);
  sum->second[0][0] += 0.5 * polar; /* only the sum of the two counts in the plane */
  sum->second[1][1] += 0.5 * polar;
  add_outer(sum, area, c, c);
}

void scree_moments_add_tetrahedron(scree_Moments *sum, scree_Vec3 a, scree_Vec3 b, scree_Vec3 c,
                                   scree_Vec3 d) {
  const double volume =
      scree_dot(scree_sub(b, a), scree_cross(scree_sub(c, a), scree_sub(d, a))) / 6;
  const scree_Vec3 total = scree_add(scree_add(a, b), scree_add(c, d)), corner[4] = {a, b, c, d};
  sum->volume += volume;
  sum->first = scree_axpy(sum->first, volume / 4, total);
  for (int k = 0; k < 4; ++k) add_outer(sum, volume / 20, corner[k], corner[k]);
  add_outer(sum, volume / 20, total, total);
}

/* One rotation that makes a[i][j] zero; the columns of V turn with it. */
static void rotate(double a[3][3], double V[3][3], int i, int j) {
  if (a[i][j] == 0) return;
  const double theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
  const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < 3; ++k) {
    const double x = a[k][i], y = a[k][j];
    a[k][i] = c * x - s * y;
    a[k][j] = s * x + c * y;
  }
  for (int k = 0; k < 3; ++k) {
    const double x = a[i][k], y = a[j][k];
    a[i][k] = c * x - s * y;
    a[j][k] = s * x + c * y;
  }
  for (int k = 0; k < 3; ++k) {
    const double x = V[k][i], y = V[k][j];
    V[k][i] = c * x - s * y;
    V[k][j] = s * x + c * y;
  }
}

scree_Quat scree_axes_quat(const double V[3][3]) {
  /* the largest of the four components first, to avoid dividing by a small number */
  const double trace[4] = {V[0][0] + V[1][1] + V[2][2], V[0][0] - V[1][1] - V[2][2],
                           V[1][1] - V[0][0] - V[2][2], V[2][2] - V[0][0] - V[1][1]};
  int best = 0;
  for (int k = 1; k < 4; ++k)
    if (trace[k] > trace[best]) best = k;
  const double q = 0.5 * sqrt(1 + trace[best]), f = 0.25 / q;
  const double x = V[2][1] - V[1][2], y = V[0][2] - V[2][0], z = V[1][0] - V[0][1];
  const double xy = V[0][1] + V[1][0], xz = V[0][2] + V[2][0], yz = V[1][2] + V[2][1];
  scree_Quat out = {q, f * x, f * y, f * z};
  if (best == 1) out = (scree_Quat){f * x, q, f * xy, f * xz};
  if (best == 2) out = (scree_Quat){f * y, f * xy, q, f * yz};
  if (best == 3) out = (scree_Quat){f * z, f * xz, f * yz, q};
  return scree_quat_normalize(out);
}

void scree_axes_rotate(double a[3][3], double V[3][3]) {
  const double small = NEGLIGIBLE * (fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2]));
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    if (fmax(fabs(a[0][1]), fmax(fabs(a[0][2]), fabs(a[1][2]))) <= small) return;
    rotate(a, V, 0, 1);
    rotate(a, V, 0, 2);
    rotate(a, V, 1, 2);
  }
}

scree_Pose scree_moments_frame(const scree_Moments *sum, scree_Vec3 *inertia) {
  assert(sum->volume > 0);
  const scree_Vec3 c = scree_scale(1 / sum->volume, sum->first);
  double a[3][3], V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      a[i][j] = sum->second[i][j] - sum->volume * scree_component(c, i) * scree_component(c, j);
  const double trace = a[0][0] + a[1][1] + a[2][2];
  const double off = fmax(fabs(a[0][1]), fmax(fabs(a[0][2]), fabs(a[1][2])));
  if (off > DIAGONAL * trace) scree_axes_rotate(a, V);
  *inertia = scree_vec3(a[1][1] + a[2][2], a[0][0] + a[2][2], a[0][0] + a[1][1]);
  return (scree_Pose){c, scree_axes_quat((const double(*)[3])V)};
}

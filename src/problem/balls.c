/* Writing out and recognising the rows of balls (see balls.h). */
#include "problem/balls.h"

#include <float.h>
#include <string.h>

/* Rows of one side (d x nb) */
static void write_side(int d, const double *axes, const double *arm, double *B) {
  const int nb = 3 * (d - 1);
  for (int i = 0; i < d; ++i)
    for (int k = 0; k < d; ++k) B[i * nb + k] = arm[0] * axes[3 * i + k];
  for (int k = 0; k < 2 * d - 3; ++k) {
    B[d + k] = 0.0;
    B[nb + d + k] = d == 2 ? -arm[1] : -arm[1] * axes[6 + k];
    if (d == 3) B[2 * nb + d + k] = arm[1] * axes[3 + k];
  }
}

const double *scree_contact_blocks(const scree_Problem *p, int c, double room[SCREE_BALL_ROOM]) {
  const int d = p->d, nb = p->bodies.nb;
  if (p->bodies.B) return p->bodies.B + (size_t)c * (size_t)(2 * d * nb);
  const double *arm = p->bodies.arm + 4 * (size_t)c;
  double axes[9];
  scree_ball_axes(d, p->bodies.normal + 3 * (size_t)c, axes);
  write_side(d, axes, arm, room);
  write_side(d, axes, arm + 2, room + d * nb);
  return room;
}

void scree_problem_blocks(const scree_Problem *p, int c, double *B) {
  double room[SCREE_BALL_ROOM];
  const size_t size = 2 * (size_t)(p->d * p->bodies.nb);
  memcpy(B, scree_contact_blocks(p, c, room), size * sizeof *B);
}

/* ---- recognising -------------------------------------------------------------------------------
 *
 * The normal rows give n and s, the rotation of the tangents relative to the frame of n follows
 * from the linear parts of one side, a from the angular parts. Then all blocks are written out and
 * compared. */

/* In units of the last place of the largest entry of a block: levers are differences of
 * coordinates, which in a scene thousands of balls wide have lost three digits. */
enum { ROUNDINGS = 4096 };

static double dot(int n, const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/* turn from the tangent rows `B` of a side with the scale s */
static void find_turn(int d, const double *B, const double *axes, double s, double *turn) {
  const int nb = 3 * (d - 1), m = d - 1;
  double scale[2];
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) turn[i * m + j] = dot(d, B + (i + 1) * nb, axes + 3 * (j + 1)) / s;
    scale[i] = sqrt(dot(m, turn + i * m, turn + i * m));
  }
  for (int i = 0; i < m * m; ++i) turn[i] /= scale[i / m]; /* NaN if scale is zero */
}

static double find_a(int d, const double *B, const double *axes, const double *turn) {
  const double *spin = B + 3 * (d - 1) + d; /* of the first tangent */
  if (d == 2) return -spin[0] * turn[0];
  return turn[1] * dot(3, spin, axes + 3) - turn[0] * dot(3, spin, axes + 6);
}

static bool matches(int d, const double *B, const double *axes, const double *arm,
                    const double *turn) {
  const int nb = 3 * (d - 1), m = d - 1;
  double rows[18], largest = fmax(fabs(arm[0]), fabs(arm[1]));
  write_side(d, axes, arm, rows);
  for (int k = 0; k < nb; ++k)
    if (!(fabs(B[k] - rows[k]) <= ROUNDINGS * DBL_EPSILON * largest)) return false;
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < nb; ++k) {
      double row = 0.0;
      for (int j = 0; j < m; ++j) row += turn[i * m + j] * rows[(j + 1) * nb + k];
      if (!(fabs(B[(i + 1) * nb + k] - row) <= ROUNDINGS * DBL_EPSILON * largest)) return false;
    }
  return true;
}

bool scree_balls_recognise(const scree_Problem *p, int c, double *normal, double *arm,
                           double *turn) {
  const int d = p->d, nb = 3 * (d - 1);
  if (p->bodies.nb != nb) return false;
  const double *B = p->bodies.B + (size_t)c * (size_t)(2 * d * nb);
  const int *body = p->bodies.body + 2 * (size_t)c;
  const int first = body[0] < 0; /* the side that gives the frame */
  if (body[first] < 0) return false;
  const double *row = B + first * d * nb, s = sqrt(dot(d, row, row));
  if (!(s > 0.0)) return false;
  double axes[9];
  normal[2] = 0.0;
  for (int k = 0; k < d; ++k) normal[k] = row[k] / s;
  scree_ball_axes(d, normal, axes);
  find_turn(d, row, axes, s, turn);
  for (int side = 0; side < 2; ++side) {
    const double *block = B + side * d * nb;
    double *mine = arm + 2 * side;
    mine[0] = mine[1] = 0.0;
    if (body[side] < 0) continue;
    mine[0] = side == first ? s : dot(d, block, normal);
    mine[1] = find_a(d, block, axes, turn);
    if (!matches(d, block, axes, mine, turn)) return false;
  }
  return true;
}

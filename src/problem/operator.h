/* The operator W of a problem, prepared for computing: diagonal blocks, the body-to-contact graph,
 * and the few operations that solvers are written with. A solver is independent of which of the two
 * forms is used; its inner loops over contacts are instantiated for each by `switch` with literal
 * arguments. Constraints of any size go through the accessors below and general.h.
 *
 * The state y. In body form W r = B A^-1 (B^T r) + C r passes through the scaled velocities of the
 * vertices, y = A^-1 B^T r: nbodies blocks of nb, one of the ground, always zero, then the further
 * vertices. Where no vertices are coupled, A = I and Gauss-Seidel keeps y up to date instead of
 * using W; on coupled vertices through the condensed inverse of A (coupling.h).
 * In assembled form there is no state and y is not used; it may be a null pointer.
 *
 * Several ranks (parallel/halo.h). The problem is then the part of this rank, and vectors hold its
 * rows. A state is complete on every rank that holds a body; in assembled form it holds the
 * impulses of all contacts in the rows of this rank, in place of r. Sums and counts over all rows
 * go through scree_rows_dot and its neighbours below.
 *
 * Sums over bodies and contacts run in a fixed order for any number of threads. */
#ifndef SCREE_PROBLEM_OPERATOR_H
#define SCREE_PROBLEM_OPERATOR_H

#include "core/arena.h"
#include "core/private.h"
#include "math/vector.h"
#include "parallel/halo.h"
#include "problem/balls.h"
#include "scree/problem.h"

struct scree_Coupling;

typedef struct scree_Operator {
  const scree_Problem *problem;
  int threads;              /* for loops over many contacts, >= 1 */
  double *diagonal;         /* (nc x d x d) W_cc, or null for balls: see scree_contact_diagonal */
  double mean_diagonal;     /* of diag W, > 0 (1 when W is zero) */
  size_t state_size;        /* doubles in y, 0 in assembled form */
  int constraints;          /* contacts and constraints of any size */
  size_t rows;              /* of all constraints: the length of r and u */
  size_t squares;           /* sum of their squares: the length of an array of blocks W_cc */
  bool plain_cones;         /* all contacts have Coulomb's cone as their set */
  size_t *offset;           /* (vertices.count + 1) where further vertices start in y, or null */
  size_t *square;           /* (general.count + 1) where constraints of any size start in arrays of
                               blocks, or null */
  double *general_diagonal; /* their W_cc, or null; square[0] is at its start */
  const struct scree_Coupling *coupling; /* of the further vertices, or null */
  const size_t *body_row; /* (nbodies + 1) body form: range of a body in body_entry */
  const int *body_entry;  /* (body_row[nbodies]) 2*c + side of each contact of a body, ascending */
  const scree_Halo *halo; /* blocks shared with other ranks, or null: one rank */
  scree_Arena own;        /* memory of scree_operator_create, empty after scree_operator_init */
} scree_Operator;

scree_Status scree_operator_create(const scree_Problem *problem, int threads, const scree_Log *log,
                                   scree_Operator *W);
/* The part of a rank; halo may be null. */
scree_Status scree_operator_create_divided(const scree_Problem *problem, const scree_Halo *halo,
                                           int threads, const scree_Log *log, scree_Operator *W);
SCREE_PRIVATE void scree_operator_destroy(scree_Operator *W);

/* The same with memory from an arena, which must outlive the operator; there is nothing to destroy.
 * `row` and `entry` are those of scree_body_graph (not used in assembled form). `halo` is null for
 * one rank. */
scree_Status scree_operator_init(const scree_Problem *problem, const scree_Halo *halo, int threads,
                                 const size_t *row, const int *entry, scree_Arena *arena,
                                 const scree_Log *log, scree_Operator *W);

/* y = B^T r (no effect in assembled form) */
void scree_operator_gather(const scree_Operator *W, const double *r, double *y);

/* The same with the impulses of all ranks. */
void scree_operator_load(const scree_Operator *W, const double *r, double *y);

/* out = A y (body form); `out` must not be y */
void scree_operator_inertia(const scree_Operator *W, const double *y, double *out);

/* y = A^-1 B^T r, the state that belongs to r (no effect in assembled form) */
SCREE_PRIVATE void scree_operator_state(const scree_Operator *W, const double *r, double *y);

/* u = W r + q, given the state y of r. `q` (rows) may differ from the problem's, or be null for
 * zero. In body form y may be any velocities, and a null r omits the compliance. */
SCREE_PRIVATE void scree_operator_velocity(const scree_Operator *W, const double *r,
                                           const double *y, const double *q, double *u);

/* u = W r + q with `y` as scratch (state_size doubles) */
void scree_operator_apply(const scree_Operator *W, const double *r, const double *q, double *y,
                          double *u);

/* ---- all ranks together
 * ----------------------------------------------------------------------- */

/* Whether the problem is divided between ranks; a constant without MPI. */
SCREE_INLINE bool scree_is_divided(const scree_Operator *W) {
  return scree_halo_exists(W->halo);
}

/* The ranks that have a part of the problem; null: one. */
SCREE_INLINE const scree_Ranks *scree_ranks_of(const scree_Operator *W) {
  return scree_is_divided(W) ? W->halo->ranks : NULL;
}

/* Constraints and rows of all ranks. */
SCREE_INLINE long long scree_all_constraints(const scree_Operator *W) {
  return scree_is_divided(W) ? W->halo->constraints : W->constraints;
}

SCREE_INLINE double scree_all_rows(const scree_Operator *W) {
  return scree_is_divided(W) ? (double)W->halo->rows : (double)W->rows;
}

/* x.y, |x| and |x - y| over the rows of all ranks. */
SCREE_INLINE double scree_rows_dot(const scree_Operator *W, const double *x, const double *y) {
  return scree_ranks_sum(scree_ranks_of(W), scree_vector_dot(W->rows, x, y, W->threads));
}

SCREE_INLINE double scree_rows_norm(const scree_Operator *W, const double *x) {
  return scree_ranks_norm(scree_ranks_of(W), scree_vector_norm(W->rows, x, W->threads));
}

SCREE_INLINE double scree_rows_distance(const scree_Operator *W, const double *x, const double *y) {
  return scree_ranks_norm(scree_ranks_of(W), scree_vector_distance(W->rows, x, y, W->threads));
}

/* Whether no constraint has friction that depends on its normal impulse: then Coulomb's law and the
 * associated law are the same, and convex. */
SCREE_INLINE bool scree_problem_is_frictionless(const scree_Problem *p) {
  for (int c = 0; c < p->nc + p->general.count; ++c) {
    if (p->set && p->set[c] == SCREE_SET_ROLLING) return false;
    if (p->mu[c] != 0.0 && (!p->set || scree_set_has_cone((scree_SetKind)p->set[c]))) return false;
  }
  return true;
}

/* ---- constraints of any size: offsets of their rows and blocks
 * -------------------------------- */

/* Number of rows of constraint c. */
SCREE_INLINE int scree_rows_of(const scree_Operator *W, int c) {
  const scree_Problem *p = W->problem;
  if (c < p->nc) return p->d;
  return (int)(p->general.row[c - p->nc + 1] - p->general.row[c - p->nc]);
}

/* Offset of its rows in r and u. */
SCREE_INLINE size_t scree_row_of(const scree_Operator *W, int c) {
  const scree_Problem *p = W->problem;
  return c < p->nc ? (size_t)c * (size_t)p->d : p->general.row[c - p->nc];
}

/* Offset of the block (rows x rows) of constraint c in an array of `squares` numbers. */
SCREE_INLINE size_t scree_square_of(const scree_Operator *W, int c) {
  const scree_Problem *p = W->problem;
  const size_t dd = (size_t)p->d * (size_t)p->d;
  return c < p->nc ? (size_t)c * dd : (size_t)p->nc * dd + W->square[c - p->nc];
}

/* Compliance of constraint c, or null. */
SCREE_INLINE const double *scree_compliance_of(const scree_Operator *W, int c) {
  const scree_Problem *p = W->problem;
  if (p->kind == SCREE_ASSEMBLED) return NULL;
  if (c < p->nc) return p->bodies.C ? p->bodies.C + (size_t)c * (size_t)(p->d * p->d) : NULL;
  return p->general.C ? p->general.C + W->square[c - p->nc] : NULL;
}

/* Components of vertex v, and their offset in y. */
SCREE_INLINE int scree_vertex_size(const scree_Problem *p, int v) {
  return v < p->bodies.nbodies ? p->bodies.nb : p->vertices.size[v - p->bodies.nbodies];
}

SCREE_INLINE size_t scree_vertex_start(const scree_Operator *W, int v) {
  const scree_BodyRows *bodies = &W->problem->bodies;
  return v < bodies->nbodies ? (size_t)v * (size_t)bodies->nb : W->offset[v - bodies->nbodies];
}

/* ---- one contact at a time: the inner loop of Gauss-Seidel -------------------------------------
 * `kind`, `d` and `nb` are the problem's own, passed as literals so that the compiler unrolls. */

/* u += the row of 3 x 3 blocks x (see scree_BlockRows) times r. Each row of a block is loaded
 * together with the next double, which is multiplied by zero; the last block has no next double. */
SCREE_INLINE void scree_row_3d(const double *x, const int *col, size_t n, const double *r,
                               double *u) {
  const size_t stride = 3 * n;
  scree_Lane sum0 = {0.0}, sum1 = {0.0}, sum2 = {0.0};
  for (size_t k = 0; k + 1 < n; ++k, x += 3) {
    const double *rk = r + 3 * (size_t)col[k];
    const scree_Lane v = {rk[0], rk[1], rk[2], 0.0};
    sum0 += scree_lane_load(x) * v;
    sum1 += scree_lane_load(x + stride) * v;
    sum2 += scree_lane_load(x + 2 * stride) * v;
  }
  const double *v = r + 3 * (size_t)col[n - 1], *last = x + 2 * stride;
  u[0] += (sum0[0] + x[0] * v[0]) + (sum0[1] + x[1] * v[1]) + (sum0[2] + x[2] * v[2]);
  x += stride;
  u[1] += (sum1[0] + x[0] * v[0]) + (sum1[1] + x[1] * v[1]) + (sum1[2] + x[2] * v[2]);
  u[2] += (sum2[0] + last[0] * v[0]) + (sum2[1] + last[1] * v[1]) + (sum2[2] + last[2] * v[2]);
}

/* u_c = (W r)_c + q_c. A null q is zero; in body form a null r omits the compliance. */
SCREE_INLINE void scree_contact_velocity(const scree_Operator *W, scree_OperatorKind kind, int d,
                                         int nb, int c, const double *r, const double *y,
                                         const double *q, double *u) {
  const scree_Problem *p = W->problem;
  for (int i = 0; i < d; ++i) u[i] = q ? q[(size_t)c * (size_t)d + (size_t)i] : 0.0;
  if (kind == SCREE_ASSEMBLED) {
    if (scree_is_divided(W)) r = y;
    const size_t start = p->blocks.row[c];
    const size_t n = p->blocks.row[c + 1] - start;
    const double *x = p->blocks.x + start * (size_t)(d * d);
    const int *col = p->blocks.col + start;
    if (d == 3) {
      scree_row_3d(x, col, n, r, u);
    } else {
      double sum[4] = {0.0}; /* one accumulator per (i, j): no chain of dependent additions */
      for (size_t k = 0; k < n; ++k, x += 2) {
        const double *rk = r + 2 * (size_t)col[k];
        sum[0] += x[0] * rk[0];
        sum[1] += x[1] * rk[1];
        sum[2] += x[2 * n] * rk[0];
        sum[3] += x[2 * n + 1] * rk[1];
      }
      u[0] += sum[0] + sum[1];
      u[1] += sum[2] + sum[3];
    }
  } else {
    const int b0 = p->bodies.body[2 * c], b1 = p->bodies.body[2 * c + 1],
              ground = p->bodies.nbodies;
    const double *y0 = y + (size_t)(b0 < 0 ? ground : b0) * (size_t)nb;
    const double *y1 = y + (size_t)(b1 < 0 ? ground : b1) * (size_t)nb;
    if (!p->bodies.B) {
      const double *n = p->bodies.normal + 3 * (size_t)c, *arm = p->bodies.arm + 4 * (size_t)c;
      scree_ball_velocity(d, n, arm, y0, y1, u);
    } else {
      const double *B0 = p->bodies.B + (size_t)c * (size_t)(2 * d * nb), *B1 = B0 + d * nb;
      for (int i = 0; i < d; ++i) {
        double sum = 0.0;
        for (int j = 0; j < nb; ++j) sum += B0[i * nb + j] * y0[j] + B1[i * nb + j] * y1[j];
        u[i] += sum;
      }
    }
    if (p->bodies.C && r) {
      const double *C = p->bodies.C + (size_t)c * (size_t)(d * d), *rc = r + (size_t)c * (size_t)d;
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) u[i] += C[i * d + j] * rc[j];
    }
  }
}

/* W_cc (d x d), written to `room` where it is not stored. */
SCREE_INLINE const double *scree_contact_diagonal(const scree_Operator *W, int d, int c,
                                                  double room[9]) {
  if (W->diagonal) return W->diagonal + (size_t)c * (size_t)(d * d);
  double wn, wt;
  scree_ball_diagonal(W->problem->bodies.arm + 4 * (size_t)c, &wn, &wt);
  const double *C =
      W->problem->bodies.C ? W->problem->bodies.C + (size_t)c * (size_t)(d * d) : NULL;
  for (int i = 0; i < d * d; ++i) {
    room[i] = i == 0 ? wn : i % (d + 1) == 0 ? wt : 0.0;
    if (C) room[i] += C[i];
  }
  return room;
}

/* W_cc of any constraint; `room` as above. */
SCREE_INLINE const double *scree_constraint_diagonal(const scree_Operator *W, int c,
                                                     double room[9]) {
  if (c >= W->problem->nc) return W->general_diagonal + W->square[c - W->problem->nc];
  return scree_contact_diagonal(W, W->problem->d, c, room);
}

/* Prefetch the data that a later visit of contact c reads first. */
SCREE_INLINE void scree_contact_prefetch(const scree_Operator *W, scree_OperatorKind kind, int d,
                                         int nb, int c, const double *y) {
  const scree_Problem *p = W->problem;
  if (kind == SCREE_ASSEMBLED) {
    const size_t start = p->blocks.row[c], end = p->blocks.row[c + 1];
    const double *x = p->blocks.x;
    for (size_t k = start * (size_t)(d * d); k < end * (size_t)(d * d); k += 8)
      __builtin_prefetch(x + k);
    __builtin_prefetch(p->blocks.col + start);
  } else {
    const int b0 = p->bodies.body[2 * c], b1 = p->bodies.body[2 * c + 1];
    if (b0 >= 0) __builtin_prefetch(y + (size_t)b0 * (size_t)nb, 1);
    if (b1 >= 0) __builtin_prefetch(y + (size_t)b1 * (size_t)nb, 1);
    if (p->bodies.B) {
      const double *B = p->bodies.B + (size_t)c * (size_t)(2 * d * nb);
      for (int k = 0; k < 2 * d * nb; k += 8) __builtin_prefetch(B + k);
    } else {
      __builtin_prefetch(p->bodies.normal + 3 * (size_t)c);
      __builtin_prefetch(p->bodies.arm + 4 * (size_t)c);
    }
  }
  if (W->diagonal) __builtin_prefetch(W->diagonal + (size_t)c * (size_t)(d * d));
}

/* y += B_c^T dr; the caller updates r */
SCREE_INLINE void scree_contact_update(const scree_Operator *W, scree_OperatorKind kind, int d,
                                       int nb, int c, const double *dr, double *y) {
  if (kind == SCREE_ASSEMBLED) {
    for (int i = 0; scree_is_divided(W) && i < d; ++i)
      y[(size_t)c * (size_t)d + (size_t)i] += dr[i];
    return;
  }
  const scree_Problem *p = W->problem;
  const bool balls = !p->bodies.B;
  double f[3], m[3];
  if (balls) scree_ball_push(d, p->bodies.normal + 3 * (size_t)c, dr, f, m);
  for (int side = 0; side < 2; ++side) {
    const int body = p->bodies.body[2 * c + side];
    if (body < 0) continue;
    double *yb = y + (size_t)body * (size_t)nb;
    if (balls) {
      scree_ball_move(d, p->bodies.arm + 4 * (size_t)c + 2 * side, f, m, yb);
      continue;
    }
    const double *B = p->bodies.B + ((size_t)c * 2 + (size_t)side) * (size_t)(d * nb);
    for (int j = 0; j < nb; ++j) {
      double sum = 0.0;
      for (int i = 0; i < d; ++i) sum += B[i * nb + j] * dr[i];
      yb[j] += sum;
    }
  }
}

#endif

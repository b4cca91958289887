/* The path of pivot.c: impulses of a proximal problem while its residual is removed, status by
 * status.
 *
 * Every contact has a status (status_rows.h), in which its law is linear, with velocities
 * B y + base + tau d and a compliance e w about zero, w the mean diagonal of W_cc (a centre is part
 * of `base`). On one piece of the path impulses are r = r0 + tau r1, and it ends where a contact
 * leaves its status:
 *     open    u_n = 0         -> slip
 *     slip    r_n = 0         -> open,   |u_T| = 0 -> stick
 *     stick   |r_T| = mu r_n  -> slip
 * with u including the compliance. The next piece has the new status. Whether tau falls or rises on
 * it follows from the sign of the determinant of the linear system.
 *
 * A change of status changes the system (A + B^T G B) y = -B^T G q by d rows. It is factorised
 * once for many pieces; between them, with V the columns B_c^T of all contacts c whose law has
 * changed by dG_c, and Z the solutions of the factorised system for these columns,
 *     y = y_f + Z x,    (I + dG V^T Z) x = -dG u_f,
 * y_f the solution and u_f velocities with the laws that were factorised (Woodbury), and the
 * determinant is that of the factor times that of I + dG V^T Z.
 *
 * In space a slipping contact turns along the path. Its law is linearised where the system is
 * factorised, which is done again where a direction has turned too far. */
#ifndef SCREE_SOLVER_PIVOT_PATH_H
#define SCREE_SOLVER_PIVOT_PATH_H

#include "solver/linear_laws.h"
#include "solver/status_rows.h"

enum { SCREE_PIVOT_CHANGED = 24 }; /* contacts whose law differs from the factorised one, at most */

/* What entered at zero with the last event. */
typedef enum scree_PivotGate {
  SCREE_PIVOT_NONE,
  SCREE_PIVOT_GAP,    /* u_n */
  SCREE_PIVOT_NORMAL, /* r_n */
  SCREE_PIVOT_SPEED,  /* |u_T| */
  SCREE_PIVOT_CONE    /* mu r_n - |r_T| */
} scree_PivotGate;

/* Solutions for base (0) and for d (1): impulses are those of 0 and tau times those of 1. */
typedef struct scree_PivotPair {
  double *y[2];        /* (state) */
  double *u[2], *r[2]; /* (n) velocities, and impulses */
} scree_PivotPair;

typedef struct scree_PivotPath {
  scree_LinearLaws laws; /* their Lu: G of the factorised laws */
  size_t n, state;       /* rows, and length of y */
  uint8_t *status;       /* (nc) scree_RowStatus, now */
  double *weight;        /* (nc) e w, the compliance */
  double *turn;          /* (nc x 2) direction of the friction of slipping contacts */
  double *base, *d;      /* (n) */
  double *r, *u;         /* (n) at the current tau; u with the compliance */
  double *lowest;        /* (n) impulses at the least tau where it began to rise */
  double tau, least;     /* now, and there */
  /* of the factorised laws: y, and u = B y + q without the compliance */
  scree_PivotPair factored;
  scree_PivotPair now; /* of the laws of this piece; u with the compliance */
  /* contacts whose law has changed since, with room for SCREE_PIVOT_CHANGED of them, `most` rows */
  int count, most;
  int *changed;     /* (count) */
  int *place;       /* (nc) in `changed`, or -1 */
  double *columns;  /* (most, state) Z */
  double *room;     /* (d, state) work */
  double *coupling; /* (most x most) V^T Z */
  double *change;   /* (count, d x d) dG */
  double *small;    /* (most x most) work: I + dG V^T Z */
  double *side;     /* (2, most) work: its right sides */
  int factor_sign;  /* of the determinant of the factorised system */
  int sign;         /* of that of this piece */
  scree_PivotGate gate;
  int gate_contact;
  int events; /* of this path */
} scree_PivotPath;

/* Take vectors from the work memory of the run. */
scree_Status scree_pivot_path_create(const scree_SolveRun *run, scree_PivotPath *path);

/* Choose statuses and d so that the impulses path->r, moved as little as the law asks, solve at tau
 * = 1. */
void scree_pivot_path_start(scree_PivotPath *path);

/* Follow the path from tau = 1 to zero, with at most `most` events; path->r are the impulses where
 * it ends. A path that would begin against the direction in which it comes from infinite weights
 * (the determinant is negative) is not followed: it leads away from where the flow leads. */
scree_Status scree_pivot_path_follow(scree_PivotPath *path, scree_SolveRun *run, int most,
                                     bool *arrived);

#endif

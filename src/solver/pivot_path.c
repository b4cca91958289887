/* Following the path of pivot, from event to event (see pivot_path.h). */
#include "solver/pivot_path.h"

#include "core/log.h"
#include "math/simd.h"
#include "solver/lemke_path.h"

#include <math.h>
#include <string.h>

/* Limits. */
static const struct Numbers {
  int standing; /* events at one point, at most */
  double lost;  /* a tau from which the path does not return */
} number = {
    .standing = 60,
    .lost = 30.0,
};

scree_Status scree_pivot_path_create(const scree_SolveRun *run, scree_PivotPath *path) {
  const scree_Operator *W = run->W;
  scree_Arena *work = &run->cache->work;
  const size_t nc = (size_t)W->constraints, d = (size_t)W->problem->d;
  const size_t most = SCREE_PIVOT_CHANGED * d;
  *path = (scree_PivotPath){.n = W->rows, .state = W->state_size, .most = (int)most};
  const struct Array {
    double **array;
    size_t size;
  } arrays[] = {{&path->weight, nc},
                {&path->turn, 2 * nc},
                {&path->base, path->n},
                {&path->d, path->n},
                {&path->r, path->n},
                {&path->u, path->n},
                {&path->lowest, path->n},
                {&path->factored.y[0], path->state},
                {&path->factored.y[1], path->state},
                {&path->factored.u[0], path->n},
                {&path->factored.u[1], path->n},
                {&path->now.y[0], path->state},
                {&path->now.y[1], path->state},
                {&path->now.u[0], path->n},
                {&path->now.u[1], path->n},
                {&path->now.r[0], path->n},
                {&path->now.r[1], path->n},
                {&path->columns, most * path->state},
                {&path->room, d * path->state},
                {&path->coupling, most * most},
                {&path->change, most * d},
                {&path->small, most * most},
                {&path->side, 2 * most}};
  path->status = SCREE_TAKE(work, uint8_t, nc);
  path->changed = SCREE_TAKE(work, int, SCREE_PIVOT_CHANGED);
  path->place = SCREE_TAKE(work, int, nc);
  bool enough = path->status && path->changed && path->place;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k)
    enough = (*arrays[k].array = SCREE_TAKE(work, double, arrays[k].size)) && enough;
  if (!enough) return scree_fail_memory(run->log, "pivot");
  return scree_linear_laws_create(run, 0, 0, NULL, &path->laws);
}

static double friction(const scree_PivotPath *path, int c) {
  const scree_Set set = scree_problem_set(path->laws.W->problem, c);
  return scree_set_friction(&set);
}

/* u_c += (C + e w) r_c */
static void add_compliance(const scree_PivotPath *path, int c, const double *r, double *u) {
  const scree_Operator *W = path->laws.W;
  const int d = W->problem->d;
  const double *C = scree_compliance_of(W, c);
  for (int i = 0; i < d; ++i) {
    u[i] += path->weight[c] * r[i];
    for (int j = 0; C && j < d; ++j) u[i] += C[i * d + j] * r[j];
  }
}

/* ---- the linear law of a contact --------------------------------------------------------------
 */

/* Lu and Lr of contact c in its status, linearised at the current impulses and velocities. */
static void law(const scree_PivotPath *path, int c, double *Lu, double *Lr) {
  const int d = path->laws.W->problem->d;
  const size_t at = (size_t)c * (size_t)d;
  scree_Slip slip = {.t = {path->turn[2 * c], path->turn[2 * c + 1]}, .normal = path->r[at]};
  if (path->status[c] == SCREE_ROWS_SLIP && friction(path, c) > 0.0)
    slip.speed = scree_tangent_norm(d, path->u + at);
  scree_status_rows(d, (scree_RowStatus)path->status[c], SCREE_COULOMB, friction(path, c),
                    path->laws.w[c], &slip, path->weight[c], NULL, Lu, Lr, NULL);
}

/* out = -G x */
static void subtract(int d, const double *G, const double *x, double *out) {
  for (int i = 0; i < d; ++i) {
    out[i] = 0.0;
    for (int j = 0; j < d; ++j) out[i] -= G[i * d + j] * x[j];
  }
}

/* out = -(G + dG) x */
static void subtract_changed(int d, const double *G, const double *dG, const double *x,
                             double *out) {
  for (int i = 0; i < d; ++i) {
    out[i] = 0.0;
    for (int j = 0; j < d; ++j) out[i] -= (G[i * d + j] + dG[i * d + j]) * x[j];
  }
}

/* ---- the system -------------------------------------------------------------------------------
 */

static void swap(double *a, double *b) {
  const double keep = *a;
  *a = *b;
  *b = keep;
}

/* Solve the small system A (m x m) with both right sides b (2, wide) in place, rows exchanged.
 * Returns the sign of the determinant, 0 if it vanishes. */
static int solve_small(int m, int wide, double *A, double *b) {
  double *b1 = b + wide;
  int sign = 1;
  for (int k = 0; k < m; ++k) {
    int best = k;
    for (int i = k + 1; i < m; ++i)
      if (fabs(A[i * m + k]) > fabs(A[best * m + k])) best = i;
    if (!(fabs(A[best * m + k]) > 0.0)) return 0;
    if (best != k) {
      sign = -sign;
      for (int j = k; j < m; ++j) swap(A + k * m + j, A + best * m + j);
      swap(b + k, b + best);
      swap(b1 + k, b1 + best);
    }
    if (A[k * m + k] < 0.0) sign = -sign;
    const double pivot = 1.0 / A[k * m + k];
    for (int i = k + 1; i < m; ++i) {
      const double f = A[i * m + k] * pivot;
      if (f == 0.0) continue;
      for (int j = k + 1; j < m; ++j) A[i * m + j] -= f * A[k * m + j];
      b[i] -= f * b[k];
      b1[i] -= f * b1[k];
    }
  }
  for (int k = m - 1; k >= 0; --k) {
    for (int j = k + 1; j < m; ++j) {
      b[k] -= A[k * m + j] * b[j];
      b1[k] -= A[k * m + j] * b1[j];
    }
    b[k] /= A[k * m + k];
    b1[k] /= A[k * m + k];
  }
  return sign;
}

/* Impulses and velocities of both solutions from their states. */
static void complete(scree_PivotPath *path) {
  const scree_Operator *W = path->laws.W;
  const int d = W->problem->d;
  const double *q[2] = {path->base, path->d};
  for (int s = 0; s < 2; ++s) {
    double *u = path->now.u[s], *r = path->now.r[s];
    scree_operator_velocity(W, NULL, path->now.y[s], q[s], u);
    for (int c = 0; c < W->constraints; ++c) {
      const size_t at = scree_row_of(W, c);
      const double *G = path->laws.Lu + scree_square_of(W, c);
      if (path->place[c] >= 0)
        subtract_changed(d, G, path->change + path->place[c] * d * d, u + at, r + at);
      else
        subtract(d, G, u + at, r + at);
      add_compliance(path, c, r + at, u + at);
    }
  }
}

enum { TILE = 128 }; /* numbers of a state that stay in the nearest cache while columns pass */

/* y += the sum of x_j z_j over m columns, for two y. */
SCREE_CLONES static void add_columns_tile(int m, int size, const double *z, size_t stride,
                                          const double *x0, const double *x1, double *restrict y0,
                                          double *restrict y1) {
  for (int j = 0; j < m; ++j, z += stride) {
    int i = 0;
    for (; i + SCREE_LANES <= size; i += SCREE_LANES) {
      const scree_Lane column = scree_lane_load(z + i);
      *scree_lane_at(y0 + i) += x0[j] * column;
      *scree_lane_at(y1 + i) += x1[j] * column;
    }
    for (; i < size; ++i) {
      y0[i] += x0[j] * z[i];
      y1[i] += x1[j] * z[i];
    }
  }
}

/* The states of both solutions from those with the factorised laws. */
static void combine(scree_PivotPath *path, int m) {
  for (int s = 0; s < 2; ++s)
    memcpy(path->now.y[s], path->factored.y[s], path->state * sizeof *path->now.y[s]);
  for (size_t at = 0; at < path->state; at += TILE) {
    const int size = path->state - at < TILE ? (int)(path->state - at) : TILE;
    add_columns_tile(m, size, path->columns + at, path->state, path->side, path->side + path->most,
                     path->now.y[0] + at, path->now.y[1] + at);
  }
}

/* The solutions with the laws as they are now. False: the system is singular. */
static bool solve_piece(scree_PivotPath *path) {
  const scree_Operator *W = path->laws.W;
  const int d = W->problem->d, m = path->count * d, wide = path->most;
  for (int a = 0; a < path->count; ++a) {
    const double *dG = path->change + a * d * d;
    const size_t at = scree_row_of(W, path->changed[a]);
    for (int s = 0; s < 2; ++s)
      subtract(d, dG, path->factored.u[s] + at, path->side + s * wide + a * d);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < m; ++j) {
        double sum = a * d + i == j ? 1.0 : 0.0;
        for (int k = 0; k < d; ++k) sum += dG[i * d + k] * path->coupling[(a * d + k) * wide + j];
        path->small[(a * d + i) * m + j] = sum;
      }
  }
  const int sign = solve_small(m, wide, path->small, path->side);
  if (sign == 0) return false;
  path->sign = sign * path->factor_sign;
  combine(path, m);
  complete(path);
  return true;
}

/* Impulses and velocities at the current tau. */
static void place(scree_PivotPath *path) {
  for (size_t i = 0; i < path->n; ++i) {
    path->r[i] = path->now.r[0][i] + path->tau * path->now.r[1][i];
    path->u[i] = path->now.u[0][i] + path->tau * path->now.u[1][i];
  }
}

/* In space: directions of slipping contacts from the current impulses. */
static void turn_all(scree_PivotPath *path) {
  const scree_Operator *W = path->laws.W;
  for (int c = 0; c < W->constraints; ++c) {
    const size_t at = scree_row_of(W, c);
    const double w = path->laws.w[c] + path->weight[c];
    double t[2];
    if (path->status[c] != SCREE_ROWS_SLIP || !(friction(path, c) > 0.0)) continue;
    if (!(scree_slip_direction(W->problem->d, w, path->r + at, path->u + at, t) > 0.0)) continue;
    path->turn[2 * c] = t[0];
    path->turn[2 * c + 1] = t[1];
  }
}

/* Factorise the laws as they are at the current point, and solve. */
static scree_Status factorise(scree_PivotPath *path, scree_SolveRun *run, bool *broken) {
  const scree_Operator *W = path->laws.W;
  const double *q[2] = {path->base, path->d};
  for (int k = 0; k < path->count; ++k) path->place[path->changed[k]] = -1;
  path->count = 0;
  if (W->problem->d == 3) turn_all(path);
  for (int c = 0; c < W->constraints; ++c) {
    const size_t at = scree_square_of(W, c);
    law(path, c, path->laws.Lu + at, path->laws.Lr + at);
  }
  ++run->factorisations;
  ++run->iterations;
  scree_Status status = scree_linear_laws_factor(&path->laws, broken);
  if (status || *broken) return status;
  path->factor_sign = scree_factor_sign(path->laws.system->factor);
  for (int s = 0; s < 2 && !status; ++s) {
    status = scree_linear_laws_solve(&path->laws, NULL, q[s], path->now.r[s]);
    memcpy(path->factored.y[s], path->laws.y, path->state * sizeof *path->laws.y);
    scree_operator_velocity(W, NULL, path->laws.y, q[s], path->factored.u[s]);
  }
  if (!status) *broken = !solve_piece(path);
  return status;
}

/* Room for contact c among those whose law has changed: its columns, and their coupling. */
static scree_Status add_columns(scree_PivotPath *path, int c) {
  const scree_Operator *W = path->laws.W;
  const int d = W->problem->d, nb = W->problem->bodies.nb, wide = path->most;
  const int a = path->place[c] = path->count++;
  path->changed[a] = c;
  for (int i = 0; i < d; ++i) {
    double *z = path->columns + (size_t)(a * d + i) * path->state, one[3] = {0.0};
    one[i] = 1.0;
    memset(z, 0, path->state * sizeof *z);
    scree_contact_update(W, SCREE_BODIES, d, nb, c, one, z);
  }
  scree_factor_solve_several(path->laws.system->factor, d, path->state, path->room,
                             path->columns + (size_t)(a * d) * path->state);
  for (int b = 0; b < path->count; ++b)
    for (int j = 0; j < d; ++j) {
      const int rows[2] = {a * d, b * d}, of[2] = {c, path->changed[b]};
      for (int side = 0; side < 2; ++side) {
        const int column = rows[1 - side] + j;
        double u[3];
        scree_contact_velocity(W, SCREE_BODIES, d, nb, of[side], NULL,
                               path->columns + (size_t)column * path->state, NULL, u);
        for (int i = 0; i < d; ++i) path->coupling[(rows[side] + i) * wide + column] = u[i];
      }
    }
  return SCREE_OK;
}

/* The law of contact c has changed: the solutions with the new one. */
static scree_Status apply_change(scree_PivotPath *path, scree_SolveRun *run, int c, bool *broken) {
  const scree_Operator *W = path->laws.W;
  const int d = W->problem->d;
  scree_Status status = SCREE_OK;
  if (path->place[c] < 0 && path->count == SCREE_PIVOT_CHANGED) {
    status = factorise(path, run, broken);
  } else {
    double Lu[9], Lr[9], none[3] = {0.0};
    if (path->place[c] < 0) status = add_columns(path, c);
    if (status) return status;
    law(path, c, Lu, Lr);
    scree_linear_law_eliminate(W, c, Lr, Lu, none);
    double *dG = path->change + path->place[c] * d * d;
    const double *G = path->laws.Lu + scree_square_of(W, c);
    for (int i = 0; i < d * d; ++i) dG[i] = Lu[i] - G[i];
    *broken = !solve_piece(path);
  }
  if (!status && !*broken) place(path);
  return status;
}

/* ---- events -----------------------------------------------------------------------------------
 */

typedef struct Event {
  double at; /* change of |tau| */
  int contact;
  scree_RowStatus status;
} Event;

static void sooner(Event *event, double at, int contact, scree_RowStatus status) {
  if (at < event->at) *event = (Event){at, contact, status};
}

/* The first event from the current tau, which moves by `sign`. */
static Event next_event(const scree_PivotPath *path, double sign, double most) {
  const scree_Operator *W = path->laws.W;
  const int d = W->problem->d;
  Event event = {most, -1, SCREE_ROWS_OPEN};
  for (int c = 0; c < W->constraints; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const double *r = path->r + at, *u = path->u + at;
    const double *r1 = path->now.r[1] + at, *u1 = path->now.u[1] + at;
    const scree_PivotGate gate = c == path->gate_contact ? path->gate : SCREE_PIVOT_NONE;
    if (path->status[c] == SCREE_ROWS_OPEN) {
      const double falls = -sign * u1[0];
      if (falls > 0.0 && gate == SCREE_PIVOT_NONE)
        sooner(&event, fmax(u[0], 0.0) / falls, c, SCREE_ROWS_SLIP);
      continue;
    }
    const double mu = friction(path, c);
    if (path->status[c] == SCREE_ROWS_STICK) {
      sooner(&event, scree_lemke_leaves_cone(d, mu, r, r1, sign, gate != SCREE_PIVOT_NONE), c,
             SCREE_ROWS_SLIP);
      continue;
    }
    const double falls = -sign * r1[0];
    if (falls > 0.0 && gate != SCREE_PIVOT_NORMAL)
      sooner(&event, fmax(r[0], 0.0) / falls, c, SCREE_ROWS_OPEN);
    if (!(mu > 0.0)) continue;
    const double *t = path->turn + 2 * c;
    double speed = -t[0] * u[1], slows = sign * t[0] * u1[1];
    if (d == 3) {
      speed -= t[1] * u[2];
      slows += sign * t[1] * u1[2];
    }
    if (slows > 0.0 && gate != SCREE_PIVOT_SPEED)
      sooner(&event, fmax(speed, 0.0) / slows, c, SCREE_ROWS_STICK);
  }
  return event;
}

/* Contact c gets its new status. */
static void change_status(scree_PivotPath *path, const Event *event) {
  const int c = event->contact, d = path->laws.W->problem->d;
  const size_t at = (size_t)c * (size_t)d;
  const scree_RowStatus old = (scree_RowStatus)path->status[c];
  path->status[c] = (uint8_t)event->status;
  path->gate_contact = c;
  path->gate = event->status == SCREE_ROWS_OPEN    ? SCREE_PIVOT_GAP
               : event->status == SCREE_ROWS_STICK ? SCREE_PIVOT_CONE
               : old == SCREE_ROWS_OPEN            ? SCREE_PIVOT_NORMAL
                                                   : SCREE_PIVOT_SPEED;
  if (event->status != SCREE_ROWS_SLIP || !(friction(path, c) > 0.0)) return;
  const double *x = old == SCREE_ROWS_OPEN ? path->u + at : path->r + at;
  const double norm = scree_tangent_norm(d, x), side = old == SCREE_ROWS_OPEN ? -1.0 : 1.0;
  for (int i = 1; i < d; ++i)
    path->turn[2 * c + i - 1] = norm > 0.0 ? side * x[i] / norm : (i == 1 ? 1.0 : 0.0);
}

/* ---- the path ---------------------------------------------------------------------------------
 */

void scree_pivot_path_start(scree_PivotPath *path) {
  const scree_Operator *W = path->laws.W;
  const int d = W->problem->d;
  double *r = path->r, *u = path->u, *wanted = path->now.u[0];
  scree_operator_apply(W, r, path->base, path->laws.y, u);
  for (int c = 0; c < W->constraints; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    double *rc = r + at, *uc = u + at, *t = path->turn + 2 * c, z[3];
    const double w = path->laws.w[c] + path->weight[c], mu = friction(path, c);
    for (int i = 0; i < d; ++i) uc[i] += path->weight[c] * rc[i];
    for (int i = 0; i < d; ++i) z[i] = rc[i] - uc[i] / w;
    const scree_RowStatus status = scree_read_status(d, SCREE_COULOMB, mu, w, rc, uc, t);
    path->status[c] = (uint8_t)status;
    for (int i = 0; i < d; ++i) wanted[at + (size_t)i] = status == SCREE_ROWS_OPEN ? uc[i] : 0.0;
    if (status == SCREE_ROWS_OPEN) wanted[at] = -w * z[0];
    for (int i = 0; i < d; ++i) rc[i] = status == SCREE_ROWS_OPEN ? 0.0 : z[i];
    if (status != SCREE_ROWS_SLIP || !(mu > 0.0)) continue;
    const double slips = w * (scree_tangent_norm(d, z) - mu * z[0]);
    for (int i = 1; i < d; ++i) {
      rc[i] = mu * z[0] * t[i - 1];
      wanted[at + (size_t)i] = -slips * t[i - 1];
    }
  }
  scree_operator_apply(W, r, path->base, path->laws.y, u);
  for (int c = 0; c < W->constraints; ++c)
    for (size_t i = (size_t)c * (size_t)d; i < (size_t)(c + 1) * (size_t)d; ++i) {
      path->d[i] = wanted[i] - u[i] - path->weight[c] * r[i];
      u[i] = wanted[i];
    }
}

/* Keep the impulses where tau begins to rise, if it is lower than at all such points before. */
static void keep_lowest(scree_PivotPath *path) {
  if (!(path->tau < path->least)) return;
  path->least = path->tau;
  memcpy(path->lowest, path->r, path->n * sizeof *path->r);
}

/* Statuses, the point and the solutions at tau = 1. */
static scree_Status begin(scree_PivotPath *path, scree_SolveRun *run, bool *broken) {
  path->tau = path->least = 1.0;
  path->events = path->count = 0;
  path->gate = SCREE_PIVOT_NONE;
  path->gate_contact = -1;
  for (int c = 0; c < path->laws.W->constraints; ++c) path->place[c] = -1;
  memcpy(path->lowest, path->r, path->n * sizeof *path->r);
  const scree_Status status = factorise(path, run, broken);
  if (!status && !*broken) place(path);
  return status;
}

scree_Status scree_pivot_path_follow(scree_PivotPath *path, scree_SolveRun *run, int most,
                                     bool *arrived) {
  int standing = 0;
  bool broken = false, fell = false;
  *arrived = false;
  scree_Status status = begin(path, run, &broken);
  if (status || broken || path->sign < 0) return status;
  while (path->events < most && !scree_solve_run_exhausted(run)) {
    const double sign = -path->sign;
    if (sign > 0.0 && fell) keep_lowest(path);
    fell = sign < 0.0;
    const Event event = next_event(path, sign, fell ? path->tau : INFINITY);
    if (isinf(event.at)) break;
    path->tau = event.contact < 0 ? 0.0 : path->tau + sign * event.at;
    standing = event.at > 0.0 ? 0 : standing + 1;
    place(path);
    *arrived = event.contact < 0;
    if (*arrived || path->tau > number.lost || standing > number.standing) break;
    ++path->events;
    change_status(path, &event);
    status = apply_change(path, run, event.contact, &broken);
    if (status || broken) break;
  }
  return status;
}

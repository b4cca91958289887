/* Events on the path of lemke (see lemke_path.h). */
#include "solver/lemke_path.h"

#include <math.h>

/* Numbers chosen by measurement, as in policy.c: beside each value the work with another value over
 * the work with this one, for `lemke` alone to 1e-8 within 0.2 s of counted work, on the 25
 * smallest problems, of which 20 were solved. */
static const struct Numbers {
  double turn;     /* radians that a direction of slip may turn in a step */
  double still;    /* speed below which a direction is not defined, relative to q */
  double violated; /* violation of a status above round-off, relative to q and impulses */
} number = {
    .turn = 0.3,      /* 0.15: 1.14; 0.6: 1.06 */
    .still = 1e-7,    /* 1e-8: 0.99; 1e-6: 1.02 */
    .violated = 1e-9, /* 1e-10: 1.00 */
};

/* t.x_T */
static double along(int d, const double *t, const double *x) {
  double sum = 0.0;
  for (int i = 1; i < d; ++i) sum += t[i - 1] * x[i];
  return sum;
}

double scree_lemke_friction(const scree_LemkePath *path, int k) {
  const scree_Set set = scree_problem_set(path->laws.W->problem, k);
  return scree_set_friction(&set);
}

static bool is_joint(const scree_LemkePath *path, int k) {
  return scree_problem_set(path->laws.W->problem, k).kind == SCREE_SET_SPACE;
}

double scree_lemke_gate(const scree_LemkePath *path, const double *r, const double *u,
                        double *slope) {
  const int k = path->gate_contact;
  const scree_RowRange rows = scree_row_range(path->laws.W, k);
  const int d = rows.d;
  const double *rb = path->rb + rows.at, *ub = path->ub + rows.at;
  r += rows.at;
  u += rows.at;
  double t[2];
  switch (path->gate) {
  case SCREE_GATE_GAP: *slope = ub[0]; return u[0];
  case SCREE_GATE_NORMAL: *slope = rb[0]; return r[0];
  case SCREE_GATE_SPEED:
    scree_slip_direction(d, path->w[k], r, u, t);
    *slope = -along(d, t, ub);
    return -along(d, t, u);
  default: {
    const double mu = scree_lemke_friction(path, k), norm = scree_tangent_norm(d, r);
    *slope = mu * rb[0];
    for (int i = 1; i < d && norm > 0.0; ++i) *slope -= r[i] / norm * rb[i];
    return mu * r[0] - norm;
  }
  }
}

double scree_lemke_leaves_cone(int d, double mu, const double *r, const double *x, double sign,
                               bool inside) {
  double a = -mu * mu * x[0] * x[0], b = -mu * mu * r[0] * x[0] * sign, c = -mu * mu * r[0] * r[0];
  for (int i = 1; i < d; ++i) {
    a += x[i] * x[i];
    b += sign * r[i] * x[i];
    c += r[i] * r[i];
  }
  if (inside || c >= 0.0) {
    if (!inside && b > 0.0) return 0.0;
    return a > 0.0 && b < 0.0 ? -2.0 * b / a : INFINITY;
  }
  const double discriminant = b * b - a * c;
  if (discriminant < 0.0) return INFINITY;
  const double half = -(b + copysign(sqrt(discriminant), b));
  double first = INFINITY;
  if (a != 0.0 && half / a > 0.0) first = half / a;
  if (half != 0.0 && c / half > 0.0) first = fmin(first, c / half);
  return first;
}

static void sooner(scree_LemkeEvent *event, double at, int contact, scree_RowStatus status) {
  if (at < event->at) *event = (scree_LemkeEvent){at, contact, (int)status};
}

/* The events of a slipping contact; in space also how far its direction may turn. */
static void slip_events(const scree_LemkePath *path, int k, double sign, bool fresh,
                        scree_LemkeEvent *event) {
  const scree_RowRange rows = scree_row_range(path->laws.W, k);
  const int d = rows.d;
  const double *r = path->here.r + rows.at, *u = path->u + rows.at;
  const double *rb = path->rb + rows.at, *ub = path->ub + rows.at, w = path->w[k];
  const double fall = -sign * rb[0];
  if (fall > 0.0 && !(fresh && path->gate == SCREE_GATE_NORMAL))
    sooner(event, fmax(r[0], 0.0) / fall, k, SCREE_ROWS_OPEN);
  if (!(scree_lemke_friction(path, k) > 0.0)) return;
  double t[2];
  scree_slip_direction(d, w, r, u, t);
  const double speed = -along(d, t, u), slows = sign * along(d, t, ub);
  if (slows > 0.0 && !(fresh && path->gate == SCREE_GATE_SPEED))
    sooner(event, fmax(speed, 0.0) / slows, k, SCREE_ROWS_STICK);
  if (d == 2 || !(speed > number.still * path->speed)) return;
  const double length = hypot(r[1] - u[1] / w, r[2] - u[2] / w);
  const double turning = fabs(t[0] * (rb[2] - ub[2] / w) - t[1] * (rb[1] - ub[1] / w));
  if (turning > 0.0) sooner(event, number.turn * length / turning, -1, SCREE_ROWS_OPEN);
}

scree_LemkeEvent scree_lemke_next_event(const scree_LemkePath *path, double sign, double most) {
  scree_LemkeEvent event = {most, -1, 0};
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const bool fresh = path->gate != SCREE_GATE_NONE && k == path->gate_contact;
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    const double *r = path->here.r + rows.at, *u = path->u + rows.at;
    const double *rb = path->rb + rows.at, *ub = path->ub + rows.at;
    if (is_joint(path, k)) continue;
    if (path->status[k] == SCREE_ROWS_OPEN) {
      if (sign * ub[0] < 0.0 && !fresh)
        sooner(&event, fmax(u[0], 0.0) / fabs(ub[0]), k, SCREE_ROWS_SLIP);
    } else if (path->status[k] == SCREE_ROWS_SLIP) {
      slip_events(path, k, sign, fresh, &event);
    } else {
      sooner(&event,
             scree_lemke_leaves_cone(rows.d, scree_lemke_friction(path, k), r, rb, sign, fresh), k,
             SCREE_ROWS_SLIP);
    }
  }
  return event;
}

bool scree_lemke_violated(const scree_LemkePath *path) {
  const double slow = -number.violated * path->speed, weak = -number.violated * path->impulse;
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    if (is_joint(path, k)) continue;
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    const int d = rows.d, status = path->status[k];
    const double *r = path->here.r + rows.at, *u = path->u + rows.at;
    const double mu = scree_lemke_friction(path, k);
    double t[2] = {0.0, 0.0};
    if (mu > 0.0) scree_slip_direction(d, path->w[k], r, u, t);
    const double speed = mu > 0.0 ? -along(d, t, u) : 0.0;
    if (status == SCREE_ROWS_OPEN && u[0] < slow) return true;
    if (status == SCREE_ROWS_SLIP && (r[0] < weak || speed < slow)) return true;
    if (status == SCREE_ROWS_STICK && mu * r[0] - scree_tangent_norm(d, r) < weak) return true;
  }
  return false;
}

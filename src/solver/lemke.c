/* lemke: the path from no contact at all to a solution.
 *
 * With a velocity tau d added to q, d_n > 0, every contact is open for large tau: r = 0 solves. The
 * solutions (r, tau) form a path; along it contacts close, slip, stick and open, one after the
 * other, and tau falls, but may rise for a while. Where it reaches zero is a solution. That is the
 * method of Lemke (1965) for linear complementarity; for Coulomb's law in the plane the path is
 * made of straight pieces, in space of curved ones, which are followed by steps and corrections.
 *
 * What makes it arrive where every descent gets stuck: the path does not need the error to fall. It
 * passes turning points, and it cannot run in circles, because its direction is a function of the
 * place alone: tau falls where the determinant of the linearised laws is positive and rises where
 * it is negative (the index of the solution).
 *
 * Hyperstatic packings have solutions in bundles and no such path. A compliance e D, D the mean
 * diagonals of W, makes them single: W + e D with e = e0 + tau e1 on the first path. From the
 * solution with e0 a second path leads to the one where the compliance is centred at it, and so on
 * (proximal steps): a few, mostly without any change of status, leave nothing of e0.
 *
 * Statuses of a contact, where they end, and what enters (is zero there and grows afterwards):
 *     open    u_n = 0    -> slip   r_n
 *     slip    r_n = 0    -> open   u_n
 *             |u_T| = 0  -> stick  mu r_n - |r_T|
 *     stick   |r_T| = mu r_n  -> slip  |u_T|
 *
 * One factorisation for each event or step, so it is for the few hundred or thousand contacts that
 * nothing else solves.
 *
 * Reference: this library; C. E. Lemke, Management Science 11 (1965). */
#include "core/log.h"
#include "core/mix.h"
#include "problem/set_inline.h"
#include "solver/linear_laws.h"
#include "solver/registry.h"

#include <math.h>
#include <string.h>

typedef struct Options {
  double compliance, first; /* e0, e1 */
  double least;             /* e0 of the last proximal steps */
  int events;               /* at most, for each contact */
} Options;

enum { OPEN, STICK, SLIP };
enum { NO_GATE, GATE_GAP, GATE_NORMAL, GATE_SPEED, GATE_CONE }; /* what enters */

enum { ATTEMPTS = 3 };                     /* first paths */
enum { CORRECTIONS = 6 };                  /* of a step */
enum { STANDING = 4, STANDING_MOST = 30 }; /* events at one place: hit precisely, and at most */
enum { SHORTER_MOST = 8 };                 /* times that a step is made shorter */
enum { IDLE_STAGES = 20 };                 /* proximal steps without a lower error */
enum { PROXIMAL_ONE = 2, PROXIMAL = 40 };  /* factorisations for each contact: of one, of all */
enum { EVENTS_MOST = 1000000000 };         /* what an integer holds, and some room */
enum { FEW = 100 };                        /* factorisations that are granted in any case */
static const double DOWN = 0.1, AFTER_FAILURE = 0.5; /* factors of the compliance */
static const double UP = 20.0;                       /* after a path that does not arrive */
static const double SHORTER = 0.25;
static const double LONGER = 4.0;    /* times the last step, after one that had to be short */
static const double ACCURATE = 0.1;  /* a correction that small against the step is the last one */
static const double FINE = 1e-3;     /* the same against the last step that had a length */
static const double NOISE = 1e-8;    /* corrections that are nothing, relative to impulses */
static const double EXACT = 1e-13;   /* the same at the end of the path */
static const double STRAY = 3.0;     /* steps: a first correction that long leads elsewhere */
static const double JUMP = 0.01;     /* of the impulses: what it may be in any case */
static const double TURN = 0.3;      /* radians that a direction of slip may turn in a step */
static const double STILL = 1e-7;    /* speeds that low have no direction, relative to q */
static const double VIOLATED = 1e-9; /* of a status at the end, relative to q and impulses */
static const double NOTHING = 1e-12; /* a tau that is zero */
static const double NEARLY = 1e-6;   /* a tau that will do where zero cannot be hit */
static const double SIDEWAYS = 0.5;  /* how far d leans, so that contacts slip when they close */
static const double LOST = 1e4;      /* tau on the way to infinity */
static const double MEASURED = 0.5;  /* fall of tau between two measurements */

typedef struct Place { /* on the path */
  double *r;           /* (nc x d) */
  double tau;
} Place;

typedef struct State {
  Options options;
  scree_LinearLaws laws;
  uint8_t *status;
  const double *w; /* (nc) of the laws */
  double *soft;    /* (nc) D: w times a number of the contact's own, so that none are alike */
  double *base;    /* (nc x d) q of the stage */
  double *d;       /* (nc x d) what tau multiplies */
  double *q, *u;   /* (nc x d) base + tau d; velocities at the place, with compliance */
  double *rb, *ub; /* (nc x d) tangent: dr/dtau, du/dtau */
  double *next;    /* (nc x d) */
  double *dir;     /* (nc x d) of the last step */
  double *best;    /* (nc x d) measured, with the error best_error */
  double *centre;  /* (nc x d) of the compliance, and the statuses there */
  uint8_t *status_there;
  Place here, kept;
  double e0, e1;         /* compliance of the stage: e0 + tau e1 */
  double impulse, speed; /* scales */
  double best_error;
  int gate, gate_contact; /* what enters, after an event */
} State;

/* ---- allocation --------------------------------------------------------------------------------
 */

/* A number between 0 and 1 for each number. */
static double random_part(size_t k) {
  return (double)(scree_mix((uint64_t)k) >> 11) * 0x1p-53;
}

static scree_Status create(const scree_SolveRun *run, const void *options, void **out) {
  const scree_Operator *W = run->W;
  const size_t nc = (size_t)W->problem->nc, d = (size_t)W->problem->d;
  scree_Arena *work = &run->cache->work;
  State *st = SCREE_TAKE(work, State, 1);
  if (!st) return scree_fail_memory(run->log, "lemke");
  st->options = *(const Options *)options;
  st->status = SCREE_TAKE(work, uint8_t, nc);
  st->status_there = SCREE_TAKE(work, uint8_t, nc);
  st->soft = SCREE_TAKE(work, double, nc);
  double **vectors[] = {&st->base, &st->d,   &st->q,      &st->u,      &st->rb,   &st->ub,
                        &st->next, &st->dir, &st->here.r, &st->kept.r, &st->best, &st->centre};
  bool enough = st->status && st->status_there && st->soft;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
    *vectors[k] = SCREE_TAKE(work, double, nc *d);
    enough = enough && *vectors[k];
  }
  scree_Status status = enough ? SCREE_OK : scree_fail_memory(run->log, "lemke");
  if (!status) status = scree_linear_laws_create(run, &st->laws);
  if (status) return status;
  st->w = st->laws.w;
  for (size_t k = 0; k < nc; ++k) st->soft[k] = st->w[k] * (0.5 + random_part(4 * k + 3));
  *out = st;
  return SCREE_OK;
}

/* ---- the laws on one piece of the path ---------------------------------------------------------
 */

static double friction(const scree_Problem *p, int k) {
  const scree_Set set = scree_problem_set(p, k);
  return set.kind == SCREE_SET_HALF_LINE ? 0.0 : set.mu;
}

static double compliance(const State *st) {
  return st->e0 + fmax(st->here.tau, 0.0) * st->e1;
}

/* out = W r + q + e D r */
static void velocity(State *st, const double *r, const double *q, double *out) {
  const scree_Problem *p = st->laws.W->problem;
  const double e = compliance(st);
  scree_operator_apply(st->laws.W, r, q, st->laws.y, out);
  for (int k = 0; k < p->nc; ++k)
    for (int i = k * p->d; i < (k + 1) * p->d; ++i) out[i] += e * st->soft[k] * r[i];
}

/* q and, for the impulses r, the velocities at the tau of the place. */
static void velocity_here(State *st, const double *r) {
  const size_t n = (size_t)st->laws.W->problem->nc * (size_t)st->laws.W->problem->d;
  for (size_t i = 0; i < n; ++i) st->q[i] = st->base[i] + st->here.tau * st->d[i];
  velocity(st, r, st->q, st->u);
}

/* t.x_T */
static double along(int d, const double *t, const double *x) {
  double sum = 0.0;
  for (int i = 1; i < d; ++i) sum += t[i - 1] * x[i];
  return sum;
}

static double tangent_norm(int d, const double *r) {
  return d == 2 ? fabs(r[1]) : hypot(r[1], r[2]);
}

/* The direction of a slipping contact's friction: of r_T, and of -u_T where r is still zero. */
static void slip_direction(const State *st, int d, int k, const double *r, const double *u,
                           double *t) {
  double norm2 = 0.0;
  for (int i = 1; i < d; ++i) {
    t[i - 1] = r[k * d + i] - u[k * d + i] / st->w[k];
    norm2 += t[i - 1] * t[i - 1];
  }
  const double norm = sqrt(norm2);
  for (int i = 1; i < d; ++i) t[i - 1] = norm > 0.0 ? t[i - 1] / norm : (i == 1 ? 1.0 : 0.0);
}

/* Slip along t: u_n = 0, t.r_T = mu r_n, and across it both turn together, by the same angle:
 * mu r_n p.u_T + |u_T| p.r_T = 0. */
static void slip_rows(const State *st, int d, double mu, int k, double *Lu, double *Lr) {
  const double *r = st->here.r + k * d, *u = st->u + k * d, w = st->w[k];
  double t[2];
  slip_direction(st, d, k, st->here.r, st->u, t);
  Lu[0] = 1.0;
  Lr[d] = -mu * w;
  for (int i = 1; i < d; ++i) Lr[d + i] = w * t[i - 1];
  if (d == 2) return;
  const double across[2] = {-t[1], t[0]};
  const double limit = w * mu * r[0], speed = hypot(u[1], u[2]), sum = fabs(limit) + speed;
  const double shared = sum > 0.0 ? limit / sum : 0.0, own = sum > 0.0 ? speed / sum : 1.0;
  for (int i = 1; i < 3; ++i) {
    Lu[6 + i] = shared * across[i - 1];
    Lr[6 + i] = own * w * across[i - 1];
  }
}

static void set_rows(State *st) {
  const scree_Problem *p = st->laws.W->problem;
  const int d = p->d;
  const double e = compliance(st);
  memset(st->laws.Lu, 0, (size_t)(p->nc * d * d) * sizeof *st->laws.Lu);
  memset(st->laws.Lr, 0, (size_t)(p->nc * d * d) * sizeof *st->laws.Lr);
  for (int k = 0; k < p->nc; ++k) {
    double *Lu = st->laws.Lu + k * d * d, *Lr = st->laws.Lr + k * d * d;
    const double mu = friction(p, k);
    if (st->status[k] == SLIP && mu > 0.0) {
      slip_rows(st, d, mu, k, Lu, Lr);
    } else {
      for (int i = 0; i < d; ++i) {
        const bool held = st->status[k] == STICK || (st->status[k] == SLIP && i == 0);
        Lu[i * d + i] = held ? 1.0 : 0.0;
        Lr[i * d + i] = held ? 0.0 : st->w[k];
      }
    }
    for (int i = 0; i < d * d; ++i) Lr[i] += e * st->soft[k] * Lu[i];
  }
}

/* Does tau fall (-1) or rise (+1) along the path? In the plane a row of slip along -1 turns the
 * determinant's sign of an assembled system over; over bodies it has been divided out. */
static double orientation(const State *st) {
  const scree_Problem *p = st->laws.W->problem;
  int sign = scree_factor_sign(st->laws.system->factor);
  for (int k = 0; p->kind != SCREE_BODIES && p->d == 2 && k < p->nc; ++k) {
    double t[2];
    if (st->status[k] != SLIP || !(friction(p, k) > 0.0)) continue;
    slip_direction(st, 2, k, st->here.r, st->u, t);
    if (t[0] < 0.0) sign = -sign;
  }
  return -sign;
}

/* ---- events ------------------------------------------------------------------------------------
 */

/* What has entered with the last event at (r, u), and its slope along the tangent. */
static double gate_value(const State *st, const double *r, const double *u, double *slope) {
  const scree_Problem *p = st->laws.W->problem;
  const int d = p->d, k = st->gate_contact;
  const double *rk = r + k * d, *uk = u + k * d, *rb = st->rb + k * d, *ub = st->ub + k * d;
  double t[2];
  switch (st->gate) {
  case GATE_GAP: *slope = ub[0]; return uk[0];
  case GATE_NORMAL: *slope = rb[0]; return rk[0];
  case GATE_SPEED:
    slip_direction(st, d, k, r, u, t);
    *slope = -along(d, t, ub);
    return -along(d, t, uk);
  default: {
    const double mu = friction(p, k), norm = tangent_norm(d, rk);
    *slope = mu * rb[0];
    for (int i = 1; i < d && norm > 0.0; ++i) *slope -= rk[i] / norm * rb[i];
    return mu * rk[0] - norm;
  }
  }
}

/* Where a sticking contact leaves its cone along r + s x, s > 0: the smallest root of
 * |r_T + s x_T|^2 = mu^2 (r_n + s x_n)^2. `inside`: it stands on the cone and has just entered. */
static double leaves_cone(int d, double mu, const double *r, const double *x, double sign,
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

typedef struct Event {
  double at;   /* change of |tau| */
  int contact; /* or -1: a step without an event */
  int status;  /* that the contact gets */
} Event;

static void sooner(Event *event, double at, int contact, int status) {
  if (at < event->at) *event = (Event){at, contact, status};
}

/* The events of a slipping contact; in space also how far its direction may turn. */
static void slip_events(const State *st, int k, double sign, bool fresh, Event *event) {
  const scree_Problem *p = st->laws.W->problem;
  const int d = p->d;
  const double *r = st->here.r + k * d, *u = st->u + k * d;
  const double *rb = st->rb + k * d, *ub = st->ub + k * d, w = st->w[k];
  const double fall = -sign * rb[0];
  if (fall > 0.0 && !(fresh && st->gate == GATE_NORMAL))
    sooner(event, fmax(r[0], 0.0) / fall, k, OPEN);
  if (!(friction(p, k) > 0.0)) return;
  double t[2];
  slip_direction(st, d, k, st->here.r, st->u, t);
  const double speed = -along(d, t, u), slows = sign * along(d, t, ub);
  if (slows > 0.0 && !(fresh && st->gate == GATE_SPEED))
    sooner(event, fmax(speed, 0.0) / slows, k, STICK);
  if (d == 2 || !(speed > STILL * st->speed)) return;
  const double length = hypot(r[1] - u[1] / w, r[2] - u[2] / w);
  const double turning = fabs(t[0] * (rb[2] - ub[2] / w) - t[1] * (rb[1] - ub[1] / w));
  if (turning > 0.0) sooner(event, TURN * length / turning, -1, 0);
}

/* What ends the piece of the path that starts here, at most `most` away. */
static Event next_event(const State *st, double sign, double most) {
  const scree_Problem *p = st->laws.W->problem;
  const int d = p->d;
  Event event = {most, -1, 0};
  for (int k = 0; k < p->nc; ++k) {
    const bool fresh = st->gate != NO_GATE && k == st->gate_contact;
    const double *r = st->here.r + k * d, *u = st->u + k * d;
    const double *rb = st->rb + k * d, *ub = st->ub + k * d;
    if (st->status[k] == OPEN) {
      if (sign * ub[0] < 0.0 && !fresh) sooner(&event, fmax(u[0], 0.0) / fabs(ub[0]), k, SLIP);
    } else if (st->status[k] == SLIP) {
      slip_events(st, k, sign, fresh, &event);
    } else {
      sooner(&event, leaves_cone(d, friction(p, k), r, rb, sign, fresh), k, SLIP);
    }
  }
  return event;
}

/* ---- one step ----------------------------------------------------------------------------------
 */

static double largest(const double *x, size_t n) {
  double most = 0.0;
  for (size_t i = 0; i < n; ++i) most = fmax(most, fabs(x[i]));
  return most;
}

typedef struct Step {
  double length, moved;           /* change of |tau|, and of the largest impulse */
  double last_length, last_moved; /* of the last step that had a length */
  double sign;
  Event event;
  int old_status; /* of the event's contact */
  bool landing;   /* tau is to be zero */
  bool loose;     /* do not insist that the event is hit */
  bool made;      /* any step has been made */
  bool shortened; /* it is only a part of the way to the event */
  int standing;   /* events in a row without any way between them */
} Step;

/* Newton's method from the predicted place to the path, along the tangent's normal or so that the
 * event stays where it is; *far: it does not get there, or somewhere else. */
static scree_Status correct(State *st, scree_SolveRun *run, const Step *step, bool *far,
                            bool *broken) {
  const scree_Problem *p = st->laws.W->problem;
  const size_t n = (size_t)p->nc * (size_t)p->d;
  Place *here = &st->here;
  *far = false;
  for (int k = 0;; ++k) {
    velocity_here(st, here->r);
    set_rows(st);
    ++run->factorisations;
    ++run->iterations;
    scree_Status status = scree_linear_laws_factor(&st->laws, broken);
    if (status || *broken) return status;
    scree_linear_laws_solve(&st->laws, NULL, st->q, st->next);
    const double e1 = here->tau > 0.0 ? st->e1 : 0.0;
    for (int c = 0; c < p->nc; ++c) /* the velocity that a change of tau adds, r being held */
      for (int i = c * p->d; i < (c + 1) * p->d; ++i)
        st->q[i] = st->d[i] + e1 * st->soft[c] * here->r[i];
    scree_linear_laws_solve(&st->laws, NULL, st->q, st->rb);
    velocity(st, st->rb, st->q, st->ub);
    double sum = 0.0, norm2 = 0.0, shift = 0.0;
    for (int c = 0; c < p->nc; ++c)
      for (int i = c * p->d; i < (c + 1) * p->d; ++i) {
        sum += st->w[c] * st->rb[i] * (st->next[i] - here->r[i]);
        norm2 += st->w[c] * st->rb[i] * st->rb[i];
      }
    if (!step->landing && norm2 > 0.0) shift = -sum / norm2;
    if (step->made && !step->landing && !step->loose && st->gate != NO_GATE &&
        k < CORRECTIONS / 2) {
      double slope;
      velocity_here(st, st->next);
      const double value = gate_value(st, st->next, st->u, &slope);
      const bool moving = st->gate == GATE_GAP || st->gate == GATE_SPEED;
      if (fabs(value) > NOISE * (moving ? st->speed : st->impulse)) {
        shift = -value / slope;
        if (!(fabs(shift) < 0.5 * fmax(step->length, step->last_length))) {
          *far = true;
          return SCREE_OK;
        }
      }
    }
    double change = 0.0;
    for (size_t i = 0; i < n; ++i) {
      const double r = st->next[i] + shift * st->rb[i];
      change = fmax(change, fabs(r - here->r[i]));
      here->r[i] = r;
    }
    here->tau += shift;
    const double first_limit = STRAY * step->last_moved + JUMP * st->impulse;
    if (step->made && k == 0 && change > first_limit) *far = true;
    const bool close = change < ACCURATE * step->moved || change < FINE * step->last_moved ||
                       change < NOISE * st->impulse;
    if (!step->made || (step->landing ? change < EXACT * st->impulse : close)) break;
    if (k + 1 == CORRECTIONS || !(change < 1e3 * (step->moved + st->impulse))) *far = true;
    if (step->landing && k + 1 == CORRECTIONS && change < NOISE * st->impulse) *far = false;
    if (k + 1 == CORRECTIONS || *far) break;
  }
  velocity_here(st, here->r);
  return SCREE_OK;
}

/* Does a contact violate its status here by more than noise? */
static bool violated(const State *st) {
  const scree_Problem *p = st->laws.W->problem;
  const int d = p->d;
  const double slow = -VIOLATED * st->speed, weak = -VIOLATED * st->impulse;
  for (int k = 0; k < p->nc; ++k) {
    const double *r = st->here.r + k * d, *u = st->u + k * d, mu = friction(p, k);
    double t[2];
    slip_direction(st, d, k, st->here.r, st->u, t);
    const double speed = -along(d, t, u);
    if (st->status[k] == OPEN && u[0] < slow) return true;
    if (st->status[k] == SLIP && (r[0] < weak || (mu > 0.0 && speed < slow))) return true;
    if (st->status[k] == STICK && mu * r[0] - tangent_norm(d, r) < weak) return true;
  }
  return false;
}

/* Measure impulses and keep them if they are the best so far. */
static void keep_if_best(State *st, scree_SolveRun *run, const double *r, double *u) {
  const scree_Problem *p = st->laws.W->problem;
  scree_operator_apply(st->laws.W, r, p->q, st->laws.y, u);
  scree_solve_run_stop(run, r, u, INFINITY);
  if (!(run->value < st->best_error)) return;
  st->best_error = run->value;
  memcpy(st->best, r, (size_t)p->nc * (size_t)p->d * sizeof *r);
}

/* The same for the impulses here, projected on their cones. */
static void measure(State *st, scree_SolveRun *run, double *r, double *u) {
  const scree_Problem *p = st->laws.W->problem;
  for (int k = 0; k < p->nc; ++k) {
    const scree_Set set = scree_problem_set(p, k);
    scree_set_project(&set, p->d, st->here.r + k * p->d, r + k * p->d);
  }
  keep_if_best(st, run, r, u);
}

/* Put the place a step ahead of the kept one. */
static void advance(State *st, Step *step) {
  const size_t n = (size_t)st->laws.W->problem->nc * (size_t)st->laws.W->problem->d;
  for (size_t i = 0; i < n; ++i) st->here.r[i] = st->kept.r[i] + step->length * st->dir[i];
  st->here.tau = step->landing ? 0.0 : st->kept.tau + step->length * step->sign;
}

/* Choose the next step from here, make it, and let its event happen. */
static bool predict(State *st, Step *step) {
  const scree_Problem *p = st->laws.W->problem;
  const size_t n = (size_t)p->nc * (size_t)p->d;
  const double tau = st->here.tau, slope = largest(st->rb, n);
  step->sign = orientation(st);
  const double end = step->sign * tau < 0.0 ? fabs(tau) : INFINITY;
  double most = end;
  if (step->shortened && slope > 0.0)
    most = fmin(most, fmax(LONGER * step->moved, 1e-9 * st->impulse) / slope);
  step->event = next_event(st, step->sign, most);
  if (isinf(step->event.at)) return false; /* a ray */
  step->landing = step->event.contact < 0 && step->event.at == end;
  step->length = step->event.at;
  step->moved = step->length * slope;
  if (step->length > 0.0) {
    step->last_length = step->length;
    step->last_moved = step->moved;
    step->standing = 0;
  } else {
    ++step->standing;
  }
  memcpy(st->kept.r, st->here.r, n * sizeof *st->kept.r);
  st->kept.tau = tau;
  for (size_t i = 0; i < n; ++i) st->dir[i] = step->sign * st->rb[i];
  advance(st, step);
  st->impulse = fmax(st->impulse, largest(st->here.r, n));
  st->gate = NO_GATE;
  step->loose = step->standing > STANDING;
  step->made = true;
  const int k = step->event.contact;
  if (k < 0) return true;
  step->old_status = st->status[k];
  st->status[k] = (uint8_t)step->event.status;
  st->gate_contact = k;
  st->gate = step->event.status == OPEN    ? GATE_GAP
             : step->event.status == STICK ? GATE_CONE
             : step->old_status == OPEN    ? GATE_NORMAL
                                           : GATE_SPEED;
  if (step->event.status == OPEN)
    for (int i = k * p->d; i < (k + 1) * p->d; ++i) st->here.r[i] = 0.0;
  return true;
}

/* Back to where the last step began. */
static void go_back(State *st) {
  const scree_Problem *p = st->laws.W->problem;
  memcpy(st->here.r, st->kept.r, (size_t)p->nc * (size_t)p->d * sizeof *st->here.r);
  st->here.tau = st->kept.tau;
}

/* Undo an event and step less far. */
static void shorten(State *st, Step *step) {
  if (step->event.contact >= 0) st->status[step->event.contact] = (uint8_t)step->old_status;
  step->event.contact = -1;
  step->length *= SHORTER;
  step->moved *= SHORTER;
  step->landing = false;
  st->gate = NO_GATE;
  advance(st, step);
}

/* Follow the path from tau = 1 to 0. *arrived: it got there. */
static scree_Status follow(State *st, scree_SolveRun *run, int most, double *r, double *u,
                           bool *arrived) {
  Step step = {.sign = -1.0, .event = {0.0, -1, 0}};
  const int before = run->factorisations;
  double measured = 1.0;
  int shorter = 0;
  *arrived = false;
  while (!scree_solve_run_exhausted(run) && run->factorisations - before < most) {
    bool far, broken = false;
    scree_Status status = correct(st, run, &step, &far, &broken);
    if (status || broken) return status;
    const bool wrong = far || (step.landing && violated(st));
    const bool passed = !step.landing && step.made && st->kept.tau > 0.0 && st->here.tau <= 0.0;
    if (wrong && step.landing && fabs(st->kept.tau) < NEARLY) { /* the rest is the next path's */
      go_back(st);
      *arrived = true;
      return SCREE_OK;
    }
    if ((wrong || passed) && step.length > 0.0 && shorter++ < SHORTER_MOST) {
      shorten(st, &step);
      continue;
    }
    if (far && step.length == 0.0 && !step.loose) { /* cannot be shorter: as it comes */
      go_back(st);
      step.landing = false;
      step.loose = true;
      continue;
    }
    if ((step.landing && !wrong) || (fabs(st->here.tau) < NOTHING && !violated(st))) {
      *arrived = true;
      return SCREE_OK;
    }
    if (passed) {
      st->here.tau = step.length = step.moved = 0.0;
      step.landing = step.loose = true;
      continue;
    }
    step.shortened = shorter > 0 && step.length > 0.0;
    shorter = 0;
    if (fabs(st->here.tau) < MEASURED * measured) {
      measured = fabs(st->here.tau);
      measure(st, run, r, u);
      if (run->met || run->exhausted) return SCREE_OK;
    }
    if (fabs(st->here.tau) > LOST || step.standing > STANDING_MOST || !predict(st, &step)) break;
  }
  return SCREE_OK;
}

/* ---- the solver --------------------------------------------------------------------------------
 */

/* All contacts open, each at its own time: no two events coincide. Another attempt, another d. */
static void start(State *st, int attempt) {
  const scree_Problem *p = st->laws.W->problem;
  const int d = p->d;
  double approach = 0.0, speed = 0.0, w = 0.0;
  for (int k = 0; k < p->nc; ++k) {
    approach = fmax(approach, -p->q[k * d]);
    for (int i = 0; i < d; ++i) speed = fmax(speed, fabs(p->q[k * d + i]));
    w += st->w[k] / p->nc;
  }
  for (int k = 0; k < p->nc; ++k) {
    st->status[k] = OPEN;
    for (int i = 0; i < d; ++i) {
      const double part = random_part((size_t)(attempt * p->nc + k) * 4 + (size_t)i);
      st->here.r[k * d + i] = 0.0;
      st->base[k * d + i] = p->q[k * d + i];
      st->d[k * d + i] = approach * (i == 0 ? 1.01 + part : SIDEWAYS * (2.0 * part - 1.0));
    }
  }
  st->here.tau = 1.0;
  st->speed = speed;
  st->impulse = w > 0.0 ? speed / w : 0.0;
  st->e0 = st->options.compliance;
  st->e1 = st->options.first;
  st->gate = NO_GATE;
}

/* Take the impulses here as the new centre. What the compliance about the old one adds to the
 * velocities is what the next path has to take away. */
static void centre_here(State *st) {
  const scree_Problem *p = st->laws.W->problem;
  const double e = compliance(st);
  for (int k = 0; k < p->nc; ++k)
    for (int i = k * p->d; i < (k + 1) * p->d; ++i) {
      st->d[i] = e * st->soft[k] * st->here.r[i] + st->base[i] + st->here.tau * st->d[i] - p->q[i];
      st->centre[i] = st->here.r[i];
    }
  memcpy(st->status_there, st->status, (size_t)p->nc);
}

/* To the start of the path that leads from the centre, with compliance e about it. */
static void start_at_centre(State *st, double e) {
  const scree_Problem *p = st->laws.W->problem;
  for (int k = 0; k < p->nc; ++k)
    for (int i = k * p->d; i < (k + 1) * p->d; ++i) {
      st->base[i] = p->q[i] - e * st->soft[k] * st->centre[i];
      st->here.r[i] = st->centre[i];
    }
  memcpy(st->status, st->status_there, (size_t)p->nc);
  st->here.tau = 1.0;
  st->e0 = e;
  st->e1 = 0.0;
  st->gate = NO_GATE;
}

/* Proximal steps: less compliance after a path that arrives, more after one that does not. */
static scree_Status stiffen(State *st, scree_SolveRun *run, double *r, double *u) {
  const int nc = run->W->problem->nc, end = run->factorisations + PROXIMAL * nc + FEW;
  double e = st->e0, lowest = run->value, down = DOWN;
  centre_here(st);
  for (int idle = 0; idle < IDLE_STAGES && run->factorisations < end; ++idle) {
    bool arrived;
    const int before = run->factorisations;
    e = fmax(down * e, st->options.least);
    start_at_centre(st, e);
    scree_Status status = follow(st, run, PROXIMAL_ONE * nc + FEW, r, u, &arrived);
    if (status || run->met || run->exhausted) return status;
    if (arrived) measure(st, run, r, u);
    scree_report(run->log, SCREE_LOG_DETAIL,
                 "lemke: compliance %.0e, %d factorisations, error %.2e%s", e,
                 run->factorisations - before, run->value, arrived ? "" : ", not arrived");
    if (run->met || run->exhausted) return SCREE_OK;
    if (arrived) {
      centre_here(st);
    } else {
      down = AFTER_FAILURE;
      e = fmin(UP * e, 1.0);
    }
    if (arrived && run->value < 0.5 * lowest) {
      idle = 0;
      lowest = run->value;
    }
  }
  return SCREE_OK;
}

static scree_Status solve(void *memory, scree_SolveRun *run, double *r, double *u) {
  State *st = memory;
  const scree_Problem *p = run->W->problem;
  const int one = (int)fmin((double)st->options.events * p->nc + FEW, EVENTS_MOST);
  const int most = run->factorisations + one + (ATTEMPTS - 1) * FEW;
  bool arrived = false;
  scree_Status status = SCREE_OK;
  st->best_error = INFINITY;
  keep_if_best(st, run, r, u); /* the path does not start there, but it may be good enough */
  for (int k = 0; k < ATTEMPTS && !arrived && run->factorisations < most; ++k) {
    if (run->met || run->exhausted) break;
    start(st, k);
    arrived = !(largest(st->d, (size_t)p->nc * (size_t)p->d) > 0.0); /* nothing approaches */
    if (!arrived) status = follow(st, run, one, r, u, &arrived);
    if (status) return status;
    if (!run->met && !run->exhausted) measure(st, run, r, u);
    scree_report(run->log, SCREE_LOG_DETAIL,
                 "lemke: path %s at tau %.1e, %d factorisations so far, error %.2e",
                 arrived ? "ends" : "is left", st->here.tau, run->factorisations, run->value);
  }
  if (arrived && !run->met && !run->exhausted) status = stiffen(st, run, r, u);
  if (!status && !run->met) {
    memcpy(r, st->best, (size_t)p->nc * (size_t)p->d * sizeof *r);
    scree_operator_apply(run->W, r, p->q, st->laws.y, u);
    run->value = st->best_error;
  }
  return status;
}

static const scree_Option options[] = {
    {"compliance", SCREE_OPTION_REAL, offsetof(Options, compliance), 1e-4, 1e-12, 1, false, NULL,
     "that makes solutions single, at the end of the first path, relative to W"},
    {"least", SCREE_OPTION_REAL, offsetof(Options, least), 1e-9, 1e-14, 1, false, NULL,
     "least compliance of the proximal steps, relative to W"},
    {"first", SCREE_OPTION_REAL, offsetof(Options, first), 0.1, 0, 1e3, false, NULL,
     "compliance at the start of the first path, relative to W"},
    {"events", SCREE_OPTION_INT, offsetof(Options, events), 20, 1, 100000, false, NULL,
     "factorisations of the first path for each contact, at most"},
};

const scree_SolverClass scree_solver_lemke = {
    .name = "lemke",
    .summary = "the path from no contact to a solution, status by status; where all else is stuck",
    .reference = "this library; C. E. Lemke, Management Science 11 (1965)",
    .capabilities =
        SCREE_CAN_2D | SCREE_CAN_3D | SCREE_CAN_COULOMB | SCREE_CAN_ASSEMBLED | SCREE_CAN_BODIES,
    .sets = SCREE_SETS_CONES,
    .max_iterations = 1000000,
    .options = {options, sizeof options / sizeof *options, sizeof(Options)},
    .create = create,
    .solve = solve,
};

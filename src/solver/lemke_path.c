/* Following the path of lemke, from event to event (see lemke_path.h). */
#include "solver/lemke_path.h"

#include "core/log.h"
#include "core/mix.h"

#include <math.h>
#include <string.h>

/* Numbers chosen by measurement, as in policy.c: beside each value the work with another value over
 * the work with this one, for `lemke` alone to 1e-8 within 0.2 s of counted work, on the 25
 * smallest problems, of which 20 were solved. */
static const struct Numbers {
  double opening;  /* normal part of d, over the fastest approach: by how much it opens the contact
                      that closes last */
  double sideways; /* tangential part of d, over the normal part: contacts slip when they close */
  int corrections; /* of a step, at most */
  int standing, standing_most; /* events at one point: after `standing` they need not be hit
                                  precisely; after `standing_most` the path is abandoned */
  int shorter_most;            /* times that a step is made shorter */
  double shorter;              /* factor of its length */
  double longer;               /* times the last step, after one that had to be short */
  double accurate;             /* a correction this small relative to the step is the last one */
  double fine;                 /* the same against the last step that had a length */
  double noise;                /* correction at round-off level, relative to impulses */
  double exact;                /* the same at the end of the path */
  double stray;                /* first correction, in steps, that has jumped to another branch */
  double jump;                 /* first correction that is allowed, relative to impulses */
  double hold;                 /* share of a step by which a correction may move an event */
  double least_step;           /* relative to impulses */
  double zero;                 /* a tau that counts as zero */
  double nearly;               /* a tau that is accepted where zero cannot be reached */
  double lost;                 /* a tau from which the path does not return */
  double measured;             /* fall of tau between two measurements */
} number = {
    .opening = 0.01,     /* 0.005: 1.00; 0.02: 0.95 */
    .sideways = 0.5,     /* 0.25: 0.99; 1: 1.02 */
    .corrections = 6,    /* 3: 1.01 (+1 solved); 12: 1.05 */
    .standing = 4,       /* 2: 1.00; 8: 1.00 */
    .standing_most = 30, /* 15: 1.00; 60: 1.00 */
    .shorter_most = 8,   /* 4: 1.00; 16: 1.00 */
    .shorter = 0.25,     /* 0.125: 1.04; 0.5: 1.04 */
    .longer = 4.0,       /* 2: 1.02; 8: 1.01 */
    .accurate = 0.1,     /* 0.05: 1.03; 0.2: 1.02 */
    .fine = 1e-3,        /* 0.0001: 1.00; 0.01: 1.02 */
    .noise = 1e-8,       /* 1e-9: 1.01; 1e-7: 1.00 */
    .exact = 1e-13,      /* 1e-14: 1.00; 1e-12: 1.01 */
    .stray = 3.0,        /* 1.5: 1.00; 6: 1.00 */
    .jump = 0.01,        /* 0.005: 1.00; 0.02: 1.00 */
    .hold = 0.5,         /* 0.25: 1.03; 1: 1.01 */
    .least_step = 1e-9,  /* 1e-10: 1.00; 1e-8: 1.00 */
    .zero = 1e-12,       /* no change from 1e-13 to 1e-11 */
    .nearly = 1e-6,      /* 1e-7: 1.00; 1e-5: 1.00 */
    .lost = 1e4,         /* 1000: 1.00; 100000: 1.00 */
    .measured = 0.5,     /* no change from 0.25 to 1 */
};

/* A pseudo-random number between 0 and 1 for each index. */
static double random_part(size_t k) {
  return (double)(scree_mix((uint64_t)k) >> 11) * 0x1p-53;
}

scree_Status scree_lemke_path_create(const scree_SolveRun *run, scree_LemkePath *path) {
  const scree_Problem *p = run->W->problem;
  scree_Arena *work = &run->cache->work;
  double **vectors[] = {&path->base, &path->d,      &path->q,     &path->u,
                        &path->rb,   &path->ub,     &path->next,  &path->best,
                        &path->dir,  &path->here.r, &path->kept.r};
  path->n = run->W->rows;
  path->status = SCREE_TAKE(work, uint8_t, run->W->constraints);
  path->soft = SCREE_TAKE(work, double, run->W->constraints);
  bool enough = path->status && path->soft;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
    *vectors[k] = SCREE_TAKE(work, double, path->n);
    enough = enough && *vectors[k];
  }
  if (!enough) return scree_fail_memory(run->log, "lemke");
  const scree_Status status = scree_linear_laws_create(run, 0, 0, NULL, &path->laws);
  if (status) return status;
  path->w = path->laws.w;
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    path->soft[k] = path->w[k] * (0.5 + random_part(4 * (size_t)k + 3));
    path->joints += scree_problem_set(p, k).kind == SCREE_SET_SPACE;
  }
  return SCREE_OK;
}

/* ---- the laws on one piece of the path --------------------------------------------------------
 */

double scree_lemke_compliance(const scree_LemkePath *path) {
  return path->e0 + fmax(path->here.tau, 0.0) * path->e1;
}

/* out = W r + q + e D r */
static void velocity(scree_LemkePath *path, const double *r, const double *q, double *out) {
  const double e = scree_lemke_compliance(path);
  scree_operator_apply(path->laws.W, r, q, path->laws.y, out);
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    for (size_t i = rows.at; i < rows.at + (size_t)rows.d; ++i) out[i] += e * path->soft[k] * r[i];
  }
}

/* q and, for the impulses r, the velocities at the tau of the point. */
static void velocity_here(scree_LemkePath *path, const double *r) {
  for (size_t i = 0; i < path->n; ++i) path->q[i] = path->base[i] + path->here.tau * path->d[i];
  velocity(path, r, path->q, path->u);
}

static void set_rows(scree_LemkePath *path) {
  const double e = scree_lemke_compliance(path);
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    const double *r = path->here.r + rows.at, *u = path->u + rows.at;
    double *Lu = path->laws.Lu + rows.mat, *Lr = path->laws.Lr + rows.mat;
    const double mu = scree_lemke_friction(path, k);
    scree_Slip slip = {.normal = r[0]};
    if (path->status[k] == SCREE_ROWS_SLIP && mu > 0.0) {
      scree_slip_direction(rows.d, path->w[k], r, u, slip.t);
      slip.speed = scree_tangent_norm(rows.d, u);
    }
    scree_status_rows(rows.d, (scree_RowStatus)path->status[k], SCREE_COULOMB, mu, path->w[k],
                      &slip, e * path->soft[k], NULL, Lu, Lr, NULL);
  }
}

/* Whether tau falls (-1) or rises (+1) along the path. In the plane a row of slip along -1 changes
 * the sign of an assembled system's determinant; over bodies it has been divided out. */
static double orientation(const scree_LemkePath *path) {
  const scree_Problem *p = path->laws.W->problem;
  int sign = scree_factor_sign(path->laws.system->factor);
  for (int k = 0; p->kind != SCREE_BODIES && k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    double t[2];
    if (rows.d != 2 || path->status[k] != SCREE_ROWS_SLIP || !(scree_lemke_friction(path, k) > 0.0))
      continue;
    scree_slip_direction(2, path->w[k], path->here.r + rows.at, path->u + rows.at, t);
    if (t[0] < 0.0) sign = -sign;
  }
  return -sign;
}

/* Impulses and velocities of the joints at the current tau, with all contacts open. */
static scree_Status close_joints(scree_LemkePath *path, scree_SolveRun *run, bool *broken) {
  velocity_here(path, path->here.r);
  set_rows(path);
  ++run->factorisations;
  ++run->iterations;
  scree_Status status = scree_linear_laws_factor(&path->laws, broken);
  if (status || *broken) return status;
  status = scree_linear_laws_solve(&path->laws, NULL, path->q, path->here.r);
  velocity_here(path, path->here.r);
  return status;
}

/* ---- the first path ---------------------------------------------------------------------------
 */

/* d opens each contact at its own time, so that no two events coincide; another attempt, another d.
 * `u` are the velocities without contacts. */
static void choose_d(scree_LemkePath *path, int attempt, const double *u) {
  const scree_Problem *p = path->laws.W->problem;
  const int constraints = path->laws.W->constraints;
  double approach = 0.0, speed = 0.0, w = 0.0;
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    if (scree_problem_set(p, k).kind != SCREE_SET_SPACE) approach = fmax(approach, -u[rows.at]);
    for (int i = 0; i < rows.d; ++i) speed = fmax(speed, fabs(p->q[rows.at + (size_t)i]));
    w += path->w[k] / constraints;
  }
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    if (scree_problem_set(p, k).kind == SCREE_SET_SPACE) continue; /* d = 0 */
    for (int i = 0; i < rows.d; ++i) {
      const double part = random_part((size_t)(attempt * constraints + k) * 4 + (size_t)i);
      path->d[rows.at + (size_t)i] =
          approach * (i == 0 ? 1.0 + number.opening + part : number.sideways * (2.0 * part - 1.0));
    }
  }
  path->speed = speed;
  path->impulse = w > 0.0 ? speed / w : 0.0;
}

scree_Status scree_lemke_start(scree_LemkePath *path, scree_SolveRun *run, int attempt, double e0,
                               double e1, bool *broken) {
  const scree_Problem *p = run->W->problem;
  for (int k = 0; k < path->laws.W->constraints; ++k)
    path->status[k] =
        scree_problem_set(p, k).kind == SCREE_SET_SPACE ? SCREE_ROWS_STICK : SCREE_ROWS_OPEN;
  for (size_t i = 0; i < path->n; ++i) {
    path->base[i] = p->q[i];
    path->here.r[i] = path->d[i] = 0.0;
  }
  path->here.tau = 1.0;
  path->e0 = e0;
  path->e1 = e1;
  path->gate = SCREE_GATE_NONE;
  scree_Status status = SCREE_OK;
  if (path->joints > 0) status = close_joints(path, run, broken);
  if (!status && !*broken) choose_d(path, attempt, path->joints > 0 ? path->u : p->q);
  return status;
}

/* ---- corrections ------------------------------------------------------------------------------
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
  scree_LemkeEvent event;
  int old_status; /* of the event's contact */
  bool landing;   /* tau should become zero */
  bool loose;     /* the event need not be hit */
  bool made;      /* any step has been made */
  bool shortened; /* the step covers only a part of the distance to the event */
  int standing;   /* consecutive events at one point */
} Step;

/* Linearise at the current point: path->next, the solution at this tau, and the tangent (rb,
 * ub). */
static scree_Status linearise(scree_LemkePath *path, scree_SolveRun *run, bool *broken) {
  const double *r = path->here.r, e1 = path->here.tau > 0.0 ? path->e1 : 0.0;
  velocity_here(path, r);
  set_rows(path);
  ++run->factorisations;
  ++run->iterations;
  scree_Status status = scree_linear_laws_factor(&path->laws, broken);
  if (status || *broken) return status;
  status = scree_linear_laws_solve(&path->laws, NULL, path->q, path->next);
  if (status) return status;
  for (int k = 0; k < path->laws.W->constraints;
       ++k) { /* the velocity that a change of tau adds with r held fixed */
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    for (size_t i = rows.at; i < rows.at + (size_t)rows.d; ++i)
      path->q[i] = path->d[i] + e1 * path->soft[k] * r[i];
  }
  status = scree_linear_laws_solve(&path->laws, NULL, path->q, path->rb);
  velocity(path, path->rb, path->q, path->ub);
  return status;
}

/* The change of tau that makes the correction normal to the tangent. */
static double normal_shift(const scree_LemkePath *path) {
  double sum = 0.0, norm2 = 0.0;
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    for (size_t i = rows.at; i < rows.at + (size_t)rows.d; ++i) {
      sum += path->w[k] * path->rb[i] * (path->next[i] - path->here.r[i]);
      norm2 += path->w[k] * path->rb[i] * path->rb[i];
    }
  }
  return norm2 > 0.0 ? -sum / norm2 : 0.0;
}

/* The change of tau that keeps the entering quantity at zero, in place of *shift. False: it is too
 * large. */
static bool hold_event(scree_LemkePath *path, const Step *step, double *shift) {
  double slope;
  velocity_here(path, path->next);
  const double value = scree_lemke_gate(path, path->next, path->u, &slope);
  const bool moving = path->gate == SCREE_GATE_GAP || path->gate == SCREE_GATE_SPEED;
  if (!(fabs(value) > number.noise * (moving ? path->speed : path->impulse))) return true;
  *shift = -value / slope;
  return fabs(*shift) < number.hold * fmax(step->length, step->last_length);
}

/* Move the point to next + shift rb; returns the largest change of an impulse. */
static double apply_correction(scree_LemkePath *path, double shift) {
  double change = 0.0;
  for (size_t i = 0; i < path->n; ++i) {
    const double r = path->next[i] + shift * path->rb[i];
    change = fmax(change, fabs(r - path->here.r[i]));
    path->here.r[i] = r;
  }
  path->here.tau += shift;
  return change;
}

/* After correction k: is it the last one? *far: Newton's method has failed, or has jumped to
 * another branch. */
static bool is_corrected(const scree_LemkePath *path, const Step *step, int k, double change,
                         bool *far) {
  const bool last = k + 1 == number.corrections;
  const double first_limit = number.stray * step->last_moved + number.jump * path->impulse;
  if (!step->made) return true;
  if (k == 0 && change > first_limit) *far = true;
  const bool close = change < number.accurate * step->moved ||
                     change < number.fine * step->last_moved ||
                     change < number.noise * path->impulse;
  if (step->landing ? change < number.exact * path->impulse : close) return true;
  if (last || !isfinite(change)) *far = true;
  if (step->landing && last && change < number.noise * path->impulse) *far = false;
  return last || *far;
}

/* Newton's method from the predicted point to the path, normal to the tangent or so that the event
 * stays where it is. *far: it has failed, or has jumped to another branch. */
static scree_Status correct(scree_LemkePath *path, scree_SolveRun *run, const Step *step, bool *far,
                            bool *broken) {
  *far = false;
  for (int k = 0;; ++k) {
    scree_Status status = linearise(path, run, broken);
    if (status || *broken) return status;
    double shift = step->landing ? 0.0 : normal_shift(path);
    const bool hold = step->made && !step->landing && !step->loose &&
                      path->gate != SCREE_GATE_NONE && k < number.corrections / 2;
    if (hold && !hold_event(path, step, &shift)) {
      *far = true;
      return SCREE_OK;
    }
    if (is_corrected(path, step, k, apply_correction(path, shift), far)) break;
  }
  velocity_here(path, path->here.r);
  return SCREE_OK;
}

/* ---- measurements -----------------------------------------------------------------------------
 */

void scree_lemke_keep_if_best(scree_LemkePath *path, scree_SolveRun *run, const double *r,
                              double *u) {
  const scree_Problem *p = path->laws.W->problem;
  scree_operator_apply(path->laws.W, r, p->q, path->laws.y, u);
  scree_solve_run_stop(run, r, u, INFINITY);
  if (!(run->value < path->best_error)) return;
  path->best_error = run->value;
  memcpy(path->best, r, path->n * sizeof *r);
}

void scree_lemke_measure(scree_LemkePath *path, scree_SolveRun *run, double *r, double *u) {
  const scree_Problem *p = path->laws.W->problem;
  for (int k = 0; k < path->laws.W->constraints; ++k) {
    const scree_Set set = scree_problem_set(p, k);
    const scree_RowRange rows = scree_row_range(path->laws.W, k);
    scree_set_project(&set, rows.d, path->here.r + rows.at, r + rows.at);
  }
  scree_lemke_keep_if_best(path, run, r, u);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Move the point a step ahead of the kept one. */
static void advance(scree_LemkePath *path, Step *step) {
  for (size_t i = 0; i < path->n; ++i)
    path->here.r[i] = path->kept.r[i] + step->length * path->dir[i];
  path->here.tau = step->landing ? 0.0 : path->kept.tau + step->length * step->sign;
}

/* Apply the event: the contact's status changes, and a quantity enters. */
static void change_status(scree_LemkePath *path, Step *step) {
  const int k = step->event.contact;
  const scree_RowRange rows = scree_row_range(path->laws.W, k);
  step->old_status = path->status[k];
  path->status[k] = (uint8_t)step->event.status;
  path->gate_contact = k;
  path->gate = step->event.status == SCREE_ROWS_OPEN    ? SCREE_GATE_GAP
               : step->event.status == SCREE_ROWS_STICK ? SCREE_GATE_CONE
               : step->old_status == SCREE_ROWS_OPEN    ? SCREE_GATE_NORMAL
                                                        : SCREE_GATE_SPEED;
  for (int i = 0; i < rows.d && step->event.status == SCREE_ROWS_OPEN; ++i)
    path->here.r[rows.at + (size_t)i] = 0.0;
}

/* Choose the next step, make it, and apply its event. False: this piece of the path has no end, it
 * is a ray. */
static bool predict(scree_LemkePath *path, Step *step) {
  const double tau = path->here.tau, slope = largest(path->rb, path->n);
  step->sign = orientation(path);
  const double end = step->sign * tau < 0.0 ? fabs(tau) : INFINITY;
  double most = end;
  if (step->shortened && slope > 0.0)
    most = fmin(most, fmax(number.longer * step->moved, number.least_step * path->impulse) / slope);
  step->event = scree_lemke_next_event(path, step->sign, most);
  if (isinf(step->event.at)) return false;
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
  memcpy(path->kept.r, path->here.r, path->n * sizeof *path->kept.r);
  path->kept.tau = tau;
  for (size_t i = 0; i < path->n; ++i) path->dir[i] = step->sign * path->rb[i];
  advance(path, step);
  path->impulse = fmax(path->impulse, largest(path->here.r, path->n));
  path->gate = SCREE_GATE_NONE;
  step->loose = step->standing > number.standing;
  step->made = true;
  if (step->event.contact >= 0) change_status(path, step);
  return true;
}

/* Return to the start of the last step. */
static void go_back(scree_LemkePath *path) {
  memcpy(path->here.r, path->kept.r, path->n * sizeof *path->here.r);
  path->here.tau = path->kept.tau;
}

/* Undo an event and make a shorter step. */
static void shorten(scree_LemkePath *path, Step *step) {
  if (step->event.contact >= 0) path->status[step->event.contact] = (uint8_t)step->old_status;
  step->event.contact = -1;
  step->length *= number.shorter;
  step->moved *= number.shorter;
  step->landing = false;
  path->gate = SCREE_GATE_NONE;
  advance(path, step);
}

typedef enum Verdict {
  STEP_DONE,    /* the point is on the path */
  STEP_AGAIN,   /* the step was changed: correct again */
  STEP_ARRIVED, /* tau is zero */
} Verdict;

/* Decide how to continue after a corrected step; *shorter counts how often it was shortened. */
static Verdict judge(scree_LemkePath *path, Step *step, bool far, int *shorter) {
  const bool wrong = far || (step->landing && scree_lemke_violated(path));
  const bool passed = !step->landing && step->made && path->kept.tau > 0.0 && path->here.tau <= 0.0;
  if (wrong && step->landing && fabs(path->kept.tau) < number.nearly) { /* left to the next path */
    go_back(path);
    return STEP_ARRIVED;
  }
  if ((wrong || passed) && step->length > 0.0 && (*shorter)++ < number.shorter_most) {
    shorten(path, step);
    return STEP_AGAIN;
  }
  if (far && step->length == 0.0 && !step->loose) { /* cannot be shorter: release the event */
    go_back(path);
    step->landing = false;
    step->loose = true;
    return STEP_AGAIN;
  }
  if ((step->landing && !wrong) ||
      (fabs(path->here.tau) < number.zero && !scree_lemke_violated(path)))
    return STEP_ARRIVED;
  if (passed) {
    path->here.tau = step->length = step->moved = 0.0;
    step->landing = step->loose = true;
    return STEP_AGAIN;
  }
  step->shortened = *shorter > 0 && step->length > 0.0;
  *shorter = 0;
  return STEP_DONE;
}

scree_Status scree_lemke_follow(scree_LemkePath *path, scree_SolveRun *run, int most, double *r,
                                double *u, bool *arrived) {
  Step step = {.sign = -1.0, .event = {0.0, -1, 0}};
  const int before = run->factorisations;
  double measured = 1.0;
  int shorter = 0;
  *arrived = false;
  while (!scree_solve_run_exhausted(run) && run->factorisations - before < most) {
    bool far, broken = false;
    scree_Status status = correct(path, run, &step, &far, &broken);
    if (status || broken) return status;
    const Verdict verdict = judge(path, &step, far, &shorter);
    *arrived = verdict == STEP_ARRIVED;
    if (*arrived) return SCREE_OK;
    if (verdict == STEP_AGAIN) continue;
    if (fabs(path->here.tau) < number.measured * measured) {
      measured = fabs(path->here.tau);
      scree_lemke_measure(path, run, r, u);
      if (run->met || run->exhausted) return SCREE_OK;
    }
    if (fabs(path->here.tau) > number.lost || step.standing > number.standing_most ||
        !predict(path, &step))
      break;
  }
  return SCREE_OK;
}

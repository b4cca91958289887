/* The path of lemke.c: the current point, the end of the current piece, and how it is followed.
 *
 * On a piece of the path every constraint has a status, and the laws of these statuses
 * (status_rows.h) with the velocity tau d added to q and a compliance e D added to W have the
 * solution (r, tau). Statuses of a contact, where they end, and the quantity that enters (it is
 * zero there and grows afterwards):
 *     open    u_n = 0    -> slip   r_n
 *     slip    r_n = 0    -> open   u_n
 *             |u_T| = 0  -> stick  mu r_n - |r_T|
 *     stick   |r_T| = mu r_n  -> slip  |u_T|
 * Joints stick and have no events. In the plane pieces are straight; in space they bend, and are
 * followed by steps along the tangent and corrections by Newton's method. */
#ifndef SCREE_SOLVER_LEMKE_PATH_H
#define SCREE_SOLVER_LEMKE_PATH_H

#include "solver/linear_laws.h"
#include "solver/status_rows.h"

/* The quantity that has entered with the last event. */
typedef enum scree_LemkeGate {
  SCREE_GATE_NONE,
  SCREE_GATE_GAP,    /* u_n */
  SCREE_GATE_NORMAL, /* r_n */
  SCREE_GATE_SPEED,  /* |u_T| */
  SCREE_GATE_CONE    /* mu r_n - |r_T| */
} scree_LemkeGate;

typedef struct scree_LemkePlace { /* on the path */
  double *r;                      /* (n) */
  double tau;
} scree_LemkePlace;

typedef struct scree_LemkePath {
  scree_LinearLaws laws;
  size_t n;        /* components of r */
  int joints;      /* constraints that are joints */
  uint8_t *status; /* (constraints) scree_RowStatus */
  const double *w; /* (constraints) of the laws */
  double *soft;    /* (constraints) D: w times a factor of each contact, so that no two are equal */
  double *base;    /* (n) q of the stage */
  double *d;       /* (n) direction multiplied by tau */
  double *q, *u;   /* (n) base + tau d; velocities here, with compliance */
  double *rb, *ub; /* (n) tangent: dr/dtau, du/dtau */
  double *next;    /* (n) */
  double *dir;     /* (n) direction of the last step */
  double *best;    /* (n) best impulses that were measured, with the error best_error */
  scree_LemkePlace here, kept; /* current point, and point before the last step */
  double e0, e1;               /* compliance of the stage: e0 + tau e1 */
  double impulse, speed;       /* scales */
  double best_error;
  scree_LemkeGate gate;
  int gate_contact;
} scree_LemkePath;

/* The end of a piece of the path. */
typedef struct scree_LemkeEvent {
  double at;   /* change of |tau| */
  int contact; /* or -1: a step without an event */
  int status;  /* new status of the contact */
} scree_LemkeEvent;

/* ---- lemke_event.c ---- */

double scree_lemke_friction(const scree_LemkePath *path, int k);

/* The quantity that has entered with the last event at (r, u), and its slope along the tangent. */
double scree_lemke_gate(const scree_LemkePath *path, const double *r, const double *u,
                        double *slope);

/* Step at which a sticking contact leaves its cone along r + sign s x, s > 0: the smallest root of
 * |r_T + s x_T|^2 = mu^2 (r_n + s x_n)^2. `inside`: it is on the cone and has just entered. */
double scree_lemke_leaves_cone(int d, double mu, const double *r, const double *x, double sign,
                               bool inside);

/* The first event along the tangent from the current point, tau moving by `sign`, at most `most`
 * away. */
scree_LemkeEvent scree_lemke_next_event(const scree_LemkePath *path, double sign, double most);

/* Whether a constraint violates its status by more than round-off. */
bool scree_lemke_violated(const scree_LemkePath *path);

/* ---- lemke_path.c ---- */

/* Take vectors from the work memory of the run; `path` must be zeroed. */
scree_Status scree_lemke_path_create(const scree_SolveRun *run, scree_LemkePath *path);

/* Current compliance, relative to D. */
double scree_lemke_compliance(const scree_LemkePath *path);

/* Go to the start of a first path with compliance e0 + tau e1: all contacts are open, joints hold.
 * Each attempt has another d. *broken: the joints have no solution. */
scree_Status scree_lemke_start(scree_LemkePath *path, scree_SolveRun *run, int attempt, double e0,
                               double e1, bool *broken);

/* Follow the path from tau = 1 to 0 with at most `most` factorisations. *arrived: tau = 0 was
 * reached. r and u are scratch for measurements. */
scree_Status scree_lemke_follow(scree_LemkePath *path, scree_SolveRun *run, int most, double *r,
                                double *u, bool *arrived);

/* Measure impulses and keep them if they are the best so far. */
void scree_lemke_keep_if_best(scree_LemkePath *path, scree_SolveRun *run, const double *r,
                              double *u);

/* The same for the current impulses, projected on their sets. */
void scree_lemke_measure(scree_LemkePath *path, scree_SolveRun *run, double *r, double *u);

#endif

/* The decisions of `auto` (see policy.h). */
#include "solver/policy.h"

#include <assert.h>
#include <math.h>

/* Numbers chosen by measurement. Those of all solvers that factorise were measured on 2026-11-18 in
 * the same way, by counted work, which does not depend on the machine: each number halved and
 * doubled (a tenth and ten times where it is a tolerance) on 59 problems, 15 of the problem files
 * and 44 time steps of scenes like those of bench/family.h with other seeds, sizes and friction.
 * The comment at each value is the geometric mean of the work with another value over the work with
 * this one, here for `auto` to 1e-4 and to 1e-8; all 59 were solved each time. When any number
 * changes, some problems get faster or slower by chance: means from 0.97 to 1.03 are not
 * significant. A number that had no effect, and was not a limit, was removed. */
static const struct Numbers {
  double first_least, first_share; /* sweeps before the price of a factorisation is computed, at
                                      least: a number, and between balls a part of the most; */
  /* at most, if their rate predicts the tolerance: about the price of the analysis itself. In the
   * plane and in space, between balls, where sweeps are cheaper, and otherwise. */
  double first_plane, first_space, first_plane_balls, first_space_balls;
  double slower;        /* sweeps of the associated law with friction take this many times longer */
  double later_least;   /* sweeps of a later stage, at least; */
  double later_share;   /* and part of the sweeps so far: their rate is not seen in fewer */
  double newton_price;  /* factorisations that newton is expected to need */
  double newton_sweeps; /* times the first sweeps: from that price on sweeps precede newton */
  double good_start;    /* error of a warm start below which no restart from zero is tried */
  double ipm_price;     /* factorisations that sweeps before ipm may cost: a third of what ipm
                           needs, since rates of sweeps fall; */
  double ipm_price_momentum; /* half more with momentum, whose rate does not fall. Not for the
                                associated law with friction, whose sweeps are slow */
  double ipm_room;           /* factorisations of work left below which ipm is not begun */
  double near, near_ipm;     /* times the tolerance; then they may cost this many times more */
  double stuck;              /* ratio of errors after the first ipm above which it has failed */
  int path_before;           /* contacts below which the path is as short as other starts of ipm */
  double path_price;         /* factorisations of the path for each contact */
  double path_seconds;       /* counted seconds that the path may take without a time limit */
  double path_warm;      /* factorisations that it may take after a warm start: a time step that is
                            not solved can be halved, which is cheaper */
  double implicit_below; /* tolerance: sweeps with momentum reach larger ones */
  double implicit_first; /* factorisations of implicit in the first round; */
  double implicit_seconds; /* and counted seconds, at most; twice as much in each further round */
  int pivot_from;          /* contacts from which pivot comes before implicit */
  double pivot_seconds;    /* counted, of pivot in the first round; likewise */
  double finish_room;      /* factorisations of work left below which pivot is not begun near the
                              solution, */
  int finish_most;         /* and factorisations that it may take there */
  double last_price;       /* factorisations that the last sweeps may cost */
  double least_room;       /* sweeps of work left below which no analysis is made; nor if that is
                              certainly less than newton needs */
  int recover_from;     /* contacts from which bodies are searched for: smaller problems have small
                           systems */
  double recover_above; /* tolerance: B B^T and W differ by rounding */
} number = {
    .first_least = 4,         /* 2: 1.02, 0.97; 8: 0.96, 1.00 */
    .first_share = 0.06,      /* examples/drum.yaml to 0.6 s: 0: 1.09; 0.02: 1.09; 0.12: 1.00 */
    .first_plane = 150,       /* 75: 1.00, 1.03; 300: 0.96, 1.02 */
    .first_space = 35,        /* 17.5: 0.99, 1.07; 70: 0.98, 0.99 */
    .first_plane_balls = 800, /* 400: 1.01, 1.08; 1600: 1.00, 1.00 */
    .first_space_balls = 400, /* 200: 1.03, 0.99; 800: 0.99, 1.00 */
    .slower = 4,              /* the ratio of the prices of these sweeps (price.c) */
    .later_least = 8,         /* 4: 1.03, 0.99; 16: 1.02, 0.97 */
    .later_share = 0.25,      /* spheres-500: 0: 1.35, 1.12; 0.1: 1.00, 1.12 */
    .newton_price = 4,        /* 2: 1.01, 0.98; 8: 0.96, 1.11 */
    .newton_sweeps = 3,       /* 1.5: 0.95, 1.10; 6: 1.01, 0.98 */
    .good_start = 1e-3,       /* time steps that are solved to more digits; not measured apart */
    .ipm_price = 8,           /* 4: 1.07, 1.00; 16: 1.00, 1.02 */
    /* disks-400-under-plate to 1e-4: 4.2 times the work with 9; wall-50: 1.09 with 14. Other
     * problem files and 64 solves of family.h with seeds 1000 and 2000: 1.00 from 8 to 16,
     * 24: 1.00, 1.01 */
    .ipm_price_momentum = 12,
    .ipm_room = 10,     /* a limit: `ipm` needs at least so many */
    .near = 2,          /* 1: 1.01, 1.00; 4: 1.00, 1.00 */
    .near_ipm = 3,      /* 1.5: 1.01, 1.00; 6: 1.00, 1.00 */
    .stuck = 0.5,       /* 0.25: 1.00, 1.00; 1: 1.00, 1.01 */
    .path_before = 200, /* 100: 1.00, 1.00; 400: 1.00, 1.02 */
    .path_price = 5,    /* `lemke` needs two to five; no change from 2.5 to 10 */
    .path_seconds = 20, /* a limit; no change from 10 to 40 */
    .path_warm = 500,   /* a limit; these problems start cold */
    .implicit_below = 1e-6,
    .implicit_first = 1500, /* packings of 640 to 2200 contacts were solved after 120 to 1470 */
    .implicit_seconds = 10, /* a limit */
    .pivot_from = 600,      /* to 1e-8, CPU seconds of implicit and pivot: 361 disks 0.3, 0.04; 245
                               spheres 0.3, more than 8; 856 disks failed, 0.4 */
    .pivot_seconds = 40,    /* a limit */
    .finish_room = 10,      /* a limit: 9 on average in a packing of disks, 18 in a pile of boxes */
    .finish_most = 50,   /* of 1087 such solves in a packing of disks 923 took less than 20, and the
                            others, to 10 digits, did not end with 500 */
    .last_price = 400,   /* a limit; no change from 200 to 800 */
    .least_room = 150,   /* these problems have no limit of the work */
    .recover_from = 100, /* no change from 50 to 200 */
    .recover_above = 1e-10, /* no change from 1e-11 to 1e-9 */
};

/* Starts of ipm, in the order of trying them. The first `IPM_ALWAYS` are always tried for Coulomb's
 * law, the others only as long as a time limit allows. */
static const struct IpmStart {
  double kappa, barrier, weight;
} ipm_start[] = {
    {5, 10, 1e5},  {8, 10, 1e5}, {3, 3, 1e5},   {5, 100, 1e5},  {12, 1, 1e5},
    {5, 10, 1e3},  {2, 30, 1e5}, {20, 10, 1e5}, {8, 1000, 1e4}, {3, 100, 1e6},
    {12, 30, 1e3}, {5, 1, 1e4},  {1, 10, 1e5},  {30, 100, 1e4},
};
enum { IPM_STARTS = sizeof ipm_start / sizeof *ipm_start, IPM_ALWAYS = 5 };

/* ---- reading the history -----------------------------------------------------------------------
 */

/* Number of stages of a phase since `from`. */
static int count_from(const scree_History *h, int from, scree_Phase phase) {
  int count = 0;
  for (int k = from; k < h->count; ++k) count += h->stage[k].action.phase == phase;
  return count;
}

static int count(const scree_History *h, scree_Phase phase) {
  return count_from(h, 0, phase);
}

/* The first stage of the round: each round tries all methods once, and ends with the last
 * sweeps. */
static int round_begin(const scree_History *h) {
  int begin = 0;
  for (int k = 0; k < h->count; ++k)
    if (h->stage[k].action.phase == SCREE_PHASE_LAST) begin = k + 1;
  return begin;
}

/* ---- actions ----------------------------------------------------------------------------------
 */

static scree_Action act(scree_ActionKind kind, scree_Phase phase) {
  return (scree_Action){.kind = kind, .phase = phase};
}

static scree_Action stop(void) {
  return act(SCREE_ACTION_STOP, SCREE_PHASE_END);
}

static scree_Action sweep(scree_Phase phase, double least, double most) {
  scree_Action action = act(SCREE_ACTION_SWEEP, phase);
  action.least = least;
  action.most = most;
  return action;
}

static scree_Action newton(const scree_Facts *f, scree_Phase phase) {
  scree_Action action = act(SCREE_ACTION_NEWTON, phase);
  action.patient = phase != SCREE_PHASE_NEWTON;
  action.brief = f->polish && f->pivots;
  return action;
}

static scree_Action lemke(const scree_History *h) {
  scree_Action action = act(SCREE_ACTION_LEMKE, SCREE_PHASE_PATH);
  action.start = count(h, SCREE_PHASE_PATH);
  return action;
}

/* ---- decisions --------------------------------------------------------------------------------
 */

/* Number of sweeps that may be spent before the price of a factorisation is known. */
static double first_most(const scree_Facts *f) {
  const double most = f->d == 2 ? (f->balls ? number.first_plane_balls : number.first_plane)
                                : (f->balls ? number.first_space_balls : number.first_space);
  return f->slow_sweeps ? most / number.slower : most;
}

static bool is_timed(const scree_Facts *f) {
  return f->time_left < INFINITY && !f->warm;
}

static scree_Action last_sweeps(const scree_Facts *f, const scree_History *h) {
  const double price = f->factorises ? f->price : INFINITY;
  const double longer = ldexp(number.last_price, count(h, SCREE_PHASE_LAST));
  return sweep(SCREE_PHASE_LAST, number.later_least, longer * price);
}

/* The next start of ipm; sweeps if it cannot, or the work that is left does not suffice. */
static scree_Action ipm(const scree_Facts *f, const scree_History *h) {
  if (f->no_ipm) return last_sweeps(f, h);
  if (!(f->work_left > number.ipm_room * f->factor_seconds))
    return sweep(SCREE_PHASE_REST, INFINITY, INFINITY);
  const struct IpmStart *start = &ipm_start[count(h, SCREE_PHASE_IPM) % IPM_STARTS];
  scree_Action action = act(SCREE_ACTION_IPM, SCREE_PHASE_IPM);
  action.kappa = start->kappa;
  action.barrier = start->barrier;
  action.weight = start->weight;
  return action;
}

static scree_Action after_first(const scree_Facts *f, const scree_History *h) {
  const double room =
      fmax(number.least_room * f->sweep_seconds, number.newton_price * f->factor_least);
  if (count(h, SCREE_PHASE_FIRST) > 0 && !(f->work_left > room))
    return sweep(SCREE_PHASE_REST, INFINITY, INFINITY);
  if (f->assembled && count(h, SCREE_PHASE_RECOVER) == 0 && f->contacts >= number.recover_from &&
      f->tolerance >= number.recover_above)
    return act(SCREE_ACTION_RECOVER, SCREE_PHASE_RECOVER);
  return f->factorises ? act(SCREE_ACTION_ANALYSE, SCREE_PHASE_ANALYSE) : last_sweeps(f, h);
}

/* Whether the work that is left does not pay for newton. */
static bool is_short_of_work(const scree_Facts *f) {
  return !(f->work_left > number.newton_price * f->factor_seconds);
}

/* If a factorisation is cheap, the first sweeps have already cost as much as newton. */
static scree_Action approach(const scree_Facts *f, const scree_History *h) {
  const double most = number.newton_price * f->price;
  if (f->balls && is_short_of_work(f)) return sweep(SCREE_PHASE_REST, INFINITY, INFINITY);
  const double so_far = h->stage[0].record.iterations;
  const double least = fmax(number.later_least, number.later_share * so_far);
  if (f->balls || most > number.newton_sweeps * first_most(f))
    return sweep(SCREE_PHASE_APPROACH, least, most);
  return newton(f, SCREE_PHASE_NEWTON);
}

/* pivot from the impulses of newton, near the solution. */
static scree_Action finish(const scree_Facts *f) {
  if (!f->pivots || !(f->work_left > number.finish_room * f->factor_seconds)) return stop();
  scree_Action action = act(SCREE_ACTION_PIVOT, SCREE_PHASE_FINISH);
  action.factorisations = number.finish_most;
  return action;
}

static scree_Action after_newton(const scree_Facts *f, const scree_History *h) {
  if (f->polish) return finish(f);
  if (f->warm && count(h, SCREE_PHASE_RESTART) == 0 && /* a warm start may be wrong */
      h->stage[0].record.error_before > number.good_start)
    return act(SCREE_ACTION_RESTART, SCREE_PHASE_RESTART);
  /* close to the tolerance a rate can fall little */
  const bool near = h->stage[h->count - 1].record.error_after < number.near * f->tolerance;
  const bool momentum = scree_policy_momentum(f->contacts, f->balls, f->warm) && !f->slow_sweeps;
  const double price = momentum ? number.ipm_price_momentum : number.ipm_price;
  return sweep(SCREE_PHASE_LONG, f->price, (near ? number.near_ipm : 1.0) * price * f->price);
}

/* Whether lemke is expected to reach a solution within the limits. */
static bool can_follow(const scree_Facts *f) {
  const double factorisations = number.path_price * f->contacts;
  const double most = is_timed(f) ? f->time_left : number.path_seconds;
  return f->follows && factorisations * f->factor_seconds <= most &&
         !(f->warm && factorisations > number.path_warm);
}

/* Whether the first ipm, with the newton after it, has failed to reduce the error. */
static bool is_stuck(const scree_Facts *f, const scree_History *h) {
  if (f->contacts < number.path_before) return true;
  for (int k = 0; k < h->count; ++k)
    if (h->stage[k].action.phase == SCREE_PHASE_IPM)
      return !(h->stage[k + 1 < h->count ? k + 1 : k].record.error_after <
               number.stuck * h->stage[k].record.error_before);
  return false;
}

/* implicit or pivot, with twice as much work in each round. */
static scree_Action packing(const scree_Facts *f, const scree_History *h, scree_Phase phase) {
  const bool pivots = phase == SCREE_PHASE_PIVOT;
  const double longer = ldexp(1.0, count(h, phase));
  const double seconds = pivots ? number.pivot_seconds : number.implicit_seconds;
  double most = seconds / fmax(f->factor_seconds, 1e-9);
  if (!pivots) most = fmin(number.implicit_first, most);
  scree_Action action = act(pivots ? SCREE_ACTION_PIVOT : SCREE_ACTION_IMPLICIT, phase);
  action.factorisations = (int)fmin(1e9, fmax(1.0, longer * most));
  return action;
}

/* The next method for dense packings to many digits in this round. False: there is none left. */
static bool next_for_packings(const scree_Facts *f, const scree_History *h, int begin,
                              scree_Action *action) {
  const bool large = f->contacts >= number.pivot_from;
  const scree_Phase order[] = {large ? SCREE_PHASE_PIVOT : SCREE_PHASE_IMPLICIT,
                               large ? SCREE_PHASE_IMPLICIT : SCREE_PHASE_PIVOT};
  if (f->warm || f->associated || f->contacts < number.path_before ||
      f->tolerance > number.implicit_below || count_from(h, begin, SCREE_PHASE_IPM) != 1)
    return false;
  for (int k = 0; k < 2; ++k) {
    const bool can = order[k] == SCREE_PHASE_PIVOT ? f->pivots : f->steps;
    if (!can || count_from(h, begin, order[k]) > 0) continue;
    *action = packing(f, h, order[k]);
    return true;
  }
  return false;
}

static scree_Action after_ipm(const scree_Facts *f, const scree_History *h) {
  const int begin = round_begin(h), tried = count_from(h, begin, SCREE_PHASE_IPM);
  scree_Action action;
  if (next_for_packings(f, h, begin, &action)) return action;
  const int most = begin > 0 || f->associated ? 1 : IPM_ALWAYS; /* convex: one is enough */
  const bool followed = count_from(h, begin, SCREE_PHASE_PATH) > 0;
  const bool now = tried == most || (tried == 1 && is_stuck(f, h));
  if (!followed && now && can_follow(f)) {
    if (begin > 0) return lemke(h);
    const double price = fmin(number.path_price * f->contacts, number.last_price);
    return sweep(SCREE_PHASE_PATH_SWEEPS, number.later_least, price * f->price);
  }
  return tried < most ? ipm(f, h) : last_sweeps(f, h);
}

/* All methods have failed. Within a time limit they are tried from other starts. */
static scree_Action another_round(const scree_Facts *f, const scree_History *h) {
  if (!is_timed(f)) return stop();
  const bool left = f->factorises && !f->no_ipm && count(h, SCREE_PHASE_IPM) < IPM_STARTS;
  return left ? ipm(f, h) : sweep(SCREE_PHASE_REST, INFINITY, INFINITY);
}

scree_Action scree_policy_next(const scree_Facts *f, const scree_History *h) {
  assert(!h || (h->count >= 0 && h->count <= SCREE_STAGES_MOST));
  if (!h || h->count == 0) {
    const double most = first_most(f), share = f->balls ? number.first_share * most : 0.0;
    return sweep(SCREE_PHASE_FIRST, fmax(number.first_least, share), most);
  }
  const scree_Stage *last = &h->stage[h->count - 1];
  if (last->finished || h->count == SCREE_STAGES_MOST) return stop();
  if (h->count == SCREE_STAGES_MOST - 1)
    return is_timed(f) ? sweep(SCREE_PHASE_REST, INFINITY, INFINITY) : stop();
  switch (last->action.phase) {
  case SCREE_PHASE_FIRST:
  case SCREE_PHASE_RECOVER: return after_first(f, h);
  case SCREE_PHASE_ANALYSE:
  case SCREE_PHASE_RESTART: return approach(f, h);
  case SCREE_PHASE_APPROACH: return newton(f, SCREE_PHASE_NEWTON);
  case SCREE_PHASE_NEWTON: return after_newton(f, h);
  case SCREE_PHASE_LONG: return ipm(f, h);
  case SCREE_PHASE_IPM: return newton(f, SCREE_PHASE_IPM_NEWTON);
  case SCREE_PHASE_IPM_NEWTON:
  case SCREE_PHASE_IMPLICIT:
  case SCREE_PHASE_PIVOT:
  case SCREE_PHASE_PATH_NEWTON: return after_ipm(f, h);
  case SCREE_PHASE_PATH_SWEEPS: return lemke(h);
  case SCREE_PHASE_PATH: return newton(f, SCREE_PHASE_PATH_NEWTON);
  case SCREE_PHASE_LAST: return f->polish ? stop() : another_round(f, h);
  case SCREE_PHASE_FINISH:
  case SCREE_PHASE_REST:
  case SCREE_PHASE_END: break;
  }
  return stop();
}

const char *scree_action_name(scree_ActionKind kind) {
  switch (kind) {
  case SCREE_ACTION_SWEEP: return "nlgs";
  case SCREE_ACTION_RECOVER: return "bodies";
  case SCREE_ACTION_ANALYSE: return "analysis";
  case SCREE_ACTION_RESTART: return "restart";
  case SCREE_ACTION_NEWTON: return "newton";
  case SCREE_ACTION_IPM: return "ipm";
  case SCREE_ACTION_LEMKE: return "lemke";
  case SCREE_ACTION_IMPLICIT: return "implicit";
  case SCREE_ACTION_PIVOT: return "pivot";
  case SCREE_ACTION_STOP: break;
  }
  return "stop";
}

/* ---- sweeps ------------------------------------------------------------------------------------
 */

/* Numbers chosen by measurement: see above. */
static const struct SweepNumbers {
  double far;         /* times the tolerance: one sweep will not suffice, */
  int far_group;      /* and between balls, where measuring costs more than a sweep, so many are
                         made before the first measurement */
  int estimated;      /* and where the error is estimated, for less than the price of two sweeps, at
                         most so many between two estimates, else half of those that were made */
  double trust;       /* sweeps: a rate observed over fewer is trusted less */
  double nearly;      /* sweeps that are made in any case if they are predicted to suffice */
  int momentum_from;  /* contacts from which sweeps have momentum, if not all are between balls:
                         newton solves smaller problems after a few plain sweeps; */
  int momentum_warm;  /* and those of time steps, which start near their solution */
  int calm_group;     /* sweeps in which momentum must make progress */
  double no_progress; /* ratio of errors that counts as no progress */
} sweeps = {
    .far = 100,      /* 50: 1.00, 1.00; 200: 1.02, 1.00 */
    .far_group = 3,  /* 1.5: 0.99, 1.04; 6: 1.00, 1.00 */
    .estimated = 12, /* beds of 6600 spheres that compact, sweeps of a solve: without a limit 285
                        and 315; 30: 321, 337; 12: 221, 265. With momentum errors fall in waves */
    .trust = 3,      /* 1.5: 0.99, 0.99; 6: 1.00, 1.04 */
    .nearly = 8,     /* 0: Box_Stacks with the associated law to 1e-4 1.48; Coulomb's law: as 0 */
    .momentum_from = 500, /* to 1e-8 0: two of the problem files take 5 and 27 times the
                             factorisations */
    .momentum_warm = 100, /* 500: time steps of 300 ellipses 1.76, of the drum of 004 1.75,
                            walls 1.1 times the seconds of solves; 20: an arch 1.0 */
    .calm_group = 20,     /* a limit: momentum lets the error rise for some sweeps */
    .no_progress = 1.0,   /* a limit */
};

bool scree_policy_momentum(int contacts, bool balls, bool warm) {
  return balls || contacts >= (warm ? sweeps.momentum_warm : sweeps.momentum_from);
}

int scree_policy_first_group(double error, double tolerance, bool balls) {
  return balls && error > sweeps.far * tolerance ? sweeps.far_group : 1;
}

int scree_policy_next_group(int done, bool estimated) {
  const int group = 1 + done / 2;
  return estimated && group > sweeps.estimated ? sweeps.estimated : group;
}

/* Friction is not the gradient of anything: where momentum makes no progress, plain sweeps may. */
static bool calm_down(scree_SweepRecord *record, int swept, double before) {
  if (record->estimated) { /* as many sweeps as a group would have without the limit */
    const int since = record->done - record->judged;
    if (since < 1 + record->judged / 2) return false;
    before = record->judged_error;
    swept = since;
    record->judged = record->done;
    record->judged_error = record->error;
  }
  if (swept < sweeps.calm_group || !record->may_calm || !record->momentum ||
      record->error < sweeps.no_progress * before)
    return false;
  record->momentum = false;
  return true;
}

bool scree_policy_keep_sweeping(scree_SweepRecord *record, int swept, double before,
                                const scree_SweepLimits *limits, double tolerance) {
  record->done += swept;
  record->lowest = fmin(record->lowest, record->error);
  const int done = record->done;
  const bool calmed = calm_down(record, swept, before);
  if (calmed && done > limits->most) return false;
  if (!calmed && done >= limits->idle && done >= 2 * record->half &&
      !(record->lowest < record->half_error))
    return false;
  if (!calmed && done >= limits->least && done >= 2 * record->half) {
    const double rate = log(record->lowest / record->half_error) / (done - record->half);
    const double needed =
        log(tolerance / record->error) / rate * (1.0 + sweeps.trust / (double)done);
    if (!(rate < 0.0) || (needed > sweeps.nearly && done + needed > limits->most)) return false;
  }
  if (calmed || done >= 2 * record->half) { /* the rate is measured from here on */
    record->half = done;
    record->half_error = record->lowest;
  }
  return true;
}

/* The solution of the posed problem within the work limit of a step, and of parts of it: islands
 * that rest while others move (rest.c).
 *
 * 1. Solve to the tolerance. If that fails, retry with a higher limit of iterations, then with the
 *    default solver.
 * 2. The tolerance is relative to the impulses. Where these are large compared with the motion
 *    (heavy loads, bodies at rest) an error below the tolerance can do more work than the motion
 *    does: a stack creeps, a loaded packing shakes. So the energy by which the solution violates
 *    the law is compared with the energy exchanged in a step (certify.c), and the solve continues
 *    where it is too large and the extra work is small. Where bodies rest it may cost more:
 *    impulses that hold them hold them in the next step too, which then costs nothing,
 *    while those that just meet the tolerance let them slide, in the same direction in every step.
 *    Where it gains little its work is bounded over the run (account.c).
 * 3. For the same reason light bodies between heavy ones may be pressed into each other by errors
 *    below the tolerance. The predicted gaps at the next kick show it; if one would close by a
 *    noticeable part of the smaller body, the solve continues as well.
 * 4. The error is also relative to the velocities: where bodies slide fast under small loads, one
 *    below the tolerance can be as large as the forces. The solve continues there (forces.c).
 * 5. Impulses with a self-stress that no load needs are looked for again from zero (stress.c).
 * Impulses that add energy are lowered, and then improved where they no longer solve the problem
 * (dissipate.c). Preventing that by lower tolerances costs more: a step of a deep bed of 2944
 * spheres took 30 s of factorisations. With max_retries = 0 each problem is solved once, to the
 * tolerance.
 *
 * A step may cost max_work times a usual step. Work is counted in sweeps and factorisations, not
 * timed, so that the same step ends with the same bits on every machine. When the limit is reached
 * the best solution found is used: it is not certified, and neither retries nor halvings follow. */
#include "core/log.h"
#include "solver/driver.h"
#include "solver/registry.h"
#include "step/forces.h"
#include "step/rest.h"
#include "step/stress.h"
#include "step/system.h"

#include <stdio.h>
#include <string.h>

static const struct {
  int patience;        /* factor on the iteration limit in a retry */
  double weight;       /* of the last step in the running mean of the work per contact */
  double growth;       /* a step counts in the mean as at most this many usual ones */
  double least_sweeps; /* a step may always cost this many sweeps */
  double least_work;   /* and this many seconds of a reference core */
  double share;        /* part of the work limit of a step for one solve: halved steps are easier */
  double last_sweeps;  /* a solve may make this many, even beyond the work limit of the step */
  double tighten_least; /* sweeps that may be added to lower the energy error, or as many as the
                           solve took */
  double tighten_most;  /* limit of them in large problems: with more `auto` would factorise, which
                           is left to long attempts */
  double tighten_floor; /* target of these few sweeps in large problems, as a part of the tolerance
                           of the step, at least, where the error can create little energy */
  double small;         /* sweeps that long_work pays for in a small problem */
  double long_work;     /* seconds of a reference core that a long attempt always gets */
  double rest_work;     /* the same where bodies rest, */
  double rest_sweeps;   /* or so many sweeps, */
  double rest_factor;   /* or so many times the work of the step before it */
  double far;           /* times the energy error that is too large for any step that gives small
                           problems a long attempt */
  double margin;        /* target of sweeps and Newton steps, as a part of the allowed energy */
  double still;         /* the same where bodies rest: what is gained lasts for many steps */
  double barely;        /* target of pivot, and then of all methods, where these did not suffice */
  double enough;        /* times the allowed energy that does not count as a failure at rest: some
                           contact may not be solvable any better, and the next step goes on */
  double sink;          /* part of the allowed penetration that one step may add */
  double deep;          /* part of it that errors may add in many steps: less and less is allowed
                           as a penetration comes near to it, since what is pushed out against a
                           load creates energy */
  double sink_least;    /* of what one step may add, that is allowed beyond it */
  double hold;      /* requested tolerance, as a part of the one at which that limit would be met */
  double exact;     /* error that rounding does not allow to be lower from step to step */
  double settled;   /* error above which joints alone are solved once more, by all methods */
  double round_off; /* smallest tolerance that is requested */
  double further;   /* tolerance of a solution that energy makes worse, over that of the step, */
  double furthest;  /* and each time it was not enough, over the one before */
  double gain;      /* ratio of energy errors by which few sweeps in a large problem pay */
  int most_failures; /* attempts failed in a row after which the pause grows no further; */
  int most_large;    /* and in large problems, where they cost as much as many steps */
  double rough;      /* tolerance of a rough solution, over the one of the step */
} rules = {.patience = 10,
           .weight = 0.1,
           .growth = 3,
           .least_sweeps = 5000,
           .least_work = 2,
           .share = 0.25,
           .last_sweeps = 200,
           .tighten_least = 50,
           .tighten_most = 140,
           .tighten_floor = 0.03,
           .small = 500,
           .long_work = 0.02,
           .rest_work = 0.1,
           .rest_sweeps = 1500,
           .rest_factor = 4,
           .far = 10,
           .margin = 0.05,
           .still = 0.1,
           .barely = 0.3,
           .enough = 10,
           .sink = 0.5,
           .deep = 0.3,
           .sink_least = 0.04,
           .hold = 0.1,
           .exact = 1e-11,
           .settled = 1e-8,
           .round_off = 1e-14,
           .further = 0.7,
           .furthest = 0.25,
           .gain = 0.5,
           .most_failures = 6,
           .most_large = 8,
           .rough = 30};

void scree_system_work_begin(scree_System *s) {
  s->work.spent = 0;
}

static double work_limit(const scree_System *s, const scree_Problem *problem) {
  const double sweeps = rules.least_sweeps * scree_domain_sweep_seconds(s, problem);
  return fmax(fmax(sweeps, rules.least_work),
              s->settings.max_work * s->work.usual * (double)s->posed.all);
}

bool scree_system_work_used_up(const scree_System *s) {
  const scree_Problem problem = scree_system_problem(s);
  return s->posed.all > 0 && !(s->work.spent < work_limit(s, &problem));
}

void scree_system_work_end(scree_System *s, bool certified) {
  scree_WorkMeter *w = &s->work;
  const double spent = w->spent;
  const scree_Problem problem = scree_system_problem(s);
  scree_account_close(&w->account, spent, scree_domain_sweep_seconds(s, &problem));
  w->before = 0;
  w->spent = 0; /* the meter is part of the saved state; this belongs to one step */
  if (!certified || s->posed.all == 0) return;
  double now = spent / (double)s->posed.all;
  /* limits the influence of a few hard steps on the work limit of the next ones */
  if (w->usual > 0) now = fmin(now, rules.growth * w->usual);
  w->usual = w->usual > 0 ? w->usual + rules.weight * (now - w->usual) : now;
}

/* The solvers are kept as long as the system, with other settings each time. That of islands starts
 * anew each time: they come and go, and it is no part of the saved state. */
static scree_Status run_solver(scree_System *s, const scree_Portion *part,
                               const scree_SolveSettings *settings, scree_SolveInfo *info) {
  scree_Status status = scree_solver_set_settings(part->solver, settings);
  if (status) return status;
  if (part->solver != s->solver) {
    scree_solver_forget(part->solver);
    return scree_solver_solve(part->solver, part->problem, part->r, part->u, info);
  }
  status = scree_domain_solve(s, part->problem, part->r, part->u, info);
  s->posed.y = scree_solver_velocities(s->solver);
  scree_cell_answer(s);
  if (scree_rolls(s)) scree_rolling_take(s);
  return status;
}

scree_Status scree_portion_solve(scree_System *s, const scree_Portion *part,
                                 scree_SolveSettings *settings, double most,
                                 scree_StepReport *report) {
  scree_SolveInfo info;
  if (isfinite(s->settings.max_work)) {
    const double limit = work_limit(s, part->problem);
    const double left = fmin(limit - s->work.spent, rules.share * limit);
    const double last = rules.last_sweeps * scree_domain_sweep_seconds(s, part->problem);
    settings->work_limit = fmin(fmax(left, last), most);
  } else {
    settings->work_limit = isfinite(most) ? most : 0;
  }
  const scree_Status status = run_solver(s, part, settings, &info);
  if (status > SCREE_NOT_CONVERGED) return status;
  s->work.spent += info.work;
  s->solves++;
  report->solve = info;
  report->solve.converged = info.value <= report->tolerance;
  report->iterations += info.iterations;
  report->work += info.work;
  report->solves++;
  settings->warm_start = isfinite(info.value);
  return SCREE_OK;
}

/* Retry with a higher iteration limit, then with the default solver. */
static scree_Status retry(scree_System *s, const scree_Portion *part, scree_SolveSettings *settings,
                          scree_StepReport *report) {
  const scree_SolverClass *class_ = scree_solver_class_find(settings->solver);
  const int limit = settings->max_iterations ? settings->max_iterations : class_->max_iterations;
  settings->max_iterations =
      limit < INT32_MAX / rules.patience ? rules.patience * limit : INT32_MAX;
  settings->time_limit *= rules.patience;
  for (int k = 0; !report->solve.converged && k < s->settings.max_retries; ++k) {
    if (scree_system_work_used_up(s)) break;
    if (k > 0) {
      const char *preset = scree_solve_settings().solver;
      if (strcmp(settings->solver, preset) == 0 || settings->measure == SCREE_MEASURE_INCREMENT)
        break;
      settings->solver = preset;
      settings->options = NULL;
      settings->max_iterations = 0;
    }
    const scree_Status status = scree_portion_solve(s, part, settings, INFINITY, report);
    if (status) return status;
    report->retries++;
  }
  return SCREE_OK;
}

static bool is_tight(const scree_System *s, const scree_Portion *part, double allowed,
                     const scree_StepReport *report) {
  return scree_portion_defect(s, part) <= allowed || scree_portion_is_exact(report);
}

/* Whether sweeps are so dear that attempts to tighten have to be few or short. */
static bool is_large(const scree_System *s, const scree_Problem *problem) {
  return rules.small * scree_domain_sweep_seconds(s, problem) > rules.long_work;
}

/* Whether so many sweeps reach the tolerance, if they lower the error at the rate of the last
 * solve. In deep packings a short attempt ends halfway, and the next step would have to repeat it.
 */
static bool is_within(const scree_StepReport *report, double tolerance, double sweeps) {
  const scree_SolveInfo *last = &report->solve;
  const double before = last->nstages > 0 ? last->stages[0].error_before : INFINITY;
  const double fall = log(before / last->value); /* in last->iterations sweeps */
  if (!(fall > 0) || last->factorisations > 0 || !isfinite(fall)) return true;
  return last->iterations * log(last->value / tolerance) <= sweeps * fall;
}

/* Of halved or cut steps the present part: with the work of all parts before it each attempt to
 * tighten one would be allowed twice that of the last. */
static double spent_in_attempt(const scree_System *s) {
  return s->work.spent - s->work.before;
}

/* Work of a long attempt where bodies rest. Without a limit a packing that still settles spent most
 * of its time here: 790 steps of 598 bodies behind a wall took 983 000 sweeps, with it 96 000, and
 * what rests moves no further (docs/validation/rests.md). */
double scree_system_rest_work(const scree_System *s, double sweep) {
  const double spent = spent_in_attempt(s);
  return fmax(fmax(rules.rest_factor * spent, rules.rest_sweeps * sweep), rules.rest_work);
}

/* Lower the tolerance until the energy by which the solution violates the law is small. A step may
 * double its work for that, and warm starts preserve the gain in the next step. Sweeps alone cannot
 * hold a stack, so a longer attempt, in which problems are factorised, comes first; after k
 * failures in a row the next one is 2^k steps later. Between these large problems get a few sweeps
 * only: Newton steps from statuses that are not yet settled gain nothing there. Where bodies rest
 * the long attempt may cost more (rest_work). A step whose error could create a noticeable part of
 * all energy turned over so far always gets one, in large problems the few sweeps as long as they
 * pay: in an oedometer at twice the default step solutions that just met the tolerance let grains
 * sink into each other by 0.9 % of their size as the load rose, and then the load was lifted. Where
 * they do not pay, the pauses are those of long attempts: in a deep bed of spheres that compacts
 * sweeps end at errors of 6e-5, and 290 of them lowered an error of 1e-4 by a factor of 1.2.
 *
 * The targets, by the counted work of examples/drum.yaml to 0.6 s and wall.yaml to 0.4 s: with
 * `margin` and `barely` both 0.01, 6.3 and 4.4 s; 0.05 and 0.3: 4.9 and 3.0 s; 0.6 and 0.6: 3.7 and
 * 2.4 s, but then the mean energies of a loaded stack depend on the step (6 % at twice the step
 * instead of 0.2 %). */
scree_Status scree_portion_tighten(scree_System *s, const scree_Portion *part, bool is_long,
                                   scree_SolveSettings *settings, scree_StepReport *report,
                                   bool *tight) {
  const double spent = spent_in_attempt(s);
  const double defect = scree_portion_defect(s, part), allowed = part->allowed;
  *tight = true;
  if (!(defect > allowed) || scree_portion_is_exact(report)) return SCREE_OK;
  const double sweep = scree_domain_sweep_seconds(s, part->problem);
  const bool large = is_large(s, part->problem);
  const double limit = scree_system_defect_limit(s);
  const bool costly = large && defect > limit, rests = is_long && part->rests;
  if (!large && defect > rules.far * limit) is_long = true;
  const double margin = rests ? rules.still : large ? rules.barely : rules.margin;
  const double enough = rests ? rules.enough * allowed : allowed;
  settings->tolerance = fmax(rules.round_off, margin * allowed / defect * report->solve.value);
  double most = fmax(spent, rules.tighten_least * sweep);
  if (large) most = fmin(most, rules.tighten_most * sweep);
  if (is_long) most = rests ? part->rest_work : fmax(spent, rules.long_work);
  *tight = false;
  const bool few = !is_long && large;
  if (few && !costly)
    settings->tolerance = fmax(settings->tolerance, rules.tighten_floor * report->tolerance);
  if (few && !is_within(report, settings->tolerance, most / sweep)) {
    if (!costly) return SCREE_OK;
    if (s->work.few.steps > 0) {
      --s->work.few.steps;
      return SCREE_OK;
    }
  }
  char slack[32];
  snprintf(slack, sizeof slack, "slack=%g", rules.barely / margin);
  const char *const polish[] = {"polish=true", slack, NULL};
  if (strcmp(settings->solver, "auto") == 0) settings->options = polish;
  scree_Status status = scree_portion_solve(s, part, settings, most, report);
  settings->options = s->settings.solve.options;
  if (few && !status)
    scree_pause_after(&s->work.few, scree_portion_defect(s, part) <= rules.gain * defect, false);
  /* Newton may stall early: use the remaining work for all methods, once */
  if (!status && is_long && !is_tight(s, part, enough, report) && report->solve.work < most) {
    settings->tolerance =
        rules.barely * allowed / scree_portion_defect(s, part) * report->solve.value;
    status = scree_portion_solve(s, part, settings, most - report->solve.work, report);
  }
  if (!status) *tight = is_tight(s, part, enough, report);
  return status;
}

/* The next long attempt: at once after one that succeeded, after k failures 2^k steps later. */
void scree_pause_after(scree_Pause *pause, bool tight, bool large) {
  if (tight) {
    *pause = (scree_Pause){0};
  } else if (pause->steps > 0) {
    --pause->steps;
  } else {
    if (pause->failures < (large ? rules.most_large : rules.most_failures)) ++pause->failures;
    pause->steps = (1 << pause->failures) - 1;
  }
}

bool scree_portion_is_exact(const scree_StepReport *report) {
  return report->solve.value <= rules.exact;
}

bool scree_system_tightens(const scree_System *s) {
  return s->settings.solve.measure == SCREE_MEASURE_ERROR && s->settings.max_retries > 0;
}

/* The error is relative to the impulses: those with a large self-stress (stress.c) can have a
 * smaller error and do a thousand times the work. So the impulses from before are taken back where
 * the result is worse, or has a self-stress that they have not. */
static scree_Status keep_better(scree_System *s, const scree_Portion *part, const double *before,
                                double defect, scree_SolveSettings *settings,
                                scree_StepReport *report) {
  if (!(scree_portion_defect(s, part) > defect) && !scree_stress_rises(s, part, before))
    return SCREE_OK;
  memcpy(part->r, before, scree_problem_rows(part->problem) * sizeof *before);
  settings->tolerance = report->tolerance; /* which they meet: nothing is left to do */
  settings->options = s->settings.solve.options;
  settings->warm_start = true;
  return scree_portion_solve(s, part, settings, INFINITY, report);
}

static scree_Status tighten(scree_System *s, scree_Portion *part, scree_SolveSettings *settings,
                            scree_StepReport *report) {
  scree_Pause *pause = &s->work.pause;
  bool tight;
  if (!scree_system_tightens(s)) return SCREE_OK;
  part->allowed = scree_system_defect_allowed(s);
  part->rests = scree_system_rests(s);
  part->rest_work = scree_system_rest_work(s, scree_domain_sweep_seconds(s, part->problem));
  const double defect = scree_portion_defect(s, part), spent = s->work.spent;
  if (!(defect > part->allowed) || scree_portion_is_exact(report)) return SCREE_OK;
  if (!scree_system_pays(s, defect)) return SCREE_OK;
  const size_t n = scree_problem_rows(part->problem);
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  double *before = SCREE_TAKE_RAW(&s->scratch, double, n);
  scree_Status status = scree_domain_agree(
      s, before ? SCREE_OK : scree_fail_memory(s->log, "the impulses of a step"));
  if (!status) {
    memcpy(before, part->r, n * sizeof *before);
    status = scree_portion_tighten(s, part, pause->steps == 0, settings, report, &tight);
  }
  if (!status) {
    scree_pause_after(pause, tight, is_large(s, part->problem));
    status = keep_better(s, part, before, defect, settings, report);
  }
  s->work.account.now += s->work.spent - spent;
  scree_arena_release(&s->scratch, mark);
  return status;
}

/* *most: of the contacts of this share. */
static void find_sinking(const scree_System *s, double *most, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  const double limit = s->settings.penetration_limit;
  double worst = 0;
  SCREE_OVER_BODIES(c, s->posed.nc, share) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    const double gap = s->contacts.gap[c] + s->contacts.curve[c];
    const double next = gap + s->times.horizon * scree_system_velocity(s, c, 0);
    const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
    if (scree_system_law(s, key->i, key->j)->soft) { /* a spring sinks in by what it carries */
      const size_t at = (size_t)c * (size_t)b->dimension;
      const bool cone = !s->posed.sets || s->posed.set[c] == SCREE_SET_CONE;
      if (cone && s->posed.r[at] > 0)
        worst = fmax(worst, -s->times.horizon * s->posed.u[at] / (limit * size));
      continue;
    }
    if (next >= 0 || next >= gap) continue;
    const double depth = fmax(0, -gap) / (limit * size),
                 added = (fmin(gap, 0) - next) / (limit * size);
    worst = fmax(worst, added / fmax(rules.sink_least, 1 - depth / rules.deep));
  }
  scree_share_raise(most, worst);
}

double scree_system_sinking(const scree_System *s) {
  double worst = 0;
  if (!s->scheme->looks_ahead || s->settings.max_retries == 0) return 0;
  SCREE_ON_THREADS(s->posed.nc, s->threads, share, find_sinking(s, &worst, share));
  return scree_system_max(s, worst);
}

double scree_system_sinking_allowed(void) {
  return rules.sink;
}

/* Lower the tolerance until the predicted penetration is within its limit. */
static scree_Status hold_apart(scree_System *s, const scree_Portion *part,
                               scree_SolveSettings *settings, scree_StepReport *report) {
  const double allowed = rules.sink;
  for (int k = 0; k < s->settings.max_retries; ++k) {
    const double sinks = scree_system_sinking(s);
    if (!(sinks > allowed) || settings->measure != SCREE_MEASURE_ERROR ||
        scree_portion_is_exact(report) || scree_system_work_used_up(s))
      break;
    settings->tolerance = fmax(rules.round_off, rules.hold * allowed / sinks * report->solve.value);
    const scree_Status status = scree_portion_solve(s, part, settings, INFINITY, report);
    if (status) return status;
    report->retries++;
  }
  return SCREE_OK;
}

/* Joints alone are a linear problem, except for stops: a Newton step with a small proximal weight
 * solves it to round-off, and takes little more time than a rough solution would. */
static scree_Status solve_joints(scree_System *s, const scree_Portion *part,
                                 scree_SolveSettings *settings, scree_StepReport *report) {
  static const char *const options[] = {"weight=1e-6", "sweeps=1", "window=3", "fall=3", NULL};
  const scree_SolverClass *newton = scree_solver_class_find("newton");
  settings->tolerance = fmin(settings->tolerance, rules.round_off);
  if (strcmp(settings->solver, "auto") == 0 && !scree_solver_class_refuses(newton, part->problem)) {
    settings->solver = "newton";
    settings->options = options;
    settings->ranks = NULL; /* joints are not divided */
  } else {
    settings->tolerance = rules.exact;
  }
  const scree_Status status = scree_portion_solve(s, part, settings, INFINITY, report);
  /* bonds, motors or friction at their limits: Newton may stall before it has found which */
  if (status || report->solve.value <= rules.settled || !settings->options) return status;
  settings->solver = s->settings.solve.solver;
  settings->options = s->settings.solve.options;
  settings->tolerance = rules.exact;
  return scree_portion_solve(s, part, settings, INFINITY, report);
}

scree_SolveSettings scree_system_solve_settings(const scree_System *s, bool begun) {
  scree_SolveSettings settings = s->settings.solve;
  const bool known = s->memory.count + s->trial.count > 0 || s->joints.count > 0 || begun ||
                     s->domain.global; /* other ranks may know some */
  settings.warm_start = s->settings.warm_start && known;
  return settings;
}

scree_Status scree_portion_measure(scree_System *s, const scree_Portion *whole,
                                   scree_StepReport *report) {
  scree_SolveSettings settings = scree_system_solve_settings(s, true);
  return scree_portion_solve(s, whole, &settings, INFINITY, report);
}

static scree_Portion whole_of(const scree_System *s, const scree_Problem *problem) {
  return (scree_Portion){
      .problem = problem, .solver = s->solver, .r = scree_system_r(s), .u = scree_system_u(s)};
}

scree_Status scree_system_solve_roughly(scree_System *s, scree_StepReport *report) {
  const scree_Status status =
      scree_domain_agree(s, scree_rolls(s) ? scree_rolling_pose(s) : SCREE_OK);
  if (status) return status;
  const scree_Problem problem = scree_system_problem(s);
  const scree_Portion part = whole_of(s, &problem);
  scree_SolveSettings settings = scree_system_solve_settings(s, false);
  settings.tolerance *= rules.rough;
  return s->posed.all > 0 ? scree_portion_solve(s, &part, &settings, INFINITY, report) : SCREE_OK;
}

scree_Status scree_system_solve_further(scree_System *s, int times, scree_StepReport *report) {
  const scree_Problem problem = scree_system_problem(s);
  const scree_Portion part = whole_of(s, &problem);
  scree_SolveSettings settings = scree_system_solve_settings(s, true);
  if (!scree_system_tightens(s) || scree_system_deforms(s) || scree_system_work_used_up(s))
    return SCREE_OK;
  settings.warm_start = true;
  settings.tolerance *= rules.further * pow(rules.furthest, times);
  const double least = rules.tighten_least * scree_domain_sweep_seconds(s, &problem);
  return scree_portion_solve(s, &part, &settings, fmax(spent_in_attempt(s), least), report);
}

scree_Status scree_system_solve(scree_System *s, bool begun, scree_StepReport *report) {
  scree_Status status = scree_domain_agree(s, scree_rolls(s) ? scree_rolling_pose(s) : SCREE_OK);
  if (status) return status;
  const scree_Problem problem = scree_system_problem(s);
  scree_Portion part = whole_of(s, &problem);
  scree_SolveSettings settings = scree_system_solve_settings(s, begun);
  if (s->posed.all == 0) return solve_joints(s, &part, &settings, report);
  scree_Rest rest;
  status = scree_rest_begin(s, &problem, &rest);
  if (!status) status = scree_portion_solve(s, &part, &settings, INFINITY, report);
  if (!status && !report->solve.converged) status = retry(s, &part, &settings, report);
  if (!status) status = scree_stress_relieve(s, &part, report);
  if (!status && report->solve.converged) {
    status = hold_apart(s, &part, &settings, report);
    if (!status) status = scree_forces_refine(s, &part, &rest.islands, report);
    if (!status) status = tighten(s, &part, &settings, report);
    if (!status) status = scree_rest_hold(s, &part, &rest, report);
  }
  scree_rest_end(s, &rest);
  return status;
}

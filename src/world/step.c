/* A step of the world: attempts, halved if they cannot be certified.
 *
 * The step is divided into units of step / 2^max_halvings. A substep of level L is 2^(max - L)
 * units long. An attempt that misses the tolerance, or increases a penetration beyond the limit, is
 * undone and repeated one level deeper; after a success the next substep is one level coarser if
 * it then ends on a multiple of its own length. On the deepest level the result is accepted and
 * reported.
 *
 * A step in which a body that stands on something has an impact is cut there (step/event.c): the
 * attempt is undone, and repeated in two parts. An impact that comes after the end of the step, but
 * before the next kick, is left to the next step, which begins with that cut. A step with cuts that
 * fails is repeated without them.
 *
 * Where impacts need shorter steps for a while (refine.c) a step is made of parts of equal length
 * from the start, and an attempt that shows that they are too long is repeated one level deeper. */
#include "core/log.h"
#include "core/memory.h"
#include "world/world.h"

#include <assert.h>
#include <string.h>

/* State that a failed attempt restores besides the motions. */
typedef struct Saved {
  double penetration;
  scree_EnergyBalance total;
  scree_EnergyAudit audit;
  bool energy_known;
} Saved;

static Saved save_sums(const scree_System *s) {
  return (Saved){s->penetration, s->total, s->audit, s->energy_known};
}

static void put_back(scree_System *s, const char *bodies, const Saved *saved) {
  scree_system_restore(s, bodies);
  s->penetration = saved->penetration;
  s->total = saved->total;
  s->audit = saved->audit;
  s->energy_known = saved->energy_known;
}

/* The impulses of the last step, which start the solves of this one, are replaced by those of each
 * accepted substep. They are kept so that a halved step that fails can be repeated with the same
 * bits. */
static scree_Status keep_memory(scree_World *world) {
  return scree_memory_copy(&world->system.memory, &world->kept)
             ? SCREE_OK
             : scree_fail_memory(&world->log, "the impulses before a step");
}

/* Data known before a step begins; callbacks may read it during the step. */
static void begin(scree_World *world) {
  const scree_SolveSettings *solve = &world->system.settings.solve;
  world->system.poll = (scree_Poll){solve->interrupted, solve->interrupted_user, false};
  world->system.solves = world->attempts = 0;
  world->stepped = false;
  world->system.domain.tries = 0;
  world->contact_generation++;
  scree_arena_reset(&world->system.scratch); /* one chunk from now on */
  scree_system_work_begin(&world->system);
}

/* Cuts per step, and per step on average: the attempts that they repeat are a small part of the
 * work. */
enum { CUTS = 12, STEPS_PER_CUT = 5 };

static bool may_cut(const scree_World *world, int cuts) {
  return cuts < CUTS && world->cuts * STEPS_PER_CUT <= world->steps + STEPS_PER_CUT * CUTS;
}

static void add_energy(scree_EnergyBalance *sum, const scree_EnergyBalance *e, bool absolute) {
  sum->kinetic = e->kinetic;
  sum->potential = e->potential;
  sum->elastic = e->elastic;
  sum->forces += e->forces;
  sum->drivers += e->drivers;
  sum->normal += e->normal;
  sum->friction += e->friction;
  sum->viscous += e->viscous;
  sum->plastic += e->plastic;
  sum->scheme += e->scheme;
  sum->push += e->push;
  sum->closing += absolute ? fabs(e->closing) : e->closing;
}

/* Costs of all attempts, accepted or not. */
static void add_cost(scree_StepReport *sum, const scree_StepReport *part) {
  sum->iterations += part->iterations;
  sum->solves += part->solves;
  sum->work += part->work;
  sum->retries += part->retries;
  sum->redetections += part->redetections;
  sum->expansions += part->expansions;
  sum->seconds_detect += part->seconds_detect;
  sum->seconds_build += part->seconds_build;
  sum->seconds_solve += part->seconds_solve;
  sum->seconds_move += part->seconds_move;
  sum->seconds_certify += part->seconds_certify;
}

/* An accepted substep. NaN counts as worst. */
static void add_result(scree_StepReport *sum, const scree_StepReport *part) {
  sum->certified = sum->certified && part->certified;
  sum->missed |= part->missed;
  sum->contacts = part->contacts;
  sum->joints = part->joints;
  sum->joint_error = fmax(sum->joint_error, part->joint_error);
  sum->active = part->active;
  sum->contacts_above += part->contacts_above;
  if (!(part->error <= sum->error)) {
    sum->error = part->error;
    memcpy(sum->worst_body, part->worst_body, sizeof sum->worst_body);
  }
  if (part->penetration > sum->penetration) {
    sum->penetration = part->penetration;
    memcpy(sum->deepest_body, part->deepest_body, sizeof sum->deepest_body);
  }
  sum->overlap = fmax(sum->overlap, part->overlap);
  sum->cone_violation = fmax(sum->cone_violation, part->cone_violation);
  sum->solve = part->solve;
  sum->substeps++;
  add_energy(&sum->energy, &part->energy, false);
}

static void commit(scree_World *world, const scree_StepReport *part) {
  scree_System *s = &world->system;
  s->penetration = part->penetration;
  s->energy_known = true;
  const double before = s->total.kinetic;
  add_energy(&s->total, &part->energy, true);
  scree_system_audit(s, &part->energy, before);
  scree_memory_swap(&s->memory, &s->trial);
  scree_joints_commit(&s->joints);
  scree_system_carry_on(s);
  world->last_h = part->h;
  world->contact_h = s->carried.any ? s->settings.step : part->h;
}

/* Memory for the state before the substep, and if the step is halved for the one before the
 * step. */
static scree_Status reserve(scree_World *world, bool halved) {
  if (world->stepped_bodies == world->system.bodies.count) /* no more bodies are being added */
    scree_world_fit(world);
  world->stepped_bodies = world->system.bodies.count;
  const scree_Status status =
      scree_creep_reserve(&world->system, (size_t)world->system.bodies.count);
  if (status) return status;
  const size_t n = scree_system_snapshot_size(&world->system);
  if (!scree_grow_lean((void **)&world->backup, &world->backup_capacity, n, 1) ||
      (halved && !scree_grow_lean((void **)&world->origin, &world->origin_capacity, n, 1)))
    return scree_fail_memory(&world->log, "the state before a step");
  return SCREE_OK;
}

/* A failed step may have been stopped at any point: it must not change the solver's memory, or
 * later steps would have other bits. (Repeated attempts always have the same result.) */
static scree_Status save_solver(scree_World *world) {
  const scree_Solver *solver = world->system.solver;
  world->remembered_size = scree_solver_state_size(solver);
  if (!scree_grow_lean((void **)&world->remembered, &world->remembered_capacity,
                       world->remembered_size, 1))
    return scree_fail_memory(&world->log, "the memory of the solver before a step");
  scree_solver_save(solver, world->remembered);
  return SCREE_OK;
}

static void put_solver_back(scree_World *world) {
  scree_solver_restore(world->system.solver, world->remembered, world->remembered_size);
}

/* The bodies that this rank holds at the start of the step, and memory for their state. */
static scree_Status hold_bodies(scree_World *world) {
  scree_System *s = &world->system;
  const long long builds = s->domain.counts.builds;
  scree_Status status = scree_domain_begin(s, true);
  if (s->domain.counts.builds != builds) world->body_generation++;
  if (!status) status = scree_domain_agree(s, reserve(world, false));
  return status;
}

/* The state before the step, to which all of its substeps can be undone. */
typedef struct Origin {
  Saved sums;
  double last_h, impact_in;
  int64_t cuts;
  scree_ImpactSums recent;
  bool kept; /* bodies and impulses are kept in the world: substeps were accepted since */
} Origin;

/* Call before the first substep is accepted. */
static scree_Status keep_origin(scree_World *world, Origin *origin) {
  const size_t bytes = scree_system_snapshot_size(&world->system);
  if (origin->kept) return SCREE_OK;
  scree_Status status = reserve(world, true);
  if (!status) status = keep_memory(world);
  if (!status && bytes) memcpy(world->origin, world->backup, bytes);
  status = scree_domain_agree(&world->system, status);
  origin->kept = !status;
  return status;
}

static void return_to_origin(scree_World *world, Origin *origin) {
  scree_System *s = &world->system;
  put_back(s, origin->kept ? world->origin : world->backup, &origin->sums);
  if (origin->kept) scree_memory_swap(&s->memory, &world->kept);
  s->carried.before.count = 0;
  origin->kept = false;
  world->last_h = origin->last_h;
  world->refinement.recent = origin->recent;
}

/* `first`: the step begins with it. */
static scree_Status attempt(scree_World *world, bool first, const scree_StepSpan *span,
                            scree_StepReport *sum, scree_StepReport *part,
                            scree_StepOutcome *outcome) {
  scree_System *s = &world->system;
  scree_Status status = first ? SCREE_OK : scree_domain_begin(s, false);
  scree_system_save(s, world->backup);
  world->attempts++;
  if (!status) status = scree_system_advance(s, span, part, outcome);
  if (status == SCREE_NOT_CONVERGED) { /* a body was turned inside out: there is no result */
    outcome->halve = outcome->inverted = true;
    status = SCREE_OK;
  }
  if (!status) add_cost(sum, part);
  return status;
}

/* The sums of impacts after a span. */
static scree_ImpactSums impacts_after(const scree_World *world, const scree_StepSpan *span,
                                      const scree_StepOutcome *outcome) {
  const scree_System *s = &world->system;
  return scree_refine_add(&world->refinement.recent, &outcome->impacts, span->h / s->settings.step,
                          scree_audit_turned_over(&s->audit));
}

static scree_Status accept(scree_World *world, const scree_StepSpan *span,
                           const scree_StepOutcome *outcome, const scree_StepReport *part,
                           scree_StepReport *sum) {
  scree_System *s = &world->system;
  const scree_Status status =
      scree_domain_agree(s, scree_bodies_check_motion(&s->bodies, span->start + span->h, s->log));
  if (status) return status;
  world->refinement.recent = impacts_after(world, span, outcome);
  commit(world, part);
  add_result(sum, part);
  return SCREE_OK;
}

/* Whether the impacts of a span need shorter ones. */
static bool refines(const scree_World *world, const scree_StepSpan *span, int level,
                    const scree_StepOutcome *outcome) {
  const scree_ImpactSums recent = impacts_after(world, span, outcome);
  return level < scree_refine_highest(world->system.settings.max_halvings) &&
         scree_refine_rises(&world->refinement, &recent, level);
}

/* The step as a whole, or in parts between impacts. *halve: a part cannot be certified, and
 * nothing of the step stands, except the costs in `sum`; *refine: nor does it, since its impacts
 * need shorter parts. */
static scree_Status run_parts(scree_World *world, Origin *origin, scree_StepReport *sum,
                              bool *halve, bool *refine) {
  scree_System *s = &world->system;
  const int max = s->settings.max_halvings;
  const double step = s->settings.step, start = scree_world_time(world);
  const double instant = scree_event_instant(s);
  double done = 0, next = world->impact_in >= 0 ? fmin(world->impact_in, step) : step;
  bool struck = world->impact_in >= 0; /* the last span ended before an impact */
  int cuts = 0;
  const scree_StepReport none = *sum;
  world->impact_in = -1;
  *halve = *refine = false;
  while (done < step) {
    const bool now = next < step && next - done < instant;
    if (now) next = step; /* the impact comes at once */
    const bool before_impact = next < step || world->impact_in >= 0;
    const scree_StepSpan span = {.start = start + done,
                                 .h = next - done,
                                 .next = step,
                                 .after_impact = struck,
                                 .before_impact = before_impact,
                                 .part = next - done < step,
                                 .may_cut = !before_impact && may_cut(world, cuts),
                                 .at_once = now};
    const Saved saved = save_sums(s);
    scree_StepReport part;
    scree_StepOutcome outcome;
    scree_Status status = attempt(world, done == 0, &span, sum, &part, &outcome);
    if (status) return status;
    const bool whole = span.h == step && !span.before_impact;
    *halve = outcome.halve && (max > 0 || !whole || outcome.inverted);
    const bool refinable = whole && outcome.event < 0 && !outcome.shared;
    *refine = !*halve && refinable && refines(world, &span, 0, &outcome);
    if (*halve || *refine) {
      const scree_StepReport cost = *sum;
      return_to_origin(world, origin);
      *sum = none;
      add_cost(sum, &cost);
      return *halve && max == 0 && whole ? scree_deform_refuse(s) : SCREE_OK;
    }
    if (outcome.event >= 0) {
      const double event = done + outcome.event;
      put_back(s, world->backup, &saved);
      status = keep_origin(world, origin);
      cuts++;
      world->cuts++;
      if (event < step - instant)
        next = event;
      else
        world->impact_in = fmax(0, event - step);
    } else {
      if (next < step) status = keep_origin(world, origin);
      if (!status) status = accept(world, &span, &outcome, &part, sum);
      struck = next < step;
      done = next;
      next = step;
    }
    if (status) return status;
  }
  return SCREE_OK;
}

/* The step in substeps of the level `floor`, of deeper ones where they fail. The level rises where
 * impacts need it; *next is that of the step that follows. */
static scree_Status run_halves(scree_World *world, Origin *origin, int first, int floor, int *next,
                               scree_StepReport *sum) {
  scree_System *s = &world->system;
  const int max = s->settings.max_halvings;
  const long units = 1L << max;
  const double step = s->settings.step, start = scree_world_time(world);
  int level = first;
  for (long done = 0; done < units;) {
    const long length = units >> level;
    assert(length >= 1 && done % length == 0 && done + length <= units);
    const bool last = done + length == units;
    const scree_StepSpan span = {.start = start + step * ((double)done / (double)units),
                                 .h = step * ((double)length / (double)units),
                                 .next = step / (double)(1L << (last ? *next : floor)),
                                 .after_impact = done == 0 && origin->impact_in >= 0,
                                 .part = length < units};
    const Saved saved = save_sums(s);
    scree_StepReport part;
    scree_StepOutcome outcome;
    scree_Status status = attempt(world, done == 0, &span, sum, &part, &outcome);
    if (status) return status;
    const bool refine =
        level == floor && floor > 0 && !outcome.halve && refines(world, &span, level, &outcome);
    if ((outcome.halve && level < max) || refine) {
      put_back(s, world->backup, &saved);
      ++level;
      if (refine) *next = floor = level;
      continue;
    }
    if (outcome.inverted) return scree_deform_refuse(s);
    if (length < units) status = keep_origin(world, origin);
    if (!status) status = accept(world, &span, &outcome, &part, sum);
    if (status) return status;
    done += length;
    if (level > floor && done % (units >> (level - 1)) == 0) --level;
  }
  return SCREE_OK;
}

static scree_Status run_substeps(scree_World *world, scree_StepReport *sum) {
  scree_System *s = &world->system;
  const scree_WorkMeter meter = s->work;
  const scree_Refinement refinement = world->refinement;
  Origin origin = {save_sums(s), world->last_h,     world->impact_in,
                   world->cuts,  refinement.recent, false};
  const int highest = scree_refine_highest(s->settings.max_halvings);
  int floor = refinement.level < highest ? (int)refinement.level : highest, next = 0;
  const bool whole = floor == 0;
  bool halve = false, refine = false;
  s->carried.before.count = 0;
  scree_Status status = SCREE_OK;
  if (whole) status = run_parts(world, &origin, sum, &halve, &refine);
  if (!status && (!whole || halve || refine)) {
    const bool was_cut = world->cuts > origin.cuts || origin.impact_in >= 0;
    const bool again = halve && !was_cut;
    world->impact_in = -1;
    floor = whole ? refine : floor;
    next = whole ? floor : scree_refine_next(&refinement, floor);
    status = run_halves(world, &origin, again ? 1 : floor, floor, &next, sum);
  }
  world->refinement.level = next;
  world->cut_up = origin.kept;
  if (!status) {
    const double ranks = s->domain.global ? s->domain.size : 1;
    scree_refine_pay(&world->refinement, floor, s->work.spent, world->attempts,
                     (double)s->posed.all / ranks, scree_world_whole_count(world) / ranks);
  }
  if (status) {
    return_to_origin(world, &origin);
    world->impact_in = origin.impact_in;
    world->cuts = origin.cuts;
    world->refinement = refinement;
    s->work = meter;
    put_solver_back(world);
  }
  return status;
}

scree_StepProgress scree_world_progress(const scree_World *world) {
  const scree_System *s = &world->system;
  return (scree_StepProgress){.step = world->steps + 1,
                              .time = scree_world_time(world),
                              .attempts = world->attempts,
                              .solves = s->solves,
                              .contacts = s->posed.nc};
}

/* The threads of this step: fewer while other programs use the processors. */
static void choose_threads(scree_System *s) {
  const scree_SolveSettings *solve = &s->settings.solve;
  const bool share = solve->threads == 0 || solve->share_processors;
  s->threads = share ? scree_load_threads(&s->load, s->threads_most) : s->threads_most;
}

static scree_Status find_internal_forces(scree_World *world, scree_StepReport *report) {
  scree_System *s = &world->system;
  scree_InternalForces found = {0};
  scree_Status status = SCREE_OK;
  report->internal_contacts = -1;
  if (!s->settings.internal_forces) return status;
  if (s->posed.nc > 0 && !s->internal) {
    const scree_SolveSettings settings = scree_solve_settings();
    status = scree_solver_create(&settings, s->log, &s->internal);
  }
  if (s->posed.nc > 0 && !status)
    status = scree_solver_internal_forces(s->internal, &world->problem, scree_system_u(s),
                                          fmax(1e-6, 10 * report->error), NULL, &found);
  report->internal_contacts = found.contacts;
  return status;
}

scree_Status scree_world_step(scree_World *world, scree_StepReport *report) {
  scree_StepReport sum = {.certified = true,
                          .step = world->steps + 1,
                          .h = world->system.settings.step,
                          .tolerance = world->system.settings.solve.tolerance,
                          .penetration_limit = world->system.settings.penetration_limit,
                          .energy_limit = world->system.settings.energy_limit,
                          .creep_limit = world->system.settings.creep_limit,
                          .worst_body = {-1, -1},
                          .deepest_body = {-1, -1}};
  const char *refused = world->system.domain.global ? scree_domain_refuse(&world->system) : NULL;
  if (refused)
    return scree_fail(&world->log, SCREE_BAD_INPUT, "this world cannot be divided: %s", refused);
  choose_threads(&world->system);
  begin(world);
  const scree_StepReport none = sum;
  scree_Status status;
  do { /* again where ghosts did not suffice: bodies moved further than was foreseen */
    sum = none;
    status = hold_bodies(world);
    if (!status) status = scree_domain_agree(&world->system, save_solver(world));
    if (!status) status = run_substeps(world, &sum);
  } while (status && world->system.domain.outgrown);
  if (status) return status;
  world->stepped = true;
  world->problem = scree_system_problem(&world->system);
  world->problem.vertices.solve = NULL; /* bodies factorise anew in the next step */
  world->steps++;
  world->time_count++;
  sum.time = scree_world_time(world);
  sum.energy_created = scree_system_energy_created(&world->system);
  sum.creep = world->system.audit.creep;
  if (!(sum.creep <= world->system.settings.creep_limit)) {
    sum.certified = false;
    sum.missed |= SCREE_MISSED_CREEP;
  }
  scree_joints_count_bonds(&world->system, -1, &sum.bonds, &sum.bonds_broken);
  if (!(sum.energy_created <= world->system.settings.energy_limit)) {
    sum.certified = false;
    sum.missed |= SCREE_MISSED_ENERGY;
  }
  scree_system_work_end(&world->system, sum.certified);
  status = find_internal_forces(world, &sum);
  if (status) return status;
  if (report) *report = sum;
  return sum.certified ? SCREE_OK : SCREE_NOT_CONVERGED;
}

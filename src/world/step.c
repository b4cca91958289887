/* A step of the world: attempts, halved if they cannot be certified.
 *
 * The step is divided into units of step / 2^max_halvings. A substep of level L is 2^(max - L)
 * units long. An attempt that misses the tolerance, or increases a penetration beyond the limit, is
 * undone and repeated one level deeper; after a success the next substep is one level coarser if
 * it then ends on a multiple of its own length. On the deepest level the result is accepted and
 * reported.
 *
 * Where impacts or soft bodies need shorter steps for a while (refine.c) a step is made of parts of
 * equal length from the start, and an attempt that shows that they are too long is repeated deeper.
 *
 * A part in which a body that stands on something has an impact, or a body has several, is cut
 * there (step/event.c): the attempt is undone, and repeated in two spans. An impact that comes
 * after the end of the part, but before the next kick, is left to the next part, which begins with
 * that cut. A step with cuts that fails is repeated without them. */
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
enum { CUTS = 40, STEPS_PER_CUT = 5 };

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
  int cut; /* how often this step was cut */
  scree_ImpactSums recent;
  bool kept; /* bodies and impulses are kept in the world: substeps were accepted since */
} Origin;

static bool may_cut(const scree_World *world, const Origin *origin) {
  return origin->cut < CUTS && world->cuts * STEPS_PER_CUT <= world->steps + STEPS_PER_CUT * CUTS;
}

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

static scree_Status attempt(scree_World *world, const scree_StepSpan *span, scree_StepReport *sum,
                            scree_StepReport *part, scree_StepOutcome *outcome) {
  scree_System *s = &world->system;
  scree_Status status = span->first ? SCREE_OK : scree_domain_begin(s, false);
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

/* The level that soft bodies in a span of level `level` need. */
static int soft_level(const scree_World *world, int level, const scree_StepOutcome *outcome) {
  return scree_refine_soft(&world->refinement.recent, outcome, level,
                           scree_refine_highest(world->system.settings.max_halvings));
}

/* The level that the impacts of a span of level `level` need, if that is higher, or `level`. */
static int refined(const scree_World *world, const scree_StepSpan *span, int level,
                   const scree_StepOutcome *outcome) {
  const int soft = soft_level(world, level, outcome);
  if (soft > level || outcome->halve) return soft > level ? soft : level;
  const scree_ImpactSums recent = impacts_after(world, span, outcome);
  return level + scree_refine_rises(&world->refinement, &recent, level);
}

/* A part of the step: the whole of it, or a halved one. */
typedef struct Part {
  double from, length; /* from the start of the step */
  double next;         /* length of the one after it */
  int level;
  bool may_halve, may_cut, may_refine;
  bool last; /* of its step */
} Part;

typedef enum PartEnd { DONE, HALVE, REFINE, REPEAT, FAILED } PartEnd;

/* How a part ended. DONE: it stands. HALVE: it cannot be certified; REFINE: its impacts need parts
 * of the level `level`; REPEAT: it is the last one, and the length of the next one was not the
 * right one. Then nothing of it stands. FAILED: one of several spans cannot be certified. */
typedef struct PartOutcome {
  PartEnd end;
  int level, next; /* the latter is that of the next step, raised by what soft bodies need */
} PartOutcome;

static PartEnd end_of(const scree_World *world, const Part *part, const scree_StepSpan *span,
                      bool due, const scree_StepOutcome *outcome, PartOutcome *result) {
  const bool whole = span->h == part->length && !span->before_impact;
  const bool first = outcome->event.time < 0 || outcome->event.chain;
  const int next = result->next, soft = soft_level(world, part->level, outcome);
  if (soft > next) result->next = soft;
  if (part->may_refine && whole && !outcome->event.shared && first)
    result->level = refined(world, span, part->level, outcome);
  if (result->level > part->level) return REFINE;
  if (outcome->halve && (part->may_halve || !whole || outcome->inverted))
    return !part->may_cut || (whole && !due) ? HALVE : FAILED;
  return part->last && soft > next ? REPEAT : DONE;
}

/* A part, in spans between impacts. */
static scree_Status run_part(scree_World *world, Origin *origin, const Part *part,
                             scree_StepReport *sum, PartOutcome *result) {
  scree_System *s = &world->system;
  const double step = s->settings.step, start = scree_world_time(world) + part->from;
  const double instant = scree_event_instant(s), length = part->length, due = world->impact_in;
  double done = 0, next = due >= 0 && part->may_cut ? fmin(due, length) : length;
  bool struck = due >= 0; /* the last span ended before an impact */
  world->impact_in = -1;
  while (done < length) {
    const bool now = next < length && next - done < instant;
    if (now) next = length; /* the impact comes at once */
    const bool before_impact = next < length || world->impact_in >= 0;
    const bool may_cut_it = part->may_cut && !before_impact && may_cut(world, origin);
    const scree_StepSpan span = {.start = start + done,
                                 .h = next - done,
                                 .next = part->next,
                                 .after_impact = struck,
                                 .before_impact = before_impact,
                                 .part = next - done < step,
                                 .first = part->from == 0 && done == 0,
                                 .may_cut = may_cut_it,
                                 .at_once = now,
                                 .since = struck ? world->last_h : 0};
    const Saved saved = save_sums(s);
    scree_StepReport report;
    scree_StepOutcome outcome;
    scree_Status status = attempt(world, &span, sum, &report, &outcome);
    if (status) return status;
    result->end = end_of(world, part, &span, due >= 0, &outcome, result);
    if (result->end != DONE) {
      put_back(s, world->backup, &saved);
      world->impact_in = due;
      return result->end == HALVE && !part->may_halve ? scree_deform_refuse(s) : SCREE_OK;
    }
    if (outcome.event.time >= 0) {
      const double event = done + outcome.event.time;
      put_back(s, world->backup, &saved);
      status = keep_origin(world, origin);
      origin->cut++;
      world->cuts++;
      if (event < length - instant)
        next = event;
      else
        world->impact_in = fmax(0, event - length);
    } else {
      if (span.part) status = keep_origin(world, origin);
      if (!status) status = accept(world, &span, &outcome, &report, sum);
      struck = next < length;
      done = next;
      next = length;
    }
    if (status) return status;
  }
  return SCREE_OK;
}

/* The step in parts of the level `floor`, of deeper ones where they fail. The level rises where
 * impacts need it; *next is that of the step that follows. *failed: a part that was cut cannot be
 * certified. */
static scree_Status run_parts(scree_World *world, Origin *origin, bool may_cut, int *floor,
                              int *next, scree_StepReport *sum, bool *failed) {
  const int max = world->system.settings.max_halvings;
  const long units = 1L << max;
  const double step = world->system.settings.step;
  int level = *floor;
  *failed = false;
  for (long done = 0; done < units;) {
    const long length = units >> level;
    assert(length >= 1 && done % length == 0 && done + length <= units);
    const bool last = done + length == units;
    const int highest = scree_refine_highest(max);
    const Part part = {.from = step * ((double)done / (double)units),
                       .length = step * ((double)length / (double)units),
                       .next = step / (double)(1L << (last ? *next : *floor)),
                       .level = level,
                       .may_halve = level < max,
                       .may_cut = may_cut,
                       .may_refine = level == *floor && level < highest && (may_cut || level > 0),
                       .last = last};
    PartOutcome result = {DONE, level, *next};
    const scree_Status status = run_part(world, origin, &part, sum, &result);
    if (status) return status;
    *failed = result.end == FAILED;
    if (*failed) return SCREE_OK;
    *next = result.next;
    if (result.end == HALVE) ++level;
    if (result.end == REFINE) *next = *floor = level = result.level;
    if (result.end != DONE) continue;
    done += length;
    if (level > *floor && done % (units >> (level - 1)) == 0) --level;
  }
  return SCREE_OK;
}

static scree_Status run_substeps(scree_World *world, scree_StepReport *sum) {
  scree_System *s = &world->system;
  const scree_WorkMeter meter = s->work;
  const scree_Refinement refinement = world->refinement;
  const scree_StepReport none = *sum;
  Origin origin = {save_sums(s),      world->last_h, world->impact_in, world->cuts, 0,
                   refinement.recent, false};
  const int highest = scree_refine_highest(s->settings.max_halvings);
  const int first = refinement.level < highest ? (int)refinement.level : highest;
  int floor = first, next = first > 0 ? scree_refine_next(&refinement, first) : 0;
  if (scree_system_deforms(s)) next = 0; /* raised by what its parts need */
  bool failed = false;
  s->carried.before.count = 0;
  scree_Status status = run_parts(world, &origin, true, &floor, &next, sum, &failed);
  if (!status && failed) {
    const scree_StepReport cost = *sum;
    return_to_origin(world, &origin);
    *sum = none;
    add_cost(sum, &cost);
    world->impact_in = origin.impact_in;
    status = run_parts(world, &origin, false, &floor, &next, sum, &failed);
    assert(status || !failed);
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

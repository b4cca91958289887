/* A step of the world: attempts, halved if they cannot be certified.
 *
 * The step is divided into units of step / 2^max_halvings. A substep of level L is 2^(max - L)
 * units long. An attempt that misses the tolerance, or increases a penetration beyond the limit, is
 * undone and repeated one level deeper; after a success the next substep is one level coarser if
 * it then ends on a multiple of its own length. On the deepest level the result is accepted and
 * reported. */
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

static void swap_memory(scree_Memory *a, scree_Memory *b) {
  const scree_Memory c = *a;
  *a = *b;
  *b = c;
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
  swap_memory(&s->memory, &s->trial);
  scree_joints_commit(&s->joints);
  world->last_h = part->h;
}

/* Memory for the state before the substep, and if the step is halved for the one before the
 * step. */
static scree_Status reserve(scree_World *world, bool halved) {
  if (world->stepped_bodies == world->system.bodies.count) /* no more bodies are being added */
    scree_world_fit(world);
  world->stepped_bodies = world->system.bodies.count;
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

static scree_Status run_substeps(scree_World *world, scree_StepReport *sum) {
  scree_System *s = &world->system;
  const int max = s->settings.max_halvings;
  const long units = 1L << max;
  const double step = s->settings.step, start = scree_world_time(world);
  const size_t bytes = scree_system_snapshot_size(s);
  const Saved first = save_sums(s);
  const double last_h = world->last_h;
  const scree_WorkMeter meter = s->work;
  int level = 0;
  world->halved = false;
  for (long done = 0; done < units;) {
    scree_StepReport part;
    bool halve;
    const long length = units >> level;
    assert(length >= 1 && done % length == 0 && done + length <= units);
    const Saved saved = save_sums(s);
    scree_Status status = done > 0 ? scree_domain_begin(s, false) : SCREE_OK;
    scree_system_save(s, world->backup);
    world->attempts++;
    if (!status)
      status = scree_system_advance(s, start + step * ((double)done / (double)units),
                                    step * ((double)length / (double)units), &part, &halve);
    if (status == SCREE_NOT_CONVERGED) { /* a body was turned inside out: there is no result */
      halve = level < max;
      status = halve ? SCREE_OK : scree_deform_refuse(s);
    }
    if (!status && halve && level == 0 && max > 0) {
      status = reserve(world, true);
      if (!status) status = keep_memory(world);
      if (!status && bytes) memcpy(world->origin, world->backup, bytes);
      if (!status) world->halved = true;
      status = scree_domain_agree(s, status);
    }
    if (!status && !(halve && level < max))
      status = scree_domain_agree(
          s, scree_bodies_check_motion(
                 &s->bodies, start + step * ((double)(done + length) / (double)units), s->log));
    if (status) {
      const bool at_start = done == 0;
      put_back(s, at_start ? world->backup : world->origin, at_start ? &saved : &first);
      if (!at_start) swap_memory(&s->memory, &world->kept);
      s->work = meter;
      world->last_h = last_h;
      put_solver_back(world);
      return status;
    }
    add_cost(sum, &part);
    if (halve && level < max) {
      put_back(s, world->backup, &saved);
      ++level;
      continue;
    }
    commit(world, &part);
    add_result(sum, &part);
    done += length;
    if (level > 0 && done % (units >> (level - 1)) == 0) --level;
  }
  return SCREE_OK;
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
  scree_joints_count_bonds(&world->system.joints, -1, &sum.bonds, &sum.bonds_broken);
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

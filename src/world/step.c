/* A step of the world: attempts, halved where they cannot be certified.
 *
 * The step is cut into units of step / 2^max_halvings. A substep of level L is 2^(max - L) units
 * long. An attempt that misses the tolerance, or makes a penetration beyond the limit worse, is
 * undone and made again one level deeper; after a success the next substep is one level coarser as
 * far as it then ends on a multiple of its own length. On the deepest level the result stands and
 * is reported. */
#include "core/log.h"
#include "core/memory.h"
#include "world/world.h"

#include <string.h>

static void save_motion(scree_World *world) {
  const scree_Bodies *b = &world->system.bodies;
  if (b->count) memcpy(world->backup, b->motion, (size_t)b->count * sizeof *b->motion);
}

static void put_back(scree_World *world) {
  scree_Bodies *b = &world->system.bodies;
  if (b->count) memcpy(b->motion, world->backup, (size_t)b->count * sizeof *b->motion);
}

static void add_energy(scree_EnergyBalance *sum, const scree_EnergyBalance *e, bool absolute) {
  sum->kinetic = e->kinetic;
  sum->potential = e->potential;
  sum->forces += e->forces;
  sum->drivers += e->drivers;
  sum->normal += e->normal;
  sum->friction += e->friction;
  sum->scheme += e->scheme;
  sum->stabilisation += e->stabilisation;
  sum->closing += absolute ? fabs(e->closing) : e->closing;
}

/* What attempts cost, whether or not they stood. */
static void add_cost(scree_StepReport *sum, const scree_StepReport *part) {
  sum->iterations += part->iterations;
  sum->solves += part->solves;
  sum->retries += part->retries;
  sum->redetections += part->redetections;
  sum->seconds_detect += part->seconds_detect;
  sum->seconds_build += part->seconds_build;
  sum->seconds_solve += part->seconds_solve;
  sum->seconds_move += part->seconds_move;
  sum->seconds_certify += part->seconds_certify;
}

/* A substep that stands. NaN counts as worst. */
static void add_result(scree_StepReport *sum, const scree_StepReport *part) {
  sum->certified = sum->certified && part->certified;
  sum->contacts = part->contacts;
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
  sum->cone_violation = fmax(sum->cone_violation, part->cone_violation);
  sum->stabilised = sum->stabilised || part->stabilised;
  sum->stabilisation_error = fmax(sum->stabilisation_error, part->stabilisation_error);
  sum->solve = part->solve;
  sum->substeps++;
  add_energy(&sum->energy, &part->energy, false);
}

static void commit(scree_World *world, const scree_StepReport *part) {
  scree_System *s = &world->system;
  const double bank = s->bank + part->energy.normal + part->energy.friction;
  s->bank = bank > 0 ? bank : 0;
  s->penetration = part->penetration;
  s->energy_known = true;
  add_energy(&s->total, &part->energy, true);
  world->last_h = part->h;
}

scree_Status scree_world_step(scree_World *world, scree_StepReport *report) {
  scree_System *s = &world->system;
  const int max = s->settings.max_halvings;
  const double step = s->settings.step, start = scree_world_time(world);
  const long units = 1L << max;
  scree_StepReport sum = {.certified = true,
                          .step = world->steps + 1,
                          .h = step,
                          .tolerance = s->settings.solve.tolerance,
                          .worst_body = {-1, -1},
                          .deepest_body = {-1, -1}};
  if (!scree_grow((void **)&world->backup, &world->backup_capacity, (size_t)s->bodies.count,
                  sizeof *world->backup))
    return scree_fail_memory(&world->log, "the state before a step");
  world->stepped = false;
  int level = 0;
  for (long done = 0; done < units;) {
    scree_StepReport part;
    bool halve;
    const long length = units >> level;
    const double bank = s->bank, h = step * ((double)length / (double)units);
    save_motion(world);
    scree_Status status =
        scree_system_advance(s, start + step * ((double)done / (double)units), h, &part, &halve);
    if (status) {
      put_back(world);
      s->bank = bank;
      return status;
    }
    add_cost(&sum, &part);
    if (halve && level < max) {
      put_back(world);
      s->bank = bank;
      ++level;
      continue;
    }
    commit(world, &part);
    add_result(&sum, &part);
    done += length;
    if (level > 0 && done % (units >> (level - 1)) == 0) --level;
  }
  world->stepped = true;
  world->steps++;
  world->time_count++;
  sum.time = scree_world_time(world);
  if (report) *report = sum;
  return sum.certified ? SCREE_OK : SCREE_NOT_CONVERGED;
}

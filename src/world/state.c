/* Saving and restoring the state that changes from step to step.
 *
 * Layout: a header of fixed size, then the motions of all bodies, the numbers of removed ones with
 * the step of their removal, then the keys, impulses and positions of the contacts of the last
 * step, which start the next solve, the memory of their laws, the drivers and forces, and the
 * memory of the solver. The broad phase keeps a list between steps, but only as a list of
 * candidates: results do not depend on it, so it is rebuilt. */
#include "world/state.h"
#include "body/actuation.h"
#include "body/signal.h"
#include "core/log.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

static const char magic[8] = "screes17";

typedef scree_StateHeader Header;
typedef scree_StateRemoved Removed;

static size_t contact_bytes(size_t stride) {
  return sizeof(scree_ContactKey) + 2 * sizeof(scree_Vec3) + stride * sizeof(double);
}

size_t scree_world_state_size(const scree_World *world) {
  const scree_System *s = &world->system;
  return sizeof(Header) + scree_system_snapshot_size(s) +
         (size_t)s->bodies.gone_count * sizeof(Removed) +
         s->memory.count * contact_bytes(s->memory.stride) + scree_actuation_size(&s->bodies) +
         s->memory.late.count * sizeof(scree_Late) + scree_solver_state_size(s->solver);
}

static char *put(char *at, const void *data, size_t size) {
  if (size) memcpy(at, data, size);
  return at + size;
}

static const char *take(const char *at, void *data, size_t size) {
  if (size) memcpy(data, at, size);
  return at + size;
}

void scree_world_get_progress(const scree_World *world, scree_WorldTotals *progress) {
  const scree_System *s = &world->system;
  memset(progress, 0, sizeof *progress); /* padding too: it is saved and sent */
  progress->time_start = world->time_start;
  progress->last_h = world->last_h;
  progress->memory_h = s->memory.h;
  progress->penetration = s->penetration;
  progress->time_count = world->time_count;
  progress->steps = world->steps;
  progress->total = s->total;
  progress->audit = s->audit;
  progress->work = s->work;
  progress->energy_known = s->energy_known;
  progress->impact_in = world->impact_in;
  progress->cuts = world->cuts;
  progress->refinement = world->refinement;
}

void scree_world_set_progress(scree_World *world, const scree_WorldTotals *progress) {
  scree_System *s = &world->system;
  world->time_start = progress->time_start;
  world->last_h = progress->last_h;
  world->time_count = progress->time_count;
  world->steps = progress->steps;
  world->stepped = false;
  world->contact_generation++;
  s->memory.h = progress->memory_h;
  s->penetration = progress->penetration;
  s->total = progress->total;
  s->audit = progress->audit;
  s->work = progress->work;
  s->energy_known = progress->energy_known != 0;
  world->impact_in = progress->impact_in;
  world->cuts = progress->cuts;
  world->refinement = progress->refinement;
  scree_broad_invalidate(s->broad);
}

scree_StateHeader scree_state_header(const scree_World *world) {
  const scree_System *s = &world->system;
  scree_StateHeader header;
  memset(&header, 0, sizeof header); /* padding too: the same state gives the same bytes */
  memcpy(header.magic, magic, sizeof magic);
  header.size = (int64_t)scree_world_state_size(world);
  header.dimension = s->bodies.dimension;
  header.bodies = s->bodies.count;
  header.contacts = (int64_t)s->memory.count;
  header.removed = s->bodies.gone_count;
  header.late = (int64_t)s->memory.late.count;
  header.actuation = (int64_t)scree_actuation_size(&s->bodies);
  header.stride = (int64_t)s->memory.stride;
  header.solver = (int64_t)scree_solver_state_size(s->solver);
  header.step = s->settings.step;
  scree_world_get_progress(world, &header.progress);
  return header;
}

void scree_state_continue(scree_World *world, const Header *header) {
  scree_world_set_progress(world, &header->progress);
  if (header->step == world->system.settings.step) return;
  world->time_start += (double)world->time_count * header->step; /* the scene has another step */
  world->time_count = 0;
}

void scree_world_save(const scree_World *world, void *buffer) {
  const scree_System *s = &world->system;
  const Header header = scree_state_header(world);
  char *at = put(buffer, &header, sizeof header);
  scree_system_save(s, at);
  at += scree_system_snapshot_size(s);
  for (int k = 0; s->bodies.gone_count > 0 && k < s->bodies.count; ++k) {
    const Removed removed = {k, s->bodies.gone[k]};
    if (removed.step >= 0) at = put(at, &removed, sizeof removed);
  }
  at = put(at, s->memory.late.at, s->memory.late.count * sizeof(scree_Late));
  at = put(at, s->memory.keys, s->memory.count * sizeof *s->memory.keys);
  at = put(at, s->memory.impulses, s->memory.count * sizeof *s->memory.impulses);
  at = put(at, s->memory.arms, s->memory.count * sizeof *s->memory.arms);
  at = put(at, s->memory.values, s->memory.count * s->memory.stride * sizeof *s->memory.values);
  scree_actuation_save(&s->bodies, at);
  scree_solver_save(s->solver, at + header.actuation);
}

static bool all_finite(const char *at, size_t bytes) {
  for (size_t k = 0; k + sizeof(double) <= bytes; k += sizeof(double)) {
    double x;
    memcpy(&x, at + k, sizeof x);
    if (!isfinite(x)) return false;
  }
  return true;
}

static bool is_pause(const scree_Pause *pause) {
  return pause->failures >= 0 && pause->failures <= 30 && pause->steps >= 0;
}

/* Check the numbers of a buffer whose sizes have been checked. A step assumes finite ones. */
static scree_Status check_numbers(const scree_World *world, const char *buffer,
                                  const Header *header) {
  const size_t contacts = (size_t)header->contacts;
  const char *motions = buffer + sizeof *header;
  const size_t motion_bytes = scree_system_snapshot_size(&world->system);
  const char *late = motions + motion_bytes + (size_t)header->removed * sizeof(Removed);
  const char *keys = late + (size_t)header->late * sizeof(scree_Late);
  const char *what = NULL;
  for (int64_t k = 0; k < header->late; ++k) {
    scree_Late one;
    late = take(late, &one, sizeof one);
    if (one.body < 0 || one.body >= header->bodies || !scree_twist_is_finite(&one.way) ||
        !(one.left >= 0))
      what = "impacts";
  }
  if (!all_finite(motions, motion_bytes)) what = "motions";
  if (!all_finite(keys + contacts * sizeof(scree_ContactKey),
                  contacts * (contact_bytes((size_t)header->stride) - sizeof(scree_ContactKey))))
    what = "impulses";
  const scree_WorldTotals *p = &header->progress;
  if (!(header->step > 0) || !isfinite(header->step) || !isfinite(p->time_start) ||
      !(p->last_h >= 0) || !isfinite(p->last_h) || !(p->memory_h >= 0) || !isfinite(p->memory_h) ||
      p->time_count < 0 || p->steps < 0 || !isfinite(p->impact_in) || p->cuts < 0 ||
      p->refinement.level < 0 || p->refinement.level > scree_refine_highest(INT32_MAX))
    what = "time";
  const scree_ImpactSums *recent = &p->refinement.recent;
  if (!(recent->error >= 0) || !(recent->energy >= 0) || !(recent->latest >= 0)) what = "impacts";
  if (!isfinite(p->refinement.spent) || !(p->refinement.usual >= 0)) what = "account of work";
  if (!is_pause(&p->work.pause) || !is_pause(&p->work.rest) || !is_pause(&p->work.few) ||
      !is_pause(&p->work.stress) || !scree_account_is_valid(&p->work.account))
    what = "account of work";
  if (!what) return SCREE_OK;
  return scree_fail(
      &world->log, SCREE_BAD_INPUT,
      "state: its %s has numbers that are not finite or not possible, expected those of a world",
      what);
}

static size_t actuation_at(const Header *header) {
  return (size_t)(header->size - header->solver - header->actuation);
}

scree_Status scree_state_check_header(const scree_World *world, const Header *header, int bodies) {
  if (memcmp(header->magic, magic, sizeof magic) != 0)
    return scree_fail(
        &world->log, SCREE_BAD_INPUT,
        "state: found another beginning, expected \"%.8s\": not a state, or of another version",
        magic);
  const int dimension = world->system.bodies.dimension;
  if (header->dimension != dimension || header->bodies != bodies)
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "state: of a %dD world of %d bodies, expected %dD and %d", header->dimension,
                      header->bodies, dimension, bodies);
  return SCREE_OK;
}

static scree_Status check(const scree_World *world, const void *buffer, size_t size,
                          Header *header) {
  const scree_System *s = &world->system;
  if (size < sizeof *header)
    return scree_fail(&world->log, SCREE_BAD_INPUT, "state: %zu bytes, expected at least %zu", size,
                      sizeof *header);
  memcpy(header, buffer, sizeof *header);
  const scree_Status known = scree_state_check_header(world, header, s->bodies.count);
  if (known) return known;
  const size_t after =
      size - sizeof *header; /* sums of three counts below `after` do not overflow */
  const bool whole = header->solver >= 0 && (size_t)header->solver <= after &&
                     header->actuation >= 0 &&
                     (size_t)header->actuation <= after - (size_t)header->solver;
  const size_t rest = after - (whole ? (size_t)(header->solver + header->actuation) : 0);
  const bool sound = whole && header->removed >= 0 && header->removed <= header->bodies &&
                     header->late >= 0 && header->late <= header->bodies && header->stride >= 0 &&
                     header->stride <= SCREE_LAW_MEMORY;
  const size_t motions =
      scree_system_snapshot_size(s) +
      (sound ? (size_t)header->removed * sizeof(Removed) + (size_t)header->late * sizeof(scree_Late)
             : 0);
  const size_t each = contact_bytes(sound ? (size_t)header->stride : 0);
  if (!sound || header->size != (int64_t)size || header->contacts < 0 || rest < motions ||
      (rest - motions) % each != 0 || (rest - motions) / each != (size_t)header->contacts)
    return scree_fail(
        &world->log, SCREE_BAD_INPUT,
        "state: found %zu bytes, expected the size of a state of %d bodies and %lld contacts", size,
        header->bodies, (long long)header->contacts);
  const char *at = (const char *)buffer + sizeof *header + scree_system_snapshot_size(s);
  for (int64_t k = 0; k < header->removed; ++k) {
    Removed removed;
    at = take(at, &removed, sizeof removed);
    if (removed.body < 0 || removed.body >= header->bodies || removed.step < 0)
      return scree_fail(&world->log, SCREE_BAD_INPUT,
                        "state: body %lld was removed after step %lld, expected a body of the "
                        "world and a step from 0 on",
                        (long long)removed.body, (long long)removed.step);
  }
  const scree_Status status = check_numbers(world, buffer, header);
  if (status) return status;
  return scree_actuation_check(&s->bodies, (const char *)buffer + actuation_at(header),
                               (size_t)header->actuation, &world->log);
}

/* Remove the bodies that are removed in the state, and no others. */
static scree_Status restore_removed(scree_World *world, const char **at, int64_t count) {
  scree_Bodies *b = &world->system.bodies;
  scree_Status status = SCREE_OK;
  for (int k = 0; k < b->count && status == SCREE_OK; ++k)
    status = scree_bodies_set_gone(b, k, -1, &world->log);
  for (int64_t k = 0; k < count && status == SCREE_OK; ++k) {
    Removed removed;
    *at = take(*at, &removed, sizeof removed);
    status = scree_bodies_set_gone(b, (int)removed.body, removed.step, &world->log);
  }
  return status;
}

scree_Status scree_world_restore(scree_World *world, const void *buffer, size_t size) {
  scree_System *s = &world->system;
  scree_Memory *memory = &s->memory;
  Header header;
  scree_Status status = check(world, buffer, size, &header);
  if (status) return status;
  const size_t contacts = (size_t)header.contacts, late = (size_t)header.late;
  if (!scree_grow((void **)&memory->late.at, &memory->late.capacity, late, sizeof(scree_Late)) ||
      !scree_memory_reserve(memory, contacts, (size_t)header.stride))
    return scree_fail_memory(&world->log, "the impulses of a saved state");
  status = scree_creep_reserve(s, (size_t)s->bodies.count);
  if (status) return status;
  status = scree_solver_restore(s->solver, (const char *)buffer + size - header.solver,
                                (size_t)header.solver);
  if (status) return status;
  status = scree_actuation_restore(&s->bodies, (const char *)buffer + actuation_at(&header),
                                   (size_t)header.actuation, &world->log);
  if (status) return status;
  const char *at = (const char *)buffer + sizeof header;
  scree_system_restore(s, at);
  at += scree_system_snapshot_size(s);
  status = restore_removed(world, &at, header.removed);
  if (status) return status;
  at = take(at, memory->late.at, late * sizeof(scree_Late));
  at = take(at, memory->keys, contacts * sizeof *memory->keys);
  at = take(at, memory->impulses, contacts * sizeof *memory->impulses);
  at = take(at, memory->arms, contacts * sizeof *memory->arms);
  take(at, memory->values, contacts * memory->stride * sizeof *memory->values);
  memory->count = contacts;
  memory->late.count = late;
  scree_state_continue(world, &header);
  return scree_memory_order(s); /* ranks save contacts in the order of their bodies */
}

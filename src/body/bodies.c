/* Adding and describing bodies (see bodies.h). */
#include "body/bodies.h"

#include "body/patch.h"
#include "body/signal.h"
#include "core/log.h"
#include "core/memory.h"
#include "element/elastic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 64 };

scree_BodyDef scree_body_def(void) {
  return (scree_BodyDef){.pose = {.orientation = {1, 0, 0, 0}}, .density = 1000};
}

void scree_bodies_init(scree_Bodies *bodies, int dimension) {
  *bodies = (scree_Bodies){
      .dimension = dimension, .nb = dimension == 2 ? 3 : 6, .balls = true, .thinnest = INFINITY};
}

void scree_bodies_fini(scree_Bodies *bodies) {
  for (int k = 0; k < bodies->count; ++k) scree_shape_fini(&bodies->cold[k].shape);
  for (int k = 0; k < bodies->driver_count; ++k) scree_signal_fini(&bodies->drivers[k].signal);
  for (int k = 0; k < bodies->force_count; ++k) {
    scree_signal_fini(&bodies->forces[k].signal);
    scree_patch_destroy(bodies->forces[k].patch);
  }
  for (int k = 0; k < bodies->deformable_count; ++k)
    if (bodies->deformable[k].class_) bodies->deformable[k].class_->destroy(&bodies->deformable[k]);
  scree_free(bodies->deformable);
  scree_free(bodies->deformable_index);
  scree_free(bodies->state);
  scree_free(bodies->work);
  scree_free(bodies->account);
  scree_free(bodies->motion);
  scree_free(bodies->inertia);
  scree_free(bodies->cold);
  scree_free(bodies->fixed);
  scree_free(bodies->gone);
  scree_free(bodies->drivers);
  scree_free(bodies->forces);
  *bodies = (scree_Bodies){0};
}

static bool vec_is_finite(scree_Vec3 a) {
  return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

scree_Status scree_bodies_check_pose(const scree_Bodies *bodies, int body, const scree_Pose *pose,
                                     const scree_Log *log) {
  const scree_Quat q = pose->orientation;
  const double norm = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (!vec_is_finite(pose->position))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: position (%g, %g, %g), expected finite numbers", body,
                      pose->position.x, pose->position.y, pose->position.z);
  if (!(norm > 0) || !isfinite(norm))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: orientation (%g, %g, %g, %g), expected a quaternion other than 0",
                      body, q.w, q.x, q.y, q.z);
  if (bodies->dimension == 2 && (pose->position.z != 0 || q.x != 0 || q.y != 0))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: position z = %g, orientation x, y = %g, %g, expected 0 in 2D", body,
                      pose->position.z, q.x, q.y);
  return SCREE_OK;
}

/* Mass and principal moments of a body from its definition. */
static scree_Status fill_inertia(const scree_Bodies *bodies, const scree_BodyDef *def,
                                 scree_Inertia *inertia, const scree_Log *log) {
  const int body = bodies->count;
  const scree_Shape *shape = def->shape;
  *inertia = (scree_Inertia){0};
  if (def->obstacle) return SCREE_OK;
  if (!scree_shape_type(shape->kind)->bounded)
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: a %s has no mass, expected an obstacle", body,
                      scree_shape_type(shape->kind)->name);
  double mass = def->mass;
  if (mass == 0 && !(def->density > 0 && isfinite(def->density)))
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: density %g, expected > 0", body,
                      def->density);
  if (mass == 0) mass = def->density * shape->volume;
  if (!(mass > 0) || !isfinite(mass))
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: mass %g, expected > 0", body, mass);
  scree_Vec3 J = def->inertia;
  if (J.x == 0 && J.y == 0 && J.z == 0) {
    if (!(shape->volume > 0))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "body %d: its shape has no volume, expected a mass and an inertia", body);
    J = scree_scale(mass / shape->volume, shape->inertia);
  }
  if (bodies->dimension == 2) J.x = J.y = J.z;
  if (!(J.x > 0 && J.y > 0 && J.z > 0) || !vec_is_finite(J))
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: inertia (%g, %g, %g), expected > 0", body,
                      J.x, J.y, J.z);
  inertia->mass = mass;
  inertia->inv_sqrt_mass = 1 / sqrt(mass);
  inertia->moments = J;
  inertia->inv_sqrt_moments = scree_vec3(1 / sqrt(J.x), 1 / sqrt(J.y), 1 / sqrt(J.z));
  return SCREE_OK;
}

bool scree_bodies_reserve(scree_Bodies *b, size_t n) {
  return scree_grow_lean((void **)&b->motion, &b->motion_capacity, n, sizeof *b->motion) &&
         scree_grow_lean((void **)&b->inertia, &b->inertia_capacity, n, sizeof *b->inertia) &&
         scree_grow_lean((void **)&b->cold, &b->cold_capacity, n, sizeof *b->cold) &&
         scree_grow_lean((void **)&b->fixed, &b->fixed_capacity, n, sizeof *b->fixed);
}

static bool grow_gone(scree_Bodies *b, size_t count) {
  return scree_grow_lean((void **)&b->gone, &b->gone_capacity, count, sizeof *b->gone);
}

void scree_bodies_fit(scree_Bodies *b) {
  const size_t n = (size_t)b->count;
  scree_fit((void **)&b->motion, &b->motion_capacity, n, sizeof *b->motion);
  scree_fit((void **)&b->inertia, &b->inertia_capacity, n, sizeof *b->inertia);
  scree_fit((void **)&b->cold, &b->cold_capacity, n, sizeof *b->cold);
  scree_fit((void **)&b->fixed, &b->fixed_capacity, n, sizeof *b->fixed);
  if (b->gone) scree_fit((void **)&b->gone, &b->gone_capacity, n, sizeof *b->gone);
  if (b->deformable_index)
    scree_fit((void **)&b->deformable_index, &b->index_capacity, n, sizeof *b->deformable_index);
}

static scree_Status add_driver(scree_Bodies *b, const scree_BodyDef *def, const scree_Log *log) {
  char owner[NAME];
  scree_Signal signal;
  snprintf(owner, sizeof owner, "body %d: driver", b->count);
  if (!scree_grow((void **)&b->drivers, &b->driver_capacity, (size_t)b->driver_count + 1,
                  sizeof *b->drivers))
    return scree_fail_memory(log, "the drivers of obstacles");
  scree_Status status = scree_signal_copy(&def->driver, owner, &signal, log);
  if (!status) b->drivers[b->driver_count++] = (scree_Driver){.signal = signal, .body = b->count};
  return status;
}

/* ---- deformable bodies ----------------------------------------------------------------------- */

const char *scree_body_kind_name(scree_BodyKind kind) {
  return kind < SCREE_BODY_KINDS ? scree_body_registry[kind]->name : NULL;
}

scree_BodyKind scree_body_kind(const char *name) {
  int kind = 0;
  while (kind < SCREE_BODY_KINDS && strcmp(scree_body_registry[kind]->name, name) != 0) ++kind;
  return (scree_BodyKind)kind;
}

bool scree_deformable_reserve(scree_Bodies *b, size_t components) {
  const size_t n = (size_t)b->count + 1, all = 2 * (b->components + components);
  const bool first = !b->deformable_index;
  if (!scree_grow_lean((void **)&b->deformable_index, &b->index_capacity, n,
                       sizeof *b->deformable_index))
    return false;
  if (first)
    for (int k = 0; k < b->count; ++k) b->deformable_index[k] = -1;
  if (components == 0) return true;
  return scree_grow_lean((void **)&b->deformable, &b->deformable_capacity,
                         (size_t)b->deformable_count + 1, sizeof *b->deformable) &&
         scree_grow_lean((void **)&b->state, &b->state_capacity, all, sizeof *b->state) &&
         scree_grow_lean((void **)&b->work, &b->work_capacity, all, sizeof *b->work) &&
         scree_grow_lean((void **)&b->account, &b->account_capacity,
                         (size_t)b->deformable_count + 1, sizeof *b->account);
}

scree_Status scree_deformable_make(scree_Bodies *b, int k, const scree_BodyDef *def,
                                   const scree_Inertia *inertia, scree_Deformable *self,
                                   const scree_Log *log) {
  scree_Deformable made = {.class_ = scree_body_registry[def->kind],
                           .body = k,
                           .dimension = b->dimension,
                           .offset = b->components,
                           .elastic = def->elastic};
  made.ringing = scree_ringing(&def->elastic, inertia->mass / def->shape->volume, def->shape->size);
  const scree_Status status = made.class_->create(def, inertia, &made, log);
  if (status) return status;
  made.components = (size_t)made.vertices * (size_t)made.size;
  if (!scree_deformable_reserve(b, made.components)) {
    made.class_->destroy(&made);
    return scree_fail_memory(log, "the deformable bodies");
  }
  /* the name as the registry has it outlives the caller's */
  made.elastic.model = scree_elastic_model(scree_elastic_find(def->elastic.model), NULL);
  made.elastic.held = NULL;
  made.elastic.held_user = NULL;
  *self = made;
  return SCREE_OK;
}

/* Make what a deformable body owns, and room for it; self->class_ stays null for other bodies. */
static scree_Status create_deformable(scree_Bodies *b, const scree_BodyDef *def,
                                      const scree_Inertia *inertia, scree_Deformable *self,
                                      const scree_Log *log) {
  const int body = b->count;
  if (def->kind >= SCREE_BODY_KINDS)
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: kind %d, expected 0 to %d", body,
                      (int)def->kind, SCREE_BODY_KINDS - 1);
  if (def->obstacle && def->kind != SCREE_BODY_RIGID)
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: an obstacle is %s, expected rigid", body,
                      scree_body_registry[def->kind]->name);
  if (def->kind == SCREE_BODY_RIGID) {
    if (b->deformable_index && !scree_deformable_reserve(b, 0))
      return scree_fail_memory(log, "the deformable bodies");
    return SCREE_OK;
  }
  return scree_deformable_make(b, body, def, inertia, self, log);
}

/* The body whose cold data and motion have just been written. */
static void add_deformable(scree_Bodies *b, const scree_Deformable *self) {
  const int k = self->body;
  const scree_Motion motion = b->motion[k];
  if (!b->deformable || !b->deformable_index) return; /* create_deformable made room for it */
  b->deformable[b->deformable_count] = *self;
  b->account[b->deformable_count] = 0;
  b->deformable_index[k] = b->deformable_count++;
  b->components += self->components;
  b->balls = false;
  scree_bodies_set_undeformed(b, k, &motion.pose);
  scree_bodies_set_rigid_velocity(b, k, &motion.velocity);
}

scree_Status scree_bodies_add(scree_Bodies *bodies, const scree_BodyDef *def,
                              const scree_Log *log) {
  scree_Inertia inertia;
  const int body = bodies->count;
  if (!def->shape)
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: found no shape, expected one", body);
  const scree_ShapeType *type = scree_shape_type(def->shape->kind);
  if (type->dimension != bodies->dimension)
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: a %s is %dD, expected %dD", body, type->name,
                      type->dimension, bodies->dimension);
  scree_Status status = scree_bodies_check_pose(bodies, body, &def->pose, log);
  if (!status) status = fill_inertia(bodies, def, &inertia, log);
  if (status) return status;
  if (!scree_twist_is_finite(&def->velocity))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: found a velocity that is not finite, expected finite numbers",
                      body);
  if (!def->obstacle && (def->driver.kind != SCREE_SIGNAL_ZERO || def->belt))
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: it has a driver, expected an obstacle", body);
  if (!scree_bodies_reserve(bodies, (size_t)body + 1) ||
      (bodies->gone && !grow_gone(bodies, (size_t)body + 1)))
    return scree_fail_memory(log, "the bodies");
  scree_Deformable deformable = {.class_ = NULL};
  status = create_deformable(bodies, def, &inertia, &deformable, log);
  if (status) return status;
  scree_BodyCold cold = {
      .material = def->material, .group = def->group, .driver = -1, .belt = def->belt};
  scree_shape_copy(def->shape, &cold.shape);
  if (def->driver.kind != SCREE_SIGNAL_ZERO) {
    cold.driver = bodies->driver_count;
    status = add_driver(bodies, def, log);
    if (status) { /* only obstacles have drivers: there is no deformable body to destroy */
      scree_shape_fini(&cold.shape);
      return status;
    }
  }
  scree_Motion motion = {.pose = def->pose};
  motion.pose.orientation = scree_quat_normalize(def->pose.orientation);
  if (!def->obstacle)
    motion.velocity = bodies->dimension == 2 ? scree_twist_planar(def->velocity) : def->velocity;
  bodies->motion[body] = motion;
  bodies->inertia[body] = inertia;
  bodies->cold[body] = cold;
  bodies->fixed[body] = def->obstacle ? SCREE_BODY_OBSTACLE : 0;
  if (bodies->gone) bodies->gone[body] = -1;
  if (bodies->deformable_index) bodies->deformable_index[body] = -1;
  bodies->balls = bodies->balls && (def->obstacle || scree_is_ball(&cold.shape, &inertia));
  if (cold.shape.size < bodies->thinnest) bodies->thinnest = cold.shape.size;
  bodies->count++;
  if (deformable.class_) add_deformable(bodies, &deformable);
  return SCREE_OK;
}

double scree_force_factor(const scree_Force *force, scree_Vec3 place[2][2]) {
  double factor = 1;
  for (int k = 0; k < 2; ++k) {
    const scree_Span *span = &force->span[k];
    if (!scree_span_counts(span)) continue;
    const scree_Vec3 way = scree_sub(place[k][0], place[k][1]);
    factor *= fmax(0, scree_dot(span->along, way) - span->less);
  }
  return factor;
}

scree_Status scree_force_check_spans(const scree_ForceDef *def, int bodies, const scree_Log *log) {
  for (int k = 0; k < 2; ++k) {
    const scree_Span *span = &def->span[k];
    if (!isfinite(scree_norm2(span->along)) || !isfinite(span->less))
      return scree_fail(log, SCREE_BAD_INPUT, "force: a span is not finite, expected numbers");
    for (int side = 0; scree_span_counts(span) && side < 2; ++side)
      if (span->body[side] < 0 || span->body[side] >= bodies)
        return scree_fail(log, SCREE_BAD_INPUT, "force: span of body %d, expected 0 .. %d",
                          span->body[side], bodies - 1);
  }
  return SCREE_OK;
}

scree_Status scree_bodies_add_force(scree_Bodies *bodies, const scree_ForceDef *def,
                                    const scree_Log *log) {
  if (def->body < -1 || def->body >= bodies->count)
    return scree_fail(log, SCREE_BAD_INPUT, "force: on body %d, expected -1 .. %d", def->body,
                      bodies->count - 1);
  if (def->body >= 0 && bodies->fixed[def->body])
    return scree_fail(log, SCREE_BAD_INPUT,
                      "force: on body %d, an obstacle, expected a body that forces move",
                      def->body);
  scree_Status status = scree_force_check_spans(def, bodies->count, log);
  if (status) return status;
  if (!scree_grow((void **)&bodies->forces, &bodies->force_capacity,
                  (size_t)bodies->force_count + 1, sizeof *bodies->forces))
    return scree_fail_memory(log, "the forces");
  scree_Force force = {
      .body = def->body, .per_mass = def->per_mass, .span = {def->span[0], def->span[1]}};
  if (def->nodes) status = scree_patch_create(bodies, def, &force.patch, log);
  if (!status) status = scree_signal_copy(&def->signal, "force", &force.signal, log);
  if (!status)
    bodies->forces[bodies->force_count++] = force;
  else
    scree_patch_destroy(force.patch);
  return status;
}

scree_Status scree_bodies_set_gone(scree_Bodies *b, int body, int64_t step, const scree_Log *log) {
  const bool was = b->fixed[body] & SCREE_BODY_GONE, is = step >= 0;
  if (!b->gone) {
    if (!is) return SCREE_OK;
    if (!grow_gone(b, (size_t)b->count)) return scree_fail_memory(log, "the removed bodies");
    for (int k = 0; k < b->count; ++k) b->gone[k] = -1;
  }
  b->gone[body] = is ? step : -1;
  b->gone_count += (int)is - (int)was;
  b->fixed[body] &= (unsigned char)~SCREE_BODY_GONE;
  if (!is) return SCREE_OK;
  b->fixed[body] |= SCREE_BODY_GONE;
  const scree_Twist rest = {{0, 0, 0}, {0, 0, 0}};
  b->motion[body].velocity = rest;
  if (scree_bodies_deformable(b, body)) scree_bodies_set_rigid_velocity(b, body, &rest);
  return SCREE_OK;
}

scree_Status scree_bodies_drive(scree_Bodies *bodies, double time, const scree_Log *log) {
  for (int k = 0; k < bodies->driver_count; ++k) {
    scree_Driver *driver = &bodies->drivers[k];
    if (bodies->fixed[driver->body] & SCREE_BODY_GONE) continue;
    scree_Twist velocity = scree_signal_at(&driver->signal, time);
    if (bodies->dimension == 2) velocity = scree_twist_planar(velocity);
    const scree_Status status =
        scree_signal_check(&driver->signal, &velocity, "driver of body", driver->body, time, log);
    if (status) return status;
    driver->before = bodies->motion[driver->body].velocity;
    bodies->motion[driver->body].velocity = velocity;
  }
  return SCREE_OK;
}

static bool motion_is_finite(const scree_Motion *motion) {
  const scree_Quat q = motion->pose.orientation;
  return vec_is_finite(motion->pose.position) && scree_twist_is_finite(&motion->velocity) &&
         isfinite(q.w) && isfinite(q.x) && isfinite(q.y) && isfinite(q.z);
}

scree_Status scree_bodies_check_motion(const scree_Bodies *bodies, double time,
                                       const scree_Log *log) {
  for (int k = 0; k < bodies->count; ++k) {
    const scree_Motion *motion = &bodies->motion[k];
    if (motion_is_finite(motion)) continue;
    const char *what = !vec_is_finite(motion->pose.position)       ? "position"
                       : !scree_twist_is_finite(&motion->velocity) ? "velocity"
                                                                   : "orientation";
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: its %s is not finite at t = %.9g s: a velocity or force is too "
                      "large for numbers of this machine, or the time step is too long",
                      k, what, time);
  }
  return SCREE_OK;
}

size_t scree_bodies_snapshot_size(const scree_Bodies *b) {
  return (size_t)b->count * sizeof *b->motion +
         (2 * b->components + (size_t)b->deformable_count) * sizeof *b->state;
}

/* Below this many bodies a team of threads costs more than the copying. */
enum { PARALLEL_BODIES = 4096 };

void scree_bodies_save(const scree_Bodies *b, int threads, void *snapshot) {
  const size_t motions = (size_t)b->count * sizeof *b->motion;
  const size_t states = 2 * b->components * sizeof *b->state;
  if (threads > 1 && b->count >= PARALLEL_BODIES) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < threads; ++k) {
      const size_t first = (size_t)b->count * (size_t)k / (size_t)threads;
      const size_t last = (size_t)b->count * ((size_t)k + 1) / (size_t)threads;
      const size_t size = sizeof *b->motion;
      memcpy((char *)snapshot + first * size, b->motion + first, (last - first) * size);
    }
  } else if (motions) {
    memcpy(snapshot, b->motion, motions);
  }
  if (!states) return;
  memcpy((char *)snapshot + motions, b->state, states);
  memcpy((char *)snapshot + motions + states, b->account,
         (size_t)b->deformable_count * sizeof *b->account);
}

void scree_bodies_restore(scree_Bodies *b, const void *snapshot) {
  const size_t motions = (size_t)b->count * sizeof *b->motion;
  const size_t states = 2 * b->components * sizeof *b->state;
  if (motions) memcpy(b->motion, snapshot, motions);
  if (!states) return;
  memcpy(b->state, (const char *)snapshot + motions, states);
  memcpy(b->account, (const char *)snapshot + motions + states,
         (size_t)b->deformable_count * sizeof *b->account);
  for (int k = 0; k < b->deformable_count; ++k) scree_deformable_update(b, &b->deformable[k]);
}

size_t scree_bodies_memory(const scree_Bodies *b) {
  size_t bytes = b->motion_capacity * sizeof *b->motion + b->inertia_capacity * sizeof *b->inertia +
                 b->cold_capacity * sizeof *b->cold + b->fixed_capacity +
                 b->gone_capacity * sizeof *b->gone + b->driver_capacity * sizeof *b->drivers +
                 b->force_capacity * sizeof *b->forces;
  for (int k = 0; k < b->count; ++k) bytes += scree_shape_memory(&b->cold[k].shape);
  bytes += b->index_capacity * sizeof *b->deformable_index +
           b->deformable_capacity * sizeof *b->deformable +
           (b->state_capacity + b->work_capacity + b->account_capacity) * sizeof *b->state;
  for (int k = 0; k < b->deformable_count; ++k)
    bytes += b->deformable[k].class_->memory(&b->deformable[k]);
  return bytes;
}

/* Creep: how far errors of the solutions have moved bodies that should rest.
 *
 * An error below the tolerance moves a loaded body a little in each step, often in the same
 * direction in all of them, and no other part of the certificate sees the sum. For each body that
 * rests two lengths are kept, from the time on when it came to rest, relative to its size:
 *
 *     moved   the distance of its centre from where it was then;
 *     error   the sum over the steps of h times the largest velocity by which its contacts violate
 *             the law: the natural map with the contact's own diagonal, |r - P(r - (u + s)/W)| W,
 *             which is |u| inside the cone, and zero for a contact that slides as the law allows.
 *
 * Its creep is the smaller one: motion that errors cannot explain is physical (a load that rises
 * slowly), and errors that cancel move nothing. A body rests while its speed is below a hundredth
 * of that with which its load alone would move it by its size; after that it starts anew. The creep
 * of a world is the largest of all bodies and steps so far. Worlds that are divided between ranks
 * do not have it. */
#include "core/log.h"
#include "core/memory.h"
#include "problem/measure.h"
#include "step/system.h"

#include <string.h>

static const double resting_speed = 1e-2;
static const scree_BodyCreep none = {.error = -1};

scree_Status scree_creep_reserve(scree_System *s) {
  const size_t count = s->domain.global ? 0 : (size_t)s->bodies.count;
  if (!scree_grow_lean((void **)&s->creep.bodies, &s->creep.capacity, count,
                       sizeof *s->creep.bodies))
    return scree_fail_memory(s->log, "the creep of bodies");
  for (size_t k = s->creep.count; k < count; ++k) s->creep.bodies[k] = none;
  s->creep.count = count;
  return SCREE_OK;
}

size_t scree_creep_size(const scree_System *s) {
  return s->domain.global ? 0 : (size_t)s->bodies.count * sizeof *s->creep.bodies;
}

void scree_creep_save(const scree_System *s, char *at) {
  const size_t count = scree_creep_size(s) / sizeof *s->creep.bodies;
  for (size_t k = 0; k < count; ++k) {
    const scree_BodyCreep body = k < s->creep.count ? s->creep.bodies[k] : none;
    memcpy(at + k * sizeof body, &body, sizeof body);
  }
}

void scree_creep_restore(scree_System *s, const char *at) {
  if (s->creep.count) memcpy(s->creep.bodies, at, s->creep.count * sizeof *s->creep.bodies);
}

/* A contact of body k may have moved it by `way` in this step. */
static void add_error(scree_System *s, int k, double way) {
  scree_BodyCreep *body = &s->creep.bodies[k];
  if (s->bodies.fixed[k] || !(body->error >= 0)) return;
  body->step = fmax(body->step, way);
}

/* Start, go on or stop; before the errors of the step are added. */
static void judge(scree_System *s, int k, double h) {
  const scree_Bodies *b = &s->bodies;
  scree_BodyCreep *body = &s->creep.bodies[k];
  const double size = b->cold[k].shape.size;
  const scree_BodyRest load = scree_system_body_rest(s, k, h);
  const scree_Twist v = scree_system_after(s, k);
  const double speed = scree_norm(v.linear) + size * scree_norm(v.angular);
  body->step = 0;
  if (!(speed < resting_speed * sqrt(load.speed / h * size)))
    body->error = -1;
  else if (body->error < 0)
    *body = (scree_BodyCreep){.start = b->motion[k].pose.position};
}

/* Velocity by which contact c violates the law. */
static double violation(const scree_System *s, const scree_Problem *problem, int c) {
  const double W = scree_system_diagonal(s, c, 0);
  if (!(W > 0)) return 0;
  return W * scree_measure_contact(problem, c, 1 / W, scree_system_r(s), scree_system_u(s));
}

void scree_creep_add(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  if (s->domain.global || s->creep.count != (size_t)b->count) return;
  for (int k = 0; k < b->count; ++k)
    if (!b->fixed[k]) judge(s, k, h);
  const scree_Problem problem = scree_system_problem(s);
  for (int c = 0; scree_system_is_posed(s) && c < s->posed.nc; ++c) {
    const int i = s->contacts.keys[c].i, j = s->contacts.keys[c].j;
    const bool rests[2] = {!b->fixed[i] && s->creep.bodies[i].error >= 0,
                           !b->fixed[j] && s->creep.bodies[j].error >= 0};
    if (!rests[0] && !rests[1]) continue;
    const double way = h * violation(s, &problem, c);
    add_error(s, i, way);
    add_error(s, j, way);
  }
  for (int k = 0; k < b->count; ++k) {
    scree_BodyCreep *body = &s->creep.bodies[k];
    if (b->fixed[k] || !(body->error >= 0)) continue;
    const double size = b->cold[k].shape.size;
    const scree_Vec3 way = scree_sub(b->motion[k].pose.position, body->start);
    body->error += body->step / size;
    s->audit.creep = fmax(s->audit.creep, fmin(scree_norm(way) / size, body->error));
  }
}

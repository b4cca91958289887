/* Creep: how far errors of the solutions have moved bodies that should rest.
 *
 * An error below the tolerance moves a loaded body a little in each step, often in the same
 * direction in all of them, and no other part of the certificate sees the sum. For each body that
 * rests two lengths are kept, from the time on when it came to rest, relative to its size:
 *
 *     way     the sum over the steps of h v, how far its centre has moved;
 *     error   the sum over the steps of h times the largest velocity by which its contacts violate
 *             the law: the natural map with the contact's own diagonal, |r - P(r - (u + s)/W)| W,
 *             which is |u| inside the cone, and zero for a contact that slides as the law allows.
 *
 * Its creep is the smaller one: motion that errors cannot explain is physical (a load that rises
 * slowly), and errors that cancel move nothing. A body rests while its speed is below a hundredth
 * of that with which its load alone would move it by its size; after that it starts anew. The creep
 * of a world is the largest of all bodies and steps so far. In a world that is divided between
 * ranks a body's owner has its sums, which go with it; contacts that other ranks have of it are
 * measured there. Single precision is enough for two digits of such sums over 10^6 steps, and keeps
 * the memory of a body small. */
#include "core/log.h"
#include "core/memory.h"
#include "problem/measure.h"
#include "step/system.h"

#include <string.h>

static const double resting_speed = 1e-2;
/* What rounding may add to the speed below which a body may rest. */
static const double above = 1 + 1e-12;
static const scree_BodyCreep none = {.error = -1};

scree_Status scree_creep_reserve(scree_System *s, size_t count) {
  if (!scree_grow_lean((void **)&s->creep.bodies, &s->creep.capacity, count,
                       sizeof *s->creep.bodies))
    return scree_fail_memory(s->log, "the creep of bodies");
  for (size_t k = s->creep.count; k < count; ++k) s->creep.bodies[k] = none;
  s->creep.count = count;
  return SCREE_OK;
}

scree_BodyCreep scree_creep_of(const scree_System *s, int k) {
  return (size_t)k < s->creep.count ? s->creep.bodies[k] : none;
}

size_t scree_creep_size(const scree_System *s) {
  return (size_t)s->bodies.count * sizeof *s->creep.bodies;
}

void scree_creep_save(const scree_System *s, char *at) {
  const size_t count = (size_t)s->bodies.count, known = s->creep.count;
  const size_t size = sizeof *s->creep.bodies, kept = known < count ? known : count;
  if (kept) memcpy(at, s->creep.bodies, kept * size);
  for (size_t k = kept; k < count; ++k) memcpy(at + k * size, &none, size);
}

void scree_creep_restore(scree_System *s, const char *at) {
  if (s->creep.count) memcpy(s->creep.bodies, at, s->creep.count * sizeof *s->creep.bodies);
}

/* Start, go on with the way of this step, or stop. Most bodies of a world that moves are faster
 * than the largest load would let one of their size rest; they are left alone. */
static void judge(scree_System *s, int k, double h) {
  const scree_Bodies *b = &s->bodies;
  scree_BodyCreep *body = &s->creep.bodies[k];
  const double size = b->cold[k].shape.size;
  const scree_Twist v = scree_system_after(s, k);
  const double most = resting_speed * resting_speed * (s->forced_most / h * size);
  bool moves = scree_norm2(v.linear) > above * most;
  if (!moves) {
    const scree_BodyRest load = scree_system_body_rest(s, k, h);
    const double speed = scree_norm(v.linear) + size * scree_norm(v.angular);
    moves = !(speed < resting_speed * sqrt(load.speed / h * size));
  }
  if (moves) {
    if (!(body->error < 0)) *body = none;
    return;
  }
  if (body->error < 0) *body = (scree_BodyCreep){{0, 0, 0}, 0};
  body->way[0] += (float)(h / size * v.linear.x);
  body->way[1] += (float)(h / size * v.linear.y);
  body->way[2] += (float)(h / size * v.linear.z);
}

static void judge_all(scree_System *s, double h, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->count, share) {
    /* obstacles never rest */
    if (!b->fixed[k] && scree_domain_owns(&s->domain, k)) judge(s, k, h);
  }
}

/* Velocity by which contact c violates the law. */
static double violation(const scree_System *s, const scree_Problem *problem, int c) {
  const double W = scree_system_diagonal(s, c, 0);
  if (!(W > 0)) return 0;
  return W * scree_measure_contact(problem, c, 1 / W, scree_system_r(s), scree_system_u(s));
}

/* The largest violation at the contacts of each body that rests; whether a ghost does, its owner
 * knows. */
static void find_violations(const scree_System *s, double *most) {
  const scree_Problem problem = scree_system_problem(s);
  for (int c = 0; c < s->posed.nc; ++c) {
    const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
    bool rests[2];
    for (int side = 0; side < 2; ++side)
      rests[side] = s->creep.bodies[pair[side]].error >= 0 ||
                    !(s->bodies.fixed[pair[side]] || scree_domain_owns(&s->domain, pair[side]));
    if (!rests[0] && !rests[1]) continue;
    const double found = violation(s, &problem, c);
    for (int side = 0; side < 2; ++side)
      if (rests[side]) most[pair[side]] = fmax(most[pair[side]], found);
  }
}

scree_Status scree_creep_add(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  double creep = s->audit.creep;
  int first = 0;
  SCREE_ON_THREADS(b->count, s->threads, share, judge_all(s, h, share));
  while (first < b->count && !(s->creep.bodies[first].error >= 0)) ++first;
  if (first == b->count && !s->domain.global) return SCREE_OK; /* none rests */
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  double *most = SCREE_TAKE(&s->scratch, double, b->count);
  scree_Status status = most ? SCREE_OK : scree_fail_memory(s->log, "the creep of bodies");
  status = scree_domain_agree(s, status);
  if (status || !most) return status;
  if (scree_system_is_posed(s)) find_violations(s, most);
  status = scree_domain_most_of_ghosts(s, most);
  for (int k = first; !status && k < b->count; ++k) {
    scree_BodyCreep *body = &s->creep.bodies[k];
    if (!(body->error >= 0) || !scree_domain_owns(&s->domain, k)) continue;
    body->error += (float)(h / b->cold[k].shape.size * most[k]);
    const double way =
        sqrt((double)body->way[0] * body->way[0] + (double)body->way[1] * body->way[1] +
             (double)body->way[2] * body->way[2]);
    creep = fmax(creep, fmin(way, body->error));
  }
  if (!status) s->audit.creep = scree_system_max(s, creep);
  scree_arena_release(&s->scratch, mark);
  return status;
}

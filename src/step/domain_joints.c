/* Joints in a divided world: mechanisms are the units of ownership (see domain.h).
 *
 * Bodies that joints hold together, directly or through others, are a mechanism, and all bodies of
 * a mechanism belong to one rank: that of the mean position of those of its bodies that are in the
 * world. So each joint is posed, solved and corrected by one rank, which owns all of its bodies,
 * and copies of single bodies suffice elsewhere. Joints to obstacles and to the world do not
 * connect bodies. If a mechanism is larger than the share of a rank the results are right, but the
 * other ranks wait.
 *
 * Every rank knows all joints, and which of them broke. The state of a joint is up to date only on
 * the rank of its first body that is no obstacle, and is sent with that body. When a bond has
 * broken its bodies may go to different ranks. */
#include "core/log.h"
#include "core/memory.h"
#include "core/union_find.h"
#include "step/system.h"

#include <stddef.h>

static scree_Status fail_memory(const scree_System *s) {
  return scree_fail_memory(s->log, "the joints of a rank");
}

/* ---- which joints broke ------------------------------------------------------------------------
 */

scree_Status scree_domain_tell_broken(scree_System *s) {
  const scree_Domain *p = &s->domain;
  scree_Joints *j = &s->joints;
  if (j->count == 0) return SCREE_OK;
  double most = 0;
  for (int k = 0; k < j->count; ++k) most += j->here[k] && !j->told[k] && j->memory[k].broken > 0;
  most = scree_system_max(s, most);
  if (!(most > 0)) return SCREE_OK;
  const scree_ArenaMark mark = scree_arena_mark(&s->domain.work);
  const size_t n = (size_t)most, all = n * (size_t)p->size;
  int *mine = SCREE_TAKE_RAW(&s->domain.work, int, n);
  int *list = SCREE_TAKE_RAW(&s->domain.work, int, all);
  const scree_Status status = scree_domain_agree(s, mine && list ? SCREE_OK : fail_memory(s));
  if (!status && mine && list) {
    size_t found = 0;
    for (int k = 0; k < j->count; ++k)
      if (j->here[k] && !j->told[k] && j->memory[k].broken > 0) mine[found++] = k;
    while (found < n) mine[found++] = -1;
    scree_ranks_gather_all(p->ranks, mine, n * sizeof *mine, list);
    for (size_t i = 0; i < all; ++i) {
      if (list[i] < 0) continue;
      j->memory[list[i]].broken = 1;
      j->told[list[i]] = true;
    }
  }
  scree_arena_release(&s->domain.work, mark);
  return status;
}

void scree_domain_know_joints(scree_System *s) {
  scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k) j->told[k] = j->memory[k].broken > 0;
}

/* ---- mechanisms --------------------------------------------------------------------------------
 */

static bool is_obstacle(const scree_System *s, int global) {
  const int local = scree_domain_local(&s->domain, s->bodies.count, global);
  return local >= 0 && s->bodies.fixed[local] & SCREE_BODY_OBSTACLE; /* all ranks have these */
}

/* The mechanism of each body (bodies of the whole world), numbered in the order of their first
 * bodies; -1: it has no joints. Returns their number. */
static int number_mechanisms(const scree_System *s, int *of) {
  const scree_Joints *j = &s->joints;
  const int whole = s->domain.whole;
  int count = 0;
  for (int k = 0; k < whole; ++k) of[k] = -1;
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < j->count; ++k) {
      const int *body = j->joint[k].def.body;
      if (j->memory[k].broken > 0) continue;
      const bool moves[2] = {body[0] >= 0 && !is_obstacle(s, body[0]),
                             body[1] >= 0 && !is_obstacle(s, body[1])};
      for (int side = 0; side < 2 && pass == 0; ++side)
        if (moves[side]) of[body[side]] = body[side];
      if (pass == 1 && moves[0] && moves[1]) scree_unite(of, body[0], body[1]);
    }
  for (int k = 0; k < whole; ++k) /* numbers as -2 - number; parents come first, and have theirs */
    if (of[k] >= 0) of[k] = of[k] == k ? -2 - count++ : of[of[k]];
  for (int k = 0; k < whole; ++k)
    if (of[k] < -1) of[k] = -2 - of[k];
  return count;
}

scree_Status scree_domain_units(scree_System *s, scree_Vec3 *place) {
  const scree_Bodies *b = &s->bodies;
  const scree_Domain *p = &s->domain;
  enum { EACH = 8 }; /* sums of places and their number, of bodies that are there, and of all */
  for (int k = 0; k < b->count; ++k) place[k] = b->motion[k].pose.position;
  if (s->joints.count == 0) return SCREE_OK;
  const scree_ArenaMark mark = scree_arena_mark(&s->domain.work);
  int *of = SCREE_TAKE_RAW(&s->domain.work, int, p->whole);
  const int count = of ? number_mechanisms(s, of) : 0;
  double *sums = SCREE_TAKE(&s->domain.work, double, (size_t)count *EACH);
  const scree_Status status = scree_domain_agree(s, of && sums ? SCREE_OK : fail_memory(s));
  if (!status && of && sums) {
    for (int k = 0; k < b->count; ++k) {
      const int mechanism = of[p->global[k]];
      if (mechanism < 0 || !scree_domain_owns(p, k)) continue;
      const scree_Vec3 x = b->motion[k].pose.position;
      const double add[4] = {x.x, x.y, x.z, 1};
      double *sum = sums + (ptrdiff_t)EACH * mechanism;
      for (int i = 0; i < 4; ++i) {
        sum[4 + i] += add[i];
        if (!(b->fixed[k] & SCREE_BODY_GONE)) sum[i] += add[i];
      }
    }
    scree_ranks_add(p->ranks, sums, (size_t)count * EACH);
    for (int k = 0; k < b->count; ++k) {
      if (of[p->global[k]] < 0) continue;
      const double *sum = sums + (ptrdiff_t)EACH * of[p->global[k]];
      if (!(sum[3] > 0)) sum += 4;
      place[k] = scree_vec3(sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3]);
    }
  }
  scree_arena_release(&s->domain.work, mark);
  return status;
}

/* ---- states to new ranks -----------------------------------------------------------------------
 */

typedef struct Sent {
  int64_t joint;
  scree_JointMemory memory;
} Sent;

/* The side of a joint whose body decides which rank has it. */
static int first_side(const scree_System *s, const scree_Joint *joint) {
  return joint->def.body[0] >= 0 && !is_obstacle(s, joint->def.body[0]) ? 0 : 1;
}

scree_Status scree_domain_send_joints(scree_System *s, const int *next_owner) {
  const scree_Domain *p = &s->domain;
  scree_Joints *j = &s->joints;
  scree_Arena *work = &s->domain.work;
  if (j->count == 0) return SCREE_OK;
  const size_t size = (size_t)p->size;
  const scree_ArenaMark mark = scree_arena_mark(work);
  size_t *sizes = SCREE_TAKE(work, size_t, 3 * size), sent = 0, received = 0;
  int *to = SCREE_TAKE_RAW(work, int, j->count);
  scree_Status status = scree_domain_agree(s, sizes && to ? SCREE_OK : fail_memory(s));
  if (!status && sizes && to) {
    for (int k = 0; k < j->count; ++k) {
      const int body = j->joint[k].body[first_side(s, &j->joint[k])];
      to[k] = j->here[k] && body >= 0 && next_owner[body] != p->rank ? next_owner[body] : -1;
      if (to[k] < 0) continue;
      sizes[to[k]] += sizeof(Sent);
      ++sent;
    }
    scree_ranks_swap_sizes(p->ranks, sizes, sizes + size);
    for (size_t k = 0; k < size; ++k) received += sizes[size + k] / sizeof(Sent);
    Sent *out = SCREE_TAKE_RAW(work, Sent, sent), *in = SCREE_TAKE_RAW(work, Sent, received);
    status = scree_domain_agree(s, out && in ? SCREE_OK : fail_memory(s));
    if (!status && out && in) {
      size_t *at = sizes + 2 * size;
      for (size_t k = 1; k < size; ++k) at[k] = at[k - 1] + sizes[k - 1] / sizeof(Sent);
      for (int k = 0; k < j->count; ++k)
        if (to[k] >= 0) out[at[to[k]]++] = (Sent){k, j->memory[k]};
      scree_ranks_swap(p->ranks, out, sizes, in, sizes + size);
      for (size_t k = 0; k < received; ++k) j->memory[in[k].joint] = in[k].memory;
    }
  }
  scree_arena_release(work, mark);
  return status;
}

/* ---- bodies on this rank -----------------------------------------------------------------------
 */

void scree_domain_place_joints(scree_System *s) {
  const scree_Domain *p = &s->domain;
  scree_Joints *j = &s->joints;
  for (int k = 0; k < j->count; ++k) {
    scree_Joint *joint = &j->joint[k];
    for (int side = 0; side < 2; ++side) {
      if (joint->def.body[side] < 0) continue;
      const int local = scree_domain_local(p, s->bodies.count, joint->def.body[side]);
      joint->body[side] = local < 0 ? SCREE_JOINT_ELSEWHERE : local;
    }
    const int body = joint->body[first_side(s, joint)];
    j->here[k] = body >= 0 && scree_domain_owns(p, body);
  }
}

/* What a rank does before an attempt at a step: the state of its ghosts, the balance of the work,
 * and whether bodies have outgrown their covers (see domain.h). */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cuts are placed anew when the imbalance, beyond what the last cuts left, has cost as much as
 * this many steps, and is noticeable. */
static const double excess_most = 4, imbalance_least = 1.1;

enum { TRIES = 40 }; /* builds in one step, each with covers twice as large */

static scree_Status fail_memory(const scree_System *s) {
  return scree_fail_memory(s->log, "the ghosts of a rank");
}

static int compare_late(const void *a, const void *b) {
  const scree_Late *x = a, *y = b;
  return (x->body > y->body) - (x->body < y->body);
}

/* What a ghost gets from its owner; in worlds with deformable bodies, a scree_DeformableSent
 * follows. */
typedef struct Moving {
  scree_Motion motion;
  scree_Late way;
  double late; /* 1: `way` is left to go */
} Moving;

static void pack_motion(const scree_System *s, int body, int late, char *to) {
  Moving *moving = (void *)to;
  memset(moving, 0, sizeof *moving);
  moving->motion = s->bodies.motion[body];
  if (late >= 0) {
    moving->way = s->memory.late.at[late];
    moving->late = 1;
  }
  if (s->domain.deforms) scree_deformable_send(&s->bodies, body, (void *)(moving + 1));
}

/* The list of late impacts has room for it. */
static void take_motion(scree_System *s, int body, const char *from) {
  const Moving *moving = (const void *)from;
  scree_LateList *late = &s->memory.late;
  s->bodies.motion[body] = moving->motion;
  if (moving->late > 0) {
    late->at[late->count] = moving->way;
    late->at[late->count++].body = body;
  }
  if (s->domain.deforms) scree_deformable_put(&s->bodies, body, (const void *)(moving + 1));
}

/* The motions and late impacts of ghosts from their owners. */
static scree_Status refresh(scree_System *s) {
  scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  scree_LateList *late = &s->memory.late;
  if (p->size == 1 || !p->send_start) return SCREE_OK;
  const size_t size = (size_t)p->size, sent = p->send_start[size], got = p->receive_start[size];
  const size_t each = sizeof(Moving) + (p->deforms ? sizeof(scree_DeformableSent) : 0);
  const scree_ArenaMark mark = scree_arena_mark(&p->work);
  int *late_of = SCREE_TAKE_RAW(&p->work, int, b->count);
  char *out = SCREE_TAKE_RAW(&p->work, char, sent *each);
  char *in = SCREE_TAKE_RAW(&p->work, char, got *each);
  size_t *sizes = SCREE_TAKE_RAW(&p->work, size_t, 2 * size);
  const bool enough =
      out && in && sizes && late_of &&
      scree_grow((void **)&late->at, &late->capacity, late->count + got, sizeof *late->at);
  const scree_Status status = scree_domain_agree(s, enough ? SCREE_OK : fail_memory(s));
  if (!status) {
    for (int k = 0; k < b->count; ++k) late_of[k] = -1;
    for (size_t k = 0; k < late->count; ++k) late_of[late->at[k].body] = (int)k;
    for (size_t k = 0; k < sent; ++k)
      pack_motion(s, p->send[k], late_of[p->send[k]], out + k * each);
    for (size_t k = 0; k < size; ++k) {
      sizes[k] = (p->send_start[k + 1] - p->send_start[k]) * each;
      sizes[size + k] = (p->receive_start[k + 1] - p->receive_start[k]) * each;
    }
    scree_ranks_swap(p->ranks, out, sizes, in, sizes + size);
    size_t kept = 0;
    for (size_t k = 0; k < late->count; ++k)
      if (scree_domain_owns(p, late->at[k].body)) late->at[kept++] = late->at[k];
    late->count = kept;
    for (size_t k = 0; k < got; ++k) take_motion(s, p->receive[k], in + k * each);
    if (late->count) qsort(late->at, late->count, sizeof *late->at, compare_late);
  }
  scree_arena_release(&p->work, mark);
  return status;
}

/* Whether the pieces are to be cut anew: the work of this rank among that of all. */
static bool is_unbalanced(scree_System *s) {
  scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  if (p->size == 1) return false;
  double load[2] = {(double)s->contacts.count, 0}, most, sum;
  for (int k = 0; k < b->count; ++k) load[1] += !b->fixed[k] && scree_domain_owns(p, k);
  for (int k = 0; k < s->joints.count; ++k) load[0] += 2 * scree_joint_is_there(s, k);
  p->load = 2 * load[0] + load[1];
  most = sum = p->load;
  scree_ranks_most(p->ranks, &most, 1);
  scree_ranks_add(p->ranks, &sum, 1);
  p->imbalance = sum > 0 ? most * p->size / sum : 1;
  if (p->cut_count == 0) return sum > 0;
  if (p->least == 0) p->least = p->imbalance; /* what the last cuts left */
  p->least = fmin(p->least, p->imbalance);
  p->excess += p->imbalance - p->least;
  return p->excess > excess_most && p->imbalance > imbalance_least * p->least;
}

scree_Status scree_domain_begin(scree_System *s, bool start) {
  scree_Domain *p = &s->domain;
  if (!p->global) return SCREE_OK;
  scree_Status status = refresh(s);
  if (status || !start) return status;
  const bool again = p->outgrown, cut = !again && is_unbalanced(s);
  if (cut || again || !p->fresh) status = scree_domain_tell_broken(s);
  if (status) return status;
  if (again && ++p->tries > TRIES)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "world: a body moves too far in a step to be followed by its rank");
  if (cut) {
    status = scree_domain_cut(s);
    p->excess = p->least = 0;
  }
  if (!status && (cut || again || !p->fresh)) status = scree_domain_build(s);
  return status;
}

static bool is_inside(const scree_Aabb *a, const scree_Aabb *b) {
  return a->lower.x >= b->lower.x && a->upper.x <= b->upper.x && a->lower.y >= b->lower.y &&
         a->upper.y <= b->upper.y && a->lower.z >= b->lower.z && a->upper.z <= b->upper.z;
}

scree_Status scree_domain_check(scree_System *s, const scree_Aabb *bounds) {
  scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  if (!p->global || p->size == 1) return SCREE_OK;
  bool outside = !p->fresh;
  for (int k = 0; !outside && k < b->count; ++k)
    outside = !b->fixed[k] && scree_domain_owns(p, k) && !is_inside(&bounds[k], &p->cover[k]);
  p->outgrown = scree_ranks_any(p->ranks, outside);
  return p->outgrown ? SCREE_INTERRUPTED : SCREE_OK;
}

void scree_domain_mark(const scree_System *s, unsigned char *fixed) {
  const scree_Bodies *b = &s->bodies;
  for (int k = 0; k < b->count; ++k)
    fixed[k] = scree_domain_owns(&s->domain, k) ? b->fixed[k] : b->fixed[k] | SCREE_BODY_OBSTACLE;
}

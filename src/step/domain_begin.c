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

/* What a ghost gets from its owner; the coordinates and rates of a deformable one follow. */
typedef struct Moving {
  scree_Motion motion;
  scree_Late way;
  double late; /* 1: `way` is left to go */
} Moving;

static size_t moving_bytes(const scree_System *s, int body) {
  return sizeof(Moving) + scree_deformable_state_bytes(&s->bodies, body);
}

static size_t pack_motion(const scree_System *s, int body, int late, char *to) {
  Moving *moving = (void *)to;
  memset(moving, 0, sizeof *moving);
  moving->motion = s->bodies.motion[body];
  if (late >= 0) {
    moving->way = s->memory.late.at[late];
    moving->late = 1;
  }
  scree_deformable_get(&s->bodies, body, moving + 1);
  return moving_bytes(s, body);
}

/* The list of late impacts has room for it. */
static size_t take_motion(scree_System *s, int body, const char *from) {
  const Moving *moving = (const void *)from;
  scree_LateList *late = &s->memory.late;
  s->bodies.motion[body] = moving->motion;
  if (moving->late > 0) {
    late->at[late->count] = moving->way;
    late->at[late->count++].body = body;
  }
  scree_deformable_put(&s->bodies, body, moving + 1);
  return moving_bytes(s, body);
}

/* The bytes for or from each rank, and their sum. */
static size_t count_bytes(const scree_System *s, const size_t *start, const int *bodies,
                          size_t *sizes) {
  size_t total = 0;
  for (int rank = 0; rank < s->domain.size; ++rank) {
    sizes[rank] = 0;
    for (size_t k = start[rank]; k < start[rank + 1]; ++k)
      sizes[rank] += moving_bytes(s, bodies[k]);
    total += sizes[rank];
  }
  return total;
}

/* The motions and late impacts of ghosts from their owners. */
static scree_Status refresh(scree_System *s) {
  scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  scree_LateList *late = &s->memory.late;
  if (p->size == 1 || !p->send_start) return SCREE_OK;
  const size_t size = (size_t)p->size, sent = p->send_start[size], got = p->receive_start[size];
  const scree_ArenaMark mark = scree_arena_mark(&p->work);
  size_t *sizes = SCREE_TAKE_RAW(&p->work, size_t, 2 * size);
  const size_t out_bytes = sizes ? count_bytes(s, p->send_start, p->send, sizes) : 0;
  const size_t in_bytes = sizes ? count_bytes(s, p->receive_start, p->receive, sizes + size) : 0;
  int *late_of = SCREE_TAKE_RAW(&p->work, int, b->count);
  char *out = SCREE_TAKE_RAW(&p->work, char, out_bytes);
  char *in = SCREE_TAKE_RAW(&p->work, char, in_bytes);
  const bool enough =
      out && in && sizes && late_of &&
      scree_grow((void **)&late->at, &late->capacity, late->count + got, sizeof *late->at);
  const scree_Status status = scree_domain_agree(s, enough ? SCREE_OK : fail_memory(s));
  if (!status) {
    for (int k = 0; k < b->count; ++k) late_of[k] = -1;
    for (size_t k = 0; k < late->count; ++k) late_of[late->at[k].body] = (int)k;
    for (size_t k = 0, at = 0; k < sent; ++k)
      at += pack_motion(s, p->send[k], late_of[p->send[k]], out + at);
    scree_ranks_swap(p->ranks, out, sizes, in, sizes + size);
    size_t kept = 0;
    for (size_t k = 0; k < late->count; ++k)
      if (scree_domain_owns(p, late->at[k].body)) late->at[kept++] = late->at[k];
    late->count = kept;
    for (size_t k = 0, at = 0; k < got; ++k) at += take_motion(s, p->receive[k], in + at);
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
  for (int k = 0; k < b->count; ++k)
    if (scree_domain_owns(p, k)) load[1] += scree_domain_body_work(b, k);
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

/* Dividing a world, and the exchange of numbers between owners and ghosts (see domain.h). */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <math.h>
#include <string.h>

scree_Status scree_domain_divide(scree_System *s, const scree_Ranks *ranks) {
  scree_Domain *p = &s->domain;
  if (s->bodies.count > 0 || p->global)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "world: divided with %d bodies, expected before the first body, and once",
                      s->bodies.count);
  *p = (scree_Domain){.ranks = ranks,
                      .rank = scree_ranks_rank(ranks),
                      .size = scree_ranks_size(ranks),
                      .imbalance = 1,
                      .least = 1,
                      .cut = SCREE_ALLOC(scree_Cut, scree_ranks_size(ranks))};
  if (!p->cut || !scree_grow((void **)&p->global, &p->global_capacity, 1, sizeof *p->global) ||
      !scree_grow((void **)&p->owner, &p->owner_capacity, 1, sizeof *p->owner) ||
      !scree_grow((void **)&p->shape, &p->shape_capacity, 1, sizeof *p->shape) ||
      !scree_grow((void **)&p->cover, &p->cover_capacity, 1, sizeof *p->cover))
    return scree_fail_memory(s->log, "the parts of a world");
  return SCREE_OK;
}

void scree_domain_fini(scree_Domain *p) {
  for (int k = 0; k < p->shapes_count; ++k) scree_shape_fini(&p->shapes[k]);
  void *arrays[] = {p->global, p->owner,  p->shape, p->cover,
                    p->shapes, p->forces, p->cut,   p->given};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  scree_arena_fini(&p->lists);
  scree_arena_fini(&p->work);
  scree_arena_fini(&p->posing);
  *p = (scree_Domain){0};
}

/* Shapes with vertices or parts are kept on all ranks, so that a body that comes from another rank
 * finds its own. Bodies made one after the other often share one. */
static bool add_shape(scree_Domain *p, const scree_Shape *shape, int *number) {
  *number = -1;
  if (!shape->data) return true;
  if (p->shapes_count > 0 && p->shapes[p->shapes_count - 1].data == shape->data) {
    *number = p->shapes_count - 1;
    return true;
  }
  if (!scree_grow((void **)&p->shapes, &p->shapes_capacity, (size_t)p->shapes_count + 1,
                  sizeof *p->shapes))
    return false;
  scree_shape_copy(shape, &p->shapes[p->shapes_count]);
  *number = p->shapes_count++;
  return true;
}

scree_Status scree_domain_add_body(scree_System *s) {
  scree_Domain *p = &s->domain;
  scree_Bodies *b = &s->bodies;
  if (!p->global) return SCREE_OK;
  const int k = b->count - 1, global = p->whole;
  const bool obstacle = b->fixed[k] != 0;
  const int owner = obstacle           ? -1
                    : p->cut_count > 0 ? scree_domain_rank_at(p, b->motion[k].pose.position)
                                       : scree_domain_dealt(global, p->size);
  const size_t n = (size_t)b->count;
  const scree_Shape given = scree_body_given_shape(b, k);
  int shape;
  if (!add_shape(p, &given, &shape) ||
      !scree_grow_lean((void **)&p->global, &p->global_capacity, n, sizeof *p->global) ||
      !scree_grow_lean((void **)&p->owner, &p->owner_capacity, n, sizeof *p->owner) ||
      !scree_grow_lean((void **)&p->shape, &p->shape_capacity, n, sizeof *p->shape) ||
      !scree_grow_lean((void **)&p->cover, &p->cover_capacity, n, sizeof *p->cover))
    return scree_fail_memory(s->log, "the parts of a world");
  p->whole++;
  p->fresh = false;
  p->deforms = p->deforms || scree_bodies_deformable(b, k);
  if (!obstacle && owner != p->rank) { /* it was added to be checked */
    scree_deformable_drop(b, k);
    scree_shape_fini(&b->cold[k].shape);
    b->count--;
    return SCREE_OK;
  }
  p->global[k] = global;
  p->owner[k] = owner;
  p->shape[k] = shape;
  return SCREE_OK;
}

scree_Status scree_domain_pass_body(scree_System *s, const scree_Shape *shape) {
  int number;
  s->domain.fresh = false;
  s->domain.whole++;
  return !shape || add_shape(&s->domain, shape, &number)
             ? SCREE_OK
             : scree_fail_memory(s->log, "the parts of a world");
}

void scree_domain_passed(scree_System *s) {
  scree_Bodies *b = &s->bodies;
  double most[3] = {-b->thinnest, !b->balls, s->domain.deforms};
  scree_ranks_most(s->domain.ranks, most, 3);
  b->thinnest = -most[0];
  b->balls = !(most[1] > 0);
  s->domain.deforms = most[2] > 0;
}

int scree_domain_local(const scree_Domain *p, int count, int global) {
  if (!p->global) return global;
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (p->global[middle] < global)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && p->global[low] == global ? low : -1;
}

const char *scree_domain_refuse(const scree_System *s) {
  if (s->cell.any) return "it has a periodic cell";
  if (s->settings.internal_forces) return "internal forces are asked for";
  return NULL;
}

/* ---- exchange ---------------------------------------------------------------------------------
 */

typedef enum Join { REPLACE, ADD, LARGEST } Join; /* what arrives with what is there */

/* One block of `bytes` for each entry of `from`, rank by rank, to the entries of `to` there. */
static scree_Status exchange(scree_System *s, const size_t *from_start, const int *from,
                             const size_t *to_start, const int *to, char *elements, size_t bytes,
                             Join join) {
  scree_Domain *p = &s->domain;
  const size_t size = (size_t)p->size, sent = from_start[size], received = to_start[size];
  const scree_ArenaMark mark = scree_arena_mark(&p->work);
  char *out = SCREE_TAKE_RAW(&p->work, char, sent *bytes);
  char *in = SCREE_TAKE_RAW(&p->work, char, received *bytes);
  size_t *sizes = SCREE_TAKE_RAW(&p->work, size_t, 2 * size);
  scree_Status status =
      out && in && sizes ? SCREE_OK : scree_fail_memory(s->log, "the exchange of ghosts");
  status = scree_domain_agree(s, status);
  if (!status) {
    for (size_t k = 0; k < size; ++k) {
      sizes[k] = (from_start[k + 1] - from_start[k]) * bytes;
      sizes[size + k] = (to_start[k + 1] - to_start[k]) * bytes;
    }
    for (size_t k = 0; k < sent; ++k)
      memcpy(out + k * bytes, elements + (size_t)from[k] * bytes, bytes);
    scree_ranks_swap(p->ranks, out, sizes, in, sizes + size);
    for (size_t k = 0; k < received; ++k) {
      double *number = (double *)elements + to[k]; /* if they are numbers */
      if (join == ADD)
        *number += ((const double *)in)[k];
      else if (join == LARGEST)
        *number = fmax(*number, ((const double *)in)[k]);
      else
        memcpy(elements + (size_t)to[k] * bytes, in + k * bytes, bytes);
    }
  }
  scree_arena_release(&p->work, mark);
  return status;
}

scree_Status scree_domain_to_ghosts(scree_System *s, void *elements, size_t bytes) {
  const scree_Domain *p = &s->domain;
  if (!p->global || p->size == 1) return SCREE_OK;
  return exchange(s, p->send_start, p->send, p->receive_start, p->receive, elements, bytes,
                  REPLACE);
}

scree_Status scree_domain_add_ghosts(scree_System *s, double *elements) {
  const scree_Domain *p = &s->domain;
  if (!p->global || p->size == 1) return SCREE_OK;
  return exchange(s, p->receive_start, p->receive, p->send_start, p->send, (char *)elements,
                  sizeof *elements, ADD);
}

scree_Status scree_domain_most_of_ghosts(scree_System *s, double *elements) {
  const scree_Domain *p = &s->domain;
  if (!p->global || p->size == 1) return SCREE_OK;
  return exchange(s, p->receive_start, p->receive, p->send_start, p->send, (char *)elements,
                  sizeof *elements, LARGEST);
}

scree_Status scree_domain_sum_bodies(scree_System *s, double *elements) {
  const scree_Status status = scree_domain_add_ghosts(s, elements);
  return status ? status : scree_domain_to_ghosts(s, elements, sizeof *elements);
}

/* Islands of the posed problem as problems of their own: contacts and bodies in the order of the
 * whole, in memory that is used for one island after the other. They are solved where the error of
 * the whole says too little about them (rest.c, forces.c). */
#include "step/portion.h"

#include "core/log.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

enum { PAD = 8 }; /* kernels may load a full vector past the end */

/* The contacts of island k are order[first[k]] to order[first[k+1] - 1]. */
static void sort_contacts(const scree_Islands *islands, int nc, int *first, int *order) {
  for (int k = 0, sum = 0; k <= islands->count; ++k) {
    first[k] = sum;
    if (k < islands->count) sum += islands->size[k];
  }
  for (int c = 0; c < nc; ++c) order[first[islands->of[c]]++] = c;
  for (int k = islands->count; k > 0; --k) first[k] = first[k - 1];
  first[0] = 0;
}

static scree_Status make_arrays(scree_System *s, const scree_Problem *whole, int most,
                                scree_PortionRoom *room) {
  scree_Arena *arena = &s->scratch;
  const size_t n = (size_t)most + PAD, d = (size_t)whole->d, nb = (size_t)whole->bodies.nb;
  scree_BodyRows *b = &room->problem.bodies;
  *room = (scree_PortionRoom){.contact = SCREE_TAKE_RAW(arena, int, n),
                              .local = SCREE_TAKE_RAW(arena, int, whole->bodies.nbodies),
                              .ids = SCREE_TAKE_RAW(arena, int, 2 * n),
                              .r = SCREE_TAKE_RAW(arena, double, n *d),
                              .u = SCREE_TAKE_RAW(arena, double, n *d)};
  scree_Problem *p = &room->problem;
  *p = (scree_Problem){.d = whole->d, .flow = whole->flow, .kind = SCREE_BODIES};
  p->q = SCREE_TAKE_RAW(arena, double, n *d);
  p->mu = SCREE_TAKE_RAW(arena, double, n);
  b->nb = whole->bodies.nb;
  b->body = SCREE_TAKE_RAW(arena, int, 2 * n);
  b->id = room->ids;
  bool good =
      room->contact && room->local && room->ids && room->r && room->u && p->q && p->mu && b->body;
  if (whole->bodies.B) good = good && (b->B = SCREE_TAKE_RAW(arena, double, n * 2 * d * nb));
  if (whole->bodies.arm) {
    b->normal = SCREE_TAKE_RAW(arena, double, n * 3);
    b->arm = SCREE_TAKE_RAW(arena, double, n * 4);
    good = good && b->normal && b->arm;
  }
  if (whole->bodies.C) good = good && (b->C = SCREE_TAKE_RAW(arena, double, n *d *d));
  if (whole->flow_blocks)
    good = good && (p->flow_blocks = room->flow = SCREE_TAKE_RAW(arena, double, n *d *d));
  if (whole->set) {
    p->set = SCREE_TAKE_RAW(arena, uint8_t, n);
    p->set_a = SCREE_TAKE_RAW(arena, double, n);
    p->set_b = SCREE_TAKE_RAW(arena, double, n);
    good = good && p->set && p->set_a && p->set_b;
  }
  if (!good) return scree_fail_memory(s->log, "an island");
  for (int k = 0; k < whole->bodies.nbodies; ++k) room->local[k] = -1;
  return SCREE_OK;
}

scree_Status scree_portion_room(scree_System *s, const scree_Problem *whole,
                                const scree_Islands *islands, int most, scree_PortionRoom *room) {
  scree_Status status = make_arrays(s, whole, most, room);
  if (status) return status;
  room->first = SCREE_TAKE_RAW(&s->scratch, int, islands->count + 1);
  room->order = SCREE_TAKE_RAW(&s->scratch, int, whole->nc);
  if (!room->first || !room->order) return scree_fail_memory(s->log, "the contacts of islands");
  sort_contacts(islands, whole->nc, room->first, room->order);
  if (s->apart) return SCREE_OK;
  const scree_SolveSettings settings = scree_system_solve_settings(s, true);
  return scree_solver_create(&settings, s->log, &s->apart);
}

/* Row `from` of an array of rows of `size` doubles becomes row `to` of another. */
static void copy_row(double *to_rows, size_t to, const double *from_rows, size_t from,
                     size_t size) {
  if (from_rows) memcpy(to_rows + to * size, from_rows + from * size, size * sizeof *to_rows);
}

void scree_portion_take(const scree_Problem *whole, const scree_Islands *islands, int k,
                        const double *start, scree_PortionRoom *room) {
  assert(k >= 0 && k < islands->count);
  const int *contacts = room->order + room->first[k];
  const int nc = islands->size[k];
  assert(nc == room->first[k + 1] - room->first[k]);
  scree_Problem *p = &room->problem;
  const size_t d = (size_t)p->d, nb = (size_t)whole->bodies.nb;
  p->nc = nc;
  p->bodies.nbodies = 0;
  for (int i = 0; i < nc; ++i) {
    const size_t at = (size_t)i, c = (size_t)contacts[i];
    room->contact[i] = contacts[i];
    for (size_t side = 0; side < 2; ++side) {
      const int body = whole->bodies.body[2 * c + side];
      if (body >= 0 && room->local[body] < 0) {
        room->ids[p->bodies.nbodies] = body;
        room->local[body] = p->bodies.nbodies++;
      }
      p->bodies.body[2 * at + side] = body < 0 ? -1 : room->local[body];
    }
    copy_row(p->bodies.B, at, whole->bodies.B, c, 2 * d * nb);
    copy_row(p->bodies.normal, at, whole->bodies.normal, c, 3);
    copy_row(p->bodies.arm, at, whole->bodies.arm, c, 4);
    copy_row(p->bodies.C, at, whole->bodies.C, c, d * d);
    copy_row(room->flow, at, whole->flow_blocks, c, d * d);
    copy_row(p->q, at, whole->q, c, d);
    copy_row(room->r, at, start, c, d);
    p->mu[at] = whole->mu[c];
    if (!whole->set) continue;
    p->set[at] = whole->set[c];
    p->set_a[at] = whole->set_a[c];
    p->set_b[at] = whole->set_b[c];
  }
  for (int i = 0; i < p->bodies.nbodies; ++i) {
    room->local[room->ids[i]] = -1;
    room->ids[i] = whole->bodies.id[room->ids[i]];
  }
}

scree_Portion scree_portion_of(const scree_System *s, const scree_PortionRoom *room) {
  return (scree_Portion){.problem = &room->problem, .solver = s->apart, .r = room->r, .u = room->u};
}

void scree_portion_put(const scree_PortionRoom *room, double *r) {
  const size_t d = (size_t)room->problem.d;
  for (int i = 0; i < room->problem.nc; ++i)
    copy_row(r, (size_t)room->contact[i], room->r, (size_t)i, d);
}

int scree_portion_largest(const scree_Islands *islands, const bool *marked) {
  int most = 0;
  for (int k = 0; k < islands->count; ++k)
    if (marked[k] && islands->size[k] > most) most = islands->size[k];
  return most;
}

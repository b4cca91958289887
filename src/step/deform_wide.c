/* The problem of a divided world with deformable bodies, in the form that is divided between ranks:
 * contacts of bodies of one size (problem/widen.h). All bodies that can be divided are one vertex
 * each, and are numbered among the rigid ones in the order of the world, as the ranks that share
 * them need it (domain_pose.c). */
#include "core/log.h"
#include "core/memory.h"
#include "problem/widen.h"
#include "step/system.h"

scree_Status scree_deform_widen(scree_System *s, const scree_Problem *problem) {
  scree_Deform *f = &s->deform;
  const scree_Bodies *b = &s->bodies;
  const int *index = s->posed.problem_index;
  const int n = problem->bodies.nbodies + problem->vertices.count;
  scree_arena_reset(&f->widening);
  f->place = SCREE_TAKE_RAW(&f->widening, int, n);
  int *world = SCREE_TAKE_RAW(&f->widening, int, n);
  if (!f->place || !world) return scree_fail_memory(s->log, "the bodies of the problem");
  for (int k = 0, next = 0; k < b->count; ++k) {
    if (index[k] < 0) continue;
    world[next] = k;
    f->place[index[k]] = next++;
  }
  const int nb = b->dimension * (b->dimension + 1); /* the same on all ranks */
  const scree_Status status =
      scree_problem_widen(problem, nb, f->place, &f->widening, &f->wide, s->log);
  f->wide.bodies.id = world;
  return status;
}

const double *scree_deform_solved(const scree_System *s, int index) {
  const scree_Posed *p = &s->posed;
  if (scree_deform_widens(s))
    return p->y + (size_t)s->deform.place[index] * (size_t)s->deform.wide.bodies.nb;
  const double *y = p->y + (size_t)index * (size_t)s->bodies.nb;
  if (index < p->nbodies) return y;
  /* the ground lies between the rigid bodies and the vertices (problem/operator.h) */
  y = p->y + (size_t)(p->nbodies + 1) * (size_t)s->bodies.nb;
  for (int i = 0; i < index - p->nbodies; ++i) y += s->deform.vertices.size[i];
  return y;
}

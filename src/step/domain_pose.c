/* The problem of a divided world: who holds which body (see domain.h).
 *
 * A rank that has contacts of a ghost tells its owner; the owner tells all of them who they are.
 * The owner holds such a body too, whether or not it has contacts of it itself, so that it knows
 * its velocity after the kick. */
#include "core/log.h"
#include "core/memory.h"
#include "solver/driver.h"
#include "solver/own.h"
#include "solver/registry.h"
#include "step/system.h"

#include <string.h>

static scree_Status fail_memory(const scree_System *s) {
  return scree_fail_memory(s->log, "the halo of a problem");
}

/* Which bodies of the send lists other ranks touch: one byte for each, from ghosts to owners. */
static scree_Status ask(scree_System *s, const int *index, unsigned char **touched) {
  scree_Domain *p = &s->domain;
  const size_t size = (size_t)p->size, out = p->receive_start[size], in = p->send_start[size];
  unsigned char *mine = SCREE_TAKE_RAW(&p->posing, unsigned char, out);
  size_t *sizes = SCREE_TAKE_RAW(&p->posing, size_t, 2 * size);
  *touched = SCREE_TAKE_RAW(&p->posing, unsigned char, in);
  scree_Status status = mine && sizes && *touched ? SCREE_OK : fail_memory(s);
  status = scree_domain_agree(s, status);
  if (status) return status;
  for (size_t k = 0; k < out; ++k) mine[k] = index[p->receive[k]] >= 0;
  for (size_t k = 0; k < size; ++k) {
    sizes[k] = p->receive_start[k + 1] - p->receive_start[k];
    sizes[size + k] = p->send_start[k + 1] - p->send_start[k];
  }
  scree_ranks_swap(p->ranks, mine, sizes, *touched, sizes + size);
  return SCREE_OK;
}

/* The ranks of each own body that others touch, ascending: start (bodies + 1), ranks. */
static bool list_holders(const scree_System *s, const unsigned char *touched, size_t **start,
                         int **ranks, scree_Arena *arena) {
  const scree_Domain *p = &s->domain;
  const size_t n = (size_t)s->bodies.count;
  size_t *first = SCREE_TAKE(arena, size_t, n + 2);
  bool *self = SCREE_TAKE(arena, bool, n);
  if (!first || !self) return false;
  for (size_t k = 0; k < p->send_start[p->size]; ++k)
    if (touched[k]) first[p->send[k] + 2]++;
  for (size_t k = 0; k < n; ++k) /* and the owner */
    first[k + 2] = first[k + 1] + (first[k + 2] ? first[k + 2] + 1 : 0);
  int *list = SCREE_TAKE_RAW(arena, int, first[n + 1]);
  if (!list) return false;
  for (int rank = 0; rank <= p->size; ++rank) {
    const bool mine = rank == p->rank;
    const size_t begin = rank < p->size ? p->send_start[rank] : 0;
    const size_t end = rank < p->size ? p->send_start[rank + 1] : 0;
    if (mine) /* before the higher ranks, in its place */
      for (size_t k = 0; k < p->send_start[p->size]; ++k)
        if (touched[k] && !self[p->send[k]]) {
          self[p->send[k]] = true;
          list[first[p->send[k] + 1]++] = rank;
        }
    for (size_t k = begin; !mine && k < end; ++k)
      if (touched[k]) list[first[p->send[k] + 1]++] = rank;
  }
  *start = first;
  *ranks = list;
  return true;
}

/* Owners tell those that asked: for each body in the order of the lists a count and the ranks. */
static scree_Status answer(scree_System *s, const unsigned char *touched, const size_t *start,
                           const int *ranks, int **told) {
  scree_Domain *p = &s->domain;
  const size_t size = (size_t)p->size;
  size_t *sizes = SCREE_TAKE(&p->posing, size_t, 2 * size), total = 0, received = 0;
  if (!sizes) return scree_domain_agree(s, fail_memory(s));
  for (size_t rank = 0; rank < size; ++rank)
    for (size_t k = p->send_start[rank]; k < p->send_start[rank + 1]; ++k)
      if (touched[k]) sizes[rank] += 1 + start[p->send[k] + 1] - start[p->send[k]];
  for (size_t k = 0; k < size; ++k) total += sizes[k];
  int *out = SCREE_TAKE_RAW(&p->posing, int, total);
  scree_Status status = scree_domain_agree(s, out ? SCREE_OK : fail_memory(s));
  if (status) return status;
  size_t filled = 0;
  for (size_t k = 0; k < p->send_start[size]; ++k) {
    if (!touched[k]) continue;
    const size_t first = start[p->send[k]], n = start[p->send[k] + 1] - first;
    out[filled++] = (int)n;
    memcpy(out + filled, ranks + first, n * sizeof *out);
    filled += n;
  }
  for (size_t k = 0; k < size; ++k) sizes[k] *= sizeof(int);
  scree_ranks_swap_sizes(p->ranks, sizes, sizes + size);
  for (size_t k = 0; k < size; ++k) received += sizes[size + k];
  *told = SCREE_TAKE_RAW(&p->posing, int, received / sizeof(int));
  status = scree_domain_agree(s, *told ? SCREE_OK : fail_memory(s));
  if (!status) scree_ranks_swap(p->ranks, out, sizes, *told, sizes + size);
  return status;
}

/* The holders of the problem's bodies from those of own bodies and what was told of ghosts. */
static scree_Status write_holders(scree_System *s, const int *index, const size_t *start,
                                  const int *ranks, const int *told) {
  scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  const size_t n = (size_t)b->count;
  size_t *ghost = SCREE_TAKE(&p->posing, size_t, n), at = 0; /* 1 + place in `told` */
  if (!ghost) return fail_memory(s);
  for (size_t k = 0; told && k < p->receive_start[p->size]; ++k) {
    if (index[p->receive[k]] < 0) continue;
    ghost[p->receive[k]] = at + 1;
    at += 1 + (size_t)told[at];
  }
  size_t bodies = 0, total = 0;
  for (int pass = 0; pass < 2; ++pass) {
    bodies = total = 0;
    for (int i = 0; i < (p->deforms ? 2 : 1) * b->count; ++i) { /* rigid bodies first */
      const int k = i % b->count;
      const bool deformable = scree_bodies_deformable(b, k) != NULL;
      if (index[k] < 0 || b->fixed[k] || deformable != (i >= b->count)) continue;
      const int *list = &p->rank;
      size_t count = 1;
      if (told && ghost[k]) {
        list = told + ghost[k];
        count = (size_t)list[-1];
      } else if (start && ranks && start[k + 1] > start[k]) {
        list = ranks + start[k];
        count = start[k + 1] - start[k];
      }
      if (pass == 1) {
        p->number[bodies] = p->global[k];
        p->holder_start[bodies] = total;
        memcpy(p->holder + total, list, count * sizeof *list);
      }
      ++bodies;
      total += count;
    }
    if (pass == 1) break;
    p->holder_start = SCREE_TAKE(&p->posing, size_t, bodies + 1);
    p->holder = SCREE_TAKE_RAW(&p->posing, int, total);
    p->number = SCREE_TAKE_RAW(&p->posing, int, bodies);
    if (!p->holder_start || !p->holder || !p->number) return fail_memory(s);
  }
  p->holder_start[bodies] = total;
  return SCREE_OK;
}

scree_Status scree_domain_touch(scree_System *s, int *index) {
  scree_Domain *p = &s->domain;
  unsigned char *touched = NULL;
  size_t *start = NULL;
  int *ranks = NULL, *told = NULL;
  scree_Status status = SCREE_OK;
  if (!p->global) return SCREE_OK;
  scree_arena_reset(&p->posing);
  if (p->size > 1) {
    status = ask(s, index, &touched);
    if (status || !touched) return status;
    status = list_holders(s, touched, &start, &ranks, &p->posing) ? SCREE_OK : fail_memory(s);
    status = scree_domain_agree(s, status);
    if (!status && start && ranks) status = answer(s, touched, start, ranks, &told);
    if (status || !told) return status;
    for (size_t k = 0; k < p->send_start[p->size]; ++k)
      if (touched[k]) index[p->send[k]] = 0;
  }
  return scree_domain_agree(s, write_holders(s, index, start, ranks, told));
}

scree_Status scree_domain_count(scree_System *s, size_t contacts, long long *all) {
  scree_Domain *p = &s->domain;
  *all = (long long)contacts;
  if (!p->global || p->size == 1) return SCREE_OK;
  double sum = (double)contacts;
  scree_ranks_add(p->ranks, &sum, 1);
  *all = (long long)sum;
  return SCREE_OK;
}

void scree_domain_price(scree_System *s) {
  if (!s->domain.global) return;
  scree_Problem problem = scree_system_problem(s);
  if (scree_rolls(s)) problem.general.count = s->posed.nc + s->joints.rows.count; /* not yet made */
  s->domain.sweep = scree_system_max(s, scree_sweep_seconds(&problem));
}

double scree_domain_sweep_seconds(const scree_System *s, const scree_Problem *problem) {
  return s->domain.global ? s->domain.sweep : scree_sweep_seconds(problem);
}

int scree_domain_first_contact(const scree_System *s) {
  return s->domain.size > 1 ? scree_solver_first_contact(s->solver) : 0;
}

/* Joints without any contact: no rank has a body of another one's problem, so each solves its own
 * as a world that is not divided does. What decides is the worst of all. */
static scree_Status solve_apart(scree_System *s, const scree_Problem *problem, double *r, double *u,
                                scree_SolveInfo *info) {
  scree_Status status = SCREE_OK;
  if (problem->general.count > 0)
    status = scree_solver_solve(s->solver, problem, r, u, info);
  else
    *info = (scree_SolveInfo){.solver = "none", .imbalance = 1};
  const bool usable = status <= SCREE_NOT_CONVERGED;
  const scree_Status agreed = scree_domain_agree(s, usable ? SCREE_OK : status);
  if (agreed) return agreed;
  double most[] = {status,     info->value,      info->measures.cone_violation,
                   info->work, info->iterations, info->factorisations};
  scree_ranks_most(s->domain.ranks, most, sizeof most / sizeof *most);
  info->value = most[1];
  info->measures.cone_violation = most[2];
  info->work = most[3];
  info->iterations = (int)most[4];
  info->factorisations = (int)most[5];
  return most[0] > 0 ? SCREE_NOT_CONVERGED : SCREE_OK;
}

scree_Status scree_domain_solve(scree_System *s, const scree_Problem *problem, double *r, double *u,
                                scree_SolveInfo *info) {
  scree_Domain *p = &s->domain;
  if (!p->global || p->size == 1) {
    const bool same = s->posed.solved;
    const scree_Status status = scree_solver_solve_again(s->solver, problem, same, r, u, info);
    s->posed.solved = status <= SCREE_NOT_CONVERGED;
    return status;
  }
  if (s->posed.all == 0) return solve_apart(s, problem, r, u, info);
  const scree_OwnPart part = {.ranks = p->ranks,
                              .size = p->size,
                              .whole = p->whole,
                              .blocks = {.groups = s->deform.groups,
                                         .group = s->deform.group,
                                         .number = p->number,
                                         .holder_start = p->holder_start,
                                         .holder = p->holder}};
  return scree_solver_solve_own(s->solver, problem, &part, r, u, info);
}

/* The whole problem on rank 0 from the parts that the ranks have posed (see division.h). */
#include "core/log.h"
#include "problem/balls.h"
#include "problem/division.h"

#include <string.h>

/* Arrays that a contact of any rank has, so that all records are alike. */
typedef struct Form {
  bool balls, compliance, sets, flow_blocks;
} Form;

static Form common_form(const scree_Division *division) {
  const scree_DivisionForm *mine = &division->form;
  double any[4] = {mine->balls ? 0 : 1, mine->compliance, mine->sets, mine->flow_blocks};
  scree_ranks_most(division->halo.ranks, any, 4);
  return (Form){any[0] == 0, any[1] > 0, any[2] > 0, any[3] > 0};
}

/* Numbers of a contact in a record: its bodies, its blocks, q, mu, and what else there is. */
static size_t record_size(const Form *form, const scree_Problem *p) {
  const size_t d = (size_t)p->d, nb = (size_t)p->bodies.nb, dd = d * d;
  return 2 + (form->balls ? 7 : 2 * d * nb) + (form->compliance ? dd : 0) +
         (form->flow_blocks ? dd : 0) + d + 1 + (form->sets ? 3 : 0);
}

static double *put(double *at, const double *from, size_t count) {
  if (from)
    memcpy(at, from, count * sizeof *at);
  else
    memset(at, 0, count * sizeof *at);
  return at + count;
}

static void pack(const scree_Division *division, const Form *form, double *at) {
  const scree_Problem *p = &division->problem;
  const size_t d = (size_t)p->d, nb = (size_t)p->bodies.nb, dd = d * d;
  for (int c = 0; c < p->nc; ++c) {
    const size_t k = (size_t)c;
    double written[SCREE_BALL_ROOM];
    for (size_t side = 0; side < 2; ++side) {
      const int b = p->bodies.body[2 * k + side];
      *at++ = b < 0 ? -1 : division->global[b];
    }
    if (form->balls) {
      at = put(at, p->bodies.normal + 3 * k, 3);
      at = put(at, p->bodies.arm + 4 * k, 4);
    } else {
      at = put(at, scree_contact_blocks(p, c, written), 2 * d * nb);
    }
    if (form->compliance) at = put(at, p->bodies.C ? p->bodies.C + k * dd : NULL, dd);
    if (form->flow_blocks) at = put(at, p->flow_blocks ? p->flow_blocks + k * dd : NULL, dd);
    at = put(at, p->q + k * d, d);
    at = put(at, p->mu + k, 1);
    if (!form->sets) continue;
    *at++ = p->set ? p->set[k] : SCREE_SET_CONE;
    *at++ = p->set && p->set_a ? p->set_a[k] : 0;
    *at++ = p->set && p->set_b ? p->set_b[k] : 0;
  }
}

/* Number the bodies of the records that are there, in the order of the world: index (bodies). */
static int number_bodies(const double *records, size_t count, size_t each, int bodies, int *index) {
  int n = 0;
  for (int b = 0; b < bodies; ++b) index[b] = -1;
  for (size_t c = 0; c < count; ++c)
    for (size_t side = 0; side < 2; ++side) {
      const int b = (int)records[c * each + side];
      if (b >= 0) index[b] = 0;
    }
  for (int b = 0; b < bodies; ++b)
    if (index[b] >= 0) index[b] = n++;
  return n;
}

static void unpack(const Form *form, const double *at, const int *index, scree_Problem *p) {
  const size_t d = (size_t)p->d, nb = (size_t)p->bodies.nb, dd = d * d;
#define TAKE(array, count)                                                                         \
  do {                                                                                             \
    memcpy((double *)(array), at, (count) * sizeof *at);                                           \
    at += (count);                                                                                 \
  } while (0)
  for (size_t c = 0; c < (size_t)p->nc; ++c) {
    for (size_t side = 0; side < 2; ++side, ++at)
      p->bodies.body[2 * c + side] = *at < 0 ? -1 : index[(int)*at];
    if (form->balls) {
      TAKE(p->bodies.normal + 3 * c, 3);
      TAKE(p->bodies.arm + 4 * c, 4);
    } else {
      TAKE(p->bodies.B + c * 2 * d * nb, 2 * d * nb);
    }
    if (form->compliance) TAKE(p->bodies.C + c * dd, dd);
    if (form->flow_blocks) TAKE(p->flow_blocks + c * dd, dd);
    TAKE(p->q + c * d, d);
    TAKE(p->mu + c, 1);
    if (!form->sets) continue;
    p->set[c] = (uint8_t)*at++;
    p->set_a[c] = *at++;
    p->set_b[c] = *at++;
  }
#undef TAKE
}

scree_Status scree_division_join(const scree_Division *division, scree_Arena *arena,
                                 scree_Problem *whole, const scree_Log *log) {
  const scree_Ranks *ranks = division->halo.ranks;
  const scree_Problem *p = &division->problem;
  if (division->halo.any_size) return scree_division_join_general(division, arena, whole, log);
  const size_t size = (size_t)division->size, nc = (size_t)division->halo.constraints;
  const bool root = division->rank == 0;
  const Form form = common_form(division);
  const size_t each = record_size(&form, p);
  const scree_ArenaMark mark = scree_arena_mark(arena);
  double *mine = SCREE_TAKE_RAW(arena, double, (size_t)p->nc *each);
  double *all = SCREE_TAKE_RAW(arena, double, root ? nc *each : 0);
  int *index = SCREE_TAKE_RAW(arena, int, root ? division->bodies : 0);
  size_t *sizes = SCREE_TAKE(arena, size_t, 2 * size);
  scree_Status status = mine && all && index && sizes && nc <= INT32_MAX
                            ? SCREE_OK
                            : scree_fail_memory(log, "the whole problem");
  status = scree_ranks_agree(ranks, status, log);
  if (!status && mine && all && index && sizes) {
    pack(division, &form, mine);
    sizes[0] = (size_t)p->nc * each * sizeof *mine;
    for (size_t k = 0; root && k < size; ++k)
      sizes[size + k] = (size_t)division->count[k] / (size_t)p->d * each * sizeof *mine;
    scree_ranks_swap(ranks, mine, sizes, all, sizes + size);
    if (root) {
      const scree_ProblemLayout layout = {.d = p->d,
                                          .contacts = (int)nc,
                                          .balls = form.balls,
                                          .bodies =
                                              number_bodies(all, nc, each, division->bodies, index),
                                          .nb = p->bodies.nb,
                                          .with_sets = form.sets,
                                          .with_compliance = form.compliance};
      status = scree_problem_create(whole, &layout, log);
      if (!status) {
        whole->flow = p->flow;
        unpack(&form, all, index, whole);
      }
    }
  }
  scree_arena_release(arena, mark);
  return scree_ranks_agree(ranks, status, log);
}

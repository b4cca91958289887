/* The parts of a problem on several ranks, without MPI: every contact has one owner, both sides of
 * a halo list the same blocks, numbers arrive as they were, and the parts of a product add up to
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "problem/division.h"
#include "problem/graph.h"
#include "problem/operator.h"
#include "ranks/packing.h"
#include "solver/colouring.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 9 };

typedef struct Parts {
  int size;
  scree_Arena arena;
  int *part;
  scree_Division rank[MOST];
  double *r[MOST];
} Parts;

static void make_parts(const scree_Problem *p, int size, const double *r, Parts *parts) {
  *parts = (Parts){.size = size};
  const scree_DivisionForm form = scree_division_form(p);
  parts->part = SCREE_TAKE(&parts->arena, int, scree_division_blocks(p));
  assert_int_equal(scree_division_partition(p, size, &parts->arena, parts->part, NULL), SCREE_OK);
  for (int k = 0; k < size; ++k) {
    scree_Division *division = &parts->rank[k];
    assert_int_equal(
        scree_division_create(p, &form, NULL, k, size, parts->part, &parts->arena, division, NULL),
        SCREE_OK);
    const size_t count = scree_division_pack(division, k, NULL, NULL);
    double *record = SCREE_TAKE(&parts->arena, double, count);
    parts->r[k] = SCREE_TAKE(&parts->arena, double, scree_problem_rows(&division->problem));
    assert_int_equal(scree_division_pack(division, k, r, record), count);
    scree_division_unpack(division, record, parts->r[k]);
  }
}

static void free_parts(Parts *parts) {
  for (int k = 0; k < parts->size; ++k) scree_problem_destroy(&parts->rank[k].problem);
  scree_arena_fini(&parts->arena);
}

/* Each contact is in the problem of exactly one rank, with its numbers. */
static void check_owners(const scree_Problem *p, const double *r, const Parts *parts) {
  int *seen = calloc((size_t)p->nc + 1, sizeof *seen);
  const size_t d = (size_t)p->d;
  for (int k = 0; k < parts->size; ++k) {
    const scree_Problem *mine = &parts->rank[k].problem;
    for (int c = 0; c < mine->nc; ++c) {
      const size_t g = (size_t)parts->rank[k].halo.number[c];
      ++seen[g];
      assert_int_equal(parts->rank[k].owner[g], k);
      assert_memory_equal(mine->q + (size_t)c * d, p->q + g * d, d * sizeof(double));
      assert_memory_equal(parts->r[k] + (size_t)c * d, r + g * d, d * sizeof(double));
      assert_true(mine->mu[c] == p->mu[g]);
    }
  }
  for (int c = 0; c < p->nc; ++c) assert_int_equal(seen[c], 1);
  free(seen);
}

static int neighbour_index(const scree_Halo *halo, int rank) {
  for (int k = 0; k < halo->neighbours; ++k)
    if (halo->neighbour[k] == rank) return k;
  return -1;
}

/* What a sends to b is what b receives from a: as many blocks, and the same ones. */
static void check_lists(const Parts *parts, const scree_HaloLists *(*lists)(const void *, int, int),
                        const void *data, int stage) {
  for (int a = 0; a < parts->size; ++a)
    for (int b = 0; b < parts->size; ++b) {
      const scree_Halo *from = &parts->rank[a].halo, *to = &parts->rank[b].halo;
      const int i = neighbour_index(from, b), j = neighbour_index(to, a);
      assert_int_equal(i < 0, j < 0);
      if (i < 0) continue;
      const scree_HaloLists *out = lists(data, a, stage), *in = lists(data, b, stage);
      const size_t n = out->send_start[i + 1] - out->send_start[i];
      assert_int_equal(n, in->receive_start[j + 1] - in->receive_start[j]);
      for (size_t k = 0; k < n; ++k) {
        const int mine = out->send[out->send_start[i] + k];
        const int theirs = in->receive[in->receive_start[j] + k];
        int block = 0; /* of the whole */
        while (parts->rank[a].local[block] != mine) ++block;
        assert_int_equal(parts->rank[b].local[block], theirs);
      }
    }
}

static const scree_HaloLists *all_lists(const void *data, int rank, int stage) {
  (void)stage;
  return &((const Parts *)data)->rank[rank].halo.all;
}

/* The parts of B^T r on the bodies of each rank add up to that of the whole. */
static void check_product(const scree_Problem *p, const double *r, Parts *parts) {
  scree_Operator W;
  assert_int_equal(scree_operator_create(p, 1, NULL, &W), SCREE_OK);
  const size_t nb = (size_t)p->bodies.nb;
  double *y = calloc(W.state_size, sizeof *y), *sum = calloc(W.state_size, sizeof *sum);
  double largest = 0.0;
  scree_operator_state(&W, r, y);
  for (int k = 0; k < parts->size; ++k) {
    scree_Operator part;
    assert_int_equal(scree_operator_create(&parts->rank[k].problem, 1, NULL, &part), SCREE_OK);
    double *mine = calloc(part.state_size, sizeof *mine);
    scree_operator_state(&part, parts->r[k], mine);
    for (int b = 0; b < p->bodies.nbodies; ++b)
      for (size_t i = 0; parts->rank[k].local[b] >= 0 && i < nb; ++i)
        sum[(size_t)b * nb + i] += mine[(size_t)parts->rank[k].local[b] * nb + i];
    free(mine);
    scree_operator_destroy(&part);
  }
  for (size_t i = 0; i < W.state_size; ++i) largest = fmax(largest, fabs(y[i]));
  for (size_t i = 0; i < W.state_size; ++i) assert_true(fabs(sum[i] - y[i]) <= 1e-13 * largest);
  free(y);
  free(sum);
  scree_operator_destroy(&W);
}

static const scree_HaloLists *stage_lists(const void *data, int rank, int stage) {
  return &((const scree_DivisionStages *)data)[rank].lists[stage];
}

/* All ranks have the same stages; their contacts together are all contacts, each once; no two of a
 * stage that is not serial share a body. */
static void check_stages(const scree_Problem *p, Parts *parts, bool coloured) {
  scree_Operator W;
  scree_Colouring order;
  assert_int_equal(scree_operator_create(p, 1, NULL, &W), SCREE_OK);
  assert_int_equal(coloured ? scree_colouring_create(&W, &parts->arena, &order, NULL)
                            : scree_colouring_natural(&W, &parts->arena, &order, NULL),
                   SCREE_OK);
  scree_DivisionStages stages[MOST];
  int visited = 0;
  for (int k = 0; k < parts->size; ++k) {
    assert_int_equal(scree_division_stages(&parts->rank[k], order.colours, order.start, order.order,
                                           order.serial, &parts->arena, &stages[k], NULL),
                     SCREE_OK);
    assert_int_equal(stages[k].stages, stages[0].stages);
    assert_int_equal(stages[k].start[stages[k].stages], parts->rank[k].problem.nc);
    visited += parts->rank[k].problem.nc;
  }
  assert_int_equal(visited, p->nc);
  for (int s = 0; s < stages[0].stages; ++s) check_lists(parts, stage_lists, stages, s);
  scree_operator_destroy(&W);
}

static void check_problem(const scree_Problem *p) {
  static const int sizes[] = {1, 2, 3, 4, 8, 9};
  const size_t n = scree_problem_rows(p);
  double *r = calloc(n, sizeof *r);
  uint64_t random = 5;
  for (size_t i = 0; i < n; ++i) r[i] = packing_random(&random);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    Parts parts;
    make_parts(p, sizes[k], r, &parts);
    check_owners(p, r, &parts);
    check_lists(&parts, all_lists, &parts, 0);
    if (p->kind == SCREE_BODIES) check_product(p, r, &parts);
    check_stages(p, &parts, true);
    check_stages(p, &parts, false);
    assert_true(scree_division_imbalance(&parts.rank[0]) >= 1.0);
    if (p->nc > 300) assert_true(scree_division_imbalance(&parts.rank[0]) < 1.6);
    free_parts(&parts);
  }
  free(r);
}

static void test_balls(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_Problem p;
    assert_int_equal(packing_create(&p, d, d == 2 ? 12 : 6), SCREE_OK);
    check_problem(&p);
    scree_problem_destroy(&p);
  }
}

static void test_other_forms(void **state) {
  (void)state;
  scree_Problem balls, dense, assembled;
  assert_int_equal(packing_create(&balls, 3, 5), SCREE_OK);
  assert_int_equal(packing_dense(&balls, 0.0, &dense), SCREE_OK);
  assert_int_equal(scree_problem_assemble(&balls, &assembled, NULL), SCREE_OK);
  check_problem(&dense);
  check_problem(&assembled);
  scree_problem_destroy(&balls);
  scree_problem_destroy(&dense);
  scree_problem_destroy(&assembled);
}

/* Fewer contacts than ranks: some have none. */
static void test_few(void **state) {
  (void)state;
  scree_Problem p;
  assert_int_equal(packing_create(&p, 2, 1), SCREE_OK);
  check_problem(&p);
  scree_problem_destroy(&p);
  assert_int_equal(packing_create(&p, 2, 2), SCREE_OK);
  check_problem(&p);
  scree_problem_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balls),
      cmocka_unit_test(test_other_forms),
      cmocka_unit_test(test_few),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Problems from arrays: W in compressed rows (dense and block matrices come through these), bodies
 * with the blocks of their contacts, balls. The arrays are copied, so a Problem never changes. */
#include "core.h"

#include <string.h>

static const char *const law_words[] = {"coulomb", "associated", NULL};

/* What every constructor takes besides its operator. */
typedef struct Common {
  PyObject *q_object, *mu_object, *law_object, *set_object, *a_object, *b_object, *flow_object;
  PyArrayObject *q, *mu, *set, *a, *b, *flow;
  scree_Flow law;
  int d, nc;
} Common;

static void common_fini(Common *c) {
  Py_CLEAR(c->q);
  Py_CLEAR(c->mu);
  Py_CLEAR(c->set);
  Py_CLEAR(c->a);
  Py_CLEAR(c->b);
  Py_CLEAR(c->flow);
}

static bool given(PyObject *object) {
  return object && object != Py_None;
}

static bool common_sets(Common *c) {
  const npy_intp one[1] = {c->nc};
  if (!given(c->set_object)) {
    if (!given(c->a_object) && !given(c->b_object)) return true;
    PyErr_SetString(core_errors.input, "set_a and set_b need set, the kinds of the sets");
    return false;
  }
  c->set = as_ints(c->set_object, "set", 1, one);
  if (!c->set) return false;
  for (int k = 0; k < c->nc; ++k)
    if (ints(c->set)[k] < 0 || ints(c->set)[k] >= SCREE_SET_KINDS) {
      PyErr_Format(core_errors.input, "set: entry %d is %d, expected 0 to %d", k, ints(c->set)[k],
                   SCREE_SET_KINDS - 1);
      return false;
    }
  if (given(c->a_object) && !(c->a = as_doubles(c->a_object, "set_a", 1, one))) return false;
  return !given(c->b_object) || (c->b = as_doubles(c->b_object, "set_b", 1, one));
}

/* q (nc x d) and mu (nc) give the sizes. */
static bool common_read(Common *c) {
  const npy_intp any[2] = {-1, -1};
  if (!given(c->q_object) || !given(c->mu_object)) {
    PyErr_SetString(PyExc_TypeError, "q and mu are required");
    return false;
  }
  c->q = as_doubles(c->q_object, "q", 2, any);
  if (!c->q) return false;
  const npy_intp nc = PyArray_DIM(c->q, 0), d = PyArray_DIM(c->q, 1);
  if (d != 2 && d != 3) {
    PyErr_Format(core_errors.input, "q: found rows of %lld numbers, expected 2 or 3", (long long)d);
    return false;
  }
  if (nc > INT32_MAX / 16) {
    PyErr_SetString(core_errors.input, "q: too many contacts");
    return false;
  }
  c->nc = (int)nc;
  c->d = (int)d;
  c->mu = as_doubles(c->mu_object, "mu", 1, &nc);
  if (!c->mu || !common_sets(c)) return false;
  c->law = SCREE_COULOMB;
  if (given(c->law_object)) {
    const int law = as_choice(c->law_object, "law", law_words);
    if (law < 0) return false;
    c->law = law == 0 ? SCREE_COULOMB : SCREE_ASSOCIATED;
  }
  if (given(c->flow_object)) {
    const npy_intp shape[3] = {nc, d, d};
    c->flow = as_doubles(c->flow_object, "flow", 3, shape);
    if (!c->flow) return false;
  }
  return true;
}

static void copy_doubles(double *to, PyArrayObject *from) {
  if (PyArray_SIZE(from)) memcpy(to, doubles(from), (size_t)PyArray_SIZE(from) * sizeof *to);
}

/* Fill the rest, check all of it, and make the object; the problem and `common` are used up. */
static PyObject *finish(PyTypeObject *type, scree_Problem *problem, Common *common, Call *call) {
  copy_doubles(problem->q, common->q);
  copy_doubles(problem->mu, common->mu);
  for (int k = 0; common->set && k < common->nc; ++k)
    problem->set[k] = (uint8_t)ints(common->set)[k];
  if (common->a) copy_doubles(problem->set_a, common->a);
  if (common->b) copy_doubles(problem->set_b, common->b);
  problem->flow = common->law;
  problem->flow_blocks = common->flow ? doubles(common->flow) : NULL;
  scree_Status status;
  CALL_WITHOUT_GIL(call, status = scree_problem_check(problem, &call->log));
  PyObject *object = NULL;
  if (call_succeeded(call, status)) object = problem_take(type, problem);
  if (object) {
    ((ProblemObject *)object)->flow = (PyObject *)common->flow;
    common->flow = NULL;
  } else {
    scree_problem_destroy(problem);
  }
  common_fini(common);
  return object;
}

/* ---- W in compressed rows -------------------------------------------------------------------- */

/* indptr as the library takes it, freed with PyMem_Free; the library checks the columns. */
static size_t *read_heads(PyObject *object, const Common *c, npy_intp values) {
  const npy_intp count = (npy_intp)c->nc * c->d + 1;
  PyArrayObject *array = as_ints(object, "indptr", 1, &count);
  if (!array) return NULL;
  const int *from = ints(array);
  size_t *heads = NULL;
  npy_intp wrong = 0;
  if (from[0] != 0 || from[count - 1] != values) {
    PyErr_Format(core_errors.input, "indptr: goes from %d to %d, expected 0 to %lld", from[0],
                 from[count - 1], (long long)values);
    goto end;
  }
  for (npy_intp i = 1; i < count && !wrong; ++i)
    if (from[i] < from[i - 1]) wrong = i;
  if (wrong) {
    PyErr_Format(core_errors.input, "indptr: entry %lld is smaller than the one before it",
                 (long long)wrong);
    goto end;
  }
  heads = PyMem_Malloc((size_t)count * sizeof *heads);
  if (!heads) PyErr_NoMemory();
  for (npy_intp i = 0; heads && i < count; ++i) heads[i] = (size_t)from[i];
end:
  Py_DECREF(array);
  return heads;
}

PyObject *problem_assembled(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"indptr", "indices", "data",  "q",    "mu", "law",
                          "set",    "set_a",   "set_b", "flow", NULL};
  PyObject *indptr_object, *indices_object, *data_object, *object = NULL;
  Common common = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kw, "OOOOO|OOOOO:assembled", words, &indptr_object,
                                   &indices_object, &data_object, &common.q_object,
                                   &common.mu_object, &common.law_object, &common.set_object,
                                   &common.a_object, &common.b_object, &common.flow_object))
    return NULL;
  PyArrayObject *indices = NULL, *data = NULL;
  size_t *heads = NULL;
  Call call;
  call_init(&call);
  const npy_intp any = -1;
  if (!common_read(&common)) goto end;
  indices = as_ints(indices_object, "indices", 1, &any);
  if (!indices) goto end;
  const npy_intp values = PyArray_SIZE(indices);
  data = as_doubles(data_object, "data", 1, &values);
  if (!data) goto end;
  heads = read_heads(indptr_object, &common, values);
  if (!heads) goto end;
  scree_Problem problem;
  scree_Status status;
  CALL_WITHOUT_GIL(&call, status = scree_problem_create_csr(&problem, common.d, common.nc, heads,
                                                            ints(indices), doubles(data), NULL,
                                                            NULL, common.set != NULL, &call.log));
  if (!call_succeeded(&call, status)) goto end;
  object = finish(type, &problem, &common, &call);
end:
  PyMem_Free(heads);
  Py_XDECREF(indices);
  Py_XDECREF(data);
  common_fini(&common);
  call_clear(&call);
  return object;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool read_compliance(PyObject *object, const Common *c, PyArrayObject **compliance) {
  const npy_intp shape[3] = {c->nc, c->d, c->d};
  *compliance = NULL;
  return !given(object) || (*compliance = as_doubles(object, "compliance", 3, shape));
}

static bool count_bodies(PyArrayObject *body, PyObject *object, int *nbodies) {
  int most = -1;
  const npy_intp count = PyArray_SIZE(body);
  for (npy_intp k = 0; k < count; ++k) {
    if (ints(body)[k] > most) most = ints(body)[k];
    if (ints(body)[k] < -1) {
      PyErr_Format(core_errors.input,
                   "body: entry %lld is %d, expected the number of a body, or -1 for an obstacle",
                   (long long)k, ints(body)[k]);
      return false;
    }
  }
  *nbodies = most + 1;
  if (most >= INT32_MAX / 16) {
    PyErr_SetString(core_errors.input, "body: too many bodies");
    return false;
  }
  if (!given(object)) return true;
  int asked;
  if (!as_int(object, "nbodies", 0, &asked)) return false;
  if (asked < *nbodies || asked > INT32_MAX / 16) {
    PyErr_Format(core_errors.input, "nbodies: found %d, but the contacts name body %d", asked,
                 most);
    return false;
  }
  *nbodies = asked;
  return true;
}

PyObject *problem_from_bodies(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"body",  "B",     "q",    "mu",         "law",     "set",
                          "set_a", "set_b", "flow", "compliance", "nbodies", NULL};
  PyObject *body_object, *B_object, *C_object = NULL, *n_object = NULL, *object = NULL;
  Common common = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kw, "OOOO|OOOOOOO:bodies", words, &body_object, &B_object,
                                   &common.q_object, &common.mu_object, &common.law_object,
                                   &common.set_object, &common.a_object, &common.b_object,
                                   &common.flow_object, &C_object, &n_object))
    return NULL;
  PyArrayObject *body = NULL, *B = NULL, *C = NULL;
  Call call;
  call_init(&call);
  int nbodies;
  if (!common_read(&common)) goto end;
  const npy_intp pairs[2] = {common.nc, 2}, shape[4] = {common.nc, 2, common.d, -1};
  body = as_ints(body_object, "body", 2, pairs);
  if (!body || !count_bodies(body, n_object, &nbodies)) goto end;
  B = as_doubles(B_object, "B", 4, shape);
  if (!B || !read_compliance(C_object, &common, &C)) goto end;
  const npy_intp nb = PyArray_DIM(B, 3);
  if (nb < 1 || nb > 64) {
    PyErr_Format(core_errors.input, "B: found %lld components of a body, expected 1 to 64",
                 (long long)nb);
    goto end;
  }
  scree_Problem problem;
  const scree_Status status = scree_problem_create_bodies(
      &problem, common.d, common.nc, nbodies, (int)nb, common.set != NULL, C != NULL, &call.log);
  if (!call_succeeded(&call, status)) goto end;
  if (common.nc) memcpy(problem.bodies.body, ints(body), (size_t)common.nc * 2 * sizeof(int));
  copy_doubles(problem.bodies.B, B);
  if (C) copy_doubles(problem.bodies.C, C);
  object = finish(type, &problem, &common, &call);
end:
  Py_XDECREF(body);
  Py_XDECREF(B);
  Py_XDECREF(C);
  common_fini(&common);
  call_clear(&call);
  return object;
}

PyObject *problem_from_balls(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"body",  "normal", "arm",  "q",          "mu",      "law", "set",
                          "set_a", "set_b",  "flow", "compliance", "nbodies", NULL};
  PyObject *body_object, *n_object, *arm_object, *C_object = NULL, *count_object = NULL;
  PyObject *object = NULL;
  Common common = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kw, "OOOOO|OOOOOOO:balls", words, &body_object, &n_object,
                                   &arm_object, &common.q_object, &common.mu_object,
                                   &common.law_object, &common.set_object, &common.a_object,
                                   &common.b_object, &common.flow_object, &C_object, &count_object))
    return NULL;
  PyArrayObject *body = NULL, *normal = NULL, *arm = NULL, *C = NULL;
  Call call;
  call_init(&call);
  int nbodies;
  if (!common_read(&common)) goto end;
  const npy_intp pairs[2] = {common.nc, 2}, normals[2] = {common.nc, 3},
                 arms[3] = {common.nc, 2, 2};
  body = as_ints(body_object, "body", 2, pairs);
  if (!body || !count_bodies(body, count_object, &nbodies)) goto end;
  normal = as_doubles(n_object, "normal", 2, normals);
  if (!normal) goto end;
  arm = as_doubles(arm_object, "arm", 3, arms);
  if (!arm || !read_compliance(C_object, &common, &C)) goto end;
  scree_Problem problem;
  const scree_Status status = scree_problem_create_balls(&problem, common.d, common.nc, nbodies,
                                                         common.set != NULL, C != NULL, &call.log);
  if (!call_succeeded(&call, status)) goto end;
  if (common.nc) memcpy(problem.bodies.body, ints(body), (size_t)common.nc * 2 * sizeof(int));
  copy_doubles(problem.bodies.normal, normal);
  copy_doubles(problem.bodies.arm, arm);
  if (C) copy_doubles(problem.bodies.C, C);
  object = finish(type, &problem, &common, &call);
end:
  Py_XDECREF(body);
  Py_XDECREF(normal);
  Py_XDECREF(arm);
  Py_XDECREF(C);
  common_fini(&common);
  call_clear(&call);
  return object;
}

/* ---- constraints of any size ----------------------------------------------------------------- */

typedef struct General {
  PyArrayObject *vertex_size, *rows, *touches, *touched, *B, *q, *mu, *set, *a, *b;
} General;

static void general_fini(General *g) {
  Py_CLEAR(g->vertex_size);
  Py_CLEAR(g->rows);
  Py_CLEAR(g->touches);
  Py_CLEAR(g->touched);
  Py_CLEAR(g->B);
  Py_CLEAR(g->q);
  Py_CLEAR(g->mu);
  Py_CLEAR(g->set);
  Py_CLEAR(g->a);
  Py_CLEAR(g->b);
}

static bool within(PyArrayObject *array, const char *name, int least, int most) {
  const npy_intp count = PyArray_SIZE(array);
  for (npy_intp k = 0; k < count; ++k)
    if (ints(array)[k] < least || ints(array)[k] > most) {
      PyErr_Format(core_errors.input, "%s: entry %lld is %d, expected %d to %d", name, (long long)k,
                   ints(array)[k], least, most);
      return false;
    }
  return true;
}

/* Lengths that the graph gives: entries, numbers of B, rows in all. False: an array does not fit.
 */
static bool general_fits(const General *g, npy_intp *row_count) {
  npy_intp entry = 0, values = 0;
  const npy_intp touched = PyArray_SIZE(g->touched);
  *row_count = 0;
  for (npy_intp k = 0; k < PyArray_SIZE(g->rows); ++k) {
    *row_count += ints(g->rows)[k];
    for (int j = 0; j < ints(g->touches)[k]; ++j, ++entry) {
      if (entry >= touched) {
        PyErr_SetString(core_errors.input, "touched: fewer vertices than touches says");
        return false;
      }
      values += (npy_intp)ints(g->rows)[k] * ints(g->vertex_size)[ints(g->touched)[entry]];
    }
  }
  if (entry == touched && values == PyArray_SIZE(g->B)) return true;
  PyErr_Format(
      core_errors.input, "touched, B: found %lld vertices and %lld numbers, expected %lld and %lld",
      (long long)touched, (long long)PyArray_SIZE(g->B), (long long)entry, (long long)values);
  return false;
}

static void fill_general(const General *g, scree_Problem *problem) {
  const double *from = doubles(g->B);
  size_t entry = 0;
  for (int k = 0; k < problem->general.count; ++k)
    for (int j = 0; j < ints(g->touches)[k]; ++j, ++entry) {
      const size_t size =
          (size_t)ints(g->rows)[k] * (size_t)ints(g->vertex_size)[ints(g->touched)[entry]];
      if (size)
        memcpy(problem->general.B + problem->general.block[entry], from, size * sizeof *from);
      from += size;
    }
  copy_doubles(problem->q, g->q);
  copy_doubles(problem->mu, g->mu);
  copy_doubles(problem->set_a, g->a);
  copy_doubles(problem->set_b, g->b);
  for (int k = 0; k < problem->general.count; ++k) problem->set[k] = (uint8_t)ints(g->set)[k];
}

PyObject *problem_general(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"vertex_size", "rows", "touches", "touched", "B",   "q",
                          "mu",          "set",  "set_a",   "set_b",   "law", NULL};
  PyObject *o[10], *law_object = NULL, *object = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "OOOOOOOOOO|O:general", words, &o[0], &o[1], &o[2],
                                   &o[3], &o[4], &o[5], &o[6], &o[7], &o[8], &o[9], &law_object))
    return NULL;
  const npy_intp any = -1;
  npy_intp count, row_count = 0;
  General g = {0};
  scree_Problem problem;
  memset(&problem, 0, sizeof problem);
  Call call;
  call_init(&call);
  const int law = given(law_object) ? as_choice(law_object, "law", law_words) : 0;
  if (law < 0 || !(g.vertex_size = as_ints(o[0], "vertex_size", 1, &any)) ||
      !(g.rows = as_ints(o[1], "rows", 1, &any)))
    goto end;
  count = PyArray_SIZE(g.rows);
  if (!(g.touches = as_ints(o[2], "touches", 1, &count)) ||
      !(g.touched = as_ints(o[3], "touched", 1, &any)) || !(g.B = as_doubles(o[4], "B", 1, &any)))
    goto end;
  const int vertices = (int)PyArray_SIZE(g.vertex_size);
  if (!within(g.vertex_size, "vertex_size", 1, 1000) ||
      !within(g.rows, "rows", 1, SCREE_ROWS_MAX) || !within(g.touches, "touches", 0, vertices) ||
      !within(g.touched, "touched", 0, vertices - 1) || !general_fits(&g, &row_count) ||
      !(g.q = as_doubles(o[5], "q", 1, &row_count)) ||
      !(g.mu = as_doubles(o[6], "mu", 1, &count)) || !(g.set = as_ints(o[7], "set", 1, &count)) ||
      !within(g.set, "set", 0, SCREE_SET_KINDS - 1) ||
      !(g.a = as_doubles(o[8], "set_a", 1, &count)) ||
      !(g.b = as_doubles(o[9], "set_b", 1, &count)))
    goto end;
  const scree_ProblemLayout layout = {.d = 3,
                                      .nb = 6,
                                      .vertices = vertices,
                                      .vertex_size = ints(g.vertex_size),
                                      .constraints = (int)count,
                                      .rows = ints(g.rows),
                                      .touches = ints(g.touches),
                                      .touched = ints(g.touched)};
  if (!call_succeeded(&call, scree_problem_create(&problem, &layout, &call.log))) goto end;
  fill_general(&g, &problem);
  problem.flow = law == 0 ? SCREE_COULOMB : SCREE_ASSOCIATED;
  if (!call_succeeded(&call, scree_problem_check(&problem, &call.log))) goto end;
  object = problem_take(type, &problem);
  if (object) memset(&problem, 0, sizeof problem);
end:
  scree_problem_destroy(&problem);
  general_fini(&g);
  call_clear(&call);
  return object;
}

/* ---- the same with other numbers ------------------------------------------------------------- */

PyObject *problem_replace(PyObject *self, PyObject *args, PyObject *kw) {
  static char *words[] = {"q", "mu", "law", NULL};
  const scree_Problem *from = &((ProblemObject *)self)->problem;
  PyObject *q_object = NULL, *mu_object = NULL, *law_object = NULL, *object = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|OOO:replace", words, &q_object, &mu_object,
                                   &law_object))
    return NULL;
  npy_intp shape[2];
  const int nd = problem_shape(from, shape);
  const npy_intp constraints = scree_problem_constraints(from);
  PyArrayObject *q = NULL, *mu = NULL;
  scree_Problem problem;
  memset(&problem, 0, sizeof problem);
  Call call;
  call_init(&call);
  int law = from->flow == SCREE_COULOMB ? 0 : 1;
  if (given(law_object) && (law = as_choice(law_object, "law", law_words)) < 0) goto end;
  if (given(q_object) && !(q = as_doubles(q_object, "q", nd, shape))) goto end;
  if (given(mu_object) && !(mu = as_doubles(mu_object, "mu", 1, &constraints))) goto end;
  scree_Status status;
  CALL_WITHOUT_GIL(&call, status = problem_copy(from, &problem, &call.log));
  if (!call_succeeded(&call, status)) goto end;
  if (q) copy_doubles(problem.q, q);
  if (mu) copy_doubles(problem.mu, mu);
  problem.flow = law == 0 ? SCREE_COULOMB : SCREE_ASSOCIATED;
  CALL_WITHOUT_GIL(&call, status = scree_problem_check(&problem, &call.log));
  if (call_succeeded(&call, status)) object = problem_take(Py_TYPE(self), &problem);
  if (object) {
    ((ProblemObject *)object)->flow = ((ProblemObject *)self)->flow;
    Py_XINCREF(((ProblemObject *)object)->flow);
  } else {
    scree_problem_destroy(&problem);
  }
end:
  Py_XDECREF(q);
  Py_XDECREF(mu);
  call_clear(&call);
  return object;
}

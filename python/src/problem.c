/* Problem: a discrete contact problem. It owns its arrays and never changes, so that any number of
 * threads may solve it, and arrays that look into it are valid as long as they live. */
#include "core.h"

#include <string.h>

/* ---- sizes: the only functions that know how the constraints are laid out ----------------------
 */

/* The shape of q, r and u: (nc x d), or (rows) where constraints have different sizes. */
int problem_shape(const scree_Problem *p, npy_intp *shape) {
  shape[0] = p->general.count ? (npy_intp)scree_problem_rows(p) : p->nc;
  shape[1] = p->d;
  return p->general.count ? 1 : 2;
}

static size_t constraint_count(const scree_Problem *p) {
  return (size_t)scree_problem_constraints(p);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void copy(void *to, const void *from, size_t size) {
  if (to && from && size) memcpy(to, from, size);
}

/* The layout of a problem in body form; `sizes` has room for two numbers for each constraint. */
static scree_ProblemLayout layout_of(const scree_Problem *p, int *sizes) {
  const scree_GeneralRows *general = &p->general;
  int *rows = sizes, *touches = sizes + general->count;
  for (int k = 0; k < general->count; ++k) {
    rows[k] = (int)(general->row[k + 1] - general->row[k]);
    touches[k] = (int)(general->entry[k + 1] - general->entry[k]);
  }
  return (scree_ProblemLayout){.d = p->d,
                               .contacts = p->nc,
                               .balls = p->nc > 0 && !p->bodies.B,
                               .bodies = p->bodies.nbodies,
                               .nb = p->bodies.nb,
                               .body = p->bodies.body,
                               .vertices = p->vertices.count,
                               .vertex_size = p->vertices.size,
                               .coupled_row = p->vertices.row,
                               .coupled_col = p->vertices.col,
                               .constraints = general->count,
                               .rows = rows,
                               .touches = touches,
                               .touched = general->vertex,
                               .with_sets = p->set != NULL,
                               .with_compliance = p->bodies.C || general->C};
}

static void copy_bodies(const scree_Problem *from, scree_Problem *to) {
  const size_t nc = (size_t)from->nc, d = (size_t)from->d, nb = (size_t)from->bodies.nb;
  const scree_GeneralRows *general = &from->general;
  copy(to->bodies.body, from->bodies.body, nc * 2 * sizeof(int));
  copy(to->bodies.B, from->bodies.B, nc * 2 * d * nb * sizeof(double));
  copy(to->bodies.normal, from->bodies.normal, nc * 3 * sizeof(double));
  copy(to->bodies.arm, from->bodies.arm, nc * 4 * sizeof(double));
  copy(to->bodies.C, from->bodies.C, nc * d * d * sizeof(double));
  if (general->count) {
    size_t squares = 0;
    for (int k = 0; k < general->count; ++k) {
      const size_t rows = general->row[k + 1] - general->row[k];
      squares += rows * rows;
    }
    copy(to->general.B, general->B,
         general->block[general->entry[general->count]] * sizeof(double));
    copy(to->general.C, general->C, squares * sizeof(double));
  }
  if (from->vertices.row) {
    size_t values = 0;
    for (int k = 0; k < from->vertices.count; ++k)
      for (size_t j = from->vertices.row[k]; j < from->vertices.row[k + 1]; ++j)
        values +=
            (size_t)from->vertices.size[k] * (size_t)from->vertices.size[from->vertices.col[j]];
    copy(to->vertices.x, from->vertices.x, values * sizeof(double));
  }
}

static scree_Status create_like(const scree_Problem *from, scree_Problem *to,
                                const scree_Log *log) {
  if (from->kind == SCREE_ASSEMBLED)
    return scree_problem_create_assembled(to, from->d, from->nc, from->blocks.row[from->nc],
                                          from->set != NULL, log);
  int *sizes = PyMem_RawMalloc((2 * (size_t)from->general.count + 1) * sizeof *sizes);
  if (!sizes) {
    log->write(log->user, SCREE_LOG_ERROR, "out of memory: cannot copy the problem");
    return SCREE_MACHINE;
  }
  const scree_ProblemLayout layout = layout_of(from, sizes);
  const scree_Status status = scree_problem_create(to, &layout, log);
  PyMem_RawFree(sizes);
  return status;
}

scree_Status problem_copy(const scree_Problem *from, scree_Problem *to, const scree_Log *log) {
  const scree_Status status = create_like(from, to, log);
  if (status != SCREE_OK) return status;
  if (from->kind == SCREE_ASSEMBLED) {
    const size_t blocks = from->blocks.row[from->nc], square = (size_t)from->d * (size_t)from->d;
    copy(to->blocks.row, from->blocks.row, ((size_t)from->nc + 1) * sizeof(size_t));
    copy(to->blocks.col, from->blocks.col, blocks * sizeof(int));
    copy(to->blocks.x, from->blocks.x, blocks * square * sizeof(double));
  } else {
    copy_bodies(from, to);
  }
  copy(to->q, from->q, scree_problem_rows(from) * sizeof(double));
  copy(to->mu, from->mu, constraint_count(from) * sizeof(double));
  copy(to->set, from->set, constraint_count(from));
  copy(to->set_a, from->set_a, constraint_count(from) * sizeof(double));
  copy(to->set_b, from->set_b, constraint_count(from) * sizeof(double));
  to->flow = from->flow;
  to->flow_blocks = from->flow_blocks;
  return SCREE_OK;
}

PyObject *problem_take(PyTypeObject *type, scree_Problem *problem) {
  ProblemObject *self = (ProblemObject *)type->tp_alloc(type, 0);
  if (self) self->problem = *problem;
  return (PyObject *)self;
}

static void problem_dealloc(PyObject *object) {
  ProblemObject *self = (ProblemObject *)object;
  scree_problem_destroy(&self->problem);
  Py_XDECREF(self->flow);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *problem_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  (void)args;
  (void)kw;
  PyErr_Format(PyExc_TypeError,
               "%s: made by its constructors, assembled(), bodies(), balls(), "
               "read()",
               type->tp_name);
  return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

static PyObject *problem_read(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"path", "law", NULL};
  static const char *const laws[] = {"coulomb", "associated", NULL};
  PyObject *path_object, *law_object = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O:read", words, &path_object, &law_object))
    return NULL;
  const int law = law_object && law_object != Py_None ? as_choice(law_object, "law", laws) : 0;
  if (law < 0) return NULL;
  PyObject *path = as_path(path_object, "path");
  if (!path) return NULL;
  const char *name = PyBytes_AS_STRING(path);
  scree_Problem problem;
  scree_FclibInfo info;
  double *r = NULL, *u = NULL;
  memset(&problem, 0, sizeof problem);
  Call call;
  call_init(&call);
  scree_Status status;
  PyObject *made = NULL, *record = NULL, *r_array = NULL, *u_array = NULL, *result = NULL;
  CALL_ON_FILES(&call, status = scree_fclib_read(name, &problem, &info, &call.log), goto end);
  if (!call_succeeded(&call, status)) goto end;
  problem.flow = law == 0 ? SCREE_COULOMB : SCREE_ASSOCIATED;
  if (info.has_solution) {
    npy_intp shape[2];
    const int nd = problem_shape(&problem, shape);
    r_array = PyArray_ZEROS(nd, shape, NPY_DOUBLE, 0);
    u_array = PyArray_ZEROS(nd, shape, NPY_DOUBLE, 0);
    if (!r_array || !u_array) goto end;
    r = doubles((PyArrayObject *)r_array);
    u = doubles((PyArrayObject *)u_array);
    CALL_ON_FILES(&call, status = scree_fclib_read_solution(name, &problem, r, u, &call.log),
                  goto end);
    if (!call_succeeded(&call, status)) goto end;
  }
  record = record_new(RECORD_FCLIB, &info);
  if (record) made = problem_take(type, &problem);
  if (made) {
    memset(&problem, 0, sizeof problem);
    result = Py_BuildValue("(OOOO)", made, record, r_array ? r_array : Py_None,
                           u_array ? u_array : Py_None);
  }
end:
  scree_problem_destroy(&problem);
  Py_XDECREF(made);
  Py_XDECREF(record);
  Py_XDECREF(r_array);
  Py_XDECREF(u_array);
  Py_DECREF(path);
  call_clear(&call);
  return result;
}

static PyObject *problem_write(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"path", "r", "u", "title", NULL};
  ProblemObject *self = (ProblemObject *)object;
  PyObject *path_object, *r_object = Py_None, *u_object = Py_None, *title_object = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOO:write", words, &path_object, &r_object,
                                   &u_object, &title_object))
    return NULL;
  const char *title = "scree";
  if (title_object && title_object != Py_None && !(title = as_text(title_object, "title")))
    return NULL;
  if ((r_object == Py_None) != (u_object == Py_None)) {
    PyErr_SetString(core_errors.input, "r and u: expected both, or none of them");
    return NULL;
  }
  npy_intp shape[2];
  const int nd = problem_shape(&self->problem, shape);
  PyArrayObject *r = NULL, *u = NULL;
  PyObject *path = as_path(path_object, "path");
  bool good = path != NULL;
  if (good && r_object != Py_None)
    good = (r = as_doubles(r_object, "r", nd, shape)) && (u = as_doubles(u_object, "u", nd, shape));
  const bool ready = good;
  good = false;
  if (ready) {
    Call call;
    call_init(&call);
    scree_Status status;
    CALL_ON_FILES(&call,
                  status =
                      scree_fclib_write(PyBytes_AS_STRING(path), &self->problem, title,
                                        r ? doubles(r) : NULL, u ? doubles(u) : NULL, &call.log),
                  goto end);
    good = call_succeeded(&call, status);
    call_clear(&call);
  }
end:
  Py_XDECREF(path);
  Py_XDECREF(r);
  Py_XDECREF(u);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

static PyObject *problem_assemble(PyObject *object, PyObject *none) {
  (void)none;
  ProblemObject *self = (ProblemObject *)object;
  if (self->problem.kind == SCREE_ASSEMBLED) {
    Py_INCREF(object);
    return object;
  }
  scree_Problem problem;
  memset(&problem, 0, sizeof problem);
  Call call;
  call_init(&call);
  scree_Status status;
  CALL_WITHOUT_GIL(&call, status = scree_problem_assemble(&self->problem, &problem, &call.log));
  PyObject *made = NULL;
  if (call_succeeded(&call, status)) made = problem_take(Py_TYPE(object), &problem);
  if (made) {
    ((ProblemObject *)made)->problem.flow_blocks = self->problem.flow_blocks;
    ((ProblemObject *)made)->flow = self->flow;
    Py_XINCREF(self->flow);
  } else {
    scree_problem_destroy(&problem);
  }
  call_clear(&call);
  return made;
}

/* ---- what is in it --------------------------------------------------------------------------- */

static PyObject *get_d(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(((ProblemObject *)self)->problem.d);
}

static PyObject *get_nc(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(((ProblemObject *)self)->problem.nc);
}

static PyObject *get_rows(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(scree_problem_rows(&((ProblemObject *)self)->problem));
}

static PyObject *get_law(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(
      ((ProblemObject *)self)->problem.flow == SCREE_COULOMB ? "coulomb" : "associated");
}

static PyObject *get_kind(PyObject *self, void *unused) {
  (void)unused;
  const scree_Problem *p = &((ProblemObject *)self)->problem;
  return PyUnicode_FromString(p->kind == SCREE_ASSEMBLED  ? "assembled"
                              : p->general.count          ? "general"
                              : p->bodies.B || p->nc == 0 ? "bodies"
                                                          : "balls");
}

static PyObject *get_q(PyObject *self, void *unused) {
  (void)unused;
  const scree_Problem *p = &((ProblemObject *)self)->problem;
  npy_intp shape[2];
  const int nd = problem_shape(p, shape);
  return new_look(self, nd, shape, NPY_DOUBLE, p->q);
}

static PyObject *look_or_none(PyObject *self, const void *data, int type) {
  const npy_intp count = (npy_intp)constraint_count(&((ProblemObject *)self)->problem);
  if (!data) Py_RETURN_NONE;
  return new_look(self, 1, &count, type, data);
}

static PyObject *get_mu(PyObject *self, void *unused) {
  (void)unused;
  return look_or_none(self, ((ProblemObject *)self)->problem.mu, NPY_DOUBLE);
}

static PyObject *get_set(PyObject *self, void *unused) {
  (void)unused;
  return look_or_none(self, ((ProblemObject *)self)->problem.set, NPY_UINT8);
}

static PyObject *get_set_a(PyObject *self, void *unused) {
  (void)unused;
  return look_or_none(self, ((ProblemObject *)self)->problem.set_a, NPY_DOUBLE);
}

static PyObject *get_set_b(PyObject *self, void *unused) {
  (void)unused;
  return look_or_none(self, ((ProblemObject *)self)->problem.set_b, NPY_DOUBLE);
}

static PyObject *get_flow(PyObject *self, void *unused) {
  (void)unused;
  PyObject *flow = ((ProblemObject *)self)->flow;
  if (!flow) Py_RETURN_NONE;
  const scree_Problem *p = &((ProblemObject *)self)->problem;
  const npy_intp shape[3] = {p->nc, p->d, p->d};
  return new_look(self, 3, shape, NPY_DOUBLE, p->flow_blocks);
}

static PyObject *get_nbodies(PyObject *self, void *unused) {
  (void)unused;
  const scree_Problem *p = &((ProblemObject *)self)->problem;
  return PyLong_FromLong(p->kind == SCREE_BODIES ? p->bodies.nbodies : 0);
}

static PyObject *get_body(PyObject *self, void *unused) {
  (void)unused;
  const scree_Problem *p = &((ProblemObject *)self)->problem;
  if (p->kind != SCREE_BODIES) Py_RETURN_NONE;
  const npy_intp shape[2] = {p->nc, 2};
  return new_look(self, 2, shape, NPY_INT, p->bodies.body);
}

static PyObject *get_compliance(PyObject *self, void *unused) {
  (void)unused;
  const scree_Problem *p = &((ProblemObject *)self)->problem;
  if (p->kind != SCREE_BODIES || !p->bodies.C) Py_RETURN_NONE;
  const npy_intp shape[3] = {p->nc, p->d, p->d};
  return new_look(self, 3, shape, NPY_DOUBLE, p->bodies.C);
}

static PyObject *get_B(PyObject *self, void *unused) {
  (void)unused;
  const scree_Problem *p = &((ProblemObject *)self)->problem;
  if (p->kind != SCREE_BODIES) Py_RETURN_NONE;
  const npy_intp shape[4] = {p->nc, 2, p->d, p->bodies.nb};
  PyObject *array = PyArray_ZEROS(4, shape, NPY_DOUBLE, 0);
  if (!array) return NULL;
  const size_t size = 2 * (size_t)p->d * (size_t)p->bodies.nb;
  for (int c = 0; c < p->nc; ++c)
    scree_problem_blocks(p, c, doubles((PyArrayObject *)array) + size * (size_t)c);
  return array;
}

/* The block rows of W, as they lie in memory, are the data of compressed rows of numbers. */
static PyObject *problem_csr(PyObject *object, PyObject *none) {
  (void)none;
  const scree_Problem *p = &((ProblemObject *)object)->problem;
  if (p->kind != SCREE_ASSEMBLED) {
    PyErr_SetString(core_errors.input, "csr: W is not assembled: call assemble() first");
    return NULL;
  }
  const size_t d = (size_t)p->d, nc = (size_t)p->nc;
  const npy_intp values = (npy_intp)(p->blocks.row[nc] * d * d), heads = (npy_intp)(nc * d + 1);
  PyObject *data = new_look(object, 1, &values, NPY_DOUBLE, p->blocks.x);
  PyObject *indices = PyArray_SimpleNew(1, &values, NPY_INT);
  PyObject *indptr = PyArray_SimpleNew(1, &heads, NPY_INT64);
  if (!data || !indices || !indptr) {
    Py_XDECREF(data);
    Py_XDECREF(indices);
    Py_XDECREF(indptr);
    return NULL;
  }
  int *column = ints((PyArrayObject *)indices);
  int64_t *head = (int64_t *)PyArray_DATA((PyArrayObject *)indptr);
  int64_t at = 0;
  *head++ = 0;
  for (size_t c = 0; c < nc; ++c)
    for (size_t i = 0; i < d; ++i) {
      for (size_t k = p->blocks.row[c]; k < p->blocks.row[c + 1]; ++k)
        for (size_t j = 0; j < d; ++j) column[at++] = p->blocks.col[k] * (int)d + (int)j;
      *head++ = at;
    }
  return Py_BuildValue("(NNN)", indptr, indices, data);
}

/* Pairs of contacts that share a body or a block: the pattern of W by contacts. */
static PyObject *problem_pattern(PyObject *object, PyObject *none) {
  (void)none;
  const scree_Problem *p = &((ProblemObject *)object)->problem;
  if (p->kind != SCREE_ASSEMBLED) {
    PyErr_SetString(core_errors.input, "pattern: W is not assembled: call assemble() first");
    return NULL;
  }
  const npy_intp blocks = (npy_intp)p->blocks.row[p->nc], heads = (npy_intp)p->nc + 1;
  PyObject *col = new_look(object, 1, &blocks, NPY_INT, p->blocks.col);
  PyObject *row = new_look(object, 1, &heads, NPY_UINTP, p->blocks.row);
  if (!col || !row) {
    Py_XDECREF(col);
    Py_XDECREF(row);
    return NULL;
  }
  return Py_BuildValue("(NN)", row, col);
}

static PyObject *problem_refused(PyObject *object, PyObject *name_object) {
  const char *name = as_text(name_object, "solver");
  if (!name) return NULL;
  const scree_SolverClass *class_ = scree_solver_class_find(name);
  if (!class_) {
    PyErr_Format(core_errors.input, "solver: there is no solver '%.100s'", name);
    return NULL;
  }
  const char *reason = scree_solver_class_refuses(class_, &((ProblemObject *)object)->problem);
  if (!reason) Py_RETURN_NONE;
  return PyUnicode_FromString(reason);
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"assembled", KEYWORDS(problem_assembled) | METH_CLASS,
     "assembled(indptr, indices, data, q, mu, law=None, set=None, set_a=None, set_b=None, "
     "flow=None)\n--\n\n"
     "A problem from the compressed rows of W; q (nc, d), mu (nc,)."},
    {"bodies", KEYWORDS(problem_from_bodies) | METH_CLASS,
     "bodies(body, B, q, mu, law=None, set=None, set_a=None, set_b=None, flow=None, "
     "compliance=None, nbodies=None)\n--\n\n"
     "A problem W = B B^T + C over bodies: body (nc, 2), -1 for an obstacle; B (nc, 2, d, nb),\n"
     "scaled by the square root of the inertia."},
    {"balls", KEYWORDS(problem_from_balls) | METH_CLASS,
     "balls(body, normal, arm, q, mu, law=None, set=None, set_a=None, set_b=None, flow=None, "
     "compliance=None, nbodies=None)\n--\n\n"
     "A problem over balls: body (nc, 2), unit normals (nc, 3), arm (nc, 2, 2)."},
    {"general", KEYWORDS(problem_general) | METH_CLASS,
     "general(vertex_size, rows, touches, touched, B, q, mu, set, set_a, set_b, law=None)\n--\n\n"
     "A problem of constraints of 1 to 6 rows over vertices of any size; flat arrays, in the "
     "order\n"
     "of the constraints."},
    {"read", KEYWORDS(problem_read) | METH_CLASS,
     "read(path, law=None)\n--\n\n"
     "A problem from an FCLIB file: (problem, info, r, u); r and u are None without a solution."},
    {"write", KEYWORDS(problem_write),
     "write(path, r=None, u=None, title=None)\n--\n\n"
     "Write an FCLIB file, with the solution if r and u are given."},
    {"replace", KEYWORDS(problem_replace),
     "replace(q=None, mu=None, law=None)\n--\n\nA copy with other numbers."},
    {"assemble", problem_assemble, METH_NOARGS,
     "assemble()\n--\n\nThe same problem with W assembled."},
    {"csr", problem_csr, METH_NOARGS,
     "csr()\n--\n\n(indptr, indices, data) of the rows of W; data is not copied."},
    {"pattern", problem_pattern, METH_NOARGS,
     "pattern()\n--\n\n(row, col) of the blocks of W, by contacts; not copied."},
    {"refused_by", problem_refused, METH_O,
     "refused_by(solver)\n--\n\nThe reason for which a solver cannot work on the problem, or "
     "None."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getset[] = {
    {"d", get_d, NULL, "Size of a contact: 2 or 3.", NULL},
    {"nc", get_nc, NULL, "Number of contacts.", NULL},
    {"rows", get_rows, NULL, "Length of q, r and u: nc * d, and the rows of other constraints.",
     NULL},
    {"law", get_law, NULL, "'coulomb' or 'associated'.", NULL},
    {"kind", get_kind, NULL, "'assembled', 'bodies', 'balls' or 'general'.", NULL},
    {"q", get_q, NULL, "Velocities without impulses, (nc, d), normal first. Read-only.", NULL},
    {"mu", get_mu, NULL, "Coefficients of friction, (nc,). Read-only.", NULL},
    {"set", get_set, NULL, "Kinds of the sets, (nc,), or None: all are cones.", NULL},
    {"set_a", get_set_a, NULL, "First parameter of the sets, or None.", NULL},
    {"set_b", get_set_b, NULL, "Second parameter of the sets, or None.", NULL},
    {"flow", get_flow, NULL, "Flow matrices, (nc, d, d), or None.", NULL},
    {"nbodies", get_nbodies, NULL, "Bodies of a problem in body form, else 0.", NULL},
    {"body", get_body, NULL, "The two bodies of each contact, (nc, 2), or None.", NULL},
    {"B", get_B, NULL, "Blocks of a problem in body form, (nc, 2, d, nb), or None.", NULL},
    {"compliance", get_compliance, NULL, "Compliance, (nc, d, d), or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject ProblemType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "scree._core.Problem",
    .tp_basicsize = sizeof(ProblemObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A discrete contact problem; it never changes.",
    .tp_new = problem_new,
    .tp_dealloc = problem_dealloc,
    .tp_methods = methods,
    .tp_getset = getset,
};

bool problem_ready(PyObject *module) {
  return PyModule_AddType(module, &ProblemType) == 0;
}

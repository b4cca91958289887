/* Solver: solves one problem after the other and keeps its memory; measure; the table of solvers.
 *
 * While it works the GIL is released. After each measured iteration the error is kept for the
 * history, without Python; only a callable `stop` takes the GIL. */
#include "core.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct SolverObject {
  PyObject_HEAD scree_Solver *solver;
  Call call;
  bool busy;
  char **options;
  PyObject *stop; /* callable of the solve under way, or null; borrowed */
  int *iteration; /* (count) the history of the solve under way */
  double *value;
  size_t count, capacity;
} SolverObject;

/* ---- settings -------------------------------------------------------------------------------- */

static bool given(PyObject *object) {
  return object && object != Py_None;
}

static bool positive(PyObject *object, const char *name, bool zero, double *value) {
  if (!given(object)) return true;
  if (!as_double(object, name, value)) return false;
  if (*value > 0 || (zero && *value == 0)) return true;
  PyErr_Format(core_errors.input, "%s: found %R, expected a number %s 0", name, object,
               zero ? ">=" : ">");
  return false;
}

bool solve_settings_from(const SolveArguments *from, scree_SolveSettings *settings,
                         char ***options) {
  static const char *measures[SCREE_MEASURE_INCREMENT + 2];
  for (int k = 0; k <= SCREE_MEASURE_INCREMENT; ++k)
    measures[k] = scree_measure_name((scree_Measure)k);
  *options = NULL;
  if (given(from->solver)) {
    settings->solver = as_text(from->solver, "solver");
    if (!settings->solver) return false;
  }
  if (!positive(from->tol, "tol", false, &settings->tolerance) ||
      !positive(from->time_limit, "time_limit", true, &settings->time_limit) ||
      !positive(from->work_limit, "work_limit", true, &settings->work_limit))
    return false;
  if (given(from->max_iterations) &&
      !as_int(from->max_iterations, "max_iterations", 0, &settings->max_iterations))
    return false;
  if (given(from->threads) && !as_int(from->threads, "threads", 0, &settings->threads))
    return false;
  if (settings->threads > 4096) {
    PyErr_Format(core_errors.input, "threads: found %d, expected 0 to 4096", settings->threads);
    return false;
  }
  if (given(from->measure)) {
    const int measure = as_choice(from->measure, "measure", measures);
    if (measure < 0) return false;
    settings->measure = (scree_Measure)measure;
  }
  if (!as_options(from->options, "options", options)) return false;
  if (*options) settings->options = (const char *const *)*options;
  return true;
}

/* ---- in the middle of a solve ---------------------------------------------------------------- */

static void remember(SolverObject *self, int iteration, double value) {
  if (self->count == self->capacity) {
    const size_t capacity = self->capacity ? 2 * self->capacity : 256;
    int *iterations = PyMem_RawRealloc(self->iteration, capacity * sizeof *iterations);
    if (!iterations) return; /* the history ends here, the solve does not */
    self->iteration = iterations;
    double *values = PyMem_RawRealloc(self->value, capacity * sizeof *values);
    if (!values) return;
    self->value = values;
    self->capacity = capacity;
  }
  self->iteration[self->count] = iteration;
  self->value[self->count++] = value;
}

static bool progress(void *user, int iteration, double measured) {
  SolverObject *self = user;
  remember(self, iteration, measured);
  if (!self->stop) return true;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *answer = PyObject_CallFunction(self->stop, "id", iteration, measured);
  const int stop = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  if (stop < 0) call_keep_exception(&self->call);
  PyGILState_Release(state);
  return stop == 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static PyObject *solver_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"solver",     "options",    "tol",     "measure", "max_iterations",
                          "time_limit", "work_limit", "threads", NULL};
  SolveArguments from = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|OOOOOOOO:Solver", words, &from.solver, &from.options,
                                   &from.tol, &from.measure, &from.max_iterations, &from.time_limit,
                                   &from.work_limit, &from.threads))
    return NULL;
  SolverObject *self = (SolverObject *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  call_init(&self->call);
  scree_SolveSettings settings = scree_solve_settings();
  bool good = solve_settings_from(&from, &settings, &self->options);
  if (good) {
    settings.warm_start = true; /* r is zero, or the caller's guess */
    settings.progress = progress;
    settings.progress_user = self;
    settings.interrupted = call_interrupted;
    settings.interrupted_user = &self->call;
    good =
        call_succeeded(&self->call, scree_solver_create(&settings, &self->call.log, &self->solver));
  }
  if (!good) Py_CLEAR(self);
  return (PyObject *)self;
}

static void solver_dealloc(PyObject *object) {
  SolverObject *self = (SolverObject *)object;
  scree_solver_destroy(self->solver);
  call_clear(&self->call);
  PyMem_Free(self->options);
  PyMem_RawFree(self->iteration);
  PyMem_RawFree(self->value);
  Py_TYPE(object)->tp_free(object);
}

/* ---- solving --------------------------------------------------------------------------------- */

/* r with the guess in it, or zero. */
static PyArrayObject *start_from(PyObject *guess, const scree_Problem *problem) {
  npy_intp shape[2];
  const int nd = problem_shape(problem, shape);
  PyArrayObject *r = (PyArrayObject *)PyArray_ZEROS(nd, shape, NPY_DOUBLE, 0);
  if (!r || !given(guess)) return r;
  PyArrayObject *from = as_doubles(guess, "r0", nd, shape);
  if (!from) {
    Py_DECREF(r);
    return NULL;
  }
  if (PyArray_SIZE(r)) memcpy(doubles(r), doubles(from), (size_t)PyArray_NBYTES(r));
  Py_DECREF(from);
  return r;
}

static PyObject *history_of(const SolverObject *self) {
  const npy_intp count = (npy_intp)self->count;
  PyObject *iterations = PyArray_SimpleNew(1, &count, NPY_INT);
  PyObject *values = new_doubles(1, &count, self->value);
  if (!iterations || !values) {
    Py_XDECREF(iterations);
    Py_XDECREF(values);
    return NULL;
  }
  if (count) memcpy(ints((PyArrayObject *)iterations), self->iteration, self->count * sizeof(int));
  return Py_BuildValue("(NN)", iterations, values);
}

static PyObject *solver_solve(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"problem", "r0", "stop", NULL};
  SolverObject *self = (SolverObject *)object;
  PyObject *problem_object, *guess = NULL, *stop = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O!|OO:solve", words, &ProblemType, &problem_object,
                                   &guess, &stop))
    return NULL;
  CORE_USE_OR(self, NULL);
  if (given(stop) && !PyCallable_Check(stop)) {
    PyErr_Format(PyExc_TypeError, "stop: expected a callable, found %.100s",
                 Py_TYPE(stop)->tp_name);
    return NULL;
  }
  const scree_Problem *problem = &((ProblemObject *)problem_object)->problem;
  PyArrayObject *r = start_from(guess, problem);
  if (!r) return NULL;
  PyArrayObject *u =
      (PyArrayObject *)PyArray_ZEROS(PyArray_NDIM(r), PyArray_DIMS(r), NPY_DOUBLE, 0);
  if (!u) {
    Py_DECREF(r);
    return NULL;
  }
  self->busy = true;
  self->stop = given(stop) ? stop : NULL;
  self->count = 0;
  call_clear(&self->call);
  scree_SolveInfo info;
  memset(&info, 0, sizeof info);
  scree_Status status;
  CALL_WITHOUT_GIL(&self->call, status = scree_solver_solve(self->solver, problem, doubles(r),
                                                            doubles(u), &info));
  self->stop = NULL;
  self->busy = false;
  PyObject *result = NULL;
  if (call_succeeded(&self->call, status)) {
    PyObject *record = record_new(RECORD_SOLVE, &info);
    PyObject *history = record ? history_of(self) : NULL;
    if (history)
      result = Py_BuildValue("(OONN)", r, u, record, history);
    else
      Py_XDECREF(record);
  }
  Py_DECREF(r);
  Py_DECREF(u);
  return result;
}

static PyObject *solver_save(PyObject *object, PyObject *none) {
  (void)none;
  SolverObject *self = (SolverObject *)object;
  CORE_USE_OR(self, NULL);
  PyObject *bytes =
      PyBytes_FromStringAndSize(NULL, (Py_ssize_t)scree_solver_state_size(self->solver));
  if (bytes) scree_solver_save(self->solver, PyBytes_AS_STRING(bytes));
  return bytes;
}

static PyObject *solver_restore(PyObject *object, PyObject *state) {
  SolverObject *self = (SolverObject *)object;
  CORE_USE_OR(self, NULL);
  if (!PyBytes_Check(state)) {
    PyErr_Format(PyExc_TypeError, "state: expected bytes that save() gave, found %.100s",
                 Py_TYPE(state)->tp_name);
    return NULL;
  }
  call_clear(&self->call);
  const scree_Status status =
      scree_solver_restore(self->solver, PyBytes_AS_STRING(state), (size_t)PyBytes_GET_SIZE(state));
  if (!call_succeeded(&self->call, status)) return NULL;
  Py_RETURN_NONE;
}

static PyObject *get_memory(PyObject *object, void *unused) {
  (void)unused;
  SolverObject *self = (SolverObject *)object;
  CORE_USE_OR(self, NULL);
  return PyLong_FromSize_t(scree_solver_memory(self->solver));
}

/* ---- measure --------------------------------------------------------------------------------- */

PyObject *core_measure(PyObject *module, PyObject *args, PyObject *kw) {
  static char *words[] = {"problem", "r", "u", NULL};
  PyObject *problem_object, *r_object, *u_object = NULL;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O!O|O:measure", words, &ProblemType, &problem_object,
                                   &r_object, &u_object))
    return NULL;
  const scree_Problem *problem = &((ProblemObject *)problem_object)->problem;
  npy_intp shape[2];
  const int nd = problem_shape(problem, shape);
  PyArrayObject *claimed = NULL, *r = as_doubles(r_object, "r", nd, shape);
  if (!r) return NULL;
  if (given(u_object) && !(claimed = as_doubles(u_object, "u", nd, shape))) {
    Py_DECREF(r);
    return NULL;
  }
  PyObject *result = NULL;
  PyArrayObject *u = (PyArrayObject *)PyArray_ZEROS(nd, shape, NPY_DOUBLE, 0);
  if (u) {
    scree_Measures measures;
    memset(&measures, 0, sizeof measures);
    Call call;
    call_init(&call);
    scree_Status status;
    CALL_WITHOUT_GIL(&call, status = scree_problem_measure(problem, doubles(r),
                                                           claimed ? doubles(claimed) : NULL,
                                                           doubles(u), &measures, &call.log));
    if (call_succeeded(&call, status)) {
      PyObject *record = record_new(RECORD_MEASURES, &measures);
      if (record) result = Py_BuildValue("(NO)", record, u);
    }
    call_clear(&call);
  }
  Py_DECREF(r);
  Py_XDECREF(claimed);
  Py_XDECREF(u);
  return result;
}

/* ---- the table ------------------------------------------------------------------------------- */

static PyObject *option_default(const scree_Option *option) {
  switch (option->type) {
  case SCREE_OPTION_REAL: return PyFloat_FromDouble(option->preset);
  case SCREE_OPTION_INT: return PyLong_FromDouble(option->preset);
  case SCREE_OPTION_BOOL: return PyBool_FromLong(option->preset != 0);
  case SCREE_OPTION_CHOICE: return PyUnicode_FromString(option->choices[(int)option->preset]);
  case SCREE_OPTION_NAME: return PyUnicode_FromString(option->choices[0]);
  }
  Py_RETURN_NONE;
}

static PyObject *options_of(const scree_OptionTable *table) {
  PyObject *dict = PyDict_New();
  for (int k = 0; dict && table && k < table->count; ++k) {
    const scree_Option *option = &table->options[k];
    PyObject *entry = Py_BuildValue("{s:N,s:s}", "default", option_default(option), "help",
                                    option->help ? option->help : "");
    if (!entry || PyDict_SetItemString(dict, option->name, entry) != 0) Py_CLEAR(dict);
    Py_XDECREF(entry);
  }
  return dict;
}

PyObject *core_solvers(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *dict = PyDict_New();
  const scree_SolverClass *class_;
  for (int k = 0; dict && (class_ = scree_solver_class(k)) != NULL; ++k) {
    PyObject *entry = Py_BuildValue("{s:s,s:s,s:N}", "summary", scree_solver_class_summary(class_),
                                    "reference", scree_solver_class_reference(class_), "options",
                                    options_of(scree_solver_class_options(class_)));
    if (!entry || PyDict_SetItemString(dict, scree_solver_class_name(class_), entry) != 0)
      Py_CLEAR(dict);
    Py_XDECREF(entry);
  }
  return dict;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"solve", KEYWORDS(solver_solve),
     "solve(problem, r0=None, stop=None)\n--\n\n"
     "Solve from r0 (zero): (r, u, SolveInfo, (iterations, errors)). stop(iteration, error) is\n"
     "called after each measured iteration; the solve ends when it returns true."},
    {"save", solver_save, METH_NOARGS,
     "save()\n--\n\nThe memory of the solver (order of elimination, measured prices), as bytes."},
    {"restore", solver_restore, METH_O,
     "restore(state)\n--\n\nContinue with the memory of another solver, as save() returned it."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getset[] = {{"memory", get_memory, NULL, "Bytes held.", NULL},
                               {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject SolverType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "scree._core.Solver",
    .tp_basicsize = sizeof(SolverObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Solver(solver=None, options=None, tol=None, measure=None, max_iterations=None, "
              "time_limit=None, work_limit=None, threads=None)\n--\n\n"
              "Solves problems one after the other and keeps its memory.",
    .tp_new = solver_new,
    .tp_dealloc = solver_dealloc,
    .tp_methods = methods,
    .tp_getset = getset,
};

bool solver_ready(PyObject *module) {
  return PyModule_AddType(module, &SolverType) == 0;
}

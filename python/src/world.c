/* World: its life, its settings and its steps.
 *
 * A world is used by one thread at a time: while the library works on it without the GIL, every
 * other use is refused. Each change is counted, so that arrays which look into its memory know that
 * they are stale; while a real NumPy array lies over its memory (`with view as array`) it cannot be
 * changed at all. */
#include "core.h"

#include <string.h>

static bool given(PyObject *object) {
  return object && object != Py_None;
}

bool world_readable(WorldObject *self) {
  CORE_USE_OR(self, false);
  if (self->world) return true;
  PyErr_SetString(core_errors.input, "the world was closed");
  return false;
}

bool world_changeable(WorldObject *self) {
  if (!world_readable(self)) return false;
  if (self->guards > 0) {
    PyErr_Format(PyExc_BufferError,
                 "the world cannot change while %d NumPy array%s over its memory exist%s: delete "
                 "them, or take a copy with numpy.array",
                 self->guards, self->guards == 1 ? "" : "s", self->guards == 1 ? "s" : "");
    return false;
  }
  ++self->changes;
  call_clear(&self->call);
  return true;
}

int world_dimension(const WorldObject *self) {
  return scree_world_get_settings(self->world)->dimension;
}

bool world_body(WorldObject *self, PyObject *object, const char *name, int *body) {
  if (!as_int(object, name, 0, body)) return false;
  const int count = scree_world_body_count(self->world);
  if (*body < count) return true;
  PyErr_Format(core_errors.input, "%s: there is no body %d, the world has %d", name, *body, count);
  return false;
}

/* ---- settings -------------------------------------------------------------------------------- */

static bool read_number(PyObject *object, const char *name, double *value) {
  return !given(object) || as_double(object, name, value);
}

static bool read_truth(PyObject *object, const char *name, bool *value) {
  if (!given(object)) return true;
  if (!PyBool_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s: expected True or False, found %.100s", name,
                 Py_TYPE(object)->tp_name);
    return false;
  }
  *value = object == Py_True;
  return true;
}

static char *setting_words[] = {"dimension",
                                "step",
                                "gravity",
                                "scheme",
                                "theta",
                                "flow",
                                "gap_tolerance",
                                "penetration",
                                "penetration_limit",
                                "energy_limit",
                                "creep_limit",
                                "max_work",
                                "max_retries",
                                "max_halvings",
                                "warm_start",
                                "solver",
                                "options",
                                "tol",
                                "measure",
                                "max_iterations",
                                "time_limit",
                                "threads",
                                NULL};

/* Change `settings` by keywords; `options` receives a list to free. */
static bool read_settings(PyObject *args, PyObject *kw, bool create, scree_WorldSettings *settings,
                          char ***options) {
  static const char *const flows[] = {"coulomb", "associated", NULL};
  PyObject *dimension = NULL, *step = NULL, *gravity = NULL, *scheme = NULL, *theta = NULL;
  PyObject *flow = NULL, *gap = NULL, *penetration = NULL, *penetration_limit = NULL;
  PyObject *energy_limit = NULL, *creep_limit = NULL, *work = NULL, *retries = NULL,
           *halvings = NULL, *warm = NULL;
  SolveArguments solve = {0};
  *options = NULL;
  if (!PyArg_ParseTupleAndKeywords(
          args, kw, "|$OOOOOOOOOOOOOOOOOOOOOO", setting_words, &dimension, &step, &gravity, &scheme,
          &theta, &flow, &gap, &penetration, &penetration_limit, &energy_limit, &creep_limit, &work,
          &retries, &halvings, &warm, &solve.solver, &solve.options, &solve.tol, &solve.measure,
          &solve.max_iterations, &solve.time_limit, &solve.threads))
    return false;
  if (given(dimension)) {
    int asked;
    if (!as_int(dimension, "dimension", 2, &asked)) return false;
    if (asked > 3 || (!create && asked != settings->dimension)) {
      PyErr_Format(core_errors.input, "dimension: found %d, expected %s", asked,
                   create ? "2 or 3" : "the world's own");
      return false;
    }
    settings->dimension = asked;
  }
  if (create && settings->dimension == 2)
    settings->gravity = (scree_Vec3){0, -9.81, 0};
  else if (create)
    settings->gravity = (scree_Vec3){0, 0, -9.81};
  if (given(gravity) && !as_vector(gravity, "gravity", settings->dimension, &settings->gravity))
    return false;
  if (given(scheme) && !(settings->scheme = as_text(scheme, "scheme"))) return false;
  if (given(flow)) {
    const int found = as_choice(flow, "flow", flows);
    if (found < 0) return false;
    settings->flow = found == 0 ? SCREE_COULOMB : SCREE_ASSOCIATED;
  }
  return read_number(step, "step", &settings->step) &&
         read_number(theta, "theta", &settings->theta) &&
         read_number(gap, "gap_tolerance", &settings->gap_tolerance) &&
         read_number(penetration, "penetration", &settings->penetration) &&
         read_number(penetration_limit, "penetration_limit", &settings->penetration_limit) &&
         read_number(energy_limit, "energy_limit", &settings->energy_limit) &&
         read_number(creep_limit, "creep_limit", &settings->creep_limit) &&
         read_number(work, "max_work", &settings->max_work) &&
         (!given(retries) || as_int(retries, "max_retries", 0, &settings->max_retries)) &&
         (!given(halvings) || as_int(halvings, "max_halvings", 0, &settings->max_halvings)) &&
         read_truth(warm, "warm_start", &settings->warm_start) &&
         solve_settings_from(&solve, &settings->solve, options);
}

static void watch_signals(WorldObject *self, scree_WorldSettings *settings) {
  settings->solve.interrupted = call_interrupted;
  settings->solve.interrupted_user = &self->call;
}

static PyObject *world_configure(PyObject *object, PyObject *args, PyObject *kw) {
  WorldObject *self = (WorldObject *)object;
  if (!world_changeable(self)) return NULL;
  scree_WorldSettings settings = *scree_world_get_settings(self->world);
  char **options;
  bool good = read_settings(args, kw, false, &settings, &options);
  if (good) good = call_succeeded(&self->call, scree_world_set_settings(self->world, &settings));
  PyMem_Free(options);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

static PyObject *get_settings(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
  const scree_WorldSettings *s = scree_world_get_settings(self->world);
  return Py_BuildValue(
      "{s:i,s:d,s:(ddd),s:s,s:d,s:s,s:d,s:d,s:d,s:d,s:d,s:d,s:i,s:i,s:O,s:s,s:d,s:s,s:i,s:d,s:i}",
      "dimension", s->dimension, "step", s->step, "gravity", s->gravity.x, s->gravity.y,
      s->gravity.z, "scheme", s->scheme, "theta", s->theta, "flow",
      s->flow == SCREE_COULOMB ? "coulomb" : "associated", "gap_tolerance", s->gap_tolerance,
      "penetration", s->penetration, "penetration_limit", s->penetration_limit, "energy_limit",
      s->energy_limit, "creep_limit", s->creep_limit, "max_work", s->max_work, "max_retries",
      s->max_retries, "max_halvings", s->max_halvings, "warm_start",
      s->warm_start ? Py_True : Py_False, "solver", s->solve.solver, "tol", s->solve.tolerance,
      "measure", scree_measure_name(s->solve.measure), "max_iterations", s->solve.max_iterations,
      "time_limit", s->solve.time_limit, "threads", s->solve.threads);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The bodies that a scene has at time zero, and those that are poured then. */
scree_Status world_build_scene(WorldObject *self, scree_World **world) {
  const scree_Scene *scene = self->scene->scene;
  scree_Status status = scree_scene_build(scene, &self->call.log, world);
  if (status != SCREE_OK) return status;
  scree_WorldSettings settings = *scree_world_get_settings(*world);
  watch_signals(self, &settings);
  return scree_world_set_settings(*world, &settings);
}

static bool create_from_scene(WorldObject *self) {
  const int room = scree_scene_info(self->scene->scene).poured;
  self->order = PyMem_RawCalloc((size_t)room + 1, sizeof *self->order);
  if (!self->order) {
    PyErr_NoMemory();
    return false;
  }
  scree_Status status;
  CALL_WITHOUT_GIL(&self->call, {
    status = world_build_scene(self, &self->world);
    if (status == SCREE_OK)
      status = scree_scene_pour(self->scene->scene, self->world, self->order, &self->poured,
                                &self->call.log);
  });
  return call_succeeded(&self->call, status);
}

static bool create_by_calls(WorldObject *self, PyObject *args, PyObject *kw) {
  scree_WorldSettings settings = scree_world_settings();
  char **options;
  bool good = read_settings(args, kw, true, &settings, &options);
  if (good) {
    watch_signals(self, &settings);
    good =
        call_succeeded(&self->call, scree_world_create(&settings, &self->call.log, &self->world));
  }
  PyMem_Free(options);
  return good;
}

static PyObject *world_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  PyObject *scene = NULL, *none = NULL, *rest = NULL;
  if (!PyArg_ParseTuple(args, "|O:World", &scene)) return NULL;
  if (given(scene) && !PyObject_TypeCheck(scene, &SceneType)) {
    PyErr_Format(PyExc_TypeError, "scene: expected a Scene, found %.100s", Py_TYPE(scene)->tp_name);
    return NULL;
  }
  WorldObject *self = (WorldObject *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  call_init(&self->call);
  bool good = (none = PyTuple_New(0)) != NULL && (self->kept = PyList_New(0)) != NULL;
  if (good && given(scene)) {
    Py_INCREF(scene);
    self->scene = (SceneObject *)scene;
    good = create_from_scene(self);
    if (good && kw && PyDict_Size(kw) > 0) {
      rest = world_configure((PyObject *)self, none, kw);
      good = rest != NULL;
    }
  } else if (good) {
    good = create_by_calls(self, none, kw);
  }
  Py_XDECREF(none);
  Py_XDECREF(rest);
  if (!good) Py_CLEAR(self);
  return (PyObject *)self;
}

static int world_traverse(PyObject *object, visitproc visit, void *arg) {
  WorldObject *self = (WorldObject *)object;
  Py_VISIT(self->scene);
  Py_VISIT(self->before);
  Py_VISIT(self->after);
  Py_VISIT(self->report);
  Py_VISIT(self->kept);
  for (PythonSignal *s = self->signals; s; s = s->next) {
    Py_VISIT(s->linear);
    Py_VISIT(s->angular);
  }
  return 0;
}

static int world_clear(PyObject *object) {
  WorldObject *self = (WorldObject *)object;
  Py_CLEAR(self->before);
  Py_CLEAR(self->after);
  Py_CLEAR(self->report);
  for (PythonSignal *s = self->signals; s; s = s->next) {
    Py_CLEAR(s->linear);
    Py_CLEAR(s->angular);
  }
  return 0;
}

static void free_world(WorldObject *self) {
  scree_recorder_destroy(self->recorder);
  self->recorder = NULL;
  scree_world_destroy(self->world);
  self->world = NULL;
  world_free_signals(self);
  PyMem_RawFree(self->order);
  self->order = NULL;
}

static void world_dealloc(PyObject *object) {
  WorldObject *self = (WorldObject *)object;
  PyObject_GC_UnTrack(object);
  free_world(self);
  (void)world_clear(object);
  Py_CLEAR(self->scene);
  Py_CLEAR(self->kept);
  call_clear(&self->call);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *world_close(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  CORE_USE_OR(self, NULL);
  if (self->world) {
    if (!world_changeable(self)) return NULL;
    free_world(self);
  }
  Py_RETURN_NONE;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* As a run does it: bodies that the scene removes and pours, then the step. */
static scree_Status step_once(WorldObject *self, scree_StepReport *report) {
  scree_Status status = SCREE_OK;
  if (self->scene && !self->prepared) {
    status = scree_scene_remove(self->scene->scene, self->world);
    if (status == SCREE_OK)
      status = scree_scene_pour(self->scene->scene, self->world, self->order, &self->poured,
                                &self->call.log);
    if (status != SCREE_OK) return status;
    self->prepared = true;
  }
  status = scree_world_step(self->world, report);
  if (status != SCREE_OK && status != SCREE_NOT_CONVERGED) return status;
  self->prepared = false;
  const scree_Status recorded = world_record_step(self, report);
  return recorded == SCREE_OK ? status : recorded;
}

static bool call_before(WorldObject *self) {
  if (!self->before) return true;
  PyObject *callback = self->before;
  Py_INCREF(callback);
  PyObject *answer = PyObject_CallOneArg(callback, (PyObject *)self);
  Py_DECREF(callback);
  Py_XDECREF(answer);
  return answer != NULL;
}

/* 1: the callback asks to stop, -1: it raised. */
static int call_after(WorldObject *self) {
  if (!self->after) return 0;
  PyObject *callback = self->after, *report = self->report;
  Py_INCREF(callback);
  Py_INCREF(report);
  PyObject *answer = PyObject_CallFunctionObjArgs(callback, self, report, NULL);
  Py_DECREF(callback);
  Py_DECREF(report);
  if (!answer) return -1;
  const int stop = PyObject_IsTrue(answer);
  Py_DECREF(answer);
  return stop;
}

/* Raise NotConverged, with the report as its result, if the step is not certified. */
static bool check_report(PyObject *report, const scree_StepReport *values) {
  if (values->certified) return true;
  PyObject *text = PyUnicode_FromFormat("step %lld is not certified", (long long)values->step);
  PyObject *error = text ? PyObject_CallOneArg(core_errors.not_converged, text) : NULL;
  if (error && PyObject_SetAttrString(error, "result", report) == 0)
    PyErr_SetObject(core_errors.not_converged, error);
  Py_XDECREF(text);
  Py_XDECREF(error);
  return false;
}

static PyObject *world_step(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"n", "check", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *count_object = NULL;
  int count = 1, check = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|Op:step", words, &count_object, &check)) return NULL;
  if (given(count_object) && !as_int(count_object, "n", 0, &count)) return NULL;
  if (!world_readable(self)) return NULL;
  for (int k = 0; k < count; ++k) {
    if (!call_before(self) || !world_changeable(self)) return NULL;
    scree_StepReport report;
    scree_Status status;
    self->busy = true;
    CALL_WITHOUT_GIL(&self->call, status = step_once(self, &report));
    self->busy = false;
    if (!call_succeeded(&self->call, status)) return NULL;
    const bool last = k + 1 == count;
    if (last || self->after || check) {
      PyObject *record = record_new(RECORD_STEP, &report);
      if (!record) return NULL;
      Py_XSETREF(self->report, record);
      if (check && !check_report(record, &report)) return NULL;
    }
    const int stop = call_after(self);
    if (stop < 0) return NULL;
    self->stopped = stop > 0;
    if (stop > 0) break;
    if (!last && PyErr_CheckSignals() != 0) return NULL;
  }
  PyObject *result = self->report ? self->report : Py_None;
  Py_INCREF(result);
  return result;
}

static PyObject *world_should_stop(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
  const char *reason = NULL;
  if (!self->scene || scree_world_steps(self->world) == 0 ||
      !scree_scene_should_stop(self->scene->scene, self->world, &self->peak, &reason))
    Py_RETURN_NONE;
  return PyUnicode_FromString(reason ? reason : "the scene's condition");
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static PyObject *get_callback(PyObject *object, void *which) {
  WorldObject *self = (WorldObject *)object;
  PyObject *callback = which ? self->after : self->before;
  if (!callback) Py_RETURN_NONE;
  Py_INCREF(callback);
  return callback;
}

static int set_callback(PyObject *object, PyObject *value, void *which) {
  WorldObject *self = (WorldObject *)object;
  const char *name = which ? "after_step" : "before_step";
  if (given(value) && !PyCallable_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s: expected a callable or None, found %.100s", name,
                 Py_TYPE(value)->tp_name);
    return -1;
  }
  PyObject **slot = which ? &self->after : &self->before;
  PyObject *callback = given(value) ? value : NULL;
  Py_XINCREF(callback);
  Py_XSETREF(*slot, callback);
  return 0;
}

static PyObject *get_report(PyObject *object, void *unused) {
  (void)unused;
  PyObject *report = ((WorldObject *)object)->report;
  if (!report) Py_RETURN_NONE;
  Py_INCREF(report);
  return report;
}

static PyObject *get_scene(PyObject *object, void *unused) {
  (void)unused;
  PyObject *scene = (PyObject *)((WorldObject *)object)->scene;
  if (!scene) Py_RETURN_NONE;
  Py_INCREF(scene);
  return scene;
}

static PyObject *get_stopped(PyObject *object, void *unused) {
  (void)unused;
  return PyBool_FromLong(((WorldObject *)object)->stopped);
}

static PyObject *get_closed(PyObject *object, void *unused) {
  (void)unused;
  return PyBool_FromLong(((WorldObject *)object)->world == NULL);
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"step", KEYWORDS(world_step),
     "step(n=1, check=False)\n--\n\n"
     "Make n steps; the report of the last one. A step that is not certified is reported, and\n"
     "raises NotConverged with check=True. before_step(world) and after_step(world, report) are\n"
     "called around each; the steps end early when after_step returns true."},
    {"configure", KEYWORDS(world_configure),
     "configure(**settings)\n--\n\nChange settings, as World takes them, between steps."},
    {"should_stop", world_should_stop, METH_NOARGS,
     "should_stop()\n--\n\nThe reason for which the scene's own conditions end the run now, or "
     "None."},
    {"close", world_close, METH_NOARGS, "close()\n--\n\nFree the world; it cannot be used again."},
    {"look", world_look, METH_O, "look(name)\n--\n\nA View of an array of bodies or contacts."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getset[] = {
    {"settings", get_settings, NULL, "The settings in use, as a dict.", NULL},
    {"before_step", get_callback, set_callback, "Called with the world before each step.", NULL},
    {"after_step", get_callback, set_callback,
     "Called with the world and the report after each step; true ends step() and run().",
     (void *)1},
    {"report", get_report, NULL, "The report of the last step, or None.", NULL},
    {"scene", get_scene, NULL, "The Scene that it was made from, or None.", NULL},
    {"stopped", get_stopped, NULL, "after_step returned true in the last step.", NULL},
    {"closed", get_closed, NULL, "close() was called.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject WorldType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "scree._core.World",
    .tp_basicsize = sizeof(WorldObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "World(scene=None, **settings)\n--\n\nBodies and obstacles that move in time.",
    .tp_new = world_new,
    .tp_dealloc = world_dealloc,
    .tp_traverse = world_traverse,
    .tp_clear = world_clear,
    .tp_methods = methods,
    .tp_getset = getset,
};

static bool add_methods(PyObject *module) {
  if (PyType_Ready(&WorldType) < 0) return false;
  for (PyMethodDef *lists[] = {world_build_methods, world_joint_methods, world_state_methods,
                               world_record_methods, NULL},
                   **list = lists;
       *list; ++list)
    for (PyMethodDef *method = *list; method->ml_name; ++method) {
      PyObject *descriptor = PyDescr_NewMethod(&WorldType, method);
      if (!descriptor || PyDict_SetItemString(WorldType.tp_dict, method->ml_name, descriptor) != 0)
        return false;
      Py_DECREF(descriptor);
    }
  for (PyGetSetDef *entry = world_state_getset; entry->name; ++entry) {
    PyObject *descriptor = PyDescr_NewGetSet(&WorldType, entry);
    if (!descriptor || PyDict_SetItemString(WorldType.tp_dict, entry->name, descriptor) != 0)
      return false;
    Py_DECREF(descriptor);
  }
  PyType_Modified(&WorldType);
  return PyModule_AddType(module, &WorldType) == 0;
}

bool world_ready(PyObject *module) {
  return add_methods(module);
}

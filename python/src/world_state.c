/* The state of a world: time and energies, one body, all contacts, the problem of a step, saving
 * and restoring. */
#include "core.h"

#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

static PyObject *get_time(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  return world_readable(self) ? PyFloat_FromDouble(scree_world_time(self->world)) : NULL;
}

static PyObject *get_steps(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  return world_readable(self) ? PyLong_FromLongLong(scree_world_steps(self->world)) : NULL;
}

static PyObject *get_body_count(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  return world_readable(self) ? PyLong_FromLong(scree_world_body_count(self->world)) : NULL;
}

static PyObject *get_contact_count(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  return world_readable(self) ? PyLong_FromLong(scree_world_contact_count(self->world)) : NULL;
}

static PyObject *get_joint_count(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  return world_readable(self) ? PyLong_FromLong(scree_world_joint_count(self->world)) : NULL;
}

static PyObject *get_dimension(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  return world_readable(self) ? PyLong_FromLong(world_dimension(self)) : NULL;
}

static PyObject *get_memory(PyObject *object, void *unused) {
  (void)unused;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
  return PyLong_FromSize_t(scree_world_memory(self->world) +
                           scree_world_solver_memory(self->world));
}

static PyObject *world_energy(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
  const scree_EnergyBalance energy = scree_world_energy(self->world);
  return record_new(RECORD_ENERGY, &energy);
}

static PyObject *world_analyse(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"lower", "upper", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *lower = Py_None, *upper = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|OO:analyse", words, &lower, &upper) ||
      !world_readable(self))
    return NULL;
  scree_Aabb region;
  const bool given = lower != Py_None;
  if (given != (upper != Py_None)) {
    PyErr_SetString(core_errors.input, "lower and upper: expected both, or none of them");
    return NULL;
  }
  if (given && (!as_vector(lower, "lower", world_dimension(self), &region.lower) ||
                !as_vector(upper, "upper", world_dimension(self), &region.upper)))
    return NULL;
  scree_Analysis analysis;
  memset(&analysis, 0, sizeof analysis);
  scree_Status status;
  call_clear(&self->call);
  self->busy = true;
  CALL_WITHOUT_GIL(&self->call,
                   status = scree_world_analyse(self->world, given ? &region : NULL, &analysis));
  self->busy = false;
  return call_succeeded(&self->call, status) ? record_new(RECORD_ANALYSIS, &analysis) : NULL;
}

static PyObject *world_penetration(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
  double depth = 0;
  int body[2] = {-1, -1};
  scree_Status status;
  call_clear(&self->call);
  self->busy = true;
  CALL_WITHOUT_GIL(&self->call, status = scree_world_penetration(self->world, &depth, body));
  self->busy = false;
  if (!call_succeeded(&self->call, status)) return NULL;
  return Py_BuildValue("(d(ii))", depth, body[0], body[1]);
}

/* ---- one body -------------------------------------------------------------------------------- */

static PyObject *world_set_pose(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"body", "position", "rotation", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *body_object, *position = Py_None, *rotation = Py_None;
  int body;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OO:set_pose", words, &body_object, &position,
                                   &rotation) ||
      !world_changeable(self) || !world_body(self, body_object, "body", &body))
    return NULL;
  scree_Pose pose = scree_body_pose(self->world, body);
  const int d = world_dimension(self);
  if (position != Py_None && !as_vector(position, "position", d, &pose.position)) return NULL;
  if (rotation != Py_None && !as_quaternion(rotation, "rotation", d, &pose.orientation))
    return NULL;
  if (!call_succeeded(&self->call, scree_body_set_pose(self->world, body, &pose))) return NULL;
  Py_RETURN_NONE;
}

static PyObject *world_set_velocity(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"body", "velocity", "angular_velocity", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *body_object, *linear = Py_None, *angular = Py_None;
  int body;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OO:set_velocity", words, &body_object, &linear,
                                   &angular) ||
      !world_changeable(self) || !world_body(self, body_object, "body", &body))
    return NULL;
  scree_Twist twist = scree_body_velocity(self->world, body);
  const int d = world_dimension(self);
  if (linear != Py_None && !as_vector(linear, "velocity", d, &twist.linear)) return NULL;
  if (angular != Py_None && !as_spin(angular, "angular_velocity", d, &twist.angular)) return NULL;
  if (!call_succeeded(&self->call, scree_body_set_velocity(self->world, body, &twist))) return NULL;
  Py_RETURN_NONE;
}

static PyObject *world_shape(PyObject *object, PyObject *body_object) {
  WorldObject *self = (WorldObject *)object;
  int body;
  if (!world_readable(self) || !world_body(self, body_object, "body", &body)) return NULL;
  return shape_dict(scree_body_shape(self->world, body));
}

/* ---- contacts and the problem ---------------------------------------------------------------- */

/* A structured array of all contacts, copied: what arrays without a copy do not have. */
static PyObject *world_contact_table(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
#define OFFSET(member) (Py_ssize_t) offsetof(scree_Contact, member)
  PyObject *spec = Py_BuildValue(
      "{s:[s,s,s,s,s,s,s,s,s,s,s],s:[(s,i),s,(s,i),(s,i),(s,(ii)),s,s,(s,i),(s,i),s,s],"
      "s:[n,n,n,n,n,n,n,n,n,n,n],s:n}",
      "names", "body", "feature", "position", "normal", "tangent", "gap", "mu", "r", "u", "status",
      "error", "formats", "i4", 2, "u4", "f8", 3, "f8", 3, "f8", 2, 3, "f8", "f8", "f8", 3, "f8", 3,
      "i4", "f8", "offsets", OFFSET(body), OFFSET(feature), OFFSET(position), OFFSET(normal),
      OFFSET(tangent), OFFSET(gap), OFFSET(mu), OFFSET(r), OFFSET(u), OFFSET(status), OFFSET(error),
      "itemsize", (Py_ssize_t)sizeof(scree_Contact));
#undef OFFSET
  PyArray_Descr *descr = NULL;
  if (!spec || PyArray_DescrConverter(spec, &descr) != NPY_SUCCEED) {
    Py_XDECREF(spec);
    return NULL;
  }
  Py_DECREF(spec);
  const int count = scree_world_contact_count(self->world);
  const npy_intp size = count;
  PyObject *array = PyArray_Zeros(1, &size, descr, 0);
  if (!array) return NULL;
  call_clear(&self->call);
  const scree_Status status = scree_world_contacts(
      self->world, 0, count, (scree_Contact *)PyArray_DATA((PyArrayObject *)array));
  if (!call_succeeded(&self->call, status)) Py_CLEAR(array);
  return array;
}

static PyObject *world_problem(PyObject *object, PyObject *type) {
  WorldObject *self = (WorldObject *)object;
  if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &ProblemType)) {
    PyErr_SetString(PyExc_TypeError, "type: expected Problem or a class made from it");
    return NULL;
  }
  if (!world_readable(self)) return NULL;
  const scree_Problem *view;
  const double *r, *u;
  const int *bodies;
  call_clear(&self->call);
  if (!call_succeeded(&self->call, scree_world_problem(self->world, &view, &r, &u, &bodies)))
    return NULL;
  scree_Problem copy;
  memset(&copy, 0, sizeof copy);
  if (!call_succeeded(&self->call, problem_copy(view, &copy, &self->call.log))) return NULL;
  PyObject *problem = problem_take((PyTypeObject *)type, &copy);
  if (!problem) {
    scree_problem_destroy(&copy);
    return NULL;
  }
  npy_intp shape[2];
  const npy_intp count = view->bodies.nbodies;
  const int nd = problem_shape(view, shape);
  PyObject *r_array = new_doubles(nd, shape, r), *u_array = new_doubles(nd, shape, u);
  PyObject *index = PyArray_SimpleNew(1, &count, NPY_INT);
  if (index && count) memcpy(ints((PyArrayObject *)index), bodies, (size_t)count * sizeof *bodies);
  PyObject *result = NULL;
  if (r_array && u_array && index)
    result = Py_BuildValue("(OOOO)", problem, r_array, u_array, index);
  Py_DECREF(problem);
  Py_XDECREF(r_array);
  Py_XDECREF(u_array);
  Py_XDECREF(index);
  return result;
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* Before the state of the library: what a scene needs to pour the same bodies again. */
typedef struct Head {
  char magic[8];
  int64_t poured, prepared;
  double peak;
} Head;

static const char magic[8] = "screepy1";

static PyObject *world_save(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
  const size_t order = (size_t)self->poured * sizeof *self->order;
  const size_t size = scree_world_state_size(self->world);
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof(Head) + order + size));
  if (!bytes) return NULL;
  Head head;
  memset(&head, 0, sizeof head);
  memcpy(head.magic, magic, sizeof magic);
  head.poured = self->poured;
  head.prepared = self->prepared;
  head.peak = self->peak;
  char *at = PyBytes_AS_STRING(bytes);
  memcpy(at, &head, sizeof head);
  if (order) memcpy(at + sizeof head, self->order, order);
  scree_world_save(self->world, at + sizeof head + order);
  return bytes;
}

/* Other bodies were poured since: the world is built anew with those of the saved state. */
static scree_Status rebuild(WorldObject *self, const int *order, int poured, const char *state,
                            size_t size) {
  scree_World *world = NULL;
  const scree_WorldSettings settings = *scree_world_get_settings(self->world);
  scree_Status status = world_build_scene(self, &world);
  if (status == SCREE_OK) status = scree_world_set_settings(world, &settings);
  if (status == SCREE_OK)
    status = scree_scene_pour_again(self->scene->scene, world, order, poured, &self->call.log);
  if (status == SCREE_OK) status = scree_world_restore(world, state, size);
  if (status != SCREE_OK) {
    scree_world_destroy(world);
    return status;
  }
  scree_world_destroy(self->world);
  self->world = world;
  world_free_signals(self);
  return SCREE_OK;
}

static PyObject *world_restore(PyObject *object, PyObject *bytes) {
  WorldObject *self = (WorldObject *)object;
  if (!world_changeable(self)) return NULL;
  if (!PyBytes_Check(bytes)) {
    PyErr_Format(PyExc_TypeError, "state: expected bytes that save() gave, found %.100s",
                 Py_TYPE(bytes)->tp_name);
    return NULL;
  }
  const size_t length = (size_t)PyBytes_GET_SIZE(bytes);
  const int64_t room = self->scene ? scree_scene_info(self->scene->scene).poured : 0;
  Head head;
  memset(&head, 0, sizeof head);
  if (length >= sizeof head) memcpy(&head, PyBytes_AS_STRING(bytes), sizeof head);
  if (memcmp(head.magic, magic, sizeof magic) != 0 || head.poured < 0 || head.poured > room ||
      length < sizeof head + (size_t)head.poured * sizeof(int)) {
    PyErr_SetString(core_errors.input, "state: not what save() gave, or of another scene");
    return NULL;
  }
  const size_t order_size = (size_t)head.poured * sizeof(int);
  const char *state = PyBytes_AS_STRING(bytes) + sizeof head + order_size;
  const size_t size = length - sizeof head - order_size;
  int *order = PyMem_RawCalloc((size_t)room + 1, sizeof *order);
  if (!order) return PyErr_NoMemory();
  if (order_size) memcpy(order, PyBytes_AS_STRING(bytes) + sizeof head, order_size);
  bool same = self->poured == (int)head.poured;
  if (same && order_size) same = memcmp(order, self->order, order_size) == 0;
  if (!same && self->recorder) {
    PyErr_SetString(core_errors.input,
                    "state: of a time with other bodies, while the world is being recorded");
    PyMem_RawFree(order);
    return NULL;
  }
  const scree_Status status = same ? scree_world_restore(self->world, state, size)
                                   : rebuild(self, order, (int)head.poured, state, size);
  if (!call_succeeded(&self->call, status)) {
    PyMem_RawFree(order);
    return NULL;
  }
  PyMem_RawFree(self->order);
  self->order = order;
  self->poured = (int)head.poured;
  self->prepared = head.prepared != 0;
  self->peak = head.peak;
  Py_CLEAR(self->report);
  Py_RETURN_NONE;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

PyMethodDef world_state_methods[] = {
    {"energy", world_energy, METH_NOARGS,
     "energy()\n--\n\nThe energies now, and the work and dissipation since the start."},
    {"analyse", KEYWORDS(world_analyse),
     "analyse(lower=None, upper=None)\n--\n\n"
     "Averages over a region, or over the bounds of all bodies."},
    {"deepest", world_penetration, METH_NOARGS,
     "deepest()\n--\n\nThe deepest penetration now, relative to the smaller body, and its bodies."},
    {"set_pose", KEYWORDS(world_set_pose),
     "set_pose(body, position=None, rotation=None)\n--\n\nMove a body."},
    {"set_velocity", KEYWORDS(world_set_velocity),
     "set_velocity(body, velocity=None, angular_velocity=None)\n--\n\nChange a velocity."},
    {"shape", world_shape, METH_O, "shape(body)\n--\n\nThe shape of a body, as add_body takes it."},
    {"contact_table", world_contact_table, METH_NOARGS,
     "contact_table()\n--\n\nAll contacts of the last step as a structured array, copied."},
    {"step_problem", world_problem, METH_O,
     "step_problem(type)\n--\n\n"
     "(problem, r, u, bodies) of the last step, copied; bodies are numbers of the world."},
    {"save", world_save, METH_NOARGS, "save()\n--\n\nThe state of the world, as bytes."},
    {"restore", world_restore, METH_O,
     "restore(state)\n--\n\n"
     "Return to a state from save(), in this world or in one that was built in the same way. The\n"
     "steps that follow give the same bits."},
    {NULL, NULL, 0, NULL}};

PyGetSetDef world_state_getset[] = {
    {"time", get_time, NULL, "s.", NULL},
    {"steps", get_steps, NULL, "Steps done.", NULL},
    {"body_count", get_body_count, NULL, "Bodies and obstacles, removed ones included.", NULL},
    {"contact_count", get_contact_count, NULL, "Contacts of the last step.", NULL},
    {"joint_count", get_joint_count, NULL, "Joints.", NULL},
    {"dimension", get_dimension, NULL, "2 or 3.", NULL},
    {"memory", get_memory, NULL, "Bytes held.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

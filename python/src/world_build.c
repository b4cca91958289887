/* Building a world by calls: materials and laws, shapes, bodies and obstacles, forces and drivers.
 *
 * A driver or force given by a Python function is a callback signal of the library. It is asked in
 * the middle of a step, from the thread that called it, and takes the GIL for that. */
#include "core.h"

#include <math.h>
#include <string.h>

static bool given(PyObject *object) {
  return object && object != Py_None;
}

/* ---- signals --------------------------------------------------------------------------------- */

static scree_Vec3 ask(PythonSignal *signal, PyObject *function, double time, bool spin) {
  scree_Vec3 value = {NAN, NAN, NAN};
  Call *call = &signal->world->call;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *answer = PyObject_CallFunction(function, "d", time);
  const int dimension = world_dimension(signal->world);
  const bool good = answer && (spin ? as_spin(answer, "the function of time", dimension, &value)
                                    : as_vector(answer, "the function of time", dimension, &value));
  Py_XDECREF(answer);
  if (!good) {
    call_keep_exception(call);
    value = (scree_Vec3){NAN, NAN, NAN}; /* the step fails */
  }
  PyGILState_Release(state);
  return value;
}

static scree_Twist signal_at(void *user, double time) {
  PythonSignal *signal = user;
  if (signal->row) {
    const double *x = signal->row;
    return (scree_Twist){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
  }
  scree_Twist twist = signal->value;
  if (signal->linear) twist.linear = ask(signal, signal->linear, time, false);
  if (signal->angular) twist.angular = ask(signal, signal->angular, time, true);
  return twist;
}

static void free_signal(PythonSignal *signal) {
  Py_XDECREF(signal->linear);
  Py_XDECREF(signal->angular);
  PyMem_RawFree(signal);
}

void world_free_signals(WorldObject *self) {
  while (self->signals) {
    PythonSignal *signal = self->signals;
    self->signals = signal->next;
    free_signal(signal);
  }
}

/* Forget the signal that the library no longer points to. */
static void drop_signal(WorldObject *self, int force, int body, int joint) {
  for (PythonSignal **at = &self->signals; *at;) {
    PythonSignal *signal = *at;
    if (signal->force == force && signal->body == body && signal->joint == joint) {
      *at = signal->next;
      free_signal(signal);
    } else {
      at = &signal->next;
    }
  }
}

void world_settle_signal(WorldObject *self, PythonSignal *made, bool taken, int force, int body,
                         int joint) {
  if (!taken) {
    if (made) free_signal(made);
    return;
  }
  drop_signal(self, force, body, joint);
  if (!made) return;
  made->force = force;
  made->body = body;
  made->joint = joint;
  made->next = self->signals;
  self->signals = made;
}

/* A signal from two objects, each a vector or a function of time. *made is what it points to, or
 * null; the caller puts it into the list of the world, or frees it. */
static bool read_signal(WorldObject *self, PyObject *linear, const char *linear_name,
                        PyObject *angular, const char *angular_name, scree_Signal *signal,
                        PythonSignal **made) {
  const int dimension = world_dimension(self);
  const bool functions[2] = {given(linear) && PyCallable_Check(linear),
                             given(angular) && PyCallable_Check(angular)};
  scree_Twist value = {{0, 0, 0}, {0, 0, 0}};
  *made = NULL;
  memset(signal, 0, sizeof *signal);
  if (given(linear) && !functions[0] && !as_vector(linear, linear_name, dimension, &value.linear))
    return false;
  if (given(angular) && !functions[1] && !as_spin(angular, angular_name, dimension, &value.angular))
    return false;
  if (!functions[0] && !functions[1]) {
    signal->kind = given(linear) || given(angular) ? SCREE_SIGNAL_CONSTANT : SCREE_SIGNAL_ZERO;
    signal->constant = value;
    return true;
  }
  PythonSignal *new_signal = PyMem_RawCalloc(1, sizeof *new_signal);
  if (!new_signal) {
    PyErr_NoMemory();
    return false;
  }
  *new_signal = (PythonSignal){.world = self,
                               .force = -1,
                               .body = -1,
                               .joint = -1,
                               .linear = functions[0] ? linear : NULL,
                               .angular = functions[1] ? angular : NULL,
                               .value = value};
  Py_XINCREF(new_signal->linear);
  Py_XINCREF(new_signal->angular);
  *signal =
      (scree_Signal){.kind = SCREE_SIGNAL_CALLBACK, .callback = signal_at, .user = new_signal};
  *made = new_signal;
  return true;
}

/* ---- materials and laws ---------------------------------------------------------------------- */

static PyObject *world_add_material(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  int material = 0;
  if (!world_changeable(self) ||
      !call_succeeded(&self->call, scree_world_add_material(self->world, &material)))
    return NULL;
  return PyLong_FromLong(material);
}

/* Parameters of a law by their names; `law` and `between` are not among them. */
static bool read_law(WorldObject *self, PyObject *kw, scree_PairLaw *law) {
  PyObject *key, *item;
  for (Py_ssize_t at = 0; kw && PyDict_Next(kw, &at, &key, &item);) {
    const char *word = as_text(key, "parameter");
    double value;
    if (!word) return false;
    if (strcmp(word, "law") == 0 || strcmp(word, "between") == 0) continue;
    if (!as_double(item, word, &value) ||
        !call_succeeded(&self->call, scree_pair_law_set(law, word, value, &self->call.log)))
      return false;
  }
  return true;
}

static PyObject *world_set_law(PyObject *object, PyObject *args, PyObject *kw) {
  WorldObject *self = (WorldObject *)object;
  PyObject *law_object = NULL, *mu = NULL;
  if (!PyArg_ParseTuple(args, "|OO:set_law", &law_object, &mu) || !world_changeable(self))
    return NULL;
  if (!law_object && kw) law_object = PyDict_GetItemString(kw, "law");
  PyObject *between = kw ? PyDict_GetItemString(kw, "between") : NULL;
  const char *name = NULL;
  if (given(law_object) && !(name = as_text(law_object, "law"))) return NULL;
  scree_PairLaw law = scree_pair_law(name);
  if (name && !scree_law_summary(name)) {
    PyErr_Format(core_errors.input, "law: there is no law '%.100s', see laws()", name);
    return NULL;
  }
  double friction;
  if (given(mu) &&
      (!as_double(mu, "mu", &friction) ||
       !call_succeeded(&self->call, scree_pair_law_set(&law, "mu", friction, &self->call.log))))
    return NULL;
  if (!read_law(self, kw, &law)) return NULL;
  scree_Status status;
  if (given(between)) {
    const npy_intp two = 2;
    PyArrayObject *pair = as_ints(between, "between", 1, &two);
    if (!pair) return NULL;
    status = scree_world_set_pair_law(self->world, ints(pair)[0], ints(pair)[1], &law);
    Py_DECREF(pair);
  } else {
    status = scree_world_set_default_law(self->world, &law);
  }
  if (!call_succeeded(&self->call, status)) return NULL;
  Py_RETURN_NONE;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

typedef struct BodyArguments {
  PyObject *shape, *position, *rotation, *velocity, *angular, *density, *mass, *inertia, *material,
      *group;
} BodyArguments;

static bool read_body(WorldObject *self, const BodyArguments *from, scree_BodyDef *def) {
  const int dimension = world_dimension(self);
  int group = 0;
  if (given(from->position) &&
      !as_vector(from->position, "position", dimension, &def->pose.position))
    return false;
  if (given(from->rotation) &&
      !as_quaternion(from->rotation, "rotation", dimension, &def->pose.orientation))
    return false;
  if (given(from->material) && !as_int(from->material, "material", 0, &def->material)) return false;
  if (given(from->group) && !as_int(from->group, "group", 0, &group)) return false;
  def->group = (uint32_t)group;
  return true;
}

static bool read_positive(PyObject *object, const char *name, double *value) {
  if (!given(object)) return true;
  if (!as_double(object, name, value)) return false;
  if (*value > 0 && isfinite(*value)) return true;
  PyErr_Format(core_errors.input, "%s: found %R, expected a number > 0", name, object);
  return false;
}

static PyObject *world_add_body(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"shape",   "position", "rotation", "velocity", "angular_velocity",
                          "density", "mass",     "inertia",  "material", "group",
                          NULL};
  WorldObject *self = (WorldObject *)object;
  BodyArguments from = {0};
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOOOOOOOO:add_body", words, &from.shape,
                                   &from.position, &from.rotation, &from.velocity, &from.angular,
                                   &from.density, &from.mass, &from.inertia, &from.material,
                                   &from.group) ||
      !world_changeable(self))
    return NULL;
  const int dimension = world_dimension(self);
  scree_BodyDef def = scree_body_def();
  if (!read_body(self, &from, &def) || !read_positive(from.density, "density", &def.density) ||
      !read_positive(from.mass, "mass", &def.mass))
    return NULL;
  if (given(from.velocity) &&
      !as_vector(from.velocity, "velocity", dimension, &def.velocity.linear))
    return NULL;
  if (given(from.angular) &&
      !as_spin(from.angular, "angular_velocity", dimension, &def.velocity.angular))
    return NULL;
  if (given(from.inertia) && !as_spin(from.inertia, "inertia", dimension, &def.inertia))
    return NULL;
  scree_Shape shape;
  if (!shape_from(self, from.shape, &shape)) return NULL;
  def.shape = &shape;
  def.pose = shape_typed_pose(&shape, def.pose);
  int body = -1;
  const scree_Status status = scree_world_add_body(self->world, &def, &body);
  scree_shape_fini(&shape);
  if (!call_succeeded(&self->call, status)) return NULL;
  return PyLong_FromLong(body);
}

static PyObject *world_add_obstacle(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"shape",    "position", "rotation", "velocity", "angular_velocity",
                          "material", "group",    "belt",     NULL};
  WorldObject *self = (WorldObject *)object;
  BodyArguments from = {0};
  int belt = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOOOOOp:add_obstacle", words, &from.shape,
                                   &from.position, &from.rotation, &from.velocity, &from.angular,
                                   &from.material, &from.group, &belt) ||
      !world_changeable(self))
    return NULL;
  scree_BodyDef def = scree_body_def();
  PythonSignal *made = NULL;
  def.obstacle = true;
  def.belt = belt != 0;
  if (!read_body(self, &from, &def) || !read_signal(self, from.velocity, "velocity", from.angular,
                                                    "angular_velocity", &def.driver, &made))
    return NULL;
  scree_Shape shape;
  if (!shape_from(self, from.shape, &shape)) {
    if (made) free_signal(made);
    return NULL;
  }
  def.shape = &shape;
  def.pose = shape_typed_pose(&shape, def.pose);
  int body = -1;
  const scree_Status status = scree_world_add_body(self->world, &def, &body);
  scree_shape_fini(&shape);
  const bool good = call_succeeded(&self->call, status);
  world_settle_signal(self, made, status == SCREE_OK, -1, body, -1);
  if (!good) return NULL;
  return PyLong_FromLong(body);
}

static PyObject *world_remove_body(PyObject *object, PyObject *body_object) {
  WorldObject *self = (WorldObject *)object;
  int body;
  if (!world_changeable(self) || !world_body(self, body_object, "body", &body) ||
      !call_succeeded(&self->call, scree_world_remove_body(self->world, body)))
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *world_set_driver(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"body", "velocity", "angular_velocity", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *body_object, *linear = NULL, *angular = NULL;
  int body;
  scree_Signal signal;
  PythonSignal *made;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OO:set_driver", words, &body_object, &linear,
                                   &angular) ||
      !world_changeable(self) || !world_body(self, body_object, "body", &body) ||
      !read_signal(self, linear, "velocity", angular, "angular_velocity", &signal, &made))
    return NULL;
  const scree_Status status = scree_body_set_driver(self->world, body, &signal);
  world_settle_signal(self, made, status == SCREE_OK, -1, body, -1);
  if (!call_succeeded(&self->call, status)) return NULL;
  Py_RETURN_NONE;
}

/* ---- forces ---------------------------------------------------------------------------------- */

/* add_force and set_force take the same but for the number of the force. */
static PyObject *put_force(WorldObject *self, int force, PyObject *body_object, PyObject *linear,
                           PyObject *torque, PyObject *acceleration) {
  scree_ForceDef def = {.body = -1};
  PythonSignal *made;
  if (given(body_object) && !world_body(self, body_object, "body", &def.body)) return NULL;
  def.per_mass = given(acceleration);
  if (def.per_mass && (given(linear) || given(torque))) {
    PyErr_SetString(core_errors.input, "acceleration: expected without force and torque");
    return NULL;
  }
  if (!read_signal(self, def.per_mass ? acceleration : linear,
                   def.per_mass ? "acceleration" : "force", torque, "torque", &def.signal, &made))
    return NULL;
  const int index = force >= 0 ? force : scree_world_force_count(self->world);
  const scree_Status status = force >= 0 ? scree_world_set_force(self->world, force, &def)
                                         : scree_world_add_force(self->world, &def);
  world_settle_signal(self, made, status == SCREE_OK, index, -1, -1);
  if (!call_succeeded(&self->call, status)) return NULL;
  return PyLong_FromLong(index);
}

static PyObject *world_add_force(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"body", "force", "torque", "acceleration", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *body = NULL, *force = NULL, *torque = NULL, *acceleration = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|OOOO:add_force", words, &body, &force, &torque,
                                   &acceleration) ||
      !world_changeable(self))
    return NULL;
  return put_force(self, -1, body, force, torque, acceleration);
}

static PyObject *world_set_force(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"index", "body", "force", "torque", "acceleration", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *index_object, *body = NULL, *force = NULL, *torque = NULL, *acceleration = NULL;
  int index;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOOO:set_force", words, &index_object, &body,
                                   &force, &torque, &acceleration) ||
      !world_changeable(self) || !as_int(index_object, "index", 0, &index))
    return NULL;
  if (index >= scree_world_force_count(self->world)) {
    PyErr_Format(core_errors.input, "index: there is no force %d, the world has %d", index,
                 scree_world_force_count(self->world));
    return NULL;
  }
  return put_force(self, index, body, force, torque, acceleration);
}

/* One row of an array for each body that is no obstacle: Python fills it before a step, and the
 * library reads it without Python. */
static PyObject *world_force_array(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  if (!world_changeable(self)) return NULL;
  const int count = scree_world_body_count(self->world);
  const npy_intp shape[2] = {count, 6};
  PyObject *array = PyArray_ZEROS(2, shape, NPY_DOUBLE, 0);
  if (!array || PyList_Append(self->kept, array) != 0) {
    Py_XDECREF(array);
    return NULL;
  }
  for (int body = 0; body < count; ++body) {
    if (scree_body_is_obstacle(self->world, body) || scree_body_is_removed(self->world, body))
      continue;
    PythonSignal *made = PyMem_RawCalloc(1, sizeof *made);
    if (!made) {
      Py_DECREF(array);
      return PyErr_NoMemory();
    }
    *made = (PythonSignal){
        .world = self, .body = -1, .row = doubles((PyArrayObject *)array) + 6 * (size_t)body};
    const scree_ForceDef def = {
        .body = body,
        .signal = {.kind = SCREE_SIGNAL_CALLBACK, .callback = signal_at, .user = made}};
    const int index = scree_world_force_count(self->world);
    const scree_Status status = scree_world_add_force(self->world, &def);
    world_settle_signal(self, made, status == SCREE_OK, index, -1, -1);
    if (!call_succeeded(&self->call, status)) {
      Py_DECREF(array);
      return NULL;
    }
  }
  return array;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

PyMethodDef world_build_methods[] = {
    {"add_material", world_add_material, METH_NOARGS,
     "add_material()\n--\n\nAdd a material and return its number. Material 0 exists from the "
     "start."},
    {"set_law", KEYWORDS(world_set_law),
     "set_law(law='coulomb', mu=None, *, between=None, **parameters)\n--\n\n"
     "The law between two materials, or (between=None) of all pairs without their own:\n"
     "mu, e_n, e_t, and what else the law has (laws())."},
    {"add_body", KEYWORDS(world_add_body),
     "add_body(shape, position=None, rotation=None, velocity=None, angular_velocity=None, "
     "density=None, mass=None, inertia=None, material=None, group=None)\n--\n\n"
     "Add a body; its number. shape: a dict with kind and its parameters, as in scenes."},
    {"add_obstacle", KEYWORDS(world_add_obstacle),
     "add_obstacle(shape, position=None, rotation=None, velocity=None, angular_velocity=None, "
     "material=None, group=None, belt=False)\n--\n\n"
     "Add an obstacle; its number. Velocities are vectors, or functions of time."},
    {"remove_body", world_remove_body, METH_O,
     "remove_body(body)\n--\n\nRemove a body; its number is not used again."},
    {"set_driver", KEYWORDS(world_set_driver),
     "set_driver(body, velocity=None, angular_velocity=None)\n--\n\n"
     "The velocity of an obstacle from now on: vectors, or functions of time."},
    {"add_force", KEYWORDS(world_add_force),
     "add_force(body=None, force=None, torque=None, acceleration=None)\n--\n\n"
     "A force on a body, or on all; its number. Vectors, or functions of time."},
    {"set_force", KEYWORDS(world_set_force),
     "set_force(index, body=None, force=None, torque=None, acceleration=None)\n--\n\n"
     "Put another force in the place of force number `index`."},
    {"force_array", world_force_array, METH_NOARGS,
     "force_array()\n--\n\n"
     "An array (bodies, 6) of forces and torques on the bodies that exist now, zero at first.\n"
     "Write into it before a step, in before_step for instance."},
    {NULL, NULL, 0, NULL}};

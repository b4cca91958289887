/* Joints between bodies: made by calls, driven by numbers or by Python functions of time, read back
 * as reactions and coordinates. */
#include "core.h"

#include <math.h>
#include <string.h>

static bool given(PyObject *object) {
  return object && object != Py_None;
}

/* ---- motors ---------------------------------------------------------------------------------- */

/* A function of time asked in the middle of a step, from the thread that called the library. */
static double ask_motor(void *user, double time) {
  PythonSignal *signal = user;
  double value = NAN; /* the step fails */
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *answer = PyObject_CallFunction(signal->linear, "d", time);
  if (!answer || !as_double(answer, "the function of time", &value)) {
    call_keep_exception(&signal->world->call);
    value = NAN;
  }
  Py_XDECREF(answer);
  PyGILState_Release(state);
  return value;
}

/* A motor from its velocity or its position, each a number or a function of time; *made is what it
 * points to, or null. */
static bool read_motor(WorldObject *self, PyObject *velocity, PyObject *position, PyObject *force,
                       scree_Motor *motor, PythonSignal **made) {
  memset(motor, 0, sizeof *motor);
  *made = NULL;
  if (given(velocity) && given(position)) {
    PyErr_SetString(core_errors.input, "velocity, target: expected one of them");
    return false;
  }
  PyObject *target = given(velocity) ? velocity : given(position) ? position : NULL;
  if (given(force) && !as_double(force, "force", &motor->force)) return false;
  if (!target) return true;
  motor->kind = given(velocity) ? SCREE_MOTOR_VELOCITY : SCREE_MOTOR_POSITION;
  if (!PyCallable_Check(target))
    return as_double(target, given(velocity) ? "velocity" : "target", &motor->target);
  PythonSignal *signal = PyMem_RawCalloc(1, sizeof *signal);
  if (!signal) {
    PyErr_NoMemory();
    return false;
  }
  Py_INCREF(target);
  *signal = (PythonSignal){.world = self, .force = -1, .body = -1, .joint = -1, .linear = target};
  motor->function = ask_motor;
  motor->user = signal;
  *made = signal;
  return true;
}

/* ---- joints ---------------------------------------------------------------------------------- */

typedef struct JointArguments {
  PyObject *kind, *bodies, *anchor, *anchor2, *axis, *axis2, *velocity, *target, *force, *stiffness,
      *damping, *rest, *friction, *lower, *upper, *restitution, *tension, *shear, *bending,
      *torsion, *break_at;
  int collide;
} JointArguments;

static bool read_number(PyObject *object, const char *name, double *value) {
  return !given(object) || as_double(object, name, value);
}

static bool read_place(WorldObject *self, PyObject *object, const char *name, scree_Vec3 *value) {
  return !given(object) || as_vector(object, name, world_dimension(self), value);
}

static bool read_joint(WorldObject *self, const JointArguments *from, scree_JointDef *def) {
  const npy_intp two = 2;
  const char *kind = as_text(from->kind, "kind");
  if (!kind) return false;
  def->kind = scree_joint_find(kind);
  if (def->kind == SCREE_JOINT_KINDS) {
    PyErr_Format(core_errors.input, "kind: there is no joint '%.100s', see joints()", kind);
    return false;
  }
  PyArrayObject *pair = as_ints(from->bodies, "bodies", 1, &two);
  if (!pair) return false;
  const int count = scree_world_body_count(self->world);
  memcpy(def->body, ints(pair), 2 * sizeof(int));
  Py_DECREF(pair);
  for (int k = 0; k < 2; ++k)
    if (def->body[k] < 0 || def->body[k] >= count) {
      PyErr_Format(core_errors.input, "bodies: there is no body %d, the world has %d", def->body[k],
                   count);
      return false;
    }
  def->collide = from->collide != 0;
  return read_place(self, from->anchor, "anchor", &def->anchor) &&
         read_place(self, from->anchor2, "anchor2", &def->anchor2) &&
         read_place(self, from->axis, "axis", &def->axis) &&
         read_place(self, from->axis2, "axis2", &def->axis2) &&
         read_number(from->stiffness, "stiffness", &def->stiffness) &&
         read_number(from->damping, "damping", &def->damping) &&
         read_number(from->rest, "rest", &def->rest) &&
         read_number(from->friction, "friction", &def->friction) &&
         read_number(from->lower, "lower", &def->lower) &&
         read_number(from->upper, "upper", &def->upper) &&
         read_number(from->restitution, "restitution", &def->restitution) &&
         read_number(from->tension, "tension", &def->tension) &&
         read_number(from->shear, "shear", &def->shear) &&
         read_number(from->bending, "bending", &def->bending) &&
         read_number(from->torsion, "torsion", &def->torsion) &&
         read_number(from->break_at, "break_at", &def->break_at);
}

static PyObject *world_add_joint(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"kind",     "bodies",  "anchor",  "anchor2",     "axis",    "axis2",
                          "velocity", "target",  "force",   "stiffness",   "damping", "rest",
                          "friction", "lower",   "upper",   "restitution", "collide", "tension",
                          "shear",    "bending", "torsion", "break_at",    NULL};
  WorldObject *self = (WorldObject *)object;
  JointArguments from = {0};
  if (!PyArg_ParseTupleAndKeywords(
          args, kw, "OO|OOOOOOOOOOOOOOpOOOOO:add_joint", words, &from.kind, &from.bodies,
          &from.anchor, &from.anchor2, &from.axis, &from.axis2, &from.velocity, &from.target,
          &from.force, &from.stiffness, &from.damping, &from.rest, &from.friction, &from.lower,
          &from.upper, &from.restitution, &from.collide, &from.tension, &from.shear, &from.bending,
          &from.torsion, &from.break_at) ||
      !world_changeable(self))
    return NULL;
  scree_JointDef def = scree_joint_def();
  PythonSignal *made = NULL;
  if (!read_joint(self, &from, &def) ||
      !read_motor(self, from.velocity, from.target, from.force, &def.motor, &made))
    return NULL;
  int joint = -1;
  const scree_Status status = scree_world_add_joint(self->world, &def, &joint);
  world_settle_signal(self, made, status == SCREE_OK, -1, -1, joint);
  if (!call_succeeded(&self->call, status)) return NULL;
  return PyLong_FromLong(joint);
}

/* ---- bonds ----------------------------------------------------------------------------------- */

/* Which bodies are bonded: those of one set with those of the other, or all with all. */
typedef struct Chosen {
  bool *of[2]; /* (bodies) each, or null: all */
} Chosen;

static bool is_chosen(void *user, int a, int b) {
  const Chosen *chosen = user;
  if (!chosen->of[0]) return true;
  return (chosen->of[0][a] && chosen->of[1][b]) || (chosen->of[0][b] && chosen->of[1][a]);
}

static void drop_chosen(Chosen *chosen) {
  for (int k = 0; k < 2; ++k) PyMem_Free(chosen->of[k]);
}

/* `between` is a pair of lists of bodies. */
static bool read_chosen(WorldObject *self, PyObject *between, Chosen *chosen) {
  const int count = scree_world_body_count(self->world);
  if (!given(between)) return true;
  PyObject *pair = PySequence_Fast(between, "between: expected a pair of lists of bodies");
  bool good = pair && PySequence_Fast_GET_SIZE(pair) == 2;
  if (pair && !good)
    PyErr_SetString(core_errors.input, "between: expected a pair of lists of bodies");
  for (int k = 0; k < 2 && good; ++k) {
    const npy_intp any = -1;
    PyArrayObject *list = as_ints(PySequence_Fast_GET_ITEM(pair, k), "between", 1, &any);
    chosen->of[k] = list ? PyMem_Calloc((size_t)count + 1, sizeof(bool)) : NULL;
    good = chosen->of[k] != NULL;
    for (npy_intp i = 0; good && i < PyArray_SIZE(list); ++i) {
      const int body = ints(list)[i];
      if (body < 0 || body >= count) {
        PyErr_Format(core_errors.input, "between: there is no body %d, the world has %d", body,
                     count);
        good = false;
      } else {
        chosen->of[k][body] = true;
      }
    }
    if (list && !chosen->of[k]) PyErr_NoMemory();
    Py_XDECREF(list);
  }
  Py_XDECREF(pair);
  return good;
}

static PyObject *world_add_bonds(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"between", "tension", "shear", "bending",  "torsion", "stress",
                          "width",   "gap",     "label", "break_at", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *between = NULL, *tension = NULL, *shear = NULL, *bending = NULL, *torsion = NULL;
  PyObject *width = NULL, *gap = NULL, *label = NULL, *break_at = NULL;
  int stress = 0, count = 0;
  scree_BondDef def = scree_bond_def();
  Chosen chosen = {{NULL, NULL}};
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|OOOOOpOOOO:add_bonds", words, &between, &tension,
                                   &shear, &bending, &torsion, &stress, &width, &gap, &label,
                                   &break_at) ||
      !world_changeable(self) || !read_number(tension, "tension", &def.tension) ||
      !read_number(shear, "shear", &def.shear) || !read_number(bending, "bending", &def.bending) ||
      !read_number(torsion, "torsion", &def.torsion) || !read_number(width, "width", &def.width) ||
      !read_number(gap, "gap", &def.gap) || !read_number(break_at, "break_at", &def.break_at) ||
      (given(label) && !as_int(label, "label", 0, &def.label)))
    return NULL;
  if (!read_chosen(self, between, &chosen)) {
    drop_chosen(&chosen);
    return NULL;
  }
  def.stress = stress != 0;
  def.select = is_chosen;
  def.user = &chosen;
  const scree_Status status = scree_world_add_bonds(self->world, &def, &count);
  drop_chosen(&chosen);
  if (!call_succeeded(&self->call, status)) return NULL;
  return PyLong_FromLong(count);
}

static PyObject *world_bonds(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"label", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *given_label = NULL;
  int label = -1, bonds, broken;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|O:bonds", words, &given_label) ||
      !world_readable(self) || (given(given_label) && !as_int(given_label, "label", 0, &label)))
    return NULL;
  scree_world_count_bonds(self->world, label, &bonds, &broken);
  return Py_BuildValue("(ii)", bonds, broken);
}

/* ---- joints now ------------------------------------------------------------------------------ */

static bool joint_number(WorldObject *self, PyObject *object, int *joint) {
  if (!as_int(object, "joint", 0, joint)) return false;
  const int count = scree_world_joint_count(self->world);
  if (*joint < count) return true;
  PyErr_Format(core_errors.input, "joint: there is no joint %d, the world has %d", *joint, count);
  return false;
}

static PyObject *world_set_motor(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"joint", "velocity", "target", "force", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *number, *velocity = NULL, *target = NULL, *force = NULL;
  int joint;
  scree_Motor motor;
  PythonSignal *made;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOO:set_motor", words, &number, &velocity, &target,
                                   &force) ||
      !world_changeable(self) || !joint_number(self, number, &joint) ||
      !read_motor(self, velocity, target, force, &motor, &made))
    return NULL;
  const scree_Status status = scree_world_set_motor(self->world, joint, &motor);
  world_settle_signal(self, made, status == SCREE_OK, -1, -1, joint);
  if (!call_succeeded(&self->call, status)) return NULL;
  Py_RETURN_NONE;
}

static PyObject *world_joint(PyObject *object, PyObject *number) {
  WorldObject *self = (WorldObject *)object;
  int joint;
  if (!world_readable(self) || !joint_number(self, number, &joint)) return NULL;
  const scree_JointState state = scree_world_joint(self->world, joint);
  return record_new(RECORD_JOINT, &state);
}

PyObject *core_joints(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *dict = PyDict_New();
  for (int k = 0; dict && k < SCREE_JOINT_KINDS; ++k) {
    PyObject *text = PyUnicode_FromString(scree_joint_summary((scree_JointKind)k));
    if (!text || PyDict_SetItemString(dict, scree_joint_name((scree_JointKind)k), text) != 0)
      Py_CLEAR(dict);
    Py_XDECREF(text);
  }
  return dict;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

PyMethodDef world_joint_methods[] = {
    {"add_joint", KEYWORDS(world_add_joint),
     "add_joint(kind, bodies, anchor=None, anchor2=None, axis=None, axis2=None, velocity=None, "
     "target=None, force=None, stiffness=None, damping=None, rest=None, friction=None, "
     "lower=None, upper=None, restitution=None, collide=False, tension=None, shear=None, "
     "bending=None, torsion=None, break_at=None)\n--\n\n"
     "Join two bodies as they are now; the number of the joint. anchor and axis are places and\n"
     "directions of the world. velocity or target (numbers, or functions of time) drive the free\n"
     "coordinate with at most `force`. A bond has strengths: tension, shear (N), bending, torsion\n"
     "(N m), and breaks after a displacement of break_at."},
    {"add_bonds", KEYWORDS(world_add_bonds),
     "add_bonds(between=None, tension=None, shear=None, bending=None, torsion=None, stress=False, "
     "width=None, gap=None, label=None, break_at=None)\n--\n\n"
     "Glue the bodies that touch now; the number of bonds. between is a pair of lists of bodies,\n"
     "default all with all. With stress the strengths are stresses on the section of each bond."},
    {"bonds", KEYWORDS(world_bonds),
     "bonds(label=None)\n--\n\nNumber of bonds (of those with this label), and of those that "
     "broke."},
    {"set_motor", KEYWORDS(world_set_motor),
     "set_motor(joint, velocity=None, target=None, force=None)\n--\n\n"
     "Drive a joint in another way from now on; without velocity and target it is free."},
    {"joint", world_joint, METH_O,
     "joint(joint)\n--\n\nThe state of a joint: its coordinate and rate, and its force and torque "
     "in the last step."},
    {NULL, NULL, 0, NULL}};

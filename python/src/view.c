/* View: an array that looks into the memory of a world, without a copy.
 *
 * The memory is the world's, and moves or changes when the world does. So a View holds no NumPy
 * array, only where the numbers lie and in which state of the world; each use makes an array for
 * the moment, after comparing the state. Such an array has a Guard as its base, which keeps the
 * world from changing while the array exists. A slice of a View is a View again. The Python class
 * scree.View adds the operators. */
#include "core.h"

#include <string.h>

enum { DIMENSIONS = 8 };

typedef struct GuardObject {
  PyObject_HEAD WorldObject *world;
} GuardObject;

typedef struct ViewObject {
  PyObject_HEAD WorldObject *world;
  uint64_t changes; /* of the world when it was taken */
  char name[32];
  int type, nd;
  npy_intp shape[DIMENSIONS], strides[DIMENSIONS];
  const char *data;
} ViewObject;

static void guard_dealloc(PyObject *object) {
  GuardObject *self = (GuardObject *)object;
  --self->world->guards;
  Py_DECREF(self->world);
  Py_TYPE(object)->tp_free(object);
}

static PyTypeObject GuardType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "scree._core.Guard",
    .tp_basicsize = sizeof(GuardObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Keeps a world from changing.",
    .tp_dealloc = guard_dealloc,
};

static PyTypeObject ViewType;
static PyObject *view_class; /* the Python class that Views get, or null: ViewType */

static int type_number(scree_ValueType type) {
  switch (type) {
  case SCREE_VALUE_DOUBLE: return NPY_DOUBLE;
  case SCREE_VALUE_INT32: return NPY_INT32;
  case SCREE_VALUE_UINT32: return NPY_UINT32;
  case SCREE_VALUE_UINT8: return NPY_UINT8;
  }
  return NPY_DOUBLE;
}

static ViewObject *view_alloc(WorldObject *world, uint64_t changes, const char *name) {
  PyTypeObject *type = view_class ? (PyTypeObject *)view_class : &ViewType;
  ViewObject *view = (ViewObject *)type->tp_alloc(type, 0);
  if (!view) return NULL;
  Py_INCREF(world);
  view->world = world;
  view->changes = changes;
  snprintf(view->name, sizeof view->name, "%s", name);
  return view;
}

PyObject *world_look(PyObject *object, PyObject *name_object) {
  WorldObject *self = (WorldObject *)object;
  const char *name = as_text(name_object, "name");
  if (!name || !world_readable(self)) return NULL;
  int field = 0;
  while (field < SCREE_ARRAY_FIELDS && strcmp(scree_array_name((scree_ArrayField)field), name) != 0)
    ++field;
  if (field == SCREE_ARRAY_FIELDS) {
    PyErr_Format(core_errors.input, "name: there is no array '%.100s'", name);
    return NULL;
  }
  scree_Array array;
  call_clear(&self->call);
  if (!call_succeeded(&self->call, scree_world_array(self->world, (scree_ArrayField)field, &array)))
    return NULL;
  ViewObject *view = view_alloc(self, self->changes, name);
  if (!view) return NULL;
  view->type = type_number(array.type);
  view->nd = array.components == 1 ? 1 : 2;
  view->shape[0] = array.count;
  view->shape[1] = array.components;
  view->strides[0] = (npy_intp)array.stride;
  view->strides[1] = array.type == SCREE_VALUE_DOUBLE ? 8 : array.type == SCREE_VALUE_UINT8 ? 1 : 4;
  view->data = array.data;
  return (PyObject *)view;
}

static bool view_fresh(const ViewObject *self) {
  if (self->world->busy) {
    PyErr_Format(core_errors.busy, "%s: the world is in use by another thread or by a callback",
                 self->name);
    return false;
  }
  if (self->world->world && self->changes == self->world->changes) return true;
  PyErr_Format(core_errors.stale,
               self->world->world
                   ? "%s: the world has changed since this array was taken: take it again, or "
                     "keep a copy (numpy.array)"
                   : "%s: the world was closed",
               self->name);
  return false;
}

/* A NumPy array for the moment. */
static PyObject *view_array(PyObject *object, PyObject *none) {
  (void)none;
  ViewObject *self = (ViewObject *)object;
  static double nothing;
  if (!view_fresh(self)) return NULL;
  void *data = self->data ? (void *)self->data : (void *)&nothing;
  PyObject *array = PyArray_New(&PyArray_Type, self->nd, self->shape, self->type, self->strides,
                                data, 0, 0, NULL);
  if (!array) return NULL;
  GuardObject *guard = PyObject_New(GuardObject, &GuardType);
  if (!guard) {
    Py_DECREF(array);
    return NULL;
  }
  Py_INCREF(self->world);
  guard->world = self->world;
  ++self->world->guards;
  PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
  if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)guard) != 0) {
    Py_DECREF(array); /* the guard is gone already */
    return NULL;
  }
  PyArray_UpdateFlags((PyArrayObject *)array,
                      NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
  return array;
}

/* Whether an array lies over the memory of a world: its chain of bases ends in a guard. */
static GuardObject *guard_of(PyObject *object) {
  while (object && PyArray_Check(object)) object = PyArray_BASE((PyArrayObject *)object);
  return object && Py_TYPE(object) == &GuardType ? (GuardObject *)object : NULL;
}

/* An array that still looks into the world becomes a View; all else stays as it is. */
static PyObject *view_wrap(PyObject *object, PyObject *value) {
  ViewObject *self = (ViewObject *)object;
  PyArrayObject *array = (PyArrayObject *)value;
  if (!PyArray_Check(value) || !guard_of(value)) {
    Py_INCREF(value);
    return value;
  }
  if (PyArray_NDIM(array) > DIMENSIONS || PyArray_DESCR(array)->names)
    return PyArray_NewCopy(array, NPY_KEEPORDER);
  ViewObject *view = view_alloc(self->world, self->changes, self->name);
  if (!view) return NULL;
  view->type = PyArray_TYPE(array);
  view->nd = PyArray_NDIM(array);
  for (int k = 0; k < view->nd; ++k) {
    view->shape[k] = PyArray_DIM(array, k);
    view->strides[k] = PyArray_STRIDE(array, k);
  }
  view->data = PyArray_DATA(array);
  return (PyObject *)view;
}

static PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  (void)args;
  (void)kw;
  PyErr_Format(PyExc_TypeError, "%s: taken from a world, not made", type->tp_name);
  return NULL;
}

static void view_dealloc(PyObject *object) {
  ViewObject *self = (ViewObject *)object;
  Py_XDECREF(self->world);
  Py_TYPE(object)->tp_free(object);
}

/* ---- what is known without looking ----------------------------------------------------------- */

static PyObject *get_shape(PyObject *object, void *unused) {
  (void)unused;
  ViewObject *self = (ViewObject *)object;
  return PyArray_IntTupleFromIntp(self->nd, self->shape);
}

static PyObject *get_valid(PyObject *object, void *unused) {
  (void)unused;
  const ViewObject *self = (ViewObject *)object;
  return PyBool_FromLong(self->world->world && self->changes == self->world->changes);
}

static PyObject *get_name(PyObject *object, void *unused) {
  (void)unused;
  return PyUnicode_FromString(((ViewObject *)object)->name);
}

static Py_ssize_t view_length(PyObject *object) {
  const ViewObject *self = (ViewObject *)object;
  if (self->nd > 0) return self->shape[0];
  PyErr_SetString(PyExc_TypeError, "len() of an array without dimensions");
  return -1;
}

/* The Python class whose instances Views are from now on. */
static PyObject *view_use_class(PyObject *type, PyObject *class_) {
  (void)type;
  if (!PyType_Check(class_) || !PyType_IsSubtype((PyTypeObject *)class_, &ViewType)) {
    PyErr_SetString(PyExc_TypeError, "class: expected a class made from View");
    return NULL;
  }
  Py_INCREF(class_);
  Py_XSETREF(view_class, class_);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_array", view_array, METH_NOARGS,
     "_array()\n--\n\nA NumPy array over the memory; the world cannot change while it exists."},
    {"_wrap", view_wrap, METH_O,
     "_wrap(value)\n--\n\nReplace an array over memory of the world by a View."},
    {"_use_class", view_use_class, METH_O | METH_STATIC,
     "_use_class(cls)\n--\n\nSet the class of the Views that worlds return."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getset[] = {{"shape", get_shape, NULL, "As of a NumPy array.", NULL},
                               {"valid", get_valid, NULL, "The world has not changed since.", NULL},
                               {"name", get_name, NULL, "Of the array in the world.", NULL},
                               {NULL, NULL, NULL, NULL, NULL}};

static PySequenceMethods sequence = {.sq_length = view_length};

static PyTypeObject ViewType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "scree._core.View",
    .tp_basicsize = sizeof(ViewObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "An array that looks into a world, valid until the world changes.",
    .tp_new = view_new,
    .tp_dealloc = view_dealloc,
    .tp_methods = methods,
    .tp_getset = getset,
    .tp_as_sequence = &sequence,
};

bool view_ready(PyObject *module) {
  return PyType_Ready(&GuardType) == 0 && PyModule_AddType(module, &ViewType) == 0;
}

/* Shapes as scenes have them: a dict with `kind` and the parameters of the kind, vertices for
 * polygons, parts for clumps. */
#include "core.h"

#include <string.h>

static bool given(PyObject *object) {
  return object && object != Py_None;
}

enum { PARAMETERS = 16 };

static bool known_key(const scree_ShapeType *type, const char *key) {
  if (strcmp(key, "kind") == 0) return true;
  if (strcmp(key, "vertices") == 0 && type->takes_vertices) return true;
  if (strcmp(key, "parts") == 0 && type->takes_parts) return true;
  if (strcmp(key, "triangles") == 0 && type->takes_triangles) return true;
  for (int p = 0; p < type->parameter_count; ++p)
    if (strcmp(key, type->parameters[p].name) == 0) return true;
  return false;
}

static bool read_parameters(PyObject *dict, const scree_ShapeType *type, double *values) {
  PyObject *key, *item;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &item);) {
    const char *word = as_text(key, "shape");
    if (!word) return false;
    if (!known_key(type, word)) {
      PyErr_Format(core_errors.input, "shape: a %s has no parameter '%.100s'", type->name, word);
      return false;
    }
  }
  for (int p = 0; p < type->parameter_count && p < PARAMETERS; ++p) {
    const scree_ShapeParameter *parameter = &type->parameters[p];
    values[p] = parameter->fallback;
    item = PyDict_GetItemString(dict, parameter->name);
    if (given(item)) {
      char name[64];
      snprintf(name, sizeof name, "shape: %s", parameter->name);
      if (!as_double(item, name, &values[p])) return false;
    } else if (parameter->required) {
      PyErr_Format(core_errors.input, "shape: a %s needs %s: %s", type->name, parameter->name,
                   parameter->help);
      return false;
    }
  }
  return true;
}

static bool read_vertices(PyObject *item, scree_Vec3 **vertices, int *count) {
  const npy_intp any[2] = {-1, -1};
  PyArrayObject *array = as_doubles(item, "shape: vertices", 2, any);
  if (!array) return false;
  const npy_intp n = PyArray_DIM(array, 0), width = PyArray_DIM(array, 1);
  *vertices = NULL;
  if (n > 1000000 || width < 2 || width > 3)
    PyErr_SetString(core_errors.input, "shape: vertices: expected rows of 2 or 3 numbers");
  else if (!(*vertices = PyMem_Calloc((size_t)n + 1, sizeof **vertices)))
    PyErr_NoMemory();
  for (npy_intp k = 0; *vertices && k < n; ++k) {
    const double *x = doubles(array) + k * width;
    (*vertices)[k] = (scree_Vec3){x[0], x[1], width == 3 ? x[2] : 0};
  }
  *count = (int)n;
  Py_DECREF(array);
  return *vertices != NULL;
}

/* ---- poses ----------------------------------------------------------------------------------- */

static scree_Vec3 cross(scree_Vec3 a, scree_Vec3 b) {
  return (scree_Vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* q v q* = v + 2 w (q x v) + 2 q x (q x v) */
static scree_Vec3 turn(scree_Quat q, scree_Vec3 v) {
  const scree_Vec3 axis = {q.x, q.y, q.z}, once = cross(axis, v), twice = cross(axis, once);
  return (scree_Vec3){v.x + 2 * (q.w * once.x + twice.x), v.y + 2 * (q.w * once.y + twice.y),
                      v.z + 2 * (q.w * once.z + twice.z)};
}

static scree_Quat product(scree_Quat a, scree_Quat b) {
  return (scree_Quat){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

scree_Pose shape_typed_pose(const scree_Shape *shape, scree_Pose pose) {
  const scree_Pose frame = scree_shape_frame(shape);
  const scree_Vec3 moved = turn(pose.orientation, frame.position);
  pose.position.x += moved.x;
  pose.position.y += moved.y;
  pose.position.z += moved.z;
  if (frame.orientation.w != 1) pose.orientation = product(pose.orientation, frame.orientation);
  return pose;
}

/* ---- clumps ---------------------------------------------------------------------------------- */

static bool read_part(WorldObject *self, PyObject *item, int depth, scree_ClumpPart *part);

/* A list of dicts with shape, position, rotation. */
static bool read_parts(WorldObject *self, PyObject *object, int depth, scree_Shape *shape) {
  PyObject *items = PySequence_Fast(object, "shape: parts: expected a list of dicts");
  if (!items) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  scree_ClumpPart *parts = NULL;
  bool good = count <= 100000;
  if (!good) PyErr_SetString(core_errors.input, "shape: parts: too many of them");
  if (good && !(parts = PyMem_Calloc((size_t)count + 1, sizeof *parts))) {
    PyErr_NoMemory();
    good = false;
  }
  Py_ssize_t made = 0;
  for (; good && made < count; ++made)
    if (!read_part(self, PySequence_Fast_GET_ITEM(items, made), depth, &parts[made])) {
      good = false;
      break;
    }
  if (good)
    good = call_succeeded(&self->call,
                          scree_shape_init_clump(shape, parts, (int)count, &self->call.log));
  for (Py_ssize_t k = 0; k < made; ++k) scree_shape_fini(&parts[k].shape);
  PyMem_Free(parts);
  Py_DECREF(items);
  return good;
}

/* A shape as scenes have it: a dict with `kind`, and the parameters of the kind. */
static bool read_shape(WorldObject *self, PyObject *object, int depth, scree_Shape *shape) {
  if (!PyDict_Check(object)) {
    PyErr_Format(PyExc_TypeError, "shape: expected a dict with kind, found %.100s",
                 Py_TYPE(object)->tp_name);
    return false;
  }
  PyObject *kind_object = PyDict_GetItemString(object, "kind");
  if (!kind_object) {
    PyErr_SetString(core_errors.input, "shape: kind is missing");
    return false;
  }
  const char *word = as_text(kind_object, "shape: kind");
  if (!word) return false;
  const scree_ShapeKind kind = scree_shape_kind(word, world_dimension(self));
  if (kind == SCREE_SHAPE_KINDS) {
    PyErr_Format(core_errors.input, "shape: there is no shape '%.100s' in dimension %d", word,
                 world_dimension(self));
    return false;
  }
  const scree_ShapeType *type = scree_shape_type(kind);
  if (type->takes_parts) {
    PyObject *parts = PyDict_GetItemString(object, "parts");
    if (given(parts) && depth == 0) return read_parts(self, parts, depth + 1, shape);
    PyErr_SetString(core_errors.input,
                    depth ? "shape: a part of a clump is a clump" : "shape: a clump needs parts");
    return false;
  }
  double values[PARAMETERS] = {0};
  if (!read_parameters(object, type, values)) return false;
  scree_Vec3 *vertices = NULL;
  int count = 0;
  PyObject *item = PyDict_GetItemString(object, "vertices");
  if (given(item) && !read_vertices(item, &vertices, &count)) return false;
  PyObject *corners = type->takes_triangles ? PyDict_GetItemString(object, "triangles") : NULL;
  const npy_intp shape_of[2] = {-1, 3};
  PyArrayObject *triangles = NULL;
  if (given(corners) && !(triangles = as_ints(corners, "shape: triangles", 2, shape_of))) {
    PyMem_Free(vertices);
    return false;
  }
  const scree_Log *log = &self->call.log;
  const bool good = call_succeeded(
      &self->call, triangles ? scree_shape_init_mesh(shape, vertices, count, ints(triangles),
                                                     (int)PyArray_DIM(triangles, 0), log)
                             : scree_shape_init(shape, kind, values, vertices, count, log));
  PyMem_Free(vertices);
  Py_XDECREF(triangles);
  return good;
}

static bool read_part(WorldObject *self, PyObject *item, int depth, scree_ClumpPart *part) {
  const int dimension = world_dimension(self);
  if (!PyDict_Check(item)) {
    PyErr_Format(PyExc_TypeError, "shape: parts: expected dicts, found %.100s",
                 Py_TYPE(item)->tp_name);
    return false;
  }
  PyObject *shape = PyDict_GetItemString(item, "shape");
  PyObject *position = PyDict_GetItemString(item, "position");
  PyObject *rotation = PyDict_GetItemString(item, "rotation");
  part->pose.orientation.w = 1;
  if (!shape) {
    PyErr_SetString(core_errors.input, "shape: parts: a part has no shape");
    return false;
  }
  if ((given(position) && !as_vector(position, "position", dimension, &part->pose.position)) ||
      (given(rotation) && !as_quaternion(rotation, "rotation", dimension, &part->pose.orientation)))
    return false;
  if (!read_shape(self, shape, depth, &part->shape)) return false;
  part->pose = shape_typed_pose(&part->shape, part->pose);
  return true;
}

bool shape_from(WorldObject *self, PyObject *object, scree_Shape *shape) {
  return read_shape(self, object, 0, shape);
}

/* ---- back ------------------------------------------------------------------------------------ */

static PyObject *part_dict(const scree_ClumpPart *part) {
  const scree_Vec3 x = part->pose.position;
  const scree_Quat q = part->pose.orientation;
  return Py_BuildValue("{s:N,s:(ddd),s:(dddd)}", "shape", shape_dict(&part->shape), "position", x.x,
                       x.y, x.z, "rotation", q.w, q.x, q.y, q.z);
}

static PyObject *part_list(const scree_Shape *shape) {
  PyObject *list = PyList_New(0);
  for (int k = 0; list && k < scree_shape_part_count(shape); ++k) {
    PyObject *part = part_dict(scree_shape_part(shape, k));
    if (!part || PyList_Append(list, part) != 0) Py_CLEAR(list);
    Py_XDECREF(part);
  }
  return list;
}

PyObject *shape_dict(const scree_Shape *shape) {
  const scree_ShapeType *type = scree_shape_type(shape->kind);
  PyObject *dict = Py_BuildValue("{s:s}", "kind", type->name);
  for (int p = 0; dict && p < type->parameter_count; ++p) {
    const double value = *(const double *)((const char *)shape + type->parameters[p].offset);
    PyObject *number = PyFloat_FromDouble(value);
    if (!number || PyDict_SetItemString(dict, type->parameters[p].name, number) != 0)
      Py_CLEAR(dict);
    Py_XDECREF(number);
  }
  if (dict && type->takes_vertices) {
    const npy_intp size[2] = {shape->vertex_count, 3};
    PyObject *vertices = new_doubles(2, size, (const double *)shape->vertices);
    if (!vertices || PyDict_SetItemString(dict, "vertices", vertices) != 0) Py_CLEAR(dict);
    Py_XDECREF(vertices);
  }
  if (dict && type->takes_triangles) {
    const scree_Vec3 *corners;
    const npy_intp size[2] = {scree_shape_triangle_count(shape), 3};
    const int *numbers = scree_shape_triangles(shape, &corners);
    PyObject *triangles = PyArray_SimpleNew(2, size, NPY_INT);
    if (triangles && size[0])
      memcpy(ints((PyArrayObject *)triangles), numbers, (size_t)size[0] * 3 * sizeof *numbers);
    if (!triangles || PyDict_SetItemString(dict, "triangles", triangles) != 0) Py_CLEAR(dict);
    Py_XDECREF(triangles);
  }
  if (dict && type->takes_parts) {
    PyObject *parts = part_list(shape);
    if (!parts || PyDict_SetItemString(dict, "parts", parts) != 0) Py_CLEAR(dict);
    Py_XDECREF(parts);
  }
  return dict;
}

/* Arguments of Python into numbers, words and arrays. Every message begins with the name of the
 * argument and says what was found and what is expected. */
#include "core.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* "(3, 2)" of a shape, "any" where an entry is negative. */
static void describe(char *text, size_t size, int nd, const npy_intp *shape) {
  size_t at = (size_t)snprintf(text, size, "(");
  for (int k = 0; k < nd && at < size; ++k) {
    const char *after = k + 1 < nd ? ", " : nd == 1 ? "," : "";
    at += (size_t)(shape[k] < 0
                       ? snprintf(text + at, size - at, "any%s", after)
                       : snprintf(text + at, size - at, "%lld%s", (long long)shape[k], after));
  }
  if (at < size) snprintf(text + at, size - at, ")");
}

static bool check_shape(PyArrayObject *array, const char *name, int nd, const npy_intp *shape) {
  bool same = PyArray_NDIM(array) == nd;
  for (int k = 0; k < nd && same; ++k) same = shape[k] < 0 || shape[k] == PyArray_DIM(array, k);
  if (same) return true;
  char found[128], expected[128];
  describe(found, sizeof found, PyArray_NDIM(array), PyArray_DIMS(array));
  describe(expected, sizeof expected, nd, shape);
  PyErr_Format(core_errors.input, "%s: found an array of shape %s, expected %s", name, found,
               expected);
  return false;
}

/* NumPy's own message after the name of the argument. */
static void name_error(PyObject *object, const char *name, const char *expected) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (type && !PyErr_GivenExceptionMatches(type, PyExc_Exception)) {
    PyErr_Restore(type, value, trace);
    return;
  }
  if (type && PyErr_GivenExceptionMatches(type, PyExc_MemoryError)) {
    PyErr_Restore(type, value, trace);
    return;
  }
  PyErr_Format(PyExc_TypeError, "%s: expected %s, found %.100s%s%S", name, expected,
               Py_TYPE(object)->tp_name, value ? ": " : "", value ? value : Py_None);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

PyArrayObject *as_doubles(PyObject *object, const char *name, int nd, const npy_intp *shape) {
  PyArrayObject *any = (PyArrayObject *)PyArray_FROM_O(object);
  PyArrayObject *array = NULL;
  if (any) {
    const int type = PyArray_TYPE(any);
    if (!PyTypeNum_ISNUMBER(type) && !PyTypeNum_ISBOOL(type)) {
      PyErr_SetString(PyExc_TypeError, "not numbers");
    } else {
      array = (PyArrayObject *)PyArray_FROM_OTF((PyObject *)any, NPY_DOUBLE,
                                                NPY_ARRAY_IN_ARRAY | NPY_ARRAY_ENSUREARRAY);
    }
    Py_DECREF(any);
  }
  if (!array) {
    name_error(object, name, "an array of numbers");
    return NULL;
  }
  if (!check_shape(array, name, nd, shape)) {
    Py_DECREF(array);
    return NULL;
  }
  const double *x = doubles(array);
  const npy_intp count = PyArray_SIZE(array);
  for (npy_intp k = 0; k < count; ++k)
    if (!isfinite(x[k])) {
      PyErr_Format(core_errors.input, "%s: entry %lld is %s, expected finite numbers", name,
                   (long long)k, isnan(x[k]) ? "nan" : "infinite");
      Py_DECREF(array);
      return NULL;
    }
  return array;
}

PyArrayObject *as_ints(PyObject *object, const char *name, int nd, const npy_intp *shape) {
  PyArrayObject *any = (PyArrayObject *)PyArray_FROM_O(object);
  PyArrayObject *wide = NULL;
  if (any) {
    /* an empty list is an array of doubles */
    if (PyArray_SIZE(any) > 0 && !PyTypeNum_ISINTEGER(PyArray_TYPE(any)))
      PyErr_SetString(PyExc_TypeError, "not integers");
    else
      wide = (PyArrayObject *)PyArray_FROM_OTF((PyObject *)any, NPY_INT64,
                                               NPY_ARRAY_IN_ARRAY | NPY_ARRAY_ENSUREARRAY |
                                                   NPY_ARRAY_FORCECAST);
    Py_DECREF(any);
  }
  if (!wide) {
    name_error(object, name, "an array of integers");
    return NULL;
  }
  if (!check_shape(wide, name, nd, shape)) {
    Py_DECREF(wide);
    return NULL;
  }
  const int64_t *x = (const int64_t *)PyArray_DATA(wide);
  const npy_intp count = PyArray_SIZE(wide);
  for (npy_intp k = 0; k < count; ++k)
    if (x[k] < INT_MIN || x[k] > INT_MAX) {
      PyErr_Format(core_errors.input, "%s: entry %lld is %lld, expected %d to %d", name,
                   (long long)k, (long long)x[k], INT_MIN, INT_MAX);
      Py_DECREF(wide);
      return NULL;
    }
  PyArrayObject *array = (PyArrayObject *)PyArray_FROM_OTF(
      (PyObject *)wide, NPY_INT, NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST);
  Py_DECREF(wide);
  return array;
}

bool as_double(PyObject *object, const char *name, double *value) {
  if (PyUnicode_Check(object) || PyBytes_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s: expected a number, found a text", name);
    return false;
  }
  *value = PyFloat_AsDouble(object);
  if (*value == -1 && PyErr_Occurred()) {
    name_error(object, name, "a number");
    return false;
  }
  if (isnan(*value)) {
    PyErr_Format(core_errors.input, "%s: found nan, expected a number", name);
    return false;
  }
  return true;
}

bool as_int(PyObject *object, const char *name, int min, int *value) {
  PyObject *index = PyNumber_Index(object);
  if (!index) {
    name_error(object, name, "an integer");
    return false;
  }
  int overflow = 0;
  const long long found = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  if (overflow != 0 || found < min || found > INT_MAX) {
    PyErr_Format(core_errors.input, "%s: found %S, expected an integer from %d to %d", name, object,
                 min, INT_MAX);
    return false;
  }
  *value = (int)found;
  return true;
}

static bool as_few(PyObject *object, const char *name, int least, int most, double *values,
                   int *count) {
  const npy_intp any = -1;
  PyArrayObject *array = as_doubles(object, name, 1, &any);
  if (!array) return false;
  const npy_intp n = PyArray_SIZE(array);
  if (n < least || n > most) {
    if (least == most)
      PyErr_Format(core_errors.input, "%s: found %lld numbers, expected %d", name, (long long)n,
                   least);
    else
      PyErr_Format(core_errors.input, "%s: found %lld numbers, expected %d or %d", name,
                   (long long)n, least, most);
    Py_DECREF(array);
    return false;
  }
  memcpy(values, doubles(array), (size_t)n * sizeof *values);
  *count = (int)n;
  Py_DECREF(array);
  return true;
}

bool as_vector(PyObject *object, const char *name, int dimension, scree_Vec3 *vector) {
  double x[3] = {0, 0, 0};
  int count;
  if (!as_few(object, name, dimension == 2 ? 2 : 3, 3, x, &count)) return false;
  if (dimension == 2 && x[2] != 0) {
    PyErr_Format(core_errors.input, "%s: z is not zero in a world of dimension 2", name);
    return false;
  }
  *vector = (scree_Vec3){x[0], x[1], x[2]};
  return true;
}

bool as_spin(PyObject *object, const char *name, int dimension, scree_Vec3 *vector) {
  if (dimension == 2 && PyNumber_Check(object) && !PySequence_Check(object)) {
    *vector = (scree_Vec3){0, 0, 0};
    if (!as_double(object, name, &vector->z)) return false;
    if (isfinite(vector->z)) return true;
    PyErr_Format(core_errors.input, "%s: found an infinite number", name);
    return false;
  }
  double x[3] = {0, 0, 0};
  int count;
  if (!as_few(object, name, 3, 3, x, &count)) return false;
  if (dimension == 2 && (x[0] != 0 || x[1] != 0)) {
    PyErr_Format(core_errors.input, "%s: x and y are not zero in a world of dimension 2", name);
    return false;
  }
  *vector = (scree_Vec3){x[0], x[1], x[2]};
  return true;
}

bool as_quaternion(PyObject *object, const char *name, int dimension, scree_Quat *quat) {
  if (dimension == 2 && PyNumber_Check(object) && !PySequence_Check(object)) {
    double angle;
    if (!as_double(object, name, &angle)) return false;
    if (!isfinite(angle)) {
      PyErr_Format(core_errors.input, "%s: found an infinite angle", name);
      return false;
    }
    *quat = (scree_Quat){cos(angle / 2), 0, 0, sin(angle / 2)};
    return true;
  }
  double x[4];
  int count;
  if (!as_few(object, name, 4, 4, x, &count)) return false;
  const double length = hypot(hypot(x[0], x[1]), hypot(x[2], x[3]));
  if (!(length > 0) || !isfinite(length)) {
    PyErr_Format(core_errors.input, "%s: a quaternion of length zero is no rotation", name);
    return false;
  }
  /* one that is a unit quaternion up to rounding keeps its bits */
  const double scale = fabs(length - 1) < 1e-15 ? 1 : length;
  *quat = (scree_Quat){x[0] / scale, x[1] / scale, x[2] / scale, x[3] / scale};
  return true;
}

const char *as_text(PyObject *object, const char *name) {
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s: expected a text, found %.100s", name,
                 Py_TYPE(object)->tp_name);
    return NULL;
  }
  Py_ssize_t size;
  const char *text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text && strlen(text) != (size_t)size) {
    PyErr_Format(core_errors.input, "%s: the text contains a null character", name);
    return NULL;
  }
  return text;
}

int as_choice(PyObject *object, const char *name, const char *const *words) {
  const char *word = as_text(object, name);
  if (!word) return -1;
  for (int k = 0; words[k]; ++k)
    if (strcmp(words[k], word) == 0) return k;
  char list[512] = "";
  for (int k = 0; words[k]; ++k) {
    const size_t at = strlen(list);
    snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "", words[k]);
  }
  PyErr_Format(core_errors.input, "%s: found '%.100s', expected one of %s", name, word, list);
  return -1;
}

PyObject *as_path(PyObject *object, const char *name) {
  PyObject *bytes = NULL;
  if (!PyUnicode_FSConverter(object, &bytes)) {
    name_error(object, name, "a path");
    return NULL;
  }
  return bytes;
}

/* An option's value as the program's user would type it: yes and no, the shortest digits. */
static PyObject *option_text(PyObject *value) {
  if (value == Py_True) return PyUnicode_FromString("yes");
  if (value == Py_False) return PyUnicode_FromString("no");
  return PyObject_Str(value);
}

bool as_options(PyObject *object, const char *name, char ***list) {
  *list = NULL;
  if (!object || object == Py_None) return true;
  if (!PyDict_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s: expected a dict, found %.100s", name,
                 Py_TYPE(object)->tp_name);
    return false;
  }
  /* pointers and texts in one block */
  PyObject *texts = PyList_New(0), *key, *value;
  Py_ssize_t at = 0;
  size_t bytes = 0;
  bool good = texts != NULL;
  while (good && PyDict_Next(object, &at, &key, &value)) {
    const char *word = as_text(key, name);
    PyObject *text = word ? option_text(value) : NULL;
    PyObject *pair = text ? PyUnicode_FromFormat("%s=%U", word, text) : NULL;
    good = pair && as_text(pair, name) && PyList_Append(texts, pair) == 0;
    if (good) bytes += strlen(PyUnicode_AsUTF8(pair)) + 1;
    Py_XDECREF(text);
    Py_XDECREF(pair);
  }
  const Py_ssize_t count = good ? PyList_GET_SIZE(texts) : 0;
  char **made = good ? PyMem_Malloc(((size_t)count + 1) * sizeof *made + bytes) : NULL;
  if (good && !made) PyErr_NoMemory();
  if (made) {
    char *text = (char *)(made + count + 1);
    for (Py_ssize_t k = 0; k < count; ++k) {
      made[k] = text;
      const char *from = PyUnicode_AsUTF8(PyList_GET_ITEM(texts, k));
      const size_t size = strlen(from) + 1;
      memcpy(text, from, size);
      text += size;
    }
    made[count] = NULL;
  }
  Py_XDECREF(texts);
  *list = made;
  return made != NULL;
}

PyObject *new_doubles(int nd, const npy_intp *shape, const double *data) {
  PyObject *array = PyArray_SimpleNew(nd, shape, NPY_DOUBLE);
  if (!array) return NULL;
  const size_t size = (size_t)PyArray_SIZE((PyArrayObject *)array) * sizeof(double);
  if (size) memcpy(doubles((PyArrayObject *)array), data, size);
  return array;
}

PyObject *new_look(PyObject *owner, int nd, const npy_intp *shape, int type, const void *data) {
  static double nothing; /* NumPy allocates when it is given no memory */
  PyObject *array =
      PyArray_New(&PyArray_Type, nd, shape, type, NULL, data ? (void *)data : (void *)&nothing, 0,
                  NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED, NULL);
  if (!array) return NULL;
  Py_INCREF(owner);
  if (PyArray_SetBaseObject((PyArrayObject *)array, owner) != 0) {
    Py_DECREF(array);
    return NULL;
  }
  return array;
}

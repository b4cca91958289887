/* The module scree._core: exceptions, tables of what the library has, and the types. */
#define SCREE_CORE_IMPORTS_ARRAY
#include "core.h"

CoreErrors core_errors;

/* Parameters of a law, each with its default and help. */
static PyObject *law_parameters(const char *law) {
  const scree_OptionTable *table = scree_law_options(law);
  PyObject *dict = PyDict_New();
  for (int k = 0; dict && k < table->count; ++k) {
    PyObject *entry = Py_BuildValue("{s:d,s:s}", "default", table->options[k].preset, "help",
                                    table->options[k].help);
    if (!entry || PyDict_SetItemString(dict, table->options[k].name, entry) != 0) Py_CLEAR(dict);
    Py_XDECREF(entry);
  }
  return dict;
}

static PyObject *core_laws(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *dict = PyDict_New();
  for (int k = 0; dict && scree_law_name(k); ++k) {
    const char *name = scree_law_name(k);
    PyObject *law = Py_BuildValue("{s:s,s:N}", "summary", scree_law_summary(name), "parameters",
                                  law_parameters(name));
    if (!law || PyDict_SetItemString(dict, name, law) != 0) Py_CLEAR(dict);
    Py_XDECREF(law);
  }
  return dict;
}

static PyObject *core_schemes(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *dict = PyDict_New();
  for (int k = 0; dict && scree_scheme_name(k); ++k) {
    PyObject *text = PyUnicode_FromString(scree_scheme_summary(scree_scheme_name(k)));
    if (!text || PyDict_SetItemString(dict, scree_scheme_name(k), text) != 0) Py_CLEAR(dict);
    Py_XDECREF(text);
  }
  return dict;
}

static PyObject *shape_parameters(const scree_ShapeType *type) {
  PyObject *dict = PyDict_New();
  for (int p = 0; dict && p < type->parameter_count; ++p) {
    PyObject *help = PyUnicode_FromString(type->parameters[p].help);
    if (!help || PyDict_SetItemString(dict, type->parameters[p].name, help) != 0) Py_CLEAR(dict);
    Py_XDECREF(help);
  }
  return dict;
}

static PyObject *core_shapes(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  PyObject *list = PyList_New(0);
  for (int k = 0; list && k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    PyObject *shape = Py_BuildValue(
        "{s:s,s:i,s:s,s:N,s:N,s:N}", "kind", type->name, "dimension", type->dimension, "summary",
        type->summary, "bounded", PyBool_FromLong(type->bounded), "vertices",
        PyBool_FromLong(type->takes_vertices), "parameters", shape_parameters(type));
    if (!shape || PyList_Append(list, shape) != 0) Py_CLEAR(list);
    Py_XDECREF(shape);
  }
  return list;
}

static PyMethodDef functions[] = {
    {"measure", (PyCFunction)(void (*)(void))core_measure, METH_VARARGS | METH_KEYWORDS,
     "measure(problem, r, u=None)\n--\n\n"
     "Every error of impulses r, with u = W r + q computed here: (Measures, u)."},
    {"run", (PyCFunction)(void (*)(void))core_run, METH_VARARGS | METH_KEYWORDS,
     "run(scene, folder, until=None, steps=None, resume=False, replace=False, threads=None, "
     "progress=None)\n--\n\n"
     "Run a scene into a folder, as `scree run` does, and return its summary. progress(report, "
     "end) is\n"
     "called after each step and may return true to stop."},
    {"write_png", (PyCFunction)(void (*)(void))core_write_png, METH_VARARGS | METH_KEYWORDS,
     "write_png(path, pixels)\n--\n\nWrite an array (height, width, 3) of uint8 as PNG."},
    {"solvers", core_solvers, METH_NOARGS,
     "solvers()\n--\n\nThe solvers by name, each with its summary, reference and options."},
    {"laws", core_laws, METH_NOARGS,
     "laws()\n--\n\nThe contact laws by name, each with its summary and parameters."},
    {"schemes", core_schemes, METH_NOARGS, "schemes()\n--\n\nThe time schemes: summaries by name."},
    {"joints", core_joints, METH_NOARGS, "joints()\n--\n\nThe joints: summaries by name."},
    {"shapes", core_shapes, METH_NOARGS,
     "shapes()\n--\n\nThe shapes of bodies and obstacles, with their parameters."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "scree._core",
    .m_doc = "The library libscree. Use the package scree, which is made of this.",
    .m_size = -1,
    .m_methods = functions,
};

static bool add_error(PyObject *module, PyObject **error, const char *name, const char *doc,
                      PyObject *bases) {
  char full[64];
  snprintf(full, sizeof full, "scree.%s", name);
  *error = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
  return *error && PyModule_AddObjectRef(module, name, *error) == 0;
}

static bool add_errors(PyObject *module) {
  CoreErrors *e = &core_errors;
  if (!add_error(module, &e->base, "Error", "Of this library.", PyExc_Exception)) return false;
  PyObject *values = PyTuple_Pack(2, e->base, PyExc_ValueError);
  PyObject *machine = PyTuple_Pack(2, e->base, PyExc_RuntimeError);
  PyObject *stale = PyTuple_Pack(2, e->base, PyExc_RuntimeError);
  const bool good =
      values && machine && stale &&
      add_error(module, &e->input, "InputError",
                "Data or arguments are wrong; the message says where. Nothing was changed.",
                values) &&
      add_error(module, &e->machine, "MachineError",
                "The machine failed: out of memory, disk full, a file that cannot be written.",
                machine) &&
      add_error(module, &e->not_converged, "NotConverged",
                "The result is above the tolerance, and that was asked to be an exception.\n"
                "It is in the attribute `result`.",
                e->base) &&
      add_error(module, &e->interrupted, "Interrupted", "A callback asked to stop.", e->base) &&
      add_error(module, &e->stale, "StaleError",
                "An array of a world that has changed since, or was closed.", stale) &&
      add_error(module, &e->busy, "BusyError",
                "The object is in use by another thread or by a callback.", stale) &&
      add_error(module, &e->warning, "ScreeWarning", "A warning of the library.",
                PyExc_UserWarning);
  Py_XDECREF(values);
  Py_XDECREF(machine);
  Py_XDECREF(stale);
  return good;
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
  import_array();
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  if (PyModule_AddStringConstant(module, "__version__", scree_version()) != 0 || !files_init() ||
      !add_errors(module) || !records_init(module) || !problem_ready(module) ||
      !solver_ready(module) || !scene_ready(module) || !view_ready(module) ||
      !world_ready(module) || !replay_ready(module)) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}

/* Scene: a world described by YAML, read and checked. */
#include "core.h"

#include <string.h>

static PyObject *scene_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"path", "text", "name", "overrides", NULL};
  PyObject *path_object = Py_None, *text_object = Py_None, *name_object = Py_None;
  PyObject *overrides_object = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "|OOOO:Scene", words, &path_object, &text_object,
                                   &name_object, &overrides_object))
    return NULL;
  if ((path_object == Py_None) == (text_object == Py_None)) {
    PyErr_SetString(PyExc_TypeError, "path and text: expected one of them");
    return NULL;
  }
  const char *text = NULL, *name = "scene";
  if (text_object != Py_None && !(text = as_text(text_object, "text"))) return NULL;
  if (name_object != Py_None && !(name = as_text(name_object, "name"))) return NULL;
  char **overrides = NULL;
  if (!as_options(overrides_object, "set", &overrides)) return NULL;
  PyObject *path = NULL;
  if (!text && !(path = as_path(path_object, "scene"))) {
    PyMem_Free(overrides);
    return NULL;
  }
  Call call;
  call_init(&call);
  scree_Scene *scene = NULL;
  scree_Status status;
  const char *const *list = (const char *const *)overrides;
  if (text)
    CALL_WITHOUT_GIL(&call,
                     status = scree_scene_parse(text, strlen(text), name, list, &call.log, &scene));
  else
    CALL_WITHOUT_GIL(&call,
                     status = scree_scene_read(PyBytes_AS_STRING(path), list, &call.log, &scene));
  SceneObject *self = NULL;
  if (call_succeeded(&call, status)) self = (SceneObject *)type->tp_alloc(type, 0);
  if (self)
    self->scene = scene;
  else
    scree_scene_destroy(scene);
  call_clear(&call);
  Py_XDECREF(path);
  PyMem_Free(overrides);
  return (PyObject *)self;
}

static void scene_dealloc(PyObject *object) {
  scree_scene_destroy(((SceneObject *)object)->scene);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *get_text(PyObject *object, void *unused) {
  (void)unused;
  const char *text = scree_scene_text(((SceneObject *)object)->scene);
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *get_info(PyObject *object, void *unused) {
  (void)unused;
  const scree_SceneInfo info = scree_scene_info(((SceneObject *)object)->scene);
  return record_new(RECORD_SCENE, &info);
}

static PyObject *get_materials(PyObject *object, void *unused) {
  (void)unused;
  const scree_Scene *scene = ((SceneObject *)object)->scene;
  PyObject *list = PyList_New(0);
  const char *name;
  for (int k = 0; list && (name = scree_scene_material(scene, k, NULL, NULL)) != NULL; ++k) {
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    if (!text || PyList_Append(list, text) != 0) Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

static PyGetSetDef getset[] = {
    {"text", get_text, NULL, "The scene as YAML with every default written out.", NULL},
    {"info", get_info, NULL, "What would run.", NULL},
    {"materials", get_materials, NULL, "Names of the materials, by their numbers.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject SceneType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "scree._core.Scene",
    .tp_basicsize = sizeof(SceneObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Scene(path=None, text=None, name=None, overrides=None)\n--\n\n"
              "A scene from a file or from a text; `overrides` is a dict of path: value.",
    .tp_new = scene_new,
    .tp_dealloc = scene_dealloc,
    .tp_getset = getset,
};

bool scene_ready(PyObject *module) {
  return PyModule_AddType(module, &SceneType) == 0;
}

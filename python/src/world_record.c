/* The folder of a run for a world that Python builds and steps: each step adds its line, every so
 * many steps a frame, and the end makes results.h5. */
#include "core.h"

#include <math.h>
#include <string.h>

static bool given(PyObject *object) {
  return object && object != Py_None;
}

scree_Status world_record_step(WorldObject *self, const scree_StepReport *report) {
  if (!self->recorder) return SCREE_OK;
  scree_Status status = scree_recorder_step(self->recorder, report);
  if (status == SCREE_OK && scree_world_steps(self->world) % self->record_steps == 0)
    status = scree_recorder_frame(self->recorder);
  return status;
}

/* Names of the materials as a null-ended list of texts of the sequence; *list is freed with
 * PyMem_Free. */
static bool read_names(WorldObject *self, PyObject *names, const char ***list) {
  *list = NULL;
  if (!given(names)) return true;
  const int count = scree_world_material_count(self->world);
  PyObject *items = PySequence_Fast(names, "materials: expected a sequence of names");
  if (!items) return false;
  bool good = PySequence_Fast_GET_SIZE(items) == count;
  if (!good)
    PyErr_Format(core_errors.input, "materials: found %zd names, the world has %d materials",
                 PySequence_Fast_GET_SIZE(items), count);
  if (good) {
    *list = PyMem_Calloc((size_t)count + 1, sizeof **list);
    good = *list != NULL;
    if (!good) PyErr_NoMemory();
  }
  for (int k = 0; good && k < count; ++k)
    good = ((*list)[k] = as_text(PySequence_Fast_GET_ITEM(items, k), "materials")) != NULL;
  Py_DECREF(items); /* the texts live on in `names`, which the caller holds */
  if (!good) {
    PyMem_Free(*list);
    *list = NULL;
  }
  return good;
}

static bool read_interval(WorldObject *self, PyObject *every) {
  const double h = scree_world_get_settings(self->world)->step;
  double seconds = h;
  if (given(every) && !as_double(every, "every", &seconds)) return false;
  if (!(seconds > 0) || !(seconds / h < 1e15)) {
    PyErr_SetString(core_errors.input, "every: expected a time > 0");
    return false;
  }
  self->record_steps = (int64_t)fmax(1, round(seconds / h));
  return true;
}

static PyObject *world_start_recording(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"folder", "every", "title", "materials", "replace", "contacts", NULL};
  WorldObject *self = (WorldObject *)object;
  PyObject *folder_object, *every = NULL, *title = NULL, *names = NULL;
  int replace = 0, contacts = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOOpp:start_recording", words, &folder_object,
                                   &every, &title, &names, &replace, &contacts) ||
      !world_readable(self))
    return NULL;
  if (self->recorder) {
    PyErr_SetString(core_errors.input, "the world is being recorded already");
    return NULL;
  }
  scree_RecorderSettings settings = scree_recorder_settings();
  settings.replace = replace != 0;
  settings.contacts = contacts != 0;
  if (given(title) && !(settings.title = as_text(title, "title"))) return NULL;
  const char **list = NULL;
  if (!read_interval(self, every) || !read_names(self, names, &list)) return NULL;
  settings.material_names = list;
  PyObject *folder = as_path(folder_object, "folder");
  bool good = folder != NULL;
  if (good) {
    settings.folder = PyBytes_AS_STRING(folder);
    call_clear(&self->call);
    scree_Status status =
        scree_recorder_create(self->world, &settings, &self->call.log, &self->recorder);
    if (status == SCREE_OK) status = scree_recorder_frame(self->recorder);
    good = call_succeeded(&self->call, status);
    if (!good) {
      scree_recorder_destroy(self->recorder);
      self->recorder = NULL;
    }
  }
  PyMem_Free(list);
  Py_XDECREF(folder);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

static PyObject *world_stop_recording(PyObject *object, PyObject *none) {
  (void)none;
  WorldObject *self = (WorldObject *)object;
  if (!world_readable(self)) return NULL;
  if (!self->recorder) {
    PyErr_SetString(core_errors.input, "the world is not being recorded");
    return NULL;
  }
  call_clear(&self->call);
  scree_Status status;
  self->busy = true;
  CALL_ON_FILES(
      &self->call,
      {
        status = scree_recorder_frame(self->recorder);
        if (status == SCREE_OK) status = scree_recorder_write(self->recorder, true);
      },
      {
        self->busy = false;
        return NULL;
      });
  self->busy = false;
  scree_recorder_destroy(self->recorder);
  self->recorder = NULL;
  if (!call_succeeded(&self->call, status)) return NULL;
  Py_RETURN_NONE;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

PyMethodDef world_record_methods[] = {
    {"start_recording", KEYWORDS(world_start_recording),
     "start_recording(folder, every=None, title=None, materials=None, replace=False, "
     "contacts=True)\n--\n\n"
     "Write the steps that follow into the folder of a run, a frame every so many seconds."},
    {"stop_recording", world_stop_recording, METH_NOARGS,
     "stop_recording()\n--\n\nEnd the recording and write results.h5."},
    {NULL, NULL, 0, NULL}};

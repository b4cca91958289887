/* Runs of scenes into a folder from which they can be resumed, as `scree run` makes them. */
#include "core.h"

#include <string.h>

static bool given(PyObject *object) {
  return object && object != Py_None;
}

typedef struct RunArguments {
  SceneObject *scene;
  PyObject *folder; /* bytes */
  PyObject *progress;
  scree_RunSettings settings;
} RunArguments;

/* 1: it asks to stop, -1: it raised. With the GIL. */
static int call_progress(PyObject *progress, const scree_Run *run, const scree_StepReport *report) {
  PyObject *record = record_new(RECORD_STEP, report);
  if (!record) return -1;
  PyObject *answer = PyObject_CallFunction(progress, "Od", record, scree_run_end(run));
  Py_DECREF(record);
  if (!answer) return -1;
  const int stop = PyObject_IsTrue(answer);
  Py_DECREF(answer);
  return stop;
}

/* Step until the run is over. Returns the status of the first failure; an exception of the callback
 * is kept in the call, and ends the run as an interruption does: it can be resumed. */
static scree_Status steps(scree_Run *run, const RunArguments *from, Call *call) {
  scree_Status status = SCREE_OK;
  while (status <= SCREE_NOT_CONVERGED && !scree_run_is_over(run)) {
    scree_StepReport report;
    if (!files_lock()) return SCREE_INTERRUPTED;
    status = scree_run_step(run, &report);
    files_unlock();
    if (!from->progress || status > SCREE_NOT_CONVERGED) continue;
    call_acquire(call);
    const int stop = call_progress(from->progress, run, &report);
    if (stop < 0) call_keep_exception(call);
    call_release(call);
    if (stop != 0) break;
  }
  return status <= SCREE_NOT_CONVERGED ? SCREE_OK : status;
}

static PyObject *carry_out(const RunArguments *from) {
  Call call;
  call_init(&call);
  scree_RunSettings settings = from->settings;
  settings.folder = PyBytes_AS_STRING(from->folder);
  settings.interrupted = call_interrupted;
  settings.interrupted_user = &call;
  scree_Run *run = NULL;
  scree_RunSummary summary;
  scree_Status status;
  memset(&summary, 0, sizeof summary);
  if (!call_release_for_files(&call)) return NULL;
  status = scree_run_create(from->scene->scene, &settings, &call.log, &run);
  if (status == SCREE_OK) {
    files_unlock();
    status = steps(run, from, &call);
    (void)files_lock();
    const scree_Status closed = scree_run_close(run);
    if (status == SCREE_OK) status = closed;
    summary = scree_run_summary(run);
  }
  call_acquire_from_files(&call);
  PyObject *record = NULL;
  if (call_succeeded(&call, status)) record = record_new(RECORD_SUMMARY, &summary);
  scree_run_destroy(run);
  call_clear(&call);
  return record;
}

PyObject *core_run(PyObject *module, PyObject *args, PyObject *kw) {
  static char *words[] = {"scene",   "folder",  "until",    "steps", "resume",
                          "replace", "threads", "progress", NULL};
  (void)module;
  RunArguments from = {.settings = scree_run_settings()};
  PyObject *scene, *folder, *until = NULL, *count = NULL, *threads = NULL, *progress = NULL;
  int resume = 0, replace = 0, limit = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O!O|OOppOO:run", words, &SceneType, &scene, &folder,
                                   &until, &count, &resume, &replace, &threads, &progress))
    return NULL;
  if (given(until)) {
    if (!as_double(until, "until", &from.settings.until)) return NULL;
    if (!(from.settings.until > 0)) {
      PyErr_Format(core_errors.input, "until: found %R, expected a time > 0", until);
      return NULL;
    }
  }
  if (given(count) && !as_int(count, "steps", 1, &limit)) return NULL;
  if (given(threads) && !as_int(threads, "threads", 0, &from.settings.threads)) return NULL;
  if (from.settings.threads > 4096) {
    PyErr_SetString(core_errors.input, "threads: expected 0 to 4096");
    return NULL;
  }
  if (given(progress) && !PyCallable_Check(progress)) {
    PyErr_Format(PyExc_TypeError, "progress: expected a callable, found %.100s",
                 Py_TYPE(progress)->tp_name);
    return NULL;
  }
  from.settings.steps = limit;
  from.settings.resume = resume != 0;
  from.settings.replace = replace != 0;
  from.scene = (SceneObject *)scene;
  from.progress = given(progress) ? progress : NULL;
  from.folder = as_path(folder, "folder");
  if (!from.folder) return NULL;
  PyObject *summary = carry_out(&from);
  Py_DECREF(from.folder);
  return summary;
}

/* One call of the library. The GIL is released while C works, so messages are written into plain
 * memory here, and become exceptions and warnings of Python when the library has returned. The
 * library calls back from the thread that called it; callbacks take the GIL for as long as they
 * need it. */
#include "core.h"

#include <string.h>

static void keep(char *text, size_t size, const char *message) {
  const size_t length = strlen(text);
  if (length + 2 >= size) return;
  snprintf(text + length, size - length, "%s%s", length ? "\n" : "", message);
}

static void write_message(void *user, scree_LogLevel level, const char *message) {
  Call *call = user;
  if (level == SCREE_LOG_ERROR) keep(call->error, sizeof call->error, message);
  if (level == SCREE_LOG_WARNING) keep(call->warning, sizeof call->warning, message);
}

void call_init(Call *call) {
  memset(call, 0, sizeof *call);
  call->log = (scree_Log){write_message, call};
}

void call_clear(Call *call) {
  call->error[0] = call->warning[0] = 0;
  call->raised = false;
  Py_CLEAR(call->type);
  Py_CLEAR(call->value);
  Py_CLEAR(call->trace);
}

void call_release(Call *call) {
  call->state = PyEval_SaveThread();
}

void call_acquire(Call *call) {
  PyEval_RestoreThread(call->state);
  call->state = NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

static PyThread_type_lock files;
static unsigned long files_owner; /* thread that has the lock; read by itself only */

bool files_init(void) {
  if (!files) files = PyThread_allocate_lock();
  return files != NULL;
}

bool files_lock(void) {
  if (files_owner == PyThread_get_thread_ident()) return false;
  (void)PyThread_acquire_lock(files, WAIT_LOCK);
  files_owner = PyThread_get_thread_ident();
  return true;
}

void files_unlock(void) {
  files_owner = 0;
  PyThread_release_lock(files);
}

bool call_release_for_files(Call *call) {
  call_release(call);
  if (files_lock()) return true;
  call_acquire(call);
  PyErr_SetString(core_errors.busy, "files are being written by this thread already");
  return false;
}

void call_acquire_from_files(Call *call) {
  files_unlock();
  call_acquire(call);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

void call_keep_exception(Call *call) {
  if (call->raised) {
    PyErr_Clear(); /* the first one counts */
    return;
  }
  PyErr_Fetch(&call->type, &call->value, &call->trace);
  call->raised = call->type != NULL;
}

bool call_interrupted(void *user) {
  Call *call = user;
  if (call->raised) return true;
  const PyGILState_STATE state = PyGILState_Ensure();
  if (PyErr_CheckSignals() != 0) call_keep_exception(call);
  PyGILState_Release(state);
  return call->raised;
}

static PyObject *exception_of(scree_Status status) {
  switch (status) {
  case SCREE_BAD_INPUT: return core_errors.input;
  case SCREE_MACHINE: return core_errors.machine;
  case SCREE_INTERRUPTED: return core_errors.interrupted;
  case SCREE_OK:
  case SCREE_NOT_CONVERGED: break;
  }
  return core_errors.base;
}

bool call_succeeded(Call *call, scree_Status status) {
  if (call->raised) {
    PyErr_Restore(call->type, call->value, call->trace);
    call->type = call->value = call->trace = NULL;
    call->raised = false;
    return false;
  }
  if (status != SCREE_OK && status != SCREE_NOT_CONVERGED) {
    PyErr_SetString(exception_of(status), call->error[0] ? call->error : scree_status_name(status));
    return false;
  }
  if (call->warning[0] && PyErr_WarnEx(core_errors.warning, call->warning, 1) != 0) return false;
  return true;
}

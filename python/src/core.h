/* Shared by the sources of the extension module scree._core, which stands on the public headers
 * (include/scree) alone.
 *
 *   call.c      one call of the library: messages, exceptions, the GIL, signals
 *   convert.c   arguments of Python into numbers and arrays, with messages that name the argument
 *   record.c    structs of the library as named tuples
 *   problem.c   Problem, and problem_make.c its constructors from arrays
 *   solver.c    Solver, measure, the table of solvers
 *   scene.c     Scene
 *   shape.c     shapes of bodies as dicts
 *   world.c     World: its life, settings and steps
 *   world_build.c   materials, laws, bodies, obstacles, forces
 *   world_joint.c   joints and motors
 *   world_record.c  the folder of a run for a world that is stepped from Python
 *   world_state.c   poses, energies, saving, the problem of a step
 *   view.c      arrays that look into a world without a copy
 *   run.c       a scene carried out into a folder
 *   replay.c    Replay: such a folder read back
 */
#ifndef SCREE_PYTHON_CORE_H
#define SCREE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API  NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL scree_core_array_api
#ifndef SCREE_CORE_IMPORTS_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "scree/scree.h"

/* ---- module.c: exceptions -------------------------------------------------------------------- */

typedef struct CoreErrors {
  PyObject *base;          /* Error */
  PyObject *input;         /* InputError, also a ValueError: SCREE_BAD_INPUT */
  PyObject *machine;       /* MachineError: SCREE_MACHINE */
  PyObject *not_converged; /* NotConverged */
  PyObject *interrupted;   /* Interrupted: SCREE_INTERRUPTED without a signal */
  PyObject *stale;         /* StaleError: an array of a world that has changed */
  PyObject *busy;          /* BusyError: an object that another thread or a callback is using */
  PyObject *warning;       /* Warning of the library */
} CoreErrors;

extern CoreErrors core_errors;

/* ---- call.c ---------------------------------------------------------------------------------- */

/* What happens while the library works: it is called without the GIL, and its callbacks write
 * messages here, take the GIL to look for signals, or call Python. */
typedef struct Call {
  scree_Log log;        /* writes into `error` and `warning` */
  char error[2048];     /* the first message, which names the place */
  char warning[2048];   /* all that fit */
  PyThreadState *state; /* while the GIL is released */
  bool raised;          /* a callback raised this exception */
  PyObject *type, *value, *trace;
} Call;

void call_init(Call *call);  /* once */
void call_clear(Call *call); /* before the next call */
void call_release(Call *call);
void call_acquire(Call *call);
/* Of scree_SolveSettings: a signal handler of Python may raise (Ctrl-C). `user` is the Call. */
bool call_interrupted(void *user);
/* In a callback, with the GIL: keep the exception that was raised until the library returns. */
void call_keep_exception(Call *call);
/* After the library returned: true when the result stands (SCREE_OK, SCREE_NOT_CONVERGED), else an
 * exception is set. Warnings of the library become warnings of Python. */
bool call_succeeded(Call *call, scree_Status status);

/* HDF5 is not safe for threads: calls that read or write such files are made by one thread at a
 * time. The lock is waited for without the GIL. False, with an exception, when this thread has it
 * already: a signal handler that runs while a file is written. */
bool call_release_for_files(Call *call);
void call_acquire_from_files(Call *call);
/* For destructors: the same without a Call. False: this thread has it already. */
bool files_lock(void);
void files_unlock(void);
bool files_init(void);

#define CALL_WITHOUT_GIL(call, statement)                                                          \
  do {                                                                                             \
    call_release(call);                                                                            \
    statement;                                                                                     \
    call_acquire(call);                                                                            \
  } while (0)

/* `failed` is done, with an exception set, when the files cannot be had. */
#define CALL_ON_FILES(call, statement, failed)                                                     \
  do {                                                                                             \
    if (!call_release_for_files(call)) failed;                                                     \
    statement;                                                                                     \
    call_acquire_from_files(call);                                                                 \
  } while (0)

/* ---- convert.c ------------------------------------------------------------------------------- */

/* A new reference to a contiguous array of doubles, all finite. `shape` has `nd` entries, -1 where
 * any size will do. Null with an exception that names the argument. */
PyArrayObject *as_doubles(PyObject *object, const char *name, int nd, const npy_intp *shape);
/* The same of int; values that do not fit are refused. */
PyArrayObject *as_ints(PyObject *object, const char *name, int nd, const npy_intp *shape);
bool as_double(PyObject *object, const char *name, double *value);
bool as_int(PyObject *object, const char *name, int min, int *value);
/* A vector: 3 numbers, or 2 (z is 0) when `dimension` is 2. */
bool as_vector(PyObject *object, const char *name, int dimension, scree_Vec3 *vector);
/* A rotation vector: in 2D one number (about z) too. */
bool as_spin(PyObject *object, const char *name, int dimension, scree_Vec3 *vector);
/* A quaternion [w, x, y, z], made a unit one; in 2D also an angle. */
bool as_quaternion(PyObject *object, const char *name, int dimension, scree_Quat *quat);
/* Index of `object`, a word, in the null-ended list; -1 with an exception that lists them. */
int as_choice(PyObject *object, const char *name, const char *const *words);
/* UTF-8 text, which lives as long as the object. */
const char *as_text(PyObject *object, const char *name);
/* A path (str, bytes, os.PathLike) as a new bytes object. */
PyObject *as_path(PyObject *object, const char *name);
/* A dict (or null, None) of options as a null-ended list of "name=value", freed with
 * PyMem_Free; false with an exception. */
bool as_options(PyObject *object, const char *name, char ***list);

PyObject *new_doubles(int nd, const npy_intp *shape, const double *data); /* a copy */
/* An array over memory of `owner`, which stays alive with it; read-only. */
PyObject *new_look(PyObject *owner, int nd, const npy_intp *shape, int type, const void *data);

static inline double *doubles(PyArrayObject *array) {
  return (double *)PyArray_DATA(array);
}
static inline int *ints(PyArrayObject *array) {
  return (int *)PyArray_DATA(array);
}

/* ---- record.c -------------------------------------------------------------------------------- */

typedef enum Record {
  RECORD_MEASURES,
  RECORD_SOLVE,
  RECORD_ENERGY,
  RECORD_STEP,
  RECORD_ANALYSIS,
  RECORD_SCENE,
  RECORD_SUMMARY,
  RECORD_FCLIB,
  RECORD_CERTIFICATE,
  RECORD_JOINT,
  RECORDS
} Record;

bool records_init(PyObject *module);
PyObject *record_new(Record kind, const void *values);

/* ---- objects --------------------------------------------------------------------------------- */

/* An object that one thread at a time may use. `busy` is set while the library works on it. */
#define CORE_USE_OR(object, failure)                                                               \
  do {                                                                                             \
    if ((object)->busy) {                                                                          \
      PyErr_Format(core_errors.busy, "this %.100s is in use by another thread or by a callback",   \
                   Py_TYPE(object)->tp_name);                                                      \
      return failure;                                                                              \
    }                                                                                              \
  } while (0)

typedef struct ProblemObject {
  PyObject_HEAD scree_Problem problem; /* never changes once it is made */
  PyObject *flow;                      /* array that problem.flow_blocks looks into, or null */
} ProblemObject;

extern PyTypeObject ProblemType;
bool problem_ready(PyObject *module);
/* A new Problem that takes over `problem`; its type is `type`. */
PyObject *problem_take(PyTypeObject *type, scree_Problem *problem);
/* The shape of q, r and u, at most two numbers; returns how many. */
int problem_shape(const scree_Problem *problem, npy_intp *shape);
/* An owned copy of any problem, views too. */
scree_Status problem_copy(const scree_Problem *from, scree_Problem *copy, const scree_Log *log);
PyObject *problem_assembled(PyTypeObject *type, PyObject *args, PyObject *kw);
PyObject *problem_from_bodies(PyTypeObject *type, PyObject *args, PyObject *kw);
PyObject *problem_from_balls(PyTypeObject *type, PyObject *args, PyObject *kw);
PyObject *problem_general(PyTypeObject *type, PyObject *args, PyObject *kw);
PyObject *problem_replace(PyObject *self, PyObject *args, PyObject *kw);

bool solver_ready(PyObject *module);
PyObject *core_measure(PyObject *module, PyObject *args, PyObject *kw);
PyObject *core_solvers(PyObject *module, PyObject *none);
/* Settings from keywords that a World and a Solver share; `options` receives a list to free. */
typedef struct SolveArguments {
  PyObject *solver, *options, *tol, *measure, *max_iterations, *time_limit, *work_limit, *threads;
} SolveArguments;
bool solve_settings_from(const SolveArguments *from, scree_SolveSettings *settings,
                         char ***options);

typedef struct SceneObject {
  PyObject_HEAD scree_Scene *scene;
} SceneObject;

extern PyTypeObject SceneType;
bool scene_ready(PyObject *module);

/* A force or driver whose value comes from Python: functions of time, or a row of an array. */
typedef struct PythonSignal {
  struct WorldObject *world;
  int force, body, joint;     /* what it moves: one of them, the others are -1 */
  PyObject *linear, *angular; /* callables, or null: `value` */
  scree_Twist value;
  const double *row; /* or null: (6) linear and angular, of an array that the world keeps */
  struct PythonSignal *next;
} PythonSignal;

typedef struct WorldObject {
  PyObject_HEAD scree_World *world; /* null once it is closed */
  SceneObject *scene;               /* or null: built by calls */
  Call call;
  bool busy;
  bool stopped;             /* `after` returned true in the last step */
  bool prepared;            /* bodies of the next step were poured and removed */
  int guards;               /* arrays over the memory of the world that exist now */
  uint64_t changes;         /* counts what Python has done to it */
  scree_Recorder *recorder; /* or null */
  int64_t record_steps;     /* steps between its frames */
  int *order, poured;       /* of scree_scene_pour */
  double peak;              /* of scree_scene_should_stop */
  PythonSignal *signals;    /* all that the world points to */
  PyObject *kept;           /* list: arrays that signals look into */
  PyObject *before, *after;
  PyObject *report;
} WorldObject;

extern PyTypeObject WorldType;
bool world_ready(PyObject *module);
/* Whether the world may be read (or changed: nothing looks into it); else an exception is set. */
bool world_readable(WorldObject *self);
bool world_changeable(WorldObject *self);
bool world_body(WorldObject *self, PyObject *object, const char *name, int *body);
int world_dimension(const WorldObject *self);
extern PyMethodDef world_build_methods[], world_joint_methods[], world_state_methods[],
    world_record_methods[];
/* Call this after the library was given a signal for a force, body or joint. If it was `taken`,
 * `made` (or null) is kept in place of the one before it; otherwise `made` is freed. */
void world_settle_signal(WorldObject *self, PythonSignal *made, bool taken, int force, int body,
                         int joint);
PyObject *core_joints(PyObject *module, PyObject *none);
/* After a step: its line, and its frame when one is due. Without the GIL. */
scree_Status world_record_step(WorldObject *self, const scree_StepReport *report);
extern PyGetSetDef world_state_getset[];
void world_free_signals(WorldObject *self);
scree_Status world_build_scene(WorldObject *self, scree_World **world);

/* A shape from a dict; to be freed with scree_shape_fini. */
bool shape_from(WorldObject *self, PyObject *object, scree_Shape *shape);
PyObject *shape_dict(const scree_Shape *shape); /* the other way round */
/* The pose of a body whose vertices or parts are where they are typed when `pose` is zero. */
scree_Pose shape_typed_pose(const scree_Shape *shape, scree_Pose pose);

bool view_ready(PyObject *module);
PyObject *world_look(PyObject *self, PyObject *name); /* a View of an array by its name */

PyObject *core_run(PyObject *module, PyObject *args, PyObject *kw);
bool replay_ready(PyObject *module);
PyObject *core_write_png(PyObject *module, PyObject *args, PyObject *kw);

#endif

/* Replay: the folder of a run, read back one frame at a time; its page, pictures and VTK files. */
#include "core.h"

#include <math.h>
#include <string.h>

typedef struct ReplayObject {
  PyObject_HEAD scree_Replay *replay;
  scree_ReplayFrame frame;
  Call call;
  bool busy;
} ReplayObject;

static bool given(PyObject *object) {
  return object && object != Py_None;
}

static PyObject *replay_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *words[] = {"folder", NULL};
  PyObject *folder_object;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O:Replay", words, &folder_object)) return NULL;
  PyObject *folder = as_path(folder_object, "folder");
  if (!folder) return NULL;
  ReplayObject *self = (ReplayObject *)type->tp_alloc(type, 0);
  if (self) {
    call_init(&self->call);
    scree_Status status;
    CALL_ON_FILES(
        &self->call,
        status = scree_replay_open(PyBytes_AS_STRING(folder), &self->call.log, &self->replay), {
          Py_DECREF(folder);
          Py_DECREF(self);
          return NULL;
        });
    if (!call_succeeded(&self->call, status)) Py_CLEAR(self);
  }
  Py_DECREF(folder);
  return (PyObject *)self;
}

static void replay_dealloc(PyObject *object) {
  ReplayObject *self = (ReplayObject *)object;
  bool locked;
  Py_BEGIN_ALLOW_THREADS;
  locked = files_lock();
  scree_replay_close(self->replay);
  scree_replay_frame_fini(&self->frame);
  if (locked) files_unlock();
  Py_END_ALLOW_THREADS;
  call_clear(&self->call);
  Py_TYPE(object)->tp_free(object);
}

/* ---- what is known of the whole run ---------------------------------------------------------- */

static PyObject *text_or_none(const char *text) {
  if (!text) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *get_info(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  const scree_ReplayInfo info = scree_replay_info(self->replay);
  return Py_BuildValue("{s:N,s:N,s:i,s:(ddd),s:d,s:i,s:i,s:N,s:N}", "folder",
                       text_or_none(info.folder), "title", text_or_none(info.title), "dimension",
                       info.dimension, "gravity", info.gravity.x, info.gravity.y, info.gravity.z,
                       "step", info.step, "bodies", info.bodies, "frames", info.frames, "note",
                       text_or_none(info.note), "convergence", text_or_none(info.convergence));
}

static PyObject *get_times(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  const scree_ReplayInfo info = scree_replay_info(self->replay);
  const npy_intp count = info.frames;
  return new_look(object, 1, &count, NPY_DOUBLE, info.times);
}

static PyObject *get_steps(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  const scree_ReplayInfo info = scree_replay_info(self->replay);
  const npy_intp count = info.frames;
  return new_look(object, 1, &count, NPY_INT64, info.steps);
}

static PyObject *get_curves(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  PyObject *list = PyList_New(0);
  const int count = scree_replay_info(self->replay).curves;
  for (int k = 0; list && k < count; ++k) {
    PyObject *name = text_or_none(scree_replay_curve_at(self->replay, k)->name);
    if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyObject *get_materials(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  PyObject *list = PyList_New(0);
  const int count = scree_replay_info(self->replay).materials;
  for (int k = 0; list && k < count; ++k) {
    PyObject *name = text_or_none(scree_replay_material(self->replay, k));
    if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

/* (masses, materials, obstacles) of the bodies. */
static PyObject *get_bodies(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  const npy_intp count = scree_replay_info(self->replay).bodies;
  PyObject *mass = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
  PyObject *material = PyArray_SimpleNew(1, &count, NPY_INT);
  PyObject *obstacle = PyArray_SimpleNew(1, &count, NPY_BOOL);
  if (!mass || !material || !obstacle) {
    Py_XDECREF(mass);
    Py_XDECREF(material);
    Py_XDECREF(obstacle);
    return NULL;
  }
  for (npy_intp k = 0; k < count; ++k) {
    const scree_ReplayBody *body = scree_replay_body(self->replay, (int)k);
    doubles((PyArrayObject *)mass)[k] = body->mass;
    ints((PyArrayObject *)material)[k] = body->material;
    ((npy_bool *)PyArray_DATA((PyArrayObject *)obstacle))[k] = body->obstacle;
  }
  return Py_BuildValue("(NNN)", mass, material, obstacle);
}

static PyObject *replay_shape(PyObject *object, PyObject *body_object) {
  ReplayObject *self = (ReplayObject *)object;
  int body;
  CORE_USE_OR(self, NULL);
  if (!as_int(body_object, "body", 0, &body)) return NULL;
  if (body >= scree_replay_info(self->replay).bodies) {
    PyErr_Format(core_errors.input, "body: there is no body %d, the run has %d", body,
                 scree_replay_info(self->replay).bodies);
    return NULL;
  }
  return shape_dict(&scree_replay_body(self->replay, body)->shape);
}

static PyObject *replay_curve(PyObject *object, PyObject *name_object) {
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  const char *name = as_text(name_object, "name");
  if (!name) return NULL;
  const scree_ReplayCurve *curve = scree_replay_curve(self->replay, name);
  if (!curve) {
    PyErr_Format(PyExc_KeyError, "the run has no curve '%.100s'", name);
    return NULL;
  }
  const npy_intp rows = scree_replay_info(self->replay).rows;
  return new_look(object, 1, &rows, NPY_DOUBLE, curve->values);
}

static PyObject *replay_analysis(PyObject *object, PyObject *name_object) {
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  const char *name = as_text(name_object, "name");
  if (!name) return NULL;
  const npy_intp frames = scree_replay_info(self->replay).frames;
  PyObject *array = PyArray_SimpleNew(1, &frames, NPY_DOUBLE);
  bool any = frames == 0;
  for (npy_intp k = 0; array && k < frames; ++k) {
    double value = NAN;
    if (scree_replay_analysis(self->replay, name, (int)k, &value)) any = true;
    doubles((PyArrayObject *)array)[k] = value;
  }
  if (array && !any) {
    Py_CLEAR(array);
    PyErr_Format(PyExc_KeyError, "the run has no analysis '%.100s'", name);
  }
  return array;
}

static PyObject *get_certificate(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  return record_new(RECORD_CERTIFICATE, scree_replay_certificate(self->replay));
}

static PyObject *get_verdict(PyObject *object, void *unused) {
  (void)unused;
  ReplayObject *self = (ReplayObject *)object;
  CORE_USE_OR(self, NULL);
  scree_CertificateText text;
  scree_replay_verdict(self->replay, &text);
  PyObject *lines = PyList_New(0);
  for (int k = 0; lines && k < text.count; ++k) {
    PyObject *line = Py_BuildValue("(ssN)", text.line[k].label, text.line[k].text,
                                   PyBool_FromLong(text.line[k].good));
    if (!line || PyList_Append(lines, line) != 0) Py_CLEAR(lines);
    Py_XDECREF(line);
  }
  if (!lines) return NULL;
  return Py_BuildValue("(NsN)", PyBool_FromLong(text.good), text.verdict, lines);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool frame_number(ReplayObject *self, PyObject *object, int *k) {
  if (!as_int(object, "frame", 0, k)) return false;
  const int frames = scree_replay_info(self->replay).frames;
  if (*k < frames) return true;
  PyErr_Format(PyExc_IndexError, "frame: there is no frame %d, the run has %d", *k, frames);
  return false;
}

static bool read_frame(ReplayObject *self, int k, bool contacts) {
  scree_Status status;
  call_clear(&self->call);
  self->frame.bodies_only = !contacts;
  self->busy = true;
  CALL_ON_FILES(&self->call, status = scree_replay_read(self->replay, k, &self->frame), {
    self->busy = false;
    return false;
  });
  self->busy = false;
  return call_succeeded(&self->call, status);
}

static PyArray_Descr *contact_type(void) {
#define OFFSET(member) (Py_ssize_t) offsetof(scree_ReplayContact, member)
  PyObject *spec = Py_BuildValue(
      "{s:[s,s,s,s,s,s,s,s,s,s],s:[(s,i),s,(s,i),(s,i),(s,i),(s,i),(s,i),s,s,s],"
      "s:[n,n,n,n,n,n,n,n,n,n],s:n}",
      "names", "body", "status", "position", "normal", "r", "u", "impulse", "gap", "mu", "error",
      "formats", "i4", 2, "i4", "f8", 3, "f8", 3, "f8", 3, "f8", 3, "f8", 3, "f8", "f8", "f8",
      "offsets", OFFSET(body), OFFSET(status), OFFSET(position), OFFSET(normal), OFFSET(r),
      OFFSET(u), OFFSET(impulse), OFFSET(gap), OFFSET(mu), OFFSET(error), "itemsize",
      (Py_ssize_t)sizeof(scree_ReplayContact));
#undef OFFSET
  PyArray_Descr *descr = NULL;
  if (spec && PyArray_DescrConverter(spec, &descr) != NPY_SUCCEED) descr = NULL;
  Py_XDECREF(spec);
  return descr;
}

static PyObject *frame_contacts(const scree_ReplayFrame *frame) {
  if (!frame->has_contacts) Py_RETURN_NONE;
  PyArray_Descr *descr = contact_type();
  if (!descr) return NULL;
  const npy_intp count = frame->contacts;
  PyObject *array = PyArray_Zeros(1, &count, descr, 0);
  if (array && count)
    memcpy(PyArray_DATA((PyArrayObject *)array), frame->contact,
           (size_t)count * sizeof *frame->contact);
  return array;
}

static PyObject *replay_frame(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"frame", "contacts", NULL};
  ReplayObject *self = (ReplayObject *)object;
  PyObject *number;
  int contacts = 1, k;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|p:frame", words, &number, &contacts)) return NULL;
  CORE_USE_OR(self, NULL);
  if (!frame_number(self, number, &k) || !read_frame(self, k, contacts != 0)) return NULL;
  const scree_ReplayFrame *f = &self->frame;
  const npy_intp three[2] = {f->bodies, 3}, four[2] = {f->bodies, 4};
  PyObject *present = PyArray_SimpleNew(1, three, NPY_BOOL);
  if (!present) return NULL;
  for (int b = 0; b < f->bodies; ++b)
    ((npy_bool *)PyArray_DATA((PyArrayObject *)present))[b] = f->present[b];
  return Py_BuildValue(
      "{s:d,s:L,s:N,s:N,s:N,s:N,s:N,s:N}", "time", f->time, "step", (long long)f->step, "positions",
      new_doubles(2, three, f->position), "orientations", new_doubles(2, four, f->orientation),
      "velocities", new_doubles(2, three, f->velocity), "angular_velocities",
      new_doubles(2, three, f->angular), "present", present, "contacts", frame_contacts(f));
}

static PyObject *replay_pressure(PyObject *object, PyObject *number) {
  ReplayObject *self = (ReplayObject *)object;
  int k;
  CORE_USE_OR(self, NULL);
  if (!frame_number(self, number, &k) || !read_frame(self, k, true)) return NULL;
  const npy_intp bodies = self->frame.bodies;
  PyObject *array = PyArray_ZEROS(1, &bodies, NPY_DOUBLE, 0);
  if (array) scree_replay_pressure(self->replay, &self->frame, doubles((PyArrayObject *)array));
  return array;
}

static PyObject *replay_nearest(PyObject *object, PyObject *time_object) {
  ReplayObject *self = (ReplayObject *)object;
  double time;
  CORE_USE_OR(self, NULL);
  if (!as_double(time_object, "t", &time)) return NULL;
  return PyLong_FromLong(scree_replay_nearest(self->replay, time));
}

/* ---- page, pictures, VTK --------------------------------------------------------------------- */

static PyObject *replay_page(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"path", "budget", "frames", NULL};
  ReplayObject *self = (ReplayObject *)object;
  PyObject *path_object, *budget = NULL, *frames = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OO:page", words, &path_object, &budget, &frames))
    return NULL;
  CORE_USE_OR(self, NULL);
  scree_ReportSettings settings = scree_report_settings();
  if (given(budget) && !as_double(budget, "budget", &settings.budget)) return NULL;
  if (given(budget) && !(settings.budget > 0)) {
    PyErr_SetString(core_errors.input, "budget: expected a number of bytes > 0");
    return NULL;
  }
  if (given(frames) && !as_int(frames, "frames", 0, &settings.frames)) return NULL;
  PyObject *path = as_path(path_object, "path");
  if (!path) return NULL;
  scree_ReportInfo info;
  memset(&info, 0, sizeof info);
  scree_Status status;
  bool good = false;
  call_clear(&self->call);
  self->busy = true;
  CALL_ON_FILES(&self->call,
                status =
                    scree_report_write(self->replay, &settings, PyBytes_AS_STRING(path), &info),
                goto end);
  good = call_succeeded(&self->call, status);
end:
  self->busy = false;
  Py_DECREF(path);
  return good ? PyLong_FromSize_t(info.bytes) : NULL;
}

static PyObject *replay_picture(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"frame", "width", "height", "colour", "chains", "tight", NULL};
  static const char *const colours[] = {"velocity", "angular", "size", "material",
                                        "id",       "stress",  NULL};
  ReplayObject *self = (ReplayObject *)object;
  PyObject *number, *width = NULL, *height = NULL, *colour = NULL;
  int chains = 0, tight = 0, k;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOOpp:picture", words, &number, &width, &height,
                                   &colour, &chains, &tight))
    return NULL;
  CORE_USE_OR(self, NULL);
  scree_RenderSettings settings = scree_render_settings();
  if (given(width) && !as_int(width, "width", 16, &settings.width)) return NULL;
  if (given(height) && !as_int(height, "height", 16, &settings.height)) return NULL;
  if (settings.width > 8192 || settings.height > 8192) {
    PyErr_SetString(core_errors.input, "width, height: expected 16 to 8192 pixels");
    return NULL;
  }
  if (given(colour)) {
    const int found = as_choice(colour, "colour", colours);
    if (found < 0) return NULL;
    settings.colour = (scree_RenderColour)found;
  }
  settings.chains = chains != 0;
  settings.tight = tight != 0;
  if (!frame_number(self, number, &k) || !read_frame(self, k, true)) return NULL;
  const npy_intp shape[3] = {settings.height, settings.width, 3};
  PyObject *pixels = PyArray_ZEROS(3, shape, NPY_UINT8, 0);
  if (!pixels) return NULL;
  scree_ReplayExtent extent;
  scree_Status status;
  bool good = false;
  call_clear(&self->call);
  self->busy = true;
  CALL_ON_FILES(
      &self->call,
      {
        status = scree_replay_extent(self->replay, tight ? k : -1, &extent);
        if (status == SCREE_OK)
          status = scree_render(self->replay, &self->frame, &extent, &settings,
                                PyArray_DATA((PyArrayObject *)pixels));
      },
      goto end);
  good = call_succeeded(&self->call, status);
end:
  self->busy = false;
  if (!good) Py_CLEAR(pixels);
  return pixels;
}

static PyObject *replay_vtk(PyObject *object, PyObject *args, PyObject *kw) {
  static char *words[] = {"folder", "every", NULL};
  ReplayObject *self = (ReplayObject *)object;
  PyObject *folder_object, *every_object = NULL;
  int every = 1, written = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O:vtk", words, &folder_object, &every_object))
    return NULL;
  CORE_USE_OR(self, NULL);
  if (given(every_object) && !as_int(every_object, "every", 1, &every)) return NULL;
  PyObject *folder = as_path(folder_object, "folder");
  if (!folder) return NULL;
  scree_Status status;
  bool good = false;
  call_clear(&self->call);
  self->busy = true;
  CALL_ON_FILES(
      &self->call,
      status = scree_vtk_write(self->replay, PyBytes_AS_STRING(folder), every, false, &written),
      goto end);
  good = call_succeeded(&self->call, status);
end:
  self->busy = false;
  Py_DECREF(folder);
  return good ? PyLong_FromLong(written) : NULL;
}

PyObject *core_write_png(PyObject *module, PyObject *args, PyObject *kw) {
  static char *words[] = {"path", "pixels", NULL};
  PyObject *path_object, *pixels_object;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "OO:write_png", words, &path_object, &pixels_object))
    return NULL;
  if (!PyArray_Check(pixels_object) || PyArray_TYPE((PyArrayObject *)pixels_object) != NPY_UINT8 ||
      PyArray_NDIM((PyArrayObject *)pixels_object) != 3 ||
      PyArray_DIM((PyArrayObject *)pixels_object, 2) != 3 ||
      PyArray_SIZE((PyArrayObject *)pixels_object) == 0) {
    PyErr_SetString(PyExc_TypeError, "pixels: expected an array (height, width, 3) of uint8");
    return NULL;
  }
  PyArrayObject *pixels =
      (PyArrayObject *)PyArray_FROM_OTF(pixels_object, NPY_UINT8, NPY_ARRAY_IN_ARRAY);
  PyObject *path = pixels ? as_path(path_object, "path") : NULL;
  bool good = path != NULL;
  if (good) {
    Call call;
    call_init(&call);
    scree_Status status;
    CALL_WITHOUT_GIL(&call, status = scree_png_write(
                                PyBytes_AS_STRING(path), (int)PyArray_DIM(pixels, 1),
                                (int)PyArray_DIM(pixels, 0), PyArray_DATA(pixels), &call.log));
    good = call_succeeded(&call, status);
    call_clear(&call);
  }
  Py_XDECREF(path);
  Py_XDECREF(pixels);
  if (!good) return NULL;
  Py_RETURN_NONE;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"frame", KEYWORDS(replay_frame),
     "frame(frame, contacts=True)\n--\n\nA saved frame as a dict of arrays."},
    {"pressure", replay_pressure, METH_O,
     "pressure(frame)\n--\n\nMean pressure of each body of a frame, Pa."},
    {"nearest", replay_nearest, METH_O, "nearest(t)\n--\n\nThe frame nearest in time, or -1."},
    {"curve", replay_curve, METH_O, "curve(name)\n--\n\nA column of the telemetry, by steps."},
    {"analysis", replay_analysis, METH_O,
     "analysis(name)\n--\n\nA number of the analysis, by frames."},
    {"shape", replay_shape, METH_O, "shape(body)\n--\n\nThe shape of a body."},
    {"write_page", KEYWORDS(replay_page),
     "write_page(path, budget=None, frames=None)\n--\n\n"
     "Write the page of the run, at most `budget` bytes; its size."},
    {"pixels", KEYWORDS(replay_picture),
     "pixels(frame, width=1280, height=800, colour='velocity', chains=False, tight=False)\n--\n\n"
     "A picture of a frame, (height, width, 3) uint8."},
    {"write_vtk", KEYWORDS(replay_vtk),
     "write_vtk(folder, every=1)\n--\n\nFiles for ParaView; the number of frames."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getset[] = {
    {"info", get_info, NULL, "Title, sizes and notes, as a dict.", NULL},
    {"times", get_times, NULL, "Times of the frames, s.", NULL},
    {"steps", get_steps, NULL, "Steps done at each frame.", NULL},
    {"curves", get_curves, NULL, "Names of the columns of the telemetry.", NULL},
    {"materials", get_materials, NULL, "Names of the materials.", NULL},
    {"bodies", get_bodies, NULL, "(masses, materials, obstacles) of the bodies.", NULL},
    {"certificate", get_certificate, NULL, "The certificate of the run.", NULL},
    {"verdict", get_verdict, NULL, "(good, verdict, lines): the certificate in words.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject ReplayType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "scree._core.Replay",
    .tp_basicsize = sizeof(ReplayObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Replay(folder)\n--\n\nThe folder of a run, read back.",
    .tp_new = replay_new,
    .tp_dealloc = replay_dealloc,
    .tp_methods = methods,
    .tp_getset = getset,
};

bool replay_ready(PyObject *module) {
  return PyModule_AddType(module, &ReplayType) == 0;
}

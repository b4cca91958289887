/* Structs of the library as named tuples: one table of fields for each. */
#include "core.h"

#include <stddef.h>

/* Types of fields. */
enum {
  REAL = 'd',
  INT = 'i',
  LONG = 'l',
  BOOL = 'b',
  TEXT = 's',   /* const char * or null */
  CHARS = 'c',  /* char[] */
  PAIR = 'p',   /* int[2] */
  VECTOR = 'v', /* scree_Vec3 */
  MATRIX = 'm', /* double[9] */
  NESTED = 'r'  /* another record, below */
};

typedef struct Field {
  const char *name, *doc;
  char type;
  Record nested;
  size_t offset;
} Field;

#define FIELD(S, member, type_, doc_)                                                              \
  { .name = #member, .doc = doc_, .type = type_, .offset = offsetof(S, member) }
#define RECORD(S, member, record, doc_)                                                            \
  { .name = #member, .doc = doc_, .type = NESTED, .nested = record, .offset = offsetof(S, member) }
#define END                                                                                        \
  { .name = NULL }

static const Field measures[] = {
    FIELD(scree_Measures, error, REAL, "natural map, independent of units: the default"),
    FIELD(scree_Measures, error_siconos, REAL, "natural map with rho = 1"),
    FIELD(scree_Measures, eps_glob, REAL, "mean of the four parts that follow"),
    FIELD(scree_Measures, eps_motion, REAL, "|u - (W r + q)|"),
    FIELD(scree_Measures, eps_proj, REAL, "|r - P(r)|"),
    FIELD(scree_Measures, eps_bipotential, REAL, "|u.r + mu r_n |u_T||"),
    FIELD(scree_Measures, eps_penetration, REAL, "-min(0, u_n)"),
    FIELD(scree_Measures, merit, REAL, "merit function, relative to that of r = 0"),
    FIELD(scree_Measures, worst_contact, INT, "with the largest natural map, or -1"),
    FIELD(scree_Measures, worst_error, REAL, "its natural map over the scale of error"),
    FIELD(scree_Measures, rho, REAL, "step of the natural map of error"),
    FIELD(scree_Measures, scale, REAL, "what error is divided by"),
    FIELD(scree_Measures, cone_violation, REAL, "largest |r - P(r)| over the scale of error"),
    FIELD(scree_Measures, dilatation_max, REAL, "largest mu |u_T| of active contacts"),
    FIELD(scree_Measures, dilatation_mean, REAL, "mean mu |u_T| of active contacts"),
    END};

static const Field solve[] = {
    FIELD(scree_SolveInfo, converged, BOOL, "the chosen measure is at most the tolerance"),
    FIELD(scree_SolveInfo, value, REAL, "of the chosen measure"),
    RECORD(scree_SolveInfo, measures, RECORD_MEASURES, "every measure of the result"),
    FIELD(scree_SolveInfo, iterations, INT, "of the solver"),
    FIELD(scree_SolveInfo, factorisations, INT, "of a sparse matrix"),
    FIELD(scree_SolveInfo, work, REAL, "counted work, in seconds of an ordinary core"),
    FIELD(scree_SolveInfo, seconds, REAL, "clock, of the solve alone"),
    FIELD(scree_SolveInfo, solver, TEXT, "that gave the result"),
    END};

static const Field energy[] = {
    FIELD(scree_EnergyBalance, kinetic, REAL, "J, now"),
    FIELD(scree_EnergyBalance, potential, REAL, "J, of gravity, now"),
    FIELD(scree_EnergyBalance, elastic, REAL, "J, stored in compliant contacts, now"),
    FIELD(scree_EnergyBalance, forces, REAL, "work of forces other than gravity"),
    FIELD(scree_EnergyBalance, drivers, REAL, "work of driven obstacles"),
    FIELD(scree_EnergyBalance, normal, REAL, "dissipated by impact"),
    FIELD(scree_EnergyBalance, friction, REAL, "dissipated by friction"),
    FIELD(scree_EnergyBalance, viscous, REAL,
          "dissipated by dampers of compliant contacts and damping of materials"),
    FIELD(scree_EnergyBalance, plastic, REAL, "dissipated by plastic displacement of normals"),
    FIELD(scree_EnergyBalance, scheme, REAL, "lost (< 0) by the time scheme"),
    FIELD(scree_EnergyBalance, push, REAL, "work of contacts that stay loaded"),
    FIELD(scree_EnergyBalance, closing, REAL, "missing in the balance"),
    END};

static const Field step[] = {
    FIELD(scree_StepReport, certified, BOOL, "everything asked for is met"),
    FIELD(scree_StepReport, missed, INT, "bits of what is not: MISSED_... of scree/step.h"),
    FIELD(scree_StepReport, step, LONG, "number of the step, from 1"),
    FIELD(scree_StepReport, time, REAL, "s, after the step"),
    FIELD(scree_StepReport, h, REAL, "s, length of the step"),
    FIELD(scree_StepReport, contacts, INT, "of the last problem"),
    FIELD(scree_StepReport, active, INT, "contacts with an impulse"),
    FIELD(scree_StepReport, contacts_above, INT, "contacts above the tolerance"),
    FIELD(scree_StepReport, error, REAL, "worst of the step, by the measure asked for"),
    FIELD(scree_StepReport, tolerance, REAL, "of that measure"),
    FIELD(scree_StepReport, penetration, REAL, "deepest, relative to the smaller body"),
    FIELD(scree_StepReport, cone_violation, REAL, "worst, over the scale of the error"),
    FIELD(scree_StepReport, joints, INT, "in the problem"),
    FIELD(scree_StepReport, joint_error, REAL, "of locked motions, relative to the sizes"),
    FIELD(scree_StepReport, energy_created, REAL,
          "by the discretisation, relative, since the start"),
    FIELD(scree_StepReport, penetration_limit, REAL, "above which a step is not certified"),
    FIELD(scree_StepReport, energy_limit, REAL, "above which a step is not certified"),
    FIELD(scree_StepReport, creep, REAL, "of bodies that rest, by errors, over their size"),
    FIELD(scree_StepReport, creep_limit, REAL, "above which a step is not certified"),
    FIELD(scree_StepReport, worst_body, PAIR, "bodies of the worst contact, or -1"),
    FIELD(scree_StepReport, deepest_body, PAIR, "bodies of the deepest penetration, or -1"),
    FIELD(scree_StepReport, iterations, INT, "of the solver, all solves of the step"),
    FIELD(scree_StepReport, solves, INT, "1 when nothing had to be repeated"),
    FIELD(scree_StepReport, retries, INT, "solves repeated with a tighter solver"),
    FIELD(scree_StepReport, substeps, INT, "1 when the step was not halved"),
    RECORD(scree_StepReport, solve, RECORD_SOLVE, "the last solve"),
    RECORD(scree_StepReport, energy, RECORD_ENERGY, "of this step"),
    FIELD(scree_StepReport, seconds_detect, REAL, "clock"),
    FIELD(scree_StepReport, seconds_build, REAL, "clock"),
    FIELD(scree_StepReport, seconds_solve, REAL, "clock"),
    FIELD(scree_StepReport, seconds_move, REAL, "clock"),
    FIELD(scree_StepReport, seconds_certify, REAL, "clock"),
    END};

static const Field analysis[] = {
    FIELD(scree_Analysis, kinetic, REAL, "J"),
    FIELD(scree_Analysis, kinetic_rotation, REAL, "J, the part of rotation"),
    FIELD(scree_Analysis, potential, REAL, "J, of gravity"),
    FIELD(scree_Analysis, momentum, VECTOR, "kg m/s"),
    FIELD(scree_Analysis, angular_momentum, VECTOR, "kg m2/s, about the origin"),
    FIELD(scree_Analysis, centre, VECTOR, "m, of mass"),
    FIELD(scree_Analysis, mass, REAL, "kg"),
    FIELD(scree_Analysis, open, INT, "contacts without an impulse"),
    FIELD(scree_Analysis, stick, INT, "contacts that stick"),
    FIELD(scree_Analysis, slip, INT, "contacts that slip"),
    FIELD(scree_Analysis, coordination, REAL, "mean number of active contacts of a body"),
    FIELD(scree_Analysis, coordination_touching, REAL, "the same over bodies with at least one"),
    FIELD(scree_Analysis, rattlers, INT, "bodies without any"),
    FIELD(scree_Analysis, penetration, REAL, "deepest, relative to the smaller body"),
    FIELD(scree_Analysis, volume, REAL, "m3 (m2), of the region"),
    FIELD(scree_Analysis, packing_fraction, REAL, "of bodies whose centre is in the region"),
    FIELD(scree_Analysis, stress, MATRIX, "Pa; compression is negative"),
    FIELD(scree_Analysis, fabric, MATRIX, "mean of n n over active contacts"),
    END};

static const Field scene[] = {
    FIELD(scree_SceneInfo, title, TEXT, "of the scene"),
    FIELD(scree_SceneInfo, description, TEXT, "of the scene"),
    FIELD(scree_SceneInfo, dimension, INT, "2 or 3"),
    FIELD(scree_SceneInfo, bodies, INT, "at the start"),
    FIELD(scree_SceneInfo, obstacles, INT, "bodies of infinite mass"),
    FIELD(scree_SceneInfo, poured, INT, "bodies that come later"),
    FIELD(scree_SceneInfo, materials, INT, "number of materials"),
    FIELD(scree_SceneInfo, forces, INT, "besides gravity"),
    FIELD(scree_SceneInfo, step, REAL, "s, time step"),
    FIELD(scree_SceneInfo, duration, REAL, "s"),
    FIELD(scree_SceneInfo, steps, LONG, "of the whole duration"),
    FIELD(scree_SceneInfo, frame_steps, LONG, "steps between saved frames"),
    FIELD(scree_SceneInfo, smallest, REAL, "m, size of the smallest body"),
    END};

static const Field summary[] = {
    FIELD(scree_RunSummary, steps, LONG, "done"),
    FIELD(scree_RunSummary, time, REAL, "s, reached"),
    FIELD(scree_RunSummary, bodies, INT, "that exist, obstacles not counted"),
    FIELD(scree_RunSummary, contacts_max, INT, "most contacts of a step"),
    FIELD(scree_RunSummary, error_max, REAL, "worst error of a step"),
    FIELD(scree_RunSummary, tolerance, REAL, "on that error"),
    FIELD(scree_RunSummary, penetration_max, REAL, "deepest, relative to the smaller body"),
    FIELD(scree_RunSummary, penetration_limit, REAL, "above which a step is not certified"),
    FIELD(scree_RunSummary, energy_created, REAL, "by the discretisation, relative"),
    FIELD(scree_RunSummary, energy_limit, REAL, "above which a step is not certified"),
    FIELD(scree_RunSummary, creep, REAL, "of bodies that rest, by errors, over their size"),
    FIELD(scree_RunSummary, creep_limit, REAL, "above which a step is not certified"),
    FIELD(scree_RunSummary, energy_error, REAL, "missing in the energy balance, relative"),
    FIELD(scree_RunSummary, seconds, REAL, "clock"),
    FIELD(scree_RunSummary, seconds_detect, REAL, "clock"),
    FIELD(scree_RunSummary, seconds_solve, REAL, "clock"),
    FIELD(scree_RunSummary, steps_above, LONG, "steps that are not certified"),
    FIELD(scree_RunSummary, iterations, LONG, "of the solver"),
    FIELD(scree_RunSummary, substeps, LONG, "beyond one per step"),
    FIELD(scree_RunSummary, frames, INT, "saved"),
    FIELD(scree_RunSummary, finished, BOOL, "the scene's own end was reached"),
    FIELD(scree_RunSummary, resumed, BOOL, "went on from a checkpoint"),
    FIELD(scree_RunSummary, reason, TEXT, "why it ended"),
    END};

static const Field fclib[] = {{.name = "is_global", /* `global` is a keyword of Python */
                               .doc = "the file has M and H rather than W",
                               .type = BOOL,
                               .offset = offsetof(scree_FclibInfo, global)},
                              FIELD(scree_FclibInfo, dofs, INT, "of M, or 0"),
                              FIELD(scree_FclibInfo, asymmetry, REAL, "max |W - W^T| / max |W|"),
                              FIELD(scree_FclibInfo, has_solution, BOOL, "the file has a solution"),
                              FIELD(scree_FclibInfo, guesses, INT, "number of guesses in the file"),
                              FIELD(scree_FclibInfo, title, CHARS, "of the file"),
                              FIELD(scree_FclibInfo, description, CHARS, "of the file"),
                              FIELD(scree_FclibInfo, math_info, CHARS, "of the file"),
                              END};

static const Field certificate[] = {
    FIELD(scree_ReplayCertificate, steps, LONG, "done"),
    FIELD(scree_ReplayCertificate, above, LONG, "steps above the tolerance"),
    FIELD(scree_ReplayCertificate, first_above, LONG, "first such step, 0: none"),
    FIELD(scree_ReplayCertificate, tolerance, REAL, "on the error"),
    FIELD(scree_ReplayCertificate, error, REAL, "worst"),
    FIELD(scree_ReplayCertificate, error_step, LONG, "step of the worst error"),
    FIELD(scree_ReplayCertificate, worst, PAIR, "bodies of the worst contact, or -1"),
    FIELD(scree_ReplayCertificate, penetration, REAL, "deepest, relative to the smaller body"),
    FIELD(scree_ReplayCertificate, penetration_step, LONG, "step of the deepest penetration"),
    FIELD(scree_ReplayCertificate, deepest, PAIR, "bodies of the deepest penetration, or -1"),
    FIELD(scree_ReplayCertificate, penetration_limit, REAL, "nan: unknown"),
    FIELD(scree_ReplayCertificate, energy_created, REAL, "by the discretisation, relative"),
    FIELD(scree_ReplayCertificate, energy_limit, REAL, "nan: unknown"),
    FIELD(scree_ReplayCertificate, creep, REAL, "of bodies that rest, by errors, over their size"),
    FIELD(scree_ReplayCertificate, creep_limit, REAL, "nan: unknown"),
    FIELD(scree_ReplayCertificate, energy_error, REAL, "missing in the balance, relative"),
    FIELD(scree_ReplayCertificate, contacts_max, INT, "most contacts of a step"),
    FIELD(scree_ReplayCertificate, seconds, REAL, "clock"),
    END};

static const Field joint[] = {
    FIELD(scree_JointState, position, VECTOR, "m, of the anchor of the first body"),
    FIELD(scree_JointState, x, REAL, "free coordinate, rad or m; 0 where there is none"),
    FIELD(scree_JointState, velocity, REAL, "its rate"),
    FIELD(scree_JointState, force, VECTOR, "N, on the first body"),
    FIELD(scree_JointState, torque, VECTOR, "N m, about the anchor, on the first body"),
    FIELD(scree_JointState, effort, REAL, "force or torque along the free coordinate"),
    FIELD(scree_JointState, error, REAL, "of the locked motions, relative to the size"),
    FIELD(scree_JointState, broken, BOOL, "a bond that broke"),
    FIELD(scree_JointState, plastic, REAL, "of a bond: displacement under full load so far, m"),
    END};

static const struct {
  const char *name, *doc;
  const Field *fields;
} kinds[RECORDS] = {
    [RECORD_MEASURES] = {"scree.Measures", "Every error of a solution.", measures},
    [RECORD_SOLVE] = {"scree.SolveInfo", "The certificate of a solve.", solve},
    [RECORD_ENERGY] = {"scree.Energy", "Where the energy went.", energy},
    [RECORD_STEP] = {"scree.StepReport", "The certificate of a time step.", step},
    [RECORD_ANALYSIS] = {"scree.Analysis", "Averages over a world.", analysis},
    [RECORD_SCENE] = {"scree.SceneInfo", "What a scene would run.", scene},
    [RECORD_SUMMARY] = {"scree.RunSummary", "The certificate of a run.", summary},
    [RECORD_CERTIFICATE] = {"scree.Certificate", "The certificate of a run that was read back.",
                            certificate},
    [RECORD_JOINT] = {"scree.Joint", "A joint now.", joint},
    [RECORD_FCLIB] = {"scree.FclibInfo", "What an FCLIB file says about itself.", fclib},
};

static PyTypeObject *types[RECORDS];

static bool make_type(PyObject *module, Record kind) {
  enum { MOST = 40 };
  PyStructSequence_Field fields[MOST];
  int count = 0;
  for (; kinds[kind].fields[count].name; ++count)
    fields[count] =
        (PyStructSequence_Field){kinds[kind].fields[count].name, kinds[kind].fields[count].doc};
  fields[count] = (PyStructSequence_Field){NULL, NULL};
  PyStructSequence_Desc desc = {kinds[kind].name, kinds[kind].doc, fields, count};
  types[kind] = PyStructSequence_NewType(&desc);
  return types[kind] && PyModule_AddObjectRef(module, kinds[kind].name + sizeof "scree." - 1,
                                              (PyObject *)types[kind]) == 0;
}

bool records_init(PyObject *module) {
  for (int kind = 0; kind < RECORDS; ++kind)
    if (kinds[kind].name && !make_type(module, (Record)kind)) return false;
  return true;
}

static PyObject *value_of(const Field *field, const char *at) {
  const npy_intp three = 3, square[2] = {3, 3};
  switch (field->type) {
  case REAL: return PyFloat_FromDouble(*(const double *)at);
  case INT: return PyLong_FromLong(*(const int *)at);
  case LONG: return PyLong_FromLongLong(*(const int64_t *)at);
  case BOOL: return PyBool_FromLong(*(const bool *)at);
  case TEXT: {
    const char *text = *(const char *const *)at;
    if (!text) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  }
  case CHARS: return PyUnicode_DecodeUTF8(at, (Py_ssize_t)strlen(at), "replace");
  case PAIR: return Py_BuildValue("(ii)", ((const int *)at)[0], ((const int *)at)[1]);
  case VECTOR: return new_doubles(1, &three, (const double *)at);
  case MATRIX: return new_doubles(2, square, (const double *)at);
  default: return record_new(field->nested, at);
  }
}

PyObject *record_new(Record kind, const void *values) {
  PyObject *record = PyStructSequence_New(types[kind]);
  if (!record) return NULL;
  const Field *fields = kinds[kind].fields;
  for (int k = 0; fields[k].name; ++k) {
    PyObject *value = value_of(&fields[k], (const char *)values + fields[k].offset);
    if (!value) {
      Py_DECREF(record);
      return NULL;
    }
    PyStructSequence_SetItem(record, k, value);
  }
  return record;
}

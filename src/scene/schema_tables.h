/* Macros for the tables of the scene format, and the tables of the files schema_*.c that
 * scene_schema.c combines. */
#ifndef SCREE_SCHEMA_TABLES_H
#define SCREE_SCHEMA_TABLES_H

#include "scene/scene_schema.h"

#include <math.h>

#define REQUIRED  SCREE_FIELD_REQUIRED
#define AUTO      SCREE_FIELD_AUTO
#define OPEN      SCREE_FIELD_OPEN
#define AXIAL     SCREE_FIELD_AXIAL
#define BROADCAST SCREE_FIELD_BROADCAST

#define END                                                                                        \
  { 0 }

/* clang-format off */
#define REAL(k, fl, u, p, lo, hi, h) {.key = k, .type = SCREE_FIELD_REAL, .flags = (fl), .unit = u, .preset = p, .min = (lo), .max = (hi), .help = h}
#define INT(k, fl, p, lo, hi, h) {.key = k, .type = SCREE_FIELD_INT, .flags = (fl), .preset = p, .min = (lo), .max = (hi), .help = h}
#define BOOL(k, p, h) {.key = k, .type = SCREE_FIELD_BOOL, .preset = p, .help = h}
#define TEXT(k, fl, p, h) {.key = k, .type = SCREE_FIELD_TEXT, .flags = (fl), .preset = p, .help = h}
#define CHOICE(k, p, w, h) {.key = k, .type = SCREE_FIELD_CHOICE, .preset = p, .words = w, .help = h}
#define REGISTRY(k, fl, p, r, h) {.key = k, .type = SCREE_FIELD_CHOICE, .flags = (fl), .preset = p, .registry = r, .help = h}
#define VECTOR(k, fl, u, p, h) {.key = k, .type = SCREE_FIELD_VECTOR, .flags = (fl), .unit = u, .preset = p, .min = -INFINITY, .max = INFINITY, .help = h}
#define POSITIVES(k, fl, u, p, h) {.key = k, .type = SCREE_FIELD_VECTOR, .flags = (fl) | OPEN, .unit = u, .preset = p, .min = 0, .max = INFINITY, .help = h}
#define SIGNALS(k, fl, u, p, h) {.key = k, .type = SCREE_FIELD_SIGNALS, .flags = (fl), .unit = u, .preset = p, .min = -INFINITY, .max = INFINITY, .help = h}
#define INTS(k, p, lo, hi, h) {.key = k, .type = SCREE_FIELD_INTS, .preset = p, .min = (lo), .max = (hi), .help = h}
#define MAP(k, fl, p, f, h) {.key = k, .type = SCREE_FIELD_MAP, .flags = (fl), .preset = p, .fields = f, .help = h}
#define LIST(k, f, h) {.key = k, .type = SCREE_FIELD_LIST, .preset = "[]", .fields = f, .help = h}
#define LAW(p, h) {.key = "law", .type = SCREE_FIELD_LAW, .preset = p, .registry = scree_law_name, .help = h}
#define SHAPE(h) {.key = "shape", .type = SCREE_FIELD_SHAPE, .flags = REQUIRED, .help = h}
/* clang-format on */

/* schema_bodies.c */
extern const scree_Field scree_schema_law[];  /* of all materials */
extern const scree_Field scree_schema_pair[]; /* of two materials */
extern const scree_Field scree_schema_material[];
extern const scree_Field scree_schema_body[];
extern const scree_Field scree_schema_plate[];
extern const scree_Field scree_schema_obstacle[];
extern const scree_Field scree_schema_force[];
extern const scree_Variant scree_schema_joints[];     /* schema_joints.c */
extern const scree_Field scree_schema_bond[];         /* schema_joints.c */
extern const scree_Variant scree_schema_generators[]; /* schema_generators.c */
extern const scree_Variant scree_schema_regions[];    /* schema_generators.c */
extern const scree_Variant scree_schema_sensors[];    /* schema_sensors.c */

/* ---- keys that several tables have ---- */

#define MATTER_FIELDS                                                                              \
  TEXT("material", AUTO, "auto", "name of a material; auto: the first one of `materials`"),        \
      INT("group", 0, "0", 0, 4294967295.0,                                                        \
          "collision group: bodies of the same group do not touch each other, unless it is 0")

#define OWN_DENSITY                                                                                \
  REAL("density", OPEN, "kg/m3, kg/m2 in 2D", NULL, 0, INFINITY,                                   \
       "density; default: that of the material")

const char *scree_schema_kind(int index); /* kinds of bodies; schema_bodies.c */
extern const char *const scree_schema_integrations[];
extern const char *const scree_schema_mass_matrices[];

/* `key` is `kind` where that is not the kind of a generator. */
#define KIND_FIELDS(key)                                                                           \
  REGISTRY(key, 0, "rigid", scree_schema_kind,                                                     \
           "rigid; pseudo-rigid: deforms by an affine map (disk, ellipse, sphere, ellipsoid, "     \
           "box, polyhedron); elements: finite elements (shape `elements`). Deformable kinds "     \
           "need a material with `young`"),                                                        \
      CHOICE("integration", "implicit", scree_schema_integrations,                                 \
             "time integration of deformable bodies: implicit (linearly implicit, stable for "     \
             "every step), or explicit (for short steps)"),                                        \
      CHOICE("mass_matrix", "lumped", scree_schema_mass_matrices,                                  \
             "mass matrix of finite elements: lumped at the nodes, or consistent"),                \
      BOOL("keep_shape", "false",                                                                  \
           "pseudo-rigid: whether contacts use the undeformed shape, which rotates with the body")

#define REGION(fl, h)                                                                              \
  {                                                                                                \
    .key = "region", .type = SCREE_FIELD_VARIANT, .flags = (fl), .variants = scree_schema_regions, \
    .help = h                                                                                      \
  }

#endif

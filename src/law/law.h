/* Contact laws: how the parameters of a pair of materials become the set, the restitution, the
 * compliance and the term in q of a contact. A law is one file with one `const scree_LawClass` and
 * one line in registry.c. */
#ifndef SCREE_LAW_LAW_H
#define SCREE_LAW_LAW_H

#include "math/vec3.h"
#include "scree/law.h"

typedef struct scree_LawClass scree_LawClass;

/* The part of a law that is the same for all contacts of a pair of materials. */
typedef struct scree_LawContact {
  const scree_LawClass *law;
  const scree_PairLaw *pair;
  scree_Set set;
  double e_n, e_t;
  double dilatancy;         /* of the flow, over that of the associated one: H = diag(1, it, it) */
  double rolling, spinning; /* moments over the normal force, in radii (half the smaller width) */
  bool soft;                /* bodies may overlap: the law carries its load by overlap, or yields */
  bool plastic;             /* the normal has a plastic displacement of its own */
} scree_LawContact;

/* A contact as passed to a law with terms of its own. */
typedef struct scree_LawPoint {
  int d;
  double h;               /* length of the step: impulses are forces times h */
  double horizon;         /* time from this kick to the next one */
  double rest;            /* time from this kick to the end of the step */
  double gap;             /* negative: penetration */
  const scree_Vec3 *axes; /* (d) normal and tangents */
  const double *before;   /* (d) relative velocity before the kick */
  const double *memory;   /* (memory of the class) after the last step; zero for a new contact */
  bool first;             /* the first step of a simulation */
  double size;            /* of the smaller body */
  double mass[3];         /* (d) inertia in each direction: 1 over the diagonal of W */
} scree_LawPoint;

/* Terms that such a law adds to the problem u = W r + q. */
typedef struct scree_LawTerms {
  scree_Set set;
  double q[3];          /* (d) in addition to the free velocity */
  double compliance[3]; /* (d) diagonal of C, >= 0 */
  bool own_gap;         /* q replaces the term of the scheme for the gap */
} scree_LawTerms;

/* Energy stored in a contact at the end of a step, by the direction that releases it, and what its
 * dampers and the plastic displacement of its normal have taken in that step. */
typedef struct scree_LawEnergy {
  double normal, tangent;
  double viscous_n, viscous_t, plastic;
  double power; /* of springs on the bodies, of the forces and velocities at the end, W: schemes
                 * that are not centred shift energy by a part of it (certify.c) */
} scree_LawEnergy;

struct scree_LawClass {
  const char *name, *summary;
  scree_OptionTable options; /* of reals, at most SCREE_LAW_VALUES */
  /* Null, or a check of values that are each in range but may make no sense together. Returns "what
   * was found, expected what", or null if they are right. */
  const char *(*check)(const scree_PairLaw *law);
  /* Set and restitution. `h` is the step: sets are in impulses, laws may be given in forces. */
  void (*fill)(const scree_PairLaw *law, double h, scree_LawContact *contact);
  /* Null, or the normal displacement, <= 0, that springs carry, of a law with terms of its own: the
   * scheme gets the gap less this one. */
  double (*overlap)(const scree_PairLaw *law, const scree_LawPoint *point);
  /* Null, or for a law with terms of its own. `terms` is initialised with the set of `fill`, with
   * the q of the time scheme (which must look ahead: gap and restitution), without compliance. */
  void (*pose)(const scree_PairLaw *law, const scree_LawPoint *point, scree_LawTerms *terms);
  /* Memory of a contact: doubles that are matched with the contact in the next step, by its key and
   * position, are saved with the world, and are restored when a step is undone. At most
   * SCREE_LAW_MEMORY. `update` gives its value after a step with impulse r (d) and the u (d) of the
   * problem, which includes the terms of `pose`; it starts from zero. `energy` gives the energy at
   * the end of that step. */
  int memory;
  void (*update)(const scree_PairLaw *law, const scree_LawPoint *point, const double *r,
                 const double *u, double *memory);
  scree_LawEnergy (*energy)(const double *memory);
  /* Null, or the plastic displacement of the normal, m, and whether the contact is bonded, of a
   * memory. */
  void (*show)(const scree_PairLaw *law, const double *memory, double *plastic,
               scree_ContactBond *bond);
};

enum { SCREE_LAW_MEMORY = 20 };

/* Parameter k of a law. */
#define SCREE_LAW_REAL(name, k, preset, min, max, help)                                            \
  { name, SCREE_OPTION_REAL, (k) * sizeof(double), preset, min, max, false, NULL, help }

/* Parameters that several laws have, each described once. */
#define SCREE_LAW_MU(k) SCREE_LAW_REAL("mu", k, 0.5, 0, DBL_MAX, "coefficient of friction")
#define SCREE_LAW_ROLLING(k)                                                                       \
  SCREE_LAW_REAL("rolling", k, 0, 0, DBL_MAX,                                                      \
                 "coefficient of rolling resistance: largest rolling moment divided by the "       \
                 "normal force and the radius of the smaller body")
#define SCREE_LAW_SPINNING(k)                                                                      \
  SCREE_LAW_REAL("spinning", k, 0, 0, DBL_MAX,                                                     \
                 "coefficient of spinning resistance: largest moment about the normal divided by " \
                 "the normal force and the radius of the smaller body; 3D")
#define SCREE_LAW_DILATANCY(k)                                                                     \
  SCREE_LAW_REAL("dilatancy", k, 1, 1e-6, 1e6,                                                     \
                 "ratio of the opening velocity to mu times the sliding velocity, with `solver: "  \
                 "{ flow: associated }`: 1 is the associated flow, near 0 Coulomb's law")
#define SCREE_LAW_TABLE(array)                                                                     \
  {                                                                                                \
    array, (int)(sizeof(array) / sizeof *(array)),                                                 \
        sizeof(double) * (sizeof(array) / sizeof *(array))                                         \
  }

extern const scree_LawClass scree_law_coulomb, scree_law_frictionless, scree_law_compliant,
    scree_law_cohesive;
extern const scree_LawClass *const scree_law_registry[]; /* null-terminated */
const scree_LawClass *scree_law_find(const char *name);
/* Check the values of a known law: each one against the range of its table, then together. */
scree_Status scree_law_check(const scree_PairLaw *law, const scree_Log *log);

/* The laws of all pairs of materials: a symmetric table, with the default for pairs that were not
 * set. */
typedef struct scree_LawTable {
  int materials;
  scree_PairLaw preset;     /* its name points to the name of the class */
  scree_PairLaw *pairs;     /* (materials x materials) null law: the default */
  scree_LawContact *filled; /* (materials x materials) for the step `h` */
  double h;
  bool any_set;         /* some pair needs a set other than the cone */
  bool any_restitution; /* some pair bounces */
  double highest_e_n;   /* of all pairs */
  bool any_terms;       /* some pair has terms of its own */
  bool any_rolling;     /* some pair resists rolling or spinning */
  bool any_flow;        /* some pair has a dilatancy other than 1 */
  int memory;           /* largest number of doubles in the memory of a contact; with any_rolling
                         * the last three are its moment (step/rolling.h) */
} scree_LawTable;

scree_Status scree_law_table_init(scree_LawTable *table, const scree_Log *log);
void scree_law_table_fini(scree_LawTable *table);
scree_Status scree_law_table_add(scree_LawTable *table, const scree_Log *log);
/* a = b = -1 sets the default */
scree_Status scree_law_table_set(scree_LawTable *table, int a, int b, const scree_PairLaw *law,
                                 const scree_Log *log);
/* Evaluate all pairs for the step h. */
void scree_law_table_fill(scree_LawTable *table, double h);
/* Of a law: its `dilatancy`, 1 where it has none. */
double scree_law_dilatancy(const scree_PairLaw *law);
/* A pair law in use with another dilatancy than 1, or null. */
const scree_PairLaw *scree_law_table_flow(const scree_LawTable *table);
/* The first law in use with terms of its own, or null. */
const scree_LawClass *scree_law_table_terms(const scree_LawTable *table);

static inline const scree_LawContact *scree_law_table_get(const scree_LawTable *table, int a,
                                                          int b) {
  return &table->filled[a * table->materials + b];
}

#endif

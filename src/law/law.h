/* Contact laws: how the parameters of a pair of materials become the set, the friction and the
 * restitution of a contact. A law is one file with one `const scree_LawClass` and one line in
 * registry.c. */
#ifndef SCREE_LAW_LAW_H
#define SCREE_LAW_LAW_H

#include "scree/law.h"

/* What the discrete problem wants to know of one contact. */
typedef struct scree_LawContact {
  scree_Set set;
  double e_n, e_t;
} scree_LawContact;

typedef struct scree_LawClass {
  const char *name, *summary;
  /* Null, or what is wrong with the parameters. */
  const char *(*check)(const scree_PairLaw *law);
  /* `h` is the step: sets are of impulses, a law may be given in forces. */
  void (*fill)(const scree_PairLaw *law, double h, scree_LawContact *contact);
} scree_LawClass;

extern const scree_LawClass scree_law_coulomb, scree_law_frictionless;
extern const scree_LawClass *const scree_law_registry[]; /* null-ended */
const scree_LawClass *scree_law_find(const char *name);

/* The laws of all pairs of materials: a symmetric table, with the default where none was set. */
typedef struct scree_LawTable {
  int materials;
  scree_PairLaw preset;     /* its name points to the class's own */
  scree_PairLaw *pairs;     /* (materials x materials) law null: the default */
  scree_LawContact *filled; /* (materials x materials) for the step `h` */
  double h;
  bool any_set;         /* some pair needs another set than the cone */
  bool any_restitution; /* some pair bounces */
} scree_LawTable;

scree_Status scree_law_table_init(scree_LawTable *table, const scree_Log *log);
void scree_law_table_fini(scree_LawTable *table);
scree_Status scree_law_table_add(scree_LawTable *table, const scree_Log *log);
/* a = b = -1 sets the default */
scree_Status scree_law_table_set(scree_LawTable *table, int a, int b, const scree_PairLaw *law,
                                 const scree_Log *log);
/* Evaluate all pairs for the step h. */
void scree_law_table_fill(scree_LawTable *table, double h);

static inline const scree_LawContact *scree_law_table_get(const scree_LawTable *table, int a,
                                                          int b) {
  return &table->filled[a * table->materials + b];
}

#endif

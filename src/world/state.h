/* The layout of a saved state (state.c), which the ranks of a divided world write and read together
 * (part_state.c): the header; motions and creep of all bodies; removed bodies; late impacts; keys,
 * impulses, arms and values of contacts; drivers and forces; the memory of the solver. */
#ifndef SCREE_WORLD_STATE_H
#define SCREE_WORLD_STATE_H

#include "world/world.h"

typedef struct scree_StateHeader {
  char magic[8];
  int64_t size; /* of the whole buffer */
  int32_t dimension, bodies;
  int64_t contacts, removed, late;
  int64_t stride;    /* number of doubles in the memory of a contact's law */
  int64_t actuation; /* bytes of drivers and forces */
  int64_t solver;    /* bytes of the solver's memory, at the end */
  double step;
  scree_WorldTotals progress;
} scree_StateHeader;

typedef struct scree_StateRemoved {
  int64_t body, step;
} scree_StateRemoved;

/* With the counts of this rank. */
scree_StateHeader scree_state_header(const scree_World *world);
scree_Status scree_state_check_header(const scree_World *world, const scree_StateHeader *header,
                                      int bodies);
/* Time and sums as in the header. */
void scree_state_continue(scree_World *world, const scree_StateHeader *header);

#endif

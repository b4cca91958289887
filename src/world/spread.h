/* The state of a body on its way between ranks or into a file (spread.c, part_state.c). */
#ifndef SCREE_WORLD_SPREAD_H
#define SCREE_WORLD_SPREAD_H

#include "world/world.h"

#include <stddef.h>

typedef struct scree_SentBody {
  scree_Motion motion;
  scree_Late way; /* of a late impact */
  scree_BodyCreep creep;
  int64_t gone;
  int number, late;
} scree_SentBody;

/* Place of each body in the list of late impacts, or -1; freed with scree_free, null: no memory. */
int *scree_spread_late(const scree_System *s);
scree_SentBody scree_spread_get(const scree_System *s, int k, const int *late_of);
/* False: out of memory. */
bool scree_spread_put(scree_System *s, int k, const scree_SentBody *body);

/* The deformable bodies of all ranks, ascending in their numbers; the same on all of them. */
typedef struct scree_DeformedBody {
  int number, components, nodes; /* nodes: of finite elements, else 0 */
} scree_DeformedBody;

typedef struct scree_DeformedList {
  size_t count;
  scree_DeformedBody *body; /* (count) freed with scree_free */
} scree_DeformedList;

scree_Status scree_spread_deformed(const scree_System *s, scree_DeformedList *list);

/* A node of a finite-element body that this rank owns. */
typedef struct scree_OwnNode {
  int deformable, node; /* the body among the deformable ones of this rank, and its node */
  int body;             /* number in the whole world */
  int64_t number;       /* among the nodes of all bodies, in their order */
} scree_OwnNode;

/* Those of this rank (freed with scree_free), ascending, and the number of all. */
SCREE_PRIVATE scree_Status scree_spread_nodes(const scree_System *s, scree_OwnNode **nodes,
                                              size_t *count, int64_t *whole);

/* The memory of joint k, which this rank has. */
typedef struct scree_SentJoint {
  int64_t joint;
  scree_JointMemory memory;
} scree_SentJoint;

/* The states of the joints of this rank's range of numbers, from the ranks that have them; freed
 * with scree_free. */
scree_Status scree_part_share_joints(const scree_System *s, void **memory, size_t *bytes);

/* The states and the accounts of energy of the deformable bodies of this rank's range of numbers,
 * `block` in each; freed with scree_free. */
scree_Status scree_part_share_deformed(const scree_System *s, int block, void **states,
                                       size_t *state_bytes, void **accounts, size_t *account_bytes);

/* A contact of the memory with whole numbers, and the values of its law behind it. */
void scree_spread_pack(const scree_System *s, size_t k, char *to);
static inline size_t scree_spread_bytes(size_t stride) {
  return sizeof(scree_KeptContact) + stride * sizeof(double);
}

#endif

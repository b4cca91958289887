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
  scree_DeformableSent deformed; /* last: not sent where all bodies are rigid */
} scree_SentBody;

/* Bytes of it on its way. */
static inline size_t scree_spread_body_bytes(const scree_System *s) {
  return scree_system_deforms(s) ? sizeof(scree_SentBody) : offsetof(scree_SentBody, deformed);
}

/* Place of each body in the list of late impacts, or -1; freed with scree_free, null: no memory. */
int *scree_spread_late(const scree_System *s);
scree_SentBody scree_spread_get(const scree_System *s, int k, const int *late_of);
/* False: out of memory. */
bool scree_spread_put(scree_System *s, int k, const scree_SentBody *body);

/* The memory of joint k, which this rank has. */
typedef struct scree_SentJoint {
  int64_t joint;
  scree_JointMemory memory;
} scree_SentJoint;

/* The states of the joints of this rank's range of numbers, from the ranks that have them; freed
 * with scree_free. */
scree_Status scree_part_share_joints(const scree_System *s, void **memory, size_t *bytes);

/* A contact of the memory with whole numbers, and the values of its law behind it. */
void scree_spread_pack(const scree_System *s, size_t k, char *to);
static inline size_t scree_spread_bytes(size_t stride) {
  return sizeof(scree_KeptContact) + stride * sizeof(double);
}

#endif

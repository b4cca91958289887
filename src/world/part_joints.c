/* The states of joints in a saved state of a divided world (see part_state.c): each rank writes
 * those of a range of numbers. */
#include "core/log.h"
#include "core/memory.h"
#include "world/spread.h"

#include <string.h>

/* States on their way to the ranks of their range. */
typedef struct Joints {
  const scree_Joints *joints;
  int block, first;
  scree_JointMemory *memory;
} Joints;

static int pack_joint(void *user, size_t k, void *element) {
  const Joints *to = user;
  if (!to->joints->here[k]) return -1;
  const scree_SentJoint sent = {(int64_t)k, to->joints->memory[k]};
  memcpy(element, &sent, sizeof sent);
  return (int)k / to->block;
}

static bool take_joint(void *user, const void *element) {
  const Joints *to = user;
  scree_SentJoint sent;
  memcpy(&sent, element, sizeof sent);
  to->memory[sent.joint - to->first] = sent.memory;
  return true;
}

scree_Status scree_part_share_joints(const scree_System *s, void **memory, size_t *bytes) {
  const int n = s->joints.count, size = s->domain.size;
  const int block = n < size ? 1 : (n + size - 1) / size;
  const int64_t begin = (int64_t)s->domain.rank * block;
  const int first = begin < n ? (int)begin : n;
  const size_t count = (size_t)(n - first < block ? n - first : block);
  if (n == 0) return SCREE_OK;
  Joints to = {&s->joints, block, first, SCREE_ALLOC(scree_JointMemory, count)};
  *memory = to.memory;
  *bytes = count * sizeof *to.memory;
  const scree_Deal deal = {sizeof(scree_SentJoint), pack_joint, take_joint, &to};
  const scree_Status status =
      scree_domain_agree(s, *memory ? SCREE_OK : scree_fail_memory(s->log, "the joints of a rank"));
  return status ? status : scree_ranks_deal(s->domain.ranks, (size_t)n, &deal, s->log);
}

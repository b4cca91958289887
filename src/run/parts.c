/* Runs on several ranks (see parts.h). */
#define _XOPEN_SOURCE 700 /* getrusage */
#include "run/parts.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/shared_file.h"
#include "scene/scene.h"
#include "scree/solver.h"
#include "world/spread.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void scree_run_parts_init(scree_RunParts *parts, const scree_Ranks *ranks,
                          const scree_Scene *scene) {
  const bool several = scree_ranks_size(ranks) > 1;
  const char *why = several ? scree_scene_cannot_divide(scene) : NULL;
  *parts = (scree_RunParts){.ranks = several ? ranks : NULL,
                            .together = several,
                            .writes = scree_ranks_rank(ranks) == 0,
                            .before = scree_ranks_counts(ranks)};
  snprintf(parts->why, sizeof parts->why, "%s", why ? why : "");
}

void scree_run_parts_fini(scree_RunParts *parts) {
  if (parts->solves) scree_solver_dismiss(parts->ranks);
  scree_world_destroy(parts->whole);
  *parts = (scree_RunParts){0};
}

/* ---- the world -------------------------------------------------------------------------------
 */

/* Impulses of bodies that come from another run are put into a whole world by rank 0, which sends
 * it. */
static scree_Status send_start(scree_RunParts *parts, const scree_Scene *scene,
                               const scree_Log *log, scree_World *world) {
  scree_Status status = parts->writes ? scree_scene_build(scene, log, &parts->whole) : SCREE_OK;
  status = scree_run_parts_agree(parts, status, log);
  if (status == SCREE_OK) status = scree_world_spread(world, parts->whole);
  scree_world_destroy(parts->whole);
  parts->whole = NULL;
  return status;
}

scree_Status scree_run_parts_build(scree_RunParts *parts, const scree_Scene *scene, bool start,
                                   const scree_Log *log, scree_World **world) {
  if (!parts->ranks) return scree_scene_build(scene, log, world);
  if (!parts->why[0]) {
    scree_Status status = scree_scene_build_part(scene, parts->ranks, log, world);
    status = scree_run_parts_agree(parts, status, log);
    if (status == SCREE_OK && start && scene->start.step > 0)
      status = send_start(parts, scene, log, *world);
    return status;
  }
  scree_Status status = parts->writes ? scree_scene_build(scene, log, world) : SCREE_OK;
  status = scree_run_parts_agree(parts, status, log);
  if (status != SCREE_OK) return status;
  parts->together = false;
  parts->serves = !parts->writes;
  parts->solves = parts->writes;
  if (parts->writes)
    scree_report(log, SCREE_LOG_WARNING,
                 "the world is not divided between the ranks: %s. Rank 0 has it, and the others "
                 "join large solves",
                 parts->why);
  return SCREE_OK;
}

/* ---- what all ranks write ----------------------------------------------------------------------
 */

/* How many bodies a rank has in files. */
static int block_of(const scree_RunParts *parts, int bodies) {
  const int size = scree_ranks_size(parts->ranks);
  return bodies < size ? 1 : (bodies + size - 1) / size;
}

/* The items of this rank: how many, how many a rank has at most, and the first. */
static size_t share_of(const scree_RunParts *parts, int items, int *block, int *first) {
  *block = block_of(parts, items);
  const int64_t begin = (int64_t)scree_ranks_rank(parts->ranks) * *block;
  *first = begin < items ? (int)begin : items;
  return (size_t)(items - *first < *block ? items - *first : *block);
}

/* The part of a frame that a rank writes: bodies of its range, and contacts whose first body is in
 * it. */
typedef struct FramePart {
  const scree_World *world;
  int block, first;
  int joint_block, first_joint; /* the same of joints */
  int node_block, first_node;   /* and of nodes */
  const scree_OwnNode *own; /* nodes of this rank's bodies, and the numbers of all that it has: */
  const double *position, *velocity, *stress;
  const size_t *node_first; /* (deformable bodies) their first nodes in these */
  scree_Frame frame;        /* the head is that of the whole */
  size_t each_body;         /* bytes of a body on its way */
  size_t each;              /* of a contact */
  char *got;                /* (contacts) */
  size_t contacts, capacity;
} FramePart;

/* The deformation is sent where some bodies deform. */
typedef struct SentBody {
  scree_FrameBody body;
  int64_t number;
  double stretch[SCREE_FRAME_STRETCH], gradient[SCREE_FRAME_GRADIENT];
} SentBody;

static int pack_body(void *user, size_t k, void *element) {
  const FramePart *part = user;
  const int b = (int)k;
  if (!scree_body_is_mine(part->world, b)) return -1;
  SentBody one = {scree_frame_body(part->world, b), scree_body_number(part->world, b), {0}, {0}};
  if (part->frame.head.deforms) scree_frame_deformation(part->world, b, one.stretch, one.gradient);
  memcpy(element, &one, part->each_body);
  return (int)one.number / part->block;
}

static bool take_body(void *user, const void *element) {
  FramePart *part = user;
  SentBody one;
  memcpy(&one, element, part->each_body);
  const size_t at = (size_t)(one.number - part->first);
  part->frame.body[at] = one.body;
  if (!part->frame.head.deforms) return true;
  memcpy(part->frame.stretch + SCREE_FRAME_STRETCH * at, one.stretch, sizeof one.stretch);
  if (part->frame.head.affine)
    memcpy(part->frame.gradient + SCREE_FRAME_GRADIENT * at, one.gradient, sizeof one.gradient);
  return true;
}

/* A node: position, velocity and stress. */
typedef struct SentNode {
  int64_t number;
  double position[3], velocity[3], stress[6];
} SentNode;

static int pack_node(void *user, size_t k, void *element) {
  const FramePart *part = user;
  const scree_OwnNode *own = &part->own[k];
  const size_t at = part->node_first[own->deformable] + (size_t)own->node;
  SentNode one = {.number = own->number};
  memcpy(one.position, part->position + 3 * at, sizeof one.position);
  memcpy(one.velocity, part->velocity + 3 * at, sizeof one.velocity);
  memcpy(one.stress, part->stress + 6 * at, sizeof one.stress);
  memcpy(element, &one, sizeof one);
  return (int)one.number / part->node_block;
}

static bool take_node(void *user, const void *element) {
  const FramePart *part = user;
  SentNode one;
  memcpy(&one, element, sizeof one);
  const size_t at = (size_t)(one.number - part->first_node);
  memcpy(part->frame.node + 3 * at, one.position, sizeof one.position);
  memcpy(part->frame.node_velocity + 3 * at, one.velocity, sizeof one.velocity);
  memcpy(part->frame.node_stress + 6 * at, one.stress, sizeof one.stress);
  return true;
}

/* The numbers of the nodes of all bodies that this rank holds, in one array: position, velocity,
 * stress; and where each deformable body begins. */
static scree_Status list_nodes(FramePart *part, double **numbers, size_t **first,
                               const scree_Log *log) {
  const scree_Bodies *b = &part->world->system.bodies;
  const size_t n = (size_t)scree_world_node_count(part->world);
  *numbers = SCREE_ALLOC(double, 12 * n);
  *first = SCREE_ALLOC(size_t, b->deformable_count);
  if (!*numbers || !*first) return scree_fail_memory(log, "a frame of the results");
  size_t at = 0;
  for (int k = 0; k < b->deformable_count; ++k) {
    (*first)[k] = at;
    at += b->deformable[k].class_->nodes ? (size_t)b->deformable[k].vertices : 0;
  }
  part->position = *numbers;
  part->velocity = *numbers + 3 * n;
  part->stress = *numbers + 6 * n;
  part->node_first = *first;
  return scree_frame_nodes(part->world, *numbers, *numbers + 3 * n, *numbers + 6 * n);
}

/* The nodes of this rank's range, of `mine` that its bodies have. */
static scree_Status fill_nodes(const scree_RunParts *parts, FramePart *part, size_t mine,
                               size_t count, const scree_Log *log) {
  const scree_Deal nodes = {sizeof(SentNode), pack_node, take_node, part};
  double *numbers = NULL;
  size_t *first = NULL;
  scree_Frame *frame = &part->frame;
  if (frame->head.nodes == 0) return SCREE_OK;
  scree_Status status = list_nodes(part, &numbers, &first, log);
  frame->node = SCREE_ALLOC(double, 3 * count);
  frame->node_velocity = SCREE_ALLOC(double, 3 * count);
  frame->node_stress = SCREE_ALLOC(double, 6 * count);
  if (!frame->node || !frame->node_velocity || !frame->node_stress)
    status = scree_fail_memory(log, "a frame of the results");
  status = scree_run_parts_agree(parts, status, log);
  if (status == SCREE_OK) status = scree_ranks_deal(parts->ranks, mine, &nodes, log);
  scree_free(numbers);
  scree_free(first);
  return status;
}

/* A joint from the rank that has it; of a bond that broke, whose second body is on another rank,
 * that rank sends what depends on this body. */
typedef struct SentJoint {
  scree_FrameJoint joint;
  int32_t number, second;
} SentJoint;

static int pack_joint(void *user, size_t k, void *element) {
  const FramePart *part = user;
  const scree_Joints *j = &part->world->system.joints;
  const int n = j->count, number = (int)(k % (size_t)n);
  const bool second = k >= (size_t)n;
  const int other = j->joint[number].body[1];
  const bool tells = scree_joint_is_here(j, number)
                         ? !second
                         : second && other >= 0 && scree_body_is_owned(part->world, other);
  if (!tells) return -1;
  const SentJoint one = {scree_frame_joint(part->world, number), number, second};
  memcpy(element, &one, sizeof one);
  return number / part->joint_block;
}

static bool take_joint(void *user, const void *element) {
  const FramePart *part = user;
  SentJoint one;
  memcpy(&one, element, sizeof one);
  scree_FrameJoint *to = &part->frame.joint[one.number - part->first_joint];
  const scree_FrameJoint before = *to;
  if (!one.second) *to = one.joint;
  to->unused = one.second || before.unused; /* the second body has told, until all have arrived */
  if (!to->unused) return true;
  const scree_FrameJoint *second = one.second ? &one.joint : &before;
  memcpy(to->axis, second->axis, sizeof to->axis);
  if (second->status == SCREE_JOINT_GONE) to->status = SCREE_JOINT_GONE;
  return true;
}

static scree_Status fill_joints(const scree_RunParts *parts, FramePart *part, size_t count,
                                const scree_Log *log) {
  const scree_Deal joints = {sizeof(SentJoint), pack_joint, take_joint, part};
  const size_t all = (size_t)part->frame.head.joints;
  if (all == 0) return SCREE_OK;
  part->frame.joint = SCREE_ALLOC(scree_FrameJoint, count);
  scree_Status status = part->frame.joint ? SCREE_OK : scree_fail_memory(log, "a frame of joints");
  status = scree_run_parts_agree(parts, status, log);
  if (status == SCREE_OK) status = scree_ranks_deal(parts->ranks, 2 * all, &joints, log);
  for (size_t k = 0; status == SCREE_OK && k < count; ++k) part->frame.joint[k].unused = 0;
  return status;
}

/* The memory of the law is sent where laws have one. */
typedef struct SentContact {
  scree_FrameContact contact; /* first: it is sorted by */
  double memory[SCREE_CONTACT_MEMORY];
} SentContact;

static int pack_contact(void *user, size_t k, void *element) {
  const FramePart *part = user;
  const scree_Contact contact = scree_world_contact(part->world, (int)k);
  SentContact one = {.contact = scree_frame_contact(&contact)};
  for (int side = 0; side < 2; ++side)
    one.contact.body[side] = scree_body_number(part->world, contact.body[side]);
  if (part->frame.head.remembers) scree_world_contact_memory(part->world, (int)k, one.memory);
  memcpy(element, &one, part->each);
  return one.contact.body[0] / part->block;
}

static bool take_contact(void *user, const void *element) {
  FramePart *part = user;
  scree_FrameContact one;
  if (!scree_grow_lean((void **)&part->got, &part->capacity, (part->contacts + 1) * part->each, 1))
    return false;
  char *to = part->got + part->contacts++ * part->each;
  memcpy(to, element, part->each);
  memcpy(&one, to, sizeof one);
  one.unused = (int32_t)part->contacts; /* its place, until they are sorted */
  memcpy(to, &one, sizeof one);
  return true;
}

/* Contacts and memory in arrays of their own. */
static bool split_contacts(FramePart *part) {
  const size_t n = part->contacts, width = SCREE_CONTACT_MEMORY;
  scree_Frame *frame = &part->frame;
  frame->contact = SCREE_ALLOC(scree_FrameContact, n);
  frame->law_memory = SCREE_ALLOC(double, frame->head.remembers ? n *width : 0);
  if (!frame->contact || !frame->law_memory) return false;
  for (size_t k = 0; k < n; ++k) {
    const char *from = part->got + k * part->each;
    memcpy(&frame->contact[k], from, sizeof *frame->contact);
    frame->contact[k].unused = 0;
    if (frame->head.remembers)
      memcpy(frame->law_memory + k * width, from + offsetof(SentContact, memory),
             width * sizeof(double));
  }
  return true;
}

/* Points of a pair are of one rank, and keep their order. */
static int compare_contacts(const void *a, const void *b) {
  const scree_FrameContact *x = a, *y = b;
  for (int side = 0; side < 2; ++side)
    if (x->body[side] != y->body[side]) return x->body[side] < y->body[side] ? -1 : 1;
  return (x->unused > y->unused) - (x->unused < y->unused);
}

static scree_Status fill_frame(const scree_RunParts *parts, FramePart *part, size_t count,
                               const scree_Log *log) {
  scree_Frame *frame = &part->frame;
  const scree_FrameHead *head = &frame->head;
  const scree_Deal bodies = {part->each_body, pack_body, take_body, part};
  const scree_Deal contacts = {part->each, pack_contact, take_contact, part};
  frame->body = SCREE_ALLOC(scree_FrameBody, count);
  frame->stretch = SCREE_ALLOC(double, head->deforms ? SCREE_FRAME_STRETCH *count : 0);
  frame->gradient = SCREE_ALLOC(double, head->affine ? SCREE_FRAME_GRADIENT *count : 0);
  const bool enough = frame->body && frame->stretch && frame->gradient;
  scree_Status status = enough ? SCREE_OK : scree_fail_memory(log, "a frame of the results");
  status = scree_run_parts_agree(parts, status, log);
  if (status == SCREE_OK)
    status =
        scree_ranks_deal(parts->ranks, (size_t)scree_world_body_count(part->world), &bodies, log);
  if (status == SCREE_OK && head->contacts > 0)
    status = scree_ranks_deal(parts->ranks, (size_t)scree_world_contact_count(part->world),
                              &contacts, log);
  if (part->contacts) qsort(part->got, part->contacts, part->each, compare_contacts);
  if (status == SCREE_OK && !split_contacts(part))
    status = scree_fail_memory(log, "a frame of the results");
  status = scree_run_parts_agree(parts, status, log);
  return status;
}

scree_Status scree_run_parts_frame(const scree_RunParts *parts, const scree_World *world,
                                   bool with_contacts, const scree_Aabb *region,
                                   scree_Journal *journal, const scree_Log *log) {
  FramePart part = {.world = world};
  scree_FrameHead *head = &part.frame.head;
  scree_Status status = scree_frame_head(world, with_contacts, region, head);
  if (status != SCREE_OK) return status;
  head->bodies = scree_world_whole_count(world);
  head->contacts = (int32_t)scree_ranks_sum(parts->ranks, head->contacts);
  scree_OwnNode *own = NULL;
  size_t mine = 0;
  int64_t nodes = 0;
  if (head->deforms) status = scree_spread_nodes(&world->system, &own, &mine, &nodes);
  if (status != SCREE_OK) return status;
  part.own = own;
  head->nodes = (int32_t)nodes;
  scree_PartSizes has = {0, 0, 0, 0};
  has.bodies = share_of(parts, head->bodies, &part.block, &part.first);
  has.nodes = share_of(parts, head->nodes, &part.node_block, &part.first_node);
  has.joints = share_of(parts, head->joints, &part.joint_block, &part.first_joint);
  part.each_body = head->deforms ? sizeof(SentBody) : offsetof(SentBody, stretch);
  part.each = head->remembers ? sizeof(SentContact) : offsetof(SentContact, memory);
  status = fill_frame(parts, &part, has.bodies, log);
  if (status == SCREE_OK) status = fill_nodes(parts, &part, mine, has.nodes, log);
  if (status == SCREE_OK) status = fill_joints(parts, &part, has.joints, log);
  scree_free(own);
  has.contacts = part.contacts;
  if (status == SCREE_OK)
    status = scree_journal_append_part(journal, parts->ranks, &part.frame, &has, log);
  void *arrays[] = {part.frame.body,          part.frame.stretch,
                    part.frame.gradient,      part.frame.node,
                    part.frame.node_velocity, part.frame.node_stress,
                    part.frame.contact,       part.frame.law_memory,
                    part.frame.joint,         part.got};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  return status;
}

scree_Status scree_run_parts_checkpoint(const scree_RunParts *parts, const scree_World *world,
                                        const char *path, scree_CheckpointHead *head,
                                        const int *order, const scree_Log *log) {
  scree_PartState state;
  scree_Status status = scree_world_part_save(world, &state);
  if (status == SCREE_OK)
    status = scree_checkpoint_write_part(path, head, order, &state, parts->ranks, log);
  scree_world_part_state_fini(&state);
  return status;
}

/* Reader of a state in a file. */
typedef struct StateFile {
  int file;
  int64_t at;
} StateFile;

static bool read_state(void *user, int64_t offset, void *data, size_t bytes) {
  const StateFile *from = user;
  return scree_read_all(from->file, data, bytes, from->at + offset);
}

scree_Status scree_run_parts_restore(const scree_RunParts *parts, scree_World *world,
                                     const char *path, int64_t at, const scree_Log *log) {
  StateFile from = {scree_shared_open(parts->ranks, path, false, log), at};
  if (from.file < 0) return SCREE_MACHINE;
  const scree_Status status = scree_world_part_restore(world, read_state, &from);
  (void)close(from.file);
  return status;
}

scree_Status scree_run_parts_table(const scree_RunParts *parts, const scree_World *world,
                                   bool alone, scree_BodyTable *table) {
  const int whole = scree_world_whole_count(world);
  const int block = alone ? whole > 0 ? whole : 1 : block_of(parts, whole);
  const int64_t first = (int64_t)scree_ranks_rank(parts->ranks) * block;
  *table = (scree_BodyTable){.first = first < whole ? (int)first : whole, .whole = whole};
  const scree_Status status = scree_world_part_rows(world, block, &table->row, &table->count);
  if (status != SCREE_OK) return status;
  return scree_world_node_rows(world, block, &table->node, &table->nodes, &table->whole_nodes);
}

/* ---- counts ----------------------------------------------------------------------------------
 */

int scree_run_parts_bodies(const scree_RunParts *parts, const scree_World *world) {
  const int n = scree_world_body_count(world);
  double count = 0;
  for (int b = 0; b < n; ++b)
    count += !scree_body_is_obstacle(world, b) && scree_body_is_mine(world, b) &&
             !scree_body_is_removed(world, b);
  return (int)(scree_run_parts_divided(parts) ? scree_ranks_sum(parts->ranks, count) : count);
}

scree_RunSent scree_run_parts_count(scree_RunParts *parts, const scree_World *world) {
  const scree_RankCounts now = scree_ranks_counts(parts->ranks);
  double sums[2] = {(double)(now.messages - parts->before.messages),
                    (double)(now.bytes - parts->before.bytes)};
  const double waits = (double)(now.synchronisations - parts->before.synchronisations);
  parts->before = now;
  const bool divided = scree_run_parts_divided(parts);
  if (divided) scree_ranks_sums(parts->ranks, sums, 2);
  return (scree_RunSent){sums[0], sums[1], waits, divided ? world->system.domain.imbalance : 1};
}

void scree_run_parts_memory(const scree_RunParts *parts, double *most, double *mean) {
  struct rusage usage;
  if (!scree_run_parts_divided(parts)) return;
  *most = *mean = getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
  scree_ranks_most(parts->ranks, most, 1);
  *mean = scree_ranks_sum(parts->ranks, *mean) / scree_ranks_size(parts->ranks);
}

/* Frames and their journal (see results_frame.h). */
#define _POSIX_C_SOURCE 200809L
#include "run/results_frame.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "run/results_file.h"
#include "run/shared_file.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* ---- frames ---------------------------------------------------------------------------------- */

static void to_array(scree_Vec3 v, double x[3]) {
  x[0] = v.x;
  x[1] = v.y;
  x[2] = v.z;
}

static size_t stretch_bytes(const scree_FrameHead *head) {
  return head->deforms ? SCREE_FRAME_STRETCH * (size_t)head->bodies * sizeof(double) : 0;
}

static size_t gradient_bytes(const scree_FrameHead *head) {
  return head->affine ? SCREE_FRAME_GRADIENT * (size_t)head->bodies * sizeof(double) : 0;
}

static size_t node_bytes(const scree_FrameHead *head) {
  return 12 * (size_t)head->nodes * sizeof(double);
}

static size_t joint_bytes(const scree_FrameHead *head) {
  return (size_t)head->joints * sizeof(scree_FrameJoint);
}

static size_t law_bytes(const scree_FrameHead *head) {
  return head->remembers ? SCREE_CONTACT_MEMORY * (size_t)head->contacts * sizeof(double) : 0;
}

bool scree_frame_make_room(scree_Frame *frame) {
  const size_t bodies = (size_t)frame->head.bodies * sizeof *frame->body;
  const size_t contacts = (size_t)frame->head.contacts * sizeof *frame->contact;
  const size_t stretches = stretch_bytes(&frame->head), nodes = node_bytes(&frame->head);
  const size_t gradients = gradient_bytes(&frame->head), joints = joint_bytes(&frame->head);
  if (!scree_grow(&frame->memory, &frame->capacity,
                  bodies + contacts + stretches + gradients + nodes + joints +
                      law_bytes(&frame->head) + 1,
                  1))
    return false;
  frame->body = frame->memory;
  frame->contact = (void *)((char *)frame->memory + bodies);
  frame->stretch = (void *)((char *)frame->contact + contacts);
  frame->gradient = (void *)((char *)frame->stretch + stretches);
  frame->node = (void *)((char *)frame->gradient + gradients);
  frame->node_velocity = frame->node + 3 * (size_t)frame->head.nodes;
  frame->node_stress = frame->node_velocity + 3 * (size_t)frame->head.nodes;
  frame->joint = (void *)((char *)frame->node + nodes);
  frame->law_memory = (void *)((char *)frame->joint + joints);
  return true;
}

scree_FrameContact scree_frame_contact(const scree_Contact *contact) {
  scree_FrameContact out = {.body = {contact->body[0], contact->body[1]},
                            .feature = contact->feature,
                            .status = (int32_t)contact->status,
                            .gap = contact->gap,
                            .mu = contact->mu,
                            .error = contact->error,
                            .bond = (int32_t)contact->bond,
                            .plastic = contact->plastic,
                            .energy = contact->energy};
  scree_Vec3 world = scree_scale(contact->r[0], contact->normal);
  world = scree_axpy(world, contact->r[1], contact->tangent[0]);
  world = scree_axpy(world, contact->r[2], contact->tangent[1]);
  to_array(contact->position, out.position);
  to_array(contact->normal, out.normal);
  to_array(contact->tangent[0], out.tangent);
  to_array(world, out.impulse_world);
  to_array(contact->moment, out.moment);
  memcpy(out.impulse, contact->r, sizeof out.impulse);
  memcpy(out.velocity, contact->u, sizeof out.velocity);
  return out;
}

scree_FrameJoint scree_frame_joint(const scree_World *world, int k) {
  const scree_JointState now = scree_world_joint(world, k);
  const int *body = world->system.joints.joint[k].body;
  bool there = true;
  for (int side = 0; side < 2; ++side)
    there = there && (body[side] < 0 || !scree_body_is_removed(world, body[side]));
  scree_FrameJoint out = {.status = !there       ? SCREE_JOINT_GONE
                                    : now.broken ? SCREE_JOINT_BROKEN
                                                 : SCREE_JOINT_HOLDS,
                          .x = now.x,
                          .effort = now.effort,
                          .energy = now.energy,
                          .plastic = now.plastic};
  to_array(now.position, out.position);
  to_array(now.axis, out.axis);
  to_array(now.force, out.force);
  to_array(now.torque, out.torque);
  return out;
}

scree_FrameBody scree_frame_body(const scree_World *world, int body) {
  const scree_Pose pose = scree_body_pose(world, body);
  const scree_Twist velocity = scree_body_velocity(world, body);
  const scree_Quat q = pose.orientation;
  scree_FrameBody out = {.orientation = {q.w, q.x, q.y, q.z}};
  to_array(pose.position, out.position);
  to_array(velocity.linear, out.velocity);
  to_array(velocity.angular, out.angular);
  return out;
}

void scree_frame_deformation(const scree_World *world, int body, double *stretch,
                             double *gradient) {
  const scree_Bodies *b = &world->system.bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, body);
  const int d = b->dimension;
  to_array(scree_body_stretch(world, body), stretch);
  stretch[3] = self ? b->account[b->deformable_index[body]] : 0;
  if (!gradient) return;
  memset(gradient, 0, SCREE_FRAME_GRADIENT * sizeof *gradient);
  if (!self || self->vertices > 1) return;
  const double *q = scree_deformable_q(b, self), *v = scree_deformable_v(b, self);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      gradient[3 * i + j] = q[d * (1 + j) + i];
      gradient[9 + 3 * i + j] = v[d * (1 + j) + i];
    }
}

scree_Status scree_frame_nodes(const scree_World *world, double *position, double *velocity,
                               double *stress) {
  const scree_Bodies *b = &world->system.bodies;
  for (int k = 0; k < b->deformable_count; ++k) {
    const scree_Deformable *self = &b->deformable[k];
    if (!self->class_->nodes) continue;
    memcpy(velocity, scree_deformable_v(b, self), self->components * sizeof *velocity);
    velocity += self->components;
  }
  return scree_world_nodes(world, position, stress);
}

/* Whether some bodies, of a divided world on any rank, are pseudo-rigid. */
static bool has_affine(const scree_World *world) {
  bool any = false;
  for (int b = 0; scree_world_deforms(world) && !any && b < scree_world_body_count(world); ++b)
    any = scree_body_kind_of(world, b) == SCREE_BODY_PSEUDO_RIGID;
  return scree_ranks_any(scree_world_ranks(world), any);
}

scree_Status scree_frame_head(const scree_World *world, bool with_contacts,
                              const scree_Aabb *region, scree_FrameHead *head) {
  memset(head, 0, sizeof *head); /* padding too: records are compared byte by byte */
  head->step = scree_world_steps(world);
  head->time = scree_world_time(world);
  head->bodies = scree_world_body_count(world);
  head->contacts = with_contacts ? scree_world_contact_count(world) : 0;
  head->energy = scree_world_energy(world);
  head->deforms = scree_world_deforms(world);
  head->affine = has_affine(world);
  head->nodes = scree_world_node_count(world);
  head->joints = scree_world_joint_count(world);
  head->remembers = scree_world_laws_remember(world);
  scree_CellInfo cell;
  const bool periodic = scree_world_cell(world, &cell);
  for (int k = 0; k < 3; ++k)
    if (periodic && cell.periodic[k]) to_array(cell.side[k], head->cell + 3 * k);
  return scree_world_analyse(world, region, &head->analysis);
}

static bool is_before(const scree_World *world, int i, int j) {
  const scree_ContactKey *a = &world->system.contacts.keys[i], *b = &world->system.contacts.keys[j];
  return a->i != b->i ? a->i < b->i : a->j < b->j;
}

/* In a frame all contacts are in the order of their bodies. Those of deformable bodies are the last
 * ones of a world, in that order too (step/deform.h). */
typedef struct Order {
  int split, count;  /* the first of them; contacts */
  int first, second; /* next of both groups */
} Order;

static Order order_of(const scree_World *world, int contacts) {
  int split = contacts;
  for (int c = 1; scree_world_deforms(world) && c < contacts && split == contacts; ++c)
    if (is_before(world, c, c - 1)) split = c;
  return (Order){split, contacts, 0, split};
}

static int next_contact(const scree_World *world, Order *order) {
  const bool first = order->first < order->split, second = order->second < order->count;
  if (first && !(second && is_before(world, order->second, order->first))) return order->first++;
  return order->second++;
}

scree_Status scree_frame_take(scree_Frame *frame, const scree_World *world, bool with_contacts,
                              const scree_Aabb *region, const scree_Log *log) {
  const scree_Status status = scree_frame_head(world, with_contacts, region, &frame->head);
  if (status != SCREE_OK) return status;
  if (!scree_frame_make_room(frame)) return scree_fail_memory(log, "a frame of the results");
  for (int b = 0; b < frame->head.bodies; ++b) frame->body[b] = scree_frame_body(world, b);
  Order order = order_of(world, frame->head.contacts);
  for (int c = 0; c < frame->head.contacts; ++c) {
    const int k = next_contact(world, &order);
    const scree_Contact contact = scree_world_contact(world, k);
    frame->contact[c] = scree_frame_contact(&contact);
    if (frame->head.remembers)
      scree_world_contact_memory(world, k, frame->law_memory + SCREE_CONTACT_MEMORY * (size_t)c);
  }
  for (int k = 0; k < frame->head.joints; ++k) frame->joint[k] = scree_frame_joint(world, k);
  for (int b = 0; frame->head.deforms && b < frame->head.bodies; ++b)
    scree_frame_deformation(world, b, frame->stretch + SCREE_FRAME_STRETCH * (size_t)b,
                            frame->head.affine ? frame->gradient + SCREE_FRAME_GRADIENT * (size_t)b
                                               : NULL);
  if (!frame->head.nodes) return SCREE_OK;
  return scree_frame_nodes(world, frame->node, frame->node_velocity, frame->node_stress);
}

void scree_frame_fini(scree_Frame *frame) {
  scree_free(frame->memory);
  *frame = (scree_Frame){0};
}

/* ---- the journal ----------------------------------------------------------------------------- */

typedef struct RecordHead {
  char magic[8];
  uint64_t size; /* of the payload */
  uint64_t checksum;
} RecordHead;

static const char magic[8] = {'s', 'c', 'r', 'e', 'e', 'f', 'r', '7'};

static size_t body_bytes(const scree_FrameHead *head) {
  return (size_t)head->bodies * sizeof(scree_FrameBody);
}

static size_t contact_bytes(const scree_FrameHead *head) {
  return (size_t)head->contacts * sizeof(scree_FrameContact);
}

static uint64_t checksum(const scree_Frame *frame) {
  const scree_FrameHead *head = &frame->head;
  uint32_t sum = libdeflate_crc32(0, head, sizeof *head);
  sum = libdeflate_crc32(sum, frame->body, body_bytes(head));
  sum = libdeflate_crc32(sum, frame->contact, contact_bytes(head));
  sum = libdeflate_crc32(sum, frame->stretch, stretch_bytes(head));
  sum = libdeflate_crc32(sum, frame->gradient, gradient_bytes(head));
  sum = libdeflate_crc32(sum, frame->node, node_bytes(head));
  sum = libdeflate_crc32(sum, frame->joint, joint_bytes(head));
  return libdeflate_crc32(sum, frame->law_memory, law_bytes(head));
}

static size_t payload_bytes(const scree_FrameHead *head) {
  return sizeof *head + body_bytes(head) + contact_bytes(head) + stretch_bytes(head) +
         gradient_bytes(head) + node_bytes(head) + joint_bytes(head) + law_bytes(head);
}

int64_t scree_journal_record(const scree_Frame *frame) {
  return (int64_t)(sizeof(RecordHead) + payload_bytes(&frame->head));
}

scree_Status scree_journal_open(scree_Journal *journal, const char *path, int64_t length,
                                const scree_Log *log) {
  *journal = (scree_Journal){.path = path, .length = length};
  journal->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (journal->file < 0)
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(errno));
  const off_t end = lseek(journal->file, 0, SEEK_END);
  if (end < length) {
    scree_journal_close(journal);
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "%s: found %lld bytes, expected at least the %lld of the checkpoint: the folder is damaged",
        path, (long long)end, (long long)length);
  }
  if (ftruncate(journal->file, length) == 0 && lseek(journal->file, length, SEEK_SET) == length)
    return SCREE_OK;
  const int error = errno;
  scree_journal_close(journal);
  return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(error));
}

void scree_journal_close(scree_Journal *journal) {
  if (journal->file >= 0) (void)close(journal->file);
  journal->file = -1;
}

scree_Status scree_journal_append(scree_Journal *journal, const scree_Frame *frame,
                                  const scree_Log *log) {
  RecordHead head = {.checksum = checksum(frame)};
  memcpy(head.magic, magic, sizeof magic);
  head.size = payload_bytes(&frame->head);
  int error = lseek(journal->file, journal->length, SEEK_SET) < 0 ? errno : 0;
  if (!error) error = scree_write_all(journal->file, &head, sizeof head);
  if (!error) error = scree_write_all(journal->file, &frame->head, sizeof frame->head);
  if (!error) error = scree_write_all(journal->file, frame->body, body_bytes(&frame->head));
  if (!error) error = scree_write_all(journal->file, frame->contact, contact_bytes(&frame->head));
  if (!error) error = scree_write_all(journal->file, frame->stretch, stretch_bytes(&frame->head));
  if (!error) error = scree_write_all(journal->file, frame->gradient, gradient_bytes(&frame->head));
  if (!error) error = scree_write_all(journal->file, frame->node, node_bytes(&frame->head));
  if (!error) error = scree_write_all(journal->file, frame->joint, joint_bytes(&frame->head));
  if (!error) error = scree_write_all(journal->file, frame->law_memory, law_bytes(&frame->head));
  if (error)
    return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", journal->path,
                      strerror(error));
  journal->length += (int64_t)(sizeof head + head.size);
  return SCREE_OK;
}

scree_Status scree_journal_join(scree_Journal *journal, const char *path, int64_t length,
                                const scree_Log *log) {
  *journal = (scree_Journal){.path = path, .length = length};
  journal->file = open(path, O_RDWR | O_CLOEXEC);
  if (journal->file >= 0) return SCREE_OK;
  return scree_fail(log, SCREE_MACHINE,
                    "%s: not seen by all ranks: a run needs a disk that they share", path);
}

scree_Status scree_journal_append_part(scree_Journal *journal, const scree_Ranks *ranks,
                                       const scree_Frame *part, const scree_PartSizes *has,
                                       const scree_Log *log) {
  const bool first = scree_ranks_rank(ranks) == 0;
  const scree_FrameHead *head = &part->head;
  const size_t stretch = head->deforms ? SCREE_FRAME_STRETCH * sizeof(double) : 0;
  const size_t gradient = head->affine ? SCREE_FRAME_GRADIENT * sizeof(double) : 0;
  const size_t memory = head->remembers ? SCREE_CONTACT_MEMORY * sizeof(double) : 0;
  const size_t vector = 3 * sizeof(double); /* of a node */
  const void *const data[] = {
      head,       part->body,          part->contact,     part->stretch, part->gradient,
      part->node, part->node_velocity, part->node_stress, part->joint,   part->law_memory};
  const size_t sizes[] = {first ? sizeof *head : 0,
                          has->bodies * sizeof *part->body,
                          has->contacts * sizeof *part->contact,
                          has->bodies * stretch,
                          has->bodies * gradient,
                          has->nodes * vector,
                          has->nodes * vector,
                          has->nodes * 2 * vector,
                          has->joints * sizeof *part->joint,
                          has->contacts * memory};
  const scree_FilePieces pieces = {sizeof data / sizeof *data, data, sizes};
  RecordHead record = {.size = payload_bytes(head)};
  uint32_t sum = 0;
  int64_t bytes = 0;
  memcpy(record.magic, magic, sizeof magic);
  scree_Status status =
      scree_shared_write(ranks, journal->file, journal->length + (int64_t)sizeof record, &pieces, 0,
                         &bytes, &sum, journal->path, log);
  record.checksum = sum;
  if (status == SCREE_OK && first) {
    int error = lseek(journal->file, journal->length, SEEK_SET) < 0 ? errno : 0;
    if (!error) error = scree_write_all(journal->file, &record, sizeof record);
    if (error)
      status = scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", journal->path,
                          strerror(error));
  }
  status = scree_ranks_agree(ranks, status, log);
  if (status == SCREE_OK) journal->length += (int64_t)sizeof record + bytes;
  return status;
}

scree_Status scree_journal_sync(scree_Journal *journal, const scree_Log *log) {
  if (fdatasync(journal->file) == 0 || errno == EINVAL || errno == ENOTSUP) return SCREE_OK;
  return scree_fail(log, SCREE_MACHINE, "%s: cannot be written: %s", journal->path,
                    strerror(errno));
}

/* Both heads of the record at `offset`; false when there is no valid one. */
static bool read_heads(const scree_Journal *journal, int64_t offset, RecordHead *record,
                       scree_FrameHead *head) {
  if (!scree_read_all(journal->file, record, sizeof *record, offset) ||
      memcmp(record->magic, magic, sizeof magic) != 0 || record->size < sizeof *head ||
      !scree_read_all(journal->file, head, sizeof *head, offset + (int64_t)sizeof *record))
    return false;
  return head->bodies >= 0 && head->contacts >= 0 && head->nodes >= 0 && head->joints >= 0 &&
         record->size == payload_bytes(head);
}

scree_Status scree_journal_skip(const scree_Journal *journal, int64_t *offset,
                                scree_FrameHead *head, bool *end, const scree_Log *log) {
  RecordHead record;
  (void)log;
  *end = !read_heads(journal, *offset, &record, head);
  if (!*end) *offset += (int64_t)(sizeof record + record.size);
  return SCREE_OK;
}

scree_Status scree_journal_read(const scree_Journal *journal, int64_t *offset, scree_Frame *frame,
                                bool *end, const scree_Log *log) {
  RecordHead record;
  *end = !read_heads(journal, *offset, &record, &frame->head);
  /* check that the file is as long as the heads claim before memory of that size is allocated */
  char last;
  *end = *end || !scree_read_all(journal->file, &last, 1,
                                 *offset + (int64_t)(sizeof record + record.size) - 1);
  if (*end) return SCREE_OK;
  if (!scree_frame_make_room(frame)) return scree_fail_memory(log, "a frame of the results");
  const struct {
    void *data;
    size_t bytes;
  } parts[] = {{frame->body, body_bytes(&frame->head)},
               {frame->contact, contact_bytes(&frame->head)},
               {frame->stretch, stretch_bytes(&frame->head)},
               {frame->gradient, gradient_bytes(&frame->head)},
               {frame->node, node_bytes(&frame->head)},
               {frame->joint, joint_bytes(&frame->head)},
               {frame->law_memory, law_bytes(&frame->head)}};
  int64_t at = *offset + (int64_t)(sizeof record + sizeof frame->head);
  for (size_t k = 0; k < sizeof parts / sizeof *parts && !*end; ++k) {
    *end = !scree_read_all(journal->file, parts[k].data, parts[k].bytes, at);
    at += (int64_t)parts[k].bytes;
  }
  *end = *end || checksum(frame) != record.checksum;
  if (!*end) *offset += (int64_t)(sizeof record + record.size);
  return SCREE_OK;
}

int64_t scree_journal_bodies(int64_t offset) {
  return offset + (int64_t)(sizeof(RecordHead) + sizeof(scree_FrameHead));
}

bool scree_journal_is_whole(const scree_Journal *journal, int64_t offset) {
  enum { PIECE = 1 << 20 };
  RecordHead record;
  scree_FrameHead head;
  uint32_t sum = 0;
  char *piece = SCREE_ALLOC(char, PIECE);
  bool good = piece && read_heads(journal, offset, &record, &head);
  for (uint64_t at = 0; good && at < record.size; at += PIECE) {
    const size_t n = record.size - at < PIECE ? (size_t)(record.size - at) : PIECE;
    good = scree_read_all(journal->file, piece, n, offset + (int64_t)(sizeof record + at));
    if (good) sum = libdeflate_crc32(sum, piece, n);
  }
  scree_free(piece);
  return good && sum == record.checksum;
}

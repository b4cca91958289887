/* Frames of frames.bin (see frames_journal.h). Records are only appended to the file, and an
 * incomplete record counts as its end, so that it can be read while the run goes on. */
#define _POSIX_C_SOURCE 200809L
#include "run/frames_journal.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void scree_frames_journal_close(scree_FramesJournal *journal) {
  if (journal->journal.file >= 0) close(journal->journal.file);
  scree_free(journal->path);
  scree_free(journal->head);
  scree_free(journal->offset);
  scree_frame_fini(&journal->frame);
  *journal = (scree_FramesJournal){.journal.file = -1};
}

static scree_Status list_frames(scree_FramesJournal *journal, int known, int64_t step,
                                const scree_Log *log) {
  int64_t offset = 0;
  bool end = false;
  for (int k = 0; !end; ++k) {
    const int64_t at = offset;
    scree_FrameHead head;
    const scree_Status status = scree_journal_skip(&journal->journal, &offset, &head, &end, log);
    if (status != SCREE_OK || end || offset > journal->journal.length) return status;
    if (k == known - 1 && head.step != step) return SCREE_OK; /* of another run */
    if (k < known) continue;
    const size_t n = (size_t)journal->count + 1;
    if (!scree_grow((void **)&journal->head, &journal->head_capacity, n, sizeof head) ||
        !scree_grow((void **)&journal->offset, &journal->offset_capacity, n, sizeof at))
      return scree_fail_memory(log, "the frames of a run");
    journal->head[journal->count] = head;
    journal->offset[journal->count++] = at;
  }
  return SCREE_OK;
}

scree_Status scree_frames_journal_open(scree_FramesJournal *journal, const char *directory,
                                       int known, int64_t step, const scree_Log *log) {
  *journal = (scree_FramesJournal){.journal.file = -1, .first = known};
  journal->path = scree_join_path(directory, "frames.bin");
  if (!journal->path) return scree_fail_memory(log, "a file name");
  journal->journal.path = journal->path;
  journal->journal.file = open(journal->path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (journal->journal.file < 0 || fstat(journal->journal.file, &info) != 0) return SCREE_OK;
  journal->journal.length = (int64_t)info.st_size;
  return list_frames(journal, known, step, log);
}

static void copy_bodies(const scree_Frame *from, int bodies, scree_ReplayFrame *frame) {
  for (int i = 0; i < bodies; ++i) {
    const scree_FrameBody *body = &from->body[i];
    const size_t three = 3 * (size_t)i;
    memcpy(frame->position + three, body->position, sizeof body->position);
    memcpy(frame->orientation + 4 * (size_t)i, body->orientation, sizeof body->orientation);
    memcpy(frame->velocity + three, body->velocity, sizeof body->velocity);
    memcpy(frame->angular + three, body->angular, sizeof body->angular);
    for (size_t c = 0; from->head.deforms && c < 3; ++c) {
      const double stretch = from->stretch[4 * (size_t)i + c];
      frame->stretch[three + c] = stretch > 0 && isfinite(stretch) ? stretch : 1;
    }
    frame->account[i] = from->head.deforms ? from->stretch[4 * (size_t)i + 3] : 0;
    frame->present[i] = isfinite(body->position[0]) != 0;
  }
}

static void copy_contacts(const scree_Frame *from, int bodies, scree_ReplayFrame *frame) {
  int kept = 0;
  for (int c = 0; c < from->head.contacts; ++c) {
    const scree_FrameContact *contact = &from->contact[c];
    scree_ReplayContact *to = &frame->contact[kept];
    if (contact->body[0] < 0 || contact->body[1] < 0 || contact->body[0] >= bodies ||
        contact->body[1] >= bodies)
      continue;
    *to = (scree_ReplayContact){.body = {contact->body[0], contact->body[1]},
                                .status =
                                    contact->status >= 0 && contact->status < SCREE_CONTACT_STATUSES
                                        ? (scree_ContactStatus)contact->status
                                        : SCREE_CONTACT_OPEN,
                                .feature = contact->feature,
                                .gap = contact->gap,
                                .mu = contact->mu,
                                .error = contact->error};
    memcpy(to->position, contact->position, sizeof to->position);
    memcpy(to->normal, contact->normal, sizeof to->normal);
    memcpy(to->r, contact->impulse, sizeof to->r);
    memcpy(to->u, contact->velocity, sizeof to->u);
    memcpy(to->impulse, contact->impulse_world, sizeof to->impulse);
    memcpy(to->moment, contact->moment, sizeof to->moment);
    to->plastic = contact->plastic;
    to->energy = contact->energy;
    to->bond = (scree_ContactBond)contact->bond;
    if (from->head.remembers)
      memcpy(frame->law_memory + SCREE_CONTACT_MEMORY * (size_t)kept,
             from->law_memory + SCREE_CONTACT_MEMORY * (size_t)c,
             SCREE_CONTACT_MEMORY * sizeof(double));
    ++kept;
  }
  frame->contacts = kept;
  frame->has_contacts = true;
}

static scree_Status copy_joints(const scree_Frame *from, const scree_Replay *replay,
                                scree_ReplayFrame *frame) {
  const int n = from->head.joints < replay->joint_count ? from->head.joints : replay->joint_count;
  if (!scree_grow((void **)&frame->joint, &frame->joint_capacity, (size_t)n, sizeof *frame->joint))
    return scree_fail_memory(replay->log, "the joints of a frame");
  for (int j = 0; j < n; ++j) {
    const scree_FrameJoint *joint = &from->joint[j];
    const int *row = replay->joint_table + 4 * (size_t)j;
    scree_ReplayJoint *to = &frame->joint[j];
    *to = (scree_ReplayJoint){.kind = (scree_JointKind)row[0],
                              .body = {row[1], row[2]},
                              .label = row[3],
                              .status = (scree_JointStatus)joint->status,
                              .x = joint->x,
                              .effort = joint->effort,
                              .energy = joint->energy,
                              .plastic = joint->plastic};
    memcpy(to->position, joint->position, sizeof to->position);
    memcpy(to->axis, joint->axis, sizeof to->axis);
    memcpy(to->force, joint->force, sizeof to->force);
    memcpy(to->torque, joint->torque, sizeof to->torque);
  }
  frame->joints = n;
  return SCREE_OK;
}

scree_Status scree_frames_journal_read(scree_FramesJournal *journal, const scree_Replay *replay,
                                       int k, scree_ReplayFrame *frame) {
  scree_Frame *from = &journal->frame;
  int64_t offset = journal->offset[k - journal->first];
  bool end = false;
  scree_Status status = scree_journal_read(&journal->journal, &offset, from, &end, replay->log);
  if (status == SCREE_OK && end)
    status = scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: frame %d is damaged, expected a record with its checksum",
                        journal->path, k);
  const int bodies =
      from->head.bodies < replay->body_count ? from->head.bodies : replay->body_count;
  const int contacts = frame->bodies_only ? 0 : from->head.contacts;
  if (status == SCREE_OK)
    status = scree_replay_reserve(replay, replay->body_count, contacts, frame);
  if (status != SCREE_OK) return status;
  frame->bodies = bodies;
  frame->deforms = from->head.deforms != 0;
  copy_bodies(from, bodies, frame);
  if (contacts)
    copy_contacts(from, bodies, frame);
  else
    frame->contacts = 0, frame->has_contacts = from->head.contacts > 0;
  if (!frame->bodies_only && replay->joint_count > 0) status = copy_joints(from, replay, frame);
  if (status != SCREE_OK) return status;
  if (from->head.affine) {
    status = scree_replay_reserve_gradients(replay, replay->body_count, frame);
    if (status != SCREE_OK) return status;
    memcpy(frame->gradient, from->gradient, 18 * (size_t)bodies * sizeof(double));
  }
  if (replay->node_count > 0 && from->head.nodes >= replay->node_count) {
    const size_t nodes = (size_t)replay->node_count;
    status = scree_replay_reserve_nodes(replay, replay->node_count, frame);
    if (status != SCREE_OK) return status;
    memcpy(frame->node, from->node, 3 * nodes * sizeof(double));
    memcpy(frame->node_stress, from->node_stress, 6 * nodes * sizeof(double));
    memcpy(frame->node_velocity, from->node_velocity, 3 * nodes * sizeof(double));
  }
  return SCREE_OK;
}

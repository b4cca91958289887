/* The columns of the block of a frame's contacts. The level of the plan decides the type of every
 * column. */
#include "core/log.h"
#include "core/memory.h"
#include "view/report.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Column of three numbers of each contact, or of one. */
static void add_contact(scree_PageBlock *block, const char *name, scree_PageColumnType type,
                        const scree_ReplayFrame *frame, size_t at, int components, double *work) {
  const size_t nc = (size_t)frame->contacts;
  for (size_t c = 0; c < nc; ++c) {
    const double *values = (const double *)((const char *)&frame->contact[c] + at);
    for (size_t k = 0; k < (size_t)components; ++k) work[k * nc + c] = values[k];
  }
  scree_block_put(block, name, type, components, 1, nc, work);
}
#define AT(member) offsetof(scree_ReplayContact, member)

static void add_full(scree_PageBlock *block, const scree_ReplayFrame *frame,
                     const scree_ReportPlan *plan, int d, double *work) {
  const scree_PageColumnType type =
      plan->level == SCREE_REPORT_EXACT ? SCREE_COLUMN_F64 : SCREE_COLUMN_F32;
  if (type == SCREE_COLUMN_F64) {
    add_contact(block, "position", type, frame, AT(position), 3, work);
  } else {
    const size_t nc = (size_t)frame->contacts;
    for (size_t c = 0; c < nc; ++c)
      for (size_t k = 0; k < 3; ++k) work[k * nc + c] = frame->contact[c].position[k];
    scree_PageColumn column = {.name = "position",
                               .type = type,
                               .components = 3,
                               .frames = 1,
                               .count = nc,
                               .values = work,
                               .scale = plan->extent.length};
    memcpy(column.offset, plan->extent.origin, sizeof column.offset);
    scree_block_add(block, &column);
  }
  add_contact(block, "normal", type, frame, AT(normal), 3, work);
  add_contact(block, "impulse", type, frame, AT(impulse), 3, work);
  add_contact(block, "r", type, frame, AT(r), d, work);
  add_contact(block, "u", type, frame, AT(u), d, work);
  add_contact(block, "gap", type, frame, AT(gap), 1, work);
  add_contact(block, "mu", type, frame, AT(mu), 1, work);
  if (frame->contacts > 0 && !isnan(frame->contact[0].error))
    add_contact(block, "error", type, frame, AT(error), 1, work);
}

/* The arm from the centre of the body that is no obstacle, in units of its radius, to 8 bits; the
 * normal impulse to 8 bits on a square curve. For round bodies the normal lies along the arm. */
static void add_small(scree_PageBlock *block, const scree_Replay *replay, scree_ReplayFrame *frame,
                      const scree_ReportPlan *plan, double *work) {
  const size_t nc = (size_t)frame->contacts;
  double largest = 0.0;
  for (size_t c = 0; c < nc; ++c) {
    const scree_ReplayContact *contact = &frame->contact[c];
    const int holder = contact->body[replay->bodies[contact->body[0]].obstacle ? 1 : 0];
    const double radius = replay->bodies[holder].shape.bounding_radius;
    for (size_t k = 0; k < 3; ++k) {
      const double arm = contact->position[k] - frame->position[3 * (size_t)holder + k];
      work[k * nc + c] = isfinite(radius) ? arm / radius : 0.0;
    }
    largest = fmax(largest, contact->r[0]);
  }
  scree_PageColumn column = {.name = "arm",
                             .type = SCREE_COLUMN_I8,
                             .components = 3,
                             .frames = 1,
                             .count = nc,
                             .values = work,
                             .scale = 1.0 / 120.0};
  scree_block_add(block, &column);
  if (!plan->round) {
    for (size_t c = 0; c < nc; ++c)
      for (size_t k = 0; k < 3; ++k) work[k * nc + c] = frame->contact[c].normal[k];
    column.name = "normal";
    column.scale = 1.0 / 127.0;
    scree_block_add(block, &column);
  }
  for (size_t c = 0; c < nc; ++c) work[c] = frame->contact[c].r[0];
  column = (scree_PageColumn){.name = "r",
                              .type = SCREE_COLUMN_U8,
                              .components = 1,
                              .frames = 1,
                              .count = nc,
                              .values = work,
                              .square = true,
                              .scale = largest > 0.0 ? largest / (255.0 * 255.0) : 1.0};
  scree_block_add(block, &column);
}

/* Active contacts: the others are left out of a compact page. */
static void drop_open(scree_ReplayFrame *frame) {
  int kept = 0;
  for (int c = 0; c < frame->contacts; ++c)
    if (frame->contact[c].r[0] > 0.0) frame->contact[kept++] = frame->contact[c];
  frame->contacts = kept;
}

scree_Status scree_report_contacts(scree_Replay *replay, const scree_ReportPlan *plan, int place,
                                   scree_PageBlock *block) {
  scree_ReplayFrame frame = {0};
  scree_Status status = scree_replay_read(replay, plan->frame[place], &frame);
  double *work = NULL;
  if (status == SCREE_OK) {
    work = SCREE_ALLOC(double, 3 * (size_t)frame.contacts);
    if (!work) status = scree_fail_memory(replay->log, "contacts of the page");
  }
  if (status == SCREE_OK) {
    scree_block_begin(block);
    if (plan->level == SCREE_REPORT_COMPACT) drop_open(&frame);
    const size_t nc = (size_t)frame.contacts;
    for (int side = 0; side < 2; ++side) {
      for (size_t c = 0; c < nc; ++c) work[c] = frame.contact[c].body[side];
      scree_block_put(block, side ? "b" : "a", SCREE_COLUMN_U32, 1, 1, nc, work);
    }
    for (size_t c = 0; c < nc; ++c) work[c] = frame.contact[c].status;
    scree_block_put(block, "status", SCREE_COLUMN_U8, 1, 1, nc, work);
    if (plan->level == SCREE_REPORT_COMPACT)
      add_small(block, replay, &frame, plan, work);
    else
      add_full(block, &frame, plan, replay->dimension, work);
  }
  scree_free(work);
  scree_replay_frame_fini(&frame);
  return status;
}

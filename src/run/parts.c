/* Runs on several ranks (see parts.h). */
#include "run/parts.h"

#include "core/log.h"
#include "core/memory.h"
#include "scene/scene.h"
#include "scree/solver.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384 }; /* bodies of a piece of a frame */

void scree_run_parts_init(scree_RunParts *parts, const scree_Ranks *ranks) {
  const bool several = scree_ranks_size(ranks) > 1;
  *parts = (scree_RunParts){.ranks = several ? ranks : NULL,
                            .together = several,
                            .writes = scree_ranks_rank(ranks) == 0,
                            .before = scree_ranks_counts(ranks)};
}

void scree_run_parts_fini(scree_RunParts *parts) {
  if (parts->solves) scree_solver_dismiss(parts->ranks);
  scree_world_destroy(parts->whole);
  *parts = (scree_RunParts){0};
}

/* ---- the world -------------------------------------------------------------------------------
 */

static bool can_divide(const char *solver) {
  const scree_SolverClass *class_ = scree_solver_class_find(solver);
  return class_ && scree_solver_class_capabilities(class_) & SCREE_CAN_RANKS;
}

/* Why this run cannot be divided: empty, if it can. */
static void find_reason(const scree_Scene *scene, const scree_World *whole, char *why,
                        size_t size) {
  const char *solver = scree_world_get_settings(whole)->solve.solver;
  const char *reason = scree_world_cannot_divide(whole);
  why[0] = '\0';
  for (int k = 0; k < scene->pour_count && !reason; ++k)
    if (scene->pours[k].grain.def.kind != SCREE_BODY_RIGID) reason = "deformable bodies are poured";
  if (reason)
    snprintf(why, size, "%s", reason);
  else if (scree_scene_info(scene).dumps)
    snprintf(why, size, "problems of steps are written (dump_problem)");
  else if (!can_divide(solver))
    snprintf(why, size, "solver %s works on one rank", solver);
}

scree_Status scree_run_parts_build(scree_RunParts *parts, const scree_Scene *scene,
                                   const scree_Log *log, scree_World **world) {
  if (!parts->ranks) return scree_scene_build(scene, log, world);
  scree_Status status = parts->writes ? scree_scene_build(scene, log, &parts->whole) : SCREE_OK;
  status = scree_run_parts_agree(parts, status, log);
  if (status != SCREE_OK) return status;
  if (parts->whole) find_reason(scene, parts->whole, parts->why, sizeof parts->why);
  scree_run_parts_tell(parts, parts->why, sizeof parts->why);
  if (!parts->why[0])
    return scree_run_parts_agree(parts, scree_scene_build_part(scene, parts->ranks, log, world),
                                 log);
  *world = parts->whole; /* or null */
  parts->whole = NULL;
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

scree_Status scree_run_parts_collect(scree_RunParts *parts, const scree_Scene *scene,
                                     const scree_World *world, const int *order, int poured,
                                     const scree_Log *log) {
  if (!scree_run_parts_divided(parts)) return SCREE_OK;
  scree_Status status = SCREE_OK;
  if (parts->whole) status = scree_scene_pour_again(scene, parts->whole, order, poured, log);
  status = scree_run_parts_agree(parts, status, log);
  return status == SCREE_OK ? scree_world_collect(world, parts->whole) : status;
}

scree_Status scree_run_parts_spread(scree_RunParts *parts, scree_World *world) {
  return scree_run_parts_divided(parts) ? scree_world_spread(world, parts->whole) : SCREE_OK;
}

/* ---- frames ----------------------------------------------------------------------------------
 */

typedef struct SentBody {
  scree_FrameBody body;
  int64_t number;
} SentBody;

typedef struct SentContact {
  scree_FrameContact contact; /* first: it is sorted by */
  double memory[SCREE_CONTACT_MEMORY];
} SentContact;

/* Arrays that pieces share. */
typedef struct Pieces {
  const scree_RunParts *parts;
  const scree_World *world;
  scree_Frame *frame; /* on rank 0 */
  const scree_Log *log;
  char *mine, *all;   /* sent by this rank, and received by rank 0 */
  const void **order; /* of contacts */
  size_t filled;      /* contacts of the frame so far */
  size_t mine_capacity, all_capacity, order_capacity;
} Pieces;

static scree_Status fail_memory(const Pieces *p) {
  return scree_fail_memory(p->log, "a frame of the results");
}

/* Bodies `first` to first + count - 1 of the whole world; *at: the first body of this rank that was
 * not looked at yet. */
static scree_Status put_bodies(Pieces *p, int first, int count, int *at) {
  const int n = scree_world_body_count(p->world);
  size_t sent = 0, bytes = 0;
  scree_Status status = SCREE_OK;
  if (!scree_grow((void **)&p->mine, &p->mine_capacity, (size_t)count * sizeof(SentBody), 1))
    status = fail_memory(p);
  for (; !status && *at < n && scree_body_number(p->world, *at) < first + count; ++*at) {
    if (!scree_body_is_mine(p->world, *at)) continue;
    const SentBody one = {scree_frame_body(p->world, *at), scree_body_number(p->world, *at)};
    memcpy(p->mine + sent++ * sizeof one, &one, sizeof one);
  }
  status = scree_run_parts_agree(p->parts, status, p->log);
  if (!status)
    status = scree_ranks_bring(p->parts->ranks, p->mine, sent * sizeof(SentBody), &p->all,
                               &p->all_capacity, &bytes, p->log);
  for (size_t k = 0; !status && k < bytes; k += sizeof(SentBody)) {
    SentBody one;
    memcpy(&one, p->all + k, sizeof one);
    p->frame->body[one.number] = one.body;
  }
  return status;
}

static int compare_contacts(const void *a, const void *b) {
  const scree_FrameContact *x = *(const scree_FrameContact *const *)a,
                           *y = *(const scree_FrameContact *const *)b;
  for (int side = 0; side < 2; ++side)
    if (x->body[side] != y->body[side]) return x->body[side] < y->body[side] ? -1 : 1;
  return (x > y) - (x < y); /* points of a pair are of one rank, in their order */
}

/* Contacts whose first body has a number below `end`; *at: the first contact of this rank that was
 * not looked at yet. Both are in the order of these numbers. */
static scree_Status put_contacts(Pieces *p, int end, int *at) {
  const int n = scree_world_contact_count(p->world), from = *at;
  size_t bytes = 0;
  scree_Status status = SCREE_OK;
  for (; !status && *at < n; ++*at) {
    const scree_Contact contact = scree_world_contact(p->world, *at);
    SentContact one = {.contact = scree_frame_contact(&contact)};
    for (int side = 0; side < 2; ++side)
      one.contact.body[side] = scree_body_number(p->world, contact.body[side]);
    if (one.contact.body[0] >= end) break;
    scree_world_contact_memory(p->world, *at, one.memory);
    const size_t place = (size_t)(*at - from) * sizeof one;
    if (scree_grow((void **)&p->mine, &p->mine_capacity, place + sizeof one, 1))
      memcpy(p->mine + place, &one, sizeof one);
    else
      status = fail_memory(p);
  }
  status = scree_run_parts_agree(p->parts, status, p->log);
  if (!status)
    status = scree_ranks_bring(p->parts->ranks, p->mine, (size_t)(*at - from) * sizeof(SentContact),
                               &p->all, &p->all_capacity, &bytes, p->log);
  if (status || !p->parts->writes || bytes == 0) return status;
  const size_t count = bytes / sizeof(SentContact);
  if (!scree_grow((void **)&p->order, &p->order_capacity, count, sizeof *p->order))
    return fail_memory(p);
  for (size_t k = 0; k < count; ++k) p->order[k] = p->all + k * sizeof(SentContact);
  qsort((void *)p->order, count, sizeof *p->order, compare_contacts);
  for (size_t k = 0; k < count; ++k, ++p->filled) {
    SentContact one;
    memcpy(&one, p->order[k], sizeof one);
    p->frame->contact[p->filled] = one.contact;
    if (p->frame->head.remembers)
      memcpy(p->frame->law_memory + SCREE_CONTACT_MEMORY * p->filled, one.memory,
             sizeof one.memory);
  }
  return SCREE_OK;
}

scree_Status scree_run_parts_frame(const scree_RunParts *parts, const scree_World *world,
                                   bool with_contacts, const scree_Aabb *region, scree_Frame *frame,
                                   const scree_Log *log) {
  Pieces p = {.parts = parts, .world = world, .frame = frame, .log = log};
  scree_FrameHead head;
  scree_Status status = scree_frame_head(world, with_contacts, region, &head);
  if (status != SCREE_OK) return status;
  head.bodies = scree_world_whole_count(world);
  head.contacts = (int32_t)scree_ranks_sum(parts->ranks, head.contacts);
  if (frame) {
    memcpy(&frame->head, &head, sizeof head); /* padding too */
    if (!scree_frame_make_room(frame)) status = fail_memory(&p);
  }
  status = scree_run_parts_agree(parts, status, log);
  for (int first = 0, at = 0; first < head.bodies && !status; first += PIECE) {
    const int left = head.bodies - first;
    status = put_bodies(&p, first, left < PIECE ? left : PIECE, &at);
  }
  for (int end = PIECE, at = 0; head.contacts > 0 && !status; end += PIECE) {
    status = scree_run_parts_agree(parts, put_contacts(&p, end, &at), log);
    if (end >= head.bodies) break;
  }
  scree_free(p.mine);
  scree_free(p.all);
  scree_free((void *)p.order);
  return status;
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

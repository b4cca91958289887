/* Runs on several ranks (see parts.h). */
#define _XOPEN_SOURCE 700 /* getrusage */
#include "run/parts.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/shared_file.h"
#include "scene/scene.h"
#include "scree/solver.h"
#include "world/world.h"

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

/* Bodies of another run come with impulses, which rank 0 puts into a whole world and sends. */
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

typedef struct SentBody {
  scree_FrameBody body;
  int64_t number;
} SentBody;

/* The bodies of this rank's range, in their order; freed with scree_free. */
static scree_Status deal_bodies(const scree_RunParts *parts, const scree_World *world, int block,
                                scree_FrameBody **bodies, size_t *count, const scree_Log *log) {
  const int n = scree_world_body_count(world);
  size_t mine = 0, capacity = 0;
  char *in = NULL;
  SentBody *out = SCREE_ALLOC(SentBody, n);
  int *to = SCREE_ALLOC(int, n);
  const bool enough = out && to;
  *bodies = NULL;
  scree_Status status = enough ? SCREE_OK : scree_fail_memory(log, "a frame of the results");
  status = scree_run_parts_agree(parts, status, log);
  for (int b = 0; !status && enough && b < n; ++b) {
    if (!scree_body_is_mine(world, b)) continue;
    const SentBody one = {scree_frame_body(world, b), scree_body_number(world, b)};
    out[mine] = one;
    to[mine++] = (int)one.number / block;
  }
  if (!status)
    status = scree_ranks_deal(parts->ranks, out, sizeof *out, to, mine, &in, &capacity, count, log);
  scree_free(out);
  scree_free(to);
  if (!status) *bodies = SCREE_ALLOC(scree_FrameBody, *count);
  const int64_t first = (int64_t)scree_ranks_rank(parts->ranks) * block;
  for (size_t k = 0; *bodies && k < *count; ++k) {
    SentBody one;
    memcpy(&one, in + k * sizeof one, sizeof one);
    (*bodies)[one.number - first] = one.body;
  }
  scree_free(in);
  if (!status && !*bodies) status = scree_fail_memory(log, "a frame of the results");
  return scree_run_parts_agree(parts, status, log);
}

/* A contact, and its place among those that arrived. */
typedef struct SentContact {
  scree_FrameContact contact;
  int64_t place;
} SentContact;

static int compare_contacts(const void *a, const void *b) {
  const SentContact *x = a, *y = b;
  for (int side = 0; side < 2; ++side)
    if (x->contact.body[side] != y->contact.body[side])
      return x->contact.body[side] < y->contact.body[side] ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place); /* points of a pair are of one rank */
}

/* The contacts whose first body is in this rank's range, in the order of one rank. */
static scree_Status deal_contacts(const scree_RunParts *parts, const scree_World *world, int block,
                                  scree_FrameContact **contacts, size_t *count,
                                  const scree_Log *log) {
  const int n = scree_world_contact_count(world);
  size_t capacity = 0;
  char *in = NULL;
  SentContact *out = SCREE_ALLOC(SentContact, n);
  int *to = SCREE_ALLOC(int, n);
  const bool enough = out && to;
  *contacts = NULL;
  scree_Status status = enough ? SCREE_OK : scree_fail_memory(log, "a frame of the results");
  status = scree_run_parts_agree(parts, status, log);
  for (int k = 0; !status && enough && k < n; ++k) {
    const scree_Contact contact = scree_world_contact(world, k);
    out[k].contact = scree_frame_contact(&contact);
    for (int side = 0; side < 2; ++side)
      out[k].contact.body[side] = scree_body_number(world, contact.body[side]);
    to[k] = out[k].contact.body[0] / block;
  }
  if (!status)
    status =
        scree_ranks_deal(parts->ranks, out, sizeof *out, to, (size_t)n, &in, &capacity, count, log);
  scree_free(out);
  scree_free(to);
  if (!status) *contacts = SCREE_ALLOC(scree_FrameContact, *count);
  SentContact *got = (void *)in;
  for (size_t k = 0; *contacts && k < *count; ++k) got[k].place = (int64_t)k;
  if (*contacts && *count) qsort(got, *count, sizeof *got, compare_contacts);
  for (size_t k = 0; *contacts && k < *count; ++k) (*contacts)[k] = got[k].contact;
  scree_free(in);
  if (!status && !*contacts) status = scree_fail_memory(log, "a frame of the results");
  return scree_run_parts_agree(parts, status, log);
}

scree_Status scree_run_parts_frame(const scree_RunParts *parts, const scree_World *world,
                                   bool with_contacts, const scree_Aabb *region,
                                   scree_Journal *journal, const scree_Log *log) {
  scree_FrameHead head;
  scree_FrameBody *bodies = NULL;
  scree_FrameContact *contacts = NULL;
  size_t body_count = 0, contact_count = 0;
  scree_Status status = scree_frame_head(world, with_contacts, region, &head);
  if (status != SCREE_OK) return status;
  head.bodies = scree_world_whole_count(world);
  head.contacts = (int32_t)scree_ranks_sum(parts->ranks, head.contacts);
  const int block = block_of(parts, head.bodies);
  status = deal_bodies(parts, world, block, &bodies, &body_count, log);
  if (status == SCREE_OK && head.contacts > 0)
    status = deal_contacts(parts, world, block, &contacts, &contact_count, log);
  if (status == SCREE_OK)
    status = scree_journal_append_part(journal, parts->ranks, &head, bodies, body_count, contacts,
                                       contact_count, log);
  scree_free(bodies);
  scree_free(contacts);
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
  return scree_world_part_rows(world, block, &table->row, &table->count);
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

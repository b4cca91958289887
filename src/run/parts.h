/* A run on several ranks (scree/parallel.h).
 *
 * Every rank reads the scene, of which it keeps its part (scree_scene_read_part), and runs the same
 * loop over its part of the world (scree/world.h, scree_world_divide). No rank has all bodies:
 * frames and checkpoints are written by all ranks, each a range of the numbers of bodies, into
 * files that are the same as those of one rank. A world that cannot be divided is on rank 0 alone,
 * and the others join its solves (scree_solver_serve). On one rank these functions do nothing. */
#ifndef SCREE_RUN_PARTS_H
#define SCREE_RUN_PARTS_H

#include "parallel/ranks.h"
#include "run/checkpoint.h"
#include "run/results_write.h"
#include "scree/scene.h"

typedef struct scree_RunParts {
  const scree_Ranks *ranks; /* null: one rank */
  bool together;            /* all ranks make the same calls */
  bool writes;              /* this rank has the files */
  bool serves;              /* this rank joins the solves of rank 0 */
  bool solves;              /* rank 0 has the world, and the others join its solves */
  scree_World *whole;       /* on rank 0, until bodies and impulses of another run are sent */
  char why[96];             /* why the world is not divided; empty: it is */
  scree_RankCounts before;  /* of this rank, at the last scree_run_parts_count */
} scree_RunParts;

void scree_run_parts_init(scree_RunParts *parts, const scree_Ranks *ranks,
                          const scree_Scene *scene);
void scree_run_parts_fini(scree_RunParts *parts);

static inline bool scree_run_parts_divided(const scree_RunParts *parts) {
  return parts->ranks && !parts->serves && !parts->solves;
}
/* The worst status of all ranks. */
static inline scree_Status scree_run_parts_agree(const scree_RunParts *parts, scree_Status status,
                                                 const scree_Log *log) {
  return parts->together ? scree_ranks_agree(parts->ranks, status, log) : status;
}
/* Whether it is true on any rank; and the bytes of rank 0, sent to all. */
static inline bool scree_run_parts_any(const scree_RunParts *parts, bool mine) {
  return parts->together ? scree_ranks_any(parts->ranks, mine) : mine;
}
static inline void scree_run_parts_tell(const scree_RunParts *parts, void *bytes, size_t count) {
  if (parts->together && count) scree_ranks_broadcast(parts->ranks, bytes, count);
}

/* The world of this rank; null, with SCREE_OK, where it has none (`serves`). `start`: with the
 * impulses of the run that the scene starts from. */
scree_Status scree_run_parts_build(scree_RunParts *parts, const scree_Scene *scene, bool start,
                                   const scree_Log *log, scree_World **world);

/* A frame of a divided world into the journal. */
scree_Status scree_run_parts_frame(const scree_RunParts *parts, const scree_World *world,
                                   bool with_contacts, const scree_Aabb *region,
                                   scree_Journal *journal, const scree_Log *log);
/* A checkpoint of a divided world, with the head and the order of rank 0. */
scree_Status scree_run_parts_checkpoint(const scree_RunParts *parts, const scree_World *world,
                                        const char *path, scree_CheckpointHead *head,
                                        const int *order, const scree_Log *log);
/* The state that begins at byte `at` of a checkpoint. */
scree_Status scree_run_parts_restore(const scree_RunParts *parts, scree_World *world,
                                     const char *path, int64_t at, const scree_Log *log);
/* The bodies that this rank has in results.h5: a range of numbers, or on rank 0 all, where it
 * writes the file alone; rows are freed with scree_free. */
scree_Status scree_run_parts_table(const scree_RunParts *parts, const scree_World *world,
                                   bool alone, scree_BodyTable *table);

/* Bodies of all ranks that are there, obstacles not counted. */
int scree_run_parts_bodies(const scree_RunParts *parts, const scree_World *world);

/* Bytes of memory that this process had at most: the largest and the mean of all ranks. */
void scree_run_parts_memory(const scree_RunParts *parts, double *most, double *mean);

/* What all ranks have sent since the last call, or the start. */
typedef struct scree_RunSent {
  double messages, bytes, synchronisations;
  double imbalance; /* largest work of a rank over the mean, in the last step */
} scree_RunSent;

scree_RunSent scree_run_parts_count(scree_RunParts *parts, const scree_World *world);

#endif

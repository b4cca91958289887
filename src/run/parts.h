/* A run on several ranks (scree/parallel.h).
 *
 * Every rank reads the scene and runs the same loop over its part of the world (scree/world.h,
 * scree_world_divide). Rank 0 writes: it has the files, and an undivided world of the same bodies,
 * into which the state of all ranks is collected for checkpoints and results.h5. Frames are sent to
 * it in pieces. A world that cannot be divided is on rank 0 alone, and the others join its solves
 * (scree_solver_serve). On one rank all of this is nothing. */
#ifndef SCREE_RUN_PARTS_H
#define SCREE_RUN_PARTS_H

#include "parallel/ranks.h"
#include "run/results_frame.h"
#include "scree/scene.h"

typedef struct scree_RunParts {
  const scree_Ranks *ranks; /* null: one rank */
  bool together;            /* all ranks make the same calls */
  bool writes;              /* this rank has the files */
  bool serves;              /* this rank joins the solves of rank 0 */
  bool solves;              /* rank 0 has the world, and the others join its solves */
  scree_World *whole;       /* on rank 0 of a divided world */
  char why[96];             /* why the world is not divided; empty: it is */
  scree_RankCounts before;  /* of this rank, at the last scree_run_parts_count */
} scree_RunParts;

void scree_run_parts_init(scree_RunParts *parts, const scree_Ranks *ranks);
void scree_run_parts_fini(scree_RunParts *parts);

static inline bool scree_run_parts_divided(const scree_RunParts *parts) {
  return parts->ranks && !parts->serves && !parts->solves;
}
/* The worst status of all ranks. */
static inline scree_Status scree_run_parts_agree(const scree_RunParts *parts, scree_Status status,
                                                 const scree_Log *log) {
  return parts->together ? scree_ranks_agree(parts->ranks, status, log) : status;
}
/* What any rank says, and what rank 0 has. */
static inline bool scree_run_parts_any(const scree_RunParts *parts, bool mine) {
  return parts->together ? scree_ranks_any(parts->ranks, mine) : mine;
}
static inline void scree_run_parts_tell(const scree_RunParts *parts, void *bytes, size_t count) {
  if (parts->together && count) scree_ranks_broadcast(parts->ranks, bytes, count);
}

/* The world of this rank; null, with SCREE_OK, where it has none (`serves`). */
scree_Status scree_run_parts_build(scree_RunParts *parts, const scree_Scene *scene,
                                   const scree_Log *log, scree_World **world);
/* The world that has all bodies, on rank 0: up to date after scree_run_parts_collect. */
static inline scree_World *scree_run_parts_whole(const scree_RunParts *parts, scree_World *world) {
  return parts->whole ? parts->whole : world;
}
/* Poured bodies, which rank 0's whole world needs too, and the state of all ranks into it. */
scree_Status scree_run_parts_collect(scree_RunParts *parts, const scree_Scene *scene,
                                     const scree_World *world, const int *order, int poured,
                                     const scree_Log *log);
/* The state of the whole world to all ranks. */
scree_Status scree_run_parts_spread(scree_RunParts *parts, scree_World *world);

/* A frame of a divided world, on rank 0; `frame` is null on the others. */
scree_Status scree_run_parts_frame(const scree_RunParts *parts, const scree_World *world,
                                   bool with_contacts, const scree_Aabb *region, scree_Frame *frame,
                                   const scree_Log *log);

/* Bodies of all ranks that are there, obstacles not counted. */
int scree_run_parts_bodies(const scree_RunParts *parts, const scree_World *world);

/* What all ranks have sent since the last call, or the start. */
typedef struct scree_RunSent {
  double messages, bytes, synchronisations;
  double imbalance; /* largest work of a rank over the mean, in the last step */
} scree_RunSent;

scree_RunSent scree_run_parts_count(scree_RunParts *parts, const scree_World *world);

#endif

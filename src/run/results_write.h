/* results.h5 from a journal of frames; docs/RESULTS.md is its layout. */
#ifndef SCREE_RUN_RESULTS_WRITE_H
#define SCREE_RUN_RESULTS_WRITE_H

#include "core/poll.h"
#include "run/results_data.h"
#include "run/results_frame.h"
#include "run/results_pack.h"
#include "scree/scene.h"
#include "world/world.h"

typedef struct scree_ResultsMaterial {
  const char *name, *colour; /* "" when there is none */
  double density;            /* NAN: unknown */
} scree_ResultsMaterial;

/* Bodies first .. first + count - 1 of the whole world. */
typedef struct scree_BodyTable {
  int first, count, whole;
  scree_BodyRow *row; /* (count) */
  size_t nodes;       /* of finite elements, of these bodies; and of all */
  int64_t whole_nodes;
  scree_NodeRow *node; /* (nodes) */
} scree_BodyTable;

/* Data of the file besides the world and its frames. */
typedef struct scree_ResultsHead {
  const char *title, *scene; /* scene: its text, "" for a world that was built by calls */
  int compression;           /* 0 to 9 */
  bool finished;
  int materials;
  const scree_ResultsMaterial *material; /* (materials) */
  const scree_Scene *naming;             /* gives the names of the bodies, or null */
  const scree_BodyTable *bodies;         /* of a divided world; null: those of the world */
} scree_ResultsHead;

/* The head for the run of a scene; materials (as many as the scene has) is filled here and must
 * stay as long as the head. */
scree_ResultsHead scree_results_head(const scree_Scene *scene, scree_ResultsMaterial *materials);

/* Write the file from all whole records of the journal. `world` has all bodies of the last frame.
 * The file appears whole or not at all: not when `poll` (or null), asked before each frame, says
 * stop (SCREE_INTERRUPTED); the file that was there before stays. */
scree_Status scree_results_write(const char *path, const scree_Journal *journal,
                                 const scree_ResultsHead *head, const scree_World *world,
                                 scree_Poll *poll, const scree_Log *log);

/* The same, without a poll; with a journal of more than `memory` bytes the file is built on the
 * disk, not in memory. */
scree_Status scree_results_write_within(const char *path, const scree_Journal *journal,
                                        const scree_ResultsHead *head, const scree_World *world,
                                        int64_t memory, const scree_Log *log);

/* The same with the chunks of a run that goes on; frames that are not packed yet are packed now. */
scree_Status scree_results_write_packed(const char *path, const scree_Journal *journal,
                                        scree_ResultsPack *pack, const scree_ResultsHead *head,
                                        const scree_World *world, scree_Poll *poll,
                                        const scree_Log *log);

/* Append the first `frames` frames of the file to a journal: the reverse of scree_results_write. */
scree_Status scree_results_to_journal(const char *path, scree_Journal *journal, int frames,
                                      const scree_Log *log);

/* Head, materials and bodies; first and last frame of each (bodies->count). */
void scree_results_write_world(scree_ResultsWriter *writer, const scree_ResultsHead *head,
                               const scree_World *world, const scree_BodyTable *bodies,
                               const int *first, const int *last);

#endif

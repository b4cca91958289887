/* Internal data of a world. */
#ifndef SCREE_WORLD_WORLD_H
#define SCREE_WORLD_WORLD_H

#include "scree/world.h"
#include "step/system.h"
#include "world/refine.h"

#include <string.h>

/* What a world has besides bodies, joints, contacts and their memory, as it is saved (state.c) and
 * sent to other ranks (spread.c). */
typedef struct scree_Progress {
  double time_start, last_h, memory_h, penetration;
  int64_t time_count, steps;
  scree_EnergyBalance total;
  scree_EnergyAudit audit;
  scree_WorkMeter work;
  int64_t energy_known;
  double impact_in;
  int64_t cuts;
  scree_Refinement refinement;
} scree_Progress;

void scree_world_get_progress(const scree_World *world, scree_Progress *progress);
void scree_world_set_progress(scree_World *world, const scree_Progress *progress);

/* Time is start + count * step, so that rounding does not accumulate; both are reset when the step
 * changes. */
struct scree_World {
  scree_System system;
  scree_Log log; /* copy of the caller's, silent if there was none */
  double time_start;
  int64_t time_count, steps;
  double last_h;    /* of the last substep: impulses of joints over it are forces */
  double contact_h; /* the same for contacts, whose impulses are those of the whole step */
  double impact_in; /* time after which the next step is cut at an impact, or -1 (step.c) */
  int64_t cuts;     /* number of cuts since the start */
  scree_Refinement refinement;
  bool stepped;          /* the contacts and the problem are those of the last step */
  scree_Problem problem; /* of the last step, a view of system.posed */
  /* Counts of how often arrays that a caller may hold became invalid (scree_world_array). */
  uint64_t body_generation, contact_generation;

  char *options_text;   /* copies of the solver's options, one after the other */
  const char **options; /* (null-terminated) into options_text */
  char solver[SCREE_OPTION_NAME_SIZE];

  int stepped_bodies; /* bodies of the last step */
  size_t backup_capacity, origin_capacity, remembered_capacity;
  char *backup;      /* bodies at the start of the substep (scree_bodies_save) */
  char *origin;      /* bodies at the start of the step, once it is halved */
  bool cut_up;       /* `origin` is the state before the last step, else `backup` */
  scree_Memory kept; /* impulses at the start of a step that is halved */
  int attempts;      /* attempts of the current step */
  char *remembered;  /* (remembered_size) memory of the solver at the start of the step */
  size_t remembered_size;
};

/* Where body k of the last step, of stepped_bodies, was before it. */
static inline scree_Vec3 scree_world_start_position(const scree_World *world, int k) {
  scree_Motion before;
  const char *snapshot = world->cut_up ? world->origin : world->backup;
  memcpy(&before, snapshot + (size_t)k * sizeof before, sizeof before);
  return before.pose.position;
}

/* Free the spare capacity for bodies; arrays that callers hold may become invalid. */
void scree_world_fit(scree_World *world);

#endif

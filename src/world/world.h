/* Internal data of a world. */
#ifndef SCREE_WORLD_WORLD_H
#define SCREE_WORLD_WORLD_H

#include "core/private.h"
#include "scree/world.h"
#include "step/system.h"
#include "world/refine.h"

#include <string.h>

/* What a world has besides bodies, joints, contacts and their memory, as it is saved (state.c) and
 * sent to other ranks (spread.c). */
typedef struct scree_WorldTotals {
  double time_start, last_h, memory_h, penetration;
  int64_t time_count, steps;
  scree_EnergyBalance total;
  scree_EnergyAudit audit;
  scree_WorkMeter work;
  int64_t energy_known;
  double impact_in;
  int64_t cuts;
  scree_Refinement refinement;
} scree_WorldTotals;

void scree_world_get_progress(const scree_World *world, scree_WorldTotals *progress);
void scree_world_set_progress(scree_World *world, const scree_WorldTotals *progress);

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

/* ---- divided worlds (divide.c, part_state.c) ----------------------------------------------------
 */

/* What a rank writes of the state of a divided world: data of section k of rank 0, then of rank 1
 * and so on, section after section, are what scree_world_save writes of the whole. Each rank has
 * the bodies of a range of numbers, and their contacts. */
enum { SCREE_STATE_SECTIONS = 13 };
typedef struct scree_PartState {
  const void *data[SCREE_STATE_SECTIONS];
  size_t bytes[SCREE_STATE_SECTIONS];
  void *memory[SCREE_STATE_SECTIONS];
} scree_PartState;
SCREE_PRIVATE scree_Status scree_world_part_save(const scree_World *world, scree_PartState *state);
SCREE_PRIVATE void scree_world_part_state_fini(scree_PartState *state);

/* Bytes from `offset` on of a saved state; false: they cannot be read. */
typedef bool (*scree_StateReader)(void *user, int64_t offset, void *data, size_t bytes);
/* Each rank reads what belongs to it into a divided world that was made with the same bodies and
 * has made no step. */
SCREE_PRIVATE scree_Status scree_world_part_restore(scree_World *world, scree_StateReader read,
                                                    void *user);

/* What does not change of a body. */
typedef struct scree_BodyRow {
  scree_Shape shape; /* without deformation; its data belong to the world, or to the row */
  scree_Vec3 inertia;
  double mass;
  int64_t removed; /* step, or -1 */
  int number, shape_number, material, kind;
  uint32_t group;
  int obstacle;
  bool explicit_, consistent_mass, keeps_shape; /* of deformable bodies (scree_Elastic) */
  bool own_shape;                               /* `shape` belongs to the row */
} scree_BodyRow;
SCREE_PRIVATE scree_BodyRow scree_world_body_row(const scree_World *world, int body);
SCREE_PRIVATE void scree_world_free_rows(scree_BodyRow *rows, int count);
/* Of a divided world: rank k gets the bodies k * block to (k + 1) * block - 1, in their order;
 * freed with scree_world_free_rows. */
SCREE_PRIVATE scree_Status scree_world_part_rows(const scree_World *world, int block,
                                                 scree_BodyRow **rows, int *count);

/* What does not change of a node of finite elements. */
typedef struct scree_NodeRow {
  scree_Vec3 place;  /* undeformed */
  scree_Vec3 anchor; /* in the frame of the obstacle that moves it, or not finite */
  int holder;        /* -1 nothing, -2 it is held, or the obstacle that moves it */
  int64_t number;    /* among the nodes of all bodies */
} scree_NodeRow;
/* Of all bodies of a world (count: scree_world_node_count), or of a divided one those of the bodies
 * that scree_world_part_rows gives to this rank; in their order, freed with scree_free. *whole: the
 * number of all. */
SCREE_PRIVATE scree_Status scree_world_node_rows(const scree_World *world, int block,
                                                 scree_NodeRow **rows, size_t *count,
                                                 int64_t *whole);

/* Bodies to the ranks that have their piece of space, as the next step would do it. */
SCREE_PRIVATE scree_Status scree_world_settle(scree_World *world);

/* Of a divided world without bodies: the cuts (ranks) by which its bodies get their ranks. */
SCREE_PRIVATE void scree_world_set_cuts(scree_World *world, const scree_Cut *cuts);

/* Of a divided world, in place of scree_world_add_body: the next body is that of another rank. Its
 * shape, if it has vertices or parts, else null. */
SCREE_PRIVATE scree_Status scree_world_pass_body(scree_World *world, const scree_Shape *shape);
/* All ranks call it after the last of these. */
SCREE_PRIVATE void scree_world_passed(scree_World *world);

/* Force, torque, x and effort of a joint from the rank that has it; all ranks call it. */
SCREE_PRIVATE scree_JointState scree_joint_of_all(const scree_World *world, int joint);

/* Where body k of the last step, of stepped_bodies, was before it. */
static inline scree_Vec3 scree_world_start_position(const scree_World *world, int k) {
  scree_Motion before;
  const char *snapshot = world->cut_up ? world->origin : world->backup;
  memcpy(&before, snapshot + (size_t)k * sizeof before, sizeof before);
  return before.pose.position;
}

/* scree_world_touching with the points whose gap is below `relative` times the size of the bodies.
 */
SCREE_PRIVATE scree_Status scree_world_close(const scree_World *world, double relative,
                                             int *contacts);

/* Free the spare capacity for bodies; arrays that callers hold may become invalid. */
void scree_world_fit(scree_World *world);

#endif

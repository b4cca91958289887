/* Internals of a scene: the normalised tree, and the bodies, laws, forces made from it. Shared by
 * the reader (scene.c), the builder of worlds (scene_build.c) and the generators. */
#ifndef SCREE_SCENE_INTERNAL_H
#define SCREE_SCENE_INTERNAL_H

#include "parallel/ranks.h"
#include "scene/generator_random.h"
#include "scene/region.h"
#include "scene/scene_expression.h"
#include "scene/scene_schema.h"
#include "scene/sensors.h"
#include "scene/shape_made.h"
#include "scree/scene.h"
#include "step/domain.h"

#include <math.h>

/* A twist as a function of time: each half is a table, or has a number or an expression per
 * component. */
typedef struct scree_SceneSignal {
  double value[6];
  scree_Expression *expression[6]; /* or null: the value */
  struct {
    int count;
    double *times;  /* (count) ascending */
    double *values; /* (count x 3) */
  } table[2];       /* linear, angular; count 0: none */
  bool constant;
  char *names[6]; /* "FILE:LINE:COLUMN: PATH" of each component; null if all are constant */
} scree_SceneSignal;

typedef struct scree_SceneState scree_SceneState; /* scene_state.h */

typedef struct scree_SceneBody {
  scree_Shape shape;
  scree_BodyDef def;         /* its shape and driver are set when it is used */
  const char *name;          /* in the tree, or null */
  scree_SceneSignal *driver; /* or null */
  scree_Region held;         /* where nodes of finite elements are held */
  scree_SceneState *state;   /* that it begins with, or null: at rest or in rigid motion */
} scree_SceneBody;

/* Common properties of the bodies of one generator. */
typedef struct scree_Grain {
  scree_Shape shape;   /* before scaling */
  scree_Rubble rubble; /* or a random polyhedron for each body; `shape` is one of them */
  scree_Distribution scale;
  bool turn; /* random orientation */
  scree_BodyDef def;
} scree_Grain;

typedef struct scree_Pour {
  int generator; /* stream of random numbers */
  scree_Grain grain;
  scree_Region region;
  int count;
  double rate, start;
  const char **names; /* (count), or null: its bodies have none */
} scree_Pour;

/* Poured bodies by name, in scenes with several pours: which body of which pour comes next is known
 * only when it comes. Their places in the list of names are those of the first pour, then of the
 * second, ... All are kept up to date by scree_scene_pour and scree_scene_pour_again. */
typedef struct scree_PouredNames {
  int count;
  int *place;  /* (count) by the order in which they came: place in the list, -1: not yet */
  int *number; /* (count) by the place in the list: order in which it came, -1: not yet */
} scree_PouredNames;

typedef struct scree_SceneForce {
  scree_ForceDef def;
  const char *pattern; /* of the bodies, or null: def.body */
  scree_SceneSignal *signal;
  /* of a plate: the signal is a number, times this area along this direction; else 0 */
  double area, until; /* the time at which it ends */
  double face;        /* area of the whole plate */
  scree_Vec3 along;
  scree_Region nodes; /* on which nodes of finite elements it acts */
  double size;        /* of their body */
} scree_SceneForce;

/* Nodes of a body of finite elements that move with an obstacle. */
typedef struct scree_SceneDriven {
  int body, obstacle;
  scree_Region nodes;
  double size; /* of the body */
} scree_SceneDriven;

typedef struct scree_SceneJoint {
  scree_JointDef def;
  const char *name;          /* in the tree, or null */
  const scree_Node *node;    /* where it is described */
  scree_SceneSignal *signal; /* of its motor, or null */
  double from;               /* of a plate: when its motor starts */
} scree_SceneJoint;

typedef enum scree_RemovalKind {
  SCREE_REMOVE_PLANE,
  SCREE_REMOVE_OUTSIDE,
  SCREE_REMOVE_BODY
} scree_RemovalKind;

typedef struct scree_Removal {
  scree_RemovalKind kind;
  scree_Vec3 point, normal; /* plane */
  scree_Vec3 lower, upper;  /* outside */
  int body;                 /* body */
  const char *pattern;      /* of the bodies, or null: `body`, or all */
  double time;
} scree_Removal;

/* Contacts of the frame that a scene starts from, by the numbers of its own bodies. */
typedef struct scree_SceneStart {
  int count;
  scree_ContactImpulse *contacts; /* (count) */
  double *memory;                 /* (of those that have one x SCREE_CONTACT_MEMORY) */
  double step;                    /* that the impulses belong to; 0: no start */
} scree_SceneStart;

/* A shape that all ranks keep: of bodies `first` to `last`, made one after the other. */
typedef struct scree_NumberedShape {
  int first, last;
  scree_Shape shape;
} scree_NumberedShape;

/* A periodic cell: rows x, y and z of its velocity gradient. */
typedef struct scree_SceneCell {
  bool any;
  scree_CellDef def;
  scree_SceneSignal *rows[2]; /* x and y; z */
} scree_SceneCell;

/* The part of a rank (scene_part.c): `bodies` has those of the rank, as the world deals them out
 * (scree_world_deal), and while generators run also those that later bodies might overlap. */
typedef struct scree_ScenePart {
  const scree_Ranks *ranks; /* null: `bodies` has all */
  int *number;              /* (kept) number of each of `bodies`, ascending */
  size_t number_capacity;
  scree_NumberedShape
      *shapes; /* (shape_count) with vertices or parts, of bodies that are not kept */
  size_t shape_count, shape_capacity;
  scree_Aabb *needed; /* (needed_count) boxes in which generators to come may place bodies */
  size_t needed_count, needed_capacity;
  bool all_needed;   /* such a box is not known */
  size_t next_thin;  /* bodies kept at which others are to be dropped */
  scree_Cut *cut;    /* (ranks) pieces of space by which ranks get their bodies; null: by numbers */
  bool counts;       /* no body is kept, only the places of some */
  bool whole;        /* else all bodies are kept */
  scree_Vec3 *place; /* (place_count) then: of the bodies that were dealt to this rank */
  size_t place_count, place_capacity;
} scree_ScenePart;

struct scree_Scene {
  char *name; /* of the file */
  scree_Tree tree;
  char *text;
  int dimension, threads;
  uint64_t seed;
  scree_Vec3 gravity;
  int material_count;
  int obstacle_count;
  int first_plate;         /* body of the first of `plates` */
  scree_SceneBody *bodies; /* (kept) obstacles first */
  size_t body_count;       /* bodies and obstacles of the start */
  size_t kept, body_capacity;
  bool released;           /* `bodies` has obstacles alone (scree_scene_release_bodies) */
  const char **kept_names; /* then, or of a part: (kept_name_count) names of all bodies */
  size_t kept_name_count, kept_name_capacity; /* those behind have none */
  scree_ScenePart part;
  scree_SceneStart start;
  struct scree_TriangleMesh **region_mesh; /* (region_mesh_count) of regions of generators */
  int region_mesh_count;
  scree_Pour *pours; /* (pour_count) */
  int pour_count;
  scree_PouredNames *poured; /* or null: at most one pour, or none has names */
  scree_SceneDriven *driven; /* (driven_count) */
  int driven_count;
  size_t driven_capacity;
  scree_SceneForce *forces; /* (force_count) */
  int force_count;
  scree_SceneJoint *joints; /* (joint_count) */
  int joint_count;
  scree_SceneCell cell;
  scree_Sensor *sensors; /* (sensor_count) */
  int sensor_count;
  scree_Removal *removals; /* (removal_count) */
  int removal_count;
  const char **solver_options; /* null-ended "name=value" */
  double step, duration, smallest;
  bool automatic_step;
  int64_t steps, frame_steps;
  int stop_body;            /* -1: any */
  const char *stop_pattern; /* or null */
  scree_Vec3 stop_point, stop_normal;
};

/* Message with the place of `node`, and SCREE_BAD_INPUT. */
scree_Status scree_scene_refuse(const scree_Scene *scene, const scree_Node *node,
                                const scree_Log *log, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The text of `node` is not among `words`, names of `what`: a message with the nearest one; -1. */
int scree_scene_refuse_name(const scree_Scene *scene, const scree_Node *node, const scree_Log *log,
                            const char *what, const char *const *words);

/* Vector of a normalised map; one number is the z component. Zero when absent. */
scree_Vec3 scree_scene_vector(const scree_Node *map, const char *key);

/* Shape of a normalised node, times `scale`. */
scree_Status scree_scene_shape(const scree_Scene *scene, const scree_Node *node, double scale,
                               const scree_Log *log, scree_Shape *shape);
/* A copy times `scale`; polygons keep their centroid at the origin. */
scree_Status scree_scene_scale_shape(const scree_Shape *from, double scale, scree_Shape *shape,
                                     const scree_Log *log);

/* material, density and group of a normalised map into a definition. */
scree_Status scree_scene_matter(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_BodyDef *def);

/* Material and scheme of a deformable body, of which kind, material and integration are set;
 * `where` for messages. */
scree_Status scree_scene_elastic(const scree_Scene *scene, const scree_Node *where,
                                 const scree_Log *log, scree_BodyDef *def);

/* Take over the body (also its shape, freed on failure). */
/* Room for that many bodies and obstacles. */
bool scree_scene_reserve(scree_Scene *scene, size_t bodies);
scree_Status scree_scene_add(scree_Scene *scene, scree_SceneBody *body, const scree_Log *log);

/* ---- the part of a rank (scene_part.c) ---- */
/* Whether each rank keeps all bodies until the world is built: a scene with joints, bonds, plates
 * or finite elements. */
bool scree_scene_keeps_all(const scree_Scene *scene);

/* The number of the body or obstacle bodies[k]. */
static inline int scree_scene_kept_number(const scree_Scene *scene, size_t k) {
  return scene->part.ranks ? scene->part.number[k] : (int)k;
}
/* Place of a body among `bodies`, -1: it is not kept. */
int scree_scene_place(const scree_Scene *scene, int number);
/* Why the world of this scene cannot be divided between ranks, or null; asked before bodies are
 * read, of the tree alone. */
const char *scree_scene_cannot_divide(const scree_Scene *scene);
/* A scene of the same text that is read first, to count the bodies of each piece of space: *cut
 * (ranks), freed with scree_free. */
scree_Status scree_scene_cut(const scree_Scene *counted, scree_Cut **cut, const scree_Log *log);
/* Before generator `index` runs: the boxes of those behind it. */
scree_Status scree_scene_expect(scree_Scene *scene, int index, const scree_Log *log);
/* Room for `bodies` more, which come in layers: of a part for those that it keeps, or counts. */
bool scree_scene_expect_more(scree_Scene *scene, size_t bodies, size_t layer);
/* Whether so many bodies are kept that dropping some is worth it. */
static inline bool scree_scene_is_full(const scree_Scene *scene) {
  return scene->part.ranks && !scene->released && scene->kept >= scene->part.next_thin;
}
/* Drop bodies of other ranks but those that meet `window` (or null) or that generators to come may
 * need. */
scree_Status scree_scene_thin(scree_Scene *scene, const scree_Aabb *window, const scree_Log *log);
/* Room for the names of all bodies so far, where these are kept apart. */
bool scree_scene_keep_names(scree_Scene *scene);
/* The largest e_n between any two materials. */
double scree_scene_restitution(const scree_Scene *scene);
/* The largest of all ranks. */
double scree_scene_most(const scree_Scene *scene, double mine);
static inline double scree_scene_least(const scree_Scene *scene, double mine) {
  return -scree_scene_most(scene, -mine);
}
void scree_scene_part_fini(scree_Scene *scene);

/* Arch, vault or dome (generator_masonry.c). */
scree_Status scree_scene_generate_masonry(scree_Scene *scene, const scree_Node *node,
                                          const scree_Log *log);

/* A body that is no obstacle by its name; -1 with a message. */
int scree_scene_find_moving(const scree_Scene *scene, const scree_Node *node, const scree_Log *log);

/* A body or obstacle by its name, or by its number, for scree_scene_number; -1 with a message.
 * Poured bodies have numbers too, from the moment they come. */
int scree_scene_find_body(const scree_Scene *scene, const scree_Node *node, const scree_Log *log);

/* Bodies of the frame that `start` names, after the obstacles are read (scene_start.c). */
scree_Status scree_scene_read_start(scree_Scene *scene, const scree_Log *log);

/* `path` relative to the folder of the scene's file, as an absolute path in the tree's memory; null
 * with a message when there is no such file. */
const char *scree_scene_path(scree_Scene *scene, const scree_Node *node, const scree_Log *log);

scree_Status scree_scene_read_removals(scree_Scene *scene, const scree_Log *log);

/* Replace a number in the tree; false when memory runs out. */
bool scree_scene_set_number(scree_Scene *scene, scree_Node *map, const char *key, double value);

/* A material by its name; -1 with a message. */
int scree_scene_find_material(const scree_Scene *scene, const scree_Node *node,
                              const scree_Log *log);

/* Orientation of a normalised map: angle, axis and angle, or quaternion. */
scree_Status scree_scene_read_rotation(const scree_Scene *scene, const scree_Node *map,
                                       const scree_Log *log, scree_Quat *rotation);

/* Lists of the tree into those of the scene. */
scree_Status scree_scene_read_bodies(scree_Scene *scene, const scree_Log *log);
scree_Status scree_scene_read_forces(scree_Scene *scene, const scree_Log *log);
scree_Status scree_scene_read_joints(scree_Scene *scene, const scree_Log *log);
/* Check the keys `bonds`; they are made with the world, since only it knows which bodies touch. */
scree_Status scree_scene_read_bonds(scree_Scene *scene, const scree_Log *log);
scree_Status scree_scene_build_bonds(const scree_Scene *scene, scree_World *world,
                                     const scree_Log *log);
/* Label of the bonds with this name, -1 with a message if there are none. */
int scree_scene_find_bonds(const scree_Scene *scene, const scree_Node *node, const scree_Log *log);
/* Driven plates (scene_plates.c): their bodies, then their joints and forces. */
scree_Status scree_scene_read_plates(scree_Scene *scene, const scree_Log *log);
scree_Status scree_scene_load_plates(scree_Scene *scene, const scree_Log *log);
/* The periodic cell (scene_cell.c). */
scree_Status scree_scene_read_cell(scree_Scene *scene, const scree_Log *log);
scree_Status scree_scene_build_cell(const scree_Scene *scene, scree_World *world,
                                    const scree_Log *log);
/* Largest rate of deformation of the cell over the duration; 0 without one. */
double scree_scene_cell_rate(const scree_Scene *scene);
/* Refuse plates that obstacles beside their way could hold by friction. */
scree_Status scree_scene_check_plates(const scree_Scene *scene, const scree_World *world,
                                      const scree_Log *log);
/* The value of a scree_SceneForce, without its spans. */
scree_Twist scree_scene_force_at(void *force, double time);
/* The target of a motor from the value of its signal: one that is not finite stops the run, and
 * must not turn the motor off (scree_Motor). */
static inline double scree_scene_motor_value(double value) {
  return isfinite(value) ? value : INFINITY;
}
/* A joint by its name; -1 with a message. */
int scree_scene_find_joint(const scree_Scene *scene, const scree_Node *node, const scree_Log *log);
scree_Status scree_scene_build_joints(const scree_Scene *scene, scree_World *world,
                                      const scree_Log *log);

/* Values that the file leaves to `auto`: of the solver, before bodies are read; of the time, after.
 */
scree_Status scree_scene_resolve_start(scree_Scene *scene, const scree_Log *log);
scree_Status scree_scene_resolve_time(scree_Scene *scene, const scree_Log *log);

/* Change the velocities at the start by `perturb` (scene_perturb.c). */
void scree_scene_perturb(scree_Scene *scene);

/* The components of two vectors of a map (linear and angular, either may be absent); `owner` and
 * `index` name it in messages. Null when memory runs out. */
scree_SceneSignal *scree_scene_read_signal(const scree_Scene *scene, const char *owner, int index,
                                           const scree_Node *map, const char *linear,
                                           const char *angular);
void scree_scene_signal_free(scree_SceneSignal *signal);
scree_Twist scree_scene_signal_at(void *signal, double time);

/* ---- generators ---- */

/* Bodies that one generator may make. The fuzz targets lower it: ten million take a minute. */
#ifndef SCREE_MOST_GENERATED
#define SCREE_MOST_GENERATED 1e7
#endif

/* Run all generators: bodies of the start go into the scene, pours into its list. */
scree_Status scree_scene_generate(scree_Scene *scene, const scree_Log *log);

/* ---- names (scene_names.c) ---- */

/* "domino-*": * stands for any characters. */
bool scree_name_is_pattern(const char *text);
bool scree_name_matches(const char *pattern, const char *name); /* a null name matches nothing */
/* Whether a pattern takes a body of the world: "all" and "*" take every body that is no obstacle,
 * also those without a name. */
bool scree_scene_takes(const scree_Scene *scene, const char *pattern, int body);
/* Names of the bodies from `first` on, which a generator has made. */
scree_Status scree_scene_name_generated(scree_Scene *scene, const scree_Node *node, size_t first,
                                        const scree_Log *log);
/* Each name is there once. */
scree_Status scree_scene_check_names(const scree_Scene *scene, const scree_Log *log);
/* Names of poured bodies, when all generators are known. */
scree_Status scree_scene_name_poured(scree_Scene *scene, const scree_Log *log);
/* Bodies that may have names: those of the start, and those that are poured if these have any. */
int64_t scree_scene_names(const scree_Scene *scene);
/* Name k of them, or null. With several pours k is not the number of a body. */
const char *scree_scene_listed_name(const scree_Scene *scene, int64_t k);
/* What objects keep that name one body: the number of name k, if it is known, and the number of the
 * body in the world; -1: it has not come yet. */
int scree_scene_handle(const scree_Scene *scene, int64_t k);
int scree_scene_number(const scree_Scene *scene, int handle);
/* None of the poured bodies has come; body `k` of them is number `index` of a pour. */
void scree_scene_forget_poured(const scree_Scene *scene);
void scree_scene_note_poured(const scree_Scene *scene, int k, int pour, int index);
/* Some body has a name of the pattern, or a message. */
scree_Status scree_scene_check_pattern(const scree_Scene *scene, const scree_Node *node,
                                       const scree_Log *log);

/* Bodies of a table (generator_csv.c). */
scree_Status scree_scene_generate_csv(scree_Scene *scene, scree_Node *node, const scree_Log *log);

/* Body number `index` of a grain: scale and orientation from its own random numbers, at the
 * origin. `random` goes on from there. */
scree_Status scree_grain_make(const scree_Scene *scene, const scree_Grain *grain, int generator,
                              uint64_t index, scree_Random *random, scree_SceneBody *body,
                              const scree_Log *log);

/* The same with the shape and orientation given: of scale `scale`. */
scree_Status scree_grain_body(const scree_Scene *scene, const scree_Grain *grain, double scale,
                              scree_Random *random, scree_SceneBody *body, const scree_Log *log);

/* Bodies in a region without overlap, at a given density (generator_pack.c). */
scree_Status scree_scene_generate_pack(scree_Scene *scene, const scree_Node *node, int generator,
                                       const scree_Grain *grain, const scree_Region *region,
                                       const scree_Log *log);

/* Whether two bodies overlap by more than rounding makes of bodies that just touch. */
bool scree_scene_overlap(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                         const scree_Pose *pb);

#endif

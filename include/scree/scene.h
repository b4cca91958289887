/* scree/scene.h — scenes: worlds described by a YAML file. docs/SCENES.md is the reference, and is
 * made from the same tables as the checks.
 *
 *     scree_scene_read("drum.yaml", NULL, log, &scene);
 *     scree_scene_build(scene, log, &world);
 *     while (...) {
 *       scree_scene_pour(scene, world, NULL, NULL, log);
 *       scree_world_step(world, &report);
 *     }
 *
 * or leave the loop, the results and the checkpoints to scree_Run (scree/run.h). Strings that
 * functions return belong to the scene, if they do not say otherwise. */
#ifndef SCREE_SCENE_H
#define SCREE_SCENE_H

#include "scree/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scree_Scene scree_Scene;

/* Read and check a scene. `overrides` (null-ended list of "path=value", or null) are put in first:
 * they pass through the same checks. Messages have the form FILE:LINE:COLUMN: PATH: what was found,
 * what is allowed. *scene is null on failure. */
SCREE_API scree_Status scree_scene_read(const char *path, const char *const *overrides,
                                        const scree_Log *log, scree_Scene **scene);
/* The same on several ranks: all call it, and where the world can be divided each keeps the bodies
 * of its part alone, for scree_scene_build_part. `restored`: a saved state will be put into the
 * world. What building needs is freed when it is built. `ranks` null: one rank. */
SCREE_API scree_Status scree_scene_read_part(const char *path, const char *const *overrides,
                                             const scree_Ranks *ranks, bool restored,
                                             const scree_Log *log, scree_Scene **scene);
/* scree_scene_read from a text; `name` stands for the file in messages. */
SCREE_API scree_Status scree_scene_parse(const char *text, size_t length, const char *name,
                                         const char *const *overrides, const scree_Log *log,
                                         scree_Scene **scene);
SCREE_API void scree_scene_destroy(scree_Scene *scene);

/* The scene as YAML with every default written out: reading it gives the same scene. */
SCREE_API const char *scree_scene_text(const scree_Scene *scene);

/* Summary of a scene. */
typedef struct scree_SceneInfo {
  const char *title, *description;
  int dimension;
  int bodies, obstacles; /* at the start, generated ones included */
  int poured;            /* bodies that come later */
  double poured_mean;    /* of them that are there, mean over the duration */
  int sensor_columns;    /* numbers that the sensors give in each step */
  int materials, forces;
  double step, duration; /* s */
  bool automatic_step;   /* the scene leaves the step to the library */
  int64_t steps;         /* of the whole duration */
  int64_t frame_steps;   /* steps between saved frames */
  bool save_contacts;
  int compression;
  double checkpoint;  /* seconds of the clock */
  double smallest;    /* size of the smallest body, m */
  double penetration; /* tolerated, and its limit, relative to the smaller body */
  double penetration_limit;
  double stop_energy; /* fraction of the peak, 0: none */
  double stop_after;  /* s */
  bool stop_plane;
  scree_Aabb region; /* of the analysis */
  bool has_region;
  bool dumps; /* problems of some steps are written */
} scree_SceneInfo;

SCREE_API scree_SceneInfo scree_scene_info(const scree_Scene *scene);

/* Name of material k, null past the end; `density` and `colour` (or null) receive the others. */
SCREE_API const char *scree_scene_material(const scree_Scene *scene, int k, double *density,
                                           const char **colour);
/* The name of a body or obstacle of the start, as numbered in the world; null: none. */
SCREE_API const char *scree_scene_body_name(const scree_Scene *scene, int body);
/* For messages: its name, or "body 12". */
SCREE_API void scree_scene_body_label(const scree_Scene *scene, int body, char *text, size_t size);
/* The law between two materials. */
SCREE_API scree_PairLaw scree_scene_law(const scree_Scene *scene, int a, int b);

/* Number of bodies and obstacles of each kind of shape, poured ones included. */
SCREE_API void scree_scene_count_shapes(const scree_Scene *scene, int count[SCREE_SHAPE_KINDS]);

/* A new world with all bodies of the start. The scene must outlive it. */
SCREE_API scree_Status scree_scene_build(const scree_Scene *scene, const scree_Log *log,
                                         scree_World **world);
/* The same divided between ranks (scree_world_divide): every rank calls it, and has its part.
 * Joints, bonds, cells and impulses of a start are not made. Calls below that take a world then
 * belong to all ranks, too. */
SCREE_API scree_Status scree_scene_build_part(const scree_Scene *scene, const scree_Ranks *ranks,
                                              const scree_Log *log, scree_World **world);

/* Free what only building needs, about 700 bytes for each body of the start: no more worlds will be
 * built, and scree_scene_count_shapes has obstacles and poured bodies alone. Names stay; scenes
 * with deformable bodies keep all. */
SCREE_API void scree_scene_release_bodies(scree_Scene *scene);

/* Add the bodies that are due at the world's time and find room, before a step. `order`, with room
 * for scree_SceneInfo.poured entries, and its `count` receive the generator of each body added so
 * far, which is all that scree_scene_pour_again needs. Both may be null in scenes with at most one
 * pour; with several, a null `order` is SCREE_BAD_INPUT. */
SCREE_API scree_Status scree_scene_pour(const scree_Scene *scene, scree_World *world, int *order,
                                        int *count, const scree_Log *log);
/* Add the bodies of a list that scree_scene_pour made and the world does not have yet, somewhere:
 * their state is restored after. */
SCREE_API scree_Status scree_scene_pour_again(const scree_Scene *scene, scree_World *world,
                                              const int *order, int count, const scree_Log *log);

/* Remove the bodies that the scene's rules take away in the world's present state, before a step.
 */
SCREE_API scree_Status scree_scene_remove(const scree_Scene *scene, scree_World *world);

/* Whether the scene's conditions say that the run is over. *peak is the largest kinetic energy so
 * far, kept by the caller, 0 at first. `reason` (or null) receives a text, which
 * lives as long as the program. */
SCREE_API bool scree_scene_should_stop(const scree_Scene *scene, const scree_World *world,
                                       double *peak, const char **reason);

/* Whether the problem of this step is to be written. */
SCREE_API bool scree_scene_dumps(const scree_Scene *scene, int64_t step);

/* The reference page of the format (Markdown), and its JSON Schema for editors; freed by
 * scree_scene_free_text. Null when memory runs out. */
SCREE_API char *scree_scene_reference(void);
SCREE_API char *scree_scene_json_schema(void);
SCREE_API void scree_scene_free_text(char *text);

#ifdef __cplusplus
}
#endif

#endif

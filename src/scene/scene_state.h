/* Initial states of deformable bodies: deformations, and velocities other than those of a rigid
 * motion. They come from the keys `deformation` and `state` of bodies, and bodies of `start`. */
#ifndef SCREE_SCENE_SCENE_STATE_H
#define SCREE_SCENE_SCENE_STATE_H

#include "scene/scene.h"

/* The state that a body begins with, as in scree_body_set_coordinates. */
struct scree_SceneState {
  int count;      /* of coordinates */
  double *q, *v;  /* (count) */
  double account; /* of energy */
  int *holder; /* (nodes) -1: free, -2: held, or the obstacle of the scene that moves it; null: as
                  the region `held` has it */
  double *anchor; /* (count) places that go with the obstacles; null: q */
  int next;       /* node that is asked about next while a world is built */
};

scree_SceneState *scree_scene_state_create(int count, bool nodes);
void scree_scene_state_free(scree_SceneState *state);

/* Pseudo-rigid: the centre and the gradient F, with the columns of F and of its rate in the axes of
 * the shape as it is typed. */
scree_SceneState *scree_scene_state_affine(const scree_Scene *scene, const scree_SceneBody *body,
                                           scree_Vec3 velocity, const scree_Vec3 *F,
                                           const scree_Vec3 *rate);
/* The keys of a body into body->state, when all else of it is read. */
scree_Status scree_scene_read_state(scree_Scene *scene, scree_Node *map, const scree_Log *log,
                                    scree_SceneBody *body);
/* Where node k of a finite-element body is at the start. */
scree_Vec3 scree_scene_node_place(const scree_SceneBody *body, int k);

/* For a world: the nodes that the state holds (scree_Elastic.held), and, when all bodies are
 * there, states and driven nodes. */
bool scree_scene_state_holds(void *state, scree_Vec3 place);
scree_Status scree_scene_build_states(const scree_Scene *scene, scree_World *world);
/* Velocities again, after other nodes were driven. */
scree_Status scree_scene_end_states(const scree_Scene *scene, scree_World *world);

#endif

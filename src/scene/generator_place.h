/* Search grid of the bodies of a scene, so that a new body is tested only against
 * those near it. Bodies that cover very many cells, and unbounded ones, are always tested.
 */
#ifndef SCREE_SCENE_GENERATOR_PLACE_H
#define SCREE_SCENE_GENERATOR_PLACE_H

#include "scene/scene.h"

typedef struct scree_Place scree_Place;

/* A grid of cells of width `cell` with all bodies of the scene that are kept and meet `window`
 * (null: all of these); null: out of memory. */
scree_Place *scree_place_create(const scree_Scene *scene, double cell, const scree_Aabb *window);
void scree_place_destroy(scree_Place *place);

/* Insert body number `body` of the scene; false: out of memory. */
bool scree_place_add(scree_Place *place, const scree_Scene *scene, int body);

/* A body that was inserted and that a new one would overlap, or -1. */
int scree_place_blocker(const scree_Place *place, const scree_Scene *scene,
                        const scree_SceneBody *body);

#endif

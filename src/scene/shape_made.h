/* Shapes that a scene describes instead of listing their vertices: height fields, boxes of 2D
 * scenes, random convex polyhedra, and solids that are cut into convex parts. */
#ifndef SCREE_SCENE_SHAPE_MADE_H
#define SCREE_SCENE_SHAPE_MADE_H

#include "scene/generator_random.h"
#include "scene/scene_schema.h"

/* Another way to give a shape of a kind: by the map of `fields` if it has the key `key`, or always
 * where `key` is null. */
typedef struct scree_ShapeRecipe {
  const char *kind;
  int dimension;
  const char *key;
  const scree_Field *fields;
  const char *help;
} scree_ShapeRecipe;

/* All of them; the last has a null kind. */
extern const scree_ShapeRecipe scree_shape_recipes[];

/* The recipe that the map of a shape follows, or null. */
const scree_ShapeRecipe *scree_shape_recipe(const char *kind, int dimension, const scree_Node *map);

typedef struct scree_Scene scree_Scene;

/* Make the shape of a normalised map that follows a recipe, times `scale`. */
scree_Status scree_shape_make(const scree_Scene *scene, const scree_Node *map, double scale,
                              const scree_Log *log, scree_Shape *shape);

/* ---- random convex polyhedra ---- */

typedef struct scree_Rubble {
  bool given; /* false: every body has the same shape */
  int points;
  double diameter, angularity, elongation, flatness, rounding;
} scree_Rubble;

/* The description of a map whose recipe is that of random polyhedra, or not `given`. */
scree_Rubble scree_rubble_read(const scree_Node *map);

/* A polyhedron of its own for each state of `random`, times `scale`. */
scree_Status scree_rubble_make(const scree_Rubble *rubble, scree_Random *random, double scale,
                               scree_Shape *shape, const scree_Log *log);

#endif

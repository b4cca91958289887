/* Arches, barrel vaults and domes of blocks that fit exactly (see docs/SCENES.md).
 *
 * An arch is a ring of wedges between an inner and an outer circle of the plane (x, y) in 2D and
 * (x, z) in 3D, where it has a depth along y. The courses of a vault run along y; odd ones begin
 * and end with half a block. The blocks of a dome lie between two spheres, two planes through its
 * axis and two cones with their tips at its centre. The edges of such a bed are two lines through
 * the centre, so each bed is flat, and blocks of two courses share it if their planes through the
 * axis are the same: all courses have the same number of blocks. The last course leaves an opening.
 */
#include "core/log.h"
#include "math/vec3.h"
#include "scene/scene.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

#ifndef SCREE_MOST_GENERATED
#define SCREE_MOST_GENERATED 1e7
#endif

/* Add the hull of corners [count] where they are, relative to `centre`. */
static scree_Status add_block(scree_Scene *scene, const scree_BodyDef *def,
                              const scree_Vec3 *corners, int count, scree_Vec3 centre,
                              const scree_Log *log) {
  scree_SceneBody body = {.def = *def};
  const double sharp = 0;
  const scree_Status status = scree_shape_init(
      &body.shape, scene->dimension == 2 ? SCREE_SHAPE_POLYGON : SCREE_SHAPE_POLYHEDRON, &sharp,
      corners, count, log);
  if (status != SCREE_OK) return status;
  const scree_Pose frame = scree_shape_frame(&body.shape);
  body.def.pose = (scree_Pose){scree_add(centre, frame.position), frame.orientation};
  return scree_scene_add(scene, &body, log);
}

/* Angles of the ring at which block k of n begins, from the right. */
static double angle_of(double embrace, int k, int n) {
  return 0.5 * (PI - embrace) + embrace * k / n;
}

/* The wedge between two angles, from y = low to y = high in 3D. */
static scree_Status add_wedge(scree_Scene *scene, const scree_BodyDef *def, scree_Vec3 centre,
                              const double radius[2], const double angle[2], double low,
                              double high, const scree_Log *log) {
  static const int side[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}}; /* radius, angle */
  scree_Vec3 corners[8];
  const bool flat = scene->dimension == 2;
  for (int k = 0; k < (flat ? 4 : 8); ++k) {
    const double r = radius[side[k % 4][0]], a = angle[side[k % 4][1]];
    corners[k] = flat ? scree_vec3(r * cos(a), r * sin(a), 0)
                      : scree_vec3(r * cos(a), k < 4 ? low : high, r * sin(a));
  }
  return add_block(scene, def, corners, flat ? 4 : 8, centre, log);
}

static scree_Status make_arch(scree_Scene *scene, const scree_Node *node, const scree_BodyDef *def,
                              const scree_Log *log) {
  const scree_Vec3 centre = scree_scene_vector(node, "centre");
  const double inner = scree_node_number(node, "radius");
  const double radius[2] = {inner, inner + scree_node_number(node, "thickness")};
  const double embrace = scree_node_number(node, "embrace");
  const double half = 0.5 * scree_node_number(node, "depth");
  const int blocks = (int)scree_node_number(node, "blocks");
  scree_Status status = SCREE_OK;
  for (int k = 0; k < blocks && status == SCREE_OK; ++k) {
    const double angle[2] = {angle_of(embrace, k, blocks), angle_of(embrace, k + 1, blocks)};
    status = add_wedge(scene, def, centre, radius, angle, -half, half, log);
  }
  return status;
}

static scree_Status make_vault(scree_Scene *scene, const scree_Node *node, const scree_BodyDef *def,
                               const scree_Log *log) {
  const scree_Vec3 centre = scree_scene_vector(node, "centre");
  const double inner = scree_node_number(node, "radius");
  const double radius[2] = {inner, inner + scree_node_number(node, "thickness")};
  const double embrace = scree_node_number(node, "embrace");
  const double depth = scree_node_number(node, "depth");
  const int courses = (int)scree_node_number(node, "courses");
  const int length = (int)scree_node_number(node, "length");
  const double start = -0.5 * length * depth;
  scree_Status status = SCREE_OK;
  if ((double)courses * (length + 1) > SCREE_MOST_GENERATED)
    return scree_scene_refuse(scene, node, log, "a vault of more than %g blocks",
                              SCREE_MOST_GENERATED);
  for (int c = 0; c < courses; ++c) {
    const double angle[2] = {angle_of(embrace, c, courses), angle_of(embrace, c + 1, courses)};
    const int odd = c & 1;
    for (int k = 0; k < length + odd && status == SCREE_OK; ++k) {
      const double low = odd && k > 0 ? (k - 0.5) * depth : k * depth;
      const double high = odd && k < length ? (k + 0.5) * depth : fmin(k + 1, length) * depth;
      status = add_wedge(scene, def, centre, radius, angle, start + low, start + high, log);
    }
  }
  return status;
}

static scree_Status make_dome(scree_Scene *scene, const scree_Node *node, const scree_BodyDef *def,
                              const scree_Log *log) {
  const scree_Vec3 centre = scree_scene_vector(node, "centre");
  const double inner = scree_node_number(node, "radius");
  const double radius[2] = {inner, inner + scree_node_number(node, "thickness")};
  const double base = scree_node_number(node, "base"), opening = scree_node_number(node, "opening");
  const int courses = (int)scree_node_number(node, "courses");
  const int blocks = (int)scree_node_number(node, "blocks");
  scree_Status status = SCREE_OK;
  if ((double)courses * blocks > SCREE_MOST_GENERATED)
    return scree_scene_refuse(scene, node, log, "a dome of more than %g blocks",
                              SCREE_MOST_GENERATED);
  if (!(opening < base))
    return scree_scene_refuse(scene, node, log, "opening: found %g, expected less than base, %g",
                              opening, base);
  for (int c = 0; c < courses; ++c)
    for (int k = 0; k < blocks && status == SCREE_OK; ++k) {
      scree_Vec3 corners[8];
      for (int m = 0; m < 8; ++m) {
        const double r = radius[m & 1];
        const double tilt =
            base + (opening - base) * (c + (m >> 1 & 1)) / courses; /* from the axis */
        const double turn = 2 * PI * (k + (m >> 2)) / blocks;
        corners[m] =
            scree_vec3(r * sin(tilt) * cos(turn), r * sin(tilt) * sin(turn), r * cos(tilt));
      }
      status = add_block(scene, def, corners, 8, centre, log);
    }
  return status;
}

scree_Status scree_scene_generate_masonry(scree_Scene *scene, const scree_Node *node,
                                          const scree_Log *log) {
  scree_BodyDef def = scree_body_def();
  const scree_Status status = scree_scene_matter(scene, node, log, &def);
  if (status != SCREE_OK) return status;
  if (scree_node_is(node, "kind", "vault")) return make_vault(scene, node, &def, log);
  if (scree_node_is(node, "kind", "dome")) return make_dome(scene, node, &def, log);
  return make_arch(scene, node, &def, log);
}

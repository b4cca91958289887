/* Regions (see region.h). */
#include "core/log.h"
#include "math/vec3.h"
#include "scene/scene.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static void region_bounds_drum(scree_Region *region) {
  /* a cylinder reaches R sqrt(1 - a_k^2) + L |a_k| along axis k */
  double reach[3];
  const double axis[3] = {region->axis.x, region->axis.y, region->axis.z};
  for (int k = 0; k < 3; ++k)
    reach[k] = region->dimension == 2 ? region->radius
                                      : region->radius * sqrt(fmax(0, 1 - axis[k] * axis[k])) +
                                            region->half_length * fabs(axis[k]);
  const scree_Vec3 r = scree_vec3(reach[0], reach[1], region->dimension == 3 ? reach[2] : 0);
  region->lower = scree_sub(region->centre, r);
  region->upper = scree_add(region->centre, r);
  region->volume =
      PI * region->radius * region->radius * (region->dimension == 3 ? 2 * region->half_length : 1);
}

static void region_bounds_hopper(scree_Region *region) {
  const double half = 0.5 * fmax(region->top, region->outlet);
  const scree_Vec3 c = region->centre;
  if (region->dimension == 2) {
    region->lower = scree_vec3(c.x - half, c.y, 0);
    region->upper = scree_vec3(c.x + half, c.y + region->height, 0);
    region->length = 1;
  } else {
    region->lower = scree_vec3(c.x - half, c.y - 0.5 * region->length, c.z);
    region->upper = scree_vec3(c.x + half, c.y + 0.5 * region->length, c.z + region->height);
  }
  region->volume = 0.5 * (region->top + region->outlet) * region->height * region->length;
}

scree_Status scree_region_read(const scree_Scene *scene, const scree_Node *node,
                               const scree_Log *log, scree_Region *region) {
  *region = (scree_Region){.dimension = scene->dimension};
  if (!node) return SCREE_OK;
  if (scree_node_is(node, "kind", "box")) {
    region->kind = SCREE_REGION_BOX;
    region->lower = scree_scene_vector(node, "lower");
    region->upper = scree_scene_vector(node, "upper");
    const scree_Vec3 size = scree_sub(region->upper, region->lower);
    if (!(size.x > 0 && size.y > 0 && (scene->dimension == 2 || size.z > 0)))
      return scree_scene_refuse(scene, node, log, "region: expected lower < upper on each axis");
    region->volume = size.x * size.y * (scene->dimension == 3 ? size.z : 1);
  } else if (scree_node_is(node, "kind", "drum")) {
    region->kind = SCREE_REGION_DRUM;
    region->centre = scree_scene_vector(node, "centre");
    region->radius = scree_node_number(node, "radius");
    region->half_length = scree_node_number(node, "half_length");
    region->axis = scree_scene_vector(node, "axis");
    if (scree_node_is(node, "axis", "auto")) region->axis = scree_vec3(0, 1, 0);
    if (scene->dimension == 3 && !(scree_norm(region->axis) > 0))
      return scree_scene_refuse(scene, node, log, "region.axis: expected a vector other than zero");
    region->axis = scree_unit_or(region->axis, scree_vec3(0, 0, 1));
    region_bounds_drum(region);
  } else {
    region->kind = SCREE_REGION_HOPPER;
    region->centre = scree_scene_vector(node, "outlet");
    region->outlet = scree_node_number(node, "outlet_width");
    region->top = scree_node_number(node, "top_width");
    region->height = scree_node_number(node, "height");
    region->length = scree_node_number(node, "length");
    region_bounds_hopper(region);
  }
  return SCREE_OK;
}

/* Distance of the centre from the nearest face is at least the radius. */
bool scree_region_holds(const scree_Region *region, scree_Vec3 c, double radius) {
  const bool solid = region->dimension == 3;
  if (region->kind == SCREE_REGION_NONE) return true;
  if (region->kind == SCREE_REGION_MESH) return scree_region_mesh_holds(region, c, radius);
  if (region->kind == SCREE_REGION_DRUM) {
    const scree_Vec3 d = scree_sub(c, region->centre);
    const double along = solid ? scree_dot(d, region->axis) : 0;
    const scree_Vec3 across = scree_axpy(d, -along, region->axis);
    return scree_norm(across) + radius <= region->radius &&
           (!solid || fabs(along) + radius <= region->half_length);
  }
  const bool inside =
      c.x - radius >= region->lower.x && c.x + radius <= region->upper.x &&
      c.y - radius >= region->lower.y && c.y + radius <= region->upper.y &&
      (!solid || (c.z - radius >= region->lower.z && c.z + radius <= region->upper.z));
  if (region->kind == SCREE_REGION_BOX || !inside) return inside;
  /* the slope x = outlet/2 + s z has the normal (1, -s) / sqrt(1 + s^2) */
  const double s = 0.5 * (region->top - region->outlet) / region->height;
  const double up = solid ? c.z - region->centre.z : c.y - region->centre.y;
  const double gap =
      (0.5 * region->outlet + s * up - fabs(c.x - region->centre.x)) / sqrt(1 + s * s);
  return gap >= radius;
}

/* Share of a ball of radius 1 (disk of radius 1) on the inner side of a plane at height -1 <= x <=
 * 1 outside its centre. */
static double cap_share(int dimension, double x) {
  if (x >= 1) return 1;
  if (x <= -1) return 0;
  if (dimension == 3) return 0.25 * (2 + 3 * x - x * x * x);
  return 0.5 + (asin(x) + x * sqrt(1 - x * x)) / PI;
}

double scree_region_share(const scree_Region *region, scree_Vec3 c, double radius) {
  const int d = region->dimension;
  const bool solid = d == 3;
  if (region->kind == SCREE_REGION_NONE) return 1;
  const double up = 1 / radius;
  if (region->kind == SCREE_REGION_DRUM) {
    const scree_Vec3 x = scree_sub(c, region->centre);
    const double along = solid ? scree_dot(x, region->axis) : 0;
    const double across = scree_norm(scree_axpy(x, -along, region->axis));
    const double share = cap_share(d, up * (region->radius - across));
    return solid ? share * cap_share(d, up * (region->half_length - fabs(along))) : share;
  }
  double share = 1;
  const bool hopper = region->kind == SCREE_REGION_HOPPER;
  for (int k = hopper ? 1 : 0; k < d; ++k) {
    const double x = scree_component(c, k);
    share *= cap_share(d, up * (x - scree_component(region->lower, k)));
    share *= cap_share(d, up * (scree_component(region->upper, k) - x));
  }
  if (!hopper) return share;
  const double s = 0.5 * (region->top - region->outlet) / region->height;
  const double height = solid ? c.z - region->centre.z : c.y - region->centre.y;
  const double gap =
      (0.5 * region->outlet + s * height - fabs(c.x - region->centre.x)) / sqrt(1 + s * s);
  return share * cap_share(d, up * gap);
}

/* The wall through `point` whose outward normal n points into the region. */
static scree_Status add_wall(scree_RegionWalls *walls, int dimension, scree_Vec3 point,
                             scree_Vec3 n, const scree_Log *log) {
  scree_Pose *pose = &walls->poses[walls->count];
  pose->position = point;
  /* half-planes are solid below their y, half-spaces below their z axis; the half angle of the
   * rotation from y to n has the cosine sqrt((1 + n.y) / 2) */
  const double c = sqrt(fmax(0, 0.5 * (1 + n.y))), s = sqrt(fmax(0, 0.5 * (1 - n.y)));
  pose->orientation = dimension == 3 ? scree_quat_from_to(scree_vec3(0, 0, 1), n)
                                     : (scree_Quat){c, 0, 0, n.x > 0 ? -s : s};
  scree_Shape *shape = &walls->shapes[walls->count];
  const scree_Status status = dimension == 3 ? scree_shape_init_half_space(shape, log)
                                             : scree_shape_init_half_plane(shape, log);
  if (status == SCREE_OK) ++walls->count;
  return status;
}

static scree_Status add_drum(scree_RegionWalls *walls, const scree_Region *region,
                             const scree_Log *log) {
  scree_Shape *shape = &walls->shapes[walls->count];
  const bool solid = region->dimension == 3;
  walls->poses[walls->count] =
      (scree_Pose){region->centre, solid ? scree_quat_from_to(scree_vec3(0, 0, 1), region->axis)
                                         : scree_quat_identity()};
  const scree_Status status =
      solid ? scree_shape_init_drum(shape, region->radius, region->half_length, log)
            : scree_shape_init_drum_2d(shape, region->radius, log);
  if (status == SCREE_OK) ++walls->count;
  return status;
}

scree_Status scree_region_walls(const scree_Region *region, scree_RegionWalls *walls,
                                const scree_Log *log) {
  const int d = region->dimension;
  *walls = (scree_RegionWalls){0};
  if (region->kind == SCREE_REGION_NONE) return SCREE_OK;
  if (region->kind == SCREE_REGION_DRUM) return add_drum(walls, region, log);
  scree_Status status = SCREE_OK;
  const bool hopper = region->kind == SCREE_REGION_HOPPER;
  for (int k = hopper ? 1 : 0; k < d && status == SCREE_OK; ++k) {
    const scree_Vec3 n = scree_vec3(k == 0, k == 1, k == 2);
    status = add_wall(walls, d, region->lower, n, log);
    if (status == SCREE_OK) status = add_wall(walls, d, region->upper, scree_neg(n), log);
  }
  if (!hopper) return status;
  const double s = 0.5 * (region->top - region->outlet) / region->height;
  const double length = sqrt(1 + s * s);
  for (int side = -1; side <= 1 && status == SCREE_OK; side += 2) {
    const scree_Vec3 point =
        scree_axpy(region->centre, 0.5 * side * region->outlet, scree_vec3(1, 0, 0));
    const scree_Vec3 n = d == 3 ? scree_vec3(-side / length, 0, s / length)
                                : scree_vec3(-side / length, s / length, 0);
    status = add_wall(walls, d, point, n, log);
  }
  return status;
}

void scree_region_walls_fini(scree_RegionWalls *walls) {
  for (int k = 0; k < walls->count; ++k) scree_shape_fini(&walls->shapes[k]);
  walls->count = 0;
}

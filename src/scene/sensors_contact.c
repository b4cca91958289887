/* Sensors of contacts between two groups of bodies, of the stress of a region, and of a periodic
 * cell (see sensors.h). */
#include "math/vec3.h"
#include "scene/scene.h"
#include "world/world.h"

#include <math.h>

/* Columns of a tensor: xx, yy, xy in 2D; xx, yy, zz, xy, yz, zx in 3D. */
static const int plane[3] = {0, 4, 1}, space[6] = {0, 4, 8, 1, 5, 6};

const char *scree_sensor_suffix(bool tensor, int dimension, int column) {
  static const char *const vector[3] = {".x", ".y", ".z"};
  static const char *const flat[3] = {".xx", ".yy", ".xy"};
  static const char *const solid[6] = {".xx", ".yy", ".zz", ".xy", ".yz", ".zx"};
  return !tensor ? vector[column] : dimension == 2 ? flat[column] : solid[column];
}

void scree_sensor_tensor(const double *tensor, int dimension, double *out) {
  const int n = dimension == 2 ? 3 : 6;
  for (int k = 0; k < n; ++k) out[k] = tensor[dimension == 2 ? plane[k] : space[k]];
}

static bool is_in(const scree_Scene *scene, const char *pattern, int index, int body) {
  if (!pattern) return body == scree_scene_number(scene, index);
  return scree_scene_takes(scene, pattern, body);
}

/* Sum of the forces, or of their moments about a point, of the second group on the first: impulses
 * over its length. */
scree_Vec3 scree_sensor_between(const scree_Scene *scene, const scree_Sensor *sensor,
                                const scree_World *world, bool torque) {
  const int n = scree_world_contact_count(world);
  const scree_ContactKey *keys = world->system.contacts.keys;
  scree_Vec3 sum = {0, 0, 0};
  for (int c = 0; c < n; ++c) {
    const int i = scree_body_number(world, keys[c].i), j = scree_body_number(world, keys[c].j);
    double sign = 0;
    if (is_in(scene, sensor->pattern, sensor->body[0], i) &&
        is_in(scene, sensor->pattern2, sensor->body[1], j))
      sign += 1;
    if (is_in(scene, sensor->pattern, sensor->body[0], j) &&
        is_in(scene, sensor->pattern2, sensor->body[1], i))
      sign -= 1;
    if (sign == 0) continue;
    const scree_Contact contact = scree_world_contact(world, c);
    scree_Vec3 impulse = scree_scale(contact.r[0], contact.normal);
    impulse = scree_axpy(impulse, contact.r[1], contact.tangent[0]);
    impulse = scree_axpy(impulse, contact.r[2], contact.tangent[1]);
    if (torque) /* with the moment of contacts that resist rolling */
      impulse = scree_add(scree_cross(scree_sub(contact.position, sensor->point), impulse),
                          contact.moment);
    sum = scree_axpy(sum, sign, impulse);
  }
  sum = scree_sensor_sum(world, sum);
  return world->contact_h > 0 ? scree_scale(1 / world->contact_h, sum) : sum;
}

scree_Status scree_sensor_stress(const scree_Sensor *sensor, const scree_World *world,
                                 int dimension, double *out) {
  scree_Analysis analysis;
  const scree_Aabb region = {sensor->lower, sensor->upper};
  const scree_Status status = scree_world_analyse(world, sensor->whole ? NULL : &region, &analysis);
  if (status == SCREE_OK) scree_sensor_tensor(analysis.stress, dimension, out);
  return status;
}

void scree_sensor_cell(const scree_Sensor *sensor, const scree_World *world, int dimension,
                       double *out) {
  scree_CellInfo cell;
  if (!scree_world_cell(world, &cell)) return; /* refused when the scene is read */
  switch (sensor->kind) {
  case SCREE_SENSOR_CELL_STRESS: scree_sensor_tensor(cell.stress, dimension, out); break;
  case SCREE_SENSOR_CELL_STRAIN: {
    double shear[9]; /* angles: sums of both off-diagonal entries */
    for (int k = 0; k < 9; ++k)
      shear[k] = cell.strain[k] + (k % 4 ? cell.strain[3 * (k % 3) + k / 3] : 0);
    scree_sensor_tensor(shear, dimension, out);
    break;
  }
  case SCREE_SENSOR_CELL_SIZE:
    for (int k = 0; k < dimension; ++k)
      out[k] = cell.periodic[k] ? scree_component(cell.side[k], k) : 0;
    break;
  default: out[0] = cell.work; break;
  }
}

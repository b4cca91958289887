/* The periodic cell of a scene. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/scene.h"

#include <math.h>

static void gradient_at(void *user, double time, double gradient[9]) {
  const scree_SceneCell *cell = user;
  const scree_Twist xy = scree_scene_signal_at(cell->rows[0], time);
  const scree_Vec3 rows[3] = {xy.linear, xy.angular,
                              scree_scene_signal_at(cell->rows[1], time).linear};
  for (int k = 0; k < 9; ++k) gradient[k] = scree_component(rows[k / 3], k % 3);
}

scree_Status scree_scene_read_cell(scree_Scene *scene, const scree_Log *log) {
  static const char *const pressures[3] = {"pressure_x", "pressure_y", "pressure_z"};
  static const char *const sides = "xyz";
  const scree_Node *map = scree_node_find(scene->tree.root, "cell");
  scree_SceneCell *cell = &scene->cell;
  cell->def = scree_cell_def();
  if (!map) return SCREE_OK;
  cell->any = true;
  cell->def.origin = scree_scene_vector(map, "origin");
  cell->def.size = scree_scene_vector(map, "size");
  bool periodic = false;
  for (int k = 0; k < 3; ++k) {
    const double l = scree_component(cell->def.size, k);
    if (!(l >= 0))
      return scree_scene_refuse(scene, scree_node_find(map, "size"), log,
                                "size: found %g along %c, expected a length, or 0", l, sides[k]);
    periodic = periodic || l > 0;
    if (scree_node_find(map, pressures[k]))
      cell->def.pressure[k] = scree_node_number(map, pressures[k]);
  }
  if (!periodic)
    return scree_scene_refuse(scene, scree_node_find(map, "size"), log,
                              "size: found no side, expected a length along some axis");
  cell->rows[0] = scree_scene_read_signal(scene, "cell", 0, map, "gradient_x", "gradient_y");
  cell->rows[1] = scree_scene_read_signal(scene, "cell", 0, map, "gradient_z", "none");
  if (!cell->rows[0] || !cell->rows[1]) return scree_fail_memory(log, scene->name);
  if (cell->rows[0]->constant && cell->rows[1]->constant) {
    gradient_at(cell, 0, cell->def.gradient);
    for (int k = 0; k < 3; ++k)
      if (!isnan(cell->def.pressure[k]) && cell->def.gradient[4 * k] != 0)
        return scree_scene_refuse(scene, scree_node_find(map, pressures[k]), log,
                                  "found a pressure along %c and a gradient of %g along it, "
                                  "expected one of them: with a pressure the rate follows from it",
                                  sides[k], cell->def.gradient[4 * k]);
  } else {
    cell->def.function = gradient_at;
    cell->def.user = cell;
  }
  return SCREE_OK;
}

/* A body whose smallest width is larger than a side is inside its own image, which it does not
 * touch. */
static scree_Status check_bodies(const scree_Scene *scene, const scree_Log *log) {
  for (size_t b = (size_t)scene->obstacle_count; b < scene->kept; ++b)
    for (int k = 0; k < scene->dimension; ++k) {
      const double l = scree_component(scene->cell.def.size, k);
      if (!(l > 0) || scene->bodies[b].shape.size <= l) continue;
      char label[80];
      scree_scene_body_label(scene, (int)b, label, sizeof label);
      const scree_Node *cell = scree_node_find(scene->tree.root, "cell");
      return scree_scene_refuse(scene, scree_node_find(cell, "size"), log,
                                "found a side of %g m, and %s, which is %g m wide and would be "
                                "inside its own image; expected a wider cell",
                                l, label, scene->bodies[b].shape.size);
    }
  return SCREE_OK;
}

scree_Status scree_scene_build_cell(const scree_Scene *scene, scree_World *world,
                                    const scree_Log *log) {
  if (!scene->cell.any) return SCREE_OK;
  scree_Status status = check_bodies(scene, log);
  if (status) return status;
  status = scree_world_set_cell(world, &scene->cell.def);
  if (status == SCREE_BAD_INPUT)
    return scree_scene_refuse(scene, scree_node_find(scene->tree.root, "cell"), log,
                              "this cell is refused");
  return status;
}

double scree_scene_cell_rate(const scree_Scene *scene) {
  enum { SAMPLES = 200 };
  double most = 0;
  for (int k = 0; k <= SAMPLES && scene->cell.any; ++k) {
    double gradient[9], sum = 0;
    gradient_at((void *)&scene->cell, scene->duration * k / SAMPLES, gradient);
    for (int i = 0; i < 9; ++i) sum += gradient[i] * gradient[i];
    if (isfinite(sum)) most = fmax(most, sqrt(sum));
  }
  return most;
}

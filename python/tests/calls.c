/* The same worlds by calls of the library, for test_bits.py: prints time and poses as hexadecimal
 * numbers, one body per line.
 *   calls scene FILE STEPS     a scene
 *   calls world STEPS          the world that test_bits.py builds, by the same calls */
#include "scree/scree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_message(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level == SCREE_LOG_ERROR) fprintf(stderr, "%s\n", message);
}

static const scree_Log the_log = {print_message, NULL};

static void print_world(const scree_World *world) {
  printf("%a\n", scree_world_time(world));
  for (int k = 0; k < scree_world_body_count(world); ++k) {
    const scree_Pose pose = scree_body_pose(world, k);
    printf("%a %a %a %a %a %a %a\n", pose.position.x, pose.position.y, pose.position.z,
           pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z);
  }
}

static scree_Status run_scene(const char *path, int steps) {
  scree_Scene *scene = NULL;
  scree_World *world = NULL;
  scree_Status status = scree_scene_read(path, NULL, &the_log, &scene);
  if (status == SCREE_OK) status = scree_scene_build(scene, &the_log, &world);
  int count = 0;
  int *order = scene ? calloc((size_t)scree_scene_info(scene).poured + 1, sizeof *order) : NULL;
  if (status == SCREE_OK) status = scree_scene_pour(scene, world, order, &count, &the_log);
  for (int k = 0; k < steps && status <= SCREE_NOT_CONVERGED; ++k) {
    status = scree_scene_remove(scene, world);
    if (status == SCREE_OK) status = scree_scene_pour(scene, world, order, &count, &the_log);
    if (status == SCREE_OK) status = scree_world_step(world, NULL);
  }
  if (status <= SCREE_NOT_CONVERGED) print_world(world);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
  free(order);
  return status;
}

static scree_Twist push(void *user, double time) {
  (void)user;
  return (scree_Twist){{0.25 * time, 0, 0}, {0, 0, 0}};
}

static scree_Status run_world(int steps) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 3;
  settings.step = 1e-3;
  settings.gravity = (scree_Vec3){0, 0, -9.81};
  scree_World *world = NULL;
  scree_Status status = scree_world_create(&settings, &the_log, &world);
  if (status != SCREE_OK) return status;
  const scree_PairLaw law = scree_pair_law_coulomb(0.3, 0.2, 0);
  status = scree_world_set_default_law(world, &law);
  scree_Shape shape;
  scree_shape_init_half_space(&shape, &the_log);
  scree_BodyDef def = scree_body_def();
  def.shape = &shape;
  def.obstacle = true;
  if (status == SCREE_OK) status = scree_world_add_body(world, &def, NULL);
  scree_shape_fini(&shape);
  for (int k = 0; k < 20 && status == SCREE_OK; ++k) {
    def = scree_body_def();
    if (k % 2)
      scree_shape_init_box(&shape, 0.04, 0.03, 0.02, &the_log);
    else
      scree_shape_init_sphere(&shape, 0.035, &the_log);
    def.shape = &shape;
    def.pose.position = (scree_Vec3){0.013 * (k % 3), 0.011 * (k % 5), 0.05 + 0.08 * k};
    def.velocity.angular = (scree_Vec3){0.5, -0.25, 0.125 * k};
    def.density = 2500;
    status = scree_world_add_body(world, &def, NULL);
    scree_shape_fini(&shape);
  }
  const scree_ForceDef force = {.body = 3,
                                .signal = {.kind = SCREE_SIGNAL_CALLBACK, .callback = push}};
  if (status == SCREE_OK) status = scree_world_add_force(world, &force);
  for (int k = 0; k < steps && status <= SCREE_NOT_CONVERGED; ++k)
    status = scree_world_step(world, NULL);
  if (status <= SCREE_NOT_CONVERGED) print_world(world);
  scree_world_destroy(world);
  return status;
}

int main(int argc, char **argv) {
  scree_Status status = SCREE_BAD_INPUT;
  if (argc == 4 && strcmp(argv[1], "scene") == 0)
    status = run_scene(argv[2], atoi(argv[3]));
  else if (argc == 3 && strcmp(argv[1], "world") == 0)
    status = run_world(atoi(argv[2]));
  return status <= SCREE_NOT_CONVERGED ? 0 : (int)status;
}

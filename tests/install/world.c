/* A ball that falls onto a plane and rests there: the contact carries its weight. */
#include <math.h>
#include <scree/world.h>
#include <stdio.h>

int main(void) {
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  scree_Shape ball, plane;
  scree_BodyDef body = scree_body_def(), floor = scree_body_def();
  scree_Array position;
  settings.step = 1e-3;
  settings.gravity.z = -9.81;
  scree_Status status = scree_world_create(&settings, NULL, &world);
  if (status == SCREE_OK) status = scree_shape_init_half_space(&plane, NULL);
  if (status == SCREE_OK) status = scree_shape_init_sphere(&ball, 0.1, NULL);
  if (status != SCREE_OK) return 1;
  floor.shape = &plane;
  floor.obstacle = true;
  body.shape = &ball;
  body.mass = 2;
  body.pose.position.z = 0.11;
  status = scree_world_add_body(world, &floor, NULL);
  if (status == SCREE_OK) status = scree_world_add_body(world, &body, NULL);
  for (int k = 0; k < 500 && status == SCREE_OK; ++k) status = scree_world_step(world, NULL);
  if (status == SCREE_OK) status = scree_world_array(world, SCREE_ARRAY_POSITION, &position);
  if (status != SCREE_OK || scree_world_contact_count(world) != 1) return 1;
  const double z = ((const double *)((const char *)position.data + position.stride))[2];
  const double weight = scree_world_contact(world, 0).r[0] / settings.step;
  scree_world_destroy(world);
  scree_shape_fini(&ball);
  scree_shape_fini(&plane);
  printf("scree %s: the ball rests at z = %.6g, weight %.6g N\n", scree_version(), z, weight);
  return fabs(z - 0.1) > 1e-4 || fabs(weight - 2 * 9.81) > 1e-2;
}

/* What a program does to a world between steps and reads from it: drivers and forces that move
 * bodies, are changed, saved and restored; arrays of bodies and contacts; getters that check. */
#include "test_world_heap.h"

/* ---- drivers and forces ---------------------------------------------------------------------- */

/* A plate moved by a table carries a block along, as long as friction can; then it slides. */
static void driven_plate(void **state) {
  (void)state;
  const double times[] = {0, 1, 2}, mu = 0.5, g = 10;
  const scree_Twist values[] = {
      {{0, 0, 0}, {0, 0, 0}}, {{2, 0, 0}, {0, 0, 0}}, {{2, 0, 0}, {0, 0, 0}}};
  for (int fast = 0; fast < 2; ++fast) {
    scree_WorldSettings settings = scree_world_settings();
    settings.step = 1e-2;
    settings.gravity = vec(0, 0, -g);
    settings.solve.tolerance = 1e-10;
    scree_World *world = make_world(&settings, mu, 0, 0);
    scree_BodyDef plate = obstacle_at(0, 0, -0.1);
    scree_Twist scaled[3];
    for (int k = 0; k < 3; ++k) {
      scaled[k] = values[k];
      scaled[k].linear.x *= fast ? 5 : 1;
    }
    plate.driver =
        (scree_Signal){.kind = SCREE_SIGNAL_TABLE, .count = 3, .times = times, .values = scaled};
    add_box(world, 10, 10, 0.1, plate);
    const int block = add_box(world, 0.2, 0.2, 0.05, at(0, 0, 0.05));
    run_steps(world, 100);
    const double v = scree_body_velocity(world, block).linear.x;
    NEAR(v, fast ? mu * g : 2, 2e-2 * (fast ? mu * g : 2));
    /* right at the kicks; in the half step since the last one it moved with the velocity of the end
     */
    const double ahead_by = 0.125 * scaled[1].linear.x * settings.step * settings.step;
    NEAR(scree_body_pose(world, 0).position.x, (fast ? 5 : 1) + ahead_by, 1e-9);
    const scree_EnergyBalance energy = scree_world_energy(world);
    assert_true(energy.drivers > energy.kinetic * (1 - 1e-9));
    scree_world_destroy(world);
  }
}

static scree_Twist push(void *user, double time) {
  return (scree_Twist){{*(const double *)user * time, 0, 0}, {0, 0, 1}};
}

static void forces(void **state) {
  (void)state;
  double slope = 3;
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 1e-2;
  scree_World *world = make_world(&settings, 0, 0, 0);
  scree_BodyDef def = at(0, 0, 0);
  def.mass = 2;
  def.inertia = vec(0.5, 0.5, 0.5);
  add_sphere(world, 0.1, def);
  scree_ForceDef force = {
      .body = 0, .signal = {.kind = SCREE_SIGNAL_CALLBACK, .callback = push, .user = &slope}};
  OK(scree_world_add_force(world, &force));
  force = (scree_ForceDef){.body = -1, .per_mass = true, .signal = {.kind = SCREE_SIGNAL_CONSTANT}};
  force.signal.constant.linear.y = 4;
  OK(scree_world_add_force(world, &force));
  run_steps(world, 100);
  const scree_Twist v = scree_body_velocity(world, 0);
  NEAR(v.linear.x, 0.5 * 3 / 2.0, 1e-12); /* the midpoint is exact for a linear force */
  NEAR(v.linear.y, 4, 1e-12);
  NEAR(v.angular.z, 1 / 0.5, 1e-12);
  const scree_EnergyBalance energy = scree_world_energy(world);
  NEAR(energy.forces, energy.kinetic, 1e-12 * energy.kinetic);
  scree_world_destroy(world);
}

/* ---- changes between steps ------------------------------------------------------------------- */

/* A plate that carries a ball and is driven from below, and a force on the ball. */
static scree_World *plate_and_ball(void) {
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = 2;
  settings.step = 1e-3;
  settings.gravity = vec(0, -10, 0);
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  add_half_plane(world, obstacle_at(0, 0, 0));
  scree_BodyDef ball = at(0, 0.1, 0);
  ball.mass = 1;
  add_disk(world, 0.1, ball);
  const scree_ForceDef force = {.body = 1};
  OK(scree_world_add_force(world, &force));
  return world;
}

static scree_Twist rising(void *user, double time) {
  return (scree_Twist){.linear = {0, *(const double *)user * time, 0}};
}

static scree_Signal constant_signal(double x, double y) {
  return (scree_Signal){.kind = SCREE_SIGNAL_CONSTANT, .constant = {.linear = {x, y, 0}}};
}

static void drivers_and_forces_change(void **state) {
  (void)state;
  scree_World *world = plate_and_ball();
  scree_Signal lift = constant_signal(0, 2), stop = {.kind = SCREE_SIGNAL_ZERO};
  run_steps(world, 100);
  NEAR(scree_body_pose(world, 0).position.y, 0, 0);
  OK(scree_body_set_driver(world, 0, &lift));
  run_steps(world, 100);
  NEAR(scree_body_pose(world, 0).position.y, 0.2, 1e-12);
  /* the jump of the driver makes them overlap, by less than 0.3 of the limit in the end */
  NEAR(scree_body_pose(world, 1).position.y, 0.3, 0.31 * 0.01 * 0.2);
  OK(scree_body_set_driver(world, 0, &stop));
  scree_ForceDef force = {.body = 1, .signal = constant_signal(0, 30)};
  OK(scree_world_set_force(world, 0, &force));
  const double y = scree_body_pose(world, 1).position.y;
  run_steps(world, 100);
  NEAR(scree_body_pose(world, 0).position.y, 0.2, 1e-12);
  assert_true(scree_body_pose(world, 1).position.y > y + 0.05); /* against gravity, it flies */
  assert_int_equal(scree_world_force_count(world), 1);
  scree_world_destroy(world);
}

/* What was changed before a state was saved is part of it, whatever the world has that it is
 * restored into. */
static void changes_survive_a_restart(void **state) {
  (void)state;
  const double times[3] = {0, 0.1, 0.2};
  const scree_Twist values[3] = {
      {.linear = {0, 0, 0}}, {.linear = {1, 1, 0}}, {.linear = {0, 0, 0}}};
  const scree_Signal table = {
      .kind = SCREE_SIGNAL_TABLE, .count = 3, .times = times, .values = values};
  const scree_Signal aside = constant_signal(3, 0);
  const scree_ForceDef force = {.body = -1, .per_mass = true, .signal = constant_signal(1, 0)};
  scree_World *world = plate_and_ball(), *fresh = plate_and_ball(), *other = plate_and_ball();
  run_steps(world, 20);
  OK(scree_body_set_driver(world, 0, &table));
  OK(scree_world_set_force(world, 0, &force));
  OK(scree_body_set_driver(other, 0, &aside));
  run_steps(world, 30);
  size_t size;
  void *saved = save(world, &size);
  OK(scree_world_restore(fresh, saved, size));
  OK(scree_world_restore(other, saved, size));
  run_steps(world, 60);
  run_steps(fresh, 60);
  run_steps(other, 60);
  assert_same_state(world, fresh);
  assert_same_state(world, other);
  free(saved);

  /* a state without a driver stops one that was set after it */
  scree_World *still = plate_and_ball();
  saved = save(still, &size);
  OK(scree_body_set_driver(still, 0, &aside));
  OK(scree_world_restore(still, saved, size));
  run_steps(still, 10);
  NEAR(scree_body_pose(still, 0).position.x, 0, 0);
  free(saved);

  /* a callback cannot be saved: the other world must have one */
  double slope = 4;
  const scree_Signal call = {.kind = SCREE_SIGNAL_CALLBACK, .callback = rising, .user = &slope};
  OK(scree_body_set_driver(world, 0, &call));
  saved = save(world, &size);
  assert_int_equal(scree_world_restore(still, saved, size), SCREE_BAD_INPUT);
  run_steps(still, 1); /* and nothing was changed */
  OK(scree_body_set_driver(still, 0, &call));
  OK(scree_world_restore(still, saved, size));
  run_steps(world, 10);
  run_steps(still, 10);
  assert_same_state(world, still);
  for (size_t k = 0; k < size; ++k) { /* damage anywhere is refused or harmless, never a crash */
    ((unsigned char *)saved)[k] ^= 0x41;
    (void)scree_world_restore(fresh, saved, size);
    ((unsigned char *)saved)[k] ^= 0x41;
  }
  free(saved);
  scree_world_destroy(world);
  scree_world_destroy(fresh);
  scree_world_destroy(other);
  scree_world_destroy(still);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static scree_Array array_of(const scree_World *world, scree_ArrayField field) {
  scree_Array array;
  OK(scree_world_array(world, field, &array));
  return array;
}

static const double *row(const scree_Array *array, int k) {
  return (const double *)((const char *)array->data + (size_t)k * array->stride);
}

static void assert_row(const scree_Array *array, int k, scree_Vec3 expected) {
  const double *x = row(array, k);
  assert_true(x[0] == expected.x && x[1] == expected.y && x[2] == expected.z);
}

static void arrays_are_the_getters(void **state) {
  (void)state;
  for (int d = 2; d <= 3; ++d) {
    scree_World *world = heap(d, "moreau-jean", 12, 1);
    run_steps(world, 60);
    const scree_Array position = array_of(world, SCREE_ARRAY_POSITION),
                      velocity = array_of(world, SCREE_ARRAY_VELOCITY),
                      spin = array_of(world, SCREE_ARRAY_ANGULAR_VELOCITY),
                      orientation = array_of(world, SCREE_ARRAY_ORIENTATION),
                      mass = array_of(world, SCREE_ARRAY_MASS),
                      inertia = array_of(world, SCREE_ARRAY_INERTIA),
                      flags = array_of(world, SCREE_ARRAY_FLAGS),
                      material = array_of(world, SCREE_ARRAY_MATERIAL);
    assert_int_equal(position.count, scree_world_body_count(world));
    assert_int_equal(orientation.components, 4);
    for (int pass = 0; pass < 2; ++pass) { /* live: the next state is seen in the same memory */
      for (int k = 0; k < position.count; ++k) {
        const scree_Pose pose = scree_body_pose(world, k);
        assert_row(&position, k, pose.position);
        assert_row(&velocity, k, scree_body_velocity(world, k).linear);
        assert_row(&spin, k, scree_body_velocity(world, k).angular);
        assert_true(row(&orientation, k)[0] == pose.orientation.w);
        const bool obstacle = scree_body_is_obstacle(world, k);
        assert_true(*row(&mass, k) == (obstacle ? 0 : scree_body_mass(world, k)));
        assert_true(row(&inertia, k)[2] == (obstacle ? 0 : scree_body_inertia(world, k).z));
        assert_int_equal(((const uint8_t *)flags.data)[k], obstacle ? SCREE_FLAG_OBSTACLE : 0);
        assert_int_equal(
            *(const int32_t *)((const char *)material.data + (size_t)k * material.stride), 0);
      }
      run_steps(world, 1);
    }
    const scree_Array body = array_of(world, SCREE_ARRAY_CONTACT_BODY),
                      place = array_of(world, SCREE_ARRAY_CONTACT_POSITION),
                      normal = array_of(world, SCREE_ARRAY_CONTACT_NORMAL),
                      gap = array_of(world, SCREE_ARRAY_CONTACT_GAP),
                      mu = array_of(world, SCREE_ARRAY_CONTACT_FRICTION),
                      impulse = array_of(world, SCREE_ARRAY_CONTACT_IMPULSE),
                      feature = array_of(world, SCREE_ARRAY_CONTACT_FEATURE);
    const int n = scree_world_contact_count(world);
    assert_true(n > 0);
    scree_Contact *all = calloc((size_t)n, sizeof *all);
    assert_non_null(all);
    OK(scree_world_contacts(world, 0, n, all));
    for (int k = 0; k < n; ++k) {
      const scree_Contact c = scree_world_contact(world, k);
      const int32_t *pair = (const int32_t *)((const char *)body.data + (size_t)k * body.stride);
      assert_int_equal(pair[0], c.body[0]);
      assert_int_equal(pair[1], c.body[1]);
      assert_int_equal(*(const uint32_t *)((const char *)feature.data + (size_t)k * feature.stride),
                       c.feature);
      assert_row(&place, k, c.position);
      assert_row(&normal, k, c.normal);
      assert_true(*row(&gap, k) == c.gap && *row(&mu, k) == c.mu);
      for (int i = 0; i < d; ++i) assert_true(row(&impulse, k)[i] == c.r[i]);
      assert_true(all[k].u[0] == c.u[0] && all[k].status == c.status);
      assert_non_null(scree_contact_status_name(c.status));
    }
    free(all);
    scree_world_destroy(world);
  }
}

static void generations(void **state) {
  (void)state;
  scree_World *world = plate_and_ball();
  const scree_ArrayField of_bodies = SCREE_ARRAY_POSITION, of_contacts = SCREE_ARRAY_CONTACT_GAP;
  assert_true(scree_world_array_generation(world, of_bodies) != 0);
  run_steps(world, 3); /* the memory is fitted once */
  const uint64_t bodies = scree_world_array_generation(world, of_bodies),
                 contacts = scree_world_array_generation(world, of_contacts);
  const void *data = array_of(world, of_bodies).data;
  run_steps(world, 5);
  assert_true(scree_world_array_generation(world, of_bodies) == bodies);
  assert_ptr_equal(array_of(world, of_bodies).data, data);
  assert_true(scree_world_array_generation(world, of_contacts) != contacts);
  add_disk(world, 0.1, at(0, 5, 0));
  assert_true(scree_world_array_generation(world, of_bodies) != bodies);
  assert_int_equal(array_of(world, of_bodies).count, 3);
  for (int field = 0; field < SCREE_ARRAY_FIELDS; ++field)
    assert_non_null(scree_array_name((scree_ArrayField)field));
  assert_null(scree_array_name(SCREE_ARRAY_FIELDS));
  scree_world_destroy(world);
}

/* ---- mistakes of the caller ------------------------------------------------------------------ */

static int messages;

static void count_message(void *user, scree_LogLevel level, const char *message) {
  (void)user, (void)message;
  messages += level == SCREE_LOG_ERROR;
}

static void getters_check(void **state) {
  (void)state;
  const scree_Log counting = {count_message, NULL};
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  scree_Array array;
  scree_Contact contacts[2];
  settings.step = 1e-3;
  OK(scree_world_create(&settings, &counting, &world));
  add_sphere(world, 1, at(0, 0, 0));
  messages = 0;
  const int bad[2] = {-1, 1};
  for (int k = 0; k < 2; ++k) {
    assert_true(isnan(scree_body_pose(world, bad[k]).position.x));
    assert_true(isnan(scree_body_velocity(world, bad[k]).linear.x));
    assert_true(isnan(scree_body_mass(world, bad[k])));
    assert_true(isnan(scree_body_inertia(world, bad[k]).x));
    assert_null(scree_body_shape(world, bad[k]));
    assert_false(scree_body_is_obstacle(world, bad[k]) || scree_body_is_removed(world, bad[k]));
    assert_int_equal(scree_body_removed_step(world, bad[k]), -1);
    assert_int_equal(scree_body_material(world, bad[k]), -1);
    assert_int_equal(scree_body_kind_of(world, bad[k]), SCREE_BODY_KINDS);
    assert_true(isnan(scree_body_stretch(world, bad[k]).x));
    assert_int_equal(scree_world_contact(world, bad[k]).body[0], -1);
    assert_int_equal(scree_body_set_driver(world, bad[k], &(scree_Signal){0}), SCREE_BAD_INPUT);
    assert_int_equal(scree_world_set_force(world, bad[k], &(scree_ForceDef){0}), SCREE_BAD_INPUT);
  }
  assert_int_equal(messages, 28);
  assert_int_equal(scree_body_set_driver(world, 0, &(scree_Signal){0}), SCREE_BAD_INPUT);
  assert_int_equal(scree_world_contacts(world, 0, 2, contacts), SCREE_BAD_INPUT);
  assert_int_equal(scree_world_array(world, SCREE_ARRAY_FIELDS, &array), SCREE_BAD_INPUT);
  assert_int_equal(messages, 31);
  OK(scree_world_array(world, SCREE_ARRAY_CONTACT_GAP, &array));
  assert_true(array.count == 0 && !array.data);
  assert_null(scree_contact_status_name(SCREE_CONTACT_STATUSES));
  assert_int_equal(scree_body_kind_of(world, 0), SCREE_BODY_RIGID);
  assert_null(scree_world_cannot_divide(world));
  assert_true(scree_joint_exists(SCREE_JOINT_HINGE, 2) && scree_joint_exists(SCREE_JOINT_HINGE, 3));
  assert_true(!scree_joint_exists(SCREE_JOINT_CYLINDER, 2) &&
              !scree_joint_exists(SCREE_JOINT_KINDS, 3));
  assert_false(scree_joint_exists(SCREE_JOINT_HINGE, 1));
  scree_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(driven_plate),
                                     cmocka_unit_test(forces),
                                     cmocka_unit_test(drivers_and_forces_change),
                                     cmocka_unit_test(changes_survive_a_restart),
                                     cmocka_unit_test(arrays_are_the_getters),
                                     cmocka_unit_test(generations),
                                     cmocka_unit_test(getters_check)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

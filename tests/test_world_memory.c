/* A steady time step allocates nothing: 100 steps of settled scenes, with sweeps and with Newton's
 * method, in the plane and in space, on one thread and on two; with forces, a plate that carries
 * the scene away (so that lists of pairs are made anew) and boxes that are looked at for overlap.
 * The same for joints, compliant contact, deformable bodies and the search for internal forces. */
#include "counted_allocations.h"
#include "test_world_heap.h"

enum { SETTLE = 150, COUNTED_STEPS = 100 };

typedef struct Case {
  const char *solver;
  double tolerance;
  int dimension;
  bool spheres;
  const char *scheme;
} Case;

static const Case cases[] = {
    {"nlgs", 1e-4, 3, true, "moreau-jean"},   {"nlgs", 1e-4, 2, false, "euler"},
    {"newton", 1e-8, 3, true, "moreau-jean"}, {"newton", 1e-8, 3, false, "moreau-jean"},
    {"auto", 1e-8, 2, false, "moreau-jean"},  {"auto", 1e-8, 3, false, "moreau-jean-closed"},
};

/* A plate that moves sideways at a constant speed, with stacks of three boxes or balls in rows, so
 * close that they touch at their sides only in the first moment. */
static scree_World *stacks(const Case *c, int threads) {
  scree_WorldSettings settings = scree_world_settings();
  const int d = c->dimension;
  settings.dimension = d;
  settings.scheme = c->scheme;
  settings.step = 2e-3;
  settings.gravity = d == 2 ? vec(0, -10, 0) : vec(0, 0, -10);
  settings.solve.solver = c->solver;
  settings.solve.tolerance = c->tolerance;
  settings.solve.threads = threads;
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  scree_BodyDef plate = d == 2 ? obstacle_at(0, -1, 0) : obstacle_at(0, 0, -1);
  plate.driver.kind = SCREE_SIGNAL_CONSTANT;
  plate.driver.constant.linear.x = 1;
  if (d == 2)
    add_rectangle(world, 20, 1, plate);
  else
    add_box(world, 20, 20, 1, plate);
  for (int k = 0; k < 12; ++k)
    for (int level = 0; level < (c->spheres ? 1 : 3); ++level) {
      const double x = 1.5 * (k % 4), y = 1.5 * (k / 4), up = 0.5 + level;
      scree_BodyDef def = d == 2 ? at(1.5 * k, up, 0) : at(x, y, up);
      def.velocity.linear.x = 1;
      if (c->spheres)
        add_sphere(world, 0.5, def);
      else if (d == 2)
        add_rectangle(world, 0.5, 0.5, def);
      else
        add_box(world, 0.5, 0.5, 0.5, def);
    }
  scree_ForceDef push = {.body = -1, .per_mass = true, .signal = {.kind = SCREE_SIGNAL_CONSTANT}};
  push.signal.constant.linear.x = 0.01;
  OK(scree_world_add_force(world, &push));
  return world;
}

static void steady_steps_allocate_nothing(void **state) {
  (void)state;
  if (!COUNTED) skip();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    for (int threads = 1; threads <= 2; ++threads) {
      const Case *c = &cases[k];
      scree_World *world = stacks(c, threads);
      run_steps(world, SETTLE);
      const double x = scree_body_pose(world, 0).position.x;
      scree_StepReport report;
      int contacts = 0;
      const long before = allocations;
      for (int step = 0; step < COUNTED_STEPS; ++step) {
        if (scree_world_step(world, &report)) fail_msg("%s: a step is not certified", c->solver);
        contacts += report.contacts;
      }
      const long count = allocations - before;
      assert_true(contacts >= 12 * COUNTED_STEPS);
      NEAR(scree_body_pose(world, 0).position.x - x, 2e-3 * COUNTED_STEPS, 1e-9);
      if (count)
        fail_msg("%s, %s, %dD, %d threads: %ld allocations in %d steps", c->solver, c->scheme,
                 c->dimension, threads, count, COUNTED_STEPS);
      scree_world_destroy(world);
    }
}

/* ---- other kinds of scenes ------------------------------------------------------------------- */

static scree_World *on_floor(int threads, bool internal_forces) {
  scree_WorldSettings settings = scree_world_settings();
  settings.step = 2e-3;
  settings.gravity = vec(0, 0, -10);
  settings.solve.threads = threads;
  settings.internal_forces = internal_forces;
  scree_World *world = make_world(&settings, 0.5, 0, 0);
  add_half_space(world, obstacle_at(0, 0, 0));
  return world;
}

/* A chain that lies on the floor and a pendulum. */
static scree_World *joints(int threads) {
  scree_World *world = on_floor(threads, false);
  int last = -1;
  for (int k = 0; k < 8; ++k) {
    const int link = add_box(world, 0.5, 0.2, 0.2, at(1.2 * k, 0, 0.2));
    scree_JointDef hinge = scree_joint_def();
    hinge.kind = SCREE_JOINT_HINGE;
    hinge.body[0] = link;
    hinge.body[1] = last;
    hinge.anchor = vec(1.2 * k - 0.6, 0, 0.2);
    hinge.axis = vec(0, 0, 1);
    int joint;
    if (last >= 0) OK(scree_world_add_joint(world, &hinge, &joint));
    last = link;
  }
  scree_JointDef ball = scree_joint_def();
  ball.kind = SCREE_JOINT_BALL;
  ball.body[0] = add_box(world, 0.5, 0.1, 0.1, at(0, 5, 4));
  ball.body[1] = 0;
  ball.anchor = vec(-0.6, 5, 4);
  int joint;
  OK(scree_world_add_joint(world, &ball, &joint));
  return world;
}

static scree_World *springs(int threads) {
  scree_World *world = on_floor(threads, false);
  scree_PairLaw law = scree_pair_law("compliant");
  OK(scree_pair_law_set(&law, "mu", 0.5, &test_log));
  OK(scree_pair_law_set(&law, "compliance_n", 1e-7, &test_log));
  OK(scree_pair_law_set(&law, "damping", 1e-2, &test_log));
  OK(scree_world_set_default_law(world, &law));
  for (int k = 0; k < 12; ++k) add_sphere(world, 0.5, at(1.5 * (k % 4), 1.5 * (k / 4), 0.5));
  return world;
}

static scree_World *pseudo_rigid(int threads) {
  scree_World *world = on_floor(threads, false);
  for (int k = 0; k < 6; ++k) {
    scree_BodyDef def = at(1.5 * k, 0, 0.5);
    def.kind = SCREE_BODY_PSEUDO_RIGID;
    def.elastic = (scree_Elastic){.young = 1e7, .poisson = 0.25};
    add_sphere(world, 0.5, def);
  }
  add_box(world, 0.5, 0.5, 0.5, at(0, 3, 0.5));
  return world;
}

static scree_World *elements(int threads) {
  scree_World *world = on_floor(threads, false);
  const int n[3] = {2, 2, 2};
  scree_ElementMesh *mesh;
  scree_Shape shape;
  scree_BodyDef def = at(0, 0, 0.5);
  OK(scree_element_mesh_create_block(3, vec(0.5, 0.5, 0.5), n, &mesh, &test_log));
  OK(scree_shape_init_elements(&shape, mesh, &test_log));
  scree_element_mesh_destroy(mesh);
  def.kind = SCREE_BODY_ELEMENTS;
  def.elastic = (scree_Elastic){.young = 1e7, .poisson = 0.3};
  add_shape(world, &shape, def);
  add_box(world, 0.3, 0.3, 0.3, at(0, 0, 1.3));
  return world;
}

static scree_World *internal(int threads) {
  scree_World *world = on_floor(threads, true);
  for (int k = 0; k < 6; ++k)
    for (int level = 0; level < 2; ++level)
      add_box(world, 0.5, 0.5, 0.5, at(1.5 * k, 0, 0.5 + level));
  return world;
}

static void other_scenes_allocate_nothing(void **state) {
  (void)state;
  if (!COUNTED) skip();
  static const struct Kind {
    const char *name;
    scree_World *(*make)(int threads);
  } kinds[] = {{"joints", joints},
               {"compliant contact", springs},
               {"pseudo-rigid bodies", pseudo_rigid},
               {"finite elements", elements},
               {"internal forces", internal}};
  bool failed = false;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    for (int threads = 1; threads <= 2; ++threads) {
      scree_World *world = kinds[k].make(threads);
      run_steps(world, 2 * SETTLE); /* solvers give back a factor that 256 solves did not use */
      const long before = allocations;
      int contacts = 0;
      for (int step = 0; step < COUNTED_STEPS; ++step) {
        scree_StepReport report;
        OK(scree_world_step(world, &report));
        contacts += report.contacts;
      }
      const long count = allocations - before;
      assert_true(contacts >= COUNTED_STEPS);
      if (count)
        print_message("%s, %d threads: %ld allocations in %d steps\n", kinds[k].name, threads,
                      count, COUNTED_STEPS);
      failed = failed || count;
      scree_world_destroy(world);
    }
  assert_false(failed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steady_steps_allocate_nothing),
                                     cmocka_unit_test(other_scenes_allocate_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

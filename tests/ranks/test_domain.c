/* Worlds that are divided between ranks, on any number of them, one included.
 *
 * In every step of random worlds whose bodies mix, the contacts of all ranks together are those of
 * the detection on one rank: the same number, and the same sum of a hash of bodies, feature, place
 * and gap to the last bit, so that none is missing, doubled or changed. Every step is certified.
 * Worlds that are not chaotic end where the undivided world does. The same run gives the same
 * bits. */
#include "scree/world.h"
#include "step/system.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, rank, size;
static const char *only = ""; /* cases whose names contain this text */

static void expect(bool good, const char *what, const char *where) {
  if (good) return;
  if (++failures < 20) fprintf(stderr, "test_domain: rank %d: %s: %s\n", rank, where, what);
}

static double next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0;
}

typedef struct Case {
  const char *name, *scheme;
  int dimension, n;
  double e, speed, step;
  bool boxes, poured;
  int steps;
  const char *solver; /* null: the default */
  double tolerance;   /* 0: the default */
  double rolling;     /* resistance to rolling and spinning */
  bool soft;          /* two of three bodies are pseudo-rigid */
  bool linked;        /* chains of joints and weak bonds */
  bool elements;      /* one of four bodies is a block of finite elements */
} Case;

static bool is_top(void *user, scree_Vec3 place) {
  return place.z > *(const double *)user;
}

/* `soft`: 0 rigid, 1 pseudo-rigid, 2 pseudo-rigid and of the same shape for contacts, 3 finite
 * elements, 4 such whose upper nodes are held. */
static void add(scree_World *world, const scree_Shape *shape, scree_Vec3 x, scree_Vec3 v,
                bool obstacle, scree_Quat turn, int soft) {
  scree_BodyDef def = scree_body_def();
  double middle = x.z;
  def.kind = soft > 2 ? SCREE_BODY_ELEMENTS : soft > 0 ? SCREE_BODY_PSEUDO_RIGID : SCREE_BODY_RIGID;
  def.elastic =
      (scree_Elastic){.young = 2e6, .poisson = 0.3, .damping = 1e-3, .keeps_shape = soft == 2};
  if (soft == 4) {
    def.elastic.held = is_top;
    def.elastic.held_user = &middle;
  }
  def.shape = shape;
  def.pose.position = x;
  def.pose.orientation = turn;
  def.velocity.linear = v;
  def.obstacle = obstacle;
  expect(scree_world_add_body(world, &def, NULL) == SCREE_OK, "a body", "add");
}

/* A body of shape number k: balls of several sizes, and boxes and polyhedra among them. */
static void add_grain(scree_World *world, const Case *c, int k, scree_Vec3 x, uint32_t *seed) {
  scree_Shape shape;
  const double r = 0.03 + 0.02 * next_random(seed);
  const scree_Vec3 v =
      scree_vec3(c->speed * (next_random(seed) - 0.5), c->speed * (next_random(seed) - 0.5),
                 c->dimension == 3 ? c->speed * (next_random(seed) - 0.5) : 0);
  scree_Status status;
  if (c->elements && k % 4 == 2) { /* all ranks make the mesh */
    scree_ElementMesh *mesh;
    const int divisions[3] = {1 + k % 3 / 2, 1, 1};
    expect(scree_element_mesh_create_block(3, scree_vec3(0.8 * r, 0.7 * r, 0.7 * r), divisions,
                                           &mesh, NULL) == SCREE_OK,
           "a mesh", c->name);
    expect(scree_shape_init_elements(&shape, mesh, NULL) == SCREE_OK, "elements", c->name);
    scree_element_mesh_destroy(mesh);
    add(world, &shape, x, v, false, scree_quat_identity(), k % 16 == 2 ? 4 : 3);
    scree_shape_fini(&shape);
    return;
  }
  const scree_Vec3 corners[4] = {{r, r, r}, {r, -r, -r}, {-r, r, -r}, {-r, -r, r}};
  if (c->boxes && k % 3 == 1)
    status = c->dimension == 3 ? scree_shape_init_box(&shape, 0.8 * r, 0.7 * r, 0.6 * r, NULL)
                               : scree_shape_init_ellipse(&shape, 0.8 * r, 0.5 * r, NULL);
  else if (c->boxes && k % 3 == 2 && c->dimension == 3)
    status = scree_shape_init_polyhedron(&shape, corners, 4, NULL);
  else
    status = c->dimension == 3 ? scree_shape_init_sphere(&shape, r, NULL)
                               : scree_shape_init_disk(&shape, r, NULL);
  expect(status == SCREE_OK, "a shape", c->name);
  add(world, &shape, x, v, false, scree_quat_identity(), c->soft ? k / 2 % 3 : 0);
  scree_shape_fini(&shape);
}

/* Of four bodies in a row the first two hang together by a ball joint (a hinge in 2D), the next two
 * by a distance, and the last two by a bond that does not hold much (a distance where the third is
 * of finite elements); every fifth row hangs from the world by a spring. */
static void link(scree_World *world, const Case *c, const scree_Vec3 *place) {
  const int first = c->dimension == 3 ? 5 : 3;
  for (int k = 0; k + 1 < c->n; ++k) {
    const int kind = c->elements && k % 4 == 2 ? 1 : k % 4;
    scree_JointDef def = scree_joint_def();
    if (kind == 3 && k % 20 != 3) continue;
    def.kind = kind == 0   ? c->dimension == 3 ? SCREE_JOINT_BALL : SCREE_JOINT_HINGE
               : kind == 1 ? SCREE_JOINT_DISTANCE
               : kind == 2 ? SCREE_JOINT_BOND
                           : SCREE_JOINT_SPRING;
    def.body[0] = first + k;
    def.body[1] = kind == 3 ? -1 : first + k + 1;
    def.anchor =
        kind == 1 || kind == 3 ? place[k] : scree_scale(0.5, scree_add(place[k], place[k + 1]));
    def.anchor2 =
        kind == 1 ? place[k + 1] : scree_add(place[k], scree_vec3(0, 0, c->dimension == 3 ? 1 : 0));
    if (kind == 3 && c->dimension == 2) def.anchor2.y += 1;
    def.axis = scree_vec3(1, 0, 0);
    if (kind == 2) def.tension = def.shear = def.bending = def.torsion = 2 + 40 * (k / 4 % 5);
    if (kind == 3) {
      def.stiffness = 20;
      def.damping = 0.1;
    }
    expect(scree_world_add_joint(world, &def, NULL) == SCREE_OK, "a joint", c->name);
  }
}

static scree_World *make(const Case *c, const scree_Ranks *ranks, bool divided) {
  scree_WorldSettings settings = scree_world_settings();
  scree_World *world;
  uint32_t seed = 5;
  settings.dimension = c->dimension;
  settings.scheme = c->scheme;
  settings.step = c->step;
  settings.gravity = c->dimension == 3 ? scree_vec3(0, 0, -9.81) : scree_vec3(0, -9.81, 0);
  settings.solve.threads = 1;
  if (c->solver) settings.solve.solver = c->solver;
  if (c->tolerance > 0) settings.solve.tolerance = c->tolerance;
  if (scree_world_create(&settings, NULL, &world)) return NULL;
  scree_PairLaw law = scree_pair_law_coulomb(0.4, c->e, 0);
  if (c->rolling > 0)
    expect(!scree_pair_law_set(&law, "rolling", c->rolling, NULL) &&
               !scree_pair_law_set(&law, "spinning", 0.5 * c->rolling, NULL),
           "a law", c->name);
  expect(scree_world_set_default_law(world, &law) == SCREE_OK, "a law", c->name);
  if (divided) expect(scree_world_divide(world, ranks) == SCREE_OK, "divide", c->name);
  /* a floor and four walls */
  scree_Shape wall;
  if (c->dimension == 3)
    scree_shape_init_half_space(&wall, NULL);
  else
    scree_shape_init_half_plane(&wall, NULL);
  const double side = 1.1;
  const scree_Vec3 up = c->dimension == 3 ? scree_vec3(0, 0, 1) : scree_vec3(0, 1, 0);
  const scree_Vec3 normal[5] = {up, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  const scree_Vec3 at[5] = {{0, 0, 0}, {0, 0, 0}, {side, 0, 0}, {0, 0, 0}, {0, side, 0}};
  for (int k = 0; k < (c->dimension == 3 ? 5 : 3); ++k) {
    const scree_Vec3 axis = scree_cross(up, normal[k]);
    const double cosine = scree_dot(up, normal[k]), angle = acos(cosine);
    const scree_Quat turn =
        scree_norm(axis) > 0 ? scree_quat_integrate(scree_quat_identity(),
                                                    scree_scale(angle / scree_norm(axis), axis), 1)
                             : scree_quat_identity();
    add(world, &wall, at[k], scree_vec3(0, 0, 0), true, turn, 0);
  }
  scree_shape_fini(&wall);
  const int row = 9;
  scree_Vec3 *place = calloc((size_t)c->n, sizeof *place);
  for (int k = 0; k < c->n; ++k) {
    const scree_Vec3 x = c->dimension == 3
                             ? scree_vec3(0.12 * (k % row) + 0.06, 0.12 * (k / row % row) + 0.06,
                                          0.12 * (k / row / row) + 0.06)
                             : scree_vec3(0.12 * (k % row) + 0.06, 0.12 * (k / row) + 0.06, 0);
    place[k] = x;
    add_grain(world, c, k, x, &seed);
  }
  if (divided) scree_world_passed(world);
  if (c->linked) link(world, c, place);
  free(place);
  return world;
}

/* Of all bodies on every rank: the motion, and what deformable ones have besides. */
enum { COORDINATES = 36, STATE = 13 + 2 * COORDINATES + 1 };

static double *collect(const scree_World *world, const scree_Ranks *ranks, int n) {
  const scree_System *s = &world->system;
  double *all = calloc(STATE * (size_t)n, sizeof *all);
  for (int k = 0; k < s->bodies.count; ++k) {
    const int number = scree_body_number(world, k);
    if (!scree_body_is_mine(world, k)) continue;
    double *to = all + STATE * (size_t)number;
    memcpy(to, &s->bodies.motion[k], 13 * sizeof *all);
    if (scree_body_coordinate_count(world, k) > 0)
      scree_body_coordinates(world, k, to + 13, to + 13 + COORDINATES, to + STATE - 1);
  }
  scree_ranks_add(ranks, all, STATE * (size_t)n);
  return all;
}

static void put(scree_World *world, const double *all) {
  scree_System *s = &world->system;
  for (int k = 0; k < s->bodies.count; ++k) {
    const double *from = all + STATE * (size_t)k;
    memcpy(&s->bodies.motion[k], from, 13 * sizeof *all);
    if (scree_body_coordinate_count(world, k) > 0)
      expect(!scree_body_set_coordinates(world, k, from + 13, from + 13 + COORDINATES,
                                         from[STATE - 1]),
             "coordinates", "put");
  }
}

static uint64_t mix(uint64_t h, uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

/* Number of contacts, and the sum of their hashes. */
static void hash_contacts(const scree_World *world, double sums[2]) {
  const scree_System *s = &world->system;
  sums[0] = sums[1] = 0;
  for (size_t c = 0; c < s->contacts.count; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    double numbers[5] = {s->contacts.gap[c], s->contacts.position[c].x, s->contacts.position[c].y,
                         s->contacts.normal[c].x, s->contacts.normal[c].y};
    uint64_t bits[5], h = 1;
    memcpy(bits, numbers, sizeof bits);
    h = mix(h, (uint64_t)scree_body_number(world, key->i));
    h = mix(h, (uint64_t)scree_body_number(world, key->j));
    h = mix(h, key->feature);
    for (int k = 0; k < 5; ++k) h = mix(h, bits[k]);
    sums[0] += 1;
    sums[1] += (double)(h >> 34);
  }
}

static scree_Status detect(scree_System *s) {
  scree_Status status;
  do {
    scree_arena_reset(&s->scratch);
    status = scree_domain_begin(s, s->domain.outgrown);
    if (!status) status = scree_system_detect(s, 0.05, NULL);
  } while (status == SCREE_INTERRUPTED && s->domain.outgrown);
  return status;
}

/* Every joint is on one rank, with all of its bodies if it has not broken, and all ranks together
 * have `whole` in the same state. */
static void check_joints(const scree_World *world, scree_World *whole, const scree_Ranks *ranks,
                         const char *name) {
  const scree_System *s = &world->system;
  const scree_Joints *j = &s->joints;
  enum { EACH = 2 };
  double *sums = calloc((size_t)j->count + 1, EACH * sizeof *sums);
  for (int k = 0; k < j->count; ++k) {
    if (!j->here[k]) continue;
    sums[EACH * k] = 1;
    sums[EACH * k + 1] = j->memory[k].broken;
    for (int side = 0; side < 2 && j->memory[k].broken == 0; ++side) {
      const int body = j->joint[k].body[side];
      expect(body == -1 || (body >= 0 && scree_body_is_owned(world, body)), "a joint is divided",
             name);
    }
  }
  scree_ranks_add(ranks, sums, EACH * (size_t)j->count);
  for (int k = 0; k < j->count; ++k) {
    expect(sums[EACH * k] == 1, "a joint is lost or doubled", name);
    whole->system.joints.memory[k].broken = sums[EACH * k + 1];
  }
  free(sums);
}

static void check_detection(scree_World *world, scree_World *whole, const scree_Ranks *ranks,
                            const char *name) {
  double mine[2], one[2];
  double *all = collect(world, ranks, world->system.domain.whole);
  put(whole, all);
  check_joints(world, whole, ranks, name);
  expect(detect(&world->system) == SCREE_OK && detect(&whole->system) == SCREE_OK, "detection",
         name);
  hash_contacts(world, mine);
  hash_contacts(whole, one);
  scree_ranks_add(ranks, mine, 2);
  expect(mine[0] == one[0], "contacts are missing or doubled", name);
  expect(mine[1] == one[1], "contacts differ", name);
  if (mine[0] != one[0] && rank == 0)
    fprintf(stderr, "  %g contacts, %g on one rank\n", mine[0], one[0]);
  free(all);
}

static double *run(const Case *c, const scree_Ranks *ranks, bool check, scree_WorldPart *part) {
  int most = 0;
  double worst = 0; /* error of joints */
  scree_World *world = make(c, ranks, true), *whole = check ? make(c, ranks, false) : NULL;
  uint32_t seed = 77;
  for (int k = 0; k < c->steps; ++k) {
    scree_StepReport report;
    if (c->poured && k > 0 && k % 10 == 0) { /* bodies come and go */
      const scree_Vec3 x = {0.5, 0.5, c->dimension == 3 ? 1.5 + 0.02 * k : 0};
      const scree_Vec3 y = {0.5, 3 + 0.02 * k, 0};
      uint32_t same = seed;
      add_grain(world, c, k, c->dimension == 3 ? x : y, &seed);
      if (whole) add_grain(whole, c, k, c->dimension == 3 ? x : y, &same);
      expect(scree_world_remove_body(world, 5 + k) == SCREE_OK, "remove", c->name);
      if (whole) expect(scree_world_remove_body(whole, 5 + k) == SCREE_OK, "remove", c->name);
    }
    const scree_Status status = scree_world_step(world, &report);
    expect(status == SCREE_OK, "a step is not certified", c->name);
    if (status > SCREE_NOT_CONVERGED) break;
    if (report.contacts > most) most = report.contacts;
    worst = fmax(worst, report.joint_error);
    if (whole) check_detection(world, whole, ranks, c->name);
  }
  *part = scree_world_part(world);
  part->contacts = most; /* of all ranks */
  int bonds, broken;
  scree_world_count_bonds(world, -1, &bonds, &broken);
  if (rank == 0 && bonds)
    printf("test_domain: %s, %d ranks: %d of %d bonds broke, joints open by %.1e\n", c->name, size,
           broken, bonds, worst);
  double *all = collect(world, ranks, world->system.domain.whole);
  double owned = part->owned, migrated = (double)part->migrated;
  scree_ranks_add(ranks, &owned, 1);
  scree_ranks_add(ranks, &migrated, 1);
  part->migrated = (long long)migrated;
  const int obstacles = c->dimension == 3 ? 5 : 3;
  expect((int)owned == part->whole - obstacles, "bodies are lost or doubled", c->name);
  scree_world_destroy(world);
  scree_world_destroy(whole);
  return all;
}

static void check_case(const Case *c, const scree_Ranks *ranks) {
  scree_WorldPart part, again;
  if (!strstr(c->name, only)) return;
  double *a = run(c, ranks, true, &part), *b = run(c, ranks, true, &again);
  expect(memcmp(a, b, STATE * (size_t)part.whole * sizeof *a) == 0, "two runs differ", c->name);
  if (size > 1) expect(part.migrated > 0, "no body has migrated", c->name);
  if (rank == 0)
    printf("test_domain: %s, %d ranks: %d bodies, up to %d contacts, %lld migrated, %lld builds, "
           "%lld cuts, "
           "imbalance %.2f\n",
           c->name, size, part.whole, part.contacts, part.migrated, part.builds, part.cuts,
           part.imbalance);
  free(a);
  free(b);
}

/* The same end as without ranks. */
static void check_same_end(const Case *c, const scree_Ranks *ranks, double allowed) {
  scree_WorldPart part;
  if (!strstr(c->name, only)) return;
  double *all = run(c, ranks, false, &part);
  scree_World *whole = make(c, ranks, false);
  double worst = 0;
  for (int k = 0; k < c->steps; ++k)
    expect(scree_world_step(whole, NULL) == SCREE_OK, "step", c->name);
  for (int k = 0; k < whole->system.bodies.count; ++k) {
    const scree_Vec3 x = whole->system.bodies.motion[k].pose.position;
    const double *at = all + STATE * (size_t)k;
    const scree_Vec3 y = {at[0], at[1], at[2]};
    worst = fmax(worst, scree_norm(scree_sub(x, y)));
  }
  if (rank == 0)
    printf("test_domain: %s, %d ranks: up to %d contacts, ends differ by %.2g m\n", c->name, size,
           part.contacts, worst);
  expect(worst <= allowed, "another end than without ranks", c->name);
  scree_world_destroy(whole);
  free(all);
}

/* A run that is collected on rank 0, spread again and continued, and one that goes on there without
 * ranks, end where the run itself does. */
static void check_spread(const Case *c, const scree_Ranks *ranks) {
  if (!strstr(c->name, only)) return;
  scree_World *world = make(c, ranks, true), *whole = make(c, ranks, false);
  scree_World *again = make(c, ranks, true);
  for (int k = 0; k < c->steps; ++k)
    expect(scree_world_step(world, NULL) == SCREE_OK, "step", c->name);
  expect(scree_world_remove_body(world, c->n - 1) == SCREE_OK, "remove", c->name);
  expect(scree_world_collect(world, rank == 0 ? whole : NULL) == SCREE_OK, "collect", c->name);
  expect(scree_world_spread(again, rank == 0 ? whole : NULL) == SCREE_OK, "spread", c->name);
  expect(scree_world_steps(again) == c->steps, "the steps of a spread world", c->name);
  double kept[2] = {(double)world->system.memory.count, (double)again->system.domain.given_count};
  scree_ranks_add(ranks, kept, 2);
  expect(kept[0] > 0 && kept[0] == kept[1], "memory of contacts is lost or doubled", c->name);
  for (int k = 0; k < 3; ++k) {
    expect(scree_world_step(world, NULL) == SCREE_OK, "step", c->name);
    expect(scree_world_step(again, NULL) == SCREE_OK, "step after spread", c->name);
    if (rank == 0) expect(scree_world_step(whole, NULL) == SCREE_OK, "step on rank 0", c->name);
  }
  const int n = world->system.domain.whole;
  double *a = collect(world, ranks, n), *b = collect(again, ranks, n), worst[2] = {0, 0};
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 3; ++i) {
      const scree_Vec3 x = whole->system.bodies.motion[k].pose.position;
      const double at[3] = {x.x, x.y, x.z};
      worst[0] = fmax(worst[0], fabs(a[STATE * k + i] - b[STATE * k + i]));
      if (rank == 0) worst[1] = fmax(worst[1], fabs(a[STATE * k + i] - at[i]));
    }
  if (rank == 0)
    printf(
        "test_domain: %s, %d ranks: continued ends differ by %.2g and %.2g m, %g contacts kept\n",
        c->name, size, worst[0], worst[1], kept[0]);
  expect(worst[0] < 1e-7 && worst[1] < 1e-7, "another end after collecting", c->name);
  free(a);
  free(b);
  scree_world_destroy(world);
  scree_world_destroy(whole);
  scree_world_destroy(again);
}

/* With a number as its first argument, only that part of the steps; with a text as its second, only
 * the cases whose names contain it. */
int main(int argc, char **argv) {
  scree_Ranks *ranks;
  if (scree_ranks_create(&ranks, NULL) != SCREE_OK) return 3;
  rank = scree_ranks_rank(ranks);
  size = scree_ranks_size(ranks);
  const Case cases[] = {
      {"balls", "moreau-jean", 3, 300, 0, 4, 4e-3, false, true, 80, .solver = NULL},
      {"bouncing disks", "moreau-jean", 2, 120, 0.8, 4, 3e-3, false, false, 100, .solver = NULL},
      {"boxes", "euler", 3, 150, 0, 3, 4e-3, true, true, 50, .solver = NULL},
      {"ellipses", "moreau-jean", 2, 90, 0.3, 3, 3e-3, true, true, 80, .solver = NULL},
      {"balls by sweeps of all ranks", "moreau-jean", 3, 300, 0, 3, 4e-3, false, false, 12,
       .solver = "nlgs", .tolerance = 1e-3},
      {"disks by pqn", "moreau-jean", 2, 90, 0, 3, 4e-3, false, false, 6, .solver = "pqn",
       .tolerance = 1e-3},
      {"rolling balls", "moreau-jean", 3, 200, 0, 4, 4e-3, false, true, 40, .rolling = 0.1},
      {"rolling ellipses by sweeps of all ranks", "moreau-jean", 2, 90, 0, 3, 3e-3, true, false, 12,
       .solver = "nlgs", .tolerance = 1e-3, .rolling = 0.2},
      {"soft bodies", "moreau-jean", 3, 150, 0, 3, 1e-3, true, true, 80, .soft = true},
      {"soft ellipses", "moreau-jean", 2, 90, 0, 3, 3e-3, true, true, 50, .soft = true},
      {"soft balls by sweeps of all ranks", "moreau-jean", 3, 150, 0, 3, 3e-3, false, false, 12,
       .solver = "nlgs", .tolerance = 1e-3, .soft = true},
      {"chains", "moreau-jean", 3, 200, 0, 4, 3e-3, true, true, 60, .linked = true},
      {"chains in the plane", "moreau-jean", 2, 90, 0, 3, 3e-3, true, true, 60, .linked = true},
      {"chains that resist rolling", "moreau-jean", 3, 150, 0, 3, 3e-3, false, true, 20,
       .rolling = 0.1, .linked = true},
      {"chains by sweeps of all ranks", "moreau-jean", 2, 90, 0, 3, 3e-3, false, false, 12,
       .solver = "nlgs", .tolerance = 1e-3, .linked = true},
      {"elements", "moreau-jean", 3, 64, 0, 3, 2e-3, true, true, 24, .elements = true},
      {"elements by sweeps of all ranks", "moreau-jean", 3, 80, 0, 3, 3e-3, false, false, 16,
       .solver = "nlgs", .tolerance = 1e-3, .elements = true},
      {"chains of elements", "moreau-jean", 3, 64, 0, 3, 2e-3, true, true, 24, .linked = true,
       .elements = true},
  };
  const int part = argc > 1 ? atoi(argv[1]) : 1;
  if (argc > 2) only = argv[2];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    Case c = cases[k];
    c.steps = (c.steps + part - 1) / part;
    check_case(&c, ranks);
  }
  const Case few = {"few impacts",     "moreau-jean", 3, 100, 0.9, 3, 1e-3, false, false, 40,
                    .tolerance = 1e-11};
  Case apart =
      few; /* later some bodies have several impacts in a step, which one rank takes apart */
  apart.steps = 20;
  check_same_end(&apart, ranks, 1e-6);
  const Case settled = {"settling", "moreau-jean",    3, 200, 0, 1, 4e-3, false, false,
                        30,         .tolerance = 1e-9};
  check_spread(&settled, ranks);
  Case rolls = few;
  rolls.name = "few impacts that resist rolling";
  rolls.rolling = 0.1;
  rolls.tolerance = 1e-10;
  check_same_end(&rolls, ranks, 1e-6);
  rolls = settled;
  rolls.name = "settling with resistance to rolling";
  rolls.rolling = 0.1;
  check_spread(&rolls, ranks);
  Case soft = few;
  soft.name = "few impacts of soft bodies";
  soft.e = 0;
  soft.soft = true;
  soft.tolerance = 1e-10;
  check_same_end(&soft, ranks, 1e-6);
  soft = settled;
  soft.name = "settling of soft bodies";
  soft.soft = true;
  check_spread(&soft, ranks);
  Case chains = few;
  chains.name = "few impacts of chains";
  chains.e = 0;
  chains.linked = true;
  check_same_end(&chains, ranks, 1e-6);
  chains = settled;
  chains.name = "settling chains";
  chains.linked = true;
  check_spread(&chains, ranks);
  Case elements = few;
  elements.name = "few impacts of chains of elements";
  elements.e = 0;
  elements.n = 64;
  elements.steps = 24;
  elements.step = 2e-3;
  elements.linked = elements.elements = true;
  elements.tolerance = 1e-10;
  check_same_end(&elements, ranks, 1e-6);
  elements = settled;
  elements.name = "settling elements";
  elements.n = 64;
  elements.steps = 24;
  elements.step = 3e-3;
  elements.elements = true;
  check_spread(&elements, ranks);
  scree_ranks_destroy(ranks);
  if (rank == 0) printf("test_domain: %d ranks, %d failures\n", size, failures);
  return failures ? 1 : 0;
}

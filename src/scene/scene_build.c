/* From a scene to a world (see scree/scene.h): settings, laws, bodies, forces; bodies that come
 * later; conditions to stop. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "parallel/ranks.h"
#include "scene/scene.h"
#include "scene/scene_state.h"
#include "world/world.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- contents ------------------------------------------------------------------------------ */

static int poured(const scree_Scene *scene) {
  int count = 0;
  for (int k = 0; k < scene->pour_count; ++k) count += scene->pours[k].count;
  return count;
}

/* Mean number of poured bodies over the duration, if there is always room for them. */
static double poured_mean(const scree_Scene *scene) {
  double sum = 0;
  for (int k = 0; k < scene->pour_count; ++k) {
    const scree_Pour *pour = &scene->pours[k];
    const double last = pour->start + pour->count / pour->rate;
    const double end = fmin(last, scene->duration);
    if (end <= pour->start) continue;
    /* a ramp until `end`, then all that have come */
    const double come = (end - pour->start) * pour->rate;
    sum += come * (scene->duration - 0.5 * (pour->start + end)) / scene->duration;
  }
  return sum;
}

scree_SceneInfo scree_scene_info(const scree_Scene *scene) {
  const scree_Node *root = scene->tree.root, *output = scree_node_find(root, "output");
  const scree_Node *stop = scree_node_find(root, "stop"), *timing = scree_node_find(root, "time");
  const scree_Node *region = scree_node_find(scree_node_find(root, "analysis"), "region");
  const scree_Node *dump = scree_node_find(root, "dump_problem");
  scree_SceneInfo info = {
      .title = scree_node_text(root, "title"),
      .description = scree_node_text(root, "description"),
      .dimension = scene->dimension,
      .bodies = (int)scene->body_count - scene->obstacle_count,
      .obstacles = scene->obstacle_count,
      .poured = poured(scene),
      .poured_mean = poured_mean(scene),
      .sensor_columns = scree_sensors_columns(scene),
      .materials = scene->material_count,
      .forces = scene->force_count,
      .step = scene->step,
      .automatic_step = scene->automatic_step,
      .duration = scene->duration,
      .steps = scene->steps,
      .frame_steps = scene->frame_steps,
      .save_contacts = scree_node_true(output, "contacts"),
      .compression = (int)scree_node_number(output, "compression"),
      .checkpoint = scree_node_number(output, "checkpoint"),
      .smallest = scene->smallest,
      .penetration = scree_node_number(timing, "penetration"),
      .penetration_limit = scree_node_number(timing, "penetration_limit"),
      .stop_energy = scree_node_number(stop, "kinetic_energy"),
      .stop_after = scree_node_number(stop, "after"),
      .stop_plane = scree_node_find(stop, "plane") != NULL,
      .has_region = region != NULL,
      .dumps = scree_node_number(dump, "every") > 0 || scree_node_find(dump, "steps")->count > 0,
  };
  if (region) {
    info.region =
        (scree_Aabb){scree_scene_vector(region, "lower"), scree_scene_vector(region, "upper")};
    if (scene->dimension == 2) {
      info.region.lower.z = -INFINITY;
      info.region.upper.z = INFINITY;
    }
  }
  return info;
}

const char *scree_scene_material(const scree_Scene *scene, int k, double *density,
                                 const char **colour) {
  const scree_Node *materials = scree_node_find(scene->tree.root, "materials");
  if (k < 0 || k >= materials->count) return NULL;
  const scree_Node *map = materials->entries[k].value;
  if (density) *density = scree_node_number(map, "density");
  if (colour) *colour = scree_node_text(map, "colour");
  return materials->entries[k].key;
}

void scree_scene_body_label(const scree_Scene *scene, int body, char *text, size_t size) {
  const char *name = scree_scene_body_name(scene, body);
  if (name)
    snprintf(text, size, "%s", name);
  else
    snprintf(text, size, "%s %d", body < scene->obstacle_count ? "obstacle" : "body", body);
}

void scree_scene_count_shapes(const scree_Scene *scene, int count[SCREE_SHAPE_KINDS]) {
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) count[k] = 0;
  for (size_t k = 0; k < scene->kept; ++k) ++count[scene->bodies[k].shape.kind];
  for (int k = 0; k < scene->pour_count; ++k)
    count[scene->pours[k].grain.shape.kind] += scene->pours[k].count;
}

static scree_PairLaw read_law(const scree_Node *map) {
  scree_PairLaw law = scree_pair_law(scree_node_text(map, "law"));
  const scree_OptionTable *table = scree_law_options(law.law);
  for (int k = 0; k < table->count; ++k)
    law.values[k] = scree_node_number(map, table->options[k].name);
  return law;
}

scree_PairLaw scree_scene_law(const scree_Scene *scene, int a, int b) {
  const scree_Node *root = scene->tree.root, *pairs = scree_node_find(root, "pairs");
  const char *name[2] = {scree_scene_material(scene, a, NULL, NULL),
                         scree_scene_material(scene, b, NULL, NULL)};
  /* the last one given is used */
  for (int k = pairs->count - 1; k >= 0 && name[0] && name[1]; --k) {
    const scree_Node *between = scree_node_find(pairs->entries[k].value, "between");
    const char *x = between->entries[0].value->text, *y = between->entries[1].value->text;
    if ((strcmp(x, name[0]) == 0 && strcmp(y, name[1]) == 0) ||
        (strcmp(x, name[1]) == 0 && strcmp(y, name[0]) == 0))
      return read_law(pairs->entries[k].value);
  }
  return read_law(scree_node_find(root, "contact"));
}

double scree_scene_restitution(const scree_Scene *scene) {
  double largest = 0;
  for (int a = 0; a < scene->material_count; ++a)
    for (int b = a; b < scene->material_count; ++b) {
      const scree_PairLaw law = scree_scene_law(scene, a, b);
      const double e_n = scree_pair_law_get(&law, "e_n"); /* not a number: it has none */
      if (e_n > largest) largest = e_n;
    }
  return largest;
}

/* ---- building -------------------------------------------------------------------------------- */

static scree_WorldSettings settings_of(const scree_Scene *scene) {
  const scree_Node *time = scree_node_find(scene->tree.root, "time");
  const scree_Node *solver = scree_node_find(scene->tree.root, "solver");
  scree_WorldSettings settings = scree_world_settings();
  settings.dimension = scene->dimension;
  settings.scheme = scree_node_text(time, "scheme");
  settings.step = scene->step;
  settings.theta = scree_node_number(time, "theta");
  settings.gravity = scene->gravity;
  for (int k = 0; scree_flow_name((scree_Flow)k); ++k)
    if (scree_node_is(solver, "flow", scree_flow_name((scree_Flow)k)))
      settings.flow = (scree_Flow)k;
  settings.gap_tolerance = scree_node_number(time, "gap_tolerance");
  settings.penetration = scree_node_number(time, "penetration");
  settings.penetration_limit = scree_node_number(time, "penetration_limit");
  settings.energy_limit = scree_node_number(time, "energy_limit");
  settings.creep_limit = scree_node_number(time, "creep_limit");
  settings.max_work = scree_node_number(time, "max_work");
  settings.max_halvings = (int)scree_node_number(time, "max_halvings");
  settings.warm_start = scree_node_true(solver, "warm_start");
  settings.internal_forces = scree_node_true(solver, "internal_forces");
  settings.solve = scree_solve_settings();
  settings.solve.solver = scree_node_text(solver, "name");
  settings.solve.options = scene->solver_options;
  settings.solve.tolerance = scree_node_number(solver, "tolerance");
  for (int k = 0; scree_measure_name((scree_Measure)k); ++k)
    if (scree_node_is(solver, "measure", scree_measure_name((scree_Measure)k)))
      settings.solve.measure = (scree_Measure)k;
  settings.solve.max_iterations = (int)scree_node_number(solver, "max_iterations");
  settings.solve.time_limit = scree_node_number(solver, "time_limit");
  settings.solve.threads = scene->threads;
  settings.max_retries = (int)scree_node_number(solver, "max_retries");
  return settings;
}

static scree_Signal signal_of(scree_SceneSignal *signal) {
  if (!signal) return (scree_Signal){.kind = SCREE_SIGNAL_ZERO};
  if (signal->constant)
    return (scree_Signal){.kind = SCREE_SIGNAL_CONSTANT,
                          .constant = scree_scene_signal_at(signal, 0)};
  return (scree_Signal){.kind = SCREE_SIGNAL_CALLBACK,
                        .callback = scree_scene_signal_at,
                        .user = signal,
                        .names = (const char *const *)signal->names};
}

static scree_Signal force_signal(scree_SceneForce *force) {
  scree_Signal signal = signal_of(force->signal);
  if (force->area == 0) return signal;
  if (signal.kind == SCREE_SIGNAL_CONSTANT && !(force->until < INFINITY)) {
    signal.constant = scree_scene_force_at(force, 0);
  } else {
    signal.kind = SCREE_SIGNAL_CALLBACK;
    signal.callback = scree_scene_force_at;
    signal.user = force;
  }
  return signal;
}

/* Errors of a law are reported by the world, or here: add the place in the scene. */
static scree_Status end_law(const scree_Scene *scene, const scree_Node *node,
                            const scree_PairLaw *law, scree_Status status, const scree_Log *log) {
  if (status == SCREE_BAD_INPUT) return scree_scene_refuse(scene, node, log, "this law is refused");
  if (status || scene->dimension == 3 || !(scree_pair_law_get(law, "spinning") > 0)) return status;
  return scree_scene_refuse(scene, node, log,
                            "found spinning: %g in 2D, where bodies do not turn about the normal; "
                            "expected 0",
                            scree_pair_law_get(law, "spinning"));
}

static scree_Status build_laws(const scree_Scene *scene, scree_World *world, const scree_Log *log) {
  const scree_Node *contact = scree_node_find(scene->tree.root, "contact");
  const scree_PairLaw first = read_law(contact);
  scree_Status status = scree_world_set_default_law(world, &first);
  status = end_law(scene, contact, &first, status, log);
  for (int k = 1; k < scene->material_count && status == SCREE_OK; ++k)
    status = scree_world_add_material(world, NULL);
  /* named pairs, each once: the last one given is used */
  const scree_Node *pairs = scree_node_find(scene->tree.root, "pairs");
  for (int p = 0; p < pairs->count && status == SCREE_OK; ++p) {
    const scree_Node *between = scree_node_find(pairs->entries[p].value, "between");
    int index[2] = {0, 0};
    for (int side = 0; side < 2; ++side)
      for (int k = 0; k < scene->material_count; ++k)
        if (strcmp(scree_scene_material(scene, k, NULL, NULL),
                   between->entries[side].value->text) == 0)
          index[side] = k;
    const scree_PairLaw law = scree_scene_law(scene, index[0], index[1]);
    status = scree_world_set_pair_law(world, index[0], index[1], &law);
    status = end_law(scene, pairs->entries[p].value, &law, status, log);
  }
  return status;
}

static bool is_held(void *user, scree_Vec3 place) {
  const scree_SceneBody *body = user;
  /* nodes on a face of the region are within it, up to rounding */
  return scree_region_holds(&body->held, place, -1e-9 * body->shape.size);
}

static bool is_loaded(void *user, scree_Vec3 place) {
  const scree_SceneForce *force = user;
  return scree_region_holds(&force->nodes, place, -1e-9 * force->size);
}

static scree_Status add_body(scree_World *world, scree_SceneBody *body) {
  scree_BodyDef def = body->def;
  if (body->state && body->state->holder) {
    body->state->next = 0;
    def.elastic.held = scree_scene_state_holds;
    def.elastic.held_user = body->state;
  } else if (body->held.kind != SCREE_REGION_NONE) {
    def.elastic.held = is_held;
    def.elastic.held_user = body;
  }
  def.shape = &body->shape;
  def.driver = signal_of(body->driver);
  return scree_world_add_body(world, &def, NULL);
}

static scree_Status add_forces(const scree_Scene *scene, scree_World *world) {
  scree_Status status = SCREE_OK;
  for (int k = 0; k < scene->force_count && status == SCREE_OK; ++k) {
    const char *pattern = scene->forces[k].pattern;
    scree_ForceDef def = scene->forces[k].def;
    def.signal = force_signal(&scene->forces[k]);
    if (scene->forces[k].nodes.kind != SCREE_REGION_NONE) {
      def.nodes = is_loaded;
      def.nodes_user = &scene->forces[k];
    }
    if (!pattern) status = scree_world_add_force(world, &def);
    for (size_t b = (size_t)scene->obstacle_count;
         pattern && b < scene->body_count && status == SCREE_OK; ++b) {
      if (!scree_name_matches(pattern, scree_scene_body_name(scene, (int)b))) continue;
      def.body = (int)b;
      status = scree_world_add_force(world, &def);
    }
  }
  return status;
}

static bool is_driven(void *user, scree_Vec3 place) {
  const scree_SceneDriven *driven = user;
  return scree_region_holds(&driven->nodes, place, -1e-9 * driven->size);
}

static scree_Status drive_nodes(const scree_Scene *scene, scree_World *world) {
  scree_Status status = SCREE_OK;
  for (int k = 0; k < scene->driven_count && status == SCREE_OK; ++k) {
    scree_SceneDriven *driven = &scene->driven[k];
    const scree_DrivenDef def = {driven->body, driven->obstacle, is_driven, driven};
    status = scree_world_drive_nodes(world, &def);
  }
  return status;
}

static scree_Status build_bodies(const scree_Scene *scene, scree_World *world, int ranks,
                                 const scree_Log *log) {
  if (scene->released)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: its bodies were released, and cannot be built",
                      scene->name);
  scree_Status status = build_laws(scene, world, log);
  const int room = (int)scene->body_count / ranks + scene->obstacle_count;
  if (status == SCREE_OK) status = scree_world_reserve(world, room);
  const scree_NumberedShape *shape = scene->part.shapes;
  const scree_NumberedShape *end = shape ? shape + scene->part.shape_count : NULL;
  for (size_t k = 0, at = 0; k < scene->body_count && status == SCREE_OK; ++k) {
    while (shape < end && shape->last < (int)k) ++shape;
    if (at < scene->kept && scree_scene_kept_number(scene, at) == (int)k)
      status = add_body(world, &scene->bodies[at++]);
    else
      status = scree_world_pass_body(world,
                                     shape < end && shape->first <= (int)k ? &shape->shape : NULL);
  }
  if (status == SCREE_OK) status = scree_scene_build_states(scene, world);
  if (status == SCREE_OK) status = drive_nodes(scene, world);
  if (status == SCREE_OK && scene->driven_count > 0) status = scree_scene_end_states(scene, world);
  status = scree_ranks_agree(scree_world_ranks(world), status, log);
  return status == SCREE_OK ? add_forces(scene, world) : status;
}

static scree_Status end_build(scree_Status status, scree_World **world) {
  if (status != SCREE_OK && *world) {
    scree_world_destroy(*world);
    *world = NULL;
  }
  return status;
}

scree_Status scree_scene_build(const scree_Scene *scene, const scree_Log *log,
                               scree_World **world) {
  const scree_WorldSettings settings = settings_of(scene);
  scree_Status status = scree_world_create(&settings, log, world);
  if (status == SCREE_OK) status = build_bodies(scene, *world, 1, log);
  if (status == SCREE_OK) status = scree_scene_check_plates(scene, *world, log);
  if (status == SCREE_OK) status = scree_scene_build_joints(scene, *world, log);
  if (status == SCREE_OK) status = scree_scene_build_bonds(scene, *world, log);
  if (status == SCREE_OK) status = scree_scene_build_cell(scene, *world, log);
  if (status == SCREE_OK && scene->start.step > 0)
    status = scree_world_set_impulses(*world, scene->start.contacts, scene->start.count,
                                      scene->start.step);
  return end_build(status, world);
}

scree_Status scree_scene_build_part(const scree_Scene *scene, const scree_Ranks *ranks,
                                    const scree_Log *log, scree_World **world) {
  const scree_WorldSettings settings = settings_of(scene);
  scree_Status status = scree_world_create(&settings, log, world);
  if (status == SCREE_OK) status = scree_world_divide(*world, ranks);
  if (status == SCREE_OK && scene->part.cut) scree_world_set_cuts(*world, scene->part.cut);
  if (status == SCREE_OK) status = build_bodies(scene, *world, scree_ranks_size(ranks), log);
  status = scree_ranks_agree(ranks, status, log);
  if (status == SCREE_OK) scree_world_passed(*world);
  if (status == SCREE_OK) status = scree_scene_check_plates(scene, *world, log);
  if (status == SCREE_OK) status = scree_scene_build_joints(scene, *world, log);
  if (status == SCREE_OK) status = scree_scene_build_bonds(scene, *world, log);
  /* a part is read for one world: a run needs the memory before its caller can say so */
  if (scene->part.ranks) scree_scene_release_bodies((scree_Scene *)scene);
  return end_build(status, world);
}

/* ---- pouring --------------------------------------------------------------------------------- */

/* The next poured body, and the forces on bodies of its name. */
static scree_Status add_poured(const scree_Scene *scene, scree_World *world,
                               scree_SceneBody *body) {
  const int number = scree_world_whole_count(world);
  scree_Status status = add_body(world, body);
  for (int k = 0; k < scene->force_count && status == SCREE_OK; ++k) {
    const char *pattern = scene->forces[k].pattern;
    scree_ForceDef def = scene->forces[k].def;
    if (!pattern || !scree_name_matches(pattern, scree_scene_body_name(scene, number))) continue;
    def.signal = force_signal(&scene->forces[k]);
    def.body = number;
    status = scree_world_add_force(world, &def);
  }
  return status;
}

enum { ATTEMPTS = 50 };

/* Indices of the world's bodies whose bounds reach into the region; null: out of memory. */
static int *near_region(const scree_World *world, const scree_Region *region, int extra,
                        int *count) {
  const int n = scree_world_body_count(world);
  int *list = SCREE_ALLOC(int, (size_t)n + (size_t)extra);
  *count = 0;
  for (int b = 0; list && b < n; ++b) {
    if (scree_body_is_removed(world, b) || !scree_body_is_mine(world, b)) continue;
    const scree_Pose pose = scree_body_pose(world, b);
    const scree_Aabb box = scree_shape_aabb(scree_body_shape(world, b), &pose);
    const bool apart = box.lower.x > region->upper.x || box.upper.x < region->lower.x ||
                       box.lower.y > region->upper.y || box.upper.y < region->lower.y ||
                       (region->dimension == 3 &&
                        (box.lower.z > region->upper.z || box.upper.z < region->lower.z));
    if (!apart) list[(*count)++] = b;
  }
  return list;
}

/* Draw the next place; false: the body would not be inside the region there. */
static bool draw_place(const scree_Region *region, scree_Random *random, scree_SceneBody *body) {
  const scree_Vec3 size = scree_sub(region->upper, region->lower);
  scree_Pose *pose = &body->def.pose;
  pose->position.x = region->lower.x + size.x * scree_random_real(random);
  pose->position.y = region->lower.y + size.y * scree_random_real(random);
  pose->position.z =
      region->dimension == 3 ? region->lower.z + size.z * scree_random_real(random) : 0;
  return scree_region_holds(region, pose->position, body->shape.bounding_radius);
}

static bool is_free(const scree_World *world, const int *near, int near_count,
                    const scree_SceneBody *body) {
  for (int k = 0; k < near_count; ++k) {
    const scree_Pose other = scree_body_pose(world, near[k]);
    if (scree_scene_overlap(&body->shape, &body->def.pose, scree_body_shape(world, near[k]),
                            &other))
      return false;
  }
  return true;
}

/* The first place of some that no body is in. Ranks look at their own bodies and then agree, once
 * for the first place, which mostly is free, and once for all others. */
static bool find_room(const scree_World *world, const scree_Region *region, const int *near,
                      int near_count, scree_Random *random, scree_SceneBody *body) {
  const scree_Ranks *ranks = scree_world_ranks(world);
  const int size = scree_ranks_count(ranks);
  for (int first = 0, count; first < ATTEMPTS; first += count) {
    const scree_Random start = *random;
    count = size == 1 || first == 0 ? 1 : ATTEMPTS - first;
    uint64_t good = 0;
    for (int k = 0; k < count; ++k)
      if (draw_place(region, random, body) && is_free(world, near, near_count, body))
        good |= (uint64_t)1 << k;
    const uint64_t *all = scree_ranks_gather(ranks, &good, sizeof good);
    uint64_t common = ~(uint64_t)0;
    for (int k = 0; k < size; ++k) common &= all[k];
    if (common == 0) continue;
    *random = start;
    do {
      (void)draw_place(region, random, body);
    } while ((common & 1) == 0 && (common >>= 1));
    return true;
  }
  return false;
}

/* Bodies of one pour that should have come by now. */
static int due(const scree_Pour *pour, double time) {
  if (time < pour->start) return 0;
  const double count = floor((time - pour->start) * pour->rate * (1 + 1e-12)) + 1;
  return count < pour->count ? (int)count : pour->count;
}

/* Number of steps for which body `number` of a pour has waited for room: 0 in the first step in
 * which it is due. */
static uint64_t waited(const scree_Scene *scene, const scree_Pour *pour, int number, double time) {
  const double steps = floor((time - pour->start - number / pour->rate) / scene->step);
  return steps > 0 ? (uint64_t)fmin(steps, 1e15) : 0;
}

static scree_Status pour_from(const scree_Scene *scene, int p, int done, scree_World *world,
                              int *order, int *count, const scree_Log *log) {
  const scree_Pour *pour = &scene->pours[p];
  const int wanted = due(pour, scree_world_time(world));
  if (done >= wanted) return SCREE_OK;
  int near_count = 0;
  int *near = near_region(world, &pour->region, wanted - done, &near_count);
  scree_Status status = near ? SCREE_OK : scree_fail_memory(log, "bodies near a pour");
  status = scree_ranks_agree(scree_world_ranks(world), status, log);
  bool room = true;
  for (; done < wanted && room && status == SCREE_OK; ++done) {
    scree_SceneBody body;
    scree_Random random;
    status =
        scree_grain_make(scene, &pour->grain, pour->generator, (uint64_t)done, &random, &body, log);
    if (status != SCREE_OK) break;
    /* Places are drawn anew in each step: a body that found no room may find it later. They must
     * not depend on the number of the step, or the same scene with half of the time step would pour
     * other bodies.
     */
    scree_Random place = scree_random(scene->seed, 1000003u + (uint64_t)pour->generator,
                                      (uint64_t)done * 0x100000001b3u +
                                          waited(scene, pour, done, scree_world_time(world)));
    room = find_room(world, &pour->region, near, near_count, &place, &body);
    if (room) {
      assert(near);
      const int before = scree_world_body_count(world);
      scree_scene_note_poured(scene, *count, p, done);
      status = add_poured(scene, world, &body);
      if (scree_world_body_count(world) > before) near[near_count++] = before;
      if (status == SCREE_OK && order) order[*count] = p;
      if (status == SCREE_OK) ++*count;
    }
    scree_shape_fini(&body.shape);
  }
  scree_free(near);
  return status;
}

scree_Status scree_scene_pour(const scree_Scene *scene, scree_World *world, int *order, int *count,
                              const scree_Log *log) {
  int own = scree_world_whole_count(world) - (int)scene->body_count;
  if (!count) count = &own;
  if (scene->pour_count > 1 && !order)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "a scene with several pours needs the order of poured bodies");
  if (*count == 0) scree_scene_forget_poured(scene);
  for (int p = 0; p < scene->pour_count; ++p) {
    int done = 0;
    for (int k = 0; k < *count; ++k) done += !order || order[k] == p;
    scree_Status status = pour_from(scene, p, done, world, order, count, log);
    if (status != SCREE_OK) return status;
  }
  return SCREE_OK;
}

scree_Status scree_scene_pour_again(const scree_Scene *scene, scree_World *world, const int *order,
                                    int count, const scree_Log *log) {
  int *done = SCREE_ALLOC(int, scene->pour_count);
  const int there = scree_world_whole_count(world) - (int)scene->body_count;
  scree_Status status = done ? SCREE_OK : scree_fail_memory(log, "poured bodies");
  scree_scene_forget_poured(scene);
  for (int k = 0; k < count && status == SCREE_OK; ++k) {
    scree_SceneBody body;
    scree_Random random;
    const int p = order[k];
    if (p < 0 || p >= scene->pour_count || done[p] >= scene->pours[p].count) {
      status =
          scree_fail(log, SCREE_BAD_INPUT, "poured body %d comes from no pour of the scene", k);
      break;
    }
    const uint64_t number = (uint64_t)done[p]++;
    scree_scene_note_poured(scene, k, p, (int)number);
    if (k < there) continue;
    status = scree_grain_make(scene, &scene->pours[p].grain, scene->pours[p].generator, number,
                              &random, &body, log);
    if (status != SCREE_OK) break;
    status = add_poured(scene, world, &body);
    scree_shape_fini(&body.shape);
  }
  scree_free(done);
  return status;
}

/* ---- stopping, dumping ----------------------------------------------------------------------- */

/* Whether a body of this rank that the condition is about has passed the plane. */
static bool has_passed(const scree_Scene *scene, const scree_World *world) {
  const int n = scree_world_body_count(world);
  for (int b = 0; b < n; ++b) {
    const int number = scree_body_number(world, b);
    if (number < scene->obstacle_count || !scree_body_is_mine(world, b)) continue;
    if (scree_body_is_removed(world, b)) continue;
    if (scene->stop_body >= 0 && number != scree_scene_number(scene, scene->stop_body)) continue;
    if (scene->stop_pattern && !scree_scene_takes(scene, scene->stop_pattern, number)) continue;
    const scree_Vec3 x = scree_body_pose(world, b).position;
    if (scree_dot(scene->stop_normal, scree_sub(x, scene->stop_point)) > 0) return true;
  }
  return false;
}

bool scree_scene_should_stop(const scree_Scene *scene, const scree_World *world, double *peak,
                             const char **reason) {
  const scree_Node *stop = scree_node_find(scene->tree.root, "stop");
  const double fraction = scree_node_number(stop, "kinetic_energy");
  const double kinetic = scree_world_energy(world).kinetic, time = scree_world_time(world);
  if (reason) *reason = NULL;
  if (kinetic > *peak) *peak = kinetic;
  if (time < scree_node_number(stop, "after")) return false;
  if (fraction > 0 && kinetic < fraction * *peak) {
    if (reason) *reason = "the kinetic energy fell below the fraction asked for";
    return true;
  }
  if (!scree_node_find(stop, "plane")) return false;
  const bool passed = scree_ranks_any(scree_world_ranks(world), has_passed(scene, world));
  if (passed && reason) *reason = "a body passed the plane";
  return passed;
}

bool scree_scene_dumps(const scree_Scene *scene, int64_t step) {
  const scree_Node *dump = scree_node_find(scene->tree.root, "dump_problem");
  const int64_t every = (int64_t)scree_node_number(dump, "every");
  const scree_Node *steps = scree_node_find(dump, "steps");
  if (every > 0 && step % every == 0) return true;
  for (int k = 0; k < steps->count; ++k)
    if ((int64_t)steps->entries[k].value->number == step) return true;
  return false;
}

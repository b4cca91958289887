/* Scenes: from a file to the bodies, laws and forces of a world (see scree/scene.h). The schema has
 * checked every value by itself; here values are checked against each other. Values that the file
 * leaves to `auto` are decided here and written into the tree, so that the scene as used shows
 * them.
 */
#define _POSIX_C_SOURCE 200809L
#include "scene/scene.h"
#include "scene/scene_state.h"

#include "core/log.h"
#include "core/memory.h"
#include "geometry/trimesh.h"
#include "math/vec3.h"
#include "scene/scene_include.h"
#include "scree/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 256 << 20 };

scree_Status scree_scene_refuse(const scree_Scene *scene, const scree_Node *node,
                                const scree_Log *log, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (node && node->line > 0)
    return scree_fail(log, SCREE_BAD_INPUT, "%s:%d:%d: %s", scene->name, node->line,
                      node->column > 0 ? node->column : 1, text);
  return scree_fail(log, SCREE_BAD_INPUT, "%s: %s", scene->name, text);
}

int scree_scene_refuse_name(const scree_Scene *scene, const scree_Node *node, const scree_Log *log,
                            const char *what, const char *const *words) {
  const char *near = scree_nearest_word(node->text, words);
  scree_scene_refuse(scene, node, log, "no %s is named \"%.60s\"%s%s%s", what, node->text,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return -1;
}

scree_Vec3 scree_scene_vector(const scree_Node *map, const char *key) {
  const scree_Node *node = scree_node_find(map, key);
  double x[3] = {0};
  if (node && node->kind == SCREE_NODE_SCALAR) x[2] = node->number;
  for (int k = 0; node && k < node->count && k < 3; ++k) x[k] = node->entries[k].value->number;
  return scree_vec3(x[0], x[1], x[2]);
}

/* Replace a scalar in the tree. */
bool scree_scene_set_number(scree_Scene *scene, scree_Node *map, const char *key, double value) {
  scree_Node *node = scree_node_find(map, key);
  scree_Node *fresh = scree_tree_number(&scene->tree, value, 0, 0);
  if (!node || !fresh) return false;
  node->text = fresh->text;
  node->number = value;
  return true;
}

/* ---- conditions, solver, laws ------------------------------------------------------------------
 */

static scree_Status read_stop(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *stop = scree_node_find(scene->tree.root, "stop");
  const scree_Node *plane = scree_node_find(stop, "plane");
  scene->stop_body = -1;
  if (!plane) return SCREE_OK;
  scene->stop_point = scree_scene_vector(plane, "point");
  scene->stop_normal = scree_scene_vector(plane, "normal");
  if (!(scree_norm(scene->stop_normal) > 0))
    return scree_scene_refuse(scene, plane, log,
                              "stop.plane.normal: expected a vector other than zero");
  const scree_Node *body = scree_node_find(plane, "body");
  if (scree_name_is_pattern(body->text)) {
    scene->stop_pattern = body->text;
    return scree_scene_check_pattern(scene, body, log);
  }
  if (scree_node_is(plane, "body", "any")) return SCREE_OK;
  scene->stop_body = scree_scene_find_moving(scene, scree_node_find(plane, "body"), log);
  return scene->stop_body < 0 ? SCREE_BAD_INPUT : SCREE_OK;
}

/* The set of a law, as its parameters say. */
static scree_SetKind set_of(const scree_PairLaw *law) {
  static const struct {
    const char *parameter;
    scree_SetKind set;
  } sets[] = {{"rolling", SCREE_SET_ROLLING},
              {"spinning", SCREE_SET_ROLLING},
              {"cap", SCREE_SET_CAPPED},
              {"ball", SCREE_SET_CONE_BALL},
              {"cohesion", SCREE_SET_SHIFTED}};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; ++k)
    if (scree_pair_law_get(law, sets[k].parameter) > 0) return sets[k].set;
  return strcmp(law->law, "cohesive") == 0 ? SCREE_SET_SHIFTED : SCREE_SET_CONE;
}

/* Why a solver cannot solve a problem of one contact with the sets that laws and joints of the
 * scene need; null: it can. */
static const char *refusal(const scree_Scene *scene, const scree_SolverClass *class_,
                           scree_Problem *problem) {
  uint8_t set[2] = {SCREE_SET_CONE, SCREE_SET_SPACE};
  const char *reason = scree_solver_class_refuses(class_, problem);
  problem->set = set;
  for (int a = 0; a < scene->material_count && !reason; ++a)
    for (int b = 0; b <= a && !reason; ++b) {
      const scree_PairLaw law = scree_scene_law(scene, a, b);
      set[0] = (uint8_t)set_of(&law);
      reason = scree_solver_class_refuses(class_, problem);
    }
  set[0] = SCREE_SET_CONE;
  const bool bonds = scree_node_find(scene->tree.root, "bonds")->count > 0;
  problem->general.count = scene->joint_count > 0 || bonds; /* only counted here */
  if (!reason) reason = scree_solver_class_refuses(class_, problem);
  problem->general.count = 0;
  problem->set = NULL;
  return reason;
}

/* Refuse a solver that cannot solve the contact problems of the scene. */
static scree_Status check_solver(const scree_Scene *scene, const scree_Node *solver,
                                 const scree_Log *log) {
  const scree_Node *name = scree_node_find(solver, "name");
  const scree_SolverClass *class_ = scree_solver_class_find(name->text);
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {0}, mu = 0.5;
  const int d = scene->dimension;
  const double flat[4] = {1, 0, 0, 1};
  scree_Problem problem;
  if (!class_) return SCREE_OK;
  scree_Status status = scree_problem_create_dense(&problem, d, 1, d == 2 ? flat : W, q, &mu, log);
  if (status != SCREE_OK) return status;
  if (scree_node_is(solver, "flow", "associated")) problem.flow = SCREE_ASSOCIATED;
  const char *reason = refusal(scene, class_, &problem);
  if (reason)
    status = scree_scene_refuse(scene, name, log,
                                "solver.name: %s cannot solve this scene: %s; set solver.flow, or "
                                "take another solver (auto)",
                                name->text, reason);
  scree_problem_destroy(&problem);
  return status;
}

/* "name=value" of the solver's options. */
static scree_Status read_solver(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *solver = scree_node_find(scene->tree.root, "solver");
  const scree_Node *options = scree_node_find(solver, "options");
  scree_Status status = check_solver(scene, solver, log);
  if (status != SCREE_OK) return status;
  scene->threads = (int)scree_node_number(solver, "threads");
  scene->solver_options = SCREE_ALLOC(const char *, options->count + 1);
  if (!scene->solver_options) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < options->count; ++k) {
    char text[160];
    snprintf(text, sizeof text, "%.60s=%.80s", options->entries[k].key,
             options->entries[k].value->text);
    scene->solver_options[k] = scree_tree_text(&scene->tree, text, strlen(text));
    if (!scene->solver_options[k]) return scree_fail_memory(log, scene->name);
  }
  return SCREE_OK;
}

/* Where neither a pair nor `contact` names a law, a parameter that the default law does not have
 * was meant for another one. */
static scree_Status check_parameters(const scree_Scene *scene, const scree_Node *pair,
                                     const scree_Node *law, const scree_Log *log) {
  const scree_PairLaw preset = scree_pair_law(NULL);
  const bool named = law->line > 0 || strcmp(law->text, preset.law) != 0; /* 0: --set, or preset */
  if (scree_node_find(pair, "law") || named) return SCREE_OK;
  for (int k = 0; k < pair->count; ++k) {
    const char *key = pair->entries[k].key;
    if (strcmp(key, "between") != 0 && isnan(scree_pair_law_get(&preset, key)))
      return scree_scene_refuse(scene, pair->entries[k].value, log,
                                "found %s, which the law %s does not have, and no law; expected "
                                "the key law",
                                key, law->text);
  }
  return SCREE_OK;
}

static scree_Status check_pairs(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *pairs = scree_node_find(scene->tree.root, "pairs");
  const scree_Node *contact = scree_node_find(scene->tree.root, "contact");
  for (int k = 0; k < pairs->count; ++k) {
    scree_Node *pair = pairs->entries[k].value;
    const scree_Node *between = scree_node_find(pair, "between");
    /* keys that a pair does not have are as in `contact`, or the default of its own law */
    scree_Node *whole = scree_tree_node(&scene->tree, SCREE_NODE_MAP, pair->line, pair->column);
    scree_Node *law = scree_node_find(scree_node_find(pair, "law") ? pair : contact, "law");
    const scree_Status status = check_parameters(scene, pair, law, log);
    if (status) return status;
    bool good = scree_tree_add(&scene->tree, whole, "between", pair->entries[0].value) &&
                scree_tree_add(&scene->tree, whole, "law", law);
    const scree_OptionTable *table = scree_law_options(law->text);
    for (int f = 0; f < table->count && good; ++f) {
      const scree_Option *option = &table->options[f];
      scree_Node *value = scree_node_find(pair, option->name);
      if (!value) value = scree_node_find(contact, option->name);
      if (!value) value = scree_tree_number(&scene->tree, option->preset, 0, 0);
      good = scree_tree_add(&scene->tree, whole, option->name, value);
    }
    if (!good) return scree_fail_memory(log, scene->name);
    pairs->entries[k].value = whole;
    for (int side = 0; side < 2; ++side)
      if (scree_scene_find_material(scene, between->entries[side].value, log) < 0)
        return SCREE_BAD_INPUT;
  }
  const scree_Node *region =
      scree_node_find(scree_node_find(scene->tree.root, "analysis"), "region");
  const scree_Vec3 size =
      scree_sub(scree_scene_vector(region, "upper"), scree_scene_vector(region, "lower"));
  if (region && !(size.x > 0 && size.y > 0 && (scene->dimension == 2 || size.z > 0)))
    return scree_scene_refuse(scene, region, log, "analysis.region: expected lower < upper");
  return SCREE_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Bodies of a start come with impulses, for which all of them are needed. */
static void choose_part(scree_Scene *scene, const scree_Ranks *ranks) {
  if (scree_ranks_size(ranks) > 1 && !scree_node_find(scene->tree.root, "start") &&
      !scree_scene_cannot_divide(scene))
    scene->part.ranks = ranks;
  scene->part.whole = scree_scene_keeps_all(scene);
}

static scree_Status read_scene(scree_Scene *scene, const char *text, size_t length,
                               const char *const *overrides, const scree_Ranks *ranks,
                               const scree_Log *log) {
  scree_Tree given;
  scree_Status status = scree_tree_parse(&given, text, length, scene->name, log);
  if (status != SCREE_OK) return status;
  status = scree_scene_include(&given, scene->name, log);
  for (int k = 0; overrides && overrides[k] && status == SCREE_OK; ++k) {
    const char *equals = strchr(overrides[k], '=');
    char path[256];
    if (!equals || equals == overrides[k] || (size_t)(equals - overrides[k]) >= sizeof path) {
      status = scree_fail(log, SCREE_BAD_INPUT, "--set: found \"%.80s\", expected PATH=VALUE",
                          overrides[k]);
      break;
    }
    snprintf(path, sizeof path, "%.*s", (int)(equals - overrides[k]), overrides[k]);
    status = scree_tree_override(&given, path, equals + 1, log);
  }
  if (status == SCREE_OK)
    status = scree_scene_normalise(given.root, scene->name, &scene->tree, log);
  scree_tree_fini(&given);
  if (status != SCREE_OK) return status;
  scene->dimension = (int)scree_node_number(scene->tree.root, "dimension");
  scene->seed = (uint64_t)scree_node_number(scene->tree.root, "seed");
  status = scree_scene_resolve_start(scene, log);
  if (status == SCREE_OK) status = check_pairs(scene, log);
  if (status == SCREE_OK) choose_part(scene, ranks);
  if (scene->part.counts && !scene->part.ranks) return status; /* there is nothing to count */
  if (status == SCREE_OK) status = scree_scene_read_bodies(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_plates(scene, log);
  if (status == SCREE_OK) status = scree_scene_generate(scene, log);
  if (scene->part.ranks) status = scree_ranks_agree(scene->part.ranks, status, log);
  if (scene->part.ranks && scene->part.counts)
    return status; /* only the places of bodies were asked for */
  if (status == SCREE_OK) status = scree_scene_check_names(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_forces(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_joints(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_bonds(scene, log);
  if (status == SCREE_OK) status = scree_scene_load_plates(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_cell(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_sensors(scene, log);
  if (status == SCREE_OK) status = scree_scene_resolve_time(scene, log);
  if (status == SCREE_OK) scree_scene_perturb(scene);
  if (status == SCREE_OK) status = read_stop(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_removals(scene, log);
  if (status == SCREE_OK) status = read_solver(scene, log);
  if (status != SCREE_OK) return status;
  scene->text = scree_tree_write(scene->tree.root);
  return scene->text ? SCREE_OK : scree_fail_memory(log, scene->name);
}

/* The ranks that share a scene: `counts`, `cut` as in scree_ScenePart. */
typedef struct Sharing {
  const scree_Ranks *ranks;
  bool counts;
  scree_Cut *cut; /* the scene takes it over */
} Sharing;

static scree_Status parse(const char *text, size_t length, const char *name,
                          const char *const *overrides, const Sharing *sharing,
                          const scree_Log *log, scree_Scene **scene) {
  *scene = NULL;
  scree_Scene *made = SCREE_ALLOC(scree_Scene, 1);
  if (!made) return scree_fail_memory(log, name);
  made->name = SCREE_ALLOC(char, strlen(name) + 1);
  scree_Status status = made->name ? SCREE_OK : scree_fail_memory(log, name);
  if (status == SCREE_OK) {
    memcpy(made->name, name, strlen(name) + 1);
    made->part.counts = sharing->counts;
    made->part.cut = sharing->cut;
    status = read_scene(made, text, length, overrides, sharing->ranks, log);
  }
  if (status == SCREE_OK)
    *scene = made;
  else
    scree_scene_destroy(made);
  return status;
}

scree_Status scree_scene_parse(const char *text, size_t length, const char *name,
                               const char *const *overrides, const scree_Log *log,
                               scree_Scene **scene) {
  const Sharing alone = {NULL, false, NULL};
  return parse(text, length, name, overrides, &alone, log, scene);
}

/* Twice, if ranks can share it. What is wrong is reported the second time. */
static scree_Status parse_part(const char *text, size_t length, const char *name,
                               const char *const *overrides, const scree_Ranks *ranks,
                               bool restored, const scree_Log *log, scree_Scene **scene) {
  Sharing sharing = {ranks, true, NULL};
  if (scree_ranks_size(ranks) > 1 && !restored) {
    scree_Scene *counted = NULL;
    const scree_Status status = parse(text, length, name, overrides, &sharing, NULL, &counted);
    if (status == SCREE_OK && counted && counted->part.ranks)
      (void)scree_scene_cut(counted, &sharing.cut, NULL);
    scree_scene_destroy(counted);
  }
  sharing.counts = false;
  return parse(text, length, name, overrides, &sharing, log, scene);
}

scree_Status scree_scene_read(const char *path, const char *const *overrides, const scree_Log *log,
                              scree_Scene **scene) {
  return scree_scene_read_part(path, overrides, NULL, false, log, scene);
}

scree_Status scree_scene_read_part(const char *path, const char *const *overrides,
                                   const scree_Ranks *ranks, bool restored, const scree_Log *log,
                                   scree_Scene **scene) {
  *scene = NULL;
  FILE *file = fopen(path, "rb");
  struct stat status;
  if (!file)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s, expected a scene file", path,
                      strerror(errno));
  const bool known = fstat(fileno(file), &status) == 0;
  if (!known || S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size > FILE_MAX)) {
    fclose(file);
    return scree_fail(log, SCREE_BAD_INPUT, "%s: found %s, expected a scene file", path,
                      known && S_ISDIR(status.st_mode) ? "a folder" : "too large a file");
  }
  void *text = NULL;
  size_t capacity = 0, length = 0, got = 0;
  bool good = true;
  do { /* also from a pipe, whose size is not known */
    good = scree_grow(&text, &capacity, length + 65536, 1);
    got = good ? fread((char *)text + length, 1, 65536, file) : 0;
    length += got;
  } while (got > 0 && length <= FILE_MAX);
  const int error = ferror(file) ? errno : 0;
  fclose(file);
  scree_Status outcome = SCREE_OK;
  if (!good) outcome = scree_fail_memory(log, path);
  if (error)
    outcome = scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s, expected a scene file",
                         path, strerror(error));
  if (outcome == SCREE_OK)
    outcome = parse_part(text, length, path, overrides, ranks, restored, log, scene);
  scree_free(text);
  return outcome;
}

static void free_bodies(scree_Scene *scene, size_t first) {
  for (size_t k = first; k < scene->kept; ++k) {
    scree_shape_fini(&scene->bodies[k].shape);
    scree_scene_signal_free(scene->bodies[k].driver);
    scree_scene_state_free(scene->bodies[k].state);
  }
}

void scree_scene_release_bodies(scree_Scene *scene) {
  const size_t first = (size_t)scene->obstacle_count;
  const bool part = scene->part.ranks != NULL; /* which has the names already */
  bool named = false;
  if (scene->released) return;
  for (size_t k = first; k < scene->kept && !part; ++k) {
    if (scene->bodies[k].def.kind != SCREE_BODY_RIGID) return; /* worlds look at these again */
    named = named || scene->bodies[k].name;
  }
  const char **names = named ? SCREE_ALLOC(const char *, scene->body_count) : NULL;
  scree_SceneBody *obstacles = SCREE_ALLOC(scree_SceneBody, first);
  if ((named && !names) || !obstacles) { /* out of memory: the list stays as it is */
    scree_free((void *)names);
    scree_free(obstacles);
    return;
  }
  for (size_t k = 0; names && k < scene->body_count; ++k) names[k] = scene->bodies[k].name;
  if (first) memcpy(obstacles, scene->bodies, first * sizeof *obstacles);
  free_bodies(scene, first);
  scree_free(scene->bodies);
  scene->bodies = obstacles;
  scene->kept = scene->body_capacity = first;
  if (!part) {
    scene->kept_names = names;
    scene->kept_name_count = names ? scene->body_count : 0;
  }
  scree_scene_part_fini(scene);
  scene->released = true;
}

void scree_scene_destroy(scree_Scene *scene) {
  if (!scene) return;
  free_bodies(scene, 0);
  scree_scene_part_fini(scene);
  scree_free((void *)scene->kept_names);
  for (int k = 0; k < scene->pour_count; ++k) {
    scree_shape_fini(&scene->pours[k].grain.shape);
    scree_free(scene->pours[k].names);
  }
  if (scene->poured) {
    scree_free(scene->poured->place);
    scree_free(scene->poured->number);
    scree_free(scene->poured);
  }
  for (int k = 0; k < scene->force_count; ++k) scree_scene_signal_free(scene->forces[k].signal);
  for (int k = 0; k < scene->joint_count; ++k) scree_scene_signal_free(scene->joints[k].signal);
  for (int k = 0; k < 2; ++k) scree_scene_signal_free(scene->cell.rows[k]);
  scree_free(scene->bodies);
  scree_free(scene->start.contacts);
  scree_free(scene->start.memory);
  for (int k = 0; k < scene->region_mesh_count; ++k) scree_trimesh_destroy(scene->region_mesh[k]);
  scree_free(scene->region_mesh);
  scree_free(scene->pours);
  scree_free(scene->forces);
  scree_free(scene->driven);
  scree_free(scene->joints);
  scree_free(scene->sensors);
  scree_free(scene->removals);
  scree_free(scene->solver_options);
  scree_free(scene->text);
  scree_free(scene->name);
  scree_tree_fini(&scene->tree);
  scree_free(scene);
}

const char *scree_scene_text(const scree_Scene *scene) {
  return scene->text;
}

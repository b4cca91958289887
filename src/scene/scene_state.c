/* Initial states of deformable bodies (see scene_state.h). */
#include "scene/scene_state.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/csv.h"

#include <math.h>
#include <string.h>

scree_SceneState *scree_scene_state_create(int count, bool nodes) {
  scree_SceneState *state = SCREE_ALLOC(scree_SceneState, 1);
  if (!state) return NULL;
  state->count = count;
  state->q = SCREE_ALLOC(double, count);
  state->v = SCREE_ALLOC(double, count);
  if (nodes) state->holder = SCREE_ALLOC(int, count / 3);
  if (state->q && state->v && (state->holder || !nodes)) {
    for (int k = 0; nodes && k < count / 3; ++k) state->holder[k] = -1;
    return state;
  }
  scree_scene_state_free(state);
  return NULL;
}

void scree_scene_state_free(scree_SceneState *state) {
  if (!state) return;
  scree_free(state->q);
  scree_free(state->v);
  scree_free(state->holder);
  scree_free(state->anchor);
  scree_free(state);
}

static void put(double *x, int d, int at, scree_Vec3 v) {
  for (int i = 0; i < d; ++i) x[d * at + i] = scree_component(v, i);
}

scree_SceneState *scree_scene_state_affine(const scree_Scene *scene, const scree_SceneBody *body,
                                           scree_Vec3 velocity, const scree_Vec3 *F,
                                           const scree_Vec3 *rate) {
  const int d = scene->dimension;
  scree_SceneState *state = scree_scene_state_create(d * (d + 1), false);
  if (!state) return NULL;
  put(state->q, d, 0, body->def.pose.position);
  put(state->v, d, 0, velocity);
  /* from the axes of the shape as it is typed to its principal axes */
  const scree_Mat3 R = scree_quat_matrix(scree_shape_frame(&body->shape).orientation);
  const scree_Mat3 A = {F[0], F[1], F[2]}, B = {rate[0], rate[1], rate[2]};
  for (int j = 0; j < d; ++j) {
    const scree_Vec3 axis = scree_column(&R, j);
    put(state->q, d, 1 + j, scree_mat3_mul(&A, axis));
    put(state->v, d, 1 + j, scree_mat3_mul(&B, axis));
  }
  return state;
}

/* ---- keys of bodies -------------------------------------------------------------------------- */

static scree_Status read_deformation(scree_Scene *scene, const scree_Node *map,
                                     const scree_Log *log, scree_SceneBody *body) {
  static const char *const keys[] = {"x", "y", "z"};
  static const char *const rates[] = {"x_rate", "y_rate", "z_rate"};
  const scree_Node *node = scree_node_find(map, "deformation");
  const scree_Quat q = body->def.pose.orientation;
  if (body->def.kind != SCREE_BODY_PSEUDO_RIGID)
    return scree_scene_refuse(scene, node, log,
                              "deformation: a body of kind %s, expected pseudo-rigid",
                              scree_body_kind_name(body->def.kind));
  const scree_Pose frame = scree_shape_frame(&body->shape);
  const scree_Quat typed = scree_quat_mul(q, scree_quat_conj(frame.orientation));
  if (typed.x != 0 || typed.y != 0 || fabs(typed.z) > 1e-12)
    return scree_scene_refuse(scene, node, log,
                              "deformation: found a rotation with it, expected that the vectors of "
                              "the deformation are turned");
  const scree_Vec3 w = body->def.velocity.angular;
  scree_Vec3 F[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, rate[3] = {{0, 0, 0}};
  for (int j = 0; j < scene->dimension; ++j) {
    F[j] = scree_scene_vector(node, keys[j]);
    rate[j] =
        scree_node_find(node, rates[j]) ? scree_scene_vector(node, rates[j]) : scree_cross(w, F[j]);
  }
  const scree_Mat3 A = {F[0], F[1], F[2]};
  if (!(scree_dot(F[0], scree_cross(F[1], F[2])) > 0))
    return scree_scene_refuse(scene, node, log,
                              "deformation: expected vectors with a determinant above 0: the body "
                              "would be flat or inside out");
  /* the centre of mass is where the deformation takes the centroid of the typed shape */
  const scree_Vec3 place = scree_scene_vector(map, "position");
  body->def.pose.position = scree_add(place, scree_mat3_mul(&A, frame.position));
  body->state = scree_scene_state_affine(scene, body, body->def.velocity.linear, F, rate);
  return body->state ? SCREE_OK : scree_fail_memory(log, scene->name);
}

static int find_obstacle(const scree_Scene *scene, const char *name) {
  for (int k = 0; k < scene->obstacle_count; ++k)
    if (scene->bodies[k].name && strcmp(scene->bodies[k].name, name) == 0) return k;
  return -1;
}

/* Row k of the table: place, velocity, what holds the node. */
static scree_Status read_node(const scree_Scene *scene, const scree_Csv *csv, int k,
                              const scree_Log *log, scree_SceneState *state) {
  static const char *const columns[] = {"x", "y", "z", "vx", "vy", "vz"};
  for (int c = 0; c < 6; ++c) {
    double *to = (c < 3 ? state->q : state->v) + 3 * k + c % 3;
    const int column = scree_csv_column(csv, columns[c]);
    if (column < 0 && c >= 3) continue; /* at rest */
    const scree_Status status = scree_csv_number(csv, k, column, log, to);
    if (status) return status;
  }
  const int held = scree_csv_column(csv, "held"), by = scree_csv_column(csv, "by");
  const char *name = by >= 0 ? scree_csv_text(csv, k, by) : "";
  double is_held = 0;
  if (held >= 0) {
    const scree_Status status = scree_csv_number(csv, k, held, log, &is_held);
    if (status) return status;
  }
  if (is_held != 0) state->holder[k] = -2;
  if (!*name) return SCREE_OK;
  state->holder[k] = find_obstacle(scene, name);
  if (state->holder[k] >= 0) return SCREE_OK;
  return scree_fail(log, SCREE_BAD_INPUT,
                    "%s:%d: by: found \"%.60s\", expected the name of an obstacle", csv->path,
                    csv->lines[k], name);
}

static scree_Status read_table(scree_Scene *scene, scree_Node *map, const scree_Log *log,
                               scree_SceneBody *body) {
  scree_Node *node = scree_node_find(map, "state");
  if (body->def.kind != SCREE_BODY_ELEMENTS)
    return scree_scene_refuse(scene, node, log, "state: a body of kind %s, expected elements",
                              scree_body_kind_name(body->def.kind));
  const char *path = scree_scene_path(scene, node, log);
  if (!path) return SCREE_BAD_INPUT;
  node->text = path;
  const int nodes = scree_element_mesh_node_count(scree_shape_elements(&body->shape));
  scree_Csv csv;
  scree_Status status = scree_csv_read(path, log, &csv);
  if (status) return status;
  if (scree_csv_column(&csv, "x") < 0 || scree_csv_column(&csv, "y") < 0 ||
      scree_csv_column(&csv, "z") < 0)
    status = scree_fail(log, SCREE_BAD_INPUT, "%s: expected columns x, y, z", path);
  else if (csv.rows != nodes)
    status = scree_fail(log, SCREE_BAD_INPUT,
                        "%s: found %d rows, expected %d: one for each node of the mesh, in its "
                        "order",
                        path, csv.rows, nodes);
  if (!status && !(body->state = scree_scene_state_create(3 * nodes, true)))
    status = scree_fail_memory(log, scene->name);
  for (int k = 0; k < nodes && !status; ++k) status = read_node(scene, &csv, k, log, body->state);
  scree_csv_fini(&csv);
  return status;
}

scree_Status scree_scene_read_state(scree_Scene *scene, scree_Node *map, const scree_Log *log,
                                    scree_SceneBody *body) {
  if (scree_node_find(map, "deformation")) return read_deformation(scene, map, log, body);
  return scree_node_find(map, "state") ? read_table(scene, map, log, body) : SCREE_OK;
}

scree_Vec3 scree_scene_node_place(const scree_SceneBody *body, int k) {
  if (body->state)
    return scree_vec3(body->state->q[3 * k], body->state->q[3 * k + 1], body->state->q[3 * k + 2]);
  return scree_pose_apply(&body->def.pose,
                          scree_element_mesh_nodes(scree_shape_elements(&body->shape))[k]);
}

/* ---- building -------------------------------------------------------------------------------- */

bool scree_scene_state_holds(void *user, scree_Vec3 place) {
  scree_SceneState *state = user;
  (void)place; /* nodes are asked for in their order */
  return state->holder[state->next++] == -2;
}

typedef struct Asked {
  const scree_SceneState *state;
  int obstacle, next;
} Asked;

static bool is_moved(void *user, scree_Vec3 place) {
  Asked *asked = user;
  (void)place;
  return asked->state->holder[asked->next++] == asked->obstacle;
}

static scree_Status drive(const scree_Scene *scene, scree_World *world, size_t b) {
  const scree_SceneState *state = scene->bodies[b].state;
  const int body = scree_scene_kept_number(scene, b);
  scree_Status status = SCREE_OK;
  for (int o = 0; o < scene->obstacle_count && status == SCREE_OK; ++o) {
    bool any = false;
    for (int k = 0; k < state->count / 3 && !any; ++k) any = state->holder[k] == o;
    Asked asked = {state, o, 0};
    const scree_DrivenDef def = {body, o, is_moved, &asked};
    if (any) status = scree_world_drive_nodes(world, &def);
  }
  return status;
}

static scree_Status set(scree_World *world, int body, const scree_SceneState *state) {
  return scree_body_set_coordinates(world, body, state->q, state->v, state->account);
}

/* The number on this rank of the kept body b, or -1. */
static int find_body(const scree_Scene *scene, const scree_World *world, size_t b) {
  return scree_body_find(world, scree_scene_kept_number(scene, b));
}

scree_Status scree_scene_build_states(const scree_Scene *scene, scree_World *world) {
  scree_Status status = SCREE_OK;
  for (size_t b = 0; b < scene->kept && status == SCREE_OK; ++b) {
    const scree_SceneState *state = scene->bodies[b].state;
    const int body = state ? find_body(scene, world, b) : -1;
    if (body < 0) continue; /* of another rank */
    status = scree_body_set_coordinates(world, body, state->anchor ? state->anchor : state->q,
                                        state->v, state->account);
    if (status == SCREE_OK && state->holder) status = drive(scene, world, b);
    if (status == SCREE_OK) status = set(world, body, state);
  }
  return status;
}

scree_Status scree_scene_end_states(const scree_Scene *scene, scree_World *world) {
  scree_Status status = SCREE_OK;
  for (size_t b = 0; b < scene->kept && status == SCREE_OK; ++b) {
    const int body = scene->bodies[b].state ? find_body(scene, world, b) : -1;
    if (body >= 0) status = set(world, body, scene->bodies[b].state);
  }
  return status;
}

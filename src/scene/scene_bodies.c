/* Bodies, obstacles and forces of a scene. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/scene.h"
#include "scene/scene_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

scree_Status scree_scene_read_rotation(const scree_Scene *scene, const scree_Node *map,
                                       const scree_Log *log, scree_Quat *q) {
  const scree_Node *node = scree_node_find(map, "rotation");
  const double angle = scree_node_number(map, "angle");
  *q = scree_quat_identity();
  if (scene->dimension == 2) {
    if (angle != 0) *q = scree_quat_axis_angle(scree_vec3(0, 0, 1), angle);
    return SCREE_OK;
  }
  if (!node) return SCREE_OK;
  const bool axis = scree_node_find(node, "axis") || scree_node_find(node, "angle");
  const scree_Node *quaternion = scree_node_find(node, "quaternion");
  const scree_Node *euler = scree_node_find(node, "euler");
  if (axis + (quaternion != NULL) + (euler != NULL) != 1)
    return scree_scene_refuse(scene, node, log,
                              "rotation: expected axis and angle, or quaternion, or euler");
  if (axis) {
    const scree_Vec3 a = scree_scene_vector(node, "axis");
    if (!(scree_norm(a) > 0))
      return scree_scene_refuse(scene, node, log, "rotation: expected an axis other than zero");
    *q = scree_quat_axis_angle(scree_unit_or(a, a), scree_node_number(node, "angle"));
  } else if (quaternion) {
    *q = (scree_Quat){quaternion->entries[0].value->number, quaternion->entries[1].value->number,
                      quaternion->entries[2].value->number, quaternion->entries[3].value->number};
    if (!(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z > 0))
      return scree_scene_refuse(scene, node, log, "rotation: expected a quaternion other than 0");
    *q = scree_quat_normalize(*q);
  } else {
    const scree_Vec3 e = scree_scene_vector(node, "euler");
    const scree_Quat x = scree_quat_axis_angle(scree_vec3(1, 0, 0), e.x);
    const scree_Quat y = scree_quat_axis_angle(scree_vec3(0, 1, 0), e.y);
    const scree_Quat z = scree_quat_axis_angle(scree_vec3(0, 0, 1), e.z);
    *q = scree_quat_mul(z, scree_quat_mul(y, x));
  }
  return SCREE_OK;
}

/* The rotation that takes the axis `from` (x, y or z) to `to`; about z in 2D. */
static scree_Quat rotation_to(int dimension, scree_Vec3 from, scree_Vec3 to) {
  if (dimension == 3) return scree_quat_from_to(from, scree_unit_or(to, from));
  const double angle = atan2(from.x * to.y - from.y * to.x, from.x * to.x + from.y * to.y);
  return angle == 0 ? scree_quat_identity() : scree_quat_axis_angle(scree_vec3(0, 0, 1), angle);
}

/* `from` and `to` of a segment, capsule or cylinder; `normal` of a half-plane, half-space or
 * rectangle. */
static scree_Status read_ends(const scree_Scene *scene, const scree_Node *map, const scree_Log *log,
                              scree_SceneBody *body) {
  const bool from = scree_node_find(map, "from"), to = scree_node_find(map, "to");
  const scree_ShapeKind kind = body->shape.kind;
  if (from != to) return scree_scene_refuse(scene, map, log, "from and to must be given together");
  if (from) {
    const scree_Vec3 a = scree_scene_vector(map, "from"), b = scree_scene_vector(map, "to");
    const scree_Vec3 d = scree_sub(b, a);
    if (kind != SCREE_SHAPE_SEGMENT && kind != SCREE_SHAPE_CAPSULE && kind != SCREE_SHAPE_CYLINDER)
      return scree_scene_refuse(scene, map, log,
                                "from and to: found a %s, expected a segment, capsule or cylinder",
                                scree_shape_type(kind)->name);
    if (!(scree_norm(d) > 0))
      return scree_scene_refuse(scene, map, log, "from and to are the same point");
    body->def.pose.position = scree_scale(0.5, scree_add(a, b));
    body->def.pose.orientation =
        rotation_to(scene->dimension,
                    kind == SCREE_SHAPE_SEGMENT ? scree_vec3(1, 0, 0) : scree_vec3(0, 0, 1), d);
  }
  if (scree_node_find(map, "normal")) {
    const scree_Vec3 n = scree_scene_vector(map, "normal");
    if (kind != SCREE_SHAPE_HALF_PLANE && kind != SCREE_SHAPE_HALF_SPACE &&
        kind != SCREE_SHAPE_RECTANGLE)
      return scree_scene_refuse(
          scene, map, log, "normal: found a %s, expected a half-plane, half-space or rectangle",
          scree_shape_type(kind)->name);
    if (!(scree_norm(n) > 0))
      return scree_scene_refuse(scene, map, log, "normal: expected a vector other than zero");
    body->def.pose.orientation =
        rotation_to(scene->dimension,
                    kind == SCREE_SHAPE_HALF_PLANE ? scree_vec3(0, 1, 0) : scree_vec3(0, 0, 1), n);
  }
  return SCREE_OK;
}

/* The shape of a body, with half_length put in from the two ends. */
static scree_Status read_shape(scree_Scene *scene, const scree_Node *map, const scree_Log *log,
                               scree_Shape *shape) {
  scree_Node *node = scree_node_find(map, "shape");
  if (scree_node_find(map, "from") && scree_node_find(map, "to") &&
      scree_node_find(node, "half_length")) {
    const scree_Vec3 d = scree_sub(scree_scene_vector(map, "to"), scree_scene_vector(map, "from"));
    if (scree_norm(d) > 0 &&
        !scree_scene_set_number(scene, node, "half_length", 0.5 * scree_norm(d)))
      return scree_fail_memory(log, scene->name);
  }
  return scree_scene_shape(scene, node, 1.0, log, shape);
}

static scree_Status check_matter(const scree_Scene *scene, const scree_Node *map,
                                 const scree_Log *log, const scree_SceneBody *body) {
  const scree_ShapeType *type = scree_shape_type(body->shape.kind);
  if (!type->bounded)
    return scree_scene_refuse(scene, map, log, "a %s has no volume: it can only be an obstacle",
                              type->name);
  if (!(body->shape.volume > 0) && !(body->def.mass > 0))
    return scree_scene_refuse(scene, map, log, "a %s without area needs a mass", type->name);
  return SCREE_OK;
}

/* Number of nodes of a body in a region, and of the faces of its surface that lie in it. */
static int count_nodes(const scree_SceneBody *body, const scree_Region *region, int *faces) {
  const scree_ElementMesh *mesh = scree_shape_elements(&body->shape);
  const double within = -1e-9 * body->shape.size;
  int found = 0;
  for (int k = 0; k < scree_element_mesh_node_count(mesh); ++k)
    found += scree_region_holds(region, scree_scene_node_place(body, k), within);
  *faces = 0;
  for (int f = 0; f < scree_element_mesh_face_count(mesh); ++f) {
    int corners;
    const int *corner = scree_element_mesh_face(mesh, f, &corners);
    bool whole = true;
    for (int a = 0; a < corners; ++a)
      whole = whole && scree_region_holds(region, scree_scene_node_place(body, corner[a]), within);
    *faces += whole;
  }
  return found;
}

/* Where nodes are held; at least one must be there. */
static scree_Status read_held(const scree_Scene *scene, const scree_Node *map, const scree_Log *log,
                              scree_SceneBody *body) {
  const scree_Node *node = scree_node_find(map, "held");
  if (!node) return SCREE_OK;
  if (body->def.kind != SCREE_BODY_ELEMENTS)
    return scree_scene_refuse(scene, node, log, "held: a body of kind %s, expected elements",
                              scree_body_kind_name(body->def.kind));
  const scree_Status status = scree_region_read(scene, node, log, &body->held);
  if (status) return status;
  int faces;
  const int nodes = scree_element_mesh_node_count(scree_shape_elements(&body->shape));
  for (int k = 0; body->state && k < nodes; ++k) /* where they are when the body is deformed */
    if (scree_region_holds(&body->held, scree_scene_node_place(body, k), -1e-9 * body->shape.size))
      body->state->holder[k] = -2;
  if (count_nodes(body, &body->held, &faces) > 0) return SCREE_OK;
  return scree_scene_refuse(scene, node, log, "held: none of the %d nodes is in the region",
                            scree_element_mesh_node_count(scree_shape_elements(&body->shape)));
}

static int find_obstacle(const scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  const char *words[256] = {NULL};
  int count = 0;
  for (int k = 0; k < scene->obstacle_count; ++k) {
    const char *name = scene->bodies[k].name;
    if (!name) continue;
    if (strcmp(name, node->text) == 0) return k;
    if (count < 255) words[count++] = name;
  }
  return scree_scene_refuse_name(scene, node, log, "obstacle", words);
}

/* Groups of nodes of the body that is read next to move with obstacles. */
static scree_Status read_driven(scree_Scene *scene, const scree_Node *map, const scree_Log *log,
                                const scree_SceneBody *body) {
  const scree_Node *list = scree_node_find(map, "driven");
  if (!list || list->count == 0) return SCREE_OK;
  if (body->def.kind != SCREE_BODY_ELEMENTS)
    return scree_scene_refuse(scene, list, log, "driven: a body of kind %s, expected elements",
                              scree_body_kind_name(body->def.kind));
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *group = list->entries[k].value, *by = scree_node_find(group, "by");
    if (!scree_grow((void **)&scene->driven, &scene->driven_capacity,
                    (size_t)scene->driven_count + 1, sizeof *scene->driven))
      return scree_fail_memory(log, scene->name);
    scree_SceneDriven *driven = &scene->driven[scene->driven_count++];
    *driven = (scree_SceneDriven){.body = (int)scene->body_count, .size = body->shape.size};
    driven->obstacle = find_obstacle(scene, by, log);
    if (driven->obstacle < 0) return SCREE_BAD_INPUT;
    if (scene->bodies[driven->obstacle].def.belt)
      return scree_scene_refuse(scene, by, log,
                                "by: %.60s is a belt, which stays where it is; expected an "
                                "obstacle that moves",
                                by->text);
    const scree_Node *node = scree_node_find(group, "nodes");
    const scree_Status status = scree_region_read(scene, node, log, &driven->nodes);
    if (status) return status;
    int faces;
    if (count_nodes(body, &driven->nodes, &faces) == 0)
      return scree_scene_refuse(scene, node, log, "nodes: none of the %d nodes is in the region",
                                scree_element_mesh_node_count(scree_shape_elements(&body->shape)));
  }
  return SCREE_OK;
}

static scree_Status read_body(scree_Scene *scene, scree_Node *map, bool obstacle,
                              const scree_Log *log) {
  scree_SceneBody body = {.def = scree_body_def()};
  scree_Status status = read_shape(scene, map, log, &body.shape);
  if (status != SCREE_OK) return status;
  scree_BodyDef *def = &body.def;
  def->obstacle = obstacle;
  def->pose.position = scree_scene_vector(map, "position");
  status = scree_scene_matter(scene, map, log, def);
  if (status == SCREE_OK)
    status = scree_scene_read_rotation(scene, map, log, &def->pose.orientation);
  if (status == SCREE_OK) status = read_ends(scene, map, log, &body);
  /* vertices and parts are where they are typed: the frame of the body moves, not the shape */
  const scree_Pose frame = scree_shape_frame(&body.shape);
  def->pose.position = scree_pose_apply(&def->pose, frame.position);
  if (frame.orientation.w != 1)
    def->pose.orientation =
        scree_quat_normalize(scree_quat_mul(def->pose.orientation, frame.orientation));
  if (scree_node_find(map, "name")) body.name = scree_node_text(map, "name");
  if (obstacle && status == SCREE_OK) {
    def->belt = scree_node_true(map, "belt");
    body.driver =
        scree_scene_read_signal(scene, "obstacles", (int)scene->body_count, map, "velocity",
                                "angular_velocity"); /* obstacles are read first */
    if (!body.driver) status = scree_fail_memory(log, scene->name);
  } else if (status == SCREE_OK) {
    def->velocity = (scree_Twist){scree_scene_vector(map, "velocity"),
                                  scree_scene_vector(map, "angular_velocity")};
    def->mass = scree_node_number(map, "mass");
    def->inertia = scree_scene_vector(map, "inertia");
    status = check_matter(scene, map, log, &body);
    if (status == SCREE_OK) status = scree_scene_read_state(scene, map, log, &body);
    if (status == SCREE_OK) status = read_held(scene, map, log, &body);
    if (status == SCREE_OK) status = read_driven(scene, map, log, &body);
  }
  if (status != SCREE_OK) {
    scree_scene_signal_free(body.driver);
    scree_scene_state_free(body.state);
    scree_shape_fini(&body.shape);
    return status;
  }
  return scree_scene_add(scene, &body, log);
}

scree_Status scree_scene_read_bodies(scree_Scene *scene, const scree_Log *log) {
  static const char *const keys[] = {"obstacles", "bodies"};
  for (int pass = 0; pass < 2; ++pass) {
    const scree_Node *list = scree_node_find(scene->tree.root, keys[pass]);
    for (int k = 0; k < list->count; ++k) {
      scree_Status status = read_body(scene, list->entries[k].value, pass == 0, log);
      if (status != SCREE_OK) return status;
    }
    if (pass == 0) {
      scene->obstacle_count = list->count;
      scree_Status status = scree_scene_read_start(scene, log);
      if (status != SCREE_OK) return status;
    }
  }
  return SCREE_OK;
}

/* Index of a body by name, or -1 with a message. */
int scree_scene_find_moving(const scree_Scene *scene, const scree_Node *node,
                            const scree_Log *log) {
  const char *words[256] = {NULL};
  int count = 0;
  const int64_t all = scree_scene_names(scene);
  for (int64_t k = scene->obstacle_count; k < all; ++k) {
    const char *name = scree_scene_listed_name(scene, k);
    if (!name) continue;
    if (strcmp(name, node->text) == 0) return scree_scene_handle(scene, k);
    if (count < 255) words[count++] = name;
  }
  return scree_scene_refuse_name(scene, node, log, "body", words);
}

/* The nodes on which a force or a pressure acts. */
static scree_Status read_nodes(const scree_Scene *scene, const scree_Node *map,
                               const scree_Log *log, scree_SceneForce *force) {
  const scree_Node *node = scree_node_find(map, "nodes");
  const scree_Node *pressure = scree_node_find(map, "pressure");
  if (!node && pressure)
    return scree_scene_refuse(
        scene, pressure, log,
        "a pressure acts on faces of finite elements: expected nodes with it");
  if (!node) return SCREE_OK;
  if (scree_node_find(map, "torque") || scree_node_find(map, "acceleration"))
    return scree_scene_refuse(
        scene, node, log, "nodes: found a torque or an acceleration, expected force or pressure");
  const int place = force->def.body >= 0 ? scree_scene_place(scene, force->def.body) : -1;
  const scree_SceneBody *body = place >= 0 ? &scene->bodies[place] : NULL;
  if (!body || body->def.kind != SCREE_BODY_ELEMENTS)
    return scree_scene_refuse(scene, node, log,
                              "nodes: expected the name of one body of kind elements, which is "
                              "there at the start, under body");
  const scree_Status status = scree_region_read(scene, node, log, &force->nodes);
  if (status) return status;
  int faces;
  const int count = count_nodes(body, &force->nodes, &faces);
  force->size = body->shape.size;
  force->def.pressure = pressure != NULL;
  if (count == 0 || (pressure && faces == 0))
    return scree_scene_refuse(
        scene, node, log, "nodes: found %d nodes and %d faces of %s, expected %s", count, faces,
        body->name ? body->name : "the body", pressure ? "at least one face" : "at least one node");
  return SCREE_OK;
}

scree_Status scree_scene_read_forces(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "forces");
  /* a plate may have two */
  const int plates = scree_node_find(scene->tree.root, "plates")->count;
  scene->forces = SCREE_ALLOC(scree_SceneForce, list->count + 2 * plates);
  if (!scene->forces) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *map = list->entries[k].value;
    const scree_Node *force = scree_node_find(map, "force"),
                     *torque = scree_node_find(map, "torque");
    const scree_Node *acceleration = scree_node_find(map, "acceleration");
    scree_SceneForce *out = &scene->forces[k];
    const bool pressure = scree_node_find(map, "pressure") != NULL;
    if ((force || torque) + (acceleration != NULL) + pressure != 1)
      return scree_scene_refuse(scene, map, log,
                                "expected force and torque, or acceleration, or pressure");
    out->def = (scree_ForceDef){.body = -1, .per_mass = acceleration != NULL};
    const scree_Node *body = scree_node_find(map, "body");
    if (scree_name_is_pattern(body->text)) {
      out->pattern = body->text;
      if (scree_scene_check_pattern(scene, body, log) != SCREE_OK) return SCREE_BAD_INPUT;
    } else if (!scree_node_is(map, "body", "all")) {
      out->def.body = scree_scene_find_moving(scene, scree_node_find(map, "body"), log);
      if (out->def.body < 0) return SCREE_BAD_INPUT;
      if (out->def.body >= (int)scene->body_count) { /* poured: it acts when the body comes */
        out->pattern = body->text;
        out->def.body = -1;
      }
    }
    if (read_nodes(scene, map, log, out) != SCREE_OK) return SCREE_BAD_INPUT;
    out->signal = scree_scene_read_signal(scene, "forces", k, map,
                                          acceleration ? "acceleration"
                                          : pressure   ? "pressure"
                                                       : "force",
                                          "torque");
    if (!out->signal) return scree_fail_memory(log, scene->name);
    ++scene->force_count;
  }
  return SCREE_OK;
}

/* Scenes: from a file to the bodies, laws and forces of a world (see scree/scene.h). The schema has
 * checked every value by itself; what is checked here is how values fit together. What the file
 * leaves to `auto` is decided here and written into the tree, so that the scene as used shows it.
 */
#define _POSIX_C_SOURCE 200809L
#include "scene/scene.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
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

scree_Vec3 scree_scene_vector(const scree_Node *map, const char *key) {
  const scree_Node *node = scree_node_find(map, key);
  double x[3] = {0};
  if (node && node->kind == SCREE_NODE_SCALAR) x[2] = node->number;
  for (int k = 0; node && k < node->count && k < 3; ++k) x[k] = node->entries[k].value->number;
  return scree_vec3(x[0], x[1], x[2]);
}

/* Replace a scalar in the tree. */
static bool set_number(scree_Scene *scene, scree_Node *map, const char *key, double value) {
  scree_Node *node = scree_node_find(map, key);
  scree_Node *fresh = scree_tree_number(&scene->tree, value, 0, 0);
  if (!node || !fresh) return false;
  node->text = fresh->text;
  node->number = value;
  return true;
}

/* ---- shapes and matter ----------------------------------------------------------------------- */

static scree_Status read_rotation(const scree_Scene *scene, const scree_Node *map,
                                  const scree_Log *log, scree_Quat *orientation);

/* The parts of a clump, and the clump of them. */
static scree_Status read_parts(const scree_Scene *scene, const scree_Node *node, double scale,
                               const scree_Log *log, scree_Shape *shape) {
  const scree_Node *list = scree_node_find(node, "parts");
  scree_Part *parts = SCREE_ALLOC(scree_Part, list->count);
  if (!parts) return scree_fail_memory(log, scene->name);
  scree_Status status = SCREE_OK;
  int count = 0;
  for (; count < list->count && status == SCREE_OK; ++count) {
    const scree_Node *map = list->entries[count].value;
    scree_Part *part = &parts[count];
    status = scree_scene_shape(scene, scree_node_find(map, "shape"), scale, log, &part->shape);
    part->pose.position = scree_scale(scale, scree_scene_vector(map, "position"));
    if (status == SCREE_OK) status = read_rotation(scene, map, log, &part->pose.orientation);
    /* vertices are where they are typed */
    const scree_Pose frame = scree_shape_frame(&part->shape);
    part->pose = (scree_Pose){scree_pose_apply(&part->pose, frame.position),
                              scree_quat_mul(part->pose.orientation, frame.orientation)};
  }
  if (status == SCREE_OK) status = scree_shape_init_clump(shape, parts, count, log);
  for (int k = 0; k < count; ++k) scree_shape_fini(&parts[k].shape);
  scree_free(parts);
  return status;
}

scree_Status scree_scene_shape(const scree_Scene *scene, const scree_Node *node, double scale,
                               const scree_Log *log, scree_Shape *shape) {
  const scree_ShapeKind kind = scree_shape_kind(scree_node_text(node, "kind"), scene->dimension);
  const scree_ShapeType *type = scree_shape_type(kind);
  const scree_Node *list = scree_node_find(node, "vertices");
  const int count = list ? list->count : 0;
  double parameters[8] = {0};
  if (type->takes_parts) {
    const scree_Status status = read_parts(scene, node, scale, log, shape);
    if (status == SCREE_BAD_INPUT) scree_scene_refuse(scene, node, log, "this shape is refused");
    return status;
  }
  for (int k = 0; k < type->parameter_count && k < 8; ++k)
    parameters[k] = scale * scree_node_number(node, type->parameters[k].name);
  scree_Vec3 *vertices = SCREE_ALLOC(scree_Vec3, count);
  if (!vertices) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < count; ++k) {
    const scree_Node *point = list->entries[k].value;
    vertices[k] = scree_vec3(scale * point->entries[0].value->number,
                             scale * point->entries[1].value->number, 0);
  }
  scree_Status status = scree_shape_init(shape, kind, parameters, vertices, count, log);
  scree_free(vertices);
  if (status == SCREE_BAD_INPUT) scree_scene_refuse(scene, node, log, "this shape is refused");
  return status;
}

static scree_Status scale_parts(const scree_Shape *from, double scale, scree_Shape *shape,
                                const scree_Log *log) {
  const int n = scree_shape_part_count(from);
  scree_Part *parts = SCREE_ALLOC(scree_Part, n);
  if (!parts) return scree_fail_memory(log, "the parts of a clump");
  scree_Status status = SCREE_OK;
  int count = 0;
  for (; count < n && status == SCREE_OK; ++count) {
    const scree_Part *part = scree_shape_part(from, count);
    parts[count].pose =
        (scree_Pose){scree_scale(scale, part->pose.position), part->pose.orientation};
    status = scree_scene_scale_shape(&part->shape, scale, &parts[count].shape, log);
  }
  if (status == SCREE_OK) status = scree_shape_init_clump(shape, parts, n, log);
  for (int k = 0; k < count; ++k) scree_shape_fini(&parts[k].shape);
  scree_free(parts);
  return status;
}

scree_Status scree_scene_scale_shape(const scree_Shape *from, double scale, scree_Shape *shape,
                                     const scree_Log *log) {
  const scree_ShapeType *type = scree_shape_type(from->kind);
  double parameters[8] = {0};
  if (type->takes_parts) return scale_parts(from, scale, shape, log);
  for (int k = 0; k < type->parameter_count && k < 8; ++k)
    parameters[k] = scale * *(const double *)((const char *)from + type->parameters[k].offset);
  scree_Vec3 *vertices = SCREE_ALLOC(scree_Vec3, from->vertex_count);
  if (!vertices) return scree_fail_memory(log, "vertices");
  for (int k = 0; k < from->vertex_count; ++k) vertices[k] = scree_scale(scale, from->vertices[k]);
  scree_Status status =
      scree_shape_init(shape, from->kind, parameters, vertices, from->vertex_count, log);
  scree_free(vertices);
  return status;
}

/* Index of a material, or -1 with a message. */
static int find_material(const scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  const scree_Node *materials = scree_node_find(scene->tree.root, "materials");
  const char *words[64] = {NULL};
  for (int k = 0; k < materials->count; ++k) {
    if (strcmp(materials->entries[k].key, node->text) == 0) return k;
    if (k < 63) words[k] = materials->entries[k].key;
  }
  const char *near = scree_nearest_word(node->text, words);
  scree_scene_refuse(scene, node, log,
                     "unknown material \"%.60s\"%s%s%s, expected a name of "
                     "`materials`",
                     node->text, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return -1;
}

scree_Status scree_scene_matter(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_BodyDef *def) {
  const scree_Node *materials = scree_node_find(scene->tree.root, "materials");
  scree_Node *material = scree_node_find(map, "material");
  if (strcmp(material->text, "auto") == 0) material->text = materials->entries[0].key;
  def->material = find_material(scene, material, log);
  if (def->material < 0) return SCREE_BAD_INPUT;
  def->group = (uint32_t)scree_node_number(map, "group");
  def->density = scree_node_find(map, "density")
                     ? scree_node_number(map, "density")
                     : scree_node_number(materials->entries[def->material].value, "density");
  return SCREE_OK;
}

scree_Status scree_scene_add(scree_Scene *scene, scree_SceneBody *body, const scree_Log *log) {
  void *array = scene->bodies;
  if (!scree_grow(&array, &scene->body_capacity, scene->body_count + 1, sizeof *scene->bodies)) {
    scree_shape_fini(&body->shape);
    return scree_fail_memory(log, "the bodies of the scene");
  }
  scene->bodies = array;
  scene->bodies[scene->body_count++] = *body;
  return SCREE_OK;
}

/* ---- signals --------------------------------------------------------------------------------- */

scree_Twist scree_scene_signal_at(void *user, double time) {
  const scree_SceneSignal *signal = user;
  double x[6];
  for (int half = 0; half < 2; ++half) {
    const int n = signal->table[half].count;
    const double *times = signal->table[half].times, *values = signal->table[half].values;
    int k = 0;
    while (k < n && times[k] <= time) ++k; /* first entry after the time */
    for (int i = 0; i < 3; ++i) {
      double *out = &x[3 * half + i];
      const scree_Expression *expression = signal->expression[3 * half + i];
      if (n == 0)
        *out = expression ? scree_expression_value(expression, time) : signal->value[3 * half + i];
      else if (k == 0 || k == n)
        *out = values[3 * (k == 0 ? 0 : n - 1) + i];
      else
        *out = values[3 * (k - 1) + i] + (time - times[k - 1]) / (times[k] - times[k - 1]) *
                                             (values[3 * k + i] - values[3 * (k - 1) + i]);
    }
  }
  return (scree_Twist){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

static void signal_free(scree_SceneSignal *signal) {
  if (!signal) return;
  for (int k = 0; k < 6; ++k) scree_free(signal->expression[k]);
  for (int half = 0; half < 2; ++half) {
    scree_free(signal->table[half].times);
    scree_free(signal->table[half].values);
  }
  for (int k = 0; k < 6; ++k) scree_free(signal->names[k]);
  scree_free(signal);
}

/* One component; false when memory runs out. */
static bool read_component(scree_SceneSignal *signal, int k, const scree_Node *node) {
  scree_Expression expression;
  int at;
  if (scree_expression_parse(&expression, node->text, &at) || !expression.uses_time) {
    signal->value[k] = node->number;
    return true;
  }
  signal->constant = false;
  signal->expression[k] = SCREE_ALLOC(scree_Expression, 1);
  if (signal->expression[k]) *signal->expression[k] = expression;
  return signal->expression[k] != NULL;
}

static bool read_half(scree_SceneSignal *signal, int half, const scree_Node *node) {
  if (!node) return true;
  if (node->kind == SCREE_NODE_SCALAR) return read_component(signal, 3 * half + 2, node);
  if (node->kind == SCREE_NODE_LIST) {
    bool good = true;
    for (int k = 0; k < node->count && k < 3; ++k)
      good = good && read_component(signal, 3 * half + k, node->entries[k].value);
    return good;
  }
  const scree_Node *times = scree_node_find(node, "times");
  const scree_Node *values = scree_node_find(node, "values");
  const int n = times->count;
  signal->constant = false;
  signal->table[half].times = SCREE_ALLOC(double, n);
  signal->table[half].values = SCREE_ALLOC(double, 3 * (size_t)n);
  if (!signal->table[half].times || !signal->table[half].values) return false;
  signal->table[half].count = n;
  for (int k = 0; k < n; ++k) {
    const scree_Node *value = values->entries[k].value;
    double *x = signal->table[half].values + 3 * k;
    signal->table[half].times[k] = times->entries[k].value->number;
    if (value->kind == SCREE_NODE_SCALAR) x[2] = value->number;
    for (int i = 0; i < value->count && i < 3; ++i) x[i] = value->entries[i].value->number;
  }
  return true;
}

/* Where component `i` of a half is written, for messages while the scene runs. */
static char *name_component(const scree_Scene *scene, const char *owner, int index, const char *key,
                            const scree_Node *node, int i) {
  char place[48] = "", part[16] = "";
  if (node && node->kind == SCREE_NODE_LIST && i < node->count) {
    snprintf(part, sizeof part, "[%d]", i);
    node = node->entries[i].value;
  }
  if (node && node->line > 0)
    snprintf(place, sizeof place, ":%d:%d", node->line, node->column > 0 ? node->column : 1);
  const size_t size = strlen(scene->name) + strlen(owner) + strlen(key) + 96;
  char *name = SCREE_ALLOC(char, size);
  if (name) snprintf(name, size, "%s%s: %s[%d].%s%s", scene->name, place, owner, index, key, part);
  return name;
}

/* Entry `index` of the list `owner`; its values under the keys `linear` and `angular`, where an
 * absent one is zero. Null when memory runs out. */
static scree_SceneSignal *read_signal(const scree_Scene *scene, const char *owner, int index,
                                      const scree_Node *map, const char *linear,
                                      const char *angular) {
  const char *const key[2] = {linear, angular};
  scree_SceneSignal *signal = SCREE_ALLOC(scree_SceneSignal, 1);
  if (!signal) return NULL;
  signal->constant = true;
  bool good = true;
  for (int half = 0; half < 2; ++half)
    good = good && read_half(signal, half, scree_node_find(map, key[half]));
  for (int k = 0; k < 6 && good && !signal->constant; ++k) {
    const scree_Node *node = scree_node_find(map, key[k / 3]);
    signal->names[k] = name_component(scene, owner, index, key[k / 3], node, k % 3);
    good = signal->names[k] != NULL;
  }
  if (good) return signal;
  signal_free(signal);
  return NULL;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static scree_Status read_rotation(const scree_Scene *scene, const scree_Node *map,
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

/* `from` and `to` of a segment or capsule; `normal` of a half-plane or half-space. */
static scree_Status read_ends(const scree_Scene *scene, const scree_Node *map, const scree_Log *log,
                              scree_SceneBody *body) {
  const bool from = scree_node_find(map, "from"), to = scree_node_find(map, "to");
  const scree_ShapeKind kind = body->shape.kind;
  if (from != to) return scree_scene_refuse(scene, map, log, "from and to must be given together");
  if (from) {
    const scree_Vec3 a = scree_scene_vector(map, "from"), b = scree_scene_vector(map, "to");
    const scree_Vec3 d = scree_sub(b, a);
    if (kind != SCREE_SHAPE_SEGMENT && kind != SCREE_SHAPE_CAPSULE)
      return scree_scene_refuse(scene, map, log,
                                "from and to: found a %s, expected a segment or capsule",
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
    if (kind != SCREE_SHAPE_HALF_PLANE && kind != SCREE_SHAPE_HALF_SPACE)
      return scree_scene_refuse(scene, map, log,
                                "normal: found a %s, expected a half-plane or half-space",
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
    if (scree_norm(d) > 0 && !set_number(scene, node, "half_length", 0.5 * scree_norm(d)))
      return scree_fail_memory(log, scene->name);
  }
  return scree_scene_shape(scene, node, 1.0, log, shape);
}

static scree_Status check_matter(const scree_Scene *scene, const scree_Node *map,
                                 const scree_Log *log, const scree_SceneBody *body) {
  const scree_ShapeType *type = scree_shape_type(body->shape.kind);
  if (!type->bounded)
    return scree_scene_refuse(scene, map, log, "a %s is unbounded: it can only be an obstacle",
                              type->name);
  if (!(body->shape.volume > 0) && !(body->def.mass > 0))
    return scree_scene_refuse(scene, map, log, "a %s without area needs a mass", type->name);
  return SCREE_OK;
}

static scree_Status read_body(scree_Scene *scene, const scree_Node *map, bool obstacle,
                              const scree_Log *log) {
  scree_SceneBody body = {.def = scree_body_def()};
  scree_Status status = read_shape(scene, map, log, &body.shape);
  if (status != SCREE_OK) return status;
  scree_BodyDef *def = &body.def;
  def->obstacle = obstacle;
  def->pose.position = scree_scene_vector(map, "position");
  status = scree_scene_matter(scene, map, log, def);
  if (status == SCREE_OK) status = read_rotation(scene, map, log, &def->pose.orientation);
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
    body.driver = read_signal(scene, "obstacles", (int)scene->body_count, map, "velocity",
                              "angular_velocity"); /* obstacles are read first */
    if (!body.driver) status = scree_fail_memory(log, scene->name);
  } else if (status == SCREE_OK) {
    def->velocity = (scree_Twist){scree_scene_vector(map, "velocity"),
                                  scree_scene_vector(map, "angular_velocity")};
    def->mass = scree_node_number(map, "mass");
    def->inertia = scree_scene_vector(map, "inertia");
    status = check_matter(scene, map, log, &body);
  }
  if (status != SCREE_OK) {
    signal_free(body.driver);
    scree_shape_fini(&body.shape);
    return status;
  }
  return scree_scene_add(scene, &body, log);
}

static scree_Status read_bodies(scree_Scene *scene, const scree_Log *log) {
  static const char *const keys[] = {"obstacles", "bodies"};
  for (int pass = 0; pass < 2; ++pass) {
    const scree_Node *list = scree_node_find(scene->tree.root, keys[pass]);
    for (int k = 0; k < list->count; ++k) {
      scree_Status status = read_body(scene, list->entries[k].value, pass == 0, log);
      if (status != SCREE_OK) return status;
    }
    if (pass == 0) scene->obstacle_count = list->count;
  }
  return SCREE_OK;
}

/* Index of a body by name, or -1 with a message. */
static int find_body(const scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  const char *words[256] = {NULL};
  int count = 0;
  for (size_t k = (size_t)scene->obstacle_count; k < scene->body_count; ++k) {
    if (!scene->bodies[k].name) continue;
    if (strcmp(scene->bodies[k].name, node->text) == 0) return (int)k;
    if (count < 255) words[count++] = scene->bodies[k].name;
  }
  const char *near = scree_nearest_word(node->text, words);
  scree_scene_refuse(scene, node, log, "no body is named \"%.60s\"%s%s%s", node->text,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return -1;
}

static scree_Status read_forces(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "forces");
  scene->forces = SCREE_ALLOC(scree_SceneForce, list->count);
  if (!scene->forces) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *map = list->entries[k].value;
    const scree_Node *force = scree_node_find(map, "force"),
                     *torque = scree_node_find(map, "torque");
    const scree_Node *acceleration = scree_node_find(map, "acceleration");
    scree_SceneForce *out = &scene->forces[k];
    if ((force || torque) == (acceleration != NULL))
      return scree_scene_refuse(scene, map, log, "expected force and torque, or acceleration");
    out->def = (scree_ForceDef){.body = -1, .per_mass = acceleration != NULL};
    if (!scree_node_is(map, "body", "all")) {
      out->def.body = find_body(scene, scree_node_find(map, "body"), log);
      if (out->def.body < 0) return SCREE_BAD_INPUT;
    }
    out->signal =
        read_signal(scene, "forces", k, map, acceleration ? "acceleration" : "force", "torque");
    if (!out->signal) return scree_fail_memory(log, scene->name);
    ++scene->force_count;
  }
  return SCREE_OK;
}

/* ---- what is left to auto -------------------------------------------------------------------- */

static scree_Status resolve_start(scree_Scene *scene, const scree_Log *log) {
  scree_Node *root = scene->tree.root, *gravity = scree_node_find(root, "gravity");
  bool good = true;
  if (gravity->kind == SCREE_NODE_SCALAR) {
    gravity->kind = SCREE_NODE_LIST;
    for (int k = 0; k < scene->dimension && good; ++k)
      good = scree_tree_add(
          &scene->tree, gravity, NULL,
          scree_tree_number(&scene->tree, k == scene->dimension - 1 ? -9.81 : 0.0, 0, 0));
  }
  scene->gravity = scree_scene_vector(root, "gravity");
  scree_Node *materials = scree_node_find(root, "materials");
  if (good && materials->count == 0) {
    scree_Node *first = scree_tree_node(&scene->tree, SCREE_NODE_MAP, 0, 0);
    good =
        scree_tree_add(&scene->tree, materials, "default", first) &&
        scree_tree_add(&scene->tree, first, "density", scree_tree_number(&scene->tree, 1000, 0, 0));
  }
  scene->material_count = materials->count;
  scree_Node *solver = scree_node_find(root, "solver"), *name = scree_node_find(solver, "name");
  const scree_SolveSettings defaults = scree_world_settings().solve;
  if (strcmp(name->text, "auto") == 0) name->text = defaults.solver;
  if (scree_node_is(solver, "tolerance", "auto"))
    good = good && set_number(scene, solver, "tolerance", defaults.tolerance);
  return good ? SCREE_OK : scree_fail_memory(log, scene->name);
}

/* ---- the automatic step ------------------------------------------------------------------------
 *
 * In one step a body may, at most,
 *     move under gravity from rest by       fall^2 of its size        free flight and impacts
 *     move under an applied force from rest by    load^2 of its size  loads are mostly carried
 *     or, at its speed or that of an obstacle, by travel of its size  who meets whom
 *     turn by turn, and obstacles too                                 expansion of gaps
 * Signals are looked at in `samples` instants of the duration. The numbers are those with which the
 * averages of the scenes in bench/scenes are right to 1 % (docs/VALIDATION.md). */
static const struct {
  double fall, load, travel, turn;
  int samples;
} auto_step = {.fall = 0.03, .load = 0.1, .travel = 0.05, .turn = 0.1, .samples = 200};

static double reach_of(const scree_Shape *shape) {
  return isfinite(shape->bounding_radius) ? shape->bounding_radius
         : isfinite(shape->size)          ? 0.5 * shape->size
                                          : 0.0;
}

/* Largest speed of a point of the body, and its largest angular velocity, over the duration. */
static void fastest(const scree_Scene *scene, const scree_SceneBody *body, double *speed,
                    double *spin) {
  const double reach = reach_of(&body->shape);
  for (int k = 0; k <= (body->driver ? auto_step.samples : 0); ++k) {
    const double time = scene->duration * k / auto_step.samples;
    const scree_Twist twist =
        body->driver ? scree_scene_signal_at(body->driver, time) : body->def.velocity;
    const double turn = scree_norm(twist.angular);
    const double v = scree_norm(twist.linear) + reach * turn;
    if (v > *speed) *speed = v; /* what is not finite is reported when it is met */
    if (turn > *spin && !scree_shape_is_ball(&body->shape)) *spin = turn;
  }
}

/* Step in which force k alone moves a body from rest by load^2 of its size. */
static double step_of_force(const scree_Scene *scene, int k) {
  const scree_ForceDef *def = &scene->forces[k].def;
  double most = 0;
  for (int i = 0; i <= auto_step.samples; ++i) {
    const double time = scene->duration * i / auto_step.samples;
    const double f = scree_norm(scree_scene_signal_at(scene->forces[k].signal, time).linear);
    if (f > most && isfinite(f)) most = f;
  }
  double step = INFINITY;
  for (size_t b = 0; b < scene->body_count && most > 0; ++b) {
    const scree_SceneBody *body = &scene->bodies[b];
    if (body->def.obstacle || (def->body >= 0 && def->body != (int)b)) continue;
    const double density = body->def.density > 0 ? body->def.density : 0;
    const double mass = body->def.mass > 0 ? body->def.mass : density * body->shape.volume;
    const double acceleration = def->per_mass ? most : most / mass;
    if (acceleration > 0) step = fmin(step, auto_step.load * sqrt(body->shape.size / acceleration));
  }
  return step;
}

static double automatic_step(const scree_Scene *scene) {
  const double g = scree_norm(scene->gravity);
  double speed = 0, spin = 0, step = INFINITY;
  for (size_t k = 0; k < scene->body_count; ++k) fastest(scene, &scene->bodies[k], &speed, &spin);
  for (int k = 0; k < scene->pour_count; ++k)
    speed = fmax(speed, scree_norm(scene->pours[k].grain.def.velocity.linear));
  if (g > 0) step = auto_step.fall * sqrt(scene->smallest / g);
  if (speed > 0) step = fmin(step, auto_step.travel * scene->smallest / speed);
  if (spin > 0) step = fmin(step, auto_step.turn / spin);
  for (int k = 0; k < scene->force_count; ++k) step = fmin(step, step_of_force(scene, k));
  if (!isfinite(step)) step = scene->duration / 1000;
  return fmin(step, scene->duration);
}

static scree_Status resolve_time(scree_Scene *scene, const scree_Log *log) {
  scree_Node *time = scree_node_find(scene->tree.root, "time");
  scree_Node *output = scree_node_find(scene->tree.root, "output");
  scene->duration = scree_node_number(time, "duration");
  scene->smallest = INFINITY;
  for (size_t k = 0; k < scene->body_count; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    if (!body->def.obstacle) scene->smallest = fmin(scene->smallest, body->shape.size);
  }
  for (int k = 0; k < scene->pour_count; ++k) {
    const scree_Grain *grain = &scene->pours[k].grain;
    scene->smallest = fmin(scene->smallest, grain->scale.min * grain->shape.size);
  }
  if (scree_node_is(time, "step", "auto") &&
      !set_number(scene, time, "step", automatic_step(scene)))
    return scree_fail_memory(log, scene->name);
  scene->step = scree_node_number(time, "step");
  /* as many steps as cover the duration; a ratio that is whole but for rounding counts as whole */
  const double steps = ceil(scene->duration / scene->step * (1 - 1e-12));
  if (!(steps < 1e15))
    return scree_scene_refuse(scene, scree_node_find(time, "step"), log,
                              "a duration of %g s has %g steps of %g s, expected fewer",
                              scene->duration, steps, scene->step);
  scene->steps = steps < 1 ? 1 : (int64_t)steps;
  const int64_t frame_every = (scene->steps + 99) / 100;
  if (scree_node_is(output, "every", "auto") &&
      !set_number(scene, output, "every", scene->step * (double)frame_every))
    return scree_fail_memory(log, scene->name);
  const double every = floor(scree_node_number(output, "every") / scene->step + 0.5);
  scene->frame_steps = every < 1 ? 1 : every > 1e15 ? (int64_t)1e15 : (int64_t)every;
  return SCREE_OK;
}

static scree_Status read_stop(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *stop = scree_node_find(scene->tree.root, "stop");
  const scree_Node *plane = scree_node_find(stop, "plane");
  scene->stop_body = -1;
  if (!plane) return SCREE_OK;
  scene->stop_point = scree_scene_vector(plane, "point");
  scene->stop_normal = scree_scene_vector(plane, "normal");
  if (!(scree_norm(scene->stop_normal) > 0))
    return scree_scene_refuse(scene, plane, log, "stop.plane.normal: expected other than zero");
  if (scree_node_is(plane, "body", "any")) return SCREE_OK;
  scene->stop_body = find_body(scene, scree_node_find(plane, "body"), log);
  return scene->stop_body < 0 ? SCREE_BAD_INPUT : SCREE_OK;
}

/* "name=value" of the solver's options. */
static scree_Status read_solver(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *solver = scree_node_find(scene->tree.root, "solver");
  const scree_Node *options = scree_node_find(solver, "options");
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

static scree_Status check_pairs(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *pairs = scree_node_find(scene->tree.root, "pairs");
  const scree_Node *contact = scree_node_find(scene->tree.root, "contact");
  for (int k = 0; k < pairs->count; ++k) {
    scree_Node *pair = pairs->entries[k].value;
    const scree_Node *between = scree_node_find(pair, "between");
    /* what a pair does not say is as in `contact`, or the default of its own law */
    scree_Node *whole = scree_tree_node(&scene->tree, SCREE_NODE_MAP, pair->line, pair->column);
    scree_Node *law = scree_node_find(scree_node_find(pair, "law") ? pair : contact, "law");
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
      if (find_material(scene, between->entries[side].value, log) < 0) return SCREE_BAD_INPUT;
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

static scree_Status read_scene(scree_Scene *scene, const char *text, size_t length,
                               const char *const *overrides, const scree_Log *log) {
  scree_Tree given;
  scree_Status status = scree_tree_parse(&given, text, length, scene->name, log);
  if (status != SCREE_OK) return status;
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
  status = resolve_start(scene, log);
  if (status == SCREE_OK) status = check_pairs(scene, log);
  if (status == SCREE_OK) status = read_bodies(scene, log);
  if (status == SCREE_OK) status = scree_scene_generate(scene, log);
  if (status == SCREE_OK) status = read_forces(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_sensors(scene, log);
  if (status == SCREE_OK) status = resolve_time(scene, log);
  if (status == SCREE_OK) status = read_stop(scene, log);
  if (status == SCREE_OK) status = scree_scene_read_removals(scene, log);
  if (status == SCREE_OK) status = read_solver(scene, log);
  if (status != SCREE_OK) return status;
  scene->text = scree_tree_write(scene->tree.root);
  return scene->text ? SCREE_OK : scree_fail_memory(log, scene->name);
}

scree_Status scree_scene_parse(const char *text, size_t length, const char *name,
                               const char *const *overrides, const scree_Log *log,
                               scree_Scene **scene) {
  *scene = NULL;
  scree_Scene *made = SCREE_ALLOC(scree_Scene, 1);
  if (!made) return scree_fail_memory(log, name);
  made->name = SCREE_ALLOC(char, strlen(name) + 1);
  scree_Status status = made->name ? SCREE_OK : scree_fail_memory(log, name);
  if (status == SCREE_OK) {
    memcpy(made->name, name, strlen(name) + 1);
    status = read_scene(made, text, length, overrides, log);
  }
  if (status == SCREE_OK)
    *scene = made;
  else
    scree_scene_destroy(made);
  return status;
}

scree_Status scree_scene_read(const char *path, const char *const *overrides, const scree_Log *log,
                              scree_Scene **scene) {
  *scene = NULL;
  FILE *file = fopen(path, "rb");
  struct stat status;
  if (!file)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
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
    outcome = scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s", path, strerror(error));
  if (outcome == SCREE_OK) outcome = scree_scene_parse(text, length, path, overrides, log, scene);
  scree_free(text);
  return outcome;
}

void scree_scene_destroy(scree_Scene *scene) {
  if (!scene) return;
  for (size_t k = 0; k < scene->body_count; ++k) {
    scree_shape_fini(&scene->bodies[k].shape);
    signal_free(scene->bodies[k].driver);
  }
  for (int k = 0; k < scene->pour_count; ++k) scree_shape_fini(&scene->pours[k].grain.shape);
  for (int k = 0; k < scene->force_count; ++k) signal_free(scene->forces[k].signal);
  scree_free(scene->bodies);
  scree_free(scene->pours);
  scree_free(scene->forces);
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

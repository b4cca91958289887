/* A saved frame as a table and as a scene (see scree/run.h).
 *
 * The table has a row per body and the columns that the generator `csv` of scenes reads. The scene
 * is the one of the run with the bodies of the frame in place of its bodies, generators and start,
 * and its obstacles and joints where they are in the frame. Numbers read back to the same bits. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "run/frame_export_elements.h"
#include "run/frame_export_joints.h"
#include "run/frames.h"
#include "run/results_file.h"
#include "scene/scene_schema.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARAMETERS_MAX = 24 };

/* Refuse bodies that cannot be written: in tables deformable ones and clumps, in scenes
 * pseudo-rigid ones of files of earlier versions. */
static scree_Status check_shapes(const scree_Replay *replay, const scree_ReplayFrame *frame,
                                 const char *path, bool table) {
  for (int b = 0; b < frame->bodies; ++b) {
    const scree_ShapeType *type = scree_shape_type(replay->bodies[b].shape.kind);
    if (!frame->present[b] || (table && replay->bodies[b].obstacle)) continue;
    if (replay->bodies[b].kind != SCREE_BODY_RIGID && table)
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: body %d is deformable, and its state does not fit into a table: write "
                        "the frame as a scene, or use `start` in a scene",
                        path, b);
    if (replay->bodies[b].kind == SCREE_BODY_PSEUDO_RIGID && !frame->affine)
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: body %d is deformable, and frames of this earlier version do not have "
                        "its whole state: run it again, or continue it with --resume --until",
                        path, b);
    if (type->takes_parts && table)
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: body %d is a %s, whose parts do not fit into a table: write the frame "
                        "as a scene, or use `start` in a scene",
                        path, b, type->name);
  }
  return SCREE_OK;
}

/* ---- table ----------------------------------------------------------------------------------- */

/* Names of the parameters that shapes of the frame have, each once. */
static int collect_parameters(const scree_Replay *replay, const scree_ReplayFrame *frame,
                              const char **names) {
  bool used[SCREE_SHAPE_KINDS] = {false};
  int count = 0;
  for (int b = 0; b < frame->bodies; ++b)
    if (frame->present[b] && !replay->bodies[b].obstacle) used[replay->bodies[b].shape.kind] = true;
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k) {
    const scree_ShapeType *type = scree_shape_type((scree_ShapeKind)k);
    for (int p = 0; used[k] && p < type->parameter_count; ++p) {
      bool known = false;
      for (int n = 0; n < count; ++n)
        known = known || strcmp(names[n], type->parameters[p].name) == 0;
      if (!known && count < PARAMETERS_MAX) names[count++] = type->parameters[p].name;
    }
  }
  return count;
}

static void put_real(FILE *file, double value) {
  char text[40];
  scree_format_real(value, text, sizeof text);
  fprintf(file, ",%s", text);
}

/* "x y; x y; ...", z too in space; nothing for shapes without vertices. */
static void put_vertices(FILE *file, const scree_Shape *shape) {
  const scree_ShapeType *type = scree_shape_type(shape->kind);
  fputc(',', file);
  for (int v = 0; type->takes_vertices && v < shape->vertex_count; ++v) {
    const double point[3] = {shape->vertices[v].x, shape->vertices[v].y, shape->vertices[v].z};
    for (int k = 0; k < type->dimension; ++k) {
      char text[40];
      scree_format_real(point[k], text, sizeof text);
      fprintf(file, "%s%s", k ? " " : v ? "; " : "", text);
    }
  }
}

static bool has_vertices(const scree_Replay *replay, const scree_ReplayFrame *frame) {
  for (int b = 0; b < frame->bodies; ++b)
    if (frame->present[b] && !replay->bodies[b].obstacle &&
        scree_shape_type(replay->bodies[b].shape.kind)->takes_vertices)
      return true;
  return false;
}

static void put_reals(FILE *file, const double *values, int count) {
  for (int k = 0; k < count; ++k) put_real(file, values[k]);
}

static void put_body(FILE *file, const scree_Replay *replay, const scree_ReplayFrame *frame, int b,
                     const char *const *names, int count, bool vertices) {
  const scree_ReplayBody *body = &replay->bodies[b];
  const scree_ShapeType *type = scree_shape_type(body->shape.kind);
  const char *name = scree_replay_body_name(replay, b);
  const char *material = scree_replay_material(replay, body->material);
  fprintf(file, "%d,\"%s\",%s", b, name ? name : "", type->name);
  for (int n = 0; n < count; ++n) {
    const scree_ShapeParameter *parameter = NULL;
    for (int p = 0; p < type->parameter_count; ++p)
      if (strcmp(type->parameters[p].name, names[n]) == 0) parameter = &type->parameters[p];
    if (parameter)
      put_real(file, *(const double *)((const char *)&body->shape + parameter->offset));
    else
      fputc(',', file);
  }
  if (vertices) put_vertices(file, &body->shape);
  fprintf(file, ",\"%s\"", material ? material : "");
  put_real(file, body->mass);
  const size_t at = (size_t)b;
  put_reals(file, frame->position + 3 * at, 3);
  put_reals(file, frame->orientation + 4 * at, 4);
  put_reals(file, frame->velocity + 3 * at, 3);
  put_reals(file, frame->angular + 3 * at, 3);
  fputc('\n', file);
}

scree_Status scree_replay_write_csv(scree_Replay *replay, int k, const char *path) {
  scree_ReplayFrame frame = {.bodies_only = true};
  scree_Status status = scree_replay_read(replay, k, &frame);
  if (status == SCREE_OK) status = check_shapes(replay, &frame, path, true);
  FILE *file = status == SCREE_OK ? fopen(path, "w") : NULL;
  if (status == SCREE_OK && !file)
    status =
        scree_fail(replay->log, SCREE_MACHINE, "%s: cannot be written: %s", path, strerror(errno));
  if (file) {
    const char *names[PARAMETERS_MAX];
    const int count = collect_parameters(replay, &frame, names);
    fputs("body,name,shape", file);
    for (int n = 0; n < count; ++n) fprintf(file, ",%s", names[n]);
    const bool vertices = has_vertices(replay, &frame);
    if (vertices) fputs(",vertices", file);
    fputs(",material,mass,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n", file);
    for (int b = 0; b < frame.bodies; ++b)
      if (frame.present[b] && !replay->bodies[b].obstacle)
        put_body(file, replay, &frame, b, names, count, vertices);
    const bool failed = ferror(file) != 0;
    if ((fclose(file) != 0) | failed)
      status = scree_fail(replay->log, SCREE_MACHINE, "%s: cannot be written", path);
  }
  scree_replay_frame_fini(&frame);
  return status;
}

/* ---- scene ----------------------------------------------------------------------------------- */

typedef struct Export {
  const scree_Replay *replay;
  const scree_ReplayFrame *frame, *first; /* the frame, and that of the start */
  const char *path;
  scree_Tree tree;
  scree_Status status; /* of the files beside the scene */
} Export;

static scree_Node *reals(Export *out, const double *values, int count) {
  scree_Node *list = scree_tree_node(&out->tree, SCREE_NODE_LIST, 0, 0);
  for (int k = 0; list && k < count; ++k)
    if (!scree_tree_add(&out->tree, list, NULL, scree_tree_number(&out->tree, values[k], 0, 0)))
      return NULL;
  return list;
}

static void add_text(Export *out, scree_Node *map, const char *key, const char *text) {
  scree_Node *node = scree_tree_scalar(&out->tree, text, 0, 0);
  if (node) node->quoted = true;
  scree_tree_add(&out->tree, map, key, node);
}

/* position and angle or rotation. A polygon is placed by its vertices, which are written round its
 * centroid. */
static void add_pose(Export *out, scree_Node *map, int b) {
  const double *x = out->frame->position + 3 * (size_t)b;
  const double *q = out->frame->orientation + 4 * (size_t)b;
  scree_tree_add(&out->tree, map, "position", reals(out, x, out->replay->dimension));
  if (out->replay->dimension == 2) {
    const double angle = 2 * atan2(q[3], q[0]);
    if (angle != 0)
      scree_tree_add(&out->tree, map, "angle", scree_tree_number(&out->tree, angle, 0, 0));
  } else if (q[1] != 0 || q[2] != 0 || q[3] != 0) {
    scree_Node *rotation = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
    scree_tree_add(&out->tree, rotation, "quaternion", reals(out, q, 4));
    scree_tree_add(&out->tree, map, "rotation", rotation);
  }
}

static scree_Node *shape_node(Export *out, const scree_Shape *shape);

static scree_Node *part_node(Export *out, const scree_ClumpPart *part, int dimension) {
  const double x[3] = {part->pose.position.x, part->pose.position.y, part->pose.position.z};
  const scree_Quat q = part->pose.orientation;
  scree_Node *map = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
  scree_tree_add(&out->tree, map, "shape", shape_node(out, &part->shape));
  scree_tree_add(&out->tree, map, "position", reals(out, x, dimension));
  if (dimension == 2) {
    scree_tree_add(&out->tree, map, "angle",
                   scree_tree_number(&out->tree, 2 * atan2(q.z, q.w), 0, 0));
  } else {
    const double values[4] = {q.w, q.x, q.y, q.z};
    scree_Node *rotation = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
    scree_tree_add(&out->tree, rotation, "quaternion", reals(out, values, 4));
    scree_tree_add(&out->tree, map, "rotation", rotation);
  }
  return map;
}

static scree_Node *shape_node(Export *out, const scree_Shape *shape) {
  const scree_ShapeType *type = scree_shape_type(shape->kind);
  scree_Node *map = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
  scree_tree_add(&out->tree, map, "kind", scree_tree_scalar(&out->tree, type->name, 0, 0));
  for (int p = 0; p < type->parameter_count; ++p) {
    const double value = *(const double *)((const char *)shape + type->parameters[p].offset);
    if (isfinite(value))
      scree_tree_add(&out->tree, map, type->parameters[p].name,
                     scree_tree_number(&out->tree, value, 0, 0));
  }
  if (type->takes_vertices) {
    scree_Node *list = scree_tree_node(&out->tree, SCREE_NODE_LIST, 0, 0);
    for (int v = 0; v < shape->vertex_count; ++v) {
      const double point[3] = {shape->vertices[v].x, shape->vertices[v].y, shape->vertices[v].z};
      scree_tree_add(&out->tree, list, NULL, reals(out, point, type->dimension));
    }
    scree_tree_add(&out->tree, map, "vertices", list);
  }
  if (type->takes_parts) {
    scree_Node *list = scree_tree_node(&out->tree, SCREE_NODE_LIST, 0, 0);
    for (int p = 0; p < scree_shape_part_count(shape); ++p)
      scree_tree_add(&out->tree, list, NULL,
                     part_node(out, scree_shape_part(shape, p), type->dimension));
    scree_tree_add(&out->tree, map, "parts", list);
  }
  return map;
}

/* Whether the moments are those of the shape: then they are left to it, since a shape that is read
 * again may order its axes in another way. */
static bool own_moments(const scree_ReplayBody *body) {
  const scree_Vec3 a = body->inertia, b = body->shape.inertia;
  const double density = body->mass / body->shape.volume;
  const double size = scree_norm(a);
  return body->shape.volume > 0 && scree_norm(scree_axpy(a, -density, b)) <= 1e-9 * size;
}

/* Gradient and rate of a pseudo-rigid body. */
static void add_deformation(Export *out, scree_Node *map, int b) {
  static const char *const keys[] = {"x", "y", "z", "x_rate", "y_rate", "z_rate"};
  const int d = out->replay->dimension;
  const double *g = out->frame->gradient + 18 * (size_t)b;
  scree_Node *node = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
  for (int half = 0; half < 2; ++half)
    for (int j = 0; j < d; ++j) {
      const double *at = g + 9 * half + j, column[3] = {at[0], at[3], at[6]};
      scree_tree_add(&out->tree, node, keys[3 * half + j], reals(out, column, d));
    }
  scree_tree_add(&out->tree, map, "deformation", node);
}

static void add_kind(Export *out, scree_Node *map, const scree_ReplayBody *body) {
  const struct {
    const char *key, *value;
    bool is;
  } keys[] = {{"kind", scree_body_kind_name(body->kind), true},
              {"integration", "explicit", body->explicit_},
              {"mass_matrix", "consistent", body->consistent_mass},
              {"keep_shape", "true", body->keeps_shape}};
  for (size_t k = 0; k < sizeof keys / sizeof *keys && body->kind != SCREE_BODY_RIGID; ++k)
    if (keys[k].is)
      scree_tree_add(&out->tree, map, keys[k].key,
                     scree_tree_scalar(&out->tree, keys[k].value, 0, 0));
}

/* Position, and rotation or deformation, and velocities; of finite elements the position alone. */
static void add_motion(Export *out, scree_Node *map, int b) {
  const bool flat = out->replay->dimension == 2;
  const scree_BodyKind kind = out->replay->bodies[b].kind;
  const double *x = out->frame->position + 3 * (size_t)b;
  const double *v = out->frame->velocity + 3 * (size_t)b, *w = out->frame->angular + 3 * (size_t)b;
  if (kind == SCREE_BODY_RIGID)
    add_pose(out, map, b);
  else
    scree_tree_add(&out->tree, map, "position", reals(out, x, out->replay->dimension));
  if (kind == SCREE_BODY_ELEMENTS) return;
  scree_tree_add(&out->tree, map, "velocity", reals(out, v, out->replay->dimension));
  if (kind == SCREE_BODY_PSEUDO_RIGID)
    add_deformation(out, map, b);
  else
    scree_tree_add(&out->tree, map, "angular_velocity",
                   flat ? scree_tree_number(&out->tree, w[2], 0, 0) : reals(out, w, 3));
}

static scree_Node *body_node(Export *out, int b) {
  const scree_ReplayBody *body = &out->replay->bodies[b];
  const bool flat = out->replay->dimension == 2;
  const double moments[3] = {body->inertia.x, body->inertia.y, body->inertia.z};
  const char *name = scree_replay_body_name(out->replay, b);
  const char *material = scree_replay_material(out->replay, body->material);
  scree_Node *map = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
  if (name) add_text(out, map, "name", name);
  if (body->kind == SCREE_BODY_ELEMENTS)
    out->status = scree_export_elements(out->replay, out->frame, out->path, b, &out->tree, map);
  else
    scree_tree_add(&out->tree, map, "shape", shape_node(out, &body->shape));
  add_kind(out, map, body);
  add_motion(out, map, b);
  if (material) add_text(out, map, "material", material);
  if (body->group > 0)
    scree_tree_add(&out->tree, map, "group", scree_tree_number(&out->tree, body->group, 0, 0));
  scree_tree_add(&out->tree, map, "mass", scree_tree_number(&out->tree, body->mass, 0, 0));
  if (body->kind != SCREE_BODY_ELEMENTS && (flat ? moments[2] > 0 : moments[0] > 0) &&
      !own_moments(body))
    scree_tree_add(&out->tree, map, "inertia",
                   flat ? scree_tree_number(&out->tree, moments[2], 0, 0) : reals(out, moments, 3));
  return map;
}

/* An obstacle of the scene, moved to where it is in the frame. */
static scree_Node *obstacle_node(Export *out, const scree_Node *given, int b) {
  static const char *const replaced[] = {"position", "angle", "rotation", "from", "to", "normal"};
  /* meshes, height fields: as the scene has them, they lie where they are given */
  const scree_ShapeType *type = scree_shape_type(out->replay->bodies[b].shape.kind);
  const bool keep = type->takes_triangles || type->takes_heights || type->takes_elements;
  scree_Node *map = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
  for (int k = 0; k < given->count; ++k) {
    const char *key = given->entries[k].key;
    bool old = strcmp(key, "shape") == 0 && !keep;
    for (size_t r = 0; r < sizeof replaced / sizeof *replaced; ++r)
      old = old || strcmp(key, replaced[r]) == 0;
    if (!old) scree_tree_add(&out->tree, map, key, given->entries[k].value);
  }
  if (!keep)
    scree_tree_add(&out->tree, map, "shape", shape_node(out, &out->replay->bodies[b].shape));
  add_pose(out, map, b);
  return map;
}

/* The plate of a body, by its name; null: it is no plate. */
static const scree_Node *plate_of(const Export *out, const scree_Node *plates, int b) {
  const char *name = scree_replay_body_name(out->replay, b);
  for (int k = 0; name && plates && k < plates->count; ++k)
    if (strcmp(name, scree_node_text(plates->entries[k].value, "name")) == 0)
      return plates->entries[k].value;
  return NULL;
}

/* A plate of the scene, moved to where it is in the frame: its point is that of its face, half the
 * thickness from its middle. It starts at rest. */
static scree_Node *plate_node(Export *out, const scree_Node *given, int b) {
  const scree_Shape *shape = &out->replay->bodies[b].shape;
  const double *x = out->frame->position + 3 * (size_t)b;
  const double *q = out->frame->orientation + 4 * (size_t)b;
  const bool flat = out->replay->dimension == 2;
  double half = shape->kind == SCREE_SHAPE_CYLINDER ? shape->half_length : shape->semi.z;
  for (int v = 0; flat && v < shape->vertex_count; ++v) half = fmax(half, shape->vertices[v].y);
  const scree_Vec3 n = scree_quat_rotate((scree_Quat){q[0], q[1], q[2], q[3]},
                                         flat ? scree_vec3(0, 1, 0) : scree_vec3(0, 0, 1));
  const double point[3] = {x[0] + half * n.x, x[1] + half * n.y, x[2] + half * n.z};
  scree_Node *map = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
  for (int k = 0; k < given->count; ++k)
    if (strcmp(given->entries[k].key, "point") != 0)
      scree_tree_add(&out->tree, map, given->entries[k].key, given->entries[k].value);
  scree_tree_add(&out->tree, map, "point", reals(out, point, out->replay->dimension));
  return map;
}

static scree_Status make_scene(Export *out, char **text) {
  static const char *const dropped[] = {"bodies",     "obstacles", "generators", "start",
                                        "parameters", "plates",    "joints"};
  const scree_Node *given = out->tree.root;
  const scree_Node *given_obstacles = scree_node_find(given, "obstacles");
  const scree_Node *given_plates = scree_node_find(given, "plates");
  scree_Node *root = scree_tree_node(&out->tree, SCREE_NODE_MAP, 0, 0);
  scree_Node *obstacles = scree_tree_node(&out->tree, SCREE_NODE_LIST, 0, 0);
  scree_Node *bodies = scree_tree_node(&out->tree, SCREE_NODE_LIST, 0, 0);
  scree_Node *plates = scree_tree_node(&out->tree, SCREE_NODE_LIST, 0, 0);
  for (int k = 0; k < given->count; ++k) {
    bool drop = false;
    for (size_t d = 0; d < sizeof dropped / sizeof *dropped; ++d)
      drop = drop || strcmp(given->entries[k].key, dropped[d]) == 0;
    if (!drop) scree_tree_add(&out->tree, root, given->entries[k].key, given->entries[k].value);
  }
  for (int b = 0; b < out->frame->bodies && out->status == SCREE_OK; ++b) {
    if (!out->frame->present[b]) continue;
    const scree_Node *plate = plate_of(out, given_plates, b);
    if (plate)
      scree_tree_add(&out->tree, plates, NULL, plate_node(out, plate, b));
    else if (!out->replay->bodies[b].obstacle)
      scree_tree_add(&out->tree, bodies, NULL, body_node(out, b));
    else if (given_obstacles && b < given_obstacles->count)
      scree_tree_add(&out->tree, obstacles, NULL,
                     obstacle_node(out, given_obstacles->entries[b].value, b));
  }
  if (out->status != SCREE_OK) return out->status;
  scree_tree_add(&out->tree, root, "obstacles", obstacles);
  scree_tree_add(&out->tree, root, "bodies", bodies);
  scree_tree_add(&out->tree, root, "plates", plates);
  const scree_JointExport joints = {out->replay, out->first, out->frame, &out->tree, out->path};
  scree_Node *list = scree_tree_node(&out->tree, SCREE_NODE_LIST, 0, 0);
  const scree_Status status = scree_export_joints(&joints, scree_node_find(given, "joints"), list);
  if (status != SCREE_OK) return status;
  scree_tree_add(&out->tree, root, "joints", list);
  *text = out->tree.failed ? NULL : scree_tree_write(root);
  return *text ? SCREE_OK : scree_fail_memory(out->replay->log, out->path);
}

scree_Status scree_replay_write_scene(scree_Replay *replay, int k, const char *path) {
  scree_ReplayFrame frame = {0}, first = {.bodies_only = true};
  Export out = {.replay = replay, .frame = &frame, .first = &first, .path = path};
  char *text = NULL, *made = NULL;
  size_t length = 0;
  char *source = scree_join_path(replay->directory, "scene.yaml");
  scree_Status status = source ? SCREE_OK : scree_fail_memory(replay->log, path);
  if (status == SCREE_OK) status = scree_file_load(source, &text, &length, replay->log);
  if (status == SCREE_OK && !text)
    status = scree_fail(replay->log, SCREE_BAD_INPUT, "%s: missing, expected the scene of the run",
                        source);
  if (status == SCREE_OK) status = scree_tree_parse(&out.tree, text, length, source, replay->log);
  const bool parsed = status == SCREE_OK;
  if (status == SCREE_OK) status = scree_replay_read(replay, k, &frame);
  if (status == SCREE_OK) status = check_shapes(replay, &frame, path, false);
  if (status == SCREE_OK) status = scree_replay_read(replay, 0, &first);
  if (status == SCREE_OK) status = make_scene(&out, &made);
  if (status == SCREE_OK) {
    assert(made);
    status = scree_file_replace(path, made, strlen(made), replay->log);
  }
  if (parsed) scree_tree_fini(&out.tree);
  scree_replay_frame_fini(&frame);
  scree_replay_frame_fini(&first);
  scree_free(made);
  scree_free(text);
  scree_free(source);
  return status;
}

/* Shapes, clumps and matter of a scene: from normalised maps to scree_Shape and to the fields of a
 * scree_BodyDef that describe matter. */
#include "core/log.h"
#include "core/memory.h"
#include "element/elastic.h"
#include "math/vec3.h"
#include "scene/mesh_file.h"
#include "scene/scene.h"
#include "scene/shape_made.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The parts of a clump, and the clump of them. */
static scree_Status read_parts(const scree_Scene *scene, const scree_Node *node, double scale,
                               const scree_Log *log, scree_Shape *shape) {
  const scree_Node *list = scree_node_find(node, "parts");
  scree_ClumpPart *parts = SCREE_ALLOC(scree_ClumpPart, list->count);
  if (!parts) return scree_fail_memory(log, scene->name);
  scree_Status status = SCREE_OK;
  int count = 0;
  for (; count < list->count && status == SCREE_OK; ++count) {
    const scree_Node *map = list->entries[count].value;
    scree_ClumpPart *part = &parts[count];
    status = scree_scene_shape(scene, scree_node_find(map, "shape"), scale, log, &part->shape);
    part->pose.position = scree_scale(scale, scree_scene_vector(map, "position"));
    if (status == SCREE_OK)
      status = scree_scene_read_rotation(scene, map, log, &part->pose.orientation);
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

/* Shapes of vertices, typed or in a file. */
static scree_Status read_points(const scree_Scene *scene, const scree_Node *node,
                                scree_ShapeKind kind, double scale, const scree_Log *log,
                                scree_Shape *shape) {
  scree_MeshFile mesh = {0};
  scree_Status status = SCREE_OK;
  const scree_Node *list = scree_node_find(node, "vertices");
  const scree_Node *triangles = scree_node_find(node, "triangles");
  if (!list) {
    status = scree_mesh_file_read(scree_node_text(node, "file"), &mesh, log);
  } else {
    mesh.vertex_count = list->count;
    mesh.triangle_count = triangles ? triangles->count : 0;
    mesh.vertices = SCREE_ALLOC(scree_Vec3, mesh.vertex_count);
    mesh.triangles = SCREE_ALLOC(int, 3 * (size_t)mesh.triangle_count);
    if (!mesh.vertices || !mesh.triangles) status = scree_fail_memory(log, scene->name);
  }
  for (int k = 0; list && k < list->count && status == SCREE_OK; ++k) {
    const scree_Node *point = list->entries[k].value;
    mesh.vertices[k] = scree_vec3(point->entries[0].value->number, point->entries[1].value->number,
                                  point->count > 2 ? point->entries[2].value->number : 0);
  }
  for (int k = 0; k < 3 * mesh.triangle_count && triangles && status == SCREE_OK; ++k)
    mesh.triangles[k] = (int)triangles->entries[k / 3].value->entries[k % 3].value->number;
  for (int k = 0; k < mesh.vertex_count && status == SCREE_OK; ++k)
    mesh.vertices[k] = scree_scale(scale, mesh.vertices[k]);
  if (status == SCREE_OK)
    status =
        kind == SCREE_SHAPE_MESH
            ? scree_shape_init_mesh(shape, mesh.vertices, mesh.vertex_count, mesh.triangles,
                                    mesh.triangle_count, log)
            : scree_shape_init(shape, kind, (double[]){scale * scree_node_number(node, "radius")},
                               mesh.vertices, mesh.vertex_count, log);
  scree_mesh_file_fini(&mesh);
  return status;
}

/* A mesh with all lengths multiplied by a factor. */
static scree_Status scale_mesh(const scree_ElementMesh *from, double scale,
                               scree_ElementMesh **mesh, const scree_Log *log) {
  const int n = scree_element_mesh_node_count(from), count = scree_element_mesh_element_count(from);
  scree_Vec3 *nodes = SCREE_ALLOC(scree_Vec3, n);
  uint8_t *kinds = SCREE_ALLOC(uint8_t, count);
  int *corners = SCREE_ALLOC(int, (size_t)count *SCREE_ELEMENT_CORNERS), *to = corners;
  scree_Status status = SCREE_OK;
  *mesh = NULL;
  if (!nodes || !kinds || !corners) status = scree_fail_memory(log, "a mesh of elements");
  for (int k = 0; k < n && !status; ++k)
    nodes[k] = scree_scale(scale, scree_element_mesh_nodes(from)[k]);
  for (int k = 0; k < count && !status; ++k) {
    scree_ElementKind kind;
    const int *corner = scree_element_mesh_element(from, k, &kind);
    kinds[k] = (uint8_t)kind;
    for (int c = 0; c < scree_element_kind_corners(kind); ++c) *to++ = corner[c];
  }
  if (!status)
    status = scree_element_mesh_create(scree_element_mesh_dimension(from), nodes, n, kinds, corners,
                                       count, mesh, log);
  scree_free(nodes);
  scree_free(kinds);
  scree_free(corners);
  return status;
}

static scree_Status init_scaled(const scree_ElementMesh *from, double scale, scree_Shape *shape,
                                const scree_Log *log) {
  scree_ElementMesh *mesh;
  scree_Status status = scale_mesh(from, scale, &mesh, log);
  if (!status) status = scree_shape_init_elements(shape, mesh, log);
  scree_element_mesh_destroy(mesh);
  return status;
}

/* Elements: a file of Gmsh, or a block and its divisions. */
static scree_Status read_elements(const scree_Scene *scene, const scree_Node *node, double scale,
                                  const scree_Log *log, scree_Shape *shape) {
  const scree_Node *file = scree_node_find(node, "file");
  scree_ElementMesh *mesh;
  scree_Status status;
  if (file) {
    status = scree_element_mesh_read(file->text, scene->dimension, &mesh, log);
  } else {
    const scree_Node *list = scree_node_find(node, "divisions");
    int n[3];
    for (int k = 0; k < 3; ++k) n[k] = (int)list->entries[k].value->number;
    const scree_Vec3 semi = {scree_node_number(node, "half_x"), scree_node_number(node, "half_y"),
                             scree_node_number(node, "half_z")};
    status = scree_element_mesh_create_block(3, semi, n, &mesh, log);
  }
  if (!status) status = init_scaled(mesh, scale, shape, log);
  scree_element_mesh_destroy(mesh);
  return status;
}

scree_Status scree_scene_shape(const scree_Scene *scene, const scree_Node *node, double scale,
                               const scree_Log *log, scree_Shape *shape) {
  const scree_ShapeKind kind = scree_shape_kind(scree_node_text(node, "kind"), scene->dimension);
  const scree_ShapeType *type = scree_shape_type(kind);
  double parameters[8] = {0};
  scree_Status status;
  if (scree_shape_recipe(type->name, type->dimension, node)) {
    status = scree_shape_make(scene, node, scale, log, shape);
  } else if (type->takes_parts) {
    status = read_parts(scene, node, scale, log, shape);
  } else if (type->takes_elements) {
    status = read_elements(scene, node, scale, log, shape);
  } else if (type->takes_vertices) {
    status = read_points(scene, node, kind, scale, log, shape);
  } else {
    for (int k = 0; k < type->parameter_count && k < 8; ++k)
      parameters[k] = (type->parameters[k].pure ? 1 : scale) *
                      scree_node_number(node, type->parameters[k].name);
    status = scree_shape_init(shape, kind, parameters, NULL, 0, log);
  }
  if (status == SCREE_BAD_INPUT) scree_scene_refuse(scene, node, log, "this shape is refused");
  return status;
}

static scree_Status scale_parts(const scree_Shape *from, double scale, scree_Shape *shape,
                                const scree_Log *log) {
  const int n = scree_shape_part_count(from);
  scree_ClumpPart *parts = SCREE_ALLOC(scree_ClumpPart, n);
  if (!parts) return scree_fail_memory(log, "the parts of a clump");
  scree_Status status = SCREE_OK;
  int count = 0;
  for (; count < n && status == SCREE_OK; ++count) {
    const scree_ClumpPart *part = scree_shape_part(from, count);
    parts[count].pose =
        (scree_Pose){scree_scale(scale, part->pose.position), part->pose.orientation};
    status = scree_scene_scale_shape(&part->shape, scale, &parts[count].shape, log);
  }
  const double cube = from->kind == SCREE_SHAPE_CLUMP_2D ? scale * scale : scale * scale * scale;
  if (status == SCREE_OK)
    status = scree_shape_init_clump_with(shape, parts, n, cube * from->volume,
                                         scree_scale(cube * scale * scale, from->inertia), log);
  for (int k = 0; k < count; ++k) scree_shape_fini(&parts[k].shape);
  scree_free(parts);
  return status;
}

scree_Status scree_scene_scale_shape(const scree_Shape *from, double scale, scree_Shape *shape,
                                     const scree_Log *log) {
  const scree_ShapeType *type = scree_shape_type(from->kind);
  double parameters[8] = {0};
  if (type->takes_parts) return scale_parts(from, scale, shape, log);
  if (type->takes_elements) return init_scaled(scree_shape_elements(from), scale, shape, log);
  for (int k = 0; k < type->parameter_count && k < 8; ++k)
    parameters[k] = (type->parameters[k].pure ? 1 : scale) *
                    *(const double *)((const char *)from + type->parameters[k].offset);
  scree_Vec3 *vertices = SCREE_ALLOC(scree_Vec3, from->vertex_count);
  if (!vertices) return scree_fail_memory(log, "vertices");
  for (int k = 0; k < from->vertex_count; ++k) vertices[k] = scree_scale(scale, from->vertices[k]);
  scree_Status status =
      scree_shape_init(shape, from->kind, parameters, vertices, from->vertex_count, log);
  scree_free(vertices);
  return status;
}

/* Index of a material, or -1 with a message. */
int scree_scene_find_material(const scree_Scene *scene, const scree_Node *node,
                              const scree_Log *log) {
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

/* Whether bodies of a shape may be pseudo-rigid: shapes that stay of their kind. */
static bool is_affine(const char *shape) {
  static const char *const kinds[] = {"disk",      "ellipse", "sphere",
                                      "ellipsoid", "box",     "polyhedron"};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    if (strcmp(shape, kinds[k]) == 0) return true;
  return false;
}

scree_Status scree_scene_elastic(const scree_Scene *scene, const scree_Node *where,
                                 const scree_Log *log, scree_BodyDef *def) {
  const scree_Node *root = scene->tree.root;
  const scree_Node *material = scree_node_find(root, "materials")->entries[def->material].value;
  const scree_Node *time = scree_node_find(root, "time");
  const char *kind = scree_body_kind_name(def->kind);
  if (!scree_node_find(material, "young"))
    return scree_scene_refuse(
        scene, where, log,
        "a body of kind %s: its material \"%.60s\" has no `young`, expected Young's "
        "modulus",
        kind, scree_scene_material(scene, def->material, NULL, NULL));
  if (scree_node_is(time, "scheme", "euler") || scree_node_number(time, "theta") != 0.5)
    return scree_scene_refuse(
        scene, where, log,
        "a body of kind %s: time.scheme is %s with theta %g, expected a scheme with "
        "theta 0.5 (moreau-jean)",
        kind, scree_node_text(time, "scheme"),
        scree_node_is(time, "scheme", "euler") ? 1 : scree_node_number(time, "theta"));
  const bool has_poisson = scree_node_find(material, "poisson");
  const bool has_model = scree_node_find(material, "model");
  const char *model = has_model ? scree_node_text(material, "model") : scree_elastic_model(0, NULL);
  def->elastic.young = scree_node_number(material, "young");
  def->elastic.poisson = has_poisson ? scree_node_number(material, "poisson") : 0.25;
  def->elastic.damping = scree_node_number(material, "damping");
  def->elastic.model = scree_elastic_model(scree_elastic_find(model), NULL);
  def->elastic.damping_mass = scree_node_number(material, "damping_mass");
  return SCREE_OK;
}

/* Kind of the body, and the material of deformable ones. */
static scree_Status read_kind(const scree_Scene *scene, const scree_Node *map,
                              const scree_Node *kind, const scree_Log *log, scree_BodyDef *def) {
  const char *shape = scree_node_text(scree_node_find(map, "shape"), "kind");
  def->kind = scree_body_kind(kind->text);
  if (def->kind == SCREE_BODY_RIGID) return SCREE_OK;
  if (def->kind == SCREE_BODY_PSEUDO_RIGID && !is_affine(shape))
    return scree_scene_refuse(scene, kind, log, "a pseudo-rigid %s, expected a %s", shape,
                              scene->dimension == 2 ? "disk or ellipse"
                                                    : "sphere, ellipsoid, box or polyhedron");
  if ((def->kind == SCREE_BODY_ELEMENTS) != (strcmp(shape, "elements") == 0))
    return scree_scene_refuse(
        scene, kind, log, "a body of kind %s and shape %s, expected %s", kind->text, shape,
        def->kind == SCREE_BODY_ELEMENTS ? "the shape elements"
                                         : "the kind rigid or elements for this shape");
  def->elastic = (scree_Elastic){.explicit_ = scree_node_is(map, "integration", "explicit"),
                                 .consistent_mass = scree_node_is(map, "mass_matrix", "consistent"),
                                 .keeps_shape = scree_node_true(map, "keep_shape")};
  return scree_scene_elastic(scene, kind, log, def);
}

scree_Status scree_scene_matter(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_BodyDef *def) {
  const scree_Node *materials = scree_node_find(scene->tree.root, "materials");
  scree_Node *material = scree_node_find(map, "material");
  if (strcmp(material->text, "auto") == 0) material->text = materials->entries[0].key;
  def->material = scree_scene_find_material(scene, material, log);
  if (def->material < 0) return SCREE_BAD_INPUT;
  def->group = (uint32_t)scree_node_number(map, "group");
  def->density = scree_node_find(map, "density")
                     ? scree_node_number(map, "density")
                     : scree_node_number(materials->entries[def->material].value, "density");
  if (!scree_node_find(map, "integration")) return SCREE_OK; /* an obstacle */
  const scree_Node *own = scree_node_find(map, "body_kind"); /* of a generator */
  return read_kind(scene, map, own ? own : scree_node_find(map, "kind"), log, def);
}

bool scree_scene_reserve(scree_Scene *scene, size_t bodies) {
  void *array = scene->bodies;
  if (scene->part.ranks) { /* not many more than there are */
    if (!scree_grow_lean(&array, &scene->body_capacity, bodies, sizeof *scene->bodies))
      return false;
    scene->bodies = array;
    return scree_grow_lean((void **)&scene->part.number, &scene->part.number_capacity, bodies,
                           sizeof *scene->part.number);
  }
  if (!scree_grow(&array, &scene->body_capacity, bodies, sizeof *scene->bodies)) return false;
  scene->bodies = array;
  return true;
}

scree_Status scree_scene_add(scree_Scene *scene, scree_SceneBody *body, const scree_Log *log) {
  if (!scree_scene_reserve(scene, scene->kept + 1)) {
    scree_shape_fini(&body->shape);
    return scree_fail_memory(log, "the bodies of the scene");
  }
  const size_t number = scene->body_count++;
  scene->bodies[scene->kept] = *body;
  if (scene->part.ranks) scene->part.number[scene->kept] = (int)number;
  ++scene->kept;
  if (!scene->part.ranks || !body->name) return SCREE_OK;
  if (!scree_scene_keep_names(scene)) return scree_fail_memory(log, "the names of bodies");
  scene->kept_names[number] = body->name;
  return SCREE_OK;
}

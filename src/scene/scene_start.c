/* `start` in scenes: the bodies of a saved frame of another run (see start.h). A packing is settled
 * once and then used in many scenes with other obstacles, laws, forces and drivers.
 *
 * Bodies come with shape, pose, velocity and mass. Materials are found by name; where the scene
 * gives a material another density than the run had, masses and moments are scaled. Impulses of the
 * contacts start the first solve: those between bodies, and those with an obstacle of the run whose
 * name, or else whose number and kind of shape, an obstacle of the scene has. A plate of the scene
 * with the name of a body of the run is that body: it begins where it is in the frame. */
#define _XOPEN_SOURCE 700
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/csv.h"
#include "scene/scene.h"
#include "scene/scene_state.h"
#include "scene/start.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *scree_scene_path(scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  char *joined = scree_path_beside(scene->name, node->text);
  char *found = joined ? realpath(joined, NULL) : NULL;
  scree_free(joined);
  if (!found) {
    scree_scene_refuse(scene, node, log, "%.200s: %s", node->text, strerror(errno));
    return NULL;
  }
  const char *path = scree_tree_text(&scene->tree, found, strlen(found));
  free(found);
  if (!path) scree_fail_memory(log, scene->name);
  return path;
}

typedef struct Source {
  scree_Scene *scene;
  const scree_Node *node;
  const scree_Log *log;
  scree_Start start;
  int *material; /* (start.materials) index in the scene, -1: not needed so far */
  int *number;   /* (start.bodies) of the body in the scene, -1: none */
} Source;

static int find_material(Source *source, int material) {
  scree_Scene *scene = source->scene;
  const char *name = scree_start_material(&source->start, material);
  for (int k = 0; name && k < scene->material_count; ++k)
    if (strcmp(name, scree_scene_material(scene, k, NULL, NULL)) == 0) return k;
  scree_scene_refuse(scene, source->node, source->log,
                     "start: bodies of the run are of the material \"%.60s\", expected it in "
                     "`materials`",
                     name ? name : "?");
  return -1;
}

/* The obstacle of the scene that stands for body b of the run, an obstacle; -1: none. */
static int find_obstacle(const Source *source, int b) {
  const scree_Scene *scene = source->scene;
  const char *name = scree_start_name(&source->start, b);
  for (int k = 0; name && k < scene->obstacle_count; ++k)
    if (scene->bodies[k].name && strcmp(scene->bodies[k].name, name) == 0) return k;
  if (name || b >= scene->obstacle_count || scene->bodies[b].name) return -1;
  return scene->bodies[b].shape.kind == source->start.body[b].shape->kind ? b : -1;
}

static scree_Vec3 triple(const double *x) {
  return scree_vec3(x[0], x[1], x[2]);
}

/* Which nodes of a finite-element body are held or move with an obstacle of the scene, and where
 * those are that do. */
static scree_Status take_holders(Source *source, int b, scree_SceneState *state) {
  const scree_StartBody *from = &source->start.body[b];
  for (int k = 0; k < from->nodes; ++k) {
    const int holder = from->holder[k];
    if (holder < 0) {
      state->holder[k] = holder;
      continue;
    }
    state->holder[k] = find_obstacle(source, holder);
    if (state->holder[k] < 0) {
      const char *name = scree_start_name(&source->start, holder);
      return scree_scene_refuse(source->scene, source->node, source->log,
                                "start: nodes of body %d of the run move with its obstacle "
                                "\"%.60s\", expected an obstacle of this name, or `clamps: false` "
                                "to free all nodes",
                                b, name ? name : "?");
    }
    if (!state->anchor) {
      state->anchor = SCREE_ALLOC(double, state->count);
      if (!state->anchor) return scree_fail_memory(source->log, source->scene->name);
      memcpy(state->anchor, state->q, (size_t)state->count * sizeof *state->q);
    }
    const scree_Vec3 x =
        scree_pose_apply(&source->start.body[holder].pose, triple(from->anchor + 3 * (size_t)k));
    for (int i = 0; i < 3; ++i) state->anchor[3 * k + i] = scree_component(x, i);
  }
  return SCREE_OK;
}

/* The state of a deformable body, with rates of 0 unless velocities are wanted. */
static scree_Status take_state(Source *source, int b, scree_SceneBody *body) {
  const scree_StartBody *from = &source->start.body[b];
  const scree_Node *node = source->node;
  const bool velocities = scree_node_true(node, "velocities");
  body->def.kind = from->kind;
  body->def.elastic = (scree_Elastic){.explicit_ = from->explicit_,
                                      .consistent_mass = from->consistent_mass,
                                      .keeps_shape = from->keeps_shape};
  scree_Status status = scree_scene_elastic(source->scene, node, source->log, &body->def);
  if (status) return status;
  if (from->kind == SCREE_BODY_PSEUDO_RIGID) {
    scree_Vec3 F[3], rate[3];
    const double *g = from->gradient;
    for (int j = 0; j < 3; ++j) {
      F[j] = scree_vec3(g[j], g[3 + j], g[6 + j]);
      rate[j] = velocities ? scree_vec3(g[9 + j], g[12 + j], g[15 + j]) : scree_vec3(0, 0, 0);
    }
    body->state = scree_scene_state_affine(source->scene, body, body->def.velocity.linear, F, rate);
  } else {
    body->state = scree_scene_state_create(3 * from->nodes, true);
  }
  if (!body->state) return scree_fail_memory(source->log, source->scene->name);
  if (velocities) body->state->account = from->account;
  if (from->kind == SCREE_BODY_PSEUDO_RIGID) return SCREE_OK;
  const size_t size = (size_t)body->state->count * sizeof(double);
  memcpy(body->state->q, from->node, size);
  if (velocities) memcpy(body->state->v, from->node_velocity, size);
  return scree_node_true(node, "clamps") ? take_holders(source, b, body->state) : SCREE_OK;
}

static scree_Status add(Source *source, int b, bool velocities) {
  scree_Scene *scene = source->scene;
  const scree_StartBody *from = &source->start.body[b];
  scree_SceneBody body = {.def = scree_body_def()};
  if (from->material < 0 || from->material >= source->start.materials)
    return scree_scene_refuse(scene, source->node, source->log,
                              "start: body %d of the run is of no material", b);
  int *material = &source->material[from->material];
  if (*material < 0) *material = find_material(source, from->material);
  if (*material < 0) return SCREE_BAD_INPUT;
  double density = 0;
  scree_scene_material(scene, *material, &density, NULL);
  const double before = scree_start_density(&source->start, from->material);
  const double ratio = before > 0 ? density / before : 1;
  body.def.material = *material;
  body.def.group = from->group;
  body.def.density = density;
  body.def.mass = ratio * from->mass;
  body.def.inertia = scree_scale(ratio, from->inertia);
  body.def.pose = from->pose;
  if (velocities) body.def.velocity = from->velocity;
  const char *name = scree_start_name(&source->start, b);
  if (name) {
    body.name = scree_tree_text(&scene->tree, name, strlen(name));
    if (!body.name) return scree_fail_memory(source->log, scene->name);
  }
  scree_shape_copy(from->shape, &body.shape);
  source->number[b] = (int)scene->body_count;
  if (from->kind != SCREE_BODY_RIGID) {
    const scree_Status status = take_state(source, b, &body);
    if (status != SCREE_OK) {
      scree_scene_state_free(body.state);
      scree_shape_fini(&body.shape);
      return status;
    }
  }
  return scree_scene_add(scene, &body, source->log);
}

/* The plate of the scene that has the name of body b of the run, and so is that body; -1: none. */
static int find_plate(const Source *source, int b) {
  const scree_Node *plates = scree_node_find(source->scene->tree.root, "plates");
  const char *name = scree_start_name(&source->start, b);
  for (int k = 0; name && k < plates->count; ++k)
    if (strcmp(name, scree_node_text(plates->entries[k].value, "name")) == 0) return k;
  return -1;
}

/* Move a plate to where its body is in the frame: its `point` is the middle of its face. */
static scree_Status move_plate(Source *source, int plate, int b) {
  scree_Scene *scene = source->scene;
  const scree_Node *map = scree_node_find(scene->tree.root, "plates")->entries[plate].value;
  const scree_StartBody *from = &source->start.body[b];
  const scree_Node *point = scree_node_find(map, "point");
  const scree_Vec3 n = scree_scene_vector(map, "normal");
  /* from the middle of the body to its face: the furthest point along the normal */
  const scree_Quat q = from->pose.orientation;
  const scree_Vec3 local = scree_quat_rotate(scree_quat_conj(q), n);
  const double half = scree_dot(scree_shape_support(from->shape, local), local) / scree_dot(n, n);
  const scree_Vec3 x = scree_axpy(from->pose.position, half, n);
  const double values[3] = {x.x, x.y, x.z};
  for (int k = 0; k < point->count; ++k) {
    scree_Node *fresh = scree_tree_number(&scene->tree, values[k], 0, 0);
    if (!fresh) return scree_fail_memory(source->log, scene->name);
    point->entries[k].value->text = fresh->text;
    point->entries[k].value->number = values[k];
  }
  return SCREE_OK;
}

static scree_Status add_contacts(Source *source) {
  const scree_Start *start = &source->start;
  scree_SceneStart *out = &source->scene->start;
  size_t remembered = 0;
  for (int c = 0; c < start->contacts; ++c) remembered += start->contact[c].memory != NULL;
  out->contacts = SCREE_ALLOC(scree_ContactImpulse, start->contacts);
  out->memory = SCREE_ALLOC(double, SCREE_CONTACT_MEMORY *remembered);
  if (!out->contacts || !out->memory) return scree_fail_memory(source->log, source->scene->name);
  double *memory = out->memory;
  for (int c = 0; c < start->contacts; ++c) {
    const scree_StartContact *from = &start->contact[c];
    const int a = source->number[from->body[0]], b = source->number[from->body[1]];
    if (a < 0 || b < 0) continue;
    scree_ContactImpulse *to = &out->contacts[out->count++];
    *to = (scree_ContactImpulse){.body = {a, b},
                                 .position = from->position,
                                 .impulse = from->impulse,
                                 .moment = from->moment,
                                 .named = true,
                                 .feature = from->feature};
    if (!from->memory) continue;
    memcpy(memory, from->memory, SCREE_CONTACT_MEMORY * sizeof *memory);
    to->memory = memory;
    memory += SCREE_CONTACT_MEMORY;
  }
  /* frame 0 was saved before the first step */
  out->step = start->frame > 0 ? start->step : 0;
  return SCREE_OK;
}

/* Joints are those of the scene, which may leave them out on purpose. */
static void tell_of_joints(const Source *source) {
  const scree_Node *root = source->scene->tree.root;
  const bool own = scree_node_find(root, "joints")->count > 0 ||
                   scree_node_find(root, "bonds")->count > 0 ||
                   scree_node_find(root, "plates")->count > 0;
  if (source->start.joints > 0 && !own)
    scree_report(
        source->log, SCREE_LOG_WARNING,
        "%s:%d:%d: start: the run has %d joints or bonds that hold, and this scene has none: "
        "list those that it should have in `joints` or `bonds`",
        source->scene->name, source->node->line, source->node->column, source->start.joints);
}

static scree_Status take_over(Source *source) {
  const scree_Node *node = source->node;
  const scree_Start *start = &source->start;
  if (start->dimension != source->scene->dimension)
    return scree_scene_refuse(source->scene, node, source->log,
                              "start: the run is %dD, the scene is %dD", start->dimension,
                              source->scene->dimension);
  tell_of_joints(source);
  source->material = SCREE_ALLOC(int, start->materials);
  source->number = SCREE_ALLOC(int, start->bodies);
  if (!source->material || !source->number)
    return scree_fail_memory(source->log, source->scene->name);
  for (int k = 0; k < start->materials; ++k) source->material[k] = -1;
  scree_Status status = SCREE_OK;
  for (int b = 0; b < start->bodies && status == SCREE_OK; ++b) {
    source->number[b] = -1;
    if (!start->body[b].present) continue;
    const int plate = find_plate(source, b);
    if (start->body[b].obstacle)
      source->number[b] = find_obstacle(source, b);
    else if (plate >= 0)
      status = move_plate(source, plate, b);
    else
      status = add(source, b, scree_node_true(node, "velocities"));
  }
  /* plates come after `bodies`, which come after the bodies of the start */
  const int first =
      (int)source->scene->body_count + scree_node_find(source->scene->tree.root, "bodies")->count;
  for (int b = 0; b < start->bodies; ++b) {
    const int plate =
        start->body[b].present && !start->body[b].obstacle ? find_plate(source, b) : -1;
    if (plate >= 0) source->number[b] = first + plate;
  }
  if (status == SCREE_OK && scree_node_true(node, "contacts")) status = add_contacts(source);
  return status;
}

scree_Status scree_scene_read_start(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *node = scree_node_find(scene->tree.root, "start");
  if (!node) return SCREE_OK;
  scree_Node *run = scree_node_find(node, "run");
  const char *folder = scree_scene_path(scene, run, log);
  if (!folder) return SCREE_BAD_INPUT;
  run->text = folder;
  Source source = {.scene = scene, .node = node, .log = log};
  scree_Status status =
      scree_start_open(folder, scree_node_text(node, "frame"), log, &source.start);
  if (status != SCREE_OK)
    return status == SCREE_BAD_INPUT
               ? scree_scene_refuse(scene, node, log, "start: this run cannot be used")
               : status;
  status = take_over(&source);
  scree_start_close(&source.start);
  scree_free(source.material);
  scree_free(source.number);
  return status;
}

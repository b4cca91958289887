/* Sensors (see sensors.h).
 *
 * Reading a sensor and measuring it use the same table of kinds. */
#include "scene/sensors.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "parallel/ranks.h"
#include "scene/scene.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of the schema, in the order of scree_SensorKind, and the type of the result: a number,
 * a vector, a rotation, which is one number in 2D, or a profile. */
static const struct {
  const char *word, *unit;
  char gives; /* 1, v, r; t: a tensor; p: a profile */
} kinds[SCREE_SENSOR_KINDS] = {
    {"position", "m", 'v'},
    {"rotation", "rad", 'r'},
    {"velocity", "m/s", 'v'},
    {"angular_velocity", "rad/s", 'r'},
    {"force", "N", 'v'},
    {"distance", "m", '1'},
    {"height", "m", '1'},
    {"flux", "kg/s", '1'},
    {"kinetic_energy", "J", '1'},
    {"joint_force", "N", 'v'},
    {"joint_torque", "N m", 'r'},
    {"joint_position", "m or rad", '1'},
    {"joint_effort", "N or N m", '1'},
    {"solid_fraction", "", '1'},
    {"mass", "kg", '1'},
    {"mean_velocity", "m/s", 'v'},
    {"velocity_profile", "m/s", 'p'},
    {"contact_force", "N", 'v'},
    {"contact_torque", "N m", 'r'},
    {"stress", "Pa", 't'},
    {"cell_stress", "Pa", 't'},
    {"cell_strain", "", 't'},
    {"cell_size", "m", 'v'},
    {"cell_work", "J", '1'},
    {"bonds_intact", "", '1'},
    {"bonds_broken", "", '1'},
};

static const char *const forms[] = {"value", "rate", "integral", "mean"};

const char *scree_sensor_unit_of(const scree_Sensor *sensor) {
  return kinds[sensor->kind].unit;
}

const char *scree_sensor_unit(const char *kind) {
  for (int k = 0; k < SCREE_SENSOR_KINDS; ++k)
    if (strcmp(kinds[k].word, kind) == 0) return kinds[k].unit;
  return "";
}

static int columns_of(const scree_Sensor *sensor, int dimension) {
  const char gives = kinds[sensor->kind].gives;
  if (gives == 'p') return sensor->bins;
  if (gives == 't') return dimension == 2 ? 3 : 6;
  if (gives == 'v') return dimension;
  return gives == 'r' && dimension == 3 ? 3 : 1;
}

/* ---- reading --------------------------------------------------------------------------------- */

int scree_scene_find_body(const scree_Scene *scene, const scree_Node *node, const scree_Log *log) {
  const char *words[256] = {NULL};
  int count = 0;
  const int64_t all = scree_scene_names(scene);
  for (int64_t k = 0; k < all; ++k) {
    const char *name = scree_scene_listed_name(scene, k);
    if (!name) continue;
    if (strcmp(name, node->text) == 0) return scree_scene_handle(scene, k);
    if (count < 255) words[count++] = name;
  }
  char *end;
  const long index = strtol(node->text, &end, 10);
  int64_t total = (int64_t)scene->body_count;
  for (int k = 0; k < scene->pour_count; ++k) total += scene->pours[k].count;
  if (end != node->text && *end == 0 && index >= 0 && index < total) return (int)index;
  const char *near = scree_nearest_word(node->text, words);
  scree_scene_refuse(
      scene, node, log,
      "no body or obstacle is named \"%.60s\"%s%s%s, nor is it a number from 0 to %lld", node->text,
      near ? " (did you mean " : "", near ? near : "", near ? "?)" : "", (long long)total - 1);
  return -1;
}

static scree_Status check_name(const scree_Scene *scene, const scree_Node *node, int known,
                               const scree_Log *log) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const size_t length = strlen(node->text);
  if (length == 0 || length > SCREE_SENSOR_NAME_MAX || strspn(node->text, letters) != length)
    return scree_scene_refuse(scene, node, log,
                              "found the name \"%.40s\", expected 1 to %d letters, digits, _ or -",
                              node->text, SCREE_SENSOR_NAME_MAX);
  for (int k = 0; k < known; ++k)
    if (strcmp(scene->sensors[k].name, node->text) == 0)
      return scree_scene_refuse(scene, node, log, "two sensors are named \"%s\"", node->text);
  return SCREE_OK;
}

static scree_Status read_bodies(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_Sensor *sensor) {
  const scree_Node *between = scree_node_find(map, "between");
  if (sensor->kind == SCREE_SENSOR_FORCE && scree_name_is_pattern(scree_node_text(map, "body"))) {
    sensor->pattern = scree_node_text(map, "body");
    return scree_scene_check_pattern(scene, scree_node_find(map, "body"), log);
  }
  for (int k = 0; k < (between ? 2 : 1); ++k) {
    const scree_Node *node = between ? between->entries[k].value : scree_node_find(map, "body");
    sensor->body[k] = scree_scene_find_body(scene, node, log);
    if (sensor->body[k] < 0) return SCREE_BAD_INPUT;
  }
  return SCREE_OK;
}

static scree_Status read_plane(const scree_Scene *scene, const scree_Node *map,
                               const scree_Log *log, scree_Sensor *sensor) {
  sensor->point = scree_scene_vector(map, "point");
  sensor->normal = scree_scene_vector(map, "normal");
  const double length = scree_norm(sensor->normal);
  if (!(length > 0))
    return scree_scene_refuse(scene, scree_node_find(map, "normal"), log,
                              "expected a vector other than zero");
  sensor->normal = scree_scale(1 / length, sensor->normal);
  sensor->radius =
      scree_node_find(map, "radius") ? scree_node_number(map, "radius") : (double)INFINITY;
  return SCREE_OK;
}

static scree_Status read_matter(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_Sensor *sensor) {
  const scree_Node *material = scree_node_find(map, "material");
  const scree_Node *bodies = scree_node_find(map, "bodies");
  if (strcmp(bodies->text, "all") != 0) {
    sensor->pattern = bodies->text;
    if (scree_scene_check_pattern(scene, bodies, log) != SCREE_OK) return SCREE_BAD_INPUT;
  }
  sensor->group = scree_node_find(map, "group") ? (int64_t)scree_node_number(map, "group") : -1;
  sensor->material = -1;
  if (strcmp(material->text, "all") == 0) return SCREE_OK;
  const char *words[64] = {NULL};
  for (int k = 0; k < scene->material_count; ++k) {
    const char *name = scree_scene_material(scene, k, NULL, NULL);
    if (strcmp(name, material->text) == 0) sensor->material = k;
    if (k < 63) words[k] = name;
  }
  if (sensor->material >= 0) return SCREE_OK;
  const char *near = scree_nearest_word(material->text, words);
  return scree_scene_refuse(scene, material, log, "no material is named \"%.60s\"%s%s%s",
                            material->text, near ? " (did you mean " : "", near ? near : "",
                            near ? "?" : "");
}

/* Two groups: each a name, a number, a pattern or all. */
static scree_Status read_groups(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_Sensor *sensor) {
  const scree_Node *between = scree_node_find(map, "between");
  for (int k = 0; k < 2; ++k) {
    const scree_Node *node = between->entries[k].value;
    if (strcmp(node->text, "all") == 0) {
      *(k ? &sensor->pattern2 : &sensor->pattern) = node->text;
    } else if (scree_name_is_pattern(node->text)) {
      *(k ? &sensor->pattern2 : &sensor->pattern) = node->text;
      if (scree_scene_check_pattern(scene, node, log) != SCREE_OK) return SCREE_BAD_INPUT;
    } else {
      sensor->body[k] = scree_scene_find_body(scene, node, log);
      if (sensor->body[k] < 0) return SCREE_BAD_INPUT;
    }
  }
  sensor->point = scree_scene_vector(map, "point");
  return SCREE_OK;
}

static scree_Status read_stress(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_Sensor *sensor) {
  const bool lower = scree_node_find(map, "lower"), upper = scree_node_find(map, "upper");
  if (lower != upper)
    return scree_scene_refuse(scene, map, log, "expected lower and upper, or none of them");
  sensor->whole = !lower;
  sensor->lower = scree_scene_vector(map, "lower");
  sensor->upper = scree_scene_vector(map, "upper");
  const scree_Vec3 e = scree_sub(sensor->upper, sensor->lower);
  if (lower && !(e.x > 0 && e.y > 0 && (scene->dimension == 2 || e.z > 0)))
    return scree_scene_refuse(scene, map, log, "expected lower < upper");
  if (scene->dimension == 2) {
    sensor->lower.z = -INFINITY;
    sensor->upper.z = INFINITY;
  }
  return SCREE_OK;
}

static scree_Status need_cell(const scree_Scene *scene, const scree_Node *map,
                              const scree_Log *log) {
  if (scene->cell.any) return SCREE_OK;
  return scree_scene_refuse(scene, map, log,
                            "the scene has no cell: expected one with the key "
                            "cell");
}

static scree_Status read_region(const scree_Scene *scene, const scree_Node *map,
                                const scree_Log *log, scree_Sensor *sensor) {
  const scree_Status status =
      scree_region_read(scene, scree_node_find(map, "region"), log, &sensor->region);
  if (status != SCREE_OK || sensor->kind != SCREE_SENSOR_VELOCITY_PROFILE) return status;
  sensor->bins = (int)scree_node_number(map, "bins");
  sensor->normal = scree_scene_vector(map, "along");
  sensor->component = scree_scene_vector(map, "component");
  if (!(scree_norm(sensor->normal) > 0 && scree_norm(sensor->component) > 0))
    return scree_scene_refuse(scene, map, log,
                              "along, component: expected vectors other than zero");
  sensor->normal = scree_unit_or(sensor->normal, sensor->normal);
  sensor->component = scree_unit_or(sensor->component, sensor->component);
  return SCREE_OK;
}

static scree_Status read_joint(const scree_Scene *scene, const scree_Node *map,
                               const scree_Log *log, scree_Sensor *sensor) {
  const scree_Node *name = scree_node_find(map, "joint");
  sensor->joint = scree_scene_find_joint(scene, name, log);
  if (sensor->joint < 0) return SCREE_BAD_INPUT;
  const scree_JointKind kind = scene->joints[sensor->joint].def.kind;
  const bool along =
      sensor->kind == SCREE_SENSOR_JOINT_POSITION || sensor->kind == SCREE_SENSOR_JOINT_EFFORT;
  if (!along || scree_joint_has_coordinate(kind)) return SCREE_OK;
  return scree_scene_refuse(scene, name, log,
                            "found a %s, which has no free coordinate for a %s; expected a hinge, "
                            "slider or spring",
                            scree_joint_name(kind), kinds[sensor->kind].word);
}

/* Rates come from the value at the start of the step, which forces do not have: they belong to a
 * step. */
static scree_Status read_form(const scree_Scene *scene, const scree_Node *map, const scree_Log *log,
                              scree_Sensor *sensor) {
  for (int k = 0; k < 4; ++k)
    if (scree_node_is(map, "gives", forms[k])) sensor->form = (scree_SensorForm)k;
  sensor->after = scree_node_number(map, "after");
  const bool of_step =
      sensor->kind == SCREE_SENSOR_FORCE || sensor->kind == SCREE_SENSOR_FLUX ||
      (sensor->joint >= 0 && sensor->kind != SCREE_SENSOR_JOINT_POSITION) ||
      (sensor->kind >= SCREE_SENSOR_CONTACT_FORCE && sensor->kind <= SCREE_SENSOR_CELL_STRESS);
  if (sensor->form == SCREE_SENSOR_RATE && of_step)
    return scree_scene_refuse(scene, scree_node_find(map, "gives"), log,
                              "a %s has no rate: expected value, integral or mean",
                              kinds[sensor->kind].word);
  return SCREE_OK;
}

scree_Status scree_scene_read_sensors(scree_Scene *scene, const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "sensors");
  if (list->count > SCREE_SENSORS_MAX)
    return scree_scene_refuse(scene, list, log, "found %d sensors, expected at most %d",
                              list->count, SCREE_SENSORS_MAX);
  scene->sensors = SCREE_ALLOC(scree_Sensor, list->count);
  if (!scene->sensors) return scree_fail_memory(log, scene->name);
  for (int k = 0; k < list->count; ++k) {
    const scree_Node *map = list->entries[k].value, *name = scree_node_find(map, "name");
    scree_Sensor *sensor = &scene->sensors[k];
    scree_Status status = check_name(scene, name, k, log);
    if (status != SCREE_OK) return status;
    sensor->name = name->text;
    sensor->joint = sensor->body[0] = sensor->body[1] = -1;
    while (sensor->kind < SCREE_SENSOR_KINDS - 1 &&
           !scree_node_is(map, "kind", kinds[sensor->kind].word))
      ++sensor->kind;
    switch (sensor->kind) {
    case SCREE_SENSOR_HEIGHT: sensor->fraction = scree_node_number(map, "fraction"); break;
    case SCREE_SENSOR_FLUX: status = read_plane(scene, map, log, sensor); break;
    case SCREE_SENSOR_KINETIC_ENERGY: status = read_matter(scene, map, log, sensor); break;
    case SCREE_SENSOR_JOINT_FORCE:
    case SCREE_SENSOR_JOINT_TORQUE:
    case SCREE_SENSOR_JOINT_POSITION:
    case SCREE_SENSOR_JOINT_EFFORT: status = read_joint(scene, map, log, sensor); break;
    case SCREE_SENSOR_SOLID_FRACTION:
    case SCREE_SENSOR_MASS:
    case SCREE_SENSOR_MEAN_VELOCITY:
    case SCREE_SENSOR_VELOCITY_PROFILE: status = read_region(scene, map, log, sensor); break;
    case SCREE_SENSOR_CONTACT_FORCE:
    case SCREE_SENSOR_CONTACT_TORQUE: status = read_groups(scene, map, log, sensor); break;
    case SCREE_SENSOR_STRESS: status = read_stress(scene, map, log, sensor); break;
    case SCREE_SENSOR_CELL_STRESS:
    case SCREE_SENSOR_CELL_STRAIN:
    case SCREE_SENSOR_CELL_SIZE:
    case SCREE_SENSOR_CELL_WORK: status = need_cell(scene, map, log); break;
    case SCREE_SENSOR_BONDS_INTACT:
    case SCREE_SENSOR_BONDS_BROKEN:
      sensor->bonds = scree_node_is(map, "bonds", "all")
                          ? -1
                          : scree_scene_find_bonds(scene, scree_node_find(map, "bonds"), log);
      if (sensor->bonds == -1 && !scree_node_is(map, "bonds", "all")) status = SCREE_BAD_INPUT;
      break;
    default: status = read_bodies(scene, map, log, sensor); break;
    }
    if (status == SCREE_OK) status = read_form(scene, map, log, sensor);
    if (status != SCREE_OK) return status;
    ++scene->sensor_count;
  }
  const int columns = scree_sensors_columns(scene);
  if (columns > SCREE_SENSOR_COLUMNS_MAX)
    return scree_scene_refuse(scene, list, log,
                              "found sensors of %d numbers, expected at most %d: take fewer bins",
                              columns, SCREE_SENSOR_COLUMNS_MAX);
  return SCREE_OK;
}

/* ---- at work --------------------------------------------------------------------------------- */

int scree_sensors_columns(const scree_Scene *scene) {
  int columns = 0;
  for (int k = 0; k < scene->sensor_count; ++k)
    columns += columns_of(&scene->sensors[k], scene->dimension);
  return columns;
}

scree_Status scree_sensors_init(scree_Sensors *sensors, const scree_Scene *scene,
                                const scree_Log *log) {
  *sensors = (scree_Sensors){.scene = scene};
  sensors->columns = scree_sensors_columns(scene);
  sensors->names = scree_alloc((size_t)sensors->columns, sizeof *sensors->names);
  sensors->values = SCREE_ALLOC(double, sensors->columns);
  sensors->before = SCREE_ALLOC(double, sensors->columns);
  sensors->kept = SCREE_ALLOC(double, sensors->columns);
  if (!sensors->names || !sensors->values || !sensors->before || !sensors->kept) {
    scree_sensors_fini(sensors);
    return scree_fail_memory(log, "the sensors");
  }
  int column = 0;
  for (int k = 0; k < scene->sensor_count; ++k) {
    const scree_Sensor *sensor = &scene->sensors[k];
    const int n = columns_of(sensor, scene->dimension);
    const bool profile = kinds[sensor->kind].gives == 'p';
    for (int c = 0; c < n; ++c, ++column) {
      char part[16] = "";
      if (profile)
        snprintf(part, sizeof part, ".%d", c);
      else if (n > 1)
        snprintf(part, sizeof part, "%s",
                 scree_sensor_suffix(kinds[sensor->kind].gives == 't', scene->dimension, c));
      snprintf(sensors->names[column], sizeof *sensors->names, "sensor.%.*s%s",
               SCREE_SENSOR_NAME_MAX, sensor->name, part);
    }
  }
  return SCREE_OK;
}

void scree_sensors_fini(scree_Sensors *sensors) {
  scree_free(sensors->names);
  scree_free(sensors->values);
  scree_free(sensors->before);
  scree_free(sensors->kept);
  scree_free(sensors->work);
  *sensors = (scree_Sensors){0};
}

/* Whether a force sensor looks at a body. */
static bool is_sensed(const scree_Scene *scene, const scree_Sensor *sensor, int body) {
  if (!sensor->pattern) return body == scree_scene_number(scene, sensor->body[0]);
  return scree_scene_takes(scene, sensor->pattern, body);
}

/* Of all contacts on the body: impulses of the step over its length. */
static scree_Vec3 force_on(const scree_Scene *scene, const scree_Sensor *sensor,
                           const scree_World *world) {
  const int n = scree_world_contact_count(world);
  const scree_ContactKey *keys = world->system.contacts.keys;
  scree_Vec3 sum = {0, 0, 0};
  for (int c = 0; c < n; ++c) {
    const bool first = is_sensed(scene, sensor, scree_body_number(world, keys[c].i));
    if (first == is_sensed(scene, sensor, scree_body_number(world, keys[c].j)))
      continue; /* of none, or between two of them */
    const scree_Contact contact = scree_world_contact(world, c);
    scree_Vec3 impulse = scree_scale(contact.r[0], contact.normal);
    impulse = scree_axpy(impulse, contact.r[1], contact.tangent[0]);
    impulse = scree_axpy(impulse, contact.r[2], contact.tangent[1]);
    sum = scree_axpy(sum, first ? 1 : -1, impulse);
  }
  sum = scree_sensor_sum(world, sum);
  return world->contact_h > 0 ? scree_scale(1 / world->contact_h, sum) : sum;
}

/* Mass whose centre went through the plane in the step, along the normal, over the step. A body
 * whose path meets the plane further from the point than the radius does not count. */
static double flux(const scree_Sensor *sensor, const scree_World *world) {
  const scree_Bodies *b = &world->system.bodies;
  double mass = 0;
  for (int k = 0; world->stepped && k < world->stepped_bodies; ++k) {
    if (!scree_sensor_counts(world, k)) continue;
    const scree_Vec3 x0 = scree_world_start_position(world, k);
    /* where it went, before a periodic cell took it back in */
    const scree_Vec3 x1 = scree_cell_nearest(&world->system.cell, b->motion[k].pose.position, x0);
    const double before = scree_dot(sensor->normal, scree_sub(x0, sensor->point));
    const double after = scree_dot(sensor->normal, scree_sub(x1, sensor->point));
    if ((before > 0) == (after > 0)) continue;
    const scree_Vec3 met = scree_axpy(x0, before / (before - after), scree_sub(x1, x0));
    if (scree_norm(scree_sub(met, sensor->point)) > sensor->radius) continue;
    mass += after > 0 ? b->inertia[k].mass : -b->inertia[k].mass;
  }
  return scree_ranks_sum(scree_world_ranks(world), mass) / world->system.settings.step;
}

static double kinetic_energy(const scree_Scene *scene, const scree_Sensor *sensor,
                             const scree_World *world) {
  const scree_Bodies *b = &world->system.bodies;
  double sum = 0;
  for (int k = 0; k < b->count; ++k) {
    if (!scree_sensor_counts(world, k) ||
        (sensor->material >= 0 && b->cold[k].material != sensor->material) ||
        (sensor->group >= 0 && (int64_t)b->cold[k].group != sensor->group))
      continue;
    if (sensor->pattern && !scree_scene_takes(scene, sensor->pattern, scree_body_number(world, k)))
      continue;
    sum += scree_body_kinetic(world, k);
  }
  return scree_ranks_sum(scree_world_ranks(world), sum);
}

/* The motions of the bodies of a sensor, from the ranks that have them; false: one is removed, or
 * not there yet. */
static bool find_bodies(const scree_Scene *scene, const scree_Sensor *sensor,
                        const scree_World *world, scree_Motion motion[2]) {
  enum { FIRST = 13, EACH = 14 }; /* place, orientation, two velocities, and 1 */
  double sums[2 * EACH] = {0};
  bool there = true;
  for (int side = 0; side < 2; ++side) {
    const int k = scree_body_find(world, scree_scene_number(scene, sensor->body[side]));
    if (k < 0 || !scree_body_is_mine(world, k) || scree_body_is_removed(world, k)) continue;
    const scree_Motion *m = &world->system.bodies.motion[k];
    double *mine = sums + (ptrdiff_t)EACH * side;
    memcpy(mine, &m->pose.position, 3 * sizeof *mine);
    memcpy(mine + 3, &m->velocity.linear, 3 * sizeof *mine);
    memcpy(mine + 6, &m->velocity.angular, 3 * sizeof *mine);
    memcpy(mine + 9, &m->pose.orientation, 4 * sizeof *mine);
    mine[FIRST] = 1;
  }
  scree_ranks_sums(scree_world_ranks(world), sums, 2 * EACH);
  for (int side = 0; side < 2; ++side) {
    const double *all = sums + (ptrdiff_t)EACH * side;
    there = there && (sensor->body[side] < 0 || all[FIRST] > 0);
    memcpy(&motion[side].pose.position, all, 3 * sizeof *all);
    memcpy(&motion[side].velocity.linear, all + 3, 3 * sizeof *all);
    memcpy(&motion[side].velocity.angular, all + 6, 3 * sizeof *all);
    memcpy(&motion[side].pose.orientation, all + 9, 4 * sizeof *all);
  }
  return there;
}

/* A sensor whose bodies exist has a finite value unless numbers have overflowed.
 */
static scree_Status refuse_value(const scree_Scene *scene, int k, double value, double time,
                                 const scree_Log *log) {
  const scree_Node *list = scree_node_find(scene->tree.root, "sensors");
  return scree_scene_refuse(scene, list->entries[k].value, log,
                            "sensors[%d] (%s) is %s at t = %.9g s, expected a finite number", k,
                            scene->sensors[k].name, isnan(value) ? "nan" : "infinite", time);
}

/* The quantities themselves, into out (columns). */
static scree_Status measure(scree_Sensors *sensors, const scree_World *world, double *out,
                            const scree_Log *log) {
  const scree_Scene *scene = sensors->scene;
  bool good = true;
  for (int k = 0; k < scene->sensor_count; ++k) {
    const scree_Sensor *sensor = &scene->sensors[k];
    const int n = columns_of(sensor, scene->dimension);
    scree_Motion motion[2];
    scree_Vec3 v = {NAN, NAN, NAN};
    if (sensor->region.kind != SCREE_REGION_NONE) {
      scree_sensor_region(sensor, world, out);
      out += n;
      continue;
    }
    double tensor[SCREE_SENSOR_VALUES];
    bool filled = false; /* `tensor` has the values */
    const bool named = sensor->body[0] >= 0 || sensor->body[1] >= 0;
    const bool is_there = !named || find_bodies(scene, sensor, world, motion);
    if (is_there) switch (sensor->kind) {
      case SCREE_SENSOR_POSITION: v = motion[0].pose.position; break;
      case SCREE_SENSOR_ROTATION:
        v = scree_quat_vector(motion[0].pose.orientation);
        if (n == 1) v.x = v.z;
        break;
      case SCREE_SENSOR_VELOCITY: v = motion[0].velocity.linear; break;
      case SCREE_SENSOR_ANGULAR_VELOCITY:
        v = motion[0].velocity.angular;
        if (n == 1) v.x = v.z;
        break;
      case SCREE_SENSOR_FORCE: v = force_on(scene, sensor, world); break;
      case SCREE_SENSOR_DISTANCE:
        v.x = scree_norm(scree_sub(motion[0].pose.position, motion[1].pose.position));
        break;
      case SCREE_SENSOR_HEIGHT: v.x = scree_sensor_height(sensors, sensor, world, &good); break;
      case SCREE_SENSOR_FLUX: v.x = flux(sensor, world); break;
      case SCREE_SENSOR_KINETIC_ENERGY: v.x = kinetic_energy(scene, sensor, world); break;
      case SCREE_SENSOR_JOINT_FORCE: v = scree_joint_of_all(world, sensor->joint).force; break;
      case SCREE_SENSOR_JOINT_TORQUE:
        v = scree_joint_of_all(world, sensor->joint).torque;
        if (n == 1) v.x = v.z;
        break;
      case SCREE_SENSOR_JOINT_POSITION: v.x = scree_joint_of_all(world, sensor->joint).x; break;
      case SCREE_SENSOR_JOINT_EFFORT: v.x = scree_joint_of_all(world, sensor->joint).effort; break;
      case SCREE_SENSOR_CONTACT_FORCE: v = scree_sensor_between(scene, sensor, world, false); break;
      case SCREE_SENSOR_CONTACT_TORQUE:
        v = scree_sensor_between(scene, sensor, world, true);
        if (n == 1) v.x = v.z;
        break;
      case SCREE_SENSOR_STRESS:
        filled = good = scree_sensor_stress(sensor, world, scene->dimension, tensor) == SCREE_OK;
        break;
      case SCREE_SENSOR_CELL_STRESS:
      case SCREE_SENSOR_CELL_STRAIN:
      case SCREE_SENSOR_CELL_SIZE:
      case SCREE_SENSOR_CELL_WORK:
        scree_sensor_cell(sensor, world, scene->dimension, tensor);
        filled = true;
        break;
      case SCREE_SENSOR_BONDS_INTACT:
      case SCREE_SENSOR_BONDS_BROKEN: {
        int bonds, broken;
        scree_world_count_bonds(world, sensor->bonds, &bonds, &broken);
        v.x = sensor->kind == SCREE_SENSOR_BONDS_BROKEN ? broken : bonds - broken;
        break;
      }
      default: break; /* of regions */
      }
    const bool empty = sensor->kind == SCREE_SENSOR_HEIGHT && isnan(v.x); /* no bodies */
    for (int c = 0; c < n; ++c) {
      *out = filled ? tensor[c] : c < 3 ? scree_component(v, c) : (double)NAN;
      if (good && is_there && !empty && !isfinite(*out))
        return refuse_value(scene, k, *out, scree_world_time(world), log);
      ++out;
    }
  }
  return good ? SCREE_OK : scree_fail_memory(log, "the sensors");
}

scree_Status scree_sensors_begin(scree_Sensors *sensors, const scree_World *world,
                                 const scree_Log *log) {
  bool rates = false;
  for (int k = 0; k < sensors->scene->sensor_count; ++k)
    rates = rates || sensors->scene->sensors[k].form == SCREE_SENSOR_RATE;
  sensors->time_before = scree_world_time(world);
  return rates ? measure(sensors, world, sensors->before, log) : SCREE_OK;
}

void scree_sensors_resume(scree_Sensors *sensors, const char *line) {
  for (int k = 0; k < sensors->columns; ++k) {
    char key[SCREE_SENSOR_COLUMN_SIZE + 4];
    snprintf(key, sizeof key, "\"%s\": ", sensors->names[k]);
    const char *found = strstr(line, key);
    char *end = NULL;
    const double value = found ? strtod(found + strlen(key), &end) : 0;
    sensors->kept[k] = end && end != found + strlen(key) && isfinite(value) ? value : 0;
  }
}

/* m_n = m_(n-1) + (x - m_(n-1)) h / T is the mean over T, and needs no other memory. */
static double form_of(const scree_Sensors *sensors, const scree_Sensor *sensor, int column,
                      double time) {
  const double x = sensors->values[column], h = time - sensors->time_before;
  double *kept = &sensors->kept[column];
  if (sensor->form == SCREE_SENSOR_VALUE) return x;
  if (sensor->form == SCREE_SENSOR_RATE) return h > 0 ? (x - sensors->before[column]) / h : 0;
  const double span = time - fmax(sensor->after, 0);
  const bool counts = span > 0.5 * h && isfinite(x);
  if (sensor->form == SCREE_SENSOR_INTEGRAL) {
    if (counts) *kept += h * x;
    return *kept;
  }
  if (span <= 0.5 * h) return NAN;
  if (counts) *kept += (x - *kept) * fmin(1, h / span);
  return *kept;
}

scree_Status scree_sensors_take(scree_Sensors *sensors, const scree_World *world,
                                const scree_Log *log) {
  const scree_Status status = measure(sensors, world, sensors->values, log);
  int column = 0;
  for (int k = 0; k < sensors->scene->sensor_count && status == SCREE_OK; ++k) {
    const scree_Sensor *sensor = &sensors->scene->sensors[k];
    const int n = columns_of(sensor, sensors->scene->dimension);
    for (int c = 0; c < n; ++c, ++column)
      sensors->values[column] = form_of(sensors, sensor, column, scree_world_time(world));
  }
  return status;
}

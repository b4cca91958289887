/* Values that a scene leaves to `auto`: tolerance, time step, frames. They are chosen here and
 * written into the tree, so that the scene as used shows it. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "scene/scene.h"
#include "world/refine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

scree_Status scree_scene_resolve_start(scree_Scene *scene, const scree_Log *log) {
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
    good = good && scree_scene_set_number(scene, solver, "tolerance", defaults.tolerance);
  return good ? SCREE_OK : scree_fail_memory(log, scene->name);
}

/* ---- the automatic step ------------------------------------------------------------------------
 *
 * In one step a body may, at most,
 *     move under gravity from rest by       fall^2 of its size        free flight and impacts
 *     move under an applied force from rest by    load^2 of its size  loads are mostly carried
 *     or, at its speed or that of an obstacle, by travel of its size  who meets whom; by aimed, if
 *                                                                     all are balls, whose meeting
 *                                                                     points are known; where
 *     bodies bounce with e_n above lossy, less: bouncing times that   two impacts in a step
 *     from lossless on
 *     or, at the speed of a fall through the scene, by miss of it     bodies that pass each other,
 *                                                                     if some are not balls
 *     turn by turn, and obstacles too                                 expansion of gaps
 *     swing in joints and on springs by swing and spring of a radian  stability; accuracy
 *     move, pressed by a plate or cell, from rest by press^2 of its size  as under gravity
 *     strain by rotation, if deformable: strain; travel wave of a wave, if explicit; explicit
 *     with finite elements: take stable of the longest step that is; be hit in parts of a step that
 *     resolve the impact (body/ringing.h)
 *     be deformed with a periodic cell by deform                       accuracy of the motion
 * Signals are looked at in `samples` instants of the duration. The numbers are those with which the
 * averages of the scenes in bench/scenes are right to 1 % (docs/VALIDATION.md). */
static const struct {
  double fall, load, travel, aimed, bouncing, lossy, lossless, miss, turn, swing, spring, strain,
      wave, stable, deform, press;
  int samples;
} auto_step = {.fall = 0.03,
               .load = 0.1,
               .travel = 0.05,
               .aimed = 0.1,
               .bouncing = 0.2,
               .lossy = 0.9, /* restitution up to which they count as others */
               .lossless = 0.95,
               .miss = 0.25,
               .turn = 0.1,
               .swing = 0.5,
               .spring = 0.2,
               .strain = 0.4,
               .wave = 0.2,
               .stable = 0.5,
               .deform = 0.005,
               .press = 0.075,
               .samples = 200};

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
    if (v > *speed) *speed = v; /* values that are not finite are reported when their time comes */
    if (turn > *spin && !scree_shape_is_ball(&body->shape)) *spin = turn;
  }
}

/* Bodies of mass m and area A on which a pressure acts by p A. */
static double step_of_pressure(const scree_Scene *scene, double p) {
  double step = INFINITY;
  for (size_t b = 0; b < scene->kept && p > 0; ++b) {
    const scree_SceneBody *body = &scene->bodies[b];
    if (body->def.obstacle || !(body->shape.volume > 0)) continue;
    const double density =
        body->def.mass > 0 ? body->def.mass / body->shape.volume : body->def.density;
    if (density > 0) step = fmin(step, auto_step.press * body->shape.size * sqrt(density / p));
  }
  return step;
}

/* Step in which force k alone moves a body from rest by load^2 of its size. */
static double step_of_force(const scree_Scene *scene, int k) {
  const scree_ForceDef *def = &scene->forces[k].def;
  double most = 0, spans = 1;
  for (int i = 0; i < 2; ++i) {
    const scree_Span *span = &def->span[i];
    if (!(scree_norm(span->along) > 0)) continue;
    const scree_Vec3 way = scree_sub(scene->bodies[span->body[0]].def.pose.position,
                                     scene->bodies[span->body[1]].def.pose.position);
    spans *= fmax(0, scree_dot(span->along, way) - span->less);
  }
  for (int i = 0; i <= auto_step.samples; ++i) {
    const double time = scene->duration * i / auto_step.samples;
    const double f = spans * scree_norm(scree_scene_force_at(&scene->forces[k], time).linear);
    if (f > most && isfinite(f)) most = f;
  }
  double step = INFINITY;
  for (size_t b = 0; b < scene->kept && most > 0; ++b) {
    const scree_SceneBody *body = &scene->bodies[b];
    if (body->def.obstacle || (def->body >= 0 && def->body != scree_scene_kept_number(scene, b)))
      continue;
    if (scene->forces[k].pattern && !scree_name_matches(scene->forces[k].pattern, body->name))
      continue;
    const double density = body->def.density > 0 ? body->def.density : 0;
    const double mass = body->def.mass > 0 ? body->def.mass : density * body->shape.volume;
    /* a pressure acts on about a face of the body */
    const double f = def->pressure ? most * body->shape.volume / body->shape.size : most;
    const double acceleration = def->per_mass ? most : f / mass;
    if (acceleration > 0) step = fmin(step, auto_step.load * sqrt(body->shape.size / acceleration));
  }
  /* what a plate presses on, a body of mass m and area A by p A */
  if (scene->forces[k].face > 0)
    step = fmin(step, step_of_pressure(scene, most / scene->forces[k].face));
  return step;
}

/* The largest pressure on a side of the cell. */
static double step_of_cell(const scree_Scene *scene) {
  double most = 0;
  for (int k = 0; k < 3 && scene->cell.any; ++k)
    most = fmax(most, fabs(scene->cell.def.pressure[k])); /* NAN: none */
  return step_of_pressure(scene, most);
}

static double mass_of(const scree_SceneBody *body) {
  if (body->def.mass > 0) return body->def.mass;
  return (body->def.density > 0 ? body->def.density : 0) * body->shape.volume;
}

/* Joints. A light body between others that hang on it swings at sqrt(4 T / (m l)), T the tension:
 * here the weight of all jointed bodies. A spring makes its body swing at sqrt(k / m). */
static double step_of_joints(const scree_Scene *scene, double g) {
  double weight = 0, step = INFINITY;
  for (int k = 0; k < scene->joint_count; ++k)
    for (int side = 0; side < 2; ++side) {
      if (scene->joints[k].def.body[side] < 0) continue;
      const scree_SceneBody *body = &scene->bodies[scene->joints[k].def.body[side]];
      if (!body->def.obstacle) weight += g * mass_of(body); /* a body in two joints counts twice */
    }
  for (int k = 0; k < scene->joint_count; ++k) {
    const scree_JointDef *def = &scene->joints[k].def;
    for (int side = 0; side < 2; ++side) {
      if (def->body[side] < 0) continue;
      const scree_SceneBody *body = &scene->bodies[def->body[side]];
      if (body->def.obstacle) continue;
      const double m = mass_of(body), l = body->shape.size;
      const double spring =
          def->kind == SCREE_JOINT_HINGE ? def->stiffness / (l * l / 4) : def->stiffness;
      if (weight > 0) step = fmin(step, auto_step.swing * sqrt(m * l / (4 * weight)));
      if (spring > 0) step = fmin(step, auto_step.spring * sqrt(m / spring));
    }
  }
  return step;
}

/* Deformable bodies. A rotating one moves along chords between kicks, which strains it by
 * (w h)^2 / 8; its energy stays small against that of the rotation if h^2 w is small against a / c,
 * a the size, c the speed of waves. Spin comes from speed: w = v / a. An explicit step must resolve
 * the waves themselves and be stable: h < 2/w (sqrt(1 + z^2) - z) with the highest frequency w,
 * about 2 c / a, of finite elements with edges l at most 2 sqrt(3) c / l (3 times that square with
 * masses between the nodes), and its damping z = w damping / 2. */
static double shortest_edge(const scree_ElementMesh *mesh) {
  const scree_Vec3 *node = scree_element_mesh_nodes(mesh);
  double least = INFINITY;
  for (int e = 0; e < scree_element_mesh_element_count(mesh); ++e) {
    scree_ElementKind kind;
    const int *corner = scree_element_mesh_element(mesh, e, &kind);
    for (int a = 0; a < scree_element_kind_corners(kind); ++a)
      for (int b = 0; b < a; ++b)
        least = fmin(least, scree_norm(scree_sub(node[corner[a]], node[corner[b]])));
  }
  return least;
}

static double step_of_waves(const scree_Elastic *e, const scree_Shape *shape, double scale,
                            double size, double speed) {
  const bool elements = scree_shape_type(shape->kind)->takes_elements;
  const double edge = elements ? scale * shortest_edge(scree_shape_elements(shape)) : size;
  const double stiff = !elements ? 1 : e->consistent_mass ? 9 : 3;
  const double w = 2 * sqrt(stiff) * speed / edge, z = 0.5 * w * e->damping;
  const double undamped = elements ? auto_step.stable * 2 / w : auto_step.wave * size / speed;
  return undamped * (sqrt(1 + z * z) - z);
}

/* `speed`: the highest in the scene; `impact`: at which this body may meet others; `parts`: those
 * into which a step is divided then. */
static double step_of_deformable(const scree_BodyDef *def, const scree_Shape *shape, double scale,
                                 double speed, double impact, double parts) {
  const scree_Elastic *e = &def->elastic;
  if (def->kind == SCREE_BODY_RIGID || !(def->density > 0)) return INFINITY;
  const scree_Ringing r = scree_ringing(e, def->density, scale * shape->size);
  const double turning = speed > 0 ? auto_step.strain * sqrt(r.wave * r.half / speed) : INFINITY;
  const double waves = e->explicit_ ? step_of_waves(e, shape, scale, r.half, r.half / r.wave)
                                    : parts * scree_ringing_step(&r, e, impact);
  return fmin(turning, waves);
}

/* Whether all bodies that move are balls; where they meet is computed along their paths. */
static bool has_only_balls(const scree_Scene *scene) {
  for (size_t k = 0; k < scene->kept; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    if (body->def.obstacle) continue;
    if (!scree_shape_is_ball(&body->shape) || body->def.kind != SCREE_BODY_RIGID) return false;
  }
  for (int k = 0; k < scene->pour_count; ++k) {
    const scree_Grain *grain = &scene->pours[k].grain;
    if (!scree_shape_is_ball(&grain->shape) || grain->def.kind != SCREE_BODY_RIGID) return false;
  }
  return true;
}

/* Height of the highest body over the lowest point of any body or obstacle, along gravity. */
static double drop(const scree_Scene *scene) {
  const double g = scree_norm(scene->gravity);
  if (!(g > 0)) return 0;
  const scree_Vec3 up = scree_scale(-1 / g, scene->gravity);
  double top = -INFINITY, bottom = INFINITY;
  for (size_t k = 0; k < scene->kept; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    const double height = scree_dot(up, body->def.pose.position);
    bottom = fmin(bottom, height - reach_of(&body->shape));
    if (!body->def.obstacle) top = fmax(top, height);
  }
  top = scree_scene_most(scene, top);
  bottom = scree_scene_least(scene, bottom);
  for (int k = 0; k < scene->pour_count; ++k) {
    const scree_Region *region = &scene->pours[k].region;
    top = fmax(top, fmax(scree_dot(up, region->lower), scree_dot(up, region->upper)));
  }
  return top > bottom ? top - bottom : 0;
}

/* Height, along gravity, of the lowest body or obstacle, as if all were balls. */
static double lowest(const scree_Scene *scene, scree_Vec3 up) {
  double bottom = INFINITY;
  for (size_t k = 0; k < scene->kept; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    const double half = isfinite(body->shape.size) ? 0.5 * body->shape.size : 0;
    bottom = fmin(bottom, scree_dot(up, body->def.pose.position) - half);
  }
  return scree_scene_least(scene, bottom);
}

/* The shortest step of deformable bodies, of which one moves at `speed` at most before it falls. */
static double step_of_deformables(const scree_Scene *scene, double g, double speed, double fast) {
  const scree_Vec3 up = g > 0 ? scree_scale(-1 / g, scene->gravity) : scree_vec3(0, 0, 0);
  const double bottom = lowest(scene, up), most = g * scene->duration;
  const scree_Node *time = scree_node_find(scene->tree.root, "time");
  const double parts = ldexp(1, scree_refine_highest((int)scree_node_number(time, "max_halvings")));
  double step = INFINITY;
  for (size_t k = 0; k < scene->kept; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    const double free = scree_dot(up, body->def.pose.position) - 0.5 * body->shape.size - bottom;
    const double impact = hypot(speed, fmin(sqrt(2 * g * fmax(0, free)), most));
    step = fmin(step, step_of_deformable(&body->def, &body->shape, 1, fast, impact, parts));
  }
  for (int k = 0; k < scene->pour_count; ++k) {
    const scree_Grain *grain = &scene->pours[k].grain;
    step = fmin(
        step, step_of_deformable(&grain->def, &grain->shape, grain->scale.min, fast, fast, parts));
  }
  return step;
}

/* Part of its way that a body may move where it bounces. One that meets two others in a step loses
 * energy (step/event.c), and where impacts lose little that is most of the loss: 100 disks that
 * cover 28 % of a box and bounce with e_n = 1 kept half of their energy for 2 s, and keep 99 % with
 * a fifth of the step (docs/validation/elastic.md). */
static double part_of_bouncing(const scree_Scene *scene) {
  const int last = scene->kept ? scree_scene_kept_number(scene, scene->kept - 1) : -1;
  const double e = scree_scene_restitution(scene);
  double moving = scree_scene_most(scene, last) + 1 - scene->obstacle_count;
  for (int k = 0; k < scene->pour_count; ++k) moving += scene->pours[k].count;
  if (moving < 2 || !(e > auto_step.lossy)) return 1;
  const double part = (e - auto_step.lossy) / (auto_step.lossless - auto_step.lossy);
  return 1 - (1 - auto_step.bouncing) * fmin(1, part);
}

static double automatic_step(const scree_Scene *scene) {
  const double g = scree_norm(scene->gravity);
  double speed = 0, spin = 0, step = INFINITY;
  for (size_t k = 0; k < scene->kept; ++k) fastest(scene, &scene->bodies[k], &speed, &spin);
  for (int k = 0; k < scene->pour_count; ++k)
    speed = fmax(speed, scree_norm(scene->pours[k].grain.def.velocity.linear));
  speed = scree_scene_most(scene, speed);
  spin = scree_scene_most(scene, spin);
  if (g > 0) step = auto_step.fall * sqrt(scene->smallest / g);
  const bool balls = scree_scene_least(scene, has_only_balls(scene)) > 0;
  const double travel = (balls ? auto_step.aimed : auto_step.travel) * part_of_bouncing(scene);
  if (speed > 0) step = fmin(step, travel * scene->smallest / speed);
  if (spin > 0) step = fmin(step, auto_step.turn / spin);
  const double fall = fmin(sqrt(2 * g * drop(scene)), g * scene->duration);
  if (g > 0 && fall > 0 && !balls)
    step = fmin(step, auto_step.miss * scene->smallest / hypot(speed, fall));
  step = fmin(step, step_of_deformables(scene, g, speed, hypot(speed, fall)));
  for (int k = 0; k < scene->force_count; ++k) step = fmin(step, step_of_force(scene, k));
  step = fmin(step, step_of_joints(scene, g));
  const double rate = scree_scene_cell_rate(scene);
  if (rate > 0) step = fmin(step, auto_step.deform / rate);
  step = scree_scene_least(scene, fmin(step, step_of_cell(scene)));
  if (!isfinite(step)) step = scene->duration / 1000;
  return fmin(step, scene->duration);
}

scree_Status scree_scene_resolve_time(scree_Scene *scene, const scree_Log *log) {
  scree_Node *time = scree_node_find(scene->tree.root, "time");
  scree_Node *output = scree_node_find(scene->tree.root, "output");
  scene->duration = scree_node_number(time, "duration");
  scene->smallest = INFINITY;
  for (size_t k = 0; k < scene->kept; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    if (!body->def.obstacle) scene->smallest = fmin(scene->smallest, body->shape.size);
  }
  for (int k = 0; k < scene->pour_count; ++k) {
    const scree_Grain *grain = &scene->pours[k].grain;
    scene->smallest = fmin(scene->smallest, grain->scale.min * grain->shape.size);
  }
  scene->smallest = scree_scene_least(scene, scene->smallest);
  scene->automatic_step = scree_node_is(time, "step", "auto");
  if (scene->automatic_step && !scree_scene_set_number(scene, time, "step", automatic_step(scene)))
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
      !scree_scene_set_number(scene, output, "every", scene->step * (double)frame_every))
    return scree_fail_memory(log, scene->name);
  const double every = floor(scree_node_number(output, "every") / scene->step + 0.5);
  scene->frame_steps = every < 1 ? 1 : every > 1e15 ? (int64_t)1e15 : (int64_t)every;
  return SCREE_OK;
}

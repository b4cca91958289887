/* scree at all defaults: scheme, step, tolerance and solver are those that a scene gets which says
 * nothing about them. "accurate" asks for a tenth of the error and half of the step. */
#include "bench/engines/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Scree {
  scree_Scene *scene;
  scree_World *world;
} Scree;

static void print_log(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level <= SCREE_LOG_ERROR) fprintf(stderr, "%s\n", message);
}

static const scree_Log engine_log = {print_log, NULL};

static const char *version(void) {
  return scree_version();
}

static void destroy(void *engine) {
  Scree *s = engine;
  scree_world_destroy(s->world);
  scree_scene_destroy(s->scene);
  free(s);
}

static void *create(const Scene *scene, const Setting *setting, double *step) {
  Scree *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  if (scree_scene_parse(scene->text, scene->length, "scene", NULL, &engine_log, &s->scene) ||
      scree_scene_build(s->scene, &engine_log, &s->world)) {
    destroy(s);
    return NULL;
  }
  scree_WorldSettings settings = *scree_world_get_settings(s->world);
  settings.solve.threads = 1;
  if (setting->level > 0) {
    settings.step /= 2;
    settings.solve.tolerance /= 10;
  }
  if (setting->step > 0) settings.step = setting->step;
  if (scree_world_set_settings(s->world, &settings)) {
    destroy(s);
    return NULL;
  }
  *step = settings.step;
  return s;
}

static bool step(void *engine) {
  Scree *s = engine;
  return scree_world_step(s->world, NULL) <= SCREE_NOT_CONVERGED;
}

static void state(void *engine, scree_Pose *poses, scree_Twist *velocities) {
  const Scree *s = engine;
  for (int k = 0; k < scree_world_body_count(s->world); ++k) {
    poses[k] = scree_body_pose(s->world, k);
    velocities[k] = scree_body_velocity(s->world, k);
  }
}

/* Its kick comes in the middle of a step, so that engines.c measures the problem that the world
 * itself posed (scree_world_problem) by the same function. */
static int contacts(void *engine, Touch *touches, int most) {
  (void)engine;
  (void)touches;
  (void)most;
  return -1;
}

scree_World *engine_scree_world(void *engine);
scree_World *engine_scree_world(void *engine) {
  return ((Scree *)engine)->world;
}

const Engine engine_scree = {
    "scree",
    version,
    {{"default", "all defaults of a scene: moreau-jean, automatic step, error 1e-4", 0, 0},
     {"accurate", "half of that step, error 1e-5", 0, 1}},
    create,
    step,
    state,
    contacts,
    destroy,
    NULL,
};

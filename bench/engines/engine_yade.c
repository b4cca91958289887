/* YADE, a discrete element code: contacts are springs, so its steps are as short as those need.
 * Spheres between walls along the axes alone: where it fits. It runs as a process of its own
 * (engine_yade.py); a step here is a block of its steps, and its processor time is its own word.
 * "default": its material (1 GPa) and the damping and half of the critical step of its tutorial.
 * "accurate": ten times as stiff, and a quarter of the critical step. */
#define _DEFAULT_SOURCE
#include "bench/engines/engine.h"

#include "math/vec3.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 13 }; /* of a body: position, orientation, velocity, spin */

typedef struct Yade {
  const Scene *scene;
  FILE *to, *from;
  pid_t child;
  double seconds;
  int spheres;
  double *table; /* (spheres x NUMBERS) */
} Yade;

static const char *version(void) {
  static char text[64] = "";
  FILE *said = popen("yade --version 2>/dev/null", "r");
  char line[200], number[40];
  while (said && fgets(line, sizeof line, said))
    if (!text[0] && sscanf(line, "Yade version: %39[^,\n ]", number) == 1)
      snprintf(text, sizeof text, "%s", number);
  if (said) pclose(said);
  return text;
}

static bool is_along_axis(scree_Vec3 n) {
  const double largest = fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z)));
  return largest > 1 - 1e-12;
}

static scree_Vec3 normal_of(const Scene *scene, const Body *body) {
  const scree_Vec3 up = scene->planar ? (scree_Vec3){0, 1, 0} : (scree_Vec3){0, 0, 1};
  return scree_quat_rotate(body->pose.orientation, up);
}

static bool fits(const Scene *scene) {
  for (int k = 0; k < scene->count; ++k) {
    const Body *body = &scene->bodies[k];
    if (body->kind == BODY_SPHERE && body->mass > 0) continue;
    if (body->kind != BODY_HALF_SPACE || !is_along_axis(normal_of(scene, body))) return false;
  }
  return true;
}

static void destroy(void *engine) {
  Yade *s = engine;
  if (s->to) fclose(s->to); /* the end of its input ends it */
  if (s->from) fclose(s->from);
  if (s->child > 0) waitpid(s->child, NULL, 0);
  free(s->table);
  free(s);
}

/* Its numbers come and go on descriptors 3 and 4: it prints on the others. */
static bool start(Yade *s) {
  int down[2], up[2];
  if (pipe(down) || pipe(up)) return false;
  signal(SIGPIPE, SIG_IGN);
  if ((s->child = fork()) == 0) {
    const int in = dup(down[0]), out = dup(up[1]); /* away from 3 and 4 */
    const int high_in = dup2(in, 100), high_out = dup2(out, 101);
    dup2(high_in, 3);
    dup2(high_out, 4);
    for (int k = 5; k <= 101; ++k) close(k);
    if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
        !freopen("/dev/null", "w", stderr))
      _exit(1);
    execlp("yade", "yade", "-n", "-x", "-j1", SCREE_ENGINE_YADE, (char *)NULL);
    _exit(1);
  }
  close(down[0]);
  close(up[1]);
  s->to = fdopen(down[1], "wb");
  s->from = fdopen(up[0], "rb");
  return s->child > 0 && s->to && s->from;
}

static bool write_scene(Yade *s, const Setting *setting, double block) {
  const Scene *scene = s->scene;
  const int32_t head[3] = {scene->count, scene->planar, setting->level};
  const double numbers[5] = {scene->mu, block, scene->gravity.x, scene->gravity.y,
                             scene->gravity.z};
  fwrite(head, sizeof head, 1, s->to);
  fwrite(numbers, sizeof numbers, 1, s->to);
  for (int k = 0; k < scene->count; ++k) {
    const Body *body = &scene->bodies[k];
    const int32_t sphere = body->kind == BODY_SPHERE;
    const scree_Vec3 x = body->pose.position, v = body->velocity.linear;
    const scree_Vec3 n = sphere ? (scree_Vec3){0, 0, 0} : normal_of(scene, body);
    const double row[12] = {
        body->radius, body->mass, body->inertia.z, x.x, x.y, x.z, n.x, n.y, n.z, v.x, v.y, v.z};
    fwrite(&sphere, sizeof sphere, 1, s->to);
    fwrite(row, sizeof row, 1, s->to);
    s->spheres += sphere;
  }
  return fflush(s->to) == 0;
}

static void *create(const Scene *scene, const Setting *setting, double *step) {
  if (!fits(scene)) return NULL;
  Yade *s = calloc(1, sizeof *s);
  double own;
  if (!s) return NULL;
  s->scene = scene;
  *step = setting->step;
  if (start(s) && write_scene(s, setting, *step) && fread(&own, sizeof own, 1, s->from) == 1 &&
      (s->table = calloc((size_t)s->spheres, NUMBERS * sizeof(double)))) {
    for (int k = 0, row = 0; k < scene->count; ++k) {
      if (scene->bodies[k].kind != BODY_SPHERE) continue;
      const Body *b = &scene->bodies[k];
      const double first[NUMBERS] = {
          b->pose.position.x,   b->pose.position.y,   b->pose.position.z,   1, 0, 0, 0,
          b->velocity.linear.x, b->velocity.linear.y, b->velocity.linear.z, 0, 0, 0};
      for (int j = 0; j < NUMBERS; ++j) s->table[row * NUMBERS + j] = first[j];
      ++row;
    }
    return s;
  }
  destroy(s);
  return NULL;
}

static bool step(void *engine) {
  Yade *s = engine;
  double used = 0;
  if (fputc('s', s->to) == EOF || fflush(s->to) || fread(&used, sizeof used, 1, s->from) != 1)
    return false;
  s->seconds += used;
  return fread(s->table, NUMBERS * sizeof(double), (size_t)s->spheres, s->from) ==
         (size_t)s->spheres;
}

static void state(void *engine, scree_Pose *poses, scree_Twist *velocities) {
  const Yade *s = engine;
  const double *x = s->table;
  for (int k = 0; k < s->scene->count; ++k) {
    poses[k] = s->scene->bodies[k].pose;
    velocities[k] = (scree_Twist){{0, 0, 0}, {0, 0, 0}};
    if (s->scene->bodies[k].kind != BODY_SPHERE) continue;
    poses[k] = (scree_Pose){{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}};
    velocities[k] = (scree_Twist){{x[7], x[8], x[9]}, {x[10], x[11], x[12]}};
    x += NUMBERS;
  }
}

/* The forces of a block of steps are not the impulses of one. */
static int contacts(void *engine, Touch *touches, int most) {
  (void)engine;
  (void)touches;
  (void)most;
  return -1;
}

static double seconds(void *engine) {
  return ((const Yade *)engine)->seconds;
}

const Engine engine_yade = {
    "YADE",
    version,
    {{"default", "springs of 1 GPa, damping 0.2, half of the critical step; here blocks of 10 ms",
      0.01, 0},
     {"accurate", "springs of 10 GPa, a quarter of the critical step; here blocks of 10 ms", 0.01,
      1}},
    create,
    step,
    state,
    contacts,
    destroy,
    seconds,
};

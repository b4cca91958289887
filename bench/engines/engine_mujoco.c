/* MuJoCo: soft contacts, convex problem in each step. "default": steps of 2 ms, Newton's method,
 * pyramidal cones, the library's parameters of softness. "accurate": what its documentation
 * recommends for hard contact without slip: elliptic cones, impratio 10, ten noslip iterations,
 * steps of 1 ms and contacts as stiff as these allow (solref of two steps). */
#define _GNU_SOURCE
#include "bench/engines/engine.h"

#include <mujoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Mujoco {
  const Scene *scene;
  mjModel *model;
  mjData *data;
  int *geom_body; /* (geoms) number of the body here */
} Mujoco;

static const char *version(void) {
  return mj_versionString();
}

static void destroy(void *engine) {
  Mujoco *s = engine;
  if (s->data) mj_deleteData(s->data);
  if (s->model) mj_deleteModel(s->model);
  free(s->geom_body);
  free(s);
}

static void write_geom(FILE *file, const Scene *scene, const Body *body, int k) {
  const double s = sqrt(0.5);
  switch (body->kind) {
  case BODY_SPHERE:
    fprintf(file, "<geom name='g%d' type='sphere' size='%.17g'", k, body->radius);
    break;
  case BODY_BOX:
    fprintf(file, "<geom name='g%d' type='box' size='%.17g %.17g %.17g'", k, body->semi.x,
            body->semi.y, body->semi.z);
    break;
  case BODY_CAPSULE: /* along z there, along x here */
    fprintf(file, "<geom name='g%d' type='capsule' size='%.17g %.17g' quat='%.17g 0 %.17g 0'", k,
            body->radius, body->half_length, s, s);
    break;
  case BODY_HALF_SPACE:
    fprintf(file, "<geom name='g%d' type='plane' size='0 0 1'", k);
    if (scene->planar) fprintf(file, " quat='%.17g %.17g 0 0'", s, -s); /* z up becomes y up */
    break;
  }
  fprintf(file, "/>");
}

static void write_body(FILE *file, const Scene *scene, int k) {
  const Body *body = &scene->bodies[k];
  const scree_Vec3 x = body->pose.position;
  const scree_Quat q = body->pose.orientation;
  fprintf(file, "<body name='b%d' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>", k, x.x,
          x.y, x.z, q.w, q.x, q.y, q.z);
  if (body->mass > 0) {
    if (scene->planar)
      fprintf(file, "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
                    "<joint type='hinge' axis='0 0 1'/>");
    else
      fprintf(file, "<freejoint/>");
    const scree_Vec3 j = body->inertia;
    fprintf(file, "<inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>",
            body->mass, j.x, j.y, j.z);
  }
  write_geom(file, scene, body, k);
  fprintf(file, "</body>\n");
}

static bool write_model(const char *path, const Scene *scene, const Setting *setting) {
  FILE *file = fopen(path, "w");
  if (!file) return false;
  const bool fine = setting->level > 0;
  int moving = 0;
  for (int k = 0; k < scene->count; ++k) moving += scene->bodies[k].mass > 0;
  fprintf(file, "<mujoco><compiler inertiafromgeom='false' balanceinertia='false'/>\n");
  fprintf(file, "<size nconmax='%d' njmax='%d'/>\n", 8 * moving + 100, 32 * moving + 400);
  fprintf(file, "<option timestep='%.17g' gravity='%.17g %.17g %.17g'%s/>\n", setting->step,
          scene->gravity.x, scene->gravity.y, scene->gravity.z,
          fine ? " cone='elliptic' impratio='10' noslip_iterations='10'" : "");
  fprintf(file, "<default><geom condim='3' friction='%.17g 0.005 0.0001'", scene->mu);
  if (fine) fprintf(file, " solref='%.17g 1'", 2 * setting->step);
  fprintf(file, "/></default>\n<worldbody>\n");
  for (int k = 0; k < scene->count; ++k) write_body(file, scene, k);
  fprintf(file, "</worldbody></mujoco>\n");
  return fclose(file) == 0;
}

static void *create(const Scene *scene, const Setting *setting, double *step) {
  char error[500] = "", path[] = "/tmp/scree-engine-XXXXXX.xml";
  Mujoco *s = calloc(1, sizeof *s);
  const int handle = mkstemps(path, 4);
  if (!s || handle < 0) return NULL;
  close(handle);
  s->scene = scene;
  *step = setting->step;
  if (write_model(path, scene, setting)) s->model = mj_loadXML(path, NULL, error, sizeof error);
  unlink(path);
  if (s->model) s->data = mj_makeData(s->model);
  if (s->data) s->geom_body = malloc((size_t)s->model->ngeom * sizeof(int));
  if (!s->geom_body) {
    fprintf(stderr, "MuJoCo: %s\n", error[0] ? error : "no memory");
    destroy(s);
    return NULL;
  }
  for (int g = 0; g < s->model->ngeom; ++g)
    s->geom_body[g] = atoi(mj_id2name(s->model, mjOBJ_GEOM, g) + 1);
  return s;
}

static bool step(void *engine) {
  Mujoco *s = engine;
  mj_step(s->model, s->data);
  return s->data->warning[mjWARN_BADQACC].number == 0;
}

static void state(void *engine, scree_Pose *poses, scree_Twist *velocities) {
  Mujoco *s = engine;
  mj_kinematics(s->model, s->data); /* poses of the velocities' time */
  mj_comPos(s->model, s->data);
  for (int k = 0; k < s->scene->count; ++k) {
    const int b = k + 1; /* body 0 is the world */
    const mjtNum *x = s->data->xpos + 3 * b, *q = s->data->xquat + 4 * b;
    mjtNum twist[6];
    poses[k] = (scree_Pose){{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
    mj_objectVelocity(s->model, s->data, mjOBJ_XBODY, b, twist, 0);
    velocities[k] = (scree_Twist){{twist[3], twist[4], twist[5]}, {twist[0], twist[1], twist[2]}};
  }
}

static int contacts(void *engine, Touch *touches, int most) {
  const Mujoco *s = engine;
  const double h = s->model->opt.timestep;
  int count = 0;
  for (int c = 0; c < s->data->ncon && count < most; ++c) {
    const mjContact *contact = &s->data->contact[c];
    const mjtNum *f = contact->frame, *p = contact->pos; /* rows n, t1, t2; n from geom1 to geom2 */
    mjtNum force[6] = {0};
    mj_contactForce(s->model, s->data, c, force);
    touches[count++] = (Touch){{s->geom_body[contact->geom2], s->geom_body[contact->geom1]},
                               {p[0], p[1], p[2]},
                               {f[0], f[1], f[2]},
                               contact->dist,
                               {h * (f[0] * force[0] + f[3] * force[1] + f[6] * force[2]),
                                h * (f[1] * force[0] + f[4] * force[1] + f[7] * force[2]),
                                h * (f[2] * force[0] + f[5] * force[1] + f[8] * force[2])}};
  }
  return count;
}

const Engine engine_mujoco = {
    "MuJoCo",
    version,
    {{"default", "steps of 2 ms, Newton, pyramidal cones", 0.002, 0},
     {"accurate", "steps of 1 ms, elliptic cones, impratio 10, noslip, stiff contacts", 0.001, 1}},
    create,
    step,
    state,
    contacts,
    destroy,
    NULL,
};

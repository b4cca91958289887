/* Open Dynamics Engine. "default": dWorldQuickStep with its 20 iterations, steps of 10 ms and
 * friction proportional to the normal force (dContactApprox1), as its demonstrations do; all other
 * parameters are the library's. "accurate": its manual recommends dWorldStep, which factorises,
 * and smaller steps: 2 ms. */
#include "bench/engines/engine.h"

#include "math/vec3.h"

#include <ode/ode.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 8 }; /* between two bodies, at most */

typedef struct Ode {
  dWorldID world;
  dSpaceID space;
  dJointGroupID group;
  const Scene *scene;
  dBodyID *body; /* (count) null: obstacle */
  dGeomID *geom; /* (count) */
  bool direct;
  double h;
  int contact_count, contact_capacity;
  Touch *touches;
  dJointFeedback *feedback;
  bool failed;
} Ode;

static const char *version(void) {
  return "0.16.2";
}

static void destroy(void *engine) {
  Ode *s = engine;
  dJointGroupDestroy(s->group);
  dSpaceDestroy(s->space);
  dWorldDestroy(s->world);
  dCloseODE();
  free(s->body);
  free(s->geom);
  free(s->touches);
  free(s->feedback);
  free(s);
}

static dGeomID new_geom(const Ode *s, const Body *body) {
  switch (body->kind) {
  case BODY_SPHERE: return dCreateSphere(s->space, body->radius);
  case BODY_BOX: return dCreateBox(s->space, 2 * body->semi.x, 2 * body->semi.y, 2 * body->semi.z);
  case BODY_CAPSULE: return dCreateCapsule(s->space, body->radius, 2 * body->half_length);
  case BODY_HALF_SPACE: break;
  }
  const scree_Vec3 up = s->scene->planar ? (scree_Vec3){0, 1, 0} : (scree_Vec3){0, 0, 1};
  const scree_Vec3 n = scree_quat_rotate(body->pose.orientation, up), x = body->pose.position;
  return dCreatePlane(s->space, n.x, n.y, n.z, n.x * x.x + n.y * x.y + n.z * x.z);
}

static bool add_body(Ode *s, int k) {
  const Body *body = &s->scene->bodies[k];
  const scree_Vec3 x = body->pose.position;
  const scree_Quat o = body->pose.orientation;
  dQuaternion q = {o.w, o.x, o.y, o.z};
  dGeomID geom = s->geom[k] = new_geom(s, body);
  dGeomSetData(geom, (void *)(size_t)k);
  if (body->mass == 0 && body->kind != BODY_HALF_SPACE) {
    dGeomSetPosition(geom, x.x, x.y, x.z);
    if (body->kind == BODY_CAPSULE) { /* its axis is z there, x here */
      const scree_Quat turn = {sqrt(0.5), 0, sqrt(0.5), 0};
      const dQuaternion half = {turn.w, turn.x, turn.y, turn.z};
      dQuaternion both;
      dQMultiply0(both, q, half);
      dGeomSetQuaternion(geom, both);
    } else {
      dGeomSetQuaternion(geom, q);
    }
  }
  if (body->mass == 0) return true;
  dBodyID b = s->body[k] = dBodyCreate(s->world);
  if (!b) return false;
  dMass mass;
  dMassSetParameters(&mass, body->mass, 0, 0, 0, body->inertia.x, body->inertia.y, body->inertia.z,
                     0, 0, 0);
  dBodySetMass(b, &mass);
  dBodySetPosition(b, x.x, x.y, x.z);
  dBodySetQuaternion(b, q);
  dGeomSetBody(geom, b);
  if (s->scene->planar) dJointAttach(dJointCreatePlane2D(s->world, 0), b, 0);
  return true;
}

/* It prints a line for each failure of its direct solver: thousands in a tower. */
static void keep_quiet(int number, const char *format, va_list arguments) {
  (void)number;
  (void)format;
  (void)arguments;
}

static void *create(const Scene *scene, const Setting *setting, double *step) {
  Ode *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  dInitODE2(0);
  dSetMessageHandler(keep_quiet);
  s->scene = scene;
  s->h = *step = setting->step;
  s->direct = setting->level > 0;
  s->world = dWorldCreate();
  s->space = dHashSpaceCreate(0);
  s->group = dJointGroupCreate(0);
  s->body = calloc((size_t)scene->count, sizeof(dBodyID));
  s->geom = calloc((size_t)scene->count, sizeof(dGeomID));
  bool good = s->body && s->geom;
  dWorldSetGravity(s->world, scene->gravity.x, scene->gravity.y, scene->gravity.z);
  for (int k = 0; k < scene->count && good; ++k) good = add_body(s, k);
  if (good) return s;
  destroy(s);
  return NULL;
}

static bool reserve(Ode *s, int count) {
  if (count <= s->contact_capacity) return true;
  const int capacity = 2 * count;
  Touch *touches = realloc(s->touches, (size_t)capacity * sizeof *touches);
  if (touches) s->touches = touches;
  dJointFeedback *feedback = realloc(s->feedback, (size_t)capacity * sizeof *feedback);
  if (feedback) s->feedback = feedback;
  if (!touches || !feedback) return false;
  s->contact_capacity = capacity;
  return true;
}

static void meet(void *data, dGeomID a, dGeomID b) {
  Ode *s = data;
  dContact found[POINTS];
  if (!dGeomGetBody(a) && !dGeomGetBody(b)) return;
  const int n = dCollide(a, b, POINTS, &found[0].geom, sizeof found[0]);
  if (!reserve(s, s->contact_count + n)) s->failed = true;
  for (int k = 0; k < n && !s->failed; ++k) {
    dContact *c = &found[k];
    c->surface.mode = dContactApprox1;
    c->surface.mu = s->scene->mu;
    const dReal *p = c->geom.pos, *m = c->geom.normal;
    s->touches[s->contact_count++] =
        (Touch){{(int)(size_t)dGeomGetData(c->geom.g1), (int)(size_t)dGeomGetData(c->geom.g2)},
                {p[0], p[1], p[2]},
                {m[0], m[1], m[2]},
                -c->geom.depth,
                {0, 0, 0}};
    dJointID joint = dJointCreateContact(s->world, s->group, c);
    dJointAttach(joint, dGeomGetBody(c->geom.g1), dGeomGetBody(c->geom.g2));
    dJointSetData(joint, (void *)(size_t)(s->contact_count - 1));
  }
}

/* Their memory may move while contacts are found, so feedback is attached afterwards. */
static void attach_feedback(Ode *s) {
  for (int k = 0; k < s->scene->count; ++k)
    for (int j = 0; s->body[k] && j < dBodyGetNumJoints(s->body[k]); ++j) {
      dJointID joint = dBodyGetJoint(s->body[k], j);
      if (dJointGetType(joint) == dJointTypeContact)
        dJointSetFeedback(joint, &s->feedback[(size_t)dJointGetData(joint)]);
    }
}

static void keep_planar(Ode *s) {
  for (int k = 0; k < s->scene->count; ++k) {
    if (!s->body[k]) continue;
    const dReal *spin = dBodyGetAngularVel(s->body[k]);
    dBodySetAngularVel(s->body[k], 0, 0, spin[2]);
    const dReal *q = dBodyGetQuaternion(s->body[k]);
    const double length = hypot(q[0], q[3]);
    const dQuaternion straight = {q[0] / length, 0, 0, q[3] / length};
    dBodySetQuaternion(s->body[k], straight);
  }
}

static bool step(void *engine) {
  Ode *s = engine;
  s->contact_count = 0;
  dSpaceCollide(s->space, s, meet);
  attach_feedback(s);
  if (s->failed) return false;
  const int done = s->direct ? dWorldStep(s->world, s->h) : dWorldQuickStep(s->world, s->h);
  for (int c = 0; c < s->contact_count; ++c) {
    /* The force is that on the first body, or on the second if the first is an obstacle. */
    Touch *t = &s->touches[c];
    const bool swapped = !s->body[t->body[0]];
    const dReal *f = swapped ? s->feedback[c].f2 : s->feedback[c].f1;
    const double h = swapped ? -s->h : s->h;
    t->impulse = (scree_Vec3){h * f[0], h * f[1], h * f[2]};
  }
  dJointGroupEmpty(s->group);
  if (s->scene->planar) keep_planar(s);
  return done != 0;
}

static void state(void *engine, scree_Pose *poses, scree_Twist *velocities) {
  const Ode *s = engine;
  for (int k = 0; k < s->scene->count; ++k) {
    poses[k] = s->scene->bodies[k].pose;
    velocities[k] = (scree_Twist){{0, 0, 0}, {0, 0, 0}};
    if (!s->body[k]) continue;
    const dReal *x = dBodyGetPosition(s->body[k]), *q = dBodyGetQuaternion(s->body[k]);
    const dReal *v = dBodyGetLinearVel(s->body[k]), *w = dBodyGetAngularVel(s->body[k]);
    poses[k] = (scree_Pose){{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
    velocities[k] = (scree_Twist){{v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
  }
}

static int contacts(void *engine, Touch *touches, int most) {
  const Ode *s = engine;
  for (int c = 0; c < s->contact_count && c < most; ++c) touches[c] = s->touches[c];
  return s->contact_count < most ? s->contact_count : most;
}

const Engine engine_ode = {
    "ODE",
    version,
    {{"default", "dWorldQuickStep, 20 iterations, steps of 10 ms", 0.01, 0},
     {"accurate", "dWorldStep (direct), steps of 2 ms", 0.002, 1}},
    create,
    step,
    state,
    contacts,
    destroy,
    NULL,
};

/* One interface for several engines, so that bench/engines can run the same scene in each and judge
 * all of them by the same figures. An engine is one file with one `const Engine`; engines.c lists
 * them. Scenes are scree's: the bodies below are read from a scree_World. */
#ifndef SCREE_BENCH_ENGINE_H
#define SCREE_BENCH_ENGINE_H

#include "scree/scree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bodies as every engine gets them. In planar scenes (2D) disks are spheres that move in the plane
 * z = 0 and polygons are boxes. */
typedef enum BodyKind { BODY_SPHERE, BODY_BOX, BODY_CAPSULE, BODY_HALF_SPACE } BodyKind;

typedef struct Body {
  BodyKind kind;
  double radius;      /* sphere, capsule */
  double half_length; /* capsule, along its x axis in planar scenes */
  scree_Vec3 semi;    /* box */
  scree_Pose pose;    /* half-space: its solid is z <= 0 of this frame, y <= 0 in planar scenes */
  scree_Twist velocity;
  double mass; /* 0: obstacle */
  scree_Vec3 inertia;
} Body;

typedef struct Setting {
  const char *name;    /* "default", "accurate" */
  const char *meaning; /* for the table's legend */
  double step;         /* s, 0: the engine chooses */
  int level;           /* 0 default, 1 accurate: as the engine's file says */
} Setting;

typedef struct Scene {
  const char *text; /* the scene as scree reads it */
  size_t length;
  bool planar;
  double mu;
  scree_Vec3 gravity;
  double time; /* to simulate */
  int count;
  const Body *bodies;
} Scene;

/* A contact of the last step, where it was found: at the start of that step. */
typedef struct Touch {
  int body[2];
  scree_Vec3 point, normal; /* from the second body to the first */
  double gap;
  scree_Vec3 impulse; /* on the first body */
} Touch;

typedef struct Engine {
  const char *name;
  const char *(*version)(void);
  Setting settings[2];
  /* Null on failure. *step is the length of a step that it will use. */
  void *(*create)(const Scene *scene, const Setting *setting, double *step);
  bool (*step)(void *engine); /* false: it gave up */
  void (*state)(void *engine, scree_Pose *poses, scree_Twist *velocities);
  /* Contacts of the last step, at most `most` of them; returns their number, -1: not known. */
  int (*contacts)(void *engine, Touch *touches, int most);
  void (*destroy)(void *engine);
  double (*seconds)(void *engine); /* processor time of its steps, if another process makes them */
} Engine;

extern const Engine engine_scree;
extern const Engine engine_bullet;
extern const Engine engine_ode;
extern const Engine engine_mujoco;
extern const Engine engine_yade;

#ifdef __cplusplus
}
#endif

#endif

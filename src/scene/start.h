/* The start of a scene from a saved frame of another run (`start` in scenes).
 *
 * The files of runs are known to the folder `run`, which uses scenes. So the interface is declared
 * here, where it is needed, and implemented in run/start.c. */
#ifndef SCREE_SCENE_START_H
#define SCREE_SCENE_START_H

#include "scree/contact.h"
#include "scree/shape.h"

typedef struct scree_StartBody {
  const scree_Shape *shape; /* of the source */
  bool obstacle, present;   /* present: it exists in the frame */
  int material;             /* of the run */
  uint32_t group;
  double mass;
  scree_Vec3 inertia; /* principal moments; zero: those of the shape */
  scree_Pose pose;
  scree_Twist velocity;
} scree_StartBody;

/* A contact that carried an impulse; `impulse` acts on body[0], in the axes of the world. */
typedef struct scree_StartContact {
  int body[2];
  scree_Vec3 position, impulse;
} scree_StartContact;

typedef struct scree_Start {
  void *source; /* the open run */
  int dimension, frame;
  double time, step;
  int bodies, contacts, materials;
  scree_StartBody *body;       /* (bodies) */
  scree_StartContact *contact; /* (contacts) */
} scree_Start;

/* Open the run in `folder` and read a frame: "last", or its number. After a failure there is
 * nothing to close. */
scree_Status scree_start_open(const char *folder, const char *frame, const scree_Log *log,
                              scree_Start *start);
/* Name of a material of the run, and of a body or null. */
const char *scree_start_material(const scree_Start *start, int material);
double scree_start_density(const scree_Start *start, int material); /* 0: not known */
const char *scree_start_name(const scree_Start *start, int body);
void scree_start_close(scree_Start *start);

#endif

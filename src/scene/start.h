/* The start of a scene from a saved frame of another run (`start` in scenes).
 *
 * The files of runs are read by the folder `run`, which depends on scenes. So the interface is
 * declared here and implemented in run/start.c. */
#ifndef SCREE_SCENE_START_H
#define SCREE_SCENE_START_H

#include "scree/body.h"
#include "scree/contact.h"
#include "scree/shape.h"

typedef struct scree_StartBody {
  const scree_Shape *shape; /* of the source; undeformed */
  bool obstacle, present;   /* present: it exists in the frame */
  int material;             /* of the run */
  uint32_t group;
  double mass;
  scree_Vec3 inertia; /* principal moments; zero: those of the shape */
  scree_Pose pose;
  scree_Twist velocity;
  /* deformable: */
  scree_BodyKind kind;
  bool explicit_, consistent_mass, keeps_shape;
  double account;                     /* of energy (scree_body_coordinates) */
  const double *gradient;             /* (18) of a pseudo-rigid body, row by row, and its rate */
  int nodes;                          /* of finite elements: */
  const double *node, *node_velocity; /* (nodes x 3) */
  const int *holder;                  /* (nodes) -1: free, -2: held, or an obstacle of the run */
  const double *anchor;               /* (nodes x 3) in the frame of that, or null: none */
} scree_StartBody;

/* A contact that carried an impulse, or whose law has a memory; `impulse` and `moment` act on
 * body[0], in the axes of the world. */
typedef struct scree_StartContact {
  int body[2];
  scree_Vec3 position, impulse, moment;
  uint32_t feature;
  const double *memory; /* (SCREE_CONTACT_MEMORY) as of scree_ContactImpulse, or null */
} scree_StartContact;

typedef struct scree_Start {
  void *source; /* the open run, and its frame */
  int dimension, frame;
  double time, step;
  int bodies, contacts, materials;
  int joints;                  /* and bonds that hold */
  scree_StartBody *body;       /* (bodies) */
  scree_StartContact *contact; /* (contacts) */
  scree_Shape *elements;       /* (bodies) shapes of finite elements, or null: there are none */
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

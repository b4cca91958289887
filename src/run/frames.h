/* Internals of a run that is read back (scree/run.h), for its readers and for the views. The page,
 * the VTK files, pictures and plots are made from this and do not depend on the layout of a run's
 * folder. */
#ifndef SCREE_RUN_FRAMES_H
#define SCREE_RUN_FRAMES_H

#include "scree/run.h"

/* A colour that the scene gives a material. */
typedef struct scree_ReplayColour {
  bool given;
  unsigned char rgb[3];
} scree_ReplayColour;

enum { SCREE_REPLAY_CURVES = 128 };

typedef char SCREE_FIELD_NAME[56];

/* The lines of the telemetry that have been read (frames_telemetry.c). */
typedef struct scree_TelemetryLines scree_TelemetryLines;

struct scree_Replay {
  char *directory, *title;
  scree_Log own_log; /* copy of the caller's */
  const scree_Log *log;
  int dimension;
  double gravity[3], h;
  int body_count; /* in the last frame, which has them all */
  scree_ReplayBody *bodies;
  int node_count;    /* of all finite-element bodies */
  int *surface_node; /* of all of them, or null */
  /* of their nodes and elements (SCREE_ELEMENT_CORNERS each), null in files of earlier versions: */
  double *node_place, *node_anchor; /* (node_count x 3); the second null: none is driven */
  int *node_holder;                 /* (node_count) -1: free, -2: held, or an obstacle */
  int *corner;                      /* nodes of the body; -1 behind the last */
  int64_t *element_first;           /* (body_count + 1) */
  int material_count;
  char (*materials)[64];
  double *densities; /* (material_count) or null */
  int name_count;    /* of bodies: all, or none */
  char (*names)[64];
  scree_ReplayColour *colours; /* (material_count), null: none is given */
  int field_count;             /* that a user has added */
  SCREE_FIELD_NAME *fields;    /* their names, or null */
  int frame_count;
  double *times;     /* (frame_count) */
  int64_t *steps;    /* (frame_count) */
  int *frame_bodies; /* (frame_count) */
  int rows;          /* of the curves; curve 0 is "time", curve 1 "step" */
  int curve_count;
  scree_ReplayCurve curves[SCREE_REPLAY_CURVES];
  scree_TelemetryLines *telemetry; /* for scree_replay_open_again, or null */
  int joint_count;
  int *joint_table; /* (joint_count x 4) kind, bodies, label */
  scree_ReplayCertificate certificate;
  bool finished;  /* the run came to its end */
  char note[256]; /* empty, or a remark about missing parts */
  char *
      convergence; /* text of the converge.json that `scree converge` wrote for this run, or null */
  /* Where frames come from: the run's files, or a test. `read` fills the arrays of a frame that
   * scree_replay_reserve has made large enough. */
  scree_Status (*read)(scree_Replay *replay, int k, scree_ReplayFrame *frame);
  void (*close)(scree_Replay *replay);
  void *source;
};

/* Open the folder of a run that goes on once more. Lines of the telemetry that `before` has read
 * are taken from it, which it does not need to be used further, and are not read again; `before`
 * must still be closed. */
scree_Status scree_replay_open_again(scree_Replay *before, const scree_Log *log,
                                     scree_Replay **replay);

/* For readers: an empty replay with room for bodies and frames; room in a frame; a new curve of
 * replay->rows values, null when memory or places run out. */
scree_Status scree_replay_create(int bodies, int frames, const scree_Log *log,
                                 scree_Replay **replay);
scree_Status scree_replay_reserve(const scree_Replay *replay, int bodies, int contacts,
                                  scree_ReplayFrame *frame);
/* Room for the nodes of a frame. */
scree_Status scree_replay_reserve_nodes(const scree_Replay *replay, int nodes,
                                        scree_ReplayFrame *frame);
/* Room for the deformation gradients of a frame. */
scree_Status scree_replay_reserve_gradients(const scree_Replay *replay, int bodies,
                                            scree_ReplayFrame *frame);
double *scree_replay_add_curve(scree_Replay *replay, const char *name, bool peak);

/* A colour as in scenes: "#rgb", "#rrggbb", or one of the sixteen colour names of HTML. */
scree_ReplayColour scree_replay_colour(const char *text);

#endif

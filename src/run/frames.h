/* A finished run, read back: bodies with their shapes, saved frames one at a time, telemetry as
 * curves over the steps, and the certificate of the whole run. The page, the VTK files, pictures
 * and plots are made from this and do not depend on the layout of a run's folder. A run that was
 * interrupted is read as far as it is complete: `note` then says which parts are missing. */
#ifndef SCREE_RUN_FRAMES_H
#define SCREE_RUN_FRAMES_H

#include "scree/shape.h"

#include <stdint.h>

typedef struct scree_ReplayBody {
  scree_Shape shape; /* its vertices belong to the replay */
  bool obstacle;
  int material;
  double mass; /* INFINITY: obstacle */
} scree_ReplayBody;

/* A colour that the scene gives a material. */
typedef struct scree_ReplayColour {
  bool given;
  unsigned char rgb[3];
} scree_ReplayColour;

typedef struct scree_ReplayContact {
  int body[2];
  int status;                    /* scree_ContactStatus */
  double position[3], normal[3]; /* the normal points from body[1] to body[0] */
  double r[3], u[3];             /* impulse on body[0], velocity after: (n, t1, t2) */
  double impulse[3];             /* the same impulse in the axes of the world */
  double gap, mu;
  double error; /* of this contact, relative; NAN when the run did not keep it */
} scree_ReplayContact;

/* One saved frame. Bodies keep their numbers; `bodies` of them have come by this frame, of which
 * some may have been taken away again. */
typedef struct scree_ReplayFrame {
  double time;
  int64_t step;
  int bodies;
  double *position;    /* (bodies x 3) */
  double *orientation; /* (bodies x 4) scalar first */
  double *velocity;    /* (bodies x 3) */
  double *angular;     /* (bodies x 3) */
  bool *present;       /* (bodies) false: the body does not exist, and its numbers are undefined */
  bool bodies_only;    /* set before reading: contacts are not wanted, and there will be none */
  int contacts;
  bool has_contacts; /* false: contacts were not saved */
  scree_ReplayContact *contact;
  size_t body_capacity, contact_capacity;
} scree_ReplayFrame;

/* A curve over the steps: (rows) values. */
typedef struct scree_ReplayCurve {
  char name[64];
  double *values;
  bool peak; /* of several steps drawn as one point, the largest counts, else the last */
} scree_ReplayCurve;

enum { SCREE_REPLAY_CURVES = 128 };

/* The certificate of the whole run, from the telemetry of every step. */
typedef struct scree_ReplayCertificate {
  int64_t steps, above;    /* steps done; of these above the tolerance */
  int64_t first_above;     /* first such step, 0: none */
  double tolerance, error; /* worst */
  int64_t error_step;
  int worst[2]; /* bodies of the worst contact of that step, -1: unknown */
  double penetration;
  int64_t penetration_step;
  int deepest[2];
  double penetration_limit;            /* NAN: unknown, here and below */
  double energy_created, energy_limit; /* by the discretisation, over the energy turned over */
  double energy_error;                 /* missing in the balance, over the largest energy */
  int contacts_max;
  double seconds;
} scree_ReplayCertificate;

typedef struct scree_Replay scree_Replay;

struct scree_Replay {
  char *directory, *title;
  const scree_Log *log;
  int dimension;
  double gravity[3], h;
  int body_count; /* in the last frame, which has them all */
  scree_ReplayBody *bodies;
  int material_count;
  char (*materials)[64];
  scree_ReplayColour *colours; /* (material_count), null: none is given */
  int frame_count;
  double *times;     /* (frame_count) */
  int64_t *steps;    /* (frame_count) */
  int *frame_bodies; /* (frame_count) */
  int rows;          /* of the curves; curve 0 is "time", curve 1 "step" */
  int curve_count;
  scree_ReplayCurve curves[SCREE_REPLAY_CURVES];
  scree_ReplayCertificate certificate;
  char note[256]; /* empty, or a remark about missing parts */
  char *
      convergence; /* text of the converge.json that `scree converge` wrote for this run, or null */
  /* Where frames come from: the run's files, or a test. `read` fills the arrays of a frame that
   * scree_replay_reserve has made large enough. */
  scree_Status (*read)(scree_Replay *replay, int k, scree_ReplayFrame *frame);
  void (*close)(scree_Replay *replay);
  void *source;
};

scree_Status scree_replay_open(const char *directory, const scree_Log *log, scree_Replay **replay);
void scree_replay_close(scree_Replay *replay);

/* Read frame k into `frame`, which was zeroed before its first use and is reused. */
scree_Status scree_replay_read(scree_Replay *replay, int k, scree_ReplayFrame *frame);
void scree_replay_frame_fini(scree_ReplayFrame *frame);

/* For readers: an empty replay with room for bodies and frames; room in a frame; a new curve of
 * replay->rows values, null when memory or places run out. */
scree_Status scree_replay_create(int bodies, int frames, const scree_Log *log,
                                 scree_Replay **replay);
scree_Status scree_replay_reserve(const scree_Replay *replay, int bodies, int contacts,
                                  scree_ReplayFrame *frame);
double *scree_replay_add_curve(scree_Replay *replay, const char *name, bool peak);

/* A colour as in scenes: "#rgb", "#rrggbb", or one of the sixteen colour names of HTML. */
scree_ReplayColour scree_replay_colour(const char *text);

/* Mean stress of each body of a frame from its contacts: `pressure` (bodies) = -tr(sigma) / d with
 * sigma = (1 / V) sum of force x arm, force = impulse / step; compression is positive. 0 for
 * obstacles and bodies without contacts. */
void scree_replay_pressure(const scree_Replay *replay, const scree_ReplayFrame *frame,
                           double *pressure);

/* Curve by name, null when the run has none. */
const scree_ReplayCurve *scree_replay_curve(const scree_Replay *replay, const char *name);

/* A number of the analysis of frame k, /analysis/NAME of results.h5; false when the run has none.
 */
bool scree_replay_analysis(const scree_Replay *replay, const char *name, int k, double *value);

/* The frame nearest in time; -1 when there is none. */
int scree_replay_nearest(const scree_Replay *replay, double time);

/* The visible extent: bounds of the bodies over the run (without a few that escaped), or in one
 * frame of it, and of the obstacles close to them. Always finite; `length` > 0 is half of the
 * largest extent. */
typedef struct scree_ReplayExtent {
  double lower[3], upper[3], origin[3], length;
  double up[3]; /* against gravity */
} scree_ReplayExtent;

/* `only`: this frame of a 3D run, -1: all. In 2D, where no perspective shows where bodies are, the
 * surrounding obstacles stay in view. */
scree_Status scree_replay_extent(scree_Replay *replay, int only, scree_ReplayExtent *extent);

/* The certificate in words. */
enum { SCREE_CERTIFICATE_LINES = 8 };
typedef struct scree_CertificateText {
  bool good;
  char verdict[256];
  int count;
  struct {
    const char *label;
    char text[192];
    bool good;
  } line[SCREE_CERTIFICATE_LINES];
} scree_CertificateText;

void scree_replay_certificate(const scree_Replay *replay, scree_CertificateText *text);

#endif

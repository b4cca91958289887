/* scree/run.h — runs: simulating a scene or a world into a folder of results, from which it can be
 * resumed after any interruption, and reading such folders. docs/RESULTS.md describes the folder.
 *
 * A scene:
 *
 *     scree_RunSettings settings = scree_run_settings();
 *     settings.folder = "drum-run";
 *     scree_run_create(scene, &settings, log, &run);
 *     while (status <= SCREE_NOT_CONVERGED && !scree_run_is_over(run))
 *       status = scree_run_step(run, &report);
 *     scree_run_close(run);                         checkpoint, results.h5
 *     scree_RunSummary summary = scree_run_summary(run);
 *     scree_run_destroy(run);
 *
 * Reading a folder:
 *
 *     scree_ReplayFrame frame = {0};
 *     scree_replay_open("drum-run", log, &replay);
 *     const int frames = scree_replay_info(replay).frames;
 *     for (int k = 0; k < frames; ++k) scree_replay_read(replay, k, &frame);
 *     scree_replay_frame_fini(&frame);
 *     scree_replay_close(replay);
 */
#ifndef SCREE_RUN_H
#define SCREE_RUN_H

#include "scree/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct scree_Run scree_Run;

typedef struct scree_RunSettings {
  const char *folder; /* made when absent */
  bool resume;        /* go on from the checkpoint in it, or from the start when there is none */
  bool replace;       /* a run that is there already is replaced */
  double until;       /* stop at this time; 0: the scene's duration */
  int64_t steps;      /* stop after so many steps of this call; 0: no limit */
  int threads;        /* 0: the scene's */
  /* Ranks that run together, or null. Every rank makes the same calls with the same scene, and has
   * its part of the world; rank 0 has the files. A world that cannot be divided is rank 0's, with a
   * message, and the steps of the other ranks are to join its solves. */
  const scree_Ranks *ranks;
  /* Asked several times a second when not null, also in the middle of a step and while results.h5
   * is written; return true to stop (see scree_run_step and scree_run_close). It may look at the
   * run, as far as that is const. Called from the thread that called the library. */
  bool (*interrupted)(void *user);
  void *interrupted_user;
} scree_RunSettings;

SCREE_API scree_RunSettings scree_run_settings(void);

/* Prepare or resume. Refuses (SCREE_BAD_INPUT) a folder that already holds a run when neither
 * `resume` nor `replace` is set, and to resume with another scene than the folder's: solver,
 * duration, limits, output, conditions to stop and sensors may differ, which is recorded in
 * changes.jsonl. A finished run goes on when `until` or the duration is later. The scene must
 * outlive the run. */
SCREE_API scree_Status scree_run_create(const scree_Scene *scene, const scree_RunSettings *settings,
                                        const scree_Log *log, scree_Run **run);

/* One step with all that belongs to it (`report` may be null): pouring, telemetry, frames,
 * checkpoints, problems. The status is that of scree_world_step, or of a failure to write.
 * SCREE_INTERRUPTED: the step was left and can be repeated, by another call or by a run that is
 * resumed; call scree_run_close. Other failures end the run. */
SCREE_API scree_Status scree_run_step(scree_Run *run, scree_StepReport *report);

/* The scene's end was reached, or the limits of the settings. */
SCREE_API bool scree_run_is_over(const scree_Run *run);

/* Write the last frame if the scene has ended, the checkpoint and results.h5. Must be called also
 * after an interruption or a failure; once. After `interrupted` has asked to stop, results.h5 is
 * given up if it takes longer than a second or so (SCREE_INTERRUPTED): a resumed run makes it. */
SCREE_API scree_Status scree_run_close(scree_Run *run);
SCREE_API void scree_run_destroy(scree_Run *run);

enum { SCREE_RUN_REMEMBERED = 16 };

typedef struct scree_RunFailure {
  int64_t step;
  double time, error, penetration, energy_created, creep;
  int contacts_above;
  unsigned missed; /* SCREE_MISSED_... */
  int body[2];     /* of the worst contact, or of the deepest when the penetration is at fault */
} scree_RunFailure;

/* Summary of the run so far, including the parts before a resumption. */
typedef struct scree_RunSummary {
  int64_t steps;
  double time;
  int bodies; /* that exist, obstacles not counted */
  int contacts_max;
  double error_max, tolerance;
  double penetration_max, penetration_limit; /* relative to the smaller body */
  double energy_created, energy_limit; /* by the discretisation, over the energy turned over */
  double creep, creep_limit;           /* of bodies that rest, over their size */
  double energy_error; /* missing in the energy balance, over the energy turned over */
  double seconds, seconds_detect, seconds_solve; /* clock; seconds of the whole, resumed or not */
  int64_t steps_above;                           /* not certified */
  scree_RunFailure above[SCREE_RUN_REMEMBERED];  /* the first of them */
  int64_t iterations;
  int64_t substeps; /* beyond one per step */
  int frames;
  bool finished;      /* the scene's own end was reached */
  bool resumed;       /* this call went on from a checkpoint */
  const char *reason; /* why it ended, or null; lives as long as the program */
} scree_RunSummary;

SCREE_API scree_RunSummary scree_run_summary(const scree_Run *run);

/* The ranks of the run, and what they have sent in this call. */
typedef struct scree_RunRanks {
  int ranks;
  bool divided;          /* each has a part of the world */
  const char *undivided; /* why not, or null */
  /* Sums over the ranks; of a world that is not divided those of rank 0 alone. */
  long long messages, bytes;
  long long synchronisations; /* of each rank */
  double imbalance;           /* largest work of a rank over the mean: mean over the steps */
  /* Of a divided world after scree_run_close: bytes of memory that the processes had at most,
   * that of the rank with most, and the mean of all ranks. */
  double memory_most, memory_mean;
} scree_RunRanks;

SCREE_API scree_RunRanks scree_run_ranks(const scree_Run *run);
/* Of a divided world: the part of this rank. Null on ranks that join the solves of rank 0. */
SCREE_API const scree_World *scree_run_world(const scree_Run *run);
/* Time at which it will be over, if no condition ends it before. */
SCREE_API double scree_run_end(const scree_Run *run);

/* ---- recording a world that was built by calls ------------------------------------------------
 */

/* Writes the folder of a run for a world that its caller builds, changes and steps:
 * telemetry.jsonl, the saved frames, and results.h5, so that pages, pictures, plots and VTK files
 * can be made of it.
 *
 *     scree_recorder_create(world, &settings, log, &recorder);
 *     scree_recorder_frame(recorder);                          the state at the start
 *     for (...) {
 *       scree_world_step(world, &report);
 *       scree_recorder_step(recorder, &report);
 *       if (...) scree_recorder_frame(recorder);
 *     }
 *     scree_recorder_write(recorder, true);
 *     scree_recorder_destroy(recorder);
 *
 * Frames and lines are in the folder as soon as their call has returned, in files that are only
 * appended to; results.h5 is made of them by scree_recorder_write. A program that is resumed
 * restores its world (scree_world_restore) and then creates the recorder with `resume`: frames and
 * lines of later steps than the world's are cut off, and come again. */
typedef struct scree_Recorder scree_Recorder;

/* The strings and lists are copied. */
typedef struct scree_RecorderSettings {
  const char *folder;                /* created if it does not exist ("run") */
  bool replace;                      /* a run that exists in it is replaced */
  bool resume;                       /* go on with the run in it, if there is one */
  const char *title;                 /* or null */
  const char *const *material_names; /* (scree_world_material_count) or null: "material 0", ... */
  bool contacts;                     /* frames have contacts (true) */
  int compression;                   /* of results.h5, 0 to 9 (1) */
  const scree_Aabb *region;          /* of the analysis of frames, or null: bounds of all bodies */
} scree_RecorderSettings;

SCREE_API scree_RecorderSettings scree_recorder_settings(void);

/* The world must outlive the recorder, which only reads it. SCREE_BAD_INPUT when the folder holds a
 * run and neither `replace` nor `resume` is set, or when the run in it is finished. *recorder is
 * null on failure. */
SCREE_API scree_Status scree_recorder_create(const scree_World *world,
                                             const scree_RecorderSettings *settings,
                                             const scree_Log *log, scree_Recorder **recorder);
/* A line of telemetry: the report of the step that was just made. */
SCREE_API scree_Status scree_recorder_step(scree_Recorder *recorder,
                                           const scree_StepReport *report);
/* The present state as a frame; nothing when the last frame has the same step. */
SCREE_API scree_Status scree_recorder_frame(scree_Recorder *recorder);
/* results.h5 with all frames so far. `finished`: no more will come, and the run cannot be resumed.
 */
SCREE_API scree_Status scree_recorder_write(scree_Recorder *recorder, bool finished);
SCREE_API int scree_recorder_frames(const scree_Recorder *recorder);
SCREE_API void scree_recorder_destroy(scree_Recorder *recorder);

/* ---- reading a run back ---------------------------------------------------------------------- */

/* Bodies with their shapes, saved frames one at a time, telemetry as curves over the steps, and the
 * certificate of the whole run. A run that was interrupted is read as far as it is complete: `note`
 * then says which parts are missing. Pointers that functions return belong to the replay. */
typedef struct scree_Replay scree_Replay;

/* A copy of `log` is kept. *replay is null on failure. */
SCREE_API scree_Status scree_replay_open(const char *folder, const scree_Log *log,
                                         scree_Replay **replay);
SCREE_API void scree_replay_close(scree_Replay *replay);

typedef struct scree_ReplayInfo {
  const char *folder, *title;
  int dimension;
  scree_Vec3 gravity;
  double step; /* h */
  int bodies;  /* in the last frame, which has them all */
  int materials, frames;
  const double *times;     /* (frames) */
  const int64_t *steps;    /* (frames) steps done at each */
  int curves;              /* of the telemetry: 0 is "time", 1 "step" */
  int rows;                /* values of each curve: one per step */
  const char *note;        /* empty, or what is missing */
  const char *convergence; /* converge.json that `scree converge` made for this run, or null */
} scree_ReplayInfo;

SCREE_API scree_ReplayInfo scree_replay_info(const scree_Replay *replay);

typedef struct scree_ReplayBody {
  scree_Shape shape; /* its vertices belong to the replay */
  bool obstacle;
  int material;
  uint32_t group;      /* of bodies that do not touch each other; 0: none */
  scree_BodyKind kind; /* rigid where older files do not tell */
  /* of a deformable body, as in scree_Elastic: */
  bool explicit_, consistent_mass, keeps_shape;
  double mass;                /* INFINITY: obstacle */
  scree_Vec3 inertia;         /* principal moments; zero: not known */
  int node_first, node_count; /* of a finite-element body, in the frames; its shape is a mesh */
  const int *surface_node;    /* (vertices of the shape) its nodes, or null */
} scree_ReplayBody;

/* Checked: null for a number that does not exist. */
SCREE_API const scree_ReplayBody *scree_replay_body(const scree_Replay *replay, int body);
SCREE_API const char *scree_replay_material(const scree_Replay *replay, int material);
/* 0: not known. */
SCREE_API double scree_replay_density(const scree_Replay *replay, int material);
/* The name that the scene gives a body or obstacle; null when it has none. */
SCREE_API const char *scree_replay_body_name(const scree_Replay *replay, int body);

typedef struct scree_ReplayContact {
  int body[2];
  scree_ContactStatus status;
  uint32_t feature;              /* names it within its pair */
  double position[3], normal[3]; /* the normal points from body[1] to body[0] */
  double r[3], u[3];             /* impulse on body[0], velocity after: (n, t1, t2) */
  double impulse[3];             /* the same impulse in the axes of the world */
  double gap, mu;
  double error; /* of this contact, relative; NAN when the run did not keep it */
  /* of laws that have them, else 0 (scree_Contact): */
  double moment[3], plastic, energy;
  scree_ContactBond bond;
} scree_ReplayContact;

/* A joint, or a bond. */
typedef struct scree_ReplayJoint {
  scree_JointKind kind;
  int body[2]; /* -1: the world */
  int label;
  scree_JointStatus status;
  double position[3], axis[3];
  double force[3], torque[3]; /* on the first body, about the anchor */
  double x, effort;           /* of the free coordinate */
  double energy;              /* of its spring */
  double plastic;             /* of a bond: displacement under full load */
} scree_ReplayJoint;

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
  double *stretch;     /* (bodies x 3) lengths along the axes of the bodies over those of their
                        * shapes, if `deforms` */
  double *account;     /* (bodies) of deformable ones, as of scree_body_coordinates; 0: not known */
  bool deforms;        /* some bodies of the run are not rigid */
  int nodes;           /* of finite-element bodies */
  double *node;        /* (nodes x 3) their positions */
  double *node_stress; /* (nodes x 6) Cauchy's: xx, yy, zz, yz, zx, xy */
  double *node_velocity; /* (nodes x 3); NAN in files of earlier versions */
  double *gradient; /* (bodies x 18) deformation gradient of pseudo-rigid bodies, row by row, and
                     * its rate (scree_body_coordinates), if `affine` */
  bool affine;      /* some bodies are pseudo-rigid, and the file is not of an earlier version */
  bool *present;    /* (bodies) false: the body does not exist, and its numbers are undefined */
  bool bodies_only; /* set before reading: contacts are not wanted, and there will be none */
  int contacts;
  bool has_contacts; /* false: contacts were not saved */
  scree_ReplayContact *contact;
  double *law_memory; /* (contacts x SCREE_CONTACT_MEMORY) of contact laws; NAN or 0: not known */
  int joints;
  scree_ReplayJoint *joint;
  size_t body_capacity, contact_capacity, node_capacity, joint_capacity, gradient_capacity,
      law_capacity;
} scree_ReplayFrame;

/* Read frame k into `frame`, which was zeroed before its first use and is used again. Checked. */
SCREE_API scree_Status scree_replay_read(scree_Replay *replay, int k, scree_ReplayFrame *frame);
SCREE_API void scree_replay_frame_fini(scree_ReplayFrame *frame);

/* Frame k as a table with a row per body, which the generator `csv` of scenes reads; clumps and
 * deformable bodies are refused. */
SCREE_API scree_Status scree_replay_write_csv(scree_Replay *replay, int k, const char *path);
/* Frame k as a scene: that of the run with the bodies of the frame, and its obstacles and plates
 * where they are in it. Its time starts at 0, and bodies that were still to be poured are not in
 * it. Joints are where they are in the frame. Of finite-element bodies the mesh and the state of
 * the nodes are written beside it, with names that begin as `path`. Frames in which a bond of
 * `bonds` is broken are refused. */
SCREE_API scree_Status scree_replay_write_scene(scree_Replay *replay, int k, const char *path);

/* The frame nearest in time; -1 when there is none. */
SCREE_API int scree_replay_nearest(const scree_Replay *replay, double time);

/* Mean stress of each body of a frame from its contacts: `pressure` (bodies) = -tr(sigma) / d with
 * sigma = (1 / V) sum of force x arm, force = impulse / step; compression is positive. 0 for
 * obstacles and bodies without contacts. */
SCREE_API void scree_replay_pressure(const scree_Replay *replay, const scree_ReplayFrame *frame,
                                     double *pressure);

/* Fields that were added to results.h5 (datasets /fields/NAME of frames x bodies): the name of a
 * field, null when there is no such, and its `values` (bodies of the run) in frame k; false when
 * they are not there. */
SCREE_API const char *scree_replay_field_name(const scree_Replay *replay, int field);
SCREE_API bool scree_replay_field(const scree_Replay *replay, int field, int k, double *values);

/* A number of the analysis of frame k, /analysis/NAME of results.h5; false when the run has none.
 */
SCREE_API bool scree_replay_analysis(const scree_Replay *replay, const char *name, int k,
                                     double *value);

/* A curve over the steps: (rows) values. */
typedef struct scree_ReplayCurve {
  char name[64];
  double *values;
  bool peak; /* of several steps drawn as one point, the largest counts, else the last */
} scree_ReplayCurve;

/* By name or by number; null when the run has none. */
SCREE_API const scree_ReplayCurve *scree_replay_curve(const scree_Replay *replay, const char *name);
SCREE_API const scree_ReplayCurve *scree_replay_curve_at(const scree_Replay *replay, int k);

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
  double creep, creep_limit;           /* of bodies that rest, over their size */
  double energy_error;                 /* missing in the balance, over the largest energy */
  int contacts_max;
  double seconds;
} scree_ReplayCertificate;

SCREE_API const scree_ReplayCertificate *scree_replay_certificate(const scree_Replay *replay);

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

SCREE_API void scree_replay_verdict(const scree_Replay *replay, scree_CertificateText *text);

/* The visible extent: bounds of the bodies over the run (without a few that escaped), or in one
 * frame of it, and of the obstacles close to them. Always finite; `length` > 0 is half of the
 * largest extent. */
typedef struct scree_ReplayExtent {
  double lower[3], upper[3], origin[3], length;
  double up[3]; /* against gravity */
} scree_ReplayExtent;

/* `only`: this frame of a 3D run, -1: all. In 2D, where no perspective shows where bodies are, the
 * surrounding obstacles stay in view. */
SCREE_API scree_Status scree_replay_extent(scree_Replay *replay, int only,
                                           scree_ReplayExtent *extent);

#ifdef __cplusplus
}
#endif

#endif

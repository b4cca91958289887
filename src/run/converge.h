/* Convergence of a scene: the same scene run with the steps h, h/2, h/4, … and, at h, with a tenth
 * of the solver's tolerance. The runs are compared by averages over time, which also exist where
 * single bodies move chaotically; every average gets an error bar of the step, one of the
 * tolerance, and the order with which it converges, if it shows one. docs/COMMANDS.md (scree
 * converge) has the definitions in words.
 *
 * Where motion is chaotic one run is one sample, and two runs differ by their scatter whatever the
 * step. So all of this can be done from several starts: means over these are compared, with their
 * standard errors (converge_starts.c).
 *
 * The time that all runs cover is cut into INTERVALS equal parts, and each quantity becomes its
 * means over these (converge_series.c). The comparison uses means over ten windows of the run or,
 * where single bodies diverge, over its halves (converge.c, converge_order.c). All errors are
 * relative to a scale of the quantity that comes from the runs themselves, so that units do not
 * matter. */
#ifndef SCREE_RUN_CONVERGE_H
#define SCREE_RUN_CONVERGE_H

#include "run/frames.h"
#include "scree/scene.h"

enum {
  SCREE_CONVERGE_INTERVALS = 100, /* of a series; a multiple of the windows, and even */
  SCREE_CONVERGE_WINDOWS = 10,
  SCREE_CONVERGE_BINS = 10,  /* of a profile */
  SCREE_CONVERGE_LEVELS = 6, /* steps at most: h to h/32 */
  SCREE_CONVERGE_RUNS = SCREE_CONVERGE_LEVELS + 1,
  SCREE_CONVERGE_SERIES = 128,
  SCREE_CONVERGE_STARTS_LEAST = 4, /* with fewer, a standard error means little */
  SCREE_CONVERGE_STARTS_MOST = 1000
};

/* ---- sequences of values at h, h/2, h/4, … (converge_order.c) -------------------------------- */

/* `values` (levels x n): a quantity as n numbers at each level. The order p such that the numbers
 * go like limit + c h^p, from the differences of neighbouring levels; NAN when there are fewer than
 * three levels, when differences are not above `noise` (root mean square), do not shrink, or do not
 * point the same way. */
double scree_converge_order(const double *values, int levels, size_t n, double noise);

/* The limit of such a sequence by Richardson's extrapolation: (n). */
void scree_converge_limit(const double *values, int levels, size_t n, double order, double *limit);

/* How far two such rows are apart: the largest over windows of time of the mean of |a - b| over the
 * `components` numbers of a window (1, or the bins of a profile). */
double scree_converge_distance(const double *a, const double *b, size_t n, int components);

/* Error of each level: (levels). Distance from the limit or, when that is not known (null), the
 * largest distance among the level itself and all finer ones; that of the last is the one before's.
 */
void scree_converge_errors(const double *values, const double *limit, int levels, size_t n,
                           int components, double *errors);

/* Input of the recommendation for one quantity. Errors are relative to its scale. */
typedef struct scree_ConvergeError {
  const double *errors; /* (levels) of the steps h, h/2, ... */
  int levels;
  double order;     /* NAN: none */
  double tolerance; /* error of the tolerance */
  bool judged;
} scree_ConvergeError;

typedef struct scree_ConvergeAdvice {
  bool within;         /* all judged errors are at most the accuracy */
  int worst;           /* quantity with the largest error of the step, -1: none */
  int worst_tolerance; /* the same of the tolerance */
  double step;         /* largest step expected to be good enough, over h; NAN: not known, less than
                        * the smallest that was run */
  int limiting;        /* quantity that asks for this step, -1: none */
  double tolerance;    /* the same of the tolerance: 1 or less */
  double duration;     /* how many times longer averages must be taken: 1, or more when the error is
                        * scatter of a chaotic motion */
  int starts;          /* starts needed for a verdict; 0: those that were run suffice */
  int open;            /* quantity that asks for them, -1: none */
} scree_ConvergeAdvice;

/* Advice before any quantity was looked at: all is within, with the largest step. */
scree_ConvergeAdvice scree_converge_no_advice(void);
scree_ConvergeAdvice scree_converge_advise(const scree_ConvergeError *errors, int count,
                                           double accuracy, bool chaotic);

/* ---- several starts (converge_starts.c) -------------------------------------------------------
 */

/* An error that was measured by means over several starts: itself, its standard error, and the
 * bounds between which the true one is with a confidence of 99 %. */
typedef struct scree_ConvergeBounds {
  double error, deviation, low, high;
} scree_ConvergeBounds;

/* The averages of one quantity: rows of n numbers (windows x components) of each run of each start,
 * values[(start x runs + run) x n]; the last of the runs has the other tolerance when there are
 * more of them than levels. */
typedef struct scree_ConvergeSample {
  const double *values;
  int starts, runs, levels;
  size_t n;
  int components;
} scree_ConvergeSample;

typedef struct scree_ConvergeStarts {
  scree_ConvergeBounds step, tolerance;
  double order, order_deviation;        /* NAN: no order was found */
  double errors[SCREE_CONVERGE_LEVELS]; /* of each level */
  double scatter;                       /* standard deviation of single runs at h */
} scree_ConvergeStarts;

/* Half of the interval that has a quantity of a normal distribution with a probability of 99 %,
 * over the standard error from `starts` samples (Student's t). */
double scree_converge_student(int starts);

/* `work` has room for (levels + 3) x n. */
void scree_converge_over_starts(const scree_ConvergeSample *sample, double *work,
                                scree_ConvergeStarts *result);

typedef struct scree_ConvergeOpinion {
  scree_ConvergeBounds step, tolerance; /* relative to the scale of the quantity */
  double order;
  bool judged;
} scree_ConvergeOpinion;

scree_ConvergeAdvice scree_converge_advise_starts(const scree_ConvergeOpinion *opinions, int count,
                                                  double accuracy, int starts);

/* ---- series ---------------------------------------------------------------------------------- */

/* Means over `count` equal intervals of [0, end] of y(t) given at times t (n, ascending): joined by
 * straight lines or, for rates, constant over the step that ends at each time. Before the first and
 * after the last time the nearest value holds. NAN where a value that counts is NAN. */
void scree_converge_means(const double *t, const double *y, size_t n, bool rate, double end,
                          int count, double *means);

/* One quantity of one run. */
typedef struct scree_ConvergeSeries {
  char name[64];
  const char *unit;
  int components;   /* 1, or the bins of a profile (times the dimension) */
  int group;        /* series of one group share a scale: components of a vector, energies */
  bool judged;      /* counts for the verdict */
  double reference; /* its own share of the scale */
  double floor;     /* the scale is at least this */
  double *values;   /* (INTERVALS x components) */
} scree_ConvergeSeries;

typedef struct scree_ConvergeRun {
  int count;
  scree_ConvergeSeries series[SCREE_CONVERGE_SERIES];
} scree_ConvergeRun;

/* The range of the profiles, the same for all runs: heights from low to high along `up`. */
typedef struct scree_ConvergeProfile {
  double up[3], low, high;
} scree_ConvergeProfile;

scree_Status scree_converge_profile(scree_Replay *replay, scree_ConvergeProfile *profile);

/* Take all series of a run up to the time `end`. The same scene gives the same list. */
scree_Status scree_converge_take(scree_Replay *replay, const scree_Scene *scene,
                                 const scree_ConvergeProfile *profile, double end,
                                 scree_ConvergeRun *run);
void scree_converge_run_fini(scree_ConvergeRun *run);

/* The solver's tolerance that a scene asks for. */
double scree_converge_tolerance(const scree_Scene *scene);

/* Its keys `seed` and `perturb`. */
void scree_converge_seed(const scree_Scene *scene, double *seed, double *perturb);

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct scree_ConvergeQuantity {
  char name[64];
  const char *unit;
  int components;
  bool judged;
  double scale;
  double value;     /* mean over the last half of the run at h; of a profile its largest bin */
  double limit;     /* the same, extrapolated to h = 0; NAN without an order */
  double order;     /* NAN: none */
  double error;     /* of the step h, relative to the scale */
  double tolerance; /* of the tolerance */
  double errors[SCREE_CONVERGE_LEVELS];      /* of each step */
  scree_ConvergeStarts starts;               /* of several starts, relative to the scale */
  double value_deviation;                    /* standard error of `value` then */
  double values[SCREE_CONVERGE_RUNS];        /* `value` of each run */
  const double *series[SCREE_CONVERGE_RUNS]; /* (INTERVALS x components) means over the starts */
} scree_ConvergeQuantity;

/* Mean distance between the same bodies of two runs, over the bodies' sizes, at common frames. */
typedef struct scree_ConvergeBodies {
  int frames;
  double *times;                           /* (frames) */
  double *distance[SCREE_CONVERGE_LEVELS]; /* (frames) between levels k and k + 1 */
  double largest;                          /* between the two finest */
  double diverge; /* time from which on these are more than a tenth apart; NAN: they are not */
  bool chaotic;   /* and a smaller step does not help */
} scree_ConvergeBodies;

/* From which time on the last of `levels` - 1 curves (frames each) stays above a tenth, and whether
 * it is no smaller there than the curve before it. */
void scree_converge_divergence(scree_ConvergeBodies *bodies, int levels);

/* What the certificates of the runs of one level say together. */
typedef struct scree_ConvergeCertificate {
  int64_t steps, above;
  double error, penetration, energy_created, seconds;
} scree_ConvergeCertificate;

typedef struct scree_Convergence {
  int starts;
  int levels, runs; /* runs: levels, and one more with the other tolerance when `tolerance_run` */
  bool tolerance_run;
  double end; /* time that all runs cover */
  double accuracy;
  int windows; /* of the judged averages: WINDOWS, or 2 where bodies diverge, or of several starts
                */
  scree_ConvergeProfile profile;
  scree_ConvergeBodies bodies; /* of the first start */
  int count;
  scree_ConvergeQuantity *quantity; /* (count) */
  scree_ConvergeAdvice advice;
  scree_ConvergeCertificate certificate[SCREE_CONVERGE_RUNS];
  scree_ConvergeRun *run; /* (starts x runs) */
  double *means;          /* over the starts, of all series; null with one start */
} scree_Convergence;

/* Where the runs are: level 0 with h, 1 with h/2, ..., and last the one with a tenth of the
 * tolerance, of start 0, 1, .... They are opened one at a time, those of the first start
 * together. */
typedef struct scree_ConvergeSource {
  scree_Status (*open)(void *user, int start, int run, scree_Replay **replay);
  void *user;
  int starts, levels;
  bool tolerance_run;
} scree_ConvergeSource;

/* Compare runs of a scene. */
scree_Status scree_convergence_compute(const scree_ConvergeSource *source, const scree_Scene *scene,
                                       double accuracy, const scree_Log *log,
                                       scree_Convergence *convergence);
void scree_convergence_fini(scree_Convergence *convergence);

#endif

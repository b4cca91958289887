/* Figures that every engine is judged by, computed here from the state alone. */
#ifndef SCREE_BENCH_JUDGE_H
#define SCREE_BENCH_JUDGE_H

#include "bench/engines/engine.h"

typedef struct Judge Judge;

/* What a run was worth. Lengths are relative to the size of the smaller or the moving body. */
typedef struct Verdict {
  double penetration; /* deepest at the samples */
  double error;   /* of the impulses by scree's measure: median of the samples, NAN: not known */
  double drift;   /* largest way of a body from the time `settled` on */
  double created; /* largest rise of kinetic + potential energy above an earlier value, over the
                   * energy that was turned over, or the work of lifting each body by a
                   * hundredth of its size if that is more */
} Verdict;

/* `world` is built from the same scene and is used for detection; both stay the caller's. */
Judge *judge_create(const Scene *scene, scree_World *world, double settled);
void judge_destroy(Judge *judge);
/* Before a step of length h: the state in which contacts are found. */
void judge_before(Judge *judge, const scree_Pose *poses, const scree_Twist *velocities);
/* After a step: the new state. */
void judge_after(Judge *judge, double time, const scree_Pose *poses, const scree_Twist *velocities);
/* At samples, after judge_after: the impulses of that step, and the penetration. */
bool judge_impulses(Judge *judge, double h, const Touch *touches, int count);
bool judge_problem(Judge *judge, const scree_Problem *problem, const double *r);
bool judge_penetration(Judge *judge, const scree_Pose *poses);
Verdict judge_verdict(const Judge *judge);

#endif

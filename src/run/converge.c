/* Comparison of the runs of one scene (see converge.h): distances between the same bodies in two
 * runs, averages with their errors and orders, and the recommended step and tolerance. */
#include "run/converge.h"

#include "core/log.h"
#include "core/memory.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = SCREE_CONVERGE_INTERVALS, WINDOWS = SCREE_CONVERGE_WINDOWS };

/* Chosen for the reasons beside them, and checked on examples/column.yaml, wall.yaml and a drum of
 * 59 disks, 2026-11-17. */
static const struct {
  double apart;   /* mean distance over size from which on single bodies count as diverged */
  double no_less; /* the two finest runs are no closer to each other than this times the two before:
                   * first order would make it a half */
  double rounding; /* differences below this part of the scale are rounding */
} choice = {0.1, 0.75, 1e-10};

/* ---- single bodies --------------------------------------------------------------------------- */

/* Mean distance of the bodies that are in both frames, over their sizes; NAN without bodies. Bodies
 * that were poured in another order have other masses: these are not the same bodies. */
static double frame_distance(const scree_Replay *a, const scree_ReplayFrame *fa,
                             const scree_Replay *b, const scree_ReplayFrame *fb) {
  double sum = 0.0;
  int count = 0;
  for (int i = 0; i < fa->bodies && i < fb->bodies; ++i) {
    const scree_ReplayBody *body = &a->bodies[i];
    if (body->obstacle || b->bodies[i].obstacle || !fa->present[i] || !fb->present[i] ||
        body->mass != b->bodies[i].mass || !(body->shape.size > 0.0))
      continue;
    const double *x = fa->position + 3 * i, *y = fb->position + 3 * i;
    sum += sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) +
                (x[2] - y[2]) * (x[2] - y[2])) /
           body->shape.size;
    ++count;
  }
  return count ? sum / count : NAN;
}

/* Distances between neighbouring levels at the frames that all have: those of the coarsest run
 * whose times the others saved, too. */
static scree_Status compare_bodies(scree_Replay *const *replay, int levels,
                                   scree_ConvergeBodies *bodies) {
  scree_Replay *first = replay[0];
  scree_ReplayFrame frame[SCREE_CONVERGE_LEVELS] = {{0}};
  int at[SCREE_CONVERGE_LEVELS] = {0};
  scree_Status status = SCREE_OK;
  bodies->times = SCREE_ALLOC(double, first->frame_count);
  bool good = bodies->times != NULL;
  for (int k = 0; k + 1 < levels; ++k) {
    bodies->distance[k] = SCREE_ALLOC(double, first->frame_count);
    good = good && bodies->distance[k];
  }
  if (!good) return scree_fail_memory(first->log, "the distances of bodies");
  for (int k = 0; k < levels; ++k) frame[k].bodies_only = true;
  for (int f = 0; status == SCREE_OK && f < first->frame_count; ++f) {
    bool common = true;
    at[0] = f;
    for (int k = 1; k < levels && common; ++k) {
      const double near = 1e-3 * replay[k]->h;
      while (at[k] < replay[k]->frame_count && replay[k]->times[at[k]] < first->times[f] - near)
        ++at[k];
      common = at[k] < replay[k]->frame_count && replay[k]->times[at[k]] <= first->times[f] + near;
    }
    for (int k = 0; common && status == SCREE_OK && k < levels; ++k)
      status = scree_replay_read(replay[k], at[k], &frame[k]);
    if (!common || status != SCREE_OK) continue;
    bodies->times[bodies->frames] = first->times[f];
    for (int k = 0; k + 1 < levels; ++k)
      bodies->distance[k][bodies->frames] =
          frame_distance(replay[k], &frame[k], replay[k + 1], &frame[k + 1]);
    ++bodies->frames;
  }
  for (int k = 0; k < levels; ++k) scree_replay_frame_fini(&frame[k]);
  return status;
}

void scree_converge_divergence(scree_ConvergeBodies *bodies, int levels) {
  const int finest = levels - 2;
  bodies->diverge = NAN;
  bodies->chaotic = false;
  bodies->largest = 0.0;
  if (finest < 0 || bodies->frames == 0) return;
  int from = bodies->frames; /* the frames from here on are apart */
  bool apart = true;
  for (int f = bodies->frames - 1; f >= 0; --f) {
    const double d = bodies->distance[finest][f];
    bodies->largest = fmax(bodies->largest, d); /* a NAN, no bodies, is passed over */
    apart = apart && !(d <= choice.apart);
    if (apart && !isnan(d)) from = f;
  }
  if (from == bodies->frames) return;
  bodies->diverge = bodies->times[from];
  double near = 0.0, wide = 0.0;
  for (int f = from; f < bodies->frames; ++f) {
    if (isnan(bodies->distance[finest][f])) continue;
    near += bodies->distance[finest][f];
    if (finest > 0) wide += bodies->distance[finest - 1][f];
  }
  bodies->chaotic = finest == 0 || near >= choice.no_less * wide;
}

/* ---- averages -------------------------------------------------------------------------------- */

static const scree_ConvergeSeries *series_of(const scree_Convergence *all, int start, int run,
                                             int k) {
  return &all->run[start * all->runs + run].series[k];
}

/* Intervals in which all runs have values: where a body that a sensor watches was removed there are
 * none. */
static void find_valid(const scree_Convergence *all, int k, bool *valid) {
  const int components = series_of(all, 0, 0, k)->components;
  for (int i = 0; i < N; ++i) {
    valid[i] = true;
    for (int r = 0; r < all->starts * all->runs; ++r)
      for (int c = 0; c < components; ++c)
        if (!isfinite(all->run[r].series[k].values[i * components + c])) valid[i] = false;
  }
}

/* Means of the valid intervals [first, first + count): (components), false when there are none. */
static bool average(const scree_ConvergeSeries *s, const bool *valid, int first, int count,
                    double *means) {
  int used = 0;
  for (int c = 0; c < s->components; ++c) means[c] = 0.0;
  for (int i = first; i < first + count; ++i) {
    if (!valid[i]) continue;
    for (int c = 0; c < s->components; ++c) means[c] += s->values[i * s->components + c];
    ++used;
  }
  for (int c = 0; c < s->components; ++c) means[c] /= used ? used : 1;
  return used > 0;
}

/* All runs of all starts by windows: values (starts x runs x n); n, at most windows x components,
 * leaves out empty ones.
 */
static size_t cut(const scree_Convergence *all, int k, const bool *valid, int windows,
                  double *values) {
  const size_t components = (size_t)series_of(all, 0, 0, k)->components;
  size_t n = 0;
  bool filled[WINDOWS] = {false};
  for (int w = 0; w < windows; ++w) {
    for (int i = w * (N / windows); i < (w + 1) * (N / windows); ++i)
      filled[w] = filled[w] || valid[i];
    n += filled[w] ? components : 0;
  }
  for (int r = 0; r < all->starts * all->runs; ++r) {
    double *row = values + (size_t)r * n;
    for (int w = 0; w < windows; ++w) {
      if (!filled[w]) continue;
      (void)average(&all->run[r].series[k], valid, w * (N / windows), N / windows, row);
      row += components;
    }
  }
  return n;
}

/* The mean over the last half of the run, and over the starts; of a profile its largest bin at h,
 * in all runs. */
static void take_values(const scree_Convergence *all, int k, const bool *valid, double *work,
                        scree_ConvergeQuantity *q) {
  const int components = q->components, late = N / 2;
  double *first = work + components; /* sums over the starts at h */
  int bin = 0;
  bool any = true;
  for (int c = 0; c < components; ++c) first[c] = 0.0;
  for (int s = 0; s < all->starts; ++s) {
    any = average(series_of(all, s, 0, k), valid, late, late, work) && any;
    for (int c = 0; c < components; ++c) first[c] += work[c];
  }
  for (int c = 1; c < components; ++c)
    if (fabs(first[c]) > fabs(first[bin])) bin = c;
  for (int r = 0; r < all->runs; ++r) {
    q->values[r] = any ? 0.0 : NAN;
    for (int s = 0; s < all->starts; ++s) {
      (void)average(series_of(all, s, r, k), valid, late, late, work);
      q->values[r] += work[bin] / all->starts;
    }
  }
  if (all->starts > 1) {
    double square = 0.0;
    for (int s = 0; s < all->starts; ++s) {
      (void)average(series_of(all, s, 0, k), valid, late, late, work);
      square += (work[bin] - q->values[0]) * (work[bin] - q->values[0]);
    }
    q->value_deviation = sqrt(square / ((double)all->starts * (all->starts - 1)));
  }
  q->value = q->values[0];
  q->limit = NAN;
  if (!isnan(q->order) && isfinite(q->value))
    scree_converge_limit(q->values, all->levels, 1, q->order, &q->limit);
}

/* Errors of one start. `work` has all windows of all runs, and room for the limit. */
static void judge_one(const scree_Convergence *all, int k, const bool *valid, double scale,
                      double *work, scree_ConvergeQuantity *q) {
  const int levels = all->levels;
  size_t n = cut(all, k, valid, WINDOWS, work);
  /* The change with a tenth of the tolerance is the noise level of the comparison of steps. */
  double noise = choice.rounding * scale;
  if (all->tolerance_run) {
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
      const double d = work[(size_t)levels * n + i] - work[i];
      sum += d * d;
    }
    noise = fmax(noise, 2.0 * sqrt(n ? sum / (double)n : 0.0));
  }
  q->order = scree_converge_order(work, levels, n, noise);
  n = cut(all, k, valid, all->windows, work);
  double *limit = isnan(q->order) ? NULL : work + (size_t)all->runs * n;
  if (limit) scree_converge_limit(work, levels, n, q->order, limit);
  scree_converge_errors(work, limit, levels, n, q->components, q->errors);
  for (int l = 0; l < levels; ++l) q->errors[l] /= scale;
  q->error = q->errors[0];
  q->tolerance =
      all->tolerance_run
          ? scree_converge_distance(work, work + (size_t)levels * n, n, q->components) / scale
          : 0.0;
  if (n == 0) q->judged = false;
}

static void divide(scree_ConvergeBounds *b, double scale) {
  b->error /= scale;
  b->deviation /= scale;
  b->low /= scale;
  b->high /= scale;
}

static void judge_starts(const scree_Convergence *all, int k, const bool *valid, double scale,
                         double *work, scree_ConvergeQuantity *q) {
  const size_t n = cut(all, k, valid, all->windows, work);
  const scree_ConvergeSample sample = {.values = work,
                                       .starts = all->starts,
                                       .runs = all->runs,
                                       .levels = all->levels,
                                       .n = n,
                                       .components = q->components};
  scree_ConvergeStarts *found = &q->starts;
  scree_converge_over_starts(&sample, work + (size_t)(all->starts * all->runs) * n, found);
  divide(&found->step, scale);
  divide(&found->tolerance, scale);
  found->scatter /= scale;
  for (int l = 0; l < all->levels; ++l) q->errors[l] = found->errors[l] /= scale;
  q->order = found->order;
  q->error = found->step.error;
  q->tolerance = found->tolerance.error;
  if (n == 0) q->judged = false;
}

static void judge(const scree_Convergence *all, int k, double *work, scree_ConvergeQuantity *q) {
  bool valid[N];
  find_valid(all, k, valid);
  const double scale = q->scale > 0.0 ? q->scale : 1.0; /* all is zero, or empty */
  if (all->starts > 1)
    judge_starts(all, k, valid, scale, work, q);
  else
    judge_one(all, k, valid, scale, work, q);
  take_values(all, k, valid, work, q);
}

/* Name, scale and series of quantity k. `means` has room for the means of its series. */
static void describe(const scree_Convergence *all, int k, double *means,
                     scree_ConvergeQuantity *q) {
  const scree_ConvergeSeries *own = series_of(all, 0, 0, k);
  *q = (scree_ConvergeQuantity){.unit = own->unit,
                                .components = own->components,
                                .judged = own->judged,
                                .value_deviation = NAN};
  memcpy(q->name, own->name, sizeof q->name);
  for (int r = 0; r < all->starts * all->runs; ++r)
    for (int s = 0; s < all->run[r].count; ++s) {
      const scree_ConvergeSeries *other = &all->run[r].series[s];
      if (other->group == own->group)
        q->scale = fmax(q->scale, fmax(other->reference, other->floor));
    }
  const int count = N * own->components;
  for (int r = 0; r < all->runs; ++r) {
    q->series[r] = series_of(all, 0, r, k)->values;
    if (!means) continue;
    for (int s = 0; s < all->starts; ++s)
      for (int i = 0; i < count; ++i) means[i] += series_of(all, s, r, k)->values[i] / all->starts;
    q->series[r] = means;
    means += count;
  }
}

static void advise(scree_Convergence *all, scree_ConvergeError *errors,
                   scree_ConvergeOpinion *opinions) {
  for (int k = 0; k < all->count; ++k) {
    const scree_ConvergeQuantity *q = &all->quantity[k];
    errors[k] = (scree_ConvergeError){q->errors, all->levels, q->order, q->tolerance, q->judged};
    opinions[k] = (scree_ConvergeOpinion){q->starts.step, q->starts.tolerance, q->order, q->judged};
  }
  all->advice = all->starts > 1
                    ? scree_converge_advise_starts(opinions, all->count, all->accuracy, all->starts)
                    : scree_converge_advise(errors, all->count, all->accuracy, all->bodies.chaotic);
}

static scree_Status judge_all(scree_Convergence *all, const scree_Log *log) {
  const int count = all->run[0].count;
  size_t components = 1, numbers = 0;
  for (int k = 0; k < count; ++k) {
    const size_t own = (size_t)all->run[0].series[k].components;
    if (own > components) components = own;
    numbers += own * N * (size_t)all->runs;
  }
  /* averages of each run; of the levels, and of the limit of small steps */
  const size_t rows = (size_t)(all->starts * all->runs + all->levels) + 3;
  double *work = SCREE_ALLOC(double, rows *WINDOWS *components);
  scree_ConvergeError *errors = SCREE_ALLOC(scree_ConvergeError, count);
  scree_ConvergeOpinion *opinions = SCREE_ALLOC(scree_ConvergeOpinion, count);
  all->quantity = SCREE_ALLOC(scree_ConvergeQuantity, count);
  if (all->starts > 1) all->means = SCREE_ALLOC(double, numbers);
  scree_Status status = SCREE_OK;
  if (!work || !errors || !opinions || !all->quantity || (all->starts > 1 && !all->means))
    status = scree_fail_memory(log, "the comparison");
  double *means = all->means;
  for (int k = 0; status == SCREE_OK && k < count; ++k) {
    scree_ConvergeQuantity *q = &all->quantity[k];
    describe(all, k, means, q);
    judge(all, k, work, q);
    if (means) means += (size_t)(N * q->components * all->runs);
    all->count = k + 1;
  }
  if (status == SCREE_OK) advise(all, errors, opinions);
  scree_free(work);
  scree_free(errors);
  scree_free(opinions);
  return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Lists of different lengths belong to different scenes. */
static scree_Status check_lists(const scree_Convergence *all, const scree_Log *log) {
  for (int r = 1; r < all->starts * all->runs; ++r) {
    bool same = all->run[r].count == all->run[0].count;
    for (int k = 0; same && k < all->run[0].count; ++k)
      same = strcmp(all->run[r].series[k].name, all->run[0].series[k].name) == 0;
    if (!same)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "the runs to compare have different sensors: they are of different scenes");
  }
  return SCREE_OK;
}

static double end_of(const scree_Replay *replay) {
  const scree_ReplayCurve *time = scree_replay_curve(replay, "time");
  return time && replay->rows ? time->values[replay->rows - 1] : 0.0;
}

static void add_certificate(const scree_Replay *replay, scree_ConvergeCertificate *sum) {
  const scree_ReplayCertificate *c = &replay->certificate;
  sum->steps += c->steps;
  sum->above += c->above;
  sum->error = fmax(sum->error, c->error);
  sum->penetration = fmax(sum->penetration, c->penetration);
  sum->energy_created = fmax(sum->energy_created, c->energy_created); /* a NAN is passed over */
  sum->seconds += c->seconds;
}

/* The first start: single bodies, the range of profiles, and the time to which runs go. */
static scree_Status compare_first(const scree_ConvergeSource *source, const scree_Scene *scene,
                                  const scree_Log *log, scree_Convergence *all) {
  scree_Replay *replay[SCREE_CONVERGE_RUNS] = {NULL};
  scree_Status status = SCREE_OK;
  for (int r = 0; status == SCREE_OK && r < all->runs; ++r) {
    status = source->open(source->user, 0, r, &replay[r]);
    if (status == SCREE_OK) all->end = fmin(all->end, end_of(replay[r]));
  }
  if (status == SCREE_OK && !(all->end > 0.0))
    status = scree_fail(log, SCREE_BAD_INPUT, "a run to compare has no steps");
  if (status == SCREE_OK) {
    assert(replay[0]);
    status = compare_bodies(replay, all->levels, &all->bodies);
  }
  if (status == SCREE_OK) {
    scree_converge_divergence(&all->bodies, all->levels);
    all->windows = all->bodies.chaotic || all->starts > 1 ? 2 : WINDOWS;
    status = scree_converge_profile(replay[0], &all->profile);
  }
  for (int r = 0; status == SCREE_OK && r < all->runs; ++r) {
    add_certificate(replay[r], &all->certificate[r]);
    status = scree_converge_take(replay[r], scene, &all->profile, all->end, &all->run[r]);
  }
  for (int r = 0; r < all->runs; ++r) scree_replay_close(replay[r]);
  return status;
}

/* Another start. A run that stopped earlier, by a condition, goes on as it ended. */
static scree_Status take_start(const scree_ConvergeSource *source, int start,
                               const scree_Scene *scene, scree_Convergence *all) {
  scree_Status status = SCREE_OK;
  for (int r = 0; status == SCREE_OK && r < all->runs; ++r) {
    scree_Replay *replay = NULL;
    status = source->open(source->user, start, r, &replay);
    if (status != SCREE_OK) break;
    add_certificate(replay, &all->certificate[r]);
    status = scree_converge_take(replay, scene, &all->profile, all->end,
                                 &all->run[start * all->runs + r]);
    scree_replay_close(replay);
  }
  return status;
}

scree_Status scree_convergence_compute(const scree_ConvergeSource *source, const scree_Scene *scene,
                                       double accuracy, const scree_Log *log,
                                       scree_Convergence *all) {
  *all = (scree_Convergence){.starts = source->starts,
                             .levels = source->levels,
                             .runs = source->levels + source->tolerance_run,
                             .tolerance_run = source->tolerance_run,
                             .end = INFINITY,
                             .accuracy = accuracy};
  all->run = SCREE_ALLOC(scree_ConvergeRun, all->starts * all->runs);
  if (!all->run) return scree_fail_memory(log, "the comparison");
  scree_Status status = compare_first(source, scene, log, all);
  for (int s = 1; status == SCREE_OK && s < all->starts; ++s)
    status = take_start(source, s, scene, all);
  if (status == SCREE_OK) status = check_lists(all, log);
  if (status == SCREE_OK) status = judge_all(all, log);
  if (status != SCREE_OK) scree_convergence_fini(all);
  return status;
}

void scree_convergence_fini(scree_Convergence *all) {
  for (int r = 0; all->run && r < all->starts * all->runs; ++r)
    scree_converge_run_fini(&all->run[r]);
  for (int k = 0; k < SCREE_CONVERGE_LEVELS; ++k) scree_free(all->bodies.distance[k]);
  scree_free(all->bodies.times);
  scree_free(all->quantity);
  scree_free(all->means);
  scree_free(all->run);
  *all = (scree_Convergence){0};
}

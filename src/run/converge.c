/* Runs of one scene compared (see converge.h): how far single bodies are apart, the averages with
 * their errors and orders, and the advice. */
#include "run/converge.h"

#include "core/log.h"
#include "core/memory.h"

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

/* Intervals in which all runs have values: where a body that a sensor watches was removed there are
 * none. */
static void find_valid(const scree_ConvergeQuantity *q, int runs, bool *valid) {
  for (int i = 0; i < N; ++i) {
    valid[i] = true;
    for (int r = 0; r < runs; ++r)
      for (int c = 0; c < q->components; ++c)
        if (!isfinite(q->series[r][i * q->components + c])) valid[i] = false;
  }
}

/* Means of the valid intervals [first, first + count): (components), false when there are none. */
static bool average(const scree_ConvergeQuantity *q, int run, const bool *valid, int first,
                    int count, double *means) {
  int used = 0;
  for (int c = 0; c < q->components; ++c) means[c] = 0.0;
  for (int i = first; i < first + count; ++i) {
    if (!valid[i]) continue;
    for (int c = 0; c < q->components; ++c) means[c] += q->series[run][i * q->components + c];
    ++used;
  }
  for (int c = 0; c < q->components; ++c) means[c] /= used ? used : 1;
  return used > 0;
}

/* All runs by windows: values (runs x n); n, at most windows x components, leaves out empty ones.
 */
static size_t cut(const scree_ConvergeQuantity *q, int runs, const bool *valid, int windows,
                  double *values) {
  const size_t components = (size_t)q->components;
  size_t n = 0;
  bool filled[WINDOWS] = {false};
  for (int w = 0; w < windows; ++w) {
    for (int i = w * (N / windows); i < (w + 1) * (N / windows); ++i)
      filled[w] = filled[w] || valid[i];
    n += filled[w] ? components : 0;
  }
  for (int r = 0; r < runs; ++r) {
    double *row = values + (size_t)r * n;
    for (int w = 0; w < windows; ++w) {
      if (!filled[w]) continue;
      (void)average(q, r, valid, w * (N / windows), N / windows, row);
      row += components;
    }
  }
  return n;
}

/* The mean over the last half of the run; of a profile its largest bin at h, in all runs. */
static void take_values(const scree_Convergence *all, scree_ConvergeQuantity *q, const bool *valid,
                        double *work) {
  int bin = 0;
  for (int r = 0; r < all->runs; ++r) {
    const bool any = average(q, r, valid, N / 2, N / 2, work);
    if (r == 0)
      for (int c = 1; c < q->components; ++c)
        if (fabs(work[c]) > fabs(work[bin])) bin = c;
    q->values[r] = any ? work[bin] : NAN;
  }
  q->value = q->values[0];
  q->limit = NAN;
  if (!isnan(q->order) && isfinite(q->value))
    scree_converge_limit(q->values, all->levels, 1, q->order, &q->limit);
}

/* `work` has room for all windows of all runs and of the limit. */
static void judge(const scree_Convergence *all, scree_ConvergeQuantity *q, double *work) {
  const int levels = all->levels;
  bool valid[N];
  find_valid(q, all->runs, valid);
  const double scale = q->scale > 0.0 ? q->scale : 1.0; /* all is zero, or empty */
  size_t n = cut(q, all->runs, valid, WINDOWS, work);
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
  n = cut(q, all->runs, valid, all->windows, work);
  double *limit = isnan(q->order) ? NULL : work + (size_t)all->runs * n;
  if (limit) scree_converge_limit(work, levels, n, q->order, limit);
  scree_converge_errors(work, limit, levels, n, q->components, q->errors);
  for (int k = 0; k < levels; ++k) q->errors[k] /= scale;
  q->error = q->errors[0];
  q->tolerance =
      all->tolerance_run
          ? scree_converge_distance(work, work + (size_t)levels * n, n, q->components) / scale
          : 0.0;
  if (n == 0) q->judged = false;
  take_values(all, q, valid, work);
}

/* Name, scale and series of quantity k. */
static void describe(const scree_Convergence *all, int k, scree_ConvergeQuantity *q) {
  const scree_ConvergeSeries *own = &all->run[0].series[k];
  *q = (scree_ConvergeQuantity){
      .unit = own->unit, .components = own->components, .judged = own->judged};
  memcpy(q->name, own->name, sizeof q->name);
  for (int r = 0; r < all->runs; ++r) {
    q->series[r] = all->run[r].series[k].values;
    for (int s = 0; s < all->run[r].count; ++s) {
      const scree_ConvergeSeries *other = &all->run[r].series[s];
      if (other->group == own->group)
        q->scale = fmax(q->scale, fmax(other->reference, other->floor));
    }
  }
}

static scree_Status judge_all(scree_Convergence *all, const scree_Log *log) {
  const int count = all->run[0].count;
  int components = 1;
  for (int k = 0; k < count; ++k)
    if (all->run[0].series[k].components > components)
      components = all->run[0].series[k].components;
  /* averages of each run, and of the limit of small steps */
  double *work = SCREE_ALLOC(double, ((size_t)all->runs + 1) * WINDOWS * (size_t)components);
  scree_ConvergeError *errors = SCREE_ALLOC(scree_ConvergeError, count);
  all->quantity = SCREE_ALLOC(scree_ConvergeQuantity, count);
  scree_Status status = SCREE_OK;
  if (!work || !errors || !all->quantity) status = scree_fail_memory(log, "the comparison");
  for (int k = 0; status == SCREE_OK && k < count; ++k) {
    scree_ConvergeQuantity *q = &all->quantity[k];
    describe(all, k, q);
    judge(all, q, work);
    errors[k] = (scree_ConvergeError){q->errors, all->levels, q->order, q->tolerance, q->judged};
    all->count = k + 1;
  }
  if (status == SCREE_OK)
    all->advice = scree_converge_advise(errors, count, all->accuracy, all->bodies.chaotic);
  scree_free(work);
  scree_free(errors);
  return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Lists of different lengths belong to different scenes. */
static scree_Status check_lists(const scree_Convergence *all, const scree_Log *log) {
  for (int r = 1; r < all->runs; ++r) {
    bool same = all->run[r].count == all->run[0].count;
    for (int k = 0; same && k < all->run[0].count; ++k)
      same = strcmp(all->run[r].series[k].name, all->run[0].series[k].name) == 0;
    if (!same)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "the runs to compare have different sensors: they are of different scenes");
  }
  return SCREE_OK;
}

scree_Status scree_convergence_compute(scree_Replay *const *replay, int levels, bool tolerance_run,
                                       const scree_Scene *scene, double accuracy,
                                       const scree_Log *log, scree_Convergence *all) {
  *all = (scree_Convergence){.levels = levels,
                             .runs = levels + tolerance_run,
                             .tolerance_run = tolerance_run,
                             .end = INFINITY,
                             .accuracy = accuracy};
  for (int r = 0; r < all->runs; ++r) {
    const scree_ReplayCurve *time = scree_replay_curve(replay[r], "time");
    all->end = fmin(all->end, time && replay[r]->rows ? time->values[replay[r]->rows - 1] : 0.0);
  }
  if (!(all->end > 0.0)) return scree_fail(log, SCREE_BAD_INPUT, "a run to compare has no steps");
  all->run = SCREE_ALLOC(scree_ConvergeRun, all->runs);
  if (!all->run) return scree_fail_memory(log, "the comparison");
  scree_Status status = compare_bodies(replay, levels, &all->bodies);
  if (status == SCREE_OK) {
    scree_converge_divergence(&all->bodies, levels);
    all->windows = all->bodies.chaotic ? 2 : WINDOWS;
    status = scree_converge_profile(replay[0], &all->profile);
  }
  for (int r = 0; status == SCREE_OK && r < all->runs; ++r)
    status = scree_converge_take(replay[r], scene, &all->profile, all->end, &all->run[r]);
  if (status == SCREE_OK) status = check_lists(all, log);
  if (status == SCREE_OK) status = judge_all(all, log);
  if (status != SCREE_OK) scree_convergence_fini(all);
  return status;
}

void scree_convergence_fini(scree_Convergence *all) {
  for (int r = 0; all->run && r < all->runs; ++r) scree_converge_run_fini(&all->run[r]);
  for (int k = 0; k < SCREE_CONVERGE_LEVELS; ++k) scree_free(all->bodies.distance[k]);
  scree_free(all->bodies.times);
  scree_free(all->quantity);
  scree_free(all->run);
  *all = (scree_Convergence){0};
}

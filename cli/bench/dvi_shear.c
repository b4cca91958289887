/* dvi-shear: the shear box of 002 section 11 (Table 1, Figures 8 to 11), and the gain of a warm
 * start (section 10.2).
 *
 * The scene is examples/shear-box.yaml: 90 spheres of 20 mm and 630 of 10 mm, 1700 kg/m^3, mu =
 * 0.5, in a box of 0.1 x 0.1 x 0.2 m that is cut in two; compliance 0.9e-7 m/N in both directions,
 * alpha_K = 0.1 s, the associated flow; 100 kg fall on the grains from a small height, and 0.1 s
 * after they meet them the upper half moves. Rows: the vertical force on the floor once it has
 * settled, the force on the upper half before it moves and at the end, and the iterations of spg
 * from zero (cold) and from the impulses of the last step (warm), in the same states, for the
 * compliant grains and for rigid ones.
 *
 * An error of 1e-4 is asked for, and of the compliant grains in a third of the states 1e-5. What a
 * warm start gains depends on that: at 1e-4 most compliant problems are solved by the impulses of
 * the last step as they are, without an iteration, as the load changes by less than that in a step;
 * section 10.2 says that the iterations fall to a half or a third "without affecting the
 * precision", but not which one.
 *
 * Open in the paper: the step (here 2 ms), the packing (here dense and random), the height of the
 * fall (2 mm), the friction of the walls (none: the floor carries all of the weight), the speed of
 * the upper half (5 mm/s), the tolerance. The paper prints the curves without numbers; the text
 * gives the load on the floor, "almost 1000 N". */
#include "cli/bench/cases.h"
#include "cli/bench/march.h"
#include "cli/bench/plot.h"
#include "cli/embedded.h"
#include "scree/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 600, QUICK = 75, SAMPLES = 24, SAMPLES_QUICK = 5, SETTLE = 3, NAMED = 64 };

/* Whose iterations are counted, in which of the states, and the error that is asked of spg. */
enum { COUNTS = 3 };
static const struct {
  const char *name;
  bool rigid;
  size_t every;
  double error;
} counts[COUNTS] = {{"compliant", false, 1, 1e-4},
                    {"rigid", true, 1, 1e-4},
                    {"compliant, to 1e-5", false, 3, 1e-5}};

static const char scene_name[] = "examples/shear-box.yaml";
static const double fall_time = 0.03, begin = 0.13; /* of the scene, s */
static const double window = 0.05;                  /* of the mean forces, s */

/* Bodies whose forces are summed. */
typedef enum Part { OTHER, FLOOR, UPPER } Part;

/* The scene as a world, and its solver for the counts of iterations. */
typedef struct Box {
  scree_Scene *scene; /* its drivers are those of the world */
  scree_World *world;
  Part part[NAMED]; /* of the first bodies: obstacles and the load */
  int load;
} Box;

typedef struct Curves {
  Box *box;
  Box probe[2]; /* compliant, rigid: spg solves their steps */
  void *state;
  size_t state_size, count, sampled, counted[COUNTS];
  double time[STEPS], height[STEPS], floor[STEPS], shear[STEPS];
  double sample_time[COUNTS][SAMPLES], cold[COUNTS][SAMPLES], warm[COUNTS][SAMPLES];
  int missed[COUNTS]; /* solves that did not reach the error */
  int every, uncertified;
  scree_Status status;
} Curves;

static scree_Status build(const Bench *bench, const char *const *overrides, Box *box) {
  const CliFile *file = cli_files;
  while (file->name && strcmp(file->name, scene_name) != 0) ++file;
  if (!file->name) return SCREE_BAD_INPUT;
  *box = (Box){.load = -1};
  scree_Status status = scree_scene_parse(file->begin, (size_t)(file->end - file->begin),
                                          scene_name, overrides, bench->log, &box->scene);
  if (!status) status = scree_scene_build(box->scene, bench->log, &box->world);
  for (int k = 0; !status && k < NAMED && k < scree_world_body_count(box->world); ++k) {
    const char *name = scree_scene_body_name(box->scene, k);
    if (!name) continue;
    if (strcmp(name, "load") == 0) box->load = k;
    box->part[k] = strcmp(name, "floor") == 0        ? FLOOR
                   : strncmp(name, "upper-", 6) == 0 ? UPPER
                                                     : OTHER;
  }
  if (!status && box->load < 0) status = SCREE_BAD_INPUT;
  return status;
}

static void destroy(Box *box) {
  scree_world_destroy(box->world);
  scree_scene_destroy(box->scene);
}

/* Force of the last step on the bodies of a part. */
static scree_Vec3 force_on(const Box *box, Part part) {
  const double h = scree_world_get_settings(box->world)->step;
  scree_Vec3 sum = {0, 0, 0};
  for (int c = 0; c < scree_world_contact_count(box->world); ++c) {
    const scree_Contact one = scree_world_contact(box->world, c);
    double sign = 0;
    for (int side = 0; side < 2; ++side)
      if (one.body[side] < NAMED && box->part[one.body[side]] == part) sign += side == 0 ? 1 : -1;
    const scree_Vec3 axes[3] = {one.normal, one.tangent[0], one.tangent[1]};
    for (int k = 0; k < 3 && sign != 0; ++k) {
      sum.x += sign * one.r[k] * axes[k].x / h;
      sum.y += sign * one.r[k] * axes[k].y / h;
      sum.z += sign * one.r[k] * axes[k].z / h;
    }
  }
  return sum;
}

/* Iterations of one step from the impulses of the last one, or from zero. */
static scree_Status count_step(scree_World *world, double error, bool warm, double *iterations,
                               int *missed) {
  scree_WorldSettings settings = *scree_world_get_settings(world);
  scree_StepReport report;
  settings.warm_start = warm;
  settings.solve.tolerance = error;
  scree_Status status = scree_world_set_settings(world, &settings);
  if (!status) status = scree_world_step(world, &report);
  if (status <= SCREE_NOT_CONVERGED) {
    *iterations = report.solve.iterations;
    *missed += !report.solve.converged;
  }
  return status <= SCREE_NOT_CONVERGED ? SCREE_OK : status;
}

/* Both counts from the present state of the box, after a few steps with spg alone: the impulses of
 * the box itself are more accurate than what spg is asked for. */
static scree_Status sample_one(Curves *c, int m) {
  scree_World *probe = c->probe[counts[m].rigid].world;
  const size_t k = c->counted[m]++;
  const double error = counts[m].error;
  double ignored;
  int settling = 0;
  c->sample_time[m][k] = scree_world_time(c->box->world);
  scree_Status status = scree_world_restore(probe, c->state, c->state_size);
  for (int n = 0; n < SETTLE && !status; ++n)
    status = count_step(probe, error, true, &ignored, &settling);
  const size_t size = scree_world_state_size(probe);
  void *state = status ? NULL : malloc(size);
  if (!status && !state) status = SCREE_MACHINE;
  if (!status) scree_world_save(probe, state);
  if (!status) status = count_step(probe, error, false, &c->cold[m][k], &c->missed[m]);
  if (!status) status = scree_world_restore(probe, state, size);
  if (!status) status = count_step(probe, error, true, &c->warm[m][k], &c->missed[m]);
  free(state);
  return status;
}

static scree_Status sample(Curves *c) {
  scree_Status status = SCREE_OK;
  scree_world_save(c->box->world, c->state);
  for (int m = 0; m < COUNTS && !status; ++m)
    if (c->sampled % counts[m].every == 0) status = sample_one(c, m);
  ++c->sampled;
  return status;
}

static void observe(void *user, scree_World *world, const scree_StepReport *report) {
  Curves *c = user;
  if (c->count >= STEPS || c->status) return;
  const size_t k = c->count++;
  c->time[k] = scree_world_time(world);
  c->height[k] = 1e3 * scree_body_pose(world, c->box->load).position.z;
  c->floor[k] = -force_on(c->box, FLOOR).z;
  c->shear[k] = -force_on(c->box, UPPER).x;
  c->uncertified += !report->certified;
  if (c->time[k] < fall_time || c->count % (size_t)c->every || c->sampled >= SAMPLES) return;
  const size_t size = scree_world_state_size(world);
  if (size > c->state_size) {
    free(c->state);
    c->state = malloc(size);
  }
  c->state_size = c->state ? size : 0;
  if (!c->state) {
    c->status = SCREE_MACHINE;
    return;
  }
  c->status = sample(c);
}

static double mean(size_t n, const double *x) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) sum += x[k];
  return n ? sum / (double)n : NAN;
}

/* Mean of y over the times (from, to]. */
static double mean_between(const Curves *c, const double *y, double from, double to) {
  double sum = 0, n = 0;
  for (size_t k = 0; k < c->count; ++k)
    if (c->time[k] > from && c->time[k] <= to * (1 + 1e-9)) {
      sum += y[k];
      n += 1;
    }
  return n > 0 ? sum / n : NAN;
}

static scree_Status draw(Bench *bench, const Curves *c) {
  const struct {
    const char *name, *title, *label;
    const double *y;
  } figures[] = {{"load", "Height of the load (002 Figure 9)", "z [mm]", c->height},
                 {"floor", "Vertical load on the floor (002 Figure 10)", "F [N]", c->floor},
                 {"shear", "Force on the upper half (002 Figure 11)", "F [N]", c->shear}};
  scree_Status status = SCREE_OK;
  for (size_t k = 0; k < sizeof figures / sizeof *figures && !status; ++k) {
    const Plot plot = {.title = figures[k].title,
                       .x_label = "t [s]",
                       .y_label = figures[k].label,
                       .series = {{"scree", c->time, figures[k].y, c->count, false}},
                       .count = 1};
    status = plot_write(bench, &plot, figures[k].name);
  }
  if (status || !c->sampled) return status;
  Plot plot = {.title = "Iterations of spg (0 is drawn as 1)",
               .x_label = "t [s]",
               .y_label = "iterations",
               .log_y = true};
  static const char *const names[COUNTS][2] = {{"compliant, cold", "compliant, warm"},
                                               {"rigid, cold", "rigid, warm"},
                                               {"to 1e-5, cold", "to 1e-5, warm"}};
  double shown[COUNTS][2][SAMPLES];
  for (int m = 0; m < COUNTS; ++m)
    for (int warm = 0; warm < 2; ++warm) {
      for (size_t k = 0; k < c->counted[m]; ++k)
        shown[m][warm][k] = fmax(1, warm ? c->warm[m][k] : c->cold[m][k]);
      plot.series[plot.count++] =
          (PlotSeries){names[m][warm], c->sample_time[m], shown[m][warm], c->counted[m], true};
    }
  return plot_write(bench, &plot, "iterations");
}

static void report(Bench *bench, const Curves *c) {
  const double end = c->count ? c->time[c->count - 1] : 0;
  bench_figure(bench, "floor_load", "settled [N]", 1000,
               mean_between(c, c->floor, begin - window, begin));
  bench_figure(bench, "floor_load", "at the end [N]", 1000,
               mean_between(c, c->floor, end - window, end));
  bench_figure(bench, "shear_force", "before [N]", NAN,
               mean_between(c, c->shear, begin - window, begin));
  bench_figure(bench, "shear_force", "at the end [N]", NAN,
               mean_between(c, c->shear, end - window, end));
  double warm[COUNTS];
  for (int m = 0; m < COUNTS; ++m) {
    const double cold = mean(c->counted[m], c->cold[m]);
    warm[m] = mean(c->counted[m], c->warm[m]);
    bench_figure(bench, "iterations_cold", counts[m].name, NAN, cold);
    bench_figure(bench, "iterations_warm", counts[m].name, NAN, warm[m]);
    bench_figure(bench, "cold_over_warm", counts[m].name, counts[m].rigid ? 1 : 2.5,
                 cold / warm[m]);
    if (c->missed[m]) bench_figure(bench, "not_reached", counts[m].name, NAN, c->missed[m]);
  }
  bench_figure(bench, "iterations_warm", "rigid over compliant", 2.5, warm[1] / warm[0]);
  bench_figure(bench, "steps", "not certified", NAN, c->uncertified);
}

static scree_Status build_probes(const Bench *bench, Box probe[2]) {
  static const char *const soft[] = {"solver.name=spg", "solver.max_retries=0", "time.max_work=1e4",
                                     NULL};
  static const char *const rigid[] = {"solver.name=spg",        "solver.max_retries=0",
                                      "time.max_work=1e4",      "contact.compliance_n=0",
                                      "contact.compliance_t=0", NULL};
  const scree_Status status = build(bench, soft, &probe[0]);
  return status ? status : build(bench, rigid, &probe[1]);
}

static scree_Status run_shear(Bench *bench) {
  const int64_t steps = bench->quick ? QUICK : STEPS;
  Box box = {0};
  Curves *c = calloc(1, sizeof *c);
  March *result = malloc(sizeof *result);
  scree_Status status = c && result ? build(bench, NULL, &box) : SCREE_MACHINE;
  if (!status) status = build_probes(bench, c->probe);
  if (!status) {
    scree_WorldSettings settings = *scree_world_get_settings(box.world);
    settings.solve.threads = bench->threads ? bench->threads : 1;
    status = scree_world_set_settings(box.world, &settings);
    c->box = &box;
    c->every = (int)steps / (bench->quick ? SAMPLES_QUICK : SAMPLES);
  }
  if (!status) status = march(bench, "shear box", box.world, steps, observe, c, result);
  if (!status) status = c->status;
  if (!status) {
    march_note_stopped(bench, "shear box", result, steps);
    report(bench, c);
    status = draw(bench, c);
    bench_note(
        bench,
        "the scene is examples/shear-box.yaml. The paper prints no numbers for the shear force, "
        "and does not give the step, the packing, the height of the fall and the speed of the box");
  }
  destroy(&box);
  for (int rigid = 0; rigid < 2 && c; ++rigid) destroy(&c->probe[rigid]);
  if (c) free(c->state);
  free(c);
  free(result);
  return status;
}

const BenchCase bench_dvi_shear = {
    .name = "dvi-shear",
    .reference = "002 section 11, Figures 9 to 11; section 10.2",
    .summary = "720 compliant spheres in a shear box under 100 kg: forces, warm start of spg",
    .duration = "6 minutes, 1 minute with --quick",
    .run = run_shear,
};

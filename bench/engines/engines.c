/* The same scenes in scree and in the engines of games and robots, side by side in one run:
 *
 *     engines [-t seconds] [-e engine] [-d] [-s step] [-u until] [-o file] [scene.yaml...]
 *
 * Without scenes: all of bench/engines/scenes. -t is the processor time that a run may take (300),
 * -e runs one engine alone, -d default settings alone, -o also writes the table to a file. -s gives
 * every engine the same step, -u ends all runs at the same time of the scene: a second of falling
 * costs less than one of resting, so runs that were stopped at different times do not compare.
 *
 * Every engine gets the same bodies, masses, friction and gravity, at its default settings and at
 * those that its manual recommends for accuracy, on one core, in a process of its own. Counted is
 * the processor time of its steps alone. What came out is judged by judge.c from poses, velocities
 * and impulses: the deepest penetration by scree's detection, the error of the impulses in the
 * contacts that the engine itself found, with the law u_n + max(gap, 0)/h >= 0 and Coulomb's cone,
 * the way of bodies that should rest, and the energy that came from nowhere. */
#define _DEFAULT_SOURCE
#include "bench/engines/judge.h"
#include "bench/table.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 20, TOUCHES = 1000000 };

scree_World *engine_scree_world(void *engine);

static const Engine *const engines[] = {
    &engine_scree,
#ifdef SCREE_BENCH_BULLET
    &engine_bullet,
#endif
#ifdef SCREE_BENCH_ODE
    &engine_ode,
#endif
#ifdef SCREE_BENCH_MUJOCO
    &engine_mujoco,
#endif
#ifdef SCREE_BENCH_YADE
    &engine_yade,
#endif
    NULL,
};

static void print_log(void *user, scree_LogLevel level, const char *message) {
  (void)user;
  if (level <= SCREE_LOG_ERROR) fprintf(stderr, "%s\n", message);
}

static const scree_Log bench_log = {print_log, NULL};

/* What a run in its own process leaves behind. */
typedef struct Outcome {
  bool done; /* to the end of the scene; otherwise to `time` */
  bool failed;
  double seconds, time;
  long steps;
  Verdict verdict;
} Outcome;

typedef struct Setup {
  Scene scene;
  Body *bodies;
  scree_Scene *read;
  scree_World *world;
  char *text;
  double settled;
} Setup;

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static char *read_text(const char *path, size_t *length) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  if ((text = malloc(*length + 1))) *length = fread(text, 1, *length, file);
  fclose(file);
  return text;
}

/* A body for all engines; false if its shape is none that all of them have. */
static bool describe(const scree_World *world, int k, bool planar, Body *body) {
  const scree_Shape *shape = scree_body_shape(world, k);
  const bool obstacle = scree_body_is_obstacle(world, k);
  *body = (Body){.pose = scree_body_pose(world, k),
                 .velocity = scree_body_velocity(world, k),
                 .radius = shape->radius,
                 .half_length = shape->half_length,
                 .semi = shape->semi,
                 .mass = obstacle ? 0 : scree_body_mass(world, k),
                 .inertia = scree_body_inertia(world, k)};
  if (planar) body->inertia.x = body->inertia.y = body->inertia.z;
  switch (shape->kind) {
  case SCREE_SHAPE_SPHERE:
  case SCREE_SHAPE_DISK: body->kind = BODY_SPHERE; return true;
  case SCREE_SHAPE_BOX: body->kind = BODY_BOX; return true;
  case SCREE_SHAPE_SEGMENT: body->kind = BODY_CAPSULE; return true;
  case SCREE_SHAPE_HALF_SPACE:
  case SCREE_SHAPE_HALF_PLANE: body->kind = BODY_HALF_SPACE; return true;
  default: return false;
  }
}

static bool set_up(const char *path, Setup *s) {
  *s = (Setup){0};
  size_t length = 0;
  if (!(s->text = read_text(path, &length))) return false;
  if (scree_scene_parse(s->text, length, path, NULL, &bench_log, &s->read) ||
      scree_scene_build(s->read, &bench_log, &s->world))
    return false;
  const scree_SceneInfo info = scree_scene_info(s->read);
  const scree_PairLaw law = scree_scene_law(s->read, 0, 0);
  const int count = scree_world_body_count(s->world);
  if (!(s->bodies = malloc((size_t)count * sizeof *s->bodies))) return false;
  for (int k = 0; k < count; ++k)
    if (!describe(s->world, k, info.dimension == 2, &s->bodies[k])) {
      fprintf(stderr, "%s: body %d has a shape that not all engines have\n", path, k);
      return false;
    }
  s->scene = (Scene){.text = s->text,
                     .length = length,
                     .planar = info.dimension == 2,
                     .mu = scree_pair_law_get(&law, "mu"),
                     .gravity = scree_world_get_settings(s->world)->gravity,
                     .time = info.duration,
                     .count = count,
                     .bodies = s->bodies};
  s->settled = 0.1 * info.duration;
  return true;
}

static void tear_down(Setup *s) {
  scree_world_destroy(s->world);
  scree_scene_destroy(s->read);
  free(s->bodies);
  free(s->text);
}

/* Impulses of the step just made. */
static bool judge_step(const Engine *engine, void *running, double h, Judge *judge, Touch *room) {
  if (engine == &engine_scree) {
    const scree_Problem *problem;
    const double *r;
    if (scree_world_problem(engine_scree_world(running), &problem, &r, NULL, NULL)) return false;
    return problem->nc == 0 || judge_problem(judge, problem, r);
  }
  return judge_impulses(judge, h, room, engine->contacts(running, room, TOUCHES));
}

/* What the command line asks for. */
typedef struct Wish {
  const char *only;   /* engine, or null */
  bool defaults;      /* no accurate settings */
  double limit;       /* processor time of a run */
  double step, until; /* 0: the engine's, the scene's */
} Wish;

static bool run(const Setup *setup, const Engine *engine, const Setting *given, const Wish *wish,
                Outcome *outcome) {
  const size_t n = (size_t)setup->scene.count;
  scree_Pose *poses = malloc(n * sizeof *poses);
  scree_Twist *velocities = malloc(n * sizeof *velocities);
  Touch *room = malloc(TOUCHES * sizeof *room);
  Judge *judge = judge_create(&setup->scene, setup->world, setup->settled);
  double h = 0;
  Setting setting = *given;
  if (wish->step > 0) setting.step = wish->step;
  void *running = engine->create(&setup->scene, &setting, &h);
  bool good = poses && velocities && room && judge && running;
  const double time = wish->until > 0 ? wish->until : setup->scene.time;
  const long steps = good ? lround(ceil(time / h * (1 - 1e-9))) : 0;
  const long every = steps / SAMPLES > 0 ? steps / SAMPLES : 1;
  if (good) engine->state(running, poses, velocities);
  for (long k = 1; k <= steps && good && outcome->seconds < wish->limit; ++k) {
    judge_before(judge, poses, velocities);
    const double start = processor_seconds();
    good = engine->step(running);
    outcome->seconds += processor_seconds() - start;
    if (engine->seconds) outcome->seconds = engine->seconds(running);
    engine->state(running, poses, velocities);
    judge_after(judge, (double)k * h, poses, velocities);
    if (k % every == 0)
      good = good && judge_step(engine, running, h, judge, room) && judge_penetration(judge, poses);
    outcome->steps = k;
    outcome->time = (double)k * h;
    outcome->verdict = judge_verdict(judge);
  }
  outcome->done = good && outcome->steps == steps;
  if (running) engine->destroy(running);
  judge_destroy(judge);
  free(poses);
  free(velocities);
  free(room);
  return good;
}

/* In a process of its own: an engine may crash, hang or fill the memory. */
static Outcome run_apart(const Setup *setup, const Engine *engine, const Setting *setting,
                         const Wish *wish) {
  Outcome *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return (Outcome){.failed = true};
  *shared = (Outcome){0};
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm((unsigned)(10 * wish->limit)); /* a step that never ends */
    const bool good = run(setup, engine, setting, wish, shared);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) status = 1;
  Outcome outcome = *shared;
  outcome.failed = status != 0;
  munmap(shared, sizeof *shared);
  return outcome;
}

/* A figure, or a line where it is not known. */
static const char *figure(double x, char room[16]) {
  if (isnan(x))
    snprintf(room, 16, "-");
  else
    snprintf(room, 16, "%.1e", x);
  return room;
}

static void print_row(FILE *file, const Engine *engine, const Setting *setting, const Outcome *o) {
  char label[64], note[64] = "", room[4][16];
  snprintf(label, sizeof label, "%s %s", engine->name, setting->name);
  if (o->steps == 0) {
    table_say(file, "  %-17s could not run it\n", label);
    return;
  }
  if (o->failed)
    snprintf(note, sizeof note, "  failed at %.3g s", o->time);
  else if (!o->done)
    snprintf(note, sizeof note, "  stopped at %.3g s", o->time);
  const Verdict v = o->verdict;
  table_say(file, "  %-17s %7.2f %9.2f %10.3g %10s %10s %10s %10s%s\n", label,
            1e3 * o->time / (double)o->steps, 1e3 * o->seconds / (double)o->steps,
            o->seconds / o->time, figure(v.penetration, room[0]), figure(v.error, room[1]),
            figure(v.drift, room[2]), figure(v.created, room[3]), note);
}

static void bench_scene(FILE *file, const char *path, const Wish *wish) {
  Setup setup;
  if (!set_up(path, &setup)) {
    fprintf(stderr, "%s: cannot be used\n", path);
    tear_down(&setup);
    return;
  }
  const scree_SceneInfo info = scree_scene_info(setup.read);
  table_say(file, "\n%s: %d bodies, %.3g s; drift from %.3g s on\n", info.title, info.bodies,
            wish->until > 0 ? wish->until : setup.scene.time, setup.settled);
  table_say(file, "  %-17s %7s %9s %10s %10s %10s %10s %10s\n", "engine", "step ms", "ms/step",
            "s per s", "depth", "error", "drift", "created");
  for (int k = 0; engines[k]; ++k)
    for (int s = 0; s < (wish->defaults ? 1 : 2); ++s) {
      if (wish->only && strcmp(wish->only, engines[k]->name) != 0) continue;
      const Setting *setting = &engines[k]->settings[s];
      const Outcome outcome = run_apart(&setup, engines[k], setting, wish);
      print_row(file, engines[k], setting, &outcome);
    }
  tear_down(&setup);
}

static void legend(FILE *file) {
  char model[200];
  table_processor(model, sizeof model);
  table_say(file, "%s, one core\n", model);
  for (int k = 0; engines[k]; ++k) {
    table_say(file, "%s %s\n", engines[k]->name, engines[k]->version());
    for (int s = 0; s < 2; ++s)
      table_say(file, "  %-9s %s\n", engines[k]->settings[s].name, engines[k]->settings[s].meaning);
  }
  table_say(file,
            "s per s: processor time for a second of the scene. depth: deepest penetration, "
            "over the size of the smaller body.\nerror: of the impulses, by scree's measure "
            "(median of %d steps). drift: farthest way of a body, over its size.\ncreated: "
            "largest rise of energy over the energy turned over.\n",
            SAMPLES);
}

int main(int argc, char **argv) {
  static const char *const all[] = {"spheres", "wall", "pyramid", "hopper", "tower"};
  Wish wish = {.limit = 300};
  FILE *file = NULL;
  int option;
  while ((option = getopt(argc, argv, "t:e:ds:u:o:")) != -1) {
    if (option == 't')
      wish.limit = atof(optarg);
    else if (option == 'e')
      wish.only = optarg;
    else if (option == 'd')
      wish.defaults = true;
    else if (option == 's')
      wish.step = atof(optarg);
    else if (option == 'u')
      wish.until = atof(optarg);
    else if (option == 'o' && (file = fopen(optarg, "w")))
      continue;
    else {
      fprintf(
          stderr,
          "engines [-t seconds] [-e engine] [-d] [-s step] [-u until] [-o file] [scene.yaml...]\n");
      return 2;
    }
  }
  legend(file);
  for (int k = optind; k < argc; ++k) bench_scene(file, argv[k], &wish);
  for (size_t k = 0; optind == argc && k < sizeof all / sizeof *all; ++k) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.yaml", SCREE_ENGINE_SCENES, all[k]);
    bench_scene(file, path, &wish);
  }
  if (file) fclose(file);
  return 0;
}

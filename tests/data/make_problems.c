/* Make tests/data/problems again: small contact problems in FCLIB's format, dumped from scree's own
 * worlds. They stand in for the collection of SCREE_PROBLEMS where that is absent. Build and run:
 *
 *     cmake --build build --target make_problems && build/tests/make_problems tests/data/problems
 *
 * Each has the solution that the world found. `assembled` problems are written with W (FCLIB's
 * local form), the others with M and H; `rounded` ones have W printed with six digits, as many of
 * the collection do, so that it is not quite symmetric. */
#include "scree/fclib.h"
#include "scree/scene.h"
#include "scree/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Made {
  const char *name, *scene;
  int step; /* the problem of this step */
  bool assembled, rounded;
} Made;

/* clang-format off */
#define GROUND_3D "dimension: 3\nobstacles: [{shape: {kind: half-space}}]\ncontact: {mu: 0.6}\n"
#define GROUND_2D "dimension: 2\nobstacles: [{shape: {kind: half-plane}}]\ncontact: {mu: 0.4}\n"
#define TROUGH "dimension: 2\ncontact: {mu: 0.3}\nobstacles:\n  - {shape: {kind: half-plane}}\n" \
               "  - {shape: {kind: half-plane}, position: [0, 0], normal: [1, 0]}\n" \
               "  - {shape: {kind: half-plane}, position: [0.5, 0], normal: [-1, 0]}\n"
#define PIT "dimension: 3\ncontact: {mu: 0.4}\nobstacles:\n  - {shape: {kind: half-space}}\n" \
            "  - {shape: {kind: half-space}, position: [0, 0, 0], normal: [1, 0, 0]}\n" \
            "  - {shape: {kind: half-space}, position: [0.3, 0, 0], normal: [-1, 0, 0]}\n" \
            "  - {shape: {kind: half-space}, position: [0, 0, 0], normal: [0, 1, 0]}\n" \
            "  - {shape: {kind: half-space}, position: [0, 0.3, 0], normal: [0, -1, 0]}\n"
#define TIME "time: {step: 1e-3, duration: 10}\nsolver: {tolerance: 1e-8, threads: 1}\n"
#define BOX(at, more) "  - {shape: {kind: box, half_x: 0.2, half_y: 0.15, half_z: 0.1}, position: [" at "]" more "}\n"

static const char box[] = GROUND_3D TIME "bodies:\n" BOX("0, 0, 0.1", ", velocity: [0.3, 0.1, 0]");
static const char tilted[] = GROUND_3D TIME "gravity: [3, 1, -9.81]\nbodies:\n" BOX("0, 0, 0.1", "");
static const char two_boxes[] = GROUND_3D TIME "bodies:\n" BOX("0, 0, 0.1", "")
    BOX("0.05, 0.02, 0.3", ", velocity: [0.5, 0, 0]");
static const char stack[] = GROUND_3D TIME "bodies:\n"
    BOX("0, 0, 0.1", "") BOX("0.02, 0, 0.3", "") BOX("0, 0.02, 0.5", "") BOX("-0.02, 0, 0.7", "")
    BOX("0, -0.02, 0.9", "") BOX("0.01, 0.01, 1.1", "") BOX("0, 0, 1.3", "")
    BOX("0.02, -0.01, 1.5", ", velocity: [0.2, 0, 0]");
static const char wall[] = GROUND_3D TIME "generators:\n"
    "  - {kind: wall, brick: [0.25, 0.12, 0.1], courses: 3, length: 2}\n";
static const char slider[] = GROUND_2D TIME "bodies:\n"
    "  - {shape: {kind: polygon, vertices: [[0, 0], [0.4, 0], [0.4, 0.2], [0, 0.2]]}, "
    "velocity: [1, 0]}\n";
static const char arch[] = GROUND_2D TIME "generators:\n"
    "  - {kind: arch, radius: 1, thickness: 0.3, blocks: 5}\n";
static const char disks[] = TROUGH TIME "seed: 5\ngenerators:\n"
    "  - {kind: fill, region: {kind: box, lower: [0, 0], upper: [0.5, 0.4]}, fraction: 0.5,\n"
    "     shape: {kind: disk, radius: 0.018}, scale: {min: 0.8, max: 1.2}}\n";
static const char ellipses[] = TROUGH TIME "seed: 6\ngenerators:\n"
    "  - {kind: fill, region: {kind: box, lower: [0, 0], upper: [0.5, 0.2]}, fraction: 0.35,\n"
    "     shape: {kind: ellipse, semi_x: 0.035, semi_y: 0.02}}\n";
static const char spheres[] = PIT TIME "seed: 7\ngenerators:\n"
    "  - {kind: fill, region: {kind: box, lower: [0, 0, 0], upper: [0.3, 0.3, 0.3]}, fraction: 0.15,\n"
    "     shape: {kind: sphere, radius: 0.03}, scale: {min: 0.8, max: 1.2}}\n";
static const char capsules[] = PIT TIME "seed: 8\ngenerators:\n"
    "  - {kind: fill, region: {kind: box, lower: [0, 0, 0], upper: [0.3, 0.3, 0.3]}, fraction: 0.05,\n"
    "     shape: {kind: capsule, radius: 0.025, half_length: 0.02}}\n";
/* clang-format on */

/* Names tell the family; tests look for some of them. */
static const Made table[] = {
    {"box-slides", box, 2, true, false},
    {"box-slides-later", box, 30, true, false},
    {"box-held", tilted, 3, true, false},
    {"box-held-bodies", tilted, 2, false, false},
    {"boxes-two", two_boxes, 2, true, false},
    {"boxes-two-later", two_boxes, 20, true, false},
    {"boxes-two-bodies", two_boxes, 3, false, false},
    {"slider", slider, 2, true, false},
    {"slider-bodies", slider, 3, false, false},
    {"arch", arch, 2, true, false},
    {"arch-bodies", arch, 3, false, false},
    {"BoxesStack-made", stack, 3, true, false},
    {"stack-bodies", stack, 4, false, false},
    {"wall", wall, 1, true, false},
    {"capsules-falling", capsules, 60, true, false},
    {"capsules-rounded", capsules, 90, true, true},
    {"capsules-bodies", capsules, 250, false, false},
    {"spheres-falling", spheres, 60, true, false},
    {"spheres-bodies", spheres, 180, false, false},
    {"ellipses-falling", ellipses, 60, true, false},
    {"ellipses-bodies", ellipses, 180, false, false},
    {"disks-falling", disks, 70, true, true},
    {"disks-bodies", disks, 400, false, false},
};

static void print_message(void *user, scree_LogLevel level, const char *text) {
  (void)user;
  if (level == SCREE_LOG_ERROR) fprintf(stderr, "%s\n", text);
}

static const scree_Log print_log = {print_message, NULL};

/* As printed with six digits. */
static void round_values(scree_Problem *p) {
  const size_t count = p->blocks.row[p->nc] * (size_t)p->d * (size_t)p->d;
  char text[32];
  for (size_t k = 0; k < count; ++k) {
    snprintf(text, sizeof text, "%.5e", p->blocks.x[k]);
    p->blocks.x[k] = strtod(text, NULL);
  }
}

static scree_Status write_problem(const Made *made, const scree_World *world, const char *path) {
  const scree_Problem *bodies;
  scree_Problem assembled;
  const double *r, *u;
  scree_Status status = scree_world_problem(world, &bodies, &r, &u, NULL);
  if (status != SCREE_OK) return status;
  printf("%-22s %d contacts, %d bodies\n", made->name, bodies->nc, bodies->bodies.nbodies);
  if (!made->assembled) return scree_fclib_write(path, bodies, made->name, r, u, &print_log);
  status = scree_problem_assemble(bodies, &assembled, &print_log);
  if (status == SCREE_OK && made->rounded) round_values(&assembled);
  if (status == SCREE_OK)
    status = scree_fclib_write(path, &assembled, made->name, r, u, &print_log);
  scree_problem_destroy(&assembled);
  return status;
}

static scree_Status make(const Made *made, const char *folder) {
  scree_Scene *scene = NULL;
  scree_World *world = NULL;
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.hdf5", folder, made->name);
  scree_Status status =
      scree_scene_parse(made->scene, strlen(made->scene), made->name, NULL, &print_log, &scene);
  if (status == SCREE_OK) status = scree_scene_build(scene, &print_log, &world);
  scree_StepReport report;
  /* a step that missed its tolerance leaves a problem like any other */
  for (int k = 0; k < made->step && status == SCREE_OK; ++k) {
    status = scree_world_step(world, &report);
    if (status == SCREE_NOT_CONVERGED) status = SCREE_OK;
  }
  if (status == SCREE_OK) status = write_problem(made, world, path);
  scree_world_destroy(world);
  scree_scene_destroy(scene);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_problems FOLDER\n");
    return 2;
  }
  for (size_t k = 0; k < sizeof table / sizeof *table; ++k) {
    const scree_Status status = make(&table[k], argv[1]);
    if (status != SCREE_OK) {
      fprintf(stderr, "%s: %s\n", table[k].name, scree_status_name(status));
      return 1;
    }
  }
  return 0;
}

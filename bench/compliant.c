/* Compliant contact against rigid contact on the same scene: iterations, counted work and CPU time.
 * The table is bench/results/compliant.txt.
 *
 *     compliant [--layers N (12)] [--packings N (5)]
 *
 * Sums over packings of different seeds, since the course of one is chance; laws are run in turns.
 * Iterations, solves and counted work are those of all solves of all steps. 6 x 6 x N spheres of
 * 20 mm fall by a few millimetres into a box and settle; `compliance` is the displacement of the
 * lowest contacts under the weight above them, over the radius. */
#include "scree/scene.h"
#include "scree/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double steps_end = 0.5, step = 1e-3;

typedef struct Cost {
  double iterations, work, seconds, contacts, solves;
  int steps, uncertified;
} Cost;

static scree_Status run(int layers, int seed, const char *contact, Cost *cost) {
  char text[2048];
  snprintf(text, sizeof text,
           "materials: {sand: {density: 2600}}\n"
           "contact: {%s}\n"
           "obstacles:\n"
           "  - {shape: {kind: half-space}, material: sand}\n"
           "  - {shape: {kind: half-space}, material: sand, position: [-0.0615, 0, 0], rotation: "
           "{axis: [0, 1, 0], angle: 1.5707963267948966}}\n"
           "  - {shape: {kind: half-space}, material: sand, position: [0.0615, 0, 0], rotation: "
           "{axis: [0, 1, 0], angle: -1.5707963267948966}}\n"
           "  - {shape: {kind: half-space}, material: sand, position: [0, -0.0615, 0], rotation: "
           "{axis: [1, 0, 0], angle: -1.5707963267948966}}\n"
           "  - {shape: {kind: half-space}, material: sand, position: [0, 0.0615, 0], rotation: "
           "{axis: [1, 0, 0], angle: 1.5707963267948966}}\n"
           "generators:\n"
           "  - {kind: lattice, shape: {kind: sphere, radius: 0.01}, material: sand, origin: "
           "[-0.05, -0.05, 0.011], count: [6, 6, %d], spacing: 0.0202, jitter: 0.005, scale: {min: "
           "0.85, max: 1}}\n"
           "seed: %d\n"
           "time: {step: %g, duration: %g}\n",
           contact, layers, seed, step, steps_end);
  scree_Scene *scene = NULL;
  scree_World *world = NULL;
  scree_Status status = scree_scene_parse(text, strlen(text), "bench", NULL, NULL, &scene);
  if (!status) status = scree_scene_build(scene, NULL, &world);
  const clock_t start = clock();
  for (int k = 0; k < (int)(steps_end / step) && status <= SCREE_NOT_CONVERGED; ++k) {
    scree_StepReport report;
    status = scree_world_step(world, &report);
    if (status > SCREE_NOT_CONVERGED) break;
    cost->steps++;
    cost->uncertified += !report.certified;
    cost->iterations += report.iterations;
    cost->work += report.work;
    cost->contacts += report.contacts;
    cost->solves += report.solves;
  }
  cost->seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
  scree_world_destroy(world);
  scree_scene_destroy(scene);
  return status <= SCREE_NOT_CONVERGED ? SCREE_OK : status;
}

static const double radius = 0.01;
static const double parts[] = {0, 1e-5, 1e-4, 1e-3};
enum { LAWS = sizeof parts / sizeof *parts };

/* Add a run with one of the laws. */
static bool run_law(int layers, int seed, size_t law, Cost *cost) {
  const double weight = 2600 * 4.0 / 3 * 3.14159265358979323846 * 1e-6 * 9.81 * layers;
  char contact[160] = "mu: 0.5";
  const double c = parts[law] * radius / weight;
  if (law > 0)
    snprintf(contact, sizeof contact,
             "law: compliant, mu: 0.5, compliance_n: %.3g, compliance_t: %.3g, damping: 0.001", c,
             c);
  return run(layers, seed, contact, cost) == SCREE_OK;
}

int main(int argc, char **argv) {
  int layers = 12, packings = 5;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (strcmp(argv[k], "--layers") == 0) layers = atoi(argv[k + 1]);
    if (strcmp(argv[k], "--packings") == 0) packings = atoi(argv[k + 1]);
  }
  Cost costs[LAWS] = {{0}};
  for (int k = 0; k < packings; ++k)
    for (size_t law = 0; law < LAWS; ++law)
      if (!run_law(layers, k + 1, law, &costs[law])) {
        fprintf(stderr, "compliant: a run failed\n");
        return 1;
      }
  printf("%d packings of %d spheres, %g s in steps of %g s\n", packings, 36 * layers, steps_end,
         step);
  printf("%-32s %9s %11s %7s %10s %9s %12s\n", "contact", "contacts", "iterations", "solves",
         "work [s]", "CPU [s]", "uncertified");
  for (size_t law = 0; law < LAWS; ++law) {
    const Cost *cost = &costs[law];
    char name[64] = "rigid";
    if (law > 0) snprintf(name, sizeof name, "compliance %g of the radius", parts[law]);
    printf("%-32s %9.0f %11.0f %7.0f %10.3f %9.2f %12d\n", name, cost->contacts / cost->steps,
           cost->iterations, cost->solves, cost->work, cost->seconds, cost->uncertified);
  }
  return 0;
}

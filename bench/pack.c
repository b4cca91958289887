/* Dense packings of the generator `pack`: CPU time of reading a scene of spheres of sizes 1 to 2 in
 * a cube (disks in a square), at the default fraction. The table is bench/results/pack.txt. */
#include "scree/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void measure(int dimension, double count) {
  /* mean volume of the sizes, uniform in 1..2: (2^(d+1) - 1) / (d + 1) that of the smallest */
  const double pi = 3.14159265358979323846;
  const double one = dimension == 3 ? 4.0 / 3 * pi * 15.0 / 4 : pi * 7.0 / 3;
  const double fraction = dimension == 3 ? 0.6 : 0.8;
  const double width = pow(count * one / fraction, 1.0 / dimension);
  char text[1024];
  snprintf(text, sizeof text,
           "dimension: %d\n"
           "materials: {sand: {density: 2600}}\n"
           "generators:\n"
           "  - kind: pack\n"
           "    region: {kind: box, lower: [0, 0%s], upper: [%.17g, %.17g, %.17g]}\n"
           "    shape: {kind: %s, radius: 1}\n"
           "    scale: {min: 1, max: 2}\n",
           dimension, dimension == 3 ? ", 0" : "", width, width, width,
           dimension == 3 ? "sphere" : "disk");
  if (dimension == 2) { /* two components only */
    char *upper = strstr(text, "upper: [");
    snprintf(upper, sizeof text - (size_t)(upper - text),
             "upper: [%.17g, %.17g]}\n"
             "    shape: {kind: disk, radius: 1}\n"
             "    scale: {min: 1, max: 2}\n",
             width, width);
  }
  const clock_t start = clock();
  scree_Scene *scene = NULL;
  const scree_Status status = scree_scene_parse(text, strlen(text), "bench", NULL, NULL, &scene);
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  if (status != SCREE_OK)
    printf("%dD  %8.0f  not packed after %.1f s\n", dimension, count, seconds);
  else
    printf("%dD  %8.0f  %8.2f  %10.1f\n", dimension, count, seconds, 1e6 * seconds / count);
  scree_scene_destroy(scene);
}

int main(void) {
  printf("      bodies   CPU [s]  us per body\n");
  for (int dimension = 2; dimension <= 3; ++dimension)
    for (double count = 1e3; count < 2e5; count *= 10) measure(dimension, count);
  return 0;
}

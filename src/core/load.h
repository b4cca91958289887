/* How many processors other programs leave free.
 *
 * Threads that share a processor with another program are worse than none: the others wait for the
 * one that is not running at every barrier. So the number of threads follows the load of the
 * machine, sampled a few times per second: all processors less those that other programs keep busy.
 * Results do not depend on it, only times do. */
#ifndef SCREE_CORE_LOAD_H
#define SCREE_CORE_LOAD_H

#include "core/pace.h"
#include "core/private.h"

enum { SCREE_LOAD_PACES = 32 };

/* The last sample; all zero at the beginning. */
typedef struct scree_MachineLoad {
  double time; /* of the sample, 0: none yet */
  double busy; /* processor seconds of all programs since the machine was started */
  double own;  /* processor seconds of this process */
  int spare;   /* processors that other programs do not use, at least 1 */
  /* of sweeps, by the power of two of the number of their contacts */
  scree_Pace pace[SCREE_LOAD_PACES];
} scree_MachineLoad;

/* The number of threads to use, 1 .. most. */
SCREE_PRIVATE int scree_load_threads(scree_MachineLoad *load, int most);

/* The processors that are left of `processors` when others use `others` of them; at least 1. */
int scree_load_spare(int processors, double others);

#endif

/* The load of the machine, from Linux's /proc; elsewhere all processors count as free. */
#define _POSIX_C_SOURCE 200809L
#include "core/load.h"

#include "core/clock.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Not measured: several samples per second cost nothing, and the ticks of /proc/stat (10 ms) need
 * an interval of many of them. */
static const double interval = 0.25; /* seconds between two samples */
/* A processor that others use for less than this counts as free. Programs in the background take a
 * few hundredths; one that competes with a thread of ours for one processor gets half of it. */
static const double tolerated = 0.3;

int scree_load_spare(int processors, double others) {
  const double left = processors - others + tolerated;
  return left >= 2.0 ? (int)left : 1;
}

/* Processor seconds that all programs have used. */
static bool read_busy(double *seconds) {
  FILE *file = fopen("/proc/stat", "r");
  unsigned long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0;
  if (!file) return false;
  const int n = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
                       &wait, &irq, &soft);
  fclose(file);
  const long ticks = sysconf(_SC_CLK_TCK);
  if (n < 4 || ticks <= 0) return false;
  *seconds = (double)(user + nice + system + irq + soft) / (double)ticks;
  return true;
}

/* Programs that want a processor at this moment, besides this one. */
static bool read_running(double *others) {
  FILE *file = fopen("/proc/loadavg", "r");
  int running = 0;
  if (!file) return false;
  const int n = fscanf(file, "%*f %*f %*f %d", &running);
  fclose(file);
  *others = running > 1 ? running - 1.0 : 0.0;
  return n == 1;
}

int scree_load_threads(scree_MachineLoad *load, int most) {
  assert(most >= 1);
  if (most == 1) return 1;
  const double now = scree_seconds();
  if (load->time > 0.0 && now < load->time + interval)
    return load->spare < most ? load->spare : most;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const double own = scree_processor_seconds();
  double busy = 0.0, others = 0.0;
  bool known = read_busy(&busy);
  if (known && load->time > 0.0)
    others = (busy - load->busy - (own - load->own)) / (now - load->time);
  else
    known = known && read_running(&others);
  load->spare = known && processors > 0 && processors < INT_MAX
                    ? scree_load_spare((int)processors, others)
                    : most;
  load->time = now;
  load->busy = busy;
  load->own = own;
  assert(load->spare >= 1);
  return load->spare < most ? load->spare : most;
}

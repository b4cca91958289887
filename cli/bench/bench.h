/* The papers' experiments: the interface of a case and its output.
 *
 * A case is one file of this folder with a descriptor at its end and one line in cases.c. It builds
 * the experiment as published, runs it, and reports its figures one by one with bench_figure: the
 * row and quantity of the paper's table, the published figure (NAN where there is none) and ours.
 * Text output collects them into one table per case; --json writes each at once. Where a measured
 * figure differs from the published one by more than a factor of two, the case explains it with
 * bench_note. */
#ifndef CLI_BENCH_BENCH_H
#define CLI_BENCH_BENCH_H

#include "scree/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct BenchCase BenchCase;

typedef struct BenchFigure {
  char row[48], quantity[48];
  double published, measured;
} BenchFigure;

/* One run of the command. */
typedef struct Bench {
  const scree_Log *log;
  bool json, quick;
  const char *directory; /* for plots, null without -o */
  int threads;           /* 0: one, as in the papers */
  double limit;          /* seconds after which a row of a long case stops, 0: none */
  const char *only;      /* rows whose name contains this, null: all (cases with long rows) */
  FILE *markdown;        /* the document, or null */
  const char *pictures;  /* the folder of the plots as the document names it */
  void *progress;        /* CliProgress */
  const BenchCase *current;
  BenchFigure *figures; /* of the current case */
  size_t count, capacity;
  char (*notes)[512];
  size_t note_count, note_capacity;
  char (*plots)[128]; /* file names of the current case */
  size_t plot_count, plot_capacity;
  bool failed; /* memory ran out while collecting */
} Bench;

struct BenchCase {
  const char *name;
  const char *reference; /* "003 Table 1" */
  const char *summary;   /* one line */
  const char *duration;  /* running time on one core, and with --quick if that differs */
  scree_Status (*run)(Bench *bench);
};

/* All cases, null-ended. */
extern const BenchCase *const bench_cases[];

/* One figure of the current case. */
void bench_figure(Bench *bench, const char *row, const char *quantity, double published,
                  double measured);

/* Whether the user wants a row (--only). */
bool bench_wants(const Bench *bench, const char *row);

/* One line of notes under the table: assumptions that the paper leaves open, or findings. Not with
 * --json. */
void bench_note(Bench *bench, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Show the progress of a long case; false when the user asked to stop (Ctrl-C). */
bool bench_progress(Bench *bench, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A plot of the current case was written: its file name within the folder. */
void bench_plot(Bench *bench, const char *file);

/* The document's head: machine, date, command. */
void bench_document(Bench *bench);

/* Begin and end a case: the end prints its table. */
void bench_begin(Bench *bench, const BenchCase *current);
void bench_end(Bench *bench);
void bench_free(Bench *bench);

#endif

/* `scree bench`: the papers' experiments, published figure next to ours. */
#define _POSIX_C_SOURCE 200809L
#include "cli/args.h"
#include "cli/bench/bench.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "scree/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const BenchCase *find_case(const char *name) {
  for (int k = 0; bench_cases[k]; ++k)
    if (strcmp(bench_cases[k]->name, name) == 0) return bench_cases[k];
  return NULL;
}

static int refuse_case(const char *name) {
  const char *words[64] = {NULL};
  for (int k = 0; k < 63 && bench_cases[k]; ++k) words[k] = bench_cases[k]->name;
  const char *near = scree_nearest_word(name, words);
  cli_error("scree bench: unknown case \"%s\"%s%s%s (scree bench --list lists them)", name,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return 2;
}

static void list_cases(bool as_json) {
  for (int k = 0; bench_cases[k]; ++k) {
    const BenchCase *c = bench_cases[k];
    if (as_json) {
      CliJson json;
      cli_json_begin(&json, stdout);
      cli_json_text(&json, "case", c->name);
      cli_json_text(&json, "reference", c->reference);
      cli_json_text(&json, "summary", c->summary);
      cli_json_text(&json, "duration", c->duration);
      cli_json_end(&json);
    } else {
      printf("%-18s %s (%s); %s\n", c->name, c->summary, c->reference, c->duration);
    }
  }
}

static int make_directory(const char *path) {
  if (!path || mkdir(path, 0777) == 0 || errno == EEXIST) return 0;
  cli_error("scree bench: cannot make the folder %s: %s", path, strerror(errno));
  return 3;
}

/* Run one case and return the worse of both statuses; the other cases still run unless the machine
 * failed. */
static int run_case(Bench *bench, const BenchCase *c) {
  bench_begin(bench, c);
  scree_Status status = c->run(bench);
  bench_end(bench);
  if (bench->failed) {
    cli_error("scree bench: out of memory");
    status = SCREE_MACHINE;
  } else if (status) {
    cli_error("scree bench: %s: %s", c->name, scree_status_name(status));
  }
  return (int)status;
}

/* The document links to the plots by a path relative to itself: the name of their folder, which is
 * correct when both are in the same folder. */
static int open_document(Bench *bench, const char *path) {
  if (!path) return 0;
  const char *slash = bench->directory ? strrchr(bench->directory, '/') : NULL;
  bench->pictures = slash && slash[1] ? slash + 1 : bench->directory;
  bench->markdown = fopen(path, "w");
  if (!bench->markdown) {
    cli_error("scree bench: cannot write %s: %s", path, strerror(errno));
    return 3;
  }
  bench_document(bench);
  return 0;
}

static int close_document(Bench *bench, const char *path, int status) {
  if (!bench->markdown) return status;
  const bool bad = ferror(bench->markdown) != 0;
  if (fclose(bench->markdown) == 0 && !bad) return status;
  cli_error("scree bench: cannot write %s: %s", path, strerror(errno));
  return 3;
}

static int run_cases(Bench *bench, const CliList *names) {
  int worst = 0;
  const int count = names->count;
  for (int k = 0; count ? k < count : bench_cases[k] != NULL; ++k) {
    const BenchCase *c = count ? find_case(names->items[k]) : bench_cases[k];
    const int status = run_case(bench, c);
    if (status > worst) worst = status;
    if (status == SCREE_MACHINE || cli_interrupted() || !cli_output_alive()) break;
  }
  return worst;
}

static int run(const CliCommand *command, int argc, char **argv) {
  bool list = false, as_json = false, quick = false;
  const char *directory = NULL, *markdown = NULL, *only = NULL;
  int threads = 0;
  double limit = 0.0;
  const CliOption options[] = {
      {"list", 0, CLI_FLAG, &list, NULL, "list the cases and their running times", 0, 0, NULL},
      {"json", 0, CLI_FLAG, &as_json, NULL, "print one JSON object per line, one for each figure",
       0, 0, NULL},
      {"quick", 0, CLI_FLAG, &quick, NULL, "shorter variants of the long cases", 0, 0, NULL},
      {"limit", 0, CLI_REAL, &limit, "S",
       "stop a row after S seconds, rows of auto after 4 S (0:\nnever)", 0, 1e9, NULL},
      {"only", 0, CLI_TEXT, &only, "TEXT", "in long cases only rows whose name contains TEXT", 0, 0,
       NULL},
      {"threads", 0, CLI_INT, &threads, "N", "number of threads (default: one, as in the papers)",
       0, 4096, NULL},
      {"output", 'o', CLI_TEXT, &directory, "DIR", "write the plots as SVG files to this folder", 0,
       0, NULL},
      {"markdown", 0, CLI_TEXT, &markdown, "FILE", "write tables and plots as one document", 0, 0,
       NULL},
      {0},
  };
  CliList names = {0};
  int status = cli_parse(command, options, argc, argv, &names);
  if (status < 0) {
    status = 0;
    for (int k = 0; k < names.count && status == 0; ++k)
      if (!find_case(names.items[k])) status = refuse_case(names.items[k]);
    if (status == 0 && list) {
      list_cases(as_json);
    } else if (status == 0 && (status = make_directory(directory)) == 0) {
      CliLog log;
      CliProgress progress;
      cli_log_init(&log, false, false);
      cli_progress_init(&progress, false);
      cli_catch_interrupt();
      Bench bench = {.log = &log.log,
                     .json = as_json,
                     .quick = quick,
                     .directory = directory,
                     .threads = threads,
                     .limit = limit,
                     .only = only,
                     .progress = &progress};
      status = open_document(&bench, markdown);
      if (status == 0) status = run_cases(&bench, &names);
      status = close_document(&bench, markdown, status);
      bench_free(&bench);
    }
    status = cli_finish(status);
  }
  cli_list_free(&names);
  return status;
}

static bool case_word(int k, char *text, unsigned size) {
  if (!bench_cases[k]) return false;
  snprintf(text, size, "%s", bench_cases[k]->name);
  return true;
}

const CliCommand cli_command_bench = {
    .name = "bench",
    .usage = "[CASE...] [--list] [--quick] [--json] [-o DIR]",
    .summary = "repeat published experiments and compare the figures",
    .help = "Each case builds a published experiment, runs it, and prints the published\nfigures "
            "beside the measured ones. Without a name all cases run, which takes\nhours. --list "
            "shows the times of the cases; --quick and --limit shorten them.",
    .examples = "  scree bench --list\n"
                "  scree bench convex-gradients\n"
                "  scree bench convex-gradients --json -o plots",
    .run = run,
    .word = case_word,
};

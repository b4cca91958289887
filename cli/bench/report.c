/* Figures as a table, as lines of JSON, or as a document (see bench.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/bench/bench.h"

#include "cli/json.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Room for one more element in *array; false when memory ran out. */
static bool grow(void **array, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return true;
  const size_t wanted = *capacity ? 2 * *capacity : 32;
  void *grown = realloc(*array, wanted * size);
  if (!grown) return false;
  *array = grown;
  *capacity = wanted;
  return true;
}

void bench_begin(Bench *bench, const BenchCase *current) {
  bench->current = current;
  bench->count = bench->note_count = bench->plot_count = 0;
}

void bench_figure(Bench *bench, const char *row, const char *quantity, double published,
                  double measured) {
  if (bench->json) {
    CliJson json;
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "case", bench->current->name);
    cli_json_text(&json, "row", row);
    cli_json_text(&json, "quantity", quantity);
    cli_json_real(&json, "published", published);
    cli_json_real(&json, "measured", measured);
    cli_json_end(&json);
    fflush(stdout);
  }
  if (!grow((void **)&bench->figures, bench->count, &bench->capacity, sizeof *bench->figures)) {
    bench->failed = true;
    return;
  }
  BenchFigure *figure = &bench->figures[bench->count++];
  snprintf(figure->row, sizeof figure->row, "%s", row);
  snprintf(figure->quantity, sizeof figure->quantity, "%s", quantity);
  figure->published = published;
  figure->measured = measured;
}

bool bench_wants(const Bench *bench, const char *row) {
  return !bench->only || strstr(row, bench->only) != NULL;
}

void bench_note(Bench *bench, const char *format, ...) {
  if (!grow((void **)&bench->notes, bench->note_count, &bench->note_capacity,
            sizeof *bench->notes)) {
    bench->failed = true;
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(bench->notes[bench->note_count++], sizeof *bench->notes, format, arguments);
  va_end(arguments);
}

void bench_plot(Bench *bench, const char *file) {
  if (!grow((void **)&bench->plots, bench->plot_count, &bench->plot_capacity,
            sizeof *bench->plots)) {
    bench->failed = true;
    return;
  }
  snprintf(bench->plots[bench->plot_count++], sizeof *bench->plots, "%s", file);
}

bool bench_progress(Bench *bench, const char *format, ...) {
  if (cli_progress_due(bench->progress)) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_progress_show(bench->progress, "%s: %s", bench->current->name, text);
  }
  return !cli_interrupted();
}

static void number(double value, char *text, size_t size) {
  if (isnan(value))
    snprintf(text, size, "-");
  else if (value == floor(value) && fabs(value) < 1e9)
    snprintf(text, size, "%.0f", value);
  else
    snprintf(text, size, "%.4g", value);
}

/* ---- the document -----------------------------------------------------------------------------
 */

/* The processor's name, from /proc/cpuinfo. */
static void processor(char *text, size_t size) {
  snprintf(text, size, "unknown processor");
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[256];
  while (file && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    snprintf(text, size, "%s", colon + 2);
    text[strcspn(text, "\n")] = '\0';
    break;
  }
  if (file) fclose(file);
}

void bench_document(Bench *bench) {
  char machine[256], date[32];
  const time_t now = time(NULL);
  struct tm calendar;
  processor(machine, sizeof machine);
  strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &calendar));
  fprintf(bench->markdown,
          "# Validation: the papers' experiments\n\n"
          "Published and measured figures, written by `scripts/validation.sh` (`scree bench "
          "--markdown`)%s: %s, %s, %d thread%s.",
          bench->quick ? ", short variants (`--quick`)" : "", date, machine,
          bench->threads > 0 ? bench->threads : 1, bench->threads > 1 ? "s" : "");
  if (bench->limit > 0.0)
    fprintf(bench->markdown,
            " Rows were stopped after %g s of computing, those of auto after %g s; the notes name "
            "them.",
            bench->limit, 4.0 * bench->limit);
  fprintf(bench->markdown, " A dash: the paper has no such figure. Times of the papers are those of"
                           " their own machines.\n");
}

static void end_document(const Bench *bench) {
  FILE *file = bench->markdown;
  fprintf(file, "\n## `%s`\n\n%s: %s.\n\n", bench->current->name, bench->current->reference,
          bench->current->summary);
  fprintf(file, "| row | quantity | published | measured |\n|---|---|---:|---:|\n");
  for (size_t k = 0; k < bench->count; ++k) {
    const BenchFigure *figure = &bench->figures[k];
    const bool repeated = k > 0 && strcmp(figure->row, bench->figures[k - 1].row) == 0;
    char published[32], measured[32];
    number(figure->published, published, sizeof published);
    number(figure->measured, measured, sizeof measured);
    fprintf(file, "| %s | %s | %s | %s |\n", repeated ? "" : figure->row, figure->quantity,
            published, measured);
  }
  for (size_t k = 0; k < bench->note_count; ++k)
    fprintf(file, "%s- %s.\n", k ? "" : "\n", bench->notes[k]);
  for (size_t k = 0; k < bench->plot_count; ++k)
    fprintf(file, "\n![%s](%s/%s)\n", bench->plots[k], bench->pictures, bench->plots[k]);
  fflush(file);
}

void bench_end(Bench *bench) {
  cli_progress_clear(bench->progress);
  if (bench->markdown) end_document(bench);
  if (bench->json) return;
  const CliColours colour = cli_colours();
  int row_width = 3, quantity_width = 8;
  for (size_t k = 0; k < bench->count; ++k) {
    row_width = (int)fmax(row_width, (double)strlen(bench->figures[k].row));
    quantity_width = (int)fmax(quantity_width, (double)strlen(bench->figures[k].quantity));
  }
  printf("%s%s%s  %s: %s\n", colour.bold, bench->current->name, colour.off,
         bench->current->reference, bench->current->summary);
  printf("  %-*s  %-*s  %12s  %12s\n", row_width, "row", quantity_width, "quantity", "published",
         "measured");
  for (size_t k = 0; k < bench->count; ++k) {
    const BenchFigure *figure = &bench->figures[k];
    const bool repeated = k > 0 && strcmp(figure->row, bench->figures[k - 1].row) == 0;
    char published[32], measured[32];
    number(figure->published, published, sizeof published);
    number(figure->measured, measured, sizeof measured);
    printf("  %-*s  %-*s  %12s  %12s\n", row_width, repeated ? "" : figure->row, quantity_width,
           figure->quantity, published, measured);
  }
  for (size_t k = 0; k < bench->note_count; ++k) printf("  note: %s\n", bench->notes[k]);
  printf("\n");
}

void bench_free(Bench *bench) {
  free(bench->figures);
  free(bench->notes);
  free(bench->plots);
}

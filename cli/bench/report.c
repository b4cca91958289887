/* Figures as a table or as lines of JSON (see bench.h). */
#include "cli/bench/bench.h"

#include "cli/json.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  bench->count = bench->note_count = 0;
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
    return;
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

void bench_note(Bench *bench, const char *format, ...) {
  if (bench->json) return;
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

void bench_end(Bench *bench) {
  cli_progress_clear(bench->progress);
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
}

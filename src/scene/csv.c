/* Tables of text (see csv.h). */
#define _POSIX_C_SOURCE 200809L
#include "scene/csv.h"

#include "core/log.h"
#include "core/memory.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 256 << 20, COLUMNS_MAX = 256 };

char *scree_path_beside(const char *beside, const char *path) {
  const char *slash = strrchr(beside, '/');
  const size_t folder = path[0] != '/' && slash ? (size_t)(slash + 1 - beside) : 0;
  const size_t length = strlen(path);
  char *joined = SCREE_ALLOC(char, folder + length + 1);
  if (joined) {
    memcpy(joined, beside, folder);
    memcpy(joined + folder, path, length + 1);
  }
  return joined;
}

scree_Status scree_text_load(const char *path, const scree_Log *log, char **text, size_t *size) {
  FILE *file = fopen(path, "rb");
  struct stat about;
  void *data = NULL;
  size_t capacity = 0, length = 0, got = 0;
  *text = NULL;
  *size = 0;
  if (!file)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read: %s, expected a table", path,
                      strerror(errno));
  const bool regular = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
  bool good = true;
  while (regular && length <= FILE_MAX) {
    good = scree_grow(&data, &capacity, length + 65537, 1);
    got = good ? fread((char *)data + length, 1, 65536, file) : 0;
    length += got;
    if (got == 0) break;
  }
  const bool failed = ferror(file) != 0;
  fclose(file);
  scree_Status status = SCREE_OK;
  if (!regular) status = scree_fail(log, SCREE_BAD_INPUT, "%s: expected a file", path);
  if (!good) status = scree_fail_memory(log, path);
  if (failed)
    status = scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read, expected a table", path);
  if (length > FILE_MAX)
    status = scree_fail(log, SCREE_BAD_INPUT, "%s: more than %d bytes, expected a smaller file",
                        path, FILE_MAX);
  if (status != SCREE_OK) {
    scree_free(data);
    return status;
  }
  assert(data);
  ((char *)data)[length] = '\0';
  *text = data;
  *size = length;
  return SCREE_OK;
}

static char find_separator(const char *line) {
  const size_t length = strcspn(line, "\n");
  for (const char *c = ",;\t"; *c; ++c)
    if (memchr(line, *c, length)) return *c;
  return ' ';
}

/* The next line that holds data, cut off at its end; null at the end of the text. */
static char *next_line(char **at, int *number) {
  while (**at) {
    char *line = *at + strspn(*at, " ");
    char *end = *at + strcspn(*at, "\n");
    *at = *end ? end + 1 : end;
    ++*number;
    while (end > line && (end[-1] == '\r' || end[-1] == ' ')) --end;
    *end = '\0';
    if (*line && *line != '#') return line;
  }
  return NULL;
}

/* Cut a line into cells without surrounding spaces and quotes; the number of them. */
static int cut(char *line, char separator, char **cells) {
  int count = 0;
  for (char *at = line; count < COLUMNS_MAX;) {
    at += strspn(at, " ");
    char *cell = at, *end;
    if (*at == '"') {
      cell = ++at;
      at += strcspn(at, "\"");
      end = at;
      if (*at) ++at;
      at += separator == ' ' ? strcspn(at, " \t") : strcspn(at, ",;\t");
    } else {
      while (*at && *at != separator && !(separator == ' ' && *at == '\t')) ++at;
      end = at;
      while (end > cell && end[-1] == ' ') --end;
    }
    const bool last = *at == '\0';
    *end = '\0';
    cells[count++] = cell;
    if (last) break;
    *at++ = '\0';
  }
  return count;
}

static bool is_number(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*value);
}

typedef struct Room {
  size_t cells, lines;
} Room;

static scree_Status add_row(scree_Csv *csv, Room *room, char **cells, int count, int line,
                            const scree_Log *log) {
  if (count != csv->columns)
    return scree_fail(log, SCREE_BAD_INPUT, "%s:%d: found %d columns, expected %d as above",
                      csv->path, line, count, csv->columns);
  const size_t total = (size_t)csv->rows * (size_t)count;
  if (!scree_grow((void **)&csv->cells, &room->cells, total + (size_t)count, sizeof *csv->cells) ||
      !scree_grow((void **)&csv->lines, &room->lines, (size_t)csv->rows + 1, sizeof *csv->lines))
    return scree_fail_memory(log, csv->path);
  memcpy(csv->cells + total, cells, (size_t)count * sizeof *cells);
  csv->lines[csv->rows++] = line;
  return SCREE_OK;
}

static scree_Status parse(scree_Csv *csv, const scree_Log *log) {
  char *cells[COLUMNS_MAX], *at = csv->text;
  int number = 0;
  Room room = {0, 0};
  char *line = next_line(&at, &number);
  if (!line)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: found no rows, expected a table", csv->path);
  const char separator = find_separator(line);
  csv->columns = cut(line, separator, cells);
  bool header = false;
  double value;
  for (int k = 0; k < csv->columns; ++k) header = header || !is_number(cells[k], &value);
  scree_Status status = SCREE_OK;
  if (header) {
    csv->header = SCREE_ALLOC(char *, csv->columns);
    if (!csv->header) return scree_fail_memory(log, csv->path);
    memcpy(csv->header, cells, (size_t)csv->columns * sizeof *cells);
  } else {
    status = add_row(csv, &room, cells, csv->columns, number, log);
  }
  while (status == SCREE_OK && (line = next_line(&at, &number)))
    status = add_row(csv, &room, cells, cut(line, separator, cells), number, log);
  return status;
}

scree_Status scree_csv_read(const char *path, const scree_Log *log, scree_Csv *csv) {
  *csv = (scree_Csv){.path = path};
  size_t size = 0;
  scree_Status status = scree_text_load(path, log, &csv->text, &size);
  assert(status != SCREE_OK || csv->text);
  if (status == SCREE_OK && strlen(csv->text) != size)
    status =
        scree_fail(log, SCREE_BAD_INPUT, "%s: holds null bytes, expected a table of text", path);
  if (status == SCREE_OK) status = parse(csv, log);
  if (status != SCREE_OK) scree_csv_fini(csv);
  return status;
}

void scree_csv_fini(scree_Csv *csv) {
  scree_free(csv->text);
  scree_free(csv->header);
  scree_free(csv->cells);
  scree_free(csv->lines);
  *csv = (scree_Csv){0};
}

int scree_csv_column(const scree_Csv *csv, const char *name) {
  for (int k = 0; csv->header && k < csv->columns; ++k)
    if (strcmp(csv->header[k], name) == 0) return k;
  char *end;
  const long number = strtol(name, &end, 10);
  return end != name && *end == '\0' && number >= 1 && number <= csv->columns ? (int)number - 1
                                                                              : -1;
}

scree_Status scree_csv_number(const scree_Csv *csv, int row, int column, const scree_Log *log,
                              double *value) {
  if (is_number(scree_csv_text(csv, row, column), value)) return SCREE_OK;
  return scree_fail(
      log, SCREE_BAD_INPUT, "%s:%d: column %d%s%s%s: found \"%.60s\", expected a number", csv->path,
      csv->lines[row], column + 1, csv->header ? " (" : "", csv->header ? csv->header[column] : "",
      csv->header ? ")" : "", scree_csv_text(csv, row, column));
}

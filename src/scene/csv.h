/* Tables of text: comma, semicolon, tab or spaces between the columns, one row per line. Lines that
 * begin with # and empty lines are left out. The first line is a header when one of its cells is
 * not a number. */
#ifndef SCREE_SCENE_CSV_H
#define SCREE_SCENE_CSV_H

#include "scree/base.h"

typedef struct scree_Csv {
  const char *path;
  char *text; /* of the file, cut into cells */
  int rows, columns;
  char **header; /* (columns) or null */
  char **cells;  /* (rows x columns) */
  int *lines;    /* (rows) line of the file, from 1 */
} scree_Csv;

/* `path` must outlive the table. After a failure there is nothing to free. */
scree_Status scree_csv_read(const char *path, const scree_Log *log, scree_Csv *csv);
void scree_csv_fini(scree_Csv *csv);

/* Column by its name in the header, or by its number from 1; -1: none. */
int scree_csv_column(const scree_Csv *csv, const char *name);

static inline const char *scree_csv_text(const scree_Csv *csv, int row, int column) {
  return csv->cells[(size_t)row * (size_t)csv->columns + (size_t)column];
}

/* A finite number, or a message with file, line and column. */
scree_Status scree_csv_number(const scree_Csv *csv, int row, int column, const scree_Log *log,
                              double *value);

/* A whole file, ended by a zero; freed with scree_free. */
scree_Status scree_text_load(const char *path, const scree_Log *log, char **text, size_t *size);

/* `path`, if it is relative, from the folder of the file `beside`: freed with scree_free. */
char *scree_path_beside(const char *beside, const char *path);

#endif

/* Files that a scene names, by the first byte of the input: a table of bodies (CSV), a signal from
 * a table, or an included scene. The scene is read or refused with a message; what is read is
 * written out as a text that needs the file no more, except for the table of bodies. */
#include "fuzz.h"

#include "scene/csv.h"
#include "scree/scene.h"

static const char *const scenes[] = {
    "dimension: 3\ngenerators: [{kind: csv, file: table.csv, shape: {kind: sphere, radius: 1}}]\n",
    "dimension: 2\ngenerators: [{kind: csv, file: table.csv}]\n",
    "dimension: 2\nobstacles: [{shape: {kind: half-plane}, velocity: {csv: table.csv, columns: [1, "
    "2, "
    "3], integrate: true, scale: 2}}]\n",
    "dimension: 2\ninclude: part.yaml\nparameters: {w: 2}\n"};

static void read_table(void) {
  scree_Csv csv;
  fuzz_errors = 0;
  const scree_Status status = scree_csv_read(fuzz_path("table.csv"), &fuzz_log, &csv);
  fuzz_check_status(status);
  if (status != SCREE_OK) return;
  for (int row = 0; row < csv.rows; ++row)
    for (int column = 0; column < csv.columns; ++column) {
      double value;
      fuzz_errors = 0;
      const scree_Status number = scree_csv_number(&csv, row, column, &fuzz_log, &value);
      fuzz_check_status(number);
      demand(strlen(scree_csv_text(&csv, row, column)) < 1 << 20, "cells are texts");
    }
  scree_csv_fini(&csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const int which = data[0] % 4;
  fuzz_write(which == 3 ? "part.yaml" : "table.csv", data + 1, size - 1);
  if (which != 3) read_table();
  fuzz_errors = 0;
  scree_Scene *scene = NULL;
  const scree_Status status = scree_scene_parse(scenes[which], strlen(scenes[which]),
                                                fuzz_path("scene.yaml"), NULL, &fuzz_log, &scene);
  fuzz_check_status(status);
  demand((status == SCREE_OK) == (scene != NULL), "a scene is there when reading succeeded");
  scree_scene_destroy(scene);
  return 0;
}

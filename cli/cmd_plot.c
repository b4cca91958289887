/* `scree plot`: the curves of a run's page as SVG files. */
#include "cli/args.h"
#include "cli/bench/plot.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "run/sensor_units.h"
#include "scree/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES_MAX = 6 };

/* The same groups as in viewer/src/plots.js. */
static const struct Group {
  const char *file, *title, *label; /* of the vertical axis, with the unit where there is one */
  bool log;
  const char *curve[CURVES_MAX], *name[CURVES_MAX];
} groups[] = {
    {"energies",
     "Energies",
     "energy [J]",
     false,
     {"kinetic", "potential", "total", "dissipated", "work", "put_in"},
     {"kinetic", "potential", "total", "dissipated", "work", "added by the scheme"}},
    {"created",
     "Energy created, relative to the energy turned over",
     "energy created / turned over",
     true,
     {"energy_created"},
     {"created"}},
    {"creep",
     "Creep of bodies that rest, relative to their size",
     "displacement / size",
     true,
     {"creep"},
     {"creep"}},
    {"balance", "Energy balance: residual", "energy [J]", false, {"energy_error"}, {"missing"}},
    {"contacts",
     "Contacts by status",
     "number of contacts",
     false,
     {"open", "stick", "slip"},
     {"open", "sticking", "sliding"}},
    {"error",
     "Error per step",
     "relative error",
     true,
     {"error", "tolerance"},
     {"error", "tolerance"}},
    {"iterations", "Iterations", "iterations per step", false, {"iterations"}, {"iterations"}},
    {"penetration",
     "Deepest penetration, relative to the smaller body",
     "penetration / size",
     true,
     {"penetration"},
     {"penetration"}},
    {"coordination",
     "Coordination",
     "contacts per body",
     false,
     {"coordination", "coordination_touching"},
     {"all bodies", "without rattlers"}},
    {"packing",
     "Packing fraction",
     "packing fraction",
     false,
     {"packing_fraction"},
     {"packing fraction"}},
    {"seconds",
     "Seconds per step",
     "time per step [s]",
     false,
     {"seconds", "seconds_solve", "seconds_detect"},
     {"all", "solver", "detection"}},
};

static scree_Status write_plot(const char *folder, const char *file, const Plot *plot, int *count) {
  char name[128];
  snprintf(name, sizeof name, "%s.svg", file);
  char *path = cli_join(folder, name);
  const scree_Status status = path ? plot_write_file(path, plot) : SCREE_MACHINE;
  if (status == SCREE_OK) printf("%s\n", path);
  free(path);
  if (status == SCREE_OK) ++*count;
  return status;
}

/* Length of a sensor's name without the component: ".x", ".xy", or the number of a slice. */
static size_t base_length(const char *name) {
  const char *dot = strrchr(name, '.');
  if (!dot || dot == name || !dot[1]) return strlen(name);
  const size_t letters = strspn(dot + 1, "xyz");
  const bool axis = letters > 0 && letters <= 2 && !dot[1 + letters];
  const bool part = axis || strspn(dot + 1, "0123456789") == strlen(dot + 1);
  return part ? (size_t)(dot - name) : strlen(name);
}

/* One file per sensor, sensor-NAME.svg; the components of a vector or a stress and the slices of a
 * profile, whose columns are adjacent, share one file, or as many as they need: sensor-NAME-2.svg.
 */
static scree_Status draw_sensors(const scree_Replay *replay, const char *folder, int *count) {
  const scree_ReplayCurve *time = scree_replay_curve(replay, "time");
  const int curves = scree_replay_info(replay).curves;
  scree_SensorUnits units;
  const char *before = "";
  int part = 1;
  scree_sensor_units_read(scree_replay_info(replay).folder, &units);
  for (int k = 0; k < curves;) {
    const char *name = scree_replay_curve_at(replay, k)->name + 7;
    if (strncmp(name - 7, "sensor.", 7) != 0) {
      ++k;
      continue;
    }
    const size_t length = base_length(name);
    char title[96], file[96];
    snprintf(title, sizeof title, "Sensor %.*s", (int)length, name);
    part = strncmp(before, name, length + 1) == 0 && name[length] == '.' ? part + 1 : 1;
    before = name;
    int used = snprintf(file, sizeof file, "sensor-%.*s", (int)length, name);
    if (part > 1 && used < (int)sizeof file)
      snprintf(file + used, sizeof file - (size_t)used, "-%d", part);
    for (char *c = file; *c; ++c)
      if (*c == '/') *c = '_';
    const scree_SensorUnit *unit = scree_sensor_units_find(&units, name, length);
    char label[64] = "";
    if (unit)
      snprintf(label, sizeof label, unit->unit[0] ? "%s [%s]" : "%s", unit->what, unit->unit);
    Plot plot = {.title = title, .x_label = "time [s]", .y_label = label};
    do {
      const scree_ReplayCurve *curve = scree_replay_curve_at(replay, k++);
      plot.series[plot.count++] = (PlotSeries){.name = curve->name + 7,
                                               .x = time->values,
                                               .y = curve->values,
                                               .count = (size_t)scree_replay_info(replay).rows};
    } while (plot.count < PLOT_SERIES_MAX && k < curves &&
             strncmp(scree_replay_curve_at(replay, k)->name, "sensor.", 7) == 0 &&
             name[length] == '.' &&
             base_length(scree_replay_curve_at(replay, k)->name + 7) == length &&
             strncmp(scree_replay_curve_at(replay, k)->name + 7, name, length + 1) == 0);
    const scree_Status status = write_plot(folder, file, &plot, count);
    if (status != SCREE_OK) return status;
  }
  return SCREE_OK;
}

static int draw(const scree_Replay *replay, const char *folder, int *count) {
  const scree_ReplayCurve *time = scree_replay_curve(replay, "time");
  for (size_t g = 0; time && g < sizeof groups / sizeof *groups; ++g) {
    const struct Group *group = &groups[g];
    Plot plot = {
        .title = group->title, .x_label = "time [s]", .y_label = group->label, .log_y = group->log};
    for (int k = 0; k < CURVES_MAX && group->curve[k]; ++k) {
      const scree_ReplayCurve *curve = scree_replay_curve(replay, group->curve[k]);
      if (!curve) continue;
      plot.series[plot.count++] = (PlotSeries){.name = group->name[k],
                                               .x = time->values,
                                               .y = curve->values,
                                               .count = (size_t)scree_replay_info(replay).rows};
    }
    if (plot.count == 0) continue;
    const scree_Status status = write_plot(folder, group->file, &plot, count);
    if (status != SCREE_OK) return (int)status;
  }
  return time ? (int)draw_sensors(replay, folder, count) : 0;
}

static int run(const CliCommand *command, int argc, char **argv) {
  const char *output = NULL;
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &output, "OUT", "folder of the files (default DIR/plots)", 0, 0,
       NULL},
      {0},
  };
  CliList arguments = {0};
  int status = cli_parse(command, options, argc, argv, &arguments);
  if (status < 0 && arguments.count != 1) {
    cli_error("scree plot: expected the folder of one run, found %d (scree plot --help explains)",
              arguments.count);
    status = 2;
  }
  if (status < 0) {
    CliLog log;
    cli_log_init(&log, false, false);
    scree_Replay *replay;
    status = (int)scree_replay_open(arguments.items[0], &log.log, &replay);
    if (status == 0) {
      char *folder = output ? cli_join(output, NULL) : cli_join(arguments.items[0], "plots");
      int count = 0;
      status = folder && cli_need_folder(folder) ? draw(replay, folder, &count) : 3;
      if (status == 0 && count == 0) {
        cli_error("scree plot: %s has no telemetry: there are no curves", arguments.items[0]);
        status = 2;
      }
      free(folder);
      scree_replay_close(replay);
    }
    status = cli_finish(status);
  }
  cli_list_free(&arguments);
  return status;
}

const CliCommand cli_command_plot = {
    .name = "plot",
    .usage = "DIR [-o OUT]",
    .summary = "write the curves of a run as SVG files",
    .help =
        "Writes SVG files with energies and their balance, numbers of contacts by\nstatus, error "
        "and tolerance, iterations, penetration, coordination, packing\nfraction, computing time "
        "per step, and every sensor, and prints the names of\nthe files. Axes have units.",
    .examples = "  scree plot drum-run -o figures",
    .run = run,
};

/* `scree convert`: runs as files of other programs. */
#include "cli/args.h"
#include "cli/json.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "scree/view.h"

#include <stdio.h>

static int convert(const char *directory, const char *output, int every, bool as_json) {
  CliLog log;
  cli_log_init(&log, false, false);
  scree_Replay *replay;
  scree_Status status = scree_replay_open(directory, &log.log, &replay);
  if (status != SCREE_OK) return (int)status;
  int written = 0;
  if (!cli_need_folder(output)) status = SCREE_MACHINE;
  if (status == SCREE_OK) status = scree_vtk_write(replay, output, every, &written);
  if (status == SCREE_OK && as_json) {
    CliJson json;
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "vtk", output);
    cli_json_int(&json, "frames", written);
    cli_json_int(&json, "bodies", scree_replay_info(replay).bodies);
    cli_json_end(&json);
  } else if (status == SCREE_OK) {
    printf("%s: %d frames; open bodies.pvd, shapes.pvd and contacts.pvd in ParaView\n"
           "  bodies    points with all fields; for spheres a glyph \"Sphere\" of radius 1, scaled "
           "by\n"
           "            the array radius, without scale mode limits\n"
           "  shapes    triangles of all bodies and obstacles that are no spheres\n"
           "  contacts  points with normal, impulse, gap, status\n",
           output, written);
  }
  scree_replay_close(replay);
  return (int)status;
}

static int run(const CliCommand *command, int argc, char **argv) {
  const char *vtk = NULL;
  int every = 1;
  bool as_json = false;
  const CliOption options[] = {
      {"vtk", 0, CLI_TEXT, &vtk, "OUT", "folder for VTK XML files, made if needed", 0, 0, NULL},
      {"every", 0, CLI_INT, &every, "N", "every Nth frame (1)", 1, 1e9, NULL},
      {"json", 0, CLI_FLAG, &as_json, NULL, "one JSON object about the files", 0, 0, NULL},
      {0},
  };
  CliList arguments = {0};
  int status = cli_parse(command, options, argc, argv, &arguments);
  if (status < 0 && (arguments.count != 1 || !vtk)) {
    cli_error("scree convert: expected the folder of one run and --vtk OUT (scree convert --help "
              "explains)");
    status = 2;
  }
  if (status < 0) status = cli_finish(convert(arguments.items[0], vtk, every, as_json));
  cli_list_free(&arguments);
  return status;
}

const CliCommand cli_command_convert = {
    .name = "convert",
    .usage = "DIR --vtk OUT [--every N] [--json]",
    .summary = "write a run as VTK files for ParaView",
    .help = "Writes three series in time: bodies.pvd (points with all fields, ready for\n"
            "glyphs), shapes.pvd (real geometry of all that is no sphere) and contacts.pvd\n"
            "(impulses, status, gap, error).",
    .examples = "  scree convert drum-run --vtk drum-vtk\n"
                "  paraview drum-vtk/shapes.pvd",
    .run = run,
};

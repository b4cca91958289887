/* `scree convert`: runs as files of other programs, and frames as the start of new scenes. */
#include "cli/args.h"
#include "cli/json.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "scree/view.h"

#include <math.h>
#include <stdio.h>

typedef struct Request {
  const char *directory, *vtk, *csv, *scene;
  double at; /* NAN: the last frame */
  int every;
  bool triangles, xdmf, json;
} Request;

static void report(const Request *request, int written, int frame, scree_ReplayInfo info) {
  if (request->json) {
    CliJson json;
    cli_json_begin(&json, stdout);
    if (request->vtk) cli_json_text(&json, "vtk", request->vtk);
    if (request->vtk) cli_json_int(&json, "frames", written);
    if (request->xdmf) cli_json_text(&json, "xdmf", "results.xdmf");
    if (request->csv) cli_json_text(&json, "csv", request->csv);
    if (request->scene) cli_json_text(&json, "scene", request->scene);
    if (request->csv || request->scene) cli_json_real(&json, "time", info.times[frame]);
    cli_json_int(&json, "bodies", info.bodies);
    cli_json_end(&json);
    return;
  }
  if (request->vtk)
    printf(
        "%s: %d frames; open these in ParaView:\n"
        "  bodies.pvd    points with all fields; shown as \"3D Glyphs\" with the pipeline source\n"
        "                glyphs.vtm, its table by the array glyph, scaled by the array scale,\n"
        "                turned by the quaternions orientation\n"
        "  shapes.pvd    triangles of the obstacles%s\n"
        "  contacts.pvd  points with normal, impulse, gap, status\n"
        "  chains.pvd    lines of the normal forces\n"
        "  joints.pvd    anchors of joints and bonds, if there are any\n",
        request->vtk, written, request->triangles ? " and of all bodies that are no spheres" : "");
  if (request->xdmf)
    printf("%s/results.xdmf: open it in ParaView; it reads results.h5\n", request->directory);
  if (request->csv) printf("%s: frame %d at t = %g s\n", request->csv, frame, info.times[frame]);
  if (request->scene)
    printf("%s: frame %d at t = %g s\n", request->scene, frame, info.times[frame]);
}

static int convert(const Request *request) {
  CliLog log;
  cli_log_init(&log, false, false);
  scree_Replay *replay;
  scree_Status status = scree_replay_open(request->directory, &log.log, &replay);
  if (status != SCREE_OK) return (int)status;
  const scree_ReplayInfo info = scree_replay_info(replay);
  const int frame =
      isnan(request->at) ? info.frames - 1 : scree_replay_nearest(replay, request->at);
  int written = 0;
  if ((request->csv || request->scene) && frame < 0) {
    cli_error("scree convert: %s saved no frames", request->directory);
    status = SCREE_BAD_INPUT;
  }
  if (status == SCREE_OK && request->vtk && !cli_need_folder(request->vtk)) status = SCREE_MACHINE;
  if (status == SCREE_OK && request->vtk)
    status = scree_vtk_write(replay, request->vtk, request->every, request->triangles, &written);
  if (status == SCREE_OK && request->xdmf) status = scree_xdmf_write(replay);
  if (status == SCREE_OK && request->csv)
    status = scree_replay_write_csv(replay, frame, request->csv);
  if (status == SCREE_OK && request->scene)
    status = scree_replay_write_scene(replay, frame, request->scene);
  if (status == SCREE_OK) report(request, written, frame, info);
  scree_replay_close(replay);
  return (int)status;
}

static int run(const CliCommand *command, int argc, char **argv) {
  Request request = {.every = 1, .at = NAN};
  const CliOption options[] = {
      {"vtk", 0, CLI_TEXT, &request.vtk, "OUT", "folder of the VTK XML files; created if necessary",
       0, 0, NULL},
      {"every", 0, CLI_INT, &request.every, "N", "with --vtk: write every Nth frame (default 1)", 1,
       1e9, NULL},
      {"triangles", 0, CLI_FLAG, &request.triangles, NULL,
       "with --vtk: also write the triangles of every body in\nevery frame", 0, 0, NULL},
      {"xdmf", 0, CLI_FLAG, &request.xdmf, NULL,
       "write DIR/results.xdmf, with which ParaView reads\nresults.h5", 0, 0, NULL},
      {"csv", 0, CLI_TEXT, &request.csv, "FILE.csv",
       "write one frame as a table with one row per body", 0, 0, NULL},
      {"scene", 0, CLI_TEXT, &request.scene, "FILE.yaml",
       "write one frame as a scene that can be run", 0, 0, NULL},
      {"at", 0, CLI_REAL, &request.at, "T",
       "time of that frame in seconds; the nearest one is used\n(default: the last)", -HUGE_VAL,
       HUGE_VAL, NULL},
      {"json", 0, CLI_FLAG, &request.json, NULL, "print one JSON object about the files", 0, 0,
       NULL},
      {0},
  };
  CliList arguments = {0};
  int status = cli_parse(command, options, argc, argv, &arguments);
  if (status < 0 &&
      (arguments.count != 1 || (!request.vtk && !request.xdmf && !request.csv && !request.scene))) {
    cli_error(
        "scree convert: expected the folder of one run and --vtk, --xdmf, --csv or --scene (scree "
        "convert --help explains)");
    status = 2;
  }
  if (status < 0) {
    request.directory = arguments.items[0];
    status = cli_finish(convert(&request));
  }
  cli_list_free(&arguments);
  return status;
}

const CliCommand cli_command_convert = {
    .name = "convert",
    .usage = "DIR [--vtk OUT] [--xdmf] [--csv FILE] [--scene FILE] [...]",
    .summary = "write a run for ParaView, or one frame as a table or scene",
    .help = "Writes a run for ParaView, or one frame as a table or scene.\n\n--vtk writes time "
            "series: bodies.pvd (points with all fields, shown as glyphs\nwith the meshes of "
            "glyphs.vtm, one for each different shape), shapes.pvd\n(triangles of the obstacles; "
            "with --triangles of all bodies), contacts.pvd\n(impulses, status, gap, error), "
            "chains.pvd (lines with the normal force), and\nin runs with joints joints.pvd "
            "(reactions, bonds). --xdmf writes a small index\nwith which ParaView reads results.h5 "
            "directly.\n\n--csv writes the bodies of one frame as a table, for other programs and "
            "for the\ngenerator csv of scenes. --scene writes the scene of the run with the bodies "
            "of\nthat frame instead of its bodies and generators; its time starts at 0. Meshes\nof "
            "finite elements and the state of their nodes are written beside it.",
    .examples = "  scree convert drum-run --vtk drum-vtk && paraview drum-vtk/bodies.pvd\n"
                "  scree convert drum-run --xdmf && paraview drum-run/results.xdmf\n"
                "  scree convert drum-run --csv packing.csv\n"
                "  scree convert drum-run --at 0.5 --scene later.yaml",
    .run = run,
};

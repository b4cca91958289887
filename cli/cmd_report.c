/* `scree report`: one self-contained page per run. */
#include "cli/args.h"
#include "cli/json.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "scree/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int report(const char *directory, const char *output, const scree_ReportSettings *settings,
                  bool as_json) {
  CliLog log;
  cli_log_init(&log, false, false);
  scree_Replay *replay;
  scree_Status status = scree_replay_open(directory, &log.log, &replay);
  if (status != SCREE_OK) return (int)status;
  char *path = output ? cli_join(output, NULL) : cli_join(directory, "report.html");
  scree_ReportInfo info = {0};
  if (!path) status = SCREE_MACHINE;
  if (status == SCREE_OK) status = scree_report_write(replay, settings, path, &info);
  if (status == SCREE_OK) {
    static const char *const levels[] = {"exact", "single", "compact"};
    if (as_json) {
      CliJson json;
      cli_json_begin(&json, stdout);
      cli_json_text(&json, "page", path);
      cli_json_int(&json, "bytes", (long long)info.bytes);
      cli_json_text(&json, "numbers", levels[info.level]);
      cli_json_int(&json, "frames", info.frames);
      cli_json_int(&json, "frames_run", scree_replay_info(replay).frames);
      cli_json_int(&json, "contact_frames", info.contact_frames);
      cli_json_end(&json);
    } else {
      printf("%s: %.1f MB, %d of %d frames, contacts of %d, numbers %s\n", path,
             (double)info.bytes / 1e6, info.frames, scree_replay_info(replay).frames,
             info.contact_frames,
             info.level == SCREE_REPORT_EXACT    ? "exact"
             : info.level == SCREE_REPORT_SINGLE ? "in single precision"
                                                 : "to the precision of a screen");
      if (scree_replay_info(replay).note[0]) printf("note: %s\n", scree_replay_info(replay).note);
    }
  }
  free(path);
  scree_replay_close(replay);
  return (int)status;
}

static int run(const CliCommand *command, int argc, char **argv) {
  const char *output = NULL;
  double budget = 30.0;
  int frames = 0;
  bool as_json = false;
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &output, "FILE", "the page (default DIR/report.html)", 0, 0, NULL},
      {"budget", 0, CLI_REAL, &budget, "MB",
       "largest size of the page (30): numbers lose digits,\n"
       "then contacts of some frames go, then frames",
       0.1, 2000, NULL},
      {"frames", 0, CLI_INT, &frames, "N", "at most N frames, evenly spread", 1, 1e9, NULL},
      {"json", 0, CLI_FLAG, &as_json, NULL, "one JSON object about the page", 0, 0, NULL},
      {0},
  };
  CliList arguments = {0};
  int status = cli_parse(command, options, argc, argv, &arguments);
  if (status < 0 && arguments.count != 1) {
    cli_error(
        "scree report: expected the folder of one run, found %d (scree report --help explains)",
        arguments.count);
    status = 2;
  }
  if (status < 0) {
    scree_ReportSettings settings = scree_report_settings();
    settings.budget = budget * 1e6;
    settings.frames = frames;
    status = cli_finish(report(arguments.items[0], output, &settings, as_json));
  }
  cli_list_free(&arguments);
  return status;
}

const CliCommand cli_command_report = {
    .name = "report",
    .usage = "DIR [-o FILE.html] [--budget MB] [--frames N] [--json]",
    .summary = "one page that plays a run: bodies, forces, curves, certificate",
    .help = "Writes one HTML file with everything inside: it opens in any browser, offline,\n"
            "and asks the network for nothing. For runs too large for a page: scree view.",
    .examples = "  scree report drum-run\n"
                "  scree report drum-run -o drum.html --budget 10",
    .run = run,
};

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

enum { RUNS_MAX = 2 }; /* side by side */

static int report(const CliList *directories, const char *output,
                  const scree_ReportSettings *settings, bool as_json) {
  CliLog log;
  cli_log_init(&log, false, false);
  scree_Replay *replays[RUNS_MAX] = {NULL};
  const int runs = directories->count;
  const char *directory = directories->items[0];
  scree_Status status = SCREE_OK;
  for (int k = 0; status == SCREE_OK && k < runs; ++k)
    status = scree_replay_open(directories->items[k], &log.log, &replays[k]);
  if (status != SCREE_OK) {
    for (int k = 0; k < runs; ++k)
      if (replays[k]) scree_replay_close(replays[k]);
    return (int)status;
  }
  scree_Replay *replay = replays[0];
  char *path = output ? cli_join(output, NULL)
                      : cli_join(directory, runs > 1 ? "compare.html" : "report.html");
  scree_ReportInfo info = {0};
  if (!path) status = SCREE_MACHINE;
  if (status == SCREE_OK) status = scree_report_compare(replays, runs, settings, path, &info);
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
  for (int k = 0; k < runs; ++k) scree_replay_close(replays[k]);
  return (int)status;
}

static int run(const CliCommand *command, int argc, char **argv) {
  const char *output = NULL;
  double budget = 0.0;
  int frames = 0;
  bool as_json = false;
  const CliOption options[] = {
      {"output", 'o', CLI_TEXT, &output, "FILE",
       "the page (default DIR/report.html, for two runs\nDIR/compare.html)", 0, 0, NULL},
      {"budget", 0, CLI_REAL, &budget, "MB",
       "largest size of the page in MB (default 30, more if\nthe shapes of very many bodies need "
       "it). To fit, first\nthe precision of numbers is reduced, then contacts of\nsome frames are "
       "left out, then frames.",
       0.1, 2000, NULL},
      {"frames", 0, CLI_INT, &frames, "N", "use at most N frames, at even distances", 1, 1e9, NULL},
      {"json", 0, CLI_FLAG, &as_json, NULL, "print one JSON object about the page", 0, 0, NULL},
      {0},
  };
  CliList arguments = {0};
  int status = cli_parse(command, options, argc, argv, &arguments);
  if (status < 0 && (arguments.count < 1 || arguments.count > RUNS_MAX)) {
    cli_error("scree report: expected the folder of a run, or of two to compare, found %d (scree "
              "report --help explains)",
              arguments.count);
    status = 2;
  }
  if (status < 0) {
    scree_ReportSettings settings = scree_report_settings();
    settings.budget = budget * 1e6;
    settings.frames = frames;
    status = cli_finish(report(&arguments, output, &settings, as_json));
  }
  cli_list_free(&arguments);
  return status;
}

const CliCommand cli_command_report = {
    .name = "report",
    .usage = "DIR [DIR2] [-o FILE.html] [options]",
    .summary = "write a page that plays a run: bodies, forces, curves, certificate",
    .help = "Writes one HTML file that plays the run. It opens in any browser, offline, and\nmakes "
            "no network requests. For runs that are too large for a page use scree\nview. With two "
            "folders the page shows both runs side by side, with one camera,\none time and common "
            "plots.",
    .examples = "  scree report drum-run\n"
                "  scree report drum-run -o drum.html --budget 10\n"
                "  scree report drum-run drum-fine-run -o both.html",
    .run = run,
};

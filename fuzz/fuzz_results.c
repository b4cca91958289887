/* The folder of a run: results.h5, described by a text (hdf5_text.h), and after a line %%
 * telemetry.jsonl as it is. Everything that a page or a plot would ask for is read. */
#include "hdf5_text.h"

#include "run/frames.h"

static void read_all(scree_Replay *replay) {
  scree_ReplayFrame frame = {0};
  const int frames = replay->frame_count < 8 ? replay->frame_count : 8;
  for (int k = 0; k < frames; ++k) {
    fuzz_errors = 0;
    const scree_Status status = scree_replay_read(replay, k, &frame);
    fuzz_check_status(status);
    if (status != SCREE_OK) continue;
    for (int c = 0; c < frame.contacts; ++c)
      for (int side = 0; side < 2; ++side)
        demand(frame.contact[c].body[side] >= 0 && frame.contact[c].body[side] < frame.bodies,
               "contacts name bodies that exist");
    double *pressure = calloc((size_t)frame.bodies + 1, sizeof *pressure);
    demand(pressure != NULL, "memory for pressures");
    scree_replay_pressure(replay, &frame, pressure);
    free(pressure);
  }
  scree_replay_frame_fini(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_errors = 0;
  size_t split = 0;
  while (split + 4 <= size && memcmp(data + split, "\n%%\n", 4) != 0) ++split;
  const bool telemetry = split + 4 <= size;
  fuzz_write_hdf5("results.h5", data, telemetry ? split : size);
  if (telemetry)
    fuzz_write("telemetry.jsonl", data + split + 4, size - split - 4);
  else
    (void)unlink(fuzz_path("telemetry.jsonl"));
  scree_Replay *replay = NULL;
  const scree_Status status = scree_replay_open(fuzz_folder, &fuzz_log, &replay);
  fuzz_check_status(status);
  demand((status == SCREE_OK) == (replay != NULL), "a run is there when opening succeeded");
  if (!replay) return 0;
  read_all(replay);
  scree_CertificateText text;
  scree_replay_verdict(replay, &text);
  demand(text.verdict[0] != 0, "there is a verdict");
  scree_ReplayExtent extent;
  fuzz_errors = 0;
  const scree_Status known = scree_replay_extent(replay, -1, &extent);
  demand(known != SCREE_OK || extent.length > 0.0, "the extent of a run is positive");
  scree_replay_close(replay);
  return 0;
}

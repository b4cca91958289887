/* Frames of a run that goes on, or was interrupted: those that are in frames.bin and not yet in
 * results.h5. */
#ifndef SCREE_RUN_FRAMES_JOURNAL_H
#define SCREE_RUN_FRAMES_JOURNAL_H

#include "run/frames.h"
#include "run/results_frame.h"

typedef struct scree_FramesJournal {
  scree_Journal journal; /* file < 0: none */
  char *path;
  int first, count;      /* frames of the run: [first, first + count) are here alone */
  scree_FrameHead *head; /* (count) */
  int64_t *offset;       /* (count) where their records begin */
  size_t head_capacity, offset_capacity;
  scree_Frame frame; /* the last one that was read */
} scree_FramesJournal;

/* The journal in the folder of a run whose results.h5 has `known` frames, the last of them with
 * `step` steps done. A journal that is missing, or of another run, has no frames. */
scree_Status scree_frames_journal_open(scree_FramesJournal *journal, const char *directory,
                                       int known, int64_t step, const scree_Log *log);
void scree_frames_journal_close(scree_FramesJournal *journal);

/* Frame k of the run, which is one of the journal's. Bodies that results.h5 does not know yet, and
 * their contacts, are left out. */
scree_Status scree_frames_journal_read(scree_FramesJournal *journal, const scree_Replay *replay,
                                       int k, scree_ReplayFrame *frame);

#endif

/* Frames go to the journal, and into the chunks of results.h5 (results_pack.h), on a thread of
 * their own: the thread that steps only copies its state, and waits only if the frame before is not
 * written yet. */
#ifndef SCREE_RUN_FRAME_WRITER_H
#define SCREE_RUN_FRAME_WRITER_H

#include "run/results_pack.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SCREE_WRITER_MESSAGE = 512 };

typedef struct scree_FrameWriter {
  scree_Journal *journal;
  scree_ResultsPack pack;
  scree_Frame frame[2]; /* one is being written while the caller fills the other */
  int free;             /* the one that the caller may fill */
  bool made, threaded;  /* init was called; there is a thread */
  bool waiting, over;   /* a frame waits or is being written; the thread is to end */
  atomic_bool give_up;  /* chunks are not needed now */
  scree_Status status;  /* of the frames so far */
  char message[SCREE_WRITER_MESSAGE];
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} scree_FrameWriter;

/* The journal is open, and stays so; the caller does not append to it. */
scree_Status scree_writer_init(scree_FrameWriter *writer, scree_Journal *journal, int compression,
                               const scree_Log *log);
/* Write the frames that wait, and end the thread. A writer that is all zero is left alone. */
void scree_writer_fini(scree_FrameWriter *writer);

/* scree_writer_frame gives the frame to fill next, scree_writer_add passes it on once it is filled.
 * A failure to write an earlier frame is reported here. */
scree_Frame *scree_writer_frame(scree_FrameWriter *writer);
scree_Status scree_writer_add(scree_FrameWriter *writer, const scree_Log *log);

/* Wait until every frame is in the journal. If the poll asks to stop, chunks are packed in the next
 * call. */
scree_Status scree_writer_wait(scree_FrameWriter *writer, scree_Poll *poll, const scree_Log *log);

#endif

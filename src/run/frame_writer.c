/* The thread that writes frames (see frame_writer.h). */
#define _POSIX_C_SOURCE 200809L
#include "run/frame_writer.h"

#include "core/log.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

static const long POLL_NANOSECONDS = 20000000; /* between two calls of a poll while waiting */

/* Messages of the thread are kept: the caller's log is called on the caller's thread. */
static void keep_message(void *user, scree_LogLevel level, const char *message) {
  scree_FrameWriter *writer = user;
  if (level == SCREE_LOG_ERROR && !writer->message[0])
    snprintf(writer->message, sizeof writer->message, "%s", message);
}

static bool gives_up(void *user) {
  scree_FrameWriter *writer = user;
  return atomic_load(&writer->give_up);
}

static scree_Status write_frame(scree_FrameWriter *writer, scree_Frame *frame) {
  const scree_Log log = {keep_message, writer};
  scree_Poll poll = {gives_up, writer, false};
  scree_Status status = scree_journal_append(writer->journal, frame, &log);
  if (status == SCREE_OK)
    status = scree_pack_update(&writer->pack, writer->journal, frame, &poll, &log);
  return status == SCREE_INTERRUPTED ? SCREE_OK : status;
}

static void *run_thread(void *user) {
  scree_FrameWriter *writer = user;
  pthread_mutex_lock(&writer->mutex);
  for (;;) {
    while (!writer->waiting && !writer->over) pthread_cond_wait(&writer->changed, &writer->mutex);
    if (!writer->waiting) break;
    scree_Frame *frame = &writer->frame[1 - writer->free];
    scree_Status status = writer->status;
    pthread_mutex_unlock(&writer->mutex);
    if (status == SCREE_OK) status = write_frame(writer, frame);
    pthread_mutex_lock(&writer->mutex);
    writer->status = status;
    writer->waiting = false;
    pthread_cond_broadcast(&writer->changed);
  }
  pthread_mutex_unlock(&writer->mutex);
  return NULL;
}

/* Signals are for the threads of the caller. */
static bool start_thread(scree_FrameWriter *writer) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  const bool started = pthread_create(&writer->thread, NULL, run_thread, writer) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

scree_Status scree_writer_init(scree_FrameWriter *writer, scree_Journal *journal, int compression,
                               const scree_Log *log) {
  *writer = (scree_FrameWriter){.journal = journal};
  const scree_Status status = scree_pack_init(&writer->pack, journal->path, compression, log);
  if (status != SCREE_OK) return status;
  atomic_init(&writer->give_up, false);
  pthread_mutex_init(&writer->mutex, NULL);
  pthread_cond_init(&writer->changed, NULL);
  writer->made = true;
  writer->threaded = start_thread(writer); /* without one, frames are written at once */
  return SCREE_OK;
}

void scree_writer_fini(scree_FrameWriter *writer) {
  if (!writer->made) return;
  pthread_mutex_lock(&writer->mutex);
  writer->over = true;
  pthread_cond_broadcast(&writer->changed);
  pthread_mutex_unlock(&writer->mutex);
  if (writer->threaded) pthread_join(writer->thread, NULL);
  pthread_cond_destroy(&writer->changed);
  pthread_mutex_destroy(&writer->mutex);
  scree_pack_fini(&writer->pack);
  for (int k = 0; k < 2; ++k) scree_frame_fini(&writer->frame[k]);
  writer->made = false;
}

scree_Frame *scree_writer_frame(scree_FrameWriter *writer) {
  return &writer->frame[writer->free];
}

static scree_Status report(const scree_FrameWriter *writer, scree_Status status,
                           const scree_Log *log) {
  if (status == SCREE_OK) return SCREE_OK;
  return scree_fail(log, status, "%s", writer->message);
}

scree_Status scree_writer_add(scree_FrameWriter *writer, const scree_Log *log) {
  if (!writer->threaded) {
    if (writer->status == SCREE_OK) writer->status = write_frame(writer, &writer->frame[0]);
    return report(writer, writer->status, log);
  }
  pthread_mutex_lock(&writer->mutex);
  while (writer->waiting) pthread_cond_wait(&writer->changed, &writer->mutex);
  const scree_Status status = writer->status;
  if (status == SCREE_OK) {
    writer->free = 1 - writer->free;
    writer->waiting = true;
    pthread_cond_broadcast(&writer->changed);
  }
  pthread_mutex_unlock(&writer->mutex);
  return report(writer, status, log);
}

scree_Status scree_writer_wait(scree_FrameWriter *writer, scree_Poll *poll, const scree_Log *log) {
  pthread_mutex_lock(&writer->mutex);
  while (writer->waiting) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&writer->changed, &writer->mutex, &until);
    if (!writer->waiting || !poll) continue;
    pthread_mutex_unlock(&writer->mutex); /* the poll may take its time */
    if (scree_poll(poll)) atomic_store(&writer->give_up, true);
    pthread_mutex_lock(&writer->mutex);
  }
  const scree_Status status = writer->status;
  pthread_mutex_unlock(&writer->mutex);
  atomic_store(&writer->give_up, false);
  return report(writer, status, log);
}

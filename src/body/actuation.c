/* Changes of drivers and forces between steps (see actuation.h).
 *
 * A saved state must continue with the same bits in a world that was built by the same calls but
 * without the changes. So all signals that are data (zero, constant, table) are part of the state.
 * A callback cannot be saved: the state records that there was one, and it must be set in the world
 * into which the state is restored.
 *
 * Layout: a head with both counts, then for each driver and force a record followed by its table,
 * times (count) and values (count). */
#include "body/actuation.h"

#include "body/patch.h"
#include "body/signal.h"
#include "core/log.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 64 };
enum { PER_MASS = 1, ON_NODES = 2 }; /* flags of a force */

typedef struct Head {
  int64_t drivers, forces;
} Head;

typedef struct Record {
  int32_t kind, body, flags, count;
  scree_Twist constant;
  scree_Span span[2];
} Record;

/* ---- changes --------------------------------------------------------------------------------- */

scree_Status scree_bodies_set_driver(scree_Bodies *b, int body, const scree_Signal *driver,
                                     const scree_Log *log) {
  char owner[NAME];
  scree_Signal signal;
  if (!(b->fixed[body] & SCREE_BODY_OBSTACLE))
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: it has a driver, expected an obstacle", body);
  int index = b->cold[body].driver;
  if (index < 0 && !scree_grow((void **)&b->drivers, &b->driver_capacity,
                               (size_t)b->driver_count + 1, sizeof *b->drivers))
    return scree_fail_memory(log, "the drivers of obstacles");
  snprintf(owner, sizeof owner, "body %d: driver", body);
  const scree_Status status = scree_signal_copy(driver, owner, &signal, log);
  if (status) return status;
  if (index < 0) {
    index = b->driver_count++;
    b->drivers[index] = (scree_Driver){.body = body};
    b->cold[body].driver = index;
  }
  scree_signal_fini(&b->drivers[index].signal);
  b->drivers[index].signal = signal;
  return SCREE_OK;
}

scree_Status scree_bodies_set_force(scree_Bodies *b, int force, const scree_ForceDef *def,
                                    const scree_Log *log) {
  if (force < 0 || force >= b->force_count)
    return scree_fail(log, SCREE_BAD_INPUT, "force %d does not exist, expected 0 .. %d", force,
                      b->force_count - 1);
  /* check as a new one, then replace the old one */
  const scree_Status status = scree_bodies_add_force(b, def, log);
  if (status) return status;
  scree_signal_fini(&b->forces[force].signal);
  scree_patch_destroy(b->forces[force].patch);
  b->forces[force] = b->forces[--b->force_count];
  return SCREE_OK;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static int flags_of(const scree_Force *force) {
  return (force->per_mass ? PER_MASS : 0) | (force->patch ? ON_NODES : 0);
}

static size_t table_size(int count) {
  return (size_t)count * (sizeof(double) + sizeof(scree_Twist));
}

static size_t record_size(const scree_Signal *signal) {
  return sizeof(Record) + (signal->kind == SCREE_SIGNAL_TABLE ? table_size(signal->count) : 0);
}

size_t scree_actuation_size(const scree_Bodies *b) {
  size_t size = sizeof(Head);
  for (int k = 0; k < b->driver_count; ++k) size += record_size(&b->drivers[k].signal);
  for (int k = 0; k < b->force_count; ++k) size += record_size(&b->forces[k].signal);
  return size;
}

static char *put(char *at, const scree_Signal *signal, int body, int flags,
                 const scree_Span *span) {
  const bool table = signal->kind == SCREE_SIGNAL_TABLE;
  Record record;
  memset(&record, 0, sizeof record);
  record.kind = (int32_t)signal->kind;
  record.body = body;
  record.flags = flags;
  record.count = table ? signal->count : 0;
  record.constant = signal->constant;
  if (span) memcpy(record.span, span, sizeof record.span);
  memcpy(at, &record, sizeof record);
  at += sizeof record;
  if (!table) return at;
  const size_t n = (size_t)signal->count;
  memcpy(at, signal->times, n * sizeof *signal->times);
  memcpy(at + n * sizeof *signal->times, signal->values, n * sizeof *signal->values);
  return at + table_size(signal->count);
}

void scree_actuation_save(const scree_Bodies *b, void *buffer) {
  scree_actuation_save_as(b, NULL, NULL, buffer);
}

void scree_actuation_save_as(const scree_Bodies *b, const int *global, const int *forces,
                             void *buffer) {
  const Head head = {b->driver_count, b->force_count};
  char *at = buffer;
  memcpy(at, &head, sizeof head);
  at += sizeof head;
  for (int k = 0; k < b->driver_count; ++k)
    at = put(at, &b->drivers[k].signal, global ? global[b->drivers[k].body] : b->drivers[k].body, 0,
             NULL);
  for (int k = 0; k < b->force_count; ++k)
    at = put(at, &b->forces[k].signal, forces ? forces[k] : b->forces[k].body,
             flags_of(&b->forces[k]), b->forces[k].span);
}

/* ---- restoring ------------------------------------------------------------------------------- */

/* A reader of the buffer: the current record, with its table copied to aligned memory. */
typedef struct Reader {
  const char *at, *end;
  Record record;
  double *times;
  scree_Twist *values;
  size_t time_capacity, value_capacity;
} Reader;

static void reader_fini(Reader *reader) {
  scree_free(reader->times);
  scree_free(reader->values);
}

static scree_Status damaged(const scree_Log *log) {
  return scree_fail(
      log, SCREE_BAD_INPUT,
      "state: found damaged drivers and forces, expected those that a world has saved");
}

static scree_Status take(Reader *reader, const scree_Log *log) {
  Record *record = &reader->record;
  if ((size_t)(reader->end - reader->at) < sizeof *record) return damaged(log);
  memcpy(record, reader->at, sizeof *record);
  reader->at += sizeof *record;
  const bool table = record->kind == SCREE_SIGNAL_TABLE;
  if (record->kind < SCREE_SIGNAL_ZERO || record->kind > SCREE_SIGNAL_CALLBACK ||
      (table ? record->count < 1 : record->count != 0) ||
      (size_t)(reader->end - reader->at) / table_size(1) < (size_t)record->count)
    return damaged(log);
  const size_t n = (size_t)record->count;
  if (!scree_grow((void **)&reader->times, &reader->time_capacity, n, sizeof *reader->times) ||
      !scree_grow((void **)&reader->values, &reader->value_capacity, n, sizeof *reader->values))
    return scree_fail_memory(log, "the table of a signal");
  if (n == 0) return SCREE_OK;
  memcpy(reader->times, reader->at, n * sizeof *reader->times);
  memcpy(reader->values, reader->at + n * sizeof *reader->times, n * sizeof *reader->values);
  reader->at += table_size(record->count);
  return SCREE_OK;
}

/* The signal of the current record; a callback is that of `now`. */
static scree_Signal signal_of(const Reader *reader, const scree_Signal *now) {
  if (reader->record.kind == SCREE_SIGNAL_CALLBACK) return *now;
  return (scree_Signal){.kind = (scree_SignalKind)reader->record.kind,
                        .constant = reader->record.constant,
                        .count = reader->record.count,
                        .times = reader->times,
                        .values = reader->values,
                        .names = now ? now->names : NULL};
}

/* Checks the value too, like a signal of a caller. */
static scree_Status check_signal(const Reader *reader, const scree_Signal *now, const char *owner,
                                 int index, const scree_Log *log) {
  char name[NAME];
  scree_Signal copy;
  snprintf(name, sizeof name, "state: %s %d", owner, index);
  if (reader->record.kind == SCREE_SIGNAL_CALLBACK && (!now || now->kind != SCREE_SIGNAL_CALLBACK))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: found no callback, expected one to be set before restoring, as when the "
                      "state was saved",
                      name);
  const scree_Signal signal = signal_of(reader, now);
  const scree_Status status = scree_signal_copy(&signal, name, &copy, log);
  if (!status) scree_signal_fini(&copy);
  return status;
}

static const scree_Signal *driver_of(const scree_Bodies *b, int body) {
  const int index = b->cold[body].driver;
  return index >= 0 ? &b->drivers[index].signal : NULL;
}

static scree_Status check_all(const scree_Bodies *b, Reader *reader, const Head *head,
                              const scree_Log *log) {
  scree_Status status = SCREE_OK;
  for (int64_t k = 0; k < head->drivers && !status; ++k) {
    status = take(reader, log);
    const int body = reader->record.body;
    if (!status && (body < 0 || body >= b->count || !(b->fixed[body] & SCREE_BODY_OBSTACLE)))
      status = damaged(log);
    if (!status) status = check_signal(reader, driver_of(b, body), "the driver of body", body, log);
  }
  for (int k = 0; k < b->force_count && !status; ++k) {
    status = take(reader, log);
    const int body = reader->record.body;
    if (!status &&
        (body < -1 || body >= b->count || (body >= 0 && (b->fixed[body] & SCREE_BODY_OBSTACLE))))
      status = damaged(log);
    for (int i = 0; i < 2 && !status; ++i) {
      const scree_Span *span = &reader->record.span[i];
      if (span->body[0] < 0 || span->body[0] >= b->count || span->body[1] < 0 ||
          span->body[1] >= b->count || !isfinite(scree_norm2(span->along)) || !isfinite(span->less))
        status = damaged(log);
    }
    if (!status && ((reader->record.flags & ON_NODES) != 0) != (b->forces[k].patch != NULL))
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "state: force %d acts on %s, expected the same as in the saved world", k,
                          b->forces[k].patch ? "nodes" : "whole bodies");
    if (!status) status = check_signal(reader, &b->forces[k].signal, "force", k, log);
  }
  return !status && reader->at != reader->end ? damaged(log) : status;
}

static scree_Status read_head(const scree_Bodies *b, const void *buffer, size_t size, Head *head,
                              Reader *reader, const scree_Log *log) {
  *reader = (Reader){0};
  if (size < sizeof *head) return damaged(log);
  memcpy(head, buffer, sizeof *head);
  reader->at = (const char *)buffer + sizeof *head;
  reader->end = (const char *)buffer + size;
  if (head->drivers < 0 || head->drivers > b->count) return damaged(log);
  if (head->forces != b->force_count)
    return scree_fail(log, SCREE_BAD_INPUT, "state: of a world with %lld forces, expected %d",
                      (long long)head->forces, b->force_count);
  return SCREE_OK;
}

scree_Status scree_actuation_check(const scree_Bodies *b, const void *buffer, size_t size,
                                   const scree_Log *log) {
  Head head;
  Reader reader;
  scree_Status status = read_head(b, buffer, size, &head, &reader, log);
  if (!status) status = check_all(b, &reader, &head, log);
  reader_fini(&reader);
  return status;
}

scree_Status scree_actuation_restore(scree_Bodies *b, const void *buffer, size_t size,
                                     const scree_Log *log) {
  Head head = {0};
  Reader reader;
  scree_Status status = read_head(b, buffer, size, &head, &reader, log);
  /* those in the list are set below; callbacks among them must be kept until then */
  bool *named = SCREE_ALLOC(bool, b->count);
  if (!named && !status) status = scree_fail_memory(log, "the drivers of a saved state");
  for (int64_t k = 0; k < head.drivers && !status; ++k) {
    status = take(&reader, log);
    const int body = reader.record.body;
    if (!status) named[body] = true;
    if (status || reader.record.kind == SCREE_SIGNAL_CALLBACK) continue;
    const scree_Signal signal = signal_of(&reader, driver_of(b, body));
    status = scree_bodies_set_driver(b, body, &signal, log);
  }
  for (int k = 0; k < b->driver_count && !status; ++k)
    if (!named[b->drivers[k].body]) scree_signal_fini(&b->drivers[k].signal); /* becomes zero */
  for (int k = 0; k < b->force_count && !status; ++k) {
    status = take(&reader, log);
    if (status) continue;
    scree_Force *force = &b->forces[k];
    force->body = reader.record.body;
    force->per_mass = (reader.record.flags & PER_MASS) != 0;
    memcpy(force->span, reader.record.span, sizeof force->span);
    if (reader.record.kind == SCREE_SIGNAL_CALLBACK) continue;
    const scree_Signal signal = signal_of(&reader, &force->signal);
    scree_Signal copy;
    status = scree_signal_copy(&signal, "force", &copy, log);
    if (status) continue;
    scree_signal_fini(&force->signal);
    force->signal = copy;
  }
  scree_free(named);
  reader_fini(&reader);
  return status;
}

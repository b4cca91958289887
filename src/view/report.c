/* Writes the page of a run as one file: the text of the page, in which a mark is replaced by the
 * data of the run. Each block is base64 text in a script element that browsers do not execute. */
#define _POSIX_C_SOURCE 200809L
#include "view/report.h"

#include "core/log.h"
#include "core/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char mark[] = "<!--scree-payload-->";

/* A page being written: its size so far, and whether it exceeds the budget. */
typedef struct Writer {
  FILE *file;
  size_t bytes;
  double budget;
  bool over;
  char prefix[24]; /* of the names of the elements: "scree-", of a compared run "scree1-", ... */
} Writer;

static void put_base64(Writer *writer, const unsigned char *bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char line[4096];
  size_t at = 0;
  for (size_t k = 0; k < size; k += 3) {
    const unsigned long a = bytes[k], b = k + 1 < size ? bytes[k + 1] : 0,
                        c = k + 2 < size ? bytes[k + 2] : 0;
    const unsigned long word = a << 16 | b << 8 | c;
    line[at++] = digits[word >> 18];
    line[at++] = digits[word >> 12 & 63];
    line[at++] = k + 1 < size ? digits[word >> 6 & 63] : '=';
    line[at++] = k + 2 < size ? digits[word & 63] : '=';
    if (at == sizeof line) fwrite(line, 1, at, writer->file), at = 0;
  }
  fwrite(line, 1, at, writer->file);
}

/* End a block and write it as the element <prefix><name>. */
static scree_Status put_block(Writer *writer, const char *name, int number, scree_PageBlock *block,
                              const scree_Log *log) {
  unsigned char *bytes;
  size_t size;
  const scree_Status status = scree_block_end(block, log, &bytes, &size);
  if (status != SCREE_OK) return status;
  fprintf(writer->file, "<script type=\"application/octet-stream\" id=\"%s%s", writer->prefix,
          name);
  if (number >= 0) fprintf(writer->file, "%d", number);
  fputs("\">", writer->file);
  put_base64(writer, bytes, size);
  fputs("</script>\n", writer->file);
  scree_free(bytes);
  const long at = ftell(writer->file);
  writer->bytes = at > 0 ? (size_t)at : 0;
  writer->over = (double)writer->bytes > writer->budget;
  return SCREE_OK;
}

static scree_Status put_data(scree_Replay *replay, const scree_ReportPlan *plan, Writer *writer) {
  scree_PageBlock block = {0};
  fprintf(writer->file, "<script type=\"application/json\" id=\"%smeta\">", writer->prefix);
  scree_report_meta(replay, plan, writer->file);
  fputs("</script>\n", writer->file);
  scree_report_static(replay, &block);
  scree_Status status = put_block(writer, "static", -1, &block, replay->log);
  if (status == SCREE_OK && replay->rows) {
    status = scree_report_telemetry(replay, &block);
    if (status == SCREE_OK) status = put_block(writer, "telemetry", -1, &block, replay->log);
  }
  for (int b = 0; status == SCREE_OK && b * plan->block_frames < plan->count && !writer->over;
       ++b) {
    status = scree_report_frames(replay, plan, b, &block);
    if (status == SCREE_OK) status = put_block(writer, "b", b, &block, replay->log);
  }
  for (int k = 0; status == SCREE_OK && k < plan->contacts && !writer->over; ++k) {
    status = scree_report_contacts(replay, plan, plan->contact[k], &block);
    if (status == SCREE_OK) status = put_block(writer, "c", plan->contact[k], &block, replay->log);
  }
  scree_block_fini(&block);
  return status;
}

/* Bytes that are not frames or contacts: the page, shapes and curves. */
static scree_Status fixed_bytes(const scree_Replay *replay, size_t page, double *bytes) {
  scree_PageBlock block = {0};
  unsigned char *data;
  size_t size;
  *bytes = (double)page + 1e4 + 50.0 * replay->frame_count;
  /* quotes are escaped */
  if (replay->convergence) *bytes += 1.2 * (double)strlen(replay->convergence);
  scree_report_static(replay, &block);
  scree_Status status = scree_block_end(&block, replay->log, &data, &size);
  if (status == SCREE_OK) {
    *bytes += 4.0 / 3.0 * (double)size;
    scree_free(data);
    status = scree_report_telemetry(replay, &block);
    if (status == SCREE_OK) status = scree_block_end(&block, replay->log, &data, &size);
    if (status == SCREE_OK) {
      *bytes += 4.0 / 3.0 * (double)size;
      scree_free(data);
    }
  }
  scree_block_fini(&block);
  return status;
}

/* Data of one run for `bytes` of deflated frames and contacts; writer->over: it did not fit. */
static scree_Status write_run(scree_Replay *replay, const scree_ReportSettings *settings,
                              double bytes, int number, int runs, Writer *writer,
                              scree_ReportInfo *info) {
  scree_ReportPlan plan;
  scree_Status status = scree_report_plan(replay, settings, bytes, &plan);
  if (status != SCREE_OK) return status;
  plan.runs = number == 0 ? runs : 0;
  snprintf(writer->prefix, sizeof writer->prefix, number ? "scree%d-" : "scree-", number);
  status = put_data(replay, &plan, writer);
  if (number == 0) *info = (scree_ReportInfo){plan.level, plan.count, plan.contacts, 0};
  scree_report_plan_fini(&plan);
  return status;
}

/* The page with the data of all runs, which share the budget. */
static scree_Status write_page(scree_Replay *const *replays, int runs,
                               const scree_ReportSettings *settings, double bytes, Writer *writer,
                               scree_ReportInfo *info) {
  size_t size;
  const char *page = scree_report_page(&size), *at = strstr(page, mark);
  if (!at)
    return scree_fail(replays[0]->log, SCREE_MACHINE,
                      "the page that scree was built with has no mark for the data");
  const size_t head = (size_t)(at - page), tail = head + sizeof mark - 1;
  scree_Status status = SCREE_OK;
  writer->over = false;
  rewind(writer->file);
  fwrite(page, 1, head, writer->file);
  for (int k = 0; status == SCREE_OK && k < runs && !writer->over; ++k)
    status = write_run(replays[k], settings, bytes / runs, k, runs, writer, info);
  fwrite(page + tail, 1, size - tail, writer->file);
  const long end = ftell(writer->file);
  writer->bytes = end > 0 ? (size_t)end : 0;
  info->bytes = writer->bytes;
  return status;
}

/* Bytes of a page, unless asked for; and, for runs of very many bodies, over those of the shapes.
 */
static const double usual = 30e6, enough = 1.5;

/* The estimate may be too low: then try again with the observed ratio. */
static scree_Status write_fitting(scree_Replay *const *replays, int runs,
                                  const scree_ReportSettings *settings, Writer *writer,
                                  scree_ReportInfo *info) {
  size_t size;
  double fixed = 0.0;
  scree_Status status = SCREE_OK;
  (void)scree_report_page(&size);
  for (int k = 0; status == SCREE_OK && k < runs; ++k) {
    double own = 0.0;
    status = fixed_bytes(replays[k], k ? 0 : size, &own);
    fixed += own;
  }
  const double budget = settings->budget > 0 ? settings->budget : fmax(usual, enough * fixed);
  if (status == SCREE_OK && budget < fixed)
    return scree_fail(
        replays[0]->log, SCREE_BAD_INPUT,
        "budget: found %.3g MB, expected at least %.3g MB for the page, the shapes and "
        "the curves",
        budget / 1e6, fixed / 1e6);
  double bytes = 0.75 * (budget - fixed);
  for (int attempt = 0; status == SCREE_OK && attempt < 6; ++attempt, bytes *= 0.8) {
    writer->budget = attempt < 5 ? budget : INFINITY;
    status = write_page(replays, runs, settings, bytes, writer, info);
    if (!writer->over) break;
  }
  return status;
}

scree_Status scree_report_write(scree_Replay *replay, const scree_ReportSettings *settings,
                                const char *path, scree_ReportInfo *info) {
  return scree_report_compare(&replay, 1, settings, path, info);
}

scree_Status scree_report_compare(scree_Replay *const *replays, int runs,
                                  const scree_ReportSettings *settings, const char *path,
                                  scree_ReportInfo *info) {
  size_t size;
  scree_ReportInfo local;
  const scree_Replay *replay = replays[0];
  if (!info) info = &local;
  for (int k = 1; k < runs; ++k)
    if (replays[k]->dimension != replay->dimension)
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: a run of %d dimensions cannot be compared with one of %d",
                        replays[k]->title, replays[k]->dimension, replay->dimension);
  if (!scree_report_page(&size))
    return scree_fail(replay->log, SCREE_BAD_INPUT,
                      "this scree was built without its page: build it with \"npm ci && npm run "
                      "build\" in viewer/, then build scree again");
  char *temporary = SCREE_ALLOC(char, strlen(path) + 8);
  if (!temporary) return scree_fail_memory(replay->log, "a file name");
  sprintf(temporary, "%s.part", path);
  Writer writer = {.file = fopen(temporary, "wb")};
  scree_Status status = SCREE_OK;
  if (!writer.file)
    status = scree_fail(replay->log, SCREE_MACHINE, "%s: cannot write: %s", path, strerror(errno));
  if (status == SCREE_OK) {
    status = write_fitting(replays, runs, settings, &writer, info);
    /* An earlier attempt may have been longer: cut the file. */
    const bool cut =
        fflush(writer.file) == 0 && ftruncate(fileno(writer.file), (off_t)writer.bytes) == 0;
    const bool bad = ferror(writer.file) != 0 || !cut;
    if (fclose(writer.file) != 0 || bad || (status == SCREE_OK && rename(temporary, path) != 0)) {
      if (status == SCREE_OK)
        status =
            scree_fail(replay->log, SCREE_MACHINE, "%s: cannot write: %s", path, strerror(errno));
    }
    if (status != SCREE_OK) remove(temporary);
  }
  scree_free(temporary);
  return status;
}

/* Selection of the contents for a page of a given size. The levels are tried from the most exact
 * one down, each estimated by compressing a few blocks; the exact level may take a third of the
 * budget, since a smaller page is preferred to the last digits. At the compact level the contacts
 * of some frames are left out, then whole frames. */
#include "core/log.h"
#include "core/memory.h"
#include "scree/view.h"
#include "view/report.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 3 };

scree_ReportSettings scree_report_settings(void) {
  return (scree_ReportSettings){.budget = 0, .frames = 0, .only = -1};
}

void scree_report_plan_fini(scree_ReportPlan *plan) {
  scree_free(plan->frame);
  scree_free(plan->contact);
  *plan = (scree_ReportPlan){0};
}

/* `count` of `total` things, evenly, the first and the last among them. */
static int spread_index(int k, int count, int total) {
  if (count <= 1) return total - 1;
  return (int)(((int64_t)k * (total - 1) + (count - 1) / 2) / (count - 1));
}

static void keep_frames(scree_ReportPlan *plan, int count, int total) {
  plan->count = count < total ? count : total;
  for (int k = 0; k < plan->count; ++k) plan->frame[k] = spread_index(k, plan->count, total);
}

static void keep_contacts(scree_ReportPlan *plan, int count) {
  plan->contacts = count < plan->count ? count : plan->count;
  for (int k = 0; k < plan->contacts; ++k)
    plan->contact[k] = spread_index(k, plan->contacts, plan->count);
}

/* Frames in a block: enough for prediction to be effective, few enough to be decoded at once. */
static int choose_block(const scree_Replay *replay) {
  const int wanted = replay->body_count > 0 ? 200000 / replay->body_count : 64;
  return wanted < 8 ? 8 : wanted > 64 ? 64 : wanted;
}

/* Scales of the compact level, and whether all bodies are round. */
static scree_Status find_scales(scree_Replay *replay, scree_ReportPlan *plan, bool *contacts) {
  plan->smallest = INFINITY;
  plan->round = true;
  for (int i = 0; i < replay->body_count; ++i) {
    const scree_ReplayBody *body = &replay->bodies[i];
    if (body->obstacle) continue;
    plan->smallest = fmin(plan->smallest, body->shape.size);
    if (!scree_shape_is_ball(&body->shape)) plan->round = false;
  }
  if (!isfinite(plan->smallest)) plan->smallest = 0.0;
  scree_ReplayFrame frame = {.bodies_only = true};
  scree_Status status = SCREE_OK;
  const int looks = plan->count < 40 ? plan->count : 40;
  for (int s = 0; status == SCREE_OK && s < looks; ++s) {
    status = scree_replay_read(replay, plan->frame[spread_index(s, looks, plan->count)], &frame);
    if (status != SCREE_OK) break;
    *contacts = *contacts || frame.has_contacts;
    for (int i = 0; i < 3 * frame.bodies; i += 3) {
      const double *v = frame.velocity + i, *w = frame.angular + i;
      if (!frame.present[i / 3]) continue;
      plan->speed_max = fmax(plan->speed_max, hypot(hypot(v[0], v[1]), v[2]));
      plan->spin_max = fmax(plan->spin_max, hypot(hypot(w[0], w[1]), w[2]));
    }
  }
  scree_replay_frame_fini(&frame);
  return status;
}

static scree_Status deflated(scree_PageBlock *block, const scree_Log *log, double *total) {
  unsigned char *bytes;
  size_t size;
  const scree_Status status = scree_block_end(block, log, &bytes, &size);
  if (status == SCREE_OK) *total += (double)size;
  scree_free(bytes);
  return status;
}

/* Bytes of all frames, and of the contacts of one frame, from a few blocks; from the first alone
 * when that is already far above what there is room for. */
static scree_Status estimate(scree_Replay *replay, const scree_ReportPlan *plan, double room,
                             double *frames, double *contacts) {
  scree_PageBlock block = {0};
  scree_Status status = SCREE_OK;
  const int blocks = (plan->count + plan->block_frames - 1) / plan->block_frames;
  const int looks = blocks < SAMPLES ? blocks : SAMPLES;
  double sum = 0.0;
  int seen = 0;
  for (int s = 0; status == SCREE_OK && s < looks; ++s) {
    const int b = looks == blocks ? s : (2 * s + 1) * blocks / (2 * looks);
    const int left = plan->count - b * plan->block_frames;
    status = scree_report_frames(replay, plan, b, &block);
    if (status == SCREE_OK) status = deflated(&block, replay->log, &sum);
    seen += left < plan->block_frames ? left : plan->block_frames;
    if (sum * plan->count / seen > 4.0 * room) break;
  }
  *frames = seen ? sum * plan->count / seen : 0.0;
  sum = 0.0;
  if (*frames > 4.0 * room) {
    scree_block_fini(&block);
    return status;
  }
  const int places = plan->contacts < SAMPLES + 1 ? plan->contacts : SAMPLES + 1;
  for (int s = 0; status == SCREE_OK && s < places; ++s) {
    status = scree_report_contacts(replay, plan, spread_index(s, places, plan->count), &block);
    if (status == SCREE_OK) status = deflated(&block, replay->log, &sum);
  }
  *contacts = places ? sum / places : 0.0;
  scree_block_fini(&block);
  return status;
}

/* Level, frames and contacts for `bytes`. */
static scree_Status fit(scree_Replay *replay, scree_ReportPlan *plan, double bytes, bool contacts) {
  const int all = plan->count;
  double frames = 0.0, each = 0.0;
  for (int level = SCREE_REPORT_EXACT; level <= SCREE_REPORT_COMPACT; ++level) {
    plan->level = (scree_ReportLevel)level;
    keep_contacts(plan, contacts ? all : 0);
    const double share = level == SCREE_REPORT_EXACT ? bytes / 3.0 : 0.96 * bytes;
    const scree_Status status =
        estimate(replay, plan, level == SCREE_REPORT_COMPACT ? INFINITY : share, &frames, &each);
    if (status != SCREE_OK) return status;
    if (frames + each * plan->contacts <= share) return SCREE_OK;
  }
  /* Nine tenths for the bodies at most, the rest for contacts. */
  const double room = 0.96 * bytes;
  if (frames > 0.9 * room) {
    const double part = 0.9 * room / frames;
    const int kept = (int)(part * all);
    for (int k = 0; k < (kept > 1 ? kept : 1); ++k)
      plan->frame[k] = plan->frame[spread_index(k, kept, all)];
    plan->count = kept > 1 ? kept : 1;
    frames *= part;
  }
  keep_contacts(plan, contacts && each > 0.0 ? (int)fmin((room - frames) / each, plan->count) : 0);
  return SCREE_OK;
}

scree_Status scree_report_plan(scree_Replay *replay, const scree_ReportSettings *settings,
                               double bytes, scree_ReportPlan *plan) {
  *plan = (scree_ReportPlan){.block_frames = choose_block(replay)};
  plan->frame = SCREE_ALLOC(int, replay->frame_count);
  plan->contact = SCREE_ALLOC(int, replay->frame_count);
  if (!plan->frame || !plan->contact) {
    scree_report_plan_fini(plan);
    return scree_fail_memory(replay->log, "the list of frames");
  }
  const int most = settings->frames > 0 ? settings->frames : replay->frame_count;
  if (settings->only >= 0)
    plan->frame[0] = settings->only, plan->count = 1;
  else
    keep_frames(plan, most, replay->frame_count);
  bool contacts = false;
  scree_Status status = scree_replay_extent(replay, settings->only, &plan->extent);
  if (status == SCREE_OK) status = find_scales(replay, plan, &contacts);
  if (status == SCREE_OK)
    status = scree_render_scale(replay, SCREE_RENDER_VELOCITY, &plan->speed_range);
  if (status == SCREE_OK)
    status = scree_render_scale(replay, SCREE_RENDER_ANGULAR, &plan->spin_range);
  if (status == SCREE_OK && isinf(bytes)) {
    plan->level = SCREE_REPORT_EXACT;
    plan->stream = true;
    plan->block_frames = 1;
    keep_contacts(plan, contacts ? plan->count : 0);
  } else if (status == SCREE_OK) {
    status = fit(replay, plan, bytes, contacts);
  }
  if (status != SCREE_OK) scree_report_plan_fini(plan);
  return status;
}

/* The description of a run inside its page, as JSON. Every `<` is written as \u003c, so that no
 * text of a scene can end the script element that holds it. */
#include "run/sensor_units.h"
#include "scree/base.h"
#include "view/report.h"

#include <math.h>
#include <string.h>

static void put_text(FILE *file, const char *text) {
  fputc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c; ++c) {
    if (*c == '"' || *c == '\\')
      fprintf(file, "\\%c", *c);
    else if (*c < 32 || *c == '<' || *c == '>' || *c == '&' || *c == 127)
      fprintf(file, "\\u%04x", *c);
    else
      fputc(*c, file);
  }
  fputc('"', file);
}

static void put_real(FILE *file, double value) {
  if (isfinite(value))
    fprintf(file, "%.17g", value);
  else
    fputs("null", file);
}

static void put_reals(FILE *file, const double *values, int count) {
  fputc('[', file);
  for (int k = 0; k < count; ++k) {
    if (k) fputc(',', file);
    put_real(file, values[k]);
  }
  fputc(']', file);
}

static void put_frames(const scree_Replay *replay, const scree_ReportPlan *plan, FILE *file) {
  fputs(",\"times\":[", file);
  for (int k = 0; k < plan->count; ++k) {
    if (k) fputc(',', file);
    put_real(file, replay->times[plan->frame[k]]);
  }
  fputs("],\"steps\":[", file);
  for (int k = 0; k < plan->count; ++k)
    fprintf(file, "%s%lld", k ? "," : "", (long long)replay->steps[plan->frame[k]]);
  fprintf(file, "],\"blockFrames\":%d,\"contactFrames\":[", plan->block_frames);
  for (int k = 0; k < plan->contacts; ++k) fprintf(file, "%s%d", k ? "," : "", plan->contact[k]);
  fputs("]", file);
}

static void put_certificate(const scree_Replay *replay, FILE *file) {
  scree_CertificateText text;
  scree_replay_verdict(replay, &text);
  fprintf(file, ",\"certificate\":{\"good\":%s,\"verdict\":", text.good ? "true" : "false");
  put_text(file, text.verdict);
  fputs(",\"lines\":[", file);
  for (int k = 0; k < text.count; ++k) {
    fputs(k ? ",{\"label\":" : "{\"label\":", file);
    put_text(file, text.line[k].label);
    fputs(",\"text\":", file);
    put_text(file, text.line[k].text);
    fprintf(file, ",\"good\":%s}", text.line[k].good ? "true" : "false");
  }
  fputs("]}", file);
}

static void put_notes(const scree_Replay *replay, const scree_ReportPlan *plan, FILE *file) {
  static const char *const precision[] = {
      "Numbers are the run's own, to the last bit.", "Numbers are kept to single precision.",
      ("Numbers are kept to the precision of a screen, to stay within the page's budget: scree "
       "view shows the run's own.")};
  char text[192];
  fputs(",\"notes\":[", file);
  put_text(file, precision[plan->level]);
  if (plan->count < replay->frame_count) {
    snprintf(text, sizeof text, "%d of the run's %d saved frames are in this page.", plan->count,
             replay->frame_count);
    fputc(',', file);
    put_text(file, text);
  }
  if (plan->contacts > 0 && plan->contacts < plan->count) {
    snprintf(text, sizeof text,
             "Contacts are kept for %d of the %d frames; the nearest of these are shown.",
             plan->contacts, plan->count);
    fputc(',', file);
    put_text(file, text);
  } else if (plan->contacts == 0) {
    fputc(',', file);
    put_text(file, "This page has no contacts: force chains and stress cannot be shown.");
  }
  if (replay->note[0]) {
    fputc(',', file);
    put_text(file, replay->note);
  }
  fputs("]", file);
}

enum { NAMES_MAX = 5000 };

/* Names of bodies that have one, by number. */
static void put_names(const scree_Replay *replay, FILE *file) {
  int count = 0;
  fputs(",\"names\":{", file);
  for (int b = 0; b < replay->body_count && count < NAMES_MAX; ++b) {
    const char *name = scree_replay_body_name(replay, b);
    if (!name) continue;
    fprintf(file, "%s\"%d\":", count++ ? "," : "", b);
    put_text(file, name);
  }
  fputc('}', file);
}

/* Units of the sensors that have one. */
static void put_sensor_units(const scree_Replay *replay, FILE *file) {
  scree_SensorUnits units;
  int count = 0;
  scree_sensor_units_read(replay->directory, &units);
  fputs(",\"sensorUnits\":{", file);
  for (int k = 0; k < units.count; ++k) {
    if (!units.sensor[k].unit[0]) continue;
    if (count++) fputc(',', file);
    put_text(file, units.sensor[k].name);
    fputc(':', file);
    put_text(file, units.sensor[k].unit);
  }
  fputc('}', file);
}

void scree_report_meta(const scree_Replay *replay, const scree_ReportPlan *plan, FILE *file) {
  const scree_ReplayExtent *extent = &plan->extent;
  char text[192];
  int movers = 0;
  for (int i = 0; i < replay->body_count; ++i) movers += !replay->bodies[i].obstacle;
  fputs("{\"format\":1,\"title\":", file);
  put_text(file, replay->title);
  const char *folder = replay->directory ? strrchr(replay->directory, '/') : NULL;
  fputs(",\"folder\":", file);
  put_text(file, folder && folder[1] ? folder + 1 : replay->directory ? replay->directory : "");
  fprintf(file, ",\"program\":\"scree %s\",\"subtitle\":", scree_version());
  snprintf(text, sizeof text, "%dD, %d bod%s, %d obstacle%s, %lld steps", replay->dimension, movers,
           movers == 1 ? "y" : "ies", replay->body_count - movers,
           replay->body_count - movers == 1 ? "" : "s", (long long)replay->certificate.steps);
  put_text(file, text);
  fprintf(file,
          ",\"dimension\":%d,\"bodies\":%d,\"links\":%d,\"runs\":%d,\"live\":%s,\"stream\":%s,"
          "\"turns\":%s,"
          "\"telemetry\":%s,\"h\":",
          replay->dimension, replay->body_count, replay->joint_count,
          plan->runs > 1 ? plan->runs : 1, plan->live ? "true" : "false",
          plan->stream ? "true" : "false", plan->level == SCREE_REPORT_COMPACT ? "false" : "true",
          replay->rows ? "true" : "false");
  put_real(file, replay->h > 0.0 ? replay->h : 1.0);
  fputs(",\"origin\":", file);
  put_reals(file, extent->origin, 3);
  fputs(",\"length\":", file);
  put_real(file, extent->length);
  fputs(",\"bounds\":[", file);
  put_reals(file, extent->lower, 3);
  fputc(',', file);
  put_reals(file, extent->upper, 3);
  fputs("],\"up\":", file);
  put_reals(file, extent->up, 3);
  fputs(",\"ranges\":{\"velocity\":", file);
  put_real(file, plan->speed_range);
  fputs(",\"angular\":", file);
  put_real(file, plan->spin_range);
  fputs("},\"kinds\":[", file);
  for (int k = 0; k < SCREE_SHAPE_KINDS; ++k)
    fprintf(file, "%s\"%s%s\"", k ? "," : "", scree_shape_type((scree_ShapeKind)k)->name,
            k == SCREE_SHAPE_DRUM_2D ? "-2d" : "");
  fputs("],\"materials\":[", file);
  for (int k = 0; k < replay->material_count; ++k) {
    if (k) fputc(',', file);
    put_text(file, replay->materials[k]);
  }
  fputs("],\"materialColours\":[", file);
  for (int k = 0; k < replay->material_count; ++k) {
    const scree_ReplayColour *c = replay->colours ? &replay->colours[k] : NULL;
    if (c && c->given)
      fprintf(file, "%s[%d,%d,%d]", k ? "," : "", c->rgb[0], c->rgb[1], c->rgb[2]);
    else
      fputs(k ? ",null" : "null", file);
  }
  fputc(']', file);
  fputs(",\"fields\":[", file);
  for (int k = 0; k < replay->field_count; ++k) {
    if (k) fputc(',', file);
    put_text(file, replay->fields[k]);
  }
  fputc(']', file);
  put_names(replay, file);
  put_sensor_units(replay, file);
  put_frames(replay, plan, file);
  put_certificate(replay, file);
  /* as a JSON string: a damaged file breaks its own section only, not the page */
  if (replay->convergence) {
    fputs(",\"convergence\":", file);
    put_text(file, replay->convergence);
  }
  put_notes(replay, plan, file);
  fputc('}', file);
}

/* The results of `scree converge`: conclusions in words, a table, JSON (see converge.h). */
#include "cli/converge.h"

#include "cli/json.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  N = SCREE_CONVERGE_INTERVALS,
  LATE = N - N / 2, /* intervals of the second half */
  BINS = SCREE_CONVERGE_BINS
};

bool converge_is_empty(const scree_Convergence *all, const scree_ConvergeQuantity *quantity) {
  for (int r = 0; r < all->runs; ++r)
    for (int i = 0; i < N * quantity->components; ++i)
      if (isfinite(quantity->series[r][i]) && quantity->series[r][i] != 0.0) return false;
  return true;
}

/* ---- conclusions in words -------------------------------------------------------------------- */

/* Two digits, rounded down: a recommendation must not exceed the computed value. */
static double round_down(double value) {
  if (!(value > 0.0) || !isfinite(value)) return value;
  const int power = (int)floor(log10(value)) - 1;
  char text[32]; /* to the nearest double of the decimal number */
  snprintf(text, sizeof text, "%.0fe%d", floor(value / pow(10.0, power) * (1.0 + 1e-9)), power);
  return strtod(text, NULL);
}

double converge_step(const ConvergeResult *result) {
  const double factor = result->all.advice.step;
  return factor == 1.0 ? result->variant[0].step : round_down(factor * result->variant[0].step);
}

double converge_tolerance(const ConvergeResult *result) {
  const double factor = result->all.advice.tolerance, own = result->variant[0].tolerance;
  if (!result->all.tolerance_run) return NAN;
  return factor == 1.0 ? own : round_down(factor * own);
}

/* "0.42 %", "< 0.01 %" */
static void percent(double share, char *text, size_t size) {
  if (!isfinite(share))
    snprintf(text, size, "-");
  else if (share == 0.0)
    snprintf(text, size, "0 %%");
  else if (share < 1e-4)
    snprintf(text, size, "< 0.01 %%");
  else if (share < 0.01)
    snprintf(text, size, "%.2g %%", 100.0 * share);
  else if (share < 0.1)
    snprintf(text, size, "%.2f %%", 100.0 * share);
  else
    snprintf(text, size, "%.0f %%", 100.0 * share);
}

static const char *name_of(const scree_Convergence *all, int quantity) {
  return quantity >= 0 ? all->quantity[quantity].name : "nothing";
}

static void say_bodies(const ConvergeResult *result, char *text, size_t size) {
  const scree_Convergence *all = &result->all;
  const scree_ConvergeBodies *bodies = &all->bodies;
  const char *fine = result->variant[all->levels - 1].label,
             *coarse = result->variant[all->levels - 2].label;
  char most[32];
  percent(bodies->largest, most, sizeof most);
  if (bodies->chaotic)
    snprintf(text, size,
             "single bodies diverge from t = %.3g s on: those of %s and %s are then more than a "
             "tenth of their size apart, and smaller steps do not help; averages are taken over "
             "halves of the run",
             bodies->diverge, coarse, fine);
  else if (isfinite(bodies->diverge))
    snprintf(text, size,
             "the bodies of %s and %s are more than a tenth of their size apart from t = %.3g s "
             "on, but come closer with smaller steps",
             coarse, fine, bodies->diverge);
  else
    snprintf(text, size, "largest mean distance of the same bodies of %s and %s: %s of their size",
             coarse, fine, most);
}

static bool say_step(const ConvergeResult *result, char *text, size_t size) {
  const scree_Convergence *all = &result->all;
  const scree_ConvergeAdvice *advice = &all->advice;
  const double h = result->variant[0].step, step = converge_step(result);
  char worst[32], limiting[32], accuracy[32];
  snprintf(accuracy, sizeof accuracy, "%.3g %%", 100.0 * all->accuracy);
  percent(advice->worst >= 0 ? all->quantity[advice->worst].error : 0.0, worst, sizeof worst);
  const scree_ConvergeQuantity *limit =
      advice->limiting >= 0 ? &all->quantity[advice->limiting] : NULL;
  percent(limit ? limit->error : 0.0, limiting, sizeof limiting);
  if (limit && isnan(advice->step))
    snprintf(
        text, size,
        "use less than %.3g s, the smallest that was run: %s still changes by %s, and shows no "
        "order%s",
        result->variant[all->levels - 1].step, limit->name, limiting,
        isfinite(all->bodies.diverge)
            ? "; or, if it is scatter, since single bodies are apart, compare means over several "
              "starts with --seeds 8"
            : "");
  else if (limit && advice->step < 1.0 && isnan(limit->order))
    snprintf(text, size, "use %.3g s (%.2g h): %s has the error %s at h, and no observed order",
             step, advice->step, limit->name, limiting);
  else if (limit && advice->step < 1.0)
    snprintf(text, size, "use %.3g s (%.2g h): %s has the error %s at h, order %.1f", step,
             advice->step, limit->name, limiting, limit->order);
  else if (advice->duration > 1.0)
    snprintf(
        text, size,
        "%.4g s cannot be judged: the motion is chaotic, and the differences are the scatter of "
        "single runs, up to %s (%s), not errors of the step. Use --seeds N, which compares means "
        "over N starts: 8 for a first look, about %.0f for %s",
        h, worst, name_of(all, advice->worst),
        fmin(SCREE_CONVERGE_STARTS_MOST, fmax(8.0, ceil(advice->duration))), accuracy);
  else if (advice->step > 1.25)
    snprintf(text, size, "%.4g s is fine: largest error %s (%s); %.2g s is sufficient", h, worst,
             name_of(all, advice->worst), step);
  else
    snprintf(text, size, "%.4g s is fine: largest error %s (%s)", h, worst,
             name_of(all, advice->worst));
  return limit == NULL ? advice->duration <= 1.0 : advice->step >= 1.0 && advice->duration <= 1.0;
}

static bool say_tolerance(const ConvergeResult *result, char *text, size_t size) {
  const scree_Convergence *all = &result->all;
  const scree_ConvergeAdvice *advice = &all->advice;
  const double own = result->variant[0].tolerance;
  const double error =
      advice->worst_tolerance >= 0 ? all->quantity[advice->worst_tolerance].tolerance : 0.0;
  char worst[32];
  percent(error, worst, sizeof worst);
  const char *name = name_of(all, advice->worst_tolerance);
  if (advice->tolerance < 1.0)
    snprintf(text, size, "use %.2g: %s changes by %s with a tenth of %.2g",
             converge_tolerance(result), name, worst, own);
  else if (error > all->accuracy)
    snprintf(text, size,
             "%.2g cannot be judged: a tenth of it changes %s by %s, as much as the "
             "scatter",
             own, name, worst);
  else
    snprintf(text, size, "%.2g is fine: largest change with a tenth of it %s (%s)", own, worst,
             name);
  return error <= all->accuracy;
}

/* "0.42 +- 0.11 %": an error and its standard error. */
static void measured(const scree_ConvergeBounds *b, char *text, size_t size) {
  char error[32], deviation[32];
  percent(b->error, error, sizeof error);
  percent(b->deviation, deviation, sizeof deviation);
  snprintf(text, size, "%s +- %s", error, deviation);
}

/* The same for means over several starts. */
static bool say_step_of_starts(const ConvergeResult *result, char *text, size_t size) {
  const scree_Convergence *all = &result->all;
  const scree_ConvergeAdvice *advice = &all->advice;
  const double h = result->variant[0].step;
  char worst[72], accuracy[32];
  snprintf(accuracy, sizeof accuracy, "%.3g %%", 100.0 * all->accuracy);
  const bool small = advice->step < 1.0; /* some error is shown to be above the accuracy */
  const int which = small ? advice->limiting : advice->worst;
  if (which < 0) {
    snprintf(text, size, "%.4g s is fine", h);
    return true;
  }
  const scree_ConvergeQuantity *q = &all->quantity[which];
  measured(&q->starts.step, worst, sizeof worst);
  if (small)
    snprintf(text, size, "use %.3g s (%.2g h): %s has the error %s at h", converge_step(result),
             advice->step, q->name, worst);
  else if (q->starts.step.high <= all->accuracy)
    snprintf(text, size, "%.4g s is fine: largest error %s (%s)", h, worst, q->name);
  else
    snprintf(text, size,
             "%.4g s is neither confirmed nor refuted at an accuracy of %s: the least certain "
             "error is %s (%s)",
             h, accuracy, worst, q->name);
  return !small && q->starts.step.high <= all->accuracy;
}

static bool say_tolerance_of_starts(const ConvergeResult *result, char *text, size_t size) {
  const scree_Convergence *all = &result->all;
  const scree_ConvergeAdvice *advice = &all->advice;
  const double own = result->variant[0].tolerance;
  char worst[72];
  if (advice->worst_tolerance < 0) {
    snprintf(text, size, "%.2g is fine", own);
    return true;
  }
  const scree_ConvergeQuantity *q = &all->quantity[advice->worst_tolerance];
  const bool good = q->starts.tolerance.high <= all->accuracy;
  measured(&q->starts.tolerance, worst, sizeof worst);
  if (advice->tolerance < 1.0)
    snprintf(text, size, "use %.2g: a tenth of %.2g changes an average by more than the accuracy",
             converge_tolerance(result), own);
  else
    snprintf(text, size, "%.2g is %s: %s change with a tenth of it %s (%s)", own,
             good ? "fine" : "not decided", good ? "largest" : "least certain", worst, q->name);
  return good;
}

static bool say_starts(const ConvergeResult *result, char *text, size_t size) {
  const scree_Convergence *all = &result->all;
  const scree_ConvergeAdvice *advice = &all->advice;
  double scatter = 0.0;
  for (int k = 0; k < all->count; ++k)
    if (all->quantity[k].judged) scatter = fmax(scatter, all->quantity[k].starts.scatter);
  char most[32];
  percent(scatter, most, sizeof most);
  const int used = snprintf(
      text, size, "means over %d starts; single runs scatter by up to %s (standard deviation)",
      all->starts, most);
  if (advice->starts > 0 && used > 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, "; --resume --seeds %d%s would tell more (%s)",
             advice->starts, advice->starts == SCREE_CONVERGE_STARTS_MOST ? " or more" : "",
             name_of(all, advice->open));
  return advice->starts == 0;
}

/* Runs with steps that are not certified, "h, h/4"; false when all are. */
static bool find_uncertified(const ConvergeResult *result, char *names, size_t size) {
  size_t used = 0;
  names[0] = '\0';
  for (int r = 0; r < result->runs; ++r)
    if (result->all.certificate[r].above > 0 && used < size)
      used += (size_t)snprintf(names + used, size - used, "%s%s", used ? ", " : "",
                               result->variant[r].label);
  return used > 0;
}

static ConvergeLine *add_line(ConvergeText *text, const char *label) {
  ConvergeLine *line = &text->line[text->count++];
  line->label = label;
  return line;
}

void converge_conclude(const ConvergeResult *result, ConvergeText *text) {
  const scree_Convergence *all = &result->all;
  char accuracy[32], uncertified[96];
  *text = (ConvergeText){.within = all->advice.within};
  snprintf(accuracy, sizeof accuracy, "%.3g %%", 100.0 * all->accuracy);
  const bool starts = all->starts > 1;
  add_line(text, "bodies")->good = true;
  say_bodies(result, text->line[0].text, sizeof text->line[0].text);
  ConvergeLine *line = add_line(text, "step");
  line->good = (starts ? say_step_of_starts : say_step)(result, line->text, sizeof line->text);
  if (all->tolerance_run) {
    line = add_line(text, "tolerance");
    line->good =
        (starts ? say_tolerance_of_starts : say_tolerance)(result, line->text, sizeof line->text);
  }
  if (starts) {
    line = add_line(text, "starts");
    line->good = say_starts(result, line->text, sizeof line->text);
  }
  if (find_uncertified(result, uncertified, sizeof uncertified)) {
    text->within = false;
    line = add_line(text, "certificate");
    snprintf(line->text, sizeof line->text, "NOT MET: steps of %s are above the tolerance",
             uncertified);
  }
  const char *shown =
      starts && !all->advice.within && !(all->advice.step < 1.0) && !(all->advice.tolerance < 1.0)
          ? " shown to be"
          : "";
  snprintf(text->verdict, sizeof text->verdict,
           "%s averages%s are%s within %s at the scene's own step and tolerance.",
           all->advice.within ? "All" : "Not all",
           all->windows == 2 ? " over halves of the run" : "", shown, accuracy);
  /* one run of a chaotic motion: neither verdict is about the step */
  if (!starts && all->bodies.chaotic && !all->advice.within && !(all->advice.step < 1.0))
    snprintf(
        text->verdict, sizeof text->verdict,
        "The motion is chaotic: single runs differ by their scatter, whatever the step. Compare "
        "means over several starts: --seeds 8.");
}

/* ---- table ----------------------------------------------------------------------------------- */

/* An error of the table; of means over several starts with its standard error. */
static void cell(const scree_Convergence *all, double error, const scree_ConvergeBounds *bounds,
                 char *text, size_t size) {
  if (all->starts > 1)
    measured(bounds, text, size);
  else
    percent(error, text, size);
}

static void print_row(const scree_Convergence *all, const scree_ConvergeQuantity *q,
                      const CliColours *colour) {
  const bool starts = all->starts > 1;
  char step[72], tolerance[72], order[16] = "-";
  cell(all, q->error, &q->starts.step, step, sizeof step);
  cell(all, all->tolerance_run ? q->tolerance : NAN, &q->starts.tolerance, tolerance,
       sizeof tolerance);
  if (!isnan(q->order)) snprintf(order, sizeof order, "%.1f", q->order);
  const bool above =
      q->judged &&
      (starts ? q->starts.step.low > all->accuracy || q->starts.tolerance.low > all->accuracy
              : q->error > all->accuracy || q->tolerance > all->accuracy);
  const bool open =
      q->judged && starts && !above &&
      (q->starts.step.high > all->accuracy || q->starts.tolerance.high > all->accuracy);
  const int width = starts ? 19 : 10;
  printf("  %s%-28s %14.6g %-6s %*s %*s %6s%s%s%s\n",
         above        ? colour->warn
         : !q->judged ? colour->dim
                      : "",
         q->name, q->value, q->unit, width, step, width, tolerance, order,
         q->judged ? "" : "  not judged", open ? "  not told" : "", colour->off);
}

void converge_print_table(const ConvergeResult *result, const ConvergeText *text) {
  const scree_Convergence *all = &result->all;
  const CliColours colour = cli_colours();
  const int width = all->starts > 1 ? 19 : 10;
  printf("%s%s%s: steps %.4g to %.4g s", colour.bold, result->folder, colour.off,
         result->variant[0].step, result->variant[all->levels - 1].step);
  if (all->tolerance_run)
    printf(", tolerances %.2g and %.2g", result->variant[0].tolerance,
           result->variant[all->levels].tolerance);
  printf(", to t = %.4g s", all->end);
  if (all->starts > 1) printf(", %d starts", all->starts);
  printf("\n  %-28s %14s %-6s %*s %*s %6s\n", "average", "value", "", width,
         all->starts == 1 && all->bodies.chaotic ? "scatter" : "step", width, "tolerance", "order");
  for (int k = 0; k < all->count; ++k)
    if (!converge_is_empty(all, &all->quantity[k])) print_row(all, &all->quantity[k], &colour);
  for (int k = 0; k < text->count; ++k)
    printf("  %-11s %s%s%s\n", text->line[k].label, text->line[k].good ? "" : colour.warn,
           text->line[k].text, colour.off);
  printf("%s%s%s\n", text->within ? colour.good : colour.warn, text->verdict, colour.off);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Standard error and bounds beside the error itself. */
static void put_bounds(CliJson *json, const char *error, const scree_ConvergeBounds *bounds) {
  char key[48];
  snprintf(key, sizeof key, "%s_deviation", error);
  cli_json_real(json, key, bounds->deviation);
  snprintf(key, sizeof key, "%s_low", error);
  cli_json_real(json, key, bounds->low);
  snprintf(key, sizeof key, "%s_high", error);
  cli_json_real(json, key, bounds->high);
}

static void put_quantity(CliJson *json, const scree_Convergence *all,
                         const scree_ConvergeQuantity *q) {
  cli_json_text(json, "quantity", q->name);
  cli_json_text(json, "unit", q->unit);
  cli_json_real(json, "value", q->value);
  cli_json_real(json, "error", q->error);
  cli_json_real(json, "error_tolerance", all->tolerance_run ? q->tolerance : NAN);
  cli_json_real(json, "order", q->order);
  cli_json_real(json, "scale", q->scale);
  cli_json_real(json, "limit", q->limit);
  cli_json_bool(json, "judged", q->judged);
  if (all->starts == 1) return;
  put_bounds(json, "error", &q->starts.step);
  put_bounds(json, "error_tolerance", &q->starts.tolerance);
  cli_json_real(json, "order_deviation", q->starts.order_deviation);
  cli_json_real(json, "value_deviation", q->value_deviation);
  cli_json_real(json, "scatter", q->starts.scatter);
}

static void put_verdict(CliJson *json, const ConvergeResult *result, const ConvergeText *text) {
  const scree_Convergence *all = &result->all;
  const scree_ConvergeAdvice *advice = &all->advice;
  cli_json_text(json, "verdict", text->verdict);
  cli_json_bool(json, "within", text->within);
  cli_json_real(json, "accuracy", all->accuracy);
  cli_json_real(json, "time", all->end);
  cli_json_real(json, "step", result->variant[0].step);
  cli_json_real(json, "tolerance", result->variant[0].tolerance);
  cli_json_text(json, "worst", advice->worst >= 0 ? name_of(all, advice->worst) : NULL);
  cli_json_real(json, "error", advice->worst >= 0 ? all->quantity[advice->worst].error : NAN);
  cli_json_real(json, "recommended_step", converge_step(result));
  cli_json_real(json, "recommended_tolerance", converge_tolerance(result));
  cli_json_real(json, "longer", advice->duration);
  cli_json_int(json, "starts", all->starts);
  cli_json_int(json, "starts_wanted", advice->starts);
  cli_json_bool(json, "chaotic", all->bodies.chaotic);
  cli_json_real(json, "diverge", all->bodies.diverge);
}

void converge_print_json(const ConvergeResult *result, const ConvergeText *text, int status) {
  CliJson json;
  for (int k = 0; k < result->all.count; ++k) {
    cli_json_begin(&json, stdout);
    put_quantity(&json, &result->all, &result->all.quantity[k]);
    cli_json_end(&json);
  }
  cli_json_begin(&json, stdout);
  put_verdict(&json, result, text);
  cli_json_text(&json, "scene", result->scene);
  cli_json_text(&json, "folder", result->folder);
  cli_json_int(&json, "status", status);
  cli_json_end(&json);
}

/* Seven digits are enough for plots. */
static void put_short(CliJson *json, const char *key, const double *values, int count, int stride) {
  cli_json_open(json, key, '[');
  for (int k = 0; k < count; ++k) {
    char text[40];
    const double value = values[k * stride];
    snprintf(text, sizeof text, isfinite(value) ? "%s%.7g" : "%snull", k ? "," : "", value);
    fputs(text, json->file);
  }
  cli_json_close(json, ']');
}

static void put_reals(CliJson *json, const char *key, const double *values, int count) {
  cli_json_open(json, key, '[');
  for (int k = 0; k < count; ++k) cli_json_real(json, NULL, values[k]);
  cli_json_close(json, ']');
}

static void put_runs(CliJson *json, const ConvergeResult *result) {
  cli_json_open(json, "runs", '[');
  for (int r = 0; r < result->runs; ++r) {
    const scree_ConvergeCertificate *c = &result->all.certificate[r];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "folder", result->variant[r].name);
    cli_json_text(json, "label", result->variant[r].label);
    cli_json_real(json, "step", result->variant[r].step);
    cli_json_real(json, "tolerance", result->variant[r].tolerance);
    cli_json_int(json, "steps", c->steps);
    cli_json_int(json, "steps_above", c->above);
    cli_json_real(json, "error_max", c->error);
    cli_json_real(json, "penetration_max", c->penetration);
    cli_json_real(json, "energy_created", c->energy_created);
    cli_json_real(json, "seconds", c->seconds);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void put_bodies(CliJson *json, const scree_Convergence *all) {
  const scree_ConvergeBodies *bodies = &all->bodies;
  cli_json_open(json, "bodies", '{');
  put_short(json, "times", bodies->times, bodies->frames, 1);
  cli_json_open(json, "distance", '[');
  for (int k = 0; k + 1 < all->levels; ++k)
    put_short(json, NULL, bodies->distance[k], bodies->frames, 1);
  cli_json_close(json, ']');
  cli_json_close(json, '}');
}

/* Series of all runs; of a profile its mean over the last half, bin by bin. */
static void put_series(CliJson *json, const scree_Convergence *all,
                       const scree_ConvergeQuantity *q) {
  put_reals(json, "errors", q->errors, all->levels);
  put_reals(json, "values", q->values, all->runs);
  cli_json_open(json, q->components == 1 ? "series" : "profiles", '[');
  for (int r = 0; r < all->runs; ++r) {
    if (q->components == 1) {
      put_short(json, NULL, q->series[r], N, 1);
      continue;
    }
    double mean[3 * BINS] = {0};
    for (int c = 0; c < q->components; ++c)
      for (int i = N / 2; i < N; ++i) mean[c] += q->series[r][i * q->components + c] / LATE;
    put_short(json, NULL, mean, q->components, 1);
  }
  cli_json_close(json, ']');
}

void converge_write_json(const ConvergeResult *result, const ConvergeText *text, FILE *file) {
  const scree_Convergence *all = &result->all;
  CliJson json;
  cli_json_begin(&json, file);
  cli_json_text(&json, "format", "scree-converge");
  cli_json_int(&json, "version", 1);
  cli_json_text(&json, "scree", scree_version());
  cli_json_text(&json, "scene", result->scene);
  cli_json_text(&json, "title", result->title);
  put_verdict(&json, result, text);
  cli_json_open(&json, "lines", '[');
  for (int k = 0; k < text->count; ++k) {
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "label", text->line[k].label);
    cli_json_text(&json, "text", text->line[k].text);
    cli_json_bool(&json, "good", text->line[k].good);
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  cli_json_int(&json, "windows", all->windows);
  cli_json_int(&json, "intervals", N);
  cli_json_int(&json, "levels", all->levels);
  cli_json_real(&json, "profile_low", all->profile.low);
  cli_json_real(&json, "profile_high", all->profile.high);
  put_runs(&json, result);
  put_bodies(&json, all);
  cli_json_open(&json, "quantities", '[');
  for (int k = 0; k < all->count; ++k) {
    const scree_ConvergeQuantity *q = &all->quantity[k];
    cli_json_open(&json, NULL, '{');
    put_quantity(&json, all, q);
    cli_json_bool(&json, "empty", converge_is_empty(all, q));
    cli_json_int(&json, "components", q->components);
    put_series(&json, all, q);
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  cli_json_end(&json);
}

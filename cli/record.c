/* Results of a solve as JSON and text (see record.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/record.h"

#include "cli/json.h"

#include <string.h>

enum { REPEATS = 20 };
static const double SHORT = 0.02; /* seconds that repeats may add up to */

scree_Status cli_solve(const scree_Problem *problem, const scree_SolveSettings *settings, double *r,
                       double *u, scree_SolveInfo *info, const scree_Log *log) {
  scree_Status status = scree_solve(problem, settings, r, u, info, log);
  if (settings->ranks) return status; /* ranks would not agree on the number of repeats */
  scree_SolveSettings again = *settings;
  again.progress = NULL; /* a repeat must not be interrupted: it overwrites the result */
  again.time_limit = 0.0;
  double total = info->seconds;
  for (int k = 1; k < REPEATS && status == SCREE_OK && total < SHORT; ++k) {
    scree_SolveInfo repeat;
    status = scree_solve(problem, &again, r, u, &repeat, NULL);
    if (repeat.seconds < info->seconds) *info = repeat;
    total += repeat.seconds;
  }
  return status;
}

static void write_stages(CliJson *json, const scree_SolveInfo *info) {
  cli_json_open(json, "stages", '[');
  for (int k = 0; k < info->nstages; ++k) {
    const scree_SolveStage *stage = &info->stages[k];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", stage->name);
    cli_json_real(json, "error_before", stage->error_before);
    cli_json_real(json, "error_after", stage->error_after);
    cli_json_int(json, "iterations", stage->iterations);
    cli_json_int(json, "factorisations", stage->factorisations);
    cli_json_real(json, "work", stage->work);
    cli_json_real(json, "seconds", stage->seconds);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void write_measures(CliJson *json, const CliRecord *record) {
  const scree_SolveInfo *info = record->info;
  const scree_Measures *measures = &info->measures;
  cli_json_real(json, "error", measures->error);
  cli_json_real(json, "error_siconos", measures->error_siconos);
  cli_json_int(json, "iterations", info->iterations);
  cli_json_real(json, "seconds", info->seconds);
  cli_json_real(json, "value", info->value);
  cli_json_real(json, "eps_glob", measures->eps_glob);
  cli_json_real(json, "merit", measures->merit);
  cli_json_int(json, "worst_contact", measures->worst_contact);
  cli_json_real(json, "worst_error", measures->worst_error);
  cli_json_real(json, "cone_violation", measures->cone_violation);
  if (record->law == SCREE_ASSOCIATED) {
    cli_json_real(json, "dilatation_max", measures->dilatation_max);
    cli_json_real(json, "dilatation_mean", measures->dilatation_mean);
  }
  if (record->internal) {
    cli_json_int(json, "internal_contacts", record->internal->contacts);
    cli_json_real(json, "internal_residual", record->internal->residual);
  }
  cli_json_int(json, "factorisations", info->factorisations);
  cli_json_text(json, "method", info->solver);
  cli_json_real(json, "work", info->work);
  if (record->settings->ranks) {
    cli_json_int(json, "ranks", scree_ranks_size(record->settings->ranks));
    cli_json_int(json, "messages", info->sent.messages);
    cli_json_int(json, "bytes", info->sent.bytes);
    cli_json_int(json, "synchronisations", info->sent.synchronisations);
    cli_json_int(json, "bytes_to_divide", info->sent_before.bytes);
    cli_json_real(json, "imbalance", info->imbalance);
  }
  write_stages(json, info);
}

void cli_write_record(FILE *file, const CliRecord *record) {
  const bool solved = record->status <= SCREE_NOT_CONVERGED;
  CliJson json;
  cli_json_begin(&json, file);
  cli_json_text(&json, "problem", record->name);
  if (record->problem->d) {
    cli_json_int(&json, "dimension", record->problem->d);
    cli_json_int(&json, "contacts", record->problem->nc);
  } else {
    cli_json_null(&json, "dimension");
    cli_json_null(&json, "contacts");
  }
  cli_json_text(&json, "solver", record->settings->solver);
  cli_json_text(&json, "law", scree_flow_names[record->law]);
  cli_json_real(&json, "tol", record->settings->tolerance);
  cli_json_text(&json, "measure", scree_measure_names[record->settings->measure]);
  cli_json_bool(&json, "converged", solved && record->info->converged);
  if (solved) {
    write_measures(&json, record);
  } else {
    cli_json_null(&json, "error");
    cli_json_null(&json, "error_siconos");
    cli_json_null(&json, "iterations");
    cli_json_null(&json, "seconds");
    cli_json_text(&json, "message", record->message);
  }
  cli_json_text(&json, "status", scree_status_name(record->status));
  cli_json_end(&json);
}

const char *cli_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

void cli_format_seconds(double seconds, char *text, size_t size) {
  if (seconds < 0.9995e-3)
    snprintf(text, size, "%.0f us", seconds * 1e6);
  else if (seconds < 0.9995)
    snprintf(text, size, "%.1f ms", seconds * 1e3);
  else
    snprintf(text, size, "%.2f s", seconds);
}

void cli_format_short(double value, char *text, size_t size) {
  snprintf(text, size, "%g", value);
  char *zero = strstr(text, "e-0");
  if (zero) memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
}

/* Reading FCLIB files (include/scree/fclib.h; layout in docs/FILES.md): the local form becomes the
 * block rows of W, the global form is reduced in fclib_global.c. The file is not trusted: sizes are
 * compared with the datasets' real extents before memory is allocated, indices and pointers are
 * checked before use, numbers are finite, and the finished problem passes scree_problem_check.
 */
#include "scree/fclib.h"

#include "core/log.h"
#include "core/memory.h"
#include "fclib/fclib_global.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 256 };

/* ---- what both forms share ---------------------------------------------------------------------
 */

scree_Status scree_fclib_sizes(const scree_H5 *h5, const char *root, const char *vector, int *d,
                               int *nc) {
  char name[NAME_SIZE];
  snprintf(name, sizeof name, "%s/spacedim", root);
  scree_Status status = scree_h5_read_int(h5, name, d);
  if (status != SCREE_OK) return status;
  if (*d != 2 && *d != 3)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s = %d, expected 2 or 3", h5->path, name, *d);
  size_t contacts = 0, components = 0;
  snprintf(name, sizeof name, "%s/vectors/mu", root);
  status = scree_h5_count(h5, name, &contacts);
  if (status != SCREE_OK) return status;
  snprintf(name, sizeof name, "%s/vectors/%s", root, vector);
  status = scree_h5_count(h5, name, &components);
  if (status != SCREE_OK) return status;
  if (components > INT_MAX)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s has %zu values, expected at most %d",
                      h5->path, name, components, INT_MAX);
  if (components != contacts * (size_t)*d)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: %s has %zu values, expected %zu: spacedim = %d for each of the %zu "
                      "values of %s/vectors/mu",
                      h5->path, name, components, contacts * (size_t)*d, *d, contacts, root);
  *nc = (int)contacts;
  return SCREE_OK;
}

scree_Status scree_fclib_read_mu(const scree_H5 *h5, const char *root, int nc, double *mu) {
  char name[NAME_SIZE];
  snprintf(name, sizeof name, "%s/vectors/mu", root);
  scree_Status status = scree_h5_read_reals(h5, name, (size_t)nc, "one per contact", mu);
  if (status != SCREE_OK) return status;
  for (int c = 0; c < nc; ++c)
    if (mu[c] < 0.0)
      return scree_fail(h5->log, SCREE_BAD_INPUT,
                        "%s: %s[%d] = %g, expected a friction coefficient of at least 0", h5->path,
                        name, c, mu[c]);
  return SCREE_OK;
}

/* A matrix group is empty when its header has no rows or no columns. */
static bool matrix_empty(const scree_H5 *h5, const char *name) {
  char field[NAME_SIZE + 2];
  const scree_H5 quiet = {.path = h5->path, .file = h5->file, .bytes = h5->bytes};
  int m = -1, n = -1;
  snprintf(field, sizeof field, "%s/m", name);
  if (scree_h5_read_int(&quiet, field, &m) != SCREE_OK) return false;
  snprintf(field, sizeof field, "%s/n", name);
  if (scree_h5_read_int(&quiet, field, &n) != SCREE_OK) return false;
  return m == 0 || n == 0;
}

scree_Status scree_fclib_refuse(const scree_H5 *h5, const char *root, const char *const *matrices,
                                const char *vector) {
  char name[NAME_SIZE];
  for (int k = 0; matrices[k]; ++k) {
    snprintf(name, sizeof name, "%s/%s", root, matrices[k]);
    if (scree_h5_has(h5, name) && !matrix_empty(h5, name))
      return scree_fail(h5->log, SCREE_BAD_INPUT,
                        "%s: found %s: equality constraints are not supported, expected contacts "
                        "only",
                        h5->path, name);
  }
  snprintf(name, sizeof name, "%s/vectors/%s", root, vector);
  size_t count = 0;
  if (!scree_h5_has(h5, name)) return SCREE_OK;
  scree_Status status = scree_h5_count(h5, name, &count);
  if (status != SCREE_OK || count == 0) return status;
  return scree_fail(h5->log, SCREE_BAD_INPUT,
                    "%s: found %s with %zu values: equality constraints are not supported, "
                    "expected contacts only",
                    h5->path, name, count);
}

/* ---- the local form ----------------------------------------------------------------------------
 */

static scree_Status read_local(const scree_H5 *h5, scree_Problem *problem, scree_FclibInfo *info) {
  const char *const equalities[] = {"V", "R", NULL};
  int d = 0, nc = 0;
  scree_Status status = scree_fclib_refuse(h5, "/fclib_local", equalities, "s");
  if (status == SCREE_OK) status = scree_fclib_sizes(h5, "/fclib_local", "q", &d, &nc);
  if (status != SCREE_OK) return status;
  scree_Sparse W;
  status = scree_sparse_read(h5, "/fclib_local/W", nc * d, nc * d, false, &W);
  if (status != SCREE_OK) return status;
  info->asymmetry = scree_sparse_asymmetry(&W);
  status = scree_problem_create_csr(problem, d, nc, W.row, W.col, W.x, NULL, NULL, false, h5->log);
  scree_sparse_fini(&W);
  if (status == SCREE_OK) status = scree_fclib_read_mu(h5, "/fclib_local", nc, problem->mu);
  if (status == SCREE_OK)
    status = scree_h5_read_reals(h5, "/fclib_local/vectors/q", (size_t)nc * (size_t)d,
                                 "contacts x spacedim", problem->q);
  return status;
}

static scree_Status read_global(const scree_H5 *h5, scree_Problem *problem, scree_FclibInfo *info) {
  scree_Global global;
  scree_Status status = scree_global_read(h5, &global);
  if (status != SCREE_OK) return status;
  info->global = true;
  info->dofs = global.nd;
  status = scree_global_reduce(h5, &global, problem);
  scree_global_fini(&global);
  return status;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static int count_guesses(const scree_H5 *h5) {
  int count = 0;
  for (int k = 0; k < INT_MAX; ++k) {
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "/guesses/%d", k);
    if (scree_h5_has(h5, name))
      ++count;
    else if (k > 0)
      break; /* FCLIB counts from 1, others from 0 */
  }
  return count;
}

static void read_info(const scree_H5 *h5, const char *root, scree_FclibInfo *info) {
  char name[NAME_SIZE];
  snprintf(name, sizeof name, "%s/info/title", root);
  scree_h5_read_text(h5, name, info->title, sizeof info->title);
  snprintf(name, sizeof name, "%s/info/description", root);
  scree_h5_read_text(h5, name, info->description, sizeof info->description);
  snprintf(name, sizeof name, "%s/info/math_info", root);
  scree_h5_read_text(h5, name, info->math_info, sizeof info->math_info);
  info->has_solution = scree_h5_has(h5, "/solution/r") && scree_h5_has(h5, "/solution/u");
  info->guesses = count_guesses(h5);
}

/* Log callback that adds the name of the file to messages of checks. */
typedef struct Prefix {
  const char *path;
  const scree_Log *log;
} Prefix;

static void write_prefixed(void *user, scree_LogLevel level, const char *message) {
  const Prefix *prefix = user;
  scree_report(prefix->log, level, "%s: %s", prefix->path, message);
}

scree_Status scree_fclib_read(const char *path, scree_Problem *problem, scree_FclibInfo *info,
                              const scree_Log *log) {
  *problem = (scree_Problem){0};
  scree_FclibInfo local_info;
  if (!info) info = &local_info;
  *info = (scree_FclibInfo){0};
  scree_H5 h5;
  scree_Status status = scree_h5_open(&h5, path, log);
  if (status != SCREE_OK) return status;
  const bool local = scree_h5_has(&h5, "/fclib_local");
  if (!local && !scree_h5_has(&h5, "/fclib_global")) {
    status = scree_fail(log, SCREE_BAD_INPUT,
                        "%s: found neither /fclib_local nor /fclib_global, expected a contact "
                        "problem in FCLIB's format",
                        path);
  } else {
    status = local ? read_local(&h5, problem, info) : read_global(&h5, problem, info);
    if (status == SCREE_OK) read_info(&h5, local ? "/fclib_local" : "/fclib_global", info);
  }
  scree_h5_close(&h5);
  if (status == SCREE_OK) {
    Prefix prefix = {path, log};
    const scree_Log named = {write_prefixed, &prefix};
    status = scree_problem_check(problem, &named);
  }
  if (status != SCREE_OK) scree_problem_destroy(problem);
  return status;
}

scree_Status scree_fclib_read_solution(const char *path, const scree_Problem *problem, double *r,
                                       double *u, const scree_Log *log) {
  scree_H5 h5;
  scree_Status status = scree_h5_open(&h5, path, log);
  if (status != SCREE_OK) return status;
  const size_t count = (size_t)problem->nc * (size_t)problem->d;
  status = scree_h5_read_reals(&h5, "/solution/r", count, "contacts x spacedim", r);
  if (status == SCREE_OK)
    status = scree_h5_read_reals(&h5, "/solution/u", count, "contacts x spacedim", u);
  scree_h5_close(&h5);
  return status;
}

/* Writing FCLIB files (include/scree/fclib.h; layout in docs/FILES.md). A file is built in memory
 * and saved in one go, see fclib_h5.h. The body form goes out as a global problem in the scaled
 * velocities y = L^T v, in which M is the identity and H = B^T; reading it back gives the same
 * bits. */
#include "scree/fclib.h"

#include "core/log.h"
#include "core/memory.h"
#include "fclib/fclib_global.h"
#include "problem/balls.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static scree_Status check_writable(const char *path, const scree_Problem *problem,
                                   const scree_Log *log) {
  for (int c = 0; c < problem->nc; ++c) {
    const scree_Set set = scree_problem_set(problem, c);
    if (set.kind != SCREE_SET_CONE && set.kind != SCREE_SET_HALF_LINE)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "%s: contact %d has another set, expected a Coulomb cone or a half-line: "
                        "FCLIB's format cannot represent others",
                        path, c);
  }
  size_t entries = (size_t)problem->nc * (size_t)problem->d;
  if (problem->kind == SCREE_ASSEMBLED)
    entries = problem->blocks.row[problem->nc] * (size_t)(problem->d * problem->d);
  else
    entries *= 2 * (size_t)problem->bodies.nb;
  const size_t nd = (size_t)problem->bodies.nbodies * (size_t)problem->bodies.nb;
  if (problem->kind == SCREE_BODIES && nd > entries) entries = nd;
  if (entries > INT_MAX)
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "%s: found a matrix of %zu entries, expected at most %d, the limit of FCLIB's format", path,
        entries, INT_MAX);
  return SCREE_OK;
}

/* mu (nc), zero where there is no friction. */
static double *friction(const scree_Problem *problem) {
  double *mu = SCREE_ALLOC(double, problem->nc);
  for (int c = 0; mu && c < problem->nc; ++c)
    mu[c] = scree_problem_set(problem, c).kind == SCREE_SET_CONE ? problem->mu[c] : 0.0;
  return mu;
}

/* Arrays of a compressed matrix that is written. */
typedef struct Compressed {
  int *pointer, *index;
  double *x;
} Compressed;

static bool compressed_init(Compressed *matrix, size_t lines, size_t entries) {
  matrix->pointer = SCREE_ALLOC(int, lines + 1);
  matrix->index = SCREE_ALLOC(int, entries);
  matrix->x = SCREE_ALLOC(double, entries);
  return matrix->pointer && matrix->index && matrix->x;
}

static void compressed_fini(Compressed *matrix) {
  scree_free(matrix->pointer);
  scree_free(matrix->index);
  scree_free(matrix->x);
}

/* W by compressed rows, all entries of each block. */
static bool write_W(const scree_H5 *h5, const scree_Problem *problem) {
  const int d = problem->d, n = problem->nc * d;
  const scree_BlockRows *blocks = &problem->blocks;
  Compressed W;
  bool good = compressed_init(&W, (size_t)n, blocks->row[problem->nc] * (size_t)(d * d));
  if (good) {
    int used = 0;
    for (int c = 0; c < problem->nc; ++c) {
      const size_t first = blocks->row[c], count = blocks->row[c + 1] - first;
      for (int i = 0; i < d; ++i) {
        const double *x = blocks->x + first * (size_t)(d * d) + (size_t)i * (size_t)d * count;
        for (size_t k = 0; k < count * (size_t)d; ++k) {
          W.index[used] = blocks->col[first + k / (size_t)d] * d + (int)(k % (size_t)d);
          W.x[used++] = x[k];
        }
        W.pointer[c * d + i + 1] = used;
      }
    }
    good = scree_sparse_write(h5, "/fclib_local/W", false, n, n, W.pointer, W.index, W.x);
  }
  compressed_fini(&W);
  return good;
}

static bool write_identity(const scree_H5 *h5, int n) {
  Compressed M;
  bool good = compressed_init(&M, (size_t)n, (size_t)n);
  for (int k = 0; good && k < n; ++k) {
    M.pointer[k + 1] = k + 1;
    M.index[k] = k;
    M.x[k] = 1.0;
  }
  good = good && scree_sparse_write(h5, "/fclib_global/M", true, n, n, M.pointer, M.index, M.x);
  compressed_fini(&M);
  return good;
}

/* H = B^T by compressed columns: column c*d + i holds row i of B_c. */
static bool write_H(const scree_H5 *h5, const scree_Problem *problem) {
  const int d = problem->d, nb = problem->bodies.nb, n = problem->nc * d;
  Compressed H;
  bool good = compressed_init(&H, (size_t)n, (size_t)n * (size_t)(2 * nb));
  int used = 0;
  for (int c = 0; good && c < problem->nc; ++c) {
    double room[SCREE_BALL_ROOM];
    const double *blocks = scree_contact_blocks(problem, c, room);
    for (int i = 0; i < d; ++i) {
      const int *body = problem->bodies.body + 2 * c;
      const int first = body[0] > body[1] && body[1] >= 0; /* the lower body first: rows ascend */
      for (int k = 0; k < 2; ++k) {
        const int side = k ^ first;
        if (body[side] < 0) continue;
        const double *B = blocks + (side * d + i) * nb;
        for (int j = 0; j < nb; ++j) {
          if (B[j] == 0.0) continue;
          H.index[used] = body[side] * nb + j;
          H.x[used++] = B[j];
        }
      }
      H.pointer[c * d + i + 1] = used;
    }
  }
  good = good && scree_sparse_write(h5, "/fclib_global/H", true, problem->bodies.nbodies * nb, n,
                                    H.pointer, H.index, H.x);
  compressed_fini(&H);
  return good;
}

static bool write_head(const scree_H5 *h5, const char *root, const scree_Problem *problem,
                       const char *title, const char *vector) {
  const char *const texts[][2] = {
      {"title", title ? title : ""},
      {"description", problem->kind == SCREE_ASSEMBLED
                          ? "written by scree"
                          : "written by scree; M = I: velocities are scaled by the square root of "
                            "the inertia"},
      {"math_info", ""}};
  char name[256];
  double *mu = friction(problem);
  bool good = mu && scree_h5_make_group(h5, root);
  snprintf(name, sizeof name, "%s/spacedim", root);
  good = good && scree_h5_write_ints(h5, name, 1, &problem->d);
  snprintf(name, sizeof name, "%s/vectors", root);
  good = good && scree_h5_make_group(h5, name);
  snprintf(name, sizeof name, "%s/vectors/mu", root);
  good = good && scree_h5_write_reals(h5, name, (size_t)problem->nc, mu);
  snprintf(name, sizeof name, "%s/vectors/%s", root, vector);
  good =
      good && scree_h5_write_reals(h5, name, (size_t)problem->nc * (size_t)problem->d, problem->q);
  snprintf(name, sizeof name, "%s/info", root);
  good = good && scree_h5_make_group(h5, name);
  for (int k = 0; k < 3 && good; ++k) {
    snprintf(name, sizeof name, "%s/info/%s", root, texts[k][0]);
    good = scree_h5_write_text(h5, name, texts[k][1]);
  }
  scree_free(mu);
  return good;
}

/* /solution with v (nd) when it is not null: FCLIB asks for it in global files. */
static bool write_solution(const scree_H5 *h5, size_t count, const double *r, const double *u,
                           size_t nd, const double *v) {
  return scree_h5_make_group(h5, "/solution") &&
         (!v || scree_h5_write_reals(h5, "/solution/v", nd, v)) &&
         scree_h5_write_reals(h5, "/solution/u", count, u) &&
         scree_h5_write_reals(h5, "/solution/r", count, r);
}

/* The scaled velocities y = B^T r of the written global problem (f = 0). */
static double *scaled_velocities(const scree_Problem *problem, const double *r) {
  const int d = problem->d, nb = problem->bodies.nb;
  double *y = SCREE_ALLOC(double, (size_t)problem->bodies.nbodies *(size_t)nb);
  for (int e = 0; y && e < 2 * problem->nc; ++e) {
    const int body = problem->bodies.body[e];
    if (body < 0) continue;
    double room[SCREE_BALL_ROOM];
    const double *B = scree_contact_blocks(problem, e / 2, room) + e % 2 * d * nb;
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < nb; ++j)
        y[(size_t)body * (size_t)nb + (size_t)j] += B[i * nb + j] * r[(e / 2) * d + i];
  }
  return y;
}

static bool write_bodies(const scree_H5 *h5, const scree_Problem *problem, const char *title,
                         const double *r, const double *u) {
  const size_t nd = (size_t)problem->bodies.nbodies * (size_t)problem->bodies.nb;
  double *f = SCREE_ALLOC(double, nd);
  bool good = f && write_head(h5, "/fclib_global", problem, title, "w") &&
              scree_h5_write_reals(h5, "/fclib_global/vectors/f", nd, f) &&
              write_identity(h5, (int)nd) && write_H(h5, problem);
  scree_free(f);
  if (good && r && u) {
    double *y = scaled_velocities(problem, r);
    good = y && write_solution(h5, (size_t)problem->nc * (size_t)problem->d, r, u, nd, y);
    scree_free(y);
  }
  return good;
}

static bool write_blocks(const scree_H5 *h5, const scree_Problem *problem, const char *title,
                         const double *r, const double *u) {
  bool good = write_head(h5, "/fclib_local", problem, title, "q") && write_W(h5, problem);
  if (good && r && u)
    good = write_solution(h5, (size_t)problem->nc * (size_t)problem->d, r, u, 0, NULL);
  return good;
}

scree_Status scree_fclib_write(const char *path, const scree_Problem *problem, const char *title,
                               const double *r, const double *u, const scree_Log *log) {
  if (problem->kind == SCREE_BODIES && problem->bodies.C) {
    scree_Problem assembled;
    scree_Status status = scree_problem_assemble(problem, &assembled, log);
    if (status != SCREE_OK) return status;
    status = scree_fclib_write(path, &assembled, title, r, u, log);
    scree_problem_destroy(&assembled);
    return status;
  }
  scree_Status status = check_writable(path, problem, log);
  if (status != SCREE_OK) return status;
  scree_H5 h5;
  status = scree_h5_create(&h5, path, NULL, log);
  if (status != SCREE_OK) return status;
  const bool good = problem->kind == SCREE_BODIES ? write_bodies(&h5, problem, title, r, u)
                                                  : write_blocks(&h5, problem, title, r, u);
  status = good ? scree_h5_save(&h5) : scree_fail_memory(log, path);
  scree_h5_close(&h5);
  return status;
}

/* v of a global file, or null for a local one. */
static scree_Status file_velocities(const scree_H5 *h5, const scree_Problem *problem,
                                    const double *r, size_t *nd, double **v) {
  *v = NULL;
  *nd = 0;
  if (scree_h5_has(h5, "/fclib_local")) return SCREE_OK;
  scree_Global global;
  scree_Status status = scree_global_read(h5, &global);
  if (status != SCREE_OK) return status;
  *nd = (size_t)global.nd;
  *v = SCREE_ALLOC(double, *nd);
  if (!*v) status = scree_fail_memory(h5->log, "the velocities");
  if (status == SCREE_OK && (global.nc != problem->nc || global.d != problem->d))
    status = scree_fail(h5->log, SCREE_BAD_INPUT,
                        "%s: the file has %d contacts of size %d, expected %d of size %d", h5->path,
                        global.nc, global.d, problem->nc, problem->d);
  if (status == SCREE_OK) status = scree_global_velocity(h5, &global, r, *v);
  scree_global_fini(&global);
  if (status != SCREE_OK) {
    scree_free(*v);
    *v = NULL;
  }
  return status;
}

scree_Status scree_fclib_write_solution(const char *source, const char *path,
                                        const scree_Problem *problem, const double *r,
                                        const double *u, const scree_Log *log) {
  scree_H5 h5;
  scree_Status status = scree_h5_open(&h5, source, log);
  if (status != SCREE_OK) return status;
  size_t nd = 0;
  double *v = NULL;
  status = file_velocities(&h5, problem, r, &nd, &v);
  scree_h5_close(&h5);
  if (status != SCREE_OK) return status;
  status = scree_h5_create(&h5, path, source, log);
  if (status == SCREE_OK) {
    bool good =
        !scree_h5_has(&h5, "/solution") || H5Ldelete(h5.file, "/solution", H5P_DEFAULT) >= 0;
    const size_t count = (size_t)problem->nc * (size_t)problem->d;
    good = good && write_solution(&h5, count, r, u, nd, v);
    status = good ? scree_h5_save(&h5) : scree_fail_memory(log, path);
    scree_h5_close(&h5);
  }
  scree_free(v);
  return status;
}

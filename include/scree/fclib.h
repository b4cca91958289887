/* scree/fclib.h — contact problems in FCLIB's HDF5 format, local (W, q) and global (M, H, f, w). */
#ifndef SCREE_FCLIB_H
#define SCREE_FCLIB_H

#include "scree/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Description of a file besides the problem. */
typedef struct scree_FclibInfo {
  bool global;      /* /fclib_global rather than /fclib_local */
  int dofs;         /* of M (global) or 0 */
  double asymmetry; /* max |W - W^T| / max |W| of a local file */
  bool has_solution;
  int guesses;
  char title[256], description[1024], math_info[1024];
} scree_FclibInfo;

/* Read a problem. A global file whose bodies are small becomes the body form, any other is
 * assembled. `info` may be null. */
SCREE_API scree_Status scree_fclib_read(const char *path, scree_Problem *problem,
                                        scree_FclibInfo *info, const scree_Log *log);

/* Read /solution into r and u (nc x d each). SCREE_BAD_INPUT if it is absent or does not fit. */
SCREE_API scree_Status scree_fclib_read_solution(const char *path, const scree_Problem *problem,
                                                 double *r, double *u, const scree_Log *log);

/* Write a problem; `title`, and r and u together, may be null: /fclib_local for the assembled form;
 * /fclib_global for bodies (M = identity in the scaled velocities, H = B^T, f = 0, w = q), or
 * /fclib_local when there is compliance, which FCLIB has no place for. With /solution (r, u, and v
 * when global) when r and u are not null. Sets other than cones and half-lines (written as mu = 0)
 * are refused; FCLIB does not record the law. The file appears whole or not at all: SCREE_MACHINE
 * when it cannot be written. */
SCREE_API scree_Status scree_fclib_write(const char *path, const scree_Problem *problem,
                                         const char *title, const double *r, const double *u,
                                         const scree_Log *log);

/* Write the file `source`, from which `problem` was read, again as `path` with /solution (r, u, and
 * v = M^-1 (H r + f) when global) in place of the one it may have. Nothing else of it changes. */
SCREE_API scree_Status scree_fclib_write_solution(const char *source, const char *path,
                                                  const scree_Problem *problem, const double *r,
                                                  const double *u, const scree_Log *log);

#ifdef __cplusplus
}
#endif

#endif

/* Reading problem files that may be damaged. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "scree/fclib.h"

/* scree_fclib_read behind a rehearsal: HDF5 itself can crash or hang on a file whose internal
 * bookkeeping is damaged, so a child process reads it first. A child that does not come back well
 * makes the file bad input; the program goes on. */
scree_Status cli_read_problem(const char *path, scree_Problem *problem, scree_FclibInfo *info,
                              const scree_Log *log);

#endif

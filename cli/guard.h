/* Reading problem files that may be damaged. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "scree/fclib.h"

/* scree_fclib_read after a trial read in a child process: HDF5 itself can crash or hang on a file
 * with damaged metadata. If the child crashes or hangs, the file is bad input; the program
 * continues. */
scree_Status cli_read_problem(const char *path, scree_Problem *problem, scree_FclibInfo *info,
                              const scree_Log *log);

#endif

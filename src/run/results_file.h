/* Files that are written atomically, and the folder of a run. */
#ifndef SCREE_RUN_RESULTS_FILE_H
#define SCREE_RUN_RESULTS_FILE_H

#include "scree/base.h"

/* write(2) until all is written: 0, or errno. */
int scree_write_all(int file, const void *data, size_t count);

/* Write under another name, flush to the disk, rename, flush the folder. */
scree_Status scree_file_replace(const char *path, const void *data, size_t count,
                                const scree_Log *log);

/* Flush the file `part` to the disk, then give it the name `path`. */
scree_Status scree_file_settle(const char *part, const char *path, const scree_Log *log);

/* The whole file; freed with scree_free. SCREE_BAD_INPUT when it cannot be read; *data null and
 * SCREE_OK when there is none. */
scree_Status scree_file_load(const char *path, char **data, size_t *count, const scree_Log *log);

/* mkdir -p; 0, or errno. */
int scree_make_folder(const char *path);

/* "folder/name", freed with scree_free; null: out of memory. */
char *scree_join_path(const char *folder, const char *name);

#endif

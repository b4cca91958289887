/* Descriptions of scenes, shared by `scree check` and `scree info`. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include "scree/base.h"

/* Describe the scene and estimate its run; `sets` as of --set, or null; `written_out`: print the
 * scene with every default instead; `trial`: make the first steps and estimate the time. Returns
 * the exit status. */
int cli_describe_scene(const char *path, const char *const *sets, bool as_json, bool written_out,
                       bool trial, const scree_Log *log);

#endif

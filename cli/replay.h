/* Shared by the commands that read runs. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include <stdbool.h>
#include <sys/types.h>

/* "folder/name", or a copy of `folder` when name is null; freed with free. Null, with a message,
 * when memory runs out. */
char *cli_join(const char *folder, const char *name);

/* Make a folder and those above it; false, with a message, when that fails. */
bool cli_need_folder(const char *path);

/* The first of the programs (null-ended list) that PATH has, as a path to be freed; else null. */
char *cli_find_program(const char *const *names);

/* Start a program (argv[0] is its path); *input, unless null, receives a descriptor of its standard
 * input; its output goes to the file `output`, or is discarded when that is null. Returns its
 * process id, or -1. */
pid_t cli_start(char *const *argv, int *input, const char *output);

/* Wait for it, `seconds` at most, then end it. True when it ended by itself with status 0. */
bool cli_wait(pid_t child, double seconds);

#endif

/* The ranks of the program (see ranks.h). */
#define _POSIX_C_SOURCE 200809L
#include "cli/ranks.h"

#include "cli/terminal.h"

#include <stdio.h>

/* A global like the state of the terminal: there is one program. */
static scree_Ranks *ranks;

bool cli_ranks_begin(void) {
  CliLog log;
  cli_log_init(&log, false, false);
  if (scree_ranks_create(&ranks, &log.log) != SCREE_OK) return false;
  if (scree_ranks_size(ranks) == 1) {
    cli_ranks_end();
    return true;
  }
  if (cli_speaks()) return true;
  cli_mute();
  return freopen("/dev/null", "w", stdout) != NULL;
}

void cli_ranks_end(void) {
  scree_ranks_destroy(ranks);
  ranks = NULL;
}

const scree_Ranks *cli_ranks(void) {
  return ranks;
}

bool cli_speaks(void) {
  return scree_ranks_rank(ranks) == 0;
}

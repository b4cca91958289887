/* The ranks of the program (see ranks.h). */
#include "cli/ranks.h"

#include "cli/terminal.h"
#include "scree/solver.h"

/* A global like the state of the terminal: there is one program. */
static scree_Ranks *ranks;
static bool serving; /* the other ranks solve with rank 0 */

bool cli_ranks_begin(void) {
  CliLog log;
  cli_log_init(&log, false, false);
  if (scree_ranks_create(&ranks, &log.log) != SCREE_OK) return false;
  if (ranks && scree_ranks_size(ranks) == 1) {
    scree_ranks_destroy(ranks);
    ranks = NULL;
  }
  return true;
}

bool cli_ranks_serve(bool together) {
  CliLog log;
  if (!ranks) return false;
  serving = !together;
  if (scree_ranks_rank(ranks) == 0) return false;
  if (together) {
    cli_silence();
    return false;
  }
  cli_log_init(&log, false, false);
  (void)scree_solver_serve(ranks, &log.log);
  return true;
}

void cli_ranks_end(void) {
  if (serving && scree_ranks_rank(ranks) == 0) scree_solver_dismiss(ranks);
  scree_ranks_destroy(ranks);
  ranks = NULL;
}

const scree_Ranks *cli_ranks(void) {
  return ranks;
}

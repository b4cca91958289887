/* The ranks of the program (scree/parallel.h): started by mpirun, rank 0 speaks for all. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "scree/parallel.h"

/* Join the ranks; all but rank 0 print nothing from now on. False: MPI failed, with a message. */
bool cli_ranks_begin(void);

/* Leave them. */
void cli_ranks_end(void);

/* Null on one rank. */
const scree_Ranks *cli_ranks(void);

/* Whether this rank writes files and prints: rank 0. */
bool cli_speaks(void);

#endif

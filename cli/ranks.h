/* The ranks of the program (scree/parallel.h). Started by mpirun, rank 0 is the program, and the
 * others solve with it; or all of them run the command, and only rank 0 prints. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "scree/parallel.h"

/* Join the ranks. False: MPI failed, with a message. */
bool cli_ranks_begin(void);

/* On ranks other than 0: solve with rank 0 until it leaves, then return true. Where all of them
 * run the command (`together`) it returns false, and their output goes nowhere. */
bool cli_ranks_serve(bool together);

/* Leave them. */
void cli_ranks_end(void);

/* Null on one rank. */
const scree_Ranks *cli_ranks(void);

#endif

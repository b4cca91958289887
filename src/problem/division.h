/* The parts of a problem on several ranks.
 *
 * A graph partitioner divides the bodies (where W is assembled: the contacts) into connected parts
 * of about the same number of contacts with few contacts between them. Each contact belongs to
 * exactly one rank: that of its body, or, between bodies of two ranks, of either in turn. The
 * problem of a rank has its contacts, in their order, and the bodies that they touch; the halo says
 * which of these other ranks touch too.
 *
 * Rank 0 has the problem. It sends all ranks the graph (two numbers for each contact) and the
 * partition, from which each finds its part and its halo without further messages; and each rank
 * the numbers of its contacts. */
#ifndef SCREE_PROBLEM_DIVISION_H
#define SCREE_PROBLEM_DIVISION_H

#include "core/arena.h"
#include "parallel/halo.h"
#include "scree/problem.h"

/* The blocks of a part that its rank has posed: its bodies, then bodies of several further vertices
 * each (groups), such as the nodes of a deformable body. */
typedef struct scree_PartBlocks {
  int groups;
  const int *group;           /* (groups + 1) their first vertices, behind the bodies */
  const int *number;          /* (blocks) in the whole world, ascending among bodies and groups */
  const size_t *holder_start; /* (blocks + 1) */
  const int *holder;          /* ranks that hold a block, ascending, this one among them */
} scree_PartBlocks;

/* Which arrays the problem has. */
typedef struct scree_DivisionForm {
  bool balls, compliance, sets, flow_blocks;
} scree_DivisionForm;

typedef struct scree_Division {
  const scree_Problem *whole; /* on ranks other than 0 its graph and sizes alone */
  scree_DivisionForm form;
  int rank, size;
  scree_Problem problem; /* the part of this rank */
  scree_Halo halo;
  int *owner;       /* (contacts of the whole) rank */
  int *count;       /* (size) rows of each rank */
  int *state_count; /* (size) numbers of the bodies that each rank reports */
  size_t *next;     /* (size) work space */
  /* Blocks of the whole: bodies, or contacts where W is assembled. */
  int blocks;
  size_t *holder_start; /* (blocks + 1) */
  int *holder;          /* ranks that hold a block, ascending */
  int *local;           /* (blocks) number of a block on this rank, -1: not here */
  int *local_contact;   /* (contacts of the whole) number on this rank, -1 elsewhere */
  /* Parts that are posed by their ranks: */
  bool own;
  int first;         /* number of the first constraint of this rank */
  int bodies;        /* of the whole world */
  const int *global; /* (blocks) numbers in it, as in scree_PartBlocks */
  int groups;        /* behind the bodies of the problem: */
  const int *group;  /* (groups + 1) */
  int *group_of;     /* (further vertices) */
} scree_Division;

/* The orders of a sweep over the whole problem as seen by one rank: stage by stage its contacts are
 * visited, then the blocks that they changed are sent to the other ranks that hold them. */
typedef struct scree_DivisionStages {
  int stages;
  int *start;             /* (stages + 1) range of each stage in `order` */
  int *order;             /* (nc) contacts of this rank */
  int *serial;            /* (stages) 1 if the contacts of a stage are coupled */
  scree_HaloLists *lists; /* (stages) */
} scree_DivisionStages;

/* part (bodies of the whole, or its contacts where W is assembled): ranks 0 to size - 1. */
scree_Status scree_division_partition(const scree_Problem *whole, int size, scree_Arena *arena,
                                      int *part, const scree_Log *log);

scree_DivisionForm scree_division_form(const scree_Problem *problem);

/* The part of `rank`, still without numbers. `ranks` may be null, for a look at the parts without
 * exchanges. Only the graph and the sizes of `whole` are used. Memory is from the arena, except
 * that of division->problem: destroy that. */
scree_Status scree_division_create(const scree_Problem *whole, const scree_DivisionForm *form,
                                   const scree_Ranks *ranks, int rank, int size, const int *part,
                                   scree_Arena *arena, scree_Division *division,
                                   const scree_Log *log);

/* The same where every rank has posed its own part, and no rank has the whole: `whole`, `owner` and
 * `local_contact` are null, and constraints are numbered in the order of the ranks. The problem and
 * the blocks are the caller's. */
scree_Status scree_division_create_own(const scree_Problem *part, const scree_Ranks *ranks,
                                       const scree_PartBlocks *blocks, scree_Arena *arena,
                                       scree_Division *division, const scree_Log *log);

/* The block of vertex v of such a part. */
static inline int scree_division_block(const scree_Division *division, int v) {
  const int bodies = division->problem.bodies.nbodies;
  return v < bodies || !division->own ? v : bodies + division->group_of[v - bodies];
}

/* The whole of such a problem on rank 0, contacts in the order of the ranks. Destroy it there. */
scree_Status scree_division_join(const scree_Division *division, scree_Arena *arena,
                                 scree_Problem *whole, const scree_Log *log);

/* The same where the parts have constraints of any size and no others. */
scree_Status scree_division_join_general(const scree_Division *division, scree_Arena *arena,
                                         scree_Problem *whole, const scree_Log *log);

/* The numbers of the contacts of a rank and their impulses r, from the whole problem into a record;
 * returns their count. A null record only counts. */
size_t scree_division_pack(const scree_Division *division, int rank, const double *r,
                           double *record);

/* The numbers of this rank from its record, and its start r. */
void scree_division_unpack(scree_Division *division, double *record, double *r);

/* Stages from an order of all contacts in `groups` groups: start (groups + 1), order (nc of the
 * whole), serial (groups) as in solver/colouring.h. The contacts of a group that are not coupled
 * are one stage; coupled ones are visited in their order, one stage for each run of contacts of the
 * same rank. */
scree_Status scree_division_stages(const scree_Division *division, int groups, const int *start,
                                   const int *order, const int *serial, scree_Arena *arena,
                                   scree_DivisionStages *stages, const scree_Log *log);

/* Number of blocks of a problem that a partition divides: its bodies, or its contacts. */
static inline int scree_division_blocks(const scree_Problem *problem) {
  return problem->kind == SCREE_BODIES ? problem->bodies.nbodies : problem->nc;
}

/* The rows of all ranks into the whole vector of rank 0, and back; `work` (rows of the whole, on
 * rank 0). */
void scree_division_collect(const scree_Division *division, const double *mine, double *work,
                            double *whole);
void scree_division_scatter(const scree_Division *division, const double *whole, double *work,
                            double *mine);

/* The velocities of all bodies and of the ground on rank 0, zero for bodies without contacts.
 * `reported` as long as the state of this rank, `work` as that of the whole (rank 0). Body form
 * only. */
void scree_division_collect_state(const scree_Division *division, const double *mine,
                                  double *reported, double *work, double *whole);

/* The largest number of rows of a rank over their mean. */
double scree_division_imbalance(const scree_Division *division);

#endif

/* The bodies behind an assembled problem.
 *
 * A rigid-body code that writes W = H M^-1 H^T does not store the bodies, but they can be
 * recovered: where several contacts join the same two bodies, W has far more rows than the bodies
 * have velocities, and factorisations and sweeps are cheaper in body form. */
#ifndef SCREE_SOLVER_RECOVER_H
#define SCREE_SOLVER_RECOVER_H

#include "scree/problem.h"

/* Find B with B B^T = W, at most two bodies for each contact, 3 (plane) or 6 (space) velocities for
 * each body. *found is set when there is such a B, its bodies have clearly fewer unknowns than the
 * contacts, and B B^T is W up to rounding (a symmetric W, without compliance). Then `bodies` is the
 * same problem in body form, with memory of its own (only `flow` stays the caller's), to be freed
 * with scree_problem_destroy; otherwise it is zeroed. The bodies are those of the code that wrote W
 * up to a change of their velocities' basis; a body that W does not determine (the last one of a
 * chain that floats freely) may be omitted.
 *
 * `problem` must have passed scree_problem_check; one that is in body form already is not found.
 * Fails only for lack of memory. The same bits on any machine, on one thread. */
scree_Status scree_recover_bodies(const scree_Problem *problem, scree_Problem *bodies, bool *found,
                                  const scree_Log *log);

#endif

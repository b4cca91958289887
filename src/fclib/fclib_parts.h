/* Parts of a global problem: groups of degrees of freedom that M does not couple with each other.
 */
#ifndef SCREE_FCLIB_PARTS_H
#define SCREE_FCLIB_PARTS_H

#include "fclib/fclib_global.h"

enum { SCREE_PART_MAX = 12 }; /* largest part of the body form */

typedef struct scree_MassGroups {
  int count, largest;
  int *part;  /* (nd) part of each degree of freedom */
  int *place; /* (nd) its place within the part */
  int *start; /* (count+1) range of a part in dof */
  int *dof;   /* (nd) degrees of freedom by part, ascending */
} scree_MassGroups;

/* Memory for any partition of nd degrees of freedom. */
scree_Status scree_parts_init(scree_MassGroups *parts, int nd, const scree_Log *log);
void scree_parts_fini(scree_MassGroups *parts);

/* Choose the grouping with the least to store, the first of equals; true when the body form is
 * possible with it. Else parts are the connected components of M's pattern. */
bool scree_parts_choose(const scree_Global *global, scree_MassGroups *parts);

/* Parts = consecutive degrees of freedom, `size` each; false when M couples two of them. */
bool scree_parts_consecutive(scree_MassGroups *parts, const scree_Global *global, int size);

/* The parts that contact c touches, in the order met; their number, or limit + 1 when there are
 * more than `limit`. */
int scree_parts_touched(const scree_Global *global, const scree_MassGroups *parts, int c, int limit,
                        int *touched);

/* True when M is symmetric on part p up to the rounding of its own entries:
 * |m_ij - m_ji| <= 4 eps sqrt(|m_ii m_jj|). */
bool scree_parts_symmetric(const scree_Global *global, const scree_MassGroups *parts, int p);

/* SCREE_BAD_INPUT: M of part p lacks the property `what` ("positive definite"). */
scree_Status scree_parts_fail(const scree_H5 *h5, const scree_MassGroups *parts, int p,
                              const char *what);

#endif

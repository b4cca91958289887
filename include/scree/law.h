/* scree/law.h — contact laws as a caller describes them to a world. */
#ifndef SCREE_LAW_H
#define SCREE_LAW_H

#include "scree/set.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happens where two materials touch. `law` is a name of scree_law_name; start from
 * scree_pair_law(). */
typedef struct scree_PairLaw {
  const char *law; /* "coulomb", "frictionless" */
  double mu;       /* friction coefficient, >= 0 */
  double e_n, e_t; /* restitution of the normal and of the tangential velocity, in [0, 1] */
} scree_PairLaw;

/* coulomb, mu = 0.5, e_n = e_t = 0 */
SCREE_API scree_PairLaw scree_pair_law(void);

/* The registry of laws: names in the order of the documentation, null past the end. */
SCREE_API const char *scree_law_name(int index);
SCREE_API const char *scree_law_summary(const char *name);

#ifdef __cplusplus
}
#endif

#endif

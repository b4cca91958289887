/* scree/law.h — definition of contact laws.
 *
 * The parameters of a law are real numbers, described by an option table (scree/options.h).
 *     scree_PairLaw law = scree_pair_law("compliant");
 *     scree_pair_law_set(&law, "compliance_n", 1e-7, log);
 *     scree_world_set_default_law(world, &law);
 */
#ifndef SCREE_LAW_H
#define SCREE_LAW_H

#include "scree/options.h"
#include "scree/set.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SCREE_LAW_VALUES = 16 }; /* parameters that a law may have */

/* Whether the law of a contact carries tension. */
typedef enum scree_ContactBond {
  SCREE_BOND_NONE,
  SCREE_BOND_INTACT,
  SCREE_BOND_BROKEN /* it did */
} scree_ContactBond;

/* The contact law between two materials; start from scree_pair_law(). */
typedef struct scree_PairLaw {
  const char *law;                 /* a name of scree_law_name */
  double values[SCREE_LAW_VALUES]; /* in the order of scree_law_options(law) */
} scree_PairLaw;

/* A law with its defaults; null: "coulomb" (mu = 0.5, e_n = e_t = 0). A name that is not known is
 * refused when the law is given to a world. */
SCREE_API scree_PairLaw scree_pair_law(const char *law);
/* Coulomb's law: friction mu >= 0, restitution e_n and e_t in [0, 1]. */
SCREE_API scree_PairLaw scree_pair_law_coulomb(double mu, double e_n, double e_t);

/* Set a parameter by name. SCREE_BAD_INPUT when the law has none of that name, or when the value is
 * out of its range. */
SCREE_API scree_Status scree_pair_law_set(scree_PairLaw *law, const char *parameter, double value,
                                          const scree_Log *log);
/* A parameter by name; NAN when the law has none of that name. */
SCREE_API double scree_pair_law_get(const scree_PairLaw *law, const char *parameter);

/* The registry of laws: names in the order of the documentation, null past the end. */
SCREE_API const char *scree_law_name(int index);
/* Null for a name that is not known. */
SCREE_API const char *scree_law_summary(const char *name);
SCREE_API const scree_OptionTable *scree_law_options(const char *name);

#ifdef __cplusplus
}
#endif

#endif

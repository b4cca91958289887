/* All laws, in the order of the documentation. */
#include "law/law.h"

#include <string.h>

const scree_LawClass *const scree_law_registry[] = {
    &scree_law_coulomb,
    &scree_law_frictionless,
    NULL,
};

const scree_LawClass *scree_law_find(const char *name) {
  for (int k = 0; name && scree_law_registry[k]; ++k)
    if (strcmp(scree_law_registry[k]->name, name) == 0) return scree_law_registry[k];
  return NULL;
}

const char *scree_law_name(int index) {
  for (int k = 0; scree_law_registry[k]; ++k)
    if (k == index) return scree_law_registry[k]->name;
  return NULL;
}

const char *scree_law_summary(const char *name) {
  const scree_LawClass *class_ = scree_law_find(name);
  return class_ ? class_->summary : NULL;
}

scree_PairLaw scree_pair_law(void) {
  return (scree_PairLaw){.law = scree_law_coulomb.name, .mu = 0.5};
}

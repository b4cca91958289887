/* All time schemes, in the order of the documentation. */
#include "step/system.h"

#include <string.h>

const scree_SchemeClass *const scree_scheme_registry[] = {
    &scree_scheme_moreau_jean,
    &scree_scheme_euler,
    &scree_scheme_moreau_jean_closed,
    NULL,
};

const scree_SchemeClass *scree_scheme_find(const char *name) {
  for (int k = 0; name && scree_scheme_registry[k]; ++k)
    if (strcmp(scree_scheme_registry[k]->name, name) == 0) return scree_scheme_registry[k];
  return NULL;
}

const char *scree_scheme_name(int index) {
  for (int k = 0; scree_scheme_registry[k]; ++k)
    if (k == index) return scree_scheme_registry[k]->name;
  return NULL;
}

const char *scree_scheme_summary(const char *name) {
  const scree_SchemeClass *class_ = scree_scheme_find(name);
  return class_ ? class_->summary : NULL;
}

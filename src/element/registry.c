/* The elastic models, and materials made of them. */
#include "core/log.h"
#include "element/elastic.h"

#include <math.h>
#include <string.h>

const scree_ElasticClass *const scree_elastic_registry[] = {
    &scree_elastic_st_venant_kirchhoff,
    &scree_elastic_neo_hookean,
    NULL,
};

const char *scree_elastic_model(int k, const char **summary) {
  for (int j = 0; j < k; ++j)
    if (!scree_elastic_registry[j]) return NULL;
  if (k < 0 || !scree_elastic_registry[k]) return NULL;
  if (summary) *summary = scree_elastic_registry[k]->summary;
  return scree_elastic_registry[k]->name;
}

int scree_elastic_find(const char *name) {
  for (int k = 0; name && scree_elastic_registry[k]; ++k)
    if (strcmp(name, scree_elastic_registry[k]->name) == 0) return k;
  return -1;
}

static scree_Status check(const char *name, double value, bool good, const char *expected,
                          const scree_Log *log) {
  if (good && isfinite(value)) return SCREE_OK;
  return scree_fail(log, SCREE_BAD_INPUT, "elastic material: %s: found %g, expected %s", name,
                    value, expected);
}

scree_Status scree_elastic_init(scree_ElasticMaterial *elastic, const scree_Elastic *def,
                                double density, const scree_Log *log) {
  *elastic = (scree_ElasticMaterial){0};
  const char *model = def->model ? def->model : scree_elastic_st_venant_kirchhoff.name;
  const int found = scree_elastic_find(model);
  if (found < 0)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "elastic material: model: found %s, expected st-venant-kirchhoff or "
                      "neo-hookean",
                      model);
  elastic->model = scree_elastic_registry[found];
  const double E = def->young, nu = def->poisson;
  scree_Status status = check("young", E, E > 0, "a number > 0", log);
  if (!status)
    status = check("poisson", nu, nu > -1 && nu < 0.5, "a number between -1 and 0.5", log);
  if (!status) status = check("density", density, density > 0, "a number > 0", log);
  if (!status)
    status = check("damping_mass", def->damping_mass, def->damping_mass >= 0, "a number >= 0", log);
  if (!status) status = check("damping", def->damping, def->damping >= 0, "a number >= 0", log);
  if (status) return status;
  elastic->lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
  elastic->mu = E / (2 * (1 + nu));
  elastic->density = density;
  elastic->damping_mass = def->damping_mass;
  elastic->damping_stiffness = def->damping;
  return SCREE_OK;
}

/* All laws, in the order of the documentation. */
#include "core/log.h"
#include "law/law.h"

#include <float.h>
#include <math.h>
#include <string.h>

const scree_LawClass *const scree_law_registry[] = {
    &scree_law_coulomb, &scree_law_frictionless, &scree_law_compliant, &scree_law_cohesive, NULL,
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

const scree_OptionTable *scree_law_options(const char *name) {
  const scree_LawClass *class_ = scree_law_find(name);
  return class_ ? &class_->options : NULL;
}

scree_PairLaw scree_pair_law(const char *law) {
  const scree_LawClass *class_ = law ? scree_law_find(law) : &scree_law_coulomb;
  scree_PairLaw pair = {.law = class_ ? class_->name : law};
  if (class_) scree_options_init(&class_->options, pair.values);
  return pair;
}

/* Index of a parameter in the table of a law, or -1. */
static int find_parameter(const scree_OptionTable *table, const char *name) {
  for (int k = 0; name && k < table->count; ++k)
    if (strcmp(table->options[k].name, name) == 0) return k;
  return -1;
}

double scree_pair_law_get(const scree_PairLaw *law, const char *parameter) {
  const scree_OptionTable *table = scree_law_options(law->law);
  const int k = table ? find_parameter(table, parameter) : -1;
  return k < 0 ? NAN : law->values[k];
}

static scree_Status check_ranges(const scree_PairLaw *law, const scree_Log *log) {
  const scree_OptionTable *table = scree_law_options(law->law);
  for (int k = 0; k < table->count; ++k) {
    const scree_Option *option = &table->options[k];
    const double value = law->values[k];
    if (value >= option->min && value <= option->max) continue; /* false for NaN */
    if (option->max < DBL_MAX)
      return scree_fail(log, SCREE_BAD_INPUT, "law %s: %s is %g, expected a number from %g to %g",
                        law->law, option->name, value, option->min, option->max);
    return scree_fail(log, SCREE_BAD_INPUT, "law %s: %s is %g, expected a finite number >= %g",
                      law->law, option->name, value, option->min);
  }
  return SCREE_OK;
}

scree_Status scree_pair_law_set(scree_PairLaw *law, const char *parameter, double value,
                                const scree_Log *log) {
  const scree_OptionTable *table = scree_law_options(law->law);
  if (!table)
    return scree_fail(log, SCREE_BAD_INPUT, "law \"%s\", expected the name of a law",
                      law->law ? law->law : "");
  const int k = find_parameter(table, parameter);
  if (k < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "law %s: parameter \"%s\", expected one of this law",
                      law->law, parameter ? parameter : "");
  scree_PairLaw changed = *law;
  changed.values[k] = value;
  const scree_Status status = check_ranges(&changed, log);
  if (!status) *law = changed;
  return status;
}

scree_Status scree_law_check(const scree_PairLaw *law, const scree_Log *log) {
  const scree_LawClass *class_ = scree_law_find(law->law);
  const scree_Status status = check_ranges(law, log);
  if (status || !class_->check) return status;
  const char *wrong = class_->check(law);
  return wrong ? scree_fail(log, SCREE_BAD_INPUT, "law %s: %s", law->law, wrong) : SCREE_OK;
}

double scree_law_dilatancy(const scree_PairLaw *law) {
  const double value = scree_pair_law_get(law, "dilatancy");
  return isnan(value) ? 1 : value;
}

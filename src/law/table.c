/* The table of laws over pairs of materials (see law.h). */
#include "core/log.h"
#include "core/memory.h"
#include "law/law.h"
#include "scree/options.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void free_arrays(scree_LawTable *table) {
  scree_free(table->pairs);
  scree_free(table->filled);
  table->pairs = NULL;
  table->filled = NULL;
}

scree_Status scree_law_table_init(scree_LawTable *table, const scree_Log *log) {
  *table = (scree_LawTable){.preset = scree_pair_law(NULL)};
  return scree_law_table_add(table, log);
}

void scree_law_table_fini(scree_LawTable *table) {
  free_arrays(table);
  *table = (scree_LawTable){0};
}

scree_Status scree_law_table_add(scree_LawTable *table, const scree_Log *log) {
  const int old = table->materials, n = old + 1;
  scree_PairLaw *pairs = SCREE_ALLOC(scree_PairLaw, (size_t)n * (size_t)n);
  scree_LawContact *filled = SCREE_ALLOC(scree_LawContact, (size_t)n * (size_t)n);
  if (!pairs || !filled) {
    scree_free(pairs);
    scree_free(filled);
    return scree_fail_memory(log, "the laws of materials");
  }
  for (int a = 0; a < old; ++a)
    for (int b = 0; b < old; ++b) pairs[a * n + b] = table->pairs[a * old + b];
  free_arrays(table);
  table->pairs = pairs;
  table->filled = filled;
  table->materials = n;
  table->h = 0;
  return SCREE_OK;
}

static scree_Status unknown_law(const char *name, const scree_Log *log) {
  const char *names[32] = {NULL};
  for (int k = 0; k < 31 && scree_law_registry[k]; ++k) names[k] = scree_law_registry[k]->name;
  const char *near = scree_nearest_word(name ? name : "", names);
  return scree_fail(log, SCREE_BAD_INPUT, "law \"%s\" is not known%s%s%s", name ? name : "",
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

scree_Status scree_law_table_set(scree_LawTable *table, int a, int b, const scree_PairLaw *law,
                                 const scree_Log *log) {
  const int n = table->materials;
  const bool preset = a == -1 && b == -1;
  if (!preset && (a < 0 || a >= n || b < 0 || b >= n))
    return scree_fail(log, SCREE_BAD_INPUT, "law: materials %d and %d, expected 0 .. %d", a, b,
                      n - 1);
  const scree_LawClass *class_ = scree_law_find(law->law);
  if (!class_) return unknown_law(law->law, log);
  const scree_Status status = scree_law_check(law, log);
  if (status) return status;
  scree_PairLaw own = *law;
  own.law = class_->name;
  if (preset)
    table->preset = own;
  else
    table->pairs[a * n + b] = table->pairs[b * n + a] = own;
  table->h = 0;
  return SCREE_OK;
}

static const scree_PairLaw *law_of(const scree_LawTable *table, int k) {
  assert(k >= 0 && k < table->materials * table->materials);
  return table->pairs[k].law ? &table->pairs[k] : &table->preset;
}

void scree_law_table_fill(scree_LawTable *table, double h) {
  if (table->h == h) return;
  table->h = h;
  table->any_set = table->any_restitution = table->any_terms = table->any_rolling =
      table->any_flow = false;
  table->memory = 0;
  table->highest_e_n = 0;
  for (int k = 0; k < table->materials * table->materials; ++k) {
    scree_LawContact *filled = &table->filled[k];
    const scree_PairLaw *pair = law_of(table, k);
    const scree_LawClass *law = scree_law_find(pair->law);
    *filled = (scree_LawContact){.law = law, .pair = pair, .dilatancy = scree_law_dilatancy(pair)};
    law->fill(pair, h, filled);
    assert(filled->e_n >= 0 && filled->e_n <= 1 && filled->e_t >= 0 && filled->e_t <= 1);
    assert(filled->rolling >= 0 && filled->spinning >= 0 && filled->dilatancy > 0);
    table->any_set = table->any_set || filled->set.kind != SCREE_SET_CONE;
    table->any_restitution = table->any_restitution || filled->e_n != 0 || filled->e_t != 0;
    table->highest_e_n = fmax(table->highest_e_n, filled->e_n);
    table->any_terms = table->any_terms || law->pose;
    table->any_rolling = table->any_rolling || filled->rolling > 0 || filled->spinning > 0;
    table->any_flow = table->any_flow || filled->dilatancy != 1;
    if (law->memory > table->memory) table->memory = law->memory;
  }
  if (table->any_rolling) table->memory += 3;
}

const scree_LawClass *scree_law_table_terms(const scree_LawTable *table) {
  for (int k = 0; k < table->materials * table->materials; ++k) {
    const scree_LawClass *law = scree_law_find(law_of(table, k)->law);
    if (law->pose) return law;
  }
  return NULL;
}

const scree_PairLaw *scree_law_table_flow(const scree_LawTable *table) {
  for (int k = 0; k < table->materials * table->materials; ++k)
    if (scree_law_dilatancy(law_of(table, k)) != 1) return law_of(table, k);
  return NULL;
}

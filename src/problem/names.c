/* Names of measures and flow rules, shared by the program, scenes, results and documents. */
#include "problem/names.h"

#include "scree/measure.h"

enum { MEASURES = SCREE_MEASURE_INCREMENT + 1, FLOWS = SCREE_ASSOCIATED + 1 };

const char *const scree_measure_names[MEASURES + 1] = {
    [SCREE_MEASURE_ERROR] = "error", [SCREE_MEASURE_SICONOS] = "siconos",
    [SCREE_MEASURE_BOTH] = "both",   [SCREE_MEASURE_EPS_GLOB] = "eps_glob",
    [SCREE_MEASURE_MERIT] = "merit", [SCREE_MEASURE_INCREMENT] = "increment"};

const char *const scree_flow_names[FLOWS + 1] = {
    [SCREE_COULOMB] = "coulomb", [SCREE_ASSOCIATED] = "associated"};

const char *scree_measure_name(scree_Measure measure) {
  return (int)measure >= 0 && (int)measure < MEASURES ? scree_measure_names[measure] : NULL;
}

const char *scree_flow_name(scree_Flow flow) {
  return (int)flow >= 0 && (int)flow < FLOWS ? scree_flow_names[flow] : NULL;
}

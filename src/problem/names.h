/* The names of measures and of flow rules, in the order of their enums, null-terminated: for tables
 * of options, which need constants. scree_measure_name and scree_flow_name give the same. */
#ifndef SCREE_PROBLEM_NAMES_H
#define SCREE_PROBLEM_NAMES_H

extern const char *const scree_measure_names[], *const scree_flow_names[];

#endif

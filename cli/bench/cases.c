/* The cases, in the order of the papers. A new one is a file and a line here. */
#include "cli/bench/cases.h"

const BenchCase *const bench_cases[] = {
    &bench_pdas_belt, &bench_pdas_drum_ball,   &bench_pdas_sedimentation,
    &bench_pdas_drum, &bench_convex_gradients, NULL,
};

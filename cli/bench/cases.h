/* The descriptors of all cases. */
#ifndef CLI_BENCH_CASES_H
#define CLI_BENCH_CASES_H

#include "cli/bench/bench.h"

extern const BenchCase bench_pdas_belt, bench_pdas_drum_ball;
extern const BenchCase bench_pdas_sedimentation, bench_pdas_drum;
extern const BenchCase bench_descent_ball, bench_descent_four, bench_descent_500, bench_descent_rho;
extern const BenchCase bench_convex_gradients, bench_convex_plane, bench_convex_box;
extern const BenchCase bench_convex_collapse, bench_convex_ellipses;
extern const BenchCase bench_dvi_shear;
extern const BenchCase bench_pqn_drum, bench_pqn_cubes;

#endif

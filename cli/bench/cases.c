/* The cases, in the order of the papers. A new one is a file and a line here. */
#include "cli/bench/cases.h"

/* clang-format off */
const BenchCase *const bench_cases[] = {
    &bench_pdas_belt,
    &bench_pdas_drum_ball,
    &bench_pdas_sedimentation,
    &bench_pdas_drum,
    &bench_descent_ball,
    &bench_descent_four,
    &bench_descent_500,
    &bench_descent_rho,
    &bench_dvi_shear,
    &bench_convex_gradients,
    &bench_convex_plane,
    &bench_convex_box,
    &bench_convex_collapse,
    &bench_convex_ellipses,
    &bench_pqn_drum,
    &bench_pqn_cubes,
    NULL,
};
/* clang-format on */

/* The price model (see price.h). */
#include "solver/price.h"

#include <math.h>

/* Nanoseconds, fitted to times on one core of an AMD EPYC; ratios matter more than the values.
 * The comment at each value: how many of 118 solves of `auto` (the 59 problems of policy.c to 1e-4
 * and 1e-8) take another number of iterations or factorisations with another value. */
static const struct Numbers {
  double flops;              /* operations of a factorisation, per nanosecond */
  double entry;              /* per entry of the factor: each solve reads all of them */
  double rows_2d, rows_3d;   /* blocks of one contact */
  double slow_2d, slow_3d;   /* a contact in a sweep, contact by contact */
  double ball_2d, ball_3d;   /* between balls */
  double body_2d, body_3d;   /* over bodies, in vector lanes */
  double wide_2d, wide_3d;   /* assembled W, */
  double block_2d, block_3d; /* and each of its blocks */
  double shared_flops;       /* operations of MUMPS on one rank, per nanosecond */
  double latency, byte;      /* of messages between machines: assumed, see docs/SCALING.md */
  double colours;            /* exchanges of an exact sweep: 10 to 15 in dense packings */
} number = {
    .flops = 20.0,       /* 10: 9; 40: 6 */
    .entry = 4.5,        /* 2.25: 17; 9: 23 */
    .rows_2d = 450.0,    /* 225: 14; 900: 29 */
    .rows_3d = 700.0,    /* 350: 13; 1400: 39 */
    .slow_2d = 80.0,     /* the associated law: not among these */
    .slow_3d = 150.0,    /* the associated law: not among these */
    .ball_2d = 7.0,      /* 3.5: 4; 14: 4 */
    .ball_3d = 18.0,     /* 9: 5; 36: 5 */
    .body_2d = 9.0,      /* 4.5: 27; 18: 14 */
    .body_3d = 48.0,     /* 24: 32; 96: 18 */
    .wide_2d = 8.0,      /* 4: 0; 16: 0 */
    .wide_3d = 45.0,     /* 22.5: 1; 90: 0 */
    .block_2d = 1.5,     /* 0.75: 0; 3: 0 */
    .block_3d = 3.0,     /* 1.5: 0; 6: 0 */
    .shared_flops = 2.4, /* at least, with Debian's reference BLAS: bench/results/ranks.txt */
    .latency = 2000.0,
    .byte = 0.1,
    .colours = 12.0,
};

bool scree_price_is_slow(const scree_Problem *p) {
  return (p->flow == SCREE_ASSOCIATED && !scree_problem_is_frictionless(p)) || p->flow_blocks;
}

double scree_price_sweep(const scree_Problem *p, bool balls) {
  const double nc = p->nc > 0 ? p->nc : 1.0;
  const bool plane = p->d == 2;
  const double blocks = p->kind == SCREE_ASSEMBLED ? (double)p->blocks.row[p->nc] : 0.0;
  const double general = number.slow_3d * p->general.count; /* without vector lanes */
  double nanoseconds;
  if (scree_price_is_slow(p))
    nanoseconds = nc * (plane ? number.slow_2d : number.slow_3d) + blocks * number.block_3d;
  else if (balls)
    nanoseconds = nc * (plane ? number.ball_2d : number.ball_3d) + general;
  else if (p->kind == SCREE_BODIES)
    nanoseconds = nc * (plane ? number.body_2d : number.body_3d) + general;
  else
    nanoseconds = nc * (plane ? number.wide_2d : number.wide_3d) +
                  blocks * (plane ? number.block_2d : number.block_3d);
  return 1e-9 * nanoseconds;
}

double scree_sweep_seconds(const scree_Problem *problem) {
  return scree_price_sweep(problem, problem->kind == SCREE_BODIES && problem->bodies.arm);
}

double scree_price_factorisation(const scree_Operator *W, double flops, double entries) {
  return 1e-9 * (flops / number.flops + number.entry * entries +
                 W->constraints * (W->problem->d == 2 ? number.rows_2d : number.rows_3d));
}

/* ---- several ranks -----------------------------------------------------------------------------
 * Decisions are the same on all ranks because these prices are: counts of one rank are replaced by
 * the largest of all. */

/* A sum over all ranks: a tree up and one down. */
static double synchronise(const scree_Operator *W) {
  return 2.0 * number.latency * log2((double)scree_ranks_count(scree_ranks_of(W)));
}

double scree_price_shared_sweep(const scree_Operator *W, bool balls, bool exact) {
  const scree_Halo *halo = W->halo;
  const double sent = scree_halo_numbers(halo) * 8.0;
  const double messages = halo->neighbours * (exact ? number.colours : 1.0);
  const double mine =
      1e9 * scree_price_sweep(W->problem, balls) + messages * number.latency + sent * number.byte;
  return 1e-9 * (scree_ranks_max(scree_ranks_of(W), mine) + synchronise(W));
}

/* Fronts above those of a single rank are log2 N levels; each is a round of messages in the
 * factorisation, and one up and one down in each of about four solves of it. Numbers that ranks
 * exchange are taken as their share of the factor once. */
double scree_price_shared_factorisation(const scree_Operator *W, const scree_SharedWork *work,
                                        bool alone) {
  const double ranks = scree_ranks_count(scree_ranks_of(W));
  const double rows =
      (double)scree_all_constraints(W) * (W->problem->d == 2 ? number.rows_2d : number.rows_3d);
  const double rate = alone ? number.flops : number.shared_flops;
  const double local = work->flops / rate + number.entry * work->entries + rows;
  if (alone) return 1e-9 * local;
  const double rounds = 9.0 * fmax(1.0, log2(ranks));
  return 1e-9 * ((local + work->entries * 8.0 * number.byte) / ranks + rounds * number.latency);
}

/* Every error of the five papers, from (r, u) alone.
 *
 * The natural map of a contact is r - P_Y(r - rho (u + s(u))), zero exactly at solutions for any
 * rho > 0. `error` takes rho = 1/mean(diag W), which makes it independent of units; `error_siconos`
 * takes rho = 1, as published comparisons of solvers do, and so does C(R) of 004 (15), since
 * F + m(R - F) = R - P_K(R - F).
 *
 * Sums run over chunks of fixed size, added in order: the same bits for any number of threads. */
#include "problem/measure.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/simd.h"
#include "problem/set_inline.h"

#include <float.h>
#include <math.h>

enum { CHUNK = 1024, MAX_CHUNKS = 4096 };

/* Which sums are needed: skipping the others keeps the test inside a solve as cheap as a sweep. */
enum { PART_ERROR = 1, PART_SICONOS = 2, PART_GLOB = 4, PART_MERIT = 8, PART_REPORT = 16 };

typedef struct Sums {
  double r2, q2, u2;
  double natural2, siconos2; /* squared natural maps */
  double motion, proj, bipotential, penetration;
  double merit_C, merit_q;
  double worst2, violation2, dilatation, dilatation_max;
  int worst, active;
} Sums;

static double dot(int d, const double *a, const double *b) {
  double sum = 0.0;
  for (int i = 0; i < d; ++i) sum += a[i] * b[i];
  return sum;
}

/* out = r - P_Y(r - rho (u + s n)) */
SCREE_INLINE void natural_map(const scree_Set *set, int d, double rho, const double *r,
                              const double *u, double s, double *out) {
  double z[SCREE_ROWS_MAX];
  for (int i = 0; i < d; ++i) z[i] = r[i] - rho * u[i];
  z[0] -= rho * s;
  if (set->kind == SCREE_SET_CONE)
    scree_cone_project(d, set->mu, z, z);
  else
    scree_set_project(set, d, z, z);
  for (int i = 0; i < d; ++i) out[i] = r[i] - z[i];
}

/* <W^-1 c, c> by elimination with a pivot floor, so that a singular block gives a large value, not
 * NaN. */
SCREE_INLINE double inverse_energy(int d, const double *W, const double *c) {
  double A[SCREE_ROWS_MAX * SCREE_ROWS_MAX], x[SCREE_ROWS_MAX];
  double trace = 0.0;
  for (int i = 0; i < d * d; ++i) A[i] = W[i];
  for (int i = 0; i < d; ++i) trace += A[i * d + i];
  if (!(trace > 0.0) || dot(d, c, c) == 0.0) return 0.0;
  for (int i = 0; i < d; ++i) x[i] = c[i];
  const double floor_ = DBL_EPSILON * trace;
  for (int k = 0; k < d; ++k) {
    if (!(A[k * d + k] > floor_)) A[k * d + k] = floor_;
    for (int i = k + 1; i < d; ++i) {
      const double f = A[i * d + k] / A[k * d + k];
      for (int j = k; j < d; ++j) A[i * d + j] -= f * A[k * d + j];
      x[i] -= f * x[k];
    }
  }
  for (int k = d - 1; k >= 0; --k) {
    for (int j = k + 1; j < d; ++j) x[k] -= A[k * d + j] * x[j];
    x[k] /= A[k * d + k];
  }
  return dot(d, x, c);
}

/* a.W^-1 a and b.W^-1 b for a symmetric W of three rows, from W = L D L^T: sum of (L^-1 a)_k^2/D_k.
 */
SCREE_INLINE void inverse_energies(const double *W, const double *a, const double *b, double *ea,
                                   double *eb) {
  const double trace = W[0] + W[4] + W[8], floor_ = DBL_EPSILON * trace;
  if (!(trace > 0.0)) return;
  const double d0 = 1.0 / fmax(W[0], floor_);
  const double l1 = W[3] * d0, l2 = W[6] * d0;
  const double d1 = 1.0 / fmax(W[4] - l1 * W[3], floor_), t = W[7] - l2 * W[3];
  const double l3 = t * d1, d2 = 1.0 / fmax(W[8] - l2 * W[6] - l3 * t, floor_);
  const double a1 = a[1] - l1 * a[0], a2 = a[2] - l2 * a[0] - l3 * a1;
  const double b1 = b[1] - l1 * b[0], b2 = b[2] - l2 * b[0] - l3 * b1;
  *ea += a[0] * a[0] * d0 + a1 * a1 * d1 + a2 * a2 * d2;
  *eb += b[0] * b[0] * d0 + b1 * b1 * d1 + b2 * b2 * d2;
}

SCREE_INLINE void sum_glob(const scree_Set *set, int d, const double *r, const double *u,
                           const double *claimed, double slip, Sums *sums) {
  double p[SCREE_ROWS_MAX], gap = 0.0, motion = 0.0;
  scree_set_project(set, d, r, p);
  for (int i = 0; i < d; ++i) gap += (r[i] - p[i]) * (r[i] - p[i]);
  for (int i = 0; claimed && i < d; ++i) motion += (claimed[i] - u[i]) * (claimed[i] - u[i]);
  sums->motion += sqrt(motion);
  sums->proj += sqrt(gap);
  if (set->kind == SCREE_SET_SPACE || set->kind == SCREE_SET_BALL) {
    /* the support function of the ball is a |u|, that of the whole space is zero at u = 0 */
    sums->bipotential += fabs(dot(d, u, r) + set->a * sqrt(dot(d, u, u)));
    return;
  }
  sums->bipotential += fabs(dot(d, u, r) + r[0] * slip);
  sums->penetration += u[0] < 0.0 ? -u[0] : 0.0;
}

SCREE_INLINE void sum_report(const scree_Set *set, int d, int c, const double *r, double natural2,
                             double slip, Sums *sums) {
  double p[SCREE_ROWS_MAX], violation2 = 0.0;
  scree_set_project(set, d, r, p);
  for (int i = 0; i < d; ++i) violation2 += (r[i] - p[i]) * (r[i] - p[i]);
  if (violation2 > sums->violation2) sums->violation2 = violation2;
  if (sums->worst < 0 || natural2 > sums->worst2) {
    sums->worst2 = natural2;
    sums->worst = c;
  }
  if (r[0] > 0.0 && scree_set_has_cone(set->kind)) {
    sums->dilatation += slip;
    if (slip > sums->dilatation_max) sums->dilatation_max = slip;
    ++sums->active;
  }
}

double scree_measure_contact(const scree_Problem *problem, int c, double rho, const double *R,
                             const double *U) {
  const bool contact = c < problem->nc;
  const size_t *row = problem->general.row + (contact ? 0 : c - problem->nc);
  const int d = contact ? problem->d : (int)(row[1] - row[0]);
  const size_t at = contact ? (size_t)c * (size_t)d : row[0];
  const double *u = U + at;
  const scree_Set set = scree_problem_set(problem, c);
  const bool slides = problem->flow == SCREE_COULOMB && scree_set_has_cone(set.kind);
  double map[SCREE_ROWS_MAX], flow[3];
  const double s = slides ? scree_set_slip(&set, d, u) : 0.0;
  if (problem->flow_blocks && contact) {
    for (int i = 0; i < d; ++i)
      flow[i] = dot(d, problem->flow_blocks + (at + (size_t)i) * (size_t)d, u);
    u = flow;
  }
  natural_map(&set, d, rho, R + at, u, s, map);
  return sqrt(dot(d, map, map));
}

SCREE_INLINE void sum_contact(const scree_Operator *W, unsigned parts, int d, int c,
                              const double *R, const double *U, const double *claimed, Sums *sums) {
  const scree_Problem *p = W->problem;
  const size_t at = c < p->nc ? (size_t)c * (size_t)d : p->general.row[c - p->nc];
  const double *r = R + at, *u = U + at, *q = p->q + at;
  const scree_Set set = scree_problem_set(p, c);
  const bool slides = p->flow == SCREE_COULOMB && scree_set_has_cone(set.kind);
  const double slip = scree_set_has_cone(set.kind) ? scree_set_slip(&set, d, u) : 0.0;
  const double s = slides ? slip : 0.0;
  double map[SCREE_ROWS_MAX] = {0.0}, natural2 = 0.0, flow[3];
  const double *driving = u; /* the normal direction of the set: u, or H u with a given flow */
  if (p->flow_blocks && c < p->nc) {
    for (int i = 0; i < d; ++i) flow[i] = dot(d, p->flow_blocks + (at + (size_t)i) * (size_t)d, u);
    driving = flow;
  }
  sums->r2 += dot(d, r, r);
  sums->q2 += dot(d, q, q);
  sums->u2 += dot(d, u, u);
  if (parts & PART_ERROR) {
    natural_map(&set, d, 1.0 / W->mean_diagonal, r, driving, s, map);
    natural2 = dot(d, map, map);
    sums->natural2 += natural2;
  }
  if (parts & (PART_SICONOS | PART_MERIT)) {
    natural_map(&set, d, 1.0, r, driving, s, map);
    sums->siconos2 += dot(d, map, map);
  }
  if (parts & PART_MERIT) {
    double room[9];
    const double *Wcc = scree_constraint_diagonal(W, c, room);
    if (p->kind == SCREE_BODIES && d == 3) {
      inverse_energies(Wcc, map, q, &sums->merit_C, &sums->merit_q);
    } else {
      sums->merit_C += inverse_energy(d, Wcc, map);
      sums->merit_q += inverse_energy(d, Wcc, q);
    }
  }
  if (parts & PART_GLOB) sum_glob(&set, d, r, u, claimed ? claimed + at : NULL, slip, sums);
  if (parts & PART_REPORT) sum_report(&set, d, c, r, natural2, slip, sums);
}

static void add_sums(Sums *total, const Sums *part) {
  total->r2 += part->r2;
  total->q2 += part->q2;
  total->u2 += part->u2;
  total->natural2 += part->natural2;
  total->siconos2 += part->siconos2;
  total->motion += part->motion;
  total->proj += part->proj;
  total->bipotential += part->bipotential;
  total->penetration += part->penetration;
  total->merit_C += part->merit_C;
  total->merit_q += part->merit_q;
  total->dilatation += part->dilatation;
  total->active += part->active;
  if (part->violation2 > total->violation2) total->violation2 = part->violation2;
  if (part->dilatation_max > total->dilatation_max) total->dilatation_max = part->dilatation_max;
  if (part->worst >= 0 && (total->worst < 0 || part->worst2 > total->worst2)) {
    total->worst2 = part->worst2;
    total->worst = part->worst;
  }
}

/* ---- plain cones, four at a time ---------------------------------------------------------------
 * The natural map of the common case, which a solve measures again and again, in vector registers.
 */

/* Component by component the vectors of four contacts: x (4 x d) to out (d). */
SCREE_INLINE void load_four(int d, const double *x, scree_Lane *out) {
  const scree_Lane a = scree_lane_load(x), b = scree_lane_load(x + 4);
  if (d == 2) {
    out[0] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    out[1] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
  } else {
    const scree_Lane c = scree_lane_load(x + 8);
    const scree_Lane n = __builtin_shufflevector(a, b, 0, 3, 6, 6);
    const scree_Lane t = __builtin_shufflevector(a, b, 1, 4, 7, 7);
    const scree_Lane o = __builtin_shufflevector(a, b, 2, 5, 5, 5);
    out[0] = __builtin_shufflevector(n, c, 0, 1, 2, 5);
    out[1] = __builtin_shufflevector(t, c, 0, 1, 2, 6);
    out[2] = __builtin_shufflevector(o, c, 0, 1, 4, 7);
  }
}

SCREE_INLINE scree_Lane dot_four(int d, const scree_Lane *a, const scree_Lane *b) {
  return d == 2 ? a[0] * b[0] + a[1] * b[1] : a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* map = r - P_K(r - rho (u + s n)) as in set_inline.h, and its square; *ordinary is cleared where
 * magnitudes need the scaled path. */
SCREE_INLINE scree_Lane natural_four(int d, scree_Lane mu, scree_Lane rho, const scree_Lane *r,
                                     const scree_Lane *u, scree_Lane s, scree_Lane *map,
                                     scree_LaneMask *ordinary) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0}, one = zero + 1.0;
  scree_Lane z[3];
  for (int i = 0; i < d; ++i) z[i] = r[i] - rho * u[i];
  z[0] -= rho * s;
  const scree_Lane square = d == 2 ? z[1] * z[1] : z[1] * z[1] + z[2] * z[2];
  const scree_LaneMask axis = d == 2 ? z[1] == zero : (z[1] == zero) & (z[2] == zero);
  *ordinary &= (axis | ((square > 1e-280) & (square < 1e280))) & (scree_lane_abs(z[0]) < 1e140) &
               (mu < 1e140);
  const scree_Lane t = d == 2 ? scree_lane_abs(z[1]) : scree_lane_sqrt(square);
  const scree_LaneMask inside = (t <= mu * z[0]) & (z[0] >= zero), polar = mu * t <= -z[0];
  const scree_Lane a = (z[0] + mu * t) / (one + mu * mu), b = mu * a / t;
  const scree_Lane shrink = scree_lane_choose(inside, one, scree_lane_choose(polar, zero, b));
  map[0] = r[0] - scree_lane_choose(inside, z[0], scree_lane_choose(polar, zero, a));
  for (int i = 1; i < d; ++i) map[i] = r[i] - shrink * z[i];
  return dot_four(d, map, map);
}

/* inverse_energies of four contacts from c on. */
SCREE_INLINE void energies_four(const scree_Operator *W, int c, const scree_Lane *a,
                                const scree_Lane *b, scree_Lane *ea, scree_Lane *eb) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0}, one = zero + 1.0;
  scree_Lane w[6]; /* the lower half, row by row */
  for (int k = 0; k < SCREE_LANES; ++k) {
    double room[9];
    const double *x = scree_contact_diagonal(W, 3, c + k, room);
    w[0][k] = x[0], w[1][k] = x[3], w[2][k] = x[4];
    w[3][k] = x[6], w[4][k] = x[7], w[5][k] = x[8];
  }
  const scree_Lane trace = w[0] + w[2] + w[5];
  const scree_LaneMask positive = trace > zero;
  const scree_Lane floor_ = scree_lane_choose(positive, DBL_EPSILON * trace, one);
  const scree_Lane d0 = one / scree_lane_choose(w[0] > floor_, w[0], floor_);
  const scree_Lane l1 = w[1] * d0, l2 = w[3] * d0, p1 = w[2] - l1 * w[1], t = w[4] - l2 * w[1];
  const scree_Lane d1 = one / scree_lane_choose(p1 > floor_, p1, floor_), l3 = t * d1;
  const scree_Lane p2 = w[5] - l2 * w[3] - l3 * t;
  const scree_Lane d2 = one / scree_lane_choose(p2 > floor_, p2, floor_);
  const scree_Lane a1 = a[1] - l1 * a[0], a2 = a[2] - l2 * a[0] - l3 * a1;
  const scree_Lane b1 = b[1] - l1 * b[0], b2 = b[2] - l2 * b[0] - l3 * b1;
  *ea += scree_lane_choose(positive, a[0] * a[0] * d0 + a1 * a1 * d1 + a2 * a2 * d2, zero);
  *eb += scree_lane_choose(positive, b[0] * b[0] * d0 + b1 * b1 * d1 + b2 * b2 * d2, zero);
}

/* Distance of r from the cone, squared. */
SCREE_INLINE scree_Lane outside_four(int d, scree_Lane mu, const scree_Lane *r) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0}, one = zero + 1.0;
  const scree_Lane t = d == 2 ? scree_lane_abs(r[1]) : scree_lane_sqrt(r[1] * r[1] + r[2] * r[2]);
  const scree_LaneMask inside = (t <= mu * r[0]) & (r[0] >= zero), polar = mu * t <= -r[0];
  const scree_Lane a = (r[0] + mu * t) / (one + mu * mu), n = r[0] - a, s = t - mu * a;
  const scree_Lane beside = n * n + s * s;
  return scree_lane_choose(inside, zero, scree_lane_choose(polar, dot_four(d, r, r), beside));
}

/* The sums of sum_glob and sum_report, lane by lane. */
typedef struct FourSums {
  scree_Lane motion, proj, bipotential, penetration;
  scree_Lane violation2, dilatation, dilatation_max, active, worst2, worst;
} FourSums;

SCREE_INLINE void glob_four(int d, const scree_Lane *r, const scree_Lane *u,
                            const scree_Lane *claimed, scree_Lane slip, scree_Lane outside2,
                            FourSums *f) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0};
  if (claimed) {
    scree_Lane e[3];
    for (int i = 0; i < d; ++i) e[i] = claimed[i] - u[i];
    f->motion += scree_lane_sqrt(dot_four(d, e, e));
  }
  f->proj += scree_lane_sqrt(outside2);
  f->bipotential += scree_lane_abs(dot_four(d, u, r) + r[0] * slip);
  f->penetration += scree_lane_choose(u[0] < zero, -u[0], zero);
}

SCREE_INLINE void report_four(int c, const scree_Lane *r, scree_Lane natural2, scree_Lane slip,
                              scree_Lane outside2, FourSums *f) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0}, one = zero + 1.0;
  const scree_Lane number = {c, c + 1.0, c + 2.0, c + 3.0};
  const scree_LaneMask pressed = r[0] > zero, worse = natural2 > f->worst2;
  f->violation2 = scree_lane_max(f->violation2, outside2);
  f->dilatation += scree_lane_choose(pressed, slip, zero);
  f->dilatation_max = scree_lane_max(f->dilatation_max, scree_lane_choose(pressed, slip, zero));
  f->active += scree_lane_choose(pressed, one, zero);
  f->worst = scree_lane_choose(worse, number, f->worst);
  f->worst2 = scree_lane_choose(worse, natural2, f->worst2);
}

/* The sum of the lanes. Inlined whatever the optimisation: the clones of a function that calls it
 * pass vectors in registers that a function compiled once does not look into. */
SCREE_INLINE double across(scree_Lane x) {
  return (x[0] + x[1]) + (x[2] + x[3]);
}

/* Add the lanes; of equal errors the first contact counts, as without lanes. */
static void add_four(unsigned parts, const FourSums *f, Sums *sums) {
  sums->motion += across(f->motion);
  sums->proj += across(f->proj);
  sums->bipotential += across(f->bipotential);
  sums->penetration += across(f->penetration);
  sums->dilatation += across(f->dilatation);
  sums->active += (int)across(f->active);
  for (int k = 0; k < SCREE_LANES && (parts & PART_REPORT); ++k) {
    sums->violation2 = fmax(sums->violation2, f->violation2[k]);
    sums->dilatation_max = fmax(sums->dilatation_max, f->dilatation_max[k]);
    const int c = (int)f->worst[k];
    if (c < 0) continue;
    const bool same = f->worst2[k] == sums->worst2 && c < sums->worst;
    if (sums->worst >= 0 && !(f->worst2[k] > sums->worst2) && !same) continue;
    sums->worst2 = f->worst2[k];
    sums->worst = c;
  }
}

/* Process groups of four contacts of first .. last-1; returns the first contact that is left. */
SCREE_INLINE int sum_cones(const scree_Operator *W, unsigned parts, int d, int first, int last,
                           const double *R, const double *U, const double *claimed, Sums *sums) {
  const scree_Problem *p = W->problem;
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0}, rho = zero + 1.0 / W->mean_diagonal;
  scree_Lane r2 = zero, q2 = zero, u2 = zero, natural2 = zero, siconos2 = zero;
  scree_Lane merit_C = zero, merit_q = zero;
  FourSums more = {.worst2 = zero - 1.0, .worst = zero - 1.0};
  int c = first;
  for (; c + SCREE_LANES <= last; c += SCREE_LANES) {
    const size_t at = (size_t)c * (size_t)d;
    const scree_Lane mu = scree_lane_load(p->mu + c);
    scree_Lane r[3], u[3], q[3], slip = zero, natural = zero, siconos = zero;
    scree_Lane map[3] = {zero, zero, zero};
    scree_LaneMask ordinary = mu == mu;
    load_four(d, R + at, r);
    load_four(d, U + at, u);
    load_four(d, p->q + at, q);
    if (p->flow == SCREE_COULOMB || (parts & (PART_GLOB | PART_REPORT)))
      slip = mu * (d == 2 ? scree_lane_abs(u[1]) : scree_lane_sqrt(u[1] * u[1] + u[2] * u[2]));
    const scree_Lane s = p->flow == SCREE_COULOMB ? slip : zero;
    if (parts & PART_ERROR) natural = natural_four(d, mu, rho, r, u, s, map, &ordinary);
    if (parts & (PART_SICONOS | PART_MERIT))
      siconos = natural_four(d, mu, zero + 1.0, r, u, s, map, &ordinary);
    if (scree_lane_any(~ordinary)) {
      for (int k = c; k < c + SCREE_LANES; ++k) sum_contact(W, parts, d, k, R, U, claimed, sums);
      continue;
    }
    r2 += dot_four(d, r, r);
    q2 += dot_four(d, q, q);
    u2 += dot_four(d, u, u);
    natural2 += natural;
    siconos2 += siconos;
    if (d == 3 && (parts & PART_MERIT)) energies_four(W, c, map, q, &merit_C, &merit_q);
    if (!(parts & (PART_GLOB | PART_REPORT))) continue;
    const scree_Lane outside2 = outside_four(d, mu, r);
    scree_Lane v[3];
    if (claimed) load_four(d, claimed + at, v);
    if (parts & PART_GLOB) glob_four(d, r, u, claimed ? v : NULL, slip, outside2, &more);
    if (parts & PART_REPORT) report_four(c, r, natural, slip, outside2, &more);
  }
  if (parts & (PART_GLOB | PART_REPORT)) add_four(parts, &more, sums);
  sums->r2 += across(r2);
  sums->q2 += across(q2);
  sums->u2 += across(u2);
  sums->natural2 += across(natural2);
  sums->siconos2 += across(siconos2);
  sums->merit_C += across(merit_C);
  sums->merit_q += across(merit_q);
  return c;
}

SCREE_CLONES static int sum_cones_range(const scree_Operator *W, unsigned parts, int first,
                                        int last, const double *r, const double *u,
                                        const double *claimed, Sums *sums) {
  return W->problem->d == 3 ? sum_cones(W, parts, 3, first, last, r, u, claimed, sums)
                            : sum_cones(W, parts, 2, first, last, r, u, claimed, sums);
}

/* Contacts of chunk `index`, `chunk` contacts long. */
static Sums sum_part(const scree_Operator *W, unsigned parts, int index, int chunk, const double *r,
                     const double *u, const double *claimed) {
  const int nc = W->problem->nc, last = (index + 1) * chunk < nc ? (index + 1) * chunk : nc;
  int first = index * chunk;
  Sums sums = {.worst = -1};
  const bool three = W->problem->kind == SCREE_BODIES && W->problem->d == 3;
  const unsigned four =
      PART_ERROR | PART_SICONOS | PART_GLOB | PART_REPORT | (three ? PART_MERIT : 0);
  if (last - first >= SCREE_LANES && W->plain_cones && !W->problem->flow_blocks &&
      (parts | four) == four)
    first = sum_cones_range(W, parts, first, last, r, u, claimed, &sums);
  if (W->problem->d == 3)
    for (int c = first; c < last; ++c) sum_contact(W, parts, 3, c, r, u, claimed, &sums);
  else
    for (int c = first; c < last; ++c) sum_contact(W, parts, 2, c, r, u, claimed, &sums);
  return sums;
}

static Sums sum_all(const scree_Operator *W, unsigned parts, const double *r, const double *u,
                    const double *claimed) {
  const int nc = W->problem->nc;
  Sums total = {.worst = -1};
  /* chunks grow with the problem so that their number is bounded; it depends on nc alone */
  int chunk = CHUNK;
  while (nc / chunk >= MAX_CHUNKS) chunk *= 2;
  const int chunks = (nc + chunk - 1) / chunk;
  if (chunks == 1 && W->constraints == nc) return sum_part(W, parts, 0, chunk, r, u, claimed);
  enum { GROUP = 16 }; /* chunks summed between two additions into the total */
  const bool serial = chunks <= 2 || W->threads == 1;
  for (int base = 0; base < chunks; base += GROUP) {
    Sums part[GROUP];
    const int n = chunks - base < GROUP ? chunks - base : GROUP;
    if (serial)
      for (int k = 0; k < n; ++k) part[k] = sum_part(W, parts, base + k, chunk, r, u, claimed);
    else
#pragma omp parallel for num_threads(W->threads) schedule(static)
      for (int k = 0; k < n; ++k) part[k] = sum_part(W, parts, base + k, chunk, r, u, claimed);
    for (int k = 0; k < n; ++k) add_sums(&total, &part[k]);
  }
  for (int c = nc; c < W->constraints; ++c)
    sum_contact(W, parts, scree_rows_of(W, c), c, r, u, claimed, &total);
  return total;
}

/* The sums of all ranks, added in their order; contacts are numbered as in the whole problem. */
static Sums sum_ranks(const scree_Operator *W, unsigned parts, const double *r, const double *u,
                      const double *claimed) {
  Sums mine = sum_all(W, parts, r, u, claimed);
  const int ranks = scree_ranks_count(scree_ranks_of(W));
  if (ranks == 1) return mine;
  if (mine.worst >= 0) mine.worst = W->halo->number[mine.worst];
  const Sums *all = scree_ranks_gather(scree_ranks_of(W), &mine, sizeof mine);
  Sums total = {.worst = -1};
  for (int k = 0; k < ranks; ++k) add_sums(&total, &all[k]);
  return total;
}

/* x / scale; a zero scale means that the data are zero, and then only x = 0 is correct. */
static double relative(double x, double scale) {
  if (scale > 0.0) return x / scale;
  return x > 0.0 ? INFINITY : 0.0;
}

static double max3(double a, double b, double c) {
  return fmax(a, fmax(b, c));
}

static double error_scale(const scree_Operator *W, const Sums *sums) {
  const double rho = 1.0 / W->mean_diagonal;
  return max3(sqrt(sums->r2), rho * sqrt(sums->q2), rho * sqrt(sums->u2));
}

static double error_of(const scree_Operator *W, const Sums *sums) {
  return relative(sqrt(sums->natural2), error_scale(W, sums));
}

static double siconos_of(const Sums *sums) {
  const double scale = sqrt(max3(sums->r2, sums->q2, sums->u2));
  return scale < DBL_EPSILON ? sqrt(sums->siconos2) : sqrt(sums->siconos2) / scale;
}

static double glob_of(const Sums *sums, long long nc) {
  return nc ? (sums->motion + sums->proj + sums->bipotential + sums->penetration) / (double)nc
            : 0.0;
}

double scree_measure_value(const scree_Operator *W, scree_Measure measure, const double *r,
                           const double *u) {
  Sums sums;
  switch (measure) {
  case SCREE_MEASURE_ERROR: sums = sum_ranks(W, PART_ERROR, r, u, NULL); return error_of(W, &sums);
  case SCREE_MEASURE_SICONOS:
    sums = sum_ranks(W, PART_SICONOS, r, u, NULL);
    return siconos_of(&sums);
  case SCREE_MEASURE_BOTH:
    sums = sum_ranks(W, PART_ERROR | PART_SICONOS, r, u, NULL);
    return fmax(error_of(W, &sums), siconos_of(&sums));
  case SCREE_MEASURE_EPS_GLOB:
    sums = sum_ranks(W, PART_GLOB, r, u, NULL);
    return glob_of(&sums, scree_all_constraints(W));
  case SCREE_MEASURE_MERIT:
    sums = sum_ranks(W, PART_MERIT, r, u, NULL);
    return relative(sums.merit_C, sums.merit_q);
  case SCREE_MEASURE_INCREMENT: break;
  }
  return INFINITY;
}

void scree_measure_all(const scree_Operator *W, const double *r, const double *u,
                       const double *u_claimed, scree_Measures *measures) {
  const unsigned parts = PART_ERROR | PART_SICONOS | PART_GLOB | PART_MERIT | PART_REPORT;
  const Sums sums = sum_ranks(W, parts, r, u, u_claimed);
  const long long constraints = scree_all_constraints(W);
  const double nc = constraints ? (double)constraints : 1.0;
  const double scale = error_scale(W, &sums);
  *measures = (scree_Measures){
      .error = error_of(W, &sums),
      .error_siconos = siconos_of(&sums),
      .eps_glob = glob_of(&sums, constraints),
      .eps_motion = sums.motion / nc,
      .eps_proj = sums.proj / nc,
      .eps_bipotential = sums.bipotential / nc,
      .eps_penetration = sums.penetration / nc,
      .merit = relative(sums.merit_C, sums.merit_q),
      .worst_contact = sums.worst,
      .worst_error = relative(sqrt(sums.worst2), scale),
      .rho = 1.0 / W->mean_diagonal,
      .scale = scale,
      .cone_violation = relative(sqrt(sums.violation2), scale),
      .dilatation_max = sums.dilatation_max,
      .dilatation_mean = sums.active ? sums.dilatation / sums.active : 0.0,
  };
}

scree_Status scree_problem_measure(const scree_Problem *problem, const double *r,
                                   const double *u_claimed, double *u, scree_Measures *measures,
                                   const scree_Log *log) {
  scree_Operator W;
  scree_Status status = scree_problem_check(problem, log);
  if (!status) status = scree_operator_create(problem, 1, log, &W);
  if (status) return status;
  const size_t n = W.rows;
  double *y = SCREE_ALLOC(double, W.state_size);
  double *velocity = u ? u : SCREE_ALLOC(double, n);
  if (y && velocity) {
    scree_operator_apply(&W, r, problem->q, y, velocity);
    scree_measure_all(&W, r, velocity, u_claimed, measures);
  } else {
    status = scree_fail_memory(log, "the velocities of a measure");
  }
  if (!u) scree_free(velocity);
  scree_free(y);
  scree_operator_destroy(&W);
  return status;
}

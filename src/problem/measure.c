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
#include "problem/set_inline.h"

#include <float.h>
#include <math.h>

enum { CHUNK = 1024, MAX_CHUNKS = 4096 };

/* What is to be summed: skipping parts keeps the test inside a solve as cheap as a sweep. */
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

static double tangent_norm(int d, const double *u) {
  return d == 2 ? fabs(u[1]) : sqrt(u[1] * u[1] + u[2] * u[2]);
}

/* out = r - P_Y(r - rho (u + s n)) */
static void natural_map(const scree_Set *set, int d, double rho, const double *r, const double *u,
                        double s, double *out) {
  double z[3];
  for (int i = 0; i < d; ++i) z[i] = r[i] - rho * u[i];
  z[0] -= rho * s;
  if (set->kind == SCREE_SET_CONE)
    scree_cone_project(d, set->mu, z, z);
  else
    scree_set_project(set, d, z, z);
  for (int i = 0; i < d; ++i) out[i] = r[i] - z[i];
}

/* <W^-1 c, c> by elimination with a pivot floor, so that a singular block weighs much, not NaN. */
static double inverse_energy(int d, const double *W, const double *c) {
  double A[9], x[3];
  double trace = 0.0;
  for (int i = 0; i < d * d; ++i) A[i] = W[i];
  for (int i = 0; i < d; ++i) trace += A[i * d + i];
  if (!(trace > 0.0) || (c[0] == 0.0 && c[1] == 0.0 && (d == 2 || c[2] == 0.0))) return 0.0;
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

static void sum_glob(const scree_Set *set, int d, const double *r, const double *u,
                     const double *claimed, double ut, Sums *sums) {
  double p[3], gap = 0.0, motion = 0.0;
  scree_set_project(set, d, r, p);
  for (int i = 0; i < d; ++i) gap += (r[i] - p[i]) * (r[i] - p[i]);
  for (int i = 0; claimed && i < d; ++i) motion += (claimed[i] - u[i]) * (claimed[i] - u[i]);
  sums->motion += sqrt(motion);
  sums->proj += sqrt(gap);
  if (set->kind == SCREE_SET_SPACE) {
    sums->bipotential += fabs(dot(d, u, r));
    return;
  }
  const double mu = set->kind == SCREE_SET_HALF_LINE ? 0.0 : set->mu;
  sums->bipotential += fabs(dot(d, u, r) + mu * r[0] * ut);
  sums->penetration += u[0] < 0.0 ? -u[0] : 0.0;
}

static void sum_report(const scree_Set *set, int d, int c, const double *r, double natural2,
                       double ut, Sums *sums) {
  double p[3], violation2 = 0.0;
  scree_set_project(set, d, r, p);
  for (int i = 0; i < d; ++i) violation2 += (r[i] - p[i]) * (r[i] - p[i]);
  if (violation2 > sums->violation2) sums->violation2 = violation2;
  if (sums->worst < 0 || natural2 > sums->worst2) {
    sums->worst2 = natural2;
    sums->worst = c;
  }
  if (r[0] > 0.0 && set->kind != SCREE_SET_SPACE && set->kind != SCREE_SET_HALF_LINE) {
    const double dilatation = set->mu * ut;
    sums->dilatation += dilatation;
    if (dilatation > sums->dilatation_max) sums->dilatation_max = dilatation;
    ++sums->active;
  }
}

double scree_measure_contact(const scree_Problem *problem, int c, double rho, const double *R,
                             const double *U) {
  const int d = problem->d;
  const size_t at = (size_t)c * (size_t)d;
  const double *u = U + at;
  const scree_Set set = scree_problem_set(problem, c);
  const bool slides = problem->law == SCREE_COULOMB && set.kind != SCREE_SET_SPACE &&
                      set.kind != SCREE_SET_HALF_LINE;
  double map[3], flow[3];
  const double s = slides ? set.mu * tangent_norm(d, u) : 0.0;
  if (problem->flow) {
    for (int i = 0; i < d; ++i) flow[i] = dot(d, problem->flow + (at + (size_t)i) * (size_t)d, u);
    u = flow;
  }
  natural_map(&set, d, rho, R + at, u, s, map);
  return sqrt(dot(d, map, map));
}

static void sum_contact(const scree_Operator *W, unsigned parts, int d, int c, const double *R,
                        const double *U, const double *claimed, Sums *sums) {
  const scree_Problem *p = W->problem;
  const size_t at = (size_t)c * (size_t)d;
  const double *r = R + at, *u = U + at, *q = p->q + at;
  const scree_Set set = scree_problem_set(p, c);
  const double ut = tangent_norm(d, u);
  const bool slides =
      p->law == SCREE_COULOMB && set.kind != SCREE_SET_SPACE && set.kind != SCREE_SET_HALF_LINE;
  const double s = slides ? set.mu * ut : 0.0;
  double map[3], natural2 = 0.0, flow[3];
  const double *driving = u; /* what is normal to the set: u, or H u with non-associated flow */
  if (p->flow) {
    for (int i = 0; i < d; ++i) flow[i] = dot(d, p->flow + (at + (size_t)i) * (size_t)d, u);
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
    const double *Wcc = W->diagonal + at * (size_t)d;
    sums->merit_C += inverse_energy(d, Wcc, map);
    sums->merit_q += inverse_energy(d, Wcc, q);
  }
  if (parts & PART_GLOB) sum_glob(&set, d, r, u, claimed ? claimed + at : NULL, ut, sums);
  if (parts & PART_REPORT) sum_report(&set, d, c, r, natural2, ut, sums);
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

/* Contacts of chunk `index`, `chunk` contacts long. */
static Sums sum_part(const scree_Operator *W, unsigned parts, int index, int chunk, const double *r,
                     const double *u, const double *claimed) {
  const int nc = W->problem->nc, first = index * chunk;
  const int last = first + chunk < nc ? first + chunk : nc;
  Sums sums = {.worst = -1};
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
  /* chunks grow with the problem so that their number is bounded: it depends on nc alone */
  int chunk = CHUNK;
  while (nc / chunk >= MAX_CHUNKS) chunk *= 2;
  const int chunks = (nc + chunk - 1) / chunk;
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
  return total;
}

/* x / scale, where a zero scale means that the data are zero: then only x = 0 is right. */
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

static double glob_of(const Sums *sums, int nc) {
  return nc ? (sums->motion + sums->proj + sums->bipotential + sums->penetration) / nc : 0.0;
}

double scree_measure_value(const scree_Operator *W, scree_Measure measure, const double *r,
                           const double *u) {
  Sums sums;
  switch (measure) {
  case SCREE_MEASURE_ERROR: sums = sum_all(W, PART_ERROR, r, u, NULL); return error_of(W, &sums);
  case SCREE_MEASURE_SICONOS: sums = sum_all(W, PART_SICONOS, r, u, NULL); return siconos_of(&sums);
  case SCREE_MEASURE_BOTH:
    sums = sum_all(W, PART_ERROR | PART_SICONOS, r, u, NULL);
    return fmax(error_of(W, &sums), siconos_of(&sums));
  case SCREE_MEASURE_EPS_GLOB:
    sums = sum_all(W, PART_GLOB, r, u, NULL);
    return glob_of(&sums, W->problem->nc);
  case SCREE_MEASURE_MERIT:
    sums = sum_all(W, PART_MERIT, r, u, NULL);
    return relative(sums.merit_C, sums.merit_q);
  case SCREE_MEASURE_INCREMENT: break;
  }
  return INFINITY;
}

void scree_measure_all(const scree_Operator *W, const double *r, const double *u,
                       const double *u_claimed, scree_Measures *measures) {
  const unsigned parts = PART_ERROR | PART_SICONOS | PART_GLOB | PART_MERIT | PART_REPORT;
  const Sums sums = sum_all(W, parts, r, u, u_claimed);
  const double nc = W->problem->nc ? W->problem->nc : 1.0;
  const double scale = error_scale(W, &sums);
  *measures = (scree_Measures){
      .error = error_of(W, &sums),
      .error_siconos = siconos_of(&sums),
      .eps_glob = glob_of(&sums, W->problem->nc),
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

const char *scree_measure_name(scree_Measure measure) {
  switch (measure) {
  case SCREE_MEASURE_ERROR: return "error";
  case SCREE_MEASURE_SICONOS: return "siconos";
  case SCREE_MEASURE_BOTH: return "both";
  case SCREE_MEASURE_EPS_GLOB: return "eps_glob";
  case SCREE_MEASURE_MERIT: return "merit";
  case SCREE_MEASURE_INCREMENT: return "increment";
  }
  return "unknown";
}

scree_Status scree_problem_measure(const scree_Problem *problem, const double *r,
                                   const double *u_claimed, double *u, scree_Measures *measures,
                                   const scree_Log *log) {
  scree_Operator W;
  scree_Status status = scree_problem_check(problem, log);
  if (!status) status = scree_operator_create(problem, 1, log, &W);
  if (status) return status;
  const size_t n = (size_t)problem->nc * (size_t)problem->d;
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

/* Warm start of `spg` on a compliant packing between successive steps: 002 section 10.2 tells of
 * two to three times fewer iterations where contacts are compliant, and of no gain where they are
 * rigid (c = 0 in the second table).
 *
 *     spg_warm [--contacts N (3000)] [--dimension 2|3 (3)] [--mu X (0.5)] [--tol X (1e-4)]
 *              [--steps N (20)] [--pull SPEED (0.01)]
 *
 * Spheres settle in a box (settle.h, implicit Euler); then one wall is pulled away slowly, as the
 * drawer of 002 Figure 6, and each contact becomes a spring and a slider in series: elastic
 * displacement y_E = -C^ times force, associated cone law. With impulses r = h force and
 * C = C^/h^2, 002 (29), (30) with the README's sign reads
 *
 *     u = H v+ + C r + y_E / h ,    -u in N_Y(r) ,    y_E = -h C r of the step before.
 *
 * The normal part of y_E is the gap itself, which the world's implicit Euler has already put into q
 * as gap/h; the tangential part is carried from step to step with the impulses. C is one number for
 * all contacts and directions: `c` times the mean diagonal of W at the first step.
 *
 * The world finds the contacts and poses the rigid problem of each step (scree_world_problem); here
 * it gets its compliance and memory, is solved by spg from zero (cold) and from the impulses of
 * the last step, matched by bodies and feature and turned into the new frames (warm), both to the
 * same measured error; the bodies then move with the solution. The first SKIP steps, in which
 * the rigid packing gives way to the springs, are not counted. */
#include "bench/settle.h"
#include "scree/solver.h"

#include <string.h>

static const double compliances[] = {0.0, 1e-3, 1e-2, 1e-1, 1.0}; /* of the mean diagonal of W */
static const double shown = 1e-2; /* whose steps are printed one by one */
enum { COMPLIANCES = sizeof compliances / sizeof *compliances, SKIP = 20 };

typedef struct Options {
  int contacts, d, steps;
  double mu, tolerance, pull;
} Options;

/* A contact of the step before with its impulse in the world's axes. */
typedef struct Past {
  int body[2];
  uint32_t feature;
  double impulse[3];
} Past;

typedef struct Shear {
  const Options *options;
  scree_World *world;
  double C; /* compliance of impulses */
  int nbodies, npast;
  scree_Pose *pose;      /* (nbodies) before the step */
  scree_Twist *velocity; /* (nbodies) before the step, then after */
  Past *past;            /* (npast) sorted */
} Shear;

/* Results of one step. */
typedef struct Row {
  int contacts, matched, cold, warm;
  bool converged;   /* both */
  double agreement; /* |r_warm - r_cold| / |r_cold| */
  double weight;    /* vertical impulse from the box over the weight of the grains times h */
  double overlap;   /* mean elastic displacement along the normal over settle_radius */
} Row;

static int compare(const void *a, const void *b) {
  const Past *x = a, *y = b;
  if (x->body[0] != y->body[0]) return x->body[0] < y->body[0] ? -1 : 1;
  if (x->body[1] != y->body[1]) return x->body[1] < y->body[1] ? -1 : 1;
  return (x->feature > y->feature) - (x->feature < y->feature);
}

/* Direction i of contact c's frame. */
static void direction(const scree_Contact *c, int i, double *a) {
  const scree_Vec3 v = i == 0 ? c->normal : c->tangent[i - 1];
  a[0] = v.x;
  a[1] = v.y;
  a[2] = v.z;
}

/* The impulses of the step before in the frames of this one, zero where the contact is new. */
static int carry(const Shear *s, int nc, double *r) {
  const int d = s->options->d;
  int matched = 0;
  memset(r, 0, (size_t)nc * (size_t)d * sizeof *r);
  for (int c = 0; c < nc; ++c) {
    const scree_Contact contact = scree_world_contact(s->world, c);
    const Past key = {.body = {contact.body[0], contact.body[1]}, .feature = contact.feature};
    const Past *old =
        s->npast ? bsearch(&key, s->past, (size_t)s->npast, sizeof key, compare) : NULL;
    if (!old) continue;
    ++matched;
    for (int i = 0; i < d; ++i) {
      double a[3];
      direction(&contact, i, a);
      r[c * d + i] = a[0] * old->impulse[0] + a[1] * old->impulse[1] + a[2] * old->impulse[2];
    }
  }
  return matched;
}

static scree_Status remember(Shear *s, int nc, const double *r) {
  const int d = s->options->d;
  free(s->past);
  s->npast = 0;
  s->past = calloc((size_t)nc + 1, sizeof *s->past);
  if (!s->past) return SCREE_MACHINE;
  for (int c = 0; c < nc; ++c) {
    const scree_Contact contact = scree_world_contact(s->world, c);
    Past *p = &s->past[c];
    *p = (Past){.body = {contact.body[0], contact.body[1]}, .feature = contact.feature};
    for (int i = 0; i < d; ++i) {
      double a[3];
      direction(&contact, i, a);
      for (int k = 0; k < 3; ++k) p->impulse[k] += a[k] * r[c * d + i];
    }
  }
  s->npast = nc;
  qsort(s->past, (size_t)nc, sizeof *s->past, compare);
  return SCREE_OK;
}

/* Mean diagonal of W = B B^T. */
static double mean_diagonal(const scree_Problem *p) {
  double sum = 0.0, B[36];
  for (int c = 0; c < p->nc; ++c) {
    scree_problem_blocks(p, c, B);
    for (int k = 0; k < 2 * p->d * p->bodies.nb; ++k) sum += B[k] * B[k];
  }
  return sum / ((double)p->nc * p->d);
}

/* The posed problem with compliance and memory; `past` (nc x d) are the carried impulses. */
static scree_Status make_compliant(const Shear *s, const scree_Problem *posed, const double *past,
                                   scree_Problem *problem) {
  const size_t nc = (size_t)posed->nc, d = (size_t)posed->d, nb = (size_t)posed->bodies.nb;
  scree_Status status =
      scree_problem_create_bodies(problem, posed->d, posed->nc, posed->bodies.nbodies,
                                  posed->bodies.nb, false, s->C > 0.0, &settle_log);
  if (status) return status;
  problem->flow = SCREE_ASSOCIATED;
  memcpy(problem->bodies.body, posed->bodies.body, nc * 2 * sizeof(int));
  for (size_t c = 0; c < nc; ++c)
    scree_problem_blocks(posed, (int)c, problem->bodies.B + c * 2 * d * nb);
  memcpy(problem->q, posed->q, nc * d * sizeof(double));
  memcpy(problem->mu, posed->mu, nc * sizeof(double));
  for (size_t c = 0; c < nc && s->C > 0.0; ++c)
    for (size_t i = 0; i < d; ++i) {
      problem->bodies.C[(c * d + i) * d + i] = s->C;
      if (i > 0) problem->q[c * d + i] -= s->C * past[c * d + i];
    }
  return SCREE_OK;
}

/* Move the bodies with the impulses r: v+ = v + h g + M^-1 H^T r, x+ = x + h v+. The inertia of
 * disks and spheres is the same in every frame, and their orientation does not matter. */
static scree_Status advance(Shear *s, const scree_Problem *p, const int *problem_body,
                            const double *r) {
  const scree_WorldSettings *settings = scree_world_get_settings(s->world);
  const double h = settings->step;
  const scree_Vec3 g = settings->gravity;
  const int d = p->d, nb = p->bodies.nb;
  scree_Status status = SCREE_OK;
  for (int b = 0; b < s->nbodies; ++b) {
    scree_Vec3 *v = &s->velocity[b].linear;
    *v = (scree_Vec3){v->x + h * g.x, v->y + h * g.y, v->z + h * g.z};
  }
  for (int c = 0; c < p->nc; ++c) {
    double B[36];
    scree_problem_blocks(p, c, B);
    for (int side = 0; side < 2; ++side) {
      const int k = p->bodies.body[2 * c + side];
      if (k < 0) continue;
      const int b = problem_body[k];
      const double m = 1.0 / sqrt(scree_body_mass(s->world, b));
      const double j = 1.0 / sqrt(scree_body_inertia(s->world, b).z);
      scree_Twist *v = &s->velocity[b];
      double *part2[3] = {&v->linear.x, &v->linear.y, &v->angular.z};
      double *part3[6] = {&v->linear.x,  &v->linear.y,  &v->linear.z,
                          &v->angular.x, &v->angular.y, &v->angular.z};
      for (int i = 0; i < d; ++i)
        for (int a = 0; a < nb; ++a)
          *(d == 2 ? part2[a] : part3[a]) +=
              (a < d ? m : j) * B[(side * d + i) * nb + a] * r[c * d + i];
    }
  }
  for (int b = 0; b < s->nbodies && !status; ++b) {
    if (scree_body_is_obstacle(s->world, b)) continue;
    scree_Vec3 *x = &s->pose[b].position, v = s->velocity[b].linear;
    *x = (scree_Vec3){x->x + h * v.x, x->y + h * v.y, x->z + h * v.z};
    status = scree_body_set_pose(s->world, b, &s->pose[b]);
    if (!status) status = scree_body_set_velocity(s->world, b, &s->velocity[b]);
  }
  return status;
}

static scree_Status solve(const Shear *s, const scree_Problem *problem, bool warm, double *r,
                          double *u, scree_SolveInfo *info) {
  scree_SolveSettings settings = scree_solve_settings();
  settings.solver = "spg";
  settings.tolerance = s->options->tolerance;
  settings.threads = 1;
  settings.warm_start = warm;
  const scree_Status status = scree_solve(problem, &settings, r, u, info, &settle_log);
  return status == SCREE_NOT_CONVERGED ? SCREE_OK : status;
}

/* Solve the posed problem cold and warm; r (nc x d) receives the warm solution. */
static scree_Status solve_both(Shear *s, const scree_Problem *posed, double *r, Row *row) {
  const size_t n = (size_t)posed->nc * (size_t)posed->d;
  double *cold = malloc(2 * n * sizeof *cold);
  scree_Problem problem = {0};
  scree_SolveInfo info_cold, info_warm;
  if (!cold) return SCREE_MACHINE;
  double *u = cold + n;
  row->contacts = posed->nc;
  row->matched = carry(s, posed->nc, r);
  scree_Status status = make_compliant(s, posed, r, &problem);
  if (!status) status = solve(s, &problem, false, cold, u, &info_cold);
  if (!status) status = solve(s, &problem, true, r, u, &info_warm);
  if (!status) {
    double difference = 0.0, norm = 0.0, normal = 0.0;
    for (size_t k = 0; k < n; ++k) {
      difference += (r[k] - cold[k]) * (r[k] - cold[k]);
      norm += cold[k] * cold[k];
      if (k % (size_t)posed->d == 0) normal += r[k];
    }
    row->cold = info_cold.iterations;
    row->warm = info_warm.iterations;
    row->converged = info_cold.converged && info_warm.converged;
    row->agreement = sqrt(difference / norm);
    row->overlap = settle_step * s->C * normal / posed->nc / settle_radius;
  }
  scree_problem_destroy(&problem);
  free(cold);
  return status;
}

/* Vertical force of the box over the weight: 1 at rest. */
static double carried(const Shear *s) {
  const int up = s->options->d - 1;
  double impulse = 0.0, mass = 0.0;
  for (int c = 0; c < s->npast; ++c) {
    const Past *p = &s->past[c]; /* the impulse on body[0]; the box was added first */
    if (scree_body_is_obstacle(s->world, p->body[0])) impulse -= p->impulse[up];
  }
  for (int b = 0; b < s->nbodies; ++b)
    if (!scree_body_is_obstacle(s->world, b)) mass += scree_body_mass(s->world, b);
  return impulse / (mass * settle_gravity * settle_step);
}

/* One step: the world poses, spg solves, the bodies move. */
static scree_Status step(Shear *s, double c, Row *row) {
  const scree_Problem *posed;
  const int *problem_body;
  for (int b = 0; b < s->nbodies; ++b) {
    s->pose[b] = scree_body_pose(s->world, b);
    s->velocity[b] = scree_body_velocity(s->world, b);
  }
  scree_Status status = scree_world_step(s->world, NULL);
  if (status == SCREE_NOT_CONVERGED) status = SCREE_OK;
  if (!status) status = scree_world_problem(s->world, &posed, NULL, NULL, &problem_body);
  if (status) return status;
  if (s->C < 0.0) s->C = c * mean_diagonal(posed);
  double *r = malloc((size_t)(posed->nc + 1) * (size_t)posed->d * sizeof *r);
  if (!r) return SCREE_MACHINE;
  status = solve_both(s, posed, r, row);
  if (!status) status = remember(s, posed->nc, r);
  if (!status) row->weight = carried(s);
  if (!status) status = advance(s, posed, problem_body, r);
  free(r);
  return status;
}

/* All steps with one compliance from the settled state; one line of the summary. */
static scree_Status shear(Shear *s, double c, const void *settled, size_t size, bool each) {
  const Options *o = s->options;
  Row row = {0}, total = {.converged = true};
  double ratios = 0.0;
  scree_Status status = scree_world_restore(s->world, settled, size);
  s->C = -1.0;
  s->npast = 0;
  for (int k = 1; k <= SKIP + o->steps && !status; ++k) {
    status = step(s, c, &row);
    if (status || k <= SKIP) continue;
    const double ratio = (double)row.cold / (row.warm > 0 ? row.warm : 1);
    if (each)
      printf("%6d %9d %9d %8d %8d%s %7.2f %10.1e\n", k, row.contacts, row.matched, row.cold,
             row.warm, row.converged ? " " : "*", ratio, row.agreement);
    total.cold += row.cold;
    total.warm += row.warm;
    total.contacts += row.contacts;
    total.converged = total.converged && row.converged;
    total.agreement = fmax(total.agreement, row.agreement);
    ratios += ratio;
    total.overlap += row.overlap;
    total.weight += row.weight;
  }
  if (!status && each)
    printf("%6s %9d %9s %8.1f %8.1f%s %7.2f %10.1e\n", "mean", total.contacts / o->steps, "",
           (double)total.cold / o->steps, (double)total.warm / o->steps,
           total.converged ? " " : "*", ratios / o->steps, total.agreement);
  if (!status && !each)
    printf("%9.0e %9d %10.1e %8.3f %9.1f %9.1f%s %9.2f %9.2f %10.1e\n", c,
           total.contacts / o->steps, total.overlap / o->steps, total.weight / o->steps,
           (double)total.cold / o->steps, (double)total.warm / o->steps,
           total.converged ? " " : "*", ratios / o->steps,
           (double)total.cold / (total.warm > 0 ? total.warm : 1), total.agreement);
  fflush(stdout);
  return status;
}

static scree_Status run(Shear *s) {
  const size_t size = scree_world_state_size(s->world);
  void *settled = malloc(size);
  s->nbodies = scree_world_body_count(s->world);
  s->pose = malloc((size_t)s->nbodies * sizeof *s->pose);
  s->velocity = malloc((size_t)s->nbodies * sizeof *s->velocity);
  scree_Status status = settled && s->pose && s->velocity ? SCREE_OK : SCREE_MACHINE;
  /* From here on the world only poses problems: any impulses, also none, are good enough. */
  scree_WorldSettings settings = *scree_world_get_settings(s->world);
  settings.solve.tolerance = 1e300;
  settings.solve.max_iterations = 1;
  settings.warm_start = false;
  if (!status) {
    scree_world_save(s->world, settled);
    status = scree_world_set_settings(s->world, &settings);
  }
  printf("compliance %g of the mean diagonal of W, step by step\n", shown);
  printf("%6s %9s %9s %8s %8s  %7s %10s\n", "step", "contacts", "matched", "cold", "warm", "ratio",
         "|dr|/|r|");
  if (!status) status = shear(s, shown, settled, size, true);
  printf(
      "\nmeans over the steps (overlap: elastic displacement over the radius; carried: by the box, "
      "over the weight)\n");
  printf("%9s %9s %10s %8s %9s %9s  %9s %9s %10s\n", "c", "contacts", "overlap", "carried", "cold",
         "warm", "mean of", "ratio of", "largest");
  printf("%69s %9s %10s\n", "ratios", "sums", "|dr|/|r|");
  for (int k = 0; k < COMPLIANCES && !status; ++k)
    status = shear(s, compliances[k], settled, size, false);
  free(settled);
  free(s->pose);
  free(s->velocity);
  free(s->past);
  return status;
}

static bool parse(int argc, char **argv, Options *o) {
  for (int k = 1; k < argc; k += 2) {
    if (k + 1 >= argc) return false;
    if (strcmp(argv[k], "--contacts") == 0)
      o->contacts = atoi(argv[k + 1]);
    else if (strcmp(argv[k], "--dimension") == 0)
      o->d = atoi(argv[k + 1]);
    else if (strcmp(argv[k], "--steps") == 0)
      o->steps = atoi(argv[k + 1]);
    else if (strcmp(argv[k], "--mu") == 0)
      o->mu = strtod(argv[k + 1], NULL);
    else if (strcmp(argv[k], "--tol") == 0)
      o->tolerance = strtod(argv[k + 1], NULL);
    else if (strcmp(argv[k], "--pull") == 0)
      o->pull = strtod(argv[k + 1], NULL);
    else
      return false;
  }
  return (o->d == 2 || o->d == 3) && o->steps > 0 && o->contacts > 0;
}

int main(int argc, char **argv) {
  Options options = {
      .contacts = 3000, .d = 3, .steps = 20, .mu = 0.5, .tolerance = 1e-4, .pull = 0.01};
  if (!parse(argc, argv, &options)) {
    fprintf(stderr, "usage: spg_warm [--contacts N] [--dimension 2|3] [--mu X] [--tol X] "
                    "[--steps N] [--pull SPEED]\n");
    return SCREE_BAD_INPUT;
  }
  SettleOptions packing = settle_options(options.d, options.contacts, options.mu);
  Shear s = {.options = &options};
  packing.scheme = "euler";
  packing.pull = options.pull;
  packing.verbose = true;
  printf("spg to %g, %dD, mu = %g, associated law, wall pulled at %g m/s (* not all converged)\n",
         options.tolerance, options.d, options.mu, options.pull);
  scree_Status status = settle_world(&packing, &s.world);
  if (!status) status = run(&s);
  scree_world_destroy(s.world);
  return (int)status;
}

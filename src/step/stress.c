/* Self-stress that no load needs.
 *
 * Where bodies are held by more contacts than they need there are impulses r0 with H^T r0 = 0:
 * they change no velocity, and a jammed packing allows them in any amount. A solver does not see
 * them: Newton's method, whose linear systems are nearly singular along r0, may add a million times
 * the load in one iteration. Then no measure of the step is meaningful. The error is
 * relative to the impulses, the friction that they allow stops every motion (35 grains
 * under a plate that is pressed by 100 N stopped at once from 0.3 m/s), and the work of
 * friction and of normal impulses at velocities that are zero but for errors is large, with
 * opposite signs, so that created energy is reported although there is none.
 *
 * Loads bound the impulses that are needed. They are sums over
 *     bodies    m |dv| + m a |dw| by forces, and sqrt(2 m T): all momentum, T the kinetic energy
 *     contacts  |q_n| / W_nn: what moving obstacles, gaps and restitution ask for
 * In packings no contact carries more than a few times their sum; a lever or a flat arch may. So
 * where one carries more than `limit` times the sum the step is solved once more, from zero, and
 * the smaller impulses are taken if they meet the tolerance. If they are not smaller the next
 * attempts pause as others do (solve.c). Worlds with joints, springs or deformable bodies, which
 * store forces, are left alone. */
#include "step/stress.h"

#include "core/log.h"

#include <string.h>

static const struct {
  double limit;   /* largest impulse over the sum of loads */
  double smaller; /* ratio of largest impulses for which those from zero are taken */
} rules = {.limit = 10, .smaller = 0.5};

static double load_of(const scree_System *s, int k) {
  const scree_Bodies *b = &s->bodies;
  const double mass = b->inertia[k].mass;
  double load = mass * scree_system_forced_change(s, k);
  if (s->forced) load += mass * b->cold[k].shape.size * scree_norm(s->forced[k].angular);
  return load + sqrt(2 * mass * scree_bodies_kinetic(b, k, NULL));
}

static bool is_meant(const scree_System *s, const scree_Portion *part) {
  return part->problem->general.count == 0 && !scree_rolls(s) && !s->laws.any_terms &&
         !scree_system_deforms(s) && s->joints.count == 0 && s->posed.all > 0 &&
         scree_system_tightens(s);
}

/* Largest impulse of a contact. */
static double largest(const scree_System *s, const double *r) {
  const size_t d = (size_t)s->bodies.dimension;
  double most = 0;
  for (int c = 0; c < s->posed.nc; ++c) most = fmax(most, r[(size_t)c * d]);
  return scree_system_max(s, most);
}

static void load_body(const scree_System *s, int k, double h, scree_Totals *term) {
  (void)h;
  if (!s->bodies.fixed[k] && scree_domain_owns(&s->domain, k)) term->sum[0] = load_of(s, k);
}

static void load_contact(const scree_System *s, int c, double h, scree_Totals *term) {
  (void)h;
  const size_t d = (size_t)s->bodies.dimension;
  term->sum[0] = fabs(s->posed.q[(size_t)c * d]) / scree_system_diagonal(s, c, 0);
}

double scree_stress(const scree_System *s, const scree_Portion *part) {
  if (!is_meant(s, part)) return 0;
  scree_Totals all = {{0, 0}, 0};
  scree_system_add_terms(s, s->bodies.count, 0, load_body, &all);
  scree_system_add_terms(s, s->posed.nc, 0, load_contact, &all);
  double load = all.sum[0];
  scree_system_sums(s, &load, 1);
  return load > 0 ? largest(s, part->r) / (rules.limit * load) : 0;
}

bool scree_stress_rises(const scree_System *s, const scree_Portion *part, const double *before) {
  return scree_stress(s, part) > 1 && rules.smaller * largest(s, part->r) > largest(s, before);
}

scree_Status scree_stress_relieve(scree_System *s, const scree_Portion *part,
                                  scree_StepReport *report) {
  if (!(scree_stress(s, part) > 1) || scree_system_work_used_up(s)) return SCREE_OK;
  if (s->work.stress.steps > 0) {
    --s->work.stress.steps;
    return SCREE_OK;
  }
  const size_t rows = scree_problem_rows(part->problem), bytes = rows * sizeof *part->r;
  const double before = largest(s, part->r);
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  double *kept = SCREE_TAKE_RAW(&s->scratch, double, rows);
  scree_Status status =
      scree_domain_agree(s, kept ? SCREE_OK : scree_fail_memory(s->log, "the impulses of a step"));
  if (!status) {
    memcpy(kept, part->r, bytes);
    memset(part->r, 0, bytes);
    scree_SolveSettings settings = scree_system_solve_settings(s, false);
    settings.warm_start = false;
    status = scree_portion_solve(s, part, &settings, INFINITY, report);
  }
  if (!status) {
    const bool relieved = report->solve.converged && largest(s, part->r) < rules.smaller * before;
    scree_pause_after(&s->work.stress, relieved, false);
    if (!relieved) {
      memcpy(part->r, kept, bytes);
      status = scree_portion_measure(s, part, report);
    }
  }
  scree_arena_release(&s->scratch, mark);
  return status;
}

/* Errors of a solution compared with the forces.
 *
 * The error of a solve (problem/measure.c) is relative to the largest of all impulses r and of
 * rho times all velocities. Where a body moves fast under a small load, an error below the
 * tolerance can be as large as the forces on it, and where something heavy rests beside it, as
 * large as many times these forces. Positions and energies do not show it: from step to step the
 * errors have opposite signs. A ladder of 2 m that slides down a wall at 1.4 m/s, with steps of
 * 0.1 ms, pressed on the wall with 1.2 to 3.0 N instead of 2.1 N; beside two blocks of 10 t that
 * rest the force was off by up to the whole weight of the ladder. Both were certified.
 *
 * So the natural map is compared with the impulses alone, or with the impulses of the forces on the
 * bodies in the step, if those are larger (contacts that carry less than a weight do not matter):
 * first of all contacts together, then of each island with a rho of its own, since islands do not
 * influence each other. Where it is too large, the solve continues, for the whole or for this
 * island alone, with at most as much work as the step has cost so far.
 *
 * Small problems are solved until this error is a thousand times smaller: impulses that are right
 * are right in the next step too, so that sweeps that end at 1e-4 in each step cost about as much.
 * A cart with a spinning wheel pressed on the ground with a force that was 1.3 % off (root mean
 * square; 18 % in one step of 330), after 2835 sweeps in all; now 0.001 % after 3539. Counted
 * sweeps of small scenes changed by factors of 0.3 to 3; larger problems are not affected. */
#include "step/forces.h"

#include "core/log.h"
#include "core/memory.h"
#include "problem/measure.h"

static const struct {
  double error;  /* allowed natural map over the loads; tests/test_slide.c asks for a few of it */
  double fine;   /* the same in small problems */
  int small;     /* contacts in them, at most, on all ranks */
  double margin; /* target, as a part of it: warm starts keep what is gained for the next steps */
  double sweeps; /* that may always be added */
  double least;  /* tolerance that is requested at least: rounding */
} rules = {.error = 1e-3, .fine = 1e-6, .small = 32, .margin = 0.05, .sweeps = 50, .least = 1e-14};

/* Natural map of a part over its loads, if its bodies change their velocities by `forced`. */
static double error_of(const scree_Measures *m, double impulses, double forced) {
  const double loads = fmax(impulses, m->rho * forced);
  return loads > 0 ? m->error * m->scale / loads : 0;
}

static double square_of(const double *r, size_t rows) {
  double square = 0;
  for (size_t i = 0; i < rows; ++i) square += r[i] * r[i];
  return square;
}

/* Solve a part that has been measured further; `error` is that of forces. */
static scree_Status continue_solve(scree_System *s, const scree_Portion *part, double error,
                                   double allowed, double most, scree_StepReport *report) {
  scree_SolveSettings settings = scree_system_solve_settings(s, true);
  settings.tolerance = fmax(rules.least, rules.margin * allowed / error * report->solve.value);
  return scree_portion_solve(s, part, &settings, most, report);
}

static scree_Status refine_whole(scree_System *s, const scree_Portion *whole, double most,
                                 scree_StepReport *report) {
  double square = square_of(whole->r, scree_problem_rows(whole->problem));
  scree_system_sums(s, &square, 1);
  const double error = error_of(&report->solve.measures, sqrt(square), s->forced_most);
  const double allowed = s->posed.all <= rules.small ? rules.fine : rules.error;
  return error > allowed ? continue_solve(s, whole, error, allowed, most, report) : SCREE_OK;
}

/* ---- islands --------------------------------------------------------------------------------- */

/* What forces do to an island. */
typedef struct Forced {
  double diagonal; /* of W, the sum over all rows */
  double most;     /* largest change of velocity by forces of its bodies */
} Forced;

/* The terms of one contact in the data of its island. */
typedef struct Loaded {
  double diagonal[3], most;
} Loaded;

static void find_loaded(const scree_System *s, const scree_Problem *p, Loaded *loaded,
                        scree_Share share) {
  SCREE_OVER_BODIES(c, p->nc, share) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    for (int k = 0; k < p->d; ++k) loaded[c].diagonal[k] = scree_system_diagonal(s, c, k);
    loaded[c].most =
        fmax(scree_system_forced_change(s, key->i), scree_system_forced_change(s, key->j));
  }
}

static scree_Status find_forced(scree_System *s, const scree_Problem *p,
                                const scree_Islands *islands, Forced *forced) {
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  Loaded *loaded = SCREE_TAKE_RAW(&s->scratch, Loaded, p->nc);
  if (!loaded) return scree_fail_memory(s->log, "the loads of islands");
  SCREE_ON_THREADS(p->nc, s->threads, share, find_loaded(s, p, loaded, share));
  for (int c = 0; c < p->nc; ++c) {
    Forced *own = &forced[islands->of[c]];
    for (int k = 0; k < p->d; ++k) own->diagonal += loaded[c].diagonal[k];
    own->most = fmax(own->most, loaded[c].most);
  }
  scree_arena_release(&s->scratch, mark);
  return SCREE_OK;
}

/* Mark the islands whose error is too large. Those with joints or deformable bodies are left to
 * the whole. */
static scree_Status mark_islands(scree_System *s, const scree_Problem *p,
                                 const scree_Islands *islands, Forced *forced,
                                 scree_IslandNorms *norms, bool *marked) {
  const scree_Status status = find_forced(s, p, islands, forced);
  if (status) return status;
  for (int k = 0; k < islands->count; ++k)
    norms[k].rho = forced[k].diagonal > 0 ? islands->size[k] * p->d / forced[k].diagonal : 0;
  scree_islands_norms(p, islands, s->posed.r, s->posed.u, s->threads, norms);
  for (int k = 0; k < islands->count; ++k) {
    const double loads = fmax(norms[k].r, norms[k].rho * forced[k].most);
    marked[k] = !islands->bound[k] && norms[k].rho > 0 && norms[k].map > rules.error * loads;
  }
  return SCREE_OK;
}

/* Solve an island alone; true if it has got better impulses. */
static scree_Status refine_island(scree_System *s, const scree_Portion *part, double forced,
                                  double most, scree_StepReport *report, bool *better) {
  const size_t rows = (size_t)part->problem->nc * (size_t)part->problem->d;
  const double before = s->work.spent;
  scree_StepReport own = {.tolerance = report->tolerance};
  scree_SolveSettings settings = scree_system_solve_settings(s, true);
  *better = false;
  scree_Status status = scree_portion_solve(s, part, &settings, most, &own); /* measured */
  if (!status && own.solve.converged) {
    const double error = error_of(&own.solve.measures, sqrt(square_of(part->r, rows)), forced);
    const double left = most - (s->work.spent - before);
    *better = true;
    if (error > rules.error && left > 0 && !scree_portion_is_exact(&own))
      status = continue_solve(s, part, error, rules.error, left, &own);
  }
  report->iterations += own.iterations;
  report->solves += own.solves;
  report->work += own.work;
  return status;
}

static scree_Status refine_islands(scree_System *s, const scree_Portion *whole,
                                   const scree_Islands *islands, double most,
                                   scree_StepReport *report) {
  const scree_Problem *p = whole->problem;
  scree_Arena *arena = &s->scratch;
  Forced *forced = SCREE_TAKE(arena, Forced, islands->count);
  scree_IslandNorms *norms = SCREE_TAKE_RAW(arena, scree_IslandNorms, islands->count);
  bool *marked = SCREE_TAKE(arena, bool, islands->count);
  if (!forced || !norms || !marked) return scree_fail_memory(s->log, "the loads of islands");
  scree_Status status = mark_islands(s, p, islands, forced, norms, marked);
  if (status) return status;
  const int largest = scree_portion_largest(islands, marked);
  if (largest == 0) return SCREE_OK;
  scree_PortionRoom room;
  status = scree_portion_room(s, p, islands, largest, &room);
  const double before = s->work.spent;
  bool changed = false;
  for (int k = 0; k < islands->count && !status; ++k) {
    const double left = most - (s->work.spent - before);
    if (!marked[k]) continue;
    if (!(left > 0)) break;
    const scree_Portion part = scree_portion_of(s, &room);
    bool better;
    scree_portion_take(p, islands, k, s->posed.r, &room);
    status = refine_island(s, &part, forced[k].most, left, report, &better);
    if (status || !better) continue;
    changed = true;
    scree_portion_put(&room, s->posed.r);
  }
  if (!status && changed) status = scree_portion_measure(s, whole, report);
  return status;
}

scree_Status scree_forces_refine(scree_System *s, const scree_Portion *whole,
                                 const scree_Islands *known, scree_StepReport *report) {
  if (!scree_system_tightens(s) || scree_portion_is_exact(report)) return SCREE_OK;
  const double sweep = scree_domain_sweep_seconds(s, whole->problem);
  const double most = fmax(s->work.spent, rules.sweeps * sweep);
  const scree_Status status = refine_whole(s, whole, most, report);
  if (status || s->domain.global || scree_rolls(s) || whole->problem->nc == 0) return status;
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  scree_Islands found = *known;
  scree_Status good =
      known->count > 0 ? SCREE_OK : scree_islands_find(whole->problem, &s->scratch, &found, s->log);
  if (!good && found.count > 1) good = refine_islands(s, whole, &found, most, report);
  scree_arena_release(&s->scratch, mark);
  return good;
}

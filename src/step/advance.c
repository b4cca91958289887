/* One attempt at a step (see system.h for its five parts). */
#include "core/clock.h"
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <string.h>

enum { REDETECTIONS = 4, EXPANSIONS = 8, CORRECTIONS = 8 };
/* Least energy that misplaced energy of vibrations is compared with: this part of all that was
 * turned over. Steps are not divided for the round-off of bodies at rest. */
static const double vibrates = 1e-6;
static const double joint_accuracy = 1e-13; /* error of joints, relative to their size */

/* Search distance of a body: somewhat more than it would move without contacts, plus a hundredth of
 * its size for bodies that are pushed by others. If the solution moves a body further, the
 * detection is repeated. */
static const double ahead = 1.5, ahead_size = 0.01;

/* Motion of the furthest point of body k in a step h at velocity v. */
static double motion_of(const scree_Bodies *b, int k, const scree_Twist *v, double h) {
  const double turn = scree_norm(v->angular);
  const double arm = b->cold[k].shape.bounding_radius;
  return h * (scree_norm(v->linear) + (turn > 0 && isfinite(arm) ? turn * arm : 0));
}

/* Balls look the same in every orientation: only the centre matters. */
static double reach_of(const scree_System *s, int k, scree_VelocityTime moment,
                       const scree_Twist *v, double h) {
  const scree_Bodies *b = &s->bodies;
  if (b->fixed[k] && b->cold[k].belt) return 0;
  if (scree_bodies_deformable(b, k)) return scree_deform_reach(s, k, moment, h);
  if (scree_shape_is_ball(&b->cold[k].shape)) return h * scree_norm(v->linear);
  return motion_of(b, k, v, h);
}

/* In a cell that is deformed neighbours move with it: what counts is their velocity without that
 * motion, and the part of it over the distance of their centres. */
static double reach_in_cell(const scree_System *s, int k, scree_VelocityTime moment, scree_Twist v,
                            double h) {
  const scree_Bodies *b = &s->bodies;
  if (!s->cell.any) return reach_of(s, k, moment, &v, h);
  const scree_Mat3 L = moment == SCREE_AFTER
                           ? scree_cell_gradient_after(&s->cell)
                           : scree_mat3_matmul(&s->cell.state.velocity, &s->cell.inverse);
  const double rate = sqrt(scree_norm2(L.x) + scree_norm2(L.y) + scree_norm2(L.z));
  const double radius = b->cold[k].shape.bounding_radius;
  const scree_Vec3 x = scree_sub(b->motion[k].pose.position, s->cell.centre);
  v.linear = scree_sub(v.linear, scree_mat3_mul(&L, x));
  const double reach = reach_of(s, k, moment, &v, h);
  return reach + h * rate * (reach + (isfinite(radius) ? 2 * radius : 0));
}

static void reach_ahead(scree_System *s, double h, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->count, share) {
    const double size = b->cold[k].shape.size;
    const scree_Twist free = scree_system_free(s, k);
    s->reach[k] = ahead * reach_in_cell(s, k, SCREE_FREE, free, h);
    if (!b->fixed[k]) s->reach[k] += ahead_size * size;
  }
}

static scree_Status look_ahead(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  if (!scree_grow_lean((void **)&s->reach, &s->reach_capacity, (size_t)b->count, sizeof *s->reach))
    return scree_fail_memory(s->log, "the reach of bodies");
  SCREE_ON_THREADS(b->count, s->threads, share, reach_ahead(s, h, share));
  return SCREE_OK;
}

static void raise_reach(scree_System *s, double h, double *most, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  double found = 0;
  SCREE_OVER_BODIES(k, b->count, share) {
    if (b->fixed[k] || !scree_domain_owns(&s->domain, k)) continue;
    const scree_Twist after = scree_system_after(s, k);
    const double moved = reach_in_cell(s, k, SCREE_AFTER, after, h);
    if (!(moved > s->reach[k])) continue;
    s->reach[k] = ahead * moved;
    found = 1;
  }
  scree_share_raise(most, found);
}

/* Increase the reach of bodies that the solution moves further than their search distance. */
static scree_Status look_further(scree_System *s, double h, bool *further) {
  double found = 0;
  SCREE_ON_THREADS(s->bodies.count, s->threads, share, raise_reach(s, h, &found, share));
  *further = scree_system_max(s, found) > 0;
  return *further ? scree_domain_to_ghosts(s, s->reach, sizeof *s->reach) : SCREE_OK;
}

/* The times of a step. */
typedef struct Times {
  double h;      /* length of the step */
  double forced; /* how long forces act in the kick: h, or 0 for an impact */
  double theta;  /* part of the step after the kick */
  double middle; /* time at which forces are evaluated */
  double driven; /* time at which obstacles are evaluated: halfway between this kick and the next */
  double before; /* time halfway between the last kick and this one */
  double horizon; /* time from this kick to the next one, if that step is not halved */
  bool at_start;  /* it is the impact at the start of a span, whose impulses are not delayed */
} Times;

static Times times_of(const scree_System *s, const scree_StepSpan *span) {
  const double theta = s->scheme->theta(&s->settings), start = span->start, h = span->h;
  const bool first = !(s->memory.h > 0) || (span->after_impact && theta < 1);
  Times t = {.h = h,
             .forced = h,
             .theta = theta,
             .middle = start + 0.5 * h,
             .driven = start + 0.5 * h,
             .before = start + 0.5 * h,
             .horizon = h};
  if (!s->scheme->looks_ahead) return t;
  t.horizon = theta * h + (span->before_impact ? 0 : (1 - theta) * span->next);
  t.driven = start + (1 - theta) * h + 0.5 * t.horizon;
  if (theta < 1)
    t.before = first ? start + 0.5 * (1 - theta) * h : start;
  else
    t.before = first ? t.driven : start - 0.5 * s->memory.h;
  return t;
}

/* A part of a step is not shorter than 1/8 of it. */
static bool is_brief(const scree_System *s, const scree_StepSpan *span, double horizon) {
  return (span->before_impact || span->after_impact) && horizon < s->settings.step / 16;
}

/* Predict the gaps at the time when the bodies meet. */
static scree_Status meet(scree_System *s, const Times *t) {
  scree_system_bend(s, t->horizon);
  const scree_Status status = scree_system_foresee(s, t->horizon);
  /* normals of a later time conserve angular momentum only with delayed impulses (delay.c) */
  if (!status && !t->at_start) scree_system_aim(s, t->horizon);
  return status;
}

/* Repeat the detection with the longer reaches, up to REDETECTIONS times. */
static scree_Status look_again(scree_System *s, const Times *t, scree_StepReport *report,
                               bool *again) {
  *again = report->redetections < REDETECTIONS && !scree_system_work_used_up(s);
  if (!*again) return SCREE_OK;
  report->redetections++;
  scree_Status status = scree_domain_agree(s, scree_system_remember(s, t->h));
  if (!status) status = scree_system_detect(s, s->settings.gap_tolerance, s->reach);
  if (!status) status = meet(s, t);
  return status;
}

/* Linearise again the gaps that rotation closes further than predicted (overlap.c). */
static scree_Status expand_again(scree_System *s, const Times *t, scree_StepReport *report,
                                 bool *again) {
  scree_Points *points = &s->overlaps;
  points->count = 0;
  points->failed = false;
  const double before = report->overlap;
  scree_Status status =
      scree_domain_agree(s, scree_system_overlap(s, t->horizon, points, &report->overlap));
  report->overlap = scree_system_max(s, report->overlap);
  /* stop if solving again no longer reduces the overlap: the solver has reached its accuracy */
  const bool better = report->expansions < 2 || report->overlap < 0.9 * before;
  *again = !status && report->overlap > 0 && better && report->expansions < EXPANSIONS &&
           !scree_system_work_used_up(s);
  if (*again) {
    report->expansions++;
    status = scree_system_remember(s, t->h);
    if (!status) status = scree_system_expand_again(s, t->horizon, points);
    status = scree_domain_agree(s, status);
  }
  return status;
}

/* Overlap at the end of a step, relative to size, that is accepted: the tolerance, or the overlap
 * that existed before the step. */
static double overlap_allowed(const scree_System *s, const scree_StepReport *report) {
  return fmax(s->settings.penetration, report->penetration);
}

/* Pose the problem of the current contacts. */
static scree_Status pose_contacts(scree_System *s, const Times *t, scree_StepReport *report) {
  const double clock = scree_seconds();
  scree_Status status = scree_system_pose(s);
  if (!status && !scree_system_is_posed(s)) scree_deform_after(s);
  if (status || !scree_system_is_posed(s)) return status;
  status = scree_domain_agree(s, scree_system_warm(s, t->h));
  if (status) return status;
  status = scree_domain_agree(s, scree_system_fill(s));
  if (status) return status;
  scree_joints_fill(s, t->h);
  status = scree_system_close(s);
  if (status) return status;
  report->seconds_build += scree_seconds() - clock;
  return SCREE_OK;
}

/* Solve it, from the impulses of a rough solution if there is one. */
static scree_Status solve_contacts(scree_System *s, bool begun, scree_StepReport *report) {
  const double clock = scree_seconds();
  scree_Status status = scree_system_solve(s, begun, report);
  if (!status && s->scheme->looks_ahead) status = scree_system_hold_bounces(s, report);
  /* correct the locked motions until no error at the next kick is above round-off, or it stops
   * falling */
  double last = INFINITY;
  for (int k = 0; !status && s->joints.all && k < CORRECTIONS; ++k) {
    s->posed.rho = report->solve.measures.rho;
    double error;
    const double wrong = scree_system_max(s, scree_joints_correct(s, &error));
    report->joint_error = scree_system_deforms(s) ? scree_system_max(s, error) : wrong;
    if (!(wrong > joint_accuracy && wrong < 0.5 * last) || scree_system_work_used_up(s)) break;
    last = wrong;
    status = scree_system_solve(s, begun, report);
  }
  if (!status) scree_deform_after(s);
  report->seconds_solve += scree_seconds() - clock;
  return status;
}

/* *found: 1 if a contact of this share may push. */
static void find_pushes(const scree_System *s, double horizon, double *found, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(c, (int)s->contacts.count, share) {
    const int i = s->contacts.keys[c].i, j = s->contacts.keys[c].j;
    if (b->fixed[i] || b->fixed[j]) continue;
    const double size = scree_pair_size(&b->cold[i].shape, &b->cold[j].shape);
    const double free = scree_system_free_approach(s, c);
    if (!(s->contacts.gap[c] + horizon * free < -ahead_size * size)) continue;
    scree_share_raise(found, 1);
    break;
  }
}

/* Whether an impact may move a body further than its search distance: the approach of two bodies
 * in the step exceeds the part of the distance that is meant for bodies pushed by others. */
static bool may_push(const scree_System *s, double horizon) {
  double found = 0;
  SCREE_ON_THREADS((int)s->contacts.count, s->threads, share,
                   find_pushes(s, horizon, &found, share));
  return scree_system_max(s, found) > 0;
}

/* Contacts that are missing change the solution, and all of its work would be done again. So where
 * impacts may push bodies beyond their search distance a rough solution comes first: it shows which
 * these are at a small part of the price, and is a start for the next one. */
static scree_Status solve_roughly(scree_System *s, const Times *t, scree_StepReport *report,
                                  bool *again) {
  double clock = scree_seconds(), now;
  scree_Status status = scree_system_solve_roughly(s, report);
  report->seconds_solve += (now = scree_seconds()) - clock;
  clock = now;
  *again = false;
  bool further = false;
  if (!status) status = look_further(s, t->horizon, &further);
  if (!status && further) status = look_again(s, t, report, again);
  report->seconds_detect += scree_seconds() - clock;
  return status;
}

/* Parts 2 and 3 up to the solution: contacts, problem, impulses. */
static scree_Status find_impulses(scree_System *s, const Times *t, scree_StepReport *report,
                                  bool *complete) {
  const bool looks = s->scheme->looks_ahead;
  double clock = scree_seconds();
  unsigned missed = 0;
  *complete = true;
  scree_Status status = scree_domain_agree(s, scree_system_force(s, t->middle, t->forced));
  if (!status && t->forced > 0) scree_system_weigh(s, t->forced);
  if (!status && scree_system_deforms(s)) status = scree_deform_prepare(s, t->forced);
  if (!status && looks) status = look_ahead(s, t->horizon);
  if (!status) status = scree_system_detect(s, s->settings.gap_tolerance, looks ? s->reach : NULL);
  if (status) return status;
  report->penetration = scree_system_penetration(s, report->deepest_body);
  if (looks) status = meet(s, t);
  if (status) return status;
  report->seconds_detect += scree_seconds() - clock;
  bool rough = looks && s->settings.warm_start && !scree_system_rests(s) && may_push(s, t->horizon);
  for (bool again = true; again;) {
    status = pose_contacts(s, t, report);
    if (status || !scree_system_is_posed(s)) return status;
    const bool begun = rough;
    if (rough) {
      rough = false;
      status = solve_roughly(s, t, report, &again);
      if (status) return status;
      if (again) continue;
    }
    status = solve_contacts(s, begun, report);
    if (status || !looks) return status;
    if (!scree_system_work_used_up(s) && scree_system_drop_pushes(s)) {
      s->trial.count = 0; /* begin with the impulses of the last step */
      s->trial.h = 0;
      again = true;
      continue;
    }
    clock = scree_seconds();
    bool further;
    status = look_further(s, t->horizon, &further);
    if (!status)
      status = further ? look_again(s, t, report, &again) : expand_again(s, t, report, &again);
    if (status) return status;
    report->seconds_detect += scree_seconds() - clock;
    missed = further ? SCREE_MISSED_REACH : 0;
    if (report->overlap > overlap_allowed(s, report)) missed |= SCREE_MISSED_OVERLAP;
    if (scree_system_sinking(s) > scree_system_sinking_allowed()) missed |= SCREE_MISSED_SINKING;
  }
  *complete = missed == 0;
  report->missed |= missed;
  return SCREE_OK;
}

/* Set the velocities after the kick; forces and impulses are then consumed. */
static void kick(scree_System *s) {
  scree_system_kick(s);
  scree_cell_kick(&s->cell);
  s->posed.y = NULL;
  s->forced = NULL;
}

/* Bodies that touch at the start of a simulation may approach each other, and the drift before the
 * first kick would make them overlap. So a scheme that drifts first begins with an impact: a kick
 * without forces, for the time until the first kick. If no bodies approach, it has no effect, and
 * free flight is exact from the first step on. The same is done where a step was cut at an impact
 * (event.c). */
static scree_Status begin_with_impact(scree_System *s, const scree_StepSpan *span, const Times *t,
                                      scree_StepReport *report, bool *complete,
                                      scree_Event *event) {
  const double h = (1 - t->theta) * t->h;
  *complete = true;
  if ((s->memory.h > 0 && !span->after_impact) || !s->scheme->looks_ahead || h == 0)
    return SCREE_OK;
  /* without this, springs would act for longer than the step */
  if (s->laws.any_terms || !scree_joints_only_hold(s)) return SCREE_OK;
  const Times impact = {.h = h, .theta = 1, .middle = t->middle, .horizon = h, .at_start = true};
  scree_law_table_fill(&s->laws, h);
  s->times = (scree_StepTimes){h, h, h, t->before - 0.5 * h, is_brief(s, span, h)};
  s->forced_most = 0;
  scree_Status status = scree_bodies_drive(&s->bodies, t->before, s->log);
  if (!status) status = find_impulses(s, &impact, report, complete);
  if (!status && span->may_cut) status = scree_system_event(s, s->total.kinetic, span, event);
  if (status) return status;
  if (scree_system_is_posed(s) && !report->solve.converged) {
    *complete = false;
    report->missed |= SCREE_MISSED_ERROR;
  }
  if (span->after_impact) status = scree_domain_agree(s, scree_system_carry(s));
  if (status) return status;
  scree_cell_measure_kick(s);
  scree_system_work(s, 0.5, h, &report->energy);
  kick(s);
  s->trial.count = 0;
  s->trial.h = 0;
  scree_law_table_fill(&s->laws, t->h);
  return SCREE_OK;
}

static void close_balance(scree_System *s, const scree_EnergyBalance *old, scree_EnergyBalance *e) {
  scree_system_energy(s, &e->kinetic, &e->potential);
  const double elastic = scree_joints_elastic(s), strain = s->deform.strain_end;
  e->elastic += elastic + strain;
  e->scheme += strain - s->deform.strain;   /* includes the work of internal forces, see deform.h */
  e->scheme += elastic - s->joints.elastic; /* includes the work of the springs, see joints.c */
  const double change =
      (e->kinetic - old->kinetic) + (e->potential - old->potential) + (e->elastic - old->elastic);
  const double lost = e->normal + e->friction + e->viscous + e->plastic;
  e->closing = change - (e->forces + e->drivers - lost + e->scheme + e->push);
}

static void grade(scree_System *s, scree_StepReport *report, bool complete, bool *halve) {
  scree_Posed *p = &s->posed;
  const int d = s->bodies.dimension;
  const scree_SolveInfo *info = &report->solve;
  const double limit = s->settings.penetration_limit;
  report->contacts = (int)p->all;
  report->worst_body[0] = report->worst_body[1] = -1;
  bool solved = true;
  report->joints = s->joints.all ? s->joints.count : 0;
  if (scree_system_is_posed(s)) {
    report->error = info->value;
    report->cone_violation = info->measures.cone_violation;
    solved = info->converged;
    p->rho = info->measures.rho;
    p->scale = info->measures.scale;
    if (!solved) report->contacts_above = scree_system_count_above(s, report->tolerance);
    const int worst = info->measures.worst_contact - scree_domain_first_contact(s);
    int pair[2];
    const bool mine = worst >= 0 && worst < p->nc;
    if (mine) {
      pair[0] = s->contacts.keys[worst].i;
      pair[1] = s->contacts.keys[worst].j;
    }
    scree_system_pair(s, mine ? pair : NULL, report->worst_body);
  }
  p->r_max = 0;
  for (int c = 0; c < p->nc; ++c) p->r_max = fmax(p->r_max, p->r[(size_t)c * (size_t)d]);
  p->r_max = scree_system_max(s, p->r_max);
  double active = 0;
  for (int c = 0; c < p->nc; ++c) active += scree_system_is_active(s, c);
  scree_system_sums(s, &active, 1);
  report->active = (int)active;
  if (!solved) report->missed |= SCREE_MISSED_ERROR;
  if (report->penetration > limit) report->missed |= SCREE_MISSED_PENETRATION;
  /* penetration that exists before the first step is not caused by the step */
  const bool worse = s->memory.h > 0 && report->penetration > s->penetration;
  if (s->joints.all && !(report->joint_error <= limit)) report->missed |= SCREE_MISSED_JOINTS;
  report->certified = complete && report->missed == 0;
  *halve = !solved || !complete || (report->penetration > limit && worse) ||
           (report->missed & SCREE_MISSED_JOINTS) != 0;
  if (scree_system_work_used_up(s)) *halve = false;
}

/* Refuse laws that the problem cannot represent together, or with these bodies. */
static scree_Status check_laws(const scree_System *s) {
  const char *what = s->laws.any_rolling ? "resistance to rolling" : "a dilatancy";
  if ((s->laws.any_rolling || s->laws.any_flow) && scree_system_deforms(s))
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "law with %s: found deformable bodies, expected rigid ones", what);
  if (s->laws.any_rolling && s->laws.any_flow)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "law with %s: found a dilatancy other than 1, expected 1", what);
  return SCREE_OK;
}

scree_Status scree_system_advance(scree_System *s, const scree_StepSpan *span,
                                  scree_StepReport *report, scree_StepOutcome *outcome) {
  const Times t = times_of(s, span);
  const double h = span->h;
  scree_EnergyBalance old = s->total;
  double clock = scree_seconds(), now;
  bool begun, complete;
  *outcome = (scree_StepOutcome){.event.time = -1};
  *report = (scree_StepReport){.h = h, .tolerance = s->settings.solve.tolerance, .substeps = 1};
  s->work.before = s->work.spent;
  scree_law_table_fill(&s->laws, h);
  scree_Status status = scree_deform_begin(s);
  if (status) return status;
  if (!s->energy_known) {
    const scree_LawEnergy stored = scree_system_stored(s, &s->memory);
    scree_system_energy(s, &old.kinetic, &old.potential);
    old.elastic = stored.normal + stored.tangent + scree_joints_elastic(s) + s->deform.strain;
  }
  s->joints.elastic = scree_joints_elastic(s);
  s->joints.rows.count = 0;
  s->joints.all = 0;
  s->trial.count = s->trial.late.count = 0;
  s->trial.h = 0;
  s->carried.any = s->carried.kicked = false;
  s->posed.y = NULL; /* of an attempt that was given up */
  s->forced = NULL;
  status = check_laws(s);
  if (!status) status = scree_bodies_drive(&s->bodies, t.before, s->log);
  scree_cell_settle(s);
  if (span->first) scree_cell_measure_begin(s);
  if (!status) status = begin_with_impact(s, span, &t, report, &begun, &outcome->event);
  if (!status && outcome->event.time >= 0) return status; /* nothing stands */
  const scree_StepReport first = *report;                 /* of the impact */
  report->redetections = report->expansions = 0;          /* each kick has its own limits */
  report->overlap = 0;
  s->times = (scree_StepTimes){h, t.horizon, t.theta * h, t.driven - 0.5 * t.horizon,
                               is_brief(s, span, t.horizon)};
  if (!status) scree_system_drift(s, (1 - t.theta) * h);
  if (!status) scree_system_move_late(s, &s->memory.late, (1 - t.theta) * h);
  if (!status) status = scree_bodies_drive(&s->bodies, t.driven, s->log);
  if (!status) status = scree_cell_drive(s, t.driven, h);
  report->seconds_move += scree_seconds() - clock;
  if (!status) status = find_impulses(s, &t, report, &complete);
  if (!status && s->scheme->looks_ahead) status = scree_system_dissipate(s, old.kinetic, report);
  if (!status && span->may_cut) status = scree_system_event(s, old.kinetic, span, &outcome->event);
  if (status) return status;

  clock = scree_seconds();
  s->carried.any = span->part || s->carried.kicked;
  status = scree_system_remember(s, h);
  if (!status && s->carried.any) status = scree_system_carry(s);
  status = scree_domain_agree(s, status);
  if (status) return status;
  scree_joints_remember(s);
  scree_cell_measure_kick(s);
  scree_cell_measure_motion(s, h);
  scree_system_work(s, t.theta, h, &report->energy);
  status = scree_creep_add(s, h);
  if (status) return status;
  report->redetections += first.redetections;
  report->expansions += first.expansions;
  report->energy.normal += first.energy.normal;
  report->energy.friction += first.energy.friction;
  report->energy.viscous += first.energy.viscous;
  report->energy.plastic += first.energy.plastic;
  report->energy.drivers += first.energy.drivers;
  report->energy.scheme += first.energy.scheme; /* of joints, whose obstacles move at once */
  report->energy.push += first.energy.push;
  report->seconds_certify += (now = scree_seconds()) - clock;
  clock = now;
  status = scree_system_delay(s, t.theta * h, t.horizon, h, &report->energy);
  if (status) return status;
  scree_system_soft(s, &outcome->soft);
  status = scree_system_impacts(s, &report->energy, &outcome->impacts);
  if (status) return status;
  kick(s);
  scree_system_move_late(s, &s->late, INFINITY);
  scree_system_drift(s, t.theta * h);
  report->energy.drivers += scree_cell_wrap(s);
  status = scree_deform_settle(s, &report->energy);
  if (status) return status;
  const double least = vibrates * scree_audit_turned_over(&s->audit);
  const double energy = fmax(old.kinetic + old.elastic, least);
  outcome->vibration = s->deform.misplaced > 0 ? s->deform.misplaced / energy : 0;
  report->seconds_move += (now = scree_seconds()) - clock;
  clock = now;
  close_balance(s, &old, &report->energy);
  grade(s, report, begun && complete, &outcome->halve);
  report->seconds_certify += scree_seconds() - clock;
  return SCREE_OK;
}

size_t scree_system_snapshot_size(const scree_System *s) {
  return scree_bodies_snapshot_size(&s->bodies) + scree_creep_size(s) +
         (size_t)s->joints.count * sizeof *s->joints.memory +
         (s->cell.any ? sizeof s->cell.state : 0);
}

void scree_system_save(const scree_System *s, void *snapshot) {
  const size_t bodies = scree_bodies_snapshot_size(&s->bodies);
  const size_t joints = (size_t)s->joints.count * sizeof *s->joints.memory;
  char *at = snapshot;
  scree_bodies_save(&s->bodies, s->threads, snapshot);
  if (joints) memcpy(at + bodies, s->joints.memory, joints);
  at += bodies + joints;
  if (s->cell.any) memcpy(at, &s->cell.state, sizeof s->cell.state);
  if (s->cell.any) at += sizeof s->cell.state;
  scree_creep_save(s, at);
}

void scree_system_restore(scree_System *s, const void *snapshot) {
  const size_t bodies = scree_bodies_snapshot_size(&s->bodies);
  const size_t joints = (size_t)s->joints.count * sizeof *s->joints.memory;
  const char *at = snapshot;
  scree_bodies_restore(&s->bodies, snapshot);
  if (joints) memcpy(s->joints.memory, at + bodies, joints);
  at += bodies + joints;
  if (s->cell.any) memcpy(&s->cell.state, at, sizeof s->cell.state);
  if (s->cell.any) at += sizeof s->cell.state;
  scree_creep_restore(s, at);
  scree_cell_refresh(&s->cell);
}

void scree_system_fini(scree_System *s) {
  scree_Posed *p = &s->posed;
  void *bodies[] = {s->reach, s->forced_room, s->lists, s->creep.bodies};
  void *contacts[] = {p->body,    p->B,         p->arm,          p->q,
                      p->r,       p->u,         p->shift,        p->push,
                      p->loaded,  p->mu,        p->set,          p->set_a,
                      p->set_b,   p->C,         p->memory,       p->kept,
                      p->moment,  p->H,         p->problem_body, p->problem_index,
                      p->lowered, p->delay,     p->busy,         p->struck,
                      s->late.at, p->held_back, p->total,        p->before};
  for (int t = 0; t < s->list_count; ++t) scree_points_fini(&s->lists[t]);
  scree_points_fini(&s->overlaps);
  scree_arena_fini(&s->scratch);
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; ++k) scree_free(bodies[k]);
  for (size_t k = 0; k < sizeof contacts / sizeof *contacts; ++k) scree_free(contacts[k]);
  scree_memory_fini(&s->memory);
  scree_memory_fini(&s->trial);
  scree_carried_fini(&s->carried);
  scree_joints_fini(&s->joints);
  scree_deform_fini(&s->deform);
  scree_domain_fini(&s->domain);
  scree_rolling_fini(&s->rolling);
  scree_points_fini(&s->contacts);
  scree_broad_destroy(s->broad);
  scree_solver_destroy(s->solver);
  scree_solver_destroy(s->apart);
  scree_solver_destroy(s->internal);
  scree_law_table_fini(&s->laws);
  scree_bodies_fini(&s->bodies);
  *s = (scree_System){0};
}

size_t scree_system_memory(const scree_System *s) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension, nb = (size_t)s->bodies.nb;
  size_t bytes = scree_bodies_memory(&s->bodies);
  bytes += s->contacts.capacity *
           (sizeof(scree_ContactKey) + 2 * sizeof(scree_Vec3) + 2 * sizeof(double));
  bytes += s->reach_capacity * sizeof *s->reach + s->creep.capacity * sizeof *s->creep.bodies;
  bytes += scree_broad_memory(s->broad);
  bytes += p->row_capacity * (2 * sizeof(int) + (p->B ? 2 * d * nb : 4) * sizeof(double));
  bytes += p->capacity * ((p->shift ? 5 * d + 3 : 4 * d + 1) * sizeof(double));
  bytes += p->set_capacity * (sizeof(uint8_t) + 2 * sizeof(double));
  bytes += (p->body_capacity + p->index_capacity) * sizeof(int);
  bytes += p->lowered_capacity * sizeof(double);
  bytes += (p->busy_capacity + p->struck_capacity) * sizeof(int);
  bytes += p->kept_capacity * sizeof *p->kept;
  bytes += p->term_capacity * (d * d + p->memory_size) * sizeof(double);
  bytes += scree_memory_bytes(&s->memory) + p->total_capacity * sizeof *p->total +
           scree_joints_memory(&s->joints) + scree_deform_memory(&s->deform) +
           scree_rolling_memory(&s->rolling) + p->moment_capacity * sizeof *p->moment +
           p->flow_capacity * sizeof *p->H;
  return bytes;
}

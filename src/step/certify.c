/* The certificate of a step: the energy balance, and which contacts are above the tolerance.
 *
 * In the kick y+ = y- + h f + B^T r the kinetic energy changes by exactly (y+ - y-).(y+ + y-)/2, so
 *     work of contacts on bodies = r . (u+ + u-)/2 - r . (V+ + V-)/2 ,    u relative velocities,
 * V the velocity of the obstacle as it enters u: the first part is the energy dissipated by impact
 * (normal) and friction (tangential), the second is the work of drivers. Gravity does the work
 * h m g.(v+ + v-)/2 in the kick while the potential energy falls by
 * m g.(x_{k+1} - x_k) = h m g.((1-theta) v- + theta v+): the difference
 * -(theta - 1/2) h m g.(v+ - v-), zero for theta = 1/2, is an error of the scheme. Its sum over
 * steps of equal length is a function of the current velocities: with theta = 1 positions lag half
 * a step behind, and the energy oscillates by h m g.v/2 without drift. Only where the length of the
 * step changes from h- to h is energy created or lost, (theta - 1/2) (h - h-) m g.v-. The forces of
 * compliant contacts shift energy in the same way, by (theta - 1/2) h times their power; a ball
 * that oscillates on one would seem to give energy back. */
#include "problem/measure.h"
#include "step/system.h"

#include <stdio.h>
#include <string.h>

/* Created energy is compared with at least the energy of lifting every body by this part of its
 * size: in a system at rest there is no other energy to compare with. */
static const double lifted_size = 0.01;

/* Allowed energy error of the solution of a step: this part of the energy exchanged in a step, the
 * last one or the mean of the last ones, whichever is more; plus the work of moving every body
 * against its load by `held_size` of its size in the time in which the load alone would move it by
 * its size. A stack of boxes of 1 m would creep by 3e-7 m in a minute if all errors had the same
 * sign. (One of 100 boxes in 2D moves by 3.7e-7 m, and with 3e-9 by 1.9e-6 m, for the same work:
 * errors near the top have little work to do.) */
static const double defect_part = 1e-3, held_size = 1.5e-9;

/* Steps: time constant of that mean. A body without loss in a packing at rest exchanges nothing
 * where it turns back in its flight, and much where it bounces; the errors of the packing need not
 * follow that. The sum of the means over a run is that of the exchanged energies. */
static const double exchange_memory = 8;

/* Bodies rest where the energy exchanged in a step is below this part of the work of moving every
 * body against its load by its size in that time: they move at less than a thousandth of the speed
 * that the load alone would give them. */
static const double resting_part = 1e-3;

/* Gaps and approaches in a step that do not count as an impact, relative to the smaller body. */
static const double sustained_size = 1e-4;

/* Energy that contacts may add in a whole step, by pushing bodies out of penetration and by errors
 * of the solution: this part of the kinetic energy and of the energy exchanged in the step; or,
 * where bodies hardly move, this part of the work of moving each body against its load by its size,
 * less the kinetic energy. */
static const double allowed_energy = 2e-4, allowed_weight = 0.03;

/* Work of pushes out of penetration, in the whole run, as a part of the energy turned over: the
 * step may use a part of what is left of it. Single contacts that are deeper than a part of the
 * limit are pushed out whatever it costs; when one of them released the pushes of all contacts, an
 * oedometer at twice the default step created 1.8 %. Smallest factor on pushes; without it grains
 * under a load of 1e5 weights were pushed to and fro by errors of the solver, and every push
 * changed the problem that the next step had to solve: it created 5.5 %. */
static const double push_part = 2e-3, spent_part = 0.02, deep_part = 0.3, least_push = 1e-12;

/* Pushes that would do this many times the work that is allowed are left out of the step. */
static const double drop_part = 10;

/* Sums in blocks of this many, then over blocks: the same bits for any number of threads, which
 * take a group of blocks at a time. */
enum { BLOCK = 512, GROUP = 256 };

/* Kinetic and potential energy of a block of bodies. */
static void block_energy(const scree_System *s, int start, double sum[2]) {
  const scree_Bodies *b = &s->bodies;
  const scree_Vec3 g = s->settings.gravity;
  const int end = start + BLOCK < b->count ? start + BLOCK : b->count;
  sum[0] = sum[1] = 0;
  for (int k = start; k < end; ++k) {
    if (b->fixed[k] || !scree_domain_owns(&s->domain, k)) continue;
    sum[0] += scree_bodies_kinetic(b, k, NULL);
    sum[1] -= b->inertia[k].mass * scree_dot(g, b->motion[k].pose.position);
  }
}

void scree_system_energy(const scree_System *s, double *kinetic, double *potential) {
  const int n = s->bodies.count;
  double K = 0, P = 0;
  for (int group = 0; group < n; group += GROUP * BLOCK) {
    const int left = (n - group + BLOCK - 1) / BLOCK, blocks = left < GROUP ? left : GROUP;
    double sums[GROUP][2];
    if (s->threads == 1 || blocks < 4)
      for (int k = 0; k < blocks; ++k) block_energy(s, group + k * BLOCK, sums[k]);
    else
#pragma omp parallel for schedule(static) num_threads(s->threads)
      for (int k = 0; k < blocks; ++k) block_energy(s, group + k * BLOCK, sums[k]);
    for (int k = 0; k < blocks; ++k) {
      K += sums[k][0];
      P += sums[k][1];
    }
  }
  double all[2] = {K, P};
  scree_system_sums(s, all, 2);
  *kinetic = all[0];
  *potential = all[1];
}

/* Mean of the velocities of obstacle k before and after the kick, at contact c. */
static scree_Vec3 mean_velocity(const scree_System *s, size_t c, int k, int side) {
  const scree_Bodies *b = &s->bodies;
  const scree_Twist before = scree_bodies_velocity_before(b, k), *after = &b->motion[k].velocity;
  const scree_Twist mean = {scree_scale(0.5, scree_add(before.linear, after->linear)),
                            scree_scale(0.5, scree_add(before.angular, after->angular))};
  const scree_Vec3 v =
      scree_rigid_velocity(&b->motion[k].pose, &mean, scree_system_point(s, c, side));
  const scree_Vec3 n = s->contacts.normal[c];
  return scree_is_belt(s, k) ? scree_axpy(v, -scree_dot(n, v), n) : v;
}

/* The same for the obstacle or obstacles of a contact, or the image of a body, with the sign with
 * which they enter u. */
static scree_Vec3 obstacle_velocity(const scree_System *s, size_t c) {
  const scree_Bodies *b = &s->bodies;
  const scree_ContactKey *key = &s->contacts.keys[c];
  scree_Vec3 V = {0, 0, 0};
  if (b->fixed[key->i]) V = mean_velocity(s, c, key->i, 0);
  if (b->fixed[key->j]) V = scree_sub(V, mean_velocity(s, c, key->j, 1));
  if (c >= (size_t)s->deform.first) { /* and of nodes that obstacles drive */
    V = scree_add(V, scree_deform_driven(s, key->i, scree_system_point(s, c, 0), key->part[0]));
    V = scree_sub(V, scree_deform_driven(s, key->j, scree_system_point(s, c, 1), key->part[1]));
  }
  if (key->image) {
    const scree_Vec3 both = scree_add(scree_cell_velocity_before(&s->cell, key->image),
                                      scree_cell_velocity_after(&s->cell, key->image));
    V = scree_axpy(V, -0.5, both);
  }
  return V;
}

/* Whether contact c was loaded in the last step and is not in an impact: its gap and approach in a
 * step are a small part of the size, or not more than bodies that slide along each other make by
 * their curvature, as a block on the inside of a drum does. */
static bool is_sustained(const scree_System *s, int c, const double *before, double h) {
  const scree_Bodies *b = &s->bodies;
  const scree_ContactKey *key = &s->contacts.keys[c];
  if (!s->posed.loaded[c]) return false;
  const double size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape);
  const double slip2 = before[1] * before[1] + (b->dimension == 2 ? 0 : before[2] * before[2]);
  const double small = sustained_size * size + h * h * slip2 / size;
  return s->contacts.gap[c] <= small && fabs(before[0]) * h <= small;
}

/* Work of contact c that is an error: of its velocity, and of the correction of its gap. Of a rigid
 * contact that stays loaded this is all of its normal work, of a compliant one that of sinking in
 * without stretching the spring, and of the push. */
static double wrong_work(const scree_System *s, int c, const double *before, double h,
                         double work) {
  const scree_Posed *p = &s->posed;
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_LawContact *law = scree_system_law(s, key->i, key->j);
  const size_t at = (size_t)c * (size_t)s->bodies.dimension;
  if (law->plastic) return 0;
  if (!is_sustained(s, c, before, h)) return p->r[at] * p->push[c];
  return law->soft ? p->r[at] * (fmin(p->u[at], 0) + p->push[c]) : work;
}

/* Work of contacts; `posed.u` is the solver's, u+ = u - shift. A rigid contact that stays loaded
 * should do no normal work: the work it does through the solver's error and the correction of its
 * gap is counted as `push`, as is the work of pushing a body out of any other penetration. The rest
 * of the normal work is dissipated by impacts. `last` is the length of the step before. Returns by
 * how much the power of springs, times the step, has changed. */
static double contact_work(const scree_System *s, double h, double last,
                           scree_EnergyBalance *balance) {
  const scree_Bodies *b = &s->bodies;
  const scree_Posed *p = &s->posed;
  const int d = b->dimension;
  double normal = 0, friction = 0, drivers = 0, push = 0;
  for (int c = 0; c < p->nc; ++c) {
    const size_t at = (size_t)c * (size_t)d;
    const double *r = p->r + at;
    const double *before = p->before + at;
    if (r[0] == 0 && r[1] == 0 && (d == 2 || r[2] == 0)) continue;
    const double work = 0.5 * r[0] * (scree_system_velocity(s, c, 0) + before[0]);
    normal -= work;
    if (p->push) push += wrong_work(s, c, before, h, work);
    for (int k = 1; k < d; ++k)
      friction -= 0.5 * r[k] * (scree_system_velocity(s, c, k) + before[k]);
    const scree_ContactKey *key = &s->contacts.keys[c];
    if (!b->fixed[key->i] && !b->fixed[key->j] && !key->image && c < s->deform.first) continue;
    scree_Vec3 a[3];
    a[0] = s->contacts.normal[c];
    scree_contact_frame(a[0], d, &a[1], &a[2]);
    const scree_Vec3 V = obstacle_velocity(s, (size_t)c);
    for (int k = 0; k < d; ++k) drivers -= r[k] * scree_dot(a[k], V);
  }
  if (scree_rolls(s)) scree_rolling_work(s, &friction, &drivers);
  double all[4] = {push, normal, friction, drivers};
  scree_system_sums(s, all, 4);
  balance->push = all[0];
  balance->normal = all[1] + all[0];
  balance->friction = all[2];
  balance->drivers = all[3];
  if (!s->laws.any_terms) return 0;
  /* energy stored in springs is not dissipated; that of contacts that have opened is */
  const scree_LawEnergy old = scree_system_stored(s, &s->memory);
  const scree_LawEnergy now = scree_system_stored(s, &s->trial);
  balance->elastic = now.normal + now.tangent;
  balance->viscous = now.viscous_n + now.viscous_t;
  balance->plastic = now.plastic;
  balance->normal -= now.normal - old.normal + now.viscous_n + now.plastic;
  balance->friction -= now.tangent - old.tangent + now.viscous_t;
  return h * now.power - last * old.power;
}

scree_BodyRest scree_system_body_rest(const scree_System *s, int k, double h) {
  const scree_Bodies *b = &s->bodies;
  const double size = b->cold[k].shape.size;
  const double speed = scree_system_forced_change(s, k), acceleration = speed / h;
  const double work = b->inertia[k].mass * acceleration * size;
  return (scree_BodyRest){speed, work, work * h * sqrt(acceleration / size)};
}

static void weigh_body(const scree_System *s, int k, double h, scree_Totals *term) {
  if (s->bodies.fixed[k] || !scree_domain_owns(&s->domain, k)) return;
  const scree_BodyRest load = scree_system_body_rest(s, k, h);
  *term = (scree_Totals){{load.weight, load.rest}, load.speed};
}

void scree_system_weigh(scree_System *s, double h) {
  scree_Totals all = {{0, 0}, 0};
  scree_system_add_terms(s, s->bodies.count, h, weigh_body, &all);
  scree_system_sums(s, all.sum, 2);
  s->audit.weight = all.sum[0];
  s->audit.rest = all.sum[1];
  s->forced_most = scree_system_max(s, all.most);
}

/* Add the work of the joints of all ranks; returns its part that the scheme has. */
static double add_joints(const scree_System *s, double h, scree_EnergyBalance *balance) {
  scree_EnergyBalance own = {0};
  scree_joints_work(s, h, &own);
  double all[] = {own.drivers, own.friction, own.normal, own.plastic, own.scheme};
  scree_system_sums(s, all, sizeof all / sizeof *all);
  balance->drivers += all[0];
  balance->friction += all[1];
  balance->normal += all[2];
  balance->plastic += all[3];
  balance->scheme += all[4];
  return all[4];
}

/* Call after the solve and before the kick: motion holds v-, forced h f/m, posed.y the
 * scaled impulses. */
void scree_system_work(scree_System *s, double theta, double h, scree_EnergyBalance *balance) {
  const scree_Bodies *b = &s->bodies;
  const scree_Vec3 g = s->settings.gravity;
  *balance = (scree_EnergyBalance){0};
  const double last = s->memory.h > 0 ? s->memory.h : h;
  const double springs = (theta - 0.5) * contact_work(s, h, last, balance);
  s->swing = 0;
  double known = 0; /* of the scheme's energy, already that of all ranks */
  if (s->domain.global && s->joints.all > 0)
    known = add_joints(s, h, balance);
  else
    scree_joints_work(s, h, balance);
  const bool divided = s->domain.global && s->domain.deforms;
  scree_EnergyBalance deformed = {0}; /* of this rank */
  if (divided)
    scree_deform_work(s, &deformed);
  else if (b->deformable_count)
    scree_deform_work(s, balance);
  if (b->force_count == 0 && !s->cell.any && theta == 0.5 && !divided) return;
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k] || !scree_domain_owns(&s->domain, k)) continue;
    const scree_Inertia *inertia = &b->inertia[k];
    const scree_Motion *motion = &b->motion[k];
    const scree_Twist after = scree_system_after(s, k);
    const scree_Vec3 change = scree_sub(after.linear, motion->velocity.linear);
    balance->scheme -= (theta - 0.5) * h * inertia->mass * scree_dot(g, change);
    const double now = h * scree_dot(g, after.linear),
                 then = last * scree_dot(g, motion->velocity.linear);
    s->swing += (theta - 0.5) * inertia->mass * (now - then);
    if (!s->forced) continue;
    const scree_Twist *f = &s->forced[k];
    const scree_Vec3 L = scree_inertia_mul(inertia, motion->pose.orientation, f->angular);
    const scree_Vec3 both = scree_add(after.linear, motion->velocity.linear);
    balance->forces += 0.5 * inertia->mass * scree_dot(f->linear, both) +
                       0.5 * scree_dot(L, scree_add(after.angular, motion->velocity.angular));
    if (!s->cell.any) continue;
    const double free = 0.5 * inertia->mass * scree_dot(scree_cell_push(s, k), both);
    const double cell = free + 0.5 * inertia->mass * scree_dot(scree_cell_pushed(s, k), both);
    balance->forces -= free;
    balance->drivers += cell;
    s->cell.state.work += cell;
  }
  double all[5] = {balance->scheme - known + deformed.scheme, balance->forces + deformed.forces,
                   s->swing, deformed.viscous, deformed.drivers};
  scree_system_sums(s, all, 5);
  balance->scheme = known + all[0];
  balance->forces = all[1];
  s->swing = all[2] + springs;
  balance->viscous += all[3];
  balance->drivers += all[4];
}

double scree_energy_exchanged(const scree_EnergyBalance *e) {
  return fabs(e->normal + e->viscous + e->plastic) + fabs(e->friction) + fabs(e->forces) +
         fabs(e->drivers);
}

double scree_system_work_allowed(const scree_System *s, double kinetic, double h) {
  const scree_EnergyAudit *a = &s->audit;
  const double moving = allowed_energy * (kinetic + a->last_step);
  return h / s->settings.step * fmax(moving, allowed_weight * a->weight - kinetic);
}

double scree_audit_turned_over(const scree_EnergyAudit *a) {
  return a->turned_over + lifted_size * a->weight;
}

double scree_system_held_push(const scree_System *s, double penetration) {
  const bool deep = penetration > deep_part * s->settings.penetration_limit;
  return deep ? 0 : s->audit.push_held;
}

/* Work of pushes that a step of length h may do. */
static double push_allowed(const scree_System *s, double kinetic, double h) {
  const scree_EnergyAudit *a = &s->audit;
  const scree_WorldSettings *settings = &s->settings;
  const double moving = allowed_energy * (kinetic + a->last_step);
  const double left = push_part * scree_audit_turned_over(a) - (s->total.push - a->push_least);
  return h / settings->step * fmax(moving, spent_part * left);
}

/* Pushing bodies out of penetration takes little work against their weight, but much against the
 * impulses of an impact transmitted through them, or where a load of many weights presses them. If
 * it takes too much, the push is reduced in the next step, and then increased again by a factor of
 * 2 in each step that allows it. */
static void hold_pushes(scree_System *s, const scree_EnergyBalance *step) {
  scree_EnergyAudit *a = &s->audit;
  const double allowed = push_allowed(s, step->kinetic, s->trial.h);
  const double factor = step->push > 0.5 * allowed ? allowed / step->push : 2;
  a->push_held = 1 - fmin(1, fmax(least_push, factor * (1 - a->push_held)));
}

bool scree_system_drop_pushes(scree_System *s) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension;
  if (s->audit.push_held >= 1 || !p->push) return false;
  double work = 0;
  for (int c = 0; c < p->nc; ++c) work += p->r[(size_t)c * d] * p->push[c];
  scree_system_sums(s, &work, 1);
  if (!(work > drop_part * push_allowed(s, s->total.kinetic, s->times.h))) return false;
  s->audit.push_held = 1;
  return true;
}

void scree_system_audit(scree_System *s, const scree_EnergyBalance *step, double before) {
  const scree_EnergyBalance *e = &s->total;
  scree_EnergyAudit *a = &s->audit;
  a->last_step = scree_energy_exchanged(step) + fabs(step->kinetic - before);
  const double part = s->trial.h / s->settings.step;
  a->mean_step = (1 - part / exchange_memory) * a->mean_step + a->last_step / exchange_memory;
  a->supplied = (1 - part / exchange_memory) * a->supplied +
                (fabs(step->forces) + fabs(step->drivers)) / exchange_memory;
  a->scheme += step->scheme + s->swing;
  const double taken = e->normal + s->pending + e->friction + e->viscous + e->plastic - a->scheme;
  a->taken_peak = fmax(a->taken_peak, taken);
  a->given_back = fmax(a->given_back, a->taken_peak - taken);
  a->push_least = fmin(a->push_least, e->push);
  a->push_rise = fmax(a->push_rise, e->push - a->push_least);
  a->turned_over = fmax(a->turned_over, e->kinetic + e->elastic + scree_energy_exchanged(e));
  hold_pushes(s, step);
}

enum { DEFECTS = 4096 }; /* contacts that threads compute before they are added up */

/* The terms of contacts start .. start + n - 1. */
static void find_defects(const scree_System *s, int start, int n, const double *mu,
                         const double *flow, const double *all_r, const double *all_u, double *out,
                         scree_Share share) {
  const size_t d = (size_t)s->bodies.dimension;
  SCREE_OVER_BODIES(k, n, share) {
    const size_t c = (size_t)start + (size_t)k;
    const double *r = all_r + c * d, *u = all_u + c * d;
    const double slip = d == 2 ? fabs(u[1]) : sqrt(u[1] * u[1] + u[2] * u[2]);
    const double tangent = r[1] * u[1] + (d == 3 ? r[2] * u[2] : 0);
    const double along = flow ? flow[(c * d + 1) * d + 1] : 1;
    const double De_Saxce = s->settings.flow == SCREE_COULOMB ? mu[c] * slip : 0;
    out[k] = fabs(r[0] * (u[0] + De_Saxce) + along * tangent);
  }
}

double scree_system_defect_of(const scree_System *s, int nc, const double *mu, const double *flow,
                              const double *all_r, const double *all_u) {
  double terms[DEFECTS], sum = 0;
  for (int start = 0; start < nc; start += DEFECTS) {
    const int n = nc - start < DEFECTS ? nc - start : DEFECTS;
    SCREE_ON_THREADS(n, s->threads, share,
                     find_defects(s, start, n, mu, flow, all_r, all_u, terms, share));
    for (int k = 0; k < n; ++k) sum += terms[k];
  }
  return sum;
}

double scree_system_defect(const scree_System *s) {
  const scree_Posed *p = &s->posed;
  double sum = scree_system_defect_of(s, p->nc, p->mu, s->laws.any_flow ? p->H : NULL, p->r, p->u);
  scree_system_sums(s, &sum, 1);
  return sum;
}

double scree_system_defect_allowed(const scree_System *s) {
  const scree_EnergyAudit *a = &s->audit;
  const double part = s->times.h / s->settings.step;
  return defect_part * fmax(a->last_step, part * a->mean_step) + held_size * a->rest;
}

double scree_system_defect_limit(const scree_System *s) {
  return push_part * spent_part * scree_audit_turned_over(&s->audit);
}

bool scree_system_pays(scree_System *s, double defect) {
  const scree_EnergyAudit *a = &s->audit;
  const scree_TightenCase of = {.defect = defect,
                                .exchanged = a->mean_step,
                                .supplied = a->supplied,
                                .held = held_size / defect_part * a->rest,
                                .turned_over = scree_audit_turned_over(a),
                                .creep = a->creep / s->settings.creep_limit,
                                .e_n = s->laws.highest_e_n};
  return scree_account_pays(&s->work.account, &of);
}

double scree_system_held_part(void) {
  return held_size;
}

double scree_system_resting_part(void) {
  return resting_part;
}

bool scree_system_rests(const scree_System *s) {
  return s->audit.last_step < resting_part * s->audit.rest;
}

double scree_system_energy_created(const scree_System *s) {
  const scree_EnergyAudit *a = &s->audit;
  const double created = a->push_rise + a->given_back + s->total.closing;
  const double scale = scree_audit_turned_over(a);
  return scale > 0 ? created / scale : created > 0 ? INFINITY : 0;
}

bool scree_system_is_active(const scree_System *s, int c) {
  const double r = s->posed.r[(size_t)c * (size_t)s->bodies.dimension];
  return r > 0 && r > s->settings.solve.tolerance * s->posed.r_max;
}

double scree_system_contact_error(const scree_System *s, int c) {
  const scree_Problem problem = scree_system_problem(s);
  const scree_Posed *p = &s->posed;
  const double map =
      scree_measure_contact(&problem, c, p->rho, scree_system_r(s), scree_system_u(s));
  return p->scale > 0 ? map / p->scale : map > 0 ? INFINITY : 0;
}

int scree_system_count_above(const scree_System *s, double tolerance) {
  double above = 0;
  for (int c = 0; c < s->posed.nc; ++c) above += !(scree_system_contact_error(s, c) <= tolerance);
  scree_system_sums(s, &above, 1);
  return (int)above;
}

/* ---- what is missed -------------------------------------------------------------------------- */

void scree_missed_text(unsigned missed, char *text, size_t size) {
  static const struct {
    unsigned bit;
    const char *name;
  } names[] = {{SCREE_MISSED_ERROR, "error"},
               {SCREE_MISSED_REACH, "reach"},
               {SCREE_MISSED_OVERLAP, "overlap"},
               {SCREE_MISSED_SINKING, "sinking"},
               {SCREE_MISSED_PENETRATION, "penetration"},
               {SCREE_MISSED_JOINTS, "joints"},
               {SCREE_MISSED_ENERGY, "energy"},
               {SCREE_MISSED_CREEP, "creep"}};
  size_t used = 0;
  if (size > 0) text[0] = '\0';
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    if (!(missed & names[k].bit) || used >= size) continue;
    const int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[k].name);
    if (n > 0) used += (size_t)n;
  }
}

/* Analysis of a world: contacts, energies, momentum, packing, stress, fabric.
 *
 * Stress of a region of volume V (Love, Weber): sigma = -(1/V) sum_c f_c (x) l_c with f the force
 * on the first body and l the branch from the second centre to the first; for a contact with an
 * obstacle the branch goes from the contact point. Compression is negative. */
#include "core/log.h"
#include "core/memory.h"
#include "world/world.h"

#include <string.h>

int scree_world_contact_count(const scree_World *world) {
  return world->stepped ? world->system.posed.nc : 0;
}

/* On the cone's boundary, sliding; strictly inside, sticking. The boundary has the width of the
 * requested tolerance. */
static scree_ContactStatus contact_status(const scree_System *s, int c) {
  const int d = s->bodies.dimension;
  const double *r = s->posed.r + (size_t)c * (size_t)d;
  const double size = d == 2 ? fabs(r[1]) : hypot(r[1], r[2]);
  const double tolerance = s->settings.solve.tolerance;
  if (!scree_system_is_active(s, c)) return SCREE_CONTACT_OPEN;
  const double limit = s->posed.mu[c] * r[0];
  return size < limit * (1 - (tolerance < 1e-6 ? 1e-6 : tolerance)) ? SCREE_CONTACT_STICK
                                                                    : SCREE_CONTACT_SLIP;
}

/* What the law of a contact has kept. */
static void show_memory(const scree_System *s, int c, scree_Contact *out) {
  const scree_LawContact *law = scree_system_law(s, out->body[0], out->body[1]);
  const scree_Memory *memory = &s->memory;
  if (s->laws.any_rolling) {
    const scree_BodyCold *cold = s->bodies.cold;
    const double radius =
        0.5 * scree_pair_size(&cold[out->body[0]].shape, &cold[out->body[1]].shape);
    out->moment = scree_scale(radius, s->posed.moment[c]);
  }
  if (s->laws.memory == 0 || memory->stride != (size_t)s->laws.memory || !s->posed.kept ||
      s->posed.kept[c] < 0 || !law->law->show)
    return;
  const double *values = memory->values + (size_t)s->posed.kept[c] * memory->stride;
  law->law->show(law->pair, values, &out->plastic, &out->bond);
  if (!law->law->energy) return;
  const scree_LawEnergy energy = law->law->energy(values);
  out->energy = energy.normal + energy.tangent;
}

static scree_Contact get_contact(const scree_World *world, int contact) {
  const scree_System *s = &world->system;
  const scree_Posed *p = &s->posed;
  const int d = s->bodies.dimension;
  const size_t at = (size_t)contact * (size_t)d;
  const scree_ContactKey *key = &s->contacts.keys[contact];
  scree_Contact out = {.body = {key->i, key->j},
                       .part = {key->part[0], key->part[1]},
                       .feature = key->feature,
                       .position = s->contacts.position[contact],
                       .normal = s->contacts.normal[contact],
                       .gap = s->contacts.gap[contact],
                       .mu = p->mu[contact],
                       .status = contact_status(s, contact),
                       .error = scree_system_contact_error(s, contact)};
  scree_contact_frame(out.normal, d, &out.tangent[0], &out.tangent[1]);
  for (int k = 0; k < d; ++k) {
    out.r[k] = scree_system_total(s)[at + (size_t)k];
    out.u[k] = scree_system_velocity(s, contact, k);
  }
  show_memory(s, contact, &out);
  return out;
}

static scree_Status check_contacts(const scree_World *world, int first, int count) {
  const int n = scree_world_contact_count(world);
  if (first >= 0 && count >= 0 && first <= n && count <= n - first) return SCREE_OK;
  return scree_fail(&world->log, SCREE_BAD_INPUT,
                    "contacts: %d from number %d on, but the last step has %d", count, first, n);
}

scree_Contact scree_world_contact(const scree_World *world, int contact) {
  const scree_Vec3 none = {NAN, NAN, NAN};
  if (!check_contacts(world, contact, 1)) return get_contact(world, contact);
  return (scree_Contact){.body = {-1, -1},
                         .position = none,
                         .normal = none,
                         .tangent = {none, none},
                         .gap = NAN,
                         .mu = NAN,
                         .r = {NAN, NAN, NAN},
                         .u = {NAN, NAN, NAN},
                         .error = NAN};
}

scree_Status scree_world_contacts(const scree_World *world, int first, int count,
                                  scree_Contact *contacts) {
  const scree_Status status = check_contacts(world, first, count);
  for (int k = 0; k < count && !status; ++k) contacts[k] = get_contact(world, first + k);
  return status;
}

scree_Status scree_world_problem(const scree_World *world, const scree_Problem **problem,
                                 const double **r, const double **u, const int **problem_body) {
  const scree_System *s = &world->system;
  if (!world->stepped)
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "world: there is no problem before the first step");
  if (problem) *problem = &world->problem;
  if (r) *r = scree_system_r(s);
  if (u) *u = scree_system_u(s);
  if (problem_body) *problem_body = s->posed.problem_body;
  return SCREE_OK;
}

scree_EnergyBalance scree_world_energy(const scree_World *world) {
  scree_EnergyBalance energy = world->system.total;
  if (!world->system.energy_known)
    scree_system_energy(&world->system, &energy.kinetic, &energy.potential);
  return energy;
}

bool scree_world_laws_remember(const scree_World *world) {
  return world->system.laws.memory > 0;
}

/* ---- analysis -------------------------------------------------------------------------------- */

static bool counts(const scree_System *s, int k) {
  return !s->bodies.fixed[k] && scree_domain_owns(&s->domain, k);
}

static void sum_bodies(const scree_System *s, scree_Analysis *a) {
  const scree_Bodies *b = &s->bodies;
  for (int k = 0; k < b->count; ++k) {
    if (!counts(s, k)) continue;
    const scree_Motion *m = &b->motion[k];
    double rotation;
    const double mass = b->inertia[k].mass;
    const scree_Vec3 x = m->pose.position, p = scree_scale(mass, m->velocity.linear);
    a->kinetic += scree_bodies_kinetic(b, k, &rotation);
    a->kinetic_rotation += rotation;
    a->potential -= mass * scree_dot(s->settings.gravity, x);
    a->momentum = scree_add(a->momentum, p);
    const scree_Deformable *self = scree_bodies_deformable(b, k);
    const scree_Vec3 own =
        self
            ? self->class_->momentum(self, scree_deformable_q(b, self), scree_deformable_v(b, self))
            : scree_inertia_mul(&b->inertia[k], m->pose.orientation, m->velocity.angular);
    a->angular_momentum = scree_add(a->angular_momentum, scree_add(scree_cross(x, p), own));
    a->centre = scree_axpy(a->centre, mass, x);
    a->mass += mass;
  }
  double sums[] = {
      a->kinetic,           a->kinetic_rotation, a->potential,          a->mass,
      a->momentum.x,        a->momentum.y,       a->momentum.z,         a->centre.x,
      a->centre.y,          a->centre.z,         a->angular_momentum.x, a->angular_momentum.y,
      a->angular_momentum.z};
  scree_system_sums(s, sums, sizeof sums / sizeof *sums);
  a->kinetic = sums[0];
  a->kinetic_rotation = sums[1];
  a->potential = sums[2];
  a->mass = sums[3];
  a->momentum = scree_vec3(sums[4], sums[5], sums[6]);
  a->centre = scree_vec3(sums[7], sums[8], sums[9]);
  a->angular_momentum = scree_vec3(sums[10], sums[11], sums[12]);
  if (a->mass > 0) a->centre = scree_scale(1 / a->mass, a->centre);
}

static scree_Aabb bounds_of_bodies(const scree_System *s) {
  const scree_Bodies *b = &s->bodies;
  scree_Aabb all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int k = 0; k < b->count; ++k) {
    if (!counts(s, k)) continue;
    const scree_Aabb box = scree_shape_aabb(&b->cold[k].shape, &b->motion[k].pose);
    all.lower = scree_vec3(fmin(all.lower.x, box.lower.x), fmin(all.lower.y, box.lower.y),
                           fmin(all.lower.z, box.lower.z));
    all.upper = scree_vec3(fmax(all.upper.x, box.upper.x), fmax(all.upper.y, box.upper.y),
                           fmax(all.upper.z, box.upper.z));
  }
  if (s->domain.global) {
    double most[] = {-all.lower.x, -all.lower.y, -all.lower.z,
                     all.upper.x,  all.upper.y,  all.upper.z};
    scree_ranks_most(s->domain.ranks, most, 6);
    all.lower = scree_vec3(-most[0], -most[1], -most[2]);
    all.upper = scree_vec3(most[3], most[4], most[5]);
  }
  return all;
}

static bool inside(const scree_Aabb *box, scree_Vec3 x, int dimension) {
  return x.x >= box->lower.x && x.x <= box->upper.x && x.y >= box->lower.y && x.y <= box->upper.y &&
         (dimension == 2 || (x.z >= box->lower.z && x.z <= box->upper.z));
}

static double volume_of(const scree_Aabb *box, int dimension) {
  const scree_Vec3 e = scree_sub(box->upper, box->lower);
  const double volume = e.x * e.y * (dimension == 2 ? 1 : e.z);
  return e.x > 0 && e.y > 0 && (dimension == 2 || e.z > 0) && isfinite(volume) ? volume : 0;
}

static void add_outer(double *tensor, double factor, scree_Vec3 a, scree_Vec3 b) {
  const double x[3] = {a.x, a.y, a.z}, y[3] = {b.x, b.y, b.z};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) tensor[3 * i + j] += factor * x[i] * y[j];
}

/* From the second centre to the first; from the contact point if one is an obstacle. */
static scree_Vec3 branch(const scree_System *s, const scree_Contact *c) {
  const scree_Bodies *b = &s->bodies;
  scree_Vec3 end[2];
  for (int side = 0; side < 2; ++side)
    end[side] =
        b->fixed[c->body[side]]
            ? c->position
            : scree_cell_nearest(&s->cell, b->motion[c->body[side]].pose.position, c->position);
  return scree_sub(end[0], end[1]);
}

/* touching (bodies) receives the number of active contacts of this rank at each body. */
static scree_Status sum_contacts(const scree_World *world, const scree_Aabb *region,
                                 double *touching, scree_Analysis *a) {
  const scree_System *s = &world->system;
  const scree_Bodies *b = &s->bodies;
  const int d = b->dimension, n = scree_world_contact_count(world);
  enum { OPEN, STICK, SLIP, ENDS, ACTIVE, FABRIC, STRESS = FABRIC + 9, SUMS = STRESS + 9 };
  double sums[SUMS] = {0};
  for (int k = 0; k < n; ++k) {
    const scree_Contact c = get_contact(world, k);
    sums[OPEN] += c.status == SCREE_CONTACT_OPEN;
    sums[STICK] += c.status == SCREE_CONTACT_STICK;
    sums[SLIP] += c.status == SCREE_CONTACT_SLIP;
    if (c.status == SCREE_CONTACT_OPEN) continue;
    for (int side = 0; side < 2; ++side) {
      if (b->fixed[c.body[side]]) continue;
      sums[ENDS] += 1;
      touching[c.body[side]] += 1;
    }
    if (region && !inside(region, c.position, d)) continue;
    scree_Vec3 impulse = scree_scale(c.r[0], c.normal);
    for (int i = 1; i < d; ++i) impulse = scree_axpy(impulse, c.r[i], c.tangent[i - 1]);
    add_outer(sums + FABRIC, 1, c.normal, c.normal);
    if (a->volume > 0)
      add_outer(sums + STRESS, -1 / (a->volume * world->contact_h), impulse, branch(s, &c));
    sums[ACTIVE] += 1;
  }
  scree_system_sums(s, sums, SUMS);
  a->open = (int)sums[OPEN];
  a->stick = (int)sums[STICK];
  a->slip = (int)sums[SLIP];
  for (int k = 0; k < 9; ++k) {
    a->fabric[k] = sums[ACTIVE] > 0 ? sums[FABRIC + k] / sums[ACTIVE] : 0;
    a->stress[k] = sums[STRESS + k];
  }
  /* contacts of copies count at their owners; before the first step there are no copies */
  if (world->stepped) {
    const scree_Status status = scree_domain_add_ghosts((scree_System *)s, touching);
    if (status) return status;
  }
  double bodies[2] = {0, 0}; /* all, and those that touch */
  for (int k = 0; k < b->count; ++k) {
    if (!counts(s, k)) continue;
    bodies[0] += 1;
    bodies[1] += touching[k] > 0;
  }
  scree_system_sums(s, bodies, 2);
  a->coordination = bodies[0] > 0 ? sums[ENDS] / bodies[0] : 0;
  a->coordination_touching = bodies[1] > 0 ? sums[ENDS] / bodies[1] : 0;
  a->rattlers = (int)(bodies[0] - bodies[1]);
  return SCREE_OK;
}

scree_Status scree_world_analyse(const scree_World *world, const scree_Aabb *region,
                                 scree_Analysis *analysis) {
  const scree_Bodies *b = &world->system.bodies;
  *analysis = (scree_Analysis){.penetration = world->system.penetration};
  double *touching = SCREE_ALLOC(double, b->count);
  scree_Status status =
      touching ? SCREE_OK : scree_fail_memory(&world->log, "the analysis of a world");
  status = scree_domain_agree(&world->system, status);
  if (status) {
    scree_free(touching);
    return status;
  }
  const scree_Aabb box = region ? *region : bounds_of_bodies(&world->system);
  sum_bodies(&world->system, analysis);
  const scree_Cell *cell = &world->system.cell;
  analysis->volume = !region && cell->any ? scree_cell_volume(cell, b->dimension) : 0;
  if (!(analysis->volume > 0)) analysis->volume = volume_of(&box, b->dimension);
  double solid = 0;
  for (int k = 0; k < b->count; ++k)
    if (counts(&world->system, k) &&
        (!region || inside(&box, b->motion[k].pose.position, b->dimension)))
      solid += b->cold[k].shape.volume;
  scree_system_sums(&world->system, &solid, 1);
  analysis->packing_fraction = analysis->volume > 0 ? solid / analysis->volume : 0;
  status = sum_contacts(world, region, touching, analysis);
  scree_free(touching);
  return status;
}

/* A detection of gaps below `relative` times the size, with its own lists: the contacts of the last
 * step are not changed. */
static scree_Status detect_now(const scree_World *world, double relative, double *penetration,
                               int *body, int *contacts) {
  const scree_System *s = &world->system;
  scree_System scratch = {.bodies = s->bodies,
                          .laws = s->laws,
                          .settings = s->settings,
                          .scheme = s->scheme,
                          .log = s->log,
                          .threads = s->threads,
                          .cell = s->cell,
                          .joints = s->joints,
                          .domain = s->domain,
                          .broad = scree_broad_create()};
  scree_Status status =
      scratch.broad ? SCREE_OK : scree_fail_memory(&world->log, "the broad phase");
  status = scree_domain_agree(s, status);
  if (status) {
    scree_broad_destroy(scratch.broad);
    return status;
  }
  if (!(scratch.laws.h > 0)) scree_law_table_fill(&scratch.laws, s->settings.step);
  status = scree_system_detect(&scratch, relative, NULL);
  if (!status && penetration) *penetration = scree_system_penetration(&scratch, body);
  if (!status && contacts) *contacts = (int)scratch.contacts.count;
  scratch.bodies = (scree_Bodies){0}; /* owned by the world */
  scratch.laws = (scree_LawTable){0};
  scratch.joints = (scree_Joints){0};
  scratch.domain = (scree_Domain){0};
  scree_system_fini(&scratch);
  return status;
}

scree_Status scree_world_penetration(const scree_World *world, double *penetration, int *body) {
  return detect_now(world, 0, penetration, body, NULL);
}

scree_Status scree_world_touching(const scree_World *world, int *contacts, double *penetration,
                                  int *body) {
  return detect_now(world, 0, penetration, body, contacts);
}

scree_Status scree_world_close(const scree_World *world, double relative, int *contacts) {
  return detect_now(world, relative, NULL, NULL, contacts);
}

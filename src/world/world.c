/* Creating and changing a world: settings, materials, bodies, and the state between steps. */
#include "world/world.h"

#include "body/actuation.h"
#include "body/driven.h"
#include "body/patch.h"
#include "body/signal.h"
#include "core/log.h"
#include "core/memory.h"

#include <omp.h>
#include <string.h>

/* ---- settings -------------------------------------------------------------------------------- */

/* Impulses to 1e-4 give averages within 1 % of tighter ones in the scenes of bench/scenes; where
 * energy, gaps or rest need a tighter tolerance, the step lowers it automatically (solve.c). */
scree_WorldSettings scree_world_settings(void) {
  scree_SolveSettings solve = scree_solve_settings();
  solve.tolerance = 1e-4;
  return (scree_WorldSettings){.dimension = 3,
                               .scheme = scree_scheme_moreau_jean.name,
                               .theta = 0.5,
                               .flow = SCREE_COULOMB,
                               .gap_tolerance = 1e-9,
                               .penetration = 1e-3,
                               .penetration_limit = 0.01,
                               .energy_limit = 0.01,
                               .creep_limit = 0.01,
                               .solve = solve,
                               .warm_start = true,
                               .max_work = 50,
                               .max_retries = 2,
                               .max_halvings = 4};
}

static scree_Status check_numbers(const scree_WorldSettings *s, const scree_Log *log) {
  if (s->dimension != 2 && s->dimension != 3)
    return scree_fail(log, SCREE_BAD_INPUT, "world: dimension %d, expected 2 or 3", s->dimension);
  if (!(s->step > 0) || !isfinite(s->step))
    return scree_fail(log, SCREE_BAD_INPUT, "world: step %g, expected > 0", s->step);
  if (!(s->theta >= 0.5 && s->theta <= 1))
    return scree_fail(log, SCREE_BAD_INPUT, "world: theta %g, expected in [0.5, 1]", s->theta);
  if (!isfinite(s->gravity.x) || !isfinite(s->gravity.y) || !isfinite(s->gravity.z))
    return scree_fail(log, SCREE_BAD_INPUT, "world: gravity (%g, %g, %g), expected finite numbers",
                      s->gravity.x, s->gravity.y, s->gravity.z);
  if (s->dimension == 2 && s->gravity.z != 0)
    return scree_fail(log, SCREE_BAD_INPUT, "world: gravity z = %g, expected 0 in 2D",
                      s->gravity.z);
  if (!(s->gap_tolerance >= 0 && s->gap_tolerance < 1))
    return scree_fail(log, SCREE_BAD_INPUT, "world: gap_tolerance %g, expected in [0, 1)",
                      s->gap_tolerance);
  if (!(s->penetration > 0 && s->penetration < 1))
    return scree_fail(log, SCREE_BAD_INPUT, "world: penetration %g, expected in (0, 1)",
                      s->penetration);
  if (!(s->penetration_limit > 0))
    return scree_fail(log, SCREE_BAD_INPUT, "world: penetration_limit %g, expected > 0",
                      s->penetration_limit);
  if (!(s->energy_limit > 0))
    return scree_fail(log, SCREE_BAD_INPUT, "world: energy_limit %g, expected > 0",
                      s->energy_limit);
  if (!(s->creep_limit > 0))
    return scree_fail(log, SCREE_BAD_INPUT, "world: creep_limit %g, expected > 0", s->creep_limit);
  if (!(s->max_work > 0))
    return scree_fail(log, SCREE_BAD_INPUT, "world: max_work %g, expected > 0", s->max_work);
  if (s->max_retries < 0 || s->max_halvings < 0 || s->max_halvings > 20)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "world: %d retries and %d halvings, expected >= 0 and 0 .. 20",
                      s->max_retries, s->max_halvings);
  return SCREE_OK;
}

static scree_Status check_names(const scree_WorldSettings *s, const scree_Log *log) {
  if (!scree_scheme_find(s->scheme)) {
    const char *names[32] = {NULL};
    for (int k = 0; k < 31; ++k) names[k] = scree_scheme_name(k);
    const char *near = scree_nearest_word(s->scheme ? s->scheme : "", names);
    return scree_fail(log, SCREE_BAD_INPUT, "scheme \"%s\" is not known%s%s%s",
                      s->scheme ? s->scheme : "", near ? "; did you mean \"" : "", near ? near : "",
                      near ? "\"?" : "");
  }
  if (!s->solve.solver || !scree_solver_class_find(s->solve.solver) ||
      strlen(s->solve.solver) >= SCREE_OPTION_NAME_SIZE)
    return scree_fail(log, SCREE_BAD_INPUT, "world: solver \"%s\", expected the name of a solver",
                      s->solve.solver ? s->solve.solver : "");
  return SCREE_OK;
}

/* Copy the null-terminated list of options: one block of text and pointers into it. */
static scree_Status copy_options(const char *const *list, char **text, const char ***options,
                                 const scree_Log *log) {
  size_t count = 0, length = 0;
  for (; list && list[count]; ++count) length += strlen(list[count]) + 1;
  *text = SCREE_ALLOC(char, length);
  *options = SCREE_ALLOC(const char *, count + 1);
  if (!*text || !*options) {
    scree_free(*text);
    scree_free((void *)*options);
    return scree_fail_memory(log, "the options of the solver");
  }
  char *at = *text;
  for (size_t k = 0; k < count; ++k) {
    (*options)[k] = at;
    const size_t size = strlen(list[k]) + 1;
    memcpy(at, list[k], size);
    at += size;
  }
  return SCREE_OK;
}

/* Laws with terms of their own are formulated in the gap at the next kick. */
static scree_Status check_scheme(const scree_World *world, const scree_LawClass *law,
                                 const scree_SchemeClass *scheme) {
  if (!law || !law->pose || !scheme || scheme->looks_ahead) return SCREE_OK;
  return scree_fail(&world->log, SCREE_BAD_INPUT,
                    "law %s: found scheme %s, expected one that looks ahead: %s or %s", law->name,
                    scheme->name, scree_scheme_moreau_jean.name, scree_scheme_euler.name);
}

/* Non-associated flow with a given dilatancy (002 section 9) is a change of the associated one. */
static scree_Status check_flow(const scree_World *world, const scree_PairLaw *law,
                               scree_Flow flow) {
  if (!law || flow == SCREE_ASSOCIATED) return SCREE_OK;
  return scree_fail(&world->log, SCREE_BAD_INPUT,
                    "law %s: dilatancy is %g with the flow %s, expected 1, or the flow %s",
                    law->law, scree_law_dilatancy(law), scree_flow_name(flow),
                    scree_flow_name(SCREE_ASSOCIATED));
}

static scree_Status take_settings(scree_World *world, const scree_WorldSettings *settings) {
  const scree_Log *log = &world->log;
  char *text;
  const char **options;
  scree_Status status = check_numbers(settings, log);
  if (!status) status = check_names(settings, log);
  if (!status)
    status = check_scheme(world, scree_law_table_terms(&world->system.laws),
                          scree_scheme_find(settings->scheme));
  if (!status)
    status = check_flow(world, scree_law_table_flow(&world->system.laws), settings->flow);
  if (!status) status = copy_options(settings->solve.options, &text, &options, log);
  if (status) return status;
  scree_System *s = &world->system;
  s->scheme = scree_scheme_find(settings->scheme);
  const char *solver = scree_solver_class_name(scree_solver_class_find(settings->solve.solver));
  if (world->system.settings.step != settings->step) {
    world->time_start = scree_world_time(world);
    world->time_count = 0;
  }
  s->settings = *settings;
  s->settings.scheme = s->scheme->name;
  s->settings.solve.solver =
      memmove(world->solver, solver, strlen(solver) + 1); /* they may be the same */
  s->settings.solve.options = options[0] ? options : NULL;
  s->threads_most = settings->solve.threads > 0 ? settings->solve.threads : omp_get_max_threads();
  s->threads = s->threads_most;
  s->energy_known = false;
  scree_free(world->options_text);
  scree_free((void *)world->options);
  world->options_text = text;
  world->options = options;
  return SCREE_OK;
}

/* ---- create and destroy ---------------------------------------------------------------------- */

scree_Status scree_world_create(const scree_WorldSettings *settings, const scree_Log *log,
                                scree_World **world) {
  const scree_SolveSettings preset = scree_solve_settings(); /* each solve sets its own */
  *world = NULL;
  scree_World *w = SCREE_ALLOC(scree_World, 1);
  if (!w) return scree_fail_memory(log, "a world");
  if (log) w->log = *log;
  w->system.log = &w->log;
  w->impact_in = -1;
  w->system.broad = scree_broad_create();
  scree_Status status = w->system.broad ? SCREE_OK : scree_fail_memory(log, "the broad phase");
  if (!status) status = scree_law_table_init(&w->system.laws, &w->log);
  if (!status) status = take_settings(w, settings);
  if (!status) status = scree_solver_create(&preset, &w->log, &w->system.solver);
  if (!status) scree_bodies_init(&w->system.bodies, settings->dimension);
  if (!status) scree_broad_set_poll(w->system.broad, &w->system.poll);
  if (!status) scree_broad_set_work(w->system.broad, &w->system.scratch);
  if (status)
    scree_world_destroy(w);
  else
    *world = w;
  return status;
}

void scree_world_destroy(scree_World *world) {
  if (!world) return;
  scree_system_fini(&world->system);
  scree_free(world->options_text);
  scree_free((void *)world->options);
  scree_free(world->backup);
  scree_free(world->origin);
  scree_memory_fini(&world->kept);
  scree_free(world->remembered);
  scree_free(world);
}

const scree_WorldSettings *scree_world_get_settings(const scree_World *world) {
  return &world->system.settings;
}

scree_Status scree_world_set_settings(scree_World *world, const scree_WorldSettings *settings) {
  if (settings->dimension != world->system.bodies.dimension)
    return scree_fail(&world->log, SCREE_BAD_INPUT, "world: dimension %d, expected %d as before",
                      settings->dimension, world->system.bodies.dimension);
  return take_settings(world, settings);
}

scree_Status scree_world_add_material(scree_World *world, int *material) {
  scree_Status status = scree_law_table_add(&world->system.laws, &world->log);
  if (!status && material) *material = world->system.laws.materials - 1;
  return status;
}

static scree_Status set_law(scree_World *world, int a, int b, const scree_PairLaw *law) {
  scree_System *s = &world->system;
  scree_Status status = check_scheme(world, scree_law_find(law->law), s->scheme);
  if (!status && scree_law_dilatancy(law) != 1) status = check_flow(world, law, s->settings.flow);
  if (!status) status = scree_law_table_set(&s->laws, a, b, law, &world->log);
  s->energy_known = false; /* the energy stored in contacts may change */
  return status;
}

scree_Status scree_world_set_default_law(scree_World *world, const scree_PairLaw *law) {
  return set_law(world, -1, -1, law);
}

scree_Status scree_world_set_pair_law(scree_World *world, int material_a, int material_b,
                                      const scree_PairLaw *law) {
  if (material_a < 0 || material_b < 0)
    return scree_fail(&world->log, SCREE_BAD_INPUT, "law: materials %d and %d, expected 0 .. %d",
                      material_a, material_b, world->system.laws.materials - 1);
  return set_law(world, material_a, material_b, law);
}

int scree_world_material_count(const scree_World *world) {
  return world->system.laws.materials;
}

scree_PairLaw scree_world_pair_law(const scree_World *world, int a, int b) {
  const scree_LawTable *laws = &world->system.laws;
  const int n = laws->materials;
  if (a < 0 || a >= n || b < 0 || b >= n)
    scree_report(&world->log, SCREE_LOG_ERROR, "law: materials %d and %d, expected 0 .. %d", a, b,
                 n - 1);
  else if (laws->pairs[a * n + b].law)
    return laws->pairs[a * n + b];
  return laws->preset;
}

scree_Status scree_world_reserve(scree_World *world, int bodies) {
  scree_Bodies *b = &world->system.bodies;
  if (bodies <= b->count) return SCREE_OK;
  if (!scree_bodies_reserve(b, (size_t)bodies)) return scree_fail_memory(&world->log, "the bodies");
  world->body_generation++;
  return SCREE_OK;
}

scree_Status scree_world_add_body(scree_World *world, const scree_BodyDef *def, int *body) {
  scree_System *s = &world->system;
  if (def->material < 0 || def->material >= s->laws.materials)
    return scree_fail(&world->log, SCREE_BAD_INPUT, "body %d: material %d, expected 0 .. %d",
                      s->bodies.count, def->material, s->laws.materials - 1);
  const void *before = s->bodies.motion;
  const int number = s->domain.global ? s->domain.whole : s->bodies.count;
  scree_Status status = scree_bodies_add(&s->bodies, def, &world->log);
  if (!status) status = scree_domain_add_body(s);
  /* a longer array is a new one for callers, even if the memory is the same */
  if (!status || before != s->bodies.motion) world->body_generation++;
  if (status) return status;
  if (body) *body = number;
  s->energy_known = false;
  scree_broad_invalidate(s->broad);
  return SCREE_OK;
}

/* Calls that change bodies name them by their numbers in the whole world: the number of a copy
 * that this rank holds. False: another rank has it. */
static bool find_local(const scree_World *world, int *body) {
  const scree_Domain *p = &world->system.domain;
  if (!p->global || *body < 0 || *body >= p->whole) return true;
  *body = scree_domain_local(p, world->system.bodies.count, *body);
  return *body >= 0;
}

static scree_Status check_index(const scree_World *world, int body) {
  if (body >= 0 && body < world->system.bodies.count) return SCREE_OK;
  return scree_fail(&world->log, SCREE_BAD_INPUT, "body %d does not exist, expected 0 .. %d", body,
                    world->system.bodies.count - 1);
}

static scree_Status check_body(const scree_World *world, int body) {
  const scree_Status status = check_index(world, body);
  if (status) return status;
  if (scree_body_is_removed(world, body))
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "body %d was removed after step %lld, expected one that exists", body,
                      (long long)scree_body_removed_step(world, body));
  return SCREE_OK;
}

scree_Status scree_world_remove_body(scree_World *world, int body) {
  scree_System *s = &world->system;
  s->energy_known = false;
  if (!find_local(world, &body)) return SCREE_OK;
  scree_Status status = check_body(world, body);
  if (!status) status = scree_bodies_set_gone(&s->bodies, body, world->steps, &world->log);
  if (status) return status;
  s->energy_known = false;
  scree_broad_invalidate(s->broad);
  return SCREE_OK;
}

scree_Status scree_world_drive_nodes(scree_World *world, const scree_DrivenDef *def) {
  if (world->steps > 0)
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "driven nodes: the world has made %lld steps, expected none",
                      (long long)world->steps);
  scree_DrivenDef own = *def;
  if (!find_local(world, &own.body)) return SCREE_OK; /* of another rank */
  (void)find_local(world, &own.obstacle);
  return scree_bodies_drive_nodes(&world->system.bodies, &own, &world->log);
}

/* A force of a divided world in place of force `at`, or behind all: on a body that this rank may
 * not have. Spans are between bodies of the whole world. */
static scree_Status put_force(scree_World *world, int at, const scree_ForceDef *def) {
  scree_System *s = &world->system;
  scree_Domain *p = &s->domain;
  scree_ForceDef own = *def;
  const bool here = find_local(world, &own.body);
  const bool on_nodes = def->nodes != NULL;
  if (!here) own.body = -1;
  if (on_nodes && !(here && scree_domain_owns(p, own.body))) own.nodes = NULL;
  for (int k = 0; k < 2; ++k) own.span[k].along = scree_vec3(0, 0, 0);
  const size_t n = (size_t)at + 1;
  scree_Status status = scree_force_check_spans(def, p->whole, &world->log);
  if (!status && !scree_grow((void **)&p->forces, &p->forces_capacity, n, sizeof *p->forces))
    status = scree_fail_memory(&world->log, "the forces of a rank");
  if (!status)
    status = at == s->bodies.force_count
                 ? scree_bodies_add_force(&s->bodies, &own, &world->log)
                 : scree_bodies_set_force(&s->bodies, at, &own, &world->log);
  if (on_nodes) status = scree_domain_agree(s, status);
  if (!status && on_nodes)
    status = scree_patch_share(p->ranks, &s->bodies.forces[at].patch, &world->log);
  if (status) return status;
  p->forces[at] = def->body;
  memcpy(s->bodies.forces[at].span, def->span, sizeof def->span);
  if (!here) s->bodies.forces[at].body = SCREE_FORCE_ELSEWHERE;
  return SCREE_OK;
}

scree_Status scree_world_add_force(scree_World *world, const scree_ForceDef *def) {
  scree_Bodies *b = &world->system.bodies;
  return world->system.domain.global ? put_force(world, b->force_count, def)
                                     : scree_bodies_add_force(b, def, &world->log);
}

int scree_world_force_count(const scree_World *world) {
  return world->system.bodies.force_count;
}

scree_Status scree_world_set_force(scree_World *world, int force, const scree_ForceDef *def) {
  scree_Bodies *b = &world->system.bodies;
  return world->system.domain.global && force >= 0 && force < b->force_count
             ? put_force(world, force, def)
             : scree_bodies_set_force(b, force, def, &world->log);
}

scree_Status scree_body_set_driver(scree_World *world, int body, const scree_Signal *driver) {
  if (!find_local(world, &body)) return SCREE_OK;
  scree_Status status = check_body(world, body);
  if (!status) status = scree_bodies_set_driver(&world->system.bodies, body, driver, &world->log);
  if (!status) scree_broad_invalidate(world->system.broad);
  return status;
}

void scree_world_fit(scree_World *world) {
  scree_Bodies *b = &world->system.bodies;
  const size_t room =
      b->motion_capacity + b->inertia_capacity + b->cold_capacity + b->fixed_capacity;
  scree_bodies_fit(b);
  if (room != b->motion_capacity + b->inertia_capacity + b->cold_capacity + b->fixed_capacity)
    world->body_generation++;
}

/* ---- state ----------------------------------------------------------------------------------- */

double scree_world_time(const scree_World *world) {
  return world->time_start + (double)world->time_count * world->system.settings.step;
}

int64_t scree_world_steps(const scree_World *world) {
  return world->steps;
}

int scree_world_body_count(const scree_World *world) {
  return world->system.bodies.count;
}

static const scree_Vec3 no_vector = {NAN, NAN, NAN};

scree_Pose scree_body_pose(const scree_World *world, int body) {
  if (check_index(world, body)) return (scree_Pose){no_vector, {NAN, NAN, NAN, NAN}};
  return world->system.bodies.motion[body].pose;
}

scree_Twist scree_body_velocity(const scree_World *world, int body) {
  if (check_index(world, body)) return (scree_Twist){no_vector, no_vector};
  return world->system.bodies.motion[body].velocity;
}

scree_Status scree_body_set_pose(scree_World *world, int body, const scree_Pose *pose) {
  scree_System *s = &world->system;
  s->domain.fresh = s->energy_known = false;
  if (!find_local(world, &body)) return SCREE_OK;
  scree_Status status = check_body(world, body);
  if (!status) status = scree_bodies_check_pose(&s->bodies, body, pose, &world->log);
  if (status) return status;
  s->bodies.motion[body].pose = *pose;
  s->bodies.motion[body].pose.orientation = scree_quat_normalize(pose->orientation);
  scree_bodies_set_undeformed(&s->bodies, body, &s->bodies.motion[body].pose);
  s->energy_known = false;
  return SCREE_OK;
}

scree_Status scree_body_set_velocity(scree_World *world, int body, const scree_Twist *velocity) {
  scree_Bodies *b = &world->system.bodies;
  world->system.energy_known = false;
  if (!find_local(world, &body)) return SCREE_OK;
  scree_Status status = check_body(world, body);
  if (status) return status;
  if (b->fixed[body])
    return scree_fail(
        &world->log, SCREE_BAD_INPUT,
        "velocity: body %d is an obstacle, which its driver moves, expected another body", body);
  if (!scree_twist_is_finite(velocity))
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "body %d: found a velocity that is not finite, expected finite numbers",
                      body);
  b->motion[body].velocity = b->dimension == 2 ? scree_twist_planar(*velocity) : *velocity;
  const scree_Twist set = b->motion[body].velocity;
  scree_bodies_set_rigid_velocity(b, body, &set);
  world->system.energy_known = false;
  return SCREE_OK;
}

const scree_Shape *scree_body_shape(const scree_World *world, int body) {
  if (check_index(world, body)) return NULL;
  return &world->system.bodies.cold[body].shape;
}

scree_BodyKind scree_body_kind_of(const scree_World *world, int body) {
  if (check_index(world, body)) return SCREE_BODY_KINDS;
  const scree_Deformable *self = scree_bodies_deformable(&world->system.bodies, body);
  return self ? scree_body_kind(self->class_->name) : SCREE_BODY_RIGID;
}

bool scree_world_deforms(const scree_World *world) {
  return scree_system_deforms(&world->system);
}

int scree_body_node_count(const scree_World *world, int body) {
  const scree_Deformable *self =
      check_index(world, body) ? NULL : scree_bodies_deformable(&world->system.bodies, body);
  return self && self->class_->nodes ? self->vertices : 0;
}

int scree_world_node_count(const scree_World *world) {
  const scree_Bodies *b = &world->system.bodies;
  int sum = 0;
  for (int k = 0; k < b->deformable_count; ++k)
    if (b->deformable[k].class_->nodes) sum += b->deformable[k].vertices;
  return sum;
}

scree_Status scree_world_nodes(const scree_World *world, double *position, double *stress) {
  const scree_Bodies *b = &world->system.bodies;
  int most = 0;
  for (int k = 0; k < b->deformable_count; ++k)
    if (b->deformable[k].vertices > most) most = b->deformable[k].vertices;
  double *work = SCREE_ALLOC(double, 10 * (size_t)most); /* stresses, volumes, then positions */
  if (!work) return scree_fail_memory(world->system.log, "the stresses at nodes");
  double *place = work + 7 * (size_t)most;
  for (int k = 0; k < b->deformable_count; ++k) {
    const scree_Deformable *self = &b->deformable[k];
    if (!self->class_->nodes) continue;
    const size_t n = (size_t)self->vertices;
    self->class_->nodes(self, scree_deformable_q(b, self), place, work);
    if (position) memcpy(position, place, 3 * n * sizeof *position);
    if (stress) memcpy(stress, work, 6 * n * sizeof *stress);
    if (position) position += 3 * n;
    if (stress) stress += 6 * n;
  }
  scree_free(work);
  return SCREE_OK;
}

scree_Shape scree_body_undeformed(const scree_World *world, int body) {
  if (check_index(world, body)) return (scree_Shape){.kind = SCREE_SHAPE_KINDS};
  const scree_Bodies *b = &world->system.bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, body);
  return self && self->class_->undeformed ? self->class_->undeformed(self) : b->cold[body].shape;
}

scree_Vec3 scree_body_stretch(const scree_World *world, int body) {
  scree_Vec3 ratio = {1, 1, 1};
  const scree_BodyKind kind = scree_body_kind_of(world, body);
  if (kind == SCREE_BODY_KINDS) return (scree_Vec3){NAN, NAN, NAN};
  if (kind == SCREE_BODY_RIGID) return ratio;
  const scree_Shape base = scree_body_undeformed(world, body);
  const scree_Shape *now = &world->system.bodies.cold[body].shape;
  if (base.semi.x > 0) ratio.x = now->semi.x / base.semi.x;
  if (base.semi.y > 0) ratio.y = now->semi.y / base.semi.y;
  if (base.semi.z > 0) ratio.z = now->semi.z / base.semi.z;
  return ratio;
}

bool scree_body_is_obstacle(const scree_World *world, int body) {
  return !check_index(world, body) && (world->system.bodies.fixed[body] & SCREE_BODY_OBSTACLE);
}

bool scree_body_is_removed(const scree_World *world, int body) {
  return !check_index(world, body) && (world->system.bodies.fixed[body] & SCREE_BODY_GONE);
}

int64_t scree_body_removed_step(const scree_World *world, int body) {
  const scree_Bodies *b = &world->system.bodies;
  return !check_index(world, body) && b->gone ? b->gone[body] : -1;
}

int scree_world_removed_count(const scree_World *world) {
  return world->system.bodies.gone_count;
}

double scree_body_mass(const scree_World *world, int body) {
  if (check_index(world, body)) return NAN;
  return scree_body_is_obstacle(world, body) ? INFINITY : world->system.bodies.inertia[body].mass;
}

scree_Vec3 scree_body_inertia(const scree_World *world, int body) {
  if (check_index(world, body)) return no_vector;
  if (scree_body_is_obstacle(world, body)) return scree_vec3(INFINITY, INFINITY, INFINITY);
  return world->system.bodies.inertia[body].moments;
}

double scree_body_kinetic(const scree_World *world, int body) {
  const scree_Bodies *b = &world->system.bodies;
  if (check_index(world, body)) return NAN;
  return b->fixed[body] ? 0 : scree_bodies_kinetic(b, body, NULL);
}

int scree_body_material(const scree_World *world, int body) {
  if (check_index(world, body)) return -1;
  return world->system.bodies.cold[body].material;
}

uint32_t scree_body_group(const scree_World *world, int body) {
  if (check_index(world, body)) return 0;
  return world->system.bodies.cold[body].group;
}

size_t scree_world_memory(const scree_World *world) {
  return sizeof *world + scree_system_memory(&world->system) + world->backup_capacity +
         world->origin_capacity + world->remembered_capacity + scree_memory_bytes(&world->kept);
}

size_t scree_world_solver_memory(const scree_World *world) {
  const scree_System *s = &world->system;
  return scree_solver_memory(s->solver) + scree_arena_memory(&s->scratch) +
         (s->apart ? scree_solver_memory(s->apart) : 0) +
         (s->internal ? scree_solver_memory(s->internal) : 0);
}

/* Periodic cells (see cell.h). */
#include "step/cell.h"

#include "core/log.h"
#include "step/system.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static scree_Vec3 *column(scree_Mat3 *m, int k) {
  assert(k >= 0 && k < 3);
  return k == 0 ? &m->x : k == 1 ? &m->y : &m->z;
}

static double determinant(const scree_Mat3 *m) {
  return scree_dot(m->x, scree_cross(m->y, m->z));
}

static scree_Mat3 inverse(const scree_Mat3 *m) {
  assert(determinant(m) != 0);
  const double f = 1 / determinant(m);
  const scree_Mat3 rows = {scree_scale(f, scree_cross(m->y, m->z)),
                           scree_scale(f, scree_cross(m->z, m->x)),
                           scree_scale(f, scree_cross(m->x, m->y))};
  return scree_mat3_transpose(&rows);
}

static scree_Mat3 from_rows(const double m[9]) {
  return (scree_Mat3){{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}};
}

static scree_Mat3 plus(const scree_Mat3 *a, double f, const scree_Mat3 *b) {
  return (scree_Mat3){scree_axpy(a->x, f, b->x), scree_axpy(a->y, f, b->y),
                      scree_axpy(a->z, f, b->z)};
}

scree_Mat3 scree_cell_gradient_after(const scree_Cell *cell) {
  const scree_Mat3 L = scree_mat3_matmul(&cell->state.velocity, &cell->inverse);
  return plus(&L, 1, &cell->answer);
}

/* Sum of the sides along which the cell is periodic: from its corner to the opposite one. */
static scree_Vec3 periodic_sides(const scree_Cell *cell) {
  scree_Vec3 sum = {0, 0, 0};
  for (int k = 0; k < 3; ++k)
    if (cell->periodic[k]) sum = scree_add(sum, scree_column(&cell->state.sides, k));
  return sum;
}

/* ---- making ---------------------------------------------------------------------------------- */

scree_CellDef scree_cell_def(void) {
  return (scree_CellDef){.pressure = {NAN, NAN, NAN}};
}

static scree_Status check_gradient(const scree_Cell *cell, const double *L, int dimension,
                                   double time, const scree_Log *log) {
  for (int i = 0; i < 9; ++i) {
    if (!isfinite(L[i]))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "cell: velocity gradient %g at t = %.9g s, expected a finite number", L[i],
                        time);
    const int row = i / 3, side = i % 3;
    if (L[i] != 0 && (!cell->periodic[side] || row >= dimension))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "cell: velocity gradient along side %d at t = %.9g s, expected 0: the "
                        "cell does not repeat itself along it",
                        side, time);
  }
  return SCREE_OK;
}

scree_Status scree_cell_init(scree_Cell *cell, const scree_CellDef *def, int dimension,
                             const scree_Log *log) {
  *cell = (scree_Cell){.def = *def};
  cell->state.sides = (scree_Mat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  bool controlled = false, open = false;
  for (int k = 0; k < 3; ++k) {
    const double l = scree_component(def->size, k);
    if (!(l >= 0) || !isfinite(l) || !isfinite(scree_component(def->origin, k)))
      return scree_fail(log, SCREE_BAD_INPUT, "cell: side %d is %g, expected a length, or 0", k, l);
    cell->periodic[k] = l > 0 && k < dimension;
    cell->any = cell->any || cell->periodic[k];
    open = open || (k < dimension && !cell->periodic[k]);
    if (cell->periodic[k])
      *column(&cell->state.sides, k) = scree_scale(l, scree_column(&cell->state.sides, k));
    if (isnan(def->pressure[k])) continue;
    controlled = true;
    cell->axis[cell->pressed++] = k;
    if (!isfinite(def->pressure[k]))
      return scree_fail(log, SCREE_BAD_INPUT, "cell: a pressure is not finite, expected a number");
  }
  cell->centre = scree_axpy(def->origin, 0.5, periodic_sides(cell));
  if (controlled && open)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "cell: a pressure needs the stress of the cell, expected a cell that is "
                      "periodic in all directions");
  cell->inverse = inverse(&cell->state.sides);
  return def->function ? SCREE_OK : check_gradient(cell, def->gradient, dimension, 0, log);
}

double scree_cell_volume(const scree_Cell *cell, int dimension) {
  for (int k = 0; k < dimension; ++k)
    if (!cell->periodic[k]) return 0;
  return fabs(determinant(&cell->state.sides));
}

scree_Vec3 scree_cell_origin(const scree_Cell *cell) {
  return scree_axpy(cell->centre, -0.5, periodic_sides(cell));
}

scree_Vec3 scree_cell_fraction(const scree_Cell *cell, scree_Vec3 position) {
  return scree_mat3_mul(&cell->inverse, scree_sub(position, scree_cell_origin(cell)));
}

scree_Vec3 scree_cell_nearest(const scree_Cell *cell, scree_Vec3 position, scree_Vec3 to) {
  if (!cell->any) return position;
  const scree_Vec3 f = scree_mat3_mul(&cell->inverse, scree_sub(to, position));
  const scree_Vec3 n = {cell->periodic[0] ? round(f.x) : 0, cell->periodic[1] ? round(f.y) : 0,
                        cell->periodic[2] ? round(f.z) : 0};
  return scree_add(position, scree_mat3_mul(&cell->state.sides, n));
}

/* ---- a step ---------------------------------------------------------------------------------- */

static double mass_of(const scree_Bodies *b) {
  double sum = 0;
  for (int k = 0; k < b->count; ++k)
    if (!b->fixed[k]) sum += b->inertia[k].mass;
  return sum;
}

/* Velocity of a body in the motion of the cell, which has this gradient. */
static scree_Vec3 velocity_in(const scree_System *s, const scree_Mat3 *gradient, int k) {
  const scree_Motion *motion = &s->bodies.motion[k];
  const scree_Vec3 x = scree_sub(motion->pose.position, s->cell.centre);
  return scree_sub(motion->velocity.linear, scree_mat3_mul(gradient, x));
}

static void add_outer(double *tensor, double factor, scree_Vec3 a, scree_Vec3 b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      tensor[3 * i + j] += factor * scree_component(a, i) * scree_component(b, j);
}

/* V times the stress of the momentum that bodies carry across planes, by their velocities less the
 * common one, before the kick. */
static void add_kinetic(const scree_System *s, double factor, double *tensor) {
  const scree_Bodies *b = &s->bodies;
  const scree_Cell *cell = &s->cell;
  const scree_Mat3 gradient = scree_mat3_matmul(&cell->state.before, &cell->inverse);
  const double mass = mass_of(b);
  scree_Vec3 momentum = {0, 0, 0};
  for (int k = 0; k < b->count; ++k)
    if (!b->fixed[k])
      momentum = scree_axpy(momentum, b->inertia[k].mass, velocity_in(s, &gradient, k));
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k]) continue;
    const scree_Vec3 v = scree_axpy(velocity_in(s, &gradient, k), -1 / mass, momentum);
    add_outer(tensor, -factor * b->inertia[k].mass, v, v);
  }
}

void scree_cell_weigh(scree_System *s) {
  scree_Cell *cell = &s->cell;
  cell->mass = mass_of(&s->bodies);
  for (int i = 0; i < cell->pressed; ++i) {
    const double l = scree_norm(scree_column(&cell->state.sides, cell->axis[i]));
    cell->scale[i] = cell->mass > 0 ? 1 / (sqrt(cell->mass) * l) : 0;
  }
}

static scree_Status check_laws(const scree_System *s) {
  if (s->bodies.deformable_count)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "cell: found deformable bodies, expected rigid ones only");
  if (s->cell.pressed && s->laws.any_flow)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "cell: found a pressure and a law with a dilatancy other than 1, expected 1");
  return SCREE_OK;
}

scree_Status scree_cell_drive(scree_System *s, double driven, double h) {
  scree_Cell *cell = &s->cell;
  scree_CellState *state = &cell->state;
  const int d = s->bodies.dimension;
  double L[9], kinetic[9] = {0};
  if (!cell->any) return SCREE_OK;
  memcpy(L, cell->def.gradient, sizeof L);
  if (cell->def.function) cell->def.function(cell->def.user, driven, L);
  scree_Status status = check_laws(s);
  if (!status) status = check_gradient(cell, L, d, driven, s->log);
  if (status) return status;
  cell->inverse = inverse(&state->sides);
  state->before = state->velocity;
  scree_cell_weigh(s);
  const scree_Mat3 last = scree_mat3_matmul(&state->velocity, &cell->inverse);
  if (cell->pressed) add_kinetic(s, 1, kinetic);
  for (int i = 0; i < cell->pressed; ++i) {
    const int k = cell->axis[i];
    const double load = -kinetic[4 * k] - cell->def.pressure[k] * scree_cell_volume(cell, d);
    L[4 * k] =
        scree_component(scree_column(&last, k), k) + h * load * cell->scale[i] * cell->scale[i];
  }
  const scree_Mat3 gradient = from_rows(L);
  state->velocity = scree_mat3_matmul(&gradient, &state->sides);
  for (int k = 0; k < 3; ++k)
    if (!cell->periodic[k]) *column(&state->velocity, k) = (scree_Vec3){0, 0, 0};
  const scree_Mat3 change = plus(&state->velocity, -1, &state->before);
  cell->kick = scree_mat3_matmul(&change, &cell->inverse);
  return SCREE_OK;
}

scree_Vec3 scree_cell_push(const scree_System *s, int k) {
  const scree_Vec3 x = scree_sub(s->bodies.motion[k].pose.position, s->cell.centre);
  return scree_mat3_mul(&s->cell.kick, x);
}

void scree_cell_refresh(scree_Cell *cell) {
  if (cell->any) cell->inverse = inverse(&cell->state.sides);
}

void scree_cell_settle(scree_System *s) {
  scree_Cell *cell = &s->cell;
  if (!cell->any) return;
  cell->state.before = cell->state.velocity;
  cell->kick = cell->answer = (scree_Mat3){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  if (cell->pressed) scree_cell_weigh(s);
}

void scree_cell_drift(scree_Cell *cell, double h) {
  scree_CellState *state = &cell->state;
  if (!cell->any) return;
  const scree_Mat3 gradient = scree_mat3_matmul(&state->velocity, &cell->inverse);
  state->strain = plus(&state->strain, h, &gradient);
  state->sides = plus(&state->sides, h, &state->velocity);
  cell->inverse = inverse(&state->sides);
}

/* Work of the velocities of images on the contacts. */
static double work_of_images(const scree_System *s) {
  const scree_Posed *p = &s->posed;
  const int d = s->bodies.dimension;
  double work = 0;
  for (int c = 0; c < p->nc; ++c) {
    const uint32_t image = s->contacts.keys[c].image;
    if (!image) continue;
    const double *r = p->r + (size_t)c * (size_t)d;
    const scree_Vec3 both = scree_add(scree_cell_velocity_before(&s->cell, image),
                                      scree_cell_velocity_after(&s->cell, image));
    scree_Vec3 a[3];
    a[0] = s->contacts.normal[c];
    scree_contact_frame(a[0], d, &a[1], &a[2]);
    for (int k = 0; k < d; ++k) work += 0.5 * r[k] * scree_dot(a[k], both);
  }
  return work;
}

void scree_cell_measure_begin(scree_System *s) {
  memset(s->cell.state.stress, 0, sizeof s->cell.state.stress);
}

void scree_cell_measure_kick(scree_System *s) {
  const scree_Posed *p = &s->posed;
  scree_Cell *cell = &s->cell;
  const int d = s->bodies.dimension;
  const double volume = scree_cell_volume(cell, d);
  if (!cell->any) return;
  cell->state.work += work_of_images(s);
  for (int c = 0; c < p->nc && volume > 0; ++c) {
    const double *r = p->r + (size_t)c * (size_t)d;
    const scree_ContactKey *key = &s->contacts.keys[c];
    scree_Vec3 a[3], impulse = {0, 0, 0};
    a[0] = s->contacts.normal[c];
    scree_contact_frame(a[0], d, &a[1], &a[2]);
    for (int k = 0; k < d; ++k) impulse = scree_axpy(impulse, r[k], a[k]);
    add_outer(cell->state.stress, -1 / (s->settings.step * volume), impulse,
              scree_system_branch(s, key, s->contacts.position[c]));
  }
}

void scree_cell_measure_motion(scree_System *s, double h) {
  const double volume = scree_cell_volume(&s->cell, s->bodies.dimension);
  if (!s->cell.any || !(volume > 0)) return;
  add_kinetic(s, h / (s->settings.step * volume), s->cell.state.stress);
}

/* ---- coming back in -------------------------------------------------------------------------- */

static bool is_along(const scree_CellState *state, int k) {
  const scree_Vec3 side = scree_column(&state->sides, k);
  return scree_component(side, (k + 1) % 3) == 0 && scree_component(side, (k + 2) % 3) == 0;
}

/* Shorter sides of the same lattice, where one is sheared along another by more than half. A side
 * along its axis stays as it is: it would become one that is not, and as long. */
static void reduce(scree_Cell *cell) {
  scree_CellState *state = &cell->state;
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) {
      if (j == k || !cell->periodic[j] || !cell->periodic[k] || is_along(state, k)) continue;
      const scree_Vec3 a = scree_column(&state->sides, j), b = scree_column(&state->sides, k);
      const double times = scree_dot(a, b) / scree_norm2(a);
      if (!(fabs(times) > 0.5 + 1e-9)) continue;
      const double n = round(times);
      *column(&state->sides, k) = scree_axpy(b, -n, a);
      *column(&state->velocity, k) =
          scree_axpy(scree_column(&state->velocity, k), -n, scree_column(&state->velocity, j));
    }
  cell->inverse = inverse(&state->sides);
}

/* Bodies of joints stay where the joint holds them. */
static bool is_jointed(const scree_System *s, int k) {
  for (int j = 0; j < s->joints.count; ++j)
    if (s->joints.joint[j].body[0] == k || s->joints.joint[j].body[1] == k) return true;
  return false;
}

double scree_cell_wrap(scree_System *s) {
  scree_Cell *cell = &s->cell;
  scree_Bodies *b = &s->bodies;
  double work = 0;
  if (!cell->any) return 0;
  reduce(cell);
  for (int k = 0; k < b->count; ++k) {
    if (b->fixed[k]) continue;
    const scree_Vec3 f = scree_cell_fraction(cell, b->motion[k].pose.position);
    const scree_Vec3 n = {cell->periodic[0] ? -floor(f.x) : 0, cell->periodic[1] ? -floor(f.y) : 0,
                          cell->periodic[2] ? -floor(f.z) : 0};
    if ((n.x == 0 && n.y == 0 && n.z == 0) || is_jointed(s, k)) continue;
    const scree_Vec3 way = scree_mat3_mul(&cell->state.sides, n);
    const scree_Vec3 change = scree_mat3_mul(&cell->state.velocity, n);
    scree_Motion *motion = &b->motion[k];
    const double m = b->inertia[k].mass;
    const scree_Vec3 v = scree_add(motion->velocity.linear, change);
    work += 0.5 * m * (scree_norm2(v) - scree_norm2(motion->velocity.linear)) -
            m * scree_dot(s->settings.gravity, way);
    motion->velocity.linear = v;
    motion->pose.position = scree_add(motion->pose.position, way);
  }
  cell->state.work += work;
  return work;
}

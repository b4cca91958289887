/* Deformable bodies in a step (see deform.h). */
#include "step/deform.h"

#include "body/driven.h"
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <string.h>

enum { PAD = 8 }; /* kernels may load a full vector past the end */

void scree_deform_fini(scree_Deform *f) {
  void *arrays[] = {f->vertices.size, f->vertices.row, f->vertices.col, f->vertices.x,
                    f->rows.row,      f->rows.entry,   f->rows.vertex,  f->rows.block,
                    f->rows.B,        f->rows.C,       f->energy,       f->load,
                    f->goal,          f->end,          f->later,        f->group};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  *f = (scree_Deform){0};
}

size_t scree_deform_memory(const scree_Deform *f) {
  return (f->size_capacity + f->coupled_capacity + f->vertex_capacity + f->group_capacity) *
             sizeof(int) +
         (f->coupled_row_capacity + f->row_capacity + f->entry_capacity + f->block_capacity) *
             sizeof(size_t) +
         (f->coupled_number_capacity + f->number_capacity + f->compliance_capacity) *
             sizeof(double) +
         f->energy_capacity * sizeof *f->energy + f->end_capacity * sizeof *f->end +
         (f->load_capacity + f->goal_capacity + f->later_capacity) * sizeof(double);
}

/* ---- order of contacts ----------------------------------------------------------------------- */

static size_t rigid_count(const scree_Bodies *b, const scree_ContactKey *keys, size_t count) {
  size_t first = 0, last = count; /* rigid ones before `first`, others from `last` on */
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (scree_deform_touches(b, &keys[middle]))
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

/* Whether nothing can move the point of body k at which part `part` is touched. */
static bool stays(const scree_Bodies *b, int k, scree_Vec3 point, uint32_t part) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (b->fixed[k] || !self) return b->fixed[k];
  if (self->held == 0) return false;
  int vertex[SCREE_TOUCH_MAX];
  double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX];
  const int count = self->class_->touch(self, scree_deformable_q(b, self), point, part, vertex, N);
  for (int i = 0; i < count; ++i)
    if (!self->class_->is_held(self, vertex[i])) return false;
  return true;
}

void scree_deform_drop_stuck(const scree_System *s, scree_Points *p, size_t first) {
  const scree_Bodies *b = &s->bodies;
  size_t kept = first;
  for (size_t k = first; k < p->count; ++k) {
    const scree_ContactKey *key = &p->keys[k];
    if (stays(b, key->i, p->position[k], key->part[0]) &&
        stays(b, key->j, p->position[k], key->part[1]))
      continue;
    if (kept < k) {
      p->keys[kept] = p->keys[k];
      p->position[kept] = p->position[k];
      p->normal[kept] = p->normal[k];
      p->gap[kept] = p->gap[k];
      p->curve[kept] = p->curve[k];
    }
    ++kept;
  }
  p->count = kept;
}

scree_Status scree_deform_sort(scree_System *s) {
  scree_Points *p = &s->contacts;
  scree_deform_drop_stuck(s, p, 0);
  const size_t n = p->count;
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  size_t *from = SCREE_TAKE_RAW(&s->scratch, size_t, n);
  scree_ContactKey *keys = SCREE_TAKE_RAW(&s->scratch, scree_ContactKey, n);
  scree_Vec3 *vectors = SCREE_TAKE_RAW(&s->scratch, scree_Vec3, n);
  double *numbers = SCREE_TAKE_RAW(&s->scratch, double, n);
  const bool ready = from && keys && vectors && numbers;
  if (ready && n > 0) {
    size_t count = 0;
    for (int deformable = 0; deformable < 2; ++deformable)
      for (size_t k = 0; k < n; ++k)
        if (scree_deform_touches(&s->bodies, &p->keys[k]) == (deformable == 1)) from[count++] = k;
    for (size_t k = 0; k < n; ++k) keys[k] = p->keys[from[k]];
    memcpy(p->keys, keys, n * sizeof *keys);
    for (int which = 0; which < 2; ++which) {
      scree_Vec3 *all = which == 0 ? p->position : p->normal;
      for (size_t k = 0; k < n; ++k) vectors[k] = all[from[k]];
      memcpy(all, vectors, n * sizeof *vectors);
    }
    for (int which = 0; which < 2; ++which) {
      double *all = which == 0 ? p->gap : p->curve;
      for (size_t k = 0; k < n; ++k) numbers[k] = all[from[k]];
      memcpy(all, numbers, n * sizeof *numbers);
    }
  }
  scree_arena_release(&s->scratch, mark);
  return ready ? SCREE_OK : scree_fail_memory(s->log, "the contacts");
}

void scree_deform_match(const scree_Bodies *b, const scree_ContactKey *old_keys,
                        const scree_Vec3 *old_arms, size_t old_count, const scree_ContactKey *keys,
                        const scree_Vec3 *arms, size_t count, int32_t *previous) {
  if (!b->deformable_index) {
    scree_contact_match_near(old_keys, old_arms, old_count, keys, arms, count, previous);
    return;
  }
  const size_t old = rigid_count(b, old_keys, old_count), now = rigid_count(b, keys, count);
  scree_contact_match_near(old_keys, old_arms, old, keys, arms, now, previous);
  scree_contact_match_near(old_keys + old, old_arms + old, old_count - old, keys + now, arms + now,
                           count - now, previous + now);
  for (size_t k = now; k < count; ++k)
    if (previous[k] >= 0) previous[k] += (int32_t)old;
}

/* ---- the kick without contacts --------------------------------------------------------------- */

static scree_BodyLoad load_of(const scree_System *s, const scree_Deformable *self, double h) {
  scree_BodyLoad load = {{0, 0, 0}, {0, 0, 0}, NULL, NULL};
  const int k = self->body;
  if (self->driven > 0) {
    double *goal = s->deform.goal + self->offset;
    scree_driven_goal(&s->bodies, self, s->times.horizon, goal);
    load.goal = goal;
  }
  if (!(h > 0)) return load;
  if (s->deform.loaded > 0) load.nodes = s->deform.load + self->offset;
  load.acceleration = s->settings.gravity;
  if (!s->forced) return load;
  const scree_Vec3 L = scree_inertia_mul(
      &s->bodies.inertia[k], s->bodies.motion[k].pose.orientation, s->forced[k].angular);
  load.acceleration = scree_axpy(load.acceleration, 1 / h, s->forced[k].linear);
  load.torque = scree_scale(1 / h, L);
  return load;
}

static void prepare_all(scree_System *s, double h, int *failed, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->deformable_count, share) {
    const scree_Deformable *self = &b->deformable[k];
    if (b->fixed[self->body]) continue;
    const scree_BodyLoad load = load_of(s, self, h);
    const double *q = scree_deformable_q(b, self), *v = scree_deformable_v(b, self);
    if (!self->class_->prepare(self, q, v, &load, h, scree_deformable_change(b, self))) {
#pragma omp critical(scree_deform)
      *failed = *failed < 0 || self->body < *failed ? self->body : *failed;
    }
  }
}

scree_Status scree_deform_judge(scree_System *s, int inverted) {
  double number = inverted < 0 ? -1 : scree_domain_global(&s->domain, inverted);
  if (scree_system_deforms(s)) number = scree_system_max(s, number);
  s->deform.inverted = (int)number;
  return number < 0 ? SCREE_OK : SCREE_NOT_CONVERGED;
}

scree_Status scree_deform_prepare(scree_System *s, double h) {
  int failed = -1;
  const double theta = s->scheme->theta(&s->settings);
  if (theta != 0.5)
    return scree_fail(s->log, SCREE_BAD_INPUT,
                      "deformable bodies: scheme %s with theta %g, expected theta 0.5",
                      s->settings.scheme, theta);
  const scree_Bodies *b = &s->bodies;
  bool driven = false;
  for (int k = 0; k < b->deformable_count; ++k) driven = driven || b->deformable[k].driven > 0;
  if (driven && !scree_grow_lean((void **)&s->deform.goal, &s->deform.goal_capacity, b->components,
                                 sizeof *s->deform.goal))
    return scree_fail_memory(s->log, "the driven nodes");
  SCREE_ON_THREADS(b->deformable_count, s->threads, share, prepare_all(s, h, &failed, share));
  return scree_deform_judge(s, failed);
}

/* ---- the problem ----------------------------------------------------------------------------- */

static bool grow_vertices(scree_Deform *f, size_t count, size_t blocks, size_t numbers) {
  scree_Vertices *v = &f->vertices;
  return scree_grow_lean((void **)&v->size, &f->size_capacity, count, sizeof *v->size) &&
         scree_grow_lean((void **)&v->row, &f->coupled_row_capacity, count + 1, sizeof *v->row) &&
         scree_grow_lean((void **)&v->col, &f->coupled_capacity, blocks, sizeof *v->col) &&
         scree_grow_lean((void **)&v->x, &f->coupled_number_capacity, numbers + PAD, sizeof *v->x);
}

static scree_BodyCoupling coupling_of(const scree_Deformable *self) {
  if (self->class_->coupling) return self->class_->coupling(self);
  return (scree_BodyCoupling){NULL, NULL, NULL};
}

/* A^-1 of the problem, by the factors of the bodies. */
static void solve_bodies(void *user, double *x) {
  const scree_System *s = user;
  for (int k = 0; k < s->bodies.deformable_count; ++k) {
    const scree_Deformable *self = &s->bodies.deformable[k];
    if (s->posed.problem_index[self->body] < 0) continue;
    if (self->class_->solve) self->class_->solve(self, x);
    x += self->components;
  }
}

scree_Status scree_deform_number(scree_System *s) {
  const scree_Bodies *b = &s->bodies;
  scree_Deform *f = &s->deform;
  scree_Vertices *v = &f->vertices;
  int *index = s->posed.problem_index;
  size_t blocks = 0, numbers = 0;
  v->count = f->groups = 0;
  if (!grow_vertices(f, 0, 0, 0) ||
      !scree_grow_lean((void **)&f->group, &f->group_capacity, (size_t)b->deformable_count + 1,
                       sizeof *f->group))
    return scree_fail_memory(s->log, "the deformable bodies");
  v->row[0] = 0;
  v->solve = solve_bodies;
  v->user = s;
  for (int k = 0; k < b->deformable_count; ++k) {
    const scree_Deformable *self = &b->deformable[k];
    if (index[self->body] < 0) continue;
    const scree_BodyCoupling coupling = coupling_of(self);
    const int start = v->count;
    const size_t square = (size_t)self->size * (size_t)self->size;
    const size_t more = coupling.row ? coupling.row[self->vertices] : 0;
    if (!grow_vertices(f, (size_t)start + (size_t)self->vertices, blocks + more,
                       numbers + more * square))
      return scree_fail_memory(s->log, "the deformable bodies");
    for (int i = 0; i < self->vertices; ++i) {
      v->size[start + i] = self->size;
      v->row[start + i + 1] = blocks + (coupling.row ? coupling.row[i + 1] : 0);
    }
    for (size_t j = 0; j < more; ++j) v->col[blocks + j] = start + coupling.col[j];
    if (more) memcpy(v->x + numbers, coupling.x, more * square * sizeof *v->x);
    blocks += more;
    numbers += more * square;
    index[self->body] = s->posed.nbodies + start;
    f->group[f->groups++] = start;
    v->count += self->vertices;
  }
  f->group[f->groups] = v->count;
  return SCREE_OK;
}

/* Largest number of entries and doubles of one side of a contact. */
static void side_size(const scree_Bodies *b, int k, size_t *entries, size_t *numbers) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  const size_t d = (size_t)b->dimension;
  *entries = self ? (self->vertices < SCREE_TOUCH_MAX ? (size_t)self->vertices : SCREE_TOUCH_MAX)
                  : (size_t)!b->fixed[k];
  *numbers = *entries * d * (size_t)(self ? self->size : b->nb);
}

static bool reserve_rows(scree_System *s, size_t constraints, size_t entries, size_t numbers) {
  scree_Deform *f = &s->deform;
  scree_GeneralRows *g = &f->rows;
  return scree_grow_lean((void **)&g->row, &f->row_capacity, constraints + 1, sizeof *g->row) &&
         scree_grow_lean((void **)&g->entry, &f->entry_capacity, constraints + 1,
                         sizeof *g->entry) &&
         scree_grow_lean((void **)&g->vertex, &f->vertex_capacity, entries, sizeof *g->vertex) &&
         scree_grow_lean((void **)&g->block, &f->block_capacity, entries + 1, sizeof *g->block) &&
         scree_grow_lean((void **)&g->B, &f->number_capacity, numbers + PAD, sizeof *g->B);
}

/* Blocks sign a^T N_i L_i^-T (d x size each) of a point of a deformable body, appended. */
static void add_deformable(scree_System *s, const scree_Deformable *self, scree_Vec3 point,
                           uint32_t part, const scree_Vec3 *a, double sign) {
  const scree_Bodies *b = &s->bodies;
  scree_GeneralRows *g = &s->deform.rows;
  const int d = b->dimension, n = self->size;
  const double *scaling = self->class_->scaling(self);
  int vertex[SCREE_TOUCH_MAX];
  double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX];
  const int count = self->class_->touch(self, scree_deformable_q(b, self), point, part, vertex, N);
  size_t *entry = &g->entry[g->count + 1];
  for (int i = 0; i < count; ++i) {
    const double *Ni = N + (size_t)i * (size_t)(d * n);
    const double *L = scaling + (size_t)vertex[i] * (size_t)(n * n);
    double *B = g->B + g->block[*entry];
    for (int k = 0; k < d; ++k, B += n) {
      double row[SCREE_VERTEX_MAX];
      for (int j = 0; j < n; ++j) {
        row[j] = 0;
        for (int m = 0; m < d; ++m) row[j] += sign * scree_component(a[k], m) * Ni[m * n + j];
      }
      for (int j = 0; j < n; ++j) {
        B[j] = 0;
        for (int m = 0; m <= j; ++m) B[j] += L[j * n + m] * row[m];
      }
    }
    g->vertex[*entry] = s->posed.problem_index[self->body] + vertex[i];
    g->block[*entry + 1] = g->block[*entry] + (size_t)(d * n);
    ++*entry;
  }
}

static void add_rigid(scree_System *s, int body, scree_Vec3 point, const scree_Vec3 *a,
                      double sign) {
  const scree_Bodies *b = &s->bodies;
  scree_GeneralRows *g = &s->deform.rows;
  const scree_Pose *pose = &b->motion[body].pose;
  size_t *entry = &g->entry[g->count + 1];
  scree_rigid_block(&b->inertia[body], pose->orientation, scree_sub(point, pose->position), a, sign,
                    b->dimension, g->B + g->block[*entry]);
  g->vertex[*entry] = s->posed.problem_index[body];
  g->block[*entry + 1] = g->block[*entry] + (size_t)(b->dimension * b->nb);
  ++*entry;
}

/* The vertex of a cell is the only one behind the bodies. */
static void add_cell(scree_System *s, size_t c, const scree_Vec3 *a) {
  scree_GeneralRows *g = &s->deform.rows;
  size_t *entry = &g->entry[g->count + 1];
  scree_cell_contact_block(s, c, a, g->B + g->block[*entry]);
  g->vertex[*entry] = s->posed.nbodies;
  g->block[*entry + 1] = g->block[*entry] + (size_t)s->bodies.dimension * (size_t)s->cell.pressed;
  ++*entry;
}

scree_Status scree_deform_pose(scree_System *s) {
  const scree_Bodies *b = &s->bodies;
  const scree_Points *points = &s->contacts;
  scree_Deform *f = &s->deform;
  scree_GeneralRows *g = &f->rows;
  const int d = b->dimension;
  size_t entries = 0, numbers = 0;
  for (size_t c = (size_t)f->first; c < points->count; ++c)
    for (int side = 0; side < 2; ++side) {
      size_t e, n;
      side_size(b, side == 0 ? points->keys[c].i : points->keys[c].j, &e, &n);
      entries += e;
      numbers += n;
    }
  if (s->cell.pressed) {
    entries += points->count;
    numbers += points->count * (size_t)(d * s->cell.pressed);
  }
  if (!reserve_rows(s, points->count - (size_t)f->first, entries, numbers))
    return scree_fail_memory(s->log, "the contacts of deformable bodies");
  g->count = 0;
  g->row[0] = (size_t)f->first * (size_t)d;
  g->entry[0] = g->block[0] = 0;
  for (size_t c = (size_t)f->first; c < points->count; ++c) {
    const int pair[2] = {points->keys[c].i, points->keys[c].j};
    scree_Vec3 a[3] = {points->normal[c]};
    scree_contact_frame(a[0], d, &a[1], &a[2]);
    g->row[g->count + 1] = g->row[g->count] + (size_t)d;
    g->entry[g->count + 1] = g->entry[g->count];
    for (int side = 0; side < 2; ++side) {
      const double sign = side == 0 ? 1 : -1;
      const scree_Vec3 point = scree_system_point(s, c, side);
      const scree_Deformable *self = scree_bodies_deformable(b, pair[side]);
      if (self && !b->fixed[pair[side]])
        add_deformable(s, self, point, points->keys[c].part[side], a, sign);
      else if (!b->fixed[pair[side]])
        add_rigid(s, pair[side], point, a, sign);
    }
    if (s->cell.pressed) add_cell(s, c, a);
    ++g->count;
  }
  return SCREE_OK;
}

scree_Status scree_deform_close(scree_System *s) {
  scree_Deform *f = &s->deform;
  scree_GeneralRows *g = &f->rows;
  const scree_GeneralRows *joints = &s->joints.rows;
  const size_t d = (size_t)s->bodies.dimension, own = (size_t)(s->posed.nc - f->first);
  const size_t n = (size_t)joints->count, at = g->entry[own], block = g->block[at];
  g->count = (int)own;
  size_t squares = 0;
  for (size_t k = 0; k < n; ++k) {
    const size_t rows = joints->row[k + 1] - joints->row[k];
    squares += rows * rows;
  }
  const bool complies = s->laws.any_terms || n > 0;
  const size_t entries = n ? joints->entry[n] : 0, numbers = n ? joints->block[entries] : 0;
  if (!reserve_rows(s, own + n, at + entries, block + numbers) ||
      (complies && !scree_grow_lean((void **)&g->C, &f->compliance_capacity, own * d * d + squares,
                                    sizeof *g->C)))
    return scree_fail_memory(s->log, "the contacts of deformable bodies");
  if (complies) {
    if (s->laws.any_terms)
      memcpy(g->C, s->posed.C + (size_t)f->first * d * d, own * d * d * sizeof *g->C);
    else
      memset(g->C, 0, own * d * d * sizeof *g->C);
  }
  if (n == 0) return SCREE_OK;
  memcpy(g->C + own * d * d, joints->C, squares * sizeof *g->C);
  for (size_t k = 0; k < n; ++k) {
    g->row[own + k + 1] = joints->row[k + 1];
    g->entry[own + k + 1] = at + joints->entry[k + 1];
  }
  memcpy(g->vertex + at, joints->vertex, entries * sizeof *g->vertex);
  for (size_t k = 0; k < entries; ++k) g->block[at + k + 1] = block + joints->block[k + 1];
  memcpy(g->B + block, joints->B, numbers * sizeof *g->B);
  g->count += (int)n;
  return SCREE_OK;
}

const double *scree_deform_solved(const scree_System *s, int index) {
  const scree_Posed *p = &s->posed;
  const double *y = p->y + (size_t)index * (size_t)s->bodies.nb;
  if (index < p->nbodies) return y;
  /* the ground lies between the rigid bodies and the vertices (problem/operator.h) */
  y = p->y + (size_t)(p->nbodies + 1) * (size_t)s->bodies.nb;
  for (int i = 0; i < index - p->nbodies; ++i) y += s->deform.vertices.size[i];
  return y;
}

double scree_deform_diagonal(const scree_System *s, int c, int axis) {
  const scree_GeneralRows *g = &s->deform.rows;
  const size_t k = (size_t)(c - s->deform.first), d = (size_t)s->bodies.dimension;
  double sum = 0;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    const size_t n = (g->block[e + 1] - g->block[e]) / d;
    const double *B = g->B + g->block[e] + (size_t)axis * n;
    for (size_t j = 0; j < n; ++j) sum += B[j] * B[j];
  }
  return sum;
}

/* ---- velocities ------------------------------------------------------------------------------ */

/* u + sum of N_i v_i */
static scree_Vec3 add_velocity(const scree_Deformable *self, const double *N, const int *vertex,
                               int count, const double *v, scree_Vec3 u) {
  const int d = self->dimension, n = self->size;
  for (int i = 0; i < count; ++i) {
    const double *Ni = N + (size_t)i * (size_t)(d * n), *vi = v + (size_t)vertex[i] * (size_t)n;
    for (int j = 0; j < n; ++j) {
      u.x += Ni[j] * vi[j];
      u.y += Ni[n + j] * vi[j];
      if (d == 3) u.z += Ni[2 * n + j] * vi[j];
    }
  }
  return u;
}

scree_Vec3 scree_deform_velocity(const scree_System *s, int k, scree_VelocityTime moment,
                                 scree_Vec3 point, uint32_t part) {
  const scree_Bodies *b = &s->bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self || b->fixed[k]) {
    const scree_Twist v = moment == SCREE_BEFORE ? scree_bodies_velocity_before(b, k)
                          : moment == SCREE_FREE ? scree_system_free(s, k)
                                                 : scree_system_after(s, k);
    return scree_rigid_velocity(&b->motion[k].pose, &v, point);
  }
  int vertex[SCREE_TOUCH_MAX];
  double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX];
  const int count = self->class_->touch(self, scree_deformable_q(b, self), point, part, vertex, N);
  const double *v =
      moment == SCREE_AFTER ? scree_deformable_after(b, self) : scree_deformable_v(b, self);
  const scree_Vec3 u = add_velocity(self, N, vertex, count, v, scree_vec3(0, 0, 0));
  if (moment != SCREE_FREE) return u;
  return add_velocity(self, N, vertex, count, scree_deformable_change(b, self), u);
}

scree_Vec3 scree_deform_driven(const scree_System *s, int k, scree_Vec3 point, uint32_t part) {
  const scree_Bodies *b = &s->bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  if (!self || self->driven == 0 || b->fixed[k]) return scree_vec3(0, 0, 0);
  int vertex[SCREE_TOUCH_MAX];
  double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX];
  const int count = self->class_->touch(self, scree_deformable_q(b, self), point, part, vertex, N);
  return scree_driven_velocity(b, self, vertex, N, count);
}

static void after_all(scree_System *s, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  const scree_Posed *p = &s->posed;
  const bool posed = scree_system_is_posed(s);
  SCREE_OVER_BODIES(k, b->deformable_count, share) {
    const scree_Deformable *self = &b->deformable[k];
    const double *v = scree_deformable_v(b, self), *change = scree_deformable_change(b, self);
    double *after = scree_deformable_after(b, self);
    const size_t n = (size_t)self->size;
    if (b->fixed[self->body]) continue;
    for (size_t i = 0; i < self->components; ++i) after[i] = v[i] + change[i];
    const int index = posed ? p->problem_index[self->body] : -1;
    if (index < 0) continue;
    const double *y = scree_deform_solved(s, index), *L = self->class_->scaling(self);
    for (int i = 0; i < self->vertices; ++i, y += n, after += n, L += n * n)
      for (size_t j = 0; j < n; ++j)
        for (size_t m = j; m < n; ++m) after[j] += L[m * n + j] * y[m];
  }
}

void scree_deform_after(scree_System *s) {
  SCREE_ON_THREADS(s->bodies.deformable_count, s->threads, share, after_all(s, share));
}

double scree_deform_reach(const scree_System *s, int k, scree_VelocityTime moment, double h) {
  const scree_Bodies *b = &s->bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  const double *q = scree_deformable_q(b, self);
  if (moment == SCREE_AFTER)
    return self->class_->reach(self, q, scree_deformable_after(b, self), h);
  double reach = self->class_->reach(self, q, scree_deformable_v(b, self), h);
  if (moment == SCREE_FREE)
    reach += self->class_->reach(self, q, scree_deformable_change(b, self), h);
  return reach;
}

static void foresee_all(scree_System *s, double h, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->deformable_count, share) {
    const scree_Deformable *self = &b->deformable[k];
    scree_DeformEnd *end = &s->deform.end[k];
    const double *q = scree_deformable_q(b, self), *after = scree_deformable_after(b, self);
    double *later = s->deform.later + self->offset;
    const bool fixed = b->fixed[self->body];
    if (!fixed && s->posed.problem_index[self->body] < 0) continue;
    for (size_t i = 0; i < self->components; ++i) later[i] = fixed ? q[i] : q[i] + h * after[i];
    end->shape = b->cold[self->body].shape;
    self->class_->foresee(self, later, &end->shape, &end->pose);
  }
}

scree_Status scree_deform_foresee(scree_System *s, double h) {
  const scree_Bodies *b = &s->bodies;
  scree_Deform *f = &s->deform;
  if (b->deformable_count == 0) return SCREE_OK;
  if (!scree_grow_lean((void **)&f->end, &f->end_capacity, (size_t)b->deformable_count,
                       sizeof *f->end) ||
      !scree_grow_lean((void **)&f->later, &f->later_capacity, b->components, sizeof *f->later))
    return scree_fail_memory(s->log, "the ends of deformable bodies");
  SCREE_ON_THREADS(b->deformable_count, s->threads, share, foresee_all(s, h, share));
  return SCREE_OK;
}

scree_Vec3 scree_deform_back(const scree_System *s, int k, scree_Vec3 point, uint32_t part) {
  const scree_Bodies *b = &s->bodies;
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  int vertex[SCREE_TOUCH_MAX];
  double N[SCREE_TOUCH_MAX * 3 * SCREE_VERTEX_MAX];
  const int count =
      self->class_->touch(self, s->deform.later + self->offset, point, part, vertex, N);
  return add_velocity(self, N, vertex, count, scree_deformable_q(b, self), scree_vec3(0, 0, 0));
}

static void kick_all(scree_System *s, scree_Share share) {
  scree_Bodies *b = &s->bodies;
  SCREE_OVER_BODIES(k, b->deformable_count, share) {
    const scree_Deformable *self = &b->deformable[k];
    if (b->fixed[self->body]) continue;
    memcpy(scree_deformable_v(b, self), scree_deformable_after(b, self),
           self->components * sizeof(double));
    scree_deformable_update(b, self);
  }
}

void scree_deform_kick(scree_System *s) {
  SCREE_ON_THREADS(s->bodies.deformable_count, s->threads, share, kick_all(s, share));
}

/* Work of the forces on nodes, at the mean velocity of the kick. */
static double load_work(const scree_System *s, const scree_Deformable *self) {
  const double *load = s->deform.load + self->offset;
  const double *v = scree_deformable_v(&s->bodies, self),
               *w = scree_deformable_after(&s->bodies, self);
  double sum = 0;
  for (size_t k = 0; k < self->components; ++k) sum += load[k] * (v[k] + w[k]);
  return 0.5 * s->deform.loaded * sum;
}

void scree_deform_work(scree_System *s, scree_EnergyBalance *balance) {
  const scree_Bodies *b = &s->bodies;
  for (int k = 0; k < b->deformable_count; ++k) {
    const scree_Deformable *self = &b->deformable[k];
    if (b->fixed[self->body] || !scree_domain_owns(&s->domain, self->body)) continue;
    double damped;
    const double work = self->class_->work(self, scree_deformable_v(b, self),
                                           scree_deformable_after(b, self), &damped);
    s->deform.energy[k].work = work;
    balance->scheme += work;
    balance->viscous += damped;
    if (s->deform.loaded > 0) balance->forces += load_work(s, self);
    if (self->driven > 0)
      balance->drivers +=
          scree_driven_work(self, scree_deformable_v(b, self), scree_deformable_after(b, self));
  }
}

/* Resistance to rolling and spinning in a step (see rolling.h). */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <string.h>

void scree_rolling_fini(scree_Rolling *o) {
  void *arrays[] = {o->rows.row, o->rows.entry, o->rows.vertex, o->rows.block, o->rows.B,
                    o->rows.C,   o->q,          o->r,           o->u,          o->mu,
                    o->set_a,    o->set_b,      o->set};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  *o = (scree_Rolling){0};
}

size_t scree_rolling_memory(const scree_Rolling *o) {
  return o->room.constraints * (2 * sizeof(size_t) + 3 * sizeof(double) + sizeof(uint8_t)) +
         o->room.rows * (3 + SCREE_ROWS_MAX) * sizeof(double) +
         o->room.entries * (sizeof(int) + sizeof(size_t)) + o->room.numbers * sizeof(double);
}

static bool reserve(scree_Rolling *o, const scree_RollingRoom *need) {
  enum { PAD = 8 }; /* kernels may load a full vector past the end */
  if (need->constraints <= o->room.constraints && need->rows <= o->room.rows &&
      need->entries <= o->room.entries && need->numbers <= o->room.numbers && o->rows.row)
    return true;
  const size_t n = need->constraints + need->constraints / 16, m = need->rows + need->rows / 16;
  const size_t entries = need->entries + need->entries / 16;
  const size_t numbers = need->numbers + need->numbers / 16;
  scree_rolling_fini(o);
  o->rows.row = SCREE_ALLOC(size_t, n + 1);
  o->rows.entry = SCREE_ALLOC(size_t, n + 1);
  o->rows.vertex = SCREE_ALLOC(int, entries);
  o->rows.block = SCREE_ALLOC(size_t, entries + 1);
  o->rows.B = SCREE_ALLOC(double, numbers + PAD);
  o->rows.C = SCREE_ALLOC(double, m *SCREE_ROWS_MAX);
  o->q = SCREE_ALLOC(double, m);
  o->r = SCREE_ALLOC(double, m);
  o->u = SCREE_ALLOC(double, m);
  o->mu = SCREE_ALLOC(double, n);
  o->set_a = SCREE_ALLOC(double, n);
  o->set_b = SCREE_ALLOC(double, n);
  o->set = SCREE_ALLOC(uint8_t, n);
  if (!o->rows.row || !o->rows.entry || !o->rows.vertex || !o->rows.block || !o->rows.B ||
      !o->rows.C || !o->q || !o->r || !o->u || !o->mu || !o->set_a || !o->set_b || !o->set)
    return false;
  o->room = (scree_RollingRoom){n, m, entries, numbers};
  return true;
}

/* Room for all contacts and joints: of a contact of rigid bodies two sides, and the cell; contacts
 * of deformable bodies and joints are as they are posed. */
static scree_RollingRoom room_of(const scree_System *s) {
  const scree_GeneralRows *joints = &s->joints.rows, *deformed = &s->deform.rows;
  const size_t nc = (size_t)s->posed.nc, rows = nc * (size_t)SCREE_ROWS_MAX;
  const size_t sides = s->cell.pressed ? 3 : 2, J = (size_t)joints->count;
  scree_RollingRoom room = {nc + J, rows, sides * nc, rows * sides * (size_t)s->bodies.nb};
  if (J) {
    room.rows += joints->row[J] - joints->row[0];
    room.entries += joints->entry[J];
    room.numbers += joints->block[joints->entry[J]];
  }
  const size_t own = s->bodies.deformable_count ? nc - (size_t)s->deform.first : 0;
  if (own) {
    room.entries += deformed->entry[own];
    room.numbers += deformed->block[deformed->entry[own]];
  }
  return room;
}

/* The radius of contact c, by which its rotations are multiplied. */
static double radius_of(const scree_System *s, int c) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_BodyCold *cold = s->bodies.cold;
  return 0.5 * scree_pair_size(&cold[key->i].shape, &cold[key->j].shape);
}

static const scree_LawContact *law_of(const scree_System *s, int c) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  return scree_system_law(s, key->i, key->j);
}

static bool resists(const scree_LawContact *law, int d) {
  return law->rolling > 0 || (d == 3 && law->spinning > 0);
}

/* The axes of the rotations of a contact, from its own axes; returns their number. */
static int turns_of(int d, const scree_Vec3 *a, scree_Vec3 turns[3]) {
  turns[0] = d == 2 ? scree_vec3(0, 0, 1) : a[1];
  turns[1] = a[2];
  turns[2] = a[0];
  return d == 2 ? 1 : 3;
}

static void axes_of(const scree_System *s, int c, scree_Vec3 a[3]) {
  a[0] = s->contacts.normal[c];
  scree_contact_frame(a[0], s->bodies.dimension, &a[1], &a[2]);
}

/* Append the entries and blocks of constraint k of others as those of constraint c. */
static void copy_blocks(scree_GeneralRows *g, size_t c, const scree_GeneralRows *from, size_t k) {
  g->entry[c + 1] = g->entry[c];
  for (size_t e = from->entry[k]; e < from->entry[k + 1]; ++e) {
    const size_t to = g->entry[c + 1]++, size = from->block[e + 1] - from->block[e];
    g->vertex[to] = from->vertex[e];
    g->block[to + 1] = g->block[to] + size;
    memcpy(g->B + g->block[to], from->B + from->block[e], size * sizeof *g->B);
  }
}

/* Blocks of contact c, whose rows have been counted. */
static void fill_blocks(scree_System *s, int c, const scree_Vec3 *a, const scree_Vec3 *turns,
                        int more) {
  const scree_Bodies *b = &s->bodies;
  scree_GeneralRows *g = &s->rolling.rows;
  const int d = b->dimension, pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
  const double R = radius_of(s, c);
  const scree_Vec3 none = {0, 0, 0};
  g->entry[c + 1] = g->entry[c];
  for (int side = 0; side < 2; ++side) {
    const int body = pair[side];
    if (b->fixed[body]) continue;
    const size_t e = g->entry[c + 1]++;
    const double sign = side == 0 ? 1 : -1;
    const scree_Vec3 arm =
        scree_sub(scree_system_point(s, (size_t)c, side), b->motion[body].pose.position);
    double *B = g->B + g->block[e];
    g->vertex[e] = s->posed.problem_index[body];
    g->block[e + 1] = g->block[e] + (size_t)((d + more) * b->nb);
    for (int k = 0; k < d; ++k, B += b->nb)
      scree_joints_block(b, body, a[k], scree_cross(arm, a[k]), sign, B);
    for (int k = 0; k < more; ++k, B += b->nb)
      scree_joints_block(b, body, none, turns[k], sign * R, B);
  }
  if (!s->cell.pressed) return;
  const size_t e = g->entry[c + 1]++, size = (size_t)(d + more) * (size_t)s->cell.pressed;
  memset(g->B + g->block[e], 0, size * sizeof *g->B); /* rotations do not depend on the cell */
  scree_cell_contact_block(s, (size_t)c, a, g->B + g->block[e]);
  g->vertex[e] = s->posed.nbodies;
  g->block[e + 1] = g->block[e] + size;
}

/* Relative angular velocity of contact c: before the kick, or after one without contacts. */
static scree_Vec3 turning(const scree_System *s, int c, bool free) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Twist vi =
      free ? scree_system_free(s, key->i) : scree_bodies_velocity_before(&s->bodies, key->i);
  const scree_Twist vj =
      free ? scree_system_free(s, key->j) : scree_bodies_velocity_before(&s->bodies, key->j);
  return scree_sub(vi.angular, vj.angular);
}

/* `square` is where the compliance of the contact starts; returns where the next one does. */
static size_t pose_contact(scree_System *s, int c, size_t square) {
  scree_Rolling *o = &s->rolling;
  const scree_Posed *p = &s->posed;
  const scree_LawContact *law = law_of(s, c);
  const int d = s->bodies.dimension;
  scree_Vec3 a[3], turns[3];
  axes_of(s, c, a);
  const int more = resists(law, d) ? turns_of(d, a, turns) : 0, rows = d + more;
  const size_t at = o->rows.row[c], from = (size_t)c * (size_t)d;
  o->rows.row[c + 1] = at + (size_t)rows;
  if (scree_deform_touches(&s->bodies, &s->contacts.keys[c]))
    copy_blocks(&o->rows, (size_t)c, &s->deform.rows, (size_t)(c - s->deform.first));
  else
    fill_blocks(s, c, a, turns, more);
  memcpy(o->q + at, p->q + from, (size_t)d * sizeof *o->q);
  memcpy(o->r + at, p->r + from, (size_t)d * sizeof *o->r);
  const scree_Vec3 w = more ? turning(s, c, true) : scree_vec3(0, 0, 0);
  for (int k = 0; k < more; ++k) {
    o->q[at + (size_t)(d + k)] = radius_of(s, c) * scree_dot(turns[k], w);
    o->r[at + (size_t)(d + k)] = scree_dot(turns[k], p->moment[c]);
  }
  memset(o->rows.C + square, 0, (size_t)(rows * rows) * sizeof *o->rows.C);
  for (int i = 0; s->laws.any_terms && i < d; ++i)
    for (int j = 0; j < d; ++j)
      o->rows.C[square + (size_t)(i * rows + j)] = p->C[(from + (size_t)i) * (size_t)d + (size_t)j];
  scree_Set set = {.kind = p->sets ? (scree_SetKind)p->set[c] : SCREE_SET_CONE,
                   .mu = p->mu[c],
                   .a = p->sets ? p->set_a[c] : 0,
                   .b = p->sets ? p->set_b[c] : 0};
  if (more) {
    set = (scree_Set){SCREE_SET_ROLLING, p->mu[c], law->rolling, law->spinning};
    scree_set_project(&set, rows, o->r + at, o->r + at);
  }
  o->mu[c] = set.mu;
  o->set[c] = (uint8_t)set.kind;
  o->set_a[c] = set.a;
  o->set_b[c] = set.b;
  return square + (size_t)(rows * rows);
}

/* The joints as they are posed, behind the contacts. */
static void pose_joints(scree_System *s, size_t square) {
  scree_Rolling *o = &s->rolling;
  const scree_Posed *p = &s->posed;
  const scree_GeneralRows *from = &s->joints.rows;
  scree_GeneralRows *g = &o->rows;
  const double *C = from->C;
  for (int k = 0; k < from->count; ++k) {
    const int c = p->nc + k;
    const size_t rows = from->row[k + 1] - from->row[k], at = g->row[c];
    g->row[c + 1] = at + rows;
    copy_blocks(g, (size_t)c, from, (size_t)k);
    memcpy(o->q + at, p->q + from->row[k], rows * sizeof *o->q);
    memcpy(o->r + at, p->r + from->row[k], rows * sizeof *o->r);
    memcpy(g->C + square, C, rows * rows * sizeof *C);
    square += rows * rows;
    C += rows * rows;
    o->mu[c] = p->mu[c];
    o->set[c] = p->set[c];
    o->set_a[c] = p->set_a[c];
    o->set_b[c] = p->set_b[c];
  }
}

scree_Status scree_rolling_pose(scree_System *s) {
  scree_Rolling *o = &s->rolling;
  const scree_Posed *p = &s->posed;
  const scree_GeneralRows *joints = &s->joints.rows;
  const scree_RollingRoom room = room_of(s);
  if (!reserve(o, &room)) return scree_fail_memory(s->log, "constraints of any size");
  size_t square = 0;
  o->rows.count = p->nc + joints->count;
  o->rows.row[0] = o->rows.entry[0] = o->rows.block[0] = 0;
  for (int c = 0; c < p->nc; ++c) square = pose_contact(s, c, square);
  pose_joints(s, square);
  return SCREE_OK;
}

scree_Problem scree_rolling_problem(const scree_System *s) {
  const scree_Rolling *o = &s->rolling;
  const scree_Posed *p = &s->posed;
  scree_Problem problem = {.d = s->bodies.dimension,
                           .flow = s->settings.flow,
                           .kind = SCREE_BODIES,
                           .general = o->rows,
                           .q = o->q,
                           .mu = o->mu,
                           .set = o->set,
                           .set_a = o->set_a,
                           .set_b = o->set_b};
  problem.bodies =
      (scree_BodyRows){.nbodies = p->nbodies, .nb = s->bodies.nb, .id = p->problem_body};
  if (scree_system_general(s)) {
    problem.vertices = s->deform.vertices;
    if (s->cell.pressed || !problem.vertices.row[problem.vertices.count])
      problem.vertices.row = NULL;
  }
  if (!s->laws.any_terms && !s->joints.rows.count) problem.general.C = NULL;
  return problem;
}

void scree_rolling_take(scree_System *s) {
  const scree_Rolling *o = &s->rolling;
  scree_Posed *p = &s->posed;
  const int d = s->bodies.dimension;
  for (int c = 0; c < p->nc; ++c) {
    const size_t at = o->rows.row[c], to = (size_t)c * (size_t)d;
    const int more = (int)(o->rows.row[c + 1] - at) - d;
    scree_Vec3 a[3], turns[3];
    memcpy(p->r + to, o->r + at, (size_t)d * sizeof *p->r);
    memcpy(p->u + to, o->u + at, (size_t)d * sizeof *p->u);
    if (!s->laws.any_rolling) continue;
    p->moment[c] = scree_vec3(0, 0, 0);
    if (more == 0) continue;
    axes_of(s, c, a);
    turns_of(d, a, turns);
    for (int k = 0; k < more; ++k)
      p->moment[c] = scree_axpy(p->moment[c], o->r[at + (size_t)(d + k)], turns[k]);
  }
  const scree_GeneralRows *joints = &s->joints.rows;
  for (int k = 0; k < joints->count; ++k) {
    const size_t at = o->rows.row[p->nc + k], rows = o->rows.row[p->nc + k + 1] - at;
    memcpy(p->r + joints->row[k], o->r + at, rows * sizeof *p->r);
    memcpy(p->u + joints->row[k], o->u + at, rows * sizeof *p->u);
  }
}

/* Mean angular velocity before and after the kick of the obstacles of contact c, as it enters u. */
static scree_Vec3 obstacles_turn(const scree_System *s, int c) {
  const scree_Bodies *b = &s->bodies;
  const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
  scree_Vec3 sum = {0, 0, 0};
  for (int side = 0; side < 2; ++side) {
    if (!b->fixed[pair[side]]) continue;
    const scree_Vec3 before = scree_bodies_velocity_before(b, pair[side]).angular;
    const scree_Vec3 after = b->motion[pair[side]].velocity.angular;
    sum = scree_axpy(sum, side == 0 ? 0.5 : -0.5, scree_add(before, after));
  }
  return sum;
}

void scree_rolling_work(const scree_System *s, double *friction, double *drivers) {
  const scree_Rolling *o = &s->rolling;
  const int d = s->bodies.dimension;
  for (int c = 0; c < s->posed.nc; ++c) {
    const size_t at = o->rows.row[c];
    const int more = (int)(o->rows.row[c + 1] - at) - d;
    if (more == 0 || o->r[at] == 0) continue;
    scree_Vec3 a[3], turns[3];
    axes_of(s, c, a);
    turns_of(d, a, turns);
    const double R = radius_of(s, c);
    const scree_Vec3 before = turning(s, c, false);
    for (int k = 0; k < more; ++k) {
      const size_t row = at + (size_t)(d + k);
      *friction -= 0.5 * o->r[row] * (o->u[row] + R * scree_dot(turns[k], before));
    }
    *drivers -= R * scree_dot(s->posed.moment[c], obstacles_turn(s, c));
  }
}

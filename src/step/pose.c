/* The discrete problem of a step in body form.
 *
 * Contact c between bodies i and j at point P with frame (n, t1, t2), n from j to i, has the
 * relative velocity u = R^T (v_i(P) - v_j(P)). The kind of a body gives the block of its velocity
 * (rigid.h); body j has the negative one. Obstacles have no block: their velocity is part of q.
 * When all bodies that touch are balls, two numbers each replace the block (scree/problem.h).
 * Only bodies that touch something are in the problem, numbered in the order of the world: rigid
 * ones, then deformable ones, whose contacts are constraints of their own (deform.h). */
#include "core/log.h"
#include "core/memory.h"
#include "problem/balls.h"
#include "step/system.h"

#include <float.h>
#include <string.h>

enum { PAD = 8 }; /* kernels may load a full vector past the end */

/* Arrays for nc contacts, with spare capacity when they grow; contents are not kept. */
static bool reserve(void **array, size_t count, size_t size) {
  scree_free(*array);
  return (*array = scree_alloc(count + PAD, size)) != NULL;
}

/* `more` rows are those of joints, after the contacts. */
static bool reserve_contacts(scree_Posed *p, size_t nc, size_t d, bool shifts, size_t more) {
  if (!shifts) {
    scree_free(p->shift);
    scree_free(p->push);
    scree_free(p->loaded);
    scree_free(p->delay);
    p->shift = p->push = p->delay = NULL;
    p->loaded = NULL;
  }
  if (nc <= p->capacity && more <= p->more_capacity && p->q && (p->shift || !shifts)) return true;
  const size_t n = nc + nc / 16;
  p->capacity = p->more_capacity = 0;
  if (!reserve((void **)&p->q, n * d + more, sizeof(double)) ||
      !reserve((void **)&p->r, n * d + more, sizeof(double)) ||
      !reserve((void **)&p->u, n * d + more, sizeof(double)) ||
      !reserve((void **)&p->before, n * d, sizeof(double)) ||
      (shifts && !reserve((void **)&p->shift, n * d, sizeof(double))) ||
      (shifts && !reserve((void **)&p->push, n, sizeof(double))) ||
      (shifts && !reserve((void **)&p->loaded, n, sizeof(bool))) ||
      (shifts && !reserve((void **)&p->delay, n, sizeof(double))) ||
      !reserve((void **)&p->mu, n + more, sizeof(double)))
    return false;
  p->more_capacity = more;
  p->capacity = n;
  return true;
}

/* Doubles of a row of B or arm. */
static size_t row_size(const scree_Posed *p, size_t d, size_t nb) {
  return p->balls ? 4 : 2 * d * nb;
}

/* Of B and arm only the one that is used is allocated. */
static bool reserve_rows(scree_Posed *p, size_t rows, size_t size) {
  double **used = p->balls ? &p->arm : &p->B, **other = p->balls ? &p->B : &p->arm;
  if (rows <= p->row_capacity && *used) return true;
  const size_t n = rows + rows / 16;
  p->row_capacity = 0;
  scree_free(*other);
  *other = NULL;
  if (!reserve((void **)&p->body, 2 * n, sizeof(int)) ||
      !reserve((void **)used, n * size, sizeof(double)))
    return false;
  p->row_capacity = n;
  return true;
}

/* The kinds of sets and their parameters, allocated only if some pair needs a set other than the
 * cone. */
static bool reserve_sets(scree_Posed *p, size_t nc) {
  if (nc <= p->set_capacity) return true;
  const size_t n = nc + nc / 16;
  p->set_capacity = 0;
  if (!reserve((void **)&p->set, n, sizeof(uint8_t)) ||
      !reserve((void **)&p->set_a, n, sizeof(double)) ||
      !reserve((void **)&p->set_b, n, sizeof(double)))
    return false;
  p->set_capacity = n;
  return true;
}

/* Compliance and memory, allocated only if some pair has a law with terms of its own. */
static bool reserve_terms(scree_Posed *p, size_t nc, size_t d, size_t memory) {
  if (nc <= p->term_capacity && memory == p->memory_size) return true;
  const size_t n = nc + nc / 16;
  p->term_capacity = 0;
  p->memory_size = memory;
  if (!reserve((void **)&p->C, n * d * d, sizeof(double)) ||
      !reserve((void **)&p->memory, n * memory, sizeof(double)))
    return false;
  p->term_capacity = n;
  return true;
}

/* Number the bodies that touch, in the order of the world. */
static scree_Status number_bodies(scree_System *s) {
  scree_Posed *p = &s->posed;
  const size_t n = (size_t)s->bodies.count;
  int *index = p->problem_index;
  for (size_t k = 0; k < n; ++k) index[k] = -1;
  for (size_t c = 0; c < s->contacts.count; ++c) {
    index[s->contacts.keys[c].i] = 0;
    index[s->contacts.keys[c].j] = 0;
  }
  scree_joints_mark(s, index);
  const scree_Status status = scree_domain_touch(s, index);
  if (status) return status;
  p->nbodies = 0;
  for (size_t k = 0; k < n; ++k) {
    if (index[k] < 0) continue;
    if (s->bodies.fixed[k]) {
      index[k] = -1;
      continue;
    }
    if (scree_bodies_deformable(&s->bodies, (int)k)) continue;
    p->problem_body[p->nbodies] = (int)k;
    index[k] = p->nbodies++;
  }
  if (s->cell.pressed) return scree_cell_number(s);
  return scree_system_deforms(s) ? scree_domain_agree(s, scree_deform_number(s)) : SCREE_OK;
}

static void contact_axes(scree_Vec3 normal, int d, scree_Vec3 a[3]) {
  a[0] = normal;
  scree_contact_frame(normal, d, &a[1], &a[2]);
}

/* Whether body k is a ball whose centre lies on the line of the normal n through P, within the
 * rounding of numbers of the size of P. */
static bool is_ball(const scree_Bodies *b, int k, scree_Vec3 P, scree_Vec3 n) {
  if (!scree_is_ball(&b->cold[k].shape, &b->inertia[k])) return false;
  const scree_Vec3 arm = scree_sub(P, b->motion[k].pose.position);
  const double most = 32 * DBL_EPSILON * (scree_norm(P) + scree_norm(arm));
  return scree_norm2(scree_cross(arm, n)) <= most * most;
}

/* Whether all rigid bodies that touch are balls. The point where two balls touch is on the
 * line of their centres; where one touches another shape, the shape's routine decides. */
static bool all_balls(const scree_System *s) {
  const scree_Bodies *b = &s->bodies;
  const scree_Points *points = &s->contacts;
  for (size_t c = 0; c < (size_t)s->deform.first; ++c) {
    const int pair[2] = {points->keys[c].i, points->keys[c].j};
    if (b->balls && !b->fixed[pair[0]] && !b->fixed[pair[1]]) continue;
    for (int side = 0; side < 2; ++side)
      if (!b->fixed[pair[side]] &&
          !is_ball(b, pair[side], scree_system_point(s, c, side), points->normal[c]))
        return false;
  }
  return true;
}

/* Bodies and B of the contacts of rigid bodies. */
static void fill_rows(scree_System *s, scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  scree_Posed *p = &s->posed;
  const int d = b->dimension, nb = b->nb;
  SCREE_OVER_BODIES(c, s->deform.first, share) {
    const int pair[2] = {s->contacts.keys[c].i, s->contacts.keys[c].j};
    const size_t size = p->balls ? 2 : (size_t)(d * nb);
    double *row = (p->balls ? p->arm : p->B) + (size_t)c * 2 * size;
    scree_Vec3 a[3] = {s->contacts.normal[c]};
    if (!p->balls) contact_axes(a[0], d, a);
    for (int side = 0; side < 2; ++side, row += size) {
      const int body = pair[side];
      const double sign = side == 0 ? 1 : -1;
      p->body[2 * c + side] = p->problem_index[body];
      if (b->fixed[body]) {
        memset(row, 0, size * sizeof *row);
        continue;
      }
      const scree_Pose *pose = &b->motion[body].pose;
      const scree_Inertia *inertia = &b->inertia[body];
      const scree_Vec3 arm = scree_sub(scree_system_point(s, (size_t)c, side), pose->position);
      if (p->balls) {
        row[0] = sign * inertia->inv_sqrt_mass;
        row[1] = -sign * scree_dot(a[0], arm) * inertia->inv_sqrt_moments.z;
      } else {
        scree_rigid_block(inertia, pose->orientation, arm, a, sign, d, row);
      }
    }
  }
}

scree_Status scree_system_pose(scree_System *s) {
  scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension, nc = s->contacts.count;
  const size_t n = (size_t)s->bodies.count;
  /* contacts of schemes that look ahead are shifted by their gap, others by restitution alone */
  const bool shifts = s->scheme->looks_ahead || s->laws.any_restitution;
  int joints;
  size_t more;
  p->nc = s->deform.first = 0;
  p->all = 0;
  p->sets = p->solved = false;
  s->joints.rows.count = 0;
  s->joints.all = 0;
  scree_cell_forget(&s->cell);
  scree_joints_size(s, &joints, &more);
  long long all;
  scree_Status status = scree_domain_count(s, nc, &all);
  if (!status && s->joints.count) status = scree_domain_count(s, (size_t)joints, &s->joints.all);
  if (status || (all == 0 && s->joints.all == 0)) return status;
  s->deform.first = (int)nc;
  if (s->cell.pressed) s->deform.first = 0; /* all of them touch the rates of its sides */
  while (s->bodies.deformable_count && s->deform.first > 0 &&
         scree_deform_touches(&s->bodies, &s->contacts.keys[s->deform.first - 1]))
    --s->deform.first;
  p->sets = s->laws.any_set || s->joints.all || (size_t)s->deform.first < nc || s->domain.deforms;
  p->balls = all_balls(s);
  if (nc > INT32_MAX / 2 || !reserve_contacts(p, nc, d, shifts, more) ||
      !reserve_rows(p, nc, row_size(p, d, (size_t)s->bodies.nb)) ||
      (p->sets && !reserve_sets(p, nc + (size_t)joints)) ||
      ((s->laws.any_terms || s->laws.memory) && !reserve_terms(p, nc, d, (size_t)s->laws.memory)) ||
      (s->laws.any_flow &&
       !scree_grow_lean((void **)&p->H, &p->flow_capacity, nc * d * d, sizeof(double))) ||
      (s->laws.any_rolling &&
       !scree_grow_lean((void **)&p->moment, &p->moment_capacity, nc, sizeof *p->moment)))
    status = scree_fail_memory(s->log, "the contact problem of a step");
  if (!status && (!scree_grow_lean((void **)&p->problem_body, &p->body_capacity, n, sizeof(int)) ||
                  !scree_grow_lean((void **)&p->problem_index, &p->index_capacity, n, sizeof(int))))
    status = scree_fail_memory(s->log, "the bodies of the problem");
  status = scree_domain_agree(s, status);
  if (!status) status = number_bodies(s);
  if (status) return status;
  p->nc = (int)nc;
  p->all = all;
  SCREE_ON_THREADS(s->deform.first, s->threads, share, fill_rows(s, share));
  if (scree_system_general(s)) status = scree_domain_agree(s, scree_deform_pose(s));
  if (status || s->joints.all == 0) return status;
  return scree_domain_agree(s, scree_joints_pose(s, p->nc));
}

/* Points at which contact c acts on its bodies, from their origins. */
typedef struct Arms {
  scree_Vec3 first, second;
} Arms;

static Arms arms_of(const scree_System *s, int c) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Motion *motion = s->bodies.motion;
  return (Arms){scree_sub(scree_system_point(s, (size_t)c, 0), motion[key->i].pose.position),
                scree_sub(scree_system_point(s, (size_t)c, 1), motion[key->j].pose.position)};
}

static scree_Vec3 velocity_at(const scree_Twist *v, scree_Vec3 arm) {
  return scree_add(v->linear, scree_cross(v->angular, arm));
}

/* Velocity of the first body less that of the second where contact c acts on them. */
static scree_Vec3 relative_velocity(const scree_System *s, int c, const Arms *arms,
                                    const scree_Twist *vi, const scree_Twist *vj) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Vec3 n = s->contacts.normal[c];
  const scree_Vec3 first = velocity_at(vi, arms->first), second = velocity_at(vj, arms->second);
  const scree_Vec3 u = scree_sub(first, second);
  if (scree_is_belt(s, key->i)) return scree_axpy(u, -scree_dot(n, first), n);
  return scree_is_belt(s, key->j) ? scree_axpy(u, scree_dot(n, second), n) : u;
}

/* The same in the axes of the contact, for bodies of any kind. */
static void point_velocities(const scree_System *s, int c, scree_VelocityTime moment, double *u) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Vec3 P = scree_system_point(s, (size_t)c, 0), Q = scree_system_point(s, (size_t)c, 1);
  const scree_Vec3 v = scree_sub(scree_deform_velocity(s, key->i, moment, P, key->part[0]),
                                 scree_deform_velocity(s, key->j, moment, Q, key->part[1]));
  scree_Vec3 a[3];
  contact_axes(s->contacts.normal[c], s->bodies.dimension, a);
  for (int k = 0; k < s->bodies.dimension; ++k) u[k] = scree_dot(a[k], v);
  if (scree_is_belt(s, key->i))
    u[0] -= scree_dot(a[0], scree_deform_velocity(s, key->i, moment, P, key->part[0]));
  if (scree_is_belt(s, key->j))
    u[0] += scree_dot(a[0], scree_deform_velocity(s, key->j, moment, Q, key->part[1]));
}

/* Relative velocity (d) at contact c before the kick, and after a kick without contacts. */
static void find_approach(const scree_System *s, int c, double *before, double *free) {
  const int i = s->contacts.keys[c].i, j = s->contacts.keys[c].j, d = s->bodies.dimension;
  if (scree_deform_touches(&s->bodies, &s->contacts.keys[c])) {
    point_velocities(s, c, SCREE_BEFORE, before);
    point_velocities(s, c, SCREE_FREE, free);
    return;
  }
  const Arms arms = arms_of(s, c);
  const uint32_t image = s->contacts.keys[c].image;
  scree_Vec3 a[3];
  contact_axes(s->contacts.normal[c], d, a);
  const scree_Twist vi = scree_bodies_velocity_before(&s->bodies, i);
  const scree_Twist vj = scree_bodies_velocity_before(&s->bodies, j);
  scree_Vec3 u = relative_velocity(s, c, &arms, &vi, &vj);
  if (image) u = scree_sub(u, scree_cell_velocity_before(&s->cell, image));
  for (int k = 0; k < d; ++k) before[k] = scree_dot(a[k], u);
  const scree_Twist fi = scree_system_free(s, i), fj = scree_system_free(s, j);
  scree_Vec3 v = relative_velocity(s, c, &arms, &fi, &fj);
  if (image) v = scree_sub(v, scree_cell_velocity(&s->cell, image));
  for (int k = 0; k < d; ++k) free[k] = scree_dot(a[k], v);
}

double scree_system_free_approach(const scree_System *s, int c) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  if (scree_deform_touches(&s->bodies, key)) {
    double free[3];
    point_velocities(s, c, SCREE_FREE, free);
    return free[0];
  }
  const Arms arms = arms_of(s, c);
  const scree_Twist fi = scree_system_free(s, key->i), fj = scree_system_free(s, key->j);
  scree_Vec3 v = relative_velocity(s, c, &arms, &fi, &fj);
  if (key->image) v = scree_sub(v, scree_cell_velocity(&s->cell, key->image));
  return scree_dot(s->contacts.normal[c], v);
}

/* Speed at which the bodies of contact c move along each other: of the points that touch, or of the
 * centres, if they roll. */
static double slip_speed(const scree_System *s, int c, const double *before) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Twist vi = scree_bodies_velocity_before(&s->bodies, key->i);
  const scree_Twist vj = scree_bodies_velocity_before(&s->bodies, key->j);
  const scree_Vec3 n = s->contacts.normal[c];
  scree_Vec3 v = scree_sub(vi.linear, vj.linear);
  if (key->image) v = scree_sub(v, scree_cell_velocity_before(&s->cell, key->image));
  const double centres = scree_norm(scree_axpy(v, -scree_dot(n, v), n));
  const double touching = s->bodies.dimension == 2
                              ? fabs(before[1])
                              : sqrt(before[1] * before[1] + before[2] * before[2]);
  return fmax(centres, touching);
}

double scree_system_diagonal(const scree_System *s, int c, int k) {
  const scree_Posed *p = &s->posed;
  const size_t d = (size_t)s->bodies.dimension, nb = (size_t)s->bodies.nb;
  double sum = 0;
  if (c >= s->deform.first) return scree_deform_diagonal(s, c, k);
  if (p->balls) {
    const double *arm = p->arm + 4 * (size_t)c;
    sum = arm[0] * arm[0] + arm[2] * arm[2];
    return k == 0 ? sum : sum + arm[1] * arm[1] + arm[3] * arm[3];
  }
  const double *B = p->B + ((size_t)c * 2 * d + (size_t)k) * nb;
  for (size_t j = 0; j < nb; ++j) sum += B[j] * B[j] + B[d * nb + j] * B[d * nb + j];
  return sum;
}

/* Penetration over the size up to which bodies are pushed apart in brief spans too: slowly. */
static const double settled = 1e-3;

/* Velocity by which contact c is pressed together in a step: that of the forces on its two bodies,
 * plus the change by its impulse of the last step, for bodies that are pressed by others. The
 * impulse of pushing out a stack of bodies is larger than that of its weight, and would allow a
 * larger push in the next step, so it is limited to the largest force in the world. */
static double load_of(const scree_System *s, int c) {
  const size_t d = (size_t)s->bodies.dimension;
  const scree_ContactKey *key = &s->contacts.keys[c];
  const double W = scree_system_diagonal(s, c, 0);
  return fmax(scree_system_forced_change(s, key->i), scree_system_forced_change(s, key->j)) +
         fmin(W * fabs(s->posed.r[(size_t)c * d]), s->forced_most);
}

scree_LawPoint scree_system_law_point(const scree_System *s, int c, const scree_Vec3 *axes,
                                      const double *before) {
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_BodyCold *cold = s->bodies.cold;
  scree_LawPoint point = {.d = s->bodies.dimension,
                          .h = s->times.h,
                          .horizon = s->times.horizon,
                          .rest = s->times.rest,
                          .gap = s->contacts.gap[c],
                          .axes = axes,
                          .before = before,
                          .memory = s->posed.memory + (size_t)c * s->posed.memory_size,
                          .first = !(s->memory.h > 0),
                          .size = scree_pair_size(&cold[key->i].shape, &cold[key->j].shape)};
  for (int k = 0; k < point.d; ++k) {
    const double W = scree_system_diagonal(s, c, k);
    point.mass[k] = W > 0 ? 1 / W : 0;
  }
  return point;
}

/* The part of the gap that the springs of a contact's own law do not carry. */
static double free_gap(const scree_System *s, int c, const scree_LawContact *law,
                       const double *before) {
  const double gap = s->contacts.gap[c];
  if (!s->laws.any_terms || !law->law->overlap) return gap;
  scree_Vec3 a[3];
  contact_axes(s->contacts.normal[c], s->bodies.dimension, a);
  const scree_LawPoint point = scree_system_law_point(s, c, a, before);
  return gap - law->law->overlap(law->pair, &point);
}

/* Use the terms of the contact's own law in place of the scheme's. */
static void fill_terms(scree_System *s, int c, const scree_LawContact *law, const double *before,
                       double *shift, scree_Set *set) {
  scree_Posed *p = &s->posed;
  const int d = s->bodies.dimension;
  double *C = p->C + (size_t)c * (size_t)(d * d);
  memset(C, 0, (size_t)(d * d) * sizeof *C);
  if (!law->law->pose) return;
  scree_Vec3 a[3];
  contact_axes(s->contacts.normal[c], d, a);
  const scree_LawPoint point = scree_system_law_point(s, c, a, before);
  scree_LawTerms terms = {.set = *set};
  memcpy(terms.q, shift, (size_t)d * sizeof *shift);
  law->law->pose(law->pair, &point, &terms);
  memcpy(shift, terms.q, (size_t)d * sizeof *shift);
  for (int k = 0; k < d; ++k) C[k * d + k] = terms.compliance[k];
  *set = terms.set;
  /* a part of the gap is then the displacement of the law, not an error */
  if (terms.own_gap) p->push[c] = 0;
}

/* The slip (d - 1) that a contact that was loaded has halfway to the next kick, and the bend of its
 * path (halfway.c). */
static bool turn(scree_System *s, int c, const scree_Motion *halfway, scree_Points *points,
                 size_t *pair, double *slip) {
  const int d = s->bodies.dimension;
  scree_Vec3 v, a[3];
  double curve;
  if (!scree_halfway_slip(s, (size_t)c, s->times.horizon, halfway, points, pair, &v, &curve))
    return false;
  contact_axes(s->contacts.normal[c], d, a);
  for (int k = 1; k < d; ++k) slip[k - 1] = scree_dot(a[k], v);
  /* drums and expansions of overlaps have set theirs */
  if (s->contacts.curve[c] == 0) s->contacts.curve[c] = curve;
  return true;
}

static void fill_contacts(scree_System *s, const scree_Motion *halfway, scree_Points *lists,
                          scree_Share share) {
  const scree_Bodies *b = &s->bodies;
  scree_Posed *p = &s->posed;
  const int d = b->dimension;
  const double horizon = s->times.horizon;
  /* the associated law keeps sliding contacts open by h mu |u_T|: that gap is not an error */
  const bool gentle = s->settings.flow == SCREE_COULOMB;
  size_t pair = SIZE_MAX; /* of this thread's list */
  SCREE_OVER_BODIES(c, p->nc, share) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    const scree_LawContact *law = scree_system_law(s, key->i, key->j);
    scree_Set set = law->set;
    double *before = p->before + (size_t)c * (size_t)d, *q = p->q + (size_t)c * (size_t)d;
    find_approach(s, c, before, q);
    if (p->shift) {
      double *shift = p->shift + (size_t)c * (size_t)d, slip[2];
      const bool turns = gentle && p->loaded[c] && s->scheme->looks_ahead && set.mu > 0 &&
                         turn(s, c, halfway, &lists[share.thread], &pair, slip);
      scree_Approach approach = {
          .horizon = horizon,
          .gap = free_gap(s, c, law, before),
          .size = scree_pair_size(&b->cold[key->i].shape, &b->cold[key->j].shape),
          .sustained = p->loaded[c],
          .loaded = gentle && p->loaded[c],
          .travel = horizon * slip_speed(s, c, before),
          .curve = s->contacts.curve[c],
          .alone = scree_system_meets_one(s, (size_t)c),
          .before = before,
          .free = q};
      if (approach.gap < 0 || law->e_n > 0) approach.load = load_of(s, c);
      const double push = s->scheme->shift(law, d, &approach, shift, &p->delay[c]);
      const double depth = -approach.gap / approach.size;
      const bool stays = s->times.brief && depth > settled;
      const double held = stays ? 1 : scree_system_held_push(s, depth);
      p->push[c] = push > 0 ? (1 - held) * push : 0; /* a gap closed by an impact is no error */
      if (push > 0) shift[0] += held * push;
      for (int k = 1; k < d && turns && p->delay[c] == 0; ++k) shift[k] += slip[k - 1];
      if (s->laws.any_terms) fill_terms(s, c, law, before, shift, &set);
      for (int k = 0; k < d; ++k) q[k] += shift[k];
    }
    /* an impulse that comes from a contact with another normal may lie outside the set */
    scree_set_project(&set, d, p->r + (size_t)c * (size_t)d, p->r + (size_t)c * (size_t)d);
    p->mu[c] = set.mu;
    for (int k = 0; s->laws.any_flow && k < d * d; ++k)
      p->H[(size_t)c * (size_t)(d * d) + (size_t)k] = k % (d + 1) ? 0 : k == 0 ? 1 : law->dilatancy;
    if (!p->sets) continue;
    p->set[c] = (uint8_t)set.kind;
    p->set_a[c] = set.a;
    p->set_b[c] = set.b;
  }
}

scree_Status scree_system_fill(scree_System *s) {
  const scree_Posed *p = &s->posed;
  const scree_ArenaMark mark = scree_arena_mark(&s->scratch);
  scree_Points *lists = scree_system_lists(s, s->threads);
  scree_Motion *halfway = NULL; /* of balls it is quickly found when it is needed */
  bool good = lists != NULL;
  if (good && p->shift && s->scheme->looks_ahead && !p->balls) {
    halfway = SCREE_TAKE_RAW(&s->scratch, scree_Motion, p->nbodies);
    good = halfway != NULL;
  }
  if (!good) return scree_fail_memory(s->log, "the points of contacts halfway");
  if (halfway) scree_halfway_motions(s, s->times.horizon, halfway);
  SCREE_ON_THREADS(p->nc, s->threads, share, fill_contacts(s, halfway, lists, share));
  scree_arena_release(&s->scratch, mark);
  return SCREE_OK;
}

/* The problem as it is posed, before it is brought into another form. */
static scree_Problem posed_problem(const scree_System *s) {
  const scree_Posed *p = &s->posed;
  scree_Problem problem = {.d = s->bodies.dimension,
                           .nc = s->deform.first,
                           .flow = s->settings.flow,
                           .kind = SCREE_BODIES,
                           .q = p->q,
                           .mu = p->mu,
                           .flow_blocks = s->laws.any_flow ? p->H : NULL};
  problem.bodies =
      (scree_BodyRows){.nbodies = scree_system_is_posed(s) ? p->nbodies : 0,
                       .nb = s->bodies.nb,
                       .body = p->body,
                       .id = p->problem_body,
                       .B = p->balls ? NULL : p->B,
                       .normal = p->balls && problem.nc ? &s->contacts.normal->x : NULL,
                       .arm = p->balls ? p->arm : NULL,
                       .C = s->laws.any_terms ? p->C : NULL};
  problem.general = s->joints.rows;
  if (scree_system_general(s) && scree_system_is_posed(s)) {
    problem.vertices = s->deform.vertices;
    problem.general = s->deform.rows;
    if (!s->laws.any_terms && !s->joints.rows.count) problem.general.C = NULL;
    if (!problem.vertices.row[problem.vertices.count]) problem.vertices.row = NULL;
  }
  if (p->sets) {
    problem.set = p->set;
    problem.set_a = p->set_a;
    problem.set_b = p->set_b;
  }
  return problem;
}

scree_Problem scree_system_problem(const scree_System *s) {
  return scree_rolls(s) ? scree_rolling_problem(s) : posed_problem(s);
}

scree_Status scree_system_close(scree_System *s) {
  scree_Status status = SCREE_OK;
  if (scree_system_general(s)) status = scree_domain_agree(s, scree_deform_close(s));
  if (!status) scree_domain_price(s);
  return status;
}

/* Pieces of equal work: recursive bisection by planes.
 *
 * A group of ranks begins with all bodies. The longest axis of the box around its bodies is cut so
 * that the work on the two sides is as the numbers of ranks that they get; then each side is cut,
 * until every group is one rank. All groups of a level are cut together. The place of a cut is
 * found from histograms of the work along the axis, each six bits finer than the last, so that a
 * level costs a few sums over all ranks, whatever the number of bodies. Planes are tilted a little,
 * so that they do not meet a whole layer of a lattice at once. */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

#include <math.h>
#include <string.h>

enum { BINS = 64, ROUNDS = 6 };             /* 64^6 = 2^36 places along an axis */
static const double tilt[2] = {1e-3, 1e-5}; /* of a plane, in parts of the extents */

/* Of a contact and of a joint, in units of that of a body; not measured. */
static const double contact_work = 2.0, joint_work = 4.0;

void scree_domain_weigh(const scree_System *s, float *work) {
  const scree_Bodies *b = &s->bodies;
  for (int k = 0; k < b->count; ++k) work[k] = (float)scree_domain_body_work(b, k);
  for (size_t c = 0; c < s->contacts.count; ++c) {
    const scree_ContactKey *key = &s->contacts.keys[c];
    const float part =
        (float)(b->fixed[key->i] || b->fixed[key->j] ? contact_work : 0.5 * contact_work);
    work[key->i] += b->fixed[key->i] ? 0 : part;
    work[key->j] += b->fixed[key->j] ? 0 : part;
  }
  for (int k = 0; k < s->joints.count; ++k) {
    if (!scree_joint_is_there(s, k)) continue;
    const int body = s->joints.joint[k].body[0], other = s->joints.joint[k].body[1];
    work[body >= 0 && !b->fixed[body] ? body : other] += (float)joint_work;
  }
}

int scree_cut_rank(const scree_Cut *cut, scree_Vec3 x) {
  int k = 0;
  while (k >= 0) k = cut[k].side[scree_dot(cut[k].along, x) < cut[k].at ? 0 : 1];
  return -1 - k;
}

int scree_domain_rank_at(const scree_Domain *p, scree_Vec3 x) {
  return p->size == 1 || p->cut_count == 0 ? p->rank : scree_cut_rank(p->cut, x);
}

/* Ranks first .. first + count - 1, and the cut that divides them. */
typedef struct Group {
  int first, count, cut;
  double low, high; /* range of along . x in which the cut is */
  double below;     /* work below `low` */
  double total;     /* work of the group */
} Group;

typedef struct Cutter {
  scree_Domain *p;
  int count;         /* bodies */
  const char *place; /* (bodies) the first position; the next is `stride` bytes further */
  size_t stride;
  float *work; /* (bodies) */
  int *group;  /* (bodies) or -1: a ghost, an obstacle, or its rank is known */
  Group *groups, *next;
  double *sums; /* (groups x BINS) */
} Cutter;

static scree_Vec3 place_of(const Cutter *c, int k) {
  scree_Vec3 x;
  memcpy(&x, c->place + (size_t)k * c->stride, sizeof x);
  return x;
}

static double along(const Cutter *c, int k) {
  return scree_dot(c->p->cut[c->groups[c->group[k]].cut].along, place_of(c, k));
}

/* The direction of each cut and the range of its group: boxes by maxima over ranks. */
static void choose_axes(const Cutter *c, int groups) {
  scree_Domain *p = c->p;
  double *box = c->sums; /* (groups x 6) -lower, upper */
  for (int k = 0; k < 6 * groups; ++k) box[k] = -INFINITY;
  for (int k = 0; k < c->count; ++k) {
    if (c->group[k] < 0) continue;
    const scree_Vec3 x = place_of(c, k);
    const double coordinate[3] = {x.x, x.y, x.z};
    double *mine = box + 6 * (ptrdiff_t)c->group[k];
    for (int i = 0; i < 3; ++i) {
      mine[i] = fmax(mine[i], -coordinate[i]);
      mine[3 + i] = fmax(mine[3 + i], coordinate[i]);
    }
  }
  scree_ranks_most(p->ranks, box, 6 * (size_t)groups);
  for (int g = 0; g < groups; ++g) {
    double extent[3], low = 0, high = 0, v[3];
    int axis = 0;
    for (int i = 0; i < 3; ++i) {
      extent[i] = box[6 * g + 3 + i] + box[6 * g + i];
      if (!(extent[i] > 0) || !isfinite(extent[i])) extent[i] = 0;
      if (extent[i] > extent[axis]) axis = i;
    }
    for (int i = 0; i < 3; ++i) {
      const int turn = (i - axis + 3) % 3;
      v[i] = turn == 0 ? 1 : extent[i] > 0 ? tilt[turn - 1] * extent[axis] / extent[i] : 0;
      if (!isfinite(box[6 * g])) continue; /* no bodies */
      low += v[i] * -box[6 * g + i];
      high += v[i] * box[6 * g + 3 + i];
    }
    p->cut[c->groups[g].cut].along = scree_vec3(v[0], v[1], v[2]);
    c->groups[g].low = low;
    c->groups[g].high = high > low ? high : low + 1;
    c->groups[g].below = c->groups[g].total = 0;
  }
}

/* One round: the work in BINS equal parts of each range, then the part that has the cut. */
static void refine(const Cutter *c, int groups, bool first) {
  memset(c->sums, 0, (size_t)groups * BINS * sizeof *c->sums);
  for (int k = 0; k < c->count; ++k) {
    if (c->group[k] < 0) continue;
    const Group *g = &c->groups[c->group[k]];
    const double at = (along(c, k) - g->low) / (g->high - g->low) * BINS;
    if (!(at >= 0 && at <= BINS)) continue;
    const int bin = at < BINS ? (int)at : BINS - 1;
    c->sums[(size_t)c->group[k] * BINS + (size_t)bin] += (double)c->work[k];
  }
  scree_ranks_add(c->p->ranks, c->sums, (size_t)groups * BINS);
  for (int k = 0; k < groups; ++k) {
    Group *g = &c->groups[k];
    const double *sums = c->sums + (size_t)k * BINS;
    for (int i = 0; first && i < BINS; ++i) g->total += sums[i];
    const int low = g->count / 2;
    const double target = g->total * low / g->count;
    int bin = 0;
    while (bin < BINS - 1 && g->below + sums[bin] <= target) g->below += sums[bin++];
    const double width = (g->high - g->low) / BINS;
    g->low += bin * width;
    g->high = g->low + width;
  }
}

/* The two halves of each group; those of one rank are done. */
static int split(const Cutter *c, int groups) {
  scree_Domain *p = c->p;
  int made = 0;
  for (int k = 0; k < groups; ++k) {
    const Group *g = &c->groups[k];
    scree_Cut *cut = &p->cut[g->cut];
    const int count[2] = {g->count / 2, g->count - g->count / 2};
    cut->at = g->high;
    for (int side = 0, rank = g->first; side < 2; rank += count[side++]) {
      if (count[side] == 1) {
        cut->side[side] = -1 - rank;
        continue;
      }
      cut->side[side] = p->cut_count;
      c->next[made++] = (Group){.first = rank, .count = count[side], .cut = p->cut_count++};
    }
  }
  return made;
}

static void assign(const Cutter *c) {
  const scree_Domain *p = c->p;
  for (int k = 0; k < c->count; ++k) {
    if (c->group[k] < 0) continue;
    const scree_Cut *cut = &p->cut[c->groups[c->group[k]].cut];
    const int side = cut->side[scree_dot(cut->along, place_of(c, k)) < cut->at ? 0 : 1];
    c->group[k] = -1;
    for (int g = 0; side >= 0; ++g)
      if (c->next[g].cut == side) {
        c->group[k] = g;
        break;
      }
  }
}

static bool take_room(Cutter *c, scree_Arena *work) {
  const size_t size = (size_t)c->p->size;
  c->work = SCREE_TAKE_RAW(work, float, c->count);
  c->group = SCREE_TAKE_RAW(work, int, c->count);
  c->groups = SCREE_TAKE(work, Group, size);
  c->next = SCREE_TAKE(work, Group, size);
  c->sums = SCREE_TAKE_RAW(work, double, size *BINS);
  return c->work && c->group && c->groups && c->next && c->sums;
}

static void cut(Cutter *c) {
  c->p->cut_count = 1;
  c->groups[0] = (Group){.count = c->p->size};
  for (int groups = 1; groups > 0;) {
    choose_axes(c, groups);
    for (int round = 0; round < ROUNDS; ++round) refine(c, groups, round == 0);
    groups = split(c, groups);
    assign(c);
    Group *swap = c->groups;
    c->groups = c->next;
    c->next = swap;
  }
  c->p->counts.cuts++;
}

scree_Status scree_domain_cut(scree_System *s) {
  scree_Domain *p = &s->domain;
  const scree_Bodies *b = &s->bodies;
  if (p->size == 1) return SCREE_OK;
  const scree_ArenaMark mark = scree_arena_mark(&p->work);
  scree_Vec3 *place = SCREE_TAKE_RAW(&p->work, scree_Vec3, b->count);
  Cutter c = {.p = p, .count = b->count, .place = (const char *)place, .stride = sizeof *place};
  const bool enough = place && take_room(&c, &p->work);
  scree_Status status =
      scree_domain_agree(s, enough ? SCREE_OK : scree_fail_memory(s->log, "the cuts of a world"));
  if (!status && enough) status = scree_domain_units(s, place);
  if (!status && enough) {
    scree_domain_weigh(s, c.work);
    for (int k = 0; k < b->count; ++k)
      c.group[k] = !b->fixed[k] && scree_domain_owns(p, k) ? 0 : -1;
    cut(&c);
  }
  scree_arena_release(&p->work, mark);
  return status;
}

scree_Status scree_cut_places(const scree_Ranks *ranks, const scree_Vec3 *places, int count,
                              scree_Cut *cuts, const scree_Log *log) {
  scree_Domain p = {.ranks = ranks,
                    .rank = scree_ranks_rank(ranks),
                    .size = scree_ranks_size(ranks),
                    .cut = cuts};
  scree_Arena work = {0};
  Cutter c = {.p = &p, .count = count, .place = (const char *)places, .stride = sizeof *places};
  const bool enough = take_room(&c, &work);
  const scree_Status status = scree_ranks_agree(
      ranks, enough ? SCREE_OK : scree_fail_memory(log, "the cuts of a world"), log);
  for (int k = 0; enough && k < count; ++k) {
    c.work[k] = 1;
    c.group[k] = 0;
  }
  if (!status) cut(&c);
  scree_arena_fini(&work);
  return status;
}

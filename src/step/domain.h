/* The part of a world that a rank has.
 *
 * Every body that is no obstacle has one owner. A rank holds its own bodies, copies of those of
 * other ranks that they may touch (ghosts), and all obstacles; they are numbered by their numbers
 * in the whole world, so that contacts come in the same order and with the same sign of the normal
 * on any number of ranks. A world that is not divided has no array of this struct and owns every
 * body: all loops of a step are the same for both.
 *
 *   who owns what   The space is cut into as many pieces of equal work as there are ranks, by
 *                   planes, recursively (domain_cut.c). Work is counted: a body and its contacts.
 *                   Bodies that have left the piece of their rank change their owner whenever
 *                   ghosts are chosen again, with the impulses and the memory of the contacts that
 *                   their new owner then has. The cuts are placed anew when the imbalance has
 *                   cost more than that does. A deformable body has one owner with all its nodes
 *                   and elements, and so have bodies that joints hold together (domain_joints.c).
 *   ghosts          Each body has a cover, a box in which its bounds stay for some steps. Bodies
 *                   whose covers meet the covers of another rank are ghosts there. Detection tests
 *                   whether all bounds, as far as it looks, are inside their covers; if not, the
 *                   step begins again with new ones (domain_build.c). Ghosts move as their
 *                   originals do up to the kick, and get their state from the owner before each
 *                   attempt.
 *   contacts        A contact of two bodies of one rank belongs to that rank, one of two ranks to
 *                   either, chosen by the two numbers; both test the pair, one keeps the contact.
 *   the problem     Each rank poses its own contacts. Bodies that touch contacts of several ranks
 *                   are held by these and by their owner, and are the halo of the solve
 *                   (domain_pose.c, problem/division.h).
 *   sums            Energies, errors and counts are added over ranks, and decisions taken from
 *                   these sums, so that all ranks take the same. */
#ifndef SCREE_STEP_DOMAIN_H
#define SCREE_STEP_DOMAIN_H

#include "body/bodies.h"
#include "core/arena.h"
#include "geometry/contact_match.h"
#include "parallel/ranks.h"
#include "scree/solver.h"

struct scree_System;

/* A plane between pieces: bodies with along . x < at are on its low side. A side is another cut, or
 * -1 - rank. */
typedef struct scree_Cut {
  scree_Vec3 along;
  double at;
  int side[2];
} scree_Cut;

/* The memory of a contact between ranks; as many doubles as its law has follow. Bodies by their
 * numbers in the whole world. */
typedef struct scree_KeptContact {
  scree_ContactKey key;
  scree_Vec3 impulse, arm;
} scree_KeptContact;

/* Counts since the world was divided. */
typedef struct scree_DomainCounts {
  long long builds;   /* how often ghosts were chosen */
  long long cuts;     /* how often the pieces were */
  long long migrated; /* bodies of this rank that went to others */
} scree_DomainCounts;

typedef struct scree_Domain {
  const scree_Ranks *ranks;
  int rank, size;
  int whole;    /* bodies of the whole world */
  bool deforms; /* some of them are deformable, on this rank or on others */
  size_t global_capacity, owner_capacity, shape_capacity, cover_capacity;
  int *global;       /* (bodies) number in the whole world, ascending; null: it is not divided */
  int *owner;        /* (bodies) rank; -1: an obstacle, which every rank has */
  int *shape;        /* (bodies) number in `shapes`, or -1: the shape has no further data */
  scree_Aabb *cover; /* (bodies) of those that this rank owns */
  int shapes_count;
  size_t shapes_capacity, forces_capacity;
  scree_Shape *shapes; /* (shapes_count) those with vertices or domain, on all ranks */
  int *forces;         /* (forces) body of each force in the whole world, or -1: all */
  /* Ghosts, rank by rank: own bodies to send, and ghosts to receive. */
  scree_Arena lists;
  size_t *send_start, *receive_start; /* (size + 1) */
  int *send, *receive;
  scree_Arena work; /* of one build, or of one problem */
  int cut_count;
  scree_Cut *cut; /* (size - 1) */
  size_t given_count, given_capacity;
  char *given;   /* (given_count) kept contacts from outside, for the next build */
  bool fresh;    /* no body was added or moved by hand since ghosts were chosen */
  bool outgrown; /* some bounds are outside their cover: begin the step again */
  int tries;     /* how often the present step began again for this */
  double load, imbalance, least, excess; /* work of this rank; largest over mean, now, after the
                                          * last cut, and summed over the steps since */
  scree_DomainCounts counts;
  /* The problem: its bodies, rigid ones first, with their numbers in the whole world and their
   * holders, ascending. */
  scree_Arena posing;
  int *number;          /* (bodies of the problem) */
  size_t *holder_start; /* (bodies of the problem + 1) */
  int *holder;
  double sweep; /* seconds of a sweep, the largest of all ranks */
} scree_Domain;

/* ---- for all worlds ---------------------------------------------------------------------------
 */

static inline bool scree_domain_owns(const scree_Domain *domain, int body) {
  return !domain->owner || domain->owner[body] == domain->rank;
}
static inline int scree_domain_global(const scree_Domain *domain, int body) {
  return domain->global && body >= 0 ? domain->global[body] : body;
}
/* The rank that gets a new body, by its number, until the world is cut: consecutive ones together.
 */
enum { SCREE_DOMAIN_DEALT = 256 };
static inline int scree_domain_dealt(int number, int ranks) {
  return number / SCREE_DOMAIN_DEALT % ranks;
}
/* The work of a body without its contacts, in units of a rigid one: that of its vertices. */
static inline int scree_domain_body_work(const scree_Bodies *b, int k) {
  const scree_Deformable *self = scree_bodies_deformable(b, k);
  return b->fixed[k] ? 0 : self ? self->vertices : 1;
}
/* Which of two bodies (0 or 1), given by their numbers in the whole world, has their contacts on
 * its rank: about as often one as the other. */
static inline int scree_domain_choose(bool fixed_i, bool fixed_j, int i, int j) {
  if (fixed_i || fixed_j) return fixed_i ? 1 : 0;
  const uint32_t hash = ((uint32_t)i * 2654435761u) ^ ((uint32_t)j * 40503u);
  return (int)((hash ^ hash >> 16) & 1);
}
/* Whether the contacts of bodies i and j belong to this rank. */
static inline bool scree_domain_has(const scree_Domain *p, const scree_Bodies *b, int i, int j) {
  if (!p->owner) return true;
  const int side =
      scree_domain_choose(b->fixed[i] != 0, b->fixed[j] != 0, p->global[i], p->global[j]);
  return p->owner[side == 0 ? i : j] == p->rank;
}

/* ---- domain.c ----------------------------------------------------------------------------------
 */

/* Divide a world without bodies. */
scree_Status scree_domain_divide(struct scree_System *s, const scree_Ranks *ranks);
void scree_domain_fini(scree_Domain *domain);
/* The last body of the world was added on all ranks: keep it where it belongs. */
scree_Status scree_domain_add_body(struct scree_System *s);
/* The next body, which no rank but its owner has, is on another rank; its shape or null. */
scree_Status scree_domain_pass_body(struct scree_System *s, const scree_Shape *shape);
/* After the last of them: what depends on all bodies, from all ranks. */
void scree_domain_passed(struct scree_System *s);
/* The number on this rank of a body of the whole world, or -1. */
int scree_domain_local(const scree_Domain *domain, int count, int global);
/* Why this world cannot be divided, or null. */
const char *scree_domain_refuse(const struct scree_System *s);
/* Elements of `bytes` bytes, one for each body: from owners to ghosts, and from ghosts added to
 * their owners. */
scree_Status scree_domain_to_ghosts(struct scree_System *s, void *elements, size_t bytes);
scree_Status scree_domain_add_ghosts(struct scree_System *s, double *elements);
/* The largest of a body and its ghosts, on its owner. */
scree_Status scree_domain_most_of_ghosts(struct scree_System *s, double *elements);
/* Sums of contributions of all ranks to a body, on its owner and its ghosts. */
scree_Status scree_domain_sum_bodies(struct scree_System *s, double *elements);

/* ---- domain_build.c ----------------------------------------------------------------------------
 */

/* New owners and ghosts, and the memory of contacts where it belongs. */
scree_Status scree_domain_build(struct scree_System *s);
/* Owners by the numbers of bodies (scree_domain_dealt), until the next build. */
scree_Status scree_domain_deal(struct scree_System *s);
/* The memory of contact k with whole numbers. */
scree_KeptContact scree_domain_kept(const struct scree_System *s, size_t k);

/* ---- domain_joints.c ---------------------------------------------------------------------------
 */

/* What all ranks know of joints: those that broke since the last call. */
scree_Status scree_domain_tell_broken(struct scree_System *s);
/* All ranks have the same state of all joints. */
void scree_domain_know_joints(struct scree_System *s);
/* Where each body (bodies) counts as being: its place, or the mean place of its mechanism. */
scree_Status scree_domain_units(struct scree_System *s, scree_Vec3 *place);
/* The states of joints to the next owners (bodies) of their bodies. */
scree_Status scree_domain_send_joints(struct scree_System *s, const int *next_owner);
/* Where the bodies of joints are, after bodies were numbered. */
void scree_domain_place_joints(struct scree_System *s);

/* ---- domain_ghosts.c --------------------------------------------------------------------------
 */

/* Where ghosts go: send_start and send, with numbers on this rank; room for receive_start. */
scree_Status scree_domain_choose_ghosts(struct scree_System *s);

/* ---- domain_begin.c ---------------------------------------------------------------------------
 */

/* Before an attempt: ghosts as their owners are; at the `start` of a step new ones where needed. */
scree_Status scree_domain_begin(struct scree_System *s, bool start);
/* After the bounds of a detection were computed: outgrown if some are outside their covers. */
scree_Status scree_domain_check(struct scree_System *s, const scree_Aabb *bounds);
/* For detection: obstacles and ghosts, which are not paired with each other, in `fixed`. */
void scree_domain_mark(const struct scree_System *s, unsigned char *fixed);

/* ---- domain_cut.c ------------------------------------------------------------------------------
 */

/* Cuts for the present positions and work. */
scree_Status scree_domain_cut(struct scree_System *s);
/* Cuts (ranks) into pieces with the same number of places of all ranks; each body of a world is
 * given by one rank. */
SCREE_PRIVATE scree_Status scree_cut_places(const scree_Ranks *ranks, const scree_Vec3 *places,
                                            int count, scree_Cut *cuts, const scree_Log *log);
/* The rank whose piece has this point. */
SCREE_PRIVATE int scree_cut_rank(const scree_Cut *cut, scree_Vec3 x);
int scree_domain_rank_at(const scree_Domain *domain, scree_Vec3 x);
/* Work of each body. */
void scree_domain_weigh(const struct scree_System *s, float *work);

/* ---- domain_pose.c -----------------------------------------------------------------------------
 */

/* Mark (>= 0) in index (bodies) those that contacts of other ranks touch. */
scree_Status scree_domain_touch(struct scree_System *s, int *index);
/* Contacts of all ranks. */
scree_Status scree_domain_count(struct scree_System *s, size_t contacts, long long *all);
/* `sweep` of the posed problem. */
void scree_domain_price(struct scree_System *s);
/* Seconds of a sweep over the problem: those of the rank that takes longest. */
double scree_domain_sweep_seconds(const struct scree_System *s, const scree_Problem *problem);
/* The number of the first contact of this rank among those of all. */
int scree_domain_first_contact(const struct scree_System *s);
/* Solve the posed problem, on all ranks together. */
scree_Status scree_domain_solve(struct scree_System *s, const scree_Problem *problem, double *r,
                                double *u, scree_SolveInfo *info);

#endif

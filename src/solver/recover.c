/* Finding bodies in W (see recover.h).
 *
 * W = sum over bodies b of B_b B_b^T. A *group* is the contacts of one pair of bodies (one may be
 * the ground). The method uses two facts:
 *
 *   - Contacts of one pair are coupled with the same other contacts, so that their rows of W have
 *     the same pattern, and their velocities depend on one relative twist: their rows have rank
 *     nb = 3 (plane) or 6 (space) at most. Different pairs may share a pattern too (two boxes on a
 *     third one); then the rank of the class is larger, and two contacts are of one pair just when
 *     their common 2d rows are dependent: the distance of two points of a body does not change.
 *   - Two groups share one body at most, so that an off-diagonal block of W is explained by one
 *     body, whole. Only diagonal blocks are sums of two bodies.
 *
 * Hence bodies can be removed one after the other. If all bodies of group e but one (call it b)
 * are known, then the rest of its diagonal block, R = W_ee - B_e1 B_e1^T, is B_eb B_eb^T, the
 * groups of b are e and those of its neighbours that share no known body with it, and
 *     B_eb = Cholesky factor of R ,   B_hb = W_he B_eb^-T   for each group h of b,
 * which is one pivoted Cholesky elimination whose pivots are rows of e (or of all groups of b that
 * lack only b), over columns that are rows of the given W. No residual matrix is formed:
 * each body costs the reading of nb rows of W. Its groups then lack one body less: a queue
 * traverses the structure in the order of distance from the start.
 *
 * It starts at
 *   1. a group between a body and the ground. Its neighbours are all coupled with each other, and
 *      eliminating it removes their coupling;
 *   2. three groups e, g, h of one body. Their off-diagonal blocks are enough (recover_triples.c):
 *      B_e B_e^T = W_eg W_hg^-1 W_he;
 *   3. if there is neither, the end of a chain: a group with one neighbour or none. Here W does
 *      not determine the bodies, and any Cholesky factor is valid.
 * If the known groups of a body have a lower rank than nb (edges, single points), the body is
 * postponed until others are found. If only one group k is left, then the rest of the body is in
 * the diagonal block of k alone and stays there, "mixed" with the second body of k, until that one
 * is found from other groups.
 *
 * At the end W x and B B^T x are compared for two pseudo-random x. Any earlier failure (a
 * compliance, an asymmetry, truncated digits, bodies that are not rigid) is detected there at the
 * latest, so none of the earlier decisions has to be proven. */
#include "solver/recover.h"

#include "core/memory.h"
#include "core/mix.h"
#include "solver/recover_internal.h"

#include <math.h>
#include <string.h>

/* Asymmetry of a matrix that is symmetric up to a few roundings. */
static const double EXACT = 1e-14;
/* B B^T x against W x, each contact relative to its diagonal. */
static const double SAME = 1e-11;

enum {
  MOST_LOST = 12,  /* unsuccessful triples after which the search for triples stops */
  MOST_PASSES = 8, /* over bodies that their groups do not determine */
};

/* ---- bodies -----------------------------------------------------------------------------------
 */

void scree_finder_list_clique(scree_Finder *f, int eligible) {
  scree_finder_clear_list(f);
  for (int k = 0; k < f->nclique; ++k) {
    if (k == eligible) f->neligible = f->nlist;
    scree_finder_list_group(f, f->clique[k]);
  }
  if (eligible == f->nclique) f->neligible = f->nlist;
}

void scree_finder_accept(scree_Finder *f, int rank) {
  const int d = f->d, nb = f->nb;
  for (int l = 0; l < f->nlist; ++l) {
    const int c = f->list[l], side = f->body[2 * f->group[c]] >= 0;
    double *b = f->B + (size_t)(2 * c + side) * (size_t)(d * nb);
    for (int k = 0; k < rank; ++k) {
      const double *v = scree_finder_column(f, k) + d * l;
      for (int i = 0; i < d; ++i) b[i * nb + k] = v[i];
    }
  }
  for (int k = 0; k < f->nclique; ++k) {
    const int g = f->clique[k], side = f->body[2 * g] >= 0;
    f->body[2 * g + side] = f->nbodies;
    f->done[g] = side;
    if (!side) f->queue[f->tail++] = g;
  }
  f->columns[f->nbodies++] = rank;
}

/* The body that group e lacks: its groups into the clique, e first, then the others that lack only
 * this body. False if one of them has two other bodies already. */
static bool gather_clique(scree_Finder *f, int e) {
  f->nclique = 0;
  f->clique[f->nclique++] = e;
  f->nknown = 1;
  for (size_t k = f->adj_row[e]; k < f->adj_row[e + 1]; ++k) {
    const int h = f->adj[k];
    if (scree_finder_share_body(f, e, h)) continue;
    if (f->done[h]) return false;
    f->clique[f->nclique++] = h;
    if (f->body[2 * h] >= 0 && !f->mixed[h]) {
      f->clique[f->nclique - 1] = f->clique[f->nknown];
      f->clique[f->nknown++] = h;
    }
  }
  return true;
}

/* Only the diagonal block of group g is left of its bodies, some of which have spare columns: the
 * rest is stored there. *fits: there were enough of them. */
static bool fill_rest(scree_Finder *f, int g, bool *fits) {
  const int d = f->d, nb = f->nb, *body = f->body + 2 * g;
  const int room = nb - f->columns[body[0]], more = body[1] < 0 ? 0 : nb - f->columns[body[1]];
  scree_finder_clear_list(f);
  scree_finder_list_group(f, g);
  f->neligible = f->nlist;
  double left;
  const int rank = scree_finder_eliminate(f, nb, NULL, &left);
  if (rank < 0 || left > SCREE_FINDER_SMALL) return false;
  *fits = rank <= room + more;
  for (int k = 0; *fits && k < rank; ++k) {
    const int side = k >= room, column = f->columns[body[side]] + k - side * room;
    const double *v = scree_finder_column(f, k);
    for (int l = 0; l < f->nlist; ++l)
      for (int i = 0; i < d; ++i)
        f->B[((2 * f->list[l] + side) * d + i) * nb + column] = v[d * l + i];
  }
  f->done[g] = *fits;
  return true;
}

/* The body of the clique from its first `nknown` groups. If their rows do not determine it and it
 * has more than `spare` other groups, it is postponed. With one other group, the rest of the body
 * is in that group's diagonal block alone, mixed with its second body. False if all this is
 * impossible. */
static bool take_body(scree_Finder *f, int spare) {
  scree_finder_list_clique(f, f->nknown);
  double left;
  const int rank = scree_finder_eliminate(f, f->nb, NULL, &left);
  const int others = f->nclique - f->nknown, last = f->clique[f->nclique - 1];
  if (rank < 0 || left > SCREE_FINDER_SMALL) return false;
  if (rank == 0) {
    for (int k = 0; others == 0 && k < f->nclique; ++k) f->done[f->clique[k]] = true;
    return true;
  }
  if (rank < f->nb && others > spare && !(others == 1 && f->mixed[last])) return true;
  if (others == 1 && (rank < f->nb || f->mixed[f->clique[0]])) f->mixed[last] = true;
  scree_finder_accept(f, rank);
  bool fits = true;
  for (int k = f->nknown; k < f->nclique; ++k)
    if (f->done[f->clique[k]] && !(fill_rest(f, f->clique[k], &fits) && fits)) return false;
  return true;
}

/* Finish group e, of which one body is known, if its other one can be found. False when that is
 * impossible. */
static bool finish_group(scree_Finder *f, int e, int spare) {
  if (f->done[e]) return true;
  if (!gather_clique(f, e)) return false;
  if (f->mixed[e]) {
    if (f->nclique == 1) {
      bool fits;
      if (!fill_rest(f, e, &fits)) return false;
      if (fits) return true;
    } else if (f->nknown > 1) { /* those others determine the body */
      if (!gather_clique(f, f->clique[1])) return false;
    } else if (spare == 0 || f->nclique > 2 || f->mixed[f->clique[1]]) {
      return true;
    }
  }
  return take_body(f, spare);
}

static bool drain_queue(scree_Finder *f) {
  while (f->head < f->tail)
    if (!finish_group(f, f->queue[f->head++], 0)) return false;
  return true;
}

/* Whether all other groups of the clique are coupled with its second group. */
static bool looks_complete(scree_Finder *f) {
  const int g = f->clique[1];
  int coupled = 0;
  for (int k = 2; k < f->nclique; ++k) f->mark[f->clique[k]] = g;
  for (size_t k = f->adj_row[g]; k < f->adj_row[g + 1]; ++k) coupled += f->mark[f->adj[k]] == g;
  for (int k = 2; k < f->nclique; ++k) f->mark[f->clique[k]] = -1;
  return coupled == f->nclique - 2;
}

/* Whether the columns L explain the coupling of the second and the last group of the clique. */
static bool explains_coupling(const scree_Finder *f, int rank) {
  const int d = f->d, a = f->member[f->first[f->clique[1]]],
            b = f->member[f->first[f->clique[f->nclique - 1]]];
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double sum = scree_finder_entry(f, d * a + i, d * b + j);
      const double most = sqrt(scree_finder_entry(f, d * a + i, d * a + i)) *
                          sqrt(scree_finder_entry(f, d * b + j, d * b + j));
      for (int k = 0; k < rank; ++k) {
        const double *v = scree_finder_column(f, k);
        sum -= v[d * f->local[a] + i] * v[d * f->local[b] + j];
      }
      if (!(fabs(sum) <= SCREE_FINDER_SMALL * most)) return false;
    }
  return true;
}

/* Start 1: group e, with no known body, may lie between a body and the ground. */
static bool start_at_ground(scree_Finder *f, int e) {
  if (f->rank[e] < f->nb || f->body[2 * e] >= 0 || f->adj_row[e + 1] - f->adj_row[e] < 2)
    return true;
  if (!gather_clique(f, e)) return false;
  if (!looks_complete(f)) return true;
  scree_finder_list_clique(f, 1);
  double left;
  if (scree_finder_eliminate(f, f->nb, NULL, &left) == f->nb && explains_coupling(f, f->nb))
    scree_finder_accept(f, f->nb);
  return true;
}

/* Start 3: the end of a chain, or an isolated group. */
static bool start_at_end(scree_Finder *f, int e) {
  if (f->done[e] || f->body[2 * e] >= 0 || f->adj_row[e + 1] - f->adj_row[e] > 1) return true;
  if (!gather_clique(f, e)) return false;
  scree_finder_list_clique(f, 1);
  double left;
  const int rank = scree_finder_eliminate(f, f->nb, NULL, &left);
  if (rank < 0 || left > SCREE_FINDER_SMALL) return false;
  if (rank > 0)
    scree_finder_accept(f, rank);
  else
    f->done[e] = true;
  return drain_queue(f);
}

/* Rounding errors grow from body to body where each is computed from the last (a wall of ten layers
 * turned 1e-16 into 1e-9), so that bodies are computed from triples first where these are exact;
 * groups that are far apart and small give a less accurate triple than the sequence from the ground
 * (a tower of planks), which is then used first. The asymmetry of the triple is the criterion. */
static bool find_bodies(scree_Finder *f) {
  for (int g = 0; g < f->ngroups; ++g)
    if (!start_at_ground(f, g)) return false;
  const int ground = f->nbodies;
  int lost = 0;
  for (int g = 0; g < f->ngroups && lost <= MOST_LOST + f->nbodies - ground; ++g)
    if (f->rank[g] == f->nb && !f->done[g]) scree_finder_triples(f, g, EXACT, &lost);
  bool good = drain_queue(f);
  for (int g = 0; good && g < f->ngroups; ++g)
    if (f->rank[g] == f->nb && f->body[2 * g] < 0) {
      scree_finder_triples(f, g, SCREE_FINDER_SMALL, &lost);
      good = drain_queue(f);
    }
  for (int before = -1, pass = 0; good && before < f->nbodies && pass < MOST_PASSES; ++pass) {
    before = f->nbodies;
    for (int g = 0; good && g < f->ngroups; ++g)
      if (f->body[2 * g] >= 0) good = finish_group(f, g, 1) && drain_queue(f);
  }
  for (int g = 0; good && g < f->ngroups; ++g) good = start_at_end(f, g);
  for (int g = 0; good && g < f->ngroups; ++g) good = f->done[g];
  return good;
}

/* ---- the search ------------------------------------------------------------------------------
 */

/* A pseudo-random x, scaled so that every contact has equal weight, and y = B^T x */
SCREE_INLINE void try_vector(const scree_Operator *V, int d, int nb, uint64_t seed,
                             const double *scale, double *x, double *y) {
  for (int c = 0; c < V->problem->nc; ++c) {
    double *xc = x + (size_t)c * (size_t)d;
    for (int i = 0; i < d; ++i) {
      const uint64_t bits = scree_mix(3 * (uint64_t)c + (uint64_t)i + seed);
      const double z = (double)(int64_t)(bits >> 11) * 0x1p-52 - 1.0;
      xc[i] = scale[c] > 0.0 ? z / scale[c] : 0.0;
    }
    scree_contact_update(V, SCREE_BODIES, d, nb, c, xc, y);
  }
}

/* Whether W x = B y, each contact relative to its own scale. */
SCREE_INLINE bool same_product(const scree_Operator *W, const scree_Operator *V, int d, int nb,
                               const double *scale, const double *x, const double *y) {
  const scree_Problem *p = W->problem;
  if (!V->problem->bodies.B) __builtin_unreachable();
  for (int c = 0; c < p->nc; ++c) {
    double u[3], v[3];
    const double n = (double)(p->blocks.row[c + 1] - p->blocks.row[c]);
    scree_contact_velocity(W, SCREE_ASSEMBLED, d, 0, c, x, NULL, NULL, u);
    scree_contact_velocity(V, SCREE_BODIES, d, nb, c, NULL, y, NULL, v);
    for (int i = 0; i < d; ++i)
      if (!(fabs(u[i] - v[i]) <= SAME * scale[c] * sqrt(n))) return false;
  }
  return true;
}

/* Whether B B^T x = W x for two x. `scale` (nc), `x` (d nc) and `y` ((nbodies + 1) x nb) are
 * scratch. */
SCREE_CLONES static bool agrees(const scree_Finder *f, const scree_Problem *bodies, double *scale,
                                double *x, double *y) {
  const int d = f->d, nb = f->nb;
  const scree_Operator W = {.problem = f->p}, V = {.problem = bodies};
  const size_t state = ((size_t)bodies->bodies.nbodies + 1) * (size_t)nb;
  for (int c = 0; c < f->nc; ++c) {
    double most = 0.0;
    for (int i = 0; i < d; ++i) {
      const double w = scree_finder_diagonal(f, c, i);
      if (w > most) most = w;
    }
    scale[c] = sqrt(most);
  }
  bool same = true;
  for (uint64_t vector = 0; same && vector < 2; ++vector) {
    memset(y, 0, state * sizeof *y);
    if (d == 3) {
      try_vector(&V, 3, 6, vector << 40, scale, x, y);
      same = same_product(&W, &V, 3, 6, scale, x, y);
    } else {
      try_vector(&V, 2, 3, vector << 40, scale, x, y);
      same = same_product(&W, &V, 2, 3, scale, x, y);
    }
  }
  return same;
}

/* Whether body form with this many bodies has clearly fewer unknowns than the contacts. */
static bool is_gain(const scree_Finder *f, int nbodies) {
  return 4 * (size_t)nbodies * (size_t)f->nb <= 3 * (size_t)f->nc * (size_t)f->d;
}

/* Copy everything of the problem except W. */
static void fill_result(const scree_Finder *f, scree_Problem *bodies) {
  const scree_Problem *p = f->p;
  const size_t nc = (size_t)f->nc;
  bodies->flow = p->flow;
  bodies->flow_blocks = p->flow_blocks;
  bodies->bodies.nbodies = f->nbodies;
  memcpy(bodies->q, p->q, nc * (size_t)f->d * sizeof *p->q);
  memcpy(bodies->mu, p->mu, nc * sizeof *p->mu);
  if (p->set) memcpy(bodies->set, p->set, nc);
  if (p->set_a) memcpy(bodies->set_a, p->set_a, nc * sizeof *p->set_a);
  if (p->set_b) memcpy(bodies->set_b, p->set_b, nc * sizeof *p->set_b);
  for (size_t c = 0; c < nc; ++c)
    memcpy(bodies->bodies.body + 2 * c, f->body + 2 * f->group[c], 2 * sizeof(int));
}

scree_Status scree_recover_bodies(const scree_Problem *p, scree_Problem *bodies, bool *found,
                                  const scree_Log *log) {
  *bodies = (scree_Problem){0};
  *found = false;
  scree_Finder f = {.p = p, .d = p->d, .nb = 3 * (p->d - 1), .nc = p->nc};
  f.stride = ((size_t)f.nc * (size_t)f.d + 7) / 8 * 8;
  if (p->kind != SCREE_ASSEMBLED || !is_gain(&f, 1)) return SCREE_OK;
  bool good = false;
  scree_Status status = scree_finder_classes(&f, &good, log);
  if (!status && good) status = scree_finder_groups(&f, &good, log);
  if (!status && good)
    status = scree_problem_create_bodies(bodies, f.d, f.nc, 0, f.nb, p->set || p->set_a || p->set_b,
                                         false, log);
  if (!status && good) {
    f.B = bodies->bodies.B;
    good = find_bodies(&f) && f.nbodies > 0 && is_gain(&f, f.nbodies);
    if (good) {
      fill_result(&f, bodies);
      /* the bodies' velocities, fewer numbers than rows and nb more, fit into the other columns */
      good = agrees(&f, bodies, f.residual, scree_finder_column(&f, 0), scree_finder_column(&f, 1));
    }
    *found = good;
  }
  for (int k = 0; k < 3; ++k) scree_free(f.memory[k]);
  if (!*found) scree_problem_destroy(bodies);
  return status;
}

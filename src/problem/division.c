/* The part of one rank in a problem (see division.h). */
#include "problem/division.h"

#include "core/log.h"

#include <string.h>

/* ---- who has what ------------------------------------------------------------------------------
 */

/* The blocks that contact c needs: its bodies, or the columns of its row. Returns their number. */
static size_t blocks_of(const scree_Problem *p, int c, const int **list, int room[2]) {
  if (p->kind == SCREE_ASSEMBLED) {
    *list = p->blocks.col + p->blocks.row[c];
    return p->blocks.row[c + 1] - p->blocks.row[c];
  }
  size_t n = 0;
  for (int side = 0; side < 2; ++side)
    if (p->bodies.body[2 * c + side] >= 0) room[n++] = p->bodies.body[2 * c + side];
  *list = room;
  return n;
}

/* Between bodies of two ranks contacts alternate by the parity of their bodies, so that both get
 * about half of them. */
static int owner_of(const scree_Problem *p, const int *part, int c) {
  if (p->kind == SCREE_ASSEMBLED) return part[c];
  const int a = p->bodies.body[2 * c], b = p->bodies.body[2 * c + 1];
  if (a < 0 && b < 0) return 0;
  if (a < 0 || b < 0) return part[a < 0 ? b : a];
  return (a + b) % 2 ? part[a] : part[b];
}

/* The ranks that hold each block: count them, then list them. Contacts are taken rank by rank, so
 * that ranks come ascending and a rank that was the last one of a block is not listed twice. */
static bool find_holders(scree_Division *division, scree_Arena *arena) {
  const scree_Problem *p = division->whole;
  const size_t blocks = (size_t)division->blocks, nc = (size_t)p->nc;
  division->holder_start = SCREE_TAKE(arena, size_t, blocks + 1);
  size_t *rank_start = SCREE_TAKE(arena, size_t, division->size + 1);
  int *by_rank = SCREE_TAKE_RAW(arena, int, nc), *last = SCREE_TAKE_RAW(arena, int, blocks);
  size_t *next = SCREE_TAKE_RAW(arena, size_t, blocks > nc ? blocks : nc + (size_t)division->size);
  if (!division->holder_start || !rank_start || !by_rank || !last || !next) return false;
  for (int c = 0; c < p->nc; ++c) ++rank_start[division->owner[c] + 1];
  for (int k = 0; k < division->size; ++k) rank_start[k + 1] += rank_start[k];
  for (int k = 0; k < division->size; ++k) next[k] = rank_start[k];
  for (int c = 0; c < p->nc; ++c) by_rank[next[division->owner[c]]++] = c;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) {
      for (size_t b = 0; b < blocks; ++b)
        division->holder_start[b + 1] += division->holder_start[b];
      division->holder = SCREE_TAKE_RAW(arena, int, division->holder_start[blocks]);
      if (!division->holder) return false;
      for (size_t b = 0; b < blocks; ++b) next[b] = division->holder_start[b];
    }
    for (size_t b = 0; b < blocks; ++b) last[b] = -1;
    for (size_t k = 0; k < nc; ++k) {
      const int c = by_rank[k], rank = division->owner[c], *list;
      int room[2];
      const size_t n = blocks_of(p, c, &list, room);
      for (size_t j = 0; j < n; ++j) {
        const int b = list[j];
        if (last[b] == rank) continue;
        last[b] = rank;
        if (pass == 0)
          ++division->holder_start[b + 1];
        else
          division->holder[next[b]++] = rank;
      }
    }
  }
  return true;
}

static bool holds(const scree_Division *division, int block, int rank) {
  for (size_t k = division->holder_start[block]; k < division->holder_start[block + 1]; ++k)
    if (division->holder[k] == rank) return true;
  return false;
}

/* Numbers on this rank: contacts ascending; bodies ascending; where W is assembled the blocks of
 * its own contacts first, as rows, then those of the others. */
static int number_blocks(scree_Division *division) {
  const scree_Problem *p = division->whole;
  const bool assembled = p->kind == SCREE_ASSEMBLED;
  int contacts = 0, blocks = 0;
  for (int c = 0; c < p->nc; ++c)
    division->local_contact[c] = division->owner[c] == division->rank ? contacts++ : -1;
  if (assembled) blocks = contacts;
  for (int b = 0; b < division->blocks; ++b) {
    division->local[b] = -1;
    if (assembled && division->local_contact[b] >= 0)
      division->local[b] = division->local_contact[b];
    else if (holds(division, b, division->rank))
      division->local[b] = blocks++;
  }
  division->halo.blocks = blocks;
  return contacts;
}

/* ---- the problem of the rank -------------------------------------------------------------------
 */

static void copy_bodies(const scree_Division *division, scree_Problem *to) {
  const scree_Problem *from = division->whole;
  const size_t d = (size_t)from->d, nb = (size_t)from->bodies.nb;
  for (int c = 0; c < from->nc; ++c) {
    if (division->local_contact[c] < 0) continue;
    const size_t k = (size_t)division->local_contact[c], g = (size_t)c;
    for (size_t side = 0; side < 2; ++side) {
      const int b = from->bodies.body[2 * g + side];
      to->bodies.body[2 * k + side] = b < 0 ? -1 : division->local[b];
    }
    if (from->bodies.B) {
      const size_t n = 2 * d * nb;
      memcpy(to->bodies.B + k * n, from->bodies.B + g * n, n * sizeof(double));
    } else {
      memcpy(to->bodies.normal + 3 * k, from->bodies.normal + 3 * g, 3 * sizeof(double));
      memcpy(to->bodies.arm + 4 * k, from->bodies.arm + 4 * g, 4 * sizeof(double));
    }
    if (from->bodies.C)
      memcpy(to->bodies.C + k * d * d, from->bodies.C + g * d * d, d * d * sizeof(double));
  }
}

/* Rows keep the order of their columns, so that products have the bits of the whole problem. */
static void copy_rows(const scree_Division *division, scree_Problem *to) {
  const scree_BlockRows *from = &division->whole->blocks;
  const size_t dd = (size_t)(to->d * to->d);
  size_t filled = 0;
  for (int c = 0, k = 0; c < division->whole->nc; ++c) {
    if (division->local_contact[c] < 0) continue;
    const size_t first = from->row[c], n = from->row[c + 1] - first;
    to->blocks.row[k++] = filled;
    for (size_t j = 0; j < n; ++j)
      to->blocks.col[filled + j] = division->local[from->col[first + j]];
    memcpy(to->blocks.x + filled * dd, from->x + first * dd, n * dd * sizeof(double));
    filled += n;
  }
  to->blocks.row[to->nc] = filled;
}

static void copy_laws(const scree_Division *division, scree_Problem *to, double *flow) {
  const scree_Problem *from = division->whole;
  const size_t d = (size_t)from->d;
  to->flow = from->flow;
  for (int c = 0; c < from->nc; ++c) {
    if (division->local_contact[c] < 0) continue;
    const size_t k = (size_t)division->local_contact[c], g = (size_t)c;
    memcpy(to->q + k * d, from->q + g * d, d * sizeof(double));
    to->mu[k] = from->mu[g];
    if (from->set) to->set[k] = from->set[g];
    if (from->set_a) to->set_a[k] = from->set_a[g];
    if (from->set_b) to->set_b[k] = from->set_b[g];
    if (flow) memcpy(flow + k * d * d, from->flow_blocks + g * d * d, d * d * sizeof(double));
  }
  to->flow_blocks = flow;
}

static scree_Status make_problem(scree_Division *division, int contacts, scree_Arena *arena,
                                 const scree_Log *log) {
  const scree_Problem *from = division->whole;
  const size_t dd = (size_t)(from->d * from->d);
  scree_Status status;
  double *flow = NULL;
  if (from->flow_blocks && !(flow = SCREE_TAKE_RAW(arena, double, (size_t)contacts *dd)))
    return scree_fail_memory(log, "the part of a rank");
  if (from->kind == SCREE_ASSEMBLED) {
    size_t n = 0;
    for (int c = 0; c < from->nc; ++c)
      if (division->local_contact[c] >= 0) n += from->blocks.row[c + 1] - from->blocks.row[c];
    status = scree_problem_create_assembled(&division->problem, from->d, contacts, n,
                                            from->set != NULL, log);
  } else {
    const scree_ProblemLayout layout = {.d = from->d,
                                        .contacts = contacts,
                                        .balls = !from->bodies.B,
                                        .bodies = division->halo.blocks,
                                        .nb = from->bodies.nb,
                                        .with_sets = from->set != NULL,
                                        .with_compliance = from->bodies.C != NULL};
    status = scree_problem_create(&division->problem, &layout, log);
  }
  if (status) return status;
  if (from->kind == SCREE_ASSEMBLED)
    copy_rows(division, &division->problem);
  else
    copy_bodies(division, &division->problem);
  copy_laws(division, &division->problem, flow);
  return SCREE_OK;
}

/* ---- the halo ----------------------------------------------------------------------------------
 */

/* Whether this rank sends block b to `other`, both of which hold it, in an exchange of all. */
static bool sends(const scree_Division *division, int b, int rank) {
  return division->halo.sums || division->owner[b] == rank;
}

/* Count, then list, the shared blocks of each neighbour, ascending in their numbers in the whole,
 * which both sides know. */
static bool list_shared(scree_Division *division, scree_Arena *arena) {
  scree_Halo *halo = &division->halo;
  int *index = SCREE_TAKE(arena, int, division->size); /* 1 + position of a rank in `neighbour` */
  if (!index) return false;
  for (int b = 0; b < division->blocks; ++b) {
    if (division->local[b] < 0) continue;
    const size_t first = division->holder_start[b], end = division->holder_start[b + 1];
    if (end - first > 1) ++halo->nshared;
    for (size_t k = first; k < end; ++k)
      if (division->holder[k] != division->rank) index[division->holder[k]] = 1;
  }
  for (int k = 0; k < division->size; ++k)
    if (index[k]) index[k] = ++halo->neighbours;
  const size_t n = (size_t)halo->neighbours;
  halo->neighbour = SCREE_TAKE_RAW(arena, int, n);
  halo->all.send_start = SCREE_TAKE(arena, size_t, n + 1);
  halo->all.receive_start = SCREE_TAKE(arena, size_t, n + 1);
  halo->shared = SCREE_TAKE_RAW(arena, int, halo->nshared);
  halo->source_start = SCREE_TAKE(arena, size_t, halo->nshared + 1);
  size_t *next = SCREE_TAKE(arena, size_t, 2 * n);
  if (!halo->neighbour || !halo->all.send_start || !halo->all.receive_start || !halo->shared ||
      !halo->source_start || !next)
    return false;
  for (int k = 0; k < division->size; ++k)
    if (index[k]) halo->neighbour[index[k] - 1] = k;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1) {
      for (size_t k = 0; k < n; ++k) {
        halo->all.send_start[k + 1] += halo->all.send_start[k];
        halo->all.receive_start[k + 1] += halo->all.receive_start[k];
        next[2 * k] = halo->all.send_start[k];
        next[2 * k + 1] = halo->all.receive_start[k];
      }
      halo->all.send = SCREE_TAKE_RAW(arena, int, halo->all.send_start[n]);
      halo->all.receive = SCREE_TAKE_RAW(arena, int, halo->all.receive_start[n]);
      halo->source = SCREE_TAKE_RAW(arena, int, halo->source_start[halo->nshared]);
      if (!halo->all.send || !halo->all.receive || !halo->source) return false;
    }
    int shared = 0;
    size_t filled = 0;
    for (int b = 0; b < division->blocks; ++b) {
      const size_t first = division->holder_start[b], end = division->holder_start[b + 1];
      if (division->local[b] < 0 || end - first < 2) continue;
      if (pass == 1) halo->shared[shared] = division->local[b];
      for (size_t k = first; k < end; ++k) {
        const int rank = division->holder[k];
        if (rank == division->rank) {
          if (pass == 1) halo->source[filled] = -1;
          ++filled;
          continue;
        }
        const int at = index[rank] - 1;
        if (sends(division, b, division->rank)) {
          if (pass == 0)
            ++halo->all.send_start[at + 1];
          else
            halo->all.send[next[2 * at]++] = division->local[b];
        }
        if (sends(division, b, rank)) {
          if (pass == 0) {
            ++halo->all.receive_start[at + 1];
          } else {
            halo->source[filled] = (int)next[2 * at + 1];
            halo->all.receive[next[2 * at + 1]++] = division->local[b];
          }
          ++filled;
        }
      }
      ++shared;
      if (pass == 0) halo->source_start[shared] = filled;
    }
  }
  return true;
}

static scree_Status make_halo(scree_Division *division, const scree_Ranks *ranks, int contacts,
                              scree_Arena *arena, const scree_Log *log) {
  const scree_Problem *p = division->whole;
  scree_Halo *halo = &division->halo;
  int *number = SCREE_TAKE_RAW(arena, int, contacts);
  if (!number || !list_shared(division, arena)) return scree_fail_memory(log, "the halo of a rank");
  for (int c = 0; c < p->nc; ++c)
    if (division->local_contact[c] >= 0) number[division->local_contact[c]] = c;
  halo->ranks = ranks;
  halo->number = number;
  halo->constraints = p->nc;
  halo->rows = (long long)p->nc * p->d;
  const size_t n = (size_t)halo->neighbours, size = (size_t)halo->size;
  /* a stage sends a block at most once to each neighbour, as an exchange of all does */
  size_t most = 0;
  for (int b = 0; b < division->blocks; ++b)
    if (division->local[b] >= 0)
      most += division->holder_start[b + 1] - division->holder_start[b] - 1;
  if (most < halo->all.send_start[n]) most = halo->all.send_start[n];
  if (most < halo->all.receive_start[n]) most = halo->all.receive_start[n];
  halo->out = SCREE_TAKE(arena, double, most *size);
  halo->in = SCREE_TAKE(arena, double, most *size);
  return halo->out && halo->in ? SCREE_OK : scree_fail_memory(log, "the halo of a rank");
}

scree_Status scree_division_create(const scree_Problem *whole, const scree_Ranks *ranks, int rank,
                                   int size, const int *part, scree_Arena *arena,
                                   scree_Division *division, const scree_Log *log) {
  const bool assembled = whole->kind == SCREE_ASSEMBLED;
  *division = (scree_Division){
      .whole = whole, .rank = rank, .size = size, .blocks = scree_division_blocks(whole)};
  if (whole->general.count || whole->vertices.count)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "a problem with %d joints or contacts of deformable bodies cannot be divided "
                      "between %d ranks, expected contacts between rigid bodies only",
                      whole->general.count, size);
  division->halo.size = assembled ? whole->d : whole->bodies.nb;
  division->halo.sums = !assembled;
  division->owner = SCREE_TAKE_RAW(arena, int, whole->nc);
  division->count = SCREE_TAKE(arena, int, size);
  division->state_count = SCREE_TAKE(arena, int, size);
  division->next = SCREE_TAKE(arena, size_t, size);
  division->local = SCREE_TAKE_RAW(arena, int, division->blocks);
  division->local_contact = SCREE_TAKE_RAW(arena, int, whole->nc);
  if (!division->owner || !division->count || !division->state_count || !division->next ||
      !division->local || !division->local_contact)
    return scree_fail_memory(log, "the part of a rank");
  for (int c = 0; c < whole->nc; ++c) {
    division->owner[c] = owner_of(whole, part, c);
    division->count[division->owner[c]] += whole->d;
  }
  if (!find_holders(division, arena)) return scree_fail_memory(log, "the part of a rank");
  for (int b = 0; !assembled && b < division->blocks; ++b)
    if (division->holder_start[b + 1] > division->holder_start[b])
      division->state_count[division->holder[division->holder_start[b]]] += whole->bodies.nb;
  const int contacts = number_blocks(division);
  scree_Status status = make_halo(division, ranks, contacts, arena, log);
  if (!status) status = make_problem(division, contacts, arena, log);
  return status;
}

/* ---- vectors -----------------------------------------------------------------------------------
 */

void scree_division_scatter(const scree_Division *division, const double *whole, double *mine) {
  const size_t d = (size_t)division->whole->d;
  for (int k = 0; k < division->problem.nc; ++k)
    memcpy(mine + (size_t)k * d, whole + (size_t)division->halo.number[k] * d, d * sizeof *mine);
}

/* Where the numbers of each rank start in an array of all. */
static void find_starts(const scree_Division *division, const int *count) {
  division->next[0] = 0;
  for (int k = 1; k < division->size; ++k)
    division->next[k] = division->next[k - 1] + (size_t)count[k - 1];
}

void scree_division_collect(const scree_Division *division, const double *mine, double *work,
                            double *whole) {
  const size_t d = (size_t)division->whole->d;
  scree_ranks_collect(division->halo.ranks, mine, division->count, work);
  find_starts(division, division->count);
  for (int c = 0; c < division->whole->nc; ++c) {
    size_t *next = &division->next[division->owner[c]];
    memcpy(whole + (size_t)c * d, work + *next, d * sizeof *whole);
    *next += d;
  }
}

/* A body is reported by the first rank that holds it. */
void scree_division_collect_state(const scree_Division *division, const double *mine, double *work,
                                  double *whole) {
  const size_t nb = (size_t)division->whole->bodies.nb, n = ((size_t)division->blocks + 1) * nb;
  double *reported = whole; /* before it is filled */
  size_t filled = 0;
  for (int b = 0; b < division->blocks; ++b) {
    const size_t first = division->holder_start[b];
    if (first == division->holder_start[b + 1] || division->holder[first] != division->rank)
      continue;
    memcpy(reported + filled, mine + (size_t)division->local[b] * nb, nb * sizeof *mine);
    filled += nb;
  }
  scree_ranks_collect(division->halo.ranks, reported, division->state_count, work);
  find_starts(division, division->state_count);
  for (size_t i = 0; i < n; ++i) whole[i] = 0.0;
  for (int b = 0; b < division->blocks; ++b) {
    const size_t first = division->holder_start[b];
    if (first == division->holder_start[b + 1]) continue;
    size_t *next = &division->next[division->holder[first]];
    memcpy(whole + (size_t)b * nb, work + *next, nb * sizeof *whole);
    *next += nb;
  }
}

double scree_division_imbalance(const scree_Division *division) {
  int most = 0;
  for (int k = 0; k < division->size; ++k)
    if (division->count[k] > most) most = division->count[k];
  return division->halo.rows ? (double)most * division->size / (double)division->halo.rows : 1.0;
}

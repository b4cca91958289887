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

/* The graph of the part. Rows keep the order of their columns, so that products have the bits of
 * the whole problem. */
static void copy_graph(const scree_Division *division, scree_Problem *to) {
  const scree_Problem *from = division->whole;
  size_t filled = 0;
  for (int c = 0; c < from->nc; ++c) {
    if (division->local_contact[c] < 0) continue;
    const size_t k = (size_t)division->local_contact[c];
    for (size_t side = 0; from->kind == SCREE_BODIES && side < 2; ++side) {
      const int b = from->bodies.body[2 * (size_t)c + side];
      to->bodies.body[2 * k + side] = b < 0 ? -1 : division->local[b];
    }
    if (from->kind == SCREE_BODIES) continue;
    to->blocks.row[k] = filled;
    for (size_t e = from->blocks.row[c]; e < from->blocks.row[c + 1]; ++e)
      to->blocks.col[filled++] = division->local[from->blocks.col[e]];
  }
  if (from->kind == SCREE_ASSEMBLED) to->blocks.row[to->nc] = filled;
}

static scree_Status make_problem(scree_Division *division, int contacts, scree_Arena *arena,
                                 const scree_Log *log) {
  const scree_Problem *from = division->whole;
  const scree_DivisionForm *form = &division->form;
  const size_t d = (size_t)from->d, dd = d * d;
  scree_Problem *to = &division->problem;
  scree_Status status;
  double *flow = NULL;
  if (form->flow_blocks && !(flow = SCREE_TAKE_RAW(arena, double, (size_t)contacts *dd)))
    return scree_fail_memory(log, "the part of a rank");
  if (from->kind == SCREE_ASSEMBLED) {
    size_t n = 0;
    for (int c = 0; c < from->nc; ++c)
      if (division->local_contact[c] >= 0) n += from->blocks.row[c + 1] - from->blocks.row[c];
    status = scree_problem_create_assembled(to, from->d, contacts, n, form->sets, log);
  } else {
    const scree_ProblemLayout layout = {.d = from->d,
                                        .contacts = contacts,
                                        .balls = form->balls,
                                        .bodies = division->halo.blocks,
                                        .nb = from->bodies.nb,
                                        .with_sets = form->sets,
                                        .with_compliance = form->compliance};
    status = scree_problem_create(to, &layout, log);
  }
  if (status) return status;
  to->flow = from->flow;
  to->flow_blocks = flow;
  copy_graph(division, to);
  return SCREE_OK;
}

/* ---- numbers -----------------------------------------------------------------------------------
 * Those of one contact, one after the other: its blocks, then q, mu, r, and what else there is. */

scree_DivisionForm scree_division_form(const scree_Problem *p) {
  return (scree_DivisionForm){.balls = p->kind == SCREE_BODIES && !p->bodies.B,
                              .compliance = p->kind == SCREE_BODIES && p->bodies.C,
                              .sets = p->set != NULL,
                              .flow_blocks = p->flow_blocks != NULL};
}

/* The numbers of contact c, copied between a problem and a record; `fill` writes the problem.
 * Returns their count. With null problems only counts. */
static size_t copy_contact(const scree_DivisionForm *form, const scree_Problem *p, size_t blocks,
                           scree_Problem *to, const scree_Problem *from, size_t c, double *record,
                           double *r) {
  const size_t d = (size_t)p->d, dd = d * d, nb = (size_t)p->bodies.nb;
  size_t at = 0;
#define COPY(array, count)                                                                         \
  do {                                                                                             \
    const size_t n_ = (count);                                                                     \
    if (to) memcpy((double *)to->array + c * n_, record + at, n_ * sizeof(double));                \
    if (from) memcpy(record + at, from->array + c * n_, n_ * sizeof(double));                      \
    at += n_;                                                                                      \
  } while (0)
  if (p->kind == SCREE_ASSEMBLED) {
    if (to) memcpy(to->blocks.x + to->blocks.row[c] * dd, record, blocks * dd * sizeof(double));
    if (from)
      memcpy(record, from->blocks.x + from->blocks.row[c] * dd, blocks * dd * sizeof(double));
    at += blocks * dd;
  } else if (form->balls) {
    COPY(bodies.normal, 3);
    COPY(bodies.arm, 4);
  } else {
    COPY(bodies.B, 2 * d * nb);
  }
  if (form->compliance) COPY(bodies.C, dd);
  if (form->flow_blocks) COPY(flow_blocks, dd);
  COPY(q, d);
  COPY(mu, 1);
  if (form->sets) {
    if (to) to->set[c] = (uint8_t)record[at];
    if (from) record[at] = from->set[c];
    ++at;
    if (to) to->set_a[c] = record[at];
    if (from) record[at] = from->set_a ? from->set_a[c] : 0.0;
    ++at;
    if (to) to->set_b[c] = record[at];
    if (from) record[at] = from->set_b ? from->set_b[c] : 0.0;
    ++at;
  }
#undef COPY
  if (to) memcpy(r + c * d, record + at, d * sizeof(double));
  if (from) memcpy(record + at, r + c * d, d * sizeof(double));
  return at + d;
}

/* Blocks of the row of contact c, where W is assembled. */
static size_t row_length(const scree_Problem *p, int c) {
  return p->kind == SCREE_ASSEMBLED ? p->blocks.row[c + 1] - p->blocks.row[c] : 0;
}

size_t scree_division_pack(const scree_Division *division, int rank, const double *r,
                           double *record) {
  const scree_Problem *p = division->whole;
  size_t at = 0;
  for (int c = 0; c < p->nc; ++c)
    if (division->owner[c] == rank)
      at += copy_contact(&division->form, p, row_length(p, c), NULL, record ? p : NULL, (size_t)c,
                         record ? record + at : NULL, (double *)r);
  return at;
}

void scree_division_unpack(scree_Division *division, double *record, double *r) {
  scree_Problem *p = &division->problem;
  size_t at = 0;
  for (int c = 0; c < p->nc; ++c)
    at += copy_contact(&division->form, p, row_length(p, c), p, NULL, (size_t)c, record + at, r);
}

/* ---- the halo ----------------------------------------------------------------------------------
 */

/* Whether this rank sends block b to `other`, both of which hold it, in an exchange of all. */
static bool sends(const scree_Division *division, int b, int rank) {
  return division->halo.sums || division->owner[b] == rank;
}

/* The ranks that hold a block of this one, ascending; index[rank] is 1 + the position of a rank
 * among them. */
static bool find_neighbours(scree_Division *division, int *index, scree_Arena *arena) {
  scree_Halo *halo = &division->halo;
  for (int b = 0; b < division->blocks; ++b) {
    if (division->local[b] < 0) continue;
    const size_t first = division->holder_start[b], end = division->holder_start[b + 1];
    if (end - first > 1) ++halo->nshared;
    for (size_t k = first; k < end; ++k)
      if (division->holder[k] != division->rank) index[division->holder[k]] = 1;
  }
  for (int k = 0; k < division->size; ++k)
    if (index[k]) index[k] = ++halo->neighbours;
  halo->neighbour = SCREE_TAKE_RAW(arena, int, halo->neighbours);
  if (!halo->neighbour) return false;
  for (int k = 0; k < division->size; ++k)
    if (index[k]) halo->neighbour[index[k] - 1] = k;
  return true;
}

/* The shared blocks, ascending in their numbers in the whole, which both sides know, and which of
 * them each neighbour gets and gives. Without `next` they are counted, with it listed: next[2 k]
 * and next[2 k + 1] are where the lists of neighbour k to send and to receive go on. */
static void visit_shared(scree_Division *division, const int *index, size_t *next) {
  scree_Halo *halo = &division->halo;
  int shared = 0;
  size_t filled = 0;
  for (int b = 0; b < division->blocks; ++b) {
    const size_t first = division->holder_start[b], end = division->holder_start[b + 1];
    if (division->local[b] < 0 || end - first < 2) continue;
    if (next) halo->shared[shared] = division->local[b];
    for (size_t k = first; k < end; ++k) {
      const int rank = division->holder[k];
      if (rank == division->rank) {
        if (next) halo->source[filled] = -1;
        ++filled;
        continue;
      }
      const int at = index[rank] - 1;
      if (sends(division, b, division->rank)) {
        if (next)
          halo->all.send[next[2 * at]++] = division->local[b];
        else
          ++halo->all.send_start[at + 1];
      }
      if (!sends(division, b, rank)) continue;
      if (next) {
        halo->source[filled] = (int)next[2 * at + 1];
        halo->all.receive[next[2 * at + 1]++] = division->local[b];
      } else {
        ++halo->all.receive_start[at + 1];
      }
      ++filled;
    }
    ++shared;
    if (!next) halo->source_start[shared] = filled;
  }
}

static bool list_shared(scree_Division *division, scree_Arena *arena) {
  scree_Halo *halo = &division->halo;
  int *index = SCREE_TAKE(arena, int, division->size);
  if (!index || !find_neighbours(division, index, arena)) return false;
  const size_t n = (size_t)halo->neighbours;
  halo->all.send_start = SCREE_TAKE(arena, size_t, n + 1);
  halo->all.receive_start = SCREE_TAKE(arena, size_t, n + 1);
  halo->shared = SCREE_TAKE_RAW(arena, int, halo->nshared);
  halo->source_start = SCREE_TAKE(arena, size_t, halo->nshared + 1);
  size_t *next = SCREE_TAKE(arena, size_t, 2 * n);
  if (!halo->all.send_start || !halo->all.receive_start || !halo->shared || !halo->source_start ||
      !next)
    return false;
  visit_shared(division, index, NULL);
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
  visit_shared(division, index, next);
  return true;
}

/* Room for the longest exchange: a stage sends a block at most once to each neighbour, as an
 * exchange of all does. */
static bool take_buffers(scree_Division *division, scree_Arena *arena) {
  scree_Halo *halo = &division->halo;
  const size_t n = (size_t)halo->neighbours, size = (size_t)halo->size;
  size_t most = 0;
  for (int b = 0; b < division->blocks; ++b)
    if (division->local[b] >= 0)
      most += division->holder_start[b + 1] - division->holder_start[b] - 1;
  if (most < halo->all.send_start[n]) most = halo->all.send_start[n];
  if (most < halo->all.receive_start[n]) most = halo->all.receive_start[n];
  halo->out = SCREE_TAKE(arena, double, most *size);
  halo->in = SCREE_TAKE(arena, double, most *size);
  return halo->out && halo->in;
}

/* Where the entries (n) of a list are in a buffer: (n + 1). */
static size_t *place_entries(const int *blocks, size_t n, const int *length, scree_Arena *arena) {
  size_t *at = SCREE_TAKE(arena, size_t, n + 1);
  for (size_t k = 0; at && k < n; ++k) at[k + 1] = at[k] + (size_t)length[blocks[k]];
  return at;
}

/* The same where blocks are of any size: bodies, the ground, which is no block, and groups. */
static bool take_places(scree_Division *division, scree_Arena *arena) {
  const scree_Problem *p = &division->problem;
  scree_Halo *halo = &division->halo;
  const size_t n = (size_t)halo->neighbours, nb = (size_t)p->bodies.nb;
  size_t *start = SCREE_TAKE_RAW(arena, size_t, division->blocks);
  int *length = SCREE_TAKE_RAW(arena, int, division->blocks);
  division->group_of = SCREE_TAKE_RAW(arena, int, p->vertices.count);
  if (!start || !length || !division->group_of) return false;
  for (int b = 0; b < p->bodies.nbodies; ++b) {
    start[b] = (size_t)b * nb;
    length[b] = p->bodies.nb;
  }
  size_t at = ((size_t)p->bodies.nbodies + 1) * nb;
  for (int k = 0; k < division->groups; ++k) {
    const int block = p->bodies.nbodies + k;
    start[block] = at;
    for (int v = division->group[k]; v < division->group[k + 1]; ++v) {
      at += (size_t)p->vertices.size[v];
      division->group_of[v] = k;
    }
    length[block] = (int)(at - start[block]);
  }
  halo->start = start;
  halo->length = length;
  halo->out_at = place_entries(halo->all.send, halo->all.send_start[n], length, arena);
  halo->in_at = place_entries(halo->all.receive, halo->all.receive_start[n], length, arena);
  if (!halo->out_at || !halo->in_at) return false;
  halo->out = SCREE_TAKE(arena, double, halo->out_at[halo->all.send_start[n]]);
  halo->in = SCREE_TAKE(arena, double, halo->in_at[halo->all.receive_start[n]]);
  return halo->out && halo->in;
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
  return take_buffers(division, arena) ? SCREE_OK : scree_fail_memory(log, "the halo of a rank");
}

scree_Status scree_division_create(const scree_Problem *whole, const scree_DivisionForm *form,
                                   const scree_Ranks *ranks, int rank, int size, const int *part,
                                   scree_Arena *arena, scree_Division *division,
                                   const scree_Log *log) {
  const bool assembled = whole->kind == SCREE_ASSEMBLED;
  *division = (scree_Division){.whole = whole,
                               .form = *form,
                               .rank = rank,
                               .size = size,
                               .blocks = scree_division_blocks(whole)};
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

/* What all ranks know of a part that one of them has posed. */
typedef struct PartSize {
  int constraints, rows, any_size;
} PartSize;

/* The numbers of the constraints of this rank among those of all. */
static void number_constraints(scree_Division *division, const PartSize *parts, int *number) {
  scree_Halo *halo = &division->halo;
  for (int k = 0; k < division->size; ++k) {
    if (k == division->rank) division->first = (int)halo->constraints;
    halo->constraints += parts[k].constraints;
    halo->rows += parts[k].rows;
    halo->any_size = halo->any_size || parts[k].any_size > 0;
    division->count[k] = parts[k].rows;
  }
  for (int c = 0; c < parts[division->rank].constraints; ++c) number[c] = division->first + c;
  halo->number = number;
}

scree_Status scree_division_create_own(const scree_Problem *part, const scree_Ranks *ranks,
                                       const scree_PartBlocks *blocks, scree_Arena *arena,
                                       scree_Division *division, const scree_Log *log) {
  const int rank = scree_ranks_rank(ranks), size = scree_ranks_size(ranks);
  *division = (scree_Division){.form = scree_division_form(part),
                               .own = true,
                               .rank = rank,
                               .size = size,
                               .problem = *part,
                               .blocks = part->bodies.nbodies + blocks->groups,
                               .holder_start = (size_t *)blocks->holder_start,
                               .holder = (int *)blocks->holder,
                               .global = blocks->number,
                               .groups = blocks->groups,
                               .group = blocks->group};
  scree_Halo *halo = &division->halo;
  halo->size = part->bodies.nb;
  halo->sums = true;
  halo->blocks = division->blocks;
  halo->ranks = ranks;
  const PartSize mine = {scree_problem_constraints(part), (int)scree_problem_rows(part),
                         part->general.count};
  division->count = SCREE_TAKE(arena, int, size);
  division->local = SCREE_TAKE_RAW(arena, int, division->blocks);
  PartSize *parts = SCREE_TAKE(arena, PartSize, size);
  int *number = SCREE_TAKE_RAW(arena, int, mine.constraints);
  const bool enough = division->count && division->local && number && parts;
  scree_Status status = enough ? SCREE_OK : scree_fail_memory(log, "the part of a rank");
  for (int b = 0; enough && b < division->blocks; ++b) division->local[b] = b;
  if (enough &&
      !(list_shared(division, arena) &&
        (division->groups ? take_places(division, arena) : take_buffers(division, arena))))
    status = scree_fail_memory(log, "the halo of a rank");
  status = scree_ranks_agree(ranks, status, log);
  if (status) return status;
  scree_ranks_gather_all(ranks, &mine, sizeof mine, parts);
  number_constraints(division, parts, number);
  return SCREE_OK;
}

/* ---- vectors -----------------------------------------------------------------------------------
 */

/* Where the numbers of each rank start in an array of all. */
static void find_starts(const scree_Division *division, const int *count) {
  division->next[0] = 0;
  for (int k = 1; k < division->size; ++k)
    division->next[k] = division->next[k - 1] + (size_t)count[k - 1];
}

void scree_division_collect(const scree_Division *division, const double *mine, double *work,
                            double *whole) {
  const size_t d = (size_t)division->problem.d;
  const bool own = division->own; /* contacts of the whole are in the order of the ranks */
  scree_ranks_collect(division->halo.ranks, mine, division->count, own ? whole : work);
  if (division->rank > 0 || own) return;
  find_starts(division, division->count);
  for (int c = 0; c < division->whole->nc; ++c) {
    size_t *next = &division->next[division->owner[c]];
    memcpy(whole + (size_t)c * d, work + *next, d * sizeof *whole);
    *next += d;
  }
}

void scree_division_scatter(const scree_Division *division, const double *whole, double *work,
                            double *mine) {
  const size_t d = (size_t)division->problem.d;
  if (division->own) {
    scree_ranks_scatter(division->halo.ranks, whole, division->count, mine);
    return;
  }
  find_starts(division, division->count);
  for (int c = 0; division->rank == 0 && c < division->whole->nc; ++c) {
    size_t *next = &division->next[division->owner[c]];
    memcpy(work + *next, whole + (size_t)c * d, d * sizeof *whole);
    *next += d;
  }
  scree_ranks_scatter(division->halo.ranks, work, division->count, mine);
}

/* A body is reported by the first rank that holds it. */
void scree_division_collect_state(const scree_Division *division, const double *mine,
                                  double *reported, double *work, double *whole) {
  const size_t nb = (size_t)division->whole->bodies.nb;
  const size_t n = ((size_t)division->blocks + 1) * nb;
  size_t filled = 0;
  for (int b = 0; b < division->blocks; ++b) {
    const size_t first = division->holder_start[b];
    if (first == division->holder_start[b + 1] || division->holder[first] != division->rank)
      continue;
    memcpy(reported + filled, mine + (size_t)division->local[b] * nb, nb * sizeof *mine);
    filled += nb;
  }
  scree_ranks_collect(division->halo.ranks, reported, division->state_count, work);
  if (division->rank > 0) return;
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

/* Preparing and applying W (see operator.h).
 *
 * In parallel loops each thread processes whole rows (assembled: contacts; body form: bodies for
 * B^T r, contacts for B y), and every row is summed in its own fixed order. So there are no
 * reductions between threads and the bits do not depend on their number. */
#include "problem/operator.h"

#include "core/log.h"
#include "problem/general.h"
#include "problem/graph.h"

#include <math.h>

/* Below this many contacts a parallel region costs more than it saves. */
enum { PARALLEL_CONTACTS = 2000 };

/* W_cc of constraint k of any size; returns its trace. */
static double fill_general_diagonal(scree_Operator *W, int k) {
  const scree_Problem *p = W->problem;
  const scree_GeneralRows *g = &p->general;
  const size_t rows = g->row[k + 1] - g->row[k];
  double *D = W->general_diagonal + W->square[k], trace = 0.0;
  for (size_t i = 0; i < rows * rows; ++i) D[i] = g->C ? g->C[W->square[k] + i] : 0.0;
  for (size_t e = g->entry[k]; e < g->entry[k + 1]; ++e) {
    if (scree_is_coupled(W, g->vertex[e])) continue;
    const size_t size = (size_t)scree_vertex_size(p, g->vertex[e]);
    const double *B = g->B + g->block[e];
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < rows; ++j)
        for (size_t a = 0; a < size; ++a) D[i * rows + j] += B[i * size + a] * B[j * size + a];
  }
  if (W->coupling) scree_coupling_diagonal(W, k, D);
  for (size_t i = 0; i < rows; ++i) trace += D[i * rows + i];
  return trace;
}

/* D = B B^T of both bodies (+ C). Without C the two halves are the same bits. */
SCREE_INLINE void multiply_blocks(size_t d, size_t nb, const double *B, const double *C,
                                  double *D) {
  for (size_t i = 0; i < d; ++i)
    for (size_t j = C ? 0 : i; j < d; ++j) {
      double sum = C ? C[i * d + j] : 0.0;
      for (size_t side = 0; side < 2; ++side)
        for (size_t a = 0; a < nb; ++a)
          sum += B[(side * d + i) * nb + a] * B[(side * d + j) * nb + a];
      D[i * d + j] = sum;
      if (!C) D[j * d + i] = sum;
    }
}

static void multiply(size_t d, size_t nb, const double *B, const double *C, double *D) {
  if (d == 3 && nb == 6)
    multiply_blocks(3, 6, B, C, D);
  else if (d == 2 && nb == 3)
    multiply_blocks(2, 3, B, C, D);
  else
    multiply_blocks(d, nb, B, C, D);
}

/* The block of contact c, stored if W stores them; its entries on the diagonal go to `own` (d). */
static void fill_block(scree_Operator *W, int c, double *own) {
  const scree_Problem *p = W->problem;
  const size_t d = (size_t)p->d, dd = d * d;
  double room[9], *D = W->diagonal ? W->diagonal + (size_t)c * dd : room;
  if (!W->diagonal) {
    scree_contact_diagonal(W, p->d, c, room);
  } else if (p->kind == SCREE_ASSEMBLED) {
    const size_t start = p->blocks.row[c], n = p->blocks.row[c + 1] - start;
    size_t k = 0;
    while (p->blocks.col[start + k] != c) ++k;
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < d; ++j) D[i * d + j] = p->blocks.x[start * dd + i * d * n + k * d + j];
  } else {
    double written[SCREE_BALL_ROOM];
    multiply(d, (size_t)p->bodies.nb, scree_contact_blocks(p, c, written),
             p->bodies.C ? p->bodies.C + (size_t)c * dd : NULL, D);
  }
  for (size_t i = 0; i < d; ++i) own[i] = D[i * d + i];
}

/* Contacts that threads compute before their entries are added up, in the order of contacts; below
 * the second number one thread does all. */
enum { BLOCKS = 4096, PARALLEL_BLOCKS = 2048 };

static void fill_diagonal(scree_Operator *W) {
  const scree_Problem *p = W->problem;
  double trace = 0.0, entries[3 * BLOCKS];
  for (int start = 0; start < p->nc; start += BLOCKS) {
    const int n = p->nc - start < BLOCKS ? p->nc - start : BLOCKS;
    if (W->threads == 1 || n < PARALLEL_BLOCKS)
      for (int k = 0; k < n; ++k) fill_block(W, start + k, entries + k * p->d);
    else
#pragma omp parallel for schedule(static) num_threads(W->threads)
      for (int k = 0; k < n; ++k) fill_block(W, start + k, entries + k * p->d);
    for (int k = 0; k < n * p->d; ++k) trace += entries[k];
  }
  for (int k = 0; k < p->general.count; ++k) trace += fill_general_diagonal(W, k);
  const double rows = scree_all_rows(W);
  trace = scree_ranks_sum(scree_ranks_of(W), trace);
  const double mean = rows > 0.0 ? trace / rows : 0.0;
  W->mean_diagonal = mean > 0.0 ? mean : 1.0;
}

/* Offsets of constraints of any size and further vertices in arrays of blocks and in y. */
static scree_Status place_general(scree_Operator *W, scree_Arena *arena, const scree_Log *log) {
  const scree_Problem *p = W->problem;
  const int vertices = p->vertices.count, count = p->general.count;
  if (vertices) {
    W->offset = SCREE_TAKE_RAW(arena, size_t, vertices + 1);
    if (!W->offset) return scree_fail_memory(log, "the vertices of W");
    W->offset[0] = W->state_size;
    for (int k = 0; k < vertices; ++k)
      W->offset[k + 1] = W->offset[k] + (size_t)p->vertices.size[k];
    W->state_size = W->offset[vertices];
  }
  if (count) {
    W->square = SCREE_TAKE(arena, size_t, count + 1);
    if (!W->square) return scree_fail_memory(log, "the constraints of W");
    for (int k = 0; k < count; ++k) {
      const size_t rows = p->general.row[k + 1] - p->general.row[k];
      W->square[k + 1] = W->square[k] + rows * rows;
    }
    W->squares += W->square[count];
    W->general_diagonal = SCREE_TAKE_RAW(arena, double, W->square[count]);
    if (!W->general_diagonal) return scree_fail_memory(log, "the diagonal blocks of W");
  }
  return vertices ? scree_coupling_create(W, arena, log, &W->coupling) : SCREE_OK;
}

static bool has_plain_cones(const scree_Problem *p) {
  for (int c = 0; p->set && c < p->nc; ++c)
    if (p->set[c] != SCREE_SET_CONE) return false;
  return true;
}

/* On several ranks all of them get here or none does: memory is taken before, and a rank that has
 * none tells the others. */
static scree_Status allocate_all(scree_Operator *W, const size_t *row, const int *entry,
                                 scree_Arena *arena, const scree_Log *log) {
  const scree_Problem *problem = W->problem;
  const size_t nc = (size_t)problem->nc, d = (size_t)problem->d;
  const bool balls = problem->kind == SCREE_BODIES && !problem->bodies.B;
  if (!balls) {
    if (!(W->diagonal = SCREE_TAKE_RAW(arena, double, nc *d *d)))
      return scree_fail_memory(log, "the diagonal blocks of W");
  }
  if (scree_is_divided(W) && problem->kind == SCREE_ASSEMBLED)
    W->state_size = (size_t)W->halo->blocks * d;
  if (problem->kind != SCREE_BODIES) return SCREE_OK;
  W->state_size = ((size_t)problem->bodies.nbodies + 1) * (size_t)problem->bodies.nb;
  W->body_row = row;
  W->body_entry = entry;
  return place_general(W, arena, log);
}

scree_Status scree_operator_init(const scree_Problem *problem, const scree_Halo *halo, int threads,
                                 const size_t *row, const int *entry, scree_Arena *arena,
                                 const scree_Log *log, scree_Operator *W) {
  const size_t nc = (size_t)problem->nc, d = (size_t)problem->d;
  *W = (scree_Operator){.problem = problem,
                        .halo = halo,
                        .threads = threads < 1 ? 1 : threads,
                        .constraints = scree_problem_constraints(problem),
                        .rows = scree_problem_rows(problem),
                        .squares = nc * d * d,
                        .plain_cones = has_plain_cones(problem)};
  const scree_Status status =
      scree_ranks_agree(scree_ranks_of(W), allocate_all(W, row, entry, arena, log), log);
  if (status) return status;
  fill_diagonal(W);
  return SCREE_OK;
}

scree_Status scree_operator_create(const scree_Problem *problem, int threads, const scree_Log *log,
                                   scree_Operator *W) {
  return scree_operator_create_divided(problem, NULL, threads, log, W);
}

scree_Status scree_operator_create_divided(const scree_Problem *problem, const scree_Halo *halo,
                                           int threads, const scree_Log *log, scree_Operator *W) {
  scree_Arena own = {0};
  size_t *row = NULL;
  int *entry = NULL;
  scree_Status status = SCREE_OK;
  if (problem->kind == SCREE_BODIES) status = scree_body_graph(problem, &own, &row, &entry, log);
  if (halo) status = scree_ranks_agree(halo->ranks, status, log);
  if (!status) status = scree_operator_init(problem, halo, threads, row, entry, &own, log, W);
  if (status) {
    scree_arena_fini(&own);
    *W = (scree_Operator){0};
  } else {
    W->own = own;
  }
  return status;
}

void scree_operator_destroy(scree_Operator *W) {
  scree_arena_fini(&W->own);
  *W = (scree_Operator){0};
}

/* Entries of scree_operator_state for bodies first .. last-1: y_b = sum over its contacts B^T r. */
SCREE_INLINE void gather_bodies(const scree_Operator *W, bool balls, int d, int nb, int first,
                                int last, const double *r, double *y) {
  const scree_BodyRows *rows = &W->problem->bodies;
  for (int b = first; b < last; ++b) {
    double *yb = y + (size_t)b * (size_t)nb;
    for (int j = 0; j < nb; ++j) yb[j] = 0.0;
    for (size_t e = W->body_row[b]; e < W->body_row[b + 1]; ++e) {
      const size_t entry = (size_t)W->body_entry[e], c = entry / 2;
      const double *re = r + c * (size_t)d;
      if (balls) {
        double f[3], m[3];
        scree_ball_push(d, rows->normal + 3 * c, re, f, m);
        scree_ball_move(d, rows->arm + 2 * entry, f, m, yb);
        continue;
      }
      const double *Be = rows->B + entry * (size_t)(d * nb);
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < nb; ++j) yb[j] += Be[i * nb + j] * re[i];
    }
  }
}

/* The same for rigid bodies in space: the six sums stay in registers, in the same order. */
SCREE_INLINE void gather_rigid_3d(const scree_Operator *W, int first, int last, const double *r,
                                  double *y) {
  const double *B = W->problem->bodies.B;
  for (int b = first; b < last; ++b) {
    scree_Lane wide = {0.0, 0.0, 0.0, 0.0};
    scree_Pair narrow = {0.0, 0.0};
    for (size_t e = W->body_row[b]; e < W->body_row[b + 1]; ++e) {
      const size_t entry = (size_t)W->body_entry[e];
      const double *re = r + entry / 2 * 3, *Be = B + entry * 18;
      for (int i = 0; i < 3; ++i) {
        wide += scree_lane_load(Be + 6 * i) * re[i];
        narrow += *(const scree_PairAnywhere *)(Be + 6 * i + 4) * re[i];
      }
    }
    double *yb = y + (size_t)b * 6;
    *scree_lane_at(yb) = wide;
    *(scree_PairAnywhere *)(yb + 4) = narrow;
  }
}

/* The arms s, a of the four entries e[0] .. e[3] with the forces f and moments m of their contacts,
 * as in scree_ball_push and scree_ball_move: row k of `wide` and `narrow` is what entry k adds. */
SCREE_INLINE void push_four(const scree_Operator *W, const size_t *e, const double *r,
                            scree_Lane *wide, scree_Pair *narrow) {
  const scree_BodyRows *rows = &W->problem->bodies;
  scree_Lane n[4], x[4], t1[3], t2[3], m[3]; /* the fourth of n is s, that of x is a */
  for (int k = 0; k < SCREE_LANES; ++k) {
    const double *normal = rows->normal + 3 * (e[k] / 2), *rk = r + 3 * (e[k] / 2);
    const double *arm = rows->arm + 2 * e[k];
    n[k] = (scree_Lane){normal[0], normal[1], normal[2], arm[0]};
    x[k] = (scree_Lane){rk[0], rk[1], rk[2], arm[1]};
  }
  scree_lane_transpose(n, n + 1, n + 2, n + 3);
  scree_lane_transpose(x, x + 1, x + 2, x + 3);
  scree_ball_tangents(n, t1, t2);
  for (int k = 0; k < 3; ++k) {
    wide[k] = n[3] * (n[k] * x[0] + t1[k] * x[1] + t2[k] * x[2]);
    m[k] = x[3] * (t1[k] * x[2] - t2[k] * x[1]);
  }
  wide[3] = m[0];
  scree_lane_transpose(wide, wide + 1, wide + 2, wide + 3);
  for (int k = 0; k < SCREE_LANES; ++k) narrow[k] = (scree_Pair){m[1][k], m[2][k]};
}

enum { PUSHES = 128 }; /* entries whose pushes are computed before they are added up */

/* The same for spheres, four entries at a time whatever their bodies, added up in the same order.
 * Four entries of each body by itself gain half as much: their number is hard to predict. */
SCREE_INLINE void gather_spheres(const scree_Operator *W, int first, int last, const double *r,
                                 double *y) {
  const scree_Lane zero = {0.0, 0.0, 0.0, 0.0};
  const scree_Pair none = {0.0, 0.0};
  scree_Lane wide[PUSHES], v = zero;
  scree_Pair narrow[PUSHES], w = none;
  const size_t end = W->body_row[last];
  int b = first;
  for (size_t e = W->body_row[first], next; b < last; e = next) {
    next = end - e < PUSHES ? end : e + PUSHES;
    for (size_t k = e; k < next; k += SCREE_LANES) {
      size_t entry[SCREE_LANES];
      for (size_t i = 0; i < SCREE_LANES; ++i)
        entry[i] = (size_t)W->body_entry[k + i < next ? k + i : k];
      push_four(W, entry, r, wide + (k - e), narrow + (k - e));
    }
    for (size_t k = e; b < last; ++b) {
      const size_t stop = W->body_row[b + 1] < next ? W->body_row[b + 1] : next;
      for (; k < stop; ++k) {
        v += wide[k - e];
        w += narrow[k - e];
      }
      if (W->body_row[b + 1] > next) break; /* it has more */
      *scree_lane_at(y + (size_t)b * 6) = v;
      *(scree_PairAnywhere *)(y + (size_t)b * 6 + 4) = w;
      v = zero;
      w = none;
    }
  }
}

SCREE_CLONES static void gather_range(const scree_Operator *W, int first, int last, const double *r,
                                      double *y) {
  const int d = W->problem->d, nb = W->problem->bodies.nb;
  const bool balls = !W->problem->bodies.B;
  if (balls && d == 3)
    gather_spheres(W, first, last, r, y);
  else if (balls)
    gather_bodies(W, true, 2, 3, first, last, r, y);
  else if (d == 3 && nb == 6)
    gather_rigid_3d(W, first, last, r, y);
  else if (d == 2 && nb == 3)
    gather_bodies(W, false, 2, 3, first, last, r, y);
  else
    gather_bodies(W, false, d, nb, first, last, r, y);
}

/* The part of `total` of chunk k of n, which does not depend on the number of threads. */
static int chunk_start(int total, int k, int n) {
  return (int)((long long)total * k / n);
}

void scree_operator_gather(const scree_Operator *W, const double *r, double *y) {
  const scree_Problem *p = W->problem;
  if (p->kind == SCREE_ASSEMBLED) return;
  const int n = p->nc < PARALLEL_CONTACTS ? 1 : W->threads;
  if (n == 1) /* no team: even a team of one thread costs more than a small product */
    gather_range(W, 0, p->bodies.nbodies, r, y);
  else
#pragma omp parallel for num_threads(n) schedule(static)
    for (int k = 0; k < n; ++k)
      gather_range(W, chunk_start(p->bodies.nbodies, k, n),
                   chunk_start(p->bodies.nbodies, k + 1, n), r, y);
  /* the ground and the further vertices */
  for (size_t j = (size_t)p->bodies.nbodies * (size_t)p->bodies.nb; j < W->state_size; ++j)
    y[j] = 0.0;
  const scree_VertexState state = scree_vertex_state(W, y);
  for (int k = 0; k < p->general.count; ++k)
    scree_general_push(W, k, r + p->general.row[k], &state);
}

void scree_operator_inertia(const scree_Operator *W, const double *y, double *out) {
  for (size_t j = 0; j < W->state_size; ++j) out[j] = y[j];
  if (W->coupling) scree_coupling_multiply(W, y, out);
}

void scree_operator_load(const scree_Operator *W, const double *r, double *y) {
  scree_operator_gather(W, r, y);
  if (scree_is_divided(W)) scree_halo_complete(W->halo, y, (size_t)W->halo->size);
}

void scree_operator_state(const scree_Operator *W, const double *r, double *y) {
  if (scree_is_divided(W) && W->problem->kind == SCREE_ASSEMBLED)
    scree_vector_copy(W->rows, r, y, W->threads); /* it has no other part */
  scree_operator_load(W, r, y);
  if (W->coupling) scree_coupling_solve(W, y);
}

/* `balls` is a literal like the others: whether B is null is the same for all contacts, which the
 * compiler cannot know. */
SCREE_INLINE void velocity_contacts(const scree_Operator *W, scree_OperatorKind kind, bool balls,
                                    int d, int nb, int first, int last, const double *r,
                                    const double *y, const double *q, double *u) {
  for (int c = first; c < last; ++c) {
    if (kind == SCREE_BODIES && balls != !W->problem->bodies.B) __builtin_unreachable();
    scree_contact_velocity(W, kind, d, nb, c, r, y, q, u + (size_t)c * (size_t)d);
  }
}

SCREE_CLONES static void velocity_range(const scree_Operator *W, int first, int last,
                                        const double *r, const double *y, const double *q,
                                        double *u) {
  const int d = W->problem->d, nb = W->problem->bodies.nb;
  const bool assembled = W->problem->kind == SCREE_ASSEMBLED;
  const bool balls = !W->problem->bodies.B;
  if (assembled && d == 3)
    velocity_contacts(W, SCREE_ASSEMBLED, false, 3, 0, first, last, r, y, q, u);
  else if (assembled)
    velocity_contacts(W, SCREE_ASSEMBLED, false, 2, 0, first, last, r, y, q, u);
  else if (balls && d == 3)
    velocity_contacts(W, SCREE_BODIES, true, 3, 6, first, last, r, y, q, u);
  else if (balls)
    velocity_contacts(W, SCREE_BODIES, true, 2, 3, first, last, r, y, q, u);
  else if (d == 3 && nb == 6)
    velocity_contacts(W, SCREE_BODIES, false, 3, 6, first, last, r, y, q, u);
  else if (d == 2 && nb == 3)
    velocity_contacts(W, SCREE_BODIES, false, 2, 3, first, last, r, y, q, u);
  else
    velocity_contacts(W, SCREE_BODIES, false, d, nb, first, last, r, y, q, u);
}

/* The rows of the constraints of any size; not inlined, since most problems have none. */
__attribute__((noinline)) static void velocity_generals(const scree_Operator *W, const double *r,
                                                        const double *y, const double *q,
                                                        double *u) {
  const scree_Problem *p = W->problem;
  const scree_VertexState state = scree_vertex_state(W, (double *)y);
  for (int k = 0; k < p->general.count; ++k) {
    const size_t at = p->general.row[k], end = p->general.row[k + 1];
    for (size_t i = at; i < end; ++i) u[i] = q ? q[i] : 0.0;
    scree_general_motion(W, k, &state, u + at);
    if (r) scree_general_comply(W, k, r + at, u + at);
  }
}

void scree_operator_velocity(const scree_Operator *W, const double *r, const double *y,
                             const double *q, double *u) {
  const scree_Problem *p = W->problem;
  const int n = p->nc < PARALLEL_CONTACTS ? 1 : W->threads;
  if (n == 1)
    velocity_range(W, 0, p->nc, r, y, q, u);
  else
#pragma omp parallel for num_threads(n) schedule(static)
    for (int k = 0; k < n; ++k)
      velocity_range(W, chunk_start(p->nc, k, n), chunk_start(p->nc, k + 1, n), r, y, q, u);
  if (p->general.count) velocity_generals(W, r, y, q, u);
}

void scree_operator_apply(const scree_Operator *W, const double *r, const double *q, double *y,
                          double *u) {
  scree_operator_state(W, r, y);
  scree_operator_velocity(W, r, y, q, u);
}

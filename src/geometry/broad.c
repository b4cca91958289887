/* Broad phase by a hierarchy of hashed grids (see broad.h).
 *
 * Levels: with e the largest side of a body's fat bounds and e_max the largest of all, the body is
 * on level floor(log2(e_max / e)), whose cells are e_max / 2^level wide: at least as wide as the
 * body, less than twice. A body is stored in the one cell that contains the lower corner of its
 * bounds. The bodies j of a level that can overlap the bounds of i have their lower corners between
 * lower_i - cell and upper_i: at most 3 cells along each axis when j's level is that of i or
 * coarser. So every body queries its own level and the coarser ones, each pair is found once, and
 * the work is linear in the number of bodies for any ratio of sizes, unless very many bodies share
 * a cell. Cells are found by a hash of their coordinates, filled by a counting sort: space is
 * unbounded, memory is linear. Unbounded bodies are kept in a separate list and tested against all.
 *
 * No pair is missed by rounding: the cell of a coordinate is a monotone function of it, and the
 * lower end of the queried range is moved down by more than the rounding of the differences.
 *
 * The skin of a body is K times its own motion per update since the last build, between 1% and 25%
 * of its size. K grows as long as the list holds few pairs more than those that really overlap, and
 * shrinks when it holds too many: K depends on counts, not on clocks, so runs are reproducible.
 *
 * More than 600 lines: the list of pairs, its grids and its skins are one data structure. */
#include "geometry/broad.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"

#include <assert.h>
#include <float.h>
#include <string.h>

enum { LEVELS = 32 };
enum { POLL_BODIES = 8192 };     /* bodies processed between two polls, about 0.01 s */
enum { PARALLEL_BODIES = 4096 }; /* below, a team of threads costs more than it saves */

typedef struct Pair {
  int32_t i, j; /* i < j */
} Pair;

typedef struct Fat {
  double lower[3], upper[3];
} Fat;

typedef struct Entry {
  Fat fat;
  int32_t cell[3], level, body;
} Entry;

struct scree_BroadPhase {
  bool valid, skin_on, with_radii;
  int n;
  double distance, factor;       /* factor: K above */
  size_t rebuilds, updates, age; /* age: updates since the last build */
  /* per body, [body_capacity] */
  size_t body_capacity;
  Fat *fat;
  double *radius; /* of the ball around the centre of `fat`, with distance and skin */
  uint32_t *row;  /* [n + 1] range of a body in `partner`, when there are pairs */
  size_t pair_count, pair_capacity;
  int32_t *partner;
  int threads;
  scree_Poll *poll;  /* or null */
  scree_Arena *work; /* the caller's, or null: `own` */
  scree_Arena own;
};

/* Temporary data of a build, allocated from the arena and released at its end. */
typedef struct Scratch {
  scree_Arena *work;
  double *skin;   /* [n] */
  Entry *located; /* [n] bounded bodies in their own order */
  Entry *entries; /* [n] the same, sorted by bucket */
  int32_t *apart; /* [n] unbounded bodies */
  uint32_t *bucket_of;
  uint32_t *next;   /* [n + 1] counters of the sort of the pairs */
  uint32_t *bucket; /* [buckets + 1] first entry of each bucket */
  Pair *half;       /* pairs, sorted by j */
  int sinks;
  struct Sink *sink; /* [sinks] pairs in the order found, by each thread */
} Scratch;

scree_BroadPhase *scree_broad_create(void) {
  scree_BroadPhase *b = SCREE_ALLOC(scree_BroadPhase, 1);
  if (!b) return NULL;
  b->skin_on = true;
  b->factor = 8;
  b->threads = 1;
  return b;
}

void scree_broad_destroy(scree_BroadPhase *b) {
  if (!b) return;
  scree_free(b->fat);
  scree_free(b->radius);
  scree_free(b->row);
  scree_free(b->partner);
  scree_arena_fini(&b->own);
  scree_free(b);
}

scree_Pairs scree_broad_pairs(const scree_BroadPhase *b) {
  return (scree_Pairs){
      .n = b->pair_count ? b->n : 0, .count = b->pair_count, .row = b->row, .partner = b->partner};
}

void scree_broad_invalidate(scree_BroadPhase *b) {
  b->valid = false;
  b->n = 0;
}

size_t scree_broad_memory(const scree_BroadPhase *b) {
  return sizeof *b + b->body_capacity * (sizeof *b->fat + sizeof *b->radius + sizeof *b->row) +
         b->pair_capacity * sizeof *b->partner;
}

void scree_broad_set_poll(scree_BroadPhase *b, scree_Poll *poll) {
  b->poll = poll;
}

void scree_broad_set_work(scree_BroadPhase *b, scree_Arena *work) {
  b->work = work;
}

void scree_broad_set_threads(scree_BroadPhase *b, int threads) {
  b->threads = threads;
}

void scree_broad_set_skin(scree_BroadPhase *b, bool on) {
  b->skin_on = on;
  b->valid = false;
}

void scree_broad_stats(const scree_BroadPhase *b, size_t *rebuilds, size_t *updates) {
  *rebuilds = b->rebuilds;
  *updates = b->updates;
}

/* ---- whether the list is still valid ---- */

static scree_Vec3 middle(const scree_Aabb *box) {
  return scree_scale(0.5, scree_add(box->lower, box->upper));
}

static scree_Vec3 fat_middle(const Fat *f) {
  return scree_vec3(0.5 * (f->lower[0] + f->upper[0]), 0.5 * (f->lower[1] + f->upper[1]),
                    0.5 * (f->lower[2] + f->upper[2]));
}

/* Unbounded bodies are kept in a separate list. */
static bool fat_bounded(const Fat *f) {
  bool finite = true;
  for (int k = 0; k < 3; k++) finite = finite && isfinite(f->lower[k]) && isfinite(f->upper[k]);
  return finite;
}

static bool inside(const scree_Aabb *box, double distance, const Fat *fat) {
  return (box->lower.x - distance >= fat->lower[0]) & (box->lower.y - distance >= fat->lower[1]) &
         (box->lower.z - distance >= fat->lower[2]) & (box->upper.x + distance <= fat->upper[0]) &
         (box->upper.y + distance <= fat->upper[1]) & (box->upper.z + distance <= fat->upper[2]);
}

/* Whether bodies first .. last-1 are inside of their skins. */
static bool are_inside(const scree_BroadPhase *b, int first, int last, const scree_Aabb *aabbs,
                       const double *radii, double distance) {
  for (int i = first; i < last; i++)
    if (!inside(&aabbs[i], distance, &b->fat[i])) return false;
  if (!radii) return true;
  for (int i = first; i < last; i++) {
    if (!(b->radius[i] < INFINITY)) continue;
    double moved2 = scree_norm2(scree_sub(middle(&aabbs[i]), fat_middle(&b->fat[i])));
    double room = b->radius[i] - radii[i] - distance;
    if (!(room >= 0 && moved2 <= room * room)) return false;
  }
  return true;
}

/* Start of part k of n of `total`. */
static int part(int total, int k, int n) {
  return (int)((long long)total * k / n);
}

static bool still_good(const scree_BroadPhase *b, int n, const scree_Aabb *aabbs,
                       const double *radii, double distance) {
  const int parts = n < PARALLEL_BODIES ? 1 : b->threads;
  int outside = 0;
  if (!b->valid || n != b->n || distance != b->distance || (radii != NULL) != b->with_radii)
    return false;
  if (parts == 1) return are_inside(b, 0, n, aabbs, radii, distance);
#pragma omp parallel for schedule(static) num_threads(parts) reduction(+ : outside)
  for (int k = 0; k < parts; k++)
    outside += !are_inside(b, part(n, k, parts), part(n, k + 1, parts), aabbs, radii, distance);
  return outside == 0;
}

/* ---- memory ---- */

static bool resize(void **array, size_t count, size_t size) {
  scree_free(*array);
  *array = scree_alloc(count, size);
  return *array != NULL;
}

#define RESIZE(field, count) resize((void **)&b->field, count, sizeof *b->field)

static bool reserve_bodies(scree_BroadPhase *b, size_t n) {
  if (n <= b->body_capacity && b->fat) return true;
  const size_t capacity = b->fat ? n + n / 8 : n; /* spare room if it has grown before */
  b->body_capacity = 0;
  b->n = 0; /* the motion history is lost */
  if (!RESIZE(fat, capacity) || !RESIZE(radius, capacity) || !RESIZE(row, capacity + 1))
    return false;
  b->body_capacity = capacity;
  return true;
}

static size_t bucket_count(size_t n) {
  size_t buckets = 16;
  while (buckets < 2 * n) buckets *= 2;
  return buckets;
}

/* Pairs that one thread has found. */
typedef struct Sink {
  const scree_BroadPhase *b;
  const Scratch *t;
  const unsigned char *fixed;
  size_t count, capacity;
  Pair *raw;
  size_t exact; /* of these, those that overlap without skins */
  bool failed;
} Sink;

static bool scratch_init(Scratch *t, scree_Arena *work, size_t n, size_t pairs, int sinks) {
  *t = (Scratch){.work = work,
                 .skin = SCREE_TAKE_RAW(work, double, n),
                 .located = SCREE_TAKE_RAW(work, Entry, n),
                 .entries = SCREE_TAKE_RAW(work, Entry, n),
                 .apart = SCREE_TAKE_RAW(work, int32_t, n),
                 .bucket_of = SCREE_TAKE_RAW(work, uint32_t, n),
                 .next = SCREE_TAKE_RAW(work, uint32_t, n + 1),
                 .bucket = SCREE_TAKE_RAW(work, uint32_t, bucket_count(n) + 1),
                 .sinks = sinks,
                 .sink = SCREE_TAKE(work, Sink, sinks)};
  if (!t->sink) return false;
  for (int k = 0; k < sinks; k++) {
    t->sink[k].capacity = pairs / (size_t)sinks + 16;
    t->sink[k].raw = SCREE_TAKE_RAW(work, Pair, t->sink[k].capacity);
    if (!t->sink[k].raw) return false;
  }
  return t->skin && t->located && t->entries && t->apart && t->bucket_of && t->next && t->bucket;
}

/* ---- build ---- */

static double side(const scree_Aabb *box) {
  scree_Vec3 s = scree_sub(box->upper, box->lower);
  return fmax(s.x, fmax(s.y, s.z));
}

static bool bounded(const scree_Aabb *box) {
  scree_Vec3 l = box->lower, u = box->upper;
  return isfinite(l.x) && isfinite(l.y) && isfinite(l.z) && isfinite(u.x) && isfinite(u.y) &&
         isfinite(u.z);
}

static bool is_absent(const unsigned char *fixed, int i) {
  return fixed && fixed[i] & SCREE_BROAD_ABSENT;
}

/* The bounds of bodies first .. last-1 with their skins. */
static void fatten_range(const scree_BroadPhase *b, const Scratch *t, int first, int last,
                         const scree_Aabb *aabbs, const double *radii, const unsigned char *fixed,
                         double distance) {
  for (int i = first; i < last; i++) {
    double grow = distance + t->skin[i];
    scree_Vec3 l = aabbs[i].lower, u = aabbs[i].upper;
    Fat *f = &b->fat[i];
    if (is_absent(fixed, i)) { /* without bounds it is not stored */
      *f = (Fat){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
      b->radius[i] = INFINITY;
      continue;
    }
    *f = (Fat){{l.x - grow, l.y - grow, l.z - grow}, {u.x + grow, u.y + grow, u.z + grow}};
    const bool finite = bounded(&aabbs[i]);
    const double most = finite ? DBL_MAX : INFINITY; /* bounded bodies stay bounded */
    for (int k = 0; k < 3; k++) {                    /* NaN: unbounded */
      if (!(f->lower[k] >= -most)) f->lower[k] = -most;
      if (!(f->upper[k] <= most)) f->upper[k] = most;
    }
    b->radius[i] = radii && finite ? radii[i] + grow : INFINITY;
  }
}

/* Skins from the motion since the last build, then fat bounds. Returns the largest fat side of the
 * bounded bodies and their number; unbounded bodies go to `apart`, absent ones are skipped. */
static double fatten(scree_BroadPhase *b, Scratch *t, int n, const scree_Aabb *aabbs,
                     const double *radii, const unsigned char *fixed, double distance,
                     int *entry_count, int *apart_count) {
  bool history = b->n == n && b->age > 0;
  double largest_skin = 0, largest = 0;
  *entry_count = *apart_count = 0;
  for (int i = 0; i < n; i++) {
    t->skin[i] = 0;
    if (is_absent(fixed, i)) continue;
    if (!bounded(&aabbs[i])) {
      t->apart[(*apart_count)++] = i;
      continue;
    }
    double size = side(&aabbs[i]), skin = 0.05 * size;
    if (history && fat_bounded(&b->fat[i])) {
      scree_Vec3 moved = scree_sub(middle(&aabbs[i]), fat_middle(&b->fat[i]));
      double motion = scree_norm(moved) / (double)b->age;
      skin = fmin(fmax(b->factor * motion, 0.01 * size), 0.25 * size);
    }
    if (!b->skin_on) skin = 0;
    t->skin[i] = skin;
    largest_skin = fmax(largest_skin, skin);
    (*entry_count)++;
    largest = fmax(largest, size + 2 * (distance + skin));
  }
  for (int k = 0; k < *apart_count; k++) t->skin[t->apart[k]] = largest_skin;
  if (t->sinks == 1)
    fatten_range(b, t, 0, n, aabbs, radii, fixed, distance);
  else
#pragma omp parallel for schedule(static) num_threads(t->sinks)
    for (int k = 0; k < t->sinks; k++)
      fatten_range(b, t, part(n, k, t->sinks), part(n, k + 1, t->sinks), aabbs, radii, fixed,
                   distance);
  return largest;
}

/* The pitch and extent of the grids of one build. */
typedef struct Grid {
  double pitch[LEVELS], inverse[LEVELS];
  bool used[LEVELS];
  bool flat; /* no two bodies are separated along z: all cells have z = 0 */
  uint32_t mask;
} Grid;

/* Monotone in x, for any finite x. */
static int32_t cell_of(double x, double inverse) {
  double c = floor(x * inverse);
  const double limit = 2147483000.0;
  if (!(c > -limit)) return -2147483000;
  if (c > limit) return 2147483000;
  return (int32_t)c;
}

/* Cells that follow each other along x are in buckets that follow each other: a query reads rows,
 * and entries that are close in space are close in memory. Rows are spread by the multipliers. The
 * bucket of a cell is that of its row plus x. */
static uint32_t hash_row(int32_t y, int32_t z, int32_t level) {
  uint64_t h = (uint64_t)(uint32_t)y * 0xc2b2ae3d27d4eb4fu;
  h ^= (uint64_t)(uint32_t)z * 0x165667b19e3779f9u;
  h ^= (uint64_t)(uint32_t)level * 0x27d4eb2f165667c5u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return (uint32_t)(h >> 32);
}

static void set_grid(const scree_BroadPhase *b, int n, int count, double largest, Grid *g) {
  double low = -INFINITY, high = INFINITY;
  memset(g, 0, sizeof *g);
  for (int l = 0; l < LEVELS; l++) {
    double pitch = ldexp(largest, -l) * (1 + 1e-9);
    g->pitch[l] = pitch > 0 ? pitch : 1;
    g->inverse[l] = 1 / g->pitch[l];
    if (!isfinite(g->inverse[l])) g->inverse[l] = 0; /* sizes below 1e-308: one cell for all */
  }
  g->mask = (uint32_t)(bucket_count((size_t)count) - 1);
  for (int i = 0; i < n; i++) {
    if (!fat_bounded(&b->fat[i])) continue;
    low = fmax(low, b->fat[i].lower[2]);
    high = fmin(high, b->fat[i].upper[2]);
  }
  g->flat = low <= high;
}

/* The level of a body and the cell that holds the lower corner of its bounds. */
static Entry locate(const scree_BroadPhase *b, int body, double largest, const Grid *g) {
  Entry e = {.fat = b->fat[body], .body = body};
  const double *l = e.fat.lower, *u = e.fat.upper;
  double widest = fmax(u[0] - l[0], fmax(u[1] - l[1], u[2] - l[2])), ratio = largest / widest;
  e.level = widest > 0 && ratio < 0x1p31 ? ilogb(fmax(1, ratio)) : LEVELS - 1;
  for (int k = 0; k < 3; k++) e.cell[k] = cell_of(l[k], g->inverse[e.level]);
  if (g->flat) e.cell[2] = 0;
  return e;
}

/* Of bodies first .. last-1 the entries and their buckets. */
static void locate_range(const scree_BroadPhase *b, Scratch *t, int first, int last, double largest,
                         const Grid *g) {
  for (int i = first; i < last; i++) {
    if (!fat_bounded(&b->fat[i])) continue;
    const Entry e = locate(b, i, largest, g);
    t->located[i] = e;
    t->bucket_of[i] = (hash_row(e.cell[1], e.cell[2], e.level) + (uint32_t)e.cell[0]) & g->mask;
  }
}

/* Store the bounded bodies: a counting sort by bucket that keeps the order of bodies. */
static void file_entries(const scree_BroadPhase *b, Scratch *t, int n, double largest, Grid *g) {
  memset(t->bucket, 0, ((size_t)g->mask + 2) * sizeof *t->bucket);
  if (t->sinks == 1)
    locate_range(b, t, 0, n, largest, g);
  else
#pragma omp parallel for schedule(static) num_threads(t->sinks)
    for (int k = 0; k < t->sinks; k++)
      locate_range(b, t, part(n, k, t->sinks), part(n, k + 1, t->sinks), largest, g);
  for (int i = 0; i < n; i++) {
    if (!fat_bounded(&b->fat[i])) continue;
    g->used[t->located[i].level] = true;
    t->bucket[t->bucket_of[i] + 1]++;
  }
  for (size_t h = 0; h <= g->mask; h++) t->bucket[h + 1] += t->bucket[h];
  /* bucket[h] is now the start of bucket h; it advances while filling and is reset afterwards. */
  for (int i = 0; i < n; i++)
    if (fat_bounded(&b->fat[i])) t->entries[t->bucket[t->bucket_of[i]]++] = t->located[i];
  for (size_t h = g->mask + 1; h > 0; h--) t->bucket[h] = t->bucket[h - 1];
  t->bucket[0] = 0;
}

static bool overlap(const Fat *a, const Fat *b) {
  return (a->lower[0] <= b->upper[0]) & (b->lower[0] <= a->upper[0]) &
         (a->lower[1] <= b->upper[1]) & (b->lower[1] <= a->upper[1]) &
         (a->lower[2] <= b->upper[2]) & (b->lower[2] <= a->upper[2]);
}

/* Twice the room for pairs; the arena is shared. */
static bool grow(Sink *s) {
  Pair *raw;
#pragma omp critical(scree_broad)
  raw = SCREE_TAKE_RAW(s->t->work, Pair, 2 * s->capacity);
  if (!raw) return false;
  memcpy(raw, s->raw, s->count * sizeof *raw);
  s->raw = raw;
  s->capacity *= 2;
  return true;
}

/* Append the pair of two bodies whose fat bounds overlap, unless their balls are separated or both
 * are fixed. */
static bool emit(Sink *s, int i, int j) {
  const scree_BroadPhase *b = s->b;
  const Scratch *t = s->t;
  if (s->fixed && s->fixed[i] && s->fixed[j]) return true;
  if (is_absent(s->fixed, i) || is_absent(s->fixed, j)) return true;
  double reach = b->radius[i] + b->radius[j], skins = t->skin[i] + t->skin[j];
  if (reach < INFINITY) {
    double distance2 = scree_norm2(scree_sub(fat_middle(&b->fat[i]), fat_middle(&b->fat[j])));
    if (distance2 > reach * reach * (1 + 1e-12)) return true;
    double close = fmax(0, reach - skins);
    s->exact += distance2 <= close * close;
  } else {
    const Fat *f = &b->fat[i], *g = &b->fat[j];
    bool touch = true;
    for (int k = 0; k < 3; k++)
      touch = touch && f->lower[k] + skins <= g->upper[k] && g->lower[k] + skins <= f->upper[k];
    s->exact += touch;
  }
  if (s->count == s->capacity && !grow(s)) return false;
  s->raw[s->count++] = i < j ? (Pair){i, j} : (Pair){j, i};
  return true;
}

/* Cells low .. high of a row of cells along x. */
typedef struct Row {
  int32_t low, high, y, z;
  int level;
  bool own; /* entry `e` itself is in the first of them */
} Row;

/* Partners of entry `e` among entries first .. last-1 that are in cells of a row. */
static bool query_row(const Scratch *t, const Entry *e, const Row *row, uint32_t first,
                      uint32_t last, Sink *sink) {
  for (uint32_t m = first; m < last; m++) {
    const Entry *o = &t->entries[m];
    if (o->cell[0] < row->low || o->cell[0] > row->high || o->cell[1] != row->y ||
        o->cell[2] != row->z || o->level != row->level)
      continue;
    if (row->own && o->cell[0] == row->low && o->body <= e->body) continue;
    if (overlap(&e->fat, &o->fat) && !emit(sink, e->body, o->body)) return false;
  }
  return true;
}

/* All partners of entry `e` on one level; on its own only those that are behind it in the order of
 * cells (z, y, x) and bodies, so that each pair is found once. */
static bool query_level(const Scratch *t, const Grid *g, const Entry *e, int level, Sink *sink) {
  int32_t low[3], high[3];
  for (int k = 0; k < 3; k++) {
    double from = e->fat.lower[k], slack = 4 * DBL_EPSILON * fabs(from);
    low[k] = cell_of(from - g->pitch[level] - slack, g->inverse[level]);
    high[k] = cell_of(e->fat.upper[k], g->inverse[level]);
  }
  if (g->flat) low[2] = high[2] = 0;
  const bool alike = level == e->level;
  for (int32_t z = alike ? e->cell[2] : low[2]; z <= high[2]; z++) {
    const bool layer = alike && z == e->cell[2];
    for (int32_t y = layer ? e->cell[1] : low[1]; y <= high[1]; y++) {
      const bool own = layer && y == e->cell[1];
      const Row row = {own ? e->cell[0] : low[0], high[0], y, z, level, own};
      /* the buckets of the row are one range, or two around the end of the table */
      const uint64_t width = (uint64_t)((int64_t)row.high - row.low) + 1,
                     all = (uint64_t)g->mask + 1;
      const uint64_t begin = (hash_row(y, z, level) + (uint32_t)row.low) & g->mask;
      const uint64_t end = width < all ? begin + width : begin + all;
      const uint64_t first = end < all ? end : all, rest = end - first;
      if (!query_row(t, e, &row, t->bucket[begin], t->bucket[first], sink)) return false;
      if (rest && !query_row(t, e, &row, 0, t->bucket[rest], sink)) return false;
    }
  }
  return true;
}

/* Sort the raw pairs by i, then j: a stable counting sort by j, then one by i. The order in which
 * they were found, and by which thread, has no effect. */
static bool sort_pairs(scree_BroadPhase *b, Scratch *t, int n, size_t count) {
  if (count > UINT32_MAX) return false;
  t->half = SCREE_TAKE_RAW(t->work, Pair, count);
  if (!t->half) return false;
  if (count > b->pair_capacity || !b->partner) {
    b->pair_capacity = 0;
    if (!RESIZE(partner, count + count / 8)) return false;
    b->pair_capacity = count + count / 8;
  }
  const size_t counters = (size_t)n + 1;
  memset(t->next, 0, counters * sizeof *t->next);
  for (int s = 0; s < t->sinks; s++)
    for (size_t k = 0; k < t->sink[s].count; k++) t->next[t->sink[s].raw[k].j + 1]++;
  for (int i = 0; i < n; i++) t->next[i + 1] += t->next[i];
  for (int s = 0; s < t->sinks; s++)
    for (size_t k = 0; k < t->sink[s].count; k++)
      t->half[t->next[t->sink[s].raw[k].j]++] = t->sink[s].raw[k];
  memset(b->row, 0, counters * sizeof *b->row);
  for (size_t k = 0; k < count; k++) b->row[t->half[k].i + 1]++;
  for (int i = 0; i < n; i++) b->row[i + 1] += b->row[i];
  memcpy(t->next, b->row, counters * sizeof *b->row);
  for (size_t k = 0; k < count; k++) b->partner[t->next[t->half[k].i]++] = t->half[k].j;
  assert(b->row[n] == count);
  b->pair_count = count;
  return true;
}

/* The pairs of entries first .. last-1; the first thread, the caller's, polls. */
static void query_range(const Scratch *t, const Grid *g, int first, int last, bool *stop,
                        Sink *sink) {
  for (int k = first; k < last && !sink->failed; k++) {
    const Entry *e = &t->entries[k];
    if (k % POLL_BODIES == POLL_BODIES - 1) {
      bool now;
      if (first == 0 && scree_poll(sink->b->poll)) {
#pragma omp atomic write
        *stop = true;
      }
#pragma omp atomic read
      now = *stop;
      if (now) return;
    }
    for (int level = 0; level <= e->level; level++)
      if (g->used[level] && !query_level(t, g, e, level, sink)) sink->failed = true;
  }
}

/* The pairs of bodies first .. last-1 with those whose bounds are too wide for the grid. */
static void query_apart(const Scratch *t, int apart, int first, int last, bool *stop, Sink *sink) {
  const scree_BroadPhase *b = sink->b;
  for (int k = 0; k < apart && !sink->failed; k++) {
    const int u = t->apart[k];
    if (first == 0 && scree_poll(b->poll)) {
#pragma omp atomic write
      *stop = true;
      return;
    }
    for (int j = first; j < last; j++) {
      const bool both = !fat_bounded(&b->fat[j]); /* two of them are paired once */
      if (j == u || (both && j < u)) continue;
      if (overlap(&b->fat[u], &b->fat[j]) && !emit(sink, u, j)) {
        sink->failed = true;
        break;
      }
    }
  }
}

/* Share k of all pairs, into sink k. */
static void query_share(Scratch *t, const Grid *g, int n, int count, int apart, int k, bool *stop) {
  query_range(t, g, part(count, k, t->sinks), part(count, k + 1, t->sinks), stop, &t->sink[k]);
  query_apart(t, apart, part(n, k, t->sinks), part(n, k + 1, t->sinks), stop, &t->sink[k]);
}

static bool build_with(scree_BroadPhase *b, Scratch *t, int n, const scree_Aabb *aabbs,
                       const double *radii, const unsigned char *fixed, double distance) {
  int count, apart;
  Grid grid;
  double largest = fatten(b, t, n, aabbs, radii, fixed, distance, &count, &apart);
  set_grid(b, n, count, largest, &grid);
  file_entries(b, t, n, largest, &grid);
  for (int k = 0; k < t->sinks; k++) {
    t->sink[k].b = b;
    t->sink[k].t = t;
    t->sink[k].fixed = fixed;
  }
  bool stop = false;
  if (t->sinks == 1)
    query_share(t, &grid, n, count, apart, 0, &stop);
  else
#pragma omp parallel for schedule(static, 1) num_threads(t->sinks)
    for (int k = 0; k < t->sinks; k++) query_share(t, &grid, n, count, apart, k, &stop);
  bool failed = stop;
  for (int k = 0; k < t->sinks; k++) failed = failed || t->sink[k].failed;
  if (failed) return false;
  size_t found = 0, exact = 0;
  for (int k = 0; k < t->sinks; k++) {
    found += t->sink[k].count;
    exact += t->sink[k].exact;
  }
  if (!sort_pairs(b, t, n, found)) return false;
  double crowd = 1.5 * (double)exact + 2.0 * n;
  b->factor *= (double)found > crowd ? 0.7 : 1.2;
  b->factor = fmin(fmax(b->factor, 2), 64);
  return true;
}

static bool build(scree_BroadPhase *b, int n, const scree_Aabb *aabbs, const double *radii,
                  const unsigned char *fixed, double distance) {
  Scratch scratch;
  if (!reserve_bodies(b, (size_t)n)) return false;
  scree_Arena *work = b->work ? b->work : &b->own;
  const scree_ArenaMark mark = scree_arena_mark(work);
  /* expect about as many pairs as last time */
  const int threads = n < PARALLEL_BODIES ? 1 : b->threads;
  bool good = scratch_init(&scratch, work, (size_t)n, b->pair_capacity + 16, threads) &&
              build_with(b, &scratch, n, aabbs, radii, fixed, distance);
  scree_arena_release(work, mark);
  return good;
}

scree_Status scree_broad_update(scree_BroadPhase *b, int n, const scree_Aabb *aabbs,
                                const double *radii, const unsigned char *fixed, double distance,
                                const scree_Log *log) {
  if (n < 0)
    return scree_fail(log, SCREE_BAD_INPUT, "broad phase: found %d bodies, expected >= 0", n);
  if (!(distance >= 0 && distance < INFINITY))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "broad phase: detection distance is %g, expected a finite number >= 0",
                      distance);
  b->updates++;
  b->age++;
  if (b->skin_on && still_good(b, n, aabbs, radii, distance)) return SCREE_OK;
  b->valid = false;
  b->pair_count = 0;
  b->rebuilds++;
  if (!build(b, n, aabbs, radii, fixed, distance)) {
    b->n = 0;
    if (b->poll && b->poll->stopped) return SCREE_INTERRUPTED;
    return scree_fail_memory(log, "the pairs of the broad phase");
  }
  b->valid = true;
  b->n = n;
  b->distance = distance;
  b->with_radii = radii != NULL;
  b->age = 0;
  return SCREE_OK;
}

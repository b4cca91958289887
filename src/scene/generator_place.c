/* Grid of occupied places (see generator_place.h): cells are hashed into buckets, each a chain of
 * entries. A body that is no larger than a cell is entered in that of its centre alone, and found
 * from up to half a cell further; a larger one is entered in all of its cells. There are at least
 * as many buckets as entries, so that a million bodies take seconds; an entry keeps the hash of its
 * cell, so that bodies of other cells in the same bucket are not tested. */
#include "scene/generator_place.h"

#include "core/memory.h"
#include "math/vec3.h"

#include <math.h>
#include <stdint.h>

enum { BUCKETS_LEAST = 1 << 12, CELLS_MAX = 512 };

typedef struct Entry {
  uint64_t cell; /* hash */
  int body, next;
} Entry;

struct scree_Place {
  double cell;
  int *head;      /* (buckets) first entry, -1: none */
  size_t buckets; /* a power of two */
  Entry *entries;
  size_t count, capacity;
  int *large; /* bodies that are in no cell */
  size_t large_count, large_capacity;
};

/* Half a cell, and what rounding may add to it. */
static const double half_cell = 0.5 * (1 + 1e-9);

static uint64_t hash(long x, long y, long z) {
  uint64_t h = (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^
               (uint64_t)z * 0x165667b19e3779f9u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ h >> 32;
}

/* Cells of a box: false when there are too many, or it is unbounded. */
static bool cells(const scree_Place *place, const scree_Aabb *box, long lower[3], long upper[3]) {
  const double a[3] = {box->lower.x, box->lower.y, box->lower.z};
  const double b[3] = {box->upper.x, box->upper.y, box->upper.z};
  double total = 1;
  for (int k = 0; k < 3; ++k) {
    const double first = floor(a[k] / place->cell), last = floor(b[k] / place->cell);
    if (!(fabs(first) < 1e15 && fabs(last) < 1e15)) return false;
    total *= last - first + 1;
    lower[k] = (long)first;
    upper[k] = (long)last;
  }
  return total <= CELLS_MAX;
}

/* A box around the body as it is entered: its centre, if it is no larger than a cell. */
static scree_Aabb entered(const scree_Place *place, const scree_Aabb *box) {
  const scree_Vec3 size = scree_sub(box->upper, box->lower);
  if (!(fmax(size.x, fmax(size.y, size.z)) <= place->cell)) return *box;
  const scree_Vec3 centre = scree_scale(0.5, scree_add(box->lower, box->upper));
  return (scree_Aabb){centre, centre};
}

/* A box around the centres of all bodies no larger than a cell that may overlap one in `box`. */
static scree_Aabb around(const scree_Place *place, const scree_Aabb *box) {
  const double more = half_cell * place->cell;
  const scree_Vec3 margin = scree_vec3(more, more, more);
  return (scree_Aabb){scree_sub(box->lower, margin), scree_add(box->upper, margin)};
}

/* Twice as many buckets, or the first ones. */
static bool add_buckets(scree_Place *place) {
  const size_t buckets = place->buckets ? 2 * place->buckets : BUCKETS_LEAST;
  int *head = SCREE_ALLOC(int, buckets);
  if (!head) return false;
  for (size_t k = 0; k < buckets; ++k) head[k] = -1;
  for (size_t e = 0; e < place->count; ++e) {
    int *first = &head[place->entries[e].cell & (buckets - 1)];
    place->entries[e].next = *first;
    *first = (int)e;
  }
  scree_free(place->head);
  place->head = head;
  place->buckets = buckets;
  return true;
}

bool scree_place_add(scree_Place *place, const scree_Scene *scene, int body) {
  const scree_SceneBody *b = &scene->bodies[body];
  const scree_Aabb whole = scree_shape_aabb(&b->shape, &b->def.pose);
  const scree_Aabb box = entered(place, &whole);
  long lower[3], upper[3];
  if (!cells(place, &box, lower, upper)) {
    void *array = place->large;
    if (!scree_grow(&array, &place->large_capacity, place->large_count + 1, sizeof *place->large))
      return false;
    place->large = array;
    place->large[place->large_count++] = body;
    return true;
  }
  for (long x = lower[0]; x <= upper[0]; ++x)
    for (long y = lower[1]; y <= upper[1]; ++y)
      for (long z = lower[2]; z <= upper[2]; ++z) {
        void *array = place->entries;
        if (!scree_grow(&array, &place->capacity, place->count + 1, sizeof *place->entries))
          return false;
        place->entries = array;
        if (place->count >= place->buckets && !add_buckets(place)) return false;
        const uint64_t cell = hash(x, y, z);
        int *head = &place->head[cell & (place->buckets - 1)];
        place->entries[place->count] = (Entry){cell, body, *head};
        *head = (int)place->count++;
      }
  return true;
}

static bool meet(const scree_Aabb *a, const scree_Aabb *b) {
  return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
         b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

scree_Place *scree_place_create(const scree_Scene *scene, double cell, const scree_Aabb *window) {
  scree_Place *place = SCREE_ALLOC(scree_Place, 1);
  if (!place) return NULL;
  place->cell = cell;
  bool good = add_buckets(place);
  for (size_t k = 0; k < scene->kept && good; ++k) {
    const scree_SceneBody *body = &scene->bodies[k];
    const scree_Aabb box = scree_shape_aabb(&body->shape, &body->def.pose);
    if (!window || meet(window, &box)) good = scree_place_add(place, scene, (int)k);
  }
  if (good) return place;
  scree_place_destroy(place);
  return NULL;
}

void scree_place_destroy(scree_Place *place) {
  if (!place) return;
  scree_free(place->head);
  scree_free(place->entries);
  scree_free(place->large);
  scree_free(place);
}

static bool overlaps(const scree_Scene *scene, int other, const scree_SceneBody *body) {
  const scree_SceneBody *b = &scene->bodies[other];
  const scree_Vec3 way = scree_sub(b->def.pose.position, body->def.pose.position);
  const double reach = b->shape.bounding_radius + body->shape.bounding_radius;
  if (scree_norm2(way) > reach * reach) return false; /* most of them, in a lattice */
  return scree_scene_overlap(&body->shape, &body->def.pose, &b->shape, &b->def.pose);
}

int scree_place_blocker(const scree_Place *place, const scree_Scene *scene,
                        const scree_SceneBody *body) {
  const scree_Aabb own = scree_shape_aabb(&body->shape, &body->def.pose);
  const scree_Aabb box = around(place, &own);
  long lower[3], upper[3];
  for (size_t k = 0; k < place->large_count; ++k)
    if (overlaps(scene, place->large[k], body)) return place->large[k];
  if (!cells(place, &box, lower, upper)) {
    for (size_t k = 0; k < scene->kept; ++k)
      if (overlaps(scene, (int)k, body)) return (int)k;
    return -1;
  }
  for (long x = lower[0]; x <= upper[0]; ++x)
    for (long y = lower[1]; y <= upper[1]; ++y)
      for (long z = lower[2]; z <= upper[2]; ++z) {
        const uint64_t cell = hash(x, y, z);
        for (int e = place->head[cell & (place->buckets - 1)]; e >= 0; e = place->entries[e].next)
          if (place->entries[e].cell == cell && overlaps(scene, place->entries[e].body, body))
            return place->entries[e].body;
      }
  return -1;
}

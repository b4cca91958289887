/* Grid of occupied places (see generator_place.h): cells are hashed into a fixed number of buckets,
 * each a chain of entries. */
#include "scene/generator_place.h"

#include "core/memory.h"

#include <math.h>

enum { BUCKETS = 1 << 16, CELLS_MAX = 512 };

typedef struct Entry {
  int body, next;
} Entry;

struct scree_Place {
  double cell;
  int *head; /* (BUCKETS) first entry, -1: none */
  Entry *entries;
  size_t count, capacity;
  int *large; /* bodies that are in no cell */
  size_t large_count, large_capacity;
};

static uint32_t bucket(long x, long y, long z) {
  uint64_t h = (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^
               (uint64_t)z * 0x165667b19e3779f9u;
  h ^= h >> 29;
  return (uint32_t)(h * 0xbf58476d1ce4e5b9u >> 40) & (BUCKETS - 1);
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

bool scree_place_add(scree_Place *place, const scree_Scene *scene, int body) {
  const scree_SceneBody *b = &scene->bodies[body];
  const scree_Aabb box = scree_shape_aabb(&b->shape, &b->def.pose);
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
        int *head = &place->head[bucket(x, y, z)];
        place->entries[place->count] = (Entry){body, *head};
        *head = (int)place->count++;
      }
  return true;
}

scree_Place *scree_place_create(const scree_Scene *scene, double cell) {
  scree_Place *place = SCREE_ALLOC(scree_Place, 1);
  if (!place) return NULL;
  place->cell = cell;
  place->head = SCREE_ALLOC(int, BUCKETS);
  bool good = place->head != NULL;
  for (int k = 0; k < BUCKETS && good; ++k) place->head[k] = -1;
  for (size_t k = 0; k < scene->body_count && good; ++k)
    good = scree_place_add(place, scene, (int)k);
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
  return scree_scene_overlap(&body->shape, &body->def.pose, &b->shape, &b->def.pose);
}

bool scree_place_blocked(const scree_Place *place, const scree_Scene *scene,
                         const scree_SceneBody *body) {
  const scree_Aabb box = scree_shape_aabb(&body->shape, &body->def.pose);
  long lower[3], upper[3];
  for (size_t k = 0; k < place->large_count; ++k)
    if (overlaps(scene, place->large[k], body)) return true;
  if (!cells(place, &box, lower, upper)) {
    for (size_t k = 0; k < scene->body_count; ++k)
      if (overlaps(scene, (int)k, body)) return true;
    return false;
  }
  for (long x = lower[0]; x <= upper[0]; ++x)
    for (long y = lower[1]; y <= upper[1]; ++y)
      for (long z = lower[2]; z <= upper[2]; ++z)
        for (int e = place->head[bucket(x, y, z)]; e >= 0; e = place->entries[e].next)
          if (overlaps(scene, place->entries[e].body, body)) return true;
  return false;
}

/* The surface of a mesh: the faces that belong to one element alone.
 *
 * All faces are sorted by their nodes; those that occur once are on the surface, those that occur
 * twice are inside, and a face of three elements is refused. */
#include "core/log.h"
#include "core/memory.h"
#include "element/mesh.h"
#include "math/vec3.h"

#include <stdlib.h>
#include <string.h>

typedef struct Face {
  int key[SCREE_FACE_CORNERS]; /* nodes ascending, -1 behind the last */
  int element, local;
} Face;

static int compare_faces(const void *left, const void *right) {
  const Face *a = left, *b = right;
  for (int k = 0; k < SCREE_FACE_CORNERS; ++k)
    if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
  if (a->element != b->element) return a->element < b->element ? -1 : 1;
  return a->local - b->local;
}

static int compare_places(const void *left, const void *right) {
  const Face *a = left, *b = right;
  if (a->element != b->element) return a->element < b->element ? -1 : 1;
  return a->local - b->local;
}

/* The nodes of local face f of an element, as it orders them. */
static void face_nodes(const scree_ElementMesh *m, int element, int f, int *nodes) {
  const scree_ElementClass *class = scree_element_class(m, element);
  const int *corner = m->corner + m->corner_row[element];
  for (int k = 0; k < class->face_corners; ++k) nodes[k] = corner[class->face[f][k]];
}

static void collect(const scree_ElementMesh *m, Face *faces) {
  for (int e = 0; e < m->element_count; ++e)
    for (int f = 0; f < scree_element_class(m, e)->faces; ++f, ++faces) {
      const int n = scree_element_class(m, e)->face_corners;
      faces->element = e;
      faces->local = f;
      face_nodes(m, e, f, faces->key);
      for (int k = n; k < SCREE_FACE_CORNERS; ++k) faces->key[k] = -1;
      for (int i = 1; i < n; ++i) /* insertion sort of at most four */
        for (int j = i; j > 0 && faces->key[j] < faces->key[j - 1]; --j) {
          const int swap = faces->key[j];
          faces->key[j] = faces->key[j - 1];
          faces->key[j - 1] = swap;
        }
    }
}

static bool same_key(const Face *a, const Face *b) {
  return memcmp(a->key, b->key, sizeof a->key) == 0;
}

/* Move faces that occur once to the front, in the order of the elements. Returns their number, or
 * -1 if more than two elements share a face. */
static int keep_single(Face *faces, size_t count, const scree_Log *log) {
  int kept = 0;
  for (size_t k = 0; k < count;) {
    size_t next = k + 1;
    while (next < count && same_key(&faces[k], &faces[next])) ++next;
    if (next - k > 2) {
      (void)scree_fail(
          log, SCREE_BAD_INPUT,
          "elements %d, %d and %d have a face in common, expected at most two elements at a face",
          faces[k].element, faces[k + 1].element, faces[k + 2].element);
      return -1;
    }
    if (next - k == 1) faces[kept++] = faces[k];
    k = next;
  }
  qsort(faces, (size_t)kept, sizeof *faces, compare_places);
  return kept;
}

static double norm_of_area(const scree_ElementMesh *m, const int *node, int n) {
  scree_Vec3 sum = {0, 0, 0};
  if (n == 2) {
    const double x = m->node[node[1]].x - m->node[node[0]].x;
    const double y = m->node[node[1]].y - m->node[node[0]].y;
    return sqrt(x * x + y * y);
  }
  for (int k = 2; k < n; ++k)
    sum = scree_add(sum, scree_cross(scree_sub(m->node[node[k - 1]], m->node[node[0]]),
                                     scree_sub(m->node[node[k]], m->node[node[0]])));
  return 0.5 * scree_norm(sum);
}

/* The height of the thinnest element: volume over its largest face. */
static double thinnest(const scree_ElementMesh *m) {
  double least = INFINITY;
  for (int e = 0; e < m->element_count; ++e) {
    const scree_ElementClass *class = scree_element_class(m, e);
    double volume = 0, largest = 0;
    for (size_t p = m->point_row[e]; p < m->point_row[e + 1]; ++p) volume += m->volume[p];
    for (int f = 0; f < class->faces; ++f) {
      int node[SCREE_FACE_CORNERS];
      face_nodes(m, e, f, node);
      largest = fmax(largest, norm_of_area(m, node, class->face_corners));
    }
    /* a simplex is 1/d of the product of its face and its height */
    const double part = class->corners == class->dimension + 1 ? class->dimension : 1;
    least = fmin(least, part * volume / largest);
  }
  return least;
}

/* Copy the faces of the surface, and mark and list their nodes. */
static scree_Status keep_faces(scree_ElementMesh *m, const Face *faces, int kept, uint8_t *outside,
                               const scree_Log *log) {
  m->face_count = kept;
  m->face = scree_alloc((size_t)kept, sizeof *m->face);
  m->face_corners = SCREE_ALLOC(int, kept);
  m->face_element = SCREE_ALLOC(int, kept);
  if (!m->face || !m->face_corners || !m->face_element)
    return scree_fail_memory(log, "the surface of a mesh");
  for (int k = 0; k < kept; ++k) {
    m->face_corners[k] = scree_element_class(m, faces[k].element)->face_corners;
    m->face_element[k] = faces[k].element;
    face_nodes(m, faces[k].element, faces[k].local, m->face[k]);
    for (int c = 0; c < SCREE_FACE_CORNERS; ++c) {
      if (c >= m->face_corners[k])
        m->face[k][c] = -1;
      else
        outside[m->face[k][c]] = 1;
    }
  }
  for (int k = 0; k < m->node_count; ++k) m->surface_count += outside[k];
  m->surface = SCREE_ALLOC(int, m->surface_count);
  if (!m->surface) return scree_fail_memory(log, "the surface of a mesh");
  for (int k = 0, at = 0; k < m->node_count; ++k)
    if (outside[k]) m->surface[at++] = k;
  return SCREE_OK;
}

scree_Status scree_element_mesh_find_surface(scree_ElementMesh *m, const scree_Log *log) {
  size_t count = 0;
  for (int e = 0; e < m->element_count; ++e) count += (size_t)scree_element_class(m, e)->faces;
  Face *faces = SCREE_ALLOC(Face, count);
  uint8_t *outside = SCREE_ALLOC(uint8_t, m->node_count);
  scree_Status status;
  if (faces && outside) {
    collect(m, faces);
    qsort(faces, count, sizeof *faces, compare_faces);
    const int kept = keep_single(faces, count, log);
    status = kept < 0 ? SCREE_BAD_INPUT : keep_faces(m, faces, kept, outside, log);
  } else {
    status = scree_fail_memory(log, "the surface of a mesh");
  }
  if (!status) m->shortest = thinnest(m);
  scree_free(faces);
  scree_free(outside);
  return status;
}

int scree_element_mesh_face_count(const scree_ElementMesh *mesh) {
  return mesh->face_count;
}

const int *scree_element_mesh_face(const scree_ElementMesh *mesh, int face, int *corners) {
  if (corners) *corners = mesh->face_corners[face];
  return mesh->face[face];
}

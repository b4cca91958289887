/* Convex hulls by Qhull, as faces with ordered corners and numbered edges.
 *
 * Qhull merges facets that are coplanar up to rounding, so that a face of a cube comes as one face.
 * It reports errors through a stream, which is a buffer here, and exits by longjmp into its own
 * frame (qh_new_qhull returns an exit code). */
#define _POSIX_C_SOURCE 200809L
#include "core/log.h"
#include "core/memory.h"
#include "geometry/shape_class.h"

#include <libqhull_r/qhull_ra.h>

enum { MESSAGE = 4096, VERTICES_LEAST = 4 };

void scree_polyhedron_destroy(scree_Polyhedron *p) {
  if (!p) return;
  scree_free(p->first);
  scree_free(p->corner);
  scree_free(p->side);
  scree_free(p->normal);
  scree_free(p->edge);
  scree_free(p->link_first);
  scree_free(p->link);
  scree_free(p);
}

/* Area vector of a face (Newell). */
static scree_Vec3 area_of(const scree_Vec3 *v, const int *corner, int n) {
  scree_Vec3 sum = {0, 0, 0};
  for (int k = 2; k < n; ++k)
    sum = scree_add(sum, scree_cross(scree_sub(v[corner[k - 1]], v[corner[0]]),
                                     scree_sub(v[corner[k]], v[corner[0]])));
  return sum;
}

static bool allocate(scree_Polyhedron *p, int vertices, int faces, int corners) {
  p->vertex_count = vertices;
  p->first = SCREE_ALLOC(int, faces + 1);
  p->corner = SCREE_ALLOC(int, corners);
  p->side = SCREE_ALLOC(int, corners);
  p->normal = SCREE_ALLOC(scree_Vec3, faces);
  p->edge = scree_alloc((size_t)corners / 2, sizeof *p->edge);
  p->link_first = SCREE_ALLOC(int, vertices + 1);
  p->link = SCREE_ALLOC(int, corners);
  return p->first && p->corner && p->side && p->normal && p->edge && p->link_first && p->link;
}

/* Each edge is a side of two faces and is numbered when first found. Few enough to compare all. */
static bool name_edges(scree_Polyhedron *p) {
  for (int f = 0; f < p->face_count; ++f)
    for (int k = p->first[f]; k < p->first[f + 1]; ++k) {
      const int a = p->corner[k], b = p->corner[k + 1 < p->first[f + 1] ? k + 1 : p->first[f]];
      const int low = a < b ? a : b, high = a < b ? b : a;
      int e = 0;
      while (e < p->edge_count && (p->edge[e][0] != low || p->edge[e][1] != high)) ++e;
      if (e == p->edge_count) {
        if (2 * (p->edge_count + 1) > p->first[p->face_count]) return false; /* not closed */
        p->edge[e][0] = low;
        p->edge[e][1] = high;
        p->edge_count++;
      }
      p->side[k] = e;
    }
  if (2 * p->edge_count != p->first[p->face_count]) return false;
  for (int e = 0; e < p->edge_count; ++e)
    for (int end = 0; end < 2; ++end) p->link_first[p->edge[e][end] + 1]++;
  for (int v = 0; v < p->vertex_count; ++v) p->link_first[v + 1] += p->link_first[v];
  for (int v = 0, at = 0; v < p->vertex_count; ++v)
    for (int e = 0; e < p->edge_count; ++e)
      if (p->edge[e][0] == v || p->edge[e][1] == v) p->link[at++] = e;
  return true;
}

/* Number of the point that is corner k of a ring of vertices. */
static int point_of(qhT *qh, const setT *ring, int k) {
  return qh_pointid(qh, ((const vertexT *)ring->e[k].p)->point);
}

/* The faces that Qhull has found; `index` [count] is room for the new numbers of the points. */
static scree_Polyhedron *take_faces(qhT *qh, const scree_Vec3 *points, int count, int *index,
                                    scree_Vec3 *vertices) {
  int faces = 0, corners = 0, used = 0;
  for (int k = 0; k < count; ++k) index[k] = -1;
  for (facetT *facet = qh->facet_list; facet && facet->next; facet = facet->next, ++faces) {
    setT *ring = qh_facet3vertex(qh, facet);
    const int n = qh_setsize(qh, ring);
    for (int k = 0; k < n; ++k) index[point_of(qh, ring, k)] = 0;
    corners += n;
    qh_settempfree(qh, &ring);
  }
  for (int k = 0; k < count; ++k)
    if (index[k] == 0) {
      vertices[used] = points[k];
      index[k] = used++;
    }
  scree_Polyhedron *p = SCREE_ALLOC(scree_Polyhedron, 1);
  if (!p || !allocate(p, used, faces, corners)) {
    scree_polyhedron_destroy(p);
    return NULL;
  }
  for (facetT *facet = qh->facet_list; facet && facet->next; facet = facet->next) {
    const int first = p->first[p->face_count];
    setT *ring = qh_facet3vertex(qh, facet);
    const int n = qh_setsize(qh, ring);
    for (int k = 0; k < n; ++k) p->corner[first + k] = index[point_of(qh, ring, k)];
    qh_settempfree(qh, &ring);
    const scree_Vec3 out = scree_vec3(facet->normal[0], facet->normal[1], facet->normal[2]);
    scree_Vec3 area = area_of(vertices, p->corner + first, n);
    if (scree_dot(area, out) < 0) {
      for (int i = 0, j = n - 1; i < j; ++i, --j) {
        const int swap = p->corner[first + i];
        p->corner[first + i] = p->corner[first + j];
        p->corner[first + j] = swap;
      }
      area = scree_neg(area);
    }
    p->normal[p->face_count++] = scree_unit_or(area, out);
    p->first[p->face_count] = first + n;
  }
  if (name_edges(p)) return p;
  scree_polyhedron_destroy(p);
  return NULL;
}

scree_Status scree_hull_create(const scree_Vec3 *points, int count, scree_Vec3 *vertices,
                               scree_Polyhedron **polyhedron, const scree_Log *log) {
  *polyhedron = NULL;
  if (count < VERTICES_LEAST)
    return scree_fail(log, SCREE_BAD_INPUT, "polyhedron: found %d vertices, expected at least 4",
                      count);
  for (int k = 0; k < count; ++k)
    if (!isfinite(points[k].x) || !isfinite(points[k].y) || !isfinite(points[k].z))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "polyhedron: vertex %d is (%g, %g, %g), expected finite numbers", k,
                        points[k].x, points[k].y, points[k].z);
  char message[MESSAGE] = "";
  double *copy = SCREE_ALLOC(double, 3 * (size_t)count);
  int *index = SCREE_ALLOC(int, count);
  FILE *errors = fmemopen(message, sizeof message, "w");
  qhT *qh = SCREE_ALLOC(qhT, 1);
  if (!copy || !index || !errors || !qh) {
    if (errors) fclose(errors);
    scree_free(copy);
    scree_free(index);
    scree_free(qh);
    return scree_fail_memory(log, "the hull of a polyhedron");
  }
  for (int k = 0; k < count; ++k)
    copy[3 * k] = points[k].x, copy[3 * k + 1] = points[k].y, copy[3 * k + 2] = points[k].z;
  qh_zero(qh, errors);
  char options[] = "qhull Pp";
  const int failed = qh_new_qhull(qh, 3, count, copy, False, options, NULL, errors);
  if (!failed) *polyhedron = take_faces(qh, points, count, index, vertices);
  int left, bytes;
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &left, &bytes);
  fclose(errors);
  scree_free(copy);
  scree_free(index);
  scree_free(qh);
  if (*polyhedron) return SCREE_OK;
  if (failed)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "polyhedron: its %d vertices have no hull, expected points that are not in "
                      "one plane (Qhull: %.100s)",
                      count, message);
  return scree_fail(log, SCREE_BAD_INPUT,
                    "polyhedron: the hull of its %d vertices is not a closed surface, expected "
                    "points that are further apart",
                    count);
}

/* Building and searching of triangle meshes (see trimesh.h). The tree is split at the median of the
 * longest extent of the triangles' centres, so that its depth is logarithmic for any mesh. */
#include "geometry/trimesh.h"

#include "core/log.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, DEPTH = 64 };

/* Sine of the angle between neighbours below which their edge counts as flat. */
static const double FLAT = 1e-6;

void scree_trimesh_destroy(scree_TriangleMesh *m) {
  if (!m) return;
  scree_free(m->vertex);
  scree_free(m->triangle);
  scree_free(m->side);
  scree_free(m->normal);
  scree_free(m->edge);
  scree_free(m->sharp);
  scree_free(m->owner);
  scree_free(m->link_first);
  scree_free(m->link);
  scree_free(m->node);
  scree_free(m->order);
  scree_free(m);
}

size_t scree_trimesh_memory(const scree_TriangleMesh *m) {
  return sizeof *m +
         (size_t)m->vertex_count * (sizeof(scree_Vec3) + sizeof(bool) + 2 * sizeof(int)) +
         (size_t)m->triangle_count * (7 * sizeof(int) + sizeof(scree_Vec3)) +
         (size_t)m->edge_count * (sizeof(scree_MeshEdge) + 2 * sizeof(int)) +
         (size_t)m->node_count * sizeof(scree_MeshNode);
}

/* ---- edges ---- */

typedef struct Half {
  int low, high, triangle, corner;
} Half;

static int compare_halves(const void *left, const void *right) {
  const Half *a = left, *b = right;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* The corner of a triangle that is not on an edge. */
static scree_Vec3 opposite(const scree_TriangleMesh *m, int triangle, const scree_MeshEdge *edge) {
  const int *t = m->triangle[triangle];
  for (int k = 0; k < 3; ++k)
    if (t[k] != edge->vertex[0] && t[k] != edge->vertex[1]) return m->vertex[t[k]];
  return m->vertex[t[0]];
}

static bool is_sharp(const scree_TriangleMesh *m, const scree_MeshEdge *e) {
  if (e->triangle[1] < 0) return true;
  const scree_Vec3 at = m->vertex[e->vertex[0]];
  const scree_Vec3 to = scree_sub(opposite(m, e->triangle[1], e), at);
  return scree_dot(m->normal[e->triangle[0]], to) < -FLAT * scree_norm(to);
}

static bool make_edges(scree_TriangleMesh *m) {
  const size_t n = 3 * (size_t)m->triangle_count;
  Half *half = SCREE_ALLOC(Half, n);
  m->edge = SCREE_ALLOC(scree_MeshEdge, n);
  if (!half || !m->edge) {
    scree_free(half);
    return false;
  }
  for (int t = 0; t < m->triangle_count; ++t)
    for (int k = 0; k < 3; ++k) {
      const int a = m->triangle[t][k], b = m->triangle[t][(k + 1) % 3];
      half[3 * (size_t)t + (size_t)k] = (Half){a < b ? a : b, a < b ? b : a, t, k};
    }
  qsort(half, n, sizeof *half, compare_halves);
  for (size_t first = 0, last; first < n; first = last) {
    scree_MeshEdge *e = &m->edge[m->edge_count];
    *e = (scree_MeshEdge){{half[first].low, half[first].high}, {half[first].triangle, -1}, false};
    for (last = first;
         last < n && half[last].low == half[first].low && half[last].high == half[first].high;
         ++last) {
      /* where more than two meet, the first two count as neighbours */
      if (last == first + 1) e->triangle[1] = half[last].triangle;
      m->side[half[last].triangle][half[last].corner] = m->edge_count;
    }
    e->sharp = is_sharp(m, e) || last > first + 2;
    m->edge_count++;
  }
  scree_free(half);
  return true;
}

static void make_links(scree_TriangleMesh *m) {
  for (int e = 0; e < m->edge_count; ++e)
    for (int end = 0; end < 2; ++end) {
      m->link_first[m->edge[e].vertex[end] + 1]++;
      if (m->edge[e].sharp) m->sharp[m->edge[e].vertex[end]] = true;
    }
  for (int v = 0; v < m->vertex_count; ++v) m->link_first[v + 1] += m->link_first[v];
  for (int e = m->edge_count - 1; e >= 0; --e) /* from the back: the counts become the starts */
    for (int end = 0; end < 2; ++end) m->link[--m->link_first[m->edge[e].vertex[end] + 1]] = e;
  for (int v = 0; v < m->vertex_count; ++v) m->link_first[v] = m->link_first[v + 1];
  m->link_first[m->vertex_count] = 2 * m->edge_count;
  for (int v = 0; v < m->vertex_count; ++v) m->owner[v] = -1;
  for (int t = m->triangle_count - 1; t >= 0; --t)
    for (int k = 0; k < 3; ++k) m->owner[m->triangle[t][k]] = t;
}

/* ---- tree ---- */

static scree_Aabb bounds_of(const scree_TriangleMesh *m, int t) {
  const scree_Vec3 a = m->vertex[m->triangle[t][0]], b = m->vertex[m->triangle[t][1]],
                   c = m->vertex[m->triangle[t][2]];
  return (scree_Aabb){
      scree_vec3(fmin(a.x, fmin(b.x, c.x)), fmin(a.y, fmin(b.y, c.y)), fmin(a.z, fmin(b.z, c.z))),
      scree_vec3(fmax(a.x, fmax(b.x, c.x)), fmax(a.y, fmax(b.y, c.y)), fmax(a.z, fmax(b.z, c.z)))};
}

static scree_Aabb join(scree_Aabb a, scree_Aabb b) {
  return (scree_Aabb){scree_vec3(fmin(a.lower.x, b.lower.x), fmin(a.lower.y, b.lower.y),
                                 fmin(a.lower.z, b.lower.z)),
                      scree_vec3(fmax(a.upper.x, b.upper.x), fmax(a.upper.y, b.upper.y),
                                 fmax(a.upper.z, b.upper.z))};
}

static double middle(const scree_TriangleMesh *m, int t, int axis) {
  const scree_Aabb box = bounds_of(m, t);
  return scree_component(box.lower, axis) + scree_component(box.upper, axis);
}

/* Quickselect: order[first .. first+count) such that the smaller half by (middle, number) comes
 * first. */
static void halve(scree_TriangleMesh *m, int first, int count, int axis) {
  int low = first, high = first + count - 1;
  const int target = first + count / 2;
  while (low < high) {
    const int pivot = m->order[low + (high - low) / 2];
    const double value = middle(m, pivot, axis);
    int i = low, j = high;
    while (i <= j) {
      for (;; ++i) {
        const double x = middle(m, m->order[i], axis);
        if (!(x < value || (x == value && m->order[i] < pivot))) break;
      }
      for (;; --j) {
        const double x = middle(m, m->order[j], axis);
        if (!(x > value || (x == value && m->order[j] > pivot))) break;
      }
      if (i > j) break;
      const int swap = m->order[i];
      m->order[i++] = m->order[j];
      m->order[j--] = swap;
    }
    if (target <= j)
      high = j;
    else if (target >= i)
      low = i;
    else
      break;
  }
}

static void build(scree_TriangleMesh *m, int node, int first, int count) {
  scree_Aabb box = bounds_of(m, m->order[first]);
  scree_Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = first; k < first + count; ++k) {
    box = join(box, bounds_of(m, m->order[k]));
    const scree_Vec3 c =
        scree_vec3(middle(m, m->order[k], 0), middle(m, m->order[k], 1), middle(m, m->order[k], 2));
    low = scree_vec3(fmin(low.x, c.x), fmin(low.y, c.y), fmin(low.z, c.z));
    high = scree_vec3(fmax(high.x, c.x), fmax(high.y, c.y), fmax(high.z, c.z));
  }
  m->node[node] = (scree_MeshNode){box, first, count};
  if (count <= LEAF) return;
  const scree_Vec3 e = scree_sub(high, low);
  const int axis = e.x >= e.y && e.x >= e.z ? 0 : e.y >= e.z ? 1 : 2;
  halve(m, first, count, axis);
  const int child = m->node_count;
  m->node_count += 2;
  m->node[node].first = child;
  m->node[node].count = 0;
  build(m, child, first, count / 2); /* depth is the logarithm of the count */
  build(m, child + 1, first + count / 2, count - count / 2);
}

static bool meet(const scree_Aabb *a, const scree_Aabb *b) {
  return a->lower.x <= b->upper.x && a->upper.x >= b->lower.x && a->lower.y <= b->upper.y &&
         a->upper.y >= b->lower.y && a->lower.z <= b->upper.z && a->upper.z >= b->lower.z;
}

void scree_trimesh_query(const scree_TriangleMesh *m, const scree_Aabb *box,
                         void (*visit)(void *user, int triangle), void *user) {
  int stack[DEPTH], top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const scree_MeshNode *node = &m->node[stack[--top]];
    if (!meet(&node->bounds, box)) continue;
    if (node->count == 0) {
      stack[top++] = node->first + 1;
      stack[top++] = node->first;
      continue;
    }
    for (int k = node->first; k < node->first + node->count; ++k) {
      const scree_Aabb own = bounds_of(m, m->order[k]);
      if (meet(&own, box)) visit(user, m->order[k]);
    }
  }
}

/* ---- create ---- */

static scree_Status check(const scree_Vec3 *v, int vertex_count, const int *triangles, int count,
                          const scree_Log *log) {
  if (count < 1)
    return scree_fail(log, SCREE_BAD_INPUT, "mesh: found no triangles, expected at least one");
  for (int k = 0; k < vertex_count; ++k)
    if (!isfinite(v[k].x) || !isfinite(v[k].y) || !isfinite(v[k].z))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "mesh: vertex %d is (%g, %g, %g), expected finite numbers", k, v[k].x,
                        v[k].y, v[k].z);
  for (int t = 0; t < count; ++t) {
    const int *c = triangles + 3 * (size_t)t;
    for (int k = 0; k < 3; ++k)
      if (c[k] < 0 || c[k] >= vertex_count)
        return scree_fail(log, SCREE_BAD_INPUT, "mesh: triangle %d has vertex %d, expected 0 .. %d",
                          t, c[k], vertex_count - 1);
    const scree_Vec3 a = scree_sub(v[c[1]], v[c[0]]), b = scree_sub(v[c[2]], v[c[0]]);
    if (!(scree_norm(scree_cross(a, b)) > 1e-12 * scree_norm(a) * scree_norm(b)))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "mesh: the corners of triangle %d (%d, %d, %d) lie on a line, expected an "
                        "area",
                        t, c[0], c[1], c[2]);
  }
  return SCREE_OK;
}

static bool allocate(scree_TriangleMesh *m) {
  const size_t nv = (size_t)m->vertex_count, nt = (size_t)m->triangle_count;
  m->vertex = SCREE_ALLOC(scree_Vec3, nv);
  m->triangle = scree_alloc(nt, sizeof *m->triangle);
  m->side = scree_alloc(nt, sizeof *m->side);
  m->normal = SCREE_ALLOC(scree_Vec3, nt);
  m->sharp = SCREE_ALLOC(bool, nv);
  m->owner = SCREE_ALLOC(int, nv);
  m->link_first = SCREE_ALLOC(int, nv + 1);
  m->link = SCREE_ALLOC(int, 6 * nt);
  m->node = SCREE_ALLOC(scree_MeshNode, 2 * nt);
  m->order = SCREE_ALLOC(int, nt);
  return m->vertex && m->triangle && m->side && m->normal && m->sharp && m->owner &&
         m->link_first && m->link && m->node && m->order;
}

scree_Status scree_trimesh_create(const scree_Vec3 *vertices, int vertex_count,
                                  const int *triangles, int triangle_count,
                                  scree_TriangleMesh **mesh, const scree_Log *log) {
  *mesh = NULL;
  scree_Status status = check(vertices, vertex_count, triangles, triangle_count, log);
  if (status) return status;
  scree_TriangleMesh *m = SCREE_ALLOC(scree_TriangleMesh, 1);
  if (m) {
    m->vertex_count = vertex_count;
    m->triangle_count = triangle_count;
  }
  if (!m || !allocate(m)) {
    scree_trimesh_destroy(m);
    return scree_fail_memory(log, "a mesh");
  }
  memcpy(m->vertex, vertices, (size_t)vertex_count * sizeof *vertices);
  for (int t = 0; t < triangle_count; ++t) {
    const int *c = triangles + 3 * (size_t)t;
    memcpy(m->triangle[t], c, sizeof m->triangle[t]);
    m->order[t] = t;
    m->normal[t] = scree_unit_or(scree_cross(scree_sub(vertices[c[1]], vertices[c[0]]),
                                             scree_sub(vertices[c[2]], vertices[c[0]])),
                                 scree_vec3(0, 0, 1));
  }
  if (!make_edges(m)) {
    scree_trimesh_destroy(m);
    return scree_fail_memory(log, "a mesh");
  }
  make_links(m);
  m->node_count = 1;
  build(m, 0, 0, triangle_count);
  *mesh = m;
  return SCREE_OK;
}

/* ---- deformation ---- */

scree_TriangleMesh *scree_trimesh_copy(const scree_TriangleMesh *from) {
  scree_TriangleMesh *m = SCREE_ALLOC(scree_TriangleMesh, 1);
  if (!m) return NULL;
  m->vertex_count = from->vertex_count;
  m->triangle_count = from->triangle_count;
  const size_t nv = (size_t)m->vertex_count, nt = (size_t)m->triangle_count;
  const size_t ne = (size_t)from->edge_count;
  m->edge = SCREE_ALLOC(scree_MeshEdge, ne);
  if (!m->edge || !allocate(m)) {
    scree_trimesh_destroy(m);
    return NULL;
  }
  m->edge_count = from->edge_count;
  m->node_count = from->node_count;
  memcpy(m->vertex, from->vertex, nv * sizeof *m->vertex);
  memcpy(m->triangle, from->triangle, nt * sizeof *m->triangle);
  memcpy(m->side, from->side, nt * sizeof *m->side);
  memcpy(m->normal, from->normal, nt * sizeof *m->normal);
  memcpy(m->edge, from->edge, ne * sizeof *m->edge);
  memcpy(m->sharp, from->sharp, nv * sizeof *m->sharp);
  memcpy(m->owner, from->owner, nv * sizeof *m->owner);
  memcpy(m->link_first, from->link_first, (nv + 1) * sizeof *m->link_first);
  memcpy(m->link, from->link, 2 * ne * sizeof *m->link);
  memcpy(m->node, from->node, (size_t)m->node_count * sizeof *m->node);
  memcpy(m->order, from->order, nt * sizeof *m->order);
  return m;
}

void scree_trimesh_move(scree_TriangleMesh *m, const scree_Vec3 *vertices) {
  memcpy(m->vertex, vertices, (size_t)m->vertex_count * sizeof *vertices);
  for (int t = 0; t < m->triangle_count; ++t) {
    const int *c = m->triangle[t];
    m->normal[t] = scree_unit_or(scree_cross(scree_sub(vertices[c[1]], vertices[c[0]]),
                                             scree_sub(vertices[c[2]], vertices[c[0]])),
                                 m->normal[t]);
  }
  /* children come after their parents */
  for (int k = m->node_count - 1; k >= 0; --k) {
    scree_MeshNode *node = &m->node[k];
    if (node->count == 0) {
      node->bounds = join(m->node[node->first].bounds, m->node[node->first + 1].bounds);
      continue;
    }
    node->bounds = bounds_of(m, m->order[node->first]);
    for (int j = node->first + 1; j < node->first + node->count; ++j)
      node->bounds = join(node->bounds, bounds_of(m, m->order[j]));
  }
}

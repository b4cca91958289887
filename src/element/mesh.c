/* Creation of meshes of elements (see mesh.h).
 *
 * An element with negative volume gets its corners in the order of its mirror image. One for which
 * the map from its own coordinates is not one to one is refused: at the corners, where a
 * multilinear map folds first, the determinant of the map must exceed a small part of the size. */
#include "element/mesh.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Least determinant of the map of an element at a corner, relative to the cube of its diameter. */
static const double least_determinant = 1e-12;

static void free_all(scree_ElementMesh *m) {
  void *arrays[] = {m->node,    m->kind,        m->corner_row,   m->corner, m->point_row,
                    m->volume,  m->gradient,    m->gradient_row, m->part,   m->row,
                    m->col,     m->pair_row,    m->pair,         m->face,   m->face_corners,
                    m->surface, m->face_element};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  scree_free(m);
}

/* The derivative dX/dxi of the map (dimension x dimension; the rest is the identity). */
static void derivative(const scree_ElementMesh *m, int element, double (*dN)[3], double J[3][3]) {
  const scree_ElementClass *class = scree_element_class(m, element);
  const int *corner = m->corner + m->corner_row[element];
  memset(J, 0, 9 * sizeof J[0][0]);
  if (m->dimension == 2) J[2][2] = 1;
  for (int a = 0; a < class->corners; ++a) {
    const scree_Vec3 X = m->node[corner[a]];
    const double x[3] = {X.x, X.y, X.z};
    for (int i = 0; i < m->dimension; ++i)
      for (int k = 0; k < m->dimension; ++k) J[i][k] += x[i] * dN[a][k];
  }
}

static double determinant(double J[3][3]) {
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
         J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

static void invert(double J[3][3], double det, double inverse[3][3]) {
  assert(det != 0);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
      inverse[k][i] = (J[a][c] * J[b][d] - J[a][d] * J[b][c]) / det;
    }
}

/* The coordinates of corner a in the element's own frame. */
static void corner_place(const scree_ElementClass *class, int a, double xi[3]) {
  const bool simplex = class->corners == class->dimension + 1;
  const double unit = sqrt(3); /* times a Gauss point: the corner beside it */
  for (int k = 0; k < 3; ++k) {
    if (simplex)
      xi[k] = a == k + 1 ? 1 : 0;
    else
      xi[k] = unit * class->place[a][k];
  }
}

/* Smallest and largest determinant at the corners. */
static void corner_determinants(const scree_ElementMesh *m, int element, double *least,
                                double *most) {
  const scree_ElementClass *class = scree_element_class(m, element);
  *least = INFINITY, *most = -INFINITY;
  for (int a = 0; a < class->corners; ++a) {
    double xi[3], N[SCREE_ELEMENT_CORNERS], dN[SCREE_ELEMENT_CORNERS][3], J[3][3];
    corner_place(class, a, xi);
    class->shape(xi, N, dN);
    derivative(m, element, dN, J);
    const double det = determinant(J);
    *least = fmin(*least, det), *most = fmax(*most, det);
  }
}

static double diameter(const scree_ElementMesh *m, int element) {
  const int *corner = m->corner + m->corner_row[element];
  const int n = scree_element_class(m, element)->corners;
  double most = 0;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < a; ++b)
      most = fmax(most, scree_norm(scree_sub(m->node[corner[a]], m->node[corner[b]])));
  return most;
}

/* Reorder the corners of an element that is inside out; refuse one that is folded or flat. */
static scree_Status orient(scree_ElementMesh *m, int element, const scree_Log *log) {
  const scree_ElementClass *class = scree_element_class(m, element);
  const double size = diameter(m, element);
  const double limit = least_determinant * size * size * (m->dimension == 3 ? size : 1);
  double least, most;
  corner_determinants(m, element, &least, &most);
  if (most < -limit) {
    int *corner = m->corner + m->corner_row[element], old[SCREE_ELEMENT_CORNERS];
    memcpy(old, corner, (size_t) class->corners * sizeof *old);
    for (int a = 0; a < class->corners; ++a) corner[a] = old[class->turned[a]];
    corner_determinants(m, element, &least, &most);
  }
  if (least > limit) return SCREE_OK;
  return scree_fail(
      log, SCREE_BAD_INPUT,
      "element %d (%s): found it flat or folded (determinant %g at a corner), expected "
      "an element that is convex at every corner",
      element, class->name, least);
}

/* Gradients and volumes of the points of integration, and the volumes of the corners. */
static void integrate(scree_ElementMesh *m, int element) {
  const scree_ElementClass *class = scree_element_class(m, element);
  const int *corner = m->corner + m->corner_row[element];
  double *part = m->part + m->corner_row[element];
  for (int p = 0; p < class->points; ++p) {
    double N[SCREE_ELEMENT_CORNERS], dN[SCREE_ELEMENT_CORNERS][3], J[3][3], inverse[3][3];
    class->shape(class->place[p], N, dN);
    derivative(m, element, dN, J);
    const double det = determinant(J), volume = det * class->weight[p];
    invert(J, det, inverse);
    m->volume[m->point_row[element] + (size_t)p] = volume;
    m->total += volume;
    scree_Vec3 *gradient =
        m->gradient + m->gradient_row[element] + (size_t)p * (size_t) class->corners;
    for (int a = 0; a < class->corners; ++a) {
      double g[3] = {0, 0, 0};
      for (int i = 0; i < m->dimension; ++i)
        for (int k = 0; k < m->dimension; ++k) g[i] += dN[a][k] * inverse[k][i];
      gradient[a] = scree_vec3(g[0], g[1], g[2]);
      part[a] += N[a] * volume;
      m->centroid = scree_axpy(m->centroid, N[a] * volume, m->node[corner[a]]);
    }
  }
}

static scree_Status copy_nodes(scree_ElementMesh *m, const scree_Vec3 *nodes,
                               const scree_Log *log) {
  for (int k = 0; k < m->node_count; ++k) {
    const scree_Vec3 v = nodes[k];
    if (!isfinite(v.x) || !isfinite(v.y) || !isfinite(v.z))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "node %d: found a position that is not finite, expected finite coordinates",
                        k);
    m->node[k] = m->dimension == 2 ? scree_vec3(v.x, v.y, 0) : v;
  }
  return SCREE_OK;
}

static scree_Status copy_elements(scree_ElementMesh *m, const uint8_t *kinds, const int *corners,
                                  const scree_Log *log) {
  size_t corner = 0, point = 0, gradient = 0;
  for (int e = 0; e < m->element_count; ++e) {
    if (kinds[e] >= SCREE_ELEMENT_KINDS ||
        scree_element_classes[kinds[e]].dimension != m->dimension)
      return scree_fail(log, SCREE_BAD_INPUT, "element %d: found kind %d, expected one of %dD", e,
                        kinds[e], m->dimension);
    const scree_ElementClass *class = &scree_element_classes[kinds[e]];
    m->kind[e] = kinds[e];
    corner += (size_t) class->corners;
    point += (size_t) class->points;
    gradient += (size_t)(class->points * class->corners);
    m->corner_row[e + 1] = corner;
    m->point_row[e + 1] = point;
    m->gradient_row[e + 1] = gradient;
  }
  m->corner = SCREE_ALLOC(int, corner);
  m->part = SCREE_ALLOC(double, corner);
  m->volume = SCREE_ALLOC(double, point);
  m->gradient = SCREE_ALLOC(scree_Vec3, gradient);
  uint8_t *used = SCREE_ALLOC(uint8_t, m->node_count);
  scree_Status status = SCREE_OK;
  if (!m->corner || !m->part || !m->volume || !m->gradient || !used)
    status = scree_fail_memory(log, "the elements of a mesh");
  for (int e = 0; !status && e < m->element_count; ++e)
    for (size_t k = m->corner_row[e]; !status && k < m->corner_row[e + 1]; ++k) {
      m->corner[k] = corners[k];
      if (corners[k] < 0 || corners[k] >= m->node_count)
        status = scree_fail(log, SCREE_BAD_INPUT, "element %d: found node %d, expected 0 .. %d", e,
                            corners[k], m->node_count - 1);
      else
        used[corners[k]] = 1;
    }
  for (int k = 0; !status && k < m->node_count; ++k)
    if (!used[k])
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "node %d: found in no element, expected a mesh without unused nodes", k);
  scree_free(used);
  return status;
}

scree_Status scree_element_mesh_create(int dimension, const scree_Vec3 *nodes, int node_count,
                                       const uint8_t *kinds, const int *corners, int element_count,
                                       scree_ElementMesh **mesh, const scree_Log *log) {
  *mesh = NULL;
  if (dimension != 2 && dimension != 3)
    return scree_fail(log, SCREE_BAD_INPUT, "dimension: found %d, expected 2 or 3", dimension);
  if (node_count < 1 || element_count < 1)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "mesh: found %d nodes and %d elements, expected at least one element",
                      node_count, element_count);
  scree_ElementMesh *m = SCREE_ALLOC(scree_ElementMesh, 1);
  if (!m) return scree_fail_memory(log, "a mesh of elements");
  m->dimension = dimension;
  m->node_count = node_count;
  m->element_count = element_count;
  m->node = SCREE_ALLOC(scree_Vec3, node_count);
  m->kind = SCREE_ALLOC(uint8_t, element_count);
  m->corner_row = SCREE_ALLOC(size_t, (size_t)element_count + 1);
  m->point_row = SCREE_ALLOC(size_t, (size_t)element_count + 1);
  m->gradient_row = SCREE_ALLOC(size_t, (size_t)element_count + 1);
  scree_Status status = SCREE_OK;
  if (!m->node || !m->kind || !m->corner_row || !m->point_row || !m->gradient_row)
    status = scree_fail_memory(log, "a mesh of elements");
  if (!status) status = copy_nodes(m, nodes, log);
  if (!status) status = copy_elements(m, kinds, corners, log);
  for (int e = 0; !status && e < element_count; ++e) {
    status = orient(m, e, log);
    if (!status) integrate(m, e);
  }
  if (!status) m->centroid = scree_scale(1 / m->total, m->centroid);
  if (!status) status = scree_element_mesh_find_surface(m, log);
  if (!status) status = scree_element_mesh_find_graph(m, log);
  if (status) {
    free_all(m);
    return status;
  }
  *mesh = m;
  return SCREE_OK;
}

scree_Status scree_element_mesh_create_block(int dimension, scree_Vec3 semi, const int *divisions,
                                             scree_ElementMesh **mesh, const scree_Log *log) {
  *mesh = NULL;
  const int n[3] = {divisions[0], divisions[1], dimension == 3 ? divisions[2] : 1};
  const double half[3] = {semi.x, semi.y, dimension == 3 ? semi.z : 0};
  for (int k = 0; k < dimension; ++k) {
    if (n[k] < 1 || n[k] > 1000)
      return scree_fail(log, SCREE_BAD_INPUT, "divisions[%d]: found %d, expected 1 .. 1000", k,
                        n[k]);
    if (!(half[k] > 0) || !isfinite(half[k]))
      return scree_fail(log, SCREE_BAD_INPUT, "block: found the half extent %g, expected > 0",
                        half[k]);
  }
  const int nz = dimension == 3 ? n[2] + 1 : 1;
  const size_t nodes = (size_t)(n[0] + 1) * (size_t)(n[1] + 1) * (size_t)nz;
  const size_t elements = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
  if (nodes > INT_MAX / 8)
    return scree_fail(log, SCREE_BAD_INPUT, "block: found %zu nodes, expected at most %d", nodes,
                      INT_MAX / 8);
  scree_Vec3 *node = SCREE_ALLOC(scree_Vec3, nodes);
  uint8_t *kind = SCREE_ALLOC(uint8_t, elements);
  int *corner = SCREE_ALLOC(int, 8 * elements);
  const bool ready = node && kind && corner;
  scree_Status status = ready ? SCREE_OK : scree_fail_memory(log, "a block of elements");
  size_t at = 0;
  for (int k = 0; ready && k < nz; ++k)
    for (int j = 0; j <= n[1]; ++j)
      for (int i = 0; i <= n[0]; ++i)
        node[at++] = scree_vec3(half[0] * (2.0 * i / n[0] - 1), half[1] * (2.0 * j / n[1] - 1),
                                half[2] * (2.0 * k / n[2] - 1));
  int *to = corner;
  const int east = 1, north = n[0] + 1, up = (n[0] + 1) * (n[1] + 1);
  for (size_t e = 0; ready && e < elements; ++e) {
    const int i = (int)(e % (size_t)n[0]), j = (int)(e / (size_t)n[0] % (size_t)n[1]);
    const int k = (int)(e / ((size_t)n[0] * (size_t)n[1]));
    const int a = i * east + j * north + k * up;
    kind[e] = dimension == 3 ? SCREE_ELEMENT_HEXAHEDRON : SCREE_ELEMENT_QUADRILATERAL;
    const int ring[4] = {a, a + east, a + east + north, a + north};
    for (int b = 0; b < 4; ++b) *to++ = ring[b];
    for (int b = 0; dimension == 3 && b < 4; ++b) *to++ = ring[b] + up;
  }
  if (ready)
    status = scree_element_mesh_create(dimension, node, (int)nodes, kind, corner, (int)elements,
                                       mesh, log);
  scree_free(node);
  scree_free(kind);
  scree_free(corner);
  return status;
}

scree_ElementMesh *scree_element_mesh_share(scree_ElementMesh *mesh) {
  if (mesh) __atomic_add_fetch(&mesh->shared, 1, __ATOMIC_RELAXED);
  return mesh;
}

void scree_element_mesh_destroy(scree_ElementMesh *mesh) {
  if (mesh && __atomic_fetch_sub(&mesh->shared, 1, __ATOMIC_ACQ_REL) == 0) free_all(mesh);
}

int scree_element_mesh_dimension(const scree_ElementMesh *mesh) {
  return mesh->dimension;
}

int scree_element_mesh_node_count(const scree_ElementMesh *mesh) {
  return mesh->node_count;
}

const scree_Vec3 *scree_element_mesh_nodes(const scree_ElementMesh *mesh) {
  return mesh->node;
}

int scree_element_mesh_element_count(const scree_ElementMesh *mesh) {
  return mesh->element_count;
}

const int *scree_element_mesh_element(const scree_ElementMesh *mesh, int element,
                                      scree_ElementKind *kind) {
  if (kind) *kind = (scree_ElementKind)mesh->kind[element];
  return mesh->corner + mesh->corner_row[element];
}

double scree_element_mesh_volume(const scree_ElementMesh *mesh) {
  return mesh->total;
}

scree_Vec3 scree_element_mesh_centroid(const scree_ElementMesh *mesh) {
  return mesh->centroid;
}

/* The solid of a mesh of finite elements: its surface as triangles, of which quadrilaterals give
 * two. The frame is that of the principal axes, as of a polyhedron. */
#include "core/log.h"
#include "core/memory.h"
#include "element/mesh.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"

/* Half extents of a block, for scenes; the mesh itself decides the shape. */
static const scree_ShapeParameter parameters[] = {
    {"half_x", SCREE_SHAPE_FIELD(semi.x), true, 0, true, false, "half extent of a block along x",
     false},
    {"half_y", SCREE_SHAPE_FIELD(semi.y), true, 0, true, false, "half extent of a block along y",
     false},
    {"half_z", SCREE_SHAPE_FIELD(semi.z), true, 0, true, false, "half extent of a block along z",
     false}};

/* Second moments by the points of integration (exact for boxes), of tetrahedra by their corners. */
static void add_element(const scree_ElementMesh *m, int e, scree_Moments *sum) {
  const scree_ElementClass *class = scree_element_class(m, e);
  const int *corner = m->corner + m->corner_row[e];
  if (m->kind[e] == SCREE_ELEMENT_TETRAHEDRON) {
    scree_moments_add_tetrahedron(sum, m->node[corner[0]], m->node[corner[1]], m->node[corner[2]],
                                  m->node[corner[3]]);
    return;
  }
  for (int p = 0; p < class->points; ++p) {
    double N[SCREE_ELEMENT_CORNERS], dN[SCREE_ELEMENT_CORNERS][3];
    class->shape(class->place[p], N, dN);
    scree_Vec3 x = {0, 0, 0};
    for (int a = 0; a < class->corners; ++a) x = scree_axpy(x, N[a], m->node[corner[a]]);
    const scree_Mat3 axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    scree_moments_add(sum, m->volume[m->point_row[e] + (size_t)p], x, &axes, scree_vec3(0, 0, 0));
  }
}

/* The mesh in its principal frame: the one that is given where it is there already. */
static scree_Status place(scree_Shape *s, const scree_ElementMesh *from, const scree_Log *log) {
  scree_Moments sum = {0};
  scree_Vec3 moments;
  for (int e = 0; e < from->element_count; ++e) add_element(from, e, &sum);
  const scree_Pose frame = scree_moments_frame(&sum, &moments);
  s->data->frame = frame;
  s->volume = from->total;
  s->inertia = moments;
  scree_Vec3 *node = SCREE_ALLOC(scree_Vec3, from->node_count);
  if (!node) return scree_fail_memory(log, "a shape of elements");
  for (int k = 0; k < from->node_count; ++k) node[k] = scree_pose_invert(&frame, from->node[k]);
  const scree_Status status =
      scree_element_mesh_create(3, node, from->node_count, from->kind, from->corner,
                                from->element_count, &s->data->elements, log);
  scree_free(node);
  return status;
}

/* Triangles of the surface, over the nodes that lie on it. */
static scree_Status cover(scree_Shape *s, const scree_Log *log) {
  const scree_ElementMesh *m = s->data->elements;
  int *rank = SCREE_ALLOC(int, m->node_count), *triangle = SCREE_ALLOC(int, 6 * m->face_count);
  scree_Vec3 *vertex = SCREE_ALLOC(scree_Vec3, m->surface_count);
  scree_Status status = SCREE_OK;
  if (!rank || !triangle || !vertex) status = scree_fail_memory(log, "a shape of elements");
  int count = 0;
  for (int k = 0; !status && k < m->surface_count; ++k) {
    rank[m->surface[k]] = k;
    vertex[k] = m->node[m->surface[k]];
  }
  for (int f = 0; !status && f < m->face_count; ++f)
    for (int c = 2; c < m->face_corners[f]; ++c, ++count) {
      triangle[3 * count] = rank[m->face[f][0]];
      triangle[3 * count + 1] = rank[m->face[f][c - 1]];
      triangle[3 * count + 2] = rank[m->face[f][c]];
    }
  if (!status)
    status = scree_trimesh_create(vertex, m->surface_count, triangle, count, &s->data->mesh, log);
  scree_free(rank);
  scree_free(triangle);
  scree_free(vertex);
  return status;
}

static scree_Status init(scree_Shape *s, const scree_ShapeSource *source, const scree_Log *log) {
  if (!source->elements || source->elements->dimension != 3)
    return scree_fail(log, SCREE_BAD_INPUT, "elements: found %s, expected a mesh of 3 dimensions",
                      source->elements ? "a mesh of 2 dimensions" : "no mesh");
  s->data = scree_shape_data_create();
  if (!s->data) return scree_fail_memory(log, "a shape of elements");
  scree_Status status = place(s, source->elements, log);
  if (!status) status = cover(s, log);
  if (status) return status;
  s->vertices = s->data->mesh->vertex;
  s->vertex_count = s->data->mesh->vertex_count;
  for (int k = 0; k < s->vertex_count; ++k)
    s->bounding_radius = fmax(s->bounding_radius, scree_norm(s->vertices[k]));
  const scree_Aabb box = s->data->mesh->node[0].bounds;
  const scree_Vec3 e = scree_sub(box.upper, box.lower);
  s->size = fmin(e.x, fmin(e.y, e.z));
  return SCREE_OK;
}

static scree_Aabb bounds(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  scree_Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < s->vertex_count; ++k) {
    const scree_Vec3 x = scree_mat3_mul(R, s->vertices[k]);
    low = scree_vec3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
    high = scree_vec3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
  }
  return (scree_Aabb){scree_add(p, low), scree_add(p, high)};
}

const scree_ShapeClass scree_shape_elements_class = {
    .type = {.name = "elements",
             .summary =
                 "solid of finite elements: a block divided into hexahedra, or a mesh of Gmsh",
             .dimension = 3,
             .bounded = true,
             .takes_elements = true,
             SCREE_SHAPE_TABLE(parameters)},
    .init = init,
    .bounds = bounds};

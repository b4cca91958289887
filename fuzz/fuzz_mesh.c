/* Mesh files: OBJ, and STL as text or binary, by the first byte of the input. A mesh that is read
 * has numbers of vertices that exist; shapes are made of small ones. */
#include "fuzz.h"

#include "scene/mesh_file.h"
#include "scree/shape.h"

#include <math.h>

enum { MOST = 400 };

static void make_shapes(const scree_MeshFile *mesh) {
  scree_Shape shape;
  fuzz_errors = 0;
  scree_Status status =
      scree_shape_init_polyhedron(&shape, mesh->vertices, mesh->vertex_count, &fuzz_log);
  demand(status == SCREE_OK || fuzz_errors > 0, "a polyhedron that is refused says why");
  if (status == SCREE_OK) demand(shape.volume > 0, "a polyhedron has a volume");
  if (status == SCREE_OK) scree_shape_fini(&shape);
  fuzz_errors = 0;
  status = scree_shape_init_mesh(&shape, mesh->vertices, mesh->vertex_count, mesh->triangles,
                                 mesh->triangle_count, &fuzz_log);
  demand(status == SCREE_OK || fuzz_errors > 0, "a mesh that is refused says why");
  if (status == SCREE_OK) scree_shape_fini(&shape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  scree_MeshFile mesh;
  fuzz_errors = 0;
  const scree_Status status = scree_mesh_file_parse(
      data[0] % 2 ? "fuzz.obj" : "fuzz.stl", (const char *)data + 1, size - 1, &mesh, &fuzz_log);
  fuzz_check_status(status);
  for (int k = 0; k < 3 * mesh.triangle_count; ++k)
    demand(mesh.triangles[k] >= 0 && mesh.triangles[k] < mesh.vertex_count, "corners are vertices");
  if (status == SCREE_OK && mesh.vertex_count <= MOST && mesh.triangle_count <= MOST)
    make_shapes(&mesh);
  scree_mesh_file_fini(&mesh);
  return 0;
}

/* Gmsh's mesh files, in 2D and 3D by the first byte of the input. A mesh that is read has positive
 * volumes, and its surface and its graph have numbers of nodes that exist. */
#include "fuzz.h"

#include "element/mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  scree_ElementMesh *mesh;
  fuzz_errors = 0;
  const scree_Status status = scree_element_mesh_parse("fuzz.msh", (const char *)data + 1, size - 1,
                                                       data[0] % 2 ? 3 : 2, &mesh, &fuzz_log);
  fuzz_check_status(status);
  if (status != SCREE_OK) return 0;
  for (size_t k = 0; k < mesh->point_row[mesh->element_count]; ++k)
    demand(mesh->volume[k] > 0, "every point of integration has a volume");
  for (int k = 0; k < mesh->surface_count; ++k)
    demand(mesh->surface[k] >= 0 && mesh->surface[k] < mesh->node_count, "surface nodes exist");
  for (int k = 0; k < mesh->node_count; ++k)
    for (size_t e = mesh->row[k]; e < mesh->row[k + 1]; ++e)
      demand(mesh->col[e] >= 0 && mesh->col[e] < k, "the graph is below the diagonal");
  scree_element_mesh_destroy(mesh);
  return 0;
}

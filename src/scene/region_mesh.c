/* Regions inside of a closed surface of triangles, read from an OBJ or STL file.
 *
 * Whether a ball lies inside: the signed distance of its centre from the surface, by the closest
 * triangle (geometry/surface.h). */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/surface.h"
#include "scene/mesh_file.h"
#include "scene/scene.h"

#include <math.h>

/* The sum of signed tetrahedra over the origin: positive if triangles are counter-clockwise as seen
 * from outside. */
static double signed_volume(const scree_MeshFile *file) {
  double sum = 0;
  for (int t = 0; t < file->triangle_count; ++t) {
    const int *corner = file->triangles + 3 * (size_t)t;
    sum += scree_dot(file->vertices[corner[0]],
                     scree_cross(file->vertices[corner[1]], file->vertices[corner[2]]));
  }
  return sum / 6;
}

static int open_edges(const scree_TriangleMesh *mesh) {
  int count = 0;
  for (int e = 0; e < mesh->edge_count; ++e) count += mesh->edge[e].triangle[1] < 0;
  return count;
}

scree_Status scree_region_read_mesh(scree_Scene *scene, scree_Node *node, const scree_Log *log,
                                    scree_Region *region) {
  scree_Node *name = scree_node_find(node, "file");
  const char *path = scree_scene_path(scene, name, log);
  if (!path) return SCREE_BAD_INPUT;
  name->text = path;
  scree_MeshFile file = {0};
  scree_Status status = scree_mesh_file_read(path, &file, log);
  if (status) return status;
  *region = (scree_Region){.kind = SCREE_REGION_MESH,
                           .dimension = scene->dimension,
                           .centre = scree_scene_vector(node, "position"),
                           .volume = signed_volume(&file)};
  /* the inside is the same whichever way the triangles are turned */
  for (int t = 0; region->volume < 0 && t < file.triangle_count; ++t) {
    int *corner = file.triangles + 3 * (size_t)t, first = corner[0];
    corner[0] = corner[1];
    corner[1] = first;
  }
  region->volume = fabs(region->volume);
  scree_TriangleMesh *mesh = NULL;
  status = scree_trimesh_create(file.vertices, file.vertex_count, file.triangles,
                                file.triangle_count, &mesh, log);
  scree_mesh_file_fini(&file);
  if (status) return status;
  scene->region_mesh[scene->region_mesh_count++] = mesh;
  const int open = open_edges(mesh);
  if (open > 0)
    return scree_scene_refuse(scene, name, log,
                              "region: %d edges of the mesh belong to one triangle alone, expected "
                              "a closed surface",
                              open);
  if (!(region->volume > 0))
    return scree_scene_refuse(scene, name, log, "region: the mesh encloses no volume");
  region->mesh = mesh;
  region->lower = scree_add(region->centre, mesh->node[0].bounds.lower);
  region->upper = scree_add(region->centre, mesh->node[0].bounds.upper);
  return SCREE_OK;
}

bool scree_region_mesh_holds(const scree_Region *region, scree_Vec3 centre, double radius) {
  const scree_Pose pose = {region->centre, {1, 0, 0, 0}};
  const double most = scree_norm(scree_sub(region->upper, region->lower));
  const scree_Surface surface = {region->mesh, &pose, scree_quat_matrix(pose.orientation), most};
  scree_Closest closest;
  scree_Vec3 normal;
  double gap;
  /* near triangles first: most balls that do not fit are found there */
  if (radius > 0 &&
      scree_surface_closest(&surface, centre, radius, radius, &closest, &gap, &normal))
    return false;
  return scree_surface_closest(&surface, centre, fmax(-radius, 0), most, &closest, &gap, &normal) &&
         gap <= -radius;
}

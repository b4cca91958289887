/* The deformed surface of finite-element bodies (see mesh.h): the flat triangles of the body's
 * shape between the nodes of a frame, with the stress at the nodes. */
#include "core/log.h"
#include "core/memory.h"
#include "element/assemble.h"
#include "math/vec3.h"
#include "view/mesh.h"

double scree_node_mises(const scree_ReplayFrame *frame, int node) {
  return scree_stress_mises(frame->node_stress + 6 * (size_t)node);
}

double scree_mesh_mean_mises(const scree_ReplayBody *body, const scree_ReplayFrame *frame) {
  double sum = 0;
  for (int k = 0; k < body->node_count; ++k) sum += scree_node_mises(frame, body->node_first + k);
  return sum / body->node_count;
}

scree_Status scree_mesh_nodes(const scree_ReplayBody *body, const scree_ReplayFrame *frame,
                              const scree_Pose *pose, const scree_Log *log, scree_DrawnMesh *mesh) {
  const size_t n = (size_t)scree_shape_triangle_count(&body->shape);
  const int *corner = scree_shape_triangles(&body->shape, NULL);
  if (!scree_grow((void **)&mesh->point, &mesh->point_capacity, 9 * n, sizeof(double)) ||
      !scree_grow((void **)&mesh->normal, &mesh->normal_capacity, 9 * n, sizeof(double)) ||
      !scree_grow((void **)&mesh->value, &mesh->value_capacity, 3 * n, sizeof(double)) ||
      !scree_grow((void **)&mesh->triangle, &mesh->triangle_capacity, 3 * n, sizeof(int)))
    return scree_fail_memory(log, "the triangles of a deformed body");
  mesh->points = 3 * n;
  mesh->triangles = n;
  mesh->stressed = true;
  mesh->sheet = false;
  for (size_t t = 0; t < n; ++t) {
    scree_Vec3 x[3];
    for (size_t k = 0; k < 3; ++k) {
      const int node = body->node_first + body->surface_node[corner[3 * t + k]];
      const double *at = frame->node + 3 * (size_t)node;
      x[k] = scree_pose_invert(pose, scree_vec3(at[0], at[1], at[2]));
      mesh->value[3 * t + k] = scree_node_mises(frame, node);
      mesh->triangle[3 * t + k] = (int)(3 * t + k);
    }
    const scree_Vec3 out = scree_unit_or(scree_cross(scree_sub(x[1], x[0]), scree_sub(x[2], x[0])),
                                         scree_vec3(0, 0, 1));
    for (size_t k = 0; k < 3; ++k) {
      const double p[3] = {x[k].x, x[k].y, x[k].z}, m[3] = {out.x, out.y, out.z};
      for (size_t i = 0; i < 3; ++i) {
        mesh->point[9 * t + 3 * k + i] = p[i];
        mesh->normal[9 * t + 3 * k + i] = m[i];
      }
    }
  }
  return SCREE_OK;
}

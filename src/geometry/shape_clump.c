/* Clumps: several bounded shapes that move as one body. Volume, centroid and moments are sums over
 * the parts; the parts are then moved into the frame of the clump. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"

static scree_Status check_parts(const scree_ShapeSource *source, int dimension,
                                const scree_Log *log) {
  if (source->part_count < 1)
    return scree_fail(log, SCREE_BAD_INPUT, "clump: found no parts, expected at least one");
  for (int k = 0; k < source->part_count; ++k) {
    const scree_ClumpPart *part = &source->parts[k];
    const scree_ShapeType *type = scree_shape_type(part->shape.kind);
    if (type->dimension != dimension || !type->bounded || !type->convex)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "clump: part %d is a %s, expected a bounded convex shape in %dD", k,
                        type->name, dimension);
    if (!(part->shape.volume > 0))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "clump: part %d, a %s, has no volume, expected one above 0", k, type->name);
    const scree_Vec3 p = part->pose.position;
    const scree_Quat q = part->pose.orientation;
    const double norm = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z) || !isfinite(norm) || !(norm > 0))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "clump: the pose of part %d is not finite, or its orientation is zero: "
                        "expected a finite position and a quaternion other than zero",
                        k);
  }
  return SCREE_OK;
}

static scree_Status init(scree_Shape *s, const scree_ShapeSource *source, const scree_Log *log) {
  const bool flat = s->kind == SCREE_SHAPE_CLUMP_2D;
  scree_Status status = check_parts(source, flat ? 2 : 3, log);
  if (status) return status;
  s->data = scree_shape_data_create();
  if (s->data) s->data->parts = SCREE_ALLOC(scree_ClumpPart, source->part_count);
  if (!s->data || !s->data->parts) return scree_fail_memory(log, "the parts of a clump");
  scree_Moments sum = {0};
  for (int k = 0; k < source->part_count; ++k) {
    const scree_ClumpPart *from = &source->parts[k];
    scree_ClumpPart *part = &s->data->parts[s->data->part_count++];
    scree_shape_copy(&from->shape, &part->shape);
    part->pose = (scree_Pose){from->pose.position, scree_quat_normalize(from->pose.orientation)};
    const scree_Mat3 R = scree_quat_matrix(part->pose.orientation);
    if (flat)
      scree_moments_add_flat(&sum, part->shape.volume, part->pose.position, part->shape.inertia.z);
    else
      scree_moments_add(&sum, part->shape.volume, part->pose.position, &R, part->shape.inertia);
  }
  if (source->moments) sum = *source->moments;
  scree_Pose frame = scree_moments_frame(&sum, &s->inertia);
  if (flat) frame.orientation = scree_quat_identity();
  s->data->frame = frame;
  s->volume = sum.volume;
  s->size = INFINITY;
  const scree_Quat back = scree_quat_conj(frame.orientation);
  for (int k = 0; k < s->data->part_count; ++k) {
    scree_ClumpPart *part = &s->data->parts[k];
    part->pose.position = scree_pose_invert(&frame, part->pose.position);
    part->pose.orientation = scree_quat_normalize(scree_quat_mul(back, part->pose.orientation));
    s->size = fmin(s->size, part->shape.size);
    s->bounding_radius =
        fmax(s->bounding_radius, scree_norm(part->pose.position) + part->shape.bounding_radius);
  }
  return SCREE_OK;
}

static scree_Aabb bounds(const scree_Shape *s, const scree_Mat3 *R, scree_Vec3 p) {
  scree_Aabb all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int k = 0; k < s->data->part_count; ++k) {
    const scree_ClumpPart *part = &s->data->parts[k];
    const scree_Mat3 own = scree_quat_matrix(part->pose.orientation);
    const scree_Mat3 turned = scree_mat3_matmul(R, &own);
    const scree_Aabb one = scree_shape_bounds(&part->shape, &turned,
                                              scree_add(p, scree_mat3_mul(R, part->pose.position)));
    all.lower = scree_vec3(fmin(all.lower.x, one.lower.x), fmin(all.lower.y, one.lower.y),
                           fmin(all.lower.z, one.lower.z));
    all.upper = scree_vec3(fmax(all.upper.x, one.upper.x), fmax(all.upper.y, one.upper.y),
                           fmax(all.upper.z, one.upper.z));
  }
  return all;
}

const scree_ShapeClass scree_shape_clump_2d = {.type = {.name = "clump",
                                                        .summary = "union of several convex shapes",
                                                        .dimension = 2,
                                                        .bounded = true,
                                                        .takes_parts = true},
                                               .init = init,
                                               .bounds = bounds};
const scree_ShapeClass scree_shape_clump = {.type = {.name = "clump",
                                                     .summary = "union of several convex shapes",
                                                     .dimension = 3,
                                                     .bounded = true,
                                                     .takes_parts = true},
                                            .init = init,
                                            .bounds = bounds};

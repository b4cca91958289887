/* Meshes of the different shapes of a run (see vtk_glyphs.h). */
#include "view/vtk_glyphs.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

/* Points of scaled copies of one shape agree to this, relative to the size. */
static const double SAME = 1e-9;

/* Scale of a body's glyph. Spheres, disks, ellipses, ellipsoids and boxes have glyphs of unit size;
 * the scale of all others is that of their bounding ball. */
static scree_Vec3 scale_of(const scree_Shape *shape) {
  const double r = shape->bounding_radius;
  if (scree_shape_is_ball(shape)) return scree_vec3(shape->radius, shape->radius, shape->radius);
  if (shape->kind == SCREE_SHAPE_ELLIPSOID || shape->kind == SCREE_SHAPE_BOX) return shape->semi;
  if (shape->kind == SCREE_SHAPE_ELLIPSE) return scree_vec3(shape->semi.x, shape->semi.y, 1);
  return scree_vec3(r, r, r);
}

/* The mesh divided by the scale. */
static void normalise(scree_DrawnMesh *mesh, scree_Vec3 scale) {
  for (size_t p = 0; p < mesh->points; ++p) {
    mesh->point[3 * p] /= scale.x;
    mesh->point[3 * p + 1] /= scale.y;
    mesh->point[3 * p + 2] /= scale.z;
  }
}

static bool same(const scree_DrawnMesh *a, const scree_DrawnMesh *b) {
  if (a->points != b->points || a->triangles != b->triangles) return false;
  for (size_t k = 0; k < 3 * a->points; ++k)
    if (!(fabs(a->point[k] - b->point[k]) <= SAME)) return false;
  return memcmp(a->triangle, b->triangle, 3 * a->triangles * sizeof *a->triangle) == 0;
}

/* The glyph of the body, made if it is a new one. `work` is used again. */
static scree_Status find(scree_Glyphs *glyphs, const scree_Shape *shape, int segments,
                         scree_DrawnMesh *work, const scree_Log *log, int *glyph,
                         scree_Vec3 *scale) {
  *scale = scale_of(shape);
  scree_Status status = scree_mesh_shape(shape, segments, 1, scree_vec3(0, 0, 0), log, work);
  if (status != SCREE_OK) return status;
  normalise(work, *scale);
  for (int k = 0; k < glyphs->count; ++k)
    if (same(&glyphs->mesh[k], work)) {
      *glyph = k;
      return SCREE_OK;
    }
  if (glyphs->count == SCREE_GLYPHS_MAX) return SCREE_OK;
  *glyph = glyphs->count;
  glyphs->mesh[glyphs->count++] = *work;
  *work = (scree_DrawnMesh){0};
  return SCREE_OK;
}

scree_Status scree_glyphs_init(scree_Glyphs *glyphs, const scree_Replay *replay, int segments) {
  const int n = replay->body_count;
  scree_DrawnMesh work = {0};
  scree_Status status = SCREE_OK;
  glyphs->count = 0;
  glyphs->glyph = SCREE_ALLOC(int, n);
  glyphs->scale = SCREE_ALLOC(double, 3 * (size_t)n);
  if (!glyphs->glyph || !glyphs->scale) status = scree_fail_memory(replay->log, "the glyphs");
  for (int i = 0, last = -1; i < n && status == SCREE_OK; ++i) {
    const scree_Shape *shape = &replay->bodies[i].shape;
    scree_Vec3 scale = {1, 1, 1};
    glyphs->glyph[i] = -1;
    if (isfinite(shape->bounding_radius) && shape->bounding_radius > 0) {
      /* balls need no second look: their meshes are all the same */
      const bool again =
          last >= 0 && scree_shape_is_ball(shape) && replay->bodies[last].shape.kind == shape->kind;
      scale = scale_of(shape);
      if (again)
        glyphs->glyph[i] = glyphs->glyph[last];
      else
        status = find(glyphs, shape, segments, &work, replay->log, &glyphs->glyph[i], &scale);
      last = i;
    }
    memcpy(glyphs->scale + 3 * (size_t)i, &scale, 3 * sizeof *glyphs->scale);
  }
  scree_mesh_fini(&work);
  return status;
}

void scree_glyphs_fini(scree_Glyphs *glyphs) {
  for (int k = 0; k < glyphs->count; ++k) scree_mesh_fini(&glyphs->mesh[k]);
  scree_free(glyphs->glyph);
  scree_free(glyphs->scale);
  glyphs->count = 0;
}

/* Images of bodies in a periodic cell (see images.h).
 *
 * In units of the sides of the cell the bounds of a body are f +- e along each side. Bodies that
 * move fill the range lower .. upper; the image n is needed if f + n +- e meets it along every side
 * that is periodic. */
#include "step/images.h"

#include <math.h>

enum { FURTHEST = 100 }; /* images along a side: bodies that joints hold may lie outside the cell */

typedef struct Range {
  scree_Vec3 middle, half;
} Range;

static scree_Vec3 absolute(const scree_Mat3 *m, scree_Vec3 a) {
  const scree_Mat3 rows = scree_mat3_transpose(m);
  double out[3];
  for (int k = 0; k < 3; ++k) {
    const scree_Vec3 row = scree_column(&rows, k);
    out[k] = fabs(row.x) * a.x + fabs(row.y) * a.y + fabs(row.z) * a.z;
  }
  return scree_vec3(out[0], out[1], out[2]);
}

static bool is_bounded(const scree_Aabb *box) {
  return isfinite(scree_norm2(box->lower)) && isfinite(scree_norm2(box->upper));
}

static Range range_of(const scree_Cell *cell, const scree_Aabb *box) {
  const scree_Vec3 middle = scree_scale(0.5, scree_add(box->lower, box->upper));
  const scree_Vec3 half = scree_scale(0.5, scree_sub(box->upper, box->lower));
  return (Range){scree_cell_fraction(cell, middle), absolute(&cell->inverse, half)};
}

/* Whether a body has images: obstacles that span the cell go on in it by themselves. */
static bool has_images(const scree_System *s, int k, const scree_Aabb *box, const Range *range) {
  const unsigned char fixed = s->bodies.fixed[k];
  if (fixed & SCREE_BODY_GONE || !is_bounded(box)) return false;
  for (int side = 0; fixed && side < 3; ++side)
    if (s->cell.periodic[side] && scree_component(range->half, side) >= 0.5) return false;
  return true;
}

/* Call with a null array to count. */
static int list(const scree_System *s, const scree_Aabb *bounds, const double *lower,
                const double *upper, scree_Image *out) {
  const scree_Cell *cell = &s->cell;
  int count = 0;
  for (int k = 0; k < s->bodies.count; ++k) {
    if (!is_bounded(&bounds[k])) continue;
    const Range range = range_of(cell, &bounds[k]);
    if (!has_images(s, k, &bounds[k], &range)) continue;
    int from[3] = {0, 0, 0}, to[3] = {0, 0, 0};
    for (int side = 0; side < 3; ++side) {
      if (!cell->periodic[side]) continue;
      const double f = scree_component(range.middle, side), e = scree_component(range.half, side);
      from[side] = (int)fmax(ceil(lower[side] - f - e), -FURTHEST);
      to[side] = (int)fmin(floor(upper[side] - f + e), FURTHEST);
    }
    for (int x = from[0]; x <= to[0]; ++x)
      for (int y = from[1]; y <= to[1]; ++y)
        for (int z = from[2]; z <= to[2]; ++z) {
          const uint32_t image = scree_image(x, y, z);
          if (image == 0) continue;
          if (out) out[count] = (scree_Image){k, image, scree_cell_shift(cell, image)};
          ++count;
        }
  }
  return count;
}

int scree_images_find(const scree_System *s, const scree_Aabb *bounds, scree_Arena *work,
                      scree_Image **images) {
  double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < s->bodies.count; ++k) {
    if (s->bodies.fixed[k] || !is_bounded(&bounds[k])) continue;
    const Range range = range_of(&s->cell, &bounds[k]);
    for (int side = 0; side < 3; ++side) {
      const double f = scree_component(range.middle, side), e = scree_component(range.half, side);
      lower[side] = fmin(lower[side], f - e);
      upper[side] = fmax(upper[side], f + e);
    }
  }
  *images = NULL;
  if (!(lower[0] <= upper[0])) return 0;
  const int count = list(s, bounds, lower, upper, NULL);
  *images = SCREE_TAKE_RAW(work, scree_Image, count);
  if (!*images) return -1;
  return list(s, bounds, lower, upper, *images);
}

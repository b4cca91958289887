/* Contacts of deformable bodies that keep their shape (see deform.h).
 *
 * The kept shape tells the features that touch and the normal n; the law has the velocities of
 * material points. With the points of the kept surface these disagree: where a ball is compressed
 * along n, F^-1 takes the point r n to another material point than the one that is furthest in the
 * direction n, and the gap between the deformed bodies falls by a part |dF/dt| r of the strain more
 * than the velocity says. A box and a tetrahedron that kept their shapes sank into soft ellipsoids
 * by 0.2 % of their size in each step. So the points are those of the deformed body, and the gap is
 * measured between them. */
#include "step/system.h"

bool scree_deform_touched(const scree_DeformedSide side[2], scree_Vec3 shift, scree_Vec3 n,
                          scree_Vec3 on[2]) {
  scree_Vec3 way[2] = {{0, 0, 0}, {0, 0, 0}};
  bool kept[2];
  for (int k = 0; k < 2; ++k) {
    const scree_Deformable *self = side[k].self;
    kept[k] = self && self->class_->deformed && self->elastic.keeps_shape;
    if (!kept[k]) continue;
    const scree_Vec3 own = k == 0 ? on[0] : scree_sub(on[1], shift);
    way[k] =
        scree_sub(self->class_->deformed(self, side[k].q, own, k == 0 ? scree_neg(n) : n), own);
  }
  for (int k = 0; k < 2; ++k) {
    if (kept[k])
      on[k] = scree_add(on[k], way[k]);
    else if (kept[1 - k])
      on[k] = scree_add(on[k], scree_axpy(way[1 - k], -scree_dot(n, way[1 - k]), n));
  }
  return kept[0] || kept[1];
}

void scree_deform_point(const scree_DeformedSide side[2], scree_Vec3 shift, scree_Points *p,
                        size_t k) {
  const scree_Vec3 n = p->normal[k], middle = p->position[k];
  scree_Vec3 on[2] = {scree_axpy(middle, 0.5 * p->gap[k], n),
                      scree_axpy(middle, -0.5 * p->gap[k], n)};
  if (!scree_deform_touched(side, shift, n, on)) return;
  p->position[k] = scree_scale(0.5, scree_add(on[0], on[1]));
  p->gap[k] = scree_dot(n, scree_sub(on[0], on[1]));
}

void scree_deform_points(const scree_System *s, scree_Points *p) {
  const scree_Bodies *b = &s->bodies;
  for (size_t k = 0; k < p->count; ++k) {
    scree_DeformedSide side[2];
    for (int i = 0; i < 2; ++i) {
      side[i].self = scree_bodies_deformable(b, i == 0 ? p->keys[k].i : p->keys[k].j);
      side[i].q = side[i].self ? scree_deformable_q(b, side[i].self) : NULL;
    }
    scree_deform_point(side, scree_cell_shift(&s->cell, p->keys[k].image), p, k);
  }
}

/* The rates of a cell's sides under a pressure as a vertex of the discrete problem (see cell.h).
 *
 * With y = sqrt(M) l L_kk for each such side, the kinetic energy of the cell is |y|^2/2 as for all
 * vertices. A row with the axis a has the block
 *     B_k = (a . e_k) ((x_i - x_c) - (x_j - x_c) - A n)_k / (sqrt(M) l) ,
 * without the terms of bodies that do not move with the cell. Contacts become constraints of d rows
 * behind which joints follow, as with deformable bodies (deform.h). */
#include "core/log.h"
#include "core/memory.h"
#include "step/system.h"

/* How a point of body k moves with the cell, from which its velocity is counted. */
static scree_Vec3 arm_of(const scree_System *s, int k) {
  if (k < 0 || s->bodies.fixed[k]) return scree_vec3(0, 0, 0);
  return scree_sub(s->bodies.motion[k].pose.position, s->cell.centre);
}

scree_Status scree_cell_number(scree_System *s) {
  scree_Deform *f = &s->deform;
  scree_Vertices *v = &f->vertices;
  v->count = 0;
  if (!scree_grow_lean((void **)&v->size, &f->size_capacity, 1, sizeof *v->size) ||
      !scree_grow_lean((void **)&v->row, &f->coupled_row_capacity, 2, sizeof *v->row))
    return scree_fail_memory(s->log, "the rates of a cell");
  v->count = 1;
  v->size[0] = s->cell.pressed;
  v->row[0] = v->row[1] = 0;
  return SCREE_OK;
}

void scree_cell_contact_block(const scree_System *s, size_t c, const scree_Vec3 *a, double *B) {
  const scree_Cell *cell = &s->cell;
  const scree_ContactKey *key = &s->contacts.keys[c];
  const scree_Vec3 branch = scree_sub(scree_sub(arm_of(s, key->i), arm_of(s, key->j)),
                                      scree_cell_shift(cell, key->image));
  for (int row = 0; row < s->bodies.dimension; ++row)
    for (int i = 0; i < cell->pressed; ++i) {
      const int k = cell->axis[i];
      *B++ = cell->scale[i] * scree_component(a[row], k) * scree_component(branch, k);
    }
}

void scree_cell_joint_row(const scree_System *s, const int body[2], const scree_Vec3 linear[2],
                          double factor, double *B) {
  const scree_Cell *cell = &s->cell;
  const scree_Vec3 first = scree_times(linear[0], arm_of(s, body[0]));
  const scree_Vec3 both = scree_add(first, scree_times(linear[1], arm_of(s, body[1])));
  for (int i = 0; i < cell->pressed; ++i)
    B[i] = factor * cell->scale[i] * scree_component(both, cell->axis[i]);
}

void scree_cell_answer(scree_System *s) {
  scree_Cell *cell = &s->cell;
  const scree_Posed *p = &s->posed;
  double rate[3] = {0, 0, 0};
  if (!cell->pressed) return;
  /* in y the ground lies between the rigid bodies and the vertices (problem/operator.h) */
  if (p->y)
    for (int i = 0; i < cell->pressed; ++i)
      rate[cell->axis[i]] =
          cell->scale[i] * p->y[(size_t)(p->nbodies + 1) * (size_t)s->bodies.nb + (size_t)i];
  cell->answer = (scree_Mat3){{rate[0], 0, 0}, {0, rate[1], 0}, {0, 0, rate[2]}};
}

void scree_cell_forget(scree_Cell *cell) {
  cell->answer = (scree_Mat3){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
}

scree_Vec3 scree_cell_pushed(const scree_System *s, int k) {
  return scree_mat3_mul(&s->cell.answer, arm_of(s, k));
}

void scree_cell_kick(scree_Cell *cell) {
  scree_CellState *state = &cell->state;
  if (!cell->pressed) return;
  const scree_Mat3 change = scree_mat3_matmul(&cell->answer, &state->sides);
  state->velocity =
      (scree_Mat3){scree_add(state->velocity.x, change.x), scree_add(state->velocity.y, change.y),
                   scree_add(state->velocity.z, change.z)};
  scree_cell_forget(cell);
}

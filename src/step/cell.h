/* A periodic cell: the world repeats itself along one, two or three sides of a box.
 *
 * The sides are the columns of a matrix A; a body at x with velocity v stands for all its images at
 * x + A n with velocities v + A' n, n integers. Bodies are kept inside the cell: one that leaves it
 * takes the place and the velocity of its image that comes in. A contact is between a body and an
 * image of another one, named by n in its key; it acts on the bodies themselves, at the point of
 * the image moved back by A n. In u only the velocity A' n of the image is new, as if it were that
 * of an obstacle.
 *
 * The cell may be driven: A' = L A, with a velocity gradient L that is a given function of time.
 * Its middle x_c stays where it is. When A' changes by dA', every body gets dA' A^-1 (x - x_c): the
 * motion of the cell is L (x - x_c), and w = v - L (x - x_c) the velocity of a body in it, which is
 * that of all its images. Contacts keep the sum of m w, and without forces from outside the bodies
 * as a whole stay where they are in units of the sides. (The sum of m v is that of the images which
 * happen to be inside, and changes where one comes in. If the motion were taken about the centre of
 * mass of the bodies, a sheared cell under pressure would drift.) The place of the cell's corner
 * changes v by a motion common to all bodies at most. Like an obstacle the cell
 * changes its velocity in the kick and drifts with the bodies, so that the energy balance stays an
 * identity: the work of the cell is that of its images' velocities on the contacts, of the kicks by
 * dA', and the change of kinetic and potential energy of bodies that come back in.
 *
 * The rates L_kk of sides held at a pressure p are unknowns of the problem (Parrinello and Rahman,
 * J. Appl. Phys. 52, 1981), with M the mass of all bodies, l the length of the side, w the
 * velocities of bodies less L (x - x_c), and r the impulses:
 *     M l^2 dL_kk = h (sum m w_k^2 - p V) + sum over the contacts r . G_k ,
 *     u = ... + sum over k G_k L_kk ,   G_k = (a . e_k) (x_i - x_j - A n)_k   for the axis a of a
 * row since that is how u changes with L_kk. They are one vertex of the problem, scaled by sqrt(M)
 * l, which every constraint touches, so that W stays symmetric and positive: the problem has a
 * solution for rigid bodies that are jammed, too, and for springs of any stiffness. The first two
 * terms are part of the free velocities; see cell_pose.c for the others.
 *
 * Two sides that are sheared against each other by more than half are replaced by shorter ones of
 * the same lattice. */
#ifndef SCREE_STEP_CELL_H
#define SCREE_STEP_CELL_H

#include "core/private.h"
#include "geometry/contact_match.h"
#include "math/vec3.h"
#include "scree/cell.h"
#include "scree/step.h"

struct scree_System;

/* State of a cell that a step changes: all doubles. */
typedef struct scree_CellState {
  scree_Mat3 sides;    /* columns; unit vectors where it is not periodic */
  scree_Mat3 velocity; /* their rates */
  scree_Mat3 before;   /* the same before the last kick */
  scree_Mat3 strain;   /* integral of the velocity gradient */
  double stress[9];    /* mean over the cell in the last step, row by row; compression negative */
  double work;         /* done by the cell since the start */
} scree_CellState;

typedef struct scree_Cell {
  scree_CellDef def;
  bool any; /* periodic in some direction */
  bool periodic[3];
  scree_Vec3 centre; /* the middle of the sides that are periodic, which stays in place */
  scree_CellState state;
  /* of the current attempt */
  scree_Mat3 inverse; /* of the sides */
  scree_Mat3 kick;    /* change of the velocity gradient in this kick, without constraints */
  scree_Mat3 answer;  /* and by them */
  double mass;        /* of all bodies */
  int pressed;        /* sides held at a pressure, */
  int axis[3];        /* (pressed) their axes */
  double scale[3];    /* (pressed) 1/(sqrt(mass) length) */
} scree_Cell;

/* The image of a key: n of each side, 0 for the body itself. */
static inline uint32_t scree_image(int x, int y, int z) {
  return (uint32_t)(x & 0xff) | (uint32_t)(y & 0xff) << 8 | (uint32_t)(z & 0xff) << 16;
}
static inline scree_Vec3 scree_image_vector(uint32_t image) {
  return scree_vec3((int8_t)(image & 0xff), (int8_t)(image >> 8 & 0xff),
                    (int8_t)(image >> 16 & 0xff));
}
/* Where the second body of a contact is, from the body itself; and how fast. */
static inline scree_Vec3 scree_cell_shift(const scree_Cell *cell, uint32_t image) {
  if (image == 0) return (scree_Vec3){0, 0, 0};
  return scree_mat3_mul(&cell->state.sides, scree_image_vector(image));
}
static inline scree_Vec3 scree_cell_velocity(const scree_Cell *cell, uint32_t image) {
  if (image == 0) return (scree_Vec3){0, 0, 0};
  return scree_mat3_mul(&cell->state.velocity, scree_image_vector(image));
}
/* After the kick. */
static inline scree_Vec3 scree_cell_velocity_after(const scree_Cell *cell, uint32_t image) {
  if (image == 0) return (scree_Vec3){0, 0, 0};
  const scree_Vec3 n = scree_image_vector(image);
  const scree_Vec3 v = scree_mat3_mul(&cell->state.velocity, n);
  if (!cell->pressed) return v;
  return scree_add(v, scree_mat3_mul(&cell->answer, scree_mat3_mul(&cell->state.sides, n)));
}
static inline scree_Vec3 scree_cell_velocity_before(const scree_Cell *cell, uint32_t image) {
  if (image == 0) return (scree_Vec3){0, 0, 0};
  return scree_mat3_mul(&cell->state.before, scree_image_vector(image));
}

/* The velocity gradient after the kick. */
scree_Mat3 scree_cell_gradient_after(const scree_Cell *cell);

/* Check the definition and begin with it. */
scree_Status scree_cell_init(scree_Cell *cell, const scree_CellDef *def, int dimension,
                             const scree_Log *log);
/* Volume (area in 2D) of the cell; 0 if it is open in some direction. */
double scree_cell_volume(const scree_Cell *cell, int dimension);
/* The corner: position 0 in units of the sides. */
scree_Vec3 scree_cell_origin(const scree_Cell *cell);
/* Position in units of the sides, from the origin. */
scree_Vec3 scree_cell_fraction(const scree_Cell *cell, scree_Vec3 position);

/* The image of a position that is nearest to another one. */
SCREE_PRIVATE scree_Vec3 scree_cell_nearest(const scree_Cell *cell, scree_Vec3 position,
                                            scree_Vec3 to);

/* The kick of a step h: the velocity of the cell at time `driven`. */
scree_Status scree_cell_drive(struct scree_System *s, double driven, double h);
/* Change of the velocity of body k by it, without constraints; and by these. */
scree_Vec3 scree_cell_push(const struct scree_System *s, int k);
scree_Vec3 scree_cell_pushed(const struct scree_System *s, int k);
/* Until the next drive the velocity counts as constant. */
void scree_cell_settle(struct scree_System *s);
/* Lengths of the sides and the mass, by which the rates are scaled, for the present bodies. */
void scree_cell_weigh(struct scree_System *s);
/* Pressed sides (cell_pose.c): the vertex of the problem; */
scree_Status scree_cell_number(struct scree_System *s);
/* the blocks (rows x pressed) of d rows of contact c with axes a, and of one row of a joint; */
void scree_cell_contact_block(const struct scree_System *s, size_t c, const scree_Vec3 *a,
                              double *B);
void scree_cell_joint_row(const struct scree_System *s, const int body[2],
                          const scree_Vec3 linear[2], double factor, double *B);
/* after a solve, `answer` from posed.y; and at the kick, the velocity with it. */
void scree_cell_answer(struct scree_System *s);
void scree_cell_forget(scree_Cell *cell);
void scree_cell_kick(scree_Cell *cell);
/* After the state was replaced. */
void scree_cell_refresh(scree_Cell *cell);
void scree_cell_drift(scree_Cell *cell, double h);
/* The mean stress of a step, and the work: zero at its start, */
void scree_cell_measure_begin(struct scree_System *s);
/* after the solve of each kick, */
void scree_cell_measure_kick(struct scree_System *s);
/* and of each span h, before its kick. */
void scree_cell_measure_motion(struct scree_System *s, double h);
/* At the end of a step: bodies that left the cell come back in. Returns the work. */
double scree_cell_wrap(struct scree_System *s);

#endif

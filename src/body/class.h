/* Kinds of bodies. Rigid bodies are kind 0; loops call their functions directly (rigid.h). Every
 * other kind is deformable and is one `const scree_BodyClass` in src/body/<name>.c, a value of
 * scree_BodyKind (scree/body.h) and one line in registry.c.
 *
 * State of a deformable body: coordinates q and their rates v = dq/dt, `vertices` x `size` numbers
 * each. The vertices are those of the discrete problem (scree/problem.h): one of 12 components for
 * a pseudo-rigid body (centre and deformation gradient), one of d for each node of a finite-element
 * body. A material point moves with x = x(q), linear in q, so that its velocity is
 *     dx/dt = sum over a few vertices i of N_i v_i ,    N_i (d x size), from the function `touch`.
 *
 * A step (004 (1)-(5)): drift q by (1 - theta) h v, kick v, drift q by theta h v. Drifts are the
 * same for all kinds (deformable.c). The kick, at the coordinates q in between, is
 *     A (v+ - v-) = h f(q, v-) + H^T r ,    A = M (explicit) or M + (h^2/4) K (linearly implicit),
 * f the internal and external forces, K = -df/dq. Scaled by the Cholesky factors L_i of the
 * diagonal blocks A_ii = L_i L_i^T, y_i = L_i^T v_i, the problem has A = I + E with
 *     E_ij = L_i^-1 A_ij L_j^-T   (below the diagonal)    and blocks    B_i = axes^T N_i L_i^-T .
 * `prepare` computes f, K, A and the kick without contacts; everything else of the step reads what
 * it has left in the body's `data`.
 *
 * Besides q and v a deformable body has the scree_Motion of all bodies: the pose of its present
 * shape, with the centre of mass as position, and its mean velocity, so that detection, results and
 * sensors need not know the kind. `shape` writes the present shape to scree_BodyCold.shape.
 *
 * To add a kind: fill the table below; test_body.c checks its contract (touch against differences
 * of x, kinetic energy, force and stiffness against differences of the strain energy, work against
 * the kick). A kind whose shape has parts gets the part of a contact in `touch`, e.g. the element
 * that was hit. Functions are called for different bodies at the same time, never for the same one;
 * nothing may be allocated outside of `create`. */
#ifndef SCREE_BODY_CLASS_H
#define SCREE_BODY_CLASS_H

#include "body/ringing.h"
#include "math/vec3.h"
#include "scree/body.h"

/* State of a body that changes in every step. 104 bytes. */
typedef struct scree_Motion {
  scree_Pose pose;
  scree_Twist velocity;
} scree_Motion;

/* Inertia of a body; an obstacle has all zero. 64 bytes. */
typedef struct scree_Inertia {
  double mass, inv_sqrt_mass;
  scree_Vec3 moments, inv_sqrt_moments; /* principal */
} scree_Inertia;

/* Vertices that a point of a deformable body may depend on (the corners of a hexahedron). */
enum { SCREE_TOUCH_MAX = 8, SCREE_VERTEX_MAX = 12 };

typedef struct scree_BodyClass scree_BodyClass;

/* A deformable body. */
typedef struct scree_Deformable {
  const scree_BodyClass *class_;
  int body;              /* its number in the world */
  int dimension;         /* 2 or 3 */
  int vertices, size;    /* in the discrete problem; size <= SCREE_VERTEX_MAX */
  size_t components;     /* vertices x size */
  int held;              /* vertices that contacts do not move */
  int driven;            /* of these, vertices that move with an obstacle */
  size_t offset;         /* sum of the components of the deformable bodies before it */
  scree_Elastic elastic; /* as it was given; `held` is null */
  scree_Ringing ringing; /* of the undeformed body */
  void *data;            /* of the kind */
} scree_Deformable;

/* Forces from outside in a step: an acceleration of all its points, a torque about the centre of
 * mass, and forces on the nodes of finite elements. */
typedef struct scree_BodyLoad {
  scree_Vec3 acceleration, torque;
  const double *nodes; /* (components), or null: none */
  const double *goal;  /* (components) velocities of driven nodes after the kick; null: none */
} scree_BodyLoad;

/* E of a body: blocks (size x size, row by row) of vertex i with col[row[i]] .. col[row[i+1] - 1] <
 * i, ascending. */
typedef struct scree_BodyCoupling {
  const size_t *row; /* (vertices + 1), or null: not coupled */
  const int *col;
  const double *x;
} scree_BodyCoupling;

/* All q, v (components) are those of the body. */
struct scree_BodyClass {
  const char *name, *summary;

  /* Set vertices, size and data from the definition; class_, body and dimension are set, `inertia`
   * is that of the undeformed shape. On failure nothing is left to destroy. */
  scree_Status (*create)(const scree_BodyDef *def, const scree_Inertia *inertia,
                         scree_Deformable *self, const scree_Log *log);
  void (*destroy)(scree_Deformable *self);
  size_t (*memory)(const scree_Deformable *self); /* bytes of data */

  /* q of the undeformed body at a pose; v of a motion as a rigid body. */
  void (*place)(const scree_Deformable *self, const scree_Pose *pose, double *q);
  void (*spin)(const scree_Deformable *self, const double *q, const scree_Twist *velocity,
               double *v);

  /* Present shape and its pose. `shape` is the body's own; what it shares with others must not be
   * changed. */
  void (*shape)(const scree_Deformable *self, const double *q, scree_Shape *shape,
                scree_Pose *pose);
  /* The same at other coordinates, without a change of the present shape: `shape`, a copy of that
   * which owns nothing, becomes a view of a second one that the body has for it. */
  void (*foresee)(const scree_Deformable *self, const double *q, scree_Shape *shape,
                  scree_Pose *pose);
  /* Mean velocity: of the centre of mass, and the angular velocity w for which a torque t of
   * scree_BodyLoad has the power t . w. */
  scree_Twist (*twist)(const scree_Deformable *self, const double *q, const double *v);
  /* Angular momentum about the centre of mass. */
  scree_Vec3 (*momentum)(const scree_Deformable *self, const double *q, const double *v);
  /* Bound of the displacement of any point with rates v in a time h. */
  double (*reach)(const scree_Deformable *self, const double *q, const double *v, double h);

  /* Vertices that the material point at `point` of part `part` of the shape depends on (returned:
   * how many, at most SCREE_TOUCH_MAX), and N (count x d x size). Also defined for points near the
   * surface. */
  int (*touch)(const scree_Deformable *self, const double *q, scree_Vec3 point, uint32_t part,
               int *vertex, double *N);

  /* The vertices that the material point now at `point`, anywhere in the body, depends on, as for
   * `touch`; N does not change with q. Returns 0 if the point is not in the body. */
  int (*anchor)(const scree_Deformable *self, const double *q, scree_Vec3 point, int *vertex,
                double *N);

  /* The kick at q: `change` (components) = h A^-1 f. With h = 0 it is zero and A = M. False if A is
   * not positive definite. */
  bool (*prepare)(const scree_Deformable *self, const double *q, const double *v,
                  const scree_BodyLoad *load, double h, double *change);
  /* After `prepare`: L_i^-1 of each vertex (vertices x size x size, lower, row by row), and E. */
  const double *(*scaling)(const scree_Deformable *self);
  scree_BodyCoupling (*coupling)(const scree_Deformable *self); /* null: never coupled */
  /* After `prepare`: x (components) := (I + E)^-1 x; null: never coupled. */
  void (*solve)(const scree_Deformable *self, double *x);
  /* After `prepare`, for a kick from v to w = v+: the work of internal forces,
   * m . (h f - (A - M)(w - v)) with m = (v + w)/2 and without damping; *damped receives the energy
   * that damping dissipates, >= 0. */
  double (*work)(const scree_Deformable *self, const double *v, const double *w, double *damped);

  /* Kinetic energy, and the part that is not translation when not null. */
  double (*kinetic)(const scree_Deformable *self, const double *v, double *rotation);
  /* Elastic energy; INFINITY when the body is turned inside out. */
  double (*strain)(const scree_Deformable *self, const double *q);
  /* Internal forces -d strain/dq, and K (components x components, dense; null: not computed), for
   * tests. */
  void (*force)(const scree_Deformable *self, const double *q, double *f, double *K);

  /* Positions (vertices x 3) and stresses (6 each, Cauchy's: xx, yy, zz, yz, zx, xy) of its nodes,
   * with room for 7 each; null: it has none. */
  void (*nodes)(const scree_Deformable *self, const double *q, double *position, double *stress);

  /* Whether contacts do not move a vertex: it is held, or driven by an obstacle; null: all do. */
  bool (*is_held)(const scree_Deformable *self, int vertex);
  /* What holds each vertex (vertices): -1 nothing, -2 it is held, or the obstacle that drives it,
   * with its place in the frame of that (vertices; null: no obstacle does). Of a kind with
   * `is_held`. False: out of memory. */
  void (*get_holds)(const scree_Deformable *self, int *holder, scree_Vec3 *anchor);
  bool (*set_holds)(scree_Deformable *self, const int *holder, const scree_Vec3 *anchor);

  /* For a kind whose shape may not follow the deformation, with elastic.keeps_shape: where the
   * deformed body is touched if its shape is touched at `on`, with the outward normal n. A material
   * point: if n stays, it moves as the part of the deformed surface does that is furthest in this
   * direction, or the corner or place on a face that was touched. Null: the shape always follows.
   */
  scree_Vec3 (*deformed)(const scree_Deformable *self, const double *q, scree_Vec3 on,
                         scree_Vec3 n);

  /* The shape without deformation, of the kind of the present one; null: the present one. */
  scree_Shape (*undeformed)(const scree_Deformable *self);
  /* The shape of the definition, from which `create` makes the same body again. */
  scree_Shape (*given)(const scree_Deformable *self);
};

extern const scree_BodyClass scree_body_rigid, scree_body_pseudo_rigid, scree_body_elements;
extern const scree_BodyClass *const scree_body_registry[]; /* by scree_BodyKind; null-terminated */

#endif

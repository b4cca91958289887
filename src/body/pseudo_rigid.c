/* Pseudo-rigid bodies: an affine motion x = c + F X of the undeformed body (004 section 8.1).
 *
 * X are coordinates in the principal frame of the undeformed body, c the centre of mass, F the
 * deformation gradient, a rotation for a body that is not deformed. The components are
 *     q = (c, f_1, f_2, f_3) ,   f_j the columns of F ,    dx/dt = v_c + sum_j X_j v_j ,
 * so the mass matrix is diagonal: m for c, and the Euler tensor e_j = integral of rho X_j^2 for
 * f_j.
 * For the kick see pseudo_rigid_kick.c.
 *
 * An ellipsoid under an affine map is an ellipsoid: with G = F diag(semi-axes), G^T G = Q s^2 Q^T
 * has the squares of the new semi-axes as eigenvalues, and the new axes are the columns of
 * G Q / s. A ball becomes one too, unless the body keeps its shape. Boxes and polyhedra are
 * polyhedra whose corners are moved: with the polar decomposition F = R U the pose has the rotation
 * R, and the corners are U X. */
#include "body/pseudo_rigid.h"
#include "core/log.h"
#include "core/memory.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"

#include <assert.h>
#include <string.h>

/* F^-1 a */
static scree_Vec3 inverse_mul(const scree_Mat3 *F, scree_Vec3 a) {
  const double s = 1 / determinant(F);
  return scree_vec3(s * scree_dot(a, scree_cross(F->y, F->z)),
                    s * scree_dot(a, scree_cross(F->z, F->x)),
                    s * scree_dot(a, scree_cross(F->x, F->y)));
}

/* ---- create ---------------------------------------------------------------------------------- */

static scree_Status check_elastic(const scree_BodyDef *def, int body, const scree_Log *log) {
  const scree_Elastic *e = &def->elastic;
  if (!(e->young > 0) || !isfinite(e->young))
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: Young's modulus %g, expected > 0", body,
                      e->young);
  if (!(e->poisson > -1 && e->poisson < 0.5))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: Poisson's ratio %g, expected more than -1 and less than 0.5", body,
                      e->poisson);
  if (!(e->damping >= 0) || !isfinite(e->damping))
    return scree_fail(log, SCREE_BAD_INPUT, "body %d: damping %g s, expected >= 0", body,
                      e->damping);
  return SCREE_OK;
}

/* The Euler tensor from the moments of inertia; in 2D these give only its trace, and the shape the
 * ratio. */
static scree_Status fill_euler(const scree_Deformable *self, const scree_Inertia *inertia,
                               scree_PseudoRigid *data, const scree_Log *log) {
  const scree_Vec3 J = inertia->moments;
  const scree_Shape *shape = &data->base;
  if (self->dimension == 2) {
    double a2 = 1, b2 = 1;
    if (shape->kind == SCREE_SHAPE_ELLIPSE) {
      a2 = shape->semi.x * shape->semi.x;
      b2 = shape->semi.y * shape->semi.y;
    }
    data->euler[0] = J.z * a2 / (a2 + b2);
    data->euler[1] = J.z * b2 / (a2 + b2);
    return SCREE_OK;
  }
  for (int k = 0; k < 3; ++k) data->euler[k] = 0.5 * (J.x + J.y + J.z) - scree_component(J, k);
  for (int k = 0; k < 3; ++k)
    if (!(data->euler[k] > 0))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "body %d: moments of inertia (%g, %g, %g) belong to no solid, expected "
                        "each to be smaller than the sum of the other two",
                        self->body, J.x, J.y, J.z);
  return SCREE_OK;
}

static bool is_flat(scree_ShapeKind kind) {
  return kind == SCREE_SHAPE_BOX || kind == SCREE_SHAPE_POLYHEDRON;
}

/* A polyhedron with the corners of a box or a polyhedron in its own coordinates, and corners that
 * can be moved. */
static scree_Status make_corners(const scree_Shape *from, scree_Shape *out, const scree_Log *log) {
  scree_Vec3 box[8];
  const scree_Vec3 *corner = from->vertices;
  int n = from->vertex_count;
  if (from->kind == SCREE_SHAPE_BOX) {
    corner = box;
    for (n = 0; n < 8; ++n)
      box[n] =
          scree_vec3(n & 1 ? from->semi.x : -from->semi.x, n & 2 ? from->semi.y : -from->semi.y,
                     n & 4 ? from->semi.z : -from->semi.z);
  }
  const scree_Status status = scree_shape_init_polyhedron(out, corner, n, log);
  if (status) return status;
  for (int k = 0; k < n; ++k) out->data->vertices[k] = corner[k]; /* all of them are corners */
  return SCREE_OK;
}

static scree_Status fill_shapes(const scree_BodyDef *def, const scree_Deformable *self,
                                scree_PseudoRigid *data, const scree_Log *log) {
  const scree_Shape *shape = def->shape;
  data->flat = is_flat(shape->kind) && !def->elastic.keeps_shape;
  scree_shape_copy(shape, &data->given);
  if (!data->flat) {
    scree_shape_copy(shape, &data->base);
    return SCREE_OK;
  }
  if (shape->radius > 0)
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "body %d: a pseudo-rigid %s with a rounding of %g, expected 0, or that it keeps "
        "its shape",
        self->body, scree_shape_type(shape->kind)->name, shape->radius);
  scree_Status status = make_corners(shape, &data->base, log);
  if (!status) status = make_corners(shape, &data->own, log);
  return status ? status : make_corners(shape, &data->later, log);
}

static bool is_round(scree_ShapeKind kind) {
  return kind == SCREE_SHAPE_SPHERE || kind == SCREE_SHAPE_ELLIPSOID || kind == SCREE_SHAPE_DISK ||
         kind == SCREE_SHAPE_ELLIPSE;
}

static void free_data(scree_PseudoRigid *data) {
  scree_shape_fini(&data->given);
  scree_shape_fini(&data->base);
  scree_shape_fini(&data->own);
  scree_shape_fini(&data->later);
  scree_free(data);
}

static scree_Status create(const scree_BodyDef *def, const scree_Inertia *inertia,
                           scree_Deformable *self, const scree_Log *log) {
  if (def->elastic.held)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: held nodes of a pseudo-rigid body, expected finite elements",
                      self->body);
  scree_Status status = check_elastic(def, self->body, log);
  if (status) return status;
  if (!is_round(def->shape->kind) && !is_flat(def->shape->kind))
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: a pseudo-rigid %s, expected a %s: other shapes do not stay of "
                      "their kind when they deform",
                      self->body, scree_shape_type(def->shape->kind)->name,
                      self->dimension == 2 ? "disk or ellipse"
                                           : "sphere, ellipsoid, box or polyhedron");
  scree_PseudoRigid *data = SCREE_ALLOC(scree_PseudoRigid, 1);
  if (!data) return scree_fail_memory(log, "a pseudo-rigid body");
  const double E = def->elastic.young, nu = def->elastic.poisson;
  memset(data, 0, sizeof *data);
  data->elastic = def->elastic;
  data->lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
  data->mu = E / (2 * (1 + nu));
  data->volume = def->shape->volume;
  data->mass = inertia->mass;
  status = fill_shapes(def, self, data, log);
  if (!status) status = fill_euler(self, inertia, data, log);
  if (status) {
    free_data(data);
    return status;
  }
  self->vertices = 1;
  self->size = self->dimension * (self->dimension + 1);
  self->data = data;
  return SCREE_OK;
}

static void destroy(scree_Deformable *self) {
  free_data(self->data);
}

static size_t memory(const scree_Deformable *self) {
  const scree_PseudoRigid *data = self->data;
  return sizeof *data + scree_shape_memory(&data->base) + scree_shape_memory(&data->own) +
         scree_shape_memory(&data->later);
}

/* ---- motion ---------------------------------------------------------------------------------- */

static void put(int d, scree_Vec3 a, double *x) {
  assert(d == 2 || d == 3);
  x[0] = a.x;
  x[1] = a.y;
  if (d == 3) x[2] = a.z;
}

static void place(const scree_Deformable *self, const scree_Pose *pose, double *q) {
  const int d = self->dimension;
  const scree_Mat3 R = scree_quat_matrix(pose->orientation);
  put(d, pose->position, q);
  for (int j = 0; j < d; ++j) put(d, scree_column(&R, j), q + d * (1 + j));
}

static void spin(const scree_Deformable *self, const double *q, const scree_Twist *velocity,
                 double *v) {
  const int d = self->dimension;
  put(d, velocity->linear, v);
  for (int j = 1; j <= d; ++j)
    put(d, scree_cross(velocity->angular, vec_of(d, q + d * j)), v + d * j);
}

/* w = the axial vector of the skew part of dF/dt F^-1; the power of a torque t, the force
 * [t x] F^-T / 2 on F, is then t . w. */
static scree_Twist twist(const scree_Deformable *self, const double *q, const double *v) {
  const int d = self->dimension;
  const scree_Mat3 F = gradient(self, q);
  scree_Mat3 rate = gradient(self, v);
  if (d == 2) rate.z = scree_vec3(0, 0, 0);
  /* rows of F^-1 are g_j: dF/dt F^-1 = sum_j v_j g_j^T, of which the axial vector of the skew part
   * is sum_j g_j x v_j / 2 */
  const double s = 0.5 / determinant(&F);
  scree_Vec3 w = scree_cross(scree_cross(F.y, F.z), rate.x);
  w = scree_add(w, scree_cross(scree_cross(F.z, F.x), rate.y));
  w = scree_add(w, scree_cross(scree_cross(F.x, F.y), rate.z));
  return (scree_Twist){vec_of(d, v), scree_scale(s, w)};
}

static scree_Vec3 momentum(const scree_Deformable *self, const double *q, const double *v) {
  const scree_PseudoRigid *data = self->data;
  const int d = self->dimension;
  scree_Vec3 L = {0, 0, 0};
  for (int j = 1; j <= d; ++j)
    L = scree_axpy(L, data->euler[j - 1], scree_cross(vec_of(d, q + d * j), vec_of(d, v + d * j)));
  return L;
}

static double reach(const scree_Deformable *self, const double *q, const double *v, double h) {
  const scree_PseudoRigid *data = self->data;
  const int d = self->dimension;
  double square = 0;
  for (int k = d; k < self->size; ++k) square += v[k] * v[k];
  double way = h * sqrt(square);
  if (data->elastic.keeps_shape) { /* the deformed body may already reach further than its shape */
    const scree_Mat3 F = gradient(self, q);
    double change = 0; /* |C - 1|^2, by which the largest stretch squared is above 1 at most */
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const double C = scree_dot(scree_column(&F, i), scree_column(&F, j)) - (i == j);
        change += C * C;
      }
    way += sqrt(1 + sqrt(change)) - 1;
  }
  return h * scree_norm(vec_of(d, v)) + way * data->base.bounding_radius;
}

/* ---- shape ----------------------------------------------------------------------------------- */

/* Principal stretches of G and its rotation to the world: G = U s Q^T with U, Q rotations. */
static void decompose(const scree_Mat3 *G, double s[3], double U[3][3], double Q[3][3]) {
  double a[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      a[i][j] = scree_dot(scree_column(G, i), scree_column(G, j));
      Q[i][j] = i == j;
    }
  scree_axes_rotate(a, Q);
  for (int j = 0; j < 3; ++j) {
    const scree_Vec3 u = scree_mat3_mul(G, scree_vec3(Q[0][j], Q[1][j], Q[2][j]));
    s[j] = scree_norm(u);
    for (int i = 0; i < 3; ++i) U[i][j] = scree_component(u, i) / s[j];
  }
}

/* The rotation of the polar decomposition F = R (F^T F)^(1/2): R = U Q^T. */
static scree_Quat rotation_of(const scree_Mat3 *F) {
  double s[3], U[3][3], Q[3][3], R[3][3];
  decompose(F, s, U, Q);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R[i][j] = U[i][0] * Q[j][0] + U[i][1] * Q[j][1] + U[i][2] * Q[j][2];
  return scree_axes_quat((const double(*)[3])R);
}

/* Move the corners of a polyhedron by U, and what follows from them. */
static void move_corners(const scree_PseudoRigid *data, const scree_Mat3 *U, scree_Shape *own) {
  scree_Polyhedron *p = own->data->polyhedron;
  scree_Vec3 *v = own->data->vertices;
  double most = 0;
  for (int k = 0; k < own->vertex_count; ++k) {
    v[k] = scree_mat3_mul(U, data->base.vertices[k]);
    most = fmax(most, scree_norm2(v[k]));
  }
  own->bounding_radius = sqrt(most);
  own->volume = data->volume * determinant(U);
  own->size = INFINITY;
  for (int f = 0; f < p->face_count; ++f) {
    /* normals go with the cofactors of U: of three corners of a face */
    const int *corner = p->corner + p->first[f];
    const scree_Vec3 a = v[corner[0]];
    const scree_Vec3 n = scree_cross(scree_sub(v[corner[1]], a), scree_sub(v[corner[2]], a));
    double width = 0;
    p->normal[f] = scree_unit_or(n, p->normal[f]);
    for (int k = 0; k < own->vertex_count; ++k)
      width = fmax(width, scree_dot(p->normal[f], scree_sub(a, v[k])));
    own->size = fmin(own->size, width);
  }
}

/* The present shape of a polyhedron, or the other one, at q. */
static void deform_corners(const scree_Deformable *self, const double *q, scree_Shape *corners,
                           scree_Pose *pose) {
  const scree_Mat3 F = gradient(self, q);
  pose->position = vec_of(self->dimension, q);
  pose->orientation = rotation_of(&F);
  const scree_Mat3 R = scree_quat_matrix(pose->orientation);
  const scree_Mat3 U = {scree_mat3_tmul(&R, F.x), scree_mat3_tmul(&R, F.y),
                        scree_mat3_tmul(&R, F.z)};
  move_corners(self->data, &U, corners);
}

static void shape(const scree_Deformable *self, const double *q, scree_Shape *shape,
                  scree_Pose *pose) {
  scree_PseudoRigid *data = self->data;
  const scree_Mat3 F = gradient(self, q);
  pose->position = vec_of(self->dimension, q);
  if (data->elastic.keeps_shape) {
    pose->orientation = rotation_of(&F);
    return;
  }
  if (data->flat) {
    deform_corners(self, q, &data->own, pose);
    if (shape->data != data->own.data) {
      scree_shape_fini(shape);
      scree_shape_copy(&data->own, shape);
    }
    shape->bounding_radius = data->own.bounding_radius;
    shape->size = data->own.size;
    shape->volume = data->own.volume;
    return;
  }
  const bool plane = self->dimension == 2, ball = scree_shape_is_ball(&data->base);
  const double r = data->base.radius;
  scree_Vec3 a = ball ? scree_vec3(r, r, r) : data->base.semi;
  const double thickness = plane ? fmin(a.x, a.y) : 1; /* a third axis that does not mix in 2D */
  if (plane) a.z = thickness;
  const scree_Mat3 G = {scree_scale(a.x, F.x), scree_scale(a.y, F.y), scree_scale(a.z, F.z)};
  double s[3], U[3][3], Q[3][3];
  decompose(&G, s, U, Q);
  pose->orientation = scree_axes_quat((const double(*)[3])U);
  if (plane) {
    pose->orientation.x = pose->orientation.y = 0;
    pose->orientation = scree_quat_normalize(pose->orientation);
  }
  shape->kind = plane ? SCREE_SHAPE_ELLIPSE : SCREE_SHAPE_ELLIPSOID;
  shape->radius = 0;
  shape->semi = scree_vec3(s[0], s[1], plane ? 0 : s[2]);
  const double third = plane ? s[0] : s[2];
  shape->bounding_radius = fmax(s[0], fmax(s[1], third));
  shape->size = 2 * fmin(s[0], fmin(s[1], third));
  shape->volume = data->volume * determinant(&F);
}

static void foresee(const scree_Deformable *self, const double *q, scree_Shape *later,
                    scree_Pose *pose) {
  scree_PseudoRigid *data = self->data;
  if (!data->flat) {
    shape(self, q, later, pose); /* it has no data */
    return;
  }
  deform_corners(self, q, &data->later, pose);
  *later = data->later;
}

/* An ellipsoid is furthest in the direction n at X = D^2 F^T n / |D F^T n|, D = diag(semi-axes);
 * points of flat shapes keep their X. */
static scree_Vec3 deformed(const scree_Deformable *self, const double *q, scree_Vec3 on,
                           scree_Vec3 n) {
  const scree_PseudoRigid *data = self->data;
  const scree_Mat3 F = gradient(self, q);
  const scree_Vec3 centre = vec_of(self->dimension, q);
  scree_Vec3 X;
  if (is_flat(data->base.kind)) {
    const scree_Mat3 R = scree_quat_matrix(rotation_of(&F));
    X = scree_mat3_tmul(&R, scree_sub(on, centre));
  } else {
    const double r = data->base.radius;
    const scree_Vec3 a = scree_shape_is_ball(&data->base) ? scree_vec3(r, r, r) : data->base.semi;
    const scree_Vec3 m = scree_mat3_tmul(&F, n), y = scree_vec3(a.x * m.x, a.y * m.y, a.z * m.z);
    X = scree_scale(1 / scree_norm(y), scree_vec3(a.x * y.x, a.y * y.y, a.z * y.z));
  }
  return scree_add(centre, scree_mat3_mul(&F, X));
}

/* A ball that deforms is an ellipsoid. */
static void widen_ball(bool keeps_shape, scree_Shape *shape) {
  const bool plane = shape->kind == SCREE_SHAPE_DISK;
  if (keeps_shape || !scree_shape_is_ball(shape)) return;
  shape->kind = plane ? SCREE_SHAPE_ELLIPSE : SCREE_SHAPE_ELLIPSOID;
  shape->semi = scree_vec3(shape->radius, shape->radius, plane ? 0 : shape->radius);
  shape->radius = 0;
}

static scree_Shape undeformed(const scree_Deformable *self) {
  const scree_PseudoRigid *data = self->data;
  scree_Shape base = data->base;
  widen_ball(data->elastic.keeps_shape, &base);
  return base;
}

scree_Status scree_pseudo_rigid_undeformed(const scree_Shape *given, bool keeps_shape,
                                           scree_Shape *shape, const scree_Log *log) {
  if (is_flat(given->kind) && !keeps_shape) return make_corners(given, shape, log);
  scree_shape_copy(given, shape);
  widen_ball(keeps_shape, shape);
  return SCREE_OK;
}

static scree_Shape given(const scree_Deformable *self) {
  const scree_PseudoRigid *data = self->data;
  return data->given;
}

static int touch(const scree_Deformable *self, const double *q, scree_Vec3 point, uint32_t part,
                 int *vertex, double *weights) {
  (void)part;
  const int d = self->dimension, n = self->size;
  const scree_Mat3 F = gradient(self, q);
  const scree_Vec3 X = inverse_mul(&F, scree_sub(point, vec_of(d, q)));
  memset(weights, 0, (size_t)(d * n) * sizeof *weights);
  for (int i = 0; i < d; ++i) {
    weights[i * n + i] = 1;
    for (int j = 0; j < d; ++j) weights[i * n + d * (1 + j) + i] = scree_component(X, j);
  }
  vertex[0] = 0;
  return 1;
}

/* Any point moves with the affine map. */
static int anchor(const scree_Deformable *self, const double *q, scree_Vec3 point, int *vertex,
                  double *weights) {
  return touch(self, q, point, 0, vertex, weights);
}

const scree_BodyClass scree_body_pseudo_rigid = {
    .name = "pseudo-rigid",
    .summary = "body that deforms by an affine map: 12 degrees of freedom, 6 in 2D",
    .create = create,
    .destroy = destroy,
    .memory = memory,
    .place = place,
    .spin = spin,
    .shape = shape,
    .foresee = foresee,
    .twist = twist,
    .momentum = momentum,
    .reach = reach,
    .touch = touch,
    .anchor = anchor,
    .prepare = scree_pseudo_rigid_prepare,
    .scaling = scree_pseudo_rigid_scaling,
    .work = scree_pseudo_rigid_work,
    .kinetic = scree_pseudo_rigid_kinetic,
    .strain = scree_pseudo_rigid_strain,
    .force = scree_pseudo_rigid_force,
    .undeformed = undeformed,
    .given = given,
    .deformed = deformed};

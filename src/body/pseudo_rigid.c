/* Pseudo-rigid bodies: an affine motion x = c + F X of the undeformed body (004 section 8.1).
 *
 * X are coordinates in the principal frame of the undeformed body, c the centre of mass, F the
 * deformation gradient, a rotation for a body that is not deformed. The components are
 *     q = (c, f_1, f_2, f_3) ,   f_j the columns of F ,    dx/dt = v_c + sum_j X_j v_j ,
 * so the mass matrix is diagonal: m for c, and the Euler tensor e_j = integral of rho X_j^2 for
 * f_j.
 *
 * St Venant-Kirchhoff material (V volume of the undeformed body, C = F^T F, E = (C - 1)/2):
 *     strain energy V (lambda/2 (tr E)^2 + mu E:E) ,  S = lambda tr(E) 1 + 2 mu E ,
 *     internal force on F:  -V F S ,
 *     K: dF -> V (dF S + F (lambda tr(dE) 1 + 2 mu dE)) ,   dE = sym(F^T dF) .
 * Viscous stress, with `damping` t: S grows by t (lambda tr(dE/dt) 1 + 2 mu dE/dt), so the force on
 * F is -t D v with the second part D of K, which vanishes for spin and whose power -t v . D v is
 * never positive. (K in its place, with the stress in it, would resist spin and create energy under
 * compression.) In 2D the strain is plane.
 *
 * K is indefinite under strong compression. If A = M + (h^2/4) K + (h t/2) D is then not positive
 * definite, S in its first term is replaced by its positive part, which makes K positive
 * semidefinite; the step loses accuracy there, not stability.
 *
 * An ellipsoid under an affine map is an ellipsoid: with G = F diag(semi-axes), G^T G = Q s^2 Q^T
 * has the squares of the new semi-axes as eigenvalues, and the new axes are the columns of
 * G Q / s. A ball becomes one too, unless the body keeps its shape. Boxes and polyhedra are
 * polyhedra whose corners are moved: with the polar decomposition F = R U the pose has the rotation
 * R, and the corners are U X.
 *
 * More than 600 lines: the functions of one kind of body, which all work on its private data. */
#include "body/class.h"
#include "core/log.h"
#include "core/memory.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"

#include <string.h>

enum { N = 9 }; /* most components of F */

typedef struct Data {
  scree_Elastic elastic;
  scree_Shape base;  /* undeformed; a polyhedron for a box that does not keep its shape */
  scree_Shape own;   /* present shape of a polyhedron */
  bool flat;         /* it is one */
  double lambda, mu; /* Lame's constants */
  double volume, mass;
  double euler[3]; /* e_j */
  /* of the last kick: */
  double h;              /* its length */
  double f[N], K[N * N]; /* internal force without damping, and stiffness */
  double D[N * N];       /* forces of damping are -damping D v */
  double scaling[SCREE_VERTEX_MAX * SCREE_VERTEX_MAX]; /* L^-1 */
} Data;

static scree_Vec3 vec_of(int d, const double *x) {
  return scree_vec3(x[0], x[1], d == 3 ? x[2] : 0);
}

/* F as a matrix of columns; the third column is e_z in 2D. */
static scree_Mat3 gradient(const scree_Deformable *self, const double *q) {
  const int d = self->dimension;
  return (scree_Mat3){vec_of(d, q + d), vec_of(d, q + 2 * d),
                      d == 3 ? vec_of(d, q + 3 * d) : scree_vec3(0, 0, 1)};
}

static double determinant(const scree_Mat3 *F) {
  return scree_dot(F->x, scree_cross(F->y, F->z));
}

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
                               Data *data, const scree_Log *log) {
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

static scree_Status fill_shapes(const scree_BodyDef *def, const scree_Deformable *self, Data *data,
                                const scree_Log *log) {
  const scree_Shape *shape = def->shape;
  data->flat = is_flat(shape->kind) && !def->elastic.keeps_shape;
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
  const scree_Status status = make_corners(shape, &data->base, log);
  return status ? status : make_corners(shape, &data->own, log);
}

static bool is_round(scree_ShapeKind kind) {
  return kind == SCREE_SHAPE_SPHERE || kind == SCREE_SHAPE_ELLIPSOID || kind == SCREE_SHAPE_DISK ||
         kind == SCREE_SHAPE_ELLIPSE;
}

static void free_data(Data *data) {
  scree_shape_fini(&data->base);
  scree_shape_fini(&data->own);
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
  Data *data = SCREE_ALLOC(Data, 1);
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
  const Data *data = self->data;
  return sizeof *data + scree_shape_memory(&data->base) + scree_shape_memory(&data->own);
}

/* ---- motion ---------------------------------------------------------------------------------- */

static void put(int d, scree_Vec3 a, double *x) {
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
  const Data *data = self->data;
  const int d = self->dimension;
  scree_Vec3 L = {0, 0, 0};
  for (int j = 1; j <= d; ++j)
    L = scree_axpy(L, data->euler[j - 1], scree_cross(vec_of(d, q + d * j), vec_of(d, v + d * j)));
  return L;
}

static double reach(const scree_Deformable *self, const double *q, const double *v, double h) {
  const Data *data = self->data;
  const int d = self->dimension;
  double square = 0;
  for (int k = d; k < self->size; ++k) square += v[k] * v[k];
  double way = h * sqrt(square);
  if (data->elastic.keeps_shape) { /* and it may reach further than its shape already */
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
static void move_corners(const Data *data, const scree_Mat3 *U, scree_Shape *own) {
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

static void shape(const scree_Deformable *self, const double *q, scree_Shape *shape,
                  scree_Pose *pose) {
  Data *data = self->data;
  const scree_Mat3 F = gradient(self, q);
  pose->position = vec_of(self->dimension, q);
  if (data->elastic.keeps_shape) {
    pose->orientation = rotation_of(&F);
    return;
  }
  if (data->flat) {
    pose->orientation = rotation_of(&F);
    const scree_Mat3 R = scree_quat_matrix(pose->orientation);
    const scree_Mat3 U = {scree_mat3_tmul(&R, F.x), scree_mat3_tmul(&R, F.y),
                          scree_mat3_tmul(&R, F.z)};
    move_corners(data, &U, &data->own);
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

/* Half the width of an ellipsoid, G = F diag(semi-axes), in the direction n: |G^T n|. */
static double bulge(const scree_Deformable *self, const double *q, scree_Vec3 n) {
  const Data *data = self->data;
  if (!data->elastic.keeps_shape) return NAN;
  const scree_Mat3 F = gradient(self, q);
  if (scree_shape_is_ball(&data->base))
    return data->base.radius * (scree_norm(scree_mat3_tmul(&F, n)) - 1);
  const scree_Vec3 a = data->base.semi;
  const scree_Mat3 R = scree_quat_matrix(rotation_of(&F));
  const scree_Vec3 now = scree_mat3_tmul(&F, n), kept = scree_mat3_tmul(&R, n);
  if (is_flat(data->base.kind))
    return scree_dot(now, scree_shape_support(&data->base, now)) -
           scree_dot(kept, scree_shape_support(&data->base, kept));
  return scree_norm(scree_vec3(a.x * now.x, a.y * now.y, a.z * now.z)) -
         scree_norm(scree_vec3(a.x * kept.x, a.y * kept.y, a.z * kept.z));
}

static scree_Shape undeformed(const scree_Deformable *self) {
  const Data *data = self->data;
  scree_Shape base = data->base;
  if (data->flat || data->elastic.keeps_shape || !scree_shape_is_ball(&base)) return base;
  base.kind = self->dimension == 2 ? SCREE_SHAPE_ELLIPSE : SCREE_SHAPE_ELLIPSOID;
  base.semi = scree_vec3(base.radius, base.radius, self->dimension == 2 ? 0 : base.radius);
  base.radius = 0;
  return base;
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

/* ---- forces ---------------------------------------------------------------------------------- */

/* E and S (d x d) of the gradient; returns the energy density. */
static double stress(const Data *data, int d, const double *F, double S[3][3]) {
  double E[3][3], trace = 0, square = 0;
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      double C = 0;
      for (int k = 0; k < d; ++k) C += F[d * i + k] * F[d * j + k];
      E[i][j] = 0.5 * (C - (i == j));
      square += E[i][j] * E[i][j];
      if (i == j) trace += E[i][i];
    }
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j)
      S[i][j] = 2 * data->mu * E[i][j] + (i == j ? data->lambda * trace : 0);
  return 0.5 * data->lambda * trace * trace + data->mu * square;
}

/* f = -V F S on the columns of F. */
static void internal_force(const Data *data, int d, const double *F, double S[3][3], double *f) {
  for (int j = 0; j < d; ++j)
    for (int i = 0; i < d; ++i) {
      double sum = 0;
      for (int k = 0; k < d; ++k) sum += F[d * k + i] * S[k][j];
      f[d * j + i] = -data->volume * sum;
    }
}

/* K (d^2 x d^2), without S its part D of the material alone: component (i, j) is F_ij, at d j + i.
 * With P = F S,
 *     dP_ij/dF_ab = delta_ia S_bj + F_ik (lambda delta_kj F_ab + mu (delta_kb F_aj + delta_jb
 * F_ak)) = delta_ia S_bj + lambda F_ij F_ab + mu (F_ib F_aj + delta_jb (F F^T)_ia) . */
static void stiffness(const Data *data, int d, const double *F, double S[3][3], double *K) {
  const int n = d * d;
  double FF[3][3] = {{0}};
  for (int i = 0; i < d; ++i)
    for (int a = 0; a < d; ++a)
      for (int k = 0; k < d; ++k) FF[i][a] += F[d * k + i] * F[d * k + a];
  for (int j = 0; j < d; ++j)
    for (int i = 0; i < d; ++i)
      for (int b = 0; b < d; ++b)
        for (int a = 0; a < d; ++a) {
          double sum =
              data->lambda * F[d * j + i] * F[d * b + a] + data->mu * F[d * b + i] * F[d * j + a];
          if (S && i == a) sum += S[b][j];
          if (j == b) sum += data->mu * FF[i][a];
          K[(d * j + i) * n + d * b + a] = data->volume * sum;
        }
}

/* S with its negative principal values set to zero. */
static void positive_part(int d, double S[3][3]) {
  double a[3][3] = {{0}}, V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) a[i][j] = S[i][j];
  scree_axes_rotate(a, V);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) {
      S[i][j] = 0;
      for (int k = 0; k < d; ++k) S[i][j] += V[i][k] * fmax(0, a[k][k]) * V[j][k];
    }
}

/* L^-1 (n x n, lower, rows `stride` apart) of A = L L^T; false if A is not positive definite. */
static bool invert_factor(int n, double *A, int stride, double *inverse) {
  for (int j = 0; j < n; ++j) { /* A becomes L */
    for (int i = j; i < n; ++i) {
      double sum = A[i * n + j];
      for (int k = 0; k < j; ++k) sum -= A[i * n + k] * A[j * n + k];
      if (i == j && !(sum > 0)) return false;
      A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) inverse[i * stride + j] = 0;
    inverse[j * stride + j] = 1 / A[j * n + j];
    for (int i = j + 1; i < n; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum -= A[i * n + k] * inverse[k * stride + j];
      inverse[i * stride + j] = sum / A[i * n + i];
    }
  }
  return true;
}

/* L^-1 of A = M + (h^2/4) K + (h t/2) D, explicitly of M. */
static bool scale(Data *data, int d) {
  const int n = d * d, size = d + n;
  const double h = data->elastic.explicit_ ? 0 : data->h;
  const double elastic = 0.25 * h * h, viscous = 0.5 * h * data->elastic.damping;
  double A[N * N];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      A[i * n + j] = elastic * data->K[i * n + j] + viscous * data->D[i * n + j] +
                     (i == j ? data->euler[i / d] : 0);
  memset(data->scaling, 0, sizeof data->scaling);
  for (int i = 0; i < d; ++i) data->scaling[i * size + i] = 1 / sqrt(data->mass);
  return invert_factor(n, A, size, data->scaling + d * size + d);
}

static bool prepare(const scree_Deformable *self, const double *q, const double *v,
                    const scree_BodyLoad *load, double h, double *change) {
  Data *data = self->data;
  const int d = self->dimension, n = d * d, size = self->size;
  const double *F = q + d, *rate = v + d, damping = data->elastic.damping;
  double S[3][3], f[N], y[N];
  const scree_Mat3 G = gradient(self, q);
  const double volume = determinant(&G);
  if (!(volume > 0)) return false;
  stress(data, d, F, S);
  internal_force(data, d, F, S, data->f);
  stiffness(data, d, F, S, data->K);
  if (damping > 0) stiffness(data, d, F, NULL, data->D); /* else it stays 0 */
  data->h = h;
  if (!scale(data, d)) {
    positive_part(d, S);
    stiffness(data, d, F, S, data->K);
    if (!scale(data, d)) return false;
  }
  /* the torque is [t x] F^-T / 2 on F; columns of F^-T are the rows of F^-1 */
  const scree_Vec3 t = scree_scale(0.5 / volume, load->torque);
  const scree_Vec3 rows[3] = {scree_cross(G.y, G.z), scree_cross(G.z, G.x), scree_cross(G.x, G.y)};
  for (int j = 0; j < d; ++j) {
    const scree_Vec3 turn = scree_cross(t, rows[j]);
    for (int i = 0; i < d; ++i) f[d * j + i] = data->f[d * j + i] + scree_component(turn, i);
  }
  if (damping > 0)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) f[i] -= damping * data->D[i * n + j] * rate[j];
  for (int i = 0; i < d; ++i) change[i] = h * scree_component(load->acceleration, i);
  const double *L = data->scaling + d * size + d;
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int k = 0; k <= i; ++k) y[i] += L[i * size + k] * f[k];
  }
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = i; k < n; ++k) sum += L[k * size + i] * y[k];
    change[d + i] = h * sum;
  }
  return true;
}

static const double *scaling(const scree_Deformable *self) {
  return ((const Data *)self->data)->scaling;
}

static double work(const scree_Deformable *self, const double *v, const double *w, double *damped) {
  const Data *data = self->data;
  const int d = self->dimension, n = d * d;
  const double h = data->h, elastic = data->elastic.explicit_ ? 0 : 0.25 * h * h;
  double sum = 0;
  *damped = 0;
  v += d;
  w += d;
  for (int i = 0; i < n; ++i) {
    const double mean = 0.5 * (v[i] + w[i]);
    double pull = h * data->f[i], drag = 0;
    for (int j = 0; j < n; ++j) {
      pull -= elastic * data->K[i * n + j] * (w[j] - v[j]);
      drag += data->D[i * n + j] * (data->elastic.explicit_ ? v[j] : 0.5 * (v[j] + w[j]));
    }
    sum += mean * pull;
    *damped += h * data->elastic.damping * mean * drag;
  }
  return sum;
}

/* ---- energies -------------------------------------------------------------------------------- */

static double kinetic(const scree_Deformable *self, const double *v, double *rotation) {
  const Data *data = self->data;
  const int d = self->dimension;
  double own = 0;
  for (int j = 0; j < d; ++j) {
    const scree_Vec3 rate = vec_of(d, v + d * (1 + j));
    own += 0.5 * data->euler[j] * scree_norm2(rate);
  }
  if (rotation) *rotation = own;
  return 0.5 * data->mass * scree_norm2(vec_of(d, v)) + own;
}

static double strain(const scree_Deformable *self, const double *q) {
  const Data *data = self->data;
  double S[3][3];
  const scree_Mat3 F = gradient(self, q);
  if (!(determinant(&F) > 0)) return INFINITY;
  return data->volume * stress(data, self->dimension, q + self->dimension, S);
}

static void force(const scree_Deformable *self, const double *q, double *f, double *K) {
  const Data *data = self->data;
  const int d = self->dimension, n = d * d, size = self->size;
  double S[3][3], own[N * N];
  stress(data, d, q + d, S);
  memset(f, 0, (size_t)size * sizeof *f);
  internal_force(data, d, q + d, S, f + d);
  if (!K) return;
  memset(K, 0, (size_t)(size * size) * sizeof *K);
  stiffness(data, d, q + d, S, own);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) K[(d + i) * size + d + j] = own[i * n + j];
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
    .twist = twist,
    .momentum = momentum,
    .reach = reach,
    .touch = touch,
    .anchor = anchor,
    .prepare = prepare,
    .scaling = scaling,
    .work = work,
    .kinetic = kinetic,
    .strain = strain,
    .force = force,
    .undeformed = undeformed,
    .bulge = bulge};

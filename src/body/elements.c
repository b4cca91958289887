/* Finite-element bodies: nodes of 3 components each, coupled by mass and stiffness (004 8.2).
 *
 * q are the positions of the nodes, v their velocities. With the internal forces f of the elements
 * (element/assemble.h), external ones and Rayleigh's damping C = a M + b K_m the kick is
 *
 *     A (v+ - v-) = h (f(q) + f_ext - C v-) + H^T r ,    A = M + (h/2) C + (h^2/4) K ,
 *
 * that is 004 (2), (3) with forces of damping at the mean velocity; explicitly A = M and damping
 * at v-. For linear elasticity this is the trapezoidal rule, which keeps the energy exactly.
 *
 * K = K_m + K_g+ is not the exact derivative of the forces, but not below it: K_m = B^T D B of the
 * material, and the part K_g of the stress, of which only tension is taken. Any symmetric K keeps
 * the order of the scheme (its error is of the size h^3 K f in a step). This choice makes A
 * positive definite and the step stable for any h, and it keeps angular momentum: K_m does not see
 * the spin of the deformed body, so that the kick has the moment of the outer forces alone (K_g+ of
 * a body under tension changes it in third order).
 *
 * The surface is a shape of elements of the body's own, which follows the nodes; a contact acts on
 * a node, or on the three corners of a triangle with the weights of its point. */
#include "body/class.h"
#include "core/log.h"
#include "core/memory.h"
#include "element/assemble.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"
#include "math/factor.h"

#include <string.h>

enum { D = 3, DD = 9 };

typedef struct Data {
  const scree_ElementMesh *mesh; /* of the own shape */
  scree_ElasticMaterial elastic;
  bool implicit_;
  double total;             /* mass */
  double *mass;             /* (nodes) lumped */
  double *diagonal, *below; /* consistent mass, or null: lumped (nodes; entries of the graph) */
  scree_Shape base, own;    /* the surface, undeformed and deformed */
  double spread[D];         /* sum of mass times the square of each undeformed coordinate */
  scree_Vec3 *surface;      /* (its vertices) work */
  /* of the last kick: */
  double h;
  double *place;        /* (components) q */
  double *inner;        /* (components) internal forces without damping */
  double *A, *scaling;  /* (nodes x D x D) diagonal blocks, and their L^-1 */
  double *E;            /* (entries x D x D) */
  double *work[2];      /* (components) */
  scree_Factor *factor; /* of I + E */
  size_t *row, *lower;  /* (nodes + 1), (entries): its pattern, and where E goes in it */
  int *col;
  double *x;
} Data;

static size_t count_of(const Data *d) {
  return (size_t)d->mesh->node_count * D;
}

static scree_Vec3 node_at(const double *q, int node) {
  return scree_vec3(q[D * node], q[D * node + 1], q[D * node + 2]);
}

static void put(double *q, int node, scree_Vec3 x) {
  q[D * node] = x.x, q[D * node + 1] = x.y, q[D * node + 2] = x.z;
}

/* ---- create -----------------------------------------------------------------------------------
 */

static void free_data(Data *d) {
  if (!d) return;
  void *arrays[] = {d->mass,    d->diagonal, d->below,   d->surface, d->place, d->inner, d->A, d->E,
                    d->scaling, d->work[0],  d->work[1], d->row,     d->lower, d->col,   d->x};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  scree_factor_destroy(d->factor);
  scree_shape_fini(&d->own);
  scree_shape_fini(&d->base);
  scree_free(d);
}

/* A shape whose surface can be deformed; the mesh of elements is shared. */
static bool own_shape(const scree_Shape *from, scree_Shape *own) {
  *own = *from;
  own->data = scree_shape_data_create();
  if (!own->data) return false;
  own->data->frame = from->data->frame;
  own->data->elements = scree_element_mesh_share(from->data->elements);
  own->data->mesh = scree_trimesh_copy(from->data->mesh);
  if (!own->data->mesh) return false;
  own->vertices = own->data->mesh->vertex;
  return true;
}

/* The full symmetric pattern of the graph of the nodes. */
static bool make_pattern(Data *d) {
  const scree_ElementMesh *m = d->mesh;
  const size_t n = (size_t)m->node_count, pairs = m->row[n];
  size_t *end = SCREE_ALLOC(size_t, n);
  d->row = SCREE_ALLOC(size_t, n + 1);
  d->lower = SCREE_ALLOC(size_t, pairs);
  d->col = SCREE_ALLOC(int, n + 2 * pairs);
  d->x = SCREE_ALLOC(double, (n + 2 * pairs) * DD);
  const bool good = end && d->row && d->lower && d->col && d->x;
  for (size_t a = 0; good && a < n; ++a) { /* count, then fill: lower part, diagonal, upper part */
    d->row[a + 1] += m->row[a + 1] - m->row[a] + 1;
    for (size_t e = m->row[a]; e < m->row[a + 1]; ++e) ++d->row[m->col[e] + 1];
  }
  for (size_t a = 0; good && a < n; ++a) d->row[a + 1] += d->row[a];
  for (size_t a = 0; good && a < n; ++a) {
    end[a] = d->row[a];
    for (size_t e = m->row[a]; e < m->row[a + 1]; ++e) {
      d->lower[e] = end[a];
      d->col[end[a]++] = m->col[e];
    }
    d->col[end[a]++] = (int)a;
  }
  for (size_t a = 0; good && a < n; ++a) /* rows ascend, so that columns of the upper part do */
    for (size_t e = m->row[a]; e < m->row[a + 1]; ++e) d->col[end[m->col[e]]++] = (int)a;
  scree_free(end);
  return good;
}

static bool allocate(Data *d, bool consistent) {
  const size_t n = (size_t)d->mesh->node_count, pairs = d->mesh->row[n];
  d->mass = SCREE_ALLOC(double, n);
  d->surface = SCREE_ALLOC(scree_Vec3, d->own.vertex_count);
  d->place = SCREE_ALLOC(double, n *D);
  d->inner = SCREE_ALLOC(double, n *D);
  d->A = SCREE_ALLOC(double, n *DD);
  d->scaling = SCREE_ALLOC(double, n *DD);
  d->E = SCREE_ALLOC(double, pairs *DD);
  d->work[0] = SCREE_ALLOC(double, n *D);
  d->work[1] = SCREE_ALLOC(double, n *D);
  bool good = d->mass && d->surface && d->place && d->inner && d->A && d->scaling && d->E &&
              d->work[0] && d->work[1];
  if (consistent) {
    d->diagonal = SCREE_ALLOC(double, n);
    d->below = SCREE_ALLOC(double, pairs);
    good = good && d->diagonal && d->below;
  }
  return good && make_pattern(d);
}

/* Whether A couples nodes. */
static bool is_coupled(const Data *d) {
  return d->implicit_ || d->below;
}

/* The factor of I + E, whose values are in E; false where it is not positive definite. */
static bool factorise(Data *d) {
  const scree_ElementMesh *m = d->mesh;
  const size_t n = (size_t)m->node_count;
  for (size_t a = 0; a < n; ++a) {
    double *own = d->x + (d->row[a] + (m->row[a + 1] - m->row[a])) * DD;
    for (int i = 0; i < DD; ++i) own[i] = i % (D + 1) == 0 ? 1 : 0;
    for (size_t e = m->row[a]; e < m->row[a + 1]; ++e)
      memcpy(d->x + d->lower[e] * DD, d->E + e * DD, DD * sizeof *d->x);
  }
  int perturbed = 0;
  return scree_factor_compute(d->factor, d->x, &perturbed) == SCREE_OK && !perturbed &&
         scree_factor_negative(d->factor) == 0;
}

static scree_Status create(const scree_BodyDef *def, const scree_Inertia *inertia,
                           scree_Deformable *self, const scree_Log *log) {
  if (def->shape->kind != SCREE_SHAPE_ELEMENTS)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: a finite-element body of shape %s, expected elements", self->body,
                      scree_shape_type(def->shape->kind)->name);
  Data *d = SCREE_ALLOC(Data, 1);
  if (!d) return scree_fail_memory(log, "a finite-element body");
  scree_Status status = SCREE_OK;
  if (!own_shape(def->shape, &d->own)) status = scree_fail_memory(log, "a finite-element body");
  if (!status) {
    scree_shape_copy(def->shape, &d->base);
    d->mesh = d->own.data->elements;
    d->total = inertia->mass;
    d->implicit_ = !def->elastic.explicit_;
    status = scree_elastic_init(&d->elastic, &def->elastic, d->total / d->mesh->total, log);
  }
  if (!status && !allocate(d, def->elastic.consistent_mass))
    status = scree_fail_memory(log, "a finite-element body");
  if (!status)
    status = scree_factor_create(d->mesh->node_count, D, d->row, d->col, SCREE_FACTOR_SYMMETRIC,
                                 log, &d->factor);
  if (!status && !factorise(d)) status = scree_fail_memory(log, "a finite-element body");
  if (status) {
    free_data(d);
    return status;
  }
  scree_element_lump(d->mesh, d->elastic.density, d->mass);
  if (d->below) scree_element_mass(d->mesh, d->elastic.density, d->diagonal, d->below);
  for (int k = 0; k < d->mesh->node_count; ++k)
    for (int j = 0; j < D; ++j) {
      const double x = scree_component(d->mesh->node[k], j);
      d->spread[j] += d->mass[k] * x * x;
    }
  self->vertices = d->mesh->node_count;
  self->size = D;
  self->data = d;
  return SCREE_OK;
}

static void destroy(scree_Deformable *self) {
  free_data(self->data);
}

static size_t memory(const scree_Deformable *self) {
  const Data *d = self->data;
  const size_t n = (size_t)d->mesh->node_count, pairs = d->mesh->row[n];
  return sizeof *d + scree_shape_memory(&d->own) +
         (n * (2 + 4 * D + 2 * DD) + pairs * (1 + 3 * DD) + n * DD +
          scree_factor_entries(d->factor)) *
             sizeof(double);
}

/* ---- motion as a whole ------------------------------------------------------------------------
 */

static scree_Vec3 centre_of(const Data *d, const double *q) {
  scree_Vec3 sum = {0, 0, 0};
  for (int k = 0; k < d->mesh->node_count; ++k)
    sum = scree_axpy(sum, d->mass[k] / d->total, node_at(q, k));
  return sum;
}

/* out = M v */
static void multiply_mass(const Data *d, const double *v, double *out) {
  const scree_ElementMesh *m = d->mesh;
  for (int k = 0; k < m->node_count; ++k)
    for (int i = 0; i < D; ++i)
      out[D * k + i] = (d->below ? d->diagonal[k] : d->mass[k]) * v[D * k + i];
  for (int k = 0; d->below && k < m->node_count; ++k)
    for (size_t e = m->row[k]; e < m->row[k + 1]; ++e)
      for (int i = 0; i < D; ++i) {
        out[D * k + i] += d->below[e] * v[D * m->col[e] + i];
        out[D * m->col[e] + i] += d->below[e] * v[D * k + i];
      }
}

/* J^-1 a, J the moment of inertia of the lumped masses about the centre c. */
static scree_Vec3 inertia_solve(const Data *d, const double *q, scree_Vec3 c, scree_Vec3 a) {
  scree_Mat3 J = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const scree_Vec3 r = scree_sub(node_at(q, k), c);
    const double m = d->mass[k], square = m * scree_norm2(r);
    J.x = scree_add(J.x, scree_axpy(scree_vec3(square, 0, 0), -m * r.x, r));
    J.y = scree_add(J.y, scree_axpy(scree_vec3(0, square, 0), -m * r.y, r));
    J.z = scree_add(J.z, scree_axpy(scree_vec3(0, 0, square), -m * r.z, r));
  }
  const double det = scree_dot(J.x, scree_cross(J.y, J.z));
  return scree_vec3(scree_dot(a, scree_cross(J.y, J.z)) / det,
                    scree_dot(a, scree_cross(J.z, J.x)) / det,
                    scree_dot(a, scree_cross(J.x, J.y)) / det);
}

static void place(const scree_Deformable *self, const scree_Pose *pose, double *q) {
  const Data *d = self->data;
  for (int k = 0; k < d->mesh->node_count; ++k) put(q, k, scree_pose_apply(pose, d->mesh->node[k]));
}

static void spin(const scree_Deformable *self, const double *q, const scree_Twist *velocity,
                 double *v) {
  const Data *d = self->data;
  const scree_Vec3 c = centre_of(d, q);
  for (int k = 0; k < d->mesh->node_count; ++k)
    put(v, k,
        scree_add(velocity->linear, scree_cross(velocity->angular, scree_sub(node_at(q, k), c))));
}

/* The mean rotation: the orthogonal factor of the mean deformation gradient, by Newton's iteration
 * R := (R + R^-T)/2. */
static scree_Quat rotation_of(const Data *d, const double *q, scree_Vec3 c) {
  enum { ITERATIONS = 40 };
  scree_Mat3 F = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const scree_Vec3 X = d->mesh->node[k], x = scree_sub(node_at(q, k), c);
    F.x = scree_axpy(F.x, d->mass[k] * X.x / d->spread[0], x);
    F.y = scree_axpy(F.y, d->mass[k] * X.y / d->spread[1], x);
    F.z = scree_axpy(F.z, d->mass[k] * X.z / d->spread[2], x);
  }
  for (int k = 0; k < ITERATIONS; ++k) {
    const double det = scree_dot(F.x, scree_cross(F.y, F.z));
    if (!(det > 0)) return scree_quat_identity();
    const scree_Mat3 last = F;
    const double s = 0.5 / det;
    F.x = scree_axpy(scree_scale(0.5, F.x), s, scree_cross(last.y, last.z));
    F.y = scree_axpy(scree_scale(0.5, F.y), s, scree_cross(last.z, last.x));
    F.z = scree_axpy(scree_scale(0.5, F.z), s, scree_cross(last.x, last.y));
    const double change = scree_norm2(scree_sub(F.x, last.x)) +
                          scree_norm2(scree_sub(F.y, last.y)) + scree_norm2(scree_sub(F.z, last.z));
    if (change <= 1e-24) break;
  }
  const double V[3][3] = {{F.x.x, F.y.x, F.z.x}, {F.x.y, F.y.y, F.z.y}, {F.x.z, F.y.z, F.z.z}};
  return scree_axes_quat(V);
}

static void shape(const scree_Deformable *self, const double *q, scree_Shape *shape,
                  scree_Pose *pose) {
  Data *d = self->data;
  scree_Shape *own = &d->own;
  const scree_Vec3 c = centre_of(d, q);
  *pose = (scree_Pose){c, rotation_of(d, q, c)};
  const scree_Mat3 R = scree_quat_matrix(pose->orientation);
  double most = 0;
  for (int k = 0; k < own->vertex_count; ++k) {
    d->surface[k] = scree_mat3_tmul(&R, scree_sub(node_at(q, d->mesh->surface[k]), c));
    most = fmax(most, scree_norm2(d->surface[k]));
  }
  scree_trimesh_move(own->data->mesh, d->surface);
  own->bounding_radius = sqrt(most);
  if (shape->data != own->data) {
    scree_shape_fini(shape);
    scree_shape_copy(own, shape);
  }
  shape->bounding_radius = own->bounding_radius;
}

static scree_Twist twist(const scree_Deformable *self, const double *q, const double *v) {
  const Data *d = self->data;
  const scree_Vec3 c = centre_of(d, q);
  scree_Vec3 p = {0, 0, 0}, L = {0, 0, 0};
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const scree_Vec3 m = scree_scale(d->mass[k], node_at(v, k));
    p = scree_add(p, m);
    L = scree_add(L, scree_cross(scree_sub(node_at(q, k), c), m));
  }
  return (scree_Twist){scree_scale(1 / d->total, p), inertia_solve(d, q, c, L)};
}

/* Angular momentum about the centre of mass, of the lumped masses. */
static scree_Vec3 momentum(const scree_Deformable *self, const double *q, const double *v) {
  const Data *d = self->data;
  const scree_Vec3 c = centre_of(d, q);
  scree_Vec3 L = {0, 0, 0};
  for (int k = 0; k < d->mesh->node_count; ++k)
    L = scree_axpy(L, d->mass[k], scree_cross(scree_sub(node_at(q, k), c), node_at(v, k)));
  return L;
}

static double reach(const scree_Deformable *self, const double *q, const double *v, double h) {
  const scree_ElementMesh *m = ((const Data *)self->data)->mesh;
  double most = 0;
  (void)q;
  for (int k = 0; k < m->surface_count; ++k)
    most = fmax(most, scree_norm2(node_at(v, m->surface[k])));
  return h * sqrt(most);
}

static void unit_block(double weight, double *N) {
  for (int i = 0; i < DD; ++i) N[i] = i % (D + 1) == 0 ? weight : 0;
}

static int touch(const scree_Deformable *self, const double *q, scree_Vec3 point, uint32_t part,
                 int *vertex, double *N) {
  const Data *d = self->data;
  const scree_TriangleMesh *surface = d->own.data->mesh;
  if (part >= (uint32_t)surface->triangle_count) {
    vertex[0] = d->mesh->surface[part - (uint32_t)surface->triangle_count];
    unit_block(1, N);
    return 1;
  }
  scree_Vec3 x[3];
  for (int k = 0; k < 3; ++k) {
    vertex[k] = d->mesh->surface[surface->triangle[part][k]];
    x[k] = node_at(q, vertex[k]);
  }
  /* weights of the point's projection on the plane of the triangle */
  const scree_Vec3 n = scree_cross(scree_sub(x[1], x[0]), scree_sub(x[2], x[0]));
  const double area = scree_norm2(n);
  double weight[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  for (int k = 0; k < 3 && area > 0; ++k)
    weight[k] = scree_dot(n, scree_cross(scree_sub(x[(k + 1) % 3], point),
                                         scree_sub(x[(k + 2) % 3], point))) /
                area;
  for (int k = 0; k < 3; ++k) unit_block(weight[k], N + DD * k);
  return 3;
}

/* ---- the kick ---------------------------------------------------------------------------------
 */

/* L^-1 of a symmetric positive definite 3 x 3 block A = L L^T; false if it is not. */
static bool invert_factor(const double *A, double *inverse) {
  double L[D][D] = {{0}};
  for (int i = 0; i < D; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = A[i * D + j];
      for (int k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      if (i == j && !(sum > 0)) return false;
      L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
    }
  memset(inverse, 0, DD * sizeof *inverse);
  for (int j = 0; j < D; ++j) {
    inverse[j * D + j] = 1 / L[j][j];
    for (int i = j + 1; i < D; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum -= L[i][k] * inverse[k * D + j];
      inverse[i * D + j] = sum / L[i][i];
    }
  }
  return true;
}

/* A block of E: L_a^-1 A_ab L_b^-T, in place. */
static void scale_block(const double *left, const double *right, double *block) {
  double half[DD];
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      double sum = 0;
      for (int k = 0; k <= i; ++k) sum += left[i * D + k] * block[k * D + j];
      half[i * D + j] = sum;
    }
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      double sum = 0;
      for (int k = 0; k <= j; ++k) sum += half[i * D + k] * right[j * D + k];
      block[i * D + j] = sum;
    }
}

/* A from M, C and K, then its scaled form. */
static bool scale_all(Data *d, double inertia) {
  const scree_ElementMesh *m = d->mesh;
  for (int k = 0; k < m->node_count; ++k) {
    for (int i = 0; i < D; ++i)
      d->A[DD * k + (D + 1) * i] += inertia * (d->below ? d->diagonal[k] : d->mass[k]);
    if (!invert_factor(d->A + DD * k, d->scaling + DD * k)) return false;
  }
  if (!is_coupled(d)) return true;
  for (int k = 0; k < m->node_count; ++k)
    for (size_t e = m->row[k]; e < m->row[k + 1]; ++e) {
      if (d->below)
        for (int i = 0; i < D; ++i) d->E[DD * e + (size_t)((D + 1) * i)] += inertia * d->below[e];
      scale_block(d->scaling + DD * k, d->scaling + DD * m->col[e], d->E + DD * e);
    }
  return factorise(d);
}

/* Forces from outside: an acceleration, and a torque as the acceleration of a rigid body. */
static void add_load(const Data *d, const double *q, const scree_BodyLoad *load, double *f) {
  const scree_Vec3 c = centre_of(d, q), t = load->torque;
  const bool turns = t.x != 0 || t.y != 0 || t.z != 0;
  const scree_Vec3 turn = turns ? inertia_solve(d, q, c, t) : scree_vec3(0, 0, 0);
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const scree_Vec3 a =
        scree_add(load->acceleration, scree_cross(turn, scree_sub(node_at(q, k), c)));
    for (int i = 0; i < D; ++i) f[D * k + i] += d->mass[k] * scree_component(a, i);
  }
}

static bool prepare(const scree_Deformable *self, const double *q, const double *v,
                    const scree_BodyLoad *load, double h, double *change) {
  Data *d = self->data;
  const size_t n = count_of(d);
  const scree_ElasticMaterial *e = &d->elastic;
  const bool implicit_ = d->implicit_ && h > 0;
  const scree_ElementTangent tangent = {.material = 0.25 * h * h + 0.5 * h * e->damping_stiffness,
                                        .geometric = 0.25 * h * h,
                                        .definite = true,
                                        .diagonal = d->A,
                                        .below = d->E};
  scree_ElementResult result;
  d->h = h;
  memcpy(d->place, q, n * sizeof *q);
  memset(d->inner, 0, n * sizeof *d->inner);
  memset(d->A, 0, n * D * sizeof *d->A);
  memset(d->E, 0, d->mesh->row[d->mesh->node_count] * DD * sizeof *d->E);
  memset(change, 0, n * sizeof *change);
  scree_element_assemble(d->mesh, e, q, NULL, d->inner, implicit_ ? &tangent : NULL, &result);
  if (result.inverted) return false;
  if (!scale_all(d, implicit_ ? 1 + 0.5 * h * e->damping_mass : 1)) return false;
  if (h == 0) return true;
  double *f = d->work[0];
  memcpy(f, d->inner, n * sizeof *f);
  if (e->damping_stiffness > 0) {
    memset(f, 0, n * sizeof *f);
    scree_element_assemble(d->mesh, e, q, v, f, NULL, &result);
  }
  if (e->damping_mass > 0) {
    multiply_mass(d, v, d->work[1]);
    for (size_t k = 0; k < n; ++k) f[k] -= e->damping_mass * d->work[1][k];
  }
  add_load(d, q, load, f);
  for (int k = 0; k < d->mesh->node_count; ++k)
    for (int i = 0; i < D; ++i)
      for (int j = 0; j <= i; ++j)
        change[D * k + i] += h * d->scaling[DD * k + D * i + j] * f[D * k + j];
  if (is_coupled(d)) scree_factor_solve(d->factor, d->work[1], change);
  for (int k = 0; k < d->mesh->node_count; ++k) { /* L^-T */
    double y[D];
    memcpy(y, change + D * k, sizeof y);
    for (int i = 0; i < D; ++i) {
      change[D * k + i] = 0;
      for (int j = i; j < D; ++j) change[D * k + i] += d->scaling[DD * k + D * j + i] * y[j];
    }
  }
  return true;
}

static const double *scaling(const scree_Deformable *self) {
  return ((const Data *)self->data)->scaling;
}

static scree_BodyCoupling coupling(const scree_Deformable *self) {
  const Data *d = self->data;
  if (!is_coupled(d)) return (scree_BodyCoupling){0};
  return (scree_BodyCoupling){d->mesh->row, d->mesh->col, d->E};
}

/* a . A b of the last kick, from L (I + E) L^T. */
static double product(const Data *d, const double *a, const double *b) {
  const scree_ElementMesh *m = d->mesh;
  double sum = 0;
  for (int k = 0; k < m->node_count; ++k) {
    const double *block = d->A + DD * k;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) sum += a[D * k + i] * block[D * i + j] * b[D * k + j];
  }
  return sum;
}

/* L^T a = (L^-1)^-T a, by back substitution with the rows of L^-1. */
static void scaled(const Data *d, const double *a, double *out) {
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const double *I = d->scaling + DD * k; /* out solves I^T out = a */
    for (int i = D - 1; i >= 0; --i) {
      double sum = a[D * k + i];
      for (int j = i + 1; j < D; ++j) sum -= I[D * j + i] * out[D * k + j];
      out[D * k + i] = sum / I[D * i + i];
    }
  }
}

/* a . A b with the coupling of nodes. */
static double product_coupled(Data *d, const double *a, const double *b) {
  const scree_ElementMesh *m = d->mesh;
  double sum = product(d, a, b);
  if (!is_coupled(d)) return sum;
  double *x = d->work[0], *y = d->work[1];
  scaled(d, a, x);
  scaled(d, b, y);
  for (int k = 0; k < m->node_count; ++k)
    for (size_t e = m->row[k]; e < m->row[k + 1]; ++e) {
      const double *E = d->E + DD * e;
      const int c = m->col[e];
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j)
          sum += E[D * i + j] * (x[D * k + i] * y[D * c + j] + x[D * c + j] * y[D * k + i]);
    }
  return sum;
}

static double work(const scree_Deformable *self, const double *v, const double *w, double *damped) {
  Data *d = self->data;
  const size_t n = count_of(d);
  const scree_ElasticMaterial *e = &d->elastic;
  double *mean = d->x, *change = mean + n; /* the values of the factor are not needed any more */
  double *mass = change + n, *viscous = mass + n;
  double done = 0, lost = 0;
  for (size_t k = 0; k < n; ++k) {
    mean[k] = 0.5 * (v[k] + w[k]);
    change[k] = w[k] - v[k];
    done += d->h * mean[k] * d->inner[k];
  }
  if (d->implicit_ && d->h > 0) {
    done -= product_coupled(d, mean, change);
    multiply_mass(d, change, mass);
    for (size_t k = 0; k < n; ++k) done += mean[k] * mass[k];
  }
  *damped = 0;
  if (!(e->damping_stiffness > 0 || e->damping_mass > 0)) return done;
  /* C m, explicitly C v */
  const double *at = d->implicit_ ? mean : v;
  memset(viscous, 0, n * sizeof *viscous);
  if (e->damping_stiffness > 0) {
    scree_ElementResult result;
    scree_element_assemble(d->mesh, e, d->place, at, viscous, NULL, &result);
    for (size_t k = 0; k < n; ++k) viscous[k] = d->inner[k] - viscous[k];
  }
  multiply_mass(d, at, mass);
  for (size_t k = 0; k < n; ++k) {
    const double force = viscous[k] + e->damping_mass * mass[k];
    lost += d->h * mean[k] * force;
    if (d->implicit_) done += 0.5 * d->h * force * change[k];
  }
  *damped = lost;
  return done;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

static double kinetic(const scree_Deformable *self, const double *v, double *rotation) {
  const Data *d = self->data;
  double sum = 0;
  scree_Vec3 p = {0, 0, 0};
  for (int k = 0; k < d->mesh->node_count; ++k) {
    sum += (d->below ? d->diagonal[k] : d->mass[k]) * scree_norm2(node_at(v, k));
    p = scree_axpy(p, d->mass[k], node_at(v, k));
    for (size_t e = d->mesh->row[k]; d->below && e < d->mesh->row[k + 1]; ++e)
      sum += 2 * d->below[e] * scree_dot(node_at(v, k), node_at(v, d->mesh->col[e]));
  }
  if (rotation) *rotation = 0.5 * (sum - scree_norm2(p) / d->total);
  return 0.5 * sum;
}

static double strain(const scree_Deformable *self, const double *q) {
  const Data *d = self->data;
  scree_ElementResult result;
  scree_element_assemble(d->mesh, &d->elastic, q, NULL, NULL, NULL, &result);
  return result.energy;
}

static void force(const scree_Deformable *self, const double *q, double *f, double *K) {
  Data *d = self->data;
  const scree_ElementMesh *m = d->mesh;
  const size_t n = count_of(d);
  const scree_ElementTangent tangent = {1, 1, false, d->A, d->E};
  scree_ElementResult result;
  memset(f, 0, n * sizeof *f);
  memset(d->A, 0, n * D * sizeof *d->A);
  memset(d->E, 0, m->row[m->node_count] * DD * sizeof *d->E);
  scree_element_assemble(m, &d->elastic, q, NULL, f, K ? &tangent : NULL, &result);
  if (!K) return;
  memset(K, 0, n * n * sizeof *K);
  for (size_t a = 0; a < (size_t)m->node_count; ++a)
    for (size_t i = 0; i < D; ++i)
      for (size_t j = 0; j < D; ++j) {
        K[(a * D + i) * n + a * D + j] = d->A[DD * a + D * i + j];
        for (size_t e = m->row[a]; e < m->row[a + 1]; ++e) {
          const size_t b = (size_t)m->col[e];
          K[(a * D + i) * n + b * D + j] = K[(b * D + j) * n + a * D + i] =
              d->E[DD * e + D * i + j];
        }
      }
}

static void nodes(const scree_Deformable *self, const double *q, double *position, double *stress) {
  const Data *d = self->data;
  memcpy(position, q, count_of(d) * sizeof *q);
  scree_element_stress(d->mesh, &d->elastic, q, NULL, stress);
}

static scree_Shape undeformed(const scree_Deformable *self) {
  return ((const Data *)self->data)->base;
}

const scree_BodyClass scree_body_elements = {
    .name = "elements",
    .summary = "finite elements: hexahedra and tetrahedra, large deformations",
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
    .prepare = prepare,
    .scaling = scaling,
    .coupling = coupling,
    .work = work,
    .kinetic = kinetic,
    .strain = strain,
    .force = force,
    .nodes = nodes,
    .undeformed = undeformed};

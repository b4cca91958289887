/* Finite-element bodies: nodes of 3 components each, coupled by mass and stiffness (004 8.2).
 *
 * Coordinates q are the positions of the nodes, v their velocities; for the kick see
 * elements_kick.c.
 *
 * The surface is a shape of elements of the body's own, which follows the nodes; a contact acts on
 * a node, or on the three corners of a triangle with the weights of its point. Nodes that are held
 * keep their places. */
#include "body/elements.h"
#include "core/log.h"
#include "core/memory.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"

#include <string.h>

/* ---- create -----------------------------------------------------------------------------------
 */

static void free_data(scree_ElementBody *d) {
  if (!d) return;
  void *arrays[] = {d->held,  d->mass,  d->diagonal, d->below,   d->surface, d->place,
                    d->inner, d->A,     d->E,        d->scaling, d->work[0], d->work[1],
                    d->row,   d->lower, d->col,      d->x};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  scree_driven_free(d->driven);
  scree_factor_destroy(d->factor);
  scree_shape_fini(&d->own);
  scree_shape_fini(&d->later);
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
static bool make_pattern(scree_ElementBody *d) {
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

static bool allocate(scree_ElementBody *d, bool consistent) {
  const size_t n = (size_t)d->mesh->node_count, pairs = d->mesh->row[n];
  d->mass = SCREE_ALLOC(double, n);
  d->held = SCREE_ALLOC(bool, n);
  d->surface = SCREE_ALLOC(scree_Vec3, d->own.vertex_count);
  d->place = SCREE_ALLOC(double, n *D);
  d->inner = SCREE_ALLOC(double, n *D);
  d->A = SCREE_ALLOC(double, n *DD);
  d->scaling = SCREE_ALLOC(double, n *DD);
  d->E = SCREE_ALLOC(double, pairs *DD);
  d->work[0] = SCREE_ALLOC(double, n *D);
  d->work[1] = SCREE_ALLOC(double, n *D);
  bool good = d->mass && d->held && d->surface && d->place && d->inner && d->A && d->scaling &&
              d->E && d->work[0] && d->work[1];
  if (consistent) {
    d->diagonal = SCREE_ALLOC(double, n);
    d->below = SCREE_ALLOC(double, pairs);
    good = good && d->diagonal && d->below;
  }
  return good && make_pattern(d);
}

static scree_Status create(const scree_BodyDef *def, const scree_Inertia *inertia,
                           scree_Deformable *self, const scree_Log *log) {
  if (def->shape->kind != SCREE_SHAPE_ELEMENTS)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "body %d: a finite-element body of shape %s, expected elements", self->body,
                      scree_shape_type(def->shape->kind)->name);
  scree_ElementBody *d = SCREE_ALLOC(scree_ElementBody, 1);
  if (!d) return scree_fail_memory(log, "a finite-element body");
  scree_Status status = SCREE_OK;
  if (!own_shape(def->shape, &d->own) || !own_shape(def->shape, &d->later))
    status = scree_fail_memory(log, "a finite-element body");
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
  if (!status && !scree_elements_factorise(d))
    status = scree_fail_memory(log, "a finite-element body");
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
  for (int k = 0; def->elastic.held && k < d->mesh->node_count; ++k) {
    const scree_Vec3 at = scree_pose_apply(&def->pose, d->mesh->node[k]);
    d->held[k] = def->elastic.held(def->elastic.held_user, at);
    self->held += d->held[k];
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
  const scree_ElementBody *d = self->data;
  const size_t n = (size_t)d->mesh->node_count, pairs = d->mesh->row[n];
  return sizeof *d + scree_shape_memory(&d->own) + scree_shape_memory(&d->later) +
         scree_driven_memory(d) +
         (n * (2 + 4 * D + 2 * DD) + pairs * (1 + 3 * DD) + n * DD +
          scree_factor_entries(d->factor)) *
             sizeof(double);
}

/* ---- motion as a whole ------------------------------------------------------------------------
 */

scree_Vec3 scree_elements_centre(const scree_ElementBody *d, const double *q) {
  scree_Vec3 sum = {0, 0, 0};
  for (int k = 0; k < d->mesh->node_count; ++k)
    sum = scree_axpy(sum, d->mass[k] / d->total, node_at(q, k));
  return sum;
}

scree_Vec3 scree_elements_inertia_solve(const scree_ElementBody *d, const double *q, scree_Vec3 c,
                                        scree_Vec3 a) {
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
  const scree_ElementBody *d = self->data;
  for (int k = 0; k < d->mesh->node_count; ++k) put(q, k, scree_pose_apply(pose, d->mesh->node[k]));
}

static void spin(const scree_Deformable *self, const double *q, const scree_Twist *velocity,
                 double *v) {
  const scree_ElementBody *d = self->data;
  const scree_Vec3 c = scree_elements_centre(d, q);
  for (int k = 0; k < d->mesh->node_count; ++k)
    put(v, k,
        d->held[k] ? scree_vec3(0, 0, 0)
                   : scree_add(velocity->linear,
                               scree_cross(velocity->angular, scree_sub(node_at(q, k), c))));
}

/* The mean rotation: the orthogonal factor of the mean deformation gradient, by Newton's iteration
 * R := (R + R^-T)/2. */
static scree_Quat rotation_of(const scree_ElementBody *d, const double *q, scree_Vec3 c) {
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

/* The present surface, or the other one, at q. */
static void deform_surface(scree_ElementBody *d, const double *q, scree_Shape *own,
                           scree_Pose *pose) {
  const scree_Vec3 c = scree_elements_centre(d, q);
  *pose = (scree_Pose){c, rotation_of(d, q, c)};
  const scree_Mat3 R = scree_quat_matrix(pose->orientation);
  double most = 0;
  for (int k = 0; k < own->vertex_count; ++k) {
    d->surface[k] = scree_mat3_tmul(&R, scree_sub(node_at(q, d->mesh->surface[k]), c));
    most = fmax(most, scree_norm2(d->surface[k]));
  }
  scree_trimesh_move(own->data->mesh, d->surface);
  own->bounding_radius = sqrt(most);
}

static void shape(const scree_Deformable *self, const double *q, scree_Shape *shape,
                  scree_Pose *pose) {
  scree_ElementBody *d = self->data;
  const scree_Shape *own = &d->own;
  deform_surface(d, q, &d->own, pose);
  if (shape->data != own->data) {
    scree_shape_fini(shape);
    scree_shape_copy(own, shape);
  }
  shape->bounding_radius = own->bounding_radius;
}

static void foresee(const scree_Deformable *self, const double *q, scree_Shape *later,
                    scree_Pose *pose) {
  scree_ElementBody *d = self->data;
  deform_surface(d, q, &d->later, pose);
  *later = d->later;
}

static scree_Twist twist(const scree_Deformable *self, const double *q, const double *v) {
  const scree_ElementBody *d = self->data;
  const scree_Vec3 c = scree_elements_centre(d, q);
  scree_Vec3 p = {0, 0, 0}, L = {0, 0, 0};
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const scree_Vec3 m = scree_scale(d->mass[k], node_at(v, k));
    p = scree_add(p, m);
    L = scree_add(L, scree_cross(scree_sub(node_at(q, k), c), m));
  }
  return (scree_Twist){scree_scale(1 / d->total, p), scree_elements_inertia_solve(d, q, c, L)};
}

/* Angular momentum about the centre of mass c: the sum of (x_i - c) x M_ij v_j, with the mass
 * matrix of the kick, which keeps it. */
static scree_Vec3 momentum(const scree_Deformable *self, const double *q, const double *v) {
  const scree_ElementBody *d = self->data;
  const scree_ElementMesh *m = d->mesh;
  const scree_Vec3 c = scree_elements_centre(d, q);
  scree_Vec3 L = {0, 0, 0};
  for (int k = 0; k < m->node_count; ++k) {
    const scree_Vec3 arm = scree_sub(node_at(q, k), c);
    L = scree_axpy(L, d->below ? d->diagonal[k] : d->mass[k], scree_cross(arm, node_at(v, k)));
    for (size_t e = m->row[k]; d->below && e < m->row[k + 1]; ++e) {
      const int i = m->col[e];
      L = scree_axpy(L, d->below[e], scree_cross(arm, node_at(v, i)));
      L = scree_axpy(L, d->below[e], scree_cross(scree_sub(node_at(q, i), c), node_at(v, k)));
    }
  }
  return L;
}

static double reach(const scree_Deformable *self, const double *q, const double *v, double h) {
  const scree_ElementMesh *m = ((const scree_ElementBody *)self->data)->mesh;
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
  const scree_ElementBody *d = self->data;
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

/* Coordinates xi in element e at which sum N_a(xi) x_a is the point, by Newton's method; returns
 * how far they are outside of the element. */
static double locate(const scree_ElementMesh *m, int e, const double *q, scree_Vec3 point,
                     double *N) {
  enum { ITERATIONS = 20 };
  const scree_ElementClass *class = scree_element_class(m, e);
  const int *corner = m->corner + m->corner_row[e];
  const bool simplex = class->corners == class->dimension + 1;
  double xi[3] = {simplex ? 0.25 : 0, simplex ? 0.25 : 0, simplex ? 0.25 : 0};
  double dN[SCREE_ELEMENT_CORNERS][3];
  for (int k = 0; k < ITERATIONS; ++k) {
    scree_Vec3 x = {0, 0, 0};
    scree_Mat3 J = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    class->shape(xi, N, dN);
    for (int a = 0; a < class->corners; ++a) {
      const scree_Vec3 at = node_at(q, corner[a]);
      x = scree_axpy(x, N[a], at);
      J.x = scree_axpy(J.x, dN[a][0], at);
      J.y = scree_axpy(J.y, dN[a][1], at);
      J.z = scree_axpy(J.z, dN[a][2], at);
    }
    const scree_Vec3 b = scree_sub(point, x), yz = scree_cross(J.y, J.z);
    const double det = scree_dot(J.x, yz);
    if (!(det > 0)) return INFINITY;
    const double step[3] = {scree_dot(b, yz) / det, scree_dot(b, scree_cross(J.z, J.x)) / det,
                            scree_dot(b, scree_cross(J.x, J.y)) / det};
    for (int i = 0; i < 3; ++i) xi[i] = fmin(9, fmax(-9, xi[i] + step[i]));
    if (fabs(step[0]) + fabs(step[1]) + fabs(step[2]) < 1e-14) break;
  }
  class->shape(xi, N, dN);
  double outside = 0; /* weights in the element are between 0 and 1 */
  for (int a = 0; a < class->corners; ++a) outside = fmax(outside, -N[a]);
  return outside;
}

static int anchor(const scree_Deformable *self, const double *q, scree_Vec3 point, int *vertex,
                  double *N) {
  const scree_ElementMesh *m = ((const scree_ElementBody *)self->data)->mesh;
  double least = 0.05, weight[SCREE_ELEMENT_CORNERS]; /* round-off, or a point just outside */
  int count = 0;
  for (int e = 0; e < m->element_count; ++e) {
    const double outside = locate(m, e, q, point, weight);
    if (!(outside < least)) continue;
    least = outside;
    count = scree_element_class(m, e)->corners;
    for (int a = 0; a < count; ++a) {
      vertex[a] = m->corner[m->corner_row[e] + (size_t)a];
      unit_block(weight[a], N + DD * a);
    }
  }
  return count;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

static double kinetic(const scree_Deformable *self, const double *v, double *rotation) {
  const scree_ElementBody *d = self->data;
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
  const scree_ElementBody *d = self->data;
  scree_ElementResult result;
  scree_element_assemble(d->mesh, &d->elastic, q, NULL, NULL, NULL, &result);
  return result.inverted ? INFINITY : result.energy;
}

static void force(const scree_Deformable *self, const double *q, double *f, double *K) {
  scree_ElementBody *d = self->data;
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
  const scree_ElementBody *d = self->data;
  memcpy(position, q, count_of(d) * sizeof *q);
  scree_element_stress(d->mesh, &d->elastic, q, NULL, stress);
}

static bool is_held(const scree_Deformable *self, int vertex) {
  return ((const scree_ElementBody *)self->data)->held[vertex];
}

static scree_Shape undeformed(const scree_Deformable *self) {
  return ((const scree_ElementBody *)self->data)->base;
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
    .foresee = foresee,
    .twist = twist,
    .momentum = momentum,
    .reach = reach,
    .touch = touch,
    .anchor = anchor,
    .prepare = scree_elements_prepare,
    .scaling = scree_elements_scaling,
    .coupling = scree_elements_coupling,
    .solve = scree_elements_solve,
    .work = scree_elements_work,
    .kinetic = kinetic,
    .strain = strain,
    .force = force,
    .nodes = nodes,
    .undeformed = undeformed,
    .given = undeformed,
    .is_held = is_held,
    .get_holds = scree_driven_get,
    .set_holds = scree_driven_set_holds};

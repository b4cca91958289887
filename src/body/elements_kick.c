/* The kick of finite-element bodies.
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
 * a body under tension changes it in third order). */
#include "body/elements.h"

#include <string.h>

bool scree_elements_factorise(scree_ElementBody *d) {
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

/* out = M v */
static void multiply_mass(const scree_ElementBody *d, const double *v, double *out) {
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
static bool scale_all(scree_ElementBody *d, double inertia) {
  const scree_ElementMesh *m = d->mesh;
  for (int k = 0; k < m->node_count; ++k) {
    for (int i = 0; i < D; ++i)
      d->A[DD * k + (D + 1) * i] += inertia * (d->below ? d->diagonal[k] : d->mass[k]);
    if (!invert_factor(d->A + DD * k, d->scaling + DD * k)) return false;
    /* contacts do not move a held node: its blocks of B and E vanish */
    if (d->held[k]) memset(d->scaling + DD * k, 0, DD * sizeof *d->scaling);
  }
  if (!is_coupled(d)) return true;
  for (size_t e = 0; d->below && e < m->row[m->node_count]; ++e)
    for (int i = 0; i < D; ++i) d->E[DD * e + (size_t)((D + 1) * i)] += inertia * d->below[e];
  if (d->driven) scree_driven_keep(d);
  for (int k = 0; k < m->node_count; ++k)
    for (size_t e = m->row[k]; e < m->row[k + 1]; ++e)
      scale_block(d->scaling + DD * k, d->scaling + DD * m->col[e], d->E + DD * e);
  return scree_elements_factorise(d);
}

/* Forces from outside: an acceleration, a torque as the acceleration of a rigid body, and those on
 * nodes. */
static void add_load(const scree_ElementBody *d, const double *q, const scree_BodyLoad *load,
                     double *f) {
  const scree_Vec3 c = scree_elements_centre(d, q), t = load->torque;
  const bool turns = t.x != 0 || t.y != 0 || t.z != 0;
  const scree_Vec3 turn = turns ? scree_elements_inertia_solve(d, q, c, t) : scree_vec3(0, 0, 0);
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const scree_Vec3 a =
        scree_add(load->acceleration, scree_cross(turn, scree_sub(node_at(q, k), c)));
    for (int i = 0; i < D; ++i) f[D * k + i] += d->mass[k] * scree_component(a, i);
  }
  for (size_t k = 0; load->nodes && k < count_of(d); ++k) f[k] += load->nodes[k];
}

/* Forces without those of contacts at q, v. */
static void all_forces(scree_ElementBody *d, const double *q, const double *v,
                       const scree_BodyLoad *load, double *f) {
  const size_t n = count_of(d);
  const scree_ElasticMaterial *e = &d->elastic;
  memcpy(f, d->inner, n * sizeof *f);
  if (e->damping_stiffness > 0) {
    scree_ElementResult result;
    memset(f, 0, n * sizeof *f);
    scree_element_assemble(d->mesh, e, q, v, f, NULL, &result);
  }
  if (e->damping_mass > 0) {
    multiply_mass(d, v, d->work[1]);
    for (size_t k = 0; k < n; ++k) f[k] -= e->damping_mass * d->work[1][k];
  }
  add_load(d, q, load, f);
}

bool scree_elements_prepare(const scree_Deformable *self, const double *q, const double *v,
                            const scree_BodyLoad *load, double h, double *change) {
  scree_ElementBody *d = self->data;
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
  if (h == 0 && !load->goal) return true;
  double *impulse = d->work[0];
  if (h > 0)
    all_forces(d, q, v, load, impulse);
  else
    memset(impulse, 0, n * sizeof *impulse);
  for (size_t k = 0; k < n; ++k) impulse[k] *= h;
  if (load->goal) scree_driven_pull(d, v, load->goal, impulse);
  for (int k = 0; k < d->mesh->node_count; ++k)
    for (int i = 0; i < D; ++i)
      for (int j = 0; j <= i; ++j)
        change[D * k + i] += d->scaling[DD * k + D * i + j] * impulse[D * k + j];
  scree_elements_solve(self, change);
  for (int k = 0; k < d->mesh->node_count; ++k) { /* L^-T */
    double y[D];
    memcpy(y, change + D * k, sizeof y);
    for (int i = 0; i < D; ++i) {
      change[D * k + i] = 0;
      for (int j = i; j < D; ++j) change[D * k + i] += d->scaling[DD * k + D * j + i] * y[j];
    }
  }
  if (load->goal) scree_driven_set(d, v, load->goal, change);
  return true;
}

const double *scree_elements_scaling(const scree_Deformable *self) {
  return ((const scree_ElementBody *)self->data)->scaling;
}

scree_BodyCoupling scree_elements_coupling(const scree_Deformable *self) {
  const scree_ElementBody *d = self->data;
  if (!is_coupled(d)) return (scree_BodyCoupling){0};
  return (scree_BodyCoupling){d->mesh->row, d->mesh->col, d->E};
}

void scree_elements_solve(const scree_Deformable *self, double *x) {
  const scree_ElementBody *d = self->data;
  if (is_coupled(d)) scree_factor_solve(d->factor, d->work[1], x);
}

/* a . A b of the last kick, from L (I + E) L^T: without the coupling of held nodes. */
static double product(const scree_ElementBody *d, const double *a, const double *b) {
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
static void scaled(const scree_ElementBody *d, const double *a, double *out) {
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const double *I = d->scaling + DD * k; /* out solves I^T out = a */
    if (d->held[k]) {
      memset(out + D * k, 0, D * sizeof *out);
      continue;
    }
    for (int i = D - 1; i >= 0; --i) {
      double sum = a[D * k + i];
      for (int j = i + 1; j < D; ++j) sum -= I[D * j + i] * out[D * k + j];
      out[D * k + i] = sum / I[D * i + i];
    }
  }
}

/* a . A b with the coupling of nodes. */
static double product_coupled(scree_ElementBody *d, const double *a, const double *b) {
  const scree_ElementMesh *m = d->mesh;
  double sum = product(d, a, b);
  if (!is_coupled(d)) return sum;
  if (d->driven) sum += scree_driven_product(d, a, b);
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

double scree_elements_work(const scree_Deformable *self, const double *v, const double *w,
                           double *damped) {
  scree_ElementBody *d = self->data;
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

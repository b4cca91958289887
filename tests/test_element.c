/* Finite elements as functions: patch tests, derivatives against finite differences, rigid motion,
 * mass, closed forms for one element, beams and bars against theory, meshes and their surface. */
#include "element/assemble.h"
#include "math/factor.h"
#include "math/vec3.h"
#include "test_world_scene.h"

#include <float.h>

static uint64_t seed;

static double uniform(void) { /* in (-1, 1) */
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)seed / 9223372036854775808.0;
}

static scree_ElasticMaterial material(const char *model, double young, double poisson) {
  const scree_Elastic def = {.model = model, .young = young, .poisson = poisson};
  scree_ElasticMaterial elastic;
  OK(scree_elastic_init(&elastic, &def, 1000, &test_log));
  return elastic;
}

static scree_ElementMesh *block(int dimension, scree_Vec3 semi, int nx, int ny, int nz) {
  scree_ElementMesh *mesh;
  const int n[3] = {nx, ny, nz};
  OK(scree_element_mesh_create_block(dimension, semi, n, &mesh, &test_log));
  return mesh;
}

/* The cells of a block cut into simplices: five tetrahedra (mirrored in every other cell, so that
 * faces match), or two triangles. Inner nodes are moved by up to `shake` of a cell. */
static scree_ElementMesh *variant(int dimension, int n, bool simplices, double shake) {
  scree_ElementMesh *from = block(dimension, vec(0.5, 0.5, 0.5), n, n, n), *mesh;
  static const int even[5][4] = {
      {0, 1, 2, 5}, {0, 2, 3, 7}, {0, 5, 7, 4}, {2, 7, 5, 6}, {0, 2, 7, 5}};
  static const int odd[5][4] = {
      {1, 2, 3, 6}, {0, 1, 3, 4}, {4, 6, 5, 1}, {4, 7, 6, 3}, {1, 3, 4, 6}};
  const int cells = from->element_count, per = simplices ? (dimension == 3 ? 5 : 2) : 1;
  scree_Vec3 *node = malloc((size_t)from->node_count * sizeof *node);
  int *corner = malloc((size_t)(cells * per * 8) * sizeof *corner), *to = corner;
  uint8_t *kind = malloc((size_t)(cells * per));
  for (int k = 0; k < from->node_count; ++k) {
    node[k] = from->node[k];
    const double x[3] = {node[k].x, node[k].y, dimension == 3 ? node[k].z : 0};
    if (fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2]))) > 0.5 - 1e-9) continue;
    const double by = shake / n;
    node[k] = vec(x[0] + by * uniform(), x[1] + by * uniform(),
                  dimension == 3 ? x[2] + by * uniform() : 0);
  }
  for (int e = 0; e < cells; ++e) {
    const int *c = from->corner + from->corner_row[e];
    const int parity = (e % n + e / n % n + e / (n * n)) % 2;
    for (int s = 0; s < per; ++s) {
      if (!simplices) {
        kind[e] = from->kind[e];
        for (int k = 0; k < 1 << dimension; ++k) *to++ = c[k];
      } else if (dimension == 3) {
        kind[e * per + s] = SCREE_ELEMENT_TETRAHEDRON;
        for (int k = 0; k < 4; ++k) *to++ = c[parity ? odd[s][k] : even[s][k]];
      } else {
        kind[e * per + s] = SCREE_ELEMENT_TRIANGLE;
        const int half[2][3] = {{0, 1, 2}, {0, 2, 3}};
        for (int k = 0; k < 3; ++k) *to++ = c[half[s][k]];
      }
    }
  }
  OK(scree_element_mesh_create(dimension, node, from->node_count, kind, corner, cells * per, &mesh,
                               &test_log));
  free(node);
  free(corner);
  free(kind);
  scree_element_mesh_destroy(from);
  return mesh;
}

static double *positions(const scree_ElementMesh *m) {
  double *x = calloc((size_t)(m->node_count * m->dimension), sizeof *x);
  for (int k = 0; k < m->node_count; ++k)
    for (int i = 0; i < m->dimension; ++i) x[k * m->dimension + i] = scree_component(m->node[k], i);
  return x;
}

/* x = A X + b */
static void map_affine(const scree_ElementMesh *m, double A[3][3], const double *b, double *x) {
  const int d = m->dimension;
  for (int k = 0; k < m->node_count; ++k)
    for (int i = 0; i < d; ++i) {
      x[k * d + i] = b[i];
      for (int j = 0; j < d; ++j) x[k * d + i] += A[i][j] * scree_component(m->node[k], j);
    }
}

static const char *const models[] = {"st-venant-kirchhoff", "neo-hookean"};

/* The four kinds of meshes: hexahedra, tetrahedra, quadrilaterals, triangles. */
static scree_ElementMesh *kind_of_mesh(int k, int n, double shake) {
  return variant(k < 2 ? 3 : 2, n, k % 2, shake);
}

/* A homogeneous deformation of a distorted mesh: no force on inner nodes, the same stress
 * everywhere, energy = volume times that of the material. */
static void test_patch(void **state) {
  (void)state;
  seed = 11;
  for (int k = 0; k < 4; ++k)
    for (int model = 0; model < 2; ++model) {
      scree_ElementMesh *m = kind_of_mesh(k, 3, 0.3);
      const scree_ElasticMaterial elastic = material(models[model], 1e7, 0.3);
      const int d = m->dimension;
      double A[3][3] = {{1.1, 0.2, 0.05}, {-0.1, 0.9, 0.1}, {0.03, 0.15, 1.05}}, b[3] = {1, 2, 3};
      double *x = positions(m), *f = calloc((size_t)(m->node_count * d), sizeof *f);
      double *element = calloc((size_t)(6 * m->element_count), sizeof *element);
      double *node = calloc((size_t)(7 * m->node_count), sizeof *node);
      scree_ElementResult result;
      map_affine(m, A, b, x);
      scree_element_assemble(m, &elastic, x, NULL, f, NULL, &result);
      assert_int_equal(result.inverted, 0);
      for (int n = 0; n < m->node_count; ++n) {
        const scree_Vec3 X = m->node[n];
        if (fmax(fabs(X.x), fmax(fabs(X.y), fabs(X.z))) > 0.5 - 1e-9) continue;
        for (int i = 0; i < d; ++i) NEAR(f[n * d + i], 0, 1e-12 * 1e7);
      }
      scree_element_stress(m, &elastic, x, element, node);
      for (int e = 1; e < m->element_count; ++e)
        for (int i = 0; i < 6; ++i) NEAR(element[6 * e + i], element[i], 1e-11 * 1e7);
      for (int n = 0; n < m->node_count; ++n)
        for (int i = 0; i < 6; ++i) NEAR(node[6 * n + i], element[i], 1e-11 * 1e7);
      NEAR(m->total, 1, 1e-13);
      free(x);
      free(f);
      free(element);
      free(node);
      scree_element_mesh_destroy(m);
    }
}

/* f = -dW/dx and K = -df/dx by central differences; damping forces against K_m v. */
static void test_derivatives(void **state) {
  (void)state;
  seed = 12;
  for (int k = 0; k < 4; ++k)
    for (int model = 0; model < 2; ++model) {
      scree_ElementMesh *m = kind_of_mesh(k, k == 1 ? 1 : 2, 0.3);
      scree_ElasticMaterial elastic = material(models[model], 1, 0.3);
      const int d = m->dimension, n = m->node_count * d;
      const size_t blocks = m->row[m->node_count];
      double *x = positions(m), *f = calloc((size_t)n, sizeof *f),
             *v = calloc((size_t)n, sizeof *v);
      double *side[2] = {calloc((size_t)n, sizeof *f), calloc((size_t)n, sizeof *f)};
      double *diagonal = calloc((size_t)(n * d), sizeof *f);
      double *below = calloc(blocks * (size_t)(d * d), sizeof *f);
      double *K = calloc((size_t)n * (size_t)n, sizeof *K);
      for (int i = 0; i < n; ++i) x[i] += 0.05 * uniform(), v[i] = uniform();
      scree_ElementResult result;
      scree_ElementTangent tangent = {1, 1, false, diagonal, below};
      scree_element_assemble(m, &elastic, x, NULL, f, &tangent, &result);
      assert_int_equal(result.inverted, 0);
      for (int a = 0; a < m->node_count; ++a) {
        for (int i = 0; i < d * d; ++i)
          K[(a * d + i / d) * n + a * d + i % d] = diagonal[a * d * d + i];
        for (size_t e = m->row[a]; e < m->row[a + 1]; ++e)
          for (int i = 0; i < d * d; ++i) {
            const double value = below[e * (size_t)(d * d) + (size_t)i];
            K[(a * d + i / d) * n + m->col[e] * d + i % d] = value;
            K[(m->col[e] * d + i % d) * n + a * d + i / d] = value;
          }
      }
      const double h = 1e-5;
      double largest = 0;
      for (int i = 0; i < n * n; ++i) largest = fmax(largest, fabs(K[i]));
      for (int j = 0; j < n; ++j) {
        double energy[2];
        const double old = x[j];
        for (int s = 0; s < 2; ++s) {
          x[j] = old + (s ? h : -h);
          memset(side[s], 0, (size_t)n * sizeof *f);
          scree_element_assemble(m, &elastic, x, NULL, side[s], NULL, &result);
          energy[s] = result.energy;
        }
        x[j] = old;
        NEAR(f[j], -(energy[1] - energy[0]) / (2 * h), 1e-9);
        for (int i = 0; i < n; ++i)
          NEAR(K[i * n + j], -(side[1][i] - side[0][i]) / (2 * h), 1e-8 * largest);
      }
      /* damping: beta K_m v, with the same K_m as the tangent */
      tangent.geometric = 0, tangent.definite = true;
      memset(diagonal, 0, (size_t)(n * d) * sizeof *f);
      memset(below, 0, blocks * (size_t)(d * d) * sizeof *f);
      scree_element_assemble(m, &elastic, x, NULL, NULL, &tangent, &result);
      elastic.damping_stiffness = 0.1;
      memcpy(side[0], f, (size_t)n * sizeof *f);
      memset(side[1], 0, (size_t)n * sizeof *f);
      scree_element_assemble(m, &elastic, x, v, side[1], NULL, &result);
      double power = 0;
      for (int a = 0; a < m->node_count; ++a) {
        double *to = side[0] + a * d;
        for (int i = 0; i < d * d; ++i)
          to[i / d] -= 0.1 * diagonal[a * d * d + i] * v[a * d + i % d];
        for (size_t e = m->row[a]; e < m->row[a + 1]; ++e)
          for (int i = 0; i < d * d; ++i) {
            const double value = 0.1 * below[e * (size_t)(d * d) + (size_t)i];
            to[i / d] -= value * v[m->col[e] * d + i % d];
            side[0][m->col[e] * d + i % d] -= value * v[a * d + i / d];
          }
      }
      for (int i = 0; i < n; ++i) NEAR(side[0][i], side[1][i], 1e-13);
      for (int i = 0; i < n; ++i) power += v[i] * (side[1][i] - f[i]);
      assert_true(result.power < 0);
      NEAR(power, result.power, 1e-13);
      free(x), free(f), free(v), free(side[0]), free(side[1]);
      free(diagonal), free(below), free(K);
      scree_element_mesh_destroy(m);
    }
}

/* Rotation and translation: no force, no energy; K_m does not see the spin of a deformed body. */
static void test_rigid_motion(void **state) {
  (void)state;
  seed = 13;
  for (int k = 0; k < 4; ++k)
    for (int model = 0; model < 2; ++model) {
      scree_ElementMesh *m = kind_of_mesh(k, 2, 0.3);
      scree_ElasticMaterial elastic = material(models[model], 1, 0.3);
      const int d = m->dimension, n = m->node_count * d;
      const scree_Quat q = scree_quat_axis_angle(
          d == 3 ? scree_vec3(2.0 / 3, -1.0 / 3, 2.0 / 3) : scree_vec3(0, 0, 1), 2.3);
      const scree_Mat3 R = scree_quat_matrix(q);
      double A[3][3], b[3] = {3, -2, 1};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) A[i][j] = scree_component(scree_column(&R, j), i);
      double *x = positions(m), *f = calloc((size_t)n, sizeof *f),
             *v = calloc((size_t)n, sizeof *v);
      scree_ElementResult result;
      map_affine(m, A, b, x);
      scree_element_assemble(m, &elastic, x, NULL, f, NULL, &result);
      for (int i = 0; i < n; ++i) NEAR(f[i], 0, 1e-13);
      NEAR(result.energy, 0, 1e-14);
      /* sum of forces and moments of a deformed body */
      for (int i = 0; i < n; ++i) x[i] += 0.05 * uniform();
      memset(f, 0, (size_t)n * sizeof *f);
      scree_element_assemble(m, &elastic, x, NULL, f, NULL, &result);
      scree_Vec3 sum = {0, 0, 0}, moment = {0, 0, 0}, spin = {0.3, -0.4, 0.8};
      if (d == 2) spin.x = spin.y = 0;
      for (int a = 0; a < m->node_count; ++a) {
        const scree_Vec3 fa = vec(f[a * d], f[a * d + 1], d == 3 ? f[a * d + 2] : 0);
        const scree_Vec3 xa = vec(x[a * d], x[a * d + 1], d == 3 ? x[a * d + 2] : 0);
        sum = scree_add(sum, fa);
        moment = scree_add(moment, scree_cross(xa, fa));
        const scree_Vec3 va = scree_cross(spin, xa);
        for (int i = 0; i < d; ++i) v[a * d + i] = scree_component(va, i);
      }
      NEAR(scree_norm(sum), 0, 1e-13);
      NEAR(scree_norm(moment), 0, 1e-13);
      /* damping of a deformed body that spins: none */
      elastic.damping_stiffness = 1;
      scree_element_assemble(m, &elastic, x, v, f, NULL, &result);
      NEAR(result.power, 0, 1e-25);
      free(x), free(f), free(v);
      scree_element_mesh_destroy(m);
    }
}

static void test_mass(void **state) {
  (void)state;
  seed = 14;
  for (int k = 0; k < 4; ++k) {
    scree_ElementMesh *m = kind_of_mesh(k, 3, 0.3);
    double *lumped = calloc((size_t)m->node_count, sizeof *lumped);
    double *diagonal = calloc((size_t)m->node_count, sizeof *diagonal);
    double *below = calloc(m->row[m->node_count], sizeof *below), sum = 0;
    scree_element_lump(m, 700, lumped);
    scree_element_mass(m, 700, diagonal, below);
    for (int a = 0; a < m->node_count; ++a) {
      sum += lumped[a];
      assert_true(lumped[a] > 0 && diagonal[a] > 0);
      diagonal[a] -= lumped[a]; /* rows of the consistent mass add up to the lumped one */
    }
    for (int a = 0; a < m->node_count; ++a)
      for (size_t e = m->row[a]; e < m->row[a + 1]; ++e) {
        diagonal[a] += below[e];
        diagonal[m->col[e]] += below[e];
      }
    for (int a = 0; a < m->node_count; ++a) NEAR(diagonal[a], 0, 1e-12 * 700);
    NEAR(sum, 700, 1e-11 * 700);
    NEAR(scree_norm(m->centroid), 0, 1e-13);
    free(lumped), free(diagonal), free(below);
    scree_element_mesh_destroy(m);
  }
}

/* One cube stretched by s along x, free of stress across: closed forms. */
static void test_uniaxial(void **state) {
  (void)state;
  scree_ElementMesh *m = block(3, vec(0.5, 0.5, 0.5), 1, 1, 1);
  const double E = 2e5, nu = 0.3;
  for (int model = 0; model < 2; ++model) {
    const scree_ElasticMaterial elastic = material(models[model], E, nu);
    double f[24] = {0}, x[24], b[3] = {0}, s = 1.2, t = 1;
    /* lateral stretch: St Venant-Kirchhoff E_t = -nu E_s; neo-Hookean by Newton on S_t = 0 */
    if (model == 0) {
      t = sqrt(1 - nu * (s * s - 1));
    } else {
      for (int k = 0; k < 60; ++k) {
        const double value = elastic.mu * (t * t - 1) + elastic.lambda * log(s * t * t);
        t -= value / (2 * elastic.mu * t + 2 * elastic.lambda / t);
      }
    }
    double A[3][3] = {{s, 0, 0}, {0, t, 0}, {0, 0, t}};
    scree_ElementResult result;
    map_affine(m, A, b, x);
    scree_element_assemble(m, &elastic, x, NULL, f, NULL, &result);
    double pull = 0;
    for (int a = 0; a < 8; ++a) {
      NEAR(f[3 * a + 1], 0, 1e-11 * E);
      NEAR(f[3 * a + 2], 0, 1e-11 * E);
      if (m->node[a].x > 0) pull -= f[3 * a];
    }
    const double G = 0.5 * (s * s - 1);
    const double exact =
        model == 0 ? E * s * G : elastic.mu * (s - 1 / s) + elastic.lambda * log(s * t * t) / s;
    NEAR(pull, exact, 1e-12 * E);
    if (model == 0) NEAR(result.energy, 0.5 * E * G * G, 1e-12 * E);
    double stress[6];
    scree_element_stress(m, &elastic, x, stress, NULL);
    NEAR(stress[0], exact / (t * t), 1e-12 * E);
    NEAR(scree_stress_mises(stress), exact / (t * t), 1e-11 * E);
  }
  /* simple shear, St Venant-Kirchhoff: P_xy = mu g + (lambda/2 + mu) g^3 */
  const scree_ElasticMaterial elastic = material(models[0], E, nu);
  const double g = 0.4;
  double A[3][3] = {{1, g, 0}, {0, 1, 0}, {0, 0, 1}}, f[24] = {0}, x[24], b[3] = {0}, shear = 0;
  scree_ElementResult result;
  map_affine(m, A, b, x);
  scree_element_assemble(m, &elastic, x, NULL, f, NULL, &result);
  for (int a = 0; a < 8; ++a)
    if (m->node[a].y > 0) shear -= f[3 * a];
  NEAR(shear, elastic.mu * g + (0.5 * elastic.lambda + elastic.mu) * g * g * g, 1e-12 * E);
  scree_element_mesh_destroy(m);
}

/* ---- linear systems on a mesh -----------------------------------------------------------------
 */

/* The full pattern of a mesh, and K with some components held. */
typedef struct Stiffness {
  const scree_ElementMesh *m;
  size_t *row, *lower; /* lower: where the blocks of the graph are */
  int *col;
  double *x, *diagonal, *below, *work;
  scree_Factor *factor;
} Stiffness;

static void stiffness_begin(Stiffness *s, const scree_ElementMesh *m) {
  const size_t n = (size_t)m->node_count, d = (size_t)m->dimension, pairs = m->row[n];
  *s = (Stiffness){.m = m};
  s->row = calloc(n + 1, sizeof *s->row);
  s->col = calloc(n + 2 * pairs, sizeof *s->col);
  s->lower = calloc(pairs, sizeof *s->lower);
  s->x = calloc((n + 2 * pairs) * d * d, sizeof *s->x);
  s->diagonal = calloc(n * d * d, sizeof *s->x);
  s->below = calloc(pairs * d * d, sizeof *s->x);
  s->work = calloc(n * d, sizeof *s->x);
  size_t at = 0;
  for (size_t a = 0; a < n; ++a) {
    for (size_t e = m->row[a]; e < m->row[a + 1]; ++e) {
      s->lower[e] = at;
      s->col[at++] = m->col[e];
    }
    s->col[at++] = (int)a;
    for (size_t b = a + 1; b < n; ++b)
      for (size_t e = m->row[b]; e < m->row[b + 1]; ++e)
        if (m->col[e] == (int)a) s->col[at++] = (int)b;
    s->row[a + 1] = at;
  }
  OK(scree_factor_create((int)n, (int)d, s->row, s->col, SCREE_FACTOR_SYMMETRIC, &test_log,
                         &s->factor));
}

static void stiffness_end(Stiffness *s) {
  scree_factor_destroy(s->factor);
  free(s->row), free(s->col), free(s->lower), free(s->x), free(s->diagonal), free(s->below);
  free(s->work);
}

/* Factorise K at x; held components have unit rows. */
static void stiffness_compute(Stiffness *s, const scree_ElasticMaterial *elastic, const double *x,
                              const bool *held, double *f) {
  const scree_ElementMesh *m = s->m;
  const size_t n = (size_t)m->node_count, d = (size_t)m->dimension, dd = d * d;
  memset(s->diagonal, 0, n * dd * sizeof *s->x);
  memset(s->below, 0, m->row[n] * dd * sizeof *s->x);
  memset(f, 0, n * d * sizeof *f);
  scree_ElementResult result;
  const scree_ElementTangent tangent = {1, 1, false, s->diagonal, s->below};
  scree_element_assemble(m, elastic, x, NULL, f, &tangent, &result);
  for (size_t a = 0; a < n; ++a) {
    const size_t own = s->row[a] + (m->row[a + 1] - m->row[a]);
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < d; ++j) {
        const bool free_pair = !held[a * d + i] && !held[a * d + j];
        s->x[own * dd + i * d + j] =
            free_pair ? s->diagonal[a * dd + i * d + j] : (i == j ? 1.0 : 0.0);
        for (size_t e = m->row[a]; e < m->row[a + 1]; ++e)
          s->x[s->lower[e] * dd + i * d + j] =
              held[a * d + i] || held[(size_t)m->col[e] * d + j] ? 0 : s->below[e * dd + i * d + j];
      }
  }
  int perturbed;
  OK(scree_factor_compute(s->factor, s->x, &perturbed));
  assert_int_equal(perturbed, 0);
}

/* Sag of the end of a cantilever of length 1 and height 0.1 (and width) under gravity, clamped on
 * the left: Newton's method. */
static double sag_of(int dimension, int nx, int ny, double young, double g) {
  scree_ElementMesh *m = block(dimension, vec(0.5, 0.05, 0.05), nx, ny, ny);
  const scree_ElasticMaterial elastic = material(models[0], young, 0);
  const int d = dimension, n = m->node_count * d;
  double *x = positions(m), *f = calloc((size_t)n, sizeof *f);
  double *mass = calloc((size_t)m->node_count, sizeof *mass);
  bool *held = calloc((size_t)n, sizeof *held);
  for (int i = 0; i < n; ++i) held[i] = m->node[i / d].x < -0.5 + 1e-9;
  scree_element_lump(m, 1000, mass);
  Stiffness s;
  stiffness_begin(&s, m);
  double change = 1;
  for (int k = 0; k < 30 && change > 1e-12; ++k) {
    stiffness_compute(&s, &elastic, x, held, f);
    for (int a = 0; a < m->node_count; ++a) f[a * d + 1] -= mass[a] * g;
    for (int i = 0; i < n; ++i)
      if (held[i]) f[i] = 0;
    scree_factor_solve(s.factor, s.work, f);
    change = 0;
    for (int i = 0; i < n; ++i) x[i] += f[i], change = fmax(change, fabs(f[i]));
  }
  assert_true(change <= 1e-12);
  double sag = 0;
  int count = 0;
  for (int a = 0; a < m->node_count; ++a)
    if (m->node[a].x > 0.5 - 1e-9) sag += m->node[a].y - x[a * d + 1], ++count;
  stiffness_end(&s);
  free(x), free(f), free(mass), free(held);
  scree_element_mesh_destroy(m);
  return sag / count;
}

/* Against Timoshenko's beam: w L^4/(8 E I) + w L^2/(2 k G A), k = 5/6, for poisson = 0. The error
 * falls with the square of the element's size; extrapolated it is below 0.5 %. */
static void test_cantilever(void **state) {
  (void)state;
  const double E = 1e9, rho_g = 1000 * 10, L = 1, b = 0.1;
  const double w = rho_g * b, I = b * b * b / 12, A = b; /* per unit of width */
  const double exact = w * L * L * L * L / (8 * E * I) + w * L * L / (2 * (5.0 / 6) * 0.5 * E * A);
  double sag[3];
  for (int k = 0; k < 3; ++k) sag[k] = sag_of(2, 20 << k, 2 << k, E, 10);
  const double order = log2((sag[1] - sag[0]) / (sag[2] - sag[1]));
  const double limit = sag[2] + (sag[2] - sag[1]) / 3;
  print_message("cantilever 2D: %.3f %.3f %.3f of theory, order %.2f, limit %.4f\n", sag[0] / exact,
                sag[1] / exact, sag[2] / exact, order, limit / exact);
  assert_true(order > 1.8 && order < 2.2);
  NEAR(limit / exact, 1, 0.005);
  const double solid[2] = {sag_of(3, 10, 1, E, 10), sag_of(3, 20, 2, E, 10)};
  print_message("cantilever 3D: %.3f %.3f of theory\n", solid[0] / exact, solid[1] / exact);
  NEAR(solid[1] / sag[0], 1, 1e-9); /* without Poisson's effect a solid bends as a strip */
}

/* The first frequency of a bar that is held at one end, motion along it alone: c/(4 L). */
static double bar_frequency(int n, bool consistent) {
  scree_ElementMesh *m = block(3, vec(0.5, 0.05, 0.05), n, 1, 1);
  const scree_ElasticMaterial elastic = material(models[1], 1e7, 0);
  const int count = 3 * m->node_count;
  double *x = positions(m), *f = calloc((size_t)count, sizeof *f);
  double *y = calloc((size_t)count, sizeof *y), *My = calloc((size_t)count, sizeof *y);
  double *mass = calloc((size_t)m->node_count, sizeof *mass);
  double *below = calloc(m->row[m->node_count], sizeof *below);
  bool *held = calloc((size_t)count, sizeof *held);
  for (int i = 0; i < count; ++i) held[i] = i % 3 != 0 || m->node[i / 3].x < -0.5 + 1e-9;
  if (consistent)
    scree_element_mass(m, 1000, mass, below);
  else
    scree_element_lump(m, 1000, mass);
  Stiffness s;
  stiffness_begin(&s, m);
  stiffness_compute(&s, &elastic, x, held, f);
  double value = 0;
  for (int i = 0; i < count; ++i) y[i] = held[i] ? 0 : 1;
  for (int k = 0; k < 40; ++k) { /* inverse iteration */
    for (int i = 0; i < count; ++i) My[i] = mass[i / 3] * y[i];
    for (int a = 0; a < m->node_count; ++a)
      for (size_t e = m->row[a]; e < m->row[a + 1]; ++e)
        for (int i = 0; i < 3; ++i) {
          My[3 * a + i] += below[e] * y[3 * m->col[e] + i];
          My[3 * m->col[e] + i] += below[e] * y[3 * a + i];
        }
    double norm = 0, product = 0;
    for (int i = 0; i < count; ++i) {
      f[i] = held[i] ? 0 : My[i];
      norm += y[i] * My[i];
    }
    memcpy(y, f, (size_t)count * sizeof *y);
    scree_factor_solve(s.factor, s.work, y);
    for (int i = 0; i < count; ++i) product += y[i] * f[i];
    value = norm / product; /* converges to omega^2 */
    for (int i = 0; i < count; ++i) y[i] *= value;
  }
  stiffness_end(&s);
  free(x), free(f), free(y), free(My), free(mass), free(below), free(held);
  scree_element_mesh_destroy(m);
  return sqrt(value) / (2 * acos(-1.0));
}

static void test_bar(void **state) {
  (void)state;
  const double exact = sqrt(1e7 / 1000) / 4;
  for (int consistent = 0; consistent < 2; ++consistent) {
    const double coarse = bar_frequency(5, consistent) / exact - 1;
    const double fine = bar_frequency(10, consistent) / exact - 1;
    assert_true(consistent ? fine > 0
                           : fine < 0); /* the consistent mass is stiff, the other soft */
    NEAR(coarse / fine, 4, 0.1);
    NEAR(fine, consistent ? 1.03e-3 : -1.03e-3, 5e-5); /* (pi/40)^2 / 6 */
  }
}

/* ---- meshes -----------------------------------------------------------------------------------
 */

/* Outward faces: their area vectors add up to zero, and x . n / 3 to the volume. */
static void test_surface(void **state) {
  (void)state;
  seed = 15;
  for (int k = 0; k < 4; ++k) {
    scree_ElementMesh *m = kind_of_mesh(k, 3, 0.3);
    scree_Vec3 sum = {0, 0, 0};
    double volume = 0;
    for (int f = 0; f < scree_element_mesh_face_count(m); ++f) {
      int n;
      const int *node = scree_element_mesh_face(m, f, &n);
      for (int t = 2; t < (n == 2 ? 3 : n); ++t) {
        const scree_Vec3 a = m->node[node[0]], b = m->node[node[n == 2 ? 1 : t - 1]];
        const scree_Vec3 c = n == 2 ? vec(a.x, a.y, 1) : m->node[node[t]];
        const scree_Vec3 area =
            n == 2 ? vec(b.y - a.y, a.x - b.x, 0)
                   : scree_scale(0.5, scree_cross(scree_sub(b, a), scree_sub(c, a)));
        sum = scree_add(sum, area);
        volume += scree_dot(a, area) / m->dimension;
      }
    }
    NEAR(scree_norm(sum), 0, 1e-13);
    NEAR(volume, 1, 1e-13);
    assert_int_equal(m->face_count, k == 0 ? 54 : k == 1 ? 108 : 12);
    assert_int_equal(m->surface_count, k < 2 ? 64 - 8 : 12);
    scree_element_mesh_destroy(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_patch),        cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_rigid_motion), cmocka_unit_test(test_mass),
      cmocka_unit_test(test_uniaxial),     cmocka_unit_test(test_cantilever),
      cmocka_unit_test(test_bar),          cmocka_unit_test(test_surface),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

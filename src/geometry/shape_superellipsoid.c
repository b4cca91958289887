/* Superellipsoid: (|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q <= 1 with exponents p, q >= 2.
 *
 * This is the unit ball of the norm |(|(x/a, y/b)|_p, z/c)|_q. So its support function is the dual
 * norm, with p' = p/(p - 1) and q' = q/(q - 1),
 *     h(d) = |(s, c d_z)|_q',   s = |(a d_x, b d_y)|_p',
 * and the furthest point is its gradient. Volume and moments are Beta functions (Jaklic, Leonardis,
 * Solina 2000, with e2 = 2/p, e1 = 2/q):
 *     V = 2 a b c e1 e2 B(e1/2 + 1, e1) B(e2/2, e2/2)
 *     integral of x^2 = a^3 b c e1 e2 B(3 e2/2, e2/2) B(e1/2, 2 e1 + 1) / 2
 *     integral of z^2 = a b c^3 e1 e2 B(e2/2, e2/2) B(3 e1/2, e1 + 1). */
#include "core/log.h"
#include "geometry/shape_class.h"

static const scree_ShapeParameter parameters[] = {
    {"semi_x", SCREE_SHAPE_FIELD(semi.x), true, 0, false, false, "semi-axis along x", false},
    {"semi_y", SCREE_SHAPE_FIELD(semi.y), true, 0, false, false, "semi-axis along y", false},
    {"semi_z", SCREE_SHAPE_FIELD(semi.z), true, 0, false, false, "semi-axis along z", false},
    {"exponent_xy", SCREE_SHAPE_FIELD(exponent[0]), false, 2, false, false,
     "exponent of x and y, from 2 (round) to 32 (nearly square)", true},
    {"exponent_z", SCREE_SHAPE_FIELD(exponent[1]), false, 2, false, false,
     "exponent along z, from 2 (round) to 32 (nearly flat ends)", true}};

/* Corners of larger exponents have radii of curvature below a hundredth of the size. */
static const double LEAST = 2, MOST = 32;

static double beta(double x, double y) {
  return exp(lgamma(x) + lgamma(y) - lgamma(x + y));
}

static scree_Status init(scree_Shape *s, const scree_ShapeSource *source, const scree_Log *log) {
  (void)source;
  for (int k = 0; k < 2; ++k)
    if (!(s->exponent[k] >= LEAST && s->exponent[k] <= MOST))
      return scree_fail(log, SCREE_BAD_INPUT,
                        "superellipsoid: %s is %g, expected a number from %g to %g",
                        parameters[3 + k].name, s->exponent[k], LEAST, MOST);
  const double a = s->semi.x, b = s->semi.y, c = s->semi.z;
  const double e2 = 2 / s->exponent[0], e1 = 2 / s->exponent[1];
  s->volume = 2 * a * b * c * e1 * e2 * beta(e1 / 2 + 1, e1) * beta(e2 / 2, e2 / 2);
  const double across =
      0.5 * a * b * c * e1 * e2 * beta(1.5 * e2, e2 / 2) * beta(e1 / 2, 2 * e1 + 1);
  const double x = across * a * a, y = across * b * b;
  const double z = a * b * c * c * c * e1 * e2 * beta(e2 / 2, e2 / 2) * beta(1.5 * e1, e1 + 1);
  s->inertia = scree_vec3(y + z, z + x, x + y);
  s->size = 2 * fmin(a, fmin(b, c));
  /* by Hoelder: |x|^2 <= (semi-axes in the norm dual to the square of the surface's) */
  const double p = s->exponent[0], q = s->exponent[1];
  const double most =
      p > 2 ? pow(pow(a, 2 * p / (p - 2)) + pow(b, 2 * p / (p - 2)), (p - 2) / (2 * p))
            : fmax(a, b);
  s->bounding_radius =
      q > 2 ? pow(pow(most, 2 * q / (q - 2)) + pow(c, 2 * q / (q - 2)), (q - 2) / (2 * q))
            : fmax(most, c);
  if (!isfinite(s->bounding_radius) || !(s->bounding_radius > 0))
    s->bounding_radius = scree_norm(s->semi); /* powers overflow: the box around it */
  return SCREE_OK;
}

/* Gradient of the dual norm of (u, v) with exponent r = p / (p - 1): the unit vector of the norm
 * with exponent p; returns the dual norm. */
static double dual(double u, double v, double p, double *gu, double *gv) {
  const double m = fmax(fabs(u), fabs(v));
  *gu = *gv = 0;
  if (!(m > 0)) return 0;
  if (p == 2) {
    const double h = hypot(u, v);
    *gu = u / h, *gv = v / h;
    return h;
  }
  /* one of x, y is 1; with S = x^r + y^r the norm is S^(1/r), and (x / norm)^(r - 1) = x^r / x *
   * S^(1/r) / S, so that two powers are enough */
  const double r = p / (p - 1), x = fabs(u) / m, y = fabs(v) / m;
  const double less = fmin(x, y), power = less > 0 ? pow(less, r) : 0;
  const double norm = pow(1 + power, 1 / r), factor = norm / (1 + power);
  const double small = less > 0 ? power / less * factor : 0;
  *gu = copysign(x < y ? small : factor, u);
  *gv = copysign(x < y ? factor : y < 1 ? small : factor, v);
  return m * norm;
}

static scree_Vec3 support(const scree_Shape *s, scree_Vec3 d) {
  double gx, gy, gs, gz;
  const double across = dual(s->semi.x * d.x, s->semi.y * d.y, s->exponent[0], &gx, &gy);
  dual(across, s->semi.z * d.z, s->exponent[1], &gs, &gz);
  return scree_vec3(s->semi.x * gs * gx, s->semi.y * gs * gy, s->semi.z * gz);
}

const scree_ShapeClass scree_shape_superellipsoid = {
    .type =
        {.name = "superellipsoid",
         .summary =
             "shape between ellipsoid, cylinder and box: (abs(x/semi_x)^p + abs(y/semi_y)^p)^(q/p) "
             "+ abs(z/semi_z)^q <= 1, with p = exponent_xy and q = exponent_z",
         .dimension = 3,
         .bounded = true,
         .convex = true,
         SCREE_SHAPE_TABLE(parameters)},
    .init = init,
    .support = support};

/* Newton's method for the common normal of two ellipsoids (see smooth.h).
 *
 * The closest points of two smooth convex bodies have a common normal (003, section 3.3.3). Instead
 * of four surface coordinates the unknown here is the normal y itself: the signed distance is the
 * largest separation over all directions,
 *     gap = max over |y| = 1 of f(y) = y . delta - h_A(-y) - h_B(y),   h(y) = |L y|,
 * both for separated bodies (then f is concave along the sphere near its maximum and the maximum is
 * unique) and for overlapping ones (then -gap is the depth of penetration). f is homogeneous of
 * degree one, so that on the tangent plane of the sphere
 *     gradient  g = P grad f,   Hessian  H = P (Hess f - f I) P,   Hess h = (L'L - g_h g_h') / h.
 * -Hess f is the sum of the bodies' radii of curvature: with f > 0 Newton's matrix -H is positive
 * definite, and with a slight overlap it stays so as long as the overlap is less than these radii.
 * Otherwise the part without f is used as a scaling of the gradient. Steps are halved until f
 * rises; the last steps, where rounding hides the rise, are taken in full. The error of the gap is
 * of second order in that of y, hence at rounding level.
 *
 * Starts: the line of centres, and (A'A + B'B)^-1 delta, which is exact for two touching bodies of
 * the same shape and orientation; the better of the two. A deep overlap may have several local
 * maxima: then Newton also starts from the principal axes of both, and the largest is taken. */
#include "geometry/smooth.h"

#include <float.h>

enum { MAX_STEPS = 100, MAX_HALVINGS = 40, STARTS = 3 };

typedef struct State {
  double f;
  double y[3], gradient[3];
  double curvature[3][3]; /* -Hess f, positive semi-definite */
} State;

/* The hot loops run over three components also when k = 2: the third are zeros, and loops of known
 * length unroll. */
#define UNROLL _Pragma("GCC unroll 3")

static inline double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* l = L y; returns its length, the support value. */
static inline double support(const double L[3][3], const double y[3], double l[3]) {
  UNROLL for (int i = 0; i < 3; i++) l[i] = dot3(L[i], y);
  return sqrt(dot3(l, l));
}

/* Returns h = |L y|; subtracts its gradient from `gradient` and adds its Hessian (lower
 * triangle). */
static inline double add_support(const double L[3][3], const double y[3], double *gradient,
                                 double (*hessian)[3]) {
  double l[3], g[3], h = support(L, y, l);
  if (!(h > 0)) return h;
  double inverse = 1 / h;
  UNROLL for (int j = 0; j < 3; j++) {
    g[j] = (L[0][j] * l[0] + L[1][j] * l[1] + L[2][j] * l[2]) * inverse;
    gradient[j] -= g[j];
  }
  UNROLL for (int j = 0; j < 3; j++) {
    UNROLL for (int m = 0; m <= j; m++) {
      double s = L[0][j] * L[0][m] + L[1][j] * L[1][m] + L[2][j] * L[2][m];
      hessian[j][m] += (s - g[j] * g[m]) * inverse;
    }
  }
  return h;
}

static double separation(const scree_SmoothPair *p, const double y[3]) {
  double l[3], f = dot3(y, p->delta) - support(p->A, y, l);
  return p->point ? f : f - support(p->B, y, l);
}

static void evaluate(const scree_SmoothPair *p, State *s) {
  for (int j = 0; j < 3; j++) {
    s->gradient[j] = p->delta[j];
    for (int m = 0; m < 3; m++) s->curvature[j][m] = 0;
  }
  double h = add_support(p->A, s->y, s->gradient, s->curvature);
  if (!p->point) h += add_support(p->B, s->y, s->gradient, s->curvature);
  s->f = dot3(s->y, p->delta) - h;
  s->curvature[0][1] = s->curvature[1][0];
  s->curvature[0][2] = s->curvature[2][0];
  s->curvature[1][2] = s->curvature[2][1];
}

static bool normalize(int k, double y[3]) {
  double s = 0;
  for (int j = 0; j < k; j++) s += y[j] * y[j];
  if (!(s > 0) || !isfinite(s)) return false;
  s = 1 / sqrt(s);
  for (int j = 0; j < k; j++) y[j] *= s;
  for (int j = k; j < 3; j++) y[j] = 0;
  return true;
}

/* Newton's step in the tangent plane at s->y, as a vector of k-space; true when the matrix was
 * positive definite (a maximum is near), false when the scaled gradient was taken instead. */
static bool tangent_step(const scree_SmoothPair *p, const State *s, double step[3]) {
  int n = p->k - 1;
  double t[2][3] = {{-s->y[1], s->y[0], 0}, {0, 0, 0}};
  if (n == 2) {
    scree_Vec3 t1, t2;
    scree_contact_frame(scree_vec3(s->y[0], s->y[1], s->y[2]), 3, &t1, &t2);
    t[0][0] = t1.x, t[0][1] = t1.y, t[0][2] = t1.z;
    t[1][0] = t2.x, t[1][1] = t2.y, t[1][2] = t2.z;
  }
  double g[2] = {0, 0}, M[2][2] = {{0, 0}, {0, 0}};
  for (int a = 0; a < n; a++) {
    double c[3] = {dot3(s->curvature[0], t[a]), dot3(s->curvature[1], t[a]),
                   dot3(s->curvature[2], t[a])};
    g[a] = dot3(t[a], s->gradient);
    for (int b = 0; b < n; b++) M[a][b] = dot3(c, t[b]);
  }
  if (n == 1) M[1][1] = M[0][0];
  bool definite = false;
  double x[2] = {0, 0};
  for (int attempt = 0; attempt < 2 && !definite; attempt++) {
    double shift = attempt == 0 ? s->f : 0;
    double m00 = M[0][0] + shift, m11 = M[1][1] + shift;
    double det = m00 * m11 - M[0][1] * M[1][0];
    bool positive = m00 > 0 && m11 > 0 && det > 16 * DBL_EPSILON * m00 * m11;
    if (!positive && attempt == 0) continue;
    if (!positive) { /* flat in one direction: scale by the trace */
      double trace = m00 + m11;
      for (int a = 0; a < n && trace > 0; a++) x[a] = g[a] / trace;
      break;
    }
    x[0] = (m11 * g[0] - M[0][1] * g[1]) / det;
    x[1] = (m00 * g[1] - M[1][0] * g[0]) / det;
    if (n == 1) x[0] = g[0] / m00, x[1] = 0;
    if (attempt == 0)
      definite = true;
    else
      break;
  }
  for (int j = 0; j < 3; j++) step[j] = x[0] * t[0][j] + x[1] * t[1][j];
  return definite;
}

/* Iterate from s->y to a local maximum. True when it is one: Newton's matrix is positive
 * definite. */
static bool climb(const scree_SmoothPair *p, double enough, State *s) {
  bool definite = false;
  int whole = 0;
  evaluate(p, s);
  for (int iteration = 0; iteration < MAX_STEPS && s->f <= enough; iteration++) {
    double step[3];
    definite = tangent_step(p, s, step);
    double length = sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
    if (!isfinite(length) || length <= 2 * DBL_EPSILON) break;
    if (definite && length < 1e-6) { /* quadratic from here on: 1e-8 is at rounding level */
      for (int j = 0; j < 3; j++) s->y[j] += step[j];
      normalize(p->k, s->y);
      evaluate(p, s);
      if (length < 1e-8 || ++whole == 3) break;
      continue;
    }
    double scale = length > 1 ? 1 / length : 1;
    State trial;
    bool risen = false;
    for (int halving = 0; halving < MAX_HALVINGS && !risen; halving++, scale *= 0.5) {
      for (int j = 0; j < 3; j++) trial.y[j] = s->y[j] + scale * step[j];
      normalize(p->k, trial.y);
      evaluate(p, &trial);
      risen = trial.f > s->f;
    }
    if (!risen) break;
    *s = trial;
  }
  return definite;
}

bool scree_smooth_follow(const scree_SmoothPair *p, double y[3]) {
  enum { STEPS = 3 };
  static const double close = 1e-3; /* the next step is then its square, below 1e-6 */
  State s = {.y = {y[0], y[1], y[2]}};
  for (int k = 0; k < STEPS; ++k) {
    double step[3];
    evaluate(p, &s);
    if (!tangent_step(p, &s, step)) return false;
    for (int j = 0; j < 3; j++) s.y[j] += step[j];
    if (!normalize(p->k, s.y)) return false;
    if (!(dot3(step, step) < close * close)) continue;
    for (int j = 0; j < 3; j++) y[j] = s.y[j];
    return true;
  }
  return false;
}

/* Solve (A'A + B'B) x = delta by the adjugate; scale-free because only the direction counts. */
static bool shape_start(const scree_SmoothPair *p, double y[3]) {
  double S[3][3] = {{0}};
  for (int j = 0; j < p->k; j++)
    for (int m = 0; m < p->k; m++)
      for (int i = 0; i < 3; i++)
        S[j][m] += p->A[i][j] * p->A[i][m] + (p->point ? 0 : p->B[i][j] * p->B[i][m]);
  const double *d = p->delta;
  if (p->k == 2) {
    y[0] = S[1][1] * d[0] - S[0][1] * d[1];
    y[1] = S[0][0] * d[1] - S[1][0] * d[0];
    y[2] = 0;
  } else {
    scree_Vec3 a = scree_vec3(S[0][0], S[0][1], S[0][2]), b = scree_vec3(S[1][0], S[1][1], S[1][2]);
    scree_Vec3 c = scree_vec3(S[2][0], S[2][1], S[2][2]);
    scree_Vec3 x = scree_add(
        scree_scale(d[0], scree_cross(b, c)),
        scree_add(scree_scale(d[1], scree_cross(c, a)), scree_scale(d[2], scree_cross(a, b))));
    y[0] = x.x, y[1] = x.y, y[2] = x.z;
  }
  return normalize(p->k, y);
}

/* The directions of the semi-axes of both bodies, each with both signs: iterate from the few with
 * the largest separation, keep the best in *best. */
static void search_widely(const scree_SmoothPair *p, State *best) {
  double start[12][3], value[12];
  int count = 0;
  for (int body = 0; body < (p->point ? 1 : 2); body++)
    for (int i = 0; i < 3; i++)
      for (int sign = -1; sign <= 1; sign += 2) {
        for (int j = 0; j < 3; j++) start[count][j] = sign * (body ? p->B : p->A)[i][j];
        if (!normalize(p->k, start[count])) continue;
        value[count] = separation(p, start[count]);
        count++;
      }
  for (int turn = 0; turn < STARTS; turn++) {
    int pick = -1;
    for (int k = 0; k < count; k++)
      if (value[k] > -INFINITY && (pick < 0 || value[k] > value[pick])) pick = k;
    if (pick < 0) return;
    State s;
    for (int j = 0; j < 3; j++) s.y[j] = start[pick][j];
    value[pick] = -INFINITY;
    climb(p, INFINITY, &s);
    if (s.f > best->f) *best = s;
  }
}

double scree_smooth_separation(const scree_SmoothPair *p, double enough, double y[3]) {
  State s;
  double other[3];
  for (int j = 0; j < 3; j++) s.y[j] = p->delta[j];
  bool centred = !normalize(p->k, s.y);
  if (centred)
    for (int j = 0; j < 3; j++) s.y[j] = j == 1;
  else if (shape_start(p, other) && separation(p, other) > separation(p, s.y))
    for (int j = 0; j < 3; j++) s.y[j] = other[j];
  bool sure = climb(p, enough, &s);
  /* Shallow: the overlap is a small part of the thinner body's width in its own direction. */
  double l[3], a = support(p->A, s.y, l), b = p->point ? a : support(p->B, s.y, l);
  if (centred || (s.f <= enough && (!sure || -s.f > 0.05 * fmin(a, b)))) search_widely(p, &s);
  for (int j = 0; j < 3; j++) y[j] = s.y[j];
  return s.f;
}

void scree_smooth_rows(scree_Vec3 semi, const scree_Mat3 *R, int k, const scree_Vec3 basis[3],
                       double rows[3][3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      rows[i][j] = j < k ? scree_component(semi, i) * scree_dot(scree_column(R, i), basis[j]) : 0;
}

scree_Vec3 scree_smooth_support(scree_Vec3 semi, const scree_Mat3 *R, scree_Vec3 n) {
  scree_Vec3 l = scree_mat3_tmul(R, n);
  l = scree_unit_or(scree_vec3(semi.x * l.x, semi.y * l.y, semi.z * l.z), scree_vec3(0, 0, 0));
  return scree_mat3_mul(R, scree_vec3(semi.x * l.x, semi.y * l.y, semi.z * l.z));
}

scree_Vec3 scree_elliptic_lowest(const scree_Elliptic *e, scree_Vec3 n) {
  return scree_add(e->centre, scree_smooth_support(e->semi, &e->axes, scree_neg(n)));
}

double scree_elliptic_separation(const scree_Elliptic *e, scree_Vec3 point, int k,
                                 const scree_Vec3 basis[3], double enough, scree_Vec3 *n) {
  scree_SmoothPair pair = {.k = k, .point = true};
  scree_Vec3 d = scree_sub(e->centre, point);
  for (int j = 0; j < k; j++) pair.delta[j] = scree_dot(d, basis[j]);
  scree_smooth_rows(e->semi, &e->axes, k, basis, pair.A);
  double y[3], f = scree_smooth_separation(&pair, enough, y);
  *n = scree_scale(y[0], basis[0]);
  for (int j = 1; j < k; j++) *n = scree_axpy(*n, y[j], basis[j]);
  return f;
}

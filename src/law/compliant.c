/* Compliant contact with damping and Coulomb's friction (002 sections 6 and 7).
 *
 * The displacement y of a contact is elastic and plastic, y = y_E + y_P, with the force
 *     f = -K y_E - R dy_E/dt ,   f in Coulomb's cone ,   dy_P/dt in -N(f) ,             (45), (46)
 * K = diag(k_n, k_t, k_t) and R = alpha K. The law of a step is on the plastic velocity u_P. With
 * the force at the next kick, a time H ahead, y_E = y + H (u - u_P), and the impulse r = h f,
 *     u_P = u + C r + y / (H + alpha) ,       C = K^-1 / (h (H + alpha)) ,              (50), (51)
 * which is the gap of a rigid contact over H when K^-1 = 0 and alpha = 0. The normal displacement y
 * is the gap itself: it needs no memory and does not drift. The tangential displacement is
 * the memory of the contact, a vector in space, of which the part in the tangent plane is used.
 *
 * With the force of the next kick this is implicit Euler for the spring: it is stable for any
 * stiffness and tends to the rigid contact in the limit, and it damps an oscillation of frequency w
 * by a ratio of w h / 2 in addition to the alpha w / 2 of the law. Steps that are to resolve the
 * oscillation have to be short compared with 1 / w; longer ones give its mean.
 *
 * The stored energy is that of y_E at the end of the step, where the potential energy of gravity is
 * computed too. */
#include "law/law.h"

#include <float.h>
#include <math.h>

enum { MU, COMPLIANCE_N, COMPLIANCE_T, DAMPING };

/* Memory: tangential y_E at the next kick, in the world frame; y_n and |y_T| at the end of the
 * step, for the energy. */
enum { NEXT = 0, END_N = 3, END_T = 4, MEMORY = 5 };

static const scree_Option options[] = {
    SCREE_LAW_REAL("mu", MU, 0.5, 0, DBL_MAX, "coefficient of friction"),
    SCREE_LAW_REAL("compliance_n", COMPLIANCE_N, 0, 0, DBL_MAX,
                   "normal displacement over force, m/N; 0: rigid"),
    SCREE_LAW_REAL("compliance_t", COMPLIANCE_T, 0, 0, DBL_MAX,
                   "tangential displacement over force, m/N; 0: rigid"),
    SCREE_LAW_REAL("damping", DAMPING, 0, 0, DBL_MAX, "alpha_K: damping over stiffness, s")};

static void fill(const scree_PairLaw *law, double h, scree_LawContact *contact) {
  (void)h;
  contact->set = (scree_Set){.kind = SCREE_SET_CONE, .mu = law->values[MU]};
  contact->soft = law->values[COMPLIANCE_N] > 0;
}

static double compliance_of(const scree_PairLaw *law, int k) {
  return law->values[k == 0 ? COMPLIANCE_N : COMPLIANCE_T];
}

/* y in direction k at this kick. */
static double displacement(const scree_LawPoint *p, int k) {
  const double *y = p->memory + NEXT;
  return k == 0 ? p->gap : scree_dot(p->axes[k], scree_vec3(y[0], y[1], y[2]));
}

/* Rigid directions keep the terms of the time scheme. Damping is proportional to the stiffness, so
 * they have none. */
static void pose(const scree_PairLaw *law, const scree_LawPoint *p, scree_LawTerms *terms) {
  const double time = p->horizon + law->values[DAMPING];
  for (int k = 0; k < p->d; ++k) {
    const double compliance = compliance_of(law, k);
    if (!(compliance > 0)) continue;
    terms->q[k] = displacement(p, k) / time;
    terms->compliance[k] = compliance / (p->h * time);
  }
}

static void update(const scree_PairLaw *law, const scree_LawPoint *p, const double *r,
                   double *memory) {
  const double time = p->horizon + law->values[DAMPING];
  scree_Vec3 next = {0, 0, 0};
  double end[3] = {0, 0, 0};
  /* an open contact has no elastic displacement */
  for (int k = 0; k < p->d && r[0] > 0; ++k) {
    const double compliance = compliance_of(law, k), y = displacement(p, k);
    if (!(compliance > 0)) continue;
    const double rate = -(compliance / p->h * r[k] + y) / time; /* u - u_P, from (50), (51) */
    if (k > 0) next = scree_axpy(next, y + p->horizon * rate, p->axes[k]);
    end[k] = y + p->rest * rate;
  }
  memory[NEXT] = next.x;
  memory[NEXT + 1] = next.y;
  memory[NEXT + 2] = next.z;
  memory[END_N] = fmin(end[0], 0);
  memory[END_T] = hypot(end[1], end[2]);
}

static double spring(double compliance, double y) {
  return compliance > 0 ? 0.5 * y * y / compliance : 0;
}

static scree_LawEnergy energy(const scree_PairLaw *law, const double *memory) {
  return (scree_LawEnergy){spring(law->values[COMPLIANCE_N], memory[END_N]),
                           spring(law->values[COMPLIANCE_T], memory[END_T])};
}

const scree_LawClass scree_law_compliant = {
    .name = "compliant",
    .summary = "springs and dampers in series with Coulomb friction, as in 002",
    .options = SCREE_LAW_TABLE(options),
    .fill = fill,
    .pose = pose,
    .memory = MEMORY,
    .update = update,
    .energy = energy};

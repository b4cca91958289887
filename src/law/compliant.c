/* Visco-elasto-plastic contact (002 sections 6 to 8).
 *
 * The displacement y of a contact is elastic and plastic, y = y_E + y_P, with the force
 *     f = -K y_E - R dy_E/dt ,   f in Y ,   dy_P/dt in -N_Y(f) ,                        (45), (46)
 * K = diag(k_n, k_t, k_t) and R = alpha_K K + alpha_M M, M the mass felt in each direction. The law
 * of a step is on the plastic velocity u_P. With the force at the next kick, a time H ahead,
 * y_E = y + H (u - u_P), and the impulse r = h f,
 *     u_P = u + C r + y_E / T ,     C = K^-1 / (h T) ,     T = H + alpha_K + alpha_M M K^-1  ,
 * which is (50) and (51), and the gap of a rigid contact over H when K^-1 = 0: directions without
 * compliance are rigid, to round-off. Y is the cone, the cone shifted by a cohesion, the cone with
 * a ball added, or the last one cut off by a cap (section 8).
 *
 * Without a strength in tension or a cap the normal y_E is memory too. It follows from the impulse,
 * y_E' = y_E - H (K^-1 r / h + y_E) / T: errors of a solution, which are large in the velocities
 * of light bodies that carry heavy loads, do not stretch springs, and the stored energy is that of
 * the forces. The plastic part, the gap less y_E, is >= 0 where the contact is open and else zero:
 * the time scheme treats it as the gap of a rigid contact, and corrects its errors as slowly. So a
 * damper does not act before the bodies touch, and where they separate, y_E returns to zero in the
 * time of the damper. (51) with the gap in place of y_E would let dampers act at a distance on
 * bodies that meet within the time T.
 *
 * With such a strength, y is the gap and y_P is memory.
 * Strength in tension begins when the bodies touch. At its strength the contact elongates at
 * constant force and resists closing from its current length (Figure 1-d to f); with `break_at` it
 * breaks after that plastic displacement. A cap leaves a permanent indentation of the depth -y_P.
 * The tangential displacement y_E is memory, a vector in space, of which the part in the tangent
 * plane is used.
 *
 * With the force of the next kick this is implicit Euler for the spring: it is stable for any
 * stiffness and tends to the rigid contact in the limit, and it damps an oscillation of frequency w
 * by a ratio of w h / 2 in addition to the alpha_K w / 2 of the law. Steps that are to resolve the
 * oscillation have to be short compared with 1 / w; longer ones give its mean.
 *
 * The stored energy is that of y_E at the end of the step, where the potential energy of gravity is
 * computed too. */
#include "law/law.h"

#include <float.h>
#include <math.h>

enum {
  MU,
  COMPLIANCE_N,
  COMPLIANCE_T,
  MODULUS,
  RATIO,
  DAMPING,
  DAMPING_MASS,
  COHESION,
  BALL,
  CAP,
  STRESS,
  BREAK_AT,
  ROLLING,
  SPINNING,
  DILATANCY
};

/* Memory. NEXT: tangential y_E at the next kick, in the world frame. PLASTIC: y_P of the normal at
 * the next kick. PATH: plastic displacement since the bodies touched. KNOWN: 1 if ELASTIC is the
 * normal y_E at the next kick. STORED_*: energy at the end of the step. LOST_*:
 * energy lost in the step. POWER: see scree_LawEnergy. */
enum {
  NEXT = 0,
  PLASTIC = 3,
  PATH,
  STATE,
  KNOWN,
  ELASTIC,
  STORED_N,
  STORED_T,
  LOST_N,
  LOST_T,
  LOST_PLASTIC,
  POWER,
  MEMORY
};
enum { NEW = 0, TOUCHED = 1, BROKEN = 2 };

/* Impulses within this part of the boundary of the set yield; below it, a plastic velocity is an
 * error of the solution, which would add up to a creep. */
static const double full = 1e-6;

/* A y_E below this part of the smaller body is forgotten. */
static const double negligible = 1e-15;

/* Bodies that are this near in the first step touch, relative to the smaller one. */
static const double touching = 1e-4;

static const scree_Option options[] = {
    SCREE_LAW_MU(MU),
    SCREE_LAW_REAL("compliance_n", COMPLIANCE_N, 0, 0, DBL_MAX,
                   "normal compliance: displacement over force, m/N; 0: rigid"),
    SCREE_LAW_REAL("compliance_t", COMPLIANCE_T, 0, 0, DBL_MAX,
                   "tangential compliance: displacement over force, m/N; 0: rigid"),
    SCREE_LAW_REAL("modulus", MODULUS, 0, 0, DBL_MAX,
                   "instead of compliances: normal stiffness divided by the width of the smaller "
                   "body, Pa; in 2D the normal stiffness itself, N/m"),
    SCREE_LAW_REAL(
        "ratio", RATIO, 1, 0, DBL_MAX,
        "with `modulus`: ratio of tangential to normal stiffness; 0: tangentially rigid"),
    SCREE_LAW_REAL("damping", DAMPING, 0, 0, DBL_MAX, "alpha_K: ratio of damping to stiffness, s"),
    SCREE_LAW_REAL("damping_mass", DAMPING_MASS, 0, 0, DBL_MAX,
                   "alpha_M: ratio of damping to the effective mass of the contact, 1/s"),
    SCREE_LAW_REAL("cohesion", COHESION, 0, 0, DBL_MAX,
                   "tensile strength, by which the cone is shifted, N (with `stress`: Pa)"),
    SCREE_LAW_REAL("ball", BALL, 0, 0, DBL_MAX,
                   "radius of a ball that is added to the cone, N (with `stress`: Pa)"),
    SCREE_LAW_REAL(
        "cap", CAP, 0, 0, DBL_MAX,
        "largest force of the cone before the ball is added, N (with `stress`: Pa); 0: none"),
    SCREE_LAW_REAL("stress", STRESS, 0, 0, 1,
                   "1: the three strengths are stresses on a disk (in 2D a line) of the width of "
                   "the smaller body; 0: they are forces"),
    SCREE_LAW_REAL(
        "break_at", BREAK_AT, 0, 0, DBL_MAX,
        "plastic displacement at which cohesion and ball are lost permanently, m; 0: never"),
    SCREE_LAW_ROLLING(ROLLING),
    SCREE_LAW_SPINNING(SPINNING),
    SCREE_LAW_DILATANCY(DILATANCY)};

static const char *check(const scree_PairLaw *law) {
  const double *v = law->values;
  if (v[MODULUS] > 0 && (v[COMPLIANCE_N] > 0 || v[COMPLIANCE_T] > 0))
    return "modulus and compliances both give the stiffness, expected one of them";
  if (v[RATIO] != options[RATIO].preset && !(v[MODULUS] > 0))
    return "ratio without a modulus, expected both, or compliance_t";
  if (v[STRESS] != 0 && v[STRESS] != 1) return "stress is neither 0 nor 1, expected one of them";
  if (v[COHESION] > 0 && v[BALL] > 0)
    return "cohesion and ball are two yield surfaces, expected one of them";
  if (v[COHESION] > 0 && v[CAP] > 0)
    return "a cap goes with a cone or with a ball, not with cohesion; expected ball in its place";
  if (v[BREAK_AT] > 0 && !(v[COHESION] > 0 || v[BALL] > 0))
    return "break_at without a strength in tension, expected cohesion or ball above 0";
  if (v[STRESS] > 0 && !(v[COHESION] > 0 || v[BALL] > 0 || v[CAP] > 0))
    return "stress without a strength, expected cohesion, ball or cap above 0";
  if ((v[ROLLING] > 0 || v[SPINNING] > 0) && (v[COHESION] > 0 || v[BALL] > 0 || v[CAP] > 0))
    return "resistance to rolling is built on the plain cone, expected no cohesion, ball or cap";
  return NULL;
}

/* Whether the normal has a plastic displacement. */
static bool is_plastic(const scree_PairLaw *law) {
  return law->values[COHESION] > 0 || law->values[BALL] > 0 || law->values[CAP] > 0;
}

/* The set in impulses: `scale` is the step, times the area where strengths are stresses. */
static scree_Set set_of(const scree_PairLaw *law, double scale, bool holds) {
  const double *v = law->values;
  scree_Set set = {.kind = SCREE_SET_CONE, .mu = v[MU]};
  if (v[CAP] > 0)
    set.kind = SCREE_SET_CAPPED;
  else if (holds && v[BALL] > 0)
    set.kind = SCREE_SET_CONE_BALL;
  else if (holds && v[COHESION] > 0)
    set.kind = SCREE_SET_SHIFTED;
  if (holds) set.a = scale * fmax(v[BALL], v[COHESION]);
  if (v[CAP] > 0) set.b = scale * v[CAP];
  return set;
}

static void fill(const scree_PairLaw *law, double h, scree_LawContact *contact) {
  contact->set = set_of(law, h, true);
  contact->rolling = law->values[ROLLING];
  contact->spinning = law->values[SPINNING];
  contact->plastic = is_plastic(law);
  contact->soft = law->values[COMPLIANCE_N] > 0 || law->values[MODULUS] > 0 || contact->plastic;
}

static double area_of(const scree_LawPoint *p) {
  return p->d == 2 ? p->size : 0.25 * 3.14159265358979323846 * p->size * p->size;
}

/* Strength in tension holds from when the bodies touch until it breaks. */
static bool holds(const scree_LawPoint *p) {
  if (p->memory[STATE] != NEW) return p->memory[STATE] == TOUCHED;
  return p->gap <= (p->first ? touching * p->size : 0);
}

static scree_Set set_at(const scree_PairLaw *law, const scree_LawPoint *p) {
  return set_of(law, p->h * (law->values[STRESS] > 0 ? area_of(p) : 1), holds(p));
}

static double compliance_of(const scree_PairLaw *law, const scree_LawPoint *p, int k) {
  const double *v = law->values;
  if (!(v[MODULUS] > 0)) return v[k == 0 ? COMPLIANCE_N : COMPLIANCE_T];
  const double stiffness = p->d == 2 ? v[MODULUS] : v[MODULUS] * p->size;
  return k == 0 ? 1 / stiffness : v[RATIO] > 0 ? 1 / (v[RATIO] * stiffness) : 0;
}

/* T above, for a direction with a compliance; a rigid one has no damping. */
static double time_of(const scree_PairLaw *law, const scree_LawPoint *p, int k, double compliance) {
  if (!(compliance > 0)) return p->horizon;
  return p->horizon + law->values[DAMPING] + law->values[DAMPING_MASS] * p->mass[k] * compliance;
}

/* Whether the contact carries tension in this step. */
static bool pulls(const scree_PairLaw *law, const scree_LawPoint *p) {
  return is_plastic(law) && set_at(law, p).a > 0;
}

/* y_E in direction k at this kick. */
static double displacement(const scree_PairLaw *law, const scree_LawPoint *p, int k) {
  const double *y = p->memory + NEXT;
  if (k > 0) return scree_dot(p->axes[k], scree_vec3(y[0], y[1], y[2]));
  const double gap = p->gap - p->memory[PLASTIC];
  if (pulls(law, p)) return gap;
  const bool known = p->memory[KNOWN] > 0;
  if (is_plastic(law)) return fmin(gap, known ? p->memory[ELASTIC] : 0);
  /* an overlap without a past is elastic at the start, later an error that nothing has stored */
  return known ? p->memory[ELASTIC] : p->first ? fmin(gap, 0) : 0;
}

static double overlap(const scree_PairLaw *law, const scree_LawPoint *p) {
  return !is_plastic(law) && compliance_of(law, p, 0) > 0 ? displacement(law, p, 0) : 0;
}

/* Rigid directions keep the terms of the time scheme, and so does the gap less y_E; strengths have
 * a term for it of their own. */
static void pose(const scree_PairLaw *law, const scree_LawPoint *p, scree_LawTerms *terms) {
  const bool plastic = is_plastic(law);
  if (plastic) terms->set = set_at(law, p);
  for (int k = 0; k < p->d; ++k) {
    const double compliance = compliance_of(law, p, k);
    if (!(compliance > 0) && !(k == 0 && plastic)) continue;
    const double time = time_of(law, p, k, compliance);
    const double y = displacement(law, p, k);
    if (k == 0) terms->own_gap = plastic;
    terms->q[k] = y / time + (k > 0     ? 0
                              : plastic ? (p->gap - p->memory[PLASTIC] - y) / p->horizon
                                        : terms->q[0]);
    terms->compliance[k] = compliance / (p->h * time);
  }
}

static double norm(int d, const double *x) {
  double sum = 0;
  for (int k = 0; k < d; ++k) sum = hypot(sum, x[k]);
  return sum;
}

/* Whether r is on the boundary of the set where its normal is along -u: a small step from r in that
 * direction leaves the set. */
static bool yields(const scree_Set *set, int d, const double *r, const double *u) {
  const double speed = norm(d, u), size = fmax(norm(d, r), set->a);
  double x[3], back[3];
  if (!(speed > 0) || !(size > 0)) return false;
  for (int k = 0; k < d; ++k) x[k] = r[k] - full * size * (u[k] / speed);
  scree_set_project(set, d, x, back);
  for (int k = 0; k < d; ++k) back[k] -= x[k];
  return norm(d, back) > 0.1 * full * size;
}

/* Plastic displacement of the normal, and breaking, after a step with plastic velocity u. */
static void flow(const scree_PairLaw *law, const scree_LawPoint *p, const double *r,
                 const double *u, double *memory) {
  const bool strong = holds(p);
  const scree_Set set = set_at(law, p);
  memory[PLASTIC] = p->memory[PLASTIC];
  memory[PATH] = p->memory[PATH];
  memory[STATE] = p->memory[STATE] == NEW && strong ? TOUCHED : p->memory[STATE];
  if (!yields(&set, p->d, r, u)) return;
  /* without strength in tension an opening is no plastic displacement */
  const double rate = set.a > 0 ? u[0] : fmin(u[0], 0);
  memory[PLASTIC] += p->horizon * rate;
  memory[LOST_PLASTIC] = -r[0] * rate;
  if (!(set.a > 0)) return;
  memory[PATH] += p->horizon * norm(p->d, u);
  if (law->values[BREAK_AT] > 0 && memory[PATH] >= law->values[BREAK_AT]) {
    memory[STATE] = BROKEN;
    memory[PLASTIC] = fmin(memory[PLASTIC], 0);
  }
}

static void update(const scree_PairLaw *law, const scree_LawPoint *p, const double *r,
                   const double *u, double *memory) {
  const bool plastic = is_plastic(law);
  scree_Vec3 next = {0, 0, 0};
  double stored[3] = {0, 0, 0}, lost[3] = {0, 0, 0};
  /* an open contact has no tangential displacement */
  const bool carries = r[0] > 0 || (pulls(law, p) && norm(p->d, r) > 0);
  const int directions = carries ? p->d : pulls(law, p) ? 0 : 1;
  for (int k = 0; k < directions; ++k) {
    const double compliance = compliance_of(law, p, k), y = displacement(law, p, k);
    if (!(compliance > 0)) continue;
    const double time = time_of(law, p, k, compliance);
    const double rate = -(compliance / p->h * r[k] + y) / time; /* u - u_P, from (50), (51) */
    const double end = y + p->rest * rate, last = y + p->horizon * rate;
    if (k > 0) next = scree_axpy(next, last, p->axes[k]);
    if (k == 0 && !pulls(law, p) && (!carries || !plastic) && last < -negligible * p->size) {
      memory[KNOWN] = 1;
      memory[ELASTIC] = last;
    }
    stored[k] = 0.5 * end * end / compliance;
    /* Work of the damper: with the mean velocity where that is elastic, so that errors of a
     * solution, which change their sign from step to step, do not add up. */
    const bool smooth = k == 0 && carries && !plastic;
    const double mean = smooth ? 0.5 * (rate + p->before[0]) : rate;
    lost[k] = p->h * rate * mean * (time - p->horizon) / compliance;
    if (smooth)
      memory[POWER] -= last / compliance * rate;
    else if (carries)
      memory[POWER] += r[k] / p->h * (u[k] + rate);
  }
  memory[NEXT] = next.x;
  memory[NEXT + 1] = next.y;
  memory[NEXT + 2] = next.z;
  memory[STORED_N] = stored[0];
  memory[STORED_T] = stored[1] + stored[2];
  memory[LOST_N] = lost[0];
  memory[LOST_T] = lost[1] + lost[2];
  if (plastic) flow(law, p, r, u, memory);
}

static scree_LawEnergy energy(const double *memory) {
  return (scree_LawEnergy){.normal = memory[STORED_N],
                           .tangent = memory[STORED_T],
                           .viscous_n = memory[LOST_N],
                           .viscous_t = memory[LOST_T],
                           .plastic = memory[LOST_PLASTIC],
                           .power = memory[POWER]};
}

static void show(const scree_PairLaw *law, const double *memory, double *plastic,
                 scree_ContactBond *bond) {
  const bool strong = law->values[COHESION] > 0 || law->values[BALL] > 0;
  *plastic = memory[PLASTIC];
  *bond = !strong || memory[STATE] == NEW ? SCREE_BOND_NONE
          : memory[STATE] == BROKEN       ? SCREE_BOND_BROKEN
                                          : SCREE_BOND_INTACT;
}

const scree_LawClass scree_law_compliant = {
    .name = "compliant",
    .summary = "spring, damper and yield surface in series, with Coulomb friction, as in 002",
    .options = SCREE_LAW_TABLE(options),
    .check = check,
    .fill = fill,
    .overlap = overlap,
    .pose = pose,
    .memory = MEMORY,
    .update = update,
    .energy = energy,
    .show = show};

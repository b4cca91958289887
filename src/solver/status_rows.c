/* Statuses of a contact and their linear laws (see status_rows.h). */
#include "solver/status_rows.h"

#include <math.h>

SCREE_INLINE double direction(int d, double w, const double *r, const double *u, double t[2]) {
  double norm2 = 0.0;
  for (int i = 1; i < d; ++i) {
    t[i - 1] = r[i] - u[i] / w;
    norm2 += t[i - 1] * t[i - 1];
  }
  const double norm = sqrt(norm2);
  for (int i = 1; i < d; ++i) t[i - 1] = norm > 0.0 ? t[i - 1] / norm : (i == 1 ? 1.0 : 0.0);
  return norm;
}

double scree_slip_direction(int d, double w, const double *r, const double *u, double t[2]) {
  return d == 2 ? direction(2, w, r, u, t) : direction(3, w, r, u, t);
}

double scree_tangent_norm(int d, const double *x) {
  return d == 2 ? fabs(x[1]) : hypot(x[1], x[2]);
}

scree_RowStatus scree_read_status(int d, scree_Flow law, double mu, double w, const double *r,
                                  const double *u, double t[2]) {
  const double normal = r[0] - u[0] / w;
  if (!(mu > 0.0)) return normal > 0.0 ? SCREE_ROWS_SLIP : SCREE_ROWS_OPEN;
  const double tangent = scree_slip_direction(d, w, r, u, t);
  if (law == SCREE_COULOMB ? !(normal > 0.0) : mu * tangent <= -normal) return SCREE_ROWS_OPEN;
  return tangent <= mu * normal ? SCREE_ROWS_STICK : SCREE_ROWS_SLIP;
}

SCREE_INLINE void slip_rows(int d, scree_Flow law, double mu, double w, const scree_Slip *slip,
                            double *Lu, double *Lr) {
  const double *t = slip->t;
  Lu[0] = 1.0;
  for (int i = 1; i < d && law == SCREE_ASSOCIATED; ++i) Lu[i] = mu * t[i - 1];
  Lr[d] = -mu * w;
  for (int i = 1; i < d; ++i) Lr[d + i] = w * t[i - 1];
  if (d == 2) return;
  const double across[2] = {-t[1], t[0]};
  const double limit = w * mu * slip->normal, speed = slip->speed, sum = fabs(limit) + speed;
  const double shared = sum > 0.0 ? limit / sum : 0.0, own = sum > 0.0 ? speed / sum : 1.0;
  for (int i = 1; i < 3; ++i) {
    Lu[6 + i] = shared * across[i - 1];
    Lr[6 + i] = own * w * across[i - 1];
  }
}

/* Lr += weight Lu, c = weight Lu centre */
SCREE_INLINE void soften(int d, double weight, const double *centre, const double *restrict Lu,
                         double *restrict Lr, double *restrict c) {
  for (int i = 0; i < d; ++i) {
    double sum = 0.0;
    for (int j = 0; j < d; ++j) {
      const double soft = weight * Lu[i * d + j];
      Lr[i * d + j] += soft;
      if (c) sum += soft * centre[j];
    }
    if (c) c[i] = sum;
  }
}

SCREE_INLINE void rows_of_status(int d, scree_RowStatus status, scree_Flow law, double mu, double w,
                                 const scree_Slip *slip, double weight, const double *centre,
                                 double *restrict Lu, double *restrict Lr, double *restrict c) {
  for (int i = 0; i < d * d; ++i) Lu[i] = Lr[i] = 0.0;
  if (status == SCREE_ROWS_SLIP && mu > 0.0) {
    slip_rows(d, law, mu, w, slip, Lu, Lr);
    soften(d, weight, centre, Lu, Lr, c);
    return;
  }
  for (int i = 0; i < d; ++i) {
    const bool held = status == SCREE_ROWS_STICK || (status == SCREE_ROWS_SLIP && i == 0);
    Lu[i * d + i] = held ? 1.0 : 0.0;
    Lr[i * d + i] = held ? weight : w;
    if (c) c[i] = held ? weight * centre[i] : 0.0;
  }
}

void scree_status_rows(int d, scree_RowStatus status, scree_Flow law, double mu, double w,
                       const scree_Slip *slip, double weight, const double *centre, double *Lu,
                       double *Lr, double *c) {
  switch (d) {
  case 2: rows_of_status(2, status, law, mu, w, slip, weight, centre, Lu, Lr, c); break;
  case 3: rows_of_status(3, status, law, mu, w, slip, weight, centre, Lu, Lr, c); break;
  default: rows_of_status(d, status, law, mu, w, slip, weight, centre, Lu, Lr, c); break;
  }
}

void scree_rows_soften(int d, double weight, const double *centre, const double *Lu, double *Lr,
                       double *c) {
  soften(d, weight, centre, Lu, Lr, c);
}

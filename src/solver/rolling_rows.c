/* Linear laws of contacts with resistance to rolling (see rolling_rows.h). */
#include "solver/rolling_rows.h"

#include "problem/set_inline.h"

#include <math.h>

enum { PARTS = 3 };

typedef struct Part {
  int at, rows;
  double k; /* bound over the normal impulse */
} Part;

/* The parts of a set with d rows; their number. */
static int parts_of(const scree_Set *set, int d, Part *part) {
  const int size = d == 3 ? 1 : 2;
  part[0] = (Part){1, size, set->mu};
  part[1] = (Part){1 + size, size, set->a};
  part[2] = (Part){5, 1, set->b};
  return d == 3 ? 2 : PARTS;
}

static double length_of(int n, const double *x) {
  return n == 1 ? fabs(x[0]) : hypot(x[0], x[1]);
}

unsigned scree_rolling_status(const scree_Set *set, int d, scree_Flow flow, double w,
                              const double *r, const double *u) {
  double z[SCREE_ROWS_MAX] = {0.0}, p[SCREE_ROWS_MAX];
  Part part[PARTS];
  for (int i = 0; i < d; ++i) z[i] = r[i] - u[i] / w;
  if (flow == SCREE_ASSOCIATED) scree_set_project(set, d, z, p);
  const double normal = flow == SCREE_ASSOCIATED ? p[0] : z[0];
  if (!(normal > 0.0)) return 0;
  unsigned status = SCREE_ROLLING_TOUCHES;
  const int n = parts_of(set, d, part);
  for (int k = 0; k < n; ++k)
    if (length_of(part[k].rows, z + part[k].at) > part[k].k * normal)
      status |= (unsigned)SCREE_ROLLING_SLIPS << k;
  return status;
}

void scree_rolling_rows(const scree_Set *set, int d, scree_Flow flow, double w, unsigned status,
                        const double *r, const double *u, double normal, double *Lu, double *Lr) {
  Part part[PARTS];
  for (int i = 0; i < d * d; ++i) Lu[i] = Lr[i] = 0.0;
  if (status == 0) {
    for (int i = 0; i < d; ++i) Lr[i * d + i] = w;
    return;
  }
  Lu[0] = 1.0;
  const int n = parts_of(set, d, part);
  for (int k = 0; k < n; ++k) {
    const int at = part[k].at, rows = part[k].rows;
    double t[2] = {1.0, 0.0};
    if (!(status & (unsigned)SCREE_ROLLING_SLIPS << k)) {
      for (int i = at; i < at + rows; ++i) Lu[i * d + i] = 1.0;
      continue;
    }
    for (int i = 0; i < rows; ++i) t[i] = r[at + i] - u[at + i] / w;
    const double size = length_of(rows, t);
    for (int i = 0; i < rows; ++i) {
      t[i] = size > 0.0 ? t[i] / size : (i == 0 ? 1.0 : 0.0);
      if (flow == SCREE_ASSOCIATED) Lu[at + i] = part[k].k * t[i];
      Lr[at * d + at + i] = w * t[i];
    }
    Lr[at * d] = -part[k].k * w;
    if (rows == 1) continue;
    const double across[2] = {-t[1], t[0]};
    const double limit = w * part[k].k * normal, speed = length_of(rows, u + at);
    const double sum = fabs(limit) + speed;
    for (int i = 0; i < 2; ++i) {
      Lu[(at + 1) * d + at + i] = sum > 0.0 ? limit / sum * across[i] : 0.0;
      Lr[(at + 1) * d + at + i] = (sum > 0.0 ? speed / sum : 1.0) * w * across[i];
    }
  }
}

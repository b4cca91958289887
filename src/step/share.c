/* What the threads of a loop find together (see SCREE_ON_THREADS in system.h). */
#include "step/system.h"

enum { GROUP = 2048 }; /* terms that threads compute before they are added up */

void scree_share_raise(double *most, double mine) {
#pragma omp critical(scree_share)
  if (mine > *most) *most = mine;
}

static void compute(const scree_System *s, int start, int n, double h, scree_TermFn *term,
                    scree_Totals *out, scree_Share share) {
  SCREE_OVER_BODIES(k, n, share) {
    out[k] = (scree_Totals){{0, 0}, 0};
    term(s, start + k, h, &out[k]);
  }
}

void scree_system_add_terms(const scree_System *s, int n, double h, scree_TermFn *term,
                            scree_Totals *total) {
  scree_Totals terms[GROUP];
  for (int start = 0; start < n; start += GROUP) {
    const int count = n - start < GROUP ? n - start : GROUP;
    SCREE_ON_THREADS(count, s->threads, share, compute(s, start, count, h, term, terms, share));
    for (int k = 0; k < count; ++k) {
      total->sum[0] += terms[k].sum[0];
      total->sum[1] += terms[k].sum[1];
      if (terms[k].most > total->most) total->most = terms[k].most;
    }
  }
}

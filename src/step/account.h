/* What solves beyond the tolerance may cost (account.c). */
#ifndef SCREE_STEP_ACCOUNT_H
#define SCREE_STEP_ACCOUNT_H

#include <stdbool.h>

/* Part of the saved state. */
typedef struct scree_TightenAccount {
  double steps; /* since the start */
  double now;   /* counted work of such solves in the present step, in all attempts at it */
  double spent; /* in the steps before, less what their other solves allow; >= 0 */
  double left;  /* energy errors that were left because of the price */
} scree_TightenAccount;

/* What such a solve is for. Energies of the last steps are means over them. */
typedef struct scree_TightenCase {
  double defect;      /* the energy error that it would lower */
  double exchanged;   /* energy exchanged in a step; */
  double supplied;    /* the part of it that drivers and forces do */
  double held;        /* what would be allowed as an error of bodies at rest, in the same measure */
  double turned_over; /* energy of the world since its start */
  double creep;       /* of resting bodies so far, over its limit */
  double e_n;         /* largest coefficient of restitution */
} scree_TightenCase;

/* Whether the solve is made. If not, its error counts as left. */
bool scree_account_pays(scree_TightenAccount *account, const scree_TightenCase *of);

/* At the end of a step: `work` of all its solves, and that of one sweep. */
void scree_account_close(scree_TightenAccount *account, double work, double sweep);

/* Whether the numbers of a saved account are possible. */
bool scree_account_is_valid(const scree_TightenAccount *account);

#endif

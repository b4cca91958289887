/* What solves beyond the tolerance may cost where they gain little.
 *
 * They lower the energy by which the solution of a step violates the law below a part of the energy
 * that is exchanged at the time (solve.c). After a fall that is tiny as long as bodies without loss
 * still shake in a packing. Each step then starts anew, and solves beyond the tolerance cost six
 * times as much as those to it, while the sum of all errors that they remove is less than a
 * thousandth of the energy that the world has turned over. So their work is bounded there: by
 * `part` of the work of all other solves and `sweeps` sweeps in each step, plus what small worlds
 * need for a whole run. Where this is used up, an error is left as it is, if
 *
 *   - all errors left in this way are small compared with the energy turned over;
 *   - the world is quiet: a step exchanges less than a tenth of the energy of a mean step;
 *   - nothing supplies energy: slow loading is quiet, too, but there the small energies matter;
 *   - bodies bounce with little loss, and shake. What rests needs such a solve once: its impulses
 *     hold in the next steps;
 *   - errors have not yet moved bodies at rest by a noticeable part of what is allowed.
 *
 * `scree bench pdas-sedimentation`, counted work of all solves of 100 and 200 disks: without a
 * bound 4.7 and 11.3 s, with it 1.6 and 3.5 s.
 *
 * Everything follows from energies and counted work, not from clocks, and is part of the saved
 * state. */
#include "step/account.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

static const struct {
  double part;     /* of the work of other solves; with 1 that work is 1.9 and 6.1 s */
  double sweeps;   /* in each step */
  double always;   /* seconds of a reference core, once */
  double bank;     /* part of the energy turned over that all errors left may be */
  double quiet;    /* energy exchanged in a step, over the mean since the start */
  double supplied; /* part of it that drivers and forces may do: nothing, or what is left of it in
                      the mean after they have stopped */
  double shaking;  /* times what is held at rest, from which on bodies shake: 60 times and more in
                      that packing, 2e-6 times at most in stacks at rest */
  double creep;    /* part of its limit */
  double e_n;      /* of some pair of materials, at least. Other packings come to rest soon: with 0
                      bodies under a heavy plate (bench/scenes/plate-2d.yaml) crept by 1e-3 of their
                      size instead of 4e-5, and a silo (silo-2d.yaml) took 0.65 of the CPU time */
} rules = {.part = 0.5,
           .sweeps = 20,
           .always = 0.5,
           .bank = 5e-4,
           .quiet = 0.1,
           .supplied = 1e-6,
           .shaking = 10,
           .creep = 0.05,
           .e_n = 0.9};

static bool may_leave(const scree_TightenAccount *account, const scree_TightenCase *of) {
  return account->left + of->defect <= rules.bank * of->turned_over &&
         of->exchanged * account->steps < rules.quiet * of->turned_over &&
         of->supplied <= rules.supplied * of->exchanged &&
         of->exchanged > rules.shaking * of->held && of->creep < rules.creep &&
         of->e_n >= rules.e_n;
}

bool scree_account_pays(scree_TightenAccount *account, const scree_TightenCase *of) {
  assert(account->spent >= 0 && account->now >= 0);
  if (account->spent + account->now < rules.always || !may_leave(account, of)) return true;
  account->left += of->defect;
  return false;
}

void scree_account_close(scree_TightenAccount *account, double work, double sweep) {
  const double allowed = rules.part * (work - account->now) + rules.sweeps * sweep;
  account->spent = fmax(0, account->spent + account->now - allowed);
  account->now = 0;
  account->steps++;
}

bool scree_account_is_valid(const scree_TightenAccount *account) {
  const double all[] = {account->steps, account->now, account->spent, account->left};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
    if (!(all[k] >= 0) || !isfinite(all[k])) return false;
  return true;
}

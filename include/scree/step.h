/* scree/step.h — time schemes, how a world steps, and the certificate of a step. */
#ifndef SCREE_STEP_H
#define SCREE_STEP_H

#include "scree/pose.h"
#include "scree/solver.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The registry of time schemes: "moreau-jean" and others; null past the end. */
SCREE_API const char *scree_scheme_name(int index);
/* Null for a name that is not known. */
SCREE_API const char *scree_scheme_summary(const char *name);

/* ---- settings -------------------------------------------------------------------------------- */

/* How a world moves; start from scree_world_settings(). The world copies it, with its names and
 * the solver's options. */
typedef struct scree_WorldSettings {
  int dimension;      /* 2 or 3 (3) */
  const char *scheme; /* "moreau-jean" (default), "euler", "moreau-jean-closed" */
  double step;        /* h, > 0: there is no default */
  double theta;       /* moreau-jean, moreau-jean-closed: in [1/2, 1] (1/2) */
  scree_Vec3 gravity; /* (0, -9.81, 0) in 2D is the caller's to set: default is zero */
  scree_Flow flow;    /* SCREE_COULOMB, or SCREE_ASSOCIATED: the convex relaxation of 003 */
  /* Gap up to which moreau-jean-closed takes a contact as closed, relative to the smaller body
   * (1e-9). Schemes that look ahead do not need it. */
  double gap_tolerance;
  /* Penetration that is tolerated, relative to the smaller body (1e-3): a step that would end with
   * more, because bodies turn, is solved again with the gaps of its end; if that does not help it
   * is halved, and in the end not certified. */
  double penetration;
  /* The limits of the certificate: a step with more is not certified (INFINITY: never). Penetration
   * relative to the smaller body (0.01); energy created since the start relative to the energy
   * turned over (0.01); creep of bodies that rest, relative to their size (0.01). A step that makes
   * a penetration above the limit worse is halved first. */
  double penetration_limit, energy_limit, creep_limit;
  /* Solver, options, tolerance, measure, limits, threads. `interrupted` is asked during the whole
   * step, not only in solves. */
  scree_SolveSettings solve;
  bool warm_start; /* start each solve from the impulses of the previous step (true) */
  /* A step costs at most this many times the usual step, counted in sweeps and factorisations, so
   * that the bits stay the same (50; INFINITY: no limit). Then the best solution found stands and
   * the step is not certified. */
  double max_work;
  int max_retries;  /* of a solve that misses the tolerance: with more patience, then with the
                     * default solver (2); 0: each problem is solved once, to the tolerance */
  int max_halvings; /* of a step that cannot be certified or whose impacts need it (4); 0: none */
  /* Look for internal forces (scree_internal_forces) after each step (false). It takes as much work
   * as a solve with `ipm`. Contacts with resistance to rolling are not looked at. */
  bool internal_forces;
} scree_WorldSettings;

/* ---- the certificate --------------------------------------------------------------------------
 */

/* Where the energy of a step went; sums over the steps are scree_world_energy's. For a step of
 * any scheme
 *     change of kinetic + potential + elastic
 *         = forces + drivers - normal - friction - viscous - plastic + scheme + push
 * holds up to round-off, which is `closing`. */
typedef struct scree_EnergyBalance {
  double kinetic, potential; /* after the step; potential of gravity: -sum m g.x */
  double elastic;            /* stored in compliant contacts after the step */
  double forces;             /* work of the forces other than gravity */
  double drivers;            /* work of driven obstacles on bodies */
  double normal, friction;   /* dissipated by impact and by friction; negative: energy was made */
  double viscous;            /* dissipated by dampers of compliant contacts, damping of materials */
  double plastic;            /* dissipated by the plastic displacement of normals */
  double scheme;             /* lost (< 0) by a scheme that is not the midpoint rule */
  double push;               /* normal work of contacts that stay loaded, and out of penetration */
  double closing;            /* what is missing in the equation above */
} scree_EnergyBalance;

/* Criteria that a step which is not certified has missed: bits of scree_StepReport.missed. */
enum {
  SCREE_MISSED_ERROR = 1,        /* the error of the impulses is above the tolerance */
  SCREE_MISSED_REACH = 2,        /* a body moves further than contacts were looked for */
  SCREE_MISSED_OVERLAP = 4,      /* bodies that turn overlap at the end of the step */
  SCREE_MISSED_SINKING = 8,      /* the impulses let bodies sink into each other */
  SCREE_MISSED_PENETRATION = 16, /* penetration above its limit */
  SCREE_MISSED_JOINTS = 32,      /* locked motions of joints are violated */
  SCREE_MISSED_ENERGY = 64,      /* energy created above its limit */
  SCREE_MISSED_CREEP = 128,      /* bodies that rest have crept further than the limit */
  SCREE_MISSED_SIZE = 80         /* room for the text of all of them */
};

/* "error, overlap": the names of the bits, into text (size). */
SCREE_API void scree_missed_text(unsigned missed, char *text, size_t size);

typedef struct scree_StepReport {
  bool certified;  /* everything asked for is met in every substep */
  unsigned missed; /* what is not: SCREE_MISSED_... of all substeps, 0 if certified */
  int64_t step;    /* number of this step, from 1 */
  double time, h;  /* after the step; length of the step */
  int contacts;    /* in the last substep's problem */
  int active;      /* with a non-zero impulse */
  int joints;      /* in the problem */
  int bonds;       /* made, and of these broken; after the step */
  int bonds_broken;
  int internal_contacts; /* whose impulses are not determined, if settings.internal_forces; else -1
                          */
  double joint_error;    /* how far locked motions are violated at the next kick, over the sizes */
  int contacts_above;    /* contacts whose own natural map exceeds the tolerance */
  double error;          /* worst over the substeps: the measure asked for */
  double tolerance;      /* of that measure */
  double penetration;    /* deepest found, relative to the smaller of the two bodies */
  double cone_violation; /* worst |r - P(r)| over the scale of the error */
  /* Energy that the discretisation has put in since the start: net work of contacts that stay
   * loaded, of pushing bodies out of penetration, dissipation that is negative, what the balance
   * lacks. Relative to the energy turned over: the largest kinetic energy so far with the sum of
   * all work and dissipation, and at least the work of lifting each body by a hundredth of its
   * size. */
  double energy_created;
  /* How far errors of the solutions have moved a body that rests, since it came to rest, relative
   * to its size: the largest of all bodies and steps so far. Of each body the smaller one of the
   * distance that it has moved and of the sum of what errors can have moved it by. */
  double creep;
  double penetration_limit, energy_limit, creep_limit; /* the settings' */
  int worst_body[2];          /* of the contact with the largest natural map, -1 if there is none */
  int deepest_body[2];        /* of the deepest penetration, -1 */
  int iterations;             /* of the solver, all solves of the step */
  int solves;                 /* 1 when nothing had to be repeated */
  double work;                /* of all of them, counted: scree_SolveInfo.work */
  int retries;                /* solves repeated with a tighter solver */
  int redetections;           /* a body moved further than contacts had been looked for */
  int expansions;             /* solves repeated because bodies that turn would overlap */
  double overlap;             /* deepest at the end above what is left alone, else 0 */
  int substeps;               /* 1 when the step was not halved */
  scree_SolveInfo solve;      /* of the last solve */
  scree_EnergyBalance energy; /* of this step */
  double seconds_detect, seconds_build, seconds_solve, seconds_move, seconds_certify;
} scree_StepReport;

#ifdef __cplusplus
}
#endif

#endif

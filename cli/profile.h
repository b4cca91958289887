/* Performance profiles of Dolan and More (2002): for each solver the part of the problems that it
 * solves within a factor tau of the fastest solver's time,
 *
 *     rho_s(tau) = |{ p : t_ps <= tau min_s t_ps }| / |{ p }|
 *
 * over a logarithmic tau. rho_s(1) says how often a solver is the fastest, the right end how many
 * problems it solves at all. Problems that no solver solves count in the denominator. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct CliProfile {
  int solvers, problems;
  const char *const *names; /* (solvers) */
  const double *seconds;    /* (problems x solvers), infinite where not solved */
} CliProfile;

/* rho of one solver at one tau */
double cli_profile_rho(const CliProfile *profile, int solver, double tau);

/* the largest ratio of any solver on any problem, at least 2 */
double cli_profile_end(const CliProfile *profile);

/* as text, and as an SVG picture; false when writing failed */
void cli_profile_print(const CliProfile *profile, FILE *file);
bool cli_profile_svg(const CliProfile *profile, const char *title, const char *path);

#endif

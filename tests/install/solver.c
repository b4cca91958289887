/* A block that slides at 2 m/s and falls at 1 m/s onto a floor with mu = 0.5, unit mass: the
 * impulse (1, -0.5, 0) stops the fall and takes 0.5 m/s of the sliding. */
#include <math.h>
#include <scree/solver.h>
#include <stdio.h>

int main(void) {
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 2, 0}, mu = 0.5;
  double r[3], u[3];
  scree_Problem problem;
  scree_SolveSettings settings = scree_solve_settings();
  scree_SolveInfo info;
  scree_Status status = scree_problem_create_dense(&problem, 3, 1, W, q, &mu, NULL);
  if (status == SCREE_OK) status = scree_solve(&problem, &settings, r, u, &info, NULL);
  scree_problem_destroy(&problem);
  if (status != SCREE_OK) return 1;
  printf("scree %s: r = (%g, %g, %g), u = (%g, %g, %g), error %g by %s\n", scree_version(), r[0],
         r[1], r[2], u[0], u[1], u[2], info.measures.error, info.solver);
  return fabs(r[0] - 1) + fabs(r[1] + 0.5) + fabs(r[2]) + fabs(u[1] - 1.5) > 1e-6;
}

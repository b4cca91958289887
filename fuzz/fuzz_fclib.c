/* Problem files of FCLIB, described by a text (hdf5_text.h): a file that is read gives a problem
 * that passes scree_problem_check; a solution in it has as many finite numbers as it should. */
#include "hdf5_text.h"

#include "scree/fclib.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_errors = 0;
  fuzz_write_hdf5("problem.hdf5", data, size);
  char path[128];
  snprintf(path, sizeof path, "%s", fuzz_path("problem.hdf5"));
  scree_Problem problem;
  scree_FclibInfo info;
  const scree_Status status = scree_fclib_read(path, &problem, &info, &fuzz_log);
  fuzz_check_status(status);
  if (status == SCREE_OK) {
    demand(scree_problem_check(&problem, &fuzz_log) == SCREE_OK,
           "a problem that was read is sound");
    const size_t n = (size_t)problem.nc * (size_t)problem.d;
    double *r = calloc(2 * n + 1, sizeof *r);
    demand(r != NULL, "memory for a solution");
    if (info.has_solution) {
      const scree_Status solution = scree_fclib_read_solution(path, &problem, r, r + n, &fuzz_log);
      fuzz_check_status(solution);
      for (size_t k = 0; solution == SCREE_OK && k < 2 * n; ++k)
        demand(isfinite(r[k]), "a solution that was read is finite");
    }
    free(r);
  }
  scree_problem_destroy(&problem);
  return 0;
}

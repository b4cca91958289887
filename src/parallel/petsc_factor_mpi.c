/* Linear systems on several ranks by PETSc (see shared_factor.h).
 *
 * Numbers. The owner of a node gives it its number among the rows of all ranks, and the exchange of
 * the halo tells the others. The matrix is given to PETSc as a list of coordinates, once; values
 * then come in the order of that list, those of several ranks are added in an order that does not
 * change from call to call.
 *
 * PETSc reads the variable PETSC_OPTIONS (prefix scree_), so that preconditioners can be tried
 * without a new build. It installs no signal handlers, and prints nothing: its calls return codes,
 * which become messages here.
 *
 * References: P. R. Amestoy, I. S. Duff, J.-Y. L'Excellent, J. Koster, A fully asynchronous
 * multifrontal solver using distributed dynamic scheduling, SIAM J. Matrix Anal. Appl. 23 (2001)
 * 15-41; V. E. Henson, U. M. Yang, BoomerAMG, Appl. Numer. Math. 41 (2002) 155-177. */
#include "parallel/shared_factor.h"

#include "core/log.h"
#include "core/memory.h"
#include "parallel/petsc_mpi.h"

#include <limits.h>
#include <math.h>

static const struct Numbers {
  int room;          /* per cent of memory that MUMPS adds to what its analysis predicts; */
  int most_room;     /* doubled when it does not suffice, up to this */
  double reduction;  /* of the residual by GMRES: solutions, not corrections, are asked for; */
  int restart, most; /* vectors between restarts; iterations */
  double guess;      /* iterations of GMRES that the price assumes */
} number = {
    .room = 30, .most_room = 2000, .reduction = 1e-12, .restart = 60, .most = 300, .guess = 50};

struct scree_SharedFactor {
  const scree_Halo *halo;
  const scree_Log *log;
  int nodes, nb;             /* of this rank, and their size */
  int own;                   /* nodes that it owns */
  int *own_node;             /* (own) */
  bool *owned;               /* (halo->blocks) */
  size_t entries;            /* numbers of this rank's part of A */
  double all;                /* of all ranks */
  Mat A, LU;                 /* LU: null before the analysis */
  int room;                  /* of LU */
  KSP gmres;                 /* or null */
  scree_SharedMethod method; /* of the last compute */
  Vec b, x;
  scree_PetscExact exact;
  double (*sum)[2]; /* (own rows) its work space */
  long long iterations;
};

/* ---- PETSc as a whole --------------------------------------------------------------------------
 */

scree_Status scree_petsc_begin(scree_Ranks *ranks, const scree_Log *log) {
  PetscBool initialised = PETSC_FALSE;
  PetscErrorCode error = PetscInitialized(&initialised);
  if (!error && !initialised) {
    error = PetscOptionsSetValue(NULL, "-no_signal_handler", NULL);
    if (!error) error = PetscOptionsSetValue(NULL, "-skip_petscrc", NULL);
    if (!error) error = PetscInitializeNoArguments();
    ranks->petsc = !error;
  }
  return error ? scree_fail(log, SCREE_MACHINE, "PETSc cannot be initialised") : SCREE_OK;
}

void scree_petsc_end(scree_Ranks *ranks) {
  if (ranks->petsc) (void)PetscFinalize();
  ranks->petsc = false;
}

/* The status of a call that ended with `error` on this rank, the same on all. */
static scree_Status agree(const scree_Ranks *ranks, PetscErrorCode error, const char *what,
                          const scree_Log *log) {
  scree_Status status = SCREE_OK;
  if (error) {
    const char *text = NULL;
    (void)PetscErrorMessage(error, &text, NULL);
    status = scree_fail(log, SCREE_MACHINE, "PETSc, %s: %s", what, text ? text : "error");
  }
  return scree_ranks_agree(ranks, status, log);
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

/* owned[k] of all blocks of the halo. */
static void find_owned(const scree_Halo *halo, int n, bool *owned) {
  const int rank = scree_ranks_rank(halo->ranks);
  for (int k = 0; k < halo->blocks; ++k) owned[k] = k < n;
  for (int k = 0; halo->sums && k < halo->neighbours && halo->neighbour[k] < rank; ++k)
    for (size_t j = halo->all.send_start[k]; j < halo->all.send_start[k + 1]; ++j)
      owned[halo->all.send[j]] = false;
}

/* The rows of the first number of every block, in the matrix of all ranks; -1 where there are more
 * than PETSc's integers count. `work` (blocks x nb). */
static bool number_rows(const scree_SharedFactor *factor, double *work, PetscInt *first,
                        PetscInt *start) {
  const scree_Halo *halo = factor->halo;
  const size_t nb = (size_t)factor->nb;
  const double mine = factor->own;
  double before = 0.0, all = 0.0;
  const double *counts = scree_ranks_gather(halo->ranks, &mine, sizeof mine);
  for (int k = 0; k < scree_ranks_size(halo->ranks); ++k) {
    if (k < scree_ranks_rank(halo->ranks)) before += counts[k];
    all += counts[k];
  }
  if (all * factor->nb > PETSC_MAX_INT) return false;
  for (size_t i = 0; i < (size_t)halo->blocks * nb; ++i) work[i] = 0.0;
  for (int k = 0; k < factor->own; ++k) work[(size_t)factor->own_node[k] * nb] = before + k;
  scree_halo_complete(halo, work, nb);
  for (int k = 0; k < halo->blocks; ++k) first[k] = (PetscInt)work[(size_t)k * nb] * factor->nb;
  *start = (PetscInt)before * factor->nb;
  return true;
}

/* ---- the matrix --------------------------------------------------------------------------------
 */

static PetscErrorCode make_matrix(scree_SharedFactor *factor, const size_t *row, const int *col,
                                  const PetscInt *first, PetscInt *i_of, PetscInt *j_of,
                                  const double *zero) {
  MPI_Comm comm = factor->halo->ranks->comm;
  const PetscInt nb = factor->nb, rows = factor->own * nb;
  size_t at = 0;
  for (int a = 0; a < factor->nodes; ++a)
    for (size_t k = row[a]; k < row[a + 1]; ++k)
      for (PetscInt i = 0; i < nb; ++i)
        for (PetscInt j = 0; j < nb; ++j, ++at) {
          i_of[at] = first[a] + i;
          j_of[at] = first[col[k]] + j;
        }
  PetscErrorCode error = MatCreate(comm, &factor->A);
  if (!error) error = MatSetSizes(factor->A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE);
  if (!error) error = MatSetBlockSize(factor->A, nb);
  if (!error) error = MatSetType(factor->A, MATMPIAIJ);
  if (!error) error = MatSetPreallocationCOO(factor->A, (PetscCount)at, i_of, j_of);
  if (!error) error = MatSetValuesCOO(factor->A, zero, INSERT_VALUES); /* assembled: for analysis */
  if (!error) error = MatCreateVecs(factor->A, &factor->x, &factor->b);
  if (!error) error = scree_petsc_exact_create(factor->A, &factor->exact);
  return error;
}

static scree_Status fill(scree_SharedFactor *factor, const size_t *row, const int *col) {
  const scree_Halo *halo = factor->halo;
  const scree_Ranks *ranks = halo->ranks;
  const size_t nb = (size_t)factor->nb, entries = factor->entries;
  double *work = SCREE_ALLOC(double, (size_t)halo->blocks *nb + 1);
  double *zero = SCREE_ALLOC(double, entries + 1);
  PetscInt *first = SCREE_ALLOC(PetscInt, (size_t)halo->blocks + 1);
  PetscInt *i_of = SCREE_ALLOC(PetscInt, entries + 1), *j_of = SCREE_ALLOC(PetscInt, entries + 1);
  const bool enough = work && zero && first && i_of && j_of;
  scree_Status status = scree_ranks_agree(
      ranks, enough ? SCREE_OK : scree_fail_memory(factor->log, "a matrix on several ranks"),
      factor->log);
  PetscInt start;
  if (!status && !number_rows(factor, work, first, &start))
    status = scree_fail(factor->log, SCREE_BAD_INPUT,
                        "the linear system has more than %lld rows, which is PETSc's limit here",
                        (long long)PETSC_MAX_INT);
  if (!status)
    status = agree(ranks, make_matrix(factor, row, col, first, i_of, j_of, zero), "a matrix",
                   factor->log);
  scree_free(work);
  scree_free(zero);
  scree_free(first);
  scree_free(i_of);
  scree_free(j_of);
  return status;
}

scree_Status scree_shared_factor_create(const scree_Halo *halo, int n, const size_t *row,
                                        const int *col, const scree_Log *log,
                                        scree_SharedFactor **out) {
  scree_Ranks *ranks = scree_ranks_own(halo->ranks);
  *out = NULL;
  scree_Status status = scree_ranks_agree(ranks, scree_petsc_begin(ranks, log), log);
  if (status) return status;
  scree_SharedFactor *factor = SCREE_ALLOC(scree_SharedFactor, 1);
  bool *owned = SCREE_ALLOC(bool, (size_t)halo->blocks + 1);
  int *own_node = SCREE_ALLOC(int, (size_t)n + 1);
  double *sum = SCREE_ALLOC(double, 2 * (size_t)n * (size_t)halo->size + 2);
  const bool enough = factor && owned && own_node && sum;
  status = scree_ranks_agree(
      ranks, enough ? SCREE_OK : scree_fail_memory(log, "a matrix on several ranks"), log);
  if (status || !factor || !owned || !own_node || !sum) {
    scree_free(sum);
    scree_free(factor);
    scree_free(owned);
    scree_free(own_node);
    return status;
  }
  *factor = (scree_SharedFactor){.halo = halo,
                                 .log = log,
                                 .nodes = n,
                                 .nb = halo->size,
                                 .own_node = own_node,
                                 .owned = owned,
                                 .sum = (double(*)[2])sum,
                                 .room = number.room};
  find_owned(halo, n, owned);
  for (int k = 0; k < n; ++k)
    if (owned[k]) own_node[factor->own++] = k;
  factor->entries = row[n] * (size_t)halo->size * (size_t)halo->size;
  factor->all = scree_ranks_sum(ranks, (double)factor->entries);
  (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  status = fill(factor, row, col);
  (void)PetscPopErrorHandler();
  if (status)
    scree_shared_factor_destroy(factor);
  else
    *out = factor;
  return status;
}

bool scree_shared_factor_owns(const scree_SharedFactor *factor, int node) {
  return factor->owned[node];
}

void scree_shared_factor_destroy(scree_SharedFactor *factor) {
  if (!factor) return;
  (void)KSPDestroy(&factor->gmres);
  (void)MatDestroy(&factor->LU);
  (void)MatDestroy(&factor->A);
  (void)VecDestroy(&factor->b);
  (void)VecDestroy(&factor->x);
  scree_petsc_exact_destroy(&factor->exact);
  scree_free(factor->sum);
  scree_free(factor->own_node);
  scree_free(factor->owned);
  scree_free(factor);
}

/* ---- factorisation ---------------------------------------------------------------------------
 */

static PetscErrorCode analyse(scree_SharedFactor *factor) {
  if (factor->LU) return 0;
  MatFactorInfo info;
  PetscErrorCode error = MatFactorInfoInitialize(&info);
  if (!error) error = MatGetFactor(factor->A, MATSOLVERMUMPS, MAT_FACTOR_LU, &factor->LU);
  if (!error) error = MatMumpsSetIcntl(factor->LU, 14, factor->room);
  if (!error) error = MatLUFactorSymbolic(factor->LU, factor->A, NULL, NULL, &info);
  return error;
}

scree_Status scree_shared_factor_work(scree_SharedFactor *factor, scree_SharedWork *work) {
  PetscInt entries = 0;
  PetscReal flops = 0.0;
  (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  PetscErrorCode error = analyse(factor);
  if (!error) error = MatMumpsGetRinfog(factor->LU, 1, &flops);
  if (!error) error = MatMumpsGetInfog(factor->LU, 20, &entries);
  (void)PetscPopErrorHandler();
  work->flops = flops;
  work->entries = entries < 0 ? -1e6 * entries : entries; /* negative: millions */
  return agree(factor->halo->ranks, error, "the analysis of a matrix by MUMPS", factor->log);
}

/* Numbers of L U. A factorisation that runs out of the memory it has planned is made again with
 * more. */
static PetscErrorCode factorise(scree_SharedFactor *factor, bool *broken) {
  for (;;) {
    MatFactorInfo info;
    MatFactorError failed = MAT_FACTOR_NOERROR;
    PetscErrorCode error = MatFactorInfoInitialize(&info);
    if (!error) error = analyse(factor);
    if (!error) error = MatLUFactorNumeric(factor->LU, factor->A, &info);
    if (!error) error = MatFactorGetError(factor->LU, &failed);
    if (error || !failed) return error;
    error = MatDestroy(&factor->LU); /* after an error nothing else can be done with it */
    if (error || failed != MAT_FACTOR_OUTMEMORY || factor->room >= number.most_room) {
      *broken = true;
      return error;
    }
    factor->room *= 2;
  }
}

static PetscErrorCode prepare_gmres(scree_SharedFactor *factor, scree_SharedMethod method) {
  PC multigrid;
  PetscErrorCode error = 0;
  if (factor->gmres && factor->method != method) error = KSPDestroy(&factor->gmres);
  const bool fresh = !factor->gmres;
  if (!error && fresh) error = KSPCreate(factor->halo->ranks->comm, &factor->gmres);
  if (!error) error = KSPSetOperators(factor->gmres, factor->A, factor->A);
  if (!error && fresh) error = KSPSetOptionsPrefix(factor->gmres, "scree_");
  if (!error && fresh) error = KSPSetType(factor->gmres, KSPGMRES);
  if (!error && fresh) error = KSPGMRESSetRestart(factor->gmres, number.restart);
  if (!error && fresh)
    error = KSPSetTolerances(factor->gmres, number.reduction, 0.0, PETSC_DEFAULT,
                             (PetscInt)number.most);
  if (!error && fresh) error = KSPGetPC(factor->gmres, &multigrid);
  if (!error && fresh) error = PCSetType(multigrid, method == SCREE_SHARED_GAMG ? PCGAMG : PCHYPRE);
  if (!error && fresh && method == SCREE_SHARED_BOOMERAMG)
    error = PCHYPRESetType(multigrid, "boomeramg");
  if (!error && fresh) error = KSPSetFromOptions(factor->gmres);
  if (!error) error = KSPSetUp(factor->gmres);
  return error;
}

/* Whether all numbers of all ranks are finite. */
static bool is_finite(const scree_SharedFactor *factor, size_t n, const double *x) {
  bool finite = true;
  for (size_t k = 0; k < n; ++k) finite = finite && isfinite(x[k]);
  return !scree_ranks_any(factor->halo->ranks, !finite);
}

scree_Status scree_shared_factor_compute(scree_SharedFactor *factor, scree_SharedMethod method,
                                         const double *x, bool *broken) {
  *broken = !is_finite(factor, factor->entries, x);
  if (*broken) return SCREE_OK;
  (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  PetscErrorCode error = MatSetValuesCOO(factor->A, x, INSERT_VALUES);
  if (!error)
    error =
        method == SCREE_SHARED_DIRECT ? factorise(factor, broken) : prepare_gmres(factor, method);
  (void)PetscPopErrorHandler();
  factor->method = method;
  return agree(factor->halo->ranks, error, "a factorisation", factor->log);
}

/* ---- solution --------------------------------------------------------------------------------
 */

/* A residual that GMRES cannot lower as far as asked leaves an inexact direction, which the caller
 * judges by the error that it leads to. */
static PetscErrorCode solve_gmres(scree_SharedFactor *factor) {
  PetscInt iterations = 0;
  PetscErrorCode error = KSPSolve(factor->gmres, factor->b, factor->x);
  if (!error) error = KSPGetIterationNumber(factor->gmres, &iterations);
  factor->iterations += iterations;
  return error;
}

scree_Status scree_shared_factor_solve(scree_SharedFactor *factor, double *b) {
  const size_t nb = (size_t)factor->nb;
  double *values = NULL;
  (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  PetscErrorCode error = VecGetArrayWrite(factor->b, &values);
  for (int k = 0; !error && k < factor->own; ++k)
    for (size_t i = 0; i < nb; ++i)
      values[(size_t)k * nb + i] = b[(size_t)factor->own_node[k] * nb + i];
  if (!error) error = VecRestoreArrayWrite(factor->b, &values);
  if (!error)
    error =
        factor->method == SCREE_SHARED_DIRECT
            ? scree_petsc_exact_solve(&factor->exact, factor->LU, factor->b, factor->x, factor->sum)
            : solve_gmres(factor);
  const double *solution = NULL;
  if (!error) error = VecGetArrayRead(factor->x, &solution);
  if (!error) {
    for (size_t i = 0; i < (size_t)factor->nodes * nb; ++i) b[i] = 0.0;
    for (int k = 0; k < factor->own; ++k)
      for (size_t i = 0; i < nb; ++i)
        b[(size_t)factor->own_node[k] * nb + i] = solution[(size_t)k * nb + i];
    error = VecRestoreArrayRead(factor->x, &solution);
  }
  (void)PetscPopErrorHandler();
  const scree_Status status =
      agree(factor->halo->ranks, error, "the solution of a linear system", factor->log);
  if (!status && factor->halo->sums) scree_halo_complete(factor->halo, b, nb);
  return status;
}

long long scree_shared_factor_iterations(const scree_SharedFactor *factor) {
  return factor->iterations;
}

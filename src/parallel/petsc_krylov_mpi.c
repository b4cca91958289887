/* GMRES by PETSc (see krylov.h): a shell matrix and a shell preconditioner around the caller's
 * functions. PETSC_OPTIONS with the prefix scree_pqn_ changes the method. */
#include "parallel/krylov.h"

#include "core/log.h"
#include "core/memory.h"
#include "parallel/petsc_mpi.h"

struct scree_Krylov {
  const scree_Ranks *ranks;
  scree_KrylovSystem system;
  Mat A;
  KSP gmres;
  Vec b, x; /* without numbers of their own: those of the caller */
};

typedef void Apply(void *data, const double *v, double *z);

static PetscErrorCode apply(const scree_Krylov *krylov, Apply *function, Vec v, Vec z) {
  const PetscScalar *from;
  PetscScalar *to;
  PetscErrorCode error = VecGetArrayRead(v, &from);
  if (!error) error = VecGetArrayWrite(z, &to);
  if (error) return error;
  function(krylov->system.data, from, to);
  error = VecRestoreArrayRead(v, &from);
  return error ? error : VecRestoreArrayWrite(z, &to);
}

static PetscErrorCode multiply(Mat A, Vec v, Vec z) {
  scree_Krylov *krylov = NULL;
  const PetscErrorCode error = MatShellGetContext(A, (void *)&krylov);
  return error ? error : apply(krylov, krylov->system.multiply, v, z);
}

static PetscErrorCode precondition(PC M, Vec v, Vec z) {
  scree_Krylov *krylov = NULL;
  const PetscErrorCode error = PCShellGetContext(M, (void *)&krylov);
  return error ? error : apply(krylov, krylov->system.precondition, v, z);
}

static PetscErrorCode prepare(scree_Krylov *krylov) {
  MPI_Comm comm = krylov->ranks->comm;
  const PetscInt n = (PetscInt)krylov->system.rows;
  PC M;
  PetscErrorCode error =
      MatCreateShell(comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, krylov, &krylov->A);
  if (!error) error = MatShellSetOperation(krylov->A, MATOP_MULT, (void (*)(void))multiply);
  if (!error) error = VecCreateMPIWithArray(comm, 1, n, PETSC_DETERMINE, NULL, &krylov->b);
  if (!error) error = VecCreateMPIWithArray(comm, 1, n, PETSC_DETERMINE, NULL, &krylov->x);
  if (!error) error = KSPCreate(comm, &krylov->gmres);
  if (!error) error = KSPSetOptionsPrefix(krylov->gmres, "scree_pqn_");
  if (!error) error = KSPSetOperators(krylov->gmres, krylov->A, krylov->A);
  if (!error) error = KSPSetType(krylov->gmres, KSPGMRES);
  if (!error) error = KSPGMRESSetRestart(krylov->gmres, krylov->system.restart);
  if (!error) error = KSPSetPCSide(krylov->gmres, PC_RIGHT);
  if (!error) error = KSPGetPC(krylov->gmres, &M);
  if (!error) error = PCSetType(M, PCSHELL);
  if (!error) error = PCShellSetContext(M, krylov);
  if (!error) error = PCShellSetApply(M, precondition);
  if (!error) error = KSPSetFromOptions(krylov->gmres);
  if (!error) error = KSPSetUp(krylov->gmres);
  return error;
}

scree_Status scree_krylov_create(const scree_Ranks *ranks, const scree_KrylovSystem *system,
                                 const scree_Log *log, scree_Krylov **out) {
  *out = NULL;
  scree_Status status =
      scree_ranks_agree(ranks, scree_petsc_begin(scree_ranks_own(ranks), log), log);
  if (status) return status;
  scree_Krylov *krylov = SCREE_ALLOC(scree_Krylov, 1);
  status = scree_ranks_agree(ranks, krylov ? SCREE_OK : scree_fail_memory(log, "GMRES"), log);
  if (status || !krylov) {
    scree_free(krylov);
    return status;
  }
  *krylov = (scree_Krylov){.ranks = ranks, .system = *system};
  (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  const PetscErrorCode error = prepare(krylov);
  (void)PetscPopErrorHandler();
  status = scree_ranks_agree(
      ranks,
      error ? scree_fail(log, SCREE_MACHINE, "PETSc, GMRES: error %d", (int)error) : SCREE_OK, log);
  if (status)
    scree_krylov_destroy(krylov);
  else
    *out = krylov;
  return status;
}

bool scree_krylov_solve(scree_Krylov *krylov, double part, const double *b, double *x) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  PetscErrorCode error = VecPlaceArray(krylov->b, b);
  if (!error) error = VecPlaceArray(krylov->x, x);
  if (!error)
    error =
        KSPSetTolerances(krylov->gmres, part, 0.0, PETSC_DEFAULT, (PetscInt)krylov->system.most);
  if (!error) error = KSPSolve(krylov->gmres, krylov->b, krylov->x);
  if (!error) error = KSPGetConvergedReason(krylov->gmres, &reason);
  (void)VecResetArray(krylov->b);
  (void)VecResetArray(krylov->x);
  (void)PetscPopErrorHandler();
  const bool broken = error || (reason < 0 && reason != KSP_DIVERGED_ITS);
  return !scree_ranks_any(krylov->ranks, broken);
}

void scree_krylov_destroy(scree_Krylov *krylov) {
  if (!krylov) return;
  (void)KSPDestroy(&krylov->gmres);
  (void)MatDestroy(&krylov->A);
  (void)VecDestroy(&krylov->b);
  (void)VecDestroy(&krylov->x);
  scree_free(krylov);
}

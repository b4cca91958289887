/* Vectors of SUNDIALS over the rows of an operator (see pqn_vector.h). Their content begins with
 * that of a serial vector, so that its other operations, which are local, work on them. */
#include "solver/pqn_vector.h"

#include <stdlib.h>
#include <string.h>

typedef struct Content {
  struct _N_VectorContent_Serial serial;
  const scree_Operator *W;
} Content;

static const scree_Operator *operator_of(N_Vector x) {
  return ((const Content *)x->content)->W;
}

static double vector_dot(N_Vector x, N_Vector y) {
  return scree_rows_dot(operator_of(x), N_VGetArrayPointer(x), N_VGetArrayPointer(y));
}

/* x.y_k for several y: one reduction over the ranks. */
static int vector_dots(int count, N_Vector x, N_Vector *y, double *dots) {
  enum { MOST = SCREE_GATHER_MOST / sizeof(double) };
  const scree_Operator *W = operator_of(x);
  for (int first = 0; first < count; first += MOST) {
    const int n = count - first < MOST ? count - first : MOST;
    for (int k = first; k < first + n; ++k)
      dots[k] =
          scree_vector_dot(W->rows, N_VGetArrayPointer(x), N_VGetArrayPointer(y[k]), W->threads);
    scree_ranks_sums(scree_ranks_of(W), dots + first, (size_t)n);
  }
  return 0;
}

static void vector_sum(double a, N_Vector x, double b, N_Vector y, N_Vector z) {
  scree_vector_combine((size_t)N_VGetLength(x), a, N_VGetArrayPointer(x), b, N_VGetArrayPointer(y),
                       N_VGetArrayPointer(z), operator_of(x)->threads);
}

static N_Vector clone(N_Vector x) {
  const scree_Operator *W = operator_of(x);
  double *data = calloc(W->rows + 1, sizeof *data);
  N_Vector copy = data ? scree_pqn_vector(W, data, x->sunctx) : NULL;
  if (copy)
    ((Content *)copy->content)->serial.own_data = SUNTRUE;
  else
    free(data);
  return copy;
}

static void destroy(N_Vector x) {
  Content *content = x->content;
  if (content->serial.own_data) free(content->serial.data);
  free(content);
  x->content = NULL;
  N_VFreeEmpty(x);
}

N_Vector scree_pqn_vector(const scree_Operator *W, double *x, SUNContext context) {
  N_Vector vector = N_VNewEmpty_Serial((sunindextype)W->rows, context);
  Content *content = calloc(1, sizeof *content);
  if (!vector || !content) {
    if (vector) N_VDestroy(vector);
    free(content);
    return NULL;
  }
  memcpy(&content->serial, vector->content, sizeof content->serial);
  free(vector->content); /* as N_VDestroy_Serial would */
  content->serial.own_data = SUNFALSE;
  content->serial.data = x;
  content->W = W;
  vector->content = content;
  vector->ops->nvclone = clone;
  vector->ops->nvdestroy = destroy;
  vector->ops->nvdotprod = vector_dot;
  vector->ops->nvdotprodmulti = vector_dots;
  vector->ops->nvlinearsum = vector_sum;
  return vector;
}

/* Nodes that move with an obstacle (see driven.h). */
#include "body/driven.h"

#include "body/elements.h"
#include "core/log.h"
#include "core/memory.h"

#include <string.h>

static bool allocate(scree_ElementBody *d) {
  const scree_ElementMesh *m = d->mesh;
  const size_t n = (size_t)m->node_count, pairs = m->row[n];
  scree_DrivenNodes *driven = SCREE_ALLOC(scree_DrivenNodes, 1);
  d->driven = driven;
  if (!driven) return false;
  driven->obstacle = SCREE_ALLOC(int, n);
  driven->anchor = SCREE_ALLOC(scree_Vec3, n);
  driven->entry = SCREE_ALLOC(size_t, pairs);
  driven->row = SCREE_ALLOC(int, pairs);
  driven->A = SCREE_ALLOC(double, pairs *DD);
  driven->pull = SCREE_ALLOC(double, n *D);
  if (!driven->obstacle || !driven->anchor || !driven->entry || !driven->row || !driven->A ||
      !driven->pull)
    return false;
  for (size_t k = 0; k < n; ++k) driven->obstacle[k] = -1;
  return true;
}

void scree_driven_free(scree_DrivenNodes *driven) {
  if (!driven) return;
  void *arrays[] = {driven->obstacle, driven->anchor, driven->entry,
                    driven->row,      driven->A,      driven->pull};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) scree_free(arrays[k]);
  scree_free(driven);
}

size_t scree_driven_memory(const scree_ElementBody *d) {
  const size_t n = (size_t)d->mesh->node_count, pairs = d->mesh->row[n];
  if (!d->driven) return 0;
  return sizeof *d->driven + n * (sizeof(int) + (D + 3) * sizeof(double)) +
         pairs * (sizeof(size_t) + sizeof(int) + DD * sizeof(double));
}

/* Entries of the graph at a driven node. */
static void list_entries(const scree_ElementBody *d) {
  const scree_ElementMesh *m = d->mesh;
  scree_DrivenNodes *driven = d->driven;
  driven->count = 0;
  for (int k = 0; k < m->node_count; ++k)
    for (size_t e = m->row[k]; e < m->row[k + 1]; ++e) {
      if (driven->obstacle[k] < 0 && driven->obstacle[m->col[e]] < 0) continue;
      driven->row[driven->count] = k;
      driven->entry[driven->count++] = e;
    }
}

scree_Status scree_bodies_drive_nodes(scree_Bodies *bodies, const scree_DrivenDef *def,
                                      const scree_Log *log) {
  scree_Deformable *self = NULL;
  if (def->body >= 0 && def->body < bodies->count && bodies->deformable_index &&
      bodies->deformable_index[def->body] >= 0)
    self = &bodies->deformable[bodies->deformable_index[def->body]];
  if (!self || self->class_ != &scree_body_elements)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "driven nodes: of body %d, expected the number of a finite-element body",
                      def->body);
  if (def->obstacle < 0 || def->obstacle >= bodies->count ||
      !(bodies->fixed[def->obstacle] & SCREE_BODY_OBSTACLE) || bodies->cold[def->obstacle].belt)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "driven nodes: by body %d, expected the number of an obstacle, not a belt",
                      def->obstacle);
  if (!def->nodes)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "driven nodes: none is chosen, expected a function that chooses them");
  scree_ElementBody *d = self->data;
  if (!d->driven && !allocate(d)) {
    scree_driven_free(d->driven);
    d->driven = NULL;
    return scree_fail_memory(log, "driven nodes");
  }
  const scree_Pose *frame = &bodies->motion[def->obstacle].pose;
  const double *q = scree_deformable_q(bodies, self);
  double *v = scree_deformable_v(bodies, self);
  int chosen = 0, taken = 0;
  for (int k = 0; k < d->mesh->node_count; ++k) {
    if (!def->nodes(def->nodes_user, node_at(q, k))) continue;
    ++chosen;
    if (d->held[k]) {
      ++taken;
      continue;
    }
    d->held[k] = true;
    d->driven->obstacle[k] = def->obstacle;
    d->driven->anchor[k] = scree_pose_invert(frame, node_at(q, k));
    put(v, k, scree_vec3(0, 0, 0)); /* the first kick starts it */
    ++self->held;
    ++self->driven;
  }
  list_entries(d);
  scree_deformable_update(bodies, self);
  if (chosen == 0)
    return scree_fail(
        log, SCREE_BAD_INPUT,
        "driven nodes: none of the %d nodes of body %d is chosen, expected at least one",
        d->mesh->node_count, def->body);
  if (taken > 0)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "driven nodes: %d nodes of body %d are held or driven already, expected none",
                      taken, def->body);
  return SCREE_OK;
}

/* ---- between ranks ----------------------------------------------------------------------------
 */

void scree_driven_get(const scree_Deformable *self, int *holder, scree_Vec3 *anchor) {
  const scree_ElementBody *d = self->data;
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const int obstacle = d->driven ? d->driven->obstacle[k] : -1;
    holder[k] = obstacle >= 0 ? obstacle : d->held[k] ? -2 : -1;
    if (anchor) anchor[k] = obstacle >= 0 ? d->driven->anchor[k] : scree_vec3(0, 0, 0);
  }
}

bool scree_driven_set_holds(scree_Deformable *self, const int *holder, const scree_Vec3 *anchor) {
  scree_ElementBody *d = self->data;
  if (anchor && !allocate(d)) {
    scree_driven_free(d->driven);
    d->driven = NULL;
    return false;
  }
  for (int k = 0; k < d->mesh->node_count; ++k) {
    d->held[k] = holder[k] != -1;
    self->held += d->held[k];
    if (!anchor || holder[k] < 0) continue;
    d->driven->obstacle[k] = holder[k];
    d->driven->anchor[k] = anchor[k];
    ++self->driven;
  }
  if (anchor) list_entries(d);
  return true;
}

void scree_driven_number(const scree_Bodies *b, int (*number)(const void *user, int obstacle),
                         const void *user) {
  for (int k = 0; k < b->deformable_count; ++k) {
    const scree_Deformable *self = &b->deformable[k];
    if (!self->class_ || self->driven == 0) continue; /* it has left */
    const scree_ElementBody *d = self->data;
    for (int i = 0; i < d->mesh->node_count; ++i)
      if (d->driven->obstacle[i] >= 0)
        d->driven->obstacle[i] = number(user, d->driven->obstacle[i]);
  }
}

/* ---- motion ---------------------------------------------------------------------------------- */

void scree_driven_goal(const scree_Bodies *b, const scree_Deformable *self, double horizon,
                       double *goal) {
  const scree_ElementBody *d = self->data;
  const double *q = scree_deformable_q(b, self);
  int last = -1;
  scree_Motion next = {0};
  for (int k = 0; k < d->mesh->node_count; ++k) {
    const int obstacle = d->driven->obstacle[k];
    if (obstacle < 0) continue;
    if (obstacle != last) {
      next = b->motion[obstacle];
      if (scree_body_moves(b, obstacle)) scree_rigid_drift(&b->inertia[obstacle], horizon, &next);
      last = obstacle;
    }
    const scree_Vec3 x = scree_pose_apply(&next.pose, d->driven->anchor[k]);
    put(goal, k, scree_scale(1 / horizon, scree_sub(x, node_at(q, k))));
  }
}

scree_Vec3 scree_driven_velocity(const scree_Bodies *b, const scree_Deformable *self,
                                 const int *vertex, const double *N, int count) {
  const scree_ElementBody *d = self->data;
  const double *v = scree_deformable_v(b, self), *w = scree_deformable_after(b, self);
  scree_Vec3 sum = {0, 0, 0};
  for (int i = 0; i < count; ++i) {
    const int k = vertex[i];
    if (d->driven->obstacle[k] < 0) continue;
    const double weight = N[DD * i]; /* N_i is a multiple of the identity */
    sum = scree_axpy(sum, 0.5 * weight, scree_add(node_at(v, k), node_at(w, k)));
  }
  return sum;
}

/* ---- the kick -------------------------------------------------------------------------------- */

void scree_driven_keep(scree_ElementBody *d) {
  const scree_DrivenNodes *driven = d->driven;
  for (size_t i = 0; i < driven->count; ++i)
    memcpy(driven->A + DD * i, d->E + DD * driven->entry[i], DD * sizeof *driven->A);
}

/* Change of the velocity of node k; zero if it is not driven. */
static scree_Vec3 change_of(const scree_DrivenNodes *driven, const double *v, const double *goal,
                            int k) {
  if (driven->obstacle[k] < 0) return scree_vec3(0, 0, 0);
  return scree_sub(node_at(goal, k), node_at(v, k));
}

/* x - A a, with the transpose of A if `turned`. */
static scree_Vec3 less(const double *A, bool turned, scree_Vec3 a, scree_Vec3 x) {
  const int i = turned ? 1 : D, j = turned ? D : 1;
  return scree_vec3(x.x - A[0] * a.x - A[j] * a.y - A[2 * j] * a.z,
                    x.y - A[i] * a.x - A[i + j] * a.y - A[i + 2 * j] * a.z,
                    x.z - A[2 * i] * a.x - A[2 * i + j] * a.y - A[2 * i + 2 * j] * a.z);
}

void scree_driven_pull(const scree_ElementBody *d, const double *v, const double *goal,
                       double *impulse) {
  const scree_DrivenNodes *driven = d->driven;
  memcpy(driven->pull, impulse, (size_t)d->mesh->node_count * D * sizeof *impulse);
  if (!is_coupled(d)) return;
  for (size_t i = 0; i < driven->count; ++i) {
    const int a = driven->row[i], b = d->mesh->col[driven->entry[i]];
    const double *A = driven->A + DD * i;
    put(impulse, a, less(A, false, change_of(driven, v, goal, b), node_at(impulse, a)));
    put(impulse, b, less(A, true, change_of(driven, v, goal, a), node_at(impulse, b)));
  }
}

void scree_driven_set(const scree_ElementBody *d, const double *v, const double *goal,
                      double *change) {
  for (int k = 0; k < d->mesh->node_count; ++k)
    if (d->driven->obstacle[k] >= 0) put(change, k, change_of(d->driven, v, goal, k));
}

double scree_driven_product(const scree_ElementBody *d, const double *a, const double *b) {
  const scree_DrivenNodes *driven = d->driven;
  const scree_Vec3 zero = {0, 0, 0};
  double sum = 0;
  for (size_t i = 0; i < driven->count; ++i) {
    const int k = driven->row[i], c = d->mesh->col[driven->entry[i]];
    const double *A = driven->A + DD * i;
    sum -= scree_dot(node_at(a, k), less(A, false, node_at(b, c), zero)) +
           scree_dot(node_at(a, c), less(A, true, node_at(b, k), zero));
  }
  return sum;
}

double scree_driven_work(const scree_Deformable *self, const double *v, const double *w) {
  const scree_ElementBody *d = self->data;
  const scree_DrivenNodes *driven = d->driven;
  const scree_ElementMesh *m = d->mesh;
  double sum = 0;
  if (!driven) return 0;
  for (int k = 0; k < m->node_count; ++k) { /* m_p . (A_pp (v+ - v-) - h f)_p */
    if (driven->obstacle[k] < 0) continue;
    const scree_Vec3 mean = scree_scale(0.5, scree_add(node_at(v, k), node_at(w, k)));
    const scree_Vec3 change = scree_sub(node_at(w, k), node_at(v, k));
    const scree_Vec3 pull = node_at(driven->pull, k);
    sum -= scree_dot(mean, less(d->A + DD * k, false, change, pull));
  }
  for (size_t i = 0; is_coupled(d) && i < driven->count; ++i) {
    const int ends[2] = {driven->row[i], m->col[driven->entry[i]]};
    for (int side = 0; side < 2; ++side) {
      const int k = ends[side], c = ends[1 - side];
      if (driven->obstacle[k] < 0) continue;
      const scree_Vec3 mean = scree_scale(0.5, scree_add(node_at(v, k), node_at(w, k)));
      const scree_Vec3 change = scree_sub(node_at(w, c), node_at(v, c)), zero = {0, 0, 0};
      sum -= scree_dot(mean, less(driven->A + DD * i, side == 1, change, zero));
    }
  }
  return sum;
}

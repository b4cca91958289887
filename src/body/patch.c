/* Loads on a part of the surface of a finite-element body (see patch.h).
 *
 * A uniform traction t on a face gives node a the force  t int N_a dA,  and a pressure p, in the
 * deformed state,  -p int N_a (x_xi x x_eta) dxi deta,  which points against the outward normal. A
 * triangle has N_a = 1/3 on average and one normal; of a quadrilateral both are integrated with
 * 2 x 2 points, which is exact for the pressure. The traction is spread by the undeformed areas. */
#include "body/patch.h"

#include "body/elements.h"
#include "core/log.h"
#include "core/memory.h"

/* Vectors of the area that belongs to each corner x (n) of a face. */
static void corner_areas(const scree_Vec3 *x, int n, scree_Vec3 *area) {
  for (int a = 0; a < n; ++a) area[a] = scree_vec3(0, 0, 0);
  if (n == 3) {
    const scree_Vec3 whole = scree_cross(scree_sub(x[1], x[0]), scree_sub(x[2], x[0]));
    for (int a = 0; a < n; ++a) area[a] = scree_scale(1.0 / 6, whole);
    return;
  }
  static const double xi[4] = {-1, 1, 1, -1}, eta[4] = {-1, -1, 1, 1};
  const double at = sqrt(1.0 / 3);
  for (int p = 0; p < 4; ++p) {
    const double u = at * xi[p], v = at * eta[p];
    scree_Vec3 du = {0, 0, 0}, dv = {0, 0, 0};
    for (int a = 0; a < 4; ++a) {
      du = scree_axpy(du, 0.25 * xi[a] * (1 + eta[a] * v), x[a]);
      dv = scree_axpy(dv, 0.25 * eta[a] * (1 + xi[a] * u), x[a]);
    }
    const scree_Vec3 normal = scree_cross(du, dv);
    for (int a = 0; a < 4; ++a)
      area[a] = scree_axpy(area[a], 0.25 * (1 + xi[a] * u) * (1 + eta[a] * v), normal);
  }
}

static int face_corners(const scree_ElementMesh *m, int face, const double *q, scree_Vec3 *x) {
  const int n = m->face_corners[face];
  for (int a = 0; a < n; ++a) x[a] = q ? node_at(q, m->face[face][a]) : m->node[m->face[face][a]];
  return n;
}

/* Shares of the force by area; equal ones where no face is chosen. */
static void spread(const scree_ElementMesh *m, double *all, scree_Patch *patch) {
  double total = 0;
  for (int k = 0; k < patch->face_count; ++k) {
    const int face = patch->face[k];
    scree_Vec3 x[SCREE_FACE_CORNERS], area[SCREE_FACE_CORNERS];
    const int n = face_corners(m, face, NULL, x);
    corner_areas(x, n, area);
    for (int a = 0; a < n; ++a) {
      all[m->face[face][a]] += scree_norm(area[a]);
      total += scree_norm(area[a]);
    }
  }
  for (int k = 0; k < patch->node_count; ++k)
    patch->share[k] = total > 0 ? all[patch->node[k]] / total : 1.0 / patch->node_count;
}

static void choose(const scree_ElementMesh *m, const double *q, const scree_ForceDef *def,
                   bool *chosen, scree_Patch *patch) {
  for (int k = 0; k < m->node_count; ++k) {
    chosen[k] = def->nodes(def->nodes_user, node_at(q, k));
    if (chosen[k]) patch->node[patch->node_count++] = k;
  }
  for (int f = 0; f < m->face_count; ++f) {
    bool whole = true;
    for (int a = 0; a < m->face_corners[f]; ++a) whole = whole && chosen[m->face[f][a]];
    if (whole) patch->face[patch->face_count++] = f;
  }
}

scree_Status scree_patch_create(const scree_Bodies *bodies, const scree_ForceDef *def,
                                scree_Patch **out, const scree_Log *log) {
  const scree_Deformable *self = def->body >= 0 ? scree_bodies_deformable(bodies, def->body) : NULL;
  *out = NULL;
  if (!self || self->class_ != &scree_body_elements)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "force: on nodes of body %d, expected the number of a finite-element body",
                      def->body);
  if (def->per_mass)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "force: an acceleration of nodes, expected a force or a pressure");
  const scree_ElementMesh *m = ((const scree_ElementBody *)self->data)->mesh;
  scree_Patch *patch = SCREE_ALLOC(scree_Patch, 1);
  bool *chosen = SCREE_ALLOC(bool, m->node_count);
  double *all = SCREE_ALLOC(double, m->node_count);
  scree_Status status = SCREE_OK;
  if (patch) {
    patch->pressure = def->pressure;
    patch->node = SCREE_ALLOC(int, m->node_count);
    patch->share = SCREE_ALLOC(double, m->node_count);
    patch->face = SCREE_ALLOC(int, m->face_count);
  }
  if (!patch || !chosen || !all || !patch->node || !patch->share || !patch->face)
    status = scree_fail_memory(log, "a force on nodes");
  if (!status) {
    choose(m, scree_deformable_q(bodies, self), def, chosen, patch);
    if (patch->node_count == 0)
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "force: none of the %d nodes of body %d is chosen, expected at least one",
                          m->node_count, def->body);
    else if (patch->pressure && patch->face_count == 0)
      status = scree_fail(log, SCREE_BAD_INPUT,
                          "force: a pressure on %d nodes of body %d, expected all nodes of a face "
                          "of its surface",
                          patch->node_count, def->body);
    else
      spread(m, all, patch);
  }
  scree_free(chosen);
  scree_free(all);
  if (status)
    scree_patch_destroy(patch);
  else
    *out = patch;
  return status;
}

/* As numbers: nodes, their shares, faces; -1 where there is no patch. */
static void list_numbers(const scree_Patch *patch, size_t count, double *numbers) {
  for (size_t k = 0; k < count; ++k) numbers[k] = -1;
  if (!patch) return;
  for (int k = 0; k < patch->node_count; ++k) *numbers++ = patch->node[k];
  for (int k = 0; k < patch->node_count; ++k) *numbers++ = patch->share[k];
  for (int k = 0; k < patch->face_count; ++k) *numbers++ = patch->face[k];
}

static bool take_numbers(const double *numbers, int nodes, int faces, bool pressure,
                         scree_Patch **out) {
  scree_Patch *patch = *out = SCREE_ALLOC(scree_Patch, 1);
  if (!patch) return false;
  patch->pressure = pressure;
  patch->node = SCREE_ALLOC(int, nodes);
  patch->share = SCREE_ALLOC(double, nodes);
  patch->face = SCREE_ALLOC(int, faces);
  if (!patch->node || !patch->share || !patch->face) return false;
  patch->node_count = nodes;
  patch->face_count = faces;
  for (int k = 0; k < nodes; ++k) patch->node[k] = (int)*numbers++;
  for (int k = 0; k < nodes; ++k) patch->share[k] = *numbers++;
  for (int k = 0; k < faces; ++k) patch->face[k] = (int)*numbers++;
  return true;
}

scree_Status scree_patch_share(const scree_Ranks *ranks, scree_Patch **patch,
                               const scree_Log *log) {
  double size[3] = {0, 0, 0};
  if (*patch) {
    size[0] = (*patch)->node_count;
    size[1] = (*patch)->face_count;
    size[2] = (*patch)->pressure;
  }
  scree_ranks_most(ranks, size, 3);
  const size_t count = 2 * (size_t)size[0] + (size_t)size[1];
  double *numbers = SCREE_ALLOC(double, count);
  scree_Status status = numbers ? SCREE_OK : scree_fail_memory(log, "a force on nodes");
  status = scree_ranks_agree(ranks, status, log);
  if (!status && numbers) {
    list_numbers(*patch, count, numbers);
    scree_ranks_most(ranks, numbers, count);
    if (!*patch && !take_numbers(numbers, (int)size[0], (int)size[1], size[2] > 0, patch)) {
      scree_patch_destroy(*patch);
      *patch = NULL;
      status = scree_fail_memory(log, "a force on nodes");
    }
    status = scree_ranks_agree(ranks, status, log);
  }
  scree_free(numbers);
  return status;
}

void scree_patch_destroy(scree_Patch *patch) {
  if (!patch) return;
  scree_free(patch->node);
  scree_free(patch->share);
  scree_free(patch->face);
  scree_free(patch);
}

void scree_patch_add(const scree_Patch *patch, const scree_Deformable *self, const double *q,
                     scree_Vec3 f, double *load) {
  if (!patch->pressure) {
    for (int k = 0; k < patch->node_count; ++k)
      put(load, patch->node[k], scree_axpy(node_at(load, patch->node[k]), patch->share[k], f));
    return;
  }
  const scree_ElementMesh *m = ((const scree_ElementBody *)self->data)->mesh;
  for (int k = 0; k < patch->face_count; ++k) {
    const int face = patch->face[k];
    scree_Vec3 x[SCREE_FACE_CORNERS], area[SCREE_FACE_CORNERS];
    const int n = face_corners(m, face, q, x);
    corner_areas(x, n, area);
    for (int a = 0; a < n; ++a)
      put(load, m->face[face][a], scree_axpy(node_at(load, m->face[face][a]), -f.z, area[a]));
  }
}

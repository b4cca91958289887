/* The state of deformable bodies, read for the results and set at the start of a world
 * (scree/world.h). */
#include "body/elements.h"
#include "core/log.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

/* The deformable body with this number; null for others. */
static const scree_Deformable *find(const scree_World *world, int body) {
  const scree_Bodies *b = &world->system.bodies;
  return body >= 0 && body < b->count ? scree_bodies_deformable(b, body) : NULL;
}

static const scree_ElementBody *find_elements(const scree_World *world, int body) {
  const scree_Deformable *self = find(world, body);
  return self && self->class_ == &scree_body_elements ? self->data : NULL;
}

scree_NodeInfo scree_body_node(const scree_World *world, int body, int node) {
  const scree_Vec3 none = {NAN, NAN, NAN};
  scree_NodeInfo info = {.place = none, .obstacle = -1, .anchor = none};
  const scree_ElementBody *d = find_elements(world, body);
  if (!d || node < 0 || node >= d->mesh->node_count) {
    scree_fail(&world->log, SCREE_BAD_INPUT,
               "node %d of body %d: there is none, expected a node of a finite-element body", node,
               body);
    return info;
  }
  info.place = d->mesh->node[node];
  info.held = d->held[node];
  if (!d->driven || d->driven->obstacle[node] < 0) return info;
  info.held = false;
  info.obstacle = d->driven->obstacle[node];
  info.anchor = d->driven->anchor[node];
  return info;
}

scree_Elastic scree_body_elastic(const scree_World *world, int body) {
  const scree_Deformable *self = find(world, body);
  return self ? self->elastic : (scree_Elastic){.young = 0};
}

int scree_body_coordinate_count(const scree_World *world, int body) {
  const scree_Deformable *self = find(world, body);
  return self ? (int)self->components : 0;
}

static scree_Status refuse(const scree_World *world, int body) {
  return scree_fail(&world->log, SCREE_BAD_INPUT,
                    "body %d: coordinates, expected the number of a deformable body", body);
}

scree_Status scree_body_coordinates(const scree_World *world, int body, double *q, double *v,
                                    double *account) {
  const scree_Deformable *self = find(world, body);
  if (!self) return refuse(world, body);
  const scree_Bodies *b = &world->system.bodies;
  memcpy(q, scree_deformable_q(b, self), self->components * sizeof *q);
  memcpy(v, scree_deformable_v(b, self), self->components * sizeof *v);
  *account = b->account[b->deformable_index[body]];
  return SCREE_OK;
}

scree_Status scree_body_set_coordinates(scree_World *world, int body, const double *q,
                                        const double *v, double account) {
  const scree_Deformable *self = find(world, body);
  if (!self) return refuse(world, body);
  scree_Bodies *b = &world->system.bodies;
  if (!isfinite(account))
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "body %d: its sum of created energy is not finite, expected a finite number",
                      body);
  for (size_t k = 0; k < self->components; ++k)
    if (!isfinite(q[k]) || !isfinite(v[k]))
      return scree_fail(&world->log, SCREE_BAD_INPUT,
                        "body %d: a coordinate is not finite, expected finite numbers", body);
  if (!isfinite(self->class_->strain(self, q)))
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "body %d: it is turned inside out, expected a deformation whose gradient has "
                      "a determinant above 0",
                      body);
  b->account[b->deformable_index[body]] = account;
  double *rates = scree_deformable_v(b, self);
  memcpy(scree_deformable_q(b, self), q, self->components * sizeof *q);
  memcpy(rates, v, self->components * sizeof *v);
  const scree_ElementBody *d = find_elements(world, body);
  for (int k = 0; d && k < d->mesh->node_count; ++k)
    if (d->held[k] && (!d->driven || d->driven->obstacle[k] < 0))
      put(rates, k, scree_vec3(0, 0, 0));
  scree_deformable_update(b, self);
  world->system.energy_known = false;
  return SCREE_OK;
}

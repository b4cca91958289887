/* The constant data of bodies and nodes, of a divided world in the order of their numbers
 * (world.h). */
#include "body/pseudo_rigid.h"
#include "core/log.h"
#include "core/memory.h"
#include "world/spread.h"

#include <stdlib.h>
#include <string.h>

scree_BodyRow scree_world_body_row(const scree_World *world, int body) {
  const scree_Domain *p = &world->system.domain;
  const scree_Elastic elastic = scree_body_elastic(world, body);
  return (scree_BodyRow){.shape = scree_body_undeformed(world, body),
                         .inertia = scree_body_inertia(world, body),
                         .mass = scree_body_mass(world, body),
                         .removed = scree_body_removed_step(world, body),
                         .number = scree_body_number(world, body),
                         .shape_number = p->shape ? p->shape[body] : -1,
                         .material = scree_body_material(world, body),
                         .kind = (int)scree_body_kind_of(world, body),
                         .group = scree_body_group(world, body),
                         .obstacle = scree_body_is_obstacle(world, body),
                         .explicit_ = elastic.explicit_,
                         .consistent_mass = elastic.consistent_mass,
                         .keeps_shape = elastic.keeps_shape};
}

void scree_world_free_rows(scree_BodyRow *rows, int count) {
  for (int k = 0; rows && k < count; ++k)
    if (rows[k].own_shape) scree_shape_fini(&rows[k].shape);
  scree_free(rows);
}

static int compare_rows(const void *a, const void *b) {
  const scree_BodyRow *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

typedef struct Rows {
  const scree_World *world;
  int block;
  scree_BodyRow *row;
  size_t count, capacity;
} Rows;

static int pack_row(void *user, size_t k, void *element) {
  const Rows *rows = user;
  if (!scree_body_is_mine(rows->world, (int)k)) return -1;
  scree_BodyRow row = scree_world_body_row(rows->world, (int)k);
  row.shape = scree_body_given_shape(&rows->world->system.bodies, (int)k);
  memcpy(element, &row, sizeof row);
  return row.number / rows->block;
}

static bool take_row(void *user, const void *element) {
  Rows *rows = user;
  if (!scree_grow_lean((void **)&rows->row, &rows->capacity, rows->count + 1, sizeof *rows->row))
    return false;
  scree_BodyRow *row = &rows->row[rows->count++];
  memcpy(row, element, sizeof *row);
  if (row->shape_number >= 0) row->shape = rows->world->system.domain.shapes[row->shape_number];
  if (row->kind != SCREE_BODY_PSEUDO_RIGID) return true;
  const scree_Shape given = row->shape;
  row->own_shape =
      scree_pseudo_rigid_undeformed(&given, row->keeps_shape, &row->shape, NULL) == SCREE_OK;
  return row->own_shape;
}

scree_Status scree_world_part_rows(const scree_World *world, int block, scree_BodyRow **rows,
                                   int *count) {
  const scree_System *s = &world->system;
  Rows own = {.world = world, .block = block};
  const scree_Deal deal = {sizeof(scree_BodyRow), pack_row, take_row, &own};
  const scree_Status status =
      scree_ranks_deal(s->domain.ranks, (size_t)s->bodies.count, &deal, s->log);
  *rows = own.row;
  *count = (int)own.count;
  if (own.count) qsort(own.row, own.count, sizeof *own.row, compare_rows);
  return status;
}

/* ---- nodes -----------------------------------------------------------------------------------
 */

typedef struct Nodes {
  const scree_World *world;
  int block;
  const scree_OwnNode *own;
  scree_NodeRow *row;
  size_t count, capacity;
} Nodes;

static scree_NodeRow node_row(const scree_World *world, int body, int node, int64_t number) {
  const scree_NodeInfo info = scree_body_node(world, body, node);
  return (scree_NodeRow){.place = info.place,
                         .anchor = info.anchor,
                         .holder = info.held            ? -2
                                   : info.obstacle >= 0 ? scree_body_number(world, info.obstacle)
                                                        : -1,
                         .number = number};
}

typedef struct SentNode {
  scree_NodeRow row;
  int64_t body;
} SentNode;

static int pack_node(void *user, size_t k, void *element) {
  const Nodes *nodes = user;
  const scree_OwnNode *own = &nodes->own[k];
  const int body = nodes->world->system.bodies.deformable[own->deformable].body;
  SentNode sent;
  memset(&sent, 0, sizeof sent);
  sent.row = node_row(nodes->world, body, own->node, own->number);
  sent.body = own->body;
  memcpy(element, &sent, sizeof sent);
  return own->body / nodes->block;
}

static bool take_node(void *user, const void *element) {
  Nodes *nodes = user;
  SentNode sent;
  if (!scree_grow_lean((void **)&nodes->row, &nodes->capacity, nodes->count + 1,
                       sizeof *nodes->row))
    return false;
  memcpy(&sent, element, sizeof sent);
  nodes->row[nodes->count++] = sent.row;
  return true;
}

static int compare_nodes(const void *a, const void *b) {
  const scree_NodeRow *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

scree_Status scree_world_node_rows(const scree_World *world, int block, scree_NodeRow **rows,
                                   size_t *count, int64_t *whole) {
  const scree_System *s = &world->system;
  Nodes nodes = {.world = world, .block = block};
  *rows = NULL;
  if (!s->domain.global) {
    *count = (size_t)scree_world_node_count(world);
    *whole = (int64_t)*count;
    if (!(*rows = SCREE_ALLOC(scree_NodeRow, *count)))
      return scree_fail_memory(s->log, "the nodes of bodies");
    size_t at = 0;
    for (int b = 0; b < s->bodies.count; ++b)
      for (int k = 0; k < scree_body_node_count(world, b); ++k, ++at)
        (*rows)[at] = node_row(world, b, k, (int64_t)at);
    return SCREE_OK;
  }
  scree_OwnNode *own;
  size_t mine;
  scree_Status status = scree_spread_nodes(s, &own, &mine, whole);
  const scree_Deal deal = {sizeof(SentNode), pack_node, take_node, &nodes};
  nodes.own = own;
  if (!status && *whole > 0) status = scree_ranks_deal(s->domain.ranks, mine, &deal, s->log);
  scree_free(own);
  if (nodes.count) qsort(nodes.row, nodes.count, sizeof *nodes.row, compare_nodes);
  *rows = nodes.row;
  *count = nodes.count;
  return status;
}

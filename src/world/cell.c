/* The periodic cell of a world (see scree/world.h). */
#include "core/log.h"
#include "world/world.h"

scree_Status scree_world_set_cell(scree_World *world, const scree_CellDef *def) {
  scree_System *s = &world->system;
  scree_Cell cell;
  if (world->steps > 0 || s->memory.h > 0)
    return scree_fail(&world->log, SCREE_BAD_INPUT,
                      "cell: the world has made steps, expected a cell before the first");
  const scree_Status status = scree_cell_init(&cell, def, s->bodies.dimension, &world->log);
  if (status) return status;
  s->cell = cell;
  return SCREE_OK;
}

static void to_rows(const scree_Mat3 *m, double out[9]) {
  for (int k = 0; k < 9; ++k) out[k] = scree_component(scree_column(m, k % 3), k / 3);
}

bool scree_world_cell(const scree_World *world, scree_CellInfo *info) {
  const scree_Cell *cell = &world->system.cell;
  if (!cell->any) return false;
  *info = (scree_CellInfo){.origin = scree_cell_origin(cell),
                           .volume = scree_cell_volume(cell, world->system.bodies.dimension),
                           .work = cell->state.work};
  for (int k = 0; k < 3; ++k) {
    info->side[k] = scree_column(&cell->state.sides, k);
    info->periodic[k] = cell->periodic[k];
  }
  to_rows(&cell->state.strain, info->strain);
  for (int k = 0; k < 9; ++k) info->stress[k] = cell->state.stress[k];
  return true;
}

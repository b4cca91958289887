/* Drivers and forces that are changed between steps, and their part of a saved state. */
#ifndef SCREE_BODY_ACTUATION_H
#define SCREE_BODY_ACTUATION_H

#include "body/bodies.h"

/* Set the velocity of obstacle `body` from now on. */
scree_Status scree_bodies_set_driver(scree_Bodies *bodies, int body, const scree_Signal *driver,
                                     const scree_Log *log);
/* Set force number `force` from now on. */
scree_Status scree_bodies_set_force(scree_Bodies *bodies, int force, const scree_ForceDef *def,
                                    const scree_Log *log);

/* Save the current drivers and forces: constants and tables in full, callbacks by their kind
 * only. */
size_t scree_actuation_size(const scree_Bodies *bodies);
void scree_actuation_save(const scree_Bodies *bodies, void *buffer);
/* Of bodies that have other numbers in the whole world: `global` (bodies), `forces` (forces). */
void scree_actuation_save_as(const scree_Bodies *bodies, const int *global, const int *forces,
                             void *buffer);
/* Rejects (SCREE_BAD_INPUT, nothing changed) a buffer that is damaged or belongs to other bodies,
 * and callbacks that the bodies do not have. */
scree_Status scree_actuation_check(const scree_Bodies *bodies, const void *buffer, size_t size,
                                   const scree_Log *log);
/* Restore a checked buffer. Drivers that are not in it are at rest. */
scree_Status scree_actuation_restore(scree_Bodies *bodies, const void *buffer, size_t size,
                                     const scree_Log *log);

#endif

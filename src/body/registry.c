/* All kinds of bodies, in the order of scree_BodyKind. */
#include "body/class.h"

#include <stddef.h>

/* Rigid bodies have no functions here: they are called directly (rigid.h). */
const scree_BodyClass scree_body_rigid = {.name = "rigid", .summary = "rigid body"};

const scree_BodyClass *const scree_body_registry[] = {
    &scree_body_rigid,
    &scree_body_pseudo_rigid,
    &scree_body_elements,
    NULL,
};

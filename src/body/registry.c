/* All kinds of bodies; rigid, which is kind 0, first. */
#include "body/class.h"

#include <stddef.h>

const scree_BodyClass *const scree_body_registry[] = {
    &scree_body_rigid,
    NULL,
};

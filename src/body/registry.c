/* All kinds of bodies. Kind 0 is rigid. */
#include "body/class.h"

#include <stddef.h>

const scree_BodyClass *const scree_body_registry[] = {
    &scree_body_rigid,
    NULL,
};

/* scree/scree.h — all public headers. */
#ifndef SCREE_SCREE_H
#define SCREE_SCREE_H

#include "scree/base.h"

#endif

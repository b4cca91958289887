/* scree/scree.h — all public headers. */
#ifndef SCREE_SCREE_H
#define SCREE_SCREE_H

#include "scree/base.h"
#include "scree/body.h"
#include "scree/cell.h"
#include "scree/contact.h"
#include "scree/element.h"
#include "scree/fclib.h"
#include "scree/joint.h"
#include "scree/law.h"
#include "scree/measure.h"
#include "scree/options.h"
#include "scree/parallel.h"
#include "scree/pose.h"
#include "scree/problem.h"
#include "scree/run.h"
#include "scree/scene.h"
#include "scree/set.h"
#include "scree/shape.h"
#include "scree/solver.h"
#include "scree/step.h"
#include "scree/view.h"
#include "scree/world.h"

#endif

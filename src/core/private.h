/* Functions that scree's own libraries use of each other (docs/ARCHITECTURE.md). They are visible
 * to the linker, but no public header declares them, and their version in cmake/exports-*.map binds
 * the libraries of one build to each other. */
#ifndef SCREE_CORE_PRIVATE_H
#define SCREE_CORE_PRIVATE_H

#define SCREE_PRIVATE __attribute__((visibility("default")))

#endif

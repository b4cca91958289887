/* Images of bodies in a periodic cell that detection has to look at (see cell.h). */
#ifndef SCREE_STEP_IMAGES_H
#define SCREE_STEP_IMAGES_H

#include "scree/shape.h"
#include "step/system.h"

typedef struct scree_Image {
  int body;
  uint32_t image;   /* of a key */
  scree_Vec3 shift; /* from the body to the image */
} scree_Image;

/* The images of all bodies whose bounds (bodies) can meet those of a body that moves, in the order
 * of bodies; their number, or -1 if the arena is out of memory. */
int scree_images_find(const scree_System *s, const scree_Aabb *bounds, scree_Arena *work,
                      scree_Image **images);

#endif

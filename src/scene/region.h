/* Regions of a scene: boxes, drums and hoppers that generators fill and sensors look at. */
#ifndef SCREE_SCENE_REGION_H
#define SCREE_SCENE_REGION_H

#include "scree/scene.h"
#include "scree/shape.h"

struct scree_Node;

typedef enum scree_RegionKind {
  SCREE_REGION_NONE,
  SCREE_REGION_BOX,
  SCREE_REGION_DRUM,
  SCREE_REGION_HOPPER,
  SCREE_REGION_MESH /* of generators alone */
} scree_RegionKind;

struct scree_TriangleMesh;

typedef struct scree_Region {
  scree_RegionKind kind;
  int dimension;
  scree_Vec3 lower, upper;               /* box; bounds of the others */
  scree_Vec3 centre, axis;               /* drum; hopper: middle of the outlet */
  double radius, half_length;            /* drum */
  double outlet, top, height, length;    /* hopper */
  const struct scree_TriangleMesh *mesh; /* of the scene; around `centre` */
  double volume;
} scree_Region;

/* A null node gives the kind SCREE_REGION_NONE. */
scree_Status scree_region_read(const scree_Scene *scene, const struct scree_Node *node,
                               const scree_Log *log, scree_Region *region);
/* The same for the inside of a mesh (region_mesh.c). */
scree_Status scree_region_read_mesh(scree_Scene *scene, struct scree_Node *node,
                                    const scree_Log *log, scree_Region *region);
bool scree_region_mesh_holds(const scree_Region *region, scree_Vec3 centre, double radius);
/* Whether a ball lies inside. */
bool scree_region_holds(const scree_Region *region, scree_Vec3 centre, double radius);

/* Share of a ball that lies inside, as if the faces near it were planes at right angles: exact for
 * a ball that one flat face cuts. */
double scree_region_share(const scree_Region *region, scree_Vec3 centre, double radius);

/* The boundary of a region as obstacles. */
enum { SCREE_REGION_WALLS = 6 };
typedef struct scree_RegionWalls {
  int count;
  scree_Shape shapes[SCREE_REGION_WALLS]; /* (count) */
  scree_Pose poses[SCREE_REGION_WALLS];   /* (count) */
} scree_RegionWalls;
scree_Status scree_region_walls(const scree_Region *region, scree_RegionWalls *walls,
                                const scree_Log *log);
void scree_region_walls_fini(scree_RegionWalls *walls);

#endif

/* Triangle meshes from files: Wavefront OBJ, and STL as text or binary. */
#ifndef SCREE_SCENE_MESH_FILE_H
#define SCREE_SCENE_MESH_FILE_H

#include "scree/base.h"
#include "scree/pose.h"

typedef struct scree_MeshFile {
  scree_Vec3 *vertices; /* (vertex_count) none twice */
  int *triangles;       /* (triangle_count x 3) */
  int vertex_count, triangle_count;
} scree_MeshFile;

/* Read `path`; its name ends in .obj or .stl (any case). Free with scree_mesh_file_fini. */
scree_Status scree_mesh_file_read(const char *path, scree_MeshFile *mesh, const scree_Log *log);
/* The same from memory; `path` for messages and the kind of file. */
scree_Status scree_mesh_file_parse(const char *path, const char *text, size_t length,
                                   scree_MeshFile *mesh, const scree_Log *log);
void scree_mesh_file_fini(scree_MeshFile *mesh);

#endif

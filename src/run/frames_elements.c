/* Reads the nodes of finite-element bodies from results.h5: where the nodes of each body are in the
 * frames, and which of them are the vertices of its shape. */
#include "core/log.h"
#include "core/memory.h"
#include "run/frames_data.h"

static scree_Status refuse(const scree_H5 *h5, const char *what) {
  return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: /elements: %s: the file is damaged", h5->path,
                    what);
}

/* Offsets that ascend from 0. */
static scree_Status read_offsets(const scree_H5 *h5, const char *name, hsize_t n, int64_t most,
                                 int64_t *offset) {
  const scree_Status status = scree_frames_named(h5, name, 0, n + 1, 1, H5T_NATIVE_INT64, offset);
  if (status) return status;
  if (offset[0] != 0 || offset[n] > most)
    return refuse(
        h5, "found offsets out of range, expected them to begin at 0 and to end within the data");
  for (hsize_t k = 0; k < n; ++k)
    if (offset[k + 1] < offset[k])
      return refuse(h5, "found offsets that descend, expected them to ascend");
  return SCREE_OK;
}

/* What a body begins with in another run: the undeformed mesh and what holds its nodes. Not in
 * files of earlier versions. */
static scree_Status read_meshes(scree_Replay *replay, const scree_H5 *h5, int64_t nodes) {
  const hsize_t n = (hsize_t)replay->body_count, p = (hsize_t)nodes;
  hsize_t dims[2] = {0, 0}, extent = 0;
  if (!scree_frames_extent(h5, "/elements/holder", 1, &extent) || extent != p ||
      !scree_frames_extent(h5, "/elements/corner", 2, dims) || dims[1] != SCREE_ELEMENT_CORNERS)
    return SCREE_OK;
  const bool driven = scree_h5_has(h5, "/elements/anchor");
  replay->node_place = SCREE_ALLOC(double, 3 * p);
  replay->node_anchor = driven ? SCREE_ALLOC(double, 3 * p) : NULL;
  replay->node_holder = SCREE_ALLOC(int, p);
  replay->corner = SCREE_ALLOC(int, SCREE_ELEMENT_CORNERS *dims[0]);
  replay->element_first = SCREE_ALLOC(int64_t, n + 1);
  if (!replay->node_place || (driven && !replay->node_anchor) || !replay->node_holder ||
      !replay->corner || !replay->element_first)
    return scree_fail_memory(h5->log, "the elements of a run");
  scree_Status status =
      scree_frames_named(h5, "/elements/place", 0, p, 3, H5T_NATIVE_DOUBLE, replay->node_place);
  if (!status && driven)
    status =
        scree_frames_named(h5, "/elements/anchor", 0, p, 3, H5T_NATIVE_DOUBLE, replay->node_anchor);
  if (!status)
    status =
        scree_frames_named(h5, "/elements/holder", 0, p, 1, H5T_NATIVE_INT, replay->node_holder);
  if (!status)
    status = scree_frames_named(h5, "/elements/corner", 0, dims[0], SCREE_ELEMENT_CORNERS,
                                H5T_NATIVE_INT, replay->corner);
  if (!status)
    status =
        read_offsets(h5, "/elements/element_offset", n, (int64_t)dims[0], replay->element_first);
  for (hsize_t k = 0; !status && k < p; ++k)
    if (replay->node_holder[k] < -2 || replay->node_holder[k] >= replay->body_count ||
        (replay->node_holder[k] >= 0 && !driven))
      status = refuse(h5, "found a node that is held by an unknown obstacle, expected the number "
                          "of a body, -1 or -2");
  return status;
}

scree_Status scree_frames_elements(scree_Replay *replay, const scree_H5 *h5) {
  const hsize_t n = (hsize_t)replay->body_count;
  hsize_t vertices = 0, dims[3];
  if (!scree_frames_extent(h5, "/elements/surface_node", 1, &vertices)) return SCREE_OK;
  int64_t *node = SCREE_ALLOC(int64_t, n + 1), *vertex = SCREE_ALLOC(int64_t, n + 1);
  replay->surface_node = SCREE_ALLOC(int, vertices);
  scree_Status status = SCREE_OK;
  if (!node || !vertex || !replay->surface_node)
    status = scree_fail_memory(h5->log, "the elements of a run");
  if (!status) status = read_offsets(h5, "/elements/node_offset", n, INT32_MAX / 9, node);
  if (!status) status = read_offsets(h5, "/bodies/vertex_offset", n, (int64_t)vertices, vertex);
  if (!status && vertices > 0)
    status = scree_frames_named(h5, "/elements/surface_node", 0, vertices, 1, H5T_NATIVE_INT,
                                replay->surface_node);
  if (!status && replay->frame_count > 0 &&
      (!scree_frames_extent(h5, "/frames/node_position", 3, dims) || (int64_t)dims[1] != node[n]))
    status = refuse(h5, "found another number of positions, expected one for each node");
  for (hsize_t b = 0; !status && b < n; ++b) {
    scree_ReplayBody *body = &replay->bodies[b];
    body->node_first = (int)node[b];
    body->node_count = (int)(node[b + 1] - node[b]);
    if (body->node_count == 0) continue;
    if (vertex[b + 1] - vertex[b] != body->shape.vertex_count)
      status =
          refuse(h5, "found another number of vertices on a surface, expected that of the shape");
    body->surface_node = replay->surface_node + vertex[b];
    for (int k = 0; !status && k < body->shape.vertex_count; ++k)
      if (body->surface_node[k] < 0 || body->surface_node[k] >= body->node_count)
        status =
            refuse(h5, "found a vertex of a surface that is no node, expected a node of the body");
  }
  if (!status) replay->node_count = (int)node[n];
  if (!status) status = read_meshes(replay, h5, node[n]);
  scree_free(node);
  scree_free(vertex);
  return status;
}

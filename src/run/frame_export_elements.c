/* Files of finite-element bodies (see frame_export_elements.h). */
#include "run/frame_export_elements.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "run/results_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "scene-body3.csv" for "scene.yaml". */
static char *file_name(const char *path, int b, const char *ending) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  const size_t length = dot && dot > (slash ? slash : path) ? (size_t)(dot - path) : strlen(path);
  const size_t size = length + 40;
  char *name = SCREE_ALLOC(char, size);
  if (name) snprintf(name, size, "%.*s-body%d.%s", (int)length, path, b, ending);
  return name;
}

static void put_reals(FILE *file, const double *x, int count, const char *separator) {
  char text[40];
  for (int k = 0; k < count; ++k) {
    scree_format_real(x[k], text, sizeof text);
    fprintf(file, "%s%s", k ? separator : "", text);
  }
}

static void put_mesh(FILE *file, const scree_Replay *replay, const scree_ReplayBody *body, int b) {
  enum { TETRAHEDRON = 4, HEXAHEDRON = 5 }; /* of Gmsh */
  const int64_t first = replay->element_first[b];
  const int count = (int)(replay->element_first[b + 1] - first);
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", body->node_count);
  for (int k = 0; k < body->node_count; ++k) {
    fprintf(file, "%d ", k + 1);
    put_reals(file, replay->node_place + 3 * ((size_t)body->node_first + (size_t)k), 3, " ");
    fputc('\n', file);
  }
  fprintf(file, "$EndNodes\n$Elements\n%d\n", count);
  for (int e = 0; e < count; ++e) {
    const int *corner = replay->corner + SCREE_ELEMENT_CORNERS * ((size_t)first + (size_t)e);
    fprintf(file, "%d %d 2 1 1", e + 1, corner[4] < 0 ? TETRAHEDRON : HEXAHEDRON);
    for (int c = 0; c < SCREE_ELEMENT_CORNERS && corner[c] >= 0; ++c)
      fprintf(file, " %d", corner[c] + 1);
    fputc('\n', file);
  }
  fputs("$EndElements\n", file);
}

static void put_nodes(FILE *file, const scree_Replay *replay, const scree_ReplayFrame *frame,
                      const scree_ReplayBody *body) {
  fputs("x,y,z,vx,vy,vz,held,by\n", file);
  for (int k = 0; k < body->node_count; ++k) {
    const size_t node = (size_t)body->node_first + (size_t)k;
    const int holder = replay->node_holder[node];
    const char *name = holder >= 0 ? scree_replay_body_name(replay, holder) : NULL;
    put_reals(file, frame->node + 3 * node, 3, ",");
    fputc(',', file);
    put_reals(file, frame->node_velocity + 3 * node, 3, ",");
    fprintf(file, ",%d,\"%s\"\n", holder == -2, name ? name : "");
  }
}

static scree_Status check(const scree_Replay *replay, const scree_ReplayFrame *frame,
                          const scree_ReplayBody *body, const char *path, int b) {
  const size_t first = (size_t)body->node_first;
  if (!replay->element_first || !isfinite(frame->node_velocity[3 * first]))
    return scree_fail(replay->log, SCREE_BAD_INPUT,
                      "%s: body %d is deformable, and frames of this earlier version do not have "
                      "its whole state: run it again, or continue it with --resume --until",
                      path, b);
  for (size_t k = first; k < first + (size_t)body->node_count; ++k)
    if (replay->node_holder[k] >= 0 && !scree_replay_body_name(replay, replay->node_holder[k]))
      return scree_fail(replay->log, SCREE_BAD_INPUT,
                        "%s: nodes of body %d move with an obstacle that has no name", path, b);
  return SCREE_OK;
}

scree_Status scree_export_elements(const scree_Replay *replay, const scree_ReplayFrame *frame,
                                   const char *path, int b, scree_Tree *tree, scree_Node *map) {
  const scree_ReplayBody *body = &replay->bodies[b];
  scree_Status status = check(replay, frame, body, path, b);
  for (int k = 0; k < 2 && status == SCREE_OK; ++k) {
    char *name = file_name(path, b, k ? "csv" : "msh");
    if (!name) return scree_fail_memory(replay->log, path);
    FILE *file = fopen(name, "w");
    if (file && k == 0) put_mesh(file, replay, body, b);
    if (file && k == 1) put_nodes(file, replay, frame, body);
    const bool failed = !file || ferror(file);
    if (!file || (fclose(file) != 0) | failed)
      status = scree_fail(replay->log, SCREE_MACHINE, "%s: cannot be written: %s", name,
                          strerror(errno));
    const char *slash = strrchr(name, '/');
    scree_Node *text = scree_tree_scalar(tree, slash ? slash + 1 : name, 0, 0);
    if (text) text->quoted = true;
    if (k == 0) {
      scree_Node *shape = scree_tree_node(tree, SCREE_NODE_MAP, 0, 0);
      scree_tree_add(tree, shape, "kind", scree_tree_scalar(tree, "elements", 0, 0));
      scree_tree_add(tree, shape, "file", text);
      scree_tree_add(tree, map, "shape", shape);
    } else {
      scree_tree_add(tree, map, "state", text);
    }
    scree_free(name);
  }
  return status;
}

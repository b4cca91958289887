/* Gmsh's mesh files, MSH 2.2 and 4.1 in ASCII.
 *
 *   $MeshFormat     version file-type data-size
 *   $Nodes          2.2: count, then `tag x y z`
 *                   4.1: blocks nodes least most, then blocks `dimension entity parametric count`,
 *                   `count` tags and `count` lines x y z
 *   $Elements       2.2: count, then `tag type tags tag... node...`
 *                   4.1: blocks elements least most, then blocks `dimension entity type count` and
 *                   lines `tag node...`
 *
 * All other sections are skipped. The text is split into words, whose lines are counted for
 * messages. Tags are any positive numbers: they are sorted, and elements find their nodes by
 * search. Counts in the file are not trusted: arrays grow as numbers are read. */
#include "core/log.h"
#include "core/memory.h"
#include "element/mesh.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, MOST = INT_MAX / 16, NONE = -1 };
static const size_t FILE_MOST = (size_t)4 << 30;

typedef struct Named {
  long tag;
  int number; /* in the order of the file */
} Named;

typedef struct Reader {
  const char *path, *at, *end;
  const scree_Log *log;
  int line, dimension;
  char word[WORD];
  size_t node_count, named_capacity, place_capacity;
  Named *named;      /* (node_count) */
  scree_Vec3 *place; /* (node_count) */
  size_t element_count, kind_capacity, line_capacity;
  uint8_t *kind;
  int *element_line; /* (element_count) for messages */
  size_t corner_count, corner_capacity;
  long *corner; /* tags of nodes */
} Reader;

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next word, cut to its first characters; empty at the end. */
static void next_word(Reader *r) {
  while (r->at < r->end && is_space(*r->at)) {
    if (*r->at == '\n') ++r->line;
    ++r->at;
  }
  size_t n = 0;
  for (; r->at < r->end && !is_space(*r->at); ++r->at)
    if (n < WORD - 1) r->word[n++] = *r->at;
  r->word[n] = '\0';
}

static scree_Status expected(const Reader *r, const char *what) {
  return scree_fail(r->log, SCREE_BAD_INPUT, "%s:%d: found %s, expected %s", r->path, r->line,
                    r->word[0] ? r->word : "the end of the file", what);
}

static scree_Status read_long(Reader *r, long least, long most, const char *what, long *value) {
  char *end;
  next_word(r);
  errno = 0;
  *value = strtol(r->word, &end, 10);
  if (end == r->word || *end || errno || *value < least || *value > most) return expected(r, what);
  return SCREE_OK;
}

static scree_Status read_real(Reader *r, const char *what, double *value) {
  char *end;
  next_word(r);
  *value = strtod(r->word, &end);
  if (end == r->word || *end || !isfinite(*value)) return expected(r, what);
  return SCREE_OK;
}

static scree_Status read_end(Reader *r, const char *section) {
  next_word(r);
  return strcmp(r->word, section) == 0 ? SCREE_OK : expected(r, section);
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

static scree_Status add_tag(Reader *r, long tag) {
  if (r->node_count >= MOST ||
      !scree_grow((void **)&r->named, &r->named_capacity, r->node_count + 1, sizeof *r->named))
    return scree_fail_memory(r->log, r->path);
  r->named[r->node_count] = (Named){tag, (int)r->node_count};
  ++r->node_count;
  return SCREE_OK;
}

static scree_Status read_place(Reader *r, size_t node) {
  double x[3] = {0, 0, 0};
  scree_Status status = SCREE_OK;
  for (int k = 0; !status && k < 3; ++k) status = read_real(r, "a finite coordinate", &x[k]);
  if (status) return status;
  if (!scree_grow((void **)&r->place, &r->place_capacity, node + 1, sizeof *r->place))
    return scree_fail_memory(r->log, r->path);
  r->place[node] = (scree_Vec3){x[0], x[1], x[2]};
  return SCREE_OK;
}

static const char number_of_node[] = "the number of a node, > 0";

static scree_Status read_nodes_2(Reader *r) {
  long count = 0, tag = 0;
  scree_Status status = read_long(r, 0, MOST, "the number of nodes", &count);
  for (long k = 0; !status && k < count; ++k) {
    status = read_long(r, 1, LONG_MAX, number_of_node, &tag);
    if (!status) status = add_tag(r, tag);
    if (!status) status = read_place(r, r->node_count - 1);
  }
  return status;
}

static scree_Status read_nodes_4(Reader *r) {
  static const char *const of_section[] = {"the number of blocks", "the number of nodes",
                                           "the smallest number of a node",
                                           "the largest number of a node"},
                           *const of_block[] = {
                               "the dimension of a block", "the number of an entity",
                               "0: no parametric coordinates", "the number of nodes of a block"};
  long head[4] = {0};
  scree_Status status = SCREE_OK;
  for (int k = 0; !status && k < 4; ++k)
    status = read_long(r, 0, LONG_MAX, of_section[k], &head[k]);
  for (long block = 0; !status && block < head[0]; ++block) {
    const long least[4] = {0, LONG_MIN, 0, 0}, most[4] = {3, LONG_MAX, 0, MOST};
    long entry[4] = {0}, tag = 0;
    for (int k = 0; !status && k < 4; ++k)
      status = read_long(r, least[k], most[k], of_block[k], &entry[k]);
    const size_t first = r->node_count;
    for (long k = 0; !status && k < entry[3]; ++k) {
      status = read_long(r, 1, LONG_MAX, number_of_node, &tag);
      if (!status) status = add_tag(r, tag);
    }
    for (long k = 0; !status && k < entry[3]; ++k) status = read_place(r, first + (size_t)k);
  }
  return status;
}

/* ---- elements ---------------------------------------------------------------------------------
 */

/* The number of nodes of an element type of Gmsh, if it is of first order; else 0. */
static int nodes_of_type(long type) {
  switch (type) {
  case 15: return 1; /* point */
  case 1: return 2;  /* line */
  case 2: return 3;
  case 3:
  case 4: return 4;
  case 5: return 8;
  default: return 0;
  }
}

/* The kind of element of a type of Gmsh in the dimension of the mesh; NONE: it is skipped. */
static int kind_of_type(const Reader *r, long type) {
  for (int k = 0; k < SCREE_ELEMENT_KINDS; ++k)
    if (scree_element_classes[k].gmsh == type && scree_element_classes[k].dimension == r->dimension)
      return k;
  return NONE;
}

static scree_Status read_type(Reader *r, long *type) {
  const char *what = "an element of type 1 to 5 or 15: line, triangle, quadrilateral, tetrahedron, "
                     "hexahedron or point, of first order";
  const scree_Status status = read_long(r, 1, 1000, what, type);
  if (!status && !nodes_of_type(*type)) return expected(r, what);
  return status;
}

static scree_Status read_corners(Reader *r, long type) {
  const int kind = kind_of_type(r, type), corners = nodes_of_type(type);
  scree_Status status = SCREE_OK;
  const int line = r->line;
  for (int k = 0; !status && k < corners; ++k) {
    long tag = 0;
    status = read_long(r, 1, LONG_MAX, number_of_node, &tag);
    if (status || kind == NONE) continue;
    if (!scree_grow((void **)&r->corner, &r->corner_capacity, r->corner_count + 1,
                    sizeof *r->corner))
      return scree_fail_memory(r->log, r->path);
    r->corner[r->corner_count++] = tag;
  }
  if (status || kind == NONE) return status;
  if (r->element_count >= MOST ||
      !scree_grow((void **)&r->kind, &r->kind_capacity, r->element_count + 1, sizeof *r->kind) ||
      !scree_grow((void **)&r->element_line, &r->line_capacity, r->element_count + 1,
                  sizeof *r->element_line))
    return scree_fail_memory(r->log, r->path);
  r->kind[r->element_count] = (uint8_t)kind;
  r->element_line[r->element_count++] = line;
  return SCREE_OK;
}

static scree_Status read_elements_2(Reader *r) {
  long count = 0;
  scree_Status status = read_long(r, 0, MOST, "the number of elements", &count);
  for (long k = 0; !status && k < count; ++k) {
    long tag = 0, type = 0, tags = 0, skipped;
    status = read_long(r, 1, LONG_MAX, "the number of an element, > 0", &tag);
    if (!status) status = read_type(r, &type);
    if (!status) status = read_long(r, 0, 1000, "the number of tags", &tags);
    for (long t = 0; !status && t < tags; ++t)
      status = read_long(r, LONG_MIN, LONG_MAX, "a tag", &skipped);
    if (!status) status = read_corners(r, type);
  }
  return status;
}

static scree_Status read_elements_4(Reader *r) {
  static const char *const of_section[] = {"the number of blocks", "the number of elements",
                                           "the smallest number of an element",
                                           "the largest number of an element"},
                           *const of_block[] = {"the dimension of a block",
                                                "the number of an entity"};
  long head[4] = {0};
  scree_Status status = SCREE_OK;
  for (int k = 0; !status && k < 4; ++k)
    status = read_long(r, 0, LONG_MAX, of_section[k], &head[k]);
  for (long block = 0; !status && block < head[0]; ++block) {
    long entry[2] = {0}, type = 0, count = 0, tag = 0;
    for (int k = 0; !status && k < 2; ++k)
      status = read_long(r, LONG_MIN, LONG_MAX, of_block[k], &entry[k]);
    if (!status) status = read_type(r, &type);
    if (!status) status = read_long(r, 0, MOST, "the number of elements of a block", &count);
    for (long k = 0; !status && k < count; ++k) {
      status = read_long(r, 1, LONG_MAX, "the number of an element, > 0", &tag);
      if (!status) status = read_corners(r, type);
    }
  }
  return status;
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static int compare_names(const void *left, const void *right) {
  const Named *a = left, *b = right;
  if (a->tag != b->tag) return a->tag < b->tag ? -1 : 1;
  return a->number - b->number;
}

static Named *find_node(const Reader *r, long tag) {
  const Named key = {tag, 0};
  size_t low = 0, high = r->node_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (r->named[middle].tag < key.tag)
      low = middle + 1;
    else
      high = middle;
  }
  return low < r->node_count && r->named[low].tag == tag ? &r->named[low] : NULL;
}

/* Number the nodes that belong to elements, in the order of the file, and make the mesh. */
static scree_Status make_mesh(Reader *r, scree_ElementMesh **mesh) {
  if (r->element_count == 0)
    return scree_fail(r->log, SCREE_BAD_INPUT, "%s: found no elements, expected %s", r->path,
                      r->dimension == 3 ? "tetrahedra or hexahedra"
                                        : "triangles or quadrilaterals");
  if (r->node_count) qsort(r->named, r->node_count, sizeof *r->named, compare_names);
  for (size_t k = 1; k < r->node_count; ++k)
    if (r->named[k].tag == r->named[k - 1].tag)
      return scree_fail(r->log, SCREE_BAD_INPUT, "%s: node %ld is defined twice, expected once",
                        r->path, r->named[k].tag);
  int *corner = SCREE_ALLOC(int, r->corner_count), *rank = SCREE_ALLOC(int, r->node_count);
  scree_Vec3 *place = SCREE_ALLOC(scree_Vec3, r->node_count);
  scree_Status status = SCREE_OK;
  if (!corner || !rank || !place) status = scree_fail_memory(r->log, r->path);
  size_t at = 0;
  for (size_t e = 0; !status && e < r->element_count; ++e)
    for (int k = 0; !status && k < scree_element_classes[r->kind[e]].corners; ++k, ++at) {
      const Named *node = find_node(r, r->corner[at]);
      if (!node)
        status =
            scree_fail(r->log, SCREE_BAD_INPUT, "%s:%d: found node %ld, expected one of $Nodes",
                       r->path, r->element_line[e], r->corner[at]);
      else
        rank[corner[at] = node->number] = 1;
    }
  int used = 0;
  for (size_t k = 0; !status && k < r->node_count; ++k) {
    if (!rank[k]) continue;
    place[used] = r->place[k];
    rank[k] = used++;
  }
  for (size_t k = 0; !status && k < r->corner_count; ++k) corner[k] = rank[corner[k]];
  if (!status) {
    status = scree_element_mesh_create(r->dimension, place, used, r->kind, corner,
                                       (int)r->element_count, mesh, r->log);
    if (status == SCREE_BAD_INPUT)
      status = scree_fail(
          r->log, status,
          "%s: found a mesh that cannot be used, expected elements of positive size", r->path);
  }
  scree_free(corner);
  scree_free(rank);
  scree_free(place);
  return status;
}

static scree_Status read_format(Reader *r, int *version) {
  next_word(r);
  if (strcmp(r->word, "2.2") == 0 || strcmp(r->word, "2.1") == 0 || strcmp(r->word, "2") == 0)
    *version = 2;
  else if (strcmp(r->word, "4.1") == 0)
    *version = 4;
  else
    return expected(r, "version 2.2 or 4.1");
  long type, size;
  scree_Status status = read_long(r, 0, 0, "0: an ASCII file", &type);
  if (!status) status = read_long(r, 1, 64, "the size of a number", &size);
  return status ? status : read_end(r, "$EndMeshFormat");
}

/* Skip to the end of a section of another name. */
static scree_Status skip_section(Reader *r) {
  char end[WORD + 4];
  snprintf(end, sizeof end, "$End%s", r->word + 1);
  end[WORD - 1] = '\0';
  do next_word(r);
  while (r->word[0] && strcmp(r->word, end) != 0);
  return r->word[0] ? SCREE_OK : expected(r, end);
}

static scree_Status read_sections(Reader *r) {
  int version = 0;
  scree_Status status = SCREE_OK;
  for (next_word(r); !status && r->word[0]; next_word(r)) {
    if (strcmp(r->word, "$MeshFormat") == 0) {
      status = read_format(r, &version);
    } else if (r->word[0] != '$') {
      status = expected(r, "a section such as $Nodes");
    } else if (!version) {
      status = expected(r, "$MeshFormat first");
    } else if (strcmp(r->word, "$Nodes") == 0) {
      status = version == 2 ? read_nodes_2(r) : read_nodes_4(r);
      if (!status) status = read_end(r, "$EndNodes");
    } else if (strcmp(r->word, "$Elements") == 0) {
      status = version == 2 ? read_elements_2(r) : read_elements_4(r);
      if (!status) status = read_end(r, "$EndElements");
    } else {
      status = skip_section(r);
    }
    if (status) break;
  }
  if (!status && !version) status = expected(r, "$MeshFormat");
  return status;
}

scree_Status scree_element_mesh_parse(const char *path, const char *text, size_t length,
                                      int dimension, scree_ElementMesh **mesh,
                                      const scree_Log *log) {
  Reader r = {.path = path,
              .at = text,
              .end = text + length,
              .log = log,
              .line = 1,
              .dimension = dimension};
  *mesh = NULL;
  scree_Status status = read_sections(&r);
  if (!status) status = make_mesh(&r, mesh);
  scree_free(r.named);
  scree_free(r.place);
  scree_free(r.kind);
  scree_free(r.element_line);
  scree_free(r.corner);
  return status;
}

scree_Status scree_element_mesh_read(const char *path, int dimension, scree_ElementMesh **mesh,
                                     const scree_Log *log) {
  *mesh = NULL;
  FILE *file = fopen(path, "rb");
  if (!file)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: %s, expected a mesh file of Gmsh", path,
                      strerror(errno));
  char *text = NULL;
  size_t capacity = 0, length = 0;
  scree_Status status = SCREE_OK;
  for (size_t more = 1; more > 0 && !status; length += more) {
    if (length > FILE_MOST || !scree_grow((void **)&text, &capacity, length + 65536, 1)) {
      status = scree_fail_memory(log, path);
      break;
    }
    more = fread(text + length, 1, capacity - length, file);
    if (ferror(file))
      status = scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read, expected a mesh file of Gmsh",
                          path);
  }
  (void)fclose(file);
  if (!status) status = scree_element_mesh_parse(path, text, length, dimension, mesh, log);
  scree_free(text);
  return status;
}

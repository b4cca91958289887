/* Reading of OBJ and STL files (see mesh_file.h).
 *
 * OBJ: lines `v x y z` and `f a b c ...` count, everything else (normals, textures, materials,
 * groups) is skipped; numbers of vertices begin at 1, negative ones count from the last; faces with
 * more than three corners are cut into a fan. STL: a binary file is known by its length, which its
 * count of triangles gives; otherwise `vertex x y z` lines are read three by three. STL repeats the
 * corners of every triangle: equal ones become one vertex. */
#include "scene/mesh_file.h"

#include "core/log.h"
#include "core/memory.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST = 50000000, LINE = 512, STL_HEAD = 84, STL_TRIANGLE = 50 };
static const size_t FILE_MOST = (size_t)4 << 30;

typedef struct Reader {
  const char *path;
  const scree_Log *log;
  scree_MeshFile *mesh;
  size_t vertex_capacity, triangle_capacity;
  int line;
} Reader;

void scree_mesh_file_fini(scree_MeshFile *mesh) {
  scree_free(mesh->vertices);
  scree_free(mesh->triangles);
  *mesh = (scree_MeshFile){0};
}

static scree_Status add_vertex(Reader *r, scree_Vec3 v) {
  scree_MeshFile *m = r->mesh;
  if (!isfinite(v.x) || !isfinite(v.y) || !isfinite(v.z))
    return scree_fail(r->log, SCREE_BAD_INPUT,
                      "%s:%d: found a vertex that is not finite, expected three finite numbers",
                      r->path, r->line);
  if (m->vertex_count >= MOST || !scree_grow((void **)&m->vertices, &r->vertex_capacity,
                                             (size_t)m->vertex_count + 1, sizeof *m->vertices))
    return scree_fail_memory(r->log, r->path);
  m->vertices[m->vertex_count++] = v;
  return SCREE_OK;
}

static scree_Status add_triangle(Reader *r, int a, int b, int c) {
  scree_MeshFile *m = r->mesh;
  if (m->triangle_count >= MOST ||
      !scree_grow((void **)&m->triangles, &r->triangle_capacity,
                  3 * ((size_t)m->triangle_count + 1), sizeof *m->triangles))
    return scree_fail_memory(r->log, r->path);
  int *t = m->triangles + 3 * (size_t)m->triangle_count++;
  t[0] = a, t[1] = b, t[2] = c;
  return SCREE_OK;
}

/* The next line, cut to LINE, without its end; false at the end of the text. */
static bool next_line(Reader *r, const char **at, const char *end, char line[LINE]) {
  if (*at >= end) return false;
  const char *stop = memchr(*at, '\n', (size_t)(end - *at));
  const size_t length = (size_t)((stop ? stop : end) - *at);
  const size_t kept = length < LINE - 1 ? length : LINE - 1;
  memcpy(line, *at, kept);
  line[kept] = '\0';
  *at += length + (stop ? 1 : 0);
  ++r->line;
  return true;
}

static bool read_three(const char *text, scree_Vec3 *v) {
  char *end;
  double x[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = strtod(text, &end);
    if (end == text) return false;
    text = end;
  }
  *v = (scree_Vec3){x[0], x[1], x[2]};
  return true;
}

/* ---- OBJ ---- */

static scree_Status read_face(Reader *r, const char *text) {
  int first = -1, last = -1, count = 0;
  for (;;) {
    while (*text && isspace((unsigned char)*text)) ++text;
    if (!*text || *text == '#') break;
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    const long vertex = number < 0 ? r->mesh->vertex_count + number : number - 1;
    if (end == text || errno || number == 0 || vertex < 0 || vertex >= r->mesh->vertex_count)
      return scree_fail(r->log, SCREE_BAD_INPUT,
                        "%s:%d: found vertex %.20s, expected 1 .. %d or a negative number", r->path,
                        r->line, text, r->mesh->vertex_count);
    for (text = end; *text && !isspace((unsigned char)*text);) ++text; /* /texture/normal */
    if (++count == 1)
      first = (int)vertex;
    else if (count > 2) {
      const scree_Status status = add_triangle(r, first, last, (int)vertex);
      if (status) return status;
    }
    last = (int)vertex;
  }
  if (count >= 3) return SCREE_OK;
  return scree_fail(r->log, SCREE_BAD_INPUT, "%s:%d: a face of %d corners, expected at least 3",
                    r->path, r->line, count);
}

static scree_Status read_obj(Reader *r, const char *text, size_t length) {
  char line[LINE];
  scree_Status status = SCREE_OK;
  for (const char *end = text + length; status == SCREE_OK && next_line(r, &text, end, line);) {
    const char *at = line;
    while (isspace((unsigned char)*at)) ++at;
    if (at[0] == 'f' && isspace((unsigned char)at[1])) {
      status = read_face(r, at + 1);
    } else if (at[0] == 'v' && isspace((unsigned char)at[1])) {
      scree_Vec3 v;
      status = read_three(at + 1, &v)
                   ? add_vertex(r, v)
                   : scree_fail(r->log, SCREE_BAD_INPUT, "%s:%d: expected v and three numbers",
                                r->path, r->line);
    }
  }
  return status;
}

/* ---- STL ---- */

static uint32_t little(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double real32(const unsigned char *b) {
  const uint32_t bits = little(b);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static scree_Status read_binary(Reader *r, const unsigned char *bytes, size_t count) {
  scree_Status status = SCREE_OK;
  for (size_t t = 0; t < count && status == SCREE_OK; ++t) {
    const unsigned char *at = bytes + STL_HEAD + t * STL_TRIANGLE + 12; /* behind the normal */
    r->line = (int)t + 1;
    for (int k = 0; k < 3 && status == SCREE_OK; ++k, at += 12)
      status = add_vertex(r, (scree_Vec3){real32(at), real32(at + 4), real32(at + 8)});
    const int n = r->mesh->vertex_count;
    if (status == SCREE_OK) status = add_triangle(r, n - 3, n - 2, n - 1);
  }
  return status;
}

static scree_Status read_ascii(Reader *r, const char *text, size_t length) {
  char line[LINE];
  scree_Status status = SCREE_OK;
  for (const char *end = text + length; status == SCREE_OK && next_line(r, &text, end, line);) {
    const char *at = line;
    while (isspace((unsigned char)*at)) ++at;
    if (strncasecmp(at, "vertex", 6) != 0 || !isspace((unsigned char)at[6])) continue;
    scree_Vec3 v;
    status = read_three(at + 6, &v)
                 ? add_vertex(r, v)
                 : scree_fail(r->log, SCREE_BAD_INPUT, "%s:%d: expected vertex and three numbers",
                              r->path, r->line);
    const int n = r->mesh->vertex_count;
    if (status == SCREE_OK && n % 3 == 0) status = add_triangle(r, n - 3, n - 2, n - 1);
  }
  if (status == SCREE_OK && r->mesh->vertex_count % 3 != 0)
    status = scree_fail(r->log, SCREE_BAD_INPUT,
                        "%s: found %d vertices, expected three for each "
                        "triangle",
                        r->path, r->mesh->vertex_count);
  return status;
}

typedef struct Numbered {
  scree_Vec3 v;
  int number;
} Numbered;

static int compare_places(const void *left, const void *right) {
  const Numbered *a = left, *b = right;
  if (a->v.x != b->v.x) return a->v.x < b->v.x ? -1 : 1;
  if (a->v.y != b->v.y) return a->v.y < b->v.y ? -1 : 1;
  if (a->v.z != b->v.z) return a->v.z < b->v.z ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* Equal vertices become one, triangles with two equal corners go. */
static scree_Status weld(Reader *r) {
  scree_MeshFile *m = r->mesh;
  const size_t n = (size_t)m->vertex_count;
  Numbered *sorted = SCREE_ALLOC(Numbered, n);
  int *name = SCREE_ALLOC(int, n);
  if (!sorted || !name) {
    scree_free(sorted);
    scree_free(name);
    return scree_fail_memory(r->log, r->path);
  }
  for (size_t k = 0; k < n; ++k) sorted[k] = (Numbered){m->vertices[k], (int)k};
  qsort(sorted, n, sizeof *sorted, compare_places);
  /* the first of equal ones stands for all; then they are numbered in the order of the file */
  for (size_t k = 0, first = 0; k < n; ++k) {
    const scree_Vec3 a = sorted[first].v, b = sorted[k].v;
    if (a.x != b.x || a.y != b.y || a.z != b.z) first = k;
    name[sorted[k].number] = sorted[first].number;
  }
  int used = 0;
  for (size_t k = 0; k < n; ++k) {
    if (name[k] != (int)k) {
      name[k] = name[name[k]]; /* an earlier one, which has its new number */
      continue;
    }
    m->vertices[used] = m->vertices[k];
    name[k] = used++;
  }
  m->vertex_count = used;
  int kept = 0;
  for (int t = 0; t < m->triangle_count; ++t) {
    const int *c = m->triangles + 3 * (size_t)t;
    const int a = name[c[0]], b = name[c[1]], d = name[c[2]];
    if (a == b || b == d || a == d) continue;
    int *to = m->triangles + 3 * (size_t)kept++;
    to[0] = a, to[1] = b, to[2] = d;
  }
  m->triangle_count = kept;
  scree_free(sorted);
  scree_free(name);
  return SCREE_OK;
}

/* ---- both ---- */

static bool ends_in(const char *path, const char *ending) {
  const size_t n = strlen(path), m = strlen(ending);
  return n >= m && strcasecmp(path + n - m, ending) == 0;
}

scree_Status scree_mesh_file_parse(const char *path, const char *text, size_t length,
                                   scree_MeshFile *mesh, const scree_Log *log) {
  *mesh = (scree_MeshFile){0};
  Reader r = {.path = path, .log = log, .mesh = mesh};
  scree_Status status;
  if (ends_in(path, ".obj")) {
    status = read_obj(&r, text, length);
  } else if (ends_in(path, ".stl")) {
    const unsigned char *bytes = (const unsigned char *)text;
    const size_t count = length >= STL_HEAD ? little(bytes + 80) : 0;
    status = length >= STL_HEAD && length == STL_HEAD + count * STL_TRIANGLE
                 ? read_binary(&r, bytes, count)
                 : read_ascii(&r, text, length);
  } else {
    status = scree_fail(log, SCREE_BAD_INPUT, "%s: expected a file .obj or .stl", path);
  }
  if (status == SCREE_OK) status = weld(&r);
  if (status == SCREE_OK && mesh->vertex_count == 0)
    status = scree_fail(log, SCREE_BAD_INPUT, "%s: found no vertices, expected a mesh", path);
  if (status != SCREE_OK) scree_mesh_file_fini(mesh);
  return status;
}

scree_Status scree_mesh_file_read(const char *path, scree_MeshFile *mesh, const scree_Log *log) {
  *mesh = (scree_MeshFile){0};
  FILE *file = fopen(path, "rb");
  if (!file)
    return scree_fail(log, SCREE_BAD_INPUT, "%s: %s, expected a mesh file", path, strerror(errno));
  char *text = NULL;
  size_t capacity = 0, length = 0;
  scree_Status status = SCREE_OK;
  for (size_t more = 1; more > 0 && status == SCREE_OK; length += more) {
    if (length > FILE_MOST || !scree_grow((void **)&text, &capacity, length + 65536, 1)) {
      status = scree_fail_memory(log, path);
      break;
    }
    more = fread(text + length, 1, capacity - length, file);
    if (ferror(file))
      status = scree_fail(log, SCREE_BAD_INPUT, "%s: cannot be read, expected a mesh file", path);
  }
  fclose(file);
  if (status == SCREE_OK) status = scree_mesh_file_parse(path, text, length, mesh, log);
  scree_free(text);
  return status;
}

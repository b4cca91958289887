/* Triangles of shapes (see mesh.h). Round shapes are one grid of rings: a unit ball whose halves
 * are moved apart makes a capsule, stretched along its axes an ellipsoid. */
#include "view/mesh.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Room for more; false when memory runs out. */
static bool reserve(scree_DrawnMesh *mesh, size_t points, size_t triangles) {
  return scree_grow((void **)&mesh->point, &mesh->point_capacity, 3 * (mesh->points + points),
                    sizeof *mesh->point) &&
         scree_grow((void **)&mesh->normal, &mesh->normal_capacity, 3 * (mesh->points + points),
                    sizeof *mesh->normal) &&
         scree_grow((void **)&mesh->triangle, &mesh->triangle_capacity,
                    3 * (mesh->triangles + triangles), sizeof *mesh->triangle);
}

static int put_point(scree_DrawnMesh *mesh, double x, double y, double z, double nx, double ny,
                     double nz) {
  double *p = mesh->point + 3 * mesh->points, *n = mesh->normal + 3 * mesh->points;
  const double length = sqrt(nx * nx + ny * ny + nz * nz);
  p[0] = x, p[1] = y, p[2] = z;
  n[0] = nx / length, n[1] = ny / length, n[2] = nz / length;
  return (int)mesh->points++;
}

static void put_triangle(scree_DrawnMesh *mesh, int a, int b, int c) {
  int *t = mesh->triangle + 3 * mesh->triangles++;
  t[0] = a, t[1] = b, t[2] = c;
}

/* Rings of `segments` + 1 points: quads between neighbours, outside on the left of (ring, around).
 */
static void put_grid(scree_DrawnMesh *mesh, int first, int rings, int segments) {
  const int row = segments + 1;
  for (int k = 0; k + 1 < rings; ++k)
    for (int s = 0; s < segments; ++s) {
      const int p = first + k * row + s;
      put_triangle(mesh, p, p + row, p + 1);
      put_triangle(mesh, p + 1, p + row, p + row + 1);
    }
}

static bool put_ball(scree_DrawnMesh *mesh, int segments, double a, double b, double c,
                     double half) {
  const int quarter = segments / 4 > 2 ? segments / 4 : 2, rings = 2 * (quarter + 1);
  if (!reserve(mesh, (size_t)rings * (size_t)(segments + 1), 2 * (size_t)rings * (size_t)segments))
    return false;
  const int first = (int)mesh->points;
  for (int ring = 0; ring < rings; ++ring) {
    const bool top = ring <= quarter;
    const double height = pi / 2.0 - (top ? ring : ring - 1) * (pi / 2.0) / quarter;
    for (int s = 0; s <= segments; ++s) {
      const double angle = 2.0 * pi * s / segments;
      const double x = cos(height) * cos(angle), y = cos(height) * sin(angle), z = sin(height);
      put_point(mesh, a * x, b * y, c * z + (top ? half : -half), x / a, y / b, z / c);
    }
  }
  put_grid(mesh, first, rings, segments);
  return true;
}

static bool put_box(scree_DrawnMesh *mesh, scree_Vec3 semi) {
  if (!reserve(mesh, 24, 12)) return false;
  const double half[3] = {semi.x, semi.y, semi.z};
  for (int axis = 0; axis < 3; ++axis)
    for (int side = -1; side <= 1; side += 2) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      int corner[4];
      for (int k = 0; k < 4; ++k) {
        double p[3], n[3] = {0};
        p[axis] = side * half[axis];
        p[u] = (k == 1 || k == 2 ? 1.0 : -1.0) * half[u];
        p[v] = (k >= 2 ? 1.0 : -1.0) * half[v];
        n[axis] = side;
        corner[k] = put_point(mesh, p[0], p[1], p[2], n[0], n[1], n[2]);
      }
      const int b = side > 0 ? 1 : 3, d = side > 0 ? 3 : 1;
      put_triangle(mesh, corner[0], corner[b], corner[2]);
      put_triangle(mesh, corner[0], corner[2], corner[d]);
    }
  return true;
}

/* A smooth convex shape by its support points: the normals are a grid over the sphere. */
static bool put_smooth(scree_DrawnMesh *mesh, int segments, const scree_Shape *shape) {
  const int rings = segments + 1;
  if (!reserve(mesh, (size_t)rings * (size_t)(segments + 1), 2 * (size_t)rings * (size_t)segments))
    return false;
  const int first = (int)mesh->points;
  for (int ring = 0; ring < rings; ++ring)
    for (int s = 0; s <= segments; ++s) {
      /* angles in which the flat parts get few points and the curved ones many */
      const double height = pi / 2.0 - pi * ring / (rings - 1), angle = 2.0 * pi * s / segments;
      const scree_Vec3 n = {cos(height) * cos(angle), cos(height) * sin(angle), sin(height)};
      const scree_Vec3 x = scree_shape_support(shape, n);
      put_point(mesh, x.x, x.y, x.z, n.x, n.y, n.z);
    }
  put_grid(mesh, first, rings, segments);
  return true;
}

/* A rounded box or polyhedron: faces moved out, part of a cylinder along each edge, part of a ball
 * at each corner. `face` [count] lists the corners of each face. */
typedef struct Hull {
  int faces;
  const scree_Vec3 *vertices;
  const int *(*face)(const scree_Shape *shape, int face, int *count, scree_Vec3 *normal);
} Hull;

static const int box_face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

static const int *face_of_box(const scree_Shape *shape, int face, int *count, scree_Vec3 *normal) {
  (void)shape;
  const double side = face & 1 ? 1 : -1;
  *count = 4;
  *normal =
      scree_vec3(face / 2 == 0 ? side : 0, face / 2 == 1 ? side : 0, face / 2 == 2 ? side : 0);
  return box_face[face];
}

/* Sum of the normals of the faces at a corner. */
static scree_Vec3 corner_normal(const scree_Shape *shape, const Hull *hull, int corner) {
  scree_Vec3 sum = {0, 0, 0};
  for (int f = 0; f < hull->faces; ++f) {
    int n;
    scree_Vec3 out;
    const int *corners = hull->face(shape, f, &n, &out);
    for (int k = 0; k < n; ++k)
      if (corners[k] == corner) sum = scree_add(sum, out);
  }
  return sum;
}

static scree_Vec3 between(scree_Vec3 a, scree_Vec3 b, double share) {
  return scree_unit_or(scree_axpy(scree_scale(1.0 - share, a), share, b), a);
}

/* Quads between the normals of a face and of its neighbour, [row][k]: along an edge from a to b,
 * where both rows have the same normals, or at a corner (a = b), where the last row is the normal
 * of the corner. The first row goes from `left` to `right` as seen from outside with the second row
 * above it. */
static bool put_patch(scree_DrawnMesh *mesh, scree_Vec3 a, scree_Vec3 b, scree_Vec3 left,
                      scree_Vec3 right, const scree_Vec3 *corner, int pieces, double radius) {
  const int rows = corner ? pieces : 1, first = (int)mesh->points;
  if (!reserve(mesh, (size_t)(rows + 1) * (size_t)(pieces + 1), 2 * (size_t)rows * (size_t)pieces))
    return false;
  for (int row = 0; row <= rows; ++row)
    for (int k = 0; k <= pieces; ++k) {
      scree_Vec3 n = between(left, right, (double)k / pieces);
      if (corner) n = between(n, *corner, (double)row / rows);
      const scree_Vec3 x = scree_axpy(row ? b : a, radius, n);
      put_point(mesh, x.x, x.y, x.z, n.x, n.y, n.z);
    }
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < pieces; ++k) {
      const int p = first + row * (pieces + 1) + k, q = p + pieces + 1;
      put_triangle(mesh, p, p + 1, q);
      if (!corner || row + 1 < rows) put_triangle(mesh, q, p + 1, q + 1);
    }
  return true;
}

/* The edge from a to b, which face `out` has on its left and face `other` on its right, and its
 * parts of the two corners. */
static bool put_edge(scree_DrawnMesh *mesh, int segments, const scree_Shape *shape,
                     const Hull *hull, int a, int b, scree_Vec3 out, scree_Vec3 other) {
  const scree_Vec3 x = hull->vertices[a], y = hull->vertices[b];
  const scree_Vec3 at_a = scree_unit_or(corner_normal(shape, hull, a), out);
  const scree_Vec3 at_b = scree_unit_or(corner_normal(shape, hull, b), out);
  const double angle = acos(fmax(-1.0, fmin(1.0, scree_dot(out, other))));
  const int pieces = (int)fmax(1.0, fmin(6.0, ceil(angle * segments / (2.0 * pi))));
  const double r = shape->radius;
  return put_patch(mesh, x, y, out, other, NULL, pieces, r) &&
         put_patch(mesh, y, y, out, other, &at_b, pieces, r) &&
         put_patch(mesh, x, x, other, out, &at_a, pieces, r);
}

static bool put_rounded(scree_DrawnMesh *mesh, int segments, const scree_Shape *shape,
                        const Hull *hull) {
  for (int f = 0; f < hull->faces; ++f) {
    int n, m;
    scree_Vec3 out, other;
    const int *corner = hull->face(shape, f, &n, &out), first = (int)mesh->points;
    if (!reserve(mesh, (size_t)n, (size_t)n)) return false;
    for (int k = 0; k < n; ++k) {
      const scree_Vec3 v = scree_axpy(hull->vertices[corner[k]], shape->radius, out);
      put_point(mesh, v.x, v.y, v.z, out.x, out.y, out.z);
    }
    for (int k = 2; k < n; ++k) put_triangle(mesh, first, first + k - 1, first + k);
    for (int k = 0; k < n; ++k) {
      const int a = corner[k], b = corner[(k + 1) % n];
      for (int g = 0; g < hull->faces && a < b; ++g) {
        const int *others = hull->face(shape, g, &m, &other);
        for (int j = 0; j < m && g != f; ++j)
          if (others[j] == b && others[(j + 1) % m] == a &&
              !put_edge(mesh, segments, shape, hull, a, b, out, other))
            return false;
      }
    }
  }
  return true;
}

/* A wall of revolution from (r, z) to (s, t); normals look to its free side. */
static bool put_wall(scree_DrawnMesh *mesh, int segments, double r, double z, double s, double t) {
  if (!reserve(mesh, 2 * (size_t)(segments + 1), 2 * (size_t)segments)) return false;
  const int first = (int)mesh->points;
  for (int ring = 0; ring < 2; ++ring)
    for (int k = 0; k <= segments; ++k) {
      const double angle = 2.0 * pi * k / segments, c = cos(angle), n = sin(angle);
      const double rho = ring ? s : r;
      put_point(mesh, rho * c, rho * n, ring ? t : z, (z - t) * c, (z - t) * n, s - r);
    }
  put_grid(mesh, first, 2, segments);
  return true;
}

/* A convex polygon of the plane. */
static bool put_polygon(scree_DrawnMesh *mesh, const scree_Vec3 *vertices, int count) {
  if (!reserve(mesh, (size_t)count, (size_t)count)) return false;
  const int first = (int)mesh->points;
  for (int k = 0; k < count; ++k) put_point(mesh, vertices[k].x, vertices[k].y, 0.0, 0, 0, 1);
  for (int k = 2; k < count; ++k) put_triangle(mesh, first, first + k - 1, first + k);
  return true;
}

/* An ellipse, or a segment with round ends. */
static bool put_round(scree_DrawnMesh *mesh, int segments, double a, double b, double half) {
  if (!reserve(mesh, (size_t)segments + 2, (size_t)segments + 2)) return false;
  const int first = (int)mesh->points, quarter = segments / 4;
  for (int k = 0; k < 4 * quarter + (half > 0.0 ? 2 : 0); ++k) {
    /* With two halves apart, the points at the top and the bottom are there twice. */
    int at = k;
    double shift = half;
    if (half > 0.0 && k > quarter) at = k - 1, shift = -half;
    if (half > 0.0 && k > 3 * quarter + 1) at = k - 2, shift = half;
    const double angle = 2.0 * pi * at / (4 * quarter);
    put_point(mesh, a * cos(angle) + shift, b * sin(angle), 0.0, 0, 0, 1);
  }
  const int count = (int)mesh->points - first;
  for (int k = 2; k < count; ++k) put_triangle(mesh, first, first + k - 1, first + k);
  return true;
}

/* The solid round a circle, as a ring. */
static bool put_ring(scree_DrawnMesh *mesh, int segments, double inner, double outer) {
  if (!reserve(mesh, 2 * (size_t)(segments + 1), 2 * (size_t)segments)) return false;
  const int first = (int)mesh->points;
  for (int ring = 0; ring < 2; ++ring)
    for (int s = 0; s <= segments; ++s) {
      const double angle = 2.0 * pi * s / segments, r = ring ? outer : inner;
      put_point(mesh, r * cos(angle), r * sin(angle), 0.0, 0, 0, 1);
    }
  put_grid(mesh, first, 2, segments);
  return true;
}

/* The inside of a cylinder along z, with end caps when it is closed; normals look inward. */
static bool put_tube(scree_DrawnMesh *mesh, int segments, double radius, double half, bool closed) {
  if (!reserve(mesh, 4 * (size_t)(segments + 1) + 2, 4 * (size_t)segments)) return false;
  const int first = (int)mesh->points;
  for (int ring = 0; ring < 2; ++ring)
    for (int s = 0; s <= segments; ++s) {
      const double angle = 2.0 * pi * s / segments, c = cos(angle), n = sin(angle);
      put_point(mesh, radius * c, radius * n, ring ? half : -half, -c, -n, 0);
    }
  put_grid(mesh, first, 2, segments);
  for (int end = -1; closed && end <= 1; end += 2) {
    const int centre = put_point(mesh, 0, 0, end * half, 0, 0, -end);
    for (int s = 0; s <= segments; ++s) {
      const double angle = 2.0 * pi * s / segments;
      const int p =
          put_point(mesh, radius * cos(angle), radius * sin(angle), end * half, 0, 0, -end);
      if (s > 0) put_triangle(mesh, centre, end < 0 ? p - 1 : p, end < 0 ? p : p - 1);
    }
  }
  return true;
}

/* A cylinder (top and bottom alike) or a cone with its tip at the top, with flat ends. */
static bool put_turned(scree_DrawnMesh *mesh, int segments, double radius, double bottom,
                       double top, bool cone) {
  if (!reserve(mesh, 6 * (size_t)(segments + 1), 4 * (size_t)segments)) return false;
  const int first = (int)mesh->points;
  const double slope = cone ? radius / (top - bottom) : 0.0;
  for (int ring = 0; ring < 2; ++ring)
    for (int s = 0; s <= segments; ++s) {
      const double angle = 2.0 * pi * s / segments, c = cos(angle), n = sin(angle);
      const double r = ring && cone ? 0.0 : radius;
      put_point(mesh, r * c, r * n, ring ? top : bottom, c, n, slope);
    }
  for (int s = 0; s < segments; ++s) {
    const int p = first + s, q = p + segments + 1;
    put_triangle(mesh, p, p + 1, q + 1);
    if (!cone) put_triangle(mesh, p, q + 1, q);
  }
  for (int end = 0; end < (cone ? 1 : 2); ++end) {
    const double z = end ? top : bottom, out = end ? 1.0 : -1.0;
    const int centre = put_point(mesh, 0, 0, z, 0, 0, out);
    for (int s = 0; s <= segments; ++s) {
      const double angle = 2.0 * pi * s / segments;
      const int p = put_point(mesh, radius * cos(angle), radius * sin(angle), z, 0, 0, out);
      if (s > 0) put_triangle(mesh, centre, end ? p - 1 : p, end ? p : p - 1);
    }
  }
  return true;
}

/* Faces of a polyhedron, each with corners of its own for its normal. */
static bool put_polyhedron(scree_DrawnMesh *mesh, const scree_Shape *shape) {
  for (int f = 0; f < scree_shape_face_count(shape); ++f) {
    int n;
    scree_Vec3 out;
    const int *corner = scree_shape_face(shape, f, &n, &out), first = (int)mesh->points;
    if (!reserve(mesh, (size_t)n, (size_t)n)) return false;
    for (int k = 0; k < n; ++k) {
      const scree_Vec3 v = shape->vertices[corner[k]];
      put_point(mesh, v.x, v.y, v.z, out.x, out.y, out.z);
    }
    for (int k = 2; k < n; ++k) put_triangle(mesh, first, first + k - 1, first + k);
  }
  return true;
}

/* Triangles as they are, each with corners of its own for its normal. */
static bool put_triangles(scree_DrawnMesh *mesh, const scree_Shape *shape) {
  const scree_Vec3 *v = NULL;
  const int n = scree_shape_triangle_count(shape), *t = scree_shape_triangles(shape, &v);
  if (!reserve(mesh, 3 * (size_t)n, (size_t)n)) return false;
  for (int k = 0; k < n; ++k, t += 3) {
    const scree_Vec3 a = v[t[0]], b = v[t[1]], c = v[t[2]];
    const scree_Vec3 out = scree_cross(scree_sub(b, a), scree_sub(c, a));
    const int first = put_point(mesh, a.x, a.y, a.z, out.x, out.y, out.z);
    put_point(mesh, b.x, b.y, b.z, out.x, out.y, out.z);
    put_point(mesh, c.x, c.y, c.z, out.x, out.y, out.z);
    put_triangle(mesh, first, first + 1, first + 2);
  }
  return true;
}

/* Strips, so that a clipped or shaded plane has no triangle much larger than the scene. */
static bool put_plane(scree_DrawnMesh *mesh, double reach, scree_Vec3 centre) {
  enum { CELLS = 8 };
  if (!reserve(mesh, (CELLS + 1) * (CELLS + 1), 2 * CELLS * CELLS)) return false;
  const int first = (int)mesh->points;
  for (int j = 0; j <= CELLS; ++j)
    for (int i = 0; i <= CELLS; ++i)
      put_point(mesh, centre.x + reach * (2.0 * j / CELLS - 1.0),
                centre.y + reach * (2.0 * i / CELLS - 1.0), 0.0, 0, 0, 1);
  put_grid(mesh, first, CELLS + 1, CELLS);
  return true;
}

static bool put_shape(const scree_Shape *shape, int segments, double reach, scree_Vec3 centre,
                      scree_DrawnMesh *mesh);

/* Each part, then moved to its place. */
static bool put_clump(const scree_Shape *shape, int segments, double reach, scree_Vec3 centre,
                      scree_DrawnMesh *mesh) {
  for (int k = 0; k < scree_shape_part_count(shape); ++k) {
    const scree_ClumpPart *part = scree_shape_part(shape, k);
    const size_t first = mesh->points;
    if (!put_shape(&part->shape, segments, reach, centre, mesh)) return false;
    for (size_t p = first; p < mesh->points; ++p) {
      double *x = mesh->point + 3 * p, *n = mesh->normal + 3 * p;
      const scree_Vec3 at = scree_pose_apply(&part->pose, scree_vec3(x[0], x[1], x[2]));
      const scree_Vec3 out =
          scree_quat_rotate(part->pose.orientation, scree_vec3(n[0], n[1], n[2]));
      x[0] = at.x, x[1] = at.y, x[2] = at.z;
      n[0] = out.x, n[1] = out.y, n[2] = out.z;
    }
  }
  return true;
}

static bool put_shape(const scree_Shape *shape, int segments, double reach, scree_Vec3 centre,
                      scree_DrawnMesh *mesh) {
  bool done = true;
  const double thin = fmax(shape->radius, 0.001 * reach);
  const bool endless = !isfinite(shape->half_length) || shape->half_length <= 0.0;
  switch (shape->kind) {
  case SCREE_SHAPE_DISK: done = put_round(mesh, segments, shape->radius, shape->radius, 0.0); break;
  case SCREE_SHAPE_ELLIPSE:
    done = put_round(mesh, segments, shape->semi.x, shape->semi.y, 0.0);
    break;
  case SCREE_SHAPE_SEGMENT: done = put_round(mesh, segments, thin, thin, shape->half_length); break;
  case SCREE_SHAPE_POLYGON: done = put_polygon(mesh, shape->vertices, shape->vertex_count); break;
  case SCREE_SHAPE_HALF_PLANE: {
    const double left = centre.x - reach, right = centre.x + reach;
    const scree_Vec3 corners[4] = {
        {left, -reach, 0}, {right, -reach, 0}, {right, 0, 0}, {left, 0, 0}};
    done = put_polygon(mesh, corners, 4);
    break;
  }
  case SCREE_SHAPE_DRUM_2D:
    done = put_ring(mesh, 2 * segments, shape->radius, 1.06 * shape->radius);
    break;
  case SCREE_SHAPE_SPHERE:
    done = put_ball(mesh, segments, shape->radius, shape->radius, shape->radius, 0.0);
    break;
  case SCREE_SHAPE_ELLIPSOID:
    done = put_ball(mesh, segments, shape->semi.x, shape->semi.y, shape->semi.z, 0.0);
    break;
  case SCREE_SHAPE_CAPSULE:
    done =
        put_ball(mesh, segments, shape->radius, shape->radius, shape->radius, shape->half_length);
    break;
  case SCREE_SHAPE_BOX:
    if (shape->radius > 0) {
      scree_Vec3 corner[8];
      for (int k = 0; k < 8; ++k)
        corner[k] = scree_vec3((k & 1 ? 1 : -1) * shape->semi.x, (k & 2 ? 1 : -1) * shape->semi.y,
                               (k & 4 ? 1 : -1) * shape->semi.z);
      done = put_rounded(mesh, 2 * segments, shape, &(Hull){6, corner, face_of_box});
    } else {
      done = put_box(mesh, shape->semi);
    }
    break;
  case SCREE_SHAPE_SUPERELLIPSOID: done = put_smooth(mesh, 2 * segments, shape); break;
  case SCREE_SHAPE_CYLINDER:
    done = put_turned(mesh, 2 * segments, shape->radius, -shape->half_length, shape->half_length,
                      false);
    break;
  case SCREE_SHAPE_CONE:
    done = put_turned(mesh, 2 * segments, shape->radius, -0.5 * shape->half_length,
                      1.5 * shape->half_length, true);
    break;
  case SCREE_SHAPE_ELEMENTS: done = put_triangles(mesh, shape); break;
  case SCREE_SHAPE_POLYHEDRON:
    done =
        shape->radius > 0
            ? put_rounded(mesh, 2 * segments, shape,
                          &(Hull){scree_shape_face_count(shape), shape->vertices, scree_shape_face})
            : put_polyhedron(mesh, shape);
    break;
  case SCREE_SHAPE_PIPE:
    done = put_wall(mesh, 2 * segments, shape->radius, -shape->half_length, shape->radius,
                    shape->half_length);
    mesh->sheet = true;
    break;
  case SCREE_SHAPE_FUNNEL:
    done = put_wall(mesh, 2 * segments, shape->radius, -shape->half_length, shape->semi.x,
                    shape->half_length);
    mesh->sheet = true;
    break;
  case SCREE_SHAPE_RING:
    done = put_wall(mesh, 2 * segments, shape->semi.x, 0, shape->radius, 0);
    mesh->sheet = true;
    break;
  case SCREE_SHAPE_HEIGHT_FIELD:
  case SCREE_SHAPE_RECTANGLE:
  case SCREE_SHAPE_MESH: done = put_triangles(mesh, shape), mesh->sheet = true; break;
  case SCREE_SHAPE_HALF_SPACE: done = put_plane(mesh, reach, centre), mesh->sheet = true; break;
  case SCREE_SHAPE_DRUM:
    done = put_tube(mesh, 2 * segments, shape->radius, endless ? 0.5 * reach : shape->half_length,
                    !endless);
    mesh->sheet = true;
    break;
  case SCREE_SHAPE_CLUMP_2D:
  case SCREE_SHAPE_CLUMP: done = put_clump(shape, segments, reach, centre, mesh); break;
  case SCREE_SHAPE_KINDS: break;
  }
  return done;
}

scree_Status scree_mesh_shape(const scree_Shape *shape, int segments, double reach,
                              scree_Vec3 centre, const scree_Log *log, scree_DrawnMesh *mesh) {
  mesh->points = mesh->triangles = 0;
  mesh->sheet = mesh->stressed = false;
  return put_shape(shape, segments, reach, centre, mesh)
             ? SCREE_OK
             : scree_fail_memory(log, "the triangles of a shape");
}

scree_Status scree_mesh_beam(scree_Vec3 from, scree_Vec3 to, double radius, int segments,
                             const scree_Log *log, scree_DrawnMesh *mesh) {
  mesh->points = mesh->triangles = 0;
  mesh->sheet = mesh->stressed = false;
  if (!reserve(mesh, 2 * (size_t)(segments + 1), 2 * (size_t)segments))
    return scree_fail_memory(log, "the triangles of a force chain");
  const scree_Vec3 axis = {to.x - from.x, to.y - from.y, to.z - from.z};
  const double length = sqrt(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z);
  if (!(length > 0.0)) return SCREE_OK;
  const scree_Vec3 d = {axis.x / length, axis.y / length, axis.z / length};
  /* Two directions across: one in the plane of the axes on which d is smallest. */
  scree_Vec3 u = fabs(d.z) < 0.9 ? (scree_Vec3){-d.y, d.x, 0} : (scree_Vec3){0, -d.z, d.y};
  const double size = sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
  u = (scree_Vec3){u.x / size, u.y / size, u.z / size};
  const scree_Vec3 v = {d.y * u.z - d.z * u.y, d.z * u.x - d.x * u.z, d.x * u.y - d.y * u.x};
  for (int ring = 0; ring < 2; ++ring)
    for (int s = 0; s <= segments; ++s) {
      const double c = cos(2.0 * pi * s / segments), n = sin(2.0 * pi * s / segments);
      const scree_Vec3 out = {c * u.x + n * v.x, c * u.y + n * v.y, c * u.z + n * v.z};
      const scree_Vec3 at = ring ? from : to;
      put_point(mesh, at.x + radius * out.x, at.y + radius * out.y, at.z + radius * out.z, out.x,
                out.y, out.z);
    }
  put_grid(mesh, 0, 2, segments);
  return SCREE_OK;
}

void scree_mesh_fini(scree_DrawnMesh *mesh) {
  scree_free(mesh->point);
  scree_free(mesh->normal);
  scree_free(mesh->triangle);
  scree_free(mesh->value);
  *mesh = (scree_DrawnMesh){0};
}

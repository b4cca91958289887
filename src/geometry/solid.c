/* Solids that are not convex, cut into convex parts.
 *
 * A piece is a closed chain of triangles: triangles of the solid's surface, cut by planes, and caps
 * in these planes. A cap is a fan of triangles from one of its points; where the cut is not convex
 * the fan overlaps itself with opposite signs, so that integrals over the piece stay exact. Points
 * at which later planes cut a cap count only if they are inside the solid, by the solid angle under
 * which they see its surface (4 pi inside, 0 outside).
 *
 * A piece whose hull exceeds it too much is cut along a plane of one of its own faces: the ones
 * deepest inside the hull are tried, with planes across the axes through the deepest point and
 * through the centroid. The one with the least volume of the two hulls wins; a bias towards equal
 * halves decides where no single cut helps, as for a ring. Pieces with the largest excess are cut
 * first.
 * Each part is the hull of a piece; volume, centroid and moments are those of the solid. */
#include "core/log.h"
#include "core/memory.h"
#include "geometry/principal.h"
#include "geometry/shape_class.h"
#include "geometry/trimesh.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

/* Points closer to a plane than this part of the solid's extent lie in it; hulls flatter than this
 * part of its volume are dropped; how many faces are tried as cuts. */
static const double SNAP = 1e-9, FLAT = 1e-12;
/* Weights, against the volume of the hulls, of unequal halves and of planes that are no face; least
 * share of a half. */
static const double UNEQUAL = 0.05, NO_FACE = 0.02, LEAST_SHARE = 0.01;
enum { TRIED = 24 };

typedef struct Triangle {
  scree_Vec3 x[3];
  bool cap;
  bool inner[3]; /* made by cutting a cap: may be outside the solid */
} Triangle;

typedef struct Piece {
  int count;
  size_t capacity;
  Triangle *triangle;
  double volume, hull; /* of the piece and of its hull */
  scree_Vec3 centroid;
  double depth; /* how far its surface is inside of the hull */
} Piece;

typedef struct Solid {
  const scree_Vec3 *vertex;
  const int *triangle; /* [count x 3] outward */
  int count;
  bool flipped; /* triangles are seen clockwise from outside */
  double extent, volume;
} Solid;

typedef struct Plane {
  scree_Vec3 n;
  double c; /* n.x = c */
} Plane;

static bool put(Piece *piece, const Triangle *t) {
  if (!scree_grow((void **)&piece->triangle, &piece->capacity, (size_t)piece->count + 1,
                  sizeof *piece->triangle))
    return false;
  piece->triangle[piece->count++] = *t;
  return true;
}

/* Solid angle of the surface seen from x, over 4 pi (van Oosterom and Strackee). */
static double winding(const Solid *s, scree_Vec3 x) {
  double sum = 0;
  for (int t = 0; t < s->count; ++t) {
    const int *v = s->triangle + 3 * (size_t)t;
    const scree_Vec3 a = scree_sub(s->vertex[v[0]], x), b = scree_sub(s->vertex[v[1]], x);
    const scree_Vec3 c = scree_sub(s->vertex[v[2]], x);
    const double la = scree_norm(a), lb = scree_norm(b), lc = scree_norm(c);
    const double below =
        la * lb * lc + scree_dot(a, b) * lc + scree_dot(b, c) * la + scree_dot(c, a) * lb;
    sum += 2 * atan2(scree_dot(a, scree_cross(b, c)), below);
  }
  return (s->flipped ? -sum : sum) / (4 * PI);
}

/* ---- cutting ---- */

typedef struct Corner {
  scree_Vec3 x;
  double d; /* height over the plane; 0 if in it */
  bool inner;
} Corner;

/* Keep of `from` what is below the plane (above: with the plane turned), and close it. */
static bool cut(const Piece *from, Plane plane, double snap, Piece *to) {
  scree_Vec3 apex = {0, 0, 0};
  bool has_apex = false, apex_inner = false;
  for (int k = 0; k < from->count; ++k) {
    const Triangle *t = &from->triangle[k];
    Corner in[3], out[6];
    int n = 0;
    bool in_plane = true;
    for (int m = 0; m < 3; ++m) {
      double d = scree_dot(plane.n, t->x[m]) - plane.c;
      if (fabs(d) <= snap) d = 0;
      in_plane = in_plane && d == 0;
      in[m] = (Corner){t->x[m], d, t->inner[m]};
    }
    const scree_Vec3 normal = scree_cross(scree_sub(t->x[1], t->x[0]), scree_sub(t->x[2], t->x[0]));
    /* a face in the plane bounds the side that it looks away from */
    if (in_plane && scree_dot(normal, plane.n) < 0) continue;
    for (int m = 0; m < 3; ++m) {
      const Corner *a = &in[m], *b = &in[(m + 1) % 3];
      if (a->d <= 0) out[n++] = *a;
      if ((a->d < 0 && b->d > 0) || (a->d > 0 && b->d < 0)) {
        const double u = a->d / (a->d - b->d);
        out[n++] = (Corner){scree_add(a->x, scree_scale(u, scree_sub(b->x, a->x))), 0, t->cap};
      }
    }
    if (n < 3) continue;
    for (int m = 2; m < n; ++m) {
      const Triangle piece = {{out[0].x, out[m - 1].x, out[m].x},
                              t->cap,
                              {out[0].inner, out[m - 1].inner, out[m].inner}};
      if (!put(to, &piece)) return false;
    }
    for (int m = 0; m < n; ++m) {
      const Corner *a = &out[m], *b = &out[(m + 1) % n];
      if (a->d != 0 || b->d != 0) continue;
      if (!has_apex) apex = a->x, apex_inner = a->inner, has_apex = true;
      const Triangle cap = {{apex, b->x, a->x}, true, {apex_inner, b->inner, a->inner}};
      if (!put(to, &cap)) return false;
    }
  }
  return true;
}

/* ---- hulls ---- */

typedef struct Hull {
  scree_Vec3 *vertices;
  scree_Polyhedron *p;
  double volume;
} Hull;

static void hull_fini(Hull *h) {
  scree_polyhedron_destroy(h->p);
  scree_free(h->vertices);
  *h = (Hull){0};
}

/* The hull of a piece; *flat when it has no volume. */
static scree_Status make_hull(const Solid *s, const Piece *piece, Hull *h, bool *flat,
                              const scree_Log *log) {
  *h = (Hull){0};
  *flat = true;
  scree_Vec3 *points = SCREE_ALLOC(scree_Vec3, 3 * (size_t)piece->count);
  h->vertices = SCREE_ALLOC(scree_Vec3, 3 * (size_t)piece->count);
  if (!points || !h->vertices) {
    scree_free(points);
    hull_fini(h);
    return scree_fail_memory(log, "the hull of a part");
  }
  int n = 0;
  for (int k = 0; k < piece->count; ++k)
    for (int m = 0; m < 3; ++m) {
      const Triangle *t = &piece->triangle[k];
      if (t->cap && (!t->inner[m] || winding(s, t->x[m]) < 0.75)) continue;
      points[n++] = t->x[m];
    }
  if (n >= 4 && !scree_hull_create(points, n, h->vertices, &h->p, NULL)) {
    scree_Moments sum = {0};
    for (int f = 0; f < h->p->face_count; ++f)
      for (int k = h->p->first[f] + 2; k < h->p->first[f + 1]; ++k)
        scree_moments_add_tetrahedron(
            &sum, h->vertices[0], h->vertices[h->p->corner[h->p->first[f]]],
            h->vertices[h->p->corner[k - 1]], h->vertices[h->p->corner[k]]);
    h->volume = sum.volume;
    *flat = !(h->volume > FLAT * s->volume);
  }
  scree_free(points);
  return SCREE_OK;
}

static double depth_in(const Hull *h, scree_Vec3 x) {
  double least = INFINITY;
  for (int f = 0; f < h->p->face_count; ++f)
    least = fmin(
        least, scree_dot(h->p->normal[f], scree_sub(h->vertices[h->p->corner[h->p->first[f]]], x)));
  return least;
}

/* The depth of a triangle: of its corners, the middles of its sides and its centroid. */
static double triangle_depth(const Hull *h, const Triangle *t, scree_Vec3 *at) {
  double most = -1;
  for (int k = 0; k < 7; ++k) {
    const double a = k < 3 ? k == 0 : k < 6 ? (k != 3) * 0.5 : 1.0 / 3;
    const double b = k < 3 ? k == 1 : k < 6 ? (k != 4) * 0.5 : 1.0 / 3, c = 1 - a - b;
    const scree_Vec3 x = scree_add(scree_add(scree_scale(a, t->x[0]), scree_scale(b, t->x[1])),
                                   scree_scale(c, t->x[2]));
    const double d = depth_in(h, x);
    if (d > most) most = d, *at = x;
  }
  return most;
}

/* Volume, hull and depth of a piece. */
static scree_Status measure(const Solid *s, Piece *piece, const scree_Log *log) {
  Hull h;
  bool flat;
  scree_Moments sum = {0};
  for (int k = 0; k < piece->count; ++k)
    scree_moments_add_tetrahedron(&sum, piece->triangle[0].x[0], piece->triangle[k].x[0],
                                  piece->triangle[k].x[1], piece->triangle[k].x[2]);
  const scree_Status status = make_hull(s, piece, &h, &flat, log);
  if (status) return status;
  piece->volume = sum.volume;
  piece->centroid = scree_scale(sum.volume > 0 ? 1 / sum.volume : 0, sum.first);
  piece->hull = flat ? 0 : h.volume;
  piece->depth = 0;
  scree_Vec3 at;
  for (int k = 0; k < piece->count && !flat; ++k)
    if (!piece->triangle[k].cap)
      piece->depth = fmax(piece->depth, triangle_depth(&h, &piece->triangle[k], &at));
  hull_fini(&h);
  return SCREE_OK;
}

/* ---- the best cut ---- */

typedef struct Cuts {
  int count, faces; /* faces come first */
  Plane plane[TRIED + 6];
  double depth[TRIED];
} Cuts;

static void add_face(Cuts *cuts, const Triangle *t, double depth) {
  const scree_Vec3 n = scree_unit_or(
      scree_cross(scree_sub(t->x[1], t->x[0]), scree_sub(t->x[2], t->x[0])), scree_vec3(0, 0, 0));
  const Plane plane = {n, scree_dot(n, t->x[0])};
  if (!(scree_norm2(n) > 0)) return;
  int slot = cuts->count;
  for (int k = 0; k < cuts->count; ++k)
    if (fabs(scree_dot(n, cuts->plane[k].n)) > 1 - 1e-9 &&
        fabs(fabs(plane.c) - fabs(cuts->plane[k].c)) <= 1e-9 * (fabs(plane.c) + 1e-300))
      return;
  if (slot == TRIED) {
    slot = 0;
    for (int k = 1; k < TRIED; ++k)
      if (cuts->depth[k] < cuts->depth[slot]) slot = k;
    if (!(depth > cuts->depth[slot])) return;
  } else {
    cuts->count++;
  }
  cuts->plane[slot] = plane;
  cuts->depth[slot] = depth;
}

static scree_Status find_cuts(const Solid *s, const Piece *piece, Cuts *cuts,
                              const scree_Log *log) {
  Hull h;
  bool flat;
  cuts->count = 0;
  const scree_Status status = make_hull(s, piece, &h, &flat, log);
  if (status || flat) {
    hull_fini(&h);
    return status;
  }
  double most = -1;
  scree_Vec3 deepest = {0, 0, 0}, at;
  for (int k = 0; k < piece->count; ++k) {
    if (piece->triangle[k].cap) continue;
    const double depth = triangle_depth(&h, &piece->triangle[k], &at);
    if (depth > most) most = depth, deepest = at;
    if (depth > SNAP * s->extent) add_face(cuts, &piece->triangle[k], depth);
  }
  cuts->faces = cuts->count;
  for (int k = 0; k < 3; ++k) {
    const scree_Vec3 n = scree_vec3(k == 0, k == 1, k == 2);
    cuts->plane[cuts->count++] = (Plane){n, scree_dot(n, deepest)};
    cuts->plane[cuts->count++] = (Plane){n, scree_dot(n, piece->centroid)};
  }
  hull_fini(&h);
  return SCREE_OK;
}

static Plane turned(Plane p) {
  return (Plane){scree_neg(p.n), -p.c};
}

/* Cut a piece in two along the best plane; *done is false if no plane cuts it. */
static scree_Status split(const Solid *s, const Piece *piece, Piece best[2], bool *done,
                          const scree_Log *log) {
  Cuts cuts;
  double least = INFINITY;
  *done = false;
  scree_Status status = find_cuts(s, piece, &cuts, log);
  for (int k = 0; k < cuts.count && !status; ++k) {
    Piece half[2] = {{0}, {0}};
    bool good = cut(piece, cuts.plane[k], SNAP * s->extent, &half[0]) &&
                cut(piece, turned(cuts.plane[k]), SNAP * s->extent, &half[1]);
    if (!good) status = scree_fail_memory(log, "the parts of a solid");
    for (int side = 0; side < 2 && good && !status; ++side) {
      good = half[side].count > 0;
      if (good) status = measure(s, &half[side], log);
      good = good && half[side].hull > 0 && half[side].volume > LEAST_SHARE * piece->volume;
    }
    const double score = (half[0].hull + half[1].hull) / piece->hull +
                         UNEQUAL * fabs(half[0].volume - half[1].volume) / piece->volume +
                         (k < cuts.faces ? 0 : NO_FACE);
    if (good && !status && score < least) {
      least = score;
      for (int side = 0; side < 2; ++side) {
        scree_free(best[side].triangle);
        best[side] = half[side];
      }
      *done = true;
    } else {
      for (int side = 0; side < 2; ++side) scree_free(half[side].triangle);
    }
  }
  return status;
}

/* ---- all ---- */

static scree_Status check_closed(const scree_Vec3 *v, int vertex_count, const int *triangles,
                                 int count, const scree_Log *log) {
  if (count < 4 || vertex_count < 4)
    return scree_fail(log, SCREE_BAD_INPUT, "solid: found %d triangles, expected at least 4",
                      count);
  scree_TriangleMesh *mesh;
  scree_Status status = scree_trimesh_create(v, vertex_count, triangles, count, &mesh, log);
  for (int e = 0; !status && e < mesh->edge_count; ++e)
    if (mesh->edge[e].triangle[1] < 0)
      status =
          scree_fail(log, SCREE_BAD_INPUT,
                     "solid: the side from vertex %d to %d has one triangle, expected two: the "
                     "surface must be closed",
                     mesh->edge[e].vertex[0], mesh->edge[e].vertex[1]);
  scree_trimesh_destroy(mesh);
  return status;
}

static scree_Status cut_all(const Solid *s, Piece *pieces, int *count, double concavity, int most,
                            const scree_Log *log) {
  scree_Status status = measure(s, &pieces[0], log);
  *count = 1;
  while (*count < most && !status) {
    int pick = -1;
    for (int k = 0; k < *count; ++k)
      if (pieces[k].depth > concavity * s->extent &&
          pieces[k].hull - pieces[k].volume > 1e-9 * s->volume &&
          (pick < 0 || pieces[k].hull - pieces[k].volume > pieces[pick].hull - pieces[pick].volume))
        pick = k;
    if (pick < 0) break;
    Piece half[2] = {{0}, {0}};
    bool done;
    status = split(s, &pieces[pick], half, &done, log);
    if (!done) {
      pieces[pick].depth = 0; /* as good as it gets */
      continue;
    }
    scree_free(pieces[pick].triangle);
    pieces[pick] = half[0];
    pieces[(*count)++] = half[1];
  }
  return status;
}

scree_Status scree_shape_init_solid(scree_Shape *shape, const scree_Vec3 *vertices,
                                    int vertex_count, const int *triangles, int triangle_count,
                                    double concavity, int most, const scree_Log *log) {
  memset(shape, 0, sizeof *shape);
  scree_Status status = check_closed(vertices, vertex_count, triangles, triangle_count, log);
  if (status) return status;
  if (!(concavity > 0) || most < 1)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "solid: found concavity %g and %d parts, expected positive numbers",
                      concavity, most);
  Solid s = {.vertex = vertices, .triangle = triangles, .count = triangle_count};
  scree_Moments sum = {0};
  for (int t = 0; t < triangle_count; ++t) {
    const int *c = triangles + 3 * (size_t)t;
    scree_moments_add_tetrahedron(&sum, vertices[0], vertices[c[0]], vertices[c[1]],
                                  vertices[c[2]]);
    for (int k = 0; k < 3; ++k)
      s.extent = fmax(s.extent, scree_norm(scree_sub(vertices[c[k]], vertices[triangles[0]])));
  }
  s.flipped = sum.volume < 0;
  s.volume = fabs(sum.volume);
  if (!(s.volume > 1e-12 * s.extent * s.extent * s.extent))
    return scree_fail(log, SCREE_BAD_INPUT, "solid: its volume is %g, expected > 0", s.volume);
  if (s.flipped) {
    sum.volume = -sum.volume;
    sum.first = scree_neg(sum.first);
    for (int i = 0; i < 9; ++i) sum.second[i / 3][i % 3] = -sum.second[i / 3][i % 3];
  }
  Piece *pieces = SCREE_ALLOC(Piece, most);
  scree_ClumpPart *parts = SCREE_ALLOC(scree_ClumpPart, most);
  int count = 0, made = 0;
  if (!pieces || !parts) status = scree_fail_memory(log, "the parts of a solid");
  for (int t = 0; t < triangle_count && !status; ++t) {
    const int *c = triangles + 3 * (size_t)t;
    const Triangle one = {
        {vertices[c[0]], vertices[c[s.flipped ? 2 : 1]], vertices[c[s.flipped ? 1 : 2]]},
        false,
        {false, false, false}};
    if (!put(&pieces[0], &one)) status = scree_fail_memory(log, "the parts of a solid");
    count = 1;
  }
  if (!status) status = cut_all(&s, pieces, &count, concavity, most, log);
  for (int k = 0; k < count && !status; ++k) {
    Hull h;
    bool flat;
    status = make_hull(&s, &pieces[k], &h, &flat, log);
    if (!status && !flat) {
      status = scree_shape_init_polyhedron(&parts[made].shape, h.vertices, h.p->vertex_count, log);
      if (!status) parts[made].pose = scree_shape_frame(&parts[made].shape), ++made;
    }
    hull_fini(&h);
  }
  if (!status) status = scree_shape_init_clump_of(shape, parts, made, &sum, log);
  for (int k = 0; k < made; ++k) scree_shape_fini(&parts[k].shape);
  for (int k = 0; k < count; ++k) scree_free(pieces[k].triangle);
  scree_free(pieces);
  scree_free(parts);
  return status;
}

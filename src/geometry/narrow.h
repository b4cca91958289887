/* Narrow phase: the contact points of a pair of shapes.
 *
 * scree_collide finds every contact point of two posed shapes whose gap is at most `margin`. A
 * point has a signed gap (negative: penetration), a unit normal that points from the second body to
 * the first, the middle of the two surface points, and a feature id that stays the same while the
 * same features touch, so that impulses and memory can be carried from step to step.
 *
 * The pair table [kind][kind] is filled in one place (narrow.c); a pair without an entry of its own
 * goes to the generic convex routine (gjk.h). The results are a pure function of the arguments:
 * no state is kept between calls. Exchanging the bodies flips the normals exactly, and scaling
 * all lengths by a power of two scales gaps and positions exactly: no length is compared with
 * a constant. */
#ifndef SCREE_GEOMETRY_NARROW_H
#define SCREE_GEOMETRY_NARROW_H

#include "math/vec3.h"
#include "scree/shape.h"

#include <stdint.h>

/* Two box faces clip to at most 8 points; a box in the corner of a closed drum has at most 16. When
 * there are more (polygons with very many vertices), the deepest are kept. */
enum { SCREE_MANIFOLD_MAX = 64 };

typedef struct scree_ManifoldPoint {
  scree_Vec3 position; /* middle of the two surface points, world frame */
  scree_Vec3 normal;   /* unit, from the second body to the first */
  double gap;          /* along the normal; negative when overlapping */
  uint32_t feature;    /* unique within the pair (see SCREE_FEATURE_...) */
  uint32_t part[2];    /* of the two shapes, where they consist of parts (composite.h); else 0 */
} scree_ManifoldPoint;

typedef struct scree_Manifold {
  int count;
  scree_ManifoldPoint points[SCREE_MANIFOLD_MAX]; /* [count] */
} scree_Manifold;

/* Returns the number of points found (also in manifold->count). Shapes of different dimensions, and
 * two unbounded shapes, do not touch. */
int scree_collide(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                  const scree_Pose *pb, double margin, scree_Manifold *manifold);

/* The contact of two balls, ellipses or ellipsoids whose normal is close to `near`: n is the normal
 * to 1e-6, on[] the points on the two surfaces. False if a few steps from `near` do not find it. */
bool scree_collide_smooth_near(const scree_Shape *a, const scree_Pose *pa, const scree_Shape *b,
                               const scree_Pose *pb, scree_Vec3 near, scree_Vec3 *n,
                               scree_Vec3 on[2]);

/* ---- fast paths, the same bits as scree_collide ---- */

/* Two balls of radii ra, rb at pa, pb (disks: dimension 2). Returns whether the gap is within the
 * margin; coincident centres give an upward normal. */
static inline bool scree_collide_balls(scree_Vec3 pa, double ra, scree_Vec3 pb, double rb,
                                       int dimension, double margin, scree_ManifoldPoint *point) {
  scree_Vec3 d = scree_sub(pa, pb);
  double reach = ra + rb + margin;
  double distance2 = scree_norm2(d);
  if (!(distance2 <= reach * reach) || reach < 0) return false;
  double distance = sqrt(distance2);
  double sign = ra < rb ? -1 : 1; /* so that exchanging the bodies flips even this normal */
  scree_Vec3 n = distance > 0     ? scree_scale(1 / distance, d)
                 : dimension == 2 ? scree_vec3(0, sign, 0)
                                  : scree_vec3(0, 0, sign);
  scree_Vec3 qa = scree_axpy(pa, -ra, n), qb = scree_axpy(pb, rb, n);
  point->normal = n;
  point->gap = distance - (ra + rb);
  point->position = scree_scale(0.5, scree_add(qa, qb));
  point->feature = 0;
  point->part[0] = point->part[1] = 0;
  return true;
}

/* A ball of radius r at p on the half-space through `origin` with outward unit normal n. */
static inline bool scree_collide_ball_plane(scree_Vec3 p, double r, scree_Vec3 origin, scree_Vec3 n,
                                            double margin, scree_ManifoldPoint *point) {
  double height = scree_dot(n, scree_sub(p, origin));
  double gap = height - r;
  if (!(gap <= margin)) return false;
  point->normal = n;
  point->gap = gap;
  point->position = scree_axpy(p, -0.5 * (r + height), n);
  point->feature = 0;
  point->part[0] = point->part[1] = 0;
  return true;
}

/* ---- feature ids ----
 *
 * A contact is formed by a vertex of one body on a patch of the other, by two crossing edges, or
 * by one pair of closest points. The two high bits are the kind, so that exchanging the bodies
 * exchanges the roles. The same corner keeps its id whichever face was clipped against which. */
enum {
  SCREE_FEATURE_VERTEX_A =
      0, /* low 24 bits: vertex of the first body; 24..29: patch of the other */
  SCREE_FEATURE_VERTEX_B = 1, /* the same with the bodies exchanged */
  SCREE_FEATURE_EDGES = 2,    /* low 15 bits: edge of the second, next 15: edge of the first */
  SCREE_FEATURE_CLOSEST = 3   /* the closest points; bits as for edges: corners they belong to */
};

static inline uint32_t scree_feature_vertex(int body, int vertex, int patch) {
  return ((uint32_t)body << 30) | ((uint32_t)patch << 24) | (uint32_t)vertex;
}

static inline uint32_t scree_feature_edges(int edge_a, int edge_b) {
  return ((uint32_t)SCREE_FEATURE_EDGES << 30) | ((uint32_t)edge_a << 15) | (uint32_t)edge_b;
}

static inline uint32_t scree_feature_closest(void) {
  return (uint32_t)SCREE_FEATURE_CLOSEST << 30;
}

static inline uint32_t scree_feature_closest_of(int corner_a, int corner_b) {
  return scree_feature_closest() | ((uint32_t)corner_a & 0x7fffu) << 15 |
         ((uint32_t)corner_b & 0x7fffu);
}

/* The feature id when the bodies are exchanged. */
static inline uint32_t scree_feature_exchange(uint32_t feature) {
  const uint32_t type = feature >> 30;
  if (type <= SCREE_FEATURE_VERTEX_B) return feature ^ (1u << 30);
  return (type << 30) | ((feature & 0x7fffu) << 15) | ((feature >> 15) & 0x7fffu);
}

/* ---- for the pair functions ---- */

/* One entry of the pair table. `a` and `b` come in the order of the table (kind of a <= kind of b).
 */
typedef void (*scree_CollideFunction)(const scree_Shape *a, const scree_Pose *pa,
                                      const scree_Shape *b, const scree_Pose *pb, double margin,
                                      scree_Manifold *manifold);

/* Append a point, or replace the one with the largest gap when full. */
void scree_manifold_add(scree_Manifold *manifold, scree_Vec3 position, scree_Vec3 normal,
                        double gap, uint32_t feature);

void scree_collide_round_round(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                               const scree_Pose *, double, scree_Manifold *);
void scree_collide_round_polygon(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                                 const scree_Pose *, double, scree_Manifold *);
void scree_collide_round_segment(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                                 const scree_Pose *, double, scree_Manifold *);
void scree_collide_sphere_box(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                              const scree_Pose *, double, scree_Manifold *);
void scree_collide_capsules(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                            const scree_Pose *, double, scree_Manifold *);
void scree_collide_half_space(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                              const scree_Pose *, double, scree_Manifold *);
void scree_collide_drum(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                        const scree_Pose *, double, scree_Manifold *);
void scree_collide_revolved(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                            const scree_Pose *, double, scree_Manifold *);
void scree_collide_smooth(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                          const scree_Pose *, double, scree_Manifold *);
void scree_collide_smooth_flat2(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                                const scree_Pose *, double, scree_Manifold *);
void scree_collide_smooth_flat3(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                                const scree_Pose *, double, scree_Manifold *);
void scree_collide_flat2(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                         const scree_Pose *, double, scree_Manifold *);
void scree_collide_flat3(const scree_Shape *, const scree_Pose *, const scree_Shape *,
                         const scree_Pose *, double, scree_Manifold *);

/* Obstacles of revolution that bodies are inside of. */
static inline bool scree_shape_is_drum(const scree_Shape *shape) {
  return shape->kind == SCREE_SHAPE_DRUM || shape->kind == SCREE_SHAPE_DRUM_2D ||
         shape->kind == SCREE_SHAPE_PIPE || shape->kind == SCREE_SHAPE_FUNNEL;
}

#endif

/* The columns of a page's blocks: constant data (shapes, materials), curves, bodies of some frames
 * (contacts are in report_contacts.c). The level of the plan decides the type of every column. */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "view/mesh.h"
#include "view/report.h"

#include <math.h>
#include <string.h>

enum { POINTS_MAX = 4000 }; /* of a curve */

/* ---- what does not change -------------------------------------------------------------------- */

/* Whether the page draws a shape from its numbers; all others are given by triangles. */
static bool page_draws(const scree_Shape *shape) {
  switch (shape->kind) {
  case SCREE_SHAPE_DISK:
  case SCREE_SHAPE_ELLIPSE:
  case SCREE_SHAPE_POLYGON:
  case SCREE_SHAPE_SEGMENT:
  case SCREE_SHAPE_HALF_PLANE:
  case SCREE_SHAPE_DRUM_2D:
  case SCREE_SHAPE_SPHERE:
  case SCREE_SHAPE_ELLIPSOID:
  case SCREE_SHAPE_CAPSULE:
  case SCREE_SHAPE_HALF_SPACE:
  case SCREE_SHAPE_DRUM: return true;
  case SCREE_SHAPE_BOX: return !(shape->radius > 0);
  default: return false;
  }
}

enum { PAGE_SEGMENTS = 24 }; /* corners of a circle of a shape that is given by triangles */

/* All vertices and triangles of the bodies, growing. Bodies of the same triangles share them:
 * `known` is a table of the bodies that were the first to have theirs, by a hash of the vertices.
 */
typedef struct Triangles {
  scree_DrawnMesh mesh; /* of one body */
  double *points, *triangles;
  size_t point_capacity, triangle_capacity, points_used, triangles_used;
  size_t slots;                         /* a power of two */
  int *known;                           /* (slots) -1: free */
  double *first, *count, *from, *faces; /* (bodies) places and numbers of vertices and triangles */
} Triangles;

/* The body before this one with the same vertices and triangles, or -1. */
static int find_same(Triangles *t, int body) {
  uint64_t hash = 1469598103934665603u;
  const unsigned char *bytes = (const unsigned char *)t->mesh.point;
  for (size_t k = 0; k < 3 * t->mesh.points * sizeof(double); ++k)
    hash = (hash ^ bytes[k]) * 1099511628211u;
  for (size_t at = (size_t)hash & (t->slots - 1);; at = (at + 1) & (t->slots - 1)) {
    const int other = t->known[at];
    if (other < 0) {
      t->known[at] = body;
      return -1;
    }
    const size_t first = (size_t)t->first[other], from = (size_t)t->from[other];
    if ((size_t)t->count[other] != t->mesh.points || (size_t)t->faces[other] != t->mesh.triangles ||
        memcmp(t->points + 3 * first, t->mesh.point, 3 * t->mesh.points * sizeof(double)) != 0)
      continue;
    bool same = true;
    for (size_t k = 0; same && k < 3 * t->mesh.triangles; ++k)
      same = t->triangles[3 * from + k] == t->mesh.triangle[k];
    if (same) return other;
  }
}

/* The surface of a finite-element body: its vertices are those of the column "deformed". */
static bool take_surface(Triangles *t, const scree_Shape *shape) {
  const size_t n = (size_t)shape->vertex_count, m = (size_t)scree_shape_triangle_count(shape);
  if (!scree_grow((void **)&t->mesh.point, &t->mesh.point_capacity, 3 * n, sizeof(double)) ||
      !scree_grow((void **)&t->mesh.triangle, &t->mesh.triangle_capacity, 3 * m, sizeof(int)))
    return false;
  t->mesh.points = n;
  t->mesh.triangles = m;
  memcpy(t->mesh.point, &shape->vertices->x, 3 * n * sizeof(double));
  memcpy(t->mesh.triangle, scree_shape_triangles(shape, NULL), 3 * m * sizeof(int));
  return true;
}

static bool add_body(Triangles *t, const scree_ReplayBody *body, int number, const scree_Log *log) {
  const scree_Shape *shape = &body->shape;
  const bool drawn = page_draws(shape), soft = body->surface_node != NULL;
  const scree_Vec3 centre = {0, 0, 0};
  t->first[number] = (double)t->points_used;
  t->from[number] = (double)t->triangles_used;
  if (soft ? !take_surface(t, shape)
           : !drawn && scree_mesh_shape(shape, PAGE_SEGMENTS, shape->bounding_radius, centre, log,
                                        &t->mesh) != SCREE_OK)
    return false;
  const size_t n = drawn ? (size_t)shape->vertex_count : t->mesh.points;
  const size_t m = drawn ? 0 : t->mesh.triangles;
  t->count[number] = (double)n;
  t->faces[number] = (double)m;
  const int same = drawn || soft ? -1 : find_same(t, number);
  if (same >= 0) {
    t->first[number] = t->first[same];
    t->from[number] = t->from[same];
    return true;
  }
  if (!scree_grow((void **)&t->points, &t->point_capacity, 3 * (t->points_used + n),
                  sizeof *t->points) ||
      !scree_grow((void **)&t->triangles, &t->triangle_capacity, 3 * (t->triangles_used + m),
                  sizeof *t->triangles))
    return false;
  if (n)
    memcpy(t->points + 3 * t->points_used, drawn ? &shape->vertices->x : t->mesh.point,
           3 * n * sizeof *t->points);
  for (size_t k = 0; k < 3 * m; ++k) t->triangles[3 * t->triangles_used + k] = t->mesh.triangle[k];
  t->points_used += n;
  t->triangles_used += m;
  return true;
}

/* Columns have their components one after the other. */
static void add_triples(scree_PageBlock *block, const char *name, scree_PageColumnType type,
                        const double *rows, size_t n) {
  double *columns = SCREE_ALLOC(double, 3 * n);
  if (!columns) {
    block->failed = true;
    return;
  }
  for (size_t k = 0; k < n; ++k)
    for (size_t c = 0; c < 3; ++c) columns[c * n + k] = rows[3 * k + c];
  scree_block_put(block, name, type, 3, 1, n, columns);
  scree_free(columns);
}

size_t scree_report_deformed(const scree_Replay *replay, double *first) {
  size_t vertices = 0;
  for (int i = 0; i < replay->body_count; ++i) {
    const scree_ReplayBody *body = &replay->bodies[i];
    first[i] = body->surface_node ? (double)vertices : 4294967295.0;
    if (body->surface_node) vertices += (size_t)body->shape.vertex_count;
  }
  return vertices;
}

static void add_vertices(const scree_Replay *replay, scree_PageBlock *block, double *work) {
  const size_t n = (size_t)replay->body_count;
  Triangles t = {
      .slots = 16, .first = work, .count = work + n, .from = work + 2 * n, .faces = work + 3 * n};
  while (t.slots < 2 * n) t.slots *= 2;
  t.known = SCREE_ALLOC(int, t.slots);
  block->failed = block->failed || !t.known;
  for (size_t k = 0; t.known && k < t.slots; ++k) t.known[k] = -1;
  for (size_t i = 0; i < n && !block->failed; ++i)
    block->failed = !add_body(&t, &replay->bodies[i], (int)i, replay->log);
  if (!block->failed) {
    scree_block_put(block, "vertex_first", SCREE_COLUMN_U32, 1, 1, n, t.first);
    scree_block_put(block, "vertex_count", SCREE_COLUMN_U32, 1, 1, n, t.count);
    add_triples(block, "vertices", SCREE_COLUMN_F64, t.points, t.points_used);
    if (t.triangles_used > 0) {
      scree_block_put(block, "triangle_first", SCREE_COLUMN_U32, 1, 1, n, t.from);
      scree_block_put(block, "triangle_count", SCREE_COLUMN_U32, 1, 1, n, t.faces);
      add_triples(block, "triangles", SCREE_COLUMN_U32, t.triangles, t.triangles_used);
    }
    if (scree_report_deformed(replay, work) > 0)
      scree_block_put(block, "deformed_first", SCREE_COLUMN_U32, 1, 1, n, work);
  }
  scree_mesh_fini(&t.mesh);
  scree_free(t.known);
  scree_free(t.points);
  scree_free(t.triangles);
}

/* Smallest extent; of surfaces of finite elements that of their box. */
static double size_of(const scree_Shape *shape) {
  const scree_Pose pose = {{0, 0, 0}, {1, 0, 0, 0}};
  if (isfinite(shape->size)) return shape->size;
  const scree_Aabb box = scree_shape_aabb(shape, &pose);
  const scree_Vec3 side = scree_sub(box.upper, box.lower);
  return fmin(side.x, fmin(side.y, side.z));
}

/* Kinds and bodies of the joints; 4294967295: the world. */
static void add_joints(const scree_Replay *replay, scree_PageBlock *block) {
  static const char *const names[] = {"joint_bond", "joint_a", "joint_b"};
  const size_t n = (size_t)replay->joint_count;
  double *work = SCREE_ALLOC(double, n);
  if (!work) {
    block->failed = true;
    return;
  }
  for (size_t c = 0; n > 0 && c < 3; ++c) {
    for (size_t j = 0; j < n; ++j) {
      const int value = replay->joint_table[4 * j + c];
      work[j] = c == 0 ? (double)(value == SCREE_JOINT_BOND) : value < 0 ? 4294967295.0 : value;
    }
    scree_block_put(block, names[c], c ? SCREE_COLUMN_U32 : SCREE_COLUMN_U8, 1, 1, n, work);
  }
  scree_free(work);
}

void scree_report_static(const scree_Replay *replay, scree_PageBlock *block) {
  const size_t n = (size_t)replay->body_count;
  scree_block_begin(block);
  double *work = SCREE_ALLOC(double, 5 * n);
  if (!work) {
    block->failed = true;
    return;
  }
  const scree_ReplayBody *bodies = replay->bodies;
#define COLUMN(name, type, value)                                                                  \
  do {                                                                                             \
    for (size_t i = 0; i < n; ++i) work[i] = (double)(value);                                      \
    scree_block_put(block, name, type, 1, 1, n, work);                                             \
  } while (0)
  COLUMN("kind", SCREE_COLUMN_U8, bodies[i].shape.kind);
  COLUMN("obstacle", SCREE_COLUMN_U8, bodies[i].obstacle);
  COLUMN("material", SCREE_COLUMN_U16, bodies[i].material);
  COLUMN("mass", SCREE_COLUMN_F64, bodies[i].mass);
  COLUMN("volume", SCREE_COLUMN_F64, bodies[i].shape.volume);
  COLUMN("size", SCREE_COLUMN_F64, size_of(&bodies[i].shape));
  COLUMN("radius", SCREE_COLUMN_F64, bodies[i].shape.bounding_radius);
#undef COLUMN
  for (size_t i = 0; i < n; ++i) {
    const scree_Shape *shape = &bodies[i].shape;
    const double numbers[5] = {shape->radius, shape->half_length, shape->semi.x, shape->semi.y,
                               shape->semi.z};
    for (size_t c = 0; c < 5; ++c) work[c * n + i] = numbers[c];
  }
  scree_block_put(block, "shape", SCREE_COLUMN_F64, 5, 1, n, work);
  add_vertices(replay, block, work);
  scree_free(work);
  add_joints(replay, block);
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* At most POINTS_MAX points: of the steps that share a point the largest value is kept for errors
 * and times, the last value for other curves. */
scree_Status scree_report_telemetry(const scree_Replay *replay, scree_PageBlock *block) {
  const int rows = replay->rows, per = (rows + POINTS_MAX - 1) / POINTS_MAX;
  const int points = per > 0 ? (rows + per - 1) / per : 0;
  double *values = SCREE_ALLOC(double, points);
  if (!values) return scree_fail_memory(replay->log, "curves");
  scree_block_begin(block);
  for (int k = 0; k < replay->curve_count; ++k) {
    const scree_ReplayCurve *curve = &replay->curves[k];
    for (int p = 0; p < points; ++p) {
      const int end = p * per + per < rows ? p * per + per : rows;
      values[p] = curve->values[end - 1];
      for (int row = p * per; curve->peak && row < end; ++row)
        if (curve->values[row] > values[p]) values[p] = curve->values[row];
    }
    scree_block_put(block, curve->name, k == 0 ? SCREE_COLUMN_F64 : SCREE_COLUMN_F32, 1, 1,
                    (size_t)points, values);
  }
  scree_free(values);
  return SCREE_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Arrays of a block of frames, (frames x components x bodies); bodies that are not there are zero.
 */
typedef struct Gather {
  size_t frames, n;
  double *position, *orientation, *velocity, *angular, *present;
  double *stretch;           /* or null: all bodies are rigid */
  size_t vertices;           /* of finite-element bodies */
  double *deformed, *stress; /* (frames x 3 x vertices) in their frames, (frames x vertices) */
  size_t joints;
  double *joint, *joint_state; /* (frames x 6 x joints) place, axis; (frames x 2 x joints) status,
                                * size of the force */
  bool all_present;
} Gather;

static void gather_fini(Gather *gather) {
  scree_free(gather->position);
  scree_free(gather->orientation);
  scree_free(gather->velocity);
  scree_free(gather->angular);
  scree_free(gather->present);
  scree_free(gather->stretch);
  scree_free(gather->deformed);
  scree_free(gather->stress);
  scree_free(gather->joint);
  scree_free(gather->joint_state);
}

static void spread_joints(Gather *out, const scree_ReplayFrame *frame, size_t f) {
  for (size_t j = 0; j < (size_t)frame->joints && j < out->joints; ++j) {
    const scree_ReplayJoint *joint = &frame->joint[j];
    for (size_t c = 0; c < 3; ++c) {
      out->joint[(6 * f + c) * out->joints + j] = joint->position[c];
      out->joint[(6 * f + 3 + c) * out->joints + j] = joint->axis[c];
    }
    const double *force = joint->force;
    out->joint_state[2 * f * out->joints + j] = joint->status;
    out->joint_state[(2 * f + 1) * out->joints + j] = hypot(hypot(force[0], force[1]), force[2]);
  }
}

/* Vertices and von Mises' stress of the finite-element bodies of frame f of the block. */
static void spread_nodes(Gather *out, const scree_Replay *replay, const scree_ReplayFrame *frame,
                         size_t f) {
  size_t at = 0;
  for (int i = 0; i < replay->body_count; ++i) {
    const scree_ReplayBody *body = &replay->bodies[i];
    if (!body->surface_node) continue;
    const bool there = i < frame->bodies && scree_mesh_has_nodes(body, frame);
    const double *x = frame->position + 3 * (size_t)i, *q = frame->orientation + 4 * (size_t)i;
    const scree_Pose pose = there ? (scree_Pose){{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}}
                                  : (scree_Pose){{0, 0, 0}, {1, 0, 0, 0}};
    for (int v = 0; v < body->shape.vertex_count; ++v, ++at) {
      const int node = body->node_first + body->surface_node[v];
      scree_Vec3 p = body->shape.vertices[v];
      if (there) {
        const double *w = frame->node + 3 * (size_t)node;
        p = scree_pose_invert(&pose, scree_vec3(w[0], w[1], w[2]));
      }
      out->deformed[(3 * f) * out->vertices + at] = p.x;
      out->deformed[(3 * f + 1) * out->vertices + at] = p.y;
      out->deformed[(3 * f + 2) * out->vertices + at] = p.z;
      out->stress[f * out->vertices + at] = there ? scree_node_mises(frame, node) : 0.0;
    }
  }
}

static void spread(double *to, const double *from, const bool *present, size_t frame,
                   size_t components, size_t bodies, size_t n) {
  for (size_t c = 0; c < components; ++c)
    for (size_t i = 0; i < bodies; ++i)
      if (present[i]) to[(frame * components + c) * n + i] = from[i * components + c];
}

static scree_Status gather(scree_Replay *replay, const scree_ReportPlan *plan, int first, int count,
                           Gather *out) {
  const size_t frames = (size_t)count, n = (size_t)replay->body_count;
  *out = (Gather){.frames = frames, .n = n, .all_present = true};
  out->position = SCREE_ALLOC(double, 3 * frames * n);
  out->orientation = SCREE_ALLOC(double, 4 * frames * n);
  out->velocity = SCREE_ALLOC(double, 3 * frames * n);
  out->angular = SCREE_ALLOC(double, 3 * frames * n);
  out->present = SCREE_ALLOC(double, frames *n);
  if (out->present) out->vertices = scree_report_deformed(replay, out->present);
  for (size_t i = 0; out->present && i < n; ++i) out->present[i] = 0.0;
  out->deformed = SCREE_ALLOC(double, 3 * frames * out->vertices);
  out->stress = SCREE_ALLOC(double, frames * out->vertices);
  out->joints = (size_t)replay->joint_count;
  out->joint = SCREE_ALLOC(double, 6 * frames * out->joints);
  out->joint_state = SCREE_ALLOC(double, 2 * frames * out->joints);
  if (!out->position || !out->orientation || !out->velocity || !out->angular || !out->present ||
      !out->deformed || !out->stress || !out->joint || !out->joint_state)
    return scree_fail_memory(replay->log, "frames of the page");
  scree_ReplayFrame frame = {.bodies_only = out->joints == 0};
  scree_Status status = SCREE_OK;
  for (size_t f = 0; status == SCREE_OK && f < frames; ++f) {
    status = scree_replay_read(replay, plan->frame[first + (int)f], &frame);
    if (status != SCREE_OK) break;
    const size_t bodies = (size_t)frame.bodies;
    spread(out->position, frame.position, frame.present, f, 3, bodies, n);
    spread(out->orientation, frame.orientation, frame.present, f, 4, bodies, n);
    spread(out->velocity, frame.velocity, frame.present, f, 3, bodies, n);
    spread(out->angular, frame.angular, frame.present, f, 3, bodies, n);
    if (frame.deforms && !out->stretch) out->stretch = SCREE_ALLOC(double, 3 * frames * n);
    if (frame.deforms && !out->stretch)
      status = scree_fail_memory(replay->log, "frames of the page");
    else if (frame.deforms)
      spread(out->stretch, frame.stretch, frame.present, f, 3, bodies, n);
    for (size_t i = 0; i < bodies; ++i) {
      out->present[f * n + i] = frame.present[i];
      if (!frame.present[i]) out->all_present = false;
    }
    if (bodies < n) out->all_present = false;
    if (out->vertices) spread_nodes(out, replay, &frame, f);
    spread_joints(out, &frame, f);
  }
  scree_replay_frame_fini(&frame);
  return status;
}

static void add_single(scree_PageBlock *block, const Gather *g, const scree_ReportPlan *plan) {
  scree_PageColumn column = {.name = "position",
                             .type = SCREE_COLUMN_F32,
                             .components = 3,
                             .frames = g->frames,
                             .count = g->n,
                             .values = g->position,
                             .scale = plan->extent.length};
  memcpy(column.offset, plan->extent.origin, sizeof column.offset);
  scree_block_add(block, &column);
  scree_block_put(block, "orientation", SCREE_COLUMN_F32, 4, g->frames, g->n, g->orientation);
  scree_block_put(block, "velocity", SCREE_COLUMN_F32, 3, g->frames, g->n, g->velocity);
  scree_block_put(block, "angular", SCREE_COLUMN_F32, 3, g->frames, g->n, g->angular);
}

/* Lengths of vectors in 64 steps on a square curve: as many as colours tell apart. `present`,
 * already written, holds them. */
static void add_lengths(scree_PageBlock *block, const char *name, const Gather *g,
                        const double *vectors, double largest) {
  for (size_t f = 0; f < g->frames; ++f)
    for (size_t i = 0; i < g->n; ++i) {
      const double *v = vectors + 3 * f * g->n + i;
      const double length = hypot(hypot(v[0], v[g->n]), v[2 * g->n]);
      g->present[f * g->n + i] = length;
    }
  const scree_PageColumn column = {.name = name,
                                   .type = SCREE_COLUMN_U8,
                                   .components = 1,
                                   .frames = g->frames,
                                   .count = g->n,
                                   .values = g->present,
                                   .square = true,
                                   .scale = largest > 0.0 ? largest / (63.0 * 63.0) : 1.0};
  scree_block_add(block, &column);
}

/* How bodies are turned, 16 bits a number, of those that are not round: their numbers are in the
 * column "turned". The rotation of the others is not visible. */
static void add_turns(scree_PageBlock *block, const scree_Replay *replay, const Gather *g) {
  double *turned = SCREE_ALLOC(double, g->n);
  double *values = SCREE_ALLOC(double, 4 * g->frames * g->n);
  size_t count = 0;
  if (!turned || !values) block->failed = true;
  for (size_t i = 0; turned && i < g->n; ++i) {
    const scree_ShapeKind kind = replay->bodies[i].shape.kind;
    if (kind != SCREE_SHAPE_SPHERE && kind != SCREE_SHAPE_DISK) turned[count++] = (double)i;
  }
  if (!block->failed) {
    for (size_t row = 0; row < 4 * g->frames; ++row)
      for (size_t k = 0; k < count; ++k)
        values[row * count + k] = g->orientation[row * g->n + (size_t)turned[k]];
    scree_block_put(block, "turned", SCREE_COLUMN_U32, 1, 1, count, turned);
    const scree_PageColumn column = {.name = "orientation",
                                     .type = SCREE_COLUMN_I16,
                                     .components = 4,
                                     .frames = g->frames,
                                     .count = count,
                                     .values = values,
                                     .scale = 1.0 / 32767.0};
    scree_block_add(block, &column);
  }
  scree_free(turned);
  scree_free(values);
}

/* Positions on a grid of 1/128 of the smallest body, or of 1/65535 of the block's bounds where that
 * is coarser. */
static void add_compact(scree_PageBlock *block, const scree_Replay *replay, const Gather *g,
                        const scree_ReportPlan *plan) {
  scree_PageColumn column = {.name = "position",
                             .type = SCREE_COLUMN_U16,
                             .components = 3,
                             .frames = g->frames,
                             .count = g->n,
                             .values = g->position};
  double widest = 0.0;
  for (size_t c = 0; c < 3; ++c) {
    double low = INFINITY, high = -INFINITY;
    for (size_t f = 0; f < g->frames; ++f)
      for (size_t i = 0; i < g->n; ++i) {
        if (g->present[f * g->n + i] == 0.0) continue;
        const double x = g->position[(3 * f + c) * g->n + i];
        low = fmin(low, x), high = fmax(high, x);
      }
    column.offset[c] = low <= high ? low : 0.0;
    if (low <= high) widest = fmax(widest, high - low);
  }
  column.scale = fmax(widest / 65535.0, plan->smallest / 128.0);
  if (!(column.scale > 0.0)) column.scale = plan->extent.length / 65535.0;
  scree_block_add(block, &column);
  add_turns(block, replay, g);
  add_lengths(block, "speed", g, g->velocity, plan->speed_max);
  add_lengths(block, "spin", g, g->angular, plan->spin_max);
}

/* Fields of the user's own, NaN where a frame has none. */
static void add_fields(scree_PageBlock *block, const scree_Replay *replay,
                       const scree_ReportPlan *plan, int first, const Gather *g) {
  for (int field = 0; field < replay->field_count; ++field) {
    char name[64];
    double *values = SCREE_ALLOC(double, g->frames * g->n);
    if (!values) {
      block->failed = true;
      return;
    }
    for (size_t f = 0; f < g->frames; ++f)
      if (!scree_replay_field(replay, field, plan->frame[first + (int)f], values + f * g->n))
        for (size_t i = 0; i < g->n; ++i) values[f * g->n + i] = NAN;
    snprintf(name, sizeof name, "field.%s", replay->fields[field]);
    scree_block_put(block, name, SCREE_COLUMN_F32, 1, g->frames, g->n, values);
    scree_free(values);
  }
}

scree_Status scree_report_frames(scree_Replay *replay, const scree_ReportPlan *plan, int index,
                                 scree_PageBlock *block) {
  const int first = index * plan->block_frames;
  const int count =
      plan->count - first < plan->block_frames ? plan->count - first : plan->block_frames;
  Gather g;
  scree_Status status = gather(replay, plan, first, count, &g);
  if (status == SCREE_OK) {
    scree_block_begin(block);
    if (!g.all_present)
      scree_block_put(block, "present", SCREE_COLUMN_U8, 1, g.frames, g.n, g.present);
    if (g.stretch) scree_block_put(block, "stretch", SCREE_COLUMN_F32, 3, g.frames, g.n, g.stretch);
    if (g.vertices) {
      scree_block_put(block, "deformed", SCREE_COLUMN_F32, 3, g.frames, g.vertices, g.deformed);
      scree_block_put(block, "vertex_stress", SCREE_COLUMN_F32, 1, g.frames, g.vertices, g.stress);
    }
    add_fields(block, replay, plan, first, &g);
    if (g.joints) {
      scree_block_put(block, "joint", SCREE_COLUMN_F32, 6, g.frames, g.joints, g.joint);
      scree_block_put(block, "joint_state", SCREE_COLUMN_F32, 2, g.frames, g.joints, g.joint_state);
    }
    if (plan->level == SCREE_REPORT_EXACT) {
      scree_block_put(block, "position", SCREE_COLUMN_F64, 3, g.frames, g.n, g.position);
      scree_block_put(block, "orientation", SCREE_COLUMN_F64, 4, g.frames, g.n, g.orientation);
      scree_block_put(block, "velocity", SCREE_COLUMN_F64, 3, g.frames, g.n, g.velocity);
      scree_block_put(block, "angular", SCREE_COLUMN_F64, 3, g.frames, g.n, g.angular);
    } else if (plan->level == SCREE_REPORT_SINGLE) {
      add_single(block, &g, plan);
    } else {
      add_compact(block, replay, &g, plan);
    }
  }
  gather_fini(&g);
  return status;
}

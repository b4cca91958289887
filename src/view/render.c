/* A software renderer, with the page's light and colours. Everything is drawn at twice the size and
 * averaged (render_finish.c); the camera is in render_camera.c. In the plane there is no depth:
 * obstacles, bodies, chains are painted in that order. */
#include "run/frames.h"
#include "scree/view.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "view/mesh.h"
#include "view/render_bars.h"
#include "view/render_canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The surface of an unbounded obstacle: a grid that fades into the background away from the middle
 * of the scene. */
typedef struct Floor {
  scree_Pose pose;
  scree_Vec3 middle; /* of the scene, in the obstacle's frame */
  double spacing, reach;
} Floor;

scree_RenderSettings scree_render_settings(void) {
  return (scree_RenderSettings){.width = 1280, .height = 800, .from = {0.85, 0.42, 0.36}};
}

/* ---- colours --------------------------------------------------------------------------------- */

static Colour scale_colour(double x) {
  static const double table[9][3] = {{64, 67, 135},  {52, 94, 141},  {41, 120, 142},
                                     {32, 144, 140}, {34, 167, 132}, {68, 190, 112},
                                     {121, 209, 81}, {189, 222, 38}, {253, 231, 37}};
  const double s = 8.0 * fmin(fmax(x, 0.0), 1.0);
  const int k = s >= 8.0 ? 7 : (int)s;
  double c[3];
  for (int m = 0; m < 3; ++m)
    c[m] = (table[k][m] + (s - k) * (table[k + 1][m] - table[k][m])) / 255.0;
  return (Colour){c[0], c[1], c[2]};
}

static Colour category_colour(int k, double shade) {
  static const double table[8][3] = {{0, 114, 178},   {230, 159, 0},  {0, 158, 115},
                                     {204, 121, 167}, {86, 180, 233}, {213, 94, 0},
                                     {240, 228, 66},  {130, 130, 130}};
  const double *c = table[k % 8];
  return (Colour){shade * c[0] / 255.0, shade * c[1] / 255.0, shade * c[2] / 255.0};
}

static double norm3(const double *v) {
  return hypot(hypot(v[0], v[1]), v[2]);
}

/* `pressure` (bodies) for stress, else not used. */
static double value_of(const scree_Replay *replay, const scree_ReplayFrame *frame,
                       const double *pressure, int i, scree_RenderColour colour) {
  if (colour == SCREE_RENDER_STRESS && scree_mesh_has_nodes(&replay->bodies[i], frame))
    return scree_mesh_mean_mises(&replay->bodies[i], frame);
  if (colour == SCREE_RENDER_STRESS) return pressure[i];
  if (colour == SCREE_RENDER_VELOCITY) return norm3(frame->velocity + 3 * i);
  if (colour == SCREE_RENDER_ANGULAR) return norm3(frame->angular + 3 * i);
  return replay->bodies[i].shape.size;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

scree_Status scree_render_scale(scree_Replay *replay, scree_RenderColour colour, double *scale) {
  enum { LOOKS = 9 };
  const int looks = replay->frame_count < LOOKS ? replay->frame_count : LOOKS;
  double *values = SCREE_ALLOC(double, (size_t)(LOOKS + 1) * (size_t)replay->body_count);
  if (!values) return scree_fail_memory(replay->log, "the scale of colours");
  double *pressure = values + (size_t)LOOKS * (size_t)replay->body_count;
  scree_ReplayFrame frame = {.bodies_only = colour != SCREE_RENDER_STRESS};
  size_t count = 0;
  scree_Status status = SCREE_OK;
  for (int s = 0; status == SCREE_OK && s < looks; ++s) {
    status = scree_replay_read(replay, looks > 1 ? s * (replay->frame_count - 1) / (looks - 1) : 0,
                               &frame);
    if (status == SCREE_OK && !frame.bodies_only) scree_replay_pressure(replay, &frame, pressure);
    for (int i = 0; status == SCREE_OK && i < frame.bodies; ++i)
      if (!replay->bodies[i].obstacle && frame.present[i])
        values[count++] = value_of(replay, &frame, pressure, i, colour);
  }
  qsort(values, count, sizeof *values, compare);
  *scale = count ? values[(size_t)ceil(0.99 * (double)(count - 1))] : 1.0;
  if (count && !(*scale > 0.0)) *scale = values[count - 1];
  if (!(*scale > 0.0)) *scale = 1.0;
  scree_free(values);
  scree_replay_frame_fini(&frame);
  return status;
}

static Colour body_colour(const scree_Replay *replay, const scree_ReplayFrame *frame,
                          const double *pressure, int i, const scree_RenderSettings *settings) {
  Colour c;
  const int material = replay->bodies[i].material;
  const scree_ReplayColour *given =
      replay->colours && material < replay->material_count ? &replay->colours[material] : NULL;
  /* Unbounded shapes would fill the whole picture. */
  const bool own =
      settings->colour == SCREE_RENDER_MATERIAL && given && given->given &&
      (!replay->bodies[i].obstacle || (replay->bodies[i].shape.kind != SCREE_SHAPE_HALF_SPACE &&
                                       replay->bodies[i].shape.kind != SCREE_SHAPE_HALF_PLANE));
  if (replay->bodies[i].obstacle && !own) return (Colour){0.66, 0.68, 0.705};
  if (own)
    c = (Colour){given->rgb[0] / 255.0, given->rgb[1] / 255.0, given->rgb[2] / 255.0};
  else if (settings->colour == SCREE_RENDER_MATERIAL)
    c = category_colour(material, 1.0);
  else if (settings->colour == SCREE_RENDER_ID)
    c = category_colour(i, 0.75 + 0.0625 * (i * 7 % 5));
  else
    c = scale_colour(value_of(replay, frame, pressure, i, settings->colour) / settings->scale);
  if (settings->chains) {
    const double pale = 0.72;
    c = (Colour){c.r + pale * (0.93 - c.r), c.g + pale * (0.93 - c.g), c.b + pale * (0.94 - c.b)};
  }
  return c;
}

/* As on the page: half-wrapped diffuse light from above, a small gloss, a darker rim. */
static Colour lit(Colour c, scree_Vec3 n, scree_Vec3 to_eye) {
  const scree_Vec3 key = {0.342, 0.733, 0.587};
  const double diffuse = 0.5 + 0.5 * scree_dot(n, key);
  const scree_Vec3 mirror = scree_axpy(scree_scale(-1.0, key), 2.0 * scree_dot(n, key), n);
  const double towards = fmax(scree_dot(mirror, to_eye), 0.0), two = towards * towards;
  const double eight = two * two * two * two, gloss = eight * eight * eight;
  const double turned = 1.0 - fmax(scree_dot(n, to_eye), 0.0);
  const double rim = 1.0 - 0.35 * turned * turned * turned;
  const double light = 0.5 + 0.62 * diffuse * diffuse;
  return (Colour){fmin((c.r * light + 0.12 * gloss) * rim, 1.0),
                  fmin((c.g * light + 0.12 * gloss) * rim, 1.0),
                  fmin((c.b * light + 0.12 * gloss) * rim, 1.0)};
}

/* Into the camera's axes; z is the distance in front of it. */
static scree_Vec3 to_camera(const Canvas *canvas, scree_Vec3 p) {
  const scree_Vec3 d = scree_sub(p, canvas->eye);
  return scree_vec3(scree_dot(d, canvas->right), scree_dot(d, canvas->up),
                    canvas->flat ? 1.0 : -scree_dot(d, canvas->back));
}

/* The depth test comes before shading, which is most of the work. */
static bool is_hidden(const Canvas *canvas, int x, int y, double depth) {
  const size_t at = (size_t)y * (size_t)canvas->width + (size_t)x;
  return !canvas->flat && depth * canvas->length <= (double)canvas->depth[at];
}

static void put(Canvas *canvas, int x, int y, double depth, Colour c) {
  const size_t at = (size_t)y * (size_t)canvas->width + (size_t)x;
  if (canvas->opacity < 1.0) { /* a ghost covers a part of what is behind it, and hides nothing */
    const double part[3] = {c.r, c.g, c.b};
    for (size_t m = 0; m < 3; ++m)
      canvas->colour[3 * at + m] +=
          (float)(canvas->opacity * (part[m] - (double)canvas->colour[3 * at + m]));
    return;
  }
  canvas->depth[at] = (float)(depth * canvas->length);
  canvas->owner[at] = canvas->drawing;
  canvas->colour[3 * at] = (float)c.r;
  canvas->colour[3 * at + 1] = (float)c.g;
  canvas->colour[3 * at + 2] = (float)c.b;
}

static int clamp_pixel(double x, int size) {
  return x < 0.0 ? 0 : x > size ? size : (int)x;
}

/* ---- triangles ------------------------------------------------------------------------------- */

typedef struct Vertex {
  scree_Vec3 p, n; /* in the camera's axes */
} Vertex;

static Colour background(const Canvas *canvas, int y) {
  const double shade = 0.92 - 0.08 * (double)y / canvas->height;
  return (Colour){shade, shade, shade + 0.012};
}

/* Colour of a floor at a point (in the camera's axes): darker on the lines of its grid, the
 * background far away. */
static Colour floor_colour(const Canvas *canvas, const Floor *floor, scree_Vec3 p, int y,
                           Colour c) {
  scree_Vec3 world = scree_axpy(canvas->eye, p.x, canvas->right);
  world = scree_axpy(scree_axpy(world, p.y, canvas->up), -p.z, canvas->back);
  const scree_Vec3 at = scree_sub(scree_pose_invert(&floor->pose, world), floor->middle);
  const double gx = fabs(at.x / floor->spacing - rint(at.x / floor->spacing)),
               gy = fabs(at.y / floor->spacing - rint(at.y / floor->spacing));
  const double width = fmax(0.012, 1.2 * p.z / (canvas->focal * floor->spacing));
  const double line = gx < width || gy < width ? 0.80 : 1.0;
  const double far = fmin(hypot(at.x, at.y) / floor->reach, 1.0);
  const double t = far < 0.35 ? 0.0 : (far - 0.35) / 0.65, mix = t * t * (3.0 - 2.0 * t);
  const Colour b = background(canvas, y);
  return (Colour){(1.0 - mix) * line * c.r + mix * b.r, (1.0 - mix) * line * c.g + mix * b.g,
                  (1.0 - mix) * line * c.b + mix * b.b};
}

static void draw_triangle(Canvas *canvas, const Vertex *v, Colour c, bool sheet,
                          const Floor *floor) {
  double x[3], y[3], w[3];
  for (int k = 0; k < 3; ++k) {
    w[k] = 1.0 / v[k].p.z;
    x[k] = 0.5 * canvas->width + canvas->focal * v[k].p.x * w[k];
    y[k] = 0.5 * canvas->height - canvas->focal * v[k].p.y * w[k];
  }
  const double area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  /* y points down: a triangle seen from outside has a negative area. */
  if (area == 0.0 || !isfinite(area) ||
      ((sheet || canvas->opacity < 1.0) && !canvas->flat && area > 0.0))
    return;
  const double inverse = 1.0 / area;
  const int x0 = clamp_pixel(fmin(fmin(x[0], x[1]), x[2]), canvas->width),
            x1 = clamp_pixel(fmax(fmax(x[0], x[1]), x[2]) + 1.0, canvas->width),
            y0 = clamp_pixel(fmin(fmin(y[0], y[1]), y[2]), canvas->height),
            y1 = clamp_pixel(fmax(fmax(y[0], y[1]), y[2]) + 1.0, canvas->height);
  for (int py = y0; py < y1; ++py)
    for (int px = x0; px < x1; ++px) {
      const double cx = px + 0.5, cy = py + 0.5;
      const double a = ((x[1] - cx) * (y[2] - cy) - (x[2] - cx) * (y[1] - cy)) * inverse;
      const double b = ((x[2] - cx) * (y[0] - cy) - (x[0] - cx) * (y[2] - cy)) * inverse;
      const double d = 1.0 - a - b;
      if (a < 0.0 || b < 0.0 || d < 0.0) continue;
      const double depth = a * w[0] + b * w[1] + d * w[2];
      if (is_hidden(canvas, px, py, depth)) continue;
      Colour shade = c;
      if (!canvas->flat) {
        scree_Vec3 n = scree_scale(a, v[0].n);
        n = scree_axpy(scree_axpy(n, b, v[1].n), d, v[2].n);
        n = scree_scale(1.0 / fmax(scree_norm(n), 1e-300), n);
        const scree_Vec3 at = {(cx - 0.5 * canvas->width) / canvas->focal,
                               (0.5 * canvas->height - cy) / canvas->focal, 1.0};
        /* Normals have z towards the eye, points have it away. */
        const scree_Vec3 eye = scree_scale(1.0 / scree_norm(at), scree_vec3(-at.x, -at.y, 1.0));
        if (scree_dot(n, eye) < 0.0) n = scree_scale(-1.0, n);
        shade = lit(c, n, eye);
        if (floor) shade = floor_colour(canvas, floor, scree_scale(1.0 / depth, at), py, shade);
      }
      put(canvas, px, py, depth, shade);
    }
}

/* Cut at the near plane: at most four corners remain. */
static void draw_clipped(Canvas *canvas, const Vertex *v, Colour c, bool sheet,
                         const Floor *floor) {
  Vertex out[4];
  int count = 0;
  for (int k = 0; k < 3; ++k) {
    const Vertex *a = &v[k], *b = &v[(k + 1) % 3];
    const bool in_a = a->p.z > canvas->near, in_b = b->p.z > canvas->near;
    if (in_a) out[count++] = *a;
    if (in_a != in_b) {
      const double t = (canvas->near - a->p.z) / (b->p.z - a->p.z);
      out[count++] = (Vertex){scree_axpy(a->p, t, scree_sub(b->p, a->p)),
                              scree_axpy(a->n, t, scree_sub(b->n, a->n))};
    }
  }
  for (int k = 2; k < count; ++k) {
    const Vertex part[3] = {out[0], out[k - 1], out[k]};
    draw_triangle(canvas, part, c, sheet, floor);
  }
}

/* `scale` shrinks the shape about its origin: the rim of shapes of the plane. `stretch` are the
 * factors along its axes, or null: 1. */
static void draw_mesh(Canvas *canvas, const scree_DrawnMesh *mesh, const scree_Pose *pose,
                      double scale, const double *stretch, Colour c, const Floor *floor) {
  const double f[3] = {stretch ? scale * stretch[0] : scale, stretch ? scale * stretch[1] : scale,
                       stretch ? scale * stretch[2] : scale};
  for (size_t t = 0; t < mesh->triangles; ++t) {
    Vertex v[3];
    for (int k = 0; k < 3; ++k) {
      const size_t at = 3 * (size_t)mesh->triangle[3 * t + (size_t)k];
      const double *p = mesh->point + at, *n = mesh->normal + at;
      v[k].p = to_camera(canvas,
                         scree_pose_apply(pose, scree_vec3(f[0] * p[0], f[1] * p[1], f[2] * p[2])));
      scree_Vec3 w = scree_vec3(n[0], n[1], n[2]);
      if (stretch) w = scree_unit_or(scree_vec3(n[0] / f[0], n[1] / f[1], n[2] / f[2]), w);
      w = scree_quat_rotate(pose->orientation, w);
      v[k].n = scree_vec3(scree_dot(w, canvas->right), scree_dot(w, canvas->up),
                          scree_dot(w, canvas->back));
    }
    draw_clipped(canvas, v, c, mesh->sheet, floor);
  }
}

/* ---- balls ----------------------------------------------------------------------------------- */

/* Ray casting for each pixel of the square round a ball. */
static void draw_ball(Canvas *canvas, const scree_Pose *pose, double radius, Colour c) {
  const scree_Vec3 m = to_camera(canvas, pose->position);
  if (m.z - radius < canvas->near) return;
  const double reach = canvas->focal * radius / sqrt(m.z * m.z - radius * radius) *
                       sqrt(1.0 + (m.x * m.x + m.y * m.y) / (m.z * m.z));
  const double x = 0.5 * canvas->width + canvas->focal * m.x / m.z,
               y = 0.5 * canvas->height - canvas->focal * m.y / m.z;
  const int x0 = clamp_pixel(x - reach - 1.0, canvas->width),
            x1 = clamp_pixel(x + reach + 2.0, canvas->width),
            y0 = clamp_pixel(y - reach - 1.0, canvas->height),
            y1 = clamp_pixel(y + reach + 2.0, canvas->height);
  const scree_Quat inverse = scree_quat_conj(pose->orientation);
  for (int py = y0; py < y1; ++py)
    for (int px = x0; px < x1; ++px) {
      scree_Vec3 ray = {(px + 0.5 - 0.5 * canvas->width) / canvas->focal,
                        (0.5 * canvas->height - py - 0.5) / canvas->focal, 1.0};
      ray = scree_scale(1.0 / scree_norm(ray), ray);
      const double along = scree_dot(ray, m);
      const scree_Vec3 off = scree_axpy(m, -along, ray);
      const double inside = radius * radius - scree_dot(off, off);
      if (inside < 0.0) continue;
      const scree_Vec3 hit = scree_scale(along - sqrt(inside), ray);
      if (is_hidden(canvas, px, py, 1.0 / hit.z)) continue;
      scree_Vec3 n = scree_scale(1.0 / radius, scree_sub(hit, m));
      n.z = -n.z;
      scree_Vec3 world = scree_scale(n.x, canvas->right);
      world = scree_axpy(scree_axpy(world, n.y, canvas->up), n.z, canvas->back);
      const double belt = fabs(scree_quat_rotate(inverse, world).x) < 0.14 ? 0.65 : 1.0;
      const Colour shade = {c.r * belt, c.g * belt, c.b * belt};
      put(canvas, px, py, 1.0 / hit.z, lit(shade, n, scree_vec3(-ray.x, -ray.y, ray.z)));
    }
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* A deformed surface, each triangle with the colour of its stress. */
static void draw_stressed(Canvas *canvas, const scree_DrawnMesh *mesh, const scree_Pose *pose,
                          double scale) {
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const double *value = mesh->value + 3 * t;
    const scree_DrawnMesh one = {.points = 3,
                                 .triangles = 1,
                                 .point = mesh->point + 9 * t,
                                 .normal = mesh->normal + 9 * t,
                                 .triangle = (int[]){0, 1, 2}};
    draw_mesh(canvas, &one, pose, 1.0, NULL,
              scale_colour((value[0] + value[1] + value[2]) / (3 * scale)), NULL);
  }
}

static scree_Status draw_bodies(Canvas *canvas, scree_Replay *replay,
                                const scree_ReplayFrame *frame, const scree_ReplayExtent *extent,
                                const scree_RenderSettings *settings, const double *pressure,
                                bool obstacles) {
  scree_DrawnMesh mesh = {0};
  scree_Status status = SCREE_OK;
  const scree_RenderLook look = obstacles ? settings->obstacles : settings->bodies;
  if (look == SCREE_RENDER_HIDDEN) return SCREE_OK;
  canvas->opacity = look == SCREE_RENDER_GHOST ? (canvas->flat ? 0.35 : 0.2) : 1.0;
  /* Drums and funnels are as large as the picture: more corners. */
  const int segments = obstacles ? 128 : frame->bodies > 2000 ? 16 : 32;
  const scree_Vec3 middle = {extent->origin[0], extent->origin[1], extent->origin[2]};
  for (int i = 0; status == SCREE_OK && i < frame->bodies; ++i) {
    const scree_ReplayBody *body = &replay->bodies[i];
    if (body->obstacle != obstacles) continue;
    const double *x = frame->position + 3 * i, *q = frame->orientation + 4 * i;
    const scree_Pose pose = {{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
    if (!frame->present[i]) continue;
    const Colour c = body_colour(replay, frame, pressure, i, settings);
    canvas->drawing = body->shape.kind == SCREE_SHAPE_HALF_SPACE ? FLOOR : i;
    if (body->shape.kind == SCREE_SHAPE_SPHERE) {
      draw_ball(canvas, &pose, body->shape.radius, c);
      continue;
    }
    const Floor floor = {pose, scree_pose_invert(&pose, middle), 0.2 * extent->length,
                         6.0 * extent->length};
    const bool endless = body->shape.kind == SCREE_SHAPE_HALF_SPACE;
    const bool nodes = scree_mesh_has_nodes(body, frame);
    status = nodes ? scree_mesh_nodes(body, frame, &pose, replay->log, &mesh)
                   : scree_mesh_shape(&body->shape, segments,
                                      (canvas->flat ? 8.0 : 6.0) * extent->length, floor.middle,
                                      replay->log, &mesh);
    if (status != SCREE_OK) break;
    if (nodes && settings->colour == SCREE_RENDER_STRESS) {
      draw_stressed(canvas, &mesh, &pose, settings->scale);
      continue;
    }
    const bool rim = canvas->flat && !obstacles;
    const double *stretch = frame->deforms && !nodes ? frame->stretch + 3 * i : NULL;
    const Colour edge = {0.5 * c.r, 0.5 * c.g, 0.5 * c.b};
    if (rim) draw_mesh(canvas, &mesh, &pose, 1.0, stretch, edge, NULL);
    draw_mesh(canvas, &mesh, &pose, rim ? 0.93 : 1.0, stretch, c, endless ? &floor : NULL);
  }
  scree_mesh_fini(&mesh);
  return status;
}

/* For scree_render_bars. */
static void draw_bar(void *user, const scree_DrawnMesh *mesh, const double rgb[3]) {
  const scree_Pose still = {{0, 0, 0}, {1, 0, 0, 0}};
  draw_mesh(user, mesh, &still, 1.0, NULL, (Colour){rgb[0], rgb[1], rgb[2]}, NULL);
}

/* Chains and joints are inside the bodies: draw over them. */
static void clear_depth(Canvas *canvas) {
  if (!canvas->flat)
    memset(canvas->depth, 0, (size_t)canvas->width * (size_t)canvas->height * sizeof(float));
}

/* As far as neighbours are: more than the radius of a typical body. */
static double occlusion_radius(const scree_Replay *replay, const scree_ReplayExtent *extent) {
  double sum = 0.0;
  int count = 0;
  for (int i = 0; i < replay->body_count; ++i)
    if (!replay->bodies[i].obstacle) sum += 0.5 * replay->bodies[i].shape.size, ++count;
  const double near = count ? 1.6 * sum / count : 0.0; /* not finite: a body has no size */
  return fmin(fmax(near, 0.03 * extent->length), 0.1 * extent->length);
}

scree_Status scree_render(scree_Replay *replay, const scree_ReplayFrame *frame,
                          const scree_ReplayExtent *extent, const scree_RenderSettings *given,
                          unsigned char *pixels) {
  Canvas canvas = {.width = OVERSAMPLE * given->width,
                   .height = OVERSAMPLE * given->height,
                   .length = extent->length,
                   .opacity = 1.0,
                   .flat = replay->dimension == 2};
  scree_RenderSettings settings = *given;
  scree_Status status = SCREE_OK;
  if (!(settings.scale > 0.0))
    status = scree_render_scale(replay, settings.colour, &settings.scale);
  if (status != SCREE_OK) return status;
  const size_t count = (size_t)canvas.width * (size_t)canvas.height;
  canvas.depth = SCREE_ALLOC(float, count);
  canvas.colour = SCREE_ALLOC(float, 3 * count);
  canvas.owner = SCREE_ALLOC(int, count);
  double *pressure = SCREE_ALLOC(double, frame->bodies);
  if (!canvas.depth || !canvas.colour || !canvas.owner || !pressure) {
    scree_free(canvas.depth);
    scree_free(canvas.owner);
    scree_free(canvas.colour);
    scree_free(pressure);
    return scree_fail_memory(replay->log, "a picture");
  }
  if (settings.colour == SCREE_RENDER_STRESS) scree_replay_pressure(replay, frame, pressure);
  for (size_t k = 0; k < count; ++k) {
    const Colour b = background(&canvas, (int)(k / (size_t)canvas.width));
    canvas.owner[k] = FLOOR;
    canvas.colour[3 * k] = (float)b.r;
    canvas.colour[3 * k + 1] = (float)b.g;
    canvas.colour[3 * k + 2] = (float)b.b;
  }
  scree_render_aim(&canvas, replay, frame, extent, &settings);
  /* In 2D a later shape covers an earlier one; in 3D the nearer one is visible, and bodies hide
   * most of the floor. Ghosts come last. */
  const bool first = canvas.flat || (settings.bodies == SCREE_RENDER_GHOST &&
                                     settings.obstacles != SCREE_RENDER_GHOST);
  status = draw_bodies(&canvas, replay, frame, extent, &settings, pressure, first);
  if (status == SCREE_OK)
    status = draw_bodies(&canvas, replay, frame, extent, &settings, pressure, !first);
  canvas.opacity = 1.0;
  if (status == SCREE_OK && !canvas.flat)
    status = scree_render_shade(&canvas, occlusion_radius(replay, extent), replay->log);
  if (status == SCREE_OK && (settings.chains || frame->joints > 0)) {
    clear_depth(&canvas);
    status = scree_render_bars(replay, frame, settings.chains, canvas.flat, draw_bar, &canvas);
  }
  if (status == SCREE_OK) scree_render_average(&canvas, settings.width, settings.height, pixels);
  scree_free(canvas.owner);
  scree_free(canvas.depth);
  scree_free(canvas.colour);
  scree_free(pressure);
  return status;
}

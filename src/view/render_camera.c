/* The camera of the software renderer, which is that of the page. */
#include "math/vec3.h"
#include "view/render_canvas.h"

#include <math.h>

static void aim_flat(Canvas *canvas, const scree_ReplayExtent *extent) {
  const double aspect = (double)canvas->width / canvas->height;
  const double half = 0.54 * fmax(extent->upper[1] - extent->lower[1],
                                  (extent->upper[0] - extent->lower[0]) / aspect);
  canvas->focal = 0.5 * canvas->height / (half > 0.0 ? half : extent->length);
  canvas->right = scree_vec3(1, 0, 0), canvas->up = scree_vec3(0, 1, 0);
  canvas->back = scree_vec3(0, 0, 1);
  canvas->eye = scree_vec3(extent->origin[0], extent->origin[1], 0.0);
}

/* The camera position from which all points are in the picture: a point at (x, depth), across and
 * towards the eye, is visible when the eye, at `across` and `distance`, has distance - depth >= |x
 * - across| / t. The least distance follows from the largest depth + x / t and depth - x / t;
 * likewise along y. */
typedef struct Aim {
  double t[2], plus[2], minus[2];
} Aim;

static void aim_at(Aim *aim, const Canvas *canvas, scree_Vec3 d, double radius) {
  const double depth = scree_dot(d, canvas->back);
  const double x[2] = {scree_dot(d, canvas->right), scree_dot(d, canvas->up)};
  for (int k = 0; k < 2; ++k) {
    const double r = radius * sqrt(1.0 + 1.0 / (aim->t[k] * aim->t[k]));
    aim->plus[k] = fmax(aim->plus[k], depth + x[k] / aim->t[k] + r);
    aim->minus[k] = fmax(aim->minus[k], depth - x[k] / aim->t[k] + r);
  }
}

/* The bodies of the frame that are within the extent, or the corners of the extent. */
static void aim_at_all(Aim *aim, const Canvas *canvas, const scree_Replay *replay,
                       const scree_ReplayFrame *frame, const scree_ReplayExtent *extent,
                       bool tight) {
  const scree_Vec3 middle = {extent->origin[0], extent->origin[1], extent->origin[2]};
  int seen = 0;
  for (int i = 0; tight && i < frame->bodies; ++i) {
    const double *x = frame->position + 3 * i;
    bool inside = !replay->bodies[i].obstacle && frame->present[i];
    for (int c = 0; c < 3; ++c)
      inside = inside && x[c] >= extent->lower[c] && x[c] <= extent->upper[c];
    if (!inside) continue;
    aim_at(aim, canvas, scree_sub(scree_vec3(x[0], x[1], x[2]), middle),
           replay->bodies[i].shape.bounding_radius);
    ++seen;
  }
  for (int i = 0; i < frame->bodies; ++i)
    if (replay->bodies[i].shape.kind == SCREE_SHAPE_DRUM) seen = 0; /* the drum is visible, too */
  for (int k = 0; seen == 0 && k < 8; ++k)
    aim_at(aim, canvas,
           scree_sub(scree_vec3((k & 1 ? extent->upper : extent->lower)[0],
                                (k & 2 ? extent->upper : extent->lower)[1],
                                (k & 4 ? extent->upper : extent->lower)[2]),
                     middle),
           0.0);
}

/* The axes for a direction towards the eye. */
static void turn(Canvas *canvas, scree_Vec3 view, scree_Vec3 up) {
  canvas->back = scree_scale(1.0 / scree_norm(view), view);
  scree_Vec3 right = scree_cross(up, canvas->back);
  if (!(scree_norm(right) > 1e-9)) right = scree_cross(scree_vec3(up.z, up.x, up.y), canvas->back);
  canvas->right = scree_scale(1.0 / scree_norm(right), right);
  canvas->up = scree_cross(canvas->back, canvas->right);
}

/* From the direction that is asked for, as near as possible. */
static void aim(Canvas *canvas, const scree_Replay *replay, const scree_ReplayFrame *frame,
                const scree_ReplayExtent *extent, const scree_RenderSettings *settings) {
  const scree_Vec3 up = {extent->up[0], extent->up[1], extent->up[2]};
  scree_Vec3 front = scree_vec3(1, 0, 0);
  double shortest = INFINITY;
  for (int c = 0; c < 3; ++c) {
    const double size = extent->upper[c] - extent->lower[c];
    if (fabs(extent->up[c]) >= 0.7 || size >= shortest) continue;
    shortest = size;
    front = scree_vec3(c == 0, c == 1 ? -1.0 : 0.0, c == 2);
  }
  const scree_Vec3 side = scree_cross(up, front);
  const double *from = settings->from;
  scree_Vec3 view = scree_axpy(scree_scale(from[0], front), from[1], side);
  view = scree_axpy(view, from[2], up);
  turn(canvas, view, up);
  view = canvas->back;
  const double tan_y = tan(0.5 * 35.0 * 3.14159265358979323846 / 180.0);
  Aim all = {{tan_y * canvas->width / canvas->height, tan_y},
             {-INFINITY, -INFINITY},
             {-INFINITY, -INFINITY}};
  aim_at_all(&all, canvas, replay, frame, extent, settings->tight);
  double far = 0.0, across[2];
  for (int k = 0; k < 2; ++k) {
    far = fmax(far, 0.5 * (all.plus[k] + all.minus[k]));
    across[k] = 0.5 * all.t[k] * (all.plus[k] - all.minus[k]);
  }
  if (!(far > 0.0)) far = 4.0 * extent->length;
  const scree_Vec3 middle = {extent->origin[0], extent->origin[1], extent->origin[2]};
  canvas->eye = scree_axpy(middle, 1.06 * far, view);
  canvas->eye = scree_axpy(canvas->eye, across[0], canvas->right);
  canvas->eye = scree_axpy(canvas->eye, across[1], canvas->up);
  canvas->focal = 0.5 * canvas->height / tan_y;
  canvas->near = 0.002 * extent->length;
}

/* From a given place to a given point. */
static void aim_given(Canvas *canvas, const scree_ReplayExtent *extent,
                      const scree_RenderSettings *settings) {
  const double *e = settings->eye, *t = settings->target;
  canvas->eye = scree_vec3(e[0], e[1], e[2]);
  turn(canvas, scree_sub(canvas->eye, scree_vec3(t[0], t[1], t[2])),
       scree_vec3(extent->up[0], extent->up[1], extent->up[2]));
  canvas->focal = 0.5 * canvas->height / tan(0.5 * 35.0 * 3.14159265358979323846 / 180.0);
  canvas->near = 0.002 * extent->length;
}

void scree_render_aim(Canvas *canvas, const scree_Replay *replay, const scree_ReplayFrame *frame,
                      const scree_ReplayExtent *extent, const scree_RenderSettings *settings) {
  if (canvas->flat)
    aim_flat(canvas, extent);
  else if (settings->placed)
    aim_given(canvas, extent, settings);
  else
    aim(canvas, replay, frame, extent, settings);
  if (settings->zoom > 0.0) canvas->focal *= settings->zoom;
}

/* The last passes over a drawn picture: corners and edges from its depths, and the average over the
 * pixels of the large picture. In perspective 1 / distance, which is what `depth` holds, is linear
 * over a plane: its second differences are zero but at creases and outlines; blocks whose faces lie
 * in one plane are told apart by their numbers. Corners: points of the
 * picture near by that stand above the tangent plane hide a part of the sky (McGuire et al., The
 * Alchemy screen-space ambient obscurance algorithm, 2011). */
#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "view/render_canvas.h"

#include <math.h>

enum { SAMPLES = 16, BLUR = 4 };

static double depth_at(const Canvas *canvas, int x, int y) {
  x = x < 0 ? 0 : x >= canvas->width ? canvas->width - 1 : x;
  y = y < 0 ? 0 : y >= canvas->height ? canvas->height - 1 : y;
  return (double)canvas->depth[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* The point of a pixel in the camera's axes, in units of `length`, z away from the eye; the
 * background is far away. */
static scree_Vec3 point_at(const Canvas *canvas, int x, int y) {
  const double depth = depth_at(canvas, x, y), z = depth > 0.0 ? 1.0 / depth : 1e3;
  return scree_vec3((x + 0.5 - 0.5 * canvas->width) / canvas->focal * z,
                    (0.5 * canvas->height - y - 0.5) / canvas->focal * z, z);
}

/* Of the two differences across a point the one along the same surface. */
static scree_Vec3 smaller(scree_Vec3 a, scree_Vec3 b) {
  return fabs(a.z) < fabs(b.z) ? a : b;
}

/* Share of the sky that a pixel sees. */
static double sky_at(const Canvas *canvas, int x, int y, double radius) {
  /* at the border the neighbours outside would make a wrong plane */
  x = x < 1 ? 1 : x > canvas->width - 2 ? canvas->width - 2 : x;
  y = y < 1 ? 1 : y > canvas->height - 2 ? canvas->height - 2 : y;
  const scree_Vec3 p = point_at(canvas, x, y);
  if (p.z >= 1e3) return 1.0;
  const scree_Vec3 dx =
      smaller(scree_sub(point_at(canvas, x + 1, y), p), scree_sub(p, point_at(canvas, x - 1, y)));
  const scree_Vec3 dy =
      smaller(scree_sub(p, point_at(canvas, x, y + 1)), scree_sub(point_at(canvas, x, y - 1), p));
  /* x right, y up, z away: this product looks towards the eye */
  const scree_Vec3 n = scree_unit_or(scree_cross(dy, dx), scree_vec3(0, 0, -1));
  const double reach = fmin(canvas->focal * radius / p.z, 0.12 * canvas->height);
  const double pattern = 52.9829189 * fmod(0.06711056 * x + 0.00583715 * y, 1.0);
  const double start = 6.283185307179586 * fmod(pattern, 1.0), square = radius * radius;
  double sum = 0.0;
  for (int k = 0; k < SAMPLES; ++k) {
    const double r = reach * sqrt((k + 0.6) / SAMPLES), angle = start + 2.399963 * k;
    const scree_Vec3 v = scree_sub(
        point_at(canvas, (int)floor(x + r * cos(angle)), (int)floor(y + r * sin(angle))), p);
    const double far = scree_dot(v, v), near = fmax(square - far, 0.0);
    const double above = fmax(scree_dot(v, n) - 0.002 * p.z, 0.0);
    sum += near * near * near * above / (far + 0.02 * square);
  }
  const double hidden = 0.42 * 12.0 / SAMPLES * radius * sum / (square * square * square);
  return fmin(fmax(1.0 - hidden, 0.25), 1.0);
}

static int owner_at(const Canvas *canvas, int x, int y) {
  return canvas->owner[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* How much a pixel lies on a crease, an outline or a seam between two bodies, 0 to 1. */
static double edge_at(const Canvas *canvas, int x, int y) {
  const double d = depth_at(canvas, x, y);
  if (!(d > 0.0) || x < 2 || y < 2 || x >= canvas->width - 2 || y >= canvas->height - 2) return 0.0;
  const int own = owner_at(canvas, x, y);
  if (own == FLOOR) return 0.0;
  const int around[4] = {owner_at(canvas, x + 1, y), owner_at(canvas, x - 1, y),
                         owner_at(canvas, x, y + 1), owner_at(canvas, x, y - 1)};
  for (int k = 0; k < 4; ++k)
    if (around[k] != own && around[k] != FLOOR) return 0.8;
  const double bend = fabs(depth_at(canvas, x + 2, y) + depth_at(canvas, x - 2, y) - 2.0 * d) +
                      fabs(depth_at(canvas, x, y + 2) + depth_at(canvas, x, y - 2) - 2.0 * d);
  const double slope = 0.5 * bend / d * canvas->focal; /* change of slope over the two pixels */
  const double t = fmin(fmax((slope - 1.3) / 2.7, 0.0), 1.0);
  return t * t * (3.0 - 2.0 * t);
}

/* Mean over the neighbours at about the same depth, which removes the pattern of the samples. */
static double smooth(const Canvas *canvas, const float *sky, int x, int y) {
  const int w = canvas->width / OVERSAMPLE, h = canvas->height / OVERSAMPLE;
  const double d = depth_at(canvas, OVERSAMPLE * x, OVERSAMPLE * y);
  double sum = 0.0, weights = 0.0;
  for (int j = y - BLUR / 2; j < y + BLUR / 2; ++j)
    for (int i = x - BLUR / 2; i < x + BLUR / 2; ++i) {
      if (i < 0 || j < 0 || i >= w || j >= h) continue;
      const double other = depth_at(canvas, OVERSAMPLE * i, OVERSAMPLE * j);
      const double weight = 1e-4 + fmax(0.0, 1.0 - 60.0 * fabs(other - d) / fmax(d, 1e-30));
      sum += weight * (double)sky[(size_t)j * (size_t)w + (size_t)i];
      weights += weight;
    }
  return weights > 0.0 ? sum / weights : 1.0;
}

scree_Status scree_render_shade(Canvas *canvas, double radius, const scree_Log *log) {
  const int w = canvas->width / OVERSAMPLE, h = canvas->height / OVERSAMPLE;
  float *sky = SCREE_ALLOC(float, (size_t)w *(size_t)h);
  if (!sky) return scree_fail_memory(log, "a picture");
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      sky[(size_t)y * (size_t)w + (size_t)x] =
          (float)sky_at(canvas, OVERSAMPLE * x, OVERSAMPLE * y, radius / canvas->length);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const double shade = smooth(canvas, sky, x, y);
      for (int s = 0; s < OVERSAMPLE * OVERSAMPLE; ++s) {
        const int px = OVERSAMPLE * x + s % OVERSAMPLE, py = OVERSAMPLE * y + s / OVERSAMPLE;
        float *c = canvas->colour + 3 * ((size_t)py * (size_t)canvas->width + (size_t)px);
        const double factor = shade * (1.0 - 0.45 * edge_at(canvas, px, py));
        for (int m = 0; m < 3; ++m) c[m] = (float)(factor * (double)c[m]);
      }
    }
  scree_free(sky);
  return SCREE_OK;
}

void scree_render_average(const Canvas *canvas, int width, int height, unsigned char *pixels) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        double sum = 0.0;
        for (int s = 0; s < OVERSAMPLE * OVERSAMPLE; ++s) {
          const size_t at = (size_t)(OVERSAMPLE * y + s / OVERSAMPLE) * (size_t)canvas->width +
                            (size_t)(OVERSAMPLE * x + s % OVERSAMPLE);
          sum += (double)canvas->colour[3 * at + (size_t)c];
        }
        const double value = 255.0 * sum / (OVERSAMPLE * OVERSAMPLE);
        pixels[3 * ((size_t)y * (size_t)width + (size_t)x) + (size_t)c] =
            (unsigned char)(value < 0.0     ? 0.0
                            : value > 255.0 ? 255.0
                                            : value + 0.5);
      }
}

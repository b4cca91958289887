/* Runs made up for tests: results.h5 and telemetry.jsonl as docs/RESULTS.md describes them, written
 * with plain HDF5 calls, so that the reader is tested against the documentation and not against the
 * program's own writer. */
#ifndef TESTS_REPLAY_FIXTURE_H
#define TESTS_REPLAY_FIXTURE_H

#include "scree/shape.h"

#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Fixture {
  int dimension, bodies, frames;
  int poured;      /* so many of the last bodies come one frame after the other */
  double offset;   /* of all positions, along x */
  double scale;    /* of all lengths */
  bool contacts;   /* neighbours touch */
  bool all_shapes; /* every kind of the dimension in turn, else disks or spheres */
  double error;    /* of the last step; the tolerance is 1e-8 */
  double stray;    /* added to the place of the last body */
  int gone;        /* > 0: this body is taken away after the third frame */
} Fixture;

static Fixture fixture_default(void) {
  return (Fixture){.dimension = 3,
                   .bodies = 24,
                   .frames = 7,
                   .scale = 1.0,
                   .contacts = true,
                   .all_shapes = true,
                   .error = 2e-9};
}

static double fixture_x(const Fixture *fixture, int frame, int body, int axis) {
  const int side = (int)ceil(cbrt(fixture->bodies));
  const int cell[3] = {body % side, body / side % side, body / (side * side)};
  const double wave = 0.2 * sin(0.9 * frame + body + axis);
  if (fixture->dimension == 2) {
    const int row = (int)ceil(sqrt(fixture->bodies));
    const double flat[3] = {body % row + wave, body / row + wave, -wave / 1e300};
    return axis == 2 ? 0.0 : fixture->scale * flat[axis] + (axis == 0 ? fixture->offset : 0.0);
  }
  return fixture->scale * (cell[axis] + wave) + (axis == 0 ? fixture->offset : 0.0);
}

static double fixture_v(int frame, int body, int axis) {
  return cos(0.3 * frame + body) * (axis + 1) + 0.01 * body;
}

static int fixture_present(const Fixture *fixture, int frame) {
  const int late = fixture->poured - frame;
  return fixture->bodies - (late > 0 ? late : 0);
}

static void fixture_put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims,
                        const void *values) {
  const hid_t space = H5Screate_simple(rank, dims, NULL);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t data = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  hsize_t total = 1;
  for (int k = 0; k < rank; ++k) total *= dims[k];
  if (total) H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Pclose(links);
  H5Sclose(space);
}

static void fixture_attribute(hid_t file, const char *name, hid_t type, hsize_t count,
                              const void *value) {
  const hid_t space = count > 1 ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, value);
  H5Aclose(attribute);
  H5Sclose(space);
}

static void fixture_text(hid_t file, const char *name, const char *text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  fixture_attribute(file, name, type, 1, text);
  H5Tclose(type);
}

static void fixture_texts(hid_t file, const char *name, const char *const *texts, hsize_t count) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  char buffer[16 * 16] = {0};
  for (hsize_t k = 0; k < count; ++k) snprintf(buffer + 16 * k, 16, "%s", texts[k]);
  H5Tset_size(type, 16);
  fixture_put(file, name, type, 1, &count, buffer);
  H5Tclose(type);
}

/* Kinds of 2D: disk, ellipse, polygon, segment; of 3D: sphere, ellipsoid, box, capsule. Body 0 is
 * an obstacle: half-plane or half-space. */
static void fixture_bodies(hid_t file, const Fixture *fixture) {
  static const char *const kinds2[] = {"half-plane", "disk", "ellipse", "polygon", "segment"};
  static const char *const kinds3[] = {"half-space", "sphere", "ellipsoid", "box", "capsule"};
  static const char *const materials[] = {"rock", "steel"};
  static const char *const colours[] = {"#1060c0", ""};
  const hsize_t n = (hsize_t)fixture->bodies, vector[2] = {n, 3}, offsets = n + 1;
  int *kind = calloc(n, sizeof *kind), *obstacle = calloc(n, sizeof *obstacle),
      *material = calloc(n, sizeof *material), *first = calloc(n, sizeof *first);
  double *mass = calloc(n, sizeof *mass), *radius = calloc(n, sizeof *radius),
         *half = calloc(n, sizeof *half), *semi = calloc(3 * n, sizeof *semi),
         *vertices = calloc(9 * n, sizeof *vertices);
  int64_t *offset = calloc(offsets, sizeof *offset);
  hsize_t points = 0;
  const double s = fixture->scale;
  for (hsize_t i = 0; i < n; ++i) {
    offset[i] = (int64_t)points;
    obstacle[i] = i == 0;
    kind[i] = i == 0 ? 0 : fixture->all_shapes ? 1 + (int)((i - 1) % 4) : 1;
    material[i] = (int)(i % 2);
    mass[i] = i == 0 ? INFINITY : 1.0 + 0.25 * (double)i;
    if (kind[i] == 1) radius[i] = (0.3 + 0.01 * (double)(i % 10)) * s;
    if (kind[i] == 2 || (kind[i] == 3 && fixture->dimension == 3))
      semi[3 * i] = 0.4 * s, semi[3 * i + 1] = 0.3 * s,
               semi[3 * i + 2] = fixture->dimension == 3 ? 0.2 * s : 0.0;
    if (kind[i] == 4) radius[i] = 0.15 * s, half[i] = 0.25 * s;
    if (kind[i] == 3 && fixture->dimension == 2) {
      const double corner[9] = {-0.3 * s, -0.2 * s, 0, 0.3 * s, -0.2 * s, 0, 0, 0.4 * s, 0};
      memcpy(vertices + 3 * points, corner, sizeof corner);
      points += 3;
    }
  }
  offset[n] = (int64_t)points;
  const hsize_t corners[2] = {points, 3};
  fixture_texts(file, "/bodies/kind_names", fixture->dimension == 2 ? kinds2 : kinds3, 5);
  fixture_texts(file, "/materials/name", materials, 2);
  fixture_texts(file, "/materials/colour", colours, 2);
  fixture_put(file, "/bodies/kind", H5T_NATIVE_INT, 1, &n, kind);
  fixture_put(file, "/bodies/obstacle", H5T_NATIVE_INT, 1, &n, obstacle);
  fixture_put(file, "/bodies/material", H5T_NATIVE_INT, 1, &n, material);
  fixture_put(file, "/bodies/first_frame", H5T_NATIVE_INT, 1, &n, first);
  fixture_put(file, "/bodies/mass", H5T_NATIVE_DOUBLE, 1, &n, mass);
  fixture_put(file, "/bodies/radius", H5T_NATIVE_DOUBLE, 1, &n, radius);
  fixture_put(file, "/bodies/half_length", H5T_NATIVE_DOUBLE, 1, &n, half);
  fixture_put(file, "/bodies/semi", H5T_NATIVE_DOUBLE, 2, vector, semi);
  fixture_put(file, "/bodies/vertex_offset", H5T_NATIVE_INT64, 1, &offsets, offset);
  fixture_put(file, "/bodies/vertices", H5T_NATIVE_DOUBLE, 2, corners, vertices);
  free(kind), free(obstacle), free(material), free(first), free(mass), free(radius), free(half);
  free(semi), free(vertices), free(offset);
}

static void fixture_frames(hid_t file, const Fixture *fixture) {
  const hsize_t f = (hsize_t)fixture->frames, n = (hsize_t)fixture->bodies;
  const hsize_t vector[3] = {f, n, 3}, quaternion[3] = {f, n, 4}, offsets = f + 1;
  double *x = calloc(3 * f * n + 1, sizeof *x), *q = calloc(4 * f * n + 1, sizeof *q),
         *v = calloc(3 * f * n + 1, sizeof *v), *w = calloc(3 * f * n + 1, sizeof *w),
         *time = calloc(f + 1, sizeof *time);
  int64_t *step = calloc(f + 1, sizeof *step), *offset = calloc(f + 1, sizeof *offset);
  int *count = calloc(f + 1, sizeof *count);
  for (int k = 0; k < fixture->frames; ++k) {
    time[k] = 0.02 * k;
    step[k] = 20 * k;
    count[k] = fixture_present(fixture, k);
    offset[k + 1] = offset[k] + (fixture->contacts && k > 0 ? count[k] - 1 : 0);
    for (int i = 0; i < fixture->bodies; ++i) {
      const size_t at = (size_t)k * (size_t)n + (size_t)i;
      const double angle = i ? 0.1 * k + i : 0.0;
      q[4 * at] = cos(0.5 * angle), q[4 * at + 3] = sin(0.5 * angle);
      w[3 * at + 2] = i ? 0.1 * i : 0.0;
      for (int c = 0; c < 3; ++c) {
        x[3 * at + (size_t)c] = i ? fixture_x(fixture, k, i, c) : c == 0 ? fixture->offset : 0.0;
        v[3 * at + (size_t)c] = i ? fixture_v(k, i, c) : 0.0;
        if (i == fixture->bodies - 1) x[3 * at + (size_t)c] += fixture->stray;
        if (i >= count[k]) x[3 * at + (size_t)c] = NAN;
      }
      if (fixture->dimension == 2) v[3 * at + 2] = 0.0;
    }
  }
  fixture_put(file, "/frames/time", H5T_NATIVE_DOUBLE, 1, &f, time);
  fixture_put(file, "/frames/step", H5T_NATIVE_INT64, 1, &f, step);
  fixture_put(file, "/frames/body_count", H5T_NATIVE_INT, 1, &f, count);
  fixture_put(file, "/frames/position", H5T_NATIVE_DOUBLE, 3, vector, x);
  fixture_put(file, "/frames/orientation", H5T_NATIVE_DOUBLE, 3, quaternion, q);
  fixture_put(file, "/frames/velocity", H5T_NATIVE_DOUBLE, 3, vector, v);
  fixture_put(file, "/frames/angular_velocity", H5T_NATIVE_DOUBLE, 3, vector, w);
  fixture_put(file, "/frames/contact_offset", H5T_NATIVE_INT64, 1, &offsets, offset);
  if (fixture->gone > 0) {
    unsigned char *alive = calloc(f * n + 1, 1);
    for (hsize_t k = 0; k < f * n; ++k) alive[k] = (int)(k % n) != fixture->gone || k / n < 3;
    fixture_put(file, "/frames/alive", H5T_NATIVE_UCHAR, 2, vector, alive);
    free(alive);
  }

  /* Contact c of a frame is between bodies c + 1 and c. */
  const hsize_t nc = (hsize_t)offset[f], three[2] = {nc, 3}, two[2] = {nc, 2};
  double *p = calloc(3 * nc + 1, sizeof *p), *m = calloc(3 * nc + 1, sizeof *m),
         *r = calloc(3 * nc + 1, sizeof *r), *u = calloc(3 * nc + 1, sizeof *u),
         *s = calloc(3 * nc + 1, sizeof *s), *gap = calloc(nc + 1, sizeof *gap);
  int *body = calloc(2 * nc + 1, sizeof *body);
  signed char *status = calloc(nc + 1, sizeof *status);
  for (int k = 0; k < fixture->frames; ++k)
    for (int64_t c = offset[k]; c < offset[k + 1]; ++c) {
      const int b = (int)(c - offset[k]), a = b + 1;
      for (int i = 0; i < 3; ++i) {
        const double xa = fixture_x(fixture, k, a, i), xb = b ? fixture_x(fixture, k, b, i) : xa;
        p[3 * c + i] = 0.5 * (xa + xb);
        m[3 * c + i] = i == 0;
        r[3 * c + i] = i == 0 ? 1.0 + (double)(b % 5) : 0.25;
        s[3 * c + i] = r[3 * c + i];
        u[3 * c + i] = i == 0 ? 0.0 : 0.125 * b;
      }
      gap[c] = -1e-6 * fixture->scale * b;
      body[2 * c] = a, body[2 * c + 1] = b;
      status[c] = (signed char)(b % 3);
    }
  fixture_put(file, "/contacts/body", H5T_NATIVE_INT, 2, two, body);
  fixture_put(file, "/contacts/position", H5T_NATIVE_DOUBLE, 2, three, p);
  fixture_put(file, "/contacts/normal", H5T_NATIVE_DOUBLE, 2, three, m);
  fixture_put(file, "/contacts/impulse", H5T_NATIVE_DOUBLE, 2, three, r);
  fixture_put(file, "/contacts/impulse_world", H5T_NATIVE_DOUBLE, 2, three, s);
  fixture_put(file, "/contacts/velocity", H5T_NATIVE_DOUBLE, 2, three, u);
  fixture_put(file, "/contacts/gap", H5T_NATIVE_DOUBLE, 1, &nc, gap);
  for (hsize_t c = 0; c < nc; ++c) gap[c] = 0.5;
  fixture_put(file, "/contacts/mu", H5T_NATIVE_DOUBLE, 1, &nc, gap);
  fixture_put(file, "/contacts/status", H5T_NATIVE_SCHAR, 1, &nc, status);
  for (int k = 0; k < fixture->frames; ++k) time[k] = 0.5 + 0.01 * k;
  fixture_put(file, "/analysis/packing_fraction", H5T_NATIVE_DOUBLE, 1, &f, time);
  free(x), free(q), free(v), free(w), free(time), free(step), free(offset), free(count), free(p);
  free(m), free(r), free(u), free(s), free(gap), free(body), free(status);
}

static void fixture_telemetry(const char *folder, const Fixture *fixture) {
  char path[512];
  snprintf(path, sizeof path, "%s/telemetry.jsonl", folder);
  FILE *file = fopen(path, "w");
  if (!file) return;
  const int steps = 20 * (fixture->frames - 1);
  for (int k = 1; k <= steps; ++k)
    fprintf(
        file,
        "{\"step\":%d,\"time\":%.17g,\"h\":0.001,\"bodies\":%d,\"contacts\":%d,\"certified\":%s,"
        "\"error\":%g,\"tolerance\":1e-08,\"worst_body\":[3,2],\"penetration\":%g,"
        "\"deepest_body\":[5,4],\"solver\":\"nlgs \\\"x\\\"\",\"iterations\":%d,\"kinetic\":%g,"
        "\"potential\":%g,\"work_forces\":0,\"work_drivers\":0.5,\"dissipated_normal\":0.25,"
        "\"dissipated_friction\":0.25,\"closing\":%s,\"seconds_detect\":0.001,"
        "\"seconds_build\":0.001,\"seconds_solve\":0.002,\"seconds_move\":0,"
        "\"seconds_certify\":0}\n",
        k, 0.001 * k, fixture->bodies, fixture->bodies - 1,
        k == steps && fixture->error > 1e-8 ? "false" : "true", k == steps ? fixture->error : 1e-9,
        1e-5 * k, 10 + k % 7, 4.0 + sin(0.1 * k), 10.0 - 0.01 * k, k == 3 ? "null" : "1e-15");
  fclose(file);
}

/* The folder is made. */
static void fixture_write(const char *folder, const Fixture *fixture) {
  char path[512];
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/results.h5", folder);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const double gravity[3] = {0, fixture->dimension == 2 ? -9.81 : 0,
                             fixture->dimension == 3 ? -9.81 : 0};
  const double step = 0.001;
  const int finished = 1;
  fixture_text(file, "format", "scree-results");
  fixture_text(file, "title", "A test </script> & \"quotes\"");
  fixture_attribute(file, "dimension", H5T_NATIVE_INT, 1, &fixture->dimension);
  fixture_attribute(file, "gravity", H5T_NATIVE_DOUBLE, 3, gravity);
  fixture_attribute(file, "step", H5T_NATIVE_DOUBLE, 1, &step);
  fixture_attribute(file, "finished", H5T_NATIVE_INT, 1, &finished);
  fixture_bodies(file, fixture);
  fixture_frames(file, fixture);
  H5Fclose(file);
  fixture_telemetry(folder, fixture);
}

#endif

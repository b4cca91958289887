/* A run as VTK files (see vtk.h). */
#include "run/frames.h"
#include "scree/view.h"

#include "core/log.h"
#include "core/memory.h"
#include "math/vec3.h"
#include "view/mesh.h"
#include "view/vtk_file.h"
#include "view/vtk_glyphs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEGMENTS = 24, COLUMNS = 12 };

typedef struct Export {
  scree_Replay *replay;
  const char *directory;
  char *path;
  size_t path_size;
  double reach;
  scree_Vec3 middle;
  scree_ReplayFrame frame;
  /* Work: columns of the file being made. */
  double *real[COLUMNS];
  int *integer[COLUMNS];
  size_t real_capacity[COLUMNS], integer_capacity[COLUMNS];
  scree_DrawnMesh mesh;
  scree_Glyphs glyphs;
  bool all_triangles; /* bodies with a glyph are in `shapes` too */
} Export;

static double *real_column(Export *out, int k, size_t count) {
  return scree_grow((void **)&out->real[k], &out->real_capacity[k], count, sizeof(double))
             ? out->real[k]
             : NULL;
}

static int *int_column(Export *out, int k, size_t count) {
  return scree_grow((void **)&out->integer[k], &out->integer_capacity[k], count, sizeof(int))
             ? out->integer[k]
             : NULL;
}

static const char *file_name(Export *out, const char *part, int k) {
  snprintf(out->path, out->path_size, "%s/%s_%06d.vtp", out->directory, part, k);
  return out->path;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Scale of a sphere glyph: the radius of round shapes, else half the width. */
static double glyph_radius(const scree_Shape *shape) {
  if (scree_shape_is_ball(shape)) return shape->radius;
  return isfinite(shape->size) ? 0.5 * shape->size : 0.0;
}

static scree_Status write_bodies(Export *out, int k) {
  const scree_Replay *replay = out->replay;
  const size_t n = (size_t)out->frame.bodies;
  double *radius = real_column(out, 0, n), *mass = real_column(out, 1, n);
  double *speed = real_column(out, 2, n), *pressure = real_column(out, 3, n);
  double *stress = real_column(out, 4, n), *position = real_column(out, 5, 3 * n);
  double *velocity = real_column(out, 6, 3 * n), *angular = real_column(out, 7, 3 * n);
  double *orientation = real_column(out, 8, 4 * n), *scale = real_column(out, 9, 3 * n);
  int *glyph = int_column(out, 4, n);
  int *body = int_column(out, 0, n), *kind = int_column(out, 1, n);
  int *material = int_column(out, 2, n), *obstacle = int_column(out, 3, n);
  if (!radius || !mass || !speed || !pressure || !stress || !position || !velocity || !angular ||
      !orientation || !scale || !glyph || !body || !kind || !material || !obstacle)
    return scree_fail_memory(replay->log, "a VTK file");
  scree_replay_pressure(replay, &out->frame, pressure);
  size_t m = 0; /* bodies that are there */
  for (size_t i = 0; i < (size_t)out->frame.bodies; ++i) {
    if (!out->frame.present[i]) continue;
    const scree_ReplayBody *b = &replay->bodies[i];
    const double *v = out->frame.velocity + 3 * i;
    radius[m] = glyph_radius(&b->shape);
    mass[m] = b->mass;
    speed[m] = hypot(hypot(v[0], v[1]), v[2]);
    stress[m] = pressure[i];
    memcpy(position + 3 * m, out->frame.position + 3 * i, 3 * sizeof *position);
    memcpy(velocity + 3 * m, v, 3 * sizeof *velocity);
    memcpy(angular + 3 * m, out->frame.angular + 3 * i, 3 * sizeof *angular);
    memcpy(orientation + 4 * m, out->frame.orientation + 4 * i, 4 * sizeof *orientation);
    memcpy(scale + 3 * m, out->glyphs.scale + 3 * i, 3 * sizeof *scale);
    if (out->frame.deforms)
      for (size_t c = 0; c < 3; ++c) scale[3 * m + c] *= out->frame.stretch[3 * i + c];
    glyph[m] = out->glyphs.glyph[i];
    body[m] = (int)i;
    kind[m] = (int)b->shape.kind;
    material[m] = b->material;
    obstacle[m] = b->obstacle;
    ++m;
  }
  const scree_VtkArray arrays[] = {{"body", SCREE_VTK_I32, 1, body},
                                   {"shape", SCREE_VTK_I32, 1, kind},
                                   {"material", SCREE_VTK_I32, 1, material},
                                   {"obstacle", SCREE_VTK_I32, 1, obstacle},
                                   {"radius", SCREE_VTK_F64, 1, radius},
                                   {"mass", SCREE_VTK_F64, 1, mass},
                                   {"speed", SCREE_VTK_F64, 1, speed},
                                   {"pressure", SCREE_VTK_F64, 1, stress},
                                   {"velocity", SCREE_VTK_F64, 3, velocity},
                                   {"angular_velocity", SCREE_VTK_F64, 3, angular},
                                   {"orientation", SCREE_VTK_F64, 4, orientation},
                                   {"scale", SCREE_VTK_F64, 3, scale},
                                   {"glyph", SCREE_VTK_I32, 1, glyph},
                                   {0}};
  const scree_VtkPolygons polygons = {.points = m, .point = position, .point_arrays = arrays};
  return scree_vtk_write_polygons(file_name(out, "bodies", k), &polygons, out->frame.time,
                                  replay->log);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static scree_Pose pose_of(const scree_ReplayFrame *frame, size_t i) {
  const double *x = frame->position + 3 * i, *q = frame->orientation + 4 * i;
  return (scree_Pose){{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
}

/* Triangles of one body behind those already there. */
static bool append_shape(Export *out, size_t i, size_t *points, size_t *triangles) {
  const scree_DrawnMesh *mesh = &out->mesh;
  const scree_Pose pose = pose_of(&out->frame, i);
  double *point = real_column(out, 0, 3 * (*points + mesh->points));
  double *speed = real_column(out, 1, *triangles + mesh->triangles);
  double *velocity = real_column(out, 2, 3 * (*triangles + mesh->triangles));
  double *stress = real_column(out, 3, *points + mesh->points);
  int *corner = int_column(out, 0, 3 * (*triangles + mesh->triangles));
  int *body = int_column(out, 1, *triangles + mesh->triangles);
  int *material = int_column(out, 2, *triangles + mesh->triangles);
  int *obstacle = int_column(out, 3, *triangles + mesh->triangles);
  if (!point || !speed || !velocity || !stress || !corner || !body || !material || !obstacle)
    return false;
  for (size_t p = 0; p < mesh->points; ++p) {
    const double *local = mesh->point + 3 * p;
    scree_Vec3 own = scree_vec3(local[0], local[1], local[2]);
    stress[*points + p] = mesh->stressed ? mesh->value[p] : 0;
    if (out->frame.deforms && !mesh->stressed) {
      const double *stretch = out->frame.stretch + 3 * i;
      own = scree_vec3(stretch[0] * own.x, stretch[1] * own.y, stretch[2] * own.z);
    }
    const scree_Vec3 world = scree_pose_apply(&pose, own);
    double *to = point + 3 * (*points + p);
    to[0] = world.x, to[1] = world.y, to[2] = world.z;
  }
  const double *v = out->frame.velocity + 3 * i;
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const size_t at = *triangles + t;
    for (size_t c = 0; c < 3; ++c) corner[3 * at + c] = mesh->triangle[3 * t + c] + (int)*points;
    memcpy(velocity + 3 * at, v, 3 * sizeof *v);
    speed[at] = hypot(hypot(v[0], v[1]), v[2]);
    body[at] = (int)i;
    material[at] = out->replay->bodies[i].material;
    obstacle[at] = out->replay->bodies[i].obstacle;
  }
  *points += mesh->points;
  *triangles += mesh->triangles;
  return true;
}

static scree_Status write_shapes(Export *out, int k) {
  const scree_Replay *replay = out->replay;
  size_t points = 0, triangles = 0;
  /* Room for an empty file. */
  if (!real_column(out, 0, 1) || !real_column(out, 1, 1) || !real_column(out, 2, 1) ||
      !real_column(out, 3, 1) || !int_column(out, 0, 1) || !int_column(out, 1, 1) ||
      !int_column(out, 2, 1) || !int_column(out, 3, 1))
    return scree_fail_memory(replay->log, "a VTK file");
  for (size_t i = 0; i < (size_t)out->frame.bodies; ++i) {
    const scree_Shape *shape = &replay->bodies[i].shape;
    if (shape->kind == SCREE_SHAPE_SPHERE || !out->frame.present[i]) continue;
    if (!out->all_triangles && out->glyphs.glyph[i] >= 0 && !replay->bodies[i].obstacle) continue;
    const scree_Pose pose = pose_of(&out->frame, i);
    const scree_ReplayBody *body = &replay->bodies[i];
    const scree_Status status =
        scree_mesh_has_nodes(body, &out->frame)
            ? scree_mesh_nodes(body, &out->frame, &pose, replay->log, &out->mesh)
            : scree_mesh_shape(shape, SEGMENTS, out->reach, scree_pose_invert(&pose, out->middle),
                               replay->log, &out->mesh);
    if (status != SCREE_OK) return status;
    if (!append_shape(out, i, &points, &triangles))
      return scree_fail_memory(replay->log, "a VTK file");
  }
  const scree_VtkArray arrays[] = {{"body", SCREE_VTK_I32, 1, out->integer[1]},
                                   {"material", SCREE_VTK_I32, 1, out->integer[2]},
                                   {"obstacle", SCREE_VTK_I32, 1, out->integer[3]},
                                   {"speed", SCREE_VTK_F64, 1, out->real[1]},
                                   {"velocity", SCREE_VTK_F64, 3, out->real[2]},
                                   {0}};
  /* von Mises' stress of finite elements */
  const scree_VtkArray stress[] = {{"stress", SCREE_VTK_F64, 1, out->real[3]}, {0}};
  const scree_VtkPolygons polygons = {.points = points,
                                      .triangles = triangles,
                                      .point = out->real[0],
                                      .triangle = out->integer[0],
                                      .point_arrays = out->frame.nodes ? stress : NULL,
                                      .cell_arrays = arrays};
  return scree_vtk_write_polygons(file_name(out, "shapes", k), &polygons, out->frame.time,
                                  replay->log);
}

/* ---- contacts -------------------------------------------------------------------------------- */

static scree_Status write_contacts(Export *out, int k) {
  static const struct {
    const char *name;
    int components;
    size_t at;
  } parts[] = {{"position", 3, offsetof(scree_ReplayContact, position)},
               {"normal", 3, offsetof(scree_ReplayContact, normal)},
               {"impulse", 3, offsetof(scree_ReplayContact, impulse)},
               {"impulse_local", 3, offsetof(scree_ReplayContact, r)},
               {"velocity_local", 3, offsetof(scree_ReplayContact, u)},
               {"gap", 1, offsetof(scree_ReplayContact, gap)},
               {"mu", 1, offsetof(scree_ReplayContact, mu)},
               {"moment", 3, offsetof(scree_ReplayContact, moment)},
               {"plastic", 1, offsetof(scree_ReplayContact, plastic)},
               {"energy", 1, offsetof(scree_ReplayContact, energy)},
               {"error", 1, offsetof(scree_ReplayContact, error)}};
  enum { PARTS = sizeof parts / sizeof *parts };
  const size_t nc = (size_t)out->frame.contacts;
  scree_VtkArray arrays[PARTS + 5] = {{0}};
  int count = 0;
  const bool errors = nc > 0 && !isnan(out->frame.contact[0].error);
  for (int p = 0; p < PARTS; ++p) {
    const size_t columns = (size_t)parts[p].components;
    double *column = real_column(out, p, columns * nc + 1);
    if (!column) return scree_fail_memory(out->replay->log, "a VTK file");
    for (size_t c = 0; c < nc; ++c)
      memcpy(column + columns * c, (const char *)&out->frame.contact[c] + parts[p].at,
             columns * sizeof *column);
    if (p == 0 || (p == PARTS - 1 && !errors)) continue;
    arrays[count++] = (scree_VtkArray){parts[p].name, SCREE_VTK_F64, parts[p].components, column};
  }
  double *strength = real_column(out, PARTS, nc + 1);
  int *bodies = int_column(out, 0, 2 * nc + 1), *state = int_column(out, 1, nc + 1);
  int *bond = int_column(out, 2, nc + 1);
  if (!strength || !bodies || !state || !bond)
    return scree_fail_memory(out->replay->log, "a VTK file");
  for (size_t c = 0; c < nc; ++c) {
    strength[c] = out->frame.contact[c].r[0];
    memcpy(bodies + 2 * c, out->frame.contact[c].body, 2 * sizeof *bodies);
    state[c] = (int)out->frame.contact[c].status;
    bond[c] = (int)out->frame.contact[c].bond;
  }
  arrays[count++] = (scree_VtkArray){"normal_impulse", SCREE_VTK_F64, 1, strength};
  arrays[count++] = (scree_VtkArray){"bodies", SCREE_VTK_I32, 2, bodies};
  arrays[count++] = (scree_VtkArray){"status", SCREE_VTK_I32, 1, state};
  arrays[count++] = (scree_VtkArray){"bond", SCREE_VTK_I32, 1, bond};
  const scree_VtkPolygons polygons = {.points = nc, .point = out->real[0], .point_arrays = arrays};
  return scree_vtk_write_polygons(file_name(out, "contacts", k), &polygons, out->frame.time,
                                  out->replay->log);
}

/* ---- joints ---------------------------------------------------------------------------------- */

/* A point for each joint and bond at its anchor. */
static scree_Status write_joints(Export *out, int k) {
  static const struct {
    const char *name;
    int components;
    size_t at;
  } parts[] = {{"position", 3, offsetof(scree_ReplayJoint, position)},
               {"axis", 3, offsetof(scree_ReplayJoint, axis)},
               {"force", 3, offsetof(scree_ReplayJoint, force)},
               {"torque", 3, offsetof(scree_ReplayJoint, torque)},
               {"x", 1, offsetof(scree_ReplayJoint, x)},
               {"effort", 1, offsetof(scree_ReplayJoint, effort)},
               {"energy", 1, offsetof(scree_ReplayJoint, energy)},
               {"plastic", 1, offsetof(scree_ReplayJoint, plastic)}};
  enum { PARTS = sizeof parts / sizeof *parts };
  const size_t n = (size_t)out->frame.joints;
  scree_VtkArray arrays[PARTS + 4] = {{0}};
  int count = 0;
  for (int p = 0; p < PARTS; ++p) {
    const size_t columns = (size_t)parts[p].components;
    double *column = real_column(out, p, columns * n + 1);
    if (!column) return scree_fail_memory(out->replay->log, "a VTK file");
    for (size_t j = 0; j < n; ++j)
      memcpy(column + columns * j, (const char *)&out->frame.joint[j] + parts[p].at,
             columns * sizeof *column);
    if (p > 0)
      arrays[count++] = (scree_VtkArray){parts[p].name, SCREE_VTK_F64, parts[p].components, column};
  }
  int *bodies = int_column(out, 0, 2 * n + 1), *state = int_column(out, 1, n + 1);
  int *kind = int_column(out, 2, n + 1);
  if (!bodies || !state || !kind) return scree_fail_memory(out->replay->log, "a VTK file");
  for (size_t j = 0; j < n; ++j) {
    memcpy(bodies + 2 * j, out->frame.joint[j].body, 2 * sizeof *bodies);
    state[j] = (int)out->frame.joint[j].status;
    kind[j] = (int)out->frame.joint[j].kind;
  }
  arrays[count++] = (scree_VtkArray){"bodies", SCREE_VTK_I32, 2, bodies};
  arrays[count++] = (scree_VtkArray){"status", SCREE_VTK_I32, 1, state};
  arrays[count++] = (scree_VtkArray){"kind", SCREE_VTK_I32, 1, kind};
  const scree_VtkPolygons polygons = {.points = n, .point = out->real[0], .point_arrays = arrays};
  return scree_vtk_write_polygons(file_name(out, "joints", k), &polygons, out->frame.time,
                                  out->replay->log);
}

/* ---- force chains ---------------------------------------------------------------------------- */

/* Lines from the centres of two bodies to the point where they press each other; obstacles have no
 * centre. */
static scree_Status write_chains(Export *out, int k) {
  const scree_Replay *replay = out->replay;
  const size_t nc = (size_t)out->frame.contacts;
  double *point = real_column(out, 0, 9 * nc + 1), *force = real_column(out, 1, 2 * nc + 1);
  int *line = int_column(out, 0, 4 * nc + 1), *contact = int_column(out, 1, 2 * nc + 1);
  if (!point || !force || !line || !contact) return scree_fail_memory(replay->log, "a VTK file");
  size_t points = 0, lines = 0;
  for (size_t c = 0; c < nc; ++c) {
    const scree_ReplayContact *at = &out->frame.contact[c];
    if (!(at->r[0] > 0)) continue;
    const size_t middle = points++;
    memcpy(point + 3 * middle, at->position, 3 * sizeof *point);
    for (int side = 0; side < 2; ++side) {
      const int b = at->body[side];
      if (b < 0 || b >= out->frame.bodies || replay->bodies[b].obstacle) continue;
      memcpy(point + 3 * points, out->frame.position + 3 * (size_t)b, 3 * sizeof *point);
      line[2 * lines] = (int)middle;
      line[2 * lines + 1] = (int)points++;
      contact[lines] = (int)c;
      force[lines++] = replay->h > 0 ? at->r[0] / replay->h : at->r[0];
    }
  }
  const scree_VtkArray arrays[] = {
      {"normal_force", SCREE_VTK_F64, 1, force}, {"contact", SCREE_VTK_I32, 1, contact}, {0}};
  const scree_VtkPolygons polygons = {
      .points = points, .lines = lines, .point = point, .line = line, .cell_arrays = arrays};
  return scree_vtk_write_polygons(file_name(out, "chains", k), &polygons, out->frame.time,
                                  replay->log);
}

/* ---- glyphs ---------------------------------------------------------------------------------- */

/* glyphs.vtm, a block for each mesh in the order of their numbers, and the meshes. */
static scree_Status write_glyphs(Export *out) {
  scree_Status status = SCREE_OK;
  for (int k = 0; k < out->glyphs.count && status == SCREE_OK; ++k) {
    const scree_DrawnMesh *mesh = &out->glyphs.mesh[k];
    const scree_VtkPolygons polygons = {.points = mesh->points,
                                        .triangles = mesh->triangles,
                                        .point = mesh->point,
                                        .triangle = mesh->triangle};
    status = scree_vtk_write_polygons(file_name(out, "glyph", k), &polygons, 0, out->replay->log);
  }
  if (status != SCREE_OK) return status;
  snprintf(out->path, out->path_size, "%s/glyphs.vtm", out->directory);
  FILE *file = fopen(out->path, "w");
  if (file) {
    fprintf(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"vtkMultiBlockDataSet\" "
                  "version=\"1.0\">\n<vtkMultiBlockDataSet>\n");
    for (int k = 0; k < out->glyphs.count; ++k)
      fprintf(file, "<DataSet index=\"%d\" file=\"glyph_%06d.vtp\"/>\n", k, k);
    fprintf(file, "</vtkMultiBlockDataSet>\n</VTKFile>\n");
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return SCREE_OK;
  }
  return scree_fail(out->replay->log, SCREE_MACHINE, "%s: cannot write: %s", out->path,
                    strerror(errno));
}

/* ---- the series ------------------------------------------------------------------------------ */

static scree_Status write_series(Export *out, const char *part, int every) {
  snprintf(out->path, out->path_size, "%s/%s.pvd", out->directory, part);
  FILE *file = fopen(out->path, "w");
  if (file) {
    fprintf(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                  "<Collection>\n");
    for (int k = 0; k < out->replay->frame_count; k += every)
      fprintf(file, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"%s_%06d.vtp\"/>\n",
              out->replay->times[k], part, k);
    fprintf(file, "</Collection>\n</VTKFile>\n");
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return SCREE_OK;
  }
  return scree_fail(out->replay->log, SCREE_MACHINE, "%s: cannot write: %s", out->path,
                    strerror(errno));
}

scree_Status scree_vtk_write(scree_Replay *replay, const char *directory, int every, bool triangles,
                             int *written) {
  Export out = {.replay = replay,
                .directory = directory,
                .path_size = strlen(directory) + 64,
                .all_triangles = triangles};
  scree_ReplayExtent extent;
  int count;
  if (!written) written = &count;
  *written = 0;
  if (every < 1)
    return scree_fail(replay->log, SCREE_BAD_INPUT,
                      "VTK files of every frame number %d: expected a number >= 1", every);
  out.path = SCREE_ALLOC(char, out.path_size);
  scree_Status status = out.path ? SCREE_OK : scree_fail_memory(replay->log, "a file name");
  if (status == SCREE_OK) status = scree_replay_extent(replay, -1, &extent);
  if (status == SCREE_OK) {
    out.reach = 2.0 * extent.length;
    out.middle = scree_vec3(extent.origin[0], extent.origin[1], extent.origin[2]);
  }
  if (status == SCREE_OK) status = scree_glyphs_init(&out.glyphs, replay, SEGMENTS);
  if (status == SCREE_OK) status = write_glyphs(&out);
  for (int k = 0; status == SCREE_OK && k < replay->frame_count; k += every, ++*written) {
    status = scree_replay_read(replay, k, &out.frame);
    if (status == SCREE_OK) status = write_bodies(&out, k);
    if (status == SCREE_OK) status = write_shapes(&out, k);
    if (status == SCREE_OK) status = write_contacts(&out, k);
    if (status == SCREE_OK) status = write_chains(&out, k);
    if (status == SCREE_OK && replay->joint_count) status = write_joints(&out, k);
  }
  if (status == SCREE_OK) status = write_series(&out, "bodies", every);
  if (status == SCREE_OK) status = write_series(&out, "shapes", every);
  if (status == SCREE_OK) status = write_series(&out, "contacts", every);
  if (status == SCREE_OK) status = write_series(&out, "chains", every);
  if (status == SCREE_OK && replay->joint_count) status = write_series(&out, "joints", every);
  scree_glyphs_fini(&out.glyphs);
  scree_replay_frame_fini(&out.frame);
  scree_mesh_fini(&out.mesh);
  for (int k = 0; k < COLUMNS; ++k) {
    scree_free(out.real[k]);
    scree_free(out.integer[k]);
  }
  scree_free(out.path);
  return status;
}

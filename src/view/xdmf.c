/* results.xdmf: an index by which ParaView and VisIt read results.h5 directly. Each frame is a set
 * of points, the bodies, whose numbers are slices of the arrays of the file; contacts are a second
 * series. Bodies that are removed stay where they were. */
#include "run/frames.h"
#include "scree/view.h"

#include "core/log.h"
#include "core/memory.h"
#include "run/results_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* `rows` rows from row `first` on of /GROUP/NAME, an array of `total` rows of `columns` numbers. */
static void put_rows(FILE *file, const char *name, long long first, long long rows, long long total,
                     int columns, const char *type) {
  fprintf(file,
          "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%lld %d\">"
          "<DataItem Dimensions=\"3 2\" Format=\"XML\">%lld 0 1 1 %lld %d</DataItem>"
          "<DataItem Dimensions=\"%lld %d\" Format=\"HDF\" %s>results.h5:/%s</DataItem>"
          "</DataItem>",
          rows, columns, first, rows, columns, total, columns, type, name);
}

/* The same of frame k of an array (frames x bodies x columns). */
static void put_frame(FILE *file, const scree_Replay *replay, int k, const char *name,
                      int columns) {
  fprintf(file,
          "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%d %d\">"
          "<DataItem Dimensions=\"3 3\" Format=\"XML\">%d 0 0 1 1 1 1 %d %d</DataItem>"
          "<DataItem Dimensions=\"%d %d %d\" Format=\"HDF\" NumberType=\"Float\" "
          "Precision=\"8\">results.h5:/frames/%s</DataItem></DataItem>",
          replay->frame_bodies[k], columns, k, replay->frame_bodies[k], columns,
          replay->frame_count, replay->body_count, columns, name);
}

static void put_scalar(FILE *file, const char *shown, const char *name, int rows, int total,
                       const char *type) {
  fprintf(file,
          "<Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">"
          "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%d\">"
          "<DataItem Dimensions=\"3 1\" Format=\"XML\">0 1 %d</DataItem>"
          "<DataItem Dimensions=\"%d\" Format=\"HDF\" %s>results.h5:/%s</DataItem></DataItem>"
          "</Attribute>\n",
          shown, rows, rows, total, type, name);
}

static const char real_type[] = "NumberType=\"Float\" Precision=\"8\"",
                  int_type[] = "NumberType=\"Int\" Precision=\"4\"",
                  byte_type[] = "NumberType=\"Char\" Precision=\"1\"";

static void put_bodies(FILE *file, const scree_Replay *replay, int k) {
  static const struct {
    const char *name;
    int columns;
  } arrays[] = {{"velocity", 3}, {"angular_velocity", 3}, {"orientation", 4}};
  const int n = replay->frame_bodies[k];
  fprintf(file,
          "<Grid Name=\"bodies\" GridType=\"Uniform\">\n<Time Value=\"%.17g\"/>\n"
          "<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%d\"/>\n"
          "<Geometry GeometryType=\"XYZ\">",
          replay->times[k], n);
  put_frame(file, replay, k, "position", 3);
  fprintf(file, "</Geometry>\n");
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; ++a) {
    fprintf(file, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">", arrays[a].name,
            arrays[a].columns == 3 ? "Vector" : "Matrix");
    put_frame(file, replay, k, arrays[a].name, arrays[a].columns);
    fprintf(file, "</Attribute>\n");
  }
  put_scalar(file, "radius", "bodies/radius", n, replay->body_count, real_type);
  put_scalar(file, "mass", "bodies/mass", n, replay->body_count, real_type);
  put_scalar(file, "material", "bodies/material", n, replay->body_count, int_type);
  put_scalar(file, "obstacle", "bodies/obstacle", n, replay->body_count, int_type);
  put_scalar(file, "kind", "bodies/kind", n, replay->body_count, int_type);
  fprintf(file, "</Grid>\n");
}

static void put_contacts(FILE *file, const scree_Replay *replay, int k, long long first, int rows,
                         long long total) {
  const struct {
    const char *name, *array;
    int columns;
    const char *type;
  } arrays[] = {{"normal", "contacts/normal", 3, real_type},
                {"impulse", "contacts/impulse_world", 3, real_type},
                {"impulse_local", "contacts/impulse", 3, real_type},
                {"velocity_local", "contacts/velocity", 3, real_type},
                {"bodies", "contacts/body", 2, int_type},
                {"status", "contacts/status", 1, byte_type},
                {"gap", "contacts/gap", 1, real_type},
                {"mu", "contacts/mu", 1, real_type},
                {"error", "contacts/error", 1, real_type}};
  fprintf(file,
          "<Grid Name=\"contacts\" GridType=\"Uniform\">\n<Time Value=\"%.17g\"/>\n"
          "<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%d\"/>\n"
          "<Geometry GeometryType=\"XYZ\">",
          replay->times[k], rows);
  put_rows(file, "contacts/position", first, rows, total, 3, real_type);
  fprintf(file, "</Geometry>\n");
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; ++a) {
    const int columns = arrays[a].columns;
    fprintf(file, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">", arrays[a].name,
            columns == 3   ? "Vector"
            : columns == 1 ? "Scalar"
                           : "Matrix");
    if (columns > 1)
      put_rows(file, arrays[a].array, first, rows, total, columns, arrays[a].type);
    else
      fprintf(file,
              "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%d\">"
              "<DataItem Dimensions=\"3 1\" Format=\"XML\">%lld 1 %d</DataItem>"
              "<DataItem Dimensions=\"%lld\" Format=\"HDF\" %s>results.h5:/%s</DataItem>"
              "</DataItem>",
              rows, first, rows, total, arrays[a].type, arrays[a].array);
    fprintf(file, "</Attribute>\n");
  }
  fprintf(file, "</Grid>\n");
}

/* Contacts before each frame, (frame_count + 1). */
static scree_Status count_contacts(scree_Replay *replay, long long *first) {
  scree_ReplayFrame frame = {0};
  scree_Status status = SCREE_OK;
  first[0] = 0;
  for (int k = 0; k < replay->frame_count && status == SCREE_OK; ++k) {
    status = scree_replay_read(replay, k, &frame);
    first[k + 1] = first[k] + frame.contacts;
  }
  scree_replay_frame_fini(&frame);
  return status;
}

static void put_all(FILE *file, const scree_Replay *replay, const long long *first) {
  fprintf(file, "<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n<Domain>\n"
                "<Grid Name=\"bodies\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
  for (int k = 0; k < replay->frame_count; ++k)
    if (replay->frame_bodies[k] > 0) put_bodies(file, replay, k);
  fprintf(file, "</Grid>\n");
  const long long total = first[replay->frame_count];
  if (total > 0) {
    fprintf(file, "<Grid Name=\"contacts\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    for (int k = 0; k < replay->frame_count; ++k)
      if (first[k + 1] > first[k])
        put_contacts(file, replay, k, first[k], (int)(first[k + 1] - first[k]), total);
    fprintf(file, "</Grid>\n");
  }
  fprintf(file, "</Domain>\n</Xdmf>\n");
}

scree_Status scree_xdmf_write(scree_Replay *replay) {
  char *path = scree_join_path(replay->directory ? replay->directory : ".", "results.xdmf");
  long long *first = SCREE_ALLOC(long long, replay->frame_count + 1);
  scree_Status status = path && first ? count_contacts(replay, first)
                                      : scree_fail_memory(replay->log, "results.xdmf");
  if (status == SCREE_OK) {
    FILE *file = fopen(path, "w");
    if (file) put_all(file, replay, first);
    const bool bad = !file || ferror(file) != 0;
    if ((file && fclose(file) != 0) || bad)
      status =
          scree_fail(replay->log, SCREE_MACHINE, "%s: cannot write: %s", path, strerror(errno));
  }
  scree_free(path);
  scree_free(first);
  return status;
}

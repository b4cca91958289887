/* One VTK XML file (see vtk_file.h): first the XML with the place of each array, then all arrays
 * behind an underscore, each after its length as a 64-bit number. */
#include "view/vtk_file.h"

#include "core/log.h"
#include "core/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  size_t width;
} types[] = {{"Float64", 8}, {"Int32", 4}, {"Int64", 8}};

enum { PARTS_MAX = 64 };

/* An array with its place among the appended ones. */
typedef struct Part {
  const void *values;
  size_t bytes;
} Part;

typedef struct Writer {
  FILE *file;
  Part part[PARTS_MAX];
  int parts;
  size_t offset;
} Writer;

static const char *byte_order(void) {
  const uint16_t one = 1;
  unsigned char low;
  memcpy(&low, &one, 1);
  return low ? "LittleEndian" : "BigEndian";
}

static void declare(Writer *writer, const char *name, scree_VtkType type, int components,
                    size_t count, const void *values) {
  const size_t bytes = types[type].width * (size_t)components * count;
  fprintf(writer->file,
          "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
          "offset=\"%zu\"/>\n",
          types[type].name, name, components, writer->offset);
  writer->part[writer->parts++] = (Part){values, bytes};
  writer->offset += sizeof(uint64_t) + bytes;
}

static void declare_all(Writer *writer, const char *section, const scree_VtkArray *arrays,
                        size_t count) {
  fprintf(writer->file, "<%s>\n", section);
  for (; arrays && arrays->name; ++arrays)
    declare(writer, arrays->name, arrays->type, arrays->components, count, arrays->values);
  fprintf(writer->file, "</%s>\n", section);
}

static void declare_cells(Writer *writer, const char *section, size_t cells, int corners,
                          const void *connectivity, const void *offsets) {
  fprintf(writer->file, "<%s>\n", section);
  declare(writer, "connectivity", SCREE_VTK_I32, 1, cells * (size_t)corners, connectivity);
  declare(writer, "offsets", SCREE_VTK_I64, 1, cells, offsets);
  fprintf(writer->file, "</%s>\n", section);
}

scree_Status scree_vtk_write_polygons(const char *path, const scree_VtkPolygons *polygons,
                                      double time, const scree_Log *log) {
  const int corners = polygons->triangle ? 3 : polygons->line ? 2 : 1;
  const int *connected = polygons->triangle ? polygons->triangle : polygons->line;
  const size_t cells = polygons->triangle ? polygons->triangles
                       : polygons->line   ? polygons->lines
                                          : polygons->points;
  int64_t *offsets = SCREE_ALLOC(int64_t, cells);
  int *each = SCREE_ALLOC(int, connected ? 0 : cells);
  FILE *file = offsets && each ? fopen(path, "wb") : NULL;
  scree_Status status = SCREE_OK;
  if (!offsets || !each)
    status = scree_fail_memory(log, "a VTK file");
  else if (!file)
    status = scree_fail(log, SCREE_MACHINE, "%s: cannot write: %s", path, strerror(errno));
  if (status == SCREE_OK) {
    for (size_t k = 0; k < cells; ++k) {
      offsets[k] = (int64_t)(k + 1) * corners;
      if (!connected) each[k] = (int)k;
    }
    Writer writer = {.file = file};
    fprintf(
        file,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"%s\" "
        "header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n<DataArray type=\"Float64\" "
        "Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%.17g</DataArray>\n"
        "</FieldData>\n<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\" NumberOfLines=\"%zu\" "
        "NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n",
        byte_order(), time, polygons->points, corners == 1 ? cells : 0, corners == 2 ? cells : 0,
        corners == 3 ? cells : 0);
    declare_all(&writer, "PointData", polygons->point_arrays, polygons->points);
    declare_all(&writer, "CellData", polygons->cell_arrays, cells);
    fprintf(file, "<Points>\n");
    declare(&writer, "Points", SCREE_VTK_F64, 3, polygons->points, polygons->point);
    fprintf(file, "</Points>\n");
    declare_cells(&writer,
                  corners == 3   ? "Polys"
                  : corners == 2 ? "Lines"
                                 : "Verts",
                  cells, corners, connected ? connected : each, offsets);
    fprintf(file, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    for (int k = 0; k < writer.parts; ++k) {
      const uint64_t bytes = writer.part[k].bytes;
      fwrite(&bytes, sizeof bytes, 1, file);
      if (bytes) fwrite(writer.part[k].values, 1, (size_t)bytes, file);
    }
    fprintf(file, "\n</AppendedData>\n</VTKFile>\n");
    const bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
      status = scree_fail(log, SCREE_MACHINE, "%s: cannot write: %s", path, strerror(errno));
  }
  scree_free(offsets);
  scree_free(each);
  return status;
}

/* Sizes of the datasets of results.h5 (see results_sizes.h). */
#include "run/results_sizes.h"

#include "core/log.h"
#include "core/memory.h"

void scree_results_sizes_fini(scree_ResultsSizes *sizes) {
  scree_free(sizes->first);
  scree_free(sizes->last);
  scree_free(sizes->offset);
  if (!sizes->own_table) return;
  scree_free(sizes->table.row);
  scree_free(sizes->table.node);
}

static bool count_frame(scree_ResultsSizes *sizes, const scree_FrameHead *head) {
  if (!scree_grow((void **)&sizes->offset, &sizes->capacity, (size_t)sizes->frames + 2,
                  sizeof *sizes->offset))
    return false;
  if (sizes->frames == 0) sizes->offset[0] = 0;
  sizes->offset[sizes->frames + 1] = sizes->offset[sizes->frames] + head->contacts;
  ++sizes->frames;
  scree_column_sizes_add(&sizes->rows, head);
  return true;
}

/* All bodies of a world that is not divided. */
static bool make_table(const scree_World *world, scree_ResultsSizes *sizes) {
  const int n = scree_world_body_count(world);
  scree_BodyTable *table = &sizes->table;
  *table = (scree_BodyTable){.count = n, .whole = n, .row = SCREE_ALLOC(scree_BodyRow, n)};
  sizes->own_table = true;
  for (int b = 0; table->row && b < n; ++b) table->row[b] = scree_world_body_row(world, b);
  return table->row && scree_world_node_rows(world, n, &table->node, &table->nodes,
                                             &table->whole_nodes) == SCREE_OK;
}

/* Bodies that are new in this frame, and those that are still there. */
static void count_bodies(scree_ResultsSizes *sizes, const scree_FrameHead *head) {
  const scree_BodyTable *t = &sizes->table;
  const int count = head->bodies - t->first < t->count ? head->bodies - t->first : t->count;
  for (int k = sizes->bodies > t->first ? sizes->bodies - t->first : 0; k < count; ++k) {
    sizes->first[k] = sizes->frames;
    sizes->last[k] = sizes->frames - 1;
  }
  for (int k = 0; k < count && sizes->removed; ++k) {
    const int64_t step = t->row[k].removed;
    if (step < 0 || step >= head->step) sizes->last[k] = sizes->frames;
  }
  if (head->bodies > sizes->bodies) sizes->bodies = head->bodies;
}

static void finish(scree_ResultsSizes *sizes) {
  scree_BodyTable *t = &sizes->table;
  const int left = sizes->bodies - t->first;
  t->whole = sizes->bodies;
  if (t->first > t->whole) t->first = t->whole;
  if (t->count > left) t->count = left > 0 ? left : 0;
  for (int k = 0; k < t->count && !sizes->removed; ++k) sizes->last[k] = sizes->frames - 1;
}

scree_Status scree_results_sizes(const scree_Journal *journal, const scree_World *world,
                                 const scree_BodyTable *table, const scree_Ranks *ranks,
                                 scree_ResultsSizes *sizes, const scree_Log *log) {
  scree_FrameHead head;
  bool end = false, removed = false;
  for (int k = 0; table && k < table->count; ++k) removed = removed || table->row[k].removed >= 0;
  if (!table) removed = scree_world_removed_count(world) > 0;
  *sizes = (scree_ResultsSizes){.removed = scree_ranks_any(ranks, removed),
                                .rows.deforms = scree_world_deforms(world),
                                .rows.joints = scree_world_joint_count(world)};
  if (table) sizes->table = *table;
  if (!table && !make_table(world, sizes))
    return scree_fail_memory(log, "the bodies of the results");
  sizes->rows.nodes = (int)sizes->table.whole_nodes;
  const int bodies = sizes->table.whole;
  sizes->first = SCREE_ALLOC(int, sizes->table.count);
  sizes->last = SCREE_ALLOC(int, sizes->table.count);
  if (!sizes->first || !sizes->last) return scree_fail_memory(log, "the bodies of the results");
  for (int64_t offset = 0;;) {
    scree_Status status = scree_journal_skip(journal, &offset, &head, &end, log);
    if (status != SCREE_OK || end || offset > journal->length) {
      finish(sizes);
      return status;
    }
    if (head.bodies > bodies)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "%s: a frame has %d bodies, expected at most the %d of the world",
                        journal->path, (int)head.bodies, bodies);
    if (head.joints > sizes->rows.joints)
      return scree_fail(log, SCREE_BAD_INPUT,
                        "%s: a frame has %d joints, expected at most the %d of the world",
                        journal->path, (int)head.joints, sizes->rows.joints);
    count_bodies(sizes, &head);
    if (!count_frame(sizes, &head)) return scree_fail_memory(log, "the frames of the results");
  }
}

hid_t scree_column_memory(const scree_ResultsColumn *column) {
  return column->type == 'd'   ? H5T_NATIVE_DOUBLE
         : column->type == 'u' ? H5T_NATIVE_UINT32
         : column->type == 'l' ? H5T_NATIVE_INT64
                               : H5T_NATIVE_INT32;
}

/* Numbers are kept in the byte order of the machine: chunks are copied as they are. */
hid_t scree_column_disk(const scree_ResultsColumn *column) {
  return column->type == 's' ? H5T_NATIVE_INT8 : scree_column_memory(column);
}

void scree_results_frame_groups(scree_ResultsWriter *writer) {
  const char *statuses[SCREE_CONTACT_STATUSES];
  for (int k = 0; k < SCREE_CONTACT_STATUSES; ++k)
    statuses[k] = scree_contact_status_name((scree_ContactStatus)k);
  scree_results_group(writer, "/frames");
  scree_results_group(writer, "/contacts");
  scree_results_texts(writer, "/contacts/status_names", statuses, 1, SCREE_CONTACT_STATUSES, 0);
  scree_results_group(writer, "/analysis");
}

void scree_results_alive(scree_ResultsWriter *writer, const scree_ResultsSizes *sizes) {
  const scree_BodyTable *t = &sizes->table;
  scree_ResultsData data =
      scree_results_data(writer, "/frames/alive", H5T_STD_U8LE, H5T_NATIVE_UINT8, 2,
                         (hsize_t)sizes->frames, (hsize_t)sizes->bodies, 0, false);
  uint8_t *alive = SCREE_ALLOC(uint8_t, t->count);
  writer->good = writer->good && alive;
  for (int f = 0; f < sizes->frames; ++f) {
    for (int b = 0; b < t->count && alive; ++b)
      alive[b] = f >= sizes->first[b] && f <= sizes->last[b];
    const hsize_t start[3] = {(hsize_t)f, (hsize_t)t->first, 0};
    const hsize_t count[3] = {1, (hsize_t)t->count, 0};
    scree_results_put_block(writer, &data, start, count, alive);
  }
  if (data.id >= 0) H5Dclose(data.id);
  scree_free(alive);
}

void scree_results_contact_offsets(scree_ResultsWriter *writer, const scree_ResultsSizes *sizes) {
  const int64_t none = 0;
  scree_results_put_all(writer,
                        scree_results_data(writer, "/frames/contact_offset", H5T_STD_I64LE,
                                           H5T_NATIVE_INT64, 1, (hsize_t)sizes->frames + 1, 0, 0,
                                           false),
                        sizes->offset ? sizes->offset : &none);
}

/* The sizes of the datasets of results.h5, from the heads of the frames in a journal, and what does
 * not depend on how their numbers are written. */
#ifndef SCREE_RUN_RESULTS_SIZES_H
#define SCREE_RUN_RESULTS_SIZES_H

#include "run/results_write.h"

typedef struct scree_ResultsSizes {
  int frames, bodies;    /* of all frames; bodies of the largest */
  int64_t *offset;       /* (frames + 1) first contact of each frame */
  size_t capacity;       /* of `offset` */
  scree_BodyTable table; /* bodies that are in frames */
  bool own_table;
  int *first, *last; /* (table.count) first and last frame of each body */
  bool removed;      /* some bodies were */
  scree_ColumnSizes rows;
} scree_ResultsSizes;

/* `table`: the bodies of this rank, or null: all of the world. `ranks`: those that write together,
 * or null. */
scree_Status scree_results_sizes(const scree_Journal *journal, const scree_World *world,
                                 const scree_BodyTable *table, const scree_Ranks *ranks,
                                 scree_ResultsSizes *sizes, const scree_Log *log);
void scree_results_sizes_fini(scree_ResultsSizes *sizes);

/* Types of a column's numbers in records and in the file. */
hid_t scree_column_memory(const scree_ResultsColumn *column);
hid_t scree_column_disk(const scree_ResultsColumn *column);

/* Groups of frames, contacts and analysis; which bodies are in each frame; the first contact of
 * each frame. */
void scree_results_frame_groups(scree_ResultsWriter *writer);
void scree_results_alive(scree_ResultsWriter *writer, const scree_ResultsSizes *sizes);
void scree_results_contact_offsets(scree_ResultsWriter *writer, const scree_ResultsSizes *sizes);

#endif

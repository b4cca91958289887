/* Internals of the reader of results.h5: parts of datasets and attributes, and the bodies. */
#ifndef SCREE_RUN_FRAMES_DATA_H
#define SCREE_RUN_FRAMES_DATA_H

#include "fclib/fclib_h5.h"
#include "run/frames.h"

/* Extents of a dataset; false when it is absent or of another rank. */
bool scree_frames_extent(const scree_H5 *h5, const char *name, int rank, hsize_t *dims);

/* Rows [start, start + count) of an open dataset whose first dimension is rows; the whole rest of
 * each row. `columns` per row are expected in `values`. */
bool scree_frames_rows(hid_t data, hsize_t start, hsize_t count, hsize_t columns, hid_t type,
                       void *values);

/* The same by name. */
scree_Status scree_frames_named(const scree_H5 *h5, const char *name, hsize_t start, hsize_t count,
                                hsize_t columns, hid_t type, void *values);

void scree_frames_attribute(const scree_H5 *h5, const char *name, hid_t type, void *value,
                            hsize_t count);

void scree_frames_text_attribute(const scree_H5 *h5, const char *name, char *text, size_t size);

/* A list of texts: (count x 64), or null. */
char (*scree_frames_texts(const scree_H5 *h5, const char *name, int *count))[64];

/* /bodies and /parts into the replay: shapes, materials, masses. */
scree_Status scree_frames_bodies(scree_Replay *replay, const scree_H5 *h5);
/* /joints, if it is there. */
scree_Status scree_frames_joints(scree_Replay *replay, const scree_H5 *h5);
/* The joints of frame k. */
scree_Status scree_frames_read_joints(const scree_Replay *replay, const scree_H5 *h5, int k,
                                      scree_ReplayFrame *frame);
/* /elements, if it is there: nodes of finite-element bodies. */
scree_Status scree_frames_elements(scree_Replay *replay, const scree_H5 *h5);

/* Names of the fields in /fields, of files with `frames` frames. */
scree_Status scree_frames_fields(scree_Replay *replay, const scree_H5 *h5, hsize_t frames);

#endif

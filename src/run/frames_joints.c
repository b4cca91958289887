/* The joints of a run that is read back (see frames_data.h). */
#include "core/log.h"
#include "core/memory.h"
#include "run/frames_data.h"

#include <stddef.h>
#include <string.h>

scree_Status scree_frames_joints(scree_Replay *replay, const scree_H5 *h5) {
  hsize_t n = 0, dims[3] = {0, 0, 0};
  if (!scree_frames_extent(h5, "/joints/kind", 1, &n) || n == 0 || n > INT32_MAX / 4)
    return SCREE_OK;
  int count = 0;
  char(*names)[64] = scree_frames_texts(h5, "/joints/kind_names", &count);
  int *table = SCREE_ALLOC(int, 4 * n), *body = SCREE_ALLOC(int, 2 * n);
  int *column = SCREE_ALLOC(int, n);
  scree_Status status = names && table && body && column
                            ? SCREE_OK
                            : scree_fail_memory(h5->log, "the joints of a run");
  if (status == SCREE_OK)
    status = scree_frames_named(h5, "/joints/kind", 0, n, 1, H5T_NATIVE_INT, column);
  for (hsize_t k = 0; status == SCREE_OK && k < n; ++k) {
    const bool known = column[k] >= 0 && column[k] < count;
    table[4 * k] = known ? (int)scree_joint_find(names[column[k]]) : SCREE_JOINT_KINDS;
    if (table[4 * k] == SCREE_JOINT_KINDS)
      status = scree_fail(h5->log, SCREE_BAD_INPUT,
                          "%s: /joints/kind: joint %llu is of kind %d, expected a kind that this "
                          "version of scree knows",
                          h5->path, (unsigned long long)k, column[k]);
  }
  if (status == SCREE_OK)
    status = scree_frames_named(h5, "/joints/label", 0, n, 1, H5T_NATIVE_INT, column);
  if (status == SCREE_OK)
    status = scree_frames_named(h5, "/joints/body", 0, n, 2, H5T_NATIVE_INT, body);
  for (hsize_t k = 0; status == SCREE_OK && k < n; ++k) {
    table[4 * k + 3] = column[k];
    for (int side = 0; side < 2; ++side) {
      const int b = body[2 * k + (hsize_t)side];
      table[4 * k + 1 + (hsize_t)side] = b;
      if (b < -1 || b >= replay->body_count)
        status = scree_fail(h5->log, SCREE_BAD_INPUT,
                            "%s: /joints/body: joint %llu names body %d, expected -1 to %d",
                            h5->path, (unsigned long long)k, b, replay->body_count - 1);
    }
  }
  if (status == SCREE_OK && (!scree_frames_extent(h5, "/frames/joint_position", 3, dims) ||
                             dims[1] != n || dims[0] != (hsize_t)replay->frame_count))
    n = 0; /* without frames there is nothing to show */
  replay->joint_table = table;
  replay->joint_count = status == SCREE_OK ? (int)n : 0;
  scree_free(names);
  scree_free(body);
  scree_free(column);
  return status;
}

scree_Status scree_frames_read_joints(const scree_Replay *replay, const scree_H5 *h5, int k,
                                      scree_ReplayFrame *frame) {
  static const struct {
    const char *name;
    size_t at, columns;
  } parts[] = {{"/frames/joint_position", offsetof(scree_ReplayJoint, position), 3},
               {"/frames/joint_axis", offsetof(scree_ReplayJoint, axis), 3},
               {"/frames/joint_force", offsetof(scree_ReplayJoint, force), 3},
               {"/frames/joint_torque", offsetof(scree_ReplayJoint, torque), 3},
               {"/frames/joint_x", offsetof(scree_ReplayJoint, x), 1},
               {"/frames/joint_effort", offsetof(scree_ReplayJoint, effort), 1},
               {"/frames/joint_energy", offsetof(scree_ReplayJoint, energy), 1},
               {"/frames/joint_plastic", offsetof(scree_ReplayJoint, plastic), 1}};
  const size_t n = (size_t)replay->joint_count;
  frame->joints = 0;
  if (n == 0 || frame->bodies_only) return SCREE_OK;
  double *values = SCREE_ALLOC(double, 3 * n);
  int *status_of = SCREE_ALLOC(int, n);
  scree_Status status = SCREE_OK;
  if (!values || !status_of ||
      !scree_grow((void **)&frame->joint, &frame->joint_capacity, n, sizeof *frame->joint))
    status = scree_fail_memory(replay->log, "the joints of a frame");
  for (size_t p = 0; status == SCREE_OK && p < sizeof parts / sizeof *parts; ++p) {
    const size_t columns = parts[p].columns;
    status = scree_frames_named(h5, parts[p].name, (hsize_t)k, 1, columns * n, H5T_NATIVE_DOUBLE,
                                values);
    for (size_t j = 0; status == SCREE_OK && j < n; ++j)
      memcpy((char *)&frame->joint[j] + parts[p].at, values + columns * j,
             columns * sizeof(double));
  }
  if (status == SCREE_OK)
    status =
        scree_frames_named(h5, "/frames/joint_status", (hsize_t)k, 1, n, H5T_NATIVE_INT, status_of);
  for (size_t j = 0; status == SCREE_OK && j < n; ++j) {
    const int *row = replay->joint_table + 4 * j;
    frame->joint[j].kind = (scree_JointKind)row[0];
    frame->joint[j].body[0] = row[1];
    frame->joint[j].body[1] = row[2];
    frame->joint[j].label = row[3];
    frame->joint[j].status = status_of[j] == SCREE_JOINT_HOLDS    ? SCREE_JOINT_HOLDS
                             : status_of[j] == SCREE_JOINT_BROKEN ? SCREE_JOINT_BROKEN
                                                                  : SCREE_JOINT_GONE;
  }
  if (status == SCREE_OK) frame->joints = (int)n;
  scree_free(values);
  scree_free(status_of);
  return status;
}

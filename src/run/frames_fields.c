/* Fields that a user has added to results.h5: datasets /fields/NAME of F frames x N bodies. */
#include "core/log.h"
#include "core/memory.h"
#include "run/frames_data.h"

#include <string.h>

enum { FIELDS_MAX = 64 };

scree_Status scree_frames_fields(scree_Replay *replay, const scree_H5 *h5, hsize_t frames) {
  H5G_info_t info;
  if (H5Lexists(h5->file, "/fields", H5P_DEFAULT) <= 0) return SCREE_OK;
  const hid_t group = H5Gopen2(h5->file, "/fields", H5P_DEFAULT);
  if (group < 0 || H5Gget_info(group, &info) < 0) {
    if (group >= 0) H5Gclose(group);
    return SCREE_OK;
  }
  scree_Status status = SCREE_OK;
  replay->fields = SCREE_ALLOC(SCREE_FIELD_NAME, FIELDS_MAX);
  if (!replay->fields) status = scree_fail_memory(h5->log, "the fields of a run");
  for (hsize_t k = 0; replay->fields && k < info.nlinks && replay->field_count < FIELDS_MAX; ++k) {
    char path[80] = "/fields/";
    hsize_t dims[2];
    const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, k,
                                              path + strlen(path), 64, H5P_DEFAULT);
    /* others are no fields of bodies */
    if (length <= 0 || length >= (ssize_t)sizeof(SCREE_FIELD_NAME) ||
        !scree_frames_extent(h5, path, 2, dims) || dims[0] != frames ||
        dims[1] != (hsize_t)replay->body_count)
      continue;
    memcpy(replay->fields[replay->field_count++], path + strlen("/fields/"), (size_t)length + 1);
  }
  H5Gclose(group);
  return status;
}

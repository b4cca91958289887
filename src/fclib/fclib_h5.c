/* Guarded access to an HDF5 file (see fclib_h5.h). */
#define _POSIX_C_SOURCE 200809L
#include "fclib/fclib_h5.h"

#include "core/log.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deflate cannot compress better than 1032 : 1, so a filtered dataset that claims more is invalid.
 */
enum { MAX_COMPRESSION = 1040, NAME_SIZE = 256, MEMORY_STEP = 1 << 20 };

static void silence(scree_H5 *h5) {
  h5->error_function = NULL;
  h5->error_data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &h5->error_function, &h5->error_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void restore(scree_H5 *h5) {
  H5Eset_auto2(H5E_DEFAULT, h5->error_function, h5->error_data);
}

/* Access properties: closing the file closes all objects that are still open in it. */
static hid_t access_properties(void) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0) H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

scree_Status scree_h5_open(scree_H5 *h5, const char *path, const scree_Log *log) {
  *h5 = (scree_H5){.path = path, .log = log, .file = -1};
  FILE *probe = fopen(path, "rb");
  if (!probe)
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: cannot be read: %s, expected a file in HDF5 format", path,
                      strerror(errno));
  struct stat status;
  const bool known = fstat(fileno(probe), &status) == 0;
  fclose(probe);
  if (!known || !S_ISREG(status.st_mode))
    return scree_fail(log, SCREE_BAD_INPUT, "%s: found %s, expected a file", path,
                      known && S_ISDIR(status.st_mode) ? "a folder" : "something else");
  h5->bytes = (unsigned long long)status.st_size;

  silence(h5);
  if (H5Fis_hdf5(path) <= 0) {
    restore(h5);
    return scree_fail(log, SCREE_BAD_INPUT, "%s: %s, expected an HDF5 file in FCLIB's format", path,
                      h5->bytes == 0 ? "the file is empty" : "this is not an HDF5 file");
  }
  hid_t access = access_properties();
  h5->file = H5Fopen(path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  if (h5->file < 0) {
    restore(h5);
    return scree_fail(log, SCREE_BAD_INPUT,
                      "%s: found %llu bytes that HDF5 cannot open, expected a file in HDF5 format "
                      "that is neither damaged nor cut short",
                      path, h5->bytes);
  }
  return SCREE_OK;
}

/* A copy of `source` in memory, open for writing. The source itself is opened for reading only:
 * HDF5 locks what it opens for writing against every other reader, also when it writes to memory.
 */
static hid_t open_copy(const char *source, hid_t access) {
  hid_t copy = -1, plain = access_properties(), file = H5Fopen(source, H5F_ACC_RDONLY, plain);
  const ssize_t size = file >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
  char *image = size > 0 ? SCREE_ALLOC(char, size) : NULL;
  if (image && H5Fget_file_image(file, image, (size_t)size) == size &&
      H5Pset_file_image(access, image, (size_t)size) >= 0)
    copy = H5Fopen("scree: a copy in memory", H5F_ACC_RDWR, access); /* a name, not a file */
  scree_free(image);
  if (file >= 0) H5Fclose(file);
  H5Pclose(plain);
  return copy;
}

scree_Status scree_h5_create(scree_H5 *h5, const char *path, const char *source,
                             const scree_Log *log) {
  *h5 = (scree_H5){.path = path, .log = log, .file = -1, .bytes = ULLONG_MAX};
  silence(h5);
  hid_t access = access_properties();
  H5Pset_fapl_core(access, MEMORY_STEP, false);
  h5->file =
      source ? open_copy(source, access) : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  if (h5->file >= 0) return SCREE_OK;
  restore(h5);
  if (source) return scree_fail(log, SCREE_MACHINE, "%s: cannot be copied", source);
  return scree_fail_memory(log, path);
}

/* Write all bytes to a new file and make sure that they are on the disk; 0 or errno. */
static int write_file(const char *path, const char *bytes, size_t count) {
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int error = 0;
  while (count > 0 && !error) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      error = errno;
    } else {
      bytes += written;
      count -= (size_t)written;
    }
  }
  if (!error && fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP) error = errno;
  if (close(file) != 0 && !error) error = errno;
  return error;
}

/* A rename survives a power cut only when the folder is flushed too; not all file systems can. */
static void flush_folder(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) slash[slash == path ? 1 : 0] = '\0';
  const int folder = open(slash ? path : ".", O_RDONLY | O_CLOEXEC);
  if (folder < 0) return;
  (void)fsync(folder);
  (void)close(folder);
}

scree_Status scree_h5_save(const scree_H5 *h5) {
  /* The image is what was flushed, and no more. */
  const bool flushed = H5Fflush(h5->file, H5F_SCOPE_LOCAL) >= 0;
  const ssize_t size = flushed ? H5Fget_file_image(h5->file, NULL, 0) : -1;
  char *image = size > 0 ? SCREE_ALLOC(char, size) : NULL;
  const size_t length = strlen(h5->path) + 48;
  char *part = SCREE_ALLOC(char, length);
  scree_Status status = SCREE_OK;
  if (!image || !part || H5Fget_file_image(h5->file, image, (size_t)size) != size) {
    status = scree_fail_memory(h5->log, h5->path);
  } else {
    snprintf(part, length, "%s.%ld.part", h5->path, (long)getpid());
    (void)unlink(part); /* left by a killed process with the same process id */
    int error = write_file(part, image, (size_t)size);
    if (!error && rename(part, h5->path) != 0) error = errno;
    if (error) {
      if (error != EEXIST) (void)unlink(part);
      status = scree_fail(h5->log, SCREE_MACHINE, "%s: cannot be written: %s", h5->path,
                          strerror(error));
    } else {
      flush_folder(part);
    }
  }
  scree_free(image);
  scree_free(part);
  return status;
}

void scree_h5_close(scree_H5 *h5) {
  H5Fclose(h5->file);
  h5->file = -1;
  restore(h5);
}

/* H5Lexists wants every group on the way to exist, so the path is walked. */
bool scree_h5_has(const scree_H5 *h5, const char *name) {
  char part[NAME_SIZE];
  const size_t length = strlen(name);
  if (length >= sizeof part) return false;
  for (size_t i = 1; i <= length; ++i) {
    if (name[i] != '/' && name[i] != '\0') continue;
    memcpy(part, name, i);
    part[i] = '\0';
    if (H5Lexists(h5->file, part, H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(h5->file, part, H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

static const char *class_name(H5T_class_t class_) {
  switch (class_) {
  case H5T_STRING: return "text";
  case H5T_COMPOUND: return "a compound type";
  case H5T_ENUM: return "an enumeration";
  case H5T_ARRAY: return "an array type";
  case H5T_VLEN: return "a variable-length type";
  default: return "an unknown type";
  }
}

/* An open dataset of numbers and its properties. */
typedef struct Dataset {
  hid_t id;
  H5T_class_t class_;
  size_t size; /* bytes of one value in the file */
  size_t count;
} Dataset;

/* The size that a dataset claims is accepted only when the file holds that much data, since memory
 * of that size is allocated. Data kept in other files is refused for the same reason. */
static scree_Status check_storage(const scree_H5 *h5, const char *name, const Dataset *data) {
  hid_t properties = H5Dget_create_plist(data->id);
  const int filters = properties >= 0 ? H5Pget_nfilters(properties) : -1;
  const int external = properties >= 0 ? H5Pget_external_count(properties) : -1;
  const H5D_layout_t layout = properties >= 0 ? H5Pget_layout(properties) : H5D_LAYOUT_ERROR;
  if (properties >= 0) H5Pclose(properties);
  if (filters < 0 || external < 0 || layout == H5D_LAYOUT_ERROR)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s is damaged, expected a dataset of HDF5",
                      h5->path, name);
  if (external > 0 || layout == H5D_VIRTUAL)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: %s keeps its data in another file, expected it in this one", h5->path,
                      name);
  if (data->count == 0) return SCREE_OK;
  const unsigned long long stored = H5Dget_storage_size(data->id);
  unsigned long long limit = stored < h5->bytes ? stored : h5->bytes;
  if (filters > 0) limit *= MAX_COMPRESSION;
  if (data->count > limit / data->size)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: %s claims %zu values of %zu bytes, expected at most the %llu bytes that "
                      "the file holds",
                      h5->path, name, data->count, data->size, limit);
  return SCREE_OK;
}

static scree_Status inspect(const scree_H5 *h5, const char *name, Dataset *data) {
  hid_t type = H5Dget_type(data->id);
  hid_t space = H5Dget_space(data->id);
  data->class_ = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  data->size = type >= 0 ? H5Tget_size(type) : 0;
  const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  if (data->class_ == H5T_NO_CLASS || data->size == 0 || count < 0)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: %s is damaged: found no type or no size, expected numbers", h5->path,
                      name);
  if (data->class_ != H5T_INTEGER && data->class_ != H5T_FLOAT)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s holds %s, expected numbers", h5->path, name,
                      class_name(data->class_));
  if (data->size > 8)
    return scree_fail(h5->log, SCREE_BAD_INPUT,
                      "%s: %s has numbers of %zu bytes, expected at most 8: reading would lose "
                      "digits",
                      h5->path, name, data->size);
  data->count = (size_t)count;
  return check_storage(h5, name, data);
}

static scree_Status open_dataset(const scree_H5 *h5, const char *name, Dataset *data) {
  if (!scree_h5_has(h5, name))
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s is missing, expected a dataset", h5->path,
                      name);
  data->id = H5Dopen2(h5->file, name, H5P_DEFAULT);
  if (data->id < 0)
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s cannot be opened, expected a dataset",
                      h5->path, name);
  scree_Status status = inspect(h5, name, data);
  if (status != SCREE_OK) H5Dclose(data->id);
  return status;
}

scree_Status scree_h5_count(const scree_H5 *h5, const char *name, size_t *count) {
  Dataset data;
  scree_Status status = open_dataset(h5, name, &data);
  if (status != SCREE_OK) return status;
  H5Dclose(data.id);
  *count = data.count;
  return SCREE_OK;
}

/* Open, check the count, read as doubles. Integers of 64 bits pass through exactly up to 2^53. */
static scree_Status read_values(const scree_H5 *h5, const char *name, size_t count, const char *why,
                                double *values) {
  Dataset data;
  scree_Status status = open_dataset(h5, name, &data);
  if (status != SCREE_OK) return status;
  if (data.count != count) {
    H5Dclose(data.id);
    return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s has %zu values, expected %zu (%s)",
                      h5->path, name, data.count, count, why);
  }
  herr_t result =
      count ? H5Dread(data.id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) : 0;
  H5Dclose(data.id);
  if (result < 0)
    return scree_fail(
        h5->log, SCREE_BAD_INPUT,
        "%s: %s cannot be read: found a damaged file or one cut short, expected %zu numbers",
        h5->path, name, count);
  if (data.class_ == H5T_INTEGER && data.size == 8)
    for (size_t k = 0; k < count; ++k)
      if (fabs(values[k]) > 0x1p53)
        return scree_fail(h5->log, SCREE_BAD_INPUT,
                          "%s: %s[%zu] = %.17g, expected an integer of at most 2^53, which a "
                          "double can represent",
                          h5->path, name, k, values[k]);
  return SCREE_OK;
}

scree_Status scree_h5_read_reals(const scree_H5 *h5, const char *name, size_t count,
                                 const char *why, double *values) {
  scree_Status status = read_values(h5, name, count, why, values);
  if (status != SCREE_OK) return status;
  for (size_t k = 0; k < count; ++k)
    if (!isfinite(values[k]))
      return scree_fail(h5->log, SCREE_BAD_INPUT, "%s: %s[%zu] is %g, expected a finite number",
                        h5->path, name, k, values[k]);
  return SCREE_OK;
}

scree_Status scree_h5_read_ints(const scree_H5 *h5, const char *name, size_t count, const char *why,
                                int *values) {
  /* Read through doubles: exact for every int, and it shows fractions and overflow as they are. */
  double *reals = SCREE_ALLOC(double, count);
  if (!reals) return scree_fail_memory(h5->log, name);
  scree_Status status = read_values(h5, name, count, why, reals);
  for (size_t k = 0; k < count && status == SCREE_OK; ++k) {
    if (!(reals[k] >= INT_MIN && reals[k] <= INT_MAX) || reals[k] != floor(reals[k]))
      status = scree_fail(h5->log, SCREE_BAD_INPUT,
                          "%s: %s[%zu] = %.17g, expected an integer of 32 bits", h5->path, name, k,
                          reals[k]);
    else
      values[k] = (int)reals[k];
  }
  scree_free(reals);
  return status;
}

scree_Status scree_h5_read_int(const scree_H5 *h5, const char *name, int *value) {
  *value = 0;
  return scree_h5_read_ints(h5, name, 1, "a single number", value);
}

void scree_h5_read_text(const scree_H5 *h5, const char *name, char *text, size_t size) {
  text[0] = '\0';
  if (!scree_h5_has(h5, name)) return;
  hid_t data = H5Dopen2(h5->file, name, H5P_DEFAULT);
  if (data < 0) return;
  hid_t type = H5Dget_type(data);
  hid_t space = H5Dget_space(data);
  if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
      H5Sget_simple_extent_npoints(space) == 1) {
    hid_t memory = H5Tcopy(H5T_C_S1);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Tis_variable_str(type) > 0) {
      char *value = NULL;
      H5Tset_size(memory, H5T_VARIABLE);
      if (H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0 && value)
        snprintf(text, size, "%s", value);
      if (value) H5free_memory(value);
    } else {
      H5Tset_size(memory, size);
      H5Tset_strpad(memory, H5T_STR_NULLTERM);
      if (H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) text[0] = '\0';
      text[size - 1] = '\0';
    }
    H5Tclose(memory);
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5Dclose(data);
}

bool scree_h5_make_group(const scree_H5 *h5, const char *name) {
  hid_t group = H5Gcreate2(h5->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  return group >= 0 && H5Gclose(group) >= 0;
}

/* Datasets without a time of creation: the same problem gives the same file, to the byte. */
static hid_t create_dataset(const scree_H5 *h5, const char *name, hid_t type, hid_t space) {
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (properties < 0) return -1;
  H5Pset_obj_track_times(properties, false);
  hid_t data = H5Dcreate2(h5->file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  H5Pclose(properties);
  return data;
}

static bool write_values(const scree_H5 *h5, const char *name, size_t count, hid_t disk,
                         hid_t memory, const void *values) {
  const hsize_t extent = count;
  hid_t space = H5Screate_simple(1, &extent, NULL);
  if (space < 0) return false;
  hid_t data = create_dataset(h5, name, disk, space);
  bool good = data >= 0;
  if (good && count) good = H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (data >= 0) good = H5Dclose(data) >= 0 && good;
  H5Sclose(space);
  return good;
}

bool scree_h5_write_reals(const scree_H5 *h5, const char *name, size_t count,
                          const double *values) {
  return write_values(h5, name, count, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values);
}

bool scree_h5_write_ints(const scree_H5 *h5, const char *name, size_t count, const int *values) {
  return write_values(h5, name, count, H5T_STD_I32LE, H5T_NATIVE_INT, values);
}

bool scree_h5_write_text(const scree_H5 *h5, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  hid_t space = H5Screate(H5S_SCALAR);
  bool good = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0;
  hid_t data = good ? create_dataset(h5, name, type, space) : -1;
  good = data >= 0 && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
  if (data >= 0) good = H5Dclose(data) >= 0 && good;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return good;
}

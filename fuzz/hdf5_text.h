/* HDF5 files from a text, so that fuzzing reaches our readers and not the inside of HDF5: release
 * 1.10 does not survive damage to its own bookkeeping (fuzz/README.md). What a hostile file can say
 * through HDF5's interface can be said here: datasets that are missing, of another type, rank or
 * size, with any numbers, compressed or not, and datasets that claim a size without having data.
 *
 * One line for each dataset or attribute, in this order; lines that make no sense are left out:
 *
 *   TYPE NAME DIMENSIONS : NUMBERS
 *
 * TYPE   i l b f d (int32, int64, uint8, float, double), s (text of fixed size; its size is the
 *        first dimension, the text is what follows the colon, up to | which parts elements);
 *        before it, z: compressed, h: claimed but never written.
 * NAME   /group/name, or @name for an attribute of the file.
 * DIMENSIONS  up to four; none makes a scalar.
 * NUMBERS     as strtod reads them; the last one is repeated until the dataset is full. */
#ifndef FUZZ_HDF5_TEXT_H
#define FUZZ_HDF5_TEXT_H

#include "fuzz.h"

#include <hdf5.h>

enum { FUZZ_RANK = 4, FUZZ_VALUES = 1 << 14 };

typedef struct FuzzEntry {
  char type, name[96];
  bool compressed, hollow, attribute;
  int rank;
  hsize_t dims[FUZZ_RANK];
} FuzzEntry;

/* The part of a line before the colon; false when it makes no sense. */
static inline bool fuzz_parse_entry(char *head, FuzzEntry *entry) {
  *entry = (FuzzEntry){0};
  char *save = NULL, *word = strtok_r(head, " ", &save);
  for (; word && *word; ++word)
    if (*word == 'z')
      entry->compressed = true;
    else if (*word == 'h')
      entry->hollow = true;
    else
      entry->type = *word;
  char *name = strtok_r(NULL, " ", &save);
  if (!entry->type || !strchr("ilbfds", entry->type) || !name || strlen(name) < 2 ||
      strlen(name) >= sizeof entry->name)
    return false;
  entry->attribute = *name == '@';
  snprintf(entry->name, sizeof entry->name, "%s", entry->attribute ? name + 1 : name);
  if (!entry->attribute && *name != '/') return false;
  while ((word = strtok_r(NULL, " ", &save)) && entry->rank < FUZZ_RANK)
    entry->dims[entry->rank++] = strtoull(word, NULL, 10);
  return true;
}

static inline hid_t fuzz_type(FuzzEntry *entry, hid_t *memory) {
  *memory = H5T_NATIVE_DOUBLE;
  switch (entry->type) {
  case 'i': return H5Tcopy(H5T_STD_I32LE);
  case 'l': return H5Tcopy(H5T_STD_I64LE);
  case 'b': return H5Tcopy(H5T_STD_U8LE);
  case 'f': return H5Tcopy(H5T_IEEE_F32LE);
  case 'd': return H5Tcopy(H5T_IEEE_F64LE);
  default: break;
  }
  hsize_t width = entry->rank ? entry->dims[0] : 1;
  if (width < 1 || width > 8192) width = 8;
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, (size_t)width);
  if (entry->rank) memmove(entry->dims, entry->dims + 1, (size_t)--entry->rank * sizeof(hsize_t));
  *memory = type;
  return type;
}

/* Numbers or texts of the part after the colon, as many as `count`. */
static inline void fuzz_values(const FuzzEntry *entry, hid_t memory, const char *text, size_t count,
                               void *values) {
  if (entry->type == 's') {
    const size_t width = H5Tget_size(memory);
    for (size_t k = 0; k < count; ++k) {
      const size_t length = strcspn(text, "|");
      memcpy((char *)values + k * width, text, length < width ? length : width);
      text += length;
      if (*text == '|') ++text;
    }
    return;
  }
  double value = 0.0, *reals = values;
  for (size_t k = 0; k < count; ++k) {
    char *end = NULL;
    const double next = strtod(text, &end);
    if (end != text) value = next;
    text = end;
    reals[k] = value;
  }
}

static inline void fuzz_put_entry(hid_t file, FuzzEntry *entry, const char *text) {
  hid_t memory, type = fuzz_type(entry, &memory);
  hsize_t count = 1;
  bool small = true;
  for (int k = 0; k < entry->rank; ++k) {
    if (entry->dims[k] > FUZZ_VALUES) small = false;
    if (small) count *= entry->dims[k];
    if (count > FUZZ_VALUES) small = false;
  }
  const size_t width = entry->type == 's' ? H5Tget_size(type) : sizeof(double);
  if (entry->type == 's' && count * width > (1 << 17)) small = false;
  hid_t space =
      entry->rank ? H5Screate_simple(entry->rank, entry->dims, NULL) : H5Screate(H5S_SCALAR);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (entry->compressed && small && count && entry->rank) {
    H5Pset_chunk(create, entry->rank, entry->dims);
    H5Pset_deflate(create, 1);
  }
  void *values = small ? calloc(count + 1, width) : NULL;
  if (values) fuzz_values(entry, memory, text, (size_t)count, values);
  if (space >= 0 && entry->attribute && small) {
    hid_t attribute = H5Acreate2(file, entry->name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
      if (count) H5Awrite(attribute, memory, values);
      H5Aclose(attribute);
    }
  } else if (space >= 0 && !entry->attribute) {
    hid_t data = H5Dcreate2(file, entry->name, type, space, links, create, H5P_DEFAULT);
    if (data >= 0) {
      if (small && count && !entry->hollow)
        H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
      H5Dclose(data);
    }
  }
  free(values);
  H5Pclose(links);
  H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  H5Tclose(type);
}

/* Write the file that the text describes. */
static inline void fuzz_write_hdf5(const char *name, const uint8_t *data, size_t size) {
  char *text = malloc(size + 1), *save = NULL;
  demand(text != NULL, "memory for a copy of the input");
  memcpy(text, data, size);
  text[size] = 0;
  for (size_t k = 0; k < size; ++k)
    if (!text[k]) text[k] = ' ';
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, true);
  hid_t file = H5Fcreate(fuzz_path(name), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  demand(file >= 0, "an HDF5 file can be made");
  int lines = 0;
  for (char *line = strtok_r(text, "\n", &save); line && lines < 200;
       line = strtok_r(NULL, "\n", &save), ++lines) {
    char *colon = strchr(line, ':');
    if (colon) *colon = 0;
    FuzzEntry entry;
    if (fuzz_parse_entry(line, &entry)) fuzz_put_entry(file, &entry, colon ? colon + 1 : "");
  }
  H5Fclose(file);
  free(text);
}

#endif

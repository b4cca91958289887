/* Fuzzing of the FCLIB reader: seeded damage to good files must give SCREE_BAD_INPUT with a
 * message, or a problem that passes scree_problem_check; never a crash, a leak or a giant
 * allocation.
 *
 * Two kinds of damage: to the bytes (the file cut short at any place, values flipped or overwritten
 * in the datasets' data), and, through HDF5 itself, to the structure (datasets missing, of another
 * size or type, with hostile values). Bytes of HDF5's own bookkeeping are left alone: release 1.10
 * copies with a size taken from a damaged heap header before anything reaches us. */
#include "fclib_files.h"

enum { FLIPS = 300, CUTS = 100, STRUCTURES = 600 };

static int accepted, refused;

static void check_outcome(const char *path, uint64_t number) {
  scree_Problem problem;
  scree_FclibInfo info;
  const scree_Status status = read_again(path, &problem, &info);
  if (status == SCREE_OK) {
    ++accepted;
    assert_int_equal(scree_problem_check(&problem, NULL), SCREE_OK);
    double *r = calloc((size_t)problem.nc * (size_t)problem.d + 1, 2 * sizeof *r);
    if (info.has_solution) {
      const scree_Status solution =
          scree_fclib_read_solution(path, &problem, r, r + problem.nc * problem.d, &keep_log);
      assert_true(solution == SCREE_OK || solution == SCREE_BAD_INPUT);
    }
    free(r);
  } else {
    ++refused;
    if (status != SCREE_BAD_INPUT || !strstr(message, path))
      fail_msg("number %llu: status %d, message \"%s\"", (unsigned long long)number, (int)status,
               message);
  }
  scree_problem_destroy(&problem);
}

/* Two good files: a small local problem in 3D and a small global one in 2D, with solutions. */
static void make_good(const char *local, const char *global) {
  uint64_t seed = 42;
  double W[81], q[9], mu[3] = {0.1, 0.5, 0.9}, r[9], u[9];
  for (int k = 0; k < 81; ++k) W[k] = random_real(&seed) + (k % 10 == 0 ? 9.0 : 0.0);
  for (int k = 0; k < 9; ++k) q[k] = r[k] = u[k] = random_real(&seed);
  scree_Problem problem;
  assert_int_equal(scree_problem_create_dense(&problem, 3, 3, W, q, mu, NULL), SCREE_OK);
  assert_int_equal(scree_fclib_write(local, &problem, "fuzz", r, u, NULL), SCREE_OK);
  scree_problem_destroy(&problem);
  assert_int_equal(scree_problem_create_bodies(&problem, 2, 4, 4, 3, false, false, NULL), SCREE_OK);
  for (int c = 0; c < 4; ++c) {
    problem.bodies.body[2 * c] = c;
    problem.bodies.body[2 * c + 1] = c < 3 ? c + 1 : -1;
    for (int k = 0; k < (c < 3 ? 12 : 6); ++k) problem.bodies.B[12 * c + k] = random_real(&seed);
    problem.mu[c] = 0.3;
  }
  for (int k = 0; k < 8; ++k) problem.q[k] = random_real(&seed);
  assert_int_equal(scree_fclib_write(global, &problem, "fuzz", r, u, NULL), SCREE_OK);
  scree_problem_destroy(&problem);
}

/* ---- bytes -------------------------------------------------------------------------------------
 */

static unsigned char *load(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

static void save(const char *path, const unsigned char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

/* Where the data of each dataset lies in the file. */
typedef struct Ranges {
  int count;
  size_t start[64], size[64];
} Ranges;

static herr_t add_range(hid_t file, const char *name, const H5O_info_t *info, void *user) {
  Ranges *ranges = user;
  if (info->type != H5O_TYPE_DATASET) return 0;
  hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  const haddr_t at = H5Dget_offset(data);
  const size_t size = (size_t)H5Dget_storage_size(data);
  H5Dclose(data);
  if (at == HADDR_UNDEF || size == 0) return 0;
  assert_true(ranges->count < 64);
  ranges->start[ranges->count] = (size_t)at;
  ranges->size[ranges->count++] = size;
  return 0;
}

static void damage_bytes(const char *good, const char *bad, uint64_t seed) {
  size_t size = 0;
  unsigned char *bytes = load(good, &size), *copy = malloc(size);
  Ranges ranges = {0};
  hid_t file = H5Fopen(good, H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, add_range, &ranges, H5O_INFO_BASIC);
  H5Fclose(file);
  assert_true(ranges.count > 5);
  for (uint64_t number = 0; number < CUTS; ++number) {
    save(bad, bytes, size * number / CUTS);
    check_outcome(bad, number);
  }
  for (uint64_t number = 0; number < FLIPS; ++number) {
    memcpy(copy, bytes, size);
    const int flips = 1 + random_int(&seed, 4);
    for (int k = 0; k < flips; ++k) {
      const int range = random_int(&seed, ranges.count);
      const size_t at = (size_t)random_int(&seed, (int)ranges.size[range]);
      const size_t left = ranges.size[range] - at;
      unsigned char *place = copy + ranges.start[range] + at;
      if (random_int(&seed, 8) == 0)
        memset(place, random_int(&seed, 2) ? 0xff : 0, left < 16 ? left : 16);
      else
        *place ^= (unsigned char)(1 << random_int(&seed, 8));
    }
    save(bad, copy, size);
    check_outcome(bad, number);
  }
  free(bytes);
  free(copy);
}

static void test_bytes(void **state) {
  (void)state;
  const char *local = scratch_path("local.hdf5"), *global = scratch_path("global.hdf5");
  const char *bad = scratch_path("bad.hdf5");
  make_good(local, global);
  accepted = refused = 0;
  damage_bytes(local, bad, 1);
  damage_bytes(global, bad, 2);
  print_message("bytes: %d accepted, %d refused\n", accepted, refused);
  assert_true(accepted > 0 && refused > 0);
  unlink(local);
  unlink(global);
  unlink(bad);
}

/* ---- structure ---------------------------------------------------------------------------------
 */

static const char *const local_names[] = {"/fclib_local/spacedim",
                                          "/fclib_local/W/m",
                                          "/fclib_local/W/n",
                                          "/fclib_local/W/nz",
                                          "/fclib_local/W/nzmax",
                                          "/fclib_local/W/p",
                                          "/fclib_local/W/i",
                                          "/fclib_local/W/x",
                                          "/fclib_local/vectors/q",
                                          "/fclib_local/vectors/mu",
                                          "/fclib_local/info/title",
                                          "/solution/r",
                                          "/solution/u",
                                          "/fclib_local/W",
                                          "/fclib_local/vectors"};

static const char *const global_names[] = {"/fclib_global/spacedim",
                                           "/fclib_global/M/m",
                                           "/fclib_global/M/n",
                                           "/fclib_global/M/nz",
                                           "/fclib_global/M/nzmax",
                                           "/fclib_global/M/p",
                                           "/fclib_global/M/i",
                                           "/fclib_global/M/x",
                                           "/fclib_global/H/m",
                                           "/fclib_global/H/n",
                                           "/fclib_global/H/nz",
                                           "/fclib_global/H/nzmax",
                                           "/fclib_global/H/p",
                                           "/fclib_global/H/i",
                                           "/fclib_global/H/x",
                                           "/fclib_global/vectors/f",
                                           "/fclib_global/vectors/w",
                                           "/fclib_global/vectors/mu",
                                           "/solution/r",
                                           "/solution/v",
                                           "/fclib_global/H"};

static const double hostile[] = {
    0,           1, -1, -2, -3, 2, 3, 6, 1e9, 1e18, -1e300, 1e300, 0.5, 2147483647, -2147483648.0,
    2147483648.0};

static double hostile_value(uint64_t *seed) {
  const int k = random_int(seed, 20);
  if (k == 17) return NAN;
  if (k == 18) return INFINITY;
  return k < 16 ? hostile[k] : random_real(seed);
}

/* Replace, change one value of, retype or delete one dataset. */
static void damage_structure(const char *path, const char *name, uint64_t *seed) {
  static const int counts[] = {0, 1, 2, 3, 7, 64};
  double values[128];
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0);
  const int action = random_int(seed, 6);
  hid_t data = -1;
  H5E_BEGIN_TRY {
    data = H5Dopen2(file, name, H5P_DEFAULT);
  }
  H5E_END_TRY;
  long count = -1;
  bool number = false;
  if (data >= 0) {
    hid_t space = H5Dget_space(data), type = H5Dget_type(data);
    count = (long)H5Sget_simple_extent_npoints(space);
    number = H5Tget_class(type) != H5T_STRING;
    if (number && count <= 128)
      H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(data);
  }
  if (action == 0 || !number || count > 128) {
    H5E_BEGIN_TRY {
      H5Ldelete(file, name, H5P_DEFAULT);
    }
    H5E_END_TRY;
  } else if (action == 1) {
    for (int k = 0; k < 128; ++k) values[k] = hostile_value(seed);
    put(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, counts[random_int(seed, 6)], values);
  } else {
    if (count > 0) values[random_int(seed, (int)count)] = hostile_value(seed);
    const hid_t types[] = {H5T_STD_I32LE, H5T_IEEE_F64LE, H5T_STD_I64BE, H5T_STD_U8LE};
    put(file, name, types[random_int(seed, 4)], H5T_NATIVE_DOUBLE, count, values);
  }
  H5Fclose(file);
}

static void test_structure(void **state) {
  (void)state;
  const char *local = scratch_path("local.hdf5"), *global = scratch_path("global.hdf5");
  const char *bad = scratch_path("bad.hdf5");
  uint64_t seed = 3;
  make_good(local, global);
  accepted = refused = 0;
  for (uint64_t number = 0; number < STRUCTURES; ++number) {
    const bool is_local = number % 2 == 0;
    copy_file(is_local ? local : global, bad);
    const int damages = 1 + random_int(&seed, 2);
    for (int k = 0; k < damages; ++k)
      damage_structure(
          bad, is_local ? local_names[random_int(&seed, 15)] : global_names[random_int(&seed, 21)],
          &seed);
    check_outcome(bad, number);
  }
  print_message("structure: %d accepted, %d refused\n", accepted, refused);
  assert_true(accepted > 0 && refused > 0);
  unlink(local);
  unlink(global);
  unlink(bad);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_structure),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

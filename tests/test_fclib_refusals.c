/* FCLIB files that are damaged, strange or cannot be written: refusals that name what is wrong, and
 * files that appear whole or not at all. */
#include "fclib_made.h"

#include <sys/stat.h>

/* ---- refusals ----------------------------------------------------------------------------------
 */

typedef struct Refusal {
  const char *dataset;  /* to replace, or to delete when count is -2 */
  int count;            /* of values, repeated from `value` */
  double value;         /* all values but the first are kept valid (zero) */
  const char *expected; /* part of the message */
} Refusal;

static const Refusal local_refusals[] = {
    {"/fclib_local/spacedim", -2, 0, "/fclib_local/spacedim is missing"},
    {"/fclib_local/spacedim", 1, 4, "/fclib_local/spacedim = 4, expected 2 or 3"},
    {"/fclib_local/spacedim", 2, 3, "has 2 values, expected 1"},
    {"/fclib_local/spacedim", 1, 2.5, "expected an integer"},
    {"/fclib_local/spacedim", 1, 2, "/fclib_local/vectors/q has 6 values, expected 4"},
    {"/fclib_local/vectors/q", -2, 0, "/fclib_local/vectors/q is missing"},
    {"/fclib_local/vectors/q", 5, 1, "/fclib_local/vectors/q has 5 values, expected 6"},
    {"/fclib_local/vectors/q", 6, NAN, "/fclib_local/vectors/q[0] is"},
    {"/fclib_local/vectors/mu", -2, 0, "/fclib_local/vectors/mu is missing"},
    {"/fclib_local/vectors/mu", 2, -0.1, "/fclib_local/vectors/mu[0] = -0.1"},
    {"/fclib_local/vectors/mu", 2, INFINITY, "/fclib_local/vectors/mu[0] is inf"},
    {"/fclib_local/vectors/s", 1, 1, "/fclib_local/vectors/s"},
    {"/fclib_local/V/m", 1, 6, "/fclib_local/V: equality constraints are not supported"},
    {"/fclib_local/R/m", 1, 6, "/fclib_local/R: equality constraints are not supported"},
    {"/fclib_local/W", -2, 0, "/fclib_local/W is missing"},
    {"/fclib_local/W/m", 1, 9, "/fclib_local/W is 9 x 6"},
    {"/fclib_local/W/n", -2, 0, "/fclib_local/W/n is missing"},
    {"/fclib_local/W/n", 1, 2147483647, "/fclib_local/W is 6 x 2147483647"},
    {"/fclib_local/W/nz", 1, -3, "/fclib_local/W/nz = -3"},
    {"/fclib_local/W/nz", 1, 2147483647, "/fclib_local/W/nzmax"},
    {"/fclib_local/W/nz", 1, 5, "/fclib_local/W"},
    {"/fclib_local/W/nzmax", 1, 2147483647, "/fclib_local/W/i has 18 values"},
    {"/fclib_local/W/nzmax", 1, -1, "/fclib_local/W/nzmax = -1"},
    {"/fclib_local/W/nzmax", 1, 3, "expected at most nzmax = 3"},
    {"/fclib_local/W/p", 6, 0, "/fclib_local/W/p has 6 values, expected 7"},
    {"/fclib_local/W/p", 7, 1, "/fclib_local/W/p[0] = 1, expected 0"},
    {"/fclib_local/W/i", 18, 6, "/fclib_local/W/i[0] = 6, expected an index from 0 to 5"},
    {"/fclib_local/W/i", 18, -1, "/fclib_local/W/i[0] = -1"},
    {"/fclib_local/W/i", 17, 0, "/fclib_local/W/i has 17 values"},
    {"/fclib_local/W/x", 17, 0, "/fclib_local/W/x has 17 values"},
    {"/fclib_local/W/x", 18, NAN, "/fclib_local/W/x[0] is"},
    {"/fclib_local/W/x", -2, 0, "/fclib_local/W/x is missing"},
    {"/fclib_local", -2, 0, "neither /fclib_local nor /fclib_global"},
};

static const Refusal global_refusals[] = {
    {"/fclib_global/vectors/f", -2, 0, "/fclib_global/vectors/f is missing"},
    {"/fclib_global/vectors/f", 3, 1, "/fclib_global/M is 6 x 6 (m x n), expected 3 x 3"},
    {"/fclib_global/vectors/w", 3, 1, "/fclib_global/vectors/w has 3 values, expected 4"},
    {"/fclib_global/vectors/b", 1, 1, "/fclib_global/vectors/b"},
    {"/fclib_global/G/m", 1, 2, "/fclib_global/G: equality constraints are not supported"},
    {"/fclib_global/H", -2, 0, "/fclib_global/H is missing"},
    {"/fclib_global/H/i", 12, 6, "/fclib_global/H/i"},
    {"/fclib_global/M/x", 6, -1, "not positive definite"},
    {"/fclib_global/M/x", 6, 0, "not positive definite"},
};

static void mutate(const char *path, const Refusal *refusal) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0);
  if (refusal->count == -2) {
    assert_true(H5Ldelete(file, refusal->dataset, H5P_DEFAULT) >= 0);
  } else {
    double values[32] = {refusal->value};
    const bool whole = refusal->value == floor(refusal->value);
    if (whole && !strstr(refusal->dataset, "/x") && !strstr(refusal->dataset, "vectors"))
      put(file, refusal->dataset, H5T_STD_I32LE, H5T_NATIVE_DOUBLE, refusal->count, values);
    else
      put(file, refusal->dataset, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, refusal->count, values);
  }
  H5Fclose(file);
}

static void check_refusals(const char *good, const Refusal *refusals, size_t count) {
  const char *path = scratch_path("bad.hdf5");
  for (size_t k = 0; k < count; ++k) {
    scree_Problem problem;
    copy_file(good, path);
    mutate(path, &refusals[k]);
    const scree_Status status = read_again(path, &problem, NULL);
    if (status != SCREE_BAD_INPUT || !strstr(message, refusals[k].expected) ||
        !strstr(message, "bad.hdf5"))
      fail_msg("%s: status %d, message \"%s\", expected \"%s\"", refusals[k].dataset, (int)status,
               message, refusals[k].expected);
    assert_null(problem.owned);
  }
  unlink(path);
}

static void test_refusals(void **state) {
  (void)state;
  uint64_t seed = 6;
  const char *good = scratch_path("good.hdf5");
  double W[36] = {0}, q[6] = {1, 2, 3, 4, 5, 6}, mu[2] = {0.5, 0.5};
  for (int k = 0; k < 36; ++k) W[k] = k / 6 / 3 == k % 6 / 3 ? 1.0 + (k % 7 == 0 ? 5 : 0) : 0.0;
  put_local(good, BY_ROWS, 3, 2, W, q, mu, false);
  check_refusals(good, local_refusals, sizeof local_refusals / sizeof *local_refusals);
  scree_Problem problem;
  make_chain(&problem, 2, 3, 2, false, &seed);
  assert_int_equal(scree_fclib_write(good, &problem, NULL, NULL, NULL, NULL), SCREE_OK);
  scree_problem_destroy(&problem);
  check_refusals(good, global_refusals, sizeof global_refusals / sizeof *global_refusals);
  unlink(good);
}

/* Things that are no problem files at all, text where numbers belong, and data that is not there.
 */
static void test_strange_files(void **state) {
  (void)state;
  scree_Problem problem;
  const char *path = scratch_path("strange.hdf5");
  assert_int_equal(read_again(path, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "No such file"));
  assert_int_equal(read_again(scratch, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "found a folder"));
  FILE *text = fopen(path, "w");
  assert_int_equal(read_again(path, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "empty"));
  fputs("spacedim: 3\n", text);
  fclose(text);
  assert_int_equal(read_again(path, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "not an HDF5 file"));

  const double W[4] = {1, 0, 0, 1}, q[2] = {1, 1}, mu[1] = {0.5};
  put_local(path, BY_ROWS, 2, 1, W, q, mu, false);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, 4);
  put(file, "/fclib_local/vectors/q", type, type, 2, "abc\0def");
  H5Tclose(type);
  H5Fclose(file);
  assert_int_equal(read_again(path, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "/fclib_local/vectors/q holds text, expected numbers"));

  /* 2^40 values that were never written: no memory is taken for them */
  put_local(path, BY_ROWS, 2, 1, W, q, mu, false);
  file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "/fclib_local/vectors/mu", H5P_DEFAULT);
  const hsize_t extent = (hsize_t)1 << 40, chunk = 1024;
  hid_t space = H5Screate_simple(1, &extent, NULL), layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(layout, 1, &chunk);
  hid_t data = H5Dcreate2(file, "/fclib_local/vectors/mu", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                          layout, H5P_DEFAULT);
  assert_true(data >= 0);
  H5Dclose(data);
  H5Pclose(layout);
  H5Sclose(space);
  H5Fclose(file);
  assert_int_equal(read_again(path, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "claims 1099511627776 values"));
  unlink(path);
}

static herr_t count_errors(hid_t stack, void *count) {
  (void)stack;
  ++*(int *)count;
  return 0;
}

/* HDF5's own error printing is silenced while a file is read, and the caller's setting comes back.
 */
static void test_error_handler(void **state) {
  (void)state;
  int count = 0;
  scree_Problem problem;
  H5E_auto2_t before, after;
  void *data_before = NULL, *data_after = NULL;
  H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
  H5Eset_auto2(H5E_DEFAULT, count_errors, &count);
  assert_int_equal(read_again("/dev/null", &problem, NULL), SCREE_BAD_INPUT);
  const char *path = scratch_path("cut.hdf5");
  const double W[4] = {1, 0, 0, 1}, q[2] = {1, 1}, mu[1] = {0.5};
  put_local(path, BY_ROWS, 2, 1, W, q, mu, false);
  assert_int_equal(truncate(path, 900), 0);
  count = 0; /* making the file deletes what is not there */
  assert_int_equal(read_again(path, &problem, NULL), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "cut short"));
  assert_int_equal(count, 0);
  H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
  assert_true(after == count_errors && data_after == &count);
  H5Eset_auto2(H5E_DEFAULT, before, data_before);
  unlink(path);
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void test_write_failures(void **state) {
  (void)state;
  uint64_t seed = 8;
  scree_Problem problem, again;
  make_chain(&problem, 2, 3, 3, false, &seed);
  message[0] = '\0';
  assert_int_equal(
      scree_fclib_write(scratch_path("absent/x.hdf5"), &problem, NULL, NULL, NULL, &keep_log),
      SCREE_MACHINE);
  assert_non_null(strstr(message, "absent/x.hdf5: cannot be written: No such file"));
  /* a target that cannot be replaced, because it is a folder: nothing is left beside it */
  const char *folder = scratch_path("folder");
  assert_int_equal(mkdir(folder, 0777), 0);
  assert_int_equal(scree_fclib_write(folder, &problem, NULL, NULL, NULL, &keep_log), SCREE_MACHINE);
  assert_int_equal(rmdir(folder), 0);
  /* an existing file is replaced whole */
  const char *path = scratch_path("whole.hdf5");
  FILE *old = fopen(path, "w");
  fputs("old", old);
  fclose(old);
  assert_int_equal(scree_fclib_write(path, &problem, NULL, NULL, NULL, &keep_log), SCREE_OK);
  assert_int_equal(read_again(path, &again, NULL), SCREE_OK);
  assert_same_problem(&problem, &again);
  scree_problem_destroy(&again);
  scree_problem_destroy(&problem);
  unlink(path);
}

/* A file is written again with another solution; all else, guesses too, is still there. */
static void test_write_solution(void **state) {
  (void)state;
  const char *path = scratch_path("first.hdf5"), *next = scratch_path("next.hdf5");
  const double W[4] = {1, 0, 0, 1}, q[2] = {1, 1}, mu[1] = {0.5};
  const double r[2] = {3, 1}, u[2] = {4, 2}, r_new[2] = {5, 2}, u_new[2] = {6, 3};
  scree_Problem problem;
  scree_FclibInfo info;
  assert_int_equal(scree_problem_create_dense(&problem, 2, 1, W, q, mu, NULL), SCREE_OK);
  assert_int_equal(scree_fclib_write(path, &problem, "kept", r, u, &keep_log), SCREE_OK);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  for (int k = 1; k <= 3; ++k) {
    char name[64];
    snprintf(name, sizeof name, "/guesses/%d/r", k);
    put_reals(file, name, 2, r);
  }
  H5Fclose(file);
  assert_int_equal(scree_fclib_write_solution(path, next, &problem, r_new, u_new, &keep_log),
                   SCREE_OK);
  scree_problem_destroy(&problem);
  double r_read[2], u_read[2];
  for (int k = 0; k < 2; ++k) { /* the first file is as it was */
    assert_int_equal(read_again(k ? next : path, &problem, &info), SCREE_OK);
    assert_true(info.has_solution && info.guesses == 3);
    assert_string_equal(info.title, "kept");
    assert_int_equal(
        scree_fclib_read_solution(k ? next : path, &problem, r_read, u_read, &keep_log), SCREE_OK);
    assert_memory_equal(r_read, k ? r_new : r, sizeof r);
    assert_memory_equal(u_read, k ? u_new : u, sizeof u);
    scree_problem_destroy(&problem);
  }
  /* no time of writing: the same solution gives the same bytes */
  file = H5Fopen(next, H5F_ACC_RDONLY, H5P_DEFAULT);
  H5O_info_t object;
  assert_true(H5Oget_info_by_name2(file, "/solution/r", &object, H5O_INFO_TIME, H5P_DEFAULT) >= 0);
  assert_true(object.mtime == 0 && object.ctime == 0);
  H5Fclose(file);
  /* a solution of another size */
  scree_Problem other = {.d = 3, .nc = 1};
  double big[3];
  assert_int_equal(scree_fclib_read_solution(path, &other, big, big, &keep_log), SCREE_BAD_INPUT);
  assert_non_null(strstr(message, "/solution/r has 2 values, expected 3"));
  unlink(path);
  unlink(next);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refusals),       cmocka_unit_test(test_strange_files),
      cmocka_unit_test(test_error_handler),  cmocka_unit_test(test_write_failures),
      cmocka_unit_test(test_write_solution),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

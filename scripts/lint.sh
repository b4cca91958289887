#!/usr/bin/env bash
# clang-tidy (.clang-tidy) over src, cli, fuzz and python, and cppcheck (scripts/cppcheck.txt) over src, cli, fuzz,
# tests and bench (it does not know the macros of CPython). Whatever they find fails. Needs the build folder of the preset clang, whose
# compile_commands.json tells clang-tidy how each file is compiled.
#   scripts/lint.sh [BUILD [JOBS [FILE...]]]      with files: only clang-tidy, on these
set -euo pipefail
cd "$(dirname "$0")/.."
build="${1:-build/clang}" jobs="${2:-$(nproc 2>/dev/null || echo 2)}"
shift $(($# < 2 ? $# : 2))

for tool in clang-tidy cppcheck; do
  if ! command -v "$tool" >/dev/null; then
    echo "lint: $tool was not found. On Debian: apt-get install $tool" >&2
    exit 1
  fi
done
if ! clang-tidy --version | grep -q 'version 14\.'; then
  echo "lint: clang-tidy 14 is expected, other versions find other things: $(clang-tidy --version |
    grep -o 'version.*')" >&2
fi
if [ ! -f "$build/compile_commands.json" ]; then
  echo "lint: no $build/compile_commands.json: run cmake --preset clang first" >&2
  exit 1
fi

# The analyser explores at most 20,000 states of a function, not 225,000: a sixth of the time, and
# on our sources the same findings (measured 2026-11 on 190 files). Asserts are on.
tidy=(clang-tidy -p "$build" --quiet --extra-arg=-UNDEBUG)
for word in -Xclang -analyzer-config -Xclang max-nodes=20000; do tidy+=("--extra-arg=$word"); done
if [ $# -gt 0 ]; then exec "${tidy[@]}" "$@"; fi

status=0
mapfile -t files < <(ls src/*/*.c cli/*.c cli/bench/*.c fuzz/*.c python/src/*.c | grep -vE '_mpi\.c$|results_shared_hdf5\.c$') # of another build
report="$(mktemp)"
trap 'rm -f "$report"' EXIT
# It counts warnings of system headers on standard error; what matters is on standard output. A
# header's findings come once for each file that includes it.
printf '%s\n' "${files[@]}" | xargs -P "$jobs" -n 4 "${tidy[@]}" >"$report" 2>"$report.err" || status=1
if [ "$status" -ne 0 ]; then
  sed "s,$PWD/,,g" "$report"
  grep -E '^Error|^error' "$report.err" | sort -u || true
  echo "lint: clang-tidy has found something" >&2
else
  echo "lint: clang-tidy: ${#files[@]} files"
fi
rm -f "$report.err"

# Files that only a build with MPI compiles, and those that need PETSc or HDF5 with MPI besides.
mpi=
for folder in build/mpi-asan build/mpi; do
  if [ -z "$mpi" ] && [ -f "$folder/compile_commands.json" ]; then mpi=$folder; fi
done
mpi_files=(src/parallel/*_mpi.c)
if [ -n "$mpi" ] && ! grep -q /petsc_ "$mpi/compile_commands.json"; then
  echo "lint: $mpi is without PETSc: src/parallel/petsc_*.c are skipped"
  mapfile -t mpi_files < <(ls src/parallel/*_mpi.c | grep -v /petsc_)
fi
if [ -n "$mpi" ] && grep -q results_shared_hdf5 "$mpi/compile_commands.json"; then
  mpi_files+=(src/run/results_shared_hdf5.c)
fi
if [ -z "$mpi" ]; then
  echo "lint: no build with MPI: src/parallel/*_mpi.c are skipped"
elif clang-tidy -p "$mpi" --quiet --extra-arg=-UNDEBUG --extra-arg=-Wno-unknown-warning-option \
  "${mpi_files[@]}" >"$report" 2>/dev/null; then
  echo "lint: clang-tidy: ${#mpi_files[@]} files of $mpi"
else
  sed "s,$PWD/,,g" "$report"
  echo "lint: clang-tidy has found something in the files with MPI" >&2
  status=1
fi

# One configuration of the preprocessor, that of a GCC build on Linux.
cppcheck -j "$jobs" --quiet --error-exitcode=1 --enable=warning,performance,portability --std=c11 \
  --inline-suppr --suppressions-list=scripts/cppcheck.txt --max-configs=1 -Iinclude -Isrc -I. -Itests \
  -D__x86_64__ -D__gnu_linux__ -D__linux__ -D__GNUC__=12 -DSCREE_PROBLEMS='"p"' -DSCREE_SOURCE='"s"' \
  -DFUZZ_SCENE='"f"' --template='{file}:{line}: {severity}: {message} [{id}]' \
  src cli fuzz tests bench || {
  echo "lint: cppcheck has found something" >&2
  status=1
}
[ "$status" -eq 0 ] && echo "lint: cppcheck: src cli fuzz tests bench"
exit "$status"

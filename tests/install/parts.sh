#!/usr/bin/env bash
# The first two libraries are configured, built, tested and installed where neither HDF5 nor libyaml nor
# zlib can be found, and the programs of this folder use them. Compiled without optimisation: this
# is a test of the build, the other tests are of the code.
#   parts.sh SOURCE CMAKE CC
set -euo pipefail
unset MAKEFLAGS # of the make that may have started the tests
source="$1" cmake="$2" cc="$3"
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*"
  exit 1
}
hidden=(-DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
  -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON)
configure() { # configure <folder> <last library> <more>...
  "$cmake" -S "$source" -B "$work/$1" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS=-O0 "-DSCREE_LIBRARY=$2" "${hidden[@]}" "${@:3}" >"$work/$1.log" 2>&1
}

# All three need what is hidden, so hiding works; a name that is none is refused.
if configure all scree -DSCREE_TESTS=OFF; then fail "the library of files was configured without HDF5"; fi
if configure none worlds -DSCREE_TESTS=OFF; then fail "SCREE_LIBRARY=worlds was accepted"; fi
grep -q 'expected solver, world or scree' "$work/none.log" || fail "SCREE_LIBRARY=worlds: another message"

# The first alone is configured with its tests; the build is that of the first two, which contains it.
configure solver solver -DSCREE_TESTS=ON || { cat "$work/solver.log"; fail "solver: not configured"; }
(cd "$work/solver" && ctest -N) >"$work/tests" 2>&1
for name in csr factor general solver_life; do
  grep -q ": $name\$" "$work/tests" || fail "solver: without the test $name"
done
configure world world -DSCREE_TESTS=ON || { cat "$work/world.log"; fail "world: not configured"; }
if grep -iE 'hdf5|yaml|zlib' "$work/world/CMakeCache.txt" | grep -v DISABLE_FIND; then
  fail "world: the above was looked for"
fi
"$cmake" --build "$work/world" -j 2 --target scree_shared test_csr test_shape >"$work/build.log" 2>&1 ||
  { cat "$work/build.log"; fail "world: not built"; }
if grep -rlE 'hdf5|yaml\.h|zlib\.h' --include='*.d' "$work/world"; then fail "these include hidden headers"; fi
(cd "$work/world" && ctest -R '^(csr|shape)$' --output-on-failure >"$work/ctest.log") ||
  { cat "$work/ctest.log"; fail "world: a test failed"; }
"$cmake" --install "$work/world" --prefix "$work/prefix" >/dev/null
"$cmake" -S "$here" -B "$work/user" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$work/prefix" \
  "-DPARTS=solver;world" >/dev/null
"$cmake" --build "$work/user" >/dev/null
for part in solver world; do "$work/user/uses_$part"; done
if find "$work/prefix" -name 'scene.h' -o -name 'libscree.so' | grep .; then fail "the above was installed"; fi

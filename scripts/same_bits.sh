#!/usr/bin/env bash
# Two builds of the program (GCC's and Clang's) give the same bits: solutions of the problems under
# tests/data by several solvers, and a run with its checkpoint.
#   scripts/same_bits.sh build/scree build/clang/scree
set -euo pipefail
a="$(realpath "$1")" b="$(realpath "$2")"
cd "$(dirname "$0")/.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=passive
status=0 compared=0

for side in a b; do
  program="${!side}"
  for solver in auto nlgs newton fixed-point ipm pqn; do
    # 1: some stop above the tolerance, which has to happen in the same place
    "$program" solve tests/data/problems/*.hdf5 tests/data/*.hdf5 --solver "$solver" --tol 1e-7 \
      --max-iter 300 --threads 1 -o "$work/$side/$solver" >/dev/null 2>&1 || [ $? -eq 1 ]
  done
  "$program" run fuzz/run_scene.yaml -o "$work/$side/run" -q
  "$program" run examples/wall.yaml -o "$work/$side/wall" -q --steps 40 2>/dev/null
done
for file in "$work"/a/*/*.hdf5 "$work"/a/run/results.h5 "$work"/a/wall/frames.bin; do
  [ -f "$file" ] || continue
  compared=$((compared + 1))
  cmp -s "$file" "$work/b/${file#"$work"/a/}" || {
    echo "same_bits: ${file#"$work"/a/} differs between $1 and $2" >&2
    status=1
  }
done
[ "$compared" -gt 100 ] || { echo "same_bits: only $compared files to compare" >&2; status=1; }
[ "$status" -eq 0 ] && echo "same_bits: $compared files are the same, bit for bit"
exit "$status"

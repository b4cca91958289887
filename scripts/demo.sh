#!/usr/bin/env bash
# The part of `make demo` after the build.
set -euo pipefail
cd "$(dirname "$0")/.."
scree=build/scree
out=build/demo

if [ -f examples/drum.yaml ]; then
  "$scree" run examples/drum.yaml -o "$out" --force
  "$scree" report "$out" -o "$out/report.html"
  echo
  echo "Open $PWD/$out/report.html in a browser."
else
  "$scree" solvers
  for problem in examples/*.hdf5; do
    [ -f "$problem" ] || continue
    echo
    "$scree" info "$problem"
    "$scree" solve "$problem"
  done
fi

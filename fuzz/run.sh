#!/usr/bin/env bash
# Run one fuzz target for some seconds, from its seeds.
#   run.sh BUILD/fuzz/fuzz_READER SECONDS [KEEP]
# New inputs are thrown away, or kept in the folder KEEP and continued from there the next time. An
# input that fails is kept beside the target as crash-..., leak-..., timeout-... or oom-...; run the
# target with it as its only argument to see it again.
set -euo pipefail
target="$1" seconds="$2" keep="${3:-}"
here="$(cd "$(dirname "$0")" && pwd)"
reader="$(basename "$target")"
reader="${reader#fuzz_}"
# In the tests the inputs are the same each time, so that a test that has passed passes again: new ones
# are sought by `make fuzz`, which keeps them.
few=()
if [ -z "$keep" ]; then
  keep="$(mktemp -d)"
  trap 'rm -rf "$keep"' EXIT
  few=(-seed=1 -runs=1500)
fi
mkdir -p "$keep"
dictionary="$here/$reader.dict"
options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2560 -malloc_limit_mb=1024
  -max_len=16384 -artifact_prefix="$(dirname "$target")/" -print_final_stats=1 -verbosity=0)
[ -f "$dictionary" ] && options+=(-dict="$dictionary")
export ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1"
export UBSAN_OPTIONS="print_stacktrace=1"
export OMP_NUM_THREADS=1
"$target" "${options[@]}" "${few[@]}" "$keep" "$here/corpus/$reader"

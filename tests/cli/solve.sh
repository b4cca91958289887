#!/usr/bin/env bash
# scree solve and scree info on real problems: statuses, JSON, tables, written solutions.
source "$(dirname "$0")/common.bash"
need_problems Rover1039.hdf5
p=$SCREE_PROBLEMS

run 0 "$SCREE" solve "$p/Rover1039.hdf5" --solver nlgs --json
json 1
empty err
for key in problem dimension contacts solver law tol measure converged error error_siconos \
  iterations seconds eps_glob merit worst_contact factorisations status; do
  out "\"$key\": "
done
out '"problem": "Rover1039.hdf5"'
out '"dimension": 3, "contacts": 4, "solver": "nlgs", "law": "coulomb"'
out '"measure": "error", "converged": true'
out '"status": "ok"'

# the table: a line each, a header, a summary; no colours in a pipe
run 0 "$SCREE" solve "$p/Rover1039.hdf5" "$p/FC2D_SliderCrankLagrangian00000.hdf5" "$p/disks-400.hdf5" \
  --solver nlgs --tol 1e-3
[ "$(wc -l < "$work/out")" -eq 5 ] || fail "table: $(cat "$work/out")"
out "3 of 3 solved to 0.001 (error)"
! grep -q $'\033' "$work/out" || fail "colours in a pipe"

# the default solver, and each choice of measure
run 0 "$SCREE" solve "$p/Rover1040.hdf5"
for measure in error siconos both eps_glob merit increment; do
  run 0 "$SCREE" solve "$p/Rover1040.hdf5" --solver nlgs --measure "$measure" --tol 1e-6 --json
  out "\"measure\": \"$measure\""
done
run 0 "$SCREE" solve "$p/Rover1040.hdf5" --solver nlgs --law associated --json
out '"law": "associated"'
out '"dilatation_max": '

# limits: status 1 with the error that was reached
run 1 "$SCREE" solve "$p/disks-400.hdf5" --solver nlgs --max-iter 3 --json
out '"converged": false'
out '"iterations": 3'
out '"status": "not converged"'
run 1 "$SCREE" solve "$p/disks-400.hdf5" --solver nlgs --tol 0 --time-limit 0.05 --json
out '"converged": false'

# the same answer for any number of threads
for threads in 1 2; do
  run 0 "$SCREE" solve "$p/disks-400.hdf5" --solver nlgs --tol 1e-4 --threads $threads -o "$work/t$threads"
done
cmp -s "$work/t1/disks-400.hdf5" "$work/t2/disks-400.hdf5" || fail "1 and 2 threads differ"

# a problem that cannot be read does not stop the others; the worst status wins
echo "no problem" > "$work/text.hdf5"
run 2 "$SCREE" solve "$work/none.hdf5" "$work/text.hdf5" "$p/Rover1039.hdf5" --solver nlgs --json
json 3
out '"problem": "none.hdf5", "dimension": null'
out '"status": "bad input"'
out '"converged": true'
err "$work/none.hdf5: cannot be read: No such file or directory"
err "$work/text.hdf5: this is not an HDF5 file"
run 2 "$SCREE" solve "$work" --json
err "found a folder, expected a file"

# names that are no text are still JSON
odd=$work/$'odd "\xff\n.hdf5'
cp "$p/Rover1039.hdf5" "$odd"
run 0 "$SCREE" solve "$odd" --solver nlgs --json
json 1

# written solutions: local and global, measured by info, solved again
mkdir "$work/in"
for name in Rover1039 gfc2d_granularflowonwall_00230_00206 GFC3D_TwoRods1; do
  run 0 "$SCREE" solve "$p/$name.hdf5" --solver nlgs -o "$work/deep/out"
  run 0 "$SCREE" info "$work/deep/out/$name.hdf5" --json
  json 1
  out '"solution": true'
  grep -qE '"solution_error": ([0-9.]+e-(09|[1-9][0-9]+)|0),' "$work/out" || fail "solution: $(cat "$work/out")"
  run 0 "$SCREE" solve "$work/deep/out/$name.hdf5" --solver nlgs
done
[ -z "$(find "$work/deep" -name '*.part')" ] || fail "unfinished files left behind"
run 2 "$SCREE" solve "$work/deep/out/Rover1039.hdf5" -o "$work/deep/out"
err "would be overwritten"
cp "$p/Rover1039.hdf5" "$work/in/"
run 2 "$SCREE" solve "$p/Rover1039.hdf5" "$work/in/Rover1039.hdf5" -o "$work/twice"
err "would both be written"
run 2 "$SCREE" solve "$p/Rover1039.hdf5" -o "$work/text.hdf5"
err "Not a directory"

# info
run 0 "$SCREE" info "$p/Rover1039.hdf5" "$p/disks-400.hdf5"
out "FCLIB local (W) form"
out "FCLIB global (M, H) form"
run 2 "$SCREE" info "$work/text.hdf5" "$p/Rover1039.hdf5"
out "contacts     4"

# a full disk, where limits on the size of files can stand for it
status=0
(trap '' XFSZ; ulimit -f 4; exec "$SCREE" solve "$p/disks-400.hdf5" --tol 1 -o "$work/full") \
  > "$work/out" 2> "$work/err" || status=$?
[ "$status" -eq 3 ] || fail "full disk: status $status, expected 3"
err "cannot be written"
[ -z "$(ls -A "$work/full")" ] || fail "a partial file was left: $(ls -A "$work/full")"

if [ -w /dev/full ]; then
  status=0
  "$SCREE" solve "$p/Rover1039.hdf5" --json > /dev/full 2> "$work/err" || status=$?
  [ "$status" -eq 3 ] || fail "full output: status $status, expected 3"
fi
finish

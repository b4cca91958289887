#!/usr/bin/env bash
# scree race: table, JSON, files, statuses.
source "$(dirname "$0")/common.bash"
need_problems Rover1039.hdf5
p=$SCREE_PROBLEMS

# a line per problem and a header; one problem has no profile
run 0 "$SCREE" race "$p/Rover1039.hdf5" --tol 1e-6
[ "$(wc -l < "$work/out")" -eq 2 ] || fail "table: $(cat "$work/out")"
out "nlgs"
out "Rover1039.hdf5"
out '*'
! grep -q $'\033' "$work/out" || fail "colours in a pipe"

# several problems: a profile, and files
run 0 "$SCREE" race "$p/Rover1039.hdf5" "$p/Rover1040.hdf5" "$p/FC2D_SliderCrankLagrangian00000.hdf5" \
  --tol 1e-6 --solver nlgs --solver pqn -o "$work/race"
out "part of the problems"
out "a nlgs"
out "b pqn"
grep -q "</svg>" "$work/race/profile.svg" || fail "no profile.svg"
[ "$(wc -l < "$work/race/race.csv")" -eq 7 ] || fail "race.csv: $(cat "$work/race/race.csv")"

# JSON: a line per solve
run 0 "$SCREE" race "$p/Rover1039.hdf5" "$p/Rover1040.hdf5" --solver nlgs --solver pqn --json
json 4
out '"solver": "pqn"'

# nobody solves it within the limit: status 1, the error reached in brackets
run 1 "$SCREE" race "$p/disks-400.hdf5" --solver nlgs --time-limit 0.01 --tol 1e-12
out ' ('

# only solvers that can: the associated law is not for all of them
run 0 "$SCREE" race "$p/Rover1039.hdf5" --law associated --tol 1e-6

run 2 "$SCREE" race
run 2 "$SCREE" race "$p/Rover1039.hdf5" --solver nobody
run 2 "$SCREE" race "$work/absent.hdf5"

finish

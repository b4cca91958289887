#!/usr/bin/env bash
# The tests of several ranks, under mpirun on this machine alone (shared memory and the loopback).
#   run.sh TEST_RANKS TEST_PARTS [SCREE]
# A rank that dies must end the others; SCREE is the program, where it was built.
set -u
test_ranks=$1
test_domain=$2
scree=${3:-}
command -v mpirun >/dev/null || { echo "mpirun is not installed (libopenmpi-dev, openmpi-bin): skipped"; exit 77; }
# Open MPI: as root in a container, more ranks than processors, no network.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_plm_rsh_agent=false
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1
# MPI itself keeps some memory until the process ends.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

for n in 2 3 4 8; do
  timeout 300 mpirun -q -n $n "$test_ranks" || fail "test_ranks on $n ranks"
done

# divided worlds (all of their steps on one rank: test `domain`); fewer steps where ranks have to wait for a processor
timeout 300 mpirun -q -n 2 "$test_domain" 2 || fail "test_domain on 2 ranks"
for n in 1 3 4 8; do
  timeout 300 mpirun -q -n $n "$test_domain" 4 || fail "test_domain on $n ranks"
done

start=$(date +%s)
timeout 100 mpirun -q -n 3 "$test_ranks" die >/dev/null 2>&1
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] || fail "a rank died: status $status"
[ $(($(date +%s) - start)) -lt 30 ] || fail "a rank died: the others went on for long"

if [ -n "$scree" ] && [ -x "$scree" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  source=${SCREE_SOURCE:-.}
  problem=$source/tests/data/problems/spheres-500.hdf5
  [ -f "$problem" ] || problem=$(ls "$source"/tests/data/problems/*.hdf5 | head -1)
  mpirun -q -n 3 "$scree" solve "$problem" --solver nlgs --tol 1e-3 --json >"$work/out" || fail "scree solve"
  for key in '"ranks": 3' '"messages": ' '"bytes": ' '"imbalance": ' '"converged": true'; do
    grep -q -- "$key" "$work/out" || fail "scree solve: no $key in $(cat "$work/out")"
  done
  mpirun -q -n 2 "$scree" solve "$problem" --solver lemke >/dev/null 2>"$work/err"
  [ $? -eq 2 ] && grep -q "lemke works on one rank" "$work/err" || fail "lemke: $(cat "$work/err")"
  # newton, where PETSc is: the same solution twice
  if "$scree" solvers newton | grep -q "several ranks"; then
    for k in 1 2; do
      mpirun -q -n 3 "$scree" solve "$problem" --solver ipm --tol 1e-6 --json -o "$work/ipm$k" >"$work/out" || fail "ipm: $(cat "$work/out")"
    done
    cmp "$work/ipm1/$(basename "$problem")" "$work/ipm2/$(basename "$problem")" || fail "ipm: two solves differ"
  else
    mpirun -q -n 2 "$scree" solve "$problem" --solver newton >/dev/null 2>"$work/err"
    [ $? -eq 2 ] && grep -q "newton works on one rank" "$work/err" || fail "newton: $(cat "$work/err")"
  fi
  # divided runs of a scene with everything: the telemetry and the results of one rank, certified; the same bits
  # for the same number of ranks; a run that is resumed on other numbers of ranks; counts
  scene=$source/tests/ranks/everything.yaml
  python=$(for p in python3 /usr/bin/python3; do "$p" -c 'import h5py' 2>/dev/null && { echo $p; break; }; done)
  compare() { [ -z "$python" ] || "$python" "$source/tests/ranks/compare.py" "$@"; }
  # resume_on_ranks SCENE STEPS RUN: so many steps on each of 3, 1 and 2 ranks, one after the other
  resume_on_ranks() {
    for n in 3 1 2; do
      launch=(mpirun -q -n $n)
      [ $n = 1 ] && launch=()
      timeout 300 "${launch[@]}" "$scree" run "$1" -q --steps "$2" --resume -o "$3" || fail "$3 resumed on $n ranks"
    done
  }
  # whole_and_resumed NAME STEPS [HOW]: the scene NAME on one, 2 and 3 ranks, and so many steps at a time on 3, 1
  # and 2 ranks, compared in the way HOW
  whole_and_resumed() {
    local name=$1 steps=$2 file=$source/tests/ranks/$1.yaml
    shift 2
    "$scree" run "$file" -q -o "$work/$name" || fail "$name on one rank"
    for n in 2 3; do
      timeout 300 mpirun -q -n $n "$scree" run "$file" --json -o "$work/$name$n" >"$work/out" || fail "$name on $n ranks"
      grep -q '"divided": true' "$work/out" || fail "$name: not divided: $(cat "$work/out")"
      compare "$work/$name" "$work/$name$n" "$@" || fail "$name on $n ranks"
    done
    resume_on_ranks "$file" "$steps" "$work/$name-resumed"
    compare "$work/$name" "$work/$name-resumed" "$@" || fail "$name resumed"
  }
  "$scree" run "$scene" -q -o "$work/one" || fail "scree run on one rank"
  for n in 2 3 4; do
    timeout 300 mpirun -q -n $n "$scree" run "$scene" --json -o "$work/all$n" >"$work/out" || fail "scree run on $n ranks"
    grep -q '"divided": true' "$work/out" && grep -q '"imbalance": ' "$work/out" || fail "not divided: $(cat "$work/out")"
    compare "$work/one" "$work/all$n" || fail "$n ranks"
  done
  # the same for pseudo-rigid bodies, and for a run that goes on on other numbers of ranks
  soft=$source/tests/ranks/soft.yaml
  whole_and_resumed soft 50 1e-6 soft
  for k in 1 2; do
    timeout 300 mpirun -q -n 3 "$scree" run "$soft" --steps 60 -q -o "$work/same$k" || fail "soft bodies on 3 ranks"
  done
  cmp "$work/same1/frames.bin" "$work/same2/frames.bin" || fail "two runs of soft bodies on 3 ranks differ"
  # the same for joints, bonds that break, and plates under pressure
  whole_and_resumed machines 100
  tail -1 "$work/machines/telemetry.jsonl" | grep -q '"bonds": 3, "bonds_broken": 4' || fail "machines: bonds"
  # the same for finite elements, held, driven, loaded, thrown and poured, and joints beside deformable bodies
  whole_and_resumed elements 34 1e-6 soft
  # generators: each rank makes its own bodies, and the start is that of one rank in every number
  generators=$source/tests/ranks/generators.yaml
  "$scree" run "$generators" -q --steps 1 -o "$work/made" || fail "generators on one rank"
  for n in 2 3 8; do
    timeout 300 mpirun -q -n $n "$scree" run "$generators" -q --steps 1 -o "$work/made$n" || fail "generators on $n ranks"
    compare "$work/made" "$work/made$n" 0 start || fail "generators on $n ranks"
  done
  # checkpoints of several ranks are those of one rank, which goes on from them
  "$scree" run "$work/made3" -q --resume --steps 1 || fail "one rank goes on from three"
  grep -q '"memory_most": [1-9]' "$work/out" || fail "no memory in $(cat "$work/out")"
  for key in messages bytes imbalance; do
    head -1 "$work/all3/telemetry.jsonl" | grep -q "\"$key\": " || fail "telemetry: no $key"
  done
  resume_on_ranks "$scene" 90 "$work/resumed"
  timeout 300 mpirun -q -n 4 "$scree" run "$work/resumed" -q --resume || fail "resumed on 4 ranks"
  compare "$work/one" "$work/resumed" || fail "resumed"
  for k in 1 2; do
    timeout 300 mpirun -q -n 3 "$scree" run "$source/examples/arch.yaml" --steps 30 -q -o "$work/run$k" || fail "scree run"
  done
  cmp "$work/run1/frames.bin" "$work/run2/frames.bin" || fail "two runs on 3 ranks differ"
  # a world that cannot be divided says so and runs on rank 0
  mpirun -q -n 2 "$scree" run "$source/examples/shear.yaml" --steps 2 --json -o "$work/cell" >"$work/out" 2>"$work/err" ||
    fail "a scene with a cell"
  grep -q '"undivided": "it has a periodic cell"' "$work/out" && grep -q "not divided between the ranks: it has a per" "$work/err" ||
    fail "a scene with a cell: $(cat "$work/out" "$work/err")"
  # deformable bodies of another run, of which the scene does not tell
  "$scree" run "$source/examples/twist.yaml" --steps 2 -q -o "$work/twist" || fail "a run to start from"
  for n in 1 2; do
    mpirun -q -n $n "$scree" run "$source/examples/let-go.yaml" --set "start.run=$work/twist" \
      --steps 2 -q -o "$work/let-go$n" || fail "deformable bodies of another run on $n ranks"
  done
  compare "$work/let-go1" "$work/let-go2" 1e-6 soft || fail "deformable bodies of another run"
  # messages come once, from rank 0
  mpirun -q -n 3 "$scree" run "$work/no-such-scene.yaml" >"$work/out" 2>&1
  [ $? -eq 2 ] && [ "$(grep -c no-such-scene "$work/out")" = 1 ] || fail "a missing scene: $(cat "$work/out")"
  # an interruption: the checkpoint is written, and the run goes on
  mpirun -q -n 2 "$scree" run "$source/examples/collapse.yaml" -q -o "$work/stopped" >/dev/null 2>&1 &
  launcher=$!
  for ((k = 0; k < 300; ++k)); do
    [ -s "$work/stopped/telemetry.jsonl" ] && break
    sleep 0.1
  done
  kill -INT $launcher
  wait $launcher && fail "interrupted, and mpirun ended well"
  before=$(wc -l <"$work/stopped/telemetry.jsonl")
  mpirun -q -n 3 "$scree" run "$work/stopped" --resume --steps 1 -q || fail "resumed after an interruption"
  [ "$(wc -l <"$work/stopped/telemetry.jsonl")" -eq $((before + 1)) ] || fail "lines after an interruption"
  # a rank that is killed: the others end in seconds, and the run goes on from its checkpoint
  mpirun -q -n 3 "$scree" run "$source/examples/pile.yaml" --set output.checkpoint=0 -q -o "$work/killed" \
    >/dev/null 2>&1 &
  launcher=$!
  for ((k = 0; k < 300; ++k)); do
    [ -s "$work/killed/checkpoint.bin" ] && [ "$(wc -l <"$work/killed/telemetry.jsonl")" -gt 0 ] && break
    sleep 0.1
  done
  ranks=($(pgrep -P $launcher -x scree))
  kill -9 "${ranks[-1]}" || fail "no rank to kill"
  start=$(date +%s)
  wait $launcher && fail "a rank was killed, and mpirun ended well"
  [ $(($(date +%s) - start)) -lt 20 ] || fail "a rank was killed: the others went on for long"
  mpirun -q -n 2 "$scree" run "$work/killed" --resume --steps 3 -q || fail "the checkpoint is not whole"
fi
exit $failed

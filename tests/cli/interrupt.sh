#!/usr/bin/env bash
# scree run that is interrupted in the middle of long steps, killed between frames, stopped by bad
# numbers: statuses, messages, and the same results after going on.
set -euo pipefail
scree="${SCREE:?}"
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
cd "$root"
failures=0

complain() {
  echo "interrupt: $*"
  failures=$((failures + 1))
}

# same A B: results and telemetry but for the clock
same() {
  cmp "$1/results.h5" "$2/results.h5" || complain "$2: other results than $1"
  sed 's/, "seconds_detect.*//' "$1/telemetry.jsonl" >a
  sed 's/, "seconds_detect.*//' "$2/telemetry.jsonl" >b
  cmp a b || complain "$2: other telemetry than $1"
}

# ready PID: wait until it handles SIGTERM, or has ended; a loaded machine may take seconds to start it
ready() {
  local caught
  for _ in $(seq 1000); do
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) || return 0
    [ $((0x${caught:-0} & 0x4000)) = 0 ] || return 0
    sleep 0.02
  done
}

# Every step of this takes some tenths of a second.
cat >slow.yaml <<'END_OF_SCENE'
contact: { mu: 0.4 }
obstacles:
  - { shape: { kind: half-space } }
generators:
  - { kind: lattice, origin: [0, 0, 0.0101], count: [7, 7, 7], jitter: 0.001,
      shape: { kind: sphere, radius: 0.01 }, velocity: [0.5, 0, -1] }
time: { step: 1e-3, duration: 0.006 }
output: { every: 0.003 }
solver: { name: nlgs, options: { local: ebp, order: natural }, tolerance: 1e-11, threads: 1 }
END_OF_SCENE

# A step that takes all the work that it may, many seconds here: it is left at once, and a first word
# says so.
sed 's/count: \[7, 7, 7\]/count: [24, 24, 24]/' slow.yaml >endless.yaml
endless=(--set solver.tolerance=1e-300 --set solver.max_iterations=1000000000)
"$scree" run endless.yaml -o endless "${endless[@]}" >endless.out 2>endless.err &
pid=$!
for _ in $(seq 600); do [ -s endless/checkpoint.bin ] && break; sleep 0.05; done
sleep 0.5
kill -TERM "$pid"
status=0
SECONDS=0
wait "$pid" || status=$?
[ "$SECONDS" -le 5 ] || complain "endless: ended after $SECONDS s"
[ "$status" = 130 ] || complain "endless: status $status: $(cat endless.err)"
head -1 endless.err | grep -q "interrupt: leaving the step, writing the checkpoint" ||
  complain "endless: said $(cat endless.err)"
grep -q "interrupted after step 0, everything is written" endless.err || complain "endless: $(cat endless.err)"
grep -q "resume with: scree run endless.yaml -o endless --resume --set 'solver.tolerance=1e-300'" endless.err ||
  complain "endless: $(cat endless.err)"
[ -s endless/results.h5 ] || complain "endless: no results.h5"

# Interrupted in the middle of steps again and again, then to the end.
"$scree" run slow.yaml -o whole -q || complain "whole: status $?"
RANDOM=11
for _ in 1 2 3 4 5 6; do
  resume=()
  [ -d parts ] && resume=(--resume)
  "$scree" run slow.yaml -o parts -q "${resume[@]}" 2>parts.err &
  pid=$!
  ready "$pid"
  sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
  kill -TERM "$pid" 2>/dev/null || true
  status=0
  wait "$pid" || status=$?
  [ "$status" = 0 ] || [ "$status" = 130 ] || complain "parts: status $status: $(cat parts.err)"
  [ "$status" = 0 ] && break
done
"$scree" run slow.yaml -o parts -q --resume 2>/dev/null || complain "parts: status $?"
same whole parts

# Killed between frames that are far apart: checkpoints come by the clock.
cat >fast.yaml <<'END_OF_SCENE'
dimension: 2
contact: { mu: 0.3 }
obstacles:
  - { shape: { kind: half-plane } }
  - { shape: { kind: half-plane }, position: [-0.06, 0], normal: [1, 0] }
  - { shape: { kind: half-plane }, position: [0.06, 0], normal: [-1, 0] }
generators:
  - { kind: pour, count: 20, rate: 100, shape: { kind: disk, radius: 0.01 }, velocity: [0, -0.5],
      region: { kind: box, lower: [-0.06, 0.1], upper: [0.06, 0.2] } }
time: { step: 2e-4, duration: 0.6 }
output: { every: 0.3, checkpoint: 0.02 }
sensors: [ { kind: height, name: top } ]
solver: { tolerance: 1e-6, threads: 1 }
END_OF_SCENE
"$scree" run fast.yaml -o fast -q || complain "fast: status $?"
for _ in 1 2 3 4 5 6 7 8; do
  resume=()
  [ -d killed ] && resume=(--resume)
  "$scree" run fast.yaml -o killed -q "${resume[@]}" 2>/dev/null &
  pid=$!
  sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
  kill -9 "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
done
"$scree" run fast.yaml -o killed -q --resume 2>/dev/null || complain "killed: status $?"
same fast killed

# A driver that is not a number any more: status 2, where and when, and what was done is there.
cat >bad.yaml <<'END_OF_SCENE'
dimension: 2
obstacles:
  - shape: { kind: disk, radius: 0.1 }
    velocity: [0, sqrt(0.02-t)]
bodies:
  - { shape: { kind: disk, radius: 0.01 }, position: [0, 1] }
time: { step: 1e-3, duration: 0.1 }
END_OF_SCENE
for resume in "" --resume; do
  status=0
  "$scree" run bad.yaml -o bad -q $resume >bad.out 2>&1 || status=$?
  [ "$status" = 2 ] || complain "bad: status $status: $(cat bad.out)"
  grep -q "bad.yaml:4:19: obstacles\[0\].velocity\[1\] is nan at t = 0.021 s, expected a finite number" bad.out ||
    complain "bad: $(cat bad.out)"
  [ "$(wc -l <bad/telemetry.jsonl)" = 20 ] || complain "bad: $(wc -l <bad/telemetry.jsonl) lines"
  "$scree" info bad >/dev/null || complain "bad: the results cannot be read"
done

# Steps that are not certified are counted while it runs; solver.max_retries and solver.time_limit.
status=0
"$scree" run slow.yaml -o above --set solver.tolerance=1e-14 --set solver.max_iterations=1 \
  --set solver.max_retries=0 --set time.max_halvings=0 >above.out 2>above.err || status=$?
[ "$status" = 1 ] || complain "above: status $status: $(cat above.err)"
grep -q "not certified  left" above.err || complain "above: $(cat above.err)"
grep -q '"retries": [1-9]' above/telemetry.jsonl && complain "above: there are retries"
"$scree" run slow.yaml -o limited -q --set solver.tolerance=1e-300 --set solver.max_iterations=1000000000 \
  --set solver.time_limit=0.01 --set solver.max_retries=0 --set time.max_halvings=0 --steps 1 2>/dev/null &&
  complain "limited: certified"
[ "$(wc -l <limited/telemetry.jsonl)" = 1 ] || complain "limited: $(wc -l <limited/telemetry.jsonl) lines"

[ "$failures" = 0 ] && echo "interrupt: all good"
exit "$((failures > 0))"

#!/usr/bin/env bash
# scree run and scree check from the outside: statuses, messages, JSON, interruption, kill -9 at
# random moments, a full disk, folders that cannot be written.
set -euo pipefail
scree="${SCREE:?}"
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
cd "$root"
failures=0

complain() {
  echo "run: $*"
  failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: the exit status, and a text in what was said
expect() {
  local status=0 wanted="$1" text="$2" said
  shift 2
  said="$("$@" 2>&1)" || status=$?
  [ "$status" = "$wanted" ] || complain "$*: status $status, expected $wanted: $said"
  [[ "$said" == *"$text"* ]] || complain "$*: said \"$said\", expected \"$text\""
}

cat >scene.yaml <<'END'
title: Test
dimension: 2
contact: { mu: 0.3 }
obstacles:
  - { shape: { kind: half-plane } }
  - { shape: { kind: half-plane }, position: [-0.06, 0], normal: [1, 0] }
  - { shape: { kind: half-plane }, position: [0.06, 0], normal: [-1, 0] }
generators:
  - { kind: pour, count: 20, rate: 100, shape: { kind: disk, radius: 0.01 }, scale: { min: 0.8, max: 1.2 },
      velocity: [0, -0.5], region: { kind: box, lower: [-0.06, 0.1], upper: [0.06, 0.2] } }
time: { step: 1e-3, duration: 0.4 }
output: { every: 0.004, checkpoint: 0 }
solver: { tolerance: 1e-6 }
END

# A run as it should be.
"$scree" run scene.yaml -o whole --json >whole.json 2>whole.err || complain "run: status $?: $(cat whole.err)"
[ -s whole.err ] && complain "--json: something on standard error: $(cat whole.err)"
[ "$(wc -l <whole.json)" = 1 ] || complain "--json: expected one line, found: $(cat whole.json)"
for key in steps time bodies contacts_max error_max penetration_max energy_error seconds \
  seconds_detect seconds_solve; do
  grep -q "\"$key\": [0-9]" whole.json || complain "--json: no $key in $(cat whole.json)"
done
grep -q '"steps": 400' whole.json || complain "steps: $(cat whole.json)"
for file in scene.yaml results.h5 telemetry.jsonl checkpoint.bin; do
  [ -s "whole/$file" ] || complain "no $file"
done
[ -e whole/frames.bin ] && complain "frames.bin is left"
[ "$(wc -l <whole/telemetry.jsonl)" = 400 ] || complain "telemetry: $(wc -l <whole/telemetry.jsonl) lines"

# The scene as used repeats the run.
"$scree" run whole/scene.yaml -o again -q || complain "the scene as used: status $?"
cmp whole/results.h5 again/results.h5 || complain "the scene as used gives other results"

# Another number of threads.
"$scree" run scene.yaml -o two -q --threads 2 || complain "two threads: status $?"
cmp whole/results.h5 two/results.h5 || complain "two threads give other results"

# Deformable bodies: a run in parts gives the same bits; bad input is refused with its place
cat >soft.yaml <<'END'
dimension: 3
materials: { rubber: { density: 1000, young: 2e5, damping: 1e-3 }, hard: {} }
obstacles: [{ shape: { kind: half-space }, material: hard }]
bodies:
  - { kind: pseudo-rigid, shape: { kind: sphere, radius: 0.1 }, position: [0, 0, 0.12], material: rubber }
  - { kind: pseudo-rigid, shape: { kind: ellipsoid, semi_x: 0.1, semi_y: 0.07, semi_z: 0.05 }, position: [0.05, 0, 0.3], material: rubber }
  - { shape: { kind: sphere, radius: 0.05 }, position: [0, 0.02, 0.5], material: hard }
time: { duration: 0.4 }
END
"$scree" run soft.yaml -o soft -q || complain "soft: status $?"
"$scree" run soft.yaml -o soft2 -q --steps 30 2>/dev/null || true
"$scree" run soft.yaml -o soft2 -q --resume || complain "soft, resumed: status $?"
cmp soft/results.h5 soft2/results.h5 || complain "soft: a run in parts gives other results"
"$scree" convert soft --vtk soft-vtk >/dev/null || complain "soft: vtk"
sed 's/kind: sphere, radius: 0.1 /kind: capsule, radius: 0.1, half_length: 0.1 /' soft.yaml >capsule.yaml
expect 2 "capsule.yaml:5:13: a pseudo-rigid capsule, expected a sphere, ellipsoid, box or polyhedron" "$scree" check capsule.yaml

# a motor of unlimited force that begins elsewhere than its joint
cat > jump.yaml <<'SCENE'
bodies:
  - { name: arm, shape: { kind: sphere, radius: 0.1 } }
joints:
  - kind: hinge
    bodies: [arm, world]
    anchor: [0, 0, 1]
    axis: [0, 1, 0]
    motor: { position: 0.6 - 0.1*t }
time: { duration: 1 }
SCENE
expect 2 "jump.yaml:8:24: found 0.6 at the start, where the joint is at 0" "$scree" check jump.yaml
expect 0 "jump.yaml: valid" "$scree" check jump.yaml --set joints[0].motor.force=3
expect 0 "jump.yaml: valid" "$scree" check jump.yaml --set "joints[0].motor.position=0.6*sin(t)"
# or that passes a stop
sed 's/motor: .*/upper: 0.4\n    motor: { velocity: 0.5 }/' jump.yaml >stop.yaml
expect 2 "passes the stop of its joint at 0.4 at t = 0.801 s" "$scree" check stop.yaml
expect 0 "stop.yaml: valid" "$scree" check stop.yaml --set joints[0].motor.force=3
expect 0 "stop.yaml: valid" "$scree" check stop.yaml --set joints[0].upper=0.5
expect 2 "expected a scheme with theta 0.5" "$scree" check soft.yaml --set time.scheme=euler
sed 's/young: 2e5, //' soft.yaml >dense.yaml
expect 2 "its material \"rubber\" has no \`young\`" "$scree" check dense.yaml

# Refusals.
expect 2 "holds a run already" "$scree" run scene.yaml -o whole
expect 0 "already finished" "$scree" run scene.yaml -o whole --resume
expect 2 "the run was made with" "$scree" run scene.yaml -o whole --resume --set contact.mu=0.1
expect 2 "cannot be read" "$scree" run nothing.yaml
expect 2 "expected a scene file" "$scree" run . -o x
expect 2 "did you mean step?" "$scree" run scene.yaml -o x --set time.stp=1
expect 2 "expected one" "$scree" run
expect 2 "folder cannot be made" "$scree" run scene.yaml -o scene.yaml
expect 3 "folder cannot be made" "$scree" run scene.yaml -o /proc/nowhere/x
# A folder that may not be written, a scene that may not be read; root may do both, so it becomes
# nobody for this.
as=()
[ "$(id -u)" = 0 ] && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 755 "$root"
if "${as[@]}" test -r scene.yaml && "${as[@]}" test -x "$scree"; then
  mkdir closed && chmod 555 closed
  expect 3 "cannot be" "${as[@]}" "$scree" run scene.yaml -o closed
  expect 3 "folder cannot be made" "${as[@]}" "$scree" run scene.yaml -o closed/inside
  [ -z "$(ls closed)" ] || complain "something was written: $(ls closed)"
  cp scene.yaml secret.yaml && chmod 000 secret.yaml
  expect 2 "secret.yaml: cannot be read: Permission denied" "${as[@]}" "$scree" run secret.yaml -o x
  expect 2 "secret.yaml: cannot be read" "${as[@]}" "$scree" check secret.yaml
else
  echo "run: skipped: folders that may not be written (setpriv, or the program, cannot be used)"
fi
expect 0 "valid" "$scree" check scene.yaml
expect 2 "scene.yaml" "$scree" check scene.yaml --set seed=x
expect 0 "Scene files" "$scree" check --reference
expect 0 "whole" "$scree" info whole

# Above the tolerance: status 1, and the step and bodies are named.
expect 1 "steps are not certified" "$scree" run scene.yaml -o above \
  --set solver.tolerance=1e-300 --set time.max_halvings=0 --set time.duration=0.3
expect 0 "NOT MET" "$scree" info above

# Limits, then on to the end.
"$scree" run scene.yaml -o parts -q --until 0.1 2>/dev/null || complain "--until: status $?"
"$scree" run scene.yaml -o parts -q --resume --steps 37 2>/dev/null || complain "--steps: status $?"
[ "$(wc -l <parts/telemetry.jsonl)" = 137 ] || complain "100 + 37 steps: $(wc -l <parts/telemetry.jsonl)"
"$scree" run parts -q --resume || complain "resume of a folder: status $?"
cmp whole/results.h5 parts/results.h5 || complain "a run in parts gives other results"

# Ctrl-C: the step is finished, status 130, and the way to go on is said. (In a script's background
# SIGINT is ignored, so SIGTERM stands for it: it takes the same way.)
slow=(--set time.step=1e-4 --set output.every=2e-4)
"$scree" run scene.yaml -o stopped "${slow[@]}" >stopped.out 2>&1 &
pid=$!
for _ in $(seq 100); do [ "$(wc -l 2>/dev/null <stopped/telemetry.jsonl || echo 0)" -gt 50 ] && break; sleep 0.05; done
kill -TERM "$pid" 2>/dev/null || true
status=0
wait "$pid" || status=$?
if [ "$status" != 0 ]; then
  [ "$status" = 130 ] || complain "interrupted: status $status: $(cat stopped.out)"
  grep -q "resume with: scree run scene.yaml -o stopped --resume --set 'time.step=1e-4'" stopped.out ||
    complain "interrupted: $(cat stopped.out)"
  [ -s stopped/results.h5 ] || complain "interrupted: no results.h5"
fi

# Two runs in one folder: the second is refused, whatever it asks for, and the first goes on.
"$scree" run scene.yaml -o shared -q --set time.duration=20 2>/dev/null &
pid=$!
for _ in $(seq 100); do [ -s shared/checkpoint.bin ] && break; sleep 0.05; done
expect 2 "another run is writing to this folder" "$scree" run scene.yaml -o shared --force
expect 2 "another run is writing to this folder" "$scree" run scene.yaml -o shared --resume \
  --set time.duration=20
kill -0 "$pid" 2>/dev/null || complain "the first of two runs has ended"
kill -TERM "$pid" 2>/dev/null || true
wait "$pid" || true
[ -s shared/results.h5 ] || complain "the first of two runs left no results"

# Bodies that are removed: the same results in parts, and a page and files of what is left.
removing=(--set 'remove=[{kind: plane, point: [0, 0.03], normal: [0, -1]}]')
"$scree" run scene.yaml -o removed "${removing[@]}" -q || complain "remove: status $?"
tail -1 removed/telemetry.jsonl | grep -q '"bodies": 0' || complain "remove: $(tail -1 removed/telemetry.jsonl)"
"$scree" run scene.yaml -o removed2 "${removing[@]}" -q --until 0.2 2>/dev/null || complain "remove, part: status $?"
"$scree" run scene.yaml -o removed2 "${removing[@]}" -q --resume || complain "remove, resumed: status $?"
cmp removed/results.h5 removed2/results.h5 || complain "remove: a run in parts gives other results"
expect 0 "" "$scree" convert removed --vtk removed-vtk
grep -q 'NumberOfPoints="3"' "removed-vtk/bodies_000100.vtp" || complain "remove: VTK shows removed bodies"
expect 0 "" "$scree" report removed -o removed.html
expect 2 "expected one of" "$scree" check scene.yaml --set 'remove=[{kind: plain, normal: [0, 1]}]'
expect 2 "other than zero" "$scree" check scene.yaml --set 'remove=[{kind: plane, normal: [0, 0]}]'
expect 2 "below upper" "$scree" check scene.yaml \
  --set 'remove=[{kind: outside, lower: [0, 1], upper: [1, 1]}]'
expect 2 "nobody" "$scree" check scene.yaml --set 'remove=[{kind: body, body: nobody}]'

# kill -9 at any moment.
RANDOM=4
for k in 1 2 3 4 5 6 7 8 9 10; do
  resume=()
  [ -d killed ] && resume=(--resume)
  "$scree" run scene.yaml -o killed -q "${resume[@]}" --threads 1 2>/dev/null &
  pid=$!
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -9 "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
done
"$scree" run scene.yaml -o killed -q --resume --threads 1 2>/dev/null || complain "after kill -9: status $?"
cmp whole/results.h5 killed/results.h5 || complain "after kill -9: other results"
sed 's/, "seconds_detect.*//' whole/telemetry.jsonl >a
sed 's/, "seconds_detect.*//' killed/telemetry.jsonl >b
cmp a b || complain "after kill -9: other telemetry"

# A full disk: no file may grow beyond some size. What was written is whole, and the run goes on.
for size in 20 60; do
  rm -rf full
  status=0
  (ulimit -f "$size" && exec "$scree" run scene.yaml -o full -q) >full.out 2>&1 || status=$?
  [ "$status" = 3 ] || complain "full disk ($size kB): status $status: $(cat full.out)"
  grep -q "cannot be written" full.out || complain "full disk: $(cat full.out)"
  "$scree" run scene.yaml -o full -q --resume >full.out 2>&1 || complain "after a full disk: $(cat full.out)"
  cmp whole/results.h5 full/results.h5 || complain "after a full disk: other results"
done

[ "$failures" = 0 ] && echo "run: all good"
exit "$((failures > 0))"

#!/usr/bin/env bash
# Sensors of regions, and rates, integrals and means: against hand calculation, and the same after a restart.
source "$(dirname "$0")/common.bash"
export OMP_NUM_THREADS=1
cd "$work" || exit 1

cat > fall.yaml << 'YAML'
dimension: 3
gravity: [0, 0, -10]
bodies:
  - { name: a, shape: { kind: sphere, radius: 0.5 }, position: [0, 0, 0], velocity: [2, 0, 10], density: 1000 }
  - { name: b, shape: { kind: sphere, radius: 0.5 }, position: [9, 9, 0.25], velocity: [4, 0, 10], density: 1000 }
time: { step: 0.01, duration: 1 }
sensors:
  - { kind: velocity, name: v, body: a }
  - { kind: velocity, name: v-mean, body: a, gives: mean }
  - { kind: velocity, name: v-late, body: a, gives: mean, after: 0.5 }
  - { kind: position, name: x-rate, body: a, gives: rate }
  - { kind: flux, name: passed, point: [0, 0, 1], normal: [0, 0, 1], gives: integral }
  - { kind: solid_fraction, name: solid, region: { kind: box, lower: [-20, -20, 0], upper: [20, 20, 10] } }
  - { kind: mass, name: near, region: { kind: drum, axis: [0, 0, 1], radius: 5, half_length: 20 } }
  - { kind: mean_velocity, name: all, region: { kind: box, lower: [-20, -20, -20], upper: [20, 20, 20] } }
  - kind: velocity_profile
    name: profile
    region: { kind: box, lower: [-20, -20, -20], upper: [20, 20, 20] }
    along: [0, 1, 0]
    component: [1, 0, 0]
    bins: 4
YAML
run 0 "$SCREE" run fall.yaml -o whole -q -j 1
run 0 "$SCREE" run fall.yaml -o parts -q -j 1 --steps 37
run 0 "$SCREE" run fall.yaml -o parts -q -j 1 --resume
python3 - << 'PY' || fail "sensors of regions, rates, integrals, means"
import json, math
rows = [json.loads(line) for line in open("whole/telemetry.jsonl")]
parts = [json.loads(line) for line in open("parts/telemetry.jsonl")]
assert len(rows) == 100 == len(parts)
for a, b in zip(rows, parts):  # a restart changes no bit
    for key in a:
        if key.startswith("sensor."):
            assert a[key] == b[key], (key, a[key], b[key])
last = rows[-1]
V = math.pi / 6
close = lambda a, b, tolerance=1e-9: abs(a - b) <= tolerance
# means are sums over the steps; speeds are those after each kick
mean = sum(r["sensor.v.z"] for r in rows) / 100
late = [r["sensor.v.z"] for r in rows if r["time"] > 0.5 + 0.005]
assert close(last["sensor.v-mean.z"], mean) and close(last["sensor.v-mean.x"], 2)
assert close(last["sensor.v-late.z"], sum(late) / len(late)), (last["sensor.v-late.z"], sum(late) / len(late))
assert rows[10]["sensor.v-late.z"] is None
assert close(rows[50]["sensor.x-rate.z"], 10 - 10 * 0.505, 1e-6), rows[50]["sensor.x-rate.z"]
# both pass the plane upwards (a at 0.11 s), reach 5 m at 1 s
assert rows[5]["sensor.passed"] == 0 and close(last["sensor.passed"], 2000 * V, 1e-6)
# a sphere whose centre is at height z, cut by z = 0
z = 0.01 * 10 - 5e-4
share = lambda z: 1 if z >= 0.5 else (2 + 3 * 2 * z - (2 * z) ** 3) / 4
assert close(rows[0]["sensor.solid"], V * (share(z) + share(z + 0.25)) / 16000, 1e-12)
assert close(last["sensor.near"], 1000 * V, 1e-9)
assert close(last["sensor.all.x"], 3)
assert last["sensor.profile.2"] == 3 and last["sensor.profile.0"] is None
PY

# `scree plot`: one file per sensor with all its components or slices, twelve at most in each.
run 0 "$SCREE" run fall.yaml -o many -q -j 1 --steps 3 --set 'sensors=[{kind: stress, name: s}, {kind: velocity_profile, name: p, bins: 32, along: [0, 1, 0], component: [1, 0, 0], region: {kind: box, lower: [-20, -20, -20], upper: [20, 20, 20]}}]'
run 0 "$SCREE" plot many
names() { grep -oE ">$1\.[a-z0-9]+<" "many/plots/sensor-$2.svg" | wc -l; }
[ "$(names s s)" = 6 ] && [ "$(names p p)" = 12 ] && [ "$(names p p-2)" = 12 ] && [ "$(names p p-3)" = 8 ] ||
  fail "plots of sensors: $(names s s) $(names p p) $(names p p-2) $(names p p-3) curves"

# Units on the axes: of the kind, of rates and integrals, of free coordinates of joints.
run 0 "$SCREE" run fall.yaml -o units -q -j 1 --steps 3 --set 'joints=[{kind: hinge, name: pin, bodies: [a, world], anchor: [0, 0, 0], axis: [0, 0, 1]}]' --set 'sensors=[{kind: position, name: x, body: a}, {kind: velocity, name: v, body: a, gives: rate}, {kind: flux, name: f, point: [0, 0, 0], normal: [0, 0, 1], gives: integral}, {kind: joint_position, name: angle, joint: pin}, {kind: joint_effort, name: effort, joint: pin}, {kind: solid_fraction, name: part, region: {kind: box, lower: [-20, -20, -20], upper: [20, 20, 20]}}]'
run 0 "$SCREE" plot units
for pair in 'sensor-x:position [m]' 'sensor-v:velocity [m/s²]' 'sensor-f:flux [kg]' 'sensor-angle:joint position [rad]' \
  'sensor-effort:joint effort [N m]' 'sensor-part:solid fraction' 'energies:energy [J]'; do
  grep -qF ">${pair#*:}</text>" "units/plots/${pair%%:*}.svg" || fail "plot ${pair%%:*}: no axis \"${pair#*:}\""
done

cat > wrong.yaml << 'YAML'
dimension: 3
bodies: [{ name: a, shape: { kind: sphere, radius: 0.5 } }]
sensors: [{ kind: force, name: f, body: a, gives: rate }]
YAML
run 2 "$SCREE" check wrong.yaml
err 'a force has no rate: expected value, integral or mean'
finish

#!/usr/bin/env bash
# Scenes that start from a run or a table, and frames written as tables and scenes.
source "$(dirname "$0")/common.bash"
export OMP_NUM_THREADS=1
cd "$work" || exit 1

cat > settle.yaml << 'END'
dimension: 2
materials: { sand: { density: 2500 }, wall: {} }
obstacles:
  - { name: floor, shape: { kind: half-plane }, material: wall }
  - { name: left, shape: { kind: half-plane }, normal: [1, 0], position: [-0.03, 0], material: wall }
  - { name: right, shape: { kind: half-plane }, normal: [-1, 0], position: [0.03, 0], material: wall }
bodies:
  - { name: marked, group: 3, shape: { kind: ellipse, semi_x: 0.008, semi_y: 0.006 }, position: [0, 0.01] }
generators:
  - kind: fill
    region: { kind: box, lower: [-0.03, 0.02], upper: [0.03, 0.08] }
    fraction: 0.4
    shape: { kind: disk, radius: 0.004 }
    scale: { min: 0.8, max: 1.2 }
time: { step: 1e-3, duration: 0.4 }
output: { every: 0.1 }
END
run 0 "$SCREE" run settle.yaml -o settled -q -j 1
run 0 "$SCREE" info settled --json
json 1

# The obstacles are given in another order: they are recognised by their names.
mkdir scenes
cat > scenes/press.yaml << 'END'
dimension: 2
materials: { wall: {}, sand: { density: 2500 } }
obstacles:
  - { name: left, shape: { kind: half-plane }, normal: [1, 0], position: [-0.03, 0], material: wall }
  - { name: right, shape: { kind: half-plane }, normal: [-1, 0], position: [0.03, 0], material: wall }
  - { name: floor, shape: { kind: half-plane }, material: wall }
start: { run: ../settled }
sensors:
  - { kind: position, name: marked, body: marked }
  - { kind: force, name: floor, body: floor }
time: { step: 1e-3, duration: 0.02 }
END
run 0 "$SCREE" check scenes/press.yaml --json
grep -q "\"bodies\": $(($("$SCREE" check settle.yaml --json | grep -o '"bodies": [0-9]*' | grep -o '[0-9]*')))" "$work/out" ||
  fail "start: $(cat "$work/out")"
run 0 "$SCREE" run scenes/press.yaml -o pressed -q -j 1
# The scene as used names the run by an absolute path: it can be run from elsewhere.
(cd / && "$SCREE" run "$work/pressed/scene.yaml" -o "$work/again" -q -j 1) || fail "the scene as used: status $?"
cmp -s pressed/results.h5 again/results.h5 || fail "the scene as used gives other results"
# Interrupted and resumed, to the same bits.
run 0 "$SCREE" run scenes/press.yaml -o parts -q -j 1 --until 0.01
run 0 "$SCREE" run scenes/press.yaml -o parts -q -j 1 --resume
cmp -s pressed/results.h5 parts/results.h5 || fail "resumed after a start: other results"

# Frames do not have the whole state of deformable bodies: they are refused, also where they have not deformed yet.
cat > soft.yaml << 'END'
dimension: 2
materials: { rubber: { density: 1000, young: 1e5 } }
obstacles: [{ name: floor, shape: { kind: half-plane } }]
bodies: [{ kind: pseudo-rigid, shape: { kind: disk, radius: 0.01 }, position: [0, 0.011] }]
time: { duration: 0.005, step: 1e-3 }
END
run 0 "$SCREE" run soft.yaml -o soft -q -j 1
run 2 "$SCREE" convert soft --scene soft-later.yaml --at 0
err "body 1 is deformable"
sed '/^bodies/d; s/^time/start: { run: soft, frame: 0 }\n&/' soft.yaml > after-soft.yaml
run 2 "$SCREE" check after-soft.yaml
err "soft is deformable, and frames"
run 0 "$SCREE" convert settled --csv packing.csv --scene later.yaml
out "t = 0.4 s"
# Groups of bodies are kept, by the scene of a frame and by a start.
run 0 "$SCREE" convert pressed --scene pressed.yaml
for scene in later.yaml pressed.yaml; do grep -q 'group: 3' "$scene" || fail "$scene: the group of a body is lost"; done
run 0 "$SCREE" run later.yaml -o later -q -j 1 --set time.duration=0.02
cat > table.yaml << 'END'
dimension: 2
materials: { wall: {}, sand: { density: 2500 } }
obstacles:
  - { name: left, shape: { kind: half-plane }, normal: [1, 0], position: [-0.03, 0], material: wall }
  - { name: right, shape: { kind: half-plane }, normal: [-1, 0], position: [0.03, 0], material: wall }
  - { name: floor, shape: { kind: half-plane }, material: wall }
generators:
  - { kind: csv, file: packing.csv }
sensors:
  - { kind: position, name: marked, body: marked }
time: { step: 1e-3, duration: 0.02 }
END
run 0 "$SCREE" run table.yaml -o table -q -j 1

if python3 -c 'import h5py' 2> /dev/null; then
  python3 - << 'PY' || fail "the start is not the frame"
import h5py, json, numpy as np
def frame(folder, k):
    f = h5py.File(folder + "/results.h5")
    moving = f["bodies/obstacle"][:] == 0
    return [f["frames/" + x][k][moving] for x in ("position", "orientation", "velocity", "angular_velocity")] + \
        [f["bodies/" + x][:][moving] for x in ("mass", "inertia", "radius", "semi")]
last = frame("settled", -1)
for folder in ("pressed", "later", "table"):
    for name, a, b in zip("x q v w mass inertia radius semi".split(), last, frame(folder, 0)):
        # an angle or a quaternion is normalised, a table has no moments of its own
        assert np.allclose(a, b, rtol=1e-12, atol=1e-15), (folder, name, np.abs(a - b).max())
names = h5py.File("pressed/results.h5")["bodies/name"].asstr()[:]
assert sorted(n for n in names if n) == ["floor", "left", "marked", "right"], names
lines = [json.loads(l) for l in open("settled/telemetry.jsonl")]
first = json.loads(open("pressed/telemetry.jsonl").readline())
# Nothing moves that was at rest, and the floor carries the weight from the first step on.
assert abs(first["potential"] - lines[-1]["potential"]) < 1e-6 * abs(lines[-1]["potential"])
f = h5py.File("settled/results.h5")
mass = f["bodies/mass"][:]
weight = 9.81 * mass[np.isfinite(mass)].sum()
assert -first["sensor.floor.y"] > 0.5 * weight, (first["sensor.floor.y"], weight)
# A denser material makes the bodies heavier.
PY
fi
run 0 "$SCREE" run scenes/press.yaml -o heavy -q -j 1 --set materials.sand.density=5000 --set time.duration=0.001
run 0 "$SCREE" info heavy

# A finished run goes on: the same steps as in one that was longer from the start.
run 0 "$SCREE" run settle.yaml -o long -q -j 1 --set time.duration=0.6
run 0 "$SCREE" run settle.yaml -o further -q -j 1
run 0 "$SCREE" run settle.yaml -o further -q -j 1 --resume
run 0 "$SCREE" run settle.yaml -o further -q -j 1 --resume --until 0.5
[ -e further/frames.bin ] && fail "a finished run keeps its journal"
run 0 "$SCREE" run settle.yaml -o further -q -j 1 --resume --set time.duration=0.6
grep -q '"key": "time.duration", "from": "0.4", "to": "0.6"' further/changes.jsonl || fail "changes: $(cat further/changes.jsonl)"
cmp -s further/results.h5 long/results.h5 || fail "a run that was continued has other results"
strip() { sed 's/"seconds_[a-z]*": [^,}]*//g' "$1/telemetry.jsonl"; }
[ "$(strip further)" = "$(strip long)" ] || fail "a run that was continued has another telemetry"
# With an automatic step, too, which depends on the duration.
run 0 "$SCREE" run settle.yaml -o auto -q -j 1 --set time.step=auto --set gravity=[0,0] --set time.duration=0.1
run 0 "$SCREE" run settle.yaml -o auto -q -j 1 --set time.step=auto --set gravity=[0,0] --set time.duration=0.2 --resume
# Settings of later steps may change, which is recorded; those of the past may not.
run 0 "$SCREE" run scenes/press.yaml -o changed -q -j 1 --until 0.01
run 0 "$SCREE" run scenes/press.yaml -o changed -q -j 1 --resume --set solver.tolerance=1e-7 --set 'sensors=[{kind: height, name: top}]'
grep -q '"key": "solver.tolerance"' changed/changes.jsonl || fail "changes: $(cat changed/changes.jsonl)"
grep -q '"step": 10' changed/changes.jsonl || fail "changes: $(cat changed/changes.jsonl)"
grep -q 'tolerance: 1e-07' changed/scene.yaml || fail "the scene as used: $(cat changed/scene.yaml)"
tail -1 changed/telemetry.jsonl | grep -q '"sensor.top"' || fail "the new sensor: $(tail -1 changed/telemetry.jsonl)"
run 0 "$SCREE" report changed
run 2 "$SCREE" run scenes/press.yaml -o changed -q --resume --set contact.mu=0.1
err 'contact.mu: the run was made with "0.5", the scene now says "0.1"'
run 2 "$SCREE" run scenes/press.yaml -o changed -q --resume --set time.step=1e-4

# Mistakes
run 2 "$SCREE" check scenes/press.yaml --set start.frame=99
err "expected last or a number from 0 to 4"
run 2 "$SCREE" check scenes/press.yaml --set start.run=../nowhere
err "../nowhere"
sed 's/sand/gravel/' scenes/press.yaml > scenes/other.yaml
run 2 "$SCREE" check scenes/other.yaml
err 'material "sand"'
run 2 "$SCREE" check scenes/press.yaml --set dimension=3
sed 's/radius/raduis/' packing.csv > bad.csv
run 2 "$SCREE" check table.yaml --set generators[0].file=bad.csv
err 'unknown column "raduis"'
printf 'x,y,radius\n0,0.1,0.004\n0.01,oops,0.004\n' > bad.csv
run 2 "$SCREE" check table.yaml --set generators[0].file=bad.csv --set 'generators[0].shape={kind: disk, radius: 1}'
err 'bad.csv:3: column 2 (y): found "oops", expected a number'
printf 'x;y;scale\n0;0.1;0.5\n0.01;0.2;1\n' > good.csv
run 0 "$SCREE" check table.yaml --set sensors=[] --set generators[0].file=good.csv --set 'generators[0].shape={kind: disk, radius: 0.01}'
out "bodies       2, "
run 2 "$SCREE" convert settled
err "--csv"
finish

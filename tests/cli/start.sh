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

# Deformable bodies begin as they were: pseudo-rigid ones, and finite elements with held nodes and nodes that move with
# an obstacle. The continuation is that of the uninterrupted run, from a start and from the scene of a frame.
cat > soft.yaml << 'END'
materials: { rubber: { density: 1000, young: 2e5, poisson: 0.3, damping: 1e-3 }, wall: {} }
contact: { mu: 0.4 }
obstacles:
  - { name: floor, shape: { kind: half-space }, material: wall }
  - { name: clamp, shape: { kind: box, half_x: 0.005, half_y: 0.03, half_z: 0.03 }, position: [0.2, 0, 0.1], velocity: [-0.02, 0, 0], angular_velocity: [0.3, 0, 0], material: wall }
bodies:
  - { name: ball, kind: pseudo-rigid, material: rubber, shape: { kind: sphere, radius: 0.03 }, position: [0, 0, 0.03], velocity: [0, 0, -1], angular_velocity: [0, 3, 0] }
  - { name: brick, kind: pseudo-rigid, material: rubber, shape: { kind: box, half_x: 0.01, half_y: 0.02, half_z: 0.03 }, position: [-0.1, 0, 0.05], rotation: { axis: [1, 2, 3], angle: 0.4 } }
  - { name: cube, kind: elements, mass_matrix: consistent, material: rubber, shape: { kind: elements, half_x: 0.03, half_y: 0.02, half_z: 0.025, divisions: [2, 2, 1] }, position: [0, 0.1, 0.026], velocity: [0.2, 0, -1] }
  - name: beam
    kind: elements
    material: rubber
    shape: { kind: elements, half_x: 0.04, half_y: 0.01, half_z: 0.01, divisions: [3, 1, 1] }
    position: [0.155, 0, 0.1]
    driven: [{ nodes: { kind: box, lower: [0.19, -1, -1], upper: [0.2, 1, 1] }, by: clamp }]
  - name: shelf
    kind: elements
    material: rubber
    shape: { kind: elements, half_x: 0.04, half_y: 0.01, half_z: 0.01, divisions: [3, 1, 1] }
    position: [0.155, 0.2, 0.1]
    held: { kind: box, lower: [0.19, -1, -1], upper: [0.2, 1, 1] }
  - { name: pebble, shape: { kind: sphere, radius: 0.01 }, position: [0.003, 0, 0.09] }
time: { step: 5e-4, duration: 0.1 }
output: { every: 0.025 }
END
run 0 "$SCREE" run soft.yaml -o soft -q -j 1
sed '/^bodies:/,/^time:/{/^time:/!d}; s/0.2, 0, 0.1\]/0.199, 0, 0.1], rotation: { axis: [1, 0, 0], angle: 0.015 }/
  s/^time.*/start: { run: soft, frame: 2 }\ntime: { step: 5e-4, duration: 0.05 }/' soft.yaml > after-soft.yaml
run 0 "$SCREE" run after-soft.yaml -o after-soft -q -j 1
run 0 "$SCREE" convert soft --scene soft-later.yaml --at 0.05
run 0 "$SCREE" run soft-later.yaml -o soft-later -q -j 1 --set time.duration=0.05
run 2 "$SCREE" convert soft --csv soft.csv
err "its state does not fit into a table"
run 2 "$SCREE" check after-soft.yaml --set 'obstacles[1].name=another'
err 'move with its obstacle "clamp"'
run 0 "$SCREE" run after-soft.yaml -o freed -q -j 1 --set start.clamps=false --set start.velocities=false --until 0.01
run 2 "$SCREE" check after-soft.yaml --set materials.rubber='{ density: 1000 }'
err 'has no `young`'
run 0 "$SCREE" run soft.yaml -o parted -q -j 1 --until 0.06
run 0 "$SCREE" run soft.yaml -o parted -q -j 1 --resume
cmp -s soft/results.h5 parted/results.h5 || fail "resumed with deformable bodies: other results"
# A state that is typed.
run 2 "$SCREE" check soft-later.yaml --set 'bodies[0].deformation={x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, -1]}'
err "determinant above 0"
run 2 "$SCREE" check soft-later.yaml --set 'bodies[5].deformation={x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1]}'
err "expected pseudo-rigid"
head -5 soft-later-body4.csv > short.csv
run 2 "$SCREE" check soft-later.yaml --set 'bodies[2].state=short.csv'
err "found 4 rows, expected 18"
# What laws keep of contacts comes along: bonds of a cohesive column, which would fall, and springs with yield surfaces.
cat > laws.yaml << 'END'
dimension: 2
materials: { clay: { density: 2000 }, springs: { density: 2000 }, ground: {} }
contact: { mu: 0.4 }
pairs:
  - { between: [clay, clay], law: cohesive, mu: 0.5, cohesion: 200 }
  - { between: [springs, springs], mu: 0.5, law: compliant, compliance_n: 1e-6, compliance_t: 2e-6, ball: 0.5, cap: 8 }
obstacles: [{ name: floor, shape: { kind: half-plane }, material: ground }]
generators:
  - { kind: lattice, shape: { kind: disk, radius: 0.02 }, material: clay, origin: [-0.6, 0.02], count: [4, 6], spacing: 0.04, arrangement: hexagonal }
  - { kind: lattice, shape: { kind: disk, radius: 0.02 }, material: springs, origin: [0, 0.02], count: [4, 6], spacing: 0.04, arrangement: hexagonal }
time: { step: 1e-3, duration: 0.3 }
output: { every: 0.1 }
END
run 0 "$SCREE" run laws.yaml -o laws -q -j 1
sed '/^generators/,/^time/{/^time/!d}; s/^time.*/start: { run: laws, frame: 2 }\ntime: { step: 1e-3, duration: 0.1 }/' laws.yaml > after-laws.yaml
run 0 "$SCREE" run after-laws.yaml -o after-laws -q -j 1
# Joints are those of the scene: it is said when it has none.
cat > hinged.yaml << 'END'
dimension: 2
bodies: [{ name: bob, shape: { kind: disk, radius: 0.1 }, position: [1, 0] }]
joints: [{ kind: hinge, name: pivot, bodies: [bob, world], anchor: [0, 0] }]
time: { step: 1e-3, duration: 0.01 }
END
run 0 "$SCREE" run hinged.yaml -o hinged -q -j 1
printf 'dimension: 2\nstart: { run: hinged }\nmaterials: { default: {} }\ntime: { duration: 0.01 }\n' > loose.yaml
run 0 "$SCREE" check loose.yaml
err "1 joints or bonds that hold, and this scene has none"
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
# Deformable bodies: the state is that of the frame, to the bits in a start but for the account of energy in a scene. The
# continuation differs by what solves leave over, since impulses are matched by their places.
def soft(folder, first):
    f = h5py.File(folder + "/results.h5")
    keys = "position velocity gradient gradient_rate node_position node_velocity".split()
    return {k: f["frames/" + k][first:first + 3] for k in keys}
whole = soft("soft", 2)
for folder, most in (("after-soft", 1e-6), ("soft-later", 1e-4)):
    own = soft(folder, 0)
    for key, x in own.items():
        y = whole[key]
        if key in ("position", "velocity"): x, y = x[:, 2:], y[:, 2:] # of bodies, not of obstacles
        assert x.shape == y.shape
        scale = np.abs(y).max()
        assert np.abs(x[0] - y[0]).max() <= 1e-15 * scale, (folder, key, np.abs(x[0] - y[0]).max())
        assert np.abs(x - y).max() < most * scale, (folder, key, np.abs(x - y).max() / scale)
f, g = h5py.File("laws/results.h5"), h5py.File("after-laws/results.h5")
moved = np.abs(f["frames/position"][3] - g["frames/position"][1]).max()
assert moved < 1e-9, moved # 1e-4 without the memory of the springs
f = h5py.File("soft/results.h5")
assert f["frames/gradient"][2, 2, 8] < 0.97, "the ball is not flattened"
assert (h5py.File("freed/results.h5")["elements/holder"][:] == -1).all()
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

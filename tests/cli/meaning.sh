#!/usr/bin/env bash
# Scenes that say what is meant: parameters, includes, names and patterns, mixtures of sizes, signals
# from files.
source "$(dirname "$0")/common.bash"
export OMP_NUM_THREADS=1
cd "$work" || exit 1

for example in "$SCREE_SOURCE"/examples/*.yaml; do
  case "$example" in */press.yaml | */let-go.yaml) continue ;; esac # start from runs
  run 0 "$SCREE" check "$example"
done

# ---- parameters and includes ----
mkdir parts
cat > parts/box.yaml << 'END'
parameters: { w: 0.1, mu0: 0.3 }
materials: { sand: { density: 2000 } }
contact: { mu: mu0 }
obstacles:
  - { name: floor, shape: { kind: half-plane } }
  - { name: left, shape: { kind: half-plane }, normal: [1, 0], position: [-w, 0] }
END
cat > scene.yaml << 'END'
include: parts/box.yaml
parameters: { height: 3*d, d: 1e-2, w2: 2*w }
dimension: 2
materials: { sand: { colour: "#aaa" } }
obstacles:
  - { name: right, shape: { kind: half-plane }, normal: [-1, 0], position: [w2, 0], velocity: ["d*sin(2*pi*t)", 0] }
bodies:
  - { name: d, shape: { kind: disk, radius: d/2 }, position: [0, height], material: sand }
time: { duration: 0.1, step: 1e-3 }
END
run 0 "$SCREE" check scene.yaml --show
out "mu: 0.3"
out "density: 2000"
out "colour: \"#aaa\""
out "radius: 0.005"
out "position: [0, 0.03]"
out "name: d"
out "(0.01)*sin(2*pi*t)"
[ "$(grep -o 'name: [a-z]*' "$work/out" | tr '\n' ' ')" = "name: d name: floor name: left name: right name: auto " ] ||
  fail "order: $(grep -o 'name: [a-z]*' "$work/out" | tr '\n' ' ')"
cp "$work/out" written.yaml
run 0 "$SCREE" check written.yaml --show
cmp -s "$work/out" written.yaml || fail "the scene written out is another scene"
run 0 "$SCREE" check scene.yaml --show --set parameters.d=0.02
out "radius: 0.01"
out "position: [0, 0.06]"
run 2 "$SCREE" check scene.yaml --set parameters.d=height
err "depends on itself"
run 2 "$SCREE" check scene.yaml --set parameters.sin=1
err 'found the name "sin"'
run 2 "$SCREE" check scene.yaml --set 'bodies[0].shape.radius=e/2'
err "a name of \`parameters\`"
sed -i 's/density/densty/' parts/box.yaml
run 2 "$SCREE" check scene.yaml
err "parts/box.yaml:2:22: materials.sand: unknown key \"densty\"; did you mean density?"
err "scene.yaml:1:10: include: parts/box.yaml cannot be used"
echo "include: box.yaml" > parts/box.yaml
run 2 "$SCREE" check scene.yaml
err "files include each other"
run 2 "$SCREE" check scene.yaml --set title=x --set include=3

# ---- names and patterns ----
cat > dominoes.yaml << 'END'
dimension: 2
obstacles: [{ name: floor, shape: { kind: half-plane } }]
generators:
  - kind: lattice
    name: "domino-{i}"
    origin: [0, 0.051]
    count: [4, 1]
    spacing: 0.05
    orientation: fixed
    shape: { kind: polygon, vertices: [[0, 0], [0.01, 0], [0.01, 0.1], [0, 0.1]] }
  - { kind: wall, name: "brick-{i}", origin: [0.5, 0], brick: [0.1, 0.05], courses: 2, length: 2 }
forces:
  - { body: "domino-*", acceleration: [5, 0] }
sensors:
  - { kind: velocity, name: first, body: domino-0 }
  - { kind: kinetic_energy, name: dominoes, bodies: "domino-*" }
  - { kind: kinetic_energy, name: bricks, bodies: "brick-*" }
  - { kind: force, name: bricks_force, body: "brick-*" }
remove:
  - { kind: body, body: "brick-*", time: 0.02 }
stop: { plane: { body: "domino-*", point: [1, 0], normal: [1, 0] } }
time: { step: 1e-3, duration: 0.04 }
END
run 0 "$SCREE" run dominoes.yaml -o dominoes -q -j 1
line() { sed -n "$1p" dominoes/telemetry.jsonl | grep -o "\"$2\": [^,}]*" | cut -d' ' -f2; }
python3 - "$(line 10 sensor.dominoes)" "$(line 10 sensor.bricks)" "$(line 10 sensor.bricks_force.y)" "$(line 30 sensor.bricks)" << 'PY' || fail "sensors of patterns"
import sys
dominoes, bricks, force, later = map(float, sys.argv[1:])
mass = 1000 * 0.01 * 0.1
weight = 9.81 * 1000 * (4 * 0.1 * 0.05)     # four bricks' areas: two courses of length 2
assert abs(dominoes - 4 * 0.5 * mass * (5 ** 2 + 9.81 ** 2) * 0.01 ** 2) < 0.05 * dominoes, dominoes
assert bricks < 1e-6 and later == 0, (bricks, later)
assert abs(force - weight) < 0.02 * weight, (force, weight)
PY
run 2 "$SCREE" check dominoes.yaml --set generators[0].name=domino
err 'expected {i} in it'
run 2 "$SCREE" check dominoes.yaml --set 'generators[1].name=domino-{i}'
err 'two bodies or obstacles are named "domino-0"'
run 2 "$SCREE" check dominoes.yaml --set 'forces[0].body=dominos-*'
err 'no body has a name like "dominos-*"'
run 2 "$SCREE" check dominoes.yaml --set 'sensors[0].body=domino-7'
err "did you mean domino-"

# ---- estimates of scree check ----
cat > estimated.yaml << 'END'
dimension: 2
obstacles: [{ name: floor, shape: { kind: half-plane } }]
generators:
  - { kind: wall, name: "brick-{i}", origin: [0, 0], brick: [0.1, 0.05], courses: 5, length: 6 }
sensors: [{ kind: force, name: floor, body: floor }]
time: { step: 3e-3, duration: 1 }
output: { every: 0.02 }
END
run 0 "$SCREE" run estimated.yaml -o estimated -q -j 1
tail -1 estimated/telemetry.jsonl | grep -q '"time": 1,' || fail "the run does not end at its duration: $(tail -1 estimated/telemetry.jsonl | cut -c1-80)"
run 0 "$SCREE" check estimated.yaml --json --trial
json 1
if python3 -c 'import h5py' 2> /dev/null; then
  python3 - << 'PY' || fail "estimates: $(cat out)"
import h5py, json, os
said = json.load(open("out"))
size = sum(os.path.getsize("estimated/" + f) for f in ("results.h5", "telemetry.jsonl"))
frames = len(h5py.File("estimated/results.h5")["frames/time"])
assert said["frames"] == frames, (said["frames"], frames)
assert 0.8 < said["output_bytes"] / size < 1.2, (said["output_bytes"], size)
assert said["trial_steps"] == 50 and said["seconds"] > 0, said
PY
fi
# Bodies that only fall, that are poured, and that touch from the start with the memory of springs.
cat > falling.yaml << 'END'
dimension: 3
obstacles: [{ name: floor, shape: { kind: half-space } }]
generators:
  - { kind: lattice, shape: { kind: sphere, radius: 0.02 }, origin: [0, 0, 1], count: [6, 6, 6], spacing: 0.05 }
time: { duration: 0.5 }
END
cat > streams.yaml << 'END'
dimension: 2
obstacles:
  - { shape: { kind: half-plane } }
  - { shape: { kind: half-plane }, position: [-0.2, 0], normal: [1, 0] }
  - { shape: { kind: half-plane }, position: [0.2, 0], normal: [-1, 0] }
generators:
  - { kind: pour, region: { kind: box, lower: [-0.15, 0.5], upper: [0.15, 0.7] }, count: 60, rate: 100, shape: { kind: disk, radius: 0.02 } }
time: { duration: 1.2 }
END
cat > pressed.yaml << 'END'
dimension: 2
contact: { law: compliant, compliance_n: 1e-7, compliance_t: 1e-7 }
obstacles:
  - { shape: { kind: half-plane } }
  - { shape: { kind: half-plane }, position: [-0.2, 0], normal: [1, 0] }
  - { shape: { kind: half-plane }, position: [0.2, 0], normal: [-1, 0] }
generators:
  - { kind: pack, region: { kind: box, lower: [-0.2, 0], upper: [0.2, 0.5] }, shape: { kind: disk, radius: 0.02 } }
time: { duration: 0.3 }
END
# What is knocked down, what stands on ground that shakes, and what bounces for long.
cat > struck.yaml << 'END'
dimension: 2
materials: { brick: { density: 1500 }, iron: { density: 7800 } }
obstacles: [{ shape: { kind: half-plane } }]
bodies: [{ shape: { kind: disk, radius: 0.15 }, position: [-0.6, 0.4], velocity: [12, 0], material: iron }]
generators:
  - { kind: wall, brick: [0.2, 0.1], courses: 10, length: 4, material: brick }
time: { duration: 1.5 }
END
cat > quaking.yaml << 'END'
dimension: 2
contact: { mu: 0.5 }
obstacles: [{ shape: { kind: half-plane }, velocity: [0.2*sin(20*t), 0] }]
generators: [{ kind: wall, brick: [0.4, 0.2], courses: 6, length: 7, joint: 0.002 }]
time: { duration: 2 }
END
cat > bounced.yaml << 'END'
dimension: 2
contact: { mu: 0.1, e_n: 0.8 }
obstacles:
  - { shape: { kind: half-plane } }
  - { shape: { kind: half-plane }, position: [0.5, 0], normal: [-1, 0] }
  - { shape: { kind: half-plane }, normal: [1, 0] }
generators: [{ kind: lattice, shape: { kind: disk, radius: 0.015 }, origin: [0.03, 0.3], count: [11, 8], spacing: 0.04, jitter: 0.1 }]
time: { duration: 0.8 }
END
for name in falling streams pressed struck quaking bounced; do
  run 0 "$SCREE" run $name.yaml -o estimate-$name -q -j 1
  run 0 "$SCREE" check $name.yaml --json
  python3 - $name << 'PY' || fail "estimate of $name: $(cat out)"
import json, os, sys
said = json.load(open("out"))["output_bytes"]
size = sum(os.path.getsize(f"estimate-{sys.argv[1]}/{f}") for f in os.listdir("estimate-" + sys.argv[1]))
print(sys.argv[1], said / size)
sys.exit(not 0.8 < said / size < 1.2)
PY
done
run 0 "$SCREE" check estimated.yaml --set time.step=2
out "longer than the duration"
run 2 "$SCREE" check estimated.yaml --set solver.name=apgd
err "solver.name: apgd cannot solve this scene"
run 0 "$SCREE" check estimated.yaml --set solver.name=apgd --set solver.flow=associated

# ---- mixtures ----
cat > mixed.yaml << 'END'
dimension: 3
generators:
  - kind: lattice
    count: [20, 20, 20]
    shape: { kind: sphere, radius: 0.01 }
    scale: { distribution: mixture, sizes: [1, 2], shares: [0.5, 0.5] }
time: { step: 1e-5, duration: 1e-5 }
output: { contacts: false }
END
run 0 "$SCREE" run mixed.yaml -o mixture -q -j 1 --set gravity=[0,0,0]
run 0 "$SCREE" run mixed.yaml -o number -q -j 1 --set gravity=[0,0,0] --set generators[0].scale.by=number
run 0 "$SCREE" run mixed.yaml -o sieve -q -j 1 --set gravity=[0,0,0] \
  --set 'generators[0].scale={distribution: sieve, sizes: [0.5, 1, 2], shares: [0, 0.3, 1]}'
if python3 -c 'import h5py' 2> /dev/null; then
  python3 - << 'PY' || fail "distributions of sizes"
import h5py, numpy as np
def sizes(folder): return h5py.File(folder + "/results.h5")["bodies/radius"][:] / 0.01
x = sizes("mixture")
assert set(np.round(x, 12)) == {1.0, 2.0}
mass = lambda s: (s ** 3).sum()
assert abs(mass(x[x < 1.5]) / mass(x) - 0.5) < 0.05, mass(x[x < 1.5]) / mass(x)
x = sizes("number")
assert abs((x < 1.5).mean() - 0.5) < 0.03, (x < 1.5).mean()
x = sizes("sieve")
assert x.min() >= 0.5 and x.max() <= 2 and len(set(x)) > 7000
# the mass that passes 0.75, 1 and 1.5 is linear between the sieves
for size, share in ((0.75, 0.15), (1, 0.3), (1.5, 0.65)):
    assert abs(mass(x[x < size]) / mass(x) - share) < 0.04, (size, mass(x[x < size]) / mass(x))
PY
fi
run 2 "$SCREE" check mixed.yaml --set generators[0].scale.shares=[1]
err "expected sizes and shares"
run 2 "$SCREE" check mixed.yaml --set 'generators[0].scale={distribution: sieve, sizes: [2, 1], shares: [0, 1]}'
err "ascending"

# ---- signals from files ----
printf '# a made-up record\ntime;north;east\n0;0;0\n0.5;1;2\n1;0;-2\n' > quake.csv
cat > shaken.yaml << 'END'
dimension: 2
obstacles:
  - name: ground
    shape: { kind: half-plane }
    velocity: { csv: quake.csv, columns: [time, east, "-"], scale: 0.5, integrate: true }
sensors: [{ kind: velocity, name: ground, body: ground }]
time: { step: 0.01, duration: 1 }
END
run 0 "$SCREE" check shaken.yaml --show
out "times: [0, 0.5, 1]"
out "values: [[0, 0], [0.25, 0], [0.25, 0]]"
run 0 "$SCREE" check shaken.yaml --show --set 'obstacles[0].velocity={csv: quake.csv, columns: [2, 3], step: 0.1}'
out "values: [[0, 0], [1, 2], [0, -2]]"
run 2 "$SCREE" check shaken.yaml --set obstacles[0].velocity.columns=[time,west,-]
err 'has no column "west"'
run 2 "$SCREE" check shaken.yaml --set obstacles[0].velocity.csv=none.csv
err "none.csv: cannot be read"
run 2 "$SCREE" check shaken.yaml --set obstacles[0].velocity.scale=big
err "scale: expected a number"

# ---- names of poured bodies: forces, sensors, removals, results; the same bits after a restart ----
cat > poured.yaml << 'END'
dimension: 2
obstacles: [{ name: floor, shape: { kind: half-plane } }]
generators:
  - { kind: pour, name: "lump-{i}", count: 4, rate: 100, region: { kind: box, lower: [-0.1, 0.2], upper: [0.1, 0.3] }, shape: { kind: disk, radius: 0.01 } }
forces:
  - { body: "lump-2", acceleration: [50, 0] }
  - { body: "lump-*", acceleration: [0, 1] }
sensors: [{ kind: position, name: third, body: lump-2 }]
remove: [{ kind: body, body: lump-1, time: 0.09 }]
time: { duration: 0.1, step: 1e-3 }
END
run 0 "$SCREE" run poured.yaml -o poured
run 0 "$SCREE" convert poured --csv poured.csv
grep -q '^.*lump-3' poured.csv || fail "poured bodies have no names: $(cat poured.csv)"
! grep -q 'lump-1' poured.csv || fail "lump-1 is there, expected removed"
speed() { awk -F, -v n="$1" 'NR == 1 { for (k = 1; k <= NF; ++k) if ($k == "vx") c = k } $0 ~ n { print $c }' poured.csv; }
awk -v a="$(speed lump-2)" -v b="$(speed lump-3)" 'BEGIN { exit !(a > 2 && b < 0.1 && b > -0.1) }' ||
  fail "the force on lump-2 alone: $(speed lump-2), $(speed lump-3)"
run 0 "$SCREE" run poured.yaml -o again --until 0.05
run 0 "$SCREE" run poured.yaml -o again --resume
cmp -s poured/results.h5 again/results.h5 || fail "poured bodies with forces: not the same bits after a restart"
run 2 "$SCREE" check poured.yaml --set generators[0].name=lump
err 'expected {i} in it'
run 2 "$SCREE" check poured.yaml --set forces[0].body=lump-9
err 'did you mean lump-0?'
# Several pours: which body comes next is known only then. The pours take turns, `late` comes between `lump`s.
sed -i 's/^forces:/  - { kind: pour, name: "late-{i}", count: 2, rate: 100, start: 0.005, region: { kind: box, lower: [-0.1, 0.4], upper: [0.1, 0.5] }, shape: { kind: disk, radius: 0.012 } }\nforces:\n  - { body: late-1, acceleration: [-50, 0] }/' poured.yaml
sed -i 's/^sensors: \[/&{ kind: velocity, name: late, body: late-1 }, { kind: kinetic_energy, name: lumps, bodies: "lump-*" }, /' poured.yaml
run 0 "$SCREE" run poured.yaml -o several
run 0 "$SCREE" convert several --csv poured.csv
awk -v a="$(speed lump-2)" -v b="$(speed lump-3)" -v c="$(speed late-1)" -v d="$(speed late-0)" \
  'BEGIN { exit !(a > 2 && b * b < 1 && c < -2 && d * d < 1) }' ||
  fail "several pours: the forces on lump-2 and late-1: $(cat poured.csv)"
! grep -q 'lump-1' poured.csv || fail "several pours: lump-1 is there, expected removed"
awk -v v="$(speed late-1)" -F'[:,] *' '{ for (k = 1; k < NF; ++k) if ($k == "\"sensor.late.x\"") x = $(k + 1) }
  END { exit !((x - v) ^ 2 <= 1e-10 * v * v) }' several/telemetry.jsonl ||
  fail "several pours: the sensor of late-1 is not $(speed late-1): $(tail -1 several/telemetry.jsonl)"
[ "$(awk -F, '$2 == "\"late-0\"" { print $1 }' poured.csv)" = 2 ] || fail "several pours: late-0 is not body 2: $(cat poured.csv)"
run 0 "$SCREE" run poured.yaml -o again -f --until 0.05
run 0 "$SCREE" run poured.yaml -o again --resume
cmp -s several/results.h5 again/results.h5 || fail "several pours with names: not the same bits after a restart"
run 2 "$SCREE" check poured.yaml --set generators[1].name='lump-{i}'
err 'are named "lump-0"'
# A solver that cannot do what laws and joints of the scene need is refused before the run, in the words of the solver.
cat > laws.yaml << 'END'
obstacles: [{ shape: { kind: half-space } }]
bodies: [{ name: ball, shape: { kind: sphere, radius: 0.1 }, position: [0, 0, 0.1] }]
time: { duration: 0.01 }
END
refused() { # SOLVER CONTACT WORDS
  run 2 "$SCREE" check laws.yaml --set "solver.name=$1" --set "contact=$2"
  err "solver.name: $1 cannot solve this scene: $3"
}
refused lemke '{ rolling: 0.1 }' "it does not support contacts with resistance to rolling"
refused pqn '{ law: cohesive, cohesion: 2 }' "it does not support cones with cohesion"
refused newton '{ law: compliant, modulus: 1e6, ball: 1 }' "it does not support cones with a ball added"
refused ipm '{ law: compliant, modulus: 1e6, cap: 1 }' "it does not support capped cones"
refused spg '{ mu: 0.3 }' "it solves the associated law only"
run 0 "$SCREE" run laws.yaml -o laws -q --set solver.name=newton --set 'contact={ rolling: 0.1 }'

# Words of other languages in expressions.
run 2 "$SCREE" check laws.yaml --set 'bodies[0].mass=1*(t < 2)'
err "there are no comparisons"
run 2 "$SCREE" check laws.yaml --set 'parameters={ t: 1 }'
err "t is the time in expressions"
finish

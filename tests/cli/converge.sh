#!/usr/bin/env bash
# scree converge from the outside: table, JSON, statuses, numbers with a known order, interruption and
# --resume, processes side by side, the folder of a run, bad input, and the section of the page.
source "$(dirname "$0")/common.bash"
cd "$work" || exit 1

# A block that slides to a halt: x = v t - mu g t^2 / 2 until t = v / (mu g) = 0.34 s.
cat > slide.yaml << 'END'
title: Sliding block </script>
dimension: 2
contact: { mu: 0.3 }
obstacles: [ { name: floor, shape: { kind: half-plane } } ]
bodies:
  - { name: block, position: [0, 0.02], velocity: [1, 0],
      shape: { kind: polygon, vertices: [[0.1, 0.02], [-0.1, 0.02], [-0.1, -0.02], [0.1, -0.02]] } }
time: { step: 5e-3, duration: 0.5 }
sensors: [ { kind: position, name: place, body: block }, { kind: force, name: floor, body: floor } ]
END
# A ball that bounces: too coarse for 1 %.
cat > ball.yaml << 'END'
dimension: 2
contact: { mu: 0.3, e_n: 0.5 }
obstacles: [ { shape: { kind: half-plane } } ]
bodies: [ { name: ball, shape: { kind: disk, radius: 0.05 }, position: [0, 0.5], velocity: [0.3, 0] } ]
time: { step: 1e-2, duration: 1 }
END
# Bodies that come while it runs, and go.
cat > pour.yaml << 'END'
dimension: 2
contact: { mu: 0.3 }
obstacles: [ { shape: { kind: half-plane } } ]
generators:
  - { kind: pour, count: 10, rate: 50, shape: { kind: disk, radius: 0.01 }, scale: { min: 0.8, max: 1.2 },
      velocity: [0, -0.5], region: { kind: box, lower: [-0.06, 0.1], upper: [0.06, 0.2] } }
time: { step: 2e-3, duration: 0.3 }
output: { every: 0.01, checkpoint: 0 }
remove: [ { kind: plane, point: [0, -1], normal: [0, -1] } ]
sensors: [ { kind: flux, name: rain, point: [0, 0.08], normal: [0, -1] }, { kind: height, name: top } ]
END

# ---- the table, and what is written ----
run 0 "$SCREE" converge slide.yaml
for text in "slide-converge: steps 0.005 to 0.00125 s" "average" "kinetic" "dissipated_friction" \
  "centre.x" "mass_profile" "velocity_profile" "sensor.place.x" "sensor.floor.y" "not judged" \
  "0.005 s is fine" "is fine: largest change" "largest mean distance of the same bodies of h/2 and h/4" \
  "All averages are within 1 % at the scene's own step and tolerance."; do
  out "$text"
done
! grep -q work_drivers out || fail "the table shows a quantity that is zero"
for file in converge.json h/results.h5 h2/results.h5 h4/results.h5 tol/results.h5 plots/errors.svg \
  plots/bodies.svg plots/kinetic.svg plots/mass_profile.svg plots/sensor.place.x.svg; do
  [ -s "slide-converge/$file" ] || fail "no $file"
done
grep -q "step: 0.00125" slide-converge/h4/scene.yaml || fail "h4: another step"
grep -q "tolerance: 1e-09" slide-converge/tol/scene.yaml || fail "tol: another tolerance"

# ---- JSON; finished runs are not repeated ----
touch -d '2001-01-01' slide-converge/h4/results.h5
run 0 "$SCREE" converge slide.yaml --resume --json
empty err
json 17
[ "$(date -r slide-converge/h4/results.h5 +%Y)" = 2001 ] || fail "a finished run was repeated"
python3 - "$work/out" slide-converge/converge.json << 'PY' || fail "JSON of the sliding block"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
by = {l["quantity"]: l for l in lines[:-1]}
for l in by.values():
    assert {"quantity", "value", "error", "order", "error_tolerance", "scale", "unit", "judged"} <= set(l)
# energies are of second order; the way is exact while the block slides, and its error comes from where
# in a step the block stops: of second order too, but not smooth in the step
for name in "kinetic", "dissipated_friction":
    assert 1.8 < by[name]["order"] < 2.2, (name, by[name])
    assert by[name]["error"] < 1e-3
assert by["centre.x"]["error"] < 2e-5, by["centre.x"]
v, mu, g = 1.0, 0.3, 9.81
stop = v / (mu * g)
x = lambda t: v * min(t, stop) - mu * g * min(t, stop) ** 2 / 2
n = 100000
mean = sum(x(0.25 + 0.25 * (k + 0.5) / n) for k in range(n)) / n
q = by["centre.x"]
assert abs(q["value"] - mean) <= 1.5 * q["error"] * q["scale"], (q, mean)
k = by["kinetic"]
exact = 0.5 * 8.0 * sum(max(0.0, v - mu * g * (0.25 + 0.25 * (i + 0.5) / n)) ** 2 for i in range(n)) / n
assert abs(k["limit"] - exact) < 0.2 * abs(k["value"] - exact), (k, exact)
assert by["coordination"]["judged"] is False
last = lines[-1]
assert last["within"] is True and last["status"] == 0 and last["chaotic"] is False
assert last["step"] == 0.005 and last["recommended_step"] >= 0.005 and last["diverge"] is None
whole = json.load(open(sys.argv[2]))
assert whole["format"] == "scree-converge" and whole["version"] == 1
assert [r["folder"] for r in whole["runs"]] == ["h", "h2", "h4", "tol"]
assert [r["steps"] for r in whole["runs"]] == [100, 200, 400, 100]
for q in whole["quantities"]:
    assert len(q["errors"]) == 3 and len(q["values"]) == 4
    assert len(q["series" if q["components"] == 1 else "profiles"]) == 4
    assert q["error"] == q["errors"][0] and q["value"] == q["values"][0]
    assert q["components"] > 1 or all(len(s) == whole["intervals"] for s in q["series"])
PY

# ---- other units: millimetres in place of metres change no error ----
sed -e 's/0\.1\b/100/g' -e 's/0\.02/20/g' -e 's/velocity: \[1/velocity: [1000/' \
  -e '2a gravity: [0, -9810]' -e '2a materials: { stone: { density: 1e-3 } }' slide.yaml > mm.yaml
cp out metres
run 0 "$SCREE" converge mm.yaml --json
python3 - metres out << 'PY' || fail "other units give other errors"
import json, sys
a, b = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
for p, q in zip(a[:-1], b[:-1]):
    assert p["quantity"] == q["quantity"] and abs(p["error"] - q["error"]) < 1e-6, (p, q)
PY

# ---- not within the accuracy ----
run 1 "$SCREE" converge ball.yaml -o ball --levels 4 -q
empty out
run 1 "$SCREE" converge ball.yaml -o ball --levels 4 --resume
out "Not all averages are within 1 %"
out "use "
[ -s ball/h8/results.h5 ] || fail "--levels 4: no run with h/8"
run 0 "$SCREE" converge ball.yaml -o ball --resume --accuracy 0.5 --json
run 0 "$SCREE" converge ball.yaml -o short --until 0.2 --levels 2
out "to t = 0.2 s"
# steps that are not certified
run 1 "$SCREE" converge slide.yaml -o coarse --set time.penetration_limit=1e-15 --set time.max_halvings=0
out "NOT MET"

# ---- bodies that come and go; side by side; the same bits ----
run 1 "$SCREE" converge pour.yaml -o pour
out "sensor.rain"
# half of the step is the same scene: bodies come at the same places
python3 - << 'PY' || fail "bodies of a pour come at other places with another step"
import json
bodies = json.load(open("pour/converge.json"))["bodies"]
assert all(d < 0.01 for pair in bodies["distance"] for t, d in zip(bodies["times"], pair) if t < 0.1)
PY
run 1 "$SCREE" converge pour.yaml -o pour2 --jobs 3 --json
for name in h h2 h4 tol; do
  cmp "pour/$name/results.h5" "pour2/$name/results.h5" || fail "--jobs: other results in $name"
done

# ---- an impact one step before or after a saved frame is no error of a whole frame ----
cat > landing.yaml << 'END'
dimension: 2
contact: { mu: 0.5, e_n: 0.3 }
obstacles: [ { shape: { kind: half-plane } } ]
bodies: [ { name: box, shape: { kind: polygon, vertices: [[-0.15, -0.1], [0.15, -0.1], [0.15, 0.1], [-0.15, 0.1]] },
            position: [0, 1], velocity: [1, 0], angular_velocity: 12 } ]
time: { duration: 3 }
END
run 0 "$SCREE" converge landing.yaml --json
python3 - << 'PY' || fail "the velocity profile of a box that lands"
import json
by = {l.get("quantity"): l for l in map(json.loads, open("out"))}
assert by["velocity_profile"]["error"] < 2e-3, by["velocity_profile"]  # velocities of frames: 1.1e-2
PY

# ---- several starts ----
# Disks that fall freely, by implicit Euler: y is off by -g h t / 2, of first order, from every start. The starts are
# at random places: the scatter of single runs is known from their own sensors.
cat > fall.yaml << 'END'
dimension: 2
seed: 3
generators:
  - { kind: lattice, origin: [0, 0], count: [3, 2], spacing: 0.1, jitter: 0.2, shape: { kind: disk, radius: 0.01 } }
time: { scheme: euler, step: 1e-2, duration: 0.5 }
output: { every: 0.01 }
sensors: [ { kind: position, name: one, body: 0 } ]
END
run 1 "$SCREE" converge fall.yaml -o fall --seeds 4 --json
[ -s fall/start4/tol/results.h5 ] || fail "--seeds 4: no fourth start"
grep -q "seed: 6" fall/start4/h/scene.yaml || fail "start 4: another seed"
grep -q "perturb: 0.001" fall/start2/h4/scene.yaml || fail "start 2: not perturbed"
touch -d '2001-01-01' fall/start4/h2/results.h5
run 1 "$SCREE" converge fall.yaml -o fall --seeds 8 --resume --json --jobs 2
[ "$(date -r fall/start4/h2/results.h5 +%Y)" = 2001 ] || fail "--resume --seeds: a start was repeated"
python3 - "$work/out" fall << 'PY' || fail "JSON of several starts"
import json, math, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
by = {l["quantity"]: l for l in lines[:-1]}
y, last = by["sensor.one.y"], lines[-1]
# mean over the last half of g h t / 2 with t = 0.375; means over the last window of two
error = 9.81 * 1e-2 * 0.375 / 2
assert abs(y["error"] * y["scale"] - error) < 0.02 * error, y
assert abs(y["order"] - 1) < 0.01 and y["order_deviation"] < 0.01, y
assert y["error_deviation"] < 1e-4 * y["error"] and y["error_low"] > 0.01, y
assert last["starts"] == 8 and last["within"] is False and last["starts_wanted"] == 0
assert 0.5 < last["recommended_step"] / last["step"] < 0.8, last
# the scatter, from the telemetry of each start
means = []
for start in range(1, 9):
    folder = sys.argv[2] + ("/h" if start == 1 else "/start%d/h" % start)
    rows = [json.loads(line) for line in open(folder + "/telemetry.jsonl")]
    late = [(r["time"], r["sensor.one"][1] if isinstance(r.get("sensor.one"), list) else r["sensor.one.y"]) for r in rows if r["time"] > 0.25 - 1e-9]
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(late, late[1:]))
    means.append(area / (late[-1][0] - late[0][0]))
mean = sum(means) / 8
deviation = math.sqrt(sum((m - mean) ** 2 for m in means) / 56)
assert abs(y["value"] - mean) < 1e-3 * deviation + 1e-9, (y["value"], mean)
assert abs(y["value_deviation"] - deviation) < 1e-3 * deviation, (y["value_deviation"], deviation)
assert y["scatter"] * y["scale"] > 0.5 * deviation * math.sqrt(8)
whole = json.load(open(sys.argv[2] + "/converge.json"))
assert [r["steps"] for r in whole["runs"]] == [8 * n for n in (50, 100, 200, 50)]
PY
run 1 "$SCREE" converge fall.yaml -o fall --seeds 8 --resume
out "8 starts"
out "+-"
out "means over 8 starts; single runs scatter by up to"
out "use 0.006"

# Disks that bounce: chaotic. One run says so and asks for --seeds; many are compared by means.
cat > chaos.yaml << 'END'
dimension: 2
contact: { mu: 0.3, e_n: 0.9 }
obstacles:
  - { shape: { kind: half-plane } }
  - { shape: { kind: half-plane }, position: [-0.05, 0], normal: [1, 0] }
  - { shape: { kind: half-plane }, position: [0.05, 0], normal: [-1, 0] }
generators:
  - { kind: lattice, origin: [-0.03, 0.02], count: [4, 2], spacing: 0.02, shape: { kind: disk, radius: 0.007 },
      velocity: [1, 0] }
time: { duration: 0.6 }
END
"$SCREE" converge chaos.yaml --json > out
python3 - out << 'PY' || fail "the chaotic scene is not chaotic"
import json
assert json.loads(open("out").readlines()[-1])["chaotic"] is True
PY
run 1 "$SCREE" converge chaos.yaml --resume
out "scatter"
out "Use --seeds N"
out "The motion is chaotic: single runs differ by their scatter, whatever the step."
run 1 "$SCREE" converge chaos.yaml --resume --seeds 6
out "not told"
out "would tell more"
err " of 24 runs"
# without random choices the starts differ by their velocities alone, and are different runs
cmp -s chaos-converge/start2/h/results.h5 chaos-converge/start3/h/results.h5 && fail "two starts are the same"
run 2 "$SCREE" converge chaos.yaml -o x --seeds 3
err "from 4 to 1000"

# ---- interruption ----
# SIGTERM stands for Ctrl-C, which is ignored in a script's background: it takes the same way.
for jobs in 1 2; do
  slow=(--set time.step=1e-4 --set output.every=1e-2 --seeds 4)
  rm -rf stopped
  "$SCREE" converge pour.yaml -o stopped "${slow[@]}" --jobs "$jobs" > stopped.out 2>&1 &
  pid=$!
  for _ in $(seq 200); do
    [ -n "$(find stopped -name checkpoint.bin 2> /dev/null)" ] && break
    sleep 0.02
  done
  kill -TERM "$pid" 2> /dev/null
  status=0
  wait "$pid" || status=$?
  if [ "$status" -gt 1 ]; then
    [ "$status" = 130 ] || fail "interrupted: status $status: $(cat stopped.out)"
    grep -q "resume with: scree converge pour.yaml -o stopped --resume --seeds 4 --set 'time.step=1e-4'" stopped.out ||
      fail "interrupted: $(cat stopped.out)"
    [ ! -e stopped/converge.json ] || fail "interrupted: there is a converge.json"
    "$SCREE" converge pour.yaml -o stopped --resume "${slow[@]}" -q 2> err || [ $? = 1 ] || fail "resumed: $(cat err)"
    [ -s stopped/converge.json ] || fail "resumed: no converge.json"
  fi
done

# ---- the folder of a run; the page ----
run 0 "$SCREE" run slide.yaml -o whole -q
run 0 "$SCREE" converge whole -q
cmp whole/results.h5 whole-converge/h/results.h5 || fail "the run h is not the run"
for folder in whole slide-converge/h; do
  run 0 "$SCREE" report "$folder" -o page.html
  grep -q '"convergence":"{' page.html || fail "the page of $folder has no convergence"
done
run 0 "$SCREE" report slide-converge/h2 -o page.html
! grep -q '"convergence":"{' page.html || fail "the page of h2 has the convergence of h"
echo '{"format": "scree-converge", </script>' > whole/converge.json
run 0 "$SCREE" report whole -o page.html
[ "$(grep -c '</script>' page.html)" -gt 0 ] && ! grep -q 'scree-converge\\", </script>' page.html ||
  fail "a damaged converge.json ends the element"

# ---- refusals ----
run 2 "$SCREE" converge slide.yaml
err "holds a run already"
run 2 "$SCREE" converge slide.yaml --resume --set contact.mu=0.2
err "the run was made with"
[ -s slide-converge/converge.json ] || fail "a refused command removed converge.json"
run 2 "$SCREE" converge slide.yaml -o x --until 3
err "--until: found 3 s, expected at most the scene's duration, 0.5 s"
run 2 "$SCREE" converge
err "expected one"
run 2 "$SCREE" converge nothing.yaml
err "cannot be read"
run 2 "$SCREE" converge slide.yaml -o x --levels 1
err "from 2 to 6"
run 2 "$SCREE" converge slide.yaml -o x --set time.stp=1
err "did you mean step?"
run 2 "$SCREE" converge slide.yaml -o x --acuracy 0.1
err "did you mean --accuracy?"
run 3 "$SCREE" converge slide.yaml -o /proc/nowhere/x
err "cannot make the folder"
[ ! -e x ] || fail "a refused command made a folder"
run 0 "$SCREE" converge --help
out "Exit status"
run 0 "$SCREE" converge slide.yaml --force -q

finish

#!/usr/bin/env bash
# scree report, view, picture, plot, convert from the outside: on a small run, on runs with no or one
# frame, on a file cut short; VTK files are read back by VTK, and the page is used in a real browser,
# where these are installed.
set -euo pipefail
scree="${SCREE:?}"
source_tree="${SCREE_SOURCE:?}"
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
failures=0

complain() {
  echo "report: $*"
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

cat >"$root/scene.yaml" <<'END'
title: A few balls </script>
dimension: 3
materials:
  stone: { density: 2700 }
contact: { mu: 0.5 }
obstacles:
  - { name: ground, shape: { kind: half-space } }
generators:
  - { kind: lattice, origin: [0, 0, 0.011], count: [3, 3, 2], spacing: 0.021, shape: { kind: sphere, radius: 0.01 } }
  - { kind: lattice, origin: [0, 0, 0.08], count: [2, 2, 1], spacing: 0.05, shape: { kind: box, half_x: 0.01, half_y: 0.012, half_z: 0.014 } }
time: { step: 1e-3, duration: 0.1 }
sensors:
  - { kind: force, name: ground, body: ground }
  - { kind: height, name: top }
END
status=0
"$scree" run "$root/scene.yaml" -o "$root/run" >"$root/log" 2>&1 || status=$?
if [ "$status" -gt 1 ]; then
  echo "report: scree run failed with $status: $(cat "$root/log")"
  exit 1
fi

# The page is to show a comparison of steps, too.
status=0
"$scree" converge "$root/run" -o "$root/compared" -q >"$root/log" 2>&1 || status=$?
[ "$status" -le 1 ] && [ -s "$root/run/converge.json" ] || complain "scree converge: status $status: $(cat "$root/log")"

# ---- page ----
expect 0 "frames" "$scree" report "$root/run"
expect 0 '"numbers"' "$scree" report "$root/run" -o "$root/page.html" --json
grep -q '</html>' "$root/page.html" || complain "the page is cut short"
! grep -qE '(src|href)="https?:' "$root/page.html" || complain "the page refers to the network"
expect 0 "3 of" "$scree" report "$root/run" -o "$root/three.html" --frames 3
expect 2 "expected the folder" "$scree" report
expect 0 "frames" "$scree" report "$root/run" "$root/run" -o "$root/both.html"
grep -q 'id="scree1-meta"' "$root/both.html" || complain "the page of two runs has one"
expect 2 "no results.h5" "$scree" report "$root"
expect 2 "budget" "$scree" report "$root/run" --budget 0.1
expect 3 "cannot write" "$scree" report "$root/run" -o "$root/no/such/page.html"

# ---- plots, pictures, VTK ----
expect 0 "energies.svg" "$scree" plot "$root/run" -o "$root/plots"
for name in energies contacts error iterations penetration coordination packing seconds sensor-ground sensor-top; do
  grep -q '</svg>' "$root/plots/$name.svg" || complain "no plot $name.svg"
done
expect 0 "drawn by scree itself" "$scree" picture "$root/run" --at 0.05 --software --chains -o "$root/p.png" --width 320 --height 200
expect 0 "frame" "$scree" picture "$root/run" --software --view top --obstacles ghost --zoom 2 -o "$root/p.png" --width 160 --height 100
expect 0 "frame" "$scree" picture "$root/run" --software --camera 0.2,-0.3,0.1,0,0,0 --bodies ghost -o "$root/p.png" --width 160 --height 100
expect 2 "six numbers" "$scree" picture "$root/run" --software --camera 1,2,3
head -c 8 "$root/p.png" | od -An -c | grep -q 'P   N   G' || complain "no PNG file"
expect 0 "contacts.pvd" "$scree" convert "$root/run" --vtk "$root/vtk" --triangles --xdmf
expect 2 "--vtk" "$scree" convert "$root/run"
if command -v ffmpeg >/dev/null; then
  expect 0 "frames at" "$scree" picture "$root/run" --movie "$root/film.mp4" --width 160 --height 120
  [ -s "$root/film.mp4" ] || complain "no film"
fi
python=/usr/bin/python3
if "$python" -c 'import vtkmodules.vtkIOXML, h5py' 2>/dev/null; then
  expect 0 "agree" "$python" "$source_tree/tests/viewer/vtk_check.py" "$root/run" "$root/vtk"
else
  echo "report: VTK files were not read back: python3-vtk9 and python3-h5py are not installed"
fi

if command -v pvpython >/dev/null; then
  expect 0 "agree" pvpython "$source_tree/tests/viewer/paraview_check.py" "$root/run" "$root/vtk"
fi

# ---- fields of the user's own ----
if "$python" -c 'import h5py' 2>/dev/null; then
  cp -r "$root/run" "$root/fields"
  "$python" - "$root/fields/results.h5" <<'END'
import sys, h5py
with h5py.File(sys.argv[1], "a") as f:
    f["fields/height over ground"] = f["frames/position"][:, :, 2]
    f["fields/of another size"] = f["frames/time"][:]
END
  expect 0 "frames" "$scree" report "$root/fields"
  grep -q '"fields":\["height over ground"\]' "$root/fields/report.html" || complain "the page has not the field that was added"
fi

# ---- damage ----
mkdir "$root/cut"
cp "$root/run"/* "$root/cut" 2>/dev/null || true
head -c 3000 "$root/run/results.h5" >"$root/cut/results.h5"
for command in "report" "plot" "picture --software" "convert --vtk $root/x"; do
  # shellcheck disable=SC2086 # the words of the command
  expect 2 "results.h5" "$scree" ${command%% *} "$root/cut" $(echo "$command" | cut -s -d' ' -f2-)
done
rm "$root/cut/results.h5"
expect 2 "no results.h5" "$scree" report "$root/cut"

# Cut anywhere: a message, or what is left, never a crash.
size="$(stat -c %s "$root/run/results.h5")"
cp "$root/run/telemetry.jsonl" "$root/cut"
for part in 1 5 20 40 60 80 95 99; do
  head -c $((size * part / 100)) "$root/run/results.h5" >"$root/cut/results.h5"
  status=0
  said="$("$scree" report "$root/cut" 2>&1)" || status=$?
  [ "$status" = 0 ] || [ "$status" = 2 ] || complain "report of a file cut at $part %: status $status: $said"
  [ -n "$said" ] || complain "report of a file cut at $part %: nothing was said"
done

# ---- unusual runs: no frame, one frame, huge, far away, ... ----
unusual=()
if "$python" -c 'import h5py' 2>/dev/null; then
  "$python" "$source_tree/tests/viewer/variants.py" "$root/run" "$root/unusual"
  for folder in "$root"/unusual/*/; do
    expect 0 "frames" "$scree" report "$folder"
    [ "${folder%far/}" != "$folder" ] || unusual+=("$folder/report.html") # that is tested in C
  done
  expect 0 "0 of 0 frames" "$scree" report "$root/unusual/none"
  expect 0 "1 of 1 frames" "$scree" report "$root/unusual/one"
  expect 2 "no frames" "$scree" picture "$root/unusual/none" --software
  expect 0 "frame 0" "$scree" picture "$root/unusual/one" --software -o "$root/p.png" --width 64 --height 64
  expect 0 "frame" "$scree" picture "$root/unusual/huge" --software -o "$root/p.png" --width 64 --height 64 --colour stress
fi

# ---- server ----
"$scree" view "$root/run" --idle 300 >"$root/view.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$root"' EXIT
# address_of LOG: where a server says that it listens, when it says so
address_of() {
  for _ in $(seq 300); do
    grep -q http "$1" 2>/dev/null && break
    sleep 0.1
  done
  grep -o 'http://[^ ]*' "$1" || true
}
url="$(address_of "$root/view.log")"
port="${url##*:}" port="${port%/}"
# ask LINE [HOST]: the first line of the answer
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf '%s HTTP/1.1\r\nHost: %s\r\n\r\n' "$1" "${2:-127.0.0.1:$port}" >&3
  head -n 1 <&3 | tr -d '\r' || true
  exec 3>&-
}
for good in "/" "/meta.json" "/block/static" "/block/telemetry" "/block/b0" "/block/c1"; do
  [[ "$(ask "GET $good")" == *" 200 "* ]] || complain "view: $good: $(ask "GET $good")"
done
for bad in "/etc/passwd" "/../../etc/passwd" "/block/../scene.yaml" "/block/b99999999999999999999" \
  "/block/b-1" "/block/" "/block/%2e%2e/scene.yaml" "/scene.yaml" "//etc/passwd"; do
  [[ "$(ask "GET $bad")" == *" 404 "* ]] || complain "view: $bad: $(ask "GET $bad")"
done
[[ "$(ask "POST /")" == *" 405 "* ]] || complain "view: POST"
[[ "$(ask "GET /" "evil.example:$port")" == *" 403 "* ]] || complain "view: a foreign host"
[[ "$(ask "GET /$(head -c 9000 /dev/zero | tr '\0' a)")" == *" 431 "* ]] || complain "view: a long request"

# ---- browser ----
browser="$(command -v chromium || true)"
modules="$source_tree/tests/viewer"
if [ -n "$browser" ] && command -v npm >/dev/null && [ ! -d "$modules/node_modules/playwright-core" ]; then
  (cd "$modules" && timeout 60 npm ci >"$root/npm.log" 2>&1) || echo "report: npm ci failed: $(tail -n 1 "$root/npm.log")"
fi
tries=yes
if [ -z "$browser" ] || ! [ -d "$modules/node_modules/playwright-core" ] || ! "$python" -c 'import h5py' 2>/dev/null; then
  echo "report: the page was not tried in a browser: chromium, playwright-core or python3-h5py is missing"
  tries=no
elif ldd "$scree" | grep -q libasan; then
  echo "report: the page is tried in a browser by the plain build alone"
  tries=no
fi
# in_browser ARGUMENT...: test.mjs with these; what it says is shown
in_browser() {
  CHROMIUM="$browser" timeout 580 node "$modules/test.mjs" "$root/page.html" "$root/expected.json" "$@" 2>&1 |
    tee "$root/browser.log" || true
  grep -q 'all good' "$root/browser.log" || complain "the page in a browser: $*"
}
if [ "$tries" = yes ]; then
  frames="$(grep -o '"frames": *[0-9]*' <("$scree" report "$root/run" -o "$root/page.html" --json) | grep -o '[0-9]*')"
  "$python" "$modules/expected.py" "$root/run" $((frames - 1)) 20 >"$root/expected.json"
  "$python" "$source_tree/viewer/bench/make_run.py" "$root/many" 100000 3
  expect 0 "frames" "$scree" report "$root/many"
  in_browser "$url" "compare=$root/both.html" "many=$root/many/report.html" "gallery=$source_tree/docs/gallery.html" "${unusual[@]}"
fi

# ---- a run that goes on ----
sed 's/time: .*/time: { step: 2e-4, duration: 1000 }\noutput: { every: 0.05 }/; s/count: .3, 3, 2./count: [8, 8, 2]/' "$root/scene.yaml" >"$root/long.yaml"
"$scree" run "$root/long.yaml" -o "$root/long" -q >"$root/long.log" 2>&1 &
long=$!
trap 'kill "$server" "$long" "${live:-}" 2>/dev/null || true; rm -rf "$root"' EXIT
for _ in $(seq 100); do
  [ -e "$root/long/frames.bin" ] && break
  sleep 0.1
done
"$scree" view "$root/long" --idle 300 >"$root/live.log" 2>&1 &
live=$!
live_url="$(address_of "$root/live.log")"
port="${live_url##*:}" port="${port%/}"
# count: frames that the server knows
count() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET /meta.json HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$port" >&3
  grep -o '"times":\[[^]]*' <&3 | tr , '\n' | wc -l
  exec 3>&-
}
before="$(count)"
for _ in $(seq 100); do
  [ "$(count)" -gt "$before" ] && break
  sleep 0.2
done
[ "$(count)" -gt "$before" ] || complain "view: no new frames of a run that goes on: $before, then $(count)"

[ "$tries" = no ] || in_browser "$url" "live=$live_url"

# The run ends first: what it wrote last is there, and the server ends when it is told to.
kill -INT "$long"
status=0
wait "$long" || status=$?
[ "$status" = 130 ] || complain "an interrupted run: status $status"
frames="$(grep -o '[0-9]* of [0-9]* frames' <("$scree" report "$root/long") | cut -d' ' -f3)"
[ "$(count)" -ge "$before" ] && [ "$(count)" -le "$frames" ] || complain "view: $(count) frames, the run has $frames"
kill -INT "$live"
status=0
wait "$live" || status=$?
[ "$status" = 0 ] || complain "view: ended with status $status"

kill "$server" 2>/dev/null || true
[ "$failures" -eq 0 ] || exit 1
echo "report: all good"

# For the tests of the program: a scratch folder, and assertions on status, output and JSON.
# SCREE is the program, SCREE_PROBLEMS the folder of problem files.
set -u
: "${SCREE:?the program}" "${SCREE_PROBLEMS:?the folder of problem files}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAIL: $*" >&2
  failures=$((failures + 1))
}

# run STATUS COMMAND...: run it, keep what it prints in $work/out and $work/err, check the status.
run() {
  local expected=$1 status=0
  shift
  timeout 300 "$@" > "$work/out" 2> "$work/err" < /dev/null || status=$?
  [ "$status" -eq "$expected" ] || fail "status $status, expected $expected: $* ($(head -c 300 "$work/err"))"
}

# out TEXT, err TEXT: the last run printed it.
out() { grep -qF -- "$1" "$work/out" || fail "standard output lacks \"$1\": $(head -c 300 "$work/out")"; }
err() { grep -qF -- "$1" "$work/err" || fail "standard error lacks \"$1\": $(head -c 300 "$work/err")"; }
empty() { [ ! -s "$work/$1" ] || fail "$1 is not empty: $(head -c 300 "$work/$1")"; }

# json LINES: the last run printed so many lines, each a JSON object, and nothing else.
json() {
  local lines
  lines=$(wc -l < "$work/out")
  [ "$lines" -eq "$1" ] || fail "$lines lines of JSON, expected $1"
  if command -v python3 > /dev/null; then
    python3 - "$work/out" << 'PY' || fail "not JSON: $(head -c 300 "$work/out")"
import json, sys
def forbid(word):
    raise ValueError(word)
for line in open(sys.argv[1], encoding="utf-8"):
    assert isinstance(json.loads(line, parse_constant=forbid), dict)
PY
  else
    ! grep -qvE '^\{"[a-z_]+": .*\}$' "$work/out" || fail "not JSON: $(head -c 300 "$work/out")"
  fi
}

# Problem files under the names of the collection. Where that is absent, SCREE_PROBLEMS is
# tests/data/problems, and problems of the same kind and size from there get those names.
need_problems() {
  [ -f "$SCREE_PROBLEMS/$1" ] && return
  local pair from="$SCREE_PROBLEMS"
  SCREE_PROBLEMS="$work/problems"
  mkdir "$SCREE_PROBLEMS"
  for pair in box-slides:Rover1039 box-held:Rover1040 slider:FC2D_SliderCrankLagrangian00000 \
    disks-bodies:disks-400 ellipses-bodies:gfc2d_granularflowonwall_00230_00206 \
    boxes-two-bodies:GFC3D_TwoRods1; do
    if ! cp "$from/${pair%%:*}.hdf5" "$SCREE_PROBLEMS/${pair#*:}.hdf5" 2>/dev/null; then
      echo "skipped: neither $1 nor ${pair%%:*}.hdf5 in $from"
      exit 77
    fi
  done
}

finish() {
  [ "$failures" -eq 0 ] || exit 1
  echo "ok"
}

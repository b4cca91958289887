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
  timeout 60 "$@" > "$work/out" 2> "$work/err" < /dev/null || status=$?
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

need_problems() {
  [ -f "$SCREE_PROBLEMS/$1" ] && return
  echo "skipped: no $1 in $SCREE_PROBLEMS"
  exit 77
}

finish() {
  [ "$failures" -eq 0 ] || exit 1
  echo "ok"
}

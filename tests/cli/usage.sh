#!/usr/bin/env bash
# Help, versions, mistyped commands and options, and standard output that cannot be written.
source "$(dirname "$0")/common.bash"

run 0 "$SCREE" --version
grep -qE '^scree [0-9]+\.[0-9]+\.[0-9]+$' "$work/out" || fail "version: $(cat "$work/out")"
run 0 "$SCREE" --help
out "usage: scree COMMAND"
awk 'length > 80 { exit 1 }' "$work/out" || fail "the help is wider than 80 columns"
run 0 "$SCREE" help
for command in $(awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' "$work/out"); do
  run 0 "$SCREE" "$command" --help
  out "usage: scree $command"
  out "examples:"
  empty err
  cp "$work/out" "$work/long"
  run 0 "$SCREE" help "$command"
  cmp -s "$work/out" "$work/long" || fail "help $command differs from $command --help"
  run 0 "$SCREE" "$command" -h
  awk 'length > 80 { exit 1 }' "$work/out" || fail "help of $command is wider than 80 columns"
done

run 2 "$SCREE"
run 2 "$SCREE" sovle
err "did you mean solve?"
empty out
run 2 "$SCREE" zzzzzz
err 'unknown command "zzzzzz"'
run 2 "$SCREE" solve
err "expected a problem file"
run 2 "$SCREE" info
run 2 "$SCREE" solve --tool 1e-3 x
err "did you mean --tol?"
run 2 "$SCREE" solve -Z x
err "unknown option -Z"
run 2 "$SCREE" solve x --tol
err "--tol: expected X after it"
run 2 "$SCREE" solve x --tol tiny
err '--tol: found "tiny", expected a number'
run 2 "$SCREE" solve x --tol=-1
run 2 "$SCREE" solve x --tol nan
run 2 "$SCREE" solve x --max-iter 0
err "expected an integer of at least 1"
run 2 "$SCREE" solve x --max-iter 1.5
run 2 "$SCREE" solve x --threads 0
run 2 "$SCREE" solve x --time-limit soon
run 2 "$SCREE" solve x --measure merti
err "did you mean merit?"
run 2 "$SCREE" solve x --law coulumb
err "did you mean coulomb?"
run 2 "$SCREE" solve x --json=yes
err "this option is a flag"
run 2 "$SCREE" picture x --at abc
err '--at: found "abc", expected a number'
grep -q "a number of" "$work/err" && fail "--at: $(cat "$work/err")"
run 2 "$SCREE" check "$SCREE_SOURCE/examples/drum.yaml" --set solver.name=foo
[ "$(grep -o '\bauto\b' "$work/err" | wc -l)" -eq 1 ] || fail "auto is listed twice: $(cat "$work/err")"
run 0 "$SCREE" check "$SCREE_SOURCE/examples/drum.yaml"
out "disk, "
run 2 "$SCREE" solve x --solver nlsg
err "did you mean nlgs?"
run 2 "$SCREE" solve x --solver nlgs --set lcoal=exact
err 'did you mean "local"?'
run 2 "$SCREE" solve x --solver nlgs --set local=exat
err "did you mean exact?"
run 2 "$SCREE" solve x --solver nlgs --set local
err "expected NAME=VALUE"
run 2 "$SCREE" solvers nlsg
err "did you mean nlgs?"

run 0 "$SCREE" solvers
out "nlgs"
out "(default)"
run 0 "$SCREE" solvers nlgs
out "reference"
out "local"
out "default exact"
run 0 "$SCREE" solvers --json
json "$(wc -l < "$work/out")"
run 0 "$SCREE" solvers nlgs --json
json 1

if [ -w /dev/full ]; then
  status=0
  "$SCREE" --help > /dev/full 2> "$work/err" || status=$?
  [ "$status" -eq 3 ] || fail "full output: status $status, expected 3"
  err "standard output cannot be written: No space left on device"
fi
# A reader that goes away is no failure, whether SIGPIPE kills or not.
{
  trap '' PIPE
  "$SCREE" --help 2> "$work/err"
  echo $? > "$work/status"
} | true
[ "$(cat "$work/status")" -eq 0 ] || fail "broken pipe: status $(cat "$work/status"), expected 0"
empty err
finish

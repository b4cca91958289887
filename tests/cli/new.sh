#!/usr/bin/env bash
# Scenes to start from, completion, the manual page.
source "$(dirname "$0")/common.bash"
export OMP_NUM_THREADS=1
cd "$work" || exit 1

run 0 "$SCREE" new
kinds=$(cut -d' ' -f1 "$work/out")
[ "$(echo "$kinds" | wc -l)" -ge 6 ] || fail "kinds: $kinds"
for kind in $kinds; do
  run 0 "$SCREE" new "$kind"
  run 0 "$SCREE" check "$kind.yaml"
  out "valid"
  run 0 "$SCREE" run "$kind.yaml" -q -j 1 --steps 20
  run 2 "$SCREE" new "$kind"
  err "is there already"
done
run 2 "$SCREE" new heep
err "did you mean heap?"
run 0 "$SCREE" new heap -o -
cmp -s "$work/out" heap.yaml || fail "new -o -: another scene"
# The test cell is settled once, and pressed as its comment says.
run 0 "$SCREE" run cell.yaml -q -j 1 -o settled --set time.duration=0.02 --set output.every=0.01
run 0 "$SCREE" run cell.yaml -q -j 1 -o pressed --set 'start={run: settled}' --set 'generators=[]' \
  --set 'obstacles[3].velocity=[0, "-speed"]' --set time.duration=0.02

run 0 "$SCREE" examples
out "dominoes"
run 0 "$SCREE" examples -o copied
for file in "$SCREE_SOURCE"/examples/*.yaml "$SCREE_SOURCE"/examples/*.csv; do
  cmp -s "$file" "copied/$(basename "$file")" || fail "examples: $(basename "$file") differs"
done
run 0 "$SCREE" check copied/gravel.yaml
run 2 "$SCREE" examples domino
err "did you mean dominoes?"

for shell in bash zsh fish; do
  run 0 "$SCREE" completion "$shell"
  for word in run check converge resume until reference; do out "$word"; done
  cp "$work/out" "completion.$shell"
  if command -v "$shell" > /dev/null; then "$shell" -n "completion.$shell" || fail "completion for $shell has a mistake"; fi
done
run 2 "$SCREE" completion csh
if complete=$(bash -c 'source completion.bash; COMP_WORDS=(scree che); COMP_CWORD=1; _scree; echo "${COMPREPLY[*]}"'); then
  [ "$complete" = check ] || fail "bash completes che to \"$complete\""
  complete=$(bash -c 'source completion.bash; COMP_WORDS=(scree run --unt); COMP_CWORD=2; _scree; echo "${COMPREPLY[*]}"')
  [ "$complete" = --until ] || fail "bash completes run --unt to \"$complete\""
  complete=$(bash -c 'source completion.bash; COMP_WORDS=(scree solve --law a); COMP_CWORD=3; _scree; echo "${COMPREPLY[*]}"')
  [ "$complete" = associated ] || fail "bash completes solve --law a to \"$complete\""
  for words in "new hea:heap" "examples dominoe:dominoes" "solve -s lem:lemke" "race --solver lem:lemke" "solvers spg:spg" "help pict:picture"; do
    complete=$(bash -c "source completion.bash; COMP_WORDS=(scree ${words%:*}); COMP_CWORD=$(wc -w <<< "${words%:*}"); _scree; echo \"\${COMPREPLY[*]}\"")
    [ "$complete" = "${words#*:}" ] || fail "bash completes ${words%:*} to \"$complete\""
  done
fi
if command -v fish > /dev/null; then
  for words in "new hea:heap" "examples dominoe:dominoes" "solve -s lem:lemke" "picture --view obl:oblique" "help pict:picture"; do
    complete=$(PATH="$(dirname "$SCREE"):$PATH" HOME=$work fish -c "source completion.fish; complete -C 'scree ${words%:*}'" | cut -f1)
    [ "$complete" = "${words#*:}" ] || fail "fish completes ${words%:*} to \"$complete\""
  done
fi
for words in "heap hopper" "dome dominoes" "fixed-point ipm"; do grep -q "($words\|[( ]$words" completion.zsh || fail "zsh does not complete $words"; done
run 0 "$SCREE" manual
out ".TH SCREE 1"
out '.SS "scree run '
if command -v man > /dev/null && man --warnings -l "$work/out" > page 2> warnings; then
  [ ! -s warnings ] || fail "manual page: $(head -3 warnings)"
fi
finish

#!/usr/bin/env bash
# Every scene and every command of docs/TUTORIAL.md, in their order. Durations are cut, so that this is a test of
# what is typed, not of the results.
source "$(dirname "$0")/common.bash"
export OMP_NUM_THREADS=1
tutorial=$(cd "$(dirname "$0")/../../docs" && pwd)/TUTORIAL.md
cd "$work" || exit 1
shorten() { sed -i -E 's/(duration: )[0-9.]+/\10.003/; s/(every: )[0-9.]+/\10.001/' "$1"; }

block="" lines=0 commands=0
while IFS= read -r line; do
  case "$line" in
    '```yaml') block=yaml file="" ;;
    '```')
      if [ -z "$block" ]; then
        block=commands
      else
        [ "$block" = yaml ] && [ -n "$file" ] && shorten "$file"
        block=""
      fi
      ;;
    *)
      if [ "$block" = yaml ]; then
        [[ "$line" =~ ^#\ ([a-z]+\.yaml)$ ]] && file=${BASH_REMATCH[1]} && : > "$file"
        [ -n "$file" ] && printf '%s\n' "$line" >> "$file" && lines=$((lines + 1))
      elif [ "$block" = commands ]; then
        commands=$((commands + 1))
        line=$(sed -E 's/--until [0-9.]+/--until 0.004/' <<< "$line")
        case "$line" in
          # the page needs the viewer, which tests/cli/report.sh looks at
          "scree report"*) continue ;;
          "scree picture"*) line="$line --software --width 64 --height 64" ;;
          "scree converge"*) line=${line/0.004/0.002} ;;
        esac
        status=0
        eval "\"\$SCREE\" ${line#scree }" > out 2> err < /dev/null || status=$?
        # 1: in so short a time the grains have not settled, the lid begins among them
        [ "$status" -eq 0 ] || { [ "$status" -eq 1 ] && [[ "$line" = *press.yaml* ]]; } ||
          fail "status $status of $line: $(head -c 300 err)"
        [[ "$line" = "scree new cell" ]] && shorten cell.yaml
      fi
      ;;
  esac
done < "$tutorial"
[ "$commands" -ge 20 ] && [ "$lines" -ge 80 ] || fail "only $commands commands and $lines lines of scenes were found"
for image in $(grep -o 'images/[a-z.-]*' "$tutorial"); do
  [ -s "$(dirname "$tutorial")/$image" ] || fail "$image is missing"
done
finish

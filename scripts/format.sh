#!/usr/bin/env bash
# clang-format 14 over our C sources: `--check` (report and fail) or `--fix` (rewrite).
# Other versions lay out some lines differently, so the check is left out, with a message, when
# version 14 is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

tool=""
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 14\.'; then
    tool="$candidate"
    break
  fi
done
if [ -z "$tool" ]; then
  echo "format: left out, clang-format 14 was not found"
  [ "${1:-}" = "--check" ] && exit 0 || exit 1
fi

mapfile -t files < <(find . -path ./build -prune -o -path ./.git -prune -o -name '*.[ch]' -print |
  LC_ALL=C sort)
case "${1:-}" in
--check)
  "$tool" --dry-run -Werror "${files[@]}" || {
    echo "format: run \`make format\`" >&2
    exit 1
  }
  echo "format: ${#files[@]} files in order"
  ;;
--fix) "$tool" -i "${files[@]}" ;;
*)
  echo "usage: $0 --check | --fix" >&2
  exit 2
  ;;
esac

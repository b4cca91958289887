#!/usr/bin/env bash
# clang-format 14 over our C sources: `--check` (report and fail) or `--fix` (rewrite).
# Other versions lay out some lines differently, so both fail when version 14 is not there.
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
  echo "format: clang-format 14 was not found, and the layout cannot be checked without it." >&2
  echo "format: on Debian 12: apt-get install clang-format; elsewhere: pip install clang-format==14.0.6" >&2
  exit 1
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

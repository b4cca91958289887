#!/usr/bin/env bash
# Install into a fresh prefix, build main.c against it through find_package and through pkg-config,
# run both, and look at what the shared library exports.
#   run.sh BUILD CMAKE CC
set -euo pipefail
unset MAKEFLAGS # of the make that may have started the tests
build="$1" cmake="$2" cc="$3"
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
prefix="$work/prefix"

"$cmake" --install "$build" --prefix "$prefix" >/dev/null

"$cmake" -S "$here" -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$work/cmake" >/dev/null
echo "find_package: $("$work/cmake/uses_scree")"

pc="$(find "$prefix" -name scree.pc)"
export PKG_CONFIG_PATH="${pc%/*}"
# shellcheck disable=SC2046 # words are meant to split
"$cc" -std=c17 -Wall -Wextra -Werror $(pkg-config --cflags scree) "$here/main.c" -o "$work/uses_scree" \
  $(pkg-config --libs scree) -lm
export LD_LIBRARY_PATH="${pc%/*}/.."
echo "pkg-config:   $("$work/uses_scree")"

# Each public header stands alone.
for header in "$prefix"/include/scree/*.h; do
  printf '#include <scree/%s>\n' "$(basename "$header")" |
    "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags scree) -x c -
done

# Hidden visibility: only scree_ symbols are to be seen.
library="$(find "$prefix" -name libscree.so)"
foreign="$(nm -D --defined-only "$library" | awk '{ print $NF }' | grep -v '^scree_' || true)"
if [ -n "$foreign" ]; then
  echo "exported without the prefix scree_: $foreign"
  exit 1
fi

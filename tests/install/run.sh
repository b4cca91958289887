#!/usr/bin/env bash
# Install into fresh prefixes, all of it and the first component alone; build a program for each library
# through find_package and through pkg-config, run them; look at what the libraries need and export.
#   run.sh BUILD CMAKE CC
set -euo pipefail
unset MAKEFLAGS # of the make that may have started the tests
build="$1" cmake="$2" cc="$3"
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
prefix="$work/prefix"
fail() {
  echo "$*"
  exit 1
}

"$cmake" --install "$build" --prefix "$prefix" >/dev/null

parts=(solver world scree)
library() { # library <part>: the name without lib and .so
  if [ "$1" = scree ]; then echo scree; else echo "scree-$1"; fi
}
run() { # run <what> <program>: a failure of the program is one of the test
  local said
  said="$("$2" "$work/run-${1// /-}")"
  echo "$1: $said"
}

# find_package, by components; each program needs no library path, and no other library's files.
"$cmake" -S "$here" -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" \
  -DPARTS="solver;world;scree" >/dev/null
"$cmake" --build "$work/cmake" >/dev/null
for part in "${parts[@]}"; do
  run "find_package $part" "$work/cmake/uses_$part"
done

# pkg-config
pc="$(find "$prefix" -name scree.pc)"
export PKG_CONFIG_PATH="${pc%/*}"
lib="$(cd "${pc%/*}/.." && pwd)"
mkdir "$work/pc"
for part in "${parts[@]}"; do
  # shellcheck disable=SC2046 # words are meant to split
  "$cc" -std=c17 -Wall -Wextra -Werror $(pkg-config --cflags "$(library "$part")") "$here/$part.c" \
    -o "$work/pc/uses_$part" $(pkg-config --libs "$(library "$part")") -lm
  LD_LIBRARY_PATH="$lib" run "pkg-config $part" "$work/pc/uses_$part"
done

# The example in C: results, page and VTK files of a world that a program builds and controls.
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Werror $(pkg-config --cflags scree) "$here/../../examples/servo.c" \
  -o "$work/pc/servo" $(pkg-config --libs scree) -lm
(cd "$work" && OMP_NUM_THREADS=1 LD_LIBRARY_PATH="$lib" pc/servo servo-run) | tee "$work/said"
for file in results.h5 telemetry.jsonl report.html vtk/bodies.pvd; do
  [ -s "$work/servo-run/$file" ] || { [ "$file" = report.html ] && grep -q 'no page' "$work/said"; } ||
    fail "servo: $file is missing"
done

# The first two libraries, and what they load, have neither HDF5 nor libyaml.
for part in solver world; do
  loaded="$(LD_LIBRARY_PATH="$lib" ldd "$lib/lib$(library "$part").so"
    readelf -d "$lib/lib$(library "$part").so" | grep NEEDED)"
  if grep -E 'hdf5|yaml|not found' <<<"$loaded"; then fail "lib$(library "$part").so loads the above"; fi
done
readelf -d "$lib/libscree.so" | grep -q hdf5 || fail "libscree.so does not need HDF5: the check is blind"

# The first component alone: its library, its headers, its program; the others are refused.
alone="$work/alone"
"$cmake" --install "$build" --prefix "$alone" --component solver >/dev/null
if find "$alone" -name '*world*' -o -name 'scree.h' | grep .; then fail "these are not of the solver"; fi
"$cmake" -S "$here" -B "$work/solver" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$alone" \
  -DPARTS=solver >/dev/null
"$cmake" --build "$work/solver" >/dev/null
run "component solver" "$work/solver/uses_solver"
if "$cmake" -S "$here" -B "$work/refused" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$alone" \
  "-DPARTS=solver;world" >"$work/log" 2>&1; then
  fail "find_package found a component that is not installed"
fi

# Installed documents have all files that they link to and show.
python3 - "$prefix" << 'PY' || fail "installed documents link to the above, which is not installed"
import glob, os, re, sys
docs = glob.glob(sys.argv[1] + "/share/doc/*")[0]
files = glob.glob(docs + "/**/*.md", recursive=True) + glob.glob(docs + "/**/*.html", recursive=True)
links, dead = 0, []
for file in files:
    text = open(file, encoding="utf-8").read()
    found = re.findall(r'(?:src|href)="([^"]+)"', text)
    if file.endswith(".md"):
        found += re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.S))
    for link in found:
        if re.match(r"[a-z]+:|#", link):
            continue
        links += 1
        if not os.path.exists(os.path.join(os.path.dirname(file), link.split("#")[0])):
            dead.append(f"{os.path.relpath(file, docs)}: {link}")
print("\n".join(dead))
sys.exit(bool(dead) or links < 100)
PY

# Each public header stands alone, in C and, where there is a compiler for it, in C++.
for header in "$prefix"/include/scree/*.h; do
  printf '#include <scree/%s>\n' "$(basename "$header")" >"$work/header.c"
  # shellcheck disable=SC2046
  "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags scree) "$work/header.c"
  # shellcheck disable=SC2046
  if command -v c++ >/dev/null; then
    c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags scree) -x c++ "$work/header.c"
  fi
done

# Exports. Under the public version: functions that headers declare with SCREE_API, each of them, and
# nothing else. Under the private one: what another of the libraries uses, and nothing else.
symbols() { # symbols <option of nm> <file> <version>
  nm -D --with-symbol-versions "$1" "$2" | awk -v v="$3" '{
    n = split($NF, part, "@+"); if (n == 2 && index(part[2], v) == 1) print part[1] }' | sort -u
}
cat "$prefix"/include/scree/*.h | tr '\n' ' ' |
  grep -o 'SCREE_API [^;(]*(' | grep -o 'scree_[a-z0-9_]*($' | tr -d '(' | sort -u >"$work/declared"
for part in "${parts[@]}"; do
  file="$lib/lib$(library "$part").so"
  symbols --defined-only "$file" SCREE_0 >>"$work/public"
  symbols --defined-only "$file" SCREE_PRIVATE >>"$work/private"
  symbols --undefined-only "$file" SCREE_PRIVATE >>"$work/used"
  if nm -D --defined-only "$file" | awk '{ print $NF }' | grep -vE '^(scree_|SCREE_)'; then
    fail "$file exports the above"
  fi
done
for list in public private used; do sort -u -o "$work/$list" "$work/$list"; done
if ! diff "$work/declared" "$work/public" >"$work/difference"; then
  cat "$work/difference"
  fail "< declared in a public header but not exported, > exported but not declared (SCREE_PRIVATE?)"
fi
if ! diff "$work/private" "$work/used" >"$work/difference"; then
  cat "$work/difference"
  fail "< private, but used by no other library (cmake/exports-*.map)"
fi

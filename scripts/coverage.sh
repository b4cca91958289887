#!/usr/bin/env bash
# Build with counters, run the tests, print lines and branches by folder, write pages.
#   scripts/coverage.sh BUILD JOBS
# A test that fails is reported and does not stop the count: its lines were executed all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
build="$1" jobs="$2"
if ! command -v gcovr >/dev/null; then
  echo "coverage: gcovr was not found. On Debian: apt-get install gcovr" >&2
  exit 1
fi
failed=""
find "$build" -name '*.gcda' -delete
cmake --build "$build" -j "$jobs" -- -k || failed="some targets do not build"
ctest --test-dir "$build" -j "$jobs" --output-on-failure || failed="${failed:+$failed, }some tests fail"

mkdir -p "$build/html"
# gcov writes some counts of branches that are optimised away as negative numbers
gcovr --root . --object-directory "$build" -j "$jobs" --filter 'src/' --filter 'cli/' \
  --gcov-ignore-parse-errors --exclude-throw-branches --html-details "$build/html/index.html" \
  --json-summary "$build/summary.json" --html-title scree >/dev/null
python3 - "$build/summary.json" <<'PY'
import collections, json, os, sys

total = collections.defaultdict(lambda: [0, 0, 0, 0])
for file in json.load(open(sys.argv[1]))["files"]:
    for folder in (os.path.dirname(file["filename"]), "all"):
        row = total[folder]
        row[0] += file["line_covered"]
        row[1] += file["line_total"]
        row[2] += file["branch_covered"]
        row[3] += file["branch_total"]
print("%-16s %8s %7s %9s %7s" % ("folder", "lines", "%", "branches", "%"))
for folder in sorted(total, key=lambda name: (name == "all", name)):
    lines, of_lines, branches, of_branches = total[folder]
    print("%-16s %8d %6.1f%% %9d %6.1f%%" % (folder, of_lines, 100.0 * lines / max(of_lines, 1),
                                            of_branches, 100.0 * branches / max(of_branches, 1)))
PY
echo "coverage: pages in $build/html/index.html"
[ -z "$failed" ] || echo "coverage: $failed, so that this counts too little" >&2

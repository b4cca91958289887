#!/usr/bin/env bash
# Remake docs/VALIDATION.md and its pictures from one run of all cases of `scree bench`.
#   scripts/validation.sh                 everything in full: hours
#   scripts/validation.sh --limit 60      rows of long cases stop after 60 s of computing
#   scripts/validation.sh --quick         short variants: minutes
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scree=${SCREE:-$root/build/scree}
[ -x "$scree" ] || { echo "validation: $scree is not there; run make first, or set SCREE" >&2; exit 2; }
cd "$root"
"$scree" bench "$@" -o docs/validation --markdown docs/VALIDATION.md
# the large scenes of scripts/truth.py, which are not made again here
{ echo; cat docs/validation/truth.md; } >> docs/VALIDATION.md

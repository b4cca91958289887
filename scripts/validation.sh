#!/usr/bin/env bash
# Measure cases of `scree bench` and put their sections and pictures into docs/VALIDATION.md; the
# sections of other cases stay as they are. Each section says when it was measured.
#   scripts/validation.sh                       every case in full: a day
#   scripts/validation.sh descent-four          one case
#   scripts/validation.sh --limit 60 pdas-drum  rows of long cases stop after 60 s of computing
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scree=${SCREE:-$root/build/scree}
[ -x "$scree" ] || { echo "validation: $scree is not there; run make first, or set SCREE" >&2; exit 2; }
cd "$root"
measured="$(mktemp)"
trap 'rm -f "$measured"' EXIT
"$scree" bench "$@" -o docs/validation --markdown "$measured"
python3 - "$measured" docs/VALIDATION.md docs/validation/truth.md <<'PY'
import re, sys, time

def read(path):
    """The text before the first section, and the sections by their headings, in order."""
    head, *parts = re.split(r"(?m)^(?=## )", open(path).read())
    return head, {part.split("\n", 1)[0]: part.rstrip("\n") + "\n" for part in parts}

_, new = read(sys.argv[1])
head, sections = read(sys.argv[2])
for heading, text in new.items():
    lines = text.split("\n")  # heading, empty, description, empty, table
    lines.insert(3, "Measured on %s." % time.strftime("%Y-%m-%d"))
    sections[heading] = "\n".join(lines)
sections.update(read(sys.argv[3])[1])  # the large scenes of scripts/truth.py
open(sys.argv[2], "w").write(head + "\n".join(sections.values()))
PY

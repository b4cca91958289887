#!/usr/bin/env bash
# scree bench: the figures that must come out exactly, JSON, plots, the document, statuses.
source "$(dirname "$0")/common.bash"

# figure ROW QUANTITY VALUE: the last run measured it
figure() {
  grep -qF -- "\"row\": \"$1\", \"quantity\": \"$2\", \"published\": $3, \"measured\": $4}" "$work/out" ||
    fail "$1 $2: expected $4, got $(grep -F -- "\"row\": \"$1\", \"quantity\": \"$2\"" "$work/out")"
}

run 0 "$SCREE" bench --list
for case in pdas-belt pdas-drum-ball pdas-sedimentation pdas-drum descent-ball descent-four \
  descent-500 descent-rho convex-gradients convex-plane convex-box convex-collapse \
  convex-ellipses pqn-drum; do
  out "$case"
done

# 001 Table I and 003 Table 1, as printed
run 0 "$SCREE" bench descent-ball convex-gradients --json -o "$work/plots"
figure sbp iterations_last 18 18
figure sal iterations_last 18 18
figure ebp iterations_last 1 1
figure eal iterations_last 1 1
figure pgd iterations_1e-9 2926 2926
figure apgd iterations_1e-3 68 68
grep -q "</svg>" "$work/plots/descent-ball-convergence.svg" || fail "no plot"

# 000 Table 3: sal between 30 and 40
run 0 "$SCREE" bench pdas-drum-ball --quick --json
figure epdas iterations 3 3
figure ipdas iterations 3 3
figure ibp iterations 2 2
grep -qE '"row": "sal", "quantity": "iterations", "published": 35, "measured": (3[0-9]|40)\}' "$work/out" ||
  fail "sal: $(grep '"sal"' "$work/out")"

# 003 section 3.2: first order
run 0 "$SCREE" bench convex-plane --quick --json
python3 - "$work/out" << 'PY' || fail "convex-plane: $(grep order "$work/out")"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
orders = {r["row"]: r["measured"] for r in rows if r["quantity"] == "order_x"}
gaps = {r["row"]: r["measured"] for r in rows if r["quantity"] == "gap"}
assert len(orders) == 6 and all(0.9 < o < 1.2 for o in orders.values())
assert gaps["convex-mu0.1"] > 5e-3 and abs(gaps["fixed-mu0.1"]) < 1e-6
PY

# 004 section 8.1, the first steps: all solve, and nothing escapes
run 0 "$SCREE" bench pqn-drum --quick --json
python3 - "$work/out" << 'PY' || fail "pqn-drum: $(cat "$work/out")"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
value = {(r["row"], r["quantity"]): r["measured"] for r in rows}
for body in "rigid-ellipsoids", "pseudo-ellipsoids", "rigid-spheres", "pseudo-spheres":
    for solver in "pqn", "nlgs", "auto":
        row = f"{body}-{solver}"
        assert value[row, "diverged"] == 0 and 0 < value[row, "iterations_per_step"] < 100, row
        assert value[row, "penetration_max"] < (0.01 if solver == "auto" else 0.1), row
        assert value[row, "seconds"] > 0 and 0 < value[row, "solver_ratio"] < 1, row
PY

# some rows only; the document
run 0 "$SCREE" bench pdas-sedimentation --quick --only auto/100 -o "$work/pictures" \
  --markdown "$work/doc.md"
out "auto/100"
! grep -q "epdas/100" "$work/out" || fail "--only did not choose"
grep -q '| auto/100 | seconds |' "$work/doc.md" || fail "document: $(cat "$work/doc.md")"
grep -q '](pictures/pdas-sedimentation-seconds-100.svg)' "$work/doc.md" || fail "no picture"

run 2 "$SCREE" bench descent-bal
err "did you mean descent-ball?"
run 3 "$SCREE" bench descent-ball --markdown "$work/absent/doc.md"

finish

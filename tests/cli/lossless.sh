#!/usr/bin/env bash
# Disks that bounce without friction or loss keep their energy at the automatic step, of which those that cover much
# of their box need a shorter one; for a single ball it stays.
source "$(dirname "$0")/common.bash"
export OMP_NUM_THREADS=1
cd "$work" || exit 1

{
  echo 'dimension: 2'
  echo 'gravity: [0, 0]'
  echo 'contact: { mu: 0, e_n: 1 }'
  echo 'obstacles:'
  for wall in '[0, 0], normal: [1, 0]' '[1, 0], normal: [-1, 0]' '[0, 0], normal: [0, 1]' '[0, 1], normal: [0, -1]'; do
    echo "  - { shape: { kind: half-plane }, position: $wall }"
  done
  echo 'bodies:'
  awk 'BEGIN { for (k = 0; k < 100; ++k)
    printf "  - { shape: { kind: disk, radius: 0.03 }, position: [%g, %g], velocity: [%.6f, %.6f] }\n",
           0.05 + 0.1 * (k % 10), 0.05 + 0.1 * int(k / 10), cos(2.4 * k), sin(2.4 * k) }'
  echo 'time: { duration: 1 }'
} > gas.yaml
run 0 "$SCREE" run gas.yaml -o gas --json
kept=$(awk -F'"kinetic": ' '{ split($2, part, ","); if (NR == 1) first = part[1]; last = part[1] } END { printf "%.4f", last / first }' gas/telemetry.jsonl)
echo "the gas keeps $kept of its energy"
awk -v kept="$kept" 'BEGIN { exit !(kept > 0.97 && kept < 1.001) }' || fail "the gas keeps $kept of its energy"

# ---- only where several bodies bounce ----
cat > ball.yaml << 'END'
dimension: 2
contact: { e_n: 1 }
obstacles: [ { shape: { kind: half-plane } } ]
bodies: [ { shape: { kind: disk, radius: 0.05 }, position: [0, 0.05], velocity: [5, 5] } ]
time: { duration: 1 }
END
run 0 "$SCREE" check ball.yaml
out "708 steps"
sed 's/^bodies: \[/&{ shape: { kind: disk, radius: 0.05 }, position: [3, 0.05], velocity: [5, 5] },/' ball.yaml > two.yaml
run 0 "$SCREE" check two.yaml
out "3536 steps"
run 0 "$SCREE" check two.yaml --set contact.e_n=0.9
out "708 steps"

finish

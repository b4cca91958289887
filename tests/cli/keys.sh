#!/usr/bin/env bash
# The examples are valid under the JSON Schema and use every key and choice that scenes have, and the
# reference explains every key.
source "$(dirname "$0")/common.bash"
python3 -c 'import yaml, jsonschema' 2> /dev/null || { echo "python3-yaml and python3-jsonschema are missing"; exit 77; }
cd "$SCREE_SOURCE" || exit 1
run 0 "$SCREE" check --schema
cp "$work/out" "$work/schema.json"
run 0 python3 scripts/keys.py "$work/schema.json" --reference docs/SCENES.md examples/*.yaml examples/parts/*.yaml
out "0 in no example"
out "0 keys not in the reference"
# The examples of the reference, each a part of a scene, are valid, too.
awk -v folder="$work" '/^```yaml$/ { file = folder "/part" ++n ".yaml"; next } /^```$/ { file = "" } file { print > file }' \
  docs/SCENES.md
[ -s "$work/part20.yaml" ] || fail "the reference has fewer than 20 examples"
run 0 python3 scripts/keys.py "$work/schema.json" examples/*.yaml cli/new/*.yaml bench/scenes/*.yaml "$work"/part*.yaml
sed -i 's/radius/radios/' "$work/part1.yaml"
run 1 python3 scripts/keys.py "$work/schema.json" examples/*.yaml "$work/part1.yaml"
out "part1.yaml"
sed '/^## Index of keys/,$s/\[joints.motor\]/[joints]/' docs/SCENES.md > "$work/SCENES.md"
run 1 python3 scripts/keys.py "$work/schema.json" --reference "$work/SCENES.md" examples/*.yaml examples/parts/*.yaml
out "motor.velocity"
run 1 python3 scripts/keys.py "$work/schema.json" examples/drum.yaml
out "generators[].kind: pack"

# A box in 2D is a polygon, with the messages of a box.
cd "$work" || exit 1
cat > box.yaml << 'YAML'
dimension: 2
obstacles: [{ shape: { kind: half-plane } }]
bodies: [{ name: block, shape: { kind: box, half_x: 0.2, half_y: 0.1 }, position: [0, 0.1] }]
time: { duration: 0.1 }
YAML
run 0 "$SCREE" check box.yaml --show
out "kind: polygon"
run 2 "$SCREE" check box.yaml --set 'bodies[0].shape={ kind: box, half_x: 0.2 }'
err "half_y is missing"
run 2 "$SCREE" check box.yaml --set 'bodies[0].shape={ kind: box, half_x: 0.2, half_y: 0.1, half_z: 1 }'
err 'unknown key "half_z"'
finish

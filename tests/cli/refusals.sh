#!/usr/bin/env bash
# Laws, joints, bonds, plates, cells and their sensors that make no sense: `scree check` refuses each with status 2, the
# place in the file, and a message that says what was found or expected.
source "$(dirname "$0")/common.bash"
cd "$work" || exit 1

printf '%s\n' 'materials: { stone: {}, wood: {} }' 'dimension: 2' \
  'bodies:' \
  '  - { name: a, shape: { kind: disk, radius: 0.1 }, position: [0, 0.1] }' \
  '  - { name: b, shape: { kind: disk, radius: 0.1 }, position: [0, 0.3] }' \
  'obstacles: [{ name: ground, shape: { kind: half-plane } }]' > base-2
sed -e 's/dimension: 2/dimension: 3/; s/disk/sphere/; s/\[0, 0/[0, 0, 0/; s/half-plane/half-space/' base-2 > base-3

# refused DIMENSION MESSAGE LINE...: the base scene with these lines is refused.
refused() {
  local dimension=$1 message=$2
  shift 2
  { cat "base-$dimension"; printf '%s\n' "$@"; } > case.yaml
  run 2 "$SCREE" check case.yaml
  err "$message"
  grep -qE 'case\.yaml:[0-9]+:[0-9]+: ' "$work/err" || fail "no place: $* ($(cat "$work/err"))"
}
joint() { refused "$1" "$2" 'joints:' "  - { $3 }"; }

run 0 "$SCREE" check base-2
run 0 "$SCREE" check base-3

# ---- contact ----
refused 2 'contact.mu: found "-0.3", expected a number >= 0' \
  'contact: { mu: -0.3 }'
refused 2 'contact.mu: found "0/0", expected a number >= 0' \
  'contact: { mu: 0/0 }'
refused 2 'contact.e_n: found "2", expected a number from 0 to 1' \
  'contact: { e_n: 2 }'
refused 2 'contact.law: unknown value "hertz", expected one of: coulomb,' \
  'contact: { law: hertz }'
refused 2 'contact: found compliance_n, which the law coulomb does not have, and no' \
  'contact: { compliance_n: 1e-6 }'
refused 2 'contact.compliance_n: found "-1e-6", expected a number >= 0' \
  'contact: { law: compliant, compliance_n: -1e-6 }'
refused 2 'law compliant: modulus and compliances both give the stiffness, expected' \
  'contact: { law: compliant, compliance_n: 1e-6, modulus: 1e6 }'
refused 2 'law compliant: cohesion and ball are two yield surfaces, expected one of' \
  'contact: { law: compliant, compliance_n: 1e-6, cohesion: 1, ball: 1 }'
refused 2 'law compliant: break_at without a strength in tension, expected cohesion' \
  'contact: { law: compliant, compliance_n: 1e-6, break_at: 1e-4 }'
refused 2 'law compliant: stress without a strength, expected cohesion, ball or cap' \
  'contact: { law: compliant, compliance_n: 1e-6, stress: 1 }'
refused 2 'law compliant: stress is neither 0 nor 1, expected one of them' \
  'contact: { law: compliant, ball: 1, stress: 0.5 }'
refused 2 'contact.damping: found "-1", expected a number >= 0' \
  'contact: { law: compliant, compliance_n: 1e-6, damping: -1 }'
refused 2 'law compliant: ratio without a modulus, expected both, or compliance_t' \
  'contact: { law: compliant, compliance_n: 1e-6, ratio: 0.5 }'
refused 2 'contact.cohesion: found "-3", expected a number >= 0' \
  'contact: { law: cohesive, mu: 0.5, cohesion: -3 }'
refused 2 'contact.rebond: found "7", expected a number from 0 to 1' \
  'contact: { law: cohesive, cohesion: 1, rebond: 7 }'
refused 2 'law compliant: resistance to rolling is built on the plain cone, expected' \
  'contact: { law: compliant, ball: 1, rolling: 0.1 }'
refused 2 'contact.rolling: found "-0.1", expected a number >= 0' \
  'contact: { rolling: -0.1 }'
refused 2 'found spinning: 0.1 in 2D, where bodies do not turn about the normal; expected 0' \
  'contact: { spinning: 0.1 }'
refused 2 'law coulomb: dilatancy is 0.5 with the flow coulomb, expected 1, or the' \
  'contact: { dilatancy: 0.5 }'
refused 2 'law compliant: found scheme moreau-jean-closed, expected one that looks' \
  'contact: { law: compliant, compliance_n: 1e-6 }' 'time: { scheme: moreau-jean-closed }'
refused 2 'solver.name: lemke cannot solve this scene: it does not support contacts' \
  'contact: { rolling: 0.1 }' 'solver: { name: lemke }'

# ---- pairs ----
refused 2 'unknown material "glass", expected a name of `materials`' \
  'pairs:' '  - { between: [stone, glass], mu: 0.1 }'

refused 2 'found compliance_n, which the law coulomb does not have, and no law; expected the key law' \
  'pairs:' '  - { between: [stone, wood], compliance_n: 1e-6 }'

# ---- joints ----
joint 2 'joints[0]: ball exists in 3D only' \
  'kind: ball, bodies: [a, b], anchor: [0, 0.2]'
joint 3 'joints[0]: axis is missing (direction of the axis, of any length)' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0, 0.2]'
joint 3 'joint: axis of a hinge is zero, expected a direction' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0, 0.2], axis: [0, 0, 0]'
joint 2 'joints[0]: key "axis" exists in 3D only, the scene is 2D' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], axis: [0, 1]'
joint 2 'joint: body 1 with itself, expected two bodies' \
  'kind: hinge, bodies: [a, a], anchor: [0, 0.2]'
joint 2 'no body or obstacle is named "c", nor is it a number from 0 to 2' \
  'kind: hinge, bodies: [a, c], anchor: [0, 0.2]'
joint 2 'joint: neither of the bodies 0 and -1 can move, expected one that does' \
  'kind: hinge, bodies: [ground, world], anchor: [0, 0.2]'
joint 2 'joint: stops of a hinge at 1 and -1, expected lower <= upper' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], lower: 1, upper: -1'
joint 2 'found a stop at 1, beyond which the joint begins, at 0: expected a start' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], lower: 1, upper: 2'
joint 2 'joints[0].restitution: found "3", expected a number from 0 to 1' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], upper: 1, restitution: 3'
joint 2 'joint: restitution of a hinge is 0.5 without a stop, expected lower or' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], restitution: 0.5'
joint 2 'joints[0].friction: found "-1", expected a number >= 0 [N m]' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], friction: -1'
joint 2 'joints[0].stiffness: found "-1", expected a number >= 0 [N/m]' \
  'kind: spring, bodies: [a, b], from: [0, 0.1], to: [0, 0.3], stiffness: -1'
joint 2 'found a rest without a spring, expected a stiffness too' \
  'kind: spring, bodies: [a, b], from: [0, 0.1], to: [0, 0.3], rest: 0.1'
joint 2 'joint: rest of a spring is -0.1, expected a length >= 0' \
  'kind: spring, bodies: [a, b], from: [0, 0.1], to: [0, 0.3], stiffness: 10, rest: -0.1'
joint 2 'joint: the two anchors of a distance are at one point, expected a distance' \
  'kind: distance, bodies: [a, b], from: [0, 0.2], to: [0, 0.2]'
joint 3 'joint: the axes of a universal are not at right angles (sine 0), expected' \
  'kind: universal, bodies: [a, b], anchor: [0, 0, 0.2], axis: [0, 0, 1], axis2: [0, 0, 2]'
joint 3 'joint: the axes of a universal are not at right angles (sine 0.707107),' \
  'kind: universal, bodies: [a, b], anchor: [0, 0, 0.2], axis: [0, 0, 1], axis2: [0, 1, 1]'
joint 2 'expected velocity or position, one of them' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], motor: { velocity: 1, position: 0 }'
joint 2 'expected velocity or position, one of them' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], motor: { force: 3 }'
joint 2 'joints[0].motor.force: found "-3", expected a number >= 0 [N, N m]' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], motor: { velocity: 1, force: -3 }'
joint 2 'found 0.5 at the start, where the joint is at 0: without a limit the motor' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], motor: { position: 0.5 }'
joint 2 'this motor has no limit of force and passes the stop of its joint at 0.3 at t =' \
  'kind: hinge, bodies: [a, b], anchor: [0, 0.2], upper: 0.3, motor: { velocity: 1 }'
joint 2 'joints[0]: unknown key "motor", expected one of: kind, name, bodies,' \
  'kind: fixed, bodies: [a, b], anchor: [0, 0.2], motor: { velocity: 1 }'

# ---- bonds ----
refused 2 'bonds[0].tension: found "-3", expected a number > 0 [N, Pa]' \
  'bonds:' '  - { tension: -3 }'
refused 2 'a strength without `tension`: expected tension too' \
  'bonds:' '  - { shear: 3 }'
refused 2 'bonds[0]: key "torsion" exists in 3D only, the scene is 2D' \
  'bonds:' '  - { tension: 3, torsion: 1 }'
refused 2 'no body has a name like "x-*"' \
  'bonds:' '  - { between: ["x-*", "y-*"], tension: 1 }'
refused 2 'no two of these bodies touch (gap at most 0.001 of the smaller one), or' \
  'bonds:' '  - { between: [b, ground], tension: 1 }'
refused 2 'bonds[0].width: found "0", expected a number > 0' \
  'bonds:' '  - { tension: 1, width: 0 }'
refused 2 'found stress without strengths, expected a tension' \
  'bonds:' '  - { stress: true }'

# ---- joints ----
joint 2 'joints[0]: axis is missing (normal of the section, from the second body to' \
  'kind: bond, bodies: [a, b], anchor: [0, 0.2], tension: 1, shear: 1'

# ---- plates ----
refused 2 'expected pressure or force, not both' \
  'plates:' '  - { name: p, point: [0, 0.5], normal: [0, -1], length: 1, pressure: 3, force: 2 }'
refused 2 'expected pressure, force or velocity, one of them, or a load and then a' \
  'plates:' '  - { name: p, point: [0, 0.5], normal: [0, -1], length: 1 }'
refused 2 'normal: expected a vector other than zero' \
  'plates:' '  - { name: p, point: [0, 0.5], normal: [0, 0], length: 1, pressure: 3 }'
refused 2 'the first plate does not face the second at the start: -0.1 m along its' \
  'plates:' '  - { name: p, point: [0, 0.5], normal: [0, -1], length: 1, pressure: 3, between: [p, p] }'

# ---- cell ----
refused 2 'found a side of 0.15 m, and a, which is 0.2 m wide and would be inside its own image' \
  'cell: { size: [0.15, 1] }'
refused 2 'size: found -1 along x, expected a length, or 0' \
  'cell: { size: [-1, 1] }'
refused 2 'size: found no side, expected a length along some axis' \
  'cell: { size: [0, 0] }'
refused 2 'cell: a pressure needs the stress of the cell, expected a cell that is' \
  'cell: { size: [1, 0], pressure_x: 100 }'
refused 2 'found a pressure along x and a gradient of 1 along it, expected one of' \
  'cell: { size: [1, 1], pressure_x: 100, gradient_x: [1, 0] }'
refused 2 'cell: velocity gradient along side 1 at t = 0 s, expected 0: the cell does' \
  'cell: { size: [1, 0], gradient_y: [0, 1] }'

# ---- sensors ----
refused 2 'no joint is named "knee"' \
  'sensors:' '  - { kind: joint_force, name: f, joint: knee }'

# ---- joints ----
refused 3 'found a ball, which has no free coordinate for a joint_position; expected' \
  'joints:' '  - { kind: ball, name: k, bodies: [a, b], anchor: [0, 0, 0.2] }' 'sensors:' '  - { kind: joint_position, name: f, joint: k }'

# ---- sensors ----
refused 2 'no entry of bonds is named "glue"' \
  'sensors:' '  - { kind: bonds_broken, name: f, bonds: glue }'
refused 2 'the scene has no cell: expected one with the key cell' \
  'sensors:' '  - { kind: cell_stress, name: f }'

# ---- accepted ----
# parameters of another law than the one that is named, to try a scene with another law
{ cat base-2; echo 'contact: { law: frictionless, mu: 0.3, compliance_n: 1e-6 }'; } > case.yaml
run 0 "$SCREE" check case.yaml
{ cat base-2; printf '%s\n' 'contact: { mu: 0.5 }' 'pairs:' '  - { between: [stone, wood], mu: 0.3 }'; } > case.yaml
run 0 "$SCREE" check case.yaml --set contact.law=frictionless
# a joint at its stop, and the rate of its coordinate
{
  cat base-2
  printf '%s\n' 'joints:' '  - { kind: hinge, name: k, bodies: [a, b], anchor: [0, 0.2], lower: 0, upper: 1 }' \
    'sensors:' '  - { kind: joint_position, name: rate, joint: k, gives: rate }'
} > case.yaml
run 0 "$SCREE" check case.yaml

finish

// Colours, and forces and arms of contacts. The numbers that colours show are in fields.js.

import { short } from './format.js';

// Samples of a perceptually uniform colour map (blue, green, yellow), interpolated. Its dark end is
// left out, so that the shapes of bodies at rest stay visible.
const SCALE = [
  [64, 67, 135], [52, 94, 141], [41, 120, 142], [32, 144, 140], [34, 167, 132],
  [68, 190, 112], [121, 209, 81], [189, 222, 38], [253, 231, 37],
];
// Distinguishable with red-green colour blindness.
export const CATEGORIES = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167],
  [86, 180, 233], [213, 94, 0], [240, 228, 66], [130, 130, 130],
];
// The colour that the scene gives a material, or a default one.
export function materialColour(meta, material) {
  return meta.materialColours?.[material] || CATEGORIES[material % CATEGORIES.length];
}
export const STATUS = [
  { name: 'open', colour: [150, 150, 150] },
  { name: 'sticking', colour: [0, 114, 178] },
  { name: 'sliding', colour: [213, 94, 0] },
];

// About zero: blue below, red above, pale between.
const SIGNED = [[33, 82, 163], [79, 143, 203], [158, 199, 226], [229, 229, 229], [241, 182, 150], [216, 104, 78], [168, 26, 46]];

function table(scale) {
  const made = new Float32Array(3 * 257);
  for (let i = 0; i <= 256; ++i) {
    const s = (i / 256) * (scale.length - 1), k = Math.min(Math.floor(s), scale.length - 2);
    for (let c = 0; c < 3; ++c) made[3 * i + c] = scale[k][c] + (s - k) * (scale[k + 1][c] - scale[k][c]);
  }
  return made;
}
const TABLE = table(SCALE), SIGNED_TABLE = table(SIGNED);
export function scaleColour(x, out, at, scaling = 'run') {
  const i = 3 * Math.round(256 * (x > 0 ? (x < 1 ? x : 1) : 0)), from = scaling === 'symmetric' ? SIGNED_TABLE : TABLE;
  out[at] = from[i];
  out[at + 1] = from[i + 1];
  out[at + 2] = from[i + 2];
}
export const scaleGradient = (scaling) => {
  const scale = scaling === 'symmetric' ? SIGNED : SCALE;
  return `linear-gradient(90deg, ${scale.map((c, k) => `rgb(${c}) ${((100 * k) / (scale.length - 1)).toFixed(1)}%`).join(', ')})`;
};

export function contactNormal(contacts, c, out, run, frame) {
  if (contacts.normal) {
    for (let i = 0; i < 3; ++i) out[i] = contacts.normal.at(0, i, c);
  } else {
    // Left out of a compact page for round bodies: the normal is along the arm.
    const a = contacts.a.at(0, 0, c), b = contacts.b.at(0, 0, c);
    const fromB = run.fixed.obstacle.at(0, 0, a);
    contactArm(run, contacts, frame, c, fromB ? b : a, out);
    const size = (fromB ? 1 : -1) * Math.hypot(...out) || 1;
    for (let i = 0; i < 3; ++i) out[i] /= size;
  }
  const size = Math.hypot(...out) || 1;
  for (let i = 0; i < 3; ++i) out[i] /= size;
}

// Impulse on body a, in the world's axes. A compact page has the normal part alone.
export function contactForce(run, contacts, frame, c, out) {
  if (contacts.impulse) {
    for (let i = 0; i < 3; ++i) out[i] = contacts.impulse.at(0, i, c);
  } else {
    contactNormal(contacts, c, out, run, frame);
    const rn = contacts.r.at(0, 0, c);
    for (let i = 0; i < 3; ++i) out[i] *= rn;
  }
}

// From the centre of a body to the contact.
export function contactArm(run, contacts, frame, c, body, out) {
  if (contacts.position) {
    const p = frame.columns.position;
    for (let i = 0; i < 3; ++i) out[i] = contacts.position.at(0, i, c) - p.at(frame.f, i, body);
    return;
  }
  const a = contacts.a.at(0, 0, c), b = contacts.b.at(0, 0, c);
  const holder = run.fixed.obstacle.at(0, 0, a) ? b : a;
  const size = run.fixed.radius.at(0, 0, holder), p = frame.columns.position;
  for (let i = 0; i < 3; ++i) {
    out[i] = contacts.arm.at(0, i, c) * size;
    if (body !== holder) out[i] += p.at(frame.f, i, holder) - p.at(frame.f, i, body);
  }
}

// ---- how values become colours ----
// Linear over the range of the run; logarithmic over the four decades below its upper end; from the 2nd
// to the 98th percentile of the frame that is shown; symmetric about zero. A scene at rest shows
// differences with the last three.
export const SCALINGS = [['run', 'range of the run'], ['log', 'logarithmic'], ['frame', 'percentiles of the frame'], ['symmetric', 'symmetric about zero']];
const DECADES = 4;

// The ends of the scale for the values of a frame.
export function scalingRange(scaling, range, values, obstacle) {
  const largest = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  if (scaling === 'log') return [largest * 10 ** -DECADES, largest];
  if (scaling === 'symmetric') return [-largest, largest];
  if (scaling !== 'frame') return range;
  const sorted = Float64Array.from(values).filter((v, i) => !obstacle[i] && Number.isFinite(v)).sort();
  if (!sorted.length) return range;
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const low = at(0.02), high = at(0.98);
  return high > low ? [low, high] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2 || 1];
}
// What the legend says at the ends of the scale: values beyond an end have its colour. Ranges of the run leave out the
// highest hundredth (fieldRange), unless the field is still or begins at its lowest value.
export function scaleEnds(field, scaling, range) {
  const cut = !(field.still || field.low), low = scaling === 'log' || scaling === 'frame' || (cut && range[0] < 0);
  return [(low ? '\u2264 ' : '') + short(range[0]), (cut || scaling === 'frame' ? '\u2265 ' : '') + short(range[1])];
}
// The place on the scale of a value, from 0 to 1, as a function.
export function scalePositions(scaling, [low, high]) {
  const per = 1 / (scaling === 'log' ? Math.log(high / low) : high - low);
  if (scaling !== 'log') return (value) => (value - low) * per;
  const least = Math.log(low);
  return (value) => (Math.log(Math.max(Math.abs(value), 1e-300)) - least) * per;
}
// No colouring yet.
export const NOTHING = { id: '', name: '', unit: '', category: true, compute: () => true };

// Colours of bodies. A colouring gives each body a number in [0, 1] on a scale, or a category.

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

const TABLE = new Float32Array(3 * 257);
for (let i = 0; i <= 256; ++i) {
  const s = (i / 256) * (SCALE.length - 1), k = Math.min(Math.floor(s), SCALE.length - 2);
  for (let c = 0; c < 3; ++c) TABLE[3 * i + c] = SCALE[k][c] + (s - k) * (SCALE[k + 1][c] - SCALE[k][c]);
}
export function scaleColour(x, out, at) {
  const i = 3 * Math.round(256 * (x > 0 ? (x < 1 ? x : 1) : 0));
  out[at] = TABLE[i];
  out[at + 1] = TABLE[i + 1];
  out[at + 2] = TABLE[i + 2];
}
export const scaleGradient = () =>
  `linear-gradient(90deg, ${SCALE.map((c, k) => `rgb(${c}) ${((100 * k) / (SCALE.length - 1)).toFixed(1)}%`).join(', ')})`;

function length(columns, name, f, n, out) {
  const column = columns[name], part = new Float64Array(n);
  out.fill(0, 0, n);
  for (let c = 0; c < column.comps; ++c) {
    column.unpack(f, c, part, 0, 1);
    for (let i = 0; i < n; ++i) out[i] = part[i] ? Math.hypot(out[i], part[i]) : out[i];
  }
}

// Speeds and spins come as vectors, or, in a page made compact, as their lengths.
function magnitude(vectorName, lengthName) {
  return (run, k, out) => {
    const frame = run.peek(k);
    if (!frame) return false;
    const { columns, f } = frame;
    if (columns[vectorName]) length(columns, vectorName, f, columns[vectorName].count, out);
    else if (columns[lengthName]) columns[lengthName].unpack(f, 0, out, 0, 1);
    else return false;
    return true;
  };
}

// Mean stress of a body from its contacts: -(1/V) sum f . arm, over d; compression is positive here.
// Contacts and bodies are taken from one frame: the nearest that has contacts.
export function pressure(run, k, out) {
  const from = run.contactFrame(k);
  out.fill(0);
  if (from < 0) return true;
  const frame = run.peek(from), contacts = run.peekContacts(k);
  if (!frame || !contacts) return false;
  const d = run.meta.dimension;
  const arm = [0, 0, 0], force = [0, 0, 0];
  for (let c = 0; c < contacts.a.count; ++c) {
    contactForce(run, contacts, frame, c, force);
    for (const side of [0, 1]) {
      const body = contacts[side ? 'b' : 'a'].at(0, 0, c);
      contactArm(run, contacts, frame, c, body, arm);
      const dot = force[0] * arm[0] + force[1] * arm[1] + force[2] * arm[2];
      out[body] -= (side ? -dot : dot) / (d * run.fixed.volume.at(0, 0, body) * run.meta.h);
    }
  }
  for (let i = 0; i < out.length; ++i) if (!Number.isFinite(out[i])) out[i] = 0;
  return true;
}

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

export const COLOURINGS = [
  { id: 'velocity', name: 'velocity', unit: 'm/s', compute: magnitude('velocity', 'speed') },
  { id: 'angular', name: 'angular velocity', unit: 'rad/s', compute: magnitude('angular', 'spin') },
  { id: 'size', name: 'size', unit: 'm', still: true, compute: (run, k, out) => (run.fixed.size.unpack(0, 0, out, 0, 1), true) },
  { id: 'material', name: 'material', category: true, still: true, compute: (run, k, out) => (run.fixed.material.unpack(0, 0, out, 0, 1), true) },
  { id: 'id', name: 'body number', category: true, still: true, compute: (run, k, out) => (out.forEach((_, i) => (out[i] = i)), true) },
  { id: 'stress', name: 'stress (mean pressure)', unit: 'Pa', compute: pressure },
];

// How values become colours: linear over the range of the run, logarithmic over four decades below its
// upper end (a scene at rest still shows differences), or by the percentiles of the frame that is shown.
export const SCALINGS = [['run', 'range of the run'], ['log', 'logarithmic'], ['frame', 'range of the frame']];
const DECADES = 4;

// The ends of the scale for the values of a frame.
export function scalingRange(scaling, range, values, obstacle) {
  if (scaling === 'log') return [range[1] * 10 ** -DECADES, range[1]];
  if (scaling !== 'frame') return range;
  const sorted = Float64Array.from(values).filter((v, i) => !obstacle[i] && Number.isFinite(v)).sort();
  if (!sorted.length) return range;
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const low = at(0.02), high = at(0.98);
  return high > low ? [low, high] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2 || 1];
}
export function scalePosition(scaling, [low, high], value) {
  return scaling === 'log' ? Math.log(Math.max(value, 1e-300) / low) / Math.log(high / low) : (value - low) / (high - low);
}

// The range of a colouring: from zero to the largest over some frames of the run (sizes: from the
// smallest), without the highest hundredth, which would leave all others dark.
export async function colouringRange(run, colouring) {
  if (colouring.category) return [0, 1];
  if (run.meta.ranges?.[colouring.id] > 0) return [0, run.meta.ranges[colouring.id]];
  const values = new Float64Array(run.bodies), all = [];
  const looks = colouring.still ? 1 : Math.min(run.count, 9);
  for (let s = 0; s < looks; ++s) {
    const k = looks > 1 ? Math.round((s * (run.count - 1)) / (looks - 1)) : 0;
    await run.frame(k);
    if (colouring.id === 'stress' && run.contactFrame(k) >= 0) await Promise.all([run.contacts(k), run.frame(run.contactFrame(k))]);
    if (!colouring.compute(run, k, values)) continue;
    for (let i = 0; i < values.length; ++i) if (!run.fixed.obstacle.at(0, 0, i) && Number.isFinite(values[i])) all.push(values[i]);
  }
  if (!all.length) return [0, 1];
  all.sort((a, b) => a - b);
  let high = all[Math.floor(0.99 * (all.length - 1))];
  if (colouring.id === 'size') {
    const low = all[0];
    return [low, all[all.length - 1] > low ? all[all.length - 1] : low * 1.0001 || 1];
  }
  if (!(high > 0)) high = all[all.length - 1];
  return [0, high > 0 ? high : 1];
}

// Fields: a number for each body, by which bodies are coloured, hidden and described.
import { contactArm, contactForce } from './colours.js';

// Lengths of the vectors of a column.
function length(columns, name, f, n, out) {
  const { data, comps, count, scale, offset, curve } = columns[name];
  for (let i = 0; i < n; ++i) {
    let sum = 0;
    for (let c = 0; c < comps; ++c) {
      const q = data[(f * comps + c) * count + i], x = offset[c] + scale * (curve ? q * Math.abs(q) : q);
      sum += x * x;
    }
    out[i] = Math.sqrt(sum);
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

// One component of a vector of a frame.
const component = (name, c) => (run, k, out) => {
  const frame = run.peek(k);
  if (!frame?.columns[name]) return false;
  frame.columns[name].unpack(frame.f, c, out, 0, 1);
  return true;
};
function displacement(run, k, out) {
  const frame = run.peek(k), first = run.first, n = run.bodies;
  if (!frame) return false;
  const now = frame.columns.position, then = first.columns.position;
  for (let i = 0; i < n; ++i) {
    let sum = 0;
    for (let c = 0; c < 3; ++c) sum += (now.at(frame.f, c, i) - then.at(first.f, c, i)) ** 2;
    // Poured bodies have no place in the first frame.
    out[i] = first.columns.present && !first.columns.present.at(first.f, 0, i) ? NaN : Math.sqrt(sum);
  }
  return true;
}
function kinetic(run, k, out) {
  if (!magnitude('velocity', 'speed')(run, k, out)) return false;
  for (let i = 0; i < run.bodies; ++i) out[i] = run.fixed.obstacle.data[i] ? 0 : 0.5 * run.fixed.mass.at(0, 0, i) * out[i] ** 2;
  return true;
}
function touching(run, k, out) {
  out.fill(0);
  const contacts = run.peekContacts(k);
  if (run.contactFrame(k) < 0) return true;
  if (!contacts) return false;
  for (let c = 0; c < contacts.a.count; ++c)
    if (contacts.r.at(0, 0, c) > 0) for (const side of ['a', 'b']) ++out[contacts[side].at(0, 0, c)];
  return true;
}
const constant = (name) => (run, k, out) => (run.fixed[name].unpack(0, 0, out, 0, 1), true);

// `signed`: shown about zero when asked for. `still`: the same in all frames. `contacts`: needs them.
export function fieldsOf(run) {
  const { meta } = run, flat = meta.dimension === 2, vectors = Boolean(run.first?.columns.velocity), names = ['x', 'y', 'z'];
  const axes = flat ? [0, 1] : [0, 1, 2];
  const list = [
    { id: 'velocity', name: 'speed', unit: 'm/s', compute: magnitude('velocity', 'speed') },
    ...(vectors ? axes.map((c) => ({ id: `velocity-${names[c]}`, name: `velocity ${names[c]}`, unit: 'm/s', signed: true, compute: component('velocity', c) })) : []),
    { id: 'angular', name: 'angular velocity', unit: 'rad/s', compute: magnitude('angular', 'spin') },
    ...(vectors ? (flat ? [2] : axes).map((c) => ({ id: `angular-${names[c]}`, name: `angular velocity ${names[c]}`, unit: 'rad/s', signed: true, compute: component('angular', c) })) : []),
    { id: 'size', name: 'size', unit: 'm', still: true, compute: constant('size') },
    { id: 'material', name: 'material', category: true, still: true, compute: constant('material') },
    { id: 'id', name: 'body number', category: true, still: true, compute: (r, k, out) => (out.forEach((_, i) => (out[i] = i)), true) },
    { id: 'stress', name: run.first?.columns.vertex_stress ? 'stress (von Mises; of rigid bodies mean pressure)' : 'stress (mean pressure)', unit: 'Pa', contacts: true, compute: pressure },
    { id: 'touching', name: 'active contacts', unit: 'number', contacts: true, compute: touching },
    { id: 'displacement', name: 'displacement', unit: 'm', compute: displacement },
    ...axes.map((c) => ({ id: `position-${names[c]}`, name: `position ${names[c]}`, unit: 'm', low: true, compute: component('position', c) })),
    { id: 'kinetic', name: 'kinetic energy', unit: 'J', compute: kinetic },
    { id: 'mass', name: 'mass', unit: 'kg', still: true, low: true, compute: constant('mass') },
    ...(meta.fields || []).map((name) => ({ id: `field-${name}`, name, unit: '', low: true, signed: true, compute: component(`field.${name}`, 0) })),
  ];
  return list.filter((f) => !(f.contacts && !meta.contactFrames.length));
}

// What a field needs of frame k is there afterwards.
export async function fieldData(run, field, k) {
  await run.frame(k);
  if (field.contacts && run.contactFrame(k) >= 0) await Promise.all([run.contacts(k), run.frame(run.contactFrame(k))]);
}

// The range of a field: from zero to the largest over some frames of the run (sizes, places: from the
// smallest), without the highest hundredth, which would leave all others dark.
export async function fieldRange(run, field) {
  if (field.category) return [0, 1];
  if (run.meta.ranges?.[field.id] > 0) return [0, run.meta.ranges[field.id]];
  const values = new Float64Array(run.bodies), all = [];
  const looks = field.still ? 1 : Math.min(run.count, 9);
  for (let s = 0; s < looks; ++s) {
    const k = looks > 1 ? Math.round((s * (run.count - 1)) / (looks - 1)) : 0;
    await fieldData(run, field, k);
    if (!field.compute(run, k, values)) continue;
    const { columns, f } = await run.frame(k);
    for (let i = 0; i < values.length; ++i)
      if (!run.fixed.obstacle.at(0, 0, i) && Number.isFinite(values[i]) && (!columns.present || columns.present.at(f, 0, i))) all.push(values[i]);
    // Vertices of bodies that change their shape have stresses of their own.
    if (field.id === 'stress' && columns.vertex_stress)
      for (let v = 0; v < columns.vertex_stress.count; v += 7) all.push(columns.vertex_stress.at(f, 0, v));
  }
  if (!all.length) return [0, 1];
  all.sort((a, b) => a - b);
  const least = all[0], most = all[all.length - 1];
  if (field.still || field.low) return [least, most > least ? most : least + (Math.abs(least) * 1e-4 || 1)];
  if (field.signed) {
    const size = Math.max(-all[Math.floor(0.01 * (all.length - 1))], all[Math.ceil(0.99 * (all.length - 1))]);
    return size > 0 ? [-size, size] : [-1, 1];
  }
  let high = all[Math.ceil(0.99 * (all.length - 1))]; // of few values all are taken
  if (!(high > 0)) high = most;
  return [0, high > 0 ? high : 1];
}

// The scaling to begin with: where most bodies are at rest at the end, a linear scale would show nothing.
export function firstScaling(run, field, range) {
  if (field.signed) return 'symmetric';
  if (field.category || field.still || field.low || !run.count) return 'run';
  const values = new Float64Array(run.bodies);
  if (!field.compute(run, run.count - 1, values)) return 'run';
  const sorted = Float64Array.from(values).filter((v, i) => !run.fixed.obstacle.data[i] && Number.isFinite(v)).sort();
  const typical = sorted[Math.floor(0.9 * (sorted.length - 1))];
  return typical < 0.02 * range[1] ? 'log' : 'run';
}

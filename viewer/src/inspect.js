// Numbers of the selected body or contact, as HTML.
import { STATUS, contactForce, contactNormal } from './colours.js';
import { pressure } from './fields.js';
import { escape, short, show, vector } from './format.js';

// Its number, and its name where it has one.
const bodyName = (run, body) => (run.meta.names?.[body] ? `${body} (${run.meta.names[body]})` : String(body));

function rows(list) {
  return `<table>${list.filter(Boolean).map(([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`).join('')}</table>`;
}
function numbers(columns, name, f, item, comps) {
  const column = columns[name];
  const values = comps.map((c) => column.at(f, c, item));
  return comps.length === 1
    ? show(values[0], column.resolution(values[0]))
    : `(${values.map((v) => show(v, column.resolution(v))).join(', ')})`;
}
export function describeBody(run, body, frame, k) {
  const { columns, f } = frame, { fixed, meta } = run, flat = meta.dimension === 2;
  const xyz = flat ? [0, 1] : [0, 1, 2];
  const kind = meta.kinds[fixed.kind.at(0, 0, body)].replace('-2d', '');
  const p = [0, 1, 2, 3, 4].map((c) => fixed.shape.at(0, c, body));
  const sizes = { disk: [p[0]], sphere: [p[0]], ellipse: p.slice(2, 4), ellipsoid: p.slice(2), box: p.slice(2), capsule: [p[0], p[1]], segment: [p[1], p[0]], drum: flat ? [p[0]] : [p[0], p[1]] }[kind] || [];
  const sizeNames = { disk: 'radius', sphere: 'radius', ellipse: 'semi-axes', ellipsoid: 'semi-axes', box: 'half extents', capsule: 'radius, half length', segment: 'half length, radius', drum: flat ? 'radius' : 'radius, half length' };
  const obstacle = fixed.obstacle.at(0, 0, body);
  let contactCount = '';
  const contacts = run.peekContacts(k);
  if (contacts) {
    let n = 0;
    for (let c = 0; c < contacts.a.count; ++c) n += (contacts.a.at(0, 0, c) === body || contacts.b.at(0, 0, c) === body) && contacts.r.at(0, 0, c) > 0;
    contactCount = String(n);
  }
  return `<h2>${obstacle ? 'Obstacle' : 'Body'} ${body}${run.meta.names?.[body] ? ` ${escape(run.meta.names[body])}` : ''}</h2>` + rows([
    ['shape', kind],
    sizes.length && [sizeNames[kind], sizes.map((v) => show(v)).join(', ')],
    ['material', meta.materials[fixed.material.at(0, 0, body)] ?? String(fixed.material.at(0, 0, body))],
    !obstacle && ['mass', `${show(fixed.mass.at(0, 0, body))} kg`],
    ['position', numbers(columns, 'position', f, body, xyz)],
    !flat && meta.turns && ['orientation', numbers(columns, 'orientation', f, body, [0, 1, 2, 3])],
    flat && meta.turns && ['angle', `${show(2 * Math.atan2(columns.orientation.at(f, 3, body), columns.orientation.at(f, 0, body)))} rad`],
    columns.velocity && ['velocity', numbers(columns, 'velocity', f, body, xyz)],
    columns.speed && ['speed', numbers(columns, 'speed', f, body, [0])],
    columns.angular && ['angular velocity', numbers(columns, 'angular', f, body, flat ? [2] : xyz)],
    columns.spin && ['spin', numbers(columns, 'spin', f, body, [0])],
    contactCount !== '' && ['active contacts', contactCount],
    !obstacle && meanPressure(run, body, k),
    ...(meta.fields || []).filter((name) => columns[`field.${name}`]).map((name) => [name, numbers(columns, `field.${name}`, f, body, [0])]),
  ]);
}
// To three digits in a compact page, which has the normal parts of the impulses alone.
function meanPressure(run, body, k) {
  const values = new Float64Array(run.bodies);
  if (!run.meta.contactFrames.length || !pressure(run, k, values)) return null;
  const text = run.meta.turns ? show(values[body]) : short(values[body]);
  return ['mean pressure', `${text} Pa`];
}
export function describeContact(run, contact, contacts, frame) {
  const flat = run.meta.dimension === 2, local = flat ? [0, 1] : [0, 1, 2], xyz = local;
  const force = [0, 0, 0], normal = [0, 0, 0];
  contactForce(run, contacts, frame, contact, force);
  contactNormal(contacts, contact, normal, run, frame);
  const has = (name) => contacts[name];
  return `<h2>Contact ${contact}</h2>` + rows([
    ['bodies', ['a', 'b'].map((side) => bodyName(run, contacts[side].at(0, 0, contact))).join(' and ')],
    ['status', (STATUS[contacts.status.at(0, 0, contact)] || STATUS[0]).name],
    has('position') && ['position', numbers(contacts, 'position', 0, contact, xyz)],
    ['normal', has('normal') ? numbers(contacts, 'normal', 0, contact, xyz) : vector(normal.slice(0, xyz.length), 0.01)],
    ['impulse (n, t)', numbers(contacts, 'r', 0, contact, local.slice(0, contacts.r.comps))],
    has('u') && ['relative velocity (n, t)', numbers(contacts, 'u', 0, contact, local)],
    has('gap') && ['gap', numbers(contacts, 'gap', 0, contact, [0])],
    has('mu') && ['friction coefficient', numbers(contacts, 'mu', 0, contact, [0])],
    has('error') && ['error', numbers(contacts, 'error', 0, contact, [0])],
  ]);
}

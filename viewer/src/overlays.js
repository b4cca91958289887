// What is drawn over the bodies: contacts, force chains, thrust lines, trails, joints and bonds.
import * as shader from './shaders.js';
import { Beams } from './beams.js';
import { STATUS, contactArm, contactForce, contactNormal } from './colours.js';

const WALL = 4; // a body so many times larger than the one that it touches is a wall to it: chains end at the contact
const TRAIL_BODIES = 400; // at most so many have trails, evenly chosen
const TRAIL_FRAMES = 60;

export class Overlays {
  constructor(view) {
    this.view = view;
    this.show = { chains: false, contacts: false, normals: false, thrust: false, joints: true };
    this.trails = 'off';
    this.points = null; // places of the contacts that are shown
    this.selectedContact = -1;
    const beams = (order) => {
      const material = view.material(shader.beamVertex, shader.beamFragment, false);
      material.depthTest = !view.flat;
      const made = new Beams(material, order);
      view.scene.add(made.mesh);
      return made;
    };
    this.chains = beams(3);
    this.arrows = beams(4);
    this.coins = beams(5);
    this.thrust = beams(6);
    this.paths = beams(2);
    this.links = beams(4);
    this.links.mesh.material.depthTest = false; // joints are inside the bodies
    this.drawn = '';
  }
  meshes() {
    return [this.chains, this.arrows, this.coins, this.thrust, this.paths, this.links].map((b) => b.mesh);
  }
  // Whether something is shown that needs the contacts of a frame.
  get wanted() {
    const { chains, contacts, normals, thrust } = this.show;
    return chains || contacts || normals || thrust;
  }

  // Build what is shown at frame k; false when the data is still on its way.
  update(k) {
    const { view, show } = this, { run } = view;
    const state = `${k} ${Object.values(show)} ${this.trails} ${this.selectedBody} ${this.selectedContact} ${run.count}`;
    if (this.drawn === state) return true;
    const frame = run.peek(k), contacts = this.wanted && run.meta.contactFrames.length ? run.peekContacts(k) : null;
    if (!frame || (this.wanted && run.meta.contactFrames.length && !contacts)) return false;
    this.points = null;
    for (const part of [this.chains, this.arrows, this.coins, this.thrust]) part.begin(0);
    if (contacts) {
      this.addContacts(frame, contacts);
      if (show.thrust) this.addThrust(frame, contacts);
    }
    for (const part of [this.chains, this.arrows, this.coins, this.thrust]) part.end();
    const whole = this.addTrails(k);
    this.addLinks(frame);
    this.drawn = whole ? state : '';
    view.needed = true;
    return true;
  }

  addContacts(frame, contacts) {
    const { view, show, chains, arrows, coins } = this, { run } = view;
    const nc = contacts.a.count, { origin, length } = run.meta, { position } = frame.columns, { f } = frame;
    const obstacle = run.fixed.obstacle.data, radius = (i) => run.fixed.radius.at(0, 0, i), unit = view.typical(), { place } = view;
    // Strength of the chains: relative to a high impulse of this frame.
    const impulses = new Float64Array(nc);
    contacts.r.unpack(0, 0, impulses, 0, 1);
    const sorted = impulses.slice().sort();
    this.strong = sorted[Math.floor(0.98 * (nc - 1))] || sorted[nc - 1] || 1;
    const arm = [0, 0, 0], normal = [0, 0, 0], points = new Float32Array(3 * nc);
    chains.begin(show.chains ? 2 * nc : 0);
    arrows.begin(show.normals ? nc : 0);
    coins.begin(show.contacts ? nc : 0);
    for (let c = 0; c < nc; ++c) {
      const a = contacts.a.data[c], b = contacts.b.data[c], holder = obstacle[a] ? b : a;
      contactArm(run, contacts, frame, c, holder, arm);
      for (let m = 0; m < 3; ++m) points[3 * c + m] = (position.at(f, m, holder) + arm[m] - origin[m]) / length;
      if (!place[4 * a + 3] && !place[4 * b + 3]) continue; // both are hidden
      const x = points[3 * c], y = points[3 * c + 1], z = points[3 * c + 2];
      const strength = Math.min(impulses[c] / this.strong, 1.6);
      if (show.chains && impulses[c] > 0)
        for (let side = 0; side < 2; ++side) {
          const body = side ? b : a, other = side ? a : b, weak = 1 - Math.min(strength, 1);
          if (obstacle[body] || (!obstacle[other] && radius(body) > WALL * radius(other))) continue;
          chains.add(x, y, z, (position.at(f, 0, body) - origin[0]) / length, (position.at(f, 1, body) - origin[1]) / length, (position.at(f, 2, body) - origin[2]) / length,
            0.85 - 0.25 * weak, 0.14 + 0.3 * weak, 0.1 + 0.32 * weak, unit * Math.max(0.012, 0.2 * strength));
        }
      if (!show.normals && !show.contacts) continue;
      contactNormal(contacts, c, normal, run, frame);
      const [u, v, w] = normal;
      if (show.normals) arrows.add(x, y, z, x + 0.7 * unit * u, y + 0.7 * unit * v, z + 0.7 * unit * w, 0.15, 0.55, 0.25, 0.025 * unit);
      if (show.contacts) {
        // A coin across the normal; in the plane, seen from its side, it must be as thick as wide.
        const across = (c === this.selectedContact ? 0.32 : 0.17) * unit, half = (view.flat ? 0.8 : 0.25) * across;
        const [red, green, blue] = (STATUS[contacts.status.data[c]] || STATUS[0]).colour;
        coins.add(x - half * u, y - half * v, z - half * w, x + half * u, y + half * v, z + half * w, red / 255, green / 255, blue / 255, across);
      }
    }
    this.points = points;
  }

  // Lines of thrust: the contacts between two bodies act as one force at their centre of pressure
  // sum(r_n x) / sum(r_n). Within a body that two others press, the line joins the two centres; with
  // more of them each is joined to their mean, weighted by the forces.
  addThrust(frame, contacts) {
    const { view } = this, { run } = view, { origin, length } = run.meta, unit = view.typical(), obstacle = run.fixed.obstacle.data;
    const force = [0, 0, 0], joints = new Map();
    for (let c = 0; c < contacts.a.count; ++c) {
      const rn = contacts.r.at(0, 0, c);
      if (!(rn > 0)) continue;
      const a = contacts.a.data[c], b = contacts.b.data[c], key = a < b ? a * run.bodies + b : b * run.bodies + a;
      let joint = joints.get(key);
      if (!joint) joints.set(key, (joint = { a, b, weight: 0, at: [0, 0, 0], force: [0, 0, 0] }));
      contactForce(run, contacts, frame, c, force);
      for (let m = 0; m < 3; ++m) {
        joint.at[m] += rn * this.points[3 * c + m];
        joint.force[m] += (a === joint.a ? 1 : -1) * force[m];
      }
      joint.weight += rn;
    }
    const bodies = new Map(), sizes = [];
    for (const joint of joints.values()) {
      for (let m = 0; m < 3; ++m) joint.at[m] /= joint.weight;
      joint.size = Math.hypot(...joint.force);
      sizes.push(joint.size);
      for (const body of [joint.a, joint.b])
        if (!obstacle[body]) bodies.has(body) ? bodies.get(body).push(joint) : bodies.set(body, [joint]);
    }
    sizes.sort((p, q) => p - q);
    const strong = sizes[Math.floor(0.95 * (sizes.length - 1))] || 1;
    this.thrust.begin(2 * joints.size);
    const line = (from, to, size) => this.thrust.add(...from, ...to, 0.8, 0.1, 0.35, unit * Math.max(0.02, 0.09 * Math.sqrt(Math.min(size / strong, 2))));
    for (const [body, list] of bodies) {
      if (!view.place[4 * body + 3]) continue;
      if (list.length === 2) {
        line(list[0].at, list[1].at, 0.5 * (list[0].size + list[1].size));
        continue;
      }
      const mean = [0, 0, 0], total = list.reduce((sum, j) => sum + j.size, 0);
      if (list.length === 1)
        for (let m = 0; m < 3; ++m) mean[m] = (frame.columns.position.at(frame.f, m, body) - origin[m]) / length;
      else for (const j of list) for (let m = 0; m < 3; ++m) mean[m] += (j.size * j.at[m]) / (total || 1);
      for (const j of list) line(j.at, mean, j.size);
    }
  }

  // Where bodies came from: the frames before this one, older ones paler. False while some are not there.
  addTrails(k) {
    const { view, paths } = this, { run } = view, { origin, length } = run.meta;
    paths.begin(0);
    let chosen = [];
    if (this.trails === 'selected' && this.selectedBody >= 0) chosen = [this.selectedBody];
    if (this.trails === 'all') {
      const movers = [];
      for (let i = 0; i < run.bodies; ++i) if (!run.fixed.obstacle.data[i] && view.place[4 * i + 3]) movers.push(i);
      const every = Math.ceil(movers.length / TRAIL_BODIES) || 1;
      chosen = movers.filter((_, n) => n % every === 0);
    }
    const frames = this.trails === 'selected' ? k : Math.min(k, TRAIL_FRAMES);
    let whole = true;
    if (chosen.length && frames) {
      paths.begin(chosen.length * frames);
      const width = 0.055 * view.typical() + 0.0006 * view.reach, there = (g, body) => body < g.columns.position.count && (!g.columns.present || g.columns.present.at(g.f, 0, body));
      for (let j = k - frames; j < k; ++j) {
        const a = run.peek(j), b = run.peek(j + 1);
        if (!a || !b) {
          whole = false;
          continue;
        }
        const fade = (j - k + frames + 1) / frames, pale = 0.55 * (1 - fade);
        const at = (g, c, body) => (g.columns.position.at(g.f, c, body) - origin[c]) / length;
        for (const body of chosen)
          if (there(a, body) && there(b, body))
            paths.add(at(a, 0, body), at(a, 1, body), at(a, 2, body), at(b, 0, body), at(b, 1, body), at(b, 2, body), 0.1 + pale, 0.35 + 0.6 * pale, 0.75 + 0.2 * pale, width * (0.35 + 0.65 * fade));
      }
    }
    paths.end();
    return whole;
  }

  // Bonds are bars across the glued section, green, or red once they broke; other joints are dark bars
  // along their axes, in the plane dots.
  addLinks(frame) {
    const { view, links } = this, { joint, joint_state: state } = frame.columns, { f } = frame, { fixed, meta } = view.run;
    links.begin(0);
    if (this.show.joints && joint) {
      links.begin(joint.count);
      for (let j = 0; j < joint.count; ++j) {
        const status = state.at(f, 0, j), bond = fixed.joint_bond.data[j];
        const sizes = [fixed.joint_a, fixed.joint_b].map((c) => c.data[j]).filter((b) => b < view.run.bodies && !fixed.obstacle.data[b]).map((b) => fixed.size.at(0, 0, b));
        const size = Math.min(...sizes) / meta.length, half = (bond ? 0.16 : view.flat ? 0.07 : 0.3) * size;
        const p = [0, 1, 2].map((c) => (joint.at(f, c, j) - meta.origin[c]) / meta.length), axis = [3, 4, 5].map((c) => joint.at(f, c, j));
        if (!status || !Number.isFinite(half + p[0])) continue;
        const colour = !bond ? [0.1, 0.12, 0.16] : status === 2 ? [0.85, 0.1, 0.1] : [0.1, 0.55, 0.25];
        links.add(...p.map((x, c) => x - half * axis[c]), ...p.map((x, c) => x + half * axis[c]), ...colour, (bond ? 0.04 : 0.07) * size);
      }
    }
    links.end();
  }
}

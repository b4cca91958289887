// The camera, shared by the views of compared runs: how it is moved by hand, how it is placed so that
// all is seen, and paths on which it moves while a run plays.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

// Directions towards the eye in front, side, up.
export const PRESETS = { oblique: [0.85, 0.42, 0.36], front: [1, 0, 0], side: [0, 1, 0], back: [-1, 0, 0], top: [0.001, 0, 1], above: [0.6, 0.3, 1] };

export class Eye {
  constructor(canvas, meta) {
    this.flat = meta.dimension === 2;
    this.followed = -1;
    this.keys = []; // of the path: { time, position, target, zoom }, by time
    this.turning = 0; // turns about the scene over the whole run
    if (this.flat) {
      this.camera = new THREE.OrthographicCamera(-1, 1, 1, -1, -10, 10);
      this.camera.position.z = 5;
    } else {
      this.camera = new THREE.PerspectiveCamera(35, 1, 0.001, 1000);
      this.camera.up.set(...meta.up);
    }
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => (this.changed = true));
    if (this.flat) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons = { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.PAN };
      this.controls.touches = { ONE: THREE.TOUCH.PAN, TWO: THREE.TOUCH.DOLLY_PAN };
      this.controls.screenSpacePanning = true;
    }
    this.changed = true;
  }

  // Up, front and side of a scene: the front is towards the shorter horizontal side; with z up one
  // looks along +y.
  axes(view) {
    const up = new THREE.Vector3(...view.run.meta.up), { lower, upper } = view.bounds(), size = upper.clone().sub(lower);
    const axes = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)]
      .filter((a) => Math.abs(a.dot(up)) < 0.7)
      .sort((a, b) => Math.abs(size.dot(a)) - Math.abs(size.dot(b)));
    const front = axes[0] || new THREE.Vector3(1, 0, 0);
    if (front.y > 0) front.negate();
    return { up, front, side: new THREE.Vector3().crossVectors(up, front) };
  }

  // The picture of a view is `width` by `height` pixels.
  setFrustum(view, width, height) {
    const aspect = width / height;
    if (this.flat) {
      const { lower, upper } = view.bounds();
      const half = 0.54 * Math.max(upper.y - lower.y, (upper.x - lower.x) / aspect, 1e-6);
      Object.assign(this.camera, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    } else {
      const distance = this.camera.position.distanceTo(this.controls.target);
      Object.assign(this.camera, { aspect, near: Math.max(0.002 * view.reach, 0.04 * distance), far: 60 * view.reach + 2 * distance });
    }
    this.camera.updateProjectionMatrix();
  }

  // All is seen, in 3D from a direction of PRESETS or given as [front, side, up].
  fit(view, width, height, from = 'oblique') {
    const middle = view.middle();
    this.controls.target.copy(middle);
    if (this.flat) {
      this.camera.zoom = 1;
      this.camera.position.set(middle.x, middle.y, 5);
    } else {
      const { up, front, side } = this.axes(view), [a, b, c] = Array.isArray(from) ? from : PRESETS[from] || PRESETS.oblique;
      const towards = front.multiplyScalar(a).addScaledVector(side, b).addScaledVector(up, c).normalize();
      this.camera.position.copy(middle).add(towards);
      this.camera.lookAt(middle);
      const { distance, across } = this.nearest(view, middle, towards, width / height || 1);
      this.controls.target.copy(middle).add(across);
      this.camera.position.copy(middle).add(across).addScaledVector(towards, distance);
    }
    this.setFrustum(view, width, height);
    this.controls.update();
    this.changed = true;
  }
  // How far back, and how far across, the camera must be for all to be seen. A thing at (x, depth)
  // across and towards the eye is seen when distance - depth >= |x - across| / tan; the least
  // distance follows from the largest depth + x / tan and depth - x / tan.
  nearest(view, middle, towards, aspect) {
    const tanY = Math.tan((0.5 * this.camera.fov * Math.PI) / 180), tan = [tanY * aspect, tanY];
    this.camera.updateMatrixWorld();
    const axes = [new THREE.Vector3(), new THREE.Vector3()], plus = [-Infinity, -Infinity], minus = [-Infinity, -Infinity];
    this.camera.matrixWorld.extractBasis(...axes, new THREE.Vector3());
    for (const { at, radius } of this.mustBeSeen(view)) {
      const d = at.sub(middle), depth = d.dot(towards);
      for (const k of [0, 1]) {
        const x = d.dot(axes[k]) / tan[k], r = radius * Math.sqrt(1 + 1 / tan[k] ** 2);
        plus[k] = Math.max(plus[k], depth + x + r);
        minus[k] = Math.max(minus[k], depth - x + r);
      }
    }
    const across = new THREE.Vector3();
    for (const k of [0, 1]) across.addScaledVector(axes[k], 0.5 * tan[k] * (plus[k] - minus[k]));
    return { distance: 1.06 * Math.max(1e-3, 0.5 * (plus[0] + minus[0]), 0.5 * (plus[1] + minus[1])), across };
  }
  // The corners of the bounds; in a picture of one frame the bodies within them, which is closer.
  mustBeSeen(view) {
    const { lower, upper } = view.bounds(), { run, place } = view, list = [];
    if (run.count === 1 && !run.meta.kinds.some((kind, k) => kind === 'drum' && run.fixed.kind.data.includes(k)))
      for (let i = 0; i < run.bodies; ++i) {
        const at = new THREE.Vector3(place[4 * i], place[4 * i + 1], place[4 * i + 2]);
        if (run.fixed.obstacle.data[i] || !place[4 * i + 3] || at.clone().clamp(lower, upper).distanceTo(at) > 1e-6) continue;
        list.push({ at, radius: run.fixed.radius.at(0, 0, i) / run.meta.length });
      }
    if (!list.length)
      for (let k = 0; k < 8; ++k) list.push({ at: new THREE.Vector3(k & 1 ? upper.x : lower.x, k & 2 ? upper.y : lower.y, k & 4 ? upper.z : lower.z), radius: 0 });
    return list;
  }

  follow(body) {
    this.followed = body;
    this.changed = true;
  }
  // Keep the followed body where it is in the picture.
  keepUp(view) {
    if (this.followed < 0) return;
    const o = 4 * this.followed, to = new THREE.Vector3(view.place[o], view.place[o + 1], view.place[o + 2]);
    this.camera.position.add(to.clone().sub(this.controls.target));
    this.controls.target.copy(to);
    this.camera.updateMatrixWorld();
    this.controls.update();
  }

  // ---- paths ----
  now(time) {
    return { time, position: this.camera.position.toArray(), target: this.controls.target.toArray(), zoom: this.camera.zoom };
  }
  // The view of now belongs to the path at this time; one that was there is replaced.
  addKey(time, span) {
    this.keys = this.keys.filter((k) => Math.abs(k.time - time) > 1e-6 * span);
    this.keys.push(this.now(time));
    this.keys.sort((a, b) => a.time - b.time);
  }
  // Move to where the path is at a time: between two keys smoothly, by cubics through four of them.
  along(time, start, end) {
    const { keys } = this;
    if (this.turning && !this.flat) {
      this.base ||= this.now(0);
      const angle = (2 * Math.PI * this.turning * (time - start)) / (end - start || 1);
      const target = new THREE.Vector3(...this.base.target), arm = new THREE.Vector3(...this.base.position).sub(target);
      this.camera.position.copy(target).add(arm.applyAxisAngle(this.camera.up, angle));
      this.controls.target.copy(target);
    } else if (keys.length > 1) {
      let k = keys.findIndex((key) => key.time > time) - 1;
      if (k < -1) k = keys.length - 2;
      k = Math.min(Math.max(k, 0), keys.length - 2);
      const four = [keys[Math.max(k - 1, 0)], keys[k], keys[k + 1], keys[Math.min(k + 2, keys.length - 1)]];
      const s = Math.min(Math.max((time - four[1].time) / (four[2].time - four[1].time), 0), 1);
      const blend = (get) => cubic(...four.map(get), s);
      const mix = (name) => [0, 1, 2].map((c) => blend((key) => key[name][c]));
      this.camera.position.set(...mix('position'));
      this.controls.target.set(...mix('target'));
      this.camera.zoom = Math.max(blend((key) => key.zoom), 1e-6);
      this.camera.updateProjectionMatrix();
    } else return;
    this.controls.update();
    this.changed = true;
  }
  get moves() {
    return Boolean(this.turning) || this.keys.length > 1;
  }
  // As text for an address, and back.
  text() {
    return JSON.stringify({ keys: this.keys.map((k) => ({ ...k, position: k.position.map(short), target: k.target.map(short) })), turning: this.turning });
  }
  read(text) {
    try {
      const found = JSON.parse(text), triple = (v) => Array.isArray(v) && v.length === 3 && v.every(Number.isFinite);
      this.keys = (found.keys || []).filter((k) => Number.isFinite(k.time) && triple(k.position) && triple(k.target) && k.zoom > 0);
      this.turning = Number(found.turning) || 0;
    } catch {
      this.keys = [];
    }
  }
}

const short = (x) => Number(x.toPrecision(5));
// Catmull and Rom's cubic from b to c.
function cubic(a, b, c, d, s) {
  return b + 0.5 * s * (c - a + s * (2 * a - 5 * b + 4 * c - d + s * (3 * (b - c) + d - a)));
}

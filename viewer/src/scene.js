// The view: batches of bodies, obstacles, contacts, the camera. Lengths on the graphics card are
// (x - origin) / length, with both in double precision from the run, so that a scene far from zero
// or of any size is drawn as sharply as one near it.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import * as shader from './shaders.js';
import { Beams } from './beams.js';
import { ball, capsule, cube, Merger } from './shapes.js';
import { CATEGORIES, COLOURINGS, STATUS, contactArm, contactNormal, materialColour, scaleColour, scalingRange, scalePosition } from './colours.js';

const RIGID = 0xffffffff; // not among the vertices that move
const FLOOR_CELLS = 30; // of the grid on a floor, from the middle of the scene to where it ends
const PLAIN = [168, 173, 180]; // obstacles

// Starting the graphics takes a while and needs no data: it is done while these are still read.
export function makeRenderer(canvas) {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true, powerPreference: 'high-performance' });
  renderer.setClearColor(0, 0);
  renderer.debug.checkShaderErrors = false; // asking for errors makes the page wait for the compiler
  return renderer;
}

export class View {
  constructor(canvas, run, renderer) {
    this.run = run;
    this.renderer = renderer;
    this.flat = run.meta.dimension === 2;
    this.scene = new THREE.Scene();
    this.batches = [];
    this.meshes = new Map(); // body -> its triangles, and its vertices as they are shown
    this.soft = []; // bodies that change their shape, and where their vertices are
    this.sized = []; // ellipses and ellipsoids that may be stretched, and where their sizes are
    this.makeTextures();
    this.makeBodies();
    this.makeContacts();
    this.makeCamera(canvas);
    this.colouring = COLOURINGS[0];
    this.range = [0, 1];
    this.values = new Float64Array(this.n);
    this.show = { chains: false, contacts: false, normals: false };
    this.frame = 0;
    this.needed = true;
    this.drawn = 0; // pictures so far
  }

  // ---- state of the bodies ----
  makeTextures() {
    this.n = Math.max(this.run.bodies, 1);
    const width = Math.min(1024, this.n), height = Math.ceil(this.n / width);
    this.place = new Float32Array(4 * width * height);
    this.turn = new Float32Array(4 * width * height);
    this.colours = new Uint8Array(4 * width * height).fill(200);
    const texture = (data, type) => {
      const t = new THREE.DataTexture(data, width, height, THREE.RGBAFormat, type);
      t.needsUpdate = true;
      return t;
    };
    this.placeTexture = texture(this.place, THREE.FloatType);
    this.turnTexture = texture(this.turn, THREE.FloatType);
    this.colourTexture = texture(this.colours, THREE.UnsignedByteType);
    this.uniforms = {
      uPlace: { value: this.placeTexture }, uTurn: { value: this.turnTexture }, uColour: { value: this.colourTexture },
      uWidth: { value: width }, uSelected: { value: -1 }, uSlice: { value: new THREE.Vector4() },
      uFlat: { value: this.flat }, uMark: { value: this.run.meta.turns ? 1 : 0 },
    };
    for (let i = 0; i < this.n; ++i) this.turn[4 * i + 3] = 1;
    this.kept = [];
  }

  material(vertexShader, fragmentShader, obstacle, extra = {}) {
    const material = new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader, fragmentShader,
      uniforms: { ...this.uniforms, uOpacity: { value: 1 }, uGridded: { value: false }, uFacets: { value: false }, uFade: { value: 0 } },
      side: obstacle && !this.flat ? THREE.FrontSide : THREE.DoubleSide, ...extra,
    });
    if (this.flat) {
      material.depthTest = false;
      material.transparent = true;
    }
    return material;
  }

  add(geometry, material, obstacle, type = THREE.Mesh) {
    const mesh = new type(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = obstacle ? 0 : 1;
    this.scene.add(mesh);
    this.batches.push({ mesh, obstacle, impostor: material.alphaToCoverage });
    return mesh;
  }

  instanced(base, items, vertex, fragment, obstacle, extra) {
    if (!items.length) return;
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.index = base.index;
    for (const [name, attribute] of Object.entries(base.attributes)) geometry.setAttribute(name, attribute);
    geometry.setAttribute('aBody', new THREE.InstancedBufferAttribute(new Float32Array(items.map((i) => i.body)), 1));
    geometry.setAttribute('aSize', new THREE.InstancedBufferAttribute(new Float32Array(items.flatMap((i) => i.size)), 4));
    if (!obstacle) this.sized.push({ items, attribute: geometry.attributes.aSize, copies: 1 });
    geometry.instanceCount = items.length;
    this.add(geometry, this.material(vertex, fragment, obstacle, extra), obstacle);
  }

  // Squares, one per body, as plain triangles: four corners are too little for an instance, on many
  // drivers each instance costs as much as a draw call.
  squares(items, vertex, fragment, obstacle, extra) {
    if (!items.length) return;
    const n = items.length, corner = new Float32Array(12 * n), body = new Float32Array(4 * n), size = new Float32Array(16 * n);
    const index = new Uint32Array(6 * n), corners = [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0], order = [0, 1, 2, 0, 2, 3];
    items.forEach((item, i) => {
      corner.set(corners, 12 * i);
      body.fill(item.body, 4 * i, 4 * i + 4);
      for (let k = 0; k < 4; ++k) size.set(item.size, 16 * i + 4 * k);
      order.forEach((k, m) => (index[6 * i + m] = 4 * i + k));
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(corner, 3));
    geometry.setAttribute('aBody', new THREE.BufferAttribute(body, 1));
    geometry.setAttribute('aSize', new THREE.BufferAttribute(size, 4));
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    if (!obstacle && !extra) this.sized.push({ items, attribute: geometry.attributes.aSize, copies: 4 });
    this.add(geometry, this.material(vertex, fragment, obstacle, extra), obstacle);
  }

  // Shape of a body: kind and numbers in the page's unit.
  shape(body) {
    const { fixed, meta } = this.run, L = meta.length;
    const p = [0, 1, 2, 3, 4].map((c) => fixed.shape.at(0, c, body) / L);
    return { kind: meta.kinds[fixed.kind.at(0, 0, body)], radius: p[0], half: p[1], semi: p.slice(2) };
  }
  // Unbounded obstacles keep their plain colour: they would fill the whole picture.
  endless(body) {
    return /^half-/.test(this.run.meta.kinds[this.run.fixed.kind.at(0, 0, body)]);
  }
  vertices(body) {
    const { fixed, meta } = this.run, L = meta.length, points = [], { vertices } = fixed;
    const first = fixed.vertex_first.at(0, 0, body), count = fixed.vertex_count.at(0, 0, body);
    for (let k = 0; k < count; ++k) points.push([0, 1, 2].map((c) => (c < vertices.comps ? vertices.at(0, c, first + k) / L : 0)));
    return points;
  }
  // Triangles of a body that is given by them, whatever its kind is called: numbers of its vertices.
  triangles(body) {
    const { fixed } = this.run, list = [];
    const count = fixed.triangle_count ? fixed.triangle_count.at(0, 0, body) : 0;
    for (let k = 0; k < count; ++k) list.push([0, 1, 2].map((c) => fixed.triangles.at(0, c, fixed.triangle_first.at(0, 0, body) + k)));
    return list;
  }
  addMesh(merger, body, triangles) {
    const { fixed } = this.run, from = fixed.deformed_first ? fixed.deformed_first.at(0, 0, body) : RIGID;
    const points = this.vertices(body), first = merger.mesh(body, points, triangles);
    this.meshes.set(body, { triangles, points, from });
    if (from !== RIGID) (merger.soft ||= []).push({ body, first });
  }

  makeBodies() {
    const detail = this.run.bodies > 5000 ? 12 : this.run.bodies > 800 ? 20 : 36;
    const { lower, upper } = this.bounds();
    const reach = Math.max(upper.distanceTo(lower), 1e-6);
    this.reach = reach;
    this.floors = [];
    for (const obstacle of [true, false]) {
      const round = [], balls = [], ellipsoids = [], boxes = [], capsules = [];
      const solid = new Merger(), sheet = new Merger(), floor = new Merger();
      for (let body = 0; body < this.run.bodies; ++body) {
        if (Boolean(this.run.fixed.obstacle.at(0, 0, body)) !== obstacle) continue;
        const s = this.shape(body), triangles = this.triangles(body);
        if (triangles.length) {
          this.addMesh(solid, body, triangles);
          continue;
        }
        switch (s.kind) {
          case 'disk': round.push({ body, size: [s.radius, s.radius, 0, 0] }); break;
          case 'ellipse': round.push({ body, size: [s.semi[0], s.semi[1], 0, 0] }); break;
          case 'segment': {
            const r = Math.max(s.radius, 0.002 * reach);
            round.push({ body, size: [r, r, s.half, 0] });
            break;
          }
          case 'polygon': solid.polygon(body, this.vertices(body)); break;
          case 'half-plane': {
            const w = 6 * reach, h = 4 * reach, g = 0.06 * reach, x = this.alongPlane(body);
            sheet.quad(body, [[x - w, 0, 0], [x - w, -h, 0], [x + w, -h, 0], [x + w, 0, 0]], [0, 0, 1],
              [[(x - w) / g, 0.5], [(x - w - h) / g, 0.5], [(x + w - h) / g, 0.5], [(x + w) / g, 0.5]]);
            break;
          }
          case 'drum-2d': sheet.ring(body, s.radius, 0.06 * s.radius); break;
          case 'sphere': balls.push({ body, size: [s.radius, s.radius, s.radius, 0] }); break;
          case 'ellipsoid': ellipsoids.push({ body, size: [...s.semi, 0] }); break;
          case 'box': boxes.push({ body, size: [...s.semi, 0] }); break;
          case 'capsule': capsules.push({ body, size: [s.radius, s.radius, s.radius, s.half] }); break;
          case 'half-space': this.addPlane(floor, body); this.floors.push(body); break;
          case 'drum': sheet.tube(body, s.radius, Number.isFinite(s.half) && s.half > 0 ? s.half : 0.75 * reach, Number.isFinite(s.half) && s.half > 0); break;
          default: this.unknown = s.kind;
        }
      }
      const mesh = [shader.meshVertex, shader.meshFragment];
      for (const merger of [sheet, floor]) {
        if (!merger.body.length) continue;
        const material = this.material(...mesh, true);
        material.uniforms.uGridded.value = true;
        // Floors fade into the background; walls in front of others would hide these behind a haze.
        material.uniforms.uFade.value = merger === floor ? FLOOR_CELLS : 0;
        if (merger === floor) material.transparent = true;
        this.add(merger.geometry(), material, obstacle);
      }
      if (solid.body.length) {
        const geometry = solid.geometry(), material = this.material(...mesh, obstacle);
        material.uniforms.uFacets.value = true;
        this.add(geometry, material, obstacle);
        if (solid.lines.length) this.addOutline(geometry, solid.lines, obstacle);
        for (const soft of solid.soft || []) this.soft.push({ ...soft, attribute: geometry.attributes.position });
      }
      if (!obstacle && !this.flat) this.addShadows([...balls, ...ellipsoids, ...boxes, ...capsules]);
      this.instanced(ball(detail), ellipsoids, ...mesh, obstacle);
      this.instanced(cube(), boxes, ...mesh, obstacle);
      this.instanced(capsule(Math.max(detail & ~3, 12)), capsules, ...mesh, obstacle);
      this.squares(balls, shader.sphereVertex, shader.sphereFragment, obstacle, { alphaToCoverage: true });
      this.squares(round, shader.diskVertex, shader.diskFragment, obstacle);
    }
  }

  // Shadows on the floors that face upwards, so that bodies stand on the ground.
  addShadows(items) {
    const up = new THREE.Vector3(...this.run.meta.up);
    for (const body of this.floors) {
      const { position, turn } = this.firstPose(body), normal = new THREE.Vector3(0, 0, 1).applyQuaternion(turn);
      if (normal.dot(up) < 0.5) continue;
      const discs = items.map(({ body: b, size }) => ({ body: b, size: [(size[0] + size[1]) / 2 + size[3], 0, 0, 0] }));
      const plane = new THREE.Vector4(normal.x, normal.y, normal.z, normal.dot(position));
      this.squares(discs, shader.shadowVertex, shader.shadowFragment, false, { transparent: true, depthWrite: false });
      const batch = this.batches.at(-1);
      batch.mesh.material.uniforms.uPlane = { value: plane };
      batch.mesh.renderOrder = 0.2;
      batch.shadow = true;
    }
  }

  addOutline(geometry, lines, obstacle) {
    const outline = new THREE.BufferGeometry();
    for (const [name, attribute] of Object.entries(geometry.attributes)) outline.setAttribute(name, attribute);
    outline.setIndex(lines);
    const material = this.material(shader.meshVertex, shader.meshFragment.replace('vec3 colour = vColour.rgb;', 'vec3 colour = vColour.rgb * 0.5;'), obstacle);
    this.add(outline, material, obstacle, THREE.LineSegments).renderOrder += 0.5;
  }

  // Where the middle of the scene is along a half-plane, in its own frame (first frame).
  alongPlane(body) {
    const { position, turn } = this.firstPose(body);
    return this.middle().sub(position).applyQuaternion(turn.invert()).x;
  }
  addPlane(floor, body) {
    const { position, turn } = this.firstPose(body);
    const c = this.middle().sub(position).applyQuaternion(turn.invert());
    const g = 0.2, w = FLOOR_CELLS * g;
    const around = [[-w, -w], [w, -w], [w, w], [-w, w]];
    floor.quad(body, around.map(([x, y]) => [c.x + x, c.y + y, 0]), [0, 0, 1], around.map(([x, y]) => [x / g, y / g]));
  }
  firstPose(body) {
    const { columns, f } = this.run.first, { origin, length } = this.run.meta;
    const position = new THREE.Vector3(...[0, 1, 2].map((c) => (columns.position.at(f, c, body) - origin[c]) / length));
    return { position, turn: this.quaternion(this.run.turnOf({ columns, f }, body)) };
  }
  quaternion([w, x, y, z]) {
    return new THREE.Quaternion(x, y, z, w).normalize();
  }
  bounds() {
    const { bounds, origin, length } = this.run.meta;
    const corner = (b) => new THREE.Vector3(...b.map((x, c) => (x - origin[c]) / length));
    return { lower: corner(bounds[0]), upper: corner(bounds[1]) };
  }
  middle() {
    const { lower, upper } = this.bounds();
    return lower.add(upper).multiplyScalar(0.5);
  }

  // ---- camera ----
  makeCamera(canvas) {
    if (this.flat) {
      this.camera = new THREE.OrthographicCamera(-1, 1, 1, -1, -10, 10);
      this.camera.position.z = 5;
    } else {
      this.camera = new THREE.PerspectiveCamera(35, 1, 0.001, 1000);
      const up = new THREE.Vector3(...this.run.meta.up);
      this.camera.up.copy(up);
    }
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => (this.needed = true));
    if (this.flat) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons = { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.PAN };
      this.controls.touches = { ONE: THREE.TOUCH.PAN, TWO: THREE.TOUCH.DOLLY_PAN };
      this.controls.screenSpacePanning = true;
    }
  }

  resize(width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (!(width > 0) || !(height > 0)) return;
    if (width === this.width && height === this.height && ratio === this.renderer.getPixelRatio()) return;
    this.width = width;
    this.height = height;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.setFrustum();
    this.needed = true;
  }
  setFrustum() {
    const aspect = this.width / this.height;
    if (this.flat) {
      const { lower, upper } = this.bounds();
      const half = 0.54 * Math.max(upper.y - lower.y, (upper.x - lower.x) / aspect, 1e-6);
      Object.assign(this.camera, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    } else this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  fit() {
    const middle = this.middle(), { lower, upper } = this.bounds();
    this.controls.target.copy(middle);
    if (this.flat) {
      this.camera.zoom = 1;
      this.camera.position.set(middle.x, middle.y, 5);
    } else {
      // Seen from the front, a little from the side and above; the axis is the shorter horizontal
      // side of the scene.
      const up = this.camera.up.clone(), size = upper.clone().sub(lower);
      const axes = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)]
        .filter((a) => Math.abs(a.dot(up)) < 0.7)
        .sort((a, b) => Math.abs(size.dot(a)) - Math.abs(size.dot(b)));
      let front = axes[0] || new THREE.Vector3(1, 0, 0);
      if (front.y > 0) front.negate(); // with z up, look along +y
      const side = new THREE.Vector3().crossVectors(up, front);
      const view = front.clone().multiplyScalar(0.85).addScaledVector(side, 0.42).addScaledVector(up, 0.36).normalize();
      this.camera.position.copy(middle).add(view);
      this.camera.lookAt(middle);
      const { distance, across } = this.nearest(middle, view);
      this.controls.target.copy(middle).add(across);
      this.camera.position.copy(middle).add(across).addScaledVector(view, distance);
      this.camera.near = 0.002 * this.reach;
      this.camera.far = 60 * this.reach;
    }
    this.setFrustum();
    this.controls.update();
    this.needed = true;
  }
  // How far back, and how far across, the camera must be for all to be seen. A thing at (x, depth)
  // across and towards the eye is seen when distance - depth >= |x - across| / tan; the least
  // distance follows from the largest depth + x / tan and depth - x / tan.
  nearest(middle, view) {
    const tanY = Math.tan((0.5 * this.camera.fov * Math.PI) / 180), tan = [tanY * (this.width / this.height || 1), tanY];
    this.camera.updateMatrixWorld();
    const axes = [new THREE.Vector3(), new THREE.Vector3()], plus = [-Infinity, -Infinity], minus = [-Infinity, -Infinity];
    this.camera.matrixWorld.extractBasis(...axes, new THREE.Vector3());
    for (const { at, radius } of this.mustBeSeen()) {
      const d = at.sub(middle), depth = d.dot(view);
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
  mustBeSeen() {
    const { lower, upper } = this.bounds(), { run, place } = this, list = [];
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
    this.needed = true;
  }

  // ---- a frame ----
  // Show the bodies between frames k and k + 1; false when the data is still on its way.
  pose(k, blend) {
    const { run } = this, now = run.peek(k);
    if (!now) return false;
    const next = blend > 0 && k + 1 < run.count ? run.peek(k + 1) : null;
    if (next) this.mix(this.unpacked(k, now), this.unpacked(k + 1, next), blend);
    else {
      const { place, turn } = this.unpacked(k, now);
      this.place.set(place);
      this.turn.set(turn);
    }
    if (this.soft.length) this.deform(now, next, blend);
    if (now.columns.stretch) this.stretch(now, next, blend);
    this.placeTexture.needsUpdate = true;
    this.turnTexture.needsUpdate = true;
    this.needed = true;
    return true;
  }
  // Vertices of the bodies that change their shape: the column "deformed" has them, in the frames of
  // their bodies.
  deform(now, next, blend) {
    const { length } = this.run.meta;
    for (const { body, first, attribute } of this.soft) {
      const { points, from } = this.meshes.get(body);
      points.forEach((point, v) => {
        for (let c = 0; c < 3; ++c) {
          const a = now.columns.deformed.at(now.f, c, from + v), b = next ? next.columns.deformed.at(next.f, c, from + v) : a;
          point[c] = (a + blend * (b - a)) / length;
        }
        attribute.array.set(point, 3 * (first + v));
      });
      attribute.needsUpdate = true;
    }
  }
  // Sizes of deformed ellipses and ellipsoids: the column "stretch" has the factors along their axes.
  stretch(now, next, blend) {
    for (const { items, attribute, copies } of this.sized) {
      items.forEach(({ body, size }, i) => {
        for (let c = 0; c < 3; ++c) {
          const a = now.columns.stretch.at(now.f, c, body) || 1, b = (next && next.columns.stretch?.at(next.f, c, body)) || a;
          for (let k = 0; k < copies; ++k) attribute.array[4 * (copies * i + k) + c] = size[c] * (a + blend * (b - a));
        }
      });
      attribute.needsUpdate = true;
    }
  }
  // Places and turns of a frame; the last two are kept, between which a run that plays goes on for
  // several pictures.
  unpacked(k, { columns, f }) {
    let found = this.kept.find((p) => p.k === k);
    if (found) return found;
    found = this.kept.length < 2 ? { place: new Float32Array(this.place.length), turn: new Float32Array(this.turn.length) } : this.kept.shift();
    found.k = k;
    this.kept.push(found);
    const { place, turn } = found, { origin, length } = this.run.meta;
    for (let c = 0; c < 3; ++c) columns.position.unpack(f, c, place, c, 4, -origin[c], 1 / length);
    const n = columns.position.count, present = columns.present;
    for (let i = 0; i < this.n; ++i) place[4 * i + 3] = i < n && (!present || present.at(f, 0, i)) ? 1 : 0;
    if (columns.turned) {
      for (let i = 0; i < this.n; ++i) turn[4 * i + 3] = 1;
      const own = [1, 0, 0, 0];
      for (let k = 0; k < columns.turned.count; ++k) {
        for (let c = 0; c < 4; ++c) own[c] = columns.orientation.at(f, c, k);
        turn.set([own[1], own[2], own[3], own[0]], 4 * columns.turned.data[k]);
      }
    } else for (let c = 0; c < 4; ++c) columns.orientation.unpack(f, c, turn, (c + 3) & 3, 4);
    return found;
  }
  mix(a, b, blend) {
    const { place, turn, n } = this;
    for (let o = 0; o < 4 * n; o += 4) {
      for (let c = 0; c < 3; ++c) place[o + c] = a.place[o + c] + blend * (b.place[o + c] - a.place[o + c]);
      place[o + 3] = a.place[o + 3];
      if (!b.place[o + 3]) for (let c = 0; c < 3; ++c) place[o + c] = a.place[o + c]; // a removed body disappears where it is
    }
    for (let o = 0; o < 4 * n; o += 4) {
      const p = a.turn, q = b.turn;
      const sign = p[o] * q[o] + p[o + 1] * q[o + 1] + p[o + 2] * q[o + 2] + p[o + 3] * q[o + 3] < 0 ? -blend : blend;
      const x = (1 - blend) * p[o] + sign * q[o], y = (1 - blend) * p[o + 1] + sign * q[o + 1];
      const z = (1 - blend) * p[o + 2] + sign * q[o + 2], w = (1 - blend) * p[o + 3] + sign * q[o + 3];
      const size = 1 / Math.sqrt(x * x + y * y + z * z + w * w || 1);
      turn[o] = x * size;
      turn[o + 1] = y * size;
      turn[o + 2] = z * size;
      turn[o + 3] = w * size;
    }
  }

  // Colours of frame k; false when the data is still on its way.
  colour(k) {
    const { colouring, values, colours, run } = this;
    if (this.coloured?.k === k && this.coloured.colouring === colouring && this.coloured.scaling === this.scaling) return true;
    if (!colouring.compute(run, k, values)) return false;
    const obstacle = run.fixed.obstacle.data, scaling = this.scaling || 'run';
    this.coloured = { k, colouring, scaling: this.scaling };
    this.shownRange = colouring.category ? this.range : scalingRange(scaling, this.range, values, obstacle);
    this.onRange?.();
    for (let i = 0; i < run.bodies; ++i) {
      const o = 4 * i;
      const own = colouring.id === 'material' && (!obstacle[i] || (run.meta.materialColours?.[values[i]] && !this.endless(i)));
      if (own) colours.set(materialColour(run.meta, values[i]), o);
      else if (obstacle[i]) colours.set(PLAIN, o);
      else if (colouring.category) {
        const c = CATEGORIES[values[i] % CATEGORIES.length];
        const shade = 0.75 + (0.25 * ((values[i] * 7) % 5)) / 4;
        for (let m = 0; m < 3; ++m) colours[o + m] = c[m] * shade;
      } else scaleColour(scalePosition(scaling, this.shownRange, values[i]), colours, o);
      colours[o + 3] = 255;
    }
    this.colourTexture.needsUpdate = true;
    this.needed = true;
    return true;
  }

  // ---- contacts ----
  makeContacts() {
    const beams = (order) => {
      const material = this.material(shader.beamVertex, shader.beamFragment, false);
      material.depthTest = !this.flat;
      const made = new Beams(material, order);
      this.scene.add(made.mesh);
      return made;
    };
    this.chains = beams(3);
    this.arrows = beams(4);
    this.coins = beams(5);
  }

  clearContacts() {
    this.points = null;
    for (const beams of [this.chains, this.arrows, this.coins]) {
      beams.begin(0);
      beams.end();
    }
    this.needed = true;
  }

  // Build what is shown of the contacts of frame k; false when the data is still on its way.
  contacts(k) {
    const { run, show, chains, arrows, coins } = this;
    this.clearContacts();
    const frame = run.peek(k), contacts = run.peekContacts(k);
    if (!run.meta.contactFrames.length) return true;
    if (!frame || !contacts) return false;
    const nc = contacts.a.count, { origin, length } = run.meta, { position } = frame.columns, { f } = frame;
    const obstacle = run.fixed.obstacle.data, unit = this.typical();
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
      const x = points[3 * c], y = points[3 * c + 1], z = points[3 * c + 2];
      const strength = Math.min(impulses[c] / this.strong, 1.6);
      if (show.chains && impulses[c] > 0)
        for (let side = 0; side < 2; ++side) {
          const body = side ? b : a;
          if (obstacle[body]) continue;
          chains.add(x, y, z, (position.at(f, 0, body) - origin[0]) / length, (position.at(f, 1, body) - origin[1]) / length, (position.at(f, 2, body) - origin[2]) / length,
            0.55 + 0.35 * Math.min(strength, 1), 0.16, 0.12, unit * Math.max(0.015, 0.2 * strength));
        }
      if (!show.normals && !show.contacts) continue;
      contactNormal(contacts, c, normal, run, frame);
      const [u, v, w] = normal;
      if (show.normals) arrows.add(x, y, z, x + 0.7 * unit * u, y + 0.7 * unit * v, z + 0.7 * unit * w, 0.15, 0.55, 0.25, 0.025 * unit);
      if (show.contacts) {
        // A coin across the normal; in the plane, seen from its side, it must be as thick as wide.
        const radius = (c === this.selectedContact ? 0.32 : 0.17) * unit, half = (this.flat ? 0.8 : 0.25) * radius;
        const [red, green, blue] = (STATUS[contacts.status.data[c]] || STATUS[0]).colour;
        coins.add(x - half * u, y - half * v, z - half * w, x + half * u, y + half * v, z + half * w, red / 255, green / 255, blue / 255, radius);
      }
    }
    for (const beams of [chains, arrows, coins]) beams.end();
    this.points = points;
    return true;
  }
  // Radius of a typical body, in the page's unit.
  typical() {
    if (!this.typicalSize) {
      const sizes = [];
      for (let i = 0; i < this.run.bodies; ++i) if (!this.run.fixed.obstacle.at(0, 0, i)) sizes.push(0.5 * this.run.fixed.size.at(0, 0, i));
      sizes.sort((a, b) => a - b);
      this.typicalSize = (sizes[Math.floor(sizes.length / 2)] || 0.05 * this.run.meta.length) / this.run.meta.length;
    }
    return this.typicalSize;
  }

  // ---- appearance ----
  setLook(obstacle, look) {
    for (const batch of this.batches) {
      if (batch.obstacle !== obstacle) continue;
      const { material } = batch.mesh;
      if (batch.shadow) {
        batch.mesh.visible = look === 'solid';
        continue;
      }
      batch.mesh.visible = look !== 'hidden';
      material.uniforms.uOpacity.value = look === 'ghost' ? (this.flat ? 0.35 : 0.16) : 1;
      material.transparent = this.flat || look === 'ghost' || material.uniforms.uFade.value > 0;
      material.depthWrite = look !== 'ghost' && !this.flat;
      material.alphaToCoverage = Boolean(batch.impostor) && look !== 'ghost';
      material.needsUpdate = true;
    }
    this.needed = true;
  }
  setSlice(axis, share) {
    const s = this.uniforms.uSlice.value;
    if (axis === '') s.set(0, 0, 0, 0);
    else {
      const a = Number(axis), { lower, upper } = this.bounds(), normal = [0, 0, 0];
      // The half towards the eye is hidden.
      const sign = this.camera.position.getComponent(a) >= this.controls.target.getComponent(a) ? 1 : -1;
      normal[a] = sign;
      const place = lower.getComponent(a) + share * (upper.getComponent(a) - lower.getComponent(a));
      s.set(...normal, sign * place);
    }
    this.needed = true;
  }
  select(body) {
    this.uniforms.uSelected.value = body;
    this.needed = true;
  }

  render() {
    if (!this.needed) return;
    this.needed = false;
    if (this.followed >= 0) {
      const o = 4 * this.followed;
      const to = new THREE.Vector3(this.place[o], this.place[o + 1], this.place[o + 2]);
      const move = to.clone().sub(this.controls.target);
      this.controls.target.copy(to);
      this.camera.position.add(move);
      this.camera.updateMatrixWorld();
      this.controls.update();
      this.needed = false;
    }
    this.renderer.render(this.scene, this.camera);
    this.onView?.();
    ++this.drawn;
  }
}

// The view: batches of bodies, obstacles, contacts, the camera. Lengths on the graphics card are
// (x - origin) / length, with both in double precision from the run, so that a scene far from zero
// or of any size is drawn as sharply as one near it.
import * as THREE from 'three';
import * as shader from './shaders.js';
import { Effects, isSoftware } from './effects.js';
import { Culler, Thinned } from './cull.js';
import { markPresent, mixPlaces, mixTurns } from './blend.js';
import { Overlays } from './overlays.js';
import { ball, capsule, cube, innerRadius, Merger, cornerNormals } from './shapes.js';
import { CATEGORIES, NOTHING, materialColour, scaleColour, scalingRange, scalePositions } from './colours.js';

const RIGID = 0xffffffff; // not among the vertices that move
const MANY = 2000; // bodies of a batch from which on those that are hidden by others are left out
const POINT = 48; // pixels, diameter up to which balls are points
const FLOOR_CELLS = 30; // of the grid on a floor, from the middle of the scene to where it ends
const PLAIN = { light: [168, 173, 180], dark: [104, 109, 116] }; // obstacles

// Starting the graphics takes a while: it is done while data are still read. In space smooth edges are made before
// the picture reaches the canvas (effects.js).
export function makeRenderer(canvas, flat) {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: flat, alpha: true, preserveDrawingBuffer: true, powerPreference: 'high-performance' });
  renderer.setClearColor(0, 0);
  renderer.debug.checkShaderErrors = false; // asking for errors makes the page wait for the compiler
  return renderer;
}

export class View {
  // `eye`: the camera, which views of compared runs share.
  constructor(run, renderer, eye) {
    this.run = run;
    this.renderer = renderer;
    this.eye = eye;
    this.flat = run.meta.dimension === 2;
    this.effects = new Effects(renderer, run.bodies);
    this.scene = new THREE.Scene();
    this.batches = [];
    this.meshes = new Map(); // body -> its triangles, and its vertices as they are shown
    this.soft = []; // bodies that change their shape, and where their vertices are
    this.sized = []; // ellipses and ellipsoids that may be stretched, and where their sizes are
    this.thinned = []; // large batches of bodies that may hide each other
    this.software = isSoftware(renderer);
    this.makeTextures();
    this.radii = { inner: new Float32Array(this.n), outer: new Float32Array(this.n) };
    this.makeBodies();
    this.culler = new Culler(this.radii.inner, this.radii.outer);
    this.overlays = new Overlays(this);
    this.colouring = NOTHING;
    this.range = [0, 1];
    this.values = new Float64Array(this.n);
    this.limits = null; // a field and the range of it outside of which bodies are hidden
    this.limited = new Float64Array(this.n);
    this.looks = { bodies: 'solid', obstacles: 'solid' };
    this.needed = true;
    this.moved = true; // bodies: the shadows are not those of now
    this.drawn = 0; // pictures so far
    if (!this.flat) {
      const { lower, upper } = this.bounds(), { up, front, side } = eye.axes(this);
      this.effects.aim(up, front, side, this.middle(), 0.5 * upper.distanceTo(lower));
    }
  }
  get camera() { return this.eye.camera; }
  get controls() { return this.eye.controls; }

  // ---- state of the bodies ----
  makeTextures() {
    this.n = Math.max(this.run.bodies, 1);
    const width = Math.min(1024, this.n), height = Math.ceil(this.n / width);
    this.blended = { place: new Float32Array(4 * width * height), turn: new Float32Array(4 * width * height), places: true, turns: true };
    this.colours = new Uint8Array(4 * width * height).fill(200);
    const texture = (data, type) => {
      const t = new THREE.DataTexture(data, width, height, THREE.RGBAFormat, type);
      t.needsUpdate = true;
      return t;
    };
    // Two saved frames, between which a run that plays goes on for several pictures.
    this.slots = [0, 1].map(() => {
      const place = new Float32Array(4 * width * height), turn = new Float32Array(4 * width * height);
      for (let i = 0; i < this.n; ++i) turn[4 * i + 3] = 1;
      return { k: -1, used: 0, place, turn, placeTexture: texture(place, THREE.FloatType), turnTexture: texture(turn, THREE.FloatType), limits: null };
    });
    [this.now, this.next] = this.slots;
    this.blend = this.used = 0;
    this.colourTexture = texture(this.colours, THREE.UnsignedByteType);
    this.uniforms = {
      uPlace: { value: null }, uTurn: { value: null }, uPlaceNext: { value: null }, uTurnNext: { value: null }, uBlend: { value: 0 }, uColour: { value: this.colourTexture },
      uWidth: { value: width }, uSelected: { value: -1 }, uSlice: { value: new THREE.Vector4() },
      uFlat: { value: this.flat }, uScreen: { value: new THREE.Vector2(1, 1) }, uSharp: { value: false }, uMark: { value: this.run.meta.turns ? 1 : 0 }, ...this.effects.uniforms,
    };
    this.showSlots();
  }
  showSlots() {
    const { uniforms, now, next } = this;
    uniforms.uPlace.value = now.placeTexture;
    uniforms.uTurn.value = now.turnTexture;
    uniforms.uPlaceNext.value = next.placeTexture;
    uniforms.uTurnNext.value = next.turnTexture;
    uniforms.uBlend.value = this.blend;
  }
  // Places (and whether the body is shown) and turns as they are drawn, 4 numbers each: made when they are asked for.
  get place() {
    const { blended, now, next, blend } = this;
    if (blended.places) {
      blended.places = false;
      if (blend > 0) mixPlaces(now.place, next.place, blend, blended.place, 4 * this.n);
    }
    return blend > 0 ? blended.place : now.place;
  }
  get turn() {
    const { blended, now, next, blend } = this;
    if (blended.turns) {
      blended.turns = false;
      if (blend > 0) mixTurns(now.turn, next.turn, blend, blended.turn, 4 * this.n);
    }
    return blend > 0 ? blended.turn : now.turn;
  }

  material(vertexShader, fragmentShader, obstacle, extra = {}) {
    const material = new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader, fragmentShader,
      uniforms: { ...this.uniforms, uOpacity: { value: 1 }, uGridded: { value: false }, uFade: { value: 0 } },
      side: obstacle && !this.flat ? THREE.FrontSide : THREE.DoubleSide, ...extra,
    });
    if (this.flat) {
      material.depthTest = false;
      material.transparent = true;
    }
    return material;
  }

  add(geometry, material, obstacle, type = THREE.Mesh) {
    if (!geometry.attributes.aTone) {
      // The same for all vertices: one value for all instances.
      const n = geometry.isInstancedBufferGeometry ? geometry.instanceCount : geometry.attributes.position.count;
      const tone = geometry.isInstancedBufferGeometry ? THREE.InstancedBufferAttribute : THREE.BufferAttribute;
      geometry.setAttribute('aTone', new tone(new Uint8Array(4 * n), 4, true));
    }
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
    this.thin(geometry, items, obstacle);
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
    this.thin(geometry, items, obstacle);
  }

  // Many balls, once more as points: a quarter of the corners. Points are as large as the card allows at most, and
  // are left out when their middle is outside of the picture, so they are for coarse pictures of small balls.
  points(items, obstacle) {
    if (this.flat || obstacle || items.length < MANY || this.run.first.columns.stretch) return;
    const geometry = new THREE.BufferGeometry(), n = items.length;
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * n), 3));
    geometry.setAttribute('aBody', new THREE.BufferAttribute(Float32Array.from(items, (item) => item.body), 1));
    geometry.setAttribute('aSize', new THREE.BufferAttribute(new Float32Array(items.flatMap((item) => item.size)), 4));
    geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(items.keys()), 1));
    const squares = this.batches.at(-1), material = this.material(shader.pointVertex, shader.pointFragment, false, { alphaToCoverage: true });
    this.add(geometry, material, false, THREE.Points);
    this.batches.at(-1).instead = squares;
    this.thinned.push(new Thinned(this.batches.at(-1).mesh, Uint32Array.from(items, (item) => item.body)));
    this.largest = items.reduce((most, item) => Math.max(most, item.outer), 0);
    const [, most] = this.renderer.getContext().getParameter(this.renderer.getContext().ALIASED_POINT_SIZE_RANGE);
    this.pointSize = Math.min(POINT, most);
    this.batches.at(-1).mesh.visible = false;
  }
  showPoints(yes) {
    for (const { mesh, instead } of this.batches) {
      if (!instead) continue;
      mesh.visible = yes && this.looks.bodies === 'solid';
      instead.mesh.visible = !yes && this.looks.bodies !== 'hidden';
    }
  }
  // Whether all balls are small enough in a picture of so many pixels to be drawn as points.
  small(camera, height) {
    const { closest } = this.culler; // 2 % for what perspective adds to an outline away from the middle
    return this.largest > 0 && closest > camera.near && 1.02 * this.largest * height * camera.projectionMatrix.elements[5] < this.pointSize * closest;
  }

  // Bodies of a large batch that others hide are not drawn. `inner`, `outer` of an item: radii of balls inside and around it.
  thin(geometry, items, obstacle) {
    if (this.flat || obstacle || items.length < MANY || !(items[0].outer > 0) || this.run.first.columns.stretch) return;
    this.thinned.push(new Thinned(this.batches.at(-1).mesh, Uint32Array.from(items, (item) => item.body)));
    for (const { body, inner, outer } of items) {
      this.radii.inner[body] = inner;
      this.radii.outer[body] = outer;
    }
  }
  // Keep what can be seen by a camera in a picture of width by height pixels. `coarse`: a picture that may have points.
  cull(camera, width, height, coarse = false) {
    if (!this.thinned.length) return;
    const thins = this.looks.bodies === 'solid' && (coarse || this.software);
    if (thins) this.culler.look(camera, width, height, this.place, this.uniforms.uSlice.value, this.typical(), coarse);
    this.showPoints(coarse && thins && this.small(camera, height));
    for (const batch of this.thinned) if (batch.mesh.visible) batch.keep(thins ? this.culler.seen : null);
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
  // Bodies that have the triangles of another are instances of it.
  addMesh(merger, body, triangles, obstacle) {
    const { fixed } = this.run, from = fixed.deformed_first ? fixed.deformed_first.at(0, 0, body) : RIGID;
    const key = `${fixed.triangle_first.at(0, 0, body)} ${fixed.vertex_first.at(0, 0, body)}`;
    const known = from === RIGID ? this.shared.get(key) : null;
    const points = known?.points || this.vertices(body);
    this.meshes.set(body, { triangles: known?.triangles || triangles, points, from });
    if (known) {
      known.bodies.push({ body, size: [1, 1, 1, 0] });
      return;
    }
    if (from === RIGID) {
      this.shared.set(key, { points, triangles, bodies: [{ body, size: [1, 1, 1, 0] }], obstacle });
      return;
    }
    const first = merger.mesh(body, points, triangles);
    (merger.soft ||= []).push({ body, first });
  }
  // Shapes of several bodies as instances, of one body merged into one mesh.
  addShared(merger) {
    for (const { points, triangles, bodies, obstacle } of this.shared.values()) {
      if (bodies.length < 4) {
        for (const { body } of bodies) merger.mesh(body, points, triangles);
        continue;
      }
      const one = new Merger();
      one.mesh(0, points, triangles);
      const geometry = one.geometry(), size = { inner: innerRadius(points, triangles), outer: Math.max(...points.map((p) => Math.hypot(...p))) };
      for (const item of bodies) Object.assign(item, size);
      for (const name of ['aBody', 'aSize', 'aTone']) geometry.deleteAttribute(name);
      this.instanced(geometry, bodies, shader.meshVertex, shader.meshFragment, obstacle);
    }
    this.shared.clear();
  }

  makeBodies() {
    const detail = this.run.bodies > 30000 ? 8 : this.run.bodies > 5000 ? 12 : this.run.bodies > 800 ? 20 : 36;
    this.shared = new Map();
    const { lower, upper } = this.bounds();
    const reach = Math.max(upper.distanceTo(lower), 1e-6);
    this.reach = reach;
    for (const obstacle of [true, false]) {
      const round = [], balls = [], ellipsoids = [], boxes = [], capsules = [];
      const solid = new Merger(), sheet = new Merger(), floor = new Merger();
      for (let body = 0; body < this.run.bodies; ++body) {
        if (Boolean(this.run.fixed.obstacle.at(0, 0, body)) !== obstacle) continue;
        const s = this.shape(body), triangles = this.triangles(body);
        if (triangles.length) {
          this.addMesh(solid, body, triangles, obstacle);
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
          case 'sphere': balls.push({ body, size: [s.radius, s.radius, s.radius, 0], inner: s.radius, outer: s.radius }); break;
          case 'ellipsoid': ellipsoids.push({ body, size: [...s.semi, 0], inner: Math.min(...s.semi), outer: Math.max(...s.semi) }); break;
          case 'box': boxes.push({ body, size: [...s.semi, 0], inner: Math.min(...s.semi), outer: Math.hypot(...s.semi) }); break;
          case 'capsule': capsules.push({ body, size: [s.radius, s.radius, s.radius, s.half], inner: s.radius, outer: s.radius + s.half }); break;
          case 'half-space': this.addPlane(floor, body); break;
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
        // They lie behind what has a face in the same plane, such as a drum that stands against a wall.
        if (merger === floor) Object.assign(material, { transparent: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 8 });
        this.add(merger.geometry(), material, obstacle);
        this.batches.at(-1).floor = merger === floor;
      }
      this.addShared(solid);
      if (solid.body.length) {
        const geometry = solid.geometry(), material = this.material(...mesh, obstacle);
        this.add(geometry, material, obstacle);
        if (solid.lines.length) this.addOutline(geometry, solid.lines, obstacle);
        for (const soft of solid.soft || []) this.soft.push({ ...soft, geometry });
      }
      this.instanced(ball(detail), ellipsoids, ...mesh, obstacle);
      this.instanced(cube(), boxes, ...mesh, obstacle);
      this.instanced(capsule(Math.max(detail & ~3, 12)), capsules, ...mesh, obstacle);
      this.squares(balls, shader.sphereVertex, shader.sphereFragment, obstacle, { alphaToCoverage: true });
      this.points(balls, obstacle);
      this.squares(round, shader.diskVertex, shader.diskFragment, obstacle);
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

  // ---- a frame ----
  // Show the bodies between frames k and k + 1; false when the data is still on its way.
  pose(k, blend) {
    const { run } = this, now = run.peek(k);
    if (!now) return false;
    const next = blend > 0 && k + 1 < run.count ? run.peek(k + 1) : null;
    this.now = this.unpacked(k, now);
    this.next = next ? this.unpacked(k + 1, next) : this.now;
    this.blend = next ? blend : 0;
    this.blended.places = this.blended.turns = true;
    if (this.soft.length) this.deform(now, next, blend);
    if (now.columns.stretch) this.stretch(now, next, blend);
    this.showSlots();
    this.needed = this.moved = true;
    return this.mask(k);
  }
  // Hide the bodies whose field is outside of the limits; false when the data is still on its way.
  mask(k) {
    const { limits, limited, now: slot } = this, frame = this.run.peek(k);
    if (slot.limits === limits) return true;
    if (limits && !limits.field.compute(this.run, k, limited)) return false;
    markPresent(frame, slot.place, this.n);
    for (let i = 0; limits && i < this.run.bodies; ++i)
      if (!this.run.fixed.obstacle.data[i] && !(limited[i] >= limits.low && limited[i] <= limits.high)) slot.place[4 * i + 3] = 0;
    slot.limits = limits;
    slot.placeTexture.needsUpdate = true;
    return true;
  }
  // Vertices of the bodies that change their shape: the column "deformed" has them, in the frames of
  // their bodies.
  deform(now, next, blend) {
    const { length } = this.run.meta;
    for (const { body, first, geometry } of this.soft) {
      const { points, triangles, from } = this.meshes.get(body), { deformed } = now.columns;
      points.forEach((point, v) => {
        for (let c = 0; c < 3; ++c) {
          const a = deformed.at(now.f, c, from + v), b = next ? next.columns.deformed.at(next.f, c, from + v) : a;
          point[c] = (a + blend * (b - a)) / length;
        }
      });
      const { position, normal } = geometry.attributes, normals = cornerNormals(points, triangles);
      triangles.forEach((t, k) => {
        for (let m = 0; m < 3; ++m) {
          position.array.set(points[t[m]], 3 * (first + 3 * k + m));
          for (let c = 0; c < 3; ++c) normal.array[3 * (first + 3 * k + m) + c] = normals[9 * k + 3 * m + c];
        }
      });
      position.needsUpdate = normal.needsUpdate = true;
    }
  }
  // Colours of the vertices of the bodies that change their shape: their own stress, or none.
  tone(k, scaling) {
    const shown = this.colouring.id === 'stress' || this.colouring.id === 'mises', frame = this.run.peek(k);
    for (const { body, first, geometry } of this.soft) {
      const { triangles, from } = this.meshes.get(body), { aTone } = geometry.attributes, stress = frame?.columns.vertex_stress;
      const rgb = [0, 0, 0];
      triangles.forEach((t, n) => {
        for (let m = 0; m < 3; ++m) {
          if (shown && stress) scaleColour(scalePositions(scaling, this.shownRange)(stress.at(frame.f, 0, from + t[m])), rgb, 0, scaling);
          aTone.array.set([...rgb, shown && stress ? 255 : 0], 4 * (first + 3 * n + m));
        }
      });
      aTone.needsUpdate = true;
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
  // The slot with the places and turns of a frame: one that has them, or that which was used least recently.
  unpacked(k, { columns, f }) {
    const { slots } = this, slot = slots.find((p) => p.k === k) || (slots[0].used < slots[1].used ? slots[0] : slots[1]);
    slot.used = ++this.used;
    if (slot.k === k) return slot;
    const { place, turn } = slot, { origin, length } = this.run.meta;
    slot.k = k;
    slot.limits = null;
    for (let c = 0; c < 3; ++c) columns.position.unpack(f, c, place, c, 4, -origin[c], 1 / length);
    markPresent({ columns, f }, place, this.n);
    if (columns.turned) {
      const { turned, orientation } = columns;
      for (let c = 0; c < 4; ++c) for (let i = 0; i < turned.count; ++i) turn[4 * turned.data[i] + ((c + 3) & 3)] = orientation.at(f, c, i);
    } else for (let c = 0; c < 4; ++c) columns.orientation.unpack(f, c, turn, (c + 3) & 3, 4);
    slot.placeTexture.needsUpdate = slot.turnTexture.needsUpdate = true;
    return slot;
  }
  // Colours of frame k; false when the data is still on its way.
  colour(k) {
    const { colouring, values, colours, run } = this;
    if (this.coloured?.k === k && this.coloured.colouring === colouring && this.coloured.scaling === this.scaling) return true;
    if (!colouring.compute(run, k, values)) return false;
    const obstacle = run.fixed.obstacle.data, scaling = this.scaling || 'run';
    const theme = document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
    this.coloured = { k, colouring, scaling: this.scaling };
    this.shownRange = colouring.category ? this.range : scalingRange(scaling, this.range, values, obstacle);
    this.onRange?.();
    const plain = PLAIN[theme], materials = colouring.id === 'material', place = scalePositions(scaling, this.shownRange);
    for (let i = 0, o = 0; i < run.bodies; ++i, o += 4) {
      const value = values[i];
      colours[o + 3] = 255;
      if (materials && (!obstacle[i] || (run.meta.materialColours?.[value] && !this.endless(i)))) colours.set(materialColour(run.meta, value), o);
      else if (obstacle[i] || value !== value) colours.set(plain, o);
      else if (colouring.category) {
        const c = CATEGORIES[value % CATEGORIES.length], shade = 0.75 + (0.25 * ((value * 7) % 5)) / 4;
        for (let m = 0; m < 3; ++m) colours[o + m] = c[m] * shade;
      } else scaleColour(place(value), colours, o, scaling);
    }
    if (this.soft.length) this.tone(k, scaling);
    this.colourTexture.needsUpdate = true;
    this.needed = true;
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
      batch.mesh.visible = look !== 'hidden' && !batch.instead;
      material.uniforms.uOpacity.value = look === 'ghost' ? (this.flat ? 0.35 : 0.16) : 1;
      material.transparent = this.flat || look === 'ghost' || material.uniforms.uFade.value > 0;
      material.depthWrite = look !== 'ghost' && !this.flat;
      // Of transparent bodies only the front is drawn: the back would show through as a pattern.
      if (!this.flat) material.side = obstacle || (look === 'ghost' && !batch.impostor) ? THREE.FrontSide : THREE.DoubleSide;
      material.alphaToCoverage = Boolean(batch.impostor) && look !== 'ghost';
      material.needsUpdate = true;
    }
    this.needed = this.moved = true;
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
    this.needed = this.moved = true;
  }
  // Free what is on the graphics card.
  dispose() {
    for (const mesh of [...this.batches.map((b) => b.mesh), ...this.overlays.meshes()]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    for (const t of [...this.slots.flatMap((s) => [s.placeTexture, s.turnTexture]), this.colourTexture]) t.dispose();
    this.effects.dispose();
  }
  select(body) {
    this.uniforms.uSelected.value = body;
    this.needed = true;
  }

  // Draw into the rectangle [x, y, width, height] of the canvas, in pixels, at a level of effects.js.
  render(rectangle, level) {
    this.needed = false;
    const { renderer, effects, scene, camera, looks } = this;
    if (this.flat) {
      const ratio = renderer.getPixelRatio();
      renderer.setViewport(...rectangle.map((x) => x / ratio));
      renderer.render(scene, camera);
    } else {
      // Chains, normals, floors and transparent bodies cast no shadows.
      if (level > 0) effects.uniforms.uShadowSize.value.x = 0; // they would take as long as the picture
      else if (!this.moved) effects.uniforms.uShadowSize.value.x = 1;
      else {
        this.cull(effects.light, effects.mapSize, effects.mapSize);
        effects.castShadows(scene, [...this.overlays.meshes(),
          ...this.batches.filter((b) => b.floor || looks[b.obstacle ? 'obstacles' : 'bodies'] !== 'solid').map((b) => b.mesh)]);
      }
      if (level === 0) this.moved = false;
      this.cull(camera, rectangle[2], rectangle[3], level > 0);
      this.uniforms.uScreen.value.set(rectangle[2], rectangle[3]);
      this.uniforms.uSharp.value = level > 0; // only the target of level 0 has samples
      effects.draw(scene, camera, rectangle, Math.max(1.6 * this.typical(), 0.012 * this.reach), level);
    }
    ++this.drawn;
  }
}

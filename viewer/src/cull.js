// Which bodies can be seen at all: in a dense packing most of them lie behind others. Each body contains a
// ball and is contained in one. The disk through the middle of the inner ball, across the direction of view,
// hides what is behind it; a grid over the picture keeps the nearest such disk over each cell that it covers
// whole. A body is hidden when over all cells that its outer ball may touch something nearer lies. Nothing
// that can be seen is ever left out: gaps between bodies are cells that no disk covers.
import * as THREE from 'three';

const CELLS = 4; // per radius of a typical body
const MOST = 1 << 19; // cells of the grid

export class Culler {
  // `inner`, `outer`: radii per body, in the page's unit; an outer radius of 0: not drawn here, Infinity:
  // always seen.
  constructor(inner, outer) {
    const n = inner.length;
    Object.assign(this, { inner, outer, n, seen: new Uint8Array(n), x: new Float32Array(n), y: new Float32Array(n), z: new Float32Array(n) });
    this.grid = new Float32Array(0);
    this.matrix = new THREE.Matrix4();
    this.count = 0;
  }
  // Fill `seen` for a camera, a picture of width by height pixels, with bodies at `place` (4 numbers each)
  // that the slice does not hide; `typical`: radius of a typical body.
  look(camera, width, height, place, slice, typical) {
    camera.updateMatrixWorld();
    const m = camera.matrixWorldInverse.elements, p = camera.projectionMatrix.elements, perspective = camera.isPerspectiveCamera;
    const { inner, outer, n, seen, x, y, z } = this;
    // Pixels per unit of length, at distance 1 in perspective.
    const sx = 0.5 * width * p[0], sy = 0.5 * height * p[5];
    const near = camera.near;
    let depth = 0, found = 0;
    const cut = slice.x !== 0 || slice.y !== 0 || slice.z !== 0;
    for (let i = 0; i < n; ++i) {
      const o = 4 * i, a = place[o], b = place[o + 1], c = place[o + 2];
      if (outer[i] === 0) continue;
      seen[i] = place[o + 3] >= 0.5 && !(cut && a * slice.x + b * slice.y + c * slice.z > slice.w) ? 1 : 0;
      if (!seen[i]) continue;
      x[i] = m[0] * a + m[4] * b + m[8] * c + m[12];
      y[i] = m[1] * a + m[5] * b + m[9] * c + m[13];
      z[i] = -(m[2] * a + m[6] * b + m[10] * c + m[14]);
      depth += z[i];
      ++found;
    }
    if (!found) return;
    const scale = perspective ? 1 / Math.max(depth / found, near) : 1;
    const cell = Math.max((typical * Math.min(sx, sy) * scale) / CELLS, Math.sqrt((width * height) / MOST));
    const columns = Math.ceil(width / cell) + 1, rows = Math.ceil(height / cell) + 1;
    if (this.grid.length < columns * rows) this.grid = new Float32Array(columns * rows);
    const grid = this.grid.fill(Infinity, 0, columns * rows);
    const cx = 0.5 * width / cell, cy = 0.5 * height / cell, ux = sx / cell, uy = sy / cell;
    // In perspective the disk through the middle appears as a circle too, about the middle.
    for (let i = 0; i < n; ++i) {
      if (!seen[i] || outer[i] === 0 || !(inner[i] > 0) || z[i] - inner[i] < near) continue;
      const w = perspective ? 1 / z[i] : 1, u = cx + ux * x[i] * w, v = cy + uy * y[i] * w;
      const r = Math.min(ux, uy) * inner[i] * w - 0.3 / cell; // its rim is soft
      if (r < 0.71) continue;
      const top = Math.min(Math.floor(v + r), rows);
      for (let j = Math.max(Math.ceil(v - r), 0); j < top; ++j) {
        const off = Math.max(v - j, j + 1 - v), half = Math.sqrt(Math.max(r * r - off * off, 0));
        const end = Math.min(Math.floor(u + half), columns);
        for (let k = Math.max(Math.ceil(u - half), 0), at = j * columns + k; k < end; ++k, ++at) if (z[i] < grid[at]) grid[at] = z[i];
      }
    }
    this.count = 0;
    for (let i = 0; i < n; ++i) {
      if (!seen[i] || outer[i] === 0) continue;
      const front = z[i] - outer[i];
      if (Number.isFinite(outer[i]) && !(perspective && front <= near)) seen[i] = this.peeps(i, front, perspective, cx, cy, ux, uy, columns, rows);
      this.count += seen[i];
    }
  }
  peeps(i, front, perspective, cx, cy, ux, uy, columns, rows) {
    const { grid, outer } = this, w = perspective ? 1 / this.z[i] : 1, a = this.x[i] * w, b = this.y[i] * w;
    const wide = perspective ? outer[i] / front : outer[i]; // of its outline, at most
    const rx = ux * wide * (perspective ? Math.sqrt(1 + a * a) : 1), ry = uy * wide * (perspective ? Math.sqrt(1 + b * b) : 1);
    const u = cx + ux * a, v = cy + uy * b;
    const first = Math.max(Math.floor(u - rx), 0), last = Math.min(Math.floor(u + rx), columns - 1);
    const low = Math.max(Math.floor(v - ry), 0), high = Math.min(Math.floor(v + ry), rows - 1);
    for (let j = low; j <= high; ++j) for (let at = j * columns + first, end = j * columns + last; at <= end; ++at) if (grid[at] >= front) return 1;
    return 0;
  }
}

// A batch of bodies of which only those that are seen are drawn: squares by their index, instances by their
// attributes.
export class Thinned {
  constructor(geometry, bodies) {
    Object.assign(this, { geometry, bodies });
    if (geometry.isInstancedBufferGeometry) this.whole = ['aBody', 'aSize'].map((name) => {
      const attribute = geometry.attributes[name].setUsage(THREE.DynamicDrawUsage);
      return { attribute, all: attribute.array.slice() };
    });
    else geometry.index.setUsage(THREE.DynamicDrawUsage);
  }
  keep(seen) {
    const { geometry, bodies, whole } = this;
    let n = 0;
    if (whole) {
      for (let i = 0; i < bodies.length; ++i) {
        if (!seen[bodies[i]]) continue;
        for (const { attribute, all } of whole) for (let c = 0, s = attribute.itemSize; c < s; ++c) attribute.array[s * n + c] = all[s * i + c];
        ++n;
      }
      for (const { attribute } of whole) this.send(attribute, attribute.itemSize * n);
      geometry.instanceCount = n;
    } else {
      const { index } = geometry, list = index.array;
      for (let i = 0; i < bodies.length; ++i) {
        if (!seen[bodies[i]]) continue;
        const o = 6 * n++, v = 4 * i;
        list[o] = list[o + 3] = v;
        list[o + 1] = v + 1;
        list[o + 2] = list[o + 4] = v + 2;
        list[o + 5] = v + 3;
      }
      this.send(index, 6 * n);
      geometry.setDrawRange(0, 6 * n);
    }
  }
  send(attribute, count) {
    attribute.clearUpdateRanges();
    attribute.addUpdateRange(0, Math.max(count, 1));
    attribute.needsUpdate = true;
  }
}

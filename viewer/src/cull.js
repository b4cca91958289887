// Which bodies can be seen at all: in a dense packing most of them lie behind others. Each body contains a
// ball and is contained in one. The disk through the middle of the inner ball, across the direction of view,
// hides what is behind it; a grid over the picture keeps the nearest such disk over each cell that it covers
// whole. A body is hidden when over all cells that its outer ball may touch something nearer lies. Nothing
// that can be seen is ever left out: gaps between bodies are cells that no disk covers.
//
// Bodies are looked at from front to back, so that those that are hidden leave the grid alone: whatever they
// cover is covered by something nearer. Most of them are recognised by the farthest depth of blocks of
// cells, which is brought up to date now and then; in between it is too far, which hides less, never more.
//
// A coarse picture has one sample for each of its pixels, so a body that wins no sample is not in it, however many
// gaps it looks through. There balls are cast at the middles of the pixels, as the graphics will do it, and those
// that are nearest somewhere are seen (`sampled`): of 100 000 balls in a picture of 284 by 188 pixels 6800, not 22 000.
import * as THREE from 'three';

const CELLS = 4; // per radius of a typical body
const MOST = 1 << 19; // cells of the grid
const MOST_SAMPLES = 1 << 21; // pixels of a picture with one sample each
const BLOCK_BITS = 3;
const BLOCK = 1 << BLOCK_BITS; // cells of a block along a side
const LAYERS = 256; // by depth, in which bodies are sorted
const UPDATES = 6; // of the blocks

export class Culler {
  // `inner`, `outer`: radii per body, in the page's unit; an outer radius of 0: not drawn here, Infinity:
  // always seen.
  constructor(inner, outer) {
    const n = inner.length;
    Object.assign(this, { inner, outer, n, seen: new Uint8Array(n), x: new Float32Array(n), y: new Float32Array(n), z: new Float32Array(n) });
    Object.assign(this, { grid: new Float32Array(0), blocks: new Float32Array(0), owner: new Int32Array(0), order: new Uint32Array(n), first: new Uint32Array(LAYERS + 1) });
    this.count = 0;
  }
  // Fill `seen` for a camera, a picture of width by height pixels, with bodies at `place` (4 numbers each)
  // that the slice does not hide; `typical`: radius of a typical body; `sampled`: nothing is seen between the middles
  // of the pixels.
  look(camera, width, height, place, slice, typical, sampled = false) {
    camera.updateMatrixWorld();
    const p = camera.projectionMatrix.elements, perspective = camera.isPerspectiveCamera, { near } = camera;
    // Pixels per unit of length, at distance 1 in perspective.
    const sx = 0.5 * width * p[0], sy = 0.5 * height * p[5];
    const { found, depth } = this.project(camera, place, slice);
    this.count = 0;
    if (!found) return;
    sampled &&= perspective && width * height <= MOST_SAMPLES;
    const scale = perspective ? 1 / Math.max(depth / found, near) : 1;
    const cell = sampled ? 1 : Math.max((typical * Math.min(sx, sy) * scale) / CELLS, Math.sqrt((width * height) / MOST));
    const columns = (Math.ceil(width / cell) + BLOCK) & ~(BLOCK - 1), rows = (Math.ceil(height / cell) + BLOCK) & ~(BLOCK - 1);
    const wide = columns >> BLOCK_BITS;
    if (this.grid.length < columns * rows) {
      this.grid = new Float32Array(columns * rows);
      this.blocks = new Float32Array(wide * (rows >> BLOCK_BITS));
    }
    if (sampled && this.owner.length < columns * rows) this.owner = new Int32Array(columns * rows);
    this.grid.fill(Infinity, 0, columns * rows);
    this.blocks.fill(Infinity, 0, wide * (rows >> BLOCK_BITS));
    const frame = { columns, rows, wide, cx: (0.5 * width) / cell, cy: (0.5 * height) / cell, ux: sx / cell, uy: sy / cell, soft: 0.3 / cell };
    if (sampled) {
      this.sample(found, near, frame, Math.ceil(width), Math.ceil(height));
      return;
    }
    const { order, seen, inner, outer, z } = this, span = Math.ceil(found / UPDATES);
    for (let k = 0; k < found; ++k) {
      const i = order[k], front = z[i] - outer[i];
      if (k % span === span - 1) this.update(frame);
      if (Number.isFinite(outer[i]) && !(perspective && front <= near)) seen[i] = this.peeps(i, front, perspective, frame);
      if (!seen[i]) continue;
      ++this.count;
      if (inner[i] > 0 && z[i] - inner[i] >= near) this.cover(i, perspective, frame);
    }
  }
  // `seen` of a picture with one sample for each pixel, from the `found` bodies in order.
  sample(found, near, frame, width, height) {
    const { order, seen, inner, outer, z, grid, owner } = this, { columns } = frame, span = Math.ceil(found / UPDATES);
    for (let k = 0; k < found; ++k) {
      const i = order[k], front = z[i] - outer[i], ball = inner[i] === outer[i];
      if (k % span === span - 1) this.update(frame);
      if (!Number.isFinite(outer[i]) || front <= near) continue; // they stay seen
      seen[i] = this.cast(i, front, ball, frame, width, height);
    }
    for (let j = 0; j < height; ++j) for (let at = j * columns, end = at + width; at < end; ++at) if (grid[at] < Infinity) seen[owner[at]] = 1;
    for (let k = 0; k < found; ++k) this.count += seen[order[k]];
  }
  // Cast the inner ball of body i at the middles of pixels. Whether it is seen: a ball is only where it stays nearest,
  // others may be when their outer ball reaches a pixel in which nothing nearer is.
  cast(i, front, ball, { columns, wide, cx, cy, ux, uy }, width, height) {
    const { grid, blocks, owner } = this, x = this.x[i], y = this.y[i], z = this.z[i], outer = this.outer[i], radius = this.inner[i];
    const a = x / z, b = y / z, size = outer / front, rx = ux * size * Math.sqrt(1 + a * a), ry = uy * size * Math.sqrt(1 + b * b);
    const left = Math.max(Math.ceil(cx + ux * a - rx - 0.5), 0), right = Math.min(Math.floor(cx + ux * a + rx - 0.5), width - 1);
    const low = Math.max(Math.ceil(cy + uy * b - ry - 0.5), 0), high = Math.min(Math.floor(cy + uy * b + ry - 0.5), height - 1);
    if (left > right || low > high) return 0;
    let open = false, reached = 0;
    for (let j = low >> BLOCK_BITS; j <= high >> BLOCK_BITS && !open; ++j)
      for (let k = left >> BLOCK_BITS; k <= right >> BLOCK_BITS && !open; ++k) open = blocks[j * wide + k] >= front;
    if (!open) return 0;
    const square = radius * radius;
    for (let j = low; j <= high; ++j) {
      const v = (j + 0.5 - cy) / uy, part = y * v + z, rest = v * v + 1;
      for (let k = left, at = j * columns + left; k <= right; ++k, ++at) {
        if (grid[at] < front) continue;
        reached = 1;
        // The point of the ray (u, v, 1) that is nearest to the centre, and how far from there the ball begins.
        const u = (k + 0.5 - cx) / ux, q = u * u + rest, t = (x * u + part) / q;
        const dx = x - t * u, dy = y - t * v, dz = z - t, inside = square - dx * dx - dy * dy - dz * dz;
        if (!(inside >= 0)) continue;
        const depth = t - Math.sqrt(inside / q);
        if (depth < grid[at]) {
          grid[at] = depth;
          owner[at] = i;
        }
      }
    }
    return ball ? 0 : reached;
  }
  // Places before the camera, and the numbers of the bodies in layers from front to back.
  project(camera, place, slice) {
    const m = camera.matrixWorldInverse.elements, { outer, n, seen, x, y, z, order, first } = this;
    const cut = slice.x !== 0 || slice.y !== 0 || slice.z !== 0;
    let depth = 0, found = 0, low = Infinity, high = -Infinity;
    for (let i = 0; i < n; ++i) {
      const o = 4 * i, a = place[o], b = place[o + 1], c = place[o + 2];
      if (outer[i] === 0) continue;
      seen[i] = place[o + 3] >= 0.5 && !(cut && a * slice.x + b * slice.y + c * slice.z > slice.w) ? 1 : 0;
      if (!seen[i]) continue;
      x[i] = m[0] * a + m[4] * b + m[8] * c + m[12];
      y[i] = m[1] * a + m[5] * b + m[9] * c + m[13];
      const d = (z[i] = -(m[2] * a + m[6] * b + m[10] * c + m[14]));
      depth += d;
      if (d < low) low = d;
      if (d > high) high = d;
      ++found;
    }
    this.closest = low;
    const per = high > low ? (LAYERS - 0.01) / (high - low) : 0;
    first.fill(0);
    for (let i = 0; i < n; ++i) if (outer[i] !== 0 && seen[i]) ++first[Math.min(((z[i] - low) * per) | 0, LAYERS - 1) + 1];
    for (let k = 0; k < LAYERS; ++k) first[k + 1] += first[k];
    for (let i = 0; i < n; ++i) if (outer[i] !== 0 && seen[i]) order[first[Math.min(((z[i] - low) * per) | 0, LAYERS - 1)]++] = i;
    return { found, depth };
  }
  // The farthest depth in each block.
  update({ columns, rows, wide }) {
    const { grid, blocks } = this;
    for (let r = 0, block = 0; r < rows; r += BLOCK) for (let c = 0; c < columns; c += BLOCK, ++block) {
      let far = 0;
      for (let j = r; j < r + BLOCK && far < Infinity; ++j) for (let at = j * columns + c, end = at + BLOCK; at < end; ++at) if (grid[at] > far) far = grid[at];
      blocks[block] = far;
    }
  }
  // The cells that the disk of body i covers whole. In perspective it appears as a circle too, about the middle.
  cover(i, perspective, { columns, rows, cx, cy, ux, uy, soft }) {
    const { grid, inner, x, y, z } = this, d = z[i];
    const w = perspective ? 1 / d : 1, u = cx + ux * x[i] * w, v = cy + uy * y[i] * w;
    const r = Math.min(ux, uy) * inner[i] * w - soft; // its rim is soft
    if (r < 0.71) return;
    const top = Math.min(Math.floor(v + r), rows);
    for (let j = Math.max(Math.ceil(v - r), 0); j < top; ++j) {
      const off = Math.max(v - j, j + 1 - v), half = Math.sqrt(Math.max(r * r - off * off, 0));
      const end = Math.min(Math.floor(u + half), columns);
      for (let k = Math.max(Math.ceil(u - half), 0), at = j * columns + k; k < end; ++k, ++at) if (d < grid[at]) grid[at] = d;
    }
  }
  peeps(i, front, perspective, { columns, rows, wide, cx, cy, ux, uy }) {
    const { grid, blocks, outer } = this, w = perspective ? 1 / this.z[i] : 1, a = this.x[i] * w, b = this.y[i] * w;
    const size = perspective ? outer[i] / front : outer[i]; // of its outline, at most
    const rx = ux * size * (perspective ? Math.sqrt(1 + a * a) : 1), ry = uy * size * (perspective ? Math.sqrt(1 + b * b) : 1);
    const u = cx + ux * a, v = cy + uy * b;
    const left = Math.max(Math.floor(u - rx), 0), right = Math.min(Math.floor(u + rx), columns - 1);
    const low = Math.max(Math.floor(v - ry), 0), high = Math.min(Math.floor(v + ry), rows - 1);
    if (left > right || low > high) return 0; // outside of the picture
    let open = false;
    for (let j = low >> BLOCK_BITS; j <= high >> BLOCK_BITS && !open; ++j)
      for (let k = left >> BLOCK_BITS; k <= right >> BLOCK_BITS && !open; ++k) open = blocks[j * wide + k] >= front;
    if (!open) return 0;
    for (let j = low; j <= high; ++j) for (let at = j * columns + left, end = j * columns + right; at <= end; ++at) if (grid[at] >= front) return 1;
    return 0;
  }
}

// A batch of bodies of which only those that are seen are drawn: points and squares by their index, instances by
// their attributes.
export class Thinned {
  constructor(mesh, bodies) {
    const { geometry } = mesh;
    Object.assign(this, { mesh, geometry, bodies });
    if (geometry.isInstancedBufferGeometry) this.whole = ['aBody', 'aSize'].map((name) => {
      const attribute = geometry.attributes[name].setUsage(THREE.DynamicDrawUsage);
      return { attribute, all: attribute.array.slice() };
    });
    else geometry.index.setUsage(THREE.DynamicDrawUsage);
  }
  // null: all of them.
  keep(seen) {
    const { geometry, bodies, whole, mesh } = this;
    let n = 0;
    if (!seen && this.all) return;
    this.all = !seen;
    if (mesh.isPoints) {
      const { index } = geometry, list = index.array;
      for (let i = 0; i < bodies.length; ++i) if (!seen || seen[bodies[i]]) list[n++] = i;
      this.send(index, n);
      geometry.setDrawRange(0, n);
      return;
    }
    if (whole) {
      for (let i = 0; i < bodies.length; ++i) {
        if (seen && !seen[bodies[i]]) continue;
        for (const { attribute, all } of whole) for (let c = 0, s = attribute.itemSize; c < s; ++c) attribute.array[s * n + c] = all[s * i + c];
        ++n;
      }
      for (const { attribute } of whole) this.send(attribute, attribute.itemSize * n);
      geometry.instanceCount = n;
    } else {
      const { index } = geometry, list = index.array;
      for (let i = 0; i < bodies.length; ++i) {
        if (seen && !seen[bodies[i]]) continue;
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

// Triangles of shapes, in the body's frame and in the page's unit of length.
import * as THREE from 'three';

// Geometry that every batch of meshes needs: position, normal, aEnd and aGrid per vertex.
function complete(geometry, end) {
  const n = geometry.attributes.position.count;
  geometry.setAttribute('aEnd', new THREE.BufferAttribute(end || new Float32Array(n), 1));
  geometry.setAttribute('aGrid', new THREE.BufferAttribute(new Float32Array(2 * n), 2));
  geometry.deleteAttribute('uv');
  return geometry;
}

// A unit ball: the six faces of a cube, each cut by equal angles. It has no poles: where the triangles of many
// meridians meet, edges would be drawn (effects.js).
export function ball(segments) {
  const n = Math.ceil(segments / 4), positions = [], index = [];
  const along = (k) => (k === 0 ? -1 : k === n ? 1 : Math.tan((Math.PI / 4) * ((2 * k) / n - 1)));
  for (let axis = 0; axis < 3; ++axis)
    for (const side of [-1, 1]) {
      const first = positions.length / 3;
      for (let j = 0; j <= n; ++j)
        for (let i = 0; i <= n; ++i) {
          const p = [0, 0, 0];
          p[axis] = side;
          p[(axis + 1) % 3] = along(i);
          p[(axis + 2) % 3] = along(j);
          const size = Math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
          positions.push(p[0] / size, p[1] / size, p[2] / size);
        }
      for (let j = 0; j < n; ++j)
        for (let i = 0; i < n; ++i) {
          const v = first + j * (n + 1) + i, w = v + n + 1;
          index.push(...(side > 0 ? [v, v + 1, w + 1, v, w + 1, w] : [v, w + 1, v + 1, v, w, w + 1]));
        }
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute('normal', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setIndex(index);
  return complete(geometry);
}
export function cube() {
  return complete(new THREE.BoxGeometry(2, 2, 2));
}
// A unit ball along z, cut at the equator: the halves are moved apart by aEnd times half the length.
export function capsule(segments) {
  const positions = [], ends = [], index = [];
  const rings = Math.max(2, Math.ceil(segments / 4));
  for (const end of [1, -1])
    for (let k = 0; k <= rings; ++k) {
      const height = end > 0 ? Math.PI / 2 - (k * Math.PI) / 2 / rings : (-k * Math.PI) / 2 / rings;
      for (let s = 0; s <= segments; ++s) {
        const a = (2 * Math.PI * s) / segments;
        positions.push(Math.cos(height) * Math.cos(a), Math.cos(height) * Math.sin(a), Math.sin(height));
        ends.push(end);
      }
    }
  const row = segments + 1;
  for (let k = 0; k < 2 * rings + 1; ++k)
    for (let s = 0; s < segments; ++s) {
      const p = k * row + s;
      index.push(p, p + row, p + 1, p + 1, p + row, p + row + 1);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute('normal', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setIndex(index);
  return complete(geometry, new Float32Array(ends));
}
export function beam(sides) {
  const geometry = new THREE.CylinderGeometry(1, 1, 1, sides, 1);
  geometry.rotateX(Math.PI / 2);
  geometry.translate(0, 0, 0.5);
  geometry.deleteAttribute('uv');
  return geometry;
}

// Normals of the corners of triangles, 9 numbers a triangle: the mean over the triangles at that vertex
// which turn away from this one by less than 35 degrees, so that round surfaces are smooth and edges sharp.
const SMOOTH = Math.cos((35 * Math.PI) / 180);
export function cornerNormals(points, triangles) {
  const n = triangles.length, face = new Float64Array(4 * n), normals = new Float32Array(9 * n);
  const around = points.map(() => []);
  triangles.forEach(([a, b, c], k) => {
    const p = points[a], u = [0, 1, 2].map((i) => points[b][i] - p[i]), v = [0, 1, 2].map((i) => points[c][i] - p[i]);
    const w = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], size = Math.hypot(...w) || 1e-300;
    face.set([w[0] / size, w[1] / size, w[2] / size, size], 4 * k);
    for (const corner of [a, b, c]) around[corner].push(k);
  });
  for (let k = 0; k < n; ++k)
    for (let m = 0; m < 3; ++m) {
      const o = 9 * k + 3 * m;
      for (const j of around[triangles[k][m]]) {
        const turn = face[4 * j] * face[4 * k] + face[4 * j + 1] * face[4 * k + 1] + face[4 * j + 2] * face[4 * k + 2];
        if (turn >= SMOOTH) for (let i = 0; i < 3; ++i) normals[o + i] += face[4 * j + i] * face[4 * j + 3];
      }
      const size = Math.hypot(normals[o], normals[o + 1], normals[o + 2]) || 1;
      for (let i = 0; i < 3; ++i) normals[o + i] /= size;
    }
  return normals;
}

// Radius of a ball about the origin inside closed triangles, at most: the nearest of their planes. 0 if the
// origin is outside of one of them.
export function innerRadius(points, triangles) {
  let least = Infinity;
  for (const [a, b, c] of triangles) {
    const p = points[a], u = [0, 1, 2].map((i) => points[b][i] - p[i]), v = [0, 1, 2].map((i) => points[c][i] - p[i]);
    const w = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], size = Math.hypot(...w);
    if (size > 0) least = Math.min(least, (p[0] * w[0] + p[1] * w[1] + p[2] * w[2]) / size);
  }
  return Number.isFinite(least) ? Math.max(least, 0) : 0;
}

// Many different shapes in one mesh: a body per vertex.
export class Merger {
  constructor() {
    Object.assign(this, { position: [], normal: [], body: [], grid: [], index: [], lines: [] });
  }
  vertex(body, p, n, g = [0, 0]) {
    this.position.push(...p);
    this.normal.push(...n);
    this.body.push(body);
    this.grid.push(...g);
    return this.body.length - 1;
  }
  quad(body, corners, normal, grid) {
    const first = corners.map((p, i) => this.vertex(body, p, normal, grid && grid[i]))[0];
    this.index.push(first, first + 1, first + 2, first, first + 2, first + 3);
  }
  // A convex polygon of the plane and its outline.
  polygon(body, points) {
    const first = this.body.length;
    for (const p of points) this.vertex(body, [p[0], p[1], 0], [0, 0, 1]);
    for (let k = 2; k < points.length; ++k) this.index.push(first, first + k - 1, first + k);
    points.forEach((_, k) => this.lines.push(first + k, first + ((k + 1) % points.length)));
  }
  // Any body as triangles, three vertices each; the first vertex is returned, for those that change
  // their shape.
  mesh(body, points, triangles) {
    const first = this.body.length, normals = cornerNormals(points, triangles);
    triangles.forEach((t, k) => {
      for (let m = 0; m < 3; ++m) this.index.push(this.vertex(body, points[t[m]], normals.subarray(9 * k + 3 * m, 9 * k + 3 * m + 3)));
    });
    return first;
  }
  // The ring round a circle: the solid outside of a drum of the plane.
  ring(body, radius, width) {
    const n = 128, first = this.body.length;
    for (let k = 0; k <= n; ++k) {
      const a = (2 * Math.PI * k) / n, c = Math.cos(a), s = Math.sin(a), g = (k * 32) / n;
      this.vertex(body, [radius * c, radius * s, 0], [0, 0, 1], [g, 0.5]);
      this.vertex(body, [(radius + width) * c, (radius + width) * s, 0], [0, 0, 1], [g, 0.5]);
      if (k < n) this.index.push(first + 2 * k, first + 2 * k + 1, first + 2 * k + 2, first + 2 * k + 2, first + 2 * k + 1, first + 2 * k + 3);
    }
  }
  // The inside of a cylinder along z; its normals look at the axis, so that the near side, seen from
  // behind, is not drawn.
  tube(body, radius, half, closed) {
    const n = 96, first = this.body.length, spacing = (2 * Math.PI * radius) / 24;
    for (let k = 0; k <= n; ++k) {
      const a = (2 * Math.PI * k) / n, c = Math.cos(a), s = Math.sin(a), g = (k * 24) / n;
      this.vertex(body, [radius * c, radius * s, -half], [-c, -s, 0], [g, -half / spacing]);
      this.vertex(body, [radius * c, radius * s, half], [-c, -s, 0], [g, half / spacing]);
      if (k < n) this.index.push(first + 2 * k, first + 2 * k + 1, first + 2 * k + 2, first + 2 * k + 2, first + 2 * k + 1, first + 2 * k + 3);
    }
    if (closed)
      for (const end of [-1, 1]) {
        const centre = this.vertex(body, [0, 0, end * half], [0, 0, -end], [0.5, 0.5]);
        for (let k = 0; k <= n; ++k) {
          const a = (2 * Math.PI * k) / n;
          const v = this.vertex(body, [radius * Math.cos(a), radius * Math.sin(a), end * half], [0, 0, -end], [0.5, 0.5]);
          if (k > 0) this.index.push(...(end < 0 ? [centre, v - 1, v] : [centre, v, v - 1]));
        }
      }
  }
  geometry() {
    const geometry = new THREE.BufferGeometry();
    const n = this.body.length;
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(this.position, 3));
    geometry.setAttribute('normal', new THREE.Float32BufferAttribute(this.normal, 3));
    geometry.setAttribute('aBody', new THREE.Float32BufferAttribute(this.body, 1));
    geometry.setAttribute('aGrid', new THREE.Float32BufferAttribute(this.grid, 2));
    geometry.setAttribute('aEnd', new THREE.BufferAttribute(new Float32Array(n), 1));
    geometry.setAttribute('aSize', new THREE.BufferAttribute(new Float32Array(4 * n).fill(1), 4));
    geometry.setAttribute('aTone', new THREE.BufferAttribute(new Uint8Array(4 * n), 4, true));
    geometry.setIndex(this.index);
    return geometry;
  }
}

// A page with made-up data, for what no run has yet: bodies given by triangles, one of which changes its
// shape. makeUp(TEMPLATE) gives the text of a page of two bodies and three frames: a tetrahedron that
// stays, and beside it a pyramid whose top rises from 1 to 3.
import { deflateSync } from 'node:zlib';

const TYPES = { u8: [0, 1], u32: [4, 4], f64: [6, 8] };

// A block as src/io/report_block.h describes it, without prediction.
function block(columns) {
  const parts = [Buffer.from('SCB2'), Buffer.from(Uint32Array.of(columns.length).buffer)];
  for (const { name, type, comps, frames = 1, values } of columns) {
    const [code, width] = TYPES[type], count = values.length / comps / frames, head = Buffer.alloc(112);
    head.write(name);
    head.set([code, comps, 0, 0], 64);
    head.writeUInt32LE(frames, 68);
    head.writeUInt32LE(count, 72);
    head.writeDoubleLE(1, 80);
    const data = Buffer.alloc(values.length * width), one = Buffer.alloc(8);
    values.forEach((value, i) => {
      type === 'f64' ? one.writeDoubleLE(value) : one.writeUInt32LE(value);
      for (let b = 0; b < width; ++b) data[b * values.length + i] = one[b];
    });
    parts.push(head, data);
  }
  return deflateSync(Buffer.concat(parts)).toString('base64');
}

// Lists of points as a column has them: all x, all y, all z.
const columns = (points) => [0, 1, 2].flatMap((c) => points.map((p) => p[c]));

export function makeUp(template) {
  const tetrahedron = [[-0.5, -0.5, 0], [0.5, -0.5, 0], [0, 0.6, 0], [0, 0, 1]];
  const pyramid = (height) => [[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0], [0, 0, height]];
  const triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
  const heights = [1, 2, 3], each = (values) => heights.flatMap(() => values);
  const still = block([
    { name: 'kind', type: 'u8', comps: 1, values: [0, 0] }, { name: 'obstacle', type: 'u8', comps: 1, values: [0, 0] },
    { name: 'material', type: 'u8', comps: 1, values: [0, 0] }, { name: 'mass', type: 'f64', comps: 1, values: [1, 2] },
    { name: 'volume', type: 'f64', comps: 1, values: [1, 1] }, { name: 'size', type: 'f64', comps: 1, values: [1, 1] },
    { name: 'radius', type: 'f64', comps: 1, values: [1.5, 3.5] }, { name: 'shape', type: 'f64', comps: 5, values: Array(10).fill(0) },
    { name: 'vertex_first', type: 'u32', comps: 1, values: [0, 4] }, { name: 'vertex_count', type: 'u32', comps: 1, values: [4, 5] },
    { name: 'vertices', type: 'f64', comps: 3, values: columns([...tetrahedron, ...pyramid(1)]) },
    { name: 'triangle_first', type: 'u32', comps: 1, values: [0, 4] }, { name: 'triangle_count', type: 'u32', comps: 1, values: [4, 6] },
    { name: 'triangles', type: 'u32', comps: 3, values: columns(triangles) },
    { name: 'deformed_first', type: 'u32', comps: 1, values: [0xffffffff, 0] },
  ]);
  const frames = block([
    { name: 'position', type: 'f64', comps: 3, frames: 3, values: each(columns([[-1, 0, 0], [1, 0, 0]])) },
    { name: 'orientation', type: 'f64', comps: 4, frames: 3, values: each([1, 1, 0, 0, 0, 0, 0, 0]) },
    { name: 'velocity', type: 'f64', comps: 3, frames: 3, values: each(Array(6).fill(0)) },
    { name: 'angular', type: 'f64', comps: 3, frames: 3, values: each(Array(6).fill(0)) },
    { name: 'deformed', type: 'f64', comps: 3, frames: 3, values: heights.flatMap((h) => columns(pyramid(h))) },
  ]);
  const meta = {
    format: 1, title: 'Made up', program: 'test', dimension: 3, stream: false, turns: true, telemetry: false, h: 0.1,
    origin: [0, 0, 1], length: 2, bounds: [[-1.6, -0.6, 0], [1.6, 0.6, 3]], up: [0, 0, 1], ranges: {}, kinds: ['mesh'],
    materials: ['clay'], materialColours: [[200, 80, 40]], times: [0, 1, 2], steps: [0, 1, 2], blockFrames: 3, contactFrames: [],
    certificate: { good: true, verdict: 'Made up.', lines: [] },
  };
  const payload = `<script type="application/json" id="scree-meta">${JSON.stringify(meta)}</script>
<script type="application/octet-stream" id="scree-static">${still}</script>
<script type="application/octet-stream" id="scree-b0">${frames}</script>
`;
  return template.replace('<!--scree-payload-->', () => payload);
}

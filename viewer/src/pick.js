// Picking: bodies by ray casting on their exact shapes, contacts by their
// distance on the screen.
import * as THREE from 'three';

function hitEllipsoid(o, d, semi) {
  const p = [o.x / semi[0], o.y / semi[1], o.z / semi[2]], q = [d.x / semi[0], d.y / semi[1], d.z / semi[2]];
  const a = q[0] ** 2 + q[1] ** 2 + q[2] ** 2, b = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
  const off = p.map((x, i) => x - (b / a) * q[i]);
  const inside = 1 - (off[0] ** 2 + off[1] ** 2 + off[2] ** 2);
  return inside < 0 ? Infinity : -b / a - Math.sqrt(inside / a);
}
function hitBox(o, d, semi) {
  let near = -Infinity, far = Infinity;
  for (const [i, axis] of ['x', 'y', 'z'].entries()) {
    const t1 = (-semi[i] - o[axis]) / d[axis], t2 = (semi[i] - o[axis]) / d[axis];
    near = Math.max(near, Math.min(t1, t2));
    far = Math.min(far, Math.max(t1, t2));
  }
  return near <= far ? near : Infinity;
}
// Walks along the ray by the distance to the capsule.
function hitCapsule(o, d, radius, half) {
  let t = 0;
  const p = new THREE.Vector3();
  for (let k = 0; k < 96; ++k) {
    p.copy(d).multiplyScalar(t).add(o);
    const z = Math.abs(p.z) > half ? Math.abs(p.z) - half : 0;
    const gap = Math.hypot(p.x, p.y, z) - radius;
    if (gap < 1e-4 * radius) return t;
    t += gap;
    if (gap > 1e6 * radius) break;
  }
  return Infinity;
}
function insidePolygon(x, y, points) {
  for (let k = 0; k < points.length; ++k) {
    const [ax, ay] = points[k], [bx, by] = points[(k + 1) % points.length];
    if ((bx - ax) * (y - ay) - (by - ay) * (x - ax) < 0) return false;
  }
  return points.length > 2;
}

// The nearest of a body's triangles (Moeller and Trumbore).
function hitTriangles(o, d, { points, triangles }) {
  const v = points.map((p) => new THREE.Vector3(...p)), p = new THREE.Vector3(), q = new THREE.Vector3(), t = new THREE.Vector3();
  let best = Infinity;
  for (const [a, b, c] of triangles) {
    const e1 = v[b].clone().sub(v[a]), e2 = v[c].clone().sub(v[a]);
    p.crossVectors(d, e2);
    const det = e1.dot(p);
    if (det === 0) continue;
    t.copy(o).sub(v[a]);
    const x = t.dot(p) / det;
    q.crossVectors(t, e1);
    const y = d.dot(q) / det, s = e2.dot(q) / det;
    if (x >= 0 && y >= 0 && x + y <= 1 && s > 0 && s < best) best = s;
  }
  return best;
}

function hitBody(view, body, o, d) {
  const s = view.shape(body), mesh = view.meshes.get(body);
  if (mesh) return hitTriangles(o, d, mesh);
  const flat = view.flat ? -o.z / d.z : 0, x = o.x + flat * d.x, y = o.y + flat * d.y;
  switch (s.kind) {
    case 'disk': return Math.hypot(x, y) <= s.radius ? flat : Infinity;
    case 'ellipse': return Math.hypot(x / s.semi[0], y / s.semi[1]) <= 1 ? flat : Infinity;
    case 'segment': return Math.hypot(Math.max(Math.abs(x) - s.half, 0), y) <= Math.max(s.radius, 0.002 * view.reach) ? flat : Infinity;
    case 'polygon': return insidePolygon(x, y, view.vertices(body)) ? flat : Infinity;
    case 'sphere': return hitEllipsoid(o, d, [s.radius, s.radius, s.radius]);
    case 'ellipsoid': return hitEllipsoid(o, d, s.semi);
    case 'box': return hitBox(o, d, s.semi);
    case 'capsule': return hitCapsule(o, d, s.radius, s.half);
    default: return Infinity; // unbounded obstacles are found by number
  }
}

// x, y from -1 to 1 in a view of `width` by `height`. Returns { body }, { contact } or null.
export function pick(view, { x, y, width, height }) {
  const { camera } = view;
  if (view.overlays.points) {
    const contact = pickContact(view, x, y, width, height);
    if (contact >= 0) return { contact };
  }
  const ray = new THREE.Raycaster();
  ray.setFromCamera(new THREE.Vector2(x, y), camera);
  const slice = view.uniforms.uSlice.value, o = new THREE.Vector3(), d = new THREE.Vector3(), turn = new THREE.Quaternion();
  const centre = new THREE.Vector3(), L = view.run.meta.length;
  let best = Infinity, found = -1;
  const looks = { false: view.looks.bodies !== 'hidden', true: view.looks.obstacles === 'solid' };
  for (let body = 0; body < view.run.bodies; ++body) {
    const at = 4 * body, obstacle = Boolean(view.run.fixed.obstacle.at(0, 0, body));
    if (!view.place[at + 3] || !looks[obstacle]) continue;
    centre.set(view.place[at], view.place[at + 1], view.place[at + 2]);
    if ((slice.x || slice.y || slice.z) && centre.x * slice.x + centre.y * slice.y + centre.z * slice.z > slice.w) continue;
    const radius = view.run.fixed.radius.at(0, 0, body) / L;
    if (Number.isFinite(radius) && ray.ray.distanceSqToPoint(centre) > 1.01 * radius * radius + 1e-4 * view.reach * view.reach * (view.flat ? 1 : 0)) continue;
    turn.set(view.turn[at], view.turn[at + 1], view.turn[at + 2], view.turn[at + 3]).invert();
    o.copy(ray.ray.origin).sub(centre).applyQuaternion(turn);
    d.copy(ray.ray.direction).applyQuaternion(turn);
    // Bodies lie over obstacles in the plane.
    const t = hitBody(view, body, o, d) + (view.flat && obstacle ? 1e-3 : 0);
    if (t < best) {
      best = t;
      found = body;
    }
  }
  return found >= 0 ? { body: found } : null;
}

function pickContact(view, x, y, width, height) {
  const p = new THREE.Vector3(), { points } = view.overlays;
  let best = Infinity, found = -1;
  const depthOf = (q) => q.z;
  for (let c = 0; c < points.length / 3; ++c) {
    p.set(points[3 * c], points[3 * c + 1], points[3 * c + 2]).project(view.camera);
    const px = ((p.x - x) * width) / 2, py = ((p.y - y) * height) / 2;
    const off = Math.hypot(px, py);
    if (off > 9 || p.z > 1) continue;
    const score = off + 1e-3 * depthOf(p);
    if (score < best) {
      best = score;
      found = c;
    }
  }
  return found;
}

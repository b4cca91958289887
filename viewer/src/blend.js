// States between two frames, for what is not drawn: the places at which one picks, follows and hides bodies.
// shaders.js does the same for what is drawn. `n` numbers, 4 for each body.
export function mixPlaces(a, b, blend, out, n) {
  for (let o = 0; o < n; o += 4) {
    const t = b[o + 3] ? blend : 0; // a removed body disappears where it is
    out[o] = a[o] + t * (b[o] - a[o]);
    out[o + 1] = a[o + 1] + t * (b[o + 1] - a[o + 1]);
    out[o + 2] = a[o + 2] + t * (b[o + 2] - a[o + 2]);
    out[o + 3] = a[o + 3];
  }
}
export function mixTurns(p, q, blend, out, n) {
  for (let o = 0; o < n; o += 4) {
    const sign = p[o] * q[o] + p[o + 1] * q[o + 1] + p[o + 2] * q[o + 2] + p[o + 3] * q[o + 3] < 0 ? -blend : blend;
    const x = (1 - blend) * p[o] + sign * q[o], y = (1 - blend) * p[o + 1] + sign * q[o + 1];
    const z = (1 - blend) * p[o + 2] + sign * q[o + 2], w = (1 - blend) * p[o + 3] + sign * q[o + 3];
    const size = 1 / Math.sqrt(x * x + y * y + z * z + w * w || 1);
    out[o] = x * size;
    out[o + 1] = y * size;
    out[o + 2] = z * size;
    out[o + 3] = w * size;
  }
}
// Which bodies there are in a frame.
export function markPresent({ columns: { position, present }, f }, place, bodies) {
  const n = Math.min(position.count, bodies);
  for (let i = 0; i < n; ++i) place[4 * i + 3] = present ? present.data[f * present.count + i] : 1;
  for (let i = n; i < bodies; ++i) place[4 * i + 3] = 0;
}

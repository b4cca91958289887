// The data of a run. It comes in blocks, which are decoded when they are needed (decode.js). A page
// made by `scree report` has every block inside it as base64, in the order of their use, after the
// script: the first frame is shown while the browser still reads the rest. Under `scree view` a block
// is requested from the server.
import { decode, fromBase64 } from './decode.js';

// A column: frames x components x count numbers; value = offset[component] + scale q, or, on a
// square curve, offset + scale q |q|, which keeps small values fine.
class Column {
  constructor(stored) {
    Object.assign(this, stored); // data, frames, comps, count, curve, scale, offset
  }
  at(frame, comp, item) {
    const q = this.data[(frame * this.comps + comp) * this.count + item];
    return this.offset[comp] + this.scale * (this.curve ? q * Math.abs(q) : q);
  }
  // out[start + stride i] = (value_i + add) * mul
  unpack(frame, comp, out, start, stride, add = 0, mul = 1) {
    const { data, count, scale, curve } = this;
    const from = (frame * this.comps + comp) * count;
    const shift = (this.offset[comp] + add) * mul, factor = scale * mul;
    if (curve)
      for (let i = 0, o = start; i < count; ++i, o += stride) out[o] = shift + factor * data[from + i] * Math.abs(data[from + i]);
    else for (let i = 0, o = start; i < count; ++i, o += stride) out[o] = shift + factor * data[from + i];
  }
  // Half of the distance between neighbouring values: the error of a shown number.
  resolution(value) {
    if (this.data instanceof Float64Array || this.data instanceof Uint32Array) return 0;
    if (this.data instanceof Float32Array) return Math.abs(this.scale) * 6e-8 * Math.max(Math.abs(value / this.scale), 1e-30);
    return this.curve ? Math.sqrt(Math.abs(value * this.scale)) + 0.5 * this.scale : 0.5 * this.scale;
  }
}

// Blocks are decoded by a worker once it is started; by the page itself before that, where there is
// none, and for pictures, which must be complete when the page has loaded. The first frame is
// decoded sooner than a worker starts.
class Decoder {
  constructor() {
    this.waiting = new Map();
    this.last = 0;
    this.worker = null;
  }
  start() {
    try {
      this.worker = new Worker(URL.createObjectURL(new Blob([SCREE_WORKER], { type: 'text/javascript' })));
      this.worker.onmessage = ({ data: { id, columns, error } }) => {
        const { resolve, reject } = this.waiting.get(id);
        this.waiting.delete(id);
        error ? reject(new Error(error)) : resolve(columns);
      };
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.worker = null;
        for (const { resolve, reject, stored } of this.waiting.values()) this.here(stored).then(resolve, reject);
        this.waiting.clear();
      };
    } catch {
      this.worker = null;
    }
  }
  async here(stored) {
    return decode(typeof stored === 'string' ? fromBase64(stored) : stored);
  }
  async columns(stored) {
    const found = !this.worker ? await this.here(stored) : await new Promise((resolve, reject) => {
      this.waiting.set(++this.last, { resolve, reject, stored });
      this.worker.postMessage({ id: this.last, stored });
    });
    return Object.fromEntries(Object.entries(found).map(([name, column]) => [name, new Column(column)]));
  }
}

// An element of the page by its id, when all of it has been read; null when the page has none.
async function element(id) {
  for (;;) {
    const loading = document.readyState === 'loading', found = document.getElementById(id);
    if (found && (found.nextSibling || !loading)) return found;
    if (!loading) return null;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export class Run {
  // `number`: of several runs that are compared; their elements and resources have it in their names.
  constructor(meta, number = 0) {
    this.meta = meta;
    this.prefix = number ? `scree${number}-` : 'scree-';
    this.path = number ? `${number}/` : '';
    this.times = meta.times;
    this.steps = meta.steps;
    this.count = meta.times.length;
    this.decoder = new Decoder();
    this.cache = new Map(); // block name -> columns, or a promise of them
    this.order = []; // names of decoded blocks, oldest first
    this.held = 0; // their size in bytes
  }

  async load() {
    this.fixed = await this.block('static');
    this.telemetry = this.meta.telemetry ? await this.block('telemetry') : {};
    this.bodies = this.fixed.kind ? this.fixed.kind.count : 0;
  }

  // The columns of a block, read once.
  async block(name) {
    const known = this.cache.get(name);
    if (known) return known;
    const promise = this.read(name).then((columns) => {
      this.cache.set(name, columns);
      if (name !== 'static' && name !== 'telemetry') this.forgetOld(name, columns);
      return columns;
    });
    this.cache.set(name, promise);
    promise.catch(() => this.cache.delete(name));
    return promise;
  }

  async read(name) {
    if (this.meta.stream) {
      const answer = await fetch(`${this.path}block/${name}`);
      if (!answer.ok) throw new Error(`the server did not give block ${name}: ${answer.status} ${await answer.text()}`);
      return this.decoder.columns(new Uint8Array(await answer.arrayBuffer()));
    }
    const holder = await element(`${this.prefix}${name}`);
    if (!holder) throw new Error(`this page has no block ${name}: it was cut short`);
    return this.decoder.columns(holder.textContent.trim());
  }

  // The oldest blocks are freed when the decoded data exceeds its limit.
  forgetOld(name, columns) {
    const bytes = Object.values(columns).reduce((sum, column) => sum + column.data.byteLength, 0);
    this.order.push({ name, bytes });
    this.held += bytes;
    while (this.held > 6e8 && this.order.length > 8) {
      const old = this.order.shift();
      this.held -= old.bytes;
      this.cache.delete(old.name);
    }
  }

  // A run that goes on: ask the server what there is by now. Blocks of frames that were read stay true.
  // Gives what changed: { frames, bodies, ended }, or null.
  async refresh() {
    const meta = await describe(this.path ? parseInt(this.path, 10) : 0);
    const changed = { frames: meta.times.length - this.count, bodies: meta.bodies !== this.meta.bodies, ended: !meta.live };
    // The unit of length and the origin stay: views are built on them.
    Object.assign(this.meta, meta, { origin: this.meta.origin, length: this.meta.length });
    this.times = meta.times;
    this.steps = meta.steps;
    this.count = meta.times.length;
    if (changed.bodies) {
      this.cache.clear();
      this.order = [];
      this.held = 0;
      await this.load();
    } else if (changed.frames) {
      this.cache.delete('telemetry');
      this.telemetry = meta.telemetry ? await this.block('telemetry') : {};
    }
    return changed;
  }

  // Block and place in it of a frame.
  place(frame) {
    const { blockFrames } = this.meta;
    const b = Math.floor(frame / blockFrames);
    return { name: `b${b}`, local: frame - b * blockFrames };
  }
  // Frame `k` if it is at hand: { columns, f }; asks for it otherwise.
  peek(k) {
    const { name, local } = this.place(k);
    const found = this.cache.get(name);
    if (found && !(found instanceof Promise)) return { columns: found, f: local };
    if (!found) this.block(name).catch((error) => this.onerror?.(error));
    return null;
  }
  // How a body is turned, scalar first. A compact page has it for bodies that are not round alone.
  turnOf({ columns, f }, body, out = [1, 0, 0, 0]) {
    const { orientation, turned } = columns;
    const item = turned ? turned.data.indexOf(body) : body;
    for (let c = 0; c < 4; ++c) out[c] = item < 0 ? Number(c === 0) : orientation.at(f, c, item);
    return out;
  }
  async frame(k) {
    const { name, local } = this.place(k);
    return { columns: await this.block(name), f: local };
  }

  // The saved frame with contacts that is nearest to frame k; -1 when there is none.
  contactFrame(k) {
    let best = -1;
    for (const c of this.meta.contactFrames) if (best < 0 || Math.abs(c - k) < Math.abs(best - k)) best = c;
    return best;
  }
  peekContacts(k) {
    const c = this.contactFrame(k);
    if (c < 0) return null;
    const found = this.cache.get(`c${c}`);
    if (found && !(found instanceof Promise)) return found;
    if (!found) this.block(`c${c}`).catch((error) => this.onerror?.(error));
    return null;
  }
  async contacts(k) {
    const c = this.contactFrame(k);
    return c < 0 ? null : this.block(`c${c}`);
  }
}

// The run described by the page itself, or by the server behind it; `number` of those that are compared.
export async function openRun(number = 0) {
  const holder = await element(number ? `scree${number}-meta` : 'scree-meta');
  if (holder) return new Run(JSON.parse(holder.textContent), number);
  if (location.protocol === 'file:') throw new Error('This page holds no run: it is the template that scree report fills.');
  return new Run(await describe(number), number);
}
async function describe(number) {
  const answer = await fetch(`${number ? `${number}/` : ''}meta.json`);
  if (!answer.ok) throw new Error(`the server gave no description of the run: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

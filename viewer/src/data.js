// The data of a run. It comes in blocks: zlib streams that hold columns of numbers (the layout is
// written in docs/VIEWER.md and by src/io/report_block.c). A page made by `scree report` has every
// block inside it as base64; under `scree view` a block is asked from the server when it is needed.
import { unzlibSync } from 'fflate';

const TYPES = [Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Float32Array, Float64Array];
const MAGIC = 0x31424353; // "SCB1"

// A column: frames x components x count numbers; value = offset[component] + scale q, or, on a
// square curve, offset + scale q |q|, which keeps small values fine.
class Column {
  constructor(data, frames, comps, count, curve, scale, offset) {
    Object.assign(this, { data, frames, comps, count, curve, scale, offset });
  }
  at(frame, comp, item) {
    const q = this.data[(frame * this.comps + comp) * this.count + item];
    return this.offset[comp] + this.scale * (this.curve ? q * Math.abs(q) : q);
  }
  // out[start + stride i] = (value_i + add) * mul
  unpack(frame, comp, out, start, stride, add = 0, mul = 1) {
    const { data, count, scale, curve } = this;
    const from = (frame * this.comps + comp) * count;
    const shift = this.offset[comp] + add;
    for (let i = 0, o = start; i < count; ++i, o += stride) {
      const q = data[from + i];
      out[o] = (shift + scale * (curve ? q * Math.abs(q) : q)) * mul;
    }
  }
  // Half of the distance between neighbouring values: what a shown number may be off by.
  resolution(value) {
    if (this.data instanceof Float64Array || this.data instanceof Uint32Array) return 0;
    if (this.data instanceof Float32Array) return Math.abs(this.scale) * 6e-8 * Math.max(Math.abs(value / this.scale), 1e-30);
    return this.curve ? Math.sqrt(Math.abs(value * this.scale)) + 0.5 * this.scale : 0.5 * this.scale;
  }
}

// Undo the prediction between frames of one column (see the writer for the codes).
function undoPrediction(bytes, data, op, frames, per) {
  if (op === 1) {
    const step = (per * data.BYTES_PER_ELEMENT) | 0;
    for (let i = step; i < bytes.length; ++i) bytes[i] ^= bytes[i - step];
  } else if (op === 2) {
    for (let i = per; i < data.length; ++i) data[i] += data[i - per];
  } else if (op === 3) {
    for (let i = per; i < Math.min(2 * per, data.length); ++i) data[i] += data[i - per];
    for (let i = 2 * per; i < data.length; ++i) data[i] += 2 * data[i - per] - data[i - 2 * per];
  }
}

export function parseBlock(raw) {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  if (raw.byteLength < 8 || view.getUint32(0, true) !== MAGIC) throw new Error('a block of data has the wrong beginning');
  const columns = {};
  let at = 8;
  for (let n = view.getUint32(4, true); n > 0; --n) {
    let name = '';
    for (let i = 0; i < 32 && raw[at + i]; ++i) name += String.fromCharCode(raw[at + i]);
    const [type, comps, op, curve] = raw.subarray(at + 32, at + 36);
    const frames = view.getUint32(at + 36, true);
    const count = view.getUint32(at + 40, true);
    const scale = view.getFloat64(at + 48, true);
    const offset = [0, 1, 2].map((c) => view.getFloat64(at + 56 + 8 * c, true)).concat([0, 0, 0, 0, 0, 0]);
    at += 80;
    const total = frames * comps * count;
    const data = new TYPES[type](total);
    const width = data.BYTES_PER_ELEMENT;
    if (at + total * width > raw.byteLength) throw new Error(`the block of data ends inside "${name}"`);
    const bytes = new Uint8Array(data.buffer);
    for (let b = 0; b < width; ++b) {
      const plane = at + b * total;
      for (let i = 0, o = b; i < total; ++i, o += width) bytes[o] = raw[plane + i];
    }
    at += total * width;
    undoPrediction(bytes, data, op, frames, comps * count);
    columns[name] = new Column(data, frames, comps, count, curve, scale, offset);
  }
  return columns;
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes, sync) {
  if (sync || typeof DecompressionStream === 'undefined') return unzlibSync(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Run {
  constructor(meta) {
    this.meta = meta;
    this.times = meta.times;
    this.steps = meta.steps;
    this.count = meta.times.length;
    this.cache = new Map(); // block name -> columns, or a promise of them
    this.order = []; // names by age, for the stream's bounded cache
  }

  async load(sync) {
    this.fixed = await this.block('static', sync);
    this.telemetry = this.meta.telemetry ? await this.block('telemetry', sync) : {};
    this.bodies = this.fixed.kind ? this.fixed.kind.count : 0;
  }

  // The columns of a block, read once.
  async block(name, sync) {
    const known = this.cache.get(name);
    if (known) return known;
    const promise = this.read(name, sync).then((columns) => {
      this.cache.set(name, columns);
      return columns;
    });
    this.cache.set(name, promise);
    promise.catch(() => this.cache.delete(name));
    if (this.meta.stream) this.forgetOld(name);
    return promise;
  }

  async read(name, sync) {
    if (this.meta.stream) {
      const answer = await fetch(`block/${name}`);
      if (!answer.ok) throw new Error(`the server did not give block ${name}: ${answer.status} ${await answer.text()}`);
      return parseBlock(await inflate(new Uint8Array(await answer.arrayBuffer()), sync));
    }
    const element = document.getElementById(`scree-${name}`);
    if (!element) throw new Error(`this page has no block ${name}`);
    const bytes = fromBase64(element.textContent.trim());
    return parseBlock(await inflate(bytes, sync));
  }

  forgetOld(name) {
    if (name === 'static' || name === 'telemetry') return;
    this.order.push(name);
    const most = Math.max(16, Math.floor(4e8 / (200 * (this.bodies || 1))));
    while (this.order.length > most) this.cache.delete(this.order.shift());
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
  async frame(k, sync) {
    const { name, local } = this.place(k);
    return { columns: await this.block(name, sync), f: local };
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
  async contacts(k, sync) {
    const c = this.contactFrame(k);
    return c < 0 ? null : this.block(`c${c}`, sync);
  }
}

// The run described by the page itself, or by the server behind it.
export async function openRun() {
  const element = document.getElementById('scree-meta');
  if (element) return new Run(JSON.parse(element.textContent));
  if (location.protocol === 'file:') throw new Error('This page holds no run: it is the template that scree report fills.');
  const answer = await fetch('meta.json');
  if (!answer.ok) throw new Error(`the server gave no description of the run: ${answer.status} ${await answer.text()}`);
  return new Run(await answer.json());
}

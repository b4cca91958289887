// Blocks of data as they are stored: zlib streams that hold columns of numbers (the layout is written
// in src/view/report_block.h). This file does not use the page: a worker runs it (worker.js), or, where
// there is none, the page itself.
import { unzlibSync } from 'fflate';

const TYPES = [Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Float32Array, Float64Array];
const MAGIC = 0x32424353; // "SCB2"

export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// The numbers of a column from its byte planes.
function joinPlanes(raw, at, total, data) {
  const width = data.BYTES_PER_ELEMENT, bytes = new Uint8Array(data.buffer);
  if (width === 1) bytes.set(raw.subarray(at, at + total));
  else if (width === 2) {
    const words = new Uint16Array(data.buffer), high = at + total;
    for (let i = 0; i < total; ++i) words[i] = raw[at + i] | (raw[high + i] << 8);
  } else
    for (let b = 0; b < width; ++b) {
      const plane = at + b * total;
      for (let i = 0, o = b; i < total; ++i, o += width) bytes[o] = raw[plane + i];
    }
}

// Undo the prediction between frames of one column (see the writer for the codes).
function undoPrediction(data, op, per) {
  const n = data.length;
  if (op === 1) {
    const bytes = new Uint8Array(data.buffer), step = per * data.BYTES_PER_ELEMENT;
    for (let i = step; i < bytes.length; ++i) bytes[i] ^= bytes[i - step];
    return;
  }
  if (op < 2) return;
  const words = data.BYTES_PER_ELEMENT === 1 ? new Uint8Array(data.buffer) : data.BYTES_PER_ELEMENT === 2 ? new Uint16Array(data.buffer) : new Uint32Array(data.buffer);
  for (let i = 0; i < n; ++i) words[i] = (words[i] >>> 1) ^ -(words[i] & 1);
  const straight = op === 2 ? n : Math.min(2 * per, n);
  for (let i = per; i < straight; ++i) words[i] += words[i - per];
  for (let i = straight; i < n; ++i) words[i] += 2 * words[i - per] - words[i - 2 * per];
}

// { name: { data, frames, comps, count, curve, scale, offset } } of a stored block.
export function decode(stored) {
  const raw = unzlibSync(stored);
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  if (raw.byteLength < 8 || view.getUint32(0, true) !== MAGIC) throw new Error('a block of data has the wrong beginning');
  const columns = {};
  let at = 8;
  for (let n = view.getUint32(4, true); n > 0; --n) {
    let name = '';
    for (let i = 0; i < 64 && raw[at + i]; ++i) name += String.fromCharCode(raw[at + i]);
    const [type, comps, op, curve] = raw.subarray(at + 64, at + 68);
    const frames = view.getUint32(at + 68, true), count = view.getUint32(at + 72, true), scale = view.getFloat64(at + 80, true);
    const offset = [0, 1, 2].map((c) => view.getFloat64(at + 88 + 8 * c, true)).concat([0, 0, 0, 0, 0, 0]);
    at += 112;
    const total = frames * comps * count, width = TYPES[type].BYTES_PER_ELEMENT;
    if (at + total * width > raw.byteLength) throw new Error(`the block of data ends inside "${name}"`);
    const data = new TYPES[type](total);
    joinPlanes(raw, at, total, data);
    undoPrediction(data, op, comps * count);
    at += total * width;
    columns[name] = { data, frames, comps, count, curve, scale, offset };
  }
  return columns;
}

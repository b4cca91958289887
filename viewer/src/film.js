// Stills and films of any size, made by the page itself: the stage is drawn at that size, on its
// background and with its legend. Films are VP9 or VP8 in a WebM file, encoded by the browser.
import { scaleColour, scaleEnds } from './colours.js';

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas with the present picture at a size.
export function drawStill(stage, sheet, width, height, legend) {
  stage.resize(width, height, 1);
  stage.render(performance.now(), true, true);
  Object.assign(sheet, { width, height });
  const c = sheet.getContext('2d'), fade = c.createLinearGradient(0, 0, 0, height);
  fade.addColorStop(0, style('--stage'));
  fade.addColorStop(1, style('--stage-low'));
  c.fillStyle = fade;
  c.fillRect(0, 0, width, height);
  c.drawImage(stage.renderer.domElement, 0, 0, width, height);
  if (legend) drawLegend(c, stage.first, height, legend === true ? '' : legend);
  return sheet;
}

function drawLegend(c, view, height, clock) {
  const { colouring } = view, range = view.shownRange || view.range, size = Math.max(0.6, Math.min(height / 800, 2));
  c.save();
  c.scale(size, size);
  const x = 14, bottom = height / size, y = bottom - 62, text = style('--text');
  c.font = '13px sans-serif';
  if (!colouring.category) {
    const title = `${colouring.name}${colouring.unit ? ` [${colouring.unit}]` : ''}${view.scaling === 'log' ? ', log' : ''}`;
    c.globalAlpha = 0.82;
    c.fillStyle = style('--panel');
    c.fillRect(x - 6, y - 4, Math.max(196, c.measureText(title).width + 12), 58);
    c.globalAlpha = 1;
    c.fillStyle = text;
    c.fillText(title, x, y + 12);
    for (let k = 0; k < 180; ++k) {
      const rgb = [0, 0, 0];
      scaleColour(k / 179, rgb, 0, view.scaling);
      c.fillStyle = `rgb(${rgb.map(Math.round)})`;
      c.fillRect(x + k, y + 20, 1.5, 9);
    }
    c.fillStyle = text;
    const [low, high] = scaleEnds(colouring, view.scaling, range);
    c.fillText(low, x, y + 46);
    c.textAlign = 'right';
    c.fillText(high, x + 180, y + 46);
  }
  if (clock) {
    c.fillStyle = text;
    c.textAlign = 'left';
    c.fillText(clock, x, 22);
  }
  c.restore();
}

export function save(blob, name) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// ---- WebM ----
// Elements of EBML: a number, a length of eight bytes, the contents (Matroska, RFC 9559).
const bytesOf = (value, width) => Array.from({ length: width }, (_, k) => Math.floor(value / 256 ** (width - 1 - k)) % 256);
function element(id, ...parts) {
  const body = parts.map((p) => (p instanceof Uint8Array ? p : typeof p === 'string' ? new TextEncoder().encode(p) : Uint8Array.from(p)));
  const size = body.reduce((sum, p) => sum + p.length, 0), out = new Uint8Array(id.length + 8 + size);
  out.set(id);
  out.set([1, ...bytesOf(size, 7)], id.length);
  let at = id.length + 8;
  for (const p of body) out.set(p, at), (at += p.length);
  return out;
}
const real = (value) => new Uint8Array(new Float64Array([value]).buffer).reverse();

// Frames: { data, key, time in ms }, in a file with a cluster for each key frame at least.
export function webm(frames, { codec, width, height, duration }) {
  const head = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x86], [1]), element([0x42, 0xf7], [1]), element([0x42, 0xf2], [4]), element([0x42, 0xf3], [8]),
    element([0x42, 0x82], 'webm'), element([0x42, 0x87], [4]), element([0x42, 0x85], [2]));
  const info = element([0x15, 0x49, 0xa9, 0x66], element([0x2a, 0xd7, 0xb1], bytesOf(1e6, 4)), element([0x44, 0x89], real(duration)), element([0x4d, 0x80], 'scree'), element([0x57, 0x41], 'scree'));
  const track = element([0x16, 0x54, 0xae, 0x6b], element([0xae], element([0xd7], [1]), element([0x73, 0xc5], [1]), element([0x83], [1]), element([0x86], codec),
    element([0xe0], element([0xb0], bytesOf(width, 2)), element([0xba], bytesOf(height, 2)))));
  const clusters = [];
  for (let k = 0; k < frames.length;) {
    const start = frames[k].time, blocks = [];
    do {
      const { data, key, time } = frames[k++];
      blocks.push(element([0xa3], [0x81, ...bytesOf(time - start, 2), key ? 0x80 : 0], data));
    } while (k < frames.length && !frames[k].key && frames[k].time - start < 30000);
    clusters.push(element([0x1f, 0x43, 0xb6, 0x75], element([0xe7], bytesOf(start, 4)), ...blocks));
  }
  return new Blob([head, element([0x18, 0x53, 0x80, 0x67], info, track, ...clusters)], { type: 'video/webm' });
}

// Encode `count` pictures at `rate` a second. draw(k, sheet) draws picture k; `progress` gets the share
// that is done and returns false to stop. Null when it was stopped.
export async function film({ width, height, rate, count, draw, progress }) {
  if (!window.VideoEncoder) throw new Error('This browser cannot encode films. "scree picture --movie" makes them without one.');
  const tries = [['vp09.00.41.08', 'V_VP9'], ['vp8', 'V_VP8']].map(([codec, name]) => ({ config: { codec, width, height, framerate: rate, bitrate: Math.round(0.12 * width * height * rate) }, name }));
  let chosen = null;
  for (const t of tries) if (!chosen && (await VideoEncoder.isConfigSupported(t.config).catch(() => ({}))).supported) chosen = t;
  if (!chosen) throw new Error(`This browser cannot encode films of ${width} by ${height}.`);
  const frames = [], sheet = document.createElement('canvas');
  let failed = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      frames.push({ data, key: chunk.type === 'key', time: Math.round(chunk.timestamp / 1000) });
    },
    error: (error) => (failed = error),
  });
  encoder.configure(chosen.config);
  for (let k = 0; k < count && !failed; ++k) {
    await draw(k, sheet);
    const picture = new VideoFrame(sheet, { timestamp: Math.round((1e6 * k) / rate), duration: Math.round(1e6 / rate) });
    encoder.encode(picture, { keyFrame: k % 60 === 0 });
    picture.close();
    while (encoder.encodeQueueSize > 4 && !failed) await new Promise((resolve) => setTimeout(resolve, 5));
    if (progress((k + 1) / count) === false) {
      encoder.close();
      return null;
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  if (failed) throw failed;
  await encoder.flush();
  encoder.close();
  return webm(frames, { codec: chosen.name, width, height, duration: (1000 * count) / rate });
}

// How long the page takes to load, and what its own script costs per frame, in a real browser:
//   node measure.mjs PAGE.html [TIMES]
// Needs playwright-core (npm ci in tests/viewer) and Chromium. "ready" is the time from the start of
// loading until the first frame is drawn with its colours; headless Chromium draws in software, so
// the time of the graphics is the machine's, not the page's: "script" leaves it out.
import { createRequire } from 'node:module';
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(join(here, '../../tests/viewer/package.json'))('playwright-core');
const page = resolve(process.argv[2]), times = Number(process.argv[3] || 3);
const milliseconds = (t) => `${Math.round(t)} ms`;
const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
// Seconds of processor that the processes of the browser have used, by kind: on a busy machine these say
// more than the clock.
const session = await browser.newBrowserCDPSession();
const used = async () => {
  const sums = {};
  for (const p of (await session.send('SystemInfo.getProcessInfo')).processInfo) sums[p.type] = (sums[p.type] || 0) + p.cpuTime;
  return sums;
};
console.log(`${page}: ${(statSync(page).size / 1e6).toFixed(1)} MB`);
const ready = [];
let tab;
for (let k = 0; k < times; ++k) {
  const before = await used();
  tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await tab.goto(pathToFileURL(page).href, { waitUntil: 'commit' });
  await tab.waitForSelector('html[data-ready]', { timeout: 120000 });
  const marks = await tab.evaluate(() => performance.getEntriesByType('mark').map((m) => [m.name, m.startTime]));
  const shown = await tab.evaluate(() => {
    const { renderer } = window.scree.player.view, gl = renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    return [performance.now(), window.scree.player.view.drawn];
  });
  marks.push(['drawn', shown[0]], ['pictures', shown[1]]);
  ready.push(shown[0]);
  console.log(`load ${k + 1}: ${marks.map(([name, t]) => `${name} ${name === 'pictures' ? t : milliseconds(t)}`).join(', ')}`);
  const after = await used(), seconds = (type) => `${(after[type] - (before[type] || 0)).toFixed(2)} s`;
  console.log(`        processor: page ${seconds('renderer')}, graphics ${seconds('GPU')}`);
  if (k + 1 < times) await tab.close();
}
console.log(`ready: ${milliseconds(middle(ready))} (middle of ${times})`);

// The script's own work for each shown frame of a run that plays: all but the draw call itself.
const cost = await tab.evaluate(async () => {
  const { player } = window.scree, { view, run } = player;
  const fill = [], decode = [];
  for (let k = 0; k < run.count; ++k) {
    let t = performance.now();
    await run.frame(k);
    decode.push(performance.now() - t);
  }
  for (let k = 0; k + 1 < run.count; ++k) {
    const t = performance.now();
    view.pose(k, 0.5);
    view.colour(k);
    fill.push(performance.now() - t);
  }
  return { fill, decode };
});
const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
console.log(`script per shown frame (two saved frames blended, colours): ${mean(cost.fill).toFixed(2)} ms, at most ${Math.max(...cost.fill).toFixed(1)} ms`);
console.log(`reading a saved frame: ${mean(cost.decode).toFixed(2)} ms on average, at most ${Math.max(...cost.decode).toFixed(1)} ms`);
await browser.close();

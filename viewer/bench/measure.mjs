// How long the page takes to load, and what its own script costs per frame, in a real browser:
//   node measure.mjs PAGE.html [TIMES]
// Needs playwright-core (npm ci in tests/viewer) and Chromium. "ready" is the time from the start of
// loading until the first frame is drawn with its colours; headless Chromium draws in software, so
// the time of the graphics is the machine's, not the page's: the last lines leave the drawing out.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { address, startBrowser } from './browser.mjs';

const page = resolve(process.argv[2]), times = Number(process.argv[3] || 3);
const milliseconds = (t) => `${Math.round(t)} ms`;
const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

const { browser, used } = await startBrowser();
console.log(`${page}: ${(statSync(page).size / 1e6).toFixed(1)} MB`);
const ready = [];
let tab;
for (let k = 0; k < times; ++k) {
  const before = await used();
  tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await tab.goto(address(page), { waitUntil: 'commit' });
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

// What a picture of a run that plays costs the page when a graphics card draws: the calls that draw do nothing, all else
// is done, uploads too. Between two saved frames, and with a new saved frame in each picture. "graphics" is what the
// process of the graphics takes to copy what it is sent; with a card it draws beside the page.
const loops = async (what) => {
  const before = await used();
  const row = await tab.evaluate(async (what) => {
    const { player } = window.scree, { stage, view, run } = player, gl = view.renderer.getContext();
    const names = ['drawElements', 'drawArrays', 'drawElementsInstanced', 'drawArraysInstanced', 'clear', 'blitFramebuffer'];
    const nothing = () => {}, spent = { data: 0, render: 0 };
    for (const name of names) gl[name] = nothing;
    for (const v of stage.views) v.software = false;
    player.exporting = true; // the page draws nothing of its own meanwhile
    for (let k = 0; k < run.count; ++k) await run.frame(k);
    const pictures = what === 'frame' ? 40 * Math.max(run.count - 1, 1) : 600, worst = [];
    for (let p = 0; p < pictures; ++p) {
      const t = performance.now(), k = what === 'frame' ? p % Math.max(run.count - 1, 1) : 0;
      player.setFrame(k, (p % 97) / 97 + 0.001);
      player.draw();
      const middle = performance.now();
      view.effects.level = 0;
      stage.render(t, false);
      const end = performance.now();
      spent.data += middle - t;
      spent.render += end - middle;
      worst.push(end - t);
      if (p % 10 === 9) await new Promise(requestAnimationFrame); // the queue of commands must not grow without end
    }
    gl.finish();
    for (const name of names) delete gl[name];
    player.exporting = false;
    worst.sort((a, b) => a - b);
    return { pictures, data: spent.data / pictures, render: spent.render / pictures, middle: worst[worst.length >> 1], bodies: run.bodies };
  }, what);
  const after = await used();
  return { ...row, page: (1000 * (after.renderer - before.renderer)) / row.pictures, graphics: (1000 * (after.GPU - before.GPU)) / row.pictures };
};
for (const [what, text] of [['blend', 'a picture between two saved frames'], ['frame', 'a picture with a new saved frame']]) {
  const r = await loops(what);
  console.log(`${text}, ${r.bodies} bodies: script ${(r.data + r.render).toFixed(2)} ms (data ${r.data.toFixed(2)}, drawing ${r.render.toFixed(2)}; middle ${r.middle.toFixed(2)}), processor ${r.page.toFixed(2)} + ${r.graphics.toFixed(2)} ms (page + graphics)`);
}
const decode = await tab.evaluate(async () => {
  const { run } = window.scree.player, list = [];
  for (let k = 0; k < run.count; ++k) {
    const { name } = run.place(k);
    run.cache.delete(name);
    const t = performance.now();
    await run.frame(k);
    list.push(performance.now() - t);
  }
  return list;
});
const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
console.log(`reading a saved frame (by the worker, beside the page): ${mean(decode).toFixed(1)} ms on average, at most ${Math.max(...decode).toFixed(1)} ms`);
await browser.close();

// Pictures per second of pages in a real browser, while the film plays and while the camera turns:
//   node frames.mjs [--seconds=S] [--size=WxH] [--turns=N] PAGE.html...
// Pages are measured in turns (N times each), so that two versions of the page see the same load of the machine.
// Headless Chromium draws in software: "processor" is what the page and the graphics used per picture, which says
// more than the clock on a busy machine. "level" is that of src/effects.js at the end.
import { basename } from 'node:path';
import { address, startBrowser } from './browser.mjs';

const option = (name, other) => process.argv.find((w) => w.startsWith(`--${name}=`))?.slice(name.length + 3) ?? other;
const seconds = Number(option('seconds', 6)), turns = Number(option('turns', 1));
const [width, height] = option('size', '1280x800').split('x').map(Number);
const pages = process.argv.slice(2).filter((w) => !w.startsWith('--'));

const { browser, used } = await startBrowser();

async function measure(page) {
  const tab = await browser.newPage({ viewport: { width, height } });
  await tab.goto(address(page));
  await tab.waitForSelector('html[data-ready]', { timeout: 120000 });
  await tab.waitForFunction(() => window.scree.player.stage.shown === 0 || window.scree.player.stage.coarse === false, null, { timeout: 60000 });
  const row = {};
  for (const what of ['play', 'turn']) {
    const before = await used();
    row[what] = await tab.evaluate(([what, time]) => new Promise((done) => {
      const { player } = window.scree, { view, stage } = player, start = performance.now(), first = view.drawn;
      if (what === 'play') player.play(true);
      let frames = 0;
      const step = () => {
        const now = performance.now();
        // The drawing of the next picture begins when this one is done, as the browser asks for it.
        if (what === 'play' && !player.playing) player.play(true);
        if (what === 'turn') {
          const { camera, controls } = stage.eye, p = camera.position.clone().sub(controls.target);
          p.applyAxisAngle(camera.up, 0.02);
          camera.position.copy(controls.target).add(p);
          camera.lookAt(controls.target);
          stage.eye.changed = true;
        }
        ++frames;
        if (now - start < 1000 * time) requestAnimationFrame(step);
        else {
          player.play(false);
          done({ pictures: (view.drawn - first), seconds: (now - start) / 1000, level: view.effects.level });
        }
      };
      requestAnimationFrame(step);
    }), [what, seconds]);
    const after = await used(), r = row[what];
    for (const type of ['renderer', 'GPU']) r[type] = (1000 * (after[type] - before[type])) / Math.max(r.pictures, 1);
    await tab.waitForTimeout(700);
    await tab.waitForFunction(() => window.scree.player.stage.shown === 0 || window.scree.player.stage.coarse === false, null, { timeout: 60000 });
  }
  await tab.close();
  return row;
}

console.log(`${width}x${height}, ${seconds} s each; pictures per second, ms of processor per picture (page + graphics), level`);
for (let k = 0; k < turns; ++k)
  for (const page of pages) {
    const row = await measure(page);
    const text = ['play', 'turn'].map((what) => {
      const r = row[what];
      return `${what} ${(r.pictures / r.seconds).toFixed(1)}/s (${r.renderer.toFixed(0)} + ${r.GPU.toFixed(0)} ms, level ${r.level})`;
    });
    console.log(`${basename(page)}: ${text.join('   ')}`);
  }
await browser.close();

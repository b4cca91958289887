// The page in a real browser.
//   node test.mjs PAGE.html EXPECTED.json http://127.0.0.1:PORT/ [compare=PAGE.html] [live=http://...] [many=PAGE.html] [gallery=PAGE.html] [UNUSUAL.html ...]
// UNUSUAL: pages of runs without frames, far away, huge, ... (variants.py): none may be blank.
// EXPECTED: { frames, bodies, frame, body, position, velocity, angular, mass, pressure, errors } as read from
// results.h5 by another program. The page must load without an error in the console and without a
// network request, play, scrub, switch colours, show chains, and show that body's numbers.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { makeUp } from './made_up.mjs';
import { chromium } from 'playwright-core';

const [page, expectedFile, server, ...rest] = process.argv.slice(2);
const given = (name) => rest.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
const unusual = rest.filter((word) => !/^(compare|live|many|gallery)=/.test(word));
const expected = JSON.parse(readFileSync(expectedFile, 'utf8'));
const file = pathToFileURL(page).href, problems = [];
const check = (good, text) => {
  if (!good) problems.push(text);
};

const browser = await chromium.launch({
  timeout: 180000,
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// Numbers in a row of the inspector.
async function numbers(tab, name) {
  const text = await tab.evaluate((wanted) => {
    for (const row of document.querySelectorAll('#inspector tr')) if (row.querySelector('th').textContent === wanted) return row.querySelector('td').textContent;
    return '';
  }, name);
  return (text.match(/-?\d+(\.\d+)?(e[-+]?\d+)?/g) || []).map(Number);
}
// Equal to the six digits that are shown.
const same = (shown, exact) =>
  shown.length === exact.length && shown.every((x, i) => Math.abs(x - exact[i]) <= 0.6e-5 * Math.abs(exact[i]) || x === Number(exact[i].toPrecision(6)));

async function open(address, context = browser) {
  const tab = await context.newPage(context === browser ? { viewport: { width: 1100, height: 800 } } : undefined);
  const bad = [];
  tab.setDefaultTimeout(180000); // a machine that is busy, and draws in software, is slow and not wrong
  tab.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/GPU stall|swiftshader|software WebGL/i.test(m.text()) && bad.push(`console: ${m.text()}`));
  tab.on('pageerror', (e) => bad.push(`error: ${e.message}`));
  tab.on('request', (r) => {
    const url = r.url();
    if (url.split('#')[0] !== address && !url.startsWith('data:') && !url.startsWith('blob:') && !url.startsWith('http://127.0.0.1:')) bad.push(`request: ${url.slice(0, 100)}`);
  });
  tab.on('response', (r) => r.status() >= 400 && bad.push(`answer: ${r.status()} ${r.url()}`));
  await tab.goto(address);
  await tab.waitForSelector('html[data-ready]', { timeout: 180000 });
  return { tab, bad };
}
const shownFrame = (tab) => tab.evaluate(() => Number(document.documentElement.dataset.frame));
const waitFrame = (tab, k) => tab.waitForFunction((n) => Number(document.documentElement.dataset.frame) === n, k, { timeout: 180000 });
// How much of the picture is of another colour than the top left corner, and a sum of it all.
const picture = (tab) => tab.evaluate(() => {
  const source = document.getElementById('canvas'), copy = document.createElement('canvas');
  copy.width = 160; copy.height = 120;
  const context = copy.getContext('2d');
  context.drawImage(source, 0, 0, 160, 120);
  const { data } = context.getImageData(0, 0, 160, 120);
  let drawn = 0, red = 0, sum = 0;
  for (let i = 0; i < data.length; i += 4) {
    drawn += data[i + 3] > 0;
    red += data[i + 3] > 0 && data[i] > data[i + 1] + 50 && data[i] > data[i + 2] + 50;
    sum = (sum * 31 + data[i] + 7 * data[i + 1] + 13 * data[i + 2]) % 1000000007;
  }
  return { drawn, red, sum };
});

async function testPage(address) {
  const { tab, bad } = await open(address);
  if (address === file) await testNames(tab);
  await tab.keyboard.press('Home');
  await waitFrame(tab, 0);
  check((await tab.locator('#verdict').textContent()).length > 10, 'no verdict');
  check((await tab.locator('.plot').count()) >= 5, 'fewer than five plots');
  const plots = await tab.locator('.plot h2').allTextContents();
  check(plots[0] === 'Sensor ground [N]' && plots[1] === 'Sensor top [m]', `sensors are not first among the plots: ${plots}`);
  check((await tab.locator('#guide text').count()) >= 1, 'no scale bar');
  // `scree converge` was made for the run: verdict, table, a curve of every run, and the way there.
  check(await tab.locator('#convergence').isVisible(), 'no section about convergence');
  check((await tab.locator('#convergence-verdict').textContent()).includes('averages'), 'no verdict about convergence');
  check((await tab.locator('#convergence tbody tr').count()) >= 8, 'a short table of averages');
  check((await tab.locator('#convergence .plot').count()) >= 8, 'few curves of compared runs');
  check((await tab.locator('#convergence .plot').first().locator('.u-series').count()) === 5, 'not a curve of each compared run');
  await tab.locator('#certificate a[href="#convergence"]').click();
  check((await tab.locator('#convergence').boundingBox()).y < 800, 'the certificate does not lead to the convergence');
  await tab.evaluate(() => window.scrollTo(0, 0));
  check((await tab.locator('#scrub').getAttribute('max')) === String(expected.frames - 1), 'wrong number of frames');
  const first = await picture(tab);
  check(first.drawn > 500, `an empty picture: ${first.drawn} of 19200 points`);

  // Play.
  await tab.locator('#play').click();
  await tab.waitForFunction(() => Number(document.documentElement.dataset.frame) > 0, null, { timeout: 180000 });
  await tab.keyboard.press('Space');
  // Scrub, by the slider and by keys.
  await tab.locator('#scrub').evaluate((e, k) => { e.value = k; e.dispatchEvent(new Event('input')); }, expected.frame);
  await waitFrame(tab, expected.frame);
  await tab.locator('#stage').focus();
  await tab.keyboard.press('ArrowLeft');
  await waitFrame(tab, expected.frame - 1);
  await tab.keyboard.press('ArrowRight');
  await waitFrame(tab, expected.frame);
  const before = await picture(tab);
  check(before.sum !== first.sum, 'the picture does not change with time');

  // Colours.
  const sums = new Set();
  for (const colour of ['velocity', 'velocity-z', 'angular', 'size', 'material', 'id', 'stress', 'touching', 'displacement', 'position-z']) {
    await tab.selectOption('#colour', colour);
    await tab.waitForFunction((c) => document.documentElement.dataset.colour === c && !window.scree.player.stale, colour, { timeout: 180000 });
    await tab.waitForTimeout(80);
    sums.add((await picture(tab)).sum);
  }
  check(sums.size >= 7, `ten colourings make only ${sums.size} pictures`);

  // Force chains, contacts, normals.
  const plain = await picture(tab);
  for (const id of ['chains', 'contacts', 'normals']) await tab.locator(`#${id}`).check();
  await tab.waitForFunction(() => !window.scree.player.stale && window.scree.player.view.overlays.points, null, { timeout: 180000 });
  await tab.waitForTimeout(100);
  const chains = await picture(tab);
  check(chains.red > plain.red + 3, `no chains to be seen: ${plain.red} red points before, ${chains.red} after`);
  // A click on a contact: of those drawn at one place any may be found, its number says which.
  await tab.evaluate(() => window.scrollTo(0, 0));
  const spot = await tab.evaluate(() => {
    const { view } = window.scree.player, box = document.getElementById('canvas').getBoundingClientRect();
    const { points } = view.overlays, all = [...Array(points.length / 3).keys()].map((c) => view.controls.target.clone().set(...points.slice(3 * c, 3 * c + 3)).project(view.camera));
    const v = all.find((p) => Math.abs(p.x) < 0.9 && Math.abs(p.y) < 0.9);
    return { x: box.left + (0.5 + 0.5 * v.x) * box.width, y: box.top + (0.5 - 0.5 * v.y) * box.height };
  });
  await tab.mouse.click(spot.x, spot.y);
  await tab.waitForTimeout(100);
  const found = await tab.locator('#inspector h2').textContent({ timeout: 180000 }).catch(() => '');
  const number = /^Contact (\d+)$/.exec(found);
  check(number, `the click on a contact found "${found}"`);
  if (number) {
    const shown = await numbers(tab, 'error');
    check(same(shown, [expected.errors[number[1]]]), `error of contact ${number[1]}: shown ${shown}, in results.h5 ${expected.errors[number[1]]}`);
  }
  for (const id of ['chains', 'contacts', 'normals']) await tab.locator(`#${id}`).uncheck();
  await tab.waitForFunction(() => !window.scree.player.stale, null, { timeout: 180000 });

  await tab.evaluate(() => window.scrollTo(0, 0));
  // A click on the body: its middle on the screen is where the page itself would draw it.
  const place = await tab.evaluate((body) => {
    const { view } = window.scree.player, o = 4 * body, v = view.controls.target.clone().set(view.place[o], view.place[o + 1], view.place[o + 2]).project(view.camera);
    const box = document.getElementById('canvas').getBoundingClientRect();
    return { x: box.left + (0.5 + 0.5 * v.x) * box.width, y: box.top + (0.5 - 0.5 * v.y) * box.height };
  }, expected.body);
  await tab.mouse.click(place.x, place.y);
  await tab.waitForTimeout(100);
  const title = await tab.locator('#inspector h2').textContent({ timeout: 180000 }).catch(() => '');
  check(title === `Body ${expected.body}`, `the click found "${title}", expected body ${expected.body}`);
  for (const [row, key] of [['position', 'position'], ['velocity', 'velocity'], ['angular velocity', 'angular'], ['mass', 'mass'], ['mean pressure', 'pressure']]) {
    const shown = await numbers(tab, row);
    check(same(shown, expected[key]), `${row}: shown ${shown}, in results.h5 ${expected[key]}`);
  }

  // By number, theme, follow, fit, help: no error may come of them.
  await tab.fill('#find-body', '0');
  await tab.keyboard.press('Enter');
  check((await tab.locator('#inspector h2').textContent()) === 'Obstacle 0 ground', 'finding a body by number');
  await tab.keyboard.press('Escape');
  await tab.fill('#find-body', 'ground');
  await tab.keyboard.press('Enter');
  check((await tab.locator('#inspector h2').textContent()) === 'Obstacle 0 ground', 'finding a body by name');
  for (const scaling of ['log', 'frame', 'symmetric', 'run']) await tab.selectOption('#scaling', scaling);
  await tab.locator('#theme').click();
  await tab.locator('#follow').click();
  await tab.locator('#fit').click();
  await tab.locator('#help-button').click();
  await tab.keyboard.press('Escape');
  for (const text of bad) problems.push(text);
  await tab.close();
}

// A narrow phone, dark, by touch.
async function testPhone(address) {
  const context = await browser.newContext({ viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
  const { tab, bad } = await open(address, context);
  check((await tab.evaluate(() => document.documentElement.dataset.theme)) === 'dark', 'the page does not follow a dark system');
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= 362, `on a phone the page is ${wide} points wide`);
  const small = await tab.evaluate(() => [...document.querySelectorAll('button')].filter((e) => e.offsetParent && Math.min(e.offsetWidth, e.offsetHeight) < 32).map((e) => e.id));
  check(small.length === 0, `too small for a finger: ${small}`);
  await tab.locator('#play').tap();
  await tab.waitForFunction(() => Number(document.documentElement.dataset.frame) > 0, null, { timeout: 180000 });
  await tab.locator('#play').tap();
  // One finger turns the view.
  const before = await tab.evaluate(() => window.scree.player.view.camera.position.toArray());
  const client = await context.newCDPSession(tab), box = await tab.locator('#canvas').boundingBox();
  const finger = (type, dx) => client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: box.x + box.width / 2 + dx, y: box.y + box.height / 2 }] });
  await finger('touchStart', 0);
  for (const dx of [10, 25, 40]) await finger('touchMove', dx);
  await finger('touchEnd', 40);
  const after = await tab.evaluate(() => window.scree.player.view.camera.position.toArray());
  check(before.some((x, i) => Math.abs(x - after[i]) > 1e-3), 'a finger does not turn the view');
  for (const text of bad) problems.push(`phone: ${text}`);
  await context.close();
}

// A large screen, light: the view takes most of it, the controls are beside it, nothing runs over its edge.
async function testLarge(address) {
  const context = await browser.newContext({ viewport: { width: 2560, height: 1440 }, colorScheme: 'light' });
  const { tab, bad } = await open(address, context);
  check((await tab.evaluate(() => document.documentElement.dataset.theme)) === 'light', 'the page does not follow a light system');
  const { wide, stage, controls } = await tab.evaluate(() => {
    const box = (id) => document.getElementById(id).getBoundingClientRect();
    return { wide: document.documentElement.scrollWidth, stage: box('stage'), controls: box('colour') };
  });
  check(wide <= 2560, `on a large screen the page is ${wide} points wide`);
  check(stage.width > 1000 && stage.height > 600, `on a large screen the view has ${stage.width} by ${stage.height} points`);
  check(controls.y < 1440, 'the controls are below the fold of a large screen');
  check((await picture(tab)).drawn > 500, 'an empty picture on a large screen');
  for (const text of bad) problems.push(`large: ${text}`);
  await context.close();
}

// The gallery on a dark phone and on a large light screen: its films load and play, nothing is too wide.
async function testGallery(address) {
  for (const [name, settings] of [['phone', { viewport: { width: 360, height: 780 }, colorScheme: 'dark' }], ['large', { viewport: { width: 2560, height: 1440 }, colorScheme: 'light' }]]) {
    const context = await browser.newContext(settings), tab = await context.newPage(), bad = [];
    tab.on('console', (m) => ['error', 'warning'].includes(m.type()) && bad.push(m.text()));
    tab.on('pageerror', (e) => bad.push(e.message));
    tab.on('requestfailed', (r) => !/ERR_ABORTED/.test(r.failure()?.errorText) && bad.push(`${r.url()}: ${r.failure()?.errorText}`));
    await tab.goto(address);
    const { wide, films, page } = await tab.evaluate(() => ({
      wide: document.documentElement.scrollWidth, films: document.querySelectorAll('video').length, page: getComputedStyle(document.body).backgroundColor,
    }));
    const bright = page.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3;
    check(wide <= settings.viewport.width, `gallery, ${name}: ${wide} points wide`);
    check(films >= 20, `gallery: ${films} films, expected twenty or more`);
    check(settings.colorScheme === 'dark' ? bright < 80 : bright > 180, `gallery, ${name}: the background is ${page}`);
    await tab.waitForFunction(() => document.querySelector('video').currentTime > 0, null, { timeout: 180000 }).catch(() => problems.push(`gallery, ${name}: the first film does not play`));
    // Every film can be read, and lasts a while.
    const short = name === 'phone' ? [] : await tab.evaluate(() => Promise.all([...document.querySelectorAll('video')].map((video) => new Promise((resolve) => {
      const done = () => resolve(video.duration > 0.5 && video.videoWidth > 100 ? null : `${video.title} ${video.duration} s`);
      video.addEventListener('error', () => resolve(video.title));
      if (video.readyState > 0) done();
      else {
        video.addEventListener('loadedmetadata', done);
        video.preload = 'metadata';
        video.load();
      }
    }))).then((list) => list.filter(Boolean)));
    check(short.length === 0, `gallery: films that cannot be played: ${short}`);
    for (const text of bad) problems.push(`gallery, ${name}: ${text}`);
    await context.close();
  }
}

// What a screen reader is told: every control has a name, the curves say what they show, and what
// changes by itself is announced where it is text.
async function testNames(tab) {
  const silent = await tab.evaluate(() => [...document.querySelectorAll('button, select, input, [role="img"], [role="application"], section')]
    .filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.id || e.className));
  check(silent.length === 0, `without a name: ${silent}`);
  check((await tab.locator('#verdict').getAttribute('role')) === 'status', 'the verdict is not announced');
  check((await tab.locator('#inspector').getAttribute('aria-live')) === 'polite', 'the inspector is not announced');
  check((await tab.locator('#scrub').getAttribute('aria-valuetext')).includes('seconds'), 'the slider does not say the time');
  // All of it by keys alone.
  await tab.keyboard.press('Tab');
  check((await tab.evaluate(() => document.activeElement.className)) === 'skip', 'the first key press does not reach the link to the certificate');
  await tab.locator('#stage').focus();
  const seen = async (key, get) => { await tab.keyboard.press(key); return tab.evaluate(get); };
  check((await seen('End', () => window.scree.player.frame)) === expected.frames - 1, 'key End');
  check((await seen('Home', () => window.scree.player.frame)) === 0, 'key Home');
  check((await seen('c', () => document.getElementById('colour').value)) === 'velocity-x', 'key c');
  check(await seen('k', () => document.getElementById('chains').checked), 'key k');
  check((await seen('o', () => document.getElementById('obstacles').value)) === 'ghost', 'key o');
  check(await seen('?', () => document.getElementById('help').open), 'key ?');
  await tab.keyboard.press('Escape');
  await tab.keyboard.press('k');
  await tab.keyboard.press('o');
  await tab.keyboard.press('o');
  const away = await tab.evaluate(() => window.scree.player.view.camera.position.toArray());
  const top = await seen('5', () => window.scree.player.view.camera.position.toArray());
  check(away.some((x, i) => Math.abs(x - top[i]) > 1e-3), 'key 5 does not look from the top');
  await tab.keyboard.press('1');
}

// Thresholds, trails, thrust lines, the path of the camera, a still and a film.
async function testTools(address) {
  const { tab, bad } = await open(address);
  const quiet = () => tab.waitForFunction(() => !window.scree.player.stale, null, { timeout: 180000 });
  await tab.keyboard.press('End');
  await waitFrame(tab, expected.frames - 1);
  const before = await picture(tab);
  for (const details of await tab.locator('#controls details').all()) await details.locator('summary').click();
  await tab.selectOption('#limit-field', 'position-z');
  await tab.fill('#limit-low', '0.02');
  await quiet();
  const count = await tab.locator('#limit-count').textContent();
  const [shown, all] = count.split(' of ').map(Number);
  check(all === expected.bodies - 1 && shown < all, `a threshold shows ${count} bodies`);
  await tab.waitForTimeout(100);
  check((await picture(tab)).sum !== before.sum, 'a threshold does not change the picture');
  await tab.selectOption('#limit-field', '');
  await tab.selectOption('#slice-axis', '0');
  await tab.selectOption('#trails', 'all');
  await tab.locator('#thrust').check();
  await quiet();
  const parts = await tab.evaluate(() => { const { overlays } = window.scree.player.view; return [overlays.paths.count, overlays.thrust.count]; });
  check(parts[0] > 0 && parts[1] > 0, `trails, thrust lines: ${parts} beams`);
  // A path of two views: at its ends the camera is where it was put.
  const place = () => tab.evaluate(() => window.scree.player.stage.eye.camera.position.toArray());
  const there = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 1e-3);
  await tab.keyboard.press('2');
  const last = await place();
  await tab.locator('#key-add').click();
  await tab.keyboard.press('Home');
  await tab.keyboard.press('3');
  const begin = await place();
  await tab.locator('#key-add').click();
  await tab.evaluate(() => { const { player } = window.scree; player.setTime(player.run.times.at(-1)); });
  check(there(await place(), last), 'the path does not end where it should');
  await tab.evaluate(() => { const { player } = window.scree; player.setTime(player.run.times[0]); });
  check(there(await place(), begin), 'the path does not begin where it should');
  check((await tab.evaluate(() => location.hash)).includes('path='), 'the address does not keep the path');
  // A still of its own size, and a film.
  await tab.fill('#film-width', '320');
  await tab.fill('#film-height', '200');
  const [still] = await Promise.all([tab.waitForEvent('download', { timeout: 180000 }), tab.locator('#still').click()]);
  const png = readFileSync(await still.path());
  check(png.readUInt32BE(16) === 320 && png.readUInt32BE(20) === 200, `the still is ${png.readUInt32BE(16)} by ${png.readUInt32BE(20)}`);
  await tab.selectOption('#speed', '0.05');
  await tab.fill('#film-rate', '4');
  const [film] = await Promise.all([tab.waitForEvent('download', { timeout: 180000 }), tab.locator('#film').click()]);
  const webm = await film.path();
  check(readFileSync(webm).readUInt32BE(0) === 0x1a45dfa3, 'the film is no WebM file');
  const seconds = await tab.evaluate(() => new Promise((resolve) => {
    const video = Object.assign(document.createElement('video'), { src: URL.createObjectURL(window.scree.film) });
    video.onloadedmetadata = () => resolve(video.duration);
    video.onerror = () => resolve(-1);
  }));
  check(Math.abs(seconds - 2) < 0.6, `the film lasts ${seconds} s`);
  for (const text of bad) problems.push(`tools: ${text}`);
  await tab.close();
}

// Two runs side by side: two pictures, one time, curves of both.
async function testCompare(address) {
  const { tab, bad } = await open(address);
  check((await tab.locator('#stage-titles span').count()) === 2, 'not a title for each compared run');
  await tab.keyboard.press('End');
  await tab.waitForFunction(() => !window.scree.player.stale, null, { timeout: 180000 });
  const sides = await tab.evaluate(() => {
    const source = document.getElementById('canvas'), copy = Object.assign(document.createElement('canvas'), { width: 160, height: 120 });
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(source, 0, 0, 160, 120);
    return [0, 80].map((x) => context.getImageData(x, 0, 80, 120).data.filter((_, i) => i % 4 === 3).reduce((n, a) => n + (a > 0), 0));
  });
  check(sides.every((n) => n > 300), `compared runs: drawn on the left and right: ${sides}`);
  check((await tab.locator('.plot').first().locator('.u-series').count()) >= 3, 'the curves of compared runs are not together');
  for (const text of bad) problems.push(`compare: ${text}`);
  await tab.close();
}

// A run that goes on: its frames come, the newest is shown, and its end is noticed.
async function testLive(address) {
  const { tab, bad } = await open(address);
  const count = () => tab.evaluate(() => window.scree.player.run.count);
  const first = await count();
  await tab.waitForFunction((n) => window.scree.player.run.count > n, first, { timeout: 180000 }).catch(() => problems.push(`live: no frames came after the first ${first}`));
  await tab.waitForFunction(() => window.scree.player.frame === window.scree.player.run.count - 1, null, { timeout: 180000 }).catch(() => problems.push('live: the newest frame is not shown'));
  for (const text of bad) problems.push(`live: ${text}`);
  await tab.close();
}

// How fast it is with many bodies: recorded, not judged.
async function testMany(address) {
  const { tab, bad } = await open(address);
  const { bodies, pictures, seconds } = await tab.evaluate(async () => {
    const { player } = window.scree, start = performance.now();
    const drawn = player.stage.drawn;
    player.play(true);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    player.play(false);
    return { bodies: player.run.bodies, pictures: player.stage.drawn - drawn, seconds: (performance.now() - start) / 1000 };
  });
  console.log(`page: ${bodies} bodies: ${(pictures / seconds).toFixed(1)} pictures a second here (software graphics)`);
  check((await picture(tab)).drawn > 500, 'many bodies: an empty picture');
  // A coarse picture, of points without shadows, has about the colours of the fine one without shadows.
  const means = await tab.evaluate(() => [1, 3].map((level) => {
    const { stage } = window.scree.player, copy = document.createElement('canvas'), sums = [0, 0, 0];
    stage.first.effects.level = level;
    stage.paced = false;
    stage.eye.changed = true;
    stage.render(performance.now(), false);
    copy.width = copy.height = 64;
    const context = copy.getContext('2d');
    context.drawImage(document.getElementById('canvas'), 0, 0, 64, 64);
    context.getImageData(0, 0, 64, 64).data.forEach((x, i) => (sums[i % 4] += i % 4 < 3 ? x / 4096 : 0));
    return sums.slice(0, 3).concat(stage.first.batches.some((b) => b.instead && b.mesh.visible));
  }));
  check(means[1][3], 'many bodies: no points in a coarse picture');
  check([0, 1, 2].every((c) => Math.abs(means[1][c] - means[0][c]) < 0.08 * means[0][c] + 2), `a coarse picture has other colours: ${means}`);
  // Bodies that are left out of coarse pictures would not be in them: these are the same, point by point, with all bodies.
  const left = await tab.evaluate(() => [1, 2, 3].map((level) => {
    const { player } = window.scree, { stage, view } = player, { renderer, culler } = view, gl = renderer.getContext(), { look } = culler;
    const ratio = stage.ratio * [1, 1, 0.5, 0.34][level], width = Math.round(stage.width * ratio), height = Math.round(stage.height * ratio);
    const take = () => {
      const points = new Uint8Array(4 * width * height);
      view.render([0, 0, width, height], level);
      gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, points);
      return points;
    };
    player.exporting = true;
    renderer.setPixelRatio(ratio);
    const few = take(), seen = culler.count;
    culler.look = function (...all) {
      look.apply(this, all);
      this.seen.fill(1);
    };
    const all = take();
    delete culler.look;
    player.exporting = false;
    stage.eye.changed = true;
    return { seen, drawn: all.filter((v, i) => i % 4 === 3 && v > 0).length, differ: all.filter((v, i) => v !== few[i]).length };
  }));
  for (const [k, { seen, drawn, differ }] of left.entries()) {
    check(drawn > 100 && seen > 0 && seen < 0.9 * bodies, `many bodies, level ${k + 1}: ${seen} of ${bodies} are drawn, ${drawn} points`);
    check(differ === 0, `many bodies, level ${k + 1}: the picture is not the same when all bodies are drawn: ${differ} values`);
  }
  const middle = await tab.locator('#canvas').boundingBox();
  await tab.mouse.click(middle.x + middle.width / 2, middle.y + middle.height / 2);
  await tab.waitForFunction(() => document.querySelector('#inspector h2'), null, { timeout: 180000 }).catch(() => problems.push('many bodies: a click finds nothing'));
  for (const text of bad) problems.push(`many: ${text}`);
  await tab.close();
}

// Bodies given by triangles, one of which changes its shape.
async function testMeshes() {
  const made = `${page}.made-up.html`;
  writeFileSync(made, makeUp(readFileSync(new URL('../../viewer/dist/page.html', import.meta.url), 'utf8')));
  const { tab, bad } = await open(pathToFileURL(made).href);
  await tab.selectOption('#colour', 'material');
  await tab.waitForFunction(() => document.documentElement.dataset.colour === 'material' && !window.scree.player.stale);
  await tab.waitForTimeout(100);
  const low = await picture(tab);
  check(low.red > 200, `the bodies are not there in their colour: ${low.red} points`);
  await tab.locator('#stage').focus();
  await tab.keyboard.press('End');
  await waitFrame(tab, 2);
  await tab.waitForTimeout(100);
  const high = await picture(tab);
  check(high.red > 1.3 * low.red, `the pyramid does not rise: ${low.red} points, then ${high.red}`);
  // The top of the pyramid, where there was nothing before, and the middle of the tetrahedron.
  for (const [body, at] of [[1, [1, 0, 2.7]], [0, [-1, 0, 0.4]]]) {
    const spot = await tab.evaluate((p) => {
      const { view } = window.scree.player, box = document.getElementById('canvas').getBoundingClientRect();
      const v = view.controls.target.clone().set(p[0] / 2, p[1] / 2, (p[2] - 1) / 2).project(view.camera);
      return { x: box.left + (0.5 + 0.5 * v.x) * box.width, y: box.top + (0.5 - 0.5 * v.y) * box.height };
    }, at);
    await tab.mouse.click(spot.x, spot.y);
    const title = await tab.locator('#inspector h2').textContent({ timeout: 180000 }).catch(() => '');
    check(title === `Body ${body}`, `the click on a mesh found "${title}", expected body ${body}`);
  }
  for (const text of bad) problems.push(`meshes: ${text}`);
  await tab.close();
}

// A run that is unusual: something is drawn, or a message says why not.
async function testUnusual(address) {
  const { tab, bad } = await open(address);
  const name = address.split('/').at(-2);
  const message = await tab.locator('#stage-message').isVisible() ? await tab.locator('#stage-message').textContent() : '';
  const { drawn } = message ? { drawn: 0 } : await picture(tab);
  check(message.length > 20 || drawn > 100, `${name}: blank: ${drawn} points, message "${message}"`);
  for (const key of ['End', 'f', 'k', 'x', 'n', 'c', 'c', 'Home', ' ']) await tab.keyboard.press(key);
  await tab.waitForTimeout(150);
  for (const text of bad) problems.push(`${name}: ${text}`);
  await tab.close();
}

// The server ends while the page is open: a message in the view, and the certificate stays.
async function testServerEnds(address) {
  const { tab } = await open(address);
  const verdict = await tab.locator('#verdict').textContent();
  await tab.route('**/block/**', (route) => route.abort());
  await tab.locator('#stage').focus();
  await tab.keyboard.press('Shift+ArrowRight'); // a frame that was not loaded before
  await tab.waitForSelector('#stage-message:visible', { timeout: 180000 });
  const message = await tab.locator('#stage-message').textContent();
  check(message.includes('server has ended'), `the server ended, the page says "${message}"`);
  check((await tab.locator('#verdict').textContent()) === verdict, 'the certificate is lost when the server ends');
  await tab.close();
}

// A run that goes on takes its processor, so it is looked at alone.
if (given('live')) {
  await testLive(given('live'));
} else {
  await testPage(file);
  if (server) await testPage(server);
  if (server) await testServerEnds(server);
  await testTools(file);
  if (given('compare')) await testCompare(pathToFileURL(given('compare')).href);
  if (given('many')) await testMany(pathToFileURL(given('many')).href);
  await testPhone(file);
  await testLarge(file);
  if (given('gallery')) await testGallery(pathToFileURL(given('gallery')).href);
  await testMeshes();
  for (const other of unusual) await testUnusual(pathToFileURL(other).href);
}
await browser.close();
for (const text of problems) console.error(`page: ${text}`);
console.log(problems.length ? `${problems.length} failures` : `page: all good${server ? ', from a file and from scree view' : ''}`);
process.exit(problems.length ? 1 : 0);

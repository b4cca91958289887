// The page: reads the run, or runs that are compared, sets up the stage, the plots and the certificate.
import { openRun } from './data.js';
import { makeRenderer, View } from './scene.js';
import { Eye } from './camera.js';
import { Stage } from './stage.js';
import { Plots } from './plots.js';
import { ConvergencePlots, readConvergence, showConvergence } from './convergence.js';
import { STATUS, materialColour, scaleEnds, scaleGradient } from './colours.js';
import { fieldData, fieldRange, fieldsOf, firstScaling } from './fields.js';
import { describeBody, describeContact } from './inspect.js';
import { connect } from './panel.js';
import { drawStill } from './film.js';
import { escape, show, short } from './format.js';

const $ = (id) => document.getElementById(id);
const parameters = new URLSearchParams(location.hash.slice(1));
const picture = parameters.has('picture');

// ---- theme ----
export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}
export const wantsDark = window.matchMedia('(prefers-color-scheme: dark)');
setTheme(parameters.get('theme') || (wantsDark.matches ? 'dark' : 'light'));

function fail(error) {
  const text = error instanceof Error ? error.message : String(error);
  $('verdict').textContent = `The run could not be shown: ${text}`;
  $('certificate').classList.add('bad');
  stageMessage(text);
}
// A block that cannot be read does not concern the certificate and the curves, which are complete.
// `scree view` may have ended while the page is still open.
function failToRead(error) {
  const text = error instanceof TypeError && player.run?.meta.stream
    ? 'The server has ended (scree view): frames that were not loaded before cannot be shown. The certificate and the curves are complete.'
    : `A part of the run cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  player.play(false);
  stageMessage(text);
}
function stageMessage(text) {
  $('stage-message').textContent = text;
  $('stage-message').hidden = false;
}

// ---- certificate ----
function showCertificate(runs) {
  const [{ meta }] = runs, several = runs.length > 1, names = runs.map((run) => run.meta.title);
  const title = several ? names.join(' and ') : meta.title;
  document.title = `${title} – scree`;
  $('title').textContent = title;
  $('subtitle').textContent = several ? runs.map((run) => run.meta.subtitle).join(' · ') : meta.subtitle || '';
  const good = runs.every((run) => run.meta.certificate.good);
  $('verdict').textContent = several && good ? 'Both runs are certified.'
    : runs.filter((run) => !several || !run.meta.certificate.good).map((run) => (several ? `${run.meta.title}: ` : '') + run.meta.certificate.verdict).join(' ');
  $('certificate').classList.toggle('good', good);
  $('certificate').classList.toggle('bad', !good);
  $('certificate-lines').innerHTML = runs.map((run) => (several ? `<div class="run-name">${escape(run.meta.title)}</div>` : '') + run.meta.certificate.lines
    .map((l) => `<div><dt>${escape(l.label)}</dt><dd${l.good === false ? ' class="bad"' : ''}>${escape(l.text)}</dd></div>`).join('')).join('');
  $('footer').innerHTML = [...new Set(runs.flatMap((run) => run.meta.notes || []))].map((n) => `<p>${escape(n)}</p>`).join('') +
    `<p>${escape(meta.program)}. This page is complete: it asks the network for nothing${meta.stream ? ' but its own server' : ''}.
     It contains three.js, uPlot and fflate (MIT licence).</p>`;
}

// ---- the player ----
// `run` and `view` are the first ones; runs that are compared with it follow its time.
const player = {
  frame: 0, blend: 0, playing: false, speed: 1, last: 0, runs: [], plots: [],

  setFrame(k, blend = 0) {
    const { run } = this;
    this.frame = Math.min(Math.max(k, 0), Math.max(run.count - 1, 0));
    this.blend = this.frame < run.count - 1 ? blend : 0;
    this.stale = true;
    $('scrub').value = this.frame;
    const time = this.time();
    $('clock').textContent = run.count ? `t = ${short(time)} s · frame ${this.frame + 1}/${run.count}` : 'no frames';
    $('scrub').setAttribute('aria-valuetext', `time ${short(time)} seconds, frame ${this.frame + 1} of ${run.count}`);
  },
  time() {
    const { times } = this.run;
    if (!times.length) return 0;
    const next = times[Math.min(this.frame + 1, times.length - 1)];
    return times[this.frame] + this.blend * (next - times[this.frame]);
  },
  // The frame that is shown at a time: the last one not after it.
  at(time, { times } = this.run) {
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time + 1e-9 * Math.abs(time)) low = middle;
      else high = middle - 1;
    }
    return low;
  },
  nearest(time) {
    const { times } = this.run, k = this.at(time);
    return k + 1 < times.length && times[k + 1] - time < time - times[k] ? k + 1 : k;
  },
  // Frame and blend of a run at the time of the player.
  placeOf(run) {
    if (run === this.run) return [this.frame, this.blend];
    const time = this.time(), k = this.at(time, run), { times } = run;
    return [k, k + 1 < times.length ? Math.min(Math.max((time - times[k]) / (times[k + 1] - times[k]), 0), 1) : 0];
  },
  play(on) {
    if (on && this.run.count > 1 && this.frame >= this.run.count - 1) this.setFrame(0);
    this.playing = on && this.run.count > 1;
    this.last = performance.now();
    if (!this.playing && this.run.count) this.setFrame(this.blend > 0.5 ? this.frame + 1 : this.frame);
    $('play').textContent = this.playing ? '▮▮' : '▶';
    $('play').setAttribute('aria-label', this.playing ? 'Pause' : 'Play');
  },
  setTime(time) {
    const { times } = this.run, k = this.at(time);
    this.setFrame(k, k + 1 < times.length ? (time - times[k]) / (times[k + 1] - times[k]) : 0);
    if (this.stage?.eye.moves) this.stage.eye.along(time, times[0], times[times.length - 1]);
  },
  advance(now) {
    const { times } = this.run;
    const passed = Math.min((now - this.last) / 1000, 0.25);
    this.last = now;
    const time = this.time() + passed * this.speed;
    if (time >= times[times.length - 1]) {
      this.setFrame(times.length - 1);
      this.play(false);
      return;
    }
    this.setTime(time);
    // Ask for data before they are needed.
    for (const run of this.runs) run.peek(Math.min(this.placeOf(run)[0] + Math.max(2, run.meta.blockFrames), run.count - 1));
  },

  // Bring the views and plots to the player's time; false while data is on its way.
  draw() {
    if (!this.stale) return true;
    for (const view of this.stage.views) {
      const [k, blend] = this.placeOf(view.run);
      if (!view.pose(k, blend) || !view.colour(k) || !view.overlays.update(k)) return false;
    }
    this.stale = false;
    document.documentElement.dataset.frame = this.frame;
    for (const part of this.plots) part.setTime(this.time());
    if (this.selection && (!this.playing || this.frame !== this.described)) this.inspect(this.selection);
    this.onDrawn?.();
    return true;
  },

  // Show the numbers of { body } or { contact }, of view k; null: of nothing.
  inspect(selection) {
    this.selection = selection;
    this.described = this.frame;
    const element = $('inspector'), chosen = selection?.k || 0;
    for (const [k, view] of (this.stage?.views || []).entries()) {
      const own = k === chosen ? selection : null, { overlays } = view;
      view.select(own?.body ?? -1);
      if (overlays.selectedContact !== (own?.contact ?? -1) || overlays.selectedBody !== (own?.body ?? -1)) this.stale = true;
      overlays.selectedContact = own?.contact ?? -1;
      overlays.selectedBody = own?.body ?? -1;
    }
    $('follow').disabled = selection?.body === undefined;
    if (!selection) {
      element.innerHTML = '<p class="hint">Click a body or a contact to read its numbers.</p>';
      return;
    }
    const run = this.runs[chosen], [k] = this.placeOf(run), frame = run.peek(k);
    if (!frame) return;
    const at = run.times[k], from = run.contactFrame(k);
    // What needs the contacts is told when they have come.
    if (from >= 0 && !(run.peekContacts(k) && run.peek(from))) {
      const again = () => this.selection === selection && this.placeOf(run)[0] === k && this.inspect(selection);
      Promise.all([run.contacts(k), run.frame(from)]).then(again, run.onerror);
    }
    if (selection.body !== undefined) {
      const here = selection.body < frame.columns.position.count && (!frame.columns.present || frame.columns.present.at(frame.f, 0, selection.body));
      element.innerHTML = here ? describeBody(run, selection.body, frame, k) : `<h2>Body ${selection.body}</h2><p class="hint">It is not there at this time.</p>`;
    } else {
      const contacts = run.peekContacts(k);
      if (!contacts || selection.contact >= contacts.a.count) return this.inspect(null);
      element.innerHTML = describeContact(run, selection.contact, contacts, frame);
    }
    element.insertAdjacentHTML('beforeend', `<p class="hint">at t = ${escape(show(at))} s, step ${run.steps[k]}${this.runs.length > 1 ? `, ${escape(run.meta.title)}` : ''}</p>`);
  },

  field(id) {
    return this.fields.find((f) => f.id === id) || this.fields[0];
  },
  async rangeOf(field) {
    if (!field.range) {
      const ranges = await Promise.all(this.runs.map((run) => fieldRange(run, field)));
      field.range = [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))];
    }
    return field.range;
  },
  async setColouring(id, scaling) {
    const field = this.field(id);
    $('colour').value = field.id;
    const range = await this.rangeOf(field);
    for (const run of this.runs) await fieldData(run, field, this.placeOf(run)[0]);
    if (!scaling && field !== this.stage.first.colouring) {
      if (this.run.count) await fieldData(this.run, field, this.run.count - 1);
      scaling = firstScaling(this.run, field, range);
    }
    if ($('colour').value !== field.id) return; // another was chosen meanwhile
    for (const view of this.stage.views) Object.assign(view, { colouring: field, range, scaling: scaling || view.scaling });
    $('scaling').value = this.stage.first.scaling;
    this.stale = true;
    document.documentElement.dataset.colour = field.id;
    this.showLegend();
  },
  showLegend() {
    const [view] = this.stage.views, { colouring } = view, range = view.shownRange || view.range, { show: shown } = view.overlays;
    $('scaling').disabled = Boolean(colouring.category);
    let html;
    if (colouring.category) {
      const { materials } = this.run.meta;
      html = colouring.id === 'material'
        ? materials.map((m, i) => `<span class="key" style="background:rgb(${materialColour(this.run.meta, i)})"></span>${escape(m)}`).join('')
        : 'coloured by body number';
    } else {
      const [low, high] = scaleEnds(colouring, view.scaling, range);
      html = `${escape(colouring.name)}${colouring.unit ? ` [${colouring.unit}]` : ''}<div class="bar" style="background:${scaleGradient(view.scaling)}"></div><div class="ends"><span>${low}</span>${view.scaling === 'log' ? '<span>log</span>' : ''}<span>${high}</span></div>`;
    }
    if (shown.contacts) html += `<div>${STATUS.map((s) => `<span class="key" style="background:rgb(${s.colour})"></span>${s.name}`).join('')}</div>`;
    if (shown.chains) html += `<div><span class="key" style="background:#d9291f"></span>force chains: thickness by normal impulse</div>`;
    if (shown.thrust) html += `<div><span class="key" style="background:#cc1a59"></span>thrust lines: thickness by force</div>`;
    $('legend').innerHTML = html;
  },
};

// `scree picture` reads the page after it has loaded: the drawing must be in it as text by then. A
// screenshot of a WebGL canvas taken from outside is empty as often as not.
function takePicture(stage) {
  const [width, height] = (parameters.get('size') || '1280,800').split(',').map(Number);
  stage.resize(width, height, 1);
  placeCamera(stage);
  const text = Object.assign(document.createElement('pre'), { id: 'scree-picture', hidden: true });
  text.textContent = drawStill(stage, document.createElement('canvas'), width, height, true).toDataURL('image/png').split(',')[1];
  document.body.append(text);
}
// As the address says: a preset, or eye and target in metres.
function placeCamera(stage) {
  const { eye, first } = stage, numbers = (name) => (parameters.get(name) || '').split(',').map(Number);
  stage.fit(parameters.get('view') || 'oblique');
  const at = numbers('eye'), { origin, length } = first.run.meta, scaled = (v) => v.map((x, c) => (x - origin[c]) / length);
  if (!eye.flat && at.length === 3 && at.every(Number.isFinite)) {
    const to = numbers('target');
    if (to.length === 3 && to.every(Number.isFinite)) eye.controls.target.set(...scaled(to));
    eye.camera.position.set(...scaled(at));
    eye.controls.update();
  }
  const zoom = Number(parameters.get('zoom'));
  if (zoom > 0) {
    eye.camera.zoom = zoom;
    eye.camera.updateProjectionMatrix();
  }
}

// ---- start ----
function startGraphics(flat) {
  try {
    return makeRenderer($('canvas'), flat);
  } catch (error) {
    stageMessage(`The bodies cannot be drawn: this browser gives no WebGL 2 (${error.message}). The certificate and the curves are complete.`);
    return null;
  }
}

// Runs that are compared share the unit of length and the bounds, so that the same camera shows both.
function align(runs) {
  const [{ meta }] = runs;
  if (runs.length > 1 && runs.some((run) => run !== runs[0] && run.meta.title === meta.title))
    for (const run of runs) run.meta.title = `${run.meta.title} (${run.meta.folder})`;
  for (const run of runs.slice(1)) {
    Object.assign(run.meta, { origin: meta.origin, length: meta.length });
    for (let c = 0; c < 3; ++c) {
      meta.bounds[0][c] = Math.min(meta.bounds[0][c], run.meta.bounds[0][c]);
      meta.bounds[1][c] = Math.max(meta.bounds[1][c], run.meta.bounds[1][c]);
    }
    run.meta.bounds = meta.bounds;
  }
}
function showTitles(stage) {
  const box = $('stage-titles');
  box.hidden = player.runs.length < 2;
  box.innerHTML = player.runs.map((run, k) => {
    const [x, y, , height] = stage.part(k);
    return `${k ? `<i style="left:${x}px;top:${y}px;${y ? 'width:100%;height:1px' : `width:1px;height:${height}px`}"></i>` : ''}<span style="left:${x}px;top:${y}px">${escape(run.meta.title)}</span>`;
  }).join('');
}

// A run that goes on: what has come since is asked for every second and a half.
function stayLive(stage) {
  const button = $('live'), { run } = player;
  button.hidden = false;
  const ask = async () => {
    let changed;
    try {
      changed = await run.refresh();
    } catch (error) {
      button.hidden = true;
      failToRead(error);
      return;
    }
    $('scrub').max = Math.max(run.count - 1, 0);
    showCertificate(player.runs);
    if (changed.bodies) {
      run.first = await run.frame(0);
      const old = stage.views[0], fresh = new View(run, stage.renderer, stage.eye);
      Object.assign(fresh, { colouring: old.colouring, range: old.range, scaling: old.scaling, looks: old.looks, limits: old.limits, onRange: old.onRange });
      Object.assign(fresh.overlays, { show: old.overlays.show, trails: old.overlays.trails });
      for (const [id, obstacle] of [['bodies', false], ['obstacles', true]]) fresh.setLook(obstacle, old.looks[id]);
      stage.views[0] = player.view = fresh;
      old.dispose();
      player.stale = true;
    }
    if (changed.frames) {
      for (const field of player.fields) delete field.range;
      const field = stage.first.colouring;
      if (!field.category) stage.first.range = await player.rangeOf(field);
      stage.first.coloured = null;
      for (const part of player.plots) part.build();
      if (button.getAttribute('aria-pressed') === 'true' && !player.playing) player.setFrame(run.count - 1);
      else player.setFrame(player.frame, player.blend);
    }
    if (changed.ended) button.hidden = true;
    else setTimeout(ask, 1500);
  };
  setTimeout(ask, 1500);
}

// What `viewer/bench/measure.mjs` reads.
const mark = (name) => performance.mark(name);

async function start() {
  mark('script');
  const run = await openRun(), runs = [run], renderer = startGraphics(run.meta.dimension === 2);
  mark('graphics');
  for (let k = 1; k < (run.meta.runs || 1); ++k) runs.push(await openRun(k));
  align(runs);
  Object.assign(player, { run, runs });
  for (const each of runs) each.onerror = failToRead;
  showCertificate(runs);
  $('certificate-details').open = window.innerWidth > 900 && runs.length === 1;
  document.documentElement.classList.toggle('flat', run.meta.dimension === 2);
  document.documentElement.classList.toggle('picture', picture);
  for (const each of runs) await each.load();
  mark('shapes');
  $('scrub').max = Math.max(run.count - 1, 0);
  const goTo = (time) => { player.play(false); player.setFrame(player.nearest(time)); };
  const plots = [new Plots($('plots'), run, goTo, runs.slice(1))], convergence = readConvergence(run.meta.convergence);
  if (convergence) {
    showConvergence($('convergence'), $('certificate-lines'), convergence);
    plots.push(new ConvergencePlots($('convergence-plots'), run, goTo, convergence));
  }
  player.plots = plots;
  let stage = null;
  const drawable = runs.every((each) => each.count && each.bodies);
  if (drawable) {
    for (const each of runs) each.first = await each.frame(0);
    mark('frame');
    if (renderer) {
      stage = new Stage($('stage'), $('canvas'), renderer, new Eye($('canvas'), run.meta));
      stage.views = runs.map((each) => new View(each, renderer, stage.eye));
    }
    mark('view');
  } else stageMessage(runs.every((each) => each.bodies) ? 'This run saved no frames: there is nothing to play.' : 'This run has no bodies.');
  player.fields = drawable ? fieldsOf(run) : [];
  Object.assign(player, { stage, view: stage?.first ?? null });
  if (run.count) {
    // Smooth at a glance: the whole run within about half a minute, in the list of speeds.
    const span = run.times[run.count - 1] - run.times[0], speeds = [...$('speed').options].map((o) => Number(o.value));
    const wanted = span / 30;
    const begin = wanted > 1 ? speeds.find((s) => s >= wanted) ?? 10 : span < 1 ? speeds.findLast((s) => s <= Math.max(span / 4, 0.05)) ?? 0.05 : 1;
    $('speed').value = String(begin);
    player.speed = begin;
  }
  const first = parameters.has('t') ? player.nearest(Number(parameters.get('t'))) : 0;
  if (run.count) await run.frame(first);
  connect(player, stage);
  player.setFrame(first);
  if (stage) {
    stage.resize();
    if (parameters.has('path')) stage.eye.read(parameters.get('path'));
    for (const id of ['chains', 'contacts', 'normals', 'thrust'])
      if (parameters.has(id)) {
        for (const each of runs) await each.contacts(player.placeOf(each)[0]);
        $(id).checked = true;
        $(id).onchange();
      }
    for (const id of ['bodies', 'obstacles', 'trails']) if (parameters.has(id)) { $(id).value = parameters.get(id); $(id).onchange(); }
    await player.setColouring(parameters.get('colour') || 'velocity', parameters.get('scale'));
    placeCamera(stage);
    if (runs.length > 1) {
      showTitles(stage);
      new ResizeObserver(() => showTitles(stage)).observe($('stage'));
    }
  }
  const tick = (now) => {
    if (player.playing) player.advance(now);
    if (stage) {
      if (!player.exporting) {
        player.draw();
        stage.render(now, !player.playing);
      }
    } else if (player.stale) {
      player.stale = false;
      for (const part of plots) part.setTime(player.time());
    }
    if (!document.documentElement.dataset.ready && (!stage || !player.stale)) {
      // After the first frame is shown.
      if (!picture) {
        for (const each of runs) each.decoder.start();
        for (const part of plots) part.build();
      }
      for (const part of plots) part.setTime(player.time());
      document.documentElement.dataset.ready = 'yes';
      mark('ready');
      if (run.meta.live && stage) stayLive(stage);
    }
    requestAnimationFrame(tick);
  };
  if (stage && picture) {
    player.plots = [];
    player.draw();
    takePicture(stage);
    document.documentElement.dataset.ready = 'yes';
  }
  requestAnimationFrame(tick);
}
// Access from the console and for tests.
window.scree = { player };
start().catch(fail);

// The page: reads the run, sets up the view, the plots and the certificate, and handles events.
import { openRun } from './data.js';
import { makeRenderer, View } from './scene.js';
import { Plots } from './plots.js';
import { ConvergencePlots, readConvergence, showConvergence } from './convergence.js';
import { pick } from './pick.js';
import { COLOURINGS, STATUS, materialColour, pressure, colouringRange, scaleColour, scaleGradient, contactForce, contactNormal, SCALINGS } from './colours.js';
import { drawGuide } from './guide.js';
import { escape, show, short, vector } from './format.js';

const $ = (id) => document.getElementById(id);
const parameters = new URLSearchParams(location.hash.slice(1));
const picture = parameters.has('picture');

// ---- theme ----
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}
const wantsDark = window.matchMedia('(prefers-color-scheme: dark)');
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
function showCertificate(meta) {
  document.title = `${meta.title} – scree`;
  $('title').textContent = meta.title;
  $('subtitle').textContent = meta.subtitle || '';
  const { certificate } = meta;
  $('verdict').textContent = certificate.verdict;
  $('certificate').classList.add(certificate.good ? 'good' : 'bad');
  $('certificate-lines').innerHTML = certificate.lines
    .map((l) => `<div><dt>${escape(l.label)}</dt><dd${l.good === false ? ' class="bad"' : ''}>${escape(l.text)}</dd></div>`)
    .join('');
  $('footer').innerHTML = (meta.notes || []).map((n) => `<p>${escape(n)}</p>`).join('') +
    `<p>${escape(meta.program)}. This page is complete: it asks the network for nothing${meta.stream ? ' but its own server' : ''}.
     It contains three.js, uPlot and fflate (MIT licence).</p>`;
}

// ---- numbers of the selection ----
function rows(list) {
  return `<table>${list.filter(Boolean).map(([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`).join('')}</table>`;
}
function numbers(columns, name, f, item, comps) {
  const column = columns[name];
  const values = comps.map((c) => column.at(f, c, item));
  return comps.length === 1
    ? show(values[0], column.resolution(values[0]))
    : `(${values.map((v) => show(v, column.resolution(v))).join(', ')})`;
}
function describeBody(run, body, frame) {
  const { columns, f } = frame, { fixed, meta } = run, flat = meta.dimension === 2;
  const xyz = flat ? [0, 1] : [0, 1, 2];
  const kind = meta.kinds[fixed.kind.at(0, 0, body)].replace('-2d', '');
  const p = [0, 1, 2, 3, 4].map((c) => fixed.shape.at(0, c, body));
  const sizes = { disk: [p[0]], sphere: [p[0]], ellipse: p.slice(2, 4), ellipsoid: p.slice(2), box: p.slice(2), capsule: [p[0], p[1]], segment: [p[1], p[0]], drum: flat ? [p[0]] : [p[0], p[1]] }[kind] || [];
  const sizeNames = { disk: 'radius', sphere: 'radius', ellipse: 'semi-axes', ellipsoid: 'semi-axes', box: 'half extents', capsule: 'radius, half length', segment: 'half length, radius', drum: flat ? 'radius' : 'radius, half length' };
  const obstacle = fixed.obstacle.at(0, 0, body);
  let contactCount = '';
  const contacts = run.peekContacts(player.frame);
  if (contacts) {
    let n = 0;
    for (let c = 0; c < contacts.a.count; ++c) n += (contacts.a.at(0, 0, c) === body || contacts.b.at(0, 0, c) === body) && contacts.r.at(0, 0, c) > 0;
    contactCount = String(n);
  }
  return `<h2>${obstacle ? 'Obstacle' : 'Body'} ${body}${run.meta.names?.[body] ? ` ${escape(run.meta.names[body])}` : ''}</h2>` + rows([
    ['shape', kind],
    sizes.length && [sizeNames[kind], sizes.map((v) => show(v)).join(', ')],
    ['material', meta.materials[fixed.material.at(0, 0, body)] ?? String(fixed.material.at(0, 0, body))],
    !obstacle && ['mass', `${show(fixed.mass.at(0, 0, body))} kg`],
    ['position', numbers(columns, 'position', f, body, xyz)],
    !flat && meta.turns && ['orientation', numbers(columns, 'orientation', f, body, [0, 1, 2, 3])],
    flat && meta.turns && ['angle', `${show(2 * Math.atan2(columns.orientation.at(f, 3, body), columns.orientation.at(f, 0, body)))} rad`],
    columns.velocity && ['velocity', numbers(columns, 'velocity', f, body, xyz)],
    columns.speed && ['speed', numbers(columns, 'speed', f, body, [0])],
    columns.angular && ['angular velocity', numbers(columns, 'angular', f, body, flat ? [2] : xyz)],
    columns.spin && ['spin', numbers(columns, 'spin', f, body, [0])],
    contactCount !== '' && ['active contacts', contactCount],
    !obstacle && meanPressure(run, body),
  ]);
}
// To three digits in a compact page, which has the normal parts of the impulses alone.
function meanPressure(run, body) {
  const values = new Float64Array(run.bodies);
  if (!run.meta.contactFrames.length || !pressure(run, player.frame, values)) return null;
  const text = run.meta.turns ? show(values[body]) : short(values[body]);
  return ['mean pressure', `${text} Pa`];
}
function describeContact(run, contact, contacts, frame) {
  const flat = run.meta.dimension === 2, local = flat ? [0, 1] : [0, 1, 2], xyz = local;
  const force = [0, 0, 0], normal = [0, 0, 0];
  contactForce(run, contacts, frame, contact, force);
  contactNormal(contacts, contact, normal, run, frame);
  const has = (name) => contacts[name];
  return `<h2>Contact ${contact}</h2>` + rows([
    ['bodies', `${contacts.a.at(0, 0, contact)} and ${contacts.b.at(0, 0, contact)}`],
    ['status', (STATUS[contacts.status.at(0, 0, contact)] || STATUS[0]).name],
    has('position') && ['position', numbers(contacts, 'position', 0, contact, xyz)],
    ['normal', has('normal') ? numbers(contacts, 'normal', 0, contact, xyz) : vector(normal.slice(0, xyz.length), 0.01)],
    ['impulse (n, t)', numbers(contacts, 'r', 0, contact, local.slice(0, contacts.r.comps))],
    has('u') && ['relative velocity (n, t)', numbers(contacts, 'u', 0, contact, local)],
    has('gap') && ['gap', numbers(contacts, 'gap', 0, contact, [0])],
    has('mu') && ['friction coefficient', numbers(contacts, 'mu', 0, contact, [0])],
    has('error') && ['error', numbers(contacts, 'error', 0, contact, [0])],
  ]);
}

// ---- the player ----
const player = {
  frame: 0, blend: 0, playing: false, speed: 1, last: 0, drawn: -1, drawnColour: -1, drawnContacts: -1,

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
  at(time) {
    const { times } = this.run;
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
  play(on) {
    if (on && this.run.count > 1 && this.frame >= this.run.count - 1) this.setFrame(0);
    this.playing = on && this.run.count > 1;
    this.last = performance.now();
    if (!this.playing && this.run.count) this.setFrame(this.blend > 0.5 ? this.frame + 1 : this.frame);
    $('play').textContent = this.playing ? '▮▮' : '▶';
    $('play').setAttribute('aria-label', this.playing ? 'Pause' : 'Play');
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
    const k = this.at(time);
    this.setFrame(k, (time - times[k]) / (times[k + 1] - times[k]));
    // On its way before it is needed.
    this.run.peek(Math.min(k + Math.max(2, this.run.meta.blockFrames), times.length - 1));
  },
};

function drawFrame(view, plots) {
  if (!player.stale) return;
  let done = view.pose(player.frame, player.blend);
  if (done) done = view.colour(player.frame);
  const wanted = view.show.chains || view.show.contacts || view.show.normals;
  if (done && (wanted || player.drawnContacts !== -1) && player.drawnContacts !== player.frame) {
    done = wanted ? view.contacts(player.frame) : (view.clearContacts(), true);
    player.drawnContacts = wanted && done ? player.frame : -1;
  }
  if (!done) return;
  player.stale = false;
  document.documentElement.dataset.frame = player.frame;
  for (const part of plots) part.setTime(player.time());
  if (player.selection && (!player.playing || player.frame !== player.described)) inspect(player.selection);
}

function inspect(selection) {
  player.selection = selection;
  player.described = player.frame;
  const { run, view } = player;
  const element = $('inspector');
  view?.select(selection?.body ?? -1);
  if (view && view.selectedContact !== (selection?.contact ?? -1)) {
    view.selectedContact = selection?.contact ?? -1;
    player.drawnContacts = -2;
    player.stale = true;
  }
  $('follow').disabled = selection?.body === undefined;
  if (!selection) {
    element.innerHTML = '<p class="hint">Click a body or a contact to read its numbers.</p>';
    return;
  }
  const frame = run.peek(player.frame);
  if (!frame) return;
  const at = run.times[player.frame], from = run.contactFrame(player.frame);
  // What needs the contacts is told when they have come.
  if (from >= 0 && !(run.peekContacts(player.frame) && run.peek(from))) {
    const shown = player.frame, again = () => player.selection === selection && player.frame === shown && inspect(selection);
    Promise.all([run.contacts(shown), run.frame(from)]).then(again, run.onerror);
  }
  if (selection.body !== undefined) {
    const here = selection.body < frame.columns.position.count && (!frame.columns.present || frame.columns.present.at(frame.f, 0, selection.body));
    element.innerHTML = here ? describeBody(run, selection.body, frame) : `<h2>Body ${selection.body}</h2><p class="hint">It is not there at this time.</p>`;
  } else {
    const contacts = run.peekContacts(player.frame);
    if (!contacts || selection.contact >= contacts.a.count) return inspect(null);
    element.innerHTML = describeContact(run, selection.contact, contacts, frame);
  }
  element.insertAdjacentHTML('beforeend', `<p class="hint">at t = ${escape(show(at))} s, step ${run.steps[player.frame]}</p>`);
}

async function setColouring(view, id) {
  const colouring = COLOURINGS.find((c) => c.id === id) || COLOURINGS[0];
  $('colour').value = colouring.id;
  colouring.range ||= await colouringRange(player.run, colouring);
  if (colouring.id === 'stress') await player.run.contacts(player.frame);
  view.colouring = colouring;
  view.range = colouring.range;
  player.stale = true;
  document.documentElement.dataset.colour = colouring.id;
  showLegend(view);
}
function showLegend(view) {
  const { colouring } = view, range = view.shownRange || view.range, legend = $('legend');
  $('scaling').disabled = Boolean(colouring.category);
  let html;
  if (colouring.category) {
    const { materials } = player.run.meta;
    html = colouring.id === 'material'
      ? materials.map((m, i) => `<span class="key" style="background:rgb(${materialColour(player.run.meta, i)})"></span>${escape(m)}`).join('')
      : 'coloured by body number';
  } else {
    html = `${colouring.name} [${colouring.unit}]<div class="bar" style="background:${scaleGradient()}"></div><div class="ends"><span>${short(range[0])}</span>${view.scaling === 'log' ? '<span>log</span>' : ''}<span>${short(range[1])}</span></div>`;
  }
  if (view.show.contacts) html += `<div>${STATUS.map((s) => `<span class="key" style="background:rgb(${s.colour})"></span>${s.name}`).join('')}</div>`;
  if (view.show.chains) html += `<div><span class="key" style="background:#d9291f"></span>force chains: thickness by normal impulse</div>`;
  legend.innerHTML = html;
}

// ---- events ----
function connect(view, plots) {
  const { run } = player;
  const step = (by) => {
    player.play(false);
    player.setFrame(player.frame + by);
  };
  $('play').onclick = () => player.play(!player.playing);
  $('first').onclick = () => { player.play(false); player.setFrame(0); };
  $('previous').onclick = () => step(-1);
  $('next').onclick = () => step(1);
  $('scrub').oninput = () => { const k = Number($('scrub').value); player.play(false); player.setFrame(k); };
  $('speed').onchange = () => (player.speed = Number($('speed').value));
  $('theme').onclick = () => {
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
    for (const part of plots) { part.build(); part.setTime(player.time()); }
  };
  wantsDark.addEventListener('change', (event) => { setTheme(event.matches ? 'dark' : 'light'); for (const part of plots) part.build(); });
  $('help-button').onclick = () => $('help').showModal();
  $('find').onsubmit = (event) => {
    event.preventDefault();
    const text = $('find-body').value.trim(), named = Object.entries(run.meta.names || {}).find(([, name]) => name === text);
    const body = named ? Number(named[0]) : Number(text);
    if (text !== '' && Number.isInteger(body) && body >= 0 && body < run.bodies) inspect({ body });
  };
  window.addEventListener('resize', () => plots.forEach((part) => part.resize()));
  if (!view) return keys(step);

  $('colour').onchange = () => setColouring(view, $('colour').value);
  for (const [id, name] of SCALINGS) $('scaling').add(new Option(name, id));
  $('scaling').onchange = () => {
    view.scaling = $('scaling').value;
    player.stale = true;
  };
  view.onRange = () => showLegend(view);
  view.onView = () => drawGuide($('guide'), view);
  const looks = (id, obstacle) => ($(id).onchange = () => {
    view.looks = { ...view.looks, [id]: $(id).value };
    view.setLook(obstacle, $(id).value);
  });
  looks('bodies', false);
  looks('obstacles', true);
  for (const id of ['chains', 'contacts', 'normals'])
    $(id).onchange = () => {
      view.show[id] = $(id).checked;
      // Chains are inside the bodies: see through these.
      if (id === 'chains' && $('chains').checked && $('bodies').value === 'solid') $('bodies').value = 'ghost';
      else if (id === 'chains' && !$('chains').checked && $('bodies').value === 'ghost') $('bodies').value = 'solid';
      $('bodies').onchange();
      player.drawnContacts = -2;
      player.stale = true;
      showLegend(view);
    };
  const slice = () => {
    $('slice').disabled = $('slice-axis').value === '';
    view.setSlice($('slice-axis').value, Number($('slice').value) / 1000);
  };
  $('slice-axis').onchange = slice;
  $('slice').oninput = slice;
  $('fit').onclick = () => { setFollow(view, false); view.fit(); };
  $('follow').onclick = () => setFollow(view, $('follow').getAttribute('aria-pressed') !== 'true');
  pointer(view);
  new ResizeObserver(() => view.resize($('stage').clientWidth, $('stage').clientHeight)).observe($('stage'));
  keys(step);
}
function setFollow(view, on) {
  const body = player.selection?.body;
  on = on && body !== undefined;
  $('follow').setAttribute('aria-pressed', String(on));
  view.follow(on ? body : -1);
}
// A click, not the end of a drag.
function pointer(view) {
  const canvas = $('canvas');
  let down = null;
  canvas.addEventListener('pointerdown', (event) => (down = event.isPrimary ? [event.clientX, event.clientY] : null));
  canvas.addEventListener('pointerup', (event) => {
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 5) return;
    const box = canvas.getBoundingClientRect();
    const x = (2 * (event.clientX - box.left)) / box.width - 1, y = 1 - (2 * (event.clientY - box.top)) / box.height;
    inspect(pick(view, x, y));
    if (!player.selection) setFollow(view, false);
  });
}
function keys(step) {
  const cycle = (id) => {
    const select = $(id);
    select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
    select.onchange?.();
  };
  const toggle = (id) => { $(id).checked = !$(id).checked; $(id).onchange?.(); };
  const faster = (by) => {
    const select = $('speed');
    select.selectedIndex = Math.min(Math.max(select.selectedIndex + by, 0), select.options.length - 1);
    select.onchange();
  };
  const actions = {
    ' ': () => player.play(!player.playing), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1), ArrowRight: (e) => step(e.shiftKey ? 10 : 1),
    Home: () => step(-1e9), End: () => step(1e9), '+': () => faster(1), '=': () => faster(1), '-': () => faster(-1),
    f: () => $('fit').click(), c: () => cycle('colour'), k: () => toggle('chains'), x: () => toggle('contacts'), n: () => toggle('normals'),
    b: () => cycle('bodies'), o: () => cycle('obstacles'), w: () => $('follow').click(), '?': () => $('help').showModal(), Escape: () => inspect(null),
  };
  document.addEventListener('keydown', (event) => {
    const tag = event.target.tagName, type = event.target.type;
    if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
    if (tag === 'SELECT' || (tag === 'INPUT' && type === 'text')) return;
    if ((tag === 'BUTTON' || type === 'checkbox') && event.key === ' ') return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

// ---- a picture ----
// `scree picture` reads the page after it has loaded: the drawing must be in it as text by then. A
// screenshot of a WebGL canvas taken from outside is empty as often as not.
function takePicture(view) {
  const [width, height] = (parameters.get('size') || '1280,800').split(',').map(Number);
  view.renderer.setPixelRatio(1);
  view.width = width;
  view.height = height;
  view.renderer.setSize(width, height, false);
  view.setFrustum();
  view.fit();
  view.render();
  const sheet = Object.assign(document.createElement('canvas'), { width, height });
  const c = sheet.getContext('2d'), style = getComputedStyle(document.documentElement);
  const fade = c.createLinearGradient(0, 0, 0, height);
  fade.addColorStop(0, style.getPropertyValue('--stage').trim());
  fade.addColorStop(1, style.getPropertyValue('--stage-low').trim());
  c.fillStyle = fade;
  c.fillRect(0, 0, width, height);
  c.drawImage(view.renderer.domElement, 0, 0);
  pictureLegend(c, view, height, style.getPropertyValue('--text').trim(), style.getPropertyValue('--panel').trim());
  const text = Object.assign(document.createElement('pre'), { id: 'scree-picture', hidden: true });
  text.textContent = sheet.toDataURL('image/png').split(',')[1];
  document.body.append(text);
}
function pictureLegend(c, view, height, text, panel) {
  const { colouring } = view, range = view.shownRange || view.range;
  if (colouring.category) return;
  const x = 14, y = height - 62;
  c.globalAlpha = 0.82;
  c.fillStyle = panel;
  c.fillRect(x - 6, y - 4, 196, 58);
  c.globalAlpha = 1;
  c.fillStyle = text;
  c.font = '13px sans-serif';
  c.fillText(`${colouring.name} [${colouring.unit}]`, x, y + 12);
  for (let k = 0; k < 180; ++k) {
    const rgb = [0, 0, 0];
    scaleColour(k / 179, rgb, 0);
    c.fillStyle = `rgb(${rgb.map(Math.round)})`;
    c.fillRect(x + k, y + 20, 1.5, 9);
  }
  c.fillStyle = text;
  c.fillText(short(range[0]), x, y + 46);
  c.textAlign = 'right';
  c.fillText(short(range[1]), x + 180, y + 46);
}

// ---- start ----
function startGraphics() {
  try {
    return makeRenderer($('canvas'));
  } catch (error) {
    stageMessage(`The bodies cannot be drawn: this browser gives no WebGL 2 (${error.message}). The certificate and the curves are complete.`);
    return null;
  }
}

// What `viewer/bench/measure.mjs` reads.
const mark = (name) => performance.mark(name);

async function start() {
  mark('script');
  const opening = openRun();
  const renderer = startGraphics();
  mark('graphics');
  const run = await opening;
  player.run = run;
  run.onerror = failToRead;
  showCertificate(run.meta);
  document.documentElement.classList.toggle('flat', run.meta.dimension === 2);
  document.documentElement.classList.toggle('picture', picture);
  await run.load();
  mark('shapes');
  $('scrub').max = Math.max(run.count - 1, 0);
  for (const c of COLOURINGS) {
    if (c.id === 'stress' && !run.meta.contactFrames.length) continue;
    $('colour').add(new Option(c.name, c.id));
  }
  const goTo = (time) => { player.play(false); player.setFrame(player.nearest(time)); };
  const plots = [new Plots($('plots'), run, goTo)], convergence = readConvergence(run.meta.convergence);
  if (convergence) {
    showConvergence($('convergence'), $('certificate-lines'), convergence);
    plots.push(new ConvergencePlots($('convergence-plots'), run, goTo, convergence));
  }
  let view = null;
  if (run.count && run.bodies) {
    run.first = await run.frame(0);
    mark('frame');
    view = renderer && new View($('canvas'), run, renderer);
    mark('view');
  } else stageMessage(run.bodies ? 'This run saved no frames: there is nothing to play.' : 'This run has no bodies.');
  player.view = view;
  if (run.count) {
    // Smooth at a glance: the whole run within about half a minute, in the list of speeds.
    const span = run.times[run.count - 1] - run.times[0], speeds = [...$('speed').options].map((o) => Number(o.value));
    const wanted = span / 30;
    const start = wanted > 1 ? speeds.find((s) => s >= wanted) ?? 10 : span < 1 ? speeds.findLast((s) => s <= Math.max(span / 4, 0.05)) ?? 0.05 : 1;
    $('speed').value = String(start);
    player.speed = start;
  }
  const first = parameters.has('t') ? player.nearest(Number(parameters.get('t'))) : 0;
  if (run.count) await run.frame(first);
  connect(view, plots);
  player.setFrame(first);
  if (view) {
    view.resize($('stage').clientWidth, $('stage').clientHeight);
    view.fit();
    for (const id of ['chains', 'contacts', 'normals'])
      if (parameters.has(id)) {
        await run.contacts(first);
        $(id).checked = true;
        $(id).onchange();
      }
    for (const id of ['bodies', 'obstacles']) if (parameters.has(id)) { $(id).value = parameters.get(id); $(id).onchange(); }
    await setColouring(view, parameters.get('colour') || 'velocity');
  }
  const tick = (now) => {
    if (player.playing) player.advance(now);
    if (view) {
      drawFrame(view, plots);
      view.render();
    } else if (player.stale) {
      player.stale = false;
      for (const part of plots) part.setTime(player.time());
    }
    if (!document.documentElement.dataset.ready && (!view || !player.stale)) {
      // After the first frame is shown.
      if (!picture) {
        run.decoder.start();
        for (const part of plots) part.build();
      }
      for (const part of plots) part.setTime(player.time());
      document.documentElement.dataset.ready = 'yes';
      mark('ready');
    }
    requestAnimationFrame(tick);
  };
  if (view && picture) {
    drawFrame(view, []);
    takePicture(view);
    document.documentElement.dataset.ready = 'yes';
  }
  requestAnimationFrame(tick);
}
start().catch(fail);
// Access from the console and for tests.
window.scree = { player, inspect };

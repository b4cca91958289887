// The controls beside the view, pointers and keys.
import { pick } from './pick.js';
import { SCALINGS } from './colours.js';
import { fieldData } from './fields.js';
import { drawStill, film, save } from './film.js';
import { escape, short } from './format.js';
import { setTheme, wantsDark } from './main.js';

const $ = (id) => document.getElementById(id);

export function connect(player, stage) {
  const { run, plots } = player;
  const step = (by) => {
    player.play(false);
    player.setFrame(player.frame + by);
  };
  $('play').onclick = () => player.play(!player.playing);
  $('first').onclick = () => step(-1e9);
  $('previous').onclick = () => step(-1);
  $('next').onclick = () => step(1);
  $('scrub').oninput = () => { const k = Number($('scrub').value); player.play(false); player.setFrame(k); };
  $('speed').onchange = () => (player.speed = Number($('speed').value));
  $('live').onclick = () => $('live').setAttribute('aria-pressed', String($('live').getAttribute('aria-pressed') !== 'true'));
  const restyle = () => {
    for (const part of plots) { part.build(); part.setTime(player.time()); }
    for (const view of stage?.views || []) view.coloured = null;
    player.stale = true;
  };
  $('theme').onclick = () => { setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'); restyle(); };
  wantsDark.addEventListener('change', (event) => { setTheme(event.matches ? 'dark' : 'light'); restyle(); });
  $('help-button').onclick = () => $('help').showModal();
  const names = Object.entries(run.meta.names || {});
  $('body-names').innerHTML = names.slice(0, 500).map(([, name]) => `<option value="${escape(name)}">`).join('');
  $('find').onsubmit = (event) => {
    event.preventDefault();
    const text = $('find-body').value.trim(), named = names.find(([, name]) => name === text);
    const body = named ? Number(named[0]) : Number(text);
    if (text !== '' && Number.isInteger(body) && body >= 0 && body < run.bodies) player.inspect({ body });
  };
  window.addEventListener('resize', () => plots.forEach((part) => part.resize()));
  for (const f of player.fields) $('colour').add(new Option(f.name, f.id));
  for (const [id, name] of SCALINGS) $('scaling').add(new Option(name, id));
  if (stage) connectStage(player, stage);
  keys(player, stage, step);
}

function connectStage(player, stage) {
  const all = (change) => { stage.views.forEach(change); player.stale = true; };
  $('colour').onchange = () => player.setColouring($('colour').value);
  $('scaling').onchange = () => all((view) => (view.scaling = $('scaling').value));
  stage.first.onRange = () => player.showLegend();
  stage.onView = () => stage.drawGuide($('guide'));
  for (const [id, obstacle] of [['bodies', false], ['obstacles', true]])
    $(id).onchange = () => all((view) => {
      view.looks[id] = $(id).value;
      view.setLook(obstacle, $(id).value);
    });
  for (const id of ['chains', 'contacts', 'normals', 'thrust', 'joints'])
    $(id).onchange = () => {
      all((view) => (view.overlays.show[id] = $(id).checked));
      // Chains and thrust lines are inside the bodies: see through these.
      const inside = $('chains').checked || $('thrust').checked;
      if ((id === 'chains' || id === 'thrust') && $('bodies').value !== 'hidden') $('bodies').value = inside ? 'ghost' : 'solid';
      $('bodies').onchange();
      player.showLegend();
    };
  $('joints-label').hidden = !player.runs.some((run) => run.meta.links);
  $('trails').onchange = () => all((view) => (view.overlays.trails = $('trails').value));
  connectCuts(player, stage, all);
  connectCamera(player, stage);
  connectFilm(player, stage);
  pointer(player, stage);
  new ResizeObserver(() => !player.exporting && stage.resize()).observe($('stage'));
}

// ---- slices and thresholds ----
function connectCuts(player, stage, all) {
  const slice = () => {
    $('slice').disabled = $('slice-axis').value === '';
    all((view) => view.setSlice($('slice-axis').value, Number($('slice').value) / 1000));
  };
  $('slice-axis').onchange = slice;
  $('slice').oninput = slice;
  for (const f of player.fields) $('limit-field').add(new Option(`bodies by ${f.name}`, f.id));
  const limit = () => {
    const id = $('limit-field').value, field = id && player.field(id);
    const bound = (box, none) => ($(box).value === '' ? none : Number($(box).value));
    all((view) => (view.limits = field ? { field, low: bound('limit-low', -Infinity), high: bound('limit-high', Infinity) } : null));
  };
  $('limit-field').onchange = async () => {
    const id = $('limit-field').value;
    $('limit-row').hidden = id === '';
    if (id) {
      const field = player.field(id), [low, high] = field.category ? [0, player.run.bodies - 1] : await player.rangeOf(field);
      for (const run of player.runs) await fieldData(run, field, player.placeOf(run)[0]);
      $('limit-low').value = short(low);
      $('limit-high').value = '';
      $('limit-high').placeholder = short(high);
      $('limit-low').step = $('limit-high').step = field.category ? 1 : Number(((high - low) / 50).toPrecision(1)) || 'any';
    }
    limit();
  };
  for (const id of ['limit-low', 'limit-high']) $(id).oninput = limit;
  player.onDrawn = () => {
    const { limits, limited, run } = stage.first;
    if (!limits) return;
    let shown = 0, movers = 0;
    for (let i = 0; i < run.bodies; ++i) if (!run.fixed.obstacle.data[i]) { ++movers; shown += limited[i] >= limits.low && limited[i] <= limits.high; }
    $('limit-count').textContent = `${shown} of ${movers}`;
  };
}

// ---- camera ----
function connectCamera(player, stage) {
  const { eye } = stage, { times } = player.run;
  $('fit').onclick = () => { setFollow(player, stage, false); eye.base = null; stage.fit($('preset').value); };
  $('preset').onchange = () => $('fit').click();
  $('follow').onclick = () => setFollow(player, stage, $('follow').getAttribute('aria-pressed') !== 'true');
  const tell = () => {
    $('key-count').textContent = eye.turning ? 'turns while it plays' : eye.keys.length ? `${eye.keys.length} view${eye.keys.length > 1 ? 's' : ': add another'}` : 'no path';
    // The address keeps the path: a copy of it opens the page with it.
    const hash = new URLSearchParams(location.hash.slice(1));
    eye.moves ? hash.set('path', eye.text()) : hash.delete('path');
    if (location.hash || eye.moves) history.replaceState(null, '', `#${hash}`);
  };
  $('key-add').onclick = () => { eye.addKey(player.time(), times[times.length - 1] - times[0]); tell(); };
  $('key-clear').onclick = () => { eye.keys = []; eye.turning = 0; $('turning').value = '0'; tell(); };
  $('turning').onchange = () => { eye.turning = Number($('turning').value); eye.base = null; tell(); };
  eye.controls.addEventListener('start', () => (eye.base = null));
}
function setFollow(player, stage, on) {
  const body = player.selection?.body;
  on = on && body !== undefined;
  $('follow').setAttribute('aria-pressed', String(on));
  stage.eye.follow(on ? body : -1);
}

// ---- stills and films ----
function connectFilm(player, stage) {
  const size = (id, most) => Math.min(Math.max(Math.round(Number($(id).value)) || 16, 16), most);
  const name = (ending) => `${player.run.meta.title.replace(/[^\w-]+/g, '-').replace(/^-|-$/g, '') || 'scree'}.${ending}`;
  const exporting = async (work) => {
    player.play(false);
    player.exporting = true;
    try {
      await work();
    } catch (error) {
      $('film-state').textContent = error.message;
    }
    player.exporting = false;
    player.stale = true;
    stage.resize();
    for (const view of stage.views) view.needed = true;
  };
  $('still').onclick = () => exporting(async () => {
    const sheet = drawStill(stage, document.createElement('canvas'), size('film-width', 7680), size('film-height', 4320), `t = ${short(player.time())} s`);
    save(await new Promise((resolve) => sheet.toBlob(resolve, 'image/png')), name('png'));
  });
  let stop = false;
  $('film').onclick = async () => {
    if (player.exporting) {
      stop = true;
      return;
    }
    stop = false;
    $('film').textContent = 'stop';
    await exporting(async () => {
      // Even sizes, as encoders want them; as long as playing takes at the chosen speed.
      const width = size('film-width', 7680) & ~1, height = size('film-height', 4320) & ~1, rate = size('film-rate', 120) < 1 ? 30 : Math.min(Number($('film-rate').value) || 30, 120);
      const { times } = player.run, start = times[0], span = times[times.length - 1] - start, count = Math.max(1, Math.round((span / player.speed) * rate));
      const made = await film({
        width, height, rate, count,
        draw: async (k, sheet) => {
          player.setTime(Math.min(start + (k * player.speed) / rate, start + span));
          while (!player.draw()) await new Promise((resolve) => setTimeout(resolve, 10));
          drawStill(stage, sheet, width, height, `t = ${short(player.time())} s`);
        },
        progress: (share) => {
          $('film-state').textContent = `${Math.round(100 * share)} % of ${count} pictures`;
          return !stop;
        },
      });
      if (made) save(made, name('webm'));
      $('film-state').textContent = made ? `${count} pictures, ${(made.size / 1e6).toFixed(1)} MB` : 'stopped';
      window.scree.film = made;
    });
    $('film').textContent = 'film';
  };
}

// ---- pointer and keys ----
// A click, not the end of a drag.
function pointer(player, stage) {
  const canvas = $('canvas');
  let down = null;
  canvas.addEventListener('pointerdown', (event) => (down = event.isPrimary ? [event.clientX, event.clientY] : null));
  canvas.addEventListener('pointerup', (event) => {
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 5) return;
    const box = canvas.getBoundingClientRect(), at = stage.at(event.clientX - box.left, event.clientY - box.top);
    const found = at && pick(at.view, at);
    player.inspect(found ? { ...found, k: at.k } : null);
    if (!player.selection) setFollow(player, stage, false);
  });
}
function keys(player, stage, step) {
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
    f: () => $('fit').click(), c: () => cycle('colour'), k: () => toggle('chains'), x: () => toggle('contacts'), n: () => toggle('normals'), t: () => toggle('thrust'),
    b: () => cycle('bodies'), o: () => cycle('obstacles'), v: () => $('key-add').click(), w: () => $('follow').click(), '?': () => $('help').showModal(), Escape: () => player.inspect(null),
  };
  for (let k = 0; k < $('preset').options.length; ++k)
    actions[k + 1] = () => { $('preset').selectedIndex = k; $('preset').onchange?.(); };
  document.addEventListener('keydown', (event) => {
    const tag = event.target.tagName, type = event.target.type;
    if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
    if (tag === 'SELECT' || (tag === 'INPUT' && (type === 'text' || type === 'number'))) return;
    if ((tag === 'BUTTON' || tag === 'SUMMARY' || type === 'checkbox') && event.key === ' ') return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

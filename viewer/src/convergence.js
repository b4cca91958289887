// Results of `scree converge` for this run: the verdict, a table of the averages with their errors, and
// the curves of the compared runs over each other.
import { Plots } from './plots.js';
import { escape, short } from './format.js';

const percent = (share) => {
  if (share === null || share === undefined) return '–';
  if (share === 0) return '0 %';
  if (share < 1e-4) return '< 0.01 %';
  return `${share < 0.01 ? Number((100 * share).toPrecision(2)) : (100 * share).toFixed(share < 0.1 ? 2 : 0)} %`;
};

// The description as an object; null when there is none, or it is damaged.
export function readConvergence(text) {
  try {
    const found = text ? JSON.parse(text) : null;
    return found && found.version === 1 && Array.isArray(found.quantities) && Array.isArray(found.runs) ? found : null;
  } catch {
    return null;
  }
}

function row(quantity, accuracy) {
  const { judged, order } = quantity;
  // Of means over several starts: the standard error beside the error, and bad only where that is sure.
  const cell = (key) => {
    const share = quantity[key], deviation = quantity[`${key}_deviation`];
    const least = deviation === undefined ? share : quantity[`${key}_low`];
    return `<td${judged && least > accuracy ? ' class="bad"' : ''}>${percent(share)}${deviation === undefined ? '' : ` ± ${percent(deviation)}`}</td>`;
  };
  return `<tr${judged ? '' : ' class="dim"'}><th scope="row">${escape(quantity.quantity.replaceAll('_', ' '))}${judged ? '' : ' (not judged)'}</th>
    <td>${quantity.value === null ? '–' : short(quantity.value)} ${escape(quantity.unit)}</td>${cell('error')}${cell('error_tolerance')}
    <td>${order === null ? '–' : order.toFixed(1)}</td></tr>`;
}

export function showConvergence(section, certificateLines, found) {
  // The section is below the player: the certificate at the top says that it is there.
  certificateLines.insertAdjacentHTML('beforeend', `<div><dt>convergence</dt><dd${found.within ? '' : ' class="bad"'}>
    <a href="#convergence">${escape(found.verdict)}</a></dd></div>`);
  const part = (name) => section.querySelector(`#convergence-${name}`);
  section.hidden = false;
  section.classList.add(found.within ? 'good' : 'bad');
  part('verdict').textContent = found.verdict;
  part('lines').innerHTML = found.lines
    .map((l) => `<div><dt>${escape(l.label)}</dt><dd${l.good ? '' : ' class="bad"'}>${escape(l.text)}</dd></div>`).join('');
  const steps = found.runs.slice(0, found.levels).map((r) => `${short(r.step)} s`).join(', ');
  part('table').innerHTML = `<table><caption>Value: mean over the last half of the run. Errors are relative to the scale of the quantity:
    of the step ${short(found.step)} s from runs with ${escape(steps)}, of the tolerance ${short(found.tolerance)} from a run with a tenth of it.${found.starts > 1 ? ` Means over ${found.starts} starts, ± standard error.` : ''}</caption>
    <thead><tr><th scope="col">average</th><th scope="col">value</th><th scope="col">error of the step</th><th scope="col">of the tolerance</th><th scope="col">order</th></tr></thead>
    <tbody>${found.quantities.filter((q) => !q.empty).map((q) => row(q, found.accuracy)).join('')}</tbody></table>`;
}

export class ConvergencePlots extends Plots {
  constructor(element, run, onTime, found) {
    super(element, run, onTime);
    this.found = found;
  }

  build() {
    this.element.textContent = '';
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    const { found } = this, labels = found.runs.map((r) => r.label);
    const times = Array.from({ length: found.intervals }, (_, k) => ((k + 0.5) * found.time) / found.intervals);
    for (const q of found.quantities)
      if (!q.empty && q.series) this.addChart({ title: q.quantity.replaceAll('_', ' '), unit: q.unit }, labels, times, q.series);
    const pairs = found.bodies.distance.map((_, k) => `${labels[k]} to ${labels[k + 1]}`);
    if (found.bodies.times.length) this.addChart({ title: 'Mean distance of the same bodies over their size', log: true }, pairs, found.bodies.times, found.bodies.distance);
  }

  // Below the player: plots outside of the window are not redrawn while it plays.
  setTime(time) {
    this.time = time;
    if (this.element.getBoundingClientRect().top < window.innerHeight) super.setTime(time);
  }
}

// Curves over time that share the time cursor with the player. A plot appears when the run's
// telemetry has its curves.
import uPlot from 'uplot';
import { short, ticks } from './format.js';
import { STATUS } from './colours.js';

// Curves that are drawn together. `log`: on a logarithmic axis.
export const GROUPS = [
  { title: 'Energies', unit: 'J', curves: ['kinetic', 'potential', 'total', 'dissipated', 'work', 'put_in'], names: { put_in: 'added by the scheme' } },
  { title: 'Energy created, relative to the energy turned over', log: true, curves: ['energy_created'], names: { energy_created: 'created' } },
  { title: 'Creep of bodies that rest, relative to their size', log: true, curves: ['creep'] },
  { title: 'Energy balance: residual', unit: 'J', curves: ['energy_error'] },
  { title: 'Contacts by status', curves: ['open', 'stick', 'slip'], names: { open: 'open', stick: 'sticking', slip: 'sliding' }, colours: STATUS.map((s) => `rgb(${s.colour})`) },
  { title: 'Error per step', log: true, curves: ['error', 'tolerance'] },
  { title: 'Iterations', curves: ['iterations'] },
  { title: 'Deepest penetration, relative to the smaller body', log: true, curves: ['penetration'] },
  { title: 'Coordination', curves: ['coordination', 'coordination_touching'], names: { coordination_touching: 'without rattlers' } },
  { title: 'Packing fraction', curves: ['packing_fraction'], names: { packing_fraction: 'packing fraction' } },
  { title: 'Seconds per step', unit: 's', curves: ['seconds', 'seconds_solve', 'seconds_detect'], names: { seconds: 'all', seconds_solve: 'solver', seconds_detect: 'detection' } },
];
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

// Whole powers of ten, five at most.
function decades(u, axis, low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / 4)), list = [];
  for (let e = first; e <= last; e += step) list.push(Number(`1e${e}`));
  return list;
}

// Number of the value nearest to x in a rising list.
function nearest(list, x) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - list[low - 1] < list[low] - x ? low - 1 : low;
}

export class Plots {
  // `others`: runs that are compared with the first, drawn dashed in the same plots.
  constructor(element, run, onTime, others = []) {
    this.element = element;
    this.run = run;
    this.others = others;
    this.onTime = onTime;
    this.charts = [];
    this.time = 0;
  }

  build() {
    this.element.textContent = '';
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    const { telemetry } = this.run;
    if (!telemetry.time || !telemetry.time.count) {
      this.element.innerHTML = '<p class="hint">This run has no telemetry: there are no curves.</p>';
      return;
    }
    const values = (name) => Array.from({ length: telemetry[name].count }, (_, i) => telemetry[name].at(0, 0, i));
    const time = values('time');
    // The components of a sensor's vector or tensor are drawn together, and so are the slices of a profile.
    const names = Object.keys(telemetry).filter((name) => name.startsWith('sensor.'));
    const base = (name) => name.slice(7).replace(/\.([xyz]{1,2}|\d+)$/, '');
    const sensors = [...new Set(names.map(base))];
    // What the user asked for comes first.
    const groups = sensors.map((sensor) => ({
      title: `Sensor ${sensor}`, unit: this.run.meta.sensorUnits?.[sensor], curves: names.filter((name) => base(name) === sensor),
    })).concat(GROUPS);
    for (const group of groups) {
      const curves = group.curves.filter((name) => telemetry[name]);
      if (curves.length) this.addChart(group, curves, time, curves.map(values));
    }
  }

  // Values of a compared run at the times of the first, between its own steps.
  resample(other, name, time) {
    const { telemetry } = other, from = telemetry[name], at = telemetry.time;
    if (!from || !at?.count) return time.map(() => NaN);
    let k = 0;
    return time.map((t) => {
      while (k + 1 < at.count && at.at(0, 0, k + 1) < t) ++k;
      const next = Math.min(k + 1, at.count - 1), t0 = at.at(0, 0, k), t1 = at.at(0, 0, next);
      if (t > t1 * (1 + 1e-9)) return NaN;
      const share = t1 > t0 ? Math.min(Math.max((t - t0) / (t1 - t0), 0), 1) : 0;
      return from.at(0, 0, k) + share * (from.at(0, 0, next) - from.at(0, 0, k));
    });
  }

  addChart(group, curves, time, data) {
    const holder = document.createElement('div');
    holder.className = 'plot';
    const title = document.createElement('h2');
    title.textContent = group.unit ? `${group.title} [${group.unit}]` : group.title;
    holder.append(title);
    this.element.append(holder);
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue('--dim').trim(), line = style.getPropertyValue('--line').trim();
    const own = curves.length;
    for (const other of this.others) {
      const shared = curves.slice(0, own).filter((name) => other.telemetry[name] && name !== 'tolerance');
      data = data.concat(shared.map((name) => this.resample(other, name, time)));
      curves = curves.concat(shared);
    }
    // Zero cannot be shown on a logarithmic axis.
    const log = group.log && data.some((ys) => ys.some((y) => y > 0));
    const shown = log ? data.map((ys) => ys.map((y) => (y > 0 ? y : null))) : data.map((ys) => ys.map((y) => (Number.isFinite(y) ? y : null)));
    const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
    const chart = new uPlot({
      width: Math.max(holder.clientWidth - 10, 200),
      height: 150,
      cursor: { sync: { key: 'time' }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
      axes: [
        { ...axis, size: 28 },
        { ...axis, size: 68, values: (u, splits) => (log ? splits.map((v) => (v === null ? '' : short(v))) : ticks(splits)), ...(log ? { splits: decades, filter: (u, splits) => splits } : {}) },
      ],
      series: [
        { label: 't', value: (u, v) => (v === null ? '' : short(v)) },
        ...curves.map((name, i) => ({
          label: (group.names?.[name] || name.replace(/^sensor\./, '').replaceAll('_', ' ')) + (i < own ? '' : ' (2nd run)'),
          stroke: name === 'tolerance' ? text : group.colours?.[curves.indexOf(name)] || COLOURS[curves.indexOf(name) % COLOURS.length],
          dash: name === 'tolerance' ? [4, 4] : i < own ? undefined : [6, 3],
          width: 1.5, points: { show: time.length < 3 },
          value: (u, v) => (v === null ? '' : short(v)),
        })),
      ],
      // when its scales are known, and after a change of its size; the plot then resets its legend
      hooks: { draw: [(u) => requestAnimationFrame(() => this.mark(u))] },
    }, [time, ...shown], holder);
    chart.over.addEventListener('click', () => {
      if (chart.cursor.left >= 0) this.onTime(chart.posToVal(chart.cursor.left, 'x'));
    });
    const last = curves.map((name, i) => `${name.replaceAll('_', ' ')} ${short(data[i][data[i].length - 1])}`).join(', ');
    chart.root.setAttribute('role', 'img');
    chart.root.setAttribute('aria-label', `${group.title} over time. At the end: ${last}.`);
    // The time of the player, over the curves: these need not be drawn again when it moves.
    chart.now = document.createElement('div');
    chart.now.className = 'now';
    chart.over.append(chart.now);
    this.charts.push(chart);
  }

  setTime(time) {
    this.time = time;
    for (const chart of this.charts) this.mark(chart);
  }
  mark(chart) {
    const { min, max } = chart.scales.x, { time } = this, edge = 1e-9 * (max - min);
    if (!chart.now || min === null || max === null) return; // not drawn yet
    chart.now.style.transform = `translateX(${Math.round(chart.valToPos(time, 'x'))}px)`;
    chart.now.hidden = !(time >= min - edge && time <= max + edge);
    // The legend has the values of now, until a pointer asks for others.
    const index = nearest(chart.data[0], time);
    if (!(chart.cursor.left >= 0) && chart.legend.idx !== index) chart.setLegend({ idx: index });
  }
  resize() {
    for (const chart of this.charts) chart.setSize({ width: Math.max(chart.root.parentElement.clientWidth - 10, 200), height: 150 });
  }
}

// Numbers as text: as many digits as the stored value has, six at most.
export function show(value, resolution = 0) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  let digits = 6;
  if (resolution > 0) {
    const known = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(2 * resolution));
    if (known < 1) return `0 ± ${Number(resolution.toPrecision(1))}`;
    digits = Math.min(6, known);
  }
  return String(Number(value.toPrecision(digits)));
}

// Three digits; large and small ones with a power of ten.
export function short(value) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(2).replace(/\.?0*e\+?/, 'e');
  return String(Number(value.toPrecision(3)));
}

// Numbers along an axis: as many digits as tell neighbours apart.
export function ticks(values) {
  const known = values.filter((v) => v !== null), size = Math.max(...known.map(Math.abs));
  const step = Math.min(...known.slice(1).map((v, k) => Math.abs(v - known[k])));
  if (known.length < 2 || !(step > 0) || !Number.isFinite(size)) return values.map((v) => (v === null ? '' : short(v)));
  const place = Math.floor(Math.log10(step) + 1e-6), fine = step / 10 ** place > 1.01 && Math.abs(Math.round(step / 10 ** place) - step / 10 ** place) > 0.01 ? 1 : 0;
  const powers = size >= 1e5 || size < 1e-3;
  const digits = Math.max(0, Math.min(12, (powers ? Math.floor(Math.log10(size)) : 0) - place + fine));
  return values.map((v) => {
    if (v === null) return '';
    if (v === 0 || Math.abs(v) < 1e-6 * step) return '0';
    return powers ? v.toExponential(Math.max(0, digits - Math.floor(Math.log10(size)) + Math.floor(Math.log10(Math.abs(v))))).replace('e+', 'e') : v.toFixed(digits);
  });
}

export function vector(values, resolution = 0) {
  return `(${values.map((v) => show(v, resolution)).join(', ')})`;
}

export function escape(text) {
  return String(text).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);
}

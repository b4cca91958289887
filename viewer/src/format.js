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

export function vector(values, resolution = 0) {
  return `(${values.map((v) => show(v, resolution)).join(', ')})`;
}

export function escape(text) {
  return String(text).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);
}

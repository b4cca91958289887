// The guide in a corner of the view: a scale bar, and in 3D the axes.

// Pixels per metre, in 3D at the point that the camera looks at.
function pixelsPerMetre(view, height) {
  const { camera, run } = view, { length } = run.meta;
  if (view.flat) return (height * camera.zoom) / ((camera.top - camera.bottom) * length);
  const distance = camera.position.distanceTo(view.controls.target);
  return height / (2 * Math.tan((camera.fov * Math.PI) / 360) * distance * length);
}

// 1, 2 or 5 times a power of ten, at most `most`.
function round(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].find((m) => m * power <= most) * power;
}

function metres(value) {
  for (const [unit, size] of [['km', 1e3], ['m', 1], ['mm', 1e-3], ['µm', 1e-6]]) if (value >= size || unit === 'µm') return `${Number((value / size).toPrecision(3))} ${unit}`;
  return '';
}

export function drawGuide(svg, view, height) {
  const scale = pixelsPerMetre(view, height);
  if (!(scale > 0) || !Number.isFinite(scale)) return;
  const bar = round(110 / scale), width = bar * scale, right = 146, y = 100;
  let text = `<path d="M${right - width} ${y - 4}V${y}H${right}V${y - 4}" fill="none" stroke="currentColor" stroke-width="1.5"/>
    <text x="${right - width / 2}" y="${y - 6}" text-anchor="middle" font-size="12" fill="currentColor">${metres(bar)}</text>`;
  if (!view.flat) {
    view.camera.updateMatrixWorld();
    const m = view.camera.matrixWorldInverse.elements, at = [112, 42], size = 30;
    const axes = ['x', 'y', 'z'].map((name, k) => ({ name, x: m[4 * k], y: m[4 * k + 1], z: m[4 * k + 2], colour: ['#d55e00', '#009e73', '#0072b2'][k] }));
    for (const a of axes.sort((p, q) => p.z - q.z))
      text += `<path d="M${at[0]} ${at[1]}L${at[0] + size * a.x} ${at[1] - size * a.y}" stroke="${a.colour}" stroke-width="2.5" stroke-linecap="round"/>
        <text x="${at[0] + (size + 9) * a.x}" y="${at[1] - (size + 9) * a.y + 4}" text-anchor="middle" font-size="12" fill="${a.colour}" font-weight="600">${a.name}</text>`;
  }
  svg.innerHTML = text;
}

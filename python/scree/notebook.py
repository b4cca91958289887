"""Objects in a notebook: HTML with small drawings, without any package."""
from __future__ import annotations

from html import escape
from typing import Any, Sequence

import numpy as np

CELLS = 48  # of a drawing of sparsity, along each side


def _svg(width: int, height: int, body: str) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">{body}</svg>')


def _figures(pairs: Sequence[tuple]) -> str:
    rows = "".join(f"<tr><th style='text-align:left'>{escape(str(k))}</th>"
                   f"<td style='text-align:left'>{escape(str(v))}</td></tr>" for k, v in pairs)
    return f"<table>{rows}</table>"


def _beside(*parts: str) -> str:
    cells = "".join(f"<div style='margin-right:1.5em'>{part}</div>" for part in parts)
    return f"<div style='display:flex;align-items:flex-start'>{cells}</div>"


def sparsity_svg(problem: Any, size: int = 192) -> str:
    """Which contacts share a body: the pattern of W, by contacts."""
    nc = problem.nc
    if nc == 0:
        return _svg(size, size, f'<rect width="{size}" height="{size}" fill="#f4f4f4"/>')
    row, col = problem.assemble().pattern()
    cells = min(nc, CELLS)
    owner = np.repeat(np.arange(nc), np.diff(row.astype(np.int64)))
    count = np.zeros((cells, cells))
    np.add.at(count, (owner * cells // nc, col.astype(np.int64) * cells // nc), 1)
    level = np.log1p(count) / np.log1p(count.max())
    side = size / cells
    body = [f'<rect width="{size}" height="{size}" fill="#f4f4f4"/>']
    for i, j in zip(*np.nonzero(count)):
        body.append(f'<rect x="{j * side:.2f}" y="{i * side:.2f}" width="{side:.2f}" '
                    f'height="{side:.2f}" fill="#1f4e79" fill-opacity="{0.25 + 0.75 * level[i, j]:.2f}"/>')
    return _svg(size, size, "".join(body))


def problem_html(problem: Any) -> str:
    figures = [("contacts", problem.nc), ("dimension", problem.d), ("form", problem.kind),
               ("law", problem.law)]
    if problem.nbodies:
        figures.append(("bodies", problem.nbodies))
    if problem.rows != problem.nc * problem.d:  # W is not formed then
        return _figures(figures + [("rows of other constraints", problem.rows - problem.nc * problem.d)])
    if problem.nc:
        figures.append(("friction", f"{problem.mu.min():.3g} to {problem.mu.max():.3g}"))
        blocks = len(problem.assemble().pattern()[1])
        figures.append(("blocks of W", f"{blocks}, {blocks / problem.nc:.1f} per contact"))
    return _beside(sparsity_svg(problem), _figures(figures))


def convergence_svg(iterations: np.ndarray, errors: np.ndarray, tolerance: float,
                    width: int = 320, height: int = 192) -> str:
    good = np.isfinite(errors) & (errors > 0)
    x, y = iterations[good].astype(float), np.log10(errors[good])
    body = [f'<rect width="{width}" height="{height}" fill="#f4f4f4"/>']
    if len(x):
        low = min(np.floor(y.min()), np.floor(np.log10(tolerance)) if tolerance else y.min())
        high = max(np.ceil(y.max()), low + 1)
        px = 40 + (width - 50) * (x - x.min()) / max(x.max() - x.min(), 1)
        py = 10 + (height - 34) * (high - y) / (high - low)
        step = max(1, int((high - low) / 6))
        for decade in range(int(low), int(high) + 1, step):
            at = 10 + (height - 34) * (high - decade) / (high - low)
            body.append(f'<line x1="40" x2="{width - 10}" y1="{at:.1f}" y2="{at:.1f}" '
                        f'stroke="#ddd"/><text x="34" y="{at + 3:.1f}" font-size="10" '
                        f'text-anchor="end">1e{decade}</text>')
        if tolerance:
            at = 10 + (height - 34) * (high - np.log10(tolerance)) / (high - low)
            body.append(f'<line x1="40" x2="{width - 10}" y1="{at:.1f}" y2="{at:.1f}" '
                        f'stroke="#b03030" stroke-dasharray="4 3"/>')
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py))
        body.append(f'<polyline points="{points}" fill="none" stroke="#1f4e79" stroke-width="1.5"/>')
        body.append(f'<text x="{width - 10}" y="{height - 8}" font-size="10" text-anchor="end">'
                    f'{int(x.max())} iterations</text>')
    return _svg(width, height, "".join(body))


def solution_html(solution: Any) -> str:
    m = solution.measures
    figures = [("verdict", "converged" if solution.converged else "not converged"),
               ("solver", solution.solver), ("value", f"{solution.value:.3e}"),
               ("error", f"{m.error:.3e}"), ("error_siconos", f"{m.error_siconos:.3e}"),
               ("iterations", solution.iterations), ("seconds", f"{solution.seconds:.3g}"),
               ("contacts", len(solution.r))]
    tolerance = solution.settings.get("tol") or 1e-8
    return _beside(convergence_svg(*solution.history, tolerance), _figures(figures))


def page_html(page: str, height: int = 600) -> str:
    """A whole page inside of the notebook."""
    return (f'<iframe srcdoc="{escape(page, quote=True)}" width="100%" height="{height}" '
            f'style="border:0" sandbox="allow-scripts"></iframe>')



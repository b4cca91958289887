#!/usr/bin/env python3
"""Draw sweeps of the parameters of pqn (004 Figures 2, 3 and 6 to 11).

    scree bench pqn-drum --only sweep-a-rigid-mean --json > sweep.jsonl
    scripts/sweeps.py sweep.jsonl FIGURE KIND SCALE -o FILE.svg     # a rigid mean

Left: iterations per step over delta, right: steps that diverged; a curve for each value of the
other parameter (a: epsilon; b: m; c: pairs of both, a colour for epsilon and dashes for m). Delta 0
is drawn left of the others."""
import argparse
import json
import math

COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f",
           "#bcbd22", "#e377c2", "#000000", "#005f00"]
DASHES = ["none", "7 3", "3 3", "1 3"]
WIDTH, HEIGHT, LEFT, TOP = 330, 240, 60, 30


def style(k, figure, curves):
    """Colour and dashes of curve k."""
    if figure != "c":
        return COLOURS[k % len(COLOURS)], "none"
    pair = list(curves)[k].split(", ")
    epsilons, ms = ([name.split(", ")[i] for name in curves] for i in (0, 1))
    return (COLOURS[list(dict.fromkeys(epsilons)).index(pair[0])],
            DASHES[list(dict.fromkeys(ms)).index(pair[1])])


def read(path, figure, kind, scale):
    """{curve: {delta: {quantity: value}}} of the rows of one figure."""
    curves = {}
    for line in open(path):
        row = json.loads(line)
        if not row["row"].startswith(f"sweep-{figure}-{kind}-{scale}-"):
            continue
        name = row["row"].replace("e-", "E~").split("-")[4:]
        delta, epsilon, krylov = (float(x.replace("E~", "e-")) for x in name)
        curve = {"a": f"ε = {epsilon:g}", "b": f"m = {krylov:g}",
                 "c": f"ε = {epsilon:g}, m = {krylov:g}"}[figure]
        curves.setdefault(curve, {}).setdefault(delta, {})[row["quantity"]] = row["measured"]
    return curves


def panel(curves, quantity, label, left, log, figure):
    deltas = sorted({d for c in curves.values() for d in c if d > 0})
    some = any(0 in c for c in curves.values())
    zero = deltas[0] / (deltas[-1] / deltas[0]) ** 0.12 if some else deltas[0]
    values = [p[quantity] for c in curves.values() for p in c.values() if p.get(quantity)]
    most, least = max(values, default=1), min(values, default=1)
    low = math.log10(least) if log else 0
    high = math.log10(most) if log else most
    span = (high - low) or 1
    x = lambda d: left + WIDTH * (math.log10((d or zero) / zero) / math.log10(deltas[-1] / zero))
    y = lambda v: TOP + HEIGHT * (1 - ((math.log10(v) if log else v) - low) / span)
    out = [f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
           'stroke="#888"/>',
           f'<text x="{left + WIDTH / 2}" y="{TOP - 10}" text-anchor="middle">{label}</text>',
           f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 36}" text-anchor="middle">δ</text>']
    last = -100
    for d in ([0] if some else []) + deltas:
        if x(d) - last < 24:
            continue
        last = x(d)
        out.append(f'<text x="{x(d):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle" '
                   f'font-size="9">{d:g}</text>')
    for v in ([least, math.sqrt(least * most), most] if log else [0, most / 2, most]):
        out.append(f'<text x="{left - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.3g}</text>')
    for k, points in enumerate(curves.values()):
        at = [(x(d), y(p[quantity])) for d, p in sorted(points.items())
              if p.get(quantity) is not None and (p[quantity] > 0 or not log)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
        colour, dashes = style(k, figure, curves)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5" '
                   f'stroke-dasharray="{dashes}"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{colour}"/>' for a, b in at]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("rows", "figure", "kind", "scale"):
        parser.add_argument(name)
    parser.add_argument("-o", required=True, help="the SVG file")
    parser.add_argument("--title", default="")
    arguments = parser.parse_args()
    curves = read(arguments.rows, arguments.figure, arguments.kind, arguments.scale)
    if not curves:
        raise SystemExit(f"{arguments.rows}: no rows of sweep-{arguments.figure}-{arguments.kind}-"
                         f"{arguments.scale}")
    second = LEFT + WIDTH + 80
    out = panel(curves, "iterations_per_step", "iterations per step", LEFT, True,
                arguments.figure)
    out += panel(curves, "diverged", "diverged steps", second, False, arguments.figure)
    for k, name in enumerate(curves):
        top = TOP + 10 + 13 * k
        colour, dashes = style(k, arguments.figure, curves)
        out.append(f'<line x1="{second + WIDTH + 12}" x2="{second + WIDTH + 40}" y1="{top - 4}" '
                   f'y2="{top - 4}" stroke="{colour}" stroke-width="1.5" '
                   f'stroke-dasharray="{dashes}"/>')
        out.append(f'<text x="{second + WIDTH + 46}" y="{top}" fill="{colour}">{name}</text>')
    out.append(f'<text x="{LEFT}" y="{TOP + HEIGHT + 58}" fill="#555">{arguments.title}</text>')
    width = second + WIDTH + 160
    with open(arguments.o, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
                   f'{TOP + HEIGHT + 70}" font-family="sans-serif" font-size="11">\n'
                   f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draw docs/images/engines-*.svg from bench/results/engines.txt: for each scene the processor time of a second of
the scene against a figure of quality, one point for each engine and setting. docs/ENGINES.md shows them.

    scripts/engines.py
"""
import math
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, 'bench', 'results', 'engines.txt')
IMAGES = os.path.join(ROOT, 'docs', 'images')
# file, beginning of the scene's title, column that is drawn, what it says
SCENES = [('spheres', '8000 spheres', 'depth', 'deepest penetration over the size of a sphere'),
          ('wall', 'A dry wall', 'drift', 'farthest way of a brick over its size'),
          ('pyramid', 'A pyramid', 'drift', 'farthest way of a box over its size'),
          ('hopper', '5000 disks', 'depth', 'deepest penetration over the size of a disk'),
          ('stack', 'A stack', 'drift', 'farthest way of a box over its size')]
COLOURS = {'scree': '#c0392b', 'Bullet': '#2471a3', 'ODE': '#1e8449', 'MuJoCo': '#8e44ad', 'YADE': '#b9770e'}
COLUMNS = ['step', 'ms', 'time', 'depth', 'error', 'drift', 'created']
W, H, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 76, 20, 44, 52


def read():
    """Scenes of the file: title -> list of (engine, setting, {column: number})."""
    scenes, rows = {}, None
    for line in open(SOURCE, encoding='utf-8'):
        title = re.match(r'(\S.*): \d+ bodies', line)
        if title:
            rows = scenes.setdefault(title.group(1), [])
        words = line.split()
        if rows is None or len(words) < 9 or words[0] not in COLOURS:
            continue
        values = {}
        for name, word in zip(COLUMNS, words[2:]):
            try:
                values[name] = float(word)
            except ValueError:
                values[name] = math.nan
        rows.append((words[0], words[1], values))
    return scenes


def ticks(low, high):
    return [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def draw(name, title, rows, column, meaning):
    points = [(e, s, v['time'], v[column]) for e, s, v in rows if v['time'] > 0 and v[column] > 0]
    xs, ys = ticks(min(p[2] for p in points), max(p[2] for p in points)), \
        ticks(min(p[3] for p in points), max(p[3] for p in points))

    def place(value, marks, low, high):
        share = (math.log10(value) - math.log10(marks[0])) / (math.log10(marks[-1]) - math.log10(marks[0]))
        return low + share * (high - low)

    def x(value):
        return place(value, xs, LEFT, W - RIGHT)

    def y(value):
        return place(value, ys, H - BOTTOM, TOP)

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (W, H),
           '<rect width="100%" height="100%" fill="#fff"/>',
           '<text x="%d" y="22" font-size="15" fill="#222">%s</text>' % (LEFT, title)]
    for value in xs:
        out.append('<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle" fill="#333">%g</text>'
                   % (x(value), TOP, H - BOTTOM, x(value), H - BOTTOM + 16, value))
    for value in ys:
        out.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#333">%.0e</text>'
                   % (LEFT, y(value), W - RIGHT, LEFT - 6, y(value) + 4, value))
    out.append('<text x="%d" y="%d" text-anchor="middle" fill="#333">processor seconds for a second of the scene</text>'
               % ((LEFT + W - RIGHT) // 2, H - 14))
    out.append('<text transform="translate(16 %d) rotate(-90)" text-anchor="middle" fill="#333">%s</text>'
               % ((TOP + H - BOTTOM) // 2, meaning))
    for engine in COLOURS:
        own = [p for p in points if p[0] == engine]
        if len(own) == 2:
            out.append('<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-dasharray="4 3" fill="none"/>'
                       % (x(own[0][2]), y(own[0][3]), x(own[1][2]), y(own[1][3]), COLOURS[engine]))
        for _, setting, time, value in own:
            right = x(time) < W - 170
            out.append('<circle cx="%.1f" cy="%.1f" r="5" fill="%s" stroke="%s" stroke-width="2"/>'
                       % (x(time), y(value), COLOURS[engine] if setting == 'default' else '#fff', COLOURS[engine]))
            out.append('<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s, %s</text>'
                       % (x(time) + (9 if right else -9), y(value) + 4, 'start' if right else 'end', COLOURS[engine],
                          engine, setting))
    out.append('</svg>\n')
    with open(os.path.join(IMAGES, 'engines-%s.svg' % name), 'w', encoding='utf-8') as file:
        file.write('\n'.join(out))


def main():
    scenes = read()
    for name, begin, column, meaning in SCENES:
        title = next(t for t in scenes if t.startswith(begin))
        draw(name, title, scenes[title], column, meaning)


if __name__ == '__main__':
    main()

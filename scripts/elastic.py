#!/usr/bin/env python3
"""Remake docs/validation/elastic.md: disks that lose little or nothing in impacts, at all defaults, against a simulation
of one impact after the other.

    scripts/elastic.py [--starts N]

Without friction and gravity disks move straight between impacts, so that the time of every impact is known in closed
form. `exact` goes from one impact to the next, and has no time step. Compared is the kinetic energy that is left: motion
is chaotic, but the loss of energy is not.
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
RESTITUTIONS = (0.9, 0.95, 0.98, 0.99, 1)


def next_impact(disks, walls, i, j):
    """Time until disks i and j meet (j < 0: wall ~j), from now; infinite if they do not."""
    a = disks[i]
    if j < 0:
        nx, ny, at = walls[~j]
        speed = nx * a[2] + ny * a[3]
        return (nx * a[0] + ny * a[1] - at - a[4]) / -speed if speed < 0 else math.inf
    b = disks[j]
    x, y, u, v, r = a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] + b[4]
    along, square = x * u + y * v, u * u + v * v
    if along >= 0:
        return math.inf
    inside = along * along - square * (x * x + y * y - r * r)
    return (x * x + y * y - r * r) / (-along + math.sqrt(inside)) if inside > 0 else math.inf


def exact(disks, walls, e, end):
    """Kinetic energy at `end` over that of the start; disks: x, y, u, v, radius (mass in proportion to its square)."""
    disks = [list(d) for d in disks]
    n, now = len(disks), 0.0
    partners = lambda i: [j for j in range(-len(walls), n) if j != i]
    energy = lambda: sum(d[4] ** 2 * (d[2] ** 2 + d[3] ** 2) for d in disks)
    first = energy()
    times = [min((now + max(next_impact(disks, walls, i, j), 0), j) for j in partners(i)) for i in range(n)]
    while True:
        i = min(range(n), key=lambda k: times[k][0])
        time, j = times[i]
        if time > end:
            return energy() / first
        for d in disks:
            d[0] += d[2] * (time - now)
            d[1] += d[3] * (time - now)
        now = time
        a = disks[i]
        if j < 0:
            nx, ny, _ = walls[~j]
            change = -(1 + e) * (nx * a[2] + ny * a[3])
            a[2] += change * nx
            a[3] += change * ny
        else:
            b = disks[j]
            nx, ny = (a[0] - b[0]) / (a[4] + b[4]), (a[1] - b[1]) / (a[4] + b[4])
            impulse = -(1 + e) * (nx * (a[2] - b[2]) + ny * (a[3] - b[3])) / (a[4] ** -2 + b[4] ** -2)
            for d, sign in ((a, impulse / a[4] ** 2), (b, -impulse / b[4] ** 2)):
                d[2] += sign * nx
                d[3] += sign * ny
        hit = {i, j} if j >= 0 else {i}
        for k in range(n):
            if k in hit or times[k][1] in hit:
                times[k] = min((now + max(next_impact(disks, walls, k, m), 0), m) for m in partners(k))
            else:
                for m in hit:
                    times[k] = min(times[k], (now + max(next_impact(disks, walls, k, m), 0), m))


def box(width, height):
    return [(1, 0, 0), (-1, 0, -width), (0, 1, 0), (0, -1, -height)]


def gas(rng):
    """100 disks in a box of 1 m, 1 m/s in all directions."""
    disks = []
    for k in range(100):
        angle = rng.uniform(0, 2 * math.pi)
        disks.append((0.05 + 0.1 * (k % 10) + rng.uniform(-0.015, 0.015), 0.05 + 0.1 * (k // 10) + rng.uniform(-0.015, 0.015),
                      math.cos(angle), math.sin(angle), 0.03))
    return disks, box(1, 1), 2


def cradle(rng):
    """Five balls in a row, the first at 1 m/s, with gaps of 0.1 to 1 mm, between two walls: the blow comes back."""
    disks, x = [(0.1, 0.1, 1, 0, 0.02)], 0.2
    for _ in range(4):
        disks.append((x, 0.1, 0, 0, 0.02))
        x += 0.04 + rng.uniform(1e-4, 1e-3)
    return disks, box(0.6, 0.2), 1


def billiards(rng):
    """15 balls in a triangle with gaps of a tenth of a millimetre on average, broken by one at 5 m/s on a table of 2.24 m."""
    disks = [(0.5, 0.56 + rng.uniform(-0.005, 0.005), 5, 0, 0.0286)]
    for row in range(5):
        for k in range(row + 1):
            disks.append((1.5 + row * 0.0575 * math.sqrt(0.75) + rng.uniform(-5e-5, 5e-5),
                          0.56 + (k - row / 2) * 0.0575 + rng.uniform(-5e-5, 5e-5), 0, 0, 0.0286))
    return disks, box(2.24, 1.12), 1


def sizes(rng):
    """60 disks of radii from 1 to 4 cm, 1 m/s."""
    disks = []
    for k in range(60):
        angle = rng.uniform(0, 2 * math.pi)
        disks.append((0.06 + 0.12 * (k % 8), 0.06 + 0.12 * (k // 8), math.cos(angle), math.sin(angle), rng.uniform(0.01, 0.04)))
    return disks, box(0.96, 0.96), 2


def scree(disks, walls, e, end, folder, factor=1.0):
    """(energy left, steps that are not certified, substeps per step, h)"""
    scene = {'dimension': 2, 'gravity': [0, 0], 'contact': {'mu': 0, 'e_n': e},
             'obstacles': [{'shape': {'kind': 'half-plane'}, 'position': [nx * at, ny * at], 'normal': [nx, ny]} for nx, ny, at in walls],
             'bodies': [{'shape': {'kind': 'disk', 'radius': r}, 'position': [x, y], 'velocity': [u, v]} for x, y, u, v, r in disks],
             'time': {'duration': end}, 'output': {'every': end}}
    if factor != 1:
        scene['time']['step'] = factor
    path = os.path.join(folder, 'scene.yaml')
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(scene, file) # JSON is YAML
    done = subprocess.run([SCREE, 'run', path, '-o', os.path.join(folder, 'run'), '-f', '-q', '-j', '1'], check=False, capture_output=True, text=True)
    if done.returncode > 1:
        raise RuntimeError(done.stderr)
    with open(os.path.join(folder, 'run', 'telemetry.jsonl'), encoding='utf-8') as file:
        rows = [json.loads(line) for line in file]
    lost = sum(r['dissipated_normal'] + r['dissipated_friction'] for r in rows)
    left = rows[-1]['kinetic'] / (rows[-1]['kinetic'] + lost)
    return left, sum(not r['certified'] for r in rows), sum(r['substeps'] for r in rows) / len(rows), rows[0]['h']


HEAD = '''# Impacts that lose little

This page measures the loss of energy in impacts with a high coefficient of restitution e_n. Disks without friction and
gravity are simulated at all defaults, with the automatic step h and with h/2. The reference is a simulation that has no
time step: without friction and gravity disks move straight between impacts, so that it computes the time of every impact
in closed form and goes from one impact to the next. Compared is the kinetic energy that is left at the end.

The scenes:

- gas: 100 disks of 3 cm at 1 m/s in a box of 1 m, 2 s
- sizes: 60 disks of 1 to 4 cm at 1 m/s in a box of 0.96 m, 2 s
- billiards: 15 balls in a triangle, with gaps of about a tenth of a millimetre, hit at 5 m/s, 1 s
- cradle: five balls in a row, with gaps of 0.1 to 1 mm, between two walls, the first at 1 m/s, 1 s

The columns; energies are in percent of the kinetic energy at the start:

- exact: kinetic energy that is left in the reference, mean over %d starts
- h, h/2: difference of scree from it at these steps, mean over the starts; each is followed by the largest difference of a
  single start
- parts of a step: mean number of substeps into which a step is divided, at h
- not certified: steps at h that are not certified, summed over all starts

The motion is chaotic except in the cradle, so that single starts of one scene scatter whatever the step.

To make this page again: `scripts/elastic.py --starts %d`.

| scene | e_n | exact | h | largest | h/2 | largest | parts of a step | not certified |
|---|---:|---:|---:|---:|---:|---:|---:|---|
'''


def main():
    parser = argparse.ArgumentParser(description='Remake docs/validation/elastic.md.')
    parser.add_argument('--starts', type=int, default=4)
    request = parser.parse_args()
    out = []
    for make in (gas, sizes, billiards, cradle):
        for e in RESTITUTIONS:
            pairs, above, parts = [], 0, 0
            for start in range(request.starts):
                disks, walls, end = make(random.Random(start + 1))
                with tempfile.TemporaryDirectory() as folder:
                    left, missed, substeps, h = scree(disks, walls, e, end, folder)
                    half = scree(disks, walls, e, end, folder, h / 2)[0]
                above += missed
                parts += substeps / request.starts
                pairs.append((exact(disks, walls, e, end), left, half))
            n = len(pairs)
            mean = [sum(p[k] for p in pairs) / n for k in range(3)]
            worst = [max((p[k] - p[0] for p in pairs), key=abs) for k in range(3)]
            out.append('| %s | %g | %.2f | %+.2f | %+.2f | %+.2f | %+.2f | %.2f | %s |' % (
                make.__name__, e, 100 * mean[0], 100 * (mean[1] - mean[0]), 100 * worst[1], 100 * (mean[2] - mean[0]),
                100 * worst[2], parts, above or 'none'))
            print(out[-1], flush=True)
    with open(os.path.join(ROOT, 'docs', 'validation', 'elastic.md'), 'w', encoding='utf-8') as file:
        file.write(HEAD % (request.starts, request.starts) + '\n'.join(out) + '\n')


if __name__ == '__main__':
    main()

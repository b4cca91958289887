#!/usr/bin/env python3
"""Remake docs/validation/ensembles.md: chaotic scenes from several starts, at the automatic step h and at h/8.

    scripts/ensemble.py [--starts N] [SCENE...]

Where bodies collide often, two runs that differ in anything differ in every collision soon, and the difference of
two runs with different steps says nothing of the step. So each scene is run with N seeds (24), and the means over
these are compared, with their standard errors. Steps at h are divided where impacts need it, those of the reference never
(max_halvings: 0). The table has only the scenes given (default: three that bounce).
"""
import argparse
import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
WORK = os.path.join(ROOT, 'build', 'ensembles')
DURATION = {'bounce-2d': 0.6, 'thrown-2d': 0.8, 'shot-3d': 0.12}
NAMES = ('kinetic, first half', 'kinetic, second half', 'potential, first half', 'potential, second half',
         'dissipated by impact', 'dissipated by friction', 'dissipated in all')

HEAD = '''# Means over several starts

Made by `scripts/ensemble.py`: each scene with %d seeds, at the automatic step h, and at h/8 with steps that are
never divided. Differences of the means (the former less the latter), with their standard errors, relative to the energy that is dissipated; and the scatter of single runs.

| scene | quantity | difference | standard error | scatter of single runs |
|---|---|---:|---:|---:|
'''


def run(name, seed, step):
    folder = os.path.join(WORK, name)
    command = [SCREE, 'run', os.path.join(ROOT, 'bench', 'scenes', name + '.yaml'), '-o', folder, '-f', '-q', '-j', '1',
               '--set', 'seed=%d' % seed]
    if name in DURATION:
        command += ['--set', 'time.duration=%g' % DURATION[name]]
    if step:
        command += ['--set', 'time.step=%.17g' % step, '--set', 'time.max_halvings=0']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(done.stderr)
    with open(os.path.join(folder, 'telemetry.jsonl'), encoding='utf-8') as file:
        rows = [json.loads(line) for line in file]
    half = rows[-1]['time'] / 2

    def mean(key, first):
        values = [row[key] for row in rows if (row['time'] <= half) == first]
        return sum(values) / len(values)

    normal, friction = (sum(row[key] for row in rows) for key in ('dissipated_normal', 'dissipated_friction'))
    return rows[0]['h'], [mean('kinetic', True), mean('kinetic', False), mean('potential', True),
                          mean('potential', False), normal, friction, normal + friction]


def moments(values):
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def rows_of(name, starts):
    step, coarse, fine = None, [], []
    for seed in range(1, starts + 1):
        step, values = run(name, seed, None)
        coarse.append(values)
        fine.append(run(name, seed, step / 8)[1])
    dissipated = moments([values[-1] for values in fine])[0]
    for k, quantity in enumerate(NAMES):
        (m1, v1), (m2, v2) = (moments([values[k] for values in runs]) for runs in (coarse, fine))
        yield '| %s | %s | %.2f %% | %.2f %% | %.2f %% |\n' % (
            name, quantity, 100 * (m1 - m2) / dissipated, 100 * math.sqrt((v1 + v2) / starts) / dissipated,
            100 * math.sqrt(v2) / dissipated)


def main():
    parser = argparse.ArgumentParser(description='Remake docs/validation/ensembles.md.')
    parser.add_argument('--starts', type=int, default=24)
    parser.add_argument('scenes', nargs='*', default=list(DURATION))
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    text = HEAD % options.starts + ''.join(line for name in options.scenes for line in rows_of(name, options.starts))
    with open(os.path.join(ROOT, 'docs', 'validation', 'ensembles.md'), 'w', encoding='utf-8') as file:
        file.write(text)


if __name__ == '__main__':
    main()

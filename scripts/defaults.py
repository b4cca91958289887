#!/usr/bin/env python3
"""Remake docs/DEFAULTS.md and docs/validation/ensembles.md: every scene of bench/scenes at all defaults, at h, h/2 and
h/4 and at a tenth of the tolerance, by `scree converge`. The tables show whether the default scheme, step and tolerance
give the averages to 1 %.

    scripts/defaults.py [--seconds S] [--run-only] [SCENE...]

Scenes that are chaotic are compared by means over several starts (`--seeds`). Runs stay in build/defaults and are not
repeated; a scene that does not finish within S seconds (600) goes on from there the next time. The tables have
all scenes that are finished there, and name the others. Remove build/defaults after a change of the code.
"""
import argparse
import json
import os
import resource
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
WORK = os.path.join(ROOT, 'build', 'defaults')
SCENES = os.path.join(ROOT, 'bench', 'scenes')

# Scenes that run for minutes: the first part of them, which has all that matters.
UNTIL = {'wall-2d': 2, 'wall-3d': 0.5, 'stack-2d': 3, 'stack-3d': 1, 'slope-2d': 10, 'slope-3d': 10,
         'heavy-2d': 10, 'heavy-3d': 10, 'load-2d': 0.3, 'load-3d': 0.1, 'hopper3d': 0.4, 'conveyor': 1.2,
         'oedometer': 0.2, 'silo-3d': 0.6, 'plate-2d': 0.3, 'plate-3d': 0.3, 'box-215': 1, 'bounce-2d': 0.6,
         'drum-5000': 0.1, 'thrown-2d': 0.8, 'shot-3d': 0.12}
STARTS = {'bounce-2d': 24, 'thrown-2d': 320, 'shot-3d': 432, 'conveyor': 112, 'drum-5000': 1, 'hopper3d': 1, 'silo-3d': 1,
          'silo-2d': 1, 'oedometer': 1, 'box-215': 1}
STARTS_USUAL = 8
ENERGIES = ('kinetic', 'potential', 'work_forces', 'work_drivers', 'dissipated_normal', 'dissipated_friction')


def run(name, starts, seconds):
    """Run or go on; true when the comparison is finished. Time of the processor adds up in cpu.txt."""
    folder = os.path.join(WORK, name)
    command = [SCREE, 'converge', os.path.join(SCENES, name + '.yaml'), '-o', folder, '-q', '-j', '1']
    if name in UNTIL:
        command += ['--until', str(UNTIL[name])]
    if starts > 1:
        command += ['--seeds', str(starts)]
    if os.path.isdir(folder):
        command.append('--resume')
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    process = subprocess.Popen(command)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        status = process.wait()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'cpu.txt'), 'a', encoding='utf-8') as file:
        file.write('%g\n' % spent)
    return status in (0, 1)


def result_of(name):
    path = os.path.join(WORK, name, 'converge.json')
    if not os.path.exists(path):
        return None
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def converge(name, seconds):
    found = result_of(name)
    starts = STARTS.get(name, STARTS_USUAL)
    if found and (found['starts'] >= starts or not found['chaotic']):
        return 'finished before'
    if not found and not run(name, STARTS.get(name, 1), seconds):
        return 'not finished'
    found = result_of(name)
    if found['starts'] < starts and found['chaotic'] and not run(name, starts, seconds):
        return 'starts not finished'
    return 'finished'


def percent(value):
    if value is None:
        return '-'
    return '< 0.01' if value < 5e-5 else '%.2g' % (100 * value) if value < 0.1 else '%.0f' % (100 * value)


def error_of(q, key='error'):
    deviation = q.get(key + '_deviation')
    return percent(q[key]) if deviation is None else '%s ± %s' % (percent(q[key]), percent(deviation))


def largest(quantities, key):
    high = key + '_high'
    return max(quantities, key=lambda q: q.get(high, q[key]), default=None)


def verdict(quantities, accuracy):
    """Of step and tolerance, whatever the certificate says."""
    def above(bound):
        return [q for q in quantities if any(q.get(key + bound, q[key]) > accuracy for key in ('error', 'error_tolerance'))]
    return 'no' if above('_low') else 'not told' if above('_high') else 'yes'


def row(name, found):
    judged = [q for q in found['quantities'] if q['judged']]
    energies = largest([q for q in judged if q['quantity'] in ENERGIES], 'error')
    worst, tolerance = largest(judged, 'error'), largest(judged, 'error_tolerance')
    runs, starts = found['runs'], found['starts']
    above = sum(r['steps_above'] for r in runs)
    with open(os.path.join(WORK, name, 'cpu.txt'), encoding='utf-8') as file:
        spent = sum(float(line) for line in file)
    return '| %s | %.4g | %d | %s | %s | %s (%s) | %s | %s | %s | %s | %s | %.0f |' % (
        name, found['time'], runs[0]['steps'] / starts, starts if starts > 1 else '1',
        error_of(energies), error_of(worst), worst['quantity'], error_of(tolerance, 'error_tolerance'),
        verdict(judged, found['accuracy']), percent(runs[0]['energy_created']), percent(runs[0]['penetration_max']),
        '%d of %d' % (above, sum(r['steps'] for r in runs)) if above else 'none', spent)


HEAD = '''# Errors of the defaults

This page shows whether the default scheme, step and tolerance give averages that are right to 1 %. Each scene of
[bench/scenes](../bench/scenes) runs at all defaults (scheme `moreau-jean`, automatic step h, tolerance 1e-4). `scree converge`
compares it with the same scene at h/2 and h/4, which gives the error of the step, and at a tenth of the tolerance, which gives
the error of the tolerance. All scenes are run with one build.

Errors are relative to the scales that [COMMANDS](COMMANDS.md) defines for `converge`; the scale of energies is the energy turned
over. Scenes that are chaotic are compared by means over several starts ([COMMANDS](COMMANDS.md#several-starts)). For them the
table has the error whose upper bound is largest, ± its standard error, and [ensembles](validation/ensembles.md) has all averages.

The columns; errors, created energy and penetration are in percent:

- time, steps, starts: simulated time in seconds, steps at h, and number of starts
- energies: largest error of the step among kinetic and potential energy, work and dissipation
- worst: largest error of the step among all averages that are judged, with its name
- tolerance: largest error of the tolerance
- 1 %: "yes" if all averages are within 1 %, in scenes with several starts with a confidence of 99 % each; "no" if one is not;
  *not told* if neither can be shown
- created: energy created by the discretisation at h, relative to the energy turned over; the largest of all starts
- penetration: deepest penetration at h, relative to the size of the smaller body
- not certified: steps of all runs that are not certified, or "none"
- CPU: processor time of all runs, in seconds

To make this page again: `scripts/defaults.py SCENE...` runs scenes, which takes hours for all of them, and writes the page from
the results in `build/defaults`.

| scene | time, s | steps | starts | energies | worst | tolerance | 1 % | created | penetration | not certified | CPU |
|---|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|
'''

ENSEMBLES = '''# Means over several starts

This page has each average of the chaotic scenes of [DEFAULTS](../DEFAULTS.md), which are compared by means over several starts.
All figures but the number of starts are in percent of the scale of the average.

- error of the step: error at the step h, extrapolated to h = 0 from runs with h and h/4 from the same starts
- of the tolerance: error of the tolerance, from runs with a tenth of it
- standard error: of the error in the column before it
- scatter: standard deviation of single runs, for means over half of the run

To make this page again: `scripts/defaults.py`, which writes both pages.

| scene | starts | average | error of the step | standard error | of the tolerance | standard error | scatter |
|---|---:|---|---:|---:|---:|---:|---:|
'''


def write(path, text):
    with open(os.path.join(ROOT, 'docs', path), 'w', encoding='utf-8') as file:
        file.write(text)


def tables():
    rows, missing, single = [], [], []
    for name in sorted(f[:-5] for f in os.listdir(SCENES) if f.endswith('.yaml')):
        found = result_of(name)
        if not found or (found['chaotic'] and found['starts'] == 1):
            missing.append(name)
            continue
        rows.append(row(name, found))
        if found['starts'] > 1:
            single += ['| %s | %d | %s | %s |' % (name, found['starts'], q['quantity'], ' | '.join(percent(q[key]) for key in (
                'error', 'error_deviation', 'error_tolerance', 'error_tolerance_deviation', 'scatter')))
                       for q in found['quantities'] if q['judged'] and not q['empty']]
    write('DEFAULTS.md', HEAD + '\n'.join(rows) + '\n' +
          ('\nNot in the table, since their runs take too long: ' + ', '.join(missing) + '.\n' if missing else ''))
    write('validation/ensembles.md', ENSEMBLES + '\n'.join(single) + '\n')


def main():
    parser = argparse.ArgumentParser(description='Remake docs/DEFAULTS.md and docs/validation/ensembles.md.')
    parser.add_argument('--seconds', type=float, default=600, help='limit for one scene')
    parser.add_argument('--run-only', action='store_true', help='leave the tables')
    parser.add_argument('scenes', nargs='*')
    request = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    for name in request.scenes:
        print(name, converge(name, request.seconds), file=sys.stderr, flush=True)
    if not request.run_only:
        tables()


if __name__ == '__main__':
    main()

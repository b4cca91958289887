#!/usr/bin/env python3
"""Remake docs/validation/truth.md and its copy at the end of docs/VALIDATION.md: large scenes at all defaults,
and at twice and half of the default step.

    scripts/truth.py [--seconds S] [SCENE...]

Every run gets one thread. A scene whose runs take longer than S seconds (7200) is left out, with a line that says
so. Finished runs stay in build/truth and are not made again; remove it after a change of the code. What stands
below the line "Notes" of the table is kept.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
WORK = os.path.join(ROOT, 'build', 'truth')
NOTES = '\nNotes\n\n'
MARK = '## Large scenes at all defaults'

# name: time to run, None for the scene's own
SCENES = {'oedometer': 1.1, 'drum-5000': 0.6, 'dominoes-2d': None, 'dominoes-3d': None, 'plate-2d': None,
          'plate-3d': None, 'load-2d': 1, 'load-3d': 0.2, 'silo-2d': None, 'silo-3d': None, 'conveyor': 3,
          'landing-2d': None, 'landing-3d': None, 'quake-2d': None, 'quake-3d': 1.5, 'hopper3d': None}
FACTORS = (2, 1, 0.5)

# Packings that give way once or twice while they are loaded, earlier or later: the work and the energy dissipated of
# one of them scatter by more than any error of the step. They are compared by means over several starts.
STARTS = {'plate-2d': 12, 'plate-3d': 8, 'oedometer': 4}


def folder_of(name, factor, start):
    return os.path.join(WORK, '%s-%g%s' % (name, factor, '-%d' % start if start else ''))


def run(name, factor, until, left, start=0):
    folder = folder_of(name, factor, start)
    scene = os.path.join(ROOT, 'bench', 'scenes', name + '.yaml')
    if not os.path.exists(os.path.join(folder, 'done.json')):
        command = [SCREE, 'run', scene, '-o', folder, '-f', '--json', '-j', '1']
        if factor != 1:
            with open(os.path.join(folder_of(name, 1, start), 'done.json'), encoding='utf-8') as file:
                step = json.load(file)['h']
            command += ['--set', 'time.step=%.17g' % (factor * step)]
        if start:
            command += ['--set', 'seed=%d' % (100 + start), '--set', 'perturb=1e-3']
        if until:
            command += ['--until', str(until)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(left, 1), check=False)
        if done.returncode > 1:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        summary = json.loads(done.stdout.splitlines()[-1])
        summary['cpu'] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        with open(os.path.join(folder, 'telemetry.jsonl'), encoding='utf-8') as file:
            summary['h'] = json.loads(file.readline())['h']
        with open(os.path.join(folder, 'done.json'), 'w', encoding='utf-8') as file:
            json.dump(summary, file)
    with open(os.path.join(folder, 'done.json'), encoding='utf-8') as file:
        summary = json.load(file)
    with open(os.path.join(folder, 'telemetry.jsonl'), encoding='utf-8') as file:
        return summary, series([json.loads(line) for line in file])


def series(rows):
    """Energies over time: kinetic, potential, work of forces and drivers, dissipated; and the energy turned over."""
    # as in tests/test_truth.c: where nothing moves there is no energy turned over to compare with
    least = 1e-6 * abs(rows[0]['potential'])
    keys = ('work_forces', 'work_drivers', 'dissipated_normal', 'dissipated_friction')
    sums, out, turned = dict.fromkeys(keys, 0.0), [], least
    for row in rows:
        for key in keys:
            sums[key] += row[key]
        turned = max(turned, row['kinetic'] + sum(abs(v) for v in sums.values()))
        out.append((row['time'], row['kinetic'], row['potential'], sums['work_forces'] + sums['work_drivers'],
                    sums['dissipated_normal'] + sums['dissipated_friction']))
    slowest = max(sum(v for k, v in row.items() if k.startswith('seconds_')) for row in rows)
    return out, turned, slowest


def means(table, parts=200):
    """Means over time of the columns, by equal parts of the time."""
    end, total, k = table[-1][0], [0.0] * 4, 0
    for part in range(1, parts + 1):
        while k + 1 < len(table) and table[k][0] < part * end / parts:
            k += 1
        for c in range(4):
            total[c] += table[k][c + 1] / parts
    return total


def percent(value):
    return '< 0.01 %' if value < 1e-4 else '%.2g %%' % (100 * value)


def differences(results, factor):
    """Means over time of a start less those at h/2, relative to the energy turned over."""
    fine, turned = means(results[0.5][1][0]), results[0.5][1][1]
    return [(a - b) / turned for a, b in zip(means(results[factor][1][0]), fine)]


def cell(starts, factor):
    """Differences of one start, or their means over several with standard errors."""
    out, n = [], len(starts)
    for values in zip(*(differences(results, factor) for results in starts)):
        mean = sum(values) / n
        text = percent(abs(mean))
        if n > 1:
            text += ' ± ' + percent((sum((v - mean) ** 2 for v in values) / (n - 1) / n) ** 0.5)
        out.append(text)
    return ' / '.join(out)


def row(name, until, seconds):
    begin, starts = time.time(), []
    for start in range(STARTS.get(name, 1)):
        starts.append({})
        for factor in (1, 2, 0.5):
            starts[-1][factor] = run(name, factor, until, seconds - (time.time() - begin), start)
    above = ' / '.join('%d' % sum(r[f][0]['steps_above'] for r in starts) for f in FACTORS)
    created = ' / '.join(percent(max(r[f][0]['energy_created'] for r in starts)) for f in FACTORS)
    summary, (table, _, slowest) = starts[0][1]
    return '| %s | %d | %.3g | %d | %d | %s | %s | %s | %s | %s | %.2g | %.0f |' % (
        name, summary['bodies'], table[-1][0], summary['steps'], len(starts), above, cell(starts, 1), cell(starts, 2),
        created, percent(max(r[1][0]['penetration_max'] for r in starts)), slowest, summary['cpu'])


HEAD = MARK + '''

Large scenes of `bench/scenes` run with all settings at their defaults, at twice the automatic step h, at h and at h/2.
If the default step is accurate enough, the results of the three runs agree.

- time, steps: simulated time in seconds, and steps at h
- starts: packings that give way once or twice under a load are compared by means over several starts (other seeds,
  `perturb: 1e-3`); all others have one start
- not certified: steps that are not certified, summed over all starts, at 2h / h / h/2
- h against h/2, 2h against h/2: differences of four means over time: kinetic energy / potential energy / work of forces and
  drivers / energy dissipated. They are relative to the energy turned over, or to a millionth of the potential energy where
  nothing moves (`load-3d`: 10^8 N move by 10^-10 m or less). With several starts, ± the standard error follows.
- created: energy created by the discretisation, relative to the energy turned over, at 2h / h / h/2; the largest of all starts
- penetration: deepest penetration at h, relative to the size of the smaller body; the largest of all starts
- slowest step, CPU: computing time of the slowest step, and processor time of the run, of the first start at h, with one
  thread on a machine that other programs used at the same time

To make this table again: `scripts/truth.py`; the notes below it are kept.

| scene | bodies | time, s | steps | starts | not certified | h against h/2 | 2h against h/2 | created | penetration | slowest step, s | CPU, s |
|---|---:|---:|---:|---:|---:|---|---|---|---:|---:|---:|
'''


def main():
    parser = argparse.ArgumentParser(description='Remake the table of large scenes in docs/VALIDATION.md.')
    parser.add_argument('--seconds', type=float, default=7200, help='limit for one scene')
    parser.add_argument('scenes', nargs='*')
    request = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    rows, missing = [], []
    for name in request.scenes or SCENES:
        try:
            rows.append(row(name, SCENES.get(name), request.seconds))
            print(rows[-1], file=sys.stderr, flush=True)
        except subprocess.TimeoutExpired:
            missing.append('- %s: not finished in %d s' % (name, request.seconds))
        except RuntimeError as error:
            missing.append('- %s: %s' % (name, error))
    text = HEAD + '\n'.join(rows) + '\n'
    if missing:
        text += '\nNot in the table:\n\n' + '\n'.join(missing) + '\n'
    path = os.path.join(ROOT, 'docs', 'validation', 'truth.md')
    with open(path, encoding='utf-8') as file:
        text += NOTES + file.read().partition(NOTES)[2]
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    path = os.path.join(ROOT, 'docs', 'VALIDATION.md')
    with open(path, encoding='utf-8') as file:
        body = file.read().split(MARK)[0].rstrip('\n')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(body + '\n\n' + text)


if __name__ == '__main__':
    main()

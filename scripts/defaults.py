#!/usr/bin/env python3
"""Remake docs/DEFAULTS.md: every scene of bench/scenes at all defaults, at h, h/2 and h/4 and at a tenth
of the tolerance, by `scree converge`. The table shows whether the default scheme, step and tolerance
give the averages to 1 %.

    scripts/defaults.py [-j N] [--seconds S] [SCENE...]

A scene whose four runs take longer than S seconds (600) is left out, with a line that says so; `until`
shortens the long ones. Finished scenes are not run again: their folders stay in build/defaults.
"""
import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
WORK = os.path.join(ROOT, 'build', 'defaults')

# Scenes that run for minutes: the first part of them, which has all that matters.
UNTIL = {'wall-2d': 2, 'wall-3d': 0.5, 'stack-2d': 3, 'stack-3d': 1, 'slope-2d': 10, 'slope-3d': 10,
         'heavy-2d': 10, 'heavy-3d': 10, 'load-2d': 0.3, 'load-3d': 0.1, 'hopper3d': 0.4, 'conveyor': 1.2,
         'oedometer': 0.2, 'silo-3d': 0.6, 'plate-2d': 0.5, 'plate-3d': 0.3, 'box-215': 1, 'bounce-2d': 1, 'drum-5000': 0.1}


def converge(name, seconds):
    folder = os.path.join(WORK, name)
    scene = os.path.join(ROOT, 'bench', 'scenes', name + '.yaml')
    command = ['nice', SCREE, 'converge', scene, '-o', folder, '--json']
    if name in UNTIL:
        command += ['--until', str(UNTIL[name])]
    if os.path.isdir(folder):
        command.append('--resume')
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return name, None, 'not finished in %d s' % seconds
    path = os.path.join(folder, 'converge.json')
    if done.returncode > 1 or not os.path.exists(path):
        return name, None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'
    with open(path, encoding='utf-8') as file:
        return name, json.load(file), ''


def percent(value):
    if value is None:
        return '-'
    return '< 0.01 %' if value < 1e-4 else '%.2g %%' % (100 * value)


def row(name, result):
    runs = result['runs']
    h = runs[0]
    created = json.loads(open(os.path.join(WORK, name, h['folder'], 'telemetry.jsonl'), 'rb').readlines()[-1])
    energies = [q['error'] for q in result['quantities']
                if q.get('judged', True) and q['quantity'].split('.')[0] in
                ('kinetic', 'potential', 'work_forces', 'work_drivers', 'dissipated_normal', 'dissipated_friction')]
    tolerance = [q['error_tolerance'] for q in result['quantities']
                 if q.get('judged', True) and q.get('error_tolerance') is not None]
    above = sum(r['steps_above'] for r in runs)
    return '| %s | %.4g | %d | %s | %s | %s | %s | %s | %s | %s | %.1f |' % (
        name, result['time'], h['steps'], percent(max(energies, default=None)),
        '%s (%s)' % (percent(result['error']), result['worst']), percent(max(tolerance, default=None)),
        percent(created['energy_created']), percent(h['penetration_max']),
        'from %.2g s' % result['diverge'] if result['chaotic'] and result['diverge'] is not None else
        'yes' if result['chaotic'] else 'no',
        '%d of %d' % (above, sum(r['steps'] for r in runs)) if above else 'none', h['seconds'])


HEAD = '''# Errors of the defaults

Made by `scripts/defaults.py`: each scene of [bench/scenes](../bench/scenes) at all defaults (scheme
`moreau-jean`, automatic step h, tolerance 1e-4), compared by `scree converge` with the same scene at h/2 and
h/4, and at a tenth of the tolerance. Errors are relative to the scales that
[COMMANDS](COMMANDS.md) defines for `converge`: energies to the energy turned over. "worst" is the largest error of
all averages that are judged (energies, centre of mass, profiles, sensors). In chaotic scenes single bodies
diverge from the time given on, whatever the step; averages over halves of the run are compared there, and their
scatter, not the error of the step, is shown. "created" is the energy that the discretisation has created, "not
certified" counts steps of all four runs.

| scene | time, s | steps | energies | worst | tolerance | created | penetration | chaotic | not certified | seconds |
|---|---:|---:|---:|---:|---:|---:|---:|---|---|---:|
'''


def main():
    parser = argparse.ArgumentParser(description='Remake docs/DEFAULTS.md.')
    parser.add_argument('-j', type=int, default=1, help='scenes at once')
    parser.add_argument('--seconds', type=float, default=600, help='limit for one scene')
    parser.add_argument('scenes', nargs='*')
    request = parser.parse_args()
    present = sorted(f[:-5] for f in os.listdir(os.path.join(ROOT, 'bench', 'scenes')) if f.endswith('.yaml'))
    names = request.scenes or present
    os.makedirs(WORK, exist_ok=True)
    rows, missing = [], []
    with ThreadPoolExecutor(request.j) as pool:
        for name, result, reason in pool.map(lambda n: converge(n, request.seconds), names):
            print(name, 'done' if result else reason, file=sys.stderr, flush=True)
            if result:
                rows.append(row(name, result))
            else:
                missing.append('- %s: %s' % (name, reason))
    with open(os.path.join(ROOT, 'docs', 'DEFAULTS.md'), 'w', encoding='utf-8') as file:
        file.write(HEAD + '\n'.join(rows) + '\n')
        if missing:
            file.write('\nNot in the table:\n\n' + '\n'.join(missing) + '\n')
        left_out = [name for name in present if name not in names]
        if left_out:
            file.write('\nThis run did not include: ' + ', '.join(left_out) + '.\n')


if __name__ == '__main__':
    main()

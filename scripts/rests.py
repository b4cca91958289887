#!/usr/bin/env python3
"""How far bodies that should rest move in 60 s at all defaults: the table of docs/validation/rests.md.

    scripts/rests.py [--seconds S] [--until T] [ROW...]

Every run gets one thread and its own folder in build/rests; a run that takes longer than S seconds (900) is ended.
Prints one line of the table per row; the documents' table is put together by hand, since rows are dear.
"""
import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
WORK = os.path.join(ROOT, 'build', 'rests')

# row: scene, settings, size of a body, time from which on the motion counts (a structure with open joints closes them)
ROWS = {
    'slope-2d': ('bench/scenes/slope-2d.yaml', [], 0.5, 0),
    'slope-3d': ('bench/scenes/slope-3d.yaml', [], 0.4, 0),
    'heavy-2d': ('bench/scenes/heavy-2d.yaml', [], 1, 0),
    'heavy-3d': ('bench/scenes/heavy-3d.yaml', [], 1, 0),
    'stack-2d': ('bench/scenes/stack-2d.yaml', [], 1, 0),
    'stack-3d': ('bench/scenes/stack-3d.yaml', [], 1, 0),
    'wall-2d': ('bench/scenes/wall-2d.yaml', [], 0.1, 0),
    'wall-3d': ('bench/scenes/wall-3d.yaml', [], 0.1, 0),
    'wall-2d-joints': ('bench/scenes/wall-2d.yaml', ['generators[0].joint=0.002'], 0.1, 1),
    'wall-3d-joints': ('bench/scenes/wall-3d.yaml', ['generators[0].joint=0.002'], 0.1, 1),
    'pyramid': ('bench/engines/scenes/pyramid.yaml', [], 1, 1),
    'busy-stack-2d': ('bench/scenes/busy-stack-2d.yaml', [], 1, 0),
    'busy-wall-3d': ('bench/scenes/busy-wall-3d.yaml', [], 0.1, 0),
    'dome': ('examples/dome.yaml', [], 0.6, 0),
}


def bodies(folder, at):
    """Positions at about the time `at`, of all bodies that are not round: those of the busy rows move."""
    table = os.path.join(folder, 'bodies.csv')
    subprocess.run([SCREE, 'convert', folder, '--csv', table, '--at', str(at)], check=True, capture_output=True)
    with open(table, encoding='utf-8') as file:
        rows = [[float(v) for v in (r['x'], r['y'], r.get('z') or 0)] for r in csv.DictReader(file)
                if r['shape'] not in ('disk', 'sphere')]
    return rows


def measure(name, until, seconds):
    scene, settings, size, begin = ROWS[name]
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    command = [SCREE, 'run', os.path.join(ROOT, scene), '-o', folder, '--json', '-j', '1', '--set',
               'time.duration=%g' % until, '--set', 'output.every=1']
    for setting in settings:
        command += ['--set', setting]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    summary = json.loads(done.stdout.splitlines()[-1])
    start = bodies(folder, begin)
    most = 0
    for at in sorted({min(until, t) for t in (2, 5, 10, 20, 30, 40, 50, 60)} | {until}):
        now = bodies(folder, at)
        most = max([most] + [sum((a - b) ** 2 for a, b in zip(x, y)) ** 0.5 for x, y in zip(start, now)])
    print('| %s | %d | %g | %.1e%s | %d | %d | %d | %.3g |'
          % (name, summary['bodies'], size, most, ' from %g s on' % begin if begin else '', summary['steps'],
             summary['steps_above'], summary['iterations'], cpu), flush=True)


def main():
    parser = argparse.ArgumentParser(description='Motion of bodies that should rest.')
    parser.add_argument('--seconds', type=float, default=900, help='limit for one run')
    parser.add_argument('--until', type=float, default=60, help='simulated time')
    parser.add_argument('rows', nargs='*')
    arguments = parser.parse_args()
    for name in arguments.rows:
        if name not in ROWS:
            sys.exit('no such row: %s; known: %s' % (name, ', '.join(ROWS)))
    print('| row | bodies | size, m | moves by, m | steps | not certified | sweeps | CPU, s |', flush=True)
    for name in arguments.rows or ROWS:
        try:
            measure(name, arguments.until, arguments.seconds)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print('| %s | not made: %s |' % (name, error), flush=True)


if __name__ == '__main__':
    main()

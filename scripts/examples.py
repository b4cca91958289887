#!/usr/bin/env python3
"""Run every scene of examples/ at its own settings and list the steps that are not certified.

    scripts/examples.py [--seconds S] [EXAMPLE...]

Every run gets one thread; after S seconds (120) it is interrupted and judged by the steps it has made. The exit
status is 1 if some step of some example is not certified.
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
WORK = os.path.join(ROOT, 'build', 'examples')


def run(name, seconds):
    """Returns whether all steps are certified."""
    folder = os.path.join(WORK, name)
    scene = os.path.join(ROOT, 'examples', name + '.yaml')
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with subprocess.Popen([SCREE, 'run', scene, '-o', folder, '-f', '--json', '-j', '1'], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        whole = True
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            whole = False
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    lines = out.splitlines()
    if not lines:
        print('%-14s failed: %s' % (name, (err.strip().splitlines() or ['?'])[-1]), flush=True)
        return False
    with open(os.path.join(folder, 'telemetry.jsonl'), encoding='utf-8') as file:
        steps = [json.loads(line) for line in file]
    bad = [s for s in steps if not s['certified']]
    summary = json.loads(lines[-1])
    created = summary['energy_created'] > summary['energy_limit']
    print('%-14s %5d steps to %.4g s%s, %.0f CPU s: %s%s'
          % (name, len(steps), steps[-1]['time'] if steps else 0, '' if whole else ' (interrupted)', cpu,
             'certified' if not bad else '%d not certified' % len(bad),
             ', energy created %.2g' % summary['energy_created'] if created else ''), flush=True)
    for s in bad[:10]:
        print('    step %d, t = %.5g: error %.2g, penetration %.2g, missed %s'
              % (s['step'], s['time'], s['error'], s['penetration'], s.get('missed', '?')), flush=True)
    return not bad and not created


def main():
    parser = argparse.ArgumentParser(description='Certificates of the examples.')
    parser.add_argument('--seconds', type=float, default=120, help='limit for one run')
    parser.add_argument('examples', nargs='*')
    arguments = parser.parse_args()
    names = arguments.examples or sorted(f[:-5] for f in os.listdir(os.path.join(ROOT, 'examples'))
                                         if f.endswith('.yaml'))
    return 0 if all([run(name, arguments.seconds) for name in names]) else 1


if __name__ == '__main__':
    sys.exit(main())

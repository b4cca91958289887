#!/usr/bin/env python3
"""Remake docs/validation/tuned.md: what the defaults cost, relative to the best setting found by hand.

    scripts/tuned.py [--cpu S] [--run-only] [SCENE...]

Each scene of bench/scenes and examples runs at all defaults, until its end or until it has taken S seconds (5) of the
processor, then with other settings (SETTINGS) to the same time, with one thread. A setting counts when every step of its
run is certified and its averages are right: the means over time of kinetic and potential energy, of work, and of the
energy dissipated by impact and by friction differ from those of the defaults by at most 1 % of the energy turned over. One
that is right and takes less than half of the time of the defaults is compared from STARTS starts (`perturb`), and counts
if the mean error is within 1 %: in chaotic scenes a single run may agree by chance. Runs that take longer than the best
one so far are stopped. Results stay in build/tuned, one file for each scene; remove it after a change of the code.
"""
import argparse
import glob
import json
import math
import os
import shutil
import signal
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
WORK = os.path.join(ROOT, 'build', 'tuned')

# name: factor on the default step, and what is set besides
SETTINGS = {'2h, 1e-3': (2, ['solver.tolerance=1e-3']),
            'euler, 2h, 1e-3': (2, ['time.scheme=euler', 'solver.tolerance=1e-3']),
            'euler, h, 1e-3': (1, ['time.scheme=euler', 'solver.tolerance=1e-3']),
            'nlgs, 2h, 1e-3, no halvings': (2, ['solver.name=nlgs', 'solver.tolerance=1e-3', 'time.max_halvings=0'])}
ACCURACY = 0.01
STARTS = 4
MEANS = ('kinetic', 'potential', 'work', 'normal', 'friction')


def cpu_of(pid):
    """User time of a running process, in seconds; 0 once it has ended."""
    try:
        with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
            return int(file.read().rsplit(')', 1)[1].split()[11]) / os.sysconf('SC_CLK_TCK')
    except (OSError, IndexError):
        return 0.0


def run(scene, folder, settings, until, limit):
    """(status or None if it was stopped, user seconds)."""
    command = [SCREE, 'run', scene, '-o', folder, '-f', '-q', '-j', '1']
    for setting in settings:
        command += ['--set', setting]
    if until:
        command += ['--until', '%.17g' % until]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stopped = False
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = 0 # it has been waited for
            break
        if not stopped and cpu_of(process.pid) > limit:
            process.send_signal(signal.SIGINT)
            stopped = True
        time.sleep(0.02)
    return None if stopped else os.waitstatus_to_exitcode(status), used.ru_utime


def rows_of(folder):
    with open(os.path.join(folder, 'telemetry.jsonl'), encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def means_of(rows, end):
    """Means over time until `end`, and the energy turned over."""
    sums, means, turned, before = dict.fromkeys(MEANS[2:], 0.0), dict.fromkeys(MEANS, 0.0), 0.0, 0.0
    for row in rows:
        if row['time'] > end * (1 + 1e-9):
            break
        sums['work'] += row['work_forces'] + row['work_drivers']
        sums['normal'] += row['dissipated_normal']
        sums['friction'] += row['dissipated_friction']
        now = {'kinetic': row['kinetic'], 'potential': row['potential'] - rows[0]['potential'], **sums}
        for key in MEANS:
            means[key] += now[key] * (row['time'] - before) / end
        before = row['time']
        turned = max(turned, row['kinetic'] + abs(sums['work']) + sums['normal'] + sums['friction'])
    # where nothing moves there is no energy turned over to compare with
    return means, max(turned, 1e-6 * abs(rows[0]['potential']))


def errors_of(rows, reference):
    """Errors of the means, over the time that both runs have, and the part of the energy turned over that they are of."""
    end = min(rows[-1]['time'], reference[-1]['time'])
    other, _ = means_of(rows, end)
    means, turned = means_of(reference, end)
    return {key: (other[key] - means[key]) / turned if turned else 0.0 for key in MEANS}


def error_of_starts(scene, folder, settings, end, errors):
    """Largest mean error over several starts; `errors` are those of the first one."""
    found = [errors]
    for k in range(1, STARTS):
        start = ['perturb=1e-3', 'seed=%d' % (1000 + k)]
        runs = []
        for own in ([], settings):
            status, _ = run(scene, folder, own + start, end, math.inf)
            if status > 1:
                return math.inf
            runs.append(rows_of(folder))
        found.append(errors_of(runs[1], runs[0]))
    return max(abs(sum(e[key] for e in found)) / len(found) for key in MEANS)


def tune(scene, limit):
    folder = os.path.join(WORK, 'run')
    status, cpu = run(scene, folder, [], None, limit)
    if status is not None and status > 1:
        return None
    rows = rows_of(folder)
    end = rows[-1]['time']
    out = {'time': end, 'whole': status is not None, 'steps': len(rows), 'default': cpu, 'sweeps': sum(r['iterations'] for r in rows),
           'certified': all(r['certified'] for r in rows), 'others': {}}
    best = cpu
    for name, (factor, settings) in SETTINGS.items():
        step = [] if factor == 1 else ['time.step=%.17g' % (factor * max(r['h'] for r in rows[:3]))]
        status, cpu = run(scene, folder, settings + step, end, best)
        if status is None or status > 1:
            out['others'][name] = 'stopped' if status is None else 'refused'
            continue
        errors = errors_of(rows_of(folder), rows)
        error = max(abs(e) for e in errors.values())
        single = status == 0 and error <= ACCURACY and 2 * cpu < out['default']
        if single:
            error = error_of_starts(scene, folder, settings + step, end, errors)
        out['others'][name] = {'cpu': cpu, 'certified': status == 0, 'error': error, 'starts': STARTS if single else 1}
        if status == 0 and error <= ACCURACY:
            best = min(best, cpu)
    shutil.rmtree(folder, ignore_errors=True)
    return out


HEAD = '''# What the defaults cost

This page compares the processor time at all defaults with that of settings chosen by hand. The scenes of
[bench/scenes](../../bench/scenes) and [examples](../../examples) run at all defaults, with one thread, until their end or until
they have taken %g s of processor time (marked *). They then run to the same simulated time with these settings (the
step, of which h is the default one, and the tolerance; `euler` is the time scheme, `nlgs` the solver):
%s.

A setting counts as right if every step of its run is certified and the means over time of kinetic and potential energy, of
work, and of the energy dissipated by impact and by friction differ from those of the defaults by at most 1 %% of the energy turned
over. The errors of the defaults themselves are in [DEFAULTS](../DEFAULTS.md). A
setting that is right in one run and takes less than half of the time is compared from %d starts (`perturb`), and counts if
the mean error is within 1 %%: in chaotic scenes a single run may agree by chance.

- time: simulated time in seconds
- default: processor time at all defaults, in seconds
- best right setting: the fastest setting that is right, and its processor time in seconds; ratio: that of the defaults over it
- fastest of all: the fastest setting whose steps are all certified, even if its averages are not right, its processor time in
  seconds, and its error; a dash if it is the best right setting

The ratio of a short run is not that of a long one: a wall, for example, is solved from zero impulses at the start, and costs
little when it rests.

To make this page again: `scripts/tuned.py --cpu %g`, which keeps finished results in `build/tuned`.

| scene | time, s | default, CPU s | best right setting | CPU s | ratio | fastest of all | CPU s | its error |
|---|---:|---:|---|---:|---:|---|---:|---:|
'''
LEAST = 0.1


def best_right(found):
    """(CPU time, setting)"""
    return min([(o['cpu'], n) for n, o in found['others'].items()
                if isinstance(o, dict) and o['certified'] and o['error'] <= ACCURACY] + [(found['default'], 'default')])


def ratio_of(found):
    return found['default'] / max(best_right(found)[0], 0.01)


def row(name, found):
    others = [(o['cpu'], o['error'], n) for n, o in found['others'].items() if isinstance(o, dict) and o['certified']]
    right = best_right(found)
    fastest = min(others, default=(found['default'], 0, 'default'))
    if fastest[0] >= right[0]:
        fastest = None
    return '| %s | %.3g%s | %.2f | %s | %.2f | %.2f | %s |' % (
        name, found['time'], '' if found['whole'] else '*', found['default'], right[1], right[0],
        ratio_of(found),
        '%s | %.2f | %s %%' % (fastest[2], fastest[0], '%.1f' % (100 * fastest[1]) if fastest[1] < 1 else '> 100') if fastest else '- | - | -')


def tables(cpu):
    rows, brief, ratios = [], [], []
    for path in sorted(glob.glob(os.path.join(WORK, '*.json'))):
        name = os.path.basename(path)[:-5]
        with open(path, encoding='utf-8') as file:
            found = json.load(file)
        if found['default'] < LEAST:
            brief.append(name)
        else:
            rows.append(row(name, found))
            ratios.append(ratio_of(found))
    with open(os.path.join(ROOT, 'docs', 'validation', 'tuned.md'), 'w', encoding='utf-8') as file:
        file.write(HEAD % (cpu, '; '.join('`%s`' % n for n in SETTINGS), STARTS, cpu) + '\n'.join(rows) + '\n')
        ratios.sort()
        file.write('\n%d of these %d scenes have a ratio above 2; the median is %.2f. Twice the step alone gives a factor of 1.5 to 2.5.\n' % (
            sum(r > 2 for r in ratios), len(ratios), ratios[len(ratios) // 2]))
        file.write('\nThe defaults take less than %g s: %s.\n' % (LEAST, ', '.join(brief)))


def main():
    parser = argparse.ArgumentParser(description='Remake docs/validation/tuned.md.')
    parser.add_argument('--cpu', type=float, default=5, help='longest part of a run, in seconds of the processor')
    parser.add_argument('--run-only', action='store_true', help='leave the table')
    parser.add_argument('scenes', nargs='*', help='files; default: all of bench/scenes and examples')
    request = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    everything = sorted(glob.glob(os.path.join(ROOT, 'bench', 'scenes', '*.yaml')) + glob.glob(os.path.join(ROOT, 'examples', '*.yaml')))
    for scene in request.scenes or everything:
        place = 'bench' if os.path.dirname(scene).endswith('scenes') else 'examples'
        path = os.path.join(WORK, '%s-%s.json' % (place, os.path.basename(scene)[:-5]))
        if os.path.exists(path):
            continue
        found = tune(scene, request.cpu)
        if not found:
            print(scene, 'cannot be run alone', flush=True)
            continue
        print(scene, '%.2f' % found['default'], found['others'], flush=True)
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(found, file)
    if not request.run_only:
        tables(request.cpu)


if __name__ == '__main__':
    main()

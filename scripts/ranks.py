#!/usr/bin/env python3
"""Run the scenes of examples/ on several ranks and compare them with one rank.

    scripts/ranks.py [--ranks 2,3,4] [--seconds S] [--steps N] [--whole CPU] [--twice] [--set PATH=VALUE] [EXAMPLE...]

Each example runs on one rank for S seconds (5) or N steps, or as a whole if that takes less than CPU seconds of
processor time, then for as many steps on each number of ranks
(mpirun of the program in build/mpi, one thread each). A line shows whether the world was divided, or why not, the
steps that are not certified, the messages and bytes of a step, and how far the worst body of the last frame is
from where one rank has it. --twice runs everything again and compares the bits.
The exit status is 1 if a run fails, two runs differ, or steps are not certified that are on one rank.
"""
import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys

import h5py
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'mpi', 'scree'))
WORK = os.environ.get('SCREE_WORK', os.path.join(ROOT, 'build', 'ranks'))
# Open MPI on one machine: as root in a container, more ranks than processors, no network.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                   OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_btl='self,vader,tcp',
                   OMPI_MCA_btl_tcp_if_include='lo', OMPI_MCA_oob_tcp_if_include='lo',
                   OMPI_MCA_mpi_yield_when_idle='1', OMPI_MCA_plm_rsh_agent='false',
                   OMPI_MCA_btl_vader_single_copy_mechanism='none', OMP_NUM_THREADS='1')


def run(name, ranks, folder, steps, seconds, sets, cpu=0):
    """Returns the summary, or a text that says what went wrong. `cpu`: a limit of processor time."""
    scene = os.path.join(ROOT, 'examples', name + '.yaml')
    command = ['mpirun', '-q', '-n', str(ranks)] if ranks > 1 else []
    command += [SCREE, 'run', scene, '-o', folder, '-f', '--json', '-j', '1']
    command += ['--steps', str(steps)] if steps else []
    for text in sets:
        command += ['--set', text]
    limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))) if cpu else None
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=ENVIRONMENT, preexec_fn=limit) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
            if ranks > 1:
                return 'not finished after %g s' % seconds
    if process.returncode == -signal.SIGXCPU:
        return 'left out: it takes more than %d s of processor time' % cpu
    try:
        return json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        return (err.strip().splitlines() or ['?'])[0]


def frames(folder):
    """The positions of each frame, by its step."""
    with h5py.File(os.path.join(folder, 'results.h5'), 'r') as file:
        return dict(zip(file['frames/step'][:].tolist(), file['frames/position'][:]))


def distance(folder, other):
    """The largest distance of a body in the last frame that two runs have; nan: other bodies, or no results."""
    if not os.path.exists(os.path.join(other, 'results.h5')):
        return float('nan')
    mine, theirs = frames(folder), frames(other)
    common = set(mine) & set(theirs)
    if not common or mine[max(common)].shape != theirs[max(common)].shape:
        return float('nan')
    return float(numpy.nanmax(numpy.abs(mine[max(common)] - theirs[max(common)]), initial=0))


def lines(folder):
    """The telemetry without clocks, and without messages, since checkpoints come by the clock."""
    aside = {'messages', 'bytes', 'synchronisations'}
    with open(os.path.join(folder, 'telemetry.jsonl'), encoding='utf-8') as file:
        return [{k: v for k, v in json.loads(line).items() if not k.startswith('seconds') and k not in aside}
                for line in file]


def examine(name, arguments):
    base = os.path.join(WORK, name)
    whole = arguments.whole
    one = run(name, 1, base + '-1', arguments.steps, None if whole else arguments.seconds, arguments.set, whole)
    if isinstance(one, str):
        print('%-14s 1 rank: %s' % (name, one), flush=True)
        return whole > 0
    good = True
    print('%-14s %d steps, %d bodies, at most %d contacts, %d not certified'
          % (name, one['steps'], one['bodies'], one['contacts_max'], one['steps_above']), flush=True)
    for ranks in arguments.ranks:
        folder = '%s-%d' % (base, ranks)
        found = run(name, ranks, folder, one['steps'], arguments.limit, arguments.set)
        if isinstance(found, str):
            print('  %d ranks: FAILED: %s' % (ranks, found), flush=True)
            good = False
            continue
        steps = max(found['steps'], 1)
        text = '  %d ranks: %s, %d not certified, %.1f messages and %.3g bytes a step, imbalance %.2f, off by %.1e m' % (
            ranks, 'divided' if found['divided'] else 'NOT DIVIDED (%s)' % found['undivided'], found['steps_above'],
            found['messages'] / steps, found['bytes'] / steps, found['imbalance'],
            distance(base + '-1', folder))
        if found['steps'] != one['steps']:
            text += ', FAILED: %d steps' % found['steps']
            good = False
        if found['steps_above'] > one['steps_above']:
            good = False
        if arguments.twice:
            again = run(name, ranks, folder + '-again', one['steps'], arguments.limit, arguments.set)
            same = not isinstance(again, str) and lines(folder) == lines(folder + '-again') and \
                distance(folder, folder + '-again') == 0
            text += ', the same bits again' if same else ', FAILED: other bits again'
            good = good and same
            shutil.rmtree(folder + '-again', ignore_errors=True)
        print(text, flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description='Examples on several ranks.')
    parser.add_argument('--ranks', default='2,3,4', type=lambda t: [int(k) for k in t.split(',')])
    parser.add_argument('--seconds', type=float, default=5, help='limit for one rank')
    parser.add_argument('--limit', type=float, default=300, help='limit for several ranks')
    parser.add_argument('--steps', type=int, default=0)
    parser.add_argument('--whole', type=int, default=0, metavar='CPU')
    parser.add_argument('--twice', action='store_true')
    parser.add_argument('--set', action='append', default=[])
    parser.add_argument('examples', nargs='*')
    arguments = parser.parse_args()
    names = arguments.examples or sorted(f[:-5] for f in os.listdir(os.path.join(ROOT, 'examples'))
                                         if f.endswith('.yaml'))
    return 0 if all([examine(name, arguments) for name in names]) else 1


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""The cost of several ranks: a model fitted to measurements here, and what it predicts.

    scripts/ranks_cost.py [--ranks 1,2,4,8] [--sides 10,16,24] [--steps 4] [--save FILE] [--read FILE]

Runs build/mpi/bench/parts (a lattice of SIDE^3 touching balls, each step one solve by relaxed sweeps) with 20 and
with 60 sweeps a step: the difference is 40 sweeps, the rest is the step. Of every rank it takes the messages, bytes
and synchronisations, which are exact, and the CPU time outside of MPI, the least of the steps, which does not depend
on who else uses the processors. Times of exchanges are the shortest of bench/exchange between two ranks. Each set of
measurements is fitted by least squares of relative residuals, which are printed.

--save keeps the measurements as JSON; --read fits those of an earlier run. Fitted constants are of this machine; those
of a network are given by --latency (s) and --bandwidth (bytes/s).
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ranks import ENVIRONMENT, ROOT  # noqa: E402

BENCH = os.environ.get('SCREE_BENCH', os.path.join(ROOT, 'build', 'mpi', 'bench'))
SWEEPS = (20, 60)
KEYS = ('contacts', 'bodies', 'copies', 'messages', 'bytes', 'synchronisations')
BALL, BODY = 1.0, 48 / 18  # a visit of a contact between other bodies, over one between balls: src/solver/price.c


def start(ranks, *arguments, environment=None):
    command = ['mpirun', '-q', '-n', str(ranks)] + list(arguments)
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment or ENVIRONMENT, check=True).stdout


# ---- measurements


def measure_steps(arguments):
    lines = []
    for side in arguments.sides:
        for ranks in arguments.ranks:
            for sweeps in SWEEPS:
                text = start(ranks, os.path.join(BENCH, 'parts'), str(side ** 3), str(arguments.steps), 't', 'nlgs',
                             str(sweeps))
                for line in text.splitlines():
                    if line.startswith('{'):
                        lines.append(dict(json.loads(line), side=side))
                print('measured: side %d, %d ranks, %d sweeps' % (side, ranks, sweeps), file=sys.stderr, flush=True)
    return lines


def measure_exchanges():
    """Shortest times (bytes, seconds) of a message, and of a sum, between two ranks."""
    # ranks that wait for a message give up the processor to other programs, which then takes milliseconds
    alone = dict(ENVIRONMENT, OMPI_MCA_mpi_yield_when_idle='0', OMPI_MCA_rmaps_base_oversubscribe='0')
    text = start(2, os.path.join(BENCH, 'exchange'), environment=alone)
    found = [(float(a), 1e-6 * float(b)) for a, b in re.findall(r'(\d+) bytes to a neighbour ([\d.]+) us', text)]
    return {'messages': found, 'sum': 1e-6 * float(re.search(r'a sum ([\d.]+) us', text).group(1))}


def of_ranks(lines):
    """For each side, number of ranks, rank and number of sweeps: counts of a step, and its own time; what a sweep and a
    step without its sweeps send is added."""
    rows = []
    for key in sorted({(k['side'], k['ranks'], k['rank']) for k in lines}):
        found = {}
        for count in SWEEPS:
            mine = [k for k in lines if (k['side'], k['ranks'], k['rank']) == key and k['iterations'] == count
                    and k['step'] > 1]  # the first step has no ghosts yet
            found[count] = dict({name: min(k[name] for k in mine) for name in KEYS}, own=min(k['own'] for k in mine))
        few, many = found[SWEEPS[0]], found[SWEEPS[1]]
        for count in SWEEPS:
            row = dict(found[count], side=key[0], ranks=key[1], sweeps=count)
            for name in ('messages', 'bytes', 'synchronisations'):
                row['sweep_' + name] = (many[name] - few[name]) / (SWEEPS[1] - SWEEPS[0])
                row['step_' + name] = few[name] - SWEEPS[0] * row['sweep_' + name]
            rows.append(row)
    return rows


# ---- fits


def fit(name, rows, measured, terms):
    """Constants >= 0 by least squares of relative residuals; terms are (text, unit, factor, function)."""
    active = list(range(len(terms)))
    y = numpy.array(measured)
    while True:
        A = numpy.array([[terms[k][3](row) for k in active] for row in rows]) / y[:, None]
        scale = numpy.abs(A).max(axis=0)
        scale[scale == 0] = 1
        x = numpy.linalg.lstsq(A / scale, numpy.ones(len(y)), rcond=None)[0] / scale
        if (x >= 0).all():
            break
        del active[int(numpy.argmin(x * scale))]
    residual = A @ x - 1
    constants = numpy.zeros(len(terms))
    constants[active] = x
    print('%s: %d measurements, relative residuals: rms %.2f, largest %.2f' %
          (name, len(y), math.sqrt(float(numpy.mean(residual ** 2))), float(numpy.abs(residual).max())))
    for (text, unit, factor, _), value in zip(terms, constants):
        print('    %-52s %.4g %s' % (text, factor * value, unit))
    for ranks in sorted({row['ranks'] for row in rows if 'ranks' in row}):
        mine = [r for r, row in zip(residual, rows) if row['ranks'] == ranks]
        print('    residuals on %d ranks: %+.2f to %+.2f' % (ranks, min(mine), max(mine)))
    return constants


def several(row):
    return row['ranks'] > 1


def fit_all(data):
    rows = of_ranks(data['steps'])
    own = fit('own time of a step with 20 or 60 sweeps', rows, [k['own'] for k in rows], [
        ('sweep: a contact, on one rank', 'ns', 1e9, lambda k: k['sweeps'] * k['contacts'] * (not several(k))),
        ('sweep: a contact, relaxed', 'ns', 1e9, lambda k: k['sweeps'] * k['contacts'] * several(k)),
        ('sweep: a byte sent, packed and unpacked', 'ns', 1e9, lambda k: k['sweeps'] * k['sweep_bytes']),
        ('sweep: itself', 'us', 1e6, lambda k: k['sweeps']),
        ('step: a contact', 'us', 1e6, lambda k: k['contacts']),
        ('step: a body or copy', 'us', 1e6, lambda k: k['bodies'] + k['copies']),
        ('step: itself', 'us', 1e6, lambda k: 1.0)])
    many = [k for k in rows if k['ranks'] == max(k['ranks'] for k in rows)]
    surface = fit('bytes of a rank in a sweep', many, [k['sweep_bytes'] for k in many], [
        ('bytes for each contact of the rank to the power 2/3', '', 1, lambda k: k['contacts'] ** (2 / 3))])
    exchanges = [{'bytes': k[0]} for k in data['exchange']['messages']]
    fit('a message between two ranks here', exchanges, [k[1] for k in data['exchange']['messages']], [
        ('latency', 'us', 1e6, lambda k: 1.0), ('byte', 'ns', 1e9, lambda k: k['bytes'])])
    print('    a sum over two ranks here                            %.4g us' % (1e6 * data['exchange']['sum']))
    print('largest counts of a rank. side, ranks: contacts, copies; sweep: messages, bytes, synchronisations; step')
    for key in sorted({(k['side'], k['ranks']) for k in rows}):
        mine = [k for k in rows if (k['side'], k['ranks']) == key]
        most = {name: max(k[name] for k in mine) for name in mine[0]}
        print('    %2d %d: %6.0f %5.0f; %3.0f %7.0f %.2f; %3.0f %8.0f %.0f' % (key + tuple(most[n] for n in (
            'contacts', 'copies', 'sweep_messages', 'sweep_bytes', 'sweep_synchronisations', 'step_messages',
            'step_bytes', 'step_synchronisations'))))
    return {'contact': own[1], 'byte': own[2], 'sweep': own[3], 'surface': surface[0],
            'synchronisations': max(k['sweep_synchronisations'] for k in rows)}


# ---- predictions


def predict(model, name, contacts, ranks, neighbours, visit, latency, bandwidth):
    """Times of a relaxed sweep on so many ranks, in us."""
    each = contacts / ranks
    sent = model['surface'] * each ** (2 / 3)
    own = 1e6 * (each * model['contact'] * visit + sent * model['byte'] + model['sweep'])
    messages = 1e6 * neighbours * latency
    data = 1e6 * sent / bandwidth
    # a sum is an Allgather of 8 bytes
    sums = 1e6 * model['synchronisations'] * (latency * math.ceil(math.log2(ranks)) + 8 * ranks / bandwidth)
    total = own + messages + data + sums
    print('    %-34s %7d ranks %9.0f contacts: own %8.1f us, messages %5.1f, bytes %5.1f, sums %6.1f: %3.0f %% own'
          % (name, ranks, each, own, messages, data, sums, 100 * own / total))


def main():
    parser = argparse.ArgumentParser(description='The cost of several ranks, fitted.')
    parser.add_argument('--ranks', default='1,2,4,8', type=lambda t: [int(k) for k in t.split(',')])
    parser.add_argument('--sides', default='10,16,24', type=lambda t: [int(k) for k in t.split(',')])
    parser.add_argument('--steps', type=int, default=4)
    parser.add_argument('--latency', type=float, default=2e-6)
    parser.add_argument('--bandwidth', type=float, default=1e10)
    parser.add_argument('--save')
    parser.add_argument('--read')
    arguments = parser.parse_args()
    if arguments.read:
        with open(arguments.read, encoding='utf-8') as file:
            data = json.load(file)
    else:
        data = {'exchange': measure_exchanges(), 'steps': measure_steps(arguments)}
    if arguments.save:
        with open(arguments.save, 'w', encoding='utf-8') as file:
            json.dump(data, file)
    model = fit_all(data)
    print('a relaxed sweep with a latency of %g us and %g GB/s (assumed), the constants of this machine else:'
          % (1e6 * arguments.latency, 1e-9 * arguments.bandwidth))
    for ranks in (36, 72, 144, 288, 576):  # 1 to 16 nodes of 004
        predict(model, '004: 10^5 ellipsoids, 13 neighbours', 288000, ranks, 13, BODY, arguments.latency,
                arguments.bandwidth)
    for ranks in (10000, 100000, 458752):
        predict(model, '10^9 balls, 18 neighbours', 3e9, ranks, 18, BALL, arguments.latency, arguments.bandwidth)
    return 0


if __name__ == '__main__':
    sys.exit(main())

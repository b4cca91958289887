#!/usr/bin/env python3
"""Compare two runs of one scene that should agree up to round-off and the solver's tolerance.

    compare.py FOLDER OTHER [TOLERANCE [start|soft]]

With `soft` without orientations (the principal axes of a body that is nearly round are round-off) and creep.
With `start` bodies and the first frame of results.h5 alone, which must be equal. Telemetry line by line (clocks, counts of work and small differences aside), and every dataset of results.h5:
those of bodies and materials must be equal. Numbers of one column or dataset are compared with its largest.
"""
import json
import sys

import h5py
import numpy

WORK = {'iterations', 'solves', 'retries', 'redetections', 'expansions', 'solver', 'messages', 'bytes',
        'synchronisations', 'imbalance', 'error', 'cone_violation', 'worst_body', 'deepest_body', 'penetration',
        'creep', 'energy_created', 'joint_error', 'closing', 'push', 'scheme', 'contacts_above', 'active'}
# Numbers that are the round-off of others, or follow from a tolerance of the last digit.
ROUND_OFF = {'contacts/error', 'contacts/gap', 'contacts/status', 'contacts/velocity', 'analysis/closing',
             'analysis/push', 'analysis/scheme', 'analysis/penetration', 'analysis/open', 'analysis/stick',
             'analysis/slip', 'analysis/coordination', 'analysis/coordination_touching', 'analysis/rattlers',
             'analysis/fabric', 'scene'}


def read(folder):
    with open(folder + '/telemetry.jsonl', encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def numbers(text):
    return [float('nan') if x is None else float(x) for x in (text if isinstance(text, list) else [text])]


def compare_telemetry(one, other, tolerance, soft):
    mine, theirs = read(one), read(other)
    found = []
    if len(mine) != len(theirs):
        return ['%d and %d steps' % (len(mine), len(theirs))]
    for key in mine[0]:
        if key in WORK or key.startswith('seconds'):
            continue
        if key not in theirs[0]:
            found.append('%s is missing' % key)
            continue
        a = numpy.array([numbers(line[key]) for line in mine])
        b = numpy.array([numbers(line[key]) for line in theirs])
        found += difference('telemetry ' + key, a, b, tolerance)
    # sums of errors: two digits of them are the same wherever errors are
    if soft:
        return found
    creep = [numpy.array([numbers(line['creep']) for line in lines]) for lines in (mine, theirs)]
    if not (numpy.nanmax(creep[0]) > 0):
        found.append('no creep')
    return found + difference('telemetry creep', creep[0], creep[1], 1e-2)


def difference(name, a, b, tolerance):
    if a.shape != b.shape:
        return ['%s: shapes %s and %s' % (name, a.shape, b.shape)]
    if not (numpy.isnan(a) == numpy.isnan(b)).all():
        return ['%s: missing in different places' % name]
    if a.size == 0:
        return []
    scale = numpy.nanmax(numpy.abs(numpy.where(numpy.isfinite(a), a, 0)), initial=0)
    with numpy.errstate(invalid='ignore'):
        off = numpy.nanmax(numpy.where(a == b, 0, numpy.abs(a - b)), initial=0)
    return ['%s: differs by %.2g of %.2g' % (name, off, scale)] if off > tolerance * scale else []


def compare_results(one, other, tolerance, soft):
    found = []
    with h5py.File(one + '/results.h5', 'r') as a, h5py.File(other + '/results.h5', 'r') as b:
        names = []
        a.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in names:
            if name in ROUND_OFF or soft and name == 'frames/orientation':
                continue
            if name not in b:
                found.append('%s is missing' % name)
                continue
            x, y = a[name][()], b[name][()]
            if not isinstance(x, numpy.ndarray) or x.dtype.kind not in 'iuf' or name.startswith('bodies/'):
                same = numpy.array_equal(x, y) or (getattr(x, 'shape', 0) == getattr(y, 'shape', 0) and
                                                   x.dtype.kind == 'f' and ((x == y) | (x != x)).all())
                found += [] if same else ['%s differs' % name]
            else:
                found += difference(name, x.astype(float), y.astype(float), tolerance)
    return found


def compare_start(one, other):
    found = []
    with h5py.File(one + '/results.h5', 'r') as a, h5py.File(other + '/results.h5', 'r') as b:
        names = []
        a.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in names:
            part = name.split('/')[0]
            if part not in ('bodies', 'parts', 'frames', 'materials') or 'offset' in name and part == 'frames':
                continue
            x, y = (a[name][()], b[name][()]) if part != 'frames' else (a[name][0], b[name][0])
            same = numpy.shape(x) == numpy.shape(y) and (numpy.asarray(x) == y) | (numpy.asarray(x) != x)
            found += [] if numpy.all(same) else ['%s differs' % name]
        for name in ('body',):
            x, y = a['contacts/' + name][()], b['contacts/' + name][()]
            found += [] if numpy.array_equal(x, y) else ['contacts/%s differs' % name]
    return found


def main():
    one, other = sys.argv[1:3]
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-6
    soft = 'soft' in sys.argv[4:]
    found = compare_start(one, other) if 'start' in sys.argv[4:] else \
        compare_telemetry(one, other, tolerance, soft) + compare_results(one, other, tolerance, soft)
    for text in found:
        print('%s and %s: %s' % (one, other, text))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())

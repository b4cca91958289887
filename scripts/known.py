#!/usr/bin/env python3
"""Remake docs/validation/known.md: small scenes at all defaults against known answers.

    scripts/known.py [NAME ...]

Each scene is run at the automatic step h, at h/2, and with `euler` at h (not with deformable bodies, which it refuses).
An answer is a formula, or the same scene at h/64 ("fine"). Differences are relative to the scale that a row names, or to
the answer.
"""
import json
import os
import subprocess
import sys
import tempfile
from math import acos, asin, atan, cos, exp, hypot, pi, sin, sqrt, tan

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCREE = os.environ.get('SCREE', os.path.join(ROOT, 'build', 'scree'))
G = 9.81
FLOOR, LINE = {'name': 'floor', 'shape': {'kind': 'half-space'}}, {'name': 'floor', 'shape': {'kind': 'half-plane'}}
ROWS = []


def ball(radius):
    return {'kind': 'sphere', 'radius': radius}


def disk(radius):
    return {'kind': 'disk', 'radius': radius}


def box(*half):
    return {'kind': 'box', **{'half_' + axis: h for axis, h in zip('xyz', half)}}


def sensor(name, kind, **more):
    return {'name': name, 'kind': kind, **more}


def row(name, text, scene, answer, measured, scale=None, deforms=False):
    """answer: a number, or None for that of h/64; measured: a function of the lines of the telemetry."""
    ROWS.append((name, text, scene, answer, measured, scale, deforms))


def last(key):
    return lambda lines: lines[-1]['sensor.' + key]


def left(lines):
    """Energy at the end over that after the first step."""
    energy = lambda line: line['kinetic'] + line['potential'] + line['elastic']
    return energy(lines[-1]) / energy(lines[0])


def period(key):
    """Mean time between every second passage through zero."""
    def measure(lines):
        x, t = [line['sensor.' + key] for line in lines], [line['time'] for line in lines]
        zero = [t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k]) for k in range(len(x) - 1) if x[k] * x[k + 1] < 0]
        return 2 * (zero[-1] - zero[0]) / (len(zero) - 1)
    return measure


def after(time, what):
    return lambda lines: what([line for line in lines if line['time'] > time])


# ---- rolling, sliding, spinning -----------------------------------------------------------------

def add_rolling():
    a, mu = 20 * pi / 180, 0.1
    row('slope', 'disk rolls down 20 degrees, `rolling` 0.1: speed after 1 s',
        {'dimension': 2, 'gravity': [G * sin(a), -G * cos(a)], 'contact': {'mu': 0.5, 'rolling': mu},
         'bodies': [{'name': 'b', 'shape': disk(0.1), 'position': [0, 0.1]}], 'obstacles': [LINE],
         'sensors': [sensor('v', 'velocity', body='b')], 'time': {'duration': 1}},
        G * (sin(a) - mu * cos(a)) / 1.5, last('v.x'))
    row('spinning', 'ball that rolls at 1 m/s and spins at 30 rad/s, `rolling` 0.02, `spinning` 0.05: spin after 1 s',
        {'contact': {'mu': 0.5, 'rolling': 0.02, 'spinning': 0.05},
         'bodies': [{'name': 'b', 'shape': ball(0.1), 'position': [0, 0, 0.1], 'velocity': [1, 0, 0],
                     'angular_velocity': [0, 10, 30]}], 'obstacles': [FLOOR],
         'sensors': [sensor('w', 'angular_velocity', body='b')], 'time': {'duration': 1}},
        30 - 0.05 * G / 0.04, last('w.z'))
    lean, half, tilt, swing = 30 * pi / 180, 0.1, 0.2, 0.2
    rim, high = 2 * half * tan(lean), 2 * half
    generator = (0.6 * (high**2 + rim**2 / 4)) * sin(lean)**2 + 0.3 * rim**2 * cos(lean)**2
    swings = sqrt(0.75 * high * cos(lean) * G * sin(tilt) * tan(lean)**2 / generator)
    turn = -(pi / 2 + lean)
    row('cone', 'cone that rolls about its tip on a plane tilted by 0.2 rad, swinging by 0.2 rad: period',
        {'gravity': [G * sin(tilt), 0, -G * cos(tilt)], 'contact': {'mu': 0.8},
         'bodies': [{'name': 'c', 'shape': {'kind': 'cone', 'radius': rim, 'half_length': half},
                     'position': [0.75 * high * cos(lean) * cos(swing), 0.75 * high * cos(lean) * sin(swing),
                                  0.75 * high * sin(lean)],
                     'rotation': {'quaternion': [cos(turn / 2) * cos(swing / 2), -sin(turn / 2) * sin(swing / 2),
                                                 sin(turn / 2) * cos(swing / 2), cos(turn / 2) * sin(swing / 2)]}}],
         'obstacles': [FLOOR], 'sensors': [sensor('p', 'position', body='c')], 'time': {'duration': 5}},
        2 * pi / swings * (1 + swing**2 / 16), period('p.y'))
    length, mu, thick, r = 0.5, 0.3, 0.02, 0.1
    row('plank', 'plank on two rollers that turn against each other: period',
        {'dimension': 2, 'contact': {'mu': mu},
         'bodies': [{'name': 'p', 'shape': box(1, thick), 'position': [0.1, r + thick]}],
         'obstacles': [{'shape': disk(r), 'position': [-length, 0], 'angular_velocity': -20},
                       {'shape': disk(r), 'position': [length, 0], 'angular_velocity': 20}],
         'sensors': [sensor('p', 'position', body='p')], 'time': {'duration': 5}},
        2 * pi * sqrt((length - mu * thick) / (mu * G)), period('p.x'))
    angle = acos(10 / 17 * cos(0.2))
    row('dome', 'ball of 1 mm rolls off a ball of 1 m: cosine of the angle where it leaves',
        {'contact': {'mu': 3}, 'bodies': [{'name': 's', 'shape': ball(0.001),
                                           'position': [1.001 * sin(0.2), 0, 1.001 * cos(0.2)]}],
         'obstacles': [{'shape': ball(1)}], 'time': {'duration': 1.6},
         'sensors': [sensor('p', 'position', body='s'), sensor('f', 'force', body='s')]},
        cos(angle), lambda lines: [line['sensor.p.z'] / hypot(line['sensor.p.x'], line['sensor.p.z']) for line in lines
                                   if line['sensor.f.z'] > 0][-1])
    row('spring', 'block on a belt, held by a spring: amplitude of its swing',
        {'dimension': 2, 'contact': {'mu': 0.4},
         'bodies': [{'name': 'b', 'shape': box(0.1, 0.05), 'position': [0, 0.05], 'mass': 1}],
         'obstacles': [{'shape': {'kind': 'half-plane'}, 'velocity': [0.1, 0], 'belt': True}],
         'joints': [{'kind': 'spring', 'bodies': ['b', 'world'], 'from': [-0.1, 0.05], 'to': [-1, 0.05],
                     'stiffness': 100}],
         'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 3}},
        0.01, after(1, lambda s: (max(q['sensor.p.x'] for q in s) - min(q['sensor.p.x'] for q in s)) / 2))
    place, stop = 0.2, 0.1 * G / 100
    while abs(place) > stop:
        place = -(abs(place) - 2 * stop) * (1 if place > 0 else -1)
    row('dry', 'block on a spring with dry friction: where it stops (of 0.2 m)',
        {'dimension': 2, 'contact': {'mu': 0.1},
         'bodies': [{'name': 'b', 'shape': box(0.1, 0.05), 'position': [0.2, 0.05], 'mass': 1}], 'obstacles': [LINE],
         'joints': [{'kind': 'spring', 'bodies': ['b', 'world'], 'from': [0.1, 0.05], 'to': [-1, 0.05], 'rest': 0.9,
                     'stiffness': 100}],
         'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 5}}, place, last('p.x'), 0.2)


def add_tops():
    r, offset, tilt, spin = 0.02, 0.005, 0.1, 150
    inertia = 0.4 * 0.02 * (r**2 + 0.004**2)
    across = inertia + 2 * 0.02 * (offset / 2)**2

    def jellett(lines):
        def at(line):
            low, mid = [[line[f'sensor.{n}.{a}'] for a in 'xyz'] for n in ('low', 'mid')]
            w = [line['sensor.w.' + a] for a in 'xyz']
            e = [(m - l) / offset for l, m in zip(low, mid)]
            along = sum(a * b for a, b in zip(w, e))
            L = [inertia * along * a + across * (b - along * a) for a, b in zip(e, w)]
            arm = [mid[0] - (mid[0] + low[0]) / 2, mid[1] - (mid[1] + low[1]) / 2, -(mid[2] + low[2]) / 2]
            return sum(a * b for a, b in zip(L, arm))
        return at(lines[-1]) / at(lines[0])
    row('tippe top', 'ball with a weight below its centre, 150 rad/s, turns over within 1 s: Jellett\'s integral after 4 s',
        {'contact': {'mu': 0.1}, 'obstacles': [FLOOR],
         'bodies': [{'name': 'mid', 'shape': ball(r), 'position': [0, 0, r], 'rotation': {'axis': [0, 1, 0], 'angle': tilt},
                     'angular_velocity': [0, 0, spin], 'mass': 0.02, 'group': 1},
                    {'name': 'low', 'shape': ball(0.004), 'position': [-offset * sin(tilt), 0, r - offset * cos(tilt)],
                     'velocity': [0, -spin * offset * sin(tilt), 0], 'rotation': {'axis': [0, 1, 0], 'angle': tilt},
                     'angular_velocity': [0, 0, spin], 'mass': 0.02, 'group': 1}],
         'joints': [{'kind': 'fixed', 'bodies': ['mid', 'low'], 'anchor': [0, 0, r - offset]}],
         'sensors': [sensor('mid', 'position', body='mid'), sensor('low', 'position', body='low'),
                     sensor('w', 'angular_velocity', body='mid')], 'time': {'duration': 4}}, 1, jellett)
    row('egg', 'egg that spins on its side at 200 rad/s stands up: height of its centre',
        {'contact': {'mu': 0.2}, 'obstacles': [FLOOR],
         'bodies': [{'name': 'b', 'shape': {'kind': 'ellipsoid', 'semi_x': 0.02, 'semi_y': 0.02, 'semi_z': 0.03},
                     'position': [0, 0, 0.02], 'rotation': {'axis': [0, 1, 0], 'angle': pi / 2 + 0.02},
                     'angular_velocity': [0, 0, 200]}],
         'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 2}}, 0.03, last('p.z'))


# ---- impacts ------------------------------------------------------------------------------------

def add_impacts():
    speed, spin, r = 1.0, 0.0, 0.05
    for k in range(5):
        side = 1 if k % 2 == 0 else -1
        change = -2 * (speed + side * spin * r) / 3
        speed, spin = speed + change, spin + side * change / (0.5 * r)
    row('superball', 'disk with `e_n` = `e_t` = 1 between two walls, five impacts: speed along them',
        {'dimension': 2, 'gravity': [0, 0], 'contact': {'mu': 10, 'e_n': 1, 'e_t': 1},
         'bodies': [{'name': 'b', 'shape': disk(r), 'position': [0, 0.15], 'velocity': [1, -2]}],
         'obstacles': [LINE, {'shape': {'kind': 'half-plane'}, 'position': [0, 0.3], 'normal': [0, -1]}],
         'sensors': [sensor('v', 'velocity', body='b')], 'time': {'duration': 0.5}}, speed, last('v.x'))
    vh = sqrt(4 - 0.4 * G * 0.01)
    hit = (2 - vh) / (0.2 * G)
    row('draw', 'billiard ball with backspin hits another: speed at which it rolls back',
        {'materials': {'ball': {'density': 1800}, 'cloth': {}}, 'contact': {'mu': 0.2},
         'pairs': [{'between': ['ball', 'ball'], 'mu': 0, 'e_n': 1}, {'between': ['ball', 'cloth'], 'mu': 0.2}],
         'bodies': [{'name': 'a', 'shape': ball(0.03), 'position': [0, 0, 0.03], 'velocity': [2, 0, 0],
                     'angular_velocity': [0, -60, 0], 'material': 'ball'},
                    {'name': 'b', 'shape': ball(0.03), 'position': [0.07, 0, 0.03], 'material': 'ball'}],
         'obstacles': [{**FLOOR, 'material': 'cloth'}], 'sensors': [sensor('v', 'velocity', body='a')],
         'time': {'duration': 2}}, (-60 + 0.2 * G * hit / 0.012) * 0.03 * 2 / 7, last('v.x'), 2)
    row('rod', 'rod that bounces in a box, mu = 0.3, `e_n` = 1: largest energy, of that at the start',
        {'dimension': 2, 'gravity': [0, 0], 'contact': {'mu': 0.3, 'e_n': 1},
         'bodies': [{'name': 'b', 'shape': {'kind': 'segment', 'half_length': 0.2, 'radius': 0.01}, 'velocity': [1, 0.3],
                     'angular_velocity': 5}],
         'obstacles': [{'shape': {'kind': 'half-plane'}, 'position': [x, y], 'normal': [-x, -y]}
                       for x, y in ((0.5, 0), (-0.5, 0), (0, 0.5), (0, -0.5))], 'time': {'duration': 10}},
        1, lambda lines: max(line['kinetic'] for line in lines) / lines[0]['kinetic'])
    row('wall', 'ball between walls of which one comes nearer for 10 s: speed times distance, e_n = 1',
        {'dimension': 2, 'gravity': [0, 0], 'contact': {'mu': 0, 'e_n': 1},
         'bodies': [{'name': 'b', 'shape': disk(0.02), 'position': [0.5, 0], 'velocity': [5, 0]}],
         'obstacles': [{'shape': {'kind': 'half-plane'}, 'normal': [1, 0]},
                       {'shape': {'kind': 'half-plane'}, 'position': [1.04, 0], 'normal': [-1, 0],
                        'velocity': [-0.05, 0]}],
         'sensors': [sensor('v', 'velocity', body='b')], 'time': {'duration': 10}},
        5, lambda lines: abs(lines[-1]['sensor.v.x']) * 0.5)
    for e, gap in ((1, 1e-5), (1, 1e-4), (1, 1e-3), (1, 1e-2), (0.8, 1e-4), (0.5, 1e-4)):
        v, part = sqrt(2 * G), 125 / 126
        row(f'cannon {gap:g} {e:g}',
            f'ball on a five times larger one, {gap:g} m above it, fall by 1 m, `e_n` = {e:g}: its speed',
            {'contact': {'mu': 0, 'e_n': e}, 'obstacles': [FLOOR],
             'bodies': [{'name': 'B', 'shape': ball(0.1), 'position': [0, 0, 1.1]},
                        {'name': 's', 'shape': ball(0.02), 'position': [0, 0, 1.22 + gap]}],
             'sensors': [sensor('v', 'velocity', body='s')], 'time': {'duration': 0.6}},
            -v + (1 + e)**2 * v * part, lambda lines: max(line['sensor.v.z'] for line in lines))
    row('height field', 'ball in a shallow bowl of triangles of 1 cm: amplitude after two swings (of 0.1 m)',
        {'contact': {'mu': 0.5}, 'bodies': [{'name': 'b', 'shape': ball(0.05), 'position': [0.1, 0, 0.0553]}],
         'obstacles': [{'shape': {'kind': 'height-field', 'expression': '0.5*(x^2+y^2)', 'size': [1, 1],
                                  'count': [100, 100]}}],
         'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 5}},
        None, after(3.5, lambda s: max(q['sensor.p.x'] for q in s)))


# ---- machines -----------------------------------------------------------------------------------

def add_machines():
    slope, mu, m, wheel, l, high, r = 0.1, 0.3, 10, 1, 0.4, 0.2, 0.1
    mass = m + 2.5 * wheel
    weight, heights = (m + 2 * wheel) * G, m * high + 2 * wheel * r
    turning = heights + wheel * r / 2
    load = (l * weight * cos(slope) - turning * weight * sin(slope) / mass + heights * G * sin(slope)) / (
        2 * l - turning * mu / mass)
    cart = {'dimension': 2, 'contact': {'mu': mu}, 'gravity': [-G * sin(slope), -G * cos(slope)],
            'bodies': [{'name': 'body', 'shape': box(0.5, 0.05), 'position': [0, high], 'mass': m},
                       {'name': 'rear', 'shape': disk(r), 'position': [-l, r], 'mass': wheel},
                       {'name': 'front', 'shape': disk(r), 'position': [l, r], 'mass': wheel}],
            'obstacles': [LINE],
            'joints': [{'kind': 'hinge', 'bodies': ['rear', 'body'], 'anchor': [-l, r], 'motor': {'velocity': -200}},
                       {'kind': 'hinge', 'bodies': ['front', 'body'], 'anchor': [l, r]}],
            'sensors': [sensor('f', 'force', body='rear')], 'time': {'duration': 1}}
    row('cart', 'cart on a slope, its rear wheel spins: load of that wheel, worst of all steps',
        cart, load, after(0.2, lambda s: max((q['sensor.f.y'] for q in s), key=lambda f: abs(f - load))))
    wheels = [(f'w{i}{j}', 0.8 * i, 0.6 * j) for i in (-1, 1) for j in (-1, 1)]
    row('brakes', 'car of 800 kg, four wheels of 20 kg braked by 200 N m each, from 10 m/s: way until it stands',
        {'contact': {'mu': 0.8}, 'obstacles': [FLOOR],
         'bodies': [{'name': 'c', 'shape': box(1, 0.5, 0.2), 'position': [0, 0, 0.6], 'velocity': [10, 0, 0], 'mass': 800}] + [
             {'name': n, 'shape': {'kind': 'cylinder', 'radius': 0.3, 'half_length': 0.1}, 'position': [x, y, 0.3],
              'rotation': {'axis': [1, 0, 0], 'angle': pi / 2}, 'velocity': [10, 0, 0],
              'angular_velocity': [0, 10 / 0.3, 0], 'mass': 20} for n, x, y in wheels],
         'joints': [{'kind': 'hinge', 'bodies': [n, 'c'], 'anchor': [x, y, 0.3], 'axis': [0, 1, 0], 'friction': 200}
                    for n, x, y in wheels],
         'sensors': [sensor('p', 'position', body='c')], 'time': {'duration': 4}},
        50 * 920 / (800 / 0.3), last('p.x'))
    row('cam', 'follower on a cam: force at the highest point',
        {'dimension': 2, 'contact': {'mu': 0.1},
         'bodies': [{'name': 'f', 'shape': box(0.2, 0.01), 'position': [0, 0.08], 'mass': 1}],
         'obstacles': [{'shape': disk(0.1), 'position': [0, -0.03],
                        'velocity': ['0.15*cos(5*t)', '0.15*sin(5*t)']}],
         'joints': [{'kind': 'slider', 'bodies': ['f', 'world'], 'anchor': [0, 0], 'axis': [0, 1]}],
         'sensors': [sensor('f', 'force', body='f')], 'time': {'duration': 1}},
        G - 0.03 * 25, lambda lines: min(lines, key=lambda q: abs(q['time'] - pi / 5))['sensor.f.y'])
    row('shaker', 'block on a table that shakes at 1.83 g: greatest height over its rest (of 5 mm amplitude)',
        {'dimension': 2, 'contact': {'mu': 0.5},
         'bodies': [{'name': 'b', 'shape': box(0.05, 0.05), 'position': [0, 0.05]}],
         'obstacles': [{'shape': {'kind': 'half-plane'}, 'velocity': [0, '0.3*cos(60*t)']}],
         'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 0.12}},
        G / 3600 + (0.3 * cos(asin(G / 18)))**2 / (2 * G), lambda lines: max(q['sensor.p.y'] for q in lines) - 0.05)


# ---- soft bodies --------------------------------------------------------------------------------

def stretch(mu):
    """Of a soft cube under 2000 Pa between two plates, along the pressure. Friction acts at the corners, along the
    diagonals; with mu = 1 they stick."""
    first, second, pressure = 1e5 * 0.3 / (1.3 * 0.4), 1e5 / 2.6, 2000  # Lame's constants
    across = along = 1
    for _ in range(500):
        trace = across**2 - 1 + (along**2 - 1) / 2
        if mu < 1:
            across -= (across * (first * trace + second * (across**2 - 1)) + pressure * mu / sqrt(2)) / 4e5
        along -= (along * (first * trace + second * (along**2 - 1)) + pressure) / 4e5
    return along


def add_soft():
    for young in (1e5, 1e6, 1e7):
        row(f'balls {young:g}', f'two soft balls ({young:g} Pa) meet off centre at 1 m/s: energy that is left',
            {'gravity': [0, 0, 0], 'materials': {'m': {'young': young, 'poisson': 0.3}}, 'contact': {'mu': 0.3},
             'bodies': [{'name': n, 'kind': 'pseudo-rigid', 'shape': ball(0.05), 'position': p, 'velocity': v}
                        for n, p, v in (('a', [-0.1, 0, 0], [1, 0, 0]), ('b', [0.1, 0.03, 0], [-1, 0, 0]))],
             'time': {'duration': 0.3}}, None, left, 1, True)
        row(f'bounce {young:g}', f'a soft ball ({young:g} Pa) falls by 0.1 m: height to which it returns',
            {'materials': {'m': {'young': young, 'poisson': 0.3}}, 'contact': {'mu': 0}, 'obstacles': [FLOOR],
             'bodies': [{'name': 'b', 'kind': 'pseudo-rigid', 'shape': ball(0.05), 'position': [0, 0, 0.15]}],
             'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 0.3}},
            None, after(0.16, lambda s: max(q['sensor.p.z'] for q in s) - 0.05), 0.1, True)
    row('block', 'a block of 27 soft elements (0.1 MPa) falls by 0.1 m: height to which it returns',
        {'materials': {'m': {'young': 1e5, 'poisson': 0.3}}, 'contact': {'mu': 0}, 'obstacles': [FLOOR],
         'bodies': [{'name': 'b', 'kind': 'elements', 'position': [0, 0, 0.15],
                     'shape': {'kind': 'elements', 'half_x': 0.05, 'half_y': 0.05, 'half_z': 0.05, 'divisions': [3, 3, 3]}}],
         'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 0.5}},
        None, after(0.25, lambda s: max(q['sensor.p.z'] for q in s) - 0.05), 0.1, True)
    for mu, text in ((0, 'slippery plates'), (0.3, 'plates of mu = 0.3'), (1, 'rough plates')):
        e = stretch(mu) - 1
        row(f'press {text}', f'soft cube between {text}, 20 N: way of the plate',
            {'gravity': [0, 0, 0], 'materials': {'m': {'young': 1e5, 'poisson': 0.3, 'damping': 0.02}},
             'contact': {'mu': mu}, 'obstacles': [FLOOR],
             'bodies': [{'name': 'b', 'kind': 'pseudo-rigid', 'shape': box(0.05, 0.05, 0.05), 'position': [0, 0, 0.05]}],
             'plates': [{'name': 'lid', 'point': [0, 0, 0.1], 'normal': [0, 0, -1], 'length': 0.2, 'mass': 1,
                         'force': 'min(t/0.5,1)*20'}],
             'sensors': [sensor('p', 'position', body='lid')], 'time': {'duration': 1}},
            0.1 * e, lambda lines: lines[-1]['sensor.p.z'] - lines[0]['sensor.p.z'], None, True)


def height_of_stack():
    """Four cubes of 0.1 m and 100 kPa on each other: where the centre of the uppermost one is. Each has the mean stress of its
    middle, and the stretch l of St Venant and Kirchhoff's material, l (l^2 - 1) / 2 = stress / E."""
    height = 0
    for k in range(4):
        strain, l = (3.5 - k) * 1000 * 0.1 * G / 1e5, 1.0
        for _ in range(50):
            l -= (l * (l**2 - 1) / 2 + strain) / ((3 * l**2 - 1) / 2)
        height += 0.1 * l if k < 3 else 0.05 * l
    return height


def add_soft_bodies():
    def elements(length, count):
        return {'kind': 'elements', 'half_x': length / 2, 'half_y': 0.01, 'half_z': 0.01, 'divisions': [count, 1, 1]}
    row('bars', 'a bar of ten soft elements hits one that is twice as long: speed of the long one',
        {'gravity': [0, 0, 0], 'materials': {'m': {'young': 1e6, 'poisson': 0}}, 'contact': {'mu': 0},
         'bodies': [{'name': 'a', 'kind': 'elements', 'shape': elements(0.1, 10), 'position': [-0.06, 0, 0],
                     'velocity': [0.5, 0, 0]},
                    {'name': 'b', 'kind': 'elements', 'shape': elements(0.2, 20), 'position': [0.11, 0, 0]}],
         'sensors': [sensor('v', 'velocity', body='b')], 'time': {'duration': 0.08}}, 0.25, last('v.x'), None, True)
    a = pi / 6
    for kind, shape in (('pseudo-rigid', box(0.05, 0.05, 0.05)),
                        ('elements', {'kind': 'elements', 'half_x': 0.05, 'half_y': 0.05, 'half_z': 0.05,
                                      'divisions': [2, 2, 2]})):
        row(f'soft slope {kind}', f'a soft cube (0.1 MPa, `{kind}`) slides down 30 degrees, mu = 0.3: way in 0.5 s',
            {'gravity': [G * sin(a), 0, -G * cos(a)], 'contact': {'mu': 0.3}, 'obstacles': [FLOOR],
             'materials': {'m': {'young': 1e5, 'poisson': 0.3, 'damping': 0.02}},
             'bodies': [{'name': 'b', 'kind': kind, 'shape': shape, 'position': [0, 0, 0.05]}],
             'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 0.5}},
            0.125 * G * (sin(a) - 0.3 * cos(a)), last('p.x'), None, True)
    row('soft stack', 'four soft cubes (0.1 MPa) on each other: height of the centre of the uppermost one',
        {'materials': {'m': {'young': 1e5, 'poisson': 0, 'damping': 0.01}}, 'contact': {'mu': 0.3}, 'obstacles': [FLOOR],
         'bodies': [{'name': f'b{k}', 'kind': 'pseudo-rigid', 'shape': box(0.05, 0.05, 0.05), 'position': [0, 0, 0.05 + 0.1 * k]}
                    for k in range(4)],
         'sensors': [sensor('p', 'position', body='b3')], 'time': {'duration': 2}}, height_of_stack(), last('p.z'), None, True)
    radius, young, force = 0.05, 1e6, 20
    row('pressed ball', 'a soft ball (1 MPa) between plates, 20 N: way of the plate',
        {'gravity': [0, 0, 0], 'materials': {'m': {'young': young, 'poisson': 0.3, 'damping': 0.01}}, 'contact': {'mu': 0},
         'obstacles': [FLOOR],
         'bodies': [{'name': 'b', 'kind': 'pseudo-rigid', 'shape': ball(radius), 'position': [0, 0, radius]}],
         'plates': [{'name': 'lid', 'point': [0, 0, 2 * radius], 'normal': [0, 0, -1], 'length': 0.2, 'mass': 1,
                     'force': f'min(t/0.5,1)*{force}'}],
         'sensors': [sensor('p', 'position', body='lid')], 'time': {'duration': 1.5}},
        -force * 4 * radius**2 / (4 / 3 * pi * radius**3 * young),
        lambda lines: lines[-1]['sensor.p.z'] - lines[0]['sensor.p.z'], None, True)
    row('e_n', 'a soft ball (1 MPa) hits a rigid one, `e_n` = 0.5: energy that is left',
        {'gravity': [0, 0, 0], 'materials': {'m': {'young': 1e6, 'poisson': 0.3}}, 'contact': {'mu': 0.3, 'e_n': 0.5},
         'bodies': [{'name': 'a', 'kind': 'pseudo-rigid', 'shape': ball(0.05), 'position': [-0.1, 0, 0],
                     'velocity': [1, 0, 0]},
                    {'name': 'b', 'shape': ball(0.05), 'mass': 4 / 3 * pi * 0.125, 'position': [0.1, 0.03, 0],
                     'velocity': [-1, 0, 0]}], 'time': {'duration': 0.2}}, None, left, 1, True)


# ---- runs ---------------------------------------------------------------------------------------

def run(scene, folder, **time):
    path = os.path.join(folder, 'scene.yaml')
    with open(path, 'w') as file:
        json.dump({**scene, 'time': {**scene['time'], **time}}, file)
    done = subprocess.run([SCREE, 'run', path, '-o', os.path.join(folder, 'run'), '--force', '--json', '-j', '1'],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode > 1:
        sys.exit(f'{path}: status {done.returncode}')
    with open(os.path.join(folder, 'run', 'telemetry.jsonl')) as file:
        lines = [json.loads(line) for line in file]
    return json.loads(done.stdout.splitlines()[-1]), lines


def cells(name, text, scene, answer, measured, scale, deforms):
    with tempfile.TemporaryDirectory() as folder:
        results = [run(scene, folder)]
        h = max(line['h'] for line in results[0][1])
        results.append(run(scene, folder, step=h / 2))
        if answer is None:
            answer = measured(run(scene, folder, step=h / 64)[1])
            known = f'{answer:.5g} (fine)'
        else:
            known = f'{answer:.5g}'
        if not deforms:
            results.append(run(scene, folder, scheme='euler'))
        off = [f'{100 * (measured(lines) - answer) / abs(scale or answer):+.3f}' for _, lines in results]
        missed = [str(info['steps_above']) for info, _ in results]
        created = results[0][0]['energy_created']
        return [text, known] + (off + ['–'])[:3] + [
            'none' if not any(map(int, missed)) else ', '.join(missed), f'{100 * created:.2g}', str(results[0][0]['steps'])]


# ---- bodies that slide, swing and turn ----------------------------------------------------------

def add_motions():
    mu = 0.3
    row('plate', 'box on a plate that accelerates at 5 m/s2, mu = 0.3: speed after 1 s',
        {'dimension': 2, 'contact': {'mu': mu},
         'bodies': [{'name': 'b', 'shape': box(0.1, 0.05), 'position': [0, 0.05]}],
         'obstacles': [{'shape': box(20, 0.5), 'position': [0, -0.5], 'velocity': ['5*t', 0]}],
         'sensors': [sensor('v', 'velocity', body='b')], 'time': {'duration': 1}}, mu * G, last('v.x'))
    a, M, m, high = 0.5, 2, 1, 0.3
    long = high / tan(a)
    row('wedge', 'block slides down a movable wedge without friction: speed of the wedge after 0.2 s',
        {'dimension': 2, 'contact': {'mu': 0}, 'obstacles': [LINE],
         'bodies': [{'name': 'w', 'position': [0, high / 3], 'mass': M,
                     'shape': {'kind': 'polygon', 'vertices': [[-long / 3, -high / 3], [2 * long / 3, -high / 3],
                                                               [-long / 3, 2 * high / 3]]}},
                    {'name': 'b', 'shape': box(0.02, 0.02), 'mass': m, 'angle': -a,
                     'position': [-long / 3 + 0.1 * cos(a) + 0.02 * sin(a), high - 0.1 * sin(a) + 0.02 * cos(a)]}],
         'sensors': [sensor('v', 'velocity', body='w')], 'time': {'duration': 0.2}},
        -0.2 * m * G * sin(a) * cos(a) / (M + m * sin(a)**2), last('v.x'))
    arm, swing, e = 0.5, 0.5, 0.7

    def rebound(lines):
        hit = [line['time'] for line in lines if line['sensor.v.x'] > 0][0]
        return max(line['sensor.p.x'] for line in lines if hit < line['time'] < hit + 1)
    row('pendulum', 'pendulum hits a wall at its lowest point, `e_n` = 0.7: largest deflection after that',
        {'dimension': 2, 'contact': {'mu': 0, 'e_n': e},
         'bodies': [{'name': 'b', 'shape': disk(0.05), 'position': [arm * sin(swing), -arm * cos(swing)], 'mass': 1}],
         'obstacles': [{'name': 'wall', 'shape': {'kind': 'half-plane'}, 'position': [-0.05, 0], 'normal': [1, 0]}],
         'joints': [{'kind': 'hinge', 'bodies': ['b', 'world'], 'anchor': [0, 0]}],
         'sensors': [sensor('p', 'position', body='b'), sensor('v', 'velocity', body='b')], 'time': {'duration': 1.5}},
        arm * sin(2 * asin(sin(swing / 2) * e)), rebound)
    turn = G * 0.2 / (0.005 * 200)
    row('gyroscope', 'disk of 0.1 m at 200 rad/s on a ball joint 0.2 m away: precession in 0.5 s',
        {'bodies': [{'name': 'b', 'shape': {'kind': 'cylinder', 'radius': 0.1, 'half_length': 0.01}, 'mass': 1,
                     'position': [0.2, 0, 0], 'rotation': {'axis': [0, 1, 0], 'angle': pi / 2},
                     'angular_velocity': [200, 0, turn], 'velocity': [0, 0.2 * turn, 0]}],
         'joints': [{'kind': 'ball', 'bodies': ['b', 'world'], 'anchor': [0, 0, 0]}],
         'sensors': [sensor('p', 'position', body='b')], 'time': {'duration': 0.5}},
        turn * 0.5, lambda lines: atan(lines[-1]['sensor.p.y'] / lines[-1]['sensor.p.x']))
    row('backspin', 'ball with a spin of 100 rad/s falls by 0.5 m, mu = 0.2, `e_n` = 0.8: speed sideways',
        {'contact': {'mu': 0.2, 'e_n': 0.8}, 'obstacles': [FLOOR],
         'bodies': [{'name': 'b', 'shape': ball(0.05), 'position': [0, 0, 0.55], 'angular_velocity': [0, 100, 0]}],
         'sensors': [sensor('v', 'velocity', body='b')], 'time': {'duration': 0.5}},
        0.2 * 1.8 * sqrt(G), last('v.x'))
    damped, own = 0.1, 100
    row('compliant', 'ball of 1 kg meets a compliant plane (10 kN/m, `damping` 2 ms) at 1 m/s: speed after',
        {'gravity': [0, 0, 0], 'obstacles': [FLOOR],
         'contact': {'law': 'compliant', 'mu': 0, 'compliance_n': 1 / own**2, 'damping': 2 * damped / own},
         'bodies': [{'name': 'b', 'shape': ball(0.05), 'position': [0, 0, 0.06], 'velocity': [0, 0, -1], 'mass': 1}],
         'sensors': [sensor('v', 'velocity', body='b')], 'time': {'duration': 0.2}},
        exp(-damped / sqrt(1 - damped**2) * 2 * acos(damped)), last('v.z'))


HEAD = """# Small scenes with known answers

Each row is a small scene whose result is known from a formula, or from the same scene run with the step h/64 (marked
"fine"). The scenes run at all defaults with the automatic step h and with h/2, and with the scheme `euler` at h.

- answer: the known result, in SI units
- h, h/2, `euler`: difference of the measured result from it, in percent of the answer, or of the scale in parentheses; a
  dash where the scheme `euler` is not run, since bodies deform
- steps not certified: their number in each of these runs, or "none"
- created: energy created by the discretisation at h, in percent of the energy turned over
- steps: number of steps at h

To make this page again: `scripts/known.py`.

| scene | answer | h | h/2 | `euler` | steps not certified | created | steps |
|---|---:|---:|---:|---:|---|---:|---:|
"""

TAIL = """
Ball in a bowl of triangles (a height field): the ball crosses an edge between triangles eighty times. Its impact on the next
triangle begins up to one step early, and the energy lost by this is of first order in the step. Steps are cut
at impacts only if the energy concerned exceeds a thousandth of the energy of the world ([PHYSICS](../PHYSICS.md#time)), and
that of each of these impacts is smaller. The loss at the finest step is the one that the edges themselves cause.

Ball on a larger ball (six rows): both fall together, and the upper one crosses the gap within a small part of a step after
the lower one has hit the floor. `moreau-jean` cuts the step there ([PHYSICS](../PHYSICS.md#time)). With `euler`, which does
not, the upper one leaves with the speed of the lower.

Impacts of soft bodies (seven rows): steps are divided while a body is hit, into parts of about the same length at h and at h/2
([PHYSICS](../PHYSICS.md#time-integration-of-deformable-bodies)). The rows therefore hardly differ.

A soft ball with `e_n` = 0.5: the law of restitution acts on the part of the ball that is touched, and parts of steps
are too long for it by 3 to 6 % of the energy. At steps that are a half, a quarter and an eighth of these parts 0.624, 0.632 and
0.619 of the energy are left.

Bars of finite elements: the masses of the nodes that touch lose their energy, which falls with the size of the elements.

Soft cube between plates (three rows): to stick, each corner needs a friction force of 0.61 of its share of the load. For
mu from 0.5 to 0.7 the load of each corner matters, which is not unique ([PHYSICS](../PHYSICS.md#forces-that-are-not-unique)):
corners with less load slide first. At mu = 0.65 all steps of five solvers are certified, with different results: the cube is
shorter than with equal loads by 0.0 % with `pqn`, 2.7 % with `newton`, 2.8 % with `ipm` and at defaults, and 4.4 % with
`lemke`. At defaults this depends little on the step (3.3 % at a quarter of it) and the tolerance (2.9 % at 1e-8): the loads
are unequal from the first step on.

Ball on a compliant plane: the contact lasts three steps. The automatic step does not know the stiffness of contacts. For
their restitution choose a step that is short compared with 1/ω ([LAWS](../LAWS.md#elastic-contacts-and-damping)).
"""


def main():
    for add in (add_rolling, add_tops, add_impacts, add_machines, add_soft, add_soft_bodies, add_motions):
        add()
    table = []
    for r in ROWS:
        if sys.argv[1:] and not any(name in r[0] for name in sys.argv[1:]):
            continue
        table.append('| ' + ' | '.join(cells(*r)) + ' |')
        print(table[-1], flush=True)
    if not sys.argv[1:]:
        with open(os.path.join(ROOT, 'docs', 'validation', 'known.md'), 'w') as file:
            file.write(HEAD + '\n'.join(table) + '\n' + TAIL)


if __name__ == '__main__':
    main()

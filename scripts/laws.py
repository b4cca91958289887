#!/usr/bin/env python3
"""The pictures of docs/LAWS.md and of bonds in docs/JOINTS.md, from the program's own results.

Sets are drawn by the projection of the library (scree_set_project), curves are runs of small scenes.
Usage: scripts/laws.py [BUILD]    writes docs/images/law-*.svg
"""
import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build")
IMAGES = os.path.join(ROOT, "docs", "images")


class Set(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("mu", ctypes.c_double), ("a", ctypes.c_double), ("b", ctypes.c_double)]


CONE, SHIFTED, CONE_BALL, CAPPED, ROLLING = 0, 1, 2, 3, 7
library = ctypes.CDLL(os.path.join(BUILD, "lib", "libscree-solver.so"))


def project(kind, mu, a, b, x):
    d = len(x)
    point = (ctypes.c_double * d)(*x)
    out = (ctypes.c_double * d)()
    library.scree_set_project(ctypes.byref(Set(kind, mu, a, b)), d, point, out)
    return list(out)


def boundary(kind, mu, a=0.0, b=0.0, reach=30.0, turns=2000):
    """Points of the set's boundary: far points all round, projected."""
    points = []
    for k in range(turns + 1):
        angle = -math.pi + 2 * math.pi * k / turns
        points.append(project(kind, mu, a, b, [reach * math.cos(angle), reach * math.sin(angle)]))
    return points


def run(scene):
    """The telemetry of a scene, a list of dictionaries."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.yaml")
        with open(path, "w") as file:
            json.dump(scene, file)
        subprocess.run([os.path.join(BUILD, "scree"), "run", path, "-o", os.path.join(folder, "out")],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(folder, "out", "telemetry.jsonl")) as file:
            return [json.loads(line) for line in file if line.strip()]


def ticks(low, high):
    """Round numbers other than 0 between low and high, about four of them."""
    step = 10 ** math.floor(math.log10((high - low) / 3))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= 5)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1) if k]


class Picture:
    """One or more frames with axes through zero, side by side."""

    def __init__(self, frames, width=300, height=220):
        self.size = (width, height)
        self.text = []
        self.frames = frames

    def draw(self, index, title, x_label, y_label, box, curves, notes=()):
        width, height = self.size
        left = index * width
        x0, x1, y0, y1 = box

        def at(x, y):
            return left + 36 + (x - x0) / (x1 - x0) * (width - 56), height - 34 - (y - y0) / (y1 - y0) * (height - 70)

        add = self.text.append
        add(f'<clipPath id="c{index}"><rect x="{left + 30}" y="30" width="{width - 44}" height="{height - 58}"/></clipPath>')
        ox, oy = at(max(x0, min(0, x1)), max(y0, min(0, y1)))
        add(f'<path d="M{left + 30} {oy:.1f}H{left + width - 12}M{ox:.1f} 30V{height - 28}" stroke="#999" fill="none"/>')
        add(f'<text x="{left + width / 2}" y="16" text-anchor="middle" font-weight="bold">{title}</text>')
        for points, style in curves:
            path = "M" + "L".join("%.1f %.1f" % at(x, y) for x, y in points)
            add(f'<path d="{path}" {style} clip-path="url(#c{index})"/>')
        add(f'<text x="{left + width - 12}" y="{oy - 5:.1f}" text-anchor="end">{x_label}</text>')
        add(f'<text x="{ox + 5:.1f}" y="38">{y_label}</text>')
        for value in ticks(x0, x1):
            px, _ = at(value, 0)
            add(f'<path d="M{px:.1f} {oy - 3:.1f}v6" stroke="#999"/>'
                f'<text x="{px:.1f}" y="{oy + 13:.1f}" text-anchor="middle" fill="#666" font-size="9">{value:g}</text>')
        for value in ticks(y0, y1):
            _, py = at(0, value)
            add(f'<path d="M{ox - 3:.1f} {py:.1f}h6" stroke="#999"/>'
                f'<text x="{ox - 5:.1f}" y="{py + 3:.1f}" text-anchor="end" fill="#666" font-size="9">{value:g}</text>')
        for x, y, text in notes:
            px, py = at(x, y)
            add(f'<text x="{px:.1f}" y="{py:.1f}" fill="#1d4f91">{text}</text>')

    def write(self, name):
        width, height = self.size
        with open(os.path.join(IMAGES, f"law-{name}.svg"), "w") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * self.frames}" height="{height}" '
                       f'viewBox="0 0 {width * self.frames} {height}" font-family="sans-serif" font-size="11">\n'
                       '<rect width="100%" height="100%" fill="white"/>\n')
            file.write("\n".join(self.text) + "\n</svg>\n")


FILLED = 'fill="#c9dcf2" stroke="#1d4f91" stroke-width="1.5"'
LINE = 'fill="none" stroke="#1d4f91" stroke-width="1.5"'
THIN = 'fill="none" stroke="#b5654a" stroke-width="1.2" stroke-dasharray="4 3"'


def sets():
    picture = Picture(4, 240, 220)
    box = (-1.5, 4, -2.5, 2.5)
    for k, (title, arguments, notes) in enumerate([
            ("cone", (CONE, 0.5), [(2.2, 1.6, "f_T = μ f_n")]),
            ("cohesion c", (SHIFTED, 0.5, 1.0), [(-1.3, -0.5, "−c")]),
            ("ball d", (CONE_BALL, 0.5, 0.7), [(-1.1, -0.5, "−d")]),
            ("cap r, ball d", (CAPPED, 0.5, 0.5, 2.0), [(2.0, -0.3, "r + d")])]):
        picture.draw(k, title, "f_n", "f_T", box, [(boundary(*arguments), FILLED)], notes)
    picture.write("sets")


def is_inside(point):
    return all(abs(a - b) <= 1e-12 for a, b in zip(project(ROLLING, 0.5, 0.2, 0.0, point), point))


def edge(direction):
    """How far the rolling set reaches along (f_T, m) from (1, 0, 0), by bisection."""
    low, high = 0.0, 2.0
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        if is_inside([1.0, middle * direction[0], middle * direction[1]]):
            low = middle
        else:
            high = middle
    return low * direction[0], low * direction[1]


def rolling_set():
    picture = Picture(2, 260, 220)
    cut = [edge((math.cos(math.pi * k / 360), math.sin(math.pi * k / 360))) for k in range(721)]
    picture.draw(0, "at f_n = 1", "f_T", "m / R", (-0.8, 0.8, -0.5, 0.5), [(cut, FILLED)])
    side = []
    for k in range(721):
        angle = math.pi * k / 360
        x = project(ROLLING, 0.5, 0.2, 0.0, [30 * math.cos(angle), 0.0, 30 * math.sin(angle)])
        side.append((x[0], x[2]))
    picture.draw(1, "moment and normal force", "f_n", "m / R", (-0.5, 3, -0.9, 0.9), [(side, FILLED)],
                 [(1.2, 0.55, "μ_r f_n")])
    picture.write("rolling")


def cycle_scene(**law):
    times = [0, 0.25, 0.5, 0.75, 1]
    heights = [0, -3.1e-4, 2.1e-4, -5.1e-4, 1.1e-4]
    return {
        "gravity": [0, 0, 0],
        "contact": dict(law="compliant", **law),
        "obstacles": [{"name": "plane", "shape": {"kind": "half-space"}}],
        "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.1}, "position": [0, 0, 0.1], "density": 1000}],
        "joints": [{"kind": "slider", "bodies": ["ball", "plane"], "anchor": [0, 0, 0.1], "axis": [0, 0, 1], "collide": True,
                    "motor": {"position": {"times": times, "values": heights}}}],
        "sensors": [{"kind": "force", "name": "f", "body": "ball"}, {"kind": "position", "name": "x", "body": "ball"}],
        "time": {"step": 1e-3, "duration": 1.0, "scheme": "euler"},
    }


def cycles():
    picture = Picture(3, 300, 220)
    box = (-0.6, 0.3, -80, 200)
    for k, (title, law) in enumerate([
            ("d: rigid, strength in tension and compression", dict(ball=50, cap=100)),
            ("e: compliant, strength in tension", dict(compliance_n=1e-6, ball=50)),
            ("f: compliant, both", dict(compliance_n=1e-6, ball=50, cap=100))]):
        rows = run(cycle_scene(**law))
        points = [(1e3 * (r["sensor.x.z"] - 0.1), r["sensor.f.z"]) for r in rows]
        picture.draw(k, title, "y (mm)", "f (N)", box if k != 1 else (-0.6, 0.3, -80, 500), [(points, LINE)])
    picture.write("cycle")


def bounce():
    picture = Picture(1, 420, 240)
    curves = []
    for damping, style in ((0.0, THIN), (2e-4, LINE)):
        rows = run({"contact": {"law": "compliant", "mu": 0.5, "compliance_n": 1e-6, "damping": damping},
                    "obstacles": [{"shape": {"kind": "half-space"}}],
                    "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.1}, "position": [0, 0, 0.1], "density": 1000}],
                    "sensors": [{"kind": "position", "name": "x", "body": "ball"}],
                    "time": {"step": 2e-5, "duration": 0.05}})
        curves.append(([(1e3 * r["time"], 1e6 * (r["sensor.x.z"] - 0.1)) for r in rows], style))
    weight = 1000 * 4 / 3 * math.pi * 1e-3 * 9.81
    curves.append(([(0, -weight), (50, -weight)], 'stroke="#999" fill="none"'))
    picture.draw(0, "a sphere set on a compliant plane (dashed: without damping)", "t (ms)", "y (μm)",
                 (0, 50, -95, 10), curves, [(36, -weight + 3, "−W/K")])
    picture.write("bounce")


def stop():
    picture = Picture(1, 420, 240)
    curves = []
    for rolling, style in ((0.1, LINE), (0.2, THIN)):
        rows = run({"dimension": 2, "gravity": [0, -10],
                    "contact": {"mu": 0.5, "rolling": rolling},
                    "obstacles": [{"shape": {"kind": "half-plane"}}],
                    "bodies": [{"name": "disk", "shape": {"kind": "disk", "radius": 0.1}, "position": [0, 0.1],
                                "velocity": [1, 0], "angular_velocity": -10}],
                    "sensors": [{"kind": "velocity", "name": "v", "body": "disk"}],
                    "time": {"step": 1e-3, "duration": 2.0}})
        curves.append(([(r["time"], r["sensor.v.x"]) for r in rows], style))
    picture.draw(0, "a rolling disk stops: μ_r = 0.1, dashed 0.2", "t (s)", "v (m/s)", (0, 2, 0, 1.1), curves)
    picture.write("stop")


def bond():
    """The limit of a bond's force, and the force of a bond of 9 N under 10 N that breaks after 10 mm."""
    rows = run({"dimension": 2, "gravity": [0, -10],
                "obstacles": [{"name": "post", "shape": {"kind": "disk", "radius": 0.1}}],
                "bodies": [{"name": "ball", "shape": {"kind": "disk", "radius": 0.1}, "mass": 1, "position": [0, -0.2]}],
                "joints": [{"name": "glue", "kind": "bond", "bodies": ["ball", "post"], "anchor": [0, -0.1],
                            "axis": [0, -1], "tension": 9, "shear": 9, "break_at": 0.01}],
                "sensors": [{"kind": "joint_force", "name": "f", "joint": "glue"},
                            {"kind": "position", "name": "x", "body": "ball"}],
                "time": {"step": 1e-3, "duration": 0.2}})
    picture = Picture(2, 320, 220)
    picture.draw(0, "force of a bond", "f_n / T", "f_T / S", (-1.6, 2.5, -3, 3),
                 [(boundary(SHIFTED, 1.0, 1.0), FILLED)], [(-1.3, 0.3, "−T"), (-0.4, 1.3, "S")])
    picture.draw(1, "drawn out: T = 9 N, break_at 10 mm", "way (mm)", "f (N)", (0, 20, 0, 10.5),
                 [([(0, 0)] + [(1e3 * (-0.2 - r["sensor.x.y"]), r["sensor.f.y"]) for r in rows], LINE)])
    picture.write("bond")


def slider(joint, load=None, velocity=0.0, duration=2.0):
    """A block of 1 kg on a slider along x with the given drive: telemetry of x, v and the effort of the joint."""
    scene = {"dimension": 2, "gravity": [0, 0],
             "bodies": [{"name": "block", "shape": {"kind": "disk", "radius": 0.1}, "mass": 1, "position": [0, 0],
                         "velocity": [velocity, 0]}],
             "joints": [dict({"kind": "slider", "name": "rail", "bodies": ["block", "world"], "anchor": [0, 0],
                              "axis": [1, 0]}, **joint)],
             "sensors": [{"kind": "joint_position", "name": "x", "joint": "rail"},
                         {"kind": "velocity", "name": "v", "body": "block"},
                         {"kind": "joint_effort", "name": "f", "joint": "rail"}],
             "time": {"step": 1e-3, "duration": duration}}
    if load:
        scene["forces"] = [{"body": "block", "force": [load, 0]}]
    return run(scene)


def drives():
    """What acts on the free coordinate of a joint: runs of a block on a slider."""
    picture = Picture(4, 250, 220)
    rows = slider({"motor": {"velocity": 1, "force": 5}}, "-2 - 6*min(1, max(0, 1000*(t - 1)))")
    picture.draw(0, "motor: 1 m/s, limit 5 N", "t (s)", "v (m/s)", (0, 2, -2.2, 1.5),
                 [([(r["time"], r["sensor.v.x"]) for r in rows], LINE)],
                 [(0.1, 1.15, "load 2 N"), (1.0, -0.6, "8 N")])
    rows = slider({"friction": 3}, "4*t")
    picture.draw(1, "dry friction 3 N, pulled by 4t N", "v (m/s)", "f (N)", (-0.5, 1.5, -4, 4),
                 [([(r["sensor.v.x"], r["sensor.f"]) for r in rows], LINE)], [(0.4, -2.2, "slides"), (-0.4, -1, "holds")])
    rows = slider({"upper": 0.5, "lower": -0.2, "restitution": 0.5}, None, 1.0, 3.0)
    picture.draw(2, "stops at 0.5 and −0.2, e = 0.5", "t (s)", "x (m)", (0, 3, -0.4, 0.7),
                 [([(r["time"], r["sensor.x"]) for r in rows], LINE)])
    rows = slider({"stiffness": 50, "damping": 1.5}, None, 1.0, 3.0)
    picture.draw(3, "spring 50 N/m, damper 1.5 N s/m", "t (s)", "x (m)", (0, 3, -0.15, 0.15),
                 [([(r["time"], r["sensor.x"]) for r in rows], LINE)])
    picture.write("drives")


def arrow(x, y, dx, dy):
    """A curve of the picture: an arrow from (x, y)."""
    size = 0.12
    length = math.hypot(dx, dy)
    ex, ey = size * dx / length, size * dy / length
    tip = (x + dx, y + dy)
    return [(x, y), tip, (tip[0] - ex - ey / 2, tip[1] - ey + ex / 2), (tip[0] - ex + ey / 2, tip[1] - ey - ex / 2), tip]


def flow():
    """The direction of sliding for the three flows, and the gap that a sliding block keeps."""
    picture = Picture(2, 320, 240)
    mu, n = 0.5, 1.8
    flows = [("Coulomb", 0.0, {"flow": "coulomb"}, {}, 'fill="#333" stroke="#333" stroke-width="1.5"'),
             ("η = 0.4", 0.4, {"flow": "associated"}, {"dilatancy": 0.4}, 'fill="#b5654a" stroke="#b5654a" stroke-width="1.5"'),
             ("associated", 1.0, {"flow": "associated"}, {}, 'fill="#2e7d32" stroke="#2e7d32" stroke-width="1.5"')]
    arrows = [(arrow(n, mu * n, -eta * mu, 1.0), style) for _, eta, _, _, style in flows]
    picture.draw(0, "f on the cone, and −u there", "f_n, −u_n", "f_T, −u_T", (-0.5, 3.2, -1.6, 2.5),
                 [(boundary(CONE, mu), FILLED)] + arrows,
                 [(1.9, 2.0, "Coulomb"), (1.66, 2.25, "η = 0.4"), (0.35, 1.85, "associated")])
    curves = []
    for _, eta, solver, contact, style in flows:
        rows = run({"dimension": 2, "gravity": [0, -10], "solver": solver, "contact": dict(mu=mu, **contact),
                    "obstacles": [{"shape": {"kind": "half-plane"}}],
                    "bodies": [{"name": "block", "shape": {"kind": "box", "half_x": 0.1, "half_y": 0.02}, "position": [0, 0.02 + 1e-3 * eta * mu],
                                "velocity": [1, 0]}],
                    "sensors": [{"kind": "position", "name": "x", "body": "block"}],
                    "time": {"step": 1e-3, "duration": 0.25}})
        curves.append(([(r["time"], 1e3 * (r["sensor.x.y"] - 0.02)) for r in rows], style.replace(style.split('"')[1], "none", 1)))
    picture.draw(1, "gap of a block that slides at 1 m/s until it rests", "t (s)", "gap (mm)", (0, 0.25, -0.05, 0.6), curves,
                 [(0.09, 0.33, "associated: h μ |u_T|"), (0.02, 0.11, "η = 0.4"), (0.02, 0.02, "Coulomb")])
    picture.write("flow")


A, B = 'fill="#c9dcf2" stroke="#1d4f91"', 'fill="#e6ddd2" stroke="#8a6d4b"'
ARROW = 'fill="none" stroke="#b5654a" stroke-width="1.5" marker-end="url(#tip)"'
PIN = 'fill="white" stroke="#333" stroke-width="1.5"'


def kinds():
    """A sketch of each kind of joint: the first body (blue), the second, and the motions left free (arrows)."""
    def box(x, style, y=34, w=44, h=22):
        return f'<rect x="{x}" y="{y}" width="{w}" height="{h}" {style}/>'

    turn = f'<path d="M88 22a16 16 0 0 1 24 0" {ARROW}/>'
    along = f'<path d="M118 70h34" {ARROW}/><path d="M82 70h-34" {ARROW}/>'
    both = box(100, A) + box(56, B)
    sketches = {
        "ball": box(112, A) + box(44, B) + f'<circle cx="100" cy="45" r="11" {PIN}/>' + turn + f'<path d="M88 68a16 16 0 0 0 24 0" {ARROW}/>',
        "hinge": both + f'<circle cx="100" cy="45" r="5" {PIN}/>' + turn,
        "slider": f'<rect x="40" y="41" width="120" height="8" {B}/>' + box(78, A) + along,
        "cylinder": f'<rect x="40" y="41" width="120" height="8" {B}/>' + f'<rect x="78" y="34" width="44" height="22" rx="8" {A}/>' + along + turn,
        "universal": box(112, A) + box(44, B) + f'<path d="M88 45h24M100 33v24" stroke="#333" stroke-width="3"/>' + turn + f'<path d="M88 68a16 16 0 0 0 24 0" {ARROW}/>',
        "fixed": both + '<path d="M100 28v34" stroke="#333" stroke-width="3"/>',
        "distance": box(132, A) + box(24, B) + f'<path d="M68 45h64" stroke="#333" stroke-width="2"/><circle cx="68" cy="45" r="4" {PIN}/><circle cx="132" cy="45" r="4" {PIN}/>',
        "spring": box(132, A) + box(24, B) + '<path d="M68 45h8l4 -8 8 16 8 -16 8 16 8 -16 4 8h16" fill="none" stroke="#333" stroke-width="1.5"/>' + along,
        "bond": both + '<path d="M100 30v30" stroke="#2e7d32" stroke-width="4" stroke-dasharray="3 3"/>',
    }
    width, height = 200, 100
    with open(os.path.join(IMAGES, "law-joints.svg"), "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{3 * width}" height="{3 * height}" '
                   f'viewBox="0 0 {3 * width} {3 * height}" font-family="sans-serif" font-size="11">\n'
                   '<defs><marker id="tip" orient="auto" markerWidth="6" markerHeight="6" refX="4" refY="3">'
                   '<path d="M0 0L6 3L0 6z" fill="#b5654a"/></marker></defs>\n<rect width="100%" height="100%" fill="white"/>\n')
        for k, (name, sketch) in enumerate(sketches.items()):
            file.write(f'<g transform="translate({k % 3 * width} {k // 3 * height})">{sketch}'
                       f'<text x="100" y="92" text-anchor="middle" font-weight="bold">{name}</text></g>\n')
        file.write("</svg>\n")


if __name__ == "__main__":
    os.makedirs(IMAGES, exist_ok=True)
    sets()
    rolling_set()
    cycles()
    bounce()
    stop()
    flow()
    bond()
    drives()
    kinds()

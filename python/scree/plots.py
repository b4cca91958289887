"""Drawings with Matplotlib, which is imported only here."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np


def axes(ax: Any = None, **settings: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt
    return plt.subplots(constrained_layout=True, **settings)[1]


def convergence(solution: Any, ax: Any = None) -> Any:
    ax = axes(ax)
    iterations, errors = solution.history
    ax.semilogy(iterations, errors, label=solution.settings["solver"])
    tolerance = solution.settings.get("tol")
    if tolerance:
        ax.axhline(tolerance, color="0.6", linestyle="--", linewidth=1)
    ax.set_xlabel("iterations")
    ax.set_ylabel("error")
    ax.legend()
    return ax


def profile(ratios: dict, ax: Any = None) -> Any:
    ax = axes(ax)
    finite = [r for list_ in ratios.values() for r in list_ if np.isfinite(r)]
    most = max(finite, default=1.0) * 1.1
    for name, list_ in ratios.items():
        solved = np.sort([r for r in list_ if np.isfinite(r)])
        x = np.concatenate([[1.0], solved, [max(most, 1.1)]])
        y = np.concatenate([[0], np.arange(1, len(solved) + 1), [len(solved)]]) / max(len(list_), 1)
        ax.step(x, y, where="post", label=name)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("time over the best time")
    ax.set_ylabel("part of the problems solved")
    ax.legend(fontsize="small")
    return ax


def curves(run: Any, names: Any, ax: Any = None) -> Any:
    ax = axes(ax)
    names = names or ("kinetic",)
    for name in names:
        ax.plot(run["time"], run[name], label=name)
    ax.set_xlabel("t in s")
    if len(names) == 1:
        ax.set_ylabel(names[0])
    else:
        ax.legend()
    return ax


def _outline(shape: dict) -> Optional[np.ndarray]:
    """The outline of a bounded shape of the plane in its own frame, (n, 2)."""
    turn = np.linspace(0, 2 * np.pi, 33)[:-1]
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    kind = shape["kind"]
    if kind == "disk":
        return shape["radius"] * circle
    if kind == "ellipse":
        return circle * [shape["semi_x"], shape["semi_y"]]
    if kind == "polygon":
        return shape["vertices"][:, :2]
    if kind == "segment":
        ends = np.where(circle[:, :1] >= 0, 1.0, -1.0) * [[shape["half_length"], 0]]
        return shape["radius"] * circle + ends
    return None


def _posed(points: np.ndarray, position: np.ndarray, q: np.ndarray) -> np.ndarray:
    angle = 2 * np.arctan2(q[3], q[0])
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]]) + position[:2]


def world(world: Any, ax: Any = None, colour: str = "velocity") -> Any:
    """Bodies filled, obstacles as outlines; unbounded obstacles as lines."""
    from matplotlib.collections import PolyCollection
    ax = axes(ax, figsize=(5, 4))
    position, orientation = np.array(world.positions), np.array(world.orientations)
    speed, flags = np.linalg.norm(world.velocities, axis=1), np.array(world.flags)
    ax.set_aspect("equal")
    flat = world.dimension == 2
    bodies, values, solid = [], [], []
    for k in np.flatnonzero((flags & 2) == 0):
        for shape, at, q in _parts(world.shape(int(k)), position[k], orientation[k]):
            outline = _outline(shape) if flat else _shadow(shape, at, q)
            if outline is None:
                continue
            if flat:
                outline = _posed(outline, at, q)
            if flags[k] & 1:
                solid.append(outline)
            else:
                bodies.append((at[1], outline, speed[k] if colour == "velocity" else k))
    if not flat:
        bodies.sort(key=lambda body: -body[0])
    if bodies:
        patches = PolyCollection([b[1] for b in bodies], edgecolors="0.2", linewidths=0.3)
        patches.set_array(np.array([b[2] for b in bodies]))
        ax.add_collection(patches)
    ax.add_collection(PolyCollection(solid, facecolors="0.85", edgecolors="0.4", linewidths=0.5))
    ax.autoscale_view()
    if flat:
        _unbounded(world, ax, position, orientation, flags)
    ax.set_xlabel("x in m")
    ax.set_ylabel("y in m" if flat else "z in m")
    return ax


def _unbounded(world: Any, ax: Any, position: np.ndarray, orientation: np.ndarray,
               flags: np.ndarray) -> None:
    """Half-planes and drums of the plane, within the visible region."""
    left, right = ax.get_xlim()
    bottom, top = ax.get_ylim()
    reach = 2 * max(right - left, top - bottom)
    for k in np.flatnonzero(flags == 1):
        shape = world.shape(int(k))
        if shape["kind"] == "half-plane":
            ends = _posed(np.array([[-reach, 0], [reach, 0]]), position[k], orientation[k])
        elif shape["kind"] == "drum":
            turn = np.linspace(0, 2 * np.pi, 129)
            ends = position[k, :2] + shape["radius"] * np.column_stack([np.cos(turn), np.sin(turn)])
            left, right = min(left, ends[:, 0].min()), max(right, ends[:, 0].max())
            bottom, top = min(bottom, ends[:, 1].min()), max(top, ends[:, 1].max())
        else:
            continue
        ax.plot(ends[:, 0], ends[:, 1], color="0.4", linewidth=1.5)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)


def _rotation(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _parts(shape: dict, position: np.ndarray, q: np.ndarray) -> list:
    """The shape with its pose, or those of the parts of a clump."""
    if "parts" not in shape:
        return [(shape, position, q)]
    found = []
    for part in shape["parts"]:
        (a, *b), (c, *d) = np.array(q), np.array(part["rotation"])
        turned = np.array([a * c - np.dot(b, d), *(a * np.array(d) + c * np.array(b) + np.cross(b, d))])
        found.append((part["shape"], position + _rotation(q) @ np.array(part["position"]), turned))
    return found


def _shadow(shape: dict, position: np.ndarray, q: np.ndarray) -> Optional[np.ndarray]:
    """The outline of a body of space seen along y: spheres as circles, others as the hull of
    points on their surface."""
    turn = np.linspace(0, 2 * np.pi, 25)[:-1]
    if shape["kind"] == "sphere":
        return position[[0, 2]] + shape["radius"] * np.column_stack([np.cos(turn), np.sin(turn)])
    points = _surface(shape)
    if points is None:
        return None
    return _hull((points @ _rotation(q).T + position)[:, [0, 2]])


def _surface(shape: dict) -> Optional[np.ndarray]:
    kind = shape["kind"]
    if kind == "box":
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
        return signs * [shape["half_x"], shape["half_y"], shape["half_z"]]
    theta, phi = np.meshgrid(np.linspace(0, np.pi, 9), np.linspace(0, 2 * np.pi, 17)[:-1])
    ball = np.column_stack([(np.sin(theta) * np.cos(phi)).ravel(),
                            (np.sin(theta) * np.sin(phi)).ravel(), np.cos(theta).ravel()])
    if kind == "ellipsoid":
        return ball * [shape["semi_x"], shape["semi_y"], shape["semi_z"]]
    if kind in ("polyhedron", "mesh"):
        return shape["vertices"]
    if kind in ("cylinder", "cone"):  # along z
        turn = np.linspace(0, 2 * np.pi, 25)[:-1]
        ring = shape["radius"] * np.column_stack([np.cos(turn), np.sin(turn)])
        if kind == "cylinder":
            return np.vstack([np.column_stack([ring, np.full(24, z)])
                              for z in (-shape["half_length"], shape["half_length"])])
        low = -0.5 * shape["half_length"]  # the origin is the centroid, a quarter of the height up
        return np.vstack([np.column_stack([ring, np.full(24, low)]),
                          [[0, 0, 1.5 * shape["half_length"]]]])
    if kind == "capsule":
        lift = np.where(ball[:, 2] >= 0, 1.0, -1.0) * shape["half_length"]
        return shape["radius"] * ball + np.column_stack([np.zeros((len(ball), 2)), lift])
    return None


def _hull(points: np.ndarray) -> np.ndarray:
    """The convex hull of points of the plane, by Andrew's monotone chain."""
    points = points[np.lexsort((points[:, 1], points[:, 0]))]

    def half(sequence: Any) -> list:
        chain: list = []
        for p in sequence:
            while len(chain) > 1 and ((chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1]) <=
                                      (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0])):
                chain.pop()
            chain.append(p)
        return chain[:-1]
    return np.array(half(points) + half(points[::-1]))

"""Calibration: the friction and restitution of a thrown disk from a noisy path, by least squares."""
import sys

import matplotlib.pyplot as plt
import numpy as np
import scree
from scipy.optimize import least_squares


def path(mu, e, every=20, count=40):
    """Centres of a disk that is thrown on a floor, bounces and is slowed down by friction."""
    world = scree.World(dimension=2, step=1e-3, threads=1)
    world.set_law(mu=mu, e_n=e)
    world.add_obstacle("half-plane")
    disk = world.add_body("disk", (0, 0.3), radius=0.05, velocity=(2, 0))
    points = []
    for _ in range(count):
        world.step(every)
        points.append(np.array(world.positions[disk, :2]))
    return np.array(points)


def main(picture=None, truth=(0.12, 0.6)):
    measured = path(*truth) + np.random.default_rng(4).normal(scale=0.004, size=(40, 2))
    fit = least_squares(lambda p: (path(*np.clip(p, 0, 1)) - measured).ravel(), (0.04, 0.4),
                        diff_step=0.02, bounds=([0, 0], [1, 1]), xtol=1e-4, ftol=1e-4)
    figure, axes = plt.subplots(figsize=(5, 2.4), constrained_layout=True)
    axes.plot(*measured.T, ".", color="0.5", label="measured")
    axes.plot(*path(0.04, 0.4).T, "--", label="first guess")
    axes.plot(*path(*fit.x).T, label=f"fit: friction {fit.x[0]:.3f}, restitution {fit.x[1]:.3f}")
    axes.legend(fontsize="small")
    axes.set_xlabel("x in m")
    axes.set_ylabel("y in m")
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return {"found": fit.x, "truth": truth}


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

"""Janssen's silo: walls with friction carry the weight; the floor feels only so much of it."""
import sys

import matplotlib.pyplot as plt
import numpy as np
import scree

WIDTH, RADIUS = 0.12, 0.01


def floor_load(layers, mu, seed):
    """Weight of the grains, and load on the floor after it has sunk a little; N."""
    scene = {
        "dimension": 2, "seed": seed, "contact": {"mu": mu},
        "obstacles": [
            {"shape": {"kind": "segment", "half_length": WIDTH / 2 - 0.001, "radius": 0.005},
             "position": [0, -0.005], "velocity": {"times": [0.3, 0.35], "values": [[0, 0], [0, -0.01]]}},
            {"shape": {"kind": "half-plane"}, "position": [-WIDTH / 2, 0], "normal": [1, 0]},
            {"shape": {"kind": "half-plane"}, "position": [WIDTH / 2, 0], "normal": [-1, 0]}],
        "generators": [{"kind": "lattice", "origin": [-0.047, 0.012], "count": [5, layers],
                        "spacing": 0.0235, "jitter": 0.03,
                        "shape": {"kind": "disk", "radius": RADIUS}, "scale": {"min": 0.8, "max": 1.0}}],
        "time": {"duration": 0.5},
    }
    loads = []
    world = scree.World(scene, threads=1)
    for step in world.run():
        if step.time > 0.42:
            contacts = world.contacts
            on_floor = np.array(contacts.bodies).min(axis=1) == 0
            loads.append(np.abs(contacts.forces[on_floor, 1]).sum())
    return world.masses.sum() * 9.81, np.mean(loads)


def main(picture=None, layers=(4, 10, 20, 32), seeds=range(2, 10)):
    figure, axes = plt.subplots(figsize=(4.5, 3), constrained_layout=True)
    result = {}
    for mu in (0.0, 0.5):
        # with friction the load on the floor differs by a tenth from packing to packing
        packings = seeds if mu > 0 else seeds[:1]
        found = np.mean([[floor_load(n, mu, seed) for n in layers] for seed in packings], axis=0)
        axes.plot(found[:, 0], found[:, 1], "o-", label=f"friction {mu}")
        result[mu] = found
    axes.plot([0, found[-1, 0]], [0, found[-1, 0]], color="0.7", zorder=0)
    axes.set_xlabel("weight of the grains in N")
    axes.set_ylabel("load on the floor in N")
    axes.legend()
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return result


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

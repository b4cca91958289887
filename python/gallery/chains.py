"""Contact forces in a packing at rest: their distribution, from arrays that are not copied."""
import sys

import matplotlib.pyplot as plt
import numpy as np
import scree


def settled(mu):
    world = scree.World({
        "dimension": 2, "seed": 8, "contact": {"mu": mu},
        "obstacles": [{"shape": {"kind": "half-plane"}},
                      {"shape": {"kind": "half-plane"}, "position": [-0.15, 0], "normal": [1, 0]},
                      {"shape": {"kind": "half-plane"}, "position": [0.15, 0], "normal": [-1, 0]}],
        "generators": [{"kind": "lattice", "origin": [-0.135, 0.012], "count": [12, 10], "spacing": 0.0225,
                        "jitter": 0.05, "shape": {"kind": "disk", "radius": 0.01}, "scale": {"min": 0.7, "max": 1.0}}],
    }, threads=1)
    world.step(350)
    return world


def main(picture=None):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8), constrained_layout=True)
    result = {}
    for mu in (0.1, 0.5):
        world = settled(mu)
        impulses = np.array(world.contacts.impulses)
        mobilised = np.abs(impulses[:, 1]).sum() / (mu * impulses[:, 0].sum())
        force = impulses[:, 0] / world.settings["step"]
        force = force[force > 1e-3 * force.mean()]
        count, edges = np.histogram(force / force.mean(), bins=18, density=True)
        left.semilogy((edges[1:] + edges[:-1]) / 2, np.where(count > 0, count, np.nan), "o-", label=f"friction {mu}")
        result[mu] = {"ratio": float(force.max() / force.mean()), "mobilised": float(mobilised),
                      "slip": world.analyse().slip, "stick": world.analyse().stick}
    left.set_xlabel("force over its mean")
    left.set_ylabel("density")
    left.legend()
    contacts = world.contacts
    place = np.array(world.positions)
    for (a, b), r in zip(np.array(contacts.bodies), np.array(contacts.impulses)[:, 0]):
        if a > 2 and b > 2 and r > 0:
            right.plot(*place[[a, b], :2].T, color="C3", linewidth=1.5 * r / np.mean(contacts.impulses[:, 0]))
    world.plot(right, colour="id").collections[0].set(alpha=0.3)
    right.set_axis_off()
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return result


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

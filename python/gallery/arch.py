"""The least thickness at which a semicircular arch stands, by bisection."""
import sys

import matplotlib.pyplot as plt
import numpy as np
import scree


def stands(ratio, blocks=12, seconds=0.4, fall=0.995):
    """Whether an arch whose thickness is `ratio` of its mean radius is still there after a while."""
    thickness = ratio * 1.0
    world = scree.World({
        "dimension": 2, "contact": {"mu": 0.9}, "obstacles": [{"shape": {"kind": "half-plane"}}],
        "generators": [{"kind": "arch", "radius": 1 - thickness / 2, "thickness": thickness, "blocks": blocks}],
        "time": {"duration": seconds, "step": 2e-3}}, threads=1)
    top = float(world.positions[1:, 1].max())
    for _ in world.run(stop=lambda w: w.positions[1:, 1].max() < fall * top):
        pass
    return float(world.positions[1:, 1].max()) >= 0.9995 * top, world


def main(picture=None, steps=7):
    low, high = 0.06, 0.16
    tried = []
    for _ in range(steps):
        middle = (low + high) / 2
        standing, _ = stands(middle)
        tried.append((middle, standing))
        low, high = (low, middle) if standing else (middle, high)
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), constrained_layout=True)
    for ratio, standing in tried:
        left.plot(len(left.lines), ratio, "o" if standing else "x", color="C0" if standing else "C3")
    left.axhline(0.1075, color="0.6", linestyle="--", linewidth=1)
    left.set_xlabel("bisection: o stands, x falls")
    left.set_ylabel("thickness over radius")
    stands(0.08, seconds=3.0, fall=0.75)[1].plot(right)
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return {"low": low, "high": high}


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

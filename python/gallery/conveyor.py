"""A conveyor by stick and slip: a plate that goes forth slowly and back fast carries a block along."""
import sys

import matplotlib.pyplot as plt
import numpy as np
import scree


def transport(ratio, mu=0.3, period=0.1, amplitude=0.006, cycles=15):
    """Mean speed of a block; the plate takes `ratio` of each period to go forth."""
    def plate(t):
        phase = (t / period) % 1.0
        forth = amplitude * np.pi / (2 * ratio * period) * np.sin(np.pi * phase / ratio)
        back = -amplitude * np.pi / (2 * (1 - ratio) * period) * np.sin(np.pi * (phase - ratio) / (1 - ratio))
        return (forth if phase < ratio else back, 0)

    world = scree.World(dimension=2, step=5e-4, threads=1)
    world.set_law(mu=mu)
    world.add_obstacle("half-plane", velocity=plate)
    block = world.add_body("polygon", (0, 0.01), vertices=[[-.02, -.01], [.02, -.01], [.02, .01], [-.02, .01]])
    places = []
    for _ in world.run(cycles * period):
        places.append(float(world.positions[block, 0]))
    return np.array(places), places[-1] / (cycles * period)


def main(picture=None, ratios=(0.3, 0.4, 0.5, 0.6, 0.7, 0.8)):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), constrained_layout=True)
    speeds = []
    for ratio in ratios:
        places, speed = transport(ratio)
        speeds.append(speed)
        left.plot(5e-4 * np.arange(len(places)), 1000 * places, label=f"{ratio}")
    left.set_xlabel("t in s")
    left.set_ylabel("x in mm")
    left.legend(fontsize="x-small", title="part forth")
    right.plot(ratios, 1000 * np.array(speeds), "o-")
    right.set_xlabel("part of the period forth")
    right.set_ylabel("speed of the block in mm/s")
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return dict(zip(ratios, speeds))


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

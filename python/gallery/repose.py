"""Angle of repose against friction: a column of disks collapses; its slope, by a parameter study."""
import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import scree

SCENE = """
dimension: 2
seed: 5
contact: { mu: 0.5 }
obstacles:
  - { shape: { kind: half-plane } }
  - { shape: { kind: half-plane }, normal: [1, 0] }
generators:
  - kind: lattice
    origin: [0.011, 0.011]
    count: [5, 12]
    spacing: 0.022
    jitter: 0.02
    shape: { kind: polygon, vertices: [[0.01, 0], [0.003, 0.0095], [-0.008, 0.006], [-0.008, -0.006], [0.003, -0.0095]] }
    scale: { min: 0.75, max: 1 }
time: { duration: 0.7 }
output: { every: 0.5, contacts: false }
"""


def slope(run):
    """The angle of the triangle with the same centre of mass: its height over its length."""
    x, y = run[-1].positions[~run.obstacles][:, :2].T
    return {"angle": np.degrees(np.arctan2(y.mean(), x.mean()))}


def main(picture=None, friction=(0.1, 0.3, 0.5, 0.8)):
    with tempfile.TemporaryDirectory() as folder:
        table = scree.study(SCENE, {"contact.mu": list(friction)}, folder, jobs=2, measure=slope)
        rows = scree.tables.records(table)
        last = scree.read(rows[-1]["folder"])
        figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), constrained_layout=True)
        left.plot([r["contact.mu"] for r in rows], [r["angle"] for r in rows], "o-")
        left.set_xlabel("friction")
        left.set_ylabel("slope in degrees")
        right.imshow(last.picture(width=420, height=260, colour="id").pixels)
        right.set_axis_off()
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return {"angles": [r["angle"] for r in rows], "above": sum(r["steps_above"] for r in rows)}


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

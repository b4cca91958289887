"""A rubble pile in space: spheres attract each other, by forces that NumPy computes each step."""
import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import scree

G = 6.674e-11


def main(picture=None, count=60, steps=400):
    rng = np.random.default_rng(3)
    world = scree.World(dimension=3, step=20.0, gravity=(0, 0, 0), threads=1)
    world.set_law(mu=0.5, e_n=0.3)
    grid = 2.6 * (np.array(np.meshgrid(*[np.arange(4)] * 3)).reshape(3, -1).T - 1.5)[:count]
    for place in grid + rng.uniform(-0.2, 0.2, (count, 3)):
        spin = 1.5e-4 * np.array([-place[1], place[0], 0])
        world.add_body("sphere", place, radius=float(rng.uniform(0.8, 1.0)), density=2500, velocity=spin)
    forces = world.force_array()
    mass = np.array(world.masses)
    start = mass @ np.array(world.velocities)

    def attract(world):
        x = np.array(world.positions)
        apart = x[None, :, :] - x[:, None, :]
        distance = np.sqrt((apart ** 2).sum(axis=2)) + np.eye(count)
        forces[:, :3] = G * mass[:, None] * np.einsum("j,ijk->ik", mass, apart / distance[:, :, None] ** 3)

    world.before_step = attract
    spread = [float(np.linalg.norm(world.positions, axis=1).mean())]
    with tempfile.TemporaryDirectory() as folder, world.record(folder, every=2000.0, title="rubble") as recording:
        for _ in world.run(steps=steps):
            spread.append(float(np.linalg.norm(world.positions, axis=1).mean()))
        run = recording.close()
        figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8), constrained_layout=True)
        left.plot(np.arange(len(spread)) * 20 / 3600, spread)
        left.set_xlabel("t in h")
        left.set_ylabel("mean distance in m")
        right.imshow(run.picture(width=360, height=280, colour="id", tight=True).pixels)
        right.set_axis_off()
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    change = mass @ np.array(world.velocities) - start
    return {"spread": spread, "contacts": world.contact_count,
            "momentum": float(np.linalg.norm(change) / np.linalg.norm(start))}


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

"""A controller in Python: a pole stands on a plate, which moves so that it does not fall."""
import sys

import matplotlib.pyplot as plt
import numpy as np
import scree

LENGTH = 0.6


def simulate(control, seconds=3.0):
    """Angle of the pole over time; `control` gives the acceleration of the plate."""
    world = scree.World(dimension=2, step=2e-3, threads=1)
    world.set_law(mu=1.0)
    plate = world.add_obstacle("segment", (0, -0.01), half_length=3.0, radius=0.01, velocity=(0, 0))
    pole = world.add_body("segment", (0, LENGTH / 2 + 0.02), rotation=np.pi / 2 - 0.05,
                          half_length=LENGTH / 2, radius=0.02)
    speed = [0.0]

    def drive(world):
        w, _, _, z = world.orientations[pole]
        lean = np.pi / 2 - 2 * np.arctan2(z, w)  # to the right
        rate = -float(world.angular_velocities[pole, 2])
        place = float(world.positions[plate, 0])
        speed[0] += control(lean, rate, place, speed[0]) * world.settings["step"]
        world.set_driver(plate, velocity=(speed[0], 0))
        lean_history.append(lean)

    lean_history = []
    world.before_step = drive
    for _ in world.run(seconds, stop=lambda w: abs(lean_history[-1]) > 1.2):
        pass
    return np.array(lean_history), world


def main(picture=None):
    alone, _ = simulate(lambda lean, rate, place, speed: 0.0)
    kept, world = simulate(lambda lean, rate, place, speed: 60 * lean + 12 * rate + 4 * place + 5 * speed)
    figure, axes = plt.subplots(figsize=(4.5, 2.8), constrained_layout=True)
    for name, lean in (("left alone", alone), ("controlled", kept)):
        axes.plot(2e-3 * np.arange(len(lean)), np.degrees(lean), label=name)
    axes.set_ylim(-25, 60)
    axes.set_xlabel("t in s")
    axes.set_ylabel("lean of the pole in degrees")
    axes.legend()
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return {"alone": abs(alone[-1]), "controlled": abs(kept[-1]), "steps": world.steps}


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

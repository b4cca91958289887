"""The errors of several solvers over their work on one problem, and a stop of one's own."""
import sys

import matplotlib.pyplot as plt
import scree


def packing():
    """The contact problem of disks that have come to rest in a box."""
    world = scree.World({
        "dimension": 2, "seed": 4, "contact": {"mu": 0.3},
        "obstacles": [{"shape": {"kind": "half-plane"}},
                      {"shape": {"kind": "half-plane"}, "position": [-0.1, 0], "normal": [1, 0]},
                      {"shape": {"kind": "half-plane"}, "position": [0.1, 0], "normal": [-1, 0]}],
        "generators": [{"kind": "lattice", "origin": [-0.085, 0.012], "count": [8, 9], "spacing": 0.0235,
                        "jitter": 0.04, "shape": {"kind": "disk", "radius": 0.01}}]}, threads=1)
    world.step(110)
    return world.problem


def main(picture=None):
    problem = packing()
    figure, axes = plt.subplots(figsize=(5, 3), constrained_layout=True)
    result = {}
    for name in ("nlgs", "fixed-point", "pqn", "auto"):
        solution = scree.solve(problem, name, tol=1e-10, time_limit=1.5, threads=1)
        iterations, errors = solution.history
        axes.loglog(iterations + 1, errors + 1e-17, label=name)
        result[name] = solution.error
    # stop when the error has not fallen by half in 100 iterations
    best = [1.0, 0]

    def stalled(iteration, error):
        if error < best[0] / 2:
            best[:] = error, iteration
        return iteration - best[1] > 100

    stopped = scree.solve(problem, "nlgs", tol=1e-14, stop=stalled, threads=1)
    axes.axvline(stopped.iterations + 1, color="0.7", linestyle="--", linewidth=1)
    axes.set_ylim(1e-12, 2)
    axes.set_xlabel("iterations")
    axes.set_ylabel("error")
    axes.legend(fontsize="small")
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return {"errors": result, "contacts": problem.nc, "stopped": stopped.iterations}


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))

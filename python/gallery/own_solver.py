"""A solver written in Python, block Gauss-Seidel in ten lines, against those of the library."""
import sys

import matplotlib.pyplot as plt
import numpy as np
import scree


def gauss_seidel(problem, tol, most=2000):
    """One contact after the other: a step of the natural map, projected on the cone."""
    assembled = problem.assemble()
    W, q, mu = assembled.W.tobsr((problem.d, problem.d)), problem.q, problem.mu
    r = np.zeros_like(q)
    diagonal = [W.data[k] for c in range(problem.nc)
                for k in range(W.indptr[c], W.indptr[c + 1]) if W.indices[k] == c]
    for sweep in range(most):
        for c in range(problem.nc):
            row = slice(W.indptr[c], W.indptr[c + 1])
            u = q[c] + np.einsum("kij,kj->i", W.data[row], r[W.indices[row]])
            u[0] += mu[c] * np.linalg.norm(u[1:])  # De Saxce's change of variables
            x = r[c] - u / np.linalg.norm(diagonal[c], 2)
            t = np.linalg.norm(x[1:])
            if t <= mu[c] * x[0]:
                r[c] = x
            elif mu[c] * t <= -x[0]:
                r[c] = 0
            else:
                n = (x[0] + mu[c] * t) / (1 + mu[c] ** 2)
                r[c] = [n, *(mu[c] * n * x[1:] / t)]
        if sweep % 10 == 9 and scree.measure(problem, r).error <= tol:
            break
    return r


def packings():
    """Contact problems of small heaps of spheres."""
    for seed in (1, 2, 3):
        world = scree.World({
            "seed": seed, "contact": {"mu": 0.4}, "obstacles": [{"shape": {"kind": "half-space"}}],
            "generators": [{"kind": "lattice", "origin": [0, 0, 0.0104], "count": [3, 3, 2], "spacing": 0.0205,
                            "jitter": 0.01, "shape": {"kind": "sphere", "radius": 0.01}}]}, threads=1)
        world.step(40)
        yield f"heap {seed}", world.problem


def main(picture=None):
    table = scree.race(dict(packings()), ["nlgs", "pqn", "newton", "auto", gauss_seidel], tol=1e-4, draw=False)
    figure, axes = plt.subplots(figsize=(4.5, 3), constrained_layout=True)
    scree.performance_profile(table, axes)
    if picture:
        figure.savefig(picture, dpi=80)
    plt.close(figure)
    return scree.tables.records(table)


if __name__ == "__main__":
    for row in main(*sys.argv[1:2]):
        print(row)

#!/usr/bin/env python3
"""What Python costs: steps of 8000 spheres through the module, by the program and by calls in C, in
turn; and arrays of many contacts. Run by hand: PYTHONPATH=build/python bench/python.py [STEPS [TURNS]]
(after `make python` and `cmake --build --preset release --target scree scree_python_calls`).
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scree

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")
SCENE = {
    "seed": 1, "contact": {"mu": 0.4}, "solver": {"threads": 1},
    "obstacles": [{"shape": {"kind": "half-space"}}] + [
        {"shape": {"kind": "half-space"}, "position": p, "normal": n}
        for p, n in (([0, 0, 0], [1, 0, 0]), ([0.42, 0, 0], [-1, 0, 0]),
                     ([0, 0, 0], [0, 1, 0]), ([0, 0.42, 0], [0, -1, 0]))],
    "generators": [{"kind": "lattice", "origin": [0.0105, 0.0105, 0.0105], "count": [20, 20, 20],
                    "spacing": 0.021, "jitter": 0.02, "shape": {"kind": "sphere", "radius": 0.01}}],
    "time": {"duration": 1}, "output": {"every": 1, "contacts": False, "checkpoint": 1000},
}


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_program(path, folder, steps):
    """CPU seconds of the steps: a run with them less a run with one."""
    spent = []
    for count in (1, steps + 1):
        start = children()
        subprocess.run([os.path.join(BUILD, "scree"), "run", path, "-o", folder, "--force", "--steps",
                        str(count), "--threads", "1"], check=True, capture_output=True)
        spent.append(children() - start)
    return spent[1] - spent[0]


def by_calls(path, steps):
    spent = []
    for count in (1, steps + 1):
        start = children()
        subprocess.run([os.path.join(BUILD, "tests", "scree_python_calls"), "scene", path, str(count)],
                       check=True, capture_output=True)
        spent.append(children() - start)
    return spent[1] - spent[0]


def by_python(path, steps):
    """One call for each step, with a callback that looks at all positions and contacts."""
    world = scree.World(path, threads=1)
    world.step()
    world.after_step = lambda w, report: w.positions.shape[0] + len(w.contacts) < 0
    start = time.process_time()
    for _ in world.run(steps=steps):
        pass
    return time.process_time() - start, world


def main(steps=40, turns=3):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spheres.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(SCENE, file)
        table = []
        for _ in range(turns):
            python, world = by_python(path, steps)
            table.append((by_program(path, os.path.join(folder, "run"), steps), by_calls(path, steps), python))
    table = np.array(table)
    print(f"{world.body_count} bodies, {world.contact_count} contacts, {steps} steps, one thread")
    print("CPU seconds        scree run   calls in C   Python")
    for row in table:
        print("               " + "".join(f"{x:12.3f}" for x in row))
    least = table.min(axis=0)
    print("least          " + "".join(f"{x:12.3f}" for x in least))
    print(f"Python over scree run {least[2] / least[0]:.4f}, over calls in C {least[2] / least[1]:.4f}")
    own = np.array([step_cost(world) for _ in range(5)]).min()
    print(f"a step of an empty world through run(), report and callback included: {own * 1e6:.1f} us, "
          f"{100 * own / (least[1] / steps):.3f} % of a step of these spheres")
    start = time.perf_counter()
    for _ in range(1000):
        world.contacts.impulses
    each = (time.perf_counter() - start) / 1000
    print(f"a View of the impulses of {world.contact_count} contacts: {each * 1e6:.1f} us, no copy")


def step_cost(other):
    world = scree.World(dimension=3, step=1e-3, threads=1)
    world.after_step = lambda w, report: w.positions.shape[0] + len(w.contacts) < 0
    start = time.process_time()
    for _ in world.run(steps=2000):
        pass
    return (time.process_time() - start) / 2000


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Ten thousand worlds and problems, made and destroyed: memory and objects stay what they were."""
import ctypes
import gc
import os
import sys

import numpy as np
import pytest
import scree
from conftest import ASAN

COUNT = int(os.environ.get("SCREE_LEAK_COUNT", "10000"))


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
                 "keepcost")]


def allocated():
    """Bytes in use. The resident memory also has what is free between them, several megabytes more or less."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def one_problem(k):
    problem = scree.Problem(np.eye(6), [[-1, 0, 0], [-1, 1, 0]], 0.5)
    solution = scree.solve(problem, "nlgs", tol=1e-6, threads=1, stop=lambda i, e: False)
    problem.q, problem.mu, problem.W, problem.replace(mu=[0.1, 0.2]).law
    scree.measure(problem, solution.r)
    try:
        scree.Problem(np.eye(6), [[-1, 0, np.nan], [-1, 1, 0]], 0.5)
    except scree.InputError:
        pass


def one_world(k):
    world = scree.World(dimension=2, step=1e-3, threads=1)
    world.add_obstacle("half-plane", velocity=lambda t: (0, 0))
    world.add_body("disk", (0, 0.1), radius=0.1)
    world.add_body({"kind": "polygon", "vertices": [[0, 0], [.1, 0], [0, .1]]}, (1, 0.2))
    world.add_force(1, force=lambda t: (world.dimension * 0.0, 0) if False else (0, 0))
    hinge = world.add_joint("hinge", (2, 0), anchor=(1, 0.2), velocity=lambda t: 0.0)
    world.set_motor(hinge, velocity=lambda t: 0.1)
    world.after_step = lambda w, report: report.step > 5
    world.force_array()
    view = world.positions
    world.step(1)
    world.contacts.impulses.sum(), world.report, world.problem, world.settings
    try:
        view[0]
    except scree.StaleError:
        pass
    world.restore(world.save())
    if k % 2:
        world.close()


@pytest.mark.parametrize("one", [one_problem, one_world])
def test_constant_memory(one):
    for k in range(200):
        one(k)
    gc.collect()
    blocks, memory = sys.getallocatedblocks(), allocated()
    for k in range(COUNT // 2):
        one(k)
    gc.collect()
    half = allocated()
    for k in range(COUNT // 2):
        one(k)
    gc.collect()
    if not ASAN:
        assert allocated() - half < 5e5, f"{allocated() - half} bytes in {COUNT // 2} times"
        assert half - memory < 1e6
    assert abs(sys.getallocatedblocks() - blocks) < 500


def test_references_of_single_calls():
    """Reference counts of the objects that are passed in and out."""
    world = scree.World(dimension=3, step=1e-3, threads=1)
    body = world.add_body("sphere", (0, 0, 1), radius=0.1)
    function = lambda t: (0, 0, 0)  # noqa: E731
    q, shape = np.array([[-1.0, 0, 0]]), {"kind": "sphere", "radius": 0.1}
    problem = scree.Problem(np.eye(3), q, 0.5)
    things = [q, shape, function, world, problem, None]
    before = [sys.getrefcount(x) for x in things]
    force = world.add_force(body, force=function)
    for _ in range(100):
        scree.Problem(np.eye(3), q, 0.5)
        world.set_force(force, body, force=function)
        world.step()
        scree.solve(problem, "nlgs")
        np.sum(world.positions)
        world.problem.assemble().csr()
        for wrong in (lambda: world.add_body(shape, "x"), lambda: world.step("x"),
                      lambda: scree.solve(problem, "nlgs", r0="x"), lambda: world.look(None),
                      lambda: scree.Problem(np.eye(3), q, "x")):
            with pytest.raises((TypeError, ValueError)):
                wrong()
    world.set_force(force, body)
    after = [sys.getrefcount(x) for x in things]
    assert after[:-1] == before[:-1]
    assert abs(after[-1] - before[-1]) < 60

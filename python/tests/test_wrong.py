"""Ten thousand random calls with wrong arguments: exceptions, never a crash."""
import os
import random
import warnings

import numpy as np
import pytest
import scree

#: what a caller should be told; anything else (SystemError, a crash) is a mistake of ours
EXPECTED = (scree.Error, TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError,
            BufferError, OSError, MemoryError, NotImplementedError, ZeroDivisionError)
CALLS = int(os.environ.get("SCREE_WRONG_CALLS", "10000"))


class Liar:
    """Claims to be many things."""

    def __len__(self):
        return -1

    def __index__(self):
        raise ValueError("no index")

    def __float__(self):
        raise OverflowError("no float")

    def __array__(self, dtype=None):
        raise RuntimeError("no array") if random.random() < 0.3 else TypeError("no array")

    def __fspath__(self):
        return 3


def small_world():
    world = scree.World(dimension=random.choice([2, 3]), step=1e-3, threads=1, max_halvings=0)
    if world.dimension == 2:
        world.add_obstacle("half-plane")
        world.add_body("disk", (0, 0.5), radius=0.1)
    else:
        world.add_obstacle("half-space")
        world.add_body("sphere", (0, 0, 0.5), radius=0.1)
    return world


def values(world, problem):
    """Something wrong, or by chance right."""
    rng = random.random
    nan, inf = float("nan"), float("inf")
    choices = [
        lambda: None, lambda: 0, lambda: 1, lambda: -1, lambda: 2, lambda: 3, lambda: 10**30, lambda: -2**31,
        lambda: nan, lambda: inf, lambda: -inf, lambda: 0.5, lambda: 1e308, lambda: 5e-324,
        lambda: "", lambda: "disk", lambda: "auto", lambda: "nlgs", lambda: "sphere", lambda: "\0", lambda: "é" * 300,
        lambda: "position", lambda: "contact_impulse", lambda: b"bytes", lambda: b"", lambda: b"x" * 200,
        lambda: [], lambda: (), lambda: {}, lambda: [1, 2], lambda: [1, 2, 3], lambda: (0.1, nan, 2),
        lambda: [[0, 1], [1, 0]], lambda: [[1, "a"]], lambda: {"kind": "disk", "radius": -1},
        lambda: {"kind": "polygon", "vertices": [[0, 0], [1, 1]]}, lambda: {"kind": "box"}, lambda: {1: 2},
        lambda: {"kind": "sphere", "radius": 0.1}, lambda: {"kind": "disk", "radius": 0.1},
        lambda: {"time.step": nan}, lambda: {"local": "exact"}, lambda: np.zeros(0), lambda: np.zeros((3, 3)),
        lambda: np.full((2, 2), nan), lambda: np.zeros((0, 3)), lambda: np.ones(3, dtype=complex),
        lambda: np.array(["a"]), lambda: np.array([None]), lambda: np.zeros((2, 3), order="F"),
        lambda: np.arange(10**3), lambda: np.int8(3), lambda: np.float32(0.5), lambda: np.zeros((1,) * 20),
        lambda: Liar(), lambda: object(), lambda: Liar, lambda: print, lambda: lambda *a: 1 / 0,
        lambda: lambda *a: (0, 0, 0), lambda: lambda *a: "text", lambda: world, lambda: problem,
        lambda: world.positions, lambda: world.positions[1:], lambda: True, lambda: 1j, lambda: slice(None),
        lambda: Ellipsis, lambda: range(3), lambda: world.save(), lambda: "/nonexistent/x", lambda: "/",
    ]
    value = random.choice(choices)()
    if rng() < 0.05 and isinstance(value, np.ndarray):
        value = value[::-1]
    return value


def targets(world, problem, solver, view, run):
    core = scree._core
    found = [scree.Problem, scree.Problem.from_blocks, scree.Problem.from_contacts, scree.Problem.load,
             scree.Problem.assembled, scree.Problem.bodies, scree.Problem.general, scree.Problem.from_constraints, scree.Problem.balls, scree.Problem.read,
             scree.Solver, scree.solve, scree.measure, scree.Scene, scree.World, scree.read, scree.table,
             scree.race, scree.run, core.Scene, core.Solver, core.World, core.Replay, core.measure, core.run,
             core.View, core.Problem, core.write_png, scree.performance_profile, scree.study]
    for thing in (world, problem, solver, view, run, run._replay):
        for name in dir(thing):
            if name.startswith("__") or name in ("_use_class", "_repr_html_", "plot", "page", "vtk"):
                continue
            try:
                method = getattr(thing, name)
            except EXPECTED:
                continue
            if callable(method):
                found.append(method)
    return found


WORDS = ["shape", "position", "rotation", "velocity", "radius", "mass", "material", "body", "force",
         "torque", "q", "mu", "law", "set", "tol", "threads", "step", "dimension", "gravity", "solver",
         "options", "r", "u", "n", "check", "folder", "until", "steps", "width", "colour", "indptr"]


def test_random_wrong_calls(tmp_path, monkeypatch, drop):
    monkeypatch.chdir(tmp_path)
    warnings.simplefilter("ignore")
    random.seed(12345)
    np.seterr(all="ignore")
    run = scree.run(drop, tmp_path / "run", threads=1, until=0.02)
    problem = scree.Problem(np.eye(6), [[-1, 0, 0], [-1, 1, 0]], 0.5)
    solver = scree.Solver("nlgs", tol=1e-6, threads=1, max_iterations=50, time_limit=1.0)
    done = {"exceptions": 0, "results": 0}
    world, view, things = None, None, []
    for k in range(CALLS):
        if k % 50 == 0:
            world = small_world()
            view = world.positions
            things = targets(world, problem, solver, view, run)
        function = random.choice(things)
        arguments = [values(world, problem) if not world.closed else None
                     for _ in range(random.choice([0, 1, 1, 2, 2, 3, 4, 5, 8]))]
        words = {w: values(world, problem) if not world.closed else 1 for w in
                 random.sample(WORDS, random.choice([0, 0, 1, 2]))}
        name = getattr(function, "__name__", "")
        if name in ("step", "run") and any(isinstance(a, int) and a > 3 for a in
                                           list(arguments) + list(words.values())):
            continue  # right, but long
        if name in ("force_array",) and random.random() < 0.9:
            continue
        try:
            result = function(*arguments, **words)
            if hasattr(result, "__next__"):
                next(result, None)
            done["results"] += 1
        except EXPECTED as error:
            done["exceptions"] += 1
            assert str(error) or isinstance(error, (MemoryError, KeyError, StopIteration)), function
        except RuntimeError as error:
            assert "no array" in str(error) or "NumPy" in str(error), (function, arguments)
            done["exceptions"] += 1
        del arguments, words
    assert done["exceptions"] > CALLS // 2 and done["results"] > 0


@pytest.mark.parametrize("name, call", [
    ("q", lambda: scree.Problem(np.eye(2), [[np.nan, 0]], 0.5)),
    ("q", lambda: scree.Problem(np.eye(4), np.zeros((1, 4)), 0.5)),
    ("q", lambda: scree.Problem(np.eye(2), "text", 0.5)),
    ("mu", lambda: scree.Problem(np.eye(2), [[0, 0]], [0.5, 0.5])),
    ("mu", lambda: scree.Problem(np.eye(2), [[0, 0]], [-0.5])),
    ("W", lambda: scree.Problem(np.eye(3)[:2], [[0, 0]], 0.5)),
    ("indptr", lambda: scree.Problem(([0, 5, 2], [0, 1], [1.0, 1.0]), [[0, 0]], 0.5)),
    ("indptr", lambda: scree.Problem(([0, 3, 2], [0, 1], [1.0, 1.0]), [[0, 0]], 0.5)),
    ("column", lambda: scree.Problem(([0, 1, 2], [0, 7], [1.0, 1.0]), [[0, 0]], 0.5)),
    ("body", lambda: scree.Problem.bodies([[0, -5]], np.zeros((1, 2, 2, 3)), [[0, 0]], [0.5])),
    ("set", lambda: scree.Problem(np.eye(2), [[0, 0]], 0.5, set=["cube"])),
    ("law", lambda: scree.Problem(np.eye(2), [[0, 0]], 0.5, law="tresca")),
    ("tol", lambda: scree.Solver(tol=-1)),
    ("measure", lambda: scree.Solver(measure="length")),
    ("threads", lambda: scree.Solver(threads=-1)),
    ("solver", lambda: scree.Solver("magic")),
    ("local", lambda: scree.Solver("nlgs", {"local": "magic"})),
    ("step", lambda: scree.World(dimension=2, step=0)),
    ("dimension", lambda: scree.World(dimension=4, step=1)),
    ("gravity", lambda: scree.World(dimension=3, step=1, gravity=(1, 2))),
    ("radius", lambda: scree.World(dimension=3, step=1).add_body("sphere", radius=-1)),
    ("shape", lambda: scree.World(dimension=3, step=1).add_body("disk", radius=1)),
    ("mass", lambda: scree.World(dimension=3, step=1).add_body("sphere", radius=1, mass=-1)),
    ("position", lambda: scree.World(dimension=3, step=1).add_body("sphere", (1, np.inf, 0), radius=1)),
    ("rotation", lambda: scree.World(dimension=3, step=1).add_body("sphere", radius=1, rotation=(0, 0, 0, 0))),
    ("body", lambda: scree.World(dimension=3, step=1).set_pose(7, (0, 0, 0))),
    ("material", lambda: scree.World(dimension=3, step=1).add_body("sphere", radius=1, material=3)),
    ("n", lambda: scree.World(dimension=3, step=1).step(-1)),
    ("before_step", lambda: setattr(scree.World(dimension=3, step=1), "before_step", 3)),
])
def test_messages_name_the_argument(name, call):
    with pytest.raises((ValueError, TypeError), match=name):
        call()


def test_dead_things():
    world = small_world()
    world.step()
    contacts, view = world.contacts, world.positions
    world.close()
    world.close()
    for use in (lambda: world.time, lambda: world.step(), lambda: world.positions, lambda: world.energy(),
                lambda: world.save(), lambda: world.problem, lambda: contacts.gaps, lambda: view[0],
                lambda: world.add_material(), lambda: world.analyse(), lambda: world.settings):
        with pytest.raises(scree.Error, match="closed"):
            use()
    with pytest.raises(scree.InputError):
        small_world().problem

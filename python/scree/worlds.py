"""Worlds: from a scene or by calls, stepped from Python."""
from __future__ import annotations

import json
import math
import os
from typing import Any, Callable, Iterator, Optional, Union

import numpy as np

from . import _core
from .problems import Problem


# ---- arrays that look into a world ---------------------------------------------------------------

class View(_core.View, np.lib.mixins.NDArrayOperatorsMixin):
    """An array of a world without a copy, valid until the world changes.

    It is used like a NumPy array: slices (which are Views too), arithmetic, methods, NumPy's
    functions. Once the world has changed, by a step for instance, every use raises StaleError.
    numpy.array(view) is a copy that stays valid. For functions that need a real array without a copy,

        with world.positions as x: ...

    returns one; the world cannot change while it exists.
    """

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self._array(), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kw: Any) -> Any:
        if any(isinstance(out, View) for out in kw.get("out", ())):
            raise ValueError("out: arrays of a world are read-only")
        inputs = tuple(x._array() if isinstance(x, View) else x for x in inputs)
        return self._wrap(getattr(ufunc, method)(*inputs, **kw))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = func(*_arrays(args), **_arrays(kwargs))
        if isinstance(result, (tuple, list)):
            return type(result)(self._wrap(x) for x in result)
        return self._wrap(result)

    def __getitem__(self, key: Any) -> Any:
        return self._wrap(self._array()[_arrays(key)])

    def __iter__(self) -> Iterator:
        return (self[k] for k in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        """Attributes and methods of NumPy's arrays."""
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'View' object has no attribute '{name}'")
        value = getattr(self._array(), name)
        if not callable(value):
            return self._wrap(value) if isinstance(value, np.ndarray) else value
        del value  # a method holds the array: fetch it again when it is called

        def method(*args: Any, **kw: Any) -> Any:
            return self._wrap(getattr(self._array(), name)(*_arrays(args), **_arrays(kw)))
        return method

    def __enter__(self) -> np.ndarray:
        return self._array()

    def __exit__(self, *error: Any) -> None:
        return None

    def __float__(self) -> float:
        return float(self._array())

    def __bool__(self) -> bool:
        return bool(self._array())

    def __contains__(self, value: Any) -> bool:
        return value in self._array()

    def __repr__(self) -> str:
        if not self.valid:
            return f"<scree.View {self.name}: the world has changed>"
        return f"<scree.View {self.name}\n{np.array(self)!r}>"


def _arrays(value: Any) -> Any:
    """NumPy arrays in place of Views, inside of tuples, lists and dicts too."""
    if isinstance(value, View):
        return value._array()
    if type(value) in (tuple, list):
        return type(value)(_arrays(x) for x in value)
    if type(value) is dict:
        return {k: _arrays(x) for k, x in value.items()}
    return value


_core.View._use_class(View)


class Contacts:
    """The contacts of the last step.

    Without a copy: bodies (n, 2), positions, normals (n, 3), gaps, mu (n,), impulses (n, d) on the
    first body along the normal and the tangents. Computed and copied on demand: velocities, status
    (0 open, 1 stick, 2 slip), errors, tangents, and `table`, a structured array of all.
    """

    def __init__(self, world: "World"):
        self._world = world
        self._table: Optional[np.ndarray] = None
        self._fresh = world.look("contact_body")

    def __len__(self) -> int:
        return len(self._fresh)

    bodies = property(lambda self: self._look("contact_body"))
    features = property(lambda self: self._look("contact_feature"))
    positions = property(lambda self: self._look("contact_position"))
    normals = property(lambda self: self._look("contact_normal"))
    gaps = property(lambda self: self._look("contact_gap"))
    mu = property(lambda self: self._look("contact_friction"))
    impulses = property(lambda self: self._look("contact_impulse"))

    def _look(self, name: str) -> View:
        self._fresh._array()  # raises when the world has changed
        return self._world.look(name)

    @property
    def table(self) -> np.ndarray:
        self._fresh._array()
        if self._table is None:
            self._table = self._world.contact_table()
        return self._table

    velocities = property(lambda self: self.table["u"][:, :self._world.dimension])
    status = property(lambda self: self.table["status"])
    errors = property(lambda self: self.table["error"])
    tangents = property(lambda self: self.table["tangent"])

    @property
    def forces(self) -> np.ndarray:
        """Forces on the first body in the axes of the world, (n, 3): impulses over the step."""
        t = self.table
        f = t["r"][:, :1] * t["normal"] + t["r"][:, 1:2] * t["tangent"][:, 0]
        if self._world.dimension == 3:
            f = f + t["r"][:, 2:] * t["tangent"][:, 1]
        return f / self._world.settings["step"]

    def __repr__(self) -> str:
        return f"<scree.Contacts: {len(self)}>"


# ---- scenes --------------------------------------------------------------------------------------

def _plain(value: Any) -> Any:
    """A value that JSON can represent, and YAML can read."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, View):
        return np.array(value).tolist()
    raise TypeError(f"scene: {type(value).__name__} has no place in a scene")


def _override(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_plain)


class Scene(_core.Scene):
    """A scene: a file, a YAML text (with a line break or a colon and a blank) or a dict, checked.

    set={"contact.mu": 0.3, "time.step": 1e-4} changes values, as --set does for the program.
    """

    def __new__(cls, scene: Any, set: Optional[dict] = None) -> "Scene":
        overrides = None
        if set is not None:
            if not isinstance(set, dict):
                raise TypeError(f"set: expected a dict, found {type(set).__name__}")
            overrides = {str(k): _override(v) for k, v in set.items()}
        if isinstance(scene, dict):
            text = json.dumps(scene, default=_plain, allow_nan=False)
            return super().__new__(cls, None, text, "scene", overrides)
        if isinstance(scene, str) and ("\n" in scene or ": " in scene):
            return super().__new__(cls, None, scene, "scene", overrides)
        if isinstance(scene, (str, bytes, os.PathLike)):
            return super().__new__(cls, scene, None, None, overrides)
        raise TypeError(f"scene: expected a path, a text or a dict, found {type(scene).__name__}")

    def __repr__(self) -> str:
        info = self.info
        return (f"<scree.Scene {info.title!r}: {info.dimension}D, {info.bodies + info.poured} "
                f"bodies, {info.duration:g} s>")


def as_scene(scene: Any, set: Optional[dict] = None) -> Scene:
    if isinstance(scene, Scene):
        return Scene(scene.text, set) if set else scene
    return Scene(scene, set)


def table(times: Any, values: Any) -> Callable[[float], Any]:
    """A function of time for forces and drivers: linear between the entries, constant outside."""
    times, values = np.array(times, float), np.array(values, float)
    if times.ndim != 1 or len(times) < 1 or len(values) != len(times):
        raise _core.InputError("times, values: expected as many values as times")
    if (np.diff(times) <= 0).any():
        raise _core.InputError("times: expected ascending numbers")
    flat = values.reshape(len(times), -1)

    def at(t: float) -> Any:
        row = np.array([np.interp(t, times, column) for column in flat.T])
        return float(row[0]) if values.ndim == 1 else row
    return at


# ---- worlds --------------------------------------------------------------------------------------

_shape_words = {"vertices", "parts", "triangles"} | {
    name for shape in _core.shapes() for name in shape["parameters"]}


def _shape(kind: Any, rest: dict) -> tuple:
    """The shape as a dict, and the arguments that are not the shape's."""
    words = {k: v for k, v in rest.items() if k in _shape_words}
    if isinstance(kind, dict):
        if words:
            raise TypeError(f"{next(iter(words))}: belongs into the dict of the shape")
        return kind, rest
    return {"kind": kind, **words}, {k: v for k, v in rest.items() if k not in _shape_words}


class World(_core.World):
    """Bodies and obstacles that move in time, every step certified.

    World("pile.yaml"), World(text), World({...}), World(scene, set={"contact.mu": 0.3})
        from a scene; bodies are poured and removed as the scene says.
    World(dimension=2, step=1e-3, gravity=(0, -9.81), ...)
        empty, built by calls: add_material, set_law, add_body, add_obstacle, add_force.

    Settings (also configure()): dimension, step, gravity, scheme, theta, flow, gap_tolerance,
    penetration, penetration_limit, energy_limit, creep_limit, max_work, max_retries, max_halvings,
    warm_start, solver, options, tol, measure, max_iterations, time_limit, threads.

    Arrays of the bodies, without a copy and valid until the world changes: positions,
    orientations, velocities, angular_velocities, masses, inertias, materials, flags.
    """

    def __new__(cls, scene: Any = None, set: Optional[dict] = None, **settings: Any) -> "World":
        if scene is None:
            if set is not None:
                raise TypeError("set: only with a scene")
            return super().__new__(cls, **settings)
        if not isinstance(scene, _core.Scene) or set:
            scene = as_scene(scene, set)
        return super().__new__(cls, scene, **settings)

    def __init__(self, scene: Any = None, set: Optional[dict] = None, **settings: Any):
        super().__init__()

    positions = property(lambda self: self.look("position"), doc="(n, 3), m.")
    orientations = property(lambda self: self.look("orientation"), doc="(n, 4), scalar first.")
    velocities = property(lambda self: self.look("velocity"), doc="(n, 3), m/s.")
    angular_velocities = property(lambda self: self.look("angular_velocity"), doc="(n, 3), rad/s.")
    masses = property(lambda self: self.look("mass"), doc="(n,), kg; 0 for obstacles.")
    inertias = property(lambda self: self.look("inertia"), doc="(n, 3), principal moments.")
    materials = property(lambda self: self.look("material"), doc="(n,), numbers of materials.")
    flags = property(lambda self: self.look("flags"), doc="(n,), 1: obstacle, 2: removed.")

    @property
    def moving(self) -> np.ndarray:
        """Bodies that exist and are no obstacles, (n,) bool."""
        return np.array(self.flags) == 0

    @property
    def contacts(self) -> Contacts:
        """The contacts of the last step."""
        return Contacts(self)

    @property
    def problem(self) -> Problem:
        """The contact problem of the last step, copied, with its `solution` (r, u) and the
        numbers `bodies_of_world` of its bodies."""
        problem, r, u, bodies = self.step_problem(Problem)
        problem.solution = (r, u)
        problem.bodies_of_world = bodies
        return problem

    def add_body(self, shape: Any, position: Any = None, **rest: Any) -> int:
        """Add a body and return its number. shape: the name of a kind with its parameters as keywords, or a
        dict as in scenes: add_body("sphere", (0, 0, 1), radius=0.1, density=2500)."""
        shape, rest = _shape(shape, rest)
        return super().add_body(shape, position, **rest)

    def add_obstacle(self, shape: Any, position: Any = None, **rest: Any) -> int:
        """Add an obstacle and return its number. velocity and angular_velocity drive it: vectors, functions
        of time, or scree.table(times, values)."""
        shape, rest = _shape(shape, rest)
        return super().add_obstacle(shape, position, **rest)

    def run(self, duration: Optional[float] = None, *, until: Optional[float] = None,
            steps: Optional[int] = None, stop: Optional[Callable[["World"], Any]] = None,
            check: bool = False) -> Iterator[_core.StepReport]:
        """Step for `duration` seconds, until a time, or so many steps; a scene without any of them
        to its end. Yields the report of each step. Ends when stop(world) is true, when after_step
        returns true, or when the scene's own conditions say so."""
        if sum(x is not None for x in (duration, until, steps)) > 1:
            raise TypeError("duration, until, steps: expected one of them")
        count = self._count(duration, until, steps)
        whole = duration is None and until is None and steps is None and self.scene is not None
        done = 0
        while count is None or done < count:
            if whole and done + 1 == count:
                self._fit_last_step()
            report = self.step(1, check)
            done += 1
            yield report
            if self.stopped or (stop is not None and stop(self)) or self.should_stop():
                return

    def _fit_last_step(self) -> None:
        """As a run does: the last step is shorter where the duration is no multiple of the step."""
        h, left = self.settings["step"], self.scene.info.duration - self.time
        if 1e-9 * h < left < (1 - 1e-9) * h:
            self.configure(step=left)

    def _count(self, duration: Optional[float], until: Optional[float],
               steps: Optional[int]) -> Optional[int]:
        h = self.settings["step"]
        if steps is not None:
            if steps < 0:
                raise _core.InputError(f"steps: found {steps}, expected a number >= 0")
            return int(steps)
        if duration is None and until is None:
            if self.scene is None:
                return None
            return max(0, self.scene.info.steps - self.steps)
        span = duration if duration is not None else until - self.time
        if not math.isfinite(span) or (duration is not None and span < 0):
            raise _core.InputError(f"duration: found {span}, expected a number >= 0")
        return max(0, math.ceil(span / h * (1 - 1e-12)))

    def record(self, folder: "str | os.PathLike", every: Optional[float] = None,
               **settings: Any) -> Any:
        """Write the steps that follow into the folder of a run, a frame every so many seconds
        (each step); settings: title, materials, replace, contacts. In a `with` block, or until
        close(), which gives the run."""
        from .runs import Recording
        self.start_recording(folder, every, **settings)
        return Recording(self, folder)

    def plot(self, ax: Any = None, colour: str = "velocity") -> Any:
        """Draw the bodies with Matplotlib: in 2D their outlines, in 3D seen along y."""
        from . import plots
        return plots.world(self, ax, colour)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<scree.World: closed>"
        return (f"<scree.World: {self.dimension}D, {self.body_count} bodies, t = {self.time:g} s, "
                f"{self.contact_count} contacts>")

"""Runs: scenes run into a folder, and such folders read back."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Iterator, Optional

import numpy as np

from . import _core, notebook
from .worlds import Scene, as_scene

Path = "str | os.PathLike"


class Frame:
    """A saved frame, as arrays: time, step, positions (n, 3), orientations (n, 4), velocities,
    angular_velocities (n, 3), present (n,), and `contacts`, a structured array (None when the run
    did not save them), which is read when it is asked for."""

    def __init__(self, run: "Run", number: int):
        self._run, self.number = run, number
        self._values: Optional[dict] = None
        self._contacts: Any = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._values is None:
            self._values = self._run._replay.frame(self.number, False)
        if name in self._values:
            return self._values[name]
        raise AttributeError(f"a frame has no '{name}'")

    @property
    def contacts(self) -> Optional[np.ndarray]:
        if self._contacts is False:
            self._contacts = self._run._replay.frame(self.number, True)["contacts"]
        return self._contacts

    @property
    def pressures(self) -> np.ndarray:
        """Mean pressure of each body, Pa; compression is positive."""
        return self._run._replay.pressure(self.number)

    def picture(self, **settings: Any) -> "Picture":
        return self._run.picture(frame=self.number, **settings)

    def __repr__(self) -> str:
        return f"<scree.Frame {self.number}: t = {self._run.times[self.number]:g} s>"


class Picture:
    """A picture: `pixels` (height, width, 3) uint8; save() writes PNG; a notebook shows it."""

    def __init__(self, pixels: np.ndarray):
        self.pixels = pixels

    def save(self, path: Path) -> "Picture":
        _core.write_png(path, self.pixels)
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.pixels, dtype=dtype)

    def _repr_png_(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "picture.png")
            self.save(name)
            with open(name, "rb") as file:
                return file.read()

    def __repr__(self) -> str:
        return f"<scree.Picture {self.pixels.shape[1]} x {self.pixels.shape[0]}>"


class Run:
    """The folder of a run. Data is read on demand.

    run.times, len(run), run[k], run.at(t)    frames
    run["kinetic"], run.curves                telemetry, one value for each step
    run.analysis("packing_fraction")          one value for each frame
    run.certificate, run.certified, run.verdict
    run.plot("kinetic"), run.picture(t), run.page()
    """

    def __init__(self, folder: Path, summary: Optional[_core.RunSummary] = None):
        self.folder = os.fspath(folder)
        self.summary = summary  #: of the run, when it was made here
        self._replay = _core.Replay(self.folder)

    title = property(lambda self: self._replay.info["title"])
    dimension = property(lambda self: self._replay.info["dimension"])
    step = property(lambda self: self._replay.info["step"], doc="Time step, s.")
    gravity = property(lambda self: self._replay.info["gravity"])
    note = property(lambda self: self._replay.info["note"], doc="What is missing, or ''.")
    times = property(lambda self: self._replay.times, doc="Of the frames, s.")
    steps = property(lambda self: self._replay.steps, doc="Steps done at each frame.")
    curves = property(lambda self: self._replay.curves, doc="Names of the telemetry's columns.")
    materials = property(lambda self: self._replay.materials)
    masses = property(lambda self: self._replay.bodies[0], doc="kg; inf for obstacles.")
    body_materials = property(lambda self: self._replay.bodies[1])
    obstacles = property(lambda self: self._replay.bodies[2], doc="Which bodies are obstacles.")
    certificate = property(lambda self: self._replay.certificate)
    certified = property(lambda self: self._replay.verdict[0])
    verdict = property(lambda self: self._replay.verdict[1])

    def shape(self, body: int) -> dict:
        """The shape of a body, as World.add_body takes it."""
        return self._replay.shape(body)

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Frame]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._replay.curve(key)
        if isinstance(key, slice):
            return [self[k] for k in range(*key.indices(len(self)))]
        k = key + len(self) if key < 0 else key
        if not 0 <= k < len(self):
            raise IndexError(f"frame: there is no frame {key}, the run has {len(self)}")
        return Frame(self, int(k))

    def __contains__(self, name: Any) -> bool:
        return name in self.curves

    def at(self, t: float) -> Frame:
        """The frame nearest in time."""
        return self[self._nearest(t)]

    def _nearest(self, t: float) -> int:
        k = self._replay.nearest(t)
        if k < 0:
            raise _core.InputError("the run has no frames")
        return k

    def analysis(self, name: str) -> np.ndarray:
        """A number of the analysis (docs/RESULTS.md), one value for each frame."""
        return self._replay.analysis(name)

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draw columns of the telemetry over time."""
        from . import plots
        return plots.curves(self, names, ax)

    def picture(self, t: Optional[float] = None, path: Optional[Path] = None, *,
                frame: Optional[int] = None, **settings: Any) -> Picture:
        """A picture of the frame nearest to t (the last one): width, height, colour ('velocity',
        'angular', 'size', 'material', 'id', 'stress'), chains, tight. path: also as PNG."""
        if frame is None:
            frame = len(self) - 1 if t is None else self._nearest(t)
        picture = Picture(self._replay.pixels(frame, **settings))
        return picture.save(path) if path is not None else picture

    def page(self, path: Optional[Path] = None, *, budget: Optional[float] = None,
             frames: Optional[int] = None) -> str:
        """Write the page that plays the run (report.html in its folder) and return its path."""
        path = os.path.join(self.folder, "report.html") if path is None else os.fspath(path)
        self._replay.write_page(path, budget, frames)
        return path

    def vtk(self, folder: Path, every: int = 1) -> int:
        """Write files for ParaView and return the number of frames."""
        os.makedirs(folder, exist_ok=True)
        return self._replay.write_vtk(folder, every)

    def __repr__(self) -> str:
        return f"<scree.Run {self.folder}: {len(self)} frames, {self.verdict}>"

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = self.page(os.path.join(folder, "page.html"), budget=8e6)
            with open(path, encoding="utf-8") as file:
                return notebook.page_html(file.read())


def read(folder: Path) -> Run:
    """The run in a folder."""
    return Run(folder)


def run(scene: Any, folder: Path, set: Optional[dict] = None, *, until: Optional[float] = None,
        steps: Optional[int] = None, resume: bool = False, replace: bool = False,
        threads: Optional[int] = None, progress: Optional[Callable] = None) -> Run:
    """Run a scene into a folder, as `scree run` does, and read it back. A run that is
    interrupted (Ctrl-C) can be resumed. progress(report, end) is called after each step, and may
    return true to stop."""
    summary = _core.run(as_scene(scene, set), folder, until, steps, resume, replace, threads,
                        progress)
    return Run(folder, summary)


class Recording:
    """The result of World.record: ends the recording at the end of a `with` block."""

    def __init__(self, world: Any, folder: Path):
        self.world, self.folder = world, os.fspath(folder)

    def close(self) -> Run:
        """End the recording and read the run back."""
        if self.world is not None:
            world, self.world = self.world, None
            world.stop_recording()
        return Run(self.folder)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *error: Any) -> None:
        if self.world is not None and not self.world.closed:
            self.close()

    @property
    def run(self) -> Run:
        return Run(self.folder)

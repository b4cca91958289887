"""Parameter studies: one scene with many values, in parallel processes, resumable.

Each combination is a run in a folder of its own. A process of its own makes it, with one thread, so
that a study that was stopped continues where it was when it is started again.
"""
from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
import threading
from typing import Any, Callable, Mapping, Optional, Sequence

from . import _core, tables
from .runs import Run, run as run_scene
from .worlds import _override, as_scene

_SUMMARY = "summary.json"
_JOB = "job.json"
_WORK = "import sys; from scree.studies import work; work(sys.argv[1])"


def _combinations(parameters: Mapping[str, Sequence]) -> list:
    for name, values in parameters.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise TypeError(f"{name}: expected a list of values, found {type(values).__name__}")
    names = list(parameters)
    return [dict(zip(names, values)) for values in itertools.product(*parameters.values())]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _name(values: dict, overrides: dict) -> str:
    """A name made of the values, different for any two combinations."""
    words = [f"{key.split('.')[-1]}={_plain(value)}" for key, value in values.items()]
    text = "_".join("".join(c if c.isalnum() or c in "=.-+" else "-" for c in w) for w in words)
    key = hashlib.sha1(json.dumps(overrides, sort_keys=True).encode()).hexdigest()[:8]
    return f"{text[:60]}_{key}"


def _finished(folder: str, job: dict) -> Optional[dict]:
    """The summary of a finished run of the combination, with the same scene and limits."""
    try:
        with open(os.path.join(folder, _JOB), encoding="utf-8") as file:
            if json.load(file) != job:
                return None
        with open(os.path.join(folder, _SUMMARY), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _write(path: str, value: Any) -> None:
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".part", path)


def work(folder: str) -> None:
    """One combination, in a process of its own."""
    with open(os.path.join(folder, _JOB), encoding="utf-8") as file:
        job = json.load(file)
    made = run_scene(job["scene"], os.path.join(folder, "run"), until=job["until"], resume=True,
                     threads=1)
    summary = made.summary
    names = ("steps", "time", "bodies", "contacts_max", "error_max", "penetration_max",
             "energy_created", "creep", "energy_error", "seconds", "steps_above", "finished")
    _write(os.path.join(folder, _SUMMARY), {name: getattr(summary, name) for name in names})


class _Pool:
    """Processes for the folders of a list, at most `jobs` at once."""

    def __init__(self, folders: list, jobs: int):
        self.todo, self.jobs = list(folders), jobs
        self.lock, self.processes, self.failures = threading.Lock(), set(), []
        self.stopped = False

    def _next(self) -> Optional[tuple]:
        with self.lock:
            if not self.todo or self.stopped:
                return None
            folder = self.todo.pop(0)
            here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            paths = [here] + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths),
                           "OMP_NUM_THREADS": "1"}
            process = subprocess.Popen([sys.executable, "-c", _WORK, folder],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       env=environment, text=True)
            self.processes.add(process)
            return folder, process

    def _worker(self) -> None:
        while True:
            job = self._next()
            if job is None:
                return
            folder, process = job
            error = process.communicate()[1]
            with self.lock:
                self.processes.discard(process)
                if process.returncode and not self.stopped:
                    line = (error.strip().splitlines() or ["no message"])[-1]
                    self.failures.append(f"{os.path.basename(folder)}: {line}")

    def run(self) -> None:
        threads = [threading.Thread(target=self._worker, daemon=True)
                   for _ in range(max(1, min(self.jobs, len(self.todo))))]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)  # so that Ctrl-C comes through
        except BaseException:
            with self.lock:
                self.stopped = True
                for process in self.processes:
                    process.terminate()
            raise


def study(scene: Any, parameters: Mapping[str, Sequence], folder: "str | os.PathLike" = "study", *,
          jobs: int = 2, until: Optional[float] = None, set: Optional[dict] = None,
          measure: Optional[Callable[[Run], Mapping[str, Any]]] = None) -> Any:
    """Run a scene with every combination of values, `jobs` at a time, and return one table.

        scree.study("silo.yaml", {"contact.mu": [0.1, 0.3, 0.5], "seed": [1, 2]}, jobs=2,
                    measure=lambda run: {"height": run[-1].positions[:, 1].max()})

    The columns are the parameters, what `measure` returns for each run, and the certificate.
    Combinations that are done already in `folder` are not run again, and those that were
    interrupted go on; runs of another scene or of other values are kept apart."""
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise _core.InputError(f"jobs: found {jobs!r}, expected an integer >= 1")
    if not isinstance(parameters, Mapping):
        raise TypeError(f"parameters: expected a dict, found {type(parameters).__name__}")
    if measure is not None and not callable(measure):
        raise TypeError(f"measure: expected a callable, found {type(measure).__name__}")
    base = as_scene(scene, set)
    planned = []
    for values in _combinations(parameters):
        overrides = {key: _override(value) for key, value in values.items()}
        text = as_scene(scene, {**(set or {}), **overrides}).text  # checked before anything runs
        job = {"scene": text, "until": until}
        place = os.path.join(os.fspath(folder), _name(values, {**overrides, "": base.text}))
        planned.append((values, job, place))
    missing = []
    for _, job, place in planned:
        if _finished(place, job) is None:
            os.makedirs(place, exist_ok=True)
            _write(os.path.join(place, _JOB), job)
            missing.append(place)
    pool = _Pool(missing, jobs)
    pool.run()
    if pool.failures:
        raise _core.Error("study: " + "; ".join(pool.failures))
    rows = []
    for values, job, place in planned:
        row = {key: _plain(value) for key, value in values.items()}
        if measure is not None:
            row.update(measure(Run(os.path.join(place, "run"))))
        row.update(_finished(place, job) or {})
        row["folder"] = os.path.join(place, "run")
        rows.append(row)
    return tables.make(rows)

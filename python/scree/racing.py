"""Comparison of solvers: scree.race, and the performance profile of its table."""
from __future__ import annotations

import math
import os
import time
from typing import Any, Callable, Optional, Sequence, Union

from . import _core, tables
from .problems import Problem, solve


def _problems(problems: Any) -> list:
    if isinstance(problems, (str, os.PathLike, _core.Problem)):
        problems = [problems]
    named = list(problems.items()) if isinstance(problems, dict) else None
    found = []
    for k, item in enumerate(named or problems):
        name, problem = item if named else (None, item)
        if isinstance(problem, (str, os.PathLike)):
            name = name or os.path.splitext(os.path.basename(os.fspath(problem)))[0]
            problem = Problem.load(problem)
        if not isinstance(problem, _core.Problem):
            raise TypeError(f"problems: expected problems or files, found {type(problem).__name__}")
        found.append((name or f"problem {k}", problem))
    return found


def _ours(problem: Problem, name: str, tol: float, settings: dict) -> dict:
    reason = problem.refused_by(name)
    if reason:
        return {"converged": False, "refused": reason}
    solution = solve(problem, name, tol, **settings)
    return {"converged": solution.converged, "error": solution.measures.error,
            "error_siconos": solution.measures.error_siconos, "iterations": solution.iterations,
            "seconds": solution.seconds, "refused": ""}


def _theirs(problem: Problem, function: Callable, tol: float) -> dict:
    """A solver written in Python: function(problem, tol) returns r, which is measured here."""
    start = time.perf_counter()
    r = function(problem, tol)
    seconds = time.perf_counter() - start
    measures = _core.measure(problem, r)[0]
    return {"converged": bool(measures.error <= tol), "error": measures.error,
            "error_siconos": measures.error_siconos, "iterations": None, "seconds": seconds,
            "refused": ""}


def race(problems: Any, solvers: Optional[Sequence[Union[str, Callable]]] = None,
         tol: float = 1e-4, *, time_limit: float = 10.0, draw: bool = True, ax: Any = None,
         **settings: Any) -> Any:
    """Every solver on every problem: a table (a data frame if pandas is installed) with one row
    each, and the performance profile drawn if Matplotlib is installed.

    problems: problems or FCLIB files, one, a list, or a dict by name. solvers: names, and functions
    f(problem, tol) that return r; default: all that scree has."""
    if solvers is None:
        solvers = list(_core.solvers())
    rows = []
    for name, problem in _problems(problems):
        for solver in solvers:
            head = {"problem": name, "contacts": problem.nc,
                    "solver": solver if isinstance(solver, str) else solver.__name__}
            if callable(solver):
                rows.append({**head, **_theirs(problem, solver, tol)})
            else:
                rows.append({**head, **_ours(problem, solver, tol,
                                             {"time_limit": time_limit, **settings})})
    if draw:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            pass
        else:
            performance_profile(rows, ax)
    return tables.make(rows)


def profile(table: Any) -> dict:
    """For each solver the ratios of its time to the best one, one for each problem; inf where it
    did not solve it."""
    rows = tables.records(table)
    best: dict = {}
    for row in rows:
        if row["converged"]:
            name = row["problem"]
            best[name] = min(best.get(name, math.inf), max(row["seconds"], 1e-9))
    ratios: dict = {}
    for row in rows:
        fastest = best.get(row["problem"])
        solved = row["converged"] and fastest is not None
        ratios.setdefault(row["solver"], []).append(
            max(row["seconds"], 1e-9) / fastest if solved else math.inf)
    return ratios


def performance_profile(table: Any, ax: Any = None) -> Any:
    """Draw the part of the problems that each solver has solved within tau times the best time."""
    from . import plots
    return plots.profile(profile(table), ax)

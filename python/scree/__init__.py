"""Non-smooth contact dynamics: certified solvers for hard frictional contact.

    import scree
    world = scree.World("drum.yaml")          # a scene: file, YAML text or dict
    for step in world.run(1.0):               # certified steps
        print(step.time, world.energy().kinetic)

    solution = scree.solve(problem)           # r, u, certificate, history of errors
    run = scree.run("drum.yaml", "drum-run")  # into a folder; scree.read(folder) later
    run.picture(0.5)                          # and run.page(), run.plot("kinetic")

docs/PYTHON.md is the guide. Units are SI, the normal component comes first, bodies are named by
their number.
"""
from ._core import (
    Analysis, BusyError, Energy, Error, FclibInfo, InputError, Interrupted, MachineError, Measures,
    NotConverged, RunSummary, SceneInfo, SolveInfo, ScreeWarning, StaleError, StepReport, __version__,
    Joint, joints, laws, schemes, shapes, solvers,
)
from .problems import Problem, Solution, Solver, measure, solve
from .racing import performance_profile, race
from .runs import Frame, Run, read, run
from .studies import study
from .worlds import Contacts, Scene, View, World, table

__all__ = [
    "Analysis", "BusyError", "Contacts", "Energy", "Error", "FclibInfo", "Frame", "InputError",
    "Interrupted", "Joint", "MachineError", "Measures", "NotConverged", "Problem", "Run", "RunSummary",
    "Scene", "SceneInfo", "ScreeWarning", "Solution", "SolveInfo", "Solver", "StaleError", "StepReport", "View",
    "World", "__version__", "joints", "laws", "measure", "performance_profile", "race", "read",
    "run", "schemes", "shapes", "solve", "solvers", "study", "table",
]

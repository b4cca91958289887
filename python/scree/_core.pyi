"""Types of the extension scree._core. A test compares the names with those of the extension."""
import os
from typing import Any, Callable, Optional, Sequence, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Path = Union[str, bytes, os.PathLike]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Vector = Union[ArrayLike, Callable[[float], ArrayLike]]
Drive = Union[float, Callable[[float], float]]
P = TypeVar("P", bound="Problem")

__version__: str

class Error(Exception): ...
class InputError(Error, ValueError): ...
class MachineError(Error, RuntimeError): ...
class NotConverged(Error):
    result: Any
class Interrupted(Error): ...
class StaleError(Error, RuntimeError): ...
class BusyError(Error, RuntimeError): ...
class ScreeWarning(UserWarning): ...

class Measures(tuple):
    error: float
    error_siconos: float
    eps_glob: float
    eps_motion: float
    eps_proj: float
    eps_bipotential: float
    eps_penetration: float
    merit: float
    worst_contact: int
    worst_error: float
    rho: float
    scale: float
    cone_violation: float
    dilatation_max: float
    dilatation_mean: float

class SolveInfo(tuple):
    converged: bool
    value: float
    measures: Measures
    iterations: int
    factorisations: int
    work: float
    seconds: float
    solver: Optional[str]

class Energy(tuple):
    kinetic: float
    potential: float
    elastic: float
    forces: float
    drivers: float
    normal: float
    friction: float
    viscous: float
    plastic: float
    scheme: float
    push: float
    closing: float

class StepReport(tuple):
    certified: bool
    missed: int
    step: int
    time: float
    h: float
    contacts: int
    active: int
    contacts_above: int
    error: float
    tolerance: float
    penetration: float
    cone_violation: float
    joints: int
    joint_error: float
    energy_created: float
    penetration_limit: float
    energy_limit: float
    creep: float
    creep_limit: float
    worst_body: tuple[int, int]
    deepest_body: tuple[int, int]
    iterations: int
    solves: int
    retries: int
    substeps: int
    solve: SolveInfo
    energy: Energy
    seconds_detect: float
    seconds_build: float
    seconds_solve: float
    seconds_move: float
    seconds_certify: float

class Analysis(tuple):
    kinetic: float
    kinetic_rotation: float
    potential: float
    momentum: Doubles
    angular_momentum: Doubles
    centre: Doubles
    mass: float
    open: int
    stick: int
    slip: int
    coordination: float
    coordination_touching: float
    rattlers: int
    penetration: float
    volume: float
    packing_fraction: float
    stress: Doubles
    fabric: Doubles

class SceneInfo(tuple):
    title: Optional[str]
    description: Optional[str]
    dimension: int
    bodies: int
    obstacles: int
    poured: int
    materials: int
    forces: int
    step: float
    duration: float
    steps: int
    frame_steps: int
    smallest: float

class RunSummary(tuple):
    steps: int
    time: float
    bodies: int
    contacts_max: int
    error_max: float
    tolerance: float
    penetration_max: float
    penetration_limit: float
    energy_created: float
    energy_limit: float
    creep: float
    creep_limit: float
    energy_error: float
    seconds: float
    seconds_detect: float
    seconds_solve: float
    steps_above: int
    iterations: int
    substeps: int
    frames: int
    finished: bool
    resumed: bool
    reason: Optional[str]

class FclibInfo(tuple):
    is_global: bool
    dofs: int
    asymmetry: float
    has_solution: bool
    guesses: int
    title: str
    description: str
    math_info: str

class Certificate(tuple):
    steps: int
    above: int
    first_above: int
    tolerance: float
    error: float
    error_step: int
    worst: tuple[int, int]
    penetration: float
    penetration_step: int
    deepest: tuple[int, int]
    penetration_limit: float
    energy_created: float
    energy_limit: float
    creep: float
    creep_limit: float
    energy_error: float
    contacts_max: int
    seconds: float

class Joint(tuple):
    position: Doubles
    x: float
    velocity: float
    force: Doubles
    torque: Doubles
    effort: float
    error: float
    broken: bool
    plastic: float

class Problem:
    @classmethod
    def assembled(cls: type[P], indptr: ArrayLike, indices: ArrayLike, data: ArrayLike, q: ArrayLike,
                  mu: ArrayLike, law: Optional[str] = None, set: Optional[ArrayLike] = None,
                  set_a: Optional[ArrayLike] = None, set_b: Optional[ArrayLike] = None,
                  flow: Optional[ArrayLike] = None) -> P: ...
    @classmethod
    def bodies(cls: type[P], body: ArrayLike, B: ArrayLike, q: ArrayLike, mu: ArrayLike,
               law: Optional[str] = None, set: Optional[ArrayLike] = None,
               set_a: Optional[ArrayLike] = None, set_b: Optional[ArrayLike] = None,
               flow: Optional[ArrayLike] = None, compliance: Optional[ArrayLike] = None,
               nbodies: Optional[int] = None) -> P: ...
    @classmethod
    def balls(cls: type[P], body: ArrayLike, normal: ArrayLike, arm: ArrayLike, q: ArrayLike,
              mu: ArrayLike, law: Optional[str] = None, set: Optional[ArrayLike] = None,
              set_a: Optional[ArrayLike] = None, set_b: Optional[ArrayLike] = None,
              flow: Optional[ArrayLike] = None, compliance: Optional[ArrayLike] = None,
              nbodies: Optional[int] = None) -> P: ...
    @classmethod
    def general(cls: type[P], vertex_size: ArrayLike, rows: ArrayLike, touches: ArrayLike,
                touched: ArrayLike, B: ArrayLike, q: ArrayLike, mu: ArrayLike, set: ArrayLike,
                set_a: ArrayLike, set_b: ArrayLike, law: Optional[str] = None) -> P: ...
    @classmethod
    def read(cls: type[P], path: Path, law: Optional[str] = None
             ) -> tuple[P, FclibInfo, Optional[Doubles], Optional[Doubles]]: ...
    def write(self, path: Path, r: Optional[ArrayLike] = None, u: Optional[ArrayLike] = None,
              title: Optional[str] = None) -> None: ...
    def replace(self: P, q: Optional[ArrayLike] = None, mu: Optional[ArrayLike] = None,
                law: Optional[str] = None) -> P: ...
    def assemble(self: P) -> P: ...
    def csr(self) -> tuple[NDArray[np.int64], Ints, Doubles]: ...
    def pattern(self) -> tuple[NDArray[np.uint64], Ints]: ...
    def refused_by(self, solver: str) -> Optional[str]: ...
    d: int
    nc: int
    rows: int
    law: str
    kind: str
    q: Doubles
    mu: Doubles
    set: Optional[NDArray[np.uint8]]
    set_a: Optional[Doubles]
    set_b: Optional[Doubles]
    flow: Optional[Doubles]
    nbodies: int
    body: Optional[Ints]
    B: Optional[Doubles]
    compliance: Optional[Doubles]

class Solver:
    def __new__(cls, solver: Optional[str] = None, options: Optional[dict] = None,
                tol: Optional[float] = None, measure: Optional[str] = None,
                max_iterations: Optional[int] = None, time_limit: Optional[float] = None,
                work_limit: Optional[float] = None, threads: Optional[int] = None) -> "Solver": ...
    def solve(self, problem: Problem, r0: Optional[ArrayLike] = None,
              stop: Optional[Callable[[int, float], Any]] = None) -> Any: ...
    def save(self) -> bytes: ...
    def restore(self, state: bytes) -> None: ...
    memory: int

class Scene:
    def __new__(cls, path: Optional[Path] = None, text: Optional[str] = None,
                name: Optional[str] = None, overrides: Optional[dict] = None) -> "Scene": ...
    text: str
    info: SceneInfo
    materials: list[str]

class View:
    def _array(self) -> np.ndarray: ...
    def _wrap(self, value: Any) -> Any: ...
    @staticmethod
    def _use_class(cls: type) -> None: ...
    def __len__(self) -> int: ...
    shape: tuple[int, ...]
    valid: bool
    name: str

class World:
    def __new__(cls, scene: Optional[Scene] = None, **settings: Any) -> "World": ...
    def step(self, n: int = 1, check: bool = False) -> StepReport: ...
    def configure(self, **settings: Any) -> None: ...
    def should_stop(self) -> Optional[str]: ...
    def close(self) -> None: ...
    def look(self, name: str) -> Any: ...
    def add_material(self) -> int: ...
    def set_law(self, law: str = "coulomb", mu: Optional[float] = None, *,
                between: Optional[Sequence[int]] = None, **parameters: float) -> None: ...
    def add_body(self, shape: Any, position: Optional[ArrayLike] = None,
                 rotation: Optional[ArrayLike] = None, velocity: Optional[ArrayLike] = None,
                 angular_velocity: Optional[ArrayLike] = None, density: Optional[float] = None,
                 mass: Optional[float] = None, inertia: Optional[ArrayLike] = None,
                 material: Optional[int] = None, group: Optional[int] = None) -> int: ...
    def add_obstacle(self, shape: Any, position: Optional[ArrayLike] = None,
                     rotation: Optional[ArrayLike] = None, velocity: Optional[Vector] = None,
                     angular_velocity: Optional[Vector] = None, material: Optional[int] = None,
                     group: Optional[int] = None, belt: bool = False) -> int: ...
    def remove_body(self, body: int) -> None: ...
    def set_driver(self, body: int, velocity: Optional[Vector] = None,
                   angular_velocity: Optional[Vector] = None) -> None: ...
    def add_force(self, body: Optional[int] = None, force: Optional[Vector] = None,
                  torque: Optional[Vector] = None, acceleration: Optional[Vector] = None) -> int: ...
    def set_force(self, index: int, body: Optional[int] = None, force: Optional[Vector] = None,
                  torque: Optional[Vector] = None, acceleration: Optional[Vector] = None) -> int: ...
    def add_joint(self, kind: str, bodies: Sequence[int], anchor: Optional[ArrayLike] = None,
                  anchor2: Optional[ArrayLike] = None, axis: Optional[ArrayLike] = None,
                  axis2: Optional[ArrayLike] = None, velocity: Optional[Drive] = None,
                  target: Optional[Drive] = None, force: Optional[float] = None,
                  stiffness: Optional[float] = None, damping: Optional[float] = None,
                  rest: Optional[float] = None, friction: Optional[float] = None,
                  lower: Optional[float] = None, upper: Optional[float] = None,
                  restitution: Optional[float] = None, collide: bool = False,
                  tension: Optional[float] = None, shear: Optional[float] = None,
                  bending: Optional[float] = None, torsion: Optional[float] = None,
                  break_at: Optional[float] = None) -> int: ...
    def add_bonds(self, between: Optional[tuple[Sequence[int], Sequence[int]]] = None,
                  tension: Optional[float] = None, shear: Optional[float] = None,
                  bending: Optional[float] = None, torsion: Optional[float] = None,
                  stress: bool = False, width: Optional[float] = None, gap: Optional[float] = None,
                  label: Optional[int] = None, break_at: Optional[float] = None) -> int: ...
    def bonds(self, label: Optional[int] = None) -> tuple[int, int]: ...
    def set_motor(self, joint: int, velocity: Optional[Drive] = None,
                  target: Optional[Drive] = None, force: Optional[float] = None) -> None: ...
    def joint(self, joint: int) -> Joint: ...
    def force_array(self) -> Doubles: ...
    def energy(self) -> Energy: ...
    def analyse(self, lower: Optional[ArrayLike] = None,
                upper: Optional[ArrayLike] = None) -> Analysis: ...
    def deepest(self) -> tuple[float, tuple[int, int]]: ...
    def set_pose(self, body: int, position: Optional[ArrayLike] = None,
                 rotation: Optional[ArrayLike] = None) -> None: ...
    def set_velocity(self, body: int, velocity: Optional[ArrayLike] = None,
                     angular_velocity: Optional[ArrayLike] = None) -> None: ...
    def shape(self, body: int) -> dict: ...
    def contact_table(self) -> np.ndarray: ...
    def step_problem(self, type: type[P]) -> tuple[P, Doubles, Doubles, Ints]: ...
    def save(self) -> bytes: ...
    def restore(self, state: bytes) -> None: ...
    def start_recording(self, folder: Path, every: Optional[float] = None,
                        title: Optional[str] = None, materials: Optional[Sequence[str]] = None,
                        replace: bool = False, contacts: bool = True) -> None: ...
    def stop_recording(self) -> None: ...
    settings: dict
    before_step: Optional[Callable[[Any], Any]]
    after_step: Optional[Callable[[Any, StepReport], Any]]
    report: Optional[StepReport]
    scene: Optional[Scene]
    stopped: bool
    closed: bool
    time: float
    steps: int
    body_count: int
    contact_count: int
    joint_count: int
    dimension: int
    memory: int

class Replay:
    def __new__(cls, folder: Path) -> "Replay": ...
    def frame(self, frame: int, contacts: bool = True) -> dict: ...
    def pressure(self, frame: int) -> Doubles: ...
    def nearest(self, t: float) -> int: ...
    def curve(self, name: str) -> Doubles: ...
    def analysis(self, name: str) -> Doubles: ...
    def shape(self, body: int) -> dict: ...
    def write_page(self, path: Path, budget: Optional[float] = None,
                   frames: Optional[int] = None) -> int: ...
    def pixels(self, frame: int, width: int = 1280, height: int = 800, colour: str = "velocity",
               chains: bool = False, tight: bool = False) -> NDArray[np.uint8]: ...
    def write_vtk(self, folder: Path, every: int = 1) -> int: ...
    info: dict
    times: Doubles
    steps: NDArray[np.int64]
    curves: list[str]
    materials: list[str]
    bodies: tuple[Doubles, Ints, NDArray[np.bool_]]
    certificate: Certificate
    verdict: tuple[bool, str, list[tuple[str, str, bool]]]

def measure(problem: Problem, r: ArrayLike, u: Optional[ArrayLike] = None
            ) -> tuple[Measures, Doubles]: ...
def run(scene: Scene, folder: Path, until: Optional[float] = None, steps: Optional[int] = None,
        resume: bool = False, replace: bool = False, threads: Optional[int] = None,
        progress: Optional[Callable[[StepReport, float], Any]] = None) -> RunSummary: ...
def write_png(path: Path, pixels: NDArray[np.uint8]) -> None: ...
def solvers() -> dict[str, dict]: ...
def laws() -> dict[str, dict]: ...
def schemes() -> dict[str, str]: ...
def joints() -> dict[str, str]: ...
def shapes() -> list[dict]: ...

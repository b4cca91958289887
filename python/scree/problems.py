"""Contact problems and their solution: u = W r + q, r in its cone, Coulomb's law.

W comes as a dense array, a SciPy sparse matrix, compressed rows or blocks, or as bodies with their
contacts. Vectors have the shape (nc, d), normal component first.
"""
from __future__ import annotations

import os
from typing import Any, Callable, Optional, Sequence

import numpy as np

from . import _core, notebook

#: names of the sets that impulses are confined to, as `Problem.set` numbers them
SETS = ("cone", "shifted", "cone-ball", "capped", "half-line", "space", "ball", "rolling")


def _rows(W: Any) -> tuple:
    """Compressed rows (indptr, indices, data) of a dense or SciPy matrix, or the given ones."""
    if isinstance(W, tuple):
        if len(W) != 3:
            raise TypeError(f"W: expected (indptr, indices, data), found {len(W)} arrays")
        return W
    if hasattr(W, "tocsr"):
        csr = W.tocsr()
        if csr.shape[0] != csr.shape[1]:
            raise _core.InputError(f"W: found a matrix of shape {csr.shape}, expected a square one")
        return csr.indptr, csr.indices, csr.data
    dense = np.asarray(W)
    if dense.dtype.kind not in "fiub":
        raise TypeError(f"W: expected numbers, found {dense.dtype}")
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise _core.InputError(f"W: found an array of shape {dense.shape}, expected a square one")
    row, column = np.nonzero(dense)
    indptr = np.zeros(len(dense) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=len(dense)), out=indptr[1:])
    return indptr, column, dense[row, column]


def _blocks_to_rows(row: Any, col: Any, x: Any) -> tuple:
    """Compressed rows of numbers from compressed rows of blocks x (n, d, d)."""
    row, col = np.asarray(row), np.asarray(col)
    x = np.asarray(x, dtype=float)
    if x.ndim != 3 or x.shape[1] != x.shape[2]:
        raise _core.InputError(f"x: found an array of shape {x.shape}, expected (n, d, d)")
    if row.ndim != 1 or col.shape != (len(x),) or len(row) < 1:
        raise _core.InputError("row, col: expected (nc + 1,) and (n,), as of compressed rows")
    if row.dtype.kind not in "iu" or col.dtype.kind not in "iu":
        raise TypeError("row, col: expected integers")
    count = np.diff(row.astype(np.int64))
    if row[0] != 0 or row[-1] != len(x) or (count < 0).any():
        raise _core.InputError(f"row: expected ascending numbers from 0 to {len(x)}")
    d = x.shape[1]
    owner = np.repeat(np.arange(len(count)), count)
    # by block row, row within the block, block, column within the block
    order = np.lexsort((np.tile(np.arange(d), len(x) * d),
                        np.repeat(np.arange(len(x)), d * d),
                        np.tile(np.repeat(np.arange(d), d), len(x)),
                        np.repeat(owner, d * d)))
    columns = (col.astype(np.int64)[:, None, None] * d + np.arange(d)[None, None, :])
    columns = np.broadcast_to(columns, x.shape).reshape(-1)[order]
    indptr = np.zeros(len(count) * d + 1, dtype=np.int64)
    np.cumsum(np.repeat(count * d, d), out=indptr[1:])
    return indptr, columns, x.reshape(-1)[order]


def _sets(kinds: Any) -> Any:
    """Numbers of sets from their names."""
    if kinds is None or isinstance(kinds, np.ndarray):
        return kinds
    numbers = []
    for kind in kinds:
        if isinstance(kind, str):
            if kind not in SETS:
                raise _core.InputError(f"set: found '{kind}', expected one of {', '.join(SETS)}")
            kind = SETS.index(kind)
        numbers.append(kind)
    return np.asarray(numbers, dtype=np.int64) if numbers else np.zeros(0, dtype=np.int64)


def _frames(normal: np.ndarray) -> np.ndarray:
    """Orthonormal frames (nc, d, 3) with the given unit normals first; tangents are the library's."""
    n = normal
    if n.shape[1] == 2:
        n = np.column_stack([n, np.zeros(len(n))])
        return np.stack([n, np.column_stack([-n[:, 1], n[:, 0], n[:, 2]])], axis=1)
    o = np.where(np.signbit(n[:, 2]), -1.0, 1.0)
    p = -1 / (o + n[:, 2])
    x, y = n[:, 0], n[:, 1]
    t1 = np.column_stack([1 + o * x * x * p, o * x * y * p, -o * x])
    t2 = np.column_stack([x * y * p, o + y * y * p, -y])
    return np.stack([n, t1, t2], axis=1)


class Problem(_core.Problem):
    """A discrete contact problem; it never changes.

    Problem(W, q, mu)                      W dense, scipy.sparse, or (indptr, indices, data)
    Problem.from_blocks(row, col, x, ...)  W in compressed rows of d x d blocks
    Problem.from_contacts(...)             from masses, positions, points and normals
    Problem.bodies(body, B, q, mu)         W = B B^T + C, never formed
    Problem.from_constraints(...)          joints, motors, contacts: 1 to 6 rows each
    Problem.load("file.hdf5")              an FCLIB file; problem.save("file.hdf5")

    q has the shape (nc, d), or nc * d numbers in a row; mu one number or (nc,).
    """

    frames: Any = None    #: (nc, d, 3) of from_contacts
    info: Any = None      #: of the FCLIB file that it was loaded from
    path: Any = None
    solution: Any = None  #: (r, u) of that file

    def __new__(cls, W: Any, q: Any, mu: Any, *, law: Optional[str] = None, set: Any = None,
                set_a: Any = None, set_b: Any = None, flow: Any = None) -> "Problem":
        indptr, indices, data = _rows(W)
        q, mu = _vectors(q, mu)
        if not isinstance(W, tuple) and np.size(q) != len(indptr) - 1:
            raise _core.InputError(f"q: found {np.size(q)} numbers, expected {len(indptr) - 1}, one "
                                   "for each row of W")
        return cls.assembled(indptr, indices, data, q, mu, law, _sets(set), set_a, set_b, flow)

    @classmethod
    def from_blocks(cls, row: Any, col: Any, x: Any, q: Any, mu: Any, **rest: Any) -> "Problem":
        """W in compressed rows of blocks: block row c has the blocks x[row[c]:row[c+1]]."""
        return cls(_blocks_to_rows(row, col, x), q, mu, **rest)

    @classmethod
    def from_contacts(cls, masses: Any, inertias: Any, positions: Any, pairs: Any, points: Any,
                      normals: Any, mu: Any, velocities: Any = None, spins: Any = None,
                      q: Any = None, **rest: Any) -> "Problem":
        """A problem from bodies and the contacts between them, never assembled.

        masses (n,); inertias (n,) in 2D and (n, 3, 3) in 3D, about the axes of the world;
        positions (n, d). Contact c touches pairs[c], -1 for an obstacle, at points[c], with the
        unit normal from the second body to the first. q is given, or made of velocities (n, d)
        and spins. The problem's `frames` are those of r and u: (nc, d, 3).
        """
        masses, positions = np.asarray(masses, float), np.asarray(positions, float)
        pairs, points = np.asarray(pairs), np.asarray(points, float)
        normals, inertias = np.asarray(normals, float), np.asarray(inertias, float)
        if positions.ndim != 2 or positions.shape[1] not in (2, 3):
            raise _core.InputError(f"positions: found shape {positions.shape}, expected (n, 2) or (n, 3)")
        n, d = positions.shape
        nc = len(normals)
        wanted = {"masses": (masses, (n,)), "pairs": (pairs, (nc, 2)), "points": (points, (nc, d)),
                  "normals": (normals, (nc, d)),
                  "inertias": (inertias, (n,) if d == 2 else (n, 3, 3))}
        for name, (array, shape) in wanted.items():
            if array.shape != shape:
                raise _core.InputError(f"{name}: found shape {array.shape}, expected {shape}")
        if not (masses > 0).all():
            raise _core.InputError("masses: expected numbers > 0")
        if pairs.size and (pairs.dtype.kind not in "iu" or pairs.min() < -1 or pairs.max() >= n):
            raise _core.InputError(f"pairs: expected numbers of bodies, -1 to {n - 1}")
        length = np.linalg.norm(normals, axis=1)
        if not np.allclose(length, 1, rtol=1e-6, atol=0):
            raise _core.InputError("normals: expected unit vectors")
        frames = _frames(normals / length[:, None])
        H = _jacobians(frames, positions, pairs, points)
        spread = _scales(masses, inertias, d)
        B = np.zeros_like(H)
        for side in range(2):
            there = pairs[:, side] >= 0
            B[there, side] = np.einsum("cij,cjk->cik", H[there, side],
                                       spread[pairs[there, side]])
        if q is None:
            v = _twists(velocities, spins, n, d)
            q = np.zeros((nc, d))
            for side in range(2):
                there = pairs[:, side] >= 0
                q[there] += np.einsum("cij,cj->ci", H[there, side], v[pairs[there, side]])
        q, mu = _vectors(q, mu, nc)
        problem = cls.bodies(pairs, B, q, mu, nbodies=n, **rest)
        problem.frames = frames
        return problem

    @classmethod
    def from_constraints(cls, vertex_sizes: Any, constraints: Sequence[dict],
                         law: Optional[str] = None) -> "Problem":
        """A problem of constraints of 1 to 6 rows (joints, motors, contacts) over vertices of any
        size. Each constraint is a dict: q (rows,); blocks, a dict of vertex: B (rows, size), scaled
        by the square root of the inertia; set (a name, "space" for bilateral constraints), mu, a, b."""
        sizes = np.asarray(vertex_sizes)
        flat: dict = {name: [] for name in ("rows", "touches", "touched", "B", "q", "mu", "set", "a", "b")}
        for k, c in enumerate(constraints):
            q = np.atleast_1d(np.asarray(c["q"], float))
            flat["rows"].append(len(q))
            flat["touches"].append(len(c["blocks"]))
            for vertex, block in c["blocks"].items():
                block = np.asarray(block, float)
                if not 0 <= vertex < len(sizes) or block.shape != (len(q), sizes[vertex]):
                    raise _core.InputError(f"constraints: block of constraint {k} and vertex {vertex} "
                                           f"has the shape {block.shape}")
                flat["touched"].append(vertex)
                flat["B"].append(block.ravel())
            flat["q"].append(q)
            flat["set"].append(c.get("set", "space"))
            for name in ("mu", "a", "b"):
                flat[name].append(float(c.get(name, 0)))
        joined = [np.concatenate(flat[name]) if flat[name] else np.zeros(0) for name in ("B", "q")]
        whole = [np.asarray(flat[name], dtype=np.int64) for name in ("rows", "touches", "touched")]
        return cls.general(sizes, *whole, *joined, np.array(flat["mu"]), _sets(flat["set"]),
                           np.array(flat["a"]), np.array(flat["b"]), law)

    @classmethod
    def load(cls, path: "str | os.PathLike", law: Optional[str] = None) -> "Problem":
        """The problem of an FCLIB file; `info` and, if it is there, `solution` (r, u) with it."""
        problem, info, r, u = cls.read(path, law)
        problem.info = info
        problem.path = os.fspath(path)
        problem.solution = None if r is None else (r, u)
        return problem

    def save(self, path: "str | os.PathLike", r: Any = None, u: Any = None,
             title: Optional[str] = None) -> None:
        """Write an FCLIB file, with the solution if r (and u) are given."""
        if r is not None and u is None:
            u = _core.measure(self, r)[1]
        self.write(path, r, u, title)

    @property
    def W(self) -> Any:
        """W as a SciPy matrix in compressed rows, without a copy of its numbers; a dense array
        where SciPy is missing."""
        indptr, indices, data = self.assemble().csr()
        n = self.nc * self.d
        try:
            from scipy.sparse import csr_matrix
        except ImportError:
            W = np.zeros((n, n))
            W[np.repeat(np.arange(n), np.diff(indptr)), indices] = data
            return W
        return csr_matrix((data, indices, indptr), shape=(n, n), copy=False)

    def project(self, x: Any) -> np.ndarray:
        """The nearest point of the cones; problems of cones alone."""
        if self.set is not None and np.any(self.set):
            raise _core.InputError("project: expected a problem of cones")
        x = np.array(x, float).reshape(self.nc, self.d)
        n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
        inside, polar = t <= self.mu * n, self.mu * t <= -n
        s = (n + self.mu * t) / (1 + self.mu ** 2)
        factor = self.mu * s / np.where(t > 0, t, 1)
        out = np.column_stack([s, x[:, 1:] * factor[:, None]])
        out[inside], out[polar] = x[inside], 0
        return out

    def __repr__(self) -> str:
        size = f"{self.nc} contacts" if self.kind != "general" else f"{self.rows} rows"
        return f"<scree.Problem: {size}, {self.d}D, {self.kind}, {self.law}>"

    def _repr_html_(self) -> str:
        return notebook.problem_html(self)


def _vectors(q: Any, mu: Any, nc: Optional[int] = None) -> tuple:
    """q (nc, d) and mu (nc,) from numbers, lists or arrays."""
    q, mu = np.asarray(q), np.asarray(mu)
    if mu.dtype.kind not in "fiub" or q.dtype.kind not in "fiub":
        raise TypeError("q, mu: expected numbers")
    if q.ndim == 1:
        count = len(mu) if mu.ndim == 1 else nc
        if not count or q.size % count:
            raise _core.InputError(
                f"q: found {q.size} numbers, expected the shape (nc, d), or mu of the shape (nc,)")
        q = q.reshape(count, -1)
    if mu.ndim == 0 and q.ndim == 2:
        mu = np.full(len(q), float(mu))
    return q, mu


def _twists(velocities: Any, spins: Any, n: int, d: int) -> np.ndarray:
    v = np.zeros((n, 3 if d == 2 else 6))
    if velocities is not None:
        v[:, :d] = np.asarray(velocities, float).reshape(n, d)
    if spins is not None:
        v[:, d:] = np.asarray(spins, float).reshape(n, -1)
    return v


def _jacobians(frames: np.ndarray, positions: np.ndarray, pairs: np.ndarray,
               points: np.ndarray) -> np.ndarray:
    """H (nc, 2, d, nb): the relative velocity is the first body's less the second's."""
    nc, d = points.shape
    H = np.zeros((nc, 2, d, 3 if d == 2 else 6))
    for side, sign in ((0, 1.0), (1, -1.0)):
        there = pairs[:, side] >= 0
        arm = np.zeros((there.sum(), 3))
        arm[:, :d] = points[there] - positions[pairs[there, side]]
        f = frames[there]
        H[there, side, :, :d] = sign * f[:, :, :d]
        turn = np.cross(arm[:, None, :], f)
        H[there, side, :, d:] = sign * (turn[:, :, 2:] if d == 2 else turn)
    return H


def _scales(masses: np.ndarray, inertias: np.ndarray, d: int) -> np.ndarray:
    """L^-T of the inertia M = L L^T of each body, (n, nb, nb)."""
    n = len(masses)
    nb = 3 if d == 2 else 6
    out = np.zeros((n, nb, nb))
    for k in range(d):
        out[:, k, k] = 1 / np.sqrt(masses)
    if d == 2:
        if not (inertias > 0).all():
            raise _core.InputError("inertias: expected numbers > 0")
        out[:, 2, 2] = 1 / np.sqrt(inertias)
        return out
    try:
        lower = np.linalg.cholesky(inertias)
    except np.linalg.LinAlgError:
        raise _core.InputError("inertias: expected positive definite matrices") from None
    out[:, 3:, 3:] = np.transpose(np.linalg.inv(lower), (0, 2, 1))
    return out


class Solution:
    """The result of a solve: impulses r, velocities u, the certificate and the history.

    r, u            (nc, d)
    converged       the chosen measure is at most the tolerance
    value           of that measure; `measures` has all of them
    iterations, seconds, solver, info
    history         (iterations, errors): the measure after each measured iteration
    """

    def __init__(self, problem: Problem, r: np.ndarray, u: np.ndarray, info: _core.SolveInfo,
                 history: tuple, settings: dict):
        self.problem, self.r, self.u, self.info, self.history = problem, r, u, info, history
        self.settings = settings

    converged = property(lambda self: self.info.converged)
    value = property(lambda self: self.info.value)
    measures = property(lambda self: self.info.measures)
    error = property(lambda self: self.info.measures.error)
    iterations = property(lambda self: self.info.iterations)
    seconds = property(lambda self: self.info.seconds)
    solver = property(lambda self: self.info.solver)

    def plot(self, ax: Any = None) -> Any:
        """Draw the error over the iterations."""
        from . import plots
        return plots.convergence(self, ax)

    def save(self, path: "str | os.PathLike", title: Optional[str] = None) -> None:
        """Write the problem with this solution as an FCLIB file."""
        self.problem.save(path, self.r, self.u, title)

    def __repr__(self) -> str:
        verdict = "converged" if self.converged else "not converged"
        return (f"<scree.Solution: {verdict}, {self.value:.2e} after {self.iterations} iterations "
                f"of {self.solver}, {self.seconds:.2g} s>")

    def _repr_html_(self) -> str:
        return notebook.solution_html(self)


class Solver(_core.Solver):
    """Solves problems one after the other and keeps its memory: work, colouring, factor.

    Solver("nlgs", {"local": "exact"}, tol=1e-8, measure="error", max_iterations=0, time_limit=0,
    work_limit=0, threads=0). scree.solvers() has the names and their options. A new solver gives
    the bits of scree.solve; save() and restore() carry over its memory.
    """

    def __init__(self, solver: str = "auto", options: Optional[dict] = None, **settings: Any):
        super().__init__()
        self.settings = {"solver": solver, "options": options, **settings}

    def solve(self, problem: Problem, r0: Any = None, *, stop: Optional[Callable] = None,
              check: bool = False) -> Solution:
        """Solve from r0 (zero). stop(iteration, error) may return true to end the solve; with
        check=True a result above the tolerance raises NotConverged."""
        if r0 is not None and isinstance(problem, _core.Problem):
            r0 = np.asarray(r0)
            if r0.ndim == 1 and r0.size == problem.nc * problem.d:
                r0 = r0.reshape(problem.nc, problem.d)
        r, u, info, history = super().solve(problem, r0, stop)
        solution = Solution(problem, r, u, info, history, self.settings)
        if check and not info.converged:
            error = _core.NotConverged(f"{info.solver}: {info.value:.3g} after {info.iterations} "
                                       f"iterations is above the tolerance")
            error.result = solution
            raise error
        return solution


def solve(problem: Problem, solver: str = "auto", tol: float = 1e-8, *,
          options: Optional[dict] = None, r0: Any = None, stop: Optional[Callable] = None,
          check: bool = False, **settings: Any) -> Solution:
    """Solve a problem. A result above the tolerance is returned too (`converged` is false), unless
    check=True. Further settings: measure, max_iterations, time_limit, work_limit, threads."""
    return Solver(solver, options, tol=tol, **settings).solve(problem, r0, stop=stop, check=check)


def measure(problem: Problem, r: Any, u: Any = None) -> _core.Measures:
    """Every error of impulses r; u is W r + q, a u that is given is only compared with it."""
    def shaped(x: Any) -> Any:
        x = np.asarray(x)
        if isinstance(problem, _core.Problem) and x.ndim == 1 and x.size == problem.nc * problem.d:
            return x.reshape(problem.nc, problem.d)
        return x
    return _core.measure(problem, shaped(r), None if u is None else shaped(u))[0]

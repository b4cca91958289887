"""Problems from arrays and files, solving, measuring, racing."""
import threading

import numpy as np
import pytest
import scree
from conftest import needs_speed

W2 = np.array([[1.0, 0.1, 0.3, 0.0], [0.1, 1.2, 0.0, 0.2], [0.3, 0.0, 1.1, 0.0], [0.0, 0.2, 0.0, 0.9]])
Q2 = np.array([[-1.0, 0.4], [-0.5, -2.0]])


def test_one_contact_by_hand():
    # W = 1: r_n = 1 takes the normal velocity away, friction is at its limit mu r_n along -u_T
    solution = scree.solve(scree.Problem(np.eye(3), [[-1, 3, 4]], 0.5))
    assert solution.converged
    assert np.allclose(solution.r, [[1, -0.3, -0.4]], atol=1e-8)
    assert np.allclose(solution.u, [[0, 2.7, 3.6]], atol=1e-8)


def test_forms_of_w_are_the_same():
    sparse = pytest.importorskip("scipy.sparse")
    blocks = [W2[:2, :2], W2[:2, 2:], W2[2:, :2], W2[2:, 2:]]
    problems = [scree.Problem(W2, Q2, 0.3), scree.Problem(sparse.csr_matrix(W2), Q2, [0.3, 0.3]),
                scree.Problem(sparse.bsr_matrix(W2, blocksize=(2, 2)), Q2.ravel(), [0.3, 0.3]),
                scree.Problem(sparse.coo_matrix(W2), Q2, 0.3),
                scree.Problem.from_blocks([0, 2, 4], [0, 1, 0, 1], blocks, Q2, 0.3)]
    csr = sparse.csr_matrix(W2)
    problems.append(scree.Problem((csr.indptr, csr.indices, csr.data), Q2, 0.3))
    first = scree.solve(problems[0]).r
    for problem in problems:
        assert np.array_equal(problem.W.toarray(), W2)
        assert np.array_equal(scree.solve(problem).r, first)


def test_bodies_and_assembled_agree():
    rng = np.random.default_rng(1)
    B = rng.normal(size=(4, 2, 3, 6))
    body = [[0, 1], [1, 2], [2, -1], [0, -1]]
    B[2, 1] = B[3, 1] = 0
    q = rng.normal(size=(4, 3)) - [1, 0, 0]
    problem = scree.Problem.bodies(body, B, q, np.full(4, 0.4))
    dense = np.zeros((12, 18))
    for c, pair in enumerate(body):
        for side, b in enumerate(pair):
            if b >= 0:
                dense[3 * c:3 * c + 3, 6 * b:6 * b + 6] += B[c, side]
    assert np.allclose(problem.assemble().W.toarray(), dense @ dense.T)
    assert problem.nbodies == 3 and problem.kind == "bodies"
    assert np.array_equal(problem.B, B) and np.array_equal(problem.body, body)
    assert np.allclose(scree.solve(problem, tol=1e-10).u,
                       scree.solve(problem.assemble(), tol=1e-10).u, atol=1e-6)


@pytest.mark.parametrize("d", [2, 3])
def test_from_contacts_is_the_world_s_problem(d):
    # a stack of two bodies that rest: the impulses carry the weights
    n, g, h = 2, 9.81, 1e-2
    up = np.eye(d)[d - 1]
    positions = np.array([up * 0.5, up * 1.5])
    inertia = np.ones(n) if d == 2 else np.broadcast_to(np.eye(3), (n, 3, 3))
    problem = scree.Problem.from_contacts([2.0, 3.0], inertia, positions, [[0, -1], [1, 0]],
                                          [up * 0.0, up * 1.0], [up, up], 0.5,
                                          velocities=np.tile(-g * h * up, (n, 1)))
    r = scree.solve(problem, tol=1e-12).r
    assert np.allclose(r[:, 0], [5 * g * h, 3 * g * h]) and np.allclose(r[:, 1:], 0, atol=1e-9)
    assert problem.frames.shape == (2, d, 3)


def test_constraints_of_any_size():
    # two bodies of 3 and 6 components: a joint of two rows, a motor of limited force, a contact
    rng = np.random.default_rng(7)
    joint = {0: rng.normal(size=(2, 3)), 1: rng.normal(size=(2, 6))}
    only = scree.Problem.from_constraints([3, 6], [{"q": [0.5, -1.0], "blocks": joint}])
    W = joint[0] @ joint[0].T + joint[1] @ joint[1].T
    solution = scree.solve(only, "nlgs", tol=1e-12)
    assert np.allclose(solution.r, -np.linalg.solve(W, [0.5, -1.0])) and solution.r.shape == (2,)
    problem = scree.Problem.from_constraints([3, 6], [
        {"q": [0.5, -1.0], "blocks": joint},
        {"q": [2.0], "blocks": {1: rng.normal(size=(1, 6))}, "set": "ball", "a": 0.1},
        {"q": [-1.0, 0.3, 0.1], "blocks": {0: rng.normal(size=(3, 3))}, "set": "cone", "mu": 0.5}])
    assert problem.rows == 6 and problem.kind == "general" and "rows" in problem._repr_html_()
    solution = scree.solve(problem, "nlgs", tol=1e-10)
    assert solution.converged and abs(solution.r[2]) <= 0.1 + 1e-9
    assert np.linalg.norm(solution.r[4:]) <= 0.5 * solution.r[3] + 1e-9
    copy = problem.replace(q=2 * problem.q, mu=problem.mu)
    assert np.allclose(scree.solve(copy.replace(q=problem.q), "nlgs", tol=1e-10).r, solution.r)
    for wrong in ({"q": [0] * 7, "blocks": {}}, {"q": [0], "blocks": {5: [[1]]}}, {"q": [0], "blocks": {0: [[1]]}},
                  {"q": [np.nan], "blocks": {0: [[1, 0, 0]]}}, {"q": [0], "blocks": {0: [[1, 0, 0]]}, "set": "x"}):
        with pytest.raises((ValueError, TypeError)):
            scree.Problem.from_constraints([3, 6], [wrong])


def test_files(files, tmp_path):
    for path in files[:6]:
        problem = scree.Problem.load(path)
        solution = scree.solve(problem, tol=1e-4, time_limit=10)
        solution.save(tmp_path / "again.hdf5", title="again")
        again = scree.Problem.load(tmp_path / "again.hdf5")
        assert again.info.title == "again" and np.array_equal(again.q, problem.q)
        assert np.array_equal(again.solution[0], solution.r)
        assert scree.measure(again, again.solution[0]).error == pytest.approx(
            scree.measure(problem, solution.r).error, rel=1e-3, abs=1e-14)


def test_every_solver_and_measure():
    problem = scree.Problem(W2, Q2, 0.3)
    for name in scree.solvers():
        if problem.refused_by(name):
            continue
        solution = scree.solve(problem, name, tol=1e-6)
        assert solution.converged, name
        assert scree.measure(problem, solution.r).error <= 1e-6
        assert np.allclose(solution.u, (W2 @ solution.r.ravel()).reshape(2, 2) + Q2)
    wrong = scree.measure(problem, [[1, 0], [0, 5]], u=np.zeros((2, 2)))
    assert wrong.error > 0.1 and wrong.eps_motion > 0.1 and wrong.cone_violation > 0.1


def test_history_stop_and_options(files):
    problem = scree.Problem.load(next(f for f in files if "disks" in f or "packing" in f or True))
    solution = scree.solve(problem, "nlgs", tol=1e-12, options={"local": "exact"},
                           max_iterations=30)
    iterations, errors = solution.history
    assert len(iterations) == len(errors) and np.all(np.diff(iterations) >= 0)
    seen = []
    stopped = scree.solve(problem, "nlgs", tol=1e-300,
                          stop=lambda k, error: seen.append((k, error)) or k >= 3)
    assert seen and stopped.iterations <= 4 and not stopped.converged
    with pytest.raises(ZeroDivisionError):
        scree.solve(problem, "nlgs", tol=1e-300, stop=lambda k, error: 1 / 0)
    with pytest.raises(scree.NotConverged) as caught:
        scree.solve(problem, "nlgs", tol=1e-300, max_iterations=2, check=True)
    assert caught.value.result.r.shape == problem.q.shape


def test_solver_lives_on(files):
    problem = scree.Problem.load(files[0])
    solver = scree.Solver("auto", tol=1e-8)
    first = solver.solve(problem)
    assert np.array_equal(first.r, scree.solve(problem, tol=1e-8).r)
    state = solver.save()
    second = solver.solve(problem)
    other = scree.Solver("auto", tol=1e-8)
    other.restore(state)
    assert np.array_equal(other.solve(problem).r, second.r)
    warm = solver.solve(problem, r0=first.r)
    assert warm.iterations <= first.iterations and solver.memory > 0


def test_problem_is_immutable_and_its_arrays_live_on():
    q = scree.Problem(W2, Q2, 0.3).q
    assert np.array_equal(q, Q2)
    with pytest.raises(ValueError):
        q[0, 0] = 1
    problem = scree.Problem(W2, Q2, 0.3)
    other = problem.replace(mu=[0.0, 0.1], law="associated")
    assert other.law == "associated" and np.array_equal(problem.mu, [0.3, 0.3])


def test_sets():
    shifted = scree.Problem(np.eye(2), [[0.2, 0.0]], 0.5, set=["shifted"], set_a=[0.1])
    assert shifted.set.tolist() == [1] and shifted.set_a.tolist() == [0.1]
    assert scree.solve(shifted).r[0, 0] == pytest.approx(-0.1, abs=1e-7)  # cohesion holds it back


def test_solves_in_threads_do_not_disturb_each_other(files):
    problem = scree.Problem.load(files[1])
    expected = scree.solve(problem, threads=1).r
    found = [None] * 4

    def work(k):
        found[k] = scree.solve(problem, threads=1).r

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(r, expected) for r in found)


def test_files_in_threads(files, tmp_path):
    failures = []

    def work(k):
        try:
            for j in range(5):
                problem = scree.Problem.load(files[(j + k) % 3])
                problem.save(tmp_path / f"{k}-{j}.hdf5")
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_race(files):
    def lazy(problem, tol):
        return np.zeros_like(problem.q)

    table = scree.race(files[:2], ["nlgs", "auto", lazy], tol=1e-4, draw=False, time_limit=5)
    rows = scree.tables.records(table)
    assert len(rows) == 6 and {row["solver"] for row in rows} == {"nlgs", "auto", "lazy"}
    assert all(row["converged"] for row in rows if row["solver"] == "auto")
    ratios = scree.racing.profile(table)
    assert min(ratios["auto"][0], ratios["nlgs"][0]) == 1 and np.isinf(ratios["lazy"][0])


def test_table_without_pandas():
    table = scree.tables.Table([{"a": 1, "b": 2.5}, {"a": 3}])
    assert table["a"] == [1, 3] and len(table) == 2 and "2.5" in repr(table)
    assert "<td>3</td>" in table._repr_html_()


@needs_speed
def test_drawings(files):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt
    problem = scree.Problem.load(files[0])
    solution = scree.solve(problem, "nlgs", tol=1e-6)
    assert "svg" in problem._repr_html_() and "polyline" in solution._repr_html_()
    assert solution.plot().get_xlabel() == "iterations"
    scree.race([problem], ["nlgs", "auto"], tol=1e-3)
    plt.close("all")

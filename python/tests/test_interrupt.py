"""Ctrl-C ends whatever C is doing, and what was begun can go on."""
import os
import signal
import threading
import time

import numpy as np
import pytest
import scree


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def big_problem(n=400):
    rng = np.random.default_rng(2)
    body = np.column_stack([rng.integers(0, n, 4 * n), rng.integers(-1, n, 4 * n)])
    B = rng.normal(size=(4 * n, 2, 3, 6))
    B[body[:, 1] < 0, 1] = 0
    same = body[:, 0] == body[:, 1]
    body[same, 1], B[same, 1] = -1, 0
    return scree.Problem.bodies(body, B, rng.normal(size=(4 * n, 3)), np.full(4 * n, 0.5))


def test_solve():
    timer, start = interrupt_after(0.3), time.time()
    with pytest.raises(KeyboardInterrupt):
        scree.solve(big_problem(), "nlgs", tol=1e-300, max_iterations=2**31 - 1, threads=1)
    timer.join()
    assert time.time() - start < 60


def test_step_and_run(drop, tmp_path):
    world = scree.World(drop, threads=1)
    timer = interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        world.step(2**31 - 1)
    timer.join()
    steps = world.steps
    world.step()
    assert world.steps == steps + 1
    drop["time"]["duration"] = 1e5
    timer = interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        scree.run(drop, tmp_path / "run", threads=1)
    timer.join()
    assert scree.run(drop, tmp_path / "run", threads=1, resume=True, steps=2).summary.resumed


def test_other_threads_go_on_while_c_works():
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    scree.solve(big_problem(), "nlgs", tol=1e-300, time_limit=0.4, threads=1,
                max_iterations=2**31 - 1)
    over.set()
    thread.join()
    assert counted[0] > 8  # with the GIL held it would be one or two

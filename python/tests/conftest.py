"""The tests find the module through PYTHONPATH and the rest through the variables that CTest sets."""
import os

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

SOURCE = os.environ.get("SCREE_SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ASAN = bool(os.environ.get("SCREE_ASAN"))

needs_speed = pytest.mark.skipif(ASAN, reason="run once, without AddressSanitizer")


def problem_files():
    folder = os.environ.get("SCREE_PROBLEMS", "")
    if not os.path.isdir(folder):
        folder = os.path.join(SOURCE, "tests", "data", "problems")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith(".hdf5"))


@pytest.fixture
def files():
    return problem_files()


DROP = {
    "title": "Drop", "dimension": 2, "seed": 3,
    "contact": {"mu": 0.4},
    "obstacles": [{"name": "floor", "shape": {"kind": "half-plane"}},
                  {"shape": {"kind": "half-plane"}, "position": [-0.06, 0], "normal": [1, 0]},
                  {"shape": {"kind": "half-plane"}, "position": [0.06, 0], "normal": [-1, 0]}],
    "generators": [{"kind": "lattice", "origin": [-0.04, 0.015], "count": [5, 6],
                    "spacing": 0.021, "jitter": 0.02, "shape": {"kind": "disk", "radius": 0.01}}],
    "time": {"duration": 0.3}, "output": {"every": 0.03},
}


@pytest.fixture
def drop():
    import copy
    return copy.deepcopy(DROP)

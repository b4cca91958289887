"""The scripts of the gallery run, draw their pictures, and find what they should."""
import importlib.util
import os

import numpy as np
import pytest
from conftest import SOURCE

pytest.importorskip("matplotlib")
GALLERY = os.path.join(SOURCE, "python", "gallery")


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(GALLERY, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def repose(result):
    angles = result["angles"]
    assert angles[0] + 10 < angles[-1] and result["above"] == 0


def janssen(result):
    smooth, rough = result[0.0], result[0.5]
    assert np.allclose(smooth[:, 0], smooth[:, 1], rtol=0.05)  # without friction the floor carries all
    assert rough[-1, 1] < 0.6 * rough[-1, 0]
    share = np.diff(rough[:, 1]) / np.diff(rough[:, 0])  # of the weight that is added
    assert share[-1] < 0.6 * share[0]  # it saturates


def own_solver(rows):
    assert all(row["converged"] for row in rows if row["solver"] in ("gauss_seidel", "auto"))


def calibrate(result):
    assert np.allclose(result["found"], result["truth"], rtol=0.1)


def arch(result):
    assert 0.09 < result["low"] < result["high"] < 0.115 and result["high"] - result["low"] < 0.002


def balance(result):
    assert result["alone"] > 1 and result["controlled"] < 0.1 and result["steps"] == 1500


def histories(result):
    assert result["errors"]["auto"] <= 1e-10 and result["stopped"] > 0


def chains(result):
    # how many contacts slip depends on the history; of the friction there is, less is used if there is more
    assert result[0.5]["ratio"] > 2 and result[0.1]["mobilised"] > result[0.5]["mobilised"]


def rubble(result):
    assert result["spread"][-1] < 0.8 * result["spread"][0] and result["contacts"] > 60
    assert result["momentum"] < 1e-6


def conveyor(speeds):
    assert speeds[0.3] < 0 < speeds[0.8]


@pytest.mark.parametrize("check", [repose, janssen, own_solver, calibrate, arch, balance, histories,
                                   chains, rubble, conveyor], ids=lambda check: check.__name__)
def test_gallery(check, tmp_path):
    if check is calibrate or check is own_solver:
        pytest.importorskip("scipy")
    picture = tmp_path / "picture.png"
    check(load(check.__name__).main(picture))
    assert picture.stat().st_size > 5000
    shown = os.path.join(SOURCE, "docs", "images", f"python-{check.__name__}.png")
    assert os.path.exists(shown), "docs/PYTHON.md shows this picture"


def test_every_script_is_tested_and_shown():
    names = {name[:-3] for name in os.listdir(GALLERY) if name.endswith(".py")}
    with open(os.path.join(SOURCE, "docs", "PYTHON.md"), encoding="utf-8") as file:
        text = file.read()
    for name in names:
        assert name in globals() and f"images/python-{name}.png" in text
    assert len(names) == 10


def test_code_of_the_guide_runs(tmp_path, monkeypatch):
    """Every Python block of docs/PYTHON.md and of the README, one after the other."""
    import re
    import matplotlib.pyplot as plt
    for name in ("README.md", "docs/PYTHON.md"):
        folder = tmp_path / name.replace("/", "-")
        folder.mkdir()
        os.symlink(os.path.join(SOURCE, "examples"), folder / "examples")
        monkeypatch.chdir(folder)
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        assert blocks
        names = {}
        for block in blocks:
            exec(compile(block, name, "exec"), names)
    plt.close("all")

"""`pip install .` from the source tree, without a network."""
import os
import subprocess
import sys

import pytest
from conftest import SOURCE


def test_pip_install(tmp_path):
    pytest.importorskip("pip")
    build = os.environ.get("SCREE_BUILD")
    if not build:
        pytest.skip("SCREE_BUILD, the build folder, is not set")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target",
               str(tmp_path / "site"), "--config-settings", f"build-dir={build}", SOURCE]
    made = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280)
    assert made.returncode == 0, made.stderr[-2000:]
    environment["PYTHONPATH"] = str(tmp_path / "site")
    shown = subprocess.run([sys.executable, "-c", "import scree; print(scree.__file__, scree.__version__)"],
                           capture_output=True, text=True, env=environment, cwd=tmp_path, check=True).stdout
    assert str(tmp_path / "site") in shown
    names = os.listdir(tmp_path / "site" / "scree")
    assert "py.typed" in names and "_core.pyi" in names

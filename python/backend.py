"""The build back end of `pip install .` (PEP 517): CMake builds the module, this packs it.

It needs no package, so that nothing is fetched. `--config-settings build-dir=build` takes a build
folder that is there already in place of build/pip.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EMPTY = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def _version():
    with open(os.path.join(ROOT, "include", "scree", "base.h"), encoding="utf-8") as file:
        parts = re.findall(r"^#define SCREE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.M)
    return ".".join(parts)


def _metadata():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return "\n".join([
        "Metadata-Version: 2.1", "Name: scree", f"Version: {_version()}",
        "Summary: Non-smooth contact dynamics: certified solvers for hard frictional contact",
        "License: Apache-2.0", "Requires-Python: >=3.9", "Requires-Dist: numpy",
        "Provides-Extra: plots", 'Requires-Dist: matplotlib; extra == "plots"',
        "Provides-Extra: sparse", 'Requires-Dist: scipy; extra == "sparse"',
        "Provides-Extra: tables", 'Requires-Dist: pandas; extra == "tables"',
        "Description-Content-Type: text/markdown", "", readme])


def _tag():
    minor = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{minor}-{minor}-{platform}"


def _numpy():
    """Where NumPy's headers are. pip hides installed packages from a build; a Python that ignores
    its environment sees them."""
    for options in (["-I"], ["-E"], []):
        found = subprocess.run([sys.executable, *options, "-c",
                                "import numpy; print(numpy.get_include())"],
                               capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.strip()
    raise RuntimeError(f"NumPy was not found for {sys.executable}: install it first "
                       "(Debian: python3-numpy)")


def _build(settings):
    folder = os.path.join(ROOT, (settings or {}).get("build-dir", os.path.join("build", "pip")))
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                    "-DSCREE_TESTS=OFF", "-DSCREE_PYTHON=ON",
                    f"-DPython3_EXECUTABLE={sys.executable}",
                    f"-DPython3_NumPy_INCLUDE_DIR={_numpy()}"]
                   if not os.path.exists(os.path.join(folder, "CMakeCache.txt"))
                   or folder.endswith("pip") else ["cmake", folder],
                   check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "-j", str(os.cpu_count() or 2),
                    "--target", "scree_python"], check=True, stdout=sys.stderr)
    return os.path.join(folder, "python", "scree")


def _add(wheel, record, name, data):
    info = zipfile.ZipInfo(name, EMPTY)
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(info, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append(f"{name},sha256={digest},{len(data)}")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = _build(config_settings)
    info = f"scree-{_version()}.dist-info"
    name = f"scree-{_version()}-{_tag()}.whl"
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        for file in sorted(os.listdir(package)):
            if file.endswith((".py", ".pyi", ".so", "py.typed")):
                with open(os.path.join(package, file), "rb") as source:
                    _add(wheel, record, f"scree/{file}", source.read())
        _add(wheel, record, f"{info}/METADATA", _metadata().encode())
        _add(wheel, record, f"{info}/WHEEL",
             f"Wheel-Version: 1.0\nGenerator: scree\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode())
        with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
            _add(wheel, record, f"{info}/LICENSE", file.read())
        record.append(f"{info}/RECORD,,")
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", EMPTY), "\n".join(record) + "\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    """The tree as git has it."""
    base = f"scree-{_version()}"
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True,
                           text=True).stdout.split("\0")
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        for file in sorted(filter(None, files)):
            archive.add(os.path.join(ROOT, file), f"{base}/{file}")
        path = os.path.join(sdist_directory, "PKG-INFO")
        with open(path, "w", encoding="utf-8") as info:
            info.write(_metadata())
        archive.add(path, f"{base}/PKG-INFO")
        os.remove(path)
    return base + ".tar.gz"

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


def _build(settings):
    """Build the module; the folder of its package. pip hides installed packages, NumPy among them,
    from what it builds, through the environment."""
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE")}
    given = (settings or {}).get("build-dir")
    folder = os.path.join(ROOT, given or os.path.join("build", "pip"))
    configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                 "-DSCREE_TESTS=OFF", "-DSCREE_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}"]
    if not given or not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        subprocess.run(configure, check=True, stdout=sys.stderr, env=environment)
    subprocess.run(["cmake", "--build", folder, "-j", str(os.cpu_count() or 2),
                    "--target", "scree_python"], check=True, stdout=sys.stderr, env=environment)
    return os.path.join(folder, "python", "scree")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = f"scree-{_version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info))
    for name, text in (("METADATA", _metadata()), ("WHEEL", _wheel_text())):
        with open(os.path.join(metadata_directory, info, name), "w", encoding="utf-8") as file:
            file.write(text)
    return info


def _wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: scree\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


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
        _add(wheel, record, f"{info}/WHEEL", _wheel_text().encode())
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

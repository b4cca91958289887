# Read results.xdmf and the VTK files of a run with ParaView and compare with results.h5:
#   pvpython paraview_check.py RUN VTK_FOLDER
# pvpython (Debian: python3-paraview, which cannot be installed beside python3-vtk9) has NumPy but not always h5py:
# without it the reader's own answers are compared with those of the VTK files.
import sys

import numpy as np
from paraview.simple import PVDReader, XDMFReader, servermanager
from vtkmodules.util.numpy_support import vtk_to_numpy

run, folder = sys.argv[1:]


def blocks(data):
    if hasattr(data, "GetNumberOfBlocks"):
        return [b for k in range(data.GetNumberOfBlocks()) for b in blocks(data.GetBlock(k))]
    return [data] if data is not None and data.GetNumberOfPoints() else []


def fetch(source, time):
    source.UpdatePipeline(time)
    return blocks(servermanager.Fetch(source))


def array(data, name):
    values = data.GetPointData().GetArray(name)
    assert values is not None, f"no array {name}"
    return vtk_to_numpy(values)


xdmf = XDMFReader(FileNames=[run + "/results.xdmf"])
xdmf.UpdatePipelineInformation()
times = list(xdmf.TimestepValues)
bodies, contacts = PVDReader(FileName=folder + "/bodies.pvd"), PVDReader(FileName=folder + "/contacts.pvd")
bodies.UpdatePipelineInformation()
assert np.allclose(times, list(bodies.TimestepValues)), "times"
points, met = 0, 0
for time in (times[0], times[len(times) // 2], times[-1]):
    parts = fetch(xdmf, time)
    own = next(b for b in parts if b.GetPointData().GetArray("angular_velocity"))
    pressed = [b for b in parts if b.GetPointData().GetArray("gap")]
    (other,) = fetch(bodies, time)
    assert np.array_equal(vtk_to_numpy(own.GetPoints().GetData()), vtk_to_numpy(other.GetPoints().GetData())), "positions"
    for name in ("velocity", "angular_velocity", "orientation", "mass", "material", "obstacle"):
        assert np.array_equal(array(own, name), array(other, name)), name
    points += own.GetNumberOfPoints()
    for a, b in zip(pressed, fetch(contacts, time)):
        for name in ("normal", "impulse", "impulse_local", "velocity_local", "gap", "mu", "error", "status", "bodies"):
            assert np.array_equal(array(a, name), array(b, name)), name
        met += a.GetNumberOfPoints()
assert points > 0 and met > 0
print(f"ParaView: bodies ({points}) and contacts ({met}) of results.xdmf agree with the VTK files")

# Read VTK files back with VTK's own reader and compare with results.h5: vtk_check.py RUN VTK_FOLDER
import sys
import xml.etree.ElementTree as xml

import h5py
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

run, folder = sys.argv[1:]


def read(name):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(f"{folder}/{name}")
    reader.Update()
    assert reader.GetErrorCode() == 0, name
    return reader.GetOutput()


def array(data, name):
    values = data.GetArray(name)
    assert values is not None, f"no array {name}"
    return vtk_to_numpy(values)


with h5py.File(run + "/results.h5") as f:
    times = f["frames/time"][:]
    offset = f["frames/contact_offset"][:]
    kinds = [k.decode() for k in f["bodies/kind_names"][:]]
    for part in ("bodies", "shapes", "contacts"):
        sets = xml.parse(f"{folder}/{part}.pvd").getroot().findall(".//DataSet")
        assert [float(s.get("timestep")) for s in sets] == list(times), f"{part}: times"
        for k, s in enumerate(sets):
            data = read(s.get("file"))
            assert data.GetFieldData().GetArray("TimeValue").GetValue(0) == times[k]
            n = int(f["frames/body_count"][k])
            if part == "bodies":
                assert data.GetNumberOfPoints() == n and data.GetNumberOfVerts() == n
                points = vtk_to_numpy(data.GetPoints().GetData())
                assert np.array_equal(points, f["frames/position"][k, :n])
                fields = data.GetPointData()
                assert np.array_equal(array(fields, "velocity"), f["frames/velocity"][k, :n])
                assert np.array_equal(array(fields, "orientation"), f["frames/orientation"][k, :n])
                assert np.array_equal(array(fields, "material"), f["bodies/material"][:n])
                assert array(fields, "pressure").shape == (n,)
                round_ = [kinds[i] in ("sphere", "disk") for i in f["bodies/kind"][:n]]
                assert np.allclose(array(fields, "radius")[round_], f["bodies/radius"][:n][round_])
            elif part == "contacts":
                a, b = offset[k], offset[k + 1]
                assert data.GetNumberOfPoints() == b - a
                if b > a:
                    fields = data.GetPointData()
                    assert np.array_equal(array(fields, "impulse"), f["contacts/impulse_world"][a:b])
                    assert np.array_equal(array(fields, "status"), f["contacts/status"][a:b])
                    assert np.array_equal(array(fields, "bodies"), f["contacts/body"][a:b])
                    assert np.array_equal(array(fields, "gap"), f["contacts/gap"][a:b])
                    assert np.array_equal(array(fields, "error"), f["contacts/error"][a:b])
            else:
                solid = [i for i in range(n) if kinds[f["bodies/kind"][i]] != "sphere"]
                assert set(array(data.GetCellData(), "body")) == set(solid), "shapes: bodies"
                assert data.GetNumberOfPolys() > 0
                bounds = np.array(data.GetBounds())
                assert np.all(np.isfinite(bounds))
print("vtk: counts, ranges and times agree")

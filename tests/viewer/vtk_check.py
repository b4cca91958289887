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

    # Glyphs: the mesh of the table, scaled, turned and moved, is the triangles of the body.
    blocks = xml.parse(f"{folder}/glyphs.vtm").getroot().findall(".//DataSet")
    meshes = [vtk_to_numpy(read(b.get("file")).GetPoints().GetData()) for b in blocks]
    compared = 0
    for k in range(len(times)):
        bodies, shapes = read(f"bodies_{k:06d}.vtp"), read(f"shapes_{k:06d}.vtp")
        fields, points = bodies.GetPointData(), vtk_to_numpy(shapes.GetPoints().GetData())
        owner = array(shapes.GetCellData(), "body")
        corners = vtk_to_numpy(shapes.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        where = vtk_to_numpy(bodies.GetPoints().GetData())
        for row, b in enumerate(array(fields, "body")):
            glyph = array(fields, "glyph")[row]
            if glyph < 0 or b not in owner:
                continue
            w, x, y, z = array(fields, "orientation")[row]
            turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                             [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                             [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
            made = meshes[glyph] * array(fields, "scale")[row] @ turn.T + where[row]
            own = points[np.unique(corners[owner == b])]
            assert np.allclose(made, own, atol=1e-9 * np.abs(own).max()), f"glyph of body {b}"
            compared += 1
        # chains: every pressing contact has a line for each of its bodies that is no obstacle
        chains = read(f"chains_{k:06d}.vtp")
        a, b = offset[k], offset[k + 1]
        pressing = f["contacts/impulse"][a:b][:, 0] > 0
        lines = (f["bodies/obstacle"][:][f["contacts/body"][a:b][pressing]] == 0).sum() if b > a else 0
        assert chains.GetNumberOfLines() == lines, "chains"
    assert compared > 0

    # results.xdmf: the slices it names are the frames of results.h5.
    def slab(item):
        select, data = item.findall("DataItem")
        numbers = np.array([int(x) for x in select.text.split()]).reshape(3, -1)
        name, path = data.text.split(":")
        assert name == "results.h5"
        values = f[path]
        if values.ndim == 1 and numbers.shape[1] == 2:
            values = values[:].reshape(-1, 1)
        assert list(values.shape) == [int(x) for x in data.get("Dimensions").split()], path
        cut = values[tuple(slice(s, s + c) for s, c in zip(numbers[0], numbers[2]))]
        return cut.reshape([int(x) for x in item.get("Dimensions").split()])

    domain = xml.parse(f"{run}/results.xdmf").getroot().find("Domain")
    series = {g.get("Name"): g.findall("Grid") for g in domain.findall("Grid")}
    assert [float(g.find("Time").get("Value")) for g in series["bodies"]] == list(times)
    for k, grid in enumerate(series["bodies"]):
        n = int(f["frames/body_count"][k])
        assert np.array_equal(slab(grid.find("Geometry/DataItem")), f["frames/position"][k, :n])
        for attribute in grid.findall("Attribute"):
            assert len(slab(attribute.find("DataItem"))) == n
    for grid in series["contacts"]:
        k = list(times).index(float(grid.find("Time").get("Value")))
        rows = slice(offset[k], offset[k + 1])
        assert np.array_equal(slab(grid.find("Geometry/DataItem")), f["contacts/position"][rows])
        for attribute in grid.findall("Attribute"):
            assert len(slab(attribute.find("DataItem"))) == rows.stop - rows.start
print("vtk: counts, ranges and times agree")

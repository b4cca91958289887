"""Runs into folders, read back; recordings; studies; the page and pictures."""
import json
import os

import numpy as np
import pytest
import scree
from conftest import needs_speed


def test_run_and_read(drop, tmp_path):
    seen = []
    run = scree.run(drop, tmp_path / "run", threads=1, progress=lambda report, end: seen.append(report.time))
    assert run.summary.finished and run.certified and len(seen) == run.summary.steps
    again = scree.read(tmp_path / "run")
    frames = len(again)
    assert frames >= 11 and again.dimension == 2 and again.title == "Drop"
    frame = again[-1]
    assert frame.positions.shape == (33, 3) and frame.present.all()
    assert frame.time == pytest.approx(0.3, abs=0.01) and again.at(0.15).number == 5
    assert frame.contacts["r"].shape == (len(frame.contacts), 3) and len(frame.pressures) == 33
    assert len(again["kinetic"]) == run.summary.steps and "kinetic" in again
    assert again.analysis("packing_fraction").shape == (frames,)
    assert again.masses[3] > 0 and again.obstacles[:3].all() and again.shape(5)["kind"] == "disk"
    assert again.certificate.above == 0 and "Certified" in again.verdict
    with pytest.raises(KeyError):
        again["nothing"]
    with pytest.raises(KeyError):
        again.analysis("nothing")
    with pytest.raises(IndexError):
        again[frames]
    with pytest.raises(scree.InputError):
        scree.run(drop, tmp_path / "run")
    with pytest.raises(scree.Error):
        scree.read(tmp_path / "absent")


def test_resume_gives_the_same_bits(drop, tmp_path):
    whole = scree.run(drop, tmp_path / "whole", threads=1)
    part = scree.run(drop, tmp_path / "part", threads=1, steps=40)
    assert not part.summary.finished
    with pytest.raises(RuntimeError, match="enough"):
        def stop(report, end):
            if report.step == 70:
                raise RuntimeError("enough")
        scree.run(drop, tmp_path / "part", threads=1, resume=True, progress=stop)
    part = scree.run(drop, tmp_path / "part", threads=1, resume=True)
    assert part.summary.finished and np.array_equal(part[-1].positions, whole[-1].positions)
    assert np.array_equal(part["kinetic"], whole["kinetic"])


def test_same_state_as_a_world(drop, tmp_path):
    run = scree.run(drop, tmp_path / "run", threads=1)
    world = scree.World(drop, threads=1)
    for _ in world.run():
        pass
    assert world.steps == run.summary.steps
    assert np.array_equal(np.array(world.positions), run[-1].positions)


def test_recording(tmp_path):
    world = scree.World(dimension=2, step=1e-3)
    world.add_obstacle("half-plane")
    world.add_body("disk", (0, 0.5), radius=0.1)
    with world.record(tmp_path / "run", every=0.01, title="ball", materials=["stone"]) as recording:
        world.step(200)
        with pytest.raises(scree.InputError, match="already"):
            world.record(tmp_path / "other")
    run = recording.run
    assert len(run) == 21 and run.title == "ball" and run.materials == ["stone"]
    assert np.array_equal(run[-1].positions, np.array(world.positions))
    assert len(run["kinetic"]) == 200
    world.record(tmp_path / "left", replace=True)
    world.step(3)
    world.close()  # a recording that is left behind does no harm


def test_page_picture_vtk(drop, tmp_path):
    run = scree.run(drop, tmp_path / "run", threads=1, until=0.1)
    picture = run.picture(0.1, tmp_path / "p.png", width=160, height=100, colour="stress", chains=True)
    assert picture.pixels.shape == (100, 160, 3) and len(np.unique(picture.pixels)) > 5
    assert (tmp_path / "p.png").read_bytes() == picture._repr_png_()
    assert run[0].picture(width=64, height=64).pixels.shape == (64, 64, 3)
    page = run.page(tmp_path / "page.html")
    assert os.path.getsize(page) > 1000
    assert run._repr_html_().startswith("<iframe srcdoc=")
    assert run.vtk(tmp_path / "vtk", every=2) > 0
    for wrong in ({"colour": "red"}, {"width": 3}, {"height": 100000}, {"width": "a"}):
        with pytest.raises((ValueError, TypeError)):
            run.picture(0.0, **wrong)


@needs_speed
def test_plots(drop, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    run = scree.run(drop, tmp_path / "run", threads=1, until=0.1)
    assert run.plot("kinetic").get_ylabel() == "kinetic"
    assert len(run.plot("kinetic", "potential").get_lines()) == 2
    world = scree.World(drop)
    assert world.plot().get_xlabel() == "x in m"
    world = scree.World(dimension=3, step=1e-3)
    for k, shape in enumerate([("sphere", {"radius": .1}), ("box", {"half_x": .1, "half_y": .2, "half_z": .1}),
                               ("capsule", {"radius": .1, "half_length": .2}),
                               ("ellipsoid", {"semi_x": .1, "semi_y": .2, "semi_z": .3})]):
        world.add_body(shape[0], (k, 0, 0), **shape[1])
    world.add_body({"kind": "clump", "parts": [{"shape": {"kind": "sphere", "radius": .1}},
                                               {"shape": {"kind": "box", "half_x": .1, "half_y": .1, "half_z": .1},
                                                "position": (.2, 0, 0), "rotation": (1, 0, 1, 0)}]}, (5, 0, 0))
    axes = world.plot()
    assert len(axes.collections[0].get_paths()) == 6
    axes.figure.savefig(tmp_path / "bodies.png")
    plt.close("all")


def test_study(drop, tmp_path):
    values = {"contact.mu": [0.1, 0.5], "seed": [1, 2]}
    arguments = dict(folder=tmp_path / "study", jobs=2, until=0.05)
    table = scree.study(drop, values, measure=lambda run: {"top": run[-1].positions[:, 1].max()}, **arguments)
    rows = scree.tables.records(table)
    assert len(rows) == 4 and all(row["top"] > 0 and row["steps_above"] == 0 for row in rows)
    assert [row["contact.mu"] for row in rows] == [0.1, 0.1, 0.5, 0.5]
    stamps = {row["folder"]: os.stat(os.path.join(row["folder"], "results.h5")).st_mtime_ns for row in rows}
    again = scree.tables.records(scree.study(drop, values, **arguments))
    assert all(os.stat(os.path.join(f, "results.h5")).st_mtime_ns == t for f, t in stamps.items())
    assert [row["steps"] for row in again] == [row["steps"] for row in rows]
    with pytest.raises(scree.InputError, match="contact.mu"):
        scree.study(drop, {"contact.mu": [0.1, -2]}, folder=tmp_path / "bad")
    assert not (tmp_path / "bad").exists()
    with pytest.raises(TypeError, match="seed"):
        scree.study(drop, {"seed": 3}, folder=tmp_path / "bad")


def test_study_goes_on_after_an_interruption(drop, tmp_path):
    values, folder = {"seed": [1]}, tmp_path / "study"
    row = scree.tables.records(scree.study(drop, values, folder=folder, until=0.05))[0]
    os.remove(os.path.join(os.path.dirname(row["folder"]), "summary.json"))
    again = scree.tables.records(scree.study(drop, values, folder=folder, until=0.05))[0]
    assert again["steps"] == row["steps"]

"""Worlds by calls and from scenes: steps, callbacks, arrays, saving."""
import threading
import time

import numpy as np
import pytest
import scree


def heap(dimension=2, n=5, **settings):
    world = scree.World(dimension=dimension, step=1e-3, threads=1, **settings)
    world.add_obstacle("half-plane" if dimension == 2 else "half-space")
    for k in range(n):
        place = (0.003 * k, 0.1 + 0.21 * k) if dimension == 2 else (0.003 * k, 0, 0.1 + 0.21 * k)
        world.add_body("disk" if dimension == 2 else "sphere", place, radius=0.1)
    return world


def test_free_fall():
    world = heap(n=1)
    world.set_pose(1, (0, 10))
    world.step(100)
    assert world.time == pytest.approx(0.1)
    assert world.velocities[1, 1] == pytest.approx(-9.81 * 0.1)
    assert world.masses[1] == pytest.approx(1000 * np.pi * 0.01)


def test_settings():
    world = heap(solver="nlgs", tol=1e-6, options={"local": "exact"}, scheme="euler")
    assert world.settings["solver"] == "nlgs" and world.settings["scheme"] == "euler"
    world.configure(step=5e-4, tol=1e-7)
    assert world.settings["step"] == 5e-4 and world.settings["tol"] == 1e-7
    report = world.step()
    assert report.certified and report.h == 5e-4


def test_materials_and_laws():
    world = scree.World(dimension=2, step=1e-3)
    ice = world.add_material()
    world.set_law(mu=0.8)
    world.set_law("coulomb", 0.0, between=(0, ice))
    world.add_obstacle("half-plane", rotation=-0.3)
    out = np.array([np.sin(0.3), np.cos(0.3)])
    rough = world.add_body("polygon", 0.05001 * out, rotation=-0.3,
                           vertices=[[-.05, -.05], [.05, -.05], [.05, .05], [-.05, .05]])
    world.step(200)
    assert np.linalg.norm(world.velocities[rough]) < 1e-3  # 0.3 rad is below atan 0.8
    slippery = world.add_body("disk", (5, 0.0), radius=0.1, material=ice)
    assert world.materials[slippery] == ice and world.shape(rough)["kind"] == "polygon"


def test_joints():
    # a pendulum: the hinge carries weight and centripetal force, the angle follows from energy
    world = scree.World(dimension=2, step=1e-3)
    wall = world.add_obstacle("disk", (0, 0), radius=0.01)
    bob = world.add_body("disk", (1, 0), radius=0.1, mass=2.0)
    hinge = world.add_joint("hinge", (bob, wall), anchor=(0, 0))
    for step in world.run(0.3):
        assert step.certified
    state = world.joint(hinge)
    x = np.array(world.positions[bob])
    assert np.hypot(x[0], x[1]) == pytest.approx(1, abs=1e-5) and state.error < 1e-5
    energy = world.energy()
    assert energy.kinetic + energy.potential == pytest.approx(0, abs=2e-3)
    assert np.linalg.norm(state.force) > 1 and world.joint_count == 1
    world.set_motor(hinge, velocity=lambda t: 1.5)
    world.step(20)
    assert world.joint(hinge).velocity == pytest.approx(1.5, abs=1e-6)
    world.set_motor(hinge, target=0.2, force=1.0)
    world.step(2)
    world.set_motor(hinge)
    state = world.save()
    world.step(5)
    after = np.array(world.positions)
    world.restore(state)
    world.step(5)
    assert np.array_equal(after, np.array(world.positions))
    world.set_motor(hinge, velocity=lambda t: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        world.step()
    for wrong in (lambda: world.add_joint("glue", (0, 1)), lambda: world.add_joint("ball", (0, 7)),
                  lambda: world.add_joint("ball", 3), lambda: world.joint(5), lambda: world.set_motor(9, 1),
                  lambda: world.set_motor(hinge, 1, 2), lambda: world.add_joint("hinge", (0, 0)),
                  lambda: world.add_joint("universal", (0, 1))):
        with pytest.raises((ValueError, TypeError)):
            wrong()
    assert set(scree.joints()) >= {"ball", "hinge", "slider", "spring"}


def test_bonds():
    # two bricks glued to a wall: a moment of 2^2 W l/2 = 4 N m at the root
    def beam(strength):
        world = scree.World(dimension=2, step=1e-3, gravity=(0, -10))
        square = [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
        wall = world.add_obstacle("polygon", (-0.1, 0), vertices=square)
        bricks = [world.add_body("polygon", (0.1 + 0.2 * k, 0), vertices=square, mass=1.0) for k in range(2)]
        # in a section of 0.2 m a stress of s carries s 0.2^2/6
        assert world.add_bonds(between=([wall] + bricks, bricks), tension=strength * 600, stress=True, label=3) == 2
        world.step(300)
        return world
    world = beam(1.01)
    assert world.bonds() == (2, 0) and world.bonds(label=3) == (2, 0) and world.bonds(label=1) == (0, 0)
    assert np.linalg.norm(world.joint(0).torque) == pytest.approx(4, rel=1e-4) and not world.joint(0).broken
    world = beam(0.99)
    assert world.bonds()[1] >= 1 and any(world.joint(k).broken for k in range(2))
    single = scree.World(dimension=3, step=1e-3, gravity=(0, 0, -10))
    post = single.add_obstacle("sphere", (0, 0, 0), radius=0.1)
    ball = single.add_body("sphere", (0, 0, -0.2), radius=0.1, mass=1.0)
    bond = single.add_joint("bond", (ball, post), anchor=(0, 0, -0.1), axis=(0, 0, -1), tension=9, shear=9,
                            bending=1, torsion=1, break_at=0.01)
    single.step(100)
    assert single.joint(bond).plastic == pytest.approx(0.005, abs=2e-4)
    for wrong in (lambda: world.add_bonds(between=([0], [99])), lambda: world.add_bonds(between=3),
                  lambda: world.add_bonds(between=([0],)), lambda: world.add_bonds(tension=-1),
                  lambda: world.add_bonds(label=-2)):
        with pytest.raises((ValueError, TypeError)):
            wrong()


def test_problem_with_joints_is_copied():
    world = scree.World(dimension=3, step=1e-3, tol=1e-8)
    world.add_obstacle("half-space")
    a = world.add_body("sphere", (0, 0, 0.1), radius=0.1)
    b = world.add_body("sphere", (0.3, 0, 0.1), radius=0.1)
    world.add_joint("ball", (a, b), anchor=(0.15, 0, 0.1))
    world.step(10)
    problem = world.problem
    assert problem.rows > problem.nc * problem.d and problem.solution[0].shape == (problem.rows,)
    solution = scree.solve(problem, "nlgs", tol=1e-8)
    assert solution.converged and scree.measure(problem, problem.solution[0]).error <= 1e-8


def test_laws_have_parameters():
    world = scree.World(dimension=2, step=1e-3)
    for name, law in scree.laws().items():
        world.set_law(name, **{key: entry["default"] for key, entry in law["parameters"].items()})
    with pytest.raises(scree.InputError, match="nothing"):
        world.set_law("coulomb", nothing=3)
    with pytest.raises(scree.InputError, match="mu"):
        world.set_law(mu=-1)


def test_clumps_and_vertices_are_where_they_are_typed():
    world = scree.World(dimension=3, step=1e-3)
    ball = {"kind": "sphere", "radius": 0.1}
    parts = [{"shape": ball}, {"shape": ball, "position": (0.4, 0, 0)}]
    body = world.add_body({"kind": "clump", "parts": parts})
    assert np.allclose(world.positions[body], [0.2, 0, 0])
    assert world.masses[body] == pytest.approx(2 * 1000 * 4 / 3 * np.pi * 1e-3)
    assert len(world.shape(body)["parts"]) == 2
    flat = scree.World(dimension=2, step=1e-3)
    corner = flat.add_body("polygon", (1, 1), rotation=np.pi / 2, vertices=[[0, 0], [0.3, 0], [0, 0.3]])
    assert np.allclose(flat.positions[corner], [0.9, 1.1, 0])  # the centroid (0.1, 0.1), turned
    for wrong in ([], [3], [{"position": (0, 0, 0)}], [{"shape": {"kind": "clump", "parts": parts}}], "x", 3):
        with pytest.raises((ValueError, TypeError)):
            world.add_body("clump", parts=wrong)


def test_solids_and_meshes():
    world = scree.World(dimension=3, step=1e-3)
    corners = np.array(np.meshgrid([0, 0.1], [0, 0.1], [0, 0.1])).reshape(3, -1).T
    cube = world.add_body("polyhedron", (0, 0, 0.001), vertices=corners)
    assert np.allclose(world.positions[cube], [0.05, 0.05, 0.051]) and len(world.shape(cube)["vertices"]) == 8
    world.add_body("cylinder", (1, 0, 0.2), radius=0.1, half_length=0.2)
    ground = world.add_obstacle("mesh", vertices=[[-1, -1, 0], [3, -1, 0], [3, 3, 0], [-1, 3, 0]],
                                triangles=[[0, 1, 2], [0, 2, 3]])
    assert world.shape(ground)["triangles"].tolist() == [[0, 1, 2], [0, 2, 3]]
    world.step(100)
    assert world.positions[cube, 2] == pytest.approx(0.05, abs=1e-3)
    for wrong in ([[0, 1, 9]], [[0, 1]], "x", [[0.5, 1, 2]], []):
        with pytest.raises((ValueError, TypeError)):
            world.add_obstacle("mesh", vertices=corners, triangles=wrong)


def test_callbacks_and_stop():
    world = heap()
    calls = []
    world.before_step = lambda w: calls.append(("before", w.steps))
    world.after_step = lambda w, report: calls.append(("after", report.step)) or report.step >= 3
    world.step(10)
    assert world.steps == 3 and world.stopped
    assert calls == [("before", 0), ("after", 1), ("before", 1), ("after", 2), ("before", 2), ("after", 3)]
    world.after_step = None
    world.before_step = lambda w: 1 / 0
    with pytest.raises(ZeroDivisionError):
        world.step()
    assert world.steps == 3
    world.before_step = None
    assert len(list(world.run(steps=4))) == 4
    assert len(list(world.run(0.005))) == 5
    assert len(list(world.run(until=world.time + 0.002))) == 2
    assert len(list(world.run(1.0, stop=lambda w: w.steps >= 16))) == 2


def test_forces_and_drivers_from_python():
    world = scree.World(dimension=3, step=1e-3, gravity=(0, 0, 0))
    body = world.add_body("sphere", radius=0.1, mass=2.0)
    force = world.add_force(body, force=lambda t: (4.0, 0, 0))
    world.step(100)
    assert world.velocities[body, 0] == pytest.approx(0.2)
    world.set_force(force, body, torque=(0, 0, 1.0))
    world.step(1)
    assert world.velocities[body, 0] == pytest.approx(0.2)
    assert world.angular_velocities[body, 2] > 0
    world.set_force(force, body)
    rows = world.force_array()
    rows[body, 1] = 2.0
    before = float(world.velocities[body, 1])
    world.step(10)
    assert world.velocities[body, 1] - before == pytest.approx(0.01)
    plate = world.add_obstacle("box", (0, 5, 0), half_x=.1, half_y=.1, half_z=.1,
                               velocity=scree.table([0, 1], [[0, 0, 0], [1, 0, 0]]))
    start = float(world.positions[plate, 0])
    world.step(50)
    assert world.positions[plate, 0] > start
    world.set_driver(plate, angular_velocity=lambda t: (0, 0, 1))
    world.step(2)
    assert world.angular_velocities[plate, 2] == pytest.approx(1)


@pytest.mark.parametrize("bad", [lambda t: "text", lambda t: (1, 2, 3, 4), lambda t: 1 / 0,
                                 lambda t: (float("nan"), 0, 0), lambda t: None])
def test_functions_that_fail_leave_the_world_as_it_was(bad):
    world = scree.World(dimension=3, step=1e-3)
    body = world.add_body("sphere", (0, 0, 1), radius=0.1)
    force = world.add_force(body, force=bad)
    state = np.array(world.positions)
    with pytest.raises((ValueError, TypeError, ZeroDivisionError)):
        world.step()
    assert np.array_equal(state, np.array(world.positions)) and world.steps == 0
    world.set_force(force, body)
    world.step()


def test_callback_may_not_use_the_world_in_the_middle_of_a_step():
    world = scree.World(dimension=3, step=1e-3)
    body = world.add_body("sphere", (0, 0, 1), radius=0.1)
    world.add_force(body, force=lambda t: world.positions[0])
    with pytest.raises(scree.BusyError):
        world.step()


def test_views():
    world = heap(3)
    x = world.positions
    assert x.shape == (6, 3) and x.dtype == np.float64 and len(x) == 6
    assert float(x[:, 2].max()) == pytest.approx(0.94)
    assert np.linalg.norm(x, axis=1).shape == (6,)
    assert (x + 1).shape == (6, 3) and (2 * x[1:] - x[1:] == x[1:]).all()
    assert type(x[1:3]) is scree.View and type(x.T) is scree.View and x.T.shape == (3, 6)
    assert np.stack([x, x]).shape == (2, 6, 3)
    assert np.shares_memory(x._array(), world.positions._array())  # nothing is copied
    kept = np.array(x)
    part = x[2:, 1]
    assert np.asarray(x[0]).base is None
    with pytest.raises((ValueError, TypeError)):
        x[0, 0] = 1.0
    with pytest.raises(ValueError):
        np.add(1, 2, out=x)
    world.step()
    for stale in (x, part, x):
        assert not stale.valid
        for use in (lambda a: a[0], np.array, lambda a: a + 1, np.sum, lambda a: a.max(), list,
                    lambda a: a.T, lambda a: float(a[0])):
            with pytest.raises(scree.StaleError, match="position"):
                use(stale)
        assert "changed" in repr(stale)
    assert kept.shape == (6, 3)
    with world.positions as array:
        view = array[1:, 2]
        with pytest.raises(BufferError):
            world.step()
        with pytest.raises(BufferError):
            world.close()
    del array
    with pytest.raises(BufferError):
        world.step()  # a slice of it is still there
    del view
    world.step()
    y = world.velocities
    world.close()
    with pytest.raises(scree.StaleError, match="closed"):
        y[0]
    with pytest.raises(scree.InputError, match="closed"):
        world.step()


def test_changes_make_views_stale():
    world = heap()
    for change in (lambda: world.add_body("disk", (3, 3), radius=.1),
                   lambda: world.set_velocity(1, (0, 1)), lambda: world.set_pose(1, (9, 9)),
                   lambda: world.remove_body(1), lambda: world.restore(world.save()),
                   lambda: world.add_material(), lambda: world.configure(step=2e-3)):
        x = world.positions
        change()
        with pytest.raises(scree.StaleError):
            x[0]


def test_contacts():
    world = heap(n=0)
    for k in range(5):
        world.add_body("disk", (0.3 * k, 0.1), radius=0.1)
    for _ in world.run(steps=60):
        pass
    contacts = world.contacts
    assert len(contacts) == 5 and contacts.bodies.shape == (len(contacts), 2)
    weight = world.masses.sum() * 9.81
    floor = np.array(contacts.bodies).min(axis=1) == 0
    assert np.abs(contacts.forces[floor, 1]).sum() == pytest.approx(weight, rel=0.05)
    assert np.allclose(contacts.table["r"][:, :2], contacts.impulses)
    assert contacts.velocities.shape == (len(contacts), 2) and set(contacts.status) <= {0, 1, 2}
    assert np.allclose(np.linalg.norm(contacts.normals, axis=1), 1)
    world.step()
    with pytest.raises(scree.StaleError):
        contacts.gaps
    analysis = world.analyse((-1, 0), (1, 1))
    assert analysis.stress.shape == (3, 3) and world.deepest()[0] < 0.01
    assert world.energy().kinetic >= 0 and world.memory > 0


def test_problem_of_a_step():
    world = heap(3, tol=1e-8)
    world.step(50)
    problem = world.problem
    assert problem.kind == "balls" and problem.nc == world.contact_count
    r, u = problem.solution
    assert scree.measure(problem, r).error <= 1e-8
    assert np.allclose(r, np.array(world.contacts.impulses))
    world.close()
    assert scree.solve(problem).converged


def test_save_and_restore():
    world, other = heap(3, 8), heap(3, 8)
    world.step(30)
    state = world.save()
    world.step(30)
    expected = np.array(world.positions)
    for w in (world, other):
        w.restore(state)
        w.step(30)
        assert np.array_equal(expected, np.array(w.positions))
    with pytest.raises(scree.InputError):
        heap(3, 7).restore(state)
    for bad in (b"", b"x" * 50, state[:-5], state + b"1", state[:40] + b"\xff" * (len(state) - 40)):
        with pytest.raises(scree.InputError):
            world.restore(bad)


def test_scenes(drop, tmp_path):
    import json
    text = json.dumps(drop)
    (tmp_path / "drop.yaml").write_text(text)
    worlds = [scree.World(drop, threads=1), scree.World(text, threads=1),
              scree.World(tmp_path / "drop.yaml", threads=1),
              scree.World(scree.Scene(drop), threads=1)]
    for world in worlds:
        world.step(20)
    first = np.array(worlds[0].positions)
    assert all(np.array_equal(first, np.array(w.positions)) for w in worlds)
    changed = scree.World(drop, set={"contact.mu": 0.1, "generators[0].count": [3, 2]})
    assert changed.body_count == 9
    with pytest.raises(scree.InputError, match="contact.mu"):
        scree.World(drop, set={"contact.mu": -1})
    with pytest.raises(scree.InputError, match="scene:1"):
        scree.World({"dimension": 4})
    with pytest.raises(scree.InputError, match="no-such-file"):
        scree.World("no-such-file.yaml")


def test_poured_bodies_are_restored():
    scene = {"dimension": 2, "obstacles": [{"shape": {"kind": "half-plane"}}],
             "generators": [{"kind": "pour", "count": 10, "rate": 500, "shape": {"kind": "disk", "radius": 0.01},
                             "region": {"kind": "box", "lower": [-0.2, 0.3], "upper": [0.2, 0.5]}}],
             "time": {"duration": 0.2, "step": 1e-3}}
    world = scree.World(scene, threads=1)
    world.step(8)
    state, count = world.save(), world.body_count
    world.step(30)
    assert world.body_count > count
    expected = np.array(world.positions)
    world.restore(state)
    assert world.body_count == count
    world.step(30)
    assert np.array_equal(expected, np.array(world.positions))
    assert len(list(world.run())) == 200 - 38


def test_threads_are_refused_not_mixed():
    world = heap(2, 60)
    refused, errors = [], []

    def disturb():
        end = time.time() + 0.5
        while time.time() < end:
            try:
                world.positions[1:].sum()
                world.save()
            except scree.BusyError as error:
                refused.append(error)
            except scree.StaleError:
                pass
            except Exception as error:  # noqa: BLE001
                errors.append(error)

    thread = threading.Thread(target=disturb)
    thread.start()
    while thread.is_alive():
        try:
            world.step(5)
        except (BufferError, scree.BusyError):
            pass
    thread.join()
    assert not errors


def test_check_raises():
    world = heap(3, 8, solver="nlgs", max_iterations=1, tol=1e-12, max_retries=0, max_halvings=0)
    with pytest.raises(scree.NotConverged) as caught:
        world.step(200, check=True)
    assert caught.value.result.certified is False
    assert world.step(5).step  # without check it is data


def test_cycles_are_collected():
    import gc
    import weakref
    world = heap()
    world.after_step = lambda w, report: world is None
    world.add_force(1, force=lambda t: (0.0 if world else 1.0, 0))
    alive = weakref.ref(world)
    world.step()
    del world
    gc.collect()
    assert alive() is None

"""The same scene through Python, the program and calls of the library gives the same bits."""
import json
import os
import subprocess

import numpy as np
import pytest
import scree


def from_calls(*arguments):
    program = os.environ.get("SCREE_CALLS")
    if not program:
        pytest.skip("SCREE_CALLS, the program python/tests/calls.c, is not set")
    lines = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True,
                           text=True, timeout=120).stdout.split("\n")
    values = [[float.fromhex(word) for word in line.split()] for line in lines if line]
    return values[0][0], np.array(values[1:])


def poses(world):
    return np.hstack([np.array(world.positions), np.array(world.orientations)])


def test_scene_program_and_calls(drop, tmp_path):
    path = tmp_path / "drop.yaml"
    path.write_text(json.dumps(drop))
    world = scree.World(path, threads=2)
    world.step(120)
    time, expected = from_calls("scene", path, 120)
    assert time == world.time and np.array_equal(poses(world), expected)
    program = os.environ.get("SCREE")
    if not program or not os.path.exists(program):
        pytest.skip("SCREE, the program, is not set")
    subprocess.run([program, "run", path, "-o", tmp_path / "run", "--steps", "120", "--threads", "1",
                    "--set", "output.every=1e-9"], check=True, capture_output=True, timeout=120)
    frame = scree.read(tmp_path / "run")[-1]
    assert frame.step == 120 and frame.time == time
    assert np.array_equal(np.hstack([frame.positions, frame.orientations]), expected)


def test_world_by_calls():
    world = scree.World(dimension=3, step=1e-3, gravity=(0, 0, -9.81))
    world.set_law(mu=0.3, e_n=0.2)
    world.add_obstacle("half-space")
    for k in range(20):
        shape = ({"kind": "box", "half_x": 0.04, "half_y": 0.03, "half_z": 0.02} if k % 2
                 else {"kind": "sphere", "radius": 0.035})
        world.add_body(shape, (0.013 * (k % 3), 0.011 * (k % 5), 0.05 + 0.08 * k), density=2500,
                       angular_velocity=(0.5, -0.25, 0.125 * k))
    world.add_force(3, force=lambda t: (0.25 * t, 0, 0))
    world.step(150)
    time, expected = from_calls("world", 150)
    assert time == world.time and np.array_equal(poses(world), expected)

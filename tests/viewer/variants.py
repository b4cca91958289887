# Runs that are unusual, made from a usual one: variants.py RUN OUT
# OUT/none, OUT/one: no frame, one frame. OUT/huge: coordinates of 1e60. OUT/far: one body a million
# times as far away as the others. OUT/obstacles: nothing moves. OUT/gone: a body is taken away.
import os
import shutil
import sys

import h5py
import numpy as np

run, out = sys.argv[1:]


def copy(name, change, frames=None):
    folder = f"{out}/{name}"
    os.makedirs(folder)
    shutil.copy(run + "/telemetry.jsonl", folder)
    with h5py.File(run + "/results.h5") as f, h5py.File(folder + "/results.h5", "w") as g:
        for key, value in f.attrs.items():
            g.attrs[key] = value
        for group in f:
            if group not in ("frames", "contacts", "analysis"):
                f.copy(group, g)
        many = len(f["frames/time"]) if frames is None else frames
        for key, data in f["frames"].items():
            g["frames/" + key] = data[: many + 1] if key == "contact_offset" else data[:many]
        total = int(g["frames/contact_offset"][-1])
        for key, data in f["contacts"].items():
            g["contacts/" + key] = data[:total]
        change(g)


def huge(g):
    for key in ("frames/position", "contacts/position"):
        g[key][...] = 1e50 * g[key][...] + 1e60
    for key in ("radius", "half_length", "semi"):
        g["bodies/" + key][...] = 1e50 * g["bodies/" + key][...]


def far(g):
    g["frames/position"][:, -1, 0] = 1e6 * np.arange(len(g["frames/time"]))


def obstacles(g):
    g["bodies/obstacle"][...] = 1
    for key in list(g["contacts"]):
        old = g["contacts/" + key][:0]
        del g["contacts/" + key]
        g["contacts/" + key] = old
    g["frames/contact_offset"][...] = 0


def gone(g):
    alive = np.ones(g["frames/position"].shape[:2], "u1")
    alive[len(alive) // 2 :, -1] = 0
    g["frames/alive"] = alive
    g["frames/position"][len(alive) // 2 :, -1] = np.nan


copy("none", lambda g: None, 0)
copy("one", lambda g: None, 1)
copy("huge", huge)
copy("far", far)
copy("obstacles", obstacles)
copy("gone", gone)

# A run made up for measuring the page: make_run.py DIR [BODIES [FRAMES]]
# Spheres of a dense flow: each follows a sheared bulk motion and is knocked about by its neighbours
# (a velocity that forgets itself within a few frames), a third of a radius a frame, so that all move
# and prediction between frames has as hard a task as in a real flow. Five contacts for two bodies,
# with impulses of a wide spread. Laid out as docs/RESULTS.md describes.
import os
import sys

import h5py
import numpy as np

folder = sys.argv[1]
bodies = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
frames = int(sys.argv[3]) if len(sys.argv) > 3 else 200
random = np.random.default_rng(7)
n = bodies + 1  # body 0 is the floor
radius = 0.005 * (0.8 + 0.4 * random.random(n))
dt, h = 0.02, 0.001

side = int(np.ceil((bodies / 2) ** (1 / 3)))
cell = np.arange(bodies)
grid = np.stack([cell % side, cell // side % side, cell // side**2], 1)
x = np.zeros((n, 3))
x[1:] = 0.0102 * (grid + 0.1 * random.standard_normal((bodies, 3))) + [0, 0, 0.006]
size = x.max()
bulk = np.zeros((n, 3))
bulk[1:, 0] = 0.08 * x[1:, 2] / size
noise = 0.05 * random.standard_normal((n, 3))
spin = 8.0 * random.standard_normal((n, 3))
noise[0] = spin[0] = 0

a = 1 + np.repeat(np.arange(bodies), 3)[: 5 * bodies // 2]
b = np.minimum(a + random.choice([1, side, side**2], len(a)), bodies)
b[a == b] = 0
nc = len(a)

os.makedirs(folder, exist_ok=True)
with h5py.File(folder + "/results.h5", "w", track_order=True) as f:
    f.attrs["format"] = np.bytes_("scree-results")
    f.attrs["title"] = np.bytes_(f"{bodies} spheres, {frames} frames")
    f.attrs["dimension"], f.attrs["finished"], f.attrs["step"] = np.int32(3), np.int32(1), h
    f.attrs["gravity"] = [0.0, 0.0, -9.81]
    f["materials/name"] = np.array([b"stone"])
    f["bodies/kind_names"] = np.array([b"half-space", b"sphere"])
    f["bodies/kind"] = (np.arange(n) > 0).astype("i4")
    f["bodies/obstacle"] = (np.arange(n) == 0).astype("i4")
    f["bodies/material"] = np.zeros(n, "i4")
    f["bodies/mass"] = np.where(np.arange(n) > 0, 2700 * 4 / 3 * np.pi * radius**3, np.inf)
    f["bodies/radius"] = np.where(np.arange(n) > 0, radius, 0)
    f["bodies/half_length"] = np.zeros(n)
    f["bodies/semi"] = np.zeros((n, 3))
    f["bodies/vertex_offset"] = np.zeros(n + 1, "i8")
    f["bodies/vertices"] = np.zeros((0, 3))
    f["frames/time"] = dt * np.arange(frames)
    f["frames/step"] = (20 * np.arange(frames)).astype("i8")
    f["frames/body_count"] = np.full(frames, n, "i4")
    f["frames/contact_offset"] = (nc * np.arange(frames + 1)).astype("i8")
    sets = {
        name: f.create_dataset("frames/" + name, (frames, n, width), chunks=(1, n, width))
        for name, width in [("position", 3), ("orientation", 4), ("velocity", 3), ("angular_velocity", 3)]
    }
    parts = {
        name: f.create_dataset("contacts/" + name, (frames * nc, 3), chunks=(nc, 3))
        for name in ["position", "normal", "impulse", "impulse_world", "velocity"]
    }
    for name in ["gap", "mu", "error"]:
        parts[name] = f.create_dataset("contacts/" + name, (frames * nc,), chunks=(nc,))
    parts["status"] = f.create_dataset("contacts/status", (frames * nc,), "i1", chunks=(nc,))
    parts["body"] = f.create_dataset("contacts/body", (frames * nc, 2), "i4", chunks=(nc, 2))
    turn = np.zeros((n, 4))
    turn[:, 0] = 1
    for k in range(frames):
        v = bulk + noise
        sets["position"][k], sets["velocity"][k] = x, v
        sets["orientation"][k], sets["angular_velocity"][k] = turn, spin
        rows = slice(k * nc, (k + 1) * nc)
        normal = x[a] - x[b]
        normal[b == 0] = [0, 0, 1]
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        r = np.zeros((nc, 3))
        r[:, 0] = np.maximum(random.exponential(1e-3, nc) - 2e-4, 0)
        parts["position"][rows] = x[a] - radius[a, None] * normal
        parts["normal"][rows], parts["impulse"][rows] = normal, r
        parts["impulse_world"][rows] = r[:, :1] * normal
        parts["velocity"][rows], parts["gap"][rows] = 0, 0
        parts["mu"][rows], parts["error"][rows] = 0.5, 1e-9
        parts["status"][rows] = np.where(r[:, 0] > 0, 1 + (np.arange(nc) + k) % 2, 0)
        parts["body"][rows] = np.stack([a, b], 1)
        x = x + dt * v
        forget = np.exp(-dt / 0.06)
        kick = 0.05 * np.sqrt(1 - forget**2)
        noise[1:] = forget * noise[1:] + kick * random.standard_normal((bodies, 3))
        spin[1:] = forget * spin[1:] + 160 * kick * random.standard_normal((bodies, 3))
        axis = 0.5 * dt * spin
        w = turn[:, :1] - np.sum(axis * turn[:, 1:], 1, keepdims=True)
        turn = np.concatenate([w, turn[:, 1:] + turn[:, :1] * axis + np.cross(axis, turn[:, 1:])], 1)
        turn /= np.linalg.norm(turn, axis=1, keepdims=True)

with open(folder + "/telemetry.jsonl", "w") as f:
    for k in range(1, 20 * (frames - 1) + 1):
        f.write(
            f'{{"step":{k},"time":{h * k:.6g},"h":{h},"bodies":{n},"contacts":{nc},"certified":true,'
            f'"error":{1e-9 * (1 + k % 7):.3g},"tolerance":1e-08,"worst_body":[3,2],"penetration":{1e-5 * (1 + k % 5):.3g},'
            f'"deepest_body":[5,4],"iterations":{20 + k % 9},"kinetic":{1 + 0.1 * np.sin(0.01 * k):.6g},'
            f'"potential":{5 - 1e-3 * k:.6g},"work_forces":0,"work_drivers":0,"dissipated_normal":1e-4,'
            f'"dissipated_friction":1e-4,"closing":1e-15,"seconds_detect":0.01,"seconds_build":0.01,'
            f'"seconds_solve":0.05,"seconds_move":0.01,"seconds_certify":0.001,"sensor.wall.x":{np.sin(0.02 * k):.4g},'
            f'"sensor.wall.y":0,"sensor.wall.z":1}}\n'
        )
print(f"{folder}: {bodies} bodies, {frames} frames, {nc} contacts in each")

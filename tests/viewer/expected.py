# Numbers of one body, and the errors of all contacts, in one frame of results.h5, as JSON: expected.py DIR FRAME BODY
import json
import sys

import h5py
import numpy as np

folder, frame, body = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with h5py.File(folder + "/results.h5") as f:
    d = int(f.attrs["dimension"])
    angular = f["frames/angular_velocity"][frame, body]
    a, b = f["frames/contact_offset"][frame : frame + 2]
    # Mean pressure: -(1 / 3V) sum of force . arm over the contacts; the volume from the density.
    pair = f["contacts/body"][a:b]
    force = f["contacts/impulse_world"][a:b] / f.attrs["step"]
    arm = f["contacts/position"][a:b] - f["frames/position"][frame, body]
    sign = np.where(pair[:, 0] == body, -1, np.where(pair[:, 1] == body, 1, 0))
    volume = f["bodies/mass"][body] / f["materials/density"][f["bodies/material"][body]]
    pressure = float(np.sum(sign * np.sum(force * arm, 1)) / (d * volume))
    print(json.dumps({
        "frames": len(f["frames/time"]),
        "bodies": len(f["bodies/kind"]),
        "frame": frame,
        "body": body,
        "position": list(f["frames/position"][frame, body][:d]),
        "velocity": list(f["frames/velocity"][frame, body][:d]),
        "angular": list(angular) if d == 3 else [angular[2]],
        "mass": [f["bodies/mass"][body]],
        "pressure": [pressure],
        "errors": list(f["contacts/error"][a:b]),
    }))

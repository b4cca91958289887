# Numbers of one body, and the errors of all contacts, in one frame of results.h5, as JSON: expected.py DIR FRAME BODY
import json
import sys

import h5py

folder, frame, body = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with h5py.File(folder + "/results.h5") as f:
    d = int(f.attrs["dimension"])
    angular = f["frames/angular_velocity"][frame, body]
    a, b = f["frames/contact_offset"][frame : frame + 2]
    print(json.dumps({
        "frames": len(f["frames/time"]),
        "bodies": len(f["bodies/kind"]),
        "frame": frame,
        "body": body,
        "position": list(f["frames/position"][frame, body][:d]),
        "velocity": list(f["frames/velocity"][frame, body][:d]),
        "angular": list(angular) if d == 3 else [angular[2]],
        "mass": [f["bodies/mass"][body]],
        "errors": list(f["contacts/error"][a:b]),
    }))

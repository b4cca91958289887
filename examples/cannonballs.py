"""Writes cannonballs.hdf5: one time step of a square pyramid of 55 iron balls on a floor, the top one
hit from the side. 225 contacts in space, in FCLIB's global form M v = H r + f, u = H^T v + w.

    python3 examples/cannonballs.py examples/cannonballs.hdf5       (needs NumPy, SciPy, h5py)
"""
import sys

import h5py
import numpy as np
import scipy.sparse as sp

radius, density, mu, step, base = 0.05, 7800.0, 0.3, 1e-3, 5
mass = density * 4 / 3 * np.pi * radius**3
inertia = 0.4 * mass * radius**2

# Layer k from the floor has (base-k)^2 balls, each in the hollow of four below.
centres = np.array([(2 * radius * (i + k / 2), 2 * radius * (j + k / 2), radius + k * np.sqrt(2) * radius)
                    for k in range(base) for i in range(base - k) for j in range(base - k)])
count = len(centres)

# (first, second, normal from second to first); second = None is the floor.
contacts = [(a, None, np.array([0.0, 0.0, 1.0])) for a in range(count) if centres[a, 2] < 1.5 * radius]
for b in range(count):
    for a in range(b + 1, count):
        apart = centres[a] - centres[b]
        if np.linalg.norm(apart) < 2 * radius * (1 + 1e-9):
            contacts.append((a, b, apart / np.linalg.norm(apart)))


def frame(n):
    """Rows n, t1, t2."""
    t1 = np.cross(n, np.eye(3)[np.argmin(abs(n))])
    t1 /= np.linalg.norm(t1)
    return np.array([n, t1, np.cross(n, t1)])


def block(rows, arm):
    """From (velocity, spin) of a ball to the local velocity of its point at `arm`."""
    return np.hstack([rows, np.cross(arm, rows)])


HT = sp.lil_matrix((3 * len(contacts), 6 * count))
for c, (a, b, n) in enumerate(contacts):
    rows = frame(n)
    HT[3 * c:3 * c + 3, 6 * a:6 * a + 6] = block(rows, -radius * n)
    if b is not None:
        HT[3 * c:3 * c + 3, 6 * b:6 * b + 6] = -block(rows, radius * n)
M = sp.diags(np.tile([mass] * 3 + [inertia] * 3, count))
v = np.zeros(6 * count)
v[6 * (count - 1)] = 1.0  # the blow: 1 m/s along x
f = M @ v
f[2::6] -= step * 9.81 * mass

with h5py.File(sys.argv[1], "w") as out:
    group = out.create_group("fclib_global")
    group["spacedim"] = np.array([3], np.int32)
    for name, matrix in (("M", M), ("H", HT.T)):
        matrix = sp.csc_matrix(matrix)
        for key, value in (("nzmax", matrix.nnz), ("m", matrix.shape[0]), ("n", matrix.shape[1]), ("nz", -1)):
            group[f"{name}/{key}"] = np.array([value], np.int32)
        for key, value, kind in (("p", matrix.indptr, np.int32), ("i", matrix.indices, np.int32),
                                 ("x", matrix.data, np.float64)):
            group.create_dataset(f"{name}/{key}", data=value.astype(kind), compression="gzip", shuffle=True)
    group["vectors/f"] = f
    group["vectors/w"] = np.zeros(3 * len(contacts))
    group["vectors/mu"] = np.full(len(contacts), mu)
    group["info/title"] = np.bytes_("cannonballs")
    group["info/description"] = np.bytes_("square pyramid of 55 balls on a floor, the top one hit from the side")
    group["info/math_info"] = np.bytes_("M v = H r + f, u = H^T v + w; masses in kg, step 1 ms")
print(f"{count} balls, {len(contacts)} contacts")

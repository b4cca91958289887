# The other end of engine_yade.c, run by YADE itself: reads a scene of spheres between walls from
# file descriptor 3, and then for each byte it gets makes a block of steps and answers on 4 with the
# processor time and the state of all bodies.
import os
import struct
import time

import numpy
from yade import O, utils  # noqa: F401 (the classes below are names of YADE's interpreter)

source, target = os.fdopen(3, "rb"), os.fdopen(4, "wb")


def read(kinds):
    return struct.unpack("=" + kinds, source.read(struct.calcsize("=" + kinds)))


count, planar, level, mu, block = read("iiidd")
gravity = read("ddd")
# "default": its material as it comes; "accurate": ten times as stiff, half the part of the critical step
young, part = (1e9, 0.5) if level == 0 else (1e10, 0.25)
matter = O.materials.append(FrictMat(young=young, frictionAngle=numpy.arctan(mu)))
moving = []
for k in range(count):
    sphere, radius, mass, inertia, *rest = read("i" + 12 * "d")
    x, n, v = rest[:3], rest[3:6], rest[6:]
    if sphere:
        body = utils.sphere(x, radius, material=matter)
        body.state.mass, body.state.inertia = mass, (inertia, inertia, inertia)
        body.state.vel = v
        if planar:
            body.state.blockedDOFs = "zXY"
        moving.append(O.bodies.append(body))
    else:
        axis = max(range(3), key=lambda a: abs(n[a]))
        O.bodies.append(utils.wall(x[axis], axis, sense=1 if n[axis] > 0 else -1, material=matter))
O.engines = [
    ForceResetter(),
    InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Wall_Aabb()]),
    InteractionLoop(
        [Ig2_Sphere_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom()],
        [Ip2_FrictMat_FrictMat_FrictPhys()],
        [Law2_ScGeom_FrictPhys_CundallStrack()],
    ),
    NewtonIntegrator(damping=0.2, gravity=gravity),
]
critical = utils.PWaveTimeStep()
steps = max(1, int(numpy.ceil(block / (part * critical))))
O.dt = block / steps
target.write(struct.pack("=d", O.dt))
target.flush()
while source.read(1):
    start = time.process_time()
    O.run(steps, True)
    used = time.process_time() - start
    table = numpy.empty((len(moving), 13))
    for row, k in enumerate(moving):
        s = O.bodies[k].state
        q = s.ori
        table[row] = (*s.pos, q[3], q[0], q[1], q[2], *s.vel, *s.angVel)
    target.write(struct.pack("=d", used) + table.tobytes())
    target.flush()
os._exit(0)

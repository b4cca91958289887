#!/usr/bin/env python3
"""Make the seeds of the fuzz targets again (fuzz/corpus), from files that scree writes.

    fuzz/make_corpus.py build/scree

Needs h5py (python3-h5py). The scenes under corpus/scene and the expressions are written by hand.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
program = os.path.abspath(sys.argv[1])
LETTER = {"i4": "i", "i8": "l", "u4": "l", "u1": "b", "i1": "b", "f4": "f", "f8": "d"}


def describe(path, most=40):
    """The text of fuzz/hdf5_text.h for an HDF5 file; at most `most` numbers of each dataset. Few are
    compressed, because that takes most of the time of an input."""
    lines = []

    def entry(name, array, compressed):
        array = np.asarray(array)
        mark = "z" if compressed else ""
        if array.dtype.kind in "SO":
            texts = [t if isinstance(t, bytes) else str(t).encode() for t in array.reshape(-1)]
            width = max([len(t) for t in texts] + [1]) + 1
            sizes = [width, *array.shape]
            values = "|".join(t.decode() for t in texts).replace("\n", " ")[:2000]
            letter = "s"
        else:
            sizes, letter = array.shape, LETTER[array.dtype.str[1:]]
            values = " ".join("%.6g" % x for x in array.reshape(-1)[:most])
        lines.append(" ".join([mark + letter, name, *map(str, sizes)]) + ":" + values)

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            entry("/" + name, item[()], item.compression is not None and name.startswith("frames/p"))

    with h5py.File(path, "r") as file:
        for name, value in file.attrs.items():
            entry("@" + name, value, False)
        file.visititems(visit)
    return ("\n".join(lines) + "\n").encode()


def save(reader, name, data):
    folder = os.path.join(here, "corpus", reader)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def load(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def run(scene, folder, *more):
    subprocess.run([program, "run", scene, "-o", folder, "-q", *more], check=False)


def records(journal):
    """The payloads of frames.bin, each after its length in two bytes."""
    out, at = b"", 0
    while at + 24 <= len(journal):
        size = struct.unpack_from("<Q", journal, at + 8)[0]
        out += struct.pack("<H", size) + journal[at + 24 : at + 24 + size]
        at += 24 + size
    return out


DUMP = """dimension: %d
obstacles: [{shape: {kind: half-%s}}]
bodies:
  - {shape: {kind: %s, radius: 0.1}, position: %s}
  - {shape: {kind: %s, radius: 0.1}, position: %s}
time: {step: 1e-3, duration: 2e-3}
dump_problem: {steps: [1]}
"""

with tempfile.TemporaryDirectory() as work:
    folder = os.path.join(work, "run")
    run(os.path.join(here, "run_scene.yaml"), folder)
    telemetry = b"\n".join(load(folder, "telemetry.jsonl").split(b"\n")[:3]) + b"\n"
    save("results", "run", describe(os.path.join(folder, "results.h5")) + b"\n%%\n" + telemetry)
    # The same without what a run can be read without: more inputs in a second.
    short = [line for line in describe(os.path.join(folder, "results.h5")).split(b"\n")
             if b" /analysis/" not in line and b" /energy/" not in line]
    save("results", "short", b"\n".join(short) + b"\n%%\n" + telemetry)
    half = os.path.join(work, "half")
    run(os.path.join(here, "run_scene.yaml"), half, "--steps", "40")
    for name, at in (("end", folder), ("half", half)):
        checkpoint = load(at, "checkpoint.bin")
        save("checkpoint", name + "-file", b"\0" + checkpoint)
        save("checkpoint", name + "-payload", b"\1" + checkpoint[32:])
    journal = os.path.join(half, "frames.bin")
    if os.path.exists(journal):
        save("journal", "file", b"\0" + load(journal))
        save("journal", "payloads", b"\1" + records(load(journal)))
    else:
        print("no frames.bin after --steps 40: seeds of the journal are left as they are")
    for d, plane, ball, low, high in (
        (2, "plane", "disk", "[0, 0.1]", "[0.02, 0.2999]"),
        (3, "space", "sphere", "[0, 0, 0.1]", "[0.02, 0, 0.2999]"),
    ):
        scene = os.path.join(work, "dump%d.yaml" % d)
        with open(scene, "w") as file:
            file.write(DUMP % (d, plane, ball, low, ball, high))
        at = os.path.join(work, "dump%d" % d)
        run(scene, at)
        path = os.path.join(at, "problems", "step-00000001.hdf5")
        save("fclib", "dump-%dd" % d, describe(path, 200))

# A local problem by hand: two contacts in the plane, W by columns.
save("fclib", "local-2d", b"""i /fclib_local/spacedim 1:2
i /fclib_local/W/m 1:4
i /fclib_local/W/n 1:4
i /fclib_local/W/nz 1:-1
i /fclib_local/W/nzmax 1:6
i /fclib_local/W/p 5:0 2 3 4 6
i /fclib_local/W/i 6:0 2 1 2 0 3
d /fclib_local/W/x 6:2 0.5 2 2 0.5 2
d /fclib_local/vectors/q 4:-1 0.3 -1 0.2
d /fclib_local/vectors/mu 2:0.5 0.3
d /solution/r 4:0.5 0 0.5 0
d /solution/u 4:0 0.3 0 0.2
""")

# Words of scenes, for the mutations.
words = set()


def collect(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "properties":
                words.update(value)
            if key == "enum":
                words.update(x for x in value if isinstance(x, str))
            if key == "const" and isinstance(value, str):
                words.add(value)
            collect(value)
    elif isinstance(node, list):
        for value in node:
            collect(value)


collect(json.load(open(os.path.join(here, "..", "docs", "scene.schema.json"))))
with open(os.path.join(here, "scene.dict"), "w") as file:
    file.write("# made by make_corpus.py from docs/scene.schema.json\n")
    for word in sorted(words):
        file.write('"%s"\n' % word)
    for text in (": ", "- ", "{", "}", "[", "]", "&a ", "*a", "1e308", "-1", ".nan", ".inf", "null"):
        file.write('"%s"\n' % text)
with open(os.path.join(here, "expression.dict"), "w") as file:
    for word in "pi sin( cos( tan( sqrt( exp( log( abs( min( max( t + - * / ^ ( ) , 1e308".split():
        file.write('"%s"\n' % word)

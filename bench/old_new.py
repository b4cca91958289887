#!/usr/bin/env python3
"""An older build beside this one, in turns in one run, a ratio per row (above 1: this one is faster).

    bench/old_new.py OLD [NEW] [--rows cold,sweep,world,steps] [--rounds N] [-o FILE]

OLD and NEW (this tree) are source trees with a build in build/, made with the same compiler and
flags. NEW's bench/cold.c, bench/sweep.c and bench/world.c are copied into OLD and built there. Rows:

    cold   every problem file, 1e-4 and 1e-8, by `auto`, cold start, one thread: judged by
           error_siconos (as bench/siconos_race does), by both errors, and with the associated
           law (as bench/portfolio does)
    sweep  nanoseconds per contact of a sweep (bench/sweep)
    world  nanoseconds per body and step (bench/world 8000 300), the fastest tenth of the steps
    steps  whole runs: the drum, the wall, 8000 spheres; processor's seconds

    count  the rows of `cold` by instructions (valgrind's callgrind), which other programs do not disturb;
           copies only of rows below LIMIT
Not among the rows unless asked for: callgrind takes about fifty times as long as the solves.

Times are the processor's, the least of all turns. A row that is slower than LIMIT is measured
again up to MORE times, since other programs on the machine disturb both builds. Where the builds
need different numbers of iterations, these are printed; for such solves one more row has the geometric
mean over SHAKEN copies of the problem whose q differs by round-off, since a solve that changes its
path by chance tells little: its spread is printed too.
"""
import argparse, concurrent.futures, math, os, re, resource, subprocess, sys, tempfile

LIMIT = 0.97
MORE = 6
SHAKEN = 12
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build(tree, targets, copied=()):
    for name in copied:
        text = open(os.path.join(HERE, "bench", name)).read()
        header = open(os.path.join(tree, "include/scree/problem.h")).read()
        if "scree_Flow flow" not in header:
            text = text.replace("#define COLD_FLOW flow", "#define COLD_FLOW law")
        path = os.path.join(tree, "bench", name)
        if not os.path.exists(path) or open(path).read() != text:
            open(path, "w").write(text)
    b = os.path.join(tree, "build")
    for command in (["cmake", b], ["cmake", "--build", b, "--target"] + targets):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Cold:
    """bench/cold of one tree."""

    def __init__(self, tree):
        self.process = subprocess.Popen([os.path.join(tree, "build/bench/cold")], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().split()


class Table:
    def __init__(self, file):
        self.file, self.slow, self.rows = file, [], 0

    def say(self, line):
        for f in (sys.stdout, self.file):
            if f:
                print(line, file=f, flush=True)

    def row(self, name, old, new, note=""):
        if old == new == float("inf"):
            return self.say("%-62s solved by neither" % name)
        ratio = old / new
        self.rows += 1
        mark = "" if ratio >= LIMIT else "  slower"
        if mark:
            self.slow.append((ratio, name))
        self.say("%-62s %11.4g %11.4g %7.3f%s%s" % (name, old, new, ratio, mark, note))


def in_turns(measure, rounds):
    """measure(k) of both trees in turns; the least of each; more turns while the second is slower."""
    best = [float("inf")] * 2
    for turn in range(rounds * MORE):
        for k in ((0, 1), (1, 0))[turn % 2]:
            best[k] = min(best[k], measure(k))
        unsolved = best[1] == float("inf")
        if unsolved or turn + 1 >= rounds and best[1] * LIMIT <= best[0]:
            break
    return best


COLD_ROWS = [(m, f, t) for m, f in (("siconos", "coulomb"), ("both", "coulomb"), ("both", "associated"))
             for t in ("1e-4", "1e-8")]


def cold(trees, table, rounds, problems):
    tools = [Cold(t) for t in trees]
    table.say("\ncold solves by auto, one thread: microseconds of the older build, of this one; ratio")
    for path in problems:
        if any(t.ask("load " + path) != ["ok"] for t in tools):
            table.say(os.path.basename(path) + ": not read")
            continue
        for measure, flow, tolerance in COLD_ROWS:
            counts = [None, None]

            def one(k):
                answer = tools[k].ask("solve %s %s %s 0.03" % (tolerance, measure, flow))
                counts[k] = answer[2:]
                return 1e6 * float(answer[0])

            old, new = in_turns(one, rounds)
            name = "%-42.42s %s %s %s" % (os.path.basename(path)[:-5], measure, flow[:3], tolerance)
            note = "" if counts[0] == counts[1] else "  " + "/".join(counts[0]) + " -> " + "/".join(counts[1])
            if not note or old == new:
                table.row(name, old, new, note)
                continue
            table.say("%-62s %11.4g %11.4g %7.3f%s" % (name, old, new, old / new, note))
            times = [[], []]
            for seed in range(1, SHAKEN + 1):
                for t in tools:
                    t.ask("shake %d" % seed)
                for k, value in enumerate(in_turns(one, 1)):
                    times[k].append(value)
            for t in tools:
                t.ask("shake 0")
            old, new = (math.exp(sum(map(math.log, t)) / SHAKEN) for t in times)
            table.row("    mean of %d copies" % SHAKEN, old, new, "  from %.4g to %.4g -> from %.4g to %.4g" % (
                min(times[0]), max(times[0]), min(times[1]), max(times[1])))


def instructions(tree, path, lines):
    """Answers of bench/cold to count lines, each with the instructions of the solve in front."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--quiet",
                   "--callgrind-out-file=" + os.path.join(folder, "out"), os.path.join(tree, "build/bench/cold")]
        text = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              input="\n".join(["load " + path] + lines) + "\n").stdout
        answers, number = [], 0
        for line, answer in zip(lines, text.splitlines()[1:]):
            if not line.startswith("count"):
                continue
            words, count = answer.split(), float("inf")
            if words[0] == "ok":
                number += 1
                dump = open(os.path.join(folder, "out.%d" % number)).read()
                count = float(re.search(r"^(?:totals|summary): *(\d+)", dump, re.M).group(1))
            answers.append([count] + words[2:])
        return answers


def count(trees, table, rounds, problems):
    table.say("\ncold solves by auto, one thread: thousands of instructions of the older build, of this one; ratio")
    lines = ["count %s %s %s" % (t, m, f) for m, f, t in COLD_ROWS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path in problems:
            both = list(pool.map(lambda tree: instructions(tree, path, lines), trees))
            for row, old, new in zip(COLD_ROWS, *both):
                name = "%-42.42s %s %.3s %s" % (os.path.basename(path)[:-5], *row)
                note = "" if old[1:] == new[1:] else "  " + "/".join(old[1:]) + " -> " + "/".join(new[1:])
                if not note or float("inf") in (old[0], new[0]) or old[0] >= LIMIT * new[0]:  # copies take long
                    table.row(name, old[0] / 1e3, new[0] / 1e3, note)
                    continue
                table.say("%-62s %11.4g %11.4g %7.3f%s" % (name, old[0] / 1e3, new[0] / 1e3, old[0] / new[0], note))
                line = "count %s %s %s" % (row[2], row[0], row[1])
                shaken = [w for seed in range(1, SHAKEN + 1) for w in ("shake %d" % seed, line)]
                copies = list(pool.map(lambda tree: instructions(tree, path, shaken), trees))
                counts = [[a[0] / 1e3 for a in answers] for answers in copies]
                old, new = (math.exp(sum(map(math.log, c)) / len(c)) for c in counts)
                table.row("    mean of %d copies" % SHAKEN, old, new, "  from %.4g to %.4g -> from %.4g to %.4g" % (
                    min(counts[0]), max(counts[0]), min(counts[1]), max(counts[1])))


def output_rows(trees, table, rounds, program, arguments, pattern):
    """Rows of a bench program: lines that match; group 1 names the row, the others are times."""
    def run(k):
        text = subprocess.run([os.path.join(trees[k], "build/bench", program)] + arguments,
                              check=True, text=True, stdout=subprocess.PIPE).stdout
        return {" ".join(m.group(1).split()): [float(x) for x in m.groups()[1:]]
                for m in map(pattern.search, text.splitlines()) if m}

    best = [{}, {}]
    for turn in range(rounds):
        for k in ((0, 1), (1, 0))[turn % 2]:
            for name, values in run(k).items():
                kept = best[k].setdefault(name, values)
                best[k][name] = [min(a, b) for a, b in zip(kept, values)]
    return best


def sweep(trees, table, rounds):
    table.say("\nsweeps of nlgs: nanoseconds per contact on one thread")
    best = output_rows(trees, table, rounds, "sweep", [],
                       re.compile(r"^(\dD \w+ +\d+ contacts) +([\d.]+) ns"))
    for name, (old,) in best[0].items():
        table.row(name, old, best[1][name][0])


def world(trees, table, rounds):
    table.say("\nbench/world 8000 300: nanoseconds per body and step, one thread, the fastest tenth of the steps")
    best = output_rows(trees, table, rounds, "world", ["8000", "300", "moreau-jean", "1", "0.1"],
                       re.compile(r"^ *(\d+) +\d+ +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)"))
    for step, values in best[0].items():
        for part, old, new in zip(("detect", "build", "move", "certify", "all of these", "solve"), values, best[1][step]):
            if min(old, new) >= 20:  # less is lost in the clock
                table.row("to step %s, %s" % (step, part), old, new)


def steps(trees, table, rounds):
    table.say("\nwhole runs, one thread: processor's seconds")
    os.environ["OMP_NUM_THREADS"] = "1"
    runs = [
        ("the drum, examples/drum.yaml to 0.6 s", ["scree", "run", "@examples/drum.yaml", "--until", "0.6", "--threads", "1"]),
        ("the wall, examples/wall.yaml to 0.4 s", ["scree", "run", "@examples/wall.yaml", "--until", "0.4", "--threads", "1"]),
        ("8000 spheres, bench/world 8000 300", ["bench/world", "8000", "300"]),
    ]
    for name, command in runs:
        def one(k):
            with tempfile.TemporaryDirectory() as folder:
                words = [os.path.join(trees[0], w[1:]) if w[0] == "@" else w for w in command]
                if words[0] == "scree":
                    words += ["-o", os.path.join(folder, "run")]
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                subprocess.run([os.path.join(trees[k], "build", words[0])] + words[1:],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        old, new = in_turns(one, rounds)
        table.row(name, old, new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?", default=HERE)
    parser.add_argument("--rows", default="cold,sweep,world,steps")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--problems", nargs="*", help="problem files (all of ../shared/problems)")
    parser.add_argument("-o", "--output")
    args = parser.parse_args()
    trees = [os.path.abspath(args.old), os.path.abspath(args.new)]
    build(trees[0], ["scree", "bench_cold", "bench_sweep", "bench_world"], ["cold.c", "sweep.c", "world.c"])
    build(trees[1], ["scree", "bench_cold", "bench_sweep", "bench_world"])
    problems = args.problems
    if not problems:
        folder = os.environ.get("SCREE_PROBLEMS", os.path.join(HERE, "../shared/problems"))
        problems = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".hdf5"))
    with open(args.output, "w") if args.output else open(os.devnull, "w") as file:
        table = Table(file if args.output else None)
        table.say("An older build beside this one, in turns, one thread, the least of the turns; above 1: this one is faster")
        for kind in args.rows.split(","):
            if kind in ("cold", "count"):
                {"cold": cold, "count": count}[kind](trees, table, args.rounds, problems)
            else:
                {"sweep": sweep, "world": world, "steps": steps}[kind](trees, table, args.rounds)
        table.say("\n%d rows, %d slower than %.2f" % (table.rows, len(table.slow), LIMIT))
        for ratio, name in sorted(table.slow):
            table.say("  %.3f %s" % (ratio, name))


if __name__ == "__main__":
    main()

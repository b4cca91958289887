"""The type stubs say what the extension has; everything has a docstring."""
import ast
import inspect
import os

import scree
from conftest import SOURCE

CORE = os.path.join(SOURCE, "python", "scree", "_core.pyi")


def stub_names():
    with open(CORE, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = set()
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    members.add(item.name)
                elif isinstance(item, ast.AnnAssign):
                    members.add(item.target.id)
            names[node.name] = members
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = {a.arg for a in node.args.args + node.args.kwonlyargs}
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = set()  # constants; helper types are plain assignments
    return names


def test_every_name_has_a_stub():
    names = stub_names()
    core = scree._core
    public = {n for n in dir(core) if not n.startswith("__")} | {"__version__"}
    assert public == set(names)
    for name in public:
        thing = getattr(core, name)
        if inspect.isclass(thing) and thing.__module__.startswith("scree") and not issubclass(thing, BaseException):
            if hasattr(thing, "n_fields"):
                members = {n for n in dir(thing) if n not in dir(tuple) and not n.startswith(("n_", "__"))}
            else:
                members = {n for n in vars(thing) if not n.startswith("__")}
            assert members == {m for m in names[name] if not m.startswith("__")}, name


def test_signatures_agree():
    names = stub_names()
    for name in ("measure", "run", "write_png", "solvers", "laws", "schemes", "shapes"):
        assert set(inspect.signature(getattr(scree._core, name)).parameters) == names[name], name


def test_everything_is_documented():
    for name in scree.__all__:
        thing = getattr(scree, name)
        if callable(thing):
            assert inspect.getdoc(thing), name
    for cls in (scree.World, scree.Problem, scree.Solver, scree.Run, scree.View, scree.Scene, scree._core.Replay):
        for name, member in inspect.getmembers(cls, callable):
            if not name.startswith("_"):
                assert inspect.getdoc(member), f"{cls.__name__}.{name}"
    assert scree.__version__.count(".") == 2

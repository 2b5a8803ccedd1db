"""All packages stand in one line: each imports only from those before it, in every form of import.

Inside a package, modules stand in lines, too.
"""

from __future__ import annotations

import ast
import functools
import pkgutil
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import plackett
from plackett import PACKAGES
from plackett._names.catalogue import public_names

PACKAGE = Path(plackett.__file__).parent

#: The packages from the bottom to the top: each imports only from those before it.
LINE = (
    *("_base", "_names", "_kernels", "_files"),
    *("data", "permutation_models", "measures", "evaluation", "aggregation", "diversity", "losses"),
    *("scorers", "solvers", "models", "selection", "rankers"),
    *("graph", "text", "datasets", "feature_selection", "clicks", "explanations", "online", "export"),
    *("experiments", "plot", "theory", "testing", "applications", "_load", "serve", "workbench", "cluster"),
    *("cli", "__main__"),
)
PLACE = {package: place for place, package in enumerate(LINE)}


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports of a file: at its head, inside functions and classes, and for type checkers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def imported(path: Path) -> Iterator[str]:
    """Packages, and names of the public face, that a file imports."""
    for node in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            assert node.level == 0, f"{path}: imports are absolute"
            modules = [str(node.module)]
            if node.module == "plackett":
                modules = [f"plackett.{alias.name}" for alias in node.names]
        for module in modules:
            first, _, rest = module.partition(".")
            if first == "plackett":
                yield rest.partition(".")[0] or "__init__"


def upward(path: Path) -> Iterator[str]:
    """What a file imports that does not stand before its own package; names of the public face are never imported."""
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for name in imported(path):
        if name != own and PLACE.get(name, len(LINE)) > PLACE[own]:
            yield name


def test_every_package_stands_in_the_line():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert packages | modules == set(LINE) and len(LINE) == len(set(LINE))


def test_imports_point_one_way():
    """In every form: no two packages import each other."""
    result = {
        (path.relative_to(PACKAGE).as_posix(), name) for path in sorted(PACKAGE.rglob("*.py")) for name in upward(path)
    }
    assert result == set()


def named(path: Path) -> str:
    """The name of a module without that of the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def graph() -> dict[str, set[str]]:
    """The modules that each module imports, in every form of import."""
    paths = {named(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    return {
        name: {result for result in imported_modules(path) if result in paths} - {name} for name, path in paths.items()
    }


def imported_modules(path: Path) -> Iterator[str]:
    """The modules that a file imports: ``from a import b`` imports ``a.b`` if that is a module, otherwise ``a``."""
    for node in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("plackett.") for alias in node.names)
        else:
            module = str(node.module).removeprefix("plackett").removeprefix(".")
            for alias in node.names:
                own = (PACKAGE / module.replace(".", "/") / alias.name).with_suffix(".py")
                folder = own.with_suffix("") / "__init__.py"
                yield f"{module}.{alias.name}" if own.exists() or folder.exists() else module


def test_no_modules_import_each_other():
    """Neither two nor more, in every form of import; the packages' own files are the doors, and close no circle."""
    TopologicalSorter(graph()).prepare()  # its error shows the circle


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from plackett.rankers.base import Ranker", ["rankers"]),
        ("def f():\n    import plackett.cli.app", ["cli"]),
        ("from plackett import _storage, LambdaMART", ["_storage", "LambdaMART"]),
        ("import plackett as pk", ["__init__"]),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from plackett.rankers.base import Ranker",
            ["rankers"],
        ),
        ("import numpy as np", []),
        ("class A:\n    async def f():\n        with x:\n            from plackett.text import Index", ["text"]),
        (
            "try:\n    import plackett.a\nexcept E:\n    import plackett.b\nelse:\n    import plackett.c",
            ["a", "c", "b"],
        ),
        ("try:\n    f()\nfinally:\n    import plackett.a\nfor x in y:\n    import plackett.b", ["a", "b"]),
        (
            "match x:\n    case 1:\n        import plackett.a\nif x:\n    f()\nelif y:\n    import plackett.b",
            ["a", "b"],
        ),
    ],
)
def test_imports_are_found(tmp_path, source, expected):
    (tmp_path / "x.py").write_text(source, encoding="utf-8")
    assert sorted(imported(tmp_path / "x.py")) == sorted(expected)


def _packages() -> list[str]:
    return [module.name for module in pkgutil.walk_packages(plackett.__path__, "plackett.") if module.ispkg]


@pytest.mark.parametrize("package", sorted({f"plackett.{name}" for name in PACKAGES} | set(_packages())))
def test_a_star_import_brings_what_is_public(package):
    module = import_module(package)
    names: dict[str, object] = {}
    exec(f"from {package} import *", names)
    del names["__builtins__"]
    opened = type(module) is not ModuleType  # by `open_package`
    public = set(public_names(package.removeprefix("plackett."))) if opened else set()
    assert public <= set(names)
    assert names.keys() <= set(dir(module)), "completion offers it too"
    if not hasattr(module, "__all__"):
        assert all(isinstance(value, ModuleType) for value in names.values()), "a folder of modules"
        return
    assert set(module.__all__) == set(names)
    assert len(module.__all__) == len(set(module.__all__))
    assert not {"annotations", "open_package", "TYPE_CHECKING"} & set(names)


def test_cached_properties_have_no_lock():
    """Those of Python 3.11's functools have one per class, which a fork may leave closed."""
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "cached.py"}
    users = {path: text for path, text in texts.items() if "@cached_property" in text}
    assert users
    for path, text in users.items():
        assert "from plackett._base.cached import cached_property" in text, path

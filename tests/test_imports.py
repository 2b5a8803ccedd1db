"""The packages import in one direction, at the head of a file and inside functions."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import plackett
from plackett._index import PACKAGES

PACKAGE = Path(plackett.__file__).parent

#: The layers from the bottom to the top. A package imports from its own layer and from those below it.
LAYERS = (
    ("data", "permutation_models"),
    ("datasets", "measures"),
    ("evaluation", "aggregation", "diversity"),
    ("losses",),
    ("scorers", "solvers", "models"),
    ("rankers", "text", "graph", "clicks", "selection", "feature_selection"),
    ("explanations", "export", "online"),
    ("experiments",),
    ("studies", "plot", "theory"),
    ("testing", "serve", "workbench", "cluster", "applications"),
    ("cli",),
)
LEVEL = {package: level for level, layer in enumerate(LAYERS) for package in layer}

#: Modules above all packages: the public face, and the one reader for every kind of file.
TOP = ("__init__", "__main__", "_load")
#: The one name of the public face that everything may use: a literal.
VERSION = "__version__"

#: Imports that point upwards, each with its reason.
EXCEPTIONS = {
    ("serve/models.py", "_load"): "what `load` reads is served",
    ("datasets/collection.py", "text"): "a collection consists of documents, and can be indexed",
    ("datasets/pydocs/build.py", "text"): "the embedded collection consists of documents",
    ("losses/base.py", "theory"): "a loss tells what is proved of it, when asked",
}


def imports(statements: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports among statements and inside them; what only type checkers see is left out."""
    for node in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            for block in ("body", "orelse", "handlers", "finalbody", "cases"):
                yield from imports(getattr(node, block, ()))


def imported(path: Path) -> Iterator[str]:
    """Packages, and modules at the root, that a file imports."""
    for node in imports(ast.parse(path.read_text(encoding="utf-8")).body):
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


def is_module(name: str) -> bool:
    return (PACKAGE / f"{name}.py").exists()


def upward(path: Path) -> Iterator[str]:
    """What a file imports from above its own layer."""
    relative = path.relative_to(PACKAGE)
    own = relative.parts[0].removesuffix(".py")
    if own in TOP:
        return
    level = LEVEL[own] if len(relative.parts) > 1 else -1
    for name in imported(path):
        if name in LEVEL:
            above = LEVEL[name] > level
        else:  # a module at the root, or a name of the public face
            above = name in TOP or not (is_module(name) or name == VERSION)
        if above and level < LEVEL["cli"]:
            yield name


def test_every_package_has_a_layer():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages <= set(LEVEL)


def test_imports_point_one_way():
    found = {
        (path.relative_to(PACKAGE).as_posix(), name) for path in sorted(PACKAGE.rglob("*.py")) for name in upward(path)
    }
    assert found == set(EXCEPTIONS)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from plackett.rankers.base import Ranker", ["rankers"]),
        ("def f():\n    import plackett.cli.app", ["cli"]),
        ("from plackett import _storage, LambdaMART", ["_storage", "LambdaMART"]),
        ("import plackett as pk", ["__init__"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from plackett.rankers.base import Ranker", []),
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
    assert list(imported(tmp_path / "x.py")) == expected


def _packages() -> list[str]:
    return [module.name for module in pkgutil.walk_packages(plackett.__path__, "plackett.") if module.ispkg]


@pytest.mark.parametrize("package", sorted({f"plackett.{name}" for name in PACKAGES} | set(_packages())))
def test_a_star_import_brings_what_is_public(package):
    module = import_module(package)
    names: dict[str, object] = {}
    exec(f"from {package} import *", names)
    del names["__builtins__"]
    public = set(PACKAGES.get(package.removeprefix("plackett."), ()))
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
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "_cached.py"}
    users = {path: text for path, text in texts.items() if "@cached_property" in text}
    assert users
    for path, text in users.items():
        assert "from plackett._cached import cached_property" in text, path

"""Which sources of the package a module depends on: results are stale when one of them has been edited."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]

#: Modules that list all items, and model files: they affect no result and change with every new item.
_APART = (
    "plackett",
    "plackett._names.catalogue",
    "plackett.rankers",
    "plackett.rankers.storage",
)


def source_stamp(modules: Iterable[str]) -> str:
    """Hash of the sources of some modules and of all modules of the package that they import, directly or not.

    Unlike the version, this notices an edited kernel between two releases. Modules of other packages are left out.
    """
    digest = hashlib.blake2b(digest_size=12)
    for name in sorted(modules_behind(modules)):
        digest.update(name.encode() + b"\0" + _text(name))
    return digest.hexdigest()


def modules_behind(modules: Iterable[str]) -> set[str]:
    """The modules of the package among these, and all that they import.

    >>> modules = modules_behind(["plackett.rankers.listwise.listnet"])
    >>> "plackett.losses.listwise.listnet" in modules, "plackett.rankers.listwise.listmle" in modules
    (True, False)
    """
    imported: set[str] = set()
    waiting = [name for name in modules if _path(name) is not None]
    while waiting:
        name = waiting.pop()
        if name not in imported:
            imported.add(name)
            waiting.extend(_imports(name))
    return imported


@cache
def _imports(name: str) -> tuple[str, ...]:
    """The modules of the package that a module imports, at its top or inside functions."""
    wanted: list[str] = []
    for node in ast.walk(ast.parse(_text(name))):
        if isinstance(node, ast.ImportFrom) and node.module:
            wanted += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            wanted += [alias.name for alias in node.names]
    return tuple(module for module in dict.fromkeys(wanted) if module not in _APART and _path(module) is not None)


@cache
def _path(name: str) -> Path | None:
    """File of a module of the package; None for all others."""
    top, *parts = name.split(".")
    if top != "plackett":
        return None
    base = _PACKAGE.joinpath(*parts)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _text(name: str) -> bytes:
    path = _path(name)
    return b"" if path is None else path.read_bytes()

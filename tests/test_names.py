"""One word, one meaning: names of classes, and what files may ask of each other."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import plackett

PACKAGE = Path(plackett.__file__).parent

#: Attributes with an underscore that other libraries make one use: namedtuples, `os`, scikit-learn's histogram boosting
#: and Numba's compiled functions, of which nothing else gives the trees and the machine code.
FOREIGN = {
    *("_asdict", "_fields", "_replace", "_exit"),
    *("_baseline_prediction", "_predictors", "_raw_predict_init"),
    *("_rebuild", "_reduce"),
}


@functools.cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_a_class_has_a_name_of_its_own():
    """Those with an underscore are known to their file alone."""
    where = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not is_private(node.name):
                where[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


def foreign_imports(path: Path, tree: ast.AST) -> Iterator[str]:
    """Modules with an underscore of another folder, and names with an underscore of another file."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("plackett"):
            continue
        for alias in node.names:
            parts = f"{node.module}.{alias.name}".split(".")[1:]
            for i, part in enumerate(parts):
                folder = PACKAGE.joinpath(*parts[:i])
                is_module = (folder / part).is_dir() or (folder / f"{part}.py").exists()
                at_home = is_module and (folder == PACKAGE or folder in path.parents)
                if is_private(part) and not at_home:
                    yield ".".join(parts)


def test_what_other_folders_import_has_no_underscore():
    wrong = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path, tree in trees().items()
        for name in foreign_imports(path, tree)
    }
    assert wrong == set()


def own_names(tree: ast.AST) -> Iterator[str]:
    """Names that a file defines: functions, classes, fields, and attributes that it sets."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # of `setattr`


def is_own(node: ast.expr) -> bool:
    """Whether this is ``self``, ``cls`` or ``super()``."""
    return ast.unparse(node) in ("self", "cls", "super()")


def test_attributes_that_other_files_use_have_no_underscore():
    wrong = {
        (path.relative_to(PACKAGE).as_posix(), node.attr)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node.value)
        if node.attr not in FOREIGN and node.attr not in set(own_names(tree))
    }
    assert wrong == set()

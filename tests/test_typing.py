"""Functions say what they take and return; only kernels, whose types Numba finds at each call, are bare."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import plackett

PACKAGE = Path(plackett.__file__).parent
#: Formulas as plain loops, which the checks of losses and measures compare with.
PLAIN = PACKAGE / "testing" / "definitions"
#: What makes a kernel of a function: as a decorator, or called with it.
MAKERS = {"kernel", "kernel_from", "template", "njit"}


def _name(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _compiled(tree: ast.Module) -> set[str]:
    """Names of the functions that the module hands to Numba."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node) in MAKERS)
    arguments = (each for call in calls for each in (*call.args, *(keyword.value for keyword in call.keywords)))
    return {_name(each) for each in arguments}


def _is_bare(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    a = function.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
    return function.returns is None or any(not each.annotation and each.arg not in ("self", "cls") for each in every)


def _bare(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    bare = [f for f in functions if _is_bare(f) and not MAKERS & {_name(each) for each in f.decorator_list}]
    compiled = _compiled(tree) if bare else set()
    for function in bare:
        if function.name not in compiled:
            yield f"{path.relative_to(PACKAGE)}:{function.lineno} {function.name}"


def test_only_kernels_are_without_annotations():
    files = [path for path in PACKAGE.rglob("*.py") if PLAIN not in path.parents]
    assert [function for path in files for function in _bare(path)] == []

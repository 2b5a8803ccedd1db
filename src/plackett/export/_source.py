"""Source code of a model: tables of its numbers, and short functions that each language has in ``templates``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._base.version import __version__
from plackett._files.atomic import replacing
from plackett.export._forest import Forest
from plackett.export._form import METHODS, SumOfParts
from plackett.scorers.parts import Line, NetworkLayers

#: Activations, by their number in the table PLAN.
ACTIVATIONS = ("identity", "relu", "gelu", "silu", "tanh", "sigmoid")
#: Types of the tables.
_TABLES: dict[str, Any] = {
    "ROOT": np.int32, "FEATURE": np.int32, "THRESHOLD": np.float32, "MISSING_LEFT": np.uint8, "LEFT": np.int32,
    "RIGHT": np.int32, "LEAF": np.float64, "WEIGHT": np.float64, "PLAN": np.int32, "FILL": np.float32,
}  # fmt: skip


def template(file: str) -> Template:
    """The text of a file in the folder ``templates``."""
    return Template(files("plackett.export").joinpath("templates", file).read_text("utf-8"))


@cache
def _sections(file: str) -> dict[str, Template]:
    """The parts of a model in a language.

    Each begins with a line ``// ---- name``; the line before the next of these belongs to neither.

    head, foot
        Before the tables, and after the functions. ``$name`` stands for the name of the model, ``$n`` for the number of
        features, ``$widest`` for the size of the widest layer, and ``$sum`` for the statements that add up the parts.
    forest, line, network, fill
        The functions, for models that need them; the last one replaces the missing values of a document.
    fill_copy
        Statements that make the filled copy ``y`` of the document ``x``.
    lists
        Takes the place of the foot in models that normalise the features of a query's documents together; ``$method``
        is the number of the method, ``$before`` what is done before.
    fill_rows
        Statements that fill the copies of all documents, for ``$before``.
    """
    _, *parts = re.split(r"^// ---- (\w+)\n", template(file).template, flags=re.MULTILINE)
    return {name: Template(text.removesuffix("\n")) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def identifier(
    path: Path,
    reserved: str = "",
    *,
    pattern: str = r"[A-Za-z_][A-Za-z0-9_]*",
    allowed: str = "letters, digits and _ only",
) -> str:
    """The name of a model in source code: that of its file, unless it is one of the ``reserved`` words."""
    name = path.name.split(".")[0]
    what = f"{path.name}: the name of the file becomes a name in the code"
    if not re.fullmatch(pattern, name):
        raise DataError(f"{what}; use {allowed}")
    if name in reserved.split():
        raise DataError(f"{what}, and {name!r} has a meaning there; use another one")
    return name


def source(form: SumOfParts, file: str, declare: Callable[[str, np.ndarray], str], name: str) -> str:
    """The program text of a model.

    Parameters
    ----------
    file
        The template of the language.
    declare
        The declaration of a table, from its name and its numbers.
    """
    parts = _sections(file)
    placeholders = {"name": name, "n": str(len(form.names)), "widest": str(_widest(form))}

    def text(part: str, **more: str) -> str:
        return parts[part].substitute(placeholders | more)

    tables: dict[str, list[Any]] = {table: [] for table in _TABLES}
    statements, used = [], []
    size = trees = splits = leaves = steps = 0
    row = "x"
    if form.fills is not None:
        tables["FILL"].append(form.fills)
        used.append("fill")
        if not form.fills_first:  # trees have their own branch for missing values
            row = "y"
            statements.append(text("fill_copy").strip())
    for factor, part in form.parts:
        if isinstance(part, Forest):
            first = trees
            begins = np.repeat(part.split_offsets[:-1], np.diff(part.split_offsets)) + splits
            ends = np.repeat(part.leaf_offsets[:-1], np.diff(part.split_offsets)) + leaves
            root = np.where(np.diff(part.split_offsets) > 0, part.split_offsets[:-1] + splits, 0)
            tables["ROOT"].append(np.where(np.diff(part.split_offsets) > 0, root, ~(part.leaf_offsets[:-1] + leaves)))
            for table, child in (("LEFT", part.left), ("RIGHT", part.right)):
                tables[table].append(np.where(child >= 0, child + begins, child - ends))
            for table, values in (
                ("FEATURE", part.feature),
                ("THRESHOLD", part.threshold),
                ("MISSING_LEFT", part.missing_left),
                ("LEAF", part.leaf_value),
            ):
                tables[table].append(values)
            trees, splits, leaves = trees + part.n_trees, splits + part.feature.size, leaves + part.leaf_value.size
            call, function = f"forest(x, {first}, {trees})", "forest"
        elif isinstance(part, Line):
            call, function = f"line({row}, {size})", "line"
            tables["WEIGHT"].append(np.append(part.weights, part.intercept))
            size += part.weights.size + 1
        else:
            numbers, plan = _network(part)
            call = f"network({row}, {size}, {steps}, {steps + len(plan)}, {int(part.log1p)})"
            function = "network"
            tables["WEIGHT"].append(numbers)
            tables["PLAN"].append(np.array(plan).ravel())
            size, steps = size + numbers.size, steps + len(plan)
        if function not in used:
            used.append(function)
        statements.append(f"total += {'' if factor == 1.0 else f'{float(factor)!r} * '}{call};")
    filled = {table: np.concatenate(parts).astype(_TABLES[table]) for table, parts in tables.items() if parts}
    if "forest" in used:
        for table in ("FEATURE", "THRESHOLD", "MISSING_LEFT", "LEFT", "RIGHT"):
            if not filled[table].size:  # trees of one leaf: a table must not be empty
                filled[table] = np.zeros(1, _TABLES[table])
    if not form.parts:
        raise DataError("the model has no trees")
    foot, more = "foot", {}
    if form.normalised:
        foot, more["method"] = "lists", str(METHODS.index(form.normalised))
        more["before"] = text("fill_rows") if form.fills_first else ""
    declared = "".join(declare(table, values) for table, values in filled.items())
    indent = re.search(r"^([ \t]*)\$sum", parts[foot].template, re.MULTILINE)
    more["sum"] = f"\n{indent[1] if indent else ''}".join(statements)
    return "\n".join([_comment(form), text("head"), declared, *map(text, used), text(foot, **more)])


def write_source(form: SumOfParts, file: str, declare: Callable[[str, np.ndarray], str], path: Path, name: str) -> None:
    """Write the program text of a model to a file; see `source`."""
    text = source(form, file, declare, name)
    with replacing(path) as written:
        written.write(text.encode())


def _comment(form: SumOfParts) -> str:
    """The lines at the head of the file: what was written, and the features."""
    takes_missing = form.takes_missing or form.fills is not None
    missing = "; NaN is a missing value" if takes_missing else ", none of them missing"
    lines = (
        f"{form.algorithm}, written by plackett {__version__}. A higher score is better.",
        f"A document is a list of {len(form.names)} float32 features{missing}.",
        *(f"  {j}: {printable}" for j, printable in enumerate(map(_printable, form.names))),
    )
    return "\n".join(f"// {line}".rstrip() for line in lines)


def _printable(name: str) -> str:
    r"""A name in a comment: nothing in it may end or continue the comment, or stand for something else.

    Java reads ``\u000a`` as the end of a line even in a comment, and C continues a comment that ends in a backslash.
    """
    return re.sub(r"[^\w .,:()=<>+-]", "_", name)


def _widest(form: SumOfParts) -> int:
    widths = [len(form.names)]
    for _, part in form.parts:
        if isinstance(part, NetworkLayers):
            widths += [layer.bias.size for layer in part.layers]
    return max(widths)


def _network(part: NetworkLayers) -> tuple[np.ndarray, list[tuple[int, int, int, int, int]]]:
    """Numbers of a network in the order in which they are read, and the plan: sizes, activation, norm, skip."""
    numbers = [part.mean, part.scale]
    plan = []
    for layer in part.layers:
        numbers += [np.ascontiguousarray(layer.weights.T).ravel(), layer.bias, *(layer.norm or ())]
        activation = ACTIVATIONS.index(layer.activation)
        plan.append((*layer.weights.shape, activation, int(layer.norm is not None), int(layer.skip)))
    return np.concatenate(numbers), plan

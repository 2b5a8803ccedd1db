"""Source code of a model: tables of its numbers, and three short functions that each language writes in its own way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._base.version import __version__
from plackett._files.atomic import replacing
from plackett.export._forest import Forest
from plackett.export._form import METHODS, Form
from plackett.scorers.parts import Line, Network

#: Activations, by their number in the table PLAN.
ACTIVATIONS = ("identity", "relu", "gelu", "silu", "tanh", "sigmoid")
#: Types of the tables.
_TABLES: dict[str, Any] = {
    "ROOT": np.int32, "FEATURE": np.int32, "THRESHOLD": np.float32, "MISSING_LEFT": np.uint8, "LEFT": np.int32,
    "RIGHT": np.int32, "LEAF": np.float64, "WEIGHT": np.float64, "PLAN": np.int32, "FILL": np.float32,
}  # fmt: skip


@dataclass(frozen=True)
class Language:
    """How a language writes a model.

    Parameters
    ----------
    comment
        Start of a line of comment.
    table
        The declaration of a table, from its name and its numbers.
    head, foot
        Text before the tables and after the functions; ``{name}``, ``{n}`` and ``{sum}`` stand for the name of the
        model, the number of features and the statements that add up the parts.
    forest, line, network
        The functions, for models that need them.
    lists
        What takes the place of ``foot`` for models that normalise the features of a query's documents together;
        ``{method}`` is the number of the method, ``{before}`` what is done before.
    fill
        The function that replaces the missing values of a document.
    fill_copy, fill_rows
        Statements that make the filled copy ``y`` of the document ``x``, and that fill the copies of all documents.
    """

    comment: str
    table: Callable[[str, np.ndarray], str]
    head: str
    forest: str
    line: str
    network: str
    foot: str
    lists: str
    fill: str
    fill_copy: str
    fill_rows: str


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


def source(form: Form, language: Language, name: str) -> str:
    """The program text of a model."""
    tables: dict[str, list[Any]] = {table: [] for table in _TABLES}
    statements, used = [], []
    size = trees = splits = leaves = steps = 0
    row = "x"
    if form.fills is not None:
        tables["FILL"].append(form.fills)
        used.append(language.fill)
        if not form.fills_first:  # trees have their own branch for missing values
            row = "y"
            statements.append(language.fill_copy)
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
                ("FEATURE", part.feature), ("THRESHOLD", part.threshold), ("MISSING_LEFT", part.missing_left),
                ("LEAF", part.leaf_value),
            ):  # fmt: skip
                tables[table].append(values)
            trees, splits, leaves = trees + part.n_trees, splits + part.feature.size, leaves + part.leaf_value.size
            call, function = f"forest(x, {first}, {trees})", language.forest
        elif isinstance(part, Line):
            call, function = f"line({row}, {size})", language.line
            tables["WEIGHT"].append(np.append(part.weights, part.intercept))
            size += part.weights.size + 1
        else:
            numbers, plan = _network(part)
            call = f"network({row}, {size}, {steps}, {steps + len(plan)}, {int(part.log1p)})"
            function = language.network
            tables["WEIGHT"].append(numbers)
            tables["PLAN"].append(np.array(plan).ravel())
            size, steps = size + numbers.size, steps + len(plan)
        if function not in used:
            used.append(function)
        statements.append(f"total += {'' if factor == 1.0 else f'{float(factor)!r} * '}{call};")
    filled = {table: np.concatenate(parts).astype(_TABLES[table]) for table, parts in tables.items() if parts}
    if language.forest in used:
        for table in ("FEATURE", "THRESHOLD", "MISSING_LEFT", "LEFT", "RIGHT"):
            if not filled[table].size:  # trees of one leaf: a table must not be empty
                filled[table] = np.zeros(1, _TABLES[table])
    if not form.parts:
        raise DataError("the model has no trees")
    placeholders = {"name": name, "n": str(len(form.names)), "widest": str(_widest(form))}
    foot = language.foot
    if form.normalised:
        foot, placeholders["method"] = language.lists, str(METHODS.index(form.normalised))
        foot = foot.replace("{before}", language.fill_rows if form.fills_first else "")

    def text(template: str, **more: str) -> str:
        for placeholder, value in (placeholders | more).items():
            template = template.replace("{" + placeholder + "}", value)
        return template

    head = "\n".join(
        f"{language.comment} {line}".rstrip()
        for line in (
            f"{form.algorithm}, written by plackett {__version__}. A higher score is better.",
            f"A document is a list of {len(form.names)} float32 features; NaN is a missing value."
            if form.takes_missing or form.fills is not None
            else f"A document is a list of {len(form.names)} float32 features, none of them missing.",
            *(f"  {j}: {printable}" for j, printable in enumerate(map(_printable, form.names))),
        )
    )
    declared = "".join(language.table(table, values) for table, values in filled.items())
    indent = re.search(r"^([ \t]*)\{sum\}", foot, re.MULTILINE)
    joined = f"\n{indent[1] if indent else ''}".join(statements)
    return text("\n".join([head, language.head, declared, *used, foot.replace("{sum}", joined)]))


def write_source(form: Form, language: Language, path: Path, name: str) -> None:
    """Write the program text of a model to a file."""
    text = source(form, language, name)
    with replacing(path) as file:
        file.write(text.encode())


def _printable(name: str) -> str:
    r"""A name in a comment: nothing in it may end or continue the comment, or stand for something else.

    Java reads ``\u000a`` as the end of a line even in a comment, and C continues a comment that ends in a backslash.
    """
    return re.sub(r"[^\w .,:()=<>+-]", "_", name)


def _widest(form: Form) -> int:
    widths = [len(form.names)]
    for _, part in form.parts:
        if isinstance(part, Network):
            widths += [layer.bias.size for layer in part.layers]
    return max(widths)


def _network(part: Network) -> tuple[np.ndarray, list[tuple[int, int, int, int, int]]]:
    """Numbers of a network in the order in which they are read, and the plan: sizes, activation, norm, skip."""
    numbers = [part.mean, part.scale]
    plan = []
    for layer in part.layers:
        numbers += [np.ascontiguousarray(layer.weights.T).ravel(), layer.bias, *(layer.norm or ())]
        activation = ACTIVATIONS.index(layer.activation)
        plan.append((*layer.weights.shape, activation, int(layer.norm is not None), int(layer.skip)))
    return np.concatenate(numbers), plan

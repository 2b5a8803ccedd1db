"""Models as C source code without dependencies."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import identifier, write_source
from plackett.export.tools import run_tool, tool, workshop

__all__ = ["write_c"]

_TYPES = {"float32": "float", "float64": "double", "int32": "int", "uint8": "unsigned char"}


def _table(name: str, values: np.ndarray) -> str:
    literals = [_literal(value, values.dtype == np.float32) for value in values.tolist()]
    return f"static const {_TYPES[values.dtype.name]} {name}[] = {{{', '.join(literals)}}};\n"


def _literal(value: float, single: bool) -> str:
    text = repr(value).replace("inf", "INFINITY")
    return f"{text}f" if single and "I" not in text else text


def write_c(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    r"""Write a fitted ranker as C99 source code without dependencies.

    ``model.c`` has the functions ``double model_score(const float *x)`` and ``void model_scores(const float *rows, long
    n, double *scores)``, with the name of the file. Trees and blends of trees give the scores of `predict` bit for bit;
    linear models differ in the last digits (the order of summation), networks by less than 1e-5 (ours compute in
    float32). Compile without ``-ffast-math``, which ignores NaN. A pipeline of a `QueryNormalizer` and a ranker has
    only the second function, for the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name up to the first dot becomes the name of the functions.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    References
    ----------
    Capannini, Lucchese, Nardini, Orlando, Perego, Tonellotto: Quality versus efficiency in document scoring with
    learning-to-rank models. Information Processing & Management 2016.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.c"
    >>> write_c(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "double model_score(const float *x)" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), "model.c", _table, path, identifier(path))


def score_c(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled file."""
    name = identifier(path)
    with workshop() as folder:
        command: list[str | Path] = [
            tool("gcc"),
            "-std=c99",
            "-O1",
            "-Wall",
            "-Werror",
            "-shared",
            "-fPIC",
            "-x",
            "c",
            path.resolve(),
        ]
        run_tool([*command, "-o", "model.so", "-lm"], folder)
        function = getattr(ctypes.CDLL(str(folder / "model.so")), f"{name}_scores")
        rows, scores = np.ascontiguousarray(X, np.float32), np.empty(len(X))
        function.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
        function.restype = None
        function(rows.ctypes.data, len(rows), scores.ctypes.data)
    return scores


class CFormat:
    """C source code."""

    kind: ClassVar[str] = "c"
    suffix: ClassVar[str] = ".c"
    proof: ClassVar[str] = "compiled by gcc"
    write = staticmethod(write_c)
    score = staticmethod(score_c)

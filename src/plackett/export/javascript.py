"""Models as JavaScript source code without dependencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import identifier, template, write_source
from plackett.export.tools import score_by_program, tool, workshop

__all__ = ["write_javascript"]

#: Words of the language, and names that the code uses.
_RESERVED = """
arguments await break case catch class const continue debugger default delete do else enum eval export extends
false finally for function if implements import in instanceof interface let new null package private protected
public return static super switch this throw true try typeof var void while with yield undefined NaN Infinity
Array Buffer Float32Array Float64Array Int32Array Math Number Object Uint8Array exports module require
"""

_TYPES = {"float32": "Float32Array", "float64": "Float64Array", "int32": "Int32Array", "uint8": "Uint8Array"}


def _table(name: str, values: np.ndarray) -> str:
    literals = ", ".join(map(repr, values.tolist())).replace("inf", "Infinity")
    return f"  const {name} = new {_TYPES[values.dtype.name]}([{literals}]);\n"


def write_javascript(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as JavaScript source code without dependencies, for Node and browsers.

    ``model.js`` defines (and in Node exports) an object with the functions ``score(x)`` and ``scores(rows)``. Numbers
    are rounded to float32 first, as `predict` does. Trees and blends of trees then give its scores bit for bit; linear
    models differ in the last digits, networks by less than 1e-5. A pipeline of a `QueryNormalizer` and a ranker has
    only the second function, for the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name up to the first dot becomes the name of the object.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.js"
    >>> write_javascript(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "module.exports = model" in open(path).read()
    True
    """
    path = Path(path)
    write_source(
        form_of(ranker, feature_names, lists=True, fills=True), "model.js", _table, path, identifier(path, _RESERVED)
    )


def score_javascript(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by Node."""
    name = identifier(path, _RESERVED)
    with workshop() as folder:
        (folder / f"{name}.js").write_bytes(path.read_bytes())
        (folder / "driver.cjs").write_text(template("driver.cjs").template)
        return score_by_program([tool("node"), "driver.cjs", f"./{name}.js", str(X.shape[1])], X, folder)


class JavaScriptFormat:
    """JavaScript source code."""

    kind: ClassVar[str] = "javascript"
    suffix: ClassVar[str] = ".js"
    proof: ClassVar[str] = "run by Node"
    write = staticmethod(write_javascript)
    score = staticmethod(score_javascript)

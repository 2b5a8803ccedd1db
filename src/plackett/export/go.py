"""Models as Go source code without dependencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import identifier, template, write_source
from plackett.export.tools import run_tool, score_by_program, tool, workshop

__all__ = ["write_go"]

#: Words of the language, and a package that nobody can import.
_RESERVED = """
break case chan const continue default defer else fallthrough for func go goto if import interface main map
package range return select struct switch type var
"""


def _table(name: str, values: np.ndarray) -> str:
    go_type = values.dtype.name
    infinite = {"inf": f"{go_type}(math.Inf(1))", "-inf": f"{go_type}(math.Inf(-1))"}
    literals = ", ".join(infinite.get(text, text) for text in map(repr, values.tolist()))
    return f"var {_NAMES[name]} = []{go_type}{{{literals}}}\n"


#: Names as Go's readers expect them.
_NAMES = {
    "ROOT": "root", "FEATURE": "feature", "THRESHOLD": "threshold", "MISSING_LEFT": "missingLeft", "LEFT": "left",
    "RIGHT": "right", "LEAF": "leaf", "WEIGHT": "weight", "PLAN": "plan", "FILL": "fills",
}  # fmt: skip


def write_go(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as a Go package that needs nothing but ``math``.

    ``model.go`` is the package ``model`` with ``Score(x []float32) float64`` and ``Scores(rows [][]float32)
    []float64``. Trees and blends of trees give the scores of `predict` bit for bit; linear models differ in the last
    digits, networks by less than 1e-5. A pipeline of a `QueryNormalizer` and a ranker has only the second function, for
    the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name up to the first dot, in small letters and digits, becomes the name of the package.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.go"
    >>> write_go(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "func Score(x []float32) float64" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), "model.go", _table, path, _package(path))


def _package(path: Path) -> str:
    allowed = "small letters, digits and _ only, with a letter first and not _test at the end"
    return identifier(path, _RESERVED, pattern=r"[a-z][a-z0-9_]*(?<!_test)", allowed=allowed)


def score_go(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled package."""
    name = _package(path)
    with workshop() as folder:
        (folder / name).mkdir()
        (folder / name / "model.go").write_bytes(path.read_bytes())
        (folder / "main.go").write_text(template("driver.go").substitute(name=name))
        (folder / "go.mod").write_text("module proof\n\ngo 1.19\n")
        run_tool([tool("go"), "build", "-o", "proof", "."], folder)
        return score_by_program([folder / "proof", str(X.shape[1])], X, folder)


class GoFormat:
    """Go source code."""

    kind: ClassVar[str] = "go"
    suffix: ClassVar[str] = ".go"
    proof: ClassVar[str] = "compiled by go"
    write = staticmethod(write_go)
    score = staticmethod(score_go)

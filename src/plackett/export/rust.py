"""Models as Rust source code without dependencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import identifier, template, write_source
from plackett.export.tools import run_tool, score_by_program, tool, workshop

__all__ = ["write_rust"]

_TYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "uint8": "u8"}


def _table(name: str, values: np.ndarray) -> str:
    rust_type = _TYPES[values.dtype.name]
    literals = ", ".join(map(repr, values.tolist())).replace("inf", f"{rust_type}::INFINITY")
    return f"static {name}: [{rust_type}; {values.size}] = [{literals}];\n"


def write_rust(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as a Rust module without dependencies.

    ``model.rs`` has ``pub fn score(x: &[f32]) -> f64`` and ``pub fn scores(rows: &[f32]) -> Vec<f64>``. Trees and
    blends of trees give the scores of `predict` bit for bit; linear models differ in the last digits, networks by less
    than 1e-5. A pipeline of a `QueryNormalizer` and a ranker has only the second function, for the documents of one
    query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.rs"
    >>> write_rust(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "pub fn score(x: &[f32]) -> f64" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), "model.rs", _table, path, identifier(path))


def score_rust(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled module."""
    name = identifier(path)
    with workshop() as folder:
        (folder / f"{name}.rs").write_bytes(path.read_bytes())
        (folder / "driver.rs").write_text(template("driver.rs").substitute(name=name))
        run_tool([tool("rustc"), "-O", "-A", "dead_code", "-D", "warnings", "-o", "proof", "driver.rs"], folder)
        return score_by_program([folder / "proof"], X, folder)


class RustFormat:
    """Rust source code."""

    kind: ClassVar[str] = "rust"
    suffix: ClassVar[str] = ".rs"
    proof: ClassVar[str] = "compiled by rustc"
    write = staticmethod(write_rust)
    score = staticmethod(score_rust)

"""Models as Java source code without dependencies."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import identifier, template, write_source
from plackett.export.tools import run_tool, score_by_program, tool, workshop

__all__ = ["write_java"]

#: Words of the language, and classes that the code uses.
_RESERVED = """
_ abstract assert boolean break byte case catch char class const continue default do double else enum extends
false final finally float for goto if implements import instanceof int interface long native new null package
private protected public record return sealed permits short static strictfp super switch synchronized this
throw throws transient true try var void volatile while yield Base64 Boolean Byte ByteBuffer ByteOrder
Character Double Float Integer Long Math Object Short String System
"""

#: Characters of one string constant; javac takes 65,535 bytes.
_CHUNK = 60_000
_READERS = {
    "float32": ("float", "Float"),
    "float64": ("double", "Double"),
    "int32": ("int", "Int"),
    "uint8": ("byte", ""),
}


def _table(name: str, values: np.ndarray) -> str:
    """Tables are bytes in base 64: a method of Java's, and so a list of numbers, has at most 64 KiB."""
    word, buffer = _READERS[values.dtype.name]
    text = base64.b64encode(values.astype(values.dtype.newbyteorder("<")).tobytes()).decode()
    strings = ", ".join(f'"{text[i : i + _CHUNK]}"' for i in range(0, len(text), _CHUNK))
    read = f"bytes({strings})"
    if not buffer:
        return f"    private static final byte[] {name} = {read}.array();\n"
    return f"    private static final {word}[] {name} = {word}s({read});\n"


def write_java(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as one Java class without dependencies (Java 8 and later).

    ``Model.java`` has ``public static double score(float[] x)`` and ``double[] scores(float[][] rows)`` in the class of
    that name. Trees and blends of trees give the scores of `predict` bit for bit; linear models differ in the last
    digits, networks by less than 1e-5. Tables are stored in base 64, so that large models compile too. A pipeline of a
    `QueryNormalizer` and a ranker has only the second function, for the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name becomes the name of the class.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/Model.java"
    >>> write_java(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "public static double score(float[] x)" in open(path).read()
    True
    """
    path = Path(path)
    write_source(
        form_of(ranker, feature_names, lists=True, fills=True), "Model.java", _table, path, identifier(path, _RESERVED)
    )


def score_java(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled class."""
    name = identifier(path, _RESERVED)
    with workshop() as folder:
        (folder / f"{name}.java").write_bytes(path.read_bytes())
        (folder / "Driver.java").write_text(template("Driver.java").substitute(name=name))
        run_tool([tool("javac"), "-encoding", "UTF-8", f"{name}.java", "Driver.java"], folder)
        return score_by_program([tool("java"), "-cp", ".", "Driver", str(len(X)), str(X.shape[1])], X, folder)


class JavaFormat:
    """Java source code."""

    kind: ClassVar[str] = "java"
    suffix: ClassVar[str] = ".java"
    proof: ClassVar[str] = "compiled by javac"
    write = staticmethod(write_java)
    score = staticmethod(score_java)

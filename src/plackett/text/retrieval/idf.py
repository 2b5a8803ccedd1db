"""Inverse document frequencies by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._base.arguments import choice

#: Functions of the document frequency and the number of documents; terms that do not occur are given 0.
IDF: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "log": lambda df, n: np.log(n / np.maximum(df, 1.0)),
    "smooth": lambda df, n: np.log((n + 1.0) / (df + 1.0)) + 1.0,
    "rsj": lambda df, n: np.log((n - df + 0.5) / (df + 0.5)),
    "lucene": lambda df, n: np.log1p((n - df + 0.5) / (df + 0.5)),
    "none": lambda df, n: np.ones(np.shape(df)),
}


def idf_name(name: str) -> str:
    """Return the name, or raise an error if there is no such IDF."""
    choice("idf", name, IDF)
    return name

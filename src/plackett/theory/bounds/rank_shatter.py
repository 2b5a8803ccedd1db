"""In how many ways linear scoring functions can order positives against negatives."""

from __future__ import annotations

from collections.abc import Callable
from math import e, exp, inf, log
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["rank_shatter", "rank_shatter_bound"]

#: Beyond this logarithm a number is infinite.
_LARGEST_LOG = 709.0


def rank_shatter(positives: Any, negatives: Any) -> int:
    r"""Number of distinct tables :math:`1[f(x^+) > f(x^-)] + \frac12 1[=]` of linear scoring functions on a sample.

    The differences :math:`x^+ - x^-` are hyperplanes through 0 in the space of weights; every face of their arrangement
    is a table. In one dimension there are 3, in two 4·(number of directions) + 1, in three they are counted by
    Euler's formula on the sphere. Exact where the differences span at most three dimensions; beyond see
    `rank_shatter_bound`.

    Parameters
    ----------
    positives, negatives
        Tables of features.

    References
    ----------
    Agarwal, Graepel, Herbrich, Har-Peled, Roth: Generalization bounds for the area under the ROC curve. JMLR 2005.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rank_shatter(rng.random((2, 2)), rng.random((3, 2)))  # 4 · 6 + 1
    25
    """
    a, b = array("positives", positives, 2), array("negatives", negatives, 2)
    if a.shape[1] != b.shape[1]:
        raise DataError(
            f"positives and negatives have shapes {a.shape} and {b.shape}; give tables of the same features"
        )
    differences = (a[:, None, :] - b[None, :, :]).reshape(-1, a.shape[1])
    lines = _directions(differences)
    if not lines.shape[0]:
        return 1
    _, sizes, axes = np.linalg.svd(lines, full_matrices=False)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    if rank not in _FACES:
        raise DataError(f"the differences span {rank} dimensions; up to 3 are counted, beyond see rank_shatter_bound")
    return _FACES[rank](_directions(lines @ axes[:rank].T))


def rank_shatter_bound(n_positives: int, n_negatives: int, n_features: int) -> float:
    r"""Bound :math:`(2 e\, m^+ m^- / d)^d` of the coefficient of linear functions of d features; 3 for one.

    It needs more than d pairs. The result is at most :math:`3^{m^+ m^-}`, the number of patterns.

    >>> rank_shatter_bound(1000, 5000, 1), round(rank_shatter_bound(2, 2, 3), 2)
    (3.0, 81.0)

    References
    ----------
    Agarwal, Graepel, Herbrich, Har-Peled, Roth: Generalization bounds for the area under the ROC curve. JMLR 2005.
    """
    for name, value in (("n_positives", n_positives), ("n_negatives", n_negatives), ("n_features", n_features)):
        number(name, value, least=1)
    if n_features == 1:
        return 3.0
    log_bound = linear_log_coefficient(n_positives * n_negatives, n_features)
    return exp(log_bound) if log_bound < _LARGEST_LOG else inf


def linear_log_coefficient(pairs: float, n_features: int) -> float:
    """Logarithm of the bound for two features or more."""
    all_patterns = pairs * log(3.0)
    if pairs <= n_features:
        return all_patterns
    return min(all_patterns, n_features * log(2.0 * e * pairs / n_features))


def _directions(vectors: np.ndarray) -> np.ndarray:
    """One vector of length 1 for each line through 0 among the rows."""
    length = np.sqrt(np.square(vectors).sum(axis=1))
    unit = vectors[length > 1e-12 * max(length.max(initial=0.0), 1e-300)]
    if not unit.shape[0]:
        return unit
    unit = unit / np.sqrt(np.square(unit).sum(axis=1, keepdims=True))
    first = np.argmax(np.abs(unit) > 1e-9, axis=1)
    unit = unit * np.sign(unit[np.arange(unit.shape[0]), first])[:, None]
    return unit[np.unique(np.round(unit, 8) + 0.0, axis=0, return_index=True)[1]]


def _on_the_sphere(normals: np.ndarray) -> int:
    """Faces of planes through 0 in space: vertices, arcs and regions of great circles, and 0 itself."""
    i, j = np.triu_indices(normals.shape[0], 1)
    lines = _directions(np.cross(normals[i], normals[j]))
    vertices = 2 * lines.shape[0]
    arcs = 2 * int((np.abs(normals @ lines.T) < 1e-7).sum())
    return vertices + arcs + (2 - vertices + arcs) + 1


_FACES: dict[int, Callable[[np.ndarray], int]] = {
    1: lambda lines: 3,
    2: lambda lines: 4 * lines.shape[0] + 1,
    3: _on_the_sphere,
}

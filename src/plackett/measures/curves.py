"""Measures as curves: against the cut-off, and precision against recall."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.iprec import IPrec
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

__all__ = ["measure_curve", "precision_recall_curve"]


def measure_curve(
    data: RankingDataset, scores: Any, measure: str | Measure = "nDCG", ks: Iterable[float] = range(1, 11)
) -> np.ndarray:
    """Mean of a measure over the queries at each cut-off, for plotting.

    Parameters
    ----------
    data, scores
        Dataset with labels, and one score per row.
    measure
        A measure with a cut-off, or its name; any cut-off it already has is replaced.
    ks
        The cut-offs.

    Returns
    -------
    numpy.ndarray
        One mean per cut-off.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 1])
    >>> measure_curve(data, [3, 2, 1], "P", [1, 2, 3]).round(4).tolist()
    [1.0, 0.5, 0.6667]
    """
    parsed = parse(measure)
    scored = Scored(data, scores)
    cut = [parsed @ k for k in ks]
    return np.array([at_k.mean(at_k.per_query(scored)) for at_k in cut])


def precision_recall_curve(
    data: RankingDataset, scores: Any, *, recall: Iterable[float] = tuple(np.linspace(0, 1, 11)), rel: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Interpolated precision at levels of recall, mean over the queries: the classic eleven-point curve.

    Parameters
    ----------
    data, scores
        Dataset with labels, and one score per row.
    recall
        Levels of recall, from 0 to 1.
    rel
        Lowest label that counts as relevant.

    Returns
    -------
    recall, precision
        Two arrays of the same length; precision never increases. At each level it is the mean of `IPrec`, the largest
        precision at this or any larger recall.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 1])
    >>> recall, precision = precision_recall_curve(data, [3, 2, 1], recall=[0.5, 1.0])
    >>> precision.round(4).tolist()
    [1.0, 0.6667]
    """
    levels = np.array(list(recall), np.float64)
    return levels, measure_curve(data, scores, IPrec(rel=rel), levels.tolist())

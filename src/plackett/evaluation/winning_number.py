"""The winning number: how many other algorithms each one beats, summed over datasets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.evaluation.significance.effects import TOLERANCE

__all__ = ["normalised_winning_number", "winning_number"]

Results = Mapping[str, Mapping[str, float]]


def winning_number(results: Results, *, ascending: bool = True) -> dict[str, int]:
    r"""Number of wins of each algorithm over the others on all datasets.

    .. math:: S_i(M) = \sum_j \sum_k \mathbf 1[M_i(j) > M_k(j)]

    where :math:`M_i(j)` is the value of algorithm i on dataset j. Equal values count as a win for neither. An algorithm
    without a value on a dataset neither wins nor loses there; in that case see `normalised_winning_number`.

    Parameters
    ----------
    results
        For each dataset the value of each algorithm: ``{"TD2003": {"ListNet": 0.275, …}, …}``. None or NaN is missing.
    ascending
        Whether larger values are better.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.

    Examples
    --------
    >>> winning_number({"d1": {"a": 0.3, "b": 0.2, "c": 0.1}, "d2": {"a": 0.1, "b": 0.2, "c": 0.2}})
    {'a': 2, 'b': 2, 'c': 1}
    """
    algorithms, values = results_matrix(results)
    return dict(zip(algorithms, _wins(values, ascending).tolist(), strict=True))


def normalised_winning_number(results: Results, *, ascending: bool = True) -> dict[str, float]:
    """Winning number divided by its ideal value, the number of comparisons the algorithm took part in.

    This makes algorithms comparable even if they were measured on different datasets. NaN for an algorithm that never
    shares a dataset with another one.

    >>> normalised_winning_number({"d1": {"a": 0.3, "b": 0.2}, "d2": {"a": 0.1, "b": 0.2, "c": 0.3}})["c"]
    1.0

    References
    ----------
    Tax, Bockting, Hiemstra: A cross-benchmark comparison of 87 learning to rank methods. Information Processing &
    Management 2015.
    """
    algorithms, values = results_matrix(results)
    present = ~np.isnan(values)
    ideal = (present * (present.sum(axis=1, keepdims=True) - 1)).sum(axis=0)
    share = np.divide(_wins(values, ascending), ideal, out=np.full(ideal.size, np.nan), where=ideal > 0)
    return dict(zip(algorithms, share.tolist(), strict=True))


def results_matrix(results: Results) -> tuple[list[str], np.ndarray]:
    """Names of the algorithms in the order of first appearance, and datasets × algorithms with NaN for missing."""
    if not isinstance(results, Mapping) or not all(isinstance(row, Mapping) for row in results.values()):
        raise DataError("results must be a dict of dicts: dataset, then algorithm, then the value")
    algorithms = list(dict.fromkeys(name for row in results.values() for name in row))
    if not algorithms:
        raise DataError("results contain no values")
    values = np.array(
        [[_number(row.get(name), dataset, name) for name in algorithms] for dataset, row in results.items()]
    )
    return algorithms, values


def _number(value: Any, dataset: str, algorithm: str) -> float:
    try:
        return float("nan") if value is None else float(value)
    except (TypeError, ValueError):
        raise DataError(f"the value of {algorithm!r} on {dataset!r} is {value!r}; it must be a number") from None


def _wins(values: np.ndarray, ascending: bool) -> np.ndarray:
    values = values if ascending else -values
    return (values[:, :, None] > values[:, None, :] + TOLERANCE).sum(axis=(0, 2))

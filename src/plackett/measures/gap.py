"""Graded average precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett.measures.ap import AP, ap_state
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import n_relevant
from plackett.measures.swaps import new_state

__all__ = ["GradedAveragePrecision"]

#: Probability that the threshold is at most each grade, up to a factor that cancels (so no largest grade is needed).
THRESHOLDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "uniform": lambda grades: grades,
    "exp2": lambda grades: np.exp2(grades - grades.max()) - np.exp2(-grades.max()),
}


def _check(thresholds: Any) -> str | tuple[float, ...]:
    """The parameter in its stored form: a name of `THRESHOLDS` or probabilities."""
    hint = f"give {' or '.join(map(repr, THRESHOLDS))}, or the probabilities of grades 1, 2, … with sum 1"
    if isinstance(thresholds, str):
        if thresholds not in THRESHOLDS:
            raise MeasureError(f"GAP: thresholds={thresholds!r}; {hint}")
        return thresholds
    try:
        chances = tuple(float(chance) for chance in thresholds)
    except (TypeError, ValueError):
        raise MeasureError(f"GAP: thresholds={thresholds!r}; {hint}") from None
    if not all(chance >= 0 for chance in chances) or not math.isclose(sum(chances), 1.0, rel_tol=1e-6):
        raise MeasureError(f"GAP: thresholds={thresholds!r}; {hint}")
    return chances


@dataclass(frozen=True, kw_only=True, repr=False)
class GradedAveragePrecision(Measure):
    r"""Graded average precision: average precision for users who disagree on what counts as relevant.

    A user considers labels of grade i and above relevant with probability :math:`g_i`, i = 1, 2, …:

    .. math::
        \text{GAP@}k = \frac{\sum_{n=1}^{k} \frac1n \sum_{m=1}^{n} \delta_{m,n}}{\sum_i R_i \sum_{j \le i} g_j},
        \qquad \delta_{m,n} = \sum_{j=1}^{\min(l_m, l_n)} g_j

    where :math:`l_n` is the label at rank n and :math:`R_i` counts the documents of the query with label i, retrieved
    or not. With labels 0 and 1 it is AP. Summed over the thresholds first, it is the mean of ``AP(rel=i)`` with weights
    :math:`g_i` times the number of documents with a label of at least i, which is how it is computed.

    Parameters
    ----------
    k
        Cut-off; None is the whole list. As for AP@k, the divisor counts all relevant documents.
    thresholds
        ``"uniform"``: all :math:`g_i` are equal; they also appear in the divisor, so the number of grades does not
        matter. ``"exp2"``: :math:`g_i \propto 2^i`, so that the chance of being relevant grows as 2^l − 1. Or the
        probabilities :math:`g_1, g_2, …` themselves, up to the largest label of the data and with sum 1.

    Notes
    -----
    A label between two grades is relevant for the thresholds up to it: 2.5 counts as 2.

    Ties: exact mean over all orders, as for AP.

    Averaging AP over users, each with their own number of relevant documents, would be another measure: GAP divides
    the expected sum of precisions by the expected number of relevant documents.

    References
    ----------
    Robertson, Kanoulas, Yilmaz: Extending average precision to graded relevance judgments. SIGIR 2010.

    Examples
    --------
    The divisor is 3 + 1 + 2 + 2, the sum 3/1 + (1 + 1)/2 + (2 + 1 + 2)/3 + (2 + 1 + 2 + 2)/4:

    >>> import plackett as pk
    >>> pk.evaluate([3, 1, 2, 2], [4, 3, 2, 1], ["GAP"]).mean["GAP"].__round__(4)
    0.9271
    """

    name: ClassVar[str] = "GAP"
    aliases: ClassVar[tuple[str, ...]] = ("gap", "graded_average_precision")
    swaps: ClassVar[bool] = True

    k: int | None = None
    thresholds: Any = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "thresholds", _check(self.thresholds))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        grades, shares = self._shares(ranking)
        total = np.zeros(ranking.data.n_queries)
        for grade, share in zip(grades, shares, strict=True):
            total += np.where(share > 0, share * AP(rel=grade, k=self.k).values(ranking), 0.0)
        return np.where(shares.any(axis=0), total, np.nan)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """The state that `swap` reads: AP's for each threshold, as no exchange helps one user and harms another."""
        grades, shares = self._shares(ranking)
        state = new_state(ranking, grades.size)
        for i, (grade, share) in enumerate(zip(grades, shares, strict=True)):
            divisor = np.divide(n_relevant(ranking, grade), share, where=share > 0, out=np.zeros(share.size))
            ap_state(ranking, float(grade), self.k, divisor, state[:, 4 * i : 4 * i + 4])
        return state

    def _shares(self, ranking: Ranking) -> tuple[np.ndarray, np.ndarray]:
        """Grades of the data from 1 on, at least one, and the share of each one's AP in every query (rows: grades).

        Thresholds between two of the grades call the same documents relevant and count as one.
        """
        memo = ranking.data.memo
        key = ("graded", self.thresholds)
        if key not in memo:
            grades = np.unique(np.floor(np.maximum(ranking.data.labels, 1.0)))
            grades = grades if grades.size else np.ones(1)
            weights = np.diff(self._chance(grades), prepend=0.0)
            parts = np.array([w * n_relevant(ranking, grade) for grade, w in zip(grades, weights, strict=True)])
            divisor = parts.sum(axis=0)
            memo[key] = grades, parts / np.where(divisor > 0, divisor, 1.0)
        return memo[key]

    def _chance(self, grades: np.ndarray) -> np.ndarray:
        """Probability that a document of each grade is relevant, up to a factor."""
        if isinstance(self.thresholds, str):
            return THRESHOLDS[self.thresholds](grades)
        if grades[-1] > len(self.thresholds):
            raise MeasureError(
                f"{self.name}: thresholds cover {len(self.thresholds)} grades, "
                f"but the data has the label {grades[-1]:g}"
            )
        return np.cumsum(self.thresholds)[grades.astype(np.int64) - 1]


GAP = GradedAveragePrecision()

"""Mean of the scores that a document has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.aggregation._comb import CombBySum

__all__ = ["CombANZ"]


@dataclass(frozen=True, kw_only=True)
class CombANZ(CombBySum):
    r"""CombANZ: the weighted sum of the scores over the number N(d) of lists that have the document.

    .. math:: s(d) = \frac{1}{N(d)} \sum_{m \ni d} w_m x_m(d)

    where x is the score that a list gives a document, after normalisation; lists that lack it do not count.

    Parameters
    ----------
    normalise
        How scores of different lists are made comparable: ``min-max``, ``max``, ``sum``, ``zmuv`` (z-scores),
        ``rank``, ``borda``, or None to take them as they are.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> lists = RankLists.from_runs([{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 1.0}}])
    >>> CombANZ(normalise=None).scores(lists).tolist()
    [3.0, 1.5, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombANZ"
    _ids: ClassVar[tuple[str, ...]] = ()
    paper: ClassVar[str] = "Fox, Shaw 1993"

    def _combine(self, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        return total / np.maximum(count, 1.0)

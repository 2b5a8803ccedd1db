"""Median of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.aggregation._comb import CombByOrder

__all__ = ["CombMED"]


@dataclass(frozen=True, kw_only=True)
class CombMED(CombByOrder):
    r"""CombMED: the median of the scores that the lists give.

    .. math:: s(d) = \operatorname{median}_{m \ni d} w_m x_m(d)

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
    >>> CombMED(normalise=None).scores(lists).tolist()
    [3.0, 1.5, 1.0]

    References
    ----------
    Fox, Shaw: Combination of multiple searches. TREC-2, 1993.
    """

    name: ClassVar[str] = "CombMED"
    _ids: ClassVar[tuple[str, ...]] = ()
    paper: ClassVar[str] = "Fox, Shaw 1993"
    quantile: ClassVar[float] = 0.5

"""Recency: queries and documents that are clicked more than they used to be."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError

__all__ = ["RecencyRanker"]


@dataclass(eq=False)
class RecencyRanker:
    """Adds freshness to the scores of queries that have become time-sensitive.

    Counts with a short half-life are compared with those of a long one. The buzz of a document is

        (recent rate − long rate) / √(long rate (1 − long rate) / recent impressions),

    the buzz of a query (recent requests − expected from the long-term rate) / √expected; both are about standard
    normal if nothing changes. A query is sensitive with probability σ(steepness · (buzz − threshold)), and

        score = relevance + weight · P(sensitive) · max(buzz of the document, 0).

    Parameters
    ----------
    recent, long
        Half-lives of the two counts, in the unit of the times given.
    threshold, steepness
        Of the logistic function of the query's buzz.
    weight
        Of freshness.

    References
    ----------
    Dong, Chang, Zheng, Mishne, Bai, Zhang, Buchner, Liao, Diaz: Towards recency ranking in web search. WSDM 2010.
    Inagaki, Sadagopan, Dupret, Dong, Liao, Chang, Zheng: Session based click features for recency ranking. AAAI 2010.
    """

    recent: float = 1.0
    long: float = 30.0
    threshold: float = 4.0
    steepness: float = 2.0
    weight: float = 1.0
    _counts: dict[Any, list[float]] = field(init=False, default_factory=dict, repr=False)
    _start: float | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.recent < self.long:
            raise DataError(f"recent={self.recent}, long={self.long}: half-lives are positive, and recent is shorter")

    def observe(self, time: float, query: Hashable, documents: Sequence[Hashable], clicks: Sequence[Any]) -> None:
        """Count a page: the documents shown, and whether each was clicked. Late pages count with their age."""
        number("time", time)
        if len(documents) != len(clicks):
            raise DataError(f"{len(documents)} documents, {len(clicks)} clicks: give one value per document")
        self._start = time if self._start is None else min(self._start, time)
        self._add((query,), time, 1.0, 0.0)
        for document, clicked in zip(documents, clicks, strict=True):
            self._add((query, document), time, 1.0, float(bool(clicked)))

    def _add(self, key: Any, time: float, shown: float, clicked: float) -> None:
        row = self._counts.setdefault(key, [time, 0.0, 0.0, 0.0, 0.0])
        age = time - row[0]
        if age >= 0:  # the counts grow older
            row[0] = time
            fade = (0.5 ** (age / self.recent), 0.5 ** (age / self.long))
            row[1:] = [row[1] * fade[0], row[2] * fade[0], row[3] * fade[1], row[4] * fade[1]]
            by = 1.0, 1.0
        else:  # the event is older than the counts
            by = 0.5 ** (-age / self.recent), 0.5 ** (-age / self.long)
        for i, (amount, fading) in enumerate([(shown, by[0]), (clicked, by[0]), (shown, by[1]), (clicked, by[1])], 1):
            row[i] += amount * fading

    def _at(self, key: Any, time: float) -> list[float]:
        row = self._counts.get(key)
        if row is None:
            return [0.0] * 4
        age = max(time - row[0], 0.0)
        fade = 0.5 ** (age / self.recent), 0.5 ** (age / self.long)
        return [row[1] * fade[0], row[2] * fade[0], row[3] * fade[1], row[4] * fade[1]]

    def document_buzz(self, time: float, query: Hashable, document: Hashable) -> float:
        """How much more often the document is clicked than it used to be, in standard deviations."""
        shown, clicked, long_shown, long_clicked = self._at((query, document), time)
        if shown < 1e-9 or long_shown < 1.0:
            return 0.0
        rate = (long_clicked + 0.5) / (long_shown + 1.0)
        # decayed counts: Σ 4^−(age) of the impressions behind them is about half of Σ 2^−(age)
        return (clicked / shown - rate) / math.sqrt(rate * (1 - rate) * 0.5 / shown)

    def query_buzz(self, time: float, query: Hashable) -> float:
        """How much more often the query is asked than it used to be, in standard deviations."""
        asked, _, long_asked, _ = self._at((query,), time)
        age = max(time - (self._start if self._start is not None else time), 1e-9)
        scale = [half / math.log(2) * (1 - 0.5 ** (age / half)) for half in (self.recent, self.long)]
        if age < self.recent:  # nothing to compare with yet
            return 0.0
        expected = long_asked * scale[0] / scale[1]
        # requests that fade: the variance of a Poisson stream is half of its mean
        return (asked - expected) / math.sqrt(max(0.5 * expected, 0.5))

    def sensitivity(self, time: float, query: Hashable) -> float:
        """Probability that the query is time-sensitive."""
        x = self.steepness * (self.query_buzz(time, query) - self.threshold)
        return 1.0 / (1.0 + math.exp(-min(max(x, -500.0), 500.0)))

    def scores(self, time: float, query: Hashable, documents: Sequence[Hashable], relevance: Any) -> np.ndarray:
        """Relevance plus freshness."""
        sensitive = self.sensitivity(time, query)
        buzz = [max(self.document_buzz(time, query, document), 0.0) for document in documents]
        return np.asarray(relevance, np.float64) + self.weight * sensitive * np.array(buzz)

"""Features of the query alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett.text.features.base import Batch, Feature
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.matches import Matches

__all__ = ["QueryFeature"]


def _idf(matches: Matches) -> np.ndarray:
    df = matches.document_frequency
    return np.where(df > 0, IDF["log"](df, matches.collection.n_documents), 0.0)


def _log_idf(matches: Matches) -> np.ndarray:
    idf = _idf(matches)
    return np.log(idf, out=np.zeros(idf.size), where=idf > 0)


def _inverse_cf(matches: Matches) -> np.ndarray:
    cf = matches.collection_frequency
    return np.where(cf > 0, np.log1p(matches.collection.n_documents / np.maximum(cf, 1.0)), 0.0)


def _sum(matches: Matches, value: np.ndarray) -> np.ndarray:
    return np.bincount(matches.query_of_term(), value * matches.weights, matches.n_queries)


def _extreme(matches: Matches, value: np.ndarray, best: Callable[..., Any], start: float) -> np.ndarray:
    out = np.full(matches.n_queries, start)
    best.at(out, matches.query_of_term(), value)  # type: ignore[attr-defined]
    return np.where(np.diff(matches.term_offsets) > 0, out, 0.0)


def _length(matches: Matches) -> np.ndarray:
    return _sum(matches, np.ones(matches.weights.size))


#: Numbers per query from its terms' statistics. A term that the query repeats counts as often as it is repeated; one
#: that the collection lacks has an inverse document frequency of 0.
QUERY_STATISTICS: dict[str, Callable[[Matches], np.ndarray]] = {
    "length": _length,
    "known": lambda matches: _sum(matches, (matches.document_frequency > 0).astype(np.float64)),
    "idf_sum": lambda matches: _sum(matches, _idf(matches)),
    "idf_mean": lambda matches: _sum(matches, _idf(matches)) / np.maximum(_length(matches), 1.0),
    "idf_max": lambda matches: _extreme(matches, _idf(matches), np.maximum, 0.0),
    "idf_min": lambda matches: _extreme(matches, _idf(matches), np.minimum, np.inf),
    "log_idf_sum": lambda matches: _sum(matches, _log_idf(matches)),
    "inverse_cf_sum": lambda matches: _sum(matches, _inverse_cf(matches)),
}


def query_values(matches: Matches, statistic: str) -> np.ndarray:
    """A statistic per pair: that of its query."""
    return np.repeat(QUERY_STATISTICS[statistic](matches), np.diff(matches.offsets))


@dataclass(frozen=True, kw_only=True)
class QueryFeature(Feature):
    """A number that depends on the query only: the same for all its documents.

    A linear model cannot use it; trees and networks can.

    Parameters
    ----------
    statistic
        ``"length"`` in terms, ``"known"`` terms, ``"idf_sum"``, ``"idf_mean"``, ``"idf_max"``, ``"idf_min"`` of
        ln(N / n), ``"log_idf_sum"`` of ln ln(N / n), ``"inverse_cf_sum"`` of ln(1 + N / cf).
    field
        Field whose frequencies are taken.
    name, transform
        See `Feature`.
    """

    key: ClassVar[str] = "query"
    kind: ClassVar[str] = "query"

    statistic: str
    field: str | None = None

    def _check(self) -> None:
        choice(f"{self.key} statistic", self.statistic, QUERY_STATISTICS)

    @property
    def stream(self) -> str:
        """The field."""
        return self.field or "default"

    def _label(self) -> str:
        return f"query {self.statistic} {self.field}" if self.field else f"query {self.statistic}"

    def _values(self, batch: Batch) -> np.ndarray:
        return query_values(batch.matches(self.field), self.statistic)

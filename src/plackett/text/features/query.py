"""Features of the query alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett.text.features.base import Batch, Feature
from plackett.text.retrieval.matches import Matches

__all__ = ["QUERY_STATISTICS", "QueryFeature", "query_values"]


def _idf(found: Matches) -> np.ndarray:
    df = found.document_frequency
    return np.where(df > 0, np.log(found.collection.n_documents / np.maximum(df, 1.0)), 0.0)


def _log_idf(found: Matches) -> np.ndarray:
    idf = _idf(found)
    return np.log(idf, out=np.zeros(idf.size), where=idf > 0)


def _inverse_cf(found: Matches) -> np.ndarray:
    cf = found.collection_frequency
    return np.where(cf > 0, np.log1p(found.collection.n_documents / np.maximum(cf, 1.0)), 0.0)


def _sum(found: Matches, value: np.ndarray) -> np.ndarray:
    return np.bincount(found.query_of_term(), value * found.weights, found.n_queries)


def _extreme(found: Matches, value: np.ndarray, best: Callable[..., Any], start: float) -> np.ndarray:
    out = np.full(found.n_queries, start)
    best.at(out, found.query_of_term(), value)  # type: ignore[attr-defined]
    return np.where(np.diff(found.term_offsets) > 0, out, 0.0)


def _length(found: Matches) -> np.ndarray:
    return _sum(found, np.ones(found.weights.size))


#: Numbers per query from its terms' statistics. A term that the query repeats counts as often as it is repeated; one
#: that the collection lacks has an inverse document frequency of 0.
QUERY_STATISTICS: dict[str, Callable[[Matches], np.ndarray]] = {
    "length": _length,
    "known": lambda found: _sum(found, (found.document_frequency > 0).astype(np.float64)),
    "idf_sum": lambda found: _sum(found, _idf(found)),
    "idf_mean": lambda found: _sum(found, _idf(found)) / np.maximum(_length(found), 1.0),
    "idf_max": lambda found: _extreme(found, _idf(found), np.maximum, 0.0),
    "idf_min": lambda found: _extreme(found, _idf(found), np.minimum, np.inf),
    "log_idf_sum": lambda found: _sum(found, _log_idf(found)),
    "inverse_cf_sum": lambda found: _sum(found, _inverse_cf(found)),
}


def query_values(found: Matches, statistic: str) -> np.ndarray:
    """A statistic per pair: that of its query."""
    return np.repeat(QUERY_STATISTICS[statistic](found), np.diff(found.offsets))


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
    _ids: ClassVar[tuple[str, ...]] = ("lecture.features",)

    statistic: str
    field: str | None = None

    def _check(self) -> None:
        if self.statistic not in QUERY_STATISTICS:
            raise DataError(f"query feature {self.statistic!r}; give one of {', '.join(QUERY_STATISTICS)}")

    @property
    def stream(self) -> str:
        """The field."""
        return self.field or "default"

    def _label(self) -> str:
        return f"query {self.statistic} {self.field}" if self.field else f"query {self.statistic}"

    def _values(self, batch: Batch) -> np.ndarray:
        return query_values(batch.matches(self.field), self.statistic)

"""A learned model of user interaction: judgements for a few queries teach what clicks mean for the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.clicks.log import ClickLog
from plackett.data._tables import id_series
from plackett.data.dataset import RankingDataset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["InteractionModel"]


@kernel
def _neighbours(lo, hi, offsets, clicked, out):  # type: ignore[no-untyped-def]
    """Clicks on the row above, on the row below, anywhere above, anywhere below; whether it is the only click."""
    for page in range(lo, hi):
        a = offsets[page]
        b = offsets[page + 1]
        total = 0
        for row in range(a, b):
            total += clicked[row]
        above = 0
        for row in range(a, b):
            out[0, row] = row > a and clicked[row - 1]
            out[1, row] = row + 1 < b and clicked[row + 1]
            out[2, row] = above > 0
            below = total - above - clicked[row]
            out[3, row] = below > 0
            out[4, row] = clicked[row] and total == 1
            above += clicked[row]


def interaction_features(
    log: ClickLog, query_text: Mapping[Any, str] | None = None, document_text: Mapping[Any, str] | None = None
) -> tuple[np.ndarray, list[str]]:
    """What users did with each pair of a log, as deviations from what they do at the same rank with any document.

    An observation is background plus relevance, o(q, d, p) = C(p) + rel: the mean C(p) over all pages at rank p is
    subtracted, so that features no longer depend on where a document was shown.

    Parameters
    ----------
    query_text, document_text
        Texts by id (title or snippet): adds their overlap in words. Without ``query_text`` the query id is the text.

    Returns
    -------
    features, names
        One row per pair of the log.
    """
    around = np.empty((5, log.n_rows))
    over_queries(_neighbours, log.offsets, log.clicked.astype(np.int64), around)
    observed = {
        "click": log.clicked.astype(np.float64),
        "skip": log.skipped.astype(np.float64),
        "click_above": around[0],
        "click_below": around[1],
        "any_click_above": around[2],
        "any_click_below": around[3],
        "only_click": around[4],
        "first_click": (log.click_order == 1).astype(np.float64) if log.click_order is not None else None,
        "last_click": (log.clicked & (log.rank == np.repeat(log.last_click, log.lengths))).astype(np.float64),
        "dwell": None if log.dwell is None else np.log1p(np.maximum(log.dwell.astype(np.float64), 0.0)),
        "actions": None if log.actions is None else log.actions.astype(np.float64),
    }
    columns, names = [], []
    for name, values in observed.items():
        if values is not None:
            columns.append(_deviation(log, values))
            names.append(name)
    shown = np.bincount(log.pair, log.row_weight, minlength=log.n_pairs)
    columns.append(np.log1p(shown))
    names.append("log_shown")
    if document_text is not None:
        columns.append(_text_overlap(log, query_text, document_text))
        names.append("text_overlap")
    return np.column_stack(columns), names


def _deviation(log: ClickLog, values: np.ndarray) -> np.ndarray:
    """Mean over the impressions of each pair of what exceeds the mean at the rank."""
    known = ~np.isnan(values)
    weight, rank = log.row_weight * known, log.rank - 1
    filled = np.where(known, values, 0.0)
    sums = np.bincount(rank, weight * filled, minlength=log.longest)
    background = sums / np.maximum(np.bincount(rank, weight, minlength=log.longest), 1e-12)
    excess = np.bincount(log.pair, weight * (filled - background[rank]), minlength=log.n_pairs)
    return excess / np.maximum(np.bincount(log.pair, weight, minlength=log.n_pairs), 1e-12)


def _text_overlap(log: ClickLog, query_text: Mapping[Any, str] | None, document_text: Mapping[Any, str]) -> np.ndarray:
    texts = {} if query_text is None else query_text
    query_words = [set(str(texts.get(q, q)).lower().split()) for q in log.queries.tolist()]
    document_words = [set(str(document_text.get(d, "")).lower().split()) for d in log.documents.tolist()]
    pairs = zip(log.pair_query.tolist(), log.pair_document.tolist(), strict=True)
    return np.array([len(query_words[q] & document_words[d]) / max(len(query_words[q]), 1) for q, d in pairs])


class InteractionModel:
    """Learn from judgements of some pairs how behaviour tells relevance, and label the other pairs of a log.

    Parameters
    ----------
    ranker
        Any ranker; `plackett.RankNet` in the paper, a linear pair model by default, which needs no extra library.

    Examples
    --------
    >>> from plackett.clicks import simulate_log
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=40, docs_per_query=8, random_state=0)
    >>> log = simulate_log(data, n_pages=4000, random_state=0)
    >>> queries = data.qids[data.query_of_row]
    >>> judged = [(q, d, y) for q, d, y in zip(queries, range(data.n_rows), data.y) if q < 20]
    >>> model = InteractionModel().fit(log, judged)
    >>> model.labels(log).columns
    ['query', 'document', 'label', 'weight']

    References
    ----------
    Agichtein, Brill, Dumais, Ragno: Learning user interaction models for predicting web search result preferences.
    SIGIR 2006.
    """

    def __init__(self, ranker: Any = None, *, query_text: Any = None, document_text: Any = None) -> None:
        self.ranker, self.query_text, self.document_text = ranker, query_text, document_text

    def _dataset(self, log: ClickLog, grades: np.ndarray | None, chosen: np.ndarray) -> RankingDataset:
        X, self.feature_names_ = interaction_features(log, self.query_text, self.document_text)
        return RankingDataset.from_arrays(
            X[chosen].astype(np.float32),
            None if grades is None else grades[chosen],
            qid=log.pair_query[chosen],
            feature_names=self.feature_names_,
        )

    def fit(self, log: ClickLog, grades: Any) -> Self:
        """Learn from graded pairs: rows (query, document, grade), or a frame with these columns."""
        rows = list(grades.select("query", "document", "grade").rows() if hasattr(grades, "select") else grades)
        known = {(q, d): float(y) for q, d, y in rows}
        names = zip(log.queries[log.pair_query].tolist(), log.documents[log.pair_document].tolist(), strict=True)
        values = np.array([known.get(pair, np.nan) for pair in names])
        chosen = np.flatnonzero(~np.isnan(values))
        if chosen.size < 2:
            raise DataError(f"{chosen.size} pairs of the log have a grade; do the ids agree?")
        from plackett.rankers.gradient_ranker import GradientRanker

        self.ranker_ = self.ranker if self.ranker is not None else GradientRanker(loss="Logistic", model="linear")
        self.ranker_.fit(self._dataset(log, values, chosen))
        return self

    def labels(self, log: ClickLog) -> pl.DataFrame:
        """Score of every pair of a log: query, document, label, weight. Comparable inside a query."""
        import polars as pl

        if not hasattr(self, "ranker_"):
            raise DataError("InteractionModel is not fitted yet: call fit(log, grades)")
        data = self._dataset(log, None, np.arange(log.n_pairs))
        scores = data.to_input_order(self.ranker_.predict(data))
        shown = np.bincount(log.pair, log.row_weight, minlength=log.n_pairs)
        return pl.DataFrame(
            [
                id_series("query", log.queries).gather(log.pair_query),
                id_series("document", log.documents).gather(log.pair_document),
                pl.Series("label", scores),
                pl.Series("weight", shown),
            ]
        )

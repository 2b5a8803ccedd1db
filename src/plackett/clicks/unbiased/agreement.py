"""Do clicks at equal ranks agree with a ranker? A check of corrections that needs no model of the bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.clicks.features import dataset_rows
from plackett.clicks.log import ClickLog
from plackett.clicks.models.cells import rank_counts
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of

__all__ = ["rank_agreement"]


@dataclass(frozen=True, eq=False)
class Agreement:
    """Result of `rank_agreement`.

    Attributes
    ----------
    value
        Probability that the ranker prefers a clicked document to one that was skipped at the same rank of the same
        query; .5 means no relation. NaN if no two documents shared a rank.
    error
        Standard error of the value, over queries.
    right, pairs
        Sum of agreeing pairs of each query, and of all pairs that can be compared.
    """

    value: float
    error: float
    right: np.ndarray
    pairs: np.ndarray

    def gain(self, other: Agreement) -> tuple[float, float]:
        """Difference from another ranker on the same log, and its standard error."""
        return _ratio(self.right - other.right, self.pairs)


@kernel
def _agree(starts, query, score, clicks, skips, right, pairs):
    for s in range(starts.size - 1):
        a = starts[s]
        b = starts[s + 1]
        all_skips = 0.0
        for i in range(a, b):
            all_skips += skips[i]
        below = 0.0
        i = a
        while i < b:  # documents are sorted by score; equal scores form a group
            j = i
            level = 0.0
            while j < b and score[j] == score[i]:
                level += skips[j]
                j += 1
            for k in range(i, j):
                right[query[s]] += clicks[k] * (below + 0.5 * (level - skips[k]))
                pairs[query[s]] += clicks[k] * (all_skips - skips[k])
            below += level
            i = j


def rank_agreement(log: ClickLog, data: RankingDataset, scores: Any) -> Agreement:
    r"""How often a ranker prefers clicked documents to those that were skipped at the same rank.

    Two documents of a query at the same rank have the same examination and the same trust, whatever these are: if
    lists change between pages, the clicks at a rank compare the documents without position bias. Over queries q, ranks
    i and pairs of different documents, with clicks c and skips n − c,

    .. math:: \frac{\sum_{q,i} \sum_{d \ne e} c_{di}\,(n_{ei} - c_{ei})\,
              [1(s_d > s_e) + \tfrac12 1(s_d = s_e)]}{\sum_{q,i} \sum_{d \ne e} c_{di}\,(n_{ei} - c_{ei})}

    It assumes that what stands above does not depend on which of the two documents is shown; where users read from the
    top, that holds on average only. Compare rankers on pages that they were not trained on.

    Parameters
    ----------
    data
        Documents of the log, with the same query and document ids.
    scores
        Scores of the rows of ``data``, or a fitted ranker.

    Examples
    --------
    >>> from plackett.clicks import simulate_log
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=10, docs_per_query=5, random_state=0)
    >>> log = simulate_log(data, n_pages=2000, k=5, random_state=0)
    >>> rank_agreement(log, data, data.y).value > rank_agreement(log, data, -data.y).value
    True
    """
    return EqualRanks(log, data).agreement(scores_of(data, scores))


class EqualRanks:
    """Clicks and skips of the documents that share a rank: made once, it judges several rankers (`rank_agreement`)."""

    def __init__(self, log: ClickLog, data: RankingDataset) -> None:
        rows = dataset_rows(log, data)
        pair, rank, clicks, shown = rank_counts(log)
        known = rows[pair] >= 0
        pair, rank = pair[known], rank[known]
        order = np.lexsort((rank, log.pair_query[pair]))  # stable: pairs of a query stay in their order
        self.row, query, rank = rows[pair][order], log.pair_query[pair][order], rank[order]
        self.clicks, self.skips = clicks[known][order], (shown - clicks)[known][order]
        new = np.ones(order.size, bool)
        new[1:] = (query[1:] != query[:-1]) | (rank[1:] != rank[:-1])
        heads = np.flatnonzero(new)
        self.stratum = np.cumsum(new) - 1
        self.starts, self.query = np.append(heads, order.size), query[heads].astype(np.int64)
        self.n_rows, self.n_queries = data.n_rows, log.n_queries

    def agreement(self, scores: Any) -> Agreement:
        """How often the scores of the rows of the dataset prefer clicked documents to skipped ones."""
        scores = np.asarray(scores, np.float64)
        if scores.shape != (self.n_rows,):
            raise DataError(f"scores have shape {scores.shape} for {self.n_rows} rows")
        if np.isnan(scores).any():
            raise DataError(f"the score of row {int(np.flatnonzero(np.isnan(scores))[0])} is NaN")
        level = scores[self.row]
        order = np.lexsort((level, self.stratum))
        right, pairs = np.zeros(self.n_queries), np.zeros(self.n_queries)
        _agree(self.starts, self.query, level[order], self.clicks[order], self.skips[order], right, pairs)
        return Agreement(*_ratio(right, pairs), right, pairs)


def _ratio(part: np.ndarray, whole: np.ndarray) -> tuple[float, float]:
    """Ratio of two sums over queries, with the standard error of its linearisation."""
    total, n = float(whole.sum()), int((whole > 0).sum())
    if total <= 0:
        return float("nan"), float("nan")
    value = float(part.sum()) / total
    spread = float(((part - value * whole) ** 2).sum()) / total**2
    return value, float(np.sqrt(spread * n / (n - 1))) if n > 1 else float("nan")

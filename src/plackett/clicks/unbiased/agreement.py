"""Do clicks at equal ranks agree with a ranker? A check of corrections that needs no model of the bias."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._errors import DataError
from plackett._kernel import kernel
from plackett._provenance import fulfils
from plackett.clicks.features import dataset_rows
from plackett.clicks.log import ClickLog
from plackett.clicks.models._cells import rank_counts
from plackett.clicks.profile import FIXED, documents_move
from plackett.data.dataset import RankingDataset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Agreement", "EqualRanks", "Guarded", "guarded_choice", "rank_agreement"]


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
def _agree(starts, query, score, clicks, skips, right, pairs):  # type: ignore[no-untyped-def]
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


@fulfils()
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
        Scores of the rows of ``data``.

    Examples
    --------
    >>> from plackett.clicks import simulate_log
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=10, docs_per_query=5, random_state=0)
    >>> log = simulate_log(data, n_pages=2000, k=5, random_state=0)
    >>> rank_agreement(log, data, data.y).value > rank_agreement(log, data, -data.y).value
    True
    """
    return EqualRanks(log, data).agreement(scores)


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


@dataclass(frozen=True, eq=False)
class Guarded:
    """Result of `guarded_choice`.

    Attributes
    ----------
    name
        The chosen way to learn.
    ranker
        What it learned from the whole log.
    table
        Agreement of each way on pages that were held out, its gain over the baseline, and the error of the gain; null
        for ways that could not learn from this log.
    reason
        Why this one.
    """

    name: str
    ranker: Any
    table: pl.DataFrame
    reason: str


@fulfils()
def guarded_choice(
    log: ClickLog,
    data: RankingDataset,
    learners: Mapping[str, Callable[[ClickLog], Any]],
    *,
    baseline: str | None = None,
    n_folds: int = 2,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Guarded:
    """Correct for bias only where the clicks at equal ranks say that it helps.

    Each way to learn is tried on a part of the pages and judged by `rank_agreement` on the rest, for each part in turn.
    A way is taken only if its gain over the baseline is above 0 beyond doubt (one-sided, corrected for the number of
    ways), the one with the largest lower bound, and learns again from the whole log; otherwise the baseline does. A
    correction whose model is wrong, or whose estimates are too noisy, is thus left out.

    Parameters
    ----------
    data
        Documents of the log with their features.
    learners
        Name to a function of a log that returns something with ``predict``.
    baseline
        What to fall back on, such as plain learning from clicks; the first by default.
    n_folds
        Number of parts of the log. Few are better: pages are compared with others of the same part only.
    confidence
        Probability of not choosing a learner that is no better than the baseline.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett import clicks
    >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=4, random_state=0)
    >>> log = clicks.simulate_log(data, data.X[:, 0], n_pages=2000, temperature=1.0, random_state=0)
    >>> def learner(model):
    ...     def learn(log):
    ...         labels = clicks.model_labels(model().fit(log))
    ...         return pk.GradientRanker(loss="Square", model="linear").fit(clicks.labelled_dataset(labels, data).data)
    ...     return learn
    >>> ways = {"clicks": learner(clicks.IndependentClickModel), "PBM": learner(clicks.PBM)}
    >>> choice = clicks.guarded_choice(log, data, ways)
    >>> choice.name in ("clicks", "PBM")
    True
    """
    import polars as pl
    from scipy.special import ndtri

    if not learners:
        raise DataError("learners is empty: give at least a baseline")
    safe = next(iter(learners)) if baseline is None else baseline
    if safe not in learners:
        raise DataError(f"baseline={safe!r} is not one of {', '.join(learners)}")
    if n_folds < 2 or not 0 < confidence < 1:
        raise DataError(f"n_folds={n_folds}, confidence={confidence}; give at least 2, and a probability below 1")
    others = [name for name in learners if name != safe]
    if not others or not documents_move(log):
        reason = FIXED if others else "there is nothing to choose from"
        frame = pl.DataFrame({"method": [safe], "agreement": [None], "gain": [None], "error": [None]})
        return Guarded(safe, learners[safe](log), frame, reason)
    fold = np.random.default_rng(random_state).permutation(log.n_pages) % n_folds
    parts = [(log.select(fold != i), log.select(fold == i)) for i in range(n_folds)]
    judges = [EqualRanks(rest, data) for _, rest in parts]
    agreements: dict[str, Agreement | None] = {}
    for name, learn in learners.items():
        try:
            agreements[name] = _joined(
                [judge.agreement(learn(part).predict(data)) for (part, _), judge in zip(parts, judges, strict=True)]
            )
        except DataError:  # there are logs that a way cannot learn from
            if name == safe:
                raise
            agreements[name] = None
    base: Any = agreements[safe]
    nothing = float("nan"), float("nan")
    gains = {name: nothing if each is None else each.gain(base) for name, each in agreements.items()}
    rows = [(name, None if each is None else each.value, *gains[name]) for name, each in agreements.items()]
    frame = pl.DataFrame(rows, schema=["method", "agreement", "gain", "error"], orient="row").fill_nan(None)
    sure = float(ndtri(1.0 - (1.0 - confidence) / len(others)))
    lower = {name: np.nan_to_num(gains[name][0] - sure * gains[name][1], nan=-np.inf) for name in others}
    best = max(lower, key=lambda name: lower[name])
    if lower[best] > 0:
        gain, error = gains[best]
        reason = f"{best} agrees better with clicks at equal ranks, by {gain:.4f} ± {error:.4f}"
        return Guarded(best, learners[best](log), frame, reason)
    return Guarded(safe, learners[safe](log), frame, f"nothing is better than {safe} beyond doubt")


def _joined(parts: list[Agreement]) -> Agreement:
    """Agreement over several parts of a log with the same numbering of queries."""
    right, pairs = sum(part.right for part in parts), sum(part.pairs for part in parts)
    return Agreement(*_ratio(right, pairs), right, pairs)  # type: ignore[arg-type]

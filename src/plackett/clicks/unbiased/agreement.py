"""Do clicks at equal ranks agree with a ranker? A check of corrections that needs no model of the bias."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.clicks.features import dataset_rows
from plackett.clicks.log import ClickLog
from plackett.clicks.models._cells import rank_counts
from plackett.clicks.profile import FIXED, documents_move
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.rankers.base import Ranker
from plackett.rankers.blend import Blend
from plackett.scorers.standardized import standardized

if TYPE_CHECKING:
    import polars as pl

__all__ = ["guarded_choice", "rank_agreement"]


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


@dataclass(frozen=True, eq=False)
class Guarded:
    """Result of `guarded_choice`.

    Attributes
    ----------
    name
        The way that the clicks of other queries favour; the baseline if they can favour none.
    weight
        Its weight in the ranker, from 0 to 1; the rest is that of the baseline. 0 if it is the baseline.
    ranker
        The two, learned from all queries, or one of them alone if the other has weight 0. Two plackett rankers become a
        `Blend`, which can be saved, as they can; anything else becomes an object with ``predict``.
    table
        Agreement of each way on queries that it had not learned from, its gain over the baseline, and the error of the
        gain; null for ways that could not learn.
    reason
        Why this one.
    """

    name: str
    weight: float
    ranker: Any
    table: pl.DataFrame
    reason: str

    @classmethod
    def alone(cls, name: str, weight: float, ranker: Any, reason: str) -> Guarded:
        """A ranker that was not compared with others."""
        import polars as pl

        nothing = pl.Series([None], dtype=pl.Float64)
        table = pl.DataFrame({"method": [name], "agreement": nothing, "gain": nothing, "error": nothing})
        return cls(name, weight, ranker, table, reason)


class BlendedRanker:
    """Weighted mean of the scores of any two rankers, which are standardised within each query."""

    def __init__(self, first: Any, second: Any, weight: float) -> None:
        self.first, self.second, self.weight = first, second, weight

    def predict(self, data: RankingDataset) -> np.ndarray:
        """Scores of the rows of a dataset."""
        first, second = (standardized(ranker.predict(data), data.offsets) for ranker in (self.first, self.second))
        return (1.0 - self.weight) * first + self.weight * second


def guarded_choice(
    log: ClickLog,
    data: RankingDataset,
    learners: Mapping[str, Callable[[RankingDataset], Any]],
    *,
    baseline: str | None = None,
    lean: float = 1.0,
    n_folds: int = 5,
    random_state: Any = 0,
) -> Guarded:
    r"""Correct for bias as far as the clicks at equal ranks of other queries do not speak against it.

    The queries are cut into parts. Each way learns from all parts but one and is judged on that one by
    `rank_agreement`, for each part in turn: clicks at equal ranks need no model of the bias, and other queries show how
    a ranker generalises. The way with the largest agreement is blended with the baseline, standardised score by
    standardised score. With its gain g over the baseline, a paired difference over n queries, and the standard error s,
    its weight is

    .. math:: T_{n-1}(g / s + \text{lean})

    where T is Student's distribution: near 1 if it is clearly better, near 0 if it is clearly worse. A correction whose
    model is wrong, or whose estimates are too noisy, is thus left out, and in doubt the ranker is a mean of both.

    Parameters
    ----------
    data
        Documents of the log with their features.
    learners
        Name to a function that learns from the documents it is given, some of the queries of ``data``, and returns
        something with ``predict``. Make labels from the log once, before, and join them with what is given.
    baseline
        What to fall back on, such as plain learning from clicks; the first by default.
    lean
        Head start of the corrections, in standard errors: with few queries the error is large beside any gain that
        matters. −1.64 asks for evidence at the level of 5 % before a correction has half of the weight. That is safer
        with few pages, and costs a third of the gain with more.
    n_folds
        Number of parts.

    Examples
    --------
    >>> from plackett import clicks
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=30, docs_per_query=8, n_features=4, random_state=0)
    >>> log = clicks.simulate_log(data, data.X[:, 0], n_pages=2000, temperature=1.0, random_state=0)
    >>> def learner(propensities):
    ...     labels = clicks.ips_labels(log, propensities)
    ...     return lambda part: clicks.ExposureSoftmax().fit(clicks.labelled_dataset(labels, part, weighted=True).data)
    >>> ways = {"clicks": learner([1.0] * log.longest), "harvested": learner(clicks.harvest_propensities(log))}
    >>> choice = clicks.guarded_choice(log, data, ways)
    >>> choice.name, 0 <= choice.weight <= 1
    ('harvested', True)
    """
    import polars as pl
    from scipy.special import stdtr

    if not learners:
        raise DataError("learners is empty: give at least a baseline")
    safe = next(iter(learners)) if baseline is None else baseline
    if safe not in learners:
        raise DataError(f"baseline={safe!r} is not one of {', '.join(learners)}")
    if n_folds < 2 or not np.isfinite(lean):
        raise DataError(f"n_folds={n_folds}, lean={lean}; give at least 2, and a finite number")

    def only_baseline(reason: str, table: pl.DataFrame | None = None) -> Guarded:
        result = Guarded.alone(safe, 0.0, learners[safe](data), reason)
        return result if table is None else replace(result, table=table)

    if len(learners) < 2:
        return only_baseline("there is nothing to choose from")
    if not documents_move(log):
        return only_baseline(FIXED)
    if data.n_queries < 2:
        return only_baseline("there is one query only, and none to judge a ranker by")
    if data.docids is None:  # row numbers would change in parts of the data
        data = data.replace(docids=np.arange(data.n_rows))
    judge = EqualRanks(log, data)
    logged = np.unique(data.query_of_row[judge.row])
    if logged.size == 1:
        return only_baseline("there is one query only, and none to judge a ranker by")
    fold = np.full(data.n_queries, -1)  # queries that are not in the log judge nothing
    fold[logged] = np.random.default_rng(random_state).permutation(logged.size) % n_folds
    agreements: dict[str, Agreement | None] = {}
    failed: dict[str, str] = {}
    for name, learn in learners.items():
        try:
            agreements[name] = judge.agreement(_of_other_queries(learn, data, fold))
        except DataError as refusal:  # there are parts that a way cannot learn from
            agreements[name], failed[name] = None, str(refusal)
    base = agreements[safe]
    if base is None:
        reason = f"{safe} cannot learn from some parts of the queries, and nothing can be compared with it"
        return only_baseline(f"{reason}: {failed[safe]}")
    nothing = float("nan"), float("nan")
    gains = {name: nothing if each is None else each.gain(base) for name, each in agreements.items()}
    rows = [(name, None if each is None else each.value, *gains[name]) for name, each in agreements.items()]
    schema = {"method": pl.String, "agreement": pl.Float64, "gain": pl.Float64, "error": pl.Float64}
    table = pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)
    known = [name for name in learners if name != safe and np.isfinite(gains[name]).all()]
    if not known:
        learned = any(each is not None for name, each in agreements.items() if name != safe)
        reason = "no queries have clicks at equal ranks by which another way could be judged"
        return only_baseline(reason if learned else "no other way can learn from all parts of the queries", table)
    best = max(known, key=lambda name: gains[name][0])
    gain, error = gains[best]
    z = gain / error if error > 0 else np.sign(gain) * np.inf if gain else 0.0
    weight = float(stdtr(int((base.pairs > 0).sum()) - 1, z + lean))
    reason = (
        f"agreement of {best} with clicks at equal ranks of other queries: {gain:+.4f} ± {error:.4f} against {safe}"
    )
    ranker = _blended(learners[safe](data), learners[best](data), weight, data.select(logged))
    return Guarded(best, weight, ranker, table, reason)


def _blended(first: Any, second: Any, weight: float, data: RankingDataset) -> Any:
    """Two rankers as one: the second one has this weight."""
    if not (isinstance(first, Ranker) and isinstance(second, Ranker)):
        return BlendedRanker(first, second, weight)
    if not 0.0 < weight < 1.0:
        return second if weight else first
    if data.categories:  # which only the members know
        return BlendedRanker(first, second, weight)
    return Blend.of([first, second], data, weights=(1.0 - weight, weight), scale="query")


def _of_other_queries(learn: Callable[[RankingDataset], Any], data: RankingDataset, fold: np.ndarray) -> np.ndarray:
    """Scores of the rows, each by a ranker that has not learned from its query; 0 for queries without a part (−1)."""
    scores, of_row = np.zeros(data.n_rows), fold[data.query_of_row]
    for i in np.unique(fold[fold >= 0]):
        ranker = learn(data.select(np.flatnonzero(fold != i)))
        if not hasattr(ranker, "predict"):
            raise TypeError(f"a learner returned {type(ranker).__name__}; give functions that return a fitted ranker")
        scores[of_row == i] = ranker.predict(data.select(np.flatnonzero(fold == i)))
    return scores

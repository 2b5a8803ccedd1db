"""Correct clicks for bias as far as other clicks do not speak against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.profile import FIXED, documents_move
from plackett.clicks.unbiased.agreement import Agreement, EqualRanks
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.blend import Blend
from plackett.scorers.standardized import standardized

if TYPE_CHECKING:
    import polars as pl

__all__ = ["guarded_choice"]


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
    if data.docids is None:  # row numbers would change in parts of the data
        data = data.replace(docids=np.arange(data.n_rows))
    judge = EqualRanks(log, data)
    logged = np.unique(data.query_of_row[judge.row])
    if data.n_queries < 2 or logged.size == 1:
        return only_baseline("there is one query only, and none to judge a ranker by")
    fold = np.full(data.n_queries, -1)  # queries that are not in the log judge nothing
    fold[logged] = np.random.default_rng(random_state).permutation(logged.size) % n_folds
    agreements: dict[str, Agreement] = {}
    failed: dict[str, str] = {}
    for name, learn in learners.items():
        try:
            agreements[name] = judge.agreement(_of_other_queries(learn, data, fold))
        except DataError as refusal:  # there are parts that a way cannot learn from
            failed[name] = str(refusal)
    if safe in failed:
        reason = f"{safe} cannot learn from some parts of the queries, and nothing can be compared with it"
        return only_baseline(f"{reason}: {failed[safe]}")
    base = agreements[safe]
    gains = {name: each.gain(base) for name, each in agreements.items()}
    table = _table(learners, agreements, gains)
    known = [name for name in agreements if name != safe and np.isfinite(gains[name]).all()]
    if not known:
        learned = len(agreements) > 1
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


def _table(
    names: Iterable[str], agreements: Mapping[str, Agreement], gains: Mapping[str, tuple[float, float]]
) -> pl.DataFrame:
    """Agreement, gain and its error of each way; null where it could not learn."""
    import polars as pl

    rows = [
        (name, agreements[name].value, *gains[name]) if name in gains else (name, None, None, None) for name in names
    ]
    schema = {"method": pl.String, "agreement": pl.Float64, "gain": pl.Float64, "error": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)


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

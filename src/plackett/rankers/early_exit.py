"""Early exit: most documents of a list are scored by the first trees only."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import choice, number_or_none
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.moments import deviation_within_lists
from plackett.data.required import check_dataset
from plackett.data.trained_columns import TrainedColumns
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.scorers.early_exit import EarlyExitScorer, exit_scorer, leaf_spread, trees_of, unsettled_rows
from plackett.scorers.nested import best_rows, lift
from plackett.scorers.trees.scorer import TreeScorer

if TYPE_CHECKING:
    import polars as pl

__all__ = ["early_exit"]

#: Exits to try: shares of the trees, and numbers of documents that go on.
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_KEEP = (10, 15, 20, 30, 50, 100)
#: The slack of proximity, in standard deviations of the scores within lists, and the gap of a settled list.
_FACTORS = (0.1, 0.25, 0.5, 1.0, 2.0)
_GAPS = (0.0, 0.01, 0.03, 0.1, 0.3)
#: Documents at the top of a list that should stay the same.
_TOP = 10


@dataclass(frozen=True)
class EarlyExit:
    """Result of `early_exit`.

    Parameters
    ----------
    ranker
        The ranker with the chosen exit; it predicts, saves and loads like any other.
    trees, keep, slack, settled
        The exit: after this many trees, the best ``keep`` documents of each list go on, and those at most ``slack``
        below them, unless the first ``keep`` of the list are at least ``settled`` apart. None if every exit loses too
        much; then ``ranker`` has no exit.
    frame
        One row for each exit tried, the cheapest first: trees, keep, slack, settled, the share of the ensemble's work
        that is still done, the value of the measure, its loss, the share of lists whose first ten documents stay the
        same in the same order (``same_top``), the upper ends of the one-sided 95 % intervals of the loss and of the
        share of lists where these documents change (``loss_bound``, ``change_bound``), and whether no other exit is
        both cheaper and better (``frontier``).
    measure
        Name of the measure.
    """

    ranker: Any
    trees: int | None
    keep: int | None
    slack: float | None
    settled: float | None
    frame: pl.DataFrame
    measure: str


def early_exit(
    ranker: Any,
    data: RankingDataset,
    *,
    max_loss: float = 0.001,
    sure: bool = False,
    measure: Any = "nDCG@10",
    rule: str = "capacity",
    trees: Sequence[int] | None = None,
    keep: Sequence[int] | None = None,
    slack: Sequence[float] | None = None,
    settled: Sequence[float] | None = None,
    max_change: float | None = None,
    n_jobs: int | None = None,
) -> EarlyExit:
    r"""Choose an early exit: score all documents by the first trees, and only the best ones by the rest.

    All documents of a list pass the first s trees. Some of them go on, pass the other trees and rank above the rest,
    which keep their order. With T trees and a share r of documents that go on, :math:`s/T + r (1 - s/T)` of the work
    remains. Of the exits that lose at most ``max_loss`` of the measure on ``data``, the one with the least work is
    taken. With ``max_change`` the first ten results are validated too: an exit is taken only if, by the exact binomial
    interval of Clopper and Pearson, they change in at most this share of lists like those of ``data`` (95 %).

    =============  ==================================================================================================
    rule           a document goes on if, after s trees,
    =============  ==================================================================================================
    ``capacity``   it is among the best k of its list
    ``proximity``  its score is at most δ below the k-th best
    ``exact``      the same with the δ that the other trees can make up for: the sum of the ranges of their leaf values.
                   The best k documents are then those of the whole ensemble, always and in the same order
    ``query``      its list is not settled: one of the first k documents is less than ε above the next one. Lists go on
                   or exit as a whole
    ``combined``   its list is not settled, and it is among the best k
    =============  ==================================================================================================

    Parameters
    ----------
    ranker
        A fitted ranker whose model is a tree ensemble with one output, or a pipeline that ends in one. It is not
        modified.
    data
        Labelled lists as long as those to be served; not the training data.
    max_loss
        How much of the measure may be lost, as a difference of means.
    sure
        The upper end of the interval of the loss, not the loss itself, must be at most ``max_loss``. With few lists, an
        exit that happens to lose nothing on ``data`` may lose more on others.
    measure
        The measure.
    rule
        As above.
    trees, keep, slack, settled
        The values of s, k, δ and ε to try. None tries several shares of the trees, k from 10 to 100 (10 for
        ``proximity``, ``exact`` and ``query``), δ up to twice the standard deviation of scores within lists, and ε
        up to 0.3 of it.
    max_change
        Largest share of lists, with 95 % confidence, whose first ten results may change; None sets no limit.

    Examples
    --------
    >>> import plackett as pk
    >>> train, valid = (pk.datasets.make_ranking(40, n_features=5, random_state=seed) for seed in (0, 1))
    >>> chosen = early_exit(pk.LambdaMART(n_estimators=40).fit(train), valid, max_loss=0.05, keep=(3, 5), trees=(5, 20))
    >>> chosen.frame.columns
    ['trees', 'keep', 'slack', 'settled', 'work', 'value', 'loss', 'loss_bound', 'same_top', 'change_bound', 'frontier']
    >>> chosen.ranker.predict(valid).shape == (valid.n_rows,)
    True

    References
    ----------
    Cambazoglu, Zaragoza, Chapelle, Chen, Liao, Zheng, Degenhardt: Early exit optimizations for additive machine learned
    ranking systems. WSDM 2010.
    Lucchese, Nardini, Orlando, Perego, Trani: Query-level early exit for additive learning-to-rank ensembles. SIGIR
    2020.
    """
    check_dataset(data)
    if not hasattr(ranker, "fit"):
        raise DataError(
            f"an early exit is added to a ranker, not to a {type(ranker).__name__}; read it with plackett.load"
        )
    if hasattr(ranker, "steps"):
        return _of_pipeline(
            ranker, data, max_loss=max_loss, sure=sure, measure=measure, rule=rule, trees=trees, keep=keep, slack=slack,
            settled=settled, max_change=max_change, n_jobs=n_jobs,
        )  # fmt: skip
    if isinstance(getattr(ranker, "scorer_", None), EarlyExitScorer):
        raise DataError(f"this {type(ranker).__name__} has an early exit already; give the ranker without it")
    scorer = trees_of(getattr(ranker, "scorer_", None), type(ranker).__name__)
    total = scorer.trees.n_trees
    if total < 2:
        raise DataError(f"an early exit needs two trees or more; this {type(ranker).__name__} has {total}")
    _check_rule(rule, slack, settled, max_change)
    if trees is None:
        trees = sorted({max(1, round(share * total)) for share in _SHARES} - {total})
    if keep is None:
        keep = _KEEP if rule in ("capacity", "combined") else _KEEP[:1]
    _check_counts("trees", trees, total - 1)
    _check_counts("keep", keep, None)
    data = getattr(ranker, "columns_in", TrainedColumns()).aligned(data)
    trials = _Trials(scorer, data, parse(measure), n_jobs)
    tried: list[_Trial] = []
    for s in trees:
        first = TreeScorer.of(scorer.trees.head(s)).predict(data.X, data.offsets, n_jobs)
        for k, (d, apart) in itertools.product(keep, RULES[rule](scorer, s, first, data, slack, settled)):
            tried.append(trials.of(first, s, k, d, apart))
    tried.sort(key=lambda trial: (trial.work, trial.loss))
    frame, name = _frame(tried), str(trials.measure)
    most = 1.0 if max_change is None else max_change
    good = [
        trial
        for trial in tried
        if (trial.loss_bound if sure else trial.loss) <= max_loss and trial.work < 1.0 and trial.change_bound <= most
    ]
    if not good:
        return EarlyExit(ranker, None, None, None, None, frame, name)
    best = good[0]
    exiting = _with(best, ranker, scorer, rule, trials)
    exiting.note_distribution(data)
    return EarlyExit(exiting, best.trees, best.keep, best.slack, best.settled, frame, name)


def _check_rule(rule: str, slack: Any, settled: Any, max_change: float | None) -> None:
    choice("rule", rule, RULES)
    if slack is not None and rule != "proximity":
        raise DataError(f"slack belongs to rule='proximity', not to {rule!r}")
    if settled is not None and rule not in _OF_LISTS:
        raise DataError(f"settled belongs to the rules {', '.join(map(repr, _OF_LISTS))}, not to {rule!r}")
    number_or_none("max_change", max_change, least=0.0, most=1.0)


def _check_counts(name: str, given: Sequence[int], most: int | None) -> None:
    bad = [v for v in given if not isinstance(v, (int, np.integer)) or v < 1 or (most is not None and v > most)]
    if bad or not len(given):
        raise DataError(f"{name}={list(given)}; give whole numbers from 1{'' if most is None else f' to {most}'}")


@dataclass(frozen=True)
class _Trial:
    """An exit, its cost and its effect, under the names of the columns of `EarlyExit.frame`."""

    trees: int
    keep: int
    slack: float
    settled: float
    work: float
    value: float
    loss: float
    loss_bound: float
    same_top: float
    change_bound: float


class _Trials:
    """What the whole ensemble does on the data, to compare exits with."""

    def __init__(self, scorer: TreeScorer, data: RankingDataset, measure: Measure, n_jobs: int | None) -> None:
        self.data, self.measure, self.n_jobs, self.n_trees = data, measure, n_jobs, scorer.trees.n_trees
        self.full = scorer.predict(data.X, data.offsets, n_jobs)
        self.full_values = self._values(self.full)
        self.full_value = measure.mean(self.full_values)
        if np.isnan(self.full_value):
            raise DataError(f"{measure} has no value on the data; do they have queries with relevant documents?")
        self.full_top = _first(self.full, data)
        self.every = np.arange(data.n_rows)

    def _values(self, scores: np.ndarray) -> np.ndarray:
        return self.measure.per_query(Scored(self.data, scores, n_jobs=self.n_jobs))

    def of(self, first: np.ndarray, trees: int, keep: int, slack: float, settled: float) -> _Trial:
        """One exit; ``first`` are the scores of the first trees."""
        data, measure, total = self.data, self.measure, self.n_trees
        rows = self.every
        if settled != np.inf:
            rows = unsettled_rows(first, rows, data.offsets, keep, settled)
        rows = best_rows(first, rows, data.offsets, keep, slack)
        scores = lift(first, rows, self.full[rows], data.offsets)
        values = self._values(scores)
        value = measure.mean(values)
        loss = measure.worth(self.full_value) - measure.worth(value)
        changed = np.unique(data.query_of_row[_first(scores, data) != self.full_top]).size
        return _Trial(
            trees=trees,
            keep=keep,
            slack=slack,
            settled=settled,
            # 1 if all go on, not nearly
            work=(trees * data.n_rows + (total - trees) * rows.size) / (total * data.n_rows),
            value=value,
            loss=loss,
            loss_bound=loss + _margin(measure.worth(self.full_values) - measure.worth(values)),
            same_top=1.0 - changed / max(data.n_queries, 1),
            change_bound=_upper_bound(changed, data.n_queries),
        )


def _frame(tried: Sequence[_Trial]) -> pl.DataFrame:
    """A row per exit, the cheapest first, and whether no other exit is both cheaper and better."""
    import polars as pl

    least = np.minimum.accumulate([np.inf, *(trial.loss for trial in tried)])[:-1]
    frontier = [bool(trial.loss < bound) for trial, bound in zip(tried, least, strict=True)]
    columns = [field.name for field in fields(_Trial)]
    rows = [[getattr(trial, name) for name in columns] for trial in tried]
    return pl.DataFrame(rows, schema=columns, orient="row").with_columns(pl.Series("frontier", frontier))


def _with(best: _Trial, ranker: Any, scorer: TreeScorer, rule: str, trials: _Trials) -> Any:
    """A copy of the ranker with an exit, which its card describes."""
    exiting = copy.copy(ranker)
    exiting.scorer_ = exit_scorer(scorer, best.trees, best.keep, best.slack, best.settled)
    exiting.card_ = exiting.card_ | {
        "exit": {
            "rule": rule, "trees": best.trees, "of": scorer.trees.n_trees, "keep": best.keep,
            "slack": _finite(best.slack), "settled": _finite(best.settled), "work": best.work,
            "measure": str(trials.measure), "value": best.value, "full": trials.full_value, "same_top": best.same_top,
            "change_bound": best.change_bound,
        }
    }  # fmt: skip
    exiting.__dict__.pop("calibration_", None)  # the scores of documents that exit have another meaning
    return exiting


def _of_pipeline(pipeline: Any, data: RankingDataset, **settings: Any) -> EarlyExit:
    """The pipeline with an exit of its last step."""
    for _, step in pipeline.steps[:-1]:
        data = step.transform(data)
    name, ranker = pipeline.steps[-1]
    step_exit = early_exit(ranker, data, **settings)
    if step_exit.trees is None:
        return replace(step_exit, ranker=pipeline)
    exiting = copy.copy(pipeline)
    exiting.steps = [*pipeline.steps[:-1], (name, step_exit.ranker)]
    return replace(step_exit, ranker=exiting)


def _first(scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    """Rank of each row in its list, from 1, and 0 below the first ten; rows of equal scores keep their order."""
    order = np.lexsort((-scores, data.query_of_row))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size) - data.offsets[data.query_of_row] + 1
    return np.where(rank <= _TOP, rank, 0)


def _upper_bound(changed: int, lists: int, confidence: float = 0.95) -> float:
    """Upper end of the one-sided interval of Clopper and Pearson for a share.

    >>> round(_upper_bound(0, 100), 4), _upper_bound(5, 5)
    (0.0295, 1.0)
    """
    from scipy.stats import beta

    return 1.0 if changed >= lists else float(beta.ppf(confidence, changed + 1, lists - changed))


def _margin(losses: np.ndarray) -> float:
    """Distance of the upper end of the one-sided interval of Student's t from the mean.

    >>> round(_margin(np.array([0.0, 1.0, 2.0])), 4), _margin(np.zeros(9))
    (1.6859, 0.0)
    """
    from scipy.stats import t

    known = losses[~np.isnan(losses)]
    if known.size < 2:
        return 0.0 if not known.any() else np.inf
    return float(t.ppf(0.95, known.size - 1) * known.std(ddof=1) / np.sqrt(known.size))


def _finite(value: float) -> float | None:
    """For JSON, which has no infinity."""
    return float(value) if np.isfinite(value) else None


def _numbers(name: str, values: Any) -> list[float]:
    if not len(values) or not all(np.isfinite(v) and v >= 0 for v in values):
        raise DataError(f"{name}={list(values)}; give numbers of 0 or more")
    return [float(v) for v in values]


Rules = list[tuple[float, float]]


def _capacity(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any, settled: Any) -> Rules:
    return [(0.0, np.inf)]


def _proximity(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any, settled: Any) -> Rules:
    if slack is not None:
        return [(d, np.inf) for d in _numbers("slack", slack)]
    spread = deviation_within_lists(first, data)
    return [(factor * spread, np.inf) for factor in _FACTORS]


def _exact(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any, settled: Any) -> Rules:
    return [(leaf_spread(scorer, s), np.inf)]


def _query(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any, settled: Any) -> Rules:
    return [(np.inf, apart) for _, apart in _combined(scorer, s, first, data, slack, settled)]


def _combined(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any, settled: Any) -> Rules:
    if settled is not None:
        return [(0.0, apart) for apart in _numbers("settled", settled)]
    spread = deviation_within_lists(first, data)
    return [(0.0, factor * spread) for factor in _GAPS]


#: By name: how far below the k-th best of its list a document may be to go on, and the gaps of a settled list.
RULES: dict[str, Callable[[TreeScorer, int, np.ndarray, RankingDataset, Any, Any], Rules]] = {
    "capacity": _capacity,
    "proximity": _proximity,
    "exact": _exact,
    "query": _query,
    "combined": _combined,
}
#: Those that stop whole lists.
_OF_LISTS = ("query", "combined")

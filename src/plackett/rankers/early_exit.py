"""Early exit: most documents of a list are scored by the first trees only."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.columns import Columns
from plackett.scorers.early_exit import EarlyExitScorer, leaf_spread, open_rows
from plackett.scorers.nested import best_rows, lift
from plackett.scorers.trees.scorer import TreeScorer

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RULES", "EarlyExit", "early_exit", "exit_scorer", "query_exit_scorer", "with_exit"]
__public__ = ["early_exit"]

R = TypeVar("R")

#: Shares of the trees after which the exit is tried, and the documents that go on.
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_KEEP = (10, 20, 30, 50, 100)
#: The slack of proximity, in standard deviations of the scores within lists.
_FACTORS = (0.1, 0.25, 0.5, 1.0, 2.0)
#: Exits of ``predict(exit=…)`` whose kernels are kept.
_KEPT = 8
#: Documents whose order tells that a list has settled.
_TOPS = (1, 3, 5, 10)
#: Documents at the top of a list that should stay the same.
_TOP = 10


@dataclass(frozen=True)
class EarlyExit:
    """What `early_exit` found.

    Parameters
    ----------
    ranker
        The ranker with the exit that was chosen; it predicts, saves and loads as any other.
    trees, keep, slack
        The exit: after this many trees, the best ``keep`` documents of each list go on, and those at most ``slack``
        below them; with the rule ``query``, lists whose first ``keep`` documents still change. None if no exit loses
        little enough, and then ``ranker`` has none.
    frame
        One row for each exit that was tried, the cheapest first: trees, keep, slack, the share of the ensemble's work
        that is done, the value of the measure, what it loses, the share of lists whose first ten documents stay the
        same (``same_top``), and whether any exit is both cheaper and better (``frontier`` is false then).
    measure
        Name of the measure.
    """

    ranker: Any
    trees: int | None
    keep: int | None
    slack: float | None
    frame: pl.DataFrame
    measure: str


@fulfils("efficient.earlyexit", paper="Cambazoglu, Zaragoza, Chapelle, Chen, Liao, Zheng, Degenhardt 2010")
def early_exit(
    ranker: Any,
    data: RankingDataset,
    *,
    max_loss: float = 0.001,
    measure: Any = "nDCG@10",
    rule: str = "capacity",
    trees: Sequence[int] | None = None,
    keep: Sequence[int] | None = None,
    slack: Sequence[float] | None = None,
    n_jobs: int | None = None,
) -> EarlyExit:
    r"""Choose after how many trees which documents of a list are scored to the end.

    All documents of a list pass the first s trees. Some of them go on, pass the other trees and rank above the rest,
    which keep their order. With T trees and a share r of documents that go on, :math:`s/T + r (1 - s/T)` of the work is
    left. Of the exits that lose at most ``max_loss`` of the measure on ``data``, the one with the least work is taken.

    =============  ==================================================================================================
    rule           a document goes on if, after s trees,
    =============  ==================================================================================================
    ``capacity``   it is among the best k of its list
    ``proximity``  its score is at most δ below the k-th best
    ``exact``      the same with the δ that the other trees can make up for: the sum of the ranges of their leaf values.
                   The best k documents are then those of the whole ensemble, always and in the same order
    ``query``      the best k documents of its list, or their order, are not those after s/2 trees. A list whose top has
                   settled is done with s trees, all its documents; of other lists, all go on
    =============  ==================================================================================================

    Parameters
    ----------
    ranker
        A fitted ranker whose model is a tree ensemble with one output, or a pipeline that ends in one. It is not
        modified.
    data
        Labelled lists as long as those to be served, not those it was trained on.
    max_loss
        How much of the measure may be lost, as a difference of means.
    measure
        The measure.
    rule
        As above.
    trees, keep, slack
        The values of s, k and δ to try. None tries several shares of the trees, k from 10 to 100 (10 for
        ``proximity`` and ``exact``; 1, 3, 5 and 10 for ``query``), and δ up to twice the standard deviation of scores
        within lists.

    Examples
    --------
    >>> import plackett as pk
    >>> train, valid = (pk.datasets.make_ranking(40, n_features=5, random_state=seed) for seed in (0, 1))
    >>> found = early_exit(pk.LambdaMART(n_estimators=40).fit(train), valid, max_loss=0.05, keep=(3, 5), trees=(5, 20))
    >>> found.frame.columns
    ['trees', 'keep', 'slack', 'work', 'value', 'loss', 'same_top', 'frontier']
    >>> found.ranker.predict(valid).shape == (valid.n_rows,)
    True

    References
    ----------
    Cambazoglu, Zaragoza, Chapelle, Chen, Liao, Zheng, Degenhardt: Early exit optimizations for additive machine learned
    ranking systems. WSDM 2010.
    Lucchese, Nardini, Orlando, Perego, Trani: Query-level early exit for additive learning-to-rank ensembles. SIGIR
    2020 (that whole queries can leave; when they do is learned there).
    """
    import polars as pl

    if hasattr(ranker, "steps"):
        return _of_pipeline(
            ranker, data, max_loss=max_loss, measure=measure, rule=rule, trees=trees, keep=keep, slack=slack,
            n_jobs=n_jobs,
        )  # fmt: skip
    if isinstance(getattr(ranker, "scorer_", None), EarlyExitScorer):
        raise DataError(f"this {type(ranker).__name__} has an early exit already; give the ranker without it")
    scorer = _trees(ranker)
    total = scorer.trees.n_trees
    if rule not in RULES:
        raise DataError(f"rule={rule!r}; give one of {', '.join(map(repr, RULES))}")
    if slack is not None and rule != "proximity":
        raise DataError(f"slack belongs to rule='proximity', not to {rule!r}")
    chosen_rule = RULES[rule]
    if trees is None:
        trees = sorted({max(chosen_rule.least, round(share * total)) for share in _SHARES} - {total})
    if keep is None:
        keep = chosen_rule.keep
    for name, values, fewest, most in (("trees", trees, chosen_rule.least, total - 1), ("keep", keep, 1, None)):
        bad = [value for value in values if value < fewest or (most is not None and value > most)]
        if bad or not len(values):
            raise DataError(f"{name}={list(values)}; give numbers from {fewest}{'' if most is None else f' to {most}'}")
    data = getattr(ranker, "_columns", Columns()).aligned(data)
    chosen = parse(measure)

    def value(scores: np.ndarray) -> float:
        return chosen.mean(chosen.per_query(Scored(data, scores, n_jobs=n_jobs)))

    full = scorer.predict(data.X, data.offsets, n_jobs)
    before = value(full)
    every = np.arange(data.n_rows)
    top = best_rows(full, every, data.offsets, _TOP)
    tried = []
    for s in trees:
        first = TreeScorer.of(scorer.trees.head(s)).predict(data.X, data.offsets, n_jobs)
        stage = _Stage(scorer, s, first, data, n_jobs)
        for k, d in itertools.product(keep, chosen_rule.slacks(stage, slack)):
            rows = chosen_rule.going_on(stage, k, d)
            reached = lift(first, rows, full[rows], data.offsets)
            after = value(reached)
            loss = chosen.worth(before) - chosen.worth(after)
            work = s / total + (1.0 - s / total) * rows.size / max(data.n_rows, 1)
            same = _same_lists(top, best_rows(reached, every, data.offsets, _TOP), data.offsets)
            tried.append((s, k, d, work, after, loss, same))
    tried.sort(key=lambda entry: (entry[3], entry[5]))
    least = np.minimum.accumulate([np.inf, *(entry[5] for entry in tried)])[:-1]
    frontier = [bool(entry[5] < bound) for entry, bound in zip(tried, least, strict=True)]
    columns = ("trees", "keep", "slack", "work", "value", "loss", "same_top")
    frame = pl.DataFrame(tried, schema=columns, orient="row").with_columns(pl.Series("frontier", frontier))
    good = [entry for entry in tried if entry[5] <= max_loss and entry[3] < 1.0]
    if not good:
        return EarlyExit(ranker, None, None, None, frame, str(chosen))
    s, k, d, work, after, _, same = good[0]
    exiting = copy.copy(ranker)
    exiting.scorer_ = chosen_rule.scorer(scorer, s, k, d)
    exiting.card_ = ranker.card_ | {
        "exit": {
            "rule": rule, "trees": s, "of": total, "keep": k, "slack": d, "work": work, "measure": str(chosen),
            "value": after, "full": before, "same_top": same,
        }
    }  # fmt: skip
    exiting.__dict__.pop("calibration_", None)  # scores below the exit mean something else
    return EarlyExit(exiting, s, k, d, frame, str(chosen))


def _of_pipeline(pipeline: Any, data: RankingDataset, **settings: Any) -> EarlyExit:
    """The pipeline with an exit of its last step."""
    for _, step in pipeline.steps[:-1]:
        data = step.transform(data)
    name, ranker = pipeline.steps[-1]
    found = early_exit(ranker, data, **settings)
    if found.trees is None:
        return replace(found, ranker=pipeline)
    exiting = copy.copy(pipeline)
    exiting.steps = [*pipeline.steps[:-1], (name, found.ranker)]
    return replace(found, ranker=exiting)


def _trees(ranker: Any) -> TreeScorer:
    """The trees of a ranker, without the exit that they may have."""
    scorer = getattr(ranker, "scorer_", None)
    if isinstance(scorer, EarlyExitScorer):
        scorer = scorer.trees
    if not isinstance(scorer, TreeScorer) or scorer.linear_leaves or scorer.trees.n_outputs != 1:
        raise DataError(
            f"an early exit needs a fitted ranker with trees of constant leaves and one output, not this "
            f"{type(ranker).__name__}"
        )
    return scorer


def with_exit(ranker: R, exit: Any) -> R:
    """A copy of a ranker that scores the best k documents of a list after s trees to the end; the last few are kept."""
    trees = _trees(ranker)
    total = trees.trees.n_trees
    whole = isinstance(exit, Sequence) and len(exit) == 2 and all(isinstance(n, (int, np.integer)) for n in exit)
    if not whole or not 1 <= exit[0] < total or exit[1] < 1:
        raise DataError(
            f"exit={exit!r}; give True, False, or two whole numbers: trees from 1 to {total - 1}, documents from 1"
        )
    known = trees.__dict__.setdefault("exits", {})
    made = known.get(tuple(exit))
    if made is None:
        if len(known) >= _KEPT:
            known.clear()
        made = known[tuple(exit)] = exit_scorer(trees, int(exit[0]), int(exit[1]))
    exiting = copy.copy(ranker)
    exiting.scorer_ = made  # type: ignore[attr-defined]
    return exiting


def exit_scorer(scorer: TreeScorer, trees: int, keep: int, slack: float = 0.0) -> EarlyExitScorer:
    """The scorer with one exit: the first trees for all documents of a list, the others for the best of them."""
    return EarlyExitScorer(
        scorer, np.array([trees]), np.array([keep]), np.array([float(slack)]), np.array([-np.inf])
    ).checked()


def query_exit_scorer(scorer: TreeScorer, trees: int, top: int, slack: float = 0.0) -> EarlyExitScorer:
    """The scorer with one exit for lists: those whose best documents are in the same order as after half the trees."""
    never = np.full(2, np.iinfo(np.int64).max)
    exits = np.array([trees // 2, trees]), never, np.zeros(2), np.full(2, -np.inf)
    return EarlyExitScorer(scorer, *exits, settled=np.array([0, top])).checked()


def _same_lists(top: np.ndarray, rows: np.ndarray, offsets: np.ndarray) -> float:
    """Share of the lists all of whose first documents are among the rows."""
    lost = np.setdiff1d(top, rows, assume_unique=True)
    cut = np.unique(np.searchsorted(offsets, lost, side="right")).size
    return 1.0 - cut / max(offsets.size - 1, 1)


@dataclass(frozen=True)
class _Stage:
    """The data after the first trees."""

    scorer: TreeScorer
    trees: int
    first: np.ndarray
    data: RankingDataset
    n_jobs: int | None

    @cached_property
    def half(self) -> np.ndarray:
        """Scores after half of these trees."""
        return TreeScorer.of(self.scorer.trees.head(self.trees // 2)).predict(
            self.data.X, self.data.offsets, self.n_jobs
        )


@dataclass(frozen=True)
class _Rule:
    """Which documents go on.

    Parameters
    ----------
    slacks
        What a document may be below the k-th best of its list to go on.
    keep
        Values of k that are tried.
    going_on
        The rows that go on, for k and a slack.
    scorer
        The scorer with this exit.
    least
        Least number of trees before the exit.
    """

    slacks: Callable[[_Stage, Any], list[float]]
    keep: Sequence[int] = _KEEP[:1]
    going_on: Callable[[_Stage, int, float], np.ndarray] = lambda stage, k, slack: best_rows(
        stage.first, np.arange(stage.data.n_rows), stage.data.offsets, k, slack
    )
    scorer: Callable[[TreeScorer, int, int, float], EarlyExitScorer] = exit_scorer
    least: int = 1


def _no_slack(stage: _Stage, slack: Any) -> list[float]:
    return [0.0]


def _proximity(stage: _Stage, slack: Any) -> list[float]:
    if slack is not None:
        if not len(slack) or not all(np.isfinite(d) and d >= 0 for d in slack):
            raise DataError(f"slack={list(slack)}; give numbers of 0 or more")
        return [float(d) for d in slack]
    first, data = stage.first, stage.data
    means = np.add.reduceat(first, data.offsets[:-1]) / np.diff(data.offsets) if data.n_rows else np.zeros(0)
    spread = float(np.sqrt(np.mean((first - np.repeat(means, np.diff(data.offsets))) ** 2))) if data.n_rows else 0.0
    return [factor * spread for factor in _FACTORS]


def _exact(stage: _Stage, slack: Any) -> list[float]:
    return [leaf_spread(stage.scorer, stage.trees)]


def _open_lists(stage: _Stage, k: int, slack: float) -> np.ndarray:
    return open_rows(stage.half, stage.first, np.arange(stage.data.n_rows), stage.data.offsets, k)


#: By name.
RULES: dict[str, _Rule] = {
    "capacity": _Rule(_no_slack, _KEEP),
    "proximity": _Rule(_proximity),
    "exact": _Rule(_exact),
    "query": _Rule(_no_slack, _TOPS, _open_lists, query_exit_scorer, least=2),
}

"""Early exit: most documents of a list are scored by the first trees only."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.columns import Columns
from plackett.scorers.early_exit import EarlyExitScorer, leaf_spread
from plackett.scorers.nested import best_rows, lift
from plackett.scorers.trees.scorer import TreeScorer

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RULES", "EarlyExit", "early_exit", "exit_scorer"]
__public__ = ["early_exit"]

#: Shares of the trees after which the exit is tried, and the documents that go on.
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_KEEP = (10, 20, 30, 50, 100)
#: The slack of proximity, in standard deviations of the scores within lists.
_FACTORS = (0.1, 0.25, 0.5, 1.0, 2.0)
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
        below them. None if no exit loses little enough, and then ``ranker`` has none.
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
    =============  ==================================================================================================

    Parameters
    ----------
    ranker
        A fitted ranker whose model is a tree ensemble with one output. It is not modified.
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
        ``proximity`` and ``exact``), and δ up to twice the standard deviation of scores within lists.

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
    """
    import polars as pl

    scorer = getattr(ranker, "scorer_", None)
    if isinstance(scorer, EarlyExitScorer):
        raise DataError(f"this {type(ranker).__name__} has an early exit already; give the ranker without it")
    if not isinstance(scorer, TreeScorer) or scorer.linear_leaves or scorer.trees.n_outputs != 1:
        raise DataError(
            f"an early exit needs a fitted ranker with trees of constant leaves and one output, not this "
            f"{type(ranker).__name__}"
        )
    total = scorer.trees.n_trees
    if rule not in RULES:
        raise DataError(f"rule={rule!r}; give one of {', '.join(map(repr, RULES))}")
    if slack is not None and rule != "proximity":
        raise DataError(f"slack belongs to rule='proximity', not to {rule!r}")
    if trees is None:
        trees = sorted({max(1, round(share * total)) for share in _SHARES} - {total})
    if keep is None:
        keep = _KEEP if rule == "capacity" else _KEEP[:1]
    for name, values, most in (("trees", trees, total - 1), ("keep", keep, None)):
        bad = [value for value in values if value < 1 or (most is not None and value > most)]
        if bad or not len(values):
            raise DataError(f"{name}={list(values)}; give numbers from 1{'' if most is None else f' to {most}'}")
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
        for k, d in itertools.product(keep, RULES[rule](scorer, s, first, data, slack)):
            rows = best_rows(first, every, data.offsets, k, d)
            after = value(lift(first, rows, full[rows], data.offsets))
            loss = chosen.worth(before) - chosen.worth(after)
            work = s / total + (1.0 - s / total) * rows.size / max(data.n_rows, 1)
            tried.append((s, k, d, work, after, loss, _same_lists(top, rows, data.offsets)))
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
    exiting.scorer_ = exit_scorer(scorer, s, k, d)
    exiting.card_ = ranker.card_ | {
        "exit": {
            "rule": rule, "trees": s, "of": total, "keep": k, "slack": d, "work": work, "measure": str(chosen),
            "value": after, "full": before, "same_top": same,
        }
    }  # fmt: skip
    exiting.__dict__.pop("calibration_", None)  # scores below the exit mean something else
    return EarlyExit(exiting, s, k, d, frame, str(chosen))


def exit_scorer(scorer: TreeScorer, trees: int, keep: int, slack: float = 0.0) -> EarlyExitScorer:
    """The scorer with one exit: the first trees for all documents of a list, the others for the best of them."""
    return EarlyExitScorer(
        scorer, np.array([trees]), np.array([keep]), np.array([float(slack)]), np.array([-np.inf])
    ).checked()


def _same_lists(top: np.ndarray, rows: np.ndarray, offsets: np.ndarray) -> float:
    """Share of the lists all of whose first documents go on."""
    lost = np.setdiff1d(top, rows, assume_unique=True)
    cut = np.unique(np.searchsorted(offsets, lost, side="right")).size
    return 1.0 - cut / max(offsets.size - 1, 1)


def _capacity(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any) -> list[float]:
    return [0.0]


def _proximity(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any) -> list[float]:
    if slack is not None:
        if not len(slack) or not all(np.isfinite(d) and d >= 0 for d in slack):
            raise DataError(f"slack={list(slack)}; give numbers of 0 or more")
        return [float(d) for d in slack]
    means = np.add.reduceat(first, data.offsets[:-1]) / np.diff(data.offsets) if data.n_rows else np.zeros(0)
    spread = float(np.sqrt(np.mean((first - np.repeat(means, np.diff(data.offsets))) ** 2))) if data.n_rows else 0.0
    return [factor * spread for factor in _FACTORS]


def _exact(scorer: TreeScorer, s: int, first: np.ndarray, data: RankingDataset, slack: Any) -> list[float]:
    return [leaf_spread(scorer, s)]


#: By name: what a document may be below the k-th best of its list to go on.
RULES: dict[str, Callable[[TreeScorer, int, np.ndarray, RankingDataset, Any], list[float]]] = {
    "capacity": _capacity,
    "proximity": _proximity,
    "exact": _exact,
}

"""Early exit: most documents of a list are scored by the first trees only."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.columns import Columns
from plackett.scorers.nested import NestedScorer, best_rows, lift
from plackett.scorers.trees.scorer import TreeScorer

if TYPE_CHECKING:
    import polars as pl

__all__ = ["EarlyExit", "early_exit"]
__public__ = ["early_exit"]

#: Shares of the trees after which the exit is tried, and the documents that go on.
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_KEEP = (10, 20, 30, 50, 100)


@dataclass(frozen=True)
class EarlyExit:
    """What `early_exit` found.

    Parameters
    ----------
    ranker
        The ranker with the exit that was chosen; it predicts, saves and loads as any other.
    trees, keep
        The exit: after this many trees, the best ``keep`` documents of each list go on. None if no exit loses little
        enough, and then ``ranker`` has none.
    frame
        One row for each exit that was tried, the cheapest first: trees, keep, the share of the ensemble's work that is
        done, the value of the measure, what it loses, and whether any exit is both cheaper and better (``frontier`` is
        false then).
    measure
        Name of the measure.
    """

    ranker: Any
    trees: int | None
    keep: int | None
    frame: pl.DataFrame
    measure: str


@fulfils(paper="Cambazoglu, Zaragoza, Chapelle, Chen, Liao, Zheng, Degenhardt 2010")
def early_exit(
    ranker: Any,
    data: RankingDataset,
    *,
    max_loss: float = 0.001,
    measure: Any = "nDCG@10",
    trees: Sequence[int] | None = None,
    keep: Sequence[int] = _KEEP,
    n_jobs: int | None = None,
) -> EarlyExit:
    r"""Choose after how many trees how many documents of a list are scored to the end.

    All documents of a list pass the first s trees. The best k of them are then scored by all trees and ranked above the
    others, which keep their order. With lists of n documents and T trees, :math:`s/T + \min(k, n)/n` of the work is
    left. Of the exits that lose at most ``max_loss`` of the measure on ``data``, the one with the least work is taken.

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
    trees, keep
        The values of s and k to try; None tries several shares of the trees.

    Examples
    --------
    >>> import plackett as pk
    >>> train, valid = (pk.datasets.make_ranking(40, n_features=5, random_state=seed) for seed in (0, 1))
    >>> found = early_exit(pk.LambdaMART(n_estimators=40).fit(train), valid, max_loss=0.05, keep=(3, 5), trees=(5, 20))
    >>> found.frame.columns
    ['trees', 'keep', 'work', 'value', 'loss', 'frontier']
    >>> found.ranker.predict(valid).shape == (valid.n_rows,)
    True

    References
    ----------
    Cambazoglu, Zaragoza, Chapelle, Chen, Liao, Zheng, Degenhardt: Early exit optimizations for additive machine learned
    ranking systems. WSDM 2010.
    """
    import polars as pl

    scorer = getattr(ranker, "scorer_", None)
    if not isinstance(scorer, TreeScorer) or scorer.linear_leaves or scorer.trees.n_outputs != 1:
        raise DataError(
            f"an early exit needs a fitted ranker with trees of constant leaves and one output, not this "
            f"{type(ranker).__name__}"
        )
    total = scorer.trees.n_trees
    if trees is None:
        trees = sorted({max(1, round(share * total)) for share in _SHARES} - {total})
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
    tried = []
    for s in trees:
        first = TreeScorer.of(scorer.trees.head(s)).predict(data.X, data.offsets, n_jobs)
        for k in keep:
            rows = best_rows(first, every, data.offsets, k)
            after = value(lift(first, rows, full[rows], data.offsets))
            loss = chosen.worth(before) - chosen.worth(after)
            tried.append((s, k, s / total + rows.size / max(data.n_rows, 1), after, loss))
    tried.sort(key=lambda entry: (entry[2], entry[4]))
    least = np.minimum.accumulate([np.inf, *(entry[4] for entry in tried)])[:-1]
    frontier = [bool(entry[4] < bound) for entry, bound in zip(tried, least, strict=True)]
    columns = ("trees", "keep", "work", "value", "loss")
    frame = pl.DataFrame(tried, schema=columns, orient="row").with_columns(pl.Series("frontier", frontier))
    good = [entry for entry in tried if entry[4] <= max_loss and entry[2] < 1.0]
    if not good:
        return EarlyExit(ranker, None, None, frame, str(chosen))
    s, k, work, after, _ = good[0]
    exiting = copy.copy(ranker)
    exiting.scorer_ = exit_scorer(scorer, s, k)
    exit_ = {"trees": s, "of": total, "keep": k, "work": work, "measure": str(chosen), "value": after, "full": before}
    exiting.card_ = ranker.card_ | {"exit": exit_}
    exiting.__dict__.pop("calibration_", None)  # scores below the exit mean something else
    return EarlyExit(exiting, s, k, frame, str(chosen))


def exit_scorer(scorer: TreeScorer, trees: int, keep: int) -> NestedScorer:
    """The scorer with an exit: the first trees for all documents of a list, all trees for the best of them."""
    return NestedScorer((TreeScorer.of(scorer.trees.head(trees)), scorer), np.array([np.iinfo(np.int64).max, keep]))

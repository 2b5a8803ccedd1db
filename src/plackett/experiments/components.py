"""The four components of a learning method: input space, output space, hypothesis space, loss."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import PlackettWarning
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.rankers.base import GradientTrained, Ranker

if TYPE_CHECKING:
    import polars as pl

__all__ = ["components"]

#: Input and output space of each approach.
SPACES = {
    "pointwise": ("one document: its feature vector", "the relevance of one document"),
    "pairwise": ("two documents of a query: their feature vectors", "which of the two is preferred"),
    "listwise": ("all documents of a query: their feature vectors", "an order or the relevance of all of them"),
}


@dataclass(frozen=True)
class Components:
    """The four components of a ranker."""

    approach: str
    input: str
    output: str
    hypothesis: str
    loss: str
    #: What the loss sums over: "documents", "pairs" or "lists"; "" for a ranker that minimises no loss object.
    sum_over: str


def components(ranker: Ranker) -> Components:
    """Approach, input space, output space, hypothesis space and loss of a ranker.

    The approach comes from the ranker's folder in the package (from the loss, for `GradientRanker`), the hypothesis
    space from the scorer it trains; if the ranker is not fitted, a copy is trained on a few documents to find out.
    Whether the loss is a sum over documents, over pairs or over whole lists is determined by computing it
    (`decomposition`): lambda gradients, for example, are pairwise in form but depend on whole lists.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 1.3.

    Examples
    --------
    >>> from plackett.rankers import ListNet
    >>> listnet = components(ListNet())
    >>> listnet.approach, listnet.hypothesis, listnet.loss, listnet.sum_over
    ('listwise', 'linear scoring functions', 'ListNet()', 'lists')
    """
    loss = ranker.make_loss() if isinstance(ranker, GradientTrained) else None
    # a class of the user's own is filed under the ranker of the package that it derives from
    own = next(cls for cls in type(ranker).__mro__ if cls.__module__.startswith("plackett."))
    folder = own.__module__.split(".")[2]
    approach = loss.approach if folder not in SPACES and loss is not None else folder
    given, wanted = SPACES.get(approach, ("documents of a query", "an order of them"))
    scorer = getattr(ranker, "scorer_", None) or _trained(ranker).scorer_
    summary = (type(ranker).__doc__ or "").strip().partition("\n")[0]
    return Components(
        approach=approach,
        input=given,
        output=wanted,
        hypothesis=scorer.hypothesis or scorer.kind.replace("_", " "),
        loss=summary if loss is None else str(loss),
        sum_over="" if loss is None else decomposition(loss),
    )


def decomposition(loss: Loss, *, random_state: int = 0) -> str:
    """Whether a loss (the gradient, where it has no value) is a sum over ``"documents"``, ``"pairs"`` or ``"lists"``.

    The loss of a query of four documents is compared with the sum over its single documents, and over its pairs, each
    treated as a query.

    >>> from plackett.losses import Logistic, Square
    >>> decomposition(Square()), decomposition(Logistic())
    ('documents', 'pairs')
    """
    labels = np.array([2.0, 0.0, 1.0, 1.0])
    rng = np.random.default_rng(random_state)
    data = _query(labels)
    loss = loss.settle(data)
    outputs = loss.bind(data).n_outputs
    scores = rng.normal(size=4 if outputs == 1 else (4, outputs))
    whole = _contribution(loss, labels, scores, list(range(4)))
    for name, size in (("documents", 1), ("pairs", 2)):
        parts = [_contribution(loss, labels, scores, list(rows)) for rows in itertools.combinations(range(4), size)]
        if np.allclose(whole, np.sum(parts, axis=0), rtol=1e-8, atol=1e-10):
            return name
    return "lists"


def component_table() -> pl.DataFrame:
    """The components of every ranker, with default parameters."""
    import polars as pl

    from plackett import rankers

    return pl.DataFrame([{"ranker": name} | vars(components(cls())) for name, cls in rankers().items()])


def _contribution(loss: Loss, labels: np.ndarray, scores: np.ndarray, rows: list[int]) -> np.ndarray:
    """Value of the loss on some documents as one query; its gradient, 0 for the others, where it has no value."""
    part = _query(labels[rows])
    if loss.has_value:
        return np.array(loss(scores[rows], part))
    out = np.zeros_like(scores)
    out[rows] = loss.gradient(scores[rows], part)[0]
    return out


def _query(labels: np.ndarray) -> RankingDataset:
    # a feature, for losses that look at one (a baseline ranking)
    return RankingDataset.from_arrays(np.zeros((labels.size, 1)), labels, qid=np.zeros(labels.size, np.int64))


def _trained(ranker: Ranker) -> Any:
    from plackett._base.estimator import clone
    from plackett.experiments.effort import effort_of

    effort = effort_of(ranker)
    few = clone(ranker).set_params(n_jobs=1, **({} if effort is None else {effort: 1}))
    if "time_budget" in few.get_params(deep=False):  # it would search for its whole time
        few.set_params(n_trials=1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), np.tile([0, 1, 2, 1], 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlackettWarning)  # one round on a few documents need not learn anything
        return few.fit(X, y, qid=np.repeat(np.arange(6), 4))

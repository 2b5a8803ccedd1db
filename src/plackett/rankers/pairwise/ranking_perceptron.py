"""The perceptron on pairs of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_array, row_blocks
from plackett.data.moments import feature_scale, weight_of_rows
from plackett.data.parts import per_row
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._entries import pair_entries
from plackett.rankers.pairwise._pair_perceptron import CHANGES, PAIRS, SINCE, Path, one_pass
from plackett.scorers.base import Scorer
from plackett.scorers.linear import LinearScorer
from plackett.scorers.voting import VotingScorer
from plackett.solvers.monitor import Monitor
from plackett.solvers.training_vectors import rows_of

__all__ = ["RankingPerceptron"]


@dataclass(kw_only=True, eq=False, repr=False)
class RankingPerceptron(Ranker):
    r"""Perceptron on pairs: for a document u that belongs before v,

    .. math:: w \cdot (x_u - x_v) \le \text{margin} \cdot g(u, v) \quad\Rightarrow\quad
              w \leftarrow w + g(u, v)\,(x_u - x_v).

    A pass visits all pairs of unequal labels (or the preferences of the dataset) in random order, and training stops
    after a pass without a change. With ``uneven="none"`` and ``margin=0`` there are at most :math:`(\max \lVert x_u -
    x_v \rVert / \rho)^2` changes, ρ the margin of the best unit vector over all pairs, where there is one without a
    mistake. Uneven margins give more weight to the top of a list.

    The textbook's rate τ multiplies margins and steps alike: it scales the weights and changes no ranking, so it is not
    a parameter, and its margin is ``margin=1``. Pair weights multiply the step. Scores are recomputed only for
    documents visited after a change. For a kernel, put scikit-learn's ``Nystroem`` before it.

    Parameters
    ----------
    uneven
        g: ``"rank"``, 1/r_u − 1/r_v with the ideal ranks (the mean position of the grade in the ideal list);
        ``"label"``, the difference of the labels; ``"none"``, 1. For preferences it is their margin, or 1.
    margin
        Margin in multiples of g: 1 is the textbook's, 0 the plain perceptron.
    output
        ``"averaged"``, the mean of the weights over all pairs visited; ``"voted"``, every weight vector gets as many
        votes on each pair of a list as it was right in a row, and the score of a document is the votes it wins (the
        `max_votes` vectors that lasted longest are kept); ``"last"``, the last weights.
    max_votes
        Number of weight vectors that vote.
    max_iter
        Maximum number of passes.
    standardize
        Divide each feature by its standard deviation while training.

    Attributes
    ----------
    mistakes_
        Number of updates in each pass.

    Examples
    --------
    >>> ranker = RankingPerceptron().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2]), ranker.mistakes_[-1]
    (array([2, 1]), 0)

    References
    ----------
    Shen and Joshi: Ranking and reranking with perceptron. Machine Learning 2005.
    Freund and Schapire: Large margin classification using the perceptron algorithm. 1999.
    Surdeanu, Ciaramita, Zaragoza: Learning to rank answers on large online QA collections. ACL 2008.
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. Exercise 10.5.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"margin": Real(1.0, 10_000.0, log=True)}
    #: What is learned depends on the order of the pairs.
    one_at_a_time: ClassVar[bool] = True

    uneven: str = "rank"
    margin: float = 1.0
    output: str = "averaged"
    max_votes: int = 100
    max_iter: int = 20
    standardize: bool = True

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        for field, known in (("uneven", _UNEVEN), ("output", _OUTPUTS)):
            choice(field, getattr(self, field), known, error=LossError)
        if self.max_iter < 1 or self.max_votes < 1 or not self.margin >= 0.0:
            raise LossError("max_iter and max_votes must be 1 or more, the margin 0 or more")
        scale = feature_scale(data.X, weight_of_rows(data), self.standardize)
        rows, entries, path = rows_of(data.X, scale), pair_entries(data), Path(data.n_features, self.max_votes)
        credit, own = np.empty(0), np.empty(0)
        if data.preferences is None:
            gain = _UNEVEN[self.uneven]
            credit = np.empty(0) if gain is None else per_row(data, gain)
        elif entries.margin is not None:
            own = np.array(entries.margin)
        weight = entries.weight
        if data.query_weight is not None:
            for some in row_blocks(weight.size):
                weight[some] *= data.query_weight[entries.query[some]]
        seed = int(np.random.default_rng(self.random_state).integers(2**63))
        starts = row_array(data.X, (entries.low.size + 1,), np.int64)
        np.cumsum(np.subtract(entries.high, entries.low, out=starts[1:]), out=starts[1:])
        score, stamp = row_array(data.X, (data.n_rows,)), row_array(data.X, (data.n_rows,), np.int64)
        make = _OUTPUTS[self.output]
        start = make(path, scale)
        self.mistakes_: list[int] = []
        with monitor.training(self.max_iter, "perceptron"):
            for turn in range(self.max_iter):
                before = int(path.counts[CHANGES])
                one_pass(
                    np.uint64(seed + turn), *rows, entries.first, entries.low, entries.order, starts,
                    weight, entries.row_weight, credit, own, float(self.margin),
                    path.w, path.drift, path.counts, path.kept, path.lasted, score, stamp,
                )  # fmt: skip
                self.mistakes_.append(int(path.counts[CHANGES]) - before)
                if monitor.keep(make(path, scale)) or self.mistakes_[-1] == 0:
                    break
        self.scorer_ = monitor.best or start


def _last(path: Path, scale: np.ndarray) -> Scorer:
    return LinearScorer((path.w[:-1] / scale)[:, None], np.zeros(1))


def _averaged(path: Path, scale: np.ndarray) -> Scorer:
    mean = path.w - path.drift / max(int(path.counts[PAIRS]), 1)
    return LinearScorer((mean[:-1] / scale)[:, None], np.zeros(1))


def _voted(path: Path, scale: np.ndarray) -> Scorer:
    weights = np.vstack([path.kept, path.w])[:, :-1] / scale
    votes = np.append(path.lasted, path.counts[SINCE]).astype(np.float64)
    return VotingScorer(weights[votes > 0], votes[votes > 0])


_OUTPUTS: dict[str, Callable[[Path, np.ndarray], Scorer]] = {"averaged": _averaged, "voted": _voted, "last": _last}


def _by_rank(data: RankingDataset) -> np.ndarray:
    """One over the ideal rank of each document: the mean position of its grade."""
    order = np.lexsort((-data.labels, data.query_of_row))
    labels, query = data.labels[order], data.query_of_row[order]
    new = np.ones(data.n_rows, bool)
    new[1:] = (labels[1:] != labels[:-1]) | (query[1:] != query[:-1])
    block = np.cumsum(new) - 1
    position = np.arange(data.n_rows) - data.offsets[query] + 1.0
    mean = np.bincount(block, position) / np.bincount(block)
    credit = np.empty(data.n_rows)
    credit[order] = 1.0 / mean[block]
    return credit


def _by_label(data: RankingDataset) -> np.ndarray:
    return data.labels


#: What g is the difference of, for each document; nothing where g is 1.
_UNEVEN: dict[str, Callable[[RankingDataset], np.ndarray] | None] = {"rank": _by_rank, "label": _by_label, "none": None}

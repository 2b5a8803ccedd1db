"""Propagation of scores as a step after any ranker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.relation_builders.neighbours import Neighbours
from plackett.rankers.relational.base import WrapsRanker
from plackett.scorers.propagation import COLLECTS, PropagationScorer, propagated
from plackett.scorers.relations.lookup import relation_of
from plackett.solvers.monitor import Monitor

__all__ = ["ScorePropagation"]


@dataclass(kw_only=True, eq=False, repr=False)
class ScorePropagation(WrapsRanker):
    r"""One propagation step after any ranker s: a document gains from its children, or from documents that link to it,

    .. math:: s'(p) = (1 + \alpha)\, s(p) + (1 - \alpha)\, \frac{\sum_c w_{cp}\, s(c)}{\sum_c w_{cp}},

    over the pairs (c, p) of the relation. The ranker is trained alone. This is a baseline for `TopicDistillation`,
    which solves for all documents of a list at once. A document without such pairs has (1 + α) s(p).

    Parameters
    ----------
    relation
        Name of a relation of the dataset, or a builder such as ``Neighbours(k=10)``.
    alpha
        From 0 to 1; 1 keeps the order of the scores.
    collect
        ``"in"``: a document gains from those that are related to it (its children, pages that link to it); ``"out"``:
        from those that it is related to.

    Examples
    --------
    >>> import plackett as pk
    >>> parents = pk.Relation.from_pairs([(1, 0), (2, 0)])
    >>> X, y, qid = [[1.0], [1.2], [0.9]], [1, 1.2, 0.9], [1, 1, 1]
    >>> data = pk.RankingDataset.from_arrays(X, y, qid, relations={"parent": parents})
    >>> ScorePropagation(base="LinearRegression").fit(data).rank(data).tolist()
    [1, 2, 3]

    References
    ----------
    Qin, Liu, Zhang, Chen, Ma: A study of relevance propagation for web search. SIGIR 2005.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(0.1, 1.0)}
    _test_settings: ClassVar[dict[str, Any]] = {"relation": Neighbours(k=2), "alpha": 0.8}

    relation: Any = "parent"
    alpha: float = 0.5
    collect: str = "in"

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        number("alpha", self.alpha, least=0.0, most=1.0)
        choice("collect", self.collect, COLLECTS)
        relation_of(data, self.relation, type(self).__name__, self.n_jobs)
        base = self._train_base(data, monitor, lambda part: _Step(self._spread(part)), through=False)
        self.scorer_ = PropagationScorer((base,), self.relation, self.collect, float(self.alpha))

    def _spread(self, data: RankingDataset) -> Callable[[np.ndarray], np.ndarray]:
        """The function applied to the scores of a dataset."""
        relation = relation_of(data, self.relation, type(self).__name__, self.n_jobs)
        return lambda scores: propagated(scores, relation, data.offsets, self.collect, self.alpha, self.n_jobs)


@dataclass(frozen=True)
class _Step:
    scores: Callable[[np.ndarray], np.ndarray]

"""The generic relational ranking function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.relation_builders.neighbours import Neighbours
from plackett.data.relations import Relation
from plackett.rankers.base import Ranker
from plackett.rankers.relational._through import differentiable
from plackett.rankers.relational.base import WrapsRanker
from plackett.scorers.relational_sum import RelationalSumScorer, sum_of_relations
from plackett.scorers.relations.functions import QuadraticFunction, lift
from plackett.scorers.relations.laplacian import STRONGEST, Laplacian
from plackett.scorers.relations.lookup import is_strength, parsed, relation_of
from plackett.solvers.monitor import Monitor, SilentMonitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["RelationalRanker"]

#: Strengths are learned within these bounds.
_BOUNDS = (1e-4, 1e2)


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalRanker(WrapsRanker):
    r"""The generic relational function: any ranker f, any number of relations of both kinds,

    .. math:: h = \operatorname{arg\,min}_z \lVert z - f \rVert^2 + \sum_k \frac{\beta_k}{2} \sum_{i, j} R^k_{ij}
              (z_i - z_j)^2 + \sum_l \gamma_l \sum_{(c, p)} w^l_{cp} \big[ (z_c - z_p) + \tfrac12 (z_c - z_p)^2 \big]

    with the terms of `RelationalFeedback` for similarities and of `TopicDistillation` for parents. f is trained through
    the solution, with any loss and model; the strengths are given, or learned as well.

    Parameters
    ----------
    similar, parents
        Strength of each relation of a kind (0 to 1e12), by its name or by a builder such as ``Neighbours(k=10)``. None
        for ``similar`` is ``{"similarity": 0.3}``, or nothing if ``parents`` are given.
    through
        Train f through the function if it minimises a loss; False trains it alone.
    learn
        Number of times to learn the strengths, starting from those given: with f fixed, the strengths are chosen to
        minimise its loss (by L-BFGS on their logarithms), then f is trained again. 0 keeps them. Needs a ranker that
        minimises a loss with a value. The strength of a relation that does not help falls to 0.0001.

    Attributes
    ----------
    base_
        The trained ranker f.
    strengths_
        The strengths, those of ``similar`` first, in the order given.

    Examples
    --------
    >>> import plackett as pk
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2], [1, 1, 1, 1]
    >>> pairs = pk.Relation.from_pairs([(0, 1), (2, 3)])
    >>> data = pk.RankingDataset.from_arrays(X, y, qid, relations={"similarity": pairs, "parent": pairs})
    >>> RelationalRanker(similar={"similarity": 0.2}, parents={"parent": 0.1}).fit(data).rank(data).tolist()
    [4, 3, 2, 1]

    References
    ----------
    Qin, Liu, Zhang, Wang, Xiong, Li: Learning to rank relational objects and its application to web search. WWW 2008.
    """

    search_space: ClassVar[SearchSpace] = {"learn": (0, 1)}
    _test_settings: ClassVar[dict[str, Any]] = {"similar": {Neighbours(k=2): 0.05}, "parents": {Neighbours(k=1): 0.02}}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"learn": 1, "parents": None},)

    similar: Mapping[Any, float] | None = None
    parents: Mapping[Any, float] | None = None
    through: bool = True
    learn: int = 0

    def _terms(self) -> list[tuple[Any, bool, float]]:
        """Relation, whether it relates children to parents, and strength."""
        similar = self.similar
        if similar is None:
            similar = {} if self.parents else {"similarity": 0.3}
        terms = [(key, False, beta) for key, beta in similar.items()]
        terms += [(key, True, beta) for key, beta in (self.parents or {}).items()]
        for key, _, beta in terms:
            if not is_strength(beta):
                raise DataError(f"the strength of relation {key!r} is {beta!r}; give a number from 0 to {STRONGEST:g}")
        return terms

    def _relations(self, data: RankingDataset) -> list[Relation]:
        known = data.relations or {}
        relations = []
        for number, (key, _, _) in enumerate(self._terms()):
            built = known.get(_name(number))
            relations.append(relation_of(data, key, type(self).__name__, self.n_jobs) if built is None else built)
        return relations

    def _related(self, data: RankingDataset) -> RankingDataset:
        """The data with the relations that are built from features, so that they are built once."""
        built = {
            _name(number): relation
            for number, (relation, (key, _, _)) in enumerate(zip(self._relations(data), self._terms(), strict=True))
            if callable(parsed(key))
        }
        return data.replace(relations={**(data.relations or {}), **built}) if built else data

    def _maker(self, strengths: np.ndarray) -> Callable[[RankingDataset], QuadraticFunction]:
        up = [parents for _, parents, _ in self._terms()]
        return lambda data: sum_of_relations(data, self._relations(data), up, strengths, self.n_jobs)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        data = self._related(data)
        if monitor.valid is not None:
            monitor.valid = self._related(monitor.valid)
        strengths = np.array([beta for _, _, beta in self._terms()], np.float64)
        if self.learn and not differentiable(self._fresh()):
            raise DataError(f"learn={self.learn} needs a base that minimises a loss, which {self.base!r} does not")
        for _ in range(self.learn):
            base = self._train_base(data, SilentMonitor(), self._maker(strengths), self.through)
            strengths = self._learned(base, data, strengths)
        make = self._maker(strengths) if strengths.any() else None
        base = self._train_base(data, monitor, make, self.through)
        relations, up, _ = zip(*self._terms(), strict=True) if strengths.size else ((), (), ())
        self.scorer_ = RelationalSumScorer((base,), relations, np.array(up, bool), strengths)

    @property
    def strengths_(self) -> np.ndarray:
        """The strengths, those of ``similar`` first."""
        self.check_fitted()
        return self.scorer_.strengths  # type: ignore[no-any-return]

    def _learned(self, base: Ranker, data: RankingDataset, start: np.ndarray) -> np.ndarray:
        """The strengths that minimise the loss for fixed scores f, over their logarithms."""
        loss = base.make_loss().settle(data)  # type: ignore[attr-defined]
        if not loss.has_value:
            raise DataError(f"learn={self.learn} needs a loss with a value; {loss} is only a gradient")
        bound, f = loss.bind(data, n_jobs=self.n_jobs), base.score_rows(data)
        total = max(float(bound.query_weight.sum()), np.finfo(float).tiny)
        relations, up = self._relations(data), [parents for _, parents, _ in self._terms()]
        single = [Laplacian.of(data, [(relation, 1.0)], self.n_jobs) for relation in relations]
        lifts = [lift(data, relation, 1.0) if above else 0.0 for relation, above in zip(relations, up, strict=True)]

        def objective(log: np.ndarray) -> tuple[float, np.ndarray]:
            strengths = np.exp(log)
            function = self._maker(strengths)(data)
            h = function.scores(f)
            losses, gradient, _ = bound.evaluate(bound.check(h))
            back = function.pull_back(gradient, h)  # A⁻¹ g, and ∂h/∂β = A⁻¹ (∂o/∂β − L h)
            slope = [back @ (gain - (one.times(h) - h)) for one, gain in zip(single, lifts, strict=True)]
            return float(losses.sum()) / total, strengths * np.array(slope) / total

        low, high = np.log(_BOUNDS)
        bounds = [(low, high)] * start.size
        return np.exp(quasi_newton(objective, np.log(np.clip(start, *_BOUNDS)), bounds=bounds, maxiter=50).x)


def _name(number: int) -> str:
    return f"(built from the features: {number})"
